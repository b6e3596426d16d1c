// SPDX-License-Identifier: MIT
// Claims of the earlier KD-tree paper, of Broadmark and of the RAY KD-tree; claims.mjs tells how they are judged.
import { digits, percent, sizeText, times } from './page.mjs';
import { bestBySize, bestOther, gainBetween, gainPoints, kdOf, peers, scenes, titles } from './figures.mjs';
import { ascending, isTree, laterFrames, mean, mergeTrees, pick } from './runs.mjs';

const isNumber = value => value !== undefined && !Number.isNaN(value);

// ---- 000

/** Mean over the scenes by T: [{ leaf, ms }], only where every scene has a tree. */
export function meanLeaf(runs) {
    const own = scenes.map(scene => mergeTrees(pick(runs, '000-leaf', { scene }), 'kd.leaf')).filter(points => points.length > 0);
    const leaves = ascending(own.flatMap(points => points.map(point => point.leaf)));
    const at = (points, leaf) => points.find(point => point.leaf === leaf || point.same.includes(leaf));
    return leaves.filter(leaf => own.every(points => at(points, leaf))).map(leaf => ({ leaf, ms: mean(own.map(points => at(points, leaf).ms_mean)), height: mean(own.map(points => at(points, leaf).run.counters.height)) }));
}

function leafClaim(runs) {
    const points = meanLeaf(runs);
    const at = leaf => points.find(point => point.leaf === leaf)?.ms;
    const [deep, shallow] = [at(32) / at(256), at(4096) / at(256)];
    return { id: 'middle-trees', where: 'figure 3a', claim: 'deep (T < 64) and shallow trees (T > 2048) are significantly slower than T = 256', rule: 'T = 32 and T = 4096 take more than 1.1 × T = 256, mean of the scenes', is: isNumber(deep) && isNumber(shallow) ? deep > 1.1 && shallow > 1.1 : undefined, ours: `T = 32 ${times(deep)}, T = 4096 ${times(shallow)}`, why: narrowWhy(runs) };
}

// The same with narrower instructions, from the sweep of the KD-tree paper's page, which begins at T = 64.
function narrowWhy(runs) {
    return ['scalar', 'sse2'].map(variant => {
        const own = scenes.map(scene => mergeTrees(pick(runs, '004-leaf-narrow', { scene, variant }), 'kd.leaf'));
        const at = (points, leaf) => points.find(point => point.leaf === leaf || point.same.includes(leaf))?.ms_mean;
        const ratio = leaf => mean(own.map(points => at(points, leaf))) / mean(own.map(points => at(points, 256)));
        return isNumber(ratio(4096)) ? `with ${variant} T = 64 takes ${times(ratio(64))} and T = 4096 ${times(ratio(4096))} of T = 256` : '';
    }).filter(Boolean).join('; ');
}

// Size by size, T = 256 beside T = 512 of the KD-tree paper's figure 10.
function lossWhy(runs) {
    const at = (part, objects) => gainBetween(gainPoints(pick(runs, part, { method: 'kd-paper-complete', objects }).filter(isTree), pick(runs, part, { method: 'kd-paper-incremental', objects })), 0, 0.45);
    const sizes = ascending(pick(runs, '000-rest').map(run => run.objects)).filter(objects => isNumber(at('000-rest', objects)) && isNumber(at('004-rest', objects)));
    return sizes.length > 0 ? `T = 256 and 512: ${sizes.map(objects => `${digits(at('000-rest', objects))} and ${digits(at('004-rest', objects))} at ${sizeText(objects)}`).join(', ')}` : '';
}

function restClaims000(runs) {
    const points = gainPoints(pick(runs, '000-rest', { method: 'kd-paper-complete' }).filter(isTree), pick(runs, '000-rest', { method: 'kd-paper-incremental' }));
    const [low, high, most] = [gainBetween(points, 0, 0.45), gainBetween(points, 0.55, 1.01), gainBetween(points, 0.99, 1.01)];
    return [
        { id: 'loss-below-45', where: 'figure 3b', claim: 'below 45 % static objects the incremental search loses up to 15 %', rule: 'its mean gain there is 0.85 to 1', is: isNumber(low) ? low >= 0.85 && low <= 1 : undefined, ours: isNumber(low) ? times(low) : '', why: lossWhy(runs) },
        { id: 'gain-above-55', where: 'figure 3b', claim: 'above 55 % it pays, by up to 60 %', rule: 'its mean gain there is above 1', is: isNumber(high) ? high > 1 : undefined, ours: isNumber(high) ? `${times(high)}; ${isNumber(most) ? times(most) : 'no frames'} where 99 % and more rest` : '', why: isNumber(most) ? `it gains ${times(most)} where 99 % rest; between 55 and 99 % ${times(gainBetween(points, 0.55, 0.99))}` : '' },
    ];
}

