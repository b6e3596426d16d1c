// SPDX-License-Identifier: MIT
// What is told in words: the status bar, the object that was clicked, the log of pairs, the legend.
import { css, falseLegend, legend } from './look.js';
import { COLOURS } from './app.js';
import { $, grouped, make, number, say, timeText } from './dom.js';
import { describeNode } from './tree.js';

const LOG_FRAMES = 40, LOG_PAIRS = 8, WORDS_EVERY = 100; // milliseconds, while it plays

/**
 * All text is updated at once, for the frame that is shown; 'words' is the event for panels that add to it.
 */
export function addPanels(app) {
    let told = 0, late = 0;
    const tell = () => {
        clearTimeout(late);
        late = 0;
        if (!app.frame) return; // another scene is on its way
        told = performance.now();
        status(app);
        inspect(app);
        note(app);
        showLegend(app);
        app.dispatchEvent(new Event('words'));
    };
    // Words sixty times a second cannot be read, and would cost more than the picture.
    const tellSoon = () => {
        if (!app.playing || performance.now() - told > WORDS_EVERY) tell();
        else late ||= setTimeout(tell, WORDS_EVERY);
    };
    app.addEventListener('frame', tellSoon);
    for (const event of ['select', 'show', 'look', 'playing', 'panel', 'resize']) app.addEventListener(event, tell);
    app.addEventListener('open', () => {
        $('log').replaceChildren();
        delete $('log').dataset.frame;
        $('trouble').hidden = true; // of the scene before
    });
    app.addEventListener('trouble', ({ detail }) => { $('trouble').hidden = false; say($('trouble'), detail); });
}

function status(app) {
    const { frame } = app, fact = app.fact();
    const last = app.source.isLive ? '' : ` of ${grouped(app.source.first + app.source.count - 1)}`;
    say($('s-frame'), `${grouped(app.number)}${last}`);
    say($('s-objects'), grouped(frame.boxes.length / 8));
    say($('s-pairs'), fact.pairs === undefined ? 'left out' : grouped(frame.pairs.length / 2));
    const { falses } = frame;
    $('s-falses').parentElement.hidden = !falses;
    if (falses) say($('s-falses'), `${grouped(falses.boxes)} of boxes · ${grouped(falses.dops)} of 18-DOPs · ${grouped(falses.spheres)} of spheres`);
    say($('s-still'), fact.still === undefined ? '–' : `${(100 * fact.still).toFixed(1)} %`);
    // Live, the mean of the last frames: a browser's clock says little of one.
    const ms = app.source.laps ? app.source.laps.stages() : fact.ms;
    say($('s-method'), app.source.isLive ? fact.rivals[0].method : 'time');
    say($('s-ms'), ms ? ['update', 'search', 'list'].map((stage, i) => `${timeText(ms[i])} ${stage}`).join(' · ') : 'not measured');
}

function row(name, value) {
    return [make('dt', {}, name), make('dd', {}, value)];
}

function inspect(app) {
    const body = $('object');
    if (app.selected < 0 || !app.frame) {
        body.replaceChildren(make('p', { class: 'hint' }, 'Click an object, or type its number above, to see its box, its speed, its pairs and its node.'));
        return;
    }
    const { boxes, infinite, tree } = app.frame, old = app.old.boxes, at = 8 * app.selected;
    const bits = infinite?.get(app.selected) ?? 0;
    const face = (offset, axis) => bits >> (offset ? 3 + axis : axis) & 1 ? (offset ? Infinity : -Infinity) : boxes[at + offset + axis];
    const corner = offset => [0, 1, 2].map(axis => number(face(offset, axis))).join(', ');
    const moved = [0, 1, 2].map(axis => 0.5 * (boxes[at + axis] + boxes[at + 4 + axis] - old[at + axis] - old[at + 4 + axis]));
    const partners = [...app.ownPairs()].filter(object => object !== app.selected);
    const node = describeNode(tree, boxes[at + 7]);
    body.replaceChildren(
        make('h2', {}, `Object ${grouped(app.selected)}`),
        make('dl', {}, row('lower', corner(0)), row('upper', corner(4)), row('sides', [0, 1, 2].map(axis => number(face(4, axis) - face(0, axis))).join(' × ')),
            row('speed', `${number(Math.hypot(...moved))} per frame`),
            row('node', node ? `${node.node}, ${node.isLeaf ? 'a leaf' : `across ${node.axis} = ${number(node.plane)}`}, depth ${node.depth}` : app.source.isLive ? 'told while the tree is drawn, or colours are by node' : 'no tree in this page')),
        make('h3', {}, partners.length === 0 ? 'Touches nothing' : `Touches ${grouped(partners.length)}`),
        make('div', { class: 'partners' }, partners.slice(0, 60).map(object => make('button', { type: 'button', class: 'chip', 'data-object': object, onclick: () => app.select(object) }, grouped(object))),
            partners.length > 60 ? make('span', { class: 'hint' }, `and ${grouped(partners.length - 60)} more`) : null));
}

