// SPDX-License-Identifier: MIT
// The k-DOP paper's towers as a device ran them, from the files scripts/device-towers.sh writes: towers.csv, a row of means per tower, and
// tower_stages.csv (stages.csv there), means of so many frames each. Any tower, or all, may be missing.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { towers as wanted } from './grades.mjs';

function readRows(path) {
    if (!existsSync(path)) return [];
    const [head, ...lines] = readFileSync(path, 'utf8').trim().split('\n').map(line => line.split(','));
    return lines.map(line => Object.fromEntries(head.map((name, column) => [name, Number.isNaN(Number(line[column])) ? line[column] : Number(line[column])])));
}

const scaleOf = row => String(row.scale).replaceAll('x', ',');

// Columns as those of a tower's own CSV, so that the same code draws both.
function columnsOf(rows) {
    return { ...Object.fromEntries(Object.keys(rows[0]).map(name => [name, rows.map(row => row[name])])), step: rows.length > 1 ? rows[1].frame - rows[0].frame : rows[0].frame };
}

/** { name, short, means: Map "volume scale" -> row, towers: Map "volume scale" -> columns, missing: ["aabb, scale 1,3,1"] } of a folder; null without one tower. */
export function readDevice(folder) {
    const means = new Map(readRows(join(folder, 'towers.csv')).map(row => [`${row.volume} ${scaleOf(row)}`, row]));
    if (means.size === 0) return null;
    const stages = [join(folder, 'tower_stages.csv'), join(folder, 'stages.csv')].map(readRows).find(rows => rows.length > 0) ?? [];
    const keys = wanted.map(({ volume, scale }) => `${volume} ${scale}`);
    const towers = new Map(keys.map(key => [key, stages.filter(row => `${row.volume} ${scaleOf(row)}` === key)]).filter(([, rows]) => rows.length > 0).map(([key, rows]) => [key, columnsOf(rows)]));
    const machine = join(folder, 'machine.txt');
    const name = existsSync(machine) ? readFileSync(machine, 'utf8').trim() : 'a device';
    return { name, short: name.split(/[,;]/)[0], means, towers, missing: keys.filter(key => !means.has(key)) };
}
