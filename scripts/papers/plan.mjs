// SPDX-License-Identifier: MIT
// What is measured, how it is measured here, and what some folders of results still lack.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { distinct, isQuiet, phaseStarts, QUIET_MOST, readFolders, towerFile, towers } from './runs.mjs';

// ---- grades

// How much of the papers' schedules is run, piece by piece. A piece is one call of `cleave run`, of under ten
// minutes on one core; runs that several parts ask for are done once because those parts stand in the same
// piece.
//   tiny   a few hundred objects, to test the machinery
//   quick  a quarter of an hour on two cores
//   hour   what `make papers` does: small sizes first, then as many of the larger ones as the hour has room
//          for
//   full   the papers' own sizes: hours on two cores, a quarter of an hour on sixteen
//          (scripts/papers/bare.sh)

const few = ['--repeat', '2'];

function piece(name, parts, words = [], more = {}) {
    return { name, parts, schedules: distinct(parts.map(part => `paper-${part.slice(0, 3)}`)), words, needs: [], ...more };
}

const cubes = ['004-cubes', '000-cubes', '000-cubes-kd', '001-others'];
const slow = ['004-cubes-others', '001-axissweep'];
const large = ['004-cubes-large', '000-cubes-large', '000-cubes-large-kd', '001-others-large'];
const assorted = ['004-assorted', '000-assorted', '000-assorted-kd'];
const leaf = ['004-leaf', '000-leaf'];
const pruning = ['004-pruning-tree', '004-pruning-sweep', '004-pruning-both', '004-pruning-ours'];
const whole = ['004-whole', '000-whole', '000-whole-kd'];
const rest = ['004-rest', '000-rest'];

const tree = [...leaf, '004-leaf-ours', '004-leaf-narrow', '004-levels', '004-variants', '004-variants-ours', '004-batches'];
const gpu = { gpu: true };

/** The pieces of a grade that fits two cores; sizes as `cleave run` takes them, `more` words for all. */
function inOrder({ cubes: cubesSizes, slowest, assorted: assortedSizes, tree: treeSizes, pruning: pruningSizes, rest: restSizes, whole: wholeSizes, rayLeaf, ray, tower, more = [], restMore = [], wholeMore = [] }) {
    return [
        piece('cubes', [...cubes, ...slow], ['-n', cubesSizes, ...more]),
        piece('tree', tree, ['-n', treeSizes, ...more]),
        piece('pruning', [...pruning, '004-pruning-none'], ['-n', pruningSizes, ...restMore]),
        piece('rest', [...rest, '004-rest-ours'], ['-n', restSizes, ...restMore]),
        piece('assorted', assorted, ['-n', assortedSizes, ...more]),
        piece('slowest', ['001-slowest'], ['-n', slowest, ...restMore]),
        piece('quickest', ['001-quickest', '001-threads'], ['-n', slowest, ...restMore], { wide: true }),
        piece('gpu', ['001-gpu'], ['-n', slowest, ...restMore], gpu),
        piece('whole', [...whole, '004-variants-whole'], ['-n', wholeSizes, ...wholeMore]),
        piece('ray-leaf', ['002-leaf', '002-leaf-scalar'], ['-n', rayLeaf, ...more]),
        piece('ray', ['002-others'], ['-n', ray, ...more]),
        piece('tower', ['003-falling', '003-landed'], tower),
    ];
}

// ---- the papers' own sizes

const scenes = ['freefall', 'brownian', 'gravity'];
const letters = { freefall: 'F', brownian: 'B', gravity: 'G' };
const bakesOf = (...sizes) => sizes.flatMap(size => scenes.map(scene => `${letters[scene]}-${size}`));

/**
 * What is baked beforehand where many cores wait, longest first; a piece names what it needs. Windows are cut
 * from whole runs.
 */
export const bakes = [
    piece('F-128k', ['004-rest'], ['-n', '128k']),
    ...['G', 'B'].map(letter => piece(`${letter}-128k`, ['004-cubes'], ['-n', '128k', '--scenes', letter === 'G' ? 'gravity' : 'brownian'])),
    ...scenes.map(scene => piece(`${letters[scene]}-8k`, ['004-whole'], ['-n', '8k', '--scenes', scene])),
    piece('F-small', ['004-rest'], ['-n', '1k,2k,4k,16k']),
    ...['brownian', 'gravity'].map(scene => piece(`${letters[scene]}-small`, ['004-cubes'], ['-n', '1k,2k,4k,16k', '--scenes', scene])),
    ...scenes.map(scene => piece(`${letters[scene]}-32k`, ['004-whole-32k'], ['-n', '32k', '--scenes', scene])),
    ...scenes.map(scene => piece(`${letters[scene]}-64k`, scene === 'freefall' ? ['004-rest'] : ['004-cubes'], ['-n', '64k', '--scenes', scene])),
    ...scenes.map(scene => piece(`${letters[scene]}-assorted`, ['004-assorted'], ['-n', '1k,2k,4k,8k,16k,32k', '--scenes', scene])),
    ...['1024k', '256k', '512k'].flatMap(size => scenes.map(scene => piece(`${letters[scene]}-${size}`, ['004-cubes-large'], ['-n', size, '--scenes', scene]))),
    ...scenes.map(scene => piece(`${letters[scene]}-768k`, ['001-others-large'], ['-n', '768k', '--scenes', scene])),
    piece('ray', ['002-leaf', '002-others'], ['-n', '1k,2k,4k,8k']),
    piece('tower', ['003-falling', '003-landed'], ['-n', '512']),
];

