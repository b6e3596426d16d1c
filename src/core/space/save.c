// SPDX-License-Identifier: MIT
// A space written down, in either form. One function walks it; a writer without a place counts.
#include "cleave/save.h"
#include "space/save_format.h"
#include "space/space_reader.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "base/fp_mode.h"
#include "base/number.h"
#include "engine/engine.h"
#include "method/cleave_save.h"

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

// Sizes and places of what is written as the machine has it.
uint64_t clv_space_save_build( void )
{
    const uint64_t facts[] = { 1, sizeof( void* ), sizeof( clv_space ), sizeof( clv_space_def ),
        sizeof( clv_engine ), sizeof( far_fit ), sizeof( object_store ), offsetof( clv_space, objects ),
        offsetof( clv_space, stats ) };
    base_sum sum;
    clv_base_sum_begin( &sum, 0, 0 );
    clv_base_sum_add( &sum, facts, sizeof( facts ) );
    clv_base_sum_add( &sum, clv_version_text(), strlen( clv_version_text() ) );
    return clv_base_sum_end( &sum );
}

// ---- numbers

static uint64_t bit_if( bool is_set, uint64_t bit )
{
    return is_set ? bit : 0;
}

static uint64_t float_bits( float value )
{
    uint32_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    return bits;
}

static uint64_t def_bits( const clv_space_def* def )
{
    return bit_if( def->sorted, SAVE_SORTED ) | bit_if( def->events, SAVE_EVENTS ) |
        bit_if( def->skip_static_pairs, SAVE_SKIP_STATIC ) | bit_if( def->pair_data, SAVE_PAIR_DATA ) |
        bit_if( def->doubles, SAVE_DOUBLES ) | bit_if( def->flat, SAVE_FLAT ) |
        bit_if( def->filter != NULL, SAVE_FILTER );
}

static bool has_state( const clv_space* space, clv_save_form form )
{
    return form == CLV_SAVE_MEMORY && space->method == &clv_method_cleave_bare;
}

static uint64_t state_bits( const clv_space* space, clv_save_form form )
{
    const object_store* objects = &space->objects;
    bool is_exact = has_state( space, form );
    return bit_if( space->list_is_valid, SAVE_LIST_VALID ) |
        bit_if( space->filters_changed, SAVE_FILTERS_CHANGED ) |
        bit_if( space->last_failed, SAVE_LAST_FAILED ) |
        bit_if( space->doubles_changed, SAVE_DOUBLES_CHANGED ) | bit_if( objects->is_renewed, SAVE_RENEWED ) |
        bit_if( objects->motion_is_set, SAVE_MOTION_SET ) |
        bit_if( objects->motion_is_spent, SAVE_MOTION_SPENT ) |
        bit_if( space->begun_user.items != NULL, SAVE_BEGUN_USER ) |
        bit_if( space->ended_user.items != NULL, SAVE_ENDED_USER ) |
        bit_if( space->ended_words.items != NULL, SAVE_ENDED_WORDS ) |
        bit_if( space->is_shifted && is_exact, SAVE_SHIFTED ) |
        bit_if( objects->members_changed || !is_exact, SAVE_MEMBERS_CHANGED ) |
        bit_if( objects->moved_is_known && is_exact, SAVE_MOVED_KNOWN ) |
        bit_if( space->borrowed != NULL && is_exact, SAVE_IS_BORROWED ) | bit_if( is_exact, SAVE_HAS_STATE );
}

// Under the lock: a first query may be making the copy just now. A copy that counts is not touched any more.
static uint64_t query_bits( clv_space* space )
{
    query_state* state = &space->query;
    clv_task_lock_take( &state->lock );
    bool is_copied = state->has_boxes && !state->store_is_seen && state->is_copied;
    uint64_t bits = bit_if( state->keeper != NULL, SAVE_QUERY_USED ) |
        bit_if( state->has_boxes, SAVE_QUERY_HAS_BOXES ) |
        bit_if( state->store_is_seen, SAVE_QUERY_SEES_STORE ) | bit_if( state->is_lost, SAVE_QUERY_LOST ) |
        bit_if( state->may_be_gone, SAVE_QUERY_GONE ) | bit_if( is_copied, SAVE_QUERY_COPIED );
    for ( int i = 0; i < QUERY_COPY_COUNT && is_copied; ++i )
    {
        bits |= bit_if( state->copy_is_used[i], (uint64_t)SAVE_QUERY_COLUMN << i );
    }
    clv_task_lock_give( &state->lock );
    return bits;
}

