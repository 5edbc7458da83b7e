// The stage: one canvas, one camera, a view for each run side by side; so cameras are linked by construction, and time is the caller's.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Bodies, plain } from './bodies.js';
import { MANY, Shapes } from './shapes.js';
import { Contacts, typicalImpulse } from './contacts.js';

// Where things happen: the bodies' ways, without what has flown off (the outer twentieth on each side).
function boundsOf(page) {
    const low = [], high = [];
    for (let k = 0; k < 3; k++) {
        const all = [];
        for (const run of page.runs) {
            const stride = 3 * Math.max(1, Math.floor(run.position.length / 3 / 4000));
            for (let i = k; i < run.position.length; i += stride) if (Number.isFinite(run.position[i])) all.push(run.position[i]);
        }
        all.sort((a, b) => a - b);
        low.push(all[Math.floor(0.05 * (all.length - 1))] ?? -1);
        high.push(all[Math.ceil(0.95 * (all.length - 1))] ?? 1);
    }
    const sizes = page.shapes.filter((shape) => shape.body >= 0).map(sizeOf).sort((a, b) => a - b), usual = sizes[sizes.length >> 1] ?? 1;
    return { low: new THREE.Vector3(...low).addScalar(-usual / 2), high: new THREE.Vector3(...high).addScalar(usual / 2) };
}

function sizeOf(shape) {
    const points = shape.points ?? [];
    return points.length ? 2 * Math.max(...points.map(Math.abs)) : Math.max(...(shape.size ?? [0])) * (shape.kind === 'box' ? 1 : 2);
}

// Half-spaces as squares that carry a grid: floors as far as one can see, walls only beside what happens.
function planeOf(shape, bounds, size) {
    const [x, y, z, qw, qx, qy, qz] = shape.pose, turn = new THREE.Quaternion(qx, qy, qz, qw);
    const normal = new THREE.Vector3(...shape.normal).normalize().applyQuaternion(turn), through = new THREE.Vector3(x, y, z);
    const floor = normal.z > 0.7, middle = new THREE.Vector3().addVectors(bounds.low, bounds.high).multiplyScalar(0.5);
    const away = normal.dot(middle) - normal.dot(through), group = new THREE.Group();
    const grid = new THREE.GridHelper(floor ? 20 * size : size, floor ? 40 : 8, 0x888888, 0x888888).rotateX(Math.PI / 2);
    Object.assign(grid.material, { transparent: true, opacity: 0.35 });
    group.add(grid);
    if (floor) group.add(new THREE.Mesh(new THREE.PlaneGeometry(20 * size, 20 * size), plain({ opacity: 0.25, colour: [0.6, 0.6, 0.6] })));
    group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    group.position.copy(floor ? through : middle.addScaledVector(normal, -away));
    return group;
}

function trailOf(run, body, colour) {
    const frames = run.time.length;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(run.position.slice(3 * body * frames, 3 * (body + 1) * frames), 3));
    return new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour }));
}

class View {
    constructor(page, run, { shapes, bounds, size }, typical) {
        this.run = run;
        this.scene = new THREE.Scene();
        this.bodies = new Bodies(shapes);
        this.ghost = new Bodies(shapes, { ghost: true });
        this.contacts = new Contacts(run, size, typical);
        this.trails = new THREE.Group();
        this.ghost.mesh.visible = false;
        this.scene.add(this.bodies.mesh, this.ghost.mesh, this.contacts.group, this.trails);
        for (const shape of page.shapes) if (shape.kind === 'plane') this.scene.add(planeOf(shape, bounds, size));
    }

    show(time, ghostRun, selected) {
        this.bodies.show(this.run, time, selected);
        this.ghost.mesh.visible = Boolean(ghostRun) && ghostRun !== this.run;
        if (this.ghost.mesh.visible) this.ghost.show(ghostRun, time);
        if (this.contacts.group.visible) this.contacts.show(time);
        for (const trail of this.trails.children) trail.geometry.setDrawRange(0, this.run.time.findLastIndex((t) => t <= time + 1e-9) + 1);
    }
}

export class Stage {
    constructor(page, element) {
        this.page = page;
        this.element = element;
        this.time = 0;
        this.ghostRun = null;
        this.selected = -1;
        this.dirty = true;
        this.renderer = new THREE.WebGLRenderer({ antialias: page.bodies.length < MANY, alpha: true });
        this.renderer.setPixelRatio(page.bodies.length < MANY ? Math.min(window.devicePixelRatio, 2) : 1);
        this.renderer.setScissorTest(true);
        element.prepend(this.renderer.domElement);
        this.bounds = boundsOf(page);
        this.size = Math.max(...this.bounds.high.clone().sub(this.bounds.low).toArray());
        const typical = Math.max(...page.runs.map(typicalImpulse));
        this.shapes = new Shapes(page);
        this.views = page.runs.map((run) => new View(page, run, this, typical));
        this.setCamera();
        new ResizeObserver(() => this.resize()).observe(element);
        this.resize();
    }

