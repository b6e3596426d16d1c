// SPDX-License-Identifier: MIT
// The page: reads the results in it and puts the parts together. What is hidden in one
// legend is hidden everywhere.
import { dark, light, stylesFor } from '../look.js';
import { geometricMean, numberText } from '../model/numbers.js';
import { isOurs, readResults, runsAt } from '../model/results.js';
import { choice, h } from './dom.js';
import { FIRST_LINES } from './figure.js';
import { scalingSection } from './scaling.js';
import { makeTheme } from './theme.js';
import { ladderSection, memorySection, radarSection, sweepSection } from './sections.js';
import { oneSceneSection } from './one_scene.js';
import { alarmSection, failureSection, hashSection, machineSection, runSection } from './records.js';

const THEIRS = 3; // of those shown at first, if there are as many that are not ours

/** cleave, the fastest that are not ours, and then the fastest of all. */
function shownFirst(model) {
    const order = fastest(model, Infinity), theirs = new Set(model.runs.filter(run => !isOurs(run.method)).map(run => run.label));
    return new Set([...new Set([...order.filter(label => label === 'cleave'), ...order.filter(label => theirs.has(label)).slice(0, THEIRS), ...order])].slice(0, FIRST_LINES));
}

function makeApp(model) {
    const styles = new Map();
    const app = {
        model,
        figures: [],
        hidden: new Set(),
        labels: new Set(model.labels),
        measure: 'median',
        marks: [],
        styles: look => {
            if (!styles.has(look.name)) styles.set(look.name, stylesFor(model.labels, look));
            return styles.get(look.name);
        },
        redraw: () => app.figures.forEach(draw => draw()),
        setHidden: (label, isHidden) => {
            app.hidden[isHidden ? 'add' : 'delete'](label);
            app.refresh();
        },
        refresh: () => {
            app.marks.forEach(paint => paint());
            app.redraw();
        },
        // A name with its colour, in tables.
        mark: label => {
            const colors = [light, dark].map(look => app.styles(look).get(label)?.color ?? look.muted);
            return h('span', { class: 'mark' }, h('i', { class: 'dot', 'aria-hidden': 'true', style: `--light:${colors[0]};--dark:${colors[1]}` }), label);
        },
    };
    return app;
}

// ---- which methods are shown

// By the geometric mean of how far behind the best they are, over all places where they ran.
function fastest(model, count) {
    const ratios = new Map();
    for (const scene of model.scenes) {
        for (const size of scene.sizes) {
            const runs = runsAt(model, scene.name, size);
            const best = Math.min(...runs.map(run => run.median));
            for (const run of runs) ratios.set(run.label, [...(ratios.get(run.label) ?? []), run.median / best]);
        }
    }
    return [...ratios].map(([label, list]) => [label, geometricMean(list)]).sort((a, b) => a[1] - b[1]).slice(0, count).map(([label]) => label);
}

function methodPanel(app) {
    const chips = app.model.labels.map(label => {
        const chip = h('button', { type: 'button', class: 'chip', title: label, onclick: () => app.setHidden(label, !app.hidden.has(label)) }, app.mark(label));
        app.marks.push(() => chip.setAttribute('aria-pressed', String(!app.hidden.has(label))));
        return chip;
    });
    const show = labels => {
        app.hidden = new Set(app.model.labels.filter(label => !labels.includes(label)));
        app.refresh();
    };
    const count = h('span', { class: 'label', id: 'shown' });
    app.marks.push(() => { count.textContent = `${app.model.labels.length - app.hidden.size} of ${app.model.labels.length} are shown`; });
    const preset = (text, labels) => h('button', { type: 'button', class: 'preset', onclick: () => show(labels()) }, text);
    return h('div', { class: 'methods' }, h('div', { class: 'presets' }, h('span', { class: 'label' }, 'Show'),
        preset('all', () => app.model.labels), preset(`the fastest ${FIRST_LINES}`, () => fastest(app.model, FIRST_LINES)), preset('none', () => []), count), h('div', { class: 'chips' }, chips),
    app.model.labels.length > FIRST_LINES ? h('p', { class: 'about' }, `Plots begin with ${FIRST_LINES} methods: cleave, up to ${THEIRS} that are not ours, and the fastest of the rest. A click on a name shows or hides it in every plot; tables hold all.`)
        : h('p', { class: 'about' }, 'A click on a name hides it in every plot, or shows it again; tables hold all.'));
}

