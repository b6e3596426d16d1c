// SPDX-License-Identifier: MIT
// Paper 004, the KD-tree of 2019: figures 1 and 9 to 14, tables 1 and 2.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { radarChart } from '../../report/src/charts/radar.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { light, stylesFor } from '../../report/src/look.js';
import { depthChart, gainChart, groupChart } from './paper_charts.mjs';
import { Page, digits, percent, sizeText, times } from './page.mjs';
import { table1Of004, table2Of004 } from './published.mjs';
import { ascending, distinct, ladder, mean, pick } from './runs.mjs';

export const scenes = ['freefall', 'brownian', 'gravity'];
const four = ['bullet-dbvt-f', 'bullet-dbvt-d', 'cgal', 'kd'];
const titles = { freefall: 'Free Fall', brownian: 'Brownian', gravity: 'Gravity' };

const largest = runs => Math.max(...runs.map(run => run.objects));

// ---- tables 1 and 2

const cellOf = (run, ms) => [run ? `${digits(run.ms_mean)} (${digits(run.cv)})` : '', ms === undefined ? '' : digits(ms)];

/** Rows of a scene: each method's mean with its coefficient of variation, and the paper's mean, size by size. */
function tableRows(runs, part, published, scene, sizes) {
    return [...four, 'cleave'].map(method => {
        const own = pick(runs, part, { scene, method });
        if (own.length === 0 && !published.has(`${scene} ${method}`)) return null;
        return [titles[scene], method, ...sizes.flatMap(objects => cellOf(own.find(run => run.objects === objects), published.get(`${scene} ${method}`)?.get(objects)))];
    }).filter(Boolean);
}

function gainRow(runs, part, published, scene, sizes) {
    return [titles[scene], 'gain of kd', ...sizes.flatMap(objects => {
        const at = method => pick(runs, part, { scene, method, objects })[0]?.ms_mean;
        const others = four.slice(0, 3).map(at).filter(Boolean);
        const gain = others.length > 0 && at('kd') ? Math.min(...others) / at('kd') - 1 : undefined;
        const theirs = published.get(`${scene} gain`)?.get(objects);
        return [gain === undefined ? '' : percent(gain), theirs === undefined ? '' : `${theirs} %`];
    })];
}

// The best of the others over kd, size by size.
function gains(runs, part, scene, sizes) {
    return sizes.map(objects => {
        const at = method => pick(runs, part, { scene, method, objects })[0]?.ms_mean;
        const others = four.slice(0, 3).map(at).filter(Boolean);
        return others.length > 0 && at('kd') ? Math.min(...others) / at('kd') : NaN;
    }).filter(ratio => !Number.isNaN(ratio));
}

function gainSentence(runs, part, published, sizes) {
    const behind = scenes.filter(scene => gains(runs, part, scene, sizes).some(ratio => ratio < 1));
    const ours = scenes.map(scene => {
        const ratios = gains(runs, part, scene, sizes);
        const theirs = sizes.map(objects => published.get(`${scene} gain`)?.get(objects)).filter(gain => gain !== undefined).map(gain => 1 + gain / 100);
        return ratios.length > 0 ? `${times(mean(ratios))} on ${titles[scene]}${theirs.length > 0 ? ` (paper: ${times(mean(theirs))})` : ''}` : null;
    }).filter(Boolean);
    return ours.length > 0
        ? `${behind.length === 0 ? 'What agrees: the KD-tree is ahead of Bullet and CGAL on every scene, at every size.' : `The KD-tree is ahead of Bullet and CGAL at every size in the paper; here it is not on ${behind.map(scene => titles[scene]).join(', ')}.`} By how much, on average over these sizes: ${ours.join(', ')}.`
        : 'Neither Bullet nor CGAL is installed here, so there is nothing to compare the KD-tree with.';
}

