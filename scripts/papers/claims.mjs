// SPDX-License-Identifier: MIT
// What the papers claim, claim by claim, judged by our runs and, with the same rule, by the paper's own numbers (rules.mjs). The pages' verdicts are these and no
// others; all of them, with both numbers, go to bench/papers/claims.csv.
import { facts003, rules003 } from './claims_003.mjs';
import { facts004, rules004 } from './claims_004.mjs';
import { facts000, facts001, facts002, rules000, rules001, rules002 } from './claims_more.mjs';
import { judged } from './rules.mjs';

export { claimsCsv } from './rules.mjs';

/** The rules by paper, in the order of the pages. */
export const rules = { '004': rules004, '000': rules000, '001': rules001, '002': rules002, '003': rules003 };

/** Repeats that differ by more, in the middle of a paper's runs, decide nothing about times. */
export const NOISE_MOST = 0.15;

/** How much the means of repeats vary, in the middle of a paper's runs; 0 where that is not known. */
export function noiseOf(runs, paper) {
    const values = runs.filter(run => run.parts.some(part => part.startsWith(paper))).map(run => run.repeat_cv).filter(value => !Number.isNaN(value)).sort((a, b) => a - b);
    return values[values.length >> 1] ?? 0;
}

/** What the runs say of every claim: { paper: { noise, claims: { id: numbers } } }. This is all that verdicts need; bench/papers/measured.json keeps it. */
export function factsOf(data) {
    const of = { '004': facts004, '000': facts000, '001': facts001, '002': facts002, '003': facts003 };
    return Object.fromEntries(Object.entries(of).map(([paper, make]) => [paper, { noise: paper === '003' ? 0 : noiseOf(data.runs, paper), claims: make(data) }]));
}

/** All claims with their verdicts: [{ paper, id, where, claim, rule, verdict, passed, count, ours, why, paperVerdict, paperNumbers }]. */
export function judgeFacts(facts) {
    return Object.entries(rules).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)).flatMap(([paper, list]) => list.map(rule => judged(paper, rule, facts[paper]?.claims[rule.id], { noise: facts[paper]?.noise, most: NOISE_MOST })));
}

const order = ['004', '000', '001', '002', '003']; // names that look like numbers would come first

export const judge = data => judgeFacts(factsOf(data));
