// SPDX-License-Identifier: MIT
// Claims of the k-DOP paper; claims.mjs tells how they are judged.
import { digits, percent, times } from './page.mjs';
import { mean } from './runs.mjs';

export const volumes = ['18-dop', 'aabb', 'sphere'];

export const pairsOf = tower => tower.candidate_pairs.map((pairs, frame) => pairs + tower.floor_pairs[frame]);

/** The frame from which the axis lies in the plane for good; -1 if it never does. */
export function turnOf(tower) {
    const last = tower.axis.lastIndexOf('y');
    return last + 1 < tower.axis.length ? last + 1 : -1;
}

/** Means of the 500 frames before the turn of the axis and of all after it; NaN where there is none. Of means of many frames, those that lie on one side. */
export function aroundTurn(tower, column, turn = turnOf(tower)) {
    if (turn <= 0) return [NaN, NaN];
    const step = tower.step ?? 1;
    const at = (from, to) => tower[column].filter((_, index) => tower.frame[index] - step >= from && tower.frame[index] <= to);
    const [before, after] = [at(turn - 500, turn), at(turn, Infinity)];
    return before.length > 0 && after.length > 0 ? [mean(before), mean(after)] : [NaN, NaN];
}

const listText = (values, show) => volumes.map((volume, index) => `${volume} ${show(values[index])}`).join(', ');
const orderOf = values => volumes.map((volume, index) => [volume, values[index]]).sort((a, b) => a[1] - b[1]).map(([volume]) => volume).join(' ');

// ---- what the paper says of its GPU

const figureTower = '18-dop 1,1,1'; // the one of figure 5.23

/** Sweep-and-prune along a run on a device. The milliseconds are the card's, but constant is constant. */
function constantClaim(device) {
    const base = { id: 'sap-1.5ms', where: 'section 5.2', claim: 'sweep-and-prune takes a constant 1.5 ms on the GPU', rule: 'on a GPU, 18-DOPs unscaled, no mean of 100 frames is more than 15 % from the mean of all; the milliseconds are the card\'s' };
    const tower = device?.towers.get(figureTower);
    if (!tower) return { ...base, is: undefined, why: 'no device ran it' };
    const whole = mean(tower.sweep_ms);
    const range = (...names) => {
        const sums = tower.sweep_ms.map((_, index) => names.reduce((sum, name) => sum + tower[name][index], 0));
        return `${digits(Math.min(...sums))} to ${digits(Math.max(...sums))} ms`;
    };
    return {
        ...base, is: tower.sweep_ms.every(ms => Math.abs(ms / whole - 1) <= 0.15), ours: `${range('sweep_ms')}, ${digits(whole)} in the mean (${device.short})`,
        why: `projection and sort do not mind what moves, ${range('project_ms', 'sort_ms')}; pruning along y grows with those that overlap there, ${range('prune_ms')}, until the axis turns${device.onCore.every(Number.isFinite) ? `; on one core, where pruning is nearly all, ${digits(device.onCore[0])} ms before and ${digits(device.onCore[1])} after` : ''}`,
    };
}

/** Phases of sweep-and-prune, on a device if one ran them: the paper's are a GPU's. */
function sortClaim(device, core) {
    const names = ['project_ms', 'sort_ms', 'prune_ms'];
    const tower = device?.towers.get(figureTower) ?? core;
    const base = { id: 'sort-most', where: 'figure 5.23', claim: 'sorting takes most of sweep-and-prune', rule: 'more than projecting and pruning together' };
    if (!tower) return { ...base, is: undefined };
    const text = own => { const [project, sort, prune] = names.map(name => mean(own[name])); return `projection ${digits(project)}, sort ${digits(sort)}, pruning ${digits(prune)} ms`; };
    const [project, sort, prune] = names.map(name => mean(tower[name]));
    const onCore = 'on one core a sort of 512 floats that are nearly in order is little; the GPU\'s radix sort makes many launches';
    if (tower === core) return { ...base, is: sort > project + prune, ours: text(tower), why: onCore };
    const isMost = tower.sort_ms.map((ms, index) => ms > tower.project_ms[index] + tower.prune_ms[index]);
    const others = [...device.means].filter(([key, row]) => key !== figureTower && row.sort_ms > row.project_ms + row.prune_ms).map(([key]) => key.replace(' ', ', scale '));
    return {
        ...base, is: sort > project + prune, ours: `${text(tower)} (${device.short})`,
        why: [`it takes most in ${percent(mean(isMost.map(Number)))} of the frames, before the pile along y is large and after the axis has turned`, others.length > 0 ? `with other volumes in the mean too (${others.join('; ')})` : '', core ? `one core: ${text(core)}` : ''].filter(Boolean).join('; '),
    };
}

