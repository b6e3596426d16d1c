// SPDX-License-Identifier: MIT
#include "engine/cell.h"

enum
{
    ZOOMS = 12
};

static void measure_once( cell_lay* lay, const cell_job* job )
{
    if ( !lay->is_measured )
    {
        lay->extent = cell_measure_job( job );
        lay->is_measured = true;
    }
}

void cell_lay_choose( cell_lay* lay, cell_job* job )
{
    measure_once( lay, job );
    job->grid = cell_grid_choose( job->count, &lay->extent );
}

bool cell_lay_again( cell_lay* lay, cell_job* job, bool fits, cell_layout layout, uint32_t fullest_cell )
{
    cell_grid* grid = &job->grid;
    if ( !fits )
    {
        measure_once( lay, job );
        return cell_grid_coarsen( grid, &lay->extent );
    }
    bool is_crowded = job->count > CELL_OVERFULL && layout.fullest > job->count / 2;
    if ( !is_crowded || lay->zoom_count == ZOOMS || cell_grid_count( grid ) == 1 )
    {
        return false;
    }
    lay->zoom_count += 1;
    measure_once( lay, job );
    uint32_t cell[3] = { fullest_cell % grid->dims[0], fullest_cell / grid->dims[0] % grid->dims[1],
        fullest_cell / grid->dims[0] / grid->dims[1] };
    for ( int axis = 0; axis < 3; ++axis )
    {
        float side = CELL_STEPS / grid->scale[axis];
        lay->extent.low[axis] = grid->origin[axis] + (float)cell[axis] * side;
        lay->extent.high[axis] = grid->origin[axis] + (float)( cell[axis] + 1 ) * side;
        // What is wider than the cell is not what crowds in it.
        lay->extent.size[axis] = lay->extent.size[axis] < side ? lay->extent.size[axis] : side;
        // The sample did not see this cell's crowd for itself: taken to be even.
        for ( uint32_t level = 0; level < CELL_LEVELS; ++level )
        {
            lay->extent.share[axis][level] = 1.0f / (float)( 1u << level );
        }
        lay->extent.joint[axis] = 1;
    }
    *grid = cell_grid_choose( job->count, &lay->extent );
    return true;
}
