// SPDX-License-Identifier: MIT
// Buttons, keys, pointers: everything a hand does.
import { BODY_OVERLAYS, COLOURS, FALSES, OVERLAYS, RATES } from './app.js';
import { drawCurve } from './curve.js';
import { $, grouped, make, say } from './dom.js';

const PHONE = 760; // pixels of width, as in style.css
const EITHER = '', RECORDED = 'recorded', LIVE = 'live'; // the page that has the key
const KEYS = [
    ['Space', 'play, pause'], ['← →', 'a frame back, on', RECORDED], ['→', 'the next frame', LIVE], ['Shift ← →', 'ten frames', RECORDED], ['Home End', 'first, last frame', RECORDED], ['− +', 'slower, faster', RECORDED],
    ['W A S D', 'go round the scene'], ['Q E', 'nearer, farther'], ['H', 'the whole scene again'], ['F', 'go to the selected object'],
    ['1 … 5', 'colour: touching, static, speed, size, node'], ['O B P T C', 'bodies, boxes, pairs, tree, cells'], ['K R', '18-DOPs, spheres around the bodies, where bodies are known'], ['X', 'false pairs: none, of boxes, 18-DOPs, spheres'], ['/', 'search an object by its number'],
    ['N', 'next partner of the object'], ['Esc', 'nothing selected'], ['I', 'the panel'], ['L', 'light, dark'], ['?', 'this list'],
].map(([keys, text, where = EITHER]) => ({ keys: keys.split(' '), text, where }));
const POINTER = {
    [RECORDED]: 'Drag to turn, with Shift or the right button to move, wheel or two fingers to come nearer. Click selects, a double click goes there.',
    [LIVE]: 'Drag a body to lift it, let go to throw it. Drag beside them to turn, with Shift or the right button to move, wheel or two fingers to come nearer. Click selects, a double click goes there.',
};
const LETTER = { o: 'bodies', b: 'boxes', p: 'pairs', t: 'tree', c: 'cells', k: 'dops', r: 'spheres' };
const LABEL = { dops: '18-DOPs' };
const FALSE_TEXT = ['no false pairs', 'false of boxes', 'false of 18-DOPs', 'false of spheres'];

/** `isLive`: frames are made, and there is none to go back to. */
export function addControls(app, { isLive = false } = {}) {
    addToolbar(app);
    addSearch(app);
    addHelp(isLive ? LIVE : RECORDED);
    addTransport(app);
    addPointer(app);
    addKeys(app, isLive);
}

export const isPhone = () => innerWidth <= PHONE;

function addToolbar(app) {
    const colour = $('colour');
    colour.append(...COLOURS.map(name => make('option', { value: name }, name === 'static' ? 'static or moving' : name)));
    colour.onchange = () => app.colour(colour.value);
    const buttons = OVERLAYS.map(name => make('button', { type: 'button', 'data-overlay': name, onclick: () => app.toggle(name) }, LABEL[name] ?? name));
    $('overlays').append(...buttons);
    $('falses').append(...FALSES.map((value, i) => make('option', { value }, FALSE_TEXT[i])));
    $('falses').onchange = () => app.falses($('falses').value);
    const mark = () => {
        colour.value = COLOURS[app.show.colour];
        $('falses').value = FALSES[app.show.falses];
        for (const button of buttons) button.setAttribute('aria-pressed', String(app.show[button.dataset.overlay]));
        $('theme').textContent = app.theme.name() === 'dark' ? '☀' : '☾';
    };
    // What needs bodies is there where bodies are.
    app.addEventListener('frame', () => {
        if ($('falses').hidden === !app.hasBodies) return;
        for (const button of buttons) button.hidden = BODY_OVERLAYS.includes(button.dataset.overlay) && !app.hasBodies;
        $('falses').hidden = !app.hasBodies;
    });
    for (const button of buttons) button.hidden = BODY_OVERLAYS.includes(button.dataset.overlay);
    app.addEventListener('show', mark);
    app.addEventListener('look', mark);
    mark();
    $('theme').onclick = () => app.theme.turn();
    $('panel-button').onclick = () => showPanel(app, $('panel').hidden);
    $('panel-close').onclick = () => showPanel(app, false);
    $('tools-button').onclick = () => showTools(app, $('tools').hidden);
    // A telephone begins with the scene, and what covers none of it.
    const fold = () => { if (isPhone()) showPanel(app, false); showTools(app, !isPhone()); };
    matchMedia(`(max-width: ${PHONE}px)`).addEventListener('change', fold);
    fold();
}

// ---- the help

