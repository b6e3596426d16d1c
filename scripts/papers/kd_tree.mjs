// SPDX-License-Identifier: MIT
// The KD-tree paper of 2019: its claims (figures 1 and 9 to 14, tables 1 and 2), and its page.
import { radarChart } from '../../report/src/charts/radar.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { light, stylesFor } from '../../report/src/look.js';
import { between, depthChart, each, gainChart, groupChart, known, ladderFigure, listed, named, one, range, seriesBy, share } from './page.mjs';
import { releasedLeaf, releasedVariants, table1Of004, table2Of001, table2Of004, textValues } from './published.mjs';
import { ascending, bestOther, digits, distinct, gainBetween, gainPoints, isTree, kdOf, lacksPhase, ladder, mean, meanDepth, mergeTrees, others, peers, percent, pick, scenes, sizeText, times, titles } from './runs.mjs';

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
    {
        id: 'plateau', where: 'figure 9',
        claim: 'the time is practically constant from T = 256 to 1024, and least there',
        rule: 'none of 256, 512 and 1024 takes more than 1.2 × the best T; scene by scene',
        cases: each(ratio => ratio >= 1 && ratio <= 1.2),
        show: listed(),
        why: found => narrowText(found, values => `the worst of the three takes ${onScenes(values)} of the best T`),
        published: () => leafOfReleased(flatness),
        publishedFrom: RELEASED,
    },
    {
        id: 'tall', where: 'figure 9',
        claim: 'tall trees are slower',
        rule: 'T = 16 takes more than 1.1 × T = 512; scene by scene',
        cases: each(ratio => ratio > 1.1),
        show: listed(),
    },
    {
        id: 'short', where: 'figure 9',
        claim: 'from T = 2048 on short trees are significantly slower',
        rule: 'T = 8192 takes more than 1.1 × T = 512; scene by scene',
        cases: each(ratio => ratio > 1.1),
        show: listed(),
        why: found => narrowText(found, values => `T = 8192 takes ${onScenes(values)} of T = 512`),
        published: () => leafOfReleased(own => atLeaf(own, 8192) / atLeaf(own, 512)),
        publishedFrom: RELEASED,
    },
    {
        id: 'brownian-suffers', where: 'figure 9',
        claim: 'large T hurt Brownian most',
        rule: 'the largest T that still makes a tree costs most, over T = 512, on Brownian',
        cases: isBrownianWorst,
        show: listed(),
        published: () => leafOfReleased(largest),
        publishedFrom: RELEASED,
    },
    {
        id: 'levels', where: 'section 5', isCount: true,
        claim: 'T = 512 makes the tree up to nine levels shorter than one object per leaf',
        rule: 'the deepest leaf is 8 to 10 levels higher up, on the scene where that is most',
        cases: ({ values }) => [['most', Math.max(...Object.values(values)) >= 8 && Math.max(...Object.values(values)) <= 10]],
        show: listed(String),
        brief: ({ values }) => `${Math.max(...Object.values(values))} levels`,
        why: ({ mean: depth }) => (isFull(depth) ? `by the mean depth of the leaves it saves ${onScenes(depth, digits)}` : ''),
        published: () => ({ values: { 'some scene': Number(textValues().get('004 levels saved at T=512').replace('up to ', '')) } }),
        publishedFrom: 'section 5',
    },
];

// ---- static objects, figure 10

// Means of the gain within a range of static shares: { size: complete over incremental }.
function restBy(runs, low, high) {
    const complete = pick(runs, '004-rest', { method: 'kd-paper-complete' }).filter(isTree);
    return known(Object.fromEntries(ascending(complete.map(run => run.objects)).map(objects => [sizeText(objects), gainBetween(gainPoints(complete.filter(run => run.objects === objects), pick(runs, '004-rest', { method: 'kd-paper-incremental', objects })), low, high)])));
}

