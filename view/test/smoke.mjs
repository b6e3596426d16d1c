// SPDX-License-Identifier: MIT
// A short look at pages in headless Chromium, with nothing from npm: they load, play, complain of nothing and
// ask for nothing. The whole tests are page.test.mjs and playground.test.mjs. Usage:
// CHROMIUM=/usr/bin/chromium node smoke.mjs PAGE.html…
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const LIMIT = 60000; // milliseconds, of a busy machine

/** Chromium's protocol through two pipes: JSON, a zero behind each message. */
class Browser {
    constructor(profile) {
        const args = ['--headless=new', '--remote-debugging-pipe', `--user-data-dir=${profile}`, '--no-first-run', '--disable-background-networking', '--disable-component-update', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-dev-shm-usage', '--window-size=900,700', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])];
        this.child = spawn(process.env.CHROMIUM ?? 'chromium', args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true });
        this.gone = new Promise((_, fail) => { this.child.on('error', fail); this.child.on('exit', code => fail(new Error(`Chromium ended with ${code}`))); });
        this.gone.catch(() => {});
        this.child.stdio[3].on('error', () => {}); // of one that ended: `gone` tells
        this.answers = new Map();
        this.onevent = () => {};
        let text = '';
        this.child.stdio[4].setEncoding('utf8').on('data', part => {
            const messages = (text + part).split('\0');
            text = messages.pop();
            for (const message of messages) this.#take(JSON.parse(message));
        });
    }

    #take({ id, result, error, method, params }) {
        if (!id) this.onevent(method, params);
        else if (error) this.answers.get(id)?.fail(new Error(error.message));
        else this.answers.get(id)?.done(result);
        this.answers.delete(id);
    }

    /** The browser and all that it started, which outlive it by a moment: they are a group of their own. */
    async end() {
        const { child } = this, isGone = child.pid === undefined || child.exitCode !== null || child.signalCode;
        const ended = isGone ? Promise.resolve() : new Promise(done => child.on('exit', done));
        const strike = signal => { try { process.kill(-child.pid, signal); } catch { /* none is left */ } };
        if (child.pid === undefined) return;
        strike('SIGTERM');
        const late = setTimeout(() => strike('SIGKILL'), 5000);
        await ended;
        clearTimeout(late);
        strike('SIGKILL');
    }

    ask(method, params = {}, sessionId = undefined) {
        const id = this.last = (this.last ?? 0) + 1;
        this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
        return Promise.race([this.gone, new Promise((done, fail) => this.answers.set(id, { done, fail }))]);
    }
}

/** What a page complained of or asked for. */
function watch(browser, url) {
    const troubles = [];
    browser.onevent = (method, params) => {
        if (method === 'Runtime.exceptionThrown') troubles.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
        if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type)) troubles.push(params.args.map(({ value, description }) => value ?? description).join(' '));
        if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level) && !/GPU stall|WebGL.*performance/i.test(params.entry.text)) troubles.push(params.entry.text);
        if (method === 'Network.requestWillBeSent' && params.request.url !== url && !/^(blob|data):/.test(params.request.url)) troubles.push(`asks for ${params.request.url}`);
    };
    return troubles;
}

async function look(browser, path) {
    const url = pathToFileURL(path).href, troubles = watch(browser, url);
    const { targetId } = await browser.ask('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.ask('Target.attachToTarget', { targetId, flatten: true });
    for (const part of ['Runtime', 'Log', 'Network', 'Page']) await browser.ask(`${part}.enable`, {}, sessionId);
    const value = async expression => (await browser.ask('Runtime.evaluate', { expression, returnByValue: true }, sessionId)).result.value;
    const until = async (what, expression) => {
        for (const end = Date.now() + LIMIT; !(await value(expression)); await new Promise(done => setTimeout(done, 50))) {
            if (Date.now() > end) throw new Error(`${path}: never ${what}; ${troubles.concat(await value('document.getElementById("trouble")?.textContent')).join('; ')}`);
        }
    };
    await browser.ask('Page.navigate', { url }, sessionId);
    await until('ready', 'document.documentElement.dataset.ready === "true"');
    await value('cleave.playing || cleave.play(true)');
    await until('on its third frame', 'Number(document.documentElement.dataset.frame) >= 2');
    if (await value('Boolean(cleave.source.isLive)')) await until('agreed on its pairs', 'document.documentElement.dataset.same === "true"');
    if (await value('cleave.stage.gl.getError()') !== 0) troubles.push('WebGL is not content');
    if (troubles.length > 0) throw new Error(`${path}: ${troubles.join('; ')}`);
    console.log(`${path}: plays, and asks for nothing; ${await value('document.documentElement.dataset.objects')} objects`);
    await browser.ask('Target.closeTarget', { targetId });
}

/** Processes of Chromium's may still be writing; what they leave is no fault of the pages. */
function removeProfile() {
    try {
        rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch (error) {
        console.log(`left behind: ${profile}: ${error.message}`);
    }
}

const profile = mkdtempSync(join(tmpdir(), 'cleave-smoke-')), browser = new Browser(profile);
const hasStarted = await browser.ask('Browser.getVersion').then(({ product }) => product, error => { console.log(`skipped: Chromium does not start here: ${error.message}`); return null; });
try {
    if (!hasStarted) process.exitCode = 77; // no fault of the pages
    for (const path of hasStarted ? process.argv.slice(2) : []) await look(browser, path);
} catch (error) {
    console.error(error.message);
    process.exitCode = 1;
} finally {
    browser.child.removeAllListeners('exit');
    await browser.end();
    removeProfile();
}
process.exit();
