// SPDX-License-Identifier: MIT
// Figures of the papers that are pictures: frames of the scenes and of the tower from `cleave render`, trees
// and what becomes of them from `cleave tree`.
import * as zlib from 'node:zlib';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { labelOf } from './published.mjs';

// ---- colours

export const ink = JSON.parse(readFileSync(new URL('../colours.json', import.meta.url), 'utf8'));

// ---- which figures there are

const to = (chapter, last) => Array.from({ length: last }, (_, index) => `${chapter}${index + 1}`);

const numbers = { '004': to('', 14), '000': to('', 5), '001': to('', 2), '002': to('', 3), '003': [...to('2.', 29), ...to('3.', 6), ...to('4.', 2), ...to('5.', 23)] };

/** Figures that are the same as one of another paper. */
const sameAs = { '000 1': '004 3', '001 1': '004 8' };

/**
 * What those are that nothing is drawn for, and where else it is told: [pattern of "paper figure", what,
 * here].
 */
const untold = [
    [/^004 2$/, 'ideal, fitting and incorrect places of an object', 'docs/kd.md in words'],
    [/^004 5$/, 'objects on their way from a node to another in the array', 'docs/kd.md in words'],
    [/^00[04] (2|6)$/, 'the operators', 'docs/kd.md in words'],
    [/^004 7$/, 'the flow of the optimization', 'docs/kd.md in words'],
    [/^003 2/, 'drawings of its chapter on what was known before', 'docs/physics.md in words'],
    [/^003 [34]/, 'drawings of its method and program', 'docs/physics.md in words'],
];

const isThere = (files, paper, number) => files.some(file => new RegExp(`^${paper}-figure-${number.replace('.', '\\.')}(?=[ab-]|\\.(svg|png)$)`).test(file));

// "2.1 to 2.29" where they follow each other.
function rangeText(own, all) {
    const runs = [];
    for (const number of own) {
        const last = runs[runs.length - 1];
        if (last && all.indexOf(number) === all.indexOf(last[last.length - 1]) + 1 && (!number.includes('.') || number.split('.')[0] === last[0].split('.')[0])) last.push(number);
        else runs.push([number]);
    }
    return runs.map(run => (run.length > 2 ? `${run[0]} to ${run[run.length - 1]}` : run.join(', '))).join(', ');
}

/**
 * Rows of what is missing among these files: [figures, what they are, where else]. Measurements and pictures
 * that were not drawn this time are among them.
 */
export function missingFigures(files) {
    const rows = new Map();
    for (const [paper, own] of Object.entries(numbers)) {
        for (const number of own) {
            const [otherPaper, other] = (sameAs[`${paper} ${number}`] ?? '').split(' ');
            if (isThere(files, paper, number) || (other && isThere(files, otherPaper, other))) continue;
            const [, what, here] = untold.find(([pattern]) => pattern.test(`${paper} ${number}`)) ?? [null, 'a measurement or a picture', 'not drawn this time: what it needs was not run, or could not be drawn'];
            const key = [paper, what, here].join('|');
            rows.set(key, { paper, what, here, own: [...(rows.get(key)?.own ?? []), number] });
        }
    }
    return [...rows.values()].map(({ paper, what, here, own }) => [`${labelOf(paper)}: ${rangeText(own, numbers[paper])}`, what, here]);
}

// ---- pictures side by side

// Of the same size in one PNG (RFC 2083): those that `cleave render` writes, eight bits a channel, red green
// blue, each row less the one above.

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const UP = 2;

/** { width, height, pixels }: three bytes a pixel. */
export function readPng(bytes) {
    const data = [];
    let width = 0, height = 0;
    for (let at = 8; at < bytes.length;) {
        const length = bytes.readUInt32BE(at), kind = bytes.toString('latin1', at + 4, at + 8);
        if (kind === 'IHDR') [width, height] = [bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12)];
        if (kind === 'IDAT') data.push(bytes.subarray(at + 8, at + 8 + length));
        at += 12 + length;
    }
    const packed = zlib.inflateSync(Buffer.concat(data)), pixels = Buffer.alloc(3 * width * height), row = 3 * width;
    for (let y = 0; y < height; ++y) {
        if (packed[y * (row + 1)] !== UP) throw new Error('a PNG that is not by cleave render');
        for (let i = 0; i < row; ++i) pixels[y * row + i] = packed[y * (row + 1) + 1 + i] + (y > 0 ? pixels[(y - 1) * row + i] : 0);
    }
    return { width, height, pixels };
}

