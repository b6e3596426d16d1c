// SPDX-License-Identifier: MIT
// Results of `cleave run` as the pages ask for them: read from one folder or several, windows of a run
// joined, one machine per paper; and the same again from what is stored beside the pages.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { labelOf } from './published.mjs';

// ---- numbers as text

export const sizeText = objects => (objects % 1000 === 0 ? `${objects / 1000}k` : String(objects));

/** Three digits, as many decimals as that takes. */
export function digits(value) {
    if (value === undefined || value === null || Number.isNaN(value)) return '';
    if (value === 0) return '0';
    const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
    return value.toFixed(Math.min(places, 5));
}

export const percent = share => `${(100 * share).toFixed(0)} %`;
export const times = ratio => `${digits(ratio)} ×`;

// ---- windows of a run

// The papers time 1,000 frames; most of our runs are windows spread over them. What each window stands for,
// in frames of the run: the mean of a run is that of its windows, weighted so. Whole runs (8k and 32k) show
// how good that is; README.md has the ratios.

const spread = {
    freefall: [[10, 'start', 40], [75, 'fall', 80], [200, 'pile', 230], [450, 'rest', 650]],
    brownian: [[40, 'early', 90], [140, 'later', 910]],
    gravity: [[30, 'first fall', 60], [90, 'first heap', 60], [150, 'thrown', 440], [200, 'thrown back', 440]],
    'ray-freefall': [[50, 'fall', 100], [300, 'pile', 400], [600, 'settling', 600], [1500, 'rest', 900]],
    'ray-particles': [[50, 'early', 200], [600, 'later', 1800]],
};

/** { name, weight } of the window of a scene that begins at a frame; what is not listed weighs one. */
export function windowOf(scene, from) {
    const found = spread[scene]?.find(([at]) => at === from);
    return found ? { name: found[1], weight: found[2] } : { name: '', weight: 1 };
}

/**
 * "start 10+10, fall 75+10" of [{ from, frames }]: first frame and number of frames, with what the window
 * shows.
 */
export function windowsText(scene, windows) {
    return [...windows].sort((a, b) => a.from - b.from).map(({ from, frames }) => {
        const { name } = windowOf(scene, from);
        return `${name && frames < 100 ? `${name} ` : ''}${from}+${frames}`;
    }).join(', ');
}

/** The first frames of a scene's windows, one for each phase. */
export const phaseStarts = scene => spread[scene].map(([from]) => from);

/**
 * Do the windows of a joined run reach every phase of its scene? Those of 256k and more end before the pile
 * and the rest, so their mean is another one than the paper's.
 */
export const hasAllPhases = ({ scene, windows }) => windows.some(window => window.frames >= 460) || (spread[scene] ?? []).every(([from]) => windows.some(window => window.from === from));

/** Rows of the ladders that lack a phase: no claim can be tested by them. */
export const lacksPhase = run => /-large/.test(run.parts[0]) && !hasAllPhases(run);

/** Rows for people: [scene, window, frames of the run it stands for]. */
export const windowRows = () => Object.entries(spread).flatMap(([scene, windows]) => windows.map(([from, name, weight]) => [scene, `${name}, from frame ${from}`, weight]));

// ---- results

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

/**
 * Without the first frame of each pass, in which a method builds what it keeps: one in 1000 in the papers,
 * one in ten or fewer here.
 */
export const laterFrames = passes => passes.flatMap(pass => (pass.length > 1 ? pass.slice(1) : pass));

/** Frames of the run that a result's key tells: { from, frames }. */
export function windowOfKey(key, frames) {
    const found = /@(\d+)\+(\d+)(?: of |\.aabbs)/.exec(key ?? '');
    return { from: found ? Number(found[1]) : 0, frames };
}

export const machineText = machine => `${machine.cpu}, ${machine.cores} cores, ${machine.isa}, ${machine.compiler}`;

// ---- the load of others

/**
 * A row during which others used more of the processors, or of which that is not known, is measured again.
 */
export const QUIET_MOST = 0.05;

const isLoadKnown = run => run.others !== undefined && run.others !== null;