function writeTable(page, number, runs, part, published) {
    const own = runs.filter(run => run.parts.includes(part));
    const sizes = ascending(own.map(run => run.objects));
    page.heading(`Table ${number}: ${number === 1 ? 'cubes' : 'assorted'}, ms per frame`);
    page.text('Ours: mean (coefficient of variation over all timed frames); beside it the paper\'s mean over 1000 frames. A method stops after its first mean above half a second.');
    page.table(['scene', 'method', ...sizes.flatMap(objects => [sizeText(objects), 'paper'])],
        scenes.flatMap(scene => [...tableRows(runs, part, published, scene, sizes), gainRow(runs, part, published, scene, sizes)]), { left: 2 });
    page.text(gainSentence(runs, part, published, sizes));
}

// ---- figures

function writeRadar(page, runs, published) {
    const own = pick(runs, '004-cubes');
    const objects = Math.max(...ascending(own.map(run => run.objects)).filter(size => scenes.every(scene => own.some(run => run.scene === scene && run.objects === size))));
    const at = (scene, method) => own.find(run => run.scene === scene && run.method === method && run.objects === objects)?.ms_mean;
    const methods = ['cleave', ...four].filter(method => scenes.every(scene => at(scene, method)));
    const axes = scenes.map(scene => titles[scene]);
    page.heading('Figure 1: the radar');
    page.figure('figure-1', `Mean ms per frame on the three scenes, ${sizeText(objects)} cubes`, radarChart({
        title: `ours, ${sizeText(objects)} cubes, ms per frame`, axes, width: 700, height: 440, series: methods.map(method => ({ name: method, values: scenes.map(scene => at(scene, method)) })),
    }), { width: 700, height: 440 });
    page.figure('figure-1-paper', 'The same from table 1 of the paper, 1024k cubes', radarChart({
        title: 'paper, 1024k cubes, ms per frame', axes, width: 700, height: 440, series: four.map(method => ({ name: method, values: scenes.map(scene => published.get(`${scene} ${method}`).get(1024000)) })),
    }), { width: 700, height: 440 });
    const isInnermost = methods.filter(method => method !== 'cleave').every(method => scenes.every(scene => at(scene, 'kd') <= at(scene, method)));
    const spread = method => Math.max(...scenes.map(scene => at(scene, method))) / Math.min(...scenes.map(scene => at(scene, method)));
    page.text(`An algorithm is general if it is equally quick everywhere. From its best scene to its worst ${methods.map(method => `\`${method}\` varies by ${times(spread(method))}`).join(', ')}; in the paper the KD-tree varies by ${times(539.27 / 123.45)} and is the innermost of the four, ${isInnermost ? 'as here' : 'which it is not on every scene here'}.`);
}

/** Leaves by depth as shares, and objects in leaves, averaged over runs. */
export function depthRow(leaf, runs) {
    const depths = Array.from({ length: 25 }, (_, depth) => mean(runs.map(run => (run.counters[depth < 24 ? `leaves at depth ${depth}` : 'leaves deeper'] ?? 0) / run.counters.leaves)));
    return { leaf, depths, inLeaves: mean(runs.map(run => run.counters['objects in leaves'] / run.objects)) };
}

export const bestLeaf = points => points.reduce((best, point) => (point[1] < best[1] ? point : best))[0];

function writeLeaf(page, runs) {
    const own = pick(runs, '004-leaf');
    const leaves = ascending(own.map(run => run.settings['kd.leaf']));
    const objects = largest(own);
    const series = scenes.map(scene => ({ name: scene, points: leaves.flatMap(leaf => pick(own, '004-leaf', { scene, settings: { 'kd.leaf': leaf } }).map(run => [leaf, run.ms_mean])) })).filter(one => one.points.length > 0);
    const rows = leaves.map(leaf => depthRow(leaf, pick(own, '004-leaf', { settings: { 'kd.leaf': leaf } })));
    page.heading(`Figure 9: T from 16 to 32768, ${sizeText(objects)} cubes`);
    page.figure('figure-9-depth', 'Depth of leaves and share of objects in leaves by T', depthChart({ title: 'depth of leaves, mean over the scenes', rows }), { height: 380 });
    page.figure('figure-9-time', 'Mean ms per frame by T', sweepChart({ title: 'ms per frame', parameter: 'T', series }), { height: 360 });
    const at512 = series.map(one => one.points.find(([leaf]) => leaf === 512)?.[1] / Math.min(...one.points.map(point => point[1])));
    const fewest = rows[0], most = rows[rows.length - 1];
    page.text(`The paper's best T is 512, with a plateau from 256 to 1024, and it is worse from 2048 on. Ours: ${series.map(one => `${bestLeaf(one.points)} on ${one.name}`).join(', ')}; T = 512 costs ${at512.map(times).join(', ')} the best. What agrees is the left half: small leaves make deep trees (${percent(fewest.inLeaves)} of the objects in leaves at T = ${fewest.leaf}, ${percent(most.inLeaves)} at ${most.leaf}), and the objects across planes are what costs. What differs is the right half: our sweeps count instead of sorting and cut long lists into strips, so large leaves are cheap.`);
}

