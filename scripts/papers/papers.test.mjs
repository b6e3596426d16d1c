// SPDX-License-Identifier: MIT
// The machinery of `make papers`: its arithmetic, its published numbers, and one whole round on a few hundred
// objects.
import assert from 'node:assert/strict';
import test from 'node:test';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { light, METHODS, stylesFor } from '../../report/src/look.js';
import { shortText, table1Rows } from './broadmark.mjs';
import { aroundTurn, paper as kDop, thin } from './k_dop.mjs';
import { depthRow, leafNotes } from './kd_tree.mjs';
import { claimsCsv, movingAverage, provenance, verdictOf, verdicts, writePage, writePaper } from './page.mjs';
import { inOrder, judge, judgeFacts, quietText } from './papers.mjs';
import { ink, missingFigures, operatorBetween, readPng, smallTreeSvg, transferSteps, writePng, writeSheet } from './pictures.mjs';
import { alone, bakes, clockOf, cuts, cutSchedule, grades, guess, linesOf, missingCells, planText, readCell, runWords, waitOf, whyNot, withoutMissing } from './plan.mjs';
import { fileOf, pairsOf003, papers as paperNames, table1Of004, table2Of001, table2Of004, timesOf003 } from './published.mjs';
import { digits, gainBetween, gainPoints, hasAllPhases, isBareRoot, isQuiet, isTree, joinRuns, lacksPhase, laterFrames, leftOut, meanDepth, mergeTrees, methodsOf, oneMachine, onlyGpus, pick, readDevice, readFolders, readRuns, settingsOf, sizeText, towerFile, towers, twinRatios, variation, windowOf, windowOfKey, windowsText, withoutTwins } from './runs.mjs';

const here = name => fileURLToPath(new URL(name, import.meta.url));
const schedules = ['paper-000', 'paper-001', 'paper-002', 'paper-003', 'paper-004'];
const partsOf = name => [...readFileSync(here(`../../lab/schedules/${name}.schedule`), 'utf8').matchAll(/^part\s+(\S+)/gm)].map(match => match[1]);

test('every part that is asked for is in its schedule, and every part of a schedule is asked for', () => {
    for (const { pieces } of Object.values(grades)) {
        for (const one of pieces) for (const part of one.parts) assert.ok(one.schedules.flatMap(partsOf).includes(part), part);
    }
    const asked = new Set(grades.full.pieces.flatMap(one => one.parts));
    for (const part of schedules.flatMap(partsOf)) assert.ok(asked.has(part), part);
    // Less than full leaves out large sizes alone.
    const some = new Set(grades.hour.pieces.flatMap(one => one.parts));
    for (const part of schedules.flatMap(partsOf)) assert.ok(some.has(part) || part.includes('-large'), part);
});

test('a piece is one call, in at most ten minutes, with a look at the others', () => {
    const [cubes] = grades.hour.pieces;
    const words = runWords(cubes, 'w', 2);
    assert.ok(words.includes('1k,2k,4k,8k') && words.includes(join('w', 'cubes-small.json')) && words.includes('--resume'));
    assert.equal(words[words.indexOf('--budget') + 1], '540');
    assert.equal(words[words.indexOf('--others') + 1], '5');
    const dbvt = grades.full.pieces.find(one => one.name === 'cubes-128k-dbvt-f');
    assert.equal(withoutMissing(dbvt, [{ name: 'bullet-dbvt-f', available: false }]), null);
    assert.deepEqual(withoutMissing(dbvt, [{ name: 'bullet-dbvt-f', available: true }]).words, dbvt.words);
    assert.equal(withoutMissing(cubes, []), cubes);
    const wide = grades.full.pieces.find(one => one.wide);
    assert.deepEqual(runWords(wide, 'w', 16).slice(-2), ['--threads', '4']);
    for (const { about, pieces, sim } of Object.values(grades)) {
        assert.ok(about && sim.bodies > 0);
        assert.equal(new Set(pieces.map(one => one.name)).size, pieces.length);
    }
    assert.equal(new Set(towers.map(towerFile)).size, 6);
});

test('a budget binds every call, and a machine without a GPU leaves its piece out', () => {
    let now = 0;
    const clock = clockOf(100, () => now);
    now = 98_000;
    assert.equal(clock.left(), 2);
    assert.ok(!clock.isUp());
    const [cubes] = grades.hour.pieces;
    const words = runWords(cubes, 'w', 2, 60, clock.left());
    assert.equal(words[words.indexOf('--budget') + 1], '2');
    assert.equal(words[words.indexOf('--others-wait') + 1], '2'); // waiting for others is no way around it
    now = 99_500;
    assert.ok(clock.isUp());
    assert.equal(clockOf(0).left(), Infinity);
    assert.equal(waitOf(60, 3600, 20), 18); // all together a tenth of the hour
    assert.deepEqual([waitOf(5, 3600, 20), waitOf(60, 0, 20)], [5, 60]);
    assert.equal(grades.hour.budget, 3600);
    // Time that is up costs a size, not a part of each: what grows comes after the towers.
    assert.ok(grades.hour.pieces.filter(one => !one.late).every(one => !/16k|32k/.test(one.words.join()) || one.gpu));

    const gpu = grades.hour.pieces.find(one => one.gpu);
    assert.equal(whyNot(gpu, { methods: [], devices: [{ cpu: true, unusable: null }] }), 'no GPU here');
    assert.equal(whyNot(gpu, { methods: [], devices: [{ cpu: false, unusable: 'too old' }] }), 'no GPU here');
    assert.equal(whyNot(gpu, { methods: [], devices: [{ cpu: false, unusable: null }] }), null);
});

test('what is missing is a plan of short lines with their scenes', () => {
    const line = '004-cubes,001-others: freefall:cubes@10+10 of 64000 version 1, seed 1, all frames | kd-paper@avx2, threads 1, kd.leaf=256,kd.static=0.55 | warmup 1, repeat 2, rounds 1, pin no | 0.1.0-1563152e';
    const cell = readCell(line);
    assert.deepEqual(cell, { parts: ['004-cubes', '001-others'], scene: 'freefall', type: 'cubes', from: 10, frames: 10, objects: 64000, method: 'kd-paper', isa: 'avx2', threads: 1, settings: 'kd.leaf=256,kd.static=0.55', passes: 3 });
    assert.equal(readCell('7 runs, about 29 s on one core, roughly'), null);
    // Another part that has the run does not help this one; a ladder that ended below it does, where the part
    // has one.
    assert.equal(missingCells([cell], [{ ...cell, parts: ['004-cubes'] }]).length, 1);
    assert.equal(missingCells([cell], [{ ...cell, parts: ['004-cubes', '001-others', '000-cubes'] }]).length, 0);
    assert.equal(missingCells([cell], [{ ...cell, objects: 32000, ms_mean: 501 }]).length, 1);
    assert.equal(missingCells([{ ...cell, parts: ['001-others'] }], [{ ...cell, objects: 32000, ms_mean: 501 }]).length, 0);
    assert.equal(missingCells([cell], [{ ...cell, objects: 32000, ms_mean: 501 }, { ...cell, parts: ['004-cubes'] }]).length, 0);
    assert.equal(missingCells([cell], [{ ...cell, objects: 32000, ms_mean: 499 }]).length, 1);
    assert.ok(guess(cell, [{ ...cell, ms_mean: 10 }]) < guess(cell, [{ ...cell, ms_mean: 100 }]));
    const one = grades.full.pieces.find(piece => piece.name === 'cubes-64k-ours');
    const cells = ['kd-paper', 'kd'].flatMap(method => [10, 75].map(from => ({ ...cell, method, from })));
    const lines = seconds => linesOf(one, cells.map(each => ({ ...each, seconds })));
    assert.deepEqual(lines(1).map(each => each.words.join(' ')), ['paper-004 paper-001 --only 004-cubes,001-others -n 64000 -m kd-paper,kd --scenes freefall@10+10,freefall@75+10 --repeat 2']);
    assert.equal(lines(20).length, 2); // by method
    assert.equal(lines(40).length, 4); // and by window
    assert.ok(lines(40).every(each => each.kind === 'run' && each.need === 'freefall-64000-cubes'));
    assert.equal(new Set(lines(40).map(each => each.name)).size, 4);
});

