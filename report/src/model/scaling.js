// SPDX-License-Identifier: MIT
// More workers: the same world shared by them (strong), or one that grows with them (weak). Workers are the
// processes of cleave-mpi, each with so many threads, or the threads of one process.
import { byLabel } from './results.js';

const NEAR = 0.02; // objects per worker that count as the same

const workersOf = run => (run.ranks === null ? run.threads : run.ranks);

function kindOf(run) {
    const rest = run.settings.map(([name, value]) => ` ${name}=${value}`).join('');
    const threads = run.threads > 1 ? ` of ${run.threads} threads` : '';
    return `${run.method}${rest}, ${run.ranks === null ? 'threads' : `processes${threads}`}`;
}

// One point per number of workers: the run over most frames, then the fastest.
function ladder(runs) {
    const best = new Map();
    for (const run of runs) {
        const other = best.get(workersOf(run));
        if (!other || run.frames > other.frames || (run.frames === other.frames && run.median < other.median)) best.set(workersOf(run), run);
    }
    return [...best.values()].sort((a, b) => workersOf(a) - workersOf(b));
}

function groupsBy(runs, keyOf) {
    const groups = new Map();
    for (const run of runs) groups.set(keyOf(run), [...(groups.get(keyOf(run)) ?? []), run]);
    return groups;
}

// Sizes per worker that are nearly alike are one.
function weakSize(run, sizes) {
    const each = run.objects / workersOf(run);
    const known = sizes.find(size => Math.abs(size / each - 1) <= NEAR);
    if (known === undefined) sizes.push(each);
    return known ?? each;
}

function makeSeries(runs, valueOf) {
    return [...groupsBy(runs, kindOf)].map(([name, members]) => ({ name, runs: ladder(members) })).filter(one => one.runs.length > 1)
        .map(one => ({ ...one, points: one.runs.map(run => [workersOf(run), valueOf(run, one.runs[0])]) }))
        .sort((a, b) => byLabel(a.name, b.name));
}

// Against what so many workers as the first point has would need.
const speedUp = (run, first) => workersOf(first) * first.median / run.median;
const efficiency = (run, first) => (run.objects / first.objects) * (first.median / run.median) / (workersOf(run) / workersOf(first));

/**
 * [{ kind: 'strong' or 'weak', sceneName, objects (of all, or of each worker), series: [{ name, points:
 * [[workers, value]], runs }] }]
 */
export function scalingsOf(runs) {
    const usable = runs.filter(run => run.status === 'ok' && run.median > 0 && run.objects > 0 && !run.isAlone);
    const found = [];
    for (const [sceneName, members] of groupsBy(usable, run => run.sceneName)) {
        const sizes = [];
        for (const run of [...members].sort((a, b) => workersOf(a) - workersOf(b))) weakSize(run, sizes);
        for (const [objects, list] of groupsBy(members, run => run.objects)) found.push({ kind: 'strong', sceneName, objects, series: makeSeries(list, speedUp) });
        for (const [objects, list] of groupsBy(members, run => weakSize(run, sizes))) {
            // The same world with more and more workers is the other kind.
            const series = makeSeries(list, efficiency).filter(one => new Set(one.runs.map(run => run.objects)).size > 1);
            found.push({ kind: 'weak', sceneName, objects: Math.round(objects), series });
        }
    }
    // Methods with one or two thread counts are not about scaling: that takes processes, or
    // three numbers of threads.
    return found.filter(({ series }) => series.some(one => one.points.length > 2 || one.runs[0].ranks !== null));
}

export { workersOf };
