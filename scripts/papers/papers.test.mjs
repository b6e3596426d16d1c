// SPDX-License-Identifier: MIT
// The machinery of `make papers`: its arithmetic, its published numbers, and one whole round on a few hundred objects.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { grades, groups, towerFile, towers } from './grades.mjs';
import { groupWords } from './measure.mjs';
import { digits, sizeText } from './page.mjs';
import { movingAverage } from './paper_charts.mjs';
import { meanDepth } from './paper_002.mjs';
import { thin } from './paper_003.mjs';
import { bestLeaf, depthRow, gainBetween, gainPoints } from './paper_004.mjs';
import { pairsOf003, table1Of004, table2Of001, table2Of004, timesOf003 } from './published.mjs';
import { laterFrames, pick, settingsOf, variation } from './runs.mjs';

const here = name => fileURLToPath(new URL(name, import.meta.url));

test('every part that is asked for is in its schedule, and every part of a schedule is asked for', () => {
    const named = name => [...readFileSync(here(`../../lab/schedules/${name}.schedule`), 'utf8').matchAll(/^part\s+(\S+)/gm)].map(match => match[1]);
    const asked = new Set(groups.flatMap(group => group.parts));
    for (const group of groups) {
        const there = group.schedules.flatMap(named);
        for (const part of group.parts) assert.ok(there.includes(part), part);
    }
    for (const name of ['paper-000', 'paper-001', 'paper-002', 'paper-003', 'paper-004']) {
        for (const part of named(name)) assert.ok(asked.has(part), part);
    }
});

test('a grade changes sizes, and full changes nothing', () => {
    const [cubes] = groups;
    assert.deepEqual(groupWords(cubes, 'full', 'w', 2).slice(-3), ['--json', join('w', 'cubes.json'), '--resume']);
    assert.ok(groupWords(cubes, 'short', 'w', 2).includes('1k,2k,4k,8k'));
    assert.deepEqual(groupWords(groups.find(group => group.threads), 'full', 'w', 16).slice(-2), ['--threads', '4']);
    for (const grade of Object.values(grades)) assert.ok(grade.about && grade.sim.bodies > 0);
    assert.equal(new Set(towers.map(towerFile)).size, 6);
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

test('depths, best leaves, thinned lines', () => {
    const counters = { leaves: 4, 'leaves at depth 1': 1, 'leaves at depth 2': 3, 'objects in leaves': 50 };
    assert.equal(meanDepth(counters), 1.75);
    const row = depthRow(16, [{ counters, objects: 100 }]);
    assert.deepEqual([row.depths[1], row.depths[2], row.inLeaves], [0.25, 0.75, 0.5]);
    assert.equal(bestLeaf([[16, 3], [32, 1], [64, 2]]), 32);
    assert.deepEqual(thin([1, 3, 5, 7], 2), [[1, 2], [3, 6]]);
    assert.equal(thin(Array(7000).fill(1)).length, 200);
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
    for (const [words, reason] of [[['--grade', 'huge'], /tiny, short, hour, full/], [['--what'], /--what/], [['--pages', '--work', join(tmpdir(), 'no-such-work')], /measure first/], [['--grade', 'tiny', '--cleave', '/no/such/program'], /no\/such\/program/]]) {
        const folder = mkdtempSync(join(tmpdir(), 'papers-'));
        const answer = papers(...(words.includes('--work') ? [] : ['--work', folder]), ...words, '--out', folder);
        assert.equal(answer.status, 2, answer.stderr);
        assert.match(answer.stderr, reason);
        rmSync(folder, { recursive: true });
    }
});

function lookThrough(out) {
    const pages = readdirSync(out).filter(name => name.endsWith('.md'));
    assert.deepEqual(pages.sort(), ['000.md', '001.md', '002.md', '003.md', '004.md', 'README.md']);
    const linked = new Set();
    for (const page of pages) {
        const text = readFileSync(join(out, page), 'utf8');
        assert.doesNotMatch(text, /\bNaN\b|undefined|Infinity|\[object/, page);
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
    const words = ['--grade', 'tiny', '--cleave', process.env.CLEAVE, '--work', join(folder, 'work'), '--out', out];
    const first = papers(...words);
    assert.equal(first.status, 0, first.stderr);
    const drawn = lookThrough(out);
    for (const name of ['004-figure-1.svg', '004-figure-9-depth.svg', '004-figure-10.svg', '004-figure-11.svg', '004-figure-12.svg', '004-figure-14-gravity.svg', '000-figure-3b.svg', '001-figure-2-freefall.svg', '002-figure-2b.svg', '003-figure-5.23.svg']) assert.ok(drawn.includes(name), name);
    assert.match(readFileSync(join(out, 'README.md'), 'utf8'), /same pairs as all others/);
    assert.ok(readFileSync(join(out, 'runs.csv'), 'utf8').trim().split('\n').length > 200);
    const second = papers(...words);
    assert.equal(second.status, 0, second.stderr);
    assert.doesNotMatch(second.stderr, /tower of/);

    // A hash that differs is said, and is a failure.
    const path = join(folder, 'work', 'tiny', 'ray.json');
    const results = JSON.parse(readFileSync(path, 'utf8'));
    results.runs.find(run => run.status === 'ok').pairs_hash = '0x0000000000000001';
    writeFileSync(path, JSON.stringify(results));
    const wrong = papers(...words, '--pages');
    assert.equal(wrong.status, 1, wrong.stderr);
    assert.match(readFileSync(join(out, 'README.md'), 'utf8'), /Results disagree/);

    // Without Bullet and CGAL the pages say so and stay whole.
    for (const group of groups) {
        const file = join(folder, 'work', 'tiny', `${group.name}.json`);
        const some = JSON.parse(readFileSync(file, 'utf8'));
        some.runs.filter(run => /^bullet|^cgal/.test(run.method)).forEach(run => { run.status = 'unavailable'; });
        writeFileSync(file, JSON.stringify(some));
    }
    papers(...words, '--pages');
    lookThrough(out);
    assert.match(readFileSync(join(out, 'README.md'), 'utf8'), /Not installed there: bullet-dbvt-f/);
    rmSync(folder, { recursive: true });
});
