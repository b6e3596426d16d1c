// SPDX-License-Identifier: MIT
// One grid over all boxes, shared by all workers. Boxes become records of slabs, rows of cells about equally heavy; each slab is counted, and
// then placed and searched at one go by one worker, so that no two touch the same lines of memory and what is placed is read from
// where it is near. One worker alone is a crew of one with one slab. What lies in a cell, and in which order, depends neither on slabs nor on
// pieces.
#include "engine/world_internal.h"

#include "base/assertion.h"

#include <string.h>

// A fill while it is under way.
typedef struct flat_fill
{
    cell_crew crew; ///< first: its functions get no other address
    block_world* world;
    const block_input* input;
    task_runner* tasks;
    uint32_t piece_count, piece_slots;
    bool fits[WORLD_SLABS];
} flat_fill;

// ---- records -----------------------------------------------------------------------------------------------------

// The first box from `slot` on.
static uint32_t box_from( const block_input* input, uint64_t slot )
{
    uint32_t low = 0, high = input->count;
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

static void scatter_piece( uint32_t piece, cell_segment* segments, cell_record* records, void* context )
{
    const flat_fill* fill = context;
    slab_work work = {
        .kernels = fill->world->kernels->cells,
        .input = fill->input,
        .grid = &fill->world->flat.grid,
        .first = box_from( fill->input, (uint64_t)piece * fill->piece_slots ),
        .last = box_from( fill->input, ( (uint64_t)piece + 1 ) * fill->piece_slots ),
        .slab_of_cell = fill->world->slab_of_cell,
        .segments = segments,
        .out = records,
    };
    clv_engine_slab_scatter( &work );
}

// Boxes to their slabs, as records. False if out of memory.
static bool scatter( flat_fill* fill )
{
    block_world* world = fill->world;
    const world_slabs* slabs = &world->slabs;
    uint32_t width = world->flat.grid.dims[0];
    if ( !clv_engine_reserve_slab_map( world, cell_grid_count( &world->flat.grid ) ) )
    {
        return false;
    }
    for ( uint32_t slab = 0; slab < slabs->count; ++slab )
    {
        uint32_t first = slabs->rows[slab] * width, end = slabs->rows[slab + 1] * width;
        memset( world->slab_of_cell + first, (int)slab, end - first );
    }
    return clv_engine_segments_fill(
        &world->segments, world->memory, fill->tasks, slabs->count, fill->piece_count, scatter_piece, fill );
}

// All boxes as records, one behind the other.
static void make_all( block_world* world, const block_input* input )
{
    const scaling s = scaling_of( &world->flat.grid );
    cell_boxes all = block_input_part( input, 0, input->count );
    world->kernels->cells->make_records( &all, &s, world->records );
}

// Cells that the slab with most of them is reached from.
static uint32_t most_counted( const block_world* world )
{
    uint32_t most = 0;
    for ( uint32_t slab = 0; slab < world->slabs.count; ++slab )
    {
        uint32_t rows = world->slabs.rows[slab + 1] - world->slabs.rows[slab];
        most = rows > most ? rows : most;
    }
    return cell_count_reached( &world->flat.grid, most * world->flat.grid.dims[0] );
}

// Memory for counting, by the job's present grid; what lies within a crowded cell needs more later.
static bool reserve_cells( flat_fill* fill, uint32_t stack )
{
    block_world* world = fill->world;
    uint32_t workers = task_worker_count( fill->tasks ), cell_count = cell_grid_count( &world->flat.grid );
    uint32_t most = cell_count_most( fill->input->count ); // a grid kept from more boxes may have more
    bool ok = clv_engine_reserve_starts( world, cell_count > most ? cell_count : most ) &&
        ( world->slabs.count > 1 || clv_engine_reserve_records( world, fill->input->count ) );
    uint32_t counted = most_counted( world );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        ok = clv_engine_cell_scratch_reserve_cells(
            &world->scratches[i], world->memory, counted > stack ? counted : stack, cell_count, stack );
    }
    return ok;
}

static bool make_records( cell_crew* crew )
{
    flat_fill* fill = (flat_fill*)crew;
    block_world* world = fill->world;
    clv_engine_cut_slabs( world, fill->input, task_worker_count( fill->tasks ) );
    if ( !reserve_cells( fill, 0 ) )
    {
        return false;
    }
    crew->counts = world->starts;
    CLV_ASSERT( world->slabs.count <= WORLD_SLABS );
    if ( world->slabs.count > 1 )
    {
        return scatter( fill );
    }
    make_all( world, fill->input );
    return true;
}

