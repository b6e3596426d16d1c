// SPDX-License-Identifier: MIT
// Claims of the KD-tree paper: what our runs say of each (`facts004`), and the rule that judges both our numbers and the paper's (`rules004`); rules.mjs tells how.
import { digits, percent, sizeText, times } from './page.mjs';
import { bestOther, gainBetween, gainPoints, kdOf, others, peers, scenes, titles } from './figures.mjs';
import { releasedLeaf, releasedVariants, table1Of004, table2Of001, table2Of004, textValues } from './published.mjs';
import { between, each, known, listed, named, one, range, share } from './rules.mjs';
import { ascending, isTree, mean, meanDepth, mergeTrees, pick } from './runs.mjs';

const RELEASED = 'the authors\' released program, 32k';
const four = [...peers, 'kd-paper'];
const cubes = ['004-cubes', '004-cubes-large'];

/** { title of the scene: value }, without those that are missing. */
export const byScene = value => known(Object.fromEntries(scenes.map(scene => [titles[scene], value(scene)])));
const onScenes = (values, show = times) => listed(show)({ values });
const atSizes = values => listed(times, 'at')({ values });
const isFull = values => Object.keys(values ?? {}).length > 0;
const facts = values => (isFull(known(values)) ? { values: known(values) } : undefined);

// ---- T, figure 9

const atLeaf = (points, leaf) => points.find(point => point.leaf === leaf || point.same.includes(leaf))?.ms_mean;

/** Per scene the merged points over T: { scene: [{ leaf, ms_mean, same }] }. */
export function leafPoints(runs, part = '004-leaf', setting = 'kd.leaf') {
    return Object.fromEntries(scenes.map(scene => [scene, mergeTrees(pick(runs, part, { scene }), setting)]).filter(([, points]) => points.length > 0));
}

// The worst of the three T that the paper calls alike, over the best of all.
const flatness = own => Math.max(...[256, 512, 1024].map(leaf => atLeaf(own, leaf) ?? NaN)) / Math.min(...own.map(point => point.ms_mean));
const largest = own => (own.length > 0 ? own[own.length - 1].ms_mean / atLeaf(own, 512) : NaN);

/** A ratio of points over T with narrower instructions: { scalar: { scene: ratio }, sse2: … }. */
function narrow(runs, ratio) {
    return Object.fromEntries(['scalar', 'sse2'].map(variant => [variant, byScene(scene => ratio(mergeTrees(pick(runs, '004-leaf-narrow', { scene, variant }), 'kd.leaf')))]).filter(([, values]) => isFull(values)));
}

const narrowText = ({ narrow: found = {} }, text) => [['scalar', 'one box at a time (scalar)'], ['sse2', 'four at a time (SSE2)']].filter(([variant]) => isFull(found[variant])).map(([variant, name]) => `${name} ${text(found[variant])}`).join('; ');

function leafFacts(runs) {
    const points = leafPoints(runs);
    const of = ratio => byScene(scene => (points[scene] ? ratio(points[scene]) : NaN));
    const with_ = (values, ratio) => (isFull(values) ? { values, narrow: narrow(runs, ratio) } : undefined);
    const short = own => atLeaf(own, 8192) / atLeaf(own, 512);
    return { plateau: with_(of(flatness), flatness), tall: facts(of(own => atLeaf(own, 16) / atLeaf(own, 512))), short: with_(of(short), short), 'brownian-suffers': facts(of(largest)), levels: levelsFacts(runs) };
}

// Levels are counted, so one frame decides.
function levelsFacts(runs) {
    const at = (scene, leaf) => pick(runs, '004-levels', { scene, settings: { 'kd.leaf': leaf } }).filter(isTree)[0]?.counters;
    const saved = of => byScene(scene => (at(scene, 1) && at(scene, 512) ? of(at(scene, 1)) - of(at(scene, 512)) : NaN));
    const values = saved(counters => counters.height);
    return isFull(values) ? { values, mean: saved(meanDepth) } : undefined;
}

const leafOfReleased = ratio => ({ values: byScene(scene => ratio(Object.entries(releasedLeaf()[scene]).map(([leaf, ms]) => ({ leaf: Number(leaf), ms_mean: ms, same: [] })))) });
const isBrownianWorst = ({ values }) => (Object.keys(values).length === 3 ? [['Brownian', values.Brownian === Math.max(...Object.values(values))]] : []);