test('sizes that were not run are named, and methods that lack one', () => {
    const of = (objects, method, members = {}) => ({ parts: ['004-assorted'], scene: 'gravity', objects, method, variant: 'plain', ms_mean: 1, ...members });
    const text = runs => leftOut(runs).find(one => one.startsWith('004-assorted'));
    assert.equal(text([]), '004-assorted: 1k, 2k, 4k, 8k, 16k, 32k');
    const sizes = [1, 2, 4, 8, 16, 32].map(size => 1000 * size);
    const kd = sizes.flatMap(size => ['freefall', 'brownian', 'gravity'].map(scene => of(size, 'kd', { scene })));
    assert.equal(text([...kd, ...sizes.slice(0, 5).map(size => of(size, 'cgal'))]), '004-assorted: 32k without cgal on gravity');
    assert.equal(text(kd.filter(run => run.scene !== 'brownian' && run.objects > 8000)), '004-assorted: 1k, 2k, 4k, 8k, 16k without all on brownian, 32k without all on brownian');
    assert.equal(text([...kd, ...sizes.slice(0, 5).map(size => of(size, 'cgal', { ms_mean: size === 16000 ? 501 : 1 }))]), undefined); // its ladder ended
});

test('a plan for a bare machine names only bakes it has', () => {
    const baked = new Set(bakes.map(one => one.name));
    for (const one of [...grades.full.pieces, ...alone]) for (const need of one.needs) assert.ok(baked.has(need), `${one.name} needs ${need}`);
    const lines = planText('full').trim().split('\n').map(line => line.split('\t'));
    assert.ok(lines.every(line => line.length === 4 && /^(bake|cut|alone|sim|run|wide|gpu)$/.test(line[0])));
    assert.equal(lines.filter(line => line[0] === 'sim').length, 6);
    assert.deepEqual(lines.filter(line => ['run', 'wide', 'gpu'].includes(line[0]) && !line[1].startsWith('cut-')).map(line => line[1]), grades.full.pieces.map(one => one.name));
    assert.ok(lines.every(line => !/"|'/.test(line[3]))); // the shell splits at spaces
});

test('256k to 1024k are cut from smaller runs in windows that reach every phase', () => {
    assert.equal(cuts.length, 4 * 10);
    assert.deepEqual(cuts.find(cut => cut.name === 'freefall-256k@450+10').words, ['freefall', '-n', '32k', '--split', '--from', '450', '--frames', '10']);
    assert.ok(cuts.every(cut => Number(cut.words[2].slice(0, -1)) * 8 === Number(cut.size.slice(0, -1))));
    for (const scene of ['freefall', 'brownian', 'gravity']) assert.ok(hasAllPhases({ scene, windows: cuts.filter(cut => cut.scene === scene && cut.size === '1024k').map(cut => windowOfKey(`cuts/${cut.name}.aabbs (1 bytes)`, 10)) }), scene);
    const lines = planText('full').trim().split('\n').map(line => line.split('\t'));
    const baked = new Set(lines.filter(line => line[0] === 'cut').map(line => line[1]));
    const runs = lines.filter(line => line[1].startsWith('cut-'));
    assert.equal(runs.length, 4 * 3 * 7);
    for (const line of runs) for (const need of line[2].split(',')) assert.ok(baked.has(need), need);
    // Every file and every part that a line names is in the schedule, and Table II has its 768k.
    const schedule = cutSchedule();
    for (const [, , , words] of runs) {
        const [, , part, , files] = words.split(' ');
        assert.match(schedule, new RegExp(`^part +${part}$`, 'm'));
        for (const file of files.split(',')) assert.ok(schedule.includes(` ${file}`), file);
    }
    assert.ok(runs.some(line => line[1] === 'cut-001-others-large-gravity-768k'));
    assert.ok(partsOf('paper-001').length > 0 && !/\+[34]\b/.test(readFileSync(here('../../lab/schedules/paper-001.schedule'), 'utf8'))); // windows of ten frames
});

// Does as it is told: a bake and a run leave a line, a run its results, a simulation its file.
const standIn = `#!/bin/sh
echo "$*" >>"$CALLS"
out=""
while [ $# -gt 0 ]; do
    case $1 in --json | --csv | -o) out=$2 ;; esac
    shift
done
[ -z "$out" ] || echo '{}' >"$out" 2>/dev/null
`;

test('a bare machine bakes, then measures, and does nothing twice', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bare-'));
    const plan = [
        ['solo', 'S', '-', 'paper-003 -n 8'], ['cut', 'fall@10+3', '-', 'freefall -n 100 --split'], ['run', 'cut-run', 'fall@10+3', 'cuts.schedule -m bvh'], ['bake', 'A', '-', 'paper-004 -n 1k'], ['alone', 'alone-1', 'A', 'paper-004 -m kd'], ['run', 'late', 'S', 'paper-003 -m sap'],
        ['run', 'never', 'B', 'paper-004 -m grid'], ['run', 'first', 'A', 'paper-004 -m cgal'], ['wide', 'two', 'A', 'paper-001 -m brute'], ['gpu', 'card', 'A', 'paper-001 -m gpu'], ['sim', 'tower.csv', '-', 'tower --bodies 5', '5'],
        ['sim', 'long.csv', '-', 'tower --bodies 512', '99'], // takes longer than there is
    ];
    writeFileSync(join(folder, 'plan.txt'), `${plan.map(line => line.join('\t')).join('\n')}\n`);
    writeFileSync(join(folder, 'cleave'), standIn, { mode: 0o755 });
    const calls = join(folder, 'calls');
    const go = () => spawnSync('sh', [here('bare.sh'), 'run', '30', folder, join(folder, 'out')], { encoding: 'utf8', env: { ...process.env, CORES: '0', CALLS: calls } });
    const first = go();
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stderr, /10 of 12 lines of the plan are done/); // B is not being baked: its line is for another call, as is the long one
    const lines = readFileSync(calls, 'utf8').trim().split('\n').slice(1); // after `methods`
    const at = pattern => lines.findIndex(line => pattern.test(line));
    assert.ok(at(/-n 1k --bake/) >= 0 && at(/-n 1k --bake/) < at(/-m cgal/), lines.join('; '));
    assert.match(lines[at(/-n 8 --bake/)], /--bake-threads 1 /);
    assert.ok(at(/^gen freefall -n 100 --split/) >= 0 && at(/^gen/) < at(/-m bvh/), lines.join('; '));
    assert.match(lines[at(/-m brute/)], /--threads 1/);
    assert.equal(at(/-m kd /), lines.length - 1); // by itself, at the end
    assert.ok(readdirSync(join(folder, 'out')).includes('papers.tar.gz'));
    assert.equal(go().status, 0);
    assert.equal(readFileSync(calls, 'utf8').trim().split('\n').length, lines.length + 2); // `methods` again, and nothing else
    rmSync(folder, { recursive: true });
    rmSync(`${folder}-work`, { recursive: true });
});

test('of two threads of a core one is measured on', () => {
    const functions = readFileSync(here('bare.sh'), 'utf8').replace(/\ncase \$\{1:-\} in[^]*$/, '\n');
    const apart = twin => spawnSync('sh', ['-c', `${functions}\nare_twins() { [ "$2" = ${twin} ]; }\ncores_apart 0 1 2 3 4 5 6 7 | tr '\\n' ' '`], { encoding: 'utf8' }).stdout.trim();
    assert.equal(apart(1), '0 2 4 6');
    assert.equal(apart(4), '0 1 2 3');
    assert.equal(apart(9), '0 1 2 3 4 5 6 7');
});

// A run as `cleave run` tells it.
const raw = (members = {}) => ({
    status: 'ok', parts: ['004-cubes'], scene: 'freefall', type: 'cubes', objects: 1000, frames: 2, method: 'kd-paper', variant: 'avx2', threads: 1, settings: {}, machine: {}, machineName: 'one', counters: { nodes: 3 },
    pass_ms: [[9, 1], [9, 3]], frame_ms: [9, 1], frame_static: [0, 1], ms_min: 1, window: { from: 10, frames: 2 }, others: 0, date: '2026-01-01', ...members,
});

