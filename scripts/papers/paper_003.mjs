// SPDX-License-Identifier: MIT
// The k-DOP paper, sweep-and-prune with k-DOPs: tables 5.1 to 5.3, figures 5.6 to 5.23 from the CPU and, where there are its files
// (device_towers.mjs), from a device beside it. Verdicts: claims_003.mjs.
import { aroundTurn, pairsOf, phases, summariesOf, volumes } from './claims_003.mjs';
import { frameChart } from './paper_charts.mjs';
import { citationOf, papers } from './names.mjs';
import { OTHERS_MOST, Page, digits, percent } from './page.mjs';
import { pairsOf003, timesOf003 } from './published.mjs';
import { distinct, isBareRoot, machineText, pick } from './runs.mjs';

const scales = [['1,1,1', 'unscaled'], ['1,3,1', 'scaled (1, 3, 1)']];
const stages = [['volumes', 'volume_ms'], ['sweep and prune', 'sweep_ms'], ['GJK + EPA', 'narrow_ms'], ['shape matching', 'match_ms']];

const median = values => {
    const sorted = [...values].sort((a, b) => a - b);
    return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

/** Medians over stretches of frames, since one interrupted frame would stand out as a tower of its own; at most `most` points, so that 7000 frames make a small picture. */
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

// Each figure once per source, the device's marked in its name; the source is named in the title. Lines of stored towers are not kept: their files are.
function figures(page, sources, number, describe, title, chart, height = 300) {
    for (const { mark, name, towers, isStored } of sources) {
        const series = isStored ? [] : chart.seriesOf(towers);
        if (isStored || series.length > 0) page.figure(`figure-5.${number}${mark}`, `${describe}: ${name}`, isStored ? null : frameChart({ ...chart, title: `Figure 5.${number}: ${title} (${name})`, series }), { height });
    }
}

const bySource = (keys, values) => towers => keys.filter(([, key]) => towers.has(key)).map(([name, key]) => ({ name, points: pointsOf(towers.get(key), values(towers.get(key))) }));
const byVolume = (scale, values) => bySource(volumes.map(volume => [volume, `${volume} ${scale}`]), values);

function pairsTable(page, { summaries, device }, scale, number, title) {
    const published = pairsOf003().filter(row => row.scale === scale);
    const rows = volumes.map(volume => ({ volume, tower: summaries.get(`${volume} ${scale}`), theirs: published.find(row => row.volume === volume) })).filter(row => row.tower);
    const base = rows[0];
    const onDevice = volume => device?.means.get(`${volume} ${scale}`);
    page.details(`Table 5.${number}: candidate pairs per frame, ${title}`, () => page.table(['volume', 'paper, mean', 'paper, most', 'mean, with the floor', 'most', 'mean, bodies alone', 'false positives, mean', 'paper: more than 18-DOP', 'ours', ...(device ? [`${device.short}: mean, with the floor`, 'most', 'false positives, mean'] : [])], rows.map(({ volume, tower, theirs }) => {
        const other = onDevice(volume);
        return [volume, theirs.mean, theirs.most, digits(tower.pairs), tower.pairs_most, digits(tower.alone), digits(tower.false_positives),
            volume === base.volume ? '' : percent(theirs.mean / base.theirs.mean - 1), volume === base.volume ? '' : percent(tower.pairs / base.tower.pairs - 1),
            ...(device ? [other ? digits(other.pairs_and_floor) : lackOf(device, `${volume} ${scale}`), other?.pairs_and_floor_most, other && digits(other.false_positives)] : [])];
    })));
}

function pairsFigure(page, { sources }, scale, number, title) {
    figures(page, sources, number + 5, `Candidate pairs along the run, ${title}`, `pairs that sweep-and-prune lets through, ${title}`, { value: 'pairs, with the floor', seriesOf: byVolume(scale, pairsOf) }, 340);
}

function writePairs(page, data, claims) {
    page.heading('How many pairs does each volume let through? (tables 5.1 and 5.2, figures 5.6 and 5.7)');
    page.text('Sweep-and-prune hands pairs whose volumes overlap to GJK. A tighter volume hands over fewer. The bodies are nearly round, or stretched threefold along y.');
    pairsFigure(page, { sources: data.sources.slice(0, 1) }, '1,1,1', 1, 'unscaled');
    page.claims(claims);
    scales.forEach(([scale, title], index) => pairsTable(page, data, scale, index + 1, title));
    page.details('The same on a device', () => scales.forEach(([scale, title], index) => pairsFigure(page, { sources: data.sources.slice(1) }, scale, index + 1, title)));
}

const stackOf = (tower, columns) => columns.map(([name, column]) => ({ name, points: pointsOf(tower, tower[column], 120) }));

function writeStages(page, { sources, device }, claims) {
    const draw = (number, volume, scale, title) => figures(page, sources, number, `Stages along the run, ${volume}, ${title}`, `${volume}, ${title}`, { value: 'ms', stacked: true, seriesOf: towers => (towers.has(`${volume} ${scale}`) ? stackOf(towers.get(`${volume} ${scale}`), stages) : []) });
    const all = scales.flatMap(([scale, title]) => volumes.map(volume => [volume, scale, title])).map((one, index) => [8 + index, ...one]);
    page.heading('Where does a frame go? (figures 5.8 to 5.13)');
    page.text(`Building volumes, sweep-and-prune, GJK + EPA and shape matching, stacked along the run. Nothing is drawn here, so there is no rendering.${device ? ' On the device each stage has its own time; what the host does between them is missing in these pictures, and counts in a frame\'s time of figures 5.14 and 5.15.' : ''}`);
    draw(...all[0]);
    page.claims(claims);
    page.details('The other volumes, and scaled bodies', () => all.slice(1).forEach(one => draw(...one)));
}

function lines(page, { sources }, numbers, value, describe, values) {
    scales.forEach(([scale, title], index) => figures(page, sources, numbers[index], `${describe}, ${title}`, `${describe}, ${title}`, { value, seriesOf: byVolume(scale, values) }));
}

function writeTimes(page, data, claims) {
    const { summaries, device } = data;
    page.heading('Which volume makes the fastest frame? (table 5.3, figures 5.14 and 5.15)');
    page.table(['volume', ...scales.flatMap(([, title]) => [`paper, ${title}`, `one core, ${title}`, ...(device ? [`${device.short}, ${title}`] : [])])], timesOf003().map(row => [row.volume, ...scales.flatMap(([scale]) => {
        const key = `${row.volume} ${scale}`;
        return [row[scale], summaries.has(key) ? digits(summaries.get(key).frame_ms) : '', ...(device ? [device.means.has(key) ? digits(device.means.get(key).frame_ms) : lackOf(device, key)] : [])];
    })]));
    page.text('Milliseconds per frame, mean over the run.');
    page.claims(claims);
    page.details('Along the run', () => lines(page, data, [14, 15], 'ms per frame', 'all of a frame', tower => tower.frame_ms));
}

function writePhases(page, { summaries, sources, device }) {
    const key = '18-dop 1,1,1';
    const tower = summaries.get(key);
    if (!tower) return;
    figures(page, sources, 23, 'Phases of sweep-and-prune along the run', '18-dop, unscaled', { value: 'ms', stacked: true, seriesOf: own => (own.has(key) ? stackOf(own.get(key), phases) : []) });
    const rows = (around, whole, name) => (tower.turn > 0
        ? [[`${name}, axis y, the last 500 frames`, ...phases.map(([, column]) => digits(around(column)[0]))], [`${name}, axis in the plane, from frame ${tower.turn}`, ...phases.map(([, column]) => digits(around(column)[1]))]]
        : [[`${name}, axis y throughout`, ...phases.map(([, column]) => digits(whole(column)))]]);
    const own = device?.towers.get(key);
    page.table(['ms per frame', ...phases.map(([name]) => name)], [...rows(column => tower.around?.[column] ?? [], column => tower[column], 'one core'), ...(own ? rows(column => aroundTurn(own, column, tower.turn), column => device.means.get(key)?.[column], device.short) : [])]);
}

function writeFalse(page, data, claims) {
    page.heading('What do false positives cost? (figures 5.16 to 5.19)');
    page.text('A false positive is a pair whose volumes overlap and whose bodies do not touch. GJK has to find that out.');
    figures(page, data.sources.slice(0, 1), 17, 'Pairs that do not touch, scaled (1, 3, 1)', 'pairs that do not touch, scaled (1, 3, 1)', { value: 'pairs', seriesOf: byVolume('1,3,1', tower => tower.false_positives) });
    page.claims(claims);
    page.details('Unscaled, on a device, and the time of GJK + EPA', () => {
        figures(page, data.sources, 16, 'Pairs that do not touch, unscaled', 'pairs that do not touch, unscaled', { value: 'pairs', seriesOf: byVolume('1,1,1', tower => tower.false_positives) });
        figures(page, data.sources.slice(1), 17, 'Pairs that do not touch, scaled (1, 3, 1)', 'pairs that do not touch, scaled (1, 3, 1)', { value: 'pairs', seriesOf: byVolume('1,3,1', tower => tower.false_positives) });
        lines(page, data, [18, 19], 'ms', 'GJK + EPA', tower => tower.narrow_ms);
    });
}

function writeBuilding(page, { summaries, sources, device }, claims) {
    const unscaled = volumes.filter(volume => summaries.has(`${volume} 1,1,1`));
    page.heading('What does building the volumes take? (figure 5.20)');
    page.table(['512 bodies, ms', ...unscaled], [
        ['paper, GPU', ...unscaled.map(volume => ({ '18-dop': 0.34, aabb: 0.21, sphere: 0.02 })[volume])],
        ['ours, one core', ...unscaled.map(volume => digits(summaries.get(`${volume} 1,1,1`).volume_ms))],
        ...(device ? [[`ours, ${device.short}`, ...unscaled.map(volume => digits(device.means.get(`${volume} 1,1,1`)?.volume_ms) || lackOf(device, `${volume} 1,1,1`))]] : []),
    ]);
    page.claims(claims);
    page.details('Along the run', () => figures(page, sources, 20, 'Building all volumes of a frame', 'building the volumes', { value: 'ms', seriesOf: byVolume('1,1,1', tower => tower.volume_ms) }));
}

function writeSweep(page, data, claims) {
    page.heading('What does the turn of the axis change? (figures 5.21 to 5.23)');
    page.text('Bodies are sorted along the axis on which they spread most. While the tower stands that is y; when nearly all have landed it turns into the plane of the floor.');
    writePhases(page, data);
    page.claims(claims);
    page.details('Sweep-and-prune along the run, all volumes', () => lines(page, data, [21, 22], 'ms', 'sweep-and-prune', tower => tower.sweep_ms));
}

/** What the methods make of the same boxes; the paper's sweep on its GPU takes about 1.5 ms of every frame. */
function writeMethods(page, runs) {
    const columns = [['003-falling', 'cubes', 'standing'], ['003-landed', 'cubes', 'landed'], ['003-falling', 'assorted', 'standing, stretched'], ['003-landed', 'assorted', 'landed, stretched']];
    const own = [...pick(runs, '003-falling'), ...pick(runs, '003-landed')];
    if (own.length === 0) return;
    const at = (method, part, type) => pick(own, part, { method, type })[0];
    page.heading('What would other broad phases take?');
    page.text(`The boxes of the tower, ${own[0].objects} bodies, given to the other methods on one core.`);
    page.details('ms per frame, method by method', () => {
        page.table(['method', ...columns.map(([, , name]) => name)], distinct(own.map(run => run.method)).map(method => [method, ...columns.map(([part, type]) => {
            const run = at(method, part, type);
            return run ? `${digits(run.ms_mean)} (${digits(run.cv)})` : '';
        })]));
        const bare = distinct(own.filter(isBareRoot).map(run => `\`${run.method}\``));
        page.text(`Mean (coefficient of variation); the schedule is \`paper-003\`.${bare.length > 0 ? ` ${bare.join(' and ')} hold so few bodies in one node: no tree.` : ''}`);
        page.from(own);
    });
}

// A tower does not look at what others use; the runs measured beside it do.
function busyText({ towers, raw = [] }) {
    const { folder } = [...towers.values()][0];
    const own = raw.filter(run => run.folder === folder && run.others !== undefined && run.others !== null);
    const busy = own.filter(run => run.others > OTHERS_MOST).length;
    return busy > 0 ? `; **on a busy machine**: before ${busy} of the ${own.length} runs beside them others used more than ${percent(OTHERS_MOST)} of the processors` : '';
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
        `Beside them is the tower with all stages on a device, ${device.name}, ${[...few].join(' or ')} frames: \`scripts/device-towers.sh\`. Its figures show means of each ${Math.max(0, ...[...device.towers.values()].map(tower => tower.step))} frames.`,
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

export function writePage(folder, found, claims) {
    const data = { ...found, summaries: found.summaries ?? summariesOf(found.towers), sources: sourcesOf(found) };
    const { runs, summaries, isStored = false } = data;
    if (summaries.size === 0) return;
    const first = [...summaries.values()][0];
    const page = new Page(folder, '003', 'The k-DOP paper: which volume around a body', { name: papers.get('003').file, isStored });
    const of = (...ids) => claims.filter(claim => ids.includes(claim.id));
    page.text(`${citationOf('003')}. Its machine: an i7-7700HQ and a GTX 1060.`);
    page.story({
        question: 'A tower of 512 bodies falls on a floor. Around each body lies a sphere, a box (AABB) or an 18-DOP, a box with its edges cut off. Which of them makes the whole simulation fastest?',
        picture: () => pairsFigure(page, { sources: data.sources.slice(0, 1) }, '1,3,1', 2, 'scaled (1, 3, 1)'), claims, keys: { 'pairs-sphere': 'around stretched bodies 18-DOPs let about 41 % fewer pairs through than spheres', stages: 'GJK + EPA and shape matching take nearly all of a frame', 'sphere-unscaled': 'around round bodies spheres are slightly the fastest', 'dop-scaled': 'around stretched bodies 18-DOPs are the fastest, by 15 and 22 %', 'sap-1.5ms': 'sweep-and-prune takes a constant time on a GPU' }, number: numberText(data),
    });
    page.text(`The towers are those of \`cleave sim tower\`, here ${first.bodies} bodies and ${first.frames} frames; [docs/physics.md](../../docs/physics.md) tells what a frame does, [bench/tower.md](../tower.md) where numbers differ and why. Scaled means stretched by (1, 3, 1). What the paper leaves open is in [studies](studies/README.md).`);
    page.details('How it was measured', () => { page.text(`${found.towerText ?? towerTextOf(data)}.`); page.text(deviceText(data)); });
    writePairs(page, data, of('pairs-similar', 'pairs-order', 'pairs-order-scaled', 'pairs-sphere', 'pairs-size', 'landed'));
    writeStages(page, data, of('stages', 'volumes-cheap', 'gjk-over-match'));
    writeTimes(page, data, of('sphere-unscaled', 'dop-scaled'));
    writeFalse(page, data, of('false-similar', 'false-scaled', 'gjk-scaled'));
    writeBuilding(page, data, of('build-order'));
    writeSweep(page, data, of('sap-1.5ms', 'axis', 'sweep-turn', 'prune-turn', 'sort-most'));
    writeMethods(page, runs);
    page.text('Run again with `make papers`.');
    page.write();
}
