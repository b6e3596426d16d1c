// SPDX-License-Identifier: MIT
// One scene at one size, from all sides: bars, frames, the course of the run, stages, counters.
import { barChart } from '../charts/bars.js';
import { courseChart } from '../charts/course.js';
import { boxChart, violinChart } from '../charts/spread.js';
import { stageChart } from '../charts/stages.js';
import { numberText, runningMedian, sizeText } from '../model/numbers.js';
import { countersOf, runsAt, stagesOf } from '../model/results.js';
import { SMOOTH_REACH, isCrowded, shareOf } from '../svg_files.js';
import { choice, h, picker } from './dom.js';
import { makeFigure } from './figure.js';
import { sortableTable } from './grid.js';
import { section } from './sections.js';

const rowHeight = count => Math.max(150, count * 24 + 70);
const SCALES = [{ text: 'logarithmic', value: true }, { text: 'linear', value: false }];

// The scene with most methods, at its largest size: what one would look at first.
function firstPlace(model) {
    const places = model.scenes.map(scene => ({ scene, size: scene.sizes[scene.sizes.length - 1] }));
    const count = place => runsAt(model, place.scene.name, place.size).length;
    return places.reduce((best, place) => (count(place) > count(best) ? place : best));
}

// What all methods count, one row each.
function testTable(app, runs) {
    const columns = [{ name: 'method' }, { name: 'pairs', isNumber: true }, { name: 'tests', isNumber: true }, { name: 'tests per pair', isNumber: true }];
    const count = value => ({ text: numberText(value), value });
    return sortableTable(columns, runs.map(run => [{ text: run.label, value: run.label, node: app.mark(run.label) }, count(run.pairs), count(run.tests),
        count(run.pairs > 0 && run.tests !== null ? run.tests / run.pairs : null)]), { caption: 'pairs and tests' });
}

// What some count: methods with the same counters side by side, a row per counter that is
// not zero for all of them.
function counterTables(app, runs) {
    const families = new Map();
    for (const run of runs) {
        const names = Object.keys(countersOf(run));
        const key = JSON.stringify(names);
        if (names.length > 0) families.set(key, [...(families.get(key) ?? []), run]);
    }
    return [...families].map(([key, members]) => {
        const columns = [{ name: 'counter' }, ...members.map(run => ({ name: run.label, isNumber: true }))];
        const rows = JSON.parse(key).filter(name => members.some(run => run.counters[name] !== 0))
            .map(name => [name, ...members.map(run => ({ text: numberText(run.counters[name]), value: run.counters[name] }))]);
        return h('details', {}, h('summary', {}, `What ${members.map(run => run.label).join(', ')} ${members.length > 1 ? 'count' : 'counts'} besides (${rows.length})`),
            sortableTable(columns, rows, { caption: 'counters' }));
    });
}

