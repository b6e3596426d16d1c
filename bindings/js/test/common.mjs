// SPDX-License-Identifier: MIT
// What several tests use.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { CleaveError } from '../index.js';

const HEADER_BYTES = 304;

/** A cube of side 1. */
export const box = (x, y = 0, z = 0) => [x, y, z, x + 1, y + 1, z + 1];

export const boxes = (...list) => new Float32Array(list.flat());

/** Numbers from 0 to 1, the same on every machine. */
export function random(seed) {
    let state = seed >>> 0;
    return () => {
        state = Math.imul(state, 1664525) + 1013904223 >>> 0;
        return state / 2 ** 32;
    };
}

/** The call throws a CleaveError of that code and position, which is returned. */
export function refuses(code, position, call) {
    let thrown;
    assert.throws(call, (error) => {
        thrown = error;
        assert.ok(error instanceof CleaveError, String(error));
        assert.equal(error.code, code);
        assert.equal(error.position, position);
        return true;
    });
    return thrown;
}

/** The boxes of a scene file (.aabbs), frame by frame. */
export function* framesOf(path) {
    const bytes = readFileSync(path);
    const count = bytes.readInt32LE(256), frames = bytes.readInt32LE(260);
    for (let frame = 0; frame <= frames; ++frame) {
        const from = bytes.byteOffset + HEADER_BYTES + 32 * count * frame;
        const floats = new Float32Array(bytes.buffer.slice(from, from + 32 * count));
        const boxes = new Float32Array(6 * count);
        for (let i = 0; i < count; ++i) {
            boxes.set(floats.subarray(8 * i, 8 * i + 3), 6 * i);
            boxes.set(floats.subarray(8 * i + 4, 8 * i + 7), 6 * i + 3);
        }
        yield boxes;
    }
}
