// SPDX-License-Identifier: MIT
#include "engine/world.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    SINGLE = 3,    // so many blocks' boxes still go into one: cutting them costs more than it saves
    PLAN_LIFE = 8, // updates a plan may serve before it is made again, if it no longer fits
    HISTOGRAM_BOXES = 1 << 16 // about so many boxes are counted to make one
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
    base_memory_give( memory, world->boxes, world->box_capacity, sizeof( cell_box ) );
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

static bool reserve_boxes( block_world* world, uint64_t count )
{
    void* data = world->boxes;
    bool ok = base_memory_reserve( world->memory, &data, &world->box_capacity, 0, count, sizeof( cell_box ) );
    world->boxes = data;
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

static uint32_t block_count( const block_world* world )
{
    return world->plan.block_count > 0 ? world->plan.block_count : 1;
}

static bool reserve_workers( block_world* world )
{
    uint32_t workers = task_worker_count( world->tasks );
    uint32_t count = block_count( world ) > 1 ? workers : 1; // the others would find nothing to do
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
    for ( uint32_t i = 0; i < count && ok; ++i )
    {
        ok = cell_scratch_reserve( &world->scratches[i], world->memory, world->largest_block );
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
    if ( !block_plan_cut( &world->plan, world->memory, world->block_boxes ) )
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
        .out = world->boxes,
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
    fill_job job = { world, input, alone ? input->count : BLOCK_CHUNK };
    uint32_t pieces = ( input->count + job.chunk - 1 ) / job.chunk;
    if ( !reserve_numbers( world, input->count ) ||
        !reserve_places( world, pieces, world->plan.block_count ) )
    {
        return false;
    }
    task_run( world->tasks, assign_piece, pieces, &job );
    if ( !reserve_boxes( world, sum_places( world, pieces ) ) )
    {
        return false;
    }
    task_run( world->tasks, scatter_piece, pieces, &job );
    return true;
}

// Few boxes: one block, whose region is where most of them are.
static bool fill_one( block_world* world, const block_input* input )
{
    if ( !reserve_boxes( world, input->count ) || !reserve_places( world, 1, 1 ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < input->count; ++i )
    {
        world->boxes[i] = block_input_box( input, i );
    }
    cell_extent extent = block_measure( input );
    for ( int axis = 0; axis < 3; ++axis )
    {
        world->plan.grid.origin[axis] = extent.low[axis];
        world->plan.grid.dims[axis] = 1;
        float width = extent.high[axis] - extent.low[axis];
        world->plan.grid.scale[axis] = width > 0 ? CELL_STEPS / width : 1e30f;
    }
    world->plan.block_count = 0; // no plan for many
    world->starts[0] = 0;
    world->starts[1] = input->count;
    world->largest_block = input->count;
    return true;
}

bool block_world_fill( block_world* world, const block_input* input )
{
    bool ok = input->count <= (uint64_t)SINGLE * world->block_boxes ? fill_one( world, input )
                                                                    : fill_many( world, input );
    return ok && reserve_workers( world );
}

// ---- searching ---------------------------------------------------------------------------------------------------

static cell_job job_of( const block_world* world, uint32_t block, uint32_t worker )
{
    const block_plan* plan = &world->plan;
    uint32_t start = world->starts[block];
    cell_job job = {
        .boxes = world->boxes + start,
        .count = world->starts[block + 1] - start,
        .scratch = &world->scratches[worker],
        .counters = &world->counters[worker],
    };
    block_leaf leaf = { 0, 0 };
    if ( plan->block_count > 0 )
    {
        leaf = plan->leaves[block];
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        float side = CELL_STEPS / plan->grid.scale[axis];
        job.region_low[axis] =
            plan->grid.origin[axis] + (float)( leaf.first >> ( 16 * axis ) & 0xFFFF ) * side;
        job.region_high[axis] =
            plan->grid.origin[axis] + (float)( ( leaf.last >> ( 16 * axis ) & 0xFFFF ) + 1 ) * side;
    }
    return job;
}

static clv_result search_piece(
    uint32_t piece, uint32_t worker, pair_sink* sink, uint64_t* test_count, void* context )
{
    block_world* world = context;
    cell_job job = job_of( world, piece, worker );
    uint64_t before = job.counters->test_count;
    clv_result result = world->kernels->cells->search_block( &job, sink );
    *test_count += job.counters->test_count - before;
    return result;
}

clv_result block_world_search( block_world* world, pair_sink* sink, uint64_t* test_count )
{
    memset( world->counters, 0, (size_t)world->counter_capacity * sizeof( cell_counters ) );
    uint32_t blocks = block_count( world );
    if ( blocks == 1 )
    {
        return search_piece( 0, 0, sink, test_count, world ); // nothing to join
    }
    return task_gather_run(
        &world->gather, world->memory, world->tasks, blocks, search_piece, world, sink, test_count );
}
