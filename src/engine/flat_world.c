// SPDX-License-Identifier: MIT
// One grid over all boxes, shared by all workers. One worker alone: boxes become records, are counted, placed in all cells, and
// the cells searched. Several: boxes become records of slabs, rows of cells about equally heavy; each slab is counted, and
// then placed and searched at one go by one worker, so that no two touch the same lines of memory and what is placed is read from
// where it is near. What lies in a cell, and in which order, depends neither on slabs nor on pieces.
#include "engine/world_internal.h"

#include <string.h>

enum
{
    PIECES = 64,     // of boxes, at most
    REGION_LIFE = 8, // updates
    BOXES_PER_SAMPLE = 16,
    LEAST_SAMPLES = 32,
    SLAB_SAMPLES = 1024, // boxes looked at to cut slabs of equal weight
    ROWS = CELL_GRID_SIDE * CELL_GRID_SIDE,
    SLABS_PER_WORKER = 3,
};

// A fill while it is under way.
typedef struct flat_fill
{
    block_world* world;
    const block_input* input;
    task_runner* tasks;
    uint32_t piece_count, piece_boxes;
    uint32_t cell_count;
    cell_extent extent; ///< of a sample
    world_slabs* slabs; ///< of this update
    bool fits[WORLD_SLABS];
    uint8_t slab_of_row[ROWS];
    uint32_t places[PIECES][WORLD_SLABS]; ///< counts, then where the piece's next record goes
} flat_fill;

static task_runner s_nobody; // zero: the calling thread alone

static task_runner* tasks_for( block_world* world, uint32_t count )
{
    return count > world->alone_boxes ? world->tasks : &s_nobody;
}

// A region where most of the boxes are. It serves for some updates: any is right, and a few boxes are searched in little more
// time than it takes to measure where they are.
static void measure_region( block_world* world, const block_input* input )
{
    cell_extent most = block_measure( input );
    memcpy( world->flat.region_low, most.low, sizeof( most.low ) );
    memcpy( world->flat.region_high, most.high, sizeof( most.high ) );
    world->region_age = 0;
    world->region_count = input->count;
}

static bool region_serves( const block_world* world, uint32_t count )
{
    uint32_t then = world->region_count;
    return then > 0 && world->region_age < REGION_LIFE && count <= then + then / 4 &&
        count >= then - then / 4;
}

// Do most of the sample still lie in the region?
static bool region_holds( const cell_job* job, const clv_aabb* samples, uint32_t count )
{
    uint32_t outside = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* lower = &samples[i].lower.x;
        const float* upper = &samples[i].upper.x;
        int is_out = 0;
        for ( int axis = 0; axis < 3; ++axis )
        {
            is_out |= ( upper[axis] < job->region_low[axis] ) | ( lower[axis] > job->region_high[axis] );
        }
        outside += (uint32_t)is_out;
    }
    return outside <= count / 4;
}

// By a sample of the boxes.
static void choose_grid( flat_fill* fill )
{
    block_world* world = fill->world;
    const block_input* input = fill->input;
    cell_job* job = &world->flat;
    clv_aabb samples[CELL_SAMPLES + 1];
    uint32_t wanted =
        input->count / BOXES_PER_SAMPLE; // few boxes take less time to search than to measure well
    wanted = wanted < LEAST_SAMPLES ? LEAST_SAMPLES : wanted;
    uint32_t step = input->count / ( wanted < CELL_SAMPLES ? wanted : CELL_SAMPLES ) + 1;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < input->count; i += step )
    {
        samples[count++] = input->boxes[block_input_slot( input, i )];
    }
    if ( world->region_age > 0 && !region_holds( job, samples, count ) )
    {
        measure_region( world, input );
    }
    fill->extent = cell_measure( samples, count, job->region_low, job->region_high );
    job->grid = cell_grid_choose( input->count, &fill->extent );
}

