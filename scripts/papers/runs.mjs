// SPDX-License-Identifier: MIT
// Results of `cleave run` as the pages ask for them: from one folder or several, windows of a run brought together, one machine per paper.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { towerFile, towers } from './grades.mjs';
import { labelOf } from './names.mjs';
import { windowOf } from './windows.mjs';

export const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
export const distinct = values => [...new Set(values)];
export const ascending = values => distinct(values).sort((a, b) => a - b);

/** Standard deviation over mean, as the earlier KD-tree paper has it. */
export function variation(values) {
    const middle = mean(values);
    return Math.sqrt(mean(values.map(value => (value - middle) ** 2))) / middle;
}

/** { "kd.leaf": 512 } of "kd.leaf=512,kd.tree=0". */
export const settingsOf = text => Object.fromEntries((text ?? '').split(',').filter(Boolean).map(one => {
    const [name, value] = one.split('=');
    return [name, Number(value)];
}));

/** Without the first frame of each pass, in which a method builds what it keeps: one in 1000 in the papers, one in ten or fewer here. */
export const laterFrames = passes => passes.flatMap(pass => (pass.length > 1 ? pass.slice(1) : pass));

/** Frames of the run that a result's key tells: { from, frames }. */
export function windowOfKey(key, frames) {
    const found = /@(\d+)\+(\d+) of /.exec(key ?? '');
    return { from: found ? Number(found[1]) : 0, frames };
}

export const machineText = machine => `${machine.cpu}, ${machine.cores} cores, ${machine.isa}, ${machine.compiler}`;

// ---- windows

// One statistic for tables, plots and verdicts: the mean over the frames of all repeats, windows weighted by what they stand for.
function weightedMean(parts) {
    const weight = parts.reduce((sum, part) => sum + part.weight, 0);
    return parts.reduce((sum, part) => sum + part.weight * part.mean, 0) / weight;
}

// Over all frames, each counting as its window does: what it does along the run and what disturbs it alike.
function weightedVariation(parts, middle) {
    const weight = parts.reduce((sum, part) => sum + part.weight, 0);
    const square = parts.reduce((sum, part) => sum + part.weight * mean(part.frames.map(ms => (ms - middle) ** 2)), 0) / weight;
    return Math.sqrt(square) / middle;
}

const countersOf = parts => Object.fromEntries(Object.keys(parts[0].run.counters ?? {}).map(name =>
    [name, weightedMean(parts.map(({ weight, run }) => ({ weight, mean: run.counters[name] ?? 0 })))]));

/** Windows of one run, method and terms as one result. */
export function joinWindows(runs) {
    const sorted = [...runs].sort((a, b) => a.window.from - b.window.from);
    const parts = sorted.map(run => {
        const frames = laterFrames(run.pass_ms ?? []);
        const weight = sorted.length > 1 ? windowOf(run.scene, run.window.from).weight : 1;
        return { run, frames, weight, mean: frames.length > 0 ? mean(frames) : run.ms_mean };
    });
    const ms = weightedMean(parts);
    const passes = Math.min(...sorted.map(run => (run.pass_ms ?? []).length));
    const ofPass = pass => weightedMean(parts.map(({ run, weight }) => ({ weight, mean: mean(laterFrames([run.pass_ms[pass]])) })));
    const repeats = Array.from({ length: passes }, (_, pass) => ofPass(pass));
    return {
        ...sorted[0],
        windows: sorted.map(run => run.window),
        frames: sorted.reduce((sum, run) => sum + run.frames, 0),
        ms_mean: ms,
        ms_min: Math.min(...sorted.map(run => run.ms_min)),
        cv: parts.every(part => part.frames.length > 0) ? weightedVariation(parts, ms) : NaN,
        repeats: passes,
        repeat_cv: repeats.length > 1 ? variation(repeats) : NaN,
        counters: countersOf(parts),
        frame_ms: sorted.flatMap(run => run.frame_ms),
        frame_static: sorted.flatMap(run => run.frame_static),
        others: Math.max(...sorted.map(run => run.others ?? 0)),
        isOthersKnown: sorted.every(run => run.others !== undefined && run.others !== null),
        dates: distinct(sorted.map(run => run.date).filter(Boolean)).sort(),
        hashes: sorted.map(run => run.pairs_hash),
    };
}

const identityOf = (run, part) => JSON.stringify([part, run.scene, run.type, run.objects, run.method, run.variant, run.threads, run.settings, run.machineName]);

