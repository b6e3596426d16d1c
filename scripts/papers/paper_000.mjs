// SPDX-License-Identifier: MIT
// The earlier KD-tree paper, the same algorithm earlier: figures 3 to 5 and the coefficient of variation. Verdicts: claims_more.mjs.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { meanLeaf } from './claims_more.mjs';
import { gainPoints, scenes, titles } from './figures.mjs';
import { gainChart } from './paper_charts.mjs';
import { titleOf } from './names.mjs';
import { Page, digits, sizeText } from './page.mjs';
import { leafNotes } from './paper_004.mjs';
import { ascending, distinct, isTree, ladder, pick } from './runs.mjs';

const cubes = ['000-cubes', '000-cubes-kd', '000-cubes-large', '000-cubes-large-kd'];
const assorted = ['000-assorted', '000-assorted-kd'];

function writeLeaf(page, runs, claims) {
    const own = pick(runs, '000-leaf');
    const points = meanLeaf(runs);
    if (points.length === 0) return;
    page.heading(`Figure 3a: T against height and mean time, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes, mean of the scenes`);
    page.figure('figure-3a-time', 'Mean ms per frame of the KD-tree by T', sweepChart({ title: 'ms per frame', parameter: 'T', series: [{ name: 'kd-paper', points: points.map(({ leaf, ms }) => [leaf, ms]) }] }), { height: 320 });
    page.figure('figure-3a-height', 'Height of the KD-tree by T', sweepChart({ title: 'height of the tree', parameter: 'T', value: 'levels', series: [{ name: 'kd-paper', points: points.map(({ leaf, height }) => [leaf, height]) }] }), { height: 280 });
    page.text(leafNotes(own, 'kd.leaf'));
    page.from(own.filter(isTree));
    page.claims(claims);
}

function writeRest(page, runs, claims) {
    const complete = pick(runs, '000-rest', { method: 'kd-paper-complete' }).filter(isTree);
    const series = [{ name: 'incremental', points: gainPoints(complete, pick(runs, '000-rest', { method: 'kd-paper-incremental' })) }];
    if (series[0].points.length === 0) return;
    page.heading(`Figure 3b: gain of the incremental search, Free Fall, ${ascending(complete.map(run => run.objects)).map(sizeText).join(', ')} cubes, T = 256`);
    page.figure('figure-3b', 'Complete over incremental time per frame against the share of static objects', gainChart({ title: 'gain per frame', series, clampY: [0.4, 1.8] }), { height: 380 });
    page.from(pick(runs, '000-rest'));
    page.claims(claims);
}

function writeLadders(page, runs, claims) {
    page.heading('Figure 4: DBVT F, DBVT D, CGAL and the KD-tree of T = 256, cubes and assorted');
    for (const [parts, type] of [[cubes, 'cubes'], [assorted, 'assorted']]) {
        for (const scene of scenes) {
            const own = pick(runs, parts, { scene }).filter(run => run.objects <= 32000);
            if (own.length === 0) continue;
            page.figure(`figure-4-${scene}-${type}`, `${titles[scene]}, ${type}`, ladderChart({ title: `${titles[scene]}, ${type}`, series: seriesOf(own), guides: [1] }), { height: 360 });
        }
        page.from(pick(runs, parts).filter(run => run.objects <= 32000));
    }
    page.heading('Figure 5: to the largest size, cubes');
    for (const scene of scenes) {
        const own = pick(runs, cubes, { scene });
        if (own.length > 0) page.figure(`figure-5-${scene}`, titles[scene], ladderChart({ title: titles[scene], series: seriesOf(own), guides: [1] }), { height: 360 });
    }
    page.from(pick(runs, cubes));
    page.claims(claims);
}

// A tree of one node is no KD-tree: such points are left out.
function seriesOf(own) {
    const name = run => (run.method === 'kd-paper' ? 'KD-tree, T = 256' : run.method);
    const shown = own.filter(run => run.method !== 'kd-paper' || isTree(run));
    return distinct(shown.map(name)).map(one => ({ name: one, like: shown.find(run => name(run) === one).method, points: ladder(shown.filter(run => name(run) === one)) }));
}

function writeVariation(page, runs, claims) {
    const own = pick(runs, ['000-whole', '000-whole-kd']);
    if (own.length === 0) return;
    page.heading('Coefficient of variation');
    page.text(`Standard deviation over mean of all frames of a whole run of 1000, all repeats, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes:`);
    page.table(['method', ...scenes.map(scene => titles[scene])], distinct(own.map(run => run.method)).map(method => [method, ...scenes.map(scene => digits(own.find(run => run.method === method && run.scene === scene)?.cv))]));
    page.from(own);
    page.claims(claims);
}

export function writePage(folder, { runs }, claims) {
    const page = new Page(folder, '000', titleOf('000'));
    const of = (...ids) => claims.filter(claim => ids.includes(claim.id));
    page.text('Serpa and Rodrigues, *Relações Espaciais, Temporais e de Ordem…*: T = 256, K = 55 %, 5 × 1000 frames. Schedule: `paper-000`, the tree as published (`kd-paper`).');
    writeLeaf(page, runs, of('middle-trees'));
    writeRest(page, runs, of('loss-below-45', 'gain-above-55'));
    writeLadders(page, runs, of('fastest', 'two-to-three', 'second', 'gravity-hardest'));
    writeVariation(page, runs, of('variation-calm', 'variation-rest'));
    page.write();
}
