// SPDX-License-Identifier: MIT
// Everything WebGL2: textures of boxes, a program for each thing that is drawn, one draw call for each.
import { listNear, reaches } from './near.js';
import { bodies, links, planes, sprites, volumes, wires } from './shaders.js';

const WIDTH = 2048; // texels of a row
const SPRITE_MOST = 48; // pixels across; half a pixel is wrong in one so large
const FACES = [1, 3, 5, 5, 3, 7, 2, 6, 3, 3, 6, 7, 4, 5, 6, 6, 5, 7]; // the three that look at the eye, by corners of which bits say which way

function compile(gl, { vertex, fragment }) {
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, text);
        gl.compileShader(shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
        gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const places = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); ++i) {
        const { name } = gl.getActiveUniform(program, i);
        places[name] = gl.getUniformLocation(program, name);
    }
    return { program, places };
}

/** Four floats a texel, rows of WIDTH. */
class Table {
    constructor(gl, texelCount) {
        this.gl = gl;
        this.rows = Math.max(1, Math.ceil(texelCount / WIDTH));
        this.texture = gl.createTexture();
        gl.bindTexture(gl.TEXTURE_2D, this.texture);
        gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, WIDTH, this.rows);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }

    fill(floats) {
        const { gl } = this;
        const whole = Math.floor(floats.length / (4 * WIDTH)), rest = floats.length / 4 - whole * WIDTH;
        gl.bindTexture(gl.TEXTURE_2D, this.texture);
        if (whole > 0) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, WIDTH, whole, gl.RGBA, gl.FLOAT, floats, 0);
        if (rest > 0) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, whole, rest, 1, gl.RGBA, gl.FLOAT, floats, 4 * WIDTH * whole);
    }

    release() {
        this.gl.deleteTexture(this.texture);
    }
}

/** Boxes as instances, or pairs as lines, from a buffer that is filled anew when what it shows changes. */
class Batch {
    constructor(gl, { isPairs = false } = {}) {
        this.gl = gl;
        this.count = 0;
        this.isPairs = isPairs;
        this.buffer = gl.createBuffer();
        this.array = gl.createVertexArray();
        gl.bindVertexArray(this.array);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        gl.enableVertexAttribArray(0);
        if (isPairs) {
            gl.vertexAttribIPointer(0, 1, gl.UNSIGNED_INT, 4, 0); // an object a vertex, two a line
        } else {
            gl.enableVertexAttribArray(1);
            gl.vertexAttribDivisor(0, 1);
            gl.vertexAttribDivisor(1, 1);
            gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 32, 0);
            gl.vertexAttribPointer(1, 4, gl.FLOAT, false, 32, 16);
        }
        gl.bindVertexArray(null);
    }

    fill(values) {
        const { gl } = this;
        this.count = values.length / (this.isPairs ? 2 : 8);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    }
}

/** Three faces each of so many boxes, by the numbers of their corners: eight a box. */
function makeFaces(gl, objects, old) {
    if (old?.objects >= objects) return old;
    const all = new Uint32Array(18 * objects);
    for (let i = 0; i < objects; ++i) for (let k = 0; k < 18; ++k) all[18 * i + k] = 8 * i + FACES[k];
    const faces = old ?? makeIndices(gl);
    faces.objects = objects;
    fillIndices(gl, faces, all, gl.STATIC_DRAW);
    return faces;
}

function makeIndices(gl) {
    return { array: gl.createVertexArray(), buffer: gl.createBuffer(), objects: 0 };
}

function fillIndices(gl, { array, buffer }, numbers, use) {
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, numbers, use);
    gl.bindVertexArray(null);
}

