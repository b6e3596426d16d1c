// SPDX-License-Identifier: MIT
// The headers of the C library say more about each call: cleave/space.h, query.h, near.h, match.h and save.h.

/**
 * What a call refused. Nothing has changed then, except where it says otherwise.
 * A TypeError is thrown in its place for arguments of a wrong type or length.
 */
export class CleaveError extends Error {
    /** A name of cleave/types.h, such as "CLV_BAD_BOX". */
    readonly code: string;
    /**
     * Of the first bad entry of a list; -1 where no entry is to blame. In loadSpace the
     * offset of the first bad byte.
     */
    readonly position: number;
    /** The id of that entry, if it has one. */
    readonly id: { readonly index: number; readonly generation: number } | null;
    /** Pairs that were found before an update failed. */
    readonly pairCount: number;
}

/** The index of a hit that there is none of. */
export const NO_HIT: 0xFFFFFFFF;

/**
 * Boxes: lower x y z, upper x y z each. Four numbers each in a flat space; Float64Array in a space of
 * doubles.
 */
export type Boxes = Float32Array | Float64Array;
/** Two numbers each: index and generation. Pairs and hits name objects by their indices. */
export type Ids = Uint32Array;
/** Three numbers each: category, mask, group. As Uint32Array, or as BigUint64Array for all 64 bits. */
export type Filters = Uint32Array | BigUint64Array;

export interface SpaceDef {
    /** As `Cleave.methods` lists them; by default "cleave". */
    method?: string;
    /** Parameters of the method, as in "kd.leaf=256". */
    settings?: string;
    /** Boxes to reserve for; the space grows past it. */
    capacity?: number;
    /** Pairs to reserve for, likewise. */
    pairCapacity?: number;
    /** An update that finds more fails with CLV_TOO_MANY_PAIRS; 0: no limit. */
    maxPairs?: number;
    /** Added around every box; finite, from 0 on. */
    margin?: number;
    /** Part of a box's longest side added to its margin. */
    marginBySize?: number;
    /** Part of a box's motion added to its margin. */
    marginBySpeed?: number;
    /** The list sorted; otherwise in an order that depends on the calls alone. */
    sorted?: boolean;
    /** Keep begun and ended pairs. */
    events?: boolean;
    /** Leave out pairs of two objects that are both static. */
    skipStaticPairs?: boolean;
    /** Keep a number of yours for each pair: `lend('pairData')`. */
    pairData?: boolean;
    /** Boxes in double, exact at a billion metres. */
    doubles?: boolean;
    /** Boxes of two axes. */
    flat?: boolean;
    /** Fill the times in `stats`. */
    stageTimes?: boolean;
    /**
     * Threads that may share a large call, the caller's included: up to `Cleave.threads`, which is the
     * default.
     */
    workers?: number;
    /** "sse2" stands for SIMD128. For comparing. */
    isa?: 'auto' | 'scalar' | 'sse2';
    /**
     * Asked about the indices of each pair that touches and that categories, masks and groups allow. The
     * answer is kept while the pair lasts, until `refilter`. It may read this space and may not change it
     * (CLV_BUSY). What it throws, `update` throws; pairs that it had not decided are left out then, and it is
     * asked about them in the next update.
     */
    filter?: (a: number, b: number) => boolean;
}

/** What of a def is not part of a snapshot. A space that had a filter needs one again. */
export type LoadDef = Pick<SpaceDef, 'capacity' | 'pairCapacity' | 'stageTimes' | 'workers' | 'isa' | 'filter'>;

export interface SpaceStats {
    objectCount: number;
    slotCount: number;
    pairCount: number;
    candidateCount: number;
    testCount: number;
    begunCount: number;
    endedCount: number;
    updateCount: number;
    memoryBytes: number;
    memoryPeakBytes: number;
    allocationCount: number;
    /** Times are 0 without `stageTimes`. */
    updateMs: number;
    searchMs: number;
    cleanMs: number;
    outputMs: number;
    /** Bits of clv_update_reason in cleave/types.h: why the update took longer than those around it. */
    reasons: number;
}

