// SPDX-License-Identifier: MIT
// A page of a paper or of the studies from data: how a claim is judged, the charts that only these pages
// have, and the blocks of which a page is made, as Markdown with figures beside it.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { axis, baseOption, legendFor, linearAxis, lineSeries, logAxis, stylesOf, textWidth } from '../../report/src/charts/frame.js';
import { ladderChart } from '../../report/src/charts/ladder.js';
import { light } from '../../report/src/look.js';
import { numberText } from '../../report/src/model/numbers.js';
import { svgText } from '../../report/svg.mjs';
import { citationOf, papers } from './published.mjs';
import { ascending, digits, distinct, isBareRoot, isTree, ladder, percent, QUIET_MOST, sizeText, times, windowsText } from './runs.mjs';

// ---- how a claim is judged

// A claim covers cases: scenes, sizes, methods or volumes. Its rule says of the
// numbers of each case whether it passes. All pass: the claim holds; some: it holds in part; none: it does
// not hold; no numbers: it cannot be tested. The same rule is run on the paper's own numbers: a rule that
// fails there is wrong. A number that a paper gives is bounded on both sides: "two to three times" is not
// shown by eight.

const isThere = value => value !== undefined && value !== null && !Number.isNaN(value);

/** Without what is missing. */
export const known = values => Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => isThere(value)));

/** Cases of { name: number } by one test. */
export const each = test => ({ values }) => Object.entries(known(values)).map(([name, value]) => [name, test(value)]);

/** A number the paper gives, with a bound on either side. */
export const between = (low, high) => each(value => value >= low && value <= high);

/** "1.32 × on Free Fall, 1.30 × on Gravity". */
export const listed = (show = times, word = 'on') => ({ values }) => Object.entries(known(values)).map(([name, value]) => `${show(value)} ${word} ${name}`).join(', ');

/** "Free Fall 252 ms, Gravity 260 ms". */
export const named = (show = digits, unit = '') => ({ values }) => Object.entries(known(values)).map(([name, value]) => `${name} ${show(value)}${unit}`).join(', ');

export const one = (show = times) => ({ values }) => Object.values(known(values)).map(show).join(', ');

/** "0.679 to 1.05 ×", for a table's cell; the whole list is folded. */
export const range = (show = times) => ({ values }) => {
    const all = Object.values(known(values));
    return all.length > 2 ? `${show(Math.min(...all)).replace(/ [×%]$/, '')} to ${show(Math.max(...all))}` : all.map(show).join(', ');
};

export const share = percent;

/** { verdict, passed, count, failed: [case] } of numbers under a rule. */
export function verdictOf(rule, facts) {
    const cases = facts ? rule.cases(facts) : [];
    const passed = cases.filter(([, is]) => is).length;
    const verdict = cases.length === 0 ? 'cannot be tested' : passed === cases.length ? 'holds' : passed > 0 ? 'holds in part' : 'does not hold';
    return { verdict, passed, count: cases.length, failed: cases.filter(([, is]) => !is).map(([name]) => name) };
}

const NO_CAUSE = 'not explained: no run with another setting shows the cause';

/**
 * A claim as a line of claims.csv: the rule on our numbers, and the same rule on the paper's. `noise`: how
 * much repeats vary in the middle of its paper's runs; where that is above `most`, times decide nothing.
 */
export function judged(paper, rule, facts, { noise = 0, most = Infinity } = {}) {
    const { id, where, claim, rule: text, isCount = false } = rule;
    const theirs = rule.published?.();
    const published = theirs ? { ...verdictOf(rule, theirs), text: rule.show(theirs), brief: (rule.brief ?? rule.show)(theirs), from: rule.publishedFrom } : undefined;
    const base = { paper, id, where, claim, rule: text, paperVerdict: published?.verdict ?? '', paperNumbers: published ? `${published.from}: ${published.text}` : '', paperBrief: published ? `${published.brief}${/^(table|section|abstract|figure)/.test(published.from) ? '' : ` (${published.from})`}` : '' };
    if (facts && !isCount && noise > most) return { ...base, verdict: 'cannot be tested', ours: '', brief: '', passed: 0, count: 0, why: `repeats vary by ${percent(noise)} in the middle: the machine was too busy to tell` };
    const { verdict, passed, count } = verdictOf(rule, facts);
    if (count === 0) return { ...base, verdict, ours: '', brief: '', passed, count, why: rule.lacking ?? 'the runs it needs were not done' };
    return { ...base, verdict, passed, count, ours: rule.show(facts), brief: (rule.brief ?? rule.show)(facts), why: verdict === 'holds' ? '' : rule.why?.(facts) || NO_CAUSE };
}