function addHelp(page) {
    $('keys').append(...KEYS.filter(({ where }) => where === EITHER || where === page).flatMap(({ keys, text }) => [make('dt', {}, keys.map(key => [key === '…' ? key : make('kbd', {}, key), ' '])), make('dd', {}, text)]));
    $('help-pointer').textContent = POINTER[page];
    $('help-button').onclick = openHelp;
    $('help-close').onclick = () => $('help').close();
}

function openHelp() {
    $('help').showModal();
    $('help').scrollTop = 0; // a browser may have scrolled to what it gave the focus
}

// ---- the search for an object

/** What is wrong with a number that was typed, or ''. Numbers may be typed as they are shown: 1,234. */
function searchError(text, count) {
    const range = count > 1 ? `from 0 to ${grouped(count - 1)}` : '0';
    if (count === 0) return 'There is no object yet.';
    if (!/^\d[\d,]*$/.test(text)) return `“${text}” is not the number of an object: type a whole number ${range}.`;
    return Number(text.replaceAll(',', '')) < count ? '' : `There is no object ${text}: type a number ${range}.`;
}

function addSearch(app) {
    const field = $('search');
    const answer = error => {
        field.setAttribute('aria-invalid', String(error !== ''));
        $('search-error').hidden = error === '';
        say($('search-error'), error);
    };
    field.addEventListener('change', () => {
        const text = field.value.trim(), error = text === '' ? '' : searchError(text, app.source.objects);
        answer(error);
        if (error !== '') return;
        app.select(text === '' ? -1 : Number(text.replaceAll(',', '')));
        app.follow();
    });
    app.addEventListener('select', () => {
        field.value = app.selected < 0 ? '' : app.selected;
        answer('');
        if (app.selected >= 0 && !isPhone()) showPanel(app, true);
    });
}

/** What is drawn, which a telephone has no room for all the time. */
function showTools(app, visible) {
    $('tools').hidden = !visible;
    $('tools-button').setAttribute('aria-expanded', String(visible));
    app.dirty = true;
}

export function showPanel(app, visible) {
    if ($('panel').hidden === !visible) return;
    $('panel').hidden = !visible;
    $('panel-button').setAttribute('aria-expanded', String(visible));
    app.dirty = true;
    app.dispatchEvent(new CustomEvent('panel', { detail: visible }));
}

function addTransport(app) {
    const scrub = $('scrub');
    $('play').onclick = () => app.play();
    $('back').onclick = () => app.step(-1);
    $('on').onclick = () => app.step(1);
    scrub.oninput = () => {
        app.play(false);
        app.go(Number(scrub.value));
    };
    $('rate').append(...RATES.map(rate => make('option', { value: rate, selected: rate === app.rate }, `${rate} / s`)));
    $('rate').onchange = () => { app.rate = Number($('rate').value); };
    app.addEventListener('open', () => {
        scrub.max = app.source.count - 1;
        drawCourse(app);
    });
    app.addEventListener('frame', () => { if (!app.source.isLive) scrub.value = app.frame.index; });
    app.addEventListener('look', () => drawCourse(app));
    app.addEventListener('playing', () => {
        $('play').textContent = app.playing ? '❚❚' : '▶';
        $('play').setAttribute('aria-label', app.playing ? 'pause' : 'play');
    });
    // Panels and the legend change their sizes, too, not the window alone.
    new ResizeObserver(() => { drawCourse(app); app.dispatchEvent(new Event('resize')); }).observe($('course'));
    new ResizeObserver(() => { app.dirty = true; }).observe(app.stage.canvas);
}

/** Pairs frame by frame, above the slider. */
function drawCourse(app) {
    if (!app.source || app.source.isLive) return;
    const values = app.source.facts.map(({ pairs }) => pairs ?? 0), most = Math.max(...values, 1);
    const colour = getComputedStyle(document.documentElement).getPropertyValue('--course');
    drawCurve($('course'), { lines: [{ points: values.map((value, i) => [i, value]), colour, isFilled: true }], x: { from: 0, to: Math.max(values.length - 1, 1) }, y: { low: 0, high: 1.08 * most, format: grouped }, title: 'pairs' });
}

// ---- pointers: one turns, two zoom and pan; a tap selects

