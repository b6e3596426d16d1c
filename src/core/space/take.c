// SPDX-License-Identifier: MIT
// Checked boxes into their slots, of all three kinds. Floats are stored as they are. Flat ones reach from 0
// to 1 on the third axis (and grow there as elsewhere), so it decides nothing: the engine lays one layer of
// cells, and its kernels leave out an axis on which a whole cell overlaps. Doubles are kept beside the floats
// that the method sees, which far/ maps them to.
#include "space/space_internal.h"

#include "base/assertion.h"

#include "base/fp_mode.h"
#include "object/test_box.h"

#include <string.h>

enum
{
    ROW_BOXES = 1 << 13, // boxes in a piece of a row, at least
    ROW_PIECES = 64,     // at most
};

// Boxes for slots one behind the other, which several workers take in pieces.
typedef struct row_move
{
    clv_space* space;
    const clv_id* ids;
    const space_stream* boxes;
    uint32_t first_slot;
    uint32_t count;
    uint32_t piece_count;
    bool is_good[ROW_PIECES];     ///< floats and flat ones: what the check says
    uint64_t changes[ROW_PIECES]; ///< doubles: boxes that are others than before
} row_move;

// Cut by their number alone: where pieces begin decides which boxes are marked as moved without a comparison.
static row_move row_of(
    clv_space* space, const clv_id* ids, uint32_t first_slot, const space_stream* boxes, uint32_t count )
{
    uint32_t pieces = count / ROW_BOXES < ROW_PIECES ? count / ROW_BOXES : ROW_PIECES;
    return ( row_move ){
        .space = space,
        .ids = ids,
        .boxes = boxes,
        .first_slot = first_slot,
        .count = count,
        .piece_count = count >= 4 * ROW_BOXES ? pieces : 1,
    };
}

// Where a piece begins, counted from the first slot: pieces share no word of the bits of moved slots.
static uint32_t row_begin( const row_move* move, uint32_t piece )
{
    if ( piece == 0 || piece == move->piece_count )
    {
        return piece == 0 ? 0 : move->count;
    }
    uint32_t end = move->first_slot + (uint32_t)( (uint64_t)move->count * piece / move->piece_count );
    uint32_t begin = ( end | 63 ) + 1 - move->first_slot;
    return begin < move->count ? begin : move->count;
}

// ---- floats

static clv_aabb raise_box( const clv_aabb2* box )
{
    return ( clv_aabb ){ { box->lower.x, box->lower.y, 0 }, { box->upper.x, box->upper.y, 1 } };
}

static clv_aabb2 flatten_box( clv_aabb box )
{
    return ( clv_aabb2 ){ { box.lower.x, box.lower.y }, { box.upper.x, box.upper.y } };
}

// A flat box to its slot. Returns 1 if it is another one.
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

static bool are_good_flat( const clv_aabb2* boxes, uint32_t count )
{
    uint32_t bad = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_aabb2* box = &boxes[i];
        bad |= ( uint32_t ) !( ( box->lower.x <= box->upper.x ) & ( box->lower.y <= box->upper.y ) );
    }
    return bad == 0;
}

static bool are_ids_of_row( const row_move* move, uint32_t first, uint32_t last )
{
    const uint32_t* generations = object_generations( &move->space->objects ) + move->first_slot;
    uint32_t different = 0, dead = 0;
    for ( uint32_t i = first; i < last; ++i )
    {
        different |=
            ( move->ids[i].index ^ ( move->first_slot + i ) ) | ( move->ids[i].generation ^ generations[i] );
        dead |= ~generations[i] & 1;
    }
    return ( different | dead ) == 0;
}

static void check_row_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    row_move* move = context;
    clv_space* space = move->space;
    uint32_t first = row_begin( move, piece ), last = row_begin( move, piece + 1 );
    const void* boxes = move->boxes->lower;
    move->is_good[piece] = are_ids_of_row( move, first, last ) &&
        ( move->boxes->kind == SPACE_FLAT
                ? are_good_flat( (const clv_aabb2*)boxes + first, last - first )
                : clv_object_store_check_boxes( &space->objects, move->first_slot + first,
                      (const clv_aabb*)boxes + first, last - first, space->kernels->are_good ) );
}