/** Was the load of others recorded, and small enough both before the row and after it? */
export const isQuiet = run => isLoadKnown(run) && run.others <= QUIET_MOST && (run.others_after ?? 0) <= QUIET_MOST;

// ---- windows

// One statistic for tables, plots and verdicts: the mean over the frames of all repeats, windows weighted by
// what they stand for.
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
        others: Math.max(...sorted.map(run => Math.max(run.others ?? 0, run.others_after ?? 0))),
        isOthersKnown: sorted.every(isLoadKnown),
        dates: distinct(sorted.map(run => run.date).filter(Boolean)).sort(),
        hashes: sorted.map(run => run.pairs_hash),
    };
}

const identityOf = (run, part) => JSON.stringify([part, run.scene, run.type, run.objects, run.method, run.variant, run.threads, run.settings, run.machineName]);

// Windows that begin alike and are of several lengths, from before and after a schedule was changed: the
// longest of each stays.
function withoutShort(group) {
    const longest = new Map();
    for (const run of group) if (!(longest.get(run.window.from)?.window.frames > run.window.frames)) longest.set(run.window.from, run);
    return [...longest.values()];
}

// A window that a run lacks would make its mean another kind of mean: only runs that have all of their
// scene's in that part stay.
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
    // Rows of a file are measured one after the other: the load before the next one is the load after this
    // one.
    return runs.map((run, index) => ({
        ...run, scene: run.scene.replace(/-split$/, ''), others_after: runs[index + 1]?.others, settings: settingsOf(run.settings), window: windowOfKey(run.key, run.frames), parts: run.parts ?? [], machine, machineName: machineText(machine), version: cleave, folder,
    }));
}

const cellOf = run => JSON.stringify([run.scene, run.type, run.objects, run.method, run.variant, run.threads, run.settings, run.window, run.machineName]);

/**
 * Of cells that were measured more than once, by other processes: the slowest over the quickest, ascending.
 */
export function twinRatios(runs) {
    const good = runs.filter(run => run.status === 'ok' && (run.pass_ms ?? []).length > 0);
    const means = [...groupBy(good, cellOf).values()].filter(group => group.length > 1).map(group => group.map(run => mean(laterFrames(run.pass_ms))));
    return means.map(values => Math.max(...values) / Math.min(...values)).sort((a, b) => a - b);
}

/**
 * The same run of two pieces, or of two days, counts once, for the parts of both: the quiet one, then the one
 * with more repeats, *the later of equals.
 */
export function withoutTwins(runs) {
    const known = new Map();
    const passes = run => (run.status === 'ok' ? (run.pass_ms?.length ?? 0) + (isQuiet(run) ? 1000 : 0) : -1);
    for (const run of runs) {
        const key = cellOf(run);
        const first = known.get(key);
        const better = !first || passes(run) >= passes(first) ? run : first;
        known.set(key, { ...better, parts: distinct([...(first?.parts ?? []), ...run.parts]) });
    }
    return [...known.values()];
}

/**
 * One machine per paper: the one with most of its runs. Returns the runs that stay; `left` gets the names of
 * the others.
 */
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

/** The runs of `cleave sim tower` that the k-DOP paper compares. */
export const towers = ['1,1,1', '1,3,1'].flatMap(scale => ['18-dop', 'aabb', 'sphere'].map(volume => ({ volume, scale })));

export const towerFile = ({ volume, scale }) => `tower-${volume}-${scale.replaceAll(',', '')}.csv`;

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

/**
 * Runs over T, ascending, those of the same tree as one: { leaf, run, same: [other T] }. Those of one node
 * are no trees and are left out.
 */
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

// ---- towers of a device

// The k-DOP paper's towers as a device ran them, from the files that scripts/papers/bare.sh towers writes:
// towers.csv, a row of means per tower, and tower_stages.csv (stages.csv there), means of so many frames
// each. Any tower, or all, may be missing.

function readRows(path) {
    if (!existsSync(path)) return [];
    const [head, ...lines] = readFileSync(path, 'utf8').trim().split('\n').map(line => line.split(','));
    return lines.map(line => Object.fromEntries(head.map((name, column) => [name, Number.isNaN(Number(line[column])) ? line[column] : Number(line[column])])));
}