export interface AddOptions {
    userData?: BigUint64Array;
    filters?: Filters;
    margins?: Float32Array;
    isStatic?: Uint8Array;
    /** Three numbers each. */
    motions?: Float32Array;
}

/**
 * What is asked, and the numbers of an item (in a flat space):
 * - points: x y z (x y)
 * - boxes: as boxes are added
 * - spheres: centre, radius
 * - neighbourhoods: box, distance
 * - capsules: a, b, radius
 * - orientedBoxes: centre, half size, rotation as a quaternion x y z w (as cos, sin)
 * - halfSpaces: normal, offset of each plane; dot( normal, p ) <= offset is inside
 * - rays: origin, direction, maxT
 * - boxCasts: box, motion, maxT
 * - sphereCasts: centre, radius, motion, maxT
 * - capsuleCasts: a, b, radius, motion, maxT
 */
export type QueryKind = 'points' | 'boxes' | 'spheres' | 'neighbourhoods' | 'capsules' | 'orientedBoxes' | 'halfSpaces' | 'rays' |
    'boxCasts' | 'sphereCasts' | 'capsuleCasts';

export interface QueryOptions {
    /** One for all queries, or one for each. */
    filters?: Filters;
    /** Ask about the boxes without their margins. */
    asGiven?: boolean;
    /**
     * Asked about each object that is found, in an order of its own: whether it counts, or that and how
     * far the query still looks, in the unit of t, which shortens a ray. It may ask the space. What it
     * throws, the question throws.
     */
    callback?: (query: number, index: number, t: number, reach: number) => boolean | { counts?: boolean; reach: number };
    /**
     * Of half-spaces: planes of region i are those from regions[i] to regions[i + 1]. By default
     * all planes are one region.
     */
    regions?: Uint32Array;
    /** Of half-spaces in a space of doubles: where each region is seen from, three numbers each. */
    origins?: Float64Array;
}

export interface Hits {
    /** Of objects, as in pairs; NO_HIT where there is none. */
    indices: Uint32Array;
    /**
     * Time of impact of a ray or cast, distance of a sphere or neighbour, else 0.
     * Float64Array in a space of doubles.
     */
    t: Float32Array | Float64Array;
}

export interface HitLists extends Hits {
    /** Hits of query i are those from offsets[i] to offsets[i + 1]. */
    offsets: Uint32Array;
}

export interface Space {
    // Objects in.
    add(boxes: Boxes, options?: AddOptions): Ids;
    /** All of them, or none. Fastest in the order of the indices. */
    move(ids: Ids, boxes: Boxes): void;
    /** The boxes of all objects, in the order of `ids`. */
    moveAll(boxes: Boxes): void;
    remove(ids: Ids): void;
    /** Without events. */
    clear(): void;
    shiftOrigin(x: number, y: number, z?: number): void;

    // What objects carry.
    setUserData(ids: Ids, values: BigUint64Array): void;
    setMargin(ids: Ids, margins: Float32Array): void;
    /** Three numbers each: fixed, by size, by speed. */
    setMarginRule(ids: Ids, rules: Float32Array): void;
    /** How far each goes in the step that the next update looks ahead to: three numbers each. */
    setMotion(ids: Ids, motions: Float32Array): void;
    setFilter(ids: Ids, filters: Filters): void;
    setStatic(ids: Ids, isStatic?: boolean | Uint8Array): void;
    refilter(ids: Ids): void;
    getBoxes(ids: Ids): Boxes;
    getTestBoxes(ids: Ids): Boxes;
    getUserData(ids: Ids): BigUint64Array;
    getMargin(ids: Ids): Float32Array;
    getMarginRule(ids: Ids): Float32Array;
    getMotion(ids: Ids): Float32Array;
    getFilter(ids: Ids): BigUint64Array;
    getStatic(ids: Ids): Uint8Array;
    /** 1 for each id whose object is in this space now. */
    contains(ids: Ids): Uint8Array;
    /** Ids by indices; 0 and 0 where there is no object. */
    idsAt(indices: Uint32Array): Ids;
    /** Of all objects, in the order of their indices. */
    readonly ids: Ids;
    readonly count: number;

