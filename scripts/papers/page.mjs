// SPDX-License-Identifier: MIT
// The engine that draws a page from data: Markdown, with figures beside it.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { svgText } from '../../report/svg.mjs';
import { inColumns } from './charts.mjs';
import { verdicts, verdictText, whyText } from './claims.mjs';
import { citationOf, papers } from './published.mjs';
import { ascending, digits, distinct, isBareRoot, isTree, QUIET_MOST, sizeText, windowsText } from './runs.mjs';

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
//   { figure, alt, draw, height }             what `draw` makes of { width, height } (an ECharts option) as FIGURE.svg beside
//                                             the page; without it, as where only means are stored, the file that is there
//   { claims: [claim] }                       what the paper says there and what became of it
//   { from: runs }                            where the figures above are from, folded
//   { fold, blocks }                          blocks folded below a line of text
// and nothing at all (null, '', false) where there is nothing to show.

const capital = text => text.charAt(0).toUpperCase() + text.slice(1);

function tableLines([head, ...rows], left = 1) {
    return [`| ${head.map(cell).join(' | ')} |`, `|${head.map((_, index) => (index < left ? ' --- ' : ' ---: ')).join('|')}|`, ...rows.map(row => `| ${row.map(cell).join(' | ')} |`), ''];
}

// Narrow, with the legend below: on a telephone, where a page is 390 pixels wide, letters are still two thirds as large.
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

/** Writes NAME.md and its figures, PREFIX-FIGURE.svg. `isStored`: figures that cannot be drawn again are those that are there. */
export function writePage(folder, { name, prefix = name, title, blocks, isStored = false }) {
    mkdirSync(folder, { recursive: true });
    const lines = [`# ${title}`, '', ...blocksText(blocks, { folder, prefix, isStored })];
    writeFileSync(join(folder, `${name}.md`), `${lines.join('\n').trimEnd()}\n`);
}

/**
 * The page of a paper from its data: { number, page: data => { title, machine, question, picture, keys, figure, runs, about, sections } }.
 * It tells a story: the question, the picture, the verdict in a sentence, the number (`figure`), and what there is to know
 * (`about`). Then one section per question: { heading, claims: [id], blocks }, where the block 'claims' stands for the claims.
 * `keys`: { claim id: what it says in few words } of the claims that carry the paper. Without data, as without towers, no page.
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