const scaleOf = row => String(row.scale).replaceAll('x', ',');

// Columns as those of a tower's own CSV, so that the same code draws both.
function columnsOf(rows) {
    return { ...Object.fromEntries(Object.keys(rows[0]).map(name => [name, rows.map(row => row[name])])), step: rows.length > 1 ? rows[1].frame - rows[0].frame : rows[0].frame };
}

/**
 * { name, short, means: Map "volume scale" -> row, towers: Map "volume scale" -> columns, missing: ["aabb,
 * scale 1,3,1"] } of a folder; null without one tower.
 */
export function readDevice(folder) {
    const means = new Map(readRows(join(folder, 'towers.csv')).map(row => [`${row.volume} ${scaleOf(row)}`, row]));
    if (means.size === 0) return null;
    const stages = [join(folder, 'tower_stages.csv'), join(folder, 'stages.csv')].map(readRows).find(rows => rows.length > 0) ?? [];
    const keys = towers.map(({ volume, scale }) => `${volume} ${scale}`);
    const found = new Map(keys.map(key => [key, stages.filter(row => `${row.volume} ${scaleOf(row)}` === key)]).filter(([, rows]) => rows.length > 0).map(([key, rows]) => [key, columnsOf(rows)]));
    const machine = join(folder, 'machine.txt');
    const name = existsSync(machine) ? readFileSync(machine, 'utf8').trim() : 'a device';
    return { name, short: name.split(/[,;]/)[0], means, towers: found, missing: keys.filter(key => !means.has(key)) };
}

// ---- stored results

// runs.csv has the mean of every run, measured.json what runs.csv cannot hold: so words, rules and drawings
// can change without measuring. What needs every frame (scatter plots, lines along a run) is not drawn again:
// the files that are there stay.

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

/**
 * What pages are made of, from a folder that has them already: { runs, facts, summaries, methods, notes, … ,
 * isStored: true }.
 */
export function readStored(folder) {
    const [runs, measured] = ['runs.csv', 'measured.json'].map(name => join(folder, name));
    for (const path of [runs, measured]) if (!existsSync(path)) throw new Error(`${path}: not there; measure first`);
    const { summaries, ...found } = JSON.parse(readFileSync(measured, 'utf8'));
    return { ...found, runs: readRuns(readFileSync(runs, 'utf8'), found.gpu), summaries: new Map(Object.entries(summaries)), towers: new Map(), isStored: true };
}

// As many digits as a page shows, and two to spare.
const short = (_, value) => (typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value);

/**
 * What storing and reading makes of numbers: verdicts are of these, so that they are the same from either.
 */
export const asStored = value => JSON.parse(JSON.stringify(value, short));

// Why a method was missing names folders of the machine, and no page shows it.
const withoutReason = ({ reason, ...method }) => method;

/** measured.json: what readStored needs beside runs.csv. */
export const measuredText = ({ grade, facts, summaries, methods, notes, lacking, gpu, towerText, gains }) => `${JSON.stringify({ grade, gpu, towerText, notes, lacking, gains, summaries: Object.fromEntries(summaries), facts, methods: methods.map(withoutReason) }, short, 1)}\n`;

// ---- sizes that were not run

/**
 * Sizes and scenes of every part as its schedule has them, and whether it climbs a ladder: Map part -> {
 * sizes: [objects], scenes: [name], isLadder }.
 */
