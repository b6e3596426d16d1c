// SPDX-License-Identifier: MIT
// Rows against ranges of small boxes. The file that includes this behind kernel_body.h defines
//   small_wide            a register of 16-bit numbers
//   small_splat( n )
//   small_round( lower, upper, boxes, at )  SMALL_ROUND bits, lowest first: which columns from `at` on overlap on both axes
// Rounds start at the first wanted column, at any address: one round does for most rows, where aligned ones would need two
// and a branch that nothing predicts.
// No include guard: this is a template.

// Whether a round hits anything is a coin toss that no predictor knows, so the rounds note their hits without asking, and
// the notes are gone through later.

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
        bits &= end - at < SMALL_ROUND ? ( 1u << ( end - at ) ) - 1 : ~0u;
        notes->notes[notes->count] = ( small_note ){ row, at, bits };
        notes->count += bits != 0;
    }
    *column = at;
    return at >= end;
}

static inline void put_exact(
    pair_sink* sink, const simd_small_boxes* boxes, const simd_item* item, uint32_t at, uint32_t bits )
{
    uint32_t slot = item->slot;
    do
    {
        const simd_item* other = &boxes->exact[boxes->items[at + base_lowest_bit( bits )]];
        if ( simd_items_overlap( item, other ) )
        {
            uint32_t other_slot = other->slot;
            sink->pairs[sink->count++] =
                ( clv_pair ){ slot < other_slot ? slot : other_slot, slot < other_slot ? other_slot : slot };
        }
        bits &= bits - 1;
    } while ( bits != 0 );
}

// False, with the cursor at the first note that found the sink full. `rows` is NULL where the rows are the boxes' own.
static bool take_notes( const small_notes* notes, const simd_item* items, const simd_small_row* rows,
    const simd_small_boxes* boxes, simd_cursor* cursor, pair_sink* sink )
{
    for ( uint32_t i = 0; i < notes->count; ++i )
    {
        small_note note = notes->notes[i];
        if ( pair_sink_is_full( sink ) )
        {
            cursor->row = note.row;
            cursor->column = note.at;
            return false;
        }
        uint32_t item = rows != NULL ? rows[note.row].item : boxes->items[note.row];
        put_exact( sink, boxes, &items[item], note.at, note.bits );
    }
    return true;
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
        done = take_notes( &notes, boxes->exact, NULL, boxes, cursor, sink );
    }
    for ( ; first < cursor->row; ++first )
    {
        *test_count += boxes->ends[first] - ( first + 1 );
    }
    return done;
}

static bool cross_small( const simd_item* items, const simd_small_row* rows, uint32_t row_count,
    const simd_small_boxes* boxes, simd_cursor* cursor, pair_sink* sink, uint64_t* test_count )
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
        done = take_notes( &notes, items, rows, boxes, cursor, sink );
    }
    for ( ; first < cursor->row; ++first )
    {
        *test_count += rows[first].end - rows[first].begin;
    }
    return done;
}