const at = size => ['-n', size, ...few];
const steps = '1k,8k,16k,32k,64k,128k';
const largeSteps = '256k,512k,768k,1024k';
const peersOf = parts => parts.filter(part => !part.endsWith('-kd'));

// One size of the ladder in three pieces, so that several cores can share it.
function ladderPieces(size, parts) {
    const needs = bakesOf(size);
    return [
        piece(`cubes-${size}-ours`, peersOf(parts).filter(part => !part.startsWith('000')), ['-n', size, '-m', 'kd-paper,kd,cleave', ...few], { needs }),
        piece(`cubes-${size}-256`, parts.filter(part => part.endsWith('-kd')), at(size), { needs }),
        piece(`cubes-${size}-dbvt-d`, peersOf(parts), ['-n', size, '-m', 'bullet-dbvt-d', ...few], { needs }),
        piece(`cubes-${size}-cgal`, peersOf(parts), ['-n', size, '-m', 'cgal', ...few], { needs }),
        piece(`cubes-${size}-dbvt-f`, peersOf(parts), ['-n', size, '-m', 'bullet-dbvt-f', ...few], { needs }),
    ];
}

const ofScene = (name, scene, parts, words, more) => piece(`${name}-${scene}`, parts, [...words, '--scenes', scene], more);

