// SPDX-License-Identifier: MIT
// The part of the page about more workers: a plot and a table per world that was run with
// several numbers of them.
import { scalingChart } from '../charts/scaling.js';
import { bytesText, fixedText, numberText, sizeText } from '../model/numbers.js';
import { workersOf } from '../model/scaling.js';
import { h } from './dom.js';
import { makeFigure } from './figure.js';
import { sortableTable } from './grid.js';
import { section } from './sections.js';

export const scalingTitle = ({ kind, sceneName, objects }) =>
    (kind === 'strong' ? `${sceneName}, ${sizeText(objects)} objects, more workers` : `${sceneName}, ${sizeText(objects)} objects for each worker`);

const percent = value => ({ text: value === null ? '–' : `${numberText(100 * value)} %`, value });

function scalingTable(scaling) {
    const columns = [{ name: 'workers are' }, ...['number', 'objects', 'ms per frame', scaling.kind === 'strong' ? 'speed-up' : 'efficiency', 'ghosts', 'imbalance', 'bytes sent']
        .map(name => ({ name, isNumber: true }))];
    const rows = scaling.series.flatMap(one => one.runs.map((run, index) => [
        one.name, { text: String(workersOf(run)), value: workersOf(run) }, { text: sizeText(run.objects), value: run.objects }, { text: fixedText(run.median), value: run.median },
        scaling.kind === 'strong' ? { text: numberText(one.points[index][1]), value: one.points[index][1] } : percent(one.points[index][1]),
        percent(run.ghosts === null ? null : run.ghosts / run.objects), percent(run.imbalance),
        { text: run.bytesSent === null ? '–' : bytesText(run.bytesSent), value: run.bytesSent },
    ]));
    return sortableTable(columns, rows, { caption: scalingTitle(scaling) });
}

export function scalingSection(app) {
    const { scalings } = app.model;
    if (scalings.length === 0) return null;
    const parts = scalings.map(scaling => h('div', { class: 'part' }, h('h3', {}, scalingTitle(scaling)),
        makeFigure(app, {
            name: `${scaling.kind} scaling: ${scalingTitle(scaling)}`, rows: () => scaling.series.length, least: 360,
            names: scaling.series.map(one => one.name),
            make: (look, frame) => scalingChart({ ...frame, ...scaling }, look),
        }), scalingTable(scaling)));
    return section('scaling', 'More workers', 'One world shared by more and more processes or threads, and worlds that grow with them. Dotted: ideal.', ...parts);
}
