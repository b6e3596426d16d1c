// SPDX-License-Identifier: MIT
// What a snapshot holds of a space, part by part, for those that write it and those that read it.
#include "space/save_format.h"
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "method/cleave_save.h"
#include "object/test_box.h"

#include <math.h>
#include <string.h>

const save_column clv_space_save_columns[SAVE_COLUMNS] = {
    { OBJECT_BOX, BASE_TAG( 'C', 'B', 'O', 'X' ), 4, 6, true },
    { OBJECT_GIVEN_BOX, BASE_TAG( 'C', 'G', 'I', 'V' ), 4, 6, false },
    { OBJECT_BOX64, BASE_TAG( 'C', 'B', '6', '4' ), 8, 6, true },
    { OBJECT_GIVEN_BOX64, BASE_TAG( 'C', 'G', '6', '4' ), 8, 6, false },
    { OBJECT_MARGIN, BASE_TAG( 'C', 'M', 'A', 'R' ), 4, 1, false },
    { OBJECT_MARGIN_BY, BASE_TAG( 'C', 'M', 'B', 'Y' ), 4, 2, false },
    { OBJECT_MOTION, BASE_TAG( 'C', 'M', 'O', 'T' ), 4, 3, false },
    { OBJECT_USER_DATA, BASE_TAG( 'C', 'U', 'S', 'R' ), 8, 1, false },
    { OBJECT_LAST_DATA, BASE_TAG( 'C', 'L', 'S', 'T' ), 8, 1, false },
    { OBJECT_FILTER, BASE_TAG( 'C', 'F', 'I', 'L' ), 8, 3, false },
    { OBJECT_STATIC, BASE_TAG( 'C', 'S', 'T', 'A' ), 1, 1, false },
    { OBJECT_REPORTED, BASE_TAG( 'C', 'R', 'E', 'P' ), 4, 1, false },
    { OBJECT_RENEWED, BASE_TAG( 'C', 'R', 'E', 'N' ), 1, 1, false },
    { OBJECT_ASK, BASE_TAG( 'C', 'A', 'S', 'K' ), 1, 1, false },
};

bool clv_space_save_is_derived( const object_store* store, const save_column* column )
{
    bool is_mapped = column->column == OBJECT_BOX && object_boxes64( store ) != NULL;
    object_column given = column->column == OBJECT_BOX ? OBJECT_GIVEN_BOX : OBJECT_GIVEN_BOX64;
    return column->is_derived && ( is_mapped || object_store_uses( store, given ) );
}

static bool reads( const save_walk* walk )
{
    return base_pass_reads( &walk->pass );
}

// ---- columns

static void pass_filters( base_pass* pass, clv_filter* filters, uint64_t count )
{
    enum
    {
        SAVE_CHUNK = 64
    };
    uint64_t numbers[3 * SAVE_CHUNK] = { 0 };
    for ( uint64_t first = 0; first < count; first += SAVE_CHUNK )
    {
        uint64_t some = count - first < SAVE_CHUNK ? count - first : SAVE_CHUNK;
        for ( uint64_t i = 0; i < some && !base_pass_reads( pass ); ++i )
        {
            const clv_filter* filter = &filters[first + i];
            numbers[3 * i] = filter->category;
            numbers[3 * i + 1] = filter->mask;
            numbers[3 * i + 2] = (uint32_t)filter->group;
        }
        uint64_t at = base_pass_reads( pass ) ? pass->reader->offset : 0;
        clv_base_pass_ordered( pass, numbers, 3 * some, 8 );
        for ( uint64_t i = 0; i < some && base_pass_reads( pass ); ++i )
        {
            clv_filter* filter = &filters[first + i];
            memset( filter, 0, sizeof( *filter ) );
            filter->category = numbers[3 * i];
            filter->mask = numbers[3 * i + 1];
            filter->group = (int32_t)(uint32_t)numbers[3 * i + 2];
            if ( numbers[3 * i + 2] > UINT32_MAX )
            {
                clv_base_parts_fault( pass->reader, at + 24 * i + 16, "has a filter that no space has" );
            }
        }
    }
}

