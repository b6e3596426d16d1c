// SPDX-License-Identifier: MIT
// A small curve with its axes, as SVG: its words are read by people, by screen readers and by tests.
import { logTicks } from '../../report/src/model/numbers.js';

export const MARGIN = { left: 54, right: 8, top: 5, bottom: 15 }; // pixels around the lines
const ROW = 13, COLUMN = 90; // pixels that a mark takes

function part(tag, attributes, text) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
}

/** Every n-th of the marks, so that they have room; the first, unless told otherwise, is one of them. */
const thinned = (marks, most) => marks.filter((_, i) => i % Math.max(1, Math.ceil(marks.length / Math.max(1, most))) === 0);

/** 1, 2 or 5 times a power of ten, whole numbers: about so many steps from low to high, and one at least. */
function evenTicks(low, high, most) {
    const rough = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(rough));
    const steps = [0.5, 1, 2, 5, 10].map(factor => factor * power), wanted = steps.findIndex(size => size >= rough * 0.999);
    const step = Math.max(1, steps[wanted] <= high - low ? steps[wanted] : steps[wanted - 1]);
    const ticks = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(tick);
    return ticks;
}

/** Marks of the axis at the side: within three decades 1, 2 and 5, and where there are none, the two ends. */
function sideTicks({ isLog, low, high }, room) {
    if (!isLog) return evenTicks(low, high, room);
    const marks = logTicks(low, high);
    return thinned(marks.length > 1 ? marks : [low, high], room);
}

/**
 * lines: [{ points: [[x, y]], colour, dash, isFilled }]; x: { from, to, format, hasTicks }; y: { low, high,
 * isLog, format }; title stands inside, at the top.
 */
export function drawCurve(svg, { lines, x, y, title }) {
    const { clientWidth, clientHeight } = svg, bottom = x.hasTicks ? MARGIN.bottom : 6;
    const width = clientWidth - MARGIN.left - MARGIN.right, height = clientHeight - MARGIN.top - bottom;
    if (width <= 0 || height <= 0) return;
    const to = y.isLog ? Math.log : value => value, ground = MARGIN.top + height;
    const across = value => MARGIN.left + (x.to > x.from ? (value - x.from) / (x.to - x.from) : 0) * width;
    const up = value => ground - (to(value) - to(y.low)) / (to(y.high) - to(y.low)) * height;
    const out = [];
    for (const mark of sideTicks(y, Math.floor(height / ROW))) {
        out.push(part('path', { class: 'grid', d: `M${MARGIN.left} ${up(mark).toFixed(1)}h${width}` }));
        out.push(part('text', { class: 'y', x: MARGIN.left - 6, y: (up(mark) + 3.5).toFixed(1), 'text-anchor': 'end' }, y.format(mark)));
    }
    for (const mark of x.hasTicks ? evenTicks(x.from, x.to, width / COLUMN) : []) {
        const anchor = across(mark) > clientWidth - 30 ? 'end' : across(mark) < MARGIN.left + 12 ? 'start' : 'middle';
        out.push(part('text', { class: 'x', x: across(mark).toFixed(1), y: clientHeight - 3, 'text-anchor': anchor }, x.format(mark)));
    }
    for (const { points, colour, dash, isFilled } of lines.filter(line => line.points.length > 0)) {
        const path = points.map(([px, py]) => `${across(px).toFixed(1)} ${up(py).toFixed(1)}`).join('L');
        if (isFilled) out.push(part('path', { class: 'fill', d: `M${across(points[0][0]).toFixed(1)} ${ground}L${path}V${ground}Z`, fill: colour }));
        else out.push(part('path', { class: 'line', d: `M${path}`, fill: 'none', stroke: colour, 'stroke-width': 1.8, 'stroke-linejoin': 'round', ...(dash ? { 'stroke-dasharray': dash } : {}) }));
    }
    out.push(part('path', { class: 'axis', d: `M${MARGIN.left} ${MARGIN.top}V${ground}h${width}` }));
    if (title) out.push(part('text', { class: 'title', x: MARGIN.left + 6, y: MARGIN.top + 10 }, title));
    svg.replaceChildren(...out);
}
