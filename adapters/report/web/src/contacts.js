// Contacts of a frame: a ball where each is, an arrow along the normal and one along its friction, as long as their impulses.
import * as THREE from 'three';
import { mergeGeometries } from 'three/addons/utils/BufferGeometryUtils.js';
import { contactAt, frameAt } from './data.js';
import { FRICTION, kindOf } from './colours.js';

// Along z, of length 1, from the origin; few corners, for there may be thousands.
function arrowGeometry() {
    const shaft = new THREE.CylinderGeometry(0.03, 0.03, 0.8, 4, 1, true).translate(0, 0.4, 0);
    const head = new THREE.ConeGeometry(0.09, 0.25, 6, 1, true).translate(0, 0.875, 0);
    return mergeGeometries([shaft, head]).rotateX(Math.PI / 2);
}

function instances(geometry, room) {
    const mesh = new THREE.InstancedMesh(geometry, new THREE.MeshBasicMaterial(), room);
    mesh.frustumCulled = false;
    mesh.renderOrder = 2;
    mesh.material.depthTest = false; // contacts lie between bodies: they must be seen through them
    mesh.material.transparent = true;
    return mesh;
}

const AXIS = new THREE.Vector3(0, 0, 1), UP = [0, 0, 1];
// Used again for every contact: thousands of objects in each frame would keep the browser busy cleaning up.
const DIRECTION = new THREE.Vector3(), PLACE = new THREE.Vector3(), SCALE = new THREE.Vector3(), TURN = new THREE.Quaternion(), MATRIX = new THREE.Matrix4(), COLOUR = new THREE.Color();
const length = (v) => Math.hypot(...v);

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

export class Contacts {
    constructor(run, size, typical) {
        const most = Math.max(1, ...run.contacts.count);
        this.run = run;
        this.size = size;
        this.typical = typical;
        this.group = new THREE.Group();
        this.balls = instances(new THREE.OctahedronGeometry(1, most < 500 ? 1 : 0), most);
        this.normals = instances(arrowGeometry(), most);
        this.frictions = instances(arrowGeometry(), most);
        this.group.add(this.balls, this.normals, this.frictions);
    }

    // Very small and very large impulses are still drawn: from a twentieth of the length to three times it.
    lengthOf(impulse) {
        return impulse > 0 ? 0.12 * this.size * Math.min(Math.max(impulse / this.typical, 0.05), 3) : 0;
    }

    // Arrows have the width of their kind, whatever their length.
    put(mesh, i, point, along, scale, colour, width = scale) {
        TURN.setFromUnitVectors(AXIS, DIRECTION.set(along[0], along[1], along[2]).normalize());
        mesh.setMatrixAt(i, MATRIX.compose(PLACE.set(point[0], point[1], point[2]), TURN, SCALE.set(width, width, scale)));
        mesh.setColorAt(i, COLOUR.set(colour));
    }

    show(time) {
        const f = frameAt(this.run, time), first = this.run.firstContact[f], count = this.run.firstContact[f + 1] - first;
        let acting = 0, sliding = 0;
        for (let i = 0; i < count; i++) {
            const c = contactAt(this.run, first + i), colour = kindOf(c.kind).colour;
            const along = c.impulse[0] * c.normal[0] + c.impulse[1] * c.normal[1] + c.impulse[2] * c.normal[2];
            const friction = c.impulse.map((part, k) => part - along * c.normal[k]);
            this.put(this.balls, i, c.point, UP, 0.008 * this.size, colour);
            if (along > 0) this.put(this.normals, acting++, c.point, c.normal, this.lengthOf(along), colour, 0.1 * this.size);
            if (length(friction) > 0.02 * along) this.put(this.frictions, sliding++, c.point, friction, this.lengthOf(length(friction)), FRICTION, 0.1 * this.size);
        }
        [[this.balls, count], [this.normals, acting], [this.frictions, sliding]].forEach(([mesh, used]) => {
            mesh.count = used;
            mesh.instanceMatrix.needsUpdate = true;
            if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
        });
        return count;
    }
}
