// SPDX-License-Identifier: MIT
// The playground's engine in node, as it stands in playground.html: its scenes are those of `cleave gen`, bit
// for bit, lean or not, and all methods find the same pairs.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** The engine's frames of this scene are those that `cleave gen` writes of that one. */
function compare(scene, baked, bodies, frames, lean) {
    cleave('gen', baked, '-n', bodies, '--frames', frames, '--seed', 3, '-o', at('truth.aabbs'));
    const truth = readScene(at('truth.aabbs'));
    engine.open(scene, bodies, 3, lean);
    truth.forEach((boxes, f) => {
        const frame = engine.frame({ still: f === 0 });
        assert.deepEqual(Buffer.from(sixes(frame.boxes).buffer), Buffer.from(boxes.buffer), `${baked} frame ${f}`);
        assert.deepEqual([...frame.pairs], brutePairs(boxes));
    });
}

test('its scenes are those of the lab, bit for bit', () => {
    for (const [scene, bodies, frames] of [['freefall', 300, 12], ['brownian', 200, 12], ['gravity', 200, 12], ['city', 300, 8], ['tower', 20, 30]]) compare(scene, scene, bodies, frames, false);
});

test('as the page opens them they are those of a scene file with a lean solver, bit for bit', () => {
    for (const [scene, words, bodies, frames] of [['gravity', 'gravity turning 0.3924 world\nsleep off\n', 300, 60], ['freefall', 'gravity down 0.0981 world\n', 300, 60], ['brownian', 'kick 0.01\n', 200, 12]]) {
        writeFileSync(at('lean.scene'), `${words}solver lean\n`);
        compare(scene, at('lean.scene'), bodies, frames);
    }
});

test('a heap that is thrown from wall to wall stays inside them, and one that rests falls asleep', () => {
    engine.chosen = ['cleave', ''];
    engine.open('gravity', 400, 1);
    const [lower, , , upper] = engine.world(), outside = [];
    let frame, speed = 0;
    for (let f = 0; f < 300; ++f) {
        const before = frame?.boxes;
        frame = engine.frame();
        const sides = [...sixes(frame.boxes)];
        assert.ok(sides.every(Number.isFinite));
        outside.push(Math.max(0, ...sides.map(side => Math.max(lower - side, side - upper))));
        if (before) speed = Math.max(speed, ...[0, 1, 2].map(axis => Math.abs(frame.boxes[8 * 7 + axis] - before[8 * 7 + axis])));
    }
    assert.ok(Math.max(...outside) < 0.25, `a box stuck out by ${Math.max(...outside)}`);
    assert.ok(outside.reduce((sum, value) => sum + value) / outside.length < 0.06, 'boxes stick out for long');
    assert.ok(speed > 0.3, 'it is not thrown');
    engine.open('freefall', 400, 1);
    for (let f = 0; f < 600; ++f) frame = engine.frame();
    assert.equal(frame.facts.still, 1);
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

test('a tree comes from kd, which finds nothing but its planes where it is not chosen; cells from the default engine', () => {
    engine.chosen = ['cleave', 'kd'];
    engine.open('freefall', 2000, 1);
    const { tree, facts } = engine.frame({ wants: { tree: true, cells: true } });
    assert.ok(tree.axes.length > 10 && facts.cells.length > 0);
    engine.chosen = ['cleave', 'sap'];
    engine.open('freefall', 2000, 1);
    const plain = engine.frame(), asked = engine.frame({ still: true, wants: { tree: true } });
    assert.deepEqual([plain.facts.tree, plain.tree.axes.length, asked.facts.tree], [null, 0, 'kd']);
    assert.ok(asked.tree.axes.length > 10);
    assert.deepEqual(asked.facts.rivals, plain.facts.rivals);
    assert.deepEqual([asked.begun, asked.ended], [plain.begun, plain.ended]);
    const next = engine.frame({ wants: { tree: true } });
    assert.ok(next.begun.length < next.pairs.length, 'not all pairs began');
});

test('the same frame once more has its number, its times, its speeds and its events', () => {
    engine.chosen = ['cleave', 'sap'];
    engine.open('gravity', 500, 1);
    engine.frame({ still: true });
    for (let f = 0; f < 3; ++f) engine.frame();
    const frame = engine.frame(), again = engine.frame({ still: true, wants: { cells: true, volumes: true } });
    assert.deepEqual([frame.index, frame.isStill, again.index, again.isStill], [4, false, 4, true]);
    for (const part of ['boxes', 'turns', 'pairs', 'begun', 'ended']) assert.deepEqual(again[part], frame[part], part);
    for (const fact of ['pairs', 'still', 'ms', 'physics', 'rivals']) assert.deepEqual(again.facts[fact], frame.facts[fact], fact);
    assert.ok(frame.facts.still < 1 && frame.begun.length > 0);
    engine.choose('cleave', 'grid');
    const other = engine.frame({ still: true });
    assert.deepEqual([other.index, other.facts.rivals[0], other.facts.rivals[1].method, other.facts.rivals[1].isFirst], [4, frame.facts.rivals[0], 'grid', true]);
    assert.equal(other.facts.rivals[1].hash, frame.facts.rivals[1].hash);
    assert.deepEqual(engine.frame().facts.rivals.map(({ isFirst }) => isFirst), [false, false]);
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
