// SPDX-License-Identifier: MIT
// The binding by itself: every call, and what each refuses.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { CleaveError, loadCleave } from '../index.js';
import { published } from '../package.mjs';
import { box, boxes, refuses } from './common.mjs';

const cleave = await loadCleave();

test('the README names the folder that is built', () => {
    const [, named] = readFileSync(new URL('../README.md', import.meta.url), 'utf8').match(/`build\/([^`]+)`/);
    assert.equal(`${named}/`, fileURLToPath(new URL('..', import.meta.url)).split('/build/').pop());
});

test('the programs of the README and of the guide, which GUIDE names, print what their comments say', () => {
    const pages = [new URL('../README.md', import.meta.url), ...(process.env.GUIDE ? [process.env.GUIDE] : [])];
    const programs = pages.flatMap((page) => [...readFileSync(page, 'utf8').matchAll(/```js\n([^]*?)```/g)]).map(([, program]) => program);
    assert.ok(programs.length >= 1 + pages.length);
    for (const program of programs) {
        const code = program.replace("'cleave'", JSON.stringify(new URL('../index.js', import.meta.url).href));
        const expected = [...program.matchAll(/console\.log\(.*; \/\/ (.*)/g)].flatMap(([, said]) => said.split(', then '));
        const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }).trim().split('\n');
        assert.deepEqual(printed, expected);
    }
});

test('the package says what npm asks for, and where its repository is if others can open it', () => {
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8'), json = JSON.parse(text);
    assert.equal(json.version, cleave.version);
    for (const key of ['name', 'description', 'keywords', 'license', 'types', 'exports', 'files', 'engines']) {
        assert.ok(json[key], key);
    }
    const listed = json.files.filter((name) => !name.includes('*')).concat(json.main, json.types, Object.values(json.exports).map((to) => to.default ?? to));
    for (const name of listed) {
        assert.ok(existsSync(new URL(`../${name}`, import.meta.url)), name);
    }
    for (const address of ['https://example.org/one/cleave.git', 'git@example.org:one/cleave.git', 'ssh://git@example.org:22/one/cleave', 'https://me:word@example.org/one/cleave/']) {
        const { repository, homepage, bugs } = JSON.parse(published(text, address));
        assert.deepEqual(repository, { type: 'git', url: 'git+https://example.org/one/cleave.git', directory: 'bindings/js' }, address);
        assert.deepEqual([homepage, bugs.url], ['https://example.org/one/cleave#readme', 'https://example.org/one/cleave/issues']);
    }
    for (const address of ['', '/some/folder', '../cleave', 'file:///some/folder']) {
        assert.deepEqual(JSON.parse(published(text, address)), json, address);
    }
});

test('touching faces are a pair', () => {
    const space = cleave.createSpace();
    assert.equal(space.pairs, null);
    const ids = space.add(boxes(box(0), box(1), box(5)));
    assert.equal(ids.length, 6);
    assert.equal(space.update(), 1);
    assert.deepEqual([...space.pairs], [0, 1]);
    space.move(ids.slice(4), boxes(box(2)));
    assert.equal(space.update(), 2);
    space.remove(ids.slice(0, 2));
    assert.equal(space.update(), 1);
    space.clear();
    assert.equal(space.update(), 0);
    space.destroy();
    space.destroy();
    assert.throws(() => space.update(), /destroyed/);
});

test('begun and ended pairs name ids', () => {
    const space = cleave.createSpace({ events: true, sorted: true });
    const ids = space.add(boxes(box(0), box(1)));
    space.update();
    assert.deepEqual([...space.begun], [...ids]);
    space.move(ids.slice(2), boxes(box(9)));
    space.update();
    assert.deepEqual([...space.ended], [...ids]);
    assert.equal(space.begun.length, 0);
    space.destroy();
});

test('filters, margins and static pairs', () => {
    const space = cleave.createSpace({ margin: 0.25, skipStaticPairs: true });
    const ids = space.add(boxes(box(0), box(1.5), box(3)));
    assert.equal(space.update(), 2);
    space.setFilter(ids.slice(0, 2), new Uint32Array([1, 0, 0]));
    assert.equal(space.update(), 1);
    space.setStatic(ids.slice(2));
    assert.equal(space.update(), 0);
    space.destroy();
});

test('bad input is refused and changes nothing', () => {
    const space = cleave.createSpace();
    const ids = space.add(boxes(box(0), box(0.5)));
    refuses('CLV_BAD_BOX', 1, () => space.add(boxes(box(0), [0, 0, 0, NaN, 1, 1])));
    refuses('CLV_BAD_BOX', 0, () => space.move(ids.slice(0, 2), boxes([1, 0, 0, 0, 1, 1])));
    const gone = ids.slice(2);
    space.remove(gone);
    refuses('CLV_BAD_ID', 0, () => space.remove(gone));
    space.add(boxes(box(7))); // takes the slot, not the id
    refuses('CLV_BAD_ID', 0, () => space.move(gone, boxes(box(0))));
    assert.equal(space.update(), 0);
    assert.throws(() => space.add([1, 2, 3]), TypeError);
    assert.throws(() => space.add(new Float32Array(5)), TypeError);
    assert.throws(() => space.move(ids, boxes(box(0))), TypeError);
    space.destroy();
});

test('a limit of pairs is kept', () => {
    const space = cleave.createSpace({ maxPairs: 2 });
    space.add(boxes(box(0), box(0), box(0)));
    refuses('CLV_TOO_MANY_PAIRS', -1, () => space.update());
    assert.equal(space.pairs, null);
    space.destroy();
});

test('bad definitions are refused', () => {
    assert.throws(() => cleave.createSpace({ method: 'none-such' }), /CLV_BAD_DEF.*none-such/);
    assert.throws(() => cleave.createSpace({ settings: 'x=1' }), CleaveError);
    assert.throws(() => cleave.createSpace({ margin: -1 }), CleaveError);
    assert.throws(() => cleave.createSpace({ isa: 'avx2' }), TypeError);
    assert.throws(() => cleave.createSpace({ maxpairs: 1 }), TypeError);
    assert.throws(() => cleave.createSpace({ maxPairs: -1 }), TypeError);
});

test('memory grows under the arguments', () => {
    const space = cleave.createSpace();
    const count = 300000;
    const many = new Float32Array(6 * count);
    for (let i = 0; i < count; ++i) {
        many.set(box(2 * (i % 100), 2 * (Math.floor(i / 100) % 100), 2 * Math.floor(i / 10000)), 6 * i);
    }
    const ids = space.add(many);
    assert.equal(space.update(), 0);
    space.move(ids.slice(0, 2), boxes(box(0.5)));
    assert.equal(space.update(), 0);
    assert.equal(space.stats.objectCount, count);
    space.destroy();
});
