// SPDX-License-Identifier: MIT
// How an update goes through the tree, as docs/kd.md tells it of `kd-paper`: figure 7 of the KD-tree paper. And how objects move within its array, figure 5.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ink } from './ink.mjs';
import { byPath } from './operators.mjs';

const words = (x, y, text, more = '') => `<text x="${x}" y="${y}" font-family="sans-serif" font-size="15" text-anchor="middle" fill="${ink.text}" ${more}>${text}</text>`;
const page = (width, height, title, parts) => [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}">`, `<title>${title}</title>`,
    `<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="${ink.muted}"/></marker></defs>`, `<rect width="${width}" height="${height}" fill="${ink.ground}"/>`, ...parts, '</svg>'].join('\n') + '\n';

const act = (x, y, text) => `<rect x="${x - 70}" y="${y - 21}" width="140" height="42" rx="8" fill="${ink.leaf.fill}" stroke="${ink.leaf.line}"/>${words(x, y + 5, text)}`;
const ask = (x, y, text) => `<path d="M${x - 92} ${y}L${x} ${y - 40}L${x + 92} ${y}L${x} ${y + 40}Z" fill="${ink.inner.fill}" stroke="${ink.inner.line}"/>${words(x, y + 5, text)}`;
const end = (x, y, text) => `<rect x="${x - 70}" y="${y - 19}" width="140" height="38" rx="19" fill="#e9edf2" stroke="#5c6875"/>${words(x, y + 5, text)}`;
const arrow = (points, label = '', [x, y] = [0, 0]) => `<path d="M${points.map(point => point.join(' ')).join('L')}" fill="none" stroke="${ink.muted}" stroke-width="1.6" marker-end="url(#tip)"/>${label ? words(x, y, label, 'font-style="italic"') : ''}`;

/** The order of the operators at one node. */
export function drawFlow(target) {
    const parts = [
        end(120, 40, 'root'), arrow([[190, 40], [268, 40]]), ask(360, 40, 'stack empty?'), arrow([[452, 40], [570, 40]], 'yes', [500, 33]), end(640, 40, 'done'),
        arrow([[360, 80], [360, 109]], 'no', [378, 99]), act(360, 130, 'pop a node'), arrow([[360, 151], [360, 180]]), ask(360, 220, 'a leaf?'),
        arrow([[268, 220], [212, 220]], 'yes', [240, 212]), ask(120, 220, 'above T?'), arrow([[120, 260], [120, 309]], 'yes', [140, 290]), act(120, 330, 'Partition'),
        arrow([[28, 220], [10, 220], [10, 92], [120, 92], [270, 52]], 'no', [22, 212]), arrow([[120, 351], [120, 640], [285, 640]]),
        arrow([[452, 220], [548, 220]], 'no', [500, 212]), ask(640, 220, 'below T?'), arrow([[640, 260], [640, 309]], 'no', [656, 290]), act(640, 330, 'Filter'),
        arrow([[732, 220], [790, 220]], 'yes', [760, 212]), act(860, 220, 'Collapse'), arrow([[860, 199], [860, 92], [600, 92], [450, 52]]),
        arrow([[640, 351], [640, 380]]), ask(640, 420, 'Evaluate'), arrow([[548, 420], [360, 420], [360, 619]], 'good', [450, 412]), arrow([[732, 420], [790, 420]], 'bad', [760, 412]), act(860, 420, 'Translate'),
        arrow([[860, 441], [860, 469]]), act(860, 490, 'Filter'), arrow([[860, 511], [860, 540]]), ask(860, 580, 'Evaluate'),
        arrow([[768, 580], [400, 580], [400, 619]], 'good', [600, 572]), arrow([[860, 620], [860, 659]], 'bad', [880, 642]), act(860, 680, 'Erase'),
        arrow([[790, 680], [500, 680], [500, 645], [432, 645]]), act(360, 640, 'push the children'), arrow([[360, 661], [360, 700], [4, 700], [4, 12], [322, 12]]),
    ];
    writeFileSync(target, page(960, 720, 'the update of the tree, node by node', parts));
    return { status: 0 };
}

