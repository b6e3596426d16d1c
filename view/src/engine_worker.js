// SPDX-License-Identifier: MIT
// The engine beside the page's own thread: a frame for each question, so that a slow scene cannot
// run ahead of the picture.
import { annotate } from './codec.js';
import { loadEngine } from './engine.js';

let engine, hasFailed = false, queue = Promise.resolve(); // what comes while the engine is compiled waits; nothing is asked of one that cannot run

function answer(options) {
    const frame = engine.frame(options);
    annotate(frame, frame.facts.cells);
    const { boxes, turns, half, pairs, begun, ended, tree, cells, apart } = frame;
    postMessage({ frame }, [boxes, turns, half, pairs, begun, ended, tree.axes, tree.planes, tree.rights, ...cells, ...(apart ? [apart] : [])].map(array => array.buffer));
}

async function start({ bytes, methods }) {
    try {
        engine = await loadEngine(bytes);
        engine.chosen = methods;
    } catch (error) {
        hasFailed = true;
        postMessage({ error: `The engine cannot run here: ${error.message ?? error}; use a current browser, or make the page again with make playground` });
    }
}

async function act(data) {
    if (data.bytes) await start(data);
    if (data.bytes || hasFailed) return;
    try {
        if (data.hold) engine.hold(data.hold.body, data.hold.point);
        if (data.choose) engine.choose(...data.choose);
        if (data.open) {
            engine.open(data.open.scene, data.open.bodies, data.open.seed);
            if (data.open.first) engine.pour(data.open.first, data.open.count);
            postMessage({ opened: { scene: data.open.scene, world: engine.world(), canHold: engine.c.pg_can_hold() !== 0 } });
        }
        if (data.pour) engine.pour(data.pour, 6);
        if (data.open || data.frame) answer({ still: Boolean(data.open || data.still), wants: data.wants });
    } catch (error) {
        postMessage({ error: String(error.message ?? error), isLost: Boolean(data.open) });
    }
}

onmessage = ({ data }) => { queue = queue.then(() => act(data)); };
