// SPDX-License-Identifier: MIT
// What overlaps this shape, what does this ray hit first, which are the eight nearest?
// cleave/query.h and world_query.h.
import { checkKeys, countOf, filterBytes } from './memory.js';

// The kinds in the order of clv_query_kind, and the numbers of an item in a solid, a flat and a space of
// doubles.
const KINDS = {
    points: [1, 3, 2, 3], boxes: [2, 6, 4, 6], spheres: [3, 4, 3, 4], neighbourhoods: [4, 7, 5, 7], capsules: [5, 7, 5, 7],
    orientedBoxes: [6, 10, 6, 10], halfSpaces: [7, 4, 3, 4], rays: [8, 7, 5, 7], boxCasts: [9, 10, 7, 10],
    sphereCasts: [10, 8, 6, 8], capsuleCasts: [11, 11, 8, 11],
};
const KIND_STEP = 32; // from the kinds of one world to those of the next
const DOUBLE = 2; // the world of doubles
const OPTIONS = ['filters', 'asGiven', 'callback', 'regions', 'origins'];
const NO_ROOM = 12, STOPPED = 10;
const ASK = { all: 0, any: 1, closest: 2, nearest: 3, visit: 4 };

/** The index of a hit that there is none of. */
export const NO_HIT = 0xFFFFFFFF;

// Rotations are of floats there too: six doubles and four floats are 64 bytes.
function packOrientedBoxes(items, count) {
    const places = new Float64Array(8 * count), rotations = new Float32Array(places.buffer);
    for (let i = 0; i < count; ++i) {
        places.set(items.subarray(10 * i, 10 * i + 6), 8 * i);
        rotations.set(items.subarray(10 * i + 6, 10 * i + 10), 16 * i + 12);
    }
    return places;
}

/** The part of a space that answers questions. `own` is the space's address, or throws. */
export class Questions {
    #lib;
    #world;
    #own;
    #capacity = 64; // hits that there is room for, as the last lists were

    constructor(lib, world, own) {
        this.#lib = lib;
        this.#world = world;
        this.#own = own;
    }

