// SPDX-License-Identifier: MIT
// Sums run in slot order, in double, on one thread: the same lattice on every instruction set.
#include "grid/grid_lattice.h"

#include "sweep/bulk.h"

#include <math.h>

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
