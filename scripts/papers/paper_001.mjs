// SPDX-License-Identifier: MIT
// The Broadmark paper, Broadmark: Table I, Table II, figure 2. Verdicts: claims_more.mjs.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { scenes, titles } from './figures.mjs';
import { citationOf, papers } from './names.mjs';
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
    page.heading('Which algorithms are compared? (table I)');
    page.text('The paper has twelve families. Each has a method of ours, or of another library, beside it.');
    page.details('Table I: the algorithms', () => {
        page.text('On the left the paper\'s row, on the right the methods that stand for it here, as `cleave methods` tells. n objects, k pairs, s swaps, t objects per cell, T per leaf.');
        page.table(['paper', 'principle', 'optimizations', 'temporal', 'remarks', 'time', 'space', 'here', 'runs on', 'temporal', 'remarks', 'time', 'space', 'source'], table1Rows(methods), { left: 14 });
        const others = methods.filter(method => !Object.values(families).flat().includes(method.name)).map(method => `\`${method.name}\``);
        page.text(`Beyond the paper: ${others.join(', ')}.`);
    });
}

const listed = (runs, scene) => columns.flatMap(([, , parts, method]) => pick(runs, parts, { scene, method }));

function writeTable2(page, runs, scene, published) {
    // One column alone has the sizes between 1k and 8k, which the paper's table leaves out.
    const sizes = ascending(listed(runs, scene).map(run => run.objects)).filter(objects => distinct(listed(runs, scene).filter(run => run.objects === objects).map(run => run.method)).length > 1);
    if (sizes.length === 0) return;
    page.details(`Table II, ${titles[scene]}: all variants`, () => {
        page.table(['variant', ...sizes.flatMap(objects => [`${sizeText(objects)}, ms`, 'paper, s'])], columns.map(([name, key, parts, method]) => [name, ...sizes.flatMap(objects => {
            const run = pick(runs, parts, { scene, method, objects })[0];
            const theirs = published.find(row => row.scene === scene && row.objects === objects)?.[key];
            return [run ? `${digits(run.ms_mean)} (${digits(run.cv)})` : '', theirs === undefined ? '' : theirs.toFixed(2)];
        })]));
        page.from(listed(runs, scene));
    });
}

// The best of each family; the others are in the tables.
const drawn = ['SAP MT', 'Grid BF MT', 'Tracy MT', 'DBVT F', 'DBVT D', 'CGAL', 'KD, as published', 'GPU Grid'];

function figure2(page, runs, scene) {
    const series = columns.filter(([name]) => drawn.includes(name)).map(([name, , parts, method]) => ({ name: `${method}${name.endsWith(' MT') ? ' MT' : ''}`, points: ladder(pick(runs, parts, { scene, method })) })).filter(one => one.points.length > 0);
    if (series.length > 0) page.figure(`figure-2-${scene}`, `${titles[scene]}: mean ms per frame by number of objects, the best of each family`, ladderChart({ title: `${titles[scene]}, cubes: the best of each family`, series, guides: [1, 2] }), { height: 480 });
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

function numberText(runs) {
    const own = pick(runs, plain, { scene: 'freefall', method: 'kd-paper' });
    const objects = Math.max(...own.map(run => run.objects));
    const tree = own.find(run => run.objects === objects)?.ms_mean;
    const many = pick(runs, quickest, { scene: 'freefall', objects }).sort((a, b) => a.ms_mean - b.ms_mean)[0];
    return tree && many ? `With ${sizeText(objects)} cubes in Free Fall the tree as published takes ${digits(tree)} ms on one thread; the quickest method on ${many.threads} threads, \`${many.method}\`, takes ${digits(many.ms_mean)} ms.` : '';
}

export function writePage(folder, { runs, methods, isStored = false }, claims) {
    const page = new Page(folder, '001', 'The Broadmark paper: twelve families side by side', { name: papers.get('001').file, isStored });
    const published = table2Of001();
    const threads = ascending(pick(runs, quickest).map(run => run.threads));
    page.text(`${citationOf('001')}.`);
    page.story({
        question: 'Which broad phase is fastest when all run on the same scenes and the same machine: on one core, on several, and on a GPU?',
        picture: () => figure2(page, runs, 'freefall'), claims, keys: { 'grids-brownian': 'grids are favoured where objects drift at random', 'temporal-freefall': 'methods that keep what rests lead on one core in Free Fall', 'kd-freefall': 'the KD-tree on one core beats all others on several', 'kd-gpu': 'it beats GPUs there' }, number: numberText(runs), runs: listed(runs, 'freefall'),
    });
    page.text('Figure 1 of the paper shows the scenes: [README.md](README.md) has them.');
    writeTable1(page, methods);
    page.heading('Which is fastest where? (table II and figure 2)');
    page.text(`ST is the slowest variant of a family: scalar code on one thread. MT is the quickest: the widest instructions${threads.length > 0 ? ` on up to ${threads.pop()} threads` : ''}. \`kd-paper\` is the KD-tree as published, on one thread.`);
    figure2(page, runs, 'brownian');
    page.claims(claims);
    page.details('Figure 2: Gravity', () => figure2(page, runs, 'gravity'));
    page.text(`In the tables ours is the mean in milliseconds (coefficient of variation over the run). The paper prints two decimals of a second. A column stops after its first value above half a second, in both, and where a large size was not run.${gpuText(runs)}${shortText(runs)}`);
    for (const scene of scenes) writeTable2(page, runs, scene, published);
    page.text('Run again with `make papers`; the schedule is `paper-001`.');
    page.write();
}