const fullPieces = [
    piece('cubes-small', [...cubes, ...slow], ['-n', '1k,2k,4k,8k'], { needs: [...bakesOf('small', '8k')] }),
    ...scenes.map(scene => ofScene('leaf', scene, leaf, at('128k'), { needs: [`${letters[scene]}-128k`] })),
    ...scenes.map(scene => ofScene('variants', scene, ['004-variants', '004-variants-ours'], at('128k'), { needs: [`${letters[scene]}-128k`] })),
    piece('pruning', pruning, at('128k'), { needs: bakesOf('128k') }),
    piece('batches', ['004-batches'], ['-n', '128k'], { needs: ['G-128k'] }),
    piece('levels', ['004-levels'], ['-n', '128k'], { needs: bakesOf('128k') }),
    ...scenes.map(scene => ofScene('leaf-narrow', scene, ['004-leaf-narrow'], ['-n', '128k'], { needs: [`${letters[scene]}-128k`] })),
    piece('pruning-32k', pruning, at('32k'), { needs: bakesOf('32k') }),
    ...ladderPieces('128k', cubes),
    piece('cubes-16k', [...cubes, ...slow], ['-n', '16k', ...few], { needs: bakesOf('small') }),
    piece('cubes-32k', [...cubes, ...slow], ['-n', '32k', ...few], { needs: bakesOf('32k') }),
    piece('assorted-small', assorted, ['-n', '1k,2k,4k,8k', '--repeat', '3'], { needs: bakesOf('assorted') }),
    piece('rest-small', [...rest, '004-rest-ours'], ['-n', '1k,2k,4k,8k,16k'], { needs: ['F-small', 'F-8k'] }),
    piece('rest-32k', [...rest, '004-rest-ours'], ['-n', '32k'], { needs: ['F-32k'] }),
    piece('rest-128k', rest, ['-n', '128k'], { needs: ['F-128k'] }),
    ...scenes.map(scene => ofScene('pruning-none', scene, ['004-pruning-none'], ['-n', '128k'], { needs: [`${letters[scene]}-128k`] })),
    ...ladderPieces('1024k', large),
    ...scenes.map(scene => ofScene('whole', scene, whole, ['-n', '8k'], { needs: [`${letters[scene]}-8k`] })),
    ...scenes.map(scene => ofScene('assorted-16k', scene, assorted, ['-n', '16k', ...few], { needs: [`${letters[scene]}-assorted`] })),
    ...scenes.map(scene => ofScene('assorted-32k', scene, assorted, ['-n', '32k', ...few], { needs: [`${letters[scene]}-assorted`] })),
    ...ladderPieces('64k', cubes),
    ...ladderPieces('256k', large),
    ...ladderPieces('512k', large),
    piece('cubes-768k', ['001-others-large'], at('768k'), { needs: bakesOf('768k') }), // the row that Broadmark's table II alone has
    ...scenes.map(scene => ofScene('quickest', scene, ['001-quickest'], ['-n', steps], { needs: [`${letters[scene]}-128k`, `${letters[scene]}-64k`, `${letters[scene]}-32k`, `${letters[scene]}-8k`, `${letters[scene]}-small`], wide: true })),
    ...scenes.map(scene => ofScene('quickest-large', scene, ['001-quickest-large'], ['-n', largeSteps], { needs: ['256k', '512k', '768k', '1024k'].map(size => `${letters[scene]}-${size}`), wide: true })),
    ...['threads', 'gpu'].flatMap(kind => scenes.flatMap(scene => [
        ofScene(kind, scene, [`001-${kind}`], ['-n', '1k,8k,32k,128k'], { needs: ['128k', '32k', '8k', 'small'].map(size => `${letters[scene]}-${size}`), ...(kind === 'gpu' ? gpu : { wide: true }) }),
        ofScene(`${kind}-large`, scene, [`001-${kind}-large`], ['-n', '768k,1024k'], { needs: ['768k', '1024k'].map(size => `${letters[scene]}-${size}`), ...(kind === 'gpu' ? gpu : { wide: true }) }),
    ])),
    ...scenes.map(scene => ofScene('slowest', scene, ['001-slowest'], ['-n', steps], { needs: [`${letters[scene]}-128k`, `${letters[scene]}-64k`, `${letters[scene]}-32k`, `${letters[scene]}-8k`, `${letters[scene]}-small`] })),
    ...scenes.map(scene => ofScene('whole-32k', scene, ['004-whole-32k'], ['-n', '32k'], { needs: [`${letters[scene]}-32k`] })),
    ...['8k', '32k'].map(size => piece(`variants-whole-${size}`, ['004-variants-whole'], ['-n', size], { needs: [`F-${size}`] })),
    ...scenes.map(scene => ofScene('leaf-ours', scene, ['004-leaf-ours'], at('128k'), { needs: [`${letters[scene]}-128k`] })),
    piece('ray-leaf', ['002-leaf', '002-leaf-scalar'], ['-n', '4k', '--repeat', '3'], { needs: ['ray'] }),
    piece('ray', ['002-others'], ['-n', '1k,2k,4k,8k', '--repeat', '3'], { needs: ['ray'] }),
    piece('tower', ['003-falling', '003-landed'], ['-n', '512'], { needs: ['tower'] }),
    piece('rest-64k', rest, ['-n', '64k'], { needs: ['F-64k'] }),
    ...scenes.map(scene => ofScene('slowest-large', scene, ['001-slowest-large'], ['-n', largeSteps], { needs: ['256k', '512k', '768k', '1024k'].map(size => `${letters[scene]}-${size}`) })),
];

// ---- 256k to 1024k with pile and rest

// Too many bodies to simulate until they rest, so the papers cut those of smaller runs in eight. The windows
// of a scene, each a file that `cleave gen --split` bakes, reach every phase of it. They take 9 GB.
const cutFrom = { '256k': '32k', '512k': '64k', '768k': '96k', '1024k': '128k' };
const CUT_FRAMES = 10;

/** { name, scene, size, words }: NAME.aabbs is baked by `cleave gen WORDS -o NAME.aabbs`. */
export const cuts = Object.entries(cutFrom).flatMap(([size, from]) => scenes.flatMap(scene => phaseStarts(scene).map(start => ({
    name: `${scene}-${size}@${start}+${CUT_FRAMES}`, scene, size, words: [scene, '-n', from, '--split', '--from', String(start), '--frames', String(CUT_FRAMES)] }))));

// What each part runs on them, as in its schedule.
const cutParts = {
    '004-cubes-large': { methods: 'kd-paper kd cleave bullet-dbvt-f bullet-dbvt-d cgal' }, '000-cubes-large': { methods: 'bullet-dbvt-f bullet-dbvt-d cgal' },
    '000-cubes-large-kd': { methods: 'kd-paper', set: 'kd.leaf=256 kd.static=0.55' }, '001-others-large': { methods: 'bullet-dbvt-f bullet-dbvt-d cgal kd-paper kd cleave' },
    '001-slowest-large': { methods: 'grid@scalar grid-sap@scalar tracy' }, '001-quickest-large': { methods: 'sap grid grid-sap tracy', threads: 4 }, '001-threads-large': { methods: 'kd-paper kd cleave', threads: 4 },
};

