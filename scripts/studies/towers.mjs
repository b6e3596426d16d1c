// SPDX-License-Identifier: MIT
// Runs towers and makes one row of numbers of each: means over the frames, of times the means of each frame's least.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

import { allRuns, runsInOrder } from './sweeps.mjs';

export const fileOf = (wanted, repeat) => `${wanted.key.replaceAll('--', '').replaceAll(/[^a-z0-9.-]+/g, '_')}.${repeat}.csv`;

const wordsOf = (wanted, grade) => ['tower', ...wanted.words, '--bodies', String(grade.bodies), '--frames', String(grade.frames), '-q'];

/** Lines of a plan for scripts/papers/bare.sh: of each run that FOLDERS lack one pass, sweep after sweep, and the seconds it takes at least. */
export function planOf(grade, folders) {
    return runsInOrder().filter(wanted => !folders.some(folder => existsSync(join(folder, fileOf(wanted, 1)))))
        .map(wanted => ['sim', `study-${grade.bodies}-${fileOf(wanted, 1)}`, '-', wordsOf(wanted, grade).join(' '), grade.seconds].join('\t') + '\n').join('');
}

/** What is done already stays done. */
export function measure(program, grade, folder, say) {
    const runs = allRuns();
    for (let repeat = 1; repeat <= grade.repeats; ++repeat) {
        runs.forEach((wanted, index) => {
            const path = join(folder, fileOf(wanted, repeat));
            if (existsSync(path)) return;
            say(`tower ${index + 1} of ${runs.length}, pass ${repeat} of ${grade.repeats}: ${wanted.key}`);
            const words = ['sim', ...wordsOf(wanted, grade), '--csv', `${path}.part`];
            const answer = spawnSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });
            if (answer.error) throw new Error(`${program} cannot be run: ${answer.error.message}; build it with make`);
            if (answer.status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${answer.status ?? answer.signal}; the same command goes on from here`);
            renameSync(`${path}.part`, path);
        });
    }
}

function readColumns(path) {
    const [head, ...lines] = readFileSync(path, 'utf8').trim().split('\n').map(line => line.split(','));
    return Object.fromEntries(head.map((name, column) => [name, lines.map(line => (Number.isNaN(Number(line[column])) ? line[column] : Number(line[column])))]));
}

const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of every number column its mean; of times each frame's least over the repeats. Counts must not differ between repeats. */
export function summarise(repeats) {
    const [first] = repeats;
    for (const other of repeats.slice(1)) {
        if (String(other.candidate_pairs) !== String(first.candidate_pairs)) throw new Error('two runs of one tower found other pairs');
    }
    const row = { frames: first.frame.length, landed: first.landed.at(-1), turns: first.axis.filter((axis, frame) => frame > 0 && axis !== first.axis[frame - 1]).length };
    for (const [name, values] of Object.entries(first)) {
        if (typeof values[0] !== 'number' || name === 'frame' || name === 'landed') continue;
        row[name] = mean(name.endsWith('_ms') ? values.map((_, frame) => Math.min(...repeats.map(one => one[name][frame]))) : values);
    }
    row.deepest_most = Math.max(...first.deepest);
    return row;
}

/** { key: row } of the runs a folder has, of as many passes as it has of each. */
export function readSome(folder) {
    const passesOf = wanted => Array.from({ length: 9 }, (_, index) => join(folder, fileOf(wanted, index + 1))).filter(existsSync);
    return new Map(allRuns().map(wanted => [wanted.key, passesOf(wanted)]).filter(([, paths]) => paths.length > 0).map(([key, paths]) => [key, { passes: paths.length, ...summarise(paths.map(readColumns)) }]));
}

/** { key: row } of all runs there are. */
export function readTowers(folder, grade) {
    const passes = Array.from({ length: grade.repeats }, (_, index) => index + 1);
    return new Map(allRuns().map(wanted => [wanted.key, summarise(passes.map(repeat => {
        const path = join(folder, fileOf(wanted, repeat));
        if (!existsSync(path)) throw new Error(`${path} is missing; measure first`);
        return readColumns(path);
    }))]));
}
