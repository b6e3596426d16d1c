// SPDX-License-Identifier: MIT
// The playground in headless Chromium, as it stands in the repository.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { closeBrowser, openBrowser, said, untilSaid, withPage } from './browser.mjs';

const playground = fileURLToPath(new URL('../playground.html', import.meta.url));

before(openBrowser);
after(closeBrowser);

const untilFrame = (page, least) => page.waitForFunction(wanted => Number(document.documentElement.dataset.frame) >= wanted, least);
async function choose(page, scene, size) {
    await page.fill('#live-size', String(size));
    await page.selectOption('#live-scene', scene);
    await page.waitForFunction(name => cleave.source.scene_ === name && !cleave.source.isOpening && cleave.frame !== null && cleave.frame.index < 40, scene);
}

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
            assert.match(ms, /^\d+(\.\d+)?$/);
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
        await page.click('#play');
        await untilSaid(page, 'playing', false);
        await page.waitForTimeout(300);
        const { frame } = await said(page);
        await page.click('#on');
        await untilSaid(page, 'frame', Number(frame) + 1);
        await page.keyboard.press('t');
        await page.selectOption('#method-0', 'kd');
        await page.waitForFunction(() => cleave.frame.tree.axes.length > 0);
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

test('a telephone can use it', async () => {
    await withPage(playground, async page => {
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
        await untilFrame(page, 2);
        await page.tap('#live summary');
        assert.ok(await page.isHidden('#method-0'));
        await page.tap('#play');
        await untilSaid(page, 'playing', false);
    }, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
});
