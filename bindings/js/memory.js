// SPDX-License-Identifier: MIT
// The module and its memory: arguments are copied in, answers copied out. Memory grows and then has another
// buffer, so nothing here keeps a view of it across a call.

/** What a call of the library refused, and why. `code` is a name of cleave/types.h, such as "CLV_BAD_BOX". */
export class CleaveError extends Error {
    constructor(code, text, { position = -1, id = null, pairCount = 0 } = {}) {
        const where = position >= 0 && !text.includes(`${position} of the batch`) ? `, at ${position}` : '';
        super(text ? `${code}: ${text}${where}` : code);
        this.name = 'CleaveError';
        this.code = code;
        this.position = position;
        this.id = id;
        this.pairCount = pairCount;
    }
}

const OUT_DOUBLES = 16;
const BUSY = 11;

/** One instance of the module on the calling thread. */
export class Library {
    c; // what the module exports
    threads = 1;
    #memory;
    #rooms = new Map(); // where arguments go: kept and grown, one for each use
    #frames = []; // calls in progress that may call back, the innermost last
    #filters = new Map(); // by number: callbacks of spaces
    #lastFilter = 0;
    #decoder = new TextDecoder();

    /** What the module asks of its host. */
    imports(memory) {
        this.#memory = memory;
        const write = (address, method, value) => new DataView(this.#memory.buffer)[method](address, value, true);
        const nothing = (count, bytes) => {
            write(count, 'setUint32', 0);
            write(bytes, 'setUint32', 0);
            return 0;
        };
        const clock = (id, precision, out) => {
            write(out, 'setBigUint64', BigInt(Math.round(performance.now() * 1e6)));
            return 0;
        };
        return {
            env: { emscripten_notify_memory_growth: () => {}, ...(memory ? { memory } : {}) },
            wasi_snapshot_preview1: { clock_time_get: clock, environ_sizes_get: nothing, environ_get: () => 0 },
            cleave: {
                filter_pair: (filter, a, b) => this.#filterPair(this.#filters.get(filter), a, b),
                visit_pairs: (pairs, count) => this.#back((frame) => frame.visitor(this.copy(Uint32Array, pairs, 2 * count)) !== false),
                visit_hits: (query, hits, count) => this.#back((frame) => frame.visitor(query >>> 0, hits, count) !== false),
                visit_near: (view) => this.#back((frame) => frame.visitor(this.copy(Float64Array, view, 7)) !== false),
                ask_hit: (query, index, t, reach) => this.#back((frame) => this.#askHit(frame, query >>> 0, index >>> 0, t, reach)),
            },
        };
    }

    /** Ready to be called. */
    start(exports) {
        this.c = exports;
        this.#memory ??= exports.memory;
    }

    // ---- arguments in, answers out

    /** That many bytes of the module's, for one use at a time; calls out of callbacks have others. */
    room(use, bytes) {
        const key = `${this.#frames.length} ${use}`;
        let room = this.#rooms.get(key);
        if (room === undefined || room.size < bytes) {
            const size = Math.max(bytes, 2 * (room?.size ?? 0), 64);
            const address = size < 2 ** 32 ? this.c.malloc(size) >>> 0 : 0;
            if (address === 0) {
                throw new CleaveError('CLV_OUT_OF_MEMORY', `no ${size} bytes to copy arguments to`);
            }
            this.c.free(room?.address ?? 0);
            room = { address, size };
            this.#rooms.set(key, room);
        }
        return room.address;
    }

    /** Give the rooms back that no call uses. */
    shrink() {
        if (this.#frames.length === 0) {
            this.#rooms.forEach((room) => this.c.free(room.address));
            this.#rooms.clear();
        }
    }

    /** Copy a typed array in; 0 for none. */
    give(use, array) {
        if (array === undefined || array === null) {
            return 0;
        }
        const address = this.room(use, array.byteLength);
        this.lend(Uint8Array, address, array.byteLength).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
        return address;
    }

    /** Room for numbers that come back; see `out`. */
    outRoom() {
        return this.room('out', 8 * OUT_DOUBLES);
    }

    out(count = OUT_DOUBLES) {
        return this.copy(Float64Array, this.outRoom(), count);
    }

    /** A view, which the next call may outdate. */
    lend(type, address, length) {
        return new type(this.#memory.buffer, length === 0 ? 0 : address >>> 0, length);
    }

    copy(type, address, length) {
        return this.lend(type, address, length).slice();
    }

    text(address) {
        if (address === 0) {
            return '';
        }
        const bytes = new Uint8Array(this.#memory.buffer, address >>> 0);
        return this.#decoder.decode(bytes.slice(0, bytes.indexOf(0)));
    }

    giveText(use, text) {
        return text === undefined || text === null ? 0 : this.give(use, new TextEncoder().encode(`${text}\0`));
    }

    // ---- errors

    name(result) {
        return this.text(this.c.js_result_name(result));
    }

    /** Of a result without details. */
    error(result, position = -1) {
        return new CleaveError(this.name(result), this.text(this.c.js_result_text(result)), { position });
    }

    /** Of a call without an object to ask: its sentence is the last that was logged. */
    lineError(result, position = -1) {
        const line = this.text(this.c.js_line());
        return line === '' ? this.error(result, position) : new CleaveError(this.name(result), line, { position });
    }

    /** Of a call on an object that keeps its last error; `ask` is js_error or its like. */
    detailedError(ask, object) {
        const text = this.text(ask(object, this.outRoom()));
        const [code, position, index, generation, pairCount] = this.out(5);
        return new CleaveError(this.name(code), text, { position, id: generation === 0 ? null : { index, generation }, pairCount });
    }

    // ---- callbacks

    /**
     * Make a call on frame.object that may call back. What a callback throws stops the call where it
     * may be stopped, and is thrown from here: an exception that passed through the module would
     * leave a space busy for ever.
     */
    run(frame, call) {
        this.#frames.push(frame);
        let result;
        try {
            result = call();
        } finally {
            this.#frames.pop();
        }
        if (frame.failed) {
            throw frame.error;
        }
        return result;
    }

    /** The object if no callback of it is running; nothing may change it meanwhile. */
    changing(object) {
        if (this.#frames.some((frame) => frame.object === object)) {
            throw this.error(BUSY);
        }
        return object;
    }

    #back(ask) {
        const frame = this.#frames[this.#frames.length - 1];
        return this.#guard(frame, () => ask(frame));
    }

    #guard(frame, ask) {
        if (frame.failed) {
            return 0;
        }
        try {
            return ask() ? 1 : 0;
        } catch (error) {
            frame.failed = true;
            frame.error = error;
            return 0;
        }
    }

    addFilter(filter) {
        this.#lastFilter += 1;
        this.#filters.set(this.#lastFilter, filter);
        return this.#lastFilter;
    }

    removeFilter(number) {
        this.#filters.delete(number);
    }

    // A pair that is not decided, since the filter threw, is left out and asked about
    // again in the next update.
    #filterPair(filter, a, b) {
        const frame = this.#frames[this.#frames.length - 1];
        const counts = this.#guard(frame, () => {
            const answer = filter(a >>> 0, b >>> 0);
            if (typeof answer !== 'boolean') {
                throw new TypeError(`a filter returns true or false, not ${answer}`);
            }
            return answer;
        });
        if (frame.failed) {
            frame.undecided?.add(a >>> 0);
        }
        return counts;
    }

    #askHit(frame, query, index, t, reachAddress) {
        const answer = frame.callback(query, index, t, this.lend(Float64Array, reachAddress, 1)[0]);
        const isPlain = typeof answer === 'boolean';
        if (!isPlain && typeof answer?.reach !== 'number') {
            throw new TypeError(`a callback returns true, false or { counts, reach }, not ${answer}`);
        }
        if (!isPlain) {
            this.lend(Float64Array, reachAddress, 1)[0] = answer.reach;
        }
        return isPlain ? answer : answer.counts !== false;
    }
}