    // Pairs out.
    /** How many pairs touch. */
    update(): number;
    /**
     * The same without a list: pairs in chunks, each an array of yours. Return false to stop. True if it came
     * to the end. Not with `sorted`, `events` or `pairData`.
     */
    visit(visitor: (pairs: Uint32Array) => boolean | void): boolean;
    /** Two indices each, a < b. Copied once after each update, and yours. null where there is no list. */
    readonly pairs: Uint32Array | null;
    /** Two ids each, as they were in the update; 0 and 0 in place of an object that was removed since. */
    readonly pairIds: Uint32Array | null;
    /** Two ids each. Copies, as `pairs`. */
    readonly begun: Uint32Array;
    readonly ended: Uint32Array;
    /** The user data of both objects of each event; null where there is none. */
    readonly begunUser: BigUint64Array | null;
    readonly endedUser: BigUint64Array | null;
    /** The number of each ended pair, with `pairData`. */
    readonly endedData: BigUint64Array | null;
    /**
     * The space's own memory in place of a copy, to read (pairData: to write too) at once: any later call of
     * the library may change what it shows, and memory that grows leaves it with no elements.
     */
    lend(name: 'pairs' | 'begun' | 'ended'): Uint32Array | null;
    lend(name: 'pairData' | 'begunUser' | 'endedUser' | 'endedData'): BigUint64Array | null;

    // Questions, about the boxes as of the last update or refresh. Touching counts.
    /** Everything that each query finds, by index. */
    queryAll(kind: QueryKind, items: Float32Array | Float64Array, options?: QueryOptions): HitLists;
    /** One hit of each query, whichever comes first. The quickest question. */
    queryAny(kind: QueryKind, items: Float32Array | Float64Array, options?: QueryOptions): Hits;
    /** What each ray or cast meets first. */
    queryClosest(kind: QueryKind, items: Float32Array | Float64Array, options?: QueryOptions): Hits;
    /** The k objects nearest to each point or box: those of query i from i * k on, nearest first. */
    queryNearest(kind: 'points' | 'boxes', items: Float32Array | Float64Array, k: number, options?: QueryOptions & { maxDistance?: number }): Hits;
    /**
     * As queryAll, one query after the other, also those that find nothing. Return false to stop.
     * True if it came to the end.
     */
    queryVisit(kind: QueryKind, items: Float32Array | Float64Array,
        visitor: (query: number, indices: Uint32Array, t: Float32Array | Float64Array) => boolean | void, options?: QueryOptions): boolean;
    /**
     * Every touching pair of an object of this space and one of another: an index here and an index there,
     * sorted.
     */
    queryPairs(other: Space, options?: { asGiven?: boolean }): Uint32Array;
    /** From here on questions see the boxes as they are now, without a search for pairs. */
    refresh(): void;
    /** What the ray meets first; null if nothing. */
    castRay(origin: ArrayLike<number>, direction: ArrayLike<number>, maxT?: number): { index: number; t: number } | null;
    /** Is there anything on the way from a to b? */
    isBlocked(a: ArrayLike<number>, b: ArrayLike<number>): boolean;
    /** The indices of what touches the box. */
    overlapBox(box: ArrayLike<number>): Uint32Array;
    /** The k nearest to a point, nearest first; fewer if there are fewer. */
    nearest(point: ArrayLike<number>, k: number, maxDistance?: number): Hits;

    // About the space.
    /**
     * "disk", the default, for any machine and later versions; "memory" for this build, which
     * goes on in the same order.
     */
    save(form?: 'disk' | 'memory'): Uint8Array;
    readonly stats: SpaceStats;
    readonly method: string;
    readonly isa: string;
    /** Threads that may share a call. */
    readonly workers: number;
    readonly flat: boolean;
    readonly doubles: boolean;
    /** Give back memory beyond what the objects and the last list need. */
    shrink(): void;
    destroy(): void;
}

