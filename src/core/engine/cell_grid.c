// SPDX-License-Identifier: MIT
// How many cells along each axis. Larger cells mean more tests, smaller ones more copies of boxes that
// straddle. Found axis by axis: where boxes lie on one floor, cells along the height tell none apart and cost
// copies, and the model says so.
#include "engine/cell.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <math.h>
#include <string.h>

// In cycles, measured.
static const double COST_ENTRY = 8; // counted, placed, made small, its row set up
static const double COST_WORD = 8;  // 64 lanes tested against one row
static const double COST_CELL = 30; // looked at at all

// Cells narrower than this part of what lies in them only make copies.
static const double NARROWEST = 0.75;

typedef struct region
{
    const cell_extent* extent;
    double width[3];
    uint32_t most[3]; ///< cells along each axis
    double part[3];   ///< mean size, against the width
    double joint[3], joint_root[3];
    uint32_t count;
} region;

// Some cells along one axis.
typedef struct axis_cells
{
    uint32_t count;
    double reach; ///< the same, or 0 for one, which makes no copies
    double share; ///< of the other boxes, those in a box's cell
} axis_cells;

static region region_of( const cell_extent* extent, uint32_t count )
{
    region r = { .extent = extent, .count = count };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double width = (double)extent->high[axis] - (double)extent->low[axis];
        r.width[axis] = width > 0 ? width : 1; // one layer of cells, whose thickness only has to be something
        double most =
            r.width[axis] / ( NARROWEST * (double)extent->size[axis] ); // infinite where sizes are 0
        r.part[axis] = (double)extent->size[axis] / r.width[axis];
        r.joint[axis] = (double)extent->joint[axis];
        r.joint_root[axis] = sqrt( r.joint[axis] ); // rounded the same everywhere
        r.most[axis] = !( most > 1 ) ? 1 : most > CELL_GRID_SIDE ? CELL_GRID_SIDE : (uint32_t)most;
    }
    return r;
}

// Between the levels that were measured, as if boxes were spread evenly.
static axis_cells axis_cells_of( const region* r, int axis, uint32_t count )
{
    const float* share = r->extent->share[axis];
    uint32_t level = 0;
    while ( 2u << level <= count )
    {
        level += 1;
    }
    axis_cells cells = { count, count > 1 ? count : 0, (double)share[level] };
    uint32_t below = 1u << level;
    if ( count > below )
    {
        double part = 2 * (double)( count - below ) / count;
        cells.share += part * ( (double)share[level + 1] - (double)share[level] );
    }
    return cells;
}

// Of the other boxes, those in a box's cell. Axes that have to do with each other tell fewer apart together,
// the more so the more both are cut, but never fewer than the better of them alone. Measured at four cells
// each; the square root stands for two or three. Where all three have to do with each other, two of the pairs
// say so already.
static double share_of( const region* r, const axis_cells along[3] )
{
    double least = 1, share = 1, weakest = HUGE_VAL;
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t a = along[( axis + 1 ) % 3].count, b = along[( axis + 2 ) % 3].count;
        uint32_t fewer = a < b ? a : b;
        double joint = fewer >= 4 ? r->joint[axis] : fewer > 1 ? r->joint_root[axis] : 1;
        weakest = joint < weakest ? joint : weakest;
        share *= along[axis].share * joint;
        least = along[axis].share < least ? along[axis].share : least;
    }
    share /= weakest;
    return share < least ? share : least;
}

// Entries of a box, on average: in as many cells as it reaches along each axis, but along an axis of one cell
// only there.
static double copies_of( const region* r, const axis_cells along[3] )
{
    double x = along[0].reach, y = along[1].reach, z = along[2].reach;
    const cell_extent* e = r->extent;
    return 1 + x * r->part[0] + y * r->part[1] + z * r->part[2] + y * z * (double)e->area[0] +
        z * x * (double)e->area[1] + x * y * (double)e->area[2] + x * y * z * (double)e->volume;
}

static double cost_of( const region* r, const axis_cells along[3] )
{
    double cells = (double)along[0].count * along[1].count * along[2].count;
    double entries = r->count * copies_of( r, along );
    double per_cell = entries * share_of( r, along ); // around an entry, not around an empty cell
    return entries * ( COST_ENTRY + COST_WORD * ( 0.5 + per_cell / 128 ) ) + cells * COST_CELL;
}

static bool fits( const region* r, const axis_cells along[3] )
{
    return (uint64_t)along[0].count * along[1].count * along[2].count <= cell_count_most( r->count );
}

