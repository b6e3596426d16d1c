// SPDX-License-Identifier: MIT
// An eye that goes round a point: y is up. Vectors are arrays of three, matrices of sixteen, by columns.

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => { const l = Math.hypot(...a) || 1; return [a[0] / l, a[1] / l, a[2] / l]; };

export class Camera {
    constructor() {
        this.target = [0, 0, 0];
        this.distance = 10;
        this.yaw = 0.62;
        this.pitch = 0.42;
        this.field = 0.72; // radians from top to bottom
    }

    /** Looks at a box so that it fills the view. */
    fit([lower, upper], aspect) {
        this.target = [0, 1, 2].map(axis => 0.5 * (lower[axis] + upper[axis]));
        this.radius = Math.max(0.5 * Math.hypot(...sub(upper, lower)), 1e-9);
        this.distance = this.radius / Math.sin(0.5 * this.field) / Math.min(1, Math.max(aspect, 0.55)) * 1.02;
    }

    get eye() {
        const c = Math.cos(this.pitch);
        return [this.target[0] + this.distance * c * Math.sin(this.yaw), this.target[1] + this.distance * Math.sin(this.pitch), this.target[2] + this.distance * c * Math.cos(this.yaw)];
    }

    axes() {
        const back = unit(sub(this.eye, this.target));
        const right = unit(cross([0, 1, 0], back));
        return { back, right, up: cross(back, right) };
    }

    orbit(dx, dy) {
        this.yaw -= dx;
        this.pitch = Math.min(1.55, Math.max(-1.55, this.pitch + dy));
    }

    /** By shares of the view's height. */
    pan(dx, dy) {
        const { right, up } = this.axes();
        const reach = 2 * this.distance * Math.tan(0.5 * this.field);
        for (let axis = 0; axis < 3; ++axis) this.target[axis] += reach * (up[axis] * dy - right[axis] * dx);
    }

    zoom(factor) {
        this.distance = Math.min(Math.max(this.distance * factor, this.radius * 1e-3), this.radius * 60);
    }

    /** What is nearer or farther is not drawn. */
    range() {
        return { far: this.distance + 4 * this.radius, near: Math.max(this.distance - 3 * this.radius, this.distance * 0.02) };
    }

    matrix(aspect) {
        const { back, right, up } = this.axes();
        const eye = this.eye;
        const { far, near } = this.range();
        const f = 1 / Math.tan(0.5 * this.field), a = (far + near) / (near - far), b = (2 * far * near) / (near - far);
        const dot = v => -(v[0] * eye[0] + v[1] * eye[1] + v[2] * eye[2]);
        const rows = [[...right, dot(right)], [...up, dot(up)], [...back, dot(back)]];
        const out = new Float32Array(16);
        for (let column = 0; column < 4; ++column) {
            out[4 * column] = rows[0][column] * f / aspect;
            out[4 * column + 1] = rows[1][column] * f;
            out[4 * column + 2] = rows[2][column] * a + (column === 3 ? b : 0);
            out[4 * column + 3] = -rows[2][column];
        }
        return out;
    }

    /** The ray under a point of the view, x and y from -1 to 1. */
    ray(x, y, aspect) {
        const { back, right, up } = this.axes();
        const t = Math.tan(0.5 * this.field);
        return { from: this.eye, way: unit([0, 1, 2].map(axis => right[axis] * x * t * aspect + up[axis] * y * t - back[axis])) };
    }
}

/** The first object that a ray hits, or -1: boxes, or turned bodies where their sides are known. */
export function pick(ray, frame, half, worldSides) {
    const { boxes, turns } = frame;
    let best = Infinity, found = -1;
    for (let object = 0, at = 0; at < boxes.length; ++object, at += 8) {
        if (isHuge(boxes, at, worldSides)) continue;
        const entry = enter(ray.from, ray.way, [boxes[at], boxes[at + 1], boxes[at + 2]], [boxes[at + 4], boxes[at + 5], boxes[at + 6]]);
        if (entry >= best) continue;
        const exact = turns && half ? enterTurned(ray, boxes, at, turns, half, object) : entry;
        if (exact < best) {
            best = exact;
            found = object;
        }
    }
    return { object: found, distance: best };
}

/** As large as the world on all axes: neither drawn nor clicked. */
export function isHuge(boxes, at, sides) {
    return boxes[at + 4] - boxes[at] > 0.7 * sides[0] && boxes[at + 5] - boxes[at + 1] > 0.7 * sides[1] && boxes[at + 6] - boxes[at + 2] > 0.7 * sides[2];
}

function enter(from, way, lower, upper) {
    let low = 0, high = Infinity;
    for (let axis = 0; axis < 3; ++axis) {
        const one = (lower[axis] - from[axis]) / way[axis], two = (upper[axis] - from[axis]) / way[axis];
        low = Math.max(low, Math.min(one, two));
        high = Math.min(high, Math.max(one, two));
    }
    return low <= high ? low : Infinity;
}

function enterTurned(ray, boxes, at, turns, half, object) {
    const q = [-turns[4 * object], -turns[4 * object + 1], -turns[4 * object + 2], turns[4 * object + 3]];
    const turn = v => { const c = cross(q, v).map((value, axis) => value + q[3] * v[axis]); const d = cross(q, c); return [v[0] + 2 * d[0], v[1] + 2 * d[1], v[2] + 2 * d[2]]; };
    const middle = [0, 1, 2].map(axis => 0.5 * (boxes[at + axis] + boxes[at + 4 + axis]));
    const h = [half[3 * object], half[3 * object + 1], half[3 * object + 2]];
    return enter(turn(sub(ray.from, middle)), turn(ray.way), h.map(value => -value), h);
}
