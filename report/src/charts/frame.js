// SPDX-License-Identifier: MIT
// What all charts share: text, legend, axes, tooltips. A chart is a function (data, look) -> ECharts
// option; data.title (for files that stand alone) and data.width (pixels, decides where the legend goes)
// are optional everywhere.
import { light, stylesFor } from '../look.js';
import { logTicks, shortText } from '../model/numbers.js';

export const NAME_MOST = 30;
const ROW = 20;
const TITLE_ROW = 20;
const TITLE_SIZE = 1.3; // of a title's letters, to those of a legend
const NARROW = 620; // pixels, below which legends go to the bottom
const ITEM_GAP = 10;

export const isNarrow = data => (data.width ?? 820) < NARROW;

/** For text inside tooltips, which are HTML: names come from files. */
export const escapeHtml = text => String(text).replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);

export const swatch = color => `<span style="display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:7px;background:${escapeHtml(color)}"></span>`;

/** Lines of [color, name, value] under a heading; names and values are escaped here. */
export function tooltipHtml(heading, rows) {
    const lines = rows.map(([color, name, value]) =>
        `<tr><td>${color ? swatch(color) : ''}${escapeHtml(shortText(String(name), 48))}</td><td style="text-align:right;padding-left:18px;font-variant-numeric:tabular-nums"><b>${escapeHtml(value)}</b></td></tr>`);
    return `<div style="font-weight:600;margin-bottom:4px">${escapeHtml(shortText(String(heading), 70))}</div><table style="border-spacing:0 1px">${lines.join('')}</table>`;
}

/** A title over as many lines as it takes: none is cut off. */
function titleLines(data) {
    const most = ((data.width ?? 820) - 8) / TITLE_SIZE;
    const lines = [''];
    for (const word of data.title.split(' ')) {
        const last = lines.length - 1;
        if (lines[last] !== '' && textWidth(`${lines[last]} ${word}`) > most) lines.push(word);
        else lines[last] += `${lines[last] === '' ? '' : ' '}${word}`;
        while (textWidth(lines[lines.length - 1]) > most) lines.push(...cutWord(lines.pop(), most));
    }
    return lines;
}

function cutWord(word, most) {
    const letters = [...word];
    let count = letters.length;
    while (count > 1 && textWidth(letters.slice(0, count).join('')) > most) --count;
    return [letters.slice(0, count).join(''), letters.slice(count).join('')];
}

/** Pixels above a plot: those of its title, or so many without one. */
export const topRoom = (data, without) => (data.title ? 14 + TITLE_ROW * titleLines(data).length : without);

export function baseOption(data, look = light) {
    return {
        animationDuration: 250,
        animationDurationUpdate: 200,
        textStyle: { fontFamily: look.font, color: look.text, fontSize: 12 },
        title: data.title ? { text: titleLines(data).join('\n'), left: 0, top: 0, textStyle: { fontFamily: look.font, fontSize: 15, fontWeight: 600, lineHeight: TITLE_ROW, color: look.text } } : undefined,
        aria: { enabled: true, label: data.describe ? { description: data.describe } : {} },
        tooltip: {
            confine: true,
            backgroundColor: look.panel,
            borderColor: look.line,
            borderWidth: 1,
            padding: [8, 11],
            textStyle: { color: look.text, fontFamily: look.font, fontSize: 12 },
            extraCssText: 'box-shadow:0 4px 18px rgba(0,0,0,.18);max-width:440px',
        },
    };
}