test('windows count by what they stand for, and a method that lacks one is left out', () => {
    const start = raw();
    const rest = raw({ window: { from: 450, frames: 2 }, pass_ms: [[9, 10], [9, 10]] });
    const [joined] = joinRuns([start, rest]);
    assert.equal(joined.ms_mean, (40 * 2 + 650 * 10) / 690);
    assert.deepEqual(joined.windows, [{ from: 10, frames: 2 }, { from: 450, frames: 2 }]);
    assert.equal(joined.repeats, 2);
    assert.ok(joined.repeat_cv > 0 && joined.cv > 0);
    assert.deepEqual(joinRuns([start, rest, raw({ method: 'cgal' })]).map(run => run.method), ['kd-paper']);
    assert.deepEqual(joinRuns([start, rest, raw({ objects: 2000 })]).map(run => run.objects), [1000]);
    // Of a window's lengths, from before and after a schedule was changed, the longest counts, whichever came
    // first.
    const long = raw({ window: { from: 10, frames: 3 }, pass_ms: [[9, 5, 5], [9, 5, 5]] });
    for (const runs of [[start, long], [long, start]]) assert.deepEqual(joinRuns(runs).map(run => [run.ms_mean, run.windows]), [[5, [{ from: 10, frames: 3 }]]]);
    assert.deepEqual(windowOf('freefall', 450), { name: 'rest', weight: 650 });
    assert.equal(windowsText('freefall', joined.windows), 'start 10+2, rest 450+2');
    assert.deepEqual(windowOfKey('freefall:cubes@75+10 of 8000 version 1, seed 1, all frames | kd', 10), { from: 75, frames: 10 });
});

test('results of several runs are brought together, one machine per paper', () => {
    const other = { method: 'cgal' };
    const twins = withoutTwins([raw(), raw({ parts: ['000-cubes'], pass_ms: [[1]] }), raw({ ...other, status: 'timeout' }), raw(other)]);
    assert.deepEqual(twins.map(run => [run.status, run.parts, run.pass_ms.length]), [['ok', ['004-cubes', '000-cubes'], 2], ['ok', ['004-cubes'], 2]]);
    assert.equal(withoutTwins([raw(), raw({ window: { from: 75, frames: 2 } }), raw({ machineName: 'two' })]).length, 3);
    const left = [];
    const kept = oneMachine([raw(), raw(), raw({ machineName: 'two' }), raw({ machineName: 'two', parts: ['004-cubes', '001-others'] })], left);
    assert.deepEqual(kept.map(run => [run.machineName, run.parts]), [['one', ['004-cubes']], ['one', ['004-cubes']], ['two', ['001-others']]]);
    assert.deepEqual(left, ['KD-tree: two']);
});

test('cells measured twice tell what a process is worth, and a processor is no GPU', () => {
    const once = raw({ pass_ms: [[9, 1], [9, 1]] });
    assert.deepEqual(twinRatios([once]), []);
    assert.deepEqual(twinRatios([once, { ...once, pass_ms: [[1, 3], [1, 3]] }, raw({ objects: 2000 })]), [3]);
    const devices = [{ name: 'pthread', cpu: true }, { name: 'H200', cpu: false }];
    assert.deepEqual(onlyGpus([raw(), raw({ device: 'pthread' }), raw({ device: 'H200' })], devices).map(run => run.device), [undefined, 'H200']);
});

test('Table I has the paper\'s row once and ours beside it', () => {
    const rows = table1Rows([{ name: 'cgal', available: true, time: 'O(n log^3 n + k)', space: 'O(n)', remarks: 'stateless', source: 'CGAL' }, { name: 'segment-tree', available: true, threads: true }]);
    assert.ok(rows.every(row => row.length === 14));
    const at = rows.findIndex(row => row[0] === 'CGAL');
    assert.deepEqual(rows[at].slice(4, 8), ['stateless', 'O(n log³ n)', 'O(n)', '`cgal`']);
    assert.deepEqual(rows[at].slice(10, 13), ['stateless', 'O(n log^3 n + k)', 'O(n)']);
    assert.deepEqual([rows[at + 1][0], rows[at + 1][7]], ['', '`segment-tree`']);
    assert.equal(rows.find(row => row[0] === 'BF')[7], 'not here');
    // Columns to be compared have windows of one length, or the page tells.
    const of = (part, frames) => joinRuns([raw({ parts: [part], window: { from: 10, frames } })])[0];
    assert.equal(shortText([of('001-others', 10), of('001-threads', 10)]), '');
    assert.match(shortText([of('001-others', 10), of('001-threads', 3)]), /windows of 3 frames where those of one thread have 10/);
});

test('a method that some machine had is not told as missing', () => {
    const [first, second] = [[['cgal', true], ['kd', true]], [['cgal', false], ['kd', true], ['fcl', false]]].map((rows, at) => ({ methods: rows.map(([name, available]) => ({ name, available, at })) }));
    assert.deepEqual(methodsOf([first, second]).map(({ name, available, at }) => [name, available, at]), [['cgal', true, 0], ['kd', true, 1], ['fcl', false, 1]]);
});

test('a tree of one node is no tree, and equal trees are one point', () => {
    const of = (leaf, nodes, ms) => ({ ...joinRuns([raw({ settings: { 'kd.leaf': leaf }, counters: { nodes, leaves: (nodes + 1) / 2, height: 1, 'objects in leaves': 9 } })])[0], ms_mean: ms });
    const runs = [of(16, 31, 5), of(512, 3, 2), of(1024, 3, 4), of(2048, 1, 1)];
    assert.deepEqual(runs.map(isTree), [true, true, true, false]);
    assert.deepEqual(runs.map(isBareRoot), [false, false, false, true]);
    assert.deepEqual(mergeTrees(runs, 'kd.leaf').map(({ leaf, same, ms_mean: ms }) => [leaf, same, ms]), [[16, [], 5], [512, [1024], 3]]);
    assert.match(leafNotes(runs, 'kd.leaf'), /T = 2048 make one node, which is no tree.*T = 512 and 1024 make the same tree/);
    assert.match(provenance(runs), /trees: `kd-paper` 3.00 to 31.0 nodes; \*\*one node, no tree\*\*: `kd-paper` at 1k/);
});

test('a busy machine is said in words', () => {
    assert.match(provenance(joinRuns([raw({ others: 0.4 })])), /\*\*on a busy machine\*\*: around 1 of 1 of these runs others used more than 5.0 % of the processors, 40 % at most/);
    assert.match(provenance(joinRuns([raw({ others: 0.02 })])), /2026-01-01; 2 repeats.*others used at most 2.0 %/);
    assert.match(provenance(joinRuns([raw({ others: undefined })])), /was not measured/);
    // One that was busy is told though others were not measured, and which methods it concerns.
    assert.match(provenance(joinRuns([raw({ others: undefined }), raw({ method: 'cgal', others: 0.4 })])), /around 1 of 2 of these runs \(cgal\) others used more than 5.0 %.*of some it was not measured/);
});

test('a row that is not quiet is measured again, and the quiet one counts', () => {
    assert.deepEqual([{ others: 0.05 }, { others: 0.06 }, {}, { others: null }, { others: 0, others_after: 0.06 }, { others: 0, others_after: 0.05 }].map(isQuiet), [true, false, false, false, false, true]);
    // The load before the next row of a file is the load after a row.
    const folder = mkdtempSync(join(tmpdir(), 'quiet-'));
    const row = (method, others, ms) => ({ ...raw({ method, others, pass_ms: [[9, ms], [9, ms]] }), settings: '', key: 'freefall:cubes@10+2 of 1000 version 1' });
    const write = (name, rows) => writeFileSync(join(folder, name), JSON.stringify({ machine: { cpu: 'one', cores: 2, isa: 'avx2', compiler: 'gcc' }, cleave: '0.1.0', runs: rows }));
    writeFileSync(join(folder, 'methods.json'), JSON.stringify({ methods: [] }));
    write('first.json', [row('kd', 0, 1), row('cgal', 0.3, 1), row('sap', 0, 1)]);
    assert.deepEqual(readFolders([folder]).raw.map(run => [run.method, isQuiet(run)]), [['kd', false], ['cgal', false], ['sap', true]]);
    // The quiet row of two wins, whichever came first and whatever its time.
    write('second.json', [row('kd', 0, 5), row('sap', 0.2, 7)]);
    const { runs } = readFolders([folder]);
    assert.equal(runs.length, 3);
    assert.equal(runs.find(run => run.method === 'sap').ms_mean, 1);
    write('third.json', [row('kd', 0, 5)]);
    assert.equal(readFolders([folder]).runs.find(run => run.method === 'kd').ms_mean, 5);
    assert.match(quietText([{ isOthersKnown: false }, { isOthersKnown: true, others: 0.2 }, { isOthersKnown: true, others: 0 }]), /^Of the 3 rows .* 1 have no record .* around 1 it was more than 5 %/);
    assert.equal(quietText([{ isOthersKnown: true, others: 0 }]), '');
    rmSync(folder, { recursive: true });
});

