// SPDX-License-Identifier: MIT
// Filters and visitors of pairs, what objects carry, other worlds, snapshots, points and regions.
import assert from 'node:assert/strict';
import test from 'node:test';

import { loadCleave } from '../index.js';
import { box, boxes, random, refuses } from './common.mjs';

const cleave = await loadCleave();
const four = () => boxes(box(0), box(0), box(0), box(0));
const even = (a, b) => (a + b) % 2 === 0;

test('a filter is asked once about each pair, and again after refilter', () => {
    let calls = 0, answer = even;
    const space = cleave.createSpace({ sorted: true, filter: (a, b) => { calls += 1; return answer(a, b); } });
    const ids = space.add(four());
    assert.equal(space.update(), 2);
    assert.deepEqual([...space.pairs], [0, 2, 1, 3]);
    assert.equal(calls, 6);
    space.update();
    assert.equal(calls, 6);
    answer = () => true;
    space.refilter(ids.slice(0, 2));
    assert.equal(space.update(), 4); // the pairs of object 0, and 1 with 3
    assert.equal(calls, 9);
    space.destroy();
});

test('what a filter throws, update throws; undecided pairs are asked about in the next update', () => {
    let calls = 0;
    const space = cleave.createSpace({ sorted: true, filter: () => { calls += 1; if (calls === 3) { throw new RangeError('third'); } return true; } });
    space.add(four());
    assert.throws(() => space.update(), /third/);
    assert.equal(calls, 3);
    assert.equal(space.update(), 6);
    assert.equal(space.update(), 6);
    const loose = cleave.createSpace({ filter: () => 1 });
    loose.add(four());
    assert.throws(() => loose.update(), /true or false, not 1/);
    space.destroy();
    loose.destroy();
});

test('a filter may read its space and use others, and may not change its own', () => {
    const other = cleave.createSpace();
    other.add(boxes(box(0)));
    other.update();
    let changes = 0;
    const space = cleave.createSpace({
        filter: (a) => {
            assert.equal(other.overlapBox(box(0.5)).length, 1);
            assert.equal(space.getBoxes(space.idsAt(new Uint32Array([a])))[3], 1);
            for (const change of [() => space.clear(), () => space.add(four()), () => space.update(), () => space.destroy()]) {
                refuses('CLV_BUSY', -1, change);
            }
            changes += 1;
            return true;
        },
    });
    space.add(four());
    assert.equal(space.update(), 6);
    assert.equal(changes, 6);
    assert.equal(space.count, 4);
    refuses('CLV_BUSY', -1, () => space.queryVisit('boxes', boxes(box(0)), () => space.destroy()));
    space.destroy();
    other.destroy();
});

test('a visitor gets every pair in chunks, stops where it says, and throws through', () => {
    const next = random(3), count = 4000;
    const many = new Float32Array(6 * count);
    for (let i = 0; i < count; ++i) {
        many.set(box(20 * next(), 20 * next(), 20 * next()), 6 * i);
    }
    const space = cleave.createSpace();
    space.add(many);
    space.update();
    const listed = new Set(), visited = new Set(), kept = [];
    const key = (a, b) => a * count + b;
    space.pairs.forEach((a, i, all) => i % 2 === 0 && listed.add(key(a, all[i + 1])));
    assert.equal(space.visit((pairs) => { kept.push(pairs); cleave.createSpace({ capacity: 100000 }).destroy(); }), true);
    kept.forEach((pairs) => pairs.forEach((a, i) => i % 2 === 0 && visited.add(key(a, pairs[i + 1]))));
    assert.deepEqual(visited, listed);
    assert.ok(kept.length > 1, 'more than one chunk');
    assert.equal(space.pairs, null);
    let calls = 0;
    assert.equal(space.visit(() => { calls += 1; return false; }), false);
    assert.equal(calls, 1);
    assert.throws(() => space.visit(() => { throw new Error('mine'); }), /mine/);
    assert.equal(space.update(), listed.size);
    space.destroy();
    const sorted = cleave.createSpace({ sorted: true });
    refuses('CLV_UNSUPPORTED', -1, () => sorted.visit(() => true));
    sorted.destroy();
});

