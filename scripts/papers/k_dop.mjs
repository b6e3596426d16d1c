// SPDX-License-Identifier: MIT
// The k-DOP paper, sweep-and-prune with k-DOPs: its claims (tables 5.1 to 5.3, figures 5.6 to 5.23), and its
// page, from one core and, where its files are there, from a device beside it.
import { between, each, frameChart, known, named, one } from './page.mjs';
import { pairsOf003, textOf003, timesOf003 } from './published.mjs';
import { digits, distinct, isBareRoot, machineText, mean, percent, pick, QUIET_MOST, times } from './runs.mjs';

export const volumes = ['18-dop', 'aabb', 'sphere'];

export const pairsOf = tower => tower.candidate_pairs.map((pairs, frame) => pairs + tower.floor_pairs[frame]);

/** The frame from which the axis lies in the plane for good; -1 if it never does. */
export function turnOf(tower) {
    const last = tower.axis.lastIndexOf('y');
    return last + 1 < tower.axis.length ? last + 1 : -1;
}

/**
 * Means of the 500 frames before the turn of the axis and of all after it; NaN where there is none. Of means
 * of many frames, those that lie on one side.
 */
export function aroundTurn(tower, column, turn = turnOf(tower)) {
    if (turn <= 0) return [NaN, NaN];
    const step = tower.step ?? 1;
    const at = (from, to) => tower[column].filter((_, index) => tower.frame[index] - step >= from && tower.frame[index] <= to);
    const [before, after] = [at(turn - 500, turn), at(turn, Infinity)];
    return before.length > 0 && after.length > 0 ? [mean(before), mean(after)] : [NaN, NaN];
}

/** Phases of sweep-and-prune, and the column of each. */
export const phases = [['choice of the axis', 'axis_ms'], ['projection', 'project_ms'], ['sort', 'sort_ms'], ['pruning', 'prune_ms']];
const timed = ['frame_ms', 'volume_ms', 'sweep_ms', 'narrow_ms', 'match_ms', ...phases.map(([, column]) => column)];

/**
 * What tables and claims need of a tower: means over its frames, when the last body landed, when the axis
 * turned and what it changed.
 */
export function summaryOf(tower) {
    const pairs = pairsOf(tower), most = Math.max(...tower.landed), turn = turnOf(tower);
    return {
        bodies: most, frames: tower.frame.length, pairs: mean(pairs), pairs_most: pairs.reduce((a, b) => Math.max(a, b)), alone: mean(tower.candidate_pairs), false_positives: mean(tower.false_positives),
        landed: tower.landed.indexOf(most) + 1, turn, ...Object.fromEntries(timed.filter(name => tower[name]).map(name => [name, mean(tower[name])])),
        ...(turn > 0 ? { around: Object.fromEntries(['sweep_ms', ...phases.map(([, column]) => column)].filter(name => tower[name]).map(name => [name, aroundTurn(tower, name, turn)])) } : {}),
    };
}

/** Map "volume scale" -> summary. */
export const summariesOf = towers => new Map([...(towers ?? [])].map(([key, tower]) => [key, summaryOf(tower)]));

const figureTower = '18-dop 1,1,1'; // the one of figure 5.23

// ---- our numbers

function deviceFacts(device, turn) {
    const tower = device?.towers.get(figureTower);
    if (!tower) return {};
    const span = (...names) => {
        const sums = tower.sweep_ms.map((_, index) => names.reduce((sum, name) => sum + tower[name][index], 0));
        return [Math.min(...sums), Math.max(...sums)];
    };
    const [least, most] = span('sweep_ms');
    const around = column => (turn > 0 ? aroundTurn(tower, column, turn) : [NaN, NaN]);
    const of = own => known({ projection: mean(own.project_ms), sort: mean(own.sort_ms), pruning: mean(own.prune_ms) });
    const isMost = tower.sort_ms.map((ms, index) => ms > tower.project_ms[index] + tower.prune_ms[index]);
    return {
        constant: { device: device.short, values: { least, mean: mean(tower.sweep_ms), most }, steady: span('project_ms', 'sort_ms'), pruning: span('prune_ms') },
        sweep: around('sweep_ms'), prune: around('prune_ms'), phases: of(tower), most: mean(isMost.map(Number)), device: device.short,
        others: [...device.means].filter(([key, row]) => key !== figureTower && row.sort_ms > row.project_ms + row.prune_ms).map(([key]) => key.replace(' ', ', scale ')),
    };
}

// A change at the turn of the axis: on a device if one ran it, for the paper's is a GPU's.
function turnFacts(onDevice, device, onCore, ratio) {
    const pair = onDevice?.every(Number.isFinite) ? onDevice : onCore;
    if (!pair?.every(Number.isFinite)) return undefined;
    return { values: { 'at the turn': ratio(pair) }, pair, source: pair === onDevice ? device : 'one core', ...(pair === onDevice && onCore?.every(Number.isFinite) ? { core: { value: ratio(onCore), pair: onCore } } : {}) };
}

