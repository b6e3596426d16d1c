// SPDX-License-Identifier: MIT
// Greedy colouring: each contact goes to the first round neither of its bodies is in yet. Inside a round no
// body occurs twice, so its contacts can be solved side by side, in lanes and on threads, with the result of
// any order. Walls, static bodies and sleepers do not move and therefore never collide in a round.
#include "sim/rigid_world.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

#define CLASSES NARROW_MANIFOLD_POINTS

static bool moves( const clv_rigid* world, uint32_t body )
{
    return body < RIGID_WALL && ( !rigid_some_rest( world ) || rigid_is_movable( world, body ) );
}

/// Round of this contact, RIGID_COLORS if all are taken, RIGID_NONE if nothing in it moves.
static uint32_t pick_round( clv_rigid* world, const rigid_link* link )
{
    bool moves_a = moves( world, link->a ), moves_b = moves( world, link->b );
    if ( !moves_a && !moves_b )
    {
        return RIGID_NONE;
    }
    uint64_t taken = ( moves_a ? world->masks[link->a] : 0 ) | ( moves_b ? world->masks[link->b] : 0 );
    if ( ~taken == 0 )
    {
        return RIGID_COLORS;
    }
    uint32_t round = base_lowest_bit( ~taken );
    if ( moves_a )
    {
        world->masks[link->a] |= (uint64_t)1 << round;
    }
    if ( moves_b )
    {
        world->masks[link->b] |= (uint64_t)1 << round;
    }
    return round;
}

/// Turn counts by (round, points) into the first block of each, and fill the rounds' ranges.
static void lay_out( clv_rigid* world, const uint32_t* counts, uint32_t* first_block )
{
    rigid_rounds* rounds = &world->rounds;
    uint32_t block = 0;
    rounds->color_count = 0;
    for ( uint32_t round = 0; round <= RIGID_COLORS; ++round )
    {
        uint32_t lanes = round == RIGID_COLORS ? 1 : RIGID_LANES;
        rounds->first[round] = block;
        for ( uint32_t kind = 0; kind < CLASSES; ++kind )
        {
            first_block[round * CLASSES + kind] = block;
            block += ( counts[round * CLASSES + kind] + lanes - 1 ) / lanes;
        }
        if ( round < RIGID_COLORS && block > rounds->first[round] )
        {
            rounds->color_count = round + 1;
        }
    }
    rounds->first[RIGID_COLORS + 1] = block;
    rounds->overflow_count = block - rounds->first[RIGID_COLORS];
    world->block_count = block;
}

static void clear_block( rigid_block* block, uint32_t resting, uint32_t point_count )
{
    for ( uint32_t lane = 0; lane < RIGID_LANES; ++lane )
    {
        block->a[lane] = resting;
        block->b[lane] = resting;
        block->moves_a[lane] = 0;
        block->moves_b[lane] = 0;
        block->contacts[lane] = NULL;
    }
    block->point_count = point_count;
}

static void set_lane( clv_rigid* world, rigid_block* block, uint32_t lane, uint32_t index )
{
    const rigid_link* link = rigid_link_at( &world->now, index );
    rigid_contact_set* set = index < world->now.bodies.count ? &world->now.bodies : &world->now.walls;
    block->contacts[lane] = &set->contacts.items[link->contact];
    block->a[lane] = link->a;
    block->b[lane] = link->b < RIGID_WALL ? link->b : world->count;
    CLV_ASSERT( block->point_count == link->point_count && link->contact < set->contacts.capacity );
    block->moves_a[lane] = moves( world, link->a );
    block->moves_b[lane] = moves( world, link->b );
}

static void fill_blocks( clv_rigid* world, const uint32_t* first_block, uint32_t* used )
{
    uint32_t count = rigid_contact_count( &world->now );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t color = world->colors.items[i];
        if ( color == RIGID_NONE )
        {
            continue;
        }
        uint32_t lanes = color / CLASSES == RIGID_COLORS ? 1 : RIGID_LANES;
        uint32_t place = used[color]++;
        CLV_ASSERT( first_block[color] + place / lanes < world->block_count );
        rigid_block* block = &world->blocks.items[first_block[color] + place / lanes];
        if ( place % lanes == 0 )
        {
            clear_block( block, world->count, color % CLASSES + 1 );
        }
        set_lane( world, block, place % lanes, i );
    }
}

bool clv_sim_rigid_color( clv_rigid* world )
{
    uint32_t count = rigid_contact_count( &world->now );
    if ( !base_array_reserve( &world->colors, &world->memory, count ) )
    {
        return false;
    }
    uint32_t counts[( RIGID_COLORS + 1 ) * CLASSES] = { 0 };
    memset( world->masks, 0, world->count * sizeof( *world->masks ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const rigid_link* link = rigid_link_at( &world->now, i );
        CLV_ASSERT( link->point_count >= 1 && link->point_count <= CLASSES );
        uint32_t round = pick_round( world, link );
        world->colors.items[i] = round == RIGID_NONE ? RIGID_NONE : round * CLASSES + link->point_count - 1;
        if ( round != RIGID_NONE )
        {
            counts[world->colors.items[i]] += 1;
        }
    }

    uint32_t first_block[( RIGID_COLORS + 1 ) * CLASSES];
    lay_out( world, counts, first_block );
    if ( !base_array_reserve( &world->blocks, &world->memory, world->block_count ) )
    {
        return false;
    }
    memset( counts, 0, sizeof( counts ) );
    fill_blocks( world, first_block, counts );
    return true;
}