/** Triangles of a truncated octahedron of half sides 1: corners are the permutations of (0, ±1/2, ±1). */
function makeSolid(gl) {
    const corners = [];
    for (const zero of [0, 1, 2]) for (const swap of [0, 1]) for (const a of [-1, 1]) for (const b of [-1, 1]) {
        const corner = [0, 0, 0];
        corner[(zero + 1 + swap) % 3] = 0.5 * a;
        corner[(zero + 2 - swap) % 3] = b;
        corners.push(corner);
    }
    const normals = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
    for (const x of [-1, 1]) for (const y of [-1, 1]) for (const z of [-1, 1]) normals.push([x, y, z]);
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2], floats = [];
    for (const normal of normals) {
        const most = Math.max(...corners.map(corner => dot(corner, normal)));
        const face = corners.filter(corner => dot(corner, normal) > most - 1e-6);
        const middle = [0, 1, 2].map(axis => face.reduce((sum, corner) => sum + corner[axis], 0) / face.length);
        const right = [0, 1, 2].map(axis => face[0][axis] - middle[axis]), length = Math.hypot(...normal), unit = normal.map(value => value / length);
        const up = [unit[1] * right[2] - unit[2] * right[1], unit[2] * right[0] - unit[0] * right[2], unit[0] * right[1] - unit[1] * right[0]];
        const angle = corner => { const d = [0, 1, 2].map(axis => corner[axis] - middle[axis]); return Math.atan2(dot(d, up), dot(d, right)); };
        face.sort((a, b) => angle(a) - angle(b));
        // A fan from the middle; the last number is 0 there and 1 at the rim.
        face.forEach((corner, i) => { for (const [place, rim] of [[middle, 0], [corner, 1], [face[(i + 1) % face.length], 1]]) floats.push(...place, rim); });
    }
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(floats), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 16, 0);
    gl.bindVertexArray(null);
    return { array, count: floats.length / 4 };
}

