// SPDX-License-Identifier: MIT
// The k-DOP paper, sweep-and-prune with k-DOPs: tables 5.1 to 5.3, figures 5.6 to 5.23 from the CPU and, where there are its files
// (device_towers.mjs), from a device beside it. Verdicts: claims_003.mjs.
import { aroundTurn, pairsOf, turnOf, volumes } from './claims_003.mjs';
import { frameChart } from './paper_charts.mjs';
import { titleOf } from './names.mjs';
import { OTHERS_MOST, Page, digits, percent } from './page.mjs';
import { pairsOf003, timesOf003 } from './published.mjs';
import { distinct, isBareRoot, machineText, mean, pick } from './runs.mjs';

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

const largest = values => values.reduce((most, value) => Math.max(most, value), -Infinity);

const lackOf = (device, key) => (device.towers.has(key) ? 'cut off' : 'not run');

// Each figure once per source, the device's marked in its name; the source is named in the title.
function figures(page, sources, number, describe, title, chart, height = 300) {
    for (const { mark, name, towers } of sources) {
        const series = chart.seriesOf(towers);
        if (series.length > 0) page.figure(`figure-5.${number}${mark}`, `${describe}: ${name}`, frameChart({ ...chart, title: `Figure 5.${number}: ${title} (${name})`, series }), { height });
    }
}

const bySource = (keys, values) => towers => keys.filter(([, key]) => towers.has(key)).map(([name, key]) => ({ name, points: pointsOf(towers.get(key), values(towers.get(key))) }));
const byVolume = (scale, values) => bySource(volumes.map(volume => [volume, `${volume} ${scale}`]), values);

function writePairs(page, { towers, sources, device }, scale, number, title) {
    const published = pairsOf003().filter(row => row.scale === scale);
    const rows = volumes.map(volume => ({ volume, tower: towers.get(`${volume} ${scale}`), theirs: published.find(row => row.volume === volume) })).filter(row => row.tower);
    const base = rows[0];
    const onDevice = volume => device?.means.get(`${volume} ${scale}`);
    page.heading(`Table 5.${number}: candidate pairs per frame, ${title}`);
    page.table(['volume', 'paper, mean', 'paper, most', 'mean, with the floor', 'most', 'mean, bodies alone', 'false positives, mean', 'paper: more than 18-DOP', 'ours', ...(device ? [`${device.short}: mean, with the floor`, 'most', 'false positives, mean'] : [])], rows.map(({ volume, tower, theirs }) => {
        const pairs = pairsOf(tower);
        const other = onDevice(volume);
        return [volume, theirs.mean, theirs.most, digits(mean(pairs)), largest(pairs), digits(mean(tower.candidate_pairs)), digits(mean(tower.false_positives)),
            volume === base.volume ? '' : percent(theirs.mean / base.theirs.mean - 1), volume === base.volume ? '' : percent(mean(pairs) / mean(pairsOf(base.tower)) - 1),
            ...(device ? [other ? digits(other.pairs_and_floor) : lackOf(device, `${volume} ${scale}`), other?.pairs_and_floor_most, other && digits(other.false_positives)] : [])];
    }));
    figures(page, sources, number + 5, `Candidate pairs along the run, ${title}`, `pairs that sweep-and-prune lets through, ${title}`, { value: 'pairs, with the floor', seriesOf: byVolume(scale, pairsOf) }, 340);
}