// The paper's times are a GPU's: what a device takes that ran all three stretched towers.
function deviceTimes(device, isSo) {
    const rows = volumes.map(volume => device?.means.get(`${volume} 1,3,1`)?.frame_ms);
    return rows.every(Number.isFinite) ? `; the ${device.short} takes ${listText(rows, value => `${digits(value)} ms`)}, where it ${isSo(rows) ? 'holds' : 'does not hold either'}` : '';
}

export function of003({ towers, device: found }) {
    const all = scale => volumes.map(volume => towers.get(`${volume} ${scale}`));
    const [plain, stretched] = [all('1,1,1'), all('1,3,1')];
    const isWhole = [...plain, ...stretched].every(Boolean);
    const isPaper = isWhole && Math.max(...plain[0].landed) === 512 && plain[0].frame.length === 7000;
    const means = (list, value) => (isWhole ? list.map(tower => mean(value(tower))) : [NaN, NaN, NaN]);
    const column = name => tower => tower[name];
    const [pairs, pairsStretched] = [means(plain, pairsOf), means(stretched, pairsOf)];
    const [times1, times3] = [means(plain, column('frame_ms')), means(stretched, column('frame_ms'))];
    const [false1, false3] = [means(plain, column('false_positives')), means(stretched, column('false_positives'))];
    const [narrow3, build] = [means(stretched, column('narrow_ms')), means(plain, column('volume_ms'))];
    const share = name => (isWhole ? mean([...plain, ...stretched].map(tower => mean(tower[name]) / mean(tower.frame_ms))) : NaN);
    const when = test => (isWhole ? test() : undefined);
    const whenPaper = test => (isPaper ? test() : undefined);
    const turn = isWhole ? turnOf(plain[0]) : -1;
    const [pruneBefore, pruneAfter] = isWhole ? aroundTurn(plain[0], 'prune_ms') : [NaN, NaN];
    const [sweepBefore, sweepAfter] = isWhole ? aroundTurn(plain[0], 'sweep_ms') : [NaN, NaN];
    const device = found && { ...found, onCore: [sweepBefore, sweepAfter] };
    const lastLanded = isWhole ? Math.max(...[...plain, ...stretched].map(tower => tower.landed.indexOf(Math.max(...tower.landed)) + 1)) : NaN;
    const small = isWhole && !isPaper ? 'these towers are smaller than the paper\'s 512 bodies and 7000 frames' : '';
    const whole = text => (isWhole ? text : '');
    const isDopFastest = ([dop, ...others]) => others.every(ms => ms / dop >= 1.05);
    const within = (list, bound) => Math.max(...list) / Math.min(...list) <= bound;
    return [
        { id: 'pairs-similar', where: 'table 5.1', claim: 'unscaled, all volumes let about as many pairs through', rule: 'the most over the least is 1.15 at most', is: when(() => within(pairs, 1.15)), ours: listText(pairs, digits) },
        { id: 'pairs-order', where: 'table 5.1', claim: 'unscaled, 18-DOPs let the fewest through, then boxes, then spheres', rule: 'that order of the means', is: when(() => orderOf(pairs) === volumes.join(' ')), ours: `fewest first: ${orderOf(pairs)}; ${listText(pairs, digits)}`, why: whole('our spheres are tested as spheres; tested along the nine axes alone, as the text has it, a sphere is a round 18-DOP, larger than itself (bench/tower.md)') },
        { id: 'pairs-order-scaled', where: 'table 5.2', claim: 'scaled, the same order', rule: 'that order of the means', is: when(() => orderOf(pairsStretched) === volumes.join(' ')), ours: listText(pairsStretched, digits) },
        { id: 'pairs-sphere', where: 'table 5.2', claim: 'scaled, 18-DOPs let 41 % fewer pairs through than spheres (the table\'s; the text says 59 %)', rule: '31 to 51 % fewer', is: when(() => Math.abs(1 - pairsStretched[0] / pairsStretched[2] - 0.41) <= 0.1), ours: `${percent(1 - pairsStretched[0] / pairsStretched[2])} fewer` },
        { id: 'pairs-size', where: 'tables 5.1, 5.2', claim: 'the means are 957, 978, 995 and 1040, 1152, 1762 pairs', rule: 'each within 15 %, the floor\'s pairs counted in', is: whenPaper(() => [957, 978, 995].every((value, index) => Math.abs(pairs[index] / value - 1) <= 0.15) && [1040, 1152, 1762].every((value, index) => Math.abs(pairsStretched[index] / value - 1) <= 0.15)), ours: `${pairs.map(digits).join(', ')} and ${pairsStretched.map(digits).join(', ')}`, why: small },
        { id: 'stages', where: 'figures 5.8 to 5.13', claim: 'GJK + EPA and shape matching take nearly all of a frame', rule: 'more than 80 % together, mean of the six', is: when(() => share('narrow_ms') + share('match_ms') > 0.8), ours: `${percent(share('narrow_ms'))} and ${percent(share('match_ms'))}` },
        { id: 'volumes-cheap', where: 'figures 5.8 to 5.13', claim: 'building volumes does not weigh', rule: 'less than 5 % of a frame', is: when(() => share('volume_ms') < 0.05), ours: percent(share('volume_ms')) },
        { id: 'gjk-over-match', where: 'section 5.2', claim: 'GJK + EPA takes longer than shape matching', rule: 'in the mean of the six', is: when(() => share('narrow_ms') > share('match_ms')), ours: `${percent(share('narrow_ms'))} against ${percent(share('match_ms'))}` },
        constantClaim(device),
        { id: 'sphere-unscaled', where: 'table 5.3', claim: 'unscaled, spheres are slightly the fastest', rule: 'the least time per frame, by 1 to 15 % over the next', is: when(() => times1[2] < Math.min(times1[0], times1[1]) && Math.min(times1[0], times1[1]) / times1[2] <= 1.15), ours: listText(times1, value => `${digits(value)} ms`) },
        { id: 'dop-scaled', where: 'table 5.3', claim: 'scaled, 18-DOPs are clearly the fastest, 15 % over boxes, 22 % over spheres', rule: 'the least, by 5 % or more over both', is: when(() => isDopFastest(times3)), ours: listText(times3, value => `${digits(value)} ms`), why: whole(`a pair found apart is not searched again in the later rounds of a frame here, so a false positive costs GJK once where the paper pays ten times${deviceTimes(device, isDopFastest)}`) },
        { id: 'false-similar', where: 'figure 5.16', claim: 'unscaled, false positives are similar, spheres slightly more', rule: 'the most over the least is 1.5 at most, spheres the most', is: when(() => within(false1, 1.5) && false1[2] === Math.max(...false1)), ours: listText(false1, digits), why: whole('a truncated octahedron on a hexagon fits a sphere better than a box (bench/tower.md)') },
        { id: 'false-scaled', where: 'figure 5.17', claim: 'scaled, spheres stand out', rule: 'at least twice the next', is: when(() => false3[2] >= 2 * Math.max(false3[0], false3[1])), ours: listText(false3, digits) },
        { id: 'gjk-scaled', where: 'figure 5.19', claim: 'scaled, the false positives show in GJK + EPA', rule: 'spheres take longest, 18-DOPs least', is: when(() => orderOf(narrow3) === volumes.join(' ')), ours: listText(narrow3, value => `${digits(value)} ms`) },
        { id: 'build-order', where: 'figure 5.20', claim: '18-DOPs take longest to build, then boxes, then spheres', rule: 'that order', is: when(() => orderOf(build) === 'sphere aabb 18-dop'), ours: listText(build, value => `${digits(value)} ms`) },
        { id: 'landed', where: 'section 5', claim: 'the last body lands near frame 5,500', rule: '5,200 to 5,800, all six', is: whenPaper(() => lastLanded >= 5200 && lastLanded <= 5800), ours: `${lastLanded} at the latest`, why: small },
        { id: 'axis', where: 'section 5.5', claim: 'the axis turns into the plane near frame 5,500', rule: '5,200 to 5,800', is: whenPaper(() => turn >= 5200 && turn <= 5800), ours: `frame ${turn}`, why: small },
        { id: 'sweep-turn', where: 'figure 5.21', claim: 'then sweep-and-prune with 18-DOPs takes 20 % less', rule: 'it takes at least 10 % less than in the 500 frames before', is: Number.isNaN(sweepAfter) ? undefined : sweepAfter <= 0.9 * sweepBefore, ours: `${digits(sweepBefore)} to ${digits(sweepAfter)} ms, ${percent(1 - sweepAfter / sweepBefore)} less`, why: small },
        { id: 'prune-turn', where: 'figure 5.23', claim: 'pruning gains 23 % by it', rule: 'it gains at least 15 %', is: Number.isNaN(pruneAfter) ? undefined : pruneBefore / pruneAfter >= 1.15, ours: `${times(pruneBefore / pruneAfter)}`, why: small },
        sortClaim(device, isWhole ? plain[0] : undefined),
    ];
}
