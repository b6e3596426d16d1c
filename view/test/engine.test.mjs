// SPDX-License-Identifier: MIT
// The playground's engine in node, as it stands in playground.html: its scenes are those of `cleave gen`, bit for bit, and all methods find the
// same pairs.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { readFileSync, rmSync } from 'node:fs';
import { loadEngine } from '../src/engine.js';
import { at, brutePairs, cleave, folder, readScene } from './scenes.mjs';

let engine;

before(async () => {
    const text = readFileSync(new URL('../playground.html', import.meta.url), 'utf8').match(/id="engine" data-compiler="[^"]*">([^<]+)</)[1];
    engine = await loadEngine(Buffer.from(text, 'base64'));
    engine.capacity = 1;
    engine.chosen = ['cleave', 'brute'];
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Six floats an object, as a file has them. */
const sixes = boxes => Float32Array.from({ length: boxes.length / 8 * 6 }, (_, i) => boxes[8 * Math.floor(i / 6) + (i % 6 < 3 ? i % 6 : i % 6 + 1)]);

test('its scenes are those of the lab, bit for bit', () => {
    for (const [scene, bodies, frames] of [['freefall', 300, 12], ['brownian', 200, 12], ['gravity', 200, 12], ['city', 300, 8], ['tower', 20, 30]]) {
        cleave('gen', scene, '-n', bodies, '--frames', frames, '--seed', 3, '-o', at('truth.aabbs'));
        const truth = readScene(at('truth.aabbs'));
        engine.open(scene, bodies, 3);
        truth.forEach((boxes, f) => {
            const frame = engine.frame({ still: f === 0 });
            assert.deepEqual(Buffer.from(sixes(frame.boxes).buffer), Buffer.from(boxes.buffer), `${scene} frame ${f}`);
            assert.deepEqual([...frame.pairs], brutePairs(boxes));
        });
    }
});

test('false pairs are those of cleave view', () => {
    engine.open('freefall', 300, 1);
    let frame;
    for (let f = 0; f < 40; ++f) frame = engine.frame({ still: f === 0, wants: { volumes: f === 39 } });
    assert.equal(frame.apart.length, frame.pairs.length / 2);
    assert.ok(frame.apart.every(bits => bits < 8 && (bits === 0 || bits >= 4)) && frame.apart.some(bits => bits === 0) && frame.apart.some(bits => bits > 4), String(frame.apart));
    assert.equal(engine.frame({ still: true }).apart, null);
    engine.open('tower', 6, 1);
    for (let f = 0; f < 140; ++f) frame = engine.frame({ wants: { volumes: f === 139 } });
    assert.equal(frame.apart.length, frame.pairs.length / 2);
});

test('every method finds the same pairs, and what began and ended is what changed', () => {
    for (const method of ['kd', 'sap', 'grid', 'bvh-d', 'brute']) {
        engine.chosen = ['cleave', method];
        engine.open('gravity', 600, 1);
        let before = new Set();
        for (let f = 0; f < 8; ++f) {
            const { facts, pairs, begun, ended } = engine.frame({ wants: { tree: true, cells: true } });
            assert.equal(facts.rivals[0].hash, facts.rivals[1].hash, method);
            const keys = list => Array.from({ length: list.length / 2 }, (_, i) => `${list[2 * i]} ${list[2 * i + 1]}`);
            const now = new Set(keys(pairs));
            assert.deepEqual(new Set(keys(begun)), new Set([...now].filter(pair => !before.has(pair))));
            assert.deepEqual(new Set(keys(ended)), new Set([...before].filter(pair => !now.has(pair))));
            before = now;
        }
    }
});

test('a tree comes from kd alone, cells from the default engine', () => {
    engine.chosen = ['cleave', 'kd'];
    engine.open('freefall', 2000, 1);
    const { tree, facts } = engine.frame({ wants: { tree: true, cells: true } });
    assert.ok(tree.axes.length > 10 && facts.cells.length > 0);
    engine.chosen = ['cleave', 'sap'];
    engine.open('freefall', 2000, 1);
    assert.equal(engine.frame({ wants: { tree: true } }).tree.axes.length, 0);
});

test('bodies can be poured up to the limit, lifted, thrown; what is wrong is said', () => {
    engine.chosen = ['cleave', 'sap'];
    engine.open('pour', 50, 1);
    assert.equal(engine.frame().boxes.length, 0);
    assert.equal(engine.pour([0, 5, 0], 40), 40);
    assert.equal(engine.pour([0, 5, 0], 40), 10);
    assert.equal(engine.frame().boxes.length, 8 * 50);
    for (let f = 0; f < 60; ++f) engine.frame();
    engine.hold(7, [0, 12, 0]);
    let frame;
    for (let f = 0; f < 60; ++f) frame = engine.frame();
    assert.ok(Math.abs(0.5 * (frame.boxes[8 * 7 + 1] + frame.boxes[8 * 7 + 5]) - 12) < 0.6, 'in the hand');
    engine.hold(-1);
    for (let f = 0; f < 90; ++f) frame = engine.frame();
    assert.ok(frame.boxes[8 * 7 + 1] < 6, 'fallen');
    assert.throws(() => engine.open('nothing', 10), /nothing with 10 bodies cannot be made/);
    engine.open('pour', 50, 1);
    assert.throws(() => engine.choose('nothing', 'sap'), /no method 'nothing'/);
});
