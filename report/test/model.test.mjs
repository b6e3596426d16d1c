// SPDX-License-Identifier: MIT
// From results to what plots ask for, and plots as SVG; node alone.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as numbers from '../src/model/numbers.js';
import { ladderOf, radarOf, readResults, readSettings, runsAt, stagesOf } from '../src/model/results.js';
import { METHODS, dark, light, stylesFor } from '../src/look.js';
import { logAxis } from '../src/charts/frame.js';
import { barChart } from '../src/charts/bars.js';
import { radarChart } from '../src/charts/radar.js';
import { groupChart } from '../../scripts/papers/page.mjs';
import { readResults as builtReader, svgFiles, svgText } from '../svg.mjs';
import { HOSTILE, fullResults, hostileResults, makeResults, makeRun, scalingResults, wrongResults } from './sample.mjs';

const model = (...results) => readResults({ files: results.map((one, index) => ({ name: `f${index}.json`, results: one })) });

test('a power law gives its exponent', () => {
    assert.ok(Math.abs(numbers.slope([1, 2, 4, 8].map(x => [x, 3 * x ** 1.5])) - 1.5) < 1e-12);
    assert.equal(numbers.slope([[1, 2]]), null);
    assert.equal(numbers.slope([[5, 2], [5, 3]]), null);
});

test('an exponent takes three sizes, and says where these are of different frames', () => {
    const points = [1000, 2000, 4000].map(x => [x, 3 * x ** 1.5]);
    assert.equal(numbers.exponentOf({ points: points.slice(0, 2), frames: [20, 20] }), null);
    assert.deepEqual(numbers.exponentOf({ points, frames: [20, 20, 20] }), { power: numbers.slope(points), text: '1.50', note: null });
    const mixed = numbers.exponentOf({ points, frames: [60, 60, 20] });
    assert.equal(mixed.text, '~1.50');
    assert.match(mixed.note, /different numbers of frames/);
    const read = model(makeResults([makeRun({}), makeRun({ objects: 2000, ms: 2 }), makeRun({ objects: 4000, ms: 4, frames: 10 })]));
    const text = svgText(svgFiles(read).find(({ name }) => name.startsWith('time-against')).option, { width: 860, height: 400 });
    assert.match(text, /n\^~1\.00/);
    const two = svgFiles(model(makeResults([makeRun({}), makeRun({ objects: 2000, ms: 2 })]))).find(({ name }) => name.startsWith('time-against'));
    assert.doesNotMatch(svgText(two.option, { width: 860, height: 400 }), /kd +n\^/);
});

test('values that were not measured are not zero, in older files too', () => {
    for (const unknown of [null, 0]) {
        const [run] = model(makeResults([makeRun({ method: 'cgal', update_ms: unknown, search_ms: unknown, tests: unknown })])).runs;
        assert.deepEqual([run.update, run.search, run.tests, stagesOf(run)], [null, null, null, []]);
    }
});

test('boxes are quartiles, and outliers are told apart', () => {
    const { box, outliers } = numbers.boxOf([5, 1, 2, 3, 4, 100]);
    assert.deepEqual(outliers, [100]);
    assert.deepEqual([box[0], box[2], box[4]], [1, 3.5, 5]);
});

test('a violin spans its values and is nowhere wider than 1, also if all are equal', () => {
    for (const values of [[1, 2, 3, 10], [2, 2, 2], [7]]) {
        const outline = numbers.density(values);
        assert.ok(Math.abs(outline[0][0] - Math.min(...values)) < 1e-9);
        assert.ok(Math.abs(outline.at(-1)[0] - Math.max(...values)) < 1e-9);
        assert.ok(outline.every(([, weight]) => weight >= 0 && weight <= 1));
    }
});

