// SPDX-License-Identifier: MIT
// Reads what lab/view/view_page.c writes; README.md has the format. Knows nothing of pages:
// node and workers use it too.
import { countAllCells } from './cells.js';
import { spanOf } from './near.js';

const INFINITE = 1 << 28;
const ORDER = { key: 0, frame: 1, speed: 2 };
export const LEAF = 3;
export const FORMAT = 2;
/** Bits of a pair whose boxes touch: what does not. lab/view/view_overlay.h has the same. */
export const APART = { dops: 1, spheres: 2, bodies: 4 };

/** Bytes one after the other. A block that ends early throws. */
export class Reader {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }

    byte() {
        if (this.at >= this.bytes.length) throw new RangeError(`the block ends at byte ${this.at}, in the middle of a frame`);
        return this.bytes[this.at++];
    }

    /** The next so many, as a copy. */
    take(count) {
        if (this.at + count > this.bytes.length) throw new RangeError(`the block ends at byte ${this.bytes.length}, in the middle of a frame`);
        return this.bytes.slice(this.at, this.at += count);
    }

    count() {
        let value = 0, shift = 0, byte;
        do {
            byte = this.byte();
            value |= (byte & 0x7f) << shift;
            shift += 7;
        } while (byte & 0x80 && shift < 35);
        return value >>> 0;
    }

    difference() {
        const value = this.count();
        return (value >>> 1) ^ -(value & 1);
    }
}

function readChannel(reader, now, before, earlier, base, count) {
    const order = reader.byte();
    for (let i = base, end = base + count; i < end; ++i) {
        const step = reader.difference();
        const expected = order === ORDER.key ? (i > base ? now[i - 1] : 0) : order === ORDER.frame ? before[i] : 2 * before[i] - earlier[i];
        now[i] = (expected + step) | 0;
    }
}

function readPairs(reader) {
    const count = reader.count();
    const pairs = new Uint32Array(2 * count);
    for (let i = 0, a = 0, b = 0; i < count; ++i) {
        const step = reader.count();
        const more = reader.count();
        b = i > 0 && step === 0 ? b + more : a + step + more;
        a += step;
        pairs[2 * i] = a;
        pairs[2 * i + 1] = b;
    }
    return pairs;
}

/** The pairs at the places that stand there. */
function readEnded(reader, pairs) {
    const count = reader.count();
    const ended = new Uint32Array(2 * count);
    for (let i = 0, place = 0; i < count; ++i) {
        place += reader.count();
        ended[2 * i] = pairs[2 * place];
        ended[2 * i + 1] = pairs[2 * place + 1];
    }
    return ended;
}

const before = (one, i, other, j) => one[i] < other[j] || (one[i] === other[j] && one[i + 1] < other[j + 1]);

/** The sorted list without those that ended, with those that began. */
export function changePairs(pairs, ended, begun) {
    const out = new Uint32Array(pairs.length - ended.length + begun.length);
    let gone = 0, come = 0, at = 0;
    for (let i = 0; i < pairs.length; i += 2) {
        if (gone < ended.length && ended[gone] === pairs[i] && ended[gone + 1] === pairs[i + 1]) {
            gone += 2;
            continue;
        }
        for (; come < begun.length && before(begun, come, pairs, i); come += 2) {
            out[at++] = begun[come];
            out[at++] = begun[come + 1];
        }
        out[at++] = pairs[i];
        out[at++] = pairs[i + 1];
    }
    for (; come < begun.length; ++come) out[at++] = begun[come];
    return out;
}

/** Nodes in preorder: axis (or LEAF), plane, and where the right child stands. */
export function readTree(reader, scene) {
    const count = reader.count();
    const tree = { axes: new Uint8Array(count), planes: new Float32Array(count), rights: new Uint32Array(count) };
    const open = []; // inner nodes whose right child is still to come, and how many children they have seen
    for (let i = 0; i < count; ++i) {
        while (open.length > 0 && open[open.length - 1].seen === 2) open.pop();
        const parent = open[open.length - 1];
        if (parent) {
            if (parent.seen === 1) tree.rights[parent.node] = i;
            parent.seen += 1;
        }
        const axis = tree.axes[i] = reader.byte();
        if (axis !== LEAF) {
            tree.planes[i] = scene.origin[axis] + reader.difference() * scene.step[0];
            open.push({ node: i, seen: 0 });
        }
    }
    return tree;
}

/** The node that owns a box, by the rule of docs/kd.md: on the plane belongs to the right. */
export function nodeOf(tree, boxes, at) {
    let node = 0;
    while (node < tree.axes.length && tree.axes[node] !== LEAF) {
        const axis = tree.axes[node], plane = tree.planes[node];
        if (boxes[at + 4 + axis] < plane) node += 1;
        else if (boxes[at + axis] >= plane) node = tree.rights[node];
        else return node;
    }
    return node;
}

/** What the drawing reads: eight floats an object, lower x y z, touching others, upper x y z, node. */
function placeBoxes(scene, values, boxes) {
    const count = scene.objects, step = scene.step[0], far = scene.far;
    let infinite = null;
    for (let axis = 0; axis < 3; ++axis) {
        const origin = scene.origin[axis];
        const [low, high] = far[axis];
        for (let i = 0; i < count; ++i) {
            const lower = values[axis * count + i], upper = lower + values[(3 + axis) * count + i];
            const l = lower === -INFINITE ? low : origin + lower * step, u = upper === INFINITE ? high : origin + upper * step;
            if (lower === -INFINITE || upper === INFINITE) (infinite ??= new Map()).set(i, (infinite.get(i) ?? 0) | (lower === -INFINITE ? 1 : 0) << axis | (upper === INFINITE ? 8 : 0) << axis);
            boxes[8 * i + axis] = l;
            boxes[8 * i + 4 + axis] = u;
        }
    }
    return infinite;
}

