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

// Ticks: powers of ten as such, and on a logarithmic axis no others.
export const tickText = (log) => (_, ticks) => ticks.map((tick) => (tick === null || (log && Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) > 1e-6) ? '' : Math.abs(tick) >= 0.001 && Math.abs(tick) < 1e5 ? String(+tick.toPrecision(6)) : tick === 0 ? '0' : tick.toExponential(0)));

// On a logarithmic axis there is no place for 0: nothing is drawn where a quantity vanishes.
function column(run, { key, log }) {
    return Array.from(run.series[key], (value) => (Number.isFinite(value) && (!log || value > 0) ? value : null));
}

// Runs may differ in their times: uPlot joins their columns into one table.
function tableOf(page, quantity) {
    const tables = page.runs.map((run) => [Array.from(run.series.time), column(run, quantity)]);
    const same = tables.every(([time]) => time.length === tables[0][0].length);
    return same ? [tables[0][0], ...tables.map(([, values]) => values)] : uPlot.join(tables);
}

const hasValues = (table) => table.slice(1).some((values) => values.some((value) => value !== null));

function axisColours() {
    const style = getComputedStyle(document.documentElement);
    return { stroke: style.getPropertyValue('--text').trim(), grid: { stroke: style.getPropertyValue('--line').trim(), width: 1 }, ticks: { stroke: style.getPropertyValue('--line').trim(), width: 1 } };
}

// The time of the replay as a line across the plot.
function timeLine(clock) {
    return {
        hooks: {
            draw: (plot) => {
                const x = Math.round(plot.valToPos(clock.time, 'x', true)), { ctx, bbox } = plot;
                if (x < bbox.left || x > bbox.left + bbox.width) return;
                ctx.save();
                ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
                ctx.lineWidth = 2;
                ctx.beginPath();
                ctx.moveTo(x, bbox.top);
                ctx.lineTo(x, bbox.top + bbox.height);
                ctx.stroke();
                ctx.restore();
            },
        },
    };
}

function optionsOf(page, quantity, clock, width) {
    const scale = quantity.log ? { distr: 3 } : {};
    return {
        title: quantity.title + (quantity.unit ? `, ${quantity.unit}` : ''),
        width,
        height: 220,
        scales: { x: { time: false }, y: scale },
        cursor: { sync: { key: 'time' }, drag: { x: true, y: false } },
        axes: [{ ...axisColours() }, { ...axisColours(), size: 56, space: quantity.log ? 16 : 40, values: tickText(quantity.log) }],
        series: [{ label: 's', value: (_, value) => readable(value) }, ...page.runs.map((run, i) => ({ label: run.name, stroke: RUNS[i % RUNS.length], width: 1.5, dash: i === 0 && page.runs.length > 1 ? [6, 3] : undefined, value: (_, value) => readable(value), points: { show: false } }))],
        plugins: [timeLine(clock)],
    };
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
            this.plots.push(plot);
        }
        new ResizeObserver(() => this.plots.forEach((plot) => plot.setSize({ width: this.width(), height: 220 }))).observe(element);
    }

    width() {
        const all = this.element.clientWidth || 600, columns = all > 1500 ? 3 : all > 760 ? 2 : 1;
        return Math.floor((all - 16 * (columns - 1)) / columns) - 18;
    }

    redraw() {
        this.plots.forEach((plot) => plot.redraw(false, false));
    }

    recolour() {
        this.plots.forEach((plot) => {
            plot.axes.forEach((axis) => {
                const colours = axisColours();
                axis.stroke = () => colours.stroke;
                axis.grid.stroke = axis.ticks.stroke = () => colours.grid.stroke;
            });
            plot.redraw(false, true);
        });
    }
}
