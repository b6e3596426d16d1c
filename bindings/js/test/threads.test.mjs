// SPDX-License-Identifier: MIT
// Threads in node: the same answers in the same order for every number of them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';

import { loadCleave } from '../index.js';
import { box, boxes, random } from './common.mjs';

const single = await loadCleave(), cleave = await loadCleave({ threads: 4 });

function world(count, next, side) {
    const made = new Float32Array(6 * count);
    for (let i = 0; i < count; ++i) {
        made.set(box(side * next(), side * next(), side * next()), 6 * i);
    }
    return made;
}

test('as many threads as were asked for, or one and the reason', () => {
    assert.deepEqual([cleave.threads, cleave.whyNoThreads], [4, '']);
    assert.equal(single.threads, 1);
    assert.match(single.whyNoThreads, /not asked/);
    assert.throws(() => cleave.createSpace({ workers: 5 }), /from 1 to 4/);
    assert.throws(() => single.createSpace({ workers: 2 }), /from 1 to 1/);
});

test('what cannot be started leaves the module without threads, and says why', async () => {
    const other = await loadCleave({ threads: 2, threadsSource: new Uint8Array(8) });
    assert.equal(other.threads, 1);
    assert.match(other.whyNoThreads, /could not be started/);
    assert.equal(other.pairs(boxes(box(0), box(1))).length, 2);
    await assert.rejects(() => loadCleave({ threads: 0 }), TypeError);
    await assert.rejects(() => loadCleave({ thread: 2 }), TypeError);
    const auto = await loadCleave({ threads: 'auto' });
    assert.ok(auto.threads >= 1);
    auto.close();
    assert.equal(auto.threads, 1);
});

test('pairs, events, questions and points are the same with 1 to 4 workers', () => {
    const count = 20000, rays = new Float32Array(7 * 2000), points = new Float32Array(3 * 20000);
    const first = random(5);
    rays.forEach((_, i) => { rays[i] = i % 7 === 6 ? 5 : 30 * first(); });
    points.forEach((_, i) => { points[i] = 30 * first(); });
    const run = (lib, workers) => {
        const next = random(9), made = world(count, next, 30), space = lib.createSpace({ workers, events: true, settings: 'cleave.alone=0' }), told = [];
        const ids = space.add(made);
        for (let frame = 0; frame < 5; ++frame) {
            space.update();
            told.push(space.pairs, space.begun, space.ended, space.queryAll('rays', rays), space.queryClosest('rays', rays));
            made.forEach((_, i) => { made[i] += i % 6 < 3 ? 0.01 : 0.02; });
            space.move(ids, made);
        }
        const near = lib.createNear({ cutoff: 1, workers, vectors: true });
        told.push(near.update(points));
        assert.equal(space.workers, workers);
        space.destroy();
        near.destroy();
        return told;
    };
    const expected = run(single, 1);
    assert.ok(expected[0].length > 10000);
    for (let workers = 1; workers <= 4; ++workers) {
        assert.deepEqual(run(cleave, workers), expected, `${workers} workers`);
    }
});

test('filters and visitors with threads, while memory grows', () => {
    const space = cleave.createSpace({ filter: (a, b) => (a ^ b) % 3 === 0, settings: 'cleave.alone=0' });
    space.add(world(30000, random(2), 40));
    const pairs = space.update(), listed = space.pairs;
    let seen = 0;
    space.visit((chunk) => { seen += chunk.length / 2; cleave.pairs(world(500, random(seen), 5)); });
    assert.equal(seen, pairs);
    assert.equal(listed.length, 2 * pairs);
    assert.ok(listed.buffer instanceof ArrayBuffer, 'copies are no shared memory');
    space.destroy();
});

test('a program ends although threads wait for work', () => {
    const code = `import { loadCleave } from ${JSON.stringify(new URL('../index.js', import.meta.url).href)};
        const cleave = await loadCleave({ threads: 3 }); console.log(cleave.threads);`;
    assert.equal(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', timeout: 60000 }).trim(), '3');
});
