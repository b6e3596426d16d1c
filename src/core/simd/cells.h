// SPDX-License-Identifier: MIT
// The leaf kernels of the default engine: boxes to records, and the pairs of one cell. One set per
// instruction set, as in kernels.h. None knows of grids, blocks or workers: that is plain C, engine/. Those
// of kernels_scalar.c are written for themselves, not from the template of the others (cell_body.h);
// test_engine_cells.c compares them lane by lane.
#pragma once

#include "base/exact.h"
#include "cleave/types.h"
#include "pair/sink.h"
#include "simd/kernels.h"

/// A box in six bytes, and whose it is. Lower x y z and upper x y z, bytes 0 to 2 and 4 to 6 of the code, are
/// 256ths of a cell, rounded down, so that what touches stays touching. Byte 3 has a bit for each axis on
/// which the box begins before, where another cell or block sees its beginning. The slot is the lower half of
/// the name.
///
/// An entry is a box in one of its cells, relative to that. A record is a box on its way there: lower
/// relative to its first cell, whose number is the upper half of the name, upper to its last; byte 7 is its
/// class, a bit for each axis on which there is a second cell, or CELL_WIDE where it spans more than two.
typedef struct cell_entry
{
    uint64_t code;
    uint64_t name;
} cell_entry;

typedef cell_entry cell_record;

enum
{
    CELL_WIDE = 8,    // the class of a box that spans more than two cells on some axis
    CELL_STEPS = 256, // positions inside a cell
    CELL_TIES = 1024, // collected before they are tested in float
    CELL_SLACK = 64,  // entries read past the last
    CELL_TRAY = 16,   // boxes of one block that become records at once
    HITS_AT_ONCE =
        // that become pairs: whole registers may be written where pairs go, of which a sink has room for 64
    48
};

static inline uint64_t cell_name( uint32_t slot, uint32_t cell )
{
    return slot | (uint64_t)cell << 32;
}

static inline uint32_t cell_slot( const cell_entry* entry )
{
    return (uint32_t)entry->name;
}

static inline uint32_t cell_first( const cell_record* record )
{
    return (uint32_t)( record->name >> 32 );
}

static inline uint32_t cell_class( const cell_record* record )
{
    return (uint32_t)( record->code >> 56 );
}

static inline uint32_t cell_before( const cell_entry* entry )
{
    return (uint32_t)( entry->code >> 24 ) & 7;
}

// ---- from coordinates to cells, in plain C: the reference of every kernel, and what handles boxes one by
// one

/// How eight coordinates become 256ths of cells; words 3 and 7 hold none and become 0.
typedef struct scaling
{
    float origin[8], scale[8], most[8];
    int16_t weights[8]; ///< what a cell's coordinates are multiplied with, and added up, to get its number
} scaling;

/// A box in 256ths of cells: for each coordinate ( value - origin ) * scale, held between 0 and most, without
/// its fraction. Monotonic, so what touches stays touching. The fourth words are 0.
typedef struct cell_words
{
    uint16_t lower[4], upper[4];
} cell_words;

/// The cells of a box's lower and upper corner: x, y and z as fields of 16 bits. The fourth field means
/// nothing.
typedef struct cell_span
{
    uint64_t first, last;
} cell_span;

/// A box's first cell, and its class.
typedef struct cell_key
{
    uint32_t cell;
    uint32_t kind; ///< a bit for each axis on which there is a second cell; CELL_WIDE: more than two
} cell_key;

static inline uint16_t cell_word_of( float value, const scaling* s, int axis )
{
    float v = ( value - s->origin[axis] ) * s->scale[axis];
    v = v > 0 ? v : 0;
    v = v < s->most[axis] ? v : s->most[axis];
    return (uint16_t)v;
}

static inline cell_words cell_words_of( const clv_aabb* box, const scaling* s )
{
    const float* lower = &box->lower.x;
    const float* upper = &box->upper.x;
    cell_words w = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        w.lower[axis] = cell_word_of( lower[axis], s, axis );
        w.upper[axis] = cell_word_of( upper[axis], s, axis );
    }
    return w;
}

static inline cell_span cell_words_span( const cell_words* w )
{
    cell_span span = { 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        span.first |= (uint64_t)( w->lower[axis] / CELL_STEPS ) << ( 16 * axis );
        span.last |= (uint64_t)( w->upper[axis] / CELL_STEPS ) << ( 16 * axis );
    }
    return span;
}

static inline cell_key cell_words_key( const cell_words* w, const scaling* s )
{
    cell_key key = { 0, 0 };
    bool is_wide = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t first = w->lower[axis] / CELL_STEPS;
        uint32_t size = w->upper[axis] / CELL_STEPS - first;
        key.cell += first * (uint16_t)s->weights[axis];
        key.kind |= (uint32_t)( size > 0 ) << axis;
        is_wide = is_wide || size > 1;
    }
    key.kind = is_wide ? CELL_WIDE : key.kind;
    return key;
}

