// SPDX-License-Identifier: MIT
// What the tree's operators do, from trees of `cleave tree` one frame apart: figure 6 of the KD-tree paper, figure 2 of 000; and the places an object may have, figure 2 of 004.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ink } from './ink.mjs';
import { MARGIN, SIDE, drawHierarchy, drawScene } from './small_tree.mjs';

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

/** What the update between two trees did, if it was one thing: { name, path }, path that of the node in both; null otherwise. */
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

const svg = (width, height, title, parts) => [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}">`, `<title>${title}</title>`, `<rect width="${width}" height="${height}" fill="${ink.ground}"/>`, ...parts, '</svg>'].join('\n') + '\n';

const ROW = 290;

function operatorRows(found, names, top) {
    return names.flatMap(([name, words], i) => {
        const { before, after, path } = found.get(name), y = top + i * ROW;
        return [text(24, y + 24, words), drawState(before, [byPath(before.tree.nodes).get(path)].filter(Boolean), 12, y + 34), text(560, y + 150, '→'), drawState(after, [byPath(after.tree.nodes).get(path)].filter(Boolean), 590, y + 34)];
    });
}

/** Writes the operators, each before and after, under the names that a paper gives them; with the whole first where `isWhole`. */
export function drawOperators(program, work, target, { names, isWhole = false }) {
    const { answer, found } = findOperators(program, work);
    if (answer.status !== 0) return answer;
    const top = isWhole ? 340 : 10, { before } = found.get('filter'), parts = operatorRows(found, names, top);
    if (isWhole) parts.unshift(text(24, 30, 'planes and regions, the tree, and its objects in order'), drawState(before, [], 12, 40), drawOrder(before.tree.nodes, 24, 285));
    writeFileSync(target, svg(1140, top + names.length * ROW, 'operators of the tree, before and after', parts));
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
        return [text(24, 34 + i * ROW, `object ${object}, ${words}`), drawState({ tree: { nodes }, boxes: state.boxes }, [node], 12, 44 + i * ROW)];
    });
    writeFileSync(target, svg(580, 3 * ROW + 10, 'where an object may be in the tree', parts));
    return answer;
}
