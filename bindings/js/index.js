// SPDX-License-Identifier: MIT
// Cleave in JavaScript: boxes in as Float32Array, pairs out as Uint32Array, the library itself as WebAssembly. The same
// calls give the same pairs in the same order as the C library does.

const FLAG = { sorted: 1, events: 2, skipStaticPairs: 4 };
const ISA = { auto: 0, scalar: 1, sse2: 2 };
const STATS = ['objectCount', 'slotCount', 'pairCount', 'candidateCount', 'testCount', 'updateCount', 'memoryBytes',
    'updateMs', 'searchMs', 'outputMs'];

/** What a call of the library refused, and why. `code` is a name of cleave/types.h, such as "CLV_BAD_BOX". */
export class CleaveError extends Error {
    constructor(code, text, position = -1) {
        super(text ? `${code}: ${text}` : code);
        this.name = 'CleaveError';
        this.code = code;
        this.position = position;
    }
}

/**
 * Make the library ready. `source` is a compiled WebAssembly.Module, its bytes, or a URL; by default cleave.wasm beside
 * this file.
 */
export async function loadCleave(source) {
    const module = await compile(source ?? new URL('cleave.wasm', import.meta.url));
    let memory;
    const clock = (id, precision, out) => {
        new DataView(memory.buffer).setBigUint64(out, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
    };
    const nothing = (count, bytes) => {
        new DataView(memory.buffer).setUint32(count, 0, true);
        new DataView(memory.buffer).setUint32(bytes, 0, true);
        return 0;
    };
    const instance = await WebAssembly.instantiate(module, {
        env: { emscripten_notify_memory_growth: () => {} },
        wasi_snapshot_preview1: { clock_time_get: clock, environ_sizes_get: nothing, environ_get: () => 0 },
    });
    memory = instance.exports.memory;
    instance.exports._initialize();
    return new Cleave(instance.exports);
}

async function compile(source) {
    if (source instanceof WebAssembly.Module) {
        return source;
    }
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
        return WebAssembly.compile(source);
    }
    const url = new URL(source, import.meta.url);
    if (url.protocol === 'file:' && typeof process !== 'undefined') {
        const { readFile } = await import('node:fs/promises');
        return WebAssembly.compile(await readFile(url));
    }
    const answer = await fetch(url);
    if (!answer.ok) {
        throw new Error(`cannot load ${url}: ${answer.status} ${answer.statusText}`);
    }
    return WebAssembly.compile(await answer.arrayBuffer());
}

class Cleave {
    #c;

