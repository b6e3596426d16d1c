// SPDX-License-Identifier: MIT
#include "engine/engine_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

enum
{
    FLAT = 40,         // so many blocks' boxes still go into one grid: cutting them costs more than it saves
    PLAN_LIFE = 8,     // updates a plan may serve before it is made again, if it no longer fits
    MANY_BLOCKS = 256, // from so many on blocks grow with the world, LARGE_BLOCK times at most
    LARGE_BLOCK = 4,
    HISTOGRAM_BOXES = 1 << 16, // about so many boxes are counted to make one
    PLAN_HOLD_SAMPLES = 128,
    PIECES_PER_WORKER = 4,
    SHARP_STAY = 64, // updates
    SHARP_TIES = 2,  // in vain for every box
};

// Workers take no memory, so each gets what the largest block may need.
static bool reserve_scratches( clv_engine* engine )
{
    uint32_t workers = task_worker_count( engine->tasks );
    uint32_t cells = cell_count_most( engine->largest_block );
    bool ok = clv_engine_reserve_workers( engine );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        cell_scratch* scratch = &engine->scratches.items[i];
        ok = clv_engine_cell_scratch_reserve_cells( scratch, engine->memory, cells, cells, cells ) &&
            clv_engine_cell_scratch_reserve_entries(
                scratch, engine->memory, cell_layout_most( engine->largest_block ) );
    }
    return ok;
}

// ---- filling

// Of PLAN_HOLD_SAMPLES boxes, about, those that lie beyond the plan's grids: there they are all alike, and
// have to be told apart in float.
static uint32_t count_outside( const block_plan* plan, const clv_method_input* input )
{
    uint32_t outside = 0;
    uint32_t step = input->live_count / PLAN_HOLD_SAMPLES + 1;
    for ( uint32_t first = 0; first < input->live_count; first += step )
    {
        uint32_t sample = base_sample_step( first, step, input->live_count );
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, sample )];
        outside += clv_engine_cell_grid_misses( &plan->grid, box );
    }
    return outside;
}

// Boxes in a block of the plan, about. Trays of many blocks leave the second-level cache, so a large world
// has larger blocks, which a search still finds there.
static uint32_t boxes_of_block( const clv_engine* engine )
{
    uint64_t most = (uint64_t)LARGE_BLOCK * engine->block_boxes;
    uint32_t share = engine->plan_count / MANY_BLOCKS;
    return share <= engine->block_boxes ? engine->block_boxes : share < most ? share : (uint32_t)most;
}

static bool plan_fits( const clv_engine* engine, const clv_method_input* input )
{
    uint32_t count = input->live_count;
    if ( engine->plan.block_count == 0 || count > 2 * engine->plan_count || count < engine->plan_count / 2 )
    {
        return false;
    }
    // Some may always lie far out: count only boxes that left since planning. A young plan is given up only
    // if nearly all did.
    uint32_t went = count_outside( &engine->plan, input );
    went = went > engine->plan_outside ? went - engine->plan_outside : 0;
    if ( engine->plan_age < PLAN_LIFE )
    {
        return went <= PLAN_HOLD_SAMPLES / 4;
    }
    return engine->largest_block <= 2 * (uint64_t)boxes_of_block( engine ) && went <= PLAN_HOLD_SAMPLES / 32;
}

static bool make_plan( clv_engine* engine, const clv_method_input* input )
{
    engine->plan.block_count = 0;
    engine->plan_count = input->live_count;
    uint32_t block_boxes = boxes_of_block( engine );
    if ( !clv_engine_plan_place( &engine->plan, engine->memory, input, block_boxes ) )
    {
        return false;
    }
    uint32_t step = input->live_count / HISTOGRAM_BOXES + 1;
    clv_engine_plan_count( &engine->plan, input, step );
    if ( !clv_engine_plan_cut( &engine->plan, engine->memory, block_boxes ) ||
        !clv_engine_plan_choose_grids( &engine->plan, engine->memory, input ) )
    {
        engine->plan.block_count = 0;
        return false;
    }
    engine->reasons |= CLV_REASON_PLAN;
    engine->plan_age = 0;
    engine->plan_outside = count_outside( &engine->plan, input );
    return true;
}

