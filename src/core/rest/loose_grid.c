// SPDX-License-Identifier: MIT
// Loose grids in levels: T. Ulrich, Loose Octrees, Game Programming Gems, 2000; here as grids without the
// tree.
#include "rest/loose_grid.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "base/bits.h"

#include <string.h>

#define CODE_MOST 0x7FFFu

void clv_rest_grid_init( rest_grid* grid, base_memory* memory, const simd_kernels* kernels )
{
    *grid = ( rest_grid ){ .memory = memory, .kernels = kernels };
}

BASE_COLD void clv_rest_grid_release( rest_grid* grid )
{
    base_memory* memory = grid->memory;
    base_array_free( &grid->cells, memory );
    base_array_free( &grid->entries, memory );
    base_array_free( &grid->places, memory );
    base_array_free( &grid->found, memory );
    clv_rest_grid_init( grid, memory, grid->kernels );
}

bool clv_rest_grid_reserve( rest_grid* grid, uint32_t slot_count )
{
    return base_array_extend( &grid->places, grid->memory, slot_count );
}

// ---- places

static const rest_level* level_of( const rest_grid* grid, const clv_aabb* box )
{
    float x = box->upper.x - box->lower.x;
    float y = box->upper.y - box->lower.y;
    float z = box->upper.z - box->lower.z;
    const rest_level* level = grid->levels;
    const rest_level* last = grid->levels + grid->level_count - 1;
    CLV_ASSERT( grid->level_count > 0 );
    while ( level != last && !( x <= level->limit[0] && y <= level->limit[1] && z <= level->limit[2] ) )
    {
        ++level;
    }
    return level;
}

// Monotonic in `at`, since each step is.
static inline uint32_t code_of( const rest_level* level, int axis, float at )
{
    float code = ( at - level->origin[axis] ) * level->scale[axis];
    code = code > 0 ? code : 0;
    return (uint32_t)( code < (float)CODE_MOST ? code : (float)CODE_MOST );
}

static inline uint32_t cell_of_code( const rest_level* level, int axis, uint32_t code )
{
    CLV_ASSERT( level->dims[axis] > 0 && code <= CODE_MOST );
    return code * level->dims[axis] >> 15;
}

static inline uint64_t corner_of( const rest_level* level, const clv_vec3* at )
{
    return code_of( level, 0, at->x ) | (uint64_t)code_of( level, 1, at->y ) << 16 |
        (uint64_t)code_of( level, 2, at->z ) << 32;
}

static inline uint32_t cell_of( const rest_level* level, uint64_t corner )
{
    uint32_t x = cell_of_code( level, 0, corner & CODE_MOST );
    uint32_t y = cell_of_code( level, 1, corner >> 16 & CODE_MOST );
    uint32_t z = cell_of_code( level, 2, corner >> 32 & CODE_MOST );
    return level->first_cell + ( z * level->dims[1] + y ) * level->dims[0] + x;
}

static uint32_t cell_of_box( const rest_grid* grid, const clv_aabb* box )
{
    const rest_level* level = level_of( grid, box );
    return cell_of( level, corner_of( level, &box->lower ) );
}

static inline uint32_t entry_slot( const simd_code_box* entry )
{
    return (uint32_t)( entry->lower >> 48 ) | (uint32_t)( entry->upper >> 48 ) << 16;
}

static simd_code_box entry_of( const rest_level* level, uint32_t slot, const clv_aabb* box )
{
    simd_code_box entry = {
        corner_of( level, &box->lower ) | (uint64_t)( slot & 0xFFFF ) << 48,
        corner_of( level, &box->upper ) | SIMD_CODE_TOPS | (uint64_t)( slot >> 16 ) << 48,
    };
    return entry;
}

// ---- blocks of entries