function ladderClaims000(runs) {
    const all = [['000-cubes', '000-cubes-large', '000-cubes-kd', '000-cubes-large-kd'], ['000-assorted', '000-assorted-kd']];
    const ratios = all.flatMap(parts => scenes.flatMap(scene => kdOf(runs, parts, scene).filter(isTree).map(run => bestOther(runs, parts, scene, run.objects) / run.ms_mean).filter(ratio => ratio > 0)));
    const [cubes] = all;
    const second = scene => {
        const own = pick(runs, ['000-cubes', '000-cubes-large'], { scene });
        const most = Math.max(...own.map(run => run.objects));
        return own.filter(run => run.objects === most).sort((a, b) => a.ms_mean - b.ms_mean)[0]?.method;
    };
    const seconds = scenes.map(scene => [scene, second(scene)]).filter(([, method]) => method);
    const slowestScene = method => {
        const own = scenes.map(scene => pick(runs, cubes, { scene, method }));
        const common = ascending(own[0].map(run => run.objects)).filter(objects => objects <= 32000 && own.every(list => list.some(run => run.objects === objects))).pop();
        const ms = own.map(list => list.find(run => run.objects === common)?.ms_mean);
        return common ? { scene: scenes[ms.indexOf(Math.max(...ms))], text: scenes.map((scene, index) => `${titles[scene]} ${digits(ms[index])} ms`).join(', ') } : undefined;
    };
    const hardest = [...peers, 'kd-paper'].map(method => [method, slowestScene(method)]).filter(([, found]) => found);
    const hard = hardest.map(([method, { scene }]) => [method, scene]);
    const hardWhy = hardest.filter(([, { scene }]) => scene !== 'gravity').map(([method, { text }]) => `${method}: ${text}`).join('; ');
    return [
        { id: 'fastest', where: 'figures 4, 5', claim: 'the KD-tree is the fastest in all tests', rule: 'the best of the three others takes longer, on each scene, type and size', is: ratios.length > 0 ? ratios.every(ratio => ratio > 1) : undefined, ours: ratios.length > 0 ? `${digits(Math.min(...ratios))} to ${digits(Math.max(...ratios))} times as fast` : '' },
        { id: 'two-to-three', where: 'section 6', claim: 'it is two to three times as fast as the others', rule: 'the mean over scenes, types and sizes is 2 or more', is: ratios.length > 0 ? mean(ratios) >= 2 : undefined, ours: ratios.length > 0 ? times(mean(ratios)) : '' },
        { id: 'second', where: 'figure 5', claim: 'DBVT F follows on Free Fall, DBVT D on the others', rule: 'the best of the others at the largest size', is: seconds.length === 3 ? seconds.every(([scene, method]) => method === (scene === 'freefall' ? 'bullet-dbvt-f' : 'bullet-dbvt-d')) : undefined, ours: seconds.map(([scene, method]) => `${method} on ${titles[scene]}`).join(', '), why: bestBySize(runs, ['000-cubes', '000-cubes-large']) },
        { id: 'gravity-hardest', where: 'figure 4', claim: 'Gravidade is the hardest for all', rule: 'each of the four is slowest there, at 32k, the largest of figure 4', is: hard.length === 4 ? hard.every(([, scene]) => scene === 'gravity') : undefined, ours: hard.map(([method, scene]) => `${method}: ${titles[scene]}`).join(', '), why: hardWhy },
    ];
}

