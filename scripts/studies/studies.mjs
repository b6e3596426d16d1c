#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The open studies of the k-DOP paper, as sweeps of `cleave sim tower`: which runs each needs, measuring
// them, and the page.
//
//     node scripts/studies/studies.mjs --cleave build/cleave --grade short --work build/studies --out
//         bench/papers/studies [--pages] [--also FOLDER,…]
//
// --also: towers measured elsewhere, with a machine.json that names their grade too, and in `note` what else
// is to be known of their times. A sweep is told from the largest towers of which it has all. --plan prints
// what the folders of --also lack of a grade, for scripts/papers/bare.sh on a machine with many cores, and
// does nothing else.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { groupChart, lineChart, writePage } from '../papers/page.mjs';
import { citationOf } from '../papers/published.mjs';
import { digits, percent, times } from '../papers/runs.mjs';

// ---- sweeps

/**
 * How much is run. `repeats`: a run is the same each time, so each frame counts by the least of its times.
 * `seconds`: about what a pass of one takes.
 */
export const grades = {
    tiny: { about: 'a handful of bodies, to test the machinery; its numbers mean nothing', bodies: 5, frames: 40, repeats: 1, seconds: 1 },
    short: { about: '24 bodies, 450 frames: all land within these', bodies: 24, frames: 450, repeats: 2, seconds: 1 },
    middle: { about: '128 bodies, 2000 frames: all land within these', bodies: 128, frames: 2000, repeats: 2, seconds: 8 },
    full: { about: 'the size of the paper: 512 bodies, 7000 frames', bodies: 512, frames: 7000, repeats: 3, seconds: 130 },
};

const run = words => ({ words, key: words.join(' ') });

const periods = [1, 2, 5, 10, 20, 30, 50, 100, 0];
const kinds = ['aabb', '6-dop', '14-dop', '18-dop', '26-dop', 'obb', 'sphere'];
const faceCounts = [8, 14, 20, 32, 50, 80, 128, 200];
const stretches = [1, 2, 3, 4, 6, 8, 10];
const vertexCounts = [6, 12, 24, 34, 52, 102, 202, 402];
const softnesses = [0, 0.3, 0.6, 0.9, 0.97];

const byPeriod = (volume, period) => run(['--volume', volume, '--pca', String(period)]);
const byKind = (volume, stretch) => run(['--volume', volume, '--scale', `1,${stretch},1`]);
const byFaces = (volume, faces) => run(['--volume', volume, '--faces', String(faces)]);
const bySupport = (support, vertices) => run(['--volume', '18-dop', '--faces', String(2 * vertices - 4), '--support', support]);
const bySoftness = (match, softness) => run(['--volume', '18-dop', '--match', match, ...(match === 'rigid' ? [] : ['--softness', String(softness)])]);

/** Series of points: [{ name, points: [[x, run]] }]. */
const grid = (names, xs, make) => names.map(name => ({ name, points: xs.map(x => [x, make(name, x)]) }));

export const sweeps = {
    pca: grid(['aabb', '18-dop'], periods, byPeriod),
    volumes: [1, 3].map(stretch => ({ name: `scale (1, ${stretch}, 1)`, points: kinds.map(kind => [kind, byKind(kind, stretch)]) })),
    faces: grid(['aabb', '18-dop', 'sphere'], faceCounts, byFaces),
    stretch: grid(['aabb', '18-dop', '26-dop', 'obb', 'sphere'], stretches, byKind),
    support: grid(['scan', 'climb'], vertexCounts, bySupport),
    soft: [{ name: 'rigid', points: [[0, bySoftness('rigid', 0)]] }, ...grid(['linear', 'quadratic'], softnesses, bySoftness)],
};

function runsOf(names) {
    const runs = new Map();
    for (const name of names) for (const one of sweeps[name]) for (const [, wanted] of one.points) runs.set(wanted.key, wanted);
    return [...runs.values()];
}