// Of objects of the last good update that are gone; of others it was never set.
static void put_last_data( const object_store* objects, base_parts_writer* writer )
{
    const uint64_t* last = objects->columns[OBJECT_LAST_DATA];
    const uint32_t* reported = objects->columns[OBJECT_REPORTED];
    CLV_ASSERT( reported != NULL );
    for ( uint32_t slot = 0; slot < objects->slot_count; ++slot )
    {
        bool is_gone = reported[slot] != 0 && reported[slot] != object_generations( objects )[slot];
        uint64_t value = is_gone && object_store_uses( objects, OBJECT_USER_DATA ) ? last[slot] : 0;
        clv_base_part_put_ordered( writer, &value, 1, 8 );
    }
}

static bool is_box( object_column column, const void* data, uint32_t slot )
{
    return column == OBJECT_BOX64 || column == OBJECT_GIVEN_BOX64
        ? clv_aabb64_is_valid( ( (const clv_aabb64*)data )[slot] )
        : clv_aabb_is_valid( ( (const clv_aabb*)data )[slot] );
}

static bool is_raised( const clv_aabb* box )
{
    return box->lower.z == 0 && box->upper.z == 1;
}

// Is the value of a column one that a space takes? Only of live slots: others have what was left there.
static bool is_value( const save_walk* walk, const save_column* column, const void* data, uint32_t slot )
{
    const float* floats = (const float*)data + (size_t)slot * ( column->unit == 4 ? column->count : 0 );
    const uint8_t* bytes = data;
    switch ( column->column )
    {
    case OBJECT_BOX:
    case OBJECT_GIVEN_BOX:
        return is_box( column->column, data, slot ) &&
            ( !walk->space->def.flat || is_raised( (const clv_aabb*)data + slot ) );
    case OBJECT_BOX64:
    case OBJECT_GIVEN_BOX64: return is_box( column->column, data, slot );
    case OBJECT_MARGIN: return object_is_margin( floats[0] );
    case OBJECT_MARGIN_BY: return object_is_margin( floats[0] ) && object_is_margin( floats[1] );
    case OBJECT_MOTION: return isfinite( floats[0] ) && isfinite( floats[1] ) && isfinite( floats[2] );
    case OBJECT_RENEWED: return bytes[slot] <= save_walk_has( walk, SAVE_STATE_BITS, SAVE_RENEWED );
    case OBJECT_STATIC:
    case OBJECT_ASK: return bytes[slot] <= 1;
    default: return true;
    }
}

static void check_column( const save_walk* walk, const save_column* column, const void* data )
{
    bool of_all = column->unit == 1;
    for ( uint32_t slot = 0; slot < walk->numbers[SAVE_SLOTS]; ++slot )
    {
        if ( ( of_all || object_is_live_at( &walk->space->objects, slot ) ) &&
            !is_value( walk, column, data, slot ) )
        {
            clv_base_parts_fault( walk->pass.reader,
                walk->pass.reader->payload_offset + (uint64_t)slot * column->unit * column->count,
                "has a value of object %lu that no space has", (unsigned long)slot );
        }
    }
}

static void pass_column( save_walk* walk, const save_column* column )
{
    const object_store* objects = &walk->space->objects;
    uint64_t slots = walk->numbers[SAVE_SLOTS], count = slots * column->count;
    void* data = objects->columns[column->column];
    CLV_ASSERT( data != NULL && objects->capacities[column->column] >= slots );
    clv_base_pass_begin( &walk->pass, column->tag, count * column->unit );
    if ( column->column == OBJECT_FILTER )
    {
        pass_filters( &walk->pass, data, slots );
    }
    else if ( column->column == OBJECT_LAST_DATA && !reads( walk ) )
    {
        put_last_data( objects, walk->pass.writer );
    }
    else
    {
        clv_base_pass_ordered( &walk->pass, data, count, column->unit );
    }
    clv_base_pass_end( &walk->pass );
    if ( save_walk_checks( walk ) )
    {
        check_column( walk, column, data );
    }
}