    constructor(exports) {
        this.#c = exports;
        const result = exports.js_start();
        if (result !== 0) {
            throw new CleaveError(this.#text(exports.js_result_name(result)), 'the methods could not be registered');
        }
        this.version = this.#text(exports.js_version());
        const methods = [];
        for (let i = 0; i < exports.js_method_count(); ++i) {
            methods.push(Object.freeze({ name: this.#text(exports.js_method_name(i)), family: this.#text(exports.js_method_family(i)) }));
        }
        this.methods = Object.freeze(methods);
    }

    /** A space of its own: see SpaceDef in index.d.ts. */
    createSpace(def = {}) {
        for (const key of Object.keys(def)) {
            if (!['method', 'settings', 'margin', 'maxPairs', 'isa', 'sorted', 'events', 'skipStaticPairs'].includes(key)) {
                throw new TypeError(`createSpace: there is no setting '${key}'`);
            }
        }
        if (def.isa !== undefined && !(def.isa in ISA)) {
            throw new TypeError(`createSpace: isa is one of ${Object.keys(ISA).join(', ')}, not '${def.isa}'`);
        }
        const maxPairs = def.maxPairs ?? 0;
        if (!Number.isSafeInteger(maxPairs) || maxPairs < 0) {
            throw new TypeError(`createSpace: maxPairs is a whole number from 0 on, not ${maxPairs}`);
        }
        let flags = 0;
        for (const [name, bit] of Object.entries(FLAG)) {
            flags |= def[name] ? bit : 0;
        }
        const c = this.#c;
        const words = [this.#string(def.method), this.#string(def.settings)];
        const result = c.malloc(4);
        const space = c.js_create(words[0], words[1], def.margin ?? 0, flags, maxPairs, ISA[def.isa ?? 'auto'], result);
        const code = new Int32Array(c.memory.buffer, result, 1)[0];
        words.forEach((address) => c.free(address));
        c.free(result);
        if (code !== 0) {
            throw new CleaveError(this.#text(c.js_result_name(code)), this.#text(c.js_create_error()));
        }
        return new Space(c, space, (address) => this.#text(address));
    }

    #text(address) {
        if (address === 0) {
            return '';
        }
        const bytes = new Uint8Array(this.#c.memory.buffer, address);
        return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    }

    #string(text) {
        if (text === undefined || text === null) {
            return 0;
        }
        const bytes = new TextEncoder().encode(`${text}\0`);
        const address = this.#c.malloc(bytes.length);
        new Uint8Array(this.#c.memory.buffer, address, bytes.length).set(bytes);
        return address;
    }
}

/** Boxes, and which of them touch. Made by Cleave.createSpace; given back by destroy. */
class Space {
    #c;
    #space;
    #text;
    #rooms = new Map(); // where arguments are copied to: kept and grown, one for each

    constructor(exports, space, text) {
        this.#c = exports;
        this.#space = space;
        this.#text = text;
    }

    /** Add boxes, six floats each (lower x y z, upper x y z). Their ids: two numbers each, index and generation. */
    add(boxes) {
        const count = this.#countOf('add', boxes, Float32Array, 6, 'boxes');
        const place = this.#give(0, boxes);
        const ids = this.#room(1, 8 * count);
        this.#check(this.#c.js_add(this.#own(), place, count, ids));
        return new Uint32Array(this.#c.memory.buffer, ids, 2 * count).slice();
    }

    /** Replace boxes: all of them, or none and an error that says which one is bad. */
    move(ids, boxes) {
        const count = this.#countOf('move', ids, Uint32Array, 2, 'ids');
        if (this.#countOf('move', boxes, Float32Array, 6, 'boxes') !== count) {
            throw new TypeError(`move: ${count} ids and ${boxes.length / 6} boxes`);
        }
        const place = this.#give(0, boxes);
        this.#check(this.#c.js_move(this.#own(), this.#give(1, ids), place, count));
    }

    remove(ids) {
        const count = this.#countOf('remove', ids, Uint32Array, 2, 'ids');
        this.#check(this.#c.js_remove(this.#own(), this.#give(1, ids), count));
    }

    clear() {
        this.#c.js_clear(this.#own());
    }

    /** A hint: these seldom move. With skipStaticPairs two of them are no pair. */
    setStatic(ids, isStatic = true) {
        const count = this.#countOf('setStatic', ids, Uint32Array, 2, 'ids');
        const flags = this.#give(0, new Uint8Array(count).fill(isStatic ? 1 : 0));
        this.#check(this.#c.js_set_static(this.#own(), this.#give(1, ids), flags, count));
    }

    /** Three words each: category, mask, group. */
    setFilter(ids, filters) {
        const count = this.#countOf('setFilter', ids, Uint32Array, 2, 'ids');
        if (this.#countOf('setFilter', filters, Uint32Array, 3, 'filters') !== count) {
            throw new TypeError(`setFilter: ${count} ids and ${filters.length / 3} filters`);
        }
        const words = this.#give(0, filters);
        this.#check(this.#c.js_set_filter(this.#own(), this.#give(1, ids), words, count));
    }

    /** Find every pair of touching boxes. Returns how many there are. */
    update() {
        this.#check(this.#c.js_update(this.#own()));
        return this.#c.js_pair_count(this.#space);
    }

    /**
     * The pairs of the last update, two indices each, the smaller first: a view into the library's memory that dies with
     * the next call of this or any other space. Copy it (slice) to keep it. null where there is no list.
     */
    get pairs() {
        const count = this.#c.js_pair_count(this.#own());
        return count < 0 ? null : new Uint32Array(this.#c.memory.buffer, this.#c.js_pairs(this.#space), 2 * count);
    }

    /** Pairs that the last update began with: four numbers each, the two ids. A view, as `pairs`. */
    get begun() {
        return this.#events(0);
    }

    get ended() {
        return this.#events(1);
    }

    get stats() {
        const place = this.#room(2, 8 * STATS.length);
        this.#c.js_stats(this.#own(), place);
        const values = new Float64Array(this.#c.memory.buffer, place, STATS.length);
        return Object.fromEntries(STATS.map((name, i) => [name, values[i]]));
    }

    /** The instruction set in use: "sse2" stands for SIMD128. */
    get isa() {
        return this.#text(this.#c.js_isa(this.#own()));
    }

    destroy() {
        if (this.#space !== 0) {
            this.#c.js_destroy(this.#space);
            this.#rooms.forEach((room) => this.#c.free(room.address));
            this.#rooms.clear();
            this.#space = 0;
        }
    }

    #own() {
        if (this.#space === 0) {
            throw new Error('this space was destroyed');
        }
        return this.#space;
    }

    #events(ended) {
        const count = this.#c.js_event_count(this.#own(), ended);
        return new Uint32Array(this.#c.memory.buffer, this.#c.js_events(this.#space, ended), 4 * count);
    }

    #countOf(call, array, type, width, noun) {
        if (!(array instanceof type) || array.length % width !== 0) {
            throw new TypeError(`${call}: ${noun} is a ${type.name} of ${width} numbers each`);
        }
        return array.length / width;
    }

    #room(which, bytes) {
        let room = this.#rooms.get(which);
        if (room === undefined || room.size < bytes) {
            const size = Math.max(bytes, 2 * (room?.size ?? 0), 64);
            const address = this.#c.malloc(size);
            if (address === 0) {
                throw new CleaveError('CLV_OUT_OF_MEMORY', `no ${size} bytes to copy arguments to`);
            }
            this.#c.free(room?.address ?? 0);
            room = { address, size };
            this.#rooms.set(which, room);
        }
        return room.address;
    }

    #give(which, array) {
        const address = this.#room(which, array.byteLength);
        new Uint8Array(this.#c.memory.buffer, address, array.byteLength)
            .set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
        return address;
    }

    #check(result) {
        if (result !== 0) {
            throw new CleaveError(this.#text(this.#c.js_result_name(result)), this.#text(this.#c.js_error_text(this.#space)),
                this.#c.js_error_position(this.#space));
        }
    }
}
