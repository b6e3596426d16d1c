// SPDX-License-Identifier: MIT
// What the core has per instruction set: a table of functions, chosen once per space; every table gives the
// same pairs in the same order and the same counts. The scalar table is the reference for the others. Those
// that only the library of methods needs are in src/methods/simd.
#pragma once

#include "base/exact.h"
#include "pair/sink.h"

#include <assert.h>

// Which kernel tables this compiler can make for this target. It is asked here and nowhere else, so that
// CMake and a plain `cc` over the sources give the same library. CLV_SCALAR_ONLY leaves out every table but
// the scalar one.
#if !defined( CLV_SCALAR_ONLY )

#if defined( __SSE2__ )
#define CLV_HAVE_SSE2

// A wider table is compiled with instructions that the rest of the library may not use: lanes_avx2.h and
// lanes_avx512.h turn them on for one file, whatever flags it is compiled with. Older compilers do not know
// all of AVX-512. WebAssembly has SSE2's instructions under other names (SIMD128), and none that are wider.
#if defined( __wasm__ )
#elif ( defined( __clang__ ) && __clang_major__ >= 8 ) ||                                                    \
    ( !defined( __clang__ ) && defined( __GNUC__ ) && __GNUC__ >= 9 )
#define CLV_HAVE_AVX2
#define CLV_HAVE_AVX512
#endif
#endif

#if defined( __aarch64__ ) && defined( __ARM_NEON )
#define CLV_HAVE_NEON
#endif

#endif

/// A function that is one instruction of one register or of two, under the name that the templates have for
/// it: most of what lanes_<isa>.h says.
#define SIMD_ONE( name, type, of, instruction )                                                              \
    static inline type name( of a )                                                                          \
    {                                                                                                        \
        return instruction( a );                                                                             \
    }
#define SIMD_TWO( name, type, of, instruction )                                                              \
    static inline type name( of a, of b )                                                                    \
    {                                                                                                        \
        return instruction( a, b );                                                                          \
    }

/// Boxes by axis. Arrays hold `count` entries and are readable, and NaN, up to the next multiple of
/// KERNEL_LANES plus KERNEL_LANES: no comparison with NaN holds, so a full-width step past the end finds
/// nothing. Each array starts on a 64-byte boundary.
typedef struct simd_boxes
{
    float* lower[3];
    float* upper[3];
    uint32_t* slots; ///< whose box this is
    uint32_t count;
} simd_boxes;

/// Where a box may be and still count as resting: each face within `margin` of this one. The margin stands
/// twice so that each half of the record is a register's worth.
typedef struct simd_rest_box
{
    float lower[3];
    float margin;
    float upper[3];
    float margin_again;
} simd_rest_box;

static_assert( sizeof( simd_rest_box ) == 32, "two to a cache line" );

/// A box as six coordinates of 15 bits, 16 bits apart in each word; above those of `lower` and of `upper` are
/// 16 bits that mean nothing here. In `upper` the bit above each coordinate is set, in `lower` it is not.
typedef struct simd_code_box
{
    uint64_t lower, upper;
} simd_code_box;

#define SIMD_CODE_TOPS UINT64_C( 0x0000800080008000 )

enum
{
    SIMD_RUN = 16, ///< boxes that are taken at once
};

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

    /// Rows cursor->row .. row_end against columns max(row + 1, column_begin) .. column_end: all overlapping
    /// pairs, row by row, ascending. True when done; false when the sink is full, with the cursor where to go
    /// on. Start with cursor { row_begin, 0 }.
    bool ( *test_block )( const simd_boxes* boxes, uint32_t row_end, uint32_t column_begin,
        uint32_t column_end, simd_cursor* cursor, clv_pair_sink* sink );

    /// No NaN, and lower <= upper on every axis, in all of them?
    bool ( *are_good )( const clv_aabb* boxes, uint32_t count );

    /// The same where corners are `stride` bytes apart, each of `corner` bytes: two floats or three.
    bool ( *are_good_apart )(
        const void* lower, const void* upper, size_t stride, size_t corner, uint32_t count );

    /// SIMD_RUN boxes, whose corners lie likewise, each of three floats, into slots that lie within 64 of
    /// each other. Returns the slots' bits, each at its number modulo 64.
    uint64_t ( *put_near )(
        clv_aabb* own, const clv_id* ids, const char* lower, const char* upper, size_t stride );

    /// Boxes into slots wherever they are, each of which gets its bit in `words`, unless that is NULL.
    void ( *put_anywhere )( clv_aabb* own, const clv_id* ids, const char* lower, const char* upper,
        size_t stride, uint32_t count, uint64_t* words );

    /// A bit for each of up to 64 boxes that has a face outside lower - margin .. lower + margin, or upper
    /// likewise, of its rest box.
    uint64_t ( *find_strays )( const clv_aabb* boxes, const simd_rest_box* rests, uint32_t count );

    /// A bit for each of up to 64 pairs whose boxes overlap.
    uint64_t ( *find_touching )( const clv_aabb* boxes, const clv_pair* pairs, uint32_t count );

    /// The numbers of those among `count` boxes that overlap `asked`, ascending, into `found`, which has room
    /// for all. Returns how many.
    uint32_t ( *find_codes )(
        const simd_code_box* boxes, uint32_t count, simd_code_box asked, uint32_t* found );

    /// A bit for each of up to 64 pairs of these rest boxes whose boxes shrunk by their margins overlap.
    uint64_t ( *find_sure )( const simd_rest_box* rests, const clv_pair* pairs, uint32_t count );

    /// A bit for each of up to 64 of these rest boxes that stands otherwise to `to` than to `from`: the boxes
    /// grown by both margins begin or cease to overlap, or the boxes shrunk by them do.
    uint64_t ( *find_changed )( const simd_rest_box* rests, const uint32_t* slots, uint32_t count,
        const simd_rest_box* from, const simd_rest_box* to );

    /// The default engine's, simd/cells.h.
    const struct simd_cells* cells;
} simd_kernels;

/// What tables without masks have as put_near and put_anywhere.
uint64_t clv_simd_put_near(
    clv_aabb* own, const clv_id* ids, const char* lower, const char* upper, size_t stride );
void clv_simd_put_anywhere( clv_aabb* own, const clv_id* ids, const char* lower, const char* upper,
    size_t stride, uint32_t count, uint64_t* words );

/// What tables without masks, but not the scalar one, have as are_good_apart.
bool clv_simd_are_good_apart(
    const void* lower, const void* upper, size_t stride, size_t corner, uint32_t count );

/// The table for an instruction set; NULL if it was not compiled in or this CPU lacks it. AUTO is not
/// accepted.
const simd_kernels* clv_simd_kernels_for( clv_isa isa );

/// The table for what a def asks for: AUTO is what the environment variable CLEAVE_ISA names, or else the
/// widest. NULL if there is none, and the reason in `line`.
const simd_kernels* clv_simd_kernels_choose( clv_isa isa, char* line, size_t line_size );

/// What queries walk with, simd/query_lanes.h, for an instruction set that has a table above. Apart from that
/// table, so that a program that asks no questions is linked without it.
const struct simd_queries* clv_simd_queries_for( clv_isa isa );