function addPointer(app) {
    const { canvas } = app.stage;
    const held = new Map();
    let moved = 0, spread = 0;
    const place = event => { const { left, top } = canvas.getBoundingClientRect(); return [event.clientX - left, event.clientY - top]; };
    canvas.addEventListener('pointerdown', event => {
        canvas.setPointerCapture(event.pointerId);
        held.set(event.pointerId, place(event));
        moved = 0;
        spread = 0;
        if (held.size === 1 && app.grab?.(...place(event), event)) app.isGrabbing = true;
    });
    canvas.addEventListener('pointermove', event => {
        const before = held.get(event.pointerId);
        if (!before) return;
        const now = place(event), dx = now[0] - before[0], dy = now[1] - before[1];
        held.set(event.pointerId, now);
        moved += Math.abs(dx) + Math.abs(dy);
        const height = canvas.clientHeight;
        if (app.isGrabbing) app.drag(...now);
        else if (held.size === 2) {
            const [one, two] = [...held.values()];
            const apart = Math.hypot(one[0] - two[0], one[1] - two[1]);
            if (spread > 0) app.camera.zoom(spread / apart);
            spread = apart;
            app.camera.pan(0.5 * dx / height, 0.5 * dy / height);
        } else if (event.buttons & 6 || event.shiftKey) app.camera.pan(dx / height, dy / height);
        else if (moved > 3) app.camera.orbit(3.4 * dx / height, 3.4 * dy / height);
        app.dirty = true;
    });
    const end = event => {
        const wasHeld = held.delete(event.pointerId);
        if (app.isGrabbing) {
            app.isGrabbing = false;
            app.drop?.();
        }
        if (event.type === 'pointerup' && wasHeld && moved <= 3 && held.size === 0 && app.frame) app.select(app.pickAt(...place(event)).object);
    };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('contextmenu', event => event.preventDefault());
    canvas.addEventListener('dblclick', () => app.follow());
    canvas.addEventListener('wheel', event => {
        event.preventDefault();
        app.camera.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.0014))));
        app.dirty = true;
    }, { passive: false });
}

// ---- keys

const RANGE_KEYS = ['arrowleft', 'arrowright', 'arrowup', 'arrowdown', 'home', 'end', 'pageup', 'pagedown'];

/**
 * Does what has the focus answer the key itself? Then it is no shortcut. The slider of frames
 * moves by the page's own keys.
 */
function isTaken(target, key) {
    if (!target.matches) return false;
    if (target.matches('input[type=range]')) return target.id !== 'scrub' && RANGE_KEYS.includes(key);
    if (target.matches('input, select, textarea, [contenteditable]')) return true;
    return (key === ' ' || key === 'enter') && target.matches('button, summary, a');
}

function addKeys(app, isLive) {
    const camera = change => { change(app.camera); app.dirty = true; };
    const rate = by => {
        app.rate = RATES[Math.min(Math.max(RATES.indexOf(app.rate) + by, 0), RATES.length - 1)];
        $('rate').value = app.rate;
    };
    const partner = () => {
        if (app.selected < 0) return;
        const others = [...app.ownPairs()].filter(object => object !== app.selected).sort((a, b) => a - b);
        if (others.length > 0) app.select(others.find(object => object > app.selected) ?? others[0]);
    };
    const acts = {
        ' ': () => app.play(), arrowright: event => app.step(event.shiftKey ? 10 : 1),
        ...(isLive ? {} : {
            arrowleft: event => app.step(event.shiftKey ? -10 : -1), home: () => { app.play(false); app.go(0); }, end: () => { app.play(false); app.go(app.source.count - 1); },
            '+': () => rate(1), '=': () => rate(1), '-': () => rate(-1),
        }),
        a: () => camera(eye => eye.orbit(0.12, 0)), d: () => camera(eye => eye.orbit(-0.12, 0)), w: () => camera(eye => eye.orbit(0, 0.1)), s: () => camera(eye => eye.orbit(0, -0.1)),
        q: () => camera(eye => eye.zoom(0.87)), e: () => camera(eye => eye.zoom(1.15)), h: () => app.home(), f: () => app.follow(), n: partner,
        x: () => app.falses(FALSES[(app.show.falses + 1) % FALSES.length]),
        escape: () => app.select(-1), i: () => showPanel(app, $('panel').hidden), l: () => app.theme.turn(), '?': openHelp, '/': () => { showPanel(app, true); $('search').focus(); $('search').select(); },
    };
    COLOURS.forEach((name, i) => { acts[i + 1] = () => app.colour(name); });
    for (const [key, overlay] of Object.entries(LETTER)) acts[key] = () => app.toggle(overlay);
    addEventListener('keydown', event => {
        const key = event.key.toLowerCase();
        if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
        if (isTaken(event.target, key)) {
            if (key === 'escape') event.target.blur();
            return;
        }
        const act = acts[key];
        if (!act || !app.frame) return;
        event.preventDefault();
        act(event);
    });
}
