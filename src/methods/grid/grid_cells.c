// SPDX-License-Identifier: MIT
// A counting sort by cell and group. Bands of boxes are counted and entered apart, so that workers need not
// share counters; inside a group the entries keep the order of the boxes whatever the number of bands.
#include "grid/grid_cells.h"

#include "base/assertion.h"
#include "sweep/axis.h"

#include <math.h>
#include <string.h>

// ---- Sums run in slot order, in double, on one thread: the same lattice on every instruction set.

enum
{
    LATTICE_SAMPLES = 256,
    LATTICE_TAIL = 20,  // the middle nine tenths of these are the bulk
    LATTICE_REACH = 3,  // an outlier lies this many widths of the bulk outside the bulk
    CELLS_MOST = 65535, // along an axis: a coordinate fits 16 bits
};

// The boxes of the bulk, as a whole.
typedef struct bulk_sums
{
    double least[3], most[3]; // of their centres
    double side_sum[3];
    double count;
} bulk_sums;

static bulk_sums measure_bulk( const clv_method_input* input )
{
    sweep_bulk bulk = clv_sweep_bulk_find( input, LATTICE_SAMPLES, LATTICE_TAIL, LATTICE_REACH );
    bulk_sums sums = { .least = { INFINITY, INFINITY, INFINITY },
        .most = { -INFINITY, -INFINITY, -INFINITY } };
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, i )];
        double centre[3];
        sweep_centre_of( box, centre );
        if ( !sweep_bulk_has( &bulk, centre ) )
        {
            continue;
        }
        sums.count += 1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            sums.least[axis] = centre[axis] < sums.least[axis] ? centre[axis] : sums.least[axis];
            sums.most[axis] = centre[axis] > sums.most[axis] ? centre[axis] : sums.most[axis];
            sums.side_sum[axis] += (double)( &box->upper.x )[axis] - (double)( &box->lower.x )[axis];
        }
    }
    return sums;
}

// By arithmetic alone: cbrt rounds differently from one C library to the next. `value` > 0.
static double root( double value, int degree )
{
    if ( degree == 1 )
    {
        return value;
    }
    if ( degree == 2 )
    {
        return sqrt( value );
    }
    int exponent;
    double mantissa = frexp( value, &exponent );
    while ( exponent % 3 != 0 )
    {
        mantissa *= 0.5;
        exponent += 1;
    }
    double x = 1;
    for ( int i = 0; i < 12; ++i )
    {
        x = ( 2 * x + mantissa / ( x * x ) ) / 3;
    }
    return ldexp( x, exponent / 3 );
}

static int flattest_axis( const double extent[3] )
{
    int flattest = 2;
    for ( int axis = 1; axis >= 0; --axis )
    {
        flattest = extent[axis] < extent[flattest] ? axis : flattest;
    }
    return flattest;
}

// Cells along each axis for cubes of equal volume; an axis no longer than its boxes is not cut.
static void cut_extent( const double extent[3], const double side[3], double cell_count, uint32_t cells[3] )
{
    bool is_cut[3];
    double volume = 1;
    int degree = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        is_cut[axis] = extent[axis] > 0 && extent[axis] > side[axis];
        if ( is_cut[axis] )
        {
            volume *= extent[axis];
            degree += 1;
        }
    }
    double edge = degree > 0 && volume < 1e300 ? root( volume / cell_count, degree ) : INFINITY;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double least = edge > side[axis] ? edge : side[axis];
        double wanted = is_cut[axis] && least > 0 ? extent[axis] / least + 0.5 : 1;
        cells[axis] = wanted >= CELLS_MOST ? CELLS_MOST : wanted >= 2 ? (uint32_t)wanted : 1;
    }
}

// Where the extents differ much, cells no smaller than the average box may still be too many.
static void bound_cells( uint32_t cells[3], double most )
{
    while ( (double)cells[0] * cells[1] * cells[2] > most )
    {
        int longest = cells[1] > cells[0] ? 1 : 0;
        longest = cells[2] > cells[longest] ? 2 : longest;
        cells[longest] = ( cells[longest] + 1 ) / 2;
        if ( cells[0] == 1 && cells[1] == 1 && cells[2] == 1 )
        {
            return;
        }
    }
}

