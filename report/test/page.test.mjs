// SPDX-License-Identifier: MIT
// The page that `cleave report` writes, in headless Chromium: opened from disk, clicked, printed. CLEAVE
// names the program, CHROMIUM the browser; SHOTS, if set, a folder for screenshots.
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { METHODS } from '../src/look.js';
import { fullResults, hostileResults, makeResults, makeRun, scalingResults, wrongResults } from './sample.mjs';

const { CLEAVE, CHROMIUM = '/usr/bin/chromium', SHOTS } = process.env;
const folder = mkdtempSync(join(tmpdir(), 'cleave-report-'));
let browser;

before(async () => {
    // The sandbox refuses to run as root; nothing but our own page is opened.
    browser = await chromium.launch({ executablePath: CHROMIUM, args: process.getuid() === 0 ? ['--no-sandbox'] : [], timeout: 60000 });
});
after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
});

function writePage(name, ...results) {
    const files = results.map((one, index) => {
        const path = join(folder, `${name}-${index}.json`);
        writeFileSync(path, JSON.stringify(one));
        return path;
    });
    const page = join(folder, `${name}.html`);
    execFileSync(CLEAVE, ['report', ...files, '-o', page]);
    return pathToFileURL(page).href;
}

/** Opens a page and fails on anything it complains of or asks the network for; gives what `look` gives. */
async function withPage(url, look, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const troubles = [];
    page.on('console', message => ['error', 'warning'].includes(message.type()) && troubles.push(message.text()));
    page.on('pageerror', error => troubles.push(String(error.stack)));
    page.on('request', request => request.url() !== url && !/^(blob|data):/.test(request.url()) && troubles.push(`asks for ${request.url()}`));
    page.on('dialog', dialog => troubles.push(`dialog: ${dialog.message()}`));
    await page.goto(url);
    await page.waitForSelector('section');
    await page.waitForTimeout(400); // first drawing and its animation
    try {
        const answer = await look(page);
        assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /\[object |undefined|NaN/);
        assert.deepEqual(troubles, []);
        return answer;
    } finally {
        await context.close();
    }
}

/** Shows SVG files one by one and gives where their texts end. */
async function withSvgs(place, files, look) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    for (const file of files) {
        await page.setContent(readFileSync(join(place, file), 'utf8'));
        const { texts, width, height } = await page.evaluate(() => {
            const svg = document.querySelector('svg');
            const frame = svg.getBoundingClientRect();
            const texts = [...svg.querySelectorAll('text')].map(text => ({ text: text.textContent, box: text.getBoundingClientRect() }));
            return { width: frame.width, height: frame.height, texts: texts.map(({ text, box }) => ({ text, right: box.right - frame.left, bottom: box.bottom - frame.top })) };
        });
        look(file, texts, width, height);
    }
    await page.close();
}

const firstColumn = (page, section) => page.$$eval(`${section} tbody tr > :first-child`, cells => cells.map(cell => cell.textContent));
const shown = (page, section) => page.$$eval(`${section} figure svg path[stroke-width="2"], ${section} figure svg path[stroke-width="3"]`, paths => paths.length);

test('every section is there, with plots in it, and no error is logged', async () => {
    await withPage(writePage('full', fullResults()), async page => {
        const sections = await page.$$eval('section', list => list.map(section => section.id));
        assert.deepEqual(sections, ['time', 'radar', 'scene', 'memory', 'sweeps', 'hashes', 'failures', 'machine', 'runs']);
        const plots = await page.$$eval('figure', list => list.map(figure => [figure.querySelector('.plot').ariaLabel, figure.querySelectorAll('svg path').length]));
        assert.equal(plots.length, 10);
        for (const [name, paths] of plots) assert.ok(paths > 5, `${name}: ${paths} paths`);
        assert.match(await page.textContent('.card.good'), /12 of 12/);
        assert.match(await page.textContent('#failures'), /signal 11/);
        assert.match(await page.textContent('#scene details'), /cleave, kd.*count besides \(2\).*nodes.*leaves/s);
    });
});

