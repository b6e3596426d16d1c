// SPDX-License-Identifier: MIT
// What is shown of the playground's times; node alone.
import assert from 'node:assert/strict';
import test from 'node:test';
import { timeText } from '../src/dom.js';
import { KEPT, Laps, MEANT, typical } from '../src/laps.js';

const frame = (index, ms, more = {}) => ({ index, facts: { ms: [ms / 2, ms / 4, 0], physics: 5, rivals: ['cleave', 'sap'].map((method, side) => ({ method, ms: ms * (1 + side), isFirst: false, ...more })) } });
const METHODS = ['cleave', 'sap'];

test('times are read in the unit that fits', () => {
    assert.deepEqual([0, 0.0009, 0.0054, 0.0214, 0.3591, 0.99949, 0.9996, 1.14, 12.34, 250.4].map(timeText), ['< 1 µs', '0.9 µs', '5.4 µs', '21 µs', '359 µs', '999 µs', '1.00 ms', '1.14 ms', '12.3 ms', '250 ms']);
});

test('a mean believes a coarse clock, and no interruption', () => {
    assert.equal(typical([]), null);
    const coarse = Array.from({ length: 40 }, (_, i) => (i % 10 < 3 ? 0.1 : 0)); // 30 µs, by a clock of tenths of a millisecond
    assert.ok(Math.abs(typical(coarse) - 0.03) < 1e-9);
    assert.ok(typical([...Array(39).fill(2), 90]) < 2.1);
});

test('a frame counts once, first updates and other methods never', () => {
    const laps = new Laps();
    laps.add(frame(0, 9, { isFirst: true }), METHODS);
    assert.equal(laps.mean(0), null);
    for (const index of [1, 1, 2, 2, 2]) laps.add(frame(index, index), METHODS);
    assert.deepEqual(laps.points(1), [[1, 2], [2, 4]]);
    laps.forget();
    laps.add(frame(2, 7), METHODS); // drawn again
    laps.add(frame(3, 7), ['kd', 'sap']); // was under way when kd was chosen
    assert.deepEqual([laps.points(0), laps.points(1)], [[], [[3, 14]]]);
    assert.deepEqual([laps.mean(0), laps.mean(1)], [null, 14]);
    laps.restart();
    laps.add(frame(0, 3), METHODS);
    assert.deepEqual([laps.mean(0), laps.stages(), laps.physics()], [3, [1.5, 0.75, 0], 5]);
});

test('the last frames are what counts', () => {
    const laps = new Laps();
    for (let index = 0; index < 500; ++index) laps.add(frame(index, index < 500 - MEANT ? 50 : 1), METHODS);
    assert.equal(laps.mean(0), 1);
    assert.deepEqual([laps.points(0).length, laps.points(0)[0][0]], [KEPT, 500 - KEPT]);
});
