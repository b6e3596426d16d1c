// SPDX-License-Identifier: MIT
// Checked boxes into their slots, of all three kinds. Floats are stored as they are. Flat ones reach from 0
// to 1 on the third axis (and grow there as elsewhere), so it decides nothing: the engine lays one layer of
// cells, and its kernels leave out an axis on which a whole cell overlaps. Doubles are kept beside the floats
// that the method sees, which far/ maps them to.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/fp_mode.h"
#include "object/test_box.h"

#include <string.h>

enum
{
    ROW_BOXES = 1 << 11, // boxes in a piece of a row, at least
    ROW_WAKES = 1 << 15, // boxes that are worth waking sleeping workers for
    ROW_PIECES = 64,     // at most
    ROW_RUN = 16,        // slots behind each other, at least, that are taken as a row between gaps
    FAR_GROUP = 64,      // boxes in double that are mapped together
};

// Boxes for slots one behind the other, or for all that are live, which several workers take in pieces.
typedef struct row_move
{
    clv_space* space;
    const space_owners* owners; ///< as they came: ids are to be checked, do they name the slots?
    space_owners slots;         ///< of a row, or of all that are live
    const space_stream* boxes;
    uint32_t count;
    uint32_t piece_count;
    bool is_good[ROW_PIECES];     ///< floats and flat ones: what the check says
    uint64_t changes[ROW_PIECES]; ///< doubles: boxes that are others than before
} row_move;

// Cut by their number alone: where pieces begin decides which boxes are marked as moved without a comparison.
static row_move row_of(
    clv_space* space, const space_owners* owners, const space_stream* boxes, uint32_t count )
{
    uint32_t first = owners->ids != NULL ? owners->ids[0].index : owners->first;
    uint32_t pieces = count / ROW_BOXES < ROW_PIECES ? count / ROW_BOXES : ROW_PIECES;
    return ( row_move ){
        .space = space,
        .owners = owners,
        .slots = { NULL, owners->live, first, true },
        .boxes = boxes,
        .count = count,
        .piece_count = count >= 4 * ROW_BOXES ? pieces : 1,
    };
}

// Where a piece begins, counted from the first box: pieces share no word of the bits of moved slots.
static uint32_t row_begin( const row_move* move, uint32_t piece )
{
    if ( piece == 0 || piece == move->piece_count )
    {
        return piece == 0 ? 0 : move->count;
    }
    uint32_t share = (uint32_t)( (uint64_t)move->count * piece / move->piece_count );
    const uint32_t* live = move->slots.live;
    if ( live != NULL )
    {
        while ( share < move->count && live[share] >> 6 == live[share - 1] >> 6 )
        {
            share += 1;
        }
        return share;
    }
    uint32_t begin = ( ( move->slots.first + share ) | 63 ) + 1 - move->slots.first;
    return begin < move->count ? begin : move->count;
}

// Boxes of a run, or a group, that begins with the one at `first`.
static uint32_t some_from( uint32_t first, uint32_t last, uint32_t most )
{
    return last - first < most ? last - first : most;
}

