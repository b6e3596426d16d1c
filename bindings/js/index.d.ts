// SPDX-License-Identifier: MIT

export class CleaveError extends Error {
    /** A name of cleave/types.h, such as "CLV_BAD_BOX". */
    readonly code: string;
    /** Of the first bad entry of a batch; -1 where no entry is to blame. */
    readonly position: number;
}

export interface SpaceDef {
    /** As `Cleave.methods` lists them; by default "cleave". */
    method?: string;
    /** Parameters of the method, as in "kd.leaf=256". */
    settings?: string;
    /** Added around every box; finite, from 0 on. */
    margin?: number;
    /** An update that finds more fails with CLV_TOO_MANY_PAIRS; 0: no limit. */
    maxPairs?: number;
    /** The list sorted; otherwise in an order that depends on the calls alone. */
    sorted?: boolean;
    /** Keep begun and ended pairs. */
    events?: boolean;
    skipStaticPairs?: boolean;
    /** "sse2" stands for SIMD128. For comparing. */
    isa?: 'auto' | 'scalar' | 'sse2';
}

export interface SpaceStats {
    objectCount: number;
    slotCount: number;
    pairCount: number;
    candidateCount: number;
    testCount: number;
    updateCount: number;
    memoryBytes: number;
    updateMs: number;
    searchMs: number;
    outputMs: number;
}

export interface Space {
    /** Boxes: six floats each, lower x y z and upper x y z. Returns ids: index and generation each. */
    add(boxes: Float32Array): Uint32Array;
    move(ids: Uint32Array, boxes: Float32Array): void;
    remove(ids: Uint32Array): void;
    clear(): void;
    setStatic(ids: Uint32Array, isStatic?: boolean): void;
    /** Category, mask and group each. */
    setFilter(ids: Uint32Array, filters: Uint32Array): void;
    /** How many pairs touch. */
    update(): number;
    /** Two indices each, a < b; dies with the next call of any space. null where there is no list. */
    readonly pairs: Uint32Array | null;
    /** Two ids each; dies likewise. */
    readonly begun: Uint32Array;
    readonly ended: Uint32Array;
    readonly stats: SpaceStats;
    readonly isa: string;
    destroy(): void;
}

export interface Cleave {
    readonly version: string;
    readonly methods: readonly { readonly name: string; readonly family: string }[];
    createSpace(def?: SpaceDef): Space;
}

export function loadCleave(source?: WebAssembly.Module | BufferSource | string | URL): Promise<Cleave>;
