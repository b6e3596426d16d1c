// SPDX-License-Identifier: MIT
// One grid over all boxes, shared by all workers. Boxes are counted and placed in pieces, cells summed up and searched in
// ranges; a piece's entries go behind those of the pieces before it, so the outcome does not depend on how many there are.
#include "engine/world_internal.h"

#include <string.h>

enum
{
    PIECES = 64,         // at most
    RANGES = 64,         // of cells to be summed up, at most
    SEARCH_RANGES = 256, // of cells to be searched, about
    SEARCH_CELLS = 16,   // in each at least
};

typedef struct cell_range
{
    uint32_t first, last;
    uint64_t entry_count; ///< first in the range, then before it
    uint32_t fullest;     ///< cell
    uint32_t most;        ///< its entries
} cell_range;

// A fill while it is under way.
typedef struct flat_fill
{
    block_world* world;
    const block_input* input;
    task_runner* tasks;
    uint32_t piece_count, piece_boxes;
    uint32_t cell_count;
    bool fits[PIECES];
    cell_range ranges[RANGES];
    uint32_t range_count;
} flat_fill;

static task_runner s_nobody; // zero: the calling thread alone

static task_runner* tasks_for( block_world* world, uint32_t count )
{
    return count > world->alone_boxes ? world->tasks : &s_nobody;
}

// A region where most of the boxes are, and a sample of them to choose a grid by.
static void choose_grid( cell_job* job, const block_input* input )
{
    cell_extent most = block_measure( input );
    memcpy( job->region_low, most.low, sizeof( most.low ) );
    memcpy( job->region_high, most.high, sizeof( most.high ) );
    clv_aabb samples[CELL_SAMPLES + 1];
    uint32_t step = input->count / CELL_SAMPLES + 1;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < input->count; i += step )
    {
        samples[count++] = input->boxes[block_input_slot( input, i )];
    }
    cell_extent extent = cell_measure( samples, count, job->region_low, job->region_high );
    job->grid = cell_grid_choose( input->count, &extent );
}

static uint32_t last_of( const flat_fill* fill, uint32_t piece )
{
    uint32_t left = fill->input->count - piece * fill->piece_boxes;
    return piece * fill->piece_boxes + ( left < fill->piece_boxes ? left : fill->piece_boxes );
}

static uint32_t* places_of( const flat_fill* fill, uint32_t piece )
{
    return fill->world->places + (size_t)piece * fill->cell_count;
}

static void count_piece( uint32_t piece, uint32_t worker, void* context )
{
    flat_fill* fill = context;
    block_world* world = fill->world;
    const simd_cells* cells = world->kernels->cells;
    uint32_t first = piece * fill->piece_boxes, last = last_of( fill, piece );
    cells->block_records( fill->input, first, last, &world->flat.grid, world->records );
    fill->fits[piece] = cells->count_cells(
        &world->flat, first, last, world->scratches[worker].kinds, places_of( fill, piece ) );
}

static void sum_range( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    flat_fill* fill = context;
    cell_range* range = &fill->ranges[index];
    range->entry_count = 0;
    range->fullest = range->first;
    range->most = 0;
    for ( uint32_t cell = range->first; cell < range->last; ++cell )
    {
        uint32_t sum = 0;
        for ( uint32_t piece = 0; piece < fill->piece_count; ++piece )
        {
            sum += places_of( fill, piece )[cell];
        }
        fill->world->starts[cell] = sum;
        range->entry_count += sum;
        range->fullest = sum > range->most ? cell : range->fullest;
        range->most = sum > range->most ? sum : range->most;
    }
}

// Counts per piece become places: cell by cell, in a cell piece by piece, so in the order of the boxes.
static void place_range( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    flat_fill* fill = context;
    const cell_range* range = &fill->ranges[index];
    uint32_t place = (uint32_t)range->entry_count;
    for ( uint32_t cell = range->first; cell < range->last; ++cell )
    {
        fill->world->starts[cell] = place;
        for ( uint32_t piece = 0; piece < fill->piece_count; ++piece )
        {
            uint32_t* at = &places_of( fill, piece )[cell];
            uint32_t count = *at;
            *at = place;
            place += count;
        }
    }
}

static void place_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    flat_fill* fill = context;
    block_world* world = fill->world;
    world->kernels->cells->place_entries(
        &world->flat, piece * fill->piece_boxes, last_of( fill, piece ), places_of( fill, piece ) );
}

// Memory for counting, by the job's present grid.
static bool reserve_cells( flat_fill* fill )
{
    block_world* world = fill->world;
    uint32_t workers = task_worker_count( fill->tasks );
    fill->cell_count = cell_grid_count( &world->flat.grid );
    bool ok = world_reserve_places( world, fill->piece_count, fill->cell_count );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        ok = cell_scratch_reserve_cells( &world->scratches[i], world->memory, fill->cell_count, 0 );
    }
    return ok;
}

