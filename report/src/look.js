// SPDX-License-Identifier: MIT
// Colours, dashes and symbols. Colours are those of Okabe and Ito (2008), told apart with any colour vision, without the
// yellow that is lost on white; a dash and a symbol say the same a second and third time.

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
    palette: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7a7f87'],
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
    palette: ['#4c9fe0', '#f0803c', '#1fc395', '#df9cc2', '#f0b429', '#9bd6fa', '#a3abb5'],
    stages: ['#4c9fe0', '#f0b429', '#1fc395', '#df9cc2', '#9bd6fa', '#f0803c', '#a3abb5'],
};

const DASHES = ['solid', [7, 4], [2, 3], [9, 3, 2, 3]];
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
        const shape = index + 1; // eight shapes and seven colours: no two of 56 are alike
        styles.set(name, {
            color,
            dash: DASHES[round % DASHES.length],
            symbol: SYMBOLS[shape % SYMBOLS.length],
            width: 2,
            item: shape % (2 * SYMBOLS.length) < SYMBOLS.length ? { color } : { color: look.panel, borderColor: color, borderWidth: 1.8 },
        });
        ++index;
    }
    return styles;
}