// zlib has it from node 22 on.
const table = Array.from({ length: 256 }, (_, i) => { let value = i; for (let bit = 0; bit < 8; ++bit) value = value & 1 ? value >>> 1 ^ 0xedb88320 : value >>> 1; return value >>> 0; });
const crcOf = zlib.crc32 ?? (bytes => { let crc = 0xffffffff; for (const byte of bytes) crc = table[(crc ^ byte) & 255] ^ crc >>> 8; return (crc ^ 0xffffffff) >>> 0; });

function chunk(kind, data) {
    const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]), out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crcOf(body), body.length + 4);
    return out;
}

export function writePng({ width, height, pixels }) {
    const head = Buffer.alloc(13), row = 3 * width, rows = Buffer.alloc((row + 1) * height);
    head.writeUInt32BE(width, 0);
    head.writeUInt32BE(height, 4);
    head.set([8, 2, 0, 0, 0], 8);
    for (let y = 0; y < height; ++y) {
        rows[y * (row + 1)] = UP;
        for (let i = 0; i < row; ++i) rows[y * (row + 1) + 1 + i] = pixels[y * row + i] - (y > 0 ? pixels[(y - 1) * row + i] : 0);
    }
    return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('IDAT', zlib.deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

/** So many columns, from the top left on. */
export function writeSheet(target, files, columns) {
    const parts = files.map(file => readPng(readFileSync(file))), [{ width, height }] = parts, rows = Math.ceil(parts.length / columns);
    const whole = { width: columns * width, height: rows * height, pixels: Buffer.alloc(3 * columns * width * rows * height, 255) };
    parts.forEach(({ pixels }, i) => {
        for (let y = 0; y < height; ++y) pixels.copy(whole.pixels, 3 * ((Math.floor(i / columns) * height + y) * whole.width + i % columns * width), 3 * y * width, 3 * (y + 1) * width);
    });
    writeFileSync(target, writePng(whole));
}

// ---- a small tree

// A small flat scene from above and its tree beside it, from what `cleave tree` writes: figure 3 of the
// KD-tree paper and figure 1 of the earlier one.

export const SIDE = 400;
export const MARGIN = 24;
const ROW = 74; // between two depths
const blue = [ink.leaf.line, ink.leaf.fill];
const orange = [ink.inner.line, ink.inner.fill];
const mark = [ink.marked.line, ink.marked.fill];

const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);
const endsOf = (boxes, axis) => [Math.min(...boxes.map(box => box[axis])), Math.max(...boxes.map(box => box[axis + 3]))];
const colorsOf = node => (node.axis === undefined ? blue : orange);
const label = (x, y, text, more = '') => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-family="sans-serif" text-anchor="middle" ${more}>${text}</text>`;

/** The scene along x and z, which is where a flat one has its width; regions of `marked` nodes stand out. */
export function drawScene(nodes, boxes, marked = []) {
    const ends = [endsOf(boxes, 0), null, endsOf(boxes, 2)];
    const scale = SIDE / Math.max(ends[0][1] - ends[0][0], ends[2][1] - ends[2][0]);
    const at = (axis, value) => MARGIN + (clamp(value, ends[axis]) - ends[axis][0]) * scale;
    const rect = (lower, upper, style) => `<rect x="${at(0, lower[0]).toFixed(1)}" y="${at(2, lower[2]).toFixed(1)}" width="${(at(0, upper[0]) - at(0, lower[0])).toFixed(1)}" height="${(at(2, upper[2]) - at(2, lower[2])).toFixed(1)}" ${style}/>`;
    const plane = node => {
        const other = node.axis === 0 ? 2 : 0;
        const [from, to, here] = [at(other, node.lower[other]), at(other, node.upper[other]), at(node.axis, node.plane)].map(value => value.toFixed(1));
        const ends2 = node.axis === 0 ? [here, from, here, to] : [from, here, to, here];
        return `<line x1="${ends2[0]}" y1="${ends2[1]}" x2="${ends2[2]}" y2="${ends2[3]}" stroke="${ink.plane}" stroke-width="${Math.max(1, 3.5 - 0.7 * node.depth)}"/>`;
    };
    const box = (slot, [line, fill]) => rect(boxes[slot].slice(0, 3), boxes[slot].slice(3), `fill="${fill}" stroke="${line}"`) +
        label(at(0, (boxes[slot][0] + boxes[slot][3]) / 2), at(2, (boxes[slot][2] + boxes[slot][5]) / 2) + 4, slot, 'font-size="11"');
    return [rect(ends.map(range => range?.[0] ?? 0), ends.map(range => range?.[1] ?? 0), `fill="none" stroke="${ink.edge}"`),
        ...marked.map(node => rect(node.lower, node.upper, `fill="${mark[1]}" stroke="${mark[0]}" stroke-width="4"`)), ...nodes.filter(node => node.axis === 0 || node.axis === 2).map(plane), ...nodes.flatMap(node => node.objects.map(slot => box(slot, colorsOf(node))))];
}

/**
 * Leaves side by side in the order of the planes, an inner node over the middle of its own; `marked` nodes
 * stand out.
 */
export function drawHierarchy(nodes, left, width, marked = []) {
    const byId = new Map(nodes.map(node => [node.node, node]));
    const isInner = node => node.axis !== undefined;
    const order = node => (isInner(node) ? [...order(byId.get(node.left)), ...order(byId.get(node.right))] : [node.node]);
    const leaves = order(nodes[0]);
    const x = node => (isInner(node) ? (x(byId.get(node.left)) + x(byId.get(node.right))) / 2 : left + (leaves.indexOf(node.node) + 0.5) * width / leaves.length);
    const y = node => MARGIN + 16 + node.depth * ROW;
    const edges = nodes.filter(isInner).flatMap(node => [node.left, node.right].map(id => `<line x1="${x(node).toFixed(1)}" y1="${y(node)}" x2="${x(byId.get(id)).toFixed(1)}" y2="${y(byId.get(id))}" stroke="${ink.edge}"/>`));
    return [...edges, ...nodes.flatMap(node => {
        const [line, fill] = colorsOf(node);
        return [`<circle cx="${x(node).toFixed(1)}" cy="${y(node)}" r="13" fill="${fill}" stroke="${marked.includes(node) ? mark[0] : line}" stroke-width="${marked.includes(node) ? 5 : 1}"/>`, label(x(node), y(node) + 4, isInner(node) ? 'xyz'[node.axis] : node.population, 'font-size="12"'), label(x(node), y(node) + 27, node.objects.join(' '), `font-size="11" fill="${line}"`)];
    })];
}

/** The picture as SVG text. */
export function smallTreeSvg({ tree, boxes }) {
    const [width, left] = [560, SIDE + 3 * MARGIN];
    const height = Math.max(SIDE + 2 * MARGIN, MARGIN + 60 + Math.max(...tree.nodes.map(node => node.depth)) * ROW);
    return [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + MARGIN} ${height}" width="${left + width + MARGIN}" height="${height}">`, `<title>${boxes.length} boxes and their tree of ${tree.nodes.length} nodes, at most ${tree.leaf_limit} in a leaf</title>`,
        `<rect width="${left + width + MARGIN}" height="${height}" fill="${ink.ground}"/>`, ...drawScene(tree.nodes, boxes), ...drawHierarchy(tree.nodes, left, width), '</svg>'].join('\n') + '\n';
}

