// SPDX-License-Identifier: MIT
// Time against a method's parameter.
import { msText, numberText } from '../model/numbers.js';
import { light } from '../look.js';
import { baseOption, legendFor, lineSeries, linearAxis, logAxis, stylesOf, tooltipHtml } from './frame.js';

/** data: { parameter, series: [{ name, points: [[value, ms]] }], value, hidden, styles, … } */
export function sweepChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look);
    const xs = [...new Set(data.series.flatMap(one => one.points.map(point => point[0])))].sort((a, b) => a - b);
    const isLog = xs[0] > 0 && xs[xs.length - 1] / xs[0] > 8;
    const visible = data.series.filter(one => !data.hidden?.has(one.name));
    const ys = (visible.length > 0 ? visible : data.series).flatMap(one => one.points.map(point => point[1]));
    return {
        ...baseOption(data, look),
        legend,
        grid: { outerBoundsMode: 'none', left: 66, right: room.right, top: room.top, bottom: 48 + room.bottom },
        tooltip: {
            ...baseOption(data, look).tooltip,
            trigger: 'item',
            formatter: ({ seriesName, value }) => tooltipHtml(seriesName, [[styles.get(seriesName).color, `${data.parameter} = ${value[0]}`, msText(value[1])]]),
        },
        xAxis: isLog
            ? logAxis(look, data.parameter, xs, String, { margin: 1.12, ...(xs.length <= 14 ? { ticks: xs } : {}) })
            : linearAxis(look, data.parameter, String, { scale: true }),
        yAxis: logAxis(look, data.value ?? 'ms per frame', ys, numberText, { nameGap: 48 }),
        series: data.series.map(one => lineSeries(one.name, one.points, styles.get(one.name))),
    };
}