/** Every run once, however many sweeps ask for it. */
export const allRuns = () => runsOf(Object.keys(sweeps));

/** The same, the sweeps first that need the fewest: with part of the time some sweeps are whole. */
export const runsInOrder = () => runsOf(['volumes', 'pca', 'soft', 'stretch', 'faces', 'support']);

// ---- towers

// Runs towers and makes one row of numbers of each: means over the frames, of times the means of each frame's
// least.

export const fileOf = (wanted, repeat) => `${wanted.key.replaceAll('--', '').replaceAll(/[^a-z0-9.-]+/g, '_')}.${repeat}.csv`;

const wordsOf = (wanted, grade) => ['tower', ...wanted.words, '--bodies', String(grade.bodies), '--frames', String(grade.frames), '-q'];

/**
 * Lines of a plan for scripts/papers/bare.sh: of each run that FOLDERS lack one pass, sweep after sweep, and
 * the seconds it takes at least.
 */
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

/**
 * Of every number column its mean; of times each frame's least over the repeats. Counts must not differ
 * between repeats.
 */
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

// ---- the page

// Per sweep a table, a figure and three sentences, whose every number and word of comparison comes from the
// rows.

/** The rows of a sweep: [{ name, rows: [{ x, ...row }] }]. */
export const rowsOf = (name, towers) => sweeps[name].map(one => ({ name: one.name, rows: one.points.map(([x, wanted]) => ({ x, ...towers.get(wanted.key) })) }));

const least = (rows, of) => rows.reduce((best, row) => (of(row) < of(best) ? row : best));
const most = (rows, of) => least(rows, row => -of(row));
const at = (rows, x) => rows.find(row => row.x === x);
const figure = (series, of) => series.map(one => ({ name: one.name, points: one.rows.map(row => [row.x, of(row)]) }));
const verb = (ratio, more, less) => (ratio >= 1 ? `${times(ratio)} ${more}` : `${times(1 / ratio)} ${less}`);
// Below this two times are one, on a machine with neighbours.
const SAME = 0.05;
const compare = (ratio, quicker, slower) => (Math.abs(ratio - 1) < SAME ? 'as long, within 5 %' : ratio > 1 ? `${percent(ratio - 1)} ${slower}` : `${percent(1 - ratio)} ${quicker}`);
const often = count => (count === 1 ? 'once' : `${count} times`);
const share = part => `${digits(100 * part)} %`;
const periodText = period => (period === 0 ? 'never' : period === 1 ? 'every frame' : `every ${period} frames`);

function pcaBlocks(towers) {
    const series = rowsOf('pca', towers);
    const chosen = series.map(one => ({ name: one.name, rows: one.rows.filter(row => row.x > 0) }));
    const sentences = chosen.map(one => {
        const best = least(one.rows, row => row.sweep_ms);
        const never = at(series.find(other => other.name === one.name).rows, 0);
        return `With ${one.name} the sweep is quickest with a choice ${periodText(best.x)} (${digits(best.sweep_ms)} ms), ${compare(best.sweep_ms / never.sweep_ms, 'quicker', 'slower')} compared with staying on y.`;
    });
    const [box] = chosen;
    const first = at(box.rows, 1);
    return [
        { heading: 'How often the axis is worth choosing' },
        { table: [['axis chosen', ...series.flatMap(one => [`${one.name}: sweep, ms`, 'of it the choice, ms', 'changes'])], ...series[0].rows.map((row, index) => [periodText(row.x), ...series.flatMap(one => {
        const own = one.rows[index];
        return [digits(own.sweep_ms), digits(own.axis_ms), own.turns];
    })])], left: 1 },
        { figure: 'pca', alt: 'Sweep and prune against the frames between two choices of its axis', draw: size => lineChart({ ...size, title: 'Sweep and prune by how often the axis is chosen', x: 'frames from one choice to the next', value: 'ms per frame', logX: true, series: [...figure(chosen, row => row.sweep_ms), ...figure(chosen, row => row.axis_ms).map(one => ({ ...one, name: `${one.name}: the choice` }))] }), height: 320 },
        `${sentences.join(' ')} A choice every frame costs ${percent(first.axis_ms / first.sweep_ms)} of the sweep with boxes and changes the axis ${often(first.turns)}, ${periodText(30)} (the paper's) ${percent(at(box.rows, 30).axis_ms / at(box.rows, 30).sweep_ms)} and ${often(at(box.rows, 30).turns)}.`,
    ];
}