test('a running median forgets a lone outlier, an average does not', () => {
    assert.deepEqual(numbers.runningMedian([1, 1, 9, 1, 1], 1), [1, 1, 1, 1, 1]);
    assert.deepEqual(numbers.movingAverage([1, 1, 9, 1, 1], 1), [1, 11 / 3, 11 / 3, 11 / 3, 1]);
});

test('numbers read as on the command line', () => {
    assert.deepEqual([999, 1000, 8000, 1024000, 1e6, 1234].map(numbers.sizeText), ['999', '1k', '8k', '1024k', '1m', '1234']);
    assert.deepEqual([0, 0.012345, 1.5, 12.34, 1234567, NaN, null].map(numbers.numberText), ['0', '0.0123', '1.5', '12.3', '1,234,567', '–', '–']);
    assert.deepEqual([512, 4 * 2 ** 20].map(numbers.bytesText), ['512 B', '4 MiB']);
    assert.equal(numbers.shortText('abcdefghij', 5), 'ab…ij');
});

test('a logarithmic axis has labels inside its ends, however narrow', () => {
    for (const values of [[1, 1000], [0.011, 0.012], [5, 5], []]) {
        const axis = logAxis(light, '', values, String);
        assert.ok(axis.axisLabel.customValues.length >= 2, String(values));
        assert.ok(axis.axisLabel.customValues.every(value => value >= axis.min * 0.99 && value <= axis.max * 1.01));
    }
});

test('labels say what is not as usual', () => {
    const { labels } = model(makeResults([makeRun({}), makeRun({ variant: 'scalar' }), makeRun({ threads: 4 }), makeRun({ method: 'bvh-d', variant: 'plain' }),
        makeRun({ fat: true }), makeRun({ settings: 'kd.leaf=256' })]));
    assert.deepEqual(new Set(labels), new Set(['kd', 'kd@scalar', 'kd ×4', 'bvh-d', 'kd fat', 'kd kd.leaf=256']));
});

test('the same run in two files makes two series', () => {
    assert.deepEqual(model(makeResults([makeRun({})]), makeResults([makeRun({ ms: 2 })])).labels, ['kd · f0.json', 'kd · f1.json']);
    assert.deepEqual(model(makeResults([makeRun({})]), makeResults([makeRun({ objects: 2000 })])).labels, ['kd']);
});

test('files that merely overlap complete each other', () => {
    const ladder = [1000, 2000, 4000].map(objects => makeRun({ objects }));
    const read = model(makeResults(ladder), makeResults([makeRun({ objects: 4000, ms: 7 }), makeRun({ objects: 8000 }), makeRun({ objects: 16000 })]));
    assert.deepEqual(read.labels, ['kd']);
    assert.deepEqual(ladderOf(read, 'brownian', run => run.median)[0].points, [[1000, 1], [2000, 1], [4000, 1], [8000, 1], [16000, 1]]);
    const three = model(makeResults(ladder), makeResults(ladder), makeResults([makeRun({ objects: 8000 })]));
    assert.deepEqual(new Set(three.labels), new Set(['kd', 'kd · f0.json', 'kd · f1.json']));
});

test('settings are read from text and from objects', () => {
    assert.deepEqual(readSettings('kd.leaf=256,kd.static=0.6'), [['kd.leaf', 256], ['kd.static', 0.6]]);
    assert.deepEqual(readSettings({ b: 2, a: 1, c: 'x' }), [['a', 1], ['b', 2]]);
    assert.deepEqual(readSettings(null), []);
});

test('a sweep is a plot of its own and stays out of the others', () => {
    const full = model(fullResults());
    assert.equal(full.sweeps.length, 1);
    assert.equal(full.sweeps[0].parameter, 'kd.leaf');
    assert.deepEqual(full.sweeps[0].series[0].points.map(point => point[0]), [32, 64, 128, 256, 512]);
    assert.ok(full.labels.every(label => !label.includes('kd.leaf')));
});

