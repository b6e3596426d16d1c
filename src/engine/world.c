// SPDX-License-Identifier: MIT
#include "engine/world_internal.h"

#include <string.h>

enum
{
    FLAT = 20,     // so many blocks' boxes still go into one grid: cutting them costs more than it saves
    PLAN_LIFE = 8, // updates a plan may serve before it is made again, if it no longer fits
    HISTOGRAM_BOXES = 1 << 16, // about so many boxes are counted to make one
    HOLD_SAMPLES = 128,
    PIECES = 128 // of work for several workers, about
};

// Workers take no memory, so each gets what the largest block may need.
static bool reserve_scratches( block_world* world )
{
    uint32_t workers = task_worker_count( world->tasks );
    uint32_t cells = cell_count_most( world->largest_block );
    bool ok = world_reserve_workers( world );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        cell_scratch* scratch = &world->scratches[i];
        ok = cell_scratch_reserve_cells( scratch, world->memory, cells, cells, cells ) &&
            cell_scratch_reserve_entries( scratch, world->memory, cell_layout_most( world->largest_block ) );
    }
    return ok;
}

// ---- filling -----------------------------------------------------------------------------------------------------

// Are all but a few boxes where the plan has its grids? Beyond these they are all alike and have to be told apart in float.
static bool plan_covers( const block_plan* plan, const block_input* input )
{
    uint32_t outside = 0, seen = 0;
    for ( uint32_t i = 0; i < input->count; i += input->count / HOLD_SAMPLES + 1, ++seen )
    {
        const clv_aabb* box = &input->boxes[block_input_slot( input, i )];
        outside += cell_grid_misses( &plan->grid, box );
    }
    return outside <= seen / 32;
}

static bool plan_fits( const block_world* world, const block_input* input )
{
    uint32_t count = input->count;
    if ( world->plan.block_count == 0 || count > 2 * world->plan_count || count < world->plan_count / 2 )
    {
        return false;
    }
    return world->plan_age < PLAN_LIFE ||
        ( world->largest_block <= 2 * (uint64_t)world->block_boxes && plan_covers( &world->plan, input ) );
}

static bool make_plan( block_world* world, const block_input* input )
{
    world->plan.block_count = 0;
    if ( !block_plan_place( &world->plan, world->memory, input, world->block_boxes ) )
    {
        return false;
    }
    uint32_t step = input->count / HISTOGRAM_BOXES + 1;
    world->kernels->cells->block_histogram( input, &world->plan.grid, step, world->plan.histogram );
    if ( !block_plan_cut( &world->plan, world->memory, world->block_boxes ) ||
        !block_plan_choose_grids( &world->plan, world->memory, input ) )
    {
        world->plan.block_count = 0;
        return false;
    }
    world->plan_age = 0;
    world->plan_count = input->count;
    return true;
}

typedef struct fill_job
{
    block_world* world;
    const block_input* input;
    uint32_t chunk; ///< boxes per piece
} fill_job;

static block_work work_of( const fill_job* job, uint32_t piece )
{
    block_world* world = job->world;
    uint32_t first = piece * job->chunk;
    uint32_t left = job->input->count - first;
    return ( block_work ){
        .plan = &world->plan,
        .input = job->input,
        .first = first,
        .last = first + ( left < job->chunk ? left : job->chunk ),
        .numbers = world->numbers,
        .places = world->places + (size_t)piece * world->plan.block_count,
        .out = world->records,
    };
}

static void assign_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    fill_job* job = context;
    block_work work = work_of( job, piece );
    memset( work.places, 0, job->world->plan.block_count * sizeof( uint32_t ) );
    job->world->kernels->cells->block_assign( &work );
}

static void scatter_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    fill_job* job = context;
    block_work work = work_of( job, piece );
    job->world->kernels->cells->block_scatter( &work );
}

