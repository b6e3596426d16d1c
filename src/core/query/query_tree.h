// SPDX-License-Identifier: MIT
// The structure that queries walk: a tree of nodes with eight boxes each, over objects in the order of a
// space-filling curve. docs/queries.md tells what it costs; query_check.c holds it to what is said here.
//
// - Every object that is there is in one lane of one node, with its box as it is; every other lane's box is
// the hull of the
//   node below it.
// - A node comes before the nodes below it, and these lie side by side: a part of the tree is a part of the
// array. Only nodes that were made since the build lie behind all others, each behind the one above it.
// - No node is deeper than QUERY_DEPTH, whatever the boxes: the walks' stacks are long enough.
// - Built and changed by the boxes and slots alone: neither workers nor instruction sets change a bit of it.
#pragma once

#include "cleave/world.h"
#include "simd/query_lanes.h"
#include "task/task.h"

/// What the tree is made of. Owns nothing.
typedef struct query_boxes
{
    const clv_aabb* boxes;       ///< by slot
    const uint32_t* generations; ///< by slot, odd where there is an object
    uint32_t slot_count;
    uint32_t live_count; ///< objects
} query_boxes;

static inline bool query_is_there( const query_boxes* from, uint32_t slot )
{
    return slot < from->slot_count && ( from->generations[slot] & 1 ) != 0;
}

/// An object on its way into the tree.
typedef struct query_item
{
    float lower[3];
    uint32_t slot;
    float upper[3];
    uint32_t key; ///< place on the curve
} query_item;

/// Nodes that one worker brings up to date.
typedef struct query_part
{
    uint32_t first, end;
} query_part;

/// The way from an object up: for a change of a few. Made when it is first needed after a build.
typedef struct query_links
{
    uint32_t* parents; ///< of each node, the one above it; QUERY_EMPTY: it is the root
    uint64_t parent_capacity;
    uint32_t* places; ///< by slot, the node with its lane; QUERY_EMPTY or a node without: it is in none
    uint64_t place_capacity;
    uint32_t place_count;
    bool are_made;
} query_links;

typedef struct query_tree
{
    query_node* nodes;
    uint64_t node_capacity;
    uint32_t node_count;
    uint32_t item_count; ///< objects in lanes
    uint32_t depth;

    uint32_t built_nodes, built_items; ///< node_count and item_count of the last build
    uint32_t patch_count;              ///< objects that left or took a lane one by one since
    query_links links;

    query_part* parts; ///< ascending; nodes that are in none have parts below them
    uint64_t part_capacity;
    uint32_t part_count;

    uint64_t build_count, refit_count;

    query_item* items; ///< scratch of the build
    uint64_t item_capacity;
    void *keys, *more_keys, *tables;
    uint64_t key_capacity, more_key_capacity, table_capacity;
} query_tree;

/// Anew. False if out of memory; then the tree is empty.
bool clv_query_tree_build( query_tree* tree, const query_boxes* from, const simd_queries* kernels,
    base_memory* memory, task_runner* tasks );

/// The same objects, less those that are gone, in other places. The nodes stay, their boxes follow. Needs no
/// memory.
void clv_query_tree_refit(
    query_tree* tree, const query_boxes* from, const simd_queries* kernels, task_runner* tasks );

/// Gives all memory back.
void clv_query_links_free( query_links* links, base_memory* memory );
void clv_query_tree_free( query_tree* tree, base_memory* memory );

/// Gives back what only building and patching need.
void clv_query_tree_shrink( query_tree* tree, base_memory* memory );

/// NULL, or the first sentence above that does not hold.
const char* clv_query_tree_check( const query_tree* tree, const query_boxes* from );

// ---- in double
//
// Where boxes are doubles the tree's shape is that of the floats they are mapped to (far/), which tell them
// apart wherever they are; beside it are the same nodes with faces in double, as floats that are seen from
// each node's own place (simd/query_lanes.h): no lane is smaller than what is in it.

typedef struct query_tree64
{
    query_node* nodes; ///< as many as the tree of floats has, in the same order
    uint64_t node_capacity;
} query_tree64;

/// For a tree that is up to date. False if out of memory.
bool clv_query_tree64_bring( query_tree64* tree64, const query_tree* tree, const clv_aabb64* boxes,
    const query_boxes* from, const simd_queries* kernels, base_memory* memory, task_runner* tasks );

void clv_query_tree64_free( query_tree64* tree64, base_memory* memory );

/// NULL, or what is not true of them; `tree` is up to date.
const char* clv_query_tree64_check(
    const query_tree64* tree64, const query_tree* tree, const clv_aabb64* boxes, const query_boxes* from );

// ---- a few objects

/// Some slots, any of them more than once.
typedef struct query_slots
{
    const uint32_t* slots;
    uint32_t count;
} query_slots;

/// Only objects in these slots are others, or elsewhere, than when the tree was last up to date, and so are
/// their nodes of doubles where `boxes64` is not NULL. Costs these objects' ways to the root (query_patch.c).
/// False if an object could not be put in: all that have lanes are in the tree even so, and `from` is good
/// for a build, or, where none is new, a refit.
bool clv_query_tree_patch( query_tree* tree, query_tree64* tree64, const clv_aabb64* boxes64,
    const query_boxes* from, const query_slots* changed, const simd_queries* kernels, base_memory* memory );

// ---- wear (query_wear.c)
//
// When is a tree that follows its boxes built anew? When questions visit more nodes than they need. The nodes
// that hold the middles of some objects are counted when the tree is built and after every refit. So the
// figure is about the places where objects are, and a giant, infinite or not, adds a node or two to it and
// hides nothing. (The nodes' total surface, by which D. Kopta et al. decide in "Fast, effective BVH updates
// for animated scenes" (2012), would be the giant's.) In spaces of doubles these are the floats that boxes
// are mapped to, which never descend: a place is in a node's hull there if it is in double.
//
// Counters alone decide, the same for any number of workers and any instruction set; no answer depends on
// them.

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