/**
 * The ranges of static shares that the paper tells apart, the last where all but some frames' objects lie
 * still.
 */
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
    {
        id: 'complete-below-50', where: 'figure 10',
        claim: 'below 50 % static objects the complete search is 5 to 15 % faster',
        rule: 'its time over the incremental search\'s is 0.80 to 0.97 in the mean; size by size',
        cases: between(0.8, 0.97),
        show: listed(times, 'at'),
        brief: range(),
        published: () => ({ values: { '5 %': 1 / 1.05, '15 %': 1 / 1.15 } }),
        publishedFrom: 'section 5',
    },
    {
        id: 'equal-50-60', where: 'figure 10',
        claim: 'from 50 to 60 % both are roughly equal',
        rule: '0.93 to 1.07 in the mean; size by size',
        cases: between(0.93, 1.07),
        show: listed(times, 'at'),
        brief: range(),
        why: restWhy,
        published: () => ({ values: released('freefall', 0.5, 0.6) }),
        publishedFrom: RELEASED,
    },
    {
        id: 'incremental-above-60', where: 'figure 10',
        claim: 'above 60 % the incremental search is considerably faster',
        rule: 'more than 1.05 from 60 to 90 % and from 90 to 99 %; size by size',
        cases: each(gain => gain > 1.05),
        show: listed(times, 'at'),
        brief: range(),
        why: restWhy,
        published: () => ({ values: released('freefall', 0.6, 1) }),
        publishedFrom: RELEASED,
    },
    {
        id: 'same-at-all-sizes', where: 'figure 10',
        claim: 'the gain is the same from 1k to 1024k objects, within 5 %',
        rule: 'the sizes are at most 0.1 apart; range by range of static objects',
        cases: each(spread => spread <= 0.1),
        show: listed(digits, 'apart'),
        published: () => ({ values: { 'at any share': 2 * Number(textValues().get('004 spread at any static share, percent').replace('<=', '')) / 100 } }),
        publishedFrom: 'section 5',
    },
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
    {
        id: 'both-stages', where: 'figure 11',
        claim: 'neither the tree nor the sweep alone is as good as both',
        rule: 'the better of the two alone takes longer than both together, with the widest instructions; scene by scene',
        cases: each(ratio => ratio > 1),
        show: found => `${listed()(found)} as long as both, ${isaNames[found.isa]}`,
        why: bothWhy,
    },
    {
        id: 'simd-single', where: 'figure 11',
        claim: 'SIMD gains much for a single stage and little for both',
        rule: 'from scalar to the widest instructions the single stage gains more than both, mean of the scenes; stage by stage',
        cases: ({ values }) => ['tree only', 'sweep only'].filter(name => values[name]).map(name => [name, values[name] > values.both]),
        show: named(times),
    },
    {
        id: 'avx-marginal', where: 'figure 11',
        claim: 'AVX is only marginally better than SSE',
        rule: 'with both stages SSE2 takes 0.97 to 1.15 × AVX2; scene by scene',
        cases: between(0.97, 1.15),
        show: listed(),
    },
    {
        id: 'batch-mean', where: 'section 5', isCount: true,
        claim: 'on Gravity with 128k cubes a batch has 15.8 tests in the mean',
        rule: 'within 25 %',
        cases: between(15.8 * 0.75, 15.8 * 1.25),
        show: one(digits),
        published: () => ({ values: { Gravity: Number(textValues().get('004 AVX batch mean tests, Gravity 128k cubes')) } }),
        publishedFrom: 'section 5',
    },
    {
        id: 'batch-small', where: 'section 5', isCount: true,
        claim: '48 % of the batches have eight tests or fewer',
        rule: '38 to 58 %',
        cases: between(0.38, 0.58),
        show: one(share),
        published: () => ({ values: { Gravity: Number(textValues().get('004 AVX batches with <=8 tests, percent')) / 100 } }),
        publishedFrom: 'section 5',
    },
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
    {
        id: 'rebuilt-slowest', where: 'figure 12',
        claim: 'rebuilding is the slowest everywhere',
        rule: 'it takes longer than each of the other three; scene by scene',
        cases: each(ratio => ratio > 1),
        show: found => `${listed()(found)} of the slowest other`,
        why: rebuiltWhy,
    },
    {
        id: 'each-its-goal', where: 'figure 12',
        claim: 'incremental is best on Free Fall, complete on Brownian and Gravity',
        rule: 'the other of the two takes longer; scene by scene',
        cases: each(ratio => ratio > 1),
        show: listed(),
        why: goalWhy,
    },
    {
        id: 'adaptive-close', where: 'figure 12',
        claim: 'adaptive is a close second in all scenes',
        rule: 'at most 1.15 × the better of complete and incremental; scene by scene',
        cases: each(ratio => ratio <= 1.15),
        show: listed(),
        why: closeWhy,
        published: () => variantOfReleased(row => row.adaptive / Math.min(row.complete, row.incremental)),
        publishedFrom: RELEASED,
    },
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
const laddersGains = (ladders, sizes) => Object.fromEntries(scenes.map(scene => [titles[scene], sizesOf(ladders, scene).filter(objects => !sizes || sizes.includes(objects)).map(objects => gainAt(ladders, scene, objects))]).filter(([, list]) => list.length > 0));
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
    const gains = laddersGains(plain);
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
    const [ours, same] = [meanOfAll(laddersGains(varied)), meanOfAll(laddersGains(plain, sizes))];
    return ours > 0 && same > 0 ? { values: { assorted: ours, cubes: same } } : undefined;
}

const ofTables = (make, from) => ({ published: () => make(laddersOfTable(table1Of004()), laddersOfTable(table2Of004())), publishedFrom: from });
const gainsText = ({ gains }) => Object.entries(gains).map(([title, list]) => `${title} ${digits(Math.min(...list))} to ${digits(Math.max(...list))} ×`).join(', ');