// 1 and the first entry of a block, or 0 if out of memory.
static uint32_t take_block( rest_grid* grid, uint32_t room )
{
    uint32_t* head = &grid->free_blocks[base_lowest_bit( room )];
    uint32_t block = *head;
    if ( block != 0 )
    {
        *head = (uint32_t)grid->entries.items[block - 1].lower;
        return block;
    }
    uint64_t first = grid->entries.count, end = first + room;
    if ( end >= UINT32_MAX || !base_array_reserve( &grid->entries, grid->memory, end ) )
    {
        return 0;
    }
    memset( grid->entries.items + first, 0, room * sizeof( simd_code_box ) ); // a snapshot has all of it
    grid->entries.count = end;
    return (uint32_t)first + 1;
}

static void give_block( rest_grid* grid, uint32_t first, uint32_t room )
{
    uint32_t* head = &grid->free_blocks[base_lowest_bit( room )];
    grid->entries.items[first].lower = *head;
    *head = first + 1;
}

// A block of another size for a cell. False if out of memory, with the cell as it was.
static bool resize_cell( rest_grid* grid, rest_cell* cell, uint32_t room )
{
    uint32_t block = room > 0 ? take_block( grid, room ) : 1;
    if ( block == 0 )
    {
        return false;
    }
    CLV_ASSERT( cell->count <= room );
    if ( cell->room > 0 )
    {
        memcpy( grid->entries.items + block - 1, grid->entries.items + cell->first,
            cell->count * sizeof( simd_code_box ) );
        give_block( grid, cell->first, cell->room );
    }
    cell->first = block - 1;
    cell->room = room;
    return true;
}

clv_aabb* clv_rest_grid_lend( rest_grid* grid, uint32_t count )
{
    uint64_t entries = ( (uint64_t)count * sizeof( clv_aabb ) ) / sizeof( simd_code_box ) + 1;
    grid->entries.count = 0;
    void* lent = base_array_reserve( &grid->entries, grid->memory, entries ) ? grid->entries.items : NULL;
    return lent;
}

// Room in each cell for as many boxes as its count says, and none in it. False if out of memory.
static bool make_blocks( rest_grid* grid )
{
    uint64_t sum = 0;
    for ( uint64_t i = 0; i < grid->cells.count; ++i )
    {
        rest_cell* cell = &grid->cells.items[i];
        uint32_t room = cell->count > 0 ? 1 : 0;
        while ( room < cell->count )
        {
            room *= 2;
        }
        *cell = ( rest_cell ){ (uint32_t)sum, 0, room };
        sum += room;
    }
    grid->entries.count = 0;
    bool ok = sum < UINT32_MAX && base_array_reserve( &grid->entries, grid->memory, sum );
    if ( ok && sum > 0 )
    {
        memset( grid->entries.items, 0, (size_t)sum * sizeof( simd_code_box ) );
        grid->entries.count = sum;
    }
    return ok;
}

static clv_aabb fat_of( const simd_rest_box* rest )
{
    float e = rest->margin;
    clv_aabb fat = { { rest->lower[0] - e, rest->lower[1] - e, rest->lower[2] - e },
        { rest->upper[0] + e, rest->upper[1] + e, rest->upper[2] + e } };
    return fat;
}

// Boxes are counted by cell first: then each cell has a block of the right size from the start.
bool clv_rest_grid_make(
    rest_grid* grid, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count )
{
    if ( !clv_rest_grid_reserve( grid, slot_count ) || !clv_rest_grid_plan( grid, boxes, known, slot_count ) )
    {
        return false;
    }
    for ( uint32_t slot = 0; slot < slot_count; ++slot )
    {
        if ( base_bits_has( known, slot ) )
        {
            clv_aabb fat = fat_of( &boxes[slot] );
            grid->places.items[slot] = cell_of_box( grid, &fat );
            grid->cells.items[grid->places.items[slot]].count += 1;
        }
    }
    bool ok = make_blocks( grid );
    for ( uint32_t slot = 0; slot < slot_count && ok; ++slot )
    {
        if ( base_bits_has( known, slot ) )
        {
            clv_aabb fat = fat_of( &boxes[slot] );
            rest_cell* cell = &grid->cells.items[grid->places.items[slot]];
            grid->entries.items[cell->first + cell->count] = entry_of( level_of( grid, &fat ), slot, &fat );
            grid->places.items[slot] = cell->count++;
        }
    }
    return ok;
}

