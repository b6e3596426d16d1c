// SPDX-License-Identifier: MIT
// Rows against ranges of small boxes. The file that includes this behind kernel_body.h defines
//   small_wide            a register of 16-bit numbers
//   small_splat( n )
//   small_round( lower, upper, boxes, at )  SMALL_ROUND bits, lowest first: which columns from `at` on overlap on both axes
// Rounds start at the first wanted column, at any address: one round does for most rows, where aligned ones would need two
// and a branch that mispredicts.
// No include guard: this is a template.

// A branch on whether a round hits anything mispredicts, so every round notes its hits, and the notes are gone through
// later.

enum
{
    SMALL_NOTES = 256
};

typedef struct small_note
{
    uint32_t row;
    uint32_t at; // first column of the round
    uint32_t bits;
} small_note;

typedef struct small_notes
{
    small_note notes[SMALL_NOTES + 1];
    uint32_t count;
} small_notes;

// Columns from *column on, as far as there is room for notes. True if the row is done.
static inline bool note_row( const int16_t lower[2], const int16_t upper[2], uint32_t row,
    const simd_small_boxes* boxes, uint32_t* column, uint32_t end, small_notes* notes )
{
    const small_wide wide_lower[2] = { small_splat( lower[0] ), small_splat( lower[1] ) };
    const small_wide wide_upper[2] = { small_splat( upper[0] ), small_splat( upper[1] ) };
    uint32_t at = *column;
    for ( ; at < end && notes->count < SMALL_NOTES; at += SMALL_ROUND )
    {
        uint32_t bits = small_round( wide_lower, wide_upper, boxes, at );
        // Branch-free for the same reason: how many are left mispredicts too.
        uint32_t left = end - at < SMALL_ROUND ? end - at : SMALL_ROUND;
        bits &= (uint32_t)( ( (uint64_t)1 << left ) - 1 );
        notes->notes[notes->count] = ( small_note ){ row, at, bits };
        notes->count += bits != 0;
    }
    *column = at;
    return at >= end;
}

// The boxes lie anywhere in memory: they are prefetched here and read later.
static inline void put_candidates(
    pair_sink* sink, const simd_small_boxes* boxes, uint32_t slot, uint32_t at, uint32_t bits )
{
    uint32_t again = slot & SMALL_AGAIN;
    slot &= ~SMALL_AGAIN;
    clv_pair* out = sink->pairs + sink->count;
    base_prefetch( &boxes->exact[slot] );
    do
    {
        uint32_t other = boxes->slots[at + base_lowest_bit( bits )];
        bool is_new = ( other & again ) == 0;
        other &= ~SMALL_AGAIN;
        base_prefetch( &boxes->exact[other] );
        *out = ( clv_pair ){ slot < other ? slot : other, slot < other ? other : slot };
        out += is_new;
        bits &= bits - 1;
    } while ( bits != 0 );
    sink->count = (uint64_t)( out - sink->pairs );
}

// Puts all candidates into the sink, then takes out those that do not overlap. False, with the cursor at the first note that
// found the sink full. `rows` is NULL where the rows are the boxes' own.
static bool take_notes( const small_notes* notes, const simd_small_row* rows, const simd_small_boxes* boxes,
    simd_cursor* cursor, pair_sink* sink )
{
    uint64_t before = sink->count;
    bool has_room = true;
    for ( uint32_t i = 0; i < notes->count; ++i )
    {
        small_note note = notes->notes[i];
        has_room = !pair_sink_is_full( sink );
        if ( !has_room )
        {
            cursor->row = note.row;
            cursor->column = note.at;
            break;
        }
        uint32_t slot = rows != NULL ? rows[note.row].slot : boxes->slots[note.row];
        put_candidates( sink, boxes, slot, note.at, note.bits );
    }
    if ( sink->count == before )
    {
        return has_room; // and perhaps no list yet to point into
    }
    clv_pair* fresh = sink->pairs + before;
    sink->count = before + keep_overlapping( boxes->exact, fresh, (uint32_t)( sink->count - before ), fresh );
    return has_room;
}

static bool sweep_small(
    const simd_small_boxes* boxes, simd_cursor* cursor, pair_sink* sink, uint64_t* test_count )
{
    uint32_t first = cursor->row;
    uint32_t row = cursor->row;
    uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
    bool done = true;
    while ( done && row < boxes->count )
    {
        small_notes notes;
        notes.count = 0;
        while ( row < boxes->count && notes.count < SMALL_NOTES )
        {
            const int16_t lower[2] = { boxes->lower[0][row], boxes->lower[1][row] };
            const int16_t upper[2] = { boxes->upper[0][row], boxes->upper[1][row] };
            if ( note_row( lower, upper, row, boxes, &column, boxes->ends[row], &notes ) )
            {
                row += 1;
                column = row + 1;
            }
        }
        *cursor = ( simd_cursor ){ row, 0 };
        done = take_notes( &notes, NULL, boxes, cursor, sink );
    }
    for ( ; first < cursor->row; ++first )
    {
        *test_count += boxes->ends[first] - ( first + 1 );
    }
    return done;
}

static bool cross_small( const simd_small_row* rows, uint32_t row_count, const simd_small_boxes* boxes,
    simd_cursor* cursor, pair_sink* sink, uint64_t* test_count )
{
    uint32_t first = cursor->row;
    uint32_t row = cursor->row;
    uint32_t column = cursor->column;
    bool done = true;
    while ( done && row < row_count )
    {
        small_notes notes;
        notes.count = 0;
        while ( row < row_count && notes.count < SMALL_NOTES )
        {
            const simd_small_row* at = &rows[row];
            column = column > at->begin ? column : at->begin;
            if ( note_row( at->lower, at->upper, row, boxes, &column, at->end, &notes ) )
            {
                row += 1;
                column = 0;
            }
        }
        *cursor = ( simd_cursor ){ row, 0 };
        done = take_notes( &notes, rows, boxes, cursor, sink );
    }
    for ( ; first < cursor->row; ++first )
    {
        *test_count += rows[first].end - rows[first].begin;
    }
    return done;
}
