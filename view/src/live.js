// SPDX-License-Identifier: MIT
// Frames that are made now: what recording.js is for a scene in the page, this is for the engine in its worker.
import workerText from 'worker:./engine_worker.js';

export class Live {
    constructor(bytes, methods) {
        this.isLive = true;
        this.first = 0;
        this.count = 1;
        this.facts = [];
        this.objects = 0;
        this.wants = {};
        this.methods = methods;
        this.onchange = this.onerror = this.onopen = this.onframe = () => {};
        this.worker = new Worker(URL.createObjectURL(new Blob([workerText], { type: 'text/javascript' })));
        this.worker.onmessage = ({ data }) => this.#take(data);
        this.worker.onerror = ({ message }) => this.onerror(`the engine cannot run here: ${message}`);
        this.worker.postMessage({ bytes, methods });
    }

    #take({ error, opened, frame }) {
        if (error) {
            this.waits = false;
            this.onerror(error);
            return;
        }
        if (opened) {
            Object.assign(this, { canHold: opened.canHold, world: opened.world, now: null, old: null });
            this.isOpening = true;
            return;
        }
        this.waits = false;
        this.old = this.now ?? frame;
        this.now = frame;
        this.half = frame.half;
        this.objects = frame.boxes.length / 8;
        this.count = frame.index + 1;
        if (this.isOpening) {
            this.isOpening = false;
            this.onopen();
        }
        this.onframe(frame);
        this.onchange();
        if (this.isOld) this.again();
    }

    open(scene, bodies, seed = 1) {
        this.scene_ = scene;
        this.capacity = bodies;
        this.waits = true;
        const pours = scene === 'pour';
        this.worker.postMessage({ open: { scene, bodies, seed, first: pours ? [0, 4, 0] : null, count: Math.min(bodies, 60) }, wants: this.wants });
    }

    choose(methods) {
        this.methods = methods;
        this.worker.postMessage({ choose: methods });
        this.again();
    }

    /** The next frame, if none is under way. */
    next() {
        if (this.waits || this.isOpening || !this.now) return;
        this.waits = true;
        this.worker.postMessage({ frame: true, wants: this.wants, hold: this.holding, pour: this.pouring });
    }

    /** The same frame once more: other methods, other overlays. */
    again() {
        if (!this.now) return;
        this.isOld = this.waits; // what is under way was asked for before: then once more behind it
        if (this.waits) return;
        this.waits = true;
        this.worker.postMessage({ frame: true, still: true, wants: this.wants });
    }

    frame() {
        return this.now ? { now: this.now, old: this.old } : null;
    }
}
