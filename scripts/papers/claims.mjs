// SPDX-License-Identifier: MIT
// What the papers claim, claim by claim, and the rule by which our runs decide. The pages' verdicts are these and no others; all of
// them, with our numbers, go to bench/papers/claims.csv. A rule answers yes (true), no (false), or nothing (undefined: it lacks runs).
import { digits, percent, sizeText, times } from './page.mjs';
import { meanDepth, of000, of001, of002 } from './claims_more.mjs';
import { of003 } from './claims_003.mjs';
import { bestBySize, bestOther, gainBetween, gainPoints, kdOf, others, peers, scenes, titles } from './figures.mjs';
import { ascending, isTree, mean, mergeTrees, pick } from './runs.mjs';

const atLeaf = (points, leaf) => points.find(point => point.leaf === leaf || point.same.includes(leaf))?.ms_mean;

/** Per scene the merged points over T: { scene: [{ leaf, ms_mean, same }] }. */
export function leafPoints(runs, part = '004-leaf', setting = 'kd.leaf') {
    return Object.fromEntries(scenes.map(scene => [scene, mergeTrees(pick(runs, part, { scene }), setting)]).filter(([, points]) => points.length > 0));
}

const eachScene = (values, show = times) => Object.entries(values).map(([scene, value]) => `${show(value)} on ${titles[scene] ?? scene}`).join(', ');
const known = values => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && !Number.isNaN(value)));
const every = (values, test) => (Object.keys(known(values)).length === 0 ? undefined : Object.values(known(values)).every(test));

// T against T, per scene.
function leafRatio(runs, above, below, part, setting) {
    return known(Object.fromEntries(Object.entries(leafPoints(runs, part, setting)).map(([scene, points]) => [scene, atLeaf(points, above) / atLeaf(points, below)])));
}

const sizeOf = (runs, part) => sizeText(Math.max(0, ...pick(runs, part).map(run => run.objects)));

function leafClaims(runs) {
    const points = leafPoints(runs);
    const plateau = known(Object.fromEntries(Object.entries(points).map(([scene, own]) => [scene, flatness(own)])));
    const [deep, shallow] = [leafRatio(runs, 16, 512), leafRatio(runs, 8192, 512)];
    const ours = leafRatio(runs, 8192, 512, '004-leaf-ours', 'kd.leaf');
    const oursWhy = Object.keys(ours).length > 0 ? `with \`kd\`, whose sweeps cut long lists into strips, T = 8192 takes ${eachScene(ours)} of T = 512` : '';
    const shortWhy = [narrowText(runs, own => atLeaf(own, 8192) / atLeaf(own, 512), 'T = 8192 takes', 'of T = 512'), oursWhy].filter(Boolean).join('; ');
    const flatWhy = [narrowText(runs, flatness, 'the worst of 256, 512 and 1024 takes', 'of the best T'), oursWhy].filter(Boolean).join('; ');
    const most = known(Object.fromEntries(Object.entries(points).map(([scene, own]) => [scene, own[own.length - 1].ms_mean / atLeaf(own, 512)])));
    const worst = Object.entries(most).sort((a, b) => b[1] - a[1])[0]?.[0];
    return [
        { id: 'plateau', where: 'figure 9', claim: 'the time is practically constant from T = 256 to 1024, and least there', rule: 'none of 256, 512, 1024 takes more than 1.15 × the best T, on each scene', is: every(plateau, ratio => ratio <= 1.15), ours: `${eachScene(plateau)} the best, ${sizeOf(runs, '004-leaf')}`, why: flatWhy },
        { id: 'tall', where: 'figure 9', claim: 'tall trees are slower', rule: 'T = 16 takes more than 1.1 × T = 512, on each scene', is: every(deep, ratio => ratio > 1.1), ours: eachScene(deep) },
        { id: 'short', where: 'figure 9', claim: 'from T = 2048 on short trees are significantly slower', rule: 'T = 8192 takes more than 1.1 × T = 512, on each scene', is: every(shallow, ratio => ratio > 1.1), ours: eachScene(shallow), why: shortWhy },
        { id: 'brownian-suffers', where: 'figure 9', claim: 'large T hurt Brownian most', rule: 'the largest T that still makes a tree costs most, over T = 512, on Brownian', is: Object.keys(most).length === 3 ? worst === 'brownian' : undefined, ours: eachScene(most) },
        levelsClaim(runs),
    ];
}