// ---- operators

// What the tree's operators do, from trees of `cleave tree` one frame apart: figure 6 of the KD-tree paper,
// figure 2 of the earlier one; and the places an object may have, figure 2 of the KD-tree paper.

const OBJECTS = 22;
const FRAMES = 60;
const LEAF = 3;

/** Boxes on a plate that fly straight on and turn at its rim: frames of boxes of six numbers. */
function flatFrames(seed) {
    let state = seed;
    const random = () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 2 ** 32; };
    const bodies = Array.from({ length: OBJECTS }, () => ({ at: [20 * random() - 10, 20 * random() - 10], way: [random() - 0.5, random() - 0.5], half: 0.4 + 0.5 * random() }));
    return Array.from({ length: FRAMES + 1 }, () => bodies.map(body => {
        const { at: [x, z], half } = body;
        body.at = body.at.map((value, i) => value + 0.7 * body.way[i]);
        body.at.forEach((value, i) => { if (Math.abs(value) > 10) body.way[i] = -Math.sign(value) * Math.abs(body.way[i]); });
        return [x - half, -0.5, z - half, x + half, 0.5, z + half];
    }));
}

/** A .aabbs file (docs/lab.md has the format). */
function writeScene(path, frames) {
    const head = Buffer.alloc(304);
    head.write('plate', 0, 'latin1');
    head.write('boxes', 128, 'latin1');
    head.writeInt32LE(OBJECTS, 256);
    head.writeInt32LE(frames.length - 1, 260);
    [-12, -1, -12, 12, 1, 12].forEach((value, i) => head.writeFloatLE(value, 272 + 4 * (i < 3 ? i : i + 1)));
    writeFileSync(path, Buffer.concat([head, Buffer.from(new Float32Array(frames.flat().flatMap(box => [...box.slice(0, 3), 0, ...box.slice(3), 0])).buffer)]));
}

