// SPDX-License-Identifier: MIT
// The playground: the page of `cleave view` with the engine live in it.
import { App } from './app.js';
import { addControls, showPanel } from './controls.js';
import { $, grouped, make, milliseconds, say } from './dom.js';
import { Live } from './live.js';
import { addPanels } from './panels.js';
import { Stage } from './stage.js';

const SCENES = [['freefall', 'free fall'], ['brownian', 'Brownian'], ['gravity', 'turning gravity'], ['city', 'city'], ['tower', 'tower of octahedra'], ['pour', 'pour your own']];
const METHODS = ['cleave', 'kd', 'sap', 'grid', 'bvh-d', 'brute'];
const SIZES = [250, 500, 1000, 2000, 4000, 8000, 16000, 32000];
const TOWER_MOST = 500; // its bodies are matched shape by shape, which is slow
const KEPT = 180; // frames of the race

const history = [[], []];

// Browsers round times to a tenth of a millisecond, so one frame's says little; the slowest fifth is other programs.
function typical(list) {
    const kept = [...list].sort((a, b) => a - b).slice(0, Math.ceil(0.8 * list.length));
    return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

function bytesOf(text) {
    const packed = atob(text), bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
    return bytes;
}

function fillChoices(live, restart) {
    $('live-scene').append(...SCENES.map(([value, text]) => make('option', { value }, text)));
    $('live-scene').onchange = restart;
    $('live-size').oninput = () => say($('live-count'), grouped(SIZES[$('live-size').value]));
    $('live-size').onchange = restart;
    $('live-again').onclick = restart;
    for (const side of [0, 1]) {
        const select = $(`method-${side}`);
        select.append(...METHODS.map(value => make('option', { value, selected: value === live.methods[side] }, value)), ...(side === 1 ? [make('option', { value: '' }, 'none')] : []));
        select.onchange = () => {
            history.forEach(list => { list.length = 0; });
            live.choose([$('method-0').value, $('method-1').value]);
        };
    }
}

/** Both cards: the typical time of the last frames, the pairs, and whether both found the same. */
function tellRace(live) {
    const { rivals, moved } = live.now.facts;
    rivals.forEach((one, side) => {
        $(`card-${side}`).classList.toggle('off', !one);
        say($(`ms-${side}`), one ? milliseconds(typical(history[side].slice(-40))) : '–');
        say($(`pairs-${side}`), one ? `${grouped(one.pairs)} pairs` : '');
    });
    const [one, two] = rivals, verdict = $('verdict');
    verdict.hidden = !two;
    if (two) {
        const same = one.hash === two.hash;
        verdict.className = same ? 'same' : 'other';
        say(verdict, same ? `both found the same ${grouped(one.pairs)} pairs` : `THEY DIFFER: ${grouped(one.pairs)} and ${grouped(two.pairs)} pairs`);
    }
    document.documentElement.dataset.same = two ? String(one.hash === two.hash) : '';
    say($('live-physics'), `${milliseconds(moved)} ms physics`);
}

/** Times of both, on one logarithmic scale. */
function drawRace() {
    const canvas = $('course'), ratio = window.devicePixelRatio || 1;
    if (canvas.clientWidth === 0) return;
    Object.assign(canvas, { width: canvas.clientWidth * ratio, height: canvas.clientHeight * ratio });
    const all = history.flat().filter(value => value > 0);
    if (all.length < 2) return;
    const low = Math.log(Math.min(...all)) - 0.1, high = Math.log(Math.max(...all)) + 0.1;
    const context = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    history.forEach((list, side) => {
        context.strokeStyle = style.getPropertyValue(side === 0 ? '--accent' : '--second');
        context.lineWidth = 1.6 * ratio;
        context.beginPath();
        list.forEach((value, i) => context.lineTo((i + KEPT - list.length) / (KEPT - 1) * canvas.width, canvas.height * (1 - (Math.log(value) - low) / (high - low))));
        context.stroke();
    });
}

/** A point in the plane through the grabbed body that faces the eye. */
function pointAt(app, x, y, depth) {
    const { clientWidth, clientHeight } = app.stage.canvas;
    const { from, way } = app.camera.ray(2 * x / clientWidth - 1, 1 - 2 * y / clientHeight, clientWidth / clientHeight);
    const { back } = app.camera.axes();
    const t = depth / -(way[0] * back[0] + way[1] * back[1] + way[2] * back[2]);
    return [0, 1, 2].map(axis => from[axis] + t * way[axis]);
}

/** Where a ray meets the ground, or the middle of the scene. */
function groundAt(app, x, y) {
    const { clientWidth, clientHeight } = app.stage.canvas;
    const { from, way } = app.camera.ray(2 * x / clientWidth - 1, 1 - 2 * y / clientHeight, clientWidth / clientHeight);
    const [low, high] = app.box;
    const t = way[1] < -1e-3 ? (low[1] - from[1]) / way[1] : app.camera.distance;
    const clamp = (value, axis) => Math.min(Math.max(value, 0.8 * low[axis]), 0.8 * high[axis]);
    return [clamp(from[0] + t * way[0], 0), Math.min(high[1] * 0.6, 8), clamp(from[2] + t * way[2], 2)];
}

function addHands(app, live) {
    let depth = 0;
    app.grab = (x, y, event) => {
        if (!app.frame || event.button !== 0 || event.shiftKey) return false;
        const { object } = app.pickAt(x, y);
        if (live.scene_ === 'pour' && object < 0) {
            live.pouring = groundAt(app, x, y);
            if (!app.playing) app.play(true);
            return true;
        }
        if (!live.canHold || object < 0) return false;
        const { boxes } = app.frame, eye = app.camera.eye, { back } = app.camera.axes();
        depth = [0, 1, 2].reduce((sum, axis) => sum + (eye[axis] - 0.5 * (boxes[8 * object + axis] + boxes[8 * object + 4 + axis])) * back[axis], 0);
        live.holding = { body: object, point: pointAt(app, x, y, depth) };
        return true;
    };
    app.drag = (x, y) => {
        if (live.pouring) live.pouring = groundAt(app, x, y);
        else if (live.holding) live.holding = { ...live.holding, point: pointAt(app, x, y, depth) };
    };
    app.drop = () => {
        live.pouring = null;
        if (live.holding) {
            live.worker.postMessage({ hold: { body: -1, point: null } });
            live.holding = null;
        }
    };
}

/** What the engine is asked for beside boxes and pairs. */
const wanted = show => ({ tree: show.tree || show.colour === 4, cells: show.cells, volumes: show.falses > 0 });

function start() {
    const app = new App(new Stage($('picture')));
    const live = new Live(bytesOf($('engine').textContent), ['cleave', 'bvh-d']);
    const restart = () => {
        const scene = $('live-scene').value;
        if (scene === 'tower' && SIZES[$('live-size').value] > TOWER_MOST) $('live-size').value = SIZES.indexOf(TOWER_MOST);
        say($('live-count'), grouped(SIZES[$('live-size').value]));
        history.forEach(list => { list.length = 0; });
        say($('live-hint'), scene === 'pour' ? 'Press on the ground and hold: it rains boxes there. Drag a body to lift it, let go to throw it.' : scene === 'tower' ? 'The experiment of paper 003: truncated octahedra fall on each other.' : 'Drag a body, and let it go to throw it.');
        live.wants = wanted(app.show);
        live.open(scene, SIZES[$('live-size').value]);
    };
    addControls(app);
    addPanels(app);
    showPanel(app, false);
    fillChoices(live, restart);
    addHands(app, live);
    live.onopen = () => {
        const wasPlaying = app.playing || !app.source;
        const [lx, ly, lz, ux, uy, uz] = live.world, width = Math.max(ux - lx, uz - lz);
        const top = live.scene_ === 'city' ? ly + 0.12 * (uy - ly) : Math.min(uy, ly + 2.2 * width);
        live.fit = live.scene_ === 'tower' ? [[-20, 0, -20], [20, 60, 20]] : [[lx, ly, lz], [ux, top, uz]];
        live.step = [0];
        live.shape = live.scene_ === 'tower' ? 1 : 0;
        app.open(live);
        app.play(wasPlaying);
    };
    live.onframe = ({ facts }) => {
        facts.rivals.forEach((one, side) => {
            if (one) history[side].push(Math.max(one.ms, 0.02));
            if (history[side].length > KEPT) history[side].shift();
        });
    };
    live.onerror = text => app.dispatchEvent(new CustomEvent('trouble', { detail: text }));
    let told = 0;
    app.addEventListener('frame', () => {
        document.documentElement.dataset.objects = live.objects;
        if (performance.now() - told < 120 && app.playing) return;
        told = performance.now();
        tellRace(live);
        drawRace();
    });
    app.addEventListener('show', () => {
        live.wants = wanted(app.show);
        live.again();
    });
    say($('title'), 'Cleave');
    say($('subtitle'), 'boxes in, every touching pair out; live in this page');
    document.title = 'Cleave: playground';
    if (innerWidth <= 760) $('live').open = innerHeight > 700;
    globalThis.cleave = app; // for tests and for looking at
    restart();
}

try {
    start();
} catch (error) {
    $('trouble').hidden = false;
    say($('trouble'), `The playground cannot run here: ${error.message}`);
}
