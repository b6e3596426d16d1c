// SPDX-License-Identifier: MIT
// What is told in words: the status bar, the object that was clicked, the log of pairs, the legend.
import { falseLegend, legend } from './look.js';
import { COLOURS } from './app.js';
import { $, grouped, make, milliseconds, number, say } from './dom.js';
import { describeNode } from './tree.js';

const LOG_FRAMES = 40, LOG_PAIRS = 8, WORDS_EVERY = 100; // milliseconds, while it plays

export function addPanels(app) {
    let told = 0, late = 0;
    const tell = () => {
        late = 0;
        if (!app.frame) return; // another scene is on its way
        told = performance.now();
        status(app);
        inspect(app);
        if ($('legend').dataset.colour === undefined) showLegend(app);
    };
    // Words sixty times a second cannot be read, and would cost more than the picture.
    const tellSoon = () => {
        if (!app.playing || performance.now() - told > WORDS_EVERY) tell();
        else late ||= setTimeout(tell, WORDS_EVERY);
    };
    app.addEventListener('frame', () => { note(app); tellSoon(); });
    for (const event of ['select', 'show', 'look', 'playing', 'open']) app.addEventListener(event, () => { if (app.frame) { tell(); showLegend(app); } });
    app.addEventListener('open', () => $('log').replaceChildren());
    app.addEventListener('trouble', ({ detail }) => { $('trouble').hidden = false; say($('trouble'), detail); });
}

function status(app) {
    const { frame } = app, fact = app.fact();
    const last = app.source.isLive ? '' : ` of ${grouped(app.source.first + app.source.count - 1)}`;
    say($('s-frame'), `${grouped(app.number)}${last}`);
    say($('s-objects'), grouped(app.source.objects));
    say($('s-pairs'), fact.pairs === undefined ? 'left out' : grouped(frame.pairs.length / 2));
    const { falses } = frame;
    $('s-falses').parentElement.hidden = !falses;
    if (falses) say($('s-falses'), `${grouped(falses.boxes)} of boxes · ${grouped(falses.dops)} of 18-DOPs · ${grouped(falses.spheres)} of spheres`);
    say($('s-still'), fact.still === undefined ? '–' : `${(100 * fact.still).toFixed(1)} %`);
    say($('s-ms'), fact.ms ? `${milliseconds(fact.ms[0])} update · ${milliseconds(fact.ms[1])} search · ${milliseconds(fact.ms[2])} list` : 'not measured');
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
            row('node', node ? `${node.node}, ${node.isLeaf ? 'a leaf' : `across ${node.axis} = ${number(node.plane)}`}, depth ${node.depth}` : 'no tree in this page')),
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

/** A paragraph for each frame that was seen, the newest first. */
function note(app) {
    const log = $('log');
    if (log.dataset.frame === String(app.number) || !app.frame) return;
    log.dataset.frame = app.number;
    if ($('panel').hidden || (app.playing && performance.now() - (log.last ?? 0) < WORDS_EVERY)) return;
    log.last = performance.now();
    const parts = [events(app, app.frame.begun, '+', 'begun'), events(app, app.frame.ended, '−', 'ended')].filter(Boolean);
    log.prepend(make('li', {}, make('div', { class: 'when' }, `frame ${grouped(app.number)}`), parts.length > 0 ? parts : make('div', { class: 'hint' }, 'no pair began or ended')));
    while (log.children.length > LOG_FRAMES) log.lastChild.remove();
}

function showLegend(app) {
    $('legend').replaceChildren(...[...legend(app.show.colour, app.theme.look()), ...falseLegend(app.show.falses, app.theme.look())].map(([swatch, text]) => make('span', {}, make('i', { style: `background: ${swatch}` }), text)));
    $('legend').dataset.colour = COLOURS[app.show.colour];
}
