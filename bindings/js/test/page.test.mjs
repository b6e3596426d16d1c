// SPDX-License-Identifier: MIT
// In headless Chromium: with threads on a page that is cross-origin isolated, without on another, and the
// same pairs as in node. DRIVER is a package.json beside which playwright-core is installed.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import test from 'node:test';

import { loadCleave } from '../index.js';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
let driver = null;
try {
    driver = createRequire(process.env.DRIVER)('playwright-core');
} catch {
    // told below
}
const skip = driver === null ? 'DRIVER names no package with playwright-core' : existsSync(CHROMIUM) ? false : `no ${CHROMIUM} here`;
const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };

// What is asked in both places. It goes to the page as text.
async function look(loadCleave) {
    const cleave = await loadCleave({ threads: 3 });
    const space = cleave.createSpace({ settings: 'cleave.alone=0' });
    const count = 20000, boxes = new Float32Array(6 * count);
    let state = 1;
    for (let i = 0; i < count; ++i) {
        const corner = [0, 1, 2].map(() => {
            state = Math.imul(state, 1664525) + 1013904223 >>> 0;
            return 30 * state / 2 ** 32;
        });
        boxes.set([...corner, ...corner.map((x) => x + 1)], 6 * i);
    }
    const ids = space.add(boxes);
    space.update();
    space.move(ids, boxes.map((x) => x + 0.01));
    space.update();
    const hit = space.castRay([-1, 15, 15], [1, 0.01, 0.02]);
    let hash = 2166136261;
    space.pairs.forEach((index) => { hash = Math.imul(hash ^ index, 16777619); });
    return { threads: cleave.threads, why: cleave.whyNoThreads, isa: space.isa, workers: space.workers, hit, pairs: space.pairs.length / 2, hash: hash >>> 0 };
}

function serve(isolated) {
    return new Promise((done) => {
        const server = createServer((request, answer) => {
            const path = request.url.split('?')[0];
            const headers = isolated ? { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' } : {};
            const file = new URL(`..${path}`, import.meta.url);
            if (path === '/') {
                answer.writeHead(200, { 'Content-Type': 'text/html', ...headers }).end('<!doctype html><title>Cleave</title>');
            } else if (existsSync(file)) {
                answer.writeHead(200, { 'Content-Type': TYPES[path.split('.').pop()] ?? 'text/plain', ...headers }).end(readFileSync(file));
            } else {
                answer.writeHead(404).end();
            }
        });
        server.listen(0, '127.0.0.1', () => done(server));
    });
}

test('a page has threads where it may, and the same pairs either way', { skip, timeout: 120000 }, async () => {
    const here = await look(loadCleave);
    const args = process.getuid() === 0 ? ['--no-sandbox'] : []; // which refuses to run as root
    const browser = await driver.chromium.launch({ executablePath: CHROMIUM, args, timeout: 60000 });
    try {
        for (const isolated of [true, false]) {
            const server = await serve(isolated);
            const page = await browser.newPage();
            const troubles = [];
            page.on('console', (message) => ['error', 'warning'].includes(message.type()) && !message.text().includes('favicon') && troubles.push(message.text()));
            page.on('pageerror', (error) => troubles.push(String(error)));
            await page.goto(`http://127.0.0.1:${server.address().port}/`);
            const there = await page.evaluate(`(async () => { ${look}; return look((await import('/index.js')).loadCleave); })()`);
            assert.equal(there.threads, isolated ? 3 : 1);
            assert.match(there.why, isolated ? /^$/ : /SharedArrayBuffer|cross-origin isolated/);
            assert.deepEqual({ ...there, threads: 3, why: '', workers: 3 }, here);
            assert.deepEqual(troubles.filter((text) => !text.includes('404')), []);
            await page.close();
            server.closeAllConnections?.();
            server.close();
        }
    } finally {
        await browser.close();
    }
});
