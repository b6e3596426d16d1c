// SPDX-License-Identifier: MIT
// The KD-tree paper, the KD-tree of 2019: figures 1 and 9 to 14, tables 1 and 2. Verdicts: claims.mjs.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { radarChart } from '../../report/src/charts/radar.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { light, stylesFor } from '../../report/src/look.js';
import { isaOrder, leafPoints, stageMs, stages } from './claims.mjs';
import { bestOther, gainBetween, gainPoints, peers, scenes, titles } from './figures.mjs';
import { depthChart, gainChart, groupChart } from './paper_charts.mjs';
import { titleOf } from './names.mjs';
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

function writeTable(page, number, runs, part, theirs, claims) {
    const own = pick(runs, part);
    const sizes = ascending(own.map(run => run.objects));
    page.heading(`Table ${number}: ${number === 1 ? 'cubes' : 'assorted'}, ms per frame`);
    page.text('Mean (coefficient of variation over the run), beside it the paper\'s mean over 1000 frames. `kd-paper` is the tree as published, `kd` and `cleave` are ours. Gain: the best of the three others over the tree, less 1.');
    page.table(['scene', 'method', ...sizes.flatMap(objects => [sizeText(objects), 'paper'])],
        scenes.flatMap(scene => [...tableRows(runs, part, theirs, scene, sizes), gainRow(runs, part, theirs, scene, sizes, 'kd-paper'), gainRow(runs, part, theirs, scene, sizes, 'kd')]), { left: 2 });
    page.from(own.filter(run => rowsOfTable.includes(run.method)));
    page.claims(claims);
}

// ---- figures

