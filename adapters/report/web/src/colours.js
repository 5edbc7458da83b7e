// Colours that people with any kind of colour vision can tell apart (the palette of Okabe and Ito), and what they stand for.

export const KINDS = [
    { name: 'corner on face', colour: '#0072b2' },
    { name: 'edge on edge', colour: '#d55e00' },
    { name: 'smooth', colour: '#009e73' },
    { name: 'of the host', colour: '#7f7f7f' },
];
// By a contact's kind as the tool numbers it: corner-face, face-corner, edge-edge, smooth; -1: a contact that is no event.
export const kindOf = (kind) => KINDS[kind < 0 ? 3 : [0, 0, 1, 2][kind] ?? 3];

export const FRICTION = '#cc79a7';
export const RUNS = ['#d55e00', '#e69f00', '#0072b2', '#009e73', '#cc79a7', '#56b4e9'];
export const BODIES = ['#56b4e9', '#e69f00', '#009e73', '#f0e442', '#cc79a7', '#0072b2', '#d55e00'];

// Dark blue to yellow, brightness growing all the way: reads in print and for every eye.
const MAP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
export function mapColour(part) {
    const x = Math.min(Math.max(part, 0), 1) * (MAP.length - 1), i = Math.min(Math.floor(x), MAP.length - 2);
    const mix = MAP[i].map((low, k) => Math.round(low + (MAP[i + 1][k] - low) * (x - i)));
    return `rgb(${mix.join(',')})`;
}
