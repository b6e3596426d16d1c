// SPDX-License-Identifier: MIT
// What a picture costs in script, and how many draw calls it takes: pages of `cleave view` played in headless
// Chromium, drawn in software. Times are processor time of the page's thread and of the process that draws,
// so that a busy machine changes little. Prints rows of bench/view.md. Usage: CLEAVE=build/cleave node
// view/measure.mjs [OBJECTS|PAGE.html…]
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { closeBrowser, openBrowser, withPage } from './test/browser.mjs';

const sizes = process.argv.length > 2 ? process.argv.slice(2) : ['10k', '100k'];
const overlays = [['bodies', []], ['and boxes, pairs, planes', ['boxes', 'pairs', 'tree']], ['and cells', ['cells']]];
const folder = mkdtempSync(join(tmpdir(), 'cleave-measure-'));

/** Plays from the beginning; gives how many pictures were drawn, and the draw calls of one. */
function play(page) {
    return page.evaluate(async () => {
        cleave.go(0);
        cleave.rate = 30;
        let pictures = 0;
        cleave.times.push = function (...values) { pictures += values.length; return Array.prototype.push.apply(this, values); };
        const begin = performance.now();
        cleave.play(true);
        while (cleave.playing && performance.now() - begin < 15000) await new Promise(done => requestAnimationFrame(done));
        cleave.play(false);
        return { calls: cleave.stage.drawCalls, pictures };
    });
}

/**
 * Processor time of the process that draws, in milliseconds: it is the picture's, whatever else the machine
 * does.
 */
function drawerMs() {
    const ids = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n').filter(line => line.includes('--type=gpu-process') && isOurs(line)).map(line => Number(line.trim().split(/\s+/)[0]));
    return ids.reduce((sum, id) => sum + readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).reduce((ticks, value) => ticks + 10 * Number(value), 0), 0);
}

/** Started by this program: one of its parents is. */
function isOurs(line) {
    for (let id = Number(line.trim().split(/\s+/)[1]); id > 1;) {
        if (id === process.pid) return true;
        id = Number(readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ')[1]);
    }
    return false;
}

async function measure(page) {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const script = async () => (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration').value * 1000;
    await play(page); // shaders are compiled, blocks unpacked
    const before = await script(), drawn = drawerMs();
    const { calls, pictures } = await play(page);
    return { calls, script: (await script() - before) / pictures, drawing: (drawerMs() - drawn) / pictures, pictures };
}

await openBrowser();
console.log('| objects | drawn | script, ms a picture | drawing in software, ms a picture | draw calls |\n| ---: | --- | ---: | ---: | ---: |');
for (const size of sizes) {
    const path = size.endsWith('.html') ? resolve(size) : join(folder, `${size}.html`); // a page that is there: one of an older program, to compare
    if (!size.endsWith('.html')) execFileSync(process.env.CLEAVE ?? 'build/cleave', ['view', `brownian-free:${size}@0+40`, '-q', '-o', path]);
    for (const [name, wanted] of overlays) {
        await withPage(path, async page => {
            await page.evaluate(list => list.forEach(one => cleave.toggle(one)), wanted);
            const { calls, script, drawing } = await measure(page);
            console.log(`| ${basename(size, '.html')} | ${name} | ${script.toFixed(2)} | ${drawing.toFixed(0)} | ${calls} |`);
        }, { viewport: { width: 1280, height: 720 } });
    }
    console.error(`${size}: ${(statSync(path).size / 1e6).toFixed(1)} MB`);
}
await closeBrowser();
rmSync(folder, { recursive: true, force: true });
