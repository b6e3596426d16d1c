// SPDX-License-Identifier: MIT
// Results made up for the tests, as `cleave bench --json` writes them.

export function makeRun({ ms = 1, frames = 20, ...change } = {}) {
    const frameMs = Array.from({ length: frames }, (_, frame) => ms * (1 + 0.2 * Math.sin(frame)));
    return {
        scene: 'brownian', type: 'cubes', objects: 1000, frames, method: 'kd', variant: 'avx2', threads: 1, settings: null, sorted: false, events: false,
        ms_median: ms, ms_mean: ms * 1.02, ms_min: ms * 0.8, ms_p99: ms * 1.3, update_ms: ms * 0.3, search_ms: ms * 0.6, pairs_last: 400,
        pairs_hash: '0x00000000000000aa', frame_ms: frameMs, frame_static: frameMs.map((_, frame) => frame / frames), tests: 5000, memory_bytes: 100000,
        fat: false, status: 'ok', ...change,
    };
}

const MACHINE = { cpu: 'Some CPU', cores: 4, isa: 'avx2', compiler: 'gcc 12.2', system: 'Linux', gpu: null };

export const makeResults = (runs, machine = {}) => ({ cleave: '0.1.0', machine: { ...MACHINE, ...machine }, runs });

const METHODS = ['cleave', 'kd', 'kd-complete', 'kd-incremental', 'kd-rebuilt', 'ray-kd', 'sap', 'isap', 'grid', 'grid-sap', 'tracy', 'bvh-f', 'bvh-d',
    'segment-tree', 'brute', 'bullet-dbvt-f', 'bullet-dbvt-d', 'bullet-axissweep', 'cgal', 'embree', 'fcl', 'ode-hash', 'ode-sap'];

const hashOf = (scene, size) => `0x${(scene.length * 4096 + size).toString(16).padStart(16, '0')}`;
const failed = (method, status, reason) => makeRun({ method, status, reason, ms_median: null, pairs_hash: null });

/** Three scenes, four sizes, 23 methods; a sweep; counters; what failed. */
export function fullResults() {
    const runs = ['freefall', 'brownian', 'gravity'].flatMap((scene, place) => [1000, 2000, 4000, 8000].flatMap(objects => METHODS.map((method, index) =>
        makeRun({ scene, objects, method, ms: 0.01 * (1 + index) * (objects / 1000) ** (method === 'brute' ? 2 : 1.1) * (1 + place), pairs_hash: hashOf(scene, objects),
            variant: index < 10 ? 'avx2' : 'plain', memory_bytes: objects * (60 + 20 * index), counters: { nodes: 10 + index, leaves: 5 + index } }))));
    const sweep = [32, 64, 128, 256, 512].map(leaf =>
        makeRun({ scene: 'gravity', objects: 8000, settings: `kd.leaf=${leaf}`, ms: 1 + (Math.log2(leaf) - 7) ** 2 / 9, pairs_hash: hashOf('gravity', 8000) }));
    return makeResults([...runs, ...sweep, failed('hangs', 'timeout', 'took longer than 4 s'), failed('absent', 'unavailable', 'not built'),
        failed('crashes', 'failed', 'signal 11 (segmentation fault)')]);
}

/**
 * A world of 16m on 1 to 16 processes and threads, and one that grows with its processes; and
 * processes that share nothing.
 */
export function scalingResults() {
    const counts = [1, 2, 4, 8, 16];
    const many = { scene: 'brownian-free', method: 'cleave', imbalance: 0.03, update_ms: null, search_ms: null, frame_static: [] };
    const process = (ranks, objects, ms) => makeRun({ ...many, objects, ms, ranks, processes: ranks, alone: false, ghosts: objects / 50, bytes_sent: objects, pairs_hash: hashOf('x', objects) });
    return makeResults([...counts.flatMap(count => [
        process(count, 16e6, 1600 / count ** 0.9), makeRun({ ...many, objects: 16e6, ms: 1500 / count ** 0.95, threads: count, pairs_hash: hashOf('x', 16e6) })]),
    ...counts.slice(0, 4).map(count => process(count, count * 1e6, 100 + count)),
    makeRun({ ...many, objects: 1e6, ms: 105, ranks: 16, processes: 16, alone: true, pairs_hash: '0x0000000000000001' })]);
}

/** One method of three finds other pairs. */
export const wrongResults = () => makeResults([makeRun({}), makeRun({ method: 'sap', ms: 2 }),
    makeRun({ method: 'liar', ms: 0.1, pairs_hash: '0x00000000000000bb', pairs_last: 399 })]);

export const HOSTILE = '</script><script>window.broken=1</script><img src=x onerror="window.broken=1">\u2028&amp;"\'<!--';

/** Names that want to be markup, everywhere a name can stand. */
export function hostileResults() {
    const methods = [HOSTILE, 'kd', '__proto__', 'constructor', 'x'.repeat(300)];
    const runs = [1000, 2000, 4000].flatMap(objects => methods.map((method, index) => makeRun({ scene: HOSTILE, type: HOSTILE, method, objects,
        ms: (1 + index) * objects / 1000, variant: HOSTILE, settings: 'a=1', counters: { [HOSTILE]: 3, constructor: 1 } })));
    return makeResults([...runs, failed(HOSTILE, 'failed', HOSTILE)], { cpu: HOSTILE, [HOSTILE]: HOSTILE });
}
