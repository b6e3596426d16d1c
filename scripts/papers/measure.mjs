// SPDX-License-Identifier: MIT
// Runs the program here, piece by piece, then the towers. What is done already stays done: `cleave run --resume` goes by everything a
// result depends on, a tower by its file. No call lasts much longer than PIECE_S, so breaking off costs little.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';

import { grades, pieceWords, towerFile, towerWords, towers } from './grades.mjs';

const PIECE_S = 540;

const coreCount = () => (availableParallelism ? availableParallelism() : cpus().length);

// Its progress goes to the terminal; its table is not wanted here.
function call(program, words) {
    const answer = spawnSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (answer.error) throw new Error(`${program} cannot be run: ${answer.error.message}; build it with make`);
    if (answer.signal) throw new Error(`${program} ${words[0]} was ended by ${answer.signal}; run the same command again to go on`);
    return answer.status;
}

/** The words of `cleave run` for a piece; exported for its tests. */
export function runWords(one, folder, cores, wait = 60) {
    return ['run', ...pieceWords(one), '--json', join(folder, `${one.name}.json`), '--resume', '--budget', String(PIECE_S), '--others', '10', '--others-wait', String(wait),
        ...(one.wide ? ['--threads', String(Math.min(4, cores))] : [])];
}

/** The piece without methods that are not installed here; null if none is left. Only pieces that name methods have to care. */
export function withoutMissing(one, methods) {
    const at = one.words.indexOf('-m');
    if (at < 0) return one;
    const there = one.words[at + 1].split(',').filter(name => methods.some(method => method.name === name && method.available));
    return there.length > 0 ? { ...one, words: one.words.map((word, index) => (index === at + 1 ? there.join() : word)) } : null;
}

/** Exit status 1 of a piece means that a run failed or that hashes differ: the pages will say which. 3: there is more of it. */
function measurePieces(program, grade, folder, say, wait) {
    const { methods } = JSON.parse(readFileSync(join(folder, 'methods.json'), 'utf8'));
    for (const whole of grades[grade].pieces) {
        const one = withoutMissing(whole, methods);
        say(one ? `measuring ${one.name}: ${one.parts.join(', ')}` : `${whole.name} is left out: its methods are not installed`);
        if (!one) continue;
        let status = 3;
        while (status === 3) status = call(program, runWords(one, folder, coreCount(), wait));
        if (status > 1) throw new Error(`${program} run ended with ${status}; see above`);
    }
}

function measureTowers(program, grade, folder, say) {
    const { sim } = grades[grade];
    for (const tower of towers) {
        const path = join(folder, towerFile(tower));
        if (existsSync(path)) continue;
        say(`measuring a tower of ${sim.bodies}: ${tower.volume}, ${tower.scale}`);
        if (call(program, ['sim', ...towerWords(tower, sim), '--csv', `${path}.part`]) !== 0) throw new Error(`${program} sim tower failed; see above`);
        renameSync(`${path}.part`, path);
    }
}

function measureMethods(program, folder) {
    const answer = spawnSync(program, ['methods', '--json'], { encoding: 'utf8' });
    if (answer.status !== 0) throw new Error(`${program} methods --json failed: ${answer.error?.message ?? answer.stderr}`);
    writeFileSync(join(folder, 'methods.json'), answer.stdout);
}

export function measure(program, grade, folder, say, wait) {
    measureMethods(program, folder);
    measurePieces(program, grade, folder, say, wait);
    measureTowers(program, grade, folder, say);
}
