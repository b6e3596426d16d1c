// SPDX-License-Identifier: MIT
// Something against the number of objects, both logarithmic: a power law is a line, and its
// exponent stands in the legend.
import { exponentOf, numberText, sizeText } from '../model/numbers.js';
import { light } from '../look.js';
import { baseOption, legendFor, lineSeries, logAxis, stylesOf, tooltipHtml } from './frame.js';

// Nothing where the exponent says nothing.
const exponents = (series, isWanted) => new Map(series.map(one => [one.name, isWanted ? exponentOf(one) : null]));

// Marks at the sizes measured, unless they would crowd.
function sizeTicks(sizes) {
    if (sizes.length <= 14) return sizes;
    return sizes.filter((_, index) => index % Math.ceil(sizes.length / 12) === 0);
}

/**
 * data: { series: [{ name, points: [[objects, value]], frames }], value: 'ms per frame', format,
 * slopes (default true), guides: [1, 2], hidden, styles, … } Guides are faint lines of the exponents
 * given, through the lower left.
 */
export function ladderChart(data, look = light) {
    const { series } = data;
    const names = series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const format = data.format ?? numberText;
    const visible = series.filter(one => !data.hidden?.has(one.name));
    const points = (visible.length > 0 ? visible : series).flatMap(one => one.points);
    const sizes = [...new Set(series.flatMap(one => one.points.map(point => point[0])))].sort((a, b) => a - b);
    const powers = exponents(series, data.slopes !== false);
    const { legend, room } = legendFor(data, names, look, {
        formatter: (name, short) => (powers.get(name) === null ? short : `${short}   n^${powers.get(name).text}`),
    });
    return {
        ...baseOption(data, look),
        legend,
        grid: { outerBoundsMode: 'none', left: 66, right: room.right, top: room.top, bottom: 48 + room.bottom },
        tooltip: {
            ...baseOption(data, look).tooltip,
            trigger: 'item',
            formatter: ({ seriesName, value }) => tooltipHtml(seriesName, [
                [styles.get(seriesName).color, `${sizeText(value[0])} objects`, `${format(value[1])} ${data.unit ?? ''}`.trim()],
                ...(powers.get(seriesName) ? [[null, 'exponent', powers.get(seriesName).text]] : []),
                ...(powers.get(seriesName)?.note ? [[null, powers.get(seriesName).note, '~']] : []),
            ]),
        },
        xAxis: logAxis(look, data.xName ?? 'objects', sizes, sizeText, { ticks: sizeTicks(sizes), margin: 1.12 }),
        yAxis: logAxis(look, data.value ?? 'ms per frame', points.map(point => point[1]), format, { nameGap: 48 }),
        series: [
            ...series.map(one => lineSeries(one.name, one.points, styles.get(one.name), {
                z: one.name === 'cleave' ? 4 : 3,
            })),
            ...guideSeries(data.guides ?? [], sizes, points, look),
        ],
    };
}

// From the lowest point at the smallest size; the axes clip what leaves them.
function guideSeries(guides, sizes, points, look) {
    if (sizes.length < 2 || points.length === 0) return [];
    const low = Math.min(...points.map(point => point[1]));
    const high = Math.max(...points.map(point => point[1]));
    const [first, last] = [sizes[0], sizes[sizes.length - 1]];
    return guides.map(power => {
        const end = Math.min(last, first * (high / low) ** (1 / power));
        return {
            type: 'line',
            name: power === 1 ? 'n' : `n^${power}`,
            data: [[first, low], [end, low * (end / first) ** power]],
            symbol: 'none',
            silent: true,
            z: 1,
            lineStyle: { color: look.line, type: [1, 4], width: 1.5 },
            endLabel: { show: true, formatter: power === 1 ? '∝ n' : '∝ n²', color: look.muted, fontSize: 11, distance: 4 },
            tooltip: { show: false },
        };
    });
}
