// SPDX-License-Identifier: MIT
// The RAY KD-tree paper of 2015: its claims (figures 2 and 3), and its page.
import { sweepChart } from '../../report/src/charts/sweep.js';
import { between, each, known, ladderFigure, listed, named, one, seriesBy } from './page.mjs';
import { textValues } from './published.mjs';
import { digits, distinct, isTree, laterFrames, mean, meanDepth, mergeTrees, peers, pick, scenes, sizeText, times } from './runs.mjs';

const isFull = values => Object.keys(values ?? {}).length > 0;
const facts = (values, more = {}) => (isFull(known(values)) ? { values: known(values), ...more } : undefined);

export const cases = [['ray-freefall', 'cubes', 'uniform Free Fall'], ['ray-freefall', 'assorted', 'varied Free Fall'], ['ray-particles', 'cubes', 'uniform particles'], ['ray-particles', 'assorted', 'varied particles']];

const leastOf = points => points.reduce((lowest, point) => (point.ms_mean < lowest.ms_mean ? point : lowest)).leaf;
const slopeOf = points => points[points.length - 1].ms_mean / points[0].ms_mean;

function leafFacts002(runs) {
    const sweep = part => cases.map(([scene, type, name]) => [name, mergeTrees(pick(runs, part, { scene, type }), 'ray.leaf')]).filter(([, points]) => points.length > 1);
    const [wide, scalar] = [sweep('002-leaf'), sweep('002-leaf-scalar')];
    const of = (list, value) => Object.fromEntries(list.map(([name, points]) => [name, value(points)]));
    const depths = points => points.map(point => meanDepth(point.run.counters));
    const deep = of(wide.filter(([, points]) => depths(points).every(depth => depth > 0)), depths);
    return { 'taller-faster': isFull(of(wide, leastOf)) ? { values: of(wide, leastOf), slope: of(wide, slopeOf), scalar: of(scalar, leastOf), scalarSlope: of(scalar, slopeOf) } : undefined, depth: isFull(deep) ? { depths: deep } : undefined };
}

// Pairs that assorted objects have, over those of cubes.
function pairsOf002(raw) {
    const at = (scene, type) => mean((raw ?? []).filter(run => run.status === 'ok' && run.parts.includes('002-others') && run.method === 'cgal' && run.objects === 8000 && run.scene === scene && run.type === type).map(run => run.pairs_last));
    return known({ 'Free Fall': at('ray-freefall', 'assorted') / at('ray-freefall', 'cubes'), particles: at('ray-particles', 'assorted') / at('ray-particles', 'cubes') });
}

// The three in the last window alone, where nearly all lie still.
function lastWindow(raw, scene) {
    const own = (raw ?? []).filter(run => run.status === 'ok' && run.parts.includes('002-others') && run.scene === scene && peers.includes(run.method));
    const [last, objects] = [Math.max(...own.map(run => run.window.from)), Math.max(...own.map(run => run.objects))];
    return Object.fromEntries(['cubes', 'assorted'].map(type => [type, Object.fromEntries(own.filter(run => run.type === type && run.window.from === last && run.objects === objects).map(run => [run.method, mean(laterFrames(run.pass_ms))]))]).filter(([, list]) => Object.keys(list).length === peers.length));
}

/** { claim id: numbers } of the RAY KD-tree. */
export function facts002({ runs, raw }) {
    const top = cases.map(([scene, type, name]) => {
        const own = pick(runs, '002-others', { scene, type });
        const objects = Math.max(...own.map(run => run.objects));
        const at = method => own.find(run => run.method === method && run.objects === objects && (method !== 'ray-kd' || isTree(run)))?.ms_mean;
        return { scene, name, objects, ms: known(Object.fromEntries(['ray-kd', ...peers].map(method => [method, at(method)]))) };
    }).filter(found => Object.keys(found.ms).length === 1 + peers.length);
    const ms = list => Object.fromEntries(list.map(found => [found.name, found.ms]));
    const of = scene => ms(top.filter(found => found.scene === scene));
    const size = top[0]?.objects;
    const ratio = ([plain, varied]) => (plain && varied ? varied.cgal / plain.cgal : NaN);
    return {
        ...leafFacts002(runs), best: isFull(ms(top)) ? { size, ms: ms(top) } : undefined,
        'second-fall': isFull(of('ray-freefall')) ? { ms: of('ray-freefall'), rest: lastWindow(raw, 'ray-freefall') } : undefined, 'second-particles': isFull(of('ray-particles')) ? { ms: of('ray-particles') } : undefined,
        'cgal-types': facts({ 'Free Fall': ratio(Object.values(of('ray-freefall'))), particles: ratio(Object.values(of('ray-particles'))) }, { pairs: pairsOf002(raw) }),
    };
}

