// What the tool wrote into the page: a JSON text, and one block of numbers (deflated, base64) that it points into by [type, offset, count].

const TYPES = { f32: Float32Array, i32: Int32Array, i16: Int16Array, i8: Int8Array };

async function inflate(base64) {
    const packed = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
    if (packed.length === 0) return new ArrayBuffer(0);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Response(stream).arrayBuffer();
}

function resolve(value, numbers) {
    if (Array.isArray(value) && value.length === 3 && TYPES[value[0]]) return new TYPES[value[0]](numbers, value[1], value[2]);
    if (Array.isArray(value)) return value.map((entry) => resolve(entry, numbers));
    if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, resolve(entry, numbers)]));
    return value;
}

export async function readPage() {
    const text = document.getElementById('pc-page').textContent;
    const numbers = await inflate(document.getElementById('pc-numbers').textContent);
    const page = resolve(JSON.parse(text), numbers);
    (page.runs ?? []).forEach((run) => Object.assign(run, prepare(run, page)));
    return page;
}

// Frames lie in time as their steps do; contacts of frame f are those from first[f] to first[f + 1].
function prepare(run, page) {
    const time = Float64Array.from(run.frameStep, (step) => step * run.h);
    const first = new Int32Array(time.length + 1);
    run.contacts.count.forEach((count, frame) => (first[frame + 1] = first[frame] + count));
    return { time, firstContact: first, bodyCount: page.bodies.length, end: time.length ? time[time.length - 1] : 0 };
}

// The last frame at or before a time.
export function frameAt(run, time) {
    let low = 0, high = run.time.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (run.time[middle] <= time + 1e-9) low = middle;
        else high = middle - 1;
    }
    return low;
}

// The two frames around a time, and how far it is between them.
export function momentAt(run, time) {
    const f = frameAt(run, time), g = Math.min(f + 1, run.time.length - 1);
    return { f, g, part: g > f ? Math.min(Math.max((time - run.time[f]) / (run.time[g] - run.time[f]), 0), 1) : 0 };
}

// Position and quaternion (x y z w) of a body between two frames: numbers stand body by body, then frame by frame.
export function poseAt(run, body, { f, g, part }, out) {
    const at = body * run.time.length, p = run.position, q = run.quaternion;
    for (let k = 0; k < 3; k++) out.position[k] = p[3 * (at + f) + k] * (1 - part) + p[3 * (at + g) + k] * part;
    let dot = 0, norm = 0;
    for (let k = 0; k < 4; k++) dot += q[4 * (at + f) + k] * q[4 * (at + g) + k];
    const sign = dot < 0 ? -1 : 1;
    for (let k = 0; k < 4; k++) {
        out.quaternion[k] = q[4 * (at + f) + k] * (1 - part) + sign * q[4 * (at + g) + k] * part;
        norm += out.quaternion[k] ** 2;
    }
    for (let k = 0; k < 4; k++) out.quaternion[k] /= Math.sqrt(norm) || 1;
    return out;
}

// Of a body in a frame, as the engine had them, to four digits.
export function velocityAt(run, body, frame) {
    const at = 6 * (body * run.time.length + frame), part = (from) => Array.from(run.velocity.subarray(at + from, at + from + 3), (x) => (Number.isFinite(x) ? +x.toPrecision(5) : x));
    return { velocity: part(0), spin: part(3) };
}

// The impulse is shown as it acts on the body that moves, or of two such on the one that is borne; so is the normal.
// out: filled and returned; one object for thousands of contacts keeps the browser from cleaning up in the middle of a replay.
export function contactAt(run, index, out = { point: [0, 0, 0], normal: [0, 0, 0], impulse: [0, 0, 0] }) {
    const c = run.contacts, at = 3 * index;
    out.kind = c.kind[index], out.body1 = c.body[2 * index], out.body2 = c.body[2 * index + 1];
    const sign = out.body2 < 0 || (out.body1 >= 0 && c.normal[at + 2] < 0) ? -1 : 1;
    for (let k = 0; k < 3; k++) {
        out.point[k] = c.low[k] + ((c.point[at + k] + 32768) / 65535) * (c.high[k] - c.low[k]);
        out.normal[k] = (sign * c.normal[at + k]) / 127;
        out.impulse[k] = ((sign * c.impulse[at + k]) / 32767) * c.impulseScale;
    }
    return out;
}

// What presses along the normal, and what is left of the impulse: friction, written to out.
export function splitImpulse({ normal, impulse }, out) {
    const along = impulse[0] * normal[0] + impulse[1] * normal[1] + impulse[2] * normal[2];
    for (let k = 0; k < 3; k++) out[k] = impulse[k] - along * normal[k];
    return along;
}
