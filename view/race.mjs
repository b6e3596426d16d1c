// SPDX-License-Identifier: MIT
// What the playground's methods take in node: the engine as it stands in playground.html, scene `brownian`, milliseconds for all boxes handed over and every pair
// found, the least of thirty frames. Prints a table of bench/view.md. Usage: node view/race.mjs [BODIES…]
import { readFileSync } from 'node:fs';
import { loadEngine } from './src/engine.js';

const METHODS = ['cleave', 'sap', 'grid', 'kd', 'bvh-d'];
const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [2000, 4000, 8000, 16000, 32000];
const text = readFileSync(new URL('./playground.html', import.meta.url), 'utf8').match(/id="engine" data-compiler="[^"]*">([^<]+)</)[1];
const engine = await loadEngine(Buffer.from(text, 'base64'));
engine.capacity = 1;

/** One method at a time, with none beside it. */
function least(method, bodies) {
    engine.chosen = [method, ''];
    engine.open('brownian', bodies);
    engine.frame({ still: true });
    return Math.min(...Array.from({ length: 30 }, () => engine.frame().facts.rivals[0].ms));
}

console.log(`| bodies | ${METHODS.map(method => `\`${method}\``).join(' | ')} |\n| ---: |${' ---: |'.repeat(METHODS.length)}`);
for (const bodies of sizes) console.log(`| ${bodies % 1000 === 0 ? `${bodies / 1000}k` : bodies} | ${METHODS.map(method => { const ms = least(method, bodies); return ms < 10 ? ms.toFixed(2) : ms.toFixed(1); }).join(' | ')} |`);
