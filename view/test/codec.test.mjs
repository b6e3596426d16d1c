// SPDX-License-Identifier: MIT
// What `cleave view` packs, unpacked again without a browser: boxes to within half a step, pairs those
// of the boxes as they were.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { APART, LEAF, countFalse, decodeBlock, nodeOf, prepareScene } from '../src/codec.js';
import { describeNode, planesOf } from '../src/tree.js';
import { at, brutePairs, cleave, folder, readScene, writeScene } from './scenes.mjs';

after(() => rmSync(folder, { recursive: true, force: true }));

/** The frames in a page, without the ones that lead blocks in. */
function framesOf(page) {
    const text = readFileSync(page, 'utf8');
    const scene = prepareScene(JSON.parse(text.match(/<script id="scene" type="application\/json">([^]*?)<\/script>/)[1]));
    const blocks = [...text.matchAll(/<script type="text\/plain" class="block">([^<]*)<\/script>/g)].map(match => inflateRawSync(Buffer.from(match[1], 'base64')));
    const leads = [];
    const frames = blocks.flatMap((bytes, block) => {
        const all = decodeBlock(bytes, scene, block);
        if (block > 0) leads.push(all.shift());
        return all;
    });
    return { scene, frames, leads, blocks };
}

test('boxes come back to within half a step, pairs are those of the original boxes', () => {
    for (const [name, size] of [['brownian', 400], ['freefall', 300], ['city', 300], ['decades-6', 200]]) {
        const file = at(`${name}.aabbs`), page = at(`${name}.html`);
        cleave('gen', name, '-n', size, '--frames', 40, '--from', 30, '-o', file);
        cleave('view', file, '--set', 'kd.leaf=16', '-o', page);
        const { scene, frames, leads } = framesOf(page);
        const truth = readScene(file);
        assert.equal(frames.length, truth.length);
        assert.equal(leads.length, Math.ceil(truth.length / scene.block) - 1);
        truth.forEach((boxes, f) => {
            const { boxes: shown, pairs, begun, ended } = frames[f];
            for (let i = 0; i < boxes.length; ++i) {
                const value = shown[8 * Math.floor(i / 6) + (i % 6 < 3 ? i % 6 : i % 6 + 1)];
                assert.ok(Math.abs(value - boxes[i]) <= 0.5 * scene.step[0] + 4e-6 * Math.abs(boxes[i]) + 1e-6, `${name} frame ${f} value ${i}: ${value} for ${boxes[i]}`);
            }
            const exact = brutePairs(boxes);
            assert.deepEqual([...pairs], exact, `${name} frame ${f}`);
            assert.equal(scene.frames[f].pairs, exact.length / 2);
            if (f > 0) {
                const keys = list => new Set(Array.from({ length: list.length / 2 }, (_, i) => `${list[2 * i]} ${list[2 * i + 1]}`));
                const before = keys(brutePairs(truth[f - 1])), now = keys(exact);
                assert.deepEqual(keys(begun), new Set([...now].filter(pair => !before.has(pair))));
                assert.deepEqual(keys(ended), new Set([...before].filter(pair => !now.has(pair))));
            }
            const degrees = new Array(boxes.length / 6).fill(0);
            exact.forEach(object => { degrees[object] += 1; });
            assert.deepEqual(degrees, degrees.map((_, i) => shown[8 * i + 3]));
        });
    }
});

