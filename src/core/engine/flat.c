// SPDX-License-Identifier: MIT
// One grid over all boxes, shared by all workers. Boxes become records of slabs, rows of cells about equally
// heavy; each slab is counted, and then placed and searched at one go by one worker, so that no two touch the
// same lines of memory and what is placed is read from where it is near. One worker alone is a crew of one
// with one slab. What lies in a cell, and in which order, depends neither on slabs nor on pieces.
#include "engine/engine_internal.h"

#include "base/assertion.h"

#include <math.h>
#include <string.h>

enum
{
    PIECE_PARTS = 2, // at least: what is scattered in one go
};

// A fill while it is under way.
typedef struct flat_fill
{
    cell_crew crew; ///< first: its functions get no other address
    clv_engine* engine;
    const clv_method_input* input;
    task_runner* tasks;
    uint32_t piece_count, piece_slots;
    uint32_t rounds; ///< grids that were filled
} flat_fill;

// Of all space: what lies beyond the grid is in its border cells.
static void open_region( float low[3], float high[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        low[axis] = -INFINITY;
        high[axis] = INFINITY;
    }
}

// ---- records

// The first box from `slot` on.
static uint32_t box_from( const clv_method_input* input, uint64_t slot )
{
    uint32_t low = 0, high = input->live_count;
    if ( input->live == NULL )
    {
        return slot < high ? (uint32_t)slot : high;
    }
    while ( low < high )
    {
        uint32_t middle = low + ( high - low ) / 2;
        low = input->live[middle] < slot ? middle + 1 : low;
        high = input->live[middle] < slot ? high : middle;
    }
    return low;
}

static void scatter_to_slabs(
    uint32_t piece, uint32_t worker, cell_segment* segments, cell_record* records, void* context )
{
    (void)worker;
    const flat_fill* fill = context;
    slab_work work = {
        .kernels = fill->engine->kernels->cells,
        .input = fill->input,
        .grid = &fill->engine->flat.grid,
        .first = box_from( fill->input, (uint64_t)piece * fill->piece_slots ),
        .last = box_from( fill->input, ( (uint64_t)piece + 1 ) * fill->piece_slots ),
        .slab_of_cell = fill->engine->slab_of_cell.items,
        .slab_count = fill->engine->slabs.count,
        .segments = segments,
        .out = records,
    };
    clv_engine_slab_scatter( &work );
}

// The slab of each cell, written anew only where slabs are others: every worker has its lines.
static bool map_cells( clv_engine* engine )
{
    const engine_slabs* slabs = &engine->slabs;
    uint32_t width = engine->flat.grid.dims[0], cell_count = cell_grid_count( &engine->flat.grid );
    if ( engine->slab_of_cell.capacity >= cell_count && engine->mapped.count == slabs->count &&
        memcmp( engine->mapped.dims, slabs->dims, sizeof( slabs->dims ) ) == 0 &&
        memcmp( engine->mapped.rows, slabs->rows, ( slabs->count + 1 ) * sizeof( uint32_t ) ) == 0 )
    {
        return true;
    }
    engine->mapped.count = 0;
    if ( !base_array_reserve( &engine->slab_of_cell, engine->memory, cell_count ) )
    {
        return false;
    }
    for ( uint32_t slab = 0; slab < slabs->count; ++slab )
    {
        uint32_t first = slabs->rows[slab] * width, end = slabs->rows[slab + 1] * width;
        memset( engine->slab_of_cell.items + first, (int)slab, end - first );
    }
    engine->mapped = *slabs;
    return true;
}

// Boxes to their slabs, as records. False if out of memory.
static bool scatter( flat_fill* fill )
{
    clv_engine* engine = fill->engine;
    const engine_slabs* slabs = &engine->slabs;
    return map_cells( engine ) &&
        clv_engine_segments_fill( &engine->segments, engine->memory, fill->tasks, slabs->count,
            fill->piece_count, scatter_to_slabs, fill ) &&
        clv_engine_reserve_slabs( engine, task_worker_count( fill->tasks ) );
}

void clv_engine_make_all( clv_engine* engine, const clv_method_input* input )
{
    const scaling s = scaling_of( &engine->flat.grid );
    cell_boxes all = cell_boxes_part( input, 0, input->live_count );
    engine->kernels->cells->make_records( &all, &s, engine->records.items );
}

