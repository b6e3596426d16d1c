// SPDX-License-Identifier: MIT
// The kernels of method_kernels.h, written once over the registers of simd/lanes_<isa>.h, behind
// simd/kernel_body.h, and over what small_x86.h or method_kernels_neon.c defines:
//   small_wide            a register of 16-bit numbers
//   small_splat( n )
//   small_round( lower, upper, boxes, at )  SMALL_ROUND bits, lowest first: which columns from
//                                           `at` on overlap on both axes
//   store_small( small, lower, upper, slot )  two corners, whose lanes are in range, without their fractions
//   spread_small          as in the table
// No include guard: this is a template.

// ---- the sweep of one list

// The other two axes; the sweep has settled the first.
static inline uint32_t overlap_bits_yz( const wide_row* q, const simd_boxes* boxes, uint32_t at )
{
    wide_mask mask = wide_le( wide_load( boxes->lower[1] + at ), q->upper[1] );
    mask = wide_le_and( mask, q->lower[1], wide_load( boxes->upper[1] + at ) );
    return wide_bits( overlap_axis( mask, q, boxes, 2, at ) );
}

// Keep the hits of a step, or stop because the sink is full.
#define SWEEP_STEP( found )                                                                                  \
    {                                                                                                        \
        uint32_t bits = ( found );                                                                           \
        if ( bits != 0 && movers != NULL )                                                                   \
        {                                                                                                    \
            bits &= simd_movers_at( movers, base ) | others;                                                 \
        }                                                                                                    \
        if ( bits != 0 )                                                                                     \
        {                                                                                                    \
            if ( clv_pair_sink_is_full( sink ) )                                                             \
            {                                                                                                \
                *column = base > first ? base : first;                                                       \
                return false;                                                                                \
            }                                                                                                \
            put_pairs( sink, q->slot, boxes->slots + base, bits );                                           \
        }                                                                                                    \
    }

// Columns from *column on that begin inside the interval of `q`, which reaches to `reach`: full steps while
// even the last lane does, then one step by mask. Unless `movers` is NULL, a pair is one with a mover, or any
// if `others` has all bits. *column becomes the end, or where to go on after false.
static inline bool sweep_columns( const wide_row* q, float reach, const simd_boxes* boxes,
    const uint64_t* movers, uint32_t others, uint32_t* column, clv_pair_sink* sink )
{
    uint32_t first = *column;
    uint32_t base = first & ~( WIDE_LANES - 1u );
    uint32_t wanted = lanes_from( base, first );
    const float* begin = boxes->lower[0];
    // Two registers a step: one branch for both, and loads that overlap with the other's comparisons.
    while ( begin[base + 2 * WIDE_LANES - 1] <= reach )
    {
        SWEEP_STEP( ( overlap_bits_yz( q, boxes, base ) & wanted ) |
            overlap_bits_yz( q, boxes, base + WIDE_LANES ) << WIDE_LANES )
        wanted = ~0u;
        base += 2 * WIDE_LANES;
    }
    if ( begin[base + WIDE_LANES - 1] <= reach )
    {
        SWEEP_STEP( overlap_bits_yz( q, boxes, base ) & wanted )
        wanted = ~0u;
        base += WIDE_LANES;
    }
    // Sorted, so the lanes that begin inside the interval are the lowest ones.
    uint32_t begun = wide_bits( wide_le( wide_load( begin + base ), q->upper[0] ) );
    SWEEP_STEP( overlap_bits_yz( q, boxes, base ) & wanted & begun )
    *column = base + base_bit_count( begun );
    return true;
}

#undef SWEEP_STEP

static bool sweep( const simd_boxes* boxes, simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count )
{
    for ( ; cursor->row < boxes->count; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
        wide_row q = row_in_lanes( boxes, row );
        if ( !sweep_columns( &q, boxes->upper[0][row], boxes, NULL, 0, &column, sink ) )
        {
            cursor->column = column;
            return false;
        }
        *test_count += column - ( row + 1 );
        cursor->column = 0;
    }
    return true;
}

