// SPDX-License-Identifier: MIT
// A chart in the page: follows the theme, the width and what is hidden, and saves itself as SVG.
import { openPlot, svgText } from '../plots.js';
import { light, stylesFor } from '../look.js';
import { heightFor, isNarrow } from '../charts/frame.js';
import { h } from './dom.js';
import { fileName } from '../svg_files.js';

function save(name, text) {
    const link = h('a', { href: URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** So many lines can be told apart: a plot begins with no more, and the others are switched on. */
export const FIRST_LINES = 8;

/**
 * make(look, { width, height, hidden, styles }) -> ECharts option, or null for nothing to show. `app` is told
 * of clicks in legends; rows() is how many names the chart holds, for its height. `names`: those of a chart
 * whose lines are not the page's methods.
 */
export function makeFigure(app, { name, make, rows = () => 0, least = 400, tall = heightFor, names = null }) {
    const own = names && new Set(names.slice(FIRST_LINES));
    const plot = h('div', { class: 'plot', role: 'img', 'aria-label': name });
    const empty = h('p', { class: 'note', hidden: true }, 'Nothing to show: every method is hidden, or none has these numbers.');
    const saveButton = h('button', { type: 'button', class: 'save', title: 'Save this plot as an SVG file', onclick: () => {
        const frame = { width: 860, height: tall(rows(), least, Infinity), ...shared(light), title: name, isStill: true };
        save(fileName(name), svgText(make(light, frame), frame));
    } }, 'SVG');
    const more = own?.size > 0 ? h('p', { class: 'about' }, `${FIRST_LINES} of ${names.length} lines are shown at first: a click in the legend shows or hides one.`) : null;
    const element = h('figure', {}, plot, empty, more, saveButton);
    const shared = look => ({ hidden: own ?? app.hidden, hasOwnNames: own !== null, styles: names ? stylesFor(names, look) : app.styles(look) });
    let chart = null;

    function draw() {
        const width = plot.clientWidth;
        if (width === 0) return;
        const look = app.look();
        const height = tall(rows(), isNarrow({ width }) ? Math.min(least, width + 120) : least, isNarrow({ width }) ? 520 : undefined);
        const option = make(look, { width, height, ...shared(look) });
        plot.hidden = saveButton.hidden = option === null;
        empty.hidden = option !== null;
        if (option === null) return;
        plot.style.height = `${height}px`;
        if (chart === null) {
            chart = openPlot(plot);
            chart.on('legendselectchanged', ({ name: chosen, selected }) => {
                if (own) own[selected[chosen] ? 'delete' : 'add'](chosen);
                else if (app.labels.has(chosen)) app.setHidden(chosen, !selected[chosen]);
            });
        }
        chart.resize();
        chart.setOption(option, { notMerge: true });
    }
    let lastWidth = 0;
    new ResizeObserver(() => {
        if (plot.clientWidth !== lastWidth) draw();
        lastWidth = plot.clientWidth;
    }).observe(element);
    app.figures.push(draw);
    return element;
}