/** [[share of static objects, complete / incremental]] frame by frame. */
export function gainPoints(complete, incremental) {
    return complete.flatMap(base => {
        const other = incremental.find(run => run.objects === base.objects);
        return other ? base.frame_ms.map((ms, frame) => [base.frame_static[frame], ms / other.frame_ms[frame]]).filter(([share, gain]) => share !== null && gain > 0) : [];
    });
}

/** Mean gain of the points within a range of shares. */
export function gainBetween(points, low, high) {
    const near = points.filter(([share]) => share >= low && share < high).map(([, gain]) => gain);
    return near.length > 0 ? mean(near) : NaN;
}

export const gainText = gain => (Number.isNaN(gain) ? 'no frames' : times(gain));

function writeRest(page, runs) {
    const complete = pick(runs, '004-rest', { method: 'kd-complete' });
    const series = [['swept, as in the paper', '004-rest-swept'], ['asking, ours', '004-rest']]
        .map(([name, part]) => ({ name, points: gainPoints(complete, pick(runs, part, { method: 'kd-incremental' })) }));
    page.heading(`Figure 10: what the incremental search gains, Free Fall, ${ascending(complete.map(run => run.objects)).map(sizeText).join(', ')} cubes, T = 512`);
    page.figure('figure-10', 'Complete over incremental time per frame against the share of static objects', gainChart({ title: 'gain per frame, clamped to 0.4 … 1.6 (paper: 0.7 … 1.6), and its moving average', series, clampY: [0.4, 1.6] }), { height: 440 });
    page.figure('figure-10-whole', 'The same, not clamped to 1.6', gainChart({ title: 'the same up to 16', series, clampY: [0, 16] }), { height: 380 });
    const rows = [['0 to 50 %', 0, 0.5, '0.87 to 0.95'], ['50 to 60 %', 0.5, 0.6, 'about 1'], ['60 to 90 %', 0.6, 0.9, 'above 1'], ['90 to 99 %', 0.9, 0.99, 'up to 1.6 and beyond'], ['99 % and more', 0.99, 1.01, '']];
    page.table(['static objects', 'paper', ...series.map(one => one.name)], rows.map(([name, low, high, theirs]) => [name, theirs, ...series.map(one => gainText(gainBetween(one.points, low, high)))]));
    page.text('The paper finds three regions: complete 5 to 15 % faster below 50 % static objects, both equal up to 60 %, incremental faster beyond, so K = 60 %. Here looking who moved weighs more, against a search that is several times as quick, so that the losses below are larger and the borders lie higher; what makes the incremental search worth it are objects that ask the tree for themselves, when few move. `kd` therefore also asks that few move (`kd.query`; bench/kd.md).');
}

const stages = [['none', 0, 0], ['tree only', 1, 0], ['sweep only', 0, 1], ['both', 1, 1]];

