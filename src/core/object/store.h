// SPDX-License-Identifier: MIT
// Objects in: slots, their generations, their boxes, and the columns only some spaces use.
#pragma once

#include "base/array.h"
#include "cleave/types.h"
#include "cleave/world.h"
#include "simd/kernels.h"

/// What a slot can carry. The first two always exist; the others take no memory until clv_object_store_use
/// asks for them.
typedef enum object_column
{
    OBJECT_BOX,        ///< clv_aabb, the test box: as given, grown by the margin, swept along the motion
    OBJECT_GENERATION, ///< uint32_t, odd while alive and even while free; 0 in a slot that is retired
    OBJECT_GIVEN_BOX,  ///< clv_aabb, the box as given; with margins or motions
    /// clv_aabb64, the test box where boxes are doubles; OBJECT_BOX is then what it is mapped to
    OBJECT_BOX64,
    OBJECT_GIVEN_BOX64, ///< clv_aabb64, the box as given; with margins where boxes are doubles
    OBJECT_MARGIN,      ///< float, the fixed part
    OBJECT_MARGIN_BY,   ///< object_margin_by, the other parts; with OBJECT_MARGIN
    OBJECT_MOTION,      ///< clv_vec3, of the next update
    OBJECT_USER_DATA,   ///< uint64_t
    OBJECT_LAST_DATA,   ///< uint64_t, what the object of the last good update carried when it went
    OBJECT_FILTER,      ///< clv_filter
    OBJECT_STATIC,      ///< uint8_t
    OBJECT_STAMP,       ///< uint32_t, number of the last unordered batch that named the slot
    OBJECT_REPORTED,    ///< uint32_t, generation at the last good update; with events
    OBJECT_RENEWED,     ///< uint8_t, 1 if the slot was used again since the last good update
    OBJECT_ASK,         ///< uint8_t, 1 if the filter callback must be asked again; with a callback
    OBJECT_COLUMN_COUNT
} object_column;

/// What of a margin depends on the object.
typedef struct object_margin_by
{
    float size, speed;
} object_margin_by;

typedef struct object_store
{
    base_memory* memory;
    const simd_kernels* kernels; ///< scalar ones, or those that its owner puts here
    void* columns[OBJECT_COLUMN_COUNT];
    uint64_t capacities[OBJECT_COLUMN_COUNT];

    uint32_t first_free; ///< top of the stack of free slots: the last freed is the next used
    uint32_t free_count;
    /// none is free, or those from first_free to the last slot in that order, as after clearing
    bool free_is_row;

    base_u32_array live; ///< ascending live slots, made by clv_object_store_list_live
    uint32_t live_count;
    bool live_is_current;

    base_u64_array moved; ///< by slot, a bit: the box may not be what it was at the method's last good update
    bool moved_is_known;  ///< otherwise any box may be new

    uint32_t slot_count;
    uint32_t stamp;                 ///< of the last unordered batch
    clv_margin_rule default_margin; ///< of new objects
    /// boxes have two axes: the third is no side, and there is no motion along it
    bool is_flat;
    bool is_renewed;      ///< some slot was used again since the last good update
    bool motion_is_set;   ///< of some object, for the next update or the one before
    bool motion_is_spent; ///< and it was the one before: all count as 0
    bool members_changed; ///< since the method's last good update
} object_store;

object_store clv_object_store_make( base_memory* memory, clv_margin_rule default_margin );
void clv_object_store_free( object_store* store );

/// Room for `count` slots in every column in use.
bool clv_object_store_reserve( object_store* store, uint64_t count );

/// Begin to keep a column, filled with its default. False if out of memory.
bool clv_object_store_use( object_store* store, object_column column );

/// The two columns that fixed margins need, of floats or of doubles as the boxes are, the three that others
/// need, or the two for motions: all, or none and false.
bool clv_object_store_use_margins( object_store* store );
bool clv_object_store_use_margins_by( object_store* store );
bool clv_object_store_use_motions( object_store* store );

/// User data, and with events what the removed carried: all, or none and false.
bool clv_object_store_use_data( object_store* store );

static inline bool object_store_uses( const object_store* store, object_column column )
{
    return store->columns[column] != NULL;
}

static inline clv_aabb* object_boxes( const object_store* store )
{
    return store->columns[OBJECT_BOX];
}

/// NULL where boxes are floats.
static inline clv_aabb64* object_boxes64( const object_store* store )
{
    return store->columns[OBJECT_BOX64];
}

static inline uint32_t* object_generations( const object_store* store )
{
    return store->columns[OBJECT_GENERATION];
}

/// Is a test box the box as given, grown by a margin of the slot's own, and nothing else?
static inline bool object_store_grows_plainly( const object_store* store )
{
    return store->columns[OBJECT_MARGIN] != NULL && store->columns[OBJECT_MARGIN_BY] == NULL &&
        store->columns[OBJECT_MOTION] == NULL;
}

static inline bool object_is_live_at( const object_store* store, uint32_t slot )
{
    return ( object_generations( store )[slot] & 1 ) != 0;
}

static inline bool object_is_live( const object_store* store, clv_id id )
{
    return id.index < store->slot_count && ( id.generation & 1 ) != 0 &&
        object_generations( store )[id.index] == id.generation;
}

