// SPDX-License-Identifier: MIT
// The parts of the page, in its order. Each is a function of the app that gives an element, or null where the
// results hold nothing for it.
import { ladderChart } from '../charts/ladder.js';
import { radarChart } from '../charts/radar.js';
import { sweepChart } from '../charts/sweep.js';
import { bytesText, exponentOf, fixedText, geometricMean, numberText, sizeText } from '../model/numbers.js';
import { ladderOf, radarOf, runsAt } from '../model/results.js';
import { h, choice } from './dom.js';
import { makeFigure } from './figure.js';
import { sortableTable } from './grid.js';

export const section = (id, title, about, ...content) =>
    h('section', { id }, h('h2', {}, title), about ? h('p', { class: 'about' }, about) : null, ...content);

// ---- time against N

// How much slower than the best of its column, from clear to full over two decades.
const heat = ratio => `--heat:${Math.min(Math.log10(ratio) / 2, 1).toFixed(3)}`;

function ladderTable(app, scene) {
    const runs = scene.sizes.map(size => new Map(runsAt(app.model, scene.name, size).map(run => [run.label, run])));
    const best = runs.map(column => Math.min(...[...column.values()].map(run => run.median)));
    const labels = app.model.labels.filter(label => runs.some(column => column.has(label)));
    const columns = [{ name: 'method' }, ...scene.sizes.map(size => ({ name: sizeText(size), isNumber: true, title: `ms per frame, median, ${size} objects` })),
        { name: 'exponent', isNumber: true, title: 'time grows as n to this power; from three sizes on, and with ~ where these were run over different numbers of frames' }, { name: '× best', isNumber: true, title: 'geometric mean over the sizes it ran' }];
    const rows = labels.map(label => {
        const ratios = runs.flatMap((column, index) => (column.has(label) ? [column.get(label).median / best[index]] : []));
        const here = scene.sizes.map((size, index) => [size, runs[index].get(label)]).filter(([, run]) => run);
        const exponent = exponentOf({ points: here.map(([size, run]) => [size, run.median]), frames: here.map(([, run]) => run.frames) });
        return [
            { text: label, value: label, node: app.mark(label) },
            ...runs.map((column, index) => {
                const value = column.get(label)?.median ?? null;
                return value === null ? { text: '–', value } : { text: fixedText(value), value, kind: value === best[index] ? 'heat best' : 'heat', style: heat(value / best[index]) };
            }),
            { text: exponent?.text ?? '–', value: exponent?.power ?? null, title: exponent === null ? 'fewer than three sizes' : exponent.note },
            { text: numberText(geometricMean(ratios)), value: geometricMean(ratios) },
        ];
    });
    return sortableTable(columns, rows, { sort: { column: columns.length - 1, down: false }, caption: `times in ${scene.name}` });
}

export function ladderSection(app) {
    const parts = app.model.scenes.map(scene => {
        const series = ladderOf(app.model, scene.name, run => run[app.measure]);
        const figure = scene.sizes.length < 2 ? null : makeFigure(app, {
            name: `time against objects: ${scene.name}`,
            rows: () => series.length,
            make: (look, frame) => ladderChart({ ...frame, series: ladderOf(app.model, scene.name, run => run[app.measure]), value: `ms per frame, ${app.measure}`, unit: 'ms', guides: [1, 2] }, look),
        });
        return h('div', { class: 'part' }, h('h3', {}, scene.name), figure, ladderTable(app, scene));
    });
    return parts.length === 0 ? null : section('time', 'Time against the number of objects',
        'Milliseconds per frame on logarithmic axes: n^1.00 in a legend is time in proportion to the objects; it takes three sizes, and ~ says that these were run over different numbers of frames. In the tables the fastest of a column is bold, and the deeper the shade the further behind.', ...parts);
}

// ---- radar

export function radarSection(app) {
    const radar = radarOf(app.model, run => run[app.measure]);
    if (!radar || radar.series.length === 0) return null;
    let log = true;
    const figure = makeFigure(app, {
        name: `radar: ${sizeText(radar.size)} objects`,
        rows: () => radar.series.length,
        least: 540,
        make: (look, frame) => radarChart({ ...frame, ...radarOf(app.model, run => run[app.measure]), log }, look),
    });
    return section('radar', 'All scenes at once',
        `Milliseconds per frame at ${sizeText(radar.size)} objects, one axis per scene. Nearer to the centre is faster; a round shape is a method for all scenes, a pointed one a specialist.`,
        h('div', { class: 'controls' }, choice('scale', [{ text: 'logarithmic', value: true }, { text: 'linear', value: false }], log, value => {
            log = value;
            app.redraw();
        })), figure);
}

// ---- memory

export function memorySection(app) {
    const scenes = app.model.scenes.filter(scene => scene.sizes.length > 1 && ladderOf(app.model, scene.name, run => run.memory).length > 0);
    if (scenes.length === 0) return null;
    const chosen = scenes.reduce((best, scene) => (scene.sizes.length > best.sizes.length ? scene : best));
    const perObject = { value: true };
    const valueOf = run => (run.memory === null ? null : perObject.value ? run.memory / run.objects : run.memory);
    const state = { scene: chosen };
    const figure = makeFigure(app, {
        name: `memory against objects: ${chosen.name}`,
        rows: () => ladderOf(app.model, state.scene.name, valueOf).length,
        make: (look, frame) => ladderChart({ ...frame, series: ladderOf(app.model, state.scene.name, valueOf), format: bytesText,
            value: perObject.value ? 'memory per object' : 'memory', slopes: !perObject.value, guides: perObject.value ? [] : [1] }, look),
    });
    const change = target => value => {
        target(value);
        app.redraw();
    };
    return section('memory', 'Memory', 'What a method holds after its last frame.',
        h('div', { class: 'controls' },
            scenes.length > 1 ? choice('scene', scenes.map(scene => ({ text: scene.name, value: scene })), chosen, change(scene => { state.scene = scene; })) : null,
            choice('measure', [{ text: 'per object', value: true }, { text: 'in all', value: false }], true, change(value => { perObject.value = value; }))),
        figure);
}

// ---- sweeps

export function sweepSection(app) {
    const parts = app.model.sweeps.map(sweep => h('div', { class: 'part' }, h('h3', {}, `${sweep.parameter}: ${sweep.sceneName}, ${sizeText(sweep.objects)} objects`),
        makeFigure(app, {
            name: `${sweep.parameter}: ${sweep.sceneName}, ${sizeText(sweep.objects)}`,
            rows: () => sweep.series.length,
            names: sweep.series.map(one => one.name),
            make: (look, frame) => sweepChart({ ...frame, ...sweep }, look),
        })));
    return parts.length === 0 ? null : section('sweeps', 'Time against a parameter', 'Median milliseconds per frame where a setting was tried with three values or more.', ...parts);
}