// The worst of the three T that the paper calls alike, over the best of all.
const flatness = own => Math.max(...[256, 512, 1024].map(leaf => atLeaf(own, leaf) ?? NaN)) / Math.min(...own.map(point => point.ms_mean));

/** A ratio of points over T with narrower instructions: "one box at a time (scalar) T = 8192 takes 2.70 × on Brownian of T = 512". */
function narrowText(runs, ratio, before, after) {
    return [['scalar', 'one box at a time (scalar)'], ['sse2', 'four at a time (sse2)']].map(([variant, name]) => {
        const values = known(Object.fromEntries(scenes.map(scene => [scene, ratio(mergeTrees(pick(runs, '004-leaf-narrow', { scene, variant }), 'kd.leaf'))])));
        return Object.keys(values).length > 0 ? `${name} ${before} ${eachScene(values)} ${after}` : '';
    }).filter(Boolean).join('; ');
}

// Levels are counted, so one frame decides.
function levelsClaim(runs) {
    const at = (scene, leaf) => pick(runs, '004-levels', { scene, settings: { 'kd.leaf': leaf } }).filter(isTree)[0];
    const depth = (scene, leaf) => (at(scene, leaf) ? meanDepth(at(scene, leaf).counters) : NaN);
    const height = (scene, leaf) => at(scene, leaf)?.counters.height ?? NaN;
    const across = known(Object.fromEntries(scenes.map(scene => [scene, (at(scene, 1)?.counters['objects in inner nodes'] ?? NaN) / at(scene, 1)?.objects])));
    const heights = known(Object.fromEntries(scenes.map(scene => [scene, height(scene, 1) - height(scene, 512)])));
    const why = Object.keys(across).length > 0 ? `nine is the logarithm of 512, if every object went down to a leaf; with T = 1 ${eachScene(across, percent)} lie across a plane and stay in inner nodes; by the deepest leaf it saves ${eachScene(heights, String)}` : '';
    const saved = known(Object.fromEntries(scenes.map(scene => [scene, depth(scene, 1) - depth(scene, 512)])));
    return { id: 'levels', isCount: true, where: 'section 5', claim: 'T = 512 saves up to nine levels over one object per leaf', rule: 'the leaves of T = 1 lie 8 to 10 levels deeper in the mean, on the scene where it is most', is: Object.keys(saved).length > 0 ? Math.abs(Math.max(...Object.values(saved)) - 9) <= 1 : undefined, ours: `${eachScene(saved, digits)}, ${sizeOf(runs, '004-levels')}`, why };
}

// Means of the gain within a range of static shares, size by size.
function restBy(runs, low, high, part = '004-rest', kin = 'kd-paper') {
    const complete = pick(runs, part, { method: `${kin}-complete` }).filter(isTree);
    const sizes = ascending(complete.map(run => run.objects));
    return Object.fromEntries(sizes.map(objects => [objects, gainBetween(gainPoints(complete.filter(run => run.objects === objects), pick(runs, part, { method: `${kin}-incremental`, objects })), low, high)]).filter(([, gain]) => !Number.isNaN(gain)));
}

const bySize = values => Object.entries(values).map(([objects, gain]) => `${times(gain)} at ${sizeText(Number(objects))}`).join(', ');

// Least and most of each range with their sizes.
function spreadWhy(ranges) {
    const names = ['below 50 %', '50 to 60 %', '60 to 90 %', '90 to 99 %'];
    return ranges.map((one, index) => {
        const sorted = Object.entries(one).sort((a, b) => a[1] - b[1]);
        return sorted.length > 1 ? `${names[index]}: ${[sorted[0], sorted[sorted.length - 1]].map(([objects, gain]) => `${times(gain)} at ${sizeText(Number(objects))}`).join(', ')}` : '';
    }).filter(Boolean).join('; ');
}

