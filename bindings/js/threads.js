// SPDX-License-Identifier: MIT
// Threads where the page may have them: Web Workers, or workers of node, on one shared memory.
import { Library } from './memory.js';

const STACK_BYTES = 1 << 20;
const TLS_BYTES = 1024;
const PAGES = 256, MOST_PAGES = 32768; // of 64 KiB; as -sINITIAL_MEMORY and -sMAXIMUM_MEMORY in scripts/wasm.sh say
const MOST_THREADS = 64;

const isNode = typeof process !== 'undefined' && process.versions?.node !== undefined;

/** Why there can be no threads here; '' if there can. */
export function whyNoThreads() {
    if (typeof SharedArrayBuffer === 'undefined') {
        return 'there is no SharedArrayBuffer here; a page gets it with the headers Cross-Origin-Opener-Policy: same-origin and '
            + 'Cross-Origin-Embedder-Policy: require-corp';
    }
    if (!isNode && globalThis.crossOriginIsolated !== true) {
        return 'the page is not cross-origin isolated; the headers Cross-Origin-Opener-Policy: same-origin and '
            + 'Cross-Origin-Embedder-Policy: require-corp make it so';
    }
    return '';
}

/** How many threads are asked for: a number, or 'auto' for what the machine has. */
export async function threadCount(threads) {
    if (threads === 'auto') {
        const cores = globalThis.navigator?.hardwareConcurrency ?? (isNode ? (await import('node:os')).cpus().length : 1);
        return Math.min(cores, MOST_THREADS);
    }
    if (!Number.isInteger(threads) || threads < 1 || threads > MOST_THREADS) {
        throw new TypeError(`loadCleave: threads is 'auto' or a whole number from 1 to ${MOST_THREADS}, not ${threads}`);
    }
    return threads;
}

/** The library with that many threads, the caller's included. `close` ends the others. */
export async function startThreads(module, threads) {
    const memory = new WebAssembly.Memory({ initial: PAGES, maximum: MOST_PAGES, shared: true });
    const lib = new Library();
    const instance = await WebAssembly.instantiate(module, lib.imports(memory));
    lib.start(instance.exports);
    instance.exports._initialize();
    const workers = [];
    lib.close = () => {
        workers.splice(0).forEach((worker) => worker.terminate());
        lib.threads = 1;
    };
    try {
        for (let i = 1; i < threads; ++i) {
            const address = lib.c.malloc(STACK_BYTES + TLS_BYTES) >>> 0;
            if (address === 0) {
                throw new Error('no memory for the stacks of threads');
            }
            const stackTop = (address + STACK_BYTES) & ~15;
            workers.push(await startWorker({ module, memory, worker: i, stackTop, tls: stackTop + 16 }));
        }
    } catch (error) {
        lib.close();
        throw error;
    }
    lib.threads = threads;
    return lib;
}

async function startWorker(data) {
    const script = new URL('worker.js', import.meta.url);
    const Worker = isNode ? (await import('node:worker_threads')).Worker : globalThis.Worker;
    const worker = new Worker(script, { type: 'module', execArgv: [] }); // node's own options may not suit a file
    await new Promise((resolve, reject) => {
        const answer = (message) => (message.ready ? resolve() : reject(new Error(message.error)));
        const fail = (error) => reject(new Error(error?.message ?? `cannot start ${script}`));
        if (isNode) {
            worker.once('message', answer);
            worker.once('error', fail);
        } else {
            worker.onmessage = (event) => answer(event.data);
            worker.onerror = fail;
        }
        worker.postMessage(data);
    });
    worker.unref?.(); // a program of node ends although its threads wait for work
    return worker;
}
