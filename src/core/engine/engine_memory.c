// SPDX-License-Identifier: MIT
#include "engine/engine_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

void clv_engine_init( clv_engine* engine, base_memory* memory, const simd_kernels* kernels,
    task_runner* tasks, uint32_t block_boxes, uint32_t alone_boxes, uint32_t strip_boxes )
{
    *engine = ( clv_engine ){
        .memory = memory,
        .kernels = kernels,
        .tasks = tasks,
        .block_boxes = block_boxes,
        .alone_boxes = alone_boxes,
        .strip_boxes = strip_boxes,
        .strip_axis = -1,
    };
}

BASE_COLD void clv_engine_release( clv_engine* engine )
{
    base_memory* memory = engine->memory;
    clv_engine_plan_release( &engine->plan, memory );
    base_array_free( &engine->axes.boxes, memory );
    base_array_free( &engine->records, memory );
    base_array_free( &engine->trays, memory );
    base_array_free( &engine->tray_counts, memory );
    base_array_free( &engine->starts, memory );
    base_array_free( &engine->slab_of_cell, memory );
    clv_engine_segments_release( &engine->segments, memory );
    for ( uint64_t i = 0; i < engine->scratches.capacity; ++i )
    {
        clv_engine_cell_scratch_release( &engine->scratches.items[i], memory );
    }
    base_array_free( &engine->scratches, memory );
    base_array_free( &engine->counters, memory );
    clv_task_gather_release( &engine->gather, memory );
    clv_engine_init( engine, memory, engine->kernels, engine->tasks, engine->block_boxes, engine->alone_boxes,
        engine->strip_boxes );
}

bool clv_engine_reserve_workers( clv_engine* engine )
{
    uint32_t workers = task_worker_count( engine->tasks );
    return base_array_extend( &engine->scratches, engine->memory, workers ) &&
        base_array_extend( &engine->counters, engine->memory, workers );
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
    for ( uint64_t worker = 0; worker < engine->counters.capacity; ++worker )
    {
        add_counters( &sum, &engine->counters.items[worker] );
    }
    return sum;
}

void clv_engine_count( clv_engine* engine, uint32_t worker, const cell_counters* done )
{
    CLV_ASSERT( worker < engine->counters.capacity );
    add_counters( &engine->counters.items[worker], done );
}