function restClaims(runs) {
    const ranges = [[0, 0.5], [0.5, 0.6], [0.6, 0.9], [0.9, 0.99]].map(([low, high]) => restBy(runs, low, high));
    const [under, equal, over, most] = ranges;
    const all = [...Object.values(over), ...Object.values(most)];
    const rest = restBy(runs, 0.99, 1.01);
    const spreads = ranges.filter(one => Object.keys(one).length > 1).map(one => Math.max(...Object.values(one)) - Math.min(...Object.values(one)));
    const oursRest = restBy(runs, 0.99, 1.01, '004-rest-ours', 'kd');
    const oursUnder = restBy(runs, 0, 0.5, '004-rest-ours', 'kd');
    const underWhy = Object.keys(oursUnder).length > 0 ? `\`kd\`, ours: ${bySize(oursUnder)}` : '';
    const why = Object.keys(rest).length > 0 ? `where 99 % and more rest, the frames after about 300, it gains ${bySize(rest)}${Object.keys(oursRest).length > 0 ? `; \`kd\`, where the few that move ask the tree for themselves, ${bySize(oursRest)}` : ''}` : '';
    return [
        { id: 'complete-below-50', where: 'figure 10', claim: 'below 50 % static objects the complete search is 5 to 15 % faster', rule: 'complete over incremental is 0.80 to 0.97 in the mean, at each size', is: every(under, gain => gain >= 0.8 && gain <= 0.97), ours: bySize(under), why: underWhy },
        { id: 'equal-50-60', where: 'figure 10', claim: 'from 50 to 60 % both are equal', rule: '0.93 to 1.07 in the mean, at each size', is: every(equal, gain => gain >= 0.93 && gain <= 1.07), ours: bySize(equal), why },
        { id: 'incremental-above-60', where: 'figure 10', claim: 'above 60 % the incremental search is considerably faster', rule: 'more than 1.05 from 60 to 90 % and from 90 to 99 %, at each size', is: all.length > 0 ? all.every(gain => gain > 1.05) : undefined, ours: `60 to 90 %: ${bySize(over)}; 90 to 99 %: ${bySize(most)}`, why },
        { id: 'same-at-all-sizes', where: 'figure 10', claim: 'the gain is the same from 1k to 1024k objects, within 5 %', rule: 'in each of the four ranges the sizes are not more than 0.1 apart', is: spreads.length > 0 ? spreads.every(spread => spread <= 0.1) : undefined, ours: `${spreads.map(digits).join(', ')} apart`, why: spreadWhy(ranges) },
    ];
}

export const stages = [['none', '004-pruning-none'], ['tree only', '004-pruning-tree'], ['sweep only', '004-pruning-sweep'], ['both', '004-pruning-both']];

export const isaOrder = ['scalar', 'sse2', 'neon', 'avx2', 'avx512'];

/** ms of a stage, scene, instruction set and size. */
export const stageMs = (runs, part, scene, variant, objects) => pick(runs, part, { scene, variant, objects })[0]?.ms_mean;

// Stages that claim a tree must have had one.
const treeStageMs = (runs, stage, scene, variant, objects) => {
    const run = pick(runs, stages[stage][1], { scene, variant, objects })[0];
    return run && (stage % 2 === 0 || isTree(run)) ? run.ms_mean : undefined;
};

// The better single stage over both stages, with one instruction set.
const bothBy = (ms, isa) => known(Object.fromEntries(scenes.map(scene => [scene, Math.min(ms(1, scene, isa) ?? NaN, ms(2, scene, isa) ?? NaN) / ms(3, scene, isa)])));

function pruningAt(runs, objects) {
    const own = pick(runs, stages.map(([, part]) => part)).filter(run => run.objects === objects);
    const isas = isaOrder.filter(isa => own.some(run => run.variant === isa));
    const wide = isas[isas.length - 1];
    const ms = (stage, scene, isa) => treeStageMs(runs, stage, scene, isa, objects);
    return {
        objects, isas, wide,
        both: bothBy(ms, wide), bothOf: isas.map(isa => [isa, bothBy(ms, isa)]).filter(([, values]) => Object.keys(values).length > 0),
        simd: stages.map((_, stage) => mean(scenes.map(scene => ms(stage, scene, 'scalar') / ms(stage, scene, wide)).filter(ratio => ratio > 0))),
        wider: known(Object.fromEntries(scenes.map(scene => [scene, ms(3, scene, 'sse2') / ms(3, scene, 'avx2')]))),
    };
}

// SSE2 over AVX2 at the other sizes, and with our own tree.
function widerWhy(runs, all) {
    const last = all[all.length - 1];
    const ms = (scene, variant) => stageMs(runs, '004-pruning-ours', scene, variant, last.objects) ?? NaN;
    const ours = last ? known(Object.fromEntries(scenes.map(scene => [scene, ms(scene, 'sse2') / ms(scene, 'avx2')]))) : {};
    return [...all.slice(0, -1).filter(one => Object.keys(one.wider).length > 0).map(one => `${eachScene(one.wider)} at ${sizeText(one.objects)}`), Object.keys(ours).length > 0 ? `with \`kd\`, ours: ${eachScene(ours)}` : ''].filter(Boolean).join('; ');
}