// The tree that always searches as the adaptive one does at rest, and the one that never does.
function restlessWhy(runs) {
    const own = ['kd-paper-incremental', 'kd-paper-complete', 'kd'].map(method => pick(runs, '004-variants-whole', { method, objects: 8000 })[0]).filter(Boolean);
    const stretch = (run, from, to) => digits(mean(run.frame_ms.slice(from, to)));
    return own.length > 0 ? `on the same scene at 8k ${own.map(run => `\`${run.method}\` ${digits(run.cv)} (${stretch(run, 1, 120)} ms falling, ${stretch(run, 120, 450)} in the pile, ${stretch(run, 450)} at rest)`).join(', ')}` : '';
}

function variationClaim(runs) {
    const own = pick(runs, ['000-whole', '000-whole-kd']).filter(run => peers.includes(run.method) || (run.method === 'kd-paper' && isTree(run)));
    const calm = own.filter(run => !(run.scene === 'freefall' && ['bullet-dbvt-f', 'kd-paper'].includes(run.method)));
    const restless = own.filter(run => run.scene === 'freefall' && ['bullet-dbvt-f', 'kd-paper'].includes(run.method));
    const most = calm.length > 0 ? [...calm].sort((a, b) => b.cv - a.cv)[0] : undefined;
    return [
        { id: 'variation-calm', where: 'section 5', claim: 'the coefficient of variation is below 0.1 but for DBVT F and the KD-tree on Free Fall', rule: 'below 0.15 over a whole run of 1000 frames at 8k', is: calm.length > 0 ? calm.every(run => run.cv < 0.15) : undefined, ours: most ? `at most ${digits(most.cv)}, ${most.method} on ${titles[most.scene]}` : '', why: calm.some(run => run.cv >= 0.15) ? `above it: ${calm.filter(run => run.cv >= 0.15).map(run => `${run.method} on ${titles[run.scene]} ${digits(run.cv)}`).join(', ')}` : '' },
        { id: 'variation-rest', where: 'section 5', claim: 'these two are about 0.7, since they profit from rest', rule: 'above 0.4', is: restless.length > 0 ? restless.every(run => run.cv > 0.4) : undefined, ours: restless.map(run => `${run.method} ${digits(run.cv)}`).join(', '), why: restlessWhy(runs) },
    ];
}

export const of000 = ({ runs }) => [leafClaim(runs), ...restClaims000(runs), ...ladderClaims000(runs), ...variationClaim(runs)];

// ---- 001

const serial = ['001-slowest', '001-slowest-large', '001-others', '001-others-large', '001-axissweep'];
const parallel = ['001-quickest', '001-quickest-large'];

// Everybody of the paper on a scene at the largest size at which the tree ran: [{ name, ms }], quickest first.
function table2(runs, scene) {
    const kd = pick(runs, ['001-others', '001-others-large'], { scene, method: 'kd-paper' }).filter(isTree);
    const withMt = kd.filter(run => pick(runs, parallel, { scene, objects: run.objects }).length > 0);
    const objects = Math.max(...(withMt.length > 0 ? withMt : kd).map(run => run.objects));
    const own = pick(runs, [...serial, ...parallel], { scene, objects }).filter(run => !['kd', 'cleave'].includes(run.method));
    return { objects, rows: own.map(run => ({ name: `${run.method}${parallel.includes(run.parts[0]) ? ` × ${run.threads}` : run.variant === 'scalar' ? ' scalar' : ''}`, method: run.method, isMt: parallel.includes(run.parts[0]), ms: run.ms_mean })).sort((a, b) => a.ms - b.ms) };
}

const namesOf = rows => rows.slice(0, 3).map(row => `${row.name} ${digits(row.ms)} ms`).join(', ');

// The quickest on several threads, as scalar code on one.
function bestMtWhy(rows) {
    const best = rows.filter(row => row.isMt)[0];
    const slow = best && rows.find(row => !row.isMt && row.method === best.method);
    return slow ? `scalar and on one core ${best.method} takes ${digits(slow.ms)} ms` : '';
}

// The tree on as many threads as those that beat it.
function threadsWhy(runs, scene, objects) {
    const own = ['kd-paper', 'kd'].map(method => pick(runs, ['001-threads', '001-threads-large'], { scene, objects, method })[0]).filter(run => run && isTree(run));
    return own.length > 0 ? `on ${own[0].threads} threads ${own.map(run => `\`${run.method}\` takes ${digits(run.ms_mean)} ms`).join(', ')}` : '';
}

// The same at the other sizes that both ran, and with our own tree.
function kdBrownianWhy(runs, objects) {
    const scene = 'brownian';
    const kd = pick(runs, ['001-others', '001-others-large'], { scene, method: 'kd-paper' }).filter(run => isTree(run) && run.objects !== objects);
    const gridAt = size => Math.min(...['grid', 'grid-sap'].flatMap(method => pick(runs, ['001-slowest', '001-slowest-large'], { scene, method, objects: size })).map(run => run.ms_mean));
    const sizes = kd.map(run => [run.objects, run.ms_mean / gridAt(run.objects)]).filter(([, ratio]) => ratio > 0).sort((a, b) => a[0] - b[0]);
    const own = pick(runs, ['001-others', '001-others-large'], { scene, method: 'kd', objects })[0];
    return [sizes.length > 0 ? `of the quickest grid it takes ${sizes.map(([size, ratio]) => `${times(ratio)} at ${sizeText(size)}`).join(', ')}` : '', own ? `\`kd\`, ours, takes ${digits(own.ms_mean)} ms there` : ''].filter(Boolean).join('; ');
}

