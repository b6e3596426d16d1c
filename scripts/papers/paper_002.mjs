// SPDX-License-Identifier: MIT
// The RAY KD-tree paper, the RAY KD-tree of 2015: figures 2 and 3. Verdicts: claims_more.mjs.
import { ladderChart } from '../../report/src/charts/ladder.js';
import { sweepChart } from '../../report/src/charts/sweep.js';
import { cases } from './claims_more.mjs';
import { peers } from './figures.mjs';
import { citationOf, papers } from './names.mjs';
import { Page, digits, sizeText } from './page.mjs';
import { distinct, isTree, ladder, meanDepth, mergeTrees, pick } from './runs.mjs';

function writeLeaf(page, runs, claims, isStored) {
    const own = pick(runs, '002-leaf');
    const series = value => cases.map(([scene, type, name]) => ({ name, points: mergeTrees(own.filter(run => run.scene === scene && run.type === type), 'ray.leaf').map(point => [point.leaf, value(point)]) })).filter(one => one.points.length > 0);
    if (own.length === 0) return;
    page.heading('Is a taller KD-tree a faster one? (figure 2)');
    page.text(`T is the most objects a leaf may hold: 10 to 100, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} objects.`);
    page.figure('figure-2a', 'Mean ms per frame by T', sweepChart({ title: '(a) ms per frame by T', parameter: 'T', series: series(point => point.ms_mean) }), { height: 340 });
    page.claims(claims);
    page.details('How deep the leaves lie', () => page.figure('figure-2b', 'Mean depth of the leaves by T', isStored ? null : sweepChart({ title: '(b) mean depth of the leaves', parameter: 'T', value: 'levels', series: series(point => meanDepth(point.run.counters)) }), { height: 320 }));
    page.from(own.filter(isTree));
}

function figure3(page, runs, [scene, type, name]) {
    const own = pick(runs, '002-others', { scene, type });
    if (own.length === 0) return;
    const series = distinct(own.map(run => run.method)).map(method => ({ name: method, points: ladder(own.filter(run => run.method === method)) }));
    page.figure(`figure-3-${scene}-${type}`, `${name}: mean ms per frame by number of objects`, ladderChart({ title: name, series, guides: [1] }), { height: 360 });
}

function writeOthers(page, runs, claims) {
    page.heading('Is it the best in all four scenes? (figure 3)');
    figure3(page, runs, cases[0]);
    page.claims(claims);
    page.details('Objects of varied sizes', () => { for (const one of [cases[1], cases[3]]) figure3(page, runs, one); });
    page.from(pick(runs, '002-others'));
}

function numberText(runs) {
    const ratios = cases.map(([scene, type, name]) => {
        const own = pick(runs, '002-others', { scene, type });
        const objects = Math.max(...own.map(run => run.objects));
        const at = method => own.find(run => run.method === method && run.objects === objects)?.ms_mean;
        return [name, objects, Math.min(...peers.map(method => at(method) ?? NaN)) / at('ray-kd')];
    }).filter(([, , ratio]) => ratio > 0);
    return ratios.length > 0 ? `With ${sizeText(ratios[0][1])} objects the best of the others takes ${ratios.map(([name, , ratio]) => `${digits(ratio)} times as long on ${name}`).join(', ')}.` : '';
}

export function writePage(folder, { runs, isStored = false }, claims) {
    const page = new Page(folder, '002', 'The RAY KD-tree paper: the first of these KD-trees', { name: papers.get('002').file, isStored });
    const of = (...ids) => claims.filter(claim => ids.includes(claim.id));
    page.text(`${citationOf('002')}. Its machine: an i7 860; a cube of 100 m, 2000 frames of 1/120 s.`);
    page.story({
        question: 'Can a KD-tree that mends itself every frame beat Bullet and CGAL with falling bodies and with particles, of one size and of many?',
        picture: () => figure3(page, runs, cases[2]), claims, keys: { best: 'the RAY KD-tree is the best in all four scenes', 'taller-faster': 'a taller tree is a faster one, so T = 10', 'cgal-types': 'CGAL keeps its time where sizes vary' }, number: numberText(runs), runs: pick(runs, '002-others', { scene: 'ray-particles', type: 'cubes' }),
    });
    page.text('`ray-kd` is the tree of this paper, T = 10 unless a figure sweeps it. The paper prints its Cost upside down: as printed it grows where both children hold as much, which the text wants to be cheap; `ray-kd` has it turned round. `kd-paper` and `kd` are the later trees, `bullet-dbvt-f` and `bullet-dbvt-d` are DBVT F and D.');
    writeLeaf(page, runs, of('taller-faster', 'depth'), isStored);
    writeOthers(page, runs, of('best', 'second-fall', 'second-particles', 'cgal-types'));
    page.text('Run again with `make papers`; the schedule is `paper-002`.');
    page.write();
}
