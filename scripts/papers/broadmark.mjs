// SPDX-License-Identifier: MIT
// The Broadmark paper: its claims (table II), and its page with tables I and II and figure 2.
import { each, known, ladderFigure, named, one } from './page.mjs';
import { table1Of001, table2Of001 } from './published.mjs';
import { ascending, digits, distinct, isTree, lacksPhase, ladder, mean, pick, scenes, sizeText, times, titles } from './runs.mjs';

const serial = ['001-slowest', '001-slowest-large', '001-others', '001-others-large', '001-axissweep'];
const parallel = ['001-quickest', '001-quickest-large'];
const treeParts = ['001-others', '001-others-large'];

// All of the paper's on a scene at the largest size at which the tree ran: { size, rows: [{ name, method,
// isMt, ms }] }, quickest first.
function table2(runs, scene) {
    const kd = pick(runs, treeParts, { scene, method: 'kd-paper' }).filter(isTree);
    const withMt = kd.filter(run => pick(runs, parallel, { scene, objects: run.objects }).length > 0);
    const size = Math.max(...(withMt.length > 0 ? withMt : kd).map(run => run.objects));
    const own = pick(runs, [...serial, ...parallel], { scene, objects: size }).filter(run => !['kd', 'cleave'].includes(run.method));
    const rows = own.map(run => ({ name: `${run.method}${parallel.includes(run.parts[0]) ? ` × ${run.threads}` : run.variant === 'scalar' ? ' scalar' : ''}`, method: run.method, isMt: parallel.includes(run.parts[0]), ms: run.ms_mean })).sort((a, b) => a.ms - b.ms);
    return rows.length > 1 && rows.some(row => row.method === 'kd-paper') ? { size, rows } : undefined;
}

const theirColumns = { bf: 'brute', sap: 'sap', grid_bf: 'grid', grid_sap: 'grid-sap', axissweep: 'bullet-axissweep', dbvt_f: 'bullet-dbvt-f', dbvt_d: 'bullet-dbvt-d', tracy: 'tracy', cgal: 'cgal', kd: 'kd-paper' };

const theirTitle = key => key.replace(/_([sm]t)$/, (_, kind) => ` ${kind.toUpperCase()}`).replace('grid_bf', 'Grid BF').replace('grid_sap', 'Grid SAP').replace('dbvt_f', 'DBVT F').replace('dbvt_d', 'DBVT D').replace('axissweep', 'AxisSweep').replace('tracy', 'Tracy').replace(/^(bf|sap|cgal|kd)/, name => name.toUpperCase());

/** The same of the paper's table, seconds there. */
function table2OfPaper(scene, objects = 1024000) {
    const { scene: _, objects: size, ...columns } = table2Of001().find(row => row.scene === scene && row.objects === objects);
    const rows = Object.entries(columns).filter(([key, value]) => value !== undefined && !key.startsWith('gpu')).map(([key, value]) => ({ name: theirTitle(key), method: theirColumns[key.replace(/_[sm]t$/, '')], isMt: key.endsWith('_mt'), ms: 1000 * value }));
    return { size, rows: rows.sort((a, b) => a.ms - b.ms) };
}

const kdRow = rows => rows.find(row => row.method === 'kd-paper').ms;
const mtRow = rows => rows.filter(row => row.isMt)[0];
const gridOf = rows => Math.min(...rows.filter(row => row.method.startsWith('grid') && !row.isMt).map(row => row.ms));
const firstText = ({ size, rows }) => `${sizeText(size)}: ${rows.slice(0, 3).map(row => `${row.name} ${digits(row.ms)} ms`).join(', ')}`;

// The quickest on several threads as scalar code on one, and the tree on as many threads as those that beat
// it.
function mtFacts(runs, scene, table) {
    const best = table && mtRow(table.rows);
    if (!best) return undefined;
    const slow = table.rows.find(row => !row.isMt && row.method === best.method);
    const tree = pick(runs, ['001-threads', '001-threads-large'], { scene, objects: table.size, method: 'kd-paper' }).filter(isTree)[0];
    return { ...table, serial: slow && { method: slow.method, ms: slow.ms }, threads: tree && { count: tree.threads, ms: tree.ms_mean } };
}

