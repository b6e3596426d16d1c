// SPDX-License-Identifier: MIT
// Laying a grid: choose one, count the entries it makes, and try another where these are too many or crowd
// into one cell. Written once for one worker in its own memory and for all workers together; they differ in
// which workers make the records and which count.
#include "engine/cell.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

enum
{
    ZOOMS = 1,
    DRAWN = 4 * CELL_SAMPLES, // boxes looked at to find a sample of those in one cell
};

static void measure_once( cell_crew* crew )
{
    if ( !crew->is_measured )
    {
        crew->extent = clv_engine_cell_measure_job( crew->job );
        crew->is_measured = true;
    }
}

// Where the boxes of a cell begin: its own region, and at the border all beyond it.
static void region_of_cell( const cell_crew* crew, uint32_t cell, float low[3], float high[3] )
{
    const cell_grid* grid = &crew->job->grid;
    CLV_ASSERT( cell < cell_grid_count( grid ) );
    uint32_t at[3] = { cell % grid->dims[0], cell / grid->dims[0] % grid->dims[1],
        cell / grid->dims[0] / grid->dims[1] };
    for ( int axis = 0; axis < 3; ++axis )
    {
        float side = CELL_STEPS / grid->scale[axis];
        bool is_last = at[axis] + 1 == grid->dims[axis];
        low[axis] = at[axis] == 0 ? crew->low[axis] : grid->origin[axis] + (float)at[axis] * side;
        high[axis] = is_last ? crew->high[axis] : grid->origin[axis] + (float)( at[axis] + 1 ) * side;
    }
}

static bool reaches( const clv_aabb* box, const float low[3], const float high[3] )
{
    bool is_in = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        is_in = is_in && ( &box->lower.x )[axis] <= high[axis] && ( &box->upper.x )[axis] >= low[axis];
    }
    return is_in;
}

// A grid over the fullest cell alone, for those that crowd in it: others may be of another size.
static void zoom_in( cell_crew* crew, uint32_t fullest, uint32_t crowd )
{
    float low[3], high[3];
    clv_aabb samples[CELL_SAMPLES];
    uint32_t count = 0, drawn = crew->job->count < DRAWN ? crew->job->count : DRAWN;
    region_of_cell( crew, fullest, low, high );
    for ( uint32_t i = 0; i < drawn && count < CELL_SAMPLES; ++i )
    {
        const clv_aabb* box =
            &crew->job->boxes[crew->slot( crew, base_sample( i, drawn, crew->job->count ) )];
        samples[count] = *box;
        count += reaches( box, low, high );
    }
    if ( count > 0 ) // rounding may put a crowd beyond its cell
    {
        crew->extent = clv_engine_cell_measure( samples, count, low, high );
        crew->job->grid = clv_engine_cell_grid_choose( crowd, &crew->extent );
    }
}

// Should another grid be tried? Then the job has it.
static bool try_another( cell_crew* crew, bool fits, cell_layout layout, uint32_t fullest )
{
    cell_grid* grid = &crew->job->grid;
    uint32_t count = crew->job->count;
    if ( !fits )
    {
        measure_once( crew );
        return clv_engine_cell_grid_coarsen( grid, &crew->extent );
    }
    bool is_crowded = count > CELL_OVERFULL && layout.fullest > count / 2;
    if ( !is_crowded || crew->zoom_count == ZOOMS || cell_grid_count( grid ) == 1 )
    {
        return false;
    }
    crew->zoom_count += 1;
    crew->is_measured = true;
    zoom_in( crew, fullest, layout.fullest );
    return true;
}

// All entries, those of the fullest cell, and which it is; false if there are more than the grid is worth.
static bool sum_counts( const cell_crew* crew, cell_layout* layout, uint32_t* fullest )
{
    uint32_t cell_count = cell_grid_count( &crew->job->grid ), most = 0;
    uint64_t sum = 0;
    for ( uint32_t cell = 0; cell < cell_count; ++cell )
    {
        sum += crew->counts[cell];
        most = crew->counts[cell] > crew->counts[most] ? cell : most;
    }
    *layout = ( cell_layout ){ (uint32_t)sum, crew->counts[most], 0 };
    *fullest = most;
    return sum <= (uint64_t)crew->job->count * CELL_ENTRIES_PER_BOX;
}

bool clv_engine_cell_lay( cell_crew* crew, cell_layout* layout )
{
    if ( crew->job->grid.dims[0] == 0 )
    {
        measure_once( crew );
        crew->job->grid = clv_engine_cell_grid_choose( crew->job->count, &crew->extent );
        crew->has_records = false;
    }
    for ( ;; )
    {
        uint32_t fullest = 0;
        *layout = ( cell_layout ){ 0, 0, 0 };
        if ( !crew->has_records && !crew->make( crew ) )
        {
            return false;
        }
        CLV_ASSERT( crew->counts != NULL );
        CLV_ASSERT( cell_grid_count( &crew->job->grid ) > 0 );
        bool fits = crew->count( crew ) && sum_counts( crew, layout, &fullest );
        if ( !try_another( crew, fits, *layout, fullest ) )
        {
            return true;
        }
        crew->has_records = false;
        if ( crew->reconsider != NULL )
        {
            crew->reconsider( crew );
        }
    }
}

// ---- one worker

static bool make_alone( cell_crew* crew )
{
    clv_engine_cell_requantise( crew->job, &crew->job->grid, crew->job->records, crew->job->count );
    return true;
}

static uint32_t slot_alone( const cell_crew* crew, uint32_t index )
{
    return cell_slot( &crew->job->records[index] );
}

static bool count_alone( cell_crew* crew )
{
    const cell_job* job = crew->job;
    cell_share all = cell_share_all( job );
    return clv_engine_cell_count_entries( job, &all, job->scratch->kinds, crew->counts );
}

cell_layout clv_engine_cell_lay_alone( cell_job* job )
{
    cell_crew crew;
    crew.job = job;
    crew.is_measured = false;
    crew.has_records = true;
    crew.zoom_count = 0;
    crew.counts = job->starts + 1;
    crew.make = make_alone;
    crew.count = count_alone;
    crew.slot = slot_alone;
    memcpy( crew.low, job->region_low, sizeof( crew.low ) );
    memcpy( crew.high, job->region_high, sizeof( crew.high ) );
    crew.reconsider = NULL;
    cell_layout layout;
    bool ok = clv_engine_cell_lay( &crew, &layout );
    CLV_ASSERT( ok );
    (void)ok;
    return layout;
}

void clv_engine_cell_requantise(
    const cell_job* job, const cell_grid* grid, cell_record* records, uint32_t count )
{
    const scaling s = scaling_of( grid );
    for ( uint32_t first = 0; first < count; first += CELL_PART )
    {
        uint32_t slots[CELL_PART], before[CELL_PART];
        uint32_t part = count - first < CELL_PART ? count - first : CELL_PART;
        for ( uint32_t i = 0; i < part; ++i )
        {
            slots[i] = cell_slot( &records[first + i] );
            before[i] = cell_before( &records[first + i] );
        }
        cell_boxes some = { job->boxes, slots, 0, part };
        job->kernels->make_records( &some, &s, records + first );
        for ( uint32_t i = 0; i < part; ++i )
        {
            records[first + i].code |= (uint64_t)before[i] << 24;
        }
    }
}
