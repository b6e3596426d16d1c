// SPDX-License-Identifier: MIT
// What needs no space: points within a cutoff (cleave/near.h) and overlapping regions (cleave/match.h).
import { checkCount, checkKeys, countOf } from './memory.js';

// Numbers of a def, in the order of src/points.c.
const NEAR = ['cutoff', 'skin', 'doubles', 'flat', 'full', 'byPoint', 'squared', 'vectors', 'shifts', 'maxPairs', 'workers'];
const STOPPED = 10;

/** Points within reach of each other, from step to step. Made by Cleave.createNear; given back by destroy. */
export class Near {
    #lib;
    #near;
    #def;
    #count = 0; // points of the call at work

    constructor(lib, def) {
        checkKeys('createNear', def, NEAR);
        const numbers = NEAR.map((name) => Number(def[name] ?? (name === 'workers' ? lib.threads : 0)));
        const [workers, maxPairs] = [numbers[NEAR.indexOf('workers')], numbers[NEAR.indexOf('maxPairs')]];
        if (!Number.isInteger(workers) || workers < 1 || workers > lib.threads) {
            throw new TypeError(`createNear: workers is from 1 to ${lib.threads}, the threads that loadCleave was asked for and got, not ${workers}`);
        }
        if (!Number.isSafeInteger(maxPairs) || maxPairs < 0) {
            throw new TypeError(`createNear: maxPairs is a whole number from 0 on, not ${maxPairs}`);
        }
        const out = lib.outRoom();
        this.#near = lib.c.js_near_create(lib.give('def', new Float64Array(numbers)), out) >>> 0;
        if (this.#near === 0) {
            throw lib.lineError(lib.out(1)[0]);
        }
        this.#lib = lib;
        this.#def = { doubles: Boolean(def.doubles), flat: Boolean(def.flat), full: Boolean(def.full), byPoint: Boolean(def.byPoint) };
    }

    /** Pairs that are never listed: bonds. Two indices each; replaces those of the last call. */
    exclude(pairs) {
        const near = this.#changing();
        const count = countOf('exclude', 'pairs', pairs, Uint32Array, 2);
        this.#check(this.#lib.c.js_near_exclude(near, this.#lib.give('pairs', pairs), count));
    }

    /** List the pairs of points within the cutoff. */
    update(points, options = {}) {
        this.#check(this.#ask('update', points, options, false, {}));
        const view = this.#lib.out(8);
        return { isNew: view[7] !== 0, ...this.#read(view) };
    }

    /** The same in chunks, without a list; the visitor returns false to stop. True if it came to the end. */
    visit(points, visitor, options = {}) {
        if (typeof visitor !== 'function') {
            throw new TypeError('visit: the visitor is a function of a part of the list');
        }
        let stopped = false;
        const result = this.#ask('visit', points, options, true, { visitor: (view) => !(stopped = visitor(this.#read(view)) === false) });
        if (!(stopped && result === STOPPED)) {
            this.#check(result);
        }
        return !stopped;
    }

    destroy() {
        if (this.#near !== 0) {
            this.#lib.c.js_near_destroy(this.#changing());
            this.#near = 0;
        }
    }

    #changing() {
        if (this.#near === 0) {
            throw new Error('this list was destroyed');
        }
        return this.#lib.changing(this.#near);
    }

    #ask(call, points, options, visits, frame) {
        checkKeys(call, options, ['radii', 'groups', 'cell', 'periodic']);
        const near = this.#changing(), lib = this.#lib, { doubles, flat } = this.#def;
        const type = doubles ? Float64Array : Float32Array;
        const count = countOf(call, 'points', points, type, flat ? 2 : 3);
        const { radii, groups } = options;
        if (radii !== undefined) {
            checkCount(call, 'radii', radii, type, 1, count, 'points');
        }
        if (groups !== undefined) {
            checkCount(call, 'groups', groups, Uint32Array, 1, count, 'points');
        }
        const cell = this.#cell(call, options);
        this.#count = count;
        frame.object = near;
        const out = lib.outRoom();
        const places = [lib.give('points', points), count, lib.give('radii', radii), lib.give('groups', groups), lib.give('cell', cell), out];
        return lib.run(frame, () => lib.c.js_near_update(near, visits ? 1 : 0, doubles ? 1 : 0, flat ? 1 : 0, ...places));
    }

    // Nine numbers, then which edges are periodic: all, unless it says otherwise.
    #cell(call, { cell, periodic = [true, true, !this.#def.flat] }) {
        if (cell === undefined) {
            return undefined;
        }
        const numbers = Array.from(cell, Number);
        if (numbers.length !== 9 || periodic.length !== 3) {
            throw new TypeError(`${call}: cell is nine numbers, three edges from the origin; periodic is three booleans`);
        }
        return new Float64Array([...numbers, ...Array.from(periodic, (is) => (is ? 1 : 0))]);
    }

    #read([count, pairs, offsets, indices, squared, vectors, shifts]) {
        const lib = this.#lib, real = this.#def.doubles ? Float64Array : Float32Array;
        const copy = (type, address, length) => lib.copy(type, address, length);
        const list = { count };
        if (this.#def.byPoint) {
            const words = offsets === 0 ? new Uint32Array(2 * (this.#count + 1)) : copy(Uint32Array, offsets, 2 * (this.#count + 1));
            list.offsets = words.filter((word, i) => i % 2 === 0);
            list.indices = copy(Uint32Array, indices, count);
        } else {
            list.pairs = copy(Uint32Array, pairs, 2 * count);
        }
        const extra = [['squared', squared, real, 1], ['vectors', vectors, real, 3], ['shifts', shifts, Int32Array, 3]];
        for (const [name, address, type, width] of extra.filter((row) => row[1] !== 0)) {
            list[name] = copy(type, address, width * count);
        }
        return list;
    }

    #check(result) {
        if (result !== 0) {
            throw this.#lib.detailedError(this.#lib.c.js_near_error, this.#near);
        }
    }
}

/**
 * Regions of one to eight axes: every two that overlap, or every overlap of one of
 * `regions` with one of `others`.
 */
export function match(lib, axes, regions, others) {
    if (!Number.isInteger(axes) || axes < 1 || axes > 8) {
        throw new TypeError(`match: axes is a whole number from 1 to 8, not ${axes}`);
    }
    const count = countOf('match', 'regions', regions, Float64Array, 2 * axes);
    const otherCount = others === undefined ? 0 : countOf('match', 'others', others, Float64Array, 2 * axes);
    const chunks = [];
    const out = lib.outRoom();
    const places = [lib.give('regions', regions), count, lib.give('others', others), otherCount, out];
    const result = lib.run({ visitor: (pairs) => chunks.push(pairs) > 0 }, () => lib.c.js_match(axes, ...places));
    if (result !== 0) {
        throw lib.lineError(result, lib.out(2)[1]);
    }
    const pairs = new Uint32Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    chunks.reduce((at, chunk) => (pairs.set(chunk, at), at + chunk.length), 0);
    return pairs;
}
