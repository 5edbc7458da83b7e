// The page that pcontact --report writes: says what ran, replays it, plots it. Every text from outside enters as text, never as markup.
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { readPage, frameAt, momentAt, poseAt, velocityAt, contactAt } from './data.js';
import { KINDS, FRICTION, RUNS, kindOf } from './colours.js';
import { Stage } from './stage.js';
import { TOO_MANY, mostContacts } from './contacts.js';
import { Plots, readable, recolour } from './plots.js';
import { HeatMap, slopesPlot } from './figures.js';

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const MOST_TRAILS = 60;

// What a press of a key turns, in radians, and by which part it comes nearer.
const TURN = Math.PI / 24, NEARER = 0.85;

// As the page tells them; Replay.key(), Plots and HeatMap do them.
const KEYS = [
    ['Space', 'play or pause'],
    ['← →', 'a frame back or on'],
    ['Home End', 'to the start or the end'],
    ['n p', 'the next or the previous body'],
    ['Esc', 'no body'],
    ['Shift ← → ↑ ↓', 'turn the view'],
    ['+ −', 'nearer or farther'],
    ['h', 'the first view again'],
    ['in a plot: + − 0', 'zoom about the time of the replay, all of it again'],
    ['on a name below a plot: Enter', 'hide or show it'],
    ['in a map: ← → ↑ ↓', 'from cell to cell'],
    ['?', 'open or close this list'],
];

// A small builder: make('p', { class: 'x' }, 'text', child).
function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (value === true) element.setAttribute(name, '');
        else if (value !== false && value !== null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
}

