// SPDX-License-Identifier: MIT
// Questions of every kind in every world: the same hits and times, bit by bit, as the C library
// gives. NATIVE names its twin.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import { loadCleave, NO_HIT } from '../index.js';
import { box, random, refuses } from './common.mjs';

const { NATIVE } = process.env;
const skip = NATIVE ? false : 'NATIVE names no program';
const cleave = await loadCleave();
const WORLDS = [{ name: 'solid', axes: 3, type: Float32Array }, { name: 'flat', axes: 2, type: Float32Array },
    { name: 'doubles', axes: 3, type: Float64Array }];

// What an item is made of: p a place, l a length, m a motion, r a rotation, s a number, b a box.
const KINDS = [['points', 'p', 1], ['boxes', 'b', 2], ['spheres', 'ps', 3], ['neighbourhoods', 'bs', 4], ['capsules', 'pps', 5],
    ['orientedBoxes', 'plr', 6], ['halfSpaces', 'ms', 7], ['rays', 'pms', 8], ['boxCasts', 'bms', 9], ['sphereCasts', 'psms', 10],
    ['capsuleCasts', 'ppsms', 11]];

function makeItems(layout, axes, type, count, next) {
    const many = (n, low, high) => Array.from({ length: n }, () => low + (high - low) * next());
    const part = {
        p: () => many(axes, 0, 20), l: () => many(axes, 0.1, 2), m: () => many(axes, -6, 6), s: () => many(1, 0.5, 2),
        r: () => many(axes === 2 ? 2 : 4, -1, 1),
        b: () => { const lower = many(axes, 0, 20); return [...lower, ...lower.map((x) => x + 2 * next())]; },
    };
    return new type(Array.from({ length: count }, () => [...layout].flatMap((letter) => part[letter]())).flat());
}

const pad = (bytes) => Buffer.concat([bytes, Buffer.alloc((8 - bytes.length % 8) % 8)]);
const bytesOf = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

// Rotations of boxes in double are four floats.
function packed(kind, items, world) {
    if (kind !== 'orientedBoxes' || world !== 2) {
        return bytesOf(items);
    }
    const bytes = [];
    for (let i = 0; i < items.length; i += 10) {
        bytes.push(bytesOf(items.slice(i, i + 6)), bytesOf(new Float32Array(items.slice(i + 6, i + 10))));
    }
    return Buffer.concat(bytes);
}

function hashHits({ indices, t }) {
    let hash = 2166136261;
    indices.forEach((index, i) => {
        for (const byte of [...bytesOf(indices.subarray(i, i + 1)), ...bytesOf(t.subarray(i, i + 1))]) {
            hash = Math.imul(hash ^ byte, 16777619);
        }
    });
    return `${indices.length} ${hash >>> 0}`;
}

for (const [world, { name, axes, type }] of WORLDS.entries()) {
    test(`${name}: every kind of question finds what the C library finds`, { skip }, () => {
        const next = random(7 + world), space = cleave.createSpace({ flat: axes === 2, doubles: type === Float64Array });
        const boxes = makeItems('b', axes, type, 1500, next);
        space.add(boxes);
        space.update();
        const parts = [bytesOf(new Uint32Array([world, 1500])), pad(bytesOf(boxes))], here = [], asked = [];
        const ask = (question, [kind, , number], items, count, k, call, regions = null, origins = null) => {
            const head = new Uint32Array([question, number + 32 * world, count, k, packed(kind, items, world).length, regions ? count : 0]);
            parts.push(bytesOf(head), regions ? pad(bytesOf(regions)) : Buffer.alloc(0),
                regions ? bytesOf(origins ?? new Float64Array(3 * count)) : Buffer.alloc(0), pad(packed(kind, items, world)));
            here.push(hashHits(call()));
            asked.push(`question ${question} of ${kind}`);
        };
        for (const row of KINDS) {
            const [kind, layout] = row, items = makeItems(layout, axes, type, 300, next), options = {};
            let count = 300;
            if (kind === 'halfSpaces') {
                options.regions = new Uint32Array(61).map((_, i) => 5 * i);
                options.origins = world === 2 ? makeItems('p', 3, Float64Array, 60, next) : undefined;
                count = 60;
            }
            const rest = [options.regions, options.origins];
            ask(0, row, items, count, 0, () => space.queryAll(kind, items, options), ...rest);
            ask(1, row, items, count, 0, () => space.queryAny(kind, items, options), ...rest);
            if (kind === 'rays' || kind.endsWith('Casts')) {
                ask(2, row, items, count, 0, () => space.queryClosest(kind, items));
            }
            if (kind === 'points' || kind === 'boxes') {
                ask(3, row, items, count, 5, () => space.queryNearest(kind, items, 5, { maxDistance: 2 }));
            }
        }
        const folder = mkdtempSync(join(tmpdir(), 'cleave-js-'));
        try {
            writeFileSync(join(folder, 'questions'), Buffer.concat(parts));
            const lines = execFileSync(NATIVE, [join(folder, 'questions'), 'questions'], { encoding: 'utf8' }).trim().split('\n');
            assert.equal(lines.length, here.length);
            lines.forEach((line, i) => assert.equal(here[i], line, asked[i]));
            assert.ok(here.filter((line) => !line.startsWith('0 ')).length === here.length, 'every list finds something');
        } finally {
            rmSync(folder, { recursive: true });
        }
        space.destroy();
    });
}