static void take_flat_piece( const row_move* move, uint32_t first, uint32_t last )
{
    object_store* objects = &move->space->objects;
    const clv_aabb2* boxes = move->boxes->lower;
    object_marks marks = object_marks_begin( objects->moved_is_known ? objects->moved.items : NULL );
    marks.word = ( move->first_slot + first ) >> 6; // words of other pieces are theirs
    for ( uint32_t i = first; i < last; ++i )
    {
        uint32_t slot = move->first_slot + i;
        object_marks_add(
            &marks, slot, put_flat( &object_boxes( objects )[slot], &boxes[i].lower, &boxes[i].upper ) );
    }
    object_marks_end( &marks );
}

static void take_row_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const row_move* move = context;
    uint32_t first = row_begin( move, piece ), last = row_begin( move, piece + 1 );
    if ( move->boxes->kind == SPACE_FLAT )
    {
        take_flat_piece( move, first, last );
        return;
    }
    clv_object_store_take_boxes( &move->space->objects, move->first_slot + first,
        (const clv_aabb*)move->boxes->lower + first, last - first );
}

// One pass checks, one takes the boxes. After false no box was taken, but the check may have marked slots as
// moved, which costs a comparison at the next update and changes no answer.
bool clv_space_take_row( clv_space* space, const clv_id* ids, const space_stream* boxes, uint32_t count )
{
    const object_store* objects = &space->objects;
    if ( count == 0 || boxes->kind == SPACE_DOUBLES || !space_are_records( boxes ) ||
        object_store_uses( objects, OBJECT_GIVEN_BOX ) || ids[0].index >= objects->slot_count ||
        count > objects->slot_count - ids[0].index )
    {
        return false;
    }
    row_move move = row_of( space, ids, ids[0].index, boxes, count );
    clv_task_run( &space->tasks, check_row_piece, move.piece_count, &move );
    for ( uint32_t piece = 0; piece < move.piece_count; ++piece )
    {
        if ( !move.is_good[piece] )
        {
            return false;
        }
    }
    clv_space_will_change_some( space, ids, count );
    clv_task_run( &space->tasks, take_row_piece, move.piece_count, &move );
    return true;
}

// A flat box that is as it was has not moved.
static void set_flat( object_store* objects, uint32_t slot, clv_aabb2 box )
{
    clv_aabb2 own = flatten_box( clv_object_store_given_box( objects, slot ) );
    if ( memcmp( &own, &box, sizeof( own ) ) != 0 )
    {
        clv_object_store_set_box( objects, slot, raise_box( &box ) );
    }
}

static void scatter_flat(
    object_store* objects, const clv_id* ids, const space_stream* boxes, uint32_t count )
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
}

// With margins or motions each box is grown on its own.
static void take_floats( object_store* objects, const clv_id* ids, const space_stream* boxes, uint32_t count )
{
    bool grows = object_store_uses( objects, OBJECT_GIVEN_BOX ), is_flat = boxes->kind == SPACE_FLAT;
    if ( !grows && is_flat )
    {
        scatter_flat( objects, ids, boxes, count );
    }
    else if ( !grows )
    {
        clv_object_store_scatter_boxes( objects, ids, boxes->lower, boxes->upper, boxes->stride, count );
    }
    for ( uint32_t i = 0; i < count && grows; ++i )
    {
        if ( is_flat )
        {
            set_flat( objects, ids[i].index, space_box2_at( boxes, i ) );
        }
        else
        {
            clv_object_store_set_box( objects, ids[i].index, space_box_at( boxes, i ) );
        }
    }
}

// ---- doubles

// Pieces count changes themselves. True if the test box is another than it was.
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
    if ( memcmp( own, &box, sizeof( box ) ) == 0 )
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

static void take_box64( clv_space* space, uint32_t slot, clv_aabb64 given )
{
    note_changes( space, set_box64( space, slot, given ) );
}

static clv_id add_box64( clv_space* space, clv_aabb64 given )
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

static void take_piece64( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    row_move* move = context;
    uint64_t changes = 0;
    for ( uint32_t i = row_begin( move, piece ), last = row_begin( move, piece + 1 ); i < last; ++i )
    {
        changes += set_box64( move->space, move->first_slot + i, space_box64_at( move->boxes, i ) );
    }
    move->changes[piece] = changes;
}

static bool are_slots_in_a_row( const clv_id* ids, uint32_t count )
{
    uint32_t different = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        different |= ids[i].index ^ ( ids[0].index + i );
    }
    return different == 0;
}

