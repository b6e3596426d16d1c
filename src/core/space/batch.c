// SPDX-License-Identifier: MIT
// Objects in and out: batches are checked whole before the first one is taken.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/fp_mode.h"

#include <string.h>

enum
{
    RECORD_GROUP = 64,     // boxes checked at once
    PLAIN_BOXES = 1 << 13, // boxes in a piece, at least
    PLAIN_PIECES = 64,     // at most
};

void clv_space_will_change( clv_space* space, bool does )
{
    if ( does )
    {
        clv_query_state_freeze( &space->query, &space->objects, &space->memory );
    }
}

static space_stream stream_of_records( space_kind kind, const void* boxes )
{
    size_t corner = space_corner_bytes( kind );
    return ( space_stream ){ kind, boxes, boxes != NULL ? (const char*)boxes + corner : NULL, 2 * corner };
}

space_stream clv_space_records( const clv_aabb* boxes )
{
    return stream_of_records( SPACE_FLOATS, boxes );
}

space_stream clv_space_records2( const clv_aabb2* boxes )
{
    return stream_of_records( SPACE_FLAT, boxes );
}

space_stream clv_space_records64( const clv_aabb64* boxes )
{
    return stream_of_records( SPACE_DOUBLES, boxes );
}

space_stream clv_space_stream( clv_box_stream stream )
{
    return ( space_stream ){ SPACE_FLOATS, stream.lower, stream.upper, stream.stride };
}

space_stream clv_space_stream2( clv_box_stream2 stream )
{
    return ( space_stream ){ SPACE_FLAT, stream.lower, stream.upper, stream.stride };
}

space_stream clv_space_stream64( clv_box_stream64 stream )
{
    return ( space_stream ){ SPACE_DOUBLES, stream.lower, stream.upper, stream.stride };
}

static inline clv_aabb box_at( const space_stream* stream, uint32_t index )
{
    clv_aabb box;
    space_read_box( stream, index, &box.lower, &box.upper );
    return box;
}

// Boxes of floats [first, first + RECORD_GROUP) as records: where they lie, or copied.
static const clv_aabb* group_at( const space_stream* stream, uint32_t first, clv_aabb* copies )
{
    if ( stream->kind == SPACE_FLOATS && space_are_records( stream ) )
    {
        return (const clv_aabb*)stream->lower + first;
    }
    for ( uint32_t i = 0; i < RECORD_GROUP; ++i )
    {
        const char* lower = (const char*)stream->lower + stream->stride * ( first + i );
        const char* upper = (const char*)stream->upper + stream->stride * ( first + i );
        memcpy( &copies[i].lower, lower, sizeof( clv_vec2 ) );
        memcpy( &copies[i].upper, upper, sizeof( clv_vec2 ) );
        if ( stream->kind == SPACE_FLOATS )
        {
            memcpy( &copies[i].lower.z, lower + sizeof( clv_vec2 ), sizeof( float ) );
            memcpy( &copies[i].upper.z, upper + sizeof( clv_vec2 ), sizeof( float ) );
        }
    }
    return copies;
}

// Boxes of floats are checked in groups; which of a group is bad is found afterwards.
static uint32_t skip_good_boxes( const clv_space* space, const space_stream* stream, uint32_t count )
{
    uint32_t first = 0;
    clv_aabb copies[RECORD_GROUP];
    for ( uint32_t i = 0; i < RECORD_GROUP && stream->kind == SPACE_FLAT; ++i )
    {
        copies[i] = ( clv_aabb ){ { 0, 0, 0 }, { 0, 0, 0 } }; // the third axis is good
    }
    while ( count - first >= RECORD_GROUP &&
        space->kernels->are_good( group_at( stream, first, copies ), RECORD_GROUP ) )
    {
        first += RECORD_GROUP;
    }
    return first;
}

