// SPDX-License-Identifier: MIT
// What `make site` wrote, in headless Chromium: SITE is its folder, CHROMIUM the browser.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createRequire } from 'node:module';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { chromium } = createRequire(new URL('../../report/package.json', import.meta.url))('playwright-core');
const { SITE, CHROMIUM = '/usr/bin/chromium' } = process.env;
const home = `${pathToFileURL(SITE).href}/`;
let browser;

before(async () => {
    // The sandbox refuses to run as root; nothing but our own pages is opened.
    const args = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])];
    browser = await chromium.launch({ executablePath: CHROMIUM, args, timeout: 60000 });
});
after(() => browser?.close());

/** A page that fails on errors and on anything that is not a file of the site. */
async function withPage(options, look) {
    const page = await browser.newPage(options), troubles = [];
    page.setDefaultTimeout(60000);
    page.on('pageerror', error => troubles.push(`${page.url()}: ${error.stack}`));
    page.on('request', request => !request.url().startsWith(home) && !/^(blob|data):/.test(request.url()) && troubles.push(`${page.url()} asks for ${request.url()}`));
    page.on('requestfailed', request => !/ERR_ABORTED/.test(request.failure()?.errorText) && troubles.push(`${page.url()} has no ${request.url()}`));
    try {
        await look(page);
    } finally {
        await page.close();
    }
    assert.deepEqual(troubles, []);
}

const pages = readdirSync(SITE, { recursive: true }).filter(name => name.endsWith('.html') && !name.startsWith('view/'));

for (const width of [390, 1280]) {
    test(`no page is wider than ${width} pixels`, async () => {
        assert.ok(pages.length > 80, `${pages.length} pages`);
        await withPage({ viewport: { width, height: 844 } }, async page => {
            for (const name of pages) {
                await page.goto(home + name, { waitUntil: 'domcontentloaded' });
                const [has, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
                assert.ok(has <= room, `${name}: ${has} of ${room} pixels`);
            }
        });
    });
}

test('text can be read on its ground, light and dark', async () => {
    for (const colorScheme of ['light', 'dark']) {
        await withPage({ colorScheme }, async page => {
            await page.goto(`${home}docs/guide.html`);
            const contrasts = await page.evaluate(() => {
                const light = color => {
                    const [r, g, b] = color.match(/[\d.]+/g).map(part => part / 255).map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
                    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                };
                const ground = light(getComputedStyle(document.body).backgroundColor);
                return ['body', 'a[href]', 'footer', 'nav a'].map(which => {
                    const ink = light(getComputedStyle(document.querySelector(which)).color);
                    return [which, (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05)];
                });
            });
            for (const [which, contrast] of contrasts) assert.ok(contrast >= 4.5, `${colorScheme}, ${which}: ${contrast.toFixed(2)}`);
        });
    }
});

test('the playground runs on the first screen', async () => {
    await withPage({ viewport: { width: 1280, height: 844 } }, async page => {
        await page.goto(`${home}index.html`);
        const frame = page.frameLocator('iframe.play');
        await frame.locator('html[data-ready="true"]').waitFor({ state: 'attached' });
        const top = await page.$eval('iframe.play', play => play.getBoundingClientRect().top);
        assert.ok(top < 844 / 4, `it begins at ${top}`);
    });
});

test('the search finds names and headings, and its address keeps what was asked', async () => {
    await withPage({}, async page => {
        await page.goto(`${home}reference/index.html`);
        await page.fill('#search', 'clv_space_upd');
        await page.click('#found a:text-is("clv_space_update")');
        assert.match(page.url(), /space\.h\.html#clv_space_update$/);
        assert.ok(await page.isVisible('#clv_space_update'));
        await page.goto(`${home}reference/index.html?q=nothing+of+the+kind`);
        assert.equal(await page.textContent('#found'), 'nothing is called so');
    });
});