const slowInBroadmark = () => {
    const row = table2Of001().find(({ scene, objects }) => scene === 'freefall' && objects === 32000);
    return `the Broadmark paper's table II does not have it on Free Fall either: at 32k CGAL takes ${row.cgal.toFixed(2)} s, AxisSweep ${row.axissweep.toFixed(2)}, DBVT D ${row.dbvt_d.toFixed(2)}, Tracy ${row.tracy_st.toFixed(2)}; here no run shows a cause`;
};

const ladderRules = [
    {
        id: 'fastest', where: 'figures 13, 14',
        claim: 'the KD-tree is the fastest at every size, cubes',
        rule: 'the best of DBVT F, DBVT D and CGAL takes longer; scene by scene, at each size',
        cases: ({ gains }) => Object.entries(gains).flatMap(([title, list]) => list.map((ratio, index) => [`${title} ${index}`, ratio > 1])),
        show: gainsText,
        ...ofTables(plain => ({ gains: laddersGains(plain) }), 'table 1'),
    },
    {
        id: 'twice', where: 'section 5, table 1',
        claim: 'with cubes it is two to three times faster than the others, on average',
        rule: 'the best other takes 2 to 4 × its time, mean of scenes and sizes ("times faster" may mean the ratio or the ratio less one)',
        cases: between(2, 4),
        show: one(),
        why: simdWhy,
        ...ofTables(plain => ({ values: { 'all scenes and sizes': meanOfAll(laddersGains(plain)) } }), 'table 1'),
    },
    {
        id: 'dbvt-second', where: 'figures 13, 14',
        claim: 'DBVT, F or D, is second in all scenes',
        rule: 'the best of the three others is one of them; scene by scene, at each size',
        cases: each(method => method.startsWith('bullet-dbvt')),
        show: spansText,
        brief: ({ values }) => `DBVT in ${Object.values(values).filter(method => method.startsWith('bullet-dbvt')).length} of ${Object.keys(values).length}`,
        why: () => 'DBVT grows faster than CGAL with the number of objects here: it is second at small sizes, CGAL at large ones',
        ...ofTables(plain => ({ values: secondsOf(plain) }), 'table 1'),
    },
    {
        id: 'axissweep-tracy-last', where: 'figure 13',
        claim: 'AxisSweep and Tracy are the slowest',
        rule: 'they are the two slowest of the others, at the largest size both ran; scene by scene',
        cases: each(names => [...names].sort().join() === 'bullet-axissweep,tracy'),
        show: ({ values }) => Object.entries(values).map(([title, names]) => `${names.join(' and ')} on ${title}`).join(', '),
        why: slowInBroadmark,
    },
    {
        id: 'assorted-dbvt', where: 'figure 13',
        claim: 'assorted objects slow DBVT down, the others only marginally',
        rule: 'assorted over cubes at the largest size, mean of the scenes: for DBVT F and D more than for CGAL and the KD-tree, for these 1 to 1.5; method by method',
        cases: ({ values }) => [...['bullet-dbvt-f', 'bullet-dbvt-d'].map(method => [method, values[method] > Math.max(values.cgal, values['kd-paper'])]), ...['cgal', 'kd-paper'].map(method => [method, values[method] >= 1 && values[method] <= 1.5])],
        show: named(times),
        why: ({ crowded: found = {} }) => (isFull(found) ? `assorted objects make ${digits(Math.min(...Object.values(found)))} to ${digits(Math.max(...Object.values(found)))} times the pairs of as many cubes here` : ''),
        ...ofTables((plain, varied) => ({ values: hurtOf(plain, varied) }), 'tables 1 and 2, 32k'),
    },
    {
        id: 'assorted-gain', where: 'table 2',
        claim: 'with assorted objects the gain is even higher',
        rule: 'the best other over the tree, mean of scenes and sizes, is higher than with as many cubes',
        cases: ({ values }) => [['assorted', values.assorted > values.cubes]],
        show: named(times),
        ...ofTables(assortedGain, 'tables 1 and 2'),
    },
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
    {
        id: 'innermost', where: 'figure 1',
        claim: 'at one million the KD-tree is the fastest of the four on all three scenes',
        rule: 'at 1024k each other takes longer; scene by scene',
        cases: ({ ms }) => Object.keys(ms.cgal).map(title => [title, ms['kd-paper'][title] < bestMs(ms, title)]),
        show: ({ ms }) => Object.keys(ms.cgal).map(title => `${title} ${digits(ms['kd-paper'][title])} ms, the best other ${digits(bestMs(ms, title))}`).join('; '),
        brief: ({ ms }) => Object.keys(ms.cgal).map(title => `${title} ${times(bestMs(ms, title) / ms['kd-paper'][title])}`).join(', '),
        lacking: 'the largest size that all four ran is smaller',
        ...ofTables(radarOf, 'table 1'),
        lacking: 'at 1024k the windows end before the pile and the rest of Free Fall and the throws of Gravity',
    },
    {
        id: 'dbvt-f-coherent', where: 'figure 1',
        claim: 'DBVT F is best where motion is coherent and worst on Gravity',
        rule: 'its least time is Free Fall\'s; its most is Gravity\'s; at the largest size whose windows reach the rest',
        cases: ({ ms }) => [['least', isBest(ms['bullet-dbvt-f'], 'Free Fall')], ['most', isWorst(ms['bullet-dbvt-f'], 'Gravity')]],
        show: ({ size, ms }) => `${sizeText(size)}: ${msText(ms['bullet-dbvt-f'])}`,
        ...ofTables(radarOf, 'table 1'),
    },
    {
        id: 'small-preference', where: 'figure 1',
        claim: 'the KD-tree has a small preference for Free Fall and Brownian',
        rule: 'Gravity takes 1 to 5 × each of the two, at the largest size whose windows reach the rest',
        cases: ({ ms }) => ['Free Fall', 'Brownian'].map(title => [title, ms['kd-paper'].Gravity / ms['kd-paper'][title]]).map(([title, ratio]) => [title, ratio >= 1 && ratio <= 5]),
        show: ({ size, ms }) => `${sizeText(size)}: ${['Free Fall', 'Brownian'].map(title => `Gravity over ${title} ${times(ms['kd-paper'].Gravity / ms['kd-paper'][title])}`).join(', ')}`,
        ...ofTables(radarOf, 'table 1'),
    },
    {
        id: 'preferences', where: 'figure 1',
        claim: 'CGAL and DBVT D prefer Brownian and are considerably worse on Free Fall',
        rule: 'each is quickest on Brownian, and takes 1.5 × as long or longer on Free Fall, at the largest size whose windows reach the rest; method by method',
        cases: ({ ms }) => ['cgal', 'bullet-dbvt-d'].flatMap(method => [[`${method}, Brownian`, isBest(ms[method], 'Brownian')], [`${method}, Free Fall`, ms[method]['Free Fall'] / ms[method].Brownian >= 1.5]]),
        show: ({ size, ms }) => `${sizeText(size)}: ${['cgal', 'bullet-dbvt-d'].map(method => `${method}: ${msText(ms[method])}`).join('; ')}`,
        brief: ({ ms }) => `Free Fall over Brownian: ${['cgal', 'bullet-dbvt-d'].map(method => `${method} ${times(ms[method]['Free Fall'] / ms[method].Brownian)}`).join(', ')}`,
        ...ofTables(radarOf, 'table 1'),
    },
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

// ==== the page

const rowsOfTable = [...peers, 'kd-paper', 'kd', 'cleave'];
const published = method => (method === 'kd-paper' ? 'kd' : method); // the paper's KD-tree is this row

// ---- tables 1 and 2

const cellOf = (run, ms) => [run ? `${digits(run.ms_mean)} (${digits(run.cv)})${lacksPhase(run) ? ' †' : ''}` : '', ms === undefined ? '' : digits(ms)];

/**
 * Rows of a scene: each method's mean with its coefficient of variation, and the paper's mean, size by size.
 */
function tableRows(runs, part, theirs, scene, sizes) {
    return rowsOfTable.map(method => {
        const own = pick(runs, part, { scene, method });
        const paper = method === 'kd' || method === 'cleave' ? undefined : theirs.get(`${scene} ${published(method)}`);
        if (own.length === 0 && !paper) return null;
        return [titles[scene], method, ...sizes.flatMap(objects => cellOf(own.find(run => run.objects === objects), paper?.get(objects)))];
    }).filter(Boolean);
}

function gainRow(runs, part, theirs, scene, sizes, method) {
    return [titles[scene], `gain of ${method}`, ...sizes.flatMap(objects => {
        const run = pick(runs, part, { scene, method, objects })[0];
        const gain = bestOther(runs, part, scene, objects) / run?.ms_mean - 1;
        const paper = method === 'kd-paper' ? theirs.get(`${scene} gain`)?.get(objects) : undefined;
        return [Number.isNaN(gain) ? '' : lacksPhase(run) ? 'cannot be tested' : percent(gain), paper === undefined ? '' : `${paper} %`];
    })];
}

function tableBlocks(number, runs, part, theirs) {
    const own = pick(runs, part);
    const sizes = ascending(own.map(run => run.objects));
    const rows = scenes.flatMap(scene => [...tableRows(runs, part, theirs, scene, sizes), ...['kd-paper', 'kd'].map(method => gainRow(runs, part, theirs, scene, sizes, method))]);
    return [
        {
            fold: `Table ${number}: ${number === 1 ? 'cubes' : 'assorted objects'}, ms per frame, ours and the paper's`,
            blocks: [
                'Mean (coefficient of variation over the run), beside it the paper\'s mean over 1000 frames. `kd-paper` is the tree as published, `kd` and `cleave` are ours. Gain: the best of the three others over the tree, less 1. †: windows that end before the pile and the rest, so that this is not the paper\'s mean and no claim is tested by it.',
                { table: [['scene', 'method', ...sizes.flatMap(objects => [sizeText(objects), 'paper'])], ...rows], left: 2 },
            ],
        },
        { from: own.filter(run => rowsOfTable.includes(run.method)) },
    ];
}

// ---- figures

const radar = (figure, alt, title, series) => ({ figure, alt, draw: size => radarChart({ ...size, title, axes: scenes.map(scene => titles[scene]), series }), height: 460 });

function radarSection({ runs }, theirs) {
    const own = pick(runs, cubes);
    const has = (scene, method, objects) => own.find(run => run.scene === scene && run.method === method && run.objects === objects);
    const objects = Math.max(...ascending(own.map(run => run.objects)).filter(size => scenes.every(scene => has(scene, 'kd-paper', size))));
    const methods = ['cleave', 'kd', 'kd-paper', ...peers].filter(method => scenes.every(scene => has(scene, method, objects)));
    return {
        heading: 'Which motion suits which method? (figure 1)',
        claims: ['innermost', 'dbvt-f-coherent', 'small-preference', 'preferences'],
        blocks: [
            'A corner for each scene, the time on it; nearer to the middle is faster. Free Fall comes to rest, Brownian moves at random, Gravity throws all objects to and fro.',
            radar('figure-1', `Ours: mean ms per frame on the three scenes, ${sizeText(objects)} cubes`, `ours, ${sizeText(objects)} cubes, ms per frame`, methods.map(method => ({ name: method, values: scenes.map(scene => has(scene, method, objects).ms_mean) }))),
            { fold: 'The same from the paper\'s table 1', blocks: [radar('figure-1-paper', 'The paper: mean ms per frame on the three scenes, 1024k cubes', 'paper, 1024k cubes, ms per frame', four.map(method => ({ name: method, values: scenes.map(scene => theirs.get(`${scene} ${published(method)}`).get(1024000)) })))] },
            'claims',
            { from: own.filter(run => run.objects === objects && methods.includes(run.method)) },
        ],
    };
}

/** Leaves by depth as shares, and objects in leaves, averaged over runs. */
export function depthRow(leaf, runs) {
    const depths = Array.from({ length: 25 }, (_, depth) => mean(runs.map(run => (run.counters[depth < 24 ? `leaves at depth ${depth}` : 'leaves deeper'] ?? 0) / run.counters.leaves)));
    return { leaf, depths, inLeaves: mean(runs.map(run => run.counters['objects in leaves'] / run.objects)) };
}

/** "T from 8192 to 32768 is one node; …" for those that are left out or merged. */
export function leafNotes(runs, setting) {
    const bare = ascending(runs.filter(run => !isTree(run)).map(run => run.settings[setting]));
    const merged = scenes.flatMap(scene => mergeTrees(runs.filter(run => run.scene === scene), setting).filter(point => point.same.length > 0).map(point => `T = ${[point.leaf, ...point.same].join(' and ')} make the same tree on ${titles[scene]} and are one point`));
    return [...(bare.length > 0 ? [`T = ${bare.join(', ')} make one node, which is no tree, and are left out${bare.length > 0 && distinct(runs.filter(run => !isTree(run)).map(run => run.scene)).length < scenes.length ? ' where they do' : ''}`] : []), ...merged].join('; ');
}

function leafSection({ runs, isStored }) {
    const own = pick(runs, '004-leaf'), trees = own.filter(isTree);
    const heading = 'How large should a leaf be? (figure 9)';
    if (trees.length === 0) return { heading, blocks: ['No run here made a tree of more than one node.'] };
    const rows = () => ascending(trees.map(run => run.settings['kd.leaf'])).map(leaf => depthRow(leaf, trees.filter(run => run.settings['kd.leaf'] === leaf)));
    const seriesOf = (method, points) => Object.entries(points).map(([scene, list]) => ({ name: `${method}, ${titles[scene]}`, points: list.map(point => [point.leaf, point.ms_mean]) }));
    const series = [...seriesOf('kd-paper', leafPoints(runs)), ...seriesOf('kd', leafPoints(runs, '004-leaf-ours', 'kd.leaf'))];
    return {
        heading,
        claims: ['plateau', 'tall', 'short', 'brownian-suffers', 'levels'],
        blocks: [
            `T is the most objects a leaf may hold. Swept from 16 to 32768, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes; \`kd-paper\` is the tree as published, \`kd\` ours.`,
            { figure: 'figure-9-time', alt: 'Mean ms per frame by T', draw: size => sweepChart({ ...size, title: 'ms per frame by T', parameter: 'T', series }), height: 400 },
            { fold: 'How deep the leaves lie', blocks: [{ figure: 'figure-9-depth', alt: 'Depth of leaves and share of objects in leaves by T', draw: isStored ? null : size => depthChart({ ...size, title: 'depth of leaves, mean over the scenes', rows: rows() }), height: 380 }, leafNotes(own, 'kd.leaf')] },
            'claims',
            { from: trees },
        ],
    };
}

const gainCell = gain => (gain === undefined || Number.isNaN(gain) ? 'no frames' : times(gain));
const paperGains = { 'below 50 %': '0.87 to 0.95', '50 to 60 %': 'about 1', '60 to 90 %': 'above 1', '90 to 99 %': 'up to 1.6 and beyond', '99 % and more': '' };

/** Gains by range of static objects: { published: { range: { size: gain } }, ours: { range: gain } }. */
export function gainsOf(runs) {
    const points = (part, kin, more = {}) => gainPoints(pick(runs, part, { method: `${kin}-complete`, ...more }).filter(isTree), pick(runs, part, { method: `${kin}-incremental`, ...more }));
    const sizes = ascending(pick(runs, '004-rest').filter(isTree).map(run => run.objects));
    const by = list => ([low, high]) => { const gain = gainBetween(list, low, high); return Number.isNaN(gain) ? undefined : gain; };
    return {
        published: Object.fromEntries(Object.entries(restRanges).map(([name, bounds]) => [name, Object.fromEntries(sizes.map(objects => [sizeText(objects), by(points('004-rest', 'kd-paper', { objects }))(bounds)]))])),
        ours: Object.fromEntries(Object.entries(restRanges).map(([name, bounds]) => [name, by(points('004-rest-ours', 'kd'))(bounds)])),
    };
}

function restSection({ runs, gains = gainsOf(runs), isStored }) {
    const pointsOf = (kin, part) => gainPoints(pick(runs, part, { method: `${kin}-complete` }).filter(isTree), pick(runs, part, { method: `${kin}-incremental` }));
    const series = isStored ? [] : [['kd-paper', '004-rest'], ['kd', '004-rest-ours']].map(([kin, part]) => ({ name: kin, like: kin, points: pointsOf(kin, part) })).filter(one => one.points.length > 0);
    if (!isStored && series.length === 0) return null;
    const dots = (title, clampY) => (isStored ? null : size => gainChart({ ...size, title, series, clampY }));
    const sizes = Object.keys(Object.values(gains.published)[0] ?? {});
    const rows = Object.keys(restRanges).map(name => [name, paperGains[name], ...sizes.map(size => gainCell(gains.published[name]?.[size])), gainCell(gains.ours?.[name])]);
    return {
        heading: 'When does it pay to keep pairs? (figure 10)',
        claims: ['complete-below-50', 'equal-50-60', 'incremental-above-60', 'same-at-all-sizes'],
        blocks: [
            'The incremental search keeps pairs of objects that lie still, the complete one finds all of them anew. Each dot is a frame of Free Fall: how long the complete search took over the incremental one. Above 1 keeping pays.',
            { figure: 'figure-10', alt: 'Complete over incremental time per frame against the share of static objects', draw: dots('gain per frame and its moving average, 0.4 to 1.6', [0.4, 1.6]), height: 440 },
            'claims',
            {
                fold: 'Gains by share of static objects and size',
                blocks: [{ table: [['static objects', 'paper', ...sizes, 'kd (ours), all sizes'], ...rows] }, { figure: 'figure-10-whole', alt: 'The same dots, up to 16', draw: dots('the same up to 16', [0, 16]), height: 380 }],
            },
            { from: pick(runs, ['004-rest', '004-rest-ours']) },
        ],
    };
}

function pruningSection({ runs, isStored }) {
    const own = pick(runs, stages.map(([, part]) => part));
    const sizes = ascending(own.map(run => run.objects));
    if (sizes.length === 0) return null;
    const isas = isaOrder.filter(isa => own.some(run => run.variant === isa));
    const present = scenes.filter(scene => own.some(run => run.scene === scene));
    const most = sizes[sizes.length - 1];
    const bars = [...stages, ['kd (ours)', '004-pruning-ours']].filter(([, part]) => pick(runs, part).length > 0);
    const at = (scene, part, isa, objects = most) => stageMs(runs, part, scene, isa, objects);
    const figureOf = scene => present.includes(scene) && {
        figure: `figure-11-${scene}`, alt: `${titles[scene]}: mean ms per frame of each pruning stage and instruction set, ${sizeText(most)} cubes`, height: 380,
        draw: size => groupChart({
            ...size, title: `${titles[scene]}, ${sizeText(most)} cubes, complete search`, value: 'ms per frame', categories: bars.map(([name]) => name.replace(' ', '\n')),
            series: isas.map(isa => ({ name: isa, values: bars.map(([, part]) => at(scene, part, isa)) })),
        }),
    };
    const rows = present.flatMap(scene => bars.map(([name, part]) => [titles[scene], name, ...sizes.flatMap(objects => isas.map(isa => digits(at(scene, part, isa, objects))))]));
    return {
        heading: 'Do the tree and the sweep need each other? (figure 11)',
        claims: ['both-stages', 'simd-single', 'avx-marginal', 'batch-mean', 'batch-small'],
        blocks: [
            'The tree prunes in space, the sweep along an axis. Each alone, both, and neither, with narrower and wider instructions.',
            figureOf('gravity'),
            'claims',
            { fold: 'The other scenes', blocks: present.filter(scene => scene !== 'gravity').map(figureOf) },
            { fold: 'All stages, sizes and instruction sets, ms per frame', blocks: [{ table: [['scene', 'stage', ...sizes.flatMap(objects => isas.map(isa => `${isa}, ${sizeText(objects)}`))], ...rows], left: 2 }] },
            { from: own.filter(run => run.parts[0] === '004-pruning-both' || run.parts[0] === '004-pruning-tree') },
            { fold: 'How many tests a batch has', blocks: batchBlocks(runs, isStored) },
        ],
    };
}

const bins = [['1', 'batches of 1'], ...[2, 4, 8, 16, 32, 64, 128, 256, 512].map(most => [`to ${most}`, `batches to ${most}`]), ['more', 'batches longer']];

function batchBlocks(runs, isStored) {
    const own = pick(runs, '004-batches').filter(run => isStored || run.counters.batches > 0);
    if (own.length === 0) return [];
    const series = () => own.map(run => ({ name: run.method, values: bins.map(([, name]) => Number((run.counters[name] / run.counters.batches).toFixed(4))) }));
    return [
        'A batch is what one object is tested against in one go.',
        {
            figure: 'figure-11-batches', alt: 'Shares of batches by their number of tests', height: 320,
            draw: isStored ? null : size => groupChart({ ...size, title: `Gravity, ${sizeText(own[0].objects)} cubes: tests per batch`, value: 'share of the batches', log: false, categories: bins.map(([name]) => name), series: series() }),
        },
        { from: own },
    ];
}

function variantsSection({ runs }) {
    const own = pick(runs, ['004-variants', '004-variants-ours']);
    if (own.length === 0) return null;
    const names = ['kd-paper', 'kd'].flatMap(kin => ['-rebuilt', '-complete', '-incremental', ''].map(kind => `${kin}${kind}`)).filter(name => own.some(run => run.method === name));
    const at = (scene, method) => own.find(run => run.scene === scene && run.method === method);
    const rows = scenes.map(scene => [titles[scene], ...names.map(name => (at(scene, name) ? `${digits(at(scene, name).ms_mean)} (${digits(at(scene, name).cv)})` : ''))]);
    return {
        heading: 'Rebuild, search all, search what moved, or choose? (figure 12)',
        claims: ['rebuilt-slowest', 'each-its-goal', 'adaptive-close'],
        blocks: [
            `Four variants of the tree, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes. \`-rebuilt\` makes a new tree every frame, \`-complete\` finds all pairs anew, \`-incremental\` keeps those at rest; without a suffix it chooses every frame.`,
            {
                figure: 'figure-12', alt: 'Mean ms per frame of the four variants on the three scenes, as published and ours', height: 380,
                draw: size => groupChart({ ...size, title: 'ms per frame', value: 'ms per frame', log: false, categories: scenes.map(scene => titles[scene]), series: names.map(name => ({ name, values: scenes.map(scene => at(scene, name)?.ms_mean) })) }),
            },
            'claims',
            { fold: 'The numbers, ms per frame', blocks: [{ table: [['scene', ...names], ...rows] }] },
            { from: own },
        ],
    };
}

/** Ours and the paper's lines of one scene. */
function figure14(runs, theirs, scene) {
    const own = pick(runs, cubes, { scene });
    const series = four.filter(method => own.some(run => run.method === method)).map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) }));
    const paper = four.map(method => ({ name: `${method} (paper)`, points: [...theirs.get(`${scene} ${published(method)}`)] }));
    const styles = stylesFor(four, light);
    four.forEach(method => styles.set(`${method} (paper)`, { ...styles.get(method), dash: [2, 4], width: 1.4 }));
    return ladderFigure(`figure-14-${scene}`, `${titles[scene]}, cubes: mean ms per frame by number of objects, ours and the paper's (dotted)`, { title: `${titles[scene]}, cubes: ours, and the paper's dotted`, series: [...series, ...paper], styles, height: 440 });
}

