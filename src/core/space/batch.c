// SPDX-License-Identifier: MIT
// Objects in and out: batches are checked whole before the first one is taken.
#include "space/space_internal.h"

#include "base/assertion.h"

#include <assert.h>
#include <string.h>

enum
{
    RECORD_GROUP = 64, // boxes checked at once
};

void clv_space_will_change( clv_space* space, bool does )
{
    if ( does )
    {
        clv_query_state_freeze( &space->query, &space->objects, &space->memory );
        query_note_all( &space->query );
    }
}

void clv_space_will_change_some( clv_space* space, const space_owners* owners, uint32_t count )
{
    if ( count == 0 || ( !space->query.store_is_seen && !space->query.changes.are_known ) )
    {
        return; // as many calls do that each move one object
    }
    clv_query_state_freeze( &space->query, &space->objects, &space->memory );
    bool are_few = query_may_note( &space->query, count );
    for ( uint32_t i = 0; i < count && are_few && owners != NULL; ++i )
    {
        query_note( &space->query, space_owner_slot( owners, i ) );
    }
}

// Boxes [first, first + RECORD_GROUP). Without a branch: which of them is bad is found afterwards.
static bool is_good_double_group( const space_stream* stream, uint32_t first )
{
    const char *lower = (const char*)stream->lower + stream->stride * first,
               *upper = (const char*)stream->upper + stream->stride * first;
    uint32_t good = 1;
    for ( uint32_t i = 0; i < RECORD_GROUP; ++i, lower += stream->stride, upper += stream->stride )
    {
        good &= (uint32_t)( space_double_at( lower, 0 ) <= space_double_at( upper, 0 ) );
        good &= (uint32_t)( space_double_at( lower, 1 ) <= space_double_at( upper, 1 ) );
        good &= (uint32_t)( space_double_at( lower, 2 ) <= space_double_at( upper, 2 ) );
    }
    return good != 0;
}

static bool is_good_group( const clv_space* space, const space_stream* stream, uint32_t first )
{
    const char *lower = (const char*)stream->lower + stream->stride * first,
               *upper = (const char*)stream->upper + stream->stride * first;
    if ( stream->kind == SPACE_DOUBLES )
    {
        return is_good_double_group( stream, first );
    }
    return stream->kind == SPACE_FLOATS && space_are_records( stream )
        ? space->kernels->are_good( (const clv_aabb*)stream->lower + first, RECORD_GROUP )
        : space->kernels->are_good_apart(
              lower, upper, stream->stride, space_corner_bytes( stream->kind ), RECORD_GROUP );
}

static bool is_good_box( const space_stream* stream, uint32_t index )
{
    switch ( stream->kind )
    {
    case SPACE_DOUBLES: return clv_aabb64_is_valid( space_box64_at( stream, index ) );
    case SPACE_FLAT: return clv_aabb2_is_valid( space_box2_at( stream, index ) );
    default: return clv_aabb_is_valid( space_box_at( stream, index ) );
    }
}

// First position below `count` with a bad box, or `count`.
static BASE_COLD uint32_t find_bad_box( const clv_space* space, const space_stream* stream, uint32_t count )
{
    uint32_t first = 0;
    while ( count - first >= RECORD_GROUP && is_good_group( space, stream, first ) )
    {
        first += RECORD_GROUP;
    }
    while ( first < count && is_good_box( stream, first ) )
    {
        first += 1;
    }
    return first;
}

// A face as a double, of whatever kind.
static double face_at( const space_stream* stream, const void* corner, uint32_t index, int axis )
{
    const char* at = (const char*)corner + stream->stride * index;
    return stream->kind == SPACE_DOUBLES ? space_double_at( at, axis ) : (double)space_float_at( at, axis );
}

static BASE_COLD clv_result refuse_box(
    clv_space* space, const space_stream* stream, uint32_t position, clv_id id )
{
    int axis = 0, digits = stream->kind == SPACE_DOUBLES ? 17 : 6;
    while (
        face_at( stream, stream->lower, position, axis ) <= face_at( stream, stream->upper, position, axis ) )
    {
        axis += 1;
    }
    return clv_space_fail( space, CLV_BAD_BOX, position, id,
        "box %u of the batch: lower.%c %.*g is not <= upper.%c %.*g", position, "xyz"[axis], digits,
        face_at( stream, stream->lower, position, axis ), "xyz"[axis], digits,
        face_at( stream, stream->upper, position, axis ) );
}