function writeRadar(page, runs, theirs, claims) {
    const own = pick(runs, cubeParts);
    const names = ['cleave', 'kd', 'kd-paper', ...peers];
    const has = (scene, method, objects) => own.find(run => run.scene === scene && run.method === method && run.objects === objects);
    const objects = Math.max(...ascending(own.map(run => run.objects)).filter(size => scenes.every(scene => has(scene, 'kd-paper', size))));
    const methods = names.filter(method => scenes.every(scene => has(scene, method, objects)));
    const axes = scenes.map(scene => titles[scene]);
    page.heading('Figure 1: the radar');
    page.figure('figure-1', `Mean ms per frame on the three scenes, ${sizeText(objects)} cubes`, radarChart({
        title: `ours, ${sizeText(objects)} cubes, ms per frame`, axes, width: 700, height: 440, series: methods.map(method => ({ name: method, values: scenes.map(scene => has(scene, method, objects).ms_mean) })),
    }), { width: 700, height: 440 });
    page.figure('figure-1-paper', 'The same from table 1 of the paper, 1024k cubes', radarChart({
        title: 'paper, 1024k cubes, ms per frame', axes, width: 700, height: 440, series: [...peers, 'kd'].map(method => ({ name: method, values: scenes.map(scene => theirs.get(`${scene} ${method}`).get(1024000)) })),
    }), { width: 700, height: 440 });
    page.from(own.filter(run => run.objects === objects && methods.includes(run.method)));
    page.claims(claims);
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

function writeLeaf(page, runs, claims) {
    const own = pick(runs, '004-leaf');
    const points = leafPoints(runs);
    const ours = leafPoints(runs, '004-leaf-ours', 'kd.leaf');
    const trees = own.filter(isTree);
    if (trees.length === 0) {
        page.heading('Figure 9');
        page.text('No run here made a tree of more than one node.');
        return;
    }
    const leaves = ascending(trees.map(run => run.settings['kd.leaf']));
    const rows = leaves.map(leaf => depthRow(leaf, trees.filter(run => run.settings['kd.leaf'] === leaf)));
    const series = [...Object.entries(points).map(([scene, list]) => ({ name: scene, points: list.map(point => [point.leaf, point.ms_mean]) })),
        ...Object.entries(ours).map(([scene, list]) => ({ name: `${scene}, kd (ours)`, points: list.map(point => [point.leaf, point.ms_mean]) }))];
    page.heading(`Figure 9: T from 16 to 32768, KD-tree as published, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes`);
    page.figure('figure-9-depth', 'Depth of leaves and share of objects in leaves by T', depthChart({ title: 'depth of leaves, mean over the scenes', rows }), { height: 380 });
    page.figure('figure-9-time', 'Mean ms per frame by T', sweepChart({ title: 'ms per frame', parameter: 'T', series }), { height: 400 });
    page.text(leafNotes(own, 'kd.leaf'));
    page.from(trees);
    page.claims(claims);
}

const gainText = gain => (Number.isNaN(gain) ? 'no frames' : times(gain));
const ranges = [['0 to 50 %', 0, 0.5, '0.87 to 0.95'], ['50 to 60 %', 0.5, 0.6, 'about 1'], ['60 to 90 %', 0.6, 0.9, 'above 1'], ['90 to 99 %', 0.9, 0.99, 'up to 1.6 and beyond'], ['99 % and more', 0.99, 1.01, '']];

function writeRest(page, runs, claims) {
    const series = [['as published', '004-rest', 'kd-paper'], ['kd (ours)', '004-rest-ours', 'kd']]
        .map(([name, part, kin]) => ({ name, like: kin, part, kin, points: gainPoints(pick(runs, part, { method: `${kin}-complete` }).filter(isTree), pick(runs, part, { method: `${kin}-incremental` })) })).filter(one => one.points.length > 0);
    if (series.length === 0) return;
    const sizes = ascending(pick(runs, '004-rest').filter(isTree).map(run => run.objects));
    page.heading(`Figure 10: what the incremental search gains, Free Fall, ${sizes.map(sizeText).join(', ')} cubes, T = 512`);
    page.figure('figure-10', 'Complete over incremental time per frame against the share of static objects', gainChart({ title: 'gain per frame and its moving average, 0.4 to 1.6', series, clampY: [0.4, 1.6] }), { height: 440 });
    page.figure('figure-10-whole', 'The same, not clamped to 1.6', gainChart({ title: 'the same up to 16', series, clampY: [0, 16] }), { height: 380 });
    const columns = sizes.map(objects => [sizeText(objects), gainPoints(pick(runs, '004-rest', { method: 'kd-paper-complete', objects }), pick(runs, '004-rest', { method: 'kd-paper-incremental', objects }))]);
    page.table(['static objects', 'paper', ...columns.map(([name]) => name), ...series.slice(1).map(one => one.name)], ranges.map(([name, low, high, theirs]) => [name, theirs, ...columns.map(([, points]) => gainText(gainBetween(points, low, high))), ...series.slice(1).map(one => gainText(gainBetween(one.points, low, high)))]));
    page.from(pick(runs, ['004-rest', '004-rest-ours']));
    page.claims(claims);
}

function writePruning(page, runs, claims) {
    const own = pick(runs, stages.map(([, part]) => part));
    const sizes = ascending(own.map(run => run.objects));
    if (sizes.length === 0) return;
    const isas = isaOrder.filter(isa => own.some(run => run.variant === isa));
    const present = scenes.filter(scene => own.some(run => run.scene === scene));
    const most = sizes[sizes.length - 1];
    const bars = [...stages, ['kd (ours)', '004-pruning-ours']].filter(([, part]) => pick(runs, part).length > 0);
    const at = (scene, part, isa, objects = most) => stageMs(runs, part, scene, isa, objects);
    page.heading(`Figure 11: pruning stages and SIMD, ${sizes.map(sizeText).join(', ')} cubes, T = 512`);
    page.figure('figure-11', `Mean ms per frame of each pruning stage and instruction set, ${sizeText(most)} cubes`, groupChart({
        title: `kd-paper-complete, ${sizeText(most)}, ms per frame`, value: 'ms per frame', categories: present.flatMap(scene => bars.map(([name]) => `${name.replace(' ', '\n')}\n${scene}`)),
        series: isas.map(isa => ({ name: isa, values: present.flatMap(scene => bars.map(([, part]) => at(scene, part, isa))) })), width: 1200,
    }), { width: 1200, height: 460 });
    page.table(['scene', 'stage', ...sizes.flatMap(objects => isas.map(isa => `${isa}, ${sizeText(objects)}`))], present.flatMap(scene => bars.map(([name, part]) => [scene, name, ...sizes.flatMap(objects => isas.map(isa => digits(at(scene, part, isa, objects))))])), { left: 2 });
    page.from(own.filter(run => run.parts[0] === '004-pruning-both' || run.parts[0] === '004-pruning-tree'));
    writeBatches(page, runs);
    page.claims(claims);
}

const bins = [['1', 'batches of 1'], ...[2, 4, 8, 16, 32, 64, 128, 256, 512].map(most => [`to ${most}`, `batches to ${most}`]), ['more', 'batches longer']];

function writeBatches(page, runs) {
    const own = pick(runs, '004-batches').filter(run => run.counters.batches > 0);
    if (own.length === 0) return;
    page.figure('figure-11-batches', 'Shares of batches by their number of tests', groupChart({
        title: `Gravity, ${sizeText(own[0].objects)} cubes: tests per batch`, value: 'share of the batches', log: false, categories: bins.map(([name]) => name),
        series: own.map(run => ({ name: run.method, values: bins.map(([, name]) => Number((run.counters[name] / run.counters.batches).toFixed(4))) })),
    }), { height: 320 });
    page.text('A batch is what one object is tested against in one go.');
    page.from(own);
}

function writeVariants(page, runs, claims) {
    const kinds = ['-rebuilt', '-complete', '-incremental', ''];
    const own = pick(runs, ['004-variants', '004-variants-ours']);
    if (own.length === 0) return;
    const names = ['kd-paper', 'kd'].flatMap(kin => kinds.map(kind => `${kin}${kind}`)).filter(name => own.some(run => run.method === name));
    const at = (scene, method) => own.find(run => run.scene === scene && run.method === method);
    page.heading(`Figure 12: rebuilt, complete, incremental, adaptive, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes`);
    page.figure('figure-12', 'Mean ms per frame of the four variants on the three scenes, as published and ours', groupChart({
        title: 'ms per frame', value: 'ms per frame', log: false, categories: scenes, series: names.map(name => ({ name, values: scenes.map(scene => at(scene, name)?.ms_mean) })),
    }), { height: 380 });
    page.table(['scene', ...names], scenes.map(scene => [titles[scene], ...names.map(name => (at(scene, name) ? `${digits(at(scene, name).ms_mean)} (${digits(at(scene, name).cv)})` : ''))]));
    page.from(own);
    page.claims(claims);
}

function writeLadders(page, runs, theirs, claims) {
    page.heading('Figure 13: all methods, cubes and assorted');
    for (const [parts, type] of [[['004-cubes', '004-cubes-others'], 'cubes'], [['004-assorted'], 'assorted']]) {
        for (const scene of scenes) {
            const own = pick(runs, parts, { scene }).filter(run => run.objects <= 32000);
            if (own.length === 0) continue;
            page.figure(`figure-13-${scene}-${type}`, `${titles[scene]}, ${type}: mean ms per frame by number of objects`, ladderChart({
                title: `${titles[scene]}, ${type}`, series: distinct(own.map(run => run.method)).map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) })), guides: [1],
            }), { height: 380 });
        }
        page.from(pick(runs, parts).filter(run => run.objects <= 32000));
    }
    page.heading('Figure 14: the four best, to the largest size, with the paper\'s table 1');
    const four = [...peers, 'kd-paper'];
    for (const scene of scenes) {
        const own = pick(runs, cubeParts, { scene });
        const series = [...four, 'kd'].filter(method => own.some(run => run.method === method)).map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) }));
        const paper = four.map(method => ({ name: `${method} (paper)`, points: [...theirs.get(`${scene} ${published(method)}`)] }));
        const styles = stylesFor([...four, 'kd'], light);
        four.forEach(method => styles.set(`${method} (paper)`, { ...styles.get(method), dash: [2, 4], width: 1.4 }));
        page.figure(`figure-14-${scene}`, `${titles[scene]}: ours and the paper's mean ms per frame`, ladderChart({ title: `${titles[scene]}, cubes`, series: [...series, ...paper], guides: [1], styles }), { height: 440 });
    }
    page.from(pick(runs, cubeParts).filter(run => [...four, 'kd'].includes(run.method)));
    page.claims(claims);
}

