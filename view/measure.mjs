// SPDX-License-Identifier: MIT
// What a picture costs in script, and how many draw calls it takes: pages of `cleave view` played in headless Chromium, drawn in software. Prints rows of
// bench/view.md. Usage: CLEAVE=build/cleave node view/measure.mjs [OBJECTS…]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeBrowser, openBrowser, withPage } from './test/browser.mjs';

const sizes = process.argv.length > 2 ? process.argv.slice(2) : ['10k', '100k'];
const overlays = [['bodies', []], ['and boxes, pairs, planes', ['boxes', 'pairs', 'tree']], ['and cells', ['cells']]];
const folder = mkdtempSync(join(tmpdir(), 'cleave-measure-'));

/** Plays from the beginning and gives the script times of the pictures that showed a new frame. */
function play(page) {
    return page.evaluate(async () => {
        cleave.go(0);
        cleave.rate = 30;
        const times = [], seen = new Set();
        cleave.times.length = 0;
        let pictures = 0;
        const begin = performance.now();
        cleave.addEventListener('frame', () => seen.add(cleave.number));
        cleave.play(true);
        while (cleave.playing && performance.now() - begin < 20000) {
            await new Promise(done => requestAnimationFrame(done));
            pictures += 1;
            if (cleave.times.length > 0) times.push(...cleave.times.splice(0));
        }
        cleave.play(false);
        return { times: times.sort((a, b) => a - b), calls: cleave.stage.drawCalls, pictures, frames: seen.size, seconds: (performance.now() - begin) / 1000 };
    });
}

await openBrowser();
console.log('| objects | drawn | script a picture, ms: median | p90 | draw calls | pictures a second, in software |\n| ---: | --- | ---: | ---: | ---: | ---: |');
for (const size of sizes) {
    const path = join(folder, `${size}.html`);
    execFileSync(process.env.CLEAVE ?? 'build/cleave', ['view', `brownian-free:${size}@0+40`, '-q', '-o', path]);
    for (const [name, wanted] of overlays) {
        await withPage(path, async page => {
            await page.evaluate(list => list.forEach(one => cleave.toggle(one)), wanted);
            await play(page); // shaders are compiled, blocks unpacked
            const { times, calls, pictures, seconds } = await play(page);
            const at = share => times[Math.floor(share * (times.length - 1))]?.toFixed(1) ?? '–';
            console.log(`| ${size} | ${name} | ${at(0.5)} | ${at(0.9)} | ${calls} | ${(pictures / seconds).toFixed(0)} |`);
        });
    }
    console.error(`${size}: ${(statSync(path).size / 1e6).toFixed(1)} MB`);
}
await closeBrowser();
rmSync(folder, { recursive: true, force: true });
