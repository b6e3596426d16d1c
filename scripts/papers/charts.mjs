// SPDX-License-Identifier: MIT
// The charts of the papers' pages and of the studies: those that only these have, and blocks of a page around the others
// (report/src/charts).
import { axis, baseOption, legendFor, linearAxis, lineSeries, logAxis, stylesOf, textWidth } from '../../report/src/charts/frame.js';
import { ladderChart } from '../../report/src/charts/ladder.js';
import { light } from '../../report/src/look.js';
import { numberText } from '../../report/src/model/numbers.js';
import { distinct, ladder } from './runs.mjs';

const POINT_GAP = 14; // pixels from one series to the next

const gridFor = room => ({ outerBoundsMode: 'none', left: 66, right: room.right, top: room.top, bottom: 56 + room.bottom });

/**
 * Bars side by side, or points where the axis is logarithmic, which has no zero for bars to begin at: {
 * title, categories: [name], series: [{ name, values }], value, log (default true) }.
 */
export function groupChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look, { icons: 'symbols', styles });
    const values = data.series.flatMap(one => one.values).filter(value => value > 0);
    const value = data.log === false
        ? linearAxis(look, data.value, numberText, { min: 0, nameGap: 48 })
        : logAxis(look, data.value, values, numberText, { nameGap: 48, margin: 1.6 });
    return {
        ...baseOption(data, look),
        legend: data.log === false ? { ...legend, data: names.map(name => ({ name, icon: 'roundRect', itemStyle: { color: styles.get(name).color, borderWidth: 0 } })) } : legend,
        grid: gridFor(room),
        xAxis: axis(look, data.group ?? '', { type: 'category', data: data.categories, axisTick: { show: false }, splitLine: { show: false }, axisLabel: { interval: 0, lineHeight: 14 } }),
        yAxis: value,
        series: data.series.map((one, index) => (data.log === false
            ? { type: 'bar', name: one.name, data: one.values.map(height => height ?? null), barGap: '8%', itemStyle: { color: styles.get(one.name).color } }
            : { type: 'scatter', name: one.name, data: one.values.map(height => height ?? null), symbol: styles.get(one.name).symbol, symbolSize: 11, symbolOffset: [(index - (data.series.length - 1) / 2) * POINT_GAP, 0], itemStyle: { ...styles.get(one.name).item, opacity: 1 } })),
    };
}

/** Means over the points within half a step of every whole per cent. */
export function movingAverage(points, step = 0.02) {
    const out = [];
    for (let share = 0.01; share <= 0.99; share += 0.01) {
        const near = points.filter(([x]) => Math.abs(x - share) <= step).map(([, y]) => y);
        if (near.length >= 3) out.push([share, near.reduce((sum, y) => sum + y, 0) / near.length]);
    }
    return out;
}

// A picture of thousands of dots is no clearer than one of some hundreds, and far larger.
const everyFew = (points, most = 600) => points.filter((_, index) => index % Math.max(1, Math.ceil(points.length / most)) === 0);

const clampTo = (value, [low, high]) => Math.min(Math.max(value, low), high);

/**
 * Figure 10: { title, series: [{ name, points: [[share, gain]] }], clampX, clampY }. Points beyond are drawn
 * at the border; the averages know nothing of that.
 */
export function gainChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look, { icons: 'symbols', styles });
    const [xs, ys] = [data.clampX ?? [0.01, 0.99], data.clampY ?? [0.7, 1.6]];
    return {
        ...baseOption(data, look),
        legend,
        grid: gridFor(room),
        xAxis: linearAxis(look, 'static objects', share => `${Math.round(100 * share)} %`, { min: 0, max: 1 }),
        yAxis: linearAxis(look, data.value ?? 'complete / incremental', numberText, { min: ys[0], max: ys[1], nameGap: 48 }),
        series: data.series.flatMap(one => [
            {
                type: 'scatter', name: one.name, symbol: styles.get(one.name).symbol, symbolSize: 3.5, itemStyle: { color: styles.get(one.name).color, opacity: 0.22 },
                data: everyFew(one.points).map(([x, y]) => [Number(clampTo(x, xs).toFixed(4)), Number(clampTo(y, ys).toFixed(3))]),
            },
            lineSeries(`${one.name} average`, movingAverage(one.points).map(([x, y]) => [x, Number(clampTo(y, ys).toFixed(3))]), styles.get(one.name), { symbolSize: 4, lineStyle: { color: styles.get(one.name).color, width: 2 } }),
        ]),
    };
}

/**
 * Figure 9, top: how deep leaves lie, as discs whose area is their share, and how many objects are in leaves.
 * { rows: [{ leaf, depths: [share by depth], inLeaves }] }
 */
