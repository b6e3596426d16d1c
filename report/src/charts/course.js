// SPDX-License-Identifier: MIT
// Time per frame along a run, and under it how much of the scene rests.
import { msText, numberText, percentText } from '../model/numbers.js';
import { light } from '../look.js';
import { axis, baseOption, legendFor, lineSeries, linearAxis, logAxis, stylesOf, tooltipHtml } from './frame.js';

const MOST_SYMBOLS = 40;

const courseTooltip = styles => items => {
    const times = items.filter(item => item.seriesIndex !== undefined && item.axisIndex === 0);
    const share = items.find(item => item.axisIndex === 1);
    const rows = times.map(item => [styles.get(item.seriesName).color, item.seriesName, msText(item.value[1])]);
    if (share) rows.push([share.color, 'static objects', percentText(share.value[1])]);
    return tooltipHtml(`frame ${items[0].value[0]}`, rows.slice(0, 26));
};

/**
 * data: { series: [{ name, values }], share: [0 … 1] per frame or empty, log, hidden, styles, … }
 */
export function courseChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look);
    const hasShare = (data.share ?? []).length > 0;
    const visible = data.series.filter(one => !data.hidden?.has(one.name));
    const values = (visible.length > 0 ? visible : data.series).flatMap(one => one.values);
    const count = Math.max(1, ...data.series.map(one => one.values.length));
    const side = { outerBoundsMode: 'none', left: 66, right: room.right };
    const frames = extra => linearAxis(look, '', String, { min: 0, max: count - 1, minInterval: 1, splitLine: { show: false }, ...extra });
    const time = data.log
        ? logAxis(look, data.value ?? 'ms per frame', values, numberText, { nameGap: 48 })
        : linearAxis(look, data.value ?? 'ms per frame', numberText, { min: 0, nameGap: 48 });
    return {
        ...baseOption(data, look),
        legend,
        axisPointer: { link: [{ xAxisIndex: 'all' }] },
        tooltip: { ...baseOption(data, look).tooltip, trigger: 'axis', axisPointer: { lineStyle: { color: look.line } }, formatter: courseTooltip(styles) },
        grid: hasShare
            ? [{ ...side, top: room.top, bottom: 148 + room.bottom }, { ...side, height: 74, bottom: 48 + room.bottom }]
            : [{ ...side, top: room.top, bottom: 48 + room.bottom }],
        xAxis: [
            frames(hasShare ? { axisLabel: { show: false } } : { name: 'frame' }),
            ...(hasShare ? [{ ...frames({ name: 'frame' }), gridIndex: 1 }] : []),
        ],
        yAxis: [time, ...(hasShare ? [shareAxis(look)] : [])],
        series: [
            ...data.series.map(one => lineSeries(one.name, one.values.map((value, index) => [index, value]), styles.get(one.name),
                { showSymbol: count <= MOST_SYMBOLS, symbolSize: 5, z: one.name === 'cleave' ? 4 : 3, sampling: count > 2000 ? 'lttb' : undefined })),
            ...(hasShare ? [shareSeries(data.share, look)] : []),
        ],
    };
}

const shareAxis = look => ({
    ...axis(look, 'static', { type: 'value', min: 0, max: 1, interval: 0.5, nameGap: 48, axisLabel: { formatter: share => `${100 * share} %` } }),
    gridIndex: 1,
});

const shareSeries = (share, look) => ({
    type: 'line',
    name: 'static objects',
    xAxisIndex: 1,
    yAxisIndex: 1,
    data: share.map((value, index) => [index, value]),
    symbol: 'none',
    color: look.muted,
    lineStyle: { color: look.muted, width: 1.5 },
    areaStyle: { color: look.area, opacity: 0.7 },
});
