// SPDX-License-Identifier: MIT
// Boxes of two axes, in and out. Methods see boxes that all reach from 0 to 1 on the third axis (and grow there as elsewhere), so it decides
// nothing: the default engine lays one layer of cells, and its kernels leave out an axis on which a whole cell overlaps.
#include "space/space_internal.h"

#include <string.h>

static clv_aabb raise_box( const clv_aabb2* box )
{
    return ( clv_aabb ){ { box->lower.x, box->lower.y, 0 }, { box->upper.x, box->upper.y, 1 } };
}

static clv_aabb2 flatten_box( clv_aabb box )
{
    return ( clv_aabb2 ){ { box.lower.x, box.lower.y }, { box.upper.x, box.upper.y } };
}

// ---- in

clv_id clv_space_add_box2( clv_space* space, clv_aabb2 box )
{
    return clv_object_store_add( &space->objects, raise_box( &box ) );
}

clv_result clv_space_add_strided2( clv_space* space, clv_box_stream2 boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add_stream( space, clv_space_stream2( boxes ), count, ids );
}

clv_result clv_space_add2( clv_space* space, const clv_aabb2* boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add_stream( space, clv_space_records2( boxes ), count, ids );
}

clv_result clv_space_add_one2( clv_space* space, clv_aabb2 box, clv_id* id )
{
    return clv_space_add2( space, &box, 1, id );
}

// ---- moved

// One that is as it was is at rest.
static void set_box2( object_store* objects, uint32_t slot, const clv_aabb2* box )
{
    clv_aabb2 own = flatten_box( clv_object_store_given_box( objects, slot ) );
    if ( memcmp( &own, box, sizeof( own ) ) != 0 )
    {
        clv_object_store_set_box( objects, slot, raise_box( box ) );
    }
}

// The bulk of most frames: boxes for slots one behind the other, all alive, and no margins.
typedef struct flat_move
{
    object_store* objects;
    const clv_id* ids;
    const clv_aabb2* boxes;
    uint32_t count;
    uint32_t piece_count;
    bool is_good[SPACE_ROW_PIECES];
} flat_move;

static uint32_t flat_first( const flat_move* move, uint32_t piece )
{
    return space_row_begin( move->ids[0].index, move->count, piece, move->piece_count );
}

static void check_flat_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    flat_move* move = context;
    uint32_t first_slot = move->ids[0].index;
    const uint32_t* generations = object_generations( move->objects ) + first_slot;
    uint32_t different = 0, bad = 0;
    for ( uint32_t i = flat_first( move, piece ), end = flat_first( move, piece + 1 ); i < end; ++i )
    {
        const clv_aabb2* box = &move->boxes[i];
        different |=
            ( move->ids[i].index ^ ( first_slot + i ) ) | ( move->ids[i].generation ^ generations[i] );
        bad |= ~generations[i] & 1;
        bad |= ( uint32_t ) !( ( box->lower.x <= box->upper.x ) & ( box->lower.y <= box->upper.y ) );
    }
    move->is_good[piece] = ( different | bad ) == 0;
}

// A box to its slot. Returns 1 if it is another one.
static inline uint64_t put_flat( clv_aabb* own, const void* lower, const void* upper )
{
    uint64_t before[2], now[2];
    memcpy( &before[0], &own->lower.x, sizeof( uint64_t ) );
    memcpy( &before[1], &own->upper.x, sizeof( uint64_t ) );
    memcpy( &now[0], lower, sizeof( uint64_t ) );
    memcpy( &now[1], upper, sizeof( uint64_t ) );
    memcpy( &own->lower.x, &now[0], sizeof( uint64_t ) );
    memcpy( &own->upper.x, &now[1], sizeof( uint64_t ) );
    return before[0] != now[0] || before[1] != now[1];
}

static void take_flat_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const flat_move* move = context;
    object_store* objects = move->objects;
    object_marks marks = object_marks_begin( objects->moved_is_known ? objects->moved.items : NULL );
    marks.word = ( move->ids[0].index + flat_first( move, piece ) ) >> 6; // words of other pieces are theirs
    for ( uint32_t i = flat_first( move, piece ), end = flat_first( move, piece + 1 ); i < end; ++i )
    {
        uint32_t slot = move->ids[0].index + i;
        const clv_aabb2* box = &move->boxes[i];
        object_marks_add(
            &marks, slot, put_flat( &object_boxes( objects )[slot], &box->lower, &box->upper ) );
    }
    object_marks_end( &marks );
}

// One pass checks, one takes the boxes.
bool clv_space_take_row2( clv_space* space, const clv_id* ids, const clv_aabb2* boxes, uint32_t count )
{
    object_store* objects = &space->objects;
    if ( object_store_uses( objects, OBJECT_GIVEN_BOX ) || ids[0].index >= objects->slot_count ||
        count > objects->slot_count - ids[0].index )
    {
        return false;
    }
    flat_move move = { objects, ids, boxes, count, space_row_pieces( count ), { false } };
    clv_task_run( &space->tasks, check_flat_piece, move.piece_count, &move );
    for ( uint32_t piece = 0; piece < move.piece_count; ++piece )
    {
        if ( !move.is_good[piece] )
        {
            return false;
        }
    }
    clv_space_will_change( space, true );
    clv_task_run( &space->tasks, take_flat_piece, move.piece_count, &move );
    return true;
}

void clv_space_take_boxes2( clv_space* space, const clv_id* ids, const space_stream* boxes, uint32_t count )
{
    object_store* objects = &space->objects;
    if ( !object_store_uses( objects, OBJECT_GIVEN_BOX ) )
    {
        object_marks marks = object_marks_begin( objects->moved_is_known ? objects->moved.items : NULL );
        for ( uint32_t i = 0; i < count; ++i )
        {
            size_t offset = boxes->stride * i;
            uint64_t is_new = put_flat( &object_boxes( objects )[ids[i].index],
                (const char*)boxes->lower + offset, (const char*)boxes->upper + offset );
            object_marks_add( &marks, ids[i].index, is_new );
        }
        object_marks_end( &marks );
        return;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_aabb2 box = space_box2_at( boxes, i );
        set_box2( objects, ids[i].index, &box );
    }
}

clv_result clv_space_move_strided2(
    clv_space* space, const clv_id* ids, clv_box_stream2 boxes, uint32_t count )
{
    return clv_space_move_stream( space, ids, clv_space_stream2( boxes ), count );
}

clv_result clv_space_move2( clv_space* space, const clv_id* ids, const clv_aabb2* boxes, uint32_t count )
{
    return clv_space_move_stream( space, ids, clv_space_records2( boxes ), count );
}

clv_result clv_space_move_one2( clv_space* space, clv_id id, clv_aabb2 box )
{
    return clv_space_move2( space, &id, &box, 1 );
}

clv_result clv_space_get_box2( const clv_space* space, clv_id id, clv_aabb2* box )
{
    if ( space_kind_of( space ) != SPACE_FLAT )
    {
        return CLV_UNSUPPORTED;
    }
    if ( !object_is_live( &space->objects, id ) )
    {
        return CLV_BAD_ID;
    }
    *box = flatten_box( clv_object_store_given_box( &space->objects, id.index ) );
    return CLV_OK;
}