// ---- slabs -------------------------------------------------------------------------------------------------------

static uint32_t cell_along( const cell_grid* grid, int axis, float lower )
{
    float at = ( lower - grid->origin[axis] ) * grid->scale[axis] / CELL_STEPS;
    float most = (float)( grid->dims[axis] - 1 );
    at = at > 0 ? at : 0;
    return (uint32_t)( at < most ? at : most );
}

// Cut rows into slabs of about equal weight. Any cut is right; a bad one is only slow.
static void cut_rows( world_slabs* slabs, const cell_grid* grid, const uint32_t* weights, uint64_t total )
{
    uint32_t row_count = grid->dims[1] * grid->dims[2];
    memcpy( slabs->dims, grid->dims, sizeof( slabs->dims ) );
    slabs->count = 0;
    uint64_t seen = 0;
    for ( uint32_t row = 0; row < row_count; ++row )
    {
        if ( seen * slabs->wanted >= slabs->count * total && slabs->count < slabs->wanted )
        {
            slabs->rows[slabs->count++] = row;
        }
        seen += weights[row];
    }
    slabs->rows[slabs->count] = row_count;
}

static void cut_by_sample( world_slabs* slabs, const cell_grid* grid, const block_input* input )
{
    uint32_t counts[ROWS] = { 0 };
    uint32_t total = 0;
    uint32_t step = input->count / SLAB_SAMPLES + 1;
    for ( uint32_t i = 0; i < input->count && slabs->wanted > 1; i += step, ++total )
    {
        const clv_aabb* box = &input->boxes[block_input_slot( input, i )];
        counts[cell_along( grid, 2, box->lower.z ) * grid->dims[1] + cell_along( grid, 1, box->lower.y )] +=
            1;
    }
    cut_rows( slabs, grid, counts, total );
}

// The last update's slabs, where its grid was like this one: a sample is many trips to memory, all by one worker.
static void cut_slabs( flat_fill* fill )
{
    const cell_grid* grid = &fill->world->flat.grid;
    const world_slabs* last = &fill->world->next_slabs;
    uint32_t workers = task_worker_count( fill->tasks );
    uint32_t wanted = workers > 1 ? SLABS_PER_WORKER * workers : 1;
    wanted = wanted < WORLD_SLABS ? wanted : WORLD_SLABS;
    if ( wanted == last->wanted && memcmp( last->dims, grid->dims, sizeof( last->dims ) ) == 0 )
    {
        *fill->slabs = *last;
    }
    else
    {
        fill->slabs->wanted = wanted;
        cut_by_sample( fill->slabs, grid, fill->input );
    }
    for ( uint32_t slab = 0; slab < fill->slabs->count; ++slab )
    {
        uint32_t first = fill->slabs->rows[slab], last_row = fill->slabs->rows[slab + 1];
        memset( fill->slab_of_row + first, (int)slab, last_row - first );
    }
}

// What a cell of so many entries costs, about: they are placed, and each is tested against the others, 64 at once.
static uint32_t weight_of( uint32_t entries )
{
    return entries * ( 4 + entries / 64 );
}

// Slabs for the next update, by the entries of this one.
static void remember_slabs( const flat_fill* fill )
{
    block_world* world = fill->world;
    const cell_grid* grid = &world->flat.grid;
    uint32_t weights[ROWS];
    uint64_t total = 0;
    uint32_t row_count = grid->dims[1] * grid->dims[2], width = grid->dims[0];
    if ( fill->slabs->wanted == 1 )
    {
        world->next_slabs = *fill->slabs;
        return;
    }
    for ( uint32_t row = 0; row < row_count; ++row )
    {
        weights[row] = 0;
        for ( uint32_t cell = row * width; cell < ( row + 1 ) * width; ++cell )
        {
            weights[row] += weight_of( world->starts[cell + 1] - world->starts[cell] );
        }
        total += weights[row];
    }
    world->next_slabs.wanted = fill->slabs->wanted;
    cut_rows( &world->next_slabs, grid, weights, total );
}