// A row of one list against the columns of a list from `begin` on, where pairs of two at rest are left out.
// Whether the row rests decides no branch: half of them may.
static inline bool sweep_list_row( const simd_list* rows, uint32_t row, const simd_list* columns,
    uint32_t begin, uint32_t* column, clv_pair_sink* sink, uint64_t* test_count )
{
    const simd_boxes* boxes = columns->boxes;
    const uint64_t* movers = columns->movers;
    float reach = rows->boxes->upper[0][row];
    uint32_t others = UINT32_MAX;
    if ( movers != NULL )
    {
        uint32_t next = simd_next_mover( movers, *column );
        others = base_bits_has( rows->movers, row ) ? UINT32_MAX : 0;
        *column = ( *column & others ) | ( next & ~others );
    }
    uint32_t first = *column;
    if ( boxes->lower[0][first] <= reach ) // between two thin lists, and where few move, seldom
    {
        wide_row q = row_in_lanes( rows->boxes, row );
        if ( !sweep_columns( &q, reach, boxes, movers, others, column, sink ) )
        {
            return false;
        }
    }
    *test_count += others != 0 ? *column - begin : simd_count_movers( movers, begin, *column );
    return true;
}

static bool sweep_movers(
    const simd_list* list, simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count )
{
    for ( ; cursor->row < list->boxes->count; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
        if ( !sweep_list_row( list, row, list, row + 1, &column, sink, test_count ) )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
    }
    return true;
}

// ---- the sweep of two lists

static bool sweep_cross( const simd_list* first, const simd_list* second, simd_cross_cursor* cursor,
    clv_pair_sink* sink, uint64_t* test_count )
{
    const simd_list* lists[2] = { first, second };
    uint32_t* heads = cursor->heads;
    while ( heads[0] < first->boxes->count && heads[1] < second->boxes->count )
    {
        // Which list's head begins first decides no branch, only what the two are called.
        uint32_t by = first->boxes->lower[0][heads[0]] > second->boxes->lower[0][heads[1]];
        uint32_t begin = heads[1 - by];
        uint32_t column = cursor->column > begin ? cursor->column : begin;
        if ( !sweep_list_row( lists[by], heads[by], lists[1 - by], begin, &column, sink, test_count ) )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
        heads[by] += 1;
    }
    return true;
}

// ---- boxes one by one

// One box in three lies across two lines.
static inline void prefetch_box( const clv_aabb* box )
{
    base_prefetch( &box->lower.x );
    base_prefetch( &box->upper.z );
}

// A box is six floats; two registers of four hold them all, two of them twice.
static uint32_t take_leavers( const clv_aabb* boxes, const float lower[3], const float upper[3],
    uint32_t* slots, uint32_t count, uint32_t* leavers )
{
    const four least = four_set( lower[0], lower[1], lower[2], -INFINITY );
    const four most = four_set( INFINITY, upper[0], upper[1], upper[2] );
    uint32_t left = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = slots[i];
        const clv_aabb* box = &boxes[slot];
        prefetch_box( &boxes[slots[i + 24 < count ? i + 24 : i]] );
        four_mask inside = four_and(
            four_le( least, four_load( &box->lower.x ) ), four_lt( four_load( &box->lower.z ), most ) );
        // Branch-free, both written and one kept: a branch on whether a box left mispredicts.
        slots[i - left] = slot;
        leavers[left] = slot;
        left += four_bits( inside ) != 15;
    }
    return left;
}

// The bounds of a box that others are tested against, as they lie over those.
typedef struct box_bounds
{
    four most, least;
} box_bounds;

static inline box_bounds bounds_of( const clv_aabb* box )
{
    return ( box_bounds ){ four_set( box->upper.x, box->upper.y, box->upper.z, INFINITY ),
        four_set( -INFINITY, box->lower.x, box->lower.y, box->lower.z ) };
}

static inline bool bounds_touch( const box_bounds* bounds, const clv_aabb* box )
{
    return four_bits( four_and( four_le( four_load( &box->lower.x ), bounds->most ),
               four_le( bounds->least, four_load( &box->lower.z ) ) ) ) == 15;
}

static uint32_t pick_overlapping(
    const clv_aabb* boxes, const uint32_t* slots, uint32_t count, const clv_aabb* box, uint32_t* hits )
{
    const box_bounds bounds = bounds_of( box );
    uint32_t hit_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        hits[hit_count] = slots[i];
        hit_count += bounds_touch( &bounds, &boxes[slots[i]] );
    }
    return hit_count;
}

static uint32_t scan_overlapping( const clv_aabb* boxes, uint32_t count, const clv_aabb* box, uint32_t* hits )
{
    const box_bounds bounds = bounds_of( box );
    uint32_t hit_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        hits[hit_count] = i;
        hit_count += bounds_touch( &bounds, &boxes[i] );
    }
    return hit_count;
}