// ---- figure 5

/** The array step by step: [what, blocks of [name, objects]], and the objects that lie in the buffer meanwhile. */
export function transferSteps(left, own, middle, node, moved) {
    const rest = own.filter(object => !moved.includes(object)), gap = moved.map(() => null);
    const blocks = (a, b, c) => [['N_LL', left], ['N_L', a], ['N_LR', b], ['N', c]];
    return [
        ['T1: three objects of a left child are to go up to N', blocks(own, middle, node), []],
        ['T2: they are grouped at the end of their block', blocks([...rest, ...moved], middle, node), []],
        ['T3: and copied to a buffer', blocks([...rest, ...gap], middle, node), moved],
        ['T4: the objects between are moved', [['N_LL', left], ['N_L', rest], ['N_LR', middle], ['', gap], ['N', node]], moved],
        ['T5: and they are placed where they belong', blocks(rest, middle, [...moved, ...node]), []],
    ];
}

const inks = { N_LL: ink.leaf.fill, N_L: ink.inner.fill, N_LR: '#d9efe4', N: '#e6dcf4', '': ink.ground };

function drawStep([text, blocks, buffer], moved, y) {
    const cell = (object, x, top, fill) => `<rect x="${x}" y="${top}" width="26" height="26" fill="${object === null ? ink.ground : fill}" stroke="${moved.includes(object) ? ink.marked.line : ink.plane}" stroke-width="${moved.includes(object) ? 3 : 1}"/>${object === null ? '' : words(x + 13, top + 18, object, 'style="font-size:11px"')}`;
    let x = 20;
    const parts = [words(20, y + 16, text, 'style="text-anchor:start"')];
    for (const [name, objects] of blocks) {
        if (objects.length > 0) parts.push(words(x + 13 * objects.length, y + 66, name.replace(/_(.*)/, '<tspan dy="3" font-size="9">$1</tspan>'), 'style="font-size:12px" font-style="italic"'));
        for (const object of objects) {
            parts.push(cell(object, x, y + 26, inks[name]));
            x += 26;
        }
        x += objects.length > 0 ? 6 : 0;
    }
    buffer.forEach((object, i) => parts.push(cell(object, 520 + 26 * i, y - 4, ink.marked.fill)));
    if (buffer.length > 0) parts.push(words(496, y + 14, 'buffer', 'style="font-size:12px"'));
    return { parts, width: x + 20 };
}

/** Three objects of an inner node's left child move up, in the array of a tree that was searched. */
export function drawTransfer(program, work, target) {
    const file = join(work, 'transfer.json');
    const answer = spawnSync(program, ['tree', 'brownian-free:40@0+2', '-m', 'kd-paper', '--set', 'kd.leaf=6', '-o', file], { encoding: 'utf8' });
    if (answer.status !== 0) return answer;
    const paths = byPath(JSON.parse(readFileSync(file, 'utf8')).tree.nodes);
    const all = path => (paths.get(path).axis === undefined ? paths.get(path).objects : [...all(`${path}L`), ...paths.get(path).objects, ...all(`${path}R`)]);
    const top = [...paths.keys()].find(path => paths.get(path).axis !== undefined && paths.get(`${path}L`)?.axis !== undefined && paths.get(`${path}L`).objects.length >= 4);
    if (top === undefined) return { status: 1, stderr: 'no node with a left child of four objects of its own' };
    const own = paths.get(`${top}L`).objects, moved = [own[0], own[1], own[3]];
    const steps = transferSteps(all(`${top}LL`), own, all(`${top}LR`), paths.get(top).objects, moved).map((step, i) => drawStep(step, moved, 14 + 86 * i));
    writeFileSync(target, page(Math.max(640, ...steps.map(({ width }) => width)), 450, 'moving objects within the array', steps.flatMap(({ parts }) => parts)));
    return answer;
}
