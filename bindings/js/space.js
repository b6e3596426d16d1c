// SPDX-License-Identifier: MIT
// Boxes, and which of them touch: cleave/space.h, world.h and save.h.
import { checkCount, checkKeys, countOf, filterBytes } from './memory.js';
import { Questions } from './questions.js';

const ISA = { auto: 0, scalar: 1, sse2: 2 };
const FORM = { memory: 0, disk: 1 };

// Numbers of a def in the order of src/module.c; all are 0 by default but for workers.
const DEF = ['capacity', 'pairCapacity', 'maxPairs', 'margin', 'marginBySize', 'marginBySpeed', 'workers', 'sorted', 'events',
    'skipStaticPairs', 'pairData', 'stageTimes', 'doubles', 'flat'];
const DEF_KEYS = [...DEF, 'isa', 'filter', 'method', 'settings'];
const LOAD_KEYS = ['capacity', 'pairCapacity', 'workers', 'stageTimes', 'isa', 'filter'];
const WHOLE = ['capacity', 'pairCapacity', 'maxPairs', 'workers'];

const STATS = ['objectCount', 'slotCount', 'pairCount', 'candidateCount', 'testCount', 'begunCount', 'endedCount', 'updateCount',
    'memoryBytes', 'memoryPeakBytes', 'allocationCount', 'updateMs', 'searchMs', 'cleanMs', 'outputMs',
    'reasons'];

// By the numbers of src/module.c: the type of an entry and how many of them.
const COLUMNS = {
    userData: [0, BigUint64Array, 1], filter: [1, BigUint64Array, 3], margin: [2, Float32Array, 1], marginRule: [3, Float32Array, 3],
    isStatic: [4, Uint8Array, 1], motion: [5, Float32Array, 3], box: [6], testBox: [7],
};
const LISTS = {
    pairs: [0, Uint32Array, 2], pairData: [1, BigUint64Array, 1], begun: [2, Uint32Array, 4], ended: [3, Uint32Array, 4],
    begunUser: [4, BigUint64Array, 2], endedUser: [5, BigUint64Array, 2], endedData: [6, BigUint64Array, 1],
};

// What boxes are made of, in the order of src/binding.h.
const WORLDS = [{ type: Float32Array, axes: 3 }, { type: Float32Array, axes: 2 }, { type: Float64Array, axes: 3 }];

function defNumbers(call, lib, def, known) {
    checkKeys(call, def, known);
    const isa = def.isa ?? 'auto';
    if (!Object.hasOwn(ISA, isa)) {
        throw new TypeError(`${call}: isa is one of ${Object.keys(ISA).join(', ')}, not '${isa}'`);
    }
    if (def.filter !== undefined && def.filter !== null && typeof def.filter !== 'function') {
        throw new TypeError(`${call}: filter is a function of two indices`);
    }
    const numbers = DEF.map((name) => Number(def[name] ?? (name === 'workers' ? lib.threads : 0)));
    for (const name of WHOLE) {
        const value = numbers[DEF.indexOf(name)];
        const most = name === 'capacity' ? 0x7FFFFFFF : Number.MAX_SAFE_INTEGER;
        if (!Number.isSafeInteger(value) || value < 0 || value > most) {
            throw new TypeError(`${call}: ${name} is a whole number from 0 on, not ${def[name]}`);
        }
    }
    const workers = numbers[DEF.indexOf('workers')];
    if (workers < 1 || workers > lib.threads) {
        throw new TypeError(`${call}: workers is from 1 to ${lib.threads}, the threads that loadCleave was asked for and got, not ${workers}`);
    }
    return [...numbers, ISA[isa]];
}

// `make` gets the numbers and where its answer goes, and returns an address.
function makeSpace(call, lib, def, known, make) {
    const numbers = defNumbers(call, lib, def, known);
    const filter = def.filter ? lib.addFilter(def.filter) : 0;
    let address = 0;
    try {
        const place = lib.give('def', new Float64Array([...numbers, filter]));
        address = make(place, lib.outRoom()) >>> 0;
        if (address === 0) {
            const [code, position] = lib.out(2);
            throw lib.lineError(code, call === 'loadSpace' ? position : -1);
        }
    } finally {
        if (address === 0) {
            lib.removeFilter(filter);
        }
    }
    return new Space(lib, address, lib.c.js_world(address), filter);
}

export function createSpace(lib, def) {
    return makeSpace('createSpace', lib, def, DEF_KEYS, (numbers, out) =>
        lib.c.js_create(lib.giveText('method', def.method), lib.giveText('settings', def.settings), numbers, out));
}