const leafRules = [
    { id: 'plateau', where: 'figure 9', claim: 'the time is practically constant from T = 256 to 1024, and least there', rule: 'none of 256, 512 and 1024 takes more than 1.2 × the best T; scene by scene', cases: each(ratio => ratio >= 1 && ratio <= 1.2), show: listed(), why: found => narrowText(found, values => `the worst of the three takes ${onScenes(values)} of the best T`), published: () => leafOfReleased(flatness), publishedFrom: RELEASED },
    { id: 'tall', where: 'figure 9', claim: 'tall trees are slower', rule: 'T = 16 takes more than 1.1 × T = 512; scene by scene', cases: each(ratio => ratio > 1.1), show: listed() },
    { id: 'short', where: 'figure 9', claim: 'from T = 2048 on short trees are significantly slower', rule: 'T = 8192 takes more than 1.1 × T = 512; scene by scene', cases: each(ratio => ratio > 1.1), show: listed(), why: found => narrowText(found, values => `T = 8192 takes ${onScenes(values)} of T = 512`), published: () => leafOfReleased(own => atLeaf(own, 8192) / atLeaf(own, 512)), publishedFrom: RELEASED },
    { id: 'brownian-suffers', where: 'figure 9', claim: 'large T hurt Brownian most', rule: 'the largest T that still makes a tree costs most, over T = 512, on Brownian', cases: isBrownianWorst, show: listed(), published: () => leafOfReleased(largest), publishedFrom: RELEASED },
    { id: 'levels', isCount: true, where: 'section 5', claim: 'T = 512 makes the tree up to nine levels shorter than one object per leaf', rule: 'the deepest leaf is 8 to 10 levels higher up, on the scene where that is most', cases: ({ values }) => [['most', Math.max(...Object.values(values)) >= 8 && Math.max(...Object.values(values)) <= 10]], show: listed(String), brief: ({ values }) => `${Math.max(...Object.values(values))} levels`, why: ({ mean: depth }) => (isFull(depth) ? `by the mean depth of the leaves it saves ${onScenes(depth, digits)}` : ''), published: () => ({ values: { 'some scene': Number(textValues().get('004 levels saved at T=512').replace('up to ', '')) } }), publishedFrom: 'section 5' },
];

// ---- static objects, figure 10

// Means of the gain within a range of static shares: { size: complete over incremental }.
function restBy(runs, low, high) {
    const complete = pick(runs, '004-rest', { method: 'kd-paper-complete' }).filter(isTree);
    return known(Object.fromEntries(ascending(complete.map(run => run.objects)).map(objects => [sizeText(objects), gainBetween(gainPoints(complete.filter(run => run.objects === objects), pick(runs, '004-rest', { method: 'kd-paper-incremental', objects })), low, high)])));
}

/** The ranges of static shares that the paper tells apart, the last where all but some frames' objects lie still. */
export const restRanges = { 'below 50 %': [0, 0.5], '50 to 60 %': [0.5, 0.6], '60 to 90 %': [0.6, 0.9], '90 to 99 %': [0.9, 0.99], '99 % and more': [0.99, 1.01] };

const spreadOf = values => (Object.keys(values ?? {}).length > 1 ? Math.max(...Object.values(values)) - Math.min(...Object.values(values)) : NaN);

/** From { range: { size: gain } }, which is all that the claims of figure 10 need. */
export function restFacts(gains) {
    const [under, equal, over, most, rest] = Object.keys(restRanges).map(name => gains?.[name] ?? {});
    const above = Object.fromEntries([['60 to 90 %', over], ['90 to 99 %', most]].flatMap(([name, values]) => Object.entries(values).map(([size, gain]) => [`${size}, ${name}`, gain])));
    const also = values => (isFull(values) ? { values, rest } : undefined);
    return { 'complete-below-50': also(under), 'equal-50-60': also(equal), 'incremental-above-60': also(above), 'same-at-all-sizes': facts(Object.fromEntries(Object.keys(restRanges).slice(0, 4).map(name => [name, spreadOf(gains?.[name])]))) };
}

const restWhy = ({ rest }) => (isFull(rest) ? `the crossing lies higher here: where 99 % and more lie still, the incremental search gains ${atSizes(rest)}` : '');
const gainOf = ({ complete, incremental }) => complete / incremental;
const released = (scene, low, high) => Object.fromEntries(releasedVariants().filter(row => row.scene === scene && row.share >= low && row.share < high).map(row => [`${percent(row.share)} static`, gainOf(row)]));

