// SPDX-License-Identifier: MIT
// What can be drawn of a tree and of cells: numbers of eight floats, as stage.js takes them.
import { LEAF } from './codec.js';

/** A rectangle for each inner node's plane, cut off where its region ends. */
export function planesOf(tree, [lower, upper]) {
    const out = [];
    const walk = (node, low, high, depth) => {
        const axis = tree.axes[node];
        if (node >= tree.axes.length || axis === LEAF) return;
        const plane = Math.min(Math.max(tree.planes[node], low[axis]), high[axis]);
        const from = [...low], to = [...high];
        from[axis] = to[axis] = plane;
        out.push(...from, axis, ...to, depth);
        const leftHigh = [...high], rightLow = [...low];
        leftHigh[axis] = rightLow[axis] = plane;
        walk(node + 1, low, leftHigh, depth + 1);
        walk(tree.rights[node], rightLow, high, depth + 1);
    };
    if (tree.axes.length > 0) walk(0, lower, upper, 0);
    return new Float32Array(out);
}

/** How far below the root a node lies, and what it is. */
export function describeNode(tree, wanted) {
    let node = 0, depth = 0;
    if (tree.axes.length === 0) return null;
    while (node !== wanted) {
        const right = tree.rights[node];
        node = wanted >= right ? right : node + 1;
        depth += 1;
    }
    return { node, depth, isLeaf: tree.axes[node] === LEAF, axis: 'xyz'[tree.axes[node]], plane: tree.planes[node] };
}

const clamp = (value, most) => value < 0 ? 0 : value > most ? most : value;

/** How many lower corners each cell of a grid holds. One grid alone has everything: what lies outside is in its border. */
function countCells([ox, oy, oz, sx, sy, sz, nx, ny, nz], boxes, isAlone) {
    const counts = new Uint32Array(nx * ny * nz), rx = 1 / sx, ry = 1 / sy, rz = 1 / sz;
    for (let at = 0; at < boxes.length; at += 8) {
        const x = Math.floor((boxes[at] - ox) * rx), y = Math.floor((boxes[at + 1] - oy) * ry), z = Math.floor((boxes[at + 2] - oz) * rz);
        if (isAlone || (x >= 0 && y >= 0 && z >= 0 && x < nx && y < ny && z < nz)) counts[clamp(x, nx - 1) + nx * (clamp(y, ny - 1) + ny * clamp(z, nz - 1))] += 1;
    }
    return counts;
}

/** The cells that hold a box's lower corner, the fuller the stronger. */
export function cellsOf(grids = [], boxes) {
    const all = grids.map(grid => countCells(grid, boxes, grids.length === 1));
    const out = new Float32Array(8 * all.reduce((sum, counts) => sum + counts.reduce((own, count) => own + (count > 0), 0), 0));
    let at = 0;
    grids.forEach(([ox, oy, oz, sx, sy, sz, nx, ny], g) => {
        const counts = all[g], most = counts.reduce((larger, count) => count > larger ? count : larger, 1);
        for (let cell = 0; cell < counts.length; ++cell) {
            if (counts[cell] === 0) continue;
            const x = ox + sx * (cell % nx), y = oy + sy * (Math.floor(cell / nx) % ny), z = oz + sz * Math.floor(cell / (nx * ny));
            out[at] = x, out[at + 1] = y, out[at + 2] = z, out[at + 3] = 0.25 + 0.75 * counts[cell] / most;
            out[at + 4] = x + sx, out[at + 5] = y + sy, out[at + 6] = z + sz, out[at + 7] = 1;
            at += 8;
        }
    });
    return out;
}