export function loadSpace(lib, bytes, def) {
    const size = countOf('loadSpace', 'bytes', bytes, Uint8Array, 1);
    return makeSpace('loadSpace', lib, def, LOAD_KEYS, (numbers, out) => lib.c.js_load(numbers, lib.give('bytes', bytes), size, out));
}

/** Boxes, and which of them touch. Made by Cleave.createSpace or loadSpace; given back by destroy. */
export class Space extends Questions {
    #lib;
    #space;
    #filter;
    #world;
    #lists = new Map(); // copies of this update's lists, by name

    constructor(lib, space, world, filter) {
        super(lib, world, () => this.#own());
        this.#lib = lib;
        this.#space = space;
        this.#filter = filter;
        this.#world = world;
    }

    // ---- objects in

    /** Add boxes, with what they carry. Their ids: two numbers each, index and generation. */
    add(boxes, options = {}) {
        checkKeys('add', options, ['userData', 'filters', 'margins', 'isStatic', 'motions']);
        const space = this.#changing(), lib = this.#lib;
        const count = this.#boxCount('add', boxes);
        const column = (use, array, name) => {
            if (array === undefined) {
                return 0;
            }
            const [, type, width] = COLUMNS[name];
            checkCount('add', use, array, type, width, count, 'boxes');
            return lib.give(use, array);
        };
        let filters = 0;
        if (options.filters !== undefined) {
            const made = filterBytes('add', options.filters);
            if (made.count !== count) {
                throw new TypeError(`add: ${made.count} filters and ${count} boxes`);
            }
            filters = lib.give('filters', made.bytes);
        }
        const columns = [column('userData', options.userData, 'userData'), filters, column('margins', options.margins, 'margin'),
            column('isStatic', options.isStatic, 'isStatic'), column('motions', options.motions, 'motion')];
        const ids = lib.room('ids', 8 * count);
        this.#check(lib.c.js_add(space, this.#world, lib.give('boxes', boxes), count, ...columns, ids));
        return lib.copy(Uint32Array, ids, 2 * count);
    }

    /** Replace boxes: all of them, or none and an error that says which one is bad. */
    move(ids, boxes) {
        const space = this.#changing(), lib = this.#lib;
        const count = countOf('move', 'ids', ids, Uint32Array, 2);
        if (this.#boxCount('move', boxes) !== count) {
            throw new TypeError(`move: ${count} ids and ${this.#boxCount('move', boxes)} boxes`);
        }
        if (count > 0) {
            this.#check(lib.c.js_move(space, this.#world, lib.give('ids', ids), lib.give('boxes', boxes), count));
        }
    }

    /** Replace the boxes of all objects, in the order of their indices, as `ids` lists them. */
    moveAll(boxes) {
        const space = this.#changing();
        const count = this.#boxCount('moveAll', boxes);
        this.#check(this.#lib.c.js_move(space, this.#world, 0, this.#lib.give('boxes', boxes), count));
    }

    remove(ids) {
        this.#byIds('remove', ids, this.#lib.c.js_remove);
    }

    /** Remove every object and forget every pair, without events. */
    clear() {
        this.#lib.c.js_clear(this.#changing());
        this.#lists.clear();
    }

    /** Make that point the new 0: every box moves by its opposite. */
    shiftOrigin(x, y, z = 0) {
        this.#check(this.#lib.c.js_shift_origin(this.#changing(), x, y, z));
    }

    // ---- what objects carry

    setUserData(ids, values) {
        this.#set('setUserData', 'userData', ids, values);
    }

    setMargin(ids, margins) {
        this.#set('setMargin', 'margin', ids, margins);
    }

    setMarginRule(ids, rules) {
        this.#set('setMarginRule', 'marginRule', ids, rules);
    }

    setMotion(ids, motions) {
        this.#set('setMotion', 'motion', ids, motions);
    }

    /** Three numbers each: category, mask, group. */
    setFilter(ids, filters) {
        const count = countOf('setFilter', 'ids', ids, Uint32Array, 2);
        const made = filterBytes('setFilter', filters);
        if (made.count !== count) {
            throw new TypeError(`setFilter: ${count} ids and ${made.count} filters`);
        }
        this.#setBytes('filter', ids, made.bytes);
    }

    /** A hint: these seldom move. With skipStaticPairs two of them are no pair. */
    setStatic(ids, isStatic = true) {
        const count = countOf('setStatic', 'ids', ids, Uint32Array, 2);
        const flags = typeof isStatic === 'boolean' ? new Uint8Array(count).fill(isStatic ? 1 : 0) : isStatic;
        this.#set('setStatic', 'isStatic', ids, flags);
    }

    /** Have the filter asked again, in the next update, about every pair of these. */
    refilter(ids) {
        this.#byIds('refilter', ids, this.#lib.c.js_refilter);
    }

    getBoxes(ids) {
        return this.#get('getBoxes', 'box', ids);
    }

    /** What the next update would test: grown by margins, swept along motions. */
    getTestBoxes(ids) {
        return this.#get('getTestBoxes', 'testBox', ids);
    }

    getUserData(ids) {
        return this.#get('getUserData', 'userData', ids);
    }

    getMargin(ids) {
        return this.#get('getMargin', 'margin', ids);
    }

    getMarginRule(ids) {
        return this.#get('getMarginRule', 'marginRule', ids);
    }

    getMotion(ids) {
        return this.#get('getMotion', 'motion', ids);
    }

    /** Three bigints each: category, mask, group. */
    getFilter(ids) {
        const filters = this.#get('getFilter', 'filter', ids);
        for (let i = 2; i < filters.length; i += 3) {
            filters[i] = BigInt.asUintN(32, filters[i]); // four bytes of no meaning lie behind a group
        }
        return filters;
    }

    getStatic(ids) {
        return this.#get('getStatic', 'isStatic', ids);
    }

    /** 1 for each id whose object is in this space now. */
    contains(ids) {
        const space = this.#own(), lib = this.#lib;
        const count = countOf('contains', 'ids', ids, Uint32Array, 2);
        const answers = lib.room('values', count);
        lib.c.js_contains(space, lib.give('ids', ids), count, answers);
        return lib.copy(Uint8Array, answers, count);
    }

    /** The ids of objects by their indices, as pairs and hits name them; 0 and 0 where there is none. */
    idsAt(indices) {
        const space = this.#own(), lib = this.#lib;
        const count = countOf('idsAt', 'indices', indices, Uint32Array, 1);
        const ids = lib.room('ids', 8 * count);
        lib.c.js_ids_at(space, lib.give('values', indices), count, ids);
        return lib.copy(Uint32Array, ids, 2 * count);
    }

    /** The ids of all objects, in the order of their indices. */
    get ids() {
        const lib = this.#lib, count = this.count;
        const ids = lib.room('ids', 8 * count);
        lib.c.js_ids(this.#space, ids);
        return lib.copy(Uint32Array, ids, 2 * count);
    }

    /** Objects that are alive. */
    get count() {
        return this.#lib.c.js_object_count(this.#own());
    }

    // ---- pairs out

    /** Find every pair of touching boxes. Returns how many there are. */
    update() {
        this.#search((space) => this.#lib.c.js_update(space), {});
        return this.#list('pairs')[1];
    }

    /**
     * The same without a list: the visitor gets pairs in chunks, and returns false to stop.
     * True if it came to the end.
     */
    visit(visitor) {
        if (typeof visitor !== 'function') {
            throw new TypeError('visit: the visitor is a function of an array of pairs');
        }
        let stopped = false;
        this.#search((space) => this.#lib.c.js_visit(space), { visitor: (pairs) => !(stopped = visitor(pairs) === false) }, () => stopped);
        return !stopped;
    }

    /**
     * Two indices each, the smaller first. Yours; copied once after each update. null where there is no list.
     */
    get pairs() {
        return this.#copied('pairs');
    }

    /**
     * The two ids of each pair, as they were in the update; 0 and 0 in place of an object that was removed
     * since.
     */
    get pairIds() {
        const count = this.#list('pairs')[1];
        if (count < 0) {
            return null;
        }
        const ids = this.#lib.room('ids', 16 * count);
        this.#check(this.#lib.c.js_pair_ids(this.#own(), ids));
        return this.#lib.copy(Uint32Array, ids, 4 * count);
    }

    /** Pairs that the last update began with: four numbers each, the two ids. */
    get begun() {
        return this.#copied('begun');
    }

    get ended() {
        return this.#copied('ended');
    }

    get begunUser() {
        return this.#copied('begunUser');
    }

    get endedUser() {
        return this.#copied('endedUser');
    }

    get endedData() {
        return this.#copied('endedData');
    }

    /** The space's own memory in place of a copy: see index.d.ts for how long it lives. */
    lend(name) {
        if (!Object.hasOwn(LISTS, name)) {
            throw new TypeError(`lend: one of ${Object.keys(LISTS).join(', ')}, not '${name}'`);
        }
        const [address, count] = this.#list(name);
        const [, type, width] = LISTS[name];
        return count < 0 ? null : this.#lib.lend(type, address, width * count);
    }

    // ---- about the space

    /** The space as bytes, for Cleave.loadSpace. */
    save(form = 'disk') {
        if (!Object.hasOwn(FORM, form)) {
            throw new TypeError(`save: 'disk' or 'memory', not '${form}'`);
        }
        const space = this.#own(), lib = this.#lib;
        const size = lib.c.js_save_size(space, FORM[form]) >>> 0;
        const bytes = lib.room('bytes', size);
        const result = lib.c.js_save(space, FORM[form], bytes, size);
        if (result !== 0) {
            throw lib.error(result);
        }
        return lib.copy(Uint8Array, bytes, size);
    }

    get stats() {
        const place = this.#lib.outRoom();
        this.#lib.c.js_stats(this.#own(), place);
        const values = this.#lib.out(STATS.length);
        return Object.fromEntries(STATS.map((name, i) => [name, values[i]]));
    }

    get method() {
        return this.#lib.text(this.#lib.c.js_method(this.#own()));
    }

    /** The instruction set in use: "sse2" stands for SIMD128. */
    get isa() {
        return this.#lib.text(this.#lib.c.js_isa(this.#own()));
    }

    /** Threads that may share a call. */
    get workers() {
        return this.#lib.c.js_worker_count(this.#own());
    }

    get flat() {
        return WORLDS[this.#world].axes === 2;
    }

    get doubles() {
        return WORLDS[this.#world].type === Float64Array;
    }

    /** Give back memory beyond what the objects and the last list need. */
    shrink() {
        this.#check(this.#lib.c.js_shrink(this.#changing()));
        this.#lib.shrink();
    }

    destroy() {
        if (this.#space !== 0) {
            this.#lib.c.js_destroy(this.#changing());
            this.#lib.removeFilter(this.#filter);
            this.#lists.clear();
            this.#space = 0;
        }
    }

    // ---- inside

    #own() {
        if (this.#space === 0) {
            throw new Error('this space was destroyed');
        }
        return this.#space;
    }

    #changing() {
        return this.#lib.changing(this.#own());
    }

    #boxCount(call, boxes) {
        const { type, axes } = WORLDS[this.#world];
        return countOf(call, 'boxes', boxes, type, 2 * axes);
    }

    #byIds(call, ids, ask) {
        const space = this.#changing();
        const count = countOf(call, 'ids', ids, Uint32Array, 2);
        this.#check(ask(space, this.#lib.give('ids', ids), count));
    }

    #set(call, name, ids, values) {
        const count = countOf(call, 'ids', ids, Uint32Array, 2);
        const [, type, width] = COLUMNS[name];
        checkCount(call, 'values', values, type, width, count, 'ids');
        this.#setBytes(name, ids, values);
    }

