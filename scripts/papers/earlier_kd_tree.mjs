// SPDX-License-Identifier: MIT
// The earlier KD-tree paper, the same algorithm in its first form: its claims (figures 3 to 5, coefficient of
// variation), and its page.
import { sweepChart } from '../../report/src/charts/sweep.js';
import { leafNotes, simdOf, simdWhy } from './kd_tree.mjs';
import { between, each, gainChart, known, ladderFigure, named, one, range, seriesBy } from './page.mjs';
import { table1Of004, textValues } from './published.mjs';
import { ascending, bestOther, digits, distinct, gainBetween, gainPoints, isTree, kdOf, lacksPhase, mean, mergeTrees, peers, pick, scenes, sizeText, times, titles } from './runs.mjs';

const isNumber = value => value !== undefined && !Number.isNaN(value);
const isFull = values => Object.keys(values ?? {}).length > 0;
const facts = (values, more = {}) => (isFull(known(values)) ? { values: known(values), ...more } : undefined);

/** Mean over the scenes by T: [{ leaf, ms, height }], only where every scene has a tree. */
export function meanLeaf(runs, part = '000-leaf', members = {}) {
    const own = scenes.map(scene => mergeTrees(pick(runs, part, { scene, ...members }), 'kd.leaf')).filter(points => points.length > 0);
    const leaves = ascending(own.flatMap(points => points.map(point => point.leaf)));
    const at = (points, leaf) => points.find(point => point.leaf === leaf || point.same.includes(leaf));
    return leaves.filter(leaf => own.every(points => at(points, leaf))).map(leaf => ({ leaf, ms: mean(own.map(points => at(points, leaf).ms_mean)), height: mean(own.map(points => at(points, leaf).run.counters.height)) }));
}

const overT256 = (points, leaf) => points.find(point => point.leaf === leaf)?.ms / points.find(point => point.leaf === 256)?.ms;

function leafFacts000(runs) {
    const points = meanLeaf(runs);
    // From the sweep of the KD-tree paper's page, which begins at T = 64.
    const narrow = Object.fromEntries(['scalar', 'sse2'].map(variant => [variant, meanLeaf(runs, '004-leaf-narrow', { variant })]).map(([variant, own]) => [variant, known({ 'T = 64': overT256(own, 64), 'T = 4096': overT256(own, 4096) })]).filter(([, values]) => isFull(values)));
    return facts({ 'T = 32': overT256(points, 32), 'T = 4096': overT256(points, 4096) }, { narrow });
}

function restFacts000(runs) {
    const points = gainPoints(pick(runs, '000-rest', { method: 'kd-paper-complete' }).filter(isTree), pick(runs, '000-rest', { method: 'kd-paper-incremental' }));
    const [low, high, most] = [gainBetween(points, 0, 0.45), gainBetween(points, 0.55, 1.01), gainBetween(points, 0.99, 1.01)];
    return { 'loss-below-45': facts({ 'all sizes': low }), 'gain-above-55': facts({ 'all sizes': high }), 'gain-most': facts({ '99 % and more': most }) };
}

const parts000 = [['cubes', ['000-cubes', '000-cubes-large', '000-cubes-kd', '000-cubes-large-kd']], ['assorted', ['000-assorted', '000-assorted-kd']]];

// The best of the three others by scene and size: { "Free Fall 1k": method }.
function seconds(runs) {
    const parts = ['000-cubes', '000-cubes-large'];
    return Object.fromEntries(scenes.flatMap(scene => ascending(pick(runs, parts, { scene }).map(run => run.objects)).filter(objects => !Number.isNaN(bestOther(runs, parts, scene, objects)))
        .map(objects => [`${titles[scene]} ${sizeText(objects)}`, pick(runs, parts, { scene, objects }).filter(run => peers.includes(run.method)).reduce((best, run) => (run.ms_mean < best.ms_mean ? run : best)).method])));
}

const secondsOfTable = () => {
    const table = table1Of004();
    return Object.fromEntries(scenes.flatMap(scene => [...table.get(`${scene} cgal`).keys()].map(objects => [`${titles[scene]} ${sizeText(objects)}`, peers.reduce((best, method) => (table.get(`${scene} ${method}`).get(objects) < table.get(`${scene} ${best}`).get(objects) ? method : best))])));
};