static void take_doubles( clv_space* space, const clv_id* ids, const space_stream* boxes, uint32_t count )
{
    uint64_t changes = 0;
    if ( !are_slots_in_a_row( ids, count ) )
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            changes += set_box64( space, ids[i].index, space_box64_at( boxes, i ) );
        }
        note_changes( space, changes );
        return;
    }
    row_move move = row_of( space, ids, ids[0].index, boxes, count );
    clv_task_run( &space->tasks, take_piece64, move.piece_count, &move );
    for ( uint32_t piece = 0; piece < move.piece_count; ++piece )
    {
        changes += move.changes[piece];
    }
    note_changes( space, changes );
}

static void map_piece64( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const row_move* move = context;
    const object_store* objects = &move->space->objects;
    const uint32_t* generations = object_generations( objects );
    for ( uint32_t i = row_begin( move, piece ), last = row_begin( move, piece + 1 ); i < last; ++i )
    {
        if ( ( generations[i] & 1 ) != 0 ) // free slots have something else in their box
        {
            clv_aabb* box = &object_boxes( objects )[i];
            *box = clv_far_map_box( &move->space->far.map, &object_boxes64( objects )[i], box );
        }
    }
}

static bool fit_doubles( clv_space* space )
{
    object_store* objects = &space->objects;
    CLV_ASSERT( space_has_doubles( space ) );
    if ( !clv_far_fit_is_due( &space->far, objects->live_count ) )
    {
        return true;
    }
    if ( !clv_object_store_list_live( objects ) )
    {
        return false;
    }
    far_crowd crowd = {
        .boxes = object_boxes64( objects ),
        .live = objects->live_count == objects->slot_count ? NULL : objects->live.items,
        .count = objects->live_count,
    };
    far_verdict verdict = clv_far_fit_choose( &space->far, &crowd, &space->memory );
    if ( verdict == FAR_NEW )
    {
        row_move all = row_of( space, NULL, 0, NULL, objects->slot_count );
        clv_task_run( &space->tasks, map_piece64, all.piece_count, &all );
        objects->moved_is_known = false;
        query_note_all( &space->query );
    }
    return verdict != FAR_NO_MEMORY;
}

const space_doubles clv_space_doubles = { take_box64, take_doubles, add_box64, fit_doubles };

// ---- any kind

static clv_id take_new( clv_space* space, const space_stream* boxes, uint32_t index )
{
    clv_aabb2 flat;
    switch ( boxes->kind )
    {
    case SPACE_DOUBLES: return boxes->doubles->add( space, space_box64_at( boxes, index ) );
    case SPACE_FLAT:
        flat = space_box2_at( boxes, index );
        return clv_object_store_add( &space->objects, raise_box( &flat ) );
    default: return clv_object_store_add( &space->objects, space_box_at( boxes, index ) );
    }
}

// Boxes of floats for new objects in a row of slots, where nothing is made of them.
static uint32_t copy_row( clv_space* space, const space_stream* boxes, uint32_t count, clv_id* ids )
{
    uint32_t first = clv_object_store_add_row( &space->objects, count );
    clv_aabb* own = object_boxes( &space->objects ) + first;
    if ( space_are_records( boxes ) )
    {
        memcpy( own, boxes->lower, (size_t)count * sizeof( clv_aabb ) );
    }
    else
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            memcpy( &own[i].lower, (const char*)boxes->lower + boxes->stride * i, sizeof( clv_vec3 ) );
            memcpy( &own[i].upper, (const char*)boxes->upper + boxes->stride * i, sizeof( clv_vec3 ) );
        }
    }
    for ( uint32_t i = 0; i < count && ids != NULL; ++i )
    {
        ids[i] = ( clv_id ){ first + i, object_generations( &space->objects )[first + i] };
    }
    return first;
}

