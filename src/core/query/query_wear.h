// SPDX-License-Identifier: MIT
// When is a tree that follows its boxes built anew? When questions visit more nodes than they need. The nodes
// that hold the middles of some objects are counted when the tree is built and after every refit. So the
// figure is about the places where objects are, and a giant, infinite or not, adds a node or two to it and
// hides nothing. (The nodes' total surface, by which D. Kopta et al. decide in "Fast, effective BVH updates
// for animated scenes" (2012), would be the giant's.) In spaces of doubles these are the floats that boxes
// are mapped to, which never descend: a place is in a node's hull there if it is in double.
//
// Counters alone decide, the same for any number of workers and any instruction set; no answer depends on
// them.
#pragma once

#include "query/query_tree.h"

enum
{
    QUERY_WEAR_PROBES = 256, ///< at most
    QUERY_WEAR_GROUPS = 16,  ///< parts of the sample that are compared for themselves, at most
};

/// An object whose middle is looked up, and another one: a neighbour in the tree, or, of every fourth probe,
/// one from the other half of the tree, and then it is the place half way between the two that is looked up.
typedef struct query_wear_probe
{
    uint32_t slot, other;
    float way[3]; ///< from middle to middle, at the build
    float side;   ///< the first one's longest, at the build
} query_wear_probe;

typedef struct query_wear
{
    query_wear_probe* probes; ///< in the order of the tree
    uint64_t probe_capacity;
    uint32_t probe_count;

    // Nodes visited for each that is needed.
    double built, least, now; ///< at objects: at the build, the least since, after the last refit
    double built_between;     ///< half way between objects, at the build
    double built_groups[QUERY_WEAR_GROUPS]; ///< at the objects of a part of the tree, likewise; 0: not known
    double built_hits;                      ///< objects that hold a place, at the build

    uint32_t surveyed; ///< the tree's patch_count at the last survey

    bool is_suspicion;        ///< the last verdict: the tree may be no better when it is new
    uint32_t wait, last_wait; ///< refits until a suspicion counts again, and how long the last wait was
} query_wear;

/// After a build: a new sample. False if out of memory.
bool clv_query_wear_start( query_wear* wear, const query_tree* tree, const query_boxes* from,
    const simd_queries* kernels, base_memory* memory );

/// After a refit: is the tree to be built anew?
bool clv_query_wear_is_over(
    query_wear* wear, const query_tree* tree, const query_boxes* from, const simd_queries* kernels );

/// After a change of a few: likewise. Surveys no more often than these changes have cost as much as one.
bool clv_query_wear_is_over_by_few(
    query_wear* wear, const query_tree* tree, const query_boxes* from, const simd_queries* kernels );

/// Gives all memory back.
void clv_query_wear_free( query_wear* wear, base_memory* memory );
