// SPDX-License-Identifier: MIT
// From result files to what plots ask for. Everything outside the few fields that `cleave report` has checked
// may be missing or of any type; what is not usable counts as not there.
import { isNumber } from './numbers.js';
import { scalingsOf } from './scaling.js';

// Those first in legends and first in line for the plainest colours; others follow by name.
const ORDER = ['cleave', 'kd', 'kd-incremental', 'kd-complete', 'kd-rebuilt', 'ray-kd', 'sap', 'isap', 'grid', 'grid-sap', 'tracy',
    'bvh-f', 'bvh-d', 'segment-tree', 'brute'];

const text = value => (typeof value === 'string' ? value : '');
const number = value => (isNumber(value) ? value : null);
const numbers = list => (Array.isArray(list) ? list.filter(isNumber) : []);

/** "kd.leaf=256,kd.static=0.6", or an object, as [name, value] by name. */
export function readSettings(settings) {
    if (settings && typeof settings === 'object' && !Array.isArray(settings)) {
        return Object.entries(settings).filter(([, value]) => isNumber(value)).sort();
    }
    return text(settings).split(/[,\s]+/).filter(part => part.includes('=')).map(part => {
        const cut = part.indexOf('=');
        return [part.slice(0, cut), Number(part.slice(cut + 1))];
    }).filter(([, value]) => isNumber(value)).sort();
}

function readCounters(counters) {
    const entries = counters && typeof counters === 'object' ? Object.entries(counters) : [];
    return Object.fromEntries(entries.filter(([, value]) => isNumber(value)));
}

// As the command line writes them: name@isa; what is as usual (the machine's best, one thread) is left out.
function labelOf(run, bestIsa) {
    const parts = [text(run.method)];
    if (text(run.variant) && ![bestIsa, 'plain'].includes(run.variant)) parts[0] += `@${run.variant}`;
    if (run.threads > 1) parts.push(`×${run.threads}`);
    if (isNumber(run.ranks)) parts.push(run.alone === true ? `${run.ranks} alone` : `on ${run.ranks}`);
    for (const [name, value] of readSettings(run.settings)) parts.push(`${name}=${value}`);
    for (const flag of ['sorted', 'events', 'fat']) if (run[flag] === true) parts.push(flag);
    return parts.join(' ');
}

// Older files have zeros for what was not measured: a run without any stage time is of another library.
const isOpaque = run => (number(run.update_ms) ?? 0) === 0 && (number(run.search_ms) ?? 0) === 0;

function readRun(run, file, bestIsa) {
    const type = text(run.type);
    return {
        file,
        scene: text(run.scene),
        type,
        sceneName: type && type !== 'cubes' ? `${text(run.scene)}, ${type}` : text(run.scene),
        objects: number(run.objects) ?? 0,
        frames: number(run.frames) ?? 0,
        method: text(run.method),
        variant: text(run.variant),
        threads: number(run.threads) ?? 1,
        settings: readSettings(run.settings),
        label: labelOf(run, bestIsa),
        status: text(run.status) || 'ok',
        reason: text(run.reason),
        median: number(run.ms_median),
        mean: number(run.ms_mean),
        min: number(run.ms_min),
        p99: number(run.ms_p99),
        update: isOpaque(run) ? null : number(run.update_ms),
        search: isOpaque(run) ? null : number(run.search_ms),
        pairs: number(run.pairs_last),
        hash: run.alone === true ? '' : text(run.pairs_hash), // worlds of their own: no other run has these pairs
        frameMs: numbers(run.frame_ms),
        frameStatic: numbers(run.frame_static),
        tests: isOpaque(run) ? null : number(run.tests),
        memory: number(run.memory_bytes),
        fat: run.fat === true,
        counters: readCounters(run.counters),
        ranks: number(run.ranks), // processes, of a run of cleave-mpi
        isAlone: run.alone === true,
        imbalance: number(run.imbalance),
        ghosts: number(run.ghosts),
        bytesSent: number(run.bytes_sent),
    };
}

