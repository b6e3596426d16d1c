// SPDX-License-Identifier: MIT
// The earlier KD-tree paper, the same algorithm earlier: figures 3 to 5 and the coefficient of variation. Verdicts: claims_more.mjs.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { meanLeaf } from './claims_more.mjs';
import { bestOther, gainPoints, kdOf, scenes, titles } from './figures.mjs';
import { gainChart } from './paper_charts.mjs';
import { citationOf, papers } from './names.mjs';
import { Page, digits, sizeText } from './page.mjs';
import { leafNotes } from './paper_004.mjs';
import { ascending, distinct, isTree, ladder, mean, pick } from './runs.mjs';

const cubes = ['000-cubes', '000-cubes-kd', '000-cubes-large', '000-cubes-large-kd'];
const assorted = ['000-assorted', '000-assorted-kd'];

function writeLeaf(page, runs, claims, isStored) {
    const own = pick(runs, '000-leaf');
    const points = meanLeaf(runs);
    if (points.length === 0) return;
    page.heading('How deep should the KD-tree be? (figure 3a)');
    page.text(`T is the most objects a leaf may hold; ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes, mean of the scenes.`);
    page.figure('figure-3a-time', 'Mean ms per frame of the KD-tree by T', sweepChart({ title: 'ms per frame by T, mean of the scenes', parameter: 'T', series: [{ name: 'kd-paper', points: points.map(({ leaf, ms }) => [leaf, ms]) }] }), { height: 320 });
    page.claims(claims);
    page.details('The height of the tree', () => {
        page.figure('figure-3a-height', 'Height of the KD-tree by T', isStored ? null : sweepChart({ title: 'height of the tree', parameter: 'T', value: 'levels', series: [{ name: 'kd-paper', points: points.map(({ leaf, height }) => [leaf, height]) }] }), { height: 280 });
        page.text(leafNotes(own, 'kd.leaf'));
    });
    page.from(own.filter(isTree));
}

function writeRest(page, runs, claims, isStored) {
    const complete = pick(runs, '000-rest', { method: 'kd-paper-complete' }).filter(isTree);
    const series = [{ name: 'kd-paper', points: gainPoints(complete, pick(runs, '000-rest', { method: 'kd-paper-incremental' })) }];
    if (complete.length === 0 || (!isStored && series[0].points.length === 0)) return;
    page.heading('When does it pay to keep pairs? (figure 3b)');
    page.text(`Each dot is a frame of Free Fall, ${ascending(complete.map(run => run.objects)).map(sizeText).join(', ')} cubes, T = 256: the time of the complete search over that of the incremental one, which keeps pairs of objects that lie still. Above 1 keeping pays.`);
    page.figure('figure-3b', 'Complete over incremental time per frame against the share of static objects', isStored ? null : gainChart({ title: 'gain per frame', series, clampY: [0.4, 1.8] }), { height: 380 });
    page.claims(claims);
    page.from(pick(runs, '000-rest'));
}

function figure4(page, runs, parts, type, scene) {
    const own = pick(runs, parts, { scene }).filter(run => run.objects <= 32000);
    if (own.length > 0) page.figure(`figure-4-${scene}-${type}`, `${titles[scene]}, ${type}: mean ms per frame by number of objects`, ladderChart({ title: `${titles[scene]}, ${type}`, series: seriesOf(own), guides: [1] }), { height: 360 });
}

function figure5(page, runs, scene) {
    const own = pick(runs, cubes, { scene });
    if (own.length > 0) page.figure(`figure-5-${scene}`, `${titles[scene]}, cubes: mean ms per frame to the largest size`, ladderChart({ title: `${titles[scene]}, cubes`, series: seriesOf(own), guides: [1] }), { height: 360 });
}