/**
 * How far a body reaches along an axis that has these parts of its half sides: a box with all, a truncated
 * octahedron with one and half of another.
 */
function reachOf(shape, ...parts) {
    const [x, y, z] = parts.map(Math.abs);
    return shape === 1 ? Math.max(x, y, z) + 0.5 * (x + y + z - Math.max(x, y, z) - Math.min(x, y, z)) : x + y + z;
}

/** Boxes around turned bodies, and their rotations as four floats each. */
function placeBodies(scene, values, boxes, turns) {
    const count = scene.objects, step = scene.step[0], half = scene.half;
    for (let i = 0; i < count; ++i) {
        let x = values[3 * count + i], y = values[4 * count + i], z = values[5 * count + i], w = values[6 * count + i];
        const length = Math.hypot(x, y, z, w) || 1;
        x /= length, y /= length, z /= length, w /= length;
        turns.set([x, y, z, w], 4 * i);
        const [a, b, c] = [half[3 * i], half[3 * i + 1], half[3 * i + 2]];
        const reach = [
            reachOf(scene.shape, (1 - 2 * (y * y + z * z)) * a, 2 * (x * y - z * w) * b, 2 * (x * z + y * w) * c),
            reachOf(scene.shape, 2 * (x * y + z * w) * a, (1 - 2 * (x * x + z * z)) * b, 2 * (y * z - x * w) * c),
            reachOf(scene.shape, 2 * (x * z - y * w) * a, 2 * (y * z + x * w) * b, (1 - 2 * (x * x + y * y)) * c),
        ];
        for (let axis = 0; axis < 3; ++axis) {
            const middle = scene.origin[axis] + values[axis * count + i] * step;
            boxes[8 * i + axis] = middle - reach[axis];
            boxes[8 * i + 4 + axis] = middle + reach[axis];
        }
    }
}

/** How many pairs of boxes are false, and how many of those 18-DOPs and spheres keep. */
export function countFalse(apart) {
    let boxes = 0, dops = 0, spheres = 0;
    for (let i = 0; i < apart.length; ++i) {
        if (!(apart[i] & APART.bodies)) continue;
        boxes += 1;
        dops += !(apart[i] & APART.dops);
        spheres += !(apart[i] & APART.spheres);
    }
    return { boxes, dops, spheres };
}

/** Into every box how many others it touches, and its node; what its cells hold, and how far it spreads. */
export function annotate(frame, grids) {
    const { boxes, pairs, tree } = frame, count = boxes.length / 8;
    frame.cells = countAllCells(grids, boxes);
    frame.falses = frame.apart && countFalse(frame.apart);
    frame.span = spanOf(boxes);
    for (let i = 0; i < pairs.length; ++i) boxes[8 * pairs[i] + 3] += 1;
    for (let i = 0; i < count && tree.axes.length > 0; ++i) boxes[8 * i + 7] = nodeOf(tree, boxes, 8 * i);
}

/** How far infinite boxes are drawn: a tenth of the world's side beyond it. */
export function prepareScene(scene) {
    if (scene.format !== FORMAT) throw new Error(`this page reads format ${FORMAT}, and the scene is of ${scene.format}`);
    scene.far = [0, 1, 2].map(axis => {
        const low = scene.world[axis] ?? scene.origin[axis] - 1e6 * scene.step[0], high = scene.world[axis + 3] ?? scene.origin[axis] + 1e6 * scene.step[0];
        return [low - 0.1 * (high - low), high + 0.1 * (high - low)];
    });
    scene.half &&= Float32Array.from(scene.half);
    return scene;
}

/** Which frames a block holds: its own, and `lead`, 1 where it begins with the one before them. */
export function blockFrames(scene, block) {
    const begin = block * scene.block, end = Math.min(begin + scene.block, scene.count);
    return { begin, end, lead: block > 0 ? 1 : 0 };
}

/**
 * All frames of a block, in order: { index, boxes, turns, pairs, begun, ended, tree, infinite, apart, cells,
 * span, falses }. `scene.grids`: the cells of each frame.
 */
export function decodeBlock(bytes, scene, block) {
    const { begin, end, lead } = blockFrames(scene, block);
    const reader = new Reader(bytes), count = scene.objects, channels = scene.poses ? 7 : 6;
    let values = [0, 1, 2].map(() => new Int32Array(channels * count));
    let pairs = new Uint32Array(0);
    const frames = [];
    for (let index = begin - lead; index < end; ++index) {
        const [now, last, earlier] = values;
        for (let channel = 0; channel < channels; ++channel) readChannel(reader, now, last, earlier, channel * count, count);
        values = [earlier, now, last];
        const isKey = index === begin - lead;
        const ended = isKey ? new Uint32Array(0) : readEnded(reader, pairs);
        const begun = readPairs(reader);
        pairs = isKey ? begun : changePairs(pairs, ended, begun);
        const apart = scene.poses ? reader.take(pairs.length / 2) : null;
        const frame = { index, boxes: new Float32Array(8 * count), turns: null, pairs, begun: isKey ? new Uint32Array(0) : begun, ended, tree: readTree(reader, scene), infinite: null, apart };
        if (scene.poses) placeBodies(scene, now, frame.boxes, frame.turns = new Float32Array(4 * count));
        else frame.infinite = placeBoxes(scene, now, frame.boxes);
        annotate(frame, scene.grids?.[index]);
        frames.push(frame);
    }
    if (reader.at !== bytes.length) throw new RangeError(`the block has ${bytes.length - reader.at} bytes too many`);
    return frames;
}

/** A block as it stands in the page, base64 of deflate, as bytes. */
export async function unpackText(text) {
    const packed = atob(text);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}
