// SPDX-License-Identifier: MIT
// Pages again from what is stored beside them: runs.csv has the mean of every run, measured.json what runs.csv cannot hold. So words, rules and drawings can change
// without measuring. What needs every frame (scatter plots, lines along a run) is not drawn again: the files that are there stay.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { settingsOf } from './runs.mjs';

const number = text => (text === '' || text === undefined ? NaN : Number(text));

/** Fields of a line of runs.csv; quotes around some. */
const fieldsOf = line => [...line.matchAll(/("((?:[^"]|"")*)"|[^,]*)(,|$)/g)].map(match => (match[2] ?? match[1]).replaceAll('""', '"'));

/** Runs as pages use them, from the lines of runs.csv: without frames, and with no counters but the nodes. */
export function readRuns(text, device) {
    const [head, ...lines] = text.trim().split('\n').map(fieldsOf);
    return lines.map(line => Object.fromEntries(head.map((name, column) => [name, line[column]]))).map(row => ({
        status: 'ok', parts: [row.part], scene: row.scene, type: row.type, objects: Number(row.objects), method: row.method, variant: row.variant, threads: Number(row.threads), settings: settingsOf(row.settings),
        windows: row.windows.split(' ').map(window => ({ from: Number(window.split('+')[0]), frames: Number(window.split('+')[1]) })), ms_mean: number(row.ms_mean), cv: number(row.cv), repeats: Number(row.repeats), repeat_cv: number(row.repeat_cv), ms_min: number(row.ms_min),
        counters: { nodes: row.nodes === '' ? 0 : Number(row.nodes) }, others: row.others === '' ? 0 : Number(row.others), isOthersKnown: row.others !== '', frame_ms: [], frame_static: [], dates: row.date ? [row.date] : [], machineName: row.machine, ...(row.part.startsWith('001-gpu') ? { device } : {}),
    }));
}

/** What pages are made of, from a folder that has them already: { runs, facts, summaries, methods, notes, … , isStored: true }. */
export function readStored(folder) {
    const [runs, measured] = ['runs.csv', 'measured.json'].map(name => join(folder, name));
    for (const path of [runs, measured]) if (!existsSync(path)) throw new Error(`${path}: not there; measure first`);
    const { summaries, ...found } = JSON.parse(readFileSync(measured, 'utf8'));
    return { ...found, runs: readRuns(readFileSync(runs, 'utf8'), found.gpu), summaries: new Map(Object.entries(summaries)), towers: new Map(), isStored: true };
}

// As many digits as a page shows, and two to spare.
const short = (_, value) => (typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value);

/** What storing and reading makes of numbers: verdicts are of these, so that they are the same from either. */
export const asStored = value => JSON.parse(JSON.stringify(value, short));

// Why a method was missing names folders of the machine, and no page shows it.
const withoutReason = ({ reason, ...method }) => method;

/** measured.json: what readStored needs beside runs.csv. */
export const measuredText = ({ grade, facts, summaries, methods, notes, lacking, gpu, towerText, gains }) => `${JSON.stringify({ grade, gpu, towerText, notes, lacking, gains, summaries: Object.fromEntries(summaries), facts, methods: methods.map(withoutReason) }, short, 1)}\n`;
