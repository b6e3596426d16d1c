// SPDX-License-Identifier: MIT
// The binding by itself: every call, and what each refuses.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { CleaveError, loadCleave } from '../index.js';

const cleave = await loadCleave();
const boxes = (...list) => new Float32Array(list.flat());
const cube = (x, y = 0, z = 0) => [x, y, z, x + 1, y + 1, z + 1];

const refuses = (code, position, call) => assert.throws(call, (error) => {
    assert.ok(error instanceof CleaveError, String(error));
    assert.equal(error.code, code);
    assert.equal(error.position, position);
    return true;
});

test('the README names the folder that is built', () => {
    const [, named] = readFileSync(new URL('../README.md', import.meta.url), 'utf8').match(/`build\/([^`]+)`/);
    assert.equal(`${named}/`, fileURLToPath(new URL('..', import.meta.url)).split('/build/').pop());
});

test('touching faces are a pair', () => {
    const space = cleave.createSpace();
    assert.equal(space.pairs, null);
    const ids = space.add(boxes(cube(0), cube(1), cube(5)));
    assert.equal(ids.length, 6);
    assert.equal(space.update(), 1);
    assert.deepEqual([...space.pairs], [0, 1]);
    space.move(ids.slice(4), boxes(cube(2)));
    assert.equal(space.update(), 2);
    space.remove(ids.slice(0, 2));
    assert.equal(space.update(), 1);
    space.clear();
    assert.equal(space.update(), 0);
    space.destroy();
    space.destroy();
    assert.throws(() => space.update(), /destroyed/);
});

test('begun and ended pairs name ids', () => {
    const space = cleave.createSpace({ events: true, sorted: true });
    const ids = space.add(boxes(cube(0), cube(1)));
    space.update();
    assert.deepEqual([...space.begun], [...ids]);
    space.move(ids.slice(2), boxes(cube(9)));
    space.update();
    assert.deepEqual([...space.ended], [...ids]);
    assert.equal(space.begun.length, 0);
    space.destroy();
});

test('filters, margins and static pairs', () => {
    const space = cleave.createSpace({ margin: 0.25, skipStaticPairs: true });
    const ids = space.add(boxes(cube(0), cube(1.5), cube(3)));
    assert.equal(space.update(), 2);
    space.setFilter(ids.slice(0, 2), new Uint32Array([1, 0, 0]));
    assert.equal(space.update(), 1);
    space.setStatic(ids.slice(2));
    assert.equal(space.update(), 0);
    space.destroy();
});

test('bad input is refused and changes nothing', () => {
    const space = cleave.createSpace();
    const ids = space.add(boxes(cube(0), cube(0.5)));
    refuses('CLV_BAD_BOX', 1, () => space.add(boxes(cube(0), [0, 0, 0, NaN, 1, 1])));
    refuses('CLV_BAD_BOX', 0, () => space.move(ids.slice(0, 2), boxes([1, 0, 0, 0, 1, 1])));
    const gone = ids.slice(2);
    space.remove(gone);
    refuses('CLV_BAD_ID', 0, () => space.remove(gone));
    space.add(boxes(cube(7))); // takes the slot, not the id
    refuses('CLV_BAD_ID', 0, () => space.move(gone, boxes(cube(0))));
    assert.equal(space.update(), 0);
    assert.throws(() => space.add([1, 2, 3]), TypeError);
    assert.throws(() => space.add(new Float32Array(5)), TypeError);
    assert.throws(() => space.move(ids, boxes(cube(0))), TypeError);
    space.destroy();
});

test('a limit of pairs is kept', () => {
    const space = cleave.createSpace({ maxPairs: 2 });
    space.add(boxes(cube(0), cube(0), cube(0)));
    refuses('CLV_TOO_MANY_PAIRS', -1, () => space.update());
    assert.equal(space.pairs, null);
    space.destroy();
});

test('bad definitions are refused', () => {
    assert.throws(() => cleave.createSpace({ method: 'nobody' }), /CLV_BAD_DEF.*nobody/);
    assert.throws(() => cleave.createSpace({ settings: 'x=1' }), CleaveError);
    assert.throws(() => cleave.createSpace({ margin: -1 }), CleaveError);
    assert.throws(() => cleave.createSpace({ isa: 'avx2' }), TypeError);
    assert.throws(() => cleave.createSpace({ maxpairs: 1 }), TypeError);
    assert.throws(() => cleave.createSpace({ maxPairs: -1 }), TypeError);
});

test('memory grows under the arguments', () => {
    const space = cleave.createSpace();
    const count = 300000;
    const many = new Float32Array(6 * count);
    for (let i = 0; i < count; ++i) {
        many.set(cube(2 * (i % 100), 2 * (Math.floor(i / 100) % 100), 2 * Math.floor(i / 10000)), 6 * i);
    }
    const ids = space.add(many);
    assert.equal(space.update(), 0);
    space.move(ids.slice(0, 2), boxes(cube(0.5)));
    assert.equal(space.update(), 0);
    assert.equal(space.stats.objectCount, count);
    space.destroy();
});
