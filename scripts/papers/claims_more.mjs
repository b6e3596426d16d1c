// SPDX-License-Identifier: MIT
// Claims of the earlier KD-tree paper, of Broadmark and of the RAY KD-tree: our numbers and the rules; rules.mjs tells how they are judged.
import { digits, sizeText, times } from './page.mjs';
import { simdOf, simdWhy } from './claims_004.mjs';
import { bestOther, gainBetween, gainPoints, kdOf, peers, scenes, titles } from './figures.mjs';
import { table1Of004, table2Of001, textValues } from './published.mjs';
import { between, each, known, listed, named, one, range } from './rules.mjs';
import { ascending, isTree, laterFrames, mean, meanDepth, mergeTrees, pick } from './runs.mjs';

const isNumber = value => value !== undefined && !Number.isNaN(value);
const isFull = values => Object.keys(values ?? {}).length > 0;
const facts = (values, more = {}) => (isFull(known(values)) ? { values: known(values), ...more } : undefined);

// ---- the earlier KD-tree paper

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
    { id: 'middle-trees', where: 'figure 3a', claim: 'deep (T < 64) and shallow trees (T > 2048) are significantly slower than T = 256', rule: 'T = 32 and T = 4096 each take more than 1.1 × T = 256, mean of the scenes', cases: each(ratio => ratio > 1.1), show: named(times), why: found => (narrowWhy(found) ? `of T = 256, ${narrowWhy(found)}` : '') },
    { id: 'loss-below-45', where: 'figure 3b', claim: 'below 45 % static objects the incremental search is up to 15 % worse', rule: 'the complete search takes 0.85 to 1 × its time in the mean', cases: between(0.85, 1), show: one(), published: () => ({ values: { most: 1 / (1 + text000('incremental loss below 45% static, percent') / 100) } }), publishedFrom: 'section 5' },
    { id: 'gain-above-55', where: 'figure 3b', claim: 'above 55 % it pays', rule: 'the complete search takes longer in the mean', cases: each(gain => gain > 1), show: one() },
    { id: 'gain-most', where: 'figure 3b', claim: 'the gain goes up to 60 %', rule: 'where 99 % and more lie still, the complete search takes 1.4 to 1.8 × its time', cases: between(1.4, 1.8), show: one(), published: () => ({ values: { most: 1 + text000('incremental gain max, percent') / 100 } }), publishedFrom: 'section 5' },
    { id: 'fastest', where: 'figures 4, 5', claim: 'the KD-tree is the fastest in all tests', rule: 'the best of the three others takes longer; scene by scene, type by type, at each size', cases: ({ gains }) => Object.entries(gains).flatMap(([name, list]) => list.map((ratio, index) => [`${name} ${index}`, ratio > 1])), show: gainsText, brief: ({ gains }) => { const all = Object.values(gains).flat(); return `${digits(Math.min(...all))} to ${digits(Math.max(...all))} ×`; } },
    { id: 'two-to-three', where: 'abstract, section 6', claim: 'it is two to three times better than the others', rule: 'the best other takes 2 to 4 × its time, mean of all tests (the KD-tree paper\'s table, told in the same words, has 3.11)', cases: between(2, 4), show: one(), why: simdWhy, published: () => ({ values: Object.fromEntries(textValues().get('000 gain over others').split(' to ').map((text, index) => [index === 0 ? 'least' : 'most', parseFloat(text)])) }), publishedFrom: 'abstract' },
    { id: 'second', where: 'figure 5', claim: 'DBVT F follows on Free Fall, DBVT D on the others', rule: 'it is the best of the three others; scene by scene, at each size', cases: ({ values }) => Object.entries(values).map(([name, method]) => [name, method === (name.startsWith('Free Fall') ? 'bullet-dbvt-f' : 'bullet-dbvt-d')]), show: secondText, brief: ({ values }) => `right in ${Object.entries(values).filter(([name, method]) => method === (name.startsWith('Free Fall') ? 'bullet-dbvt-f' : 'bullet-dbvt-d')).length} of ${Object.keys(values).length}`, why: () => 'CGAL takes the second place as objects become many, as on the KD-tree paper\'s page', published: () => ({ values: secondsOfTable() }), publishedFrom: 'the KD-tree paper\'s table 1, same scenes' },
    { id: 'gravity-hardest', where: 'figure 4', claim: 'Gravity is the hardest for all', rule: 'it takes longest at 32k, the largest of figure 4; method by method', cases: ({ ms }) => Object.entries(ms).map(([method, list]) => [method, list.Gravity === Math.max(...Object.values(list))]), show: ({ ms }) => Object.entries(ms).map(([method, list]) => `${method}: ${Object.entries(list).map(([title, value]) => `${title} ${digits(value)} ms`).join(', ')}`).join('; '), brief: ({ ms }) => Object.entries(ms).map(([method, list]) => `${method}: ${Object.keys(list).find(title => list[title] === Math.max(...Object.values(list)))}`).join(', '), why: () => `CGAL is slowest on Free Fall in the KD-tree paper's table 1 too, at 32k: ${cgalOfTable()}` },
    { id: 'variation-calm', where: 'section 5', claim: 'the coefficient of variation is below 0.1 but for DBVT F and the KD-tree on Free Fall', rule: 'below 0.15 over a whole run of 1000 frames at 8k; method by method, scene by scene', cases: each(cv => cv < 0.15), show: named(digits), brief: range(digits), why: found => `above it: ${above(found)}; no run shows why`, published: () => ({ values: { 'all others': 0.1 } }), publishedFrom: 'section 5' },
    { id: 'variation-rest', where: 'section 5', claim: 'these two are about 0.7, since they profit from rest', rule: '0.5 to 0.9; method by method', cases: between(0.5, 0.9), show: named(digits), why: stretchWhy, published: () => ({ values: { both: text000('coefficient of variation, DBVT F and KD on FreeFall') } }), publishedFrom: 'section 5' },
];