void clv_space_save_pass_columns( save_walk* walk )
{
    for ( uint32_t i = 0; i < SAVE_COLUMNS; ++i )
    {
        const save_column* column = &clv_space_save_columns[i];
        bool is_there = walk->is_in_memory || !clv_space_save_is_derived( &walk->space->objects, column );
        if ( is_there && save_walk_has( walk, SAVE_COLUMN_BITS, (uint64_t)1 << i ) )
        {
            pass_column( walk, column );
        }
    }
}

// ---- lists

#define ANY_COUNT UINT64_MAX

// An array of which a snapshot has `expected` items, or all.
#define PASS_LIST( walk, tag, array, unit, expected )                                                        \
    pass_list( walk, tag, &( array )->items, &( array )->capacity, &( array )->count,                        \
        sizeof( *( array )->items ), unit, expected )

static void pass_list( save_walk* walk, uint32_t tag, void* items, uint64_t* capacity, uint64_t* count,
    size_t item_size, uint32_t unit, uint64_t expected )
{
    uint64_t written = expected == ANY_COUNT ? *count : expected;
    CLV_ASSERT( reads( walk ) || written <= *count );
    clv_base_pass_items(
        &walk->pass, tag, items, capacity, reads( walk ) ? count : &written, item_size, unit );
    if ( reads( walk ) && base_pass_is_good( &walk->pass ) && expected != ANY_COUNT && *count != expected )
    {
        base_parts_reader* reader = walk->pass.reader;
        clv_base_parts_fault( reader, reader->payload_offset - 16, "has %llu entries beside %llu",
            (unsigned long long)*count, (unsigned long long)expected );
    }
}

static void pass_pair_list(
    save_walk* walk, uint32_t tag, pair_list* list, bool is_sorted, uint64_t expected )
{
    PASS_LIST( walk, tag, list, 4, expected );
    for ( uint64_t i = 0; save_walk_checks( walk ) && i < list->count; ++i )
    {
        clv_pair pair = list->items[i], last = list->items[i > 0 ? i - 1 : 0];
        bool ascends = i == 0 || last.a < pair.a || ( last.a == pair.a && last.b < pair.b );
        if ( pair.a >= pair.b || pair.b >= walk->numbers[SAVE_SLOTS] || ( is_sorted && !ascends ) )
        {
            base_parts_reader* reader = walk->pass.reader;
            clv_base_parts_fault( reader, reader->payload_offset + 8 * i, "has an invalid pair" );
        }
    }
}

static void pass_events( save_walk* walk, uint32_t tag, pair_id_list* list )
{
    PASS_LIST( walk, tag, list, 4, walk->space->def.events ? ANY_COUNT : 0 );
    for ( uint64_t i = 0; save_walk_checks( walk ) && i < list->count; ++i )
    {
        clv_id_pair pair = list->items[i];
        if ( pair.a.index >= pair.b.index || pair.b.index >= walk->numbers[SAVE_SLOTS] )
        {
            base_parts_reader* reader = walk->pass.reader;
            clv_base_parts_fault( reader, reader->payload_offset + 16 * i, "has an event of no pair" );
        }
    }
}

// What lies beside events; room for it tells that there are such entries, also where there is no event.
#define PASS_BESIDE( walk, tag, array, bit, events )                                                         \
    do                                                                                                       \
    {                                                                                                        \
        bool is_there = save_walk_has( walk, SAVE_STATE_BITS, bit );                                         \
        PASS_LIST( walk, tag, array, 8, is_there ? ( events )->count : 0 );                                  \
        if ( reads( walk ) && base_pass_is_good( &( walk )->pass ) && is_there )                             \
        {                                                                                                    \
            ( walk )->pass.is_out_of_memory = !base_array_reserve( array, ( walk )->pass.memory, 1 );        \
        }                                                                                                    \
    } while ( 0 )

