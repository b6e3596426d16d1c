// SPDX-License-Identifier: MIT
// A row of the method table without a space around it, led through the motions of a crowd and judged by brute force and
// by its own checker.
#pragma once

#include "support.h"

enum
{
    RIDER_OBJECTS = 300
};

/// A crowd that moves.
typedef struct stage
{
    clv_aabb boxes[RIDER_OBJECTS]; ///< NaN where nobody lives
    bool alive[RIDER_OBJECTS];
    uint32_t live[RIDER_OBJECTS];
    uint32_t live_count;
    bool changed; ///< who is alive, since the last update
    test_random random;
} stage;

void stage_open( stage* s, uint64_t seed );

/// Somewhere, of some size.
clv_aabb stage_box( stage* s );

clv_aabb stage_moved( clv_aabb box, float x, float y, float z );

/// Lists the living, after some came or went.
void stage_list( stage* s );

/// Moves so many of a hundred by at most so much.
void stage_jitter( stage* s, uint32_t percent, float by );

/// Puts everybody somewhere else.
void stage_scatter( stage* s );

/// Of all pairs, by brute force, and how many they are.
uint64_t stage_hash( const stage* s, uint64_t* count );

/// Every variant of the KD-tree, with limits so small that the crowd makes a deep tree.
typedef struct rider_way
{
    const char* method;
    const char* settings;
} rider_way;

extern const rider_way rider_ways[];
extern const uint32_t rider_way_count;

typedef struct rider_list
{
    pair_sink sink;
    uint64_t limit; ///< refuses beyond
} rider_list;

typedef struct rider
{
    const method* row;
    clv_isa isa;
    method_context context;
    base_memory memory;
    task_runner tasks;
    void* state;
    rider_list list;
    clv_aabb last[RIDER_OBJECTS]; ///< boxes of the last good update
    uint64_t moved[( RIDER_OBJECTS + 63 ) / 64];
    uint32_t ride_count;
} rider;

void rider_open( rider* r, const char* name, const char* settings, clv_isa isa );
void rider_close( rider* r );

/// One of the figures that the method reports.
double rider_figure( rider* r, const char* name );

/// One update, with hints on who moved that are sometimes missing and sometimes too careful.
clv_result rider_update( rider* r, const stage* s );

/// One update, its pairs and its tree. The order of the pairs as a hash.
uint64_t rider_judge( rider* r, const stage* s, uint64_t expected, uint64_t expected_count );

/// The same with what brute force says, and on to the next frame.
void rider_judge_next( rider* r, stage* s, uint32_t frame );
