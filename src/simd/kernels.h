// SPDX-License-Identifier: MIT
// The one place with instruction sets in it. A table of functions per set, chosen once per space; every table gives the
// same pairs in the same order and the same counts. The scalar table is the reference for the others.
#pragma once

#include "pair/sink.h"

/// Boxes by axis. Arrays hold `count` entries and are readable, and NaN, up to the next multiple of KERNEL_LANES plus
/// KERNEL_LANES: no comparison with NaN holds, so a full-width step past the end finds nothing.
/// Each array starts on a 64-byte boundary.
typedef struct simd_boxes
{
    float* lower[3];
    float* upper[3];
    uint32_t* slots; ///< whose box this is
    uint32_t count;
} simd_boxes;

/// Widest step of any table; also the padding unit.
#define KERNEL_LANES 32

/// How far a search has come: rows below `row` are done, and of that row the columns below `column`.
typedef struct simd_cursor
{
    uint32_t row;
    uint32_t column;
} simd_cursor;

typedef struct simd_kernels
{
    clv_isa isa;

    /// Rows cursor->row .. row_end against columns max(row + 1, column_begin) .. column_end: all overlapping pairs, row by
    /// row, ascending. True when done; false when the sink is full, with the cursor where to go on.
    /// Start with cursor { row_begin, 0 }.
    bool ( *test_block )( const simd_boxes* boxes, uint32_t row_end, uint32_t column_begin,
        uint32_t column_end, simd_cursor* cursor, pair_sink* sink );

    /// Boxes sorted ascending by lower[0]. Each row is tested against the columns behind it until one begins past the
    /// row's upper[0]. Adds the columns looked at to *test_count. Start with cursor { 0, 0 }; answers as above.
    /// A part of the rows: start with cursor { row_begin, 0 } and let boxes->count say where the rows end; columns go on
    /// behind them, up to the NaN at the end of the arrays.
    bool ( *sweep )( const simd_boxes* boxes, simd_cursor* cursor, pair_sink* sink, uint64_t* test_count );
} simd_kernels;

/// The table for an instruction set; NULL if it was not compiled in or this CPU lacks it. AUTO is not accepted.
const simd_kernels* simd_kernels_for( clv_isa isa );