test('columns: set, read, and refused with position and id', () => {
    const space = cleave.createSpace({ events: true, pairData: true });
    const ids = space.add(boxes(box(0), box(1.5)), { userData: new BigUint64Array([5n, 2n ** 63n]), margins: new Float32Array([0.5, 0]),
        isStatic: new Uint8Array([1, 0]), motions: new Float32Array(6), filters: new Uint32Array([1, 3, 0, 2, 1, 0xFFFFFFFF]) });
    assert.deepEqual([...space.getUserData(ids)], [5n, 2n ** 63n]);
    assert.deepEqual([...space.getMargin(ids)], [0.5, 0]);
    assert.deepEqual([...space.getStatic(ids)], [1, 0]);
    assert.deepEqual([...space.getFilter(ids)], [1n, 3n, 0n, 2n, 1n, 0xFFFFFFFFn]);
    assert.equal(space.update(), 1);
    assert.deepEqual([...space.begunUser], [5n, 2n ** 63n]);
    space.lend('pairData')[0] = 77n;
    space.setMargin(ids, new Float32Array([0, 0]));
    space.setMotion(ids.slice(2), new Float32Array([-1, 0, 0]));
    assert.deepEqual([...space.getTestBoxes(ids.slice(2))], [0.5, 0, 0, 2.5, 1, 1]);
    assert.deepEqual([...space.getBoxes(ids.slice(2))], [1.5, 0, 0, 2.5, 1, 1]);
    assert.equal(space.update(), 1);
    assert.equal(space.lend('pairData')[0], 77n);
    assert.deepEqual([...space.pairIds], [...ids]);
    assert.equal(space.update(), 0); // the motion was for one update
    assert.deepEqual([...space.endedData], [77n]);
    space.setMarginRule(ids, new Float32Array([0, 0.5, 0, 0, 0.5, 0]));
    assert.deepEqual([...space.getMarginRule(ids.slice(2))], [0, 0.5, 0]);
    assert.equal(space.update(), 1);
    space.setStatic(ids);
    assert.deepEqual([...space.getStatic(ids)], [1, 1]);
    const error = refuses('CLV_BAD_ARGUMENT', 1, () => space.setMargin(ids, new Float32Array([0, -1])));
    assert.deepEqual(error.id, { index: 1, generation: ids[3] });
    space.remove(ids.slice(0, 2));
    refuses('CLV_BAD_ID', 1, () => space.getBoxes(new Uint32Array([ids[2], ids[3], ids[0], ids[1]])));
    assert.deepEqual([...space.contains(ids)], [0, 1]);
    assert.deepEqual([...space.ids], [...ids.slice(2)]);
    assert.deepEqual([...space.idsAt(new Uint32Array([0, 1, 9]))], [0, 0, ids[2], ids[3], 0, 0]);
    assert.throws(() => space.add(boxes(box(0)), { margins: new Float32Array(2) }), /2 margins and 1 boxes/);
    assert.throws(() => space.add(boxes(box(0)), { margin: 1 }), /no option 'margin'/);
    space.destroy();
});

test('all boxes at once, without ids', () => {
    const space = cleave.createSpace();
    const ids = space.add(boxes(box(0), box(3), box(6)));
    space.remove(ids.slice(0, 2));
    space.moveAll(boxes(box(0), box(1)));
    space.update();
    assert.deepEqual([...space.pairs], [1, 2]);
    refuses('CLV_BAD_ARGUMENT', -1, () => space.moveAll(boxes(box(0))));
    refuses('CLV_BAD_BOX', 1, () => space.moveAll(boxes(box(0), [1, 0, 0, 0, 1, 1])));
    space.shiftOrigin(1, 0, 0);
    assert.equal(space.getBoxes(ids.slice(2, 4))[0], -1);
    space.destroy();
});

