// SPDX-License-Identifier: MIT
// The playground in headless Chromium, as it stands in the repository.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { axes, checkDialogs, closeBrowser, cutTexts, openBrowser, reach, readHelp, said, untilSaid, withPage } from './browser.mjs';
import { light, dark } from '../../report/src/look.js';

const playground = fileURLToPath(new URL('../playground.html', import.meta.url));

before(openBrowser);
after(closeBrowser);

const untilFrame = (page, least) => page.waitForFunction(wanted => Number(document.documentElement.dataset.frame) >= wanted, least);
async function choose(page, scene, size) {
    await page.fill('#live-size', String(size));
    await page.selectOption('#live-scene', scene);
    await page.waitForFunction(name => cleave.source.scene_ === name && !cleave.source.isOpening && cleave.frame !== null && cleave.frame.index < 40, scene);
}

/** Paused, and nothing is on its way. */
async function pause(page) {
    if ((await said(page)).playing === 'true') await page.click('#play');
    await untilSaid(page, 'playing', false);
    await page.waitForFunction(() => !cleave.source.waits);
    await page.waitForTimeout(200);
}

/** All that is told in words: frame and pairs of the status bar, pairs of the cards and of the verdict. */
const words = page => page.evaluate(() => Object.fromEntries(['s-frame', 's-pairs', 's-still', 's-ms', 'pairs-0', 'pairs-1', 'verdict', 'ms-0', 'ms-1', 'unit-0', 'unit-1'].map(id => [id, document.getElementById(id).textContent])));

test('it plays at once, and two methods find the same pairs, side by side', async () => {
    await withPage(playground, async page => {
        await page.fill('#live-size', '1');
        await choose(page, 'brownian', 1);
        await untilFrame(page, 4);
        assert.equal((await said(page)).objects, '500');
        for (const method of ['kd', 'sap', 'grid', 'brute', 'cleave']) {
            await page.selectOption('#method-1', method);
            await page.waitForFunction(name => cleave.fact().rivals?.[1]?.method === name, method);
            await page.waitForTimeout(200);
            const [one, two] = await page.evaluate(() => cleave.fact().rivals);
            assert.equal(one.pairs, two.pairs);
            assert.equal(one.hash, two.hash);
            assert.match(await page.textContent('#verdict'), /^both found the same [\d,]+ pairs$/);
            const [left, right, ms] = await page.$$eval('#pairs-0, #pairs-1, #ms-1', all => ['pairs-0', 'pairs-1', 'ms-1'].map(id => all.find(one => one.id === id).textContent));
            assert.equal(left, right);
            assert.match(ms, /^(\d+(\.\d+)?|< 1)$/);
        }
        await page.selectOption('#method-1', '');
        await page.waitForFunction(() => cleave.fact().rivals[1] === null);
    });
});

test('every scene runs, paused it steps', async () => {
    await withPage(playground, async page => {
        for (const scene of ['freefall', 'gravity', 'city', 'tower', 'pour']) {
            await choose(page, scene, 0);
            await untilFrame(page, 3);
            assert.ok(await page.isHidden('#trouble'), await page.textContent('#trouble'));
        }
        await pause(page);
        const { frame } = await said(page);
        await page.click('#on');
        await untilSaid(page, 'frame', Number(frame) + 1);
        await page.selectOption('#falses', 'dops');
        await page.waitForFunction(() => cleave.frame.apart?.length === cleave.frame.pairs.length / 2);
        await page.click('[data-overlay="dops"]');
        assert.match(await page.textContent('#s-falses'), /of boxes .* of 18-DOPs .* of spheres/);
    });
});

