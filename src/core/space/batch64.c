// SPDX-License-Identifier: MIT
// Boxes in double, in and out: checked and taken as those of floats are, and mapped to what the method sees.
#include "space/space_internal.h"

#include "object/test_box.h"

#include <string.h>

// Not a bit of it changed.
static bool is_same_box64( const clv_aabb64* a, const clv_aabb64* b )
{
    return memcmp( a, b, sizeof( *a ) ) == 0;
}

// Shared by those who count changes themselves.
static bool set_box64( clv_space* space, uint32_t slot, clv_aabb64 given )
{
    object_store* objects = &space->objects;
    clv_aabb64 box = given;
    if ( object_store_uses( objects, OBJECT_GIVEN_BOX64 ) )
    {
        ( (clv_aabb64*)objects->columns[OBJECT_GIVEN_BOX64] )[slot] = given;
        clv_object_store_forget_motion( objects, slot );
        box = clv_object_store_test_box64( objects, slot, given );
    }
    clv_aabb64* own = &object_boxes64( objects )[slot];
    if ( is_same_box64( own, &box ) )
    {
        return false;
    }
    *own = box;
    const clv_aabb* before = &object_boxes( objects )[slot];
    clv_aabb mapped = clv_far_map_box( &space->far.map, &box, before );
    if ( memcmp( before, &mapped, sizeof( mapped ) ) != 0 )
    {
        clv_object_store_set_box( objects, slot, mapped );
    }
    return true;
}

static void note_changes( clv_space* space, uint64_t count )
{
    space->doubles_changed |= count > 0;
    space->far.change_count += count;
}

bool clv_space_take_box64( clv_space* space, uint32_t slot, clv_aabb64 given )
{
    bool is_changed = set_box64( space, slot, given );
    note_changes( space, is_changed );
    return is_changed;
}

// ---- in

clv_id clv_space_add_box64( clv_space* space, clv_aabb64 given )
{
    object_store* objects = &space->objects;
    const clv_aabb nothing = { 0 };
    clv_aabb64 box = object_test_box64( given, objects->default_margin, ( clv_vec3 ){ 0, 0, 0 } );
    clv_id id = clv_object_store_add( objects, clv_far_map_box( &space->far.map, &box, &nothing ) );
    object_boxes64( objects )[id.index] = box;
    if ( object_store_uses( objects, OBJECT_GIVEN_BOX64 ) )
    {
        ( (clv_aabb64*)objects->columns[OBJECT_GIVEN_BOX64] )[id.index] = given;
    }
    note_changes( space, 1 );
    return id;
}

clv_result clv_space_add_strided64( clv_space* space, clv_box_stream64 boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add_stream( space, clv_space_stream64( boxes ), count, ids );
}

clv_result clv_space_add64( clv_space* space, const clv_aabb64* boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add_stream( space, clv_space_records64( boxes ), count, ids );
}

clv_result clv_space_add_one64( clv_space* space, clv_aabb64 box, clv_id* id )
{
    return clv_space_add64( space, &box, 1, id );
}

// ---- moved

// Boxes for slots one behind the other, in pieces that share no word of the bits that tell who moved.
typedef struct wide_move
{
    clv_space* space;
    uint32_t first_slot;
    const space_stream* boxes; ///< NULL: the boxes are the same, and the map another
    uint32_t count;
    uint32_t piece_count;
    uint64_t changes[SPACE_ROW_PIECES];
} wide_move;

static uint32_t wide_first( const wide_move* move, uint32_t piece )
{
    return space_row_begin( move->first_slot, move->count, piece, move->piece_count );
}

static void take_wide_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    wide_move* move = context;
    uint64_t changes = 0;
    for ( uint32_t i = wide_first( move, piece ), last = wide_first( move, piece + 1 ); i < last; ++i )
    {
        changes += set_box64( move->space, move->first_slot + i, space_box64_at( move->boxes, i ) );
    }
    move->changes[piece] = changes;
}

void clv_space_take_boxes64( clv_space* space, const clv_id* ids, const space_stream* boxes, uint32_t count )
{
    uint64_t changes = 0;
    if ( count == 0 )
    {
        return;
    }
    if ( !space_ids_in_a_row( ids, count ) )
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            changes += set_box64( space, ids[i].index, space_box64_at( boxes, i ) );
        }
        note_changes( space, changes );
        return;
    }
    wide_move move = {
        .space = space,
        .first_slot = ids[0].index,
        .boxes = boxes,
        .count = count,
        .piece_count = space_row_pieces( count ),
    };
    clv_task_run( &space->tasks, take_wide_piece, move.piece_count, &move );
    for ( uint32_t piece = 0; piece < move.piece_count; ++piece )
    {
        changes += move.changes[piece];
    }
    note_changes( space, changes );
}

clv_result clv_space_move_strided64(
    clv_space* space, const clv_id* ids, clv_box_stream64 boxes, uint32_t count )
{
    return clv_space_move_stream( space, ids, clv_space_stream64( boxes ), count );
}

clv_result clv_space_move64( clv_space* space, const clv_id* ids, const clv_aabb64* boxes, uint32_t count )
{
    return clv_space_move_stream( space, ids, clv_space_records64( boxes ), count );
}

clv_result clv_space_move_one64( clv_space* space, clv_id id, clv_aabb64 box )
{
    return clv_space_move64( space, &id, &box, 1 );
}

// ---- before a search

static void map_wide_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const wide_move* move = context;
    const object_store* objects = &move->space->objects;
    const uint32_t* generations = object_generations( objects );
    for ( uint32_t i = wide_first( move, piece ), last = wide_first( move, piece + 1 ); i < last; ++i )
    {
        if ( ( generations[i] & 1 ) != 0 ) // free slots have something else in their box
        {
            clv_aabb* box = &object_boxes( objects )[i];
            *box = clv_far_map_box( &move->space->far.map, &object_boxes64( objects )[i], box );
        }
    }
}

bool clv_space_fit_doubles( clv_space* space )
{
    object_store* objects = &space->objects;
    space->in_vain_count = 0;
    if ( !space_has_doubles( space ) )
    {
        return true;
    }
    far_crowd crowd = {
        .boxes = object_boxes64( objects ),
        .live = objects->live_count == objects->slot_count ? NULL : objects->live.items,
        .count = objects->live_count,
    };
    far_verdict verdict = clv_far_fit_choose( &space->far, &crowd, &space->memory );
    if ( verdict == FAR_NEW )
    {
        wide_move all = {
            .space = space,
            .count = objects->slot_count,
            .piece_count = space_row_pieces( objects->slot_count ),
        };
        clv_task_run( &space->tasks, map_wide_piece, all.piece_count, &all );
        objects->moved_is_known = false;
    }
    return verdict != FAR_NO_MEMORY;
}