test('flat spaces and spaces of doubles', () => {
    const flat = cleave.createSpace({ flat: true });
    flat.add(new Float32Array([0, 0, 1, 1, 1, 1, 2, 2]));
    assert.equal(flat.update(), 1);
    assert.deepEqual(flat.castRay([-1, 0.5], [1, 0]), { index: 0, t: 1 });
    assert.throws(() => flat.castRay([-1, 0.5, 0], [1, 0, 0]), /two axes/);
    const big = cleave.createSpace({ doubles: true }), far = 1e9;
    const ids = big.add(new Float64Array([far, 0, 0, far + 1, 1, 1, far + 1.25, 0, 0, far + 2, 1, 1]));
    assert.equal(big.update(), 0);
    big.move(ids.slice(2), new Float64Array([far + 1, 0, 0, far + 2, 1, 1]));
    assert.equal(big.update(), 1);
    assert.equal(big.castRay([far - 0.125, 0.5, 0.5], [1, 0, 0]).t, 0.125);
    assert.throws(() => big.add(new Float32Array(6)), /Float64Array/);
    assert.throws(() => cleave.createSpace({ flat: true, doubles: true }), /CLV_BAD_DEF/);
    flat.destroy();
    big.destroy();
});

test('lists are yours and outlive what follows; lent ones are the memory itself', () => {
    const space = cleave.createSpace();
    space.add(four());
    space.update();
    const pairs = space.pairs, before = [...pairs];
    assert.equal(space.pairs, pairs, 'copied once');
    assert.deepEqual([...space.lend('pairs')], before);
    const grown = cleave.createSpace();
    grown.add(new Float32Array(6 * 500000)); // memory grows
    space.clear();
    space.update();
    assert.deepEqual([...pairs], before);
    assert.equal(space.pairs.length, 0);
    assert.throws(() => space.lend('boxes'), TypeError);
    space.destroy();
    grown.destroy();
});

test('snapshots: the loaded space goes on as the saved one', () => {
    for (const form of ['memory', 'disk']) {
        for (const kind of [{}, { flat: true }, { doubles: true }]) {
            const type = kind.doubles ? Float64Array : Float32Array, made = kind.flat ? [0, 0, 1, 1, 1, 1, 2, 2] : [...box(0), ...box(1)];
            const space = cleave.createSpace({ ...kind, events: true, margin: 0.25 });
            const ids = space.add(new type(made));
            space.update();
            const bytes = space.save(form);
            const loaded = cleave.loadSpace(bytes);
            assert.deepEqual([loaded.flat, loaded.doubles], [Boolean(kind.flat), Boolean(kind.doubles)]);
            assert.deepEqual(loaded.pairs, space.pairs);
            loaded.remove(ids.slice(0, 2));
            loaded.update();
            assert.deepEqual([...loaded.ended], [...ids]);
            assert.equal(space.update(), 1);
            const broken = bytes.slice();
            broken[broken.length - 20] ^= 255;
            assert.throws(() => cleave.loadSpace(broken), (error) => error.code === 'CLV_FILE_FAILED');
            assert.throws(() => cleave.loadSpace(bytes.slice(0, 10)), /CLV_FILE_FAILED/);
            space.destroy();
            loaded.destroy();
        }
    }
    assert.throws(() => cleave.loadSpace(new Uint8Array(8), { margin: 1 }), /no option 'margin'/);
    const filtered = cleave.createSpace({ filter: even });
    filtered.add(four());
    filtered.update();
    const again = cleave.loadSpace(filtered.save('memory'), { filter: even });
    assert.equal(again.update(), 2);
    assert.throws(() => cleave.loadSpace(filtered.save('memory')), /CLV_BAD_DEF/);
    filtered.destroy();
    again.destroy();
});

test('one call for one set of boxes', () => {
    assert.deepEqual([...cleave.pairs(boxes(box(0), box(1), box(5)))], [0, 1]);
    assert.deepEqual([...cleave.pairs(new Float64Array([...box(0), ...box(1)]))], [0, 1]);
    assert.deepEqual([...cleave.pairs(new Float32Array([0, 0, 1, 1, 1, 0, 2, 1]), { flat: true })], [0, 1]);
    refuses('CLV_BAD_BOX', 1, () => cleave.pairs(boxes(box(0), [NaN, 0, 0, 1, 1, 1])));
});

