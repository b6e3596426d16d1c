// SPDX-License-Identifier: MIT
// The studies' machinery, on towers of five bodies. CLEAVE names the program.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { allRuns, csvOf, durationText, grades, partText, planOf, readStoredTowers, readTowers, rowsOf, sourceOf, summarise, sweeps, writePages } from './studies.mjs';

const script = fileURLToPath(new URL('studies.mjs', import.meta.url));
const columns = (pairs, ms) => ({ frame: [1, 2], candidate_pairs: pairs, landed: [0, 1], deepest: [0, 0.5], axis: ['y', 'x'], sweep_ms: ms });

test('a run that several sweeps ask for is done once', () => {
    const keys = allRuns().map(run => run.key);
    assert.equal(new Set(keys).size, keys.length);
    const asked = Object.values(sweeps).flat().flatMap(one => one.points).length;
    assert.ok(keys.length < asked);
});

test('a plan for many cores names what is not there, and how long it takes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'studies-'));
    const lines = planOf(grades.full, [folder]).trim().split('\n').map(line => line.split('\t'));
    assert.equal(lines.length, allRuns().length);
    assert.deepEqual(lines[0], ['sim', 'study-512-volume_aabb_scale_1_1_1.1.csv', '-', 'tower --volume aabb --scale 1,1,1 --bodies 512 --frames 7000 -q', String(grades.full.seconds)]);
    writeFileSync(join(folder, 'volume_aabb_scale_1_1_1.1.csv'), '');
    assert.equal(planOf(grades.full, [folder]).trim().split('\n').length, lines.length - 1);
    rmSync(folder, { recursive: true });
});

test('times are each frame\'s least, counts are means', () => {
    const row = summarise([columns([4, 6], [1, 5]), columns([4, 6], [3, 2])]);
    assert.equal(row.candidate_pairs, 5);
    assert.equal(row.sweep_ms, 1.5);
    assert.equal(row.turns, 1);
    assert.equal(row.deepest_most, 0.5);
});

test('runs that differ are no repeats', () => {
    assert.throws(() => summarise([columns([4, 6], [1, 5]), columns([4, 7], [3, 2])]), /other pairs/);
});

// A page whose sentences were written by hand would not change with the numbers.
test('sentences follow the numbers', () => {
    const out = mkdtempSync(join(tmpdir(), 'studies-'));
    const made = (better) => {
        const towers = new Map(allRuns().map(run => [run.key, {
            frames: 10, landed: 5, turns: 1, candidate_pairs: 10, false_positives: run.key.includes(better) ? 1 : 4, volume_ms: 1, sweep_ms: run.key.includes(better) ? 1 : 2,
            axis_ms: 0.1, narrow_ms: run.key.includes('climb') === (better === 'obb') ? 1 : 2, match_ms: 1, frame_ms: 5, deformation_mean: 0.1, deepest: 0.01,
        }]));
        writePages(out, [{ grade: { name: 'test', ...grades.tiny }, machine: { cpu: 'none', cores: 2, load: 0 }, towers }]);
        return readFileSync(join(out, 'README.md'), 'utf8');
    };
    const [first, second] = [made('obb'), made('26-dop')];
    assert.match(first, /At scale \(1, 1, 1\) obb lets the fewest/);
    assert.match(second, /At scale \(1, 1, 1\) 26-dop lets the fewest/);
    assert.match(first, /Climbing is the quicker search from 6 vertices on/);
    assert.match(second, /Scanning is the quicker search at every number/);
    rmSync(out, { recursive: true });
});

test('a sweep is told from the largest towers of which it has all', () => {
    const row = { passes: 1, frames: 10, landed: 24, turns: 1, sweep_ms: 1, axis_ms: 0.1 };
    const small = { grade: { name: 'short', ...grades.short }, machine: { cpu: 'a', cores: 2, load: 9 }, towers: new Map(allRuns().map(run => [run.key, row])) };
    const large = { grade: { name: 'full', ...grades.full }, machine: { cpu: 'b', cores: 16, load: 0 }, towers: new Map(sweeps.pca[0].points.map(([, wanted]) => [wanted.key, row])) };
    assert.equal(sourceOf('pca', [large, small]), small); // boxes alone are not the sweep
    const later = 'At the paper\'s size, 512 bodies, it is not measured yet; the plan has its towers.';
    assert.equal(partText('pca', [large, small]), `Of 512 bodies there are 9 of the 18 towers it needs: towers.csv has them. ${later}`);
    assert.equal(partText('soft', [large, small]), later);
    const slow = { ...large, towers: new Map([...large.towers].map(([key], index) => [key, { frames: 7000, frame_ms: 10 + index }])) };
    assert.match(durationText(slow), /^9 towers of 512 bodies took 70.0 to 126 s each on one core \(b, 16 cores\); all \d+ would take about [23]\.\d+ hours of it\.$/);
    for (const [, wanted] of sweeps.pca[1].points) large.towers.set(wanted.key, row);
    assert.equal(sourceOf('pca', [large, small]), large);
    assert.equal(partText('pca', [large, small]), '');
    assert.equal(sourceOf('faces', [large, small]), small);
    const lines = csvOf([large, small]).trim().split('\n');
    assert.equal(lines.length, 1 + large.towers.size + small.towers.size);
    assert.match(lines[1], /^"--volume aabb --pca 1",512,1,10,/);
    large.towers.set(sweeps.pca[0].points[0][1].key, { frames: 10 }); // an older program's
    assert.match(csvOf([large, small]).split('\n')[1], /^"--volume aabb --pca 1",512,3,10,,/);
});

