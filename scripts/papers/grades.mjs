// SPDX-License-Identifier: MIT
// How much of the papers' schedules is run, piece by piece. A piece is one call of `cleave run`, of under ten minutes on one core;
// runs that several parts ask for are done once because those parts stand in the same piece.
//   tiny   a few hundred objects, to test the machinery
//   quick  a quarter of an hour on two cores
//   hour   what `make papers` does: small sizes first, then as many of the larger ones as the hour has room for
//   full   the papers' own sizes: hours on two cores, a quarter of an hour on sixteen (scripts/papers/bare.sh)

const few = ['--repeat', '2'];
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
    ...scenes.map(scene => ofScene('quickest', scene, ['001-quickest'], ['-n', steps], { needs: [`${letters[scene]}-128k`, `${letters[scene]}-64k`, `${letters[scene]}-32k`, `${letters[scene]}-8k`, `${letters[scene]}-small`], wide: true })),
    ...scenes.map(scene => ofScene('quickest-large', scene, ['001-quickest-large'], ['-n', largeSteps], { needs: ['256k', '512k', '1024k'].map(size => `${letters[scene]}-${size}`), wide: true })),
    ...['threads', 'gpu'].flatMap(kind => scenes.flatMap(scene => [
        ofScene(kind, scene, [`001-${kind}`], ['-n', '1k,8k,32k,128k'], { needs: ['128k', '32k', '8k', 'small'].map(size => `${letters[scene]}-${size}`), ...(kind === 'gpu' ? gpu : { wide: true }) }),
        ofScene(`${kind}-large`, scene, [`001-${kind}-large`], ['-n', '1024k'], { needs: [`${letters[scene]}-1024k`], ...(kind === 'gpu' ? gpu : { wide: true }) }),
    ])),
    ...scenes.map(scene => ofScene('slowest', scene, ['001-slowest'], ['-n', steps], { needs: [`${letters[scene]}-128k`, `${letters[scene]}-64k`, `${letters[scene]}-32k`, `${letters[scene]}-8k`, `${letters[scene]}-small`] })),
    ...scenes.map(scene => ofScene('whole-32k', scene, ['004-whole-32k'], ['-n', '32k'], { needs: [`${letters[scene]}-32k`] })),
    ...['8k', '32k'].map(size => piece(`variants-whole-${size}`, ['004-variants-whole'], ['-n', size], { needs: [`F-${size}`] })),
    ...scenes.map(scene => ofScene('leaf-ours', scene, ['004-leaf-ours'], at('128k'), { needs: [`${letters[scene]}-128k`] })),
    piece('ray-leaf', ['002-leaf', '002-leaf-scalar'], ['-n', '4k', '--repeat', '3'], { needs: ['ray'] }),
    piece('ray', ['002-others'], ['-n', '1k,2k,4k,8k', '--repeat', '3'], { needs: ['ray'] }),
    piece('tower', ['003-falling', '003-landed'], ['-n', '512'], { needs: ['tower'] }),
    piece('rest-64k', rest, ['-n', '64k'], { needs: ['F-64k'] }),
    ...scenes.map(scene => ofScene('slowest-large', scene, ['001-slowest-large'], ['-n', largeSteps], { needs: ['256k', '512k', '1024k'].map(size => `${letters[scene]}-${size}`) })),
];

// ---- an hour on two cores

// What a page needs at all comes first, at 8k and below: a quarter of an hour. Then the towers, as long again, then what grows: `late` pieces,
// the dearest last. One size a piece, so that time that is up costs a size and not a part of each. By the journal of the full grade it all takes
// 67 minutes on two cores, of which the last piece, mostly baking, takes eight.
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

/** The runs of `cleave sim tower` that the k-DOP paper compares. */
export const towers = ['1,1,1', '1,3,1'].flatMap(scale => ['18-dop', 'aabb', 'sphere'].map(volume => ({ volume, scale })));

export const towerFile = ({ volume, scale }) => `tower-${volume}-${scale.replaceAll(',', '')}.csv`;

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
        ...(isFull ? alone : []).map(one => row('alone', one.name, one.needs, pieceWords(one))),
        ...towers.map(tower => row('sim', towerFile(tower), [], towerWords(tower, sim))),
        ...pieces.map(one => row(kindOf(one), one.name, one.needs, pieceWords(one))),
    ].join('\n') + '\n';
}