function volumesBlocks(towers) {
    const series = rowsOf('volumes', towers);
    const sentences = series.map(one => {
        const best = least(one.rows, row => row.false_positives);
        const worst = most(one.rows, row => row.false_positives);
        const paper = at(one.rows, '18-dop');
        return `At ${one.name} ${best.x} lets the fewest pairs through that do not touch (${digits(best.false_positives)} per frame, 18-DOPs ${digits(paper.false_positives)}, boxes ${digits(at(one.rows, 'aabb').false_positives)}), ${worst.x} the most (${digits(worst.false_positives)}).`;
    });
    const cost = row => row.volume_ms + row.sweep_ms;
    const [plain] = series;
    const cheap = least(plain.rows, cost);
    // The same pairs are the same work for GJK: what these differ by is the machine's.
    const apart = series.map(one => at(one.rows, 'aabb').narrow_ms / at(one.rows, '6-dop').narrow_ms).map(ratio => Math.max(ratio, 1 / ratio) - 1);
    return [
        { heading: 'k-DOPs of 6, 14, 18 and 26 planes, and turned boxes' },
        ...series.map(one => ({ table: [[one.name, 'candidate pairs', 'false positives', 'share of the candidates', 'volumes, ms', 'sweep, ms', 'GJK + EPA, ms', 'frame, ms'], ...one.rows.map(row => [row.x, digits(row.candidate_pairs), digits(row.false_positives), percent(row.false_positives / row.candidate_pairs), digits(row.volume_ms), digits(row.sweep_ms), digits(row.narrow_ms), digits(row.frame_ms)])] })),
        { figure: 'volumes', alt: 'False positives by kind of volume', draw: size => groupChart({ ...size, title: 'Pairs that do not touch, per frame', categories: series[0].rows.map(row => row.x), series: series.map(one => ({ name: one.name, values: one.rows.map(row => Number(row.false_positives.toPrecision(4))) })), value: 'false positives', log: false }), height: 340 },
        `${sentences.join(' ')} To build and sweep, ${cheap.x} is the cheapest (${digits(cost(cheap))} ms per frame at ${plain.name}); 26-DOPs take ${times(cost(at(plain.rows, '26-dop')) / cost(cheap))} as long, turned boxes ${times(cost(at(plain.rows, 'obb')) / cost(cheap))}, of which the sweep with its separating axes is ${percent(at(plain.rows, 'obb').sweep_ms / cost(at(plain.rows, 'obb')))}.`,
        `Boxes and 6-DOPs let the same pairs through, so GJK and EPA do the same for both; here their times are ${apart.map(percent).join(' and ')} apart, which is what times of two runs can be told by.`,
    ];
}