// On Free Fall at the largest size that the tree and all GPU columns ran.
function gpuClaim(runs) {
    const scene = 'freefall';
    const names = ['gpu-sap', 'gpu-lbvh', 'gpu-grid'];
    const at = (parts, method, objects) => pick(runs, parts, { scene, method, objects })[0];
    const gpu = (method, objects) => at(['001-gpu', '001-gpu-large'], method, objects);
    const trees = pick(runs, ['001-others', '001-others-large'], { scene, method: 'kd-paper' }).filter(isTree).sort((a, b) => a.objects - b.objects);
    const both = trees.filter(run => names.every(method => gpu(method, run.objects)));
    const tree = both[both.length - 1];
    const base = { id: 'kd-gpu', where: 'section V', claim: 'on Free Fall it surpasses GPU solutions', rule: 'none of the three GPU columns is quicker, at the largest size' };
    if (!tree) return { ...base, is: undefined, why: 'the GPU columns were not run' };
    const list = names.map(method => [method, gpu(method, tree.objects).ms_mean]);
    const ahead = both.filter(run => names.every(method => gpu(method, run.objects).ms_mean > run.ms_mean)).map(run => sizeText(run.objects));
    return {
        ...base, is: list.every(([, ms]) => ms > tree.ms_mean), ours: `${sizeText(tree.objects)}: KD-tree ${digits(tree.ms_mean)} ms, ${list.map(([method, ms]) => `${method} ${digits(ms)} ms`).join(', ')}`,
        why: `the paper's were a GTX 1060's and Bullet 3's, these are ours on the ${gpu('gpu-grid', tree.objects).device}; of ${both.map(run => sizeText(run.objects)).join(', ')} the tree is ahead at ${ahead.length > 0 ? ahead.join(', ') : 'none'}`,
    };
}