function download(name, text) {
    const link = make('a', { href: URL.createObjectURL(new Blob([text], { type: 'text/csv' })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// ---- what ran ----

function verdictTable({ columns, rows, marked }) {
    const best = (values) => {
        const known = values.filter((value) => value !== null), least = Math.min(...known);
        return known.length > 1 && known.filter((value) => value === least).length === 1 ? least : null;
    };
    const head = make('tr', {}, make('th', { scope: 'col' }, ''), ...columns.map((name) => make('th', { scope: 'col' }, name)));
    const body = rows.map(({ name, unit, values, plain }) => {
        const least = marked && !plain ? best(values) : null;
        return make('tr', {}, make('th', { scope: 'row' }, unit ? `${name}, ${unit}` : name), ...values.map((value) => make('td', { class: value !== null && value === least ? 'pc-best' : null }, readable(value))));
    });
    return make('div', { class: 'pc-scroll', tabindex: '0' }, make('table', { class: 'pc-verdict' }, make('thead', {}, head), make('tbody', {}, ...body)));
}

function copyButton(command) {
    const button = make('button', { type: 'button', title: 'Copy the command that made this page' }, 'Copy');
    button.addEventListener('click', async () => {
        let done = true;
        try {
            await navigator.clipboard.writeText(command);
        } catch {
            done = copyBySelection(command); // pages from disk may not use the clipboard directly
        }
        button.textContent = done ? 'Copied' : 'Select and copy it';
        setTimeout(() => (button.textContent = 'Copy'), 2000);
    });
    return button;
}

function copyBySelection(text) {
    const field = make('textarea', { class: 'pc-hidden' });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
}

function header(page, themeButton) {
    const facts = make('dl', { class: 'pc-facts' }, ...page.facts.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
    return make('header', { class: 'pc-header' },
        make('div', { class: 'pc-title' }, make('h1', {}, page.title), make('p', {}, page.subtitle ?? ''), themeButton),
        make('div', { class: 'pc-command' }, make('code', {}, page.command), copyButton(page.command)),
        ...(page.notes ?? []).map((note) => make('p', { class: 'pc-note' }, note)),
        make('details', {}, make('summary', {}, 'What ran'), facts));
}

const verdictOf = (page) => (page.verdict ? [make('details', { class: 'pc-verdict-box', open: true }, make('summary', {}, page.verdict.title), verdictTable(page.verdict))] : []);

function themeSwitch(changed) {
    const dark = () => document.documentElement.dataset.theme === 'dark';
    document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    const button = make('button', { type: 'button', class: 'pc-theme', 'aria-label': 'Light or dark' }, dark() ? 'Light' : 'Dark');
    button.addEventListener('click', () => {
        document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
        button.textContent = dark() ? 'Light' : 'Dark';
        changed();
    });
    return button;
}

// ---- replay ----

// Keys that do something where the focus is: they are not for the replay.
function hasOwnUse({ target, key }) {
    if (target.tagName === 'TEXTAREA' || target.tagName === 'SELECT') return true;
    if (target.type === 'range') return /^(Arrow|Home|End|Page)/.test(key);
    return Boolean(target.closest('button, summary, input, [role=button]')) && (key === ' ' || key === 'Enter');
}

// In place of the stage where the browser has no WebGL: the rest of the page works on.
const NO_STAGE = new Proxy({}, { get: () => () => ({ view: -1, body: -1 }) });

function stageOf(page, element) {
    try {
        return new Stage(page, element);
    } catch (error) {
        element.append(make('p', { class: 'pc-note pc-no-stage' }, `No replay in 3D: this browser has no WebGL (${error.message}).`));
        return NO_STAGE;
    }
}

class Replay {
    constructor(page, clock) {
        this.page = page;
        this.clock = clock;
        this.end = Math.max(...page.runs.map((run) => run.end));
        this.selected = -1;
        this.playing = false;
        this.speed = 1;
        this.watchers = [];
        this.mostContacts = Math.max(...page.runs.map(mostContacts));
        this.views = make('div', { class: 'pc-stage', 'data-views': page.runs.length, tabindex: '0', 'aria-label': 'Replay in 3D: drag to turn, wheel to zoom, click a body; or Shift and arrows, plus and minus, n and p' }, ...page.runs.map((run, i) => this.cell(run, i)));
        this.info = make('aside', { class: 'pc-info', 'aria-live': 'polite' });
        this.bar = this.controls();
        this.keys = make('details', { class: 'pc-keys' }, make('summary', {}, 'Keys'), make('dl', {}, ...KEYS.map(([key, does]) => make('div', {}, make('dt', {}, make('kbd', {}, key)), make('dd', {}, does)))));
        this.element = make('section', { class: 'pc-replay', 'aria-label': 'Replay' }, make('div', { class: 'pc-show' }, this.views, this.info), this.bar, this.legend(), this.keys);
    }

    cell(run, i) {
        return make('div', { class: 'pc-view' }, make('span', { class: 'pc-name', style: `border-color:${RUNS[i % RUNS.length]}` }, run.name));
    }

    begin() {
        this.stage = stageOf(this.page, this.views);
        this.stage.setContacts(this.mostContacts <= TOO_MANY);
        let down = null;
        this.views.addEventListener('pointerdown', (event) => (down = [event.clientX, event.clientY]));
        this.views.addEventListener('click', (event) => down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 5 && this.select(this.stage.pick(event.clientX, event.clientY).body));
        document.addEventListener('keydown', (event) => this.key(event));
        this.seek(0);
        this.tell();
        requestAnimationFrame((now) => this.tick(now));
    }

    controls() {
        const check = (label, name, checked, changed) => make('label', {}, make('input', { type: 'checkbox', name, checked, onchange: (event) => changed(event.target.checked) }), label);
        this.playButton = make('button', { type: 'button', class: 'pc-play', onclick: () => this.toggle(), title: 'Play or pause (space)' }, 'Play');
        this.slider = make('input', { type: 'range', min: '0', max: String(this.end), step: 'any', value: '0', 'aria-label': 'Time in seconds', oninput: (event) => this.pause().seek(+event.target.value) });
        this.clockText = make('output', { class: 'pc-time' }, '0 s');
        const speeds = make('select', { 'aria-label': 'Speed', onchange: (event) => (this.speed = +event.target.value) }, ...SPEEDS.map((speed) => make('option', { value: speed, selected: speed === 1 }, `${speed}×`)));
        this.speeds = speeds;
        const ghosts = make('select', { 'aria-label': 'Ghost of another model', onchange: (event) => this.stage.setGhost(this.page.runs[+event.target.value] ?? null) }, make('option', { value: '-1' }, 'no ghost'), ...this.page.runs.map((run, i) => make('option', { value: i }, `ghost of ${run.name}`)));
        return make('div', { class: 'pc-bar' },
            this.playButton,
            make('button', { type: 'button', onclick: () => this.step(-1), title: 'A frame back (left arrow)', 'aria-label': 'A frame back' }, '◀'),
            make('button', { type: 'button', onclick: () => this.step(1), title: 'A frame on (right arrow)', 'aria-label': 'A frame on' }, '▶'),
            this.slider, this.clockText, speeds,
            check('contacts', 'contacts', this.mostContacts <= TOO_MANY, (on) => this.stage.setContacts(on)),
            check('trails', 'trails', false, (on) => this.showTrails(on)),
            ...(this.page.runs.length > 1 ? [ghosts] : []),
            make('button', { type: 'button', onclick: () => this.stage.goHome(), title: 'The first view again (h)' }, 'Reset view'));
    }

    legend() {
        const item = (colour, text) => make('li', {}, make('span', { class: 'pc-dot', style: `background:${colour}` }), text);
        const hidden = this.mostContacts > TOO_MANY ? [make('li', { class: 'pc-hidden-contacts' }, `up to ${this.mostContacts} contacts at a time hide the bodies: tick “contacts” to see them`)] : [];
        return make('ul', { class: 'pc-legend' }, ...KINDS.map(({ name, colour }) => item(colour, name)), item(FRICTION, 'friction'), make('li', {}, 'arrows: impulse of a step'), ...hidden);
    }

    showTrails(on) {
        this.trails = on;
        const all = [...this.page.bodies.keys()];
        const bodies = !on ? [] : this.selected >= 0 ? [this.selected] : all.slice(0, MOST_TRAILS);
        this.stage.setTrails(bodies);
    }

    select(body) {
        this.selected = body;
        this.stage.select(body);
        if (this.trails) this.showTrails(true);
        this.tell();
    }

    toggle() {
        this.playing = !this.playing;
        if (this.playing && this.clock.time >= this.end) this.seek(0);
        this.playButton.textContent = this.playing ? 'Pause' : 'Play';
        this.write();
    }

    pause() {
        if (this.playing) this.toggle();
        return this;
    }

    // The run with the most frames leads.
    step(way) {
        const lead = this.page.runs.reduce((a, b) => (b.time.length > a.time.length ? b : a));
        const frame = frameAt(lead, this.clock.time), next = Math.min(Math.max(frame + way, 0), lead.time.length - 1);
        this.pause().seek(lead.time[next]);
    }

    // Around, from the last to the first; without one: the first or the last.
    selectNext(way) {
        const count = this.page.bodies.length, from = this.selected < 0 && way < 0 ? 0 : this.selected;
        if (count > 0) this.select((from + way + count) % count);
    }

    keyOf(event) {
        const turns = { ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, -TURN], ArrowDown: [0, TURN] };
        if (event.shiftKey && turns[event.key]) return () => this.stage.orbit(...turns[event.key]);
        const nearer = () => this.stage.zoom(NEARER);
        return {
            ' ': () => this.toggle(), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), Home: () => this.seek(0), End: () => this.seek(this.end),
            n: () => this.selectNext(1), p: () => this.selectNext(-1), Escape: () => this.select(-1),
            '+': nearer, '=': nearer, '-': () => this.stage.zoom(1 / NEARER), h: () => this.stage.goHome(), '?': () => (this.keys.open = !this.keys.open),
        }[event.key];
    }

    key(event) {
        const does = this.keyOf(event);
        if (!does || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || hasOwnUse(event)) return;
        event.preventDefault();
        does();
    }

    seek(time) {
        this.clock.time = Math.min(Math.max(time, 0), this.end);
        this.stage.setTime(this.clock.time);
        this.watchers.forEach((watch) => watch());
        if (!this.playing || performance.now() - this.written > 100) this.write();
    }

    // Where numbers stand: ten times a second is as much as one can read.
    write() {
        this.written = performance.now();
        this.slider.value = this.clock.time;
        this.slider.setAttribute('aria-valuetext', `${this.clock.time.toFixed(2)} s`);
        this.clockText.textContent = `${this.clock.time.toFixed(2)} of ${this.end.toFixed(2)} s`;
        if (this.selected >= 0) this.tell();
    }

    tick(now) {
        const passed = Math.min((now - (this.last ?? now)) / 1000, 0.1);
        this.last = now;
        if (this.playing) {
            this.seek(this.clock.time + passed * this.speed);
            if (this.clock.time >= this.end) this.pause();
        }
        this.stage.render();
        requestAnimationFrame((next) => this.tick(next));
    }

    // What the selected body does in each run.
    tell() {
        if (this.selected < 0) {
            this.info.replaceChildren(make('p', {}, this.page.bodies.length === 1 ? 'One body. Click it, or press n.' : `${this.page.bodies.length} bodies. Click one, or press n.`));
            return;
        }
        const name = make('h2', {}, this.page.bodies[this.selected].name), which = make('p', {}, `body ${this.selected + 1} of ${this.page.bodies.length}`);
        this.info.replaceChildren(name, which, ...this.page.runs.map((run) => this.tellRun(run)));
    }

    tellRun(run) {
        const body = this.selected, { position, quaternion } = poseAt(run, body, momentAt(run, this.clock.time), { position: [0, 0, 0], quaternion: [0, 0, 0, 1] });
        const frame = frameAt(run, this.clock.time), contacts = [];
        for (let i = run.firstContact[frame]; i < run.firstContact[frame + 1]; i++) {
            const contact = contactAt(run, i);
            if (contact.body1 === body || contact.body2 === body) contacts.push(contact);
        }
        const numbers = (values, digits = 3) => values.map((value) => value.toFixed(digits)).join('  ');
        const nameOf = (other) => (other < 0 ? 'what is fixed' : this.page.bodies[other].name);
        const { velocity, spin } = velocityAt(run, body, frame), fact = (title, values) => [make('dt', {}, title), make('dd', {}, numbers(values))];
        return make('div', {},
            make('h3', {}, run.name),
            make('dl', {}, ...fact('position, m', position), ...fact('quaternion w x y z', [quaternion[3], quaternion[0], quaternion[1], quaternion[2]]), ...fact('velocity, m/s', velocity), ...fact('spin, rad/s', spin)),
            make('p', {}, `${contacts.length} contacts`),
            make('ul', {}, ...contacts.slice(0, 12).map((c) => make('li', {}, `${kindOf(c.kind).name}, ${nameOf(c.body1 === body ? c.body2 : c.body1)}: ${readable(Math.hypot(...c.impulse))} N s`))));
    }
}

// ---- data as files ----

function stepsCsv(page) {
    const names = Object.keys(page.runs[0].series);
    const lines = page.runs.flatMap((run) => Array.from(run.series.time, (_, i) => [run.name, ...names.map((name) => run.series[name][i])].map((value) => (typeof value === 'string' ? quoted(value) : value)).join(',')));
    return ['model,' + names.join(','), ...lines].join('\n') + '\n';
}

function statesCsv(page) {
    const lines = [];
    for (const run of page.runs)
        for (let f = 0; f < run.time.length; f++)
            page.bodies.forEach(({ name }, body) => {
                const { position, quaternion } = poseAt(run, body, momentAt(run, run.time[f]), { position: [0, 0, 0], quaternion: [0, 0, 0, 1] });
                const { velocity, spin } = velocityAt(run, body, f);
                lines.push([run.name, run.time[f], quoted(name), ...position, quaternion[3], ...quaternion.slice(0, 3), ...velocity, ...spin].join(','));
            });
    return ['model,time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz', ...lines].join('\n') + '\n';
}

function mapCsv(map) {
    return [[map.xName, map.yName, map.name, 'trials'].map(quoted).join(','), ...map.y.flatMap((y, j) => map.x.map((x, i) => [x, y, map.value[j][i] ?? '', map.count?.[j]?.[i] ?? ''].join(',')))].join('\n') + '\n';
}

function downloads(page) {
    const button = (text, name, data) => make('button', { type: 'button', onclick: () => download(name, data()) }, text);
    const base = page.title.replace(/[^\w.-]+/g, '_') || 'pcontact';
    return make('section', { class: 'pc-downloads', 'aria-label': 'Data' },
        ...(page.runs?.length ? [button('Steps as CSV', `${base}.steps.csv`, () => stepsCsv(page)), button('States as CSV', `${base}.states.csv`, () => statesCsv(page))] : []),
        ...(page.maps ?? []).map((map) => button(`${map.name} as CSV`, `${base}.map.csv`, () => mapCsv(map))));
}

// ---- the page ----

async function show() {
    const root = document.getElementById('pc-root'), page = await readPage(), clock = { time: 0 };
    const parts = { plots: null, maps: [], slopes: [] };
    const theme = themeSwitch(() => {
        parts.plots?.recolour();
        parts.slopes.forEach(recolour);
        parts.maps.forEach((map) => map.draw());
        replay?.stage.refresh();
    });
    document.title = `${page.title} — pcontact`;
    root.replaceChildren(header(page, theme));
    const replay = page.runs?.length ? new Replay(page, clock) : null;
    if (replay) {
        root.append(replay.element);
        replay.begin();
        const plots = make('section', { class: 'pc-plots', 'aria-label': 'Plots' });
        root.append(...verdictOf(page), plots);
        parts.plots = new Plots(page, plots, clock, (time) => replay.pause().seek(time));
        replay.watchers.push(() => parts.plots.follow());
    }
    for (const map of page.maps ?? []) {
        const box = make('section', { class: 'pc-figure' }, make('h2', {}, map.title ?? map.name));
        root.append(box);
        parts.maps.push(new HeatMap(map, box));
    }
    for (const slopes of page.slopes ?? []) {
        const box = make('section', { class: 'pc-figure' });
        root.append(box);
        parts.slopes.push(slopesPlot(slopes, box));
    }
    if (!replay) root.append(...verdictOf(page));
    root.append(downloads(page));
    // For scripts that test or film the page.
    window.pcontact = { page, replay, plots: parts.plots, maps: parts.maps, seek: (time) => replay?.seek(time), ready: true };
}

show().catch((error) => {
    document.getElementById('pc-root').textContent = `This page could not be shown: ${error.message}`;
    throw error;
});
