// SPDX-License-Identifier: MIT
// How many entries each cell gets. Boxes are counted by first cell and class, one addition each; the entries
// of a cell follow from the classes in the eight cells it is reached from. Wide boxes are counted cell by
// cell.
#include "engine/corner.h"

#include "base/assertion.h"

// One entry in each cell of a box that spans more than two on some axis; false if that would be more than
// `room`.
static bool count_wide(
    const cell_grid* grid, cell_span span, uint32_t* counts, uint64_t room, uint64_t* sum )
{
    uint32_t x0 = cell_field( span.first, 0 ), y0 = cell_field( span.first, 1 ),
             z0 = cell_field( span.first, 2 );
    uint32_t x1 = cell_field( span.last, 0 ), y1 = cell_field( span.last, 1 ),
             z1 = cell_field( span.last, 2 );
    CLV_ASSERT( x0 <= x1 && y0 <= y1 && z0 <= z1 );
    CLV_ASSERT( x1 < grid->dims[0] && y1 < grid->dims[1] && z1 < grid->dims[2] );
    *sum += (uint64_t)( x1 - x0 + 1 ) * ( y1 - y0 + 1 ) * ( z1 - z0 + 1 );
    if ( *sum > room )
    {
        return false;
    }
    for ( uint32_t z = z0; z <= z1; ++z )
    {
        for ( uint32_t y = y0; y <= y1; ++y )
        {
            for ( uint32_t x = x0; x <= x1; ++x )
            {
                counts[cell_at( grid, x, y, z )] += 1;
            }
        }
    }
    return true;
}

// Some boxes by first cell, from `first` on, and class; the wide ones go to `counts` at once, and to `sum`.
// False if the grid makes more entries than there is room for.
static bool count_records( const cell_job* job, const scaling* s, const cell_record* records, uint32_t count,
    uint32_t first, uint32_t* kinds, uint32_t* counts, uint64_t* sum )
{
    const uint64_t room = (uint64_t)job->count * CELL_ENTRIES_PER_BOX;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const cell_record* record = &records[i];
        uint32_t kind = cell_class( record );
        CLV_ASSERT( kind <= CELL_WIDE );
        CLV_ASSERT( cell_first( record ) < cell_grid_count( &job->grid ) );
        if ( kind != CELL_WIDE )
        {
            CLV_ASSERT( cell_first( record ) >= first ); // or it does not reach the share
            kinds[( cell_first( record ) - first ) * 8 + kind] += 1;
            continue;
        }
        cell_words words = cell_words_of( &job->boxes[cell_slot( record )], s );
        if ( !count_wide( &job->grid, cell_words_span( &words ), counts, room, sum ) )
        {
            return false;
        }
    }
    return true;
}

static bool count_kinds(
    const cell_job* job, const cell_share* share, uint32_t first, uint32_t* kinds, uint32_t* counts )
{
    const scaling s = scaling_of( &job->grid );
    uint64_t sum = 0;
    bool fits = true;
    for ( uint32_t i = 0; i < cell_segment_count( share ) && fits; ++i )
    {
        cell_segment segment = cell_segment_at( share, i );
        CLV_ASSERT( segment.count <= segment.capacity );
        fits = count_records(
            job, &s, share->records + segment.first, segment.count, first, kinds, counts, &sum );
    }
    return fits;
}

// Cells side by side.
typedef struct cell_range
{
    uint32_t first, last;
} cell_range;

// The cells that a share is reached from: up to a row and a cell before it, and as far before the same cells
// a layer lower. A share of few rows leaves out what lies between; otherwise the second range is empty.
static void reach_of( const cell_share* share, const corner_cells* near, cell_range ranges[2] )
{
    uint32_t first = share->first_cell, last = share->last_cell;
    uint32_t row = near->offset[3], layer = near->offset[4];
    cell_range below = { first > layer + row ? first - layer - row : 0, last > layer ? last - layer : 0 };
    cell_range here = { first > row ? first - row : 0, last };
    bool are_apart = below.last < here.first;
    ranges[0] = ( cell_range ){ below.first, are_apart ? below.last : here.last };
    ranges[1] = ( cell_range ){ are_apart ? here.first : here.last, here.last };
}

// A cell has an entry of every box whose class reaches it from one of the eight cells around its lower
// corner: of these the cells of a range. The first of `kinds` is that of cell `base`.
static void spread_kinds( const cell_grid* grid, const corner_cells* near, cell_range range, uint32_t base,
    uint32_t* kinds, uint32_t* counts )
{
    uint32_t cell_count = cell_grid_count( grid );
    for ( uint32_t cell = range.first; cell < range.last; ++cell )
    {
        uint32_t* k =
            kinds + (size_t)( cell - base ) * 8; // becomes, per corner, the boxes of all classes that have it
        for ( uint32_t bit = 1; bit < 8; bit *= 2 )
        {
            for ( uint32_t corner = 0; corner < 8; ++corner )
            {
                k[corner] += ( corner & bit ) == 0 ? k[corner | bit] : 0;
            }
        }
    }
    for ( uint32_t corner = 0; corner < 8; ++corner )
    {
        uint32_t offset =
            near->offset[corner]; // no class reaches beyond the grid, so what is cut off here is 0
        uint32_t end =
            cell_count > offset && range.last < cell_count - offset ? range.last : cell_count - offset;
        for ( uint32_t cell = range.first; cell < end && offset < cell_count; ++cell )
        {
            counts[cell + offset] += kinds[(size_t)( cell - base ) * 8 + corner];
        }
    }
}

bool clv_engine_cell_count_entries(
    const cell_job* job, const cell_share* share, uint32_t* kinds, uint32_t* counts )
{
    CLV_ASSERT( share->first_cell < share->last_cell );
    CLV_ASSERT( share->last_cell <= cell_grid_count( &job->grid ) );
    const corner_cells near = corner_cells_of( &job->grid );
    cell_range ranges[2];
    reach_of( share, &near, ranges );
    uint32_t base = ranges[0].first;
    memset( counts + share->first_cell, 0, ( share->last_cell - share->first_cell ) * sizeof( uint32_t ) );
    for ( int i = 0; i < 2; ++i )
    {
        memset( kinds + (size_t)( ranges[i].first - base ) * 8, 0,
            (size_t)( ranges[i].last - ranges[i].first ) * 8 * sizeof( uint32_t ) );
    }
    if ( !count_kinds( job, share, base, kinds, counts ) )
    {
        return false;
    }
    for ( int i = 0; i < 2; ++i )
    {
        spread_kinds( &job->grid, &near, ranges[i], base, kinds, counts );
    }
    return true;
}

uint32_t clv_engine_cell_sum_starts( uint32_t* starts, uint32_t cell_count )
{
    uint32_t sum = 0;
    for ( uint32_t cell = 0; cell < cell_count; ++cell )
    {
        uint32_t here = starts[cell];
        starts[cell] = sum;
        sum += here;
    }
    return sum;
}
