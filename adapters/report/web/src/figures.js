// Figures that have no time: the map of a sweep with its margins, and infeasibility against the step.
import uPlot from 'uplot';
import { RUNS, mapColour } from './colours.js';
import { axisOf, legendByKeys, readable } from './plots.js';

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
}

const mean = (values) => {
    const known = values.filter((value) => value !== null);
    return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
};

// ---- map ----

function layout(map, width) {
    const margin = 60, left = 92, top = 8, bar = 44;
    const cell = Math.max(8, Math.floor(Math.min(560, width - left - margin - 16) / map.x.length));
    return { cell, left, top, margin, wide: cell * map.x.length, high: cell * map.y.length, bar };
}

function drawCells(ctx, map, at, low, high) {
    map.y.forEach((_, j) => map.x.forEach((_, i) => {
        const value = map.value[j][i];
        ctx.fillStyle = value === null ? css('--line') : mapColour((value - low) / (high - low || 1));
        ctx.fillRect(at.left + i * at.cell, at.top + (map.y.length - 1 - j) * at.cell, at.cell, at.cell);
    }));
}

// Means over rows and columns, as bars beside the map.
function drawMargins(ctx, map, at, low, high) {
    const bar = (value) => (value === null ? 0 : ((value - low) / (high - low || 1)) * at.bar);
    ctx.fillStyle = css('--accent');
    map.x.forEach((_, i) => {
        const size = bar(mean(map.value.map((row) => row[i])));
        ctx.fillRect(at.left + i * at.cell + 1, at.top + at.high + 4, at.cell - 2, size);
    });
    map.y.forEach((_, j) => {
        const size = bar(mean(map.value[j]));
        ctx.fillRect(at.left + at.wide + 4, at.top + (map.y.length - 1 - j) * at.cell + 1, size, at.cell - 2);
    });
}

const place = (value) => (Math.abs(value) < 1e-12 ? '0' : Math.abs(value) > 1e-4 ? String(+value.toPrecision(4)) : readable(value));

function drawTicks(ctx, map, at) {
    ctx.fillStyle = css('--text');
    ctx.font = '12px system-ui, sans-serif';
    ctx.textAlign = 'right';
    ctx.textBaseline = 'middle';
    const every = Math.ceil(24 / at.cell);
    map.y.forEach((y, j) => j % every === 0 && ctx.fillText(place(y), at.left - 6, at.top + (map.y.length - 0.5 - j) * at.cell));
    ctx.textAlign = 'center';
    ctx.textBaseline = 'top';
    map.x.forEach((x, i) => i % (2 * every) === 0 && ctx.fillText(place(x), at.left + (i + 0.5) * at.cell, at.top + at.high + at.bar + 8));
    ctx.fillText(map.xName, at.left + at.wide / 2, at.top + at.high + at.bar + 26);
    ctx.save();
    ctx.translate(14, at.top + at.high / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(map.yName, 0, -6);
    ctx.restore();
}

// Around the cell that is told of: two strokes, of which one shows on every colour.
function drawFrame(ctx, map, at, [i, j]) {
    const x = at.left + i * at.cell, y = at.top + (map.y.length - 1 - j) * at.cell;
    [['#000', 0.5], ['#fff', 1.5]].forEach(([colour, inside]) => {
        ctx.strokeStyle = colour;
        ctx.strokeRect(x + inside, y + inside, at.cell - 2 * inside, at.cell - 2 * inside);
    });
}

export class HeatMap {
    constructor(map, box) {
        this.map = map;
        const known = map.value.flat().filter((value) => value !== null);
        this.low = map.low ?? Math.min(...known);
        this.high = map.high ?? Math.max(...known);
        this.canvas = element('canvas', 'pc-map');
        this.canvas.setAttribute('role', 'img');
        this.canvas.setAttribute('aria-label', `${map.name} against ${map.xName} and ${map.yName}`);
        this.said = element('p', 'pc-said', 'Point at a cell for its value, or go there by the arrow keys.');
        this.scale = element('p', 'pc-scale');
        const ramp = element('span', 'pc-ramp');
        ramp.style.background = `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map(mapColour).join(',')})`;
        this.scale.append(readable(this.low), ramp, readable(this.high), ` ${map.name}; bars: means of columns and rows`);
        this.canvas.tabIndex = 0;
        this.said.setAttribute('aria-live', 'polite');
        box.append(this.canvas, this.said, this.scale);
        this.canvas.addEventListener('pointermove', (event) => this.point(event));
        this.canvas.addEventListener('keydown', (event) => this.key(event));
        // At once as well: an observer tells only after the first frame, and a pointer may be quicker.
        this.draw(box.clientWidth);
        new ResizeObserver(() => this.draw(box.clientWidth)).observe(box);
    }

    draw(width = this.width) {
        this.width = width;
        const at = (this.at = layout(this.map, width)), ratio = window.devicePixelRatio || 1;
        const size = [at.left + at.wide + at.margin, at.top + at.high + at.bar + 44];
        [this.canvas.width, this.canvas.height] = size.map((x) => x * ratio);
        [this.canvas.style.width, this.canvas.style.height] = size.map((x) => `${x}px`);
        const ctx = this.canvas.getContext('2d');
        ctx.scale(ratio, ratio);
        drawCells(ctx, this.map, at, this.low, this.high);
        drawMargins(ctx, this.map, at, this.low, this.high);
        drawTicks(ctx, this.map, at);
        if (this.told) drawFrame(ctx, this.map, at, this.told);
    }

    point(event) {
        const row = Math.floor((event.offsetY - this.at.top) / this.at.cell);
        this.tell(Math.floor((event.offsetX - this.at.left) / this.at.cell), this.map.y.length - 1 - row);
    }

    // From the cell that was told of last; the first time to the one in the lower left corner.
    key(event) {
        const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }, way = ways[event.key];
        if (!way) return;
        event.preventDefault();
        const [i, j] = this.told ? this.told.map((x, k) => x + way[k]) : [0, 0];
        this.tell(i, j);
    }

    tell(i, j) {
        const value = this.map.value[j]?.[i], { xName, yName, x, y, count } = this.map;
        if (value === undefined) return;
        this.told = [i, j];
        const trials = count?.[j]?.[i];
        this.said.textContent = `${xName} ${readable(x[i])}, ${yName} ${readable(y[j])}: ${readable(value)}${trials === undefined ? '' : ` of ${trials} trials`}`;
        this.draw();
    }
}