const figure13 = (runs, parts, type, scene) => ladderFigure(`figure-13-${scene}-${type}`, `${titles[scene]}, ${type}: mean ms per frame by number of objects`, { title: `${titles[scene]}, ${type}`, series: seriesBy(pick(runs, parts, { scene }).filter(run => run.objects <= 32000)), height: 380 });

function laddersSection({ runs }, theirs) {
    const [plain, assorted] = [['004-cubes', '004-cubes-others'], ['004-assorted']];
    const figures13 = [...['freefall', 'brownian'].map(scene => figure13(runs, plain, 'cubes', scene)), ...scenes.map(scene => figure13(runs, assorted, 'assorted', scene))];
    return {
        heading: 'Does it stay ahead as objects become many? (figures 13 and 14, tables 1 and 2)',
        claims: ['fastest', 'twice', 'dbvt-second', 'axissweep-tracy-last', 'assorted-dbvt', 'assorted-gain'],
        blocks: [
            figure13(runs, plain, 'cubes', 'gravity'),
            'claims',
            { fold: 'Figure 13: the other scenes, and assorted objects', blocks: figures13 },
            { from: pick(runs, [...plain, ...assorted]).filter(run => run.objects <= 32000) },
            { fold: 'Figure 14: the four best to one million, the other scenes', blocks: ['freefall', 'gravity'].map(scene => figure14(runs, theirs, scene)) },
            ...tableBlocks(1, runs, cubes, theirs),
            ...tableBlocks(2, runs, '004-assorted', table2Of004()),
        ],
    };
}

