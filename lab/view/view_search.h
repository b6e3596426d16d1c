// SPDX-License-Identifier: MIT
// The pairs of frame after frame, sorted, with those that began and ended, and a tree that follows them.
#pragma once

#include "cleave/space.h"
#include "lab/base/error.h"
#include "lab/measure/run_spec.h"

/// More than these in one frame are no picture, and no list that a page could hold.
#define VIEW_PAIRS_MOST 8000000

/// Zero-initialised is closed.
typedef struct view_search
{
    uint32_t object_count;
    clv_space* pair_space;
    clv_space* tree_space; ///< NULL without a tree
    clv_id* pair_ids;
    clv_id* tree_ids;
    run_spec_list tree_specs;
    bool has_pairs;

    clv_pair* last; ///< pairs of the frame before
    uint64_t last_count, last_capacity;
    clv_pair* begun;
    uint32_t* ended; ///< places in the list of the frame before
    uint64_t begun_count, ended_count, begun_capacity, ended_capacity;
    bool has_frames;
    char reason[256]; ///< the spaces' last error
} view_search;

typedef struct view_search_def
{
    const char* tree_method; ///< NULL: no tree; there is none without pairs either
    const text_list* tree_settings;
    bool has_pairs;
} view_search_def;

/// False for methods that are not there or keep no tree.
bool view_search_open(
    view_search* search, uint32_t object_count, const view_search_def* def, lab_error* why );
void view_search_close( view_search* search );

/// The next frame. False if there are too many pairs, or no memory.
bool view_search_update( view_search* search, const clv_aabb* boxes, lab_error* why );

/// Of the frame of the last update, sorted.
clv_pair_view view_search_pairs( const view_search* search );