const quoted = text => `"${String(text).replaceAll('"', '""')}"`;

export function claimsCsv(claims) {
    const columns = [['paper', 'paper'], ['id', 'id'], ['where', 'where'], ['claim', 'claim'], ['rule', 'rule'], ['published', 'paperNumbers'], ['published_verdict', 'paperVerdict'], ['ours', 'ours'], ['cases', claim => (claim.count > 0 ? `${claim.passed} of ${claim.count}` : '')], ['verdict', 'verdict'], ['why', 'why']];
    return `${[columns.map(([name]) => name).join(','), ...claims.map(claim => columns.map(([, of]) => quoted(typeof of === 'function' ? of(claim) : claim[of])).join(','))].join('\n')}\n`;
}

// ---- verdicts in words

export const verdicts = ['holds', 'holds in part', 'does not hold', 'cannot be tested'];

/** The reason as a sentence: "Why: …", or that there is none. */
export const whyText = why => (why === '' ? '' : why.startsWith('not explained') ? `N${why.slice(1)}.` : `Why: ${why}.`);

/** "holds in part (5 of 8)": so many cases pass. */
export const verdictText = ({ verdict, passed, count }) => (verdict === 'holds in part' ? `${verdict} (${passed} of ${count})` : verdict);

// ---- charts

// The charts of the papers' pages and of the studies: those that only these have, and blocks of a page around
// the others (report/src/charts).

const POINT_GAP = 14; // pixels from one series to the next

const gridFor = room => ({ outerBoundsMode: 'none', left: 66, right: room.right, top: room.top, bottom: 56 + room.bottom });

/**
 * Bars side by side, or points where the axis is logarithmic, which has no zero for bars to begin at: {
 * title, categories: [name], series: [{ name, values }], value, log (default true) }.
 */
export function groupChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look, { icons: 'symbols', styles });
    const values = data.series.flatMap(one => one.values).filter(value => value > 0);
    const value = data.log === false
        ? linearAxis(look, data.value, numberText, { min: 0, nameGap: 48 })
        : logAxis(look, data.value, values, numberText, { nameGap: 48, margin: 1.6 });
    return {
        ...baseOption(data, look),
        legend: data.log === false ? { ...legend, data: names.map(name => ({ name, icon: 'roundRect', itemStyle: { color: styles.get(name).color, borderWidth: 0 } })) } : legend,
        grid: gridFor(room),
        xAxis: axis(look, data.group ?? '', { type: 'category', data: data.categories, axisTick: { show: false }, splitLine: { show: false }, axisLabel: { interval: 0, lineHeight: 14 } }),
        yAxis: value,
        series: data.series.map((one, index) => (data.log === false
            ? { type: 'bar', name: one.name, data: one.values.map(height => height ?? null), barGap: '8%', itemStyle: { color: styles.get(one.name).color } }
            : { type: 'scatter', name: one.name, data: one.values.map(height => height ?? null), symbol: styles.get(one.name).symbol, symbolSize: 11, symbolOffset: [(index - (data.series.length - 1) / 2) * POINT_GAP, 0], itemStyle: { ...styles.get(one.name).item, opacity: 1 } })),
    };
}

/** Means over the points within half a step of every whole per cent. */
export function movingAverage(points, step = 0.02) {
    const out = [];
    for (let share = 0.01; share <= 0.99; share += 0.01) {
        const near = points.filter(([x]) => Math.abs(x - share) <= step).map(([, y]) => y);
        if (near.length >= 3) out.push([share, near.reduce((sum, y) => sum + y, 0) / near.length]);
    }
    return out;
}

// A picture of thousands of dots is no clearer than one of some hundreds, and far larger.
const everyFew = (points, most = 600) => points.filter((_, index) => index % Math.max(1, Math.ceil(points.length / most)) === 0);

const clampTo = (value, [low, high]) => Math.min(Math.max(value, low), high);

