// SPDX-License-Identifier: MIT
// One grid over all boxes, shared by all workers. One worker alone: boxes become records, are counted, placed in all cells, and
// the cells searched. Several: boxes become records of slabs, rows of cells about equally heavy; each slab is counted, and
// then placed and searched at one go by one worker, so that no two touch the same lines of memory and what is placed is read from
// where it is near. What lies in a cell, and in which order, depends neither on slabs nor on pieces.
#include "engine/world_internal.h"

#include "base/bits.h"

#include <string.h>

enum
{
    GRID_LIFE = 8, // updates
    BOXES_PER_SAMPLE = 16,
    LEAST_SAMPLES = 32,
    SLAB_SAMPLES = 1024, // boxes looked at to cut slabs of equal weight
    ROWS = CELL_GRID_SIDE * CELL_GRID_SIDE,
    SLABS_PER_WORKER = 2,
    HOLD_SAMPLES = 32,
};

// A fill while it is under way.
typedef struct flat_fill
{
    block_world* world;
    const block_input* input;
    task_runner* tasks;
    uint32_t piece_count, piece_slots;
    uint32_t cell_count;
    world_slabs* slabs; ///< of this update
    bool fits[WORLD_SLABS];
} flat_fill;

// A region where most of the boxes are.
static void measure_region( block_world* world, const block_input* input )
{
    cell_extent most = block_measure( input );
    memcpy( world->flat.region_low, most.low, sizeof( most.low ) );
    memcpy( world->flat.region_high, most.high, sizeof( most.high ) );
}

// Two samples of the same boxes differ a little; the grid need not, and then everybody stays in the same cells.
static bool grids_are_alike( const cell_grid* a, const cell_grid* b )
{
    bool are_alike = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float shift = ( a->origin[axis] - b->origin[axis] ) * a->scale[axis] / CELL_STEPS;
        float ratio = a->scale[axis] / b->scale[axis];
        are_alike = are_alike && a->dims[axis] == b->dims[axis] && shift > -0.25f && shift < 0.25f &&
            ratio > 0.98f && ratio < 1.02f;
    }
    return are_alike;
}

// A few boxes, always the same, that tell whether everybody is somewhere else by now, or of another size.
typedef struct held_sample
{
    uint32_t seen, outside;
    float size; ///< of all together
} held_sample;

static held_sample look_again( const block_world* world, const block_input* input )
{
    held_sample sample = { 0, 0, 0 };
    for ( uint32_t i = 0; i < input->count; i += input->count / HOLD_SAMPLES + 1 )
    {
        const clv_aabb* box = &input->boxes[block_input_slot( input, i )];
        const float* lower = &box->lower.x;
        const float* upper = &box->upper.x;
        int is_out = 0;
        for ( int axis = 0; axis < 3; ++axis )
        {
            is_out |= ( upper[axis] < world->flat.region_low[axis] ) |
                ( lower[axis] > world->flat.region_high[axis] );
            sample.size += upper[axis] - lower[axis];
        }
        sample.outside += (uint32_t)is_out;
        sample.seen += 1;
    }
    return sample;
}

// A grid for a sample of the boxes.
static void choose_grid( block_world* world, const block_input* input )
{
    cell_job* job = &world->flat;
    clv_aabb samples[CELL_SAMPLES];
    uint32_t count = input->count / BOXES_PER_SAMPLE; // few take less time to search than to measure well
    count = count < LEAST_SAMPLES ? LEAST_SAMPLES : count;
    count = count < CELL_SAMPLES ? count : CELL_SAMPLES;
    count = count < input->count ? count : input->count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        samples[i] = input->boxes[block_input_slot( input, base_sample( i, count, input->count ) )];
    }
    measure_region( world, input );
    world->flat_extent = input->count <= CELL_ALONE
        ? cell_measure_alone( samples, count, job->region_low, job->region_high )
        : cell_measure( samples, count, job->region_low, job->region_high );
    cell_grid grid = cell_grid_choose( input->count, &world->flat_extent );
    world->chosen = grids_are_alike( &grid, &world->chosen ) ? world->chosen : grid;
    world->grid_age = 0;
    world->grid_count = input->count;
    world->held_size = look_again( world, input ).size;
}

