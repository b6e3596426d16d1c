// SPDX-License-Identifier: MIT
// The tree of Serpa and Rodrigues, "Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU
// Broad-Phase Collision Detection Using KD-Trees" (CGF 2019): strictly binary, objects in inner nodes and
// leaves, one array of objects for all nodes in in-order layout (figure 4). An update is clv_kd_tree_admit,
// clv_kd_refit, clv_kd_optimize. docs/kd.md tells the whole story and where we leave the paper.
#pragma once

#include "base/array.h"
#include "base/bit_set.h"
#include "simd/method_kernels.h"
#include "task/task.h"

#define KD_NONE UINT32_MAX

/// How Evaluate weighs a plane.
typedef enum kd_balance
{
    KD_BALANCE_ALL,      ///< min / (n + max): equation 3 of the 2019 paper
    KD_BALANCE_CHILDREN, ///< min / max: the RAY KD-tree of 2015 leaves out the node's own objects
} kd_balance;

/// Whose Partition, and whose order of operators. docs/kd.md has the reasons for ours.
typedef enum kd_flow
{
    /// a plane is kept only if Evaluate accepts it; Filter, then Collapse on an empty child too
    KD_FLOW_OURS,
    /// the mean on the axis of greatest variance, kept unseen; Filter, Collapse if both are empty
    KD_FLOW_2015,
    KD_FLOW_2019, ///< the same plane; Collapse by population alone, and before Filter
} kd_flow;

/// A node owns objects [begin, end) of the array: those that its region holds and neither child's does.
/// Left child: wholly below the plane (upper < plane). Right child: wholly on or above it (lower >= plane).
/// Only one side includes equality, so objects of different branches never touch.
typedef struct kd_node
{
    float lower[3], upper[3]; ///< region: lower <= box.lower and box.upper < upper
    float plane;
    uint32_t axis;        ///< of the plane; meaningless in a leaf
    uint32_t parent;      ///< KD_NONE in the root
    uint32_t left, right; ///< both KD_NONE in a leaf; also the chain of free nodes
    uint32_t begin, end;
    uint32_t population; ///< objects of the subtree
    int32_t offset;      ///< delayed: still to be added to the indices of this whole subtree (figure 5)
    bool lifted;         ///< delayed: the parent took all objects of this subtree
    bool refused;        ///< a leaf above the limit because no plane was acceptable
    bool has_new_order;  ///< its objects in the order of the sweep wait in tree->spare
    bool touched;        ///< an object came, went or changed since Partition refused

    // Objects [rest_begin, rest_end) of the block are at rest and stand in order of cell; see kd_query.h.
    uint32_t rest_begin, rest_end;
    /// where copies of their boxes begin in tree->pool, in the same order; and tree->pool_starts
    uint32_t rest_pool;
    simd_small_grid rest_grid;
    uint32_t rest_axis[2]; ///< of the grid: along which a row of cells lies, along which the rows lie
    uint32_t rest_bits[2]; ///< cells, as powers of two
    int32_t rest_reach[2]; ///< no box of them is longer, in steps of the grid
    uint32_t rest_removed; ///< taken out since they were put in order: a cell may begin so much earlier
    uint32_t rest_loose;   ///< at rest as well, but not among them
    float rest_lower,
        rest_upper;   ///< where they lie along the axis of the plane: close to it, in an inner node
    bool rest_is_hit; ///< one of them may have changed
} kd_node;

typedef struct kd_counters
{
    uint64_t refit_count;  ///< objects handed to a parent
    uint64_t filter_count; ///< objects handed to a child
    uint64_t partition_count, refusal_count, collapse_count, evaluate_count, translate_count, erase_count;
    uint64_t shift_count; ///< objects between two blocks, moved along
} kd_counters;

/// A part of the tree for one worker, or a node above such parts.
typedef struct kd_branch
{
    uint32_t node;
    bool is_part;   ///< with all below; else a node above such parts
    uint32_t begin; ///< of its stretch of the array, or of the node's block; so is its part of tree->spare
    uint32_t own_count; ///< of the node
    uint32_t leavers;   ///< of its topmost node, waiting there
    kd_counters counters;
} kd_branch;

/// A stretch of the array, and what is asked about it: kd_partition.c.
typedef struct kd_block
{
    uint32_t begin, end;
    double origin[3]; ///< for moments: twice a centre
    uint32_t axis;    ///< for the others
    float plane;
} kd_block;