// Two files of which one holds more than half of the other's measurements are versions, before and after:
// what stands in both makes two series. Files that merely overlap complete each other.
function tellVersionsApart(runs, files) {
    const keyOf = run => JSON.stringify([run.scene, run.type, run.objects, run.frames, run.label]);
    const keys = files.map((_, index) => new Set(runs.filter(run => run.file === index).map(keyOf)));
    const isVersion = (a, b) => a !== b && [...keys[a]].filter(key => keys[b].has(key)).length > Math.min(keys[a].size, keys[b].size) / 2;
    const versions = files.map((_, a) => files.map((__, b) => b).filter(b => isVersion(a, b)));
    const labels = files.map((_, index) => new Set(runs.filter(run => run.file === index).map(run => run.label)));
    const changed = runs.filter(run => versions[run.file].some(other => labels[other].has(run.label)));
    for (const run of changed) run.label += ` · ${files[run.file].name}`;
}

/** A method of ours, by its name; others are what one wants to see beside it. */
export const isOurs = method => ORDER.includes(method) || /^(kd-paper|gpu)(-|$)/.test(method);

const rank = label => {
    const place = ORDER.indexOf(label.split(/[@ ]/)[0]);
    return place < 0 ? ORDER.length : place;
};
export const byLabel = (a, b) => rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);

const unique = list => [...new Set(list)];

/** What a plot with one point per size shows: times and sizes above zero only, logarithms are coming. */
export const isUsable = run => run.status === 'ok' && run.median > 0 && run.objects > 0;

/** data: { files: [ { name, results } ] }, results as in the contract. */
export function readResults(data) {
    const files = data.files.map(({ name, results }) => ({
        name: String(name),
        version: text(results.cleave),
        machine: results.machine && typeof results.machine === 'object' ? results.machine : {},
        count: results.runs.length,
    }));
    const all = data.files.flatMap(({ results }, index) =>
        results.runs.map(run => readRun(run, index, files[index].machine.isa)));
    tellVersionsApart(all, files);
    for (const run of all) run.file = files[run.file].name;
    const runs = all.filter(isUsable);
    const swept = sweepsOf(runs);
    const sweptRuns = new Set(swept.flatMap(sweep => sweep.series.flatMap(series => series.runs)));
    const plain = runs.filter(run => !sweptRuns.has(run));
    const shown = plain.length > 0 ? plain : runs;
    return {
        files,
        all,
        runs: shown,
        failed: all.filter(run => run.status !== 'ok'),
        labels: unique(shown.map(run => run.label)).sort(byLabel),
        scenes: scenesOf(shown),
        sweeps: swept,
        hashes: hashGroups(all),
        scalings: scalingsOf(all),
    };
}

function scenesOf(runs) {
    return unique(runs.map(run => run.sceneName)).map(name => ({
        name,
        sizes: unique(runs.filter(run => run.sceneName === name).map(run => run.objects)).sort((a, b) => a - b),
    }));
}

/**
 * One run per label of a scene and size, in the order of labels; the one over most frames
 * where there are several.
 */
export function runsAt(model, sceneName, objects) {
    const best = new Map();
    for (const run of model.runs) {
        if (run.sceneName !== sceneName || run.objects !== objects) continue;
        const other = best.get(run.label);
        if (!other || run.frames > other.frames) best.set(run.label, run);
    }
    return [...best.values()].sort((a, b) => byLabel(a.label, b.label));
}

/** [{ name, points: [[objects, value]], frames: [of each point] }] of a scene, for any number of a run. */
export function ladderOf(model, sceneName, valueOf) {
    const scene = model.scenes.find(candidate => candidate.name === sceneName);
    const series = new Map();
    for (const size of scene.sizes) {
        for (const run of runsAt(model, sceneName, size)) {
            const value = valueOf(run);
            if (!(value > 0)) continue;
            if (!series.has(run.label)) series.set(run.label, { points: [], frames: [] });
            series.get(run.label).points.push([size, value]);
            series.get(run.label).frames.push(run.frames);
        }
    }
    return [...series].map(([name, one]) => ({ name, ...one })).sort((a, b) => byLabel(a.name, b.name));
}

/**
 * The largest size that most scenes share, and per label its value in each of them (null where it has none).
 */