static uint32_t keep_overlapping(
    const clv_aabb* boxes, const clv_pair* pairs, uint32_t count, clv_pair* kept )
{
    uint32_t kept_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        bool touch = boxes_touch( &boxes[pairs[i].a], &boxes[pairs[i].b] );
        kept[kept_count] = pairs[i];
        kept_count += touch;
    }
    return kept_count;
}

// Boxes as above: lower corner and upper x, lower z and upper corner. What both registers hold comes out the
// same.
static uint64_t regrow( const clv_aabb* boxes, clv_aabb* grown, uint32_t count, float epsilon )
{
    const four outward[2] = {
        four_set( -epsilon, -epsilon, -epsilon, epsilon ),
        four_set( -epsilon, epsilon, epsilon, epsilon ),
    };
    const four depth = four_splat( 2 * epsilon );
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* box = &boxes[i].lower.x;
        float* old = &grown[i].lower.x;
        four box0 = four_load( box ), box1 = four_load( box + 2 );
        four old0 = four_load( old ), old1 = four_load( old + 2 );
        uint32_t above =
            four_bits( four_and( four_le( old0, box0 ), four_le( box0, four_add( old0, depth ) ) ) );
        uint32_t below =
            four_bits( four_and( four_le( box1, old1 ), four_le( four_sub( old1, depth ), box1 ) ) );
        // A branch: it predicts well, since in a frame most boxes rest or most move, and it saves writing
        // back boxes at rest.
        if ( ( ( above & 7 ) | ( below & 14 ) << 3 ) != 0x77 )
        {
            four_store( old, four_add( box0, outward[0] ) );
            four_store( old + 2, four_add( box1, outward[1] ) );
            bits |= (uint64_t)1 << i;
        }
    }
    return bits;
}

// ---- small boxes

// Slot and mark, in the last lane, are no floats.
static inline four small_steps( four bounds, four origin, four scale )
{
    four steps = four_mul( four_sub( four_clear_last( bounds ), origin ), scale );
    // Of a NaN and a number these two give the second operand.
    return four_min( four_max( steps, four_splat( 0 ) ), four_splat( SMALL_MOST ) );
}

static void make_small(
    const simd_item* items, uint32_t count, const simd_small_grid* grid, simd_small_item* small )
{
    four origin = four_load( grid->origin ), scale = four_load( grid->scale );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* bounds = (const float*)(const void*)&items[i];
        four lower = small_steps( four_load( bounds ), origin, scale );
        four upper = small_steps( four_load( bounds + 4 ), origin, scale );
        store_small( &small[i], lower, upper, items[i].slot );
    }
}

static void gather_small( const clv_aabb* boxes, const uint32_t* slots, uint32_t count,
    const simd_small_grid* grid, simd_small_item* small )
{
    four origin = four_load( grid->origin ), scale = four_load( grid->scale );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_aabb* box = &boxes[slots[i]];
        prefetch_box( &boxes[slots[i + 24 < count ? i + 24 : i]] );
        four lower = small_steps( lower_corner( box ), origin, scale );
        four upper = small_steps( upper_corner( box ), origin, scale );
        store_small( &small[i], lower, upper, slots[i] );
    }
}

// ---- rows against ranges of small boxes

// Rounds start at the first wanted column, at any address: one round does for most rows, where aligned ones
// would need two and a branch that mispredicts.
//
// A branch on whether a round hits anything mispredicts, so every round notes its hits, and the notes are
// gone through later.

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
    clv_pair_sink* sink, const simd_small_boxes* boxes, uint32_t slot, uint32_t at, uint32_t bits )
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

// Puts all candidates into the sink, then takes out those that do not overlap. False, with the cursor at the
// first note that found the sink full. `rows` is NULL where the rows are the boxes' own.
static bool take_notes( const small_notes* notes, const simd_small_row* rows, const simd_small_boxes* boxes,
    simd_cursor* cursor, clv_pair_sink* sink )
{
    uint64_t before = sink->count;
    bool has_room = true;
    for ( uint32_t i = 0; i < notes->count; ++i )
    {
        small_note note = notes->notes[i];
        has_room = !clv_pair_sink_is_full( sink );
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
    const simd_small_boxes* boxes, simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count )
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
    simd_cursor* cursor, clv_pair_sink* sink, uint64_t* test_count )
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
