// SPDX-License-Identifier: MIT
// Loose grids in levels: T. Ulrich, Loose Octrees, Game Programming Gems, 2000; here as grids without the
// tree.
#include "rest/loose_grid.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "base/bits.h"

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

BASE_COLD void clv_rest_grid_release( rest_grid* grid )
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

// ---- places

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
    CLV_ASSERT( level->dims[axis] > 0 );
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
    CLV_ASSERT( slot < grid->nexts.capacity );
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
    CLV_ASSERT( *head != slot + 1 && *head <= grid->nexts.capacity );
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
        CLV_ASSERT( place < grid->large.count );
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

// ---- questions

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
            CLV_ASSERT( link <= grid->nexts.capacity && grid->found.count < grid->found.capacity );
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
        // A hair more than the limit: lengths were rounded when they were compared with it. A difference
        // rounds the same way as the corner it bounds, which is a float, so nothing is missed.
        float reach = level->limit[axis] * 1.0001f;
        first[axis] = cell_on_axis( level, axis, lower[axis] - reach );
        last[axis] = cell_on_axis( level, axis, upper[axis] );
        CLV_ASSERT( first[axis] <= last[axis] );
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

// ---- checking

// What the grid is held to.
typedef struct grid_check
{
    const rest_grid* grid;
    const simd_rest_box* boxes;
    const uint64_t* known;
    uint32_t slot_count, found_count;
} grid_check;

static bool is_member( const grid_check* c, uint32_t slot )
{
    return slot < c->slot_count && base_bits_has( c->known, slot );
}

// `level` is NO_LEVEL for large boxes.
static const char* check_member( grid_check* c, uint32_t slot, uint32_t level, uint32_t cell )
{
    if ( !is_member( c, slot ) )
    {
        return "the grid holds an object that went";
    }
    clv_aabb box = rest_zone_of( &c->boxes[slot] ).fat;
    c->found_count += 1;
    if ( level_of( c->grid, &box ) != level ||
        ( level != NO_LEVEL && cell_of( &c->grid->levels[level], &box ) != cell ) )
    {
        return "an object is in another cell than its own";
    }
    return c->found_count <= c->slot_count ? NULL : "a chain of a cell leads in circles";
}

static const char* check_level( grid_check* c, uint32_t index )
{
    const rest_level* level = &c->grid->levels[index];
    const char* broken = NULL;
    uint32_t end = level->first_cell + level->dims[0] * level->dims[1] * level->dims[2];
    for ( uint32_t cell = level->first_cell; cell < end && broken == NULL; ++cell )
    {
        for ( uint32_t link = c->grid->heads.items[cell]; link != 0 && broken == NULL;
              link = c->grid->nexts.items[link - 1] )
        {
            broken = check_member( c, link - 1, index, cell );
        }
    }
    return broken;
}

static const char* check_large( grid_check* c )
{
    const rest_grid* grid = c->grid;
    const char* broken = NULL;
    for ( uint32_t i = 0; i < grid->large.count && broken == NULL; ++i )
    {
        broken = check_member( c, grid->large.items[i], NO_LEVEL, 0 );
        if ( broken == NULL && grid->nexts.items[grid->large.items[i]] != i )
        {
            return "a large object does not know its place in the list";
        }
    }
    return broken;
}

BASE_COLD const char* clv_rest_grid_check(
    const rest_grid* grid, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count )
{
    grid_check c = { grid, boxes, known, slot_count, 0 };
    const char* broken = check_large( &c );
    for ( uint32_t i = 0; i < grid->level_count && broken == NULL; ++i )
    {
        broken = check_level( &c, i );
    }
    uint64_t member_count = 0;
    for ( uint32_t slot = 0; slot < slot_count; ++slot )
    {
        member_count += is_member( &c, slot );
    }
    return broken == NULL && c.found_count != member_count ? "an object is not once in the grid" : broken;
}