test('a body is dragged and thrown, boxes are poured', async () => {
    await withPage(playground, async page => {
        await choose(page, 'pour', 1);
        await untilFrame(page, 60);
        const box = await page.locator('#picture').boundingBox();
        // Some body in front, where it is on the picture.
        const find = () => page.evaluate(() => {
            const { clientWidth, clientHeight } = cleave.stage.canvas;
            for (let y = clientHeight - 20; y > 60; y -= 6) for (let x = 340; x < clientWidth - 20; x += 6) {
                const { object } = cleave.pickAt(x, y);
                if (object >= 0) return { object, x, y };
            }
            return null;
        });
        const height = object => page.evaluate(at => cleave.frame.boxes[8 * at + 1], object);
        const body = await find();
        await page.mouse.move(box.x + body.x, box.y + body.y);
        await page.mouse.down();
        await page.mouse.move(box.x + body.x, box.y + body.y - 150, { steps: 8 });
        await page.waitForFunction(at => cleave.frame.boxes[8 * at + 1] > 2, body.object);
        await page.mouse.up();
        await page.waitForFunction(at => cleave.frame.boxes[8 * at + 1] < 2, body.object);
        assert.ok(await height(body.object) < 2);
        const { objects } = await said(page);
        await page.mouse.move(box.x + 0.75 * box.width, box.y + 0.35 * box.height);
        await page.mouse.down();
        await page.waitForFunction(before => Number(document.documentElement.dataset.objects) > before + 30, Number(objects));
        await page.mouse.up();
    });
});

test('the help tells the keys of this page, from its top', async () => {
    for (const options of [{ viewport: { width: 1280, height: 720 } }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]) {
        await withPage(playground, async page => {
            await page.keyboard.press('?');
            const lines = await readHelp(page);
            assert.deepEqual(lines.slice(0, 4), ['Keys', 'Space: play, pause', '→: the next frame', 'W A S D: go round the scene']);
            assert.equal(lines.length, 18);
            assert.match(lines.at(-1), /^Drag a body to lift it, let go to throw it\. .* a double click goes there\.$/);
            await page.keyboard.press('Escape');
            assert.ok(await page.isHidden('#help'));
        }, options);
    }
});

test('what it cannot do it says, in words; another scene takes that away', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cleave-playground-')), broken = join(folder, 'broken.html');
    writeFileSync(broken, readFileSync(playground, 'utf8').replace(/(id="engine"[^>]*>.{4000})[^<]*/, '$1'));
    await withPage(broken, async page => {
        await page.waitForSelector('#trouble:not([hidden])');
        assert.match(await page.textContent('#trouble'), /^The engine cannot run here: .*WebAssembly.*; use a current browser, or make the page again with make playground$/);
        await checkDialogs(page);
    }, { expectTrouble: true });
    rmSync(folder, { recursive: true });
    await withPage(playground, async page => {
        await page.waitForSelector('#trouble:not([hidden])');
        assert.match(await page.textContent('#trouble'), /^The playground cannot run here: this browser has no WebGL2, which the picture needs; use a current one, .*/);
        await checkDialogs(page);
    }, { expectTrouble: true, withoutWebGL: true });
    await withPage(playground, async page => {
        await page.evaluate(() => cleave.source.open('nothing', 10));
        await page.waitForSelector('#trouble:not([hidden])');
        assert.equal(await page.textContent('#trouble'), 'nothing with 10 bodies cannot be made: out of memory, or no such scene');
        await choose(page, 'freefall', 0);
        await untilFrame(page, 2);
        assert.ok(await page.isHidden('#trouble'));
        await pause(page);
        await page.click('#panel-button');
        await page.fill('#search', '250');
        await page.keyboard.press('Enter');
        assert.equal(await page.textContent('#search-error'), 'There is no object 250: type a number from 0 to 249.');
        await checkDialogs(page);
    });
});

test('a slider that has the focus has its keys', async () => {
    await withPage(playground, async page => {
        await choose(page, 'pour', 0);
        await pause(page);
        const { frame } = await said(page);
        await page.focus('#live-size');
        for (const [key, count] of [['ArrowRight', '500'], ['ArrowUp', '1,000'], ['ArrowLeft', '500'], ['Home', '250']]) {
            await page.keyboard.press(key);
            assert.equal(await page.textContent('#live-count'), count, key);
            assert.equal(await page.getAttribute('#live-size', 'aria-valuetext'), `${count} bodies`);
        }
        await page.waitForFunction(() => !cleave.source.waits && cleave.frame !== null);
        assert.equal((await said(page)).frame, '0', `${frame}: a new scene, and no step of it`);
        await page.focus('#live summary');
        await page.keyboard.press('Space');
        assert.deepEqual([await page.isHidden('#method-0'), (await said(page)).playing], [true, 'false']);
    });
});