    #setBytes(name, ids, values) {
        const space = this.#changing(), lib = this.#lib;
        this.#check(lib.c.js_set(space, COLUMNS[name][0], lib.give('ids', ids), lib.give('values', values), ids.length / 2));
    }

    #get(call, name, ids) {
        const space = this.#own(), lib = this.#lib;
        const count = countOf(call, 'ids', ids, Uint32Array, 2);
        const world = WORLDS[this.#world];
        const [column, type = world.type, width = 2 * world.axes] = COLUMNS[name];
        const values = lib.room('values', type.BYTES_PER_ELEMENT * width * count);
        const result = lib.c.js_get(space, this.#world, column, lib.give('ids', ids), values, count);
        if (result !== 0) {
            throw lib.error(result, lib.c.js_read_position());
        }
        return lib.copy(type, values, width * count);
    }

    #list(name) {
        const place = this.#lib.outRoom();
        this.#lib.c.js_list(this.#own(), LISTS[name][0], place);
        return this.#lib.out(2);
    }

    #copied(name) {
        const lent = this.lend(name);
        if (lent !== null && !this.#lists.has(name)) {
            this.#lists.set(name, lent.slice());
        }
        return lent === null ? null : this.#lists.get(name);
    }

    // An update or a visit: what its filter or visitor throws is thrown, and pairs that the filter had not
    // decided then are put to it again in the next one.
    #search(call, frame, mayFail = () => false) {
        const space = this.#changing();
        this.#lists.clear();
        frame.object = space;
        frame.undecided = new Set();
        let result;
        try {
            result = this.#lib.run(frame, () => call(space));
        } finally {
            if (frame.undecided.size > 0) {
                const ids = this.idsAt(Uint32Array.from(frame.undecided));
                this.#lib.c.js_refilter(space, this.#lib.give('ids', ids), frame.undecided.size);
            }
        }
        if (!mayFail()) {
            this.#check(result);
        }
    }

    #check(result) {
        if (result !== 0) {
            throw this.#lib.detailedError(this.#lib.c.js_error, this.#space);
        }
    }
}