const withShare = (facts, pruneShare) => facts && { ...facts, ...(pruneShare > 0 ? { pruneShare } : {}) };

/** { claim id: numbers }; `summaries`: Map "volume scale" -> summary, or the towers themselves. */
export function facts003({ towers, summaries = summariesOf(towers), device }) {
    const all = scale => volumes.map(volume => summaries.get(`${volume} ${scale}`));
    const [plain, stretched] = [all('1,1,1'), all('1,3,1')];
    const isWhole = [...plain, ...stretched].every(Boolean);
    const isPaper = isWhole && plain[0].bodies === 512 && plain[0].frames === 7000;
    const of = (list, name) => known(Object.fromEntries(volumes.map((volume, index) => [volume, list[index]?.[name]])));
    const whole = (list, name) => (isWhole && Object.keys(of(list, name)).length === 3 ? { values: of(list, name) } : undefined);
    const shareOf = name => { const list = [...plain, ...stretched].filter(tower => tower?.[name] !== undefined); return isWhole && list.length > 0 ? mean(list.map(tower => tower[name] / tower.frame_ms)) : NaN; };
    const both = { narrow: shareOf('narrow_ms'), match: shareOf('match_ms') };
    const found = deviceFacts(device, plain[0]?.turn ?? -1);
    const onDevice = known(Object.fromEntries(volumes.map(volume => [volume, device?.means.get(`${volume} 1,3,1`)?.frame_ms])));
    const corePhases = plain[0] && known({ projection: plain[0].project_ms, sort: plain[0].sort_ms, pruning: plain[0].prune_ms });
    const core = corePhases && Object.keys(corePhases).length === 3 ? corePhases : undefined;
    const paperOnly = value => (isPaper ? value : undefined);
    return {
        'pairs-similar': whole(plain, 'pairs'), 'pairs-order': whole(plain, 'pairs'), 'pairs-order-scaled': whole(stretched, 'pairs'), 'pairs-sphere': whole(stretched, 'pairs'),
        'pairs-size': paperOnly({ plain: of(plain, 'pairs'), stretched: of(stretched, 'pairs') }),
        stages: both.narrow > 0 && both.match > 0 ? { values: both } : undefined, 'gjk-over-match': both.narrow > 0 && both.match > 0 ? { values: both } : undefined,
        'volumes-cheap': shareOf('volume_ms') > 0 ? { values: { 'mean of the six': shareOf('volume_ms') } } : undefined,
        'sap-1.5ms': found.constant, 'sphere-unscaled': whole(plain, 'frame_ms'),
        'dop-scaled': whole(stretched, 'frame_ms') && { ...whole(stretched, 'frame_ms'), narrow: of(stretched, 'narrow_ms'), ...(Object.keys(onDevice).length === 3 ? { device: device.short, onDevice } : {}) },
        'false-similar': whole(plain, 'false_positives'), 'false-scaled': whole(stretched, 'false_positives'), 'gjk-scaled': whole(stretched, 'narrow_ms'), 'build-order': whole(plain, 'volume_ms'),
        landed: paperOnly({ values: Object.fromEntries([...summaries].map(([key, tower]) => [key.replace(' 1,1,1', '').replace(' 1,3,1', ' scaled'), tower.landed])) }), axis: paperOnly({ values: { '18-dop, unscaled': plain[0]?.turn } }),
        'sweep-turn': withShare(turnFacts(found.sweep, found.device, plain[0]?.around?.sweep_ms, ([before, after]) => 1 - after / before), found.prune?.[0] / found.sweep?.[0]), 'prune-turn': turnFacts(found.prune, found.device, plain[0]?.around?.prune_ms, ([before, after]) => before / after - 1),
        'sort-most': found.phases ? { values: found.phases, device: found.device, most: found.most, others: found.others, core } : core && { values: core },
    };
}

// ---- the rules

const ordered = (names, isLess = (a, b) => a < b) => ({ values }) => names.slice(1).flatMap((name, index) => names.slice(0, index + 1).map(other => [`${other} before ${name}`, isLess(values[other], values[name])]));
const ms = named(digits, ' ms');
const ofPairs = scale => ({ published: () => ({ values: Object.fromEntries(pairsOf003().filter(row => row.scale === scale).map(row => [row.volume, row.mean])) }), publishedFrom: scale === '1,1,1' ? 'table 5.1' : 'table 5.2' });
const ofTimes = scale => ({ published: () => ({ values: Object.fromEntries(timesOf003().map(row => [row.volume, row[scale]])) }), publishedFrom: 'table 5.3' });
const text = name => textOf003().get(name);
const build = () => ({ '18-dop': text('build_18dop'), aabb: text('build_aabb'), sphere: text('build_sphere') });
const fewer = ({ values }) => 1 - values['18-dop'] / values.sphere;
const over = (values, volume) => values[volume] / values['18-dop'];
const near = (list, wanted) => volumes.map((volume, index) => [volume, Math.abs(list[volume] / wanted[index] - 1) <= 0.15]);
const sizesText = ({ plain, stretched }) => `${volumes.map(volume => digits(plain[volume])).join(', ')} and ${volumes.map(volume => digits(stretched[volume])).join(', ')}`;
const spanText = ([least, most]) => `${digits(least)} to ${digits(most)} ms`;
const turnText = ({ values, pair, source }) => `${percent(Object.values(values)[0])}${pair ? `: ${digits(pair[0])} to ${digits(pair[1])} ms, ${source}` : ''}`;
const coreText = ({ core }) => (core ? `on one core ${percent(core.value)}: ${digits(core.pair[0])} to ${digits(core.pair[1])} ms; ` : '');
const SMALL = 'the towers are smaller than the paper\'s 512 bodies and 7000 frames';

