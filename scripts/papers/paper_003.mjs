// SPDX-License-Identifier: MIT
// Paper 003, sweep-and-prune with k-DOPs: tables 5.1 to 5.3, figures 5.6 to 5.23 as far as the CPU goes. Verdicts: claims_003.mjs.
import { aroundTurn, pairsOf, turnOf, volumes } from './claims_003.mjs';
import { frameChart } from './paper_charts.mjs';
import { Page, digits, percent } from './page.mjs';
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

const largest = values => values.reduce((most, value) => Math.max(most, value), -Infinity);

function writePairs(page, towers, scale, number, title) {
    const published = pairsOf003().filter(row => row.scale === scale);
    const rows = volumes.map(volume => ({ volume, tower: towers.get(`${volume} ${scale}`), theirs: published.find(row => row.volume === volume) })).filter(row => row.tower);
    const base = rows[0];
    page.heading(`Table 5.${number}: candidate pairs per frame, ${title}`);
    page.table(['volume', 'paper, mean', 'paper, most', 'mean, with the floor', 'most', 'mean, bodies alone', 'false positives, mean', 'paper: more than 18-DOP', 'ours'], rows.map(({ volume, tower, theirs }) => {
        const pairs = pairsOf(tower);
        return [volume, theirs.mean, theirs.most, digits(mean(pairs)), largest(pairs), digits(mean(tower.candidate_pairs)), digits(mean(tower.false_positives)),
            volume === base.volume ? '' : percent(theirs.mean / base.theirs.mean - 1), volume === base.volume ? '' : percent(mean(pairs) / mean(pairsOf(base.tower)) - 1)];
    }));
    page.figure(`figure-5.${number + 5}`, `Candidate pairs along the run, ${title}`, frameChart({ title: `Figure 5.${number + 5}: pairs that sweep-and-prune lets through, ${title}`, value: 'pairs, with the floor', series: rows.map(({ volume, tower }) => ({ name: volume, points: thin(pairsOf(tower)) })) }), { height: 340 });
}

function writeStages(page, towers) {
    page.heading('Figures 5.8 to 5.13: where a frame goes');
    let number = 8;
    for (const [scale, title] of scales) {
        for (const volume of volumes) {
            const tower = towers.get(`${volume} ${scale}`);
            if (tower) page.figure(`figure-5.${number}`, `Stages along the run, ${volume}, ${title}`, frameChart({ title: `Figure 5.${number}: ${volume}, ${title}`, value: 'ms', stacked: true, series: stages.map(([name, column]) => ({ name, points: thin(tower[column], 120) })) }), { height: 300 });
            ++number;
        }
    }
    page.text('Nothing is drawn here, so there is no rendering.');
}

function lines(page, towers, numbers, value, describe, values) {
    scales.forEach(([scale, title], index) => {
        const series = volumes.filter(volume => towers.has(`${volume} ${scale}`)).map(volume => ({ name: volume, points: thin(values(towers.get(`${volume} ${scale}`))) }));
        page.figure(`figure-5.${numbers[index]}`, `${describe}, ${title}`, frameChart({ title: `Figure 5.${numbers[index]}: ${describe}, ${title}`, value, series }), { height: 300 });
    });
}

function writeTimes(page, towers) {
    const published = timesOf003();
    page.heading('Table 5.3 and figures 5.14, 5.15: ms per frame');
    page.table(['volume', ...scales.flatMap(([, title]) => [`paper, ${title}`, `ours, ${title}`])], published.map(row => [row.volume, ...scales.flatMap(([scale]) => {
        const tower = towers.get(`${row.volume} ${scale}`);
        return [row[scale], tower ? digits(mean(tower.frame_ms)) : ''];
    })]));
    lines(page, towers, [14, 15], 'ms per frame', 'all of a frame', tower => tower.frame_ms);
}

const phases = [['choice of the axis', 'axis_ms'], ['projection', 'project_ms'], ['sort', 'sort_ms'], ['pruning', 'prune_ms']];

