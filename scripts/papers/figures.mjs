// SPDX-License-Identifier: MIT
// What several papers' figures and claims share.
import { mean, pick } from './runs.mjs';

export const scenes = ['freefall', 'brownian', 'gravity'];
export const titles = { freefall: 'Free Fall', brownian: 'Brownian', gravity: 'Gravity' };

/** The three the papers compare with, and all of the KD-tree paper's. */
export const peers = ['bullet-dbvt-f', 'bullet-dbvt-d', 'cgal'];
export const others = [...peers, 'bullet-axissweep', 'tracy'];

/** Runs of the tree on a scene. */
export const kdOf = (runs, part, scene, method = 'kd-paper') => pick(runs, part, { scene, method });

/** The least time of the three at a size; NaN where not all of them ran. */
export function bestOther(runs, part, scene, objects) {
    const found = peers.map(method => pick(runs, part, { scene, method, objects })[0]?.ms_mean).filter(Boolean);
    return found.length === peers.length ? Math.min(...found) : NaN;
}

/** [[share of static objects, complete / incremental]], frame by frame at equal size. */
export function gainPoints(complete, incremental) {
    return complete.flatMap(base => {
        const other = incremental.find(run => run.objects === base.objects);
        return other ? base.frame_ms.map((ms, frame) => [base.frame_static[frame], ms / other.frame_ms[frame]]).filter(([share, gain]) => share !== null && gain > 0) : [];
    });
}

/** Mean gain of the points within a range of shares. */
export function gainBetween(points, low, high) {
    const near = points.filter(([share]) => share >= low && share < high).map(([, gain]) => gain);
    return near.length > 0 ? mean(near) : NaN;
}
