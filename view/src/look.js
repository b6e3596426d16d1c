// SPDX-License-Identifier: MIT
// Light and dark: colours of the picture. Those of the page around it are in style.css.
import { dark, light, stylesFor } from '../../report/src/look.js';

const rgb = text => [1, 3, 5].map(at => parseInt(text.slice(at, at + 2), 16) / 255);
export const css = ([r, g, b]) => `rgb(${[r, g, b].map(value => Math.round(255 * value)).join(' ')})`;
const PLACE = 'cleave-view-theme';

export const looks = {
    dark: { isDark: true, ground: rgb('#10141a'), idle: rgb('#6d8299'), busy: rgb('#f0a63c'), accent: rgb('#4fd6e8'), line: rgb('#39434f'), wire: rgb('#a9bccf'), link: rgb('#ffd27a'), cell: rgb('#5f86b3'), dop: rgb('#8fe0b0'), sphere: rgb('#c9a6ff'), false: rgb('#ff5d6c'), saved: rgb('#4fd1a5') },
    light: { isDark: false, ground: rgb('#f3f5f8'), idle: rgb('#9db0c4'), busy: rgb('#ee9b26'), accent: rgb('#0091ad'), line: rgb('#b9c3ce'), wire: rgb('#34465a'), link: rgb('#a3340c'), cell: rgb('#3f6ea5'), dop: rgb('#0b7a4b'), sphere: rgb('#6a3fc0'), false: rgb('#d1002f'), saved: rgb('#00714f') },
};

// Pages opened from disk may have no storage.
const stored = () => { try { return localStorage.getItem(PLACE); } catch { return null; } };
const store = value => { try { localStorage.setItem(PLACE, value); } catch { /* then it is forgotten */ } };

/** The theme now: what was chosen, else the system's; `change` hears of another. */
export function makeTheme(change) {
    const system = matchMedia('(prefers-color-scheme: dark)');
    let chosen = stored();
    const name = () => chosen === 'dark' || chosen === 'light' ? chosen : system.matches ? 'dark' : 'light';
    const apply = () => {
        document.documentElement.dataset.theme = name();
        change();
    };
    system.addEventListener('change', apply);
    document.documentElement.dataset.theme = name();
    return { look: () => looks[name()], name, turn: () => { store(chosen = name() === 'dark' ? 'light' : 'dark'); apply(); } };
}

/**
 * The looks of the methods of both sides, as in the report: { color, dash } each, the dash for SVG. A method
 * beside itself is dashed.
 */
export function methodStyles([one, two], theme) {
    const names = [one, one === two ? `${two} ·` : two], styles = stylesFor(names.filter(Boolean), theme === 'dark' ? dark : light);
    return names.map(name => ({ color: styles.get(name)?.color ?? 'transparent', dash: one === two && name !== one ? '5 3' : '' }));
}

/** What the lines of false pairs mean: 0 none are drawn, 1 of boxes, 2 of 18-DOPs, 3 of spheres. */
export function falseLegend(falses, look) {
    const volume = ['', '', '18-DOPs', 'spheres'][falses], bodies = 'bodies do not';
    if (falses === 0) return [];
    if (falses === 1) return [[css(look.false), `boxes touch, ${bodies}`]];
    return [[css(look.false), `${volume} touch too, ${bodies}`], [css(look.saved), `boxes touch, ${volume} do not`]];
}

/** What a colour means, for the legend: [swatch, text] each. */
export function legend(colour, look) {
    const ramp = 'linear-gradient(90deg, rgb(64 56 128), rgb(35 115 170) 30%, rgb(62 175 120) 60%, rgb(247 235 36))';
    return [
        [[css(look.idle), 'touches nothing'], [`linear-gradient(90deg, ${css(look.busy)}, rgb(214 61 20))`, 'touches one … ten']],
        [[css(look.idle), 'at rest'], ['rgb(51 158 230)', 'moved by more than 1 % of its size']],
        [[ramp, 'slow … fast']],
        [[ramp, 'small … large']],
        [['conic-gradient(#e66, #ed6, #6d8, #5ce, #86e, #e66)', 'a colour for each node of the tree']],
    ][colour];
}