function pruningClaims(runs) {
    const sizes = ascending(pick(runs, '004-pruning-both').map(run => run.objects));
    const all = sizes.map(objects => pruningAt(runs, objects));
    const last = all[all.length - 1];
    const batches = pick(runs, '004-batches', { method: 'kd-paper-complete' }).filter(isTree)[0]?.counters;
    const average = batches ? batches['batch tests'] / batches.batches : NaN;
    const small = batches ? ['of 1', 'to 2', 'to 4', 'to 8'].reduce((sum, name) => sum + batches[`batches ${name}`], 0) / batches.batches : NaN;
    const strips = pick(runs, '004-batches', { method: 'kd-complete' }).filter(isTree)[0]?.counters;
    const stripsWhy = strips?.batches > 0 ? `with \`kd\`, whose lists are cut into strips, ${digits(strips['batch tests'] / strips.batches)} in the mean` : '';
    const where = last ? `${sizeText(last.objects)}, ${last.wide}` : '';
    const smaller = all.slice(0, -1).map(one => `${eachScene(one.both)} at ${sizeText(one.objects)}, ${one.wide}`);
    const narrower = last ? last.bothOf.slice(0, -1).reverse().map(([isa, values]) => `${eachScene(values)} with ${isa}`) : [];
    const bothWhy = [...smaller, ...narrower, ...(last && last.simd.every(gain => !Number.isNaN(gain)) ? [`brute force within a node gains ${times(last.simd[1])} by instructions, sorting and sweeping it ${times(last.simd[3])}`] : [])].join('; ');
    return [
        { id: 'both-stages', where: 'figure 11', claim: 'neither the tree nor the sweep alone is as good as both', rule: 'the better of the two takes longer than both, on each scene, with the widest instructions', is: last ? every(last.both, ratio => ratio > 1) : undefined, ours: last ? `${eachScene(last.both)} both, ${where}` : '', why: bothWhy },
        { id: 'simd-single', where: 'figure 11', claim: 'SIMD gains much for a single stage and little for both', rule: 'from scalar to the widest, tree only and sweep only gain more than both, in the mean of the scenes', is: last && last.simd.every(gain => !Number.isNaN(gain)) ? last.simd[1] > last.simd[3] && last.simd[2] > last.simd[3] : undefined, ours: last ? stages.map(([name], index) => `${name} ${Number.isNaN(last.simd[index]) ? 'not run' : times(last.simd[index])}`).join(', ') : '' },
        { id: 'avx-marginal', where: 'figure 11', claim: 'AVX is only marginally better than SSE', rule: 'with both stages SSE2 takes 1 to 1.15 × AVX2, on each scene', is: last ? every(last.wider, ratio => ratio >= 0.97 && ratio <= 1.15) : undefined, ours: last ? eachScene(last.wider) : '', why: widerWhy(runs, all) },
        { id: 'batch-mean', isCount: true, where: 'section 5', claim: 'on Gravity with 128k cubes a batch has 15.8 tests in the mean', rule: 'within 25 %', is: batches ? Math.abs(average / 15.8 - 1) <= 0.25 : undefined, ours: batches ? digits(average) : '', why: stripsWhy },
        { id: 'batch-small', isCount: true, where: 'section 5', claim: '48 % of the batches have eight tests or fewer', rule: 'within ten points', is: batches ? Math.abs(small - 0.48) <= 0.1 : undefined, ours: batches ? percent(small) : '', why: stripsWhy },
    ];
}

