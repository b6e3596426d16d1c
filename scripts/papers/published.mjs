// SPDX-License-Identifier: MIT
// The papers themselves: what they are called in texts, and the numbers they print
// (bench/papers/published/*.csv). Files, schedules and their parts have numbers instead of names, in the
// order in which we read the papers.
import { readFileSync } from 'node:fs';

// ---- names

/**
 * Number -> { label, file, authors, title, original, year }: the title in English, the original where it is
 * another; in the order of the pages.
 */
export const papers = new Map([
    ['004', { label: 'KD-tree', file: 'kd-tree', authors: 'Serpa and Rodrigues', title: 'Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision Detection Using KD-Trees', where: 'Computer Graphics Forum, 2019' }],
    ['000', { label: 'earlier KD-tree', file: 'earlier-kd-tree', authors: 'Serpa and Rodrigues', title: 'Spatial, Temporal and Order Relations for General and Scalable Broad-Phase Collision Detection', original: 'Relações Espaciais, Temporais e de Ordem para Detecção de Colisão Broad Phase Genérica e Escalável' }],
    ['001', { label: 'Broadmark', file: 'broadmark', authors: 'Serpa and Rodrigues', title: 'Broad Phase Collision Detection: New Methodology and Solution for Standardized Analysis of Algorithms' }],
    ['002', { label: 'RAY KD-tree', file: 'ray-kd-tree', authors: 'Serpa and Rodrigues', title: 'Broad-Phase Collision Detection with the RAY KD-Tree: An Efficient and Adaptive Approach', original: 'Detecção de Colisão Broad Phase com RAY KD-Tree: Uma Abordagem Eficiente e Adaptativa', where: '2015' }],
    ['003', { label: 'k-DOP', file: 'k-dop', authors: 'Amaral', title: 'Collision Detection Using Sweep and Prune with k-DOPs on the GPU', original: 'Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU', where: 'COPPE, 2021' }],
]);

/** Authors, title in English, the original beside it, where and when. */
export function citationOf(paper) {
    const { authors, title, original, where } = papers.get(paper);
    return `${authors}, *${title}*${original ? ` (in Portuguese: *${original}*)` : ''}${where ? `, ${where}` : ''}`;
}

/** The page's file, and a link to it. */
export const fileOf = paper => `${papers.get(paper).file}.md`;
export const linkOf = paper => `[${labelOf(paper)}](${fileOf(paper)})`;

/** "KD-tree", for links and tables. */
export const labelOf = paper => papers.get(paper).label;

// ---- numbers

/** Fields may stand in quotes; none of these files has a quote within one. */
function readRows(name) {
    const text = readFileSync(new URL(`../../bench/papers/published/${name}`, import.meta.url), 'utf8');
    const [head, ...lines] = text.trim().split(/\r?\n/).map(line => [...line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)].map(match => match[2] ?? match[1]));
    return lines.map(line => Object.fromEntries(head.map((key, column) => [key, line[column]]).filter(([key]) => key !== ''))); // the pattern also matches the end of a line
}

const number = text => (text === '' || text === 'NA' || text === undefined ? undefined : Number(text));

/** The KD-tree paper's tables: Map "scene method" -> Map objects -> ms. Methods as we name them. */
function wideTable(name) {
    const names = { dbvt_f: 'bullet-dbvt-f', dbvt_d: 'bullet-dbvt-d' };
    return new Map(readRows(name).map(({ scene, type, method, unit, ...sizes }) =>
        [`${scene} ${names[method] ?? method}`, new Map(Object.entries(sizes).map(([objects, ms]) => [Number(objects), number(ms)]))]));
}

export const table1Of004 = () => wideTable('004-table-1.csv');
export const table2Of004 = () => wideTable('004-table-2.csv');

/** The Broadmark paper's Table I: rows { algorithm, principle, remarks, time, space, … }. */
export const table1Of001 = () => readRows('001-table-1.csv');

/** The Broadmark paper's Table II: rows { scene, objects, bf_st: seconds, … }. */
export const table2Of001 = () => readRows('001-table-2.csv').map(({ scene, type, objects, unit, ...columns }) =>
    ({ scene, objects: Number(objects), ...Object.fromEntries(Object.entries(columns).map(([key, value]) => [key, number(value)])) }));

export const pairsOf003 = () => readRows('003-tables-5.1-5.2.csv').map(row =>
    ({ scale: row.scale.replaceAll('x', ','), volume: row.volume, mean: Number(row.pairs_mean_per_frame), most: Number(row.pairs_max) }));

export const timesOf003 = () => readRows('003-table-5.3.csv').map(row =>
    ({ volume: row.volume, '1,1,1': Number(row.ms_per_frame_unscaled), '1,3,1': Number(row.ms_per_frame_scaled) }));

/** Numbers that a text gives, by "paper quantity": Map -> text. */
export const textValues = () => new Map(readRows('000-002-004-text.csv').map(row => [`${row.seed} ${row.quantity}`, row.value]));
export const textOf003 = () => new Map(readRows('003-text.csv').map(row => [row.quantity, Number(row.value)]));

/**
 * The KD-tree paper's released program, which stands in where a figure has no numbers: leaf sizes, { scene: {
 * T: ms } }.
 */
export const releasedLeaf = () => Object.fromEntries(readRows('004-released-leaf.csv').map(({ scene, objects, ...leaves }) => [scene, Object.fromEntries(Object.entries(leaves).map(([leaf, ms]) => [leaf, Number(ms)]))]));

/** Its variants: [{ scene, share of static objects, complete, incremental, adaptive }], ms. */
export const releasedVariants = () => readRows('004-released-variants.csv').map(row => ({ scene: row.scene, share: Number(row.static_percent) / 100, complete: Number(row.complete), incremental: Number(row.incremental), adaptive: Number(row.adaptive) }));