// How well windows stand for the run.
function wholeSection({ runs }) {
    const own = pick(runs, ['004-whole', '004-whole-32k']);
    if (own.length === 0) return null;
    const rows = own.map(run => {
        const windows = pick(runs, '004-cubes', { scene: run.scene, method: run.method, objects: run.objects })[0];
        return [titles[run.scene], sizeText(run.objects), run.method, digits(run.ms_mean), digits(run.cv), windows ? digits(windows.ms_mean) : '', windows ? times(windows.ms_mean / run.ms_mean) : ''];
    });
    return {
        heading: 'Do windows stand for the whole run?',
        blocks: [
            'The paper times 1000 frames, most of our runs windows of ten spread over them. Where both were run, this is what windows make of the whole.',
            { fold: 'Whole runs beside windows', blocks: [{ table: [['scene', 'cubes', 'method', 'whole, ms', 'coefficient of variation', 'windows, ms', 'windows / whole'], ...rows], left: 3 }] },
            { from: own },
        ],
    };
}

// How far ahead the tree is at the largest size, and in the paper.
function numberText(runs, theirs) {
    const sizes = ascending(pick(runs, cubes, { method: 'kd-paper' }).filter(isTree).map(run => run.objects)).filter(objects => scenes.every(scene => bestOther(runs, cubes, scene, objects) > 0));
    const objects = sizes[sizes.length - 1];
    if (!objects) return '';
    const ours = scene => bestOther(runs, cubes, scene, objects) / pick(runs, cubes, { scene, method: 'kd-paper', objects })[0]?.ms_mean;
    const paper = scene => Math.min(...peers.map(method => theirs.get(`${scene} ${method}`).get(objects) ?? NaN)) / theirs.get(`${scene} kd`).get(objects);
    const text = (value, name = scene => ` (${titles[scene]})`) => scenes.map((scene, index) => `${index === scenes.length - 1 ? 'and ' : ''}${digits(value(scene))}${name(scene)}`).join(', ').replace(', and', ' and');
    return `With ${sizeText(objects)} cubes the tree as published is ${text(ours)} times as fast as the best other method${scenes.every(scene => paper(scene) > 0) ? `; in the paper ${text(paper, () => '')} times` : ''}. \`kd\`, our own tree, is ${gainText(runs, 'kd')} times as fast, from size to size and scene to scene.`;
}