/// All ids alive and different? Otherwise CLV_BAD_ID or CLV_DUPLICATE_ID with the first bad position, or
/// CLV_OUT_OF_MEMORY and position 0 (ids that do not ascend need a column to be told apart). After CLV_OK
/// position is `count` where they ascend and 0 where they do not.
clv_result clv_object_store_check_ids(
    object_store* store, const clv_id* ids, uint32_t count, uint32_t* position );

/// Are there slots for `count` more objects?
bool clv_object_store_fits( const object_store* store, uint32_t count );

/// Everything clv_object_store_add needs for `count` more objects. CLV_TOO_MANY_OBJECTS or CLV_OUT_OF_MEMORY
/// change nothing.
clv_result clv_object_store_prepare_add( object_store* store, uint32_t count );

/// A new object; cannot fail after clv_object_store_prepare_add.
clv_id clv_object_store_add( object_store* store, clv_aabb box );

/// `count` new objects in slots one behind the other, of which the first is returned; their boxes are the
/// caller's to set. Cannot fail after clv_object_store_prepare_add, and needs that the free slots are a row.
uint32_t clv_object_store_add_row( object_store* store, uint32_t count );

enum
{
    OBJECT_RUN = SIMD_RUN, ///< boxes that are taken together
};

/// Of up to OBJECT_RUN ids of live slots, mark as moved those that have a bit, at their slot's number modulo
/// 64. If they do not ascend, or lie too far from each other for that, any bit marks all of them.
void clv_object_store_mark(
    object_store* store, const clv_id* ids, uint32_t count, bool ascend, uint64_t bits );

/// Boxes of slots in any order, where there are neither margins nor motions; all are marked as moved. Corners
/// are `stride` bytes apart.
void clv_object_store_scatter_boxes( object_store* store, const clv_id* ids, const void* lower,
    const void* upper, size_t stride, uint32_t count, bool ascend );

/// The same of up to OBJECT_RUN with fixed margins and nothing else that makes a test box of a box as given.
void clv_object_store_scatter_grown( object_store* store, const clv_id* ids, const void* lower,
    const void* upper, size_t stride, uint32_t count, bool ascend );

/// Give a live slot another box. Where boxes are doubles: what its test box is mapped to.
void clv_object_store_set_box( object_store* store, uint32_t slot, clv_aabb box );

/// Are boxes for the live slots from `slot` on fit to be taken? Where moved slots are being noted, those that
/// differ from what is there are noted as moved; those that do not are good already. Without margins and
/// motions only.
bool clv_object_store_check_boxes( object_store* store, uint32_t slot, const clv_aabb* boxes, uint32_t count,
    bool ( *boxes_are_good )( const clv_aabb* boxes, uint32_t count ) );

/// Take boxes after clv_object_store_check_boxes.
void clv_object_store_take_boxes( object_store* store, uint32_t slot, const clv_aabb* boxes, uint32_t count );

/// From here on nothing has moved, and what does is noted. Without memory for that, or `least` objects, moves
/// are not noted.
void clv_object_store_watch( object_store* store, uint32_t least );

/// The box as the caller gave it.
clv_aabb clv_object_store_given_box( const object_store* store, uint32_t slot );

/// What was set for a live slot, or the default.
clv_margin_rule clv_object_store_margin( const object_store* store, uint32_t slot );
clv_vec3 clv_object_store_motion( const object_store* store, uint32_t slot );

/// The box that the next update will test. The second for a box in double that the caller gave the slot.
clv_aabb clv_object_store_test_box( const object_store* store, uint32_t slot );
clv_aabb64 clv_object_store_test_box64( const object_store* store, uint32_t slot, clv_aabb64 given );

/// Note another margin or motion of a live slot, with the columns for it in use and spent motions dropped.
/// Its test box is not yet another: clv_space_renew_box sees to that.
void clv_object_store_note_margin( object_store* store, uint32_t slot, clv_margin_rule rule );
void clv_object_store_note_motion( object_store* store, uint32_t slot, clv_vec3 motion );

/// Forget the motion of a slot if it is spent: its box is about to be another.
void clv_object_store_forget_motion( object_store* store, uint32_t slot );

/// After a good update: the object now in a slot is the one that it reported.
void clv_object_store_settle( object_store* store );

/// An update was good: motions of before it count no longer.
void clv_object_store_spend_motions( object_store* store );

/// From `slot` on, the first live slot with a spent motion, which is then 0; slot_count if there is none:
/// then motions are no longer spent.
uint32_t clv_object_store_drop_motion( object_store* store, uint32_t slot );

void clv_object_store_remove( object_store* store, uint32_t slot );

/// The first sentence above that is not true of a store between two calls, or NULL.
const char* clv_object_store_check( const object_store* store );

/// Remove everything; the next objects get the slots 0, 1, 2 … again.
void clv_object_store_clear( object_store* store );

/// Bring `live` up to date, unless live_count == slot_count makes it needless. False if out of memory.
bool clv_object_store_list_live( object_store* store );

/// Capacities down to what is in use. False if out of memory; then some columns may be smaller, which shows
/// nowhere.
bool clv_object_store_shrink( object_store* store );
