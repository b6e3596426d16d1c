// SPDX-License-Identifier: MIT
// What several papers' figures and claims share.
import { sizeText } from './page.mjs';
import { ascending, mean, pick } from './runs.mjs';

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

/** Who is best of the three, size by size: "Gravity: bullet-dbvt-d at 1k to 8k, cgal at 16k to 128k; …". */
export function bestBySize(runs, part) {
    return scenes.map(scene => {
        const own = pick(runs, part, { scene }).filter(run => peers.includes(run.method));
        const sizes = ascending(own.map(run => run.objects)).filter(objects => !Number.isNaN(bestOther(runs, part, scene, objects)));
        const spans = [];
        for (const objects of sizes) {
            const { method } = own.filter(run => run.objects === objects).reduce((best, run) => (run.ms_mean < best.ms_mean ? run : best));
            const last = spans[spans.length - 1];
            if (last?.method === method) last.to = objects;
            else spans.push({ method, from: objects, to: objects });
        }
        return spans.length > 0 ? `${titles[scene]}: ${spans.map(({ method, from, to }) => `${method} at ${sizeText(from)}${to > from ? ` to ${sizeText(to)}` : ''}`).join(', ')}` : '';
    }).filter(Boolean).join('; ');
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
