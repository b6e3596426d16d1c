// SPDX-License-Identifier: MIT
// Colours, dashes and symbols. The first colours are those of Okabe and Ito (2008), told apart with any colour vision, without the
// yellow that is lost on white; the others were chosen one by one as far as can be from all before them, in OKLab as most people
// and as those without green receptors see them. Four and twenty are many: a dash and a symbol say the same again.

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
        '#780087', '#4bd287', '#a52d5a', '#ff96f0', '#1e1e3c', '#4b4b5a', '#0000d2', '#87690f', '#ff4b69', '#b44bb4', '#5a3cb4', '#962de1'],
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
        '#2dffc3', '#b44bff', '#b46987', '#ff69ff', '#ff005a', '#ffe196', '#8769c3', '#a5d287', '#2d693c', '#ffd2ff', '#960fd2', '#e15ab4'],
    stages: ['#4c9fe0', '#f0b429', '#1fc395', '#df9cc2', '#9bd6fa', '#f0803c', '#a3abb5'],
};

const DASHES = ['solid', [7, 4], [2, 3], [9, 3, 2, 3]];
const DASH_RUN = 7; // so many names in a row share a dash
const SYMBOLS = ['circle', 'rect', 'triangle', 'diamond'];

/**
 * A style per name, the same for the same list: { color, dash, symbol, width, item }, item being ECharts' itemStyle. `cleave` itself is drawn in ink,
 * as paper 004 draws its own method.
 */
export function stylesFor(names, look) {
    const styles = new Map();
    let index = 0;
    for (const name of names) {
        if (styles.has(name)) continue;
        if (name === 'cleave') {
            styles.set(name, { color: look.ink, dash: 'solid', symbol: 'circle', width: 3, item: { color: look.ink } });
            continue;
        }
        const round = Math.floor(index / look.palette.length);
        const color = look.palette[index % look.palette.length];
        const shape = index + 1 + round; // eight shapes, and another one when the colours begin again
        styles.set(name, {
            color,
            dash: DASHES[(Math.floor(index / DASH_RUN) + round) % DASHES.length],
            symbol: SYMBOLS[shape % SYMBOLS.length],
            width: 2,
            item: shape % (2 * SYMBOLS.length) < SYMBOLS.length ? { color } : { color: look.panel, borderColor: color, borderWidth: 1.8 },
        });
        ++index;
    }
    return styles;
}
