// SPDX-License-Identifier: MIT
// The KD-tree paper, the KD-tree of 2019: figures 1 and 9 to 14, tables 1 and 2. Verdicts: claims.mjs.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { radarChart } from '../../report/src/charts/radar.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { light, stylesFor } from '../../report/src/look.js';
import { gainText, isaOrder, leafPoints, restRanges, stageMs, stages } from './claims_004.mjs';
import { bestOther, gainBetween, gainPoints, peers, scenes, titles } from './figures.mjs';
import { depthChart, gainChart, groupChart } from './paper_charts.mjs';
import { citationOf, papers } from './names.mjs';
import { Page, digits, percent, sizeText, times } from './page.mjs';
import { table1Of004, table2Of004 } from './published.mjs';
import { ascending, distinct, isTree, ladder, mean, mergeTrees, pick } from './runs.mjs';

const cubeParts = ['004-cubes', '004-cubes-large'];
const rowsOfTable = [...peers, 'kd-paper', 'kd', 'cleave'];
const published = method => (method === 'kd-paper' ? 'kd' : method); // the paper's KD-tree is this row

// ---- tables 1 and 2

const cellOf = (run, ms) => [run ? `${digits(run.ms_mean)} (${digits(run.cv)})` : '', ms === undefined ? '' : digits(ms)];

/** Rows of a scene: each method's mean with its coefficient of variation, and the paper's mean, size by size. */
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
        const ms = pick(runs, part, { scene, method, objects })[0]?.ms_mean;
        const gain = bestOther(runs, part, scene, objects) / ms - 1;
        const paper = method === 'kd-paper' ? theirs.get(`${scene} gain`)?.get(objects) : undefined;
        return [Number.isNaN(gain) ? '' : percent(gain), paper === undefined ? '' : `${paper} %`];
    })];
}

function writeTable(page, number, runs, part, theirs) {
    const own = pick(runs, part);
    const sizes = ascending(own.map(run => run.objects));
    page.details(`Table ${number}: ${number === 1 ? 'cubes' : 'assorted objects'}, ms per frame, ours and the paper's`, () => {
        page.text('Mean (coefficient of variation over the run), beside it the paper\'s mean over 1000 frames. `kd-paper` is the tree as published, `kd` and `cleave` are ours. Gain: the best of the three others over the tree, less 1.');
        page.table(['scene', 'method', ...sizes.flatMap(objects => [sizeText(objects), 'paper'])],
            scenes.flatMap(scene => [...tableRows(runs, part, theirs, scene, sizes), gainRow(runs, part, theirs, scene, sizes, 'kd-paper'), gainRow(runs, part, theirs, scene, sizes, 'kd')]), { left: 2 });
    });
    page.from(own.filter(run => rowsOfTable.includes(run.method)));
}

// ---- figures