function writeLadders(page, runs, claims) {
    page.heading('Is the KD-tree the fastest everywhere? (figures 4 and 5)');
    figure4(page, runs, cubes, 'cubes', 'freefall');
    page.claims(claims);
    page.details('Figure 4: the other scenes, and assorted objects', () => {
        for (const scene of scenes.filter(one => one !== 'freefall')) figure4(page, runs, cubes, 'cubes', scene);
        for (const scene of scenes) figure4(page, runs, assorted, 'assorted', scene);
    });
    page.details('Figure 5: to the largest size, the other scenes', () => { for (const scene of scenes.filter(one => one !== 'gravity')) figure5(page, runs, scene); });
    page.from(pick(runs, [...cubes, ...assorted]));
}

// A tree of one node is no KD-tree: such points are left out.
function seriesOf(own) {
    const name = run => (run.method === 'kd-paper' ? 'kd-paper, T = 256' : run.method);
    const shown = own.filter(run => run.method !== 'kd-paper' || isTree(run));
    return distinct(shown.map(name)).map(one => ({ name: one, like: shown.find(run => name(run) === one).method, points: ladder(shown.filter(run => name(run) === one)) }));
}

function writeVariation(page, runs, claims) {
    const own = pick(runs, ['000-whole', '000-whole-kd']);
    if (own.length === 0) return;
    page.heading('How steady is a frame\'s time? (section 5)');
    page.text(`The coefficient of variation is the standard deviation over the mean, here of all frames of a whole run of 1000, all repeats, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} cubes.`);
    page.table(['method', ...scenes.map(scene => titles[scene])], distinct(own.map(run => run.method)).map(method => [method, ...scenes.map(scene => digits(own.find(run => run.method === method && run.scene === scene)?.cv))]));
    page.claims(claims);
    page.from(own);
}

function numberText(runs) {
    const ratios = [cubes, assorted].flatMap(parts => scenes.flatMap(scene => kdOf(runs, parts, scene).filter(isTree).map(run => bestOther(runs, parts, scene, run.objects) / run.ms_mean).filter(ratio => ratio > 0)));
    return ratios.length > 0 ? `The best other method takes ${digits(mean(ratios))} times as long as the tree in the mean of all tests, ${digits(Math.min(...ratios))} at least and ${digits(Math.max(...ratios))} at most. The paper says two to three times.` : '';
}

export function writePage(folder, { runs, isStored = false }, claims) {
    const page = new Page(folder, '000', 'The earlier KD-tree paper: the same tree in its first form', { name: papers.get('000').file, isStored });
    const of = (...ids) => claims.filter(claim => ids.includes(claim.id));
    page.text(`${citationOf('000')}. Its machine: an i7-7700; each test five times over 1000 frames.`);
    page.story({
        question: 'Can one solution be fast with objects that rest, that drift and that are thrown about, from a thousand to a million of them? The tree has leaves of T = 256 objects, sweeps them, and keeps pairs once K = 55 % of the objects lie still.',
        picture: () => figure5(page, runs, 'gravity'), claims, keys: { fastest: 'the KD-tree is the fastest in all tests', 'gain-above-55': 'keeping pairs pays once 55 % of the objects lie still', 'middle-trees': 'trees much deeper or flatter than T = 256 are slower', 'two-to-three': 'the tree is two to three times better than the others' }, number: numberText(runs), runs: pick(runs, cubes, { scene: 'gravity' }),
    });
    page.text('`kd-paper` is the tree as published with T = 256, `bullet-dbvt-f` and `bullet-dbvt-d` are the paper\'s DBVT F and D, `cgal` its CGAL. Free Fall is its *Queda Livre*, Brownian its *Partículas*, Gravity its *Gravidade*.');
    writeLeaf(page, runs, of('middle-trees'), isStored);
    writeRest(page, runs, of('loss-below-45', 'gain-above-55', 'gain-most'), isStored);
    writeLadders(page, runs, of('fastest', 'two-to-three', 'second', 'gravity-hardest'));
    writeVariation(page, runs, of('variation-calm', 'variation-rest'));
    page.text('Run again with `make papers`; the schedule is `paper-000`.');
    page.write();
}
