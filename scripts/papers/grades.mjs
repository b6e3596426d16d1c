// SPDX-License-Identifier: MIT
// How much of the papers' schedules is run: sizes and frames per group of parts. What a grade does not say is as in the schedule.
//   tiny   seconds, to test the machinery
//   short  a quarter of an hour on two cores
//   hour   what `make papers` does
//   full   the papers' own sizes; a day, and 100 GB for scenes

/** Parts that are run in one go. A run that several parts ask for is then done once. */
export const groups = [
    { name: 'cubes', schedules: ['paper-004', 'paper-000', 'paper-001'], parts: ['004-cubes', '000-cubes', '000-cubes-kd', '001-slowest', '001-others'] },
    { name: 'threads', schedules: ['paper-001'], parts: ['001-quickest'], threads: true },
    { name: 'assorted', schedules: ['paper-004', 'paper-000'], parts: ['004-assorted', '000-assorted', '000-assorted-kd'] },
    { name: 'tree', schedules: ['paper-004', 'paper-000'], parts: ['004-leaf', '000-leaf', '004-batches', '004-variants'] },
    { name: 'pruning', schedules: ['paper-004'], parts: ['004-pruning'] },
    { name: 'rest', schedules: ['paper-004', 'paper-000'], parts: ['004-rest', '004-rest-swept', '000-rest'] },
    { name: 'ray-leaf', schedules: ['paper-002'], parts: ['002-leaf'] },
    { name: 'ray', schedules: ['paper-002'], parts: ['002-others'] },
    { name: 'tower', schedules: ['paper-003'], parts: ['003-falling', '003-landed'] },
];

export const grades = {
    tiny: {
        about: 'a few hundred objects and a handful of frames, to test the machinery; its times mean nothing',
        all: ['--repeat', '2', '--time-limit', '20'],
        cubes: ['-n', '200,400', '--frames', '3'],
        threads: ['-n', '200,400', '--frames', '3'],
        assorted: ['-n', '200,400', '--frames', '3'],
        tree: ['-n', '300', '--frames', '3'],
        pruning: ['-n', '300', '--frames', '3'],
        rest: ['-n', '200', '--frames', '12'],
        'ray-leaf': ['-n', '200', '--frames', '3'],
        ray: ['-n', '100,200', '--frames', '3'],
        tower: ['-n', '8', '--frames', '3'],
        sim: { bodies: 8, frames: 60 },
    },
    short: {
        about: 'up to 8,000 cubes and 4,000 assorted objects, 20 frames of each window',
        all: ['--time-limit', '60'],
        cubes: ['-n', '1k,2k,4k,8k', '--frames', '20'],
        threads: ['-n', '1k,2k,4k,8k', '--frames', '20'],
        assorted: ['-n', '1k,2k,4k', '--frames', '20'],
        tree: ['-n', '8k', '--frames', '12', '--repeat', '3'],
        pruning: ['-n', '8k', '--frames', '6', '--repeat', '2'],
        rest: ['-n', '1k,2k,4k', '--repeat', '3'],
        'ray-leaf': ['-n', '4k', '--frames', '20', '--repeat', '3'],
        ray: ['-n', '1k,2k,4k', '--frames', '20'],
        tower: ['--frames', '20'],
        sim: { bodies: 128, frames: 2000 },
    },
    hour: {
        about: 'up to 32,000 cubes and 8,000 assorted objects, 20 frames of each window',
        all: ['--time-limit', '120'],
        cubes: ['-n', '1k,2k,4k,8k,16k,32k', '--frames', '20'],
        threads: ['-n', '1k,8k,16k,32k', '--frames', '20'],
        assorted: ['-n', '1k,2k,4k,8k', '--frames', '20'],
        tree: ['-n', '32k', '--frames', '12'],
        pruning: ['-n', '32k', '--frames', '4', '--repeat', '2'], // without any pruning a frame takes seconds
        rest: ['-n', '1k,2k,4k,8k', '--repeat', '3'],
        'ray-leaf': ['--frames', '20', '--repeat', '3'],
        ray: ['-n', '1k,2k,4k', '--frames', '20'],
        sim: { bodies: 512, frames: 7000 },
    },
    full: {
        about: "the papers' own sizes",
        all: [],
        sim: { bodies: 512, frames: 7000 },
    },
};

/** The runs of `cleave sim tower` that paper 003 compares. */
export const towers = ['1,1,1', '1,3,1'].flatMap(scale => ['18-dop', 'aabb', 'sphere'].map(volume => ({ volume, scale })));

export const towerFile = ({ volume, scale }) => `tower-${volume}-${scale.replaceAll(',', '')}.csv`;