static cell_share share_of( const block_world* world, uint32_t slab )
{
    uint32_t width = world->flat.grid.dims[0];
    const world_slabs* slabs = &world->slabs;
    uint32_t first = slabs->rows[slab] * width, last = slabs->rows[slab + 1] * width;
    if ( slabs->count == 1 )
    {
        return ( cell_share ){ world->records, world->flat.count, true, first, last };
    }
    uint32_t start = slabs->starts[slab];
    return ( cell_share ){ world->sorted + start, slabs->starts[slab + 1] - start, true, first, last };
}

// ---- pieces of work ----------------------------------------------------------------------------------------------

static slab_work work_of( flat_fill* fill, uint32_t piece )
{
    uint32_t first = piece * fill->piece_boxes, left = fill->input->count - first;
    return ( slab_work ){
        .input = fill->input,
        .grid = &fill->world->flat.grid,
        .first = first,
        .last = first + ( left < fill->piece_boxes ? left : fill->piece_boxes ),
        .slab_of_row = fill->slab_of_row,
        .places = fill->places[piece],
        .out = fill->world->sorted,
    };
}

static void assign_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    flat_fill* fill = context;
    slab_work work = work_of( fill, piece );
    memset( work.places, 0, fill->slabs->count * sizeof( uint32_t ) );
    fill->world->kernels->cells->slab_assign( &work );
}

static void scatter_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    flat_fill* fill = context;
    slab_work work = work_of( fill, piece );
    fill->world->kernels->cells->slab_scatter( &work );
}

static void count_slab( uint32_t slab, uint32_t worker, void* context )
{
    flat_fill* fill = context;
    block_world* world = fill->world;
    cell_scratch* scratch = &world->scratches[worker];
    cell_share share = share_of( world, slab );
    fill->fits[slab] =
        world->kernels->cells->count_cells( &world->flat, &share, scratch->kinds, scratch->starts );
    memcpy( world->starts + share.first_cell, scratch->starts + share.first_cell,
        ( share.last_cell - share.first_cell ) * sizeof( uint32_t ) );
}

// ---- filling -----------------------------------------------------------------------------------------------------

// Memory for counting, by the job's present grid; what lies within a crowded cell needs more later.
static bool reserve_cells( flat_fill* fill, uint32_t stack )
{
    block_world* world = fill->world;
    uint32_t workers = task_worker_count( fill->tasks );
    fill->cell_count = cell_grid_count( &world->flat.grid );
    bool ok = world_reserve_places( world, 0, cell_count_most( fill->input->count ) ) &&
        ( fill->slabs->count > 1 || world_reserve_records( world, fill->input->count ) );
    world->flat.records = world->records;
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        uint32_t cells = fill->cell_count > stack ? fill->cell_count : stack;
        ok = cell_scratch_reserve_cells( &world->scratches[i], world->memory, cells, stack );
    }
    return ok;
}

// Boxes to their slabs, as records: slab by slab, in a slab piece by piece, so in the order of the boxes. False if out of
// memory.
static bool scatter( flat_fill* fill )
{
    task_run( fill->tasks, assign_piece, fill->piece_count, fill );
    uint64_t sum = 0;
    for ( uint32_t slab = 0; slab < fill->slabs->count; ++slab )
    {
        fill->slabs->starts[slab] = (uint32_t)sum;
        for ( uint32_t piece = 0; piece < fill->piece_count; ++piece )
        {
            uint32_t count = fill->places[piece][slab];
            fill->places[piece][slab] = (uint32_t)sum;
            sum += count;
        }
    }
    fill->slabs->starts[fill->slabs->count] = (uint32_t)sum;
    if ( sum > UINT32_MAX || !world_reserve_sorted( fill->world, sum ) )
    {
        return false;
    }
    task_run( fill->tasks, scatter_piece, fill->piece_count, fill );
    return true;
}