test('the tree is the one of cleave tree, and boxes are in its nodes', () => {
    const file = at('tree.aabbs'), page = at('tree.html'), json = at('tree.json');
    cleave('gen', 'freefall', '-n', 500, '--frames', 5, '-o', file);
    cleave('view', file, '--set', 'kd.leaf=16', '-o', page);
    cleave('tree', file, '--set', 'kd.leaf=16', '-o', json);
    const { scene, frames } = framesOf(page);
    const { tree } = frames[5];
    const { nodes } = JSON.parse(readFileSync(json, 'utf8')).tree;
    assert.ok(nodes.length > 20);
    assert.deepEqual([...tree.axes], nodes.map(node => node.axis ?? LEAF));
    nodes.forEach((node, i) => { if (node.axis !== undefined) assert.ok(Math.abs(tree.planes[i] - node.plane) <= scene.step[0]); });
    // Boxes that lie closer to a plane than a step may be seen on its other side.
    const place = new Map(nodes.flatMap((node, i) => node.objects.map(object => [object, i])));
    let same = 0;
    for (let object = 0; object < 500; ++object) same += nodeOf(tree, frames[5].boxes, 8 * object) === place.get(object);
    assert.ok(same >= 480, `${same} of 500`);
    nodes.forEach((node, i) => assert.equal(describeNode(tree, i).depth, node.depth));
    assert.equal(planesOf(tree, [[-1, -1, -1], [1, 1, 1]]).length, 8 * nodes.filter(node => node.axis !== undefined).length);
});

test('infinite boxes, points and one object alone', () => {
    const inf = Infinity;
    writeScene(at('odd.aabbs'), [[-inf, -inf, -inf, inf, inf, inf, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2], [-inf, 0, -inf, inf, 1, inf, 0, 2, 0, 0, 2, 0, 1, 1, 1, 2, 2, 2]]);
    cleave('view', at('odd.aabbs'), '-o', at('odd.html'));
    const { scene, frames } = framesOf(at('odd.html'));
    assert.equal(scene.name, '<b>made</b>');
    assert.deepEqual([...frames[0].pairs], [0, 1, 0, 2]);
    assert.deepEqual([...frames[1].pairs], [0, 2]);
    assert.equal(frames[0].infinite.get(0), 63);
    assert.equal(frames[1].infinite.get(0), 0b101101);
    assert.ok(frames[0].boxes.every(Number.isFinite), 'what is drawn is finite');
    writeScene(at('one.aabbs'), [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]]);
    cleave('view', at('one.aabbs'), '--frames', '1:1', '-o', at('one.html'));
    assert.equal(framesOf(at('one.html')).frames.length, 1);
});

test('bodies come back turned: their boxes are those of the file', () => {
    for (const [scene, size] of [['freefall', 200], ['tower', 20]]) {
        const file = at('bodies.aabbs'), page = at('bodies.html');
        cleave('gen', scene, '-n', size, '--frames', 40, '-o', file);
        cleave('view', `${scene}:${size}@0+40`, '--bodies', '-o', page);
        const { scene: about, frames } = framesOf(page);
        assert.equal(about.poses, true);
        readScene(file).forEach((boxes, f) => {
            for (let i = 0; i < boxes.length; ++i) {
                const value = frames[f].boxes[8 * Math.floor(i / 6) + (i % 6 < 3 ? i % 6 : i % 6 + 1)];
                assert.ok(Math.abs(value - boxes[i]) < about.step[0] + 1e-3, `${scene} frame ${f} value ${i}: ${value} for ${boxes[i]}`);
            }
            assert.deepEqual([...frames[f].pairs], brutePairs(boxes));
        });
    }
});

/** The three sides of a turned box, as vectors. */
function sidesOf(turns, half, i) {
    const [x, y, z, w] = turns.subarray(4 * i, 4 * i + 4), [a, b, c] = half.subarray(3 * i, 3 * i + 3);
    return [[1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)].map(value => value * a), [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)].map(value => value * b), [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)].map(value => value * c)];
}

