// SPDX-License-Identifier: MIT
// A block's worth of boxes, searched through a small grid of cells. Inside a cell a box is six bytes, so that
// one instruction tests it against as many others as a register has bytes; what the bytes let through is
// tested in float.
//
// A box lies in every cell it reaches into. Two boxes that meet in several cells are reported in one of them
// only: where the lower corner of their intersection lies, which is the cell in which, on each axis, at least
// one of the two begins.
#pragma once

#include "base/memory.h"
#include "simd/cells.h"

/// A grid of at most CELL_GRID_CELLS cells over a region. Outside it, boxes are clamped to the border cells.
typedef struct cell_grid
{
    float origin[3];
    float scale[3]; ///< 256ths of a cell per metre, finite and above 0
    uint32_t dims[3];
} cell_grid;

enum
{
    CELL_GRID_SIDE = 64,      // cells per axis at most
    CELL_LEVELS = 7,          // 1, 2, 4, ... CELL_GRID_SIDE
    CELL_BOXES_PER_CELL = 8,  // and in all at least so many boxes for each
    CELL_ALONE = 350,         // boxes that are in one cell sooner than in many
    CELL_OVERFULL = 384,      // entries from which a cell gets a grid of its own
    CELL_BLUR = 192,          // entries from which it is looked whether a cell tells its boxes apart
    CELL_ENTRIES_PER_BOX = 3, // a grid that needs more is made coarser
    CELL_SAMPLES = 256,       // boxes looked at to choose a grid
    CELL_DEPTH = 8,           // grids within grids
    CELL_SHARPEN = 16,        // entries from which a cell may be cut, and seen at a finer scale
    CELL_CHUNK = 4096,        // slots whose boxes are placed together, class by class
    CELL_PART = 512,          // of which so many are looked at at a time
};

/// What laying a grid found out.
typedef struct cell_layout
{
    uint32_t entry_count;
    uint32_t fullest; ///< entries of the fullest cell
    uint32_t strip;   ///< entries of a strip, which is never cut or in a grid of its own
} cell_layout;

/// One worker's memory. Arrays of which a grid and those within its cells need their parts at once are
/// stacks, inner grids behind outer. A grid within a cell holds at most half the boxes of the grid around it,
/// so twice its need is enough for all that lie within each other.
typedef struct cell_scratch
{
    /// boxes by first cell and class, eight per cell; of one grid, or a part of it, at a time
    uint32_t* kinds;
    uint32_t* starts;     ///< first entry of each cell; a stack
    cell_entry* entries;  ///< by cell; a stack
    cell_record* records; ///< of inner grids; a stack
    uint8_t* lanes;       ///< eight rows of bytes, the codes of one cell by byte
    uint32_t* slots;      ///< likewise
    clv_pair* ties;       ///< CELL_TIES + 64
    void* cell_block;     ///< the first two
    void* entry_block;    ///< all others
    uint64_t cell_bytes, entry_bytes;
} cell_scratch;

/// Most cells of a grid for `count` boxes.
static inline uint32_t cell_count_most( uint32_t count )
{
    return count / CELL_BOXES_PER_CELL + 1;
}

/// Room to lay a grid of `cell_count` cells of which `counted` are counted at once, and `stack` more in grids
/// within its cells; false if out of memory. What was in it is lost.
bool clv_engine_cell_scratch_reserve_cells(
    cell_scratch* scratch, base_memory* memory, uint32_t counted, uint32_t cell_count, uint32_t stack );

/// Room to search what was laid; likewise.
bool clv_engine_cell_scratch_reserve_entries(
    cell_scratch* scratch, base_memory* memory, cell_layout layout );

/// The most that laying a grid for `count` boxes can find.
static inline cell_layout cell_layout_most( uint32_t count )
{
    return ( cell_layout ){ count * CELL_ENTRIES_PER_BOX, count, 0 };
}

void clv_engine_cell_scratch_release( cell_scratch* scratch, base_memory* memory );

/// Bounds of the boxes' corners, clipped to what the block is responsible for, and their typical size.
typedef struct cell_extent
{
    float low[3], high[3];
    float size[3];
    /// means of the products of two sizes, each against the width: those of the axes other than this one
    float area[3];
    float volume; ///< and of all three
    /// Of two boxes taken at random, how often both begin in the same of 1, 2, 4, ... CELL_GRID_SIDE cells
    /// along an axis. Evenly spread boxes do so once in as many; boxes on one floor always, however thin the
    /// cells are.
    float share[3][CELL_LEVELS];
    /// How much more often two boxes share a cell of the two axes other than this one than if those had
    /// nothing to do with each other, as on a diagonal; at least 1.
    float joint[3];
} cell_extent;

