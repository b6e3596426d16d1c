// SPDX-License-Identifier: MIT
// How a claim is judged. A claim covers cases: scenes, sizes, methods or volumes. Its rule says of the
// numbers of each case whether it passes. All pass: the claim holds; some: it holds in part; none: it does
// not hold; no numbers: it cannot be tested. The same rule is run on the paper's own numbers: a rule that
// fails there is wrong. A number that a paper gives is bounded on both sides: "two to three times" is not
// shown by eight.
import { digits, percent, times } from './runs.mjs';

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
 * A claim as a line of claims.csv: the rule on our numbers, and the same rule on the paper's. `noise`: how much repeats
 * vary in the middle of its paper's runs; where that is above `most`, times decide nothing.
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