// The ids of a group, of which only the slots are looked at: where they lie, or made of the slots.
static inline const clv_id* ids_at( const space_owners* owners, uint32_t first, uint32_t count, clv_id* made )
{
    for ( uint32_t i = 0; i < count && owners->ids == NULL; ++i )
    {
        made[i] = ( clv_id ){ space_owner_slot( owners, first + i ), 0 };
    }
    return owners->ids != NULL ? owners->ids + first : made;
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

// A corner of two or three axes to its slot. Returns 0 if it is as it was. Each part is loaded as it was
// stored: a wider load of two stores waits for both.
static inline uint64_t put_corner( clv_vec3* own, const void* corner, bool is_flat )
{
    uint64_t before, now;
    uint32_t last_before, last;
    memcpy( &before, own, sizeof( before ) );
    memcpy( &now, corner, sizeof( now ) );
    memcpy( own, &now, sizeof( now ) );
    if ( is_flat )
    {
        return before ^ now;
    }
    memcpy( &last_before, &own->z, sizeof( last ) );
    memcpy( &last, (const char*)corner + sizeof( now ), sizeof( last ) );
    memcpy( &own->z, &last, sizeof( last ) );
    return ( before ^ now ) | ( last_before ^ last );
}

// Returns 1 if the box is another one.
static inline uint64_t put_box( clv_aabb* own, const void* lower, const void* upper, bool is_flat )
{
    return ( put_corner( &own->lower, lower, is_flat ) | put_corner( &own->upper, upper, is_flat ) ) != 0;
}

// OBJECT_RUN boxes at most, from `first` on, into the slots of the ids.
static inline void put_run( object_store* objects, const clv_id* ids, bool ascend, const space_stream* boxes,
    uint32_t first, uint32_t count )
{
    clv_aabb* own = object_boxes( objects );
    bool is_flat = boxes->kind == SPACE_FLAT;
    const char *lower = (const char*)boxes->lower + boxes->stride * first,
               *upper = (const char*)boxes->upper + boxes->stride * first;
    uint64_t changed = 0;
    for ( uint32_t i = 0; i < count; ++i, lower += boxes->stride, upper += boxes->stride )
    {
        uint32_t slot = ids[i].index;
        changed |= put_box( &own[slot], lower, upper, is_flat ) << ( slot & 63 );
    }
    clv_object_store_mark( objects, ids, count, ascend, changed );
}

// Boxes [first, last) one by one into their slots; those that are as they were have not moved.
static void put_each( object_store* objects, const space_owners* owners, const space_stream* boxes,
    uint32_t first, uint32_t last )
{
    clv_id made[OBJECT_RUN];
    for ( uint32_t i = first; i < last; i += OBJECT_RUN )
    {
        uint32_t some = some_from( i, last, OBJECT_RUN );
        put_run( objects, ids_at( owners, i, some, made ), owners->ascend, boxes, i, some );
    }
}

static bool are_ids_of_row( const row_move* move, uint32_t first, uint32_t last )
{
    const clv_id* ids = move->owners->ids;
    uint32_t first_slot = move->slots.first;
    const uint32_t* generations = object_generations( &move->space->objects ) + first_slot;
    uint32_t different = 0, dead = 0;
    for ( uint32_t i = first; i < last; ++i )
    {
        different |= ( ids[i].index ^ ( first_slot + i ) ) | ( ids[i].generation ^ generations[i] );
        dead |= ~generations[i] & 1;
    }
    return ( different | dead ) == 0;
}

// How many boxes from `first` on to take at once. True: their slots are a row; false: there are gaps between.
static bool next_run( const space_owners* slots, uint32_t first, uint32_t last, uint32_t* count )
{
    const uint32_t* live = slots->live;
    uint32_t end = first;
    if ( live == NULL )
    {
        *count = last - first;
        return true;
    }
    while ( last - end >= ROW_RUN && live[end + ROW_RUN - 1] - live[first] == end + ROW_RUN - 1 - first )
    {
        end += ROW_RUN;
    }
    *count = end > first ? end - first : some_from( first, last, ROW_RUN );
    return end > first;
}

static bool are_boxes_of_row( const row_move* move, uint32_t first, uint32_t last )
{
    clv_space* space = move->space;
    const void* boxes = move->boxes->lower;
    if ( move->boxes->kind == SPACE_FLAT )
    {
        return are_good_flat( (const clv_aabb2*)boxes + first, last - first );
    }
    bool is_good = true;
    for ( uint32_t count; first < last; first += count )
    {
        bool is_row = next_run( &move->slots, first, last, &count );
        const clv_aabb* records = (const clv_aabb*)boxes + first;
        is_good &= is_row
            ? clv_object_store_check_boxes( &space->objects, space_owner_slot( &move->slots, first ), records,
                  count, space->kernels->are_good )
            : space->kernels->are_good( records, count );
    }
    return is_good;
}

static void check_row_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    row_move* move = context;
    uint32_t first = row_begin( move, piece ), last = row_begin( move, piece + 1 );
    move->is_good[piece] = ( move->owners->ids == NULL || are_ids_of_row( move, first, last ) ) &&
        are_boxes_of_row( move, first, last );
}

