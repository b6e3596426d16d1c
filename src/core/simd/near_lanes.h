// SPDX-License-Identifier: MIT
// What lists of near points have per instruction set, in float and in double: a table of its own, so that a
// program without such lists is linked without it. All tables find the same pairs in the same order.
#pragma once

#include "base/exact.h"
#include "cleave/types.h"
#include "pair/sink.h"

/// Runs of columns, and columns in all of them, against which rows are tested in one call, at most.
#define NEAR_RUNS 32
#define NEAR_COLUMNS 512

/// Readable behind the last point of each array.
#define NEAR_LANES 16

/// Points that follow each other, or their images.
typedef struct simd_near_run
{
    uint32_t begin, end;
    uint32_t id_offset; ///< added to each id
    double offset[3];   ///< added to each position, exact in the points' type; 0: the points themselves
} simd_near_run;

/// Rows against columns, of points sorted by cell. The columns are those of all runs, in their order. Rows go
/// from `row` up to row_end; where `is_own`, the first run is of the rows' own row of cells, and each row
/// meets only what stands behind it there. Where `is_directed` it meets all but itself, and what it meets
/// comes as a row. `row` and `column`, the latter counted over all runs, tell how far a search has come that
/// found the sink full.
typedef struct simd_near_search
{
    const void* x; ///< floats or doubles
    const void* y;
    const void* z;
    const uint32_t* ids;
    double limit; ///< squared, exact in the points' type
    simd_near_run runs[NEAR_RUNS];
    uint32_t run_count;
    uint32_t column_count;
    uint32_t first_row, row, row_end; ///< all rows, and the next one
    uint32_t column;
    bool is_own;
    bool is_compact; ///< columns that no row reaches are looked for, and left out
    bool is_directed;
    bool is_lesser; ///< rows have what is not below their own id, which `least_step` is added to
    uint32_t least_step;
    double row_offset[3]; ///< of the rows, as a run has one for columns
    uint32_t row_id_offset;
} simd_near_search;

/// The column at which a row begins.
static inline uint32_t near_first_column( const simd_near_search* s )
{
    bool is_behind = s->is_own && !s->is_directed && s->row >= s->runs[0].begin;
    uint32_t first = is_behind ? s->row + 1 - s->runs[0].begin : 0;
    return s->column > first ? s->column : first;
}

/// The column that is the row itself, where that is among them and to be left out; else one behind the last.
static inline uint32_t near_own_column( const simd_near_search* s )
{
    uint32_t column = s->row - s->runs[0].begin;
    return s->is_own && column < s->runs[0].end - s->runs[0].begin ? column : s->column_count;
}

/// A row among pairs: an id and how many entries it has, then the entries' ids, two in a pair. Where the next
/// one is.
static inline uint64_t near_row_end( const clv_pair* pairs, uint64_t row )
{
    return row + 1 + ( (uint64_t)pairs[row].b + 1 ) / 2;
}

static inline uint32_t* near_row_entries( clv_pair* pairs, uint64_t row )
{
    return (uint32_t*)(void*)( pairs + row + 1 );
}

/// What a row's entries are compared with as they are put: the least that counts, or the other of each pair.
static inline uint32_t near_other_id( const simd_near_search* s )
{
    uint32_t id = s->ids[s->row];
    return s->is_lesser ? id + s->least_step : s->is_directed ? 0 : id + s->row_id_offset;
}

/// Puts columns whose bit is set, in order: as ids that are not below `other`, or as pairs with it. Returns
/// where the next goes. No branch on what was found, which would mispredict.
static inline uint32_t* near_emit_lanes(
    uint32_t* out, uint32_t other, bool is_directed, const uint32_t* ids, uint32_t lanes, uint32_t bits )
{
    for ( uint32_t lane = 0; is_directed && lane < lanes; ++lane, bits >>= 1 )
    {
        out[0] = ids[lane];
        out += bits & ( ids[lane] >= other );
    }
    for ( uint32_t lane = 0; !is_directed && lane < lanes; ++lane, bits >>= 1 )
    {
        uint32_t id = ids[lane], turned = ( other ^ id ) & ( 0u - ( id < other ) );
        out[0] = other ^ turned;
        out[1] = id ^ turned;
        out += 2 * ( bits & 1 );
    }
    return out;
}

/// Lanes whose bit is set move to the front, where no instruction does so.
static inline void near_press_floats( float* lanes, uint32_t count, uint32_t bits )
{
    for ( uint32_t lane = 0, to = 0; lane < count; to += bits >> lane & 1, ++lane )
    {
        lanes[to] = lanes[lane];
    }
}

static inline void near_press_doubles( double* lanes, uint32_t count, uint32_t bits )
{
    for ( uint32_t lane = 0, to = 0; lane < count; to += bits >> lane & 1, ++lane )
    {
        lanes[to] = lanes[lane];
    }
}

static inline void near_press_ids( uint32_t* lanes, uint32_t count, uint32_t bits )
{
    for ( uint32_t lane = 0, to = 0; lane < count; to += bits >> lane & 1, ++lane )
    {
        lanes[to] = lanes[lane];
    }
}

/// The row that begins at `head` ends at `out`: where the next begins, here if it is empty.
static inline uint32_t* near_close_row( const simd_near_search* s, uint32_t* head, uint32_t* out )
{
    uint32_t count = (uint32_t)( out - head ) - 2;
    head[0] = s->ids[s->row] + s->row_id_offset;
    head[1] = count;
    return count > 0 ? out + count % 2 : head;
}

/// All pairs of the search, a < b by id, or all rows that are not empty. False if the sink is full; go on
/// with the same search.
typedef bool simd_near_find( simd_near_search* search, clv_pair_sink* sink );

typedef struct simd_near
{
    simd_near_find* find;
    simd_near_find* find64;
} simd_near;

extern const simd_near clv_simd_near_scalar, clv_simd_near_sse2, clv_simd_near_avx2, clv_simd_near_avx512,
    clv_simd_near_neon;

/// For an instruction set that has a table in kernels.h.
const simd_near* clv_simd_near_for( clv_isa isa );