// Origin and scale for the number of cells that was chosen.
static void place_cells( grid_lattice* lattice, const bulk_sums* sums, const double extent[3] )
{
    lattice->cell_count = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t cells = lattice->cells[axis];
        float scale = cells > 1 ? (float)( cells / extent[axis] ) : 0;
        lattice->cells[axis] = isfinite( scale ) ? cells : 1;
        lattice->scale[axis] = isfinite( scale ) ? scale : 0;
        lattice->origin[axis] = sums->count > 0 ? (float)sums->least[axis] : 0;
        lattice->cell_count *= lattice->cells[axis];
    }
}

grid_lattice clv_grid_lattice_choose( const clv_method_input* input, double objects_per_cell, int dimensions )
{
    bulk_sums sums = measure_bulk( input );
    grid_lattice lattice = { .cells = { 1, 1, 1 }, .uncut_axis = -1 };
    double extent[3], side[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent[axis] = sums.count > 0 ? sums.most[axis] - sums.least[axis] : 0;
        side[axis] = sums.count > 0 ? sums.side_sum[axis] / sums.count : 0;
    }
    if ( dimensions == 2 )
    {
        lattice.uncut_axis = flattest_axis( extent );
        extent[lattice.uncut_axis] = 0;
    }
    double wanted = sums.count / objects_per_cell;
    cut_extent( extent, side, wanted > 1 ? wanted : 1, lattice.cells );
    bound_cells( lattice.cells, 2 * ( wanted > 1 ? wanted : 1 ) + 8 );
    place_cells( &lattice, &sums, extent );
    return lattice;
}

grid_lattice clv_grid_lattice_even( const clv_method_input* input, uint32_t cells )
{
    bulk_sums sums = measure_bulk( input );
    grid_lattice lattice = { .cells = { 1, 1, 1 }, .uncut_axis = -1 };
    double extent[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent[axis] = sums.count > 0 ? sums.most[axis] - sums.least[axis] : 0;
        lattice.cells[axis] = extent[axis] > 0 ? cells : 1;
    }
    place_cells( &lattice, &sums, extent );
    return lattice;
}

// ---- grid cells

enum
{
    LARGE = 64,  // a box in more cells than this is kept apart
    BAND = 4096, // least boxes of a band
    BANDS_MOST = 32,
    COUNTERS_PER_BOX = 4, // bounds the memory that bands cost
};

#define LARGE_MARK UINT16_MAX // grid_span_is_large

typedef struct build_job
{
    grid_cells* cells;
    const clv_method_input* input;
    uint32_t band_count;
    uint32_t key_count;
} build_job;

static uint32_t band_begin( const build_job* job, uint32_t band )
{
    return (uint32_t)( (uint64_t)job->input->live_count * band / job->band_count );
}

static grid_span span_of( const grid_lattice* lattice, const clv_aabb* box )
{
    grid_span span;
    uint64_t cell_count = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        span.low[axis] = (uint16_t)grid_lattice_at( lattice, axis, ( &box->lower.x )[axis] );
        span.high[axis] = (uint16_t)grid_lattice_at( lattice, axis, ( &box->upper.x )[axis] );
        cell_count *= (uint64_t)( span.high[axis] - span.low[axis] ) + 1;
    }
    span.low[0] = cell_count > LARGE ? LARGE_MARK : span.low[0];
    return span;
}

// Group of a cell's entry: cell number and the bits "began before", as one key.
static uint32_t key_of( const grid_lattice* lattice, const grid_span* span, const uint32_t cell[3] )
{
    uint32_t number = ( cell[2] * lattice->cells[1] + cell[1] ) * lattice->cells[0] + cell[0];
    uint32_t began_before = ( cell[0] > span->low[0] ? 1u : 0 ) | ( cell[1] > span->low[1] ? 2u : 0 ) |
        ( cell[2] > span->low[2] ? 4u : 0 );
    return number * GRID_GROUPS + began_before;
}

// Counts a box in all its cells; or, if there are entries, enters it at the places that `counters` hold.
static void visit_cells(
    const grid_lattice* lattice, const grid_span* span, uint32_t* counters, uint32_t* entries, uint32_t slot )
{
    uint32_t cell[3];
    for ( cell[2] = span->low[2]; cell[2] <= span->high[2]; ++cell[2] )
    {
        for ( cell[1] = span->low[1]; cell[1] <= span->high[1]; ++cell[1] )
        {
            for ( cell[0] = span->low[0]; cell[0] <= span->high[0]; ++cell[0] )
            {
                uint32_t key = key_of( lattice, span, cell );
                if ( entries != NULL )
                {
                    entries[counters[key]] = slot;
                }
                counters[key] += 1;
            }
        }
    }
}

