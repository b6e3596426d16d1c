// SPDX-License-Identifier: MIT
// Small statistics over plain arrays, and numbers as people read them.

export const isNumber = value => typeof value === 'number' && Number.isFinite(value);

/** Quantile q of sorted values, with linear interpolation. */
export function quantile(sorted, q) {
    const position = (sorted.length - 1) * q;
    const low = Math.floor(position);
    const high = Math.min(low + 1, sorted.length - 1);
    return sorted[low] + (sorted[high] - sorted[low]) * (position - low);
}

export const sortedCopy = values => [...values].sort((a, b) => a - b);
export const median = values => quantile(sortedCopy(values), 0.5);
export const geometricMean = values => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** Tukey's box: whiskers reach to the last value within 1.5 box heights; the rest are outliers. */
export function boxOf(values) {
    const sorted = sortedCopy(values);
    const [q1, middle, q3] = [0.25, 0.5, 0.75].map(q => quantile(sorted, q));
    const reach = 1.5 * (q3 - q1);
    const inside = sorted.filter(value => value >= q1 - reach && value <= q3 + reach);
    return {
        box: [inside[0], q1, middle, q3, inside[inside.length - 1]],
        outliers: sorted.filter(value => value < q1 - reach || value > q3 + reach),
    };
}

/**
 * The outline of a violin: [value, density] from the lowest to the highest value, density at most 1. A
 * Gaussian kernel in the logarithm of the value where `log`, width by Silverman's rule.
 */
export function density(values, { log = true, steps = 96 } = {}) {
    const to = log ? Math.log : value => value;
    const back = log ? Math.exp : value => value;
    const points = sortedCopy(values.map(to));
    const mean = points.reduce((sum, value) => sum + value, 0) / points.length;
    const deviation = Math.sqrt(points.reduce((sum, value) => sum + (value - mean) ** 2, 0) / points.length);
    const spread = Math.min(deviation, (quantile(points, 0.75) - quantile(points, 0.25)) / 1.34 || deviation);
    const width = Math.max(0.9 * spread * points.length ** -0.2, log ? 0.004 : 1e-9);
    const [low, high] = [points[0], points[points.length - 1]];
    const outline = Array.from({ length: steps + 1 }, (_, index) => {
        const at = low + ((high - low) * index) / steps;
        return [at, points.reduce((sum, value) => sum + Math.exp(-0.5 * ((at - value) / width) ** 2), 0)];
    });
    const most = Math.max(...outline.map(point => point[1]));
    return outline.map(([at, weight]) => [back(at), weight / most]);
}

/**
 * Exponent of the power law through [x, y] points by least squares in logarithms; null below two distinct x.
 */
export function slope(points) {
    const logs = points.filter(([x, y]) => x > 0 && y > 0).map(([x, y]) => [Math.log(x), Math.log(y)]);
    const mean = axis => logs.reduce((sum, point) => sum + point[axis], 0) / logs.length;
    const [mx, my] = [mean(0), mean(1)];
    const sxx = logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
    return logs.length >= 2 && sxx > 1e-12 ? logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / sxx : null;
}

/**
 * The exponent of a series { points, frames } as people may read it: { power, text, note }, or null where
 * there is none. Two sizes make a line of anything, so three are asked for; sizes run over different frames
 * are different work, and the text says so.
 */
export function exponentOf({ points, frames = [] }) {
    const power = new Set(points.map(([x]) => x)).size >= 3 ? slope(points) : null;
    if (power === null) return null;
    const isMixed = new Set(frames).size > 1;
    return { power, text: `${isMixed ? '~' : ''}${power.toFixed(2)}`, note: isMixed ? 'the sizes were run over different numbers of frames' : null };
}

// The 2 reach + 1 values around each, fewer at the ends.
const windows = (values, reach) => values.map((_, index) => values.slice(Math.max(0, index - reach), index + reach + 1));

export const movingAverage = (values, reach) => windows(values, reach).map(window => window.reduce((sum, value) => sum + value, 0) / window.length);

/** Lone outliers, such as a frame in which the machine did something else, leave no trace. */
export const runningMedian = (values, reach) => windows(values, reach).map(median);

/** 1, 2 and 5 times the powers of ten (powers alone beyond three decades) within [low, high]. */
export function logTicks(low, high) {
    const steps = high / low > 1500 ? [1] : [1, 2, 5];
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
        for (const step of steps) {
            const tick = Number(`${step}e${power}`);
            if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
        }
    }
    return ticks;
}

// ---- for people

/** 8000 is 8k, 1,024,000 is 1024k, 1,000,000 is 1m, 1234 is 1234: as the command line writes sizes. */
export function sizeText(size) {
    if (size >= 1e6 && size % 1e6 === 0) return `${size / 1e6}m`;
    if (size >= 1e3 && size % 1e3 === 0) return `${size / 1e3}k`;
    return String(size);
}

/** Three significant digits, without an exponent where that is readable. */
export function numberText(value) {
    if (!isNumber(value)) return '–';
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 1e15 || size < 1e-4) return value.toExponential(2);
    if (size >= 1000) return Math.round(value).toLocaleString('en-US');
    return value.toPrecision(3).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

/** Three significant digits, kept: columns of a table line up. */
export function fixedText(value) {
    if (!isNumber(value)) return '–';
    const size = Math.abs(value);
    if (size >= 1000) return Math.round(value).toLocaleString('en-US');
    return size > 0 && size < 1e-4 ? value.toExponential(1) : value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

export const msText = value => (isNumber(value) ? `${numberText(value)} ms` : '–');
export const percentText = share => (isNumber(share) ? `${numberText(100 * share)} %` : '–');

export function bytesText(bytes) {
    if (!isNumber(bytes)) return '–';
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    const power = bytes > 0 ? Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1) : 0;
    return `${numberText(bytes / 1024 ** power)} ${units[Math.max(power, 0)]}`;
}

/** At most `most` characters, the middle left out: names tell apart by both ends. */
export function shortText(text, most) {
    const points = [...text];
    if (points.length <= most) return text;
    const head = Math.ceil((most - 1) / 2);
    return `${points.slice(0, head).join('')}…${points.slice(points.length - (most - 1 - head)).join('')}`;
}
