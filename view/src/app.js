// SPDX-License-Identifier: MIT
// What is seen: the frame, whether it plays, what is drawn and selected; and the loop that draws it.
import { Camera, isHuge, pick } from './camera.js';
import { cellsOf } from './cells.js';
import { APART } from './codec.js';
import { makeTheme } from './look.js';
import { planesOf } from './tree.js';

export const COLOURS = ['touching', 'static', 'speed', 'size', 'node'];
export const OVERLAYS = ['bodies', 'boxes', 'pairs', 'tree', 'cells', 'dops', 'spheres'];
export const BODY_OVERLAYS = ['dops', 'spheres']; // where bodies are known
export const FALSES = ['none', 'boxes', 'dops', 'spheres']; // whose false pairs are drawn
export const RATES = [1, 5, 15, 30, 60, 120];
const SLOW = 25, SLOW_LIVE = 60, REST = 200; // milliseconds between pictures, and with an engine that takes its share of them; without any

export class App extends EventTarget {
    constructor(stage) {
        super();
        this.stage = stage;
        this.camera = new Camera();
        this.theme = makeTheme(() => this.touch('look'));
        this.show = { bodies: true, boxes: false, pairs: false, tree: false, cells: false, dops: false, spheres: false, falses: 0, world: true, colour: 0 };
        this.playing = false;
        this.rate = 30;
        this.mix = 1;
        this.index = 0;
        this.selected = -1;
        this.frame = null;
        this.times = []; // milliseconds of script for the last pictures
        this.gap = 0; // milliseconds from picture to picture, lately
        this.dirty = true;
        requestAnimationFrame(time => this.#tick(time));
    }

    /** Another scene: a recording, or the live engine. */
    open(source) {
        this.source = source;
        this.index = 0;
        this.frame = this.old = null;
        this.selected = -1;
        this.mix = 1;
        this.box = this.half = null;
        source.onchange = () => { this.dirty = true; };
        source.onerror = text => this.dispatchEvent(new CustomEvent('trouble', { detail: text }));
        const root = document.documentElement;
        root.classList.toggle('is-live', Boolean(source.isLive));
        root.dataset.objects = source.objects;
        root.dataset.ready = 'false';
        root.dataset.playing = 'false';
        this.dirty = true;
    }

    touch(what = 'show') {
        this.dirty = true;
        this.overlaysAreOld = true;
        this.dispatchEvent(new Event(what));
    }

    /** Of the frame that is seen; `index` may be one that is still unpacked. */
    get number() {
        return this.source.first + (this.frame?.index ?? 0);
    }

    fact() {
        return this.frame?.facts ?? this.source.facts[this.frame?.index] ?? {};
    }

    play(playing = !this.playing) {
        if (playing && !this.source.isLive && this.index >= this.source.count - 1) this.go(0);
        this.playing = playing;
        if (!playing) this.mix = 1;
        document.documentElement.dataset.playing = String(playing);
        this.touch('playing');
    }

    step(by) {
        this.play(false);
        if (this.source.isLive) {
            if (by > 0) this.source.next();
            return;
        }
        this.go(this.index + by);
    }

    go(index) {
        this.index = Math.min(Math.max(index, 0), this.source.count - 1);
        this.mix = 1;
        this.dirty = true;
    }

    /** Are the bodies in the boxes known? */
    get hasBodies() {
        return Boolean(this.frame?.turns);
    }

    toggle(overlay) {
        if (BODY_OVERLAYS.includes(overlay) && !this.hasBodies) return;
        this.show[overlay] = !this.show[overlay];
        this.touch();
    }

    /** Lines for the false pairs of boxes, 18-DOPs or spheres, or none. */
    falses(which) {
        if (!this.hasBodies) return;
        this.show.falses = Math.max(FALSES.indexOf(which), 0);
        this.touch();
    }

    colour(name) {
        this.show.colour = COLOURS.indexOf(name);
        this.touch();
    }

    select(object) {
        this.selected = Number.isInteger(object) && object >= 0 && object < this.source.objects ? object : -1;
        this.touch('select');
        return this.selected === object;
    }

    /** The eye goes to the selected object. */
    follow() {
        if (this.selected < 0 || !this.frame) return;
        const at = 8 * this.selected, boxes = this.frame.boxes;
        this.camera.target = [0, 1, 2].map(axis => 0.5 * (boxes[at + axis] + boxes[at + 4 + axis]));
        this.camera.distance = Math.max(this.camera.radius * 0.02, 8 * Math.hypot(...[0, 1, 2].map(axis => boxes[at + 4 + axis] - boxes[at + axis])));
        this.dirty = true;
    }

    home() {
        this.camera.yaw = 0.62;
        this.camera.pitch = 0.42;
        this.camera.fit(this.box, this.stage.resize());
        this.dirty = true;
    }

    pickAt(x, y) {
        const { clientWidth, clientHeight } = this.stage.canvas;
        const ray = this.camera.ray(2 * x / clientWidth - 1, 1 - 2 * y / clientHeight, clientWidth / clientHeight);
        return { ...pick(ray, this.frame, this.source.half ?? this.source.scene?.half, this.scale.world), ray };
    }

    /** Pairs of the selected object. */
    ownPairs() {
        const out = [];
        const { pairs } = this.frame;
        for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === this.selected || pairs[i + 1] === this.selected) out.push(pairs[i], pairs[i + 1]);
        return new Uint32Array(out);
    }

