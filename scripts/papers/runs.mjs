// SPDX-License-Identifier: MIT
// Results of `cleave run` as the pages ask for them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { groups, towerFile, towers } from './grades.mjs';

export const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Standard deviation over mean, as paper 000 has it. */
export function variation(values) {
    const middle = mean(values);
    return Math.sqrt(mean(values.map(value => (value - middle) ** 2))) / middle;
}

/** { "kd.leaf": 512 } of "kd.leaf=512,kd.tree=0". */
export const settingsOf = text => Object.fromEntries((text ?? '').split(',').filter(Boolean).map(one => {
    const [name, value] = one.split('=');
    return [name, Number(value)];
}));

/** Without the first frame of each pass, in which a method builds what it keeps: one in 1000 in the papers, one in 60 or fewer here. */
export const laterFrames = passes => passes.flatMap(pass => (pass.length > 1 ? pass.slice(1) : pass));

// On a busy machine the mean of all repeats is mostly the neighbours': there each frame counts by the least of its repeats.
function readRun(run, isBusy) {
    const frames = laterFrames(isBusy ? [run.frame_ms ?? []] : run.pass_ms ?? []);
    return { ...run, settings: settingsOf(run.settings), ms_mean: frames.length > 0 ? mean(frames) : run.ms_mean, cv: frames.length > 1 ? variation(frames) : NaN };
}

/** From this load at the start of a group of runs on, the machine is not ours alone. */
export const BUSY = 1.5;

/** All results of a folder: { runs, machine, methods, towers, isBusy, load }. */
export function readFolder(folder) {
    const files = groups.map(group => join(folder, `${group.name}.json`)).filter(existsSync).map(path => JSON.parse(readFileSync(path, 'utf8')));
    if (files.length === 0) throw new Error(`${folder} holds no results; measure first`);
    const load = Math.max(...files.map(file => file.machine.load ?? 0));
    const isBusy = load > BUSY;
    return {
        isBusy,
        load,
        version: files[0].cleave,
        machine: files[0].machine,
        runs: files.flatMap(file => file.runs).map(run => readRun(run, isBusy)),
        methods: JSON.parse(readFileSync(join(folder, 'methods.json'), 'utf8')).methods,
        towers: new Map(towers.filter(tower => existsSync(join(folder, towerFile(tower))))
            .map(tower => [`${tower.volume} ${tower.scale}`, readTower(join(folder, towerFile(tower)))])),
    };
}

/** Columns of a CSV file of numbers: { name: [values] }; what is no number stays text. */
export function readTower(path) {
    const [head, ...lines] = readFileSync(path, 'utf8').trim().split('\n').map(line => line.split(','));
    return Object.fromEntries(head.map((name, column) => [name, lines.map(line => (Number.isNaN(Number(line[column])) ? line[column] : Number(line[column])))]));
}

/** Good runs of a part that have these members; settings are compared one by one. */
export function pick(runs, part, { settings = {}, ...members } = {}) {
    return runs.filter(run => run.status === 'ok' && run.parts.includes(part) &&
        Object.entries(members).every(([name, value]) => run[name] === value) &&
        Object.entries(settings).every(([name, value]) => run.settings[name] === value));
}

export const distinct = values => [...new Set(values)];
export const ascending = values => distinct(values).sort((a, b) => a - b);

/** [[objects, mean ms]], ascending. */
export const ladder = runs => [...runs].sort((a, b) => a.objects - b.objects).map(run => [run.objects, run.ms_mean]);
