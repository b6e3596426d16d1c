// SPDX-License-Identifier: MIT
// The four verdicts, and how they are written.

export const verdicts = ['holds', 'holds in part', 'does not hold', 'cannot be tested'];

/** The reason as a sentence: "Why: …", or that there is none. */
export const whyText = why => (why === '' ? '' : why.startsWith('not explained') ? `N${why.slice(1)}.` : `Why: ${why}.`);

/** "holds in part (5 of 8)": so many cases pass. */
export const verdictText = ({ verdict, passed, count }) => (verdict === 'holds in part' ? `${verdict} (${passed} of ${count})` : verdict);
