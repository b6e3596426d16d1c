// SPDX-License-Identifier: MIT
// The leaf kernels of the default engine: boxes to records, and the pairs of one cell. One set per instruction set, as in kernels.h. None
// knows of grids, blocks or workers: that is plain C, engine/. cells_scalar.c is written for itself, not from the template of the others;
// test_engine_cells.c compares them lane by lane.
#pragma once

#include "pair/sink.h"
#include "simd/cell_scaling.h"
#include "simd/cell_segment.h"
#include "simd/have.h"

/// Some boxes of many: slots[first], slots[first + 1], ... or, where there are no slots, first, first + 1, ...
typedef struct cell_boxes
{
    const clv_aabb* boxes;
    const uint32_t* slots;
    uint32_t first, count;
} cell_boxes;

static inline uint32_t cell_boxes_slot( const cell_boxes* some, uint32_t index )
{
    return some->slots != NULL ? some->slots[some->first + index] : some->first + index;
}

/// Where a box lies in a grid: the number of its first cell, and its first and last cell by axis.
typedef struct cell_reach
{
    cell_span span;
    uint32_t cell;
} cell_reach;

/// What a search did; added to, never cleared here.
typedef struct cell_counters
{
    uint64_t cell_count;
    uint64_t entry_count;
    uint64_t test_count;
    uint64_t candidate_count; ///< passed the bytes
    uint64_t tie_count;       ///< of these, what only floats could decide
    uint64_t failed_count;    ///< of these, what does not touch
} cell_counters;

/// Cells while they are searched, one after the other.
typedef struct cell_search
{
    const clv_aabb* exact; ///< boxes by slot: ties are decided by these
    pair_sink* sink;
    uint8_t* lanes;  ///< eight bytes for each entry of a cell, whole words of 64 and one more; aligned to 64
    uint32_t* slots; ///< likewise one number
    clv_pair* ties;  ///< CELL_TIES + 64
    uint32_t tie_count;
    cell_counters* counters;
} cell_search;

typedef struct simd_cells
{
    /// Boxes to records; before bits are 0.
    void ( *make_records )( const cell_boxes* some, const scaling* s, cell_record* out );

    /// The same, box i on scale numbers[i].
    void ( *make_records_by )(
        const cell_boxes* some, const scaling* scales, const uint16_t* numbers, cell_record* out );

    /// The same, and record i to segments[numbers[i]] of `out`, if goes[i]. A step of its own would be shorter, but then records made and records
    /// on their way to far memory wait for each other: a fifth more time to fill 1m boxes into blocks.
    void ( *put_records_by )( const cell_boxes* some, const scaling* scales, const uint16_t* numbers,
        const bool* goes, cell_segment* segments, cell_record* out );

    /// Which cells boxes reach.
    void ( *find_reaches )( const cell_boxes* some, const scaling* s, cell_reach* out );

    /// The pairs of one cell that have their home there: those that are sure to the sink, ties behind the others, which are settled when they
    /// are many. Order: words of 64 lanes; in each, words of rows up to it; rows; lanes. CELL_SLACK entries behind the last may be read.
    /// The first result other than CLV_OK that the sink gave.
    clv_result ( *search_cell )( cell_search* search, const cell_entry* entries, uint32_t count );

    /// Ties that touch, to the sink. None is left, except after a result other than CLV_OK.
    clv_result ( *settle_ties )( cell_search* search );
} simd_cells;

extern const simd_cells clv_simd_cells_scalar;
extern const simd_cells clv_simd_cells_sse2;
extern const simd_cells clv_simd_cells_avx2;
extern const simd_cells clv_simd_cells_avx512;
extern const simd_cells clv_simd_cells_neon;