typedef struct fill_job
{
    const clv_engine* engine;
    const clv_method_input* input;
    uint32_t chunk; ///< boxes per piece
} fill_job;

// Trays of a worker, before those of the next.
static uint64_t tray_stride( const clv_engine* engine )
{
    return ( (uint64_t)engine->plan.block_count + BASE_ALIGNMENT - 1 ) / BASE_ALIGNMENT * BASE_ALIGNMENT;
}

static void scatter_to_blocks(
    uint32_t piece, uint32_t worker, cell_segment* segments, cell_record* records, void* context )
{
    const fill_job* job = context;
    CLV_ASSERT( piece * (uint64_t)job->chunk < job->input->live_count );
    size_t first_tray = (size_t)( worker * tray_stride( job->engine ) );
    uint32_t first = piece * job->chunk, left = job->input->live_count - first;
    block_work work = {
        .kernels = job->engine->kernels->cells,
        .plan = &job->engine->plan,
        .input = job->input,
        .first = first,
        .last = first + ( left < job->chunk ? left : job->chunk ),
        .trays = { job->engine->trays.items + first_tray, job->engine->tray_counts.items + first_tray },
        .segments = segments,
        .out = records,
        .may_stream = true,
    };
    clv_engine_block_scatter( &work );
}

static void measure_blocks( clv_engine* engine )
{
    engine->largest_block = 0;
    engine->in_blocks = 0;
    for ( uint32_t block = 0; block < engine->plan.block_count; ++block )
    {
        uint32_t count = clv_engine_segments_count( &engine->segments, block );
        engine->largest_block = count > engine->largest_block ? count : engine->largest_block;
        engine->in_blocks += count;
    }
}

// Boxes to the blocks of the plan.
static bool fill_blocks( clv_engine* engine, const clv_method_input* input )
{
    // Alone, all of a block lies in one segment and can be searched there.
    uint32_t workers = task_worker_count( engine->tasks );
    uint32_t pieces = workers > 1 ? PIECES_PER_WORKER * workers : 1;
    pieces = pieces < SEGMENTS_PIECES ? pieces : SEGMENTS_PIECES;
    uint32_t chunks = ( input->live_count + BLOCK_CHUNK - 1 ) / BLOCK_CHUNK;
    fill_job job = { engine, input, ( chunks + pieces - 1 ) / pieces * BLOCK_CHUNK };
    pieces = ( input->live_count + job.chunk - 1 ) / job.chunk;
    uint64_t tray_count = workers * tray_stride( engine );
    bool ok = base_array_extend( &engine->trays, engine->memory, tray_count ) &&
        base_array_extend( &engine->tray_counts, engine->memory, tray_count ) &&
        clv_engine_segments_fill( &engine->segments, engine->memory, engine->tasks, engine->plan.block_count,
            pieces, scatter_to_blocks, &job );
    if ( ok )
    {
        measure_blocks( engine );
        CLV_ASSERT( engine->in_blocks >= input->live_count && engine->largest_block > 0 );
    }
    return ok;
}

// Has a block become much larger than the plan's largest was?
static bool has_outgrown( const clv_engine* engine )
{
    uint32_t planned = boxes_of_block( engine );
    uint32_t most = engine->plan_largest > planned ? engine->plan_largest : planned;
    return engine->plan_age > 0 && engine->largest_block / 2 > most;
}