function writePhases(page, towers) {
    const tower = towers.get('18-dop 1,1,1');
    if (!tower) return;
    page.heading('Figure 5.23: phases of sweep-and-prune, 18-DOPs, unscaled');
    page.figure('figure-5.23', 'Phases of sweep-and-prune along the run', frameChart({ title: 'Figure 5.23: 18-dop, unscaled', value: 'ms', stacked: true, series: phases.map(([name, column]) => ({ name, points: thin(tower[column], 120) })) }), { height: 300 });
    const around = phases.map(([, column]) => aroundTurn(tower, column));
    page.table(['ms per frame', ...phases.map(([name]) => name)], turnOf(tower) > 0
        ? [['axis y, the last 500 frames', ...around.map(([before]) => digits(before))], [`axis in the plane, from frame ${turnOf(tower)}`, ...around.map(([, after]) => digits(after))]]
        : [['axis y throughout', ...phases.map(([, column]) => digits(mean(tower[column])))]]);
}

function writeRest(page, towers) {
    page.heading('Figures 5.16 to 5.19: false positives and what they cost');
    lines(page, towers, [16, 17], 'pairs', 'pairs that do not touch', tower => tower.false_positives);
    lines(page, towers, [18, 19], 'ms', 'GJK + EPA', tower => tower.narrow_ms);
    page.heading('Figure 5.20: building the volumes');
    const unscaled = volumes.filter(volume => towers.has(`${volume} 1,1,1`));
    page.figure('figure-5.20', 'Building all volumes of a frame', frameChart({ title: 'Figure 5.20: building the volumes', value: 'ms', series: unscaled.map(volume => ({ name: volume, points: thin(towers.get(`${volume} 1,1,1`).volume_ms) })) }), { height: 300 });
    page.table(['', ...unscaled], [['paper, ms (512 bodies, GPU)', ...unscaled.map(volume => ({ '18-dop': 0.34, aabb: 0.21, sphere: 0.02 })[volume])], ['ours, ms (one core)', ...unscaled.map(volume => digits(mean(towers.get(`${volume} 1,1,1`).volume_ms)))]]);
    page.heading('Figures 5.21 and 5.22: sweep-and-prune');
    lines(page, towers, [21, 22], 'ms', 'sweep-and-prune', tower => tower.sweep_ms);
    writePhases(page, towers);
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

function fromText({ towers, towerRun }) {
    const any = [...towers.values()][0];
    return towerRun
        ? `<sub>${machineText(towerRun.machine)}; ${towerRun.date ?? ''}; one run each, ${any.frame.length} frames on one core.</sub>`
        : `<sub>one run each, ${any.frame.length} frames on one core.</sub>`;
}

export function writePage(folder, data, claims) {
    const { towers, runs } = data;
    if (towers.size === 0) return;
    const frames = [...towers.values()][0].frame.length;
    const page = new Page(folder, '003', 'Sweep-and-prune with k-DOPs (003)');
    const of = (...ids) => claims.filter(claim => ids.includes(claim.id));
    page.text(`*Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU*, COPPE 2021: 512 bodies fall on a floor, 7000 frames, i7-7700HQ and GTX 1060. \`cleave sim tower\`, everything on one core, here ${Math.max(...[...towers.values()][0].landed)} bodies and ${frames} frames; docs/shape-matching.md tells what a frame does, bench/tower.md where numbers differ and why.`);
    page.text(fromText(data));
    scales.forEach(([scale, title], index) => writePairs(page, towers, scale, index + 1, title));
    page.claims(of('pairs-similar', 'pairs-order', 'pairs-order-scaled', 'pairs-sphere', 'pairs-size', 'landed'));
    writeStages(page, towers);
    page.claims(of('stages', 'volumes-cheap', 'gjk-over-match', 'sap-1.5ms'));
    writeTimes(page, towers);
    page.claims(of('sphere-unscaled', 'dop-scaled'));
    writeRest(page, towers);
    page.claims(of('false-similar', 'false-scaled', 'gjk-scaled', 'build-order', 'axis', 'sweep-turn', 'prune-turn', 'sort-most'));
    writeMethods(page, runs);
    page.write();
}