function facesBlocks(towers) {
    const series = rowsOf('faces', towers);
    const ends = one => [one.rows[0], one.rows.at(-1)];
    const growth = (one, of) => of(ends(one)[1]) / of(ends(one)[0]);
    const [few, many] = ends(series[0]);
    const sphere = series.find(one => one.name === 'sphere');
    const dop = series.find(one => one.name === '18-dop');
    const boxes = series.find(one => one.name === 'aabb');
    return [
        { heading: 'Faces per body' },
        { table: [['faces', ...series.flatMap(one => [`${one.name}: volumes, ms`, 'frame, ms', 'false positives'])], ...series[0].rows.map((row, index) => [row.x, ...series.flatMap(one => {
        const own = one.rows[index];
        return [digits(own.volume_ms), digits(own.frame_ms), digits(own.false_positives)];
    })])] },
        { figure: 'faces', alt: 'Building volumes by the number of faces', draw: size => lineChart({ ...size, title: 'Building the volumes by faces per body', x: 'faces', value: 'ms per frame', logX: true, logY: true, series: figure(series, row => row.volume_ms) }), height: 320 },
        `From ${few.x} to ${many.x} faces building takes ${times(growth(boxes, row => row.volume_ms))} as long for boxes and ${times(growth(dop, row => row.volume_ms))} for 18-DOPs, which look at every vertex, and ${times(growth(sphere, row => row.volume_ms))} for spheres, which look at none. `
        + `The whole frame takes ${times(growth(boxes, row => row.frame_ms))} as long with boxes: GJK and EPA are ${percent(many.narrow_ms / many.frame_ms)} of it at ${many.x} faces, ${percent(few.narrow_ms / few.frame_ms)} at ${few.x}. `
        + `At ${many.x} faces, nearly balls, spheres have ${verb(at(sphere.rows, many.x).false_positives / at(dop.rows, many.x).false_positives, 'as many false positives as', 'fewer false positives than')} 18-DOPs; at ${few.x} ${verb(at(sphere.rows, few.x).false_positives / at(dop.rows, few.x).false_positives, 'as many', 'fewer')}.`,
    ];
}

function stretchBlocks(towers) {
    const series = rowsOf('stretch', towers);
    const order = x => series.map(one => [one.name, at(one.rows, x)]).sort((a, b) => a[1].false_positives - b[1].false_positives).map(([name]) => name);
    const last = series[0].rows.at(-1).x;
    const sphere = series.find(one => one.name === 'sphere');
    const lost = sphere.rows.find(row => row.false_positives > 2 * at(series.find(one => one.name === '18-dop').rows, row.x).false_positives);
    const quickest = least(series.map(one => ({ name: one.name, ...at(one.rows, last) })), row => row.frame_ms);
    return [
        { heading: 'Stretch' },
        { table: [['stretch', ...series.flatMap(one => [`${one.name}: false positives`, 'frame, ms'])], ...series[0].rows.map((row, index) => [row.x, ...series.flatMap(one => [digits(one.rows[index].false_positives), digits(one.rows[index].frame_ms)])])] },
        { figure: 'stretch', alt: 'False positives by stretch', draw: size => lineChart({ ...size, title: 'Pairs that do not touch by stretch (1, S, 1)', x: 'stretch S', value: 'false positives per frame', logX: true, logY: true, series: figure(series, row => Math.max(row.false_positives, 0.01)) }), height: 340 },
        `Fewest false positives first: ${order(1).join(', ')} at stretch 1, ${order(last).join(', ')} at ${last}. ${lost ? `Spheres have more than twice the false positives of 18-DOPs from stretch ${lost.x} on, and ${times(at(sphere.rows, last).false_positives / at(series.find(one => one.name === '18-dop').rows, last).false_positives)} as many at ${last}` : `Spheres stay within twice the false positives of 18-DOPs up to stretch ${last}`}. The quickest frame at stretch ${last} is that with ${quickest.name} (${digits(quickest.frame_ms)} ms, boxes ${digits(at(series[0].rows, last).frame_ms)} ms).`,
    ];
}

