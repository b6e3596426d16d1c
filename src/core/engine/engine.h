// SPDX-License-Identifier: MIT
// All boxes of an update, filled in and searched: as one grid, or in blocks where they are too many for the
// caches.
#pragma once

#include "engine/block.h"
#include "engine/segments.h"
#include "simd/cells.h"
#include "simd/kernels.h"
#include "task/gather.h"

enum
{
    ENGINE_SLABS = 64 // at most
};

/// Rows of cells, cut into slabs of about equal weight.
typedef struct engine_slabs
{
    uint32_t dims[3]; ///< of the grid
    uint32_t wanted;
    uint32_t count;
    uint32_t rows[ENGINE_SLABS + 1]; ///< first row of each, and one more
} engine_slabs;

/// Room for the records of one slab, for each worker.
typedef struct engine_slab_room
{
    uint32_t layout_number; ///< of the segments it is for
    uint64_t most;          ///< records
} engine_slab_room;

/// What a worker found in a slab.
typedef struct engine_slab_found
{
    uint32_t entry_count;
    uint32_t fullest; ///< entries of its fullest cell
    bool fits;        ///< there was room for all of that
} engine_slab_found;

typedef enum engine_scale_kind
{
    ENGINE_PLAIN,
    ENGINE_LOG,       ///< by the bits of the floats
    ENGINE_MAGNIFIED, ///< by 2^100
} engine_scale_kind;

typedef struct engine_scale
{
    engine_scale_kind kind;
    uint32_t gap; ///< of ENGINE_LOG: the bits of a value below which there is hardly anything
} engine_scale;

/// On which scale boxes are seen along each axis, and copies of them where one is not plain.
typedef struct engine_axes
{
    engine_scale scales[3];
    uint32_t age;                 ///< updates since this was looked at
    uint32_t count;               ///< boxes then; 0: never
    BASE_ARRAY( clv_aabb ) boxes; ///< by slot

    uint32_t sharp_left; ///< updates in which crowded cells are seen at a finer scale
    bool is_new;         ///< grids and plans are of another scale
    uint32_t count_now;  ///< boxes of this update
} engine_axes;

typedef struct clv_engine
{
    base_memory* memory;
    const simd_kernels* kernels;
    task_runner* tasks;
    uint32_t block_boxes; ///< boxes in a block, about
    uint32_t alone_boxes; ///< boxes up to which one worker is quicker than several
    uint32_t strip_boxes; ///< boxes up to which they may be in one strip

    block_plan plan;       ///< no blocks: all boxes are in one grid
    uint32_t plan_age;     ///< updates since it was made
    uint32_t plan_count;   ///< boxes it was made for
    uint32_t plan_outside; ///< of a few of them, those it did not reach
    uint32_t plan_largest; ///< boxes in its largest block then

    engine_axes axes;
    const clv_aabb* boxes;             ///< of the update, as the grids see them
    const clv_aabb* exact;             ///< as given
    engine_segments segments;          ///< of blocks, or of slabs
    BASE_ARRAY( cell_record ) records; ///< of all boxes, or of the block that a worker is at
    BASE_ARRAY( cell_tray ) trays;     ///< of blocks, per worker
    BASE_ARRAY( uint8_t ) tray_counts; ///< likewise, a whole number of lines for each worker
    base_u32_array starts;             ///< per cell, and one more
    uint32_t largest_block;
    uint64_t in_blocks; ///< boxes, some in several

    cell_job flat;           ///< where all boxes are in one grid
    cell_extent flat_extent; ///< of a sample of them
    cell_grid chosen;        ///< by that sample
    int32_t strip_axis;      ///< on which they are in order, in one cell; -1: not
    uint64_t strip_tests;    ///< of the last search of a strip
    uint32_t grid_age;       ///< updates since
    uint32_t grid_count;     ///< boxes then; 0: never
    float held_size;         ///< of a few of them together
    uint32_t held_outside;   ///< of these, those that lay beyond the region
    engine_slabs slabs;      ///< of this update
    engine_slabs next_slabs; ///< for the next, by the entries of this one
    BASE_ARRAY( uint8_t ) slab_of_cell;
    engine_slabs mapped;        ///< the slabs that it is about
    engine_slab_room slab_room; ///< where a worker brings a slab's records together
    engine_slab_found found[ENGINE_SLABS];

    // Where the last update's grid served as it was, this one's is not counted before it is searched.
    bool has_served;          ///< so it was
    bool is_trusted;          ///< by the fill, until the search has found it right or wrong
    uint32_t trusted_entries; ///< room for those of one slab
    clv_method_input trusted_input;

    BASE_ARRAY( cell_scratch ) scratches; ///< per worker
    BASE_ARRAY( cell_counters ) counters; ///< likewise
    task_gather gather;
    uint32_t reasons; ///< bits of clv_update_reason, set by fills since the owner set it to 0
} clv_engine;

void clv_engine_init( clv_engine* engine, base_memory* memory, const simd_kernels* kernels,
    task_runner* tasks, uint32_t block_boxes, uint32_t alone_boxes, uint32_t strip_boxes );
void clv_engine_release( clv_engine* engine );

/// Put the boxes in. False if out of memory; the next call starts afresh.
bool clv_engine_fill( clv_engine* engine, const clv_method_input* input );

/// What the last search did, by all workers.
cell_counters clv_engine_counters( const clv_engine* engine );

/// On how many axes boxes are seen on another scale than their own.
uint32_t clv_engine_scaled_axes( const clv_engine* engine );

/// Every touching pair of what was filled in.
clv_result clv_engine_search( clv_engine* engine, clv_pair_sink* sink, uint64_t* test_count );

/// What must be true after clv_engine_fill with these boxes, as the grids see them: every box in every slab
/// or block that it reaches and as its record, room for its entries in every cell, and one home for each
/// pair. NULL, or the first sentence that is not true. For tests and debug builds.
const char* clv_engine_check( clv_engine* engine, const clv_method_input* input );