test('paused, nothing but a step moves the frame or enters a mean', async () => {
    await withPage(playground, async page => {
        await choose(page, 'freefall', 2);
        await untilFrame(page, 12);
        await pause(page);
        const before = await words(page), speeds = () => page.evaluate(() => cleave.old !== cleave.frame && cleave.old.index + 1 === cleave.frame.index);
        assert.ok(await speeds());
        for (const overlay of ['boxes', 'pairs', 'tree', 'cells', 'dops', 'spheres', 'tree']) {
            await page.click(`[data-overlay="${overlay}"]`);
            await page.waitForFunction(() => !cleave.source.waits);
            await page.waitForTimeout(80);
            assert.deepEqual(await words(page), before, overlay);
        }
        for (const colour of ['speed', 'node', 'touching']) {
            await page.selectOption('#colour', colour);
            await page.waitForTimeout(150);
            assert.deepEqual(await words(page), before, colour);
        }
        assert.ok(await speeds(), 'the frame before is still the frame before');
        const laps = () => page.evaluate(() => cleave.source.laps.list.length);
        const count = await laps();
        await page.keyboard.press('ArrowRight');
        await untilSaid(page, 'frame', Number(before['s-frame']) + 1);
        assert.equal(await laps(), count + 1);
        // Other methods: the same frame, pairs at once, and no time until there is one to measure.
        await page.selectOption('#method-1', 'sap');
        await page.waitForFunction(() => cleave.fact().rivals[1]?.method === 'sap');
        const after = await words(page);
        assert.equal(after['s-frame'], String(Number(before['s-frame']) + 1));
        assert.deepEqual([after['ms-0'], after['ms-1'], await laps()], ['–', '–', 0]);
        assert.match(after['pairs-1'], /^[\d,]+ pairs, not timed yet$/);
        for (let i = 1; i <= 2; ++i) {
            await page.keyboard.press('ArrowRight');
            await untilSaid(page, 'frame', Number(before['s-frame']) + 1 + i);
        }
        assert.equal(await laps(), 2);
        assert.match((await words(page))['pairs-1'], /^[\d,]+ pairs$/);
    });
});

test('cards and status bar tell of one frame, always', async () => {
    await withPage(playground, async page => {
        await choose(page, 'freefall', 2);
        await page.waitForFunction(() => cleave.frame !== null);
        const seen = await page.evaluate(async () => {
            const out = [], text = id => document.getElementById(id).textContent.match(/[\d,]+/)?.[0];
            const look = () => out.push([text('s-pairs'), text('pairs-0'), text('pairs-1'), text('verdict')].join(' '));
            for (const end = performance.now() + 2500; performance.now() < end;) { await new Promise(done => requestAnimationFrame(done)); look(); }
            return out;
        });
        assert.ok(new Set(seen).size > 5, `${new Set(seen).size} different frames`);
        assert.deepEqual(seen.filter(line => new Set(line.split(' ')).size !== 1), []);
    });
});

