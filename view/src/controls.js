// SPDX-License-Identifier: MIT
// Buttons, keys, pointers: everything a hand does.
import { BODY_OVERLAYS, COLOURS, FALSES, OVERLAYS, RATES } from './app.js';
import { $, make } from './dom.js';

const KEYS = [
    ['Space', 'play, pause'], ['← →', 'a frame back, on'], ['Shift ← →', 'ten frames'], ['Home End', 'first, last frame'], ['− +', 'slower, faster'],
    ['W A S D', 'go round the scene'], ['Q E', 'nearer, farther'], ['H', 'the whole scene again'], ['F', 'go to the selected object'],
    ['1 … 5', 'colour: touching, static, speed, size, node'], ['O B P T C', 'bodies, boxes, pairs, tree, cells'], ['K R', '18-DOPs, spheres around the bodies'], ['X', 'false pairs: none, of boxes, 18-DOPs, spheres'], ['/', 'search an object by its number'],
    ['N', 'next partner of the object'], ['Esc', 'nothing selected'], ['I', 'the panel'], ['L', 'light, dark'], ['?', 'this list'],
];
const LETTER = { o: 'bodies', b: 'boxes', p: 'pairs', t: 'tree', c: 'cells', k: 'dops', r: 'spheres' };
const LABEL = { dops: '18-DOPs' };
const FALSE_TEXT = ['no false pairs', 'false of boxes', 'false of 18-DOPs', 'false of spheres'];

export function addControls(app) {
    addToolbar(app);
    addTransport(app);
    addPointer(app);
    addKeys(app);
}

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
    $('help-button').onclick = () => $('help').showModal();
    $('help-close').onclick = () => $('help').close();
    $('keys').append(...KEYS.flatMap(([keys, text]) => [make('dt', {}, keys.split(' ').filter(Boolean).map(key => [make('kbd', {}, key), ' '])), make('dd', {}, text)]));
    $('search').addEventListener('change', event => {
        const text = event.target.value.trim();
        const good = text === '' || (/^\d+$/.test(text) && app.select(Number(text)));
        if (text === '') app.select(-1);
        event.target.setAttribute('aria-invalid', String(!good));
        if (good && text !== '') app.follow();
    });
    app.addEventListener('select', () => {
        $('search').value = app.selected < 0 ? '' : app.selected;
        $('search').setAttribute('aria-invalid', 'false');
        if (app.selected >= 0 && innerWidth > 760) showPanel(app, true);
    });
    if (innerWidth <= 760) showPanel(app, false);
}

export function showPanel(app, visible) {
    $('panel').hidden = !visible;
    $('panel-button').setAttribute('aria-expanded', String(visible));
    app.dirty = true;
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
    new ResizeObserver(() => { drawCourse(app); app.dirty = true; }).observe(document.body);
}

/** Pairs frame by frame, behind the slider. */
function drawCourse(app) {
    const canvas = $('course');
    if (!app.source || app.source.isLive || canvas.clientWidth === 0) return;
    const values = app.source.facts.map(({ pairs }) => pairs ?? 0), most = Math.max(...values, 1);
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: canvas.clientWidth * ratio, height: canvas.clientHeight * ratio });
    const context = canvas.getContext('2d');
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--course');
    context.beginPath();
    context.moveTo(0, canvas.height);
    values.forEach((value, i) => context.lineTo(values.length > 1 ? i / (values.length - 1) * canvas.width : 0, canvas.height * (1 - 0.92 * value / most)));
    context.lineTo(canvas.width, canvas.height);
    context.fill();
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

function addKeys(app) {
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
        ' ': () => app.play(), arrowleft: event => app.step(event.shiftKey ? -10 : -1), arrowright: event => app.step(event.shiftKey ? 10 : 1),
        home: () => { app.play(false); app.go(0); }, end: () => { app.play(false); app.go(app.source.count - 1); },
        '+': () => rate(1), '=': () => rate(1), '-': () => rate(-1),
        a: () => camera(eye => eye.orbit(0.12, 0)), d: () => camera(eye => eye.orbit(-0.12, 0)), w: () => camera(eye => eye.orbit(0, 0.1)), s: () => camera(eye => eye.orbit(0, -0.1)),
        q: () => camera(eye => eye.zoom(0.87)), e: () => camera(eye => eye.zoom(1.15)), h: () => app.home(), f: () => app.follow(), n: partner,
        x: () => app.falses(FALSES[(app.show.falses + 1) % FALSES.length]),
        escape: () => app.select(-1), i: () => showPanel(app, $('panel').hidden), l: () => app.theme.turn(), '?': () => $('help').showModal(), '/': () => { showPanel(app, true); $('search').focus(); $('search').select(); },
    };
    COLOURS.forEach((name, i) => { acts[i + 1] = () => app.colour(name); });
    for (const [key, overlay] of Object.entries(LETTER)) acts[key] = () => app.toggle(overlay);
    addEventListener('keydown', event => {
        const inField = event.target.matches?.('input:not([type=range]), select, textarea');
        if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
        if (inField) {
            if (event.key === 'Escape') event.target.blur();
            return;
        }
        if (event.key === ' ' && event.target.matches?.('button')) return; // presses the button
        const act = acts[event.key.toLowerCase()];
        if (!act || !app.frame) return;
        event.preventDefault();
        act(event);
    });
}