// How well windows stand for the run.
function writeWhole(page, runs) {
    const own = pick(runs, ['004-whole', '004-whole-32k']);
    if (own.length === 0) return;
    page.heading('Whole runs of 1000 frames, and what windows make of them');
    page.table(['scene', 'cubes', 'method', 'whole, ms', 'coefficient of variation', 'windows, ms', 'windows / whole'], own.map(run => {
        const windows = pick(runs, '004-cubes', { scene: run.scene, method: run.method, objects: run.objects })[0];
        return [titles[run.scene], sizeText(run.objects), run.method, digits(run.ms_mean), digits(run.cv), windows ? digits(windows.ms_mean) : '', windows ? times(windows.ms_mean / run.ms_mean) : ''];
    }), { left: 3 });
    page.from(own);
}

export function writePage(folder, { runs }, claims) {
    const page = new Page(folder, '004', titleOf('004'));
    const theirs = table1Of004();
    const of = (...ids) => claims.filter(claim => ids.includes(claim.id));
    page.text('Serpa and Rodrigues, *Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision Detection Using KD-Trees*, CGF 2019. Its machine: i7-7700, one thread. Schedule: `paper-004`. `kd-paper` is its tree as published, T = 512 and K = 60 % unless a figure sweeps them; docs/kd.md tells where it differs, and what `kd` changes.');
    writeRadar(page, runs, theirs, of('innermost', 'dbvt-f-coherent', 'general'));
    writeLeaf(page, runs, of('plateau', 'tall', 'short', 'brownian-suffers', 'levels'));
    writeRest(page, runs, of('complete-below-50', 'equal-50-60', 'incremental-above-60', 'same-at-all-sizes'));
    writePruning(page, runs, of('both-stages', 'simd-single', 'avx-marginal', 'batch-mean', 'batch-small'));
    writeVariants(page, runs, of('rebuilt-slowest', 'each-its-goal', 'adaptive-close'));
    writeLadders(page, runs, theirs, of('fastest', 'dbvt-second', 'axissweep-tracy-last', 'assorted-dbvt'));
    writeTable(page, 1, runs, cubeParts, theirs, of('twice'));
    writeTable(page, 2, runs, '004-assorted', table2Of004(), of('assorted-gain'));
    writeWhole(page, runs);
    page.write();
}
