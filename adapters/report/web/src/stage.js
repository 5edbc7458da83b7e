// The stage: one canvas, one camera, a view for each run side by side; so cameras are linked by construction, and time is the caller's.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Bodies } from './bodies.js';
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
    return { low: low.map((x) => x - usual / 2), high: high.map((x) => x + usual / 2) };
}

function sizeOf(shape) {
    const points = shape.points ?? [];
    return points.length ? 2 * Math.max(...points.map(Math.abs)) : Math.max(...(shape.size ?? [0])) * (shape.kind === 'box' ? 1 : 2);
}

// Half-spaces as squares that carry a grid.
function planeOf(shape, size) {
    const normal = new THREE.Vector3(...shape.normal).normalize();
    const group = new THREE.Group();
    const grid = new THREE.GridHelper(20 * size, 40, 0x888888, 0x888888);
    grid.rotateX(Math.PI / 2);
    grid.material.transparent = true;
    grid.material.opacity = 0.35;
    const board = new THREE.Mesh(new THREE.PlaneGeometry(20 * size, 20 * size), new THREE.MeshLambertMaterial({ color: 0x999999, transparent: true, opacity: 0.25, depthWrite: false }));
    group.add(board, grid);
    const [x, y, z, qw, qx, qy, qz] = shape.pose;
    const turn = new THREE.Quaternion(qx, qy, qz, qw);
    group.quaternion.copy(turn).multiply(new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal));
    group.position.set(x, y, z);
    return group;
}

function trailOf(run, body, colour) {
    const frames = run.time.length;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(run.position.slice(3 * body * frames, 3 * (body + 1) * frames), 3));
    return new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour }));
}

class View {
    constructor(page, run, size, typical) {
        this.run = run;
        this.scene = new THREE.Scene();
        this.bodies = new Bodies(page);
        this.ghost = new Bodies(page, { ghost: true });
        this.contacts = new Contacts(run, size, typical);
        this.trails = new THREE.Group();
        this.ghost.group.visible = false;
        this.scene.add(this.bodies.group, this.ghost.group, this.contacts.group, this.trails, ...lights());
        for (const shape of page.shapes) if (shape.kind === 'plane') this.scene.add(planeOf(shape, size));
    }

    show(time, ghostRun) {
        this.bodies.show(this.run, time);
        this.ghost.group.visible = Boolean(ghostRun) && ghostRun !== this.run;
        if (this.ghost.group.visible) this.ghost.show(ghostRun, time);
        if (this.contacts.group.visible) this.contacts.show(time);
        for (const trail of this.trails.children) trail.geometry.setDrawRange(0, this.run.time.findLastIndex((t) => t <= time + 1e-9) + 1);
    }
}

function lights() {
    const sun = new THREE.DirectionalLight(0xffffff, 2.2);
    sun.position.set(1, -2, 3);
    const back = new THREE.DirectionalLight(0xffffff, 0.7);
    back.position.set(-2, 1, -1);
    return [sun, back, new THREE.AmbientLight(0xffffff, 0.9)];
}

export class Stage {
    constructor(page, element) {
        this.page = page;
        this.element = element;
        this.time = 0;
        this.ghostRun = null;
        this.dirty = true;
        this.renderer = new THREE.WebGLRenderer({ antialias: page.bodies.length < 300, alpha: true });
        this.renderer.setPixelRatio(page.bodies.length < 300 ? Math.min(window.devicePixelRatio, 2) : 1);
        this.renderer.setScissorTest(true);
        element.prepend(this.renderer.domElement);
        this.bounds = boundsOf(page);
        this.size = Math.max(...this.bounds.high.map((x, k) => x - this.bounds.low[k]));
        const typical = Math.max(...page.runs.map(typicalImpulse));
        this.views = page.runs.map((run) => new View(page, run, this.size, typical));
        this.setCamera();
        new ResizeObserver(() => this.resize()).observe(element);
        this.resize();
    }

    // Worlds in a plane are seen from the front, others a little from above.
    setCamera() {
        const { low, high } = this.bounds, middle = low.map((x, k) => (x + high[k]) / 2);
        this.camera = new THREE.PerspectiveCamera(35, 1, 0.001 * this.size, 200 * this.size);
        this.camera.up.set(0, 0, 1);
        this.home = { target: new THREE.Vector3(...middle), offset: new THREE.Vector3(...(this.page.planar ? [0, -1, 0.06] : [0.45, -0.95, 0.42])).normalize() };
        this.controls = new OrbitControls(this.camera, this.element);
        this.controls.addEventListener('change', () => (this.dirty = true));
        this.goHome();
    }

    goHome() {
        const size = this.bounds.high.map((x, k) => x - this.bounds.low[k]), aspect = this.camera.aspect || 1;
        const deep = this.page.planar ? 0 : size[1], wide = Math.max(Math.hypot(size[0], deep) / aspect, size[2], 0.6 * deep);
        const away = (0.55 * wide) / Math.tan((this.camera.fov * Math.PI) / 360) + 0.4 * deep;
        this.controls.target.copy(this.home.target);
        this.camera.position.copy(this.home.target).addScaledVector(this.home.offset, away);
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
        this.views.forEach((view) => view.show(this.time, this.ghostRun));
        this.dirty = true;
    }

    select(body) {
        this.views.forEach((view) => view.bodies.paint(body));
        this.dirty = true;
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