const cutFile = ({ name }) => `cuts/${name}.aabbs`;

/** The schedule of these parts: files in the folder cuts. */
export function cutSchedule() {
    const files = cuts.map(cutFile).join(' ');
    return ['about        256k to 1024k: windows of smaller runs, every body cut in eight', 'repeat       2', 'time-limit   600', 'memory-limit 16384',
        ...Object.entries(cutParts).map(([part, words]) => [`\npart         ${part}`, `scenes       ${files}`, ...Object.entries(words).map(([word, value]) => `${word.padEnd(12)} ${value}`)].join('\n'))].join('\n') + '\n';
}

const cutLines = () => Object.entries(cutFrom).flatMap(([size]) => scenes.flatMap(scene => Object.entries(cutParts).map(([part, { threads }]) => {
    const own = cuts.filter(cut => cut.scene === scene && cut.size === size);
    return { kind: threads ? 'wide' : 'run', name: `cut-${part}-${scene}-${size}`, needs: own.map(cut => cut.name), words: ['cuts.schedule', '--only', part, '--scenes', own.map(cutFile).join(',')] };
})));

// ---- an hour on two cores

// What a page needs at all comes first, at 8k and below: a quarter of an hour. Then the towers, as long
// again, then what grows: `late` pieces, the dearest last. One size a piece, so that time that is up costs a
// size and not a part of each. By the journal of the full grade it all takes 67 minutes on two cores, of
// which the last piece, mostly baking, takes eight.
const late = { late: true };
const hourPieces = [
    piece('cubes-small', [...cubes, ...slow], ['-n', '1k,2k,4k,8k', ...few]),
    piece('rest-small', [...rest, '004-rest-ours'], ['-n', '1k']),
    piece('pruning-small', [...pruning, '004-pruning-none'], ['-n', '8k']),
    piece('assorted-small', assorted, ['-n', '1k,2k,4k', ...few]),
    piece('slowest-small', ['001-slowest'], ['-n', '1k,8k']),
    piece('quickest-small', ['001-quickest', '001-threads'], ['-n', '1k,8k'], { wide: true }),
    piece('gpu', ['001-gpu'], ['-n', '1k,8k,32k'], gpu),
    piece('ray-leaf', ['002-leaf', '002-leaf-scalar'], ['-n', '4k', ...few]),
    piece('ray', ['002-others'], ['-n', '1k,2k,4k,8k', ...few]),
    piece('tree', tree, ['-n', '32k', ...few], late),
    piece('cubes-16k', [...cubes, ...slow], ['-n', '16k', ...few], late),
    piece('pruning', [...pruning, '004-pruning-none'], ['-n', '32k'], late),
    piece('assorted', assorted, ['-n', '8k', ...few], late),
    piece('rest', [...rest, '004-rest-ours'], ['-n', '8k'], late),
    piece('whole', [...whole, '004-variants-whole'], ['-n', '8k'], late),
    piece('cubes-32k', cubes, ['-n', '32k', ...few], late),
    piece('slowest', ['001-slowest'], ['-n', '16k,32k'], late),
    piece('quickest', ['001-quickest', '001-threads'], ['-n', '16k,32k'], { wide: true, late: true }),
    piece('slow-32k', slow, ['-n', '32k', ...few], late),
    piece('tower', ['003-falling', '003-landed'], few, late),
    piece('whole-32k', ['004-whole-32k'], [], late),
];

/** Measured again where nothing else runs, to tell what the other lanes cost. */
export const alone = [
    piece('alone-128k', ['004-cubes'], ['-n', '128k', '-m', 'kd-paper,kd,bullet-dbvt-d,cgal', '--scenes', 'brownian', ...few], { needs: ['B-128k'] }),
    piece('alone-8k', ['004-cubes'], ['-n', '8k', '-m', 'kd-paper,kd,bullet-dbvt-d,cgal', '--scenes', 'gravity', ...few], { needs: ['G-8k'] }),
];