function writeRadar(page, runs, theirs, claims) {
    const own = pick(runs, cubeParts);
    const names = ['cleave', 'kd', 'kd-paper', ...peers];
    const has = (scene, method, objects) => own.find(run => run.scene === scene && run.method === method && run.objects === objects);
    const objects = Math.max(...ascending(own.map(run => run.objects)).filter(size => scenes.every(scene => has(scene, 'kd-paper', size))));
    const methods = names.filter(method => scenes.every(scene => has(scene, method, objects)));
    const axes = scenes.map(scene => titles[scene]);
    page.heading('Which motion suits which method? (figure 1)');
    page.text('A corner for each scene, the time on it; nearer to the middle is faster. Free Fall comes to rest, Brownian moves at random, Gravity throws all objects to and fro.');
    page.figure('figure-1', `Ours: mean ms per frame on the three scenes, ${sizeText(objects)} cubes`, radarChart({
        title: `ours, ${sizeText(objects)} cubes, ms per frame`, axes, width: 700, height: 440, series: methods.map(method => ({ name: method, values: scenes.map(scene => has(scene, method, objects).ms_mean) })),
    }), { width: 700, height: 440 });
    page.details('The same from the paper\'s table 1', () => page.figure('figure-1-paper', 'The paper: mean ms per frame on the three scenes, 1024k cubes', radarChart({
        title: 'paper, 1024k cubes, ms per frame', axes, width: 700, height: 440, series: [...peers, 'kd-paper'].map(method => ({ name: method, values: scenes.map(scene => theirs.get(`${scene} ${published(method)}`).get(1024000)) })),
    }), { width: 700, height: 440 }));
    page.claims(claims);
    page.from(own.filter(run => run.objects === objects && methods.includes(run.method)));
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

function writeLeaf(page, runs, claims, isStored) {
    const own = pick(runs, '004-leaf');
    const points = leafPoints(runs);
    const ours = leafPoints(runs, '004-leaf-ours', 'kd.leaf');
    const trees = own.filter(isTree);
    page.heading('How large should a leaf be? (figure 9)');
    if (trees.length === 0) {
        page.text('No run here made a tree of more than one node.');
        return;
    }
    const leaves = ascending(trees.map(run => run.settings['kd.leaf']));
    const rows = isStored ? [] : leaves.map(leaf => depthRow(leaf, trees.filter(run => run.settings['kd.leaf'] === leaf)));
    const series = [...Object.entries(points).map(([scene, list]) => ({ name: `kd-paper, ${titles[scene]}`, points: list.map(point => [point.leaf, point.ms_mean]) })),
        ...Object.entries(ours).map(([scene, list]) => ({ name: `kd, ${titles[scene]}`, points: list.map(point => [point.leaf, point.ms_mean]) }))];
    page.text(`T is the most objects a leaf may hold. Swept from 16 to 32768, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes; \`kd-paper\` is the tree as published, \`kd\` ours.`);
    page.figure('figure-9-time', 'Mean ms per frame by T', sweepChart({ title: 'ms per frame by T', parameter: 'T', series }), { height: 400 });
    page.details('How deep the leaves lie', () => {
        page.figure('figure-9-depth', 'Depth of leaves and share of objects in leaves by T', isStored ? null : depthChart({ title: 'depth of leaves, mean over the scenes', rows }), { height: 380 });
        page.text(leafNotes(own, 'kd.leaf'));
    });
    page.claims(claims);
    page.from(trees);
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

function writeRest(page, runs, gains, claims, isStored) {
    const series = isStored ? [] : [['kd-paper', '004-rest'], ['kd', '004-rest-ours']]
        .map(([kin, part]) => ({ name: kin, like: kin, points: gainPoints(pick(runs, part, { method: `${kin}-complete` }).filter(isTree), pick(runs, part, { method: `${kin}-incremental` })) })).filter(one => one.points.length > 0);
    if (!isStored && series.length === 0) return;
    page.heading('When does it pay to keep pairs? (figure 10)');
    page.text('The incremental search keeps pairs of objects that lie still, the complete one finds all of them anew. Each dot is a frame of Free Fall: how long the complete search took over the incremental one. Above 1 keeping pays.');
    page.figure('figure-10', 'Complete over incremental time per frame against the share of static objects', isStored ? null : gainChart({ title: 'gain per frame and its moving average, 0.4 to 1.6', series, clampY: [0.4, 1.6] }), { height: 440 });
    page.claims(claims);
    page.details('Gains by share of static objects and size', () => {
        const sizes = Object.keys(Object.values(gains.published)[0] ?? {});
        page.table(['static objects', 'paper', ...sizes, 'kd (ours), all sizes'], Object.keys(restRanges).map(name => [name, paperGains[name], ...sizes.map(size => gainCell(gains.published[name]?.[size])), gainCell(gains.ours?.[name])]));
        page.figure('figure-10-whole', 'The same dots, up to 16', isStored ? null : gainChart({ title: 'the same up to 16', series, clampY: [0, 16] }), { height: 380 });
    });
    page.from(pick(runs, ['004-rest', '004-rest-ours']));
}

function writePruning(page, runs, claims, isStored) {
    const own = pick(runs, stages.map(([, part]) => part));
    const sizes = ascending(own.map(run => run.objects));
    if (sizes.length === 0) return;
    const isas = isaOrder.filter(isa => own.some(run => run.variant === isa));
    const present = scenes.filter(scene => own.some(run => run.scene === scene));
    const most = sizes[sizes.length - 1];
    const bars = [...stages, ['kd (ours)', '004-pruning-ours']].filter(([, part]) => pick(runs, part).length > 0);
    const at = (scene, part, isa, objects = most) => stageMs(runs, part, scene, isa, objects);
    page.heading('Do the tree and the sweep need each other? (figure 11)');
    page.text('The tree prunes in space, the sweep along an axis. Each alone, both, and neither, with narrower and wider instructions.');
    page.figure('figure-11', `Mean ms per frame of each pruning stage and instruction set, ${sizeText(most)} cubes`, groupChart({
        title: `complete search, ${sizeText(most)} cubes, ms per frame`, value: 'ms per frame', categories: present.flatMap(scene => bars.map(([name]) => `${name.replace(' ', '\n')}\n${scene}`)),
        series: isas.map(isa => ({ name: isa, values: present.flatMap(scene => bars.map(([, part]) => at(scene, part, isa))) })), width: 1200,
    }), { width: 1200, height: 460 });
    page.claims(claims);
    page.details('All stages, sizes and instruction sets, ms per frame', () => page.table(['scene', 'stage', ...sizes.flatMap(objects => isas.map(isa => `${isa}, ${sizeText(objects)}`))], present.flatMap(scene => bars.map(([name, part]) => [titles[scene], name, ...sizes.flatMap(objects => isas.map(isa => digits(at(scene, part, isa, objects))))])), { left: 2 }));
    page.from(own.filter(run => run.parts[0] === '004-pruning-both' || run.parts[0] === '004-pruning-tree'));
    page.details('How many tests a batch has', () => writeBatches(page, runs, isStored));
}

const bins = [['1', 'batches of 1'], ...[2, 4, 8, 16, 32, 64, 128, 256, 512].map(most => [`to ${most}`, `batches to ${most}`]), ['more', 'batches longer']];

function writeBatches(page, runs, isStored) {
    const own = pick(runs, '004-batches').filter(run => isStored || run.counters.batches > 0);
    if (own.length === 0) return;
    page.text('A batch is what one object is tested against in one go.');
    page.figure('figure-11-batches', 'Shares of batches by their number of tests', isStored ? null : groupChart({
        title: `Gravity, ${sizeText(own[0].objects)} cubes: tests per batch`, value: 'share of the batches', log: false, categories: bins.map(([name]) => name),
        series: own.map(run => ({ name: run.method, values: bins.map(([, name]) => Number((run.counters[name] / run.counters.batches).toFixed(4))) })),
    }), { height: 320 });
    page.from(own);
}

function writeVariants(page, runs, claims) {
    const kinds = ['-rebuilt', '-complete', '-incremental', ''];
    const own = pick(runs, ['004-variants', '004-variants-ours']);
    if (own.length === 0) return;
    const names = ['kd-paper', 'kd'].flatMap(kin => kinds.map(kind => `${kin}${kind}`)).filter(name => own.some(run => run.method === name));
    const at = (scene, method) => own.find(run => run.scene === scene && run.method === method);
    page.heading('Rebuild, search all, search what moved, or choose? (figure 12)');
    page.text(`Four variants of the tree, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes. \`-rebuilt\` makes a new tree every frame, \`-complete\` finds all pairs anew, \`-incremental\` keeps those at rest; without a suffix it chooses every frame.`);
    page.figure('figure-12', 'Mean ms per frame of the four variants on the three scenes, as published and ours', groupChart({
        title: 'ms per frame', value: 'ms per frame', log: false, categories: scenes.map(scene => titles[scene]), series: names.map(name => ({ name, values: scenes.map(scene => at(scene, name)?.ms_mean) })),
    }), { height: 380 });
    page.claims(claims);
    page.details('The numbers, ms per frame', () => page.table(['scene', ...names], scenes.map(scene => [titles[scene], ...names.map(name => (at(scene, name) ? `${digits(at(scene, name).ms_mean)} (${digits(at(scene, name).cv)})` : ''))])));
    page.from(own);
}

const four = [...peers, 'kd-paper'];

/** Ours and the paper's lines of one scene. */
function figure14(page, runs, theirs, scene) {
    const own = pick(runs, cubeParts, { scene });
    const series = four.filter(method => own.some(run => run.method === method)).map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) }));
    const paper = four.map(method => ({ name: `${method} (paper)`, points: [...theirs.get(`${scene} ${published(method)}`)] }));
    const styles = stylesFor(four, light);
    four.forEach(method => styles.set(`${method} (paper)`, { ...styles.get(method), dash: [2, 4], width: 1.4 }));
    page.figure(`figure-14-${scene}`, `${titles[scene]}, cubes: mean ms per frame by number of objects, ours and the paper's (dotted)`, ladderChart({ title: `${titles[scene]}, cubes: ours, and the paper's dotted`, series: [...series, ...paper], guides: [1], styles }), { height: 440 });
}