clv_result clv_space_refuse_id( clv_space* space, clv_result code, uint32_t position, clv_id id )
{
    const object_store* objects = &space->objects;
    const char* reason = "it was never given out by this space";
    if ( code == CLV_OUT_OF_MEMORY )
    {
        return clv_space_fail( space, code, UINT32_MAX, clv_null_id(),
            "out of memory to tell ids apart (ids in ascending order need none)" );
    }
    if ( code == CLV_DUPLICATE_ID )
    {
        reason = "it stands in the batch already";
    }
    else if ( id.generation == 0 )
    {
        reason = "it is null";
    }
    else if ( id.index < objects->slot_count && object_generations( objects )[id.index] > id.generation )
    {
        reason = "its object was removed";
    }
    return clv_space_fail( space, code, position, id, "id { %u, %u } at %u of the batch: %s", id.index,
        id.generation, position, reason );
}

clv_result clv_space_check_ids( clv_space* space, const clv_id* ids, uint32_t count )
{
    uint32_t position = 0;
    clv_result result = clv_object_store_check_ids( &space->objects, ids, count, &position );
    return result == CLV_OK ? CLV_OK : clv_space_refuse_id( space, result, position, ids[position] );
}

// With no boxes any stream is valid, a zeroed one too.
static clv_result check_stride( clv_space* space, const space_stream* stream, uint32_t count )
{
    unsigned corner = (unsigned)space_corner_bytes( stream->kind );
    if ( stream->stride >= corner || count == 0 )
    {
        return CLV_OK;
    }
    return clv_space_fail( space, CLV_BAD_ARGUMENT, UINT32_MAX, clv_null_id(),
        "a stride of %u bytes is below the %u of a corner", (unsigned)stream->stride, corner );
}

// Ids and boxes of a move; the first bad entry of either kind is the one named.
static clv_result check_move(
    clv_space* space, space_owners* owners, const space_stream* stream, uint32_t count )
{
    uint32_t position = 0;
    clv_result result = owners->ids != NULL
        ? clv_object_store_check_ids( &space->objects, owners->ids, count, &position )
        : CLV_OK;
    owners->ascend = owners->ids == NULL || position == count;
    uint32_t good = result == CLV_OK ? count : position;
    uint32_t bad_box = find_bad_box( space, stream, good );
    if ( bad_box < good )
    {
        uint32_t slot = space_owner_slot( owners, bad_box );
        clv_id id = { slot, object_generations( &space->objects )[slot] };
        return refuse_box( space, stream, bad_box, id );
    }
    return result == CLV_OK ? CLV_OK : clv_space_refuse_id( space, result, position, owners->ids[position] );
}

// All live objects, for `count` boxes: their slots are listed where some are free, as an update lists them.
static clv_result name_all( clv_space* space, uint32_t count, space_owners* owners )
{
    object_store* objects = &space->objects;
    if ( count != objects->live_count )
    {
        return clv_space_fail( space, CLV_BAD_ARGUMENT, UINT32_MAX, clv_null_id(),
            "%u boxes for all objects, and there are %u", count, objects->live_count );
    }
    if ( !clv_object_store_list_live( objects ) )
    {
        return clv_space_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, clv_null_id(),
            "out of memory to list the slots of %u objects", count );
    }
    owners->live = count == objects->slot_count ? NULL : objects->live.items;
    return CLV_OK;
}

// Records what clv_object_store_prepare_add, or the number of objects, would not allow.
static clv_result refuse_add( clv_space* space, clv_result code, uint32_t count )
{
    return clv_space_fail( space, code, UINT32_MAX, clv_null_id(), "cannot add %u boxes to %u: %s", count,
        space->objects.live_count, clv_result_text( code ) );
}

// `with` is NULL for boxes alone. Of several bad entries the first is named, whatever is bad about it.
static clv_result check_add(
    clv_space* space, const space_stream* stream, const clv_add_def* with, uint32_t count )
{
    // A count that cannot fit is refused before as many boxes are read.
    if ( !clv_object_store_fits( &space->objects, count ) )
    {
        return refuse_add( space, CLV_TOO_MANY_OBJECTS, count );
    }
    uint32_t bad_box = find_bad_box( space, stream, count );
    clv_result result = with != NULL ? clv_space_check_columns( space, with, NULL, bad_box ) : CLV_OK;
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( bad_box < count )
    {
        return refuse_box( space, stream, bad_box, clv_null_id() );
    }
    if ( count > 0 && with != NULL && !clv_space_use_columns( space, with, count ) )
    {
        return refuse_add( space, CLV_OUT_OF_MEMORY, count );
    }
    result = count == 0 ? CLV_OK : clv_object_store_prepare_add( &space->objects, count );
    return result == CLV_OK ? CLV_OK : refuse_add( space, result, count );
}

