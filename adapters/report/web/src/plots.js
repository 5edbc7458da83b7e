// Plots over time, one for each quantity, a series for each run; their cursor is the time of the replay.
import uPlot from 'uplot';
import { RUNS } from './colours.js';

export const QUANTITIES = [
    { key: 'infeasibility_contact', title: 'Penetration, ratio', log: true },
    { key: 'penetration', title: 'Penetration, length', unit: 'm', log: true },
    { key: 'infeasibility_joint', title: 'Joint error', log: true },
    { key: 'residual', title: 'Residual', log: true },
    { key: 'energy', title: 'Energy', unit: 'J' },
    { key: 'iterations', title: 'Iterations of the solver' },
    { key: 'ms', title: 'Time per step', unit: 'ms', log: true },
];

export const readable = (value) => (value === null || value === undefined || Number.isNaN(value) ? '–' : Math.abs(value) >= 0.01 && Math.abs(value) < 1e5 ? String(+value.toPrecision(4)) : value === 0 ? '0' : value.toExponential(2));

// Where a logarithmic axis has lines and numbers: at powers of ten, and of many decades at every second, third, … one. uPlot's own way
// to find them does not end below 1e-16.
function powers(min, max) {
    const low = Math.ceil(Math.log10(min) - 1e-6), high = Math.floor(Math.log10(max) + 1e-6), every = Math.max(1, Math.ceil((high - low + 1) / 9)), found = [];
    for (let power = every * Math.ceil(low / every); power <= high; power += every) found.push(Number(`1e${power}`));
    return found;
}

const tickText = (_, ticks) => ticks.map((tick) => (tick === null ? '' : Math.abs(tick) >= 0.001 && Math.abs(tick) < 1e5 ? String(+tick.toPrecision(6)) : tick === 0 ? '0' : tick.toExponential(0)));

// An axis in the colours of the page; a logarithmic one has lines, ticks and numbers at powers of ten and nowhere else.
export function axisOf(log, more = {}) {
    const style = getComputedStyle(document.documentElement), line = { stroke: style.getPropertyValue('--line').trim(), width: 1 };
    const splits = log ? { splits: (_, axis, min, max) => powers(min, max), filter: (_, ticks) => ticks } : {};
    return { stroke: style.getPropertyValue('--text').trim(), grid: line, ticks: line, ...splits, values: tickText, ...more };
}

// On a logarithmic axis there is no place for 0: nothing is drawn where a quantity vanishes, or all but does.
const NOTHING = 1e-18;

function column(run, { key, log }) {
    return Array.from(run.series[key], (value) => (Number.isFinite(value) && (!log || value > NOTHING) ? value : null));
}

// Runs may differ in their times: uPlot joins their columns into one table.
function tableOf(page, quantity) {
    const tables = page.runs.map((run) => [Array.from(run.series.time), column(run, quantity)]);
    const same = tables.every(([time]) => time.length === tables[0][0].length);
    return same ? [tables[0][0], ...tables.map(([, values]) => values)] : uPlot.join(tables);
}

const hasValues = (table) => table.slice(1).some((values) => values.some((value) => value !== null));

// The time of the replay as a line across the plot: an element that is moved, for to draw all plots anew for each frame takes longer than the bodies.
function timeLine(clock) {
    const line = document.createElement('div');
    line.className = 'pc-now';
    const move = (plot) => {
        const x = plot.valToPos(clock.time, 'x'), inside = x >= 0 && x <= plot.over.clientWidth;
        line.style.visibility = inside ? 'visible' : 'hidden';
        if (inside) line.style.transform = `translateX(${x - 1}px)`;
    };
    return { hooks: { init: (plot) => (plot.over.append(line), (plot.moveLine = () => move(plot))), draw: move } };
}