function figure13(page, runs, parts, type, scene) {
    const own = pick(runs, parts, { scene }).filter(run => run.objects <= 32000);
    if (own.length === 0) return;
    page.figure(`figure-13-${scene}-${type}`, `${titles[scene]}, ${type}: mean ms per frame by number of objects`, ladderChart({
        title: `${titles[scene]}, ${type}`, series: distinct(own.map(run => run.method)).map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) })), guides: [1],
    }), { height: 380 });
}

function writeLadders(page, runs, theirs, claims) {
    const [cubes, assorted] = [['004-cubes', '004-cubes-others'], ['004-assorted']];
    page.heading('Does it stay ahead as objects become many? (figures 13 and 14, tables 1 and 2)');
    figure13(page, runs, cubes, 'cubes', 'gravity');
    page.claims(claims);
    page.details('Figure 13: the other scenes, and assorted objects', () => {
        for (const scene of scenes.filter(one => one !== 'gravity')) figure13(page, runs, cubes, 'cubes', scene);
        for (const scene of scenes) figure13(page, runs, assorted, 'assorted', scene);
    });
    page.from(pick(runs, [...cubes, ...assorted]).filter(run => run.objects <= 32000));
    page.details('Figure 14: the four best to one million, the other scenes', () => { for (const scene of scenes.filter(one => one !== 'brownian')) figure14(page, runs, theirs, scene); });
    writeTable(page, 1, runs, cubeParts, theirs);
    writeTable(page, 2, runs, '004-assorted', table2Of004());
}

