// SPDX-License-Identifier: MIT
// What a grade asks for and some folders of results do not have, as a plan for bare.sh: scenes to bake, longest first, then runs in
// lines short enough for many cores. `cleave run --dry-run` names what is asked for; times are guessed from the results there are.
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

import { grades, kindOf, pieceWords } from './grades.mjs';
import { distinct, readFolders } from './runs.mjs';

const WIDE_THREADS = 4;
const LINE_S = 45; // a line that would take longer is cut: by method, then by window

const cellLine = /^(\S+): (([\w-]+):(\w+)@(\d+)\+(\d+)) of (\d+) version .*? \| ((\S+)@(\w+)), threads (\d+), (.*?) \| warmup (\d+), repeat (\d+)/;

/** A line of --dry-run: { parts, scene, type, from, frames, objects, method, isa, threads, settings, passes }; null if it names no run. */
export function readCell(line) {
    const found = cellLine.exec(line);
    if (!found) return null;
    const [, parts, , scene, type, from, frames, objects, , method, isa, threads, settings, warmup, repeat] = found;
    return { parts: parts.split(','), scene, type, from: Number(from), frames: Number(frames), objects: Number(objects), method, isa, threads: Number(threads), settings: settings === 'default' ? '' : settings, passes: Number(warmup) + Number(repeat) };
}

const nameOf = cell => [cell.scene, cell.type, cell.from, cell.frames, cell.objects, cell.method, cell.isa, cell.threads, cell.settings].join(' ');

/** A result as such a cell. */
function cellOfRun(run) {
    return { ...run, ...run.window, isa: run.variant, settings: Object.entries(run.settings).map(pair => pair.join('=')).join(',') };
}

function cellsOf(program, one) {
    const words = ['run', ...pieceWords(one), '--dry-run', ...(one.wide ? ['--threads', String(WIDE_THREADS)] : [])];
    const answer = spawnSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
    if (answer.status !== 0) throw new Error(`${program} ${words.join(' ')} failed: ${answer.error?.message ?? answer.stderr}`);
    return answer.stdout.split('\n').map(readCell).filter(Boolean);
}

// ---- what is missing

/** Has a part's ladder ended below that size? Those parts stop after a mean above half a second; the others never do. */
function isAbove(cell, part, have) {
    return /^(001|002|003|004-cubes-others|00[04]-assorted)/.test(part) && have.some(run => run.scene === cell.scene && run.type === cell.type && run.method === cell.method &&
        run.isa === cell.isa && run.threads === cell.threads && run.objects < cell.objects && run.ms_mean > 500 && run.parts.includes(part));
}

/** Cells of which a part has no result and still wants one. */
export function missingCells(cells, have) {
    const known = new Map();
    for (const run of have) known.set(nameOf(run), [...(known.get(nameOf(run)) ?? []), ...run.parts]);
    return cells.filter(cell => cell.parts.some(part => !known.get(nameOf(cell))?.includes(part) && !isAbove(cell, part, have)));
}

/** Seconds a cell takes, from the nearest result: same method, same window if there is one. */
export function guess(cell, have) {
    const narrow = (runs, isLike) => (runs.some(isLike) ? runs.filter(isLike) : runs);
    const kin = have.filter(run => run.scene === cell.scene && run.type === cell.type && run.method === cell.method && run.isa === cell.isa && run.threads === cell.threads);
    const near = narrow(narrow(kin, run => run.settings === cell.settings), run => run.from === cell.from);
    const [best] = [...near].sort((a, b) => Math.abs(Math.log(a.objects / cell.objects)) - Math.abs(Math.log(b.objects / cell.objects)));
    const ms = best ? best.ms_mean * (cell.objects / best.objects) ** 1.15 : 0.0005 * cell.objects;
    return 0.3 + cell.passes * cell.frames * ms / 1000 + cell.frames * cell.objects * 2e-8;
}

// ---- lines

const sum = values => values.reduce((total, value) => total + value, 0);

function groupBy(values, keyOf) {
    const groups = new Map();
    for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
    return [...groups.values()];
}

/** One call of `cleave run`: the cells of one scene, size and set of parts. */
function lineOf(one, cells) {
    const [{ parts, scene, type, objects }] = cells;
    // Sizes and methods are this line's; repeats and the like stay the piece's.
    const kept = one.words.filter((word, index) => !['-n', '-m', '--scenes'].includes(word) && !['-n', '-m', '--scenes'].includes(one.words[index - 1]));
    const isEach = parts.some(part => part.includes('pruning')); // these ask for all instruction sets themselves
    const methods = distinct(cells.map(cell => (['scalar', 'sse2'].includes(cell.isa) && !isEach ? `${cell.method}@${cell.isa}` : cell.method)));
    const windows = distinct(cells.map(cell => `${scene}@${cell.from}+${cell.frames}`));
    const words = [...distinct(parts.map(part => `paper-${part.slice(0, 3)}`)), '--only', parts.join(','), '-n', String(objects), '-m', methods.join(','), '--scenes', windows.join(','), ...kept];
    const name = [one.name, scene, objects, type, methods.length > 2 ? 'several' : methods.join('-'), windows.length > 1 ? 'all' : cells[0].from, parts[0]].join('-').replaceAll('@', '-');
    return { kind: kindOf(one), name, need: `${scene}-${objects}-${type}`, words, parts, scene, type, objects, windows, seconds: sum(cells.map(cell => cell.seconds)) };
}