export function oneSceneSection(app) {
    if (app.model.scenes.length === 0) return null;
    const at = firstPlace(app.model);
    const state = { log: true, kind: 'violin', share: false, courseLog: true, smooth: isCrowded(app.model.runs) };
    const runs = () => runsAt(app.model, at.scene.name, at.size).filter(run => !app.hidden.has(run.label));
    const every = () => runsAt(app.model, at.scene.name, at.size);
    const framed = list => list.filter(run => run.frameMs.length > 0 && run.frameMs.every(ms => ms > 0));
    const where = () => `${at.scene.name}, ${sizeText(at.size)}`;
    const counters = h('div');
    const showCounters = () => counters.replaceChildren(testTable(app, every()), ...counterTables(app, every()));
    const redraw = () => {
        showCounters();
        app.redraw();
    };
    const set = name => value => {
        state[name] = value;
        redraw();
    };

    const bars = makeFigure(app, {
        name: 'time per frame', rows: () => runs().length, tall: rowHeight,
        make: (look, frame) => runs().length === 0 ? null : barChart({ ...frame, log: state.log, value: `ms per frame, ${app.measure}`, whiskers: true,
            rows: runs().map(run => ({ name: run.label, value: run[app.measure], low: run.min, high: run.p99 })) }, look),
    });
    const spread = makeFigure(app, {
        name: 'spread over frames', rows: () => framed(runs()).length, tall: rowHeight,
        make: (look, frame) => framed(runs()).length === 0 ? null : (state.kind === 'violin' ? violinChart : boxChart)({ ...frame, log: state.log,
            rows: framed(runs()).map(run => ({ name: run.label, values: run.frameMs })) }, look),
    });
    const course = makeFigure(app, {
        name: 'along the run', rows: () => framed(every()).length, least: 500,
        make: (look, frame) => framed(every()).length === 0 ? null : courseChart({ ...frame, log: state.courseLog,
            value: state.smooth ? `ms, running median of ${2 * SMOOTH_REACH + 1} frames` : 'ms per frame',
            series: framed(every()).map(run => ({ name: run.label, values: state.smooth ? runningMedian(run.frameMs, SMOOTH_REACH) : run.frameMs })), share: shareOf(every()) }, look),
    });
    const stages = makeFigure(app, {
        name: 'stages', rows: () => runs().length, tall: rowHeight,
        make: (look, frame) => {
            const rows = runs().map(run => ({ name: run.label, stages: stagesOf(run) })).filter(row => row.stages.length > 0);
            return rows.length === 0 ? null : stageChart({ ...frame, rows, share: state.share }, look);
        },
    });

    const sizes = h('span');
    const showSizes = () => sizes.replaceChildren(picker('size', at.scene.sizes.map(size => ({ text: sizeText(size), value: size })), at.size, size => {
        at.size = size;
        redraw();
    }));
    showSizes();
    showCounters();
    const scenes = picker('scene', app.model.scenes.map(scene => ({ text: scene.name, value: scene })), at.scene, scene => {
        at.scene = scene;
        at.size = scene.sizes[scene.sizes.length - 1];
        showSizes();
        redraw();
    });
    app.figures.push(() => { heading.textContent = `One scene: ${where()} objects`; });
    const block = section('scene', 'One scene', 'Choose a scene and a size; everything below follows.',
        h('div', { class: 'controls place' }, scenes, sizes, choice('scale', SCALES, state.log, set('log'))),
        h('div', { class: 'part' }, h('h3', {}, 'Time per frame'), h('p', { class: 'about' }, 'Points on a logarithmic axis, bars on a linear one, which has a zero for them to begin at. Whiskers reach from the fastest frame to the slowest of a hundred.'), bars),
        h('div', { class: 'part' }, h('h3', {}, 'Spread over frames'), h('div', { class: 'controls' },
            choice('kind', [{ text: 'violins', value: 'violin' }, { text: 'boxes', value: 'box' }], state.kind, set('kind'))), spread),
        h('div', { class: 'part' }, h('h3', {}, 'Along the run'), h('p', { class: 'about' }, 'Each frame’s time, and below it the share of objects that rest.'),
            h('div', { class: 'controls' }, choice('scale', SCALES, state.courseLog, set('courseLog')),
                choice('smoothing', [{ text: 'each frame', value: false }, { text: `median of ${2 * SMOOTH_REACH + 1}`, value: true }], state.smooth, set('smooth'))), course),
        h('div', { class: 'part' }, h('h3', {}, 'Stages'), h('div', { class: 'controls' },
            choice('unit', [{ text: 'milliseconds', value: false }, { text: 'shares', value: true }], state.share, set('share'))), stages),
        h('div', { class: 'part' }, h('h3', {}, 'Counters'), h('p', { class: 'about' }, 'What milliseconds cannot explain, counts often do. Tests and pairs are those of the last frame, the rest are means over the frames.'), counters));
    const heading = block.querySelector('h2');
    return block;
}