// ---- laying ------------------------------------------------------------------------------------------------------

static void count_slab( uint32_t slab, uint32_t worker, void* context )
{
    flat_fill* fill = context;
    block_world* world = fill->world;
    cell_scratch* scratch = &world->scratches[worker];
    cell_share share = clv_engine_share_of( world, slab );
    fill->fits[slab] = clv_engine_cell_count_entries( &world->flat, &share, scratch->kinds, scratch->starts );
    memcpy( world->starts + share.first_cell, scratch->starts + share.first_cell,
        ( share.last_cell - share.first_cell ) * sizeof( uint32_t ) );
}

static bool count_slabs( cell_crew* crew )
{
    flat_fill* fill = (flat_fill*)crew;
    uint32_t slabs = fill->world->slabs.count;
    bool fits = true;
    clv_task_run( fill->tasks, count_slab, slabs, fill );
    for ( uint32_t slab = 0; slab < slabs; ++slab )
    {
        fits = fits && fill->fits[slab];
    }
    return fits;
}

// Perhaps everybody is somewhere else by now: a grid that was kept is chosen anew before it is mended.
static void reconsider( cell_crew* crew )
{
    flat_fill* fill = (flat_fill*)crew;
    block_world* world = fill->world;
    if ( world->grid_age > 0 )
    {
        clv_engine_choose_grid( world, fill->input );
        world->flat.grid = world->chosen;
        crew->extent = world->flat_extent;
        crew->zoom_count = 0;
    }
}

// Entries of the slab that has most.
static uint32_t most_entries( const block_world* world )
{
    const uint32_t* starts = world->starts;
    const uint32_t* rows = world->slabs.rows;
    uint32_t width = world->flat.grid.dims[0], most = 0;
    for ( uint32_t slab = 0; slab < world->slabs.count; ++slab )
    {
        uint32_t here = starts[rows[slab + 1] * width] - starts[rows[slab] * width];
        most = here > most ? here : most;
    }
    return most;
}

// Memory for placing a slab and searching it; crowded cells have grids within them.
static bool reserve_search( flat_fill* fill, cell_layout layout )
{
    block_world* world = fill->world;
    uint32_t workers = task_worker_count( fill->tasks );
    CLV_ASSERT( most_entries( world ) <= layout.entry_count );
    cell_layout of_slab = { most_entries( world ), layout.fullest };
    uint32_t stack = layout.fullest > CELL_OVERFULL ? 2 * cell_count_most( layout.fullest ) : 0;
    bool ok = stack == 0 || reserve_cells( fill, stack );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        ok = clv_engine_cell_scratch_reserve_entries( &world->scratches[i], world->memory, of_slab );
    }
    return ok;
}

// So few boxes that all are in one cell: their records are its entries as they are.
static bool fill_one_cell( block_world* world, const block_input* input )
{
    uint32_t count = input->count;
    if ( !clv_engine_reserve_records( world, (uint64_t)count + CELL_SLACK ) ||
        !clv_engine_reserve_starts( world, 1 ) ||
        !clv_engine_cell_scratch_reserve_entries(
            &world->scratches[0], world->memory, ( cell_layout ){ 0, count } ) )
    {
        return false;
    }
    CLV_ASSERT( cell_grid_count( &world->flat.grid ) == 1 );
    make_all( world, input );
    memset( world->records + count, 0, CELL_SLACK * sizeof( cell_record ) );
    world->starts[0] = 0;
    world->starts[1] = count;
    world->flat.starts = world->starts;
    world->flat.entries = world->records;
    world->slabs = ( world_slabs ){ .dims = { 1, 1, 1 }, .wanted = 1, .count = 1, .rows = { 0, 1 } };
    world->grid_age += 1;
    return true;
}

