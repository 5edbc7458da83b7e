// The bodies of one run where they are at a time. Corners are turned, placed and lit here and not by the graphics processor: where there is
// none, its stand-in takes ten times as long for the same.
import * as THREE from 'three';
import { momentAt, poseAt } from './data.js';
import { BODIES } from './colours.js';

const FIXED = [154, 154, 154], SELECTED = [255, 255, 255], GHOST = [136, 136, 136];
const PALETTE = BODIES.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));

// A sun, a weak light from behind and a grey all around; screens show the square root of light, or nearly so.
function shade(x, y, z) {
    const sun = 0.267 * x - 0.535 * y + 0.802 * z, back = -0.816 * x + 0.408 * y - 0.408 * z;
    return Math.min(1, Math.sqrt(0.29 + 0.7 * Math.max(sun, 0) + 0.22 * Math.max(back, 0)));
}

// Colours as they are: no light is left to be worked out for each pixel.
export function plain({ opacity = 1, colour = null } = {}) {
    const paint = colour ? `vec3(${colour.join(',')})` : 'paint.rgb';
    return new THREE.ShaderMaterial({
        vertexShader: `attribute vec4 paint; varying vec3 shown; void main() { shown = ${paint}; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
        fragmentShader: `varying vec3 shown; void main() { gl_FragColor = vec4(shown, ${opacity.toFixed(2)}); }`,
        transparent: opacity < 1,
        depthWrite: opacity === 1,
    });
}

export class Bodies {
    // ghost: drawn so that what stands inside it can be seen, and without what is fixed.
    constructor(shapes, { ghost = false } = {}) {
        this.shapes = shapes;
        this.ghost = ghost;
        this.selected = -1;
        this.pose = { position: [0, 0, 0], quaternion: [0, 0, 0, 1] };
        this.position = new THREE.BufferAttribute(new Float32Array(3 * shapes.count), 3).setUsage(THREE.DynamicDrawUsage);
        this.paint = new THREE.BufferAttribute(new Uint8Array(4 * shapes.count), 4, true).setUsage(THREE.DynamicDrawUsage);
        this.geometry = new THREE.BufferGeometry().setAttribute('position', this.position).setAttribute('paint', this.paint).setIndex(shapes.triangles);
        if (ghost) this.geometry.setDrawRange(0, shapes.moving);
        this.mesh = new THREE.Mesh(this.geometry, plain({ opacity: ghost ? 0.28 : 1 }));
        this.mesh.frustumCulled = false; // its bounds would have to follow every body, and one that is lost has none
        this.geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
        for (const part of shapes.parts) if (part.body < 0) this.place(part, this.pose);
    }

    colourOf(body) {
        return this.ghost ? GHOST : body < 0 ? FIXED : body === this.selected ? SELECTED : PALETTE[body % PALETTE.length];
    }

    // x = p + R c and n = R m for each corner c and its normal m.
    place({ body, first, count }, { position: [px, py, pz], quaternion: [x, y, z, w] }) {
        const { corner, normal } = this.shapes, to = this.position.array, paint = this.paint.array, [red, green, blue] = this.colourOf(body);
        const a = 1 - 2 * (y * y + z * z), b = 2 * (x * y - w * z), c = 2 * (x * z + w * y);
        const d = 2 * (x * y + w * z), e = 1 - 2 * (x * x + z * z), f = 2 * (y * z - w * x);
        const g = 2 * (x * z - w * y), h = 2 * (y * z + w * x), k = 1 - 2 * (x * x + y * y);
        for (let i = 3 * first, j = 4 * first; i < 3 * (first + count); i += 3, j += 4) {
            const u = corner[i], v = corner[i + 1], t = corner[i + 2], l = normal[i], m = normal[i + 1], n = normal[i + 2];
            to[i] = px + a * u + b * v + c * t;
            to[i + 1] = py + d * u + e * v + f * t;
            to[i + 2] = pz + g * u + h * v + k * t;
            const light = shade(a * l + b * m + c * n, d * l + e * m + f * n, g * l + h * m + k * n);
            paint[j] = red * light;
            paint[j + 1] = green * light;
            paint[j + 2] = blue * light;
        }
    }

    show(run, time, selected = -1) {
        const moment = momentAt(run, time);
        this.selected = selected;
        for (const part of this.shapes.parts) if (part.body >= 0) this.place(part, poseAt(run, part.body, moment, this.pose));
        this.position.needsUpdate = this.paint.needsUpdate = true;
    }

    // The body that a ray meets first; -1: none, or what is fixed.
    pick(raycaster) {
        const [hit] = raycaster.intersectObject(this.mesh);
        return hit ? this.shapes.bodyOf(hit.face.a) : -1;
    }
}