static bool is_good_box( const space_stream* stream, uint32_t index )
{
    switch ( stream->kind )
    {
    case SPACE_DOUBLES: return clv_aabb64_is_valid( space_box64_at( stream, index ) );
    case SPACE_FLAT: return clv_aabb2_is_valid( space_box2_at( stream, index ) );
    default: return clv_aabb_is_valid( box_at( stream, index ) );
    }
}

// First position below `count` with a bad box, or `count`.
static uint32_t find_bad_box( const clv_space* space, const space_stream* stream, uint32_t count )
{
    uint32_t first = stream->kind == SPACE_DOUBLES ? 0 : skip_good_boxes( space, stream, count );
    while ( first < count && is_good_box( stream, first ) )
    {
        first += 1;
    }
    return first;
}

// A face as a double, of whatever kind.
static double face_at( const space_stream* stream, const void* corner, uint32_t index, int axis )
{
    size_t part = stream->kind == SPACE_DOUBLES ? sizeof( double ) : sizeof( float );
    const char* at = (const char*)corner + stream->stride * index + part * (size_t)axis;
    double wide;
    float narrow;
    if ( stream->kind == SPACE_DOUBLES )
    {
        memcpy( &wide, at, sizeof( wide ) );
        return wide;
    }
    memcpy( &narrow, at, sizeof( narrow ) );
    return (double)narrow;
}

static clv_result refuse_box( clv_space* space, const space_stream* stream, uint32_t position, clv_id id )
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
    clv_space* space, const clv_id* ids, const space_stream* stream, uint32_t count )
{
    uint32_t position = 0;
    clv_result result = clv_object_store_check_ids( &space->objects, ids, count, &position );
    uint32_t good = result == CLV_OK ? count : position;
    uint32_t bad_box = find_bad_box( space, stream, good );
    if ( bad_box < good )
    {
        return refuse_box( space, stream, bad_box, ids[bad_box] );
    }
    return result == CLV_OK ? CLV_OK : clv_space_refuse_id( space, result, position, ids[position] );
}

clv_result clv_space_refuse_add( clv_space* space, clv_result code, uint32_t count )
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
        return clv_space_refuse_add( space, CLV_TOO_MANY_OBJECTS, count );
    }
    uint32_t bad_box = find_bad_box( space, stream, count );
    clv_result result = with != NULL ? clv_space_check_add_def( space, with, bad_box ) : CLV_OK;
    if ( result != CLV_OK )
    {
        return result;
    }
    if ( bad_box < count )
    {
        return refuse_box( space, stream, bad_box, clv_null_id() );
    }
    if ( count > 0 && with != NULL && !clv_space_use_add_def( space, with, count ) )
    {
        return clv_space_refuse_add( space, CLV_OUT_OF_MEMORY, count );
    }
    result = count == 0 ? CLV_OK : clv_object_store_prepare_add( &space->objects, count );
    return result == CLV_OK ? CLV_OK : clv_space_refuse_add( space, result, count );
}

static clv_id add_box( clv_space* space, const space_stream* boxes, uint32_t index )
{
    switch ( boxes->kind )
    {
    case SPACE_DOUBLES: return clv_space_add_box64( space, space_box64_at( boxes, index ) );
    case SPACE_FLAT: return clv_space_add_box2( space, space_box2_at( boxes, index ) );
    default: return clv_object_store_add( &space->objects, box_at( boxes, index ) );
    }
}

static void take_new(
    clv_space* space, const space_stream* boxes, const clv_add_def* with, uint32_t count, clv_id* ids )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_id id = add_box( space, boxes, i );
        if ( with != NULL )
        {
            clv_space_dress( space, with, i, id.index );
        }
        if ( ids != NULL )
        {
            ids[i] = id;
        }
    }
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
    clv_space_will_change( space, count > 0 || ( with != NULL && space->objects.motion_is_spent ) );
    if ( with != NULL )
    {
        space->filters_changed |= count > 0 && ( with->filters != NULL || with->is_static != NULL );
        clv_space_drop_motions( space );
    }
    take_new( space, &boxes, with, count, ids );
    return clv_space_succeed( space );
}