static bool fill_many( clv_engine* engine, const clv_method_input* input )
{
    bool ok = ( plan_fits( engine, input ) || make_plan( engine, input ) ) && fill_blocks( engine, input );
    if ( ok && has_outgrown( engine ) )
    {
        ok = make_plan( engine, input ) && fill_blocks( engine, input );
    }
    engine->plan_largest = engine->plan_age == 0 ? engine->largest_block : engine->plan_largest;
    engine->plan_age += 1;
    uint32_t workers = task_worker_count( engine->tasks );
    return ok && reserve_scratches( engine ) &&
        ( workers == 1 ||
            base_array_renew( &engine->records, engine->memory, (uint64_t)engine->largest_block * workers ) );
}

bool clv_engine_fill( clv_engine* engine, const clv_method_input* given )
{
    clv_method_input input = *given;
    engine->exact = given->boxes;
    if ( !clv_engine_axes_apply( engine, &input ) )
    {
        return false;
    }
    engine->boxes = input.boxes;
    bool ok = input.live_count <= (uint64_t)FLAT * engine->block_boxes
        ? clv_engine_fill_flat( engine, &input )
        : fill_many( engine, &input );
    if ( ok )
    {
        CLV_VALIDATE( clv_engine_check( engine, &input ) == NULL );
    }
    return ok;
}

// ---- searching

// The records of a block, in one place. A search may make them anew in another grid, and many have to search
// a block again, should there be too few chunks for pairs; so only a single worker needs no copy.
static cell_record* records_of( const clv_engine* engine, uint32_t block, uint32_t worker, uint32_t* count )
{
    const engine_segments* segments = &engine->segments;
    if ( task_worker_count( engine->tasks ) == 1 )
    {
        CLV_ASSERT( block < segments->target_count );
        *count = segments->list.items[block].count;
        return segments->records.items + segments->list.items[block].first;
    }
    CLV_ASSERT( ( (uint64_t)worker + 1 ) * engine->largest_block <= engine->records.capacity );
    cell_record* records = engine->records.items + (size_t)worker * engine->largest_block;
    *count = clv_engine_segments_bring( segments, block, records );
    CLV_ASSERT( *count <= engine->largest_block );
    return records;
}

static clv_result search_piece(
    uint32_t block, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    clv_engine* engine = context;
    cell_counters counters = { 0 }; // neighbours in the array are written by other workers
    cell_job job = {
        .kernels = engine->kernels->cells,
        .boxes = engine->boxes,
        .exact = engine->exact,
        .cut = clv_engine_cut_boxes( engine ),
        .is_sharpened = engine->axes.sharp_left > 0,
        .grid = engine->plan.grids.items[block],
        .scratch = &engine->scratches.items[worker],
        .counters = &counters,
    };
    job.records = records_of( engine, block, worker, &job.count );
    clv_engine_plan_open_region( &engine->plan, block, job.region_low, job.region_high );
    clv_result result = clv_engine_cell_search_block( &job, sink );
    if ( result == CLV_OK ) // or it is searched again
    {
        clv_engine_count( engine, worker, &counters );
    }
    *test_count += counters.test_count;
    return result;
}

// Where many tests in float were in vain, cells are seen at a finer scale for a while. Counters decide, never
// a clock: the same calls give the same order everywhere.
static void note_ties( clv_engine* engine )
{
    engine_axes* axes = &engine->axes;
    uint64_t failed_count = clv_engine_counters( engine ).failed_count;
    bool is_blurred = axes->sharp_left == 0 && failed_count > SHARP_TIES * (uint64_t)axes->count_now;
    axes->sharp_left = is_blurred ? SHARP_STAY : axes->sharp_left - ( axes->sharp_left > 0 );
}

clv_result clv_engine_search( clv_engine* engine, clv_pair_sink* sink, uint64_t* test_count )
{
    memset( engine->counters.items, 0, (size_t)engine->counters.capacity * sizeof( cell_counters ) );
    clv_result result = engine->plan.block_count == 0
        ? clv_engine_search_flat( engine, sink, test_count )
        : clv_task_gather_run( &engine->gather, engine->memory, engine->tasks, engine->plan.block_count,
              search_piece, engine, sink, test_count );
    if ( result == CLV_OK )
    {
        note_ties( engine );
    }
    return result;
}
