// SPDX-License-Identifier: MIT
// The playground: the page of `cleave view` with the engine live in it.
import { App } from './app.js';
import { addControls, isPhone, showPanel } from './controls.js';
import { drawCurve } from './curve.js';
import { $, grouped, make, say, timeParts, timeText } from './dom.js';
import { KEPT, typical } from './laps.js';
import { Live } from './live.js';
import { methodStyles } from './look.js';
import { addPanels } from './panels.js';
import { Stage } from './stage.js';

const SCENES = [['freefall', 'free fall'], ['brownian', 'Brownian'], ['gravity', 'turning gravity'], ['city', 'city'], ['tower', 'tower of octahedra'], ['pour', 'pour your own']];
const METHODS = ['cleave', 'kd', 'sap', 'grid', 'bvh-d', 'brute'];
const SIZES = [250, 500, 1000, 2000, 4000, 8000, 16000, 32000];
const TOWER_MOST = 500; // its bodies are matched shape by shape, which is slow
const SMOOTH = 20; // frames, of which each point of the curve is the mean
const LEAST = 0.005; // milliseconds: below is what a clock rounds away, and a logarithm needs something

function bytesOf(text) {
    const packed = atob(text), bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
    return bytes;
}

function fillChoices(live, restart) {
    $('live-scene').append(...SCENES.map(([value, text]) => make('option', { value }, text)));
    $('live-scene').onchange = restart;
    $('live-size').oninput = tellSize;
    $('live-size').onchange = restart;
    $('live-again').onclick = restart;
    for (const side of [0, 1]) {
        const select = $(`method-${side}`);
        select.append(...METHODS.map(value => make('option', { value, selected: value === live.methods[side] }, value)), ...(side === 1 ? [make('option', { value: '' }, 'none')] : []));
        select.onchange = () => live.choose([$('method-0').value, $('method-1').value]);
    }
}

function tellSize() {
    const text = grouped(SIZES[$('live-size').value]);
    say($('live-count'), text);
    $('live-size').setAttribute('aria-valuetext', `${text} bodies`);
}

/**
 * Both cards, in the colours of their methods: the mean time of the last frames, the pairs of the frame that
 * is seen, and whether both found the same.
 */
function tellRace(app, live) {
    const { rivals } = app.fact(), styles = methodStyles(rivals.map(one => one?.method ?? ''), app.theme.name());
    rivals.forEach((one, side) => {
        const mean = live.laps.mean(side), [value, unit] = one && mean !== null ? timeParts(mean) : ['–', ''];
        $(`card-${side}`).classList.toggle('off', !one);
        $(`card-${side}`).style.borderTopColor = styles[side].color;
        $(`card-${side}`).style.borderTopStyle = styles[side].dash ? 'dashed' : 'solid';
        say($(`ms-${side}`), value);
        say($(`unit-${side}`), unit);
        say($(`pairs-${side}`), one ? `${grouped(one.pairs)} pairs${mean === null ? ', not timed yet' : ''}` : '');
    });
    const [one, two] = rivals, verdict = $('verdict');
    verdict.hidden = !two;
    if (two) {
        const same = one.hash === two.hash;
        verdict.className = same ? 'same' : 'other';
        say(verdict, same ? `both found the same ${grouped(one.pairs)} pairs` : `THEY DIFFER: ${grouped(one.pairs)} and ${grouped(two.pairs)} pairs`);
    }
    document.documentElement.dataset.same = two ? String(one.hash === two.hash) : '';
    const physics = live.laps.physics();
    say($('live-physics'), physics === null ? '' : `Physics: ${timeText(physics)} a frame.`);
    const [, scene] = SCENES.find(([name]) => name === live.scene_) ?? [];
    say($('live-summary'), [scene, ...rivals.map((rival, side) => (rival && live.laps.mean(side) !== null ? `${rival.method} ${timeText(live.laps.mean(side))}` : null))].filter(Boolean).join(' · '));
    drawRace(app, live, styles);
}

/** Times of both, each point the mean of some frames, on one logarithmic scale. */
function drawRace(app, live, styles) {
    const smooth = points => points.map(([index], i) => [index, Math.max(typical(points.slice(Math.max(0, i - SMOOTH + 1), i + 1).map(([, ms]) => ms)), LEAST)]);
    const lines = [0, 1].map(side => ({ points: smooth(live.laps.points(side)), colour: styles[side].color, dash: styles[side].dash }));
    const times = lines.flatMap(({ points }) => points.map(([, ms]) => ms)), last = live.laps.last;
    const low = times.length > 0 ? Math.min(...times) : 0.1, high = times.length > 0 ? Math.max(...times) : 1;
    drawCurve($('course'), { lines, title: 'time per frame',
        x: { from: Math.max(0, last - KEPT + 1), to: Math.max(last, KEPT - 1), format: index => `frame ${grouped(index)}`, hasTicks: true },
        y: { low: low / 1.3, high: high * 2.4, isLog: true, format: ms => timeText(Number(ms.toPrecision(2))).replace(/\.0+ /, ' ') } });
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
    document.documentElement.classList.add('is-live');
    const app = new App(new Stage($('picture')));
    const live = new Live(bytesOf($('engine').textContent), ['cleave', 'bvh-d']);
    const restart = () => {
        const scene = $('live-scene').value;
        if (scene === 'tower' && SIZES[$('live-size').value] > TOWER_MOST) $('live-size').value = SIZES.indexOf(TOWER_MOST);
        tellSize();
        say($('live-hint'), scene === 'pour' ? 'Press on the ground and hold: it rains boxes there. Drag a body to lift it, let go to throw it.' : scene === 'tower' ? 'The experiment of the k-DOP paper: at most 500 truncated octahedra fall on each other.' : 'Drag a body, and let it go to throw it.');
        live.wants = wanted(app.show);
        live.open(scene, SIZES[$('live-size').value]);
    };
    addControls(app, { isLive: true });
    app.addEventListener('frame', () => {
        document.documentElement.dataset.objects = live.objects;
        live.laps.add(app.frame, live.methods);
    });
    app.addEventListener('words', () => tellRace(app, live));
    addPanels(app);
    showPanel(app, false);
    // Both at once would leave a telephone no room for the scene.
    app.addEventListener('panel', ({ detail }) => { if (detail && isPhone()) $('live').open = false; });
    $('live').addEventListener('toggle', () => { if ($('live').open && isPhone()) showPanel(app, false); app.dirty = true; });
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
    live.onerror = text => app.dispatchEvent(new CustomEvent('trouble', { detail: text }));
    app.addEventListener('show', () => {
        const wants = wanted(app.show), isSame = Object.entries(wants).every(([name, value]) => live.wants[name] === value);
        live.wants = wants;
        if (!isSame) live.again();
    });
    say($('title'), 'Cleave');
    say($('subtitle'), 'boxes in, every touching pair out');
    document.title = 'Cleave: playground';
    if (isPhone()) $('live').open = innerHeight > 700;
    globalThis.cleave = app; // for tests and for looking at
    restart();
}

try {
    start();
} catch (error) {
    $('trouble').hidden = false;
    say($('trouble'), `The playground cannot run here: ${error.message}`);
}