export const paper = {
    number: '004',
    rules: rules004,
    factsOf: facts004,
    page: (data, theirs = table1Of004(), whole = data.runs.filter(run => !lacksPhase(run))) => ({
        title: 'The KD-tree paper: one tree for all kinds of motion',
        machine: 'an i7-7700, one thread',
        question: 'Can one broad phase be the fastest whether objects lie still, drift at random or are thrown about? The paper answers with a KD-tree of large leaves, a sweep within them, SIMD, and a search that keeps pairs at rest.',
        picture: figure14(data.runs, theirs, 'brownian'),
        keys: { fastest: 'the KD-tree is the fastest at every size', 'adaptive-close': 'choosing the search every frame costs little', 'incremental-above-60': 'keeping pairs pays once 60 % of the objects lie still', twice: 'the tree is two to three times faster than the others', plateau: 'leaves of 256 to 1024 objects do alike', 'both-stages': 'tree and sweep together beat either alone' },
        figure: numberText(whole, theirs),
        runs: pick(data.runs, cubes, { scene: 'brownian' }).filter(run => four.includes(run.method)),
        about: ['`kd-paper` is the paper\'s tree as published, T = 512 and K = 60 % unless a figure sweeps them. `kd` is what we made of it; [docs/kd.md](../../docs/kd.md) tells the differences. `bullet-dbvt-f` and `bullet-dbvt-d` are the paper\'s DBVT F and D, `cgal` its CGAL.'],
        sections: [radarSection({ runs: whole }, theirs), leafSection(data), restSection(data), pruningSection(data), variantsSection(data), laddersSection(data, theirs), wholeSection(data)],
    }),
};