// ---- checks of arguments

/** How many entries of `width` numbers there are. A TypeError for another type or length. */
export function countOf(call, noun, array, type, width) {
    if (!(array instanceof type) || array.length % width !== 0) {
        const what = array instanceof type ? `${array.length} numbers` : array?.constructor?.name ?? String(array);
        throw new TypeError(`${call}: ${noun} is a ${type.name}${width > 1 ? ` of ${width} numbers each` : ''}, not ${what}`);
    }
    return array.length / width;
}

/** The same for arrays that go with others. */
export function checkCount(call, noun, array, type, width, count, others) {
    const found = countOf(call, noun, array, type, width);
    if (found !== count) {
        throw new TypeError(`${call}: ${found} ${noun} and ${count} ${others}`);
    }
}

/** An options object without keys that are not known: a misspelt one is an error. */
export function checkKeys(call, options, known) {
    for (const key of Object.keys(options)) {
        if (!known.includes(key)) {
            throw new TypeError(`${call}: there is no option '${key}'; there are ${known.join(', ')}`);
        }
    }
}

/** Filters as the module takes them, 24 bytes each, of category, mask and group. */
export function filterBytes(call, filters) {
    const isWide = filters instanceof BigUint64Array;
    const count = countOf(call, 'filters', filters, isWide ? BigUint64Array : Uint32Array, 3);
    if (isWide) {
        return { count, bytes: filters };
    }
    const words = new Uint32Array(6 * count);
    for (let i = 0; i < 3 * count; ++i) {
        words[2 * i] = filters[i];
    }
    return { count, bytes: words };
}
