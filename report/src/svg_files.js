// SPDX-License-Identifier: MIT
// The page's plots as files: a list of { name, option, width, height }, for `cleave report --svg`.
import { barChart } from './charts/bars.js';
import { courseChart } from './charts/course.js';
import { heightFor } from './charts/frame.js';
import { ladderChart } from './charts/ladder.js';
import { radarChart } from './charts/radar.js';
import { scalingChart } from './charts/scaling.js';
import { boxChart, violinChart } from './charts/spread.js';
import { stageChart } from './charts/stages.js';
import { sweepChart } from './charts/sweep.js';
import { light, stylesFor } from './look.js';
import { bytesText, runningMedian, sizeText } from './model/numbers.js';
import { ladderOf, radarOf, runsAt, stagesOf } from './model/results.js';

/** Letters, digits, dots and dashes of a title, whatever else it holds. */
export const fileName = title => `${title.toLowerCase().replace(/[^a-z0-9.]+/g, '-').replace(/^[-.]+|[-.]+$/g, '').slice(0, 80) || 'plot'}.svg`;

const wholeHeight = (count, least) => heightFor(count, least, Infinity);
const rowHeight = count => Math.max(140, count * 22 + 90);
const isWide = values => Math.max(...values) / Math.min(...values) > 20;

function laddersOf(model, shared) {
    return model.scenes.filter(scene => scene.sizes.length > 1).flatMap(scene => [
        ['time', 'ms per frame, median', run => run.median, undefined],
        ['memory', 'memory', run => run.memory, bytesText],
    ].map(([what, value, valueOf, format]) => {
        const series = ladderOf(model, scene.name, valueOf);
        return series.length > 0 && { title: `${what} against objects: ${scene.name}`, height: wholeHeight(series.length),
            make: frame => ladderChart({ ...shared, ...frame, series, value, format, guides: what === 'time' ? [1, 2] : [1] }, light) };
    }));
}

function onesOf(model, shared) {
    return model.scenes.flatMap(scene => {
        const size = scene.sizes[scene.sizes.length - 1];
        const at = `${scene.name}, ${sizeText(size)}`;
        const runs = runsAt(model, scene.name, size);
        const spread = runs.filter(run => run.frameMs.length > 0 && run.frameMs.every(ms => ms > 0)).map(run => ({ name: run.label, values: run.frameMs }));
        const stages = runs.map(run => ({ name: run.label, stages: stagesOf(run) })).filter(row => row.stages.length > 0);
        const rows = runs.map(run => ({ name: run.label, value: run.median, low: run.min, high: run.p99 }));
        return [
            { title: `time: ${at}`, height: rowHeight(runs.length),
                make: frame => barChart({ ...shared, ...frame, rows, value: 'ms per frame, median', log: isWide(rows.map(row => row.value)) }, light) },
            spread.length > 0 && { title: `violins: ${at}`, height: rowHeight(spread.length), make: frame => violinChart({ ...shared, ...frame, rows: spread }, light) },
            spread.length > 0 && { title: `boxes: ${at}`, height: rowHeight(spread.length), make: frame => boxChart({ ...shared, ...frame, rows: spread }, light) },
            spread.length > 0 && { title: `along the run: ${at}`, height: wholeHeight(spread.length, 460),
                make: frame => courseChart({ ...shared, ...frame, ...courseOf(runs, spread), share: shareOf(runs), log: true }, light) },
            stages.length > 0 && { title: `stages: ${at}`, height: rowHeight(stages.length), make: frame => stageChart({ ...shared, ...frame, rows: stages }, light) },
        ];
    });
}

/** Half the frames around one whose median stands for it. */
export const SMOOTH_REACH = 4;

/** So many frames of several methods cannot be told apart one by one. */
export const isCrowded = runs => runs.some(run => run.frameMs.length > 80) && new Set(runs.map(run => run.label)).size > 4;

function courseOf(runs, spread) {
    if (!isCrowded(runs)) return { series: spread, value: 'ms per frame' };
    return { series: spread.map(({ name, values }) => ({ name, values: runningMedian(values, SMOOTH_REACH) })), value: `ms, running median of ${2 * SMOOTH_REACH + 1} frames` };
}

/** The static share of a scene's frames, from the run that has most of it. */
export const shareOf = runs => runs.reduce((best, run) => (run.frameStatic.length > best.length ? run.frameStatic : best), []);

function radarFiles(model, shared) {
    const radar = radarOf(model, run => run.median);
    return radar && radar.series.length > 0
        ? [{ title: `radar: ${sizeText(radar.size)} objects, ms per frame`, height: wholeHeight(radar.series.length, 520), make: frame => radarChart({ ...shared, ...frame, ...radar }, light) }]
        : [];
}

const sweepFiles = model => model.sweeps.map(sweep => ({ title: `${sweep.parameter}: ${sweep.sceneName}, ${sizeText(sweep.objects)}`, height: 420,
    make: frame => sweepChart({ ...frame, ...sweep }, light) }));

const scalingFiles = model => model.scalings.map(scaling => ({ title: `${scaling.kind} scaling: ${scaling.sceneName}, ${sizeText(scaling.objects)}`, height: 400,
    make: frame => scalingChart({ ...frame, ...scaling }, light) }));

export function svgFiles(model) {
    const shared = { styles: stylesFor(model.labels, light) };
    const plots = [...radarFiles(model, shared), ...laddersOf(model, shared), ...onesOf(model, shared), ...sweepFiles(model), ...scalingFiles(model)].filter(Boolean);
    const taken = new Map();
    return plots.map(({ title, height, make }) => {
        const name = fileName(title);
        const count = (taken.get(name) ?? 0) + 1;
        taken.set(name, count);
        return { name: count === 1 ? name : name.replace(/\.svg$/, `-${count}.svg`), width: 860, height, option: make({ width: 860, height, title, isStill: true }) };
    });
}