    /**
     * Pairs of boxes whose bodies do not touch; the top bit of those that the chosen volume
     * would have left out is set.
     */
    falsePairs() {
        const { pairs, apart } = this.frame, left = [0, 0, APART.dops, APART.spheres][this.show.falses], out = [];
        for (let i = 0; apart && i < apart.length; ++i) {
            const mark = apart[i] & left ? 0x80000000 : 0;
            if (apart[i] & APART.bodies) out.push((pairs[2 * i] | mark) >>> 0, (pairs[2 * i + 1] | mark) >>> 0);
        }
        return new Uint32Array(out);
    }

    // ---- the loop

    #tick(time) {
        requestAnimationFrame(next => this.#tick(next));
        const begin = performance.now();
        const passed = Math.min((time - (this.lastTime ?? time)) / 1000, 0.1);
        this.lastTime = time;
        if (!this.source) return;
        if (this.playing) this.#advance(passed);
        this.#pace(time);
        if (!this.dirty) return;
        if (this.#load()) this.#draw();
        this.times.push(performance.now() - begin);
        if (this.times.length > 240) this.times.shift();
    }

    /**
     * Where pictures are drawn in software and slowly, they have half the pixels each way while something
     * moves, and all once it rests.
     */
    #pace(time) {
        const { stage } = this, gap = time - (this.lastPicture ?? 0);
        if (this.dirty) {
            this.lastPicture = time;
            this.gap = gap < REST ? 0.8 * this.gap + 0.2 * gap : 0;
            if (this.gap > (this.source.isLive ? SLOW_LIVE : SLOW) && stage.isSoftware) stage.sharpness = 0.5;
        } else if (gap > REST && stage.sharpness < 1) {
            stage.sharpness = 1;
            this.dirty = true;
            this.lastPicture = 0; // the sharp picture is no beginning of a movement
        }
    }