static void take_row_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const row_move* move = context;
    object_store* objects = &move->space->objects;
    uint32_t first = row_begin( move, piece ), last = row_begin( move, piece + 1 );
    if ( move->boxes->kind == SPACE_FLAT )
    {
        put_each( objects, move->owners, move->boxes, first, last );
        return;
    }
    for ( uint32_t count; first < last; first += count )
    {
        if ( next_run( &move->slots, first, last, &count ) )
        {
            clv_object_store_take_boxes( objects, space_owner_slot( &move->slots, first ),
                (const clv_aabb*)move->boxes->lower + first, count );
        }
        else
        {
            put_each( objects, &move->slots, move->boxes, first, first + count );
        }
    }
}

// By the first and the last id. Without ids the slots are known.
static bool may_be_row( const object_store* objects, const clv_id* ids, uint32_t count )
{
    return ids == NULL ||
        ( ids[0].index < objects->slot_count && count <= objects->slot_count - ids[0].index &&
            ids[count - 1].index == ids[0].index + count - 1 );
}

static void run_row( row_move* move, clv_task* piece )
{
    task_runner* tasks = &move->space->tasks;
    ( move->count >= ROW_WAKES ? clv_task_run : clv_task_offer )( tasks, piece, move->piece_count, move );
}

// One pass checks, one takes the boxes. After false no box was taken, but the check may have marked slots as
// moved, which costs a comparison at the next update and changes no answer.
bool clv_space_take_row(
    clv_space* space, const space_owners* owners, const space_stream* boxes, uint32_t count )
{
    const object_store* objects = &space->objects;
    if ( count == 0 || boxes->kind == SPACE_DOUBLES || !space_are_records( boxes ) ||
        object_store_uses( objects, OBJECT_GIVEN_BOX ) || !may_be_row( objects, owners->ids, count ) )
    {
        return false;
    }
    row_move move = row_of( space, owners, boxes, count );
    run_row( &move, check_row_piece );
    for ( uint32_t piece = 0; piece < move.piece_count; ++piece )
    {
        if ( !move.is_good[piece] )
        {
            return false;
        }
    }
    clv_space_will_change_some( space, &move.slots, count );
    run_row( &move, take_row_piece );
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

// With rules of margins or motions each box is grown on its own.
static void take_one_by_one(
    object_store* objects, const space_owners* owners, const space_stream* boxes, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = space_owner_slot( owners, i );
        if ( boxes->kind == SPACE_FLAT )
        {
            set_flat( objects, slot, space_box2_at( boxes, i ) );
        }
        else
        {
            clv_object_store_set_box( objects, slot, space_box_at( boxes, i ) );
        }
    }
}

static void take_floats(
    object_store* objects, const space_owners* owners, const space_stream* boxes, uint32_t count )
{
    bool grows = object_store_uses( objects, OBJECT_GIVEN_BOX ), is_flat = boxes->kind == SPACE_FLAT;
    if ( grows && ( is_flat || !object_store_grows_plainly( objects ) ) )
    {
        take_one_by_one( objects, owners, boxes, count );
        return;
    }
    if ( !grows && ( is_flat || owners->ids == NULL ) )
    {
        put_each( objects, owners, boxes, 0, count );
        return;
    }
    clv_id made[OBJECT_RUN];
    uint32_t most = !grows ? count : OBJECT_RUN;
    for ( uint32_t i = 0; i < count; i += most )
    {
        uint32_t some = some_from( i, count, most );
        const clv_id* ids = ids_at( owners, i, some, made );
        const char *lower = (const char*)boxes->lower + boxes->stride * i,
                   *upper = (const char*)boxes->upper + boxes->stride * i;
        if ( grows )
        {
            clv_object_store_scatter_grown( objects, ids, lower, upper, boxes->stride, some, owners->ascend );
        }
        else
        {
            clv_object_store_scatter_boxes( objects, ids, lower, upper, boxes->stride, some, owners->ascend );
        }
    }
}