// Cells that the slab with most of them is reached from.
static uint32_t most_counted( const clv_engine* engine )
{
    uint32_t most = 0;
    for ( uint32_t slab = 0; slab < engine->slabs.count; ++slab )
    {
        uint32_t rows = engine->slabs.rows[slab + 1] - engine->slabs.rows[slab];
        most = rows > most ? rows : most;
    }
    return cell_count_reached( &engine->flat.grid, most * engine->flat.grid.dims[0] );
}

// Memory for counting, by the job's present grid; what lies within a crowded cell needs more later.
static bool reserve_cells( flat_fill* fill, uint32_t stack )
{
    clv_engine* engine = fill->engine;
    uint32_t workers = task_worker_count( fill->tasks ), cell_count = cell_grid_count( &engine->flat.grid );
    uint32_t most = cell_count_most( fill->input->live_count ); // a grid kept from more boxes may have more
    bool ok = base_array_reserve( &engine->starts, engine->memory,
                  (uint64_t)( cell_count > most ? cell_count : most ) + 1 ) &&
        ( engine->slabs.count > 1 ||
            base_array_renew( &engine->records, engine->memory, fill->input->live_count ) );
    uint32_t counted = most_counted( engine );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        ok = clv_engine_cell_scratch_reserve_cells( &engine->scratches.items[i], engine->memory,
            counted > stack ? counted : stack, cell_count, stack );
    }
    return ok;
}

static bool fill_slabs( cell_crew* crew )
{
    flat_fill* fill = (flat_fill*)crew;
    clv_engine* engine = fill->engine;
    fill->rounds += 1;
    clv_engine_cut_slabs( engine, fill->input, task_worker_count( fill->tasks ) );
    if ( !reserve_cells( fill, 0 ) )
    {
        return false;
    }
    crew->counts = engine->starts.items;
    CLV_ASSERT( engine->slabs.count <= ENGINE_SLABS );
    if ( engine->slabs.count > 1 )
    {
        return scatter( fill );
    }
    clv_engine_make_all( engine, fill->input );
    return true;
}

// ---- laying

// One worker's only slab has its records in one place already.
static cell_share bring_slab( const clv_engine* engine, uint32_t slab, uint32_t worker )
{
    return engine->slabs.count == 1 ? clv_engine_share_of( engine, slab )
                                    : clv_engine_bring_slab( engine, slab, worker );
}

static void count_slab( uint32_t slab, uint32_t worker, void* context )
{
    flat_fill* fill = context;
    clv_engine* engine = fill->engine;
    cell_scratch* scratch = &engine->scratches.items[worker];
    cell_share share = bring_slab( engine, slab, worker );
    engine->found[slab].fits =
        clv_engine_cell_count_entries( &engine->flat, &share, scratch->kinds, scratch->starts );
    memcpy( engine->starts.items + share.first_cell, scratch->starts + share.first_cell,
        ( share.last_cell - share.first_cell ) * sizeof( uint32_t ) );
}

static bool count_slabs( cell_crew* crew )
{
    flat_fill* fill = (flat_fill*)crew;
    uint32_t slabs = fill->engine->slabs.count;
    bool fits = true;
    clv_task_run( fill->tasks, count_slab, slabs, fill );
    for ( uint32_t slab = 0; slab < slabs; ++slab )
    {
        fits = fits && fill->engine->found[slab].fits;
    }
    return fits;
}

static uint32_t live_slot_of( const cell_crew* crew, uint32_t index )
{
    const flat_fill* fill = (const flat_fill*)crew;
    return clv_method_live_slot( fill->input, index );
}

// All boxes may have moved elsewhere: a grid that was kept is chosen anew before it is refined.
static void reconsider( cell_crew* crew )
{
    flat_fill* fill = (flat_fill*)crew;
    clv_engine* engine = fill->engine;
    engine->reasons |= CLV_REASON_RELAID;
    if ( engine->grid_age > 0 )
    {
        clv_engine_choose_grid( engine, fill->input, false );
        engine->flat.grid = engine->chosen;
        crew->extent = engine->flat_extent;
        crew->zoom_count = 0;
    }
}

// Entries of the slab that has most.
static uint32_t most_entries( const clv_engine* engine )
{
    const uint32_t* starts = engine->starts.items;
    const uint32_t* rows = engine->slabs.rows;
    uint32_t width = engine->flat.grid.dims[0], most = 0;
    for ( uint32_t slab = 0; slab < engine->slabs.count; ++slab )
    {
        uint32_t here = starts[rows[slab + 1] * width] - starts[rows[slab] * width];
        most = here > most ? here : most;
    }
    return most;
}