export function of001({ runs }) {
    const [fall, brownian, gravity] = scenes.map(scene => table2(runs, scene));
    const is = (table, test) => (table.rows.length > 1 && table.rows.some(row => row.method === 'kd-paper') ? test(table.rows) : undefined);
    const at = (rows, method) => rows.find(row => row.method === method)?.ms;
    const others = rows => rows.filter(row => row.method !== 'kd-paper');
    const gridOf = rows => Math.min(...rows.filter(row => row.method.startsWith('grid') && !row.isMt).map(row => row.ms));
    const mtOf = rows => Math.min(...rows.filter(row => row.isMt).map(row => row.ms));
    const hasMt = table => table.rows.some(row => row.isMt);
    return [
        { id: 'grids-brownian', where: 'table II', claim: 'on Brownian solutions based on grids are favoured', rule: 'the quickest beside the KD-tree at the largest size with all columns is a grid', is: is(brownian, rows => others(rows)[0].method.startsWith('grid')), ours: `${sizeText(brownian.objects)}: ${namesOf(brownian.rows)}` },
        { id: 'temporal-freefall', where: 'table II', claim: 'on Free Fall temporal solutions dominate', rule: 'the quickest on one core is the KD-tree or DBVT F', is: is(fall, rows => ['kd-paper', 'bullet-dbvt-f'].includes(rows.filter(row => !row.isMt)[0].method)), ours: `${sizeText(fall.objects)}: ${namesOf(fall.rows)}` },
        { id: 'kd-freefall', where: 'section V', claim: 'the KD-tree is the fastest on Free Fall, multi-core CPU solutions included', rule: 'no other column is quicker', is: hasMt(fall) ? is(fall, rows => rows[0].method === 'kd-paper') : undefined, ours: `${sizeText(fall.objects)}: ${namesOf(fall.rows)}`, why: [bestMtWhy(fall.rows), threadsWhy(runs, 'freefall', fall.objects)].filter(Boolean).join('; ') },
        { id: 'kd-gravity', where: 'section V', claim: 'on Gravity it performs as the best parallel CPU solutions', rule: 'at most 1.25 × the quickest MT column', is: hasMt(gravity) ? is(gravity, rows => at(rows, 'kd-paper') <= 1.25 * mtOf(rows)) : undefined, ours: `${sizeText(gravity.objects)}: ${namesOf(gravity.rows)}; KD-tree ${digits(at(gravity.rows, 'kd-paper'))} ms`, why: [bestMtWhy(gravity.rows), threadsWhy(runs, 'gravity', gravity.objects)].filter(Boolean).join('; ') },
        { id: 'kd-brownian', where: 'section V', claim: 'on Brownian it is on par with the best serial grids', rule: 'at most 1.25 × the quickest grid on one core, as the slowest variant has it', is: Number.isFinite(gridOf(brownian.rows)) ? is(brownian, rows => at(rows, 'kd-paper') <= 1.25 * gridOf(rows)) : undefined, ours: Number.isFinite(gridOf(brownian.rows)) ? `${digits(at(brownian.rows, 'kd-paper'))} against ${digits(gridOf(brownian.rows))} ms at ${sizeText(brownian.objects)}` : '', why: Number.isFinite(gridOf(brownian.rows)) ? kdBrownianWhy(runs, brownian.objects) : '' },
        gpuClaim(runs),
    ];
}

// ---- 002

export const cases = [['ray-freefall', 'cubes', 'uniform Free Fall'], ['ray-freefall', 'assorted', 'varied Free Fall'], ['ray-particles', 'cubes', 'uniform particles'], ['ray-particles', 'assorted', 'varied particles']];

/** Mean levels of the leaves below the root. */
export function meanDepth(counters) {
    let sum = 0;
    for (let depth = 0; depth < 24; ++depth) sum += depth * (counters[`leaves at depth ${depth}`] ?? 0);
    return (sum + 24 * (counters['leaves deeper'] ?? 0)) / counters.leaves;
}

// The best of the three in the last window alone, where nearly all lie still.
function restWhy(raw, scene) {
    const own = (raw ?? []).filter(run => run.status === 'ok' && run.parts.includes('002-others') && run.scene === scene && peers.includes(run.method));
    const last = Math.max(...own.map(run => run.window.from));
    const objects = Math.max(...own.map(run => run.objects));
    return ['cubes', 'assorted'].map(type => {
        const list = own.filter(run => run.type === type && run.window.from === last && run.objects === objects).map(run => [run.method, mean(laterFrames(run.pass_ms)), run.frame_static?.[run.frame_static.length - 1]]).sort((a, b) => a[1] - b[1]);
        return list.length === peers.length ? `from frame ${last} on, ${percent(list[0][2] ?? 0)} of the ${type} at rest: ${list.map(([method, ms]) => `${method} ${digits(ms)} ms`).join(', ')}` : '';
    }).filter(Boolean).join('; ');
}

// Pairs that assorted objects have, over those of cubes.
function pairsWhy(raw) {
    const at = (scene, type) => mean((raw ?? []).filter(run => run.status === 'ok' && run.parts.includes('002-others') && run.method === 'cgal' && run.objects === 8000 && run.scene === scene && run.type === type).map(run => run.pairs_last));
    const ratios = ['ray-freefall', 'ray-particles'].map(scene => at(scene, 'assorted') / at(scene, 'cubes')).filter(isNumber);
    return ratios.length > 0 ? `assorted objects make ${ratios.map(times).join(' and ')} the pairs here` : '';
}

