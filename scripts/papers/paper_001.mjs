// SPDX-License-Identifier: MIT
// Paper 001, Broadmark: Table I, Table II, figure 2.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { Page, digits, sizeText } from './page.mjs';
import { table2Of001 } from './published.mjs';
import { scenes } from './paper_004.mjs';
import { ascending, ladder, pick } from './runs.mjs';

// Table I of the paper, and who stands for each of its rows here.
const families = [
    ['BF', 'O(n²)', ['brute']], ['SAP', 'O(n^5/3)', ['sap']], ['Grid BF', 'O(n²/t)', ['grid']], ['Grid SAP', 'O(n²/t)', ['grid-sap']],
    ['AxisSweep', 'O(n + s)', ['bullet-axissweep', 'isap']], ['DBVT', 'O(n log n)', ['bullet-dbvt-f', 'bullet-dbvt-d', 'bvh-f', 'bvh-d']],
    ['CGAL', 'O(n log³ n)', ['cgal', 'segment-tree']], ['Tracy', 'O(n + s)', ['tracy']], ['KD-Tree', 'O(n log n)', ['kd', 'kd-complete', 'kd-incremental', 'kd-rebuilt']],
    ['GPU Grid, LBVH, SAP', 'N/A', ['gpu-grid', 'gpu-lbvh', 'gpu-sap']],
];

// Columns of Table II: the paper's, and our part and method.
const columns = [
    ['BF ST', 'bf_st', '001-slowest', 'brute'], ['BF MT', 'bf_mt', '001-quickest', 'brute'], ['SAP ST', 'sap_st', '001-slowest', 'sap'], ['SAP MT', 'sap_mt', '001-quickest', 'sap'],
    ['Grid BF ST', 'grid_bf_st', '001-slowest', 'grid'], ['Grid BF MT', 'grid_bf_mt', '001-quickest', 'grid'], ['Grid SAP ST', 'grid_sap_st', '001-slowest', 'grid-sap'], ['Grid SAP MT', 'grid_sap_mt', '001-quickest', 'grid-sap'],
    ['AxisSweep', 'axissweep', '001-others', 'bullet-axissweep'], ['DBVT F', 'dbvt_f', '001-others', 'bullet-dbvt-f'], ['DBVT D', 'dbvt_d', '001-others', 'bullet-dbvt-d'],
    ['Tracy ST', 'tracy_st', '001-slowest', 'tracy'], ['Tracy MT', 'tracy_mt', '001-quickest', 'tracy'], ['CGAL', 'cgal', '001-others', 'cgal'], ['KD', 'kd', '001-others', 'kd'], ['cleave', null, '001-others', 'cleave'],
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
    const others = methods.filter(method => !families.some(([, , ours]) => ours.includes(method.name))).map(method => `\`${method.name}\``);
    page.text(`Every family of the paper that needs no GPU is here, Bullet's and CGAL's as modules and again in our own code. Beyond it: ${others.join(', ')}.`);
}

function writeTable2(page, runs, scene, published) {
    const own = (part, method, objects) => pick(runs, part, { scene, method, objects })[0];
    const sizes = ascending(runs.filter(run => run.scene === scene && run.parts.some(part => part.startsWith('001-'))).map(run => run.objects));
    page.heading(`Table II: ${scene}`);
    page.table(['variant', ...sizes.flatMap(objects => [`${sizeText(objects)}, ms`, 'paper, s'])], columns.map(([name, key, part, method]) => [name, ...sizes.flatMap(objects => {
        const run = own(part, method, objects);
        const theirs = published.find(row => row.scene === scene && row.objects === objects)?.[key];
        return [run ? `${digits(run.ms_mean)} (${digits(run.cv)})` : '', theirs === undefined ? '' : theirs.toFixed(2)];
    })]));
}

function rankSentence(runs, scene) {
    const own = columns.flatMap(([name, , part, method]) => pick(runs, part, { scene, method }).map(run => ({ name, run })));
    const most = Math.max(...own.map(({ run }) => run.objects));
    const ranked = own.filter(({ run }) => run.objects === most).sort((a, b) => a.run.ms_mean - b.run.ms_mean).map(({ name }) => name);
    return `${scene} at ${sizeText(most)}: ${ranked.slice(0, 4).join(', ')} … ${ranked.slice(-2).join(', ')}`;
}

export function writePage(folder, { runs, methods, machine }) {
    const page = new Page(folder, '001', 'The Broadmark paper (001)');
    const published = table2Of001();
    const threads = Math.max(...pick(runs, '001-quickest').map(run => run.threads), 1);
    page.text('Serpa, *Broad Phase Collision Detection: New Methodology and Solution*. Schedule: `paper-001`.');
    writeTable1(page, methods);
    page.text(`ST is the slowest variant of a family: scalar code on one thread. MT is the quickest: the widest instructions (${machine.isa}) on ${threads} threads. Ours: mean in milliseconds (coefficient of variation). The paper prints two decimals of a second; a column stops after its first value above half a second, in both.`);
    for (const scene of scenes) writeTable2(page, runs, scene, published);
    page.heading('Figure 2: the same as curves');
    for (const scene of scenes) {
        const series = columns.map(([name, , part, method]) => ({ name, points: ladder(pick(runs, part, { scene, method })) })).filter(one => one.points.length > 0);
        page.figure(`figure-2-${scene}`, `${scene}: mean ms per frame`, ladderChart({ title: scene, series, guides: [1, 2] }), { height: 460 });
    }
    page.text(`From quickest to slowest: ${scenes.map(scene => rankSentence(runs, scene)).join('; ')}. The paper names grids the favourites of Brownian, temporal methods those of Free Fall, and the KD-tree the one that is good on all; brute force and sweep-and-prune alone fall behind with size.`);
    page.write();
}
