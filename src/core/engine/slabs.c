// SPDX-License-Identifier: MIT
// Rows of cells, cut into slabs of about equal weight: what one worker of several counts, and then places and searches at one go.
#include "engine/world_internal.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    SLAB_SAMPLES = 1024, // boxes looked at to cut slabs of equal weight
    ROWS = CELL_GRID_SIDE * CELL_GRID_SIDE,
    SLABS_PER_WORKER = 2,
};

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
    CLV_ASSERT( slabs->count <= slabs->wanted );
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
void clv_engine_cut_slabs( block_world* world, const block_input* input, uint32_t workers )
{
    const cell_grid* grid = &world->flat.grid;
    const world_slabs* last = &world->next_slabs;
    uint32_t wanted = workers > 1 ? SLABS_PER_WORKER * workers : 1;
    wanted = wanted < WORLD_SLABS ? wanted : WORLD_SLABS;
    if ( wanted == last->wanted && memcmp( last->dims, grid->dims, sizeof( last->dims ) ) == 0 )
    {
        world->slabs = *last;
    }
    else
    {
        world->slabs.wanted = wanted;
        cut_by_sample( &world->slabs, grid, input );
    }
    CLV_ASSERT( world->slabs.count > 0 && world->slabs.rows[0] == 0 );
    CLV_ASSERT( world->slabs.rows[world->slabs.count] == grid->dims[1] * grid->dims[2] );
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
void clv_engine_remember_slabs( block_world* world )
{
    const cell_grid* grid = &world->flat.grid;
    uint64_t weights[ROWS];
    uint64_t total = 0;
    uint32_t row_count = grid->dims[1] * grid->dims[2], width = grid->dims[0];
    world->next_slabs = world->slabs;
    if ( world->slabs.wanted == 1 || world->grid_age > 1 )
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
    if ( !slabs_are_even( &world->slabs, weights, total ) )
    {
        cut_rows( &world->next_slabs, grid, weights, total );
    }
}

cell_share clv_engine_share_of( const block_world* world, uint32_t slab )
{
    uint32_t width = world->flat.grid.dims[0];
    const world_slabs* slabs = &world->slabs;
    CLV_ASSERT( slab < slabs->count );
    uint32_t first = slabs->rows[slab] * width, last = slabs->rows[slab + 1] * width;
    if ( slabs->count == 1 )
    {
        return ( cell_share ){ world->records, NULL, 0, world->flat.count, true, first, last };
    }
    const world_segments* segments = &world->segments;
    return ( cell_share ){ segments->records, segments->items + slab, segments->target_count,
        segments->piece_count, true, first, last };
}
