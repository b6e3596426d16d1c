// SPDX-License-Identifier: MIT
// A small flat scene from above and its tree beside it, from what `cleave tree` writes: figure 3 of the KD-tree paper and
// figure 1 of the earlier one.
import { ink } from './ink.mjs';

export const SIDE = 400;
export const MARGIN = 24;
const ROW = 74; // between two depths
const blue = [ink.leaf.line, ink.leaf.fill];
const orange = [ink.inner.line, ink.inner.fill];
const mark = [ink.marked.line, ink.marked.fill];

const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);
const endsOf = (boxes, axis) => [Math.min(...boxes.map(box => box[axis])), Math.max(...boxes.map(box => box[axis + 3]))];
const colorsOf = node => (node.axis === undefined ? blue : orange);
const label = (x, y, text, more = '') => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-family="sans-serif" text-anchor="middle" ${more}>${text}</text>`;

/** The scene along x and z, which is where a flat one has its width; regions of `marked` nodes stand out. */
export function drawScene(nodes, boxes, marked = []) {
    const ends = [endsOf(boxes, 0), null, endsOf(boxes, 2)];
    const scale = SIDE / Math.max(ends[0][1] - ends[0][0], ends[2][1] - ends[2][0]);
    const at = (axis, value) => MARGIN + (clamp(value, ends[axis]) - ends[axis][0]) * scale;
    const rect = (lower, upper, style) => `<rect x="${at(0, lower[0]).toFixed(1)}" y="${at(2, lower[2]).toFixed(1)}" width="${(at(0, upper[0]) - at(0, lower[0])).toFixed(1)}" height="${(at(2, upper[2]) - at(2, lower[2])).toFixed(1)}" ${style}/>`;
    const plane = node => {
        const other = node.axis === 0 ? 2 : 0;
        const [from, to, here] = [at(other, node.lower[other]), at(other, node.upper[other]), at(node.axis, node.plane)].map(value => value.toFixed(1));
        const ends2 = node.axis === 0 ? [here, from, here, to] : [from, here, to, here];
        return `<line x1="${ends2[0]}" y1="${ends2[1]}" x2="${ends2[2]}" y2="${ends2[3]}" stroke="${ink.plane}" stroke-width="${Math.max(1, 3.5 - 0.7 * node.depth)}"/>`;
    };
    const box = (slot, [line, fill]) => rect(boxes[slot].slice(0, 3), boxes[slot].slice(3), `fill="${fill}" stroke="${line}"`) +
        label(at(0, (boxes[slot][0] + boxes[slot][3]) / 2), at(2, (boxes[slot][2] + boxes[slot][5]) / 2) + 4, slot, 'font-size="11"');
    return [rect(ends.map(range => range?.[0] ?? 0), ends.map(range => range?.[1] ?? 0), `fill="none" stroke="${ink.edge}"`),
        ...marked.map(node => rect(node.lower, node.upper, `fill="${mark[1]}" stroke="${mark[0]}" stroke-width="4"`)), ...nodes.filter(node => node.axis === 0 || node.axis === 2).map(plane), ...nodes.flatMap(node => node.objects.map(slot => box(slot, colorsOf(node))))];
}

/** Leaves side by side in the order of the planes, an inner node over the middle of its own; `marked` nodes stand out. */
export function drawHierarchy(nodes, left, width, marked = []) {
    const byId = new Map(nodes.map(node => [node.node, node]));
    const isInner = node => node.axis !== undefined;
    const order = node => (isInner(node) ? [...order(byId.get(node.left)), ...order(byId.get(node.right))] : [node.node]);
    const leaves = order(nodes[0]);
    const x = node => (isInner(node) ? (x(byId.get(node.left)) + x(byId.get(node.right))) / 2 : left + (leaves.indexOf(node.node) + 0.5) * width / leaves.length);
    const y = node => MARGIN + 16 + node.depth * ROW;
    const edges = nodes.filter(isInner).flatMap(node => [node.left, node.right].map(id => `<line x1="${x(node).toFixed(1)}" y1="${y(node)}" x2="${x(byId.get(id)).toFixed(1)}" y2="${y(byId.get(id))}" stroke="${ink.edge}"/>`));
    return [...edges, ...nodes.flatMap(node => {
        const [line, fill] = colorsOf(node);
        return [`<circle cx="${x(node).toFixed(1)}" cy="${y(node)}" r="13" fill="${fill}" stroke="${marked.includes(node) ? mark[0] : line}" stroke-width="${marked.includes(node) ? 5 : 1}"/>`, label(x(node), y(node) + 4, isInner(node) ? 'xyz'[node.axis] : node.population, 'font-size="12"'), label(x(node), y(node) + 27, node.objects.join(' '), `font-size="11" fill="${line}"`)];
    })];
}

/** The picture as SVG text. */
export function smallTreeSvg({ tree, boxes }) {
    const [width, left] = [560, SIDE + 3 * MARGIN];
    const height = Math.max(SIDE + 2 * MARGIN, MARGIN + 60 + Math.max(...tree.nodes.map(node => node.depth)) * ROW);
    return [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + MARGIN} ${height}">`, `<title>${boxes.length} boxes and their tree of ${tree.nodes.length} nodes, at most ${tree.leaf_limit} in a leaf</title>`,
        `<rect width="${left + width + MARGIN}" height="${height}" fill="${ink.ground}"/>`, ...drawScene(tree.nodes, boxes), ...drawHierarchy(tree.nodes, left, width), '</svg>'].join('\n') + '\n';
}