test('rows whose windows lack a phase test no claim', () => {
    const all = [10, 75, 200, 450].map(from => ({ from, frames: 10 }));
    const row = (part, windows, scene = 'freefall') => ({ parts: [part], scene, windows });
    assert.deepEqual([row('004-cubes-large', all), row('004-cubes-large', all.slice(0, 2)), row('004-levels', all.slice(0, 1)), row('001-gpu-large', [{ from: 0, frames: 1000 }]), row('004-cubes-large', [{ from: 40, frames: 4 }], 'brownian')].map(lacksPhase), [false, true, false, false, true]);
    const ladder = windows => ['freefall', 'brownian', 'gravity'].flatMap(scene => [['kd-paper', 1], ['bullet-dbvt-f', 2], ['bullet-dbvt-d', 2], ['cgal', 2]].map(([method, ms]) => ({ ...raw(), parts: ['004-cubes-large'], scene, method, objects: 1024000, ms_mean: ms, repeat_cv: 0, windows: windows[scene] })));
    const phases = { freefall: all, brownian: [40, 140].map(from => ({ from, frames: 10 })), gravity: [30, 90, 150, 200].map(from => ({ from, frames: 10 })) };
    const innermost = windows => judge({ runs: ladder(windows), towers: new Map() }).find(claim => claim.id === 'innermost');
    assert.equal(innermost(phases).verdict, 'holds');
    const cut = innermost({ ...phases, freefall: all.slice(0, 2) });
    assert.equal(cut.verdict, 'cannot be tested');
    assert.match(cut.why, /windows end before the pile and the rest/);
});

test('verdicts follow the numbers', () => {
    const tower = () => ({ candidate_pairs: [1], floor_pairs: [0], frame_ms: [1], false_positives: [1], narrow_ms: [1], match_ms: [1], volume_ms: [1], sweep_ms: [1], project_ms: [1], sort_ms: [1], prune_ms: [1], landed: [1], axis: ['y'], frame: [1] });
    const variants = (complete, incremental, adaptive, nodes) => ['freefall', 'brownian', 'gravity'].flatMap(scene => [['-rebuilt', 9], ['-complete', complete], ['-incremental', incremental], ['', adaptive]]
        .map(([kind, ms]) => raw({ scene, method: `kd-paper${kind}`, parts: ['004-variants'], pass_ms: [[ms, ms]], counters: { nodes } })));
    const verdict = (runs, id) => judge({ runs: joinRuns(runs), towers: new Map([['18-dop 1,1,1', tower()]]) }).find(claim => claim.paper === '004' && claim.id === id);
    assert.equal(verdict(variants(2, 3, 2.1, 5), 'rebuilt-slowest').verdict, 'holds');
    assert.equal(verdict(variants(2, 3, 2.1, 5), 'adaptive-close').verdict, 'holds');
    assert.equal(verdict(variants(2, 3, 4, 5), 'adaptive-close').verdict, 'does not hold');
    // Complete is quicker than incremental on all three, which suits two of them.
    const part = verdict(variants(2, 3, 2.1, 5), 'each-its-goal');
    assert.deepEqual([part.verdict, part.passed, part.count], ['holds in part', 2, 3]);
    assert.match(verdict(variants(2, 3, 4, 5), 'adaptive-close').ours, /2.00 × on Free Fall/);
    // The sizes that the tree and all GPU columns have decide, and the reason names them.
    const gpus = (objects, tree, card) => [raw({ objects, parts: ['001-others'], pass_ms: [[tree, tree]] }), ...['gpu-sap', 'gpu-lbvh', 'gpu-grid'].map(method => raw({ objects, method, parts: ['001-gpu'], device: 'Card 7', pass_ms: [[card, card]] }))];
    const ofGpu = runs => judge({ runs: joinRuns(runs), towers: new Map() }).find(claim => claim.id === 'kd-gpu');
    const mixed = ofGpu([...gpus(1000, 1, 2), ...gpus(8000, 4, 3), raw({ objects: 32000, parts: ['001-others'], pass_ms: [[9, 9]] })]);
    assert.equal(mixed.verdict, 'does not hold');
    assert.match(mixed.why, /ours on the Card 7; of 1k, 8k the tree is ahead at 1k$/);
    assert.match(ofGpu(gpus(8000, 4, 3)).why, /of 8k the tree is ahead at none$/);
    assert.equal(ofGpu(gpus(8000, 2, 3)).verdict, 'holds');
    assert.equal(ofGpu([raw({ parts: ['001-others'] })]).verdict, 'cannot be tested');
    // Nor do repeats that differ by half: the machine was busy.
    const noisy = variants(2, 3, 2.1, 5).map(run => ({ ...run, pass_ms: [...run.pass_ms, run.pass_ms[0].map(ms => 3 * ms)] }));
    assert.match(verdict(noisy, 'rebuilt-slowest').why, /repeats vary by 50 % in the middle/);
    // Runs of one node decide nothing about trees.
    assert.equal(verdict(variants(2, 3, 2.1, 1), 'rebuilt-slowest').verdict, 'cannot be tested');
    // What does not hold is explained, or it is said that it is not.
    assert.match(verdict(variants(1, 9, 4, 5), 'adaptive-close').why, /^not explained/);
    const claims = judge({ runs: [], towers: new Map() });
    assert.ok(claims.every(claim => /were not done|were not run|no device|is smaller|are smaller|windows end before/.test(claim.why)), 'a reason that was there before the runs');
    assert.ok(claims.length > 50 && claims.every(claim => claim.verdict === 'cannot be tested' && claim.why !== '' && claim.rule && claim.where));
    assert.equal(new Set(claims.map(claim => `${claim.paper} ${claim.id}`)).size, claims.length);
    assert.equal(claimsCsv(claims).trim().split('\n').length, claims.length + 1);
});

const allRules = inOrder.flatMap(({ number, rules }) => rules.map(rule => ({ paper: number, ...rule })));
const ruleOf = (paper, id) => allRules.find(rule => rule.paper === paper && rule.id === id);

test('every rule holds on the paper\'s own numbers', () => {
    const known = allRules.filter(rule => rule.published);
    assert.ok(known.length >= 45, String(known.length));
    for (const rule of known) {
        const { verdict, failed } = verdictOf(rule, rule.published());
        assert.equal(verdict, 'holds', `${rule.paper} ${rule.id}: ${failed.join(', ')} of ${rule.show(rule.published())}`);
        assert.ok(rule.publishedFrom, `${rule.paper} ${rule.id}: where it stands`);
        assert.doesNotMatch(rule.show(rule.published()), /NaN|undefined|Infinity/, rule.id);
    }
    // Every number that a text of 004, 000 or 003 gives and that a run can have is one of them.
    for (const id of ['batch-mean', 'batch-small', 'levels', 'complete-below-50', 'same-at-all-sizes', 'twice']) assert.ok(ruleOf('004', id).published, id);
    for (const id of ['loss-below-45', 'gain-most', 'two-to-three', 'variation-calm', 'variation-rest']) assert.ok(ruleOf('000', id).published, id);
    for (const id of ['pairs-size', 'pairs-sphere', 'dop-scaled', 'sweep-turn', 'prune-turn', 'build-order', 'landed', 'axis', 'sap-1.5ms']) assert.ok(ruleOf('003', id).published, id);
});

