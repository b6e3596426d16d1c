// SPDX-License-Identifier: MIT
// Worlds of points and their lists by brute force, in the arithmetic that near.h tells: for
// the test and the fuzzer.
#pragma once

#include "cleave/near.h"

enum
{
    NEAR_WORLD_MOST = 700
};

// A world of points, in both types: floats that are doubles too.
typedef struct near_world
{
    clv_near_def def;
    uint32_t count;
    float xyz[3 * NEAR_WORLD_MOST];
    double xyz64[3 * NEAR_WORLD_MOST];
    float radii[NEAR_WORLD_MOST];
    double radii64[NEAR_WORLD_MOST];
    uint32_t groups[NEAR_WORLD_MOST];
    clv_near_cell cell;
    bool has_cell, has_radii, has_groups;
    clv_pair excluded[NEAR_WORLD_MOST];
    uint32_t excluded_count;
    uint32_t stride;  ///< numbers from point to point: those of a point, or one more
    double most_work; ///< brute force looks at so many places at most; with more there is none. 0: no limit
} near_world;

/// Stops the program or the test; each has its own.
_Noreturn void near_world_fail( const char* file, int line, const char* what, const near_world* world );

near_world* near_world_new( bool doubles, bool flat, double cutoff );
void near_world_set( near_world* world, uint32_t i, double x, double y, double z );
clv_near_points near_world_points( const near_world* world );

/// A list by the world's def, with its excluded pairs.
clv_near* near_world_make( const near_world* world );

typedef struct near_visit_notes
{
    uint64_t hash, count, chunks;
    clv_near* near;
    bool was_refused; ///< each call on it
} near_visit_notes;

/// A visitor. Where notes->near is set it sees that calls on it are refused.
bool near_note_chunk( const clv_near_view* view, void* user );

/// Of every array in its order.
uint64_t near_view_hash( const clv_near_view* view );

/// The same answer for every instruction set and 1 to 4 workers; where it is CLV_OK the list is the same too
/// and equals brute force, and a visit sees it.
clv_result near_world_check( near_world* world );
