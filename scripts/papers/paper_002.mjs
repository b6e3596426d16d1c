// SPDX-License-Identifier: MIT
// The RAY KD-tree paper, the RAY KD-tree of 2015: figures 2 and 3. Verdicts: claims_more.mjs.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { cases, meanDepth } from './claims_more.mjs';
import { titleOf } from './names.mjs';
import { Page, sizeText } from './page.mjs';
import { distinct, isTree, ladder, mergeTrees, pick } from './runs.mjs';

function writeLeaf(page, runs, claims) {
    const own = pick(runs, '002-leaf');
    const series = value => cases.map(([scene, type, name]) => ({ name, points: mergeTrees(own.filter(run => run.scene === scene && run.type === type), 'ray.leaf').map(point => [point.leaf, value(point)]) })).filter(one => one.points.length > 0);
    if (own.length === 0) return;
    page.heading(`Figure 2: T from 10 to 100, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} objects`);
    page.figure('figure-2a', 'Mean ms per frame by T', sweepChart({ title: '(a) ms per frame', parameter: 'T', series: series(point => point.ms_mean) }), { height: 340 });
    page.figure('figure-2b', 'Mean depth of the leaves by T', sweepChart({ title: '(b) mean depth of the leaves', parameter: 'T', value: 'levels', series: series(point => meanDepth(point.run.counters)) }), { height: 320 });
    page.from(own.filter(isTree));
    page.claims(claims);
}

function writeOthers(page, runs, claims) {
    page.heading('Figure 3: mean time per frame in the four scenes');
    for (const [scene, type, name] of cases) {
        const own = pick(runs, '002-others', { scene, type });
        if (own.length === 0) continue;
        const series = distinct(own.map(run => run.method)).map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) }));
        page.figure(`figure-3-${scene}-${type}`, `${name}: mean ms per frame`, ladderChart({ title: name, series, guides: [1] }), { height: 360 });
    }
    page.from(pick(runs, '002-others'));
    page.claims(claims);
}

export function writePage(folder, { runs }, claims) {
    const page = new Page(folder, '002', titleOf('002'));
    const of = (...ids) => claims.filter(claim => ids.includes(claim.id));
    page.text('Serpa and Rodrigues, *Detecção de Colisão Broad Phase com RAY KD-Tree*, 2015: a cube of 100 m, 2000 frames of 1/120 s, i7 860. Schedule: `paper-002`; `ray-kd` with T = 10 and its own partition. Its Cost is printed upside down: it grows where the two children hold alike, and the text wants that to be cheap; `ray-kd` has it turned round.');
    writeLeaf(page, runs, of('taller-faster', 'depth'));
    writeOthers(page, runs, of('best', 'second-fall', 'second-particles', 'cgal-types'));
    page.write();
}