// The same ratio of our own rows.
function oursWhy(runs, ratio) {
    const ms = (scene, kind) => pick(runs, '004-variants-ours', { scene, method: `kd${kind}` })[0]?.ms_mean ?? NaN;
    const values = known(Object.fromEntries(scenes.map(scene => [scene, ratio(ms, scene)])));
    return Object.keys(values).length > 0 ? `with \`kd\`, ours: ${eachScene(values)}` : '';
}

/** From this frame on Free Fall lies still at 8k and 32k; the windows at 128k end just after it. */
export const REST_FROM = 450;

/** A ratio of the variants on Free Fall's whole run, all frames and those of the rest, size by size. */
function wholeText(runs, ratio, before, after) {
    const sizes = ascending(pick(runs, '004-variants-whole', { method: 'kd-paper-complete' }).filter(isTree).map(run => run.objects));
    return sizes.map(objects => {
        const at = first => (scene, kind) => mean(pick(runs, '004-variants-whole', { method: `kd-paper${kind}`, objects })[0]?.frame_ms.slice(first) ?? []);
        const [all, rest] = [ratio(at(1), 'freefall'), ratio(at(REST_FROM), 'freefall')];
        return Number.isNaN(all) ? '' : `on Free Fall's whole run at ${sizeText(objects)} ${before} ${times(all)} ${after}, ${times(rest)} from frame ${REST_FROM} on`;
    }).filter(Boolean).join('; ');
}

function variantClaims(runs) {
    const ms = (scene, kind) => pick(runs, '004-variants', { scene, method: `kd-paper${kind}` }).filter(isTree)[0]?.ms_mean ?? NaN;
    const of = value => known(Object.fromEntries(scenes.map(scene => [scene, value(scene)])));
    const ratios = {
        rebuilt: (at, scene) => at(scene, '-rebuilt') / Math.max(at(scene, '-complete'), at(scene, '-incremental'), at(scene, '')),
        goal: (at, scene) => (scene === 'freefall' ? at(scene, '-complete') / at(scene, '-incremental') : at(scene, '-incremental') / at(scene, '-complete')),
        close: (at, scene) => at(scene, '') / Math.min(at(scene, '-complete'), at(scene, '-incremental')),
    };
    const [rebuilt, goal, close] = Object.values(ratios).map(ratio => of(scene => ratio(ms, scene)));
    const update = of(scene => ms(scene, '-rebuilt') / ms(scene, '-complete'));
    const because = (...texts) => texts.filter(Boolean).join('; ');
    return [
        { id: 'rebuilt-slowest', where: 'figure 12', claim: 'rebuilding is the slowest everywhere', rule: 'slower than each of the other three, on each scene', is: every(rebuilt, ratio => ratio > 1), ours: `${eachScene(rebuilt)} the slowest of the others; ${eachScene(update)} complete`, why: because(wholeText(runs, ratios.rebuilt, 'rebuilding takes', 'the slowest of the others'), oursWhy(runs, ratios.rebuilt)) },
        { id: 'each-its-goal', where: 'figure 12', claim: 'incremental is best on Free Fall, complete on Brownian and Gravity', rule: 'the other one takes longer, on each scene', is: every(goal, ratio => ratio > 1), ours: eachScene(goal), why: because(wholeText(runs, ratios.goal, 'complete takes', 'incremental'), oursWhy(runs, ratios.goal)) },
        { id: 'adaptive-close', where: 'figure 12', claim: 'adaptive is a close second in all scenes', rule: 'at most 1.1 × the better of complete and incremental', is: every(close, ratio => ratio <= 1.1), ours: eachScene(close), why: because(wholeText(runs, ratios.close, 'adaptive takes', 'the better one'), oursWhy(runs, ratios.close)) },
    ];
}

