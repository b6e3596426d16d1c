// SPDX-License-Identifier: MIT
// Sums run in slot order, in double, on one thread: the same lattice on every instruction set.
#include "grid/grid_lattice.h"

#include "base/bits.h"

#include <math.h>

enum
{
    BULK_SAMPLES = 256,
    BULK_REACH = 3,     // an outlier lies this many widths of the bulk outside the bulk
    CELLS_MOST = 65535, // along an axis: a coordinate fits 16 bits
};

// What the bulk of the boxes looks like on one axis.
typedef struct bulk
{
    double low, high; // centres outside have no say
    double least, most;
    double side_sum;
} bulk;

static double centre_at( const clv_aabb* box, int axis )
{
    return 0.5 * ( (double)( &box->lower.x )[axis] + (double)( &box->upper.x )[axis] );
}

static void sort_bulk( double* values, uint32_t count )
{
    for ( uint32_t i = 1; i < count; ++i )
    {
        double value = values[i];
        uint32_t hole = i;
        for ( ; hole > 0 && values[hole - 1] > value; --hole )
        {
            values[hole] = values[hole - 1];
        }
        values[hole] = value;
    }
}

// The middle nine tenths of a sample, widened.
static bulk find_bulk( const clv_method_input* input, int axis )
{
    double samples[BULK_SAMPLES];
    uint32_t sample_count = 0;
    uint32_t step = input->live_count / BULK_SAMPLES + 1;
    for ( uint32_t i = 0; i < input->live_count; i += step )
    {
        double centre = centre_at( &input->boxes[clv_method_live_slot( input, i )], axis );
        if ( base_is_finite( centre ) )
        {
            samples[sample_count++] = centre;
        }
    }
    bulk b = { -INFINITY, INFINITY, INFINITY, -INFINITY, 0 };
    sort_bulk( samples, sample_count );
    if ( sample_count > 0 )
    {
        double first = samples[sample_count / 20];
        double last = samples[sample_count - 1 - sample_count / 20];
        if ( last > first )
        {
            b.low = first - BULK_REACH * ( last - first );
            b.high = last + BULK_REACH * ( last - first );
        }
    }
    return b;
}

// Extent of the bulk and sum of its sides; how many boxes it has.
static double measure_bulks( const clv_method_input* input, bulk bulks[3] )
{
    double inside = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, i )];
        double centre[3];
        bool is_in = true;
        for ( int axis = 0; axis < 3; ++axis )
        {
            centre[axis] = centre_at( box, axis );
            is_in = is_in && base_is_finite( centre[axis] ) && centre[axis] >= bulks[axis].low &&
                centre[axis] <= bulks[axis].high;
        }
        if ( !is_in )
        {
            continue;
        }
        inside += 1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            bulk* b = &bulks[axis];
            b->least = centre[axis] < b->least ? centre[axis] : b->least;
            b->most = centre[axis] > b->most ? centre[axis] : b->most;
            b->side_sum += (double)( &box->upper.x )[axis] - (double)( &box->lower.x )[axis];
        }
    }
    return inside;
}

// By arithmetic alone: the C library's cbrt may round as it likes. `value` > 0.
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

// The average side need not bound the number of cells where the extents differ wildly; this does.
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

// The bulk of all boxes; how many there are.
static double survey( const clv_method_input* input, bulk bulks[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        bulks[axis] = find_bulk( input, axis );
    }
    return measure_bulks( input, bulks );
}

// Cells are decided: where they lie.
static void place_cells( grid_lattice* lattice, const bulk bulks[3], const double extent[3], double inside )
{
    lattice->cell_count = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t cells = lattice->cells[axis];
        float scale = cells > 1 ? (float)( cells / extent[axis] ) : 0;
        lattice->cells[axis] = isfinite( scale ) ? cells : 1;
        lattice->scale[axis] = isfinite( scale ) ? scale : 0;
        lattice->origin[axis] = inside > 0 ? (float)bulks[axis].least : 0;
        lattice->cell_count *= lattice->cells[axis];
    }
}

grid_lattice clv_grid_lattice_choose( const clv_method_input* input, double objects_per_cell, int dimensions )
{
    bulk bulks[3];
    double inside = survey( input, bulks );
    grid_lattice lattice = { .cells = { 1, 1, 1 }, .uncut_axis = -1 };
    double extent[3], side[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent[axis] = inside > 0 ? bulks[axis].most - bulks[axis].least : 0;
        side[axis] = inside > 0 ? bulks[axis].side_sum / inside : 0;
    }
    if ( dimensions == 2 )
    {
        lattice.uncut_axis = flattest_axis( extent );
        extent[lattice.uncut_axis] = 0;
    }
    double wanted = inside / objects_per_cell;
    cut_extent( extent, side, wanted > 1 ? wanted : 1, lattice.cells );
    bound_cells( lattice.cells, 2 * ( wanted > 1 ? wanted : 1 ) + 8 );
    place_cells( &lattice, bulks, extent, inside );
    return lattice;
}

grid_lattice clv_grid_lattice_even( const clv_method_input* input, uint32_t cells )
{
    bulk bulks[3];
    double inside = survey( input, bulks );
    grid_lattice lattice = { .cells = { 1, 1, 1 }, .uncut_axis = -1 };
    double extent[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        extent[axis] = inside > 0 ? bulks[axis].most - bulks[axis].least : 0;
        lattice.cells[axis] = extent[axis] > 0 ? cells : 1;
    }
    place_cells( &lattice, bulks, extent, inside );
    return lattice;
}