function writeStages(page, { sources, device }) {
    page.heading('Figures 5.8 to 5.13: where a frame goes');
    let number = 8;
    for (const [scale, title] of scales) {
        for (const volume of volumes) {
            const seriesOf = towers => (towers.has(`${volume} ${scale}`) ? stackOf(towers.get(`${volume} ${scale}`), stages) : []);
            figures(page, sources, number, `Stages along the run, ${volume}, ${title}`, `${volume}, ${title}`, { value: 'ms', stacked: true, seriesOf });
            ++number;
        }
    }
    page.text(`Nothing is drawn here, so there is no rendering.${device ? ` On the device stages are its own times; what the host does between them is missing in the pictures, and in a frame's time of figures 5.14 and 5.15 it is not.` : ''}`);
}

const stackOf = (tower, columns) => columns.map(([name, column]) => ({ name, points: pointsOf(tower, tower[column], 120) }));

function lines(page, { sources }, numbers, value, describe, values) {
    scales.forEach(([scale, title], index) => figures(page, sources, numbers[index], `${describe}, ${title}`, `${describe}, ${title}`, { value, seriesOf: byVolume(scale, values) }));
}

function writeTimes(page, data) {
    const { towers, device } = data;
    const published = timesOf003();
    page.heading('Table 5.3 and figures 5.14, 5.15: ms per frame');
    page.table(['volume', ...scales.flatMap(([, title]) => [`paper, ${title}`, `one core, ${title}`, ...(device ? [`${device.short}, ${title}`] : [])])], published.map(row => [row.volume, ...scales.flatMap(([scale]) => {
        const key = `${row.volume} ${scale}`;
        return [row[scale], towers.has(key) ? digits(mean(towers.get(key).frame_ms)) : '', ...(device ? [device.means.has(key) ? digits(device.means.get(key).frame_ms) : lackOf(device, key)] : [])];
    })]));
    lines(page, data, [14, 15], 'ms per frame', 'all of a frame', tower => tower.frame_ms);
}

const phases = [['choice of the axis', 'axis_ms'], ['projection', 'project_ms'], ['sort', 'sort_ms'], ['pruning', 'prune_ms']];

function writePhases(page, { towers, sources, device }) {
    const key = '18-dop 1,1,1';
    const tower = towers.get(key);
    if (!tower) return;
    page.heading('Figure 5.23: phases of sweep-and-prune, 18-DOPs, unscaled');
    figures(page, sources, 23, 'Phases of sweep-and-prune along the run', '18-dop, unscaled', { value: 'ms', stacked: true, seriesOf: own => (own.has(key) ? stackOf(own.get(key), phases) : []) });
    const around = own => phases.map(([, column]) => aroundTurn(own, column, turnOf(tower)));
    const rows = (own, name) => (turnOf(tower) > 0
        ? [[`${name}, axis y, the last 500 frames`, ...around(own).map(([before]) => digits(before))], [`${name}, axis in the plane, from frame ${turnOf(tower)}`, ...around(own).map(([, after]) => digits(after))]]
        : [[`${name}, axis y throughout`, ...phases.map(([, column]) => digits(mean(own[column])))]]);
    page.table(['ms per frame', ...phases.map(([name]) => name)], [...rows(tower, 'one core'), ...(device?.towers.has(key) ? rows(device.towers.get(key), device.short) : [])]);
}

function writeBuilding(page, { towers, sources, device }) {
    page.heading('Figure 5.20: building the volumes');
    const unscaled = volumes.filter(volume => towers.has(`${volume} 1,1,1`));
    figures(page, sources, 20, 'Building all volumes of a frame', 'building the volumes', { value: 'ms', seriesOf: byVolume('1,1,1', tower => tower.volume_ms) });
    page.table(['', ...unscaled], [
        ['paper, ms (512 bodies, GPU)', ...unscaled.map(volume => ({ '18-dop': 0.34, aabb: 0.21, sphere: 0.02 })[volume])],
        ['ours, ms (one core)', ...unscaled.map(volume => digits(mean(towers.get(`${volume} 1,1,1`).volume_ms)))],
        ...(device ? [[`ours, ms (${device.short})`, ...unscaled.map(volume => digits(device.means.get(`${volume} 1,1,1`)?.volume_ms) || lackOf(device, `${volume} 1,1,1`))]] : []),
    ]);
}

function writeRest(page, data) {
    page.heading('Figures 5.16 to 5.19: false positives and what they cost');
    lines(page, data, [16, 17], 'pairs', 'pairs that do not touch', tower => tower.false_positives);
    lines(page, data, [18, 19], 'ms', 'GJK + EPA', tower => tower.narrow_ms);
    writeBuilding(page, data);
    page.heading('Figures 5.21 and 5.22: sweep-and-prune');
    lines(page, data, [21, 22], 'ms', 'sweep-and-prune', tower => tower.sweep_ms);
    writePhases(page, data);
}

/** What the methods make of the same boxes; the paper's sweep on its GPU takes about 1.5 ms of every frame. */
function writeMethods(page, runs) {
    const columns = [['003-falling', 'cubes', 'standing'], ['003-landed', 'cubes', 'landed'], ['003-falling', 'assorted', 'standing, stretched'], ['003-landed', 'assorted', 'landed, stretched']];
    const own = [...pick(runs, '003-falling'), ...pick(runs, '003-landed')];
    if (own.length === 0) return;
    const at = (method, part, type) => pick(own, part, { method, type })[0];
    page.heading(`The boxes of the tower, ${own[0].objects} bodies: methods on one core, ms per frame`);
    page.table(['method', ...columns.map(([, , name]) => name)], distinct(own.map(run => run.method)).map(method => [method, ...columns.map(([part, type]) => {
        const run = at(method, part, type);
        return run ? `${digits(run.ms_mean)} (${digits(run.cv)})` : '';
    })]));
    const bare = distinct(own.filter(isBareRoot).map(run => `\`${run.method}\``));
    page.text(`Schedule \`paper-003\`; mean (coefficient of variation).${bare.length > 0 ? ` ${bare.join(' and ')} hold so few bodies in one node: no tree.` : ''}`);
    page.from(own);
}

// A tower does not look at what others use; the runs measured beside it do.
function busyText({ towers, raw = [] }) {
    const { folder } = [...towers.values()][0];
    const own = raw.filter(run => run.folder === folder && run.others !== undefined && run.others !== null);
    const busy = own.filter(run => run.others > OTHERS_MOST).length;
    return busy > 0 ? `; **on a busy machine**: before ${busy} of the ${own.length} runs beside them others used more than ${percent(OTHERS_MOST)} of the processors` : '';
}

function fromText(data) {
    const { towers, towerRun } = data;
    const any = [...towers.values()][0];
    const machine = towerRun ? `${machineText(towerRun.machine)}; ${towerRun.date ?? ''}; ` : '';
    return `<sub>${machine}one run each, ${any.frame.length} frames on one core${busyText(data)}.</sub>`;
}

// What the device has, and in words what it has not.
function deviceText({ device }) {
    if (!device) return 'No device ran the towers: the figures are those of one core alone.';
    const few = new Set([...device.means.values()].map(row => row.frames));
    const bare = [...device.means.keys()].filter(key => !device.towers.has(key));
    const [none, cut] = [false, true].map(isBegun => device.missing.filter(key => device.towers.has(key) === isBegun));
    return [
        `Beside them the tower with all stages on a device, ${device.name}, ${[...few].join(' or ')} frames: \`scripts/device-towers.sh\`; means of each ${Math.max(0, ...[...device.towers.values()].map(tower => tower.step))} frames in the figures.`,
        none.length > 0 ? `Not run there, so that their figures and cells are missing: ${none.map(towerName).join('; ')}.` : '',
        cut.length > 0 ? `Cut off, so that their figures end early and their cells are missing: ${cut.map(key => `${towerName(key)} after ${device.towers.get(key).frame.at(-1)} frames`).join('; ')}.` : '',
        bare.length > 0 ? `Of ${bare.map(towerName).join('; ')} the means alone came back.` : '',
    ].filter(Boolean).join(' ');
}

const towerName = key => `${key.split(' ')[0]}, scale (${key.split(' ')[1].replaceAll(',', ', ')})`;

/** The towers by source, the CPU's first. */
function sourcesOf({ towers, device, towerRun }) {
    return [{ mark: '', name: towerRun ? `one core, ${towerRun.machine.cpu}` : 'one core', towers }, ...(device ? [{ mark: '-device', name: device.short, towers: device.towers }] : [])];
}

export function writePage(folder, found, claims) {
    const data = { ...found, sources: sourcesOf(found) };
    const { towers, runs } = data;
    if (towers.size === 0) return;
    const frames = [...towers.values()][0].frame.length;
    const page = new Page(folder, '003', titleOf('003'));
    const of = (...ids) => claims.filter(claim => ids.includes(claim.id));
    page.text(`*Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU*, COPPE 2021: 512 bodies fall on a floor, 7000 frames, i7-7700HQ and GTX 1060. \`cleave sim tower\` on one core, here ${Math.max(...[...towers.values()][0].landed)} bodies and ${frames} frames; docs/shape-matching.md tells what a frame does, bench/tower.md where numbers differ and why.`);
    page.text(fromText(data));
    page.text(deviceText(data));
    scales.forEach(([scale, title], index) => writePairs(page, data, scale, index + 1, title));
    page.claims(of('pairs-similar', 'pairs-order', 'pairs-order-scaled', 'pairs-sphere', 'pairs-size', 'landed'));
    writeStages(page, data);
    page.claims(of('stages', 'volumes-cheap', 'gjk-over-match', 'sap-1.5ms', 'sap-constant'));
    writeTimes(page, data);
    page.claims(of('sphere-unscaled', 'dop-scaled'));
    writeRest(page, data);
    page.claims(of('false-similar', 'false-scaled', 'gjk-scaled', 'build-order', 'axis', 'sweep-turn', 'prune-turn', 'sort-most'));
    writeMethods(page, runs);
    page.write();
}
