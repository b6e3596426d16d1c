// SPDX-License-Identifier: MIT
#include "engine/world_internal.h"

#include "base/assertion.h"

#include <string.h>

void clv_engine_init( block_world* world, base_memory* memory, const simd_kernels* kernels,
    task_runner* tasks, uint32_t block_boxes, uint32_t alone_boxes )
{
    *world = ( block_world ){
        .memory = memory,
        .kernels = kernels,
        .tasks = tasks,
        .block_boxes = block_boxes,
        .alone_boxes = alone_boxes,
    };
}

void clv_engine_release( block_world* world )
{
    base_memory* memory = world->memory;
    clv_engine_plan_release( &world->plan, memory );
    clv_base_memory_give( memory, world->axes.boxes, world->axes.box_capacity, sizeof( clv_aabb ) );
    clv_base_memory_give( memory, world->axes.keys, world->axes.key_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( memory, world->records, world->record_capacity, sizeof( cell_record ) );
    clv_base_memory_give( memory, world->starts, world->start_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, world->slab_of_cell, world->slab_map_capacity, sizeof( uint8_t ) );
    clv_engine_segments_release( &world->segments, memory );
    for ( uint64_t i = 0; i < world->scratch_capacity; ++i )
    {
        clv_engine_cell_scratch_release( &world->scratches[i], memory );
    }
    clv_base_memory_give( memory, world->scratches, world->scratch_capacity, sizeof( cell_scratch ) );
    clv_base_memory_give( memory, world->counters, world->counter_capacity, sizeof( cell_counters ) );
    clv_task_gather_release( &world->gather, memory );
    clv_engine_init( world, memory, world->kernels, world->tasks, world->block_boxes, world->alone_boxes );
}

bool clv_engine_reserve_records( block_world* world, uint64_t count )
{
    void* data = world->records;
    bool ok =
        clv_base_memory_renew( world->memory, &data, &world->record_capacity, count, sizeof( cell_record ) );
    world->records = data;
    return ok;
}

bool clv_engine_reserve_starts( block_world* world, uint64_t count )
{
    void* data = world->starts;
    bool ok = clv_base_memory_reserve(
        world->memory, &data, &world->start_capacity, 0, count + 1, sizeof( uint32_t ) );
    world->starts = data;
    return ok;
}

bool clv_engine_reserve_slab_map( block_world* world, uint64_t count )
{
    void* data = world->slab_of_cell;
    bool ok = clv_base_memory_reserve(
        world->memory, &data, &world->slab_map_capacity, 0, count, sizeof( uint8_t ) );
    world->slab_of_cell = data;
    return ok;
}

bool clv_engine_reserve_workers( block_world* world )
{
    uint32_t workers = task_worker_count( world->tasks );
    if ( world->scratch_capacity == 0 )
    {
        void* scratches = NULL;
        if ( !clv_base_memory_reserve(
                 world->memory, &scratches, &world->scratch_capacity, 0, workers, sizeof( cell_scratch ) ) )
        {
            return false;
        }
        memset( scratches, 0, (size_t)world->scratch_capacity * sizeof( cell_scratch ) );
        world->scratches = scratches;
    }
    void* counters = world->counters;
    bool ok = clv_base_memory_reserve(
        world->memory, &counters, &world->counter_capacity, 0, workers, sizeof( cell_counters ) );
    world->counters = counters;
    return ok;
}

static task_runner s_single_thread; // zero: the calling thread alone

task_runner* clv_engine_tasks_for( block_world* world, uint32_t count )
{
    return count > world->alone_boxes ? world->tasks : &s_single_thread;
}

static void add_counters( cell_counters* all, const cell_counters* done )
{
    all->cell_count += done->cell_count;
    all->entry_count += done->entry_count;
    all->test_count += done->test_count;
    all->candidate_count += done->candidate_count;
    all->tie_count += done->tie_count;
    all->failed_count += done->failed_count;
}

cell_counters clv_engine_counters( const block_world* world )
{
    cell_counters sum = { 0 };
    for ( uint64_t worker = 0; worker < world->counter_capacity; ++worker )
    {
        add_counters( &sum, &world->counters[worker] );
    }
    return sum;
}

void clv_engine_count( block_world* world, uint32_t worker, const cell_counters* done )
{
    CLV_ASSERT( worker < world->counter_capacity );
    add_counters( &world->counters[worker], done );
}