// At the largest size of figure 4 that a method ran on all scenes: { method: { scene: ms } }.
function hardest(runs) {
    return Object.fromEntries([...peers, 'kd-paper'].map(method => {
        const own = scenes.map(scene => pick(runs, parts000[0][1], { scene, method }));
        const common = ascending(own[0].map(run => run.objects)).filter(objects => objects <= 32000 && own.every(list => list.some(run => run.objects === objects))).pop();
        return [method, Object.fromEntries(scenes.map((scene, index) => [titles[scene], own[index].find(run => run.objects === common)?.ms_mean]))];
    }).filter(([, ms]) => isNumber(ms.Gravity)));
}

function ladderFacts000(runs) {
    const gains = Object.fromEntries(parts000.flatMap(([type, parts]) => scenes.map(scene => [`${titles[scene]}, ${type}`, kdOf(runs, parts, scene).filter(isTree).map(run => bestOther(runs, parts, scene, run.objects) / run.ms_mean).filter(ratio => ratio > 0)])).filter(([, list]) => list.length > 0));
    const ms = hardest(runs);
    return { fastest: isFull(gains) ? { gains } : undefined, 'two-to-three': simdOf(facts({ 'all tests': isFull(gains) ? mean(Object.values(gains).flat()) : NaN }), runs), second: facts(seconds(runs)), 'gravity-hardest': Object.keys(ms).length === 4 ? { ms } : undefined };
}

const isRestless = run => run.scene === 'freefall' && ['bullet-dbvt-f', 'kd-paper'].includes(run.method);

function variationFacts(runs) {
    const own = pick(runs, ['000-whole', '000-whole-kd']).filter(run => peers.includes(run.method) || (run.method === 'kd-paper' && isTree(run)));
    const kin = ['kd-paper-incremental', 'kd-paper-complete'].map(method => pick(runs, '004-variants-whole', { method, objects: 8000 })[0]).filter(run => run?.frame_ms?.length > 450);
    const stretches = Object.fromEntries(kin.map(run => [run.method, { cv: run.cv, falling: mean(run.frame_ms.slice(1, 120)), pile: mean(run.frame_ms.slice(120, 450)), rest: mean(run.frame_ms.slice(450)) }]));
    const list = test => Object.fromEntries(own.filter(test).map(run => [`${run.method} on ${titles[run.scene]}`, run.cv]));
    return { 'variation-calm': facts(list(run => !isRestless(run))), 'variation-rest': facts(list(isRestless), { stretches }) };
}

/** { claim id: numbers } of the earlier KD-tree paper. */
export const facts000 = ({ runs }) => ({ 'middle-trees': leafFacts000(runs), ...restFacts000(runs), ...ladderFacts000(runs), ...variationFacts(runs) });