/**
 * Figure 10: { title, series: [{ name, points: [[share, gain]] }], clampX, clampY }. Points beyond are drawn
 * at the border; the averages know nothing of that.
 */
export function gainChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look, { icons: 'symbols', styles });
    const [xs, ys] = [data.clampX ?? [0.01, 0.99], data.clampY ?? [0.7, 1.6]];
    return {
        ...baseOption(data, look),
        legend,
        grid: gridFor(room),
        xAxis: linearAxis(look, 'static objects', share => `${Math.round(100 * share)} %`, { min: 0, max: 1 }),
        yAxis: linearAxis(look, data.value ?? 'complete / incremental', numberText, { min: ys[0], max: ys[1], nameGap: 48 }),
        series: data.series.flatMap(one => [
            {
                type: 'scatter', name: one.name, symbol: styles.get(one.name).symbol, symbolSize: 3.5, itemStyle: { color: styles.get(one.name).color, opacity: 0.22 },
                data: everyFew(one.points).map(([x, y]) => [Number(clampTo(x, xs).toFixed(4)), Number(clampTo(y, ys).toFixed(3))]),
            },
            lineSeries(`${one.name} average`, movingAverage(one.points).map(([x, y]) => [x, Number(clampTo(y, ys).toFixed(3))]), styles.get(one.name), { symbolSize: 4, lineStyle: { color: styles.get(one.name).color, width: 2 } }),
        ]),
    };
}

/**
 * Figure 9, top: how deep leaves lie, as discs whose area is their share, and how many objects are in leaves.
 * { rows: [{ leaf, depths: [share by depth], inLeaves }] }
 */
export function depthChart(data, look = light) {
    const name = 'objects in leaves';
    const styles = stylesOf(data, ['share of the leaves', name], look);
    const { legend, room } = legendFor(data, ['share of the leaves', name], look, { icons: 'symbols', styles });
    const discs = data.rows.flatMap((row, x) => row.depths.map((share, depth) => [x, depth, share]).filter(([, , share]) => share > 0.002));
    const deepest = Math.max(4, ...discs.map(([, depth]) => depth));
    return {
        ...baseOption(data, look),
        legend,
        grid: { ...gridFor(room), right: room.right + 46 },
        xAxis: axis(look, 'T', { type: 'category', data: data.rows.map(row => String(row.leaf)), splitLine: { show: false } }),
        yAxis: [
            linearAxis(look, 'depth of leaves', numberText, { min: -1, max: deepest + 1, nameGap: 40, axisLabel: { formatter: depth => (depth < 0 ? '' : String(depth)) } }),
            { ...linearAxis(look, '', share => `${Math.round(100 * share)} %`, { min: 0, max: 1, splitLine: { show: false } }), position: 'right' },
        ],
        series: [
            {
                type: 'scatter', name: 'share of the leaves', symbol: 'circle', itemStyle: { color: styles.get('share of the leaves').color, opacity: 0.65 },
                data: discs.map(([x, depth, share]) => ({ value: [x, depth], symbolSize: Number((3 + 24 * Math.sqrt(share)).toFixed(1)) })),
            },
            { ...lineSeries(name, data.rows.map((row, x) => [x, Number(row.inLeaves.toFixed(4))]), styles.get(name)), yAxisIndex: 1 },
        ],
    };
}

/** Something along the frames of a run: { series: [{ name, points: [[frame, value]] }], value, stacked }. */
export function frameChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look);
    return {
        ...baseOption(data, look),
        legend,
        grid: gridFor(room),
        xAxis: linearAxis(look, 'frame', String, { min: 0, splitLine: { show: false } }),
        yAxis: linearAxis(look, data.value, numberText, { min: 0, nameGap: 48 }),
        series: data.series.map(one => lineSeries(one.name, one.points, styles.get(one.name), {
            showSymbol: false,
            ...(data.stacked ? { stack: 'all', areaStyle: { color: styles.get(one.name).color, opacity: 0.55 }, lineStyle: { width: 0.8, color: styles.get(one.name).color } } : {}),
        })),
    };
}