// Memory for placing a slab and searching it; crowded cells have grids within them.
static bool reserve_search( flat_fill* fill, cell_layout layout )
{
    clv_engine* engine = fill->engine;
    uint32_t workers = task_worker_count( fill->tasks );
    CLV_ASSERT( most_entries( engine ) <= layout.entry_count );
    cell_layout of_slab = { most_entries( engine ), layout.fullest, 0 };
    uint32_t stack = layout.fullest > CELL_OVERFULL ? 2 * cell_count_most( layout.fullest ) : 0;
    bool ok = stack == 0 || reserve_cells( fill, stack );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        ok = clv_engine_cell_scratch_reserve_entries( &engine->scratches.items[i], engine->memory, of_slab );
    }
    return ok;
}

// So few boxes that all are in one cell: their records are its entries as they are.
static bool fill_one_cell( clv_engine* engine, const clv_method_input* input )
{
    uint32_t count = input->live_count;
    if ( !base_array_renew( &engine->records, engine->memory, (uint64_t)count + CELL_SLACK ) ||
        !base_array_reserve( &engine->starts, engine->memory, 2 ) ||
        !clv_engine_cell_scratch_reserve_entries(
            &engine->scratches.items[0], engine->memory, ( cell_layout ){ 0, count, 0 } ) )
    {
        return false;
    }
    CLV_ASSERT( cell_grid_count( &engine->flat.grid ) == 1 );
    clv_engine_make_all( engine, input );
    memset( engine->records.items + count, 0, CELL_SLACK * sizeof( cell_record ) );
    engine->starts.items[0] = 0;
    engine->starts.items[1] = count;
    engine->flat.starts = engine->starts.items;
    engine->flat.entries = engine->records.items;
    engine->slabs = ( engine_slabs ){ .dims = { 1, 1, 1 }, .wanted = 1, .count = 1, .rows = { 0, 1 } };
    engine->grid_age += 1;
    return true;
}

// Whole parts, as many as there are pieces for, and whatever the number of workers.
static flat_fill begin_fill( clv_engine* engine, const clv_method_input* input )
{
    flat_fill fill;
    memset( &fill, 0, sizeof( fill ) );
    fill.engine = engine;
    fill.input = input;
    fill.tasks = clv_engine_tasks_for( engine, input->live_count );
    uint64_t slots = (uint64_t)clv_method_live_slot( input, input->live_count - 1 ) + 1;
    uint64_t parts = ( slots + CELL_PART - 1 ) / CELL_PART,
             at_once = ( parts + SEGMENTS_PIECES - 1 ) / SEGMENTS_PIECES;
    at_once = at_once > PIECE_PARTS ? at_once : PIECE_PARTS;
    fill.piece_slots = (uint32_t)( at_once * CELL_PART );
    fill.piece_count = (uint32_t)( ( parts + at_once - 1 ) / at_once );
    return fill;
}

// Entries of a cell up to which it has no say in which grid is laid, and needs none of its own.
static uint32_t most_trusted( const clv_engine* engine )
{
    return engine->flat.count / 2 < CELL_OVERFULL ? engine->flat.count / 2 : CELL_OVERFULL;
}

static bool fill_cells( clv_engine* engine, const clv_method_input* input )
{
    flat_fill fill = begin_fill( engine, input );
    fill.crew.job = &engine->flat;
    fill.crew.extent = engine->flat_extent;
    fill.crew.is_measured = true;
    fill.crew.make = fill_slabs;
    fill.crew.count = count_slabs;
    fill.crew.reconsider = reconsider;
    fill.crew.slot = live_slot_of;
    open_region( fill.crew.low, fill.crew.high );
    cell_layout layout;
    engine->has_served = false;
    if ( !clv_engine_cell_lay( &fill.crew, &layout ) )
    {
        return false;
    }
    engine->chosen = engine->flat.grid; // as it turned out to be needed
    engine->grid_age += 1;
    uint32_t cell_count = cell_grid_count( &engine->flat.grid );
    engine->starts.items[cell_count] = clv_engine_cell_sum_starts( engine->starts.items, cell_count );
    CLV_ASSERT( engine->starts.items[cell_count] == layout.entry_count );
    if ( !reserve_search( &fill, layout ) )
    {
        return false;
    }
    clv_engine_remember_slabs( engine );
    engine->flat.entries = NULL; // each worker places its slabs
    engine->has_served =
        fill.rounds == 1 && engine->slabs.count > 1 && layout.fullest <= most_trusted( engine );
    engine->trusted_entries = most_entries( engine ) / 4 * 5 + CELL_OVERFULL;
    return true;
}

