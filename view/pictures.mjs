// SPDX-License-Identifier: MIT
// The pictures of the pages in docs/: view.png, view-volumes.png, playground.png and report.png, in headless
// Chromium. Usage: CLEAVE=build/cleave node view/pictures.mjs [NAME…]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closeBrowser, openBrowser, untilSaid, withPage } from './test/browser.mjs';

const folder = mkdtempSync(join(tmpdir(), 'cleave-pictures-')), at = name => join(folder, name);
const program = process.env.CLEAVE ?? 'build/cleave', size = { width: 1180, height: 700 };
const cleave = (...words) => execFileSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });
const keep = (name, bytes) => writeFileSync(fileURLToPath(new URL(`../docs/${name}.png`, import.meta.url)), bytes);

/** Once it has come to rest: pictures are sharp only then. */
async function shoot(page, name) {
    await page.evaluate(() => document.activeElement.blur());
    await page.waitForTimeout(1000);
    keep(name, await page.screenshot());
}

const pictures = {
    async view() {
        cleave('view', 'freefall:2k@60+60', '-q', '-o', at('view.html'));
        await withPage(at('view.html'), async page => {
            await page.evaluate(() => { cleave.go(50); cleave.camera.zoom(0.92); cleave.select(700); });
            await untilSaid(page, 'frame', 50);
            await shoot(page, 'view');
        }, { viewport: size });
    },
    async 'view-volumes'() {
        cleave('view', 'freefall:500@60+40', '--bodies', '-q', '-o', at('turned.html'));
        await withPage(at('turned.html'), async page => {
            await page.evaluate(() => { cleave.go(30); cleave.camera.zoom(0.42); });
            await untilSaid(page, 'frame', 30);
            await page.evaluate(() => { cleave.toggle('dops'); cleave.falses('dops'); });
            await shoot(page, 'view-volumes');
        }, { viewport: size });
    },
    async playground() {
        await withPage(fileURLToPath(new URL('playground.html', import.meta.url)), async page => {
            await page.selectOption('#live-scene', 'gravity');
            await page.fill('#live-size', '5');
            await page.waitForFunction(() => cleave.source.capacity === 8000 && cleave.frame?.index >= 100, null, { timeout: 300000 });
            await page.click('#play');
            await shoot(page, 'playground');
        }, { viewport: size });
    },
    /** The top of a page, light on the left and dark on the right. */
    async report() {
        cleave('run', 'demo', '-q', '--json', at('demo.json'));
        cleave('report', at('demo.json'), '-o', at('report.html'));
        const halves = [];
        for (const colorScheme of ['light', 'dark']) {
            await withPage(at('report.html'), async page => {
                await page.waitForTimeout(1500);
                halves.push((await page.screenshot()).toString('base64'));
            }, { viewport: { width: 1000, height: 746 }, colorScheme, isPlain: true });
        }
        writeFileSync(at('both.html'), `<body style="margin:0">${halves.map((half, dark) => `<img style="position:absolute;left:0;top:0;width:1000px${dark ? ';clip-path:polygon(62% 0,100% 0,100% 100%,48% 100%)' : ''}" src="data:image/png;base64,${half}">`).join('')}`);
        await withPage(at('both.html'), async page => keep('report', await page.screenshot()), { viewport: { width: 1000, height: 746 }, isPlain: true });
    },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(pictures);
const unknown = names.find(name => !(name in pictures));
if (unknown) throw new Error(`no picture '${unknown}': there are ${Object.keys(pictures).join(', ')}`);
await openBrowser();
for (const name of names) {
    await pictures[name]();
    console.log(`docs/${name}.png`);
}
await closeBrowser();
rmSync(folder, { recursive: true, force: true });