test('two swept parameters make one plot each, with a line per value of the other', () => {
    const runs = [1, 2, 4].flatMap(a => [10, 20, 40].map(b => makeRun({ settings: `kd.a=${a},kd.b=${b}`, ms: a + b })));
    const { sweeps } = model(makeResults(runs));
    assert.deepEqual(sweeps.map(sweep => [sweep.parameter, sweep.series.length]).sort(), [['kd.a', 3], ['kd.b', 3]]);
    assert.equal(new Set(sweeps[0].series.map(one => one.name)).size, 3);
});

test('a ladder has a point per size, in order', () => {
    const ladder = ladderOf(model(fullResults()), 'brownian', run => run.median);
    assert.equal(ladder.length, 23);
    assert.equal(ladder[0].name, 'cleave');
    assert.deepEqual(ladder[0].points.map(point => point[0]), [1000, 2000, 4000, 8000]);
});

test('the radar takes the largest size that most scenes share, and only methods that ran everywhere', () => {
    const runs = ['a', 'b', 'c'].flatMap(scene => [makeRun({ scene, objects: 2000 }), makeRun({ scene, objects: 2000, method: 'sap' })]);
    const { size, axes, series } = radarOf(model(makeResults([...runs.slice(0, 5), makeRun({ scene: 'a', objects: 9000 })])), run => run.median);
    assert.equal(size, 2000);
    assert.deepEqual(axes, ['a', 'b', 'c']);
    assert.deepEqual(series.map(one => one.name), ['kd']);
    assert.equal(radarOf(model(makeResults([makeRun({})])), run => run.median), null);
});

test('hashes that differ are seen, across files too', () => {
    assert.ok(model(fullResults()).hashes.every(group => group.agrees));
    const [wrong] = model(wrongResults()).hashes;
    assert.equal(wrong.agrees, false);
    assert.deepEqual(wrong.hashes.map(({ runs }) => runs.length), [2, 1]);
    assert.equal(model(makeResults([makeRun({})]), makeResults([makeRun({ pairs_hash: '0x00000000000000bb' })])).hashes[0].agrees, false);
});

test('other windows and grown boxes are not compared', () => {
    const other = makeRun({ method: 'sap', pairs_hash: '0x00000000000000bb' });
    assert.equal(model(makeResults([makeRun({}), { ...other, fat: true }])).hashes.length, 1);
    assert.equal(model(makeResults([makeRun({}), { ...other, frame_static: other.frame_static.map(() => 0.9) }])).hashes.length, 2);
});

test('what has no result is listed, not drawn', () => {
    const full = model(fullResults());
    assert.deepEqual(full.failed.map(run => run.status).sort(), ['failed', 'timeout', 'unavailable']);
    assert.ok(!full.labels.includes('hangs'));
});

test('stages are update and search, or what the counters time', () => {
    const [run] = model(makeResults([makeRun({})])).runs;
    assert.deepEqual(stagesOf(run).map(([name]) => name), ['update', 'search']);
    const [counted] = model(makeResults([makeRun({ counters: { sort_ms: 0.2, sweep_ms: 0.3, nodes: 7 } })])).runs;
    assert.deepEqual(stagesOf(counted), [['sort', 0.2], ['sweep', 0.3]]);
});

test('members of the wrong kind, nothing, and one run are no obstacle', () => {
    const odd = makeRun({ frame_ms: 'x', frame_static: [null, {}, 'a'], counters: [1], update_ms: {}, memory_bytes: '9', threads: null, settings: [], type: 7 });
    for (const results of [makeResults([odd]), makeResults([]), makeResults([makeRun({ ms: 0 })]), { runs: [] }]) {
        for (const { option, width, height } of svgFiles(model(results))) assert.match(svgText(option, { width, height }), /^<svg/);
    }
});

// OKLab, by Ottosson (2020): distances there are about those people see.
function oklab(hex) {
    const [r, g, b] = [1, 3, 5].map(place => parseInt(hex.slice(place, place + 2), 16) / 255).map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    const [l, m, s] = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]]
        .map(([x, y, z]) => Math.cbrt(x * r + y * g + z * b));
    return [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099], [0.0259040371, 0.7827717662, -0.8086757660]]
        .map(([x, y, z]) => x * l + y * m + z * s);
}