function writePruning(page, runs) {
    const own = pick(runs, '004-pruning');
    const isas = ['scalar', 'sse2', 'avx2', 'avx512', 'neon'].filter(isa => own.some(run => run.variant === isa));
    const at = (scene, [, tree, sap], variant) => pick(own, '004-pruning', { scene, variant, settings: { 'kd.tree': tree, 'kd.sap': sap } })[0]?.ms_mean;
    const present = scenes.filter(scene => own.some(run => run.scene === scene));
    page.heading(`Figure 11: pruning stages and SIMD, ${sizeText(largest(own))} cubes, T = 512`);
    page.figure('figure-11', 'Mean ms per frame of each pruning stage and instruction set', groupChart({
        title: 'kd-complete, ms per frame', value: 'ms per frame', categories: present.flatMap(scene => stages.map(([name]) => `${name.replace(' ', '\n')}\n${scene}`)),
        series: isas.map(isa => ({ name: isa, values: present.flatMap(scene => stages.map(stage => at(scene, stage, isa))) })), width: 1100,
    }), { width: 1100, height: 440 });
    page.table(['scene', 'stage', ...isas], present.flatMap(scene => stages.map(stage => [scene, stage[0], ...isas.map(isa => digits(at(scene, stage, isa)))])), { left: 2 });
    const wide = isas[isas.length - 1];
    const gain = stage => mean(present.map(scene => at(scene, stage, 'scalar') / at(scene, stage, wide)).filter(ratio => ratio > 0));
    const isBest = present.every(scene => stages.every(stage => at(scene, stages[3], wide) <= at(scene, stage, wide)));
    page.text(`Paper: neither stage alone is enough, and SIMD helps most where most is left to test. ${isBest ? 'The first holds here on every scene' : 'The first does not hold here on every scene'}; for the second, from scalar to ${wide}: ${stages.map(stage => `${stage[0]} ${times(gain(stage))}`).join(', ')}. With both stages the paper finds the gain minor and AVX hardly better than SSE; here gathering, bucketing and the notes of hits are vector code too, not the tests alone.`);
}

function writeBatches(page, runs) {
    const run = pick(runs, '004-batches')[0];
    if (!run) return;
    const bins = [['1', 'batches of 1'], ...[2, 4, 8, 16, 32, 64, 128, 256, 512].map(most => [`to ${most}`, `batches to ${most}`]), ['more', 'batches longer']];
    const { counters } = run;
    const share = name => counters[name] / counters.batches;
    const small = ['batches of 1', 'batches to 2', 'batches to 4', 'batches to 8'].reduce((sum, name) => sum + share(name), 0);
    page.figure('figure-11-batches', 'Shares of batches by their number of tests', groupChart({
        title: `Gravity, ${sizeText(run.objects)} cubes: tests per batch`, value: 'share of the batches', log: false, categories: bins.map(([name]) => name), series: [{ name: 'batches', values: bins.map(([, name]) => Number(share(name).toFixed(4))) }],
    }), { height: 320 });
    page.text(`A batch is what one object is tested against in one go. Paper, Gravity with 128k cubes: mean 15.8, 48 % of eight or fewer. Ours, ${sizeText(run.objects)}: mean ${digits(counters['batch tests'] / counters.batches)}, ${percent(small)} of eight or fewer. Buckets let a few more through than an exact sort would.`);
}

