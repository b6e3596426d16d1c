// SPDX-License-Identifier: MIT
// The papers time 1,000 frames; most of our runs are windows spread over them. What each window stands for, in frames of the run:
// the mean of a run is that of its windows, weighted so. Whole runs (8k and 32k) show how good that is; README.md has the ratios.

const spread = {
    freefall: [[10, 'start', 40], [75, 'fall', 80], [200, 'pile', 230], [450, 'rest', 650]],
    brownian: [[40, 'early', 90], [140, 'later', 910]],
    gravity: [[30, 'first fall', 60], [90, 'first heap', 60], [150, 'thrown', 440], [200, 'thrown back', 440]],
    'ray-freefall': [[50, 'fall', 100], [300, 'pile', 400], [600, 'settling', 600], [1500, 'rest', 900]],
    'ray-particles': [[50, 'early', 200], [600, 'later', 1800]],
};

/** { name, weight } of the window of a scene that begins at a frame; what is not listed weighs one. */
export function windowOf(scene, from) {
    const found = spread[scene]?.find(([at]) => at === from);
    return found ? { name: found[1], weight: found[2] } : { name: '', weight: 1 };
}

/** "start 10+10, fall 75+10" of [{ from, frames }]: first frame and number of frames, with what the window shows. */
export function windowsText(scene, windows) {
    return [...windows].sort((a, b) => a.from - b.from).map(({ from, frames }) => {
        const { name } = windowOf(scene, from);
        return `${name && frames < 100 ? `${name} ` : ''}${from}+${frames}`;
    }).join(', ');
}

/** Rows for people: [scene, window, frames of the run it stands for]. */
export const windowRows = () => Object.entries(spread).flatMap(([scene, windows]) => windows.map(([from, name, weight]) => [scene, `${name}, from frame ${from}`, weight]));
