#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The open studies of the k-DOP paper: measures (towers.mjs) and writes a page.
//
//     node scripts/studies/studies.mjs --cleave build/cleave --grade short --work build/studies --out bench/papers/studies [--pages] [--also FOLDER,…]
//
// --also: towers measured elsewhere, with a machine.json that names their grade too, and in `note` what else is to be known of their times. A sweep is told from the largest towers of which it has all.
// --plan prints what the folders of --also lack of a grade, for scripts/papers/bare.sh on a machine with many cores, and does nothing else.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { csvOf, writePages } from './pages.mjs';
import { grades } from './sweeps.mjs';
import { measure, planOf, readSome, readTowers } from './towers.mjs';

const say = text => process.stderr.write(`studies: ${text}\n`);

function readWords() {
    const { values } = parseArgs({ options: {
        cleave: { type: 'string', default: 'build/cleave' }, grade: { type: 'string', default: 'short' }, work: { type: 'string', default: 'build/studies' },
        out: { type: 'string', default: 'bench/papers/studies' }, pages: { type: 'boolean', default: false }, plan: { type: 'boolean', default: false }, also: { type: 'string', default: '' },
    } });
    if (!(values.grade in grades)) throw new Error(`--grade ${values.grade}: there are ${Object.keys(grades).join(', ')}`);
    return values;
}

// As it was when the first run began: a run that is gone on with says so still.
function machineOf(folder) {
    const path = join(folder, 'machine.json');
    if (!existsSync(path)) writeFileSync(path, JSON.stringify({ cpu: cpus()[0]?.model ?? 'unknown processor', cores: cpus().length, load: loadavg()[0] }));
    return JSON.parse(readFileSync(path, 'utf8'));
}

// Largest first.
function readAlso(folders) {
    return folders.map(folder => {
        const path = join(folder, 'machine.json');
        if (!existsSync(path)) throw new Error(`${path} is missing; it names grade, cpu, cores and load of what is there`);
        const machine = JSON.parse(readFileSync(path, 'utf8'));
        if (!(machine.grade in grades)) throw new Error(`${path}: grade ${machine.grade}: there are ${Object.keys(grades).join(', ')}`);
        return { grade: { name: machine.grade, ...grades[machine.grade] }, machine, towers: readSome(folder) };
    }).sort((a, b) => b.grade.bodies - a.grade.bodies);
}

function main() {
    const { cleave, grade: name, work, out, pages, plan, also } = readWords();
    const grade = { name, ...grades[name] };
    if (plan) {
        process.stdout.write(planOf(grade, also.split(',').filter(Boolean)));
        return;
    }
    const folder = join(work, name);
    mkdirSync(folder, { recursive: true });
    const machine = machineOf(folder);
    if (!pages) measure(cleave, grade, folder, say);
    const sources = [...readAlso(also.split(',').filter(Boolean)), { grade, machine, towers: readTowers(folder, grade) }];
    mkdirSync(out, { recursive: true });
    writePages(out, sources);
    writeFileSync(join(out, 'towers.csv'), csvOf(sources));
    say(`wrote ${join(out, 'README.md')}`);
}

try {
    main();
} catch (error) {
    say(error.message);
    process.exitCode = 2;
}
