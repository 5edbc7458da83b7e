// The shapes of all bodies as one set of triangles, drawn by one call. Instancing would be the usual way; but where there is no graphics
// processor, each instance costs as much as a call of its own, and a thousand bodies stand still.
import * as THREE from 'three';
import { ConvexGeometry } from 'three/addons/geometries/ConvexGeometry.js';
import { mergeVertices } from 'three/addons/utils/BufferGeometryUtils.js';

// Round shapes of many bodies have fewer corners, those of very many fewer still: they are small on the screen, and a phone must draw them all.
export const MANY = 300;
const VERY_MANY = 800;

function geometryOf(shape, bodies) {
    const fine = bodies < MANY;
    const [a, b, c] = shape.size ?? [];
    switch (shape.kind) {
        case 'box': return new THREE.BoxGeometry(a, b, c);
        case 'sphere': return ball(bodies).scale(a, a, a);
        case 'ellipsoid': return ball(bodies).scale(a, b, c);
        case 'cylinder': return new THREE.CylinderGeometry(a, a, b, fine ? 32 : 14).rotateX(Math.PI / 2);
        case 'capsule': return new THREE.CapsuleGeometry(a, b, fine ? 8 : 3, fine ? 20 : 10).rotateX(Math.PI / 2);
        case 'hull': return hullOf(shape.points);
        default: return null; // planes are drawn by the stage
    }
}

// Even triangles whose corners are shared.
function ball(bodies) {
    if (bodies < MANY) return new THREE.SphereGeometry(1, 24, 16);
    const even = bodies < VERY_MANY ? new THREE.IcosahedronGeometry(1, 1) : new THREE.OctahedronGeometry(1, 1);
    return mergeVertices(even.deleteAttribute('uv'));
}

function hullOf(points) {
    const corners = [];
    for (let i = 0; i + 2 < points.length; i += 3) corners.push(new THREE.Vector3(points[i], points[i + 1], points[i + 2]));
    return mergeVertices(new ConvexGeometry(corners)); // triangles of one face share corners
}

// A shape in the axes of its body.
function placed(shape, bodies) {
    const geometry = geometryOf(shape, bodies);
    const [x, y, z, qw, qx, qy, qz] = shape.pose;
    return geometry?.applyMatrix4(new THREE.Matrix4().compose(new THREE.Vector3(x, y, z), new THREE.Quaternion(qx, qy, qz, qw), new THREE.Vector3(1, 1, 1)));
}

// parts: whose corners stand where, body by body, what is fixed last; corners and normals in the axes of their bodies; index: the triangles,
// of which the first `moving` numbers are of bodies that move.
export class Shapes {
    constructor(page) {
        this.bodyCount = page.bodies.length;
        const last = (body) => (body < 0 ? this.bodyCount : body);
        const parts = page.shapes.map((shape) => ({ body: shape.body, geometry: placed(shape, page.shapes.length) })).filter(({ geometry }) => geometry);
        parts.sort((a, b) => last(a.body) - last(b.body));
        this.count = parts.reduce((sum, { geometry }) => sum + geometry.attributes.position.count, 0);
        this.corner = new Float32Array(3 * this.count);
        this.normal = new Float32Array(3 * this.count);
        this.index = new Uint32Array(parts.reduce((sum, { geometry }) => sum + geometry.index.count, 0));
        this.triangles = new THREE.BufferAttribute(this.index, 1);
        this.moving = 0;
        let first = 0, at = 0;
        this.parts = parts.map(({ body, geometry }) => {
            const { position, normal } = geometry.attributes, { count } = position;
            this.corner.set(position.array, 3 * first);
            this.normal.set(normal.array, 3 * first);
            for (const corner of geometry.index.array) this.index[at++] = first + corner;
            if (body >= 0) this.moving = at;
            first += count;
            return { body, first: first - count, count };
        });
    }

    bodyOf(corner) {
        return this.parts.findLast(({ first }) => first <= corner).body;
    }
}
