#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// The papers' figures and tables again, from our own runs: measures (plan.mjs), judges the claims and writes
// pages.
//
//     node scripts/papers/papers.mjs --cleave build/cleave --grade quick --work build/papers --out
//     bench/papers [--budget SECONDS] [--pages]
//     node scripts/papers/papers.mjs --grade full --from RESULTS[,MORE] --out bench/papers
//     node scripts/papers/papers.mjs --stored --out bench/papers
//
// --budget ends the measuring after so many seconds (an hour of the grade hour, never of the others; 0:
// never), and the pages say what is missing. --device FOLDER: where the k-DOP paper's towers as a device ran
// them are (scripts/papers/bare.sh towers); ours are the default. --pages writes pages from what is there;
// --from does so from folders of results that were measured elsewhere (scripts/papers/bare.sh). --stored
// writes them again from runs.csv and measured.json beside them, after words or rules have changed; it needs
// no program and no raw results. --pictures PATTERN also draws the figures that are pictures and whose file
// names match, which needs the program.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { paper as broadmark } from './broadmark.mjs';
import { paper as earlierKdTree } from './earlier_kd_tree.mjs';
import { paper as kDop, summariesOf, towerTextOf } from './k_dop.mjs';
import { gainsOf, paper as kdTree } from './kd_tree.mjs';
import { claimsCsv, judged, verdicts, whyText, writePage, writePaper } from './page.mjs';
import { drawPictures, keptPictures, pictureBlocks } from './pictures.mjs';
import { grades, measure, pieceWords } from './plan.mjs';
import { citationOf, fileOf, labelOf, linkOf, papers } from './published.mjs';
import { paper as rayKdTree } from './ray_kd_tree.mjs';
import { ascending, asStored, digits, distinct, lacksPhase, leftOut, measuredText, pick, QUIET_MOST, readDevice, readFolders, readStored, sizeText, times, windowRows } from './runs.mjs';

// ---- the papers, and their claims

/**
 * In the order of the pages: { number, rules, factsOf: data => { claim id: numbers }, page: data => what
 * page.mjs draws }.
 */
export const inOrder = [kdTree, earlierKdTree, broadmark, rayKdTree, kDop];

/** Repeats that differ by more, in the middle of a paper's runs, decide nothing about times. */
export const NOISE_MOST = 0.15;

/** How much the means of repeats vary, in the middle of a paper's runs; 0 where that is not known. */
export function noiseOf(runs, paper) {
    const values = runs.filter(run => run.parts.some(part => part.startsWith(paper))).map(run => run.repeat_cv).filter(value => !Number.isNaN(value)).sort((a, b) => a - b);
    return values[values.length >> 1] ?? 0;
}

/**
 * What the runs say of every claim: { paper: { noise, claims: { id: numbers } } }. This is all that verdicts
 * need; bench/papers/measured.json keeps it.
 */
export function factsOf(data) {
    const whole = { ...data, runs: data.runs.filter(run => !lacksPhase(run)) };
    return Object.fromEntries(inOrder.map(({ number, factsOf: make }) => [number, { noise: number === '003' ? 0 : noiseOf(data.runs, number), claims: make(whole) }]));
}

/**
 * All claims with their verdicts: [{ paper, id, where, claim, rule, verdict, passed, count, ours, why,
 * paperVerdict, paperNumbers }].
 */
export function judgeFacts(facts) {
    return inOrder.flatMap(({ number, rules }) => rules.map(rule => judged(number, rule, facts[number]?.claims[rule.id], { noise: facts[number]?.noise, most: NOISE_MOST })));
}

export const judge = data => judgeFacts(factsOf(data));

// ---- checks and tables of the runs

const say = text => process.stderr.write(`papers: ${text}\n`);

/** Runs of one scene must have one hash. */
export function disagreements(runs) {
    const first = new Map();
    return runs.filter(run => run.status === 'ok' && !run.fat).filter(run => {
        const key = [run.scene, run.type, run.objects, run.frames, run.key?.split(' | ')[0]].join(' ');
        if (!first.has(key)) first.set(key, run.pairs_hash);
        return first.get(key) !== run.pairs_hash;
    });
}

const quoted = text => `"${String(text).replaceAll('"', '""')}"`;
const shown = value => (value === undefined || value === null || Number.isNaN(value) ? '' : digits(value));

