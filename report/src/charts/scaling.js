// SPDX-License-Identifier: MIT
// Speed-up of one world, or the efficiency of one that grows, against the number of workers.
import { numberText } from '../model/numbers.js';
import { light } from '../look.js';
import { baseOption, legendFor, lineSeries, linearAxis, logAxis, stylesOf, tooltipHtml } from './frame.js';

const percent = value => `${Math.round(100 * value)} %`;

/** data: { kind: 'strong' or 'weak', series: [{ name, points: [[workers, value]] }], … } */
export function scalingChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look);
    const isStrong = data.kind === 'strong';
    const workers = [...new Set(data.series.flatMap(one => one.points.map(point => point[0])))].sort((a, b) => a - b);
    const [first, last] = [workers[0], workers[workers.length - 1]];
    const ys = data.series.flatMap(one => one.points.map(point => point[1]));
    const format = isStrong ? value => `× ${numberText(value)}` : percent;
    return {
        ...baseOption(data, look),
        legend,
        grid: { outerBoundsMode: 'none', left: 66, right: room.right, top: room.top, bottom: 48 + room.bottom },
        tooltip: {
            ...baseOption(data, look).tooltip,
            trigger: 'item',
            formatter: ({ seriesName, value }) => tooltipHtml(seriesName, [[styles.get(seriesName)?.color, `${value[0]} workers`, format(value[1])]]),
        },
        xAxis: logAxis(look, 'processes, or threads', workers, String, { ticks: workers, margin: 1.12 }),
        yAxis: isStrong ? logAxis(look, 'times as fast as one', [...ys, first, last], numberText, { nameGap: 48 })
            : linearAxis(look, 'efficiency', percent, { min: 0, max: Math.max(1.1, ...ys.map(y => Math.ceil(y * 10) / 10)), nameGap: 48 }),
        series: [
            ...data.series.map(one => lineSeries(one.name, one.points, styles.get(one.name))),
            { type: 'line', name: 'ideal', data: isStrong ? [[first, first], [last, last]] : [[first, 1], [last, 1]], symbol: 'none', silent: true, z: 1,
                lineStyle: { color: look.line, type: [1, 4], width: 1.5 }, tooltip: { show: false } },
        ],
    };
}
