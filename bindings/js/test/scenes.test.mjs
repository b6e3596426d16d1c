// SPDX-License-Identifier: MIT
// Scenes of real physics: the same pairs, in the same order, as the C library gives on this machine, frame by
// frame, for the default and the methods of the library beside it, with SIMD and without; and the program's
// pairs_hash. CLEAVE names the program, NATIVE the C twin.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import { loadCleave } from '../index.js';
import { framesOf } from './common.mjs';

const { CLEAVE, NATIVE } = process.env;
const skip = CLEAVE && NATIVE ? false : 'CLEAVE and NATIVE name no programs';
const SCENES = ['freefall -n 2000', 'brownian -n 2000 --type assorted', 'gravity -n 2000', 'city -n 2000'];
const METHODS = ['cleave', 'kd', 'sap', 'grid', 'bvh-d', 'brute'];
const FRAMES = 6;

const cleave = await loadCleave();

// The contract's mix, in 64 bits.
function mix(z) {
    z = BigInt.asUintN(64, z + 0x9E3779B97F4A7C15n);
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xBF58476D1CE4E5B9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94D049BB133111EBn);
    return z ^ (z >> 31n);
}

function hashList(pairs) {
    let hash = 2166136261;
    for (const index of pairs) {
        hash = Math.imul(hash ^ index, 16777619);
    }
    return hash >>> 0;
}

// One line per frame, as the C twin prints them, and the contract's hash of all sets after the first frame.
function replay(path, def) {
    const space = cleave.createSpace(def);
    const lines = [];
    let ids, hash = 0n, frame = -1n;
    for (const boxes of framesOf(path)) {
        ids === undefined ? (ids = space.add(boxes)) : space.move(ids, boxes);
        const count = space.update();
        const pairs = space.pairs;
        lines.push(`${count} ${hashList(pairs)}`);
        for (let i = 0; frame >= 0n && i < pairs.length; i += 2) {
            hash += mix((BigInt(pairs[i]) << 32n) | BigInt(pairs[i + 1])) * (2n * frame + 1n);
        }
        frame += 1n;
    }
    space.destroy();
    return { lines, hash: `0x${BigInt.asUintN(64, hash).toString(16).padStart(16, '0')}` };
}

for (const scene of SCENES) {
    test(`${scene}: same pairs, same order, same hash`, { skip }, () => {
        const folder = mkdtempSync(join(tmpdir(), 'cleave-js-'));
        try {
            const path = join(folder, 'scene.aabbs'), results = join(folder, 'results.json');
            execFileSync(CLEAVE, ['gen', ...scene.split(' '), '--frames', FRAMES, '-o', path], { stdio: 'ignore' });
            execFileSync(CLEAVE, ['bench', path, '-m', 'cleave', '--repeat', '1', '--warmup', '0', '--json', results],
                { stdio: 'ignore' });
            const expected = JSON.parse(readFileSync(results)).runs[0].pairs_hash;
            for (const method of METHODS) {
                const native = execFileSync(NATIVE, [path, method], { encoding: 'utf8' }).trim().split('\n');
                for (const isa of ['auto', 'scalar']) {
                    const here = replay(path, { method, isa });
                    assert.deepEqual(here.lines, native, `${method}, ${isa}: pairs, hash of the list, by frame`);
                    assert.equal(here.hash, expected, `${method}, ${isa}: pairs_hash`);
                }
            }
        } finally {
            rmSync(folder, { recursive: true });
        }
    });
}

test('SIMD is in use', () => {
    const space = cleave.createSpace();
    assert.equal(space.isa, 'sse2');
    space.destroy();
});