test('false pairs are those whose volumes are apart, by planes between them', () => {
    const page = at('false.html');
    cleave('view', 'freefall:300@90+8', '--bodies', '-o', page);
    const { scene, frames } = framesOf(page), dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const diagonals = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1], [0, 1, 1], [0, 1, -1]];
    let seen = 0, doubtful = 0;
    const found = [0, 0, 0];
    for (const { boxes, turns, pairs, apart, falses } of frames) {
        assert.equal(apart.length, pairs.length / 2);
        assert.deepEqual(falses, countFalse(apart));
        apart.forEach((bits, i) => {
            const [a, b] = [pairs[2 * i], pairs[2 * i + 1]].map(body => ({ sides: sidesOf(turns, scene.half, body), middle: [0, 1, 2].map(axis => 0.5 * (boxes[8 * body + axis] + boxes[8 * body + 4 + axis])) }));
            const between = [0, 1, 2].map(axis => b.middle[axis] - a.middle[axis]), reach = (body, way) => body.sides.reduce((sum, side) => sum + Math.abs(dot(side, way)), 0);
            const gap = way => (Math.abs(dot(between, way)) - reach(a, way) - reach(b, way)) / Math.hypot(...way);
            const faces = [...a.sides, ...b.sides], ways = [...faces, ...a.sides.flatMap(one => b.sides.map(other => cross(one, other)))].filter(way => Math.hypot(...way) > 1e-3);
            const radius = body => Math.sqrt(body.sides.reduce((sum, side) => sum + dot(side, side), 0));
            const gaps = [Math.max(...diagonals.map(gap)), Math.hypot(...between) - radius(a) - radius(b), Math.max(...ways.map(gap))];
            [APART.dops, APART.spheres, APART.bodies].forEach((bit, kind) => {
                seen += 1;
                // The page's bodies are rounded: nearer than that they may be either.
                if (Math.abs(gaps[kind]) < 2 * scene.step[0]) doubtful += 1;
                else assert.equal((bits & bit) !== 0, gaps[kind] > 0, `pair ${pairs[2 * i]} ${pairs[2 * i + 1]}, ${['18-DOPs', 'spheres', 'bodies'][kind]}: ${gaps[kind]}`);
                found[kind] += (bits & bit) !== 0;
            });
        });
    }
    assert.ok(seen > 1000 && doubtful < 0.4 * seen, `${doubtful} of ${seen}`);
    assert.ok(Math.min(...found) > 20 && found[2] > found[0], String(found));
    assert.deepEqual(countFalse(Uint8Array.from([0, 4, 5, 6, 7])), { boxes: 4, dops: 2, spheres: 2 });
});

test('a .posrot file shows its bodies turned', () => {
    writeScene(at('pose.aabbs'), [[-1, -1, -1, 1, 1, 1, 1.2, -1, -1, 3.2, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]);
    const bytes = readFileSync(at('pose.aabbs')), half = Math.SQRT1_2, turn = Math.sin(Math.PI / 8);
    [[0, 0, 0, 0, 0, 0, turn, Math.cos(Math.PI / 8)], [2.2, 0, 0, 0, 0, 0, 0, 1]].forEach((record, body) => record.forEach((value, i) => bytes.writeFloatLE(value, 304 + 64 + 32 * body + 4 * i)));
    writeFileSync(at('pose.posrot'), bytes);
    cleave('view', at('pose.posrot'), '-o', at('pose.html'));
    const { scene, frames } = framesOf(at('pose.html'));
    assert.equal(scene.poses, true);
    assert.deepEqual([...frames[0].pairs, ...frames[1].pairs], [0, 1], 'turned by 45 degrees the first one reaches the second');
    assert.ok(Math.abs(frames[1].boxes[4] - 2 * half) < 2 * scene.step[0]);
    assert.ok(Math.abs(frames[1].turns[2] - turn) < 1e-3);
});

test('without pairs a page has boxes alone', () => {
    cleave('view', 'equal:200@0+2', '--no-pairs', '-o', at('bare.html'));
    const { scene, frames } = framesOf(at('bare.html'));
    assert.equal(scene.frames[0].pairs, undefined);
    assert.equal(frames[2].pairs.length + frames[2].tree.axes.length, 0);
});

test('a block that ends early is refused, as is one that goes on', () => {
    const { scene, blocks } = framesOf(at('one.html'));
    assert.throws(() => decodeBlock(blocks[0].subarray(0, blocks[0].length - 3), scene, 0), /ends at byte/);
    assert.throws(() => decodeBlock(Buffer.concat([blocks[0], Buffer.from([0])]), scene, 0), /1 bytes too many/);
    assert.throws(() => prepareScene({ ...scene, format: 99 }), /format 2.*99/);
});