export interface NearDef {
    /** Points as far apart as this, or nearer, are listed. */
    cutoff: number;
    /** A list up to cutoff + skin is kept while no point has moved by more than half the skin. */
    skin?: number;
    doubles?: boolean;
    flat?: boolean;
    /** Each pair from both sides. */
    full?: boolean;
    /** As offsets and indices in place of pairs. */
    byPoint?: boolean;
    squared?: boolean;
    vectors?: boolean;
    shifts?: boolean;
    maxPairs?: number;
    workers?: number;
}

export interface NearOptions {
    /** One for each point: two are a pair if they are closer than cutoff and both radii. */
    radii?: Float32Array | Float64Array;
    /** Two points of one group other than 0 are no pair. */
    groups?: Uint32Array;
    /** Three edges from the origin, nine numbers. */
    cell?: ArrayLike<number>;
    /** Along each edge; all, by default, but for the third in a flat list. */
    periodic?: readonly [boolean, boolean, boolean];
}

/** Copies, and yours. */
export interface NearList {
    count: number;
    /** Two points each; without `byPoint`. */
    pairs?: Uint32Array;
    /** Neighbours of point i are indices[offsets[i]] to indices[offsets[i + 1] - 1]; with `byPoint`. */
    offsets?: Uint32Array;
    indices?: Uint32Array;
    /** Where the def asks for them; vectors and shifts are three numbers each. */
    squared?: Float32Array | Float64Array;
    vectors?: Float32Array | Float64Array;
    shifts?: Int32Array;
}

export interface Near {
    /** Pairs that are never listed: two points each; replaces those of the last call. */
    exclude(pairs: Uint32Array): void;
    /** Points of three numbers, or two in a flat list. `isNew`: the list was made anew, not kept. */
    update(points: Float32Array | Float64Array, options?: NearOptions): NearList & { isNew: boolean };
    /** The same in chunks, without a list; not with `full` or `byPoint`. Return false to stop. */
    visit(points: Float32Array | Float64Array, visitor: (part: NearList) => boolean | void, options?: NearOptions): boolean;
    destroy(): void;
}

export interface Cleave {
    readonly version: string;
    readonly methods: readonly { readonly name: string; readonly family: string }[];
    /** Threads that spaces may use, the caller's included: 1 where there are none. */
    readonly threads: number;
    /** One sentence; '' where there are threads. */
    readonly whyNoThreads: string;
    createSpace(def?: SpaceDef): Space;
    /** A space from the bytes of `Space.save`. */
    loadSpace(bytes: Uint8Array, def?: LoadDef): Space;
    /** Every two boxes that touch, in one call: two positions each. */
    pairs(boxes: Boxes, def?: SpaceDef): Uint32Array;
    createNear(def: NearDef): Near;
    /**
     * Regions of one to eight axes, lower corner and upper: every two that overlap, or every overlap of
     * one with one of `others`.
     */
    match(axes: number, regions: Float64Array, others?: Float64Array): Uint32Array;
    /** End the threads. Spaces and lists with several workers may not be used any more. */
    close(): void;
}

export type WasmSource = WebAssembly.Module | BufferSource | string | URL;

export interface LoadOptions {
    /**
     * How many threads, the caller's included, or 'auto' for as many as the machine has. Above 1 the module
     * with threads is taken where there may be threads (node, and pages that are cross-origin isolated), and
     * otherwise the one without. 1, by default.
     */
    threads?: number | 'auto';
    /** In place of cleave.wasm beside index.js. */
    source?: WasmSource;
    /** In place of cleave-threads.wasm. */
    threadsSource?: WasmSource;
}

export function loadCleave(options?: LoadOptions | WasmSource): Promise<Cleave>;