/** Nodes by the way from the root: '', 'L', 'LR' and so on. */
export function byPath(nodes) {
    const byId = new Map(nodes.map(node => [node.node, node])), out = new Map();
    const walk = (node, path) => {
        out.set(path, node);
        if (node.axis === undefined) return;
        walk(byId.get(node.left), `${path}L`);
        walk(byId.get(node.right), `${path}R`);
    };
    if (nodes.length > 0) walk(nodes[0], '');
    return out;
}

const isInner = node => node?.axis !== undefined;
const samePlane = (a, b) => a.axis === b.axis && a.plane === b.plane;

/**
 * What the update between two trees did, if it was one thing: { name, path }, path that of the node in both;
 * null otherwise.
 */
export function operatorBetween(before, after) {
    const [one, two] = [byPath(before), byPath(after)], paths = [...new Set([...one.keys(), ...two.keys()])];
    const other = paths.filter(path => isInner(one.get(path)) !== isInner(two.get(path)) || (isInner(one.get(path)) && !samePlane(one.get(path), two.get(path))));
    if (other.length === 0) {
        const home = new Map([...one].flatMap(([path, node]) => node.objects.map(object => [object, path])));
        const down = [...two].flatMap(([path, node]) => node.objects.filter(object => path.length > home.get(object).length && path.startsWith(home.get(object))).map(object => home.get(object)));
        const moved = [...two].some(([path, node]) => node.objects.some(object => home.get(object) !== path && !down.includes(home.get(object))));
        return down.length > 0 && !moved ? { name: 'filter', path: down[0] } : null;
    }
    const [path] = other.sort((a, b) => a.length - b.length), [from, to] = [one.get(path), two.get(path)];
    if (!other.every(each => each.startsWith(path))) return null;
    if (!isInner(from) && other.length === 1) return { name: 'partition', path };
    if (isInner(from) && !isInner(to)) return { name: 'collapse', path };
    if (other.length === 1 && from.axis === to.axis) return { name: 'translate', path };
    const heir = ['L', 'R'].find(side => isInner(one.get(path + side)) && isInner(to) && samePlane(one.get(path + side), to));
    return heir ? { name: 'erase', path } : null;
}

/** Trees of all frames, and for each operator the first pair of them between which it alone was at work. */
function findOperators(program, work) {
    const found = new Map();
    for (let seed = 1; seed <= 12 && found.size < 5; ++seed) {
        const frames = flatFrames(seed), file = join(work, 'plate.aabbs'), out = join(work, 'plate.json');
        writeScene(file, frames);
        let last = null;
        for (let frame = 0; frame <= FRAMES && found.size < 5; ++frame) {
            const answer = spawnSync(program, ['tree', file, '-m', 'kd-paper-complete', '--set', `kd.leaf=${LEAF}`, '--frame', String(frame), '-o', out], { encoding: 'utf8' });
            if (answer.status !== 0) return { answer };
            const now = JSON.parse(readFileSync(out, 'utf8')), seen = last && operatorBetween(last.tree.nodes, now.tree.nodes);
            if (seen && !found.has(seen.name)) found.set(seen.name, { ...seen, before: last, after: now });
            last = now;
        }
    }
    return { answer: { status: found.size === 5 ? 0 : 1, stderr: `of five operators ${found.size} were seen at work alone` }, found };
}

// ---- drawing

const text = (x, y, words, more = '') => `<text x="${x}" y="${y}" font-family="sans-serif" font-size="20" fill="${ink.text}" ${more}>${words}</text>`;
const placed = (x, y, scale, parts) => `<g transform="translate(${x} ${y}) scale(${scale})">${parts.join('')}</g>`;

/** A scene and its tree side by side, with a node that stands out in both. */
function drawState({ tree, boxes }, marked, x, y) {
    return placed(x, y, 0.5, [...drawScene(tree.nodes, boxes, marked), ...drawHierarchy(tree.nodes, SIDE + 3 * MARGIN, 520, marked)]);
}