// Does the last choice still serve? Any grid is right, and a sample is many trips to memory, all by one worker; so it is made
// now and then, and in between a few boxes are looked at.
static bool grid_serves( const block_world* world, const block_input* input )
{
    uint32_t then = world->grid_count, count = input->count;
    bool is_alike = ( count <= CELL_ALONE ) == ( then <= CELL_ALONE ) && count <= then + then / 4 &&
        count >= then - then / 4; // a few boxes go into one cell, and the grid has to have no other
    if ( then == 0 || world->grid_age >= GRID_LIFE || !is_alike )
    {
        return false;
    }
    held_sample sample = look_again( world, input );
    bool is_other_size = sample.size > 2 * world->held_size || sample.size < world->held_size / 2;
    return sample.outside <= sample.seen / 4 && !is_other_size;
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
static void cut_rows( world_slabs* slabs, const cell_grid* grid, const uint64_t* weights, uint64_t total )
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
    uint64_t counts[ROWS] = { 0 };
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
}

// What a cell of so many entries costs, about: they are placed, and each is tested against the others, 64 at once.
static uint64_t weight_of( uint32_t entries )
{
    return (uint64_t)entries * ( 4 + entries / 64 );
}

// Are the slabs about equally heavy?
static bool slabs_are_even( const world_slabs* slabs, const uint64_t* weights, uint64_t total )
{
    uint64_t most = 0;
    for ( uint32_t slab = 0; slab < slabs->count; ++slab )
    {
        uint64_t weight = 0;
        for ( uint32_t row = slabs->rows[slab]; row < slabs->rows[slab + 1]; ++row )
        {
            weight += weights[row];
        }
        most = weight > most ? weight : most;
    }
    return 4 * most * slabs->count <= 5 * total;
}

// Slabs for the next update, by the entries of this one: the same while they will do, and looked at when the grid is new, since
// others need other segments.
static void remember_slabs( const flat_fill* fill )
{
    block_world* world = fill->world;
    const cell_grid* grid = &world->flat.grid;
    uint64_t weights[ROWS];
    uint64_t total = 0;
    uint32_t row_count = grid->dims[1] * grid->dims[2], width = grid->dims[0];
    world->next_slabs = *fill->slabs;
    if ( fill->slabs->wanted == 1 || world->grid_age > 1 )
    {
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
    if ( !slabs_are_even( fill->slabs, weights, total ) )
    {
        cut_rows( &world->next_slabs, grid, weights, total );
    }
}

static cell_share share_of( const block_world* world, uint32_t slab )
{
    uint32_t width = world->flat.grid.dims[0];
    const world_slabs* slabs = &world->slabs;
    uint32_t first = slabs->rows[slab] * width, last = slabs->rows[slab + 1] * width;
    if ( slabs->count == 1 )
    {
        return ( cell_share ){ world->records, NULL, 0, world->flat.count, true, first, last };
    }
    const world_segments* segments = &world->segments;
    return ( cell_share ){ segments->records, segments->items + slab, segments->target_count,
        segments->piece_count, true, first, last };
}

// ---- pieces of work ----------------------------------------------------------------------------------------------

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
        .input = fill->input,
        .grid = &fill->world->flat.grid,
        .first = box_from( fill->input, (uint64_t)piece * fill->piece_slots ),
        .last = box_from( fill->input, ( (uint64_t)piece + 1 ) * fill->piece_slots ),
        .slab_of_cell = fill->world->slab_of_cell,
        .segments = segments,
        .out = records,
    };
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

// Cells that the slab with most of them is reached from.
static uint32_t most_counted( const flat_fill* fill )
{
    const cell_grid* grid = &fill->world->flat.grid;
    uint32_t most = 0;
    for ( uint32_t slab = 0; slab < fill->slabs->count; ++slab )
    {
        uint32_t rows = fill->slabs->rows[slab + 1] - fill->slabs->rows[slab];
        most = rows > most ? rows : most;
    }
    return cell_count_reached( grid, most * grid->dims[0] );
}

// Memory for counting, by the job's present grid; what lies within a crowded cell needs more later.
static bool reserve_cells( flat_fill* fill, uint32_t stack )
{
    block_world* world = fill->world;
    uint32_t workers = task_worker_count( fill->tasks );
    fill->cell_count = cell_grid_count( &world->flat.grid );
    uint32_t most = cell_count_most( fill->input->count ); // a grid kept from more boxes may have more
    bool ok = world_reserve_starts( world, fill->cell_count > most ? fill->cell_count : most ) &&
        ( fill->slabs->count > 1 || world_reserve_records( world, fill->input->count ) );
    uint32_t counted = most_counted( fill );
    for ( uint32_t i = 0; i < workers && ok; ++i )
    {
        ok = cell_scratch_reserve_cells(
            &world->scratches[i], world->memory, counted > stack ? counted : stack, fill->cell_count, stack );
    }
    return ok;
}