export function scheduledSizes() {
    const scheduled = new Map();
    const number = text => Number(text.replace('k', '')) * (text.endsWith('k') ? 1000 : 1);
    const list = words => words.flatMap(word => {
        const [from, to] = word.split('..').map(number);
        return to === undefined ? [from] : Array.from({ length: Math.round(Math.log2(to / from)) + 1 }, (_, step) => from * 2 ** step);
    });
    for (const paper of ['000', '001', '002', '003', '004']) {
        let common = { sizes: [], scenes: [], isLadder: false };
        let part = null;
        for (const line of readFileSync(fileURLToPath(new URL(`../../lab/schedules/paper-${paper}.schedule`, import.meta.url)), 'utf8').split('\n')) {
            const [word, ...values] = line.replace(/#.*/, '').trim().split(/\s+/);
            if (word === 'part') {
                [part] = values;
                scheduled.set(part, common);
            }
            const said = word === 'sizes' ? { sizes: list(values) } : word === 'scenes' ? { scenes: distinct(values.map(value => value.replace(/[@:].*/, ''))) } : word === 'ladder' ? { isLadder: Number(values[0]) > 0 } : {};
            if (part) scheduled.set(part, { ...scheduled.get(part), ...said });
            else common = { ...common, ...said };
        }
    }
    return scheduled;
}

// Half a second in some window: there a ladder ends, and larger sizes are none that are missing.
const isBeyond = (all, run, objects) => all.some(other => other.parts.includes(run.parts[0]) && other.method === run.method && other.variant === run.variant && other.scene === run.scene && other.objects <= objects && other.ms_mean > 500);

/** Methods and scenes that a part has at some size and lacks at this one: "bullet-dbvt-f on gravity". */
function lacking(own, objects, isLadder, raw) {
    const nameOf = run => `${run.method}${['scalar', 'sse2'].includes(run.variant) ? ` (${run.variant})` : ''} on ${run.scene}`;
    const there = new Set(own.filter(run => run.objects === objects).map(nameOf));
    return distinct(own.filter(run => !there.has(nameOf(run)) && !(isLadder && isBeyond(raw, run, objects))).map(nameOf));
}

/**
 * Sizes of parts that were not run, and those at which some method is missing: ["004-cubes: 64k, 128k without
 * …"]; `raw`: before windows are joined.
 */
export function leftOut(runs, raw = runs) {
    return [...scheduledSizes()].map(([part, { sizes, scenes, isLadder }]) => {
        const own = runs.filter(run => run.parts[0] === part);
        const absent = scenes.filter(scene => !own.some(run => run.scene === scene)).map(scene => `all on ${scene}`);
        const none = sizes.filter(objects => !own.some(run => run.objects === objects));
        const some = sizes.filter(objects => !none.includes(objects)).map(objects => [objects, [...lacking(own, objects, isLadder, raw), ...absent]]).filter(([, names]) => names.length > 0);
        return [part, [...(none.length > 0 ? [none.map(sizeText).join(', ')] : []), ...some.map(([objects, names]) => `${sizeText(objects)} without ${names.join(', ')}`)]];
    }).filter(([, texts]) => texts.length > 0).map(([part, texts]) => `${part}: ${texts.join(', ')}`);
}

// ---- what several papers ask of the runs

export const scenes = ['freefall', 'brownian', 'gravity'];
export const titles = { freefall: 'Free Fall', brownian: 'Brownian', gravity: 'Gravity' };

/** The three the papers compare with, and all of the KD-tree paper's. */
export const peers = ['bullet-dbvt-f', 'bullet-dbvt-d', 'cgal'];
export const others = [...peers, 'bullet-axissweep', 'tracy'];

/** Runs of the tree on a scene. */
export const kdOf = (runs, part, scene, method = 'kd-paper') => pick(runs, part, { scene, method });

/** The least time of the three at a size; NaN where not all of them ran. */
export function bestOther(runs, part, scene, objects) {
    const found = peers.map(method => pick(runs, part, { scene, method, objects })[0]?.ms_mean).filter(Boolean);
    return found.length === peers.length ? Math.min(...found) : NaN;
}

/** [[share of static objects, complete / incremental]], frame by frame at equal size. */
export function gainPoints(complete, incremental) {
    return complete.flatMap(base => {
        const other = incremental.find(run => run.objects === base.objects);
        return other ? base.frame_ms.map((ms, frame) => [base.frame_static[frame], ms / other.frame_ms[frame]]).filter(([share, gain]) => share !== null && gain > 0) : [];
    });
}

/** Mean gain of the points within a range of shares. */
export function gainBetween(points, low, high) {
    const near = points.filter(([share]) => share >= low && share < high).map(([, gain]) => gain);
    return near.length > 0 ? mean(near) : NaN;
}