/** Lines over numbers: { title, x, value, logX, logY, series: [{ name, points }] }. */
export function lineChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look);
    const points = data.series.flatMap(one => one.points);
    const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
    return {
        ...baseOption(data, look),
        legend,
        grid: gridFor(room),
        xAxis: data.logX ? logAxis(look, data.x, xs, numberText, { ticks: xs, margin: 1.1 }) : linearAxis(look, data.x, numberText, { min: 'dataMin', max: 'dataMax' }),
        yAxis: data.logY ? logAxis(look, data.value, points.map(([, y]) => y), numberText, { nameGap: 48 }) : linearAxis(look, data.value, numberText, { min: 0, nameGap: 48 }),
        series: data.series.map(one => lineSeries(one.name, one.points.map(([x, y]) => [x, Number(y.toPrecision(4))]), styles.get(one.name))),
    };
}

// ---- legends of files

const LEGEND_ROW = 26; // as report/src/charts/frame.js has it
const LEGEND_GAP = 10;

/**
 * { option, below }: the option with its legend below the plot in columns, and the pixels that the legend
 * takes. Without a browser ECharts guesses how wide a text is, and names of other fonts would run into each
 * other: so each gets a width.
 */
export function inColumns(option, width) {
    const { legend, grid } = option;
    if (legend?.orient !== 'horizontal') return { option, below: 0 };
    const widest = Math.max(...legend.data.map(({ name }) => textWidth(legend.formatter(name))));
    const columns = Math.max(1, Math.floor((width - LEGEND_GAP) / (legend.itemWidth + 5 + widest + LEGEND_GAP)));
    const below = Math.ceil(legend.data.length / columns) * LEGEND_ROW + 10;
    const around = (grid?.bottom ?? 0) % LEGEND_ROW === (48 + 6) % LEGEND_ROW ? 48 : 56; // the axis and its name
    return { option: { ...option, ...(grid ? { grid: { ...grid, bottom: around + below } } : {}), legend: { ...legend, bottom: 4, textStyle: { ...legend.textStyle, width: widest } } }, below };
}

// ---- blocks of a page

/** A line per method, or per what `nameOf` says of a run: [{ name, points: [[objects, ms]] }]. */
export const seriesBy = (runs, nameOf = run => run.method) => distinct(runs.map(nameOf)).map(name => ({ name, points: ladder(runs.filter(run => nameOf(run) === name)) }));

/** Mean ms per frame by number of objects; nothing without runs. */
export function ladderFigure(figure, alt, { title, series, guides = [1], styles, height = 360 }) {
    return series.length > 0 && { figure, alt, draw: size => ladderChart({ ...size, title, series, guides, ...(styles ? { styles } : {}) }), height };
}

const cell = text => String(text ?? '').replaceAll('|', '\\|');

// ---- where a figure is from

const percentText = share => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;


function othersText(runs) {
    const most = Math.max(...runs.map(run => run.others));
    const busy = runs.filter(run => run.others > QUIET_MOST);
    const isKnown = runs.every(run => run.isOthersKnown);
    if (busy.length === 0) return isKnown ? `others used at most ${percentText(most)} of the processors` : 'what others used of the processors was not measured';
    const methods = distinct(busy.map(run => run.method));
    return `**on a busy machine**: around ${busy.length} of ${runs.length} of these runs${methods.length < 5 && busy.length < runs.length ? ` (${methods.join(', ')})` : ''} others used more than ${percentText(QUIET_MOST)} of the processors, ${percentText(most)} at most, and waiting did not help${isKnown ? '' : '; of some it was not measured'}`;
}

function treesText(runs) {
    const trees = distinct(runs.filter(isTree).map(run => run.method)).map(method => {
        const nodes = runs.filter(run => run.method === method && isTree(run)).map(run => run.counters.nodes);
        return `\`${method}\` ${digits(Math.min(...nodes))} to ${digits(Math.max(...nodes))} nodes`;
    });
    const bare = runs.filter(isBareRoot);
    const none = distinct(bare.map(run => run.method)).map(method => `\`${method}\` at ${ascending(bare.filter(run => run.method === method).map(run => run.objects)).map(sizeText).join(', ')}`);
    return [trees.length > 0 ? `trees: ${trees.join(', ')}` : '', none.length > 0 ? `**one node, no tree**: ${none.join('; ')}` : ''].filter(Boolean).join('; ');
}