// Boxes to their slabs, as records. False if out of memory.
static bool scatter( flat_fill* fill )
{
    block_world* world = fill->world;
    uint32_t slabs = fill->slabs->count, width = world->flat.grid.dims[0];
    if ( !world_reserve_slab_map( world, fill->cell_count ) )
    {
        return false;
    }
    for ( uint32_t slab = 0; slab < slabs; ++slab )
    {
        uint32_t first = fill->slabs->rows[slab] * width, end = fill->slabs->rows[slab + 1] * width;
        memset( world->slab_of_cell + first, (int)slab, end - first );
    }
    return world_segments_fill(
        &world->segments, world->memory, fill->tasks, slabs, fill->piece_count, scatter_piece, fill );
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
    cell_lay trying = { world->flat_extent, true, 0 };
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
        if ( again && world->grid_age > 0 ) // perhaps everybody is somewhere else by now
        {
            choose_grid( world, fill->input );
            world->flat.grid = world->chosen;
            trying = ( cell_lay ){ world->flat_extent, true, 0 };
        }
    }
    world->chosen = world->flat.grid; // as it turned out to be needed
    world->grid_age += 1;
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
    bool ok = ( !alone || world_reserve_entries( world, (uint64_t)layout.entry_count + CELL_SLACK ) ) &&
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

// So few boxes that all are in one cell: their records are its entries as they are.
static bool fill_one_cell( block_world* world, const block_input* input )
{
    uint32_t count = input->count;
    if ( !world_reserve_records( world, (uint64_t)count + CELL_SLACK ) || !world_reserve_starts( world, 1 ) ||
        !cell_scratch_reserve_entries( &world->scratches[0], world->memory, ( cell_layout ){ 0, count } ) )
    {
        return false;
    }
    world->kernels->cells->block_records( input, 0, count, &world->flat.grid, world->records );
    memset( world->records + count, 0, CELL_SLACK * sizeof( cell_record ) );
    world->starts[0] = 0;
    world->starts[1] = count;
    world->flat.starts = world->starts;
    world->flat.entries = world->records;
    world->slabs = ( world_slabs ){ .dims = { 1, 1, 1 }, .wanted = 1, .count = 1, .rows = { 0, 1 } };
    world->grid_age += 1;
    return true;
}

bool world_fill_flat( block_world* world, const block_input* input )
{
    world->plan.block_count = 0;
    world->largest_block = input->count;
    if ( !world_reserve_workers( world ) )
    {
        return false;
    }
    world->flat.boxes = input->boxes;
    world->flat.exact = world->exact;
    world->flat.is_sharpened = world->axes.sharp_left > 0;
    world->flat.count = input->count;
    if ( !grid_serves( world, input ) )
    {
        choose_grid( world, input );
    }
    world->flat.grid = world->chosen;
    if ( input->count <= CELL_ALONE )
    {
        return fill_one_cell( world, input );
    }
    flat_fill fill;
    fill.world = world;
    fill.input = input;
    fill.tasks = world_tasks_for( world, input->count );
    fill.slabs = &world->slabs;
    // Whole chunks of slots, and whatever the number of workers: what is placed together is scattered together.
    uint64_t slots =
        input->live != NULL && input->count > 0 ? (uint64_t)input->live[input->count - 1] + 1 : input->count;
    uint64_t chunks = ( slots + CELL_CHUNK - 1 ) / CELL_CHUNK,
             at_once = ( chunks + SEGMENTS_PIECES - 1 ) / SEGMENTS_PIECES;
    fill.piece_slots = (uint32_t)( at_once * CELL_CHUNK );
    fill.piece_count = (uint32_t)( ( chunks + at_once - 1 ) / at_once );
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
    cell_counters counters = { 0 }; // neighbours in the array are written by other workers
    job.scratch = &world->scratches[worker];
    job.counters = &counters;
    if ( world->slabs.count > 1 )
    {
        place_slab( world, slab, &job );
    }
    uint32_t width = job.grid.dims[0];
    clv_result result = world->kernels->cells->search_cells(
        &job, world->slabs.rows[slab] * width, world->slabs.rows[slab + 1] * width, sink );
    if ( result == CLV_OK ) // or it is searched again
    {
        world_count( world, worker, &counters );
    }
    *test_count += counters.test_count;
    return result;
}

clv_result world_search_flat( block_world* world, pair_sink* sink, uint64_t* test_count )
{
    return task_gather_run( &world->gather, world->memory, world_tasks_for( world, world->flat.count ),
        world->slabs.count, search_slab, world, sink, test_count );
}