const restRules = [
    { id: 'complete-below-50', where: 'figure 10', claim: 'below 50 % static objects the complete search is 5 to 15 % faster', rule: 'its time over the incremental search\'s is 0.80 to 0.97 in the mean; size by size', cases: between(0.8, 0.97), show: listed(times, 'at'), brief: range(), published: () => ({ values: { '5 %': 1 / 1.05, '15 %': 1 / 1.15 } }), publishedFrom: 'section 5' },
    { id: 'equal-50-60', where: 'figure 10', claim: 'from 50 to 60 % both are roughly equal', rule: '0.93 to 1.07 in the mean; size by size', cases: between(0.93, 1.07), show: listed(times, 'at'), brief: range(), why: restWhy, published: () => ({ values: released('freefall', 0.5, 0.6) }), publishedFrom: RELEASED },
    { id: 'incremental-above-60', where: 'figure 10', claim: 'above 60 % the incremental search is considerably faster', rule: 'more than 1.05 from 60 to 90 % and from 90 to 99 %; size by size', cases: each(gain => gain > 1.05), show: listed(times, 'at'), brief: range(), why: restWhy, published: () => ({ values: released('freefall', 0.6, 1) }), publishedFrom: RELEASED },
    { id: 'same-at-all-sizes', where: 'figure 10', claim: 'the gain is the same from 1k to 1024k objects, within 5 %', rule: 'the sizes are at most 0.1 apart; range by range of static objects', cases: each(spread => spread <= 0.1), show: listed(digits, 'apart'), published: () => ({ values: { 'at any share': 2 * Number(textValues().get('004 spread at any static share, percent').replace('<=', '')) / 100 } }), publishedFrom: 'section 5' },
];

// ---- pruning and SIMD, figure 11

export const stages = [['none', '004-pruning-none'], ['tree only', '004-pruning-tree'], ['sweep only', '004-pruning-sweep'], ['both', '004-pruning-both']];
export const isaOrder = ['scalar', 'sse2', 'neon', 'avx2', 'avx512'];

/** ms of a stage, scene, instruction set and size. */
export const stageMs = (runs, part, scene, variant, objects) => pick(runs, part, { scene, variant, objects })[0]?.ms_mean;

function pruningFacts(runs) {
    const sizes = ascending(pick(runs, '004-pruning-both').map(run => run.objects));
    const objects = sizes[sizes.length - 1];
    const own = pick(runs, stages.map(([, part]) => part)).filter(run => run.objects === objects);
    const isas = isaOrder.filter(isa => own.some(run => run.variant === isa));
    const wide = isas[isas.length - 1];
    // Stages that claim a tree must have had one.
    const ms = (stage, scene, isa) => {
        const run = pick(runs, stages[stage][1], { scene, variant: isa, objects })[0];
        return run && (stage % 2 === 0 || isTree(run)) ? run.ms_mean : NaN;
    };
    const both = isa => byScene(scene => Math.min(ms(1, scene, isa), ms(2, scene, isa)) / ms(3, scene, isa));
    const gain = stage => mean(scenes.map(scene => ms(stage, scene, 'scalar') / ms(stage, scene, wide)).filter(ratio => ratio > 0));
    const simd = known(Object.fromEntries(stages.map(([name], stage) => [name, gain(stage)])));
    return {
        'both-stages': isFull(both(wide)) ? { values: both(wide), isa: wide, narrow: Object.fromEntries(isas.slice(0, -1).map(isa => [isa, both(isa)]).filter(([, values]) => isFull(values))), simd } : undefined,
        'simd-single': simd['tree only'] && simd['sweep only'] && simd.both ? { values: simd } : undefined,
        'avx-marginal': facts(byScene(scene => ms(3, scene, 'sse2') / ms(3, scene, 'avx2'))),
    };
}

function batchFacts(runs) {
    const counters = pick(runs, '004-batches', { method: 'kd-paper-complete' }).filter(isTree)[0]?.counters;
    if (!counters?.batches) return {};
    const small = ['of 1', 'to 2', 'to 4', 'to 8'].reduce((sum, name) => sum + counters[`batches ${name}`], 0);
    return { 'batch-mean': { values: { Gravity: counters['batch tests'] / counters.batches } }, 'batch-small': { values: { Gravity: small / counters.batches } } };
}