const narrowWhy = ({ narrow = {} }) => [['scalar', 'one box at a time (scalar)'], ['sse2', 'four at a time (SSE2)']].filter(([variant]) => isFull(narrow[variant])).map(([variant, name]) => `${name} ${named(times)({ values: narrow[variant] })}`).join('; ');
const stretchWhy = ({ stretches = {} }) => (isFull(stretches) ? `what the tree saves at rest decides: ${Object.entries(stretches).map(([method, { cv, falling, pile, rest }]) => `\`${method}\` ${digits(cv)} (${digits(falling)} ms falling, ${digits(pile)} in the pile, ${digits(rest)} at rest)`).join(', ')}` : '');
const above = ({ values }) => Object.entries(values).filter(([, cv]) => cv >= 0.15).map(([name, cv]) => `${name} ${digits(cv)}`).join(', ');
const gainsText = ({ gains }) => Object.entries(gains).map(([name, list]) => `${name} ${digits(Math.min(...list))} to ${digits(Math.max(...list))} ×`).join('; ');
const secondText = ({ values }) => Object.values(titles).map(title => [title, Object.entries(values).filter(([name]) => name.startsWith(title))]).filter(([, list]) => list.length > 0).map(([title, list]) => `${title}: ${peers.map(method => [method, list.filter(([, found]) => found === method).map(([name]) => name.slice(title.length + 1))]).filter(([, sizes]) => sizes.length > 0).map(([method, sizes]) => `${method} at ${sizes[0]}${sizes.length > 1 ? ` to ${sizes[sizes.length - 1]}` : ''}`).join(', ')}`).join('; ');
const cgalOfTable = () => scenes.map(scene => `${titles[scene]} ${digits(table1Of004().get(`${scene} cgal`).get(32000))} ms`).join(', ');
const text000 = name => Number(textValues().get(`000 ${name}`));

export const rules000 = [
    {
        id: 'middle-trees', where: 'figure 3a',
        claim: 'deep (T < 64) and shallow trees (T > 2048) are significantly slower than T = 256',
        rule: 'T = 32 and T = 4096 each take more than 1.1 × T = 256, mean of the scenes',
        cases: each(ratio => ratio > 1.1),
        show: named(times),
        why: found => (narrowWhy(found) ? `of T = 256, ${narrowWhy(found)}` : ''),
    },
    {
        id: 'loss-below-45', where: 'figure 3b',
        claim: 'below 45 % static objects the incremental search is up to 15 % worse',
        rule: 'the complete search takes 0.85 to 1 × its time in the mean',
        cases: between(0.85, 1),
        show: one(),
        published: () => ({ values: { most: 1 / (1 + text000('incremental loss below 45% static, percent') / 100) } }),
        publishedFrom: 'section 5',
    },
    {
        id: 'gain-above-55', where: 'figure 3b',
        claim: 'above 55 % it pays',
        rule: 'the complete search takes longer in the mean',
        cases: each(gain => gain > 1),
        show: one(),
    },
    {
        id: 'gain-most', where: 'figure 3b',
        claim: 'the gain goes up to 60 %',
        rule: 'where 99 % and more lie still, the complete search takes 1.4 to 1.8 × its time',
        cases: between(1.4, 1.8),
        show: one(),
        published: () => ({ values: { most: 1 + text000('incremental gain max, percent') / 100 } }),
        publishedFrom: 'section 5',
    },
    {
        id: 'fastest', where: 'figures 4, 5',
        claim: 'the KD-tree is the fastest in all tests',
        rule: 'the best of the three others takes longer; scene by scene, type by type, at each size',
        cases: ({ gains }) => Object.entries(gains).flatMap(([name, list]) => list.map((ratio, index) => [`${name} ${index}`, ratio > 1])),
        show: gainsText,
        brief: ({ gains }) => { const all = Object.values(gains).flat(); return `${digits(Math.min(...all))} to ${digits(Math.max(...all))} ×`; },
    },
    {
        id: 'two-to-three', where: 'abstract, section 6',
        claim: 'it is two to three times better than the others',
        rule: 'the best other takes 2 to 4 × its time, mean of all tests (the KD-tree paper\'s table, told in the same words, has 3.11)',
        cases: between(2, 4),
        show: one(),
        why: simdWhy,
        published: () => ({ values: Object.fromEntries(textValues().get('000 gain over others').split(' to ').map((text, index) => [index === 0 ? 'least' : 'most', parseFloat(text)])) }),
        publishedFrom: 'abstract',
    },
    {
        id: 'second', where: 'figure 5',
        claim: 'DBVT F follows on Free Fall, DBVT D on the others',
        rule: 'it is the best of the three others; scene by scene, at each size',
        cases: ({ values }) => Object.entries(values).map(([name, method]) => [name, method === (name.startsWith('Free Fall') ? 'bullet-dbvt-f' : 'bullet-dbvt-d')]),
        show: secondText,
        brief: ({ values }) => `right in ${Object.entries(values).filter(([name, method]) => method === (name.startsWith('Free Fall') ? 'bullet-dbvt-f' : 'bullet-dbvt-d')).length} of ${Object.keys(values).length}`,
        why: () => 'CGAL takes the second place as objects become many, as on the KD-tree paper\'s page',
        published: () => ({ values: secondsOfTable() }),
        publishedFrom: 'the KD-tree paper\'s table 1, same scenes',
    },
    {
        id: 'gravity-hardest', where: 'figure 4',
        claim: 'Gravity is the hardest for all',
        rule: 'it takes longest at 32k, the largest of figure 4; method by method',
        cases: ({ ms }) => Object.entries(ms).map(([method, list]) => [method, list.Gravity === Math.max(...Object.values(list))]),
        show: ({ ms }) => Object.entries(ms).map(([method, list]) => `${method}: ${Object.entries(list).map(([title, value]) => `${title} ${digits(value)} ms`).join(', ')}`).join('; '),
        brief: ({ ms }) => Object.entries(ms).map(([method, list]) => `${method}: ${Object.keys(list).find(title => list[title] === Math.max(...Object.values(list)))}`).join(', '),
        why: () => `CGAL is slowest on Free Fall in the KD-tree paper's table 1 too, at 32k: ${cgalOfTable()}`,
    },
    {
        id: 'variation-calm', where: 'section 5',
        claim: 'the coefficient of variation is below 0.1 but for DBVT F and the KD-tree on Free Fall',
        rule: 'below 0.15 over a whole run of 1000 frames at 8k; method by method, scene by scene',
        cases: each(cv => cv < 0.15),
        show: named(digits),
        brief: range(digits),
        why: found => `above it: ${above(found)}; no run shows why`,
        published: () => ({ values: { 'all others': 0.1 } }),
        publishedFrom: 'section 5',
    },
    {
        id: 'variation-rest', where: 'section 5',
        claim: 'these two are about 0.7, since they profit from rest',
        rule: '0.5 to 0.9; method by method',
        cases: between(0.5, 0.9),
        show: named(digits),
        why: stretchWhy,
        published: () => ({ values: { both: text000('coefficient of variation, DBVT F and KD on FreeFall') } }),
        publishedFrom: 'section 5',
    },
];