function writeVariants(page, runs) {
    const own = pick(runs, '004-variants');
    const variants = ['kd-rebuilt', 'kd-complete', 'kd-incremental', 'kd'];
    const at = (scene, method) => own.find(run => run.scene === scene && run.method === method)?.ms_mean;
    page.heading(`Figure 12: rebuilt, complete, incremental, adaptive, ${sizeText(largest(own))} cubes, T = 512`);
    page.figure('figure-12', 'Mean ms per frame of the four variants on the three scenes', groupChart({
        title: 'ms per frame', value: 'ms per frame', log: false, categories: scenes, series: variants.map(name => ({ name, values: scenes.map(scene => at(scene, name)) })),
    }), { height: 360 });
    page.table(['scene', ...variants, 'rebuilt / kd', 'best fixed / kd'], scenes.filter(scene => at(scene, 'kd')).map(scene => [titles[scene], ...variants.map(name => digits(at(scene, name))),
        times(at(scene, 'kd-rebuilt') / at(scene, 'kd')), times(Math.min(at(scene, 'kd-complete'), at(scene, 'kd-incremental')) / at(scene, 'kd'))]));
    const worst = Math.min(...scenes.map(scene => Math.min(at(scene, 'kd-complete'), at(scene, 'kd-incremental')) / at(scene, 'kd')).filter(ratio => ratio > 0));
    page.text(`In the paper rebuilding is the slowest everywhere, complete and incremental are each best for their goal, and adaptive is a close second in all scenes. Here adaptive stays within ${percent(1 / worst - 1)} of the better fixed one.`);
}

function writeLadders(page, runs, published) {
    page.heading('Figure 13: all methods, cubes and assorted');
    for (const [part, type] of [['004-cubes', 'cubes'], ['004-assorted', 'assorted']]) {
        for (const scene of scenes) {
            const own = pick(runs, part, { scene });
            const methods = distinct(own.map(run => run.method));
            if (own.length === 0) continue;
            page.figure(`figure-13-${scene}-${type}`, `${titles[scene]}, ${type}: mean ms per frame by number of objects`, ladderChart({
                title: `${titles[scene]}, ${type}`, series: methods.map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) })), guides: [1],
            }), { height: 380 });
        }
    }
    const names = distinct(pick(runs, '004-cubes').map(run => run.method));
    const slowest = scenes.map(scene => {
        const own = pick(runs, '004-cubes', { scene });
        const most = largest(own);
        const ranked = own.filter(run => run.objects === most).sort((a, b) => b.ms_mean - a.ms_mean);
        return `${ranked[0].method} on ${titles[scene]}`;
    });
    page.text(`The paper: the KD-tree twice as fast as the second, DBVT, then CGAL; AxisSweep and Tracy slowest and worst to scale; assorted objects hurt DBVT most. Slowest at the largest size here: ${slowest.join(', ')}. ${names.includes('tracy') ? 'Our `tracy` is written anew with the paper\'s grid and segmented lists, and scales better than the original did. ' : ''}\`cleave\` has no counterpart in the paper.`);
    page.heading('Figure 14: the four best, to the largest size, with the paper\'s table 1');
    for (const scene of scenes) {
        const own = pick(runs, '004-cubes', { scene });
        const series = four.filter(method => own.some(run => run.method === method)).map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) }));
        const theirs = four.map(method => ({ name: `${method} (paper)`, points: [...published.get(`${scene} ${method}`)] }));
        const styles = stylesFor(four, light);
        four.forEach(method => styles.set(`${method} (paper)`, { ...styles.get(method), dash: [2, 4], width: 1.4 }));
        page.figure(`figure-14-${scene}`, `${titles[scene]}: ours and the paper's mean ms per frame`, ladderChart({ title: `${titles[scene]}, cubes`, series: [...series, ...theirs], guides: [1], styles }), { height: 420 });
    }
    page.text('Curves of one method run side by side where the two machines and the two builds differ by a factor alone. Exponents stand in the legends; the paper\'s are over all of its sizes.');
}

export function writePage(folder, { runs }) {
    const page = new Page(folder, '004', 'The KD-tree paper of 2019 (004)');
    const published = table1Of004();
    page.text('Serpa and Rodrigues, *Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision Detection Using KD-Trees*, CGF 2019. Its machine: i7-7700, one thread. Schedule: `paper-004`.');
    writeRadar(page, runs, published);
    writeLeaf(page, runs);
    writeRest(page, runs);
    writePruning(page, runs);
    writeBatches(page, runs);
    writeVariants(page, runs);
    writeLadders(page, runs, published);
    writeTable(page, 1, runs, '004-cubes', published);
    writeTable(page, 2, runs, '004-assorted', table2Of004());
    page.write();
}
