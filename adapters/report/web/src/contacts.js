// Contacts of a frame: a point where each is, an arrow along the normal and one along its friction, as long as their impulses.
// Few are drawn as balls and arrows; many as points and lines, which cost a tenth.
import * as THREE from 'three';
import { mergeGeometries } from 'three/addons/utils/BufferGeometryUtils.js';
import { contactAt, frameAt, splitImpulse } from './data.js';
import { FRICTION, kindOf } from './colours.js';

// From so many on they are strokes; from so many on one sees nothing for them, and they are drawn only when asked for.
const MANY = 200;
export const TOO_MANY = 1000;

export const mostContacts = (run) => run.contacts.count.reduce((most, count) => Math.max(most, count), 0);

const length = (v) => Math.hypot(v[0], v[1], v[2]);

// A tenth of all impulses are larger than this: arrows of that size have the length that is asked for.
export function typicalImpulse(run) {
    const all = [];
    const count = run.firstContact[run.firstContact.length - 1], stride = Math.max(1, Math.floor(count / 5000));
    for (let i = 0; i < count; i += stride) {
        const size = length(contactAt(run, i).impulse);
        if (size > 0) all.push(size);
    }
    all.sort((a, b) => a - b);
    return all.length ? all[Math.floor(0.9 * (all.length - 1))] : 1;
}

// Contacts lie between bodies: they must be seen through them.
const seenThrough = { depthTest: false, transparent: true };

// ---- few: balls and arrows ----

const AXIS = new THREE.Vector3(0, 0, 1), UP = [0, 0, 1];
const DIRECTION = new THREE.Vector3(), PLACE = new THREE.Vector3(), SCALE = new THREE.Vector3(), TURN = new THREE.Quaternion(), MATRIX = new THREE.Matrix4(), COLOUR = new THREE.Color();

// Along z, of length 1, from the origin.
function arrowGeometry() {
    const shaft = new THREE.CylinderGeometry(0.03, 0.03, 0.8, 4, 1, true).translate(0, 0.4, 0);
    const head = new THREE.ConeGeometry(0.09, 0.25, 6, 1, true).translate(0, 0.875, 0);
    return mergeGeometries([shaft, head]).rotateX(Math.PI / 2);
}

class Solids {
    constructor(geometry, room) {
        this.object = new THREE.InstancedMesh(geometry, new THREE.MeshBasicMaterial(seenThrough), room);
    }

    // Arrows have the width of their kind, whatever their length.
    put(i, point, along, scale, width, colour) {
        TURN.setFromUnitVectors(AXIS, DIRECTION.set(along[0], along[1], along[2]).normalize());
        this.object.setMatrixAt(i, MATRIX.compose(PLACE.set(point[0], point[1], point[2]), TURN, SCALE.set(width, width, scale)));
        this.object.setColorAt(i, COLOUR.set(colour));
    }

    end(count) {
        this.object.count = count;
        this.object.instanceMatrix.needsUpdate = true;
        if (this.object.instanceColor) this.object.instanceColor.needsUpdate = true;
    }
}

// ---- many: points and lines ----

const BYTES = new Map();

// Of light, not of the screen: three.js turns what it draws from the one into the other.
function bytesOf(colour) {
    if (!BYTES.has(colour)) BYTES.set(colour, COLOUR.set(colour).toArray().map((part) => Math.round(255 * part)));
    return BYTES.get(colour);
}

// corners: of each contact; 1 for a point, 2 for a line from there on.
class Strokes {
    constructor(corners, room) {
        this.corners = corners;
        this.position = new THREE.BufferAttribute(new Float32Array(3 * corners * room), 3).setUsage(THREE.DynamicDrawUsage);
        this.colour = new THREE.BufferAttribute(new Uint8Array(3 * corners * room), 3, true).setUsage(THREE.DynamicDrawUsage);
        const geometry = new THREE.BufferGeometry().setAttribute('position', this.position).setAttribute('color', this.colour);
        const look = { ...seenThrough, vertexColors: true };
        this.object = corners === 1 ? new THREE.Points(geometry, new THREE.PointsMaterial({ ...look, size: 3, sizeAttenuation: false })) : new THREE.LineSegments(geometry, new THREE.LineBasicMaterial(look));
    }

    put(i, point, along, scale, width, colour) {
        const bytes = bytesOf(colour), size = length(along) || 1;
        for (let corner = 0; corner < this.corners; corner++)
            for (let k = 0; k < 3; k++) {
                const at = 3 * (this.corners * i + corner) + k;
                this.position.array[at] = point[k] + (corner * scale * along[k]) / size;
                this.colour.array[at] = bytes[k];
            }
    }

    end(count) {
        this.object.geometry.setDrawRange(0, this.corners * count);
        for (const attribute of [this.position, this.colour]) {
            attribute.clearUpdateRanges();
            attribute.addUpdateRange(0, 3 * this.corners * count);
            attribute.needsUpdate = true;
        }
    }
}

// ---- a run's ----

export class Contacts {
    constructor(run, size, typical) {
        const most = Math.max(1, mostContacts(run)), many = most > MANY;
        this.run = run;
        this.size = size;
        this.typical = typical;
        this.contact = contactAt(run, 0);
        this.friction = [0, 0, 0];
        this.points = many ? new Strokes(1, most) : new Solids(new THREE.OctahedronGeometry(1, 1), most);
        [this.normals, this.frictions] = [0, 1].map(() => (many ? new Strokes(2, most) : new Solids(arrowGeometry(), most)));
        this.group = new THREE.Group();
        for (const { object } of [this.points, this.normals, this.frictions]) {
            object.frustumCulled = false;
            object.renderOrder = 2;
            this.group.add(object);
        }
    }

    // Very small and very large impulses are still drawn: from a twentieth of the length to three times it.
    lengthOf(impulse) {
        return impulse > 0 ? 0.12 * this.size * Math.min(Math.max(impulse / this.typical, 0.05), 3) : 0;
    }

    show(time) {
        const frame = frameAt(this.run, time), first = this.run.firstContact[frame], count = this.run.firstContact[frame + 1] - first;
        if (frame === this.shown) return;
        this.shown = frame;
        let acting = 0, sliding = 0;
        for (let i = 0; i < count; i++) {
            const c = contactAt(this.run, first + i, this.contact), { colour } = kindOf(c.kind);
            const along = splitImpulse(c, this.friction), across = length(this.friction);
            this.points.put(i, c.point, UP, 0.008 * this.size, 0.008 * this.size, colour);
            if (along > 0) this.normals.put(acting++, c.point, c.normal, this.lengthOf(along), 0.1 * this.size, colour);
            if (across > 0.02 * along) this.frictions.put(sliding++, c.point, this.friction, this.lengthOf(across), 0.1 * this.size, FRICTION);
        }
        this.points.end(count);
        this.normals.end(acting);
        this.frictions.end(sliding);
    }
}
