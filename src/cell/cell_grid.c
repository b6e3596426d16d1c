// SPDX-License-Identifier: MIT
// How many cells. Larger cells mean more tests, smaller ones more copies of boxes that straddle; the least sum of both is
// found by trying, with costs measured in cycles.
#include "cell/cell.h"

#include <math.h>

static const double COST_ENTRY = 8; // counted, placed, made small, its row set up
static const double COST_WORD = 8;  // 64 lanes tested against one row
static const double COST_CELL = 30; // looked at at all

typedef struct region
{
    double width[3];
    double size[3];
    double crowding;
} region;

static region region_of( const cell_extent* extent )
{
    region r;
    r.crowding = extent->crowding;
    double widest = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        r.width[axis] = (double)extent->high[axis] - (double)extent->low[axis];
        r.size[axis] = extent->size[axis];
        widest = r.width[axis] > widest ? r.width[axis] : widest;
    }
    // A flat region has one layer of cells; its thickness only has to be something.
    double least = widest > 0 ? widest * 1e-6 : 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        r.width[axis] = r.width[axis] > least ? r.width[axis] : least;
    }
    return r;
}

static uint32_t cells_along( double width, double side, double size )
{
    // Cells narrower than what lies in them only make copies.
    double least = 0.75 * size;
    double count = width / ( side > least ? side : least );
    return !( count > 1 ) ? 1 : count > CELL_GRID_SIDE ? CELL_GRID_SIDE : (uint32_t)count;
}

static double cost_of( const region* r, uint32_t count, const uint32_t dims[3] )
{
    double copies = 1, cells = 1;
    for ( int axis = 0; axis < 3; ++axis )
    {
        copies *= 1 + r->size[axis] * dims[axis] / r->width[axis] * ( dims[axis] > 1 );
        cells *= dims[axis];
    }
    double entries = count * copies;
    double per_cell = entries / cells * r->crowding; // around an entry, not around an empty cell
    return entries * ( COST_ENTRY + COST_WORD * ( 0.5 + per_cell / 128 ) ) + cells * COST_CELL;
}

static cell_grid grid_with( const cell_extent* extent, const region* r, const uint32_t dims[3] )
{
    cell_grid grid;
    for ( int axis = 0; axis < 3; ++axis )
    {
        grid.origin[axis] = extent->low[axis];
        grid.dims[axis] = dims[axis];
        double scale = CELL_STEPS * dims[axis] / r->width[axis];
        grid.scale[axis] = (float)( scale < 1e30 ? scale : 1e30 );
    }
    return grid;
}

cell_grid cell_grid_choose( uint32_t count, const cell_extent* extent )
{
    static const double targets[] = { 4, 6, 9, 13, 19, 28, 40, 56, 80, 120 };
    region r = region_of( extent );
    double volume = r.width[0] * r.width[1] * r.width[2];
    uint32_t best[3] = { 1, 1, 1 };
    if ( count <= CELL_ALONE )
    {
        return grid_with( extent, &r, best );
    }
    double best_cost = cost_of( &r, count, best );
    for ( uint32_t i = 0; i < sizeof( targets ) / sizeof( targets[0] ); ++i )
    {
        double side = cbrt( volume * targets[i] / count );
        uint32_t dims[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            dims[axis] = cells_along( r.width[axis], side, r.size[axis] );
        }
        double cost = cost_of( &r, count, dims );
        bool fits = (uint64_t)dims[0] * dims[1] * dims[2] <= count / CELL_BOXES_PER_CELL + 1;
        if ( fits && cost < best_cost )
        {
            best_cost = cost;
            best[0] = dims[0], best[1] = dims[1], best[2] = dims[2];
        }
    }
    return grid_with( extent, &r, best );
}

bool cell_grid_coarsen( cell_grid* grid, const cell_extent* extent )
{
    region r = region_of( extent );
    // The axis whose cells are narrowest against what lies in them makes most copies.
    int worst = -1;
    double most = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double copies = r.size[axis] * grid->dims[axis] / r.width[axis] + 1e-3 * grid->dims[axis];
        if ( grid->dims[axis] > 1 && copies > most )
        {
            most = copies;
            worst = axis;
        }
    }
    if ( worst < 0 )
    {
        return false;
    }
    uint32_t dims[3] = { grid->dims[0], grid->dims[1], grid->dims[2] };
    dims[worst] /= 2;
    *grid = grid_with( extent, &r, dims );
    return true;
}

bool cell_grid_misses( const cell_grid* grid, const clv_aabb* box )
{
    const float* lower = &box->lower.x;
    const float* upper = &box->upper.x;
    bool misses = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float steps = (float)( grid->dims[axis] * CELL_STEPS );
        misses = misses | ( ( upper[axis] - grid->origin[axis] ) * grid->scale[axis] < 0 ) |
            ( ( lower[axis] - grid->origin[axis] ) * grid->scale[axis] > steps );
    }
    return misses;
}