clv_result clv_space_add_stream( clv_space* space, space_stream boxes, uint32_t count, clv_id* ids )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ( boxes.lower != NULL && boxes.upper != NULL ) ) );
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = clv_space_add_all( space, boxes, NULL, count, ids );
    base_fp_leave( mode );
    return clv_space_leave( space, result );
}

clv_result clv_space_add_strided( clv_space* space, clv_box_stream boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add_stream( space, clv_space_stream( boxes ), count, ids );
}

clv_result clv_space_add( clv_space* space, const clv_aabb* boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add_stream( space, clv_space_records( boxes ), count, ids );
}

static void take_boxes( clv_space* space, const clv_id* ids, const space_stream* stream, uint32_t count )
{
    if ( stream->kind == SPACE_DOUBLES )
    {
        clv_space_take_boxes64( space, ids, stream, count );
    }
    else if ( stream->kind == SPACE_FLAT )
    {
        clv_space_take_boxes2( space, ids, stream, count );
    }
    else if ( !object_store_uses( &space->objects, OBJECT_GIVEN_BOX ) )
    {
        clv_object_store_scatter_boxes(
            &space->objects, ids, stream->lower, stream->upper, stream->stride, count );
    }
    else
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            clv_object_store_set_box( &space->objects, ids[i].index, box_at( stream, i ) );
        }
    }
}

// The bulk of most frames: boxes one behind the other for slots one behind the other, all alive, no margins and no motions.
typedef struct plain_move
{
    clv_space* space;
    const clv_id* ids;
    const clv_aabb* boxes;
    uint32_t count;
    uint32_t piece_count;
    bool is_good[PLAIN_PIECES];
} plain_move;

// Where a piece begins: pieces share no word of the bits of moved slots.
static uint32_t plain_first( const plain_move* move, uint32_t piece )
{
    uint32_t slot = move->ids[0].index;
    if ( piece == 0 )
    {
        return 0;
    }
    uint32_t end = slot + (uint32_t)( (uint64_t)move->count * piece / move->piece_count );
    return piece == move->piece_count ? move->count : ( end | 63 ) + 1 - slot;
}

static void check_plain_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    plain_move* move = context;
    uint32_t first = plain_first( move, piece ), last = plain_first( move, piece + 1 );
    const uint32_t* generations = object_generations( &move->space->objects ) + move->ids[0].index;
    uint32_t different = 0, dead = 0;
    for ( uint32_t i = first; i < last; ++i )
    {
        different |= ( move->ids[i].index ^ ( move->ids[0].index + i ) ) |
            ( move->ids[i].generation ^ generations[i] );
        dead |= ~generations[i] & 1;
    }
    move->is_good[piece] = ( different | dead ) == 0 &&
        clv_object_store_check_boxes( &move->space->objects, move->ids[0].index + first, move->boxes + first,
            last - first, move->space->kernels->are_good );
}

static void take_plain_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const plain_move* move = context;
    uint32_t first = plain_first( move, piece ), last = plain_first( move, piece + 1 );
    clv_object_store_take_boxes(
        &move->space->objects, move->ids[0].index + first, move->boxes + first, last - first );
}

// One pass checks, one takes the boxes. False if the batch is not of this kind or an entry is bad: then no box was taken, but
// the check may have marked slots as moved, which costs a comparison at the next update and changes no answer.
static bool take_plain_move( clv_space* space, const clv_id* ids, const clv_aabb* boxes, uint32_t count )
{
    object_store* objects = &space->objects;
    if ( object_store_uses( objects, OBJECT_GIVEN_BOX ) || ids[0].index >= objects->slot_count ||
        count > objects->slot_count - ids[0].index )
    {
        return false;
    }
    plain_move move = { .space = space, .ids = ids, .count = count, .piece_count = 1 };
    move.boxes = boxes;
    if ( count >= 4 * PLAIN_BOXES )
    {
        // By their number alone: where pieces begin decides which boxes are marked as moved without a comparison.
        move.piece_count = count / PLAIN_BOXES < PLAIN_PIECES ? count / PLAIN_BOXES : PLAIN_PIECES;
    }
    clv_task_run( &space->tasks, check_plain_piece, move.piece_count, &move );
    for ( uint32_t piece = 0; piece < move.piece_count; ++piece )
    {
        if ( !move.is_good[piece] )
        {
            return false;
        }
    }
    clv_space_will_change( space, count > 0 );
    clv_task_run( &space->tasks, take_plain_piece, move.piece_count, &move );
    return true;
}