// ---- doubles

// Boxes as given to their column, and the boxes to test.
static const clv_aabb64* grow_group(
    object_store* objects, const clv_id* ids, const clv_aabb64* given, uint32_t count, clv_aabb64* grown )
{
    clv_aabb64* column = objects->columns[OBJECT_GIVEN_BOX64];
    for ( uint32_t i = 0; i < count && column != NULL; ++i )
    {
        column[ids[i].index] = given[i];
        clv_object_store_forget_motion( objects, ids[i].index );
        grown[i] = clv_object_store_test_box64( objects, ids[i].index, given[i] );
    }
    return column != NULL ? grown : given;
}

// Word by word from where they lie: copies of boxes would be stored and loaded again.
static inline bool is_same( const void* a, const void* b, size_t bytes )
{
    uint64_t different = 0;
    for ( size_t i = 0; i < bytes; i += sizeof( uint64_t ) )
    {
        uint64_t left, right;
        memcpy( &left, (const char*)a + i, sizeof( left ) );
        memcpy( &right, (const char*)b + i, sizeof( right ) );
        different |= left ^ right;
    }
    return different == 0;
}

// Test boxes to their slots. A bit for each that is another than it was.
static uint64_t store_group64(
    object_store* objects, const clv_id* ids, const clv_aabb64* boxes, uint32_t count )
{
    clv_aabb64* own = object_boxes64( objects );
    uint64_t changed = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        changed |= (uint64_t)!is_same( &own[ids[i].index], &boxes[i], sizeof( clv_aabb64 ) ) << i;
        own[ids[i].index] = boxes[i];
    }
    return changed;
}

// The floats they are mapped to, for which the floats before are the hints.
static void map_group64( clv_space* space, const clv_id* ids, bool ascend, const clv_aabb64* boxes,
    uint32_t count, clv_aabb* mapped )
{
    object_store* objects = &space->objects;
    clv_aabb* own = object_boxes( objects );
    bool is_plain = far_map_is_plain( &space->far.map );
    for ( uint32_t i = 0; i < count && !is_plain; ++i )
    {
        mapped[i] = own[ids[i].index];
    }
    clv_far_map_boxes( &space->far.map, boxes, mapped, count );
    for ( uint32_t first = 0; first < count; first += OBJECT_RUN )
    {
        uint32_t some = some_from( first, count, OBJECT_RUN );
        uint64_t changed = 0;
        for ( uint32_t i = first; i < first + some; ++i )
        {
            uint64_t is_new = !is_same( &own[ids[i].index], &mapped[i], sizeof( clv_aabb ) );
            changed |= is_new << ( ids[i].index & 63 );
            own[ids[i].index] = mapped[i];
        }
        clv_object_store_mark( objects, ids + first, some, ascend, changed );
    }
}

// How many of up to FAR_GROUP test boxes are others than they were.
static uint32_t set_group64(
    clv_space* space, const clv_id* ids, bool ascend, const clv_aabb64* given, uint32_t count )
{
    clv_aabb64 grown[FAR_GROUP];
    clv_aabb mapped[FAR_GROUP];
    const clv_aabb64* boxes = grow_group( &space->objects, ids, given, count, grown );
    uint64_t changed = store_group64( &space->objects, ids, boxes, count );
    if ( changed != 0 )
    {
        map_group64( space, ids, ascend, boxes, count, mapped );
    }
    return base_bit_count( changed );
}

