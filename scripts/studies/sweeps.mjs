// SPDX-License-Identifier: MIT
// What the k-DOP paper leaves open, as sweeps of `cleave sim tower`: which runs each needs, and what is made of them.

/** How much is run. `repeats`: a run is the same each time, so each frame counts by the least of its times. `seconds`: about what a pass of one takes. */
export const grades = {
    tiny: { about: 'a handful of bodies, to test the machinery; its numbers mean nothing', bodies: 5, frames: 40, repeats: 1, seconds: 1 },
    short: { about: '24 bodies, 450 frames: all land within these', bodies: 24, frames: 450, repeats: 2, seconds: 1 },
    middle: { about: '128 bodies, 2000 frames: all land within these', bodies: 128, frames: 2000, repeats: 2, seconds: 8 },
    full: { about: 'the size of the paper: 512 bodies, 7000 frames', bodies: 512, frames: 7000, repeats: 3, seconds: 130 },
};

const run = words => ({ words, key: words.join(' ') });

const periods = [1, 2, 5, 10, 20, 30, 50, 100, 0];
const kinds = ['aabb', '6-dop', '14-dop', '18-dop', '26-dop', 'obb', 'sphere'];
const faceCounts = [8, 14, 20, 32, 50, 80, 128, 200];
const stretches = [1, 2, 3, 4, 6, 8, 10];
const vertexCounts = [6, 12, 24, 34, 52, 102, 202, 402];
const softnesses = [0, 0.3, 0.6, 0.9, 0.97];

const byPeriod = (volume, period) => run(['--volume', volume, '--pca', String(period)]);
const byKind = (volume, stretch) => run(['--volume', volume, '--scale', `1,${stretch},1`]);
const byFaces = (volume, faces) => run(['--volume', volume, '--faces', String(faces)]);
const bySupport = (support, vertices) => run(['--volume', '18-dop', '--faces', String(2 * vertices - 4), '--support', support]);
const bySoftness = (match, softness) => run(['--volume', '18-dop', '--match', match, ...(match === 'rigid' ? [] : ['--softness', String(softness)])]);

/** Series of points: [{ name, points: [[x, run]] }]. */
const grid = (names, xs, make) => names.map(name => ({ name, points: xs.map(x => [x, make(name, x)]) }));

export const sweeps = {
    pca: grid(['aabb', '18-dop'], periods, byPeriod),
    volumes: [1, 3].map(stretch => ({ name: `scale (1, ${stretch}, 1)`, points: kinds.map(kind => [kind, byKind(kind, stretch)]) })),
    faces: grid(['aabb', '18-dop', 'sphere'], faceCounts, byFaces),
    stretch: grid(['aabb', '18-dop', '26-dop', 'obb', 'sphere'], stretches, byKind),
    support: grid(['scan', 'climb'], vertexCounts, bySupport),
    soft: [{ name: 'rigid', points: [[0, bySoftness('rigid', 0)]] }, ...grid(['linear', 'quadratic'], softnesses, bySoftness)],
};

function runsOf(names) {
    const runs = new Map();
    for (const name of names) for (const one of sweeps[name]) for (const [, wanted] of one.points) runs.set(wanted.key, wanted);
    return [...runs.values()];
}

/** Every run once, however many sweeps ask for it. */
export const allRuns = () => runsOf(Object.keys(sweeps));

/** The same, the sweeps first that need the fewest: with part of the time some sweeps are whole. */
export const runsInOrder = () => runsOf(['volumes', 'pca', 'soft', 'stretch', 'faces', 'support']);