const bestPeer = ms => peers.reduce((best, method) => (ms[method] < ms[best] ? method : best));
const secondRule = method => ({ ms }) => Object.entries(ms).map(([name, list]) => [name, bestPeer(list) === method]);
const secondShow = ({ ms }) => Object.entries(ms).map(([name, list]) => `${name}: ${bestPeer(list)} ${digits(list[bestPeer(list)])} ms`).join(', ');

export const rules002 = [
    {
        id: 'taller-faster', where: 'figure 2a',
        claim: 'the taller the tree, the faster, so T = 10',
        rule: 'T = 10 is the best of 10 to 100; scene by scene',
        cases: each(leaf => leaf === 10),
        show: listed(leaf => `T = ${leaf}`),
        why: ({ slope, scalar, scalarSlope }) => [`T = 100 takes ${listed()({ values: slope })} of T = 10`, isFull(scalar) ? `one box at a time (scalar), as in 2015, it takes ${listed()({ values: scalarSlope })}, and the best is ${listed(leaf => `T = ${leaf}`)({ values: scalar })}: wide instructions make large leaves cheap` : ''].filter(Boolean).join('; '),
        published: () => ({ values: { 'all four': Number(textValues().get('002 T chosen')) } }),
        publishedFrom: 'section 5.1',
    },
    {
        id: 'depth', where: 'figure 2b', isCount: true,
        claim: 'leaves lie the deeper the smaller T',
        rule: 'the mean depth of the leaves falls with T; scene by scene',
        cases: ({ depths }) => Object.entries(depths).map(([name, list]) => [name, list.every((depth, index) => index === 0 || depth <= list[index - 1])]),
        show: ({ depths }) => Object.entries(depths).map(([name, list]) => `${name} ${digits(list[0])} to ${digits(list[list.length - 1])}`).join(', '),
    },
    {
        id: 'best', where: 'figure 3',
        claim: 'the RAY KD-tree is the best in all four',
        rule: 'DBVT F, DBVT D and CGAL take longer at the largest size; scene by scene',
        cases: ({ ms }) => Object.entries(ms).map(([name, list]) => [name, list['ray-kd'] < list[bestPeer(list)]]),
        show: ({ size, ms }) => Object.entries(ms).map(([name, list]) => `${name} at ${sizeText(size)}: ${bestPeer(list)} takes ${times(list[bestPeer(list)] / list['ray-kd'])}`).join('; '),
    },
    {
        id: 'second-fall', where: 'section 5.2',
        claim: 'DBVT F is ahead of the others in free fall',
        rule: 'it is the best of the three; scene by scene',
        cases: secondRule('bullet-dbvt-f'),
        show: secondShow,
        why: ({ rest }) => (isFull(rest) ? `in the last window, nearly all at rest: ${Object.entries(rest).map(([type, list]) => `${type}: ${named(digits, ' ms')({ values: list })}`).join('; ')}` : ''),
    },
    {
        id: 'second-particles', where: 'section 5.2',
        claim: 'DBVT D is ahead of the others with particles',
        rule: 'it is the best of the three; scene by scene',
        cases: secondRule('bullet-dbvt-d'),
        show: secondShow,
    },
    {
        id: 'cgal-types', where: 'section 5.2',
        claim: 'CGAL does not mind sizes that vary',
        rule: 'assorted takes 0.8 to 1.25 × uniform; scene by scene',
        cases: between(0.8, 1.25),
        show: listed(),
        why: ({ pairs }) => (isFull(pairs) ? `assorted objects make ${listed()({ values: pairs })} the pairs of uniform ones here` : ''),
    },
];