test('a number the paper gives is not shown by one far below or far above', () => {
    const scaled = (values, factor) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value * factor]));
    const plain = [['004', 'levels'], ['004', 'complete-below-50'], ['004', 'equal-50-60'], ['004', 'batch-mean'], ['004', 'batch-small'], ['004', 'twice'], ['000', 'loss-below-45'], ['000', 'gain-most'], ['000', 'two-to-three'], ['000', 'variation-rest'], ['003', 'landed'], ['003', 'axis'], ['003', 'sweep-turn'], ['003', 'prune-turn'], ['002', 'taller-faster']];
    for (const [paper, id] of plain) {
        const rule = ruleOf(paper, id);
        for (const factor of [0.2, 5]) assert.equal(verdictOf(rule, { values: scaled(rule.published().values, factor) }).verdict, 'does not hold', `${paper} ${id} × ${factor}`);
    }
    // Those of which one number of several has to move.
    const pairs = (dop, sphere) => ({ values: { '18-dop': dop, aabb: 1152, sphere } });
    for (const found of [pairs(1740, 1762), pairs(300, 1762)]) assert.equal(verdictOf(ruleOf('003', 'pairs-sphere'), found).verdict, 'does not hold');
    const times = (aabb, sphere) => ({ values: { '18-dop': 38, aabb, sphere } });
    for (const found of [times(38.1, 38.2), times(80, 90)]) assert.equal(verdictOf(ruleOf('003', 'dop-scaled'), found).verdict, 'does not hold');
    for (const found of [{ values: { '18-dop': 20, aabb: 20, sphere: 21 } }, { values: { '18-dop': 40, aabb: 40, sphere: 20 } }]) assert.equal(verdictOf(ruleOf('003', 'sphere-unscaled'), found).verdict, 'does not hold');
    for (const factor of [0.5, 2]) assert.equal(verdictOf(ruleOf('003', 'pairs-size'), { plain: scaled(ruleOf('003', 'pairs-size').published().plain, factor), stretched: scaled(ruleOf('003', 'pairs-size').published().stretched, factor) }).verdict, 'does not hold');
    for (const [least, most] of [[0.2, 1.5], [1.4, 5]]) assert.equal(verdictOf(ruleOf('003', 'sap-1.5ms'), { values: { least, mean: 1.44, most } }).verdict, 'does not hold');
    for (const id of ['kd-gravity', 'kd-brownian']) {
        for (const factor of [0.2, 5]) {
            const { size, rows } = ruleOf('001', id).published();
            assert.equal(verdictOf(ruleOf('001', id), { size, rows: rows.map(row => (row.method === 'kd-paper' ? { ...row, ms: factor * row.ms } : row)) }).verdict, 'does not hold', `${id} × ${factor}`);
        }
    }
    const gravity = factor => ({ size: 1, ms: { 'kd-paper': { 'Free Fall': 10, Brownian: 10, Gravity: 10 * factor } } });
    for (const factor of [0.2, 8]) assert.equal(verdictOf(ruleOf('004', 'small-preference'), gravity(factor)).verdict, 'does not hold');
    // "23 %" is not shown by 594 %, nor "two to three times" by eight.
    assert.equal(verdictOf(ruleOf('003', 'prune-turn'), { values: { 'at the turn': 5.94 } }).verdict, 'does not hold');
    assert.equal(verdictOf(ruleOf('004', 'twice'), { values: { all: 8.25 } }).verdict, 'does not hold');
});

const stored = here('../../bench/papers');
const committed = name => readFileSync(join(stored, name), 'utf8');

test('the stored pages are what --stored makes of the stored results', () => {
    const folder = mkdtempSync(join(tmpdir(), 'papers-'));
    for (const name of readdirSync(stored).filter(one => /\.(svg|png|csv|json)$/.test(one) && one !== 'claims.csv')) copyFileSync(join(stored, name), join(folder, name));
    const answer = papers('--stored', '--out', folder, '--cleave', '/no/such/program');
    assert.equal(answer.status, 0, answer.stderr);
    for (const name of ['README.md', 'claims.csv', ...[...paperNames.keys()].map(fileOf)]) assert.equal(readFileSync(join(folder, name), 'utf8'), committed(name), `${name}: run node scripts/papers/papers.mjs --stored`);
    rmSync(join(folder, 'measured.json'));
    const lacking = papers('--stored', '--out', folder);
    assert.equal(lacking.status, 2);
    assert.match(lacking.stderr, /measured.json: not there; measure first/);
    rmSync(folder, { recursive: true });
});

test('stored verdicts are four, follow stored numbers, and name causes of the same method', () => {
    const { facts } = JSON.parse(committed('measured.json'));
    const claims = judgeFacts(facts);
    assert.ok(claims.every(claim => verdicts.includes(claim.verdict)));
    assert.ok(['holds', 'holds in part', 'does not hold'].every(verdict => claims.some(claim => claim.verdict === verdict)));
    for (const { id, why, verdict, ours } of claims) {
        assert.equal(why === '', verdict === 'holds', id);
        assert.doesNotMatch(why, /strips|`kd`/, `${id}: another method's reason`);
        assert.doesNotMatch(`${ours} ${why}`, /NaN|undefined|Infinity/, id);
    }
    // What runs.csv has is what the facts say.
    const runs = readRuns(committed('runs.csv'));
    const again = judge({ runs, towers: new Map() }).filter(claim => claim.verdict !== 'cannot be tested');
    assert.ok(again.length > 30, String(again.length));
    for (const claim of again) assert.equal(claim.verdict, claims.find(other => other.paper === claim.paper && other.id === claim.id).verdict, `${claim.paper} ${claim.id}`);
});

// Towers as scripts/papers/bare.sh towers leaves them, of these volumes, with sweep-and-prune of
// so many ms along the run.
function deviceFolder(volumes, sweeps) {
    const folder = mkdtempSync(join(tmpdir(), 'device-'));
    const names = ['candidate_pairs', 'false_positives', 'floor_pairs', 'volume_ms', 'sweep_ms', 'narrow_ms', 'match_ms', 'frame_ms', 'axis_ms', 'project_ms', 'sort_ms', 'prune_ms'];
    const stages = volumes.flatMap(volume => sweeps.map((sweep, index) => [volume, '1x1x1', 100 * (index + 1), ...names.map(name => (name === 'sweep_ms' ? sweep : 1))].join()));
    writeFileSync(join(folder, 'tower_stages.csv'), `${['volume,scale,frame', ...names].join()}\n${stages.join('\n')}\n`);
    writeFileSync(join(folder, 'towers.csv'), `volume,scale,frames,pairs_and_floor,pairs_and_floor_most,false_positives,frame_ms,volume_ms,project_ms,sort_ms,prune_ms\n${volumes.map(volume => `${volume},1x1x1,700,7,9,3,12.5,1,1,3,1`).join('\n')}\n`);
    writeFileSync(join(folder, 'machine.txt'), 'Card 7, driver 1; 2026-01-01\n');
    return folder;
}

