// SPDX-License-Identifier: MIT
// What can be drawn of a tree: numbers of eight floats, as stage.js takes them.
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
