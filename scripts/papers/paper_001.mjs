// SPDX-License-Identifier: MIT
// The Broadmark paper, Broadmark: Table I, Table II, figure 2. Verdicts: claims_more.mjs.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { scenes } from './figures.mjs';
import { titleOf } from './names.mjs';
import { Page, digits, sizeText } from './page.mjs';
import { table1Of001, table2Of001 } from './published.mjs';
import { ascending, distinct, ladder, pick } from './runs.mjs';

// Who stands for the rows of the paper's Table I here.
const families = {
    BF: ['brute'], SAP: ['sap'], 'Grid BF': ['grid'], 'Grid SAP': ['grid-sap'], AxisSweep: ['bullet-axissweep', 'isap'], DBVT: ['bullet-dbvt-f', 'bullet-dbvt-d', 'bvh-f', 'bvh-d'], CGAL: ['cgal', 'segment-tree'], Tracy: ['tracy'],
    'KD-Tree': ['kd-paper', 'kd-paper-complete', 'kd-paper-incremental', 'kd-paper-rebuilt', 'kd', 'kd-complete', 'kd-incremental', 'kd-rebuilt'],
    'GPU Grid': ['gpu-grid'], 'GPU LBVH': ['gpu-lbvh'], 'GPU SAP': ['gpu-sap'],
};

const slowest = ['001-slowest', '001-slowest-large'];
const quickest = ['001-quickest', '001-quickest-large'];
const plain = ['001-others', '001-others-large'];
const threaded = ['001-threads', '001-threads-large'];
const onGpu = ['001-gpu', '001-gpu-large'];

// Columns of Table II: the paper's, and our parts and method.
const columns = [
    ['BF ST', 'bf_st', slowest, 'brute'], ['BF MT', 'bf_mt', quickest, 'brute'], ['SAP ST', 'sap_st', slowest, 'sap'], ['SAP MT', 'sap_mt', quickest, 'sap'],
    ['Grid BF ST', 'grid_bf_st', slowest, 'grid'], ['Grid BF MT', 'grid_bf_mt', quickest, 'grid'], ['Grid SAP ST', 'grid_sap_st', slowest, 'grid-sap'], ['Grid SAP MT', 'grid_sap_mt', quickest, 'grid-sap'],
    ['AxisSweep', 'axissweep', ['001-axissweep'], 'bullet-axissweep'], ['DBVT F', 'dbvt_f', plain, 'bullet-dbvt-f'], ['DBVT D', 'dbvt_d', plain, 'bullet-dbvt-d'],
    ['Tracy ST', 'tracy_st', slowest, 'tracy'], ['Tracy MT', 'tracy_mt', quickest, 'tracy'], ['CGAL', 'cgal', plain, 'cgal'], ['KD, as published', 'kd', plain, 'kd-paper'], ['kd, ours', null, plain, 'kd'], ['cleave', null, plain, 'cleave'],
    ['KD, as published, MT', null, threaded, 'kd-paper'], ['kd, ours, MT', null, threaded, 'kd'], ['cleave MT', null, threaded, 'cleave'],
    ['GPU SAP', 'gpu_sap', onGpu, 'gpu-sap'], ['GPU LBVH', 'gpu_lbvh', onGpu, 'gpu-lbvh'], ['GPU Grid', 'gpu_grid', onGpu, 'gpu-grid'], ['gpu, ours', null, onGpu, 'gpu'],
];

/** Rows of Table I: the paper's on the left, once per family, each method of ours on the right. */
export function table1Rows(methods) {
    const yes = flag => (flag ? 'yes' : '');
    const runsOn = method => [...(method.simd ? ['SIMD'] : []), ...(method.threads ? ['threads'] : []), ...(method.gpu ? ['GPU'] : [])].join(' + ');
    return table1Of001().flatMap(({ algorithm, principle, optimizations, temporal, remarks, time, space }) => {
        const theirs = [algorithm, principle, optimizations, temporal, remarks, time, space];
        const rows = families[algorithm].map(name => methods.find(method => method.name === name)).filter(Boolean);
        const ours = rows.map(method => [`\`${method.name}\`${method.available ? '' : ' (not installed)'}`, runsOn(method), yes(method.temporal), method.remarks ?? '', method.time ?? '', method.space ?? '', method.source]);
        return (ours.length > 0 ? ours : [['not here', '', '', '', '', '', '']]).map((own, index) => [...(index === 0 ? theirs : theirs.map(() => '')), ...own]);
    });
}

