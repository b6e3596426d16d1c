// SPDX-License-Identifier: MIT
// How much of the papers' schedules is run, piece by piece. A piece is one call of `cleave run`, of under ten minutes on one core;
// runs that several parts ask for are done once because those parts stand in the same piece.
//   tiny   a few hundred objects, to test the machinery
//   quick  a quarter of an hour on two cores
//   hour   what `make papers` does
//   full   the papers' own sizes: hours on two cores, a quarter of an hour on sixteen (scripts/papers/bare.sh)

const distinct = values => [...new Set(values)];

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

/** The pieces of a grade that fits two cores; sizes as `cleave run` takes them, `more` words for all. */
function inOrder({ cubes: cubesSizes, slowest, assorted: assortedSizes, tree, pruning: pruningSizes, rest: restSizes, whole: wholeSizes, whole32k, rayLeaf, ray, tower, more = [], restMore = [], wholeMore = [] }) {
    return [
        piece('cubes', [...cubes, ...slow], ['-n', cubesSizes, ...more]),
        piece('tree', [...leaf, '004-leaf-ours', '004-variants', '004-variants-ours', '004-batches'], ['-n', tree, ...more]),
        piece('pruning', [...pruning, '004-pruning-none'], ['-n', pruningSizes, ...restMore]),
        piece('rest', [...rest, '004-rest-ours'], ['-n', restSizes, ...restMore]),
        piece('assorted', assorted, ['-n', assortedSizes, ...more]),
        piece('slowest', ['001-slowest'], ['-n', slowest, ...restMore]),
        piece('quickest', ['001-quickest'], ['-n', slowest, ...restMore], { wide: true }),
        piece('whole', whole, ['-n', wholeSizes, ...wholeMore]),
        ...(whole32k ? [piece('whole-32k', ['004-whole-32k'])] : []),
        piece('ray-leaf', ['002-leaf', '002-leaf-scalar'], ['-n', rayLeaf, ...more]),
        piece('ray', ['002-others'], ['-n', ray, ...more]),
        piece('tower', ['003-falling', '003-landed'], tower),
    ];
}

// ---- the papers' own sizes

const scenes = ['freefall', 'brownian', 'gravity'];
const letters = { freefall: 'F', brownian: 'B', gravity: 'G' };
const bakesOf = (...sizes) => sizes.flatMap(size => scenes.map(scene => `${letters[scene]}-${size}`));

/** What is baked beforehand where many cores wait, longest first; a piece names what it needs. Windows are cut from whole runs. */
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
    piece('ray', ['002-leaf', '002-others'], ['-n', '1k,2k,4k,8k']),
    piece('tower', ['003-falling', '003-landed'], ['-n', '512']),
];

const few = ['--repeat', '2'];
const at = size => ['-n', size, ...few];
const steps = '1k,8k,16k,32k,64k,128k';
const largeSteps = '256k,512k,1024k';
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
    ...scenes.map(scene => ofScene('quickest', scene, ['001-quickest'], ['-n', steps], { needs: [`${letters[scene]}-128k`, `${letters[scene]}-64k`, `${letters[scene]}-32k`, `${letters[scene]}-8k`, `${letters[scene]}-small`], wide: true })),
    ...scenes.map(scene => ofScene('quickest-large', scene, ['001-quickest-large'], ['-n', largeSteps], { needs: ['256k', '512k', '1024k'].map(size => `${letters[scene]}-${size}`), wide: true })),
    ...scenes.map(scene => ofScene('slowest', scene, ['001-slowest'], ['-n', steps], { needs: [`${letters[scene]}-128k`, `${letters[scene]}-64k`, `${letters[scene]}-32k`, `${letters[scene]}-8k`, `${letters[scene]}-small`] })),
    ...scenes.map(scene => ofScene('whole-32k', scene, ['004-whole-32k'], ['-n', '32k'], { needs: [`${letters[scene]}-32k`] })),
    ...scenes.map(scene => ofScene('leaf-ours', scene, ['004-leaf-ours'], at('128k'), { needs: [`${letters[scene]}-128k`] })),
    piece('ray-leaf', ['002-leaf', '002-leaf-scalar'], ['-n', '4k', '--repeat', '3'], { needs: ['ray'] }),
    piece('ray', ['002-others'], ['-n', '1k,2k,4k,8k', '--repeat', '3'], { needs: ['ray'] }),
    piece('tower', ['003-falling', '003-landed'], ['-n', '512'], { needs: ['tower'] }),
    piece('rest-64k', rest, ['-n', '64k'], { needs: ['F-64k'] }),
    ...scenes.map(scene => ofScene('slowest-large', scene, ['001-slowest-large'], ['-n', largeSteps], { needs: ['256k', '512k', '1024k'].map(size => `${letters[scene]}-${size}`) })),
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
        about: 'up to 32,000 cubes and 8,000 assorted objects',
        pieces: inOrder({
            cubes: '1k,2k,4k,8k,16k,32k', slowest: '1k,8k,16k,32k', assorted: '1k,2k,4k,8k', tree: '32k', pruning: '8k,32k', rest: '1k,8k', whole: '8k', whole32k: true, rayLeaf: '4k', ray: '1k,2k,4k,8k',
            tower: few, more: few,
        }),
        sim: { bodies: 512, frames: 7000 },
    },
    full: { about: "the papers' own sizes", pieces: fullPieces, sim: { bodies: 512, frames: 7000 } },
};

/** The runs of `cleave sim tower` that paper 003 compares. */
export const towers = ['1,1,1', '1,3,1'].flatMap(scale => ['18-dop', 'aabb', 'sphere'].map(volume => ({ volume, scale })));

export const towerFile = ({ volume, scale }) => `tower-${volume}-${scale.replaceAll(',', '')}.csv`;

/** The words of `cleave run` for a piece, without where its results go. */
export const pieceWords = one => [...one.schedules, '--only', one.parts.join(','), ...one.words];

export const towerWords = (tower, { bodies, frames }) => ['tower', '--volume', tower.volume, '--scale', tower.scale, '--bodies', String(bodies), '--frames', String(frames)];

/** What a machine without node goes by, line by line: kind, name, needs, words; tabs between. */
export function planText(grade) {
    const { pieces, sim } = grades[grade];
    const row = (kind, name, needs, words) => [kind, name, needs.join(',') || '-', words.join(' ')].join('\t');
    const isFull = grade === 'full';
    return [
        ...(isFull ? bakes : []).map(one => row('bake', one.name, [], pieceWords(one))),
        ...(isFull ? alone : []).map(one => row('alone', one.name, one.needs, pieceWords(one))),
        ...towers.map(tower => row('sim', towerFile(tower), [], towerWords(tower, sim))),
        ...pieces.map(one => row(one.wide ? 'wide' : 'run', one.name, one.needs, pieceWords(one))),
    ].join('\n') + '\n';
}
