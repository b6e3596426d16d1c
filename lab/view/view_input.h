// SPDX-License-Identifier: MIT
// The frames that are to be seen: boxes, and how the bodies in them are turned where a file tells.
#pragma once

#include "cleave/space.h"
#include "lab/base/error.h"
#include "lab/frame/frame_source.h"
#include "lab/frame/scene_list.h"
#include "lab/measure/run_spec.h"

typedef enum view_shape
{
    VIEW_BOXES,
    VIEW_OCTAHEDRA, ///< truncated, as the k-DOP paper has them
} view_shape;

/// Zero-initialised is closed.
typedef struct view_input
{
    frame_source source;
    scene_reader poses; ///< of a .posrot file
    bool has_file_poses;
    bool is_running; ///< the source is no recording, to know its bodies,
    body_type type;  ///< which are of this type
    bool has_poses;  ///< `bodies` are known
    view_shape shape;
    clv_aabb* boxes;        ///< of the frame read last
    clv_aabb* boxes_before; ///< and of the one before it
    body_state* bodies;     ///< of the frame read last: sides, positions, rotations; NULL without poses
    uint32_t first, last;   ///< frames to be seen, of the source's
} view_input;

typedef struct view_input_def
{
    const char* what;   ///< as scene_spec_parse reads it
    const char* frames; ///< "A:B", "A:", ":B", "A", or NULL for all
    /// a scene by name is run, not taken from the cache: a .aabbs file has no rotations
    bool wants_bodies;
} view_input_def;

/// Opens what the user wrote. False for what scene_spec_parse refuses, damaged files, frames that are not
/// there, and bodies that nothing tells of.
bool view_input_open( view_input* input, const view_input_def* def, lab_error* why );

/// Frame `frame` into `boxes` and `bodies`; what was in `boxes` goes to `boxes_before`. Ascending is cheap.
bool view_input_read( view_input* input, uint32_t frame, lab_error* why );
void view_input_close( view_input* input );

// ---- The pairs of frame after frame, sorted, with those that began and ended, and a tree that follows them.

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