export const grades = {
    tiny: {
        about: 'a few hundred objects and a handful of frames, to test the machinery; its times mean nothing',
        pieces: inOrder({
            cubes: '300,600', slowest: '300,600', assorted: '600', tree: '600', pruning: '600', rest: '600', whole: '600', rayLeaf: '200', ray: '100,200',
            tower: ['-n', '8', '--frames', '3', '--repeat', '2'],
            more: ['--frames', '3', '--repeat', '2', '--time-limit', '20'],
            restMore: ['--frames', '6', '--repeat', '2', '--time-limit', '20'],
            wholeMore: ['--frames', '6', '--repeat', '2', '--time-limit', '20'],
        }),
        sim: { bodies: 8, frames: 60 },
    },
    quick: {
        about: 'up to 8,000 cubes and 4,000 assorted objects',
        pieces: inOrder({
            cubes: '1k,2k,4k,8k', slowest: '1k,8k', assorted: '1k,4k', tree: '8k', pruning: '8k', rest: '1k,4k', whole: '1k', rayLeaf: '4k', ray: '1k,4k',
            tower: ['--frames', '20', ...few], more: few,
        }),
        sim: { bodies: 128, frames: 2000 },
    },
    hour: {
        about: 'up to 32,000 cubes and 8,000 assorted objects, as far as an hour goes',
        budget: 3600,
        pieces: hourPieces,
        sim: { bodies: 512, frames: 7000 },
    },
    full: { about: "the papers' own sizes", pieces: fullPieces, sim: { bodies: 512, frames: 7000 } },
};

/** The words of `cleave run` for a piece, without where its results go. */
export const pieceWords = one => [...one.schedules, '--only', one.parts.join(','), ...one.words];

export const towerWords = (tower, { bodies, frames }) => ['tower', '--volume', tower.volume, '--scale', tower.scale, '--bodies', String(bodies), '--frames', String(frames)];

/** How bare.sh runs a piece: on several threads, on the GPU, or on a core of its own. */
export const kindOf = one => (one.wide ? 'wide' : one.gpu ? 'gpu' : 'run');

/** What a machine without node goes by, line by line: kind, name, needs, words; tabs between. */
export function planText(grade) {
    const { pieces, sim } = grades[grade];
    const row = (kind, name, needs, words) => [kind, name, needs.join(',') || '-', words.join(' ')].join('\t');
    const isFull = grade === 'full';
    return [
        ...(isFull ? bakes : []).map(one => row('bake', one.name, [], pieceWords(one))),
        ...(isFull ? cuts : []).map(one => row('cut', one.name, [], one.words)),
        ...(isFull ? alone : []).map(one => row('alone', one.name, one.needs, pieceWords(one))),
        ...towers.map(tower => row('sim', towerFile(tower), [], towerWords(tower, sim))),
        ...pieces.map(one => row(kindOf(one), one.name, one.needs, pieceWords(one))),
        ...(isFull ? cutLines() : []).map(one => row(one.kind, one.name, one.needs, one.words)),
    ].join('\n') + '\n';
}

// ---- measuring here

// Runs the program, piece by piece: those that are not `late`, the towers, the others. What is done already
// stays done: `cleave run --resume` goes by everything a result depends on, a tower by its file. No call
// lasts much longer than PIECE_S, so breaking off costs little. A budget is an end for all of them: what did
// not come about by then is named, and left for the next time.

const PIECE_S = 540;

const coreCount = () => (availableParallelism ? availableParallelism() : cpus().length);

/** Seconds until a budget is used up; never without one. */
export function clockOf(budget, now = Date.now) {
    const end = budget > 0 ? now() + 1000 * budget : Infinity;
    return { left: () => (end - now()) / 1000, isUp: () => end - now() < 1000 };
}

// Its progress goes to the terminal; its table is not wanted here. Status 3, as of a budget that is used up,
// if time ran out meanwhile.
function call(program, words, clock) {
    const left = clock.left();
    const limit = Number.isFinite(left) ? { timeout: Math.max(1, Math.ceil(1000 * left)), killSignal: 'SIGINT' } : {};
    const answer = spawnSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'], ...limit });
    if (answer.error?.code === 'ETIMEDOUT') return 3;
    if (answer.error) throw new Error(`${program} cannot be run: ${answer.error.message}; build it with make`);
    if (answer.signal) throw new Error(`${program} ${words[0]} was ended by ${answer.signal}; run the same command again to go on`);
    return answer.status;
}

/** The words of `cleave run` for a piece; exported for its tests. */
export function runWords(one, folder, cores, wait = 60, left = Infinity) {
    return ['run', ...pieceWords(one), '--json', join(folder, `${one.name}.json`), '--resume', '--budget', String(Math.max(1, Math.floor(Math.min(PIECE_S, left)))), '--others', String(100 * QUIET_MOST), '--others-wait', String(Math.min(wait, Math.max(0, Math.floor(left)))),
        ...(one.wide ? ['--threads', String(Math.min(4, cores))] : [])];
}

/**
 * The piece without methods that are not installed here; null if none is left. Only pieces that name methods
 * have to care.
 */
export function withoutMissing(one, methods) {
    const at = one.words.indexOf('-m');
    if (at < 0) return one;
    const there = one.words[at + 1].split(',').filter(name => methods.some(method => method.name === name && method.available));
    return there.length > 0 ? { ...one, words: one.words.map((word, index) => (index === at + 1 ? there.join() : word)) } : null;
}

