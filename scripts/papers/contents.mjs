// SPDX-License-Identifier: MIT
// Every figure the papers have, and which of them a folder lacks: what README.md says is missing is found by looking.

import { labelOf } from './names.mjs';

const to = (chapter, last) => Array.from({ length: last }, (_, index) => `${chapter}${index + 1}`);

const numbers = { '004': to('', 14), '000': to('', 5), '001': to('', 2), '002': to('', 3), '003': [...to('2.', 29), ...to('3.', 6), ...to('4.', 2), ...to('5.', 23)] };

/** Figures that are the same as one of another paper. */
const sameAs = { '000 1': '004 3', '001 1': '004 8' };

/** What those are that nothing is drawn for, and where else it is told: [pattern of "paper figure", what, here]. */
const drawings = [
    [/^004 2$/, 'ideal, fitting and incorrect places of an object', 'docs/kd.md in words'],
    [/^004 5$/, 'objects on their way from a node to another in the array', 'docs/kd.md in words'],
    [/^00[04] (2|6)$/, 'the operators', 'docs/kd.md in words'],
    [/^004 7$/, 'the flow of the optimization', 'docs/kd.md in words'],
    [/^003 2/, 'drawings of its chapter on what was known before', 'docs/physics.md in words'],
    [/^003 [34]/, 'drawings of its method and program', 'docs/physics.md in words'],
];

const isThere = (files, paper, number) => files.some(file => new RegExp(`^${paper}-figure-${number.replace('.', '\\.')}(?=[ab-]|\\.(svg|png)$)`).test(file));

// "2.1 to 2.29" where they follow each other.
function rangeText(own, all) {
    const runs = [];
    for (const number of own) {
        const last = runs[runs.length - 1];
        if (last && all.indexOf(number) === all.indexOf(last[last.length - 1]) + 1 && (!number.includes('.') || number.split('.')[0] === last[0].split('.')[0])) last.push(number);
        else runs.push([number]);
    }
    return runs.map(run => (run.length > 2 ? `${run[0]} to ${run[run.length - 1]}` : run.join(', '))).join(', ');
}

/** Rows of what is missing among these files: [figures, what they are, where else]. Measurements and pictures that were not drawn this time are among them. */
export function missingFigures(files) {
    const rows = new Map();
    for (const [paper, own] of Object.entries(numbers)) {
        for (const number of own) {
            const [otherPaper, other] = (sameAs[`${paper} ${number}`] ?? '').split(' ');
            if (isThere(files, paper, number) || (other && isThere(files, otherPaper, other))) continue;
            const [, what, here] = drawings.find(([pattern]) => pattern.test(`${paper} ${number}`)) ?? [null, 'a measurement or a picture', 'not drawn this time: what it needs was not run, or could not be drawn'];
            const key = [paper, what, here].join('|');
            rows.set(key, { paper, what, here, own: [...(rows.get(key)?.own ?? []), number] });
        }
    }
    return [...rows.values()].map(({ paper, what, here, own }) => [`${labelOf(paper)}: ${rangeText(own, numbers[paper])}`, what, here]);
}