test('towers of a device stand beside the CPU\'s, and those it lacks are named', () => {
    const folder = deviceFolder(['18-dop', 'sphere'], [1, 1, 1, 1.1]);
    const device = readDevice(folder);
    assert.deepEqual([device.short, device.towers.get('sphere 1,1,1').step, device.missing], ['Card 7', 100, ['aabb 1,1,1', '18-dop 1,3,1', 'aabb 1,3,1', 'sphere 1,3,1']]);
    const frames = Array.from({ length: 400 }, (_, index) => index + 1);
    const tower = Object.fromEntries(['candidate_pairs', 'floor_pairs', 'frame_ms', 'false_positives', 'narrow_ms', 'match_ms', 'volume_ms', 'sweep_ms', 'axis_ms', 'project_ms', 'sort_ms', 'prune_ms', 'landed'].map(name => [name, frames.map(() => 2)]));
    const all = new Map(towers.map(({ volume, scale }) => [`${volume} ${scale}`, { ...tower, frame: frames, axis: frames.map(frame => (frame <= 200 ? 'y' : 'x')) }]));
    const data = { towers: all, runs: [], device };
    const claims = judge(data).filter(claim => claim.paper === '003');
    const constant = own => judge({ ...data, device: own }).find(claim => claim.id === 'sap-1.5ms');
    assert.equal(constant(device).verdict, 'holds');
    const other = deviceFolder(['18-dop'], [1, 1, 1, 2]);
    assert.equal(constant(readDevice(other)).verdict, 'does not hold');
    assert.match(constant(readDevice(other)).why, /pruning along y/);
    assert.equal(constant(null).verdict, 'cannot be tested');
    const scaled = times => judge({ ...data, device: { ...device, means: new Map(times.map(([volume, ms]) => [`${volume} 1,3,1`, { frame_ms: ms }])) } }).find(claim => claim.id === 'dop-scaled');
    assert.match(scaled([['18-dop', 10], ['aabb', 11], ['sphere', 12]]).why, /the Card 7 takes 18-dop 10.0 ms, aabb 11.0 ms, sphere 12.0 ms: boxes 1.10 ×, spheres 1.20 ×/);
    assert.doesNotMatch(scaled([['18-dop', 10]]).why, /Card 7/);
    // The paper's sort is a GPU's: where there is one its phases decide.
    assert.match(claims.find(claim => claim.id === 'sort-most').ours, /Card 7/);
    assert.deepEqual(aroundTurn(device.towers.get('18-dop 1,1,1'), 'sweep_ms', 250), [1, 1.1]);
    writePaper(folder, kDop, data, claims);
    const page = readFileSync(join(folder, 'k-dop.md'), 'utf8');
    assert.match(page, /on a device, Card 7, driver 1; 2026-01-01, 700 frames/);
    assert.match(page, /Not run there.*aabb, scale \(1, 1, 1\); 18-dop, scale \(1, 3, 1\)/);
    assert.match(page, /\| aabb \| 26.13 \| 2.00 \| not run \| 44.12 \| 2.00 \| not run \|/);
    assert.doesNotMatch(page, /NaN|undefined/);
    const drawn = readdirSync(folder);
    assert.ok(['003-figure-5.8.svg', '003-figure-5.8-device.svg', '003-figure-5.11.svg', '003-figure-5.21-device.svg'].every(name => drawn.includes(name)));
    assert.ok(['003-figure-5.9-device.svg', '003-figure-5.11-device.svg', '003-figure-5.22-device.svg'].every(name => !drawn.includes(name))); // nothing to draw
    assert.match(readFileSync(join(folder, '003-figure-5.8-device.svg'), 'utf8'), /Card 7/);
    // A tower that was cut off has stages and no means.
    writePaper(folder, kDop, { ...data, device: { ...device, means: new Map([...device.means].slice(0, 1)), missing: ['sphere 1,1,1'] } }, claims);
    assert.match(readFileSync(join(folder, 'k-dop.md'), 'utf8'), /Cut off.*sphere, scale \(1, 1, 1\) after 400 frames[^]*\| sphere \| 24.98 \| 2.00 \| cut off \|/);
    // Towers measured beside runs that found the machine busy say so.
    for (const tower of all.values()) tower.folder = 'here';
    writePaper(folder, kDop, { ...data, raw: [raw({ folder: 'here', others: 0.3 }), raw({ folder: 'here' }), raw({ folder: 'there', others: 0.9 })] }, claims);
    assert.match(readFileSync(join(folder, 'k-dop.md'), 'utf8'), /on a busy machine\*\*: before 1 of the 2 runs beside them/);
    // Without a device the page says that and is whole.
    writePaper(folder, kDop, { ...data, device: null }, claims);
    assert.match(readFileSync(join(folder, 'k-dop.md'), 'utf8'), /No device ran the towers/);
    assert.equal(readDevice(join(folder, 'none')), null);
    for (const one of [folder, other]) rmSync(one, { recursive: true });
});

test('settings, variation and the frames that count', () => {
    assert.deepEqual(settingsOf('kd.leaf=512,kd.query=0'), { 'kd.leaf': 512, 'kd.query': 0 });
    assert.deepEqual(settingsOf(null), {});
    assert.equal(variation([2, 2, 2]), 0);
    assert.equal(variation([1, 3]), 0.5);
    assert.deepEqual(laterFrames([[9, 1, 2], [8, 3, 4]]), [1, 2, 3, 4]);
    assert.deepEqual(laterFrames([[9], [8]]), [9, 8]);
});

test('a run is picked by part, members and settings, and only if it ended well', () => {
    const run = { status: 'ok', parts: ['a', 'b'], method: 'kd', settings: { 'kd.leaf': 16 } };
    const runs = [run, { ...run, status: 'timeout' }, { ...run, settings: {} }];
    assert.deepEqual(pick(runs, 'b', { method: 'kd', settings: { 'kd.leaf': 16 } }), [run]);
    assert.deepEqual(pick(runs, 'c'), []);
});

test('gains are paired frame by frame at equal size', () => {
    const complete = [{ objects: 10, frame_ms: [2, 3], frame_static: [0.2, 0.8] }, { objects: 20, frame_ms: [1], frame_static: [0] }];
    const points = gainPoints(complete, [{ objects: 10, frame_ms: [4, 1] }]);
    assert.deepEqual(points, [[0.2, 0.5], [0.8, 3]]);
    assert.equal(gainBetween(points, 0.5, 1), 3);
    assert.ok(Number.isNaN(gainBetween(points, 0.9, 1)));
    assert.ok(movingAverage(Array.from({ length: 30 }, () => [0.5, 2])).every(([, gain]) => gain === 2));
});

test('depths and thinned lines', () => {
    const counters = { leaves: 4, 'leaves at depth 1': 1, 'leaves at depth 2': 3, 'objects in leaves': 50 };
    assert.equal(meanDepth(counters), 1.75);
    const row = depthRow(16, [{ counters, objects: 100 }]);
    assert.deepEqual([row.depths[1], row.depths[2], row.inLeaves], [0.25, 0.75, 0.5]);
    assert.deepEqual(thin([1, 3, 5, 7], 2), [[1, 2], [3, 6]]);
    assert.equal(thin(Array(7000).fill(1)).length, 200);
});

test('a small tree is drawn with every box once in the scene and once in the tree', () => {
    const open = [-3e38, -3e38, -3e38];
    const node = (id, depth, objects, more = {}) => ({ node: id, depth, lower: open, upper: open.map(value => -value), population: objects.length, objects, ...more });
    const boxes = [[0, 0, 0, 1, 1, 1], [4, 0, 4, 5, 1, 5], [2, 0, 0, 3, 1, 1]];
    const text = smallTreeSvg({ tree: { leaf_limit: 1, nodes: [node(0, 0, [2], { axis: 0, plane: 2.5, left: 1, right: 2 }), node(1, 1, [0]), node(2, 1, [1])] }, boxes });
    assert.match(text, /<title>3 boxes and their tree of 3 nodes, at most 1 in a leaf/);
    assert.equal(text.match(/<circle/g).length, 3);
    assert.equal(text.match(/<rect/g).length, 2 + boxes.length); // ground and frame besides
    assert.doesNotMatch(text, /NaN|undefined/);
});

test('figures that are missing are found by looking', () => {
    const measured = [1, 9, 10, 11, 12, 13, 14].map(number => `004-figure-${number}.svg`);
    const rows = files => missingFigures(files).map(row => row[0]);
    assert.ok(rows(measured).includes('KD-tree: 3, 4, 8'));
    assert.deepEqual(rows([...measured, '004-figure-3.svg', '004-figure-4.svg', '004-figure-8-gravity-10.png']).filter(text => text.startsWith('KD-tree')), ['KD-tree: 2', 'KD-tree: 5', 'KD-tree: 6', 'KD-tree: 7']);
    assert.ok(rows(['004-figure-8-gravity-10.png', '001-figure-2-gravity.svg']).every(text => !text.startsWith('Broadmark'))); // its figure 1 is the other's 8
    assert.ok(rows(['003-figure-5.10.svg']).includes('k-DOP: 5.1 to 5.9, 5.11 to 5.23')); // 5.10 is not 5.1
    assert.deepEqual(rows(['000-figure-3a-time.svg', '000-figure-4-gravity-cubes.svg']).filter(text => text.startsWith('earlier')), ['earlier KD-tree: 1, 5', 'earlier KD-tree: 2']);
});

