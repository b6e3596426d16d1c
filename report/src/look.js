// SPDX-License-Identifier: MIT
// Colours, dashes and symbols: one table for the report, the viewer, the playground and the papers' figures.
// The first colours are those of Okabe and Ito (2008), told apart with any colour vision, without the yellow
// that is lost on white; the others were chosen one by one as far as can be from all before them, in OKLab as
// most people and as those without green receptors see them. So many are hard to tell apart: a dash and a
// symbol say the same again.

// Single quotes: ECharts writes it into an attribute of the SVG as it stands.
export const FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

const shared = { font: FONT };

export const light = {
    ...shared,
    name: 'light',
    text: '#1b1f24',
    muted: '#59636e',
    line: '#aeb7c1',
    grid: '#e4e8ec',
    panel: '#ffffff',
    ink: '#000000',
    area: '#c9d3dc',
    faint: '#a0a9b3',
    ring: '#d3dae1',
    palette: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7a7f87', '#5a001e', '#000087', '#5a00ff', '#3c5a00', '#d21eff',
        '#780087', '#4bd287', '#a52d5a', '#ff96f0', '#1e1e3c', '#4b4b5a', '#0000d2', '#87690f', '#ff4b69', '#b44bb4', '#5a3cb4', '#962de1',
        '#8787e1', '#c3a5b4', '#785a87', '#4b1e69', '#3c00a5', '#5a2d00', '#a5a50f', '#a55a5a'],
    stages: ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#7a7f87'],
};

export const dark = {
    ...shared,
    name: 'dark',
    text: '#e6e9ed',
    muted: '#9aa5b1',
    line: '#4a5461',
    grid: '#2a313a',
    panel: '#181c22',
    ink: '#ffffff',
    area: '#3b4753',
    faint: '#67727f',
    ring: '#3c4652',
    palette: ['#4c9fe0', '#f0803c', '#1fc395', '#df9cc2', '#f0b429', '#9bd6fa', '#a3abb5', '#b40078', '#691eff', '#787800', '#d2ff00', '#3c5aa5',
        '#2dffc3', '#b44bff', '#b46987', '#ff69ff', '#ff005a', '#ffe196', '#8769c3', '#a5d287', '#2d693c', '#ffd2ff', '#960fd2', '#e15ab4',
        '#783c78', '#87695a', '#a52d00', '#2d8796', '#87f069', '#d2c3c3', '#e13c0f', '#d2a578'],
    stages: ['#4c9fe0', '#f0b429', '#1fc395', '#df9cc2', '#9bd6fa', '#f0803c', '#a3abb5'],
};

/**
 * A method's place here is that of its colour in a palette, in every figure and on every page. `cleave`
 * itself is drawn in ink, as the KD-tree paper draws its own method.
 */
export const METHODS = ['kd', 'sap', 'grid', 'bvh-d', 'cgal', 'bullet-dbvt-d', 'brute', 'kd-rebuilt', 'bullet-dbvt-f', 'kd-paper', 'isap', 'kd-incremental',
    'embree', 'ray-kd', 'tracy', 'grid-sap', 'bullet-axissweep', 'segment-tree', 'bvh-f', 'kd-complete', 'kd-paper-incremental', 'kd-paper-complete', 'kd-paper-rebuilt', 'fcl',
    'ode-hash', 'ode-sap', 'gpu', 'gpu-grid', 'gpu-lbvh', 'gpu-sap', 'gpu-tiles'];
const INK = 'cleave';

// Volumes around bodies, which stand in no plot beside methods.
const VOLUMES = ['18-dop', 'aabb', 'sphere', '26-dop', 'obb'];
const PLACES = new Map([...METHODS, ...VOLUMES].map(name => [name, Math.max(METHODS.indexOf(name), VOLUMES.indexOf(name))]));

const DASHES = ['solid', [7, 4], [2, 3], [9, 3, 2, 3]];
const DASH_RUN = 7; // so many places in a row share a dash
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'];

/**
 * The method or volume that a label begins with, as in `kd@scalar`, `kd ×4` or `kd · before.json`; other
 * names are what they are.
 */
function methodOf(label) {
    const [first] = label.split(/[@ ,:]/);
    return first === INK || PLACES.has(first) ? first : label;
}

// Names that are no methods take the colours that no method here has, and from the beginning again when these
// are used up: { place, round }.
function placesOf(names, count) {
    const taken = new Set(names.map(name => PLACES.get(name)));
    const free = Array.from({ length: count }, (_, place) => place).filter(place => !taken.has(place));
    let next = 0;
    return new Map(names.map(name => {
        if (PLACES.has(name)) return [name, { place: PLACES.get(name), round: 0 }];
        if (name === INK) return [name, { place: -1, round: 0 }];
        const order = next++;
        return [name, order < free.length ? { place: free[order], round: 0 } : { place: (order - free.length) % count, round: 1 + Math.floor((order - free.length) / count) }];
    }));
}

// `turn`: further runs of one method, and colours that begin again, have other dashes and symbols.
function styleAt(place, turn, look) {
    const color = place < 0 ? look.ink : look.palette[place], shape = place + 1 + turn;
    return {
        color,
        dash: DASHES[(Math.floor(Math.max(place, 0) / DASH_RUN) + turn) % DASHES.length],
        symbol: SYMBOLS[shape % SYMBOLS.length],
        width: place < 0 ? 3 : 2,
        item: shape % (2 * SYMBOLS.length) < SYMBOLS.length ? { color } : { color: look.panel, borderColor: color, borderWidth: 1.8 },
    };
}

/**
 * A style per name, the same for the same list: { color, dash, symbol, width, item }, item being ECharts'
 * itemStyle. A method has one colour, whatever else is in the list; runs of it with other threads, settings
 * or files have its colour and another dash and symbol. `likes`: the label that stands for a name which
 * does not say its method.
 */
export function stylesFor(names, look, likes = new Map()) {
    const list = [...new Set(names)], labels = new Map(list.map(name => [name, likes.get(name) ?? name]));
    const places = placesOf([...new Set([...labels.values()].map(methodOf))], look.palette.length), turns = new Map();
    return new Map(list.map(name => {
        const label = labels.get(name), method = methodOf(label), { place, round } = places.get(method);
        const isPlain = label === method, first = [...labels.values()].includes(method) ? 1 : 0, turn = isPlain ? 0 : turns.get(method) ?? first;
        if (!isPlain) turns.set(method, turn + 1);
        return [name, styleAt(place, turn + round, look)];
    }));
}