function row(def = {}) {
    const space = cleave.createSpace(def);
    space.add(new Float32Array([box(0), box(2), box(4)].flat()));
    space.update();
    return space;
}

test('one question: a ray, a way, a box, the nearest', () => {
    const space = row();
    assert.deepEqual(space.castRay([-1, 0.5, 0.5], [1, 0, 0]), { index: 0, t: 1 });
    assert.equal(space.castRay([-1, 0.5, 0.5], [1, 0, 0], 0.5), null);
    assert.equal(space.isBlocked([1.5, 0.5, 0.5], [2.5, 0.5, 0.5]), true);
    assert.equal(space.isBlocked([1.25, 0.5, 0.5], [1.75, 0.5, 0.5]), false);
    assert.deepEqual([...space.overlapBox([1, 0, 0, 2, 1, 1])], [0, 1]); // touching counts
    const { indices, t } = space.nearest([5, 0.5, 0.5], 5);
    assert.deepEqual([[...indices], [...t]], [[2, 1, 0], [0, 2, 4]]);
    assert.throws(() => space.overlapBox([0, 0, 1, 1]), /three axes/);
    space.destroy();
});

test('questions by lists: offsets, filters, boxes as given, none found', () => {
    const space = row({ margin: 0.5 });
    const points = new Float32Array([1.25, 0.5, 0.5, 9, 9, 9, 1.5, 0.5, 0.5]);
    const found = space.queryAll('points', points);
    assert.deepEqual([[...found.offsets], [...found.indices]], [[0, 1, 1, 3], [0, 0, 1]]);
    assert.equal(space.queryAll('points', points, { asGiven: true }).indices.length, 0);
    assert.deepEqual([...space.queryAny('points', points).indices.subarray(1, 2)], [NO_HIT]);
    assert.equal(space.queryAll('points', points, { filters: new Uint32Array([1, 0, 0]) }).indices.length, 0);
    const each = new BigUint64Array([1n, 2n ** 64n - 1n, 0n, 1n, 1n, 0n, 1n, 0n, 0n]);
    assert.deepEqual([...space.queryAll('points', points, { filters: each }).offsets], [0, 1, 1, 1]);
    assert.deepEqual(space.queryAll('points', new Float32Array(0)).offsets, new Uint32Array(1));
    space.destroy();
});

test('a callback leaves hits out and shortens rays', () => {
    const space = row(), ray = new Float32Array([-1, 0.5, 0.5, 1, 0, 0, 100]);
    assert.deepEqual([...space.queryAll('rays', ray).indices], [0, 1, 2]);
    const odd = space.queryAll('rays', ray, { callback: (query, index) => index !== 1 });
    assert.deepEqual([[...odd.indices], [...odd.t], [...odd.offsets]], [[0, 2], [1, 5], [0, 2]]);
    const near = space.queryAll('rays', ray, { callback: (query, index, t, reach) => ({ counts: true, reach: Math.min(reach, 3) }) });
    assert.deepEqual([...near.indices], [0, 1]);
    // A callback may ask the same space, which uses the same memory for its arguments.
    const asked = space.queryClosest('rays', ray, { callback: (query, index) => space.overlapBox(box(2 * index)).length === 1 && index > 0 });
    assert.deepEqual([...asked.indices], [1]);
    assert.throws(() => space.queryAny('rays', ray, { callback: () => { throw new RangeError('mine'); } }), /mine/);
    assert.throws(() => space.queryAny('rays', ray, { callback: () => undefined }), TypeError);
    assert.deepEqual([...space.queryAny('rays', ray, { callback: () => false }).indices], [NO_HIT]);
    space.destroy();
});

