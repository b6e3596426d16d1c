// SPDX-License-Identifier: MIT
// Pages in headless Chromium, drawn in software: opened from disk, and failed on anything they complain
// of or ask the network for.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(new URL('../../report/package.json', import.meta.url))('playwright-core');
let browser;

export async function openBrowser() {
    // The sandbox refuses to run as root; nothing but our own page is opened.
    const args = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])];
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args, timeout: 60000 });
}

export const closeBrowser = () => browser?.close();

/**
 * Opens a page, waits until it is ready (`isPlain`: it is no page that says so), and gives what `look` gives.
 */
export async function withPage(path, look, { expectTrouble = false, withoutWebGL = false, isPlain = false, ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60000);
    const url = pathToFileURL(path).href, troubles = [];
    page.on('console', message => ['error', 'warning'].includes(message.type()) && !/GPU stall|WebGL.*performance/i.test(message.text()) && troubles.push(message.text()));
    page.on('pageerror', error => troubles.push(String(error.stack)));
    page.on('request', request => request.url() !== url && !/^(blob|data):/.test(request.url()) && troubles.push(`asks for ${request.url()}`));
    if (withoutWebGL) await page.addInitScript(() => { HTMLCanvasElement.prototype.getContext = () => null; });
    await page.goto(url);
    if (!expectTrouble && !isPlain) await page.waitForSelector('html[data-ready="true"]', { state: 'attached' });
    try {
        const answer = await look(page);
        assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /\[object |undefined|NaN/);
        assert.deepEqual(troubles, []);
        return answer;
    } finally {
        await context.close();
    }
}

/** What the root element says: data-frame, data-pairs and so on. */
export const said = page => page.evaluate(() => ({ ...document.documentElement.dataset }));

/** Waits until it says so. */
export const untilSaid = (page, key, value) => page.waitForFunction(([name, wanted]) => document.documentElement.dataset[name] === wanted, [key, String(value)]);

/**
 * Everything that a page can lay over itself or say aloud. A new one belongs here, and its words into a test.
 */
export const DIALOGS = ['help', 'search-error', 'trouble'];

/** Are these all, and is what is seen of them written by people? */
export async function checkDialogs(page) {
    const all = await page.$$eval('dialog, [role="alert"], [role="dialog"], [role="alertdialog"], [popover]', list => list.map(one => ({ id: one.id, text: one.textContent })));
    assert.deepEqual(all.map(({ id }) => id).sort(), DIALOGS);
    for (const { id, text } of all) assert.doesNotMatch(text, /\[object|undefined|null|NaN/, `${id}: ${text}`);
}

/**
 * What a dialog says as lines, its rows as 'keys: meaning'; fails unless it is open, whole on the
 * screen, and seen from its top.
 */
export async function readHelp(page) {
    const { lines, box, top, view, focus } = await page.$eval('#help', help => {
        const rows = [...help.querySelectorAll('dt')].map(dt => `${[...dt.childNodes].map(one => one.textContent.trim()).filter(Boolean).join(' ')}: ${dt.nextElementSibling.textContent}`);
        const { left, right, top, bottom } = help.getBoundingClientRect();
        return { lines: [help.querySelector('h2').textContent, ...rows, help.querySelector('p').textContent], box: { left, right, top, bottom }, top: help.scrollTop, view: [innerWidth, innerHeight], focus: document.activeElement.id };
    });
    assert.ok(await page.isVisible('#help-title') && await page.isVisible('#help-close'));
    assert.equal(top, 0, 'the help is scrolled');
    assert.ok(box.left >= 0 && box.top >= 0 && box.right <= view[0] && box.bottom <= view[1], `${JSON.stringify(box)} of ${view}`);
    assert.equal(focus, 'help-close');
    assert.equal(await page.$$eval('#help dt', all => all.filter(dt => dt.querySelectorAll('kbd').length === 0).length), 0, 'every line names its keys');
    await checkDialogs(page);
    return lines;
}

/** Texts of the header that are cut off or leave the page. */
export const cutTexts = page => page.$$eval('#title, #subtitle, header button, header select', all => all.filter(one => one.offsetParent !== null)
    .filter(one => { const { left, right } = one.getBoundingClientRect(); return one.scrollWidth > one.clientWidth + 1 && one.tagName !== 'SELECT' && getComputedStyle(one).display !== 'inline' || left < 0 || right > innerWidth; }).map(one => one.id || one.textContent));

/**
 * Which share of the scene nothing lies on, not even the legend, which lets pointers through; and the
 * controls that something else covers, or that lie outside.
 */
export function reach(page) {
    return page.evaluate(() => {
        const { left, top, width, height } = document.getElementById('picture').getBoundingClientRect();
        let free = 0;
        for (let i = 0; i < 20; ++i) for (let k = 0; k < 20; ++k) free += document.elementFromPoint(left + (i + 0.5) / 20 * width, top + (k + 0.5) / 20 * height)?.id === 'picture';
        const hidden = [...document.querySelectorAll('button, select, input, summary')].filter(one => one.checkVisibility?.() ?? one.offsetParent !== null).filter(one => {
            const box = one.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
            const there = document.elementFromPoint(x, y);
            return box.left < 0 || box.right > innerWidth || box.top < 0 || box.bottom > innerHeight || !(there && (one.contains(there) || there.contains(one)));
        }).map(one => one.id || one.textContent);
        const legend = document.getElementById('legend').getBoundingClientRect();
        return { height, free: legend.top < top + height - 1 && legend.height > 0 ? 0 : free / 400, hidden };
    });
}

/** The marks of the curve's axes: [of the side], [below]. */
export const axes = page => page.$eval('#course', svg => ['y', 'x'].map(kind => [...svg.querySelectorAll(`text.${kind}`)].map(text => text.textContent)));

/** How much two pictures differ: mean over coarse pixels and channels, 0 to 255. */
export function differ(page, one, two) {
    return page.evaluate(async pictures => {
        const [a, b] = await Promise.all(pictures.map(async text => {
            const image = new Image();
            image.src = `data:image/png;base64,${text}`;
            await image.decode();
            const canvas = Object.assign(document.createElement('canvas'), { width: 80, height: 50 });
            const context = canvas.getContext('2d');
            context.imageSmoothingQuality = 'high';
            context.drawImage(image, 0, 0, 80, 50);
            return context.getImageData(0, 0, 80, 50).data;
        }));
        return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / (0.75 * a.length);
    }, [one, two].map(bytes => bytes.toString('base64')));
}