/** One line per run as the pages use it, windows joined: what they show can be checked here. */
export function runsCsv(runs) {
    const head = 'part,scene,type,objects,windows,method,variant,threads,settings,ms_mean,cv,repeats,repeat_cv,ms_min,nodes,tests,others,date,machine';
    const rows = runs.map(run => [run.parts[0], run.scene, run.type, run.objects, run.windows.map(({ from, frames }) => `${from}+${frames}`).join(' '), run.method, run.variant, run.threads,
        quoted(Object.entries(run.settings).map(pair => pair.join('=')).join(',')), shown(run.ms_mean), shown(run.cv), run.repeats, shown(run.repeat_cv), shown(run.ms_min), shown(run.counters?.nodes), run.tests ?? '', run.isOthersKnown ? shown(run.others) : '', run.dates[run.dates.length - 1] ?? '', quoted(run.machineName)].join(','));
    return `${[head, ...rows].join('\n')}\n`;
}

// ---- README.md

const figuresOf = { '004': '1, 9 to 14; tables 1 and 2', '000': '3 to 5; coefficient of variation', '001': '2; tables I and II', '002': '2 and 3', '003': '5.6 to 5.23; tables 5.1 to 5.3' };

function claimBlocks(claims) {
    const known = claims.filter(claim => claim.paperVerdict);
    const row = paper => {
        const own = claims.filter(claim => claim.paper === paper);
        return [linkOf(paper), citationOf(paper), figuresOf[paper], own.length, ...verdicts.map(verdict => own.filter(claim => claim.verdict === verdict).length)];
    };
    const foldOf = verdict => {
        const own = claims.filter(claim => claim.verdict === verdict);
        return own.length > 0 && { fold: `What ${verdict}: ${own.length}`, blocks: [{ list: own.map(({ paper, where, claim, brief, passed, count, why }) => `${linkOf(paper)}, ${where}: *${claim}*${verdict === 'holds in part' ? ` (${passed} of ${count} cases)` : ''}.${brief ? ` Ours: ${brief}.` : ''}${why ? ` ${whyText(why)}` : ''}`) }] };
    };
    return [
        { table: [['page', 'paper', 'figures and tables', 'claims', ...verdicts], ...[...papers.keys()].map(row)], left: 3 },
        { heading: 'How a claim is judged' },
        'A claim covers cases: scenes, sizes, methods or volumes. A rule says of the numbers of each case whether it passes. If all pass the claim **holds**, if some do it **holds in part**, if none does it **does not hold**, and without runs it **cannot be tested**. Where a paper gives a number the rule has a bound on either side: "two to three times" is not shown by eight.',
        `Each rule is first run on the paper\'s own numbers, from \`published/\`: a rule that fails there is wrong. ${known.length} of the ${claims.length} claims have such numbers, and ${known.filter(claim => claim.paperVerdict === 'holds').length} of these hold by them; ${known.filter(claim => /released program/.test(claim.paperNumbers)).length} are checked on the authors\' released program, which we ran, where a figure has no numbers. The other claims stand on figures alone. [claims.csv](claims.csv) has a line for each claim: what the paper says and where, the rule, the paper\'s numbers with their verdict, our numbers with ours, and why they differ where a run shows a cause. No verdict is written by hand. The same run differs from process to process (see These runs): where a number lies close to its bound, the verdict is a hint.`,
        ...verdicts.slice(1).map(foldOf),
    ];
}

const middle = values => values[values.length >> 1];

// What runs beside each other cost, and how well a process stands for another: both bound what a ratio can
// tell.
function laneText({ lanes, alone, runs, twins }) {
    const cells = alone.map(run => ({ objects: run.objects, ratio: pick(runs, run.parts[0], { scene: run.scene, method: run.method, objects: run.objects }).filter(other => other.windows.length === run.windows.length)[0]?.ms_mean / run.ms_mean })).filter(({ ratio }) => ratio > 0);
    const bySize = ascending(cells.map(cell => cell.objects)).map(objects => {
        const ratios = cells.filter(cell => cell.objects === objects).map(cell => cell.ratio);
        return `${times(Math.min(...ratios))} to ${times(Math.max(...ratios))} as long at ${sizeText(objects)}`;
    });
    return [
        ...(lanes > 0 ? [`Up to ${lanes} runs went on at a time, each on a core of its own. ${cells.length > 0 ? `${cells.length} cells measured again with nothing beside them: among the others they took ${bySize.join(', ')}; before that others used at most ${(100 * Math.max(...alone.map(run => run.others))).toFixed(1)} % of the processors.` : 'What that costs was not measured.'}`] : []),
        ...(twins.length > 0 ? [`${twins.length} cells were measured in more than one process, some in other calls: the slowest took ${times(middle(twins))} the quickest in the middle, ${times(twins[twins.length - 1])} at most. What follows uses the last. A machine that is let out in parts does that; a ratio nearer to 1 is no more than a hint, whatever its repeats say.`] : []),
    ];
}