const isaNames = { scalar: 'one box at a time (scalar)', sse2: 'with SSE2', avx2: 'with AVX2', avx512: 'with AVX-512', neon: 'with NEON' };
const bothWhy = ({ narrow: found = {}, simd = {} }) => [...Object.entries(found).map(([isa, values]) => `${isaNames[isa]} the better stage alone takes ${onScenes(values)}`), simd['tree only'] && simd.both ? `wide instructions make the tree alone ${times(simd['tree only'])} and both stages ${times(simd.both)} as fast` : ''].filter(Boolean).join('; ');

const pruningRules = [
    { id: 'both-stages', where: 'figure 11', claim: 'neither the tree nor the sweep alone is as good as both', rule: 'the better of the two alone takes longer than both together, with the widest instructions; scene by scene', cases: each(ratio => ratio > 1), show: found => `${listed()(found)} as long as both, ${isaNames[found.isa]}`, why: bothWhy },
    { id: 'simd-single', where: 'figure 11', claim: 'SIMD gains much for a single stage and little for both', rule: 'from scalar to the widest instructions the single stage gains more than both, mean of the scenes; stage by stage', cases: ({ values }) => ['tree only', 'sweep only'].filter(name => values[name]).map(name => [name, values[name] > values.both]), show: named(times) },
    { id: 'avx-marginal', where: 'figure 11', claim: 'AVX is only marginally better than SSE', rule: 'with both stages SSE2 takes 0.97 to 1.15 × AVX2; scene by scene', cases: between(0.97, 1.15), show: listed() },
    { id: 'batch-mean', isCount: true, where: 'section 5', claim: 'on Gravity with 128k cubes a batch has 15.8 tests in the mean', rule: 'within 25 %', cases: between(15.8 * 0.75, 15.8 * 1.25), show: one(digits), published: () => ({ values: { Gravity: Number(textValues().get('004 AVX batch mean tests, Gravity 128k cubes')) } }), publishedFrom: 'section 5' },
    { id: 'batch-small', isCount: true, where: 'section 5', claim: '48 % of the batches have eight tests or fewer', rule: '38 to 58 %', cases: between(0.38, 0.58), show: one(share), published: () => ({ values: { Gravity: Number(textValues().get('004 AVX batches with <=8 tests, percent')) / 100 } }), publishedFrom: 'section 5' },
];

// ---- rebuilt, complete, incremental, adaptive: figure 12

/** From this frame on Free Fall lies still at 8k and 32k; the windows at 128k end just after it. */
export const REST_FROM = 450;

const ratios = {
    'rebuilt-slowest': at => at('-rebuilt') / Math.max(at('-complete'), at('-incremental'), at('')),
    'each-its-goal': (at, scene) => (scene === 'freefall' ? at('-complete') / at('-incremental') : at('-incremental') / at('-complete')),
    'adaptive-close': at => at('') / Math.min(at('-complete'), at('-incremental')),
};

function variantFacts(runs) {
    const ms = scene => kind => pick(runs, '004-variants', { scene, method: `kd-paper${kind}` }).filter(isTree)[0]?.ms_mean ?? NaN;
    const sizes = ascending(pick(runs, '004-variants-whole', { method: 'kd-paper-complete' }).filter(isTree).map(run => run.objects));
    const along = (objects, first) => kind => mean(pick(runs, '004-variants-whole', { method: `kd-paper${kind}`, objects })[0]?.frame_ms?.slice(first) ?? []);
    const over = (above, below) => byScene(scene => ms(scene)(above) / ms(scene)(below));
    const more = { 'rebuilt-slowest': { rebuilt: over('-rebuilt', '-complete'), incremental: over('-incremental', '-complete') }, 'adaptive-close': { incremental: over('', '-incremental') } };
    return Object.fromEntries(Object.entries(ratios).map(([id, ratio]) => {
        const values = byScene(scene => ratio(ms(scene), scene));
        const whole = known(Object.fromEntries(sizes.map(objects => [sizeText(objects), ratio(along(objects, 1), 'freefall')])));
        return [id, isFull(values) ? { values, whole, ...more[id] } : undefined];
    }));
}

