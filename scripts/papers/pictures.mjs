// SPDX-License-Identifier: MIT
// Figures of the papers that are pictures: frames of the scenes and of the tower from `cleave render`, trees and what becomes of them from `cleave tree`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { missingFigures } from './contents.mjs';
import { drawFlow, drawTransfer } from './flow.mjs';
import { ink } from './ink.mjs';
import { drawOperators, drawPositions } from './operators.mjs';
import { writeSheet } from './sheet.mjs';
import { smallTreeSvg } from './small_tree.mjs';

const draw = fileURLToPath(new URL('../tree_picture.py', import.meta.url));
const SMALL = ['brownian-free:60@0+2', '--set', 'kd.leaf=8'];
const TOWER = 'tower:60@0+700';

/** Cuts through scenes: boxes, the planes and leaves of the tree as published. */
const cuts = [
    { file: '004-figure-8-freefall.svg', scene: 'freefall:4k@120+2', about: 'Free Fall, frame 122' },
    { file: '004-figure-8-brownian.svg', scene: 'brownian:4k@40+2', about: 'Brownian, frame 42' },
    { file: '004-figure-8-gravity.svg', scene: 'gravity:4k@90+2', about: 'Gravity, frame 92' },
].map(one => ({ ...one, title: `${one.about}: a cut through 4000 cubes and their KD-tree, T = 64`, group: 'cuts' }));

const NINE = [0, 15, 30, 45, 60, 75, 90, 105, 120];
const frames = [['freefall', 'Free Fall'], ['brownian', 'Brownian'], ['gravity', 'Gravity']].flatMap(([scene, name]) => ['cubes', 'assorted'].map(type => ({
    file: `004-figure-8-${scene}-${type}.png`, sheet: NINE.map(frame => [`${scene}:4k:${type}@0+120`, '--frame', frame, '--size', '250x206']), title: `${name}, 4000 ${type === 'cubes' ? 'cubes' : 'objects of various sizes'}, frames ${NINE.join(', ')}`, group: 'frames' })));

const rays = [['ray-freefall', 'falling bodies'], ['ray-particles', 'particles']].map(([scene, name]) => ({
    file: `002-figure-1-${scene}.png`, words: [`${scene}:4k@0+60`, '--frame', 60, '--size', '400x330'], title: `The scene of ${name}, 4000 objects, frame 60`, group: 'rays' }));

const bodies = [
    { file: '003-figure-5.1.png', words: ['tower:1@0+1', '--bodies', '--frame', 0, '--region=-1.2,8.8,-1.2,1.2,11.2,1.2', '--size', '360x330'], title: 'Figure 5.1: the body, not scaled' },
    { file: '003-figure-5.2.png', words: ['tower:1:assorted@0+1', '--bodies', '--frame', 0, '--region=-2.4,7,-2.4,2.4,13,2.4', '--size', '360x330'], title: 'Figure 5.2: the body, scaled by (1, 3, 1)' },
    ...[[0, 'the beginning', '--region=-12,0,-12,12,130,12'], [320, 'the middle', '--region=-12,0,-12,12,60,12'], [700, 'the end', '--region=-10,0,-10,10,12,10']].map(([frame, name, region], i) => ({
        file: `003-figure-5.${3 + i}.png`, words: [TOWER, '--bodies', '--frame', frame, region, '--size', '360x460'], title: `Figure 5.${3 + i}: ${name} (60 bodies, frame ${frame})` })),
    { file: '003-figure-5.5-18-dop.png', words: [TOWER, '--bodies', '--frame', 700, '--region=-8,0,-8,8,7,8', '--overlay', '18-dop', '--size', '480x360'], title: 'The heap with its 18-DOPs' },
    { file: '003-figure-5.5-sphere.png', words: [TOWER, '--bodies', '--frame', 700, '--region=-8,0,-8,8,7,8', '--overlay', 'sphere', '--size', '480x360'], title: 'The heap with its spheres' },
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
    positions: ['The KD-tree paper, figure 2', 'The tree of figure 3; the object is put into the marked node, whose region is red. `cleave tree flat:24@0+1 -m kd-paper --set kd.leaf=3`, drawn by `scripts/papers/operators.mjs`.'],
    transfer: ['The KD-tree paper, figure 5', 'The array of a tree of 40 objects; three of a left child are taken up as if they had left it. `cleave tree brownian-free:40@0+2 -m kd-paper --set kd.leaf=6`, drawn by `scripts/papers/flow.mjs`.'],
    operators: ['The KD-tree paper, figure 6', 'Boxes fly over a plate, and `cleave tree FILE -m kd-paper-complete --set kd.leaf=3` tells the tree of every frame: for each operator the first two frames between which it alone was at work, the node marked. `scripts/papers/operators.mjs`.'],
    flow: ['The KD-tree paper, figure 7', 'As `kd-paper` goes; [docs/kd.md](../../docs/kd.md) says where `kd` does something else.'],
    operations: ['The earlier KD-tree paper, figure 2', 'The same operators under their earlier names, translated, below a tree with its planes and its array.'],
    flat: ['The KD-tree paper, figure 3; the earlier KD-tree paper, figure 1', 'Blue boxes lie in leaves, orange ones across a plane; the number in a leaf is how many it holds, the letter in an inner node the axis of its plane. `cleave tree SCENE -m kd-paper --set kd.leaf=3`, drawn by `scripts/papers/small_tree.mjs`.'],
    small: ['The KD-tree paper, figure 4', 'A small scene, its tree, and the one array that holds the objects of all nodes in order, blocks in the colours of the boxes; grey blocks are empty. `cleave render`, `cleave tree`.'],
    cuts: ['Trees over the scenes', 'Blue boxes lie in leaves, orange ones across a plane and so in an inner node; planes are the thicker the closer to the root. `cleave tree SCENE -m kd-paper --set kd.leaf=64`, drawn by `scripts/tree_picture.py`.'],
    frames: ['The KD-tree paper, figure 8; the Broadmark paper, figure 1', 'Nine frames of each scene, from top left to bottom right, orange where boxes touch: cubes, and assorted sizes. `cleave render SCENE --frame F`, put together by `scripts/papers/sheet.mjs`.'],
    rays: ['The RAY KD-tree paper, figure 1', 'The two scenes of the RAY KD-tree paper. `cleave render SCENE --frame 60`.'],
    bodies: ['The k-DOP paper, figures 5.1 to 5.5', 'Bodies as they are turned, and two of the volumes around them. The paper drops 512; 60 show the same. `cleave render tower:60@0+700 --bodies --frame F`.'],
};