// ==== the page

const cubes = ['000-cubes', '000-cubes-kd', '000-cubes-large', '000-cubes-large-kd'];
const assorted = ['000-assorted', '000-assorted-kd'];

function leafSection({ runs, isStored }) {
    const own = pick(runs, '000-leaf');
    const points = meanLeaf(runs);
    if (points.length === 0) return null;
    const sweep = (title, value, of) => size => sweepChart({ ...size, title, parameter: 'T', ...(value ? { value } : {}), series: [{ name: 'kd-paper', points: points.map(point => [point.leaf, of(point)]) }] });
    return {
        heading: 'How deep should the KD-tree be? (figure 3a)',
        claims: ['middle-trees'],
        blocks: [
            `T is the most objects a leaf may hold; ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes, mean of the scenes.`,
            { figure: 'figure-3a-time', alt: 'Mean ms per frame of the KD-tree by T', draw: sweep('ms per frame by T, mean of the scenes', null, point => point.ms), height: 320 },
            'claims',
            { fold: 'The height of the tree', blocks: [{ figure: 'figure-3a-height', alt: 'Height of the KD-tree by T', draw: isStored ? null : sweep('height of the tree', 'levels', point => point.height), height: 280 }, leafNotes(own, 'kd.leaf')] },
            { from: own.filter(isTree) },
        ],
    };
}

function restSection({ runs, isStored }) {
    const complete = pick(runs, '000-rest', { method: 'kd-paper-complete' }).filter(isTree);
    const series = [{ name: 'kd-paper', points: gainPoints(complete, pick(runs, '000-rest', { method: 'kd-paper-incremental' })) }];
    if (complete.length === 0 || (!isStored && series[0].points.length === 0)) return null;
    return {
        heading: 'When does it pay to keep pairs? (figure 3b)',
        claims: ['loss-below-45', 'gain-above-55', 'gain-most'],
        blocks: [
            `Each dot is a frame of Free Fall, ${ascending(complete.map(run => run.objects)).map(sizeText).join(', ')} cubes, T = 256: the time of the complete search over that of the incremental one, which keeps pairs of objects that lie still. Above 1 keeping pays.`,
            { figure: 'figure-3b', alt: 'Complete over incremental time per frame against the share of static objects', draw: isStored ? null : size => gainChart({ ...size, title: 'gain per frame', series, clampY: [0.4, 1.8] }), height: 380 },
            'claims',
            { from: pick(runs, '000-rest') },
        ],
    };
}