// No narrower than any usual font draws it: a file may be shown with another one than it was made with, and
// what does not fit is cut off at the edge.
const letterWidth = letter => (/[ .,:;|!'ijlI·^]/.test(letter) ? 4.4 : /[mwMW@%—…]/.test(letter) ? 12 : /[A-Z×~=+]/.test(letter) ? 10 : 7.9);
export const textWidth = text => [...text].reduce((sum, letter) => sum + letterWidth(letter), 0);
const widthOf = texts => Math.max(0, ...texts.map(textWidth));

/** Where the legend goes and how much room it leaves: { legend, room: { top, right, bottom } }. */
export function legendFor(data, names, look = light, { formatter, icons = 'lines', styles } = {}) {
    const written = name => (formatter ? formatter(name, shortText(name, NAME_MOST)) : shortText(name, NAME_MOST));
    const top = topRoom(data, 14);
    const shared = {
        data: names.map(name => (icons === 'symbols' ? { name, icon: styles.get(name).symbol, itemStyle: styles.get(name).item } : { name })),
        selected: Object.fromEntries(names.map(name => [name, !(data.hidden && data.hidden.has(name))])),
        textStyle: { color: look.text, fontFamily: look.font, fontSize: 12, lineHeight: 16 },
        inactiveColor: look.faint,
        inactiveBorderColor: look.faint,
        lineStyle: { inactiveColor: look.faint, inactiveWidth: 1.5 },
        formatter: written,
        itemWidth: icons === 'lines' ? 30 : 14,
        itemHeight: 9,
        pageTextStyle: { color: look.muted },
        pageIconColor: look.text,
        pageIconInactiveColor: look.line,
    };
    if (isNarrow(data)) return narrowLegend(data, shared, written, top);
    const width = Math.ceil(widthOf(names.map(written)) + shared.itemWidth + 14);
    // From the left, with room enough behind it: set from the right it would go by a guess of its own
    // of how wide the text is.
    const place = data.width ? { left: data.width - width } : { right: 0 };
    const isTooHigh = names.length * ROW > (data.height ?? 480) - top && !data.isStill;
    return {
        legend: { ...shared, type: isTooHigh ? 'scroll' : 'plain', orient: 'vertical', ...place, top, bottom: 8, itemGap: ROW - 16, padding: [5, 0] },
        room: { top, right: width + 16, bottom: 0 },
    };
}

// Below the plot, over as many lines as it takes: what is shown, unless nothing else could show the rest.
function narrowLegend(data, shared, written, top) {
    const items = shared.data.filter(({ name }) => data.hasOwnNames || !data.hidden?.has(name));
    let rows = 1, used = 0;
    for (const { name } of items) {
        const width = shared.itemWidth + 8 + textWidth(written(name));
        if (used > 0 && used + width > data.width - 10) {
            rows += 1;
            used = 0;
        }
        used += width + ITEM_GAP;
    }
    return { legend: { ...shared, data: items, type: 'plain', orient: 'horizontal', bottom: 0, left: 0, width: data.width - 10, itemGap: ITEM_GAP, padding: [0, 5] }, room: { top, right: 18, bottom: rows * (16 + ITEM_GAP) + 6 } };
}

/** Enough pixels that a legend of that many names needs no pages; a file cannot be paged. */
export const heightFor = (count, least = 400, most = 720) => Math.min(Math.max(least, count * ROW + 60), most);

export function axis(look, name, extra = {}) {
    return {
        name,
        nameLocation: 'middle',
        nameGap: 30,
        nameTextStyle: { color: look.muted, fontFamily: look.font, fontSize: 12 },
        axisLine: { show: true, lineStyle: { color: look.line } },
        axisTick: { lineStyle: { color: look.line }, ...extra.axisTick },
        axisLabel: { color: look.muted, fontFamily: look.font, fontSize: 11.5, ...extra.axisLabel },
        splitLine: { show: true, lineStyle: { color: look.grid }, ...extra.splitLine },
        ...Object.fromEntries(Object.entries(extra).filter(([key]) => !['axisTick', 'axisLabel', 'splitLine'].includes(key))),
    };
}

/** A logarithmic axis around positive values, with labels at 1, 2, 5 or at `ticks`. */
export function logAxis(look, name, values, format, { ticks, margin = 1.25, ...extra } = {}) {
    const good = values.filter(value => value > 0);
    const low = (good.length > 0 ? Math.min(...good) : 1) / margin;
    const high = (good.length > 0 ? Math.max(...good) : 10) * margin;
    const marks = ticks ?? spread(logTicks(low, high), low, high);
    return axis(look, name, {
        type: 'log',
        min: low,
        max: high,
        startValue: low,
        axisLabel: { customValues: marks, formatter: format, hideOverlap: true, ...extra.axisLabel },
        axisTick: { customValues: marks },
        ...Object.fromEntries(Object.entries(extra).filter(([key]) => key !== 'axisLabel')),
    });
}

// A range between two marks still needs some.
function spread(marks, low, high) {
    if (marks.length >= 2) return marks;
    return [0.1, 0.5, 0.9].map(share => Number((low * (high / low) ** share).toPrecision(2)));
}

export function linearAxis(look, name, format, extra = {}) {
    return axis(look, name, { type: 'value', axisLabel: { formatter: format, hideOverlap: true }, ...extra });
}

/** Names down the side, the first at the top. */
export function nameAxis(look, names, data) {
    const most = isNarrow(data) ? Math.floor(0.42 * data.width / 7.5) : NAME_MOST;
    return axis(look, '', {
        type: 'category',
        data: names,
        inverse: true,
        axisTick: { show: false },
        splitLine: { show: false },
        axisLabel: { color: look.text, interval: 0, formatter: name => shortText(name, most), margin: 10 },
    });
}

/** Pixels that names down the side take: of a narrow plot no more than two fifths. */
export const nameRoom = (names, data) => Math.min(widthOf(names.map(name => shortText(name, NAME_MOST))) + 22, isNarrow(data) ? 0.42 * data.width : 230);

/**
 * The caller's styles, or those of the table; a series that does not begin with its method's name says
 * in `like` what it is of.
 */
export const stylesOf = (data, names, look) => data.styles ?? stylesFor(names, look, new Map((data.series ?? []).filter(one => one.like).map(one => [one.name, one.like])));

/** A line with dash and symbol. */
export function lineSeries(name, points, style, extra = {}) {
    return {
        type: 'line',
        name,
        data: points,
        color: style.color,
        lineStyle: { color: style.color, type: style.dash, width: style.width },
        itemStyle: style.item,
        symbol: style.symbol,
        symbolSize: 8,
        emphasis: { focus: 'series' },
        ...extra,
    };
}