    #advance(seconds) {
        if (this.source.isLive) {
            this.source.next();
            return;
        }
        const whole = this.mix + seconds * this.rate;
        let steps = Math.floor(whole);
        this.mix = whole - steps;
        if (steps > 0 && this.index + steps >= this.source.count) {
            this.go(this.source.count - 1);
            this.play(false);
            return;
        }
        // The next frame is not there yet: wait for it rather than jump.
        while (steps > 0 && !this.source.frame(this.index + steps)) steps -= 1;
        this.index += steps;
        this.dirty = true;
    }

    #load() {
        const both = this.source.frame(this.index);
        if (!both) return this.frame !== null;
        if (this.frame === both.now && this.old === both.old) return true;
        if (!this.box) this.#measure(both.now);
        this.frame = both.now;
        this.old = both.old;
        if (this.source.isLive && this.half !== both.now.half) this.stage.setHalf(this.half = both.now.half);
        this.stage.show(both.now, both.old);
        this.overlaysAreOld = true;
        const root = document.documentElement;
        root.dataset.frame = this.number;
        root.dataset.pairs = this.frame.pairs.length / 2;
        if (this.frame.falses) root.dataset.falses = FALSES.slice(1).map(name => this.frame.falses[name]).join(' ');
        else delete root.dataset.falses;
        root.dataset.ready = 'true';
        this.dispatchEvent(new Event('frame'));
        return true;
    }

    /** The part of the world that is seen, and what is fast and large in it. */
    #measure(frame) {
        const { boxes } = frame;
        const scene = this.source.scene ?? this.source;
        let sides = [0, 1, 2].map(axis => scene.far ? (scene.far[axis][1] - scene.far[axis][0]) / 1.2 : 1e30), huge = 0;
        for (let at = 0; at < boxes.length; at += 8) huge += isHuge(boxes, at, sides);
        if (2 * huge >= boxes.length / 8) sides = [1e30, 1e30, 1e30]; // where most are as large as the world, they are what there is to see
        const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
        const sizes = [];
        for (let at = 0; at < boxes.length; at += 8) {
            if (isHuge(boxes, at, sides)) continue;
            for (let axis = 0; axis < 3; ++axis) {
                low[axis] = Math.min(low[axis], boxes[at + axis]);
                high[axis] = Math.max(high[axis], boxes[at + 4 + axis]);
            }
            if (sizes.length < 20000) sizes.push(Math.log(Math.max(1e-30, (boxes[at + 4] - boxes[at]) * (boxes[at + 5] - boxes[at + 1]) * (boxes[at + 6] - boxes[at + 2]))) / 3);
        }
        sizes.sort((a, b) => a - b);
        for (let axis = 0; axis < 3; ++axis) {
            const [from, to] = [scene.world?.[axis] ?? low[axis], scene.world?.[axis + 3] ?? high[axis]];
            // A world far larger than what is in it would show dust; one smaller is grown.
            if (Number.isFinite(to - from) && to - from < 20 * (high[axis] - low[axis])) {
                low[axis] = Math.min(low[axis], from);
                high[axis] = Math.max(high[axis], to);
            }
            if (!(low[axis] < high[axis])) { low[axis] = (low[axis] || 0) - 1; high[axis] = low[axis] + 2; }
        }
        this.box = scene.fit ?? [low, high];
        const side = Math.exp(sizes[Math.floor(sizes.length / 2)] ?? 0);
        const spread = [sizes[Math.floor(0.01 * sizes.length)] ?? 0, sizes[Math.floor(0.99 * sizes.length)] ?? 1];
        this.scale = { world: sides, sizes: spread[1] - spread[0] < 0.2 ? [spread[0] - 0.5, spread[1] + 0.5] : spread, speed: 0.3 * side, still: 1.2 * (scene.step?.[0] ?? 0), side };
        this.stage.open(this.source.capacity ?? this.source.objects, this.source.half ?? scene.half, this.box, scene.shape);
        this.camera.fit(this.box, this.stage.resize());
        this.dispatchEvent(new Event('open'));
    }

    #fillOverlays() {
        const { stage, show, frame } = this;
        if (show.pairs) stage.pairs.fill(frame.pairs);
        if (show.falses > 0) stage.falsePairs.fill(this.falsePairs());
        if (show.tree) stage.planes.fill(planesOf(frame.tree, this.box));
        if (show.cells) stage.cells.fill(cellsOf(this.fact().cells, frame.cells));
        if (this.selected >= 0) stage.ownPairs.fill(this.ownPairs());
        this.overlaysAreOld = false;
    }

    #draw() {
        if (this.overlaysAreOld) this.#fillOverlays();
        this.stage.draw({ camera: this.camera, mix: this.playing && !this.source.isLive ? this.mix : 1, look: this.theme.look(), show: this.show, scale: this.scale, selected: this.selected });
        this.dirty = this.playing;
    }
}