const wholeText = (whole, text) => (isFull(whole) ? `at 128k the last window begins at frame ${REST_FROM}; over all 1000 frames of Free Fall ${text} ${atSizes(whole)}` : '');
const failing = (values, test) => Object.keys(values).filter(title => !test(values[title]));
const rebuiltWhy = ({ values, rebuilt, incremental }) => (rebuilt && incremental ? failing(values, ratio => ratio > 1).filter(title => incremental[title] > rebuilt[title]).map(title => `on ${title} the incremental search takes ${times(incremental[title])} of the complete one, more than rebuilding, ${times(rebuilt[title])}`).join('; ') : '');
const goalWhy = ({ values, whole }) => (values['Free Fall'] <= 1 ? wholeText(whole, 'complete takes, of incremental,') : '');
const closeWhy = ({ values, incremental, whole }) => [...failing(values, ratio => ratio <= 1.15).filter(title => incremental?.[title] > 0.9).map(title => `on ${title} it takes ${times(incremental[title])} of the incremental search, which is slow there`), values['Free Fall'] > 1.15 ? wholeText(whole, 'adaptive takes, of the better one,') : ''].filter(Boolean).join('; ');
const variantOfReleased = pick_ => ({ values: Object.fromEntries([['Free Fall', 'freefall', 0.56], ['Brownian', 'brownian', 0.05], ['Gravity', 'gravity', 0.05]].map(([title, scene, at]) => [title, pick_(releasedVariants().find(row => row.scene === scene && row.share === at), scene)])) });

const variantRules = [
    { id: 'rebuilt-slowest', where: 'figure 12', claim: 'rebuilding is the slowest everywhere', rule: 'it takes longer than each of the other three; scene by scene', cases: each(ratio => ratio > 1), show: found => `${listed()(found)} of the slowest other`, why: rebuiltWhy },
    { id: 'each-its-goal', where: 'figure 12', claim: 'incremental is best on Free Fall, complete on Brownian and Gravity', rule: 'the other of the two takes longer; scene by scene', cases: each(ratio => ratio > 1), show: listed(), why: goalWhy },
    { id: 'adaptive-close', where: 'figure 12', claim: 'adaptive is a close second in all scenes', rule: 'at most 1.15 × the better of complete and incremental; scene by scene', cases: each(ratio => ratio <= 1.15), show: listed(), why: closeWhy, published: () => variantOfReleased(row => row.adaptive / Math.min(row.complete, row.incremental)), publishedFrom: RELEASED },
];

// ---- all methods by size: figures 13 and 14, tables 1 and 2

const theirName = method => (method === 'kd-paper' ? 'kd' : method);

/** ms of a method on a scene by size, ours or a published table's: { method: { scene: { objects: ms } } }. */
function laddersOf(runs, parts) {
    return Object.fromEntries(four.map(method => [method, Object.fromEntries(scenes.map(scene => [scene, Object.fromEntries(pick(runs, parts, { scene, method }).filter(run => method !== 'kd-paper' || isTree(run)).map(run => [run.objects, run.ms_mean]))]))]));
}

const laddersOfTable = table => Object.fromEntries(four.map(method => [method, Object.fromEntries(scenes.map(scene => [scene, Object.fromEntries(table.get(`${scene} ${theirName(method)}`))]))]));

const gainAt = (ladders, scene, objects) => Math.min(...peers.map(method => ladders[method][scene][objects] ?? NaN)) / ladders['kd-paper'][scene][objects];
const sizesOf = (ladders, scene) => ascending(Object.keys(ladders['kd-paper'][scene]).map(Number)).filter(objects => gainAt(ladders, scene, objects) > 0);
const gainsOf = (ladders, sizes) => Object.fromEntries(scenes.map(scene => [titles[scene], sizesOf(ladders, scene).filter(objects => !sizes || sizes.includes(objects)).map(objects => gainAt(ladders, scene, objects))]).filter(([, list]) => list.length > 0));
const meanOfAll = gains => (isFull(gains) ? mean(Object.values(gains).flat()) : NaN);

// The best of the three others, scene by scene and size by size.
const secondsOf = ladders => Object.fromEntries(scenes.flatMap(scene => sizesOf(ladders, scene).map(objects => [`${titles[scene]} ${sizeText(objects)}`, peers.reduce((best, method) => (ladders[method][scene][objects] < ladders[best][scene][objects] ? method : best))])));

/** "Free Fall: bullet-dbvt-f at 1k to 128k, cgal at 256k to 1024k; …" of { "Free Fall 1k": method }. */
export function spansText({ values }) {
    return Object.values(titles).map(title => {
        const spans = [];
        for (const [name, method] of Object.entries(values).filter(([name]) => name.startsWith(`${title} `))) {
            const size = name.slice(title.length + 1), last = spans[spans.length - 1];
            if (last?.method === method) last.to = size;
            else spans.push({ method, from: size, to: size });
        }
        return spans.length > 0 ? `${title}: ${spans.map(({ method, from, to }) => `${method} at ${from}${to !== from ? ` to ${to}` : ''}`).join(', ')}` : '';
    }).filter(Boolean).join('; ');
}