// ---- Broadmark

const serial = ['001-slowest', '001-slowest-large', '001-others', '001-others-large', '001-axissweep'];
const parallel = ['001-quickest', '001-quickest-large'];
const treeParts = ['001-others', '001-others-large'];

// All of the paper's on a scene at the largest size at which the tree ran: { size, rows: [{ name, method, isMt, ms }] }, quickest first.
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

// The quickest on several threads as scalar code on one, and the tree on as many threads as those that beat it.
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
    { id: 'grids-brownian', where: 'section V, table II', claim: 'on Brownian solutions based on grids are favoured', rule: 'the quickest CPU column beside the KD-tree, at the largest size with all columns, is a grid', cases: ({ rows }) => [['quickest', rows.filter(row => row.method !== 'kd-paper')[0].method.startsWith('grid')]], show: firstText, ...ofTable2('brownian') },
    { id: 'temporal-freefall', where: 'section V, table II', claim: 'on Free Fall temporal solutions dominate', rule: 'the quickest on one core is the KD-tree or DBVT F', cases: ({ rows }) => [['quickest', ['kd-paper', 'bullet-dbvt-f'].includes(rows.filter(row => !row.isMt)[0].method)]], show: ({ size, rows }) => firstText({ size, rows: rows.filter(row => !row.isMt) }), ...ofTable2('freefall') },
    { id: 'kd-freefall', where: 'section V', claim: 'the KD-tree is the fastest on Free Fall, multi-core CPU solutions included', rule: 'no other CPU column is quicker', cases: ({ rows }) => [['quickest', rows[0].method === 'kd-paper']], show: firstText, why: mtWhy, ...ofTable2('freefall') },
    { id: 'kd-gravity', where: 'section V', claim: 'on Gravity it performs as the best parallel CPU solutions', rule: '0.75 to 1.25 × the quickest MT column', cases: ratioRule(overMt, 0.75, 1.25), show: found => `${times(overMt(found.rows))}; ${firstText(found)}; KD-tree ${digits(kdRow(found.rows))} ms`, brief: found => `${times(overMt(found.rows))} ${mtRow(found.rows).name}`, why: mtWhy, ...ofTable2('gravity') },
    { id: 'kd-brownian', where: 'section V', claim: 'on Brownian it is on par with the best serial grids', rule: '0.75 to 1.25 × the quickest grid on one core, as the slowest variant has it', cases: ratioRule(overGrid, 0.75, 1.25), show: found => `${times(overGrid(found.rows))}: ${digits(kdRow(found.rows))} against ${digits(gridOf(found.rows))} ms at ${sizeText(found.size)}`, brief: found => times(overGrid(found.rows)), why: found => (overGrid(found.rows) < 0.75 ? 'it is faster than on par: the grid\'s column is scalar code, as in the paper, and the tree\'s has wide instructions' : ''), ...ofTable2('brownian') },
    { id: 'kd-gpu', where: 'section V', claim: 'on Free Fall it surpasses GPU solutions', rule: 'each of the three GPU columns takes longer, at the largest size all ran; column by column', cases: ({ kd, values }) => Object.entries(known(values)).map(([name, ms]) => [name, ms > kd]), show: ({ size, kd, values }) => `${sizeText(size)}: KD-tree ${digits(kd)} ms, ${named(digits, ' ms')({ values })}`, lacking: 'the GPU columns were not run', why: ({ device, sizes, ahead }) => `the paper's were a GTX 1060's and Bullet 3's, these are ours on the ${device}; of ${sizes.join(', ')} the tree is ahead at ${ahead.length > 0 ? ahead.join(', ') : 'none'}`, published: gpuOfPaper, publishedFrom: 'table II' },
];