void clv_space_take_new(
    clv_space* space, const space_stream* boxes, const clv_add_def* with, uint32_t count, clv_id* ids )
{
    const object_store* objects = &space->objects;
    bool is_plain = boxes->kind == SPACE_FLOATS && objects->free_is_row &&
        !object_store_uses( objects, OBJECT_GIVEN_BOX );
    if ( is_plain && count > 0 )
    {
        uint32_t first = copy_row( space, boxes, count, ids );
        for ( uint32_t i = 0; i < count && space->query.changes.are_known; ++i )
        {
            query_note( &space->query, first + i );
        }
        for ( uint32_t i = 0; i < count && with != NULL; ++i )
        {
            clv_space_set_columns( space, with, i, first + i );
        }
        return;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_id id = take_new( space, boxes, i );
        query_note( &space->query, id.index );
        if ( with != NULL )
        {
            clv_space_set_columns( space, with, i, id.index );
        }
        if ( ids != NULL )
        {
            ids[i] = id;
        }
    }
}

void clv_space_take_boxes( clv_space* space, const clv_id* ids, const space_stream* boxes, uint32_t count )
{
    if ( count > 0 && boxes->kind == SPACE_DOUBLES )
    {
        boxes->doubles->move( space, ids, boxes, count );
    }
    else if ( count > 0 )
    {
        take_floats( &space->objects, ids, boxes, count );
    }
}

clv_aabb64 clv_space_given_box64( const clv_space* space, uint32_t slot )
{
    const object_store* objects = &space->objects;
    const clv_aabb64* given = objects->columns[OBJECT_GIVEN_BOX64];
    return given != NULL ? given[slot] : object_boxes64( objects )[slot];
}

void clv_space_renew_box( clv_space* space, uint32_t slot )
{
    object_store* objects = &space->objects;
    if ( space_has_doubles( space ) )
    {
        space->doubles->set( space, slot, clv_space_given_box64( space, slot ) ); // some door gave it its box
        return;
    }
    clv_object_store_set_box( objects, slot, clv_object_store_given_box( objects, slot ) );
}

// ---- read

static clv_result check_reading_box( const clv_space* space, space_kind kind, clv_id id )
{
    return space_kind_of( space ) != kind        ? CLV_UNSUPPORTED
        : !object_is_live( &space->objects, id ) ? CLV_BAD_ID
                                                 : CLV_OK;
}

clv_result clv_space_get_box( const clv_space* space, clv_id id, clv_aabb* box )
{
    clv_result result = check_reading_box( space, SPACE_FLOATS, id );
    if ( result == CLV_OK )
    {
        *box = clv_object_store_given_box( &space->objects, id.index );
    }
    return result;
}

clv_result clv_space_get_box2( const clv_space* space, clv_id id, clv_aabb2* box )
{
    clv_result result = check_reading_box( space, SPACE_FLAT, id );
    if ( result == CLV_OK )
    {
        *box = flatten_box( clv_object_store_given_box( &space->objects, id.index ) );
    }
    return result;
}

clv_result clv_space_get_box64( const clv_space* space, clv_id id, clv_aabb64* box )
{
    clv_result result = check_reading_box( space, SPACE_DOUBLES, id );
    if ( result == CLV_OK )
    {
        *box = clv_space_given_box64( space, id.index );
    }
    return result;
}

// Growing a box rounds, so it is done in the library's floating-point mode.
static clv_aabb test_box( const clv_space* space, uint32_t slot )
{
    base_fp_mode mode = base_fp_enter();
    clv_aabb box = clv_object_store_test_box( &space->objects, slot );
    base_fp_settle( &box );
    base_fp_leave( mode );
    return box;
}

clv_result clv_space_get_test_box( const clv_space* space, clv_id id, clv_aabb* box )
{
    clv_result result = check_reading_box( space, SPACE_FLOATS, id );
    if ( result == CLV_OK )
    {
        *box = test_box( space, id.index );
    }
    return result;
}

clv_result clv_space_get_test_box2( const clv_space* space, clv_id id, clv_aabb2* box )
{
    clv_result result = check_reading_box( space, SPACE_FLAT, id );
    if ( result == CLV_OK )
    {
        *box = flatten_box( test_box( space, id.index ) );
    }
    return result;
}

clv_result clv_space_get_test_box64( const clv_space* space, clv_id id, clv_aabb64* box )
{
    clv_result result = check_reading_box( space, SPACE_DOUBLES, id );
    if ( result == CLV_OK )
    {
        base_fp_mode mode = base_fp_enter();
        *box = clv_object_store_test_box64(
            &space->objects, id.index, clv_space_given_box64( space, id.index ) );
        base_fp_settle( box );
        base_fp_leave( mode );
    }
    return result;
}
