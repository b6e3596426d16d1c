// SPDX-License-Identifier: MIT
// What a space keeps for queries: the boxes of its last good update, and the tree over them. Both are made
// when they are first needed, by the first query; all others wait for it.
//
// The store's boxes are those of the update until one is changed. So nothing is copied without queries; after
// the first query, the first change after an update copies what the update had (query_state_freeze), unless a
// query has.
#pragma once

#include "query/query_search.h"
#include "task/lock.h"

#include <stdatomic.h>

enum
{
    QUERY_COPY_COUNT =
        OBJECT_GIVEN_BOX64 + 1, ///< boxes, as given too, and generations are the first columns of a store
};

/// What changed since the tree was last up to date, as long as that is little: the slots of objects that
/// came, went or moved.
typedef struct query_changes
{
    uint32_t* slots;
    uint64_t capacity;
    uint32_t limit; ///< no more are noted: a whole refit would cost less
    uint32_t count;
    uint32_t copied; ///< the first so many were noted before the copy was made
    bool are_known;  ///< no other slot differs between the store and the copy or the tree
} query_changes;

typedef struct query_state
{
    task_lock lock;       ///< of all below, and of the space's memory, while several threads may ask
    atomic_bool is_ready; ///< copy and tree are those of the last good update: no lock is needed to read them
    atomic_flag workers_are_out; ///< a list of queries uses the workers
    atomic_uint reader_count;    ///< queries under way that may call the caller: hooks, callbacks, visitors

    const struct query_keeper* keeper; ///< set by the first query; NULL: there was none, and nothing is kept
    bool has_boxes;                    ///< there was a good update since the last clear
    bool store_is_seen;                ///< the store's boxes are what queries see
    bool is_copied;                    ///< and the copy is
    bool is_lost;                      ///< neither is: there was no memory for the copy
    bool members_changed;              ///< the tree lacks objects
    bool may_be_gone;                  ///< some were removed since the update

    void* copies[QUERY_COPY_COUNT]; ///< the copy: columns of the store, by slot
    uint64_t copy_capacities[QUERY_COPY_COUNT];
    bool copy_is_used[QUERY_COPY_COUNT]; ///< the store had this column
    uint32_t slot_count, live_count;
    query_changes changes;

    query_tree64 tree64; ///< where boxes are doubles
    query_tree tree;
    query_wear wear;
    bool tree_is_current;

    /// of lists that the workers share, clv_hit or clv_hit64 as the space is; belongs to who has them
    void* hits;
    uint64_t hit_capacity;    ///< in clv_hit64
    void *order, *more_order; ///< the order in which a list is gone through; likewise
    uint64_t order_capacity, more_order_capacity;
} query_state;

/// A column of the copy; NULL: the store had none.
static inline const void* query_copy( const query_state* state, object_column column )
{
    return state->copy_is_used[column] ? state->copies[column] : NULL;
}

/// What calls that change a space do for queries once there was one. The first query sets it, under the lock,
/// so that a program that asks no questions is linked without it.
typedef struct query_keeper
{
    /// Copies what queries see. False if out of memory.
    bool ( *copy )( query_state* state, const object_store* objects, base_memory* memory );

    /// Gives back all but the state itself.
    void ( *release )( query_state* state, base_memory* memory );
} query_keeper;

void clv_query_state_init( query_state* state );
void clv_query_state_free( query_state* state, base_memory* memory );

/// There is a query, or was one before the space was saved: from here on there is a keeper.
void clv_query_state_use( query_state* state );

/// A good update: the store's boxes are what queries see from here on.
void clv_query_state_renew( query_state* state );

/// Before a box is changed or an object added.
void clv_query_state_freeze( query_state* state, const object_store* objects, base_memory* memory );

/// After it: any object, or one, or some, are others.
static inline void query_note_all( query_state* state )
{
    state->changes.are_known = false;
}

static inline void query_note( query_state* state, uint32_t slot )
{
    query_changes* changes = &state->changes;
    if ( !changes->are_known ||
        ( changes->count > changes->copied && changes->slots[changes->count - 1] == slot ) )
    {
        return;
    }
    if ( changes->count >= changes->limit )
    {
        changes->are_known = false;
        return;
    }
    changes->slots[changes->count++] = slot;
}

/// Could so many more be noted? If not all of them are as good as noted.
static inline bool query_may_note( query_state* state, uint32_t count )
{
    query_changes* changes = &state->changes;
    changes->are_known =
        changes->are_known && count <= changes->limit && changes->count <= changes->limit - count;
    return changes->are_known;
}

/// After objects were removed.
void clv_query_state_note_removal( query_state* state );

/// Every object was removed.
void clv_query_state_clear( query_state* state );

/// Back to what the copy needs; the tree is built anew at the next query.
void clv_query_state_shrink( query_state* state, base_memory* memory );

/// Is every object in the copy as it is in the store? For debug builds; a free slot's box is no box.
bool clv_query_state_is_copy( const query_state* state, const object_store* objects );

/// Everything ready? CLV_OUT_OF_MEMORY or CLV_STALE otherwise. Under the lock.
clv_result clv_query_state_prepare( query_state* state, const object_store* objects,
    const simd_queries* kernels, base_memory* memory, task_runner* tasks );