// Assorted over cubes at the largest size of both, mean of the scenes.
function hurtOf(plain, varied) {
    const ratio = (method, scene) => {
        const size = Math.max(...Object.keys(varied[method][scene]).map(Number).filter(objects => plain[method][scene][objects]));
        return varied[method][scene][size] / plain[method][scene][size];
    };
    return known(Object.fromEntries(four.map(method => [method, mean(scenes.map(scene => ratio(method, scene)).filter(value => value > 0))])));
}

function slowestFacts(runs) {
    const values = Object.fromEntries(scenes.map(scene => {
        const own = pick(runs, ['004-cubes', '004-cubes-others'], { scene }).filter(run => others.includes(run.method));
        const most = Math.max(...pick(runs, '004-cubes-others', { scene }).map(run => run.objects));
        return [titles[scene], own.filter(run => run.objects === most).sort((a, b) => b.ms_mean - a.ms_mean).slice(0, 2).map(run => run.method)];
    }).filter(([, names]) => names.length === 2));
    return isFull(values) ? { values } : undefined;
}

// Pairs that assorted objects have, over those of as many cubes.
function crowded(runs) {
    return byScene(scene => {
        const own = pick(runs, '004-assorted', { scene, method: 'cgal' });
        const varied = own.find(run => run.objects === Math.max(...own.map(one_ => one_.objects)));
        const plain = varied && pick(runs, '004-cubes', { scene, method: 'cgal', objects: varied.objects })[0];
        return plain && plain.pairs_last > 0 ? varied.pairs_last / plain.pairs_last : NaN;
    });
}

/** With what wide instructions gain for both stages (figure 11), where that was run. */
export function simdOf(found, runs) {
    const simd = pruningFacts(runs)['simd-single']?.values.both;
    return found && { ...found, ...(simd ? { simd } : {}) };
}

/** Why the tree is further ahead than in the paper. */
export const simdWhy = ({ values, simd }) => (simd > 1 ? `at 128k wide instructions make \`kd-paper\` ${times(simd)} as fast as scalar code; without that the mean would be ${times(Object.values(values)[0] / simd)}` : '');

function ladderFacts(runs) {
    const [plain, varied] = [laddersOf(runs, cubes), laddersOf(runs, '004-assorted')];
    const gains = gainsOf(plain);
    const hurts = hurtOf(plain, varied);
    return {
        fastest: isFull(gains) ? { gains } : undefined,
        twice: simdOf(facts({ 'all scenes and sizes': meanOfAll(gains) }), runs),
        'dbvt-second': isFull(secondsOf(plain)) ? { values: secondsOf(plain) } : undefined,
        'axissweep-tracy-last': slowestFacts(runs),
        'assorted-dbvt': Object.keys(hurts).length === 4 ? { values: hurts, crowded: crowded(runs) } : undefined,
        'assorted-gain': assortedGain(plain, varied),
    };
}

function assortedGain(plain, varied) {
    const sizes = ascending(scenes.flatMap(scene => sizesOf(varied, scene)));
    const [ours, same] = [meanOfAll(gainsOf(varied)), meanOfAll(gainsOf(plain, sizes))];
    return ours > 0 && same > 0 ? { values: { assorted: ours, cubes: same } } : undefined;
}

const ofTables = (make, from) => ({ published: () => make(laddersOfTable(table1Of004()), laddersOfTable(table2Of004())), publishedFrom: from });
const gainsText = ({ gains }) => Object.entries(gains).map(([title, list]) => `${title} ${digits(Math.min(...list))} to ${digits(Math.max(...list))} ×`).join(', ');

const slowInBroadmark = () => {
    const row = table2Of001().find(({ scene, objects }) => scene === 'freefall' && objects === 32000);
    return `the Broadmark paper's table II does not have it on Free Fall either: at 32k CGAL takes ${row.cgal.toFixed(2)} s, AxisSweep ${row.axissweep.toFixed(2)}, DBVT D ${row.dbvt_d.toFixed(2)}, Tracy ${row.tracy_st.toFixed(2)}; here no run shows a cause`;
};

