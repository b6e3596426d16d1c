// SPDX-License-Identifier: MIT
// Which boxes a software renderer draws face by face, and what cells hold: against looking at
// every corner and every cell.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Camera } from '../src/camera.js';
import { cellsOf, countAllCells } from '../src/cells.js';
import { listNear, spanOf } from '../src/near.js';

let seed = 1;
const random = () => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed / 2 ** 32; };

/** Boxes in a cube of side 20, eight floats each, some of them long. */
function someBoxes(count, largest) {
    const boxes = new Float32Array(8 * count);
    for (let i = 0; i < count; ++i) for (let axis = 0; axis < 3; ++axis) {
        const middle = 20 * random() - 10, half = largest * random() ** 3;
        boxes[8 * i + axis] = middle - half;
        boxes[8 * i + 4 + axis] = middle + half;
    }
    return boxes;
}

/**
 * Pixels that a box is wide and high, and whether it reaches over the border; null where it cannot be seen.
 */
function seen(boxes, at, camera, aspect, height) {
    const m = camera.matrix(aspect), low = [Infinity, Infinity], high = [-Infinity, -Infinity], middle = [0, 1, 2].map(axis => 0.5 * (boxes[at + axis] + boxes[at + 4 + axis]));
    const place = ([x, y, z]) => [0, 1, 3].map(row => m[row] * x + m[4 + row] * y + m[8 + row] * z + m[12 + row]);
    let behind = 0;
    for (let corner = 0; corner < 8; ++corner) {
        const [x, y, w] = place([0, 1, 2].map(axis => boxes[at + axis + (corner >> axis & 1 ? 4 : 0)]));
        if (w <= 0) { behind += 1; continue; }
        [x / w, y / w].forEach((value, axis) => { low[axis] = Math.min(low[axis], value); high[axis] = Math.max(high[axis], value); });
    }
    const [x, y, w] = place(middle);
    if (behind === 8 || high[0] < -1 || high[1] < -1 || low[0] > 1 || low[1] > 1) return null;
    const pixels = behind > 0 ? Infinity : 0.5 * height * Math.max((high[0] - low[0]) * aspect, high[1] - low[1]);
    return { pixels, isCut: w <= 0 || Math.abs(x) > w || Math.abs(y) > w };
}

test('every box that is large or cut is listed, from near and far', () => {
    const most = 40, height = 600, aspect = 1.6, out = new Uint32Array(400);
    let listed = 0, left = 0, none = 0;
    for (let round = 0; round < 60; ++round) {
        const boxes = someBoxes(400, round % 3 === 0 ? 3 : 0.3), camera = new Camera();
        camera.fit([[-10, -10, -10], [10, 10, 10]], aspect);
        camera.orbit(6 * random(), 3 * random() - 1.5);
        camera.zoom(round % 4 === 0 ? 1.3 : 0.1 + random());
        const count = listNear({ boxes }, camera, aspect, height, most, out), near = new Set(out.subarray(0, count));
        assert.deepEqual(listNear({ boxes, span: spanOf(boxes) }, camera, aspect, height, most, out), count);
        for (let i = 0; i < 400; ++i) {
            const box = seen(boxes, 8 * i, camera, aspect, height);
            if (box && (box.pixels > 1.2 * most || box.isCut)) assert.ok(near.has(i), `round ${round}: box ${i}, ${JSON.stringify(box)}`);
        }
        listed += count;
        left += 400 - count;
        none += count === 0;
    }
    assert.ok(listed > 1000 && left > 1000 && none > 3, `${listed} ${left} ${none}`); // all three happen
});

test('the span of a frame is that of its middles, and of its largest box', () => {
    const boxes = Float32Array.from([0, 0, 0, 9, 2, 2, 2, 9, -5, 1, 1, 9, 5, 5, 7, 9]);
    assert.deepEqual(spanOf(boxes), { lower: [0, 1, 1], upper: [1, 3, 4], radius: 0.5 * Math.sqrt(152) });
});

test('a cell is as strong as it is full; corners outside count where there is one grid, and nowhere where there are more', () => {
    const box = (x, y, z) => [x, y, z, 0, x + 1, y + 1, z + 1, 0];
    const boxes = Float32Array.from([box(0.5, 0.5, 0.5), box(0.2, 0.5, 0.5), box(2.5, 0.5, 1.5), box(-3, 9, 9)].flat()), grid = [0, 0, 0, 1, 1, 1, 3, 2, 2];
    const [counts] = countAllCells([grid], boxes);
    assert.deepEqual([...counts], [2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]);
    assert.deepEqual([...cellsOf([grid], [counts])], [0, 0, 0, 1, 1, 1, 1, 1, 2, 0, 1, 0.625, 3, 1, 2, 1, 0, 1, 1, 0.625, 1, 2, 2, 1]);
    const two = countAllCells([grid, [-4, 8, 8, 2, 2, 2, 1, 1, 1]], boxes);
    assert.deepEqual(two.map(counts => counts.reduce((sum, count) => sum + count)), [3, 1]);
    assert.deepEqual(cellsOf(undefined, countAllCells(undefined, boxes)).length, 0);
});