// The quick ways, which check on the way. False: the batch is not so, or something is wrong with it.
static bool take_row( clv_space* space, const clv_id* ids, const space_stream* boxes, uint32_t count )
{
    if ( count == 0 || !space_are_records( boxes ) || boxes->kind == SPACE_DOUBLES )
    {
        return false;
    }
    return boxes->kind == SPACE_FLAT ? clv_space_take_row2( space, ids, boxes->lower, count )
                                     : take_plain_move( space, ids, boxes->lower, count );
}

clv_result clv_space_move_stream( clv_space* space, const clv_id* ids, space_stream boxes, uint32_t count )
{
    CLV_ASSERT(
        space != NULL && ( count == 0 || ( ids != NULL && boxes.lower != NULL && boxes.upper != NULL ) ) );
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = check_kind( space, boxes.kind );
    if ( result == CLV_OK && !take_row( space, ids, &boxes, count ) )
    {
        result = check_stride( space, &boxes, count );
        result = result == CLV_OK ? check_move( space, ids, &boxes, count ) : result;
        clv_space_will_change( space, result == CLV_OK && count > 0 );
        take_boxes( space, ids, &boxes, result == CLV_OK ? count : 0 );
    }
    if ( result == CLV_OK )
    {
        clv_space_succeed( space );
    }
    base_fp_leave( mode );
    return clv_space_leave( space, result );
}

clv_result clv_space_move_strided( clv_space* space, const clv_id* ids, clv_box_stream boxes, uint32_t count )
{
    return clv_space_move_stream( space, ids, clv_space_stream( boxes ), count );
}

clv_result clv_space_move( clv_space* space, const clv_id* ids, const clv_aabb* boxes, uint32_t count )
{
    return clv_space_move_stream( space, ids, clv_space_records( boxes ), count );
}

clv_result clv_space_remove( clv_space* space, const clv_id* ids, uint32_t count )
{
    CLV_ASSERT( space != NULL && ( count == 0 || ids != NULL ) );
    if ( !clv_space_enter( space ) )
    {
        return CLV_BUSY;
    }
    clv_result result = clv_space_check_ids( space, ids, count );
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        clv_object_store_remove( &space->objects, ids[i].index );
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
    if ( !clv_space_enter( space ) )
    {
        return;
    }
    clv_object_store_clear( &space->objects );
    clv_query_state_clear( &space->query );
    space->list.count = 0;
    space->borrowed = NULL;
    space->list_is_valid = false;
    space->list_number += 1;
    space->last_sorted.count = 0;
    clv_space_words_clear( space );
    space->begun.count = 0;
    space->ended.count = 0;
    clv_pair_decisions_clear( &space->decisions );
    space->stats.pair_count = 0;
    space->stats.begun_count = 0;
    space->stats.ended_count = 0;
    clv_space_leave( space, clv_space_succeed( space ) );
}

clv_result clv_space_add_one( clv_space* space, clv_aabb box, clv_id* id )
{
    return clv_space_add( space, &box, 1, id );
}

clv_result clv_space_move_one( clv_space* space, clv_id id, clv_aabb box )
{
    return clv_space_move( space, &id, &box, 1 );
}

clv_result clv_space_remove_one( clv_space* space, clv_id id )
{
    return clv_space_remove( space, &id, 1 );
}
