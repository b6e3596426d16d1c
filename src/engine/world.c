// SPDX-License-Identifier: MIT
#include "engine/world.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    SINGLE = 4,    // so many blocks' boxes still go into one: cutting them costs more than it saves
    PLAN_LIFE = 8, // updates a plan may serve before it is made again, if it no longer fits
    HISTOGRAM_BOXES = 1 << 16, // about so many boxes are counted to make one
    PIECES = 128               // of work for several workers, about
};

void block_world_init( block_world* world, base_memory* memory, const simd_kernels* kernels,
    task_runner* tasks, uint32_t block_boxes )
{
    *world =
        ( block_world ){ .memory = memory, .kernels = kernels, .tasks = tasks, .block_boxes = block_boxes };
}

void block_world_release( block_world* world )
{
    base_memory* memory = world->memory;
    block_plan_release( &world->plan, memory );
    base_memory_give( memory, world->records, world->record_capacity, sizeof( cell_record ) );
    base_memory_give( memory, world->grids, world->grid_capacity, sizeof( cell_grid ) );
    base_memory_give( memory, world->numbers, world->number_capacity, sizeof( uint16_t ) );
    base_memory_give( memory, world->places, world->place_capacity, sizeof( uint32_t ) );
    base_memory_give( memory, world->starts, world->start_capacity, sizeof( uint32_t ) );
    for ( uint64_t i = 0; i < world->scratch_capacity; ++i )
    {
        cell_scratch_release( &world->scratches[i], memory );
    }
    base_memory_give( memory, world->scratches, world->scratch_capacity, sizeof( cell_scratch ) );
    base_memory_give( memory, world->counters, world->counter_capacity, sizeof( cell_counters ) );
    task_gather_release( &world->gather, memory );
    block_world_init( world, memory, world->kernels, world->tasks, world->block_boxes );
}

// ---- memory ------------------------------------------------------------------------------------------------------

static bool reserve_records( block_world* world, uint64_t count )
{
    void* data = world->records;
    bool ok =
        base_memory_reserve( world->memory, &data, &world->record_capacity, 0, count, sizeof( cell_record ) );
    world->records = data;
    return ok;
}

static bool reserve_grids( block_world* world, uint64_t count )
{
    void* data = world->grids;
    bool ok =
        base_memory_reserve( world->memory, &data, &world->grid_capacity, 0, count, sizeof( cell_grid ) );
    world->grids = data;
    return ok;
}

static bool reserve_numbers( block_world* world, uint64_t count )
{
    void* data = world->numbers;
    bool ok =
        base_memory_reserve( world->memory, &data, &world->number_capacity, 0, count, sizeof( uint16_t ) );
    world->numbers = data;
    return ok;
}

static bool reserve_places( block_world* world, uint64_t pieces, uint64_t blocks )
{
    void* places = world->places;
    void* starts = world->starts;
    bool ok = base_memory_reserve(
                  world->memory, &places, &world->place_capacity, 0, pieces * blocks, sizeof( uint32_t ) ) &&
        base_memory_reserve(
            world->memory, &starts, &world->start_capacity, 0, blocks + 1, sizeof( uint32_t ) );
    world->places = places;
    world->starts = starts;
    return ok;
}

static bool reserve_counters( block_world* world )
{
    uint32_t workers = task_worker_count( world->tasks );
    if ( world->scratch_capacity == 0 )
    {
        void* scratches = NULL;
        if ( !base_memory_reserve(
                 world->memory, &scratches, &world->scratch_capacity, 0, workers, sizeof( cell_scratch ) ) )
        {
            return false;
        }
        memset( scratches, 0, (size_t)world->scratch_capacity * sizeof( cell_scratch ) );
        world->scratches = scratches;
    }
    void* counters = world->counters;
    bool ok = base_memory_reserve(
        world->memory, &counters, &world->counter_capacity, 0, workers, sizeof( cell_counters ) );
    world->counters = counters;
    return ok;
}

// Workers take no memory, so each gets what the largest block may need.
static bool reserve_workers( block_world* world )
{
    uint32_t workers = task_worker_count( world->tasks );
    bool ok = reserve_counters( world );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        cell_scratch* scratch = &world->scratches[i];
        ok = cell_scratch_reserve_cells( scratch, world->memory, world->largest_block ) &&
            cell_scratch_reserve_entries( scratch, world->memory, cell_layout_most( world->largest_block ) );
    }
    return ok;
}

// ---- filling -----------------------------------------------------------------------------------------------------

