// SPDX-License-Identifier: MIT
// A table that sorts by any column: a click on a heading sorts, a second one turns the order.
import { h } from './dom.js';

// Text beyond this many characters may go over several lines.
const LONG = 36;

// Numbers before nothing; text as people sort it, so that 8k comes before 16k.
function compare(a, b) {
    const [x, y] = [a.value, b.value];
    const [noX, noY] = [x === null || x === undefined || x === '', y === null || y === undefined || y === ''];
    if (noX || noY) return noX - noY;
    return typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true });
}

const cellOf = cell => (cell !== null && typeof cell === 'object' ? cell : { text: String(cell ?? ''), value: cell });

function row(columns, cells) {
    return h('tr', {}, cells.map((cell, index) => h(index === 0 ? 'th' : 'td', {
        scope: index === 0 ? 'row' : null,
        class: [columns[index].isNumber ? 'number' : '', cell.text.length > LONG ? 'long' : '', cell.kind ?? ''].join(' ').trim() || null,
        style: cell.style ?? null,
        title: cell.title ?? null,
    }, cell.node ?? cell.text)));
}

/**
 * columns: [{ name, isNumber, title }]; rows: [[cell]], a cell being text, a number, or { text, value, kind,
 * style, title, node }; sort: { column, down }, or null for the order given.
 */
export function sortableTable(columns, rows, { sort = null, caption = '', most = Infinity } = {}) {
    const table = rows.map(cells => cells.map(cellOf));
    const body = h('tbody');
    const state = { ...(sort ?? { column: -1, down: false }) };
    const headings = columns.map((column, index) => h('th', { scope: 'col', class: column.isNumber ? 'number' : null, title: column.title ?? null },
        h('button', { type: 'button', onclick: () => choose(index) }, column.name)));

    function fill() {
        const order = [...table];
        if (state.column >= 0) order.sort((a, b) => withoutValueLast(a, b));
        body.replaceChildren(...order.slice(0, most).map(cells => row(columns, cells)));
        headings.forEach((heading, index) => {
            const isSorted = index === state.column;
            heading.setAttribute('aria-sort', isSorted ? (state.down ? 'descending' : 'ascending') : 'none');
        });
    }
    function withoutValueLast(a, b) {
        const [x, y] = [a[state.column], b[state.column]];
        const isEmpty = cell => cell.value === null || cell.value === undefined || cell.value === '';
        const order = compare(x, y);
        return isEmpty(x) || isEmpty(y) || !state.down ? order : -order;
    }
    function choose(index) {
        state.down = state.column === index ? !state.down : false;
        state.column = index;
        fill();
    }
    fill();
    return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption || 'table' },
        h('table', {}, h('thead', {}, h('tr', {}, headings)), body));
}