test('no label lies on another', async () => {
    await withPage(writePage('labels', fullResults()), async page => {
        await page.click('.preset >> text=all');
        await page.waitForTimeout(400);
        assert.deepEqual(await badTexts(page), []);
    });
});

test('a click on a heading sorts, a second one turns the order', async () => {
    await withPage(writePage('sort', fullResults()), async page => {
        const heading = page.locator('#runs thead button', { hasText: 'median ms' });
        const column = () => page.$$eval('#runs tbody tr', rows => rows.map(row => row.children[7].textContent.replace(',', '')));
        await heading.click();
        const numbers = (await column()).filter(text => text !== '–').map(Number);
        assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
        assert.equal(await page.getAttribute('#runs thead th:nth-child(8)', 'aria-sort'), 'ascending');
        assert.deepEqual((await column()).slice(-3), ['–', '–', '–'], 'runs without a time come last');
        await heading.click();
        const turned = (await column()).filter(text => text !== '–').map(Number);
        assert.deepEqual(turned, [...turned].sort((a, b) => b - a));
        assert.deepEqual((await column()).slice(-3), ['–', '–', '–'], 'turned round, too');
        await page.click('#time .part:first-of-type thead button >> nth=0');
        const names = (await firstColumn(page, '#time .part:first-of-type'));
        assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })));
    });
});

test('a click in a legend hides a series, everywhere; another shows it again', async () => {
    await withPage(writePage('legend', fullResults()), async page => {
        const before = [await shown(page, '#time'), await shown(page, '#radar')];
        await page.locator('#time figure svg text', { hasText: /^kd\s+n\^/ }).first().click();
        await page.waitForTimeout(500);
        const hidden = [await shown(page, '#time'), await shown(page, '#radar')];
        assert.ok(hidden[0] < before[0] && hidden[1] < before[1], `${before} -> ${hidden}`);
        assert.equal(await page.getAttribute('.chip[title="kd"]', 'aria-pressed'), 'false');
        await page.click('.chip[title="kd"]');
        await page.waitForTimeout(500);
        assert.deepEqual([await shown(page, '#time'), await shown(page, '#radar')], before);
    });
});

test('eight methods are shown at first, other people\'s among them, and the page says so; all, eight and none are a click away', async () => {
    await withPage(writePage('many', fullResults()), async page => {
        const names = () => page.$$eval('.chip[aria-pressed="true"]', chips => chips.map(chip => chip.title)), pressed = async () => (await names()).length;
        assert.deepEqual((await names()).sort(), ['bullet-axissweep', 'bullet-dbvt-d', 'bullet-dbvt-f', 'cleave', 'kd', 'kd-complete', 'kd-incremental', 'kd-rebuilt']);
        assert.equal(await page.textContent('#shown'), '8 of 23 are shown');
        assert.match(await page.textContent('.methods .about'), /^Plots begin with 8 methods: cleave, up to 3 that are not ours, and the fastest of the rest\. A click on a name shows or hides it in every plot; tables hold all\.$/);
        // Lines of a plot and what marks them in its legend, which lists the others too.
        for (const id of ['#time', '#memory']) assert.ok(await page.$$eval(`${id} figure`, list => list.every(figure => figure.querySelectorAll('svg path[stroke-width="2"][fill="none"], svg path[stroke-width="3"][fill="none"]').length <= 2 * 8)), id);
        assert.equal(await page.$$eval('#time tbody tr', rows => rows.length), 3 * 23);
        for (const [text, count] of [['all', 23], ['the fastest 8', 8], ['none', 0]]) {
            await page.click(`.preset >> text=${text}`);
            assert.equal(await pressed(), count);
            assert.equal(await page.textContent('#shown'), `${count} of 23 are shown`);
        }
        assert.ok(await page.isVisible('#scene figure .note, #scene figure p'), 'an empty plot says so');
    });
});