// ---- a quantity against the step, both logarithmic, with the line through its points ----

export function fit(points) {
    const logs = points.filter(([h, value]) => h > 0 && value > 0).map(([h, value]) => [Math.log(h), Math.log(value)]), n = logs.length;
    if (n < 2) return null;
    const mx = logs.reduce((s, [x]) => s + x, 0) / n, my = logs.reduce((s, [, y]) => s + y, 0) / n;
    const slope = logs.reduce((s, [x, y]) => s + (x - mx) * (y - my), 0) / logs.reduce((s, [x]) => s + (x - mx) ** 2, 0);
    return { slope, at: (h) => Math.exp(my + slope * (Math.log(h) - mx)) };
}

// A world may play another story at the longest step that was tried; what is claimed is what happens as steps become short.
function withoutLongest(points) {
    const longest = Math.max(...points.map(([h]) => h));
    return points.length > 2 ? points.filter(([h]) => h < longest) : points;
}

export function slopesPlot(slopes, box) {
    const steps = [...new Set(slopes.series.flatMap(({ points }) => points.map(([h]) => h)))].sort((a, b) => a - b);
    const columns = [], series = [{ label: 'h', value: (_, value) => readable(value) }];
    slopes.series.forEach(({ name, points }, i) => {
        const fitted = withoutLongest(points), known = new Map(points), line = fit(fitted), colour = RUNS[i % RUNS.length];
        columns.push(steps.map((h) => (known.get(h) > 0 ? known.get(h) : null)));
        series.push({ label: name, stroke: colour, width: 0, points: { show: true, size: 8, fill: colour }, value: (_, value) => readable(value) });
        columns.push(steps.map((h) => (line && fitted.some(([step]) => step === h) ? line.at(h) : null)));
        series.push({ label: line ? `slope ${line.slope.toFixed(2)}` : 'no slope', stroke: colour, width: 1.5, dash: [5, 4], points: { show: false }, value: (_, value) => readable(value), spanGaps: true });
    });
    const size = () => ({ width: Math.max(280, Math.min(box.clientWidth - 20, 1000)), height: 420 });
    const plot = new uPlot({
        title: slopes.title,
        ...size(),
        scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
        axes: [axisOf(true, { label: slopes.xName }), axisOf(true, { size: 72 })],
        series,
    }, [steps, ...columns], box);
    legendByKeys(plot);
    new ResizeObserver(() => plot.setSize(size())).observe(box);
    box.append(element('p', 'pc-note', 'Lines are fitted without the longest step of each world.'));
    return plot;
}