// Windows that begin alike and are of several lengths, from before and after a schedule was changed: the longest of each stays.
function withoutShort(group) {
    const longest = new Map();
    for (const run of group) if (!(longest.get(run.window.from)?.window.frames > run.window.frames)) longest.set(run.window.from, run);
    return [...longest.values()];
}

// A window that a run lacks would make its mean another kind of mean: only runs that have all of their scene's in that part stay.
function joinPart(runs, part) {
    const joined = [...groupBy(runs, run => identityOf(run, part)).values()].map(group => ({ ...joinWindows(withoutShort(group)), parts: [part] }));
    const most = new Map();
    for (const { scene, windows } of joined) most.set(scene, Math.max(most.get(scene) ?? 0, windows.length));
    return joined.filter(run => run.windows.length === most.get(run.scene));
}

function groupBy(values, keyOf) {
    const groups = new Map();
    for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
    return groups;
}

/** All good runs, joined, each under one part; parts share nothing here even where they share runs. */
export function joinRuns(runs) {
    const good = runs.filter(run => run.status === 'ok');
    return distinct(good.flatMap(run => run.parts)).flatMap(part => joinPart(good.filter(run => run.parts.includes(part)), part));
}

// ---- folders

function readFile(path, folder) {
    const { machine, cleave, runs } = JSON.parse(readFileSync(path, 'utf8'));
    return runs.map(run => ({
        ...run, settings: settingsOf(run.settings), window: windowOfKey(run.key, run.frames), parts: run.parts ?? [], machine, machineName: machineText(machine), version: cleave, folder,
    }));
}

const cellOf = run => JSON.stringify([run.scene, run.type, run.objects, run.method, run.variant, run.threads, run.settings, run.window, run.machineName]);

/** Of cells that were measured more than once, by other processes: the slowest over the quickest, ascending. */
export function twinRatios(runs) {
    const good = runs.filter(run => run.status === 'ok' && (run.pass_ms ?? []).length > 0);
    const means = [...groupBy(good, cellOf).values()].filter(group => group.length > 1).map(group => group.map(run => mean(laterFrames(run.pass_ms))));
    return means.map(values => Math.max(...values) / Math.min(...values)).sort((a, b) => a - b);
}

/** The same run of two pieces, or of two days, counts once, for the parts of both: the one with more repeats, the later of equals. */
export function withoutTwins(runs) {
    const known = new Map();
    const passes = run => (run.status === 'ok' ? run.pass_ms?.length ?? 0 : -1);
    for (const run of runs) {
        const key = cellOf(run);
        const first = known.get(key);
        const better = !first || passes(run) >= passes(first) ? run : first;
        known.set(key, { ...better, parts: distinct([...(first?.parts ?? []), ...run.parts]) });
    }
    return [...known.values()];
}

/** One machine per paper: the one with most of its runs. Returns the runs that stay; `left` gets the names of the others. */
export function oneMachine(runs, left = []) {
    const papers = distinct(runs.flatMap(run => run.parts.map(part => part.slice(0, 3))));
    const chosen = new Map(papers.map(paper => {
        const own = runs.filter(run => run.status === 'ok' && run.parts.some(part => part.startsWith(paper)));
        const names = distinct(own.map(run => run.machineName));
        names.sort((a, b) => own.filter(run => run.machineName === b).length - own.filter(run => run.machineName === a).length);
        if (names.length > 1) left.push(`${labelOf(paper)}: ${names.slice(1).join('; ')}`);
        return [paper, names[0]];
    }));
    return runs.map(run => ({ ...run, parts: run.parts.filter(part => (chosen.get(part.slice(0, 3)) ?? run.machineName) === run.machineName) })).filter(run => run.parts.length > 0);
}

function readTowers(folders) {
    const found = new Map();
    for (const folder of folders) {
        for (const tower of towers) {
            const path = join(folder, towerFile(tower));
            if (existsSync(path) && !found.has(`${tower.volume} ${tower.scale}`)) found.set(`${tower.volume} ${tower.scale}`, { ...readTower(path), folder });
        }
    }
    // Towers of two folders would be of two machines.
    const folder = [...found.values()][0]?.folder;
    return new Map([...found].filter(([, tower]) => tower.folder === folder));
}

/** Without runs of GPU methods that a processor's OpenCL did: they are no GPU's. */
export function onlyGpus(runs, devices) {
    const processors = new Set(devices.filter(device => device.cpu).map(device => device.name));
    return runs.filter(run => !processors.has(run.device));
}

/** Methods as the last list has them; one that was not installed there as the last that had it. */
export function methodsOf(lists) {
    const had = name => lists.map(list => list.methods.find(method => method.name === name)).findLast(method => method?.available);
    return lists[lists.length - 1].methods.map(method => had(method.name) ?? method);
}