export function of002({ runs, raw }) {
    const leaf = cases.map(([scene, type, name]) => ({ name, points: mergeTrees(pick(runs, '002-leaf', { scene, type }), 'ray.leaf') })).filter(one => one.points.length > 1);
    const best = leaf.map(({ name, points }) => [name, points.reduce((lowest, point) => (point.ms_mean < lowest.ms_mean ? point : lowest)).leaf]);
    const isFalling = leaf.map(({ points }) => points.every((point, index) => index === 0 || meanDepth(point.run.counters) <= meanDepth(points[index - 1].run.counters)));
    const scalar = cases.map(([scene, type, name]) => ({ name, points: mergeTrees(pick(runs, '002-leaf-scalar', { scene, type }), 'ray.leaf') })).filter(one => one.points.length > 1);
    const slope = list => list.map(({ name, points }) => `${name} ${times(points[points.length - 1].ms_mean / points[0].ms_mean)}`).join(', ');
    const least = points => points.reduce((lowest, point) => (point.ms_mean < lowest.ms_mean ? point : lowest)).leaf;
    const top = cases.map(([scene, type, name]) => {
        const own = pick(runs, '002-others', { scene, type });
        const objects = Math.max(...own.map(run => run.objects));
        const at = method => own.find(run => run.method === method && run.objects === objects && (method !== 'ray-kd' || isTree(run)))?.ms_mean;
        return { scene, type, name, objects, ray: at('ray-kd'), list: peers.map(method => [method, at(method)]).filter(([, ms]) => ms).sort((a, b) => a[1] - b[1]) };
    }).filter(one => one.ray && one.list.length === peers.length);
    const next = scene => top.filter(one => one.scene === scene).map(one => one.list[0][0]);
    const cgal = ['ray-freefall', 'ray-particles'].map(scene => top.filter(one => one.scene === scene).map(one => one.list.find(([method]) => method === 'cgal')[1])).filter(pair => pair.length === 2).map(([plain, varied]) => varied / plain);
    return [
        { id: 'taller-faster', where: 'figure 2a', claim: 'the taller the tree, the faster, so T = 10', rule: 'T = 10 is best on all four', is: best.length > 0 ? best.every(([, value]) => value === 10) : undefined, ours: best.map(([name, value]) => `${value} on ${name}`).join(', '), why: leaf.length > 0 ? `T = 100 takes, of T = 10: ${slope(leaf)}${scalar.length > 0 ? `; one box at a time (scalar): ${slope(scalar)}, best at ${scalar.map(({ name, points }) => `${least(points)} on ${name}`).join(', ')}` : ''}` : '' },
        { id: 'depth', isCount: true, where: 'figure 2b', claim: 'leaves lie the deeper the smaller T', rule: 'the mean depth falls with T, on all four', is: isFalling.length > 0 ? isFalling.every(Boolean) : undefined, ours: leaf.map(({ name, points }) => `${name} ${digits(meanDepth(points[0].run.counters))} to ${digits(meanDepth(points[points.length - 1].run.counters))}`).join(', ') },
        { id: 'best', where: 'figure 3', claim: 'the RAY KD-tree is the best in all four', rule: 'quicker than DBVT F, DBVT D and CGAL at the largest size', is: top.length > 0 ? top.every(one => one.ray < one.list[0][1]) : undefined, ours: top.map(one => `${one.name} at ${sizeText(one.objects)}: ${one.list[0][0]} takes ${times(one.list[0][1] / one.ray)}`).join('; ') },
        { id: 'second-fall', where: 'section 5.2', claim: 'DBVT F is ahead of the others in free fall', rule: 'the best of the three, both types', is: next('ray-freefall').length > 0 ? next('ray-freefall').every(method => method === 'bullet-dbvt-f') : undefined, ours: next('ray-freefall').join(', '), why: restWhy(raw, 'ray-freefall') },
        { id: 'second-particles', where: 'section 5.2', claim: 'DBVT D is with particles', rule: 'the best of the three, both types', is: next('ray-particles').length > 0 ? next('ray-particles').every(method => method === 'bullet-dbvt-d') : undefined, ours: next('ray-particles').join(', ') },
        { id: 'cgal-types', where: 'section 5.2', claim: 'CGAL does not mind sizes that vary', rule: 'assorted takes 0.8 to 1.25 × uniform', is: cgal.length > 0 ? cgal.every(ratio => ratio >= 0.8 && ratio <= 1.25) : undefined, ours: cgal.map(ratio => percent(ratio)).join(', '), why: pairsWhy(raw) },
    ];
}