export function radarOf(model, valueOf) {
    const counts = new Map();
    for (const scene of model.scenes) for (const size of scene.sizes) counts.set(size, (counts.get(size) ?? 0) + 1);
    const most = Math.max(0, ...counts.values());
    if (most < 3) return null;
    const size = Math.max(...[...counts].filter(([, count]) => count === most).map(([objects]) => objects));
    const scenes = model.scenes.filter(scene => scene.sizes.includes(size)).map(scene => scene.name);
    const rows = new Map(model.labels.map(label => [label, scenes.map(() => null)]));
    scenes.forEach((scene, index) => {
        for (const run of runsAt(model, scene, size)) rows.get(run.label)[index] = valueOf(run);
    });
    return { size, axes: scenes, series: [...rows].filter(([, values]) => values.every(value => value > 0))
        .map(([name, values]) => ({ name, values })) };
}

/**
 * Parameters with at least three values for one method in one scene: { parameter, sceneName, objects, series:
 * [{ name, points, runs }] }.
 */
function sweepsOf(runs) {
    const groups = new Map();
    for (const run of runs) {
        for (const [parameter] of run.settings) {
            const key = JSON.stringify([parameter, run.sceneName, run.objects]);
            if (!groups.has(key)) groups.set(key, new Map());
            const rest = run.settings.filter(([name]) => name !== parameter).map(([name, value]) => `${name}=${value}`);
            const others = [run.label.replace(new RegExp(` ${parameter.replace(/[^a-z0-9]/gi, '\\$&')}=[^ ]+`), ''), run.frames, ...rest];
            const series = groups.get(key);
            const name = JSON.stringify(others);
            if (!series.has(name)) series.set(name, { name: others[0], points: [], runs: [] });
            series.get(name).points.push([run.settings.find(([other]) => other === parameter)[1], run.median]);
            series.get(name).runs.push(run);
        }
    }
    return [...groups].map(([key, series]) => {
        const [parameter, sceneName, objects] = JSON.parse(key);
        const wide = [...series.values()].filter(one => unique(one.points.map(point => point[0])).length >= 3);
        for (const one of wide) one.points.sort((a, b) => a[0] - b[0]);
        return { parameter, sceneName, objects, series: wide.sort((a, b) => byLabel(a.name, b.name)) };
    }).filter(sweep => sweep.series.length > 0);
}

/**
 * Runs over the same boxes must find the same pairs. The same boxes: scene, type, size and frames are
 * equal, and so is the share of static objects in each frame, which tells windows of one scene apart.
 * Grown boxes are not compared.
 */
function hashGroups(runs) {
    const groups = new Map();
    for (const run of runs) {
        if (run.status !== 'ok' || run.fat || !run.hash) continue;
        const key = JSON.stringify([run.scene, run.type, run.objects, run.frames, run.frameStatic]);
        if (!groups.has(key)) groups.set(key, { sceneName: run.sceneName, objects: run.objects, frames: run.frames, hashes: new Map() });
        const hashes = groups.get(key).hashes;
        if (!hashes.has(run.hash)) hashes.set(run.hash, []);
        hashes.get(run.hash).push(run);
    }
    return [...groups.values()].map(group => ({
        ...group,
        hashes: [...group.hashes].map(([hash, list]) => ({ hash, runs: list })).sort((a, b) => b.runs.length - a.runs.length),
        agrees: group.hashes.size === 1,
    }));
}

/**
 * Stages of a run in ms: its counters that end in _ms where it has some, else update and search; and
 * what is left of the median.
 */
export function stagesOf(run) {
    const counted = Object.entries(run.counters).filter(([name, value]) => /[_.]ms$/.test(name) && value >= 0)
        .map(([name, value]) => [name.replace(/[_.]ms$/, ''), value]);
    const plain = [['update', run.update], ['search', run.search]].filter(([, value]) => value >= 0 && value !== null);
    return counted.length > 0 ? counted : plain;
}

/** Counters that are no times. */
export const countersOf = run => Object.fromEntries(Object.entries(run.counters).filter(([name]) => !/[_.]ms$/.test(name)));