function windowsOf(runs) {
    return distinct(runs.map(run => run.scene)).map(scene => {
        const sets = distinct(runs.filter(run => run.scene === scene).map(run => JSON.stringify(run.windows)));
        return sets.map(set => {
            const windows = JSON.parse(set);
            const sizes = ascending(runs.filter(run => run.scene === scene && JSON.stringify(run.windows) === set).map(run => run.objects));
            return `${scene}${sets.length > 1 ? ` at ${sizes.map(sizeText).join(', ')}` : ''}: ${windowsText(scene, windows)}`;
        }).join('; ');
    }).join('; ');
}

/** Machine, day, repeats, frames, others, trees: what must be said below figures and tables of these runs. */
export function provenance(runs) {
    if (runs.length === 0) return '';
    const repeats = ascending(runs.map(run => run.repeats));
    const noise = runs.map(run => run.repeat_cv).filter(value => !Number.isNaN(value)).sort((a, b) => a - b);
    const dates = distinct(runs.flatMap(run => run.dates)).sort();
    return [
        distinct(runs.map(run => run.machineName)).join(' and '), dates.length > 1 ? `${dates[0]} to ${dates[dates.length - 1]}` : dates[0],
        `${repeats.join(' or ')} repeats${noise.length > 0 ? `, whose means vary by ${percentText(noise[noise.length >> 1])} in the middle, ${percentText(noise[noise.length - 1])} at most` : ''}`,
        windowsOf(runs), othersText(runs), treesText(runs),
    ].filter(Boolean).join('; ');
}

// ---- blocks

// A page is a list of blocks, each of them plain data: a paragraph as a string, or one of
//   { heading }                               a question that a section answers
//   { list: [text] }
//   { table: [head, ...rows], left }          numbers to the right, but for the first `left` columns
//   { figure, alt, draw, height }             what `draw` makes of { width, height } (an ECharts option) as
//                                             FIGURE.svg beside the page; without it, as where only means are
//                                             stored, the file that is there
//   { claims: [claim] }                       what the paper says there and what became of it
//   { from: runs }                            where the figures above are from, folded
//   { fold, blocks }                          blocks folded below a line of text
// and nothing at all (null, '', false) where there is nothing to show.

const capital = text => text.charAt(0).toUpperCase() + text.slice(1);

function tableLines([head, ...rows], left = 1) {
    return [`| ${head.map(cell).join(' | ')} |`, `|${head.map((_, index) => (index < left ? ' --- ' : ' ---: ')).join('|')}|`, ...rows.map(row => `| ${row.map(cell).join(' | ')} |`), ''];
}

// Narrow, with the legend below: on a telephone, where a page is 390 pixels wide, letters are
// still two thirds as large.
const WIDTH = 560;

function figureLines({ figure, alt, draw, height = 420 }, { folder, prefix, isStored }) {
    const file = `${prefix}-${figure}.svg`;
    if (draw) {
        const { option, below } = inColumns(draw({ width: WIDTH, height }), WIDTH); // a legend makes the figure higher, not the plot lower
        writeFileSync(join(folder, file), `${svgText(option, { width: WIDTH, height: height + (option.grid ? below : 0) })}\n`);
    } else if (!isStored || !existsSync(join(folder, file))) return [];
    return [`![${alt}](${file})`, ''];
}

function claimText({ claim, verdict, rule, ours, paperNumbers, paperVerdict, why }) {
    return [`**${capital(claim)}**: ${verdict}.`, `Rule: ${rule}.`, ours ? `Ours: ${ours}.` : '', paperNumbers ? `Checked on ${paperNumbers}: there it ${paperVerdict}.` : 'The paper prints no numbers for it.', whyText(why)].filter(Boolean).join(' ');
}

// As a table; rules, all numbers and reasons are folded below it.
function claimBlocks(claims) {
    if (claims.length === 0) return [];
    const hasPaper = claims.some(claim => claim.paperBrief);
    const row = claim => [`${claim.claim} (${claim.where})`, `**${verdictText(claim)}**`, ...(hasPaper ? [claim.paperBrief] : []), claim.brief];
    return [
        { table: [['the paper says', 'verdict', ...(hasPaper ? ['paper'] : []), 'ours'], ...claims.map(row)], left: 4 },
        { fold: 'The rules, all numbers, and why', blocks: [{ list: claims.map(claimText) }] },
    ];
}

