// SPDX-License-Identifier: MIT
// Drives a row of the method table without a space around it: updates it over the frames of a moving crowd,
// and judges it by brute force and by its own checker.
#pragma once

#include "support.h"

enum
{
    CROWD_OBJECTS = 300
};

/// A crowd that moves.
typedef struct crowd
{
    clv_aabb boxes[CROWD_OBJECTS]; ///< NaN in free slots
    bool alive[CROWD_OBJECTS];
    uint32_t live[CROWD_OBJECTS];
    uint32_t live_count;
    bool changed; ///< the live objects, since the last update
    test_random random;
} crowd;

void crowd_open( crowd* s, uint64_t seed );

/// A new box at a random place, of a random size.
clv_aabb crowd_box( crowd* s );

clv_aabb crowd_moved( clv_aabb box, float x, float y, float z );

/// Lists the live slots again, after adding or removing some.
void crowd_list( crowd* s );

/// Moves `percent` of the objects by at most `by`.
void crowd_jitter( crowd* s, uint32_t percent, float by );

/// Gives every object a new box.
void crowd_scatter( crowd* s );

/// Hash and number of all pairs, by brute force.
uint64_t crowd_hash( const crowd* s, uint64_t* count );

/// Every variant of the KD-tree, with limits so small that the crowd makes a deep tree.
typedef struct kd_variant
{
    const char* method;
    const char* settings;
} kd_variant;

extern const kd_variant kd_variants[];
extern const uint32_t kd_variant_count;

typedef struct driver_list
{
    clv_pair_sink sink;
    uint64_t limit; ///< refuses beyond
} driver_list;

typedef struct method_driver
{
    const clv_method* row;
    clv_isa isa;
    clv_method_context context;
    uint32_t reasons; ///< of the last update
    base_memory memory;
    task_runner tasks;
    void* state;
    driver_list list;
    clv_aabb last[CROWD_OBJECTS]; ///< boxes of the last good update
    uint64_t moved[( CROWD_OBJECTS + 63 ) / 64];
    uint32_t update_count;
} method_driver;

void driver_open( method_driver* r, const char* name, const char* settings, clv_isa isa );
void driver_close( method_driver* r );

/// One of the figures that the method reports.
double driver_figure( method_driver* r, const char* name );

/// One update, with hints on which boxes moved that are sometimes missing and sometimes too many.
clv_result driver_update( method_driver* r, const crowd* s );

/// One update, its pairs and its tree. The order of the pairs as a hash.
uint64_t driver_judge( method_driver* r, const crowd* s, uint64_t expected, uint64_t expected_count );

/// The same with what brute force says, and on to the next frame.
void driver_judge_next( method_driver* r, crowd* s, uint32_t frame );