test('a visitor of hits sees each query, stops where it says, and throws through', () => {
    const space = row(), seen = [], points = new Float32Array([0, 0, 0, 9, 9, 9, 2, 0, 0]);
    assert.equal(space.queryVisit('points', points, (query, indices, t) => { seen.push([query, ...indices, ...t]); }), true);
    assert.deepEqual(seen, [[0, 0, 0], [1], [2, 1, 0]]);
    let calls = 0;
    assert.equal(space.queryVisit('points', points, () => { calls += 1; return false; }), false);
    assert.equal(calls, 1);
    assert.throws(() => space.queryVisit('points', points, () => { throw new Error('enough'); }), /enough/);
    space.destroy();
});

test('pairs of two spaces', () => {
    const first = row(), second = cleave.createSpace();
    second.add(new Float32Array([...box(0.5), ...box(3)]));
    second.update();
    assert.deepEqual([...first.queryPairs(second)], [0, 0, 1, 1, 2, 1]);
    assert.throws(() => first.queryPairs(cleave), TypeError);
    first.destroy();
    assert.throws(() => first.queryPairs(second), /destroyed/);
    assert.throws(() => second.queryPairs(first), /destroyed/);
    second.destroy();
});

test('refresh shows boxes without an update; a first question after a change is refused', () => {
    const space = cleave.createSpace();
    const ids = space.add(new Float32Array(box(0)));
    space.refresh();
    assert.equal(space.overlapBox(box(0)).length, 1);
    space.move(ids, new Float32Array(box(5)));
    assert.equal(space.overlapBox(box(5)).length, 0);
    space.refresh();
    assert.equal(space.overlapBox(box(5)).length, 1);
    const other = cleave.createSpace(), moved = other.add(new Float32Array(box(0)));
    other.update();
    other.move(moved, new Float32Array(box(1)));
    refuses('CLV_STALE', -1, () => other.overlapBox(box(0)));
    space.destroy();
    other.destroy();
});

test('bad questions are refused with their position', () => {
    const space = row();
    refuses('CLV_BAD_ARGUMENT', 1, () => space.queryAll('points', new Float32Array([0, 0, 0, NaN, 0, 0])));
    refuses('CLV_BAD_BOX', 0, () => space.queryAny('boxes', new Float32Array([1, 0, 0, 0, 1, 1])));
    refuses('CLV_BAD_ARGUMENT', 1, () => space.queryAll('spheres', new Float32Array([0, 0, 0, 1, 0, 0, 0, -1])));
    assert.throws(() => space.queryClosest('points', new Float32Array(3)), /CLV_BAD_ARGUMENT/);
    assert.throws(() => space.queryAll('points', new Float64Array(3)), /Float32Array of 3 numbers each, not Float64Array/);
    assert.throws(() => space.queryAll('balls', new Float32Array(4)), /'balls'/);
    assert.throws(() => space.queryAll('rays', new Float32Array(7), { filter: 1 }), /no option 'filter'/);
    assert.throws(() => space.queryAll('rays', new Float32Array(7), { regions: new Uint32Array(1) }), TypeError);
    assert.throws(() => space.queryAll('halfSpaces', new Float32Array(8), { regions: new Uint32Array([0, 3]) }), /number of planes, 2/);
    assert.throws(() => space.queryNearest('points', new Float32Array(3), -1), TypeError);
    space.destroy();
});

test('many hits: the room for them grows', () => {
    const space = cleave.createSpace();
    space.add(new Float32Array(Array.from({ length: 3000 }, () => box(0)).flat()));
    space.refresh();
    const found = space.queryAll('points', new Float32Array(3 * 200));
    assert.equal(found.indices.length, 3000 * 200);
    assert.ok(found.indices.every((index, i) => index === i % 3000));
    space.destroy();
});