function supportBlocks(towers) {
    const [scan, climb] = rowsOf('support', towers);
    const gain = scan.rows.map((row, index) => ({ x: row.x, ratio: row.narrow_ms / climb.rows[index].narrow_ms }));
    const turned = gain.find((row, index) => gain.slice(index).every(later => later.ratio > 1));
    const [few, many] = [gain[0], gain.at(-1)];
    return [
        { heading: 'Climbing against scanning for the farthest vertex' },
        { table: [['vertices', 'scan: GJK + EPA, ms', 'climb: GJK + EPA, ms', 'scan / climb'], ...scan.rows.map((row, index) => [row.x, digits(row.narrow_ms), digits(climb.rows[index].narrow_ms), digits(row.narrow_ms / climb.rows[index].narrow_ms)])] },
        { figure: 'support', alt: 'GJK and EPA by vertices and search', draw: size => lineChart({ ...size, title: 'GJK + EPA by vertices per body', x: 'vertices', value: 'ms per frame', logX: true, logY: true, series: figure([scan, climb], row => row.narrow_ms) }), height: 320 },
        `${turned ? `Climbing is the quicker search from ${turned.x} vertices on` : `Scanning is the quicker search at every number of vertices measured`}; \`auto\` scans up to 32. With ${few.x} vertices scanning takes ${digits(few.ratio)} of the time of climbing, with ${many.x} ${digits(many.ratio)}. From ${few.x} to ${many.x} vertices GJK and EPA take ${times(scan.rows.at(-1).narrow_ms / scan.rows[0].narrow_ms)} as long by scanning and ${times(climb.rows.at(-1).narrow_ms / climb.rows[0].narrow_ms)} by climbing.`,
    ];
}

function softBlocks(towers) {
    const [rigid, linear, quadratic] = rowsOf('soft', towers);
    const [stiff] = rigid.rows;
    const softest = one => one.rows.at(-1);
    const middle = one => at(one.rows, 0.6);
    return [
        { heading: 'Soft bodies' },
        { table: [['mode', 'softness', 'shape matching, ms', 'deformation, mean', 'deepest, mean', 'candidate pairs', 'frame, ms'], ...[rigid, linear, quadratic].flatMap(one => one.rows.map(row => [one.name, one === rigid ? '' : row.x, digits(row.match_ms), digits(row.deformation_mean), digits(row.deepest), digits(row.candidate_pairs), digits(row.frame_ms)]))], left: 1 },
        { figure: 'soft', alt: 'Deformation by softness', draw: size => lineChart({ ...size, title: 'Deformation by softness', x: 'softness', value: 'share of the body\'s size', series: figure([linear, quadratic], row => row.deformation_mean) }), height: 320 },
        `At softness ${softest(linear).x} the vertex that is farthest from its rigid place is ${share(softest(linear).deformation_mean)} of the body's size from it with linear and ${share(softest(quadratic).deformation_mean)} with quadratic matching, on average; at ${middle(linear).x} it is ${share(middle(linear).deformation_mean)} and ${share(middle(quadratic).deformation_mean)}. Per candidate pair shape matching takes ${times(middle(linear).match_ms / middle(linear).candidate_pairs / (stiff.match_ms / stiff.candidate_pairs))} the rigid time with linear and ${times(middle(quadratic).match_ms / middle(quadratic).candidate_pairs / (stiff.match_ms / stiff.candidate_pairs))} with quadratic terms. The deepest contact left after the rounds is ${digits(stiff.deepest)} on average with rigid bodies, ${digits(softest(linear).deepest)} and ${digits(softest(quadratic).deepest)} with the softest linear and quadratic ones.`,
    ];
}

/** The first of the sources that has every tower of a sweep; the last one has all. */
export const sourceOf = (name, sources) => sources.find(({ towers }) => sweeps[name].every(one => one.points.every(([, wanted]) => towers.has(wanted.key))));

const isBusy = machine => machine.load > machine.cores;

function fromText({ grade, machine, towers }, name) {
    const rows = sweeps[name].flatMap(one => one.points.map(([, wanted]) => towers.get(wanted.key)));
    const passes = Math.min(...rows.map(row => row.passes ?? grade.repeats));
    const landed = rows.map(row => row.landed);
    return `<sub>\`cleave sim tower … --bodies ${grade.bodies} --frames ${grade.frames}\`: ${grade.bodies} bodies, ${grade.frames} frames, of which ${Math.min(...landed) === grade.bodies ? 'all' : `${Math.min(...landed)} to ${Math.max(...landed)}`} landed; ${passes === 1 ? 'one pass' : `${passes} passes, of times each frame's least`}; ${machine.cpu}, ${machine.cores} cores, load ${machine.load.toFixed(1)} when it began${machine.note ? `, ${machine.note}` : ''}${isBusy(machine) ? ': a busy machine, so read ratios above 5 %' : ''}.</sub>`;
}