test('scene, size, kind, scale and measure can be chosen', async () => {
    await withPage(writePage('choices', fullResults()), async page => {
        await page.selectOption('#scene .picker select >> nth=0', 'gravity');
        await page.selectOption('#scene .picker select >> nth=1', '2k');
        assert.equal(await page.textContent('#scene h2'), 'One scene: gravity, 2k objects');
        for (const text of ['boxes', 'shares', 'linear']) await page.locator('#scene .choice button', { hasText: text }).first().click();
        await page.locator('#radar .choice button', { hasText: 'linear' }).click();
        await page.locator('#memory .choice button', { hasText: 'in all' }).click();
        await page.locator('.measure button', { hasText: 'p99' }).click();
        await page.waitForTimeout(400);
        assert.ok(await page.locator('#time figure svg text', { hasText: 'ms per frame, p99' }).count() > 0);
    });
});

test('the theme follows the system, the buttons win, and a reload remembers', async () => {
    const url = writePage('theme', fullResults());
    const ground = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await withPage(url, ground, { colorScheme: 'light' });
    await withPage(url, async page => {
        const dark = await ground(page);
        assert.notEqual(dark, light);
        await page.click('.title .choice button >> text=light');
        assert.equal(await ground(page), light);
        await page.click('.title .choice button >> text=dark');
        assert.equal(await ground(page), dark);
        await page.click('.title .choice button >> text=light');
        await page.reload();
        await page.waitForSelector('section');
        assert.equal(await ground(page), light);
    }, { colorScheme: 'dark' });
});

test('it prints, in light', async () => {
    await withPage(writePage('print', fullResults()), async page => {
        const pdf = await page.pdf({ format: 'A4' });
        assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
        assert.ok(pdf.length > 50000, `${pdf.length} bytes`);
        if (SHOTS) writeFileSync(join(SHOTS, 'print.pdf'), pdf);
    }, { colorScheme: 'dark' });
});

test('of many runs of few methods eight are shown at first, with those that are not ours', async () => {
    const ours = ['kd', 'sap', 'grid', 'brute'].flatMap((method, index) => Array.from({ length: 10 }, (_, place) =>
        makeRun({ method, threads: place + 1, ms: 1 + index + 0.01 * place })));
    const theirs = ['cgal', 'ode-sap'].map(method => makeRun({ method, variant: 'plain', ms: 100, update_ms: null, search_ms: null, tests: null }));
    await withPage(writePage('more', makeResults([...ours, ...theirs])), async page => {
        const pressed = await page.$$eval('.chip[aria-pressed="true"]', chips => chips.map(chip => chip.title));
        assert.equal(pressed.length, 8);
        assert.ok(pressed.includes('cgal') && pressed.includes('ode-sap'), String(pressed));
        const cells = await page.$$eval('#runs tbody tr', rows => rows.map(row => [...row.children].map(cell => cell.textContent)).filter(row => row[3] === 'cgal')[0]);
        assert.deepEqual([cells[11], cells[12], cells[14]], ['–', '–', '–'], 'stages and tests of others are not known');
    });
});

test('hashes that differ are said first, loudly', async () => {
    await withPage(writePage('wrong', wrongResults()), async page => {
        assert.equal(await page.$eval('section', section => section.id), 'alarm');
        assert.match(await page.textContent('#alarm'), /0x00000000000000bb.*liar/s);
        assert.match(await page.textContent('.card.bad'), /1 of 1/);
        assert.equal(await page.$eval('.card.bad', card => getComputedStyle(card).backgroundColor), 'rgb(179, 20, 15)');
    });
});

