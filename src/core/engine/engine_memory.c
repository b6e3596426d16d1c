// SPDX-License-Identifier: MIT
#include "engine/engine_internal.h"

#include "base/assertion.h"

#include <string.h>

void clv_engine_init( clv_engine* engine, base_memory* memory, const simd_kernels* kernels,
    task_runner* tasks, uint32_t block_boxes, uint32_t alone_boxes )
{
    *engine = ( clv_engine ){
        .memory = memory,
        .kernels = kernels,
        .tasks = tasks,
        .block_boxes = block_boxes,
        .alone_boxes = alone_boxes,
    };
}

void clv_engine_release( clv_engine* engine )
{
    base_memory* memory = engine->memory;
    clv_engine_plan_release( &engine->plan, memory );
    clv_base_memory_give( memory, engine->axes.boxes, engine->axes.box_capacity, sizeof( clv_aabb ) );
    clv_base_memory_give( memory, engine->axes.keys, engine->axes.key_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( memory, engine->records, engine->record_capacity, sizeof( cell_record ) );
    clv_base_memory_give( memory, engine->starts, engine->start_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, engine->slab_of_cell, engine->slab_map_capacity, sizeof( uint8_t ) );
    clv_engine_segments_release( &engine->segments, memory );
    for ( uint64_t i = 0; i < engine->scratch_capacity; ++i )
    {
        clv_engine_cell_scratch_release( &engine->scratches[i], memory );
    }
    clv_base_memory_give( memory, engine->scratches, engine->scratch_capacity, sizeof( cell_scratch ) );
    clv_base_memory_give( memory, engine->counters, engine->counter_capacity, sizeof( cell_counters ) );
    clv_task_gather_release( &engine->gather, memory );
    clv_engine_init(
        engine, memory, engine->kernels, engine->tasks, engine->block_boxes, engine->alone_boxes );
}

bool clv_engine_reserve_records( clv_engine* engine, uint64_t count )
{
    void* data = engine->records;
    bool ok = clv_base_memory_renew(
        engine->memory, &data, &engine->record_capacity, count, sizeof( cell_record ) );
    engine->records = data;
    return ok;
}

bool clv_engine_reserve_starts( clv_engine* engine, uint64_t count )
{
    void* data = engine->starts;
    bool ok = clv_base_memory_reserve(
        engine->memory, &data, &engine->start_capacity, 0, count + 1, sizeof( uint32_t ) );
    engine->starts = data;
    return ok;
}

bool clv_engine_reserve_slab_map( clv_engine* engine, uint64_t count )
{
    void* data = engine->slab_of_cell;
    bool ok = clv_base_memory_reserve(
        engine->memory, &data, &engine->slab_map_capacity, 0, count, sizeof( uint8_t ) );
    engine->slab_of_cell = data;
    return ok;
}

bool clv_engine_reserve_workers( clv_engine* engine )
{
    uint32_t workers = task_worker_count( engine->tasks );
    if ( engine->scratch_capacity == 0 )
    {
        void* scratches = NULL;
        if ( !clv_base_memory_reserve(
                 engine->memory, &scratches, &engine->scratch_capacity, 0, workers, sizeof( cell_scratch ) ) )
        {
            return false;
        }
        memset( scratches, 0, (size_t)engine->scratch_capacity * sizeof( cell_scratch ) );
        engine->scratches = scratches;
    }
    void* counters = engine->counters;
    bool ok = clv_base_memory_reserve(
        engine->memory, &counters, &engine->counter_capacity, 0, workers, sizeof( cell_counters ) );
    engine->counters = counters;
    return ok;
}

static task_runner s_single_thread; // zero: the calling thread alone

task_runner* clv_engine_tasks_for( clv_engine* engine, uint32_t count )
{
    return count > engine->alone_boxes ? engine->tasks : &s_single_thread;
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

cell_counters clv_engine_counters( const clv_engine* engine )
{
    cell_counters sum = { 0 };
    for ( uint64_t worker = 0; worker < engine->counter_capacity; ++worker )
    {
        add_counters( &sum, &engine->counters[worker] );
    }
    return sum;
}

void clv_engine_count( clv_engine* engine, uint32_t worker, const cell_counters* done )
{
    CLV_ASSERT( worker < engine->counter_capacity );
    add_counters( &engine->counters[worker], done );
}