// ---- trusting

// Did the last update's grid and slabs serve as they were? Then it is likely that they do again, and each
// worker counts its slabs when it searches them: the workers meet once less. Whether they did is known
// afterwards, and if not, what was found is dropped.
static bool may_trust( const clv_engine* engine, const clv_method_input* input )
{
    return engine->has_served && engine->grid_age > 0 &&
        task_worker_count( clv_engine_tasks_for( (clv_engine*)engine, input->live_count ) ) > 1;
}

static bool fill_trusted( clv_engine* engine, const clv_method_input* input )
{
    flat_fill fill = begin_fill( engine, input );
    uint32_t workers = task_worker_count( fill.tasks );
    clv_engine_cut_slabs( engine, input, workers );
    bool ok = reserve_cells( &fill, 0 ) && scatter( &fill );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        ok = clv_engine_cell_scratch_reserve_entries( &engine->scratches.items[i], engine->memory,
            ( cell_layout ){ engine->trusted_entries, CELL_OVERFULL, 0 } );
    }
    engine->grid_age += ok;
    engine->flat.entries = NULL;
    engine->is_trusted = ok;
    engine->trusted_input = *input;
    return ok;
}

bool clv_engine_fill_flat( clv_engine* engine, const clv_method_input* input )
{
    engine->plan.block_count = 0;
    engine->largest_block = input->live_count;
    engine->is_trusted = false;
    if ( !clv_engine_reserve_workers( engine ) )
    {
        return false;
    }
    engine->flat.kernels = engine->kernels->cells;
    engine->flat.boxes = input->boxes;
    engine->flat.exact = engine->exact;
    engine->flat.cut = clv_engine_cut_boxes( engine );
    engine->flat.is_sharpened = engine->axes.sharp_left > 0;
    engine->flat.count = input->live_count;
    if ( !clv_engine_grid_serves( engine, input ) )
    {
        clv_engine_choose_grid( engine, input, engine->axes.sharp_left == 0 );
    }
    engine->flat.grid = engine->chosen;
    if ( engine->strip_axis >= 0 )
    {
        return clv_engine_strip_fill( engine, input );
    }
    return input->live_count <= CELL_ALONE ? fill_one_cell( engine, input )
        : may_trust( engine, input )       ? fill_trusted( engine, input )
                                           : fill_cells( engine, input );
}

// ---- searching

// A slab's entries to its cells, in the worker's own memory. While they are placed, starts[cell + 1] is where
// the next one of `cell` goes; afterwards, where the next cell begins.
static void place_slab( cell_job* job, const cell_share* share, uint32_t entry_count )
{
    uint32_t* starts = job->scratch->starts;
    job->starts = starts;
    job->entries = job->scratch->entries;
    clv_engine_cell_place_entries( job, share, starts + 1, entry_count );
    CLV_ASSERT( starts[share->last_cell] == entry_count );
    CLV_VALIDATE( clv_engine_cell_check( job, share ) == NULL );
    memset( job->entries + entry_count, 0, CELL_SLACK * sizeof( cell_entry ) );
}

// One whose cells were counted by any worker before.
static void place_counted( const clv_engine* engine, uint32_t slab, uint32_t worker, cell_job* job )
{
    cell_share share = bring_slab( engine, slab, worker );
    uint32_t base = engine->starts.items[share.first_cell];
    uint32_t* starts = job->scratch->starts;
    starts[share.first_cell] = 0;
    for ( uint32_t cell = share.first_cell; cell < share.last_cell; ++cell )
    {
        starts[cell + 1] = engine->starts.items[cell] - base;
    }
    place_slab( job, &share, engine->starts.items[share.last_cell] - base );
}