/** One sentence per series that larger towers have whole, beside those the table is from. */
function largerPca(sources) {
    const used = sourceOf('pca', sources);
    return sources.filter(one => one.grade.bodies > used.grade.bodies).map(({ grade, machine, towers }) => {
        const whole = sweeps.pca.filter(one => one.points.every(([, wanted]) => towers.has(wanted.key))).map(one => ({ name: one.name, rows: one.points.map(([x, wanted]) => ({ x, ...towers.get(wanted.key) })) }));
        const sentences = whole.map(one => {
            const best = least(one.rows.filter(row => row.x > 0), row => row.sweep_ms);
            const [never, paper] = [at(one.rows, 0), at(one.rows, 30)];
            return `with ${one.name} the sweep takes ${digits(best.sweep_ms)} ms with a choice ${periodText(best.x)}, where it is quickest, ${digits(paper.sweep_ms)} ms ${periodText(30)} and ${digits(never.sweep_ms)} ms on y; the axis changes ${often(paper.turns)}`;
        });
        return sentences.length > 0 && `At ${grade.bodies} bodies and ${grade.frames} frames ${sentences.join('; ')} (${machine.cpu}, ${machine.cores} cores).`;
    });
}

/**
 * What a sweep lacks of the paper's size, in words: its towers are in the plan, and no
 * number stands in for them.
 */
export function partText(name, sources) {
    const wanted = [...new Set(sweeps[name].flatMap(one => one.points.map(([, run]) => run.key)))];
    const used = sourceOf(name, sources).grade.bodies;
    const count = bodies => wanted.filter(key => sources.find(one => one.grade.bodies === bodies)?.towers.has(key)).length;
    const some = sources.map(one => one.grade.bodies).filter(bodies => bodies > used && count(bodies) > 0);
    const text = some.map(bodies => `Of ${bodies} bodies there are ${count(bodies)} of the ${wanted.length} towers it needs: towers.csv has them.`);
    const { bodies } = grades.full;
    return [...text, used < bodies ? `At the paper's size, ${bodies} bodies, it is not measured yet; the plan has its towers.` : ''].filter(Boolean).join(' ');
}

/** What a tower takes, and all of them. */
export function durationText({ grade, machine, towers }) {
    const seconds = [...towers.values()].map(row => row.frames * row.frame_ms / 1000).sort((a, b) => a - b);
    const whole = allRuns().length * seconds.reduce((sum, value) => sum + value, 0) / seconds.length;
    return `${towers.size} towers of ${grade.bodies} bodies took ${digits(seconds[0])} to ${digits(seconds[seconds.length - 1])} s each on one core (${machine.cpu}, ${machine.cores} cores)${towers.size < allRuns().length ? `; all ${allRuns().length} would take about ${whole >= 3600 ? `${digits(whole / 3600)} hours` : `${digits(whole / 60)} minutes`} of it` : ''}.`;
}

const writers = { pca: pcaBlocks, volumes: volumesBlocks, faces: facesBlocks, stretch: stretchBlocks, support: supportBlocks, soft: softBlocks };