static void pass_lists( save_walk* walk )
{
    clv_space* space = walk->space;
    const clv_space_def* def = &space->def;
    bool is_valid = save_walk_has( walk, SAVE_STATE_BITS, SAVE_LIST_VALID );
    bool is_lent = save_walk_has( walk, SAVE_STATE_BITS, SAVE_IS_BORROWED );
    pair_list lent = { .count = space->borrowed_count },
              *list = space->borrowed != NULL ? &lent : &space->list;
    memcpy( &lent.items, &space->borrowed, sizeof( lent.items ) ); // which is only read
    pass_pair_list( walk, SAVE_LIST_TAG, list, def->sorted, is_valid && !is_lent ? ANY_COUNT : 0 );
    PASS_LIST( walk, SAVE_WORDS_TAG, &space->words, 8, def->pair_data && is_valid ? list->count : 0 );
    pass_pair_list( walk, SAVE_SORTED_TAG, &space->last_sorted, true, def->events ? ANY_COUNT : 0 );
    pass_events( walk, SAVE_BEGUN_TAG, &space->begun );
    pass_events( walk, SAVE_ENDED_TAG, &space->ended );
    PASS_BESIDE( walk, SAVE_BEGUN_USER_TAG, &space->begun_user, SAVE_BEGUN_USER, &space->begun );
    PASS_BESIDE( walk, SAVE_ENDED_USER_TAG, &space->ended_user, SAVE_ENDED_USER, &space->ended );
    PASS_BESIDE( walk, SAVE_ENDED_WORDS_TAG, &space->ended_words, SAVE_ENDED_WORDS, &space->ended );
    bool has_last = def->pair_data && !is_valid;
    pass_pair_list( walk, SAVE_LAST_LIST_TAG, &space->last_list, false, has_last ? ANY_COUNT : 0 );
    PASS_LIST( walk, SAVE_LAST_WORDS_TAG, &space->last_words, 8, has_last ? space->last_list.count : 0 );
}

static void pass_decisions( save_walk* walk )
{
    pair_keys* decisions = &walk->space->decisions;
    if ( !walk->is_in_memory )
    {
        bool has_filter = save_walk_has( walk, SAVE_DEF_BITS, SAVE_FILTER );
        clv_pair_decisions_pass( decisions, &walk->pass, SAVE_DECISIONS_TAG,
            has_filter ? (uint32_t)walk->numbers[SAVE_SLOTS] : 0 );
        return;
    }
    if ( reads( walk ) )
    {
        decisions->count = walk->numbers[SAVE_DECISIONS];
    }
    clv_pair_decisions_pass_table( decisions, &walk->pass, SAVE_DECISIONS_TAG );
}

// ---- queries

static void check_copy( const save_walk* walk, uint64_t offset )
{
    const query_state* state = &walk->space->query;
    const uint32_t* generations = state->copies[OBJECT_GENERATION];
    uint64_t live = 0;
    bool ok = true;
    for ( uint32_t slot = 0; slot < walk->numbers[SAVE_QUERY_SLOTS]; ++slot )
    {
        bool is_live = ( generations[slot] & 1 ) != 0;
        live += is_live;
        for ( int i = 0; i < QUERY_COPY_COUNT && is_live; ++i )
        {
            bool has_boxes = i != OBJECT_GENERATION && state->copy_is_used[i];
            ok = ok && ( !has_boxes || is_box( (object_column)i, state->copies[i], slot ) );
        }
    }
    if ( !ok || live != walk->numbers[SAVE_QUERY_LIVE] )
    {
        clv_base_parts_fault( walk->pass.reader, offset, "has boxes for queries that no space has" );
    }
}