test('a page is drawn from blocks: it folds, counts verdicts, and keeps a figure that it cannot draw', () => {
    const folder = mkdtempSync(join(tmpdir(), 'page-'));
    writeFileSync(join(folder, '002-kept.svg'), '<svg/>');
    const claims = ['holds', 'holds in part', 'holds in part', 'does not hold'].map((verdict, index) => ({ id: `c${index}`, claim: `claim ${index}`, where: 'figure 1', rule: 'r', verdict, passed: 1, count: 2, ours: 'o', brief: 'b', why: index === 3 ? 'not explained: x' : '', paperBrief: '', paperNumbers: '', paperVerdict: '' }));
    const page = () => ({
        title: 'Title', question: 'Why?', picture: { figure: 'kept', alt: 'A picture', draw: null }, keys: { c0: 'first', c3: 'last' }, figure: '42.', about: [],
        sections: [null, { heading: 'Section', claims: ['c1', 'c3'], blocks: [{ fold: 'Nothing', blocks: ['', null] }, { fold: 'Something', blocks: ['inside'] }, { figure: 'none', alt: 'No picture', draw: null }, 'claims', { list: [] }, { from: [] }] }],
    });
    writePaper(folder, { number: '002', page }, { isStored: true }, claims);
    const text = readFileSync(join(folder, fileOf('002')), 'utf8');
    assert.match(text, /Of 4 claims 1 holds, 2 hold in part and 1 does not hold\. \*Holds\*: first\. \*Does not hold\*: last\./);
    assert.match(text, /!\[A picture\]\(002-kept.svg\)[^]*\*\*The number.\*\* 42\./);
    assert.match(text, /<details>\n<summary>Something<\/summary>\n\ninside\n\n<\/details>/);
    assert.doesNotMatch(text, /Nothing|002-none|How it was measured|claim 0 \(/);
    assert.match(text, /\| claim 1 \(figure 1\) \| \*\*holds in part \(1 of 2\)\*\* \| b \|/);
    assert.match(text, /Not explained: x\./);
    // Without data there is no page, and a block that is none is an error.
    writePaper(folder, { number: '001', page: () => undefined }, {}, []);
    assert.ok(!readdirSync(folder).includes(fileOf('001')));
    assert.throws(() => writePage(folder, { name: 'bad', title: 'Bad', blocks: [{ heding: 'x' }] }), /a block of a page that is none: heding/);
    rmSync(folder, { recursive: true });
});

test('numbers as text', () => {
    assert.deepEqual([0.001234, 0.1234, 1.234, 12.34, 123.4, 1234, 0, undefined, NaN].map(digits), ['0.00123', '0.123', '1.23', '12.3', '123', '1234', '0', '', '']);
    assert.deepEqual([1000, 768000, 1234].map(sizeText), ['1k', '768k', '1234']);
});

test('the published tables are whole', () => {
    assert.equal(table1Of004().get('gravity kd').get(1024000), 539.27);
    assert.equal(table1Of004().get('freefall bullet-dbvt-f').get(1000), 0.12);
    assert.equal(table1Of004().size, 15);
    assert.equal(table2Of004().get('brownian gain').get(32000), 216);
    assert.equal(table2Of001().length, 30);
    assert.equal(table2Of001().find(row => row.scene === 'gravity' && row.objects === 64000).tracy_st, 2.9);
    assert.equal(table2Of001().find(row => row.scene === 'brownian' && row.objects === 1024000).bf_st, undefined);
    assert.deepEqual(pairsOf003().find(row => row.scale === '1,3,1' && row.volume === 'sphere'), { scale: '1,3,1', volume: 'sphere', mean: 1762, most: 2993 });
    assert.equal(timesOf003()[1]['1,3,1'], 44.12);
});

function papers(...words) {
    return spawnSync(process.execPath, [here('papers.mjs'), ...words], { encoding: 'utf8' });
}

test('bad words are refused with 2', () => {
    for (const [words, reason] of [[['--grade', 'huge'], /tiny, quick, hour, full/], [['--what'], /--what/], [['--wait', 'soon'], /--wait soon/], [['--budget', '-3'], /--budget/], [['--pages', '--work', join(tmpdir(), 'no-such-work')], /measure first/], [['--grade', 'tiny', '--cleave', '/no/such/program'], /no\/such\/program/]]) {
        const folder = mkdtempSync(join(tmpdir(), 'papers-'));
        const answer = papers(...(words.includes('--work') ? [] : ['--work', folder]), ...words, '--out', folder);
        assert.equal(answer.status, 2, answer.stderr);
        assert.match(answer.stderr, reason);
        rmSync(folder, { recursive: true });
    }
});

// No page calls a run of one node a tree: below every figure of KD-trees stands how many nodes they had, and
// the runs' own counts bear that out.
function checkTrees(out, page, text) {
    for (const [, method, least] of text.matchAll(/[ ,]`((?:kd|ray-kd)[^`]*)` ([\d.]+) to [\d.]+ nodes/g)) assert.ok(Number(least) > 1, `${page}: ${method} has ${least} nodes`);
    const bare = new Set(readFileSync(join(out, 'runs.csv'), 'utf8').trim().split('\n').slice(1).map(line => line.replace(/"[^"]*"/g, '').split(',')).filter(row => /^(kd|ray-kd)/.test(row[5]) && Number(row[14]) <= 1).map(row => `${row[0]} ${row[5]}`));
    assert.ok(bare.size > 0, 'the tiny round has runs of one node, or this checks nothing');
    const sections = text.split(/^## /m).filter(section => /KD-tree/.test(section.split('\n')[0]) && /!\[/.test(section) && !/pictures/.test(section.split('\n')[0]));
    for (const section of sections) assert.match(section, /trees: |one node, no tree/, `${page}: ${section.split('\n')[0]}`);
}

function lookThrough(out) {
    const pages = readdirSync(out).filter(name => name.endsWith('.md'));
    assert.deepEqual(pages.sort(), ['README.md', 'broadmark.md', 'earlier-kd-tree.md', 'k-dop.md', 'kd-tree.md', 'ray-kd-tree.md']);
    const linked = new Set();
    for (const page of pages) {
        const text = readFileSync(join(out, page), 'utf8');
        checkTrees(out, page, text);
        assert.doesNotMatch(text, /\bNaN\b|undefined|Infinity|\[object/, page);
        assert.doesNotMatch(text, /papers? 00\d|\(00\d\)|\[00\d\]/i, page); // papers have names
        for (const [, name] of text.matchAll(/\]\(([^)]+\.svg)\)/g)) linked.add(name);
        for (const line of text.split('\n').filter(one => one.startsWith('|---') || one.startsWith('| ---'))) assert.match(line, /^\|( -+:? \|)+$/);
    }
    const drawn = readdirSync(out).filter(name => name.endsWith('.svg'));
    assert.deepEqual(drawn.sort(), [...linked].sort());
    for (const name of drawn) {
        const text = readFileSync(join(out, name), 'utf8');
        assert.match(text, /^<svg /);
        assert.doesNotMatch(text, /"[^"]*\bNaN\b/, name);
    }
    return drawn;
}

test('a whole round on few objects writes every page and figure, and goes on where it stopped', { skip: !process.env.CLEAVE }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'papers-'));
    const out = join(folder, 'out');
    const words = ['--grade', 'tiny', '--cleave', process.env.CLEAVE, '--work', join(folder, 'work'), '--out', out, '--wait', '0'];
    const first = papers(...words);
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stderr, /sizes left out: .*004-cubes-large: 256k/);
    const drawn = lookThrough(out);
    for (const name of ['004-figure-1.svg', '004-figure-9-depth.svg', '004-figure-10.svg', '004-figure-11-gravity.svg', '004-figure-12.svg', '004-figure-14-gravity.svg', '000-figure-3b.svg', '001-figure-2-freefall.svg', '002-figure-2b.svg', '003-figure-5.23.svg']) assert.ok(drawn.includes(name), name);
    const index = readFileSync(join(out, 'README.md'), 'utf8');
    assert.match(index, /same pairs as all others/);
    assert.match(index, /\| \[KD-tree\]\(kd-tree.md\) \|.*\| 27 \| \d+ \| \d+ \| \d+ \| \d+ \|/);
    assert.match(index, /004-cubes-large: 256k, 512k, 1024k/); // what was left out
    assert.ok(readFileSync(join(out, 'runs.csv'), 'utf8').trim().split('\n').length > 200);
    assert.doesNotMatch(readFileSync(join(out, 'measured.json'), 'utf8'), /\/build\/|"reason"/); // nothing of this machine's folders
    assert.match(readFileSync(join(out, 'kd-tree.md'), 'utf8'), /\*\*one node, no tree\*\*: `kd` at 600/);
    // The same verdicts from what was stored, without program and results.
    const claims = readFileSync(join(out, 'claims.csv'), 'utf8');
    const again = papers('--stored', '--out', out, '--cleave', '/no/such/program');
    assert.equal(again.status, 0, again.stderr);
    assert.equal(readFileSync(join(out, 'claims.csv'), 'utf8'), claims);
    lookThrough(out);
    const second = papers(...words);
    assert.equal(second.status, 0, second.stderr);
    assert.doesNotMatch(second.stderr, /tower of/);

    // No time left: what is there stays, what is missing is named here and on the page.
    rmSync(join(folder, 'work', 'tiny', 'pruning.json'));
    rmSync(join(folder, 'work', 'tiny', towerFile(towers[5])));
    const hurried = papers(...words, '--budget', '1');
    assert.equal(hurried.status, 0, hurried.stderr);
    assert.match(hurried.stderr, /1 s are up; not, or not wholly, measured: pruning, tower sphere 1,3,1;/);
    lookThrough(out);
    assert.match(readFileSync(join(out, 'README.md'), 'utf8'), /The 1 s it was given were up before these pieces were done: pruning, tower sphere 1,3,1\./);

    // A hash that differs is said, and is a failure.
    const path = join(folder, 'work', 'tiny', 'ray.json');
    const results = JSON.parse(readFileSync(path, 'utf8'));
    results.runs.find(run => run.status === 'ok').pairs_hash = '0x0000000000000001';
    writeFileSync(path, JSON.stringify(results));
    const wrong = papers(...words, '--pages');
    assert.equal(wrong.status, 1, wrong.stderr);
    assert.match(readFileSync(join(out, 'README.md'), 'utf8'), /Results disagree/);

    // Without Bullet and CGAL the pages say so and stay whole.
    for (const { name } of grades.tiny.pieces.filter(one => one.name !== 'pruning' && !one.gpu)) {
        const file = join(folder, 'work', 'tiny', `${name}.json`);
        const some = JSON.parse(readFileSync(file, 'utf8'));
        some.runs.filter(run => /^bullet|^cgal/.test(run.method)).forEach(run => { run.status = 'unavailable'; });
        writeFileSync(file, JSON.stringify(some));
    }
    papers(...words, '--pages');
    lookThrough(out);
    assert.match(readFileSync(join(out, 'README.md'), 'utf8'), /Not installed there: bullet-dbvt-f/);
    rmSync(folder, { recursive: true });
});

test('an operator is told from the trees before and after it, and two at once are not', () => {
    const leaf = (node, objects) => ({ node, objects }), inner = (node, axis, plane, left, right, objects = []) => ({ node, axis, plane, left, right, objects });
    const two = (objects, plane = 1, axis = 0) => [inner(0, axis, plane, 1, 2, objects), leaf(1, [1, 2]), leaf(2, [3])];
    assert.deepEqual(operatorBetween(two([4]), [inner(0, 0, 1, 1, 2), leaf(1, [1, 2]), leaf(2, [3, 4])]), { name: 'filter', path: '' });
    assert.equal(operatorBetween(two([]), two([])), null);
    assert.equal(operatorBetween(two([]), [inner(0, 0, 1, 1, 2, [3]), leaf(1, [1, 2]), leaf(2, [])]), null); // up: that is the refit
    assert.deepEqual(operatorBetween([leaf(0, [1, 2, 3])], two([])), { name: 'partition', path: '' });
    assert.deepEqual(operatorBetween(two([]), [leaf(0, [1, 2, 3])]), { name: 'collapse', path: '' });
    assert.deepEqual(operatorBetween(two([]), two([], 2)), { name: 'translate', path: '' });
    const three = [inner(0, 0, 1, 1, 2), inner(1, 2, 5, 3, 4), leaf(3, [1]), leaf(4, [2]), leaf(2, [3])];
    assert.deepEqual(operatorBetween(three, two([], 5, 2)), { name: 'erase', path: '' });
    assert.equal(operatorBetween(three, [inner(0, 0, 9, 1, 2), inner(1, 2, 7, 3, 4), leaf(3, [1]), leaf(4, [2]), leaf(2, [3])]), null);
});

test('objects that move within the array are the same before and after, in another order', () => {
    const steps = transferSteps([1], [2, 3, 4, 5], [6, 7], [8], [2, 4, 5]);
    const all = steps.map(([, blocks, buffer]) => [...blocks.flatMap(([, objects]) => objects).filter(object => object !== null), ...buffer].sort());
    for (const objects of all) assert.deepEqual(objects, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual(steps[4][1], [['N_LL', [1]], ['N_L', [3]], ['N_LR', [6, 7]], ['N', [2, 4, 5, 8]]]);
    assert.equal(new Set(steps.map(([, blocks]) => blocks.flatMap(([, objects]) => objects).length)).size, 1); // the array stays as long
});

test('pictures side by side are those that were there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sheet-')), files = [1, 2, 3].map(i => join(folder, `${i}.png`));
    files.forEach((file, i) => writeFileSync(file, writePng({ width: 2, height: 2, pixels: Buffer.alloc(12, 40 * (i + 1)) })));
    writeSheet(join(folder, 'all.png'), files, 2);
    const { width, height, pixels } = readPng(readFileSync(join(folder, 'all.png')));
    assert.deepEqual([width, height], [4, 4]);
    assert.deepEqual([...pixels].filter((_, i) => i % 3 === 0), [40, 40, 80, 80, 40, 40, 80, 80, 120, 120, 255, 255, 120, 120, 255, 255]);
    rmSync(folder, { recursive: true });
});

// ---- figures as they are kept

const figures = ['../../bench/papers/', '../../bench/papers/studies/', '../../docs/'].flatMap(folder => readdirSync(here(folder)).filter(name => name.endsWith('.svg') && name !== 'architecture.svg').map(name => ({ name, svg: readFileSync(here(folder + name), 'utf8') })));

/** [name, colour] of a plot's legend: the mark before each name, and the name without its exponent. */
function legendOf(svg) {
    const parts = svg.match(/<(?:path|text)[^>]*>(?:[^<]*<\/text>)?/g) ?? [];
    return parts.flatMap((part, index) => {
        const [, place, text] = part.match(/<text[^>]*x="(?:35|19)"[^>]*transform="translate\(([^)]*)\)"[^>]*>([^<]*)</) ?? [];
        if (text === undefined) return [];
        const marks = parts.slice(Math.max(0, index - 4), index).filter(one => one.includes(`translate(${place})`));
        return [[text.replace(/\s+n\^.*/, ''), marks.map(one => (one.match(/stroke="(#[0-9a-f]{6})"/) ?? one.match(/fill="(#[0-9a-f]{6})"/))?.[1]).find(Boolean)]];
    });
}

test('figures are whole, in English and on white', () => {
    assert.ok(figures.length > 90, String(figures.length));
    for (const { name, svg } of figures) {
        const words = [...svg.matchAll(/<(?:text|tspan|title)[^>]*>([^<]*)</g)].map(([, text]) => text).join('\n');
        assert.doesNotMatch(words, /…/, `${name}: a text is cut`);
        assert.doesNotMatch(words, /[À-ÖØ-öø-ÿ]/, `${name}: not English`);
        assert.match(svg, /^<svg[^>]*>\s*(<title>[^<]*<\/title>\s*)?(<defs>.*<\/defs>\s*)?<rect width="[\d.]+" height="[\d.]+"[^>]*fill="#fff(fff)?"/, `${name}: not on white`);
    }
});

test('a method has the colour of the table in every figure', () => {
    let seen = 0;
    for (const { name, svg } of figures) {
        for (const [text, colour] of legendOf(svg)) {
            const method = text.split(/[ ,]/)[0];
            if (method !== 'cleave' && !METHODS.includes(method)) continue;
            assert.equal(colour, stylesFor([method], light).get(method).color, `${name}: ${text}`);
            seen += 1;
        }
    }
    assert.ok(seen > 100, String(seen));
    for (const { name, svg } of figures) assert.ok(legendOf(svg).length <= 8, `${name}: ${legendOf(svg).length} lines; the rest belongs in a table`);
    assert.deepEqual(ink.series, light.palette.slice(0, ink.series.length));
    assert.equal(ink.ground, light.panel);
});
