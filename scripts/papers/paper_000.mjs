// SPDX-License-Identifier: MIT
// Paper 000, the same algorithm earlier: figures 3 to 5 and the coefficient of variation.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { gainChart } from './paper_charts.mjs';
import { Page, digits, sizeText, times } from './page.mjs';
import { bestLeaf, gainBetween, gainPoints, gainText, scenes } from './paper_004.mjs';
import { ascending, distinct, ladder, mean, pick } from './runs.mjs';

const titles = { freefall: 'Queda Livre (Free Fall)', brownian: 'Partículas (Brownian)', gravity: 'Gravidade (Gravity)' };

function writeLeaf(page, runs) {
    const own = pick(runs, '000-leaf');
    const leaves = ascending(own.map(run => run.settings['kd.leaf']));
    const at = leaf => pick(own, '000-leaf', { settings: { 'kd.leaf': leaf } });
    const time = leaves.map(leaf => [leaf, mean(at(leaf).map(run => run.ms_mean))]);
    const least = Math.min(...time.map(point => point[1]));
    const height = leaves.map(leaf => [leaf, mean(at(leaf).map(run => run.counters.height))]);
    page.heading(`Figure 3a: T against height and mean time, ${sizeText(own[0].objects)} cubes, mean of the scenes`);
    page.figure('figure-3a-time', 'Mean ms per frame by T', sweepChart({ title: 'ms per frame', parameter: 'T', series: [{ name: 'kd', points: time }] }), { height: 320 });
    page.figure('figure-3a-height', 'Height of the tree by T', sweepChart({ title: 'height of the tree', parameter: 'T', value: 'levels', series: [{ name: 'kd', points: height.map(([leaf, levels]) => [leaf, Math.max(levels, 0.1)]) }] }), { height: 280 });
    page.text(`Paper: deep trees (T < 64) and shallow ones (T > 2048) are clearly slower than those in between, and T = 256 is chosen. Ours: best at T = ${bestLeaf(time)}; T = ${time[0][0]} takes ${times(time[0][1] / least)} that, T = 256 ${times(time.find(([leaf]) => leaf === 256)[1] / least)}, T = ${time[time.length - 1][0]} ${times(time[time.length - 1][1] / least)}. Why large leaves are cheap here is said with figure 9 of paper 004.`);
}

function writeRest(page, runs) {
    const complete = pick(runs, '000-rest', { method: 'kd-complete' });
    const series = [{ name: 'incremental', points: gainPoints(complete, pick(runs, '000-rest', { method: 'kd-incremental' })) }];
    page.heading(`Figure 3b: gain of the incremental search, Queda Livre, ${ascending(complete.map(run => run.objects)).map(sizeText).join(', ')} cubes, T = 256`);
    page.figure('figure-3b', 'Complete over incremental time per frame against the share of static objects', gainChart({ title: 'gain per frame', series, clampY: [0.4, 1.8] }), { height: 380 });
    const [low, middle, high] = [gainBetween(series[0].points, 0, 0.45), gainBetween(series[0].points, 0.45, 0.55), gainBetween(series[0].points, 0.9, 1.01)];
    page.text(`Paper: a loss of up to 15 % below 45 % static objects, a gain of up to 60 % near 100 %, K = 55 %. Ours, swept as in the paper: ${gainText(low)} below 45 %, ${gainText(middle)} from 45 to 55 %, ${gainText(high)} above 90 %.`);
}

const label = run => (run.method === 'kd' ? 'kd, T = 256' : run.method);

function writeLadders(page, runs) {
    page.heading('Figure 4: DBVT F, DBVT D, CGAL and KD-tree, cubes and assorted');
    for (const type of ['cubes', 'assorted']) {
        for (const scene of scenes) {
            const own = [...pick(runs, `000-${type}`, { scene }), ...pick(runs, `000-${type}-kd`, { scene })];
            if (own.length === 0) continue;
            const series = distinct(own.map(label)).map(name => ({ name, points: ladder(own.filter(run => label(run) === name && run.objects <= 32000)) })).filter(one => one.points.length > 0);
            page.figure(`figure-4-${scene}-${type}`, `${titles[scene]}, ${type}`, ladderChart({ title: `${titles[scene]}, ${type}`, series, guides: [1] }), { height: 360 });
        }
    }
    page.heading('Figure 5: to the largest size, cubes');
    for (const scene of scenes) {
        const own = [...pick(runs, '000-cubes', { scene }), ...pick(runs, '000-cubes-kd', { scene })];
        const series = distinct(own.map(label)).map(name => ({ name, points: ladder(own.filter(run => label(run) === name)) }));
        if (series.length > 0) page.figure(`figure-5-${scene}`, titles[scene], ladderChart({ title: titles[scene], series, guides: [1] }), { height: 360 });
    }
    const ratios = scenes.flatMap(scene => pick(runs, '000-cubes-kd', { scene }).map(kd => Math.min(...pick(runs, '000-cubes', { scene, objects: kd.objects }).map(run => run.ms_mean)) / kd.ms_mean)).filter(Number.isFinite);
    page.text(ratios.length > 0
        ? `Paper: the KD-tree is the fastest in every test, two to three times over the others, rivalled by DBVT F on Queda Livre alone. Ours, best of the others over KD-tree: ${digits(Math.min(...ratios))} to ${digits(Math.max(...ratios))} times.`
        : 'Neither Bullet nor CGAL is installed here: the KD-tree stands alone.');
}

function writeVariation(page, runs) {
    const parts = ['000-cubes', '000-cubes-kd', '000-assorted', '000-assorted-kd'];
    const own = runs.filter(run => run.status === 'ok' && parts.some(part => run.parts.includes(part)));
    const methods = distinct(own.map(label));
    page.heading('Coefficient of variation');
    page.text('Standard deviation over mean of all timed frames of all repeats, mean over the sizes:');
    // NaN where there is nothing to tell.
    const cv = (method, scene) => mean(own.filter(run => label(run) === method && run.scene === scene).map(run => run.cv).filter(value => !Number.isNaN(value)));
    page.table(['method', ...scenes.map(scene => titles[scene])], methods.map(method => [method, ...scenes.map(scene => digits(cv(method, scene)))]));
    const dynamic = methods.flatMap(method => ['brownian', 'gravity'].map(scene => cv(method, scene))).filter(value => !Number.isNaN(value));
    page.text(`Paper: below 0.1 everywhere but for DBVT F and the KD-tree on Queda Livre, about 0.7, since these profit from what comes to rest. ${dynamic.length > 0 ? `Ours on the two scenes in motion: ${digits(Math.min(...dynamic))} to ${digits(Math.max(...dynamic))}. ` : ''}Our windows are short and frames take microseconds where the paper's take milliseconds, so a busy machine shows.`);
}

export function writePage(folder, { runs }) {
    const page = new Page(folder, '000', 'The earlier KD-tree paper (000)');
    page.text('Serpa and Rodrigues, *Relações Espaciais, Temporais e de Ordem…*: T = 256, K = 55 %, 5 × 1000 frames. Schedule: `paper-000`.');
    writeLeaf(page, runs);
    writeRest(page, runs);
    writeLadders(page, runs);
    writeVariation(page, runs);
    page.write();
}
