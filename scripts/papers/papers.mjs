#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The papers' figures and tables again, from our own runs: measures (scripts/papers/measure.mjs) and writes pages.
//
//     node scripts/papers/papers.mjs --cleave build/cleave --grade short --work build/papers --out bench/papers [--pages]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { grades, groups } from './grades.mjs';
import { measure } from './measure.mjs';
import { Page, digits, sizeText } from './page.mjs';
import { writePage as write000 } from './paper_000.mjs';
import { writePage as write001 } from './paper_001.mjs';
import { writePage as write002 } from './paper_002.mjs';
import { writePage as write003 } from './paper_003.mjs';
import { writePage as write004 } from './paper_004.mjs';
import { readFolder } from './runs.mjs';

const say = text => process.stderr.write(`papers: ${text}\n`);

/** Runs of one scene must have one hash. */
export function disagreements(runs) {
    const first = new Map();
    return runs.filter(run => run.status === 'ok' && !run.fat).filter(run => {
        const key = [run.scene, run.type, run.objects, run.frames, run.key?.split(' | ')[0]].join(' ');
        if (!first.has(key)) first.set(key, run.pairs_hash);
        return first.get(key) !== run.pairs_hash;
    });
}

const quoted = text => `"${String(text).replaceAll('"', '""')}"`;

function writeCsv(folder, runs) {
    const head = 'parts,scene,type,objects,frames,method,variant,threads,settings,ms_mean,ms_median,ms_min,cv,tests,pairs_hash,status';
    const rows = runs.map(run => [run.parts.join(' '), run.scene, run.type, run.objects, run.frames, run.method, run.variant, run.threads,
        quoted(Object.entries(run.settings).map(pair => pair.join('=')).join(',')), run.ms_mean ?? '', run.ms_median ?? '', run.ms_min ?? '', Number.isNaN(run.cv) ? '' : digits(run.cv), run.tests ?? '', run.pairs_hash ?? '', run.status].join(','));
    writeFileSync(join(folder, 'runs.csv'), `${[head, ...rows].join('\n')}\n`);
}

function writeIndex(folder, grade, { runs, machine, version, towers, isBusy, load }) {
    const page = new Page(folder, 'README', 'The papers\' figures and tables again');
    const bad = runs.filter(run => run.status === 'failed' || run.status === 'timeout');
    const missing = [...new Set(runs.filter(run => run.status === 'unavailable').map(run => run.method))];
    const wrong = disagreements(runs);
    page.text('Made by `make papers`; do not edit. For every figure and table of the five papers that needs no GPU the same one from our runs, the paper\'s numbers beside it where it prints any (`published/`), and what agrees and what differs.');
    page.table(['page', 'paper', 'figures and tables'], [
        ['[004](004.md)', 'the KD-tree, CGF 2019', '1, 9 to 14; tables 1 and 2'],
        ['[000](000.md)', 'the same earlier', '3 to 5; coefficient of variation'],
        ['[001](001.md)', 'Broadmark', '2; tables I and II'],
        ['[002](002.md)', 'the RAY KD-tree, 2015', '2 and 3'],
        ['[003](003.md)', 'sweep-and-prune with k-DOPs, 2021', '5.6 to 5.23; tables 5.1 to 5.3'],
    ], { left: 3 });
    page.heading('These runs');
    const tower = [...towers.values()][0];
    page.list([
        `\`make papers PAPERS=${grade}\`: ${grades[grade].about}. Cleave ${version}, ${machine.cpu}, ${machine.cores} cores, ${machine.isa}, ${machine.compiler}; load up to ${digits(load)} when a group of them began.`,
        `${runs.length} runs, each in a process of its own, by the papers' rules: five repeats unless a page says otherwise, all frames of a window, a method's sizes up to its first mean above half a second. A frame is the whole of it: boxes handed over, updated, pairs listed. Means and coefficients of variation leave out the first frame of a pass, in which a method builds what it keeps: one in 1000 in the papers.`,
        'Windows are 60 frames at most where the papers have 1000: Free Fall from frame 250, when most has come to rest (all of it from frame 0 to 400 for what is shown against the share of static objects), Brownian from 40, Gravity from 90.',
        ...(isBusy ? ['**The machine was busy with other work.** So means here are not over all repeats, which would mostly show the neighbours: each frame counts by the least of its repeats, and the coefficient of variation is that over the frames. Figures of several threads suffer even so, and single large values remain.'] : []),
        ...(tower ? [`Towers: ${Math.max(...tower.landed)} bodies landed in ${tower.frame.length} frames.`] : []),
        wrong.length === 0 ? 'Every run of a scene found the same pairs as all others on it (hashes in `runs.csv`).' : `**Results disagree** in ${wrong.length} runs: ${wrong.map(run => `${run.method}@${run.variant} on ${run.scene}, ${sizeText(run.objects)}`).join('; ')}.`,
        ...(missing.length > 0 ? [`Not installed there: ${missing.join(', ')}.`] : []),
        bad.length === 0 ? 'All ended well.' : `${bad.length} did not end well: ${bad.map(run => `${run.method}@${run.variant} on ${run.scene}, ${sizeText(run.objects)}: ${run.reason}`).slice(0, 20).join('; ')}.`,
    ]);
    page.text('The commands, group by group (`scripts/papers/grades.mjs`):');
    page.list(groups.map(group => `\`cleave run ${group.schedules.join(' ')} --only ${group.parts.join(',')} ${[...(grades[grade].all ?? []), ...(grades[grade][group.name] ?? [])].join(' ')}\``.replace(' `', '`')));
    page.write();
    return wrong.length === 0;
}

function readWords() {
    const { values } = parseArgs({ options: {
        cleave: { type: 'string', default: 'build/cleave' }, grade: { type: 'string', default: 'hour' }, work: { type: 'string', default: 'build/papers' },
        out: { type: 'string', default: 'bench/papers' }, pages: { type: 'boolean', default: false },
    } });
    if (!(values.grade in grades)) throw new Error(`--grade ${values.grade}: there are ${Object.keys(grades).join(', ')}`);
    return values;
}

function main() {
    const { cleave, grade, work, out, pages } = readWords();
    const folder = join(work, grade);
    if (!pages) {
        mkdirSync(folder, { recursive: true });
        measure(cleave, grade, folder, say);
    }
    const results = readFolder(folder);
    mkdirSync(out, { recursive: true });
    for (const write of [write004, write000, write001, write002, write003]) write(out, results);
    writeCsv(out, results.runs);
    const agree = writeIndex(out, grade, results);
    say(`wrote ${join(out, 'README.md')}`);
    return agree ? 0 : 1;
}

try {
    process.exitCode = main();
} catch (error) {
    process.stderr.write(`papers: ${error.message}\n`);
    process.exitCode = 2;
}
