// The bodies of one run as instanced meshes: one draw call for each different geometry, however many bodies there are.
import * as THREE from 'three';
import { ConvexGeometry } from 'three/addons/geometries/ConvexGeometry.js';
import { momentAt, poseAt } from './data.js';
import { BODIES } from './colours.js';

// Round shapes of many bodies have fewer corners: they are small on the screen, and a phone must draw them all.
const MANY = 300;

// A geometry of unit size, and the scale that makes it this shape; shapes with the same key share one.
function geometryOf(shape, fine) {
    const [a, b, c] = shape.size ?? [];
    switch (shape.kind) {
        case 'box': return { key: 'box', make: () => new THREE.BoxGeometry(1, 1, 1), scale: [a, b, c] };
        case 'sphere': return { key: 'sphere', make: () => new THREE.SphereGeometry(1, fine ? 24 : 12, fine ? 16 : 8), scale: [a, a, a] };
        case 'ellipsoid': return { key: 'sphere', make: () => new THREE.SphereGeometry(1, fine ? 24 : 12, fine ? 16 : 8), scale: [a, b, c] };
        case 'cylinder': return { key: 'cylinder', make: () => new THREE.CylinderGeometry(1, 1, 1, fine ? 32 : 14).rotateX(Math.PI / 2), scale: [a, a, b] };
        case 'capsule': return { key: `capsule ${b / a}`, make: () => new THREE.CapsuleGeometry(1, b / a, fine ? 8 : 3, fine ? 20 : 10).rotateX(Math.PI / 2), scale: [a, a, a] };
        case 'hull': return { key: `hull ${shape.points.join(' ')}`, make: () => hullOf(shape.points), scale: [1, 1, 1] };
        default: return null; // planes are drawn by the stage
    }
}

function hullOf(points) {
    const corners = [];
    for (let i = 0; i + 2 < points.length; i += 3) corners.push(new THREE.Vector3(points[i], points[i + 1], points[i + 2]));
    return new ConvexGeometry(corners);
}

function groupsOf(shapes) {
    const groups = new Map();
    for (const shape of shapes) {
        const geometry = geometryOf(shape, shapes.length < MANY);
        if (!geometry) continue;
        if (!groups.has(geometry.key)) groups.set(geometry.key, { make: geometry.make, members: [] });
        const [x, y, z, qw, qx, qy, qz] = shape.pose;
        const local = new THREE.Matrix4().compose(new THREE.Vector3(x, y, z), new THREE.Quaternion(qx, qy, qz, qw), new THREE.Vector3(...geometry.scale));
        groups.get(geometry.key).members.push({ body: shape.body, local });
    }
    return [...groups.values()];
}

export class Bodies {
    // ghost: drawn so that what stands inside it can be seen.
    constructor(page, { ghost = false } = {}) {
        this.group = new THREE.Group();
        this.bodyCount = page.bodies.length;
        this.world = Array.from({ length: this.bodyCount }, () => new THREE.Matrix4());
        this.meshes = groupsOf(ghost ? page.shapes.filter((shape) => shape.body >= 0) : page.shapes).map(({ make, members }) => {
            const material = new THREE.MeshLambertMaterial({ flatShading: false, transparent: ghost, opacity: ghost ? 0.28 : 1, depthWrite: !ghost });
            const mesh = new THREE.InstancedMesh(make(), material, members.length);
            mesh.userData.members = members;
            mesh.frustumCulled = false; // its bounds would have to follow every instance
            this.group.add(mesh);
            return mesh;
        });
        this.paint(-1, ghost ? '#888888' : null);
    }

    // The selected body is white; a body that is fixed is grey.
    paint(selected, all = null) {
        const colour = new THREE.Color();
        for (const mesh of this.meshes) {
            mesh.userData.members.forEach(({ body }, i) => mesh.setColorAt(i, colour.set(all ?? (body < 0 ? '#9a9a9a' : body === selected ? '#ffffff' : BODIES[body % BODIES.length]))));
            if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
        }
    }

    show(run, time) {
        const moment = momentAt(run, time), pose = { position: [0, 0, 0], quaternion: [0, 0, 0, 1] };
        const one = new THREE.Vector3(1, 1, 1), x = new THREE.Vector3(), q = new THREE.Quaternion(), m = new THREE.Matrix4();
        for (let body = 0; body < this.bodyCount; body++) {
            const { position: p, quaternion: r } = poseAt(run, body, moment, pose);
            this.world[body].compose(x.set(p[0], p[1], p[2]), q.set(r[0], r[1], r[2], r[3]), one);
        }
        for (const mesh of this.meshes) {
            mesh.userData.members.forEach(({ body, local }, i) => mesh.setMatrixAt(i, body < 0 ? local : m.multiplyMatrices(this.world[body], local)));
            mesh.instanceMatrix.needsUpdate = true;
            mesh.boundingSphere = null; // picking must see where the instances are now
        }
    }

    pick(raycaster) {
        const [hit] = raycaster.intersectObjects(this.meshes, false);
        return hit ? hit.object.userData.members[hit.instanceId].body : -1;
    }
}