const fromBlock = runs => ({ fold: 'How it was measured', blocks: [provenance(runs) && `${capital(provenance(runs))}.`] });

function foldLines({ fold, blocks }, page) {
    const lines = blocksText(blocks, page);
    return lines.length > 0 ? ['<details>', `<summary>${fold}</summary>`, '', ...lines, '</details>', ''] : [];
}

function blockLines(block, page) {
    if (!block) return [];
    if (typeof block === 'string') return [block, ''];
    if (block.heading) return [`## ${block.heading}`, ''];
    if (block.list) return block.list.length > 0 ? [...block.list.map(item => `- ${item}`), ''] : [];
    if (block.table) return tableLines(block.table, block.left);
    if (block.figure) return figureLines(block, page);
    if (block.claims) return blocksText(claimBlocks(block.claims), page);
    if (block.from) return blockLines(fromBlock(block.from), page);
    if (block.fold) return foldLines(block, page);
    throw new Error(`a block of a page that is none: ${Object.keys(block).join(', ')}`);
}

const blocksText = (blocks, page) => blocks.flatMap(block => blockLines(block, page));

/**
 * Writes NAME.md and its figures, PREFIX-FIGURE.svg. `isStored`: figures that cannot be drawn again
 * are those that are there.
 */
export function writePage(folder, { name, prefix = name, title, blocks, isStored = false }) {
    mkdirSync(folder, { recursive: true });
    const lines = [`# ${title}`, '', ...blocksText(blocks, { folder, prefix, isStored })];
    writeFileSync(join(folder, `${name}.md`), `${lines.join('\n').trimEnd()}\n`);
}

/**
 * The page of a paper from its data: { number, page: data => { title, machine, question, picture, keys,
 * figure, runs, about, sections } }. It tells a story: the question, the picture, the verdict in a sentence,
 * the number (`figure`), and what there is to know (`about`). Then one section per question: { heading,
 * claims: [id], blocks }, where the block 'claims' stands for the claims. `keys`: { claim id: what it says in
 * few words } of the claims that carry the paper. Without data, as without towers, no page.
 */
export function writePaper(folder, { number, page }, data, claims) {
    const found = page(data);
    if (!found) return;
    const { title, machine, question, picture, keys, figure, runs = [], about, sections } = found;
    const ofSection = ({ heading, claims: ids = [], blocks }) => [{ heading }, ...blocks.map(block => (block === 'claims' ? { claims: claims.filter(claim => ids.includes(claim.id)) } : block))];
    const story = [
        `${citationOf(number)}.${machine ? ` Its machine: ${machine}.` : ''}`, `**The question.** ${question}`, picture, `**The verdict.** ${countText(claims)} ${keyText(claims, keys)}`,
        figure && `**The number.** ${figure}`, { from: runs }, ...about,
    ];
    const blocks = [...story, ...sections.filter(Boolean).flatMap(ofSection), `Run again with \`make papers\`; the schedule is \`paper-${number}\`.`];
    writePage(folder, { name: papers.get(number).file, prefix: number, title, blocks, isStored: data.isStored ?? false });
}

const plural = { holds: ['holds', 'hold'], 'holds in part': ['holds in part', 'hold in part'], 'does not hold': ['does not hold', 'do not hold'], 'cannot be tested': ['cannot be tested', 'cannot be tested'] };

/** "Of 27 claims 10 hold, 10 hold in part and 7 do not hold." */
export function countText(claims) {
    const parts = verdicts.map(verdict => [verdict, claims.filter(claim => claim.verdict === verdict).length]).filter(([, count]) => count > 0).map(([verdict, count]) => `${count} ${plural[verdict][count === 1 ? 0 : 1]}`);
    return `Of ${claims.length} claims ${parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}` : parts[0]}.`;
}

/** The claims that carry a paper, by verdict: "Holds: it is the fastest. Does not hold: one T suits all." */
function keyText(claims, keys) {
    const of = verdict => Object.keys(keys).filter(id => claims.find(claim => claim.id === id)?.verdict === verdict).map(id => keys[id]);
    return verdicts.filter(verdict => of(verdict).length > 0).map(verdict => `*${capital(verdict)}*: ${of(verdict).join('; ')}.`).join(' ');
}