    /** Everything that each query finds, by index: hits of query i from offsets[i] to offsets[i + 1]. */
    queryAll(kind, items, options = {}) {
        const list = this.#list('queryAll', kind, items, options);
        if (options.callback !== undefined) {
            return this.#gather(list, options); // asked once about each hit, however many there are
        }
        const lib = this.#lib;
        const offsets = lib.room('offsets', 8 * (list.count + 1));
        const ask = () => this.#ask(list, ASK.all, { offsets, capacity: this.#capacity, hits: this.#hitRoom(this.#capacity) });
        let result = ask();
        if (result.code === NO_ROOM) {
            this.#capacity = result.hitCount;
            result = ask();
        }
        this.#check(result);
        const words = lib.lend(Uint32Array, offsets, 2 * (list.count + 1));
        const starts = new Uint32Array(list.count + 1);
        for (let i = 0; i < starts.length; ++i) {
            starts[i] = words[2 * i];
        }
        return { offsets: starts, ...this.#readHits(this.#hitRoom(this.#capacity), result.hitCount) };
    }

    /** One hit of each query, whichever comes first; NO_HIT where there is none. */
    queryAny(kind, items, options = {}) {
        return this.#each('queryAny', ASK.any, kind, items, 1, 0, options);
    }

    /** What each ray or cast meets first. */
    queryClosest(kind, items, options = {}) {
        return this.#each('queryClosest', ASK.closest, kind, items, 1, 0, options);
    }

    /** The k objects nearest to each point or box, nearest first. */
    queryNearest(kind, items, k, options = {}) {
        if (!Number.isInteger(k) || k < 0) {
            throw new TypeError(`queryNearest: k is a whole number from 0 on, not ${k}`);
        }
        const { maxDistance = Infinity, ...rest } = options;
        return this.#each('queryNearest', ASK.nearest, kind, items, k, maxDistance, rest);
    }

    /**
     * As queryAll, one query after the other: the visitor gets its number and its hits,
     * and returns false to stop.
     */
    queryVisit(kind, items, visitor, options = {}) {
        if (typeof visitor !== 'function') {
            throw new TypeError('queryVisit: the visitor is a function of a query, indices and times');
        }
        const list = this.#list('queryVisit', kind, items, options);
        let stopped = false;
        const visit = (query, hits, count) => {
            const { indices, t } = this.#readHits(hits, count);
            stopped = visitor(query, indices, t) === false;
            return !stopped;
        };
        const result = this.#ask(list, ASK.visit, {}, { visitor: visit, callback: options.callback });
        if (result.code !== STOPPED) {
            this.#check(result);
        }
        return !stopped;
    }

    /** Every pair of an object of this space and one of another: an index here and an index there, sorted. */
    queryPairs(other, { asGiven = false } = {}) {
        if (!(other instanceof Questions) || other.#lib !== this.#lib) {
            throw new TypeError('queryPairs: the other space is one of the same library');
        }
        const first = this.#own(), second = other.#own(), lib = this.#lib;
        const ask = () => {
            const code = lib.c.js_query_pairs(first, second, asGiven ? 1 : 0, this.#hitRoom(this.#capacity), this.#capacity, lib.outRoom());
            return { code, hitCount: lib.out(1)[0], position: -1 };
        };
        let result = ask();
        if (result.code === NO_ROOM) {
            this.#capacity = result.hitCount;
            result = ask();
        }
        this.#check(result);
        return lib.copy(Uint32Array, this.#hitRoom(this.#capacity), 2 * result.hitCount);
    }

    /** From here on questions see the boxes as they are now, without a search for pairs. */
    refresh() {
        const space = this.#lib.changing(this.#own());
        if (this.#lib.c.js_refresh(space) !== 0) {
            throw this.#lib.detailedError(this.#lib.c.js_error, space);
        }
    }

    // ---- one question

    /** What the ray meets first, as { index, t }; null if nothing. */
    castRay(origin, direction, maxT = Infinity) {
        return this.#first(this.queryClosest('rays', this.#item('castRay', [...Array.from(origin), ...Array.from(direction), maxT], 'rays')));
    }

    /** Is there anything on the way from a to b? */
    isBlocked(a, b) {
        const way = Array.from(b, (value, axis) => value - a[axis]);
        return this.#first(this.queryAny('rays', this.#item('isBlocked', [...Array.from(a), ...way, 1], 'rays'))) !== null;
    }

    /** The indices of what touches the box. */
    overlapBox(box) {
        return this.queryAll('boxes', this.#item('overlapBox', box, 'boxes')).indices;
    }

    /** The k nearest to a point, nearest first: { indices, t }, as many as there are. */
    nearest(point, k, maxDistance = Infinity) {
        const { indices, t } = this.queryNearest('points', this.#item('nearest', point, 'points'), k, { maxDistance });
        const end = indices.indexOf(NO_HIT);
        return end < 0 ? { indices, t } : { indices: indices.slice(0, end), t: t.slice(0, end) };
    }

    // ---- inside

    get #type() {
        return this.#world === DOUBLE ? Float64Array : Float32Array;
    }

    #item(call, numbers, kind) {
        const width = KINDS[kind][1 + this.#world];
        if (numbers.length !== width) {
            throw new TypeError(`${call}: this space has ${this.#world === 1 ? 'two' : 'three'} axes`);
        }
        return new this.#type(numbers);
    }

    #first({ indices, t }) {
        return indices[0] === NO_HIT ? null : { index: indices[0], t: t[0] };
    }

    #hitRoom(count) {
        return this.#lib.room('hits', (this.#world === DOUBLE ? 16 : 8) * count);
    }

    // Hits lie side by side as an index and a number.
    #readHits(address, count) {
        const step = this.#world === DOUBLE ? 4 : 2;
        const words = this.#lib.lend(Uint32Array, address, step * count);
        const numbers = this.#lib.lend(this.#type, address, 2 * count);
        const indices = new Uint32Array(count), t = new this.#type(count);
        for (let i = 0; i < count; ++i) {
            indices[i] = words[step * i];
            t[i] = numbers[2 * i + 1];
        }
        return { indices, t };
    }

    // The list as the module takes it.
    #list(call, kind, items, options) {
        this.#own();
        checkKeys(call, options, OPTIONS);
        if (!Object.hasOwn(KINDS, kind)) {
            throw new TypeError(`${call}: one of ${Object.keys(KINDS).join(', ')}, not '${kind}'`);
        }
        if (options.callback !== undefined && typeof options.callback !== 'function') {
            throw new TypeError(`${call}: callback is a function of a query, an index, t and the reach`);
        }
        const lib = this.#lib;
        let count = countOf(call, kind, items, this.#type, KINDS[kind][1 + this.#world]);
        let given = items, planes = 0, origins = 0;
        if (kind === 'orientedBoxes' && this.#world === DOUBLE) {
            given = packOrientedBoxes(items, count);
        }
        if (kind === 'halfSpaces') {
            const regions = options.regions ?? new Uint32Array([0, count]);
            const ascend = regions instanceof Uint32Array && regions.length > 0 && regions[0] === 0
                && regions[regions.length - 1] === count && regions.every((at, i) => i === 0 || at >= regions[i - 1]);
            if (!ascend) {
                throw new TypeError(`${call}: regions is a Uint32Array that begins with 0, ascends and ends with the number of planes, ${count}`);
            }
            count = regions.length - 1;
            planes = lib.give('planes', regions);
            origins = this.#origins(call, options.origins, count);
        } else if (options.regions !== undefined || options.origins !== undefined) {
            throw new TypeError(`${call}: regions and origins are for half-spaces`);
        }
        let filters = { count: 0, bytes: null };
        if (options.filters !== undefined) {
            filters = filterBytes(call, options.filters);
            if (filters.count !== 1 && filters.count !== count) {
                throw new TypeError(`${call}: ${filters.count} filters for ${count} queries; one for all, or one for each`);
            }
        }
        return {
            count, kind: KINDS[kind][0] + KIND_STEP * this.#world, items: lib.give('items', given), filters: lib.give('filters', filters.bytes),
            filterCount: filters.count, asGiven: options.asGiven ? 1 : 0, hasCallback: options.callback === undefined ? 0 : 1, planes, origins,
        };
    }

    #origins(call, origins, count) {
        if (this.#world !== DOUBLE) {
            if (origins !== undefined) {
                throw new TypeError(`${call}: origins are for spaces of doubles`);
            }
            return 0;
        }
        const given = origins ?? new Float64Array(3 * count);
        if (countOf(call, 'origins', given, Float64Array, 3) !== count) {
            throw new TypeError(`${call}: ${given.length / 3} origins and ${count} regions`);
        }
        return this.#lib.give('origins', given);
    }

