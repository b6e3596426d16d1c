// SPDX-License-Identifier: MIT
// What the last frames of the playground took: each frame once, however often it is asked for again with
// other overlays or other methods.
export const KEPT = 180; // frames, those of the curve
export const MEANT = 40; // frames, those of the mean

/**
 * The mean, in which a frame that other programs held up counts as no more than twice the median. Browsers
 * round clocks to a tenth of a millisecond: some of these times are 0, and to leave out the longest would
 * leave out what makes up for them. So up to three roundings more are believed.
 */
export function typical(times) {
    if (times.length === 0) return null;
    const middle = [...times].sort((a, b) => a - b)[times.length >> 1], most = Math.max(2 * middle, middle + 0.3);
    return times.reduce((sum, time) => sum + Math.min(time, most), 0) / times.length;
}

export class Laps {
    constructor() {
        this.restart();
    }

    /** Another scene: its frames are counted from 0 again. */
    restart() {
        this.last = -1;
        this.list = [];
    }

    /** Other methods: what is compared was measured on the same frames. */
    forget() {
        this.list = [];
    }

    /**
     * A frame as it is drawn. A method's first update enters all boxes, which is another work than following
     * them: it is not measured. Nor is a method that was asked for before the two that are wanted now.
     */
    add({ index, facts }, methods) {
        if (index === this.last) return;
        this.last = index;
        const times = facts.rivals.map((one, side) => (one && !one.isFirst && one.method === methods[side] ? one.ms : null));
        if (times.every(time => time === null)) return;
        this.list.push({ index, times, stages: facts.ms, physics: facts.physics });
        if (this.list.length > KEPT) this.list.shift();
    }

    #recent(valueOf) {
        return this.list.slice(-MEANT).map(valueOf).filter(value => value !== null && value !== undefined);
    }

    /** Milliseconds of a side, 0 or 1; null where none was measured. */
    mean(side) {
        return typical(this.#recent(lap => lap.times[side]));
    }

    /** Update, search and list of the first side; null where none was measured. */
    stages() {
        const all = this.#recent(lap => lap.stages);
        return all.length > 0 ? [0, 1, 2].map(stage => typical(all.map(one => one[stage]))) : null;
    }

    physics() {
        return typical(this.#recent(lap => lap.physics));
    }

    /** [[frame, milliseconds]] of a side, for the curve. */
    points(side) {
        return this.list.filter(lap => lap.times[side] !== null).map(lap => [lap.index, lap.times[side]]);
    }
}