// ---- the RAY KD-tree

export const cases = [['ray-freefall', 'cubes', 'uniform Free Fall'], ['ray-freefall', 'assorted', 'varied Free Fall'], ['ray-particles', 'cubes', 'uniform particles'], ['ray-particles', 'assorted', 'varied particles']];

const leastOf = points => points.reduce((lowest, point) => (point.ms_mean < lowest.ms_mean ? point : lowest)).leaf;
const slopeOf = points => points[points.length - 1].ms_mean / points[0].ms_mean;

function leafFacts002(runs) {
    const sweep = part => cases.map(([scene, type, name]) => [name, mergeTrees(pick(runs, part, { scene, type }), 'ray.leaf')]).filter(([, points]) => points.length > 1);
    const [wide, scalar] = [sweep('002-leaf'), sweep('002-leaf-scalar')];
    const of = (list, value) => Object.fromEntries(list.map(([name, points]) => [name, value(points)]));
    const depths = points => points.map(point => meanDepth(point.run.counters));
    const deep = of(wide.filter(([, points]) => depths(points).every(depth => depth > 0)), depths);
    return { 'taller-faster': isFull(of(wide, leastOf)) ? { values: of(wide, leastOf), slope: of(wide, slopeOf), scalar: of(scalar, leastOf), scalarSlope: of(scalar, slopeOf) } : undefined, depth: isFull(deep) ? { depths: deep } : undefined };
}

// Pairs that assorted objects have, over those of cubes.
function pairsOf002(raw) {
    const at = (scene, type) => mean((raw ?? []).filter(run => run.status === 'ok' && run.parts.includes('002-others') && run.method === 'cgal' && run.objects === 8000 && run.scene === scene && run.type === type).map(run => run.pairs_last));
    return known({ 'Free Fall': at('ray-freefall', 'assorted') / at('ray-freefall', 'cubes'), particles: at('ray-particles', 'assorted') / at('ray-particles', 'cubes') });
}

// The three in the last window alone, where nearly all lie still.
function lastWindow(raw, scene) {
    const own = (raw ?? []).filter(run => run.status === 'ok' && run.parts.includes('002-others') && run.scene === scene && peers.includes(run.method));
    const [last, objects] = [Math.max(...own.map(run => run.window.from)), Math.max(...own.map(run => run.objects))];
    return Object.fromEntries(['cubes', 'assorted'].map(type => [type, Object.fromEntries(own.filter(run => run.type === type && run.window.from === last && run.objects === objects).map(run => [run.method, mean(laterFrames(run.pass_ms))]))]).filter(([, list]) => Object.keys(list).length === peers.length));
}