const hasGpu = devices => (devices ?? []).some(device => !device.cpu && !device.unusable);

/** Why a piece is not run here; null if it is. */
export function whyNot(one, { methods, devices }) {
    if (one.gpu && !hasGpu(devices)) return 'no GPU here';
    return withoutMissing(one, methods) ? null : 'its methods are not installed';
}

// Baked first and by itself, since --budget does not cut off what is being baked. Exit status 1 of the runs
// means that one failed or that hashes differ: the pages will say which. 3: there is more of it. Returns
// whether all of it is done.
function measurePiece(program, one, folder, wait, clock) {
    if (call(program, ['run', ...pieceWords(one), '--bake', '-q'], clock) === 3) return false;
    let status = 3;
    while (status === 3 && !clock.isUp()) status = call(program, runWords(one, folder, coreCount(), wait, clock.left()), clock);
    if (status > 1 && status !== 3) throw new Error(`${program} run ended with ${status}; see above`);
    return status !== 3;
}

// As far as one sees without the program: what is under way has a journal.
const isDone = (one, folder) => existsSync(join(folder, `${one.name}.json`)) && !existsSync(join(folder, `${one.name}.json.journal`));

function measurePieces(program, pieces, folder, say, wait, clock) {
    const here = JSON.parse(readFileSync(join(folder, 'methods.json'), 'utf8'));
    return pieces.filter(whole => {
        const why = whyNot(whole, here);
        if (why) say(`${whole.name} is left out: ${why}`);
        if (why || clock.isUp()) return !why && !isDone(whole, folder);
        const one = withoutMissing(whole, here.methods);
        say(`measuring ${one.name}: ${one.parts.join(', ')}`);
        return !measurePiece(program, one, folder, wait, clock);
    }).map(one => one.name);
}

function measureTowers(program, sim, folder, say, clock) {
    return towers.filter(tower => {
        const path = join(folder, towerFile(tower));
        if (existsSync(path) || clock.isUp()) return !existsSync(path);
        say(`measuring a tower of ${sim.bodies}: ${tower.volume}, ${tower.scale}`);
        const status = call(program, ['sim', ...towerWords(tower, sim), '--csv', `${path}.part`], clock);
        if (status !== 0 && status !== 3) throw new Error(`${program} sim tower failed; see above`);
        if (status === 0) renameSync(`${path}.part`, path);
        return status !== 0;
    }).map(tower => `tower ${tower.volume} ${tower.scale}`);
}

function measureMethods(program, folder) {
    const answer = spawnSync(program, ['methods', '--json'], { encoding: 'utf8' });
    if (answer.status !== 0) throw new Error(`${program} methods --json failed: ${answer.error?.message ?? answer.stderr}`);
    writeFileSync(join(folder, 'methods.json'), answer.stdout);
}

/**
 * Seconds a piece may wait for a quiet machine: with a budget all of them together a tenth of it, or a busy
 * machine would spend the hour waiting.
 */
export const waitOf = (wait, budget, count) => (budget > 0 ? Math.min(wait, Math.floor(budget / 10 / count)) : wait);

/**
 * Measures a grade within a budget of seconds (0: none). Returns the names of what was not, or not wholly,
 * measured by then.
 */
export function measure(program, grade, folder, say, { wait = 60, budget = 0 } = {}) {
    const { pieces, sim } = grades[grade];
    const clock = clockOf(budget);
    const each = waitOf(wait, budget, pieces.length);
    measureMethods(program, folder);
    const some = isLate => measurePieces(program, pieces.filter(one => Boolean(one.late) === isLate), folder, say, each, clock);
    const unfinished = [...some(false), ...measureTowers(program, sim, folder, say, clock), ...some(true)];
    if (unfinished.length > 0) say(`${budget} s are up; not, or not wholly, measured: ${unfinished.join(', ')}; the same command goes on there`);
    return unfinished;
}

// ---- what is missing

// What a grade asks for and some folders of results do not have, as a plan for bare.sh: scenes to bake,
// longest first, then runs in lines short enough for many cores. `cleave run --dry-run` names what is asked
// for; times are guessed from the results.

const WIDE_THREADS = 4;
const LINE_S = 45; // a line that would take longer is cut: by method, then by window

const cellLine = /^(\S+): (([\w-]+):(\w+)@(\d+)\+(\d+)) of (\d+) version .*? \| ((\S+)@(\w+)), threads (\d+), (.*?) \| warmup (\d+), repeat (\d+)/;

/**
 * A line of --dry-run: { parts, scene, type, from, frames, objects, method, isa, threads, settings, passes };
 * null if it names no run.
 */