const lastLine = answer => (answer.error?.message ?? answer.stderr ?? '').trim().split('\n').pop();

function drawTree(program, work, target, { scene, leaf = 64, isSmall }) {
    const tree = join(work, 'tree.json');
    const written = spawnSync(program, ['tree', scene, '-m', 'kd-paper', '--set', `kd.leaf=${leaf}`, '-o', tree], { encoding: 'utf8' });
    if (written.status === 0 && isSmall) writeFileSync(target, smallTreeSvg(JSON.parse(readFileSync(tree, 'utf8'))));
    return written.status === 0 && !isSmall ? spawnSync('python3', [draw, tree, target], { encoding: 'utf8' }) : written;
}

/** The colour of a node as view/src/shaders.js and lab/render/render_scene.c have it, by its place in preorder. */
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

function drawSheet(program, work, target, list) {
    const files = list.map((_, i) => join(work, `${i}.png`));
    const failed = list.map((words, i) => render(program, files[i], words)).find(answer => answer.status !== 0);
    if (failed) return failed;
    writeSheet(target, files, 3);
    return { status: 0 };
}

function drawOne(program, work, target, one) {
    if (one.paint) return one.paint(program, work, target);
    if (one.scene) return drawTree(program, work, target, one);
    if (one.sheet) return drawSheet(program, work, target, one.sheet);
    return one.words ? render(program, target, one.words) : drawArray(program, work, target);
}

/** The same of a tenth of the objects: for tests. */
function withFew(one) {
    const few = word => String(word).replace(':4k', ':400');
    return { ...one, scene: one.scene && few(one.scene), words: one.words?.map(few), sheet: one.sheet?.map(words => words.map(few)) };
}

/** Draws those that can be drawn; returns them. Needs the program, and python3 for the cuts. */
export function drawPictures(program, folder, say, { isTiny = false } = {}) {
    const work = mkdtempSync(join(tmpdir(), 'cleave-tree-'));
    const drawn = pictures.filter(one => {
        const target = join(folder, one.file);
        if (isTiny && existsSync(target)) return true; // a test writes the pages again and again
        const answer = drawOne(program, work, target, isTiny ? withFew(one) : one);
        if (answer.status !== 0) say(`${one.file} is not drawn: ${lastLine(answer)}`);
        return answer.status === 0;
    });
    rmSync(work, { recursive: true });
    return drawn;
}

/** Those that a folder has already. */
export const keptPictures = folder => pictures.filter(one => existsSync(join(folder, one.file)));

/** Their section of a page; `files`: every figure there is. */
export function writePictures(page, drawn, files) {
    page.heading('Figures that are pictures');
    for (const [group, [heading, note]] of Object.entries(groups)) {
        const own = drawn.filter(one => one.group === group);
        if (own.length === 0) continue;
        page.text(`**${heading}.** ${note}`);
        page.text(own.map(({ file, title }) => `![${title}](${file})`).join(own[0].file.endsWith('.png') ? ' ' : '\n\n'));
    }
    const missing = missingFigures(files);
    page.text(missing.length > 0 ? 'Figures that are missing here:' : 'No figure is missing.');
    if (missing.length > 0) page.table(['figures', 'what they are', 'instead'], missing, { left: 3 });
}
