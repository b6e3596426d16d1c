// SPDX-License-Identifier: MIT
// The page of `cleave view`: the scene that was packed into it.
import { App } from './app.js';
import { addControls } from './controls.js';
import { $, grouped, say } from './dom.js';
import { addPanels } from './panels.js';
import { Recording } from './recording.js';
import { Stage } from './stage.js';

function start() {
    const scene = JSON.parse($('scene').textContent);
    const app = new App(new Stage($('picture')));
    addControls(app);
    addPanels(app);
    say($('title'), scene.name);
    say($('subtitle'), `${scene.type ? `${scene.type} · ` : ''}${grouped(scene.objects)} objects · ${grouped(scene.count)} frame${scene.count === 1 ? '' : 's'}`);
    document.title = `${scene.name}: Cleave`;
    app.open(new Recording(scene, [...document.querySelectorAll('script.block')]));
    globalThis.cleave = app; // for tests and for looking at
}

try {
    start();
} catch (error) {
    $('trouble').hidden = false;
    say($('trouble'), `The scene cannot be shown: ${error.message}`);
}