// ---- one box

static bool insert_entry( rest_grid* grid, rest_cell* cell, uint32_t slot, simd_code_box entry )
{
    if ( cell->count == cell->room && !resize_cell( grid, cell, cell->room > 0 ? 2 * cell->room : 1 ) )
    {
        return false;
    }
    CLV_ASSERT( slot < grid->places.capacity && cell->first + cell->count < grid->entries.count );
    grid->entries.items[cell->first + cell->count] = entry;
    grid->places.items[slot] = cell->count++;
    return true;
}

// The last entry of the cell takes the place. A block that is mostly empty is given back.
static void remove_entry( rest_grid* grid, rest_cell* cell, uint32_t slot )
{
    uint32_t place = grid->places.items[slot];
    CLV_ASSERT( place < cell->count );
    simd_code_box* entries = grid->entries.items + cell->first;
    simd_code_box last = entries[--cell->count];
    CLV_ASSERT( entry_slot( &entries[place] ) == slot || entry_slot( &last ) == slot );
    entries[place] = last;
    grid->places.items[entry_slot( &last )] = place;
    if ( cell->count <= cell->room / 4 )
    {
        (void)resize_cell( grid, cell, cell->room / 4 ); // or it stays as large as it is
    }
}

bool clv_rest_grid_insert( rest_grid* grid, uint32_t slot, const clv_aabb* box )
{
    const rest_level* level = level_of( grid, box );
    simd_code_box entry = entry_of( level, slot, box );
    return insert_entry( grid, &grid->cells.items[cell_of( level, entry.lower )], slot, entry );
}

void clv_rest_grid_remove( rest_grid* grid, uint32_t slot, const clv_aabb* box )
{
    remove_entry( grid, &grid->cells.items[cell_of_box( grid, box )], slot );
}

bool clv_rest_grid_move( rest_grid* grid, uint32_t slot, const clv_aabb* before, const clv_aabb* after )
{
    const rest_level* level = level_of( grid, after );
    simd_code_box entry = entry_of( level, slot, after );
    rest_cell* from = &grid->cells.items[cell_of_box( grid, before )];
    rest_cell* to = &grid->cells.items[cell_of( level, entry.lower )];
    if ( from == to )
    {
        CLV_ASSERT( grid->places.items[slot] < to->count );
        grid->entries.items[to->first + grid->places.items[slot]] = entry;
        return true;
    }
    remove_entry( grid, from, slot );
    return insert_entry( grid, to, slot, entry );
}

// ---- questions

static bool ask_cell( rest_grid* grid, const rest_cell* cell, simd_code_box asked )
{
    if ( !base_array_reserve( &grid->found, grid->memory, grid->found.count + cell->count ) )
    {
        return false;
    }
    const simd_code_box* entries = grid->entries.items + cell->first;
    uint32_t* found = grid->found.items + grid->found.count;
    uint32_t count = grid->kernels->find_codes( entries, cell->count, asked, found );
    for ( uint32_t i = 0; i < count; ++i )
    {
        found[i] = entry_slot( &entries[found[i]] );
    }
    grid->found.count += count;
    grid->look_count += cell->count;
    return true;
}

static bool ask_level( rest_grid* grid, const rest_level* level, const clv_aabb* box )
{
    simd_code_box asked = entry_of( level, 0, box );
    uint32_t first[3], last[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        // A hair more than the limit: lengths were rounded when they were compared with it. A difference
        // rounds the same way as the corner it bounds, which is a float, so nothing is missed.
        float reach = level->limit[axis] * 1.0001f;
        first[axis] = cell_of_code( level, axis, code_of( level, axis, ( &box->lower.x )[axis] - reach ) );
        last[axis] = cell_of_code( level, axis, asked.upper >> 16 * axis & CODE_MOST );
        CLV_ASSERT( first[axis] <= last[axis] );
    }
    for ( uint32_t z = first[2]; z <= last[2]; ++z )
    {
        for ( uint32_t y = first[1]; y <= last[1]; ++y )
        {
            const rest_cell* row =
                grid->cells.items + level->first_cell + ( z * level->dims[1] + y ) * level->dims[0];
            for ( uint32_t x = first[0]; x <= last[0]; ++x )
            {
                if ( row[x].count > 0 && !ask_cell( grid, &row[x], asked ) )
                {
                    return false;
                }
            }
        }
    }
    return true;
}

