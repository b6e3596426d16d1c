// SPDX-License-Identifier: MIT
// The library as WebAssembly with the playground's scenes: engine/playground.c. Runs in a
// worker, and in node for tests.
import { Reader, readTree } from './codec.js';

const STEP = 1 / 1024; // of a plane, metres
const TELLER = 2; // the side that is not timed: sorted pairs, what began and ended, and the tree where neither of the two has one
const hasTree = method => method.startsWith('kd');

export async function loadEngine(bytes) {
    let memory;
    const view = () => new DataView(memory.buffer);
    const clock = (id, precision, out) => { view().setBigUint64(out, BigInt(Math.round(performance.now() * 1e6)), true); return 0; };
    const none = (count, size) => { view().setUint32(count, 0, true); view().setUint32(size, 0, true); return 0; };
    const { instance } = await WebAssembly.instantiate(bytes, {
        env: { emscripten_notify_memory_growth: () => {} },
        wasi_snapshot_preview1: { clock_time_get: clock, environ_sizes_get: none, environ_get: () => 0, proc_exit: code => { throw new Error(`the engine ran out of memory (${code})`); } },
    });
    memory = instance.exports.memory;
    instance.exports._initialize();
    if (instance.exports.pg_start() !== 0) throw new Error('the methods could not be registered');
    return new Engine(instance.exports);
}

class Engine {
    constructor(c) {
        this.c = c;
        this.place = c.malloc(32);
        this.chosen = ['', ''];
        this.#forget();
    }

