// SPDX-License-Identifier: MIT
// Which sizes of the papers' schedules were not run.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { sizeText } from './page.mjs';
import { distinct } from './runs.mjs';

/** Sizes and scenes of every part as its schedule has them, and whether it climbs a ladder: Map part -> { sizes: [objects], scenes: [name], isLadder }. */
export function scheduledSizes() {
    const scheduled = new Map();
    const number = text => Number(text.replace('k', '')) * (text.endsWith('k') ? 1000 : 1);
    const list = words => words.flatMap(word => {
        const [from, to] = word.split('..').map(number);
        return to === undefined ? [from] : Array.from({ length: Math.round(Math.log2(to / from)) + 1 }, (_, step) => from * 2 ** step);
    });
    for (const paper of ['000', '001', '002', '003', '004']) {
        let common = { sizes: [], scenes: [], isLadder: false };
        let part = null;
        for (const line of readFileSync(fileURLToPath(new URL(`../../lab/schedules/paper-${paper}.schedule`, import.meta.url)), 'utf8').split('\n')) {
            const [word, ...values] = line.replace(/#.*/, '').trim().split(/\s+/);
            if (word === 'part') {
                [part] = values;
                scheduled.set(part, common);
            }
            const said = word === 'sizes' ? { sizes: list(values) } : word === 'scenes' ? { scenes: distinct(values.map(value => value.replace(/[@:].*/, ''))) } : word === 'ladder' ? { isLadder: Number(values[0]) > 0 } : {};
            if (part) scheduled.set(part, { ...scheduled.get(part), ...said });
            else common = { ...common, ...said };
        }
    }
    return scheduled;
}

// Half a second in some window: there a ladder ends, and larger sizes are none that are missing.
const isBeyond = (all, run, objects) => all.some(other => other.parts.includes(run.parts[0]) && other.method === run.method && other.variant === run.variant && other.scene === run.scene && other.objects <= objects && other.ms_mean > 500);

/** Methods and scenes that a part has at some size and lacks at this one: "bullet-dbvt-f on gravity". */
function lacking(own, objects, isLadder, raw) {
    const nameOf = run => `${run.method}${['scalar', 'sse2'].includes(run.variant) ? ` (${run.variant})` : ''} on ${run.scene}`;
    const there = new Set(own.filter(run => run.objects === objects).map(nameOf));
    return distinct(own.filter(run => !there.has(nameOf(run)) && !(isLadder && isBeyond(raw, run, objects))).map(nameOf));
}

/** Sizes of parts that were not run, and those at which some method is missing: ["004-cubes: 64k, 128k without …"]; `raw`: before windows are joined. */
export function leftOut(runs, raw = runs) {
    return [...scheduledSizes()].map(([part, { sizes, scenes, isLadder }]) => {
        const own = runs.filter(run => run.parts[0] === part);
        const absent = scenes.filter(scene => !own.some(run => run.scene === scene)).map(scene => `all on ${scene}`);
        const none = sizes.filter(objects => !own.some(run => run.objects === objects));
        const some = sizes.filter(objects => !none.includes(objects)).map(objects => [objects, [...lacking(own, objects, isLadder, raw), ...absent]]).filter(([, names]) => names.length > 0);
        return [part, [...(none.length > 0 ? [none.map(sizeText).join(', ')] : []), ...some.map(([objects, names]) => `${sizeText(objects)} without ${names.join(', ')}`)]];
    }).filter(([, texts]) => texts.length > 0).map(([part, texts]) => `${part}: ${texts.join(', ')}`);
}