// ==== the page

function leafSection({ runs, isStored }) {
    const own = pick(runs, '002-leaf');
    if (own.length === 0) return null;
    const at = (scene, type) => mergeTrees(own.filter(run => run.scene === scene && run.type === type), 'ray.leaf');
    const series = value => cases.map(([scene, type, name]) => ({ name, points: at(scene, type).map(point => [point.leaf, value(point)]) })).filter(one => one.points.length > 0);
    const depths = size => sweepChart({ ...size, title: '(b) mean depth of the leaves', parameter: 'T', value: 'levels', series: series(point => meanDepth(point.run.counters)) });
    return {
        heading: 'Is a taller KD-tree a faster one? (figure 2)',
        claims: ['taller-faster', 'depth'],
        blocks: [
            `T is the most objects a leaf may hold: 10 to 100, ${distinct(own.map(run => sizeText(run.objects))).join(', ')} objects.`,
            { figure: 'figure-2a', alt: 'Mean ms per frame by T', draw: size => sweepChart({ ...size, title: '(a) ms per frame by T', parameter: 'T', series: series(point => point.ms_mean) }), height: 340 },
            'claims',
            { fold: 'How deep the leaves lie', blocks: [{ figure: 'figure-2b', alt: 'Mean depth of the leaves by T', draw: isStored ? null : depths, height: 320 }] },
            { from: own.filter(isTree) },
        ],
    };
}

const figure3 = (runs, [scene, type, name]) => ladderFigure(`figure-3-${scene}-${type}`, `${name}: mean ms per frame by number of objects`, { title: name, series: seriesBy(pick(runs, '002-others', { scene, type })) });

const othersSection = ({ runs }) => ({
    heading: 'Is it the best in all four scenes? (figure 3)',
    claims: ['best', 'second-fall', 'second-particles', 'cgal-types'],
    blocks: [figure3(runs, cases[0]), 'claims', { fold: 'Objects of varied sizes', blocks: [cases[1], cases[3]].map(one => figure3(runs, one)) }, { from: pick(runs, '002-others') }],
});

function numberText(runs) {
    const ratios = cases.map(([scene, type, name]) => {
        const own = pick(runs, '002-others', { scene, type });
        const objects = Math.max(...own.map(run => run.objects));
        const at = method => own.find(run => run.method === method && run.objects === objects)?.ms_mean;
        return [name, objects, Math.min(...peers.map(method => at(method) ?? NaN)) / at('ray-kd')];
    }).filter(([, , ratio]) => ratio > 0);
    return ratios.length > 0 ? `With ${sizeText(ratios[0][1])} objects the best of the others takes ${ratios.map(([name, , ratio]) => `${digits(ratio)} times as long on ${name}`).join(', ')}.` : '';
}

export const paper = {
    number: '002',
    rules: rules002,
    factsOf: facts002,
    page: data => ({
        title: 'The RAY KD-tree paper: the first of these KD-trees',
        machine: 'an i7 860; a cube of 100 m, 2000 frames of 1/120 s',
        question: 'Can a KD-tree that mends itself every frame beat Bullet and CGAL with falling bodies and with particles, of one size and of many?',
        picture: figure3(data.runs, cases[2]),
        keys: { best: 'the RAY KD-tree is the best in all four scenes', 'taller-faster': 'a taller tree is a faster one, so T = 10', 'cgal-types': 'CGAL keeps its time where sizes vary' },
        figure: numberText(data.runs),
        runs: pick(data.runs, '002-others', { scene: 'ray-particles', type: 'cubes' }),
        about: ['`ray-kd` is the tree of this paper, T = 10 unless a figure sweeps it. The paper prints its Cost upside down: as printed it grows where both children hold as much, which the text wants to be cheap; `ray-kd` has it turned round. `kd-paper` and `kd` are the later trees, `bullet-dbvt-f` and `bullet-dbvt-d` are DBVT F and D.'],
        sections: [leafSection(data), othersSection(data)],
    }),
};