static void fill_numbers( clv_space* space, clv_save_form form, uint64_t numbers[SAVE_NUMBERS] )
{
    const object_store* objects = &space->objects;
    const clv_space_def* def = &space->def;
    CLV_ASSERT( (uint64_t)objects->live_count + objects->free_count <= objects->slot_count );
    bool is_in_memory = form == CLV_SAVE_MEMORY;
    numbers[SAVE_BUILD] = is_in_memory ? clv_space_save_build() : 0;
    numbers[SAVE_DEF_BITS] = def_bits( def );
    numbers[SAVE_STATE_BITS] = state_bits( space, form );
    numbers[SAVE_COLUMN_BITS] = 0;
    for ( uint32_t i = 0; i < SAVE_COLUMNS; ++i )
    {
        numbers[SAVE_COLUMN_BITS] |=
            bit_if( object_store_uses( objects, clv_space_save_columns[i].column ), (uint64_t)1 << i );
    }
    numbers[SAVE_MAX_PAIRS] = def->max_pairs;
    numbers[SAVE_MARGIN] = float_bits( def->margin );
    numbers[SAVE_BY_SIZE] = float_bits( def->margin_by_size );
    numbers[SAVE_BY_SPEED] = float_bits( def->margin_by_speed );
    numbers[SAVE_SLOTS] = objects->slot_count;
    numbers[SAVE_LIVE] = objects->live_count;
    numbers[SAVE_FREE] = objects->free_count;
    numbers[SAVE_FIRST_FREE] = is_in_memory ? objects->first_free : 0;
    numbers[SAVE_LIST_NUMBER] = space->list_number;
    numbers[SAVE_BORROWED] = has_state( space, form ) && space->borrowed != NULL ? space->borrowed_count : 0;
    numbers[SAVE_UPDATES] = space->stats.update_count;
    numbers[SAVE_PAIRS] = space->stats.pair_count;
    numbers[SAVE_CANDIDATES] = space->stats.candidate_count;
    numbers[SAVE_TESTS] = space->stats.test_count;
    numbers[SAVE_BEGUN] = space->stats.begun_count;
    numbers[SAVE_ENDED] = space->stats.ended_count;
    numbers[SAVE_QUERY_BITS] = query_bits( space );
    bool is_copied = ( numbers[SAVE_QUERY_BITS] & SAVE_QUERY_COPIED ) != 0;
    numbers[SAVE_QUERY_SLOTS] = is_copied ? space->query.slot_count : 0;
    numbers[SAVE_QUERY_LIVE] = is_copied ? space->query.live_count : 0;
    numbers[SAVE_DECISIONS] = space->decisions.count;
}

// ---- method

static void put_method( const clv_space* space, base_parts_writer* writer )
{
    const clv_method* row = space->method;
    char numbers[CLV_METHOD_PARAMS][32];
    uint64_t length = strlen( row->name ) + 1 + ( row->param_count > 0 ? 0 : 1 );
    for ( uint32_t i = 0; i < row->param_count; ++i )
    {
        clv_base_write_exactly( space->context.params[i], numbers[i], sizeof( numbers[i] ) );
        length += strlen( row->params[i].name ) + 1 + strlen( numbers[i] ) + 1; // and a comma, or the zero
    }
    clv_base_part_begin( writer, SAVE_METHOD_TAG, length );
    clv_base_part_put( writer, row->name, strlen( row->name ) + 1 );
    for ( uint32_t i = 0; i < row->param_count; ++i )
    {
        clv_base_part_put( writer, row->params[i].name, strlen( row->params[i].name ) );
        clv_base_part_put( writer, "=", 1 );
        clv_base_part_put( writer, numbers[i], strlen( numbers[i] ) );
        clv_base_part_put( writer, i + 1 < row->param_count ? "," : "", 1 );
    }
    clv_base_part_put( writer, "", row->param_count > 0 ? 0 : 1 );
    clv_base_part_end( writer );
}

// ---- columns

