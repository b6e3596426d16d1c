// SPDX-License-Identifier: MIT
// Paper 002, the RAY KD-tree of 2015: figures 2 and 3.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { Page, sizeText, times } from './page.mjs';
import { ascending, distinct, ladder, pick } from './runs.mjs';

const cases = [['ray-freefall', 'cubes', 'Queda Livre Uniforme'], ['ray-freefall', 'assorted', 'Queda Livre Variado'], ['ray-particles', 'cubes', 'Partículas Uniforme'], ['ray-particles', 'assorted', 'Partículas Variado']];

/** Mean levels of the leaves below the root. */
export function meanDepth(counters) {
    let sum = 0;
    for (let depth = 0; depth < 24; ++depth) sum += depth * (counters[`leaves at depth ${depth}`] ?? 0);
    return (sum + 24 * (counters['leaves deeper'] ?? 0)) / counters.leaves;
}

function writeLeaf(page, runs) {
    const own = pick(runs, '002-leaf');
    const leaves = ascending(own.map(run => run.settings['ray.leaf']));
    const series = value => cases.map(([scene, type, name]) => ({
        name, points: leaves.flatMap(leaf => pick(own, '002-leaf', { scene, type, settings: { 'ray.leaf': leaf } }).map(run => [leaf, value(run)])),
    })).filter(one => one.points.length > 0);
    const time = series(run => run.ms_mean);
    page.heading(`Figure 2: T from 10 to 100, ${sizeText(own[0].objects)} objects`);
    page.figure('figure-2a', 'Mean ms per frame by T', sweepChart({ title: '(a) ms per frame', parameter: 'T', series: time }), { height: 340 });
    page.figure('figure-2b', 'Mean depth of the leaves by T', sweepChart({ title: '(b) mean depth of the leaves', parameter: 'T', value: 'levels', series: series(run => meanDepth(run.counters)) }), { height: 320 });
    const best = time.map(one => `${one.points.reduce((least, point) => (point[1] < least[1] ? point : least))[0]} on ${one.name}`);
    page.text(`Paper: the taller the tree, the faster, so T = 10. Ours is best at T = ${best.join(', ')}. The depth falls with T as it must; the time follows it less, for brute force in a node is vector code here, which takes eight or sixteen boxes at a time, and a leaf of ten is a batch that is not full.`);
}

function writeOthers(page, runs) {
    page.heading('Figure 3: mean time per frame in the four scenes');
    const sentences = [];
    for (const [scene, type, name] of cases) {
        const own = pick(runs, '002-others', { scene, type });
        if (own.length === 0) continue;
        const series = distinct(own.map(run => run.method)).map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) }));
        page.figure(`figure-3-${scene}-${type}`, `${name}: mean ms per frame`, ladderChart({ title: name, series, guides: [1] }), { height: 360 });
        const most = Math.max(...own.map(run => run.objects));
        const at = method => own.find(run => run.method === method && run.objects === most)?.ms_mean;
        const others = ['bullet-dbvt-f', 'bullet-dbvt-d', 'cgal'].map(method => [method, at(method)]).filter(([, ms]) => ms).sort((a, b) => a[1] - b[1]);
        if (others.length > 0 && at('ray-kd')) sentences.push(`${name}: ${others[0][0]} is next, ${times(others[0][1] / at('ray-kd'))}${at('kd') ? `; \`kd\` of 2019 takes ${times(at('kd') / at('ray-kd'))}` : ''}`);
    }
    page.text('Paper: the RAY KD-tree is the best in all four, with DBVT F next in free fall and DBVT D with particles. Times relative to `ray-kd` at the largest size here:');
    page.list(sentences);
}

export function writePage(folder, { runs }) {
    const page = new Page(folder, '002', 'The RAY KD-tree paper of 2015 (002)');
    page.text('Serpa and Rodrigues, *Detecção de Colisão Broad Phase com RAY KD-Tree*, 2015: a cube of 100 m, 1/120 s, i7 860. Schedule: `paper-002`; 60 frames from frame 600 where the paper has 2000.');
    writeLeaf(page, runs);
    writeOthers(page, runs);
    page.write();
}
