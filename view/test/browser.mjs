// SPDX-License-Identifier: MIT
// Pages in headless Chromium, drawn in software: opened from disk, and failed on anything they complain of or ask the network for.
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

/** Opens a page, waits until it is ready, and gives what `look` gives. */
export async function withPage(path, look, { expectTrouble = false, ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(60000);
    const url = pathToFileURL(path).href, troubles = [];
    page.on('console', message => ['error', 'warning'].includes(message.type()) && !/GPU stall|WebGL.*performance/i.test(message.text()) && troubles.push(message.text()));
    page.on('pageerror', error => troubles.push(String(error.stack)));
    page.on('request', request => request.url() !== url && !/^(blob|data):/.test(request.url()) && troubles.push(`asks for ${request.url()}`));
    await page.goto(url);
    if (!expectTrouble) await page.waitForSelector('html[data-ready="true"]', { state: 'attached' });
    try {
        const answer = await look(page);
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
