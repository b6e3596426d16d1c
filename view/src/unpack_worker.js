// SPDX-License-Identifier: MIT
// Unpacks blocks beside the page's own thread.
import { decodeBlock, unpackText } from './codec.js';

let scene;

export async function unpackBlock(text, about, block) {
    return decodeBlock(await unpackText(text), about, block);
}

function buffersOf(frames) {
    const buffers = new Set();
    for (const { boxes, turns, pairs, begun, ended, tree, cells, apart } of frames) {
        for (const array of [boxes, turns, pairs, begun, ended, tree.axes, tree.planes, tree.rights, apart, ...cells]) if (array) buffers.add(array.buffer);
    }
    return [...buffers];
}

if (typeof WorkerGlobalScope !== 'undefined' && globalThis instanceof WorkerGlobalScope) {
    onmessage = async ({ data }) => {
        scene = data.scene ?? scene;
        if (data.block === undefined) return;
        try {
            const frames = await unpackBlock(data.text, scene, data.block);
            postMessage({ block: data.block, frames }, buffersOf(frames));
        } catch (error) {
            postMessage({ block: data.block, error: String(error.message ?? error) });
        }
    };
}