/** { claim id: numbers } of the RAY KD-tree. */
export function facts002({ runs, raw }) {
    const top = cases.map(([scene, type, name]) => {
        const own = pick(runs, '002-others', { scene, type });
        const objects = Math.max(...own.map(run => run.objects));
        const at = method => own.find(run => run.method === method && run.objects === objects && (method !== 'ray-kd' || isTree(run)))?.ms_mean;
        return { scene, name, objects, ms: known(Object.fromEntries(['ray-kd', ...peers].map(method => [method, at(method)]))) };
    }).filter(found => Object.keys(found.ms).length === 1 + peers.length);
    const ms = list => Object.fromEntries(list.map(found => [found.name, found.ms]));
    const of = scene => ms(top.filter(found => found.scene === scene));
    const size = top[0]?.objects;
    const ratio = ([plain, varied]) => (plain && varied ? varied.cgal / plain.cgal : NaN);
    return {
        ...leafFacts002(runs), best: isFull(ms(top)) ? { size, ms: ms(top) } : undefined,
        'second-fall': isFull(of('ray-freefall')) ? { ms: of('ray-freefall'), rest: lastWindow(raw, 'ray-freefall') } : undefined, 'second-particles': isFull(of('ray-particles')) ? { ms: of('ray-particles') } : undefined,
        'cgal-types': facts({ 'Free Fall': ratio(Object.values(of('ray-freefall'))), particles: ratio(Object.values(of('ray-particles'))) }, { pairs: pairsOf002(raw) }),
    };
}

const bestPeer = ms => peers.reduce((best, method) => (ms[method] < ms[best] ? method : best));
const secondRule = method => ({ ms }) => Object.entries(ms).map(([name, list]) => [name, bestPeer(list) === method]);
const secondShow = ({ ms }) => Object.entries(ms).map(([name, list]) => `${name}: ${bestPeer(list)} ${digits(list[bestPeer(list)])} ms`).join(', ');

export const rules002 = [
    { id: 'taller-faster', where: 'figure 2a', claim: 'the taller the tree, the faster, so T = 10', rule: 'T = 10 is the best of 10 to 100; scene by scene', cases: each(leaf => leaf === 10), show: listed(leaf => `T = ${leaf}`), why: ({ slope, scalar, scalarSlope }) => [`T = 100 takes ${listed()({ values: slope })} of T = 10`, isFull(scalar) ? `one box at a time (scalar), as in 2015, it takes ${listed()({ values: scalarSlope })}, and the best is ${listed(leaf => `T = ${leaf}`)({ values: scalar })}: wide instructions make large leaves cheap` : ''].filter(Boolean).join('; '), published: () => ({ values: { 'all four': Number(textValues().get('002 T chosen')) } }), publishedFrom: 'section 5.1' },
    { id: 'depth', isCount: true, where: 'figure 2b', claim: 'leaves lie the deeper the smaller T', rule: 'the mean depth of the leaves falls with T; scene by scene', cases: ({ depths }) => Object.entries(depths).map(([name, list]) => [name, list.every((depth, index) => index === 0 || depth <= list[index - 1])]), show: ({ depths }) => Object.entries(depths).map(([name, list]) => `${name} ${digits(list[0])} to ${digits(list[list.length - 1])}`).join(', ') },
    { id: 'best', where: 'figure 3', claim: 'the RAY KD-tree is the best in all four', rule: 'DBVT F, DBVT D and CGAL take longer at the largest size; scene by scene', cases: ({ ms }) => Object.entries(ms).map(([name, list]) => [name, list['ray-kd'] < list[bestPeer(list)]]), show: ({ size, ms }) => Object.entries(ms).map(([name, list]) => `${name} at ${sizeText(size)}: ${bestPeer(list)} takes ${times(list[bestPeer(list)] / list['ray-kd'])}`).join('; ') },
    { id: 'second-fall', where: 'section 5.2', claim: 'DBVT F is ahead of the others in free fall', rule: 'it is the best of the three; scene by scene', cases: secondRule('bullet-dbvt-f'), show: secondShow, why: ({ rest }) => (isFull(rest) ? `in the last window, nearly all at rest: ${Object.entries(rest).map(([type, list]) => `${type}: ${named(digits, ' ms')({ values: list })}`).join('; ')}` : '') },
    { id: 'second-particles', where: 'section 5.2', claim: 'DBVT D is ahead of the others with particles', rule: 'it is the best of the three; scene by scene', cases: secondRule('bullet-dbvt-d'), show: secondShow },
    { id: 'cgal-types', where: 'section 5.2', claim: 'CGAL does not mind sizes that vary', rule: 'assorted takes 0.8 to 1.25 × uniform; scene by scene', cases: between(0.8, 1.25), show: listed(), why: ({ pairs }) => (isFull(pairs) ? `assorted objects make ${listed()({ values: pairs })} the pairs of uniform ones here` : '') },
];