/** All results of some folders: { raw, runs, alone, methods, towers, towerMachine, left }. */
export function readFolders(folders) {
    const files = folders.flatMap(folder => (existsSync(folder) ? readdirSync(folder) : []).filter(name => name.endsWith('.json') && name !== 'methods.json').sort().map(name => ({ folder, name })));
    if (files.length === 0) throw new Error(`${folders.join(', ')}: no results there; measure first`);
    const all = files.map(({ folder, name }) => ({ name, runs: readFile(join(folder, name), folder) }));
    const lists = folders.map(folder => join(folder, 'methods.json')).filter(existsSync).map(path => JSON.parse(readFileSync(path, 'utf8')));
    const left = [];
    const measured = onlyGpus(all.filter(({ name }) => !name.startsWith('alone')).flatMap(({ runs }) => runs), lists.flatMap(list => list.devices ?? []));
    const raw = oneMachine(withoutTwins(measured), left);
    const found = readTowers(folders);
    const towerRun = raw.find(run => run.folder === [...found.values()][0]?.folder);
    const text = folders.map(folder => join(folder, 'machine.txt')).filter(existsSync).map(path => readFileSync(path, 'utf8'));
    return {
        raw, runs: joinRuns(raw), hasShared: folders.map(folder => join(folder, 'plan.txt')).filter(existsSync).some(path => /^gpu\t.*--in-process/m.test(readFileSync(path, 'utf8'))), alone: joinRuns(withoutTwins(all.filter(({ name }) => name.startsWith('alone')).flatMap(({ runs }) => runs))), twins: twinRatios(measured),
        methods: methodsOf(lists), towers: found, towerRun, left, lanes: Math.max(0, ...[...text.join('\n').matchAll(/lanes: (\d+)/g)].map(([, count]) => Number(count))),
    };
}

/** Columns of a CSV file of numbers: { name: [values] }; what is no number stays text. */
export function readTower(path) {
    const [head, ...lines] = readFileSync(path, 'utf8').trim().split('\n').map(line => line.split(','));
    return Object.fromEntries(head.map((name, column) => [name, lines.map(line => (Number.isNaN(Number(line[column])) ? line[column] : Number(line[column])))]));
}

// ---- choosing

/** Good runs of a part (or several) that have these members; settings are compared one by one. */
export function pick(runs, part, { settings = {}, ...members } = {}) {
    const parts = [part].flat();
    return runs.filter(run => run.status === 'ok' && run.parts.some(one => parts.includes(one)) &&
        Object.entries(members).every(([name, value]) => run[name] === value) &&
        Object.entries(settings).every(([name, value]) => run.settings[name] === value));
}

/** [[objects, mean ms]], ascending. */
export const ladder = runs => [...runs].sort((a, b) => a.objects - b.objects).map(run => [run.objects, run.ms_mean]);

// ---- trees

const treeMethods = /^(kd|ray-kd)/;

/** Is it a run of a KD-tree that was one? A tree of one node is a list. */
export const isTree = run => treeMethods.test(run.method) && (run.counters?.nodes ?? 0) > 1;

/** A method of the tree's family whose tree had one node. */
export const isBareRoot = run => treeMethods.test(run.method) && !isTree(run);

const shapeOf = run => ['nodes', 'leaves', 'height', 'objects in leaves'].map(name => (run.counters[name] ?? 0).toFixed(2)).join(' ');

/** Runs over T, ascending, those of the same tree as one: { leaf, run, same: [other T] }. Those of one node are no trees and are left out. */
export function mergeTrees(runs, setting) {
    const merged = [];
    for (const run of [...runs].filter(isTree).sort((a, b) => a.settings[setting] - b.settings[setting])) {
        const last = merged[merged.length - 1];
        if (last && shapeOf(last.run) === shapeOf(run)) {
            last.same.push(run.settings[setting]);
            last.times.push(run.ms_mean);
        } else {
            merged.push({ leaf: run.settings[setting], run, same: [], times: [run.ms_mean] });
        }
    }
    return merged.map(({ times, ...one }) => ({ ...one, ms_mean: mean(times) }));
}

/** Mean levels of the leaves below the root. */
export function meanDepth(counters) {
    let sum = 0;
    for (let depth = 0; depth < 24; ++depth) sum += depth * (counters[`leaves at depth ${depth}`] ?? 0);
    return (sum + 24 * (counters['leaves deeper'] ?? 0)) / counters.leaves;
}