// How well windows stand for the run.
function writeWhole(page, runs) {
    const own = pick(runs, ['004-whole', '004-whole-32k']);
    if (own.length === 0) return;
    page.heading('Do windows stand for the whole run?');
    page.text('The paper times 1000 frames, most of our runs windows of ten spread over them. Where both were run, this is what windows make of the whole.');
    page.details('Whole runs beside windows', () => page.table(['scene', 'cubes', 'method', 'whole, ms', 'coefficient of variation', 'windows, ms', 'windows / whole'], own.map(run => {
        const windows = pick(runs, '004-cubes', { scene: run.scene, method: run.method, objects: run.objects })[0];
        return [titles[run.scene], sizeText(run.objects), run.method, digits(run.ms_mean), digits(run.cv), windows ? digits(windows.ms_mean) : '', windows ? times(windows.ms_mean / run.ms_mean) : ''];
    }), { left: 3 }));
    page.from(own);
}

// How far ahead the tree is at the largest size, and in the paper.
function numberText(runs, theirs) {
    const sizes = ascending(pick(runs, cubeParts, { method: 'kd-paper' }).filter(isTree).map(run => run.objects)).filter(objects => scenes.every(scene => bestOther(runs, cubeParts, scene, objects) > 0));
    const objects = sizes[sizes.length - 1];
    if (!objects) return '';
    const ours = scene => bestOther(runs, cubeParts, scene, objects) / pick(runs, cubeParts, { scene, method: 'kd-paper', objects })[0]?.ms_mean;
    const paper = scene => Math.min(...peers.map(method => theirs.get(`${scene} ${method}`).get(objects) ?? NaN)) / theirs.get(`${scene} kd`).get(objects);
    const text = (value, name = scene => ` (${titles[scene]})`) => scenes.map((scene, index) => `${index === scenes.length - 1 ? 'and ' : ''}${digits(value(scene))}${name(scene)}`).join(', ').replace(', and', ' and');
    return `With ${sizeText(objects)} cubes the tree as published is ${text(ours)} times as fast as the best other method${scenes.every(scene => paper(scene) > 0) ? `; in the paper ${text(paper, () => '')} times` : ''}. \`kd\`, our own tree, is ${gainText(runs, 'kd')} times as fast, from size to size and scene to scene.`;
}