static void count_band( uint32_t band, uint32_t worker, void* context )
{
    (void)worker;
    build_job* job = context;
    grid_cells* cells = job->cells;
    uint32_t* counters = cells->counts.items + (uint64_t)band * job->key_count;
    memset( counters, 0, job->key_count * sizeof( uint32_t ) );
    uint32_t end = band_begin( job, band + 1 );
    for ( uint32_t i = band_begin( job, band ); i < end; ++i )
    {
        grid_span span =
            span_of( &cells->lattice, &job->input->boxes[clv_method_live_slot( job->input, i )] );
        cells->spans.items[i] = span;
        if ( !grid_span_is_large( &span ) )
        {
            visit_cells( &cells->lattice, &span, counters, NULL, 0 );
        }
    }
}

static void enter_band( uint32_t band, uint32_t worker, void* context )
{
    (void)worker;
    build_job* job = context;
    grid_cells* cells = job->cells;
    uint32_t* counters = cells->counts.items + (uint64_t)band * job->key_count;
    uint32_t end = band_begin( job, band + 1 );
    for ( uint32_t i = band_begin( job, band ); i < end; ++i )
    {
        if ( !grid_span_is_large( &cells->spans.items[i] ) )
        {
            visit_cells( &cells->lattice, &cells->spans.items[i], counters, cells->entries.items,
                clv_method_live_slot( job->input, i ) );
        }
    }
}

// Counts become places: group by group, and in a group band by band. False if there are more than 2^29
// entries.
static bool counts_to_places( build_job* job )
{
    grid_cells* cells = job->cells;
    uint64_t sum = 0;
    for ( uint32_t key = 0; key < job->key_count; ++key )
    {
        cells->starts.items[key] = (uint32_t)sum;
        for ( uint32_t band = 0; band < job->band_count; ++band )
        {
            uint32_t* counter = &cells->counts.items[(uint64_t)band * job->key_count + key];
            uint32_t count = *counter;
            *counter = (uint32_t)sum;
            sum += count;
        }
        if ( sum > UINT32_MAX / GRID_GROUPS ) // a sweep tags an entry with its group
        {
            return false;
        }
    }
    cells->starts.items[job->key_count] = (uint32_t)sum;
    return true;
}

static void find_fullest( grid_cells* cells )
{
    cells->fullest = 0;
    for ( uint32_t cell = 0; cell < cells->lattice.cell_count; ++cell )
    {
        uint32_t count =
            cells->starts.items[( cell + 1 ) * GRID_GROUPS] - cells->starts.items[cell * GRID_GROUPS];
        cells->fullest = count > cells->fullest ? count : cells->fullest;
    }
}

static uint32_t count_large( const grid_cells* cells, uint32_t box_count )
{
    uint32_t count = 0;
    for ( uint32_t i = 0; i < box_count; ++i )
    {
        count += grid_span_is_large( &cells->spans.items[i] );
    }
    return count;
}

static uint32_t choose_band_count( uint32_t count, uint32_t key_count )
{
    uint64_t by_size = count / BAND;
    uint64_t by_memory = (uint64_t)count * COUNTERS_PER_BOX / key_count;
    uint64_t bands = by_size < by_memory ? by_size : by_memory;
    bands = bands < BANDS_MOST ? bands : BANDS_MOST;
    return bands > 1 ? (uint32_t)bands : 1;
}

