// SPDX-License-Identifier: MIT
// One value per name, the least first, with a whisker from the fastest frame to the slowest of a hundred. The
// length of a bar means something only on an axis with a zero: on a logarithmic one values are points.
import { msText, numberText } from '../model/numbers.js';
import { light } from '../look.js';
import { baseOption, isNarrow, linearAxis, logAxis, nameAxis, nameRoom, stylesOf, tooltipHtml, topRoom } from './frame.js';

const drawWhisker = look => (params, api) => {
    const [low, high] = [api.value(1), api.value(2)];
    const y = api.coord([low, api.value(0)])[1];
    const [left, right] = [api.coord([low, api.value(0)])[0], api.coord([high, api.value(0)])[0]];
    // A light line below the dark one keeps it visible on any bar.
    const line = (stroke, lineWidth) => ({ type: 'path', shape: { d: `M${left} ${y}H${right}M${left} ${y - 3.5}V${y + 3.5}M${right} ${y - 3.5}V${y + 3.5}` }, style: { fill: null, stroke, lineWidth } });
    return { type: 'group', children: [line(look.panel, 3.5), line(look.text, 1.3)] };
};

function barTooltip(row, best, format) {
    const range = row.low > 0 && row.high > 0 ? [[null, 'fastest … slowest 1 %', `${format(row.low)} … ${format(row.high)}`]] : [];
    return tooltipHtml(row.name, [[null, 'value', format(row.value)], [null, 'against the best', `× ${numberText(row.value / best)}`], ...range]);
}

/** data: { rows: [{ name, value, low, high }], value: 'ms per frame, median', log, format, styles, … } */
export function barChart(data, look = light) {
    const rows = [...data.rows].sort((a, b) => a.value - b.value);
    const names = rows.map(row => row.name);
    const styles = stylesOf(data, names, look);
    const format = data.format ?? msText;
    const best = rows.length > 0 ? rows[0].value : 1;
    const marks = rows.flatMap(row => [row.value, row.low > 0 ? row.low : row.value, row.high > 0 ? row.high : row.value]);
    const scale = data.log
        ? logAxis(look, data.value, marks, numberText, { margin: 1.5 })
        : linearAxis(look, data.value, numberText, { min: 0 });
    return {
        ...baseOption(data, look),
        grid: { outerBoundsMode: 'none', left: nameRoom(names, data), right: isNarrow(data) ? 66 : 128, top: topRoom(data, 8), bottom: 48 },
        tooltip: { ...baseOption(data, look).tooltip, trigger: 'item', formatter: ({ dataIndex }) => barTooltip(rows[dataIndex], best, format) },
        xAxis: scale,
        yAxis: nameAxis(look, names, data),
        series: [
            data.log ? points(rows, styles, look) : bars(rows, styles),
            ...(data.whiskers ? whiskers(rows, look) : []),
            ends(rows, look, data.whiskers ?? false, row => (isNarrow(data) ? format(row.value) : labelOf(row, best, format))),
        ],
    };
}

const bars = (rows, styles) => ({
    type: 'bar',
    data: rows.map(row => ({ value: row.value, itemStyle: { color: styles.get(row.name).color, opacity: 0.88 } })),
    barMaxWidth: 17,
});

const points = (rows, styles, look) => ({
    type: 'scatter',
    data: rows.map((row, index) => ({ value: [row.value, index], symbol: styles.get(row.name).symbol, itemStyle: { ...styles.get(row.name).item, borderColor: styles.get(row.name).item.borderColor ?? look.panel, borderWidth: styles.get(row.name).item.borderWidth ?? 1, opacity: 1 } })),
    symbolSize: 12,
    z: 6,
});

const labelOf = (row, best, format) => `${format(row.value)}   × ${numberText(row.value / best)}`;

function whiskers(rows, look) {
    const list = rows.map((row, index) => [index, row.low, row.high]).filter(([, low, high]) => low > 0 && high > 0);
    return list.length > 0 ? [{ type: 'custom', data: list, renderItem: drawWhisker(look), silent: true, z: 5, encode: { x: [1, 2], y: 0 } }] : [];
}

// The figures stand behind whatever ends last, bar or whisker.
const ends = (rows, look, hasWhiskers, write) => ({
    type: 'scatter',
    data: rows.map((row, index) => [hasWhiskers && row.high > row.value ? row.high : row.value, index]),
    symbolSize: 1,
    silent: true,
    itemStyle: { color: 'transparent' },
    label: { show: true, position: 'right', distance: 7, color: look.text, fontSize: 11.5, fontFamily: look.font, formatter: ({ dataIndex }) => write(rows[dataIndex]) },
});