export function writePage(folder, { runs, gains = gainsOf(runs), isStored = false }, claims) {
    const page = new Page(folder, '004', 'The KD-tree paper: one tree for all kinds of motion', { name: papers.get('004').file, isStored });
    const theirs = table1Of004();
    const of = (...ids) => claims.filter(claim => ids.includes(claim.id));
    page.text(`${citationOf('004')}. Its machine: an i7-7700, one thread.`);
    page.story({
        question: 'Can one broad phase be the fastest whether objects lie still, drift at random or are thrown about? The paper answers with a KD-tree of large leaves, a sweep within them, SIMD, and a search that keeps pairs at rest.',
        picture: () => figure14(page, runs, theirs, 'brownian'), claims, keys: { fastest: 'the KD-tree is the fastest at every size', 'adaptive-close': 'choosing the search every frame costs little', 'incremental-above-60': 'keeping pairs pays once 60 % of the objects lie still', twice: 'the tree is two to three times faster than the others', plateau: 'leaves of 256 to 1024 objects do alike', 'both-stages': 'tree and sweep together beat either alone' }, number: numberText(runs, theirs), runs: pick(runs, cubeParts, { scene: 'brownian' }).filter(run => four.includes(run.method)),
    });
    page.text('`kd-paper` is the paper\'s tree as published, T = 512 and K = 60 % unless a figure sweeps them. `kd` is what we made of it; [docs/kd.md](../../docs/kd.md) tells the differences. `bullet-dbvt-f` and `bullet-dbvt-d` are the paper\'s DBVT F and D, `cgal` its CGAL.');
    writeRadar(page, runs, theirs, of('innermost', 'dbvt-f-coherent', 'small-preference', 'preferences'));
    writeLeaf(page, runs, of('plateau', 'tall', 'short', 'brownian-suffers', 'levels'), isStored);
    writeRest(page, runs, gains, of('complete-below-50', 'equal-50-60', 'incremental-above-60', 'same-at-all-sizes'), isStored);
    writePruning(page, runs, of('both-stages', 'simd-single', 'avx-marginal', 'batch-mean', 'batch-small'), isStored);
    writeVariants(page, runs, of('rebuilt-slowest', 'each-its-goal', 'adaptive-close'));
    writeLadders(page, runs, theirs, of('fastest', 'twice', 'dbvt-second', 'axissweep-tracy-last', 'assorted-dbvt', 'assorted-gain'));
    writeWhole(page, runs);
    page.text('Run again with `make papers`; the schedule is `paper-004`.');
    page.write();
}
