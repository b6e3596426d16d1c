// SPDX-License-Identifier: MIT
// A crowd of boxes that mostly rests, the ways in which some of it moves, and a run of it in which every list
// is compared with brute force's.
#pragma once

#include "support.h"

#define REST_CROWD_FOLLOWED "cleave.few=0,cleave.rest=1,cleave.block=50"
#define REST_CROWD_CHOSEN "cleave.few=0,cleave.rest=2,cleave.rest_least=0,cleave.block=50"

enum
{
    REST_CROWD_MOST = 1200
};

// A crowd, and what happens to it from frame to frame.
typedef struct rest_crowd
{
    clv_aabb boxes[REST_CROWD_MOST];
    clv_id ids[2][REST_CROWD_MOST]; ///< in the space under test, in the judge
    uint32_t count;
    uint32_t frame;
    test_random random;
    clv_space* space;
    clv_space* judge;
    uint64_t order_hash;
    uint64_t rest_frames;
} rest_crowd;

typedef struct rest_crowd_motion
{
    const char* name;
    void ( *move )( rest_crowd* s );
    uint32_t churn; ///< percent of the objects that are replaced every frame
    uint32_t frames;
    uint32_t most; ///< objects at most, for motions in which all touch all
} rest_crowd_motion;

typedef struct rest_crowd_outcome
{
    uint64_t order_hash;
    uint64_t rest_frames;
} rest_crowd_outcome;

/// The box moved; a new one somewhere in the crowd.
clv_aabb rest_crowd_shifted( clv_aabb box, float x, float y, float z );
clv_aabb rest_crowd_box( rest_crowd* s );

// ---- a frame of motion each
void rest_crowd_still( rest_crowd* s );
void rest_crowd_jitter_below(
    rest_crowd* s ); ///< around the place of frame 0, within the least margin of a cube
void rest_crowd_jitter_across( rest_crowd* s );
void rest_crowd_drift( rest_crowd* s );
void rest_crowd_teleport_all( rest_crowd* s );
void rest_crowd_teleport_few( rest_crowd* s );
void rest_crowd_one_in_fifty( rest_crowd* s );
void rest_crowd_few( rest_crowd* s );
void rest_crowd_alternate( rest_crowd* s ); ///< all of these in turn, long enough each for the mode to change

/// All of them; the last one alternates while objects come and go.
extern const rest_crowd_motion rest_crowd_motions[];
extern const uint32_t rest_crowd_motion_count;

// ---- spaces
clv_space* rest_crowd_space( const char* method, const char* settings, clv_isa isa, uint32_t workers );

/// A figure of the method's report; fails the test if there is none of that name.
double rest_crowd_figure( const clv_space* space, const char* name );
bool rest_crowd_is_at_rest( const clv_space* space );

/// Fails the test if the method finds an invariant of its own broken.
void rest_crowd_check_inside( const clv_space* space );

/// Remove some objects from both spaces and add others.
void rest_crowd_replace( rest_crowd* s, uint32_t percent );

/// Run the motion, every list compared with brute force's.
rest_crowd_outcome rest_crowd_run( const rest_crowd_motion* m, uint32_t count, const char* settings,
    clv_isa isa, uint32_t workers, uint32_t frames );