export function readCell(line) {
    const found = cellLine.exec(line);
    if (!found) return null;
    const [, parts, , scene, type, from, frames, objects, , method, isa, threads, settings, warmup, repeat] = found;
    return { parts: parts.split(','), scene, type, from: Number(from), frames: Number(frames), objects: Number(objects), method, isa, threads: Number(threads), settings: settings === 'default' ? '' : settings, passes: Number(warmup) + Number(repeat) };
}

const nameOf = cell => [cell.scene, cell.type, cell.from, cell.frames, cell.objects, cell.method, cell.isa, cell.threads, cell.settings].join(' ');

/** A result as such a cell. */
function cellOfRun(run) {
    return { ...run, ...run.window, isa: run.variant, settings: Object.entries(run.settings).map(pair => pair.join('=')).join(',') };
}

function cellsOf(program, one) {
    const words = ['run', ...pieceWords(one), '--dry-run', ...(one.wide ? ['--threads', String(WIDE_THREADS)] : [])];
    const answer = spawnSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
    if (answer.status !== 0) throw new Error(`${program} ${words.join(' ')} failed: ${answer.error?.message ?? answer.stderr}`);
    return answer.stdout.split('\n').map(readCell).filter(Boolean);
}

// ---- what is missing

/**
 * Has a part's ladder ended below that size? Those parts stop after a mean above half a second; the others
 * never do.
 */
function isAbove(cell, part, have) {
    return /^(001|002|003|004-cubes-others|00[04]-assorted)/.test(part) && have.some(run => run.scene === cell.scene && run.type === cell.type && run.method === cell.method &&
        run.isa === cell.isa && run.threads === cell.threads && run.objects < cell.objects && run.ms_mean > 500 && run.parts.includes(part));
}

/** Cells of which a part has no result and still wants one. */
export function missingCells(cells, have) {
    const known = new Map();
    for (const run of have) known.set(nameOf(run), [...(known.get(nameOf(run)) ?? []), ...run.parts]);
    return cells.filter(cell => cell.parts.some(part => !known.get(nameOf(cell))?.includes(part) && !isAbove(cell, part, have)));
}

/** Seconds a cell takes, from the nearest result: same method, same window if there is one. */
export function guess(cell, have) {
    const narrow = (runs, isLike) => (runs.some(isLike) ? runs.filter(isLike) : runs);
    const kin = have.filter(run => run.scene === cell.scene && run.type === cell.type && run.method === cell.method && run.isa === cell.isa && run.threads === cell.threads);
    const near = narrow(narrow(kin, run => run.settings === cell.settings), run => run.from === cell.from);
    const [best] = [...near].sort((a, b) => Math.abs(Math.log(a.objects / cell.objects)) - Math.abs(Math.log(b.objects / cell.objects)));
    const ms = best ? best.ms_mean * (cell.objects / best.objects) ** 1.15 : 0.0005 * cell.objects;
    return 0.3 + cell.passes * cell.frames * ms / 1000 + cell.frames * cell.objects * 2e-8;
}

// ---- lines

const sum = values => values.reduce((total, value) => total + value, 0);

function groupBy(values, keyOf) {
    const groups = new Map();
    for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
    return [...groups.values()];
}

/** One call of `cleave run`: the cells of one scene, size and set of parts. */
function lineOf(one, cells) {
    const [{ parts, scene, type, objects }] = cells;
    // Sizes and methods are this line's; repeats and the like stay the piece's.
    const kept = one.words.filter((word, index) => !['-n', '-m', '--scenes'].includes(word) && !['-n', '-m', '--scenes'].includes(one.words[index - 1]));
    const isEach = parts.some(part => part.includes('pruning')); // these ask for all instruction sets themselves
    const methods = distinct(cells.map(cell => (['scalar', 'sse2'].includes(cell.isa) && !isEach ? `${cell.method}@${cell.isa}` : cell.method)));
    const windows = distinct(cells.map(cell => `${scene}@${cell.from}+${cell.frames}`));
    const words = [...distinct(parts.map(part => `paper-${part.slice(0, 3)}`)), '--only', parts.join(','), '-n', String(objects), '-m', methods.join(','), '--scenes', windows.join(','), ...kept];
    const name = [one.name, scene, objects, type, methods.length > 2 ? 'several' : methods.join('-'), windows.length > 1 ? 'all' : cells[0].from, parts[0]].join('-').replaceAll('@', '-');
    return { kind: kindOf(one), name, need: `${scene}-${objects}-${type}`, words, parts, scene, type, objects, windows, seconds: sum(cells.map(cell => cell.seconds)) };
}