const mtWhy = ({ serial: slow, threads }) => [slow ? `scalar and on one core ${slow.method} takes ${digits(slow.ms)} ms` : '', threads ? `on ${threads.count} threads \`kd-paper\` takes ${digits(threads.ms)} ms` : ''].filter(Boolean).join('; ');

const gpuNames = ['gpu-sap', 'gpu-lbvh', 'gpu-grid'];

// On Free Fall at the largest size that the tree and all GPU columns ran.
function gpuFacts(runs) {
    const scene = 'freefall';
    const gpu = (method, objects) => pick(runs, ['001-gpu', '001-gpu-large'], { scene, method, objects })[0];
    const trees = pick(runs, treeParts, { scene, method: 'kd-paper' }).filter(isTree).sort((a, b) => a.objects - b.objects);
    const both = trees.filter(run => gpuNames.every(method => gpu(method, run.objects)));
    const tree = both[both.length - 1];
    if (!tree) return undefined;
    const ahead = both.filter(run => gpuNames.every(method => gpu(method, run.objects).ms_mean > run.ms_mean)).map(run => sizeText(run.objects));
    return { size: tree.objects, kd: tree.ms_mean, values: Object.fromEntries(gpuNames.map(method => [method, gpu(method, tree.objects).ms_mean])), device: gpu('gpu-grid', tree.objects).device ?? '', sizes: both.map(run => sizeText(run.objects)), ahead };
}

const gpuOfPaper = () => {
    const row = table2Of001().find(({ scene, objects }) => scene === 'freefall' && objects === 512000);
    return { size: row.objects, kd: 1000 * row.kd, values: { 'gpu-sap': 1000 * row.gpu_sap, 'gpu-lbvh': 1000 * row.gpu_lbvh, 'gpu-grid': 1000 * row.gpu_grid } };
};

/** { claim id: numbers } of Broadmark. */
export function facts001({ runs }) {
    const [fall, brownian, gravity] = scenes.map(scene => table2(runs, scene));
    return { 'grids-brownian': brownian, 'temporal-freefall': fall, 'kd-freefall': mtFacts(runs, 'freefall', fall), 'kd-gravity': mtFacts(runs, 'gravity', gravity), 'kd-brownian': brownian && Number.isFinite(gridOf(brownian.rows)) ? brownian : undefined, 'kd-gpu': gpuFacts(runs) };
}

const ratioRule = (ratio, low, high) => found => [['ratio', ratio(found.rows) >= low && ratio(found.rows) <= high]];
const overMt = rows => kdRow(rows) / mtRow(rows).ms;
const overGrid = rows => kdRow(rows) / gridOf(rows);
const ofTable2 = scene => ({ published: () => table2OfPaper(scene), publishedFrom: 'table II' });

