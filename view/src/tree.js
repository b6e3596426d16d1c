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

/** The cells that hold a box's lower corner, the fuller the stronger. */
export function cellsOf(grids, boxes) {
    const out = [];
    for (const [ox, oy, oz, sx, sy, sz, nx, ny, nz] of grids ?? []) {
        const counts = new Uint32Array(nx * ny * nz);
        let most = 1;
        for (let at = 0; at < boxes.length; at += 8) {
            const x = Math.floor((boxes[at] - ox) / sx), y = Math.floor((boxes[at + 1] - oy) / sy), z = Math.floor((boxes[at + 2] - oz) / sz);
            const inside = grids.length === 1 || (x >= 0 && y >= 0 && z >= 0 && x < nx && y < ny && z < nz);
            if (!inside) continue;
            const cell = Math.min(Math.max(x, 0), nx - 1) + nx * (Math.min(Math.max(y, 0), ny - 1) + ny * Math.min(Math.max(z, 0), nz - 1));
            most = Math.max(most, ++counts[cell]);
        }
        for (let cell = 0; cell < counts.length; ++cell) {
            if (counts[cell] === 0) continue;
            const low = [ox + sx * (cell % nx), oy + sy * (Math.floor(cell / nx) % ny), oz + sz * Math.floor(cell / (nx * ny))];
            out.push(...low, 0.25 + 0.75 * counts[cell] / most, low[0] + sx, low[1] + sy, low[2] + sz, 1);
        }
    }
    return new Float32Array(out);
}