// Entries of each cell, for all pieces; false if there are too many.
static bool count_all( flat_fill* fill, cell_layout* layout, uint32_t* fullest )
{
    task_run( fill->tasks, count_piece, fill->piece_count, fill );
    bool fits = true;
    for ( uint32_t piece = 0; piece < fill->piece_count; ++piece )
    {
        fits = fits && fill->fits[piece];
    }
    if ( !fits )
    {
        return false;
    }
    uint32_t per_range = fill->cell_count / fill->piece_count + 1;
    fill->range_count = 0;
    for ( uint32_t first = 0; first < fill->cell_count; first += per_range )
    {
        uint32_t left = fill->cell_count - first;
        cell_range range = { .first = first, .last = first + ( left < per_range ? left : per_range ) };
        fill->ranges[fill->range_count++] = range;
    }
    task_run( fill->tasks, sum_range, fill->range_count, fill );
    uint64_t sum = 0;
    uint32_t most = 0;
    for ( uint32_t i = 0; i < fill->range_count; ++i )
    {
        cell_range* range = &fill->ranges[i];
        uint64_t here = range->entry_count;
        range->entry_count = sum;
        sum += here;
        *fullest = range->most > most ? range->fullest : *fullest;
        most = range->most > most ? range->most : most;
    }
    *layout = ( cell_layout ){ (uint32_t)sum, most };
    return sum <= (uint64_t)fill->input->count * CELL_ENTRIES_PER_BOX;
}

// A grid that will do, with its entries counted. False if out of memory.
static bool lay( flat_fill* fill, cell_layout* layout )
{
    block_world* world = fill->world;
    cell_lay trying = { .zoom_count = 0 };
    for ( bool again = true; again; )
    {
        uint32_t fullest = 0;
        *layout = ( cell_layout ){ 0, 0 };
        if ( !reserve_cells( fill ) )
        {
            return false;
        }
        bool fits = count_all( fill, layout, &fullest );
        again = cell_lay_again( &trying, &world->flat, fits, *layout, fullest );
    }
    return true;
}

// Memory for searching; crowded cells have grids within them.
static bool reserve_search( flat_fill* fill, cell_layout layout )
{
    block_world* world = fill->world;
    uint32_t workers = task_worker_count( fill->tasks );
    cell_layout inner = { 0, layout.fullest };
    uint32_t cells = layout.fullest > CELL_OVERFULL ? cell_count_most( layout.fullest ) : 0;
    bool ok = world_reserve_entries( world, (uint64_t)layout.entry_count + CELL_SLACK );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        ok = cell_scratch_reserve_cells( &world->scratches[i], world->memory, cells, cells ) &&
            cell_scratch_reserve_entries( &world->scratches[i], world->memory, inner );
    }
    return ok;
}

bool world_fill_flat( block_world* world, const block_input* input )
{
    world->plan.block_count = 0;
    task_runner* tasks = tasks_for( world, input->count );
    uint32_t workers = task_worker_count( tasks );
    uint32_t pieces = workers < PIECES ? workers : PIECES;
    uint32_t chunks = ( input->count + CELL_CHUNK - 1 ) / CELL_CHUNK;
    flat_fill fill = { .world = world, .input = input, .tasks = tasks };
    fill.piece_boxes = ( chunks + pieces - 1 ) / pieces * CELL_CHUNK;
    fill.piece_count = ( input->count + fill.piece_boxes - 1 ) / fill.piece_boxes;
    if ( !world_reserve_records( world, input->count ) || !world_reserve_workers( world ) )
    {
        return false;
    }
    world->flat = ( cell_job ){ .boxes = input->boxes, .records = world->records, .count = input->count };
    choose_grid( &world->flat, input );
    cell_layout layout;
    if ( !lay( &fill, &layout ) || !reserve_search( &fill, layout ) )
    {
        return false;
    }
    task_run( tasks, place_range, fill.range_count, &fill );
    world->starts[fill.cell_count] = layout.entry_count;
    world->flat.starts = world->starts;
    world->flat.entries = world->entries;
    world->largest_block = input->count;
    task_run( tasks, place_piece, fill.piece_count, &fill );
    memset( world->entries + layout.entry_count, 0, CELL_SLACK * sizeof( cell_entry ) );
    return true;
}

// ---- searching ---------------------------------------------------------------------------------------------------

static uint32_t cells_per_range( const block_world* world )
{
    uint32_t cells = cell_grid_count( &world->flat.grid ) / SEARCH_RANGES + 1;
    return cells > SEARCH_CELLS ? cells : SEARCH_CELLS;
}

static clv_result search_range(
    uint32_t index, uint32_t worker, pair_sink* sink, uint64_t* test_count, void* context )
{
    block_world* world = context;
    cell_job job = world->flat;
    job.scratch = &world->scratches[worker];
    job.counters = &world->counters[worker];
    uint64_t before = job.counters->test_count;
    uint32_t cells = cells_per_range( world ), first = index * cells;
    uint32_t left = cell_grid_count( &job.grid ) - first;
    clv_result result =
        world->kernels->cells->search_cells( &job, first, first + ( left < cells ? left : cells ), sink );
    *test_count += job.counters->test_count - before;
    return result;
}

clv_result world_search_flat( block_world* world, pair_sink* sink, uint64_t* test_count )
{
    uint32_t cells = cells_per_range( world );
    uint32_t ranges = ( cell_grid_count( &world->flat.grid ) + cells - 1 ) / cells;
    return task_gather_run( &world->gather, world->memory, tasks_for( world, world->flat.count ), ranges,
        search_range, world, sink, test_count );
}