static void save_filters( const clv_filter* filters, uint32_t count, base_parts_writer* writer )
{
    enum
    {
        SAVE_CHUNK = 64
    };
    uint64_t numbers[3 * SAVE_CHUNK];
    for ( uint32_t first = 0; first < count; first += SAVE_CHUNK )
    {
        uint32_t some = count - first < SAVE_CHUNK ? count - first : SAVE_CHUNK;
        for ( uint32_t i = 0; i < some; ++i )
        {
            const clv_filter* filter = &filters[first + i];
            numbers[3 * i] = filter->category;
            numbers[3 * i + 1] = filter->mask;
            numbers[3 * i + 2] = (uint32_t)filter->group;
        }
        clv_base_part_put_ordered( writer, numbers, 3 * (uint64_t)some, 8 );
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

static void put_free( const object_store* objects, base_parts_writer* writer )
{
    clv_base_part_begin( writer, SAVE_FREE_TAG, (uint64_t)objects->free_count * 4 );
    uint32_t slot = objects->first_free;
    for ( uint32_t i = 0; i < objects->free_count; ++i )
    {
        CLV_ASSERT( slot < objects->slot_count && ( object_generations( objects )[slot] & 1 ) == 0 );
        clv_base_part_put_ordered( writer, &slot, 1, 4 );
        memcpy( &slot, &object_boxes( objects )[slot], sizeof( slot ) );
    }
    CLV_ASSERT( slot == UINT32_MAX );
    clv_base_part_end( writer );
}

static void put_columns( const object_store* objects, clv_save_form form, base_parts_writer* writer )
{
    uint64_t slots = objects->slot_count;
    clv_base_part_write( writer, SAVE_GENERATION_TAG, object_generations( objects ), slots, 4 );
    if ( form == CLV_SAVE_DISK )
    {
        put_free( objects, writer );
    }
    for ( uint32_t i = 0; i < SAVE_COLUMNS; ++i )
    {
        const save_column* column = &clv_space_save_columns[i];
        const void* data = objects->columns[column->column];
        if ( data == NULL || ( form == CLV_SAVE_DISK && clv_space_save_is_derived( objects, column ) ) )
        {
            continue;
        }
        clv_base_part_begin( writer, column->tag, slots * column->unit * column->count );
        if ( column->column == OBJECT_FILTER )
        {
            save_filters( data, objects->slot_count, writer );
        }
        else if ( column->column == OBJECT_LAST_DATA )
        {
            put_last_data( objects, writer );
        }
        else
        {
            clv_base_part_put_ordered( writer, data, slots * column->count, column->unit );
        }
        clv_base_part_end( writer );
    }
}

// ---- lists

static uint64_t count_if( bool is_there, uint64_t count )
{
    return is_there ? count : 0;
}

static void put_lists( const clv_space* space, clv_save_form form, base_parts_writer* writer )
{
    bool is_lent = space->borrowed != NULL && has_state( space, form );
    bool is_valid = space->list_is_valid, has_words = space->def.pair_data;
    const clv_pair* pairs = space->borrowed != NULL ? space->borrowed : space->list.items;
    CLV_ASSERT( !has_words || !is_valid || space->words.count == space->list.count );
    uint64_t begun = space->begun.count, ended = space->ended.count;
    const struct
    {
        uint32_t tag;
        const void* items;
        uint64_t count;
        uint32_t numbers, unit;
    } parts[SAVE_LISTS] = {
        { SAVE_LIST_TAG, pairs, count_if( is_valid && !is_lent, space_pair_count( space ) ), 2, 4 },
        { SAVE_WORDS_TAG, space->words.items, count_if( has_words && is_valid, space->words.count ), 1, 8 },
        { SAVE_SORTED_TAG, space->last_sorted.items, space->last_sorted.count, 2, 4 },
        { SAVE_BEGUN_TAG, space->begun.items, begun, 4, 4 },
        { SAVE_ENDED_TAG, space->ended.items, ended, 4, 4 },
        { SAVE_BEGUN_USER_TAG, space->begun_user.items, count_if( space->begun_user.items != NULL, begun ), 2,
            8 },
        { SAVE_ENDED_USER_TAG, space->ended_user.items, count_if( space->ended_user.items != NULL, ended ), 2,
            8 },
        { SAVE_ENDED_WORDS_TAG, space->ended_words.items, count_if( space->ended_words.items != NULL, ended ),
            1, 8 },
        { SAVE_LAST_LIST_TAG, space->last_list.items,
            count_if( has_words && !is_valid, space->last_list.count ), 2, 4 },
        { SAVE_LAST_WORDS_TAG, space->last_words.items,
            count_if( has_words && !is_valid, space->last_words.count ), 1, 8 },
    };
    for ( uint32_t i = 0; i < SAVE_LISTS; ++i )
    {
        clv_base_part_write(
            writer, parts[i].tag, parts[i].items, parts[i].count * parts[i].numbers, parts[i].unit );
    }
}

static void put_query_copy(
    const query_state* state, uint64_t bits, uint64_t slots, base_parts_writer* writer )
{
    for ( int i = 0; i < QUERY_COPY_COUNT; ++i )
    {
        if ( ( bits & (uint64_t)SAVE_QUERY_COLUMN << i ) != 0 )
        {
            const save_shape shape = save_query_shape( i );
            clv_base_part_write( writer, shape.tag, state->copies[i], slots * shape.count, shape.unit );
        }
    }
}

// ---- the map of doubles, by the machine

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

void clv_space_save_pass_far( clv_space* space, base_pass* pass )
{
    far_fit* s = &space->far;
    BASE_PASS_MEMBERS( pass, BASE_TAG( 'F', 'A', 'R', 'F' ), FAR_VALUES );
    for ( int i = 0; i < 3; ++i )
    {
        far_axis* axis = &s->map.axes[i];
        uint64_t ends = axis->cell_count > 0 ? (uint64_t)axis->cell_count + 1 : 0;
        clv_base_pass_table( pass, BASE_TAG( 'F', 'E', 'N', 'D' ), &axis->ends, &axis->end_capacity, ends,
            ends, sizeof( double ), 8 );
    }
}

// ---- all of it

static void write_space( clv_space* space, clv_save_form form, base_parts_writer* writer )
{
    base_fp_mode mode = base_fp_enter(); // settings are written as text
    bool is_in_memory = form == CLV_SAVE_MEMORY;
    uint64_t numbers[SAVE_NUMBERS];
    base_pass pass = { .writer = writer };
    fill_numbers( space, form, numbers );
    clv_base_parts_begin( writer, is_in_memory ? SAVE_KIND_MEMORY : SAVE_KIND_DISK, SAVE_VERSION, 0, 0 );
    clv_base_part_write( writer, SAVE_NUMBERS_TAG, numbers, SAVE_NUMBERS, 8 );
    put_method( space, writer );
    put_columns( &space->objects, form, writer );
    put_lists( space, form, writer );
    if ( is_in_memory )
    {
        clv_pair_decisions_pass_table( &space->decisions, &pass, SAVE_DECISIONS_TAG );
    }
    else
    {
        clv_pair_decisions_pass( &space->decisions, &pass, SAVE_DECISIONS_TAG, space->objects.slot_count );
    }
    put_query_copy( &space->query, numbers[SAVE_QUERY_BITS], numbers[SAVE_QUERY_SLOTS], writer );
    if ( is_in_memory )
    {
        uint64_t words = ( numbers[SAVE_STATE_BITS] & SAVE_MOVED_KNOWN ) != 0
            ? base_bits_words( space->objects.slot_count )
            : 0;
        clv_base_part_write( writer, SAVE_MOVED_TAG, space->objects.moved.items, words, 8 );
        clv_space_save_pass_far( space, &pass );
        if ( has_state( space, form ) )
        {
            clv_method_cleave_pass( space->method_state, &pass );
        }
    }
    clv_base_parts_end( writer );
    base_fp_leave( mode );
}

size_t clv_space_save_size( const clv_space* asked, clv_save_form form )
{
    CLV_ASSERT( asked != NULL && ( form == CLV_SAVE_MEMORY || form == CLV_SAVE_DISK ) );
    clv_space* space = space_unlocked( asked );
    base_parts_writer writer = { 0 };
    if ( space->is_busy )
    {
        return 0;
    }
    write_space( space, form, &writer );
    return (size_t)writer.offset;
}

clv_result clv_space_save(
    const clv_space* asked, clv_save_form form, void* bytes, size_t capacity, size_t* size )
{
    CLV_ASSERT( asked != NULL && size != NULL && ( bytes != NULL || capacity == 0 ) );
    CLV_ASSERT( form == CLV_SAVE_MEMORY || form == CLV_SAVE_DISK );
    clv_space* space = space_unlocked( asked );
    *size = 0;
    if ( space->is_busy )
    {
        return CLV_BUSY;
    }
    base_parts_writer writer = { .memory = bytes, .capacity = capacity };
    write_space( space, form, &writer );
    *size = (size_t)writer.offset;
    return writer.offset > capacity ? CLV_NO_ROOM : CLV_OK;
}

typedef struct sink_call
{
    clv_save_sink* sink;
    void* user;
} sink_call;

static bool put_snapshot( const void* bytes, uint64_t size, void* user )
{
    const sink_call* call = user;
    return call->sink( bytes, (size_t)size, call->user );
}

clv_result clv_space_save_to( const clv_space* asked, clv_save_form form, clv_save_sink* sink, void* user )
{
    CLV_ASSERT( asked != NULL && sink != NULL && ( form == CLV_SAVE_MEMORY || form == CLV_SAVE_DISK ) );
    clv_space* space = space_unlocked( asked );
    if ( space->is_busy )
    {
        return CLV_BUSY;
    }
    sink_call call = { sink, user };
    base_parts_writer writer = { .put = put_snapshot, .user = &call };
    write_space( space, form, &writer );
    return writer.failed ? CLV_STOPPED : CLV_OK;
}
