// SPDX-License-Identifier: MIT
// One library asked the same queries as the others: what it answers, and how long that takes.
#pragma once

#include "lab/base/error.h"
#include "lab/base/text.h"
#include "peers/query_peer.h"

// ---- Queries of one family, drawn by seed from a scene's objects: the same on every machine.

typedef struct query_draw
{
    query_family family;
    uint32_t count;
    void* items; ///< of the family's type
} query_draw;

extern const choice query_families[]; ///< "rays", "boxes", "spheres", "nearest", "casts": query_family
const char* query_family_name( query_family family );
size_t query_family_item_size( query_family family );

/// Rays and casts start about an object's size from a random object, with directions uniform over the sphere;
/// boxes and spheres are objects, or as large, shifted by up to twice their size.
void query_draw_make( query_draw* draw, query_family family, const clv_aabb* boxes, uint32_t object_count,
    uint32_t count, uint64_t seed );
void query_draw_free( query_draw* draw );

// ---- Asking.

/// Hits of all queries, one behind the other.
typedef struct query_answers
{
    uint64_t* offsets;
    clv_hit* hits;
    uint64_t capacity;
    uint32_t count; ///< of queries
} query_answers;

typedef struct query_times
{
    double build_ms;   ///< structure made; NaN where it is not known
    double refit_ms;   ///< and brought up to date after all have moved a little
    double single_ns;  ///< a call for each query, per query; NaN where there is none
    double batched_ns; ///< one call for all
} query_times;

typedef struct query_world_def
{
    const clv_aabb* boxes;
    uint32_t object_count;
    uint32_t thread_count; ///< for lists
    uint32_t pass_count;   ///< the least of so many counts
    clv_isa isa;
    bool thread_time; ///< of the calling thread, not of the clock on the wall
} query_world_def;

void query_answers_free( query_answers* answers );

/// A space of the default method.
bool query_trial_cleave( const query_world_def* world, const query_draw* draw, query_answers* answers,
    query_times* times, lab_error* why );

/// Every object looked at for every query; the judge.
void query_trial_brute(
    const query_world_def* world, const query_draw* draw, query_answers* answers, query_times* times );

bool query_trial_peer( const query_peer* peer, const query_world_def* world, const query_draw* draw,
    query_answers* answers, query_times* times, lab_error* why );

/// Of the queries and the objects each found alone, not of their order.
uint64_t query_answers_hash( const query_answers* answers );

/// Queries that found other objects; *first is the first of them.
uint32_t query_answers_differ( const query_answers* a, const query_answers* b, uint32_t* first );