// Records, of all boxes or by slab. False if out of memory.
static bool make_records( flat_fill* fill )
{
    block_world* world = fill->world;
    if ( fill->slabs->count > 1 )
    {
        return scatter( fill );
    }
    world->kernels->cells->block_records(
        fill->input, 0, fill->input->count, &world->flat.grid, world->records );
    return true;
}

// Entries of each cell, in starts[cell]; false if there are too many.
static bool count_all( flat_fill* fill, cell_layout* layout, uint32_t* fullest )
{
    task_run( fill->tasks, count_slab, fill->slabs->count, fill );
    for ( uint32_t slab = 0; slab < fill->slabs->count; ++slab )
    {
        if ( !fill->fits[slab] )
        {
            return false;
        }
    }
    const uint32_t* counts = fill->world->starts;
    uint64_t sum = 0;
    for ( uint32_t cell = 0; cell < fill->cell_count; ++cell )
    {
        sum += counts[cell];
        *fullest = counts[cell] > counts[*fullest] ? cell : *fullest;
    }
    *layout = ( cell_layout ){ (uint32_t)sum, counts[*fullest] };
    return sum <= (uint64_t)fill->input->count * CELL_ENTRIES_PER_BOX;
}

// A grid that will do, with its entries counted. False if out of memory.
static bool lay( flat_fill* fill, cell_layout* layout )
{
    block_world* world = fill->world;
    cell_lay trying = { fill->extent, true, 0 };
    for ( bool again = true; again; )
    {
        uint32_t fullest = 0;
        *layout = ( cell_layout ){ 0, 0 };
        cut_slabs( fill );
        if ( !reserve_cells( fill, 0 ) || !make_records( fill ) )
        {
            return false;
        }
        bool fits = count_all( fill, layout, &fullest );
        again = cell_lay_again( &trying, &world->flat, fits, *layout, fullest );
        if ( again && world->region_age > 0 ) // perhaps everybody is somewhere else by now
        {
            measure_region( world, fill->input );
            choose_grid( fill );
            trying = ( cell_lay ){ fill->extent, true, 0 };
        }
    }
    world->region_age += 1;
    return true;
}

// Entries of the slab that has most.
static uint32_t most_entries( const flat_fill* fill )
{
    const uint32_t* starts = fill->world->starts;
    uint32_t width = fill->world->flat.grid.dims[0], most = 0;
    for ( uint32_t slab = 0; slab < fill->slabs->count; ++slab )
    {
        uint32_t here = starts[fill->slabs->rows[slab + 1] * width] - starts[fill->slabs->rows[slab] * width];
        most = here > most ? here : most;
    }
    return most;
}

// Memory for searching; crowded cells have grids within them. Several workers place their slabs' entries in their scratches.
static bool reserve_search( flat_fill* fill, cell_layout layout )
{
    block_world* world = fill->world;
    uint32_t workers = task_worker_count( fill->tasks );
    bool alone = fill->slabs->count == 1;
    cell_layout inner = { alone ? 0 : most_entries( fill ), layout.fullest };
    uint32_t stack = layout.fullest > CELL_OVERFULL ? 2 * cell_count_most( layout.fullest ) : 0;
    uint64_t entries = (uint64_t)layout.entry_count + layout.entry_count / 8; // a few more come and go
    bool ok = ( !alone || world_reserve_entries( world, entries + CELL_SLACK ) ) &&
        ( stack == 0 || reserve_cells( fill, stack ) );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        ok = cell_scratch_reserve_entries( &world->scratches[i], world->memory, inner );
    }
    return ok;
}