// ---- the top

const card = (value, name, kind = '') => h('div', { class: `card ${kind}` }, h('b', {}, value), h('span', {}, name));
const plural = (count, one, many = `${one}s`) => `${count === 1 ? one : many}`;

function summary(model) {
    const ok = model.all.filter(run => run.status === 'ok').length;
    const bad = model.hashes.filter(group => !group.agrees).length;
    const broken = model.failed.filter(run => run.status !== 'unavailable').length;
    const missing = model.failed.length - broken;
    return h('div', { class: 'cards' },
        card(String(model.scenes.length), plural(model.scenes.length, 'scene')),
        card(String(model.labels.length), plural(model.labels.length, 'method')),
        card(numberText(ok), plural(ok, 'run')),
        broken > 0 ? card(String(broken), 'failed or timed out', 'warn') : null,
        missing > 0 ? card(String(missing), 'unavailable') : null,
        model.hashes.length === 0 ? null : bad > 0 ? card(`${bad} of ${model.hashes.length}`, 'scenes and sizes disagree on the pairs', 'bad')
            : card(`${model.hashes.length} of ${model.hashes.length}`, `pairs agree in every scene and size`, 'good'));
}

function machineLine(model) {
    const facts = model.files.map(({ machine, version }) => [machine.cpu, Number.isFinite(machine.cores) ? `${machine.cores} ${plural(machine.cores, 'core')}` : null, machine.isa, machine.compiler, machine.system, machine.gpu,
        version ? `cleave ${version}` : null].filter(fact => typeof fact === 'string' && fact !== '').join(' · '));
    return [...new Set(facts.filter(Boolean))];
}

function navigation(sections) {
    return h('nav', { 'aria-label': 'sections' }, sections.map(part => h('a', { href: `#${part.id}` }, part.dataset.short ?? part.querySelector('h2').textContent)));
}

const SHORT = { alarm: 'Disagreement', time: 'Time', radar: 'Radar', scene: 'One scene', memory: 'Memory', sweeps: 'Parameters', scaling: 'More workers', hashes: 'Agreement', failures: 'Without result', machine: 'Machine', runs: 'Runs' };

export function start() {
    const model = readResults(JSON.parse(document.getElementById('results').textContent));
    const app = makeApp(model);
    const theme = makeTheme(() => app.refresh());
    app.look = theme.look;
    app.hidden = new Set(model.labels.filter(label => !shownFirst(model).has(label)));
    const sections = [alarmSection, ladderSection, radarSection, oneSceneSection, memorySection, sweepSection, scalingSection, hashSection, failureSection, machineSection, runSection]
        .map(make => make(app)).filter(Boolean);
    for (const part of sections) part.dataset.short = SHORT[part.id] ?? '';
    const measure = choice('measure', ['median', 'mean', 'min', 'p99'].map(value => ({ text: value, value })), app.measure, value => {
        app.measure = value;
        app.redraw();
    });
    const titles = [...new Set(model.scenes.map(scene => scene.name))];
    document.title = `Cleave: ${titles.slice(0, 3).join(', ') || 'no runs'}${titles.length > 3 ? ' …' : ''}`;
    document.getElementById('page').append(
        h('header', {}, h('div', { class: 'title' }, h('h1', {}, 'Cleave ', h('span', {}, 'measurements')), theme.control),
            machineLine(model).map(line => h('p', { class: 'machine' }, line)), summary(model)),
        h('div', { class: 'bar' }, navigation(sections), h('div', { class: 'measure' }, h('span', { class: 'label' }, 'Times are'), measure)),
        model.labels.length > 1 ? methodPanel(app) : '',
        model.all.length === 0 ? h('p', { class: 'note' }, 'The results hold no runs. Measure some: cleave bench … --json results.json') : '',
        ...sections,
        document.getElementById('licences'));
    app.refresh();
}
