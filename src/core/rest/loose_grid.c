// SPDX-License-Identifier: MIT
// Loose grids in levels: T. Ulrich, Loose Octrees, Game Programming Gems, 2000; here as grids without the tree.
#include "rest/loose_grid.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    NO_LEVEL = REST_LEVELS,
    ASK_ROOM = 1024
};

void clv_rest_grid_init( rest_grid* grid, base_memory* memory )
{
    *grid = ( rest_grid ){ .memory = memory };
}

void clv_rest_grid_release( rest_grid* grid )
{
    base_memory* memory = grid->memory;
    base_array_free( &grid->heads, memory );
    base_array_free( &grid->nexts, memory );
    base_array_free( &grid->large, memory );
    base_array_free( &grid->found, memory );
    clv_rest_grid_init( grid, memory );
}

bool clv_rest_grid_reserve( rest_grid* grid, uint32_t slot_count )
{
    return base_array_extend( &grid->nexts, grid->memory, slot_count );
}

// ---- places ------------------------------------------------------------------------------------------------------

static uint32_t level_of( const rest_grid* grid, const clv_aabb* box )
{
    float x = box->upper.x - box->lower.x;
    float y = box->upper.y - box->lower.y;
    float z = box->upper.z - box->lower.z;
    for ( uint32_t i = 0; i < grid->level_count; ++i )
    {
        const float* limit = grid->levels[i].limit;
        if ( x <= limit[0] && y <= limit[1] && z <= limit[2] )
        {
            return i;
        }
    }
    return NO_LEVEL;
}

// Monotonic in `at`, since each step is.
static inline uint32_t cell_on_axis( const rest_level* level, int axis, float at )
{
    float cell = ( at - level->origin[axis] ) * level->scale[axis];
    float most = (float)( level->dims[axis] - 1 );
    cell = cell > 0 ? cell : 0;
    return (uint32_t)( cell < most ? cell : most );
}

static uint32_t cell_of( const rest_level* level, const clv_aabb* box )
{
    uint32_t x = cell_on_axis( level, 0, box->lower.x );
    uint32_t y = cell_on_axis( level, 1, box->lower.y );
    uint32_t z = cell_on_axis( level, 2, box->lower.z );
    return level->first_cell + ( z * level->dims[1] + y ) * level->dims[0] + x;
}

bool clv_rest_grid_is_same_place( const rest_grid* grid, const clv_aabb* before, const clv_aabb* after )
{
    uint32_t level = level_of( grid, before );
    return level == level_of( grid, after ) &&
        ( level == NO_LEVEL ||
            cell_of( &grid->levels[level], before ) == cell_of( &grid->levels[level], after ) );
}

bool clv_rest_grid_insert( rest_grid* grid, uint32_t slot, const clv_aabb* box )
{
    uint32_t level = level_of( grid, box );
    uint32_t* nexts = grid->nexts.items;
    if ( level == NO_LEVEL )
    {
        if ( !base_array_reserve( &grid->large, grid->memory, grid->large.count + 1 ) )
        {
            return false;
        }
        nexts[slot] = (uint32_t)grid->large.count;
        grid->large.items[grid->large.count++] = slot;
        return true;
    }
    uint32_t* head = &grid->heads.items[cell_of( &grid->levels[level], box )];
    nexts[slot] = *head;
    *head = slot + 1;
    return true;
}

void clv_rest_grid_remove( rest_grid* grid, uint32_t slot, const clv_aabb* box )
{
    uint32_t level = level_of( grid, box );
    uint32_t* nexts = grid->nexts.items;
    if ( level == NO_LEVEL )
    {
        uint32_t* large = grid->large.items;
        uint32_t place = nexts[slot];
        uint32_t last = large[--grid->large.count];
        CLV_ASSERT( large[place] == slot || last == slot );
        large[place] = last;
        nexts[last] = place;
        return;
    }
    uint32_t* link = &grid->heads.items[cell_of( &grid->levels[level], box )];
    while ( *link != slot + 1 )
    {
        CLV_ASSERT( *link != 0 );
        link = &nexts[*link - 1];
    }
    *link = nexts[slot];
}

// ---- questions ---------------------------------------------------------------------------------------------------

static bool make_room( rest_grid* grid, uint64_t count )
{
    return base_array_reserve( &grid->found, grid->memory, grid->found.count + count + ASK_ROOM );
}

// One row of cells.
static bool ask_row( rest_grid* grid, const uint32_t* heads, uint32_t count )
{
    const uint32_t* nexts = grid->nexts.items;
    uint64_t room = grid->found.capacity - ASK_ROOM;
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t link = heads[i]; link != 0; link = nexts[link - 1] )
        {
            if ( grid->found.count >= room )
            {
                if ( !make_room( grid, grid->found.count ) )
                {
                    return false;
                }
                room = grid->found.capacity - ASK_ROOM;
            }
            grid->found.items[grid->found.count++] = link - 1;
        }
    }
    return true;
}

static bool ask_level( rest_grid* grid, const rest_level* level, const clv_aabb* box )
{
    const float* lower = &box->lower.x;
    const float* upper = &box->upper.x;
    uint32_t first[3], last[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        // A hair more than the limit: lengths were rounded when they were compared with it. A difference rounds the same way
        // as the corner it bounds, which is a float, so nothing is missed.
        float reach = level->limit[axis] * 1.0001f;
        first[axis] = cell_on_axis( level, axis, lower[axis] - reach );
        last[axis] = cell_on_axis( level, axis, upper[axis] );
    }
    for ( uint32_t z = first[2]; z <= last[2]; ++z )
    {
        for ( uint32_t y = first[1]; y <= last[1]; ++y )
        {
            const uint32_t* row =
                grid->heads.items + level->first_cell + ( z * level->dims[1] + y ) * level->dims[0];
            if ( !ask_row( grid, row + first[0], last[0] - first[0] + 1 ) )
            {
                return false;
            }
        }
    }
    return true;
}

bool clv_rest_grid_ask( rest_grid* grid, const clv_aabb* box )
{
    grid->found.count = 0;
    if ( !make_room( grid, grid->large.count ) )
    {
        return false;
    }
    if ( grid->large.count > 0 )
    {
        memcpy( grid->found.items, grid->large.items, (size_t)grid->large.count * sizeof( uint32_t ) );
        grid->found.count = grid->large.count;
    }
    for ( uint32_t i = 0; i < grid->level_count; ++i )
    {
        if ( !ask_level( grid, &grid->levels[i], box ) )
        {
            return false;
        }
    }
    return true;
}
