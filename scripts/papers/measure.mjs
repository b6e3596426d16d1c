// SPDX-License-Identifier: MIT
// Runs the program: schedules group by group, then the towers. What is done already stays done: `cleave run --resume` goes by
// everything a result depends on, a tower by its file.
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';

import { grades, groups, towerFile, towers } from './grades.mjs';

const coreCount = () => (availableParallelism ? availableParallelism() : cpus().length);

// Its progress goes to the terminal; its table is not wanted here.
function call(program, words) {
    const answer = spawnSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (answer.error) throw new Error(`${program} cannot be run: ${answer.error.message}; build it with make`);
    if (answer.signal) throw new Error(`${program} ${words[0]} was ended by ${answer.signal}; run the same command again to go on`);
    return answer.status;
}

/** The words of `cleave run` for a group; exported for its tests. */
export function groupWords(group, grade, folder, cores) {
    const { all = [], [group.name]: own = [] } = grades[grade];
    return [
        'run', ...group.schedules, '--only', group.parts.join(','), '--json', join(folder, `${group.name}.json`), '--resume',
        ...all, ...own, ...(group.threads ? ['--threads', String(Math.min(4, cores))] : []),
    ];
}

/** Exit status 1 of a group means that a run failed or that hashes differ: the pages will say which. */
function measureGroups(program, grade, folder, say) {
    for (const group of groups) {
        say(`measuring ${group.name}: ${group.parts.join(', ')}`);
        const status = call(program, groupWords(group, grade, folder, coreCount()));
        if (status > 1) throw new Error(`${program} run ended with ${status}; see above`);
    }
}

function measureTowers(program, grade, folder, say) {
    const { bodies, frames } = grades[grade].sim;
    for (const tower of towers) {
        const path = join(folder, towerFile(tower));
        if (existsSync(path)) continue;
        say(`measuring a tower of ${bodies}: ${tower.volume}, ${tower.scale}`);
        const words = ['sim', 'tower', '--volume', tower.volume, '--scale', tower.scale, '--bodies', bodies, '--frames', frames, '--csv', `${path}.part`];
        if (call(program, words.map(String)) !== 0) throw new Error(`${program} sim tower failed; see above`);
        renameSync(`${path}.part`, path);
    }
}

function measureMethods(program, folder) {
    const answer = spawnSync(program, ['methods', '--json'], { encoding: 'utf8' });
    if (answer.status !== 0) throw new Error(`${program} methods --json failed: ${answer.stderr}`);
    writeFileSync(join(folder, 'methods.json'), answer.stdout);
}

export function measure(program, grade, folder, say) {
    measureMethods(program, folder);
    measureGroups(program, grade, folder, say);
    measureTowers(program, grade, folder, say);
}