const ladderRules = [
    { id: 'fastest', where: 'figures 13, 14', claim: 'the KD-tree is the fastest at every size, cubes', rule: 'the best of DBVT F, DBVT D and CGAL takes longer; scene by scene, at each size', cases: ({ gains }) => Object.entries(gains).flatMap(([title, list]) => list.map((ratio, index) => [`${title} ${index}`, ratio > 1])), show: gainsText, ...ofTables(plain => ({ gains: gainsOf(plain) }), 'table 1') },
    { id: 'twice', where: 'section 5, table 1', claim: 'with cubes it is two to three times faster than the others, on average', rule: 'the best other takes 2 to 4 × its time, mean of scenes and sizes ("times faster" may mean the ratio or the ratio less one)', cases: between(2, 4), show: one(), why: simdWhy, ...ofTables(plain => ({ values: { 'all scenes and sizes': meanOfAll(gainsOf(plain)) } }), 'table 1') },
    { id: 'dbvt-second', where: 'figures 13, 14', claim: 'DBVT, F or D, is second in all scenes', rule: 'the best of the three others is one of them; scene by scene, at each size', cases: each(method => method.startsWith('bullet-dbvt')), show: spansText, brief: ({ values }) => `DBVT in ${Object.values(values).filter(method => method.startsWith('bullet-dbvt')).length} of ${Object.keys(values).length}`, why: () => 'DBVT grows faster than CGAL with the number of objects here: it is second at small sizes, CGAL at large ones', ...ofTables(plain => ({ values: secondsOf(plain) }), 'table 1') },
    { id: 'axissweep-tracy-last', where: 'figure 13', claim: 'AxisSweep and Tracy are the slowest', rule: 'they are the two slowest of the others, at the largest size both ran; scene by scene', cases: each(names => [...names].sort().join() === 'bullet-axissweep,tracy'), show: ({ values }) => Object.entries(values).map(([title, names]) => `${names.join(' and ')} on ${title}`).join(', '), why: slowInBroadmark },
    { id: 'assorted-dbvt', where: 'figure 13', claim: 'assorted objects slow DBVT down, the others only marginally', rule: 'assorted over cubes at the largest size, mean of the scenes: for DBVT F and D more than for CGAL and the KD-tree, for these 1 to 1.5; method by method', cases: ({ values }) => [...['bullet-dbvt-f', 'bullet-dbvt-d'].map(method => [method, values[method] > Math.max(values.cgal, values['kd-paper'])]), ...['cgal', 'kd-paper'].map(method => [method, values[method] >= 1 && values[method] <= 1.5])], show: named(times), why: ({ crowded: found = {} }) => (isFull(found) ? `assorted objects make ${digits(Math.min(...Object.values(found)))} to ${digits(Math.max(...Object.values(found)))} times the pairs of as many cubes here` : ''), ...ofTables((plain, varied) => ({ values: hurtOf(plain, varied) }), 'tables 1 and 2, 32k') },
    { id: 'assorted-gain', where: 'table 2', claim: 'with assorted objects the gain is even higher', rule: 'the best other over the tree, mean of scenes and sizes, is higher than with as many cubes', cases: ({ values }) => [['assorted', values.assorted > values.cubes]], show: named(times), ...ofTables(assortedGain, 'tables 1 and 2') },
];

// ---- one million: figure 1

/** At the largest size that all four ran: { size, ms: { method: { scene title: ms } } }. */
function radarOf(ladders) {
    const size = Math.max(...sizesOf(ladders, 'freefall').filter(objects => scenes.every(scene => four.every(method => ladders[method][scene][objects] > 0))));
    return Number.isFinite(size) ? { size, ms: Object.fromEntries(four.map(method => [method, byScene(scene => ladders[method][scene][size])])) } : undefined;
}

// Scenes can be compared where the windows reach the rest of Free Fall, which they do not above 128k.
function wholeSize(runs) {
    const reach = pick(runs, cubes, { scene: 'freefall', method: 'bullet-dbvt-f' }).filter(run => run.windows.some(window => window.from >= REST_FROM || window.frames > REST_FROM));
    return Math.max(0, ...reach.map(run => run.objects));
}

function radarFacts(runs) {
    const found = radarOf(laddersOf(runs, cubes));
    const most = wholeSize(runs);
    const whole = radarOf(laddersOf(runs.filter(run => run.objects <= most), cubes));
    return { innermost: found?.size >= 1e6 ? found : undefined, 'dbvt-f-coherent': whole, 'small-preference': whole, preferences: whole };
}