bool clv_rest_grid_ask( rest_grid* grid, const clv_aabb* box )
{
    bool ok = true;
    grid->found.count = 0;
    for ( uint32_t i = 0; i < grid->level_count && ok; ++i )
    {
        ok = ask_level( grid, &grid->levels[i], box );
    }
    return ok;
}

// ---- checking

// What the grid is held to.
typedef struct grid_check
{
    const rest_grid* grid;
    const simd_rest_box* boxes;
    const uint64_t* known;
    uint32_t slot_count;
    uint64_t found_count, room;
} grid_check;

static bool is_member( const grid_check* c, uint32_t slot )
{
    return slot < c->slot_count && base_bits_has( c->known, slot );
}

static const char* check_grid_entry( grid_check* c, uint32_t number, uint32_t place )
{
    const simd_code_box* entry = &c->grid->entries.items[c->grid->cells.items[number].first + place];
    uint32_t slot = entry_slot( entry );
    if ( !is_member( c, slot ) )
    {
        return "the grid holds an object that went";
    }
    clv_aabb box = rest_zone_of( &c->boxes[slot] ).fat;
    const rest_level* level = level_of( c->grid, &box );
    simd_code_box own = entry_of( level, slot, &box );
    c->found_count += 1;
    if ( cell_of( level, own.lower ) != number )
    {
        return "an object is in another cell than its own";
    }
    if ( own.lower != entry->lower || own.upper != entry->upper )
    {
        return "an object's entry is of another box";
    }
    return c->grid->places.items[slot] == place ? NULL : "an object does not know its place in its cell";
}

static const char* check_grid_entries( grid_check* c, uint32_t number )
{
    const rest_cell* cell = &c->grid->cells.items[number];
    const char* broken = NULL;
    c->room += cell->room;
    if ( cell->count > cell->room || cell->first + (uint64_t)cell->room > c->grid->entries.count )
    {
        return "a cell has more objects than room";
    }
    for ( uint32_t place = 0; place < cell->count && broken == NULL; ++place )
    {
        broken = check_grid_entry( c, number, place );
    }
    return broken;
}

// Blocks that are free and those of cells are all there are.
static const char* check_all_blocks( grid_check* c )
{
    const rest_grid* grid = c->grid;
    for ( uint32_t i = 0; i < REST_BLOCKS; ++i )
    {
        for ( uint64_t block = grid->free_blocks[i]; block != 0;
              block = grid->entries.items[block - 1].lower )
        {
            c->room += UINT64_C( 1 ) << i;
            if ( c->room > grid->entries.count || block > grid->entries.count )
            {
                return "a chain of free blocks leads nowhere";
            }
        }
    }
    return c->room == grid->entries.count ? NULL : "a block belongs to no cell and is not free";
}

BASE_COLD const char* clv_rest_grid_check(
    const rest_grid* grid, const simd_rest_box* boxes, const uint64_t* known, uint32_t slot_count )
{
    grid_check c = { grid, boxes, known, slot_count, 0, 0 };
    const char* broken = NULL;
    for ( uint32_t i = 0; i < grid->cells.count && broken == NULL; ++i )
    {
        broken = check_grid_entries( &c, i );
    }
    uint64_t member_count = 0;
    for ( uint32_t slot = 0; slot < slot_count; ++slot )
    {
        member_count += is_member( &c, slot );
    }
    if ( broken == NULL && c.found_count != member_count )
    {
        return "an object is not once in the grid";
    }
    return broken == NULL ? check_all_blocks( &c ) : broken;
}