test('a tree is drawn whatever the methods are, and the page says whose', async () => {
    await withPage(playground, async page => {
        await choose(page, 'freefall', 3);
        await pause(page);
        await page.click('[data-overlay="tree"]');
        await page.waitForFunction(() => cleave.frame.tree.axes.length > 1 && cleave.stage.planes.count > 0);
        assert.match(await page.textContent('#legend'), /planes of the tree.*the tree is of kd, beside your two methods: only kd has one/);
        assert.deepEqual(await page.evaluate(() => cleave.fact().rivals.map(({ method }) => method)), ['cleave', 'bvh-d']);
        assert.ok(await page.evaluate(() => new Set(cleave.frame.boxes.filter((_, i) => i % 8 === 7)).size > 1), 'boxes know their nodes');
        await page.selectOption('#method-1', 'kd');
        await page.waitForFunction(() => cleave.fact().rivals[1].method === 'kd' && /the tree is of kd$/.test(document.getElementById('legend').textContent));
        await page.click('[data-overlay="tree"]');
        await page.selectOption('#method-1', 'sap');
        await page.selectOption('#colour', 'node');
        await page.waitForFunction(() => /a colour for each node.*the tree is of kd, beside/.test(document.getElementById('legend').textContent));
        await choose(page, 'pour', 0);
        await page.waitForFunction(() => /too few boxes for planes: all are in one leaf/.test(document.getElementById('legend').textContent));
    });
});

test('the curve has axes, times have units, and a method has its colour everywhere', async () => {
    const rgb = hex => `rgb(${[1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16)).join(', ')})`;
    for (const [colorScheme, look] of [['dark', dark], ['light', light]]) {
        await withPage(playground, async page => {
            await choose(page, 'brownian', 0); // so few take microseconds
            await page.selectOption('#method-0', 'kd');
            await page.waitForFunction(() => cleave.source.laps.list.length > 30);
            await pause(page);
            const [side, below] = await axes(page), told = await words(page);
            assert.ok(side.length >= 2 && side.every(mark => /^[\d.]+ [µm]s$/.test(mark)), String(side));
            assert.ok(below.length >= 3 && below.every(mark => /^frame [\d,]+$/.test(mark)), String(below));
            assert.match(told['s-ms'], /^(< 1|[\d.]+) [µm]s update · (< 1|[\d.]+) [µm]s search · (< 1|[\d.]+) [µm]s list$/);
            assert.equal(await page.textContent('#s-method'), 'kd');
            assert.ok(told['unit-0'] === 'µs' && told['ms-0'] !== '0.000', `${told['ms-0']} ${told['unit-0']}`);
            assert.deepEqual(await page.$$eval('.card', cards => cards.map(card => getComputedStyle(card).borderTopColor)), [rgb(look.palette[0]), rgb(look.palette[3])]);
            assert.deepEqual(await page.$$eval('#course .line', lines => lines.map(line => line.getAttribute('stroke'))), [look.palette[0], look.palette[3]]);
            // It is drawn anew for another width, also while nothing moves.
            await page.setViewportSize({ width: 800, height: 700 });
            await page.waitForFunction(() => [...document.querySelectorAll('#course text')].every(text => text.getBoundingClientRect().right <= innerWidth) && document.querySelector('#course .axis').getBBox().width < 700);
        }, { colorScheme });
    }
});

test('title and buttons are whole at every width', async () => {
    for (const width of [1280, 1024, 800, 390]) await withPage(playground, async page => assert.deepEqual(await cutTexts(page), [], String(width)), { viewport: { width, height: 720 } });
});

test('a telephone can use it: nothing lies on the scene', async () => {
    await withPage(playground, async page => {
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
        await untilFrame(page, 2);
        const look = async (least, what) => {
            const { height, free, hidden } = await reach(page);
            assert.deepEqual(hidden, [], what);
            assert.ok(height >= least && free > 0.95, `${what}: ${height} pixels high, ${free} of it free`);
        };
        await look(300, 'at first');
        await page.tap('#live summary');
        assert.ok(await page.isHidden('#method-0'));
        await page.waitForFunction(() => /free fall · cleave [\d.]+ [µm]s · bvh-d [\d.]+ [µm]s/.test(document.getElementById('live-summary').textContent));
        await look(500, 'folded');
        await page.tap('#panel-button');
        await look(200, 'with the panel');
        await page.tap('#live summary');
        await page.waitForSelector('#panel', { state: 'hidden' }); // one at a time
        await page.tap('#tools-button');
        await look(180, 'with what is drawn');
        await page.tap('#play');
        await untilSaid(page, 'playing', false);
    }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
});