export function depthChart(data, look = light) {
    const name = 'objects in leaves';
    const styles = stylesOf(data, ['share of the leaves', name], look);
    const { legend, room } = legendFor(data, ['share of the leaves', name], look, { icons: 'symbols', styles });
    const discs = data.rows.flatMap((row, x) => row.depths.map((share, depth) => [x, depth, share]).filter(([, , share]) => share > 0.002));
    const deepest = Math.max(4, ...discs.map(([, depth]) => depth));
    return {
        ...baseOption(data, look),
        legend,
        grid: { ...gridFor(room), right: room.right + 46 },
        xAxis: axis(look, 'T', { type: 'category', data: data.rows.map(row => String(row.leaf)), splitLine: { show: false } }),
        yAxis: [
            linearAxis(look, 'depth of leaves', numberText, { min: -1, max: deepest + 1, nameGap: 40, axisLabel: { formatter: depth => (depth < 0 ? '' : String(depth)) } }),
            { ...linearAxis(look, '', share => `${Math.round(100 * share)} %`, { min: 0, max: 1, splitLine: { show: false } }), position: 'right' },
        ],
        series: [
            {
                type: 'scatter', name: 'share of the leaves', symbol: 'circle', itemStyle: { color: styles.get('share of the leaves').color, opacity: 0.65 },
                data: discs.map(([x, depth, share]) => ({ value: [x, depth], symbolSize: Number((3 + 24 * Math.sqrt(share)).toFixed(1)) })),
            },
            { ...lineSeries(name, data.rows.map((row, x) => [x, Number(row.inLeaves.toFixed(4))]), styles.get(name)), yAxisIndex: 1 },
        ],
    };
}

/** Something along the frames of a run: { series: [{ name, points: [[frame, value]] }], value, stacked }. */
export function frameChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look);
    return {
        ...baseOption(data, look),
        legend,
        grid: gridFor(room),
        xAxis: linearAxis(look, 'frame', String, { min: 0, splitLine: { show: false } }),
        yAxis: linearAxis(look, data.value, numberText, { min: 0, nameGap: 48 }),
        series: data.series.map(one => lineSeries(one.name, one.points, styles.get(one.name), {
            showSymbol: false,
            ...(data.stacked ? { stack: 'all', areaStyle: { color: styles.get(one.name).color, opacity: 0.55 }, lineStyle: { width: 0.8, color: styles.get(one.name).color } } : {}),
        })),
    };
}

/** Lines over numbers: { title, x, value, logX, logY, series: [{ name, points }] }. */
export function lineChart(data, look = light) {
    const names = data.series.map(one => one.name);
    const styles = stylesOf(data, names, look);
    const { legend, room } = legendFor(data, names, look);
    const points = data.series.flatMap(one => one.points);
    const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
    return {
        ...baseOption(data, look),
        legend,
        grid: gridFor(room),
        xAxis: data.logX ? logAxis(look, data.x, xs, numberText, { ticks: xs, margin: 1.1 }) : linearAxis(look, data.x, numberText, { min: 'dataMin', max: 'dataMax' }),
        yAxis: data.logY ? logAxis(look, data.value, points.map(([, y]) => y), numberText, { nameGap: 48 }) : linearAxis(look, data.value, numberText, { min: 0, nameGap: 48 }),
        series: data.series.map(one => lineSeries(one.name, one.points.map(([x, y]) => [x, Number(y.toPrecision(4))]), styles.get(one.name))),
    };
}

// ---- legends of files

const LEGEND_ROW = 26; // as report/src/charts/frame.js has it
const LEGEND_GAP = 10;

/**
 * { option, below }: the option with its legend below the plot in columns, and the pixels that the legend takes. Without a
 * browser ECharts guesses how wide a text is, and names of other fonts would run into each other: so each gets a width.
 */
export function inColumns(option, width) {
    const { legend, grid } = option;
    if (legend?.orient !== 'horizontal') return { option, below: 0 };
    const widest = Math.max(...legend.data.map(({ name }) => textWidth(legend.formatter(name))));
    const columns = Math.max(1, Math.floor((width - LEGEND_GAP) / (legend.itemWidth + 5 + widest + LEGEND_GAP)));
    const below = Math.ceil(legend.data.length / columns) * LEGEND_ROW + 10;
    const around = (grid?.bottom ?? 0) % LEGEND_ROW === (48 + 6) % LEGEND_ROW ? 48 : 56; // the axis and its name
    return { option: { ...option, ...(grid ? { grid: { ...grid, bottom: around + below } } : {}), legend: { ...legend, bottom: 4, textStyle: { ...legend.textStyle, width: widest } } }, below };
}

// ---- blocks of a page

/** A line per method, or per what `nameOf` says of a run: [{ name, points: [[objects, ms]] }]. */
export const seriesBy = (runs, nameOf = run => run.method) => distinct(runs.map(nameOf)).map(name => ({ name, points: ladder(runs.filter(run => nameOf(run) === name)) }));

/** Mean ms per frame by number of objects; nothing without runs. */
export function ladderFigure(figure, alt, { title, series, guides = [1], styles, height = 360 }) {
    return series.length > 0 && { figure, alt, draw: size => ladderChart({ ...size, title, series, guides, ...(styles ? { styles } : {}) }), height };
}