/** Cells cut into lines of LINE_S or so. */
export function linesOf(one, cells) {
    const groups = groupBy(cells, cell => [cell.parts, cell.scene, cell.type, cell.objects].join(' '));
    const cut = (list, keys) => (keys.length === 0 || sum(list.map(cell => cell.seconds)) <= LINE_S ? [list] : groupBy(list, keys[0]).flatMap(part => cut(part, keys.slice(1))));
    return groups.flatMap(group => cut(group, [cell => cell.method, cell => cell.from])).map(list => lineOf(one, list));
}

// A simulation's seconds per million objects and frames on three threads; what flies is cheaper than what piles up.
const bakeCosts = { freefall: 3, gravity: 5, brownian: 0.8, tower: 70, 'ray-freefall': 1, 'ray-particles': 0.8 };

const startOf = window => Number(/@(\d+)/.exec(window)[1]);
const endOf = window => sum(/@(\d+)\+(\d+)/.exec(window).slice(1).map(Number));

// A window within another is cut from its recording when it is needed.
const widest = windows => windows.filter(window => !windows.some(other => other !== window && startOf(other) <= startOf(window) && endOf(window) <= endOf(other)));

function bakeOf(lines) {
    const [{ need, scene, objects, type }] = lines;
    const parts = distinct(lines.flatMap(line => line.parts));
    const windows = widest(distinct(lines.flatMap(line => line.windows)));
    const last = Math.max(...windows.map(window => endOf(window)));
    const words = [...distinct(parts.map(part => `paper-${part.slice(0, 3)}`)), '--only', parts.join(','), '-n', String(objects), '--scenes', windows.join(',')];
    return { kind: scene === 'tower' ? 'solo' : 'bake', name: need, need: '-', words, type, seconds: (bakeCosts[scene] ?? 3) * (last < 100 ? 0.4 : 1) * last * objects / 1e6 };
}

// Some cells again where nothing else runs, to tell what the other lanes cost: Brownian of each large size that is measured at all.
function aloneOf(lines) {
    const own = lines.filter(line => line.kind === 'run' && line.objects >= 64000 && line.scene === 'brownian' && line.parts.some(part => /^004-cubes/.test(part)));
    return distinct(own.map(line => line.objects)).map(objects => {
        const of = own.filter(line => line.objects === objects);
        const windows = distinct(of.flatMap(line => line.windows));
        const part = of[0].parts.find(name => name.startsWith('004-cubes'));
        return { kind: 'alone', name: `alone-${objects}`, need: of[0].need, seconds: 0, words: ['paper-004', '--only', part, '-n', String(objects), '-m', 'kd-paper,kd,cgal', '--scenes', windows.join(','), '--repeat', '2'] };
    });
}

const text = ({ kind, name, need, words }) => [kind, name, need, words.join(' ')].join('\t');

/** The plan of what is missing; `wanted`: a pattern of the names of lines, to take some alone. Also its guess in seconds, by kind. */
export function missingPlan(program, grade, folders, { wanted = /./, last = /^$/ } = {}) {
    const have = readFolders(folders).raw.filter(run => run.status === 'ok').map(cellOfRun);
    const lines = grades[grade].pieces.flatMap(one => {
        const cells = missingCells(cellsOf(program, one), have).map(cell => ({ ...cell, seconds: guess(cell, have) }));
        return linesOf(one, cells);
    }).map((line, index) => ({ ...line, name: `${line.name}-${index}` })) // two lines may differ in what their names leave out
        .filter(line => wanted.test(line.name)).sort((a, b) => last.test(a.name) - last.test(b.name) || b.seconds - a.seconds);
    const bakes = groupBy(lines, line => line.need).map(bakeOf).sort((a, b) => b.seconds - a.seconds);
    const all = [...bakes, ...aloneOf(lines), ...lines];
    return { lines: all, text: all.map(text).join('\n') + '\n' };
}

// node missing.mjs PROGRAM GRADE FOLDER,… [PATTERN]: the plan to standard output, what it would take to standard error.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
    const [program, grade, folders, wanted] = process.argv.slice(2);
    const plan = missingPlan(program, grade, folders.split(','), wanted ? { wanted: new RegExp(wanted) } : {});
    const seconds = kind => Math.round(sum(plan.lines.filter(line => line.kind === kind).map(line => line.seconds)));
    process.stdout.write(plan.text);
    process.stderr.write(`missing: ${distinct(plan.lines.map(line => line.kind)).map(kind => `${kind} ${plan.lines.filter(line => line.kind === kind).length} lines, ${seconds(kind)} s`).join('; ')}\n`);
}