    /** Nothing of a scene is known yet. */
    #forget() {
        this.index = -1;
        this.boxes = null;
        this.made = []; // the method of each side
        this.fresh = new Set(); // sides whose boxes are not entered yet
        this.rivals = [null, null];
    }

    #text(address) {
        const bytes = new Uint8Array(this.c.memory.buffer, address);
        return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    }

    #with(texts, call) {
        const places = texts.map(text => {
            if (!text) return 0;
            const bytes = new TextEncoder().encode(`${text}\0`), place = this.c.malloc(bytes.length);
            new Uint8Array(this.c.memory.buffer, place, bytes.length).set(bytes);
            return place;
        });
        const answer = call(...places);
        places.forEach(place => this.c.free(place));
        if (!answer) throw new Error(this.#text(this.c.pg_error()));
        return answer;
    }

    /**
     * Another scene; the methods stay the same. `lean`: half the time for contacts; otherwise the boxes
     * are those of `cleave gen`.
     */
    open(scene, bodies, seed = 1, lean = true) {
        this.#with([scene], name => this.c.pg_open(name, bodies, seed, lean ? 1 : 0));
        this.scene = scene;
        this.capacity = bodies;
        this.#forget();
        this.choose(...this.chosen);
    }

    /** Two methods by name; the second may be ''. One that is there already goes on. */
    choose(...names) {
        this.chosen = names;
        names.forEach((name, side) => this.#make(side, name));
    }

    // A tree of a few thousand bodies is to have leaves to look at.
    #make(side, name) {
        if (this.made[side] === name) return;
        this.made[side] = name;
        if (!name) return;
        this.#with([name, hasTree(name) ? `kd.leaf=${Math.max(64, Math.min(512, this.capacity >> 4))}` : ''], (method, settings) => this.c.pg_choose(side, method, settings));
        this.fresh.add(side);
    }

    world() {
        return [...new Float32Array(this.c.memory.buffer, this.c.pg_world(), 6)];
    }

    hold(body, point) {
        this.c.pg_hold(body < 0 ? 0xffffffff : body, ...(point ?? [0, 0, 0]));
    }

    pour(point, count) {
        return this.c.pg_pour(...point, count);
    }

    /**
     * Moves on, looks for pairs by both methods, and gives the frame as the page shows it. `still`:
     * the frame that is there once more, for other overlays or methods; it keeps its number, and
     * what was measured of it.
     */
    frame({ still = false, wants = {} } = {}) {
        const { c } = this, isStill = still && this.index >= 0;
        this.#make(TELLER, wants.tree && !this.chosen.some(hasTree) ? 'kd' : 'cleave');
        if (!isStill) this.#moveOn(still);
        this.chosen.forEach((name, side) => { if (!isStill || this.fresh.has(side) || !name) this.rivals[side] = name ? this.#update(name, side) : null; });
        if (!isStill || this.fresh.has(TELLER)) {
            if (c.pg_update(TELLER) !== this.rivals[0].pairs) throw new Error(`${this.rivals[0].method} found ${this.rivals[0].pairs} pairs, and ${this.made[TELLER]} does not`);
            if (!isStill) this.events = [this.#events(0), this.#events(1)];
        }
        this.fresh.clear();
        return this.#collect(isStill, wants);
    }

    /** The next frame; or, where none was shown yet, the one that the scene begins with. */
    #moveOn(isFirst) {
        const begin = performance.now();
        if (!isFirst && !this.c.pg_step()) throw new Error(this.#text(this.c.pg_error()));
        this.physics = isFirst ? null : performance.now() - begin;
        const old = this.boxes;
        this.boxes = this.#readBoxes();
        this.rest = old ? restShare(old, this.boxes) : undefined;
        this.index += 1;
    }

    #update(method, side) {
        const begin = performance.now();
        const pairs = this.c.pg_update(side);
        const ms = performance.now() - begin;
        if (pairs < 0) throw new Error(this.#text(this.c.pg_error()));
        this.c.pg_hash(side, this.place);
        const hash = [...new Uint32Array(this.c.memory.buffer, this.place, 2)].reverse().map(half => half.toString(16).padStart(8, '0')).join('');
        if (side === 0) this.ms = this.fresh.has(side) ? null : this.#times();
        return { method, pairs, ms, hash, isFirst: this.fresh.has(side) };
    }

    #times() {
        this.c.pg_times(0, this.place);
        return [...new Float64Array(this.c.memory.buffer, this.place, 3)];
    }

    /** Eight floats a box: the last of each corner are the page's. */
    #readBoxes() {
        const { c } = this, count = c.pg_count(), from = new Float32Array(c.memory.buffer, c.pg_boxes(), 6 * count), boxes = new Float32Array(8 * count);
        for (let i = 0; i < count; ++i) {
            for (let axis = 0; axis < 3; ++axis) {
                boxes[8 * i + axis] = from[6 * i + axis];
                boxes[8 * i + 4 + axis] = from[6 * i + 3 + axis];
            }
        }
        return boxes;
    }

    /** Everything is copied: the page's worker gives it away. */
    #collect(isStill, wants) {
        const { c, rivals } = this, count = c.pg_count();
        const copy = (Type, address, length) => new Type(c.memory.buffer, address, length).slice();
        const pairs = copy(Uint32Array, c.pg_pairs(TELLER), 2 * rivals[0].pairs), [begun, ended] = this.events.map(list => list.slice());
        const tree = this.#tree(wants.tree), apart = wants.volumes ? copy(Uint8Array, this.#apart(), rivals[0].pairs) : null;
        const facts = { pairs: rivals[0].pairs, still: this.rest, ms: this.ms, physics: this.physics, rivals: [...rivals], tree: wants.tree ? this.made[this.#treeSide()] : null,
            cells: wants.cells ? JSON.parse(this.#text(c.pg_cells())) : undefined };
        return { index: this.index, isStill, boxes: this.boxes.slice(), turns: copy(Float32Array, c.pg_turns(), 4 * count), half: copy(Float32Array, c.pg_half(), 3 * count), pairs, begun, ended, tree, infinite: null, apart, facts };
    }

    #apart() {
        const address = this.c.pg_apart();
        if (address === 0) throw new Error('out of memory for the volumes');
        return address;
    }

    /** The side whose tree is drawn: one of the two methods, or else the one that is not timed. */
    #treeSide() {
        return this.made.findIndex(name => Boolean(name) && hasTree(name));
    }

    #tree(wanted) {
        if (!wanted) return { axes: new Uint8Array(0), planes: new Float32Array(0), rights: new Uint32Array(0) };
        const count = this.c.pg_tree(this.#treeSide(), STEP);
        if (count === 0) return this.#tree(false);
        const bytes = new Uint8Array(this.c.memory.buffer, this.c.pg_tree_bytes(), count).slice();
        return readTree(new Reader(bytes), { origin: [0, 0, 0], step: [STEP] });
    }

    #events(ended) {
        const count = this.c.pg_event_count(ended), ids = new Uint32Array(this.c.memory.buffer, this.c.pg_events(ended), 4 * count);
        const out = new Uint32Array(2 * count);
        for (let i = 0; i < count; ++i) {
            out[2 * i] = ids[4 * i];
            out[2 * i + 1] = ids[4 * i + 2];
        }
        return out;
    }
}

/** Share of the boxes no face of which moved by more than 1 % of the mean side. */
function restShare(old, now) {
    const count = Math.min(old.length, now.length) / 8;
    let resting = 0;
    for (let at = 0; at < 8 * count; at += 8) {
        let moved = 0, side = 0;
        for (let axis = 0; axis < 3; ++axis) {
            moved = Math.max(moved, Math.abs(now[at + axis] - old[at + axis]), Math.abs(now[at + 4 + axis] - old[at + 4 + axis]));
            side += old[at + 4 + axis] - old[at + axis];
        }
        resting += moved <= 0.01 * side / 3;
    }
    return count > 0 ? resting / count : 0;
}