const msText = values => Object.entries(values).map(([title, ms]) => `${title} ${digits(ms)} ms`).join(', ');
const bestMs = (ms, title) => Math.min(...peers.map(method => ms[method][title]));
const isWorst = (values, title) => values[title] === Math.max(...Object.values(values));
const isBest = (values, title) => values[title] === Math.min(...Object.values(values));

const radarRules = [
    { id: 'innermost', where: 'figure 1', claim: 'at one million the KD-tree is the fastest of the four on all three scenes', rule: 'at 1024k each other takes longer; scene by scene', cases: ({ ms }) => Object.keys(ms.cgal).map(title => [title, ms['kd-paper'][title] < bestMs(ms, title)]), show: ({ ms }) => Object.keys(ms.cgal).map(title => `${title} ${digits(ms['kd-paper'][title])} ms, the best other ${digits(bestMs(ms, title))}`).join('; '), brief: ({ ms }) => Object.keys(ms.cgal).map(title => `${title} ${times(bestMs(ms, title) / ms['kd-paper'][title])}`).join(', '), lacking: 'the largest size that all four ran is smaller', ...ofTables(radarOf, 'table 1') },
    { id: 'dbvt-f-coherent', where: 'figure 1', claim: 'DBVT F is best where motion is coherent and worst on Gravity', rule: 'its least time is Free Fall\'s; its most is Gravity\'s; at the largest size whose windows reach the rest', cases: ({ ms }) => [['least', isBest(ms['bullet-dbvt-f'], 'Free Fall')], ['most', isWorst(ms['bullet-dbvt-f'], 'Gravity')]], show: ({ size, ms }) => `${sizeText(size)}: ${msText(ms['bullet-dbvt-f'])}`, ...ofTables(radarOf, 'table 1') },
    { id: 'small-preference', where: 'figure 1', claim: 'the KD-tree has a small preference for Free Fall and Brownian', rule: 'Gravity takes 1 to 5 × each of the two, at the largest size whose windows reach the rest', cases: ({ ms }) => ['Free Fall', 'Brownian'].map(title => [title, ms['kd-paper'].Gravity / ms['kd-paper'][title]]).map(([title, ratio]) => [title, ratio >= 1 && ratio <= 5]), show: ({ size, ms }) => `${sizeText(size)}: ${['Free Fall', 'Brownian'].map(title => `Gravity over ${title} ${times(ms['kd-paper'].Gravity / ms['kd-paper'][title])}`).join(', ')}`, ...ofTables(radarOf, 'table 1') },
    { id: 'preferences', where: 'figure 1', claim: 'CGAL and DBVT D prefer Brownian and are considerably worse on Free Fall', rule: 'each is quickest on Brownian, and takes 1.5 × as long or longer on Free Fall, at the largest size whose windows reach the rest; method by method', cases: ({ ms }) => ['cgal', 'bullet-dbvt-d'].flatMap(method => [[`${method}, Brownian`, isBest(ms[method], 'Brownian')], [`${method}, Free Fall`, ms[method]['Free Fall'] / ms[method].Brownian >= 1.5]]), show: ({ size, ms }) => `${sizeText(size)}: ${['cgal', 'bullet-dbvt-d'].map(method => `${method}: ${msText(ms[method])}`).join('; ')}`, brief: ({ ms }) => `Free Fall over Brownian: ${['cgal', 'bullet-dbvt-d'].map(method => `${method} ${times(ms[method]['Free Fall'] / ms[method].Brownian)}`).join(', ')}`, ...ofTables(radarOf, 'table 1') },
];

/** The best of the three others over a tree, all scenes and sizes, in words for the page. */
export const gainText = (runs, method) => {
    const list = scenes.flatMap(scene => kdOf(runs, cubes, scene, method).map(run => bestOther(runs, cubes, scene, run.objects) / run.ms_mean).filter(ratio => ratio > 0));
    return list.length > 0 ? `${digits(Math.min(...list))} to ${digits(Math.max(...list))}` : '';
};

const gainsByRange = runs => Object.fromEntries(Object.entries(restRanges).map(([name, [low, high]]) => [name, restBy(runs, low, high)]));

/** { claim id: numbers }, undefined where the runs for it are missing. */
export const facts004 = ({ runs }) => ({ ...radarFacts(runs), ...leafFacts(runs), ...restFacts(gainsByRange(runs)), ...pruningFacts(runs), ...batchFacts(runs), ...variantFacts(runs), ...ladderFacts(runs) });

export const rules004 = [...radarRules, ...leafRules, ...restRules, ...pruningRules, ...variantRules, ...ladderRules];
