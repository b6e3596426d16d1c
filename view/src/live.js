// SPDX-License-Identifier: MIT
// Frames that are made now: what recording.js is for a scene in the page, this is for the engine in its
// worker.
import workerText from 'worker:./engine_worker.js';
import { Laps } from './laps.js';

export class Live {
    constructor(bytes, methods) {
        this.isLive = true;
        this.first = 0;
        this.count = 1;
        this.facts = [];
        this.objects = 0;
        this.wants = {};
        this.methods = methods;
        this.laps = new Laps();
        this.onchange = this.onerror = this.onopen = () => {};
        this.worker = new Worker(URL.createObjectURL(new Blob([workerText], { type: 'text/javascript' })));
        this.worker.onmessage = ({ data }) => this.#take(data);
        this.worker.onerror = ({ message }) => this.onerror(`The engine cannot run here: ${message}`);
        this.worker.postMessage({ bytes, methods });
    }

    #take({ error, isLost, opened, frame }) {
        if (error) {
            this.waits = false;
            if (isLost) this.now = null; // there is no scene to ask for frames
            this.onerror(error);
            return;
        }
        if (opened) {
            Object.assign(this, { canHold: opened.canHold, world: opened.world, now: null, old: null });
            this.isOpening = true;
            this.laps.restart();
            return;
        }
        this.waits = false;
        if (!frame.isStill) this.old = this.now ?? frame; // the same frame once more has moved as far as before
        this.now = frame;
        this.half = frame.half;
        this.objects = frame.boxes.length / 8;
        this.count = frame.index + 1;
        if (this.isOpening) {
            this.isOpening = false;
            this.onopen();
        }
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
        this.laps.forget();
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