// Boxes [first, last) of a stream.
static uint64_t set_stream64(
    clv_space* space, const space_owners* owners, const space_stream* boxes, uint32_t first, uint32_t last )
{
    clv_aabb64 copies[FAR_GROUP];
    clv_id made[FAR_GROUP];
    bool are_records = space_are_records( boxes );
    uint64_t changes = 0;
    for ( uint32_t i = first; i < last; i += FAR_GROUP )
    {
        uint32_t some = some_from( i, last, FAR_GROUP );
        for ( uint32_t k = 0; k < some && !are_records; ++k )
        {
            copies[k] = space_box64_at( boxes, i + k );
        }
        const clv_aabb64* given = are_records ? (const clv_aabb64*)boxes->lower + i : copies;
        changes += set_group64( space, ids_at( owners, i, some, made ), owners->ascend, given, some );
    }
    return changes;
}

static void note_changes( clv_space* space, uint64_t count )
{
    space->doubles_changed |= count > 0;
    space->far.change_count += count;
}

static void take_box64( clv_space* space, uint32_t slot, clv_aabb64 given )
{
    clv_id id = { slot, object_generations( &space->objects )[slot] };
    note_changes( space, set_group64( space, &id, true, &given, 1 ) );
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
    move->changes[piece] = set_stream64(
        move->space, move->owners, move->boxes, row_begin( move, piece ), row_begin( move, piece + 1 ) );
}

// Ids in any order are one piece: others might share their words of moved slots.
static void take_doubles(
    clv_space* space, const space_owners* owners, const space_stream* boxes, uint32_t count )
{
    uint64_t changes = 0;
    row_move move = row_of( space, owners, boxes, count );
    const clv_id* ids = owners->ids;
    bool is_row = ids == NULL || ( owners->ascend && ids[count - 1].index - ids[0].index == count - 1 );
    move.piece_count = is_row ? move.piece_count : 1;
    run_row( &move, take_piece64 );
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
        row_move all = row_of( space, &( space_owners ){ 0 }, NULL, objects->slot_count );
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

void clv_space_take_boxes(
    clv_space* space, const space_owners* owners, const space_stream* boxes, uint32_t count )
{
    if ( count > 0 && boxes->kind == SPACE_DOUBLES )
    {
        boxes->doubles->move( space, owners, boxes, count );
    }
    else if ( count > 0 )
    {
        take_floats( &space->objects, owners, boxes, count );
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

// A live object's box as given, or the one that the next update tests. Growing a box rounds, so it is done in
// the library's floating-point mode.
static clv_result read_box( const clv_space* space, space_kind kind, clv_id id, bool is_grown, void* box )
{
    const object_store* objects = &space->objects;
    if ( space_kind_of( space ) != kind )
    {
        return CLV_UNSUPPORTED;
    }
    if ( !object_is_live( objects, id ) )
    {
        return CLV_BAD_ID;
    }
    base_fp_mode mode = base_fp_enter();
    if ( kind == SPACE_DOUBLES )
    {
        clv_aabb64 given = clv_space_given_box64( space, id.index );
        given = is_grown ? clv_object_store_test_box64( objects, id.index, given ) : given;
        memcpy( box, &given, sizeof( given ) );
    }
    else
    {
        clv_aabb given = is_grown ? clv_object_store_test_box( objects, id.index )
                                  : clv_object_store_given_box( objects, id.index );
        clv_aabb2 flat = flatten_box( given );
        memcpy( box, kind == SPACE_FLAT ? (const void*)&flat : &given, 2 * space_corner_bytes( kind ) );
    }
    base_fp_settle( box );
    base_fp_leave( mode );
    return CLV_OK;
}

#define READ_DOORS( kind, suffix )                                                                           \
    clv_result clv_space_get_box##suffix( const clv_space* space, clv_id id, clv_aabb##suffix* box )         \
    {                                                                                                        \
        return read_box( space, kind, id, false, box );                                                      \
    }                                                                                                        \
    clv_result clv_space_get_test_box##suffix( const clv_space* space, clv_id id, clv_aabb##suffix* box )    \
    {                                                                                                        \
        return read_box( space, kind, id, true, box );                                                       \
    }

READ_DOORS( SPACE_FLOATS, )
READ_DOORS( SPACE_FLAT, 2 )
READ_DOORS( SPACE_DOUBLES, 64 )
