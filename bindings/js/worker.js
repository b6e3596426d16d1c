// SPDX-License-Identifier: MIT
// A thread of threads.js, as a Web Worker or a worker of node: another instance of the module on the same
// memory, with a stack of its own, which does pieces of work until it is ended.
import { Library } from './memory.js';

function begin({ module, memory, worker, stackTop, tls }, post) {
    try {
        const { exports } = new WebAssembly.Instance(module, new Library().imports(memory));
        exports.stackRestore(stackTop);
        exports.__wasm_init_tls?.(tls);
        post({ ready: true });
        exports.js_work(worker);
    } catch (error) {
        post({ error: String(error) });
    }
}

if (typeof WorkerGlobalScope === 'undefined') {
    const { parentPort } = await import('node:worker_threads');
    parentPort.once('message', (data) => begin(data, (answer) => parentPort.postMessage(answer)));
} else {
    self.onmessage = ({ data }) => begin(data, (answer) => self.postMessage(answer));
}