static void pass_query( save_walk* walk )
{
    static const struct
    {
        uint32_t tag, unit, count;
    } shapes[QUERY_COPY_COUNT] = {
        [OBJECT_BOX] = { BASE_TAG( 'Q', 'B', 'O', 'X' ), 4, 6 },
        [OBJECT_GENERATION] = { BASE_TAG( 'Q', 'G', 'E', 'N' ), 4, 1 },
        [OBJECT_GIVEN_BOX] = { BASE_TAG( 'Q', 'G', 'I', 'V' ), 4, 6 },
        [OBJECT_BOX64] = { BASE_TAG( 'Q', 'B', '6', '4' ), 8, 6 },
        [OBJECT_GIVEN_BOX64] = { BASE_TAG( 'Q', 'G', '6', '4' ), 8, 6 },
    };
    query_state* state = &walk->space->query;
    uint64_t slots = walk->numbers[SAVE_QUERY_SLOTS], offset = reads( walk ) ? walk->pass.reader->offset : 0;
    if ( reads( walk ) && save_walk_has( walk, SAVE_QUERY_BITS, SAVE_QUERY_USED | SAVE_QUERY_COPIED ) )
    {
        clv_query_state_use( state ); // it gives the copy back, also if the rest cannot be read
    }
    for ( int i = 0; i < QUERY_COPY_COUNT; ++i )
    {
        if ( save_walk_has( walk, SAVE_QUERY_BITS, (uint64_t)SAVE_QUERY_COLUMN << i ) )
        {
            clv_base_pass_table( &walk->pass, shapes[i].tag, &state->copies[i], &state->copy_capacities[i],
                slots, slots + 1, (size_t)shapes[i].unit * shapes[i].count, shapes[i].unit );
        }
        if ( reads( walk ) )
        {
            state->copy_is_used[i] = save_walk_has( walk, SAVE_QUERY_BITS, (uint64_t)SAVE_QUERY_COLUMN << i );
        }
    }
    bool is_copied = save_walk_has( walk, SAVE_QUERY_BITS, SAVE_QUERY_COPIED );
    if ( reads( walk ) && base_pass_is_good( &walk->pass ) && is_copied )
    {
        check_copy( walk, offset );
    }
}

// ---- what only memory has

// The map of doubles, by the machine.
#define FAR_VALUES( X )                                                                                      \
    X( map.axes[0].origin )                                                                                  \
    X( map.axes[0].cell_count )                                                                              \
    X( map.axes[1].origin )                                                                                  \
    X( map.axes[1].cell_count )                                                                              \
    X( map.axes[2].origin )                                                                                  \
    X( map.axes[2].cell_count )                                                                              \
    X( is_made )                                                                                             \
    X( has_cells )                                                                                           \
    X( allowance )                                                                                           \
    X( change_count )                                                                                        \
    X( plain_wait )                                                                                          \
    X( plain_penalty )                                                                                       \
    X( cells_wait )                                                                                          \
    X( cells_penalty )                                                                                       \
    X( is_wasteful )

static void pass_far( far_fit* s, base_pass* pass )
{
    BASE_PASS_MEMBERS( pass, BASE_TAG( 'F', 'A', 'R', 'F' ), FAR_VALUES );
    for ( int i = 0; i < 3; ++i )
    {
        far_axis* axis = &s->map.axes[i];
        uint64_t ends = axis->cell_count > 0 ? (uint64_t)axis->cell_count + 1 : 0;
        clv_base_pass_table( pass, BASE_TAG( 'F', 'E', 'N', 'D' ), &axis->ends, &axis->end_capacity, ends,
            ends, sizeof( double ), 8 );
    }
}

static void pass_machine( save_walk* walk )
{
    clv_space* space = walk->space;
    bool is_known = save_walk_has( walk, SAVE_STATE_BITS, SAVE_MOVED_KNOWN );
    uint64_t words = is_known ? base_bits_words( walk->numbers[SAVE_SLOTS] ) : 0;
    base_pass_table( &walk->pass, SAVE_MOVED_TAG, &space->objects.moved, words, is_known ? words + 1 : 0, 8 );
    pass_far( &space->far, &walk->pass );
    if ( base_pass_is_good( &walk->pass ) && save_walk_has( walk, SAVE_STATE_BITS, SAVE_HAS_STATE ) )
    {
        clv_method_cleave_pass( space->method_state, &walk->pass );
    }
}

void clv_space_save_pass_rest( save_walk* walk )
{
    pass_lists( walk );
    pass_decisions( walk );
    pass_query( walk );
    if ( walk->is_in_memory )
    {
        pass_machine( walk );
    }
}