// Take `count` cells along an axis if that costs less.
static bool improve( const region* r, axis_cells along[3], int axis, uint32_t count, double* cost )
{
    if ( count < 1 || count > r->most[axis] || count == along[axis].count )
    {
        return false;
    }
    axis_cells before = along[axis];
    along[axis] = axis_cells_of( r, axis, count );
    double now = fits( r, along ) ? cost_of( r, along ) : HUGE_VAL;
    bool is_better = now < *cost;
    *cost = is_better ? now : *cost;
    along[axis] = is_better ? along[axis] : before;
    return is_better;
}

// Cells as wide as high, of the size that costs least: the widest axis is cut into more and more of them.
static void start_even( const region* r, axis_cells along[3], double* cost )
{
    double widest = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        widest =
            r->extent->high[axis] > r->extent->low[axis] && r->width[axis] > widest ? r->width[axis] : widest;
    }
    bool has_room = true;
    for ( uint32_t cut = 2; has_room && cut <= CELL_GRID_SIDE * CELL_GRID_SIDE; cut += cut / 5 + 1 )
    {
        axis_cells next[3];
        bool is_full = true;
        for ( int axis = 0; axis < 3; ++axis )
        {
            double cells = r->width[axis] * cut / widest;
            uint32_t count = !( cells > 1 ) ? 1 : cells < r->most[axis] ? (uint32_t)cells : r->most[axis];
            next[axis] = axis_cells_of( r, axis, count );
            is_full = is_full && count == r->most[axis];
        }
        has_room = fits( r, next ) && !is_full;
        double now = fits( r, next ) ? cost_of( r, next ) : HUGE_VAL;
        if ( now < *cost )
        {
            *cost = now;
            memcpy( along, next, sizeof( next ) );
        }
    }
}

// Half or twice as many along the axis that gains most by it, as long as one does.
static void halve_or_double( const region* r, axis_cells along[3], double* cost )
{
    for ( int best = 0; best >= 0; )
    {
        axis_cells found = along[0];
        best = -1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            axis_cells before = along[axis];
            uint32_t twice = 2 * before.count < r->most[axis] ? 2 * before.count : r->most[axis];
            bool is_better = improve( r, along, axis, before.count / 2, cost );
            is_better = improve( r, along, axis, twice, cost ) || is_better;
            best = is_better ? axis : best;
            found = is_better ? along[axis] : found;
            along[axis] = before;
        }
        if ( best >= 0 )
        {
            along[best] = found;
        }
    }
}

// A few more or fewer, until that is no better.
static void refine_cells( const region* r, axis_cells along[3], double* cost )
{
    for ( uint32_t part = 4; part <= 16; part *= 2 )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            uint32_t step = along[axis].count / part + 1;
            if ( !improve( r, along, axis, along[axis].count + step, cost ) )
            {
                improve( r, along, axis, along[axis].count > step ? along[axis].count - step : 1, cost );
            }
        }
    }
}

static cell_grid grid_with( const region* r, const uint32_t dims[3] )
{
    cell_grid grid;
    for ( int axis = 0; axis < 3; ++axis )
    {
        grid.origin[axis] = r->extent->low[axis];
        grid.dims[axis] = dims[axis];
        double scale = CELL_STEPS * dims[axis] / r->width[axis];
        grid.scale[axis] = (float)( scale < 1e30 ? scale : 1e30 );
        CLV_ASSERT( dims[axis] >= 1 && dims[axis] <= CELL_GRID_SIDE );
        CLV_ASSERT( grid.scale[axis] > 0 );
    }
    return grid;
}

BASE_COLD cell_grid clv_engine_cell_grid_choose( uint32_t count, const cell_extent* extent )
{
    region r = region_of( extent, count );
    axis_cells along[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        along[axis] = axis_cells_of( &r, axis, 1 );
    }
    if ( count > CELL_ALONE )
    {
        double cost = cost_of( &r, along );
        start_even( &r, along, &cost );
        halve_or_double( &r, along, &cost );
        refine_cells( &r, along, &cost );
    }
    uint32_t dims[3] = { along[0].count, along[1].count, along[2].count };
    CLV_ASSERT( dims[0] * dims[1] * dims[2] <= cell_count_most( count ) );
    return grid_with( &r, dims );
}

BASE_COLD bool clv_engine_cell_grid_coarsen( cell_grid* grid, const cell_extent* extent )
{
    region r = region_of( extent, 0 );
    // The axis whose cells are narrowest against what lies in them makes most copies.
    int worst = -1;
    double most = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double copies =
            (double)extent->size[axis] * grid->dims[axis] / r.width[axis] + 1e-3 * grid->dims[axis];
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
    CLV_ASSERT( dims[0] * dims[1] * dims[2] < cell_grid_count( grid ) );
    *grid = grid_with( &r, dims );
    return true;
}

bool clv_engine_cell_grid_misses( const cell_grid* grid, const clv_aabb* box )
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