export const rules001 = [
    {
        id: 'grids-brownian', where: 'section V, table II',
        claim: 'on Brownian solutions based on grids are favoured',
        rule: 'the quickest CPU column beside the KD-tree, at the largest size with all columns, is a grid',
        cases: ({ rows }) => [['quickest', rows.filter(row => row.method !== 'kd-paper')[0].method.startsWith('grid')]],
        show: firstText,
        ...ofTable2('brownian'),
    },
    {
        id: 'temporal-freefall', where: 'section V, table II',
        claim: 'on Free Fall temporal solutions dominate',
        rule: 'the quickest on one core is the KD-tree or DBVT F',
        cases: ({ rows }) => [['quickest', ['kd-paper', 'bullet-dbvt-f'].includes(rows.filter(row => !row.isMt)[0].method)]],
        show: ({ size, rows }) => firstText({ size, rows: rows.filter(row => !row.isMt) }),
        ...ofTable2('freefall'),
    },
    {
        id: 'kd-freefall', where: 'section V',
        claim: 'the KD-tree is the fastest on Free Fall, multi-core CPU solutions included',
        rule: 'no other CPU column is quicker',
        cases: ({ rows }) => [['quickest', rows[0].method === 'kd-paper']],
        show: firstText,
        why: mtWhy,
        ...ofTable2('freefall'),
    },
    {
        id: 'kd-gravity', where: 'section V',
        claim: 'on Gravity it performs as the best parallel CPU solutions',
        rule: '0.75 to 1.25 × the quickest MT column',
        cases: ratioRule(overMt, 0.75, 1.25),
        show: found => `${times(overMt(found.rows))}; ${firstText(found)}; KD-tree ${digits(kdRow(found.rows))} ms`,
        brief: found => `${times(overMt(found.rows))} ${mtRow(found.rows).name}`,
        why: mtWhy,
        ...ofTable2('gravity'),
    },
    {
        id: 'kd-brownian', where: 'section V',
        claim: 'on Brownian it is on par with the best serial grids',
        rule: '0.75 to 1.25 × the quickest grid on one core, as the slowest variant has it',
        cases: ratioRule(overGrid, 0.75, 1.25),
        show: found => `${times(overGrid(found.rows))}: ${digits(kdRow(found.rows))} against ${digits(gridOf(found.rows))} ms at ${sizeText(found.size)}`,
        brief: found => times(overGrid(found.rows)),
        why: found => (overGrid(found.rows) < 0.75 ? 'it is faster than on par: the grid\'s column is scalar code, as in the paper, and the tree\'s has wide instructions' : ''),
        ...ofTable2('brownian'),
    },
    {
        id: 'kd-gpu', where: 'section V',
        claim: 'on Free Fall it surpasses GPU solutions',
        rule: 'each of the three GPU columns takes longer, at the largest size all ran; column by column',
        cases: ({ kd, values }) => Object.entries(known(values)).map(([name, ms]) => [name, ms > kd]),
        show: ({ size, kd, values }) => `${sizeText(size)}: KD-tree ${digits(kd)} ms, ${named(digits, ' ms')({ values })}`,
        lacking: 'the GPU columns were not run',
        why: ({ device, sizes, ahead }) => `the paper's were a GTX 1060's and Bullet 3's, these are ours on the ${device}; of ${sizes.join(', ')} the tree is ahead at ${ahead.length > 0 ? ahead.join(', ') : 'none'}`,
        published: gpuOfPaper,
        publishedFrom: 'table II',
    },
];

// ==== the page

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

function table1Section({ methods }) {
    const others = methods.filter(method => !Object.values(families).flat().includes(method.name)).map(method => `\`${method.name}\``);
    const head = ['paper', 'principle', 'optimizations', 'temporal', 'remarks', 'time', 'space', 'here', 'runs on', 'temporal', 'remarks', 'time', 'space', 'source'];
    return {
        heading: 'Which algorithms are compared? (table I)',
        blocks: [
            'The paper has twelve families. Each has a method of ours, or of another library, beside it.',
            {
                fold: 'Table I: the algorithms',
                blocks: [
                    'On the left the paper\'s row, on the right the methods that stand for it here, as `cleave methods` tells. n objects, k pairs, s swaps, t objects per cell, T per leaf.',
                    { table: [head, ...table1Rows(methods)], left: head.length },
                    `Beyond the paper: ${others.join(', ')}.`,
                ],
            },
        ],
    };
}

const runsOf = (runs, scene) => columns.flatMap(([, , parts, method]) => pick(runs, parts, { scene, method }));