test('hostile names stay text', async () => {
    const url = writePage('hostile', hostileResults());
    await withPage(url, async page => {
        await page.locator('.preset', { hasText: 'all' }).click();
        for (const figure of await page.$$('figure .plot')) {
            if (!(await figure.isVisible())) continue;
            await figure.scrollIntoViewIfNeeded();
            const box = await figure.boundingBox();
            for (let x = 0.1; x < 0.9; x += 0.08) await page.mouse.move(box.x + box.width * x, box.y + box.height * 0.5); // tooltips
        }
        assert.equal(await page.evaluate(() => window.broken), undefined);
        assert.equal(await page.$$eval('main img, main script', list => list.length), 0);
        assert.ok((await page.textContent('#runs')).includes('</script><script>'));
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'long names do not widen the page');
    });
});

test('no runs, one run, five hundred runs', async () => {
    await withPage(writePage('none', makeResults([])), async page => assert.match(await page.textContent('main'), /hold no runs/));
    await withPage(writePage('one', makeResults([makeRun({})])), async page => assert.equal(await page.$$eval('#runs tbody tr', rows => rows.length), 1));
    const runs = Array.from({ length: 500 }, (_, index) => makeRun({ method: `method-${index % 50}`, objects: 1000 * 2 ** Math.floor(index / 50), ms: 1 + index }));
    await withPage(writePage('five-hundred', makeResults(runs)), async page => {
        assert.equal(await page.$$eval('#runs tbody tr', rows => rows.length), 500);
        await page.click('.preset >> text=all');
        await page.waitForTimeout(300);
    });
});

test('a plot of a parameter begins with eight lines, too, and the legend shows the others', async () => {
    const runs = Array.from({ length: 11 }, (_, index) => [8, 16, 32].map(leaf => makeRun({ method: `method-${index}`, settings: `kd.leaf=${leaf}`, ms: 1 + index + leaf / 100 }))).flat();
    await withPage(writePage('sweeps', makeResults([makeRun({}), ...runs])), async page => {
        const lines = () => page.$$eval('#sweeps svg path[stroke-width="2"][fill="none"]', list => list.filter(path => path.getBBox().width > 100).length);
        assert.equal(await lines(), 8);
        assert.equal(await page.textContent('#sweeps figure .about'), '8 of 11 lines are shown at first: a click in the legend shows or hides one.');
        await page.locator('#sweeps svg text', { hasText: /^method-9$/ }).click();
        await page.waitForTimeout(400);
        assert.equal(await lines(), 9);
        await page.click('.title .choice button >> text=dark'); // drawn anew
        await page.waitForTimeout(400);
        assert.equal(await lines(), 9);
    });
});

test('every method of the program has a colour of its own', () => {
    const { methods } = JSON.parse(execFileSync(CLEAVE, ['methods', '--json'], { encoding: 'utf8', maxBuffer: 1 << 26 }));
    assert.deepEqual(methods.map(({ name }) => name).filter(name => name !== 'cleave' && !METHODS.includes(name)), []);
});

test('no folder of this machine is in a page', async () => {
    const results = makeResults([makeRun({}), makeRun({ method: 'sap', status: 'failed', reason: `${folder}/x.so: cannot be opened`, ms_median: null, pairs_hash: null, key: `${folder}/a.aabbs (9 bytes)` })], { flags: `-I${folder}/include` });
    const url = writePage('secret', results, results);
    assert.ok(!readFileSync(fileURLToPath(url), 'utf8').includes(folder));
    await withPage(url, async page => {
        assert.match(await page.textContent('#failures'), /…\/x\.so: cannot be opened/);
        assert.match(await page.textContent('#machine'), /secret-0\.json/);
    });
});

/** What is cut off at an edge of its plot, and what lies on something else. */
const badTexts = page => page.$$eval('figure svg', plots => plots.flatMap(plot => {
    const frame = plot.getBoundingClientRect(), name = plot.closest('.plot').ariaLabel;
    const boxes = [...plot.querySelectorAll('text')].map(text => ({ text: text.textContent, box: text.getBoundingClientRect() })).filter(({ box }) => box.width > 0);
    const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    return [...boxes.filter(({ box }) => box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1).map(({ text }) => `${name}: ${text} is cut off`),
        ...boxes.flatMap((one, index) => boxes.slice(index + 1).filter(other => overlap(one.box, other.box)).map(other => `${name}: ${one.text} | ${other.text}`))];
}));

