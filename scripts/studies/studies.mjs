#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The open studies of paper 003: measures (towers.mjs) and writes a page.
//
//     node scripts/studies/studies.mjs --cleave build/cleave --grade short --work build/studies --out bench/papers/studies [--pages]
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { csvOf, writePages } from './pages.mjs';
import { grades } from './sweeps.mjs';
import { measure, readTowers } from './towers.mjs';

const say = text => process.stderr.write(`studies: ${text}\n`);

function readWords() {
    const { values } = parseArgs({ options: {
        cleave: { type: 'string', default: 'build/cleave' }, grade: { type: 'string', default: 'short' }, work: { type: 'string', default: 'build/studies' },
        out: { type: 'string', default: 'bench/papers/studies' }, pages: { type: 'boolean', default: false },
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

function main() {
    const { cleave, grade: name, work, out, pages } = readWords();
    const grade = { name, ...grades[name] };
    const folder = join(work, name);
    mkdirSync(folder, { recursive: true });
    const machine = machineOf(folder);
    if (!pages) measure(cleave, grade, folder, say);
    const towers = readTowers(folder, grade);
    mkdirSync(out, { recursive: true });
    writePages(out, towers, grade, machine);
    writeFileSync(join(out, 'towers.csv'), csvOf(towers));
    say(`wrote ${join(out, 'README.md')}`);
}

try {
    main();
} catch (error) {
    say(error.message);
    process.exitCode = 2;
}
