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

static bool has_state( const clv_space* space, clv_save_form form )
{
    return form == CLV_SAVE_MEMORY && space->method == &clv_method_cleave_bare;
}

#define FLAG_BIT( bit, member ) | bit_if( from->member, bit )

static uint64_t def_bits( const clv_space_def* from )
{
    return bit_if( from->filter != NULL, SAVE_FILTER ) SAVE_DEF_FLAGS( FLAG_BIT );
}

static uint64_t state_bits( const clv_space* from, clv_save_form form )
{
    uint64_t bits = bit_if( from->begun_user.items != NULL, SAVE_BEGUN_USER ) |
        bit_if( from->ended_user.items != NULL, SAVE_ENDED_USER ) |
        bit_if( from->ended_words.items != NULL, SAVE_ENDED_WORDS ) |
        bit_if( from->borrowed != NULL, SAVE_IS_BORROWED ) SAVE_STATE_FLAGS( FLAG_BIT );
    return has_state( from, form ) ? bits | SAVE_HAS_STATE
                                   : ( bits | SAVE_MEMBERS_CHANGED ) & ~(uint64_t)SAVE_EXACT_BITS;
}

// Under the lock: a first query may be making the copy just now. A copy that counts is not touched any more.
static uint64_t query_bits( query_state* from )
{
    clv_task_lock_take( &from->lock );
    bool is_copied = from->has_boxes && !from->store_is_seen && from->is_copied;
    uint64_t bits = bit_if( from->keeper != NULL, SAVE_QUERY_USED ) |
        bit_if( is_copied, SAVE_QUERY_COPIED ) SAVE_QUERY_FLAGS( FLAG_BIT );
    for ( int i = 0; i < QUERY_COPY_COUNT && is_copied; ++i )
    {
        bits |= bit_if( from->copy_is_used[i], (uint64_t)SAVE_QUERY_COLUMN << i );
    }
    clv_task_lock_give( &from->lock );
    return bits;
}

static void fill_numbers( clv_space* space, clv_save_form form, uint64_t numbers[SAVE_NUMBERS] )
{
    const object_store* objects = &space->objects;
    const clv_space_def* def = &space->def;
    CLV_ASSERT( (uint64_t)objects->live_count + objects->free_count <= objects->slot_count );
    bool is_in_memory = form == CLV_SAVE_MEMORY;
#define MEMBER_NUMBER( number, type, member ) numbers[number] = space->member;
    SAVE_MEMBERS( MEMBER_NUMBER )
#undef MEMBER_NUMBER
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
    numbers[SAVE_FIRST_FREE] = is_in_memory ? objects->first_free : 0;
    numbers[SAVE_BORROWED] = has_state( space, form ) && space->borrowed != NULL ? space->borrowed_count : 0;
    numbers[SAVE_QUERY_BITS] = query_bits( &space->query );
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

// ---- all of it

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

static void write_space( clv_space* space, clv_save_form form, base_parts_writer* writer )
{
    base_fp_mode mode = base_fp_enter(); // settings are written as text
    save_walk walk = {
        .pass = { .writer = writer }, .space = space, .is_in_memory = form == CLV_SAVE_MEMORY
    };
    fill_numbers( space, form, walk.numbers );
    clv_base_parts_begin( writer, walk.is_in_memory ? SAVE_KIND_MEMORY : SAVE_KIND_DISK, SAVE_VERSION, 0, 0 );
    clv_base_part_write( writer, SAVE_NUMBERS_TAG, walk.numbers, SAVE_NUMBERS, 8 );
    put_method( space, writer );
    clv_base_part_write(
        writer, SAVE_GENERATION_TAG, object_generations( &space->objects ), walk.numbers[SAVE_SLOTS], 4 );
    if ( !walk.is_in_memory )
    {
        put_free( &space->objects, writer );
    }
    clv_space_save_pass_columns( &walk );
    clv_space_save_pass_rest( &walk );
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
