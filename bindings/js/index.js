// SPDX-License-Identifier: MIT
// Cleave in JavaScript: boxes in as Float32Array, pairs out as Uint32Array, the library itself as
// WebAssembly. The same calls give the same pairs in the same order as the C library does.
import { CleaveError, checkKeys, Library } from './memory.js';
import { Near, match } from './points.js';
import { NO_HIT } from './questions.js';
import { createSpace, loadSpace } from './space.js';
import { startThreads, threadCount, whyNoThreads } from './threads.js';

export { CleaveError, NO_HIT };

/**
 * Make the library ready. `threads` above 1 takes the module with threads where the page may have
 * them, and otherwise the one without: `cleave.threads` says how many there are,
 * `cleave.whyNoThreads` why there are none.
 */
export async function loadCleave(options = {}) {
    const isOptions = Object.getPrototypeOf(options ?? {}) === Object.prototype;
    const { source, threadsSource, threads = 1 } = isOptions ? options ?? {} : { source: options };
    if (isOptions) {
        checkKeys('loadCleave', options ?? {}, ['source', 'threadsSource', 'threads']);
    }
    const wanted = await threadCount(threads);
    let reason = wanted > 1 ? whyNoThreads() : 'loadCleave was not asked for threads';
    if (reason === '') {
        try {
            return new Cleave(await startThreads(await compile(threadsSource ?? new URL('cleave-threads.wasm', import.meta.url)), wanted), '');
        } catch (error) {
            reason = `threads could not be started: ${error.message}`;
        }
    }
    const module = await compile(source ?? new URL('cleave.wasm', import.meta.url));
    const lib = new Library();
    const instance = await WebAssembly.instantiate(module, lib.imports());
    lib.start(instance.exports);
    instance.exports._initialize();
    return new Cleave(lib, reason);
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
    #lib;

    constructor(lib, reason) {
        this.#lib = lib;
        const c = lib.c;
        const result = c.js_start();
        if (result !== 0) {
            throw new CleaveError(lib.name(result), 'the methods could not be registered');
        }
        this.version = lib.text(c.js_version());
        this.whyNoThreads = reason;
        const methods = [];
        for (let i = 0; i < c.js_method_count(); ++i) {
            methods.push(Object.freeze({ name: lib.text(c.js_method_name(i)), family: lib.text(c.js_method_family(i)) }));
        }
        this.methods = Object.freeze(methods);
    }

    /** Threads that spaces may use, the caller's included. */
    get threads() {
        return this.#lib.threads;
    }

    /** A space of its own: see SpaceDef in index.d.ts. */
    createSpace(def = {}) {
        return createSpace(this.#lib, def);
    }

    /** A space from the bytes of Space.save. */
    loadSpace(bytes, def = {}) {
        return loadSpace(this.#lib, bytes, def);
    }

    /** Every two boxes that touch, in one call: two positions each. */
    pairs(boxes, def = {}) {
        const space = this.createSpace({ doubles: boxes instanceof Float64Array, ...def });
        try {
            space.add(boxes);
            space.update();
            return space.pairs;
        } finally {
            space.destroy();
        }
    }

    /** Points within a cutoff: see NearDef in index.d.ts. */
    createNear(def) {
        return new Near(this.#lib, def);
    }

    /** Regions of one to eight axes that overlap: two positions each. */
    match(axes, regions, others) {
        return match(this.#lib, axes, regions, others);
    }

    /** End the threads. Spaces that were made with several workers may not be used any more. */
    close() {
        this.#lib.close?.();
    }
}