export function writePages(out, sources) {
    const smallest = sources[sources.length - 1].grade;
    const blocksOf = ([name, write]) => {
        const source = sourceOf(name, sources);
        return [...write(source.towers), fromText(source, name), partText(name, sources), ...(name === 'pca' ? largerPca(sources) : [])];
    };
    writePage(out, {
        name: 'README',
        title: 'What the k-DOP paper leaves open',
        blocks: [
            `Made by \`make studies\`; do not edit. The tower of ${citationOf('003')} once more, with what its author names as open or did not try; [docs/physics.md](../../../docs/physics.md) tells what the flags mean. Numbers are means over all frames, and the sentences are made from them. \`make studies STUDIES=${smallest.name}\` makes the towers of ${smallest.bodies} bodies${sources.length > 1 ? '; where a sweep has all of its larger towers, it is told from these' : ''}. Below each sweep stands what it is from.`,
            ...Object.entries(writers).flatMap(blocksOf),
            { heading: 'What they take' },
            { list: sources.map(durationText) },
        ],
    });
}

// A tower of an older program may lack a column.
const shown = value => (value === undefined ? '' : Number.isInteger(value) ? value : Number(value.toPrecision(6)));

// ---- stored towers

const MACHINES = 'machines.json';

/** Beside towers.csv: which machine made the towers of which size. */
export const machinesText = sources => `${JSON.stringify(sources.map(({ grade, machine: { cpu, cores, load, note } }) => ({ grade: grade.name, cpu, cores, load, ...(note ? { note } : {}) })), null, 1)}\n`;

/** The sources of a page from what is stored beside it: words and drawings can change without measuring. */
export function readStoredTowers(folder) {
    for (const name of ['towers.csv', MACHINES]) if (!existsSync(join(folder, name))) throw new Error(`${join(folder, name)} is missing; measure first`);
    const [head, ...lines] = readFileSync(join(folder, 'towers.csv'), 'utf8').trim().split('\n');
    const names = head.split(',').slice(1);
    const rows = lines.map(line => /^"([^"]*)",(.*)$/.exec(line)).map(([, key, rest]) => ({ key, ...Object.fromEntries(rest.split(',').map((text, column) => [names[column], text === '' ? undefined : Number(text)])) }));
    return JSON.parse(readFileSync(join(folder, MACHINES), 'utf8')).map(({ grade, ...machine }) => ({
        grade: { name: grade, ...grades[grade] }, machine, towers: new Map(rows.filter(row => row.bodies === grades[grade].bodies).map(({ key, bodies, ...row }) => [key, row])),
    }));
}

/** The towers that the page is from, and those beyond: one line each. */
export function csvOf(sources) {
    const names = Object.keys([...sources[sources.length - 1].towers.values()][0]).filter(name => name !== 'passes');
    const line = (key, row, { bodies, repeats }) => [`"${key}"`, bodies, row.passes ?? repeats, ...names.map(name => shown(row[name]))].join(',');
    return `${[['flags', 'bodies', 'passes', ...names].join(','), ...sources.flatMap(({ grade, towers }) => [...towers].map(([key, row]) => line(key, row, grade)))].join('\n')}\n`;
}

// ----

const say = text => process.stderr.write(`studies: ${text}\n`);

function readWords() {
    const { values } = parseArgs({ options: {
        cleave: { type: 'string', default: 'build/cleave' }, grade: { type: 'string', default: 'short' }, work: { type: 'string', default: 'build/studies' },
        out: { type: 'string', default: 'bench/papers/studies' }, pages: { type: 'boolean', default: false }, stored: { type: 'boolean', default: false }, plan: { type: 'boolean', default: false }, also: { type: 'string', default: '' },
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
    const { cleave, grade: name, work, out, pages, stored, plan, also } = readWords();
    const grade = { name, ...grades[name] };
    if (plan) {
        process.stdout.write(planOf(grade, also.split(',').filter(Boolean)));
        return;
    }
    if (stored) {
        writePages(out, readStoredTowers(out));
        say(`wrote ${join(out, 'README.md')}`);
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
    writeFileSync(join(out, MACHINES), machinesText(sources));
    say(`wrote ${join(out, 'README.md')}`);
}

// Imported by its tests, the file measures nothing.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
    try {
        main();
    } catch (error) {
        say(error.message);
        process.exitCode = 2;
    }
}
