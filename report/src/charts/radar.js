// SPDX-License-Identifier: MIT
// Figure 1 of Serpa and Rodrigues, "Flexible use of temporal and spatial reasoning for fast and scalable CPU
// broad-phase collision detection using KD-trees" (CGF 2019): one axis per scene, a polygon per method,
// nearer to the centre is faster.
import { msText, numberText, shortText } from '../model/numbers.js';
import { light } from '../look.js';
import { baseOption, isNarrow, legendFor, stylesOf, textWidth, tooltipHtml } from './frame.js';

const AXIS_MOST = 26; // letters of a scene's name

// Rings at whole powers of ten; at halves of them, 0.1 0.32 1 3.2, where that makes no more than seven.
function rings(values) {
    const logs = values.map(Math.log10);
    const step = Math.max(...logs) - Math.min(...logs) > 3 ? 1 : 0.5;
    const low = Math.floor((Math.min(...logs) - 0.02) / step) * step;
    const high = Math.ceil((Math.max(...logs) + 0.001) / step) * step;
    return { low, high, count: Math.max(1, Math.round((high - low) / step)) };
}

// Three axes reach farther up than down; names at the sides need their room in a narrow plot.
function placeOf(data, room) {
    const isThree = data.axes.length === 3, [width, height] = [data.width ?? 820, data.height ?? 480];
    if (!isNarrow(data)) return { center: [`${Math.round(50 - (room.right / width) * 50)}%`, isThree ? '58%' : '51%'], radius: isThree ? '78%' : '80%' };
    const side = Math.max(...data.axes.map(name => 1.15 * textWidth(shortText(name, AXIS_MOST)))), high = height - room.top - room.bottom - 40;
    const radius = Math.max(60, Math.min((width / 2 - side - 8) / 0.87, high / (isThree ? 1.5 : 2)));
    return { center: [Math.round(width / 2), Math.round(room.top + 20 + (isThree ? (high - 1.5 * radius) / 2 + radius : high / 2))], radius: Math.round(radius) };
}

/**
 * data: { axes: [name], series: [{ name, values }], log (default true), hidden, styles, … }; values
 * above zero, one per axis.
 */
export function radarChart(data, look = light) {
    const isLog = data.log !== false;
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look, { icons: 'symbols', styles });
    const visible = data.series.filter(one => !data.hidden?.has(one.name));
    const values = (visible.length > 0 ? visible : data.series).flatMap(one => one.values);
    const scale = isLog ? rings(values) : { low: 0, high: Math.max(...values) * 1.05, count: 4 };
    const back = value => (isLog ? 10 ** value : value);
    const { center, radius } = placeOf(data, room);
    return {
        ...baseOption(data, look),
        legend,
        tooltip: {
            ...baseOption(data, look).tooltip,
            trigger: 'item',
            formatter: ({ name, data: item }) => tooltipHtml(name, data.axes.map((axisName, index) => [styles.get(name).color, axisName, msText(back(item.value[index]))])),
        },
        radar: {
            center,
            radius,
            splitNumber: scale.count,
            indicator: data.axes.map((name, index) => ({
                name: shortText(name, AXIS_MOST),
                min: scale.low,
                max: scale.high,
                axisLabel: { show: index === 0, color: look.muted, fontSize: 11, formatter: value => numberText(Number(back(value).toPrecision(2))), showMinLabel: true },
            })),
            axisName: { color: look.text, fontSize: 12.5, fontWeight: 600, fontFamily: look.font },
            axisLine: { lineStyle: { color: look.line } },
            splitLine: { lineStyle: { color: look.ring } },
            splitArea: { show: false },
        },
        series: [{
            type: 'radar',
            symbolSize: 7,
            emphasis: { focus: 'self', lineStyle: { width: 4 } },
            data: data.series.map(one => {
                const style = styles.get(one.name);
                return {
                    name: one.name,
                    value: one.values.map(value => (isLog ? Math.log10(value) : value)),
                    symbol: style.symbol,
                    itemStyle: style.item,
                    lineStyle: { color: style.color, type: style.dash, width: style.width },
                    areaStyle: one.name === 'cleave' ? { color: style.color, opacity: 0.07 } : undefined,
                };
            }),
        }],
    };
}