// The best other over the tree, all sizes: { scene: [ratios] }.
function gains(runs, part) {
    return Object.fromEntries(scenes.map(scene => [scene, kdOf(runs, part, scene).filter(isTree).map(run => bestOther(runs, part, scene, run.objects) / run.ms_mean).filter(ratio => ratio > 0)]).filter(([, ratios]) => ratios.length > 0));
}

const rangeText = values => Object.entries(values).map(([scene, ratios]) => `${titles[scene]} ${digits(Math.min(...ratios))} to ${digits(Math.max(...ratios))}, ${digits(mean(ratios))} in the mean`).join('; ');
const allOf = values => Object.values(values).flat();

function ladderClaims(runs) {
    const parts = ['004-cubes', '004-cubes-large'];
    const [cubes, assorted] = [gains(runs, parts), gains(runs, '004-assorted')];
    const at = (part, scene, method) => {
        const own = pick(runs, part, { scene, method });
        return own.find(run => run.objects === Math.max(...own.map(one => one.objects)));
    };
    const second = Object.fromEntries(scenes.map(scene => [scene, (() => {
        const own = pick(runs, '004-cubes', { scene }).filter(run => peers.includes(run.method));
        const most = Math.max(...own.map(run => run.objects));
        return own.filter(run => run.objects === most).sort((a, b) => a.ms_mean - b.ms_mean)[0]?.method;
    })()]).filter(([, method]) => method));
    const slowest = Object.fromEntries(scenes.map(scene => {
        const own = [...pick(runs, ['004-cubes', '004-cubes-others'], { scene })].filter(run => others.includes(run.method));
        const most = Math.max(...pick(runs, '004-cubes-others', { scene }).map(run => run.objects));
        return [scene, own.filter(run => run.objects === most).sort((a, b) => b.ms_mean - a.ms_mean).slice(0, 2).map(run => run.method)];
    }).filter(([, names]) => names.length === 2));
    const hurt = method => mean(scenes.map(scene => {
        const varied = at('004-assorted', scene, method);
        const plain = varied && pick(runs, '004-cubes', { scene, method, objects: varied.objects })[0];
        return plain ? varied.ms_mean / plain.ms_mean : NaN;
    }).filter(ratio => !Number.isNaN(ratio)));
    // Pairs that assorted objects have, over those of as many cubes, in the first window.
    const crowded = scenes.map(scene => {
        const varied = at('004-assorted', scene, 'cgal');
        const plain = varied && pick(runs, '004-cubes', { scene, method: 'cgal', objects: varied.objects })[0];
        return plain ? varied.pairs_last / plain.pairs_last : NaN;
    }).filter(ratio => ratio > 0);
    const hurts = Object.fromEntries([...peers, 'kd-paper'].map(method => [method, hurt(method)]).filter(([, ratio]) => !Number.isNaN(ratio)));
    const isHurt = Object.keys(hurts).length === 4 ? Math.min(hurts['bullet-dbvt-f'], hurts['bullet-dbvt-d']) > Math.max(hurts.cgal, hurts['kd-paper']) && Math.max(hurts.cgal, hurts['kd-paper']) < 1.25 : undefined;
    const ours = gainsOf(runs, parts, 'kd');
    return [
        { id: 'fastest', where: 'figures 13, 14', claim: 'the KD-tree is the fastest at every size, cubes', rule: 'the best of DBVT F, DBVT D and CGAL takes longer, on each scene at each size', is: allOf(cubes).length > 0 ? allOf(cubes).every(ratio => ratio > 1) : undefined, ours: rangeText(cubes), why: ours },
        { id: 'twice', where: 'figure 13, table 1', claim: 'it is two to three times as fast as the second best, cubes', rule: 'the mean over scenes and sizes is 2 or more', is: allOf(cubes).length > 0 ? mean(allOf(cubes)) >= 2 : undefined, ours: allOf(cubes).length > 0 ? times(mean(allOf(cubes))) : '', why: ours },
        { id: 'dbvt-second', where: 'figure 13', claim: 'DBVT, F or D, is second in all scenes', rule: 'the best of the others at the largest size is one of them', is: Object.keys(second).length > 0 ? Object.values(second).every(method => method.startsWith('bullet-dbvt')) : undefined, ours: Object.entries(second).map(([scene, method]) => `${method} on ${titles[scene]}`).join(', '), why: bestBySize(runs, parts) },
        { id: 'axissweep-tracy-last', where: 'figure 13', claim: 'AxisSweep and Tracy are the slowest', rule: 'the two slowest of all others at the largest size both ran, on each scene', is: Object.keys(slowest).length > 0 ? Object.values(slowest).every(names => [...names].sort().join() === 'bullet-axissweep,tracy') : undefined, ours: Object.entries(slowest).map(([scene, names]) => `${names.join(' and ')} on ${titles[scene]}`).join(', '), why: Object.values(slowest).flat().length > 0 && !Object.values(slowest).flat().includes('tracy') ? 'our `tracy` is written anew, from the paper alone' : '' },
        { id: 'assorted-dbvt', where: 'figure 13', claim: 'assorted objects slow DBVT down, the others only marginally', rule: 'assorted over cubes is larger for both DBVT than for CGAL and the KD-tree, and below 1.25 for these', is: isHurt, ours: Object.entries(hurts).map(([method, ratio]) => `${method} ${times(ratio)}`).join(', '), why: crowded.length > 0 ? `assorted objects make ${digits(Math.min(...crowded))} to ${digits(Math.max(...crowded))} times the pairs of as many cubes here` : '' },
        { id: 'assorted-gain', where: 'table 2', claim: 'with assorted objects the gain is even higher', rule: 'the mean gain, assorted, is above that over the same sizes of cubes', is: assortedGain(runs, assorted)?.is, ours: assortedGain(runs, assorted)?.text ?? '' },
    ];
}