typedef struct kd_block_sums
{
    double sum[3];    ///< of lower + upper, from the origin
    double square[3]; ///< of the same
    double length[3]; ///< of upper - lower
    uint32_t left, right;
} kd_block_sums;

typedef struct kd_tree
{
    base_memory* memory;
    const simd_method_kernels* kernels;
    uint32_t leaf_limit; ///< the papers' T
    kd_balance balance;
    kd_flow flow;

    BASE_ARRAY( kd_node ) nodes;
    uint32_t node_end;  ///< nodes ever used
    uint32_t node_free; ///< first of the chain of free ones
    uint32_t node_count;
    uint32_t root;        ///< KD_NONE before the first update
    base_u32_array stack; ///< as long as `nodes`

    base_u32_array order; ///< slots, in-order
    base_u32_array spare; ///< as long, for objects on the move
    uint32_t count;

    base_u32_array outside; ///< slots that the root does not hold: infinite boxes and far outliers
    uint32_t outside_count;

    // For several workers: kd_refit.c.
    task_runner* tasks;               ///< NULL: the calling thread alone
    BASE_ARRAY( kd_branch ) branches; ///< subtrees that are refitted by one each, and the nodes above them
    base_u32_array top_spare;         ///< as `spare`, for the nodes above
    base_u32_array sides; ///< by place in the array: objects of a long block on their way to a child
    BASE_ARRAY( kd_block_sums ) block_sums; ///< by chunk

    // The world of the current update.
    const clv_aabb* boxes;   ///< by slot, as the tree is to hold them
    const uint64_t* changed; ///< by slot, a bit: box or place is new; NULL: take every box for changed
    base_u32_array homes;    ///< by slot: the node it is at rest in; stale for all others
    BASE_ARRAY( clv_aabb )
    pool; ///< boxes of objects at rest, node by node: close together, where by slot they are not
    /// where the cells of a node begin, counted from its rest_pool; one more for the end
    base_u32_array pool_starts;
    uint32_t pool_end;
    kd_counters counters; ///< of the current update
} kd_tree;

static inline bool kd_node_is_leaf( const kd_node* node )
{
    return node->left == KD_NONE;
}

static inline float kd_lower( const clv_aabb* box, uint32_t axis )
{
    return ( &box->lower.x )[axis];
}

static inline float kd_upper( const clv_aabb* box, uint32_t axis )
{
    return ( &box->upper.x )[axis];
}

static inline bool kd_node_holds( const kd_node* node, const clv_aabb* box )
{
    // No short cuts: six compares cost less than one wrong guess.
    return ( box->lower.x >= node->lower[0] ) & ( box->upper.x < node->upper[0] ) &
        ( box->lower.y >= node->lower[1] ) & ( box->upper.y < node->upper[1] ) &
        ( box->lower.z >= node->lower[2] ) & ( box->upper.z < node->upper[2] );
}

/// Nothing at rest is written in one way only, so that equal trees are equal byte by byte.
static inline void kd_node_tidy_rest( kd_node* node )
{
    if ( node->rest_begin == node->rest_end )
    {
        node->rest_begin = node->rest_end = node->begin;
    }
}

/// Which way a box goes at a plane: -1 left, 0 stays, 1 right.
static inline int kd_side( const clv_aabb* box, uint32_t axis, float plane )
{
    return (int)( kd_lower( box, axis ) >= plane ) - (int)( kd_upper( box, axis ) < plane );
}

// ---- the tree as a thing: kd_tree.c

void clv_kd_tree_init( kd_tree* tree, base_memory* memory, const simd_method_kernels* kernels,
    uint32_t leaf_limit, kd_balance balance, kd_flow flow );
void clv_kd_tree_release( kd_tree* tree );

/// Room for `count` objects; false if out of memory.
bool clv_kd_tree_reserve( kd_tree* tree, uint32_t count );

/// Room for so many more objects outside; false if out of memory.
bool clv_kd_tree_reserve_outside( kd_tree* tree, uint32_t more );

/// Room for homes of slots below `slot_count` and for boxes at rest of `count` objects; false if out of
/// memory.
bool clv_kd_tree_reserve_rest( kd_tree* tree, uint32_t slot_count, uint32_t count );

/// Mark the nodes in which a changed object was at rest; the next refit looks through no others.
void clv_kd_tree_mark_hit( kd_tree* tree, uint32_t slot_end );

/// A single empty leaf with this region.
bool clv_kd_tree_plant( kd_tree* tree, const float lower[3], const float upper[3] );