// Counts become places: starts[cell] is a cell's first entry, and there is one more.
static void sum_starts( const flat_fill* fill )
{
    uint32_t* starts = fill->world->starts;
    uint32_t sum = 0;
    for ( uint32_t cell = 0; cell < fill->cell_count; ++cell )
    {
        uint32_t here = starts[cell];
        starts[cell] = sum;
        sum += here;
    }
    starts[fill->cell_count] = sum;
}

// One worker places all entries at once.
static void place_alone( block_world* world, uint32_t entry_count )
{
    uint32_t* next = world->scratches[0].starts;
    cell_share share = share_of( world, 0 );
    memcpy( next, world->starts, share.last_cell * sizeof( uint32_t ) );
    world->flat.entries = world->entries;
    world->kernels->cells->place_entries( &world->flat, &share, next );
    memset( world->entries + entry_count, 0, CELL_SLACK * sizeof( cell_entry ) );
}

bool world_fill_flat( block_world* world, const block_input* input )
{
    world->plan.block_count = 0;
    world->largest_block = input->count;
    flat_fill fill;
    fill.world = world;
    fill.input = input;
    fill.tasks = tasks_for( world, input->count );
    fill.slabs = &world->slabs;
    uint32_t workers = task_worker_count( fill.tasks );
    uint32_t pieces = workers < PIECES ? workers : PIECES;
    fill.piece_boxes = ( input->count + pieces - 1 ) / pieces;
    fill.piece_count = ( input->count + fill.piece_boxes - 1 ) / fill.piece_boxes;
    if ( !world_reserve_workers( world ) )
    {
        return false;
    }
    world->flat.boxes = input->boxes;
    world->flat.count = input->count;
    if ( !region_serves( world, input->count ) )
    {
        measure_region( world, input );
    }
    choose_grid( &fill );
    cell_layout layout;
    if ( !lay( &fill, &layout ) )
    {
        return false;
    }
    sum_starts( &fill );
    if ( !reserve_search( &fill, layout ) )
    {
        return false;
    }
    remember_slabs( &fill );
    world->flat.starts = world->starts;
    if ( fill.slabs->count == 1 )
    {
        place_alone( world, layout.entry_count );
    }
    return true;
}

// ---- searching ---------------------------------------------------------------------------------------------------

// A slab's entries to its cells, in the worker's own memory. While they are placed, starts[cell + 1] is where the next one of
// `cell` goes; afterwards, where the next cell begins.
static void place_slab( block_world* world, uint32_t slab, cell_job* job )
{
    cell_share share = share_of( world, slab );
    uint32_t base = world->starts[share.first_cell];
    uint32_t* starts = job->scratch->starts;
    starts[share.first_cell] = 0;
    for ( uint32_t cell = share.first_cell; cell < share.last_cell; ++cell )
    {
        starts[cell + 1] = world->starts[cell] - base;
    }
    job->starts = starts;
    job->entries = job->scratch->entries;
    world->kernels->cells->place_entries( job, &share, starts + 1 );
    memset( job->entries + starts[share.last_cell], 0, CELL_SLACK * sizeof( cell_entry ) );
}

static clv_result search_slab(
    uint32_t slab, uint32_t worker, pair_sink* sink, uint64_t* test_count, void* context )
{
    block_world* world = context;
    cell_job job = world->flat;
    job.scratch = &world->scratches[worker];
    job.counters = &world->counters[worker];
    if ( world->slabs.count > 1 )
    {
        place_slab( world, slab, &job );
    }
    uint64_t before = job.counters->test_count;
    uint32_t width = job.grid.dims[0];
    clv_result result = world->kernels->cells->search_cells(
        &job, world->slabs.rows[slab] * width, world->slabs.rows[slab + 1] * width, sink );
    *test_count += job.counters->test_count - before;
    return result;
}

clv_result world_search_flat( block_world* world, pair_sink* sink, uint64_t* test_count )
{
    return task_gather_run( &world->gather, world->memory, tasks_for( world, world->flat.count ),
        world->slabs.count, search_slab, world, sink, test_count );
}