export const rules003 = [
    {
        id: 'pairs-similar', where: 'table 5.1', isCount: true,
        claim: 'unscaled, all volumes let about as many pairs through',
        rule: 'the most over the least is 1.15 at most',
        cases: ({ values }) => [['all', Math.max(...Object.values(values)) / Math.min(...Object.values(values)) <= 1.15]],
        show: named(digits),
        ...ofPairs('1,1,1'),
    },
    {
        id: 'pairs-order', where: 'table 5.1', isCount: true,
        claim: 'unscaled, 18-DOPs let the fewest through, then boxes, then spheres',
        rule: 'that order of the means; pair by pair of volumes',
        cases: ordered(volumes),
        show: named(digits),
        why: () => 'with rhombicuboctahedra, the other body that the paper\'s words allow, boxes let more through than spheres too, 659 against 612 (bench/tower.md): the body is not the cause; the paper\'s sphere test is misprinted, so what it counted is not known',
        ...ofPairs('1,1,1'),
    },
    {
        id: 'pairs-order-scaled', where: 'table 5.2', isCount: true,
        claim: 'scaled, the same order',
        rule: 'that order of the means; pair by pair of volumes',
        cases: ordered(volumes),
        show: named(digits),
        ...ofPairs('1,3,1'),
    },
    {
        id: 'pairs-sphere', where: 'table 5.2', isCount: true,
        claim: 'scaled, 18-DOPs let 41 % fewer pairs through than spheres (the table\'s; the text says 59 %)',
        rule: '31 to 51 % fewer',
        cases: found => [['fewer', fewer(found) >= 0.31 && fewer(found) <= 0.51]],
        show: found => `${percent(fewer(found))} fewer`,
        ...ofPairs('1,3,1'),
    },
    {
        id: 'pairs-size', where: 'tables 5.1, 5.2', isCount: true,
        claim: 'the means are 957, 978, 995 and 1040, 1152, 1762 pairs',
        rule: 'each within 15 %, the floor\'s pairs counted in',
        cases: ({ plain, stretched }) => [...near(plain, [957, 978, 995]), ...near(stretched, [1040, 1152, 1762])],
        show: sizesText,
        lacking: SMALL,
        published: () => ({ plain: ofPairs('1,1,1').published().values, stretched: ofPairs('1,3,1').published().values }),
        publishedFrom: 'tables 5.1 and 5.2',
    },
    {
        id: 'stages', where: 'figures 5.8 to 5.13',
        claim: 'GJK + EPA and shape matching take nearly all of a frame',
        rule: 'more than 80 % together, mean of the six towers',
        cases: ({ values }) => [['both', values.narrow + values.match > 0.8]],
        show: ({ values }) => `${percent(values.narrow)} and ${percent(values.match)}`,
    },
    {
        id: 'volumes-cheap', where: 'figures 5.8 to 5.13',
        claim: 'building volumes does not weigh',
        rule: 'less than 5 % of a frame',
        cases: each(value => value < 0.05),
        show: one(value => `${(100 * value).toFixed(1)} %`),
        published: () => ({ values: Object.fromEntries(timesOf003().map(row => [row.volume, build()[row.volume] / row['1,1,1']])) }),
        publishedFrom: 'section 5.4 and table 5.3',
    },
    {
        id: 'gjk-over-match', where: 'section 5.2',
        claim: 'GJK + EPA takes longer than shape matching',
        rule: 'in the mean of the six towers',
        cases: ({ values }) => [['longer', values.narrow > values.match]],
        show: ({ values }) => `${percent(values.narrow)} against ${percent(values.match)} of a frame`,
    },
    {
        id: 'sap-1.5ms', where: 'section 5.2',
        claim: 'sweep-and-prune takes a constant 1.5 ms on the GPU',
        rule: 'on a GPU, 18-DOPs unscaled, no mean of 100 frames is more than 20 % from the mean of all; the milliseconds are the card\'s (the paper itself has 20 % less after frame 5,500)',
        cases: ({ values }) => [['least', values.least >= 0.8 * values.mean], ['most', values.most <= 1.2 * values.mean]].every(([, is]) => is) ? [['constant', true]] : [['constant', false]],
        show: ({ values, device }) => `${digits(values.least)} to ${digits(values.most)} ms, ${digits(values.mean)} in the mean${device ? ` (${device})` : ''}`,
        lacking: 'no device ran it',
        why: ({ steady, pruning }) => `projection and sort keep their time, ${spanText(steady)}; pruning along y grows with the bodies that overlap there, ${spanText(pruning)}, until the axis turns`,
        published: () => ({ values: { least: 0.8 * text('sap_total'), mean: (5500 * text('sap_total') + 1500 * 0.8 * text('sap_total')) / 7000, most: text('sap_total') } }),
        publishedFrom: 'sections 5.2 and 5.5',
    },
    {
        id: 'sphere-unscaled', where: 'table 5.3',
        claim: 'unscaled, spheres are slightly the fastest',
        rule: 'the next takes more, and 1.15 × at most',
        cases: ({ values }) => { const next = Math.min(values['18-dop'], values.aabb) / values.sphere; return [['sphere', next > 1 && next <= 1.15]]; },
        show: ms,
        ...ofTimes('1,1,1'),
    },
    {
        id: 'dop-scaled', where: 'table 5.3',
        claim: 'scaled, 18-DOPs are clearly the fastest, boxes take 15 % more, spheres 22 %',
        rule: 'boxes take 1.05 to 1.25 × their time, spheres 1.12 to 1.32 ×; volume by volume',
        cases: ({ values }) => [['aabb', over(values, 'aabb') >= 1.05 && over(values, 'aabb') <= 1.25], ['sphere', over(values, 'sphere') >= 1.12 && over(values, 'sphere') <= 1.32]],
        show: ({ values }) => `boxes ${times(over(values, 'aabb'))}, spheres ${times(over(values, 'sphere'))}; ${ms({ values })}`,
        brief: ({ values }) => `boxes ${times(over(values, 'aabb'))}, spheres ${times(over(values, 'sphere'))}`,
        why: ({ narrow, device, onDevice }) => [narrow && Object.keys(narrow).length === 3 ? `false positives cost less here: GJK + EPA takes ${ms({ values: narrow })}` : '', onDevice ? `the ${device} takes ${ms({ values: onDevice })}: boxes ${times(over(onDevice, 'aabb'))}, spheres ${times(over(onDevice, 'sphere'))}` : ''].filter(Boolean).join('; '),
        ...ofTimes('1,3,1'),
    },
    {
        id: 'false-similar', where: 'figure 5.16', isCount: true,
        claim: 'unscaled, false positives are similar, spheres slightly more',
        rule: 'the most over the least is 1.5 at most; spheres have the most',
        cases: ({ values }) => [['similar', Math.max(...Object.values(values)) / Math.min(...Object.values(values)) <= 1.5], ['spheres', values.sphere === Math.max(...Object.values(values))]],
        show: named(digits),
        why: () => 'with rhombicuboctahedra, the other body that the paper\'s words allow, 18-dop 157, aabb 302, sphere 282 (bench/tower.md): rounder bodies bring spheres nearer to boxes',
    },
    {
        id: 'false-scaled', where: 'figure 5.17', isCount: true,
        claim: 'scaled, spheres stand out',
        rule: 'at least twice the false positives of the next',
        cases: ({ values }) => [['sphere', values.sphere >= 2 * Math.max(values['18-dop'], values.aabb)]],
        show: named(digits),
    },
    {
        id: 'gjk-scaled', where: 'figure 5.19',
        claim: 'scaled, the false positives show in GJK + EPA',
        rule: 'spheres take longest, 18-DOPs least; pair by pair of volumes',
        cases: ordered(volumes),
        show: ms,
    },
    {
        id: 'build-order', where: 'figure 5.20',
        claim: '18-DOPs take longest to build, then boxes, then spheres',
        rule: 'that order; pair by pair of volumes',
        cases: ordered(['sphere', 'aabb', '18-dop']),
        show: ms,
        published: () => ({ values: build() }),
        publishedFrom: 'section 5.4',
    },
    {
        id: 'landed', where: 'section 5', isCount: true,
        claim: 'the last body lands near frame 5,500',
        rule: '5,200 to 5,800; tower by tower',
        cases: between(5200, 5800),
        show: named(frame => `in frame ${frame}`),
        brief: ({ values }) => `frame ${Math.max(...Object.values(values))}`,
        lacking: SMALL,
        published: () => ({ values: { last: text('all_landed_about_frame') } }),
        publishedFrom: 'section 5',
    },
    {
        id: 'axis', where: 'section 5.5', isCount: true,
        claim: 'the axis turns into the plane near frame 5,500',
        rule: '5,200 to 5,800',
        cases: between(5200, 5800),
        show: ({ values }) => `frame ${Object.values(values)[0]}`,
        lacking: SMALL,
        published: () => ({ values: { turn: 5500 } }),
        publishedFrom: 'section 5.5',
    },
    {
        id: 'sweep-turn', where: 'figure 5.21',
        claim: 'then sweep-and-prune with 18-DOPs takes 20 % less',
        rule: '10 to 30 % less than in the 500 frames before, on a GPU if one ran it',
        cases: between(0.1, 0.3),
        show: turnText,
        why: found => `${coreText(found)}${found.pruneShare ? `before the turn pruning is ${percent(found.pruneShare)} of it, and the turn changes pruning alone` : 'pruning is the part that changes'}`,
        published: () => ({ values: { 'at the turn': text('sap_drop_after_5500_dop_aabb') / 100 } }),
        publishedFrom: 'section 5.5',
    },
    {
        id: 'prune-turn', where: 'figure 5.23',
        claim: 'pruning gains 23 % by it',
        rule: '13 to 33 %, the time before over the time after less 1, on a GPU if one ran it',
        cases: between(0.13, 0.33),
        show: turnText,
        why: found => `${coreText(found)}pruning gains by far more than in the paper; no run shows why the paper's gains so little`,
        published: () => ({ values: { 'at the turn': text('prune_gain_after_5500') / 100 } }),
        publishedFrom: 'section 5.5',
    },
    {
        id: 'sort-most', where: 'figure 5.23',
        claim: 'sorting takes most of sweep-and-prune',
        rule: 'more than projecting and pruning together, on a GPU if one ran it',
        cases: ({ values }) => [['sort', values.sort > values.projection + values.pruning]],
        show: ({ values, device }) => `${ms({ values })} (${device ?? 'one core'})`,
        why: ({ most, others, core }) => [most === undefined ? '' : `it takes most in ${percent(most)} of the frames, before the pile along y is large and after the axis has turned`, others?.length > 0 ? `with other volumes in the mean too (${others.join('; ')})` : '', core ? `on one core ${ms({ values: core })}` : ''].filter(Boolean).join('; '),
    },
];

