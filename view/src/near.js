// SPDX-License-Identifier: MIT
// Which boxes are large on the picture, or cut by its border: the few that a renderer in software draws face
// by face. Knows nothing of pages: node uses it too.

/**
 * Where the middles of a frame's boxes are, and the largest sphere around one: counted
 * beside the page's own thread.
 */
export function spanOf(boxes) {
    const lower = [Infinity, Infinity, Infinity], upper = [-Infinity, -Infinity, -Infinity];
    let square = 0;
    for (let at = 0; at < boxes.length; at += 8) {
        let sum = 0;
        for (let axis = 0; axis < 3; ++axis) {
            const low = boxes[at + axis], high = boxes[at + 4 + axis], middle = 0.5 * (low + high);
            if (middle < lower[axis]) lower[axis] = middle;
            if (middle > upper[axis]) upper[axis] = middle;
            sum += (high - low) * (high - low);
        }
        if (sum > square) square = sum;
    }
    return { lower, upper, radius: 0.5 * Math.sqrt(square) };
}

/** Is every box small, and inside the picture? Then there is no need to look at each. */
function allAreFar({ lower, upper, radius }, camera, aspect, height, most) {
    const m = camera.matrix(aspect), reach = reaches(camera, aspect).along * height * radius;
    for (let corner = 0; corner < 8; ++corner) {
        const [x, y, z] = [0, 1, 2].map(axis => (corner >> axis & 1 ? upper : lower)[axis]);
        const [right, up, w] = [0, 1, 3].map(row => m[row] * x + m[4 + row] * y + m[8 + row] * z + m[12 + row]);
        if (!(reach < most * w && Math.abs(right) < 0.99 * w && Math.abs(up) < 0.99 * w)) return false;
    }
    return true;
}

/**
 * Numbers of those boxes into `out` (room for all of them); returns how many. A box counts by the sphere
 * around it, so that shaders.js, which asks the same of the ones it draws as points, may be a little stricter
 * and leaves no gap. `most`: pixels across that are not large yet.
 */
export function listNear({ boxes, span }, camera, aspect, height, most, out) {
    if (span && allAreFar(span, camera, aspect, height, most)) return 0;
    const [m0, m1, , m3, m4, m5, , m7, m8, m9, , m11, m12, m13, , m15] = camera.matrix(aspect);
    const { along, wide, high } = reaches(camera, aspect);
    const large = most * most / (along * along * height * height);
    let count = 0;
    for (let at = 0, object = 0; at < boxes.length; at += 8, ++object) {
        const x = 0.5 * (boxes[at] + boxes[at + 4]), y = 0.5 * (boxes[at + 1] + boxes[at + 5]), z = 0.5 * (boxes[at + 2] + boxes[at + 6]);
        const dx = boxes[at + 4] - boxes[at], dy = boxes[at + 5] - boxes[at + 1], dz = boxes[at + 6] - boxes[at + 2];
        const square = 0.25 * (dx * dx + dy * dy + dz * dz), w = m3 * x + m7 * y + m11 * z + m15;
        const right = Math.abs(m0 * x + m4 * y + m8 * z + m12), up = Math.abs(m1 * x + m5 * y + m9 * z + m13);
        if (square < large * w * w && right < 0.99 * w && up < 0.99 * w) continue;
        const radius = Math.sqrt(square);
        if (w > -radius && right <= w + wide * radius && up <= w + high * radius) out[count++] = object;
    }
    return count;
}

/**
 * How far a sphere of radius 1 at distance 1 reaches: in heights of the picture across, and beyond its border
 * to the right and upwards.
 */
export function reaches(camera, aspect) {
    const t = Math.tan(0.5 * camera.field), slant = Math.sqrt(1 + (t * aspect) ** 2 + t * t);
    return { along: slant / t, wide: slant / (t * aspect) + 1, high: slant / t + 1 };
}