    // Worlds in a plane are seen from the front, others a little from above.
    setCamera() {
        this.camera = new THREE.PerspectiveCamera(35, 1, 0.001 * this.size, 200 * this.size);
        this.camera.up.set(0, 0, 1);
        this.controls = new OrbitControls(this.camera, this.element);
        this.controls.addEventListener('change', () => (this.dirty = true));
        this.goHome();
    }

    // So near that all corners of the bounds are just in sight: a corner c from their middle, seen along -d, needs away >= c.d + |c.side| / tan.
    goHome() {
        const { low, high } = this.bounds, middle = low.clone().add(high).multiplyScalar(0.5);
        const d = new THREE.Vector3(...(this.page.planar ? [0, -1, 0.06] : [0.45, -0.95, 0.42])).normalize();
        const right = new THREE.Vector3(0, 0, 1).cross(d).normalize(), up = d.clone().cross(right);
        const tangent = Math.tan((this.camera.fov * Math.PI) / 360), corner = new THREE.Vector3();
        let away = 0;
        for (let i = 0; i < 8; i++) {
            corner.set(i & 1 ? low.x : high.x, i & 2 ? low.y : high.y, i & 4 ? low.z : high.z).sub(middle);
            away = Math.max(away, corner.dot(d) + Math.max(Math.abs(corner.dot(right)) / this.camera.aspect, Math.abs(corner.dot(up))) / tangent);
        }
        this.controls.target.copy(middle);
        this.camera.position.copy(middle).addScaledVector(d, 1.12 * away);
        this.controls.update();
        this.dirty = true;
    }

    // Around what is looked at: about the vertical, and up or down, but never over the pole.
    orbit(turn, fall) {
        const up = this.camera.up, offset = this.camera.position.clone().sub(this.controls.target).applyAxisAngle(up, turn);
        const angle = offset.angleTo(up), wanted = Math.min(Math.max(angle + fall, 0.02), Math.PI - 0.02);
        offset.applyAxisAngle(up.clone().cross(offset).normalize(), wanted - angle);
        this.look(offset);
    }

    zoom(factor) {
        this.look(this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor));
    }

    look(offset) {
        this.camera.position.copy(this.controls.target).add(offset);
        this.controls.update();
        this.dirty = true;
    }

    cells() {
        return [...this.element.querySelectorAll('.pc-view')];
    }

    resize() {
        const box = this.element.getBoundingClientRect(), cell = this.cells()[0]?.getBoundingClientRect() ?? box;
        if (!box.width || !box.height) return;
        const first = !this.sized;
        this.sized = true;
        this.renderer.setSize(box.width, box.height);
        this.camera.aspect = cell.width / cell.height;
        this.camera.updateProjectionMatrix();
        if (first) this.goHome();
        this.dirty = true;
    }

    setTime(time) {
        this.time = time;
        this.refresh();
    }

    refresh() {
        this.views.forEach((view) => view.show(this.time, this.ghostRun, this.selected));
        this.dirty = true;
    }

    select(body) {
        this.selected = body;
        this.refresh();
    }

    setContacts(on) {
        this.views.forEach((view) => (view.contacts.group.visible = on));
        this.refresh();
    }

    // bodies: whose ways are drawn; the colour is that of the text, so that they show in light and dark.
    setTrails(bodies) {
        const colour = getComputedStyle(this.element).color;
        for (const view of this.views) {
            view.trails.children.forEach((trail) => trail.geometry.dispose());
            view.trails.clear();
            bodies.forEach((body) => view.trails.add(trailOf(view.run, body, colour)));
        }
        this.refresh();
    }

    setGhost(run) {
        this.ghostRun = run;
        this.refresh();
    }

    render() {
        this.controls.update();
        if (!this.dirty) return false;
        this.dirty = false;
        const box = this.element.getBoundingClientRect();
        this.renderer.setScissor(0, 0, box.width, box.height);
        this.renderer.clear();
        this.cells().forEach((cell, i) => {
            const at = cell.getBoundingClientRect();
            const place = [at.left - box.left, box.bottom - at.bottom, at.width, at.height];
            this.renderer.setViewport(...place);
            this.renderer.setScissor(...place);
            this.renderer.render(this.views[i].scene, this.camera);
        });
        return true;
    }

    // The body under a point of the page; -1: none.
    pick(x, y) {
        const i = this.cells().findIndex((cell) => {
            const at = cell.getBoundingClientRect();
            return x >= at.left && x < at.right && y >= at.top && y < at.bottom;
        });
        if (i < 0) return { view: -1, body: -1 };
        const at = this.cells()[i].getBoundingClientRect(), raycaster = new THREE.Raycaster();
        raycaster.setFromCamera(new THREE.Vector2(((x - at.left) / at.width) * 2 - 1, 1 - ((y - at.top) / at.height) * 2), this.camera);
        return { view: i, body: this.views[i].bodies.pick(raycaster) };
    }
}