function events(app, list, sign, kind) {
    const pairs = [];
    for (let i = 0; i < list.length; i += 2) {
        const own = list[i] === app.selected || list[i + 1] === app.selected;
        if (own || pairs.length < LOG_PAIRS) pairs.push({ own, text: `${list[i]}–${list[i + 1]}` });
        if (pairs.length > 4 * LOG_PAIRS) break;
    }
    pairs.sort((a, b) => b.own - a.own);
    if (pairs.length === 0) return null;
    const shown = pairs.slice(0, LOG_PAIRS);
    const more = list.length / 2 - shown.length;
    return make('div', { class: kind }, make('b', {}, `${sign} ${grouped(list.length / 2)} `), shown.map(({ own, text }) => make('span', own ? { class: 'own' } : {}, `${text} `)), more > 0 ? '…' : null);
}

/** A paragraph for each frame that was told of, the newest first. */
function note(app) {
    const log = $('log');
    if (log.dataset.frame === String(app.number) || $('panel').hidden) return;
    log.dataset.frame = app.number;
    const parts = [events(app, app.frame.begun, '+', 'begun'), events(app, app.frame.ended, '−', 'ended')].filter(Boolean);
    log.prepend(make('li', {}, make('div', { class: 'when' }, `frame ${grouped(app.number)}`), parts.length > 0 ? parts : make('div', { class: 'hint' }, 'no pair began or ended')));
    while (log.children.length > LOG_FRAMES) log.lastChild.remove();
}

function showLegend(app) {
    const look = app.theme.look(), { show } = app;
    const marks = [...legend(show.colour, look), ...treeLegend(app), ...(show.cells ? [[css(look.cell), 'cells of cleave, the fuller the stronger']] : []), ...falseLegend(show.falses, look)];
    const key = JSON.stringify(marks);
    if ($('legend').dataset.key === key) return;
    $('legend').dataset.key = key;
    $('legend').replaceChildren(...marks.map(([swatch, text]) => make('span', {}, swatch ? make('i', { style: `background: ${swatch}` }) : null, text)));
    $('legend').dataset.colour = COLOURS[show.colour];
}

/** Whose tree is drawn and coloured, and why nothing is to be seen where that is so. */
function treeLegend(app) {
    const { show, frame } = app, fact = app.fact(), isAsked = show.tree || COLOURS[show.colour] === 'node';
    if (!isAsked) return [];
    const planes = show.tree ? [['linear-gradient(90deg, rgb(219 71 77) 33%, rgb(56 173 107) 33% 66%, rgb(71 122 235) 66%)', 'planes of the tree across x, y, z']] : [];
    if (app.source.isLive && !fact.tree) return planes; // the frame that has it is on its way
    const isExtra = app.source.isLive && !fact.rivals.some(one => one?.method === fact.tree);
    const whose = isExtra ? [[null, `the tree is of ${fact.tree}, beside your two methods: only ${fact.tree} has one`]] : app.source.isLive ? [[null, `the tree is of ${fact.tree}`]] : [];
    const count = frame.tree.axes.length;
    if (count > 1) return [...planes, ...whose];
    const why = count === 0 ? 'there is no tree in this page: it was made with --no-pairs'
        : app.source.isLive ? 'too few boxes for planes: all are in one leaf' : 'the tree is a single leaf, without planes: make the page with --set kd.leaf=64';
    return [...whose, [null, why]];
}
