// SPDX-License-Identifier: MIT
// What the playground takes in node, with the engine as it stands in playground.html. Prints
// tables of bench/view.md.
//   node view/race.mjs [BODIES…]                       methods: scene `brownian`, all boxes handed over and
//                                                      every pair found, the least of thirty frames
//   node view/race.mjs --physics [OLD.html] [BODIES…]  physics: scene `gravity` once it is a heap,
//                                                      processor time of a step, lean as in the page,
//                                                      as `cleave gen` solves it, and in an older
//                                                      page; frame by frame in turn
import { existsSync, readFileSync } from 'node:fs';
import { loadEngine } from './src/engine.js';

const METHODS = ['cleave', 'sap', 'grid', 'kd', 'bvh-d'];
const THROWN = 100, COUNTED = 60; // frames until all bodies are in the heap, and then
const words = process.argv.slice(2), physics = words[0] === '--physics';
const old = words.find(word => word.endsWith('.html')), numbers = words.filter(word => word !== '--physics' && word !== old).map(Number);

function fail(text) {
    console.error(`race.mjs: ${text}`);
    process.exit(2);
}

const strange = words.find(word => word !== '--physics' && word !== old && !(Number(word) >= 1));
if (strange || (old && !physics)) fail(`'${strange ?? old}' is neither a number of bodies nor --physics; usage: race.mjs [BODIES…], or race.mjs --physics [OLD.html] [BODIES…]`);

async function load(page) {
    const found = existsSync(page) && readFileSync(page, 'utf8').match(/id="engine" data-compiler="[^"]*">([^<]+)</);
    if (!found) fail(`${page} has no engine in it; give a playground.html`);
    const engine = await loadEngine(Buffer.from(found[1], 'base64'));
    engine.capacity = 1;
    return engine;
}

const here = new URL('./playground.html', import.meta.url);
const short = bodies => bodies % 1000 === 0 ? `${bodies / 1000}k` : String(bodies);
const digits = ms => ms < 10 ? ms.toFixed(2) : ms.toFixed(1);
const row = cells => console.log(`| ${cells.join(' | ')} |`);
const head = names => { row(names); console.log(`|${' ---: |'.repeat(names.length)}`); };

/** One method at a time, with none beside it. */
function least(engine, method, bodies) {
    engine.chosen = [method, ''];
    engine.open('brownian', bodies);
    engine.frame({ still: true });
    return Math.min(...Array.from({ length: 30 }, () => engine.frame().facts.rivals[0].ms));
}

async function raceMethods(sizes) {
    const engine = await load(here);
    head(['bodies', ...METHODS.map(method => `\`${method}\``)]);
    for (const bodies of sizes) row([short(bodies), ...METHODS.map(method => digits(least(engine, method, bodies)))]);
}

/** Processor time of one step, milliseconds: other programs on the machine are not in it. */
function step(engine) {
    const before = process.cpuUsage();
    if (!engine.c.pg_step()) throw new Error('a step failed');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
}

async function racePhysics(sizes) {
    const rivals = [{ name: 'lean, in the page', page: here, lean: true }, { name: 'as `cleave gen`', page: here, lean: false }, ...(old ? [{ name: 'older page', page: old, lean: false }] : [])];
    for (const rival of rivals) rival.engine = await load(rival.page);
    head(['bodies', ...rivals.map(({ name }) => `${name}: least`), ...rivals.map(({ name }) => `${name}: median`)]);
    for (const bodies of sizes) {
        for (const rival of rivals) {
            rival.engine.chosen = ['cleave', ''];
            rival.engine.open('gravity', bodies, 1, rival.lean);
            rival.times = [];
        }
        for (let frame = 0; frame < THROWN + COUNTED; ++frame) {
            for (const rival of rivals) {
                const ms = step(rival.engine);
                if (frame >= THROWN) rival.times.push(ms);
            }
        }
        for (const { times } of rivals) times.sort((a, b) => a - b);
        row([short(bodies), ...rivals.map(({ times }) => digits(times[0])), ...rivals.map(({ times }) => digits(times[COUNTED >> 1]))]);
    }
}

if (physics) await racePhysics(numbers.length > 0 ? numbers : [1000, 2000, 4000, 8000, 16000]);
else await raceMethods(numbers.length > 0 ? numbers : [2000, 4000, 8000, 16000, 32000]);