test('every method has a colour of its own that people tell apart, on either ground', () => {
    for (const look of [light, dark]) {
        const names = ['cleave', ...METHODS];
        const colors = [...stylesFor(names, look).values()].map(({ color }) => color);
        for (const [index, color] of colors.entries()) {
            for (const other of [look.panel, ...colors.slice(0, index)]) {
                const distance = Math.hypot(...oklab(color).map((value, axis) => value - oklab(other)[axis]));
                assert.ok(distance > 0.09, `${look.name}: ${color} and ${other}: ${distance.toFixed(3)}`);
            }
        }
    }
});

test('a method has one colour whatever it stands beside, and so have its runs with other threads, settings or files', () => {
    const colorsOf = names => new Map([...stylesFor(names, light)].map(([name, { color }]) => [name, color]));
    const alone = colorsOf(['sap']).get('sap');
    for (const names of [['cleave', 'kd', 'sap'], ['sap', 'mine'], ['mine', 'other', 'sap'], [...METHODS]]) assert.equal(colorsOf(names).get('sap'), alone, String(names));
    const labels = ['sap', 'sap@scalar', 'sap ×4', 'sap grid.cell=8', 'sap · before.json', 'sap, threads'], styles = stylesFor(['cleave', ...labels], light);
    assert.deepEqual(new Set(labels.map(label => styles.get(label).color)), new Set([alone]));
    assert.equal(new Set(labels.map(label => JSON.stringify([styles.get(label).dash, styles.get(label).symbol, styles.get(label).item]))).size, labels.length);
    assert.equal(stylesFor(['cleave ×4'], light).get('cleave ×4').color, light.ink);
    assert.notEqual(colorsOf(['kd', 'mine']).get('mine'), colorsOf(['kd', 'mine']).get('kd'));
    assert.equal(new Set(colorsOf(['one of a kind', 'one of another', 'sap']).values()).size, 3);
});

test('a file shows the whole legend, however many names', () => {
    const runs = Array.from({ length: 60 }, (_, index) => [1000, 2000, 4000].map(objects => makeRun({ method: `a-method-of-many-words-${index}`, objects, ms: 1 + index }))).flat();
    const plot = svgFiles(model(makeResults(runs))).find(({ name }) => name.startsWith('time-against'));
    const text = svgText(plot.option, plot);
    for (let index = 0; index < 60; ++index) assert.ok(text.includes(`words-${index} `), `${index}`);
});

test('56 names, 56 looks', () => {
    const styles = stylesFor(Array.from({ length: 56 }, (_, index) => `m${index}`), light);
    assert.equal(new Set([...styles.values()].map(({ color, dash, symbol, item }) => JSON.stringify([color, dash, symbol, item]))).size, 56);
});

test('every plot of full results becomes an SVG file of its own', () => {
    const files = svgFiles(builtReader({ files: [{ name: 'full.json', results: fullResults() }] }));
    assert.equal(new Set(files.map(({ name }) => name)).size, files.length);
    for (const start of ['radar', 'time-against', 'memory', 'violins', 'boxes', 'along', 'stages', 'kd.leaf']) assert.ok(files.some(({ name }) => name.startsWith(start)), start);
    for (const { option, width, height } of files) {
        const text = svgText(option, { width, height });
        assert.match(text, /^<svg[^>]*width="860"/);
        assert.ok(!/NaN|Infinity|undefined/.test(text), option.title.text);
    }
});