function gainsOf(runs, parts, method) {
    const ratios = scenes.flatMap(scene => kdOf(runs, parts, scene, method).map(run => bestOther(runs, parts, scene, run.objects) / run.ms_mean).filter(ratio => ratio > 0));
    return ratios.length > 0 ? `\`kd\`, ours, gains ${digits(Math.min(...ratios))} to ${digits(Math.max(...ratios))}` : '';
}

function assortedGain(runs, assorted) {
    const sizes = ascending(pick(runs, '004-assorted', { method: 'kd-paper' }).map(run => run.objects));
    const same = scenes.flatMap(scene => kdOf(runs, '004-cubes', scene).filter(run => isTree(run) && sizes.includes(run.objects)).map(run => bestOther(runs, '004-cubes', scene, run.objects) / run.ms_mean).filter(ratio => ratio > 0));
    const varied = allOf(assorted);
    return same.length > 0 && varied.length > 0 ? { is: mean(varied) > mean(same), text: `${times(mean(varied))} against ${times(mean(same))}` } : undefined;
}

// DBVT F where the windows reach the rest of Free Fall, which they do not above 128k.
function wholeRadar(own) {
    const at = (scene, objects) => own.find(run => run.scene === scene && run.method === 'bullet-dbvt-f' && run.objects === objects);
    const objects = ascending(own.map(run => run.objects)).filter(size => (at('freefall', size)?.windows ?? []).some(window => window.from >= REST_FROM) && scenes.every(scene => at(scene, size))).pop();
    return objects ? `above 128k the windows end before the rest; at ${sizeText(objects)}, rest and all: ${scenes.map(scene => `${titles[scene]} ${digits(at(scene, objects).ms_mean)} ms`).join(', ')}` : '';
}