/// The grid that should cost least for `count` boxes of this extent, by a model with measured constants.
cell_grid clv_engine_cell_grid_choose( uint32_t count, const cell_extent* extent );

/// The same region with about half as many cells; false if it has only one.
bool clv_engine_cell_grid_coarsen( cell_grid* grid, const cell_extent* extent );

static inline uint32_t cell_grid_count( const cell_grid* grid )
{
    return grid->dims[0] * grid->dims[1] * grid->dims[2];
}

static inline uint32_t cell_at( const cell_grid* grid, uint32_t x, uint32_t y, uint32_t z )
{
    return ( z * grid->dims[1] + y ) * grid->dims[0] + x;
}

/// What the kernels need of a grid.
static inline scaling scaling_of( const cell_grid* grid )
{
    scaling s;
    for ( int axis = 0; axis < 4; ++axis )
    {
        bool is_axis = axis < 3;
        s.origin[axis] = s.origin[axis + 4] = is_axis ? grid->origin[axis] : 0;
        s.scale[axis] = s.scale[axis + 4] = is_axis ? grid->scale[axis] : 0;
        s.most[axis] = s.most[axis + 4] = is_axis ? (float)( grid->dims[axis] * CELL_STEPS - 1 ) : 0;
        s.weights[axis] = s.weights[axis + 4] = 0;
    }
    s.weights[0] = 1;
    s.weights[1] = (int16_t)grid->dims[0];
    s.weights[2] = (int16_t)( grid->dims[0] * grid->dims[1] );
    return s;
}

/// Does the box lie beyond the grid's region?
bool clv_engine_cell_grid_misses( const cell_grid* grid, const clv_aabb* box );

/// How many cells a share of so many is reached from, its own among them.
static inline uint32_t cell_count_reached( const cell_grid* grid, uint32_t cell_count )
{
    uint64_t reached = (uint64_t)cell_count + grid->dims[0] * grid->dims[1] + grid->dims[0] + 1;
    uint32_t all = cell_grid_count( grid );
    return reached < all ? (uint32_t)reached : all;
}

/// A block to search.
typedef struct cell_job
{
    const simd_cells* kernels;
    const clv_aabb* boxes; ///< by slot, as the grid sees them
    const clv_aabb* exact; ///< as given: ties are decided by these
    const clv_aabb* cut;   ///< those that planes cut: as given, or magnified
    cell_record* records;  ///< in the grid below; made again where another grid turns out to be needed
    uint32_t count;
    cell_grid grid;      ///< no dims: to be chosen, and the records are only slots and before bits yet
    cell_entry* entries; ///< by cell
    uint32_t* starts;    ///< first entry of each cell, and one more
    /// where the block's own boxes begin; without end while a block at the border of space is searched
    float region_low[3], region_high[3];
    bool is_sharpened; ///< cells whose boxes crowd into a part of them are seen at a finer scale
    cell_scratch* scratch;
    cell_counters* counters;
} cell_job;

/// One worker's share of a block: some boxes, and the cells they are asked for.
typedef struct cell_share
{
    const cell_record* records;
    const cell_segment* segments; ///< of the records; NULL: one, of all
    uint32_t stride;              ///< from one to the next
    uint32_t count;               ///< of segments, or records
    bool by_slot; ///< which boxes are placed together depends on their slots, not on the share
    uint32_t first_cell, last_cell;
} cell_share;

/// All of a job's boxes, for all of its cells.
static inline cell_share cell_share_all( const cell_job* job )
{
    return ( cell_share ){ job->records, NULL, 0, job->count, false, 0, cell_grid_count( &job->grid ) };
}

static inline uint32_t cell_segment_count( const cell_share* share )
{
    return share->segments != NULL ? share->count : 1;
}

static inline cell_segment cell_segment_at( const cell_share* share, uint32_t index )
{
    return share->segments != NULL ? share->segments[(size_t)index * share->stride]
                                   : ( cell_segment ){ 0, share->count, share->count, share->count };
}

/// Where a sample of boxes is and how large they are: what lies outside the region is clamped to its border.
cell_extent clv_engine_cell_measure(
    const clv_aabb* samples, uint32_t count, const float region_low[3], const float region_high[3] );

/// Where they are, and nothing else: enough for one cell of all.
cell_extent clv_engine_cell_measure_alone(
    const clv_aabb* samples, uint32_t count, const float region_low[3], const float region_high[3] );