test('the whole, as make studies does it', { skip: !process.env.CLEAVE && 'CLEAVE names no program' }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'studies-'));
    const words = [script, '--cleave', process.env.CLEAVE, '--grade', 'tiny', '--work', join(folder, 'work'), '--out', join(folder, 'out')];
    const answer = spawnSync(process.execPath, words, { encoding: 'utf8' });
    assert.equal(answer.status, 0, answer.stderr);
    const files = readdirSync(join(folder, 'out'));
    for (const name of ['README.md', 'towers.csv', ...Object.keys(sweeps).map(sweep => `README-${sweep}.svg`)]) assert.ok(files.includes(name), name);
    const page = readFileSync(join(folder, 'out', 'README.md'), 'utf8');
    for (const figure of page.matchAll(/\]\(([^)]+\.svg)\)/g)) assert.ok(files.includes(figure[1]), figure[1]);
    assert.doesNotMatch(page, /undefined|NaN|paper 00\d/);
    // The same page from what is stored beside it, without the program and its results.
    const again = spawnSync(process.execPath, [script, '--stored', '--cleave', '/no/such/program', '--out', join(folder, 'out')], { encoding: 'utf8' });
    assert.equal(again.status, 0, again.stderr);
    assert.equal(readFileSync(join(folder, 'out', 'README.md'), 'utf8'), page);
    // A box is a 6-DOP: the same pairs.
    const towers = readTowers(join(folder, 'work', 'tiny'), grades.tiny);
    const [plain] = rowsOf('volumes', towers);
    const of = kind => plain.rows.find(row => row.x === kind);
    assert.equal(of('aabb').candidate_pairs, of('6-dop').candidate_pairs);
    // Gone on with, nothing is measured again; a damaged tower is told.
    assert.equal(spawnSync(process.execPath, [...words, '--pages'], { encoding: 'utf8' }).status, 0);
    const [csv] = readdirSync(join(folder, 'work', 'tiny')).filter(name => name.endsWith('.csv'));
    rmSync(join(folder, 'work', 'tiny', csv));
    const missing = spawnSync(process.execPath, [...words, '--pages'], { encoding: 'utf8' });
    assert.equal(missing.status, 2);
    assert.match(missing.stderr, /is missing; measure first/);
    rmSync(folder, { recursive: true });
});

test('the stored page is what --stored makes of the stored towers', () => {
    const stored = fileURLToPath(new URL('../../bench/papers/studies', import.meta.url));
    const out = mkdtempSync(join(tmpdir(), 'studies-'));
    const lacking = spawnSync(process.execPath, [script, '--stored', '--out', out], { encoding: 'utf8' });
    assert.equal(lacking.status, 2);
    assert.match(lacking.stderr, /towers.csv is missing; measure first/);
    writePages(out, readStoredTowers(stored));
    assert.equal(readFileSync(join(out, 'README.md'), 'utf8'), readFileSync(join(stored, 'README.md'), 'utf8'), 'run node scripts/studies/studies.mjs --stored');
    rmSync(out, { recursive: true });
});

test('an unknown grade and a program that is not there are errors', () => {
    const grade = spawnSync(process.execPath, [script, '--grade', 'huge'], { encoding: 'utf8' });
    assert.equal(grade.status, 2);
    assert.match(grade.stderr, /there are tiny, short, middle, full/);
    const folder = mkdtempSync(join(tmpdir(), 'studies-'));
    writeFileSync(join(folder, 'note'), '');
    const program = spawnSync(process.execPath, [script, '--cleave', join(folder, 'none'), '--grade', 'tiny', '--work', folder, '--out', folder], { encoding: 'utf8' });
    assert.equal(program.status, 2);
    assert.match(program.stderr, /cannot be run/);
    rmSync(folder, { recursive: true });
});