/// Another region for the root, and with it for the nodes along its border. Objects may be out of place
/// afterwards.
void clv_kd_tree_set_region( kd_tree* tree, const float lower[3], const float upper[3] );

/// KD_NONE if out of memory. Pointers to nodes die.
uint32_t clv_kd_node_take( kd_tree* tree );

/// Give back the nodes of a subtree.
void clv_kd_subtree_free( kd_tree* tree, uint32_t index );

/// The region of a child from that of its parent.
void clv_kd_node_inherit( kd_tree* tree, uint32_t index );

/// Apply what is delayed on a node to its own indices and pass it on to its children.
void clv_kd_node_settle( kd_tree* tree, uint32_t index );

/// The first node of a subtree in in-order, and in the whole tree the one behind another; KD_NONE behind the
/// last. Without a stack.
uint32_t clv_kd_node_first( const kd_tree* tree, uint32_t index );
uint32_t clv_kd_node_next( const kd_tree* tree, uint32_t index );

/// Nodes of the tree breadth first into tree->stack; their number.
uint32_t clv_kd_tree_list( kd_tree* tree );

/// Levels above a node.
static inline uint32_t kd_node_depth( const kd_tree* tree, uint32_t index )
{
    uint32_t depth = 0;
    for ( uint32_t up = tree->nodes.items[index].parent; up != KD_NONE; up = tree->nodes.items[up].parent )
    {
        depth += 1;
    }
    return depth;
}

// ---- objects in and out

/// `count` objects of the array, to another place of it.
void clv_kd_move_slots( kd_tree* tree, uint32_t to, uint32_t from, uint32_t count );

/// Append a slot to the array, in the rightmost node; the next refit and optimize find its place. Room must
/// be reserved.
void clv_kd_tree_append( kd_tree* tree, uint32_t slot );

/// Drop every object whose bit in `live` is not set: the last object of the array takes its place. Sets the
/// bits of the objects that were displaced in `displaced`, unless that is NULL.
void clv_kd_tree_remove_dead( kd_tree* tree, const uint64_t* live, uint64_t* displaced );

/// Take those objects out of the outside list that the root holds now, and append them to the array.
/// `displaced` as above.
void clv_kd_tree_admit( kd_tree* tree, uint64_t* displaced );

// ---- the update: one file per operator

/// Bottom-up: every object that left its node's region goes to the parent, from the root to the outside list.
/// Leaves delayed offsets behind. Out of memory only if the outside list could not grow.
bool clv_kd_refit( kd_tree* tree );

/// Sums over a stretch: of both bounds on one axis.
kd_block_sums clv_kd_block_centres( kd_tree* tree, const kd_block* block );

/// Top-down, after clv_kd_refit: figure 7, with the six operators below. False if out of memory.
bool clv_kd_optimize( kd_tree* tree );

/// Hand the objects of an inner node that lie on one side of its plane to the child there.
void clv_kd_filter( kd_tree* tree, uint32_t index );

/// Give a leaf two children, with a plane that Evaluate accepts, or as the tree's flow has it. If there is
/// none, the leaf stays and is marked as refused.
/// False if out of memory, with the leaf as it was.
bool clv_kd_partition( kd_tree* tree, uint32_t index );

/// Turn an inner node into a leaf with all objects of the subtree.
void clv_kd_collapse( kd_tree* tree, uint32_t index );

/// Is this split worth its plane? Equations 1-3.
bool clv_kd_evaluate( kd_balance balance, uint32_t own_count, uint32_t left_count, uint32_t right_count );

/// Lift all objects of the subtree into the node, move the plane to their mean on the same axis, and filter.
void clv_kd_translate( kd_tree* tree, uint32_t index );

/// Replace a node, whose objects have just been lifted and filtered, by its more populated child, which gets
/// all objects. Returns that child.
uint32_t clv_kd_erase( kd_tree* tree, uint32_t index );

// ---- instruments

/// All invariants: layout, counts, containment, ideal positions, offsets applied, R1-R3. The first that is
/// broken becomes a sentence in `text`. True if all hold. Without tree->boxes, what needs them is left out.
bool clv_kd_check( kd_tree* tree, char* text, size_t text_size );

/// The tree as JSON, nodes in preorder: depth, region, plane, block. Returns the length without the
/// terminating zero, which may exceed `text_size`, as snprintf does.
size_t clv_kd_dump( const kd_tree* tree, char* text, size_t text_size );