const svg = (width, height, title, parts) => [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`, `<title>${title}</title>`, `<rect width="${width}" height="${height}" fill="${ink.ground}"/>`, ...parts, '</svg>'].join('\n') + '\n';

const STATE_ROW = 290;

function operatorRows(found, names, top) {
    return names.flatMap(([name, words], i) => {
        const { before, after, path } = found.get(name), y = top + i * STATE_ROW;
        return [text(24, y + 24, words), drawState(before, [byPath(before.tree.nodes).get(path)].filter(Boolean), 12, y + 34), text(560, y + 150, '→'), drawState(after, [byPath(after.tree.nodes).get(path)].filter(Boolean), 590, y + 34)];
    });
}

/**
 * Writes the operators, each before and after, under the names that a paper gives them; with the whole first
 * where `isWhole`.
 */
export function drawOperators(program, work, target, { names, isWhole = false }) {
    const { answer, found } = findOperators(program, work);
    if (answer.status !== 0) return answer;
    const top = isWhole ? 340 : 10, { before } = found.get('filter'), parts = operatorRows(found, names, top);
    if (isWhole) parts.unshift(text(24, 30, 'planes and regions, the tree, and its objects in order'), drawState(before, [], 12, 40), drawOrder(before.tree.nodes, 24, 285));
    writeFileSync(target, svg(1140, top + names.length * STATE_ROW, 'operators of the tree, before and after', parts));
    return answer;
}

/** Objects of all nodes in the order of the array, those of inner nodes in orange. */
function drawOrder(nodes, x, y) {
    const paths = byPath(nodes);
    const walk = path => (isInner(paths.get(path)) ? [...walk(`${path}L`), paths.get(path), ...walk(`${path}R`)] : [paths.get(path)]);
    let at = 0;
    return placed(x, y, 1, walk('').flatMap(node => {
        const cells = node.objects.map(object => { at += 30; return `<rect x="${at - 30}" y="0" width="30" height="28" fill="${isInner(node) ? ink.inner.fill : ink.leaf.fill}" stroke="${ink.plane}"/>${text(at - 15, 19, object, 'text-anchor="middle" style="font-size:14px"')}`; });
        at += 7;
        return cells;
    }));
}

/** The three places of an object: the deepest node that holds it, one above, one that does not hold it. */
export function drawPositions(program, work, target) {
    const file = join(work, 'positions.json');
    const answer = spawnSync(program, ['tree', 'flat:24@0+1', '-m', 'kd-paper', '--set', 'kd.leaf=3', '-o', file], { encoding: 'utf8' });
    if (answer.status !== 0) return answer;
    const state = JSON.parse(readFileSync(file, 'utf8')), paths = byPath(state.tree.nodes);
    const [home, leaf] = [...paths].find(([path, node]) => path.length >= 2 && !isInner(node) && node.objects.length > 0), [object] = leaf.objects;
    const other = home.slice(0, -1) + (home.endsWith('L') ? 'R' : 'L');
    const places = [['ideal: the deepest node that holds it', home], ['fitting: a node that holds it, not the deepest', home.slice(0, -1)], ['incorrect: a node that does not hold it', other]];
    const parts = places.flatMap(([words, path], i) => {
        const nodes = state.tree.nodes.map(node => ({ ...node, objects: node.objects.filter(one => one !== object) })), node = byPath(nodes).get(path);
        node.objects.push(object);
        return [text(24, 34 + i * STATE_ROW, `object ${object}, ${words}`), drawState({ tree: { nodes }, boxes: state.boxes }, [node], 12, 44 + i * STATE_ROW)];
    });
    writeFileSync(target, svg(580, 3 * STATE_ROW + 10, 'where an object may be in the tree', parts));
    return answer;
}

// ---- the flow of an update

// As docs/kd.md tells it of `kd-paper`: figure 7 of the KD-tree paper. And how objects move within its array,
// figure 5.

const words = (x, y, text, more = '') => `<text x="${x}" y="${y}" font-family="sans-serif" font-size="15" text-anchor="middle" fill="${ink.text}" ${more}>${text}</text>`;
const page = (width, height, title, parts) => [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`, `<title>${title}</title>`,
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

/**
 * The array step by step: [what, blocks of [name, objects]], and the objects that lie in the buffer
 * meanwhile.
 */
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

// ---- all pictures

const draw = fileURLToPath(new URL('../tree_picture.py', import.meta.url));
const SMALL = ['brownian-free:60@0+2', '--set', 'kd.leaf=8'];
const TOWER = 'tower:512@0+7000';

/** Cuts through scenes: boxes, the planes and leaves of the tree as published. */
const cuts = [
    { file: '004-figure-8-freefall.svg', scene: 'freefall:4k@120+2', about: 'Free Fall, frame 122' },
    { file: '004-figure-8-brownian.svg', scene: 'brownian:4k@40+2', about: 'Brownian, frame 42' },
    { file: '004-figure-8-gravity.svg', scene: 'gravity:4k@90+2', about: 'Gravity, frame 92' },
].map(one => ({ ...one, title: `${one.about}: a cut through 4000 cubes and their KD-tree, T = 64`, group: 'cuts' }));

const NINE = [0, 15, 30, 45, 60, 75, 90, 105, 120];
const frames = [['freefall', 'Free Fall'], ['brownian', 'Brownian'], ['gravity', 'Gravity']].flatMap(([scene, name]) => ['cubes', 'assorted'].map(type => ({
    file: `004-figure-8-${scene}-${type}.png`, sheet: NINE.map(frame => [`${scene}:4k:${type}@0+120`, '--bodies', '--frame', frame, '--size', '250x206']), title: `${name}, 4000 ${type === 'cubes' ? 'cubes' : 'objects of various sizes'}, frames ${NINE.join(', ')}`, group: 'frames' })));

// Rows of four: three frames, and the planes of the tree over the last of them.
const rayPanels = ['ray-freefall', 'ray-particles'].flatMap(scene => ['cubes', 'assorted'].map(type => `${scene}:4k:${type}@0+600`)).flatMap(scene => [
    ...[60, 300, 600].map(frame => [scene, '--bodies', '--frame', frame, '--size', '240x200']), [scene, '--frame', 600, '--tree', 'ray-kd', '--colour', 'node', '--overlay', 'tree', '--size', '240x200'],
]);
const rays = [{ file: '002-figure-1.png', sheet: rayPanels, columns: 4, title: 'Figure 1: uniform Free Fall, varied Free Fall, uniform particles, varied particles, 4000 objects; frames 60, 300 and 600, and the planes of the tree', group: 'rays' }];

const HEAP = '--region=-17,0,-17,17,8,17';
const bodies = [
    { file: '003-figure-5.1.png', words: ['tower:1@0+1', '--bodies', '--frame', 0, '--region=-1.2,8.8,-1.2,1.2,11.2,1.2', '--size', '360x330'], title: 'Figure 5.1: the body, not scaled' },
    { file: '003-figure-5.2.png', words: ['tower:1:assorted@0+1', '--bodies', '--frame', 0, '--region=-2.4,7,-2.4,2.4,13,2.4', '--size', '360x330'], title: 'Figure 5.2: the body, scaled by (1, 3, 1)' },
    ...[[0, 'the beginning', '--region=-12,0,-12,12,130,12', '360x460'], [2750, 'the middle', '--region=-24,0,-24,24,90,24', '360x460'], [7000, 'the end', HEAP, '480x360']].map(([frame, name, region, size], i) => ({
        file: `003-figure-5.${3 + i}.png`, words: [TOWER, '--bodies', '--frame', frame, region, '--size', size], title: `Figure 5.${3 + i}: ${name} (512 bodies, frame ${frame})` })),
    ...[['18-dop', '18-DOPs'], ['sphere', 'spheres']].map(([volume, name]) => ({ file: `003-figure-5.5-${volume}.png`, words: [TOWER, '--bodies', '--frame', 7000, HEAP, '--overlay', volume, '--size', '480x360'], title: `The heap with its ${name}` })),
].map(one => ({ ...one, group: 'bodies' }));

const flat = [{ file: '004-figure-3.svg', scene: 'flat:24@0+1', leaf: 3, isSmall: true, title: 'Figure 3: a small flat scene from above, and its tree: planes across x or z, at most three objects in a leaf', group: 'flat' }];
const small = [{ file: '004-figure-3.png', words: [...SMALL, '--tree', 'kd-paper', '--colour', 'node', '--overlay', 'tree', '--size', '560x440'], title: '60 boxes and the planes of their KD-tree, T = 8; a colour for each node', group: 'small' }];
const array = [{ file: '004-figure-4.svg', title: 'Figure 4: the array of its objects, in order: left, own, right', group: 'small' }];

const drawings = [
    { file: '004-figure-2.svg', paint: drawPositions, title: 'Figure 2: the ideal, a fitting and an incorrect place of an object', group: 'positions' },
    { file: '004-figure-5.svg', paint: drawTransfer, title: 'Figure 5: three objects move up within the array', group: 'transfer' },
    { file: '004-figure-6.svg', paint: (...where) => drawOperators(...where, { names: [['filter', '(a) Filter'], ['partition', '(b) Partition'], ['collapse', '(b) Collapse'], ['translate', '(c) Translate'], ['erase', '(d) Erase']] }), title: 'Figure 6: the operators', group: 'operators' },
    { file: '004-figure-7.svg', paint: (program, work, target) => drawFlow(target), title: 'Figure 7: the update, node by node', group: 'flow' },
    { file: '000-figure-2.svg', paint: (...where) => drawOperators(...where, { isWhole: true, names: [['filter', 'Optimise'], ['partition', 'Partition'], ['translate', 'Translate'], ['collapse', 'Prune'], ['erase', 'Delete']] }), title: 'Figure 2 of the earlier KD-tree paper: structure and operations', group: 'operations' },
];

/** In the order of the page. */
const pictures = [...drawings, ...flat, ...small, ...array, ...cuts, ...frames, ...rays, ...bodies];

/** What stands above and below the pictures of a group. */
const groups = {
    positions: ['The KD-tree paper, figure 2', 'The tree of figure 3; the object is put into the marked node, whose region is red. `cleave tree flat:24@0+1 -m kd-paper --set kd.leaf=3`, drawn by `scripts/papers/pictures.mjs`.'],
    transfer: ['The KD-tree paper, figure 5', 'The array of a tree of 40 objects; three of a left child are taken up as if they had left it. `cleave tree brownian-free:40@0+2 -m kd-paper --set kd.leaf=6`, drawn by `scripts/papers/pictures.mjs`.'],
    operators: ['The KD-tree paper, figure 6', 'Boxes fly over a plate, and `cleave tree FILE -m kd-paper-complete --set kd.leaf=3` tells the tree of every frame: for each operator the first two frames between which it alone was at work, the node marked. `scripts/papers/pictures.mjs`.'],
    flow: ['The KD-tree paper, figure 7', 'As `kd-paper` goes; [docs/kd.md](../../docs/kd.md) says where `kd` does something else.'],
    operations: ['The earlier KD-tree paper, figure 2', 'The same operators under their earlier names, translated, below a tree with its planes and its array.'],
    flat: ['The KD-tree paper, figure 3; the earlier KD-tree paper, figure 1', 'Blue boxes lie in leaves, orange ones across a plane; the number in a leaf is how many it holds, the letter in an inner node the axis of its plane. `cleave tree SCENE -m kd-paper --set kd.leaf=3`, drawn by `scripts/papers/pictures.mjs`.'],
    small: ['The KD-tree paper, figure 4', 'A small scene, its tree, and the one array that holds the objects of all nodes in order, blocks in the colours of the boxes; grey blocks are empty. `cleave render`, `cleave tree`.'],
    cuts: ['Trees over the scenes', 'Blue boxes lie in leaves, orange ones across a plane and so in an inner node; planes are the thicker the closer to the root. `cleave tree SCENE -m kd-paper --set kd.leaf=64`, drawn by `scripts/tree_picture.py`.'],
    frames: ['The KD-tree paper, figure 8; the Broadmark paper, figure 1', 'Nine frames of each scene, from top left to bottom right: cubes, and assorted sizes, turned as they are; orange where their boxes touch. `cleave render SCENE --bodies --frame F`, put together by `scripts/papers/pictures.mjs`.'],
    rays: ['The RAY KD-tree paper, figure 1', 'Rows, from above: uniform Free Fall, varied Free Fall, uniform particles, varied particles. Three frames of each, and the planes of the RAY KD-tree over the last, a colour for each node. `cleave render SCENE --bodies --frame F`, `--tree ray-kd --overlay tree`.'],
    bodies: ['The k-DOP paper, figures 5.1 to 5.5', 'The body, the falling tower of 512, and the heap at the end with two of the volumes around its bodies. `cleave render tower:512@0+7000 --bodies --frame F`.'],
};

const lastLine = answer => (answer.error?.message ?? answer.stderr ?? '').trim().split('\n').pop();

function drawTree(program, work, target, { scene, leaf = 64, isSmall }) {
    const tree = join(work, 'tree.json');
    const written = spawnSync(program, ['tree', scene, '-m', 'kd-paper', '--set', `kd.leaf=${leaf}`, '-o', tree], { encoding: 'utf8' });
    if (written.status === 0 && isSmall) writeFileSync(target, smallTreeSvg(JSON.parse(readFileSync(tree, 'utf8'))));
    return written.status === 0 && !isSmall ? spawnSync('python3', [draw, tree, target], { encoding: 'utf8' }) : written;
}

/**
 * The colour of a node as view/src/shaders.js and lab/render/render_scene.c have it, by its place in
 * preorder.
 */
export function nodeColour(node) {
    const part = value => value - Math.floor(value), shade = 0.75 + 0.25 * part(node * 0.38196601 + 0.3);
    return `rgb(${[0, 1, 2].map(i => Math.round(255 * shade * Math.min(1, Math.max(0, 0.62 + 0.36 * Math.cos(6.2831853 * (part(node * 0.61803399) + 0.33333 * i))))))})`;
}

/** Blocks of the array, left subtree, own, right subtree: [place in preorder, depth, objects]. */
export function blocksInOrder(nodes) {
    const places = new Map(nodes.map((node, i) => [node.node, i]));
    const walk = place => {
        const node = nodes[place], own = [place, node.depth, node.objects];
        return node.left === undefined ? [own] : [...walk(places.get(node.left)), own, ...walk(places.get(node.right))];
    };
    return nodes.length > 0 ? walk(0) : [];
}

function drawArray(program, work, target) {
    const tree = join(work, 'tree.json');
    const written = spawnSync(program, ['tree', SMALL[0], '-m', 'kd-paper', ...SMALL.slice(1), '-o', tree], { encoding: 'utf8' });
    if (written.status !== 0) return written;
    const blocks = blocksInOrder(JSON.parse(readFileSync(tree, 'utf8')).tree.nodes);
    const cell = 15, gap = 5;
    let x = 10;
    const parts = blocks.map(([place, depth, objects]) => {
        const width = Math.max(objects.length, 0.6) * cell, left = x;
        x += width + gap;
        const cells = objects.map((object, i) => `<rect x="${left + i * cell}" y="60" width="${cell}" height="22" fill="${nodeColour(place)}" stroke="#222"/><text x="${left + (i + 0.5) * cell}" y="75" font-size="9" fill="#fff">${object}</text>`);
        const empty = objects.length === 0 ? `<rect x="${left}" y="60" width="${width}" height="22" fill="#ccd2d9"/>` : '';
        return `${cells.join('')}${empty}<path d="M${left} 56V${16 + 6 * depth}H${left + width}V56" fill="none" stroke="${nodeColour(place)}" stroke-width="2"/><text x="${left + width / 2}" y="98" font-size="10" fill="#59636e">${place}</text>`;
    });
    writeFileSync(target, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${x + 5} 106" width="${x + 5}" height="106" font-family="sans-serif" text-anchor="middle"><rect width="${x + 5}" height="106" fill="${ink.ground}"/>\n${parts.join('\n')}\n</svg>\n`);
    return written;
}

function render(program, target, words) {
    return spawnSync(program, ['render', ...words.map(String), '-q', '-o', target], { encoding: 'utf8' });
}

function drawSheet(program, work, target, { sheet: list, columns = 3 }) {
    const files = list.map((_, i) => join(work, `${i}.png`));
    const failed = list.map((words, i) => render(program, files[i], words)).find(answer => answer.status !== 0);
    if (failed) return failed;
    writeSheet(target, files, columns);
    return { status: 0 };
}

function drawOne(program, work, target, one) {
    if (one.paint) return one.paint(program, work, target);
    if (one.scene) return drawTree(program, work, target, one);
    if (one.sheet) return drawSheet(program, work, target, one);
    return one.words ? render(program, target, one.words) : drawArray(program, work, target);
}

/** The same of a tenth of the objects, and of frames where they are many: for tests. */
function withFew(one) {
    const few = word => (word > 120 ? 120 : String(word).replace(':4k', ':400').replace('tower:512@0+7000', 'tower:60@0+120').replace('@0+600', '@0+120'));
    return { ...one, scene: one.scene && few(one.scene), words: one.words?.map(few), sheet: one.sheet?.map(words => words.map(few)) };
}

/**
 * Draws those that can be drawn; returns them. Needs the program, and python3 for the cuts. A PNG
 * that is there stays, unless `again`, a pattern, matches its name: the frames of the tower of 512
 * bodies take minutes each.
 */
export function drawPictures(program, folder, say, { isTiny = false, again } = {}) {
    const work = mkdtempSync(join(tmpdir(), 'cleave-tree-'));
    const drawn = pictures.filter(one => {
        const target = join(folder, one.file);
        if (existsSync(target) && (isTiny || again || one.file.endsWith('.png')) && !again?.test(one.file)) return true;
        const answer = drawOne(program, work, target, isTiny ? withFew(one) : one);
        if (answer.status !== 0) say(`${one.file} is not drawn: ${lastLine(answer)}`);
        return answer.status === 0;
    });
    rmSync(work, { recursive: true });
    return drawn;
}

/** Those that a folder has already. */
export const keptPictures = folder => pictures.filter(one => existsSync(join(folder, one.file)));

/** Their section of a page, as blocks; `files`: every figure there is. */
export function pictureBlocks(drawn, files) {
    const imagesOf = own => own.map(({ file, title }) => `![${title}](${file})`).join(own[0].file.endsWith('.png') ? ' ' : '\n\n');
    const missing = missingFigures(files);
    return [
        { heading: 'Figures that are pictures' },
        ...Object.entries(groups).flatMap(([group, [heading, note]]) => {
            const own = drawn.filter(one => one.group === group);
            return own.length > 0 ? [`**${heading}.** ${note}`, imagesOf(own)] : [];
        }),
        missing.length > 0 ? 'Figures that are missing here:' : 'No figure is missing.',
        missing.length > 0 && { table: [['figures', 'what they are', 'instead'], ...missing], left: 3 },
    ];
}