clv_result clv_grid_cells_enter(
    grid_cells* cells, base_memory* memory, task_runner* tasks, const clv_method_input* input )
{
    build_job job = { cells, input, 1, cells->lattice.cell_count * GRID_GROUPS };
    job.band_count = choose_band_count( input->live_count, job.key_count );
    cells->entries.count = 0;
    if ( !base_array_reserve( &cells->spans, memory, input->live_count ) ||
        !base_array_reserve( &cells->starts, memory, (uint64_t)job.key_count + 1 ) ||
        !base_array_reserve( &cells->counts, memory, (uint64_t)job.key_count * job.band_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_task_run( tasks, count_band, job.band_count, &job );
    if ( !counts_to_places( &job ) ||
        !base_array_reserve( &cells->entries, memory, cells->starts.items[job.key_count] ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    cells->entries.count = cells->starts.items[job.key_count];
    cells->large_count = count_large( cells, input->live_count );
    clv_task_run( tasks, enter_band, job.band_count, &job );
    find_fullest( cells );
    CLV_VALIDATE( clv_grid_cells_check( cells, input ) == NULL );
    return CLV_OK;
}

void clv_grid_cells_release( grid_cells* cells, base_memory* memory )
{
    base_array_free( &cells->spans, memory );
    base_array_free( &cells->starts, memory );
    base_array_free( &cells->counts, memory );
    base_array_free( &cells->entries, memory );
    *cells = ( grid_cells ){ 0 };
}

uint32_t clv_grid_cells_part( const grid_cells* cells, uint32_t part, uint32_t part_count )
{
    uint64_t wanted = cells->entries.count * part / part_count;
    uint32_t low = 0;
    uint32_t high = cells->lattice.cell_count;
    while ( low < high )
    {
        uint32_t middle = low + ( high - low ) / 2;
        if ( cells->starts.items[middle * GRID_GROUPS] < wanted )
        {
            low = middle + 1;
        }
        else
        {
            high = middle;
        }
    }
    return part >= part_count ? cells->lattice.cell_count : low;
}

const char* clv_grid_cells_check( const grid_cells* cells, const clv_method_input* input )
{
    uint64_t expected = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        const grid_span* span = &cells->spans.items[i];
        uint64_t count = 1;
        for ( int axis = 0; axis < 3 && !grid_span_is_large( span ); ++axis )
        {
            if ( span->low[axis] > span->high[axis] || span->high[axis] >= cells->lattice.cells[axis] )
            {
                return "a box spans cells that are not there";
            }
            count *= (uint64_t)( span->high[axis] - span->low[axis] ) + 1;
        }
        expected += !grid_span_is_large( span ) ? count : 0;
    }
    if ( expected != cells->entries.count )
    {
        return "the cells hold more or fewer entries than the boxes span";
    }
    for ( uint32_t key = 0; key < cells->lattice.cell_count * GRID_GROUPS; ++key )
    {
        for ( uint32_t i = cells->starts.items[key] + 1; i < cells->starts.items[key + 1]; ++i )
        {
            if ( cells->entries.items[i - 1] >= cells->entries.items[i] )
            {
                return "a group of a cell is not in ascending order of slots";
            }
        }
    }
    return NULL;
}

// ---- grid large

enum
{
    TILE = 2048 // columns of a piece
};

bool clv_grid_large_load(
    grid_large* large, base_memory* memory, const grid_cells* cells, const clv_method_input* input )
{
    large->count = cells->large_count;
    large->piece_count = large->count > 0 ? ( input->live_count + TILE - 1 ) / TILE : 0;
    if ( large->count == 0 )
    {
        return true;
    }
    if ( !clv_simd_box_lanes_reserve( &large->all, memory, input->live_count ) )
    {
        return false;
    }
    uint32_t next_large = 0;
    uint32_t next_small = large->count;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        uint32_t place = grid_span_is_large( &cells->spans.items[i] ) ? next_large++ : next_small++;
        simd_box_lanes_set( &large->all.boxes, place, &input->boxes[slot], slot, 0 );
    }
    clv_simd_box_lanes_finish( &large->all, input->live_count );
    return true;
}

clv_result clv_grid_large_search( const grid_large* large, const simd_method_kernels* kernels, uint32_t piece,
    clv_pair_sink* sink, uint64_t* test_count )
{
    const simd_boxes* boxes = &large->all.boxes;
    uint32_t begin = piece * TILE;
    uint32_t end = boxes->count - begin > TILE ? begin + TILE : boxes->count;
    *test_count += (uint64_t)large->count * ( end - begin );
    simd_cursor cursor = { 0, 0 };
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE( result, sink, kernels->test_block( boxes, large->count, begin, end, &cursor, sink ) )
    return result;
}

void clv_grid_large_release( grid_large* large, base_memory* memory )
{
    clv_simd_box_lanes_release( &large->all, memory );
    *large = ( grid_large ){ 0 };
}
