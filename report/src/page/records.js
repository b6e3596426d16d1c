// SPDX-License-Identifier: MIT
// What is only read: hashes, failures, machines, every run.
import { bytesText, fixedText, numberText, sizeText } from '../model/numbers.js';
import { h } from './dom.js';
import { sortableTable } from './grid.js';
import { section } from './sections.js';

const MOST_ROWS = 5000;

const names = runs => [...new Set(runs.map(run => run.label))];
const where = group => `${group.sceneName}, ${sizeText(group.objects)} objects, ${group.frames} frames`;

function disagreement(group) {
    return h('div', { class: 'alarm', role: 'alert' }, h('strong', {}, `${where(group)}: ${group.hashes.length} different answers`),
        h('table', {}, h('tbody', {}, group.hashes.map(({ hash, runs }) => h('tr', {}, h('td', {}, h('code', {}, hash)),
            h('td', { class: 'number' }, `${numberText(runs[0].pairs)} pairs last`), h('td', {}, names(runs).join(', ')))))));
}

/** Loud where runs over the same boxes found different pairs; null where they agree. */
export function alarmSection(app) {
    const bad = app.model.hashes.filter(group => !group.agrees);
    return bad.length === 0 ? null : section('alarm', 'Results disagree', 'Runs over the same boxes must find the same pairs, and these did not: at least one method is wrong. Times of wrong answers mean nothing.', bad.map(disagreement));
}

export function hashSection(app) {
    if (app.model.hashes.length === 0) return null;
    const columns = [{ name: 'scene' }, { name: 'objects', isNumber: true }, { name: 'frames', isNumber: true }, { name: 'runs', isNumber: true }, { name: 'verdict' }, { name: 'hash' }];
    const rows = app.model.hashes.map(group => [group.sceneName, { text: sizeText(group.objects), value: group.objects }, { text: String(group.frames), value: group.frames },
        { text: String(group.hashes.reduce((sum, { runs }) => sum + runs.length, 0)), value: group.hashes.reduce((sum, { runs }) => sum + runs.length, 0) },
        group.agrees ? { text: 'all agree', value: 1, kind: 'good' } : { text: `${group.hashes.length} different`, value: 0, kind: 'bad' },
        { text: group.hashes.map(({ hash }) => hash).join(' ≠ '), value: group.hashes[0].hash, kind: 'code' }]);
    return section('hashes', 'Agreement', 'A hash over every pair of every frame; it depends on the pairs alone, not on order, method, instruction set or threads. Runs that report grown boxes are left out.', sortableTable(columns, rows, { caption: 'hashes' }));
}

export function failureSection(app) {
    if (app.model.failed.length === 0) return null;
    const groups = new Map();
    for (const run of app.model.failed) {
        const key = JSON.stringify([run.label, run.status, run.reason]);
        groups.set(key, [...(groups.get(key) ?? []), run]);
    }
    const columns = [{ name: 'method' }, { name: 'status' }, { name: 'reason' }, { name: 'runs', isNumber: true }, { name: 'where' }];
    const rows = [...groups.values()].map(runs => {
        const places = [...new Set(runs.map(run => `${run.sceneName} ${sizeText(run.objects)}`))];
        return [runs[0].label, { text: runs[0].status, value: runs[0].status, kind: runs[0].status === 'unavailable' ? '' : 'bad' }, runs[0].reason || '–',
            { text: String(runs.length), value: runs.length }, { text: places.length > 4 ? `${places.slice(0, 3).join(', ')} and ${places.length - 3} more` : places.join(', '), value: places.length, title: places.join(', ') }];
    });
    return section('failures', 'Runs without a result', null, sortableTable(columns, rows, { caption: 'runs without a result' }));
}

const factText = value => (value === null ? '–' : typeof value === 'number' && !Number.isInteger(value) ? numberText(value) : typeof value === 'object' ? JSON.stringify(value) : String(value));

export function machineSection(app) {
    const keys = [...new Set(app.model.files.flatMap(file => Object.keys(file.machine)))];
    const columns = [{ name: 'file' }, { name: 'cleave' }, { name: 'runs', isNumber: true }, ...keys.map(name => ({ name }))];
    const rows = app.model.files.map(file => [file.name, file.version || '–', { text: String(file.count), value: file.count }, ...keys.map(key => factText(file.machine[key] ?? null))]);
    return section('machine', 'Machine', null, sortableTable(columns, rows, { caption: 'machines' }));
}

export function runSection(app) {
    const columns = ['scene', 'objects', 'frames', 'method', 'variant', 'threads', 'settings', 'median ms', 'mean ms', 'min ms', 'p99 ms', 'update ms', 'search ms', 'pairs', 'tests', 'memory', 'status', 'file']
        .map((name, index) => ({ name, isNumber: [1, 2, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15].includes(index) }));
    const time = value => ({ text: fixedText(value), value });
    const count = value => ({ text: numberText(value), value });
    const rows = app.model.all.map(run => [run.sceneName, { text: sizeText(run.objects), value: run.objects }, count(run.frames), run.method, run.variant, count(run.threads),
        run.settings.map(([name, value]) => `${name}=${value}`).join(' '), time(run.median), time(run.mean), time(run.min), time(run.p99), time(run.update), time(run.search),
        count(run.pairs), count(run.tests), { text: bytesText(run.memory), value: run.memory }, { text: run.status, value: run.status, kind: run.status === 'ok' ? '' : 'bad', title: run.reason || null }, run.file]);
    return section('runs', 'Every run', rows.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${rows.length} in the order chosen.` : null, sortableTable(columns, rows, { caption: 'every run', most: MOST_ROWS }));
}
