// SPDX-License-Identifier: MIT
// Paper 001, Broadmark: Table I, Table II, figure 2. Verdicts: claims_more.mjs.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { scenes } from './figures.mjs';
import { Page, digits, sizeText } from './page.mjs';
import { table2Of001 } from './published.mjs';
import { ascending, ladder, pick } from './runs.mjs';

// Table I of the paper, and who stands for each of its rows here.
const families = [
    ['BF', 'O(n²)', ['brute']], ['SAP', 'O(n^5/3)', ['sap']], ['Grid BF', 'O(n²/t)', ['grid']], ['Grid SAP', 'O(n²/t)', ['grid-sap']],
    ['AxisSweep', 'O(n + s)', ['bullet-axissweep', 'isap']], ['DBVT', 'O(n log n)', ['bullet-dbvt-f', 'bullet-dbvt-d', 'bvh-f', 'bvh-d']],
    ['CGAL', 'O(n log³ n)', ['cgal', 'segment-tree']], ['Tracy', 'O(n + s)', ['tracy']],
    ['KD-Tree', 'O(n log n)', ['kd-paper', 'kd-paper-complete', 'kd-paper-incremental', 'kd-paper-rebuilt', 'kd', 'kd-complete', 'kd-incremental', 'kd-rebuilt']],
    ['GPU Grid, LBVH, SAP', 'N/A', ['gpu-grid', 'gpu-lbvh', 'gpu-sap']],
];

const slowest = ['001-slowest', '001-slowest-large'];
const quickest = ['001-quickest', '001-quickest-large'];
const plain = ['001-others', '001-others-large'];

// Columns of Table II: the paper's, and our parts and method.
const columns = [
    ['BF ST', 'bf_st', slowest, 'brute'], ['BF MT', 'bf_mt', quickest, 'brute'], ['SAP ST', 'sap_st', slowest, 'sap'], ['SAP MT', 'sap_mt', quickest, 'sap'],
    ['Grid BF ST', 'grid_bf_st', slowest, 'grid'], ['Grid BF MT', 'grid_bf_mt', quickest, 'grid'], ['Grid SAP ST', 'grid_sap_st', slowest, 'grid-sap'], ['Grid SAP MT', 'grid_sap_mt', quickest, 'grid-sap'],
    ['AxisSweep', 'axissweep', ['001-axissweep'], 'bullet-axissweep'], ['DBVT F', 'dbvt_f', plain, 'bullet-dbvt-f'], ['DBVT D', 'dbvt_d', plain, 'bullet-dbvt-d'],
    ['Tracy ST', 'tracy_st', slowest, 'tracy'], ['Tracy MT', 'tracy_mt', quickest, 'tracy'], ['CGAL', 'cgal', plain, 'cgal'], ['KD, as published', 'kd', plain, 'kd-paper'], ['kd, ours', null, plain, 'kd'], ['cleave', null, plain, 'cleave'],
];

function writeTable1(page, methods) {
    page.heading('Table I: the algorithms');
    page.table(['paper', 'time, paper', 'here', 'family', 'SIMD', 'threads', 'temporal', 'source', 'time, ours'], families.flatMap(([name, cost, ours]) => {
        const rows = ours.map(method => methods.find(one => one.name === method)).filter(Boolean);
        const yes = flag => (flag ? 'yes' : '');
        return rows.length > 0
            ? rows.map((row, index) => [index === 0 ? name : '', index === 0 ? cost : '', `\`${row.name}\`${row.available ? '' : ' (not installed)'}`, row.family, yes(row.simd), yes(row.threads), yes(row.temporal), row.source, row.time])
            : [[name, cost, 'not here', '', '', '', '', '', '']];
    }), { left: 9 });
    const missing = families.filter(([, , ours]) => !ours.some(method => methods.some(one => one.name === method))).map(([name]) => name);
    const others = methods.filter(method => !families.some(([, , ours]) => ours.includes(method.name))).map(method => `\`${method.name}\``);
    page.text(`${missing.length > 0 ? `Not here: ${missing.join(', ')}. ` : ''}Beyond the paper: ${others.join(', ')}.`);
}

const listed = (runs, scene) => columns.flatMap(([, , parts, method]) => pick(runs, parts, { scene, method }));

function writeTable2(page, runs, scene, published) {
    const sizes = ascending(listed(runs, scene).map(run => run.objects));
    if (sizes.length === 0) return;
    page.heading(`Table II: ${scene}`);
    page.table(['variant', ...sizes.flatMap(objects => [`${sizeText(objects)}, ms`, 'paper, s'])], columns.map(([name, key, parts, method]) => [name, ...sizes.flatMap(objects => {
        const run = pick(runs, parts, { scene, method, objects })[0];
        const theirs = published.find(row => row.scene === scene && row.objects === objects)?.[key];
        return [run ? `${digits(run.ms_mean)} (${digits(run.cv)})` : '', theirs === undefined ? '' : theirs.toFixed(2)];
    })]));
    page.from(listed(runs, scene));
}

export function writePage(folder, { runs, methods }, claims) {
    const page = new Page(folder, '001', 'The Broadmark paper (001)');
    const published = table2Of001();
    const threads = ascending(pick(runs, quickest).map(run => run.threads));
    page.text('Serpa, *Broad Phase Collision Detection: New Methodology and Solution*. Schedule: `paper-001`. Figure 1 is pictures of the scenes; there is no renderer yet.');
    writeTable1(page, methods);
    page.text(`ST is the slowest variant of a family: scalar code on one thread. MT is the quickest: the widest instructions${threads.length > 0 ? ` on up to ${threads.pop()} threads` : ''}. Ours: mean in milliseconds (coefficient of variation over the run). The paper prints two decimals of a second; a column stops after its first value above half a second, in both, and where a large size was not run.`);
    for (const scene of scenes) writeTable2(page, runs, scene, published);
    page.heading('Figure 2: the same as curves');
    for (const scene of scenes) {
        const series = columns.map(([name, , parts, method]) => ({ name, points: ladder(pick(runs, parts, { scene, method })) })).filter(one => one.points.length > 0);
        if (series.length > 0) page.figure(`figure-2-${scene}`, `${scene}: mean ms per frame`, ladderChart({ title: scene, series, guides: [1, 2] }), { height: 480 });
    }
    page.claims(claims);
    page.write();
}
