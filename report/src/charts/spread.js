// SPDX-License-Identifier: MIT
// How the times of a run's frames are spread: a box, or a violin with its box inside.
import { boxOf, density, msText, numberText } from '../model/numbers.js';
import { light } from '../look.js';
import { baseOption, linearAxis, logAxis, nameAxis, nameRoom, stylesOf, tooltipHtml, topRoom } from './frame.js';

function boxRows(rows) {
    return rows.map(row => ({ ...row, ...boxOf(row.values) })).sort((a, b) => a.box[2] - b.box[2]);
}

function boxTooltip(row, format) {
    const lines = [['slowest', Math.max(...row.values)], ['upper quarter', row.box[3]], ['median', row.box[2]], ['lower quarter', row.box[1]], ['fastest', Math.min(...row.values)]];
    return tooltipHtml(`${row.name}: ${row.values.length} frames`, lines.map(([name, value]) => [null, name, format(value)]));
}

function shared(data, rows, look) {
    const names = rows.map(row => row.name);
    const ends = rows.flatMap(row => [Math.min(...row.values), Math.max(...row.values)]);
    const format = data.format ?? msText;
    return {
        ...baseOption(data, look),
        grid: { outerBoundsMode: 'none', left: nameRoom(names, data), right: 24, top: topRoom(data, 8), bottom: 48 },
        xAxis: data.log === false
            ? linearAxis(look, data.value ?? 'ms per frame', numberText, { scale: true })
            : logAxis(look, data.value ?? 'ms per frame', ends, numberText, { margin: 1.15 }),
        yAxis: nameAxis(look, names, data),
        tooltip: { ...baseOption(data, look).tooltip, trigger: 'item', formatter: ({ data: item }) => boxTooltip(rows[item.row ?? item.value?.[0] ?? item[0]], format) },
    };
}

/** data: { rows: [{ name, values }], value, log (default true), format, styles, … } */
export function boxChart(data, look = light) {
    const rows = boxRows(data.rows.filter(row => row.values.length > 0));
    const styles = stylesOf(data, rows.map(row => row.name), look);
    const outliers = rows.flatMap((row, index) => row.outliers.map(value => ({ value: [value, index], row: index, itemStyle: { color: styles.get(row.name).color } })));
    return {
        ...shared(data, rows, look),
        series: [
            {
                type: 'boxplot',
                boxWidth: [6, 16],
                data: rows.map((row, index) => ({ value: row.box, row: index, itemStyle: { color: `${styles.get(row.name).color}44`, borderColor: styles.get(row.name).color, borderWidth: 1.6 } })),
            },
            { type: 'scatter', data: outliers, symbolSize: 4, itemStyle: { opacity: 0.75 } },
        ],
    };
}

// One shape per row: the outline up one side and down the other, then the quarters and the median.
function drawViolin(rows, styles, look) {
    return (params, api) => {
        const index = api.value(0);
        const row = rows[index];
        const half = Math.min(api.size([0, 1])[1] * 0.44, 15);
        const style = styles.get(row.name);
        const at = value => api.coord([value, index]);
        const upper = row.outline.map(([value, weight]) => [at(value)[0], at(value)[1] - half * weight]);
        const lower = row.outline.map(([value, weight]) => [at(value)[0], at(value)[1] + half * weight]).reverse();
        const [q1, middle, q3] = row.box.slice(1, 4).map(at);
        return {
            type: 'group',
            children: [
                { type: 'polygon', shape: { points: [...upper, ...lower] }, style: { fill: `${style.color}55`, stroke: style.color, lineWidth: 1.3, lineJoin: 'round' } },
                { type: 'line', shape: { x1: q1[0], y1: q1[1], x2: q3[0], y2: q3[1] }, style: { stroke: style.color, lineWidth: 4, lineCap: 'round' } },
                { type: 'circle', shape: { cx: middle[0], cy: middle[1], r: 3.2 }, style: { fill: look.panel, stroke: style.color, lineWidth: 1.6 } },
            ],
        };
    };
}

/** The same data as boxChart. */
export function violinChart(data, look = light) {
    const isLog = data.log !== false;
    const rows = boxRows(data.rows.filter(row => row.values.length > 0)).map(row => ({ ...row, outline: density(row.values, { log: isLog }) }));
    const styles = stylesOf(data, rows.map(row => row.name), look);
    return {
        ...shared(data, rows, look),
        series: [{
            type: 'custom',
            renderItem: drawViolin(rows, styles, look),
            data: rows.map((row, index) => [index, Math.min(...row.values), Math.max(...row.values)]),
            encode: { x: [1, 2], y: 0 },
        }],
    };
}