function radarClaims(runs) {
    const parts = ['004-cubes', '004-cubes-large'];
    const four = [...peers, 'kd-paper'];
    const own = pick(runs, parts).filter(run => run.method !== 'kd-paper' || isTree(run));
    const objects = Math.max(...ascending(own.map(run => run.objects)).filter(size => four.every(method => scenes.every(scene => own.some(run => run.scene === scene && run.method === method && run.objects === size)))));
    const ms = (scene, method) => own.find(run => run.scene === scene && run.method === method && run.objects === objects)?.ms_mean;
    const isThere = Number.isFinite(objects);
    const isInner = isThere && scenes.every(scene => peers.every(method => ms(scene, 'kd-paper') < ms(scene, method)));
    const inner = isThere ? `at ${sizeText(objects)}: ${scenes.map(scene => `${titles[scene]} ${digits(ms(scene, 'kd-paper'))} ms, the best other ${digits(Math.min(...peers.map(method => ms(scene, method))))}`).join('; ')}` : '';
    const calmWhy = wholeRadar(own);
    const spread = method => Math.max(...scenes.map(scene => ms(scene, method))) / Math.min(...scenes.map(scene => ms(scene, method)));
    return [
        { id: 'innermost', where: 'figure 1', claim: 'at one million the KD-tree is the fastest of the four on all three scenes', rule: 'at 1024k', is: objects >= 1e6 ? isInner : undefined, ours: inner, why: isThere && objects < 1e6 ? `the largest size that all four ran is smaller; there it ${isInner ? 'is' : 'is not'} so: ${inner}` : '' },
        { id: 'dbvt-f-coherent', where: 'figure 1', claim: 'DBVT F is best where motion is coherent and worst on Gravity', rule: 'its least time is Free Fall\'s, its most Gravity\'s', is: isThere ? ms('freefall', 'bullet-dbvt-f') === Math.min(...scenes.map(scene => ms(scene, 'bullet-dbvt-f'))) && ms('gravity', 'bullet-dbvt-f') === Math.max(...scenes.map(scene => ms(scene, 'bullet-dbvt-f'))) : undefined, ours: isThere ? `${sizeText(objects)}: ${scenes.map(scene => `${titles[scene]} ${digits(ms(scene, 'bullet-dbvt-f'))} ms`).join(', ')}` : '', why: calmWhy },
        { id: 'general', where: 'figure 1', claim: 'the KD-tree is general: about as quick on all scenes as the others are', rule: 'from its best scene to its worst it varies by no more than the others in the mean (paper: 4.37)', is: isThere ? spread('kd-paper') <= mean(peers.map(spread)) : undefined, ours: isThere ? four.map(method => `${method} ${times(spread(method))}`).join(', ') : '' },
    ];
}

const of004 = ({ runs }) => [...radarClaims(runs), ...leafClaims(runs), ...restClaims(runs), ...pruningClaims(runs), ...variantClaims(runs), ...ladderClaims(runs)];

/** Repeats that differ by more, in the middle of a paper's runs, decide nothing about times. */
export const NOISE_MOST = 0.15;

/** How much the means of repeats vary, in the middle of a paper's runs; 0 where that is not known. */
export function noiseOf(runs, paper) {
    const values = runs.filter(run => run.parts.some(part => part.startsWith(paper))).map(run => run.repeat_cv).filter(value => !Number.isNaN(value)).sort((a, b) => a - b);
    return values[values.length >> 1] ?? 0;
}

// `isCount`: about trees and pairs, which are the same on a busy machine.
function verdictOf({ is, ours = '', why = '', isCount = false, ...claim }, paper, noise) {
    if (is !== undefined && !isCount && noise > NOISE_MOST) {
        return { paper, ...claim, verdict: 'cannot be tested', ours: '', why: `repeats vary by ${percent(noise)} in the middle: the machine was too busy to tell` };
    }
    return {
        paper, ...claim,
        verdict: is === true ? 'holds' : is === false ? 'does not hold' : 'cannot be tested',
        ours: is === undefined ? '' : ours,
        why: is === true ? '' : why || (is === undefined ? 'the runs it needs were not done' : 'not explained: no run with another setting was done'),
    };
}

/** All claims with their verdicts: [{ paper, id, where, claim, rule, verdict, ours, why }]. */
export function judge(data) {
    const all = [['004', of004], ['000', of000], ['001', of001], ['002', of002], ['003', of003]];
    return all.flatMap(([paper, make]) => make(data).map(claim => verdictOf(claim, paper, paper === '003' ? 0 : noiseOf(data.runs, paper))));
}

const quoted = text => `"${String(text).replaceAll('"', '""')}"`;

export function claimsCsv(claims) {
    const head = ['paper', 'id', 'where', 'claim', 'rule', 'ours', 'verdict', 'why'];
    return `${[head.join(','), ...claims.map(claim => head.map(name => quoted(claim[name])).join(','))].join('\n')}\n`;
}