function writeTable1(page, methods) {
    page.heading('Table I: the algorithms');
    page.text('On the left the paper\'s row, on the right who stands for it here, as `cleave methods` tells. n objects, k pairs, s swaps, t objects per cell, T per leaf.');
    page.table(['paper', 'principle', 'optimizations', 'temporal', 'remarks', 'time', 'space', 'here', 'runs on', 'temporal', 'remarks', 'time', 'space', 'source'], table1Rows(methods), { left: 14 });
    const others = methods.filter(method => !Object.values(families).flat().includes(method.name)).map(method => `\`${method.name}\``);
    page.text(`Beyond the paper: ${others.join(', ')}.`);
}

const listed = (runs, scene) => columns.flatMap(([, , parts, method]) => pick(runs, parts, { scene, method }));

function writeTable2(page, runs, scene, published) {
    // One column alone has the sizes between 1k and 8k, which the paper's table leaves out.
    const sizes = ascending(listed(runs, scene).map(run => run.objects)).filter(objects => distinct(listed(runs, scene).filter(run => run.objects === objects).map(run => run.method)).length > 1);
    if (sizes.length === 0) return;
    page.heading(`Table II: ${scene}`);
    page.table(['variant', ...sizes.flatMap(objects => [`${sizeText(objects)}, ms`, 'paper, s'])], columns.map(([name, key, parts, method]) => [name, ...sizes.flatMap(objects => {
        const run = pick(runs, parts, { scene, method, objects })[0];
        const theirs = published.find(row => row.scene === scene && row.objects === objects)?.[key];
        return [run ? `${digits(run.ms_mean)} (${digits(run.cv)})` : '', theirs === undefined ? '' : theirs.toFixed(2)];
    })]));
    page.from(listed(runs, scene));
}

function gpuText(runs) {
    const devices = distinct(pick(runs, onGpu).map(run => run.device).filter(Boolean));
    return devices.length > 0 ? ` GPU columns: ${devices.join(', ')}, by OpenCL; every frame takes boxes there and pairs back. The paper\'s are of Bullet 3.` : ' The GPU columns were not run.';
}

/** Windows of other lengths are another kind of mean: a tree that keeps things needs frames before it gains by them. */
export function shortText(runs) {
    const frames = parts => distinct(pick(runs, parts).flatMap(run => run.windows.map(window => window.frames))).sort((a, b) => a - b);
    const sets = [[threaded[0], plain[0]], [threaded[1], plain[1]]].map(([many, one]) => [frames(many), frames(one)]).filter(([many, one]) => many.length > 0 && one.length > 0 && many.join() !== one.join());
    return sets.length > 0 ? ` The trees' MT columns are from windows of ${sets.map(([many, one]) => `${many.join(' or ')} frames where those of one thread have ${one.join(' or ')}`).join(', and of ')}, of which the first does not count: short for what a tree keeps, so they show less than several threads gain. The schedule has the same windows for both by now.` : '';
}

export function writePage(folder, { runs, methods }, claims) {
    const page = new Page(folder, '001', titleOf('001'));
    const published = table2Of001();
    const threads = ascending(pick(runs, quickest).map(run => run.threads));
    page.text('Serpa, *Broad Phase Collision Detection: New Methodology and Solution*. Schedule: `paper-001`. Figure 1 is pictures of the scenes: README.md has them.');
    writeTable1(page, methods);
    page.text(`ST is the slowest variant of a family: scalar code on one thread. MT is the quickest: the widest instructions${threads.length > 0 ? ` on up to ${threads.pop()} threads` : ''}. Ours: mean in milliseconds (coefficient of variation over the run). The paper prints two decimals of a second; a column stops after its first value above half a second, in both, and where a large size was not run.${gpuText(runs)}${shortText(runs)}`);
    for (const scene of scenes) writeTable2(page, runs, scene, published);
    page.heading('Figure 2: the same as curves');
    for (const scene of scenes) {
        const series = columns.map(([name, , parts, method]) => ({ name, like: `${method} ${name}`, points: ladder(pick(runs, parts, { scene, method })) })).filter(one => one.points.length > 0);
        if (series.length > 0) page.figure(`figure-2-${scene}`, `${scene}: mean ms per frame`, ladderChart({ title: scene, series, guides: [1, 2] }), { height: Math.max(480, 40 + 22 * series.length) });
    }
    page.claims(claims);
    page.write();
}