// Counts per piece and block become places: block by block, in a block piece by piece, so in the order of the boxes.
static uint64_t sum_places( block_world* world, uint32_t pieces )
{
    uint32_t blocks = world->plan.block_count;
    uint64_t sum = 0;
    world->largest_block = 0;
    for ( uint32_t block = 0; block < blocks; ++block )
    {
        uint64_t start = sum;
        world->starts[block] = (uint32_t)sum;
        for ( uint32_t piece = 0; piece < pieces; ++piece )
        {
            uint32_t* place = &world->places[(size_t)piece * blocks + block];
            uint32_t count = *place;
            *place = (uint32_t)sum;
            sum += count;
        }
        uint32_t size = (uint32_t)( sum - start );
        world->largest_block = size > world->largest_block ? size : world->largest_block;
    }
    world->starts[blocks] = (uint32_t)sum;
    return sum;
}

static bool fill_many( block_world* world, const block_input* input )
{
    if ( !plan_fits( world, input ) && !make_plan( world, input ) )
    {
        return false;
    }
    world->plan_age += 1;
    bool alone = task_worker_count( world->tasks ) == 1;
    uint32_t chunk = input->count / PIECES > BLOCK_CHUNK ? input->count / PIECES : BLOCK_CHUNK;
    fill_job job = { world, input, alone ? input->count : chunk };
    uint32_t pieces = ( input->count + job.chunk - 1 ) / job.chunk;
    if ( !world_reserve_numbers( world, input->count ) ||
        !world_reserve_places( world, pieces, world->plan.block_count ) )
    {
        return false;
    }
    task_run( world->tasks, assign_piece, pieces, &job );
    uint64_t records = sum_places( world, pieces );
    if ( records > UINT32_MAX || !world_reserve_records( world, records ) ||
        !world_reserve_grids( world, world->plan.block_count ) || !reserve_scratches( world ) )
    {
        return false;
    }
    memcpy( world->grids, world->plan.grids, world->plan.block_count * sizeof( cell_grid ) );
    memset( world->is_settled, 0, world->plan.block_count * sizeof( bool ) );
    task_run( world->tasks, scatter_piece, pieces, &job );
    return true;
}

bool block_world_fill( block_world* world, const block_input* input )
{
    world->boxes = input->boxes;
    return input->count <= (uint64_t)FLAT * world->block_boxes ? world_fill_flat( world, input )
                                                               : fill_many( world, input );
}

// ---- searching ---------------------------------------------------------------------------------------------------

static cell_job job_of( const block_world* world, uint32_t block, uint32_t worker, cell_counters* counters )
{
    uint32_t start = world->starts[block];
    cell_job job = {
        .boxes = world->boxes,
        .records = world->records + start,
        .count = world->starts[block + 1] - start,
        .grid = world->grids[block],
        .is_settled = world->is_settled[block],
        .scratch = &world->scratches[worker],
        .counters = counters,
    };
    block_plan_region( &world->plan, block, job.region_low, job.region_high );
    return job;
}

static clv_result search_piece(
    uint32_t piece, uint32_t worker, pair_sink* sink, uint64_t* test_count, void* context )
{
    block_world* world = context;
    cell_counters counters = { 0 }; // neighbours in the array are written by other workers
    cell_job job = job_of( world, piece, worker, &counters );
    clv_result result = world->kernels->cells->search_block( &job, sink );
    world->grids[piece] = job.grid; // what the records are in now, should the piece be asked for again
    world->is_settled[piece] = job.is_settled;
    world_count( world, worker, &counters );
    *test_count += counters.test_count;
    return result;
}

clv_result block_world_search( block_world* world, pair_sink* sink, uint64_t* test_count )
{
    memset( world->counters, 0, (size_t)world->counter_capacity * sizeof( cell_counters ) );
    if ( world->plan.block_count == 0 )
    {
        return world_search_flat( world, sink, test_count );
    }
    return task_gather_run( &world->gather, world->memory, world->tasks, world->plan.block_count,
        search_piece, world, sink, test_count );
}