// ==== the page

const scales = [['1,1,1', 'unscaled'], ['1,3,1', 'scaled (1, 3, 1)']];
const stages = [['volumes', 'volume_ms'], ['sweep and prune', 'sweep_ms'], ['GJK + EPA', 'narrow_ms'], ['shape matching', 'match_ms']];

const median = values => {
    const sorted = [...values].sort((a, b) => a - b);
    return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

/**
 * Medians over stretches of frames, since one interrupted frame would stand out as a tower of its own; at
 * most `most` points, so that 7000 frames make a small picture.
 */
export function thin(values, most = 200) {
    const step = Math.max(1, Math.ceil(values.length / most));
    const points = [];
    for (let at = 0; at < values.length; at += step) {
        const part = values.slice(at, at + step);
        points.push([at + Math.round(part.length / 2), Number(median(part).toPrecision(4))]);
    }
    return points;
}

/** Along the run, whether there is a value for every frame or a mean of many. */
const pointsOf = (tower, values, most) => (tower.step ? values.map((value, index) => [tower.frame[index] - tower.step / 2, value]) : thin(values, most));

const lackOf = (device, key) => (device.towers.has(key) ? 'cut off' : 'not run');

// Each figure once per source, the device's marked in its name; the source is named in the title. Lines of
// stored towers are not kept: their files are.
function figures(sources, number, alt, title, { seriesOf, ...chart }, height = 300) {
    return sources.map(({ mark, name, towers, isStored }) => {
        const series = isStored ? [] : seriesOf(towers);
        return (isStored || series.length > 0) && { figure: `figure-5.${number}${mark}`, alt: `${alt}: ${name}`, draw: isStored ? null : size => frameChart({ ...size, ...chart, title: `Figure 5.${number}: ${title} (${name})`, series }), height };
    });
}

const bySource = (keys, values) => towers => keys.filter(([, key]) => towers.has(key)).map(([name, key]) => ({ name, points: pointsOf(towers.get(key), values(towers.get(key))) }));
const byVolume = (scale, values) => bySource(volumes.map(volume => [volume, `${volume} ${scale}`]), values);

function pairsTable({ summaries, device }, scale, number, title) {
    const published = pairsOf003().filter(row => row.scale === scale);
    const found = volumes.map(volume => ({ volume, tower: summaries.get(`${volume} ${scale}`), theirs: published.find(row => row.volume === volume) })).filter(row => row.tower);
    const base = found[0];
    const head = ['volume', 'paper, mean', 'paper, most', 'mean, with the floor', 'most', 'mean, bodies alone', 'false positives, mean', 'paper: more than 18-DOP', 'ours', ...(device ? [`${device.short}: mean, with the floor`, 'most', 'false positives, mean'] : [])];
    const rows = found.map(({ volume, tower, theirs }) => {
        const other = device?.means.get(`${volume} ${scale}`);
        return [volume, theirs.mean, theirs.most, digits(tower.pairs), tower.pairs_most, digits(tower.alone), digits(tower.false_positives),
            volume === base.volume ? '' : percent(theirs.mean / base.theirs.mean - 1), volume === base.volume ? '' : percent(tower.pairs / base.tower.pairs - 1),
            ...(device ? [other ? digits(other.pairs_and_floor) : lackOf(device, `${volume} ${scale}`), other?.pairs_and_floor_most, other && digits(other.false_positives)] : [])];
    });
    return { fold: `Table 5.${number}: candidate pairs per frame, ${title}`, blocks: [{ table: [head, ...rows] }] };
}

const pairsFigures = (sources, scale, number, title) => figures(sources, number, `Candidate pairs along the run, ${title}`, `pairs that sweep-and-prune lets through, ${title}`, { value: 'pairs, with the floor', seriesOf: byVolume(scale, pairsOf) }, 340);

function pairsSection(data) {
    const [core, ...devices] = data.sources;
    return {
        heading: 'How many pairs does each volume let through? (tables 5.1 and 5.2, figures 5.6 and 5.7)',
        claims: ['pairs-similar', 'pairs-order', 'pairs-order-scaled', 'pairs-sphere', 'pairs-size', 'landed'],
        blocks: [
            'Sweep-and-prune hands pairs whose volumes overlap to GJK. A tighter volume hands over fewer. The bodies are nearly round, or stretched threefold along y.',
            ...pairsFigures([core], '1,1,1', 6, 'unscaled'),
            'claims',
            ...scales.map(([scale, title], index) => pairsTable(data, scale, index + 1, title)),
            { fold: 'The same on a device', blocks: scales.flatMap(([scale, title], index) => pairsFigures(devices, scale, index + 6, title)) },
        ],
    };
}

const stackOf = (tower, columns) => columns.map(([name, column]) => ({ name, points: pointsOf(tower, tower[column], 120) }));

function stagesSection({ sources, device }) {
    const draw = ([number, volume, scale, title]) => figures(sources, number, `Stages along the run, ${volume}, ${title}`, `${volume}, ${title}`, { value: 'ms', stacked: true, seriesOf: towers => (towers.has(`${volume} ${scale}`) ? stackOf(towers.get(`${volume} ${scale}`), stages) : []) });
    const [first, ...others] = scales.flatMap(([scale, title]) => volumes.map(volume => [volume, scale, title])).map((one, index) => [8 + index, ...one]);
    return {
        heading: 'Where does a frame go? (figures 5.8 to 5.13)',
        claims: ['stages', 'volumes-cheap', 'gjk-over-match'],
        blocks: [
            `Building volumes, sweep-and-prune, GJK + EPA and shape matching, stacked along the run. Nothing is drawn here, so there is no rendering.${device ? ' On the device each stage has its own time; what the host does between them is missing in these pictures, and counts in a frame\'s time of figures 5.14 and 5.15.' : ''}`,
            ...draw(first),
            'claims',
            { fold: 'The other volumes, and scaled bodies', blocks: others.flatMap(draw) },
        ],
    };
}

const lines = (sources, numbers, value, title, values) => scales.flatMap(([scale, name], index) => figures(sources, numbers[index], `${title}, ${name}`, `${title}, ${name}`, { value, seriesOf: byVolume(scale, values) }));

function timesSection({ summaries, device, sources }) {
    const head = ['volume', ...scales.flatMap(([, title]) => [`paper, ${title}`, `one core, ${title}`, ...(device ? [`${device.short}, ${title}`] : [])])];
    const rows = timesOf003().map(row => [row.volume, ...scales.flatMap(([scale]) => {
        const key = `${row.volume} ${scale}`;
        return [row[scale], summaries.has(key) ? digits(summaries.get(key).frame_ms) : '', ...(device ? [device.means.has(key) ? digits(device.means.get(key).frame_ms) : lackOf(device, key)] : [])];
    })]);
    return {
        heading: 'Which volume makes the fastest frame? (table 5.3, figures 5.14 and 5.15)',
        claims: ['sphere-unscaled', 'dop-scaled'],
        blocks: [{ table: [head, ...rows] }, 'Milliseconds per frame, mean over the run.', 'claims', { fold: 'Along the run', blocks: lines(sources, [14, 15], 'ms per frame', 'all of a frame', tower => tower.frame_ms) }],
    };
}

function phaseBlocks({ summaries, sources, device }) {
    const key = '18-dop 1,1,1';
    const tower = summaries.get(key);
    if (!tower) return [];
    const rows = (around, whole, name) => (tower.turn > 0
        ? [[`${name}, axis y, the last 500 frames`, ...phases.map(([, column]) => digits(around(column)[0]))], [`${name}, axis in the plane, from frame ${tower.turn}`, ...phases.map(([, column]) => digits(around(column)[1]))]]
        : [[`${name}, axis y throughout`, ...phases.map(([, column]) => digits(whole(column)))]]);
    const own = device?.towers.get(key);
    return [
        ...figures(sources, 23, 'Phases of sweep-and-prune along the run', '18-dop, unscaled', { value: 'ms', stacked: true, seriesOf: found => (found.has(key) ? stackOf(found.get(key), phases) : []) }),
        { table: [['ms per frame', ...phases.map(([name]) => name)], ...rows(column => tower.around?.[column] ?? [], column => tower[column], 'one core'), ...(own ? rows(column => aroundTurn(own, column, tower.turn), column => device.means.get(key)?.[column], device.short) : [])] },
    ];
}

function falseSection({ sources }) {
    const [core, ...devices] = sources;
    const draw = (some, number, scale, title) => figures(some, number, `Pairs that do not touch, ${title}`, `pairs that do not touch, ${title}`, { value: 'pairs', seriesOf: byVolume(scale, tower => tower.false_positives) });
    return {
        heading: 'What do false positives cost? (figures 5.16 to 5.19)',
        claims: ['false-similar', 'false-scaled', 'gjk-scaled'],
        blocks: [
            'A false positive is a pair whose volumes overlap and whose bodies do not touch. GJK has to find that out.',
            ...draw([core], 17, '1,3,1', 'scaled (1, 3, 1)'),
            'claims',
            { fold: 'Unscaled, on a device, and the time of GJK + EPA', blocks: [...draw(sources, 16, '1,1,1', 'unscaled'), ...draw(devices, 17, '1,3,1', 'scaled (1, 3, 1)'), ...lines(sources, [18, 19], 'ms', 'GJK + EPA', tower => tower.narrow_ms)] },
        ],
    };
}

function buildingSection({ summaries, sources, device }) {
    const unscaled = volumes.filter(volume => summaries.has(`${volume} 1,1,1`));
    const rows = [
        ['paper, GPU', ...unscaled.map(volume => build()[volume])],
        ['ours, one core', ...unscaled.map(volume => digits(summaries.get(`${volume} 1,1,1`).volume_ms))],
        ...(device ? [[`ours, ${device.short}`, ...unscaled.map(volume => digits(device.means.get(`${volume} 1,1,1`)?.volume_ms) || lackOf(device, `${volume} 1,1,1`))]] : []),
    ];
    return {
        heading: 'What does building the volumes take? (figure 5.20)',
        claims: ['build-order'],
        blocks: [{ table: [['512 bodies, ms', ...unscaled], ...rows] }, 'claims', { fold: 'Along the run', blocks: figures(sources, 20, 'Building all volumes of a frame', 'building the volumes', { value: 'ms', seriesOf: byVolume('1,1,1', tower => tower.volume_ms) }) }],
    };
}

const sweepSection = data => ({
    heading: 'What does the turn of the axis change? (figures 5.21 to 5.23)',
    claims: ['sap-1.5ms', 'axis', 'sweep-turn', 'prune-turn', 'sort-most'],
    blocks: [
        'Bodies are sorted along the axis on which they spread most. While the tower stands that is y; when nearly all have landed it turns into the plane of the floor.',
        ...phaseBlocks(data),
        'claims',
        { fold: 'Sweep-and-prune along the run, all volumes', blocks: lines(data.sources, [21, 22], 'ms', 'sweep-and-prune', tower => tower.sweep_ms) },
    ],
});

/**
 * What the methods make of the same boxes; the paper's sweep on its GPU takes about 1.5 ms of every frame.
 */
function methodsSection({ runs }) {
    const columns = [['003-falling', 'cubes', 'standing'], ['003-landed', 'cubes', 'landed'], ['003-falling', 'assorted', 'standing, stretched'], ['003-landed', 'assorted', 'landed, stretched']];
    const own = [...pick(runs, '003-falling'), ...pick(runs, '003-landed')];
    if (own.length === 0) return null;
    const rows = distinct(own.map(run => run.method)).map(method => [method, ...columns.map(([part, type]) => {
        const run = pick(own, part, { method, type })[0];
        return run ? `${digits(run.ms_mean)} (${digits(run.cv)})` : '';
    })]);
    const bare = distinct(own.filter(isBareRoot).map(run => `\`${run.method}\``));
    return {
        heading: 'What would other broad phases take?',
        blocks: [
            `The boxes of the tower, ${own[0].objects} bodies, given to the other methods on one core.`,
            {
                fold: 'ms per frame, method by method',
                blocks: [{ table: [['method', ...columns.map(([, , name]) => name)], ...rows] }, `Mean (coefficient of variation); the schedule is \`paper-003\`.${bare.length > 0 ? ` ${bare.join(' and ')} hold so few bodies in one node: no tree.` : ''}`, { from: own }],
            },
        ],
    };
}

// A tower does not look at what others use; the runs measured beside it do.
function busyText({ towers, raw = [] }) {
    const { folder } = [...towers.values()][0];
    const own = raw.filter(run => run.folder === folder && run.others !== undefined && run.others !== null);
    const busy = own.filter(run => run.others > QUIET_MOST).length;
    return busy > 0 ? `; **on a busy machine**: before ${busy} of the ${own.length} runs beside them others used more than ${percent(QUIET_MOST)} of the processors` : '';
}

/** Machine, day and frames of the towers of one core. */
export function towerTextOf(data) {
    const { towers, towerRun } = data;
    if (!towers?.size) return '';
    const machine = towerRun ? `${machineText(towerRun.machine)}; ${towerRun.date ?? ''}; ` : '';
    return `${machine}one run each, ${[...towers.values()][0].frame.length} frames on one core${busyText(data)}`;
}

// What the device has, and in words what it has not.
function deviceText({ device }) {
    if (!device) return 'No device ran the towers: the figures are those of one core alone.';
    const few = new Set([...device.means.values()].map(row => row.frames));
    const bare = [...device.means.keys()].filter(key => !device.towers.has(key));
    const [none, cut] = [false, true].map(isBegun => device.missing.filter(key => device.towers.has(key) === isBegun));
    return [
        `Beside them is the tower with all stages on a device, ${device.name}, ${[...few].join(' or ')} frames: \`scripts/papers/bare.sh towers\`. Its figures show means of each ${Math.max(0, ...[...device.towers.values()].map(tower => tower.step))} frames.`,
        none.length > 0 ? `Not run there, so that their figures and cells are missing: ${none.map(towerName).join('; ')}.` : '',
        cut.length > 0 ? `Cut off, so that their figures end early and their cells are missing: ${cut.map(key => `${towerName(key)} after ${device.towers.get(key).frame.at(-1)} frames`).join('; ')}.` : '',
        bare.length > 0 ? `Of ${bare.map(towerName).join('; ')} the means alone came back.` : '',
    ].filter(Boolean).join(' ');
}

const towerName = key => `${key.split(' ')[0]}, scale (${key.split(' ')[1].replaceAll(',', ', ')})`;

/** The towers by source, the CPU's first. */
function sourcesOf({ towers, device, towerRun, isStored }) {
    return [{ mark: '', name: towerRun ? `one core, ${towerRun.machine.cpu}` : 'one core', towers, isStored }, ...(device ? [{ mark: '-device', name: device.short, towers: device.towers }] : [])];
}

function numberText({ summaries, device }) {
    const at = (map, volume, name) => map?.get(`${volume} 1,3,1`)?.[name];
    const [dop, sphere] = ['18-dop', 'sphere'].map(volume => at(summaries, volume, 'pairs'));
    const text = map => (volumes.every(volume => at(map, volume, 'frame_ms') > 0) ? volumes.map(volume => digits(at(map, volume, 'frame_ms'))).join(', ') : '');
    return dop && sphere ? `Around stretched bodies 18-DOPs let ${percent(1 - dop / sphere)} fewer pairs through than spheres, 41 % in the paper's table. A frame with 18-DOPs, boxes and spheres takes ${[[text(summaries), 'on one core'], [text(device?.means), `on the ${device?.short}`], ['38.2, 44.1, 46.7', 'in the paper']].filter(([found]) => found).map(([found, where]) => `${found} ms ${where}`).join('; ')}.` : '';
}

function page(given) {
    const data = { ...given, summaries: given.summaries ?? summariesOf(given.towers), sources: sourcesOf(given) };
    const first = [...data.summaries.values()][0];
    return first && {
        title: 'The k-DOP paper: which volume around a body',
        machine: 'an i7-7700HQ and a GTX 1060',
        question: 'A tower of 512 bodies falls on a floor. Around each body lies a sphere, a box (AABB) or an 18-DOP, a box with its edges cut off. Which of them makes the whole simulation fastest?',
        picture: pairsFigures(data.sources.slice(0, 1), '1,3,1', 7, 'scaled (1, 3, 1)')[0],
        keys: { 'pairs-sphere': 'around stretched bodies 18-DOPs let about 41 % fewer pairs through than spheres', stages: 'GJK + EPA and shape matching take nearly all of a frame', 'sphere-unscaled': 'around round bodies spheres are slightly the fastest', 'dop-scaled': 'around stretched bodies 18-DOPs are the fastest, by 15 and 22 %', 'sap-1.5ms': 'sweep-and-prune takes a constant time on a GPU' },
        figure: numberText(data),
        about: [
            `The towers are those of \`cleave sim tower\`, here ${first.bodies} bodies and ${first.frames} frames; [docs/physics.md](../../docs/physics.md) tells what a frame does, [bench/tower.md](../tower.md) where numbers differ and why. Scaled means stretched by (1, 3, 1). What the paper leaves open is in [studies](studies/README.md).`,
            { fold: 'How it was measured', blocks: [`${given.towerText ?? towerTextOf(data)}.`, deviceText(data)] },
        ],
        sections: [pairsSection, stagesSection, timesSection, falseSection, buildingSection, sweepSection, methodsSection].map(section => section(data)),
    };
}

export const paper = { number: '003', rules: rules003, factsOf: facts003, page };