/// The low bytes, as a record's code without bits.
static inline uint64_t cell_words_code( const cell_words* w )
{
    uint64_t code = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        code |= (uint64_t)( w->lower[axis] % CELL_STEPS ) << ( 8 * axis );
        code |= (uint64_t)( w->upper[axis] % CELL_STEPS ) << ( 32 + 8 * axis );
    }
    return code;
}

/// Coordinate `axis` of a corner's cell, from four fields of 16 bits.
static inline uint32_t cell_field( uint64_t fields, int axis )
{
    return (uint32_t)( fields >> ( 16 * axis ) ) & 0xFFFF;
}

// ---- room for records whose number is not known beforehand

/// Some records, one behind the other.
typedef struct cell_segment
{
    uint32_t first;
    uint32_t count; ///< what is beyond the capacity is only counted
    uint32_t capacity;
    uint32_t last_count; ///< of the update before
} cell_segment;

// ---- the kernels

/// Some boxes of many: slots[first], slots[first + 1], ... or, where there are no slots, first, first + 1,
/// ...
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

/// Boxes that wait to become records at once, all on one scale.
typedef struct cell_tray
{
    struct
    {
        clv_aabb box;
        uint32_t slot;
        uint32_t before; ///< the before bits, where they are in a code
    } items[CELL_TRAY];
} cell_tray;

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
    clv_pair_sink* sink;
    uint8_t* lanes;  ///< eight bytes for each entry of a cell, whole words of 64 and one more; aligned to 64
    uint32_t* slots; ///< likewise one number
    clv_pair* ties;  ///< CELL_TIES + 64
    uint32_t tie_count;
    cell_counters* counters;
    /// Entries are in order of their lowers on this axis, and none begins before its cell: rows that end
    /// before a word of lanes begins are passed over, and what is left, all rows from the first that reaches
    /// the word to the last, is counted in test_count. -1: in any order.
    int32_t axis;
} cell_search;

typedef struct simd_cells
{
    /// Boxes to records; before bits are 0.
    void ( *make_records )( const cell_boxes* some, const scaling* s, cell_record* out );

    /// The first `count` boxes of a tray to records, with their before bits. All of the tray may be read, and
    /// CELL_TRAY records written: what is behind `count` means nothing. If `may_stream`, a full tray may go
    /// past the caches to memory, where `out` begins a line: other threads see it after finish_streams.
    void ( *empty_tray )(
        const cell_tray* tray, uint32_t count, const scaling* s, cell_record* out, bool may_stream );
    void ( *finish_streams )( void );

    /// The pairs of one cell that have their home there: those that are sure to the sink, ties behind the
    /// others, which are settled when they are many. Order: words of 64 lanes; in each, words of rows up to
    /// it; rows; lanes. CELL_SLACK entries behind the last may be read. The first result other than CLV_OK
    /// that the sink gave.
    clv_result ( *search_cell )( cell_search* search, const cell_entry* entries, uint32_t count );

    /// Ties that touch, to the sink. None is left, except after a result other than CLV_OK.
    clv_result ( *settle_ties )( cell_search* search );
} simd_cells;

extern const simd_cells clv_simd_cells_scalar;
extern const simd_cells clv_simd_cells_sse2;
extern const simd_cells clv_simd_cells_avx2;
extern const simd_cells clv_simd_cells_avx512;
extern const simd_cells clv_simd_cells_neon;

#ifdef CLV_HAVE_AVX2
/// AVX2's, which AVX-512 has too: it goes pair by pair, and wider registers hold no more of one.
clv_result clv_simd_avx2_settle_ties( cell_search* search );
#endif

// ---- what the kernels of cell_body.h pass among themselves

/// 64 entries of a cell: what they are, their bytes by lane, and their slots.
typedef struct hit_side
{
    const cell_entry* entries;
    const uint8_t* bytes;
    const uint32_t* slots;
} hit_side;

/// Which lanes each of up to 64 rows may touch; rows without any are left out.
typedef struct row_hits
{
    uint32_t count;
    uint8_t rows[64];
    uint64_t lanes[64];
} row_hits;

/// Rows and lanes that were tested against each other.
typedef struct hit_sides
{
    hit_side rows, lanes;
    size_t stride; ///< of the bytes: from one coordinate to the next
} hit_sides;

/// All hits, as distances in bytes from the first row and the first lane, and how far they have become pairs.
/// Whole registers may be written behind the last.
typedef struct hit_places
{
    uint32_t at;
    uint16_t rows[64 * 64 + 32];
    uint16_t lanes[64 * 64 + 32];
} hit_places;

/// Of eight entries, those of some bits: where they lie in order, in bytes from the first; how many. Computed
/// by clv_simd_fill_places, which any thread may call any number of times: in the program's file they would
/// be 4 kB.
extern uint16_t clv_simd_lane_places[256][8];
extern uint8_t clv_simd_lane_counts[256];
void clv_simd_fill_places( void );
