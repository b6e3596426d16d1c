// SPDX-License-Identifier: MIT
// How long a frame takes here beside the C library: the same scenes, frame by frame, boxes handed over by
// ids, updated, listed. Minima over passes of each frame, then the mean over frames. NATIVE is what
// scripts/wasm.sh makes of test/native.c, CLEAVE the program.
//   CLEAVE=build/cleave NATIVE=build/wasm/native node build/wasm/js/bench.mjs
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { loadCleave } from './index.js';
import { framesOf } from './test/common.mjs';

const { CLEAVE, NATIVE } = process.env;
const FRAMES = 60, PASSES = 7, THREADS = 2;

const mean = (times) => times.reduce((sum, time) => sum + time, 0) / times.length;

// Milliseconds of each frame but the first.
function run(cleave, frames, def, list) {
    const least = new Array(frames.length).fill(Infinity);
    for (let pass = 0; pass < PASSES; ++pass) {
        const space = cleave.createSpace(def), ids = space.add(frames[0]);
        space.update();
        for (let i = 1; i < frames.length; ++i) {
            const start = performance.now();
            space.move(ids, frames[i]);
            space.update();
            list(space);
            least[i] = Math.min(least[i], performance.now() - start);
        }
        space.destroy();
    }
    return mean(least.slice(1));
}

const single = await loadCleave(), threads = await loadCleave({ threads: THREADS });
console.log(`| scene | C, sse2 | C, best | node, lent | ratio to sse2 | node, copied | node, ${THREADS} threads |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |`);
const folder = mkdtempSync(join(tmpdir(), 'cleave-js-'));
try {
    for (const scene of ['brownian', 'freefall', 'gravity']) {
        for (const count of [10000, 32000]) {
            const path = join(folder, 'scene.aabbs');
            execFileSync(CLEAVE, ['gen', scene, '-n', count, '--frames', FRAMES, '-o', path], { stdio: 'ignore' });
            const native = (env) => Number(execFileSync(NATIVE, [path, 'time'], { encoding: 'utf8', env: { ...process.env, ...env } }));
            const frames = [...framesOf(path)];
            const [sse2, best] = [native({ CLEAVE_ISA: 'sse2' }), native({})];
            const lent = run(single, frames, {}, (space) => space.lend('pairs'));
            const copied = run(single, frames, {}, (space) => space.pairs);
            const shared = run(threads, frames, {}, (space) => space.lend('pairs'));
            const cells = [`${scene}, ${count / 1000}k`, sse2, best, lent, lent / sse2, copied, shared];
            console.log(`| ${cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(2) : cell)).join(' | ')} |`);
        }
    }
} finally {
    rmSync(folder, { recursive: true });
}
process.exit(0);