/// What cells along an axis can do for boxes of this mean size that begin at these values: the least part of
/// all tests that is left with any number of cells from `low` to `high`. Copies of boxes that straddle are
/// tested, too.
float clv_engine_cell_measure_rest( const float* values, uint32_t count, float low, float high, float size );

/// The same for a sample of a job's boxes.
cell_extent clv_engine_cell_measure_job( const cell_job* job );

// ---- count.c

/// How many entries a share's boxes have in each of its cells; false if far too many. `kinds` has room for
/// eight times cell_count_reached, `counts` for all cells; counts of others mean nothing.
bool clv_engine_cell_count_entries(
    const cell_job* job, const cell_share* share, uint32_t* kinds, uint32_t* counts );

/// Counts become places: starts[cell] is a cell's first entry. Returns their sum.
uint32_t clv_engine_cell_sum_starts( uint32_t* starts, uint32_t cell_count );

// ---- place.c

/// Entries of a share's boxes, so many in all, to its cells; next[cell] is where the next one goes, and
/// afterwards where the next cell begins. In a cell they lie by chunk, class, corner and number of their
/// boxes, whatever the share. The entry behind them all may be written, too.
void clv_engine_cell_place_entries(
    const cell_job* job, const cell_share* share, uint32_t* next, uint32_t entry_count );

/// Where the chunk of slots that begins with record `first` ends, before `end` or there.
uint32_t clv_engine_cell_end_of_chunk( const cell_record* records, uint32_t first, uint32_t end );

// ---- lay.c

/// The workers that lay a grid: one in its own memory, or all of them together.
typedef struct cell_crew
{
    cell_job* job;
    cell_extent extent; ///< of the job's boxes, if measured
    bool is_measured;
    bool has_records; ///< the job's records are in its grid
    uint32_t zoom_count;
    uint32_t* counts;      ///< by cell of the job's grid, after count
    float low[3], high[3]; ///< where the job's boxes may begin

    /// Of one of the job's boxes.
    uint32_t ( *slot )( const struct cell_crew* crew, uint32_t index );

    /// Records in the job's grid, and room to count. False if out of memory.
    bool ( *make )( struct cell_crew* crew );

    /// The entries of each cell; false if far too many.
    bool ( *count )( struct cell_crew* crew );

    /// May be NULL. Another grid is about to be tried: the crew may know a better one.
    void ( *reconsider )( struct cell_crew* crew );
} cell_crew;

/// Try grids until one has few enough entries, and count these. One with too many entries is made coarser.
/// Where most boxes crowd into one cell, because the region is far too wide for them, the next is laid over
/// that cell alone and the others are clamped to its border. False if out of memory.
bool clv_engine_cell_lay( cell_crew* crew, cell_layout* layout );

/// The same by one worker, in the job's scratch; counts go to job->starts + 1. Nothing can fail.
cell_layout clv_engine_cell_lay_alone( cell_job* job );

/// Records, or entries of one cell, again in another grid. What they began before stays.
void clv_engine_cell_requantise(
    const cell_job* job, const cell_grid* grid, cell_record* records, uint32_t count );

// ---- cut.c

/// The pairs of a cell with many entries, which may not be in a grid of their own; they are moved about.
/// Planes cut them in two until that is worth no more. The first result other than CLV_OK that the sink gave.
clv_result clv_engine_cell_cut(
    const cell_job* job, cell_search* search, cell_entry* entries, uint32_t count );

// ---- search.c

/// Every touching pair of a block's boxes, as far as it does not belong to another block, or the first result
/// other than CLV_OK that the sink gave. The scratch has room for all a block may need; the job's grid and
/// records may change, entries and starts are made here.
clv_result clv_engine_cell_search_block( cell_job* job, clv_pair_sink* sink );

/// The pairs of entries that are in one cell, each with each other, counted and searched.
clv_result clv_engine_cell_search_entries(
    const cell_job* job, cell_search* search, const cell_entry* entries, uint32_t count );

/// The pairs of cells [first, last), which are whole rows, laid and placed. The scratch has room for the
/// fullest cell.
clv_result clv_engine_cell_search_rows(
    const cell_job* job, uint32_t first, uint32_t last, clv_pair_sink* sink );

// ---- check.c

/// Cells whose entries were placed, by the records of the share: NULL, or the first sentence about them that
/// is not true. Uses the scratch that counting does.
const char* clv_engine_cell_check( const cell_job* job, const cell_share* share );