test('a bar begins at zero: on a logarithmic axis values are points', () => {
    const isLog = axis => [axis].flat().some(one => one?.type === 'log');
    const rows = [['kd', 1], ['sap', 300]].map(([name, value]) => ({ name, value, low: value / 2, high: value * 2 }));
    for (const log of [true, false]) {
        const option = barChart({ rows, value: 'ms', log, whiskers: true });
        assert.equal(option.series.some(one => one.type === 'bar'), !log);
        assert.equal(option.series[0].data.length, 2);
        const group = groupChart({ title: 'x', categories: ['a', 'b'], series: [{ name: 'kd', values: [1, 300] }, { name: 'sap', values: [2, null] }], value: 'ms', log });
        assert.equal(group.series.some(one => one.type === 'bar'), !log);
    }
    for (const { name, option } of svgFiles(builtReader({ files: [{ name: 'full.json', results: fullResults() }] }))) {
        assert.ok(!(option.series.some(one => one.type === 'bar') && (isLog(option.xAxis) || isLog(option.yAxis))), name);
    }
});

test('a title is whole, however long, on white', () => {
    const title = `time against objects: ${'a scene of many words '.repeat(12)}${'x'.repeat(200)} end`;
    for (const width of [360, 860]) {
        const option = barChart({ rows: [{ name: 'kd', value: 1 }], value: 'ms', title, width });
        assert.equal(option.title.text.replace(/\s/g, ''), title.replace(/\s/g, ''));
        assert.ok(option.grid.top >= 20 * option.title.text.split('\n').length);
        assert.match(svgText(option, { width, height: 600 }), /<rect[^>]*fill="#ffffff"/);
    }
});

test('hostile names neither leave the folder nor become markup in an SVG', () => {
    const files = svgFiles(builtReader({ files: [{ name: '../x', results: hostileResults() }] }));
    assert.ok(files.length > 0);
    for (const { name, option, width, height } of files) {
        assert.match(name, /^[a-z0-9][a-z0-9.-]*\.svg$/);
        assert.ok(!/<(img|script)/i.test(svgText(option, { width, height })));
    }
    assert.match(svgText(radarChart({ axes: [HOSTILE, 'b', 'c'], series: [{ name: HOSTILE, values: [1, 2, 3] }] })), /&lt;/);
});

test('one run per label where windows of several lengths meet', () => {
    const read = model(makeResults([makeRun({ frames: 10, ms: 5 }), makeRun({ frames: 20, ms: 3 })]));
    assert.deepEqual(runsAt(read, 'brownian', 1000).map(run => run.median), [3]);
});

test('more workers: speed-up of one world, efficiency of one that grows; processes that share nothing are neither', () => {
    const read = model(scalingResults());
    assert.deepEqual(read.scalings.map(({ kind, objects, series }) => [kind, objects, series.map(one => [one.name, one.points.length])]), [
        ['strong', 16e6, [['cleave, processes', 5], ['cleave, threads', 5]]],
        ['weak', 1e6, [['cleave, processes', 5]]],
    ]);
    const [strong, weak] = read.scalings;
    assert.ok(Math.abs(strong.series[0].points[4][1] - 16 ** 0.9) < 1e-9);
    assert.ok(Math.abs(strong.series[1].points[2][1] - 4 ** 0.95) < 1e-9);
    assert.ok(Math.abs(weak.series[0].points[3][1] - 101 / 108) < 1e-9);
    assert.ok(read.hashes.every(group => group.agrees));
    assert.ok(read.labels.includes('cleave on 4') && read.labels.includes('cleave 16 alone'));
    const files = svgFiles(read).filter(({ name }) => name.includes('scaling'));
    assert.deepEqual(files.map(({ name }) => name), ['strong-scaling-brownian-free-16m.svg', 'weak-scaling-brownian-free-1m.svg']);
    for (const { option } of files) assert.match(svgText(option, { width: 860, height: 400 }), /processes, or threads/);
    assert.deepEqual(model(fullResults()).scalings, []);
    assert.deepEqual(model(makeResults([makeRun({}), makeRun({ threads: 2, ms: 0.6 })])).scalings, []);
});
