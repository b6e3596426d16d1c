// SPDX-License-Identifier: MIT
// The cells of the default engine: counted beside the page's own thread, when a frame is unpacked, and drawn
// as boxes of eight floats, as stage.js takes them.

const clamp = (value, most) => value < 0 ? 0 : value > most ? most : value;

/**
 * How many lower corners each cell of a grid holds. One grid alone has everything: what lies
 * outside is in its border.
 */
function countCells([ox, oy, oz, sx, sy, sz, nx, ny, nz], boxes, isAlone) {
    const counts = new Uint32Array(nx * ny * nz), rx = 1 / sx, ry = 1 / sy, rz = 1 / sz;
    for (let at = 0; at < boxes.length; at += 8) {
        const x = Math.floor((boxes[at] - ox) * rx), y = Math.floor((boxes[at + 1] - oy) * ry), z = Math.floor((boxes[at + 2] - oz) * rz);
        if (isAlone || (x >= 0 && y >= 0 && z >= 0 && x < nx && y < ny && z < nz)) counts[clamp(x, nx - 1) + nx * (clamp(y, ny - 1) + ny * clamp(z, nz - 1))] += 1;
    }
    return counts;
}

/** Of each grid. */
export const countAllCells = (grids = [], boxes) => grids.map(grid => countCells(grid, boxes, grids.length === 1));

/** The cells that hold a box's lower corner, the fuller the stronger. */
export function cellsOf(grids = [], counted) {
    let used = 0, at = 0;
    for (const counts of counted) for (let cell = 0; cell < counts.length; ++cell) used += counts[cell] > 0;
    const out = new Float32Array(8 * used);
    grids.forEach(([ox, oy, oz, sx, sy, sz, nx, ny, nz], g) => {
        const counts = counted[g], most = counts.reduce((larger, count) => count > larger ? count : larger, 1);
        for (let k = 0, cell = 0; k < nz; ++k) for (let j = 0; j < ny; ++j) for (let i = 0; i < nx; ++i, ++cell) {
            if (counts[cell] === 0) continue;
            const x = ox + sx * i, y = oy + sy * j, z = oz + sz * k;
            out[at] = x, out[at + 1] = y, out[at + 2] = z, out[at + 3] = 0.25 + 0.75 * counts[cell] / most;
            out[at + 4] = x + sx, out[at + 5] = y + sy, out[at + 6] = z + sz, out[at + 7] = 1;
            at += 8;
        }
    });
    return out;
}
