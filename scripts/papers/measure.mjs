// SPDX-License-Identifier: MIT
// Runs the program here, piece by piece: those that are not `late`, the towers, the others. What is done already stays done:
// `cleave run --resume` goes by everything a result depends on, a tower by its file. No call lasts much longer than PIECE_S, so breaking
// off costs little. A budget is an end for all of them: what did not come about by then is named, and left for the next time.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';

import { grades, pieceWords, towerFile, towerWords, towers } from './grades.mjs';

const PIECE_S = 540;

const coreCount = () => (availableParallelism ? availableParallelism() : cpus().length);

/** Seconds until a budget is used up; never without one. */
export function clockOf(budget, now = Date.now) {
    const end = budget > 0 ? now() + 1000 * budget : Infinity;
    return { left: () => (end - now()) / 1000, isUp: () => end - now() < 1000 };
}

// Its progress goes to the terminal; its table is not wanted here. Status 3, as of a budget that is used up, if time ran out meanwhile.
function call(program, words, clock) {
    const left = clock.left();
    const limit = Number.isFinite(left) ? { timeout: Math.max(1, Math.ceil(1000 * left)), killSignal: 'SIGINT' } : {};
    const answer = spawnSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'], ...limit });
    if (answer.error?.code === 'ETIMEDOUT') return 3;
    if (answer.error) throw new Error(`${program} cannot be run: ${answer.error.message}; build it with make`);
    if (answer.signal) throw new Error(`${program} ${words[0]} was ended by ${answer.signal}; run the same command again to go on`);
    return answer.status;
}

/** The words of `cleave run` for a piece; exported for its tests. */
export function runWords(one, folder, cores, wait = 60, left = Infinity) {
    return ['run', ...pieceWords(one), '--json', join(folder, `${one.name}.json`), '--resume', '--budget', String(Math.max(1, Math.floor(Math.min(PIECE_S, left)))), '--others', '10', '--others-wait', String(Math.min(wait, Math.max(0, Math.floor(left)))),
        ...(one.wide ? ['--threads', String(Math.min(4, cores))] : [])];
}

/** The piece without methods that are not installed here; null if none is left. Only pieces that name methods have to care. */
export function withoutMissing(one, methods) {
    const at = one.words.indexOf('-m');
    if (at < 0) return one;
    const there = one.words[at + 1].split(',').filter(name => methods.some(method => method.name === name && method.available));
    return there.length > 0 ? { ...one, words: one.words.map((word, index) => (index === at + 1 ? there.join() : word)) } : null;
}

const hasGpu = devices => (devices ?? []).some(device => !device.cpu && !device.unusable);

/** Why a piece is not run here; null if it is. */
export function whyNot(one, { methods, devices }) {
    if (one.gpu && !hasGpu(devices)) return 'no GPU here';
    return withoutMissing(one, methods) ? null : 'its methods are not installed';
}

// Baked first and by itself, since --budget does not cut off what is being baked. Exit status 1 of the runs means that one failed or
// that hashes differ: the pages will say which. 3: there is more of it. Returns whether all of it is done.
function measurePiece(program, one, folder, wait, clock) {
    if (call(program, ['run', ...pieceWords(one), '--bake', '-q'], clock) === 3) return false;
    let status = 3;
    while (status === 3 && !clock.isUp()) status = call(program, runWords(one, folder, coreCount(), wait, clock.left()), clock);
    if (status > 1 && status !== 3) throw new Error(`${program} run ended with ${status}; see above`);
    return status !== 3;
}

// As far as one sees without the program: what is under way has a journal.
const isDone = (one, folder) => existsSync(join(folder, `${one.name}.json`)) && !existsSync(join(folder, `${one.name}.json.journal`));

function measurePieces(program, pieces, folder, say, wait, clock) {
    const here = JSON.parse(readFileSync(join(folder, 'methods.json'), 'utf8'));
    return pieces.filter(whole => {
        const why = whyNot(whole, here);
        if (why) say(`${whole.name} is left out: ${why}`);
        if (why || clock.isUp()) return !why && !isDone(whole, folder);
        const one = withoutMissing(whole, here.methods);
        say(`measuring ${one.name}: ${one.parts.join(', ')}`);
        return !measurePiece(program, one, folder, wait, clock);
    }).map(one => one.name);
}

function measureTowers(program, sim, folder, say, clock) {
    return towers.filter(tower => {
        const path = join(folder, towerFile(tower));
        if (existsSync(path) || clock.isUp()) return !existsSync(path);
        say(`measuring a tower of ${sim.bodies}: ${tower.volume}, ${tower.scale}`);
        const status = call(program, ['sim', ...towerWords(tower, sim), '--csv', `${path}.part`], clock);
        if (status !== 0 && status !== 3) throw new Error(`${program} sim tower failed; see above`);
        if (status === 0) renameSync(`${path}.part`, path);
        return status !== 0;
    }).map(tower => `tower ${tower.volume} ${tower.scale}`);
}

function measureMethods(program, folder) {
    const answer = spawnSync(program, ['methods', '--json'], { encoding: 'utf8' });
    if (answer.status !== 0) throw new Error(`${program} methods --json failed: ${answer.error?.message ?? answer.stderr}`);
    writeFileSync(join(folder, 'methods.json'), answer.stdout);
}

/** Seconds a piece may wait for a quiet machine: with a budget all of them together a tenth of it, or a busy machine would spend the hour waiting. */
export const waitOf = (wait, budget, count) => (budget > 0 ? Math.min(wait, Math.floor(budget / 10 / count)) : wait);

/** Measures a grade within a budget of seconds (0: none). Returns the names of what was not, or not wholly, measured by then. */
export function measure(program, grade, folder, say, { wait = 60, budget = 0 } = {}) {
    const { pieces, sim } = grades[grade];
    const clock = clockOf(budget);
    const each = waitOf(wait, budget, pieces.length);
    measureMethods(program, folder);
    const some = isLate => measurePieces(program, pieces.filter(one => Boolean(one.late) === isLate), folder, say, each, clock);
    const unfinished = [...some(false), ...measureTowers(program, sim, folder, say, clock), ...some(true)];
    if (unfinished.length > 0) say(`${budget} s are up; not, or not wholly, measured: ${unfinished.join(', ')}; the same command goes on there`);
    return unfinished;
}
