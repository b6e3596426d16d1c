// SPDX-License-Identifier: MIT
// Scenes for the tests, and what a .aabbs file holds, read by its description alone.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const folder = mkdtempSync(join(tmpdir(), 'cleave-view-'));
export const at = name => join(folder, name);

export function cleave(...words) {
    return execFileSync(process.env.CLEAVE, words.map(String), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Boxes of all frames of a file: six floats an object. */
export function readScene(path) {
    const bytes = readFileSync(path);
    const objects = bytes.readInt32LE(256), frames = bytes.readInt32LE(260) + 1;
    const all = new Float32Array(bytes.buffer.slice(bytes.byteOffset + 304, bytes.byteOffset + bytes.length));
    return Array.from({ length: frames }, (_, frame) => {
        const boxes = new Float32Array(6 * objects);
        for (let i = 0; i < objects; ++i) {
            const from = 8 * (frame * objects + i);
            boxes.set(all.subarray(from, from + 3), 6 * i);
            boxes.set(all.subarray(from + 4, from + 7), 6 * i + 3);
        }
        return boxes;
    });
}

/** A file of boxes: frames of arrays of six floats an object. */
export function writeScene(path, frames, world = [-10, -10, -10, 10, 10, 10]) {
    const objects = frames[0].length / 6;
    const head = Buffer.alloc(304);
    head.write('<b>made</b>', 0, 'latin1');
    head.write('by hand', 128, 'latin1');
    head.writeInt32LE(objects, 256);
    head.writeInt32LE(frames.length - 1, 260);
    world.forEach((value, i) => head.writeFloatLE(value, 272 + 4 * (i < 3 ? i : i + 1)));
    const records = frames.flatMap(boxes => Array.from({ length: objects }, (_, i) => [...boxes.slice(6 * i, 6 * i + 3), 0, ...boxes.slice(6 * i + 3, 6 * i + 6), 0]));
    writeFileSync(path, Buffer.concat([head, Buffer.from(new Float32Array(records.flat()).buffer)]));
}

/** Touching boxes by looking at all, sorted: two numbers a pair. */
export function brutePairs(boxes) {
    const out = [], count = boxes.length / 6;
    for (let a = 0; a < count; ++a) {
        for (let b = a + 1; b < count; ++b) {
            let touches = true;
            for (let axis = 0; axis < 3 && touches; ++axis) touches = boxes[6 * a + axis] <= boxes[6 * b + 3 + axis] && boxes[6 * b + axis] <= boxes[6 * a + 3 + axis];
            if (touches) out.push(a, b);
        }
    }
    return out;
}