function table2Fold(runs, scene, published) {
    const own = runsOf(runs, scene);
    // One column alone has the sizes between 1k and 8k, which the paper's table leaves out.
    const sizes = ascending(own.map(run => run.objects)).filter(objects => distinct(own.filter(run => run.objects === objects).map(run => run.method)).length > 1);
    if (sizes.length === 0) return null;
    const isBetween = objects => objects > sizes[0] && objects < sizes[sizes.length - 1];
    const all = ascending([...sizes, ...published.filter(row => row.scene === scene).map(row => row.objects).filter(isBetween)]);
    const rows = columns.map(([name, key, parts, method]) => [name, ...all.flatMap(objects => {
        const run = pick(runs, parts, { scene, method, objects })[0];
        const theirs = published.find(row => row.scene === scene && row.objects === objects)?.[key];
        return [run ? `${digits(run.ms_mean)} (${digits(run.cv)})${lacksPhase(run) ? ' †' : ''}` : sizes.includes(objects) || theirs === undefined ? '' : 'not measured yet', theirs === undefined ? '' : theirs.toFixed(2)];
    })]);
    return { fold: `Table II, ${titles[scene]}: all variants`, blocks: [{ table: [['variant', ...all.flatMap(objects => [`${sizeText(objects)}, ms`, 'paper, s'])], ...rows] }, { from: own }] };
}

// The best of each family; the others are in the tables.
const drawn = ['SAP MT', 'Grid BF MT', 'Tracy MT', 'DBVT F', 'DBVT D', 'CGAL', 'KD, as published', 'GPU Grid'];

function figure2(runs, scene) {
    const series = columns.filter(([name]) => drawn.includes(name)).map(([name, , parts, method]) => ({ name: `${method}${name.endsWith(' MT') ? ' MT' : ''}`, points: ladder(pick(runs, parts, { scene, method })) })).filter(one => one.points.length > 0);
    return ladderFigure(`figure-2-${scene}`, `${titles[scene]}: mean ms per frame by number of objects, the best of each family`, { title: `${titles[scene]}, cubes: the best of each family`, series, guides: [1, 2], height: 480 });
}

function gpuText(runs) {
    const devices = distinct(pick(runs, onGpu).map(run => run.device).filter(Boolean));
    return devices.length > 0 ? ` GPU columns: ${devices.join(', ')}, by OpenCL; every frame takes boxes there and pairs back. The paper\'s are of Bullet 3.` : ' The GPU columns were not run.';
}

/**
 * Windows of other lengths are another kind of mean: a tree that keeps things needs frames before it gains by
 * them.
 */
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

function table2Section({ runs }) {
    const threads = ascending(pick(runs, quickest).map(run => run.threads)), published = table2Of001();
    return {
        heading: 'Which is fastest where? (table II and figure 2)',
        claims: rules001.map(rule => rule.id),
        blocks: [
            `ST is the slowest variant of a family: scalar code on one thread. MT is the quickest: the widest instructions${threads.length > 0 ? ` on up to ${threads.pop()} threads` : ''}. \`kd-paper\` is the KD-tree as published, on one thread.`,
            figure2(runs, 'brownian'),
            'claims',
            { fold: 'Figure 2: Gravity', blocks: [figure2(runs, 'gravity')] },
            `In the tables ours is the mean in milliseconds (coefficient of variation over the run). The paper prints two decimals of a second. A column stops after its first value above half a second, in both, and where a large size was not run. †: windows that end before the pile and the rest, so that this is not the paper\'s mean and no claim is tested by it.${gpuText(runs)}${shortText(runs)}`,
            ...scenes.map(scene => table2Fold(runs, scene, published)),
        ],
    };
}

export const paper = {
    number: '001',
    rules: rules001,
    factsOf: facts001,
    page: data => ({
        title: 'The Broadmark paper: twelve families side by side',
        question: 'Which broad phase is fastest when all run on the same scenes and the same machine: on one core, on several, and on a GPU?',
        picture: figure2(data.runs, 'freefall'),
        keys: { 'grids-brownian': 'grids are favoured where objects drift at random', 'temporal-freefall': 'methods that keep what rests lead on one core in Free Fall', 'kd-freefall': 'the KD-tree on one core beats all others on several', 'kd-gpu': 'it beats GPUs there' },
        figure: numberText(data.runs.filter(run => !lacksPhase(run))),
        runs: runsOf(data.runs, 'freefall'),
        about: ['Figure 1 of the paper shows the scenes: [README.md](README.md) has them.'],
        sections: [table1Section(data), table2Section(data)],
    }),
};
