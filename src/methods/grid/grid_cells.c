// SPDX-License-Identifier: MIT
// A counting sort by cell and group. Bands of boxes are counted and entered apart, so that workers need not
// share counters; inside a group the entries keep the order of the boxes whatever the number of bands.
#include "grid/grid_cells.h"

#include "base/assertion.h"

#include <string.h>

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

clv_result clv_grid_cells_build( grid_cells* cells, base_memory* memory, task_runner* tasks,
    const clv_method_input* input, double objects_per_cell, int dimensions )
{
    cells->lattice = clv_grid_lattice_choose( input, objects_per_cell, dimensions );
    return clv_grid_cells_enter( cells, memory, tasks, input );
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