// A tree of one node is no KD-tree: such points are left out.
function seriesOf(own) {
    const name = run => (run.method === 'kd-paper' ? 'kd-paper, T = 256' : run.method);
    const shown = own.filter(run => run.method !== 'kd-paper' || isTree(run));
    return seriesBy(shown, name).map(one => ({ ...one, like: shown.find(run => name(run) === one.name).method }));
}

const figure4 = (runs, parts, type, scene) => ladderFigure(`figure-4-${scene}-${type}`, `${titles[scene]}, ${type}: mean ms per frame by number of objects`, { title: `${titles[scene]}, ${type}`, series: seriesOf(pick(runs, parts, { scene }).filter(run => run.objects <= 32000)) });

const figure5 = (runs, scene) => ladderFigure(`figure-5-${scene}`, `${titles[scene]}, cubes: mean ms per frame to the largest size`, { title: `${titles[scene]}, cubes`, series: seriesOf(pick(runs, cubes, { scene })) });

const laddersSection = ({ runs }) => ({
    heading: 'Is the KD-tree the fastest everywhere? (figures 4 and 5)',
    claims: ['fastest', 'two-to-three', 'second', 'gravity-hardest'],
    blocks: [
        figure4(runs, cubes, 'cubes', 'freefall'),
        'claims',
        { fold: 'Figure 4: the other scenes, and assorted objects', blocks: [...scenes.slice(1).map(scene => figure4(runs, cubes, 'cubes', scene)), ...scenes.map(scene => figure4(runs, assorted, 'assorted', scene))] },
        { fold: 'Figure 5: to the largest size, the other scenes', blocks: scenes.filter(scene => scene !== 'gravity').map(scene => figure5(runs, scene)) },
        { from: pick(runs, [...cubes, ...assorted]) },
    ],
});

function variationSection({ runs }) {
    const own = pick(runs, ['000-whole', '000-whole-kd']);
    if (own.length === 0) return null;
    const rows = distinct(own.map(run => run.method)).map(method => [method, ...scenes.map(scene => digits(own.find(run => run.method === method && run.scene === scene)?.cv))]);
    return {
        heading: 'How steady is a frame\'s time? (section 5)',
        claims: ['variation-calm', 'variation-rest'],
        blocks: [
            `The coefficient of variation is the standard deviation over the mean, here of all frames of a whole run of 1000, all repeats, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes.`,
            { table: [['method', ...scenes.map(scene => titles[scene])], ...rows] },
            'claims',
            { from: own },
        ],
    };
}

function numberText(runs) {
    const ratios = [cubes, assorted].flatMap(parts => scenes.flatMap(scene => kdOf(runs, parts, scene).filter(isTree).map(run => bestOther(runs, parts, scene, run.objects) / run.ms_mean).filter(ratio => ratio > 0)));
    return ratios.length > 0 ? `The best other method takes ${digits(mean(ratios))} times as long as the tree in the mean of all tests, ${digits(Math.min(...ratios))} at least and ${digits(Math.max(...ratios))} at most. The paper says two to three times.` : '';
}

export const paper = {
    number: '000',
    rules: rules000,
    factsOf: facts000,
    page: data => ({
        title: 'The earlier KD-tree paper: the same tree in its first form',
        machine: 'an i7-7700; each test five times over 1000 frames',
        question: 'Can one solution be fast with objects that rest, that drift and that are thrown about, from a thousand to a million of them? The tree has leaves of T = 256 objects, sweeps them, and keeps pairs once K = 55 % of the objects lie still.',
        picture: figure5(data.runs, 'gravity'),
        keys: { fastest: 'the KD-tree is the fastest in all tests', 'gain-above-55': 'keeping pairs pays once 55 % of the objects lie still', 'middle-trees': 'trees much deeper or flatter than T = 256 are slower', 'two-to-three': 'the tree is two to three times better than the others' },
        figure: numberText(data.runs.filter(run => !lacksPhase(run))),
        runs: pick(data.runs, cubes, { scene: 'gravity' }),
        about: ['`kd-paper` is the tree as published with T = 256, `bullet-dbvt-f` and `bullet-dbvt-d` are the paper\'s DBVT F and D, `cgal` its CGAL. Free Fall is its *Queda Livre*, Brownian its *Partículas*, Gravity its *Gravidade*.'],
        sections: [leafSection(data), restSection(data), laddersSection(data), variationSection(data)],
    }),
};
