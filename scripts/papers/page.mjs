// SPDX-License-Identifier: MIT
// A page of Markdown with figures beside it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { svgText } from '../../report/svg.mjs';

export const sizeText = objects => (objects % 1000 === 0 ? `${objects / 1000}k` : String(objects));

/** Three digits, as many decimals as that takes. */
export function digits(value) {
    if (value === undefined || value === null || Number.isNaN(value)) return '';
    if (value === 0) return '0';
    const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
    return value.toFixed(Math.min(places, 5));
}

export const percent = share => `${(100 * share).toFixed(0)} %`;
export const times = ratio => `${digits(ratio)} ×`;

const cell = text => String(text ?? '').replaceAll('|', '\\|');

// Without a browser the width of a legend's text is a guess, and other fonts than ours are wider.
function withRoom(option, more = 34) {
    if (option.legend?.right !== 0) return option;
    const grid = option.grid?.right === undefined ? {} : { grid: { ...option.grid, right: option.grid.right + more } };
    return { ...option, ...grid, legend: { ...option.legend, right: more } };
}

export class Page {
    #lines = [];
    #folder;
    #paper;

    constructor(folder, paper, title) {
        this.#folder = folder;
        this.#paper = paper;
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

    /** An ECharts option as NAME.svg beside the page. */
    figure(name, describe, option, { width = 820, height = 420 } = {}) {
        const file = `${this.#paper}-${name}.svg`;
        writeFileSync(join(this.#folder, file), `${svgText(withRoom(option), { width, height, background: '#ffffff' })}\n`);
        this.#lines.push(`![${describe}](${file})`, '');
    }

    write() {
        writeFileSync(join(this.#folder, `${this.#paper}.md`), `${this.#lines.join('\n').trimEnd()}\n`);
    }
}