    // In the order of query_call in src/questions.c.
    #ask(list, question, { offsets = 0, hits = 0, capacity = 0, k = 0, maxDistance = 0 }, frame = {}) {
        const space = this.#own(), lib = this.#lib;
        const place = lib.give('call', new Uint32Array([question, list.kind, list.items, list.count, list.filters, list.filterCount,
            list.asGiven, list.hasCallback, k, offsets, hits, capacity, list.planes, list.origins]));
        const out = lib.outRoom();
        frame.object = space;
        const code = lib.run(frame, () => lib.c.js_query(space, place, maxDistance, out));
        const [hitCount, position] = lib.out(2);
        return { code, hitCount, position };
    }

    #check({ code, position }) {
        if (code !== 0) {
            throw this.#lib.error(code, position);
        }
    }

    #each(call, question, kind, items, k, maxDistance, options) {
        const list = this.#list(call, kind, items, options);
        const hits = this.#hitRoom(k * list.count);
        this.#check(this.#ask(list, question, { hits, k, maxDistance }, { callback: options.callback }));
        return this.#readHits(hits, k * list.count);
    }

    #gather(list, options) {
        const offsets = new Uint32Array(list.count + 1), chunks = [];
        const visitor = (query, hits, count) => {
            chunks.push(this.#readHits(hits, count));
            offsets[query + 1] = offsets[query] + count;
            return true;
        };
        this.#check(this.#ask(list, ASK.visit, {}, { visitor, callback: options.callback }));
        const indices = new Uint32Array(offsets[list.count]), t = new this.#type(offsets[list.count]);
        chunks.forEach((chunk, query) => {
            indices.set(chunk.indices, offsets[query]);
            t.set(chunk.t, offsets[query]);
        });
        return { offsets, indices, t };
    }
}
