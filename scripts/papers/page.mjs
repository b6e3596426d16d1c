// SPDX-License-Identifier: MIT
// A page of Markdown with figures beside it.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { svgText } from '../../report/svg.mjs';
import { verdicts, verdictText, whyText } from './claims.mjs';
import { ascending, digits, distinct, isBareRoot, isTree, sizeText, windowsText } from './runs.mjs';

const cell = text => String(text ?? '').replaceAll('|', '\\|');

// Without a browser the width of a legend's text is a guess, and other fonts than ours are wider.
function withRoom(option, more = 34) {
    if (option.legend?.right !== 0) return option;
    const grid = option.grid?.right === undefined ? {} : { grid: { ...option.grid, right: option.grid.right + more } };
    return { ...option, ...grid, legend: { ...option.legend, right: more } };
}

// ---- where a figure is from

const percentText = share => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

/** From this share of the processors on that others use, a figure says so in words. */
export const OTHERS_MOST = 0.1;

function othersText(runs) {
    const most = Math.max(...runs.map(run => run.others));
    const busy = runs.filter(run => run.others > OTHERS_MOST);
    const isKnown = runs.every(run => run.isOthersKnown);
    if (busy.length === 0) return isKnown ? `others used at most ${percentText(most)} of the processors` : 'what others used of the processors was not measured';
    const methods = distinct(busy.map(run => run.method));
    return `**on a busy machine**: before ${busy.length} of ${runs.length} of these runs${methods.length < 5 && busy.length < runs.length ? ` (${methods.join(', ')})` : ''} others used more than ${percentText(OTHERS_MOST)} of the processors, ${percentText(most)} at most, and waiting did not help${isKnown ? '' : '; before some it was not measured'}`;
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

// In a table's cell and folded below it.
const capital = text => text.charAt(0).toUpperCase() + text.slice(1);

export class Page {
    #lines = [];
    #folder;
    #paper;
    #name;
    #isStored;

    /**
     * `name`: the file's, where it is not the paper's number, which figures begin with. `isStored`: figures
     * that cannot be drawn again are those that are there.
     */
    constructor(folder, paper, title, { name = paper, isStored = false } = {}) {
        this.#folder = folder;
        this.#paper = paper;
        this.#name = name;
        this.#isStored = isStored;
        mkdirSync(folder, { recursive: true });
        this.#lines.push(`# ${title}`, '');
    }

    heading(text) { this.#lines.push(`## ${text}`, ''); }

    text(text) { if (text) this.#lines.push(text, ''); }

    list(items) { if (items.length > 0) this.#lines.push(...items.map(item => `- ${item}`), ''); }

    /** Numbers to the right, unless told. */
    table(head, rows, { left = 1 } = {}) {
        this.#lines.push(`| ${head.map(cell).join(' | ')} |`, `|${head.map((_, index) => (index < left ? ' --- ' : ' ---: ')).join('|')}|`);
        this.#lines.push(...rows.map(row => `| ${row.map(cell).join(' | ')} |`), '');
    }

    /** What `write` writes, folded below a line of text; nothing where it writes nothing. */
    details(summary, write) {
        const at = this.#lines.length;
        write();
        if (this.#lines.length === at) return;
        this.#lines.splice(at, 0, '<details>', `<summary>${summary}</summary>`, '');
        this.#lines.push('</details>', '');
    }

    /**
     * An ECharts option as NAME.svg beside the page. Without one, as where only means are stored, the file
     * that is there; says whether there is any.
     */
    figure(name, describe, option, { width = 820, height = 420 } = {}) {
        const file = `${this.#paper}-${name}.svg`;
        if (option) writeFileSync(join(this.#folder, file), `${svgText(withRoom(option), { width, height })}\n`);
        else if (!this.#isStored || !existsSync(join(this.#folder, file))) return false;
        this.#lines.push(`![${describe}](${file})`, '');
        return true;
    }

    /** Where the figures above are from, folded. */
    from(runs) { this.details('How it was measured', () => this.text(provenance(runs) && `${capital(provenance(runs))}.`)); }

    /**
     * What the paper says there and what became of it, as a table; rules, all numbers and reasons are folded.
     */
    claims(claims) {
        if (claims.length === 0) return;
        const hasPaper = claims.some(claim => claim.paperBrief);
        this.table(['the paper says', 'verdict', ...(hasPaper ? ['paper'] : []), 'ours'], claims.map(claim => [`${claim.claim} (${claim.where})`, `**${verdictText(claim)}**`, ...(hasPaper ? [claim.paperBrief] : []), claim.brief]), { left: 4 });
        this.details('The rules, all numbers, and why', () => this.list(claims.map(claim => [
            `**${capital(claim.claim)}**: ${claim.verdict}.`, `Rule: ${claim.rule}.`, claim.ours ? `Ours: ${claim.ours}.` : '', claim.paperNumbers ? `Checked on ${claim.paperNumbers}: there it ${claim.paperVerdict}.` : 'The paper prints no numbers for it.', whyText(claim.why),
        ].filter(Boolean).join(' '))));
    }

    /**
     * The story in four lines: question, picture, verdict, number. `keys`: { claim id: what it says in few
     * words } of the claims that carry the paper.
     */
    story({ question, picture, claims, keys, number, runs = [] }) {
        this.text(`**The question.** ${question}`);
        picture();
        this.text(`**The verdict.** ${countText(claims)} ${keyText(claims, keys)}`);
        this.text(number && `**The number.** ${number}`);
        this.from(runs);
    }

    write() {
        writeFileSync(join(this.#folder, `${this.#name}.md`), `${this.#lines.join('\n').trimEnd()}\n`);
    }
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
