// SPDX-License-Identifier: MIT
// The frames of a scene that was packed into the page: asked for by number, unpacked block by block,
// the last few blocks kept.
import workerText from 'worker:./unpack_worker.js';
import { blockFrames, prepareScene } from './codec.js';
import { unpackBlock } from './unpack_worker.js';

const KEPT_BYTES = 384 << 20;

export class Recording {
    constructor(scene, texts) {
        this.scene = prepareScene(scene);
        this.objects = scene.objects;
        this.count = scene.count;
        this.first = scene.first;
        this.facts = scene.frames;
        for (let i = 1; i < this.facts.length; ++i) this.facts[i].cells ??= this.facts[i - 1].cells;
        this.scene.grids = this.facts.map(({ cells }) => cells);
        this.texts = texts;
        this.blocks = new Map(); // number to frames, the one used last at the end; null while it is unpacked
        this.onchange = () => {};
        this.onerror = () => {};
        this.keep = Math.max(2, Math.floor(KEPT_BYTES / (scene.block * scene.objects * (scene.poses ? 64 : 48) + 1)));
        this.#start();
    }

    #start() {
        try {
            this.worker = new Worker(URL.createObjectURL(new Blob([workerText], { type: 'text/javascript' })));
            this.worker.postMessage({ scene: { ...this.scene, frames: null } });
            this.worker.onmessage = ({ data }) => this.#take(data);
            this.worker.onerror = () => this.#fallBack();
        } catch {
            this.worker = null; // some browsers give files no workers: then it is done here
        }
    }

    #fallBack() {
        this.worker = null;
        for (const [block, frames] of this.blocks) if (frames === null) this.blocks.delete(block);
        this.onchange();
    }

    #take({ block, frames, error }) {
        if (error) {
            this.onerror(`block ${block} of the scene cannot be read: ${error}; make the page again with cleave view`);
            return;
        }
        this.blocks.delete(block);
        this.blocks.set(block, frames);
        for (const old of [...this.blocks.keys()]) {
            if (this.blocks.size <= this.keep) break;
            if (old !== block && this.blocks.get(old) !== null) this.blocks.delete(old);
        }
        this.onchange();
    }

    #ask(block) {
        if (block * this.scene.block >= this.count || this.blocks.has(block)) return;
        this.blocks.set(block, null);
        const text = this.texts[block].textContent;
        if (this.worker) this.worker.postMessage({ block, text });
        else unpackBlock(text, this.scene, block).then(frames => this.#take({ block, frames }), error => this.#take({ block, error: error.message }));
    }

    /**
     * The frame and the one before it, or null while they are unpacked. The block behind is fetched early.
     */
    frame(index) {
        const block = Math.floor(index / this.scene.block);
        const frames = this.blocks.get(block);
        this.#ask(block);
        const { begin, end, lead } = blockFrames(this.scene, block);
        if (frames && index >= begin + (end - begin) / 4) this.#ask(block + 1);
        if (!frames) return null;
        const at = index - begin + lead;
        return { now: frames[at], old: frames[Math.max(at - 1, 0)] };
    }
}
