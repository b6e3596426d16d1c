// SPDX-License-Identifier: MIT
// What host and kernels have in common in the device's memory: counters, plans, and the numbers of ways and
// modes. C and OpenCL C, in front of every program.
#ifdef __OPENCL_C_VERSION__
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double layout_double;
#else
typedef ulong layout_double; // as long, and not read
#endif
typedef uint layout_u32;
#else
#pragma once
#include <stdint.h>
typedef double layout_double;
typedef uint32_t layout_u32;
#endif

// ---- counters of one frame, SLOT_WORDS words each: 64-bit numbers as low and high word

#define SLOT_WORDS 16
#define SLOT_PAIRS 0
#define SLOT_TESTS 2
#define SLOT_CELLS 4  // sum of n * n - n over the cells, n being what a cell holds
#define SLOT_PLACED 6 // records that lie in cells; the others lie behind them
#define SLOT_LARGE 7  // records that fit no cell
#define SLOT_BAD 8    // 0, or 2^32 - 1 less the first bad box
#define SLOT_MOVED 9  // records that left their cells; ALL_MOVED where there was no order to keep
#define SLOT_SIDE 10  // half of the records that the frame began with
#define SLOT_KEPT 11  // SLOT_PLACED of the frame whose order is kept
// Of a frame that searches only what changed (rest.cl):
#define SLOT_CARRY 12   // records that had left their cells before it
#define SLOT_LEFT 13    // and that left them in it
#define SLOT_CHANGED 14 // boxes that changed; of a frame that searches all, among those sampled
// rows that they ask, in sixteens; WORK_WIDE, WORK_UNDONE. Of one that searches all: how many before it were
// laid anew, in a row
#define SLOT_WORK 15

#define WORK_WIDE 0x80000000u
#define WORK_UNDONE 0x40000000u // the frame is to be searched whole

// ---- all pairs in tiles: strips of a tile

#define TILE_STRIPS 8

// ---- rows of cells

#define GRID_LEVELS 8
#define SAMPLED_OF_PLACED 128u // one group in so many counts who changed, where all is laid anew,
#define SAMPLED_GROUPS 32u     // and where the order is kept
// Where only what changed is searched: items for a box that changed, how many of those that left their cells
// these take, and pairs that an item carries over at a time, 32 at most.
#define REST_LANES 16u
#define REST_SLICE 64u
#define REST_CARRIED 4u

typedef struct gpu_grid_level
{
    float scale[3]; // cells per unit
    float last[3];  // number of the last cell
    layout_u32 rows_y;
    layout_u32 first_row;
    layout_u32 reach_x; // cells that a box may cross along x
    layout_u32 unused;
} gpu_grid_level;

typedef struct gpu_grid_plan
{
    float origin[3];
    layout_u32 level_count;
    layout_u32 pitch; // entries of a row: its cells and its end, for the longest row
    float slack[3];   // that a box may move down before it has left its cell
    gpu_grid_level levels[GRID_LEVELS];
} gpu_grid_plan;

// ---- sweep and prune

#define AXIS_FREE 3u // in place of an axis: any direction
// Flags of the search.
#define SAP_COUNTS_TESTS 1u
#define SAP_IS_FREE 2u

// ---- the tree

#define TREE_LEVELS 16 // 4^16 boxes

typedef struct gpu_tree_plan
{
    float origin[3];
    float scale[3]; // 512 cells across the world
    layout_u32 top; // the level of the root; boxes are level 0
    layout_u32 unused;
    layout_u32 first[TREE_LEVELS]; // of each level in the array of nodes
} gpu_tree_plan;

// ---- points near each other

// Which entries: each pair once, as it comes; from both sides; once, at the lesser point.
#define NEAR_HALF 0
#define NEAR_FULL 1
#define NEAR_LESSER 2
// What becomes of them.
#define NEAR_PAIRS 0
#define NEAR_COUNT 1
#define NEAR_FILL 2

#define NEAR_SHIFTS 64 // cells along an edge that a pair may span

typedef struct gpu_near_plan
{
    layout_double edge[3]; // of the cell
    layout_double inverse[3];
    float scale[3];       // table cells per unit
    float reach[3];       // on open axes
    layout_u32 size[3];   // of the table
    layout_u32 layers[3]; // cells that a reach spans, on periodic axes
    layout_u32 periodic;  // a bit by axis
    layout_u32 axes;      // 2 or 3
    layout_u32 stride;    // floats from point to point
    layout_u32 pitch;     // entries of a row
    float square;         // of the limit
    layout_u32 unused;
    float offsets[3][2 * NEAR_SHIFTS + 1]; // shift * edge, in float
} gpu_near_plan;