static bool fill_cells( block_world* world, const block_input* input )
{
    flat_fill fill;
    fill.world = world;
    fill.input = input;
    fill.tasks = clv_engine_tasks_for( world, input->count );
    fill.crew.job = &world->flat;
    fill.crew.extent = world->flat_extent;
    fill.crew.is_measured = true;
    fill.crew.has_records = false;
    fill.crew.zoom_count = 0;
    fill.crew.make = make_records;
    fill.crew.count = count_slabs;
    fill.crew.reconsider = reconsider;
    // Whole chunks of slots, and whatever the number of workers: what is placed together is scattered together.
    uint64_t slots = (uint64_t)block_input_slot( input, input->count - 1 ) + 1;
    uint64_t chunks = ( slots + CELL_CHUNK - 1 ) / CELL_CHUNK,
             at_once = ( chunks + SEGMENTS_PIECES - 1 ) / SEGMENTS_PIECES;
    fill.piece_slots = (uint32_t)( at_once * CELL_CHUNK );
    fill.piece_count = (uint32_t)( ( chunks + at_once - 1 ) / at_once );
    cell_layout layout;
    if ( !clv_engine_cell_lay( &fill.crew, &layout ) )
    {
        return false;
    }
    world->chosen = world->flat.grid; // as it turned out to be needed
    world->grid_age += 1;
    uint32_t cell_count = cell_grid_count( &world->flat.grid );
    world->starts[cell_count] = clv_engine_cell_sum_starts( world->starts, cell_count );
    CLV_ASSERT( world->starts[cell_count] == layout.entry_count );
    if ( !reserve_search( &fill, layout ) )
    {
        return false;
    }
    clv_engine_remember_slabs( world );
    world->flat.entries = NULL; // each worker places its slabs
    return true;
}

bool clv_engine_fill_flat( block_world* world, const block_input* input )
{
    world->plan.block_count = 0;
    world->largest_block = input->count;
    if ( !clv_engine_reserve_workers( world ) )
    {
        return false;
    }
    world->flat.kernels = world->kernels->cells;
    world->flat.boxes = input->boxes;
    world->flat.exact = world->exact;
    world->flat.is_sharpened = world->axes.sharp_left > 0;
    world->flat.count = input->count;
    if ( !clv_engine_grid_serves( world, input ) )
    {
        clv_engine_choose_grid( world, input );
    }
    world->flat.grid = world->chosen;
    return input->count <= CELL_ALONE ? fill_one_cell( world, input ) : fill_cells( world, input );
}

// ---- searching ---------------------------------------------------------------------------------------------------

// A slab's entries to its cells, in the worker's own memory. While they are placed, starts[cell + 1] is where the next one of
// `cell` goes; afterwards, where the next cell begins.
static void place_slab( block_world* world, uint32_t slab, cell_job* job )
{
    cell_share share = clv_engine_share_of( world, slab );
    uint32_t base = world->starts[share.first_cell];
    uint32_t* starts = job->scratch->starts;
    starts[share.first_cell] = 0;
    for ( uint32_t cell = share.first_cell; cell < share.last_cell; ++cell )
    {
        starts[cell + 1] = world->starts[cell] - base;
    }
    job->starts = starts;
    job->entries = job->scratch->entries;
    clv_engine_cell_place_entries( job, &share, starts + 1 );
    CLV_ASSERT( starts[share.last_cell] == world->starts[share.last_cell] - base );
    CLV_VALIDATE( clv_engine_cell_check( job, &share ) == NULL );
    memset( job->entries + starts[share.last_cell], 0, CELL_SLACK * sizeof( cell_entry ) );
}

static clv_result search_slab(
    uint32_t slab, uint32_t worker, pair_sink* sink, uint64_t* test_count, void* context )
{
    block_world* world = context;
    cell_job job = world->flat;
    cell_counters counters = { 0 }; // neighbours in the array are written by other workers
    job.scratch = &world->scratches[worker];
    job.counters = &counters;
    if ( job.entries == NULL )
    {
        place_slab( world, slab, &job );
    }
    uint32_t width = job.grid.dims[0];
    clv_result result = clv_engine_cell_search_rows(
        &job, world->slabs.rows[slab] * width, world->slabs.rows[slab + 1] * width, sink );
    if ( result == CLV_OK ) // or it is searched again
    {
        clv_engine_count( world, worker, &counters );
    }
    *test_count += counters.test_count;
    return result;
}

clv_result clv_engine_search_flat( block_world* world, pair_sink* sink, uint64_t* test_count )
{
    return clv_task_gather_run( &world->gather, world->memory,
        clv_engine_tasks_for( world, world->flat.count ), world->slabs.count, search_slab, world, sink,
        test_count );
}
