// SPDX-License-Identifier: MIT
// Questions over the tree. An item is read as a probe (query_probe.h); a row of a table says how one of its
// form is checked, walked and decided (query_form.c); the search walks and keeps what counts
// (query_search.c). Hits are clv_hit or clv_hit64.
#pragma once

#include "base/radix_sort.h"
#include "object/store.h"
#include "query/query_probe.h"
#include "query/query_tree.h"

/// clv_queries or clv_queries64.
typedef struct query_list
{
    clv_query_kind kind;
    uint32_t count;
    const void* items;
    const clv_filter* filters;
    bool filter_each, as_given;
    clv_query_callback* callback;
    clv_query_callback64* callback64;
    void* user;
    bool is_double; ///< by a call in double: kinds are checked against it
} query_list;

/// What walks have looked at: the counters by which tests compare one tree with another.
typedef struct query_counts
{
    uint64_t node_count;
    uint64_t object_count; ///< whose boxes a walk met
} query_counts;

/// What there is to ask about. Owns nothing.
typedef struct query_scene
{
    const query_tree* tree;
    const clv_aabb* boxes;       ///< by slot, as of the update
    const clv_aabb* given;       ///< by slot, without margins; NULL: there are none
    const uint32_t* generations; ///< by slot, as of the update
    const object_store* objects; ///< now: who is still there, and whom it may meet
    const simd_queries* kernels;
    const clv_space* space; ///< for callbacks
    bool may_be_gone;       ///< some were removed since

    const query_tree64* tree64; ///< where boxes are doubles: the tree's nodes for these
    const clv_aabb64* boxes64;  ///< by slot, as of the update; NULL: boxes are floats
    const clv_aabb64* given64;  ///< by slot, without margins; NULL: there are none

    query_counts* counts; ///< NULL: not counted. One thread's
} query_scene;

typedef enum query_mode
{
    QUERY_ALL,
    QUERY_ANY,
    QUERY_CLOSEST,
    QUERY_NEAREST,
} query_mode;

enum
{
    QUERY_SOME = 64, ///< queries that are answered at a time, at most
};

/// Has the question a meaning for that kind?
static inline bool query_mode_fits( clv_query_kind kind, query_mode mode )
{
    const query_row* row = query_row_of( kind );
    return mode == QUERY_CLOSEST ? row->moves != 0
        : mode == QUERY_NEAREST  ? row->form == QUERY_OVERLAP
                                 : row->form != QUERY_NO_FORM;
}

static inline size_t query_hit_size( const query_list* list )
{
    return list->is_double ? sizeof( clv_hit64 ) : sizeof( clv_hit );
}

/// Is there a callback, and so one thread alone?
static inline bool query_calls( const query_list* list )
{
    return list->is_double ? list->callback64 != NULL : list->callback != NULL;
}

/// CLV_BAD_BOX or CLV_BAD_ARGUMENT for what is no question.
clv_result clv_query_check( const query_probe* p );

/// All hits of query `index`, by slot, as far as there is room. How many there are.
uint64_t clv_query_find_all(
    const query_scene* scene, const query_list* list, uint32_t index, void* hits, uint64_t room );

/// One hit of each of some queries of a list, `which` of them, to hits[which[i]]: any, or the closest.
/// CLV_NO_HIT if there is none. QUERY_SOME at most.
void clv_query_find_one( const query_scene* scene, const query_list* list, const uint32_t* which,
    uint32_t count, query_mode mode, void* hits );

/// The k nearest of each, to hits[which[i] * k], and CLV_NO_HIT behind them. QUERY_SOME at most.
void clv_query_find_nearest( const query_scene* scene, const query_list* list, const uint32_t* which,
    uint32_t count, uint32_t k, double max_distance, void* hits );

// ---- orders (query_order.c)

/// A long list is gone through along a curve through the world: neighbours walk the same nodes, which are in
/// the cache then. Each answer goes where it belongs, so that this shows in time alone. Of half-spaces, which
/// have no place, and of doubles there is none.
static inline bool query_has_order( clv_query_kind kind )
{
    const query_row* row = query_row_of( kind );
    return row->place_count > 0 && !query_is_double( kind );
}

/// The queries of a list in that order: the values of `items` or `more`, each as long as the list. The list
/// has an order and the tree nodes.
const base_keyed* clv_query_order( const query_list* list, const query_scene* scene, base_keyed* items,
    base_keyed* more, task_runner* tasks );

/// Hits by slot. In place and without recursion, a digit of the slot after the other: six steps at most,
/// whatever the order.
void clv_query_hits_sort( void* hits, uint64_t count, size_t hit_size );