test('a telephone can read it', async () => {
    for (const [name, results] of [['narrow', fullResults()], ['narrow-scaling', scalingResults()], ['narrow-hostile', hostileResults()]]) {
        await withPage(writePage(name, results), async page => {
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
            assert.deepEqual(await badTexts(page), []);
            const outside = await page.$$eval('button, select', all => all.filter(one => !one.closest('.scroll') && one.offsetParent !== null).filter(one => { const { left, right } = one.getBoundingClientRect(); return left < 0 || right > innerWidth; }).map(one => one.textContent));
            assert.deepEqual(outside, []);
            // Tables are wider than the page: they scroll, and what a row is of stays in sight.
            const [table] = await page.$$('.scroll');
            const left = () => table.$eval('tbody th', cell => cell.getBoundingClientRect().left);
            const before = await left();
            await table.evaluate(element => { element.scrollLeft = 200; });
            assert.ok(Math.abs(await left() - before) < 14, `${before} -> ${await left()}`);
        }, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    }
});

test('a plot saves itself as SVG', async () => {
    await withPage(writePage('save', fullResults()), async page => {
        await page.hover('#radar figure');
        const [download] = await Promise.all([page.waitForEvent('download'), page.click('#radar .save')]);
        assert.match(download.suggestedFilename(), /^radar.*\.svg$/);
        assert.match(readFileSync(await download.path(), 'utf8'), /^<svg/);
    });
});

test('--svg writes files that a browser reads as SVG', async () => {
    for (const [name, results] of [['svg-full', fullResults()], ['svg-hostile', hostileResults()]]) {
        const json = join(folder, `${name}.json`);
        const target = join(folder, name);
        writeFileSync(json, JSON.stringify(results));
        execFileSync(CLEAVE, ['report', json, '--svg', target]);
        const files = readdirSync(target);
        assert.ok(files.includes('report.html') && files.filter(file => file.endsWith('.svg')).length >= 6, String(files));
        assert.deepEqual(files.filter(file => !/\.(svg|html)$/.test(file)), []);
        await withPage(pathToFileURL(join(target, 'report.html')).href, async page => {
            for (const file of files.filter(one => one.endsWith('.svg'))) {
                const trouble = await page.evaluate(text => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')?.textContent, readFileSync(join(target, file), 'utf8'));
                assert.equal(trouble, undefined, file);
            }
        });
        // Whatever font is here, nothing is cut off at the edge.
        await withSvgs(target, files.filter(one => one.endsWith('.svg')), (file, texts, width, height) => {
            for (const { text, right, bottom } of texts) assert.ok(right <= width + 0.5 && bottom <= height + 0.5, `${file}: ${text} ends at ${right}, ${bottom}`);
        });
    }
});

test('screenshots, where wanted', { skip: !SHOTS }, async () => {
    mkdirSync(SHOTS, { recursive: true });
    for (const colorScheme of ['light', 'dark']) {
        await withPage(writePage(`shot-${colorScheme}`, fullResults()), page => page.screenshot({ path: join(SHOTS, `${colorScheme}.png`), fullPage: true }), { colorScheme });
    }
});

test('runs with several numbers of processes are drawn against them', async () => {
    await withPage(writePage('scaling', scalingResults()), async page => {
        assert.equal(await page.$$eval('#scaling figure svg', list => list.length), 2);
        assert.equal(await shown(page, '#scaling'), 2 * 3); // a line and its mark in the legend
        const cells = await page.$$eval('#scaling tbody tr', rows => rows.map(row => [...row.children].map(cell => cell.textContent)));
        assert.equal(cells.length, 15);
        assert.ok(cells.some(row => row.join('|').startsWith('cleave, processes|16|16m|')));
        if (SHOTS) await (await page.$('#scaling')).screenshot({ path: join(SHOTS, 'scaling.png') });
    });
});