/** What is to be known about the runs: sentences, which measured.json keeps. */
function notesOf(grade, data) {
    const { raw, towers, left } = data;
    const bad = raw.filter(run => run.status === 'failed' || run.status === 'timeout');
    const absent = distinct(raw.filter(run => run.status === 'unavailable').map(run => run.method));
    const wrong = disagreements(raw);
    const tower = [...towers.values()][0];
    const busy = raw.filter(run => run.others > QUIET_MOST);
    const machines = distinct(raw.map(run => `${run.machineName}, Cleave ${run.version}`)).map(name => `${name} (papers: ${distinct(raw.filter(run => `${run.machineName}, Cleave ${run.version}` === name).flatMap(run => run.parts.map(part => part.slice(0, 3)))).sort().map(labelOf).join(', ')})`);
    return [
        `\`make papers PAPERS=${grade}\`: ${grades[grade].about}. ${machines.join('; ')}; ${distinct(raw.map(run => run.date).filter(Boolean)).sort().join(', ') || 'day unknown'}.`,
        `${raw.length} runs, each in a process of its own${data.hasShared ? ', those on the GPU in one for each scene and size' : ''}. A frame is the whole of it: boxes handed over, updated, pairs listed. The mean is over the frames of all repeats but the first of each pass, in which a method builds what it keeps: one in 1000 in the papers. The same mean is in tables, plots and verdicts.`,
        'Where the papers time 1000 frames, most of ours are windows spread over the run, weighted by what they stand for (below); each figure says which, as first frame + frames. Whole runs at 8k and 32k show how good that is (end of the KD-tree paper\'s page). Above 128k piles take too long to simulate: there windows end early.',
        busy.length > 0 ? `**The machine was busy with other work**: before ${busy.length} of ${raw.length} runs others used more than 5 % of the processors, also after waiting. The figures concerned say so, and the plan names these rows as missing, to be measured again.${raw.every(run => run.others !== undefined) ? '' : ' Before some it was not measured.'}` : raw.every(run => run.others !== undefined) ? 'Before each scene the share of the processors that others used was measured: 5 % at most throughout.' : 'What others used of the processors was not measured before all runs.',
        ...laneText(data),
        ...(tower ? [`Towers: ${Math.max(...tower.landed)} bodies landed in ${tower.frame.length} frames.`] : []),
        wrong.length === 0 ? 'Every run of a scene found the same pairs as all others on it.' : `**Results disagree** in ${wrong.length} runs: ${wrong.map(run => `${run.method}@${run.variant} on ${run.scene}, ${sizeText(run.objects)}`).join('; ')}.`,
        ...(absent.length > 0 ? [`Not installed there: ${absent.join(', ')}.`] : []),
        ...(left.length > 0 ? [`Runs of other machines that were left out, one machine per paper: ${left.join('. ')}.`] : []),
        bad.length === 0 ? 'All ended well.' : `${bad.length} did not end well: ${bad.map(run => `${run.method}@${run.variant} on ${run.scene}, ${sizeText(run.objects)}: ${run.reason}`).slice(0, 20).join('; ')}.`,
    ];
}

/** How many rows of runs.csv are not known to be quiet: the next series measures these again. */
export function quietText(runs) {
    const [unknown, loud] = [runs.filter(run => !run.isOthersKnown).length, runs.filter(run => run.isOthersKnown && run.others > QUIET_MOST).length];
    return unknown + loud > 0 ? `Of the ${runs.length} rows of [runs.csv](runs.csv) ${unknown} have no record of what others used of the processors, and around ${loud} it was more than ${100 * QUIET_MOST} %. The plan names these rows as missing: the next series measures them again, one at a time, until all are quiet.` : '';
}

const runBlocks = ({ runs, notes, lacking, unfinished, budget }) => [
    { heading: 'These runs' },
    { list: [...notes, quietText(runs)].filter(Boolean) },
    { fold: 'Windows, and what each stands for', blocks: [{ table: [['scene', 'window', 'stands for, frames'], ...windowRows()], left: 2 }] },
    { heading: 'Sizes left out' },
    lacking.length === 0 ? 'None: every size of every part of the schedules was run.' : `Of the schedules' parts these sizes were not run: ${lacking.join('; ')}.`,
    unfinished?.length > 0 && `The ${budget} s it was given were up before these pieces were done: ${unfinished.join(', ')}. The same command goes on there.`,
];