/** Cells cut into lines of LINE_S or so. */
export function linesOf(one, cells) {
    const groups = groupBy(cells, cell => [cell.parts, cell.scene, cell.type, cell.objects].join(' '));
    const cut = (list, keys) => (keys.length === 0 || sum(list.map(cell => cell.seconds)) <= LINE_S ? [list] : groupBy(list, keys[0]).flatMap(part => cut(part, keys.slice(1))));
    return groups.flatMap(group => cut(group, [cell => cell.method, cell => cell.from])).map(list => lineOf(one, list));
}

// A simulation's seconds per million objects and frames on three threads; what flies is cheaper than what
// piles up.
const bakeCosts = { freefall: 3, gravity: 5, brownian: 0.8, tower: 70, 'ray-freefall': 1, 'ray-particles': 0.8 };

const startOf = window => Number(/@(\d+)/.exec(window)[1]);
const endOf = window => sum(/@(\d+)\+(\d+)/.exec(window).slice(1).map(Number));

// A window within another is cut from its recording when it is needed.
const widest = windows => windows.filter(window => !windows.some(other => other !== window && startOf(other) <= startOf(window) && endOf(window) <= endOf(other)));

function bakeOf(lines) {
    const [{ need, scene, objects, type }] = lines;
    const parts = distinct(lines.flatMap(line => line.parts));
    const windows = widest(distinct(lines.flatMap(line => line.windows)));
    const last = Math.max(...windows.map(window => endOf(window)));
    const words = [...distinct(parts.map(part => `paper-${part.slice(0, 3)}`)), '--only', parts.join(','), '-n', String(objects), '--scenes', windows.join(',')];
    return { kind: scene === 'tower' ? 'solo' : 'bake', name: need, need: '-', words, type, seconds: (bakeCosts[scene] ?? 3) * (last < 100 ? 0.4 : 1) * last * objects / 1e6 };
}

// Some cells again where nothing else runs, to tell what the other lanes cost: Brownian of each large size
// that is measured at all.
function aloneOf(lines) {
    const own = lines.filter(line => line.kind === 'run' && line.objects >= 64000 && line.scene === 'brownian' && line.parts.some(part => /^004-cubes/.test(part)));
    return distinct(own.map(line => line.objects)).map(objects => {
        const of = own.filter(line => line.objects === objects);
        const windows = distinct(of.flatMap(line => line.windows));
        const part = of[0].parts.find(name => name.startsWith('004-cubes'));
        return { kind: 'alone', name: `alone-${objects}`, need: of[0].need, seconds: 0, words: ['paper-004', '--only', part, '-n', String(objects), '-m', 'kd-paper,kd,cgal', '--scenes', windows.join(','), '--repeat', '2'] };
    });
}

const text = ({ kind, name, need, words }) => [kind, name, need, words.join(' ')].join('\t');

/**
 * The plan of what is missing, or was measured while others were busy; `wanted`: a pattern of the names of
 * lines, to take some alone. Also its guess in seconds, by kind.
 */
export function missingPlan(program, grade, folders, { wanted = /./, last = /^$/ } = {}) {
    const have = readFolders(folders).raw.filter(run => run.status === 'ok' && isQuiet(run)).map(cellOfRun);
    const lines = grades[grade].pieces.flatMap(one => {
        const cells = missingCells(cellsOf(program, one), have).map(cell => ({ ...cell, seconds: guess(cell, have) }));
        return linesOf(one, cells);
    }).map((line, index) => ({ ...line, name: `${line.name}-${index}` })) // two lines may differ in what their names leave out
        .filter(line => wanted.test(line.name)).sort((a, b) => last.test(a.name) - last.test(b.name) || b.seconds - a.seconds);
    const bakes = groupBy(lines, line => line.need).map(bakeOf).sort((a, b) => b.seconds - a.seconds);
    const all = [...bakes, ...aloneOf(lines), ...lines];
    return { lines: all, text: all.map(text).join('\n') + '\n' };
}

// node plan.mjs PROGRAM GRADE FOLDER,… [PATTERN]: the plan to standard output, what it would take to standard
// error.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
    const [program, grade, folders, wanted] = process.argv.slice(2);
    const plan = missingPlan(program, grade, folders.split(','), wanted ? { wanted: new RegExp(wanted) } : {});
    const seconds = kind => Math.round(sum(plan.lines.filter(line => line.kind === kind).map(line => line.seconds)));
    process.stdout.write(plan.text);
    process.stderr.write(`missing: ${distinct(plan.lines.map(line => line.kind)).map(kind => `${kind} ${plan.lines.filter(line => line.kind === kind).length} lines, ${seconds(kind)} s`).join('; ')}\n`);
}