/** Drawn by the processor, where every sample is paid for. */
function isSoftware() {
    const gl = document.createElement('canvas').getContext('webgl2');
    const about = gl?.getExtension('WEBGL_debug_renderer_info');
    const name = about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : '';
    gl?.getExtension('WEBGL_lose_context')?.loseContext();
    return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class Stage {
    constructor(canvas) {
        this.isSoftware = isSoftware();
        const gl = this.gl = canvas.getContext('webgl2', { antialias: !this.isSoftware, alpha: false, powerPreference: 'high-performance' });
        if (!gl) throw new Error('this browser has no WebGL2, which the picture needs; use a current one, or switch on what it calls hardware acceleration');
        this.canvas = canvas;
        this.sharpness = 1; // pixels of the canvas a pixel of the page, less while pictures are slow
        this.programs = Object.fromEntries(Object.entries({ bodies, sprites, volumes, wires, links, planes }).map(([name, texts]) => [name, compile(gl, texts)]));
        this.empty = gl.createVertexArray();
        this.pairs = new Batch(gl, { isPairs: true });
        this.ownPairs = new Batch(gl, { isPairs: true });
        this.falsePairs = new Batch(gl, { isPairs: true });
        this.planes = new Batch(gl);
        this.cells = new Batch(gl);
        this.frameWire = new Batch(gl);
        this.solid = makeSolid(gl);
        this.nearFaces = makeIndices(gl);
        this.drawCalls = 0;
        this.objects = 0;
    }

    /** Room for a scene; `half` has three floats a body where bodies are turned. */
    open(objects, half, worldBox, shape = 0) {
        this.close();
        this.objects = objects;
        this.shape = shape;
        this.isTurned = Boolean(half);
        this.tables = [0, 1].map(() => ({ boxes: new Table(this.gl, 2 * objects), turns: new Table(this.gl, half ? objects : 1), frame: null }));
        this.half = new Table(this.gl, half ? objects : 1);
        if (half) this.setHalf(half);
        if (this.isSoftware) this.nearList = new Uint32Array(objects);
        if (!this.isSoftware) this.faces = makeFaces(this.gl, objects, this.faces);
        this.frameWire.fill(new Float32Array([...worldBox[0], 1, ...worldBox[1], 1]));
    }

    setHalf(half) {
        const wide = new Float32Array(half.length / 3 * 4);
        for (let i = 0; i < half.length / 3; ++i) wide.set(half.subarray(3 * i, 3 * i + 3), 4 * i);
        this.half.fill(wide);
    }

    close() {
        for (const { boxes, turns } of this.tables ?? []) {
            boxes.release();
            turns.release();
        }
        this.half?.release();
        this.tables = null;
    }

    #fill(table, frame) {
        if (table.frame === frame) return;
        table.boxes.fill(frame.boxes);
        if (frame.turns) table.turns.fill(frame.turns);
        table.frame = frame;
    }

    /** What was the present is often the past: then one texture is filled, not two. */
    show(now, old) {
        this.objects = now.boxes.length / 8;
        if (this.tables[0].frame === old || this.tables[1].frame === now) this.tables.reverse();
        this.#fill(this.tables[0], now);
        this.#fill(this.tables[1], old);
    }

    resize() {
        const ratio = this.isSoftware ? this.sharpness : Math.min(window.devicePixelRatio || 1, 2);
        const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio)), height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
        if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
        return width / height;
    }

    #use(name, camera, mix, aspect) {
        const { gl } = this;
        const { program, places } = this.programs[name];
        gl.useProgram(program);
        gl.uniformMatrix4fv(places.uView, false, camera.matrix(aspect));
        if (places.uEye) gl.uniform3fv(places.uEye, camera.eye);
        if (places.uMix) gl.uniform1f(places.uMix, mix);
        const [now, old] = this.tables;
        [['uNow', now.boxes], ['uOld', old.boxes], ['uTurn', now.turns], ['uOldTurn', old.turns], ['uHalf', this.half]].forEach(([uniform, table], unit) => {
            if (!places[uniform]) return;
            gl.activeTexture(gl.TEXTURE0 + unit);
            gl.bindTexture(gl.TEXTURE_2D, table.texture);
            gl.uniform1i(places[uniform], unit);
        });
        return places;
    }

    #draw(mode, vertices, instances, array = this.empty) {
        this.gl.bindVertexArray(array);
        if (instances === 0) this.gl.drawArrays(mode, 0, vertices);
        else this.gl.drawArraysInstanced(mode, 0, vertices, instances);
        this.drawCalls += 1;
    }

    /**
     * One picture. `look`: colours of the theme; `show`: what is drawn; `scale`: speeds and sizes of the
     * scene.
     */
    draw({ camera, mix, look, show, scale, selected }) {
        const { gl } = this;
        const aspect = this.resize();
        this.drawCalls = 0;
        gl.viewport(0, 0, this.canvas.width, this.canvas.height);
        gl.clearColor(...look.ground, 1);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        if (!this.tables) return;
        gl.enable(gl.DEPTH_TEST);
        gl.disable(gl.BLEND);
        if (show.bodies) this.#drawBodies(camera, mix, aspect, look, show, scale, selected);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        this.#drawLines(camera, mix, aspect, look, show);
        gl.depthMask(false);
        if (this.isTurned) this.#drawVolumes(camera, mix, aspect, look, show);
        if (show.tree && this.planes.count > 0) {
            this.#use('planes', camera, mix, aspect);
            this.#draw(gl.TRIANGLE_STRIP, 4, this.planes.count, this.planes.array);
        }
        gl.depthMask(true);
        if (show.falses > 0 && this.falsePairs.count > 0) this.#drawPairs(this.falsePairs, camera, mix, aspect, [...look.false, 0.9], [...look.saved, 0.9]);
        if (selected >= 0) this.#drawSelected(camera, mix, aspect, look, selected);
    }

    #drawBodies(...what) {
        const { gl } = this;
        if (this.isSoftware && this.shape === 0) {
            this.#drawSprites(...what);
            return;
        }
        this.#useBodies('bodies', ...what);
        if (this.shape === 1) this.#draw(gl.TRIANGLES, this.solid.count, this.objects, this.solid.array);
        else this.#drawFaces(this.faces, this.objects);
    }

    #drawFaces({ array }, boxes) {
        const { gl } = this;
        gl.bindVertexArray(array);
        gl.drawElements(gl.TRIANGLES, 18 * boxes, gl.UNSIGNED_INT, 0);
        this.drawCalls += 1;
    }

    /** Boxes as points, and the faces of those that are too large for it. */
    #drawSprites(camera, mix, aspect, ...rest) {
        const { gl } = this, { width, height } = this.canvas, { back, right, up } = camera.axes();
        const t = Math.tan(0.5 * camera.field);
        const places = this.#useBodies('sprites', camera, mix, aspect, ...rest);
        gl.uniform3fv(places.uRight, right.map(value => value * t * aspect));
        gl.uniform3fv(places.uUp, up.map(value => value * t));
        gl.uniform3fv(places.uBack, back);
        gl.uniform2f(places.uPixels, 0.5 * width, 0.5 * height);
        this.#setDepth(places, camera);
        gl.uniform1f(places.uReach, reaches(camera, aspect).along * height);
        gl.uniform1f(places.uMost, SPRITE_MOST);
        this.#draw(gl.POINTS, this.objects, 0);
        const list = this.nearList, count = listNear(this.tables[0].frame, camera, aspect, height, 0.9 * SPRITE_MOST, list), corners = new Uint32Array(18 * count);
        if (count === 0) return;
        for (let i = 0; i < count; ++i) for (let k = 0; k < 18; ++k) corners[18 * i + k] = 8 * list[i] + FACES[k];
        fillIndices(gl, this.nearFaces, corners, gl.DYNAMIC_DRAW);
        this.#useBodies('bodies', camera, mix, aspect, ...rest);
        this.#drawFaces(this.nearFaces, count);
    }

    /** How deep the picture is at distance d: x + y / d. */
    #setDepth(places, camera) {
        const { far, near } = camera.range();
        this.gl.uniform2f(places.uDepth, 0.5 + 0.5 * (far + near) / (far - near), far * near / (near - far));
    }

    /** Glass around the bodies. */
    #drawVolumes(camera, mix, aspect, look, show) {
        const { gl } = this;
        for (const [isShown, kind, ink] of [[show.dops, 0, look.dop], [show.spheres, 1, look.sphere]]) {
            if (!isShown) continue;
            const places = this.#use('volumes', camera, mix, aspect);
            gl.uniform1i(places.uShape, this.shape);
            gl.uniform1i(places.uKind, kind);
            gl.uniform3fv(places.uBack, camera.axes().back);
            gl.uniform4fv(places.uInk, [...ink, 0.75]);
            this.#setDepth(places, camera);
            this.#draw(gl.TRIANGLES, 6 * this.objects, 0);
        }
    }

    #useBodies(name, camera, mix, aspect, look, show, scale, selected) {
        const { gl } = this;
        const places = this.#use(name, camera, mix, aspect);
        gl.uniform1i(places.uColour, show.colour);
        gl.uniform1i(places.uSelected, selected);
        gl.uniform1i(places.uIsTurned, this.isTurned ? 1 : 0);
        gl.uniform1i(places.uShape, this.shape);
        gl.uniform3fv(places.uWorld, scale.world);
        gl.uniform3fv(places.uSizes, [...scale.sizes, 0]);
        gl.uniform1f(places.uSpeed, scale.speed);
        gl.uniform1f(places.uStill, scale.still);
        gl.uniform2f(places.uHuge, 0.7, 0);
        gl.uniform3fv(places.uIdle, look.idle);
        gl.uniform3fv(places.uBusy, look.busy);
        gl.uniform3fv(places.uAccent, look.accent);
        gl.uniform1f(places.uGround, look.isDark ? 1 : 0);
        return places;
    }

    #drawLines(camera, mix, aspect, look, show) {
        const { gl } = this;
        const places = this.#use('wires', camera, mix, aspect);
        const wire = (ink, count, batch = null) => {
            gl.uniform4fv(places.uInk, ink);
            gl.uniform1i(places.uOne, -1);
            gl.uniform1i(places.uFromBuffer, batch ? 1 : 0);
            gl.uniform1f(places.uGrow, 1);
            if (batch) this.#draw(gl.LINES, 24, count, batch.array);
            else this.#draw(gl.LINES, 24 * count, 0);
        };
        if (show.world) wire([...look.line, 0.9], 1, this.frameWire);
        if (show.boxes) wire([...look.wire, show.bodies ? 0.55 : 0.8], this.objects);
        if (show.cells && this.cells.count > 0) wire([...look.cell, 1], this.cells.count, this.cells);
        if (show.pairs && this.pairs.count > 0) this.#drawPairs(this.pairs, camera, mix, aspect, [...look.link, 0.5]);
    }

    #drawPairs(batch, camera, mix, aspect, ink, otherInk = ink) {
        const { gl } = this;
        gl.disable(gl.DEPTH_TEST); // or bodies would hide them all
        const places = this.#use('links', camera, mix, aspect);
        gl.uniform4fv(places.uInk, ink);
        gl.uniform4fv(places.uOtherInk, otherInk);
        this.#draw(gl.LINES, 2 * batch.count, 0, batch.array);
        gl.enable(gl.DEPTH_TEST);
    }

    /** Last, and through everything. */
    #drawSelected(camera, mix, aspect, look, selected) {
        const { gl } = this;
        if (this.ownPairs.count > 0) this.#drawPairs(this.ownPairs, camera, mix, aspect, [...look.accent, 1]);
        const places = this.#use('wires', camera, mix, aspect);
        gl.disable(gl.DEPTH_TEST);
        gl.uniform4fv(places.uInk, [...look.accent, 1]);
        gl.uniform1i(places.uOne, selected);
        gl.uniform1i(places.uFromBuffer, 0);
        gl.uniform1f(places.uGrow, 1.2);
        this.#draw(gl.LINES, 24, 0);
        gl.enable(gl.DEPTH_TEST);
    }
}