function writeIndex(folder, grade, data, claims, drawn) {
    // Pictures of an earlier round may lie there that this one could not draw.
    const files = [...readdirSync(folder).filter(name => /\.(svg|png)$/.test(name)), ...drawn.map(one => one.file)];
    const calls = grades[grade].pieces.map(one => `\`cleave run ${pieceWords(one).join(' ')}${one.wide ? ' --threads 4' : ''}\``);
    writePage(folder, {
        name: 'README',
        title: 'The papers\' figures and tables again',
        blocks: [
            'Five papers are behind Cleave. Their figures and tables that are measurements are here again, from our runs, with the papers\' numbers beside ours where they print any (`published/`). Each paper has a page: its question, a picture, the verdict, and the number that matters; details are folded. `kd-paper` is the KD-tree as published, `kd` what we made of it. What the k-DOP paper leaves open is in [studies](studies/README.md).',
            'Made by `make papers`; do not edit.',
            ...claimBlocks(claims),
            ...runBlocks(data),
            ...pictureBlocks(drawn, files),
            { fold: 'The calls, piece by piece', blocks: ['From `scripts/papers/plan.mjs`; each with `--resume --budget 540 --others 5`:', { list: calls }] },
        ],
    });
}

// ----

function readWords() {
    const { values } = parseArgs({ options: {
        cleave: { type: 'string', default: 'build/cleave' }, grade: { type: 'string', default: 'hour' }, work: { type: 'string', default: 'build/papers' },
        out: { type: 'string', default: 'bench/papers' }, pages: { type: 'boolean', default: false }, stored: { type: 'boolean', default: false }, pictures: { type: 'string' }, from: { type: 'string' }, wait: { type: 'string', default: '60' }, budget: { type: 'string' }, device: { type: 'string', default: fileURLToPath(new URL('../../bench/results/h200', import.meta.url)) },
    } });
    if (!(values.grade in grades)) throw new Error(`--grade ${values.grade}: there are ${Object.keys(grades).join(', ')}`);
    if (!/^\d+$/.test(values.wait)) throw new Error(`--wait ${values.wait}: seconds, such as 60`);
    if (values.budget !== undefined && !/^\d+$/.test(values.budget)) throw new Error(`--budget ${values.budget}: seconds, such as 3600; 0: no end`);
    return { ...values, budget: Number(values.budget ?? grades[values.grade].budget ?? 0) };
}

// Figures and pages of an earlier round that this one does not make would stay beside the pages for ever.
function clean(out) {
    const pages = new Set([...papers.keys()].map(fileOf));
    for (const name of readdirSync(out)) if (/^\d{3}-.*\.svg$/.test(name) || /^\d{3}\.md$/.test(name) || pages.has(name)) rmSync(join(out, name));
}

// From raw results: all that pages need.
function measuredData({ cleave, grade, work, pages, from, wait, budget, device }) {
    const folder = join(work, grade);
    let unfinished = [];
    if (!pages && !from) {
        mkdirSync(folder, { recursive: true });
        unfinished = measure(cleave, grade, folder, say, { wait: Number(wait), budget });
    }
    const data = { ...readFolders(from ? from.split(',') : [folder]), unfinished, budget, device: readDevice(device) };
    return { ...data, grade, facts: asStored(factsOf(data)), summaries: summariesOf(data.towers), gains: asStored(gainsOf(data.runs)), notes: notesOf(grade, data), lacking: leftOut(data.runs, data.raw), towerText: towerTextOf(data), gpu: data.runs.find(run => run.device)?.device, isRight: disagreements(data.raw).length === 0 };
}

// From what is stored beside the pages.
const storedData = ({ out, device }) => ({ ...readStored(out), device: readDevice(device), isRight: true });

function main() {
    const words = readWords();
    const { cleave, out, stored, pictures } = words;
    mkdirSync(out, { recursive: true });
    const data = stored ? storedData(words) : measuredData(words);
    if (!stored) clean(out);
    const claims = judgeFacts(data.facts);
    for (const paper of inOrder) writePaper(out, paper, data, claims.filter(claim => claim.paper === paper.number));
    if (!stored) {
        writeFileSync(join(out, 'runs.csv'), runsCsv(data.runs));
        writeFileSync(join(out, 'measured.json'), measuredText(data));
    }
    writeFileSync(join(out, 'claims.csv'), claimsCsv(claims.map(claim => ({ ...claim, paper: labelOf(claim.paper) }))));
    writeIndex(out, data.grade, data, claims, stored && !pictures ? keptPictures(out) : drawPictures(cleave, out, say, { isTiny: data.grade === 'tiny', again: pictures && new RegExp(pictures) }));
    if (data.lacking.length > 0) say(`sizes left out: ${data.lacking.join('; ')}`);
    say(`wrote ${join(out, 'README.md')}`);
    return data.isRight ? 0 : 1;
}

// Imported by its tests, the file measures nothing.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
    try {
        process.exitCode = main();
    } catch (error) {
        say(error.message);
        process.exitCode = 2;
    }
}