static bool plan_fits( const block_world* world, uint32_t count )
{
    if ( world->plan.block_count == 0 || count > 2 * world->plan_count || count < world->plan_count / 2 )
    {
        return false;
    }
    return world->plan_age < PLAN_LIFE || world->largest_block <= 2 * (uint64_t)world->block_boxes;
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
    if ( !plan_fits( world, input->count ) && !make_plan( world, input ) )
    {
        return false;
    }
    world->plan_age += 1;
    bool alone = task_worker_count( world->tasks ) == 1;
    uint32_t chunk = input->count / PIECES > BLOCK_CHUNK ? input->count / PIECES : BLOCK_CHUNK;
    fill_job job = { world, input, alone ? input->count : chunk };
    uint32_t pieces = ( input->count + job.chunk - 1 ) / job.chunk;
    if ( !reserve_numbers( world, input->count ) ||
        !reserve_places( world, pieces, world->plan.block_count ) )
    {
        return false;
    }
    task_run( world->tasks, assign_piece, pieces, &job );
    if ( !reserve_records( world, sum_places( world, pieces ) ) ||
        !reserve_grids( world, world->plan.block_count ) || !reserve_workers( world ) )
    {
        return false;
    }
    memcpy( world->grids, world->plan.grids, world->plan.block_count * sizeof( cell_grid ) );
    task_run( world->tasks, scatter_piece, pieces, &job );
    return true;
}

static cell_job job_of( const block_world* world, uint32_t block, uint32_t worker )
{
    uint32_t start = world->starts[block];
    cell_job job = {
        .boxes = world->boxes,
        .records = world->records + start,
        .count = world->starts[block + 1] - start,
        .grid = world->grids[block],
        .scratch = &world->scratches[worker],
        .counters = &world->counters[worker],
    };
    block_plan_region( &world->plan, block, job.region_low, job.region_high );
    return job;
}

// A plan of one block, whose region is where most of the boxes are.
static bool plan_one( block_world* world, const block_input* input )
{
    block_plan* plan = &world->plan;
    plan->block_count = 0; // no plan for many
    void* leaves = plan->leaves;
    bool ok = base_memory_reserve( world->memory, &leaves, &plan->leaf_capacity, 0, 1, sizeof( block_leaf ) );
    plan->leaves = leaves;
    if ( !ok || !reserve_places( world, 1, 1 ) || !reserve_grids( world, 1 ) )
    {
        return false;
    }
    cell_extent extent = block_measure( input );
    plan->leaves[0] = ( block_leaf ){ 0, 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        plan->grid.origin[axis] = extent.low[axis];
        plan->grid.dims[axis] = 1;
        float width = extent.high[axis] - extent.low[axis];
        plan->grid.scale[axis] = width > 0 ? CELL_STEPS / width : 1e30f;
    }
    world->starts[0] = 0;
    world->starts[1] = input->count;
    world->largest_block = input->count;
    return true;
}

static cell_grid choose_one( const block_world* world, const block_input* input )
{
    clv_aabb samples[CELL_SAMPLES + 1];
    uint32_t step = input->count / CELL_SAMPLES + 1;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < input->count; i += step )
    {
        samples[count++] = input->boxes[block_input_slot( input, i )];
    }
    float low[3], high[3];
    block_plan_region( &world->plan, 0, low, high );
    cell_extent extent = cell_measure( samples, count, low, high );
    return cell_grid_choose( input->count, &extent );
}

// Few boxes: one block, laid here, so that it takes no more memory than it needs.
static bool fill_one( block_world* world, const block_input* input )
{
    if ( !plan_one( world, input ) || !reserve_records( world, input->count ) || !reserve_counters( world ) ||
        !cell_scratch_reserve_cells( &world->scratches[0], world->memory, input->count ) )
    {
        return false;
    }
    world->grids[0] = choose_one( world, input );
    world->kernels->cells->block_records( input, &world->grids[0], world->records );
    cell_job job = job_of( world, 0, 0 );
    world->layout = world->kernels->cells->lay_block( &job );
    world->grids[0] = job.grid;
    return cell_scratch_reserve_entries( &world->scratches[0], world->memory, world->layout );
}

bool block_world_fill( block_world* world, const block_input* input )
{
    world->boxes = input->boxes;
    return input->count <= (uint64_t)SINGLE * world->block_boxes ? fill_one( world, input )
                                                                 : fill_many( world, input );
}

// ---- searching ---------------------------------------------------------------------------------------------------

static clv_result search_piece(
    uint32_t piece, uint32_t worker, pair_sink* sink, uint64_t* test_count, void* context )
{
    block_world* world = context;
    const simd_cells* cells = world->kernels->cells;
    cell_job job = job_of( world, piece, worker );
    uint64_t before = job.counters->test_count;
    cell_layout layout = cells->lay_block( &job );
    world->grids[piece] = job.grid; // what the records are in now, should the piece be asked for again
    clv_result result = cells->search_block( &job, layout, sink );
    *test_count += job.counters->test_count - before;
    return result;
}

static clv_result search_one( block_world* world, pair_sink* sink, uint64_t* test_count )
{
    cell_job job = job_of( world, 0, 0 );
    clv_result result = world->kernels->cells->search_block( &job, world->layout, sink );
    *test_count += job.counters->test_count;
    return result;
}

clv_result block_world_search( block_world* world, pair_sink* sink, uint64_t* test_count )
{
    memset( world->counters, 0, (size_t)world->counter_capacity * sizeof( cell_counters ) );
    if ( world->plan.block_count == 0 )
    {
        return search_one( world, sink, test_count );
    }
    return task_gather_run( &world->gather, world->memory, world->tasks, world->plan.block_count,
        search_piece, world, sink, test_count );
}