function optionsOf(page, quantity, clock, width) {
    const scale = quantity.log ? { distr: 3 } : {};
    return {
        title: quantity.title + (quantity.unit ? `, ${quantity.unit}` : ''),
        width,
        height: 220,
        scales: { x: { time: false }, y: scale },
        cursor: { sync: { key: 'time' }, drag: { x: true, y: false } },
        axes: [axisOf(false), axisOf(quantity.log, { size: 60, space: quantity.log ? 16 : 40 })],
        series: [{ label: 's', value: (_, value) => readable(value) }, ...page.runs.map((run, i) => ({ label: run.name, stroke: RUNS[i % RUNS.length], width: 1.5, dash: i === 0 && page.runs.length > 1 ? [6, 3] : undefined, value: (_, value) => readable(value), points: { show: false } }))],
        plugins: [timeLine(clock)],
    };
}

// Names below a plot hide and show their series by a click; so they do by Enter and Space.
export function legendByKeys(plot) {
    const names = [...plot.root.querySelectorAll('.u-legend .u-series th')].slice(1);
    const tell = () => names.forEach((name, i) => name.setAttribute('aria-pressed', String(plot.series[i + 1].show)));
    names.forEach((name, i) => {
        name.tabIndex = 0;
        name.setAttribute('role', 'button');
        name.addEventListener('keydown', (event) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            plot.setSeries(i + 1, { show: !plot.series[i + 1].show });
        });
    });
    (plot.hooks.setSeries ??= []).push(tell);
    tell();
}

// What dragging and a double click do, about the time of the replay.
function zoomByKeys(plot, quantity, clock) {
    const all = () => [plot.data[0][0], plot.data[0].at(-1)];
    const zoom = (factor) => {
        const [first, last] = all(), wide = Math.min((plot.scales.x.max - plot.scales.x.min) * factor, last - first);
        const min = Math.min(Math.max(clock.time - wide / 2, first), last - wide);
        plot.setScale('x', { min, max: min + wide });
    };
    const keys = { '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: () => plot.setScale('x', { min: all()[0], max: all()[1] }) };
    plot.over.tabIndex = 0;
    plot.over.setAttribute('role', 'img');
    plot.over.setAttribute('aria-label', `${quantity.title} over time: plus and minus zoom, 0 shows the whole`);
    plot.over.addEventListener('keydown', (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        keys[event.key]();
    });
    plot.over.addEventListener('focus', () => plot.tellNow());
    // The values of the time stand beside the names while the keys are used here; a pointer has a place of its own.
    plot.tellNow = () => plot.over.matches(':focus-visible') && plot.setCursor({ left: plot.valToPos(clock.time, 'x'), top: 0 });
}

export function recolour(plot) {
    const { stroke, grid } = axisOf(false);
    for (const axis of plot.axes) {
        axis.stroke = () => stroke;
        axis.grid.stroke = axis.ticks.stroke = () => grid.stroke;
    }
    plot.redraw(false, true);
}

export class Plots {
    constructor(page, element, clock, seek) {
        this.element = element;
        this.plots = [];
        for (const quantity of QUANTITIES) {
            const table = page.runs.length ? tableOf(page, quantity) : [[]];
            if (!hasValues(table)) continue;
            const box = document.createElement('div');
            box.className = 'pc-plot';
            box.dataset.quantity = quantity.key;
            element.append(box);
            const plot = new uPlot(optionsOf(page, quantity, clock, this.width()), table, box);
            plot.over.addEventListener('click', () => plot.cursor.left >= 0 && seek(plot.posToVal(plot.cursor.left, 'x')));
            legendByKeys(plot);
            zoomByKeys(plot, quantity, clock);
            this.plots.push(plot);
        }
        new ResizeObserver(() => this.plots.forEach((plot) => plot.setSize({ width: this.width(), height: 220 }))).observe(element);
    }

    width() {
        const all = this.element.clientWidth || 600, columns = all > 1500 ? 3 : all > 760 ? 2 : 1;
        return Math.floor((all - 16 * (columns - 1)) / columns) - 18;
    }

    follow() {
        this.plots.forEach((plot) => (plot.moveLine(), plot.tellNow()));
    }

    recolour() {
        this.plots.forEach(recolour);
    }
}
