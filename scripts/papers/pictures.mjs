// SPDX-License-Identifier: MIT
// Figures of the papers that are pictures: those that show scenes and their trees, from `cleave tree`; of the others README.md says
// that they are missing.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { smallTreeSvg } from './small_tree.mjs';

const draw = fileURLToPath(new URL('../tree_picture.py', import.meta.url));

/** What is drawn: a cut through a scene, its boxes, the planes and leaves of the tree as published. */
export const pictures = [
    { file: '004-figure-3.svg', scene: 'flat:24@0+1', leaf: 3, isSmall: true, about: 'A small flat scene from above, and its tree: planes across x or z, at most three objects in a leaf' },
    { file: '004-figure-8-freefall.svg', scene: 'freefall:4k@120+2', leaf: 64, about: 'Free Fall, frame 122: a cut through 4000 cubes and their KD-tree, T = 64' },
    { file: '004-figure-8-brownian.svg', scene: 'brownian:4k@40+2', leaf: 64, about: 'Brownian, frame 42: a cut through 4000 cubes and their KD-tree, T = 64' },
    { file: '004-figure-8-gravity.svg', scene: 'gravity:4k@90+2', leaf: 64, about: 'Gravity, frame 92: a cut through 4000 cubes and their KD-tree, T = 64' },
];

/** [figures, what they are, what stands for them here]. */
export const missing = [
    ['004: 2, 4, 5, 6, 7', 'positions of an object, the array, its moves, the operators, the flow: drawings', 'missing; docs/kd.md tells the same in words'],
    ['004: 3; 000: 1', 'a small scene and its tree', 'one of ours below'],
    ['004: 8; 001: 1; 002: 1', 'frames of the scenes, rendered', 'cuts through three of them with their trees; missing as rendered pictures, there is no renderer yet'],
    ['000: 2', 'the operators: drawings', 'missing'],
    ['003: 5.1 to 5.5', 'the bodies and the tower, rendered', 'missing, there is no renderer yet'],
];

/** Draws those that can be drawn; returns them. Needs the program and python3. */
export function drawPictures(program, folder, say) {
    const work = mkdtempSync(join(tmpdir(), 'cleave-tree-'));
    const drawn = pictures.filter(({ file, scene, leaf, isSmall }) => {
        const tree = join(work, 'tree.json');
        const written = spawnSync(program, ['tree', scene, '-m', 'kd-paper', '--set', `kd.leaf=${leaf}`, '-o', tree], { encoding: 'utf8' });
        if (written.status === 0 && isSmall) {
            writeFileSync(join(folder, file), smallTreeSvg(JSON.parse(readFileSync(tree, 'utf8'))));
            return true;
        }
        const picture = written.status === 0 ? spawnSync('python3', [draw, tree, join(folder, file)], { encoding: 'utf8' }) : written;
        if (picture.status !== 0) say(`${file} is not drawn: ${(picture.error?.message ?? picture.stderr ?? '').trim().split('\n').pop()}`);
        return picture.status === 0;
    });
    rmSync(work, { recursive: true });
    return drawn;
}
