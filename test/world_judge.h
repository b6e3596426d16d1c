// SPDX-License-Identifier: MIT
// Questions to flat worlds and to worlds of doubles, and brute force that answers them. One judge for both: its steps are rounded to
// float for the flat ones.
#pragma once

#include "support.h"

#include "cleave/world_query.h"

enum
{
    JUDGE_MOST = 700,
    JUDGE_KINDS = CLV_QUERY_CAPSULE_CAST,
    JUDGE_PLANES = 6,
};

/// A question of any kind, in double; those to flat worlds have floats in it and no z.
typedef struct judge_question
{
    clv_query_kind kind; ///< of three axes and floats
    clv_aabb64 box;      ///< the box, or the place at both of its ends
    clv_vec64 end;       ///< of a capsule
    clv_vec64 half;
    clv_vec64 motion;
    double radius, max_t;
    clv_quat rotation; ///< flat: x and y are the turn
    clv_plane64 planes[JUDGE_PLANES];
    clv_half_plane half_planes[JUDGE_PLANES];
    uint32_t plane_count;
} judge_question;

/// A space, and what it should see, by slot.
typedef struct judge_world
{
    clv_space* space;
    bool is_flat;
    int crowd; ///< test_crowd or far_crowd_kind
    test_random random;
    uint32_t count;
    clv_id ids[JUDGE_MOST];
    clv_aabb64 given[JUDGE_MOST];
    clv_margin_rule rules[JUDGE_MOST];
    clv_vec3 motions[JUDGE_MOST]; ///< of the next update
    clv_filter filters[JUDGE_MOST];
    bool is_there[JUDGE_MOST];
    clv_aabb64 seen_box[JUDGE_MOST], seen_given[JUDGE_MOST];
    bool is_seen[JUDGE_MOST]; ///< there at the update, and not removed since
} judge_world;

judge_world* judge_world_make( bool is_flat, uint32_t workers, int crowd, uint32_t count, uint64_t seed );
void judge_world_free( judge_world* world );

/// Adds, moves, removes; dresses with margins and filters. The space is told, and not updated.
void judge_world_change( judge_world* world );
void judge_world_dress( judge_world* world );

/// Rules of margins, and motions, for some.
void judge_world_push( judge_world* world );

/// After an update or, with false, a refresh, which leaves motions for the update.
void judge_world_see( judge_world* world, bool is_update );

/// Are the pairs of the update those of brute force, and the test boxes as they should be?
void judge_world_check_pairs( judge_world* world );

/// Asks everything there is about `count` random questions of each kind, and compares.
void judge_world_check( judge_world* world, uint32_t count );

/// The box that the world's object shows, with margin or as given.
bool judge_meets( const judge_world* world, const judge_question* q, const clv_aabb64* box, double* t );
