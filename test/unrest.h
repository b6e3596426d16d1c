// SPDX-License-Identifier: MIT
// A crowd that mostly rests, the ways in which it does not, and a life of it under the eyes of brute force.
#pragma once

#include "support.h"

#define UNREST_FOLLOWED "cleave.few=0,cleave.rest=1,cleave.block=50"
#define UNREST_CHOSEN "cleave.few=0,cleave.rest=2,cleave.rest_least=0,cleave.block=50"

enum
{
    UNREST_MOST = 1200
};

// A crowd, and what happens to it from frame to frame.
typedef struct unrest
{
    clv_aabb boxes[UNREST_MOST];
    clv_id ids[2][UNREST_MOST]; ///< in the space under test, in the judge
    uint32_t count;
    uint32_t frame;
    test_random random;
    clv_space* space;
    clv_space* judge;
    uint64_t order_hash;
    uint64_t rest_frames;
} unrest;

typedef struct unrest_motion
{
    const char* name;
    void ( *move )( unrest* s );
    uint32_t churn; ///< percent of the objects that are replaced every frame
    uint32_t frames;
    uint32_t most; ///< objects, where all of them touch all
} unrest_motion;

typedef struct unrest_outcome
{
    uint64_t order_hash;
    uint64_t rest_frames;
} unrest_outcome;

/// The box moved; a new one somewhere in the crowd.
clv_aabb unrest_shifted( clv_aabb box, float x, float y, float z );
clv_aabb unrest_box( unrest* s );

// ---- a frame of motion each
void unrest_still( unrest* s );
void unrest_jitter_below( unrest* s ); ///< around the place of frame 0, within the least margin of a cube
void unrest_jitter_across( unrest* s );
void unrest_drift( unrest* s );
void unrest_teleport_all( unrest* s );
void unrest_teleport_few( unrest* s );
void unrest_one_in_fifty( unrest* s );
void unrest_few( unrest* s );
void unrest_alternate( unrest* s ); ///< all of these in turn, long enough each for the mode to change

/// Every way there is; the last one is alternation with objects that come and go.
extern const unrest_motion unrest_motions[];
extern const uint32_t unrest_motion_count;

// ---- spaces
clv_space* unrest_space( const char* method, const char* settings, clv_isa isa, uint32_t workers );

/// A figure of the method's report; fails the test if there is none of that name.
double unrest_figure( const clv_space* space, const char* name );
bool unrest_is_at_rest( const clv_space* space );

/// Fails the test if the method finds an invariant of its own broken.
void unrest_check_inside( const clv_space* space );

/// Remove some objects from both spaces and add others.
void unrest_replace( unrest* s, uint32_t percent );

/// Live the motion through, every list compared with brute force's.
unrest_outcome unrest_live( const unrest_motion* m, uint32_t count, const char* settings, clv_isa isa,
    uint32_t workers, uint32_t frames );