test('points within a cutoff are those that all distances give', () => {
    const next = random(11), count = 600, cutoff = 1.25;
    for (const type of [Float32Array, Float64Array]) {
        for (const axes of [2, 3]) {
            const points = new type(axes * count).map(() => 10 * next());
            const near = cleave.createNear({ cutoff, doubles: type === Float64Array, flat: axes === 2, squared: true, vectors: true });
            const list = near.update(points);
            const expected = new Set();
            const round = type === Float32Array ? Math.fround : (x) => x;
            for (let a = 0; a < count; ++a) {
                for (let b = a + 1; b < count; ++b) {
                    let sum = 0;
                    for (let axis = 0; axis < axes; ++axis) {
                        const d = round(points[axes * b + axis] - points[axes * a + axis]);
                        sum = round(sum + round(d * d));
                    }
                    if (sum <= cutoff * cutoff) {
                        expected.add(`${a} ${b}`);
                    }
                }
            }
            const found = new Set();
            for (let i = 0; i < list.count; ++i) {
                found.add(`${list.pairs[2 * i]} ${list.pairs[2 * i + 1]}`);
                assert.ok(list.squared[i] <= cutoff * cutoff);
                assert.equal(list.vectors[3 * i], round(points[axes * list.pairs[2 * i + 1]] - points[axes * list.pairs[2 * i]]));
            }
            assert.equal(found.size, list.count);
            assert.deepEqual(found, expected);
            let seen = 0;
            assert.equal(near.visit(points, (part) => { seen += part.pairs.length / 2; }), true);
            assert.equal(seen, list.count);
            assert.equal(near.visit(points, () => false), false);
            refuses('CLV_BUSY', -1, () => near.visit(points, () => near.update(points)));
            near.destroy();
        }
    }
});

test('points: cells, lists by point, bonds, radii, groups, a skin, errors', () => {
    const points = new Float32Array([0.5, 0.5, 0.5, 9.5, 0.5, 0.5, 1.25, 0.5, 0.5]);
    const near = cleave.createNear({ cutoff: 1, full: true, byPoint: true, shifts: true });
    const cell = [10, 0, 0, 0, 10, 0, 0, 0, 10];
    const list = near.update(points, { cell });
    assert.deepEqual([[...list.offsets], [...list.indices].sort()], [[0, 2, 3, 4], [0, 0, 1, 2]]);
    assert.deepEqual([...list.shifts.slice(3 * list.offsets[1], 3 * list.offsets[1] + 3)], [1, 0, 0]);
    assert.equal(near.update(points, { cell, periodic: [false, true, true] }).count, 2);
    near.exclude(new Uint32Array([0, 2]));
    assert.equal(near.update(points, { cell }).count, 2);
    const other = cleave.createNear({ cutoff: 0, skin: 0.5 });
    assert.equal(other.update(points, { radii: new Float32Array(3).fill(0.25) }).count, 1);
    assert.equal(other.update(points, { radii: new Float32Array(3).fill(0.25) }).isNew, false);
    assert.equal(other.update(points, { radii: new Float32Array(3).fill(0.25), groups: new Uint32Array([1, 2, 1]) }).count, 0);
    refuses('CLV_BAD_ARGUMENT', 1, () => other.update(new Float32Array([0, 0, 0, NaN, 0, 0])));
    refuses('CLV_BAD_ARGUMENT', 0, () => other.exclude(new Uint32Array([1, 1])));
    assert.throws(() => other.update(points, { cell: [1] }), TypeError);
    assert.throws(() => cleave.createNear({ cutoff: -1 }), /CLV_BAD_DEF/);
    near.destroy();
    other.destroy();
    assert.throws(() => near.update(points), /destroyed/);
});

test('regions of several axes', () => {
    const hours = new Float64Array([0, 10, 5, 15, 20, 30]);
    assert.deepEqual([...cleave.match(1, hours)], [0, 1]);
    assert.deepEqual([...cleave.match(1, hours, new Float64Array([12, 13, 15, 20]))].join(), '1,0,1,1,2,1');
    assert.deepEqual([...cleave.match(4, new Float64Array(16))], [0, 1]);
    refuses('CLV_BAD_BOX', 1, () => cleave.match(1, new Float64Array([0, 1, 2, 1])));
    assert.throws(() => cleave.match(9, hours), TypeError);
});