// Refuses boxes of another kind than the space's.
static clv_result check_kind( clv_space* space, space_kind kind )
{
    static const char* const lines[] = {
        [SPACE_FLOATS] = "a space of floats: its def said neither doubles nor flat",
        [SPACE_DOUBLES] = "a space of doubles: use clv_space_add64 and clv_space_move64",
        [SPACE_FLAT] = "a flat space: use clv_space_add2 and clv_space_move2",
    };
    space_kind own = space_kind_of( space );
    return own == kind
        ? CLV_OK
        : clv_space_fail( space, CLV_UNSUPPORTED, UINT32_MAX, clv_null_id(), "%s", lines[own] );
}

clv_result clv_space_add_all(
    clv_space* space, space_stream boxes, const clv_add_def* with, uint32_t count, clv_id* ids )
{
    clv_result result = check_kind( space, boxes.kind );
    result = result == CLV_OK ? check_stride( space, &boxes, count ) : result;
    result = result == CLV_OK ? check_add( space, &boxes, with, count ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    space->doubles = count > 0 ? boxes.doubles : space->doubles;
    clv_space_will_change( space, with != NULL && space->objects.motion_is_spent );
    clv_space_will_change_some( space, NULL, count );
    if ( with != NULL )
    {
        space->filters_changed |= count > 0 && ( with->filters != NULL || with->is_static != NULL );
        clv_space_drop_motions( space );
    }
    clv_space_take_new( space, &boxes, with, count, ids );
    return clv_space_succeed( space );
}

// The call of a kind of boxes, of three that follow each other.
static_assert( (int)SPACE_CALL_ADD + SPACE_FLAT == SPACE_CALL_ADD2 &&
        (int)SPACE_CALL_ADD + SPACE_DOUBLES == SPACE_CALL_ADD64 &&
        (int)SPACE_CALL_MOVE + SPACE_FLAT == SPACE_CALL_MOVE2 &&
        (int)SPACE_CALL_MOVE + SPACE_DOUBLES == SPACE_CALL_MOVE64,
    "calls in the order of space_kind" );

static space_call_kind call_with( space_call_kind first, space_kind kind )
{
    return (space_call_kind)( (int)first + (int)kind );
}

static clv_result add_stream( clv_space* space, space_stream boxes, uint32_t count, clv_id* ids )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ( boxes.lower != NULL && boxes.upper != NULL ) ) );
    if ( !SPACE_ENTER( space, .kind = call_with( SPACE_CALL_ADD, boxes.kind ), .count = count,
             .boxes = &boxes, .made = ids ) )
    {
        return CLV_BUSY;
    }
    return clv_space_leave( space, clv_space_add_all( space, boxes, NULL, count, ids ) );
}

// Inside a call: boxes of the space's own kind, once it is known whose they are.
static clv_result move_owners(
    clv_space* space, space_owners* owners, const space_stream* boxes, uint32_t count )
{
    clv_result result = CLV_OK;
    if ( !clv_space_take_row( space, owners, boxes, count ) )
    {
        result = check_stride( space, boxes, count );
        result = result == CLV_OK ? check_move( space, owners, boxes, count ) : result;
        clv_space_will_change_some( space, owners, result == CLV_OK ? count : 0 );
        clv_space_take_boxes( space, owners, boxes, result == CLV_OK ? count : 0 );
    }
    if ( result == CLV_OK )
    {
        clv_space_succeed( space );
    }
    return result;
}

static clv_result move_stream( clv_space* space, const clv_id* ids, space_stream boxes, uint32_t count )
{
    CLV_ASSERT(
        space != NULL && ( count == 0 || ( ids != NULL && boxes.lower != NULL && boxes.upper != NULL ) ) );
    if ( !SPACE_ENTER( space, .kind = call_with( SPACE_CALL_MOVE, boxes.kind ), .count = count,
             .boxes = &boxes, .ids = ids ) )
    {
        return CLV_BUSY;
    }
    space_owners owners = { .ids = ids, .ascend = true };
    clv_result result = check_kind( space, boxes.kind );
    result = result == CLV_OK ? move_owners( space, &owners, &boxes, count ) : result;
    return clv_space_leave( space, result );
}

// For a tap: the ids of all, so that it is told of a move like any other.
static clv_id* ids_of_all( clv_space* space, const space_owners* owners, uint32_t count )
{
    clv_id* ids = clv_base_memory_take( &space->memory, count, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < count && ids != NULL; ++i )
    {
        uint32_t slot = space_owner_slot( owners, i );
        ids[i] = ( clv_id ){ slot, object_generations( &space->objects )[slot] };
    }
    return ids;
}