// Counts become places of a slab that is placed next.
static engine_slab_found sum_slab( const cell_share* share, uint32_t* starts )
{
    engine_slab_found found = { 0, 0, false };
    uint32_t here = starts[share->first_cell];
    starts[share->first_cell] = 0;
    for ( uint32_t cell = share->first_cell; cell < share->last_cell; ++cell )
    {
        uint32_t next = cell + 1 < share->last_cell ? starts[cell + 1] : 0;
        starts[cell + 1] = found.entry_count;
        found.entry_count += here;
        found.fullest = here > found.fullest ? here : found.fullest;
        here = next;
    }
    return found;
}

// One that is counted here. False if it has more entries than there is room for, or crowded cells.
static bool place_trusted( clv_engine* engine, uint32_t slab, uint32_t worker, cell_job* job )
{
    uint32_t* starts = job->scratch->starts;
    cell_share share = clv_engine_bring_slab( engine, slab, worker );
    bool fits = clv_engine_cell_count_entries( job, &share, job->scratch->kinds, starts );
    engine_slab_found found = sum_slab( &share, starts );
    found.fits =
        fits && found.fullest <= most_trusted( engine ) && found.entry_count <= engine->trusted_entries;
    engine->found[slab] = found;
    if ( found.fits )
    {
        place_slab( job, &share, found.entry_count );
    }
    return found.fits;
}

static clv_result search_slab(
    uint32_t slab, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    clv_engine* engine = context;
    cell_job job = engine->flat;
    cell_counters counters = { 0 }; // neighbours in the array are written by other workers
    job.scratch = &engine->scratches.items[worker];
    job.counters = &counters;
    open_region( job.region_low, job.region_high );
    if ( engine->is_trusted && !place_trusted( engine, slab, worker, &job ) )
    {
        return CLV_OK; // and nothing that was found is joined
    }
    if ( job.entries == NULL )
    {
        place_counted( engine, slab, worker, &job );
    }
    uint32_t width = job.grid.dims[0];
    clv_result result = clv_engine_cell_search_rows(
        &job, engine->slabs.rows[slab] * width, engine->slabs.rows[slab + 1] * width, sink );
    if ( result == CLV_OK ) // or it is searched again
    {
        clv_engine_count( engine, worker, &counters );
    }
    *test_count += counters.test_count;
    return result;
}

// Would all have been laid as it was, had it been counted first?
static bool trust_was_right( void* context )
{
    clv_engine* engine = context;
    uint64_t sum = 0;
    uint32_t most = 0;
    bool fits = true;
    for ( uint32_t slab = 0; slab < engine->slabs.count; ++slab )
    {
        const engine_slab_found* found = &engine->found[slab];
        fits = fits && found->fits;
        sum += found->entry_count;
        most = found->entry_count > most ? found->entry_count : most;
    }
    // Room for the next update, before it is needed.
    uint32_t likely = most + most / 8;
    engine->trusted_entries = likely > engine->trusted_entries ? most / 4 * 5 : engine->trusted_entries;
    return fits && sum <= (uint64_t)engine->flat.count * CELL_ENTRIES_PER_BOX;
}

// False if it has to be counted first after all.
static bool search_trusted(
    clv_engine* engine, clv_pair_sink* sink, uint64_t* test_count, clv_result* result )
{
    uint64_t tests = *test_count;
    if ( clv_task_gather_try( &engine->gather, engine->memory,
             clv_engine_tasks_for( engine, engine->flat.count ), engine->slabs.count, search_slab,
             trust_was_right, engine, sink, test_count, result ) )
    {
        return true;
    }
    *test_count = tests;
    memset( engine->counters.items, 0, (size_t)engine->counters.capacity * sizeof( cell_counters ) );
    engine->is_trusted = false;
    engine->grid_age -= 1; // counted again
    return false;
}

clv_result clv_engine_search_flat( clv_engine* engine, clv_pair_sink* sink, uint64_t* test_count )
{
    if ( engine->strip_axis >= 0 )
    {
        return clv_engine_strip_search( engine, sink, test_count );
    }
    if ( engine->is_trusted )
    {
        clv_result result;
        if ( search_trusted( engine, sink, test_count, &result ) )
        {
            return result;
        }
        if ( !fill_cells( engine, &engine->trusted_input ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
        CLV_VALIDATE( clv_engine_check( engine, &engine->trusted_input ) == NULL );
    }
    return clv_task_gather_run( &engine->gather, engine->memory,
        clv_engine_tasks_for( engine, engine->flat.count ), engine->slabs.count, search_slab, engine, sink,
        test_count );
}