// The boxes of all live objects. A tap is not told of a call that is refused for its kind or count.
static clv_result move_all( clv_space* space, space_stream boxes, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ( boxes.lower != NULL && boxes.upper != NULL ) ) );
    if ( !clv_space_enter( space, NULL ) )
    {
        return CLV_BUSY;
    }
    space_owners owners = { .ascend = true };
    clv_id* told = NULL;
    clv_result result = check_kind( space, boxes.kind );
    result = result == CLV_OK ? name_all( space, count, &owners ) : result;
    if ( result == CLV_OK && space->tap != NULL && count > 0 )
    {
        told = ids_of_all( space, &owners, count );
        result = told != NULL ? CLV_OK
                              : clv_space_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, clv_null_id(),
                                    "out of memory to record the ids of %u objects", count );
    }
    if ( result == CLV_OK )
    {
        SPACE_TELL( space, .kind = call_with( SPACE_CALL_MOVE, boxes.kind ), .count = count, .boxes = &boxes,
            .ids = told );
        result = move_owners( space, &owners, &boxes, count );
    }
    clv_base_memory_give(
        &space->memory, told, count, sizeof( clv_id ) ); // told: the answer does not name them
    return clv_space_leave( space, result );
}

clv_result clv_space_remove( clv_space* space, const clv_id* ids, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ids != NULL ) );
    if ( !SPACE_ENTER( space, .kind = SPACE_CALL_REMOVE, .count = count, .ids = ids ) )
    {
        return CLV_BUSY;
    }
    clv_result result = clv_space_check_ids( space, ids, count );
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        clv_object_store_remove( &space->objects, ids[i].index );
        query_note( &space->query, ids[i].index );
    }
    if ( count > 0 && result == CLV_OK )
    {
        clv_query_state_note_removal( &space->query );
    }
    return clv_space_leave( space, result == CLV_OK ? clv_space_succeed( space ) : result );
}

void clv_space_clear( clv_space* space )
{
    CLV_ASSERT( space != NULL );
    if ( !SPACE_ENTER( space, .kind = SPACE_CALL_CLEAR ) )
    {
        return;
    }
    clv_object_store_clear( &space->objects );
    clv_query_state_clear( &space->query );
    clv_space_forget_list( space );
    space->list_number += 1;
    space->last_sorted.count = 0;
    clv_space_words_clear( space );
    clv_pair_keys_clear( &space->decisions );
    clv_space_leave( space, clv_space_succeed( space ) );
}

// ---- the doors of the three kinds: clv_space_add, _add2, _add64 and so on

#define BOX_DOORS( kind, suffix )                                                                            \
    clv_result clv_space_add_strided##suffix(                                                                \
        clv_space* space, clv_box_stream##suffix boxes, uint32_t count, clv_id* ids )                        \
    {                                                                                                        \
        return add_stream( space, SPACE_STREAM( kind, boxes ), count, ids );                                 \
    }                                                                                                        \
    clv_result clv_space_add##suffix(                                                                        \
        clv_space* space, const clv_aabb##suffix* boxes, uint32_t count, clv_id* ids )                       \
    {                                                                                                        \
        return add_stream( space, space_records( kind, boxes ), count, ids );                                \
    }                                                                                                        \
    clv_result clv_space_add_one##suffix( clv_space* space, clv_aabb##suffix box, clv_id* id )               \
    {                                                                                                        \
        return clv_space_add##suffix( space, &box, 1, id );                                                  \
    }                                                                                                        \
    clv_result clv_space_move_strided##suffix(                                                               \
        clv_space* space, const clv_id* ids, clv_box_stream##suffix boxes, uint32_t count )                  \
    {                                                                                                        \
        return move_stream( space, ids, SPACE_STREAM( kind, boxes ), count );                                \
    }                                                                                                        \
    clv_result clv_space_move##suffix(                                                                       \
        clv_space* space, const clv_id* ids, const clv_aabb##suffix* boxes, uint32_t count )                 \
    {                                                                                                        \
        return move_stream( space, ids, space_records( kind, boxes ), count );                               \
    }                                                                                                        \
    clv_result clv_space_move_all_strided##suffix(                                                           \
        clv_space* space, clv_box_stream##suffix boxes, uint32_t count )                                     \
    {                                                                                                        \
        return move_all( space, SPACE_STREAM( kind, boxes ), count );                                        \
    }                                                                                                        \
    clv_result clv_space_move_all##suffix( clv_space* space, const clv_aabb##suffix* boxes, uint32_t count ) \
    {                                                                                                        \
        return move_all( space, space_records( kind, boxes ), count );                                       \
    }                                                                                                        \
    clv_result clv_space_move_one##suffix( clv_space* space, clv_id id, clv_aabb##suffix box )               \
    {                                                                                                        \
        return clv_space_move##suffix( space, &id, &box, 1 );                                                \
    }

BOX_DOORS( SPACE_FLOATS, )
BOX_DOORS( SPACE_FLAT, 2 )
BOX_DOORS( SPACE_DOUBLES, 64 )

clv_result clv_space_remove_one( clv_space* space, clv_id id )
{
    return clv_space_remove( space, &id, 1 );
}
