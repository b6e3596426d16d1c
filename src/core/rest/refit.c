// SPDX-License-Identifier: MIT
// One object gets another reference box, or its first, or loses it. Those around it are found in the loose
// grid; pairs whose class stays the same are not touched.
#include "base/assertion.h"
#include "base/bit_set.h"
#include "rest/rest_world.h"

#include <math.h>

enum
{
    LOOKS_PER_FOUND = 8, // a box that a question finds costs as much as so many that it looks at
    LONG_REST = 512      // updates without a refit after which a margin may shrink
};

static bool make_grid( rest_world* world )
{
    world->grid_is_made = world->grid_is_made ||
        clv_rest_grid_make( &world->grid, world->boxes.items, world->known, world->slot_count );
    return world->grid_is_made;
}

static clv_aabb join_boxes( const clv_aabb* a, const clv_aabb* b )
{
    clv_aabb box = *a;
    float* lower = &box.lower.x;
    float* upper = &box.upper.x;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float other_lower = ( &b->lower.x )[axis], other_upper = ( &b->upper.x )[axis];
        lower[axis] = other_lower < lower[axis] ? other_lower : lower[axis];
        upper[axis] = other_upper > upper[axis] ? other_upper : upper[axis];
    }
    return box;
}

// Touches nothing.
static simd_rest_box nowhere( void )
{
    return ( simd_rest_box ){ { NAN, NAN, NAN }, 0, { NAN, NAN, NAN }, 0 };
}

static bool reclassify_pair(
    rest_world* world, uint32_t slot, uint32_t other, const rest_zone* from, const rest_zone* to )
{
    rest_zone zone = rest_zone_of( &world->boxes.items[other] );
    world->counters.change_count += 1;
    return clv_rest_pairs_change(
        &world->pairs, slot, other, rest_classify( from, &zone ), rest_classify( to, &zone ) );
}

// The rest box of `slot` changes from `from` to `to`: its pairs with the objects near `box`, which holds all
// of whose class may change, get the class that follows.
static bool reclassify( rest_world* world, uint32_t slot, const clv_aabb* box, const simd_rest_box* from,
    const simd_rest_box* to )
{
    rest_grid* grid = &world->grid;
    uint64_t looks = grid->look_count;
    if ( !clv_rest_grid_ask( grid, box ) )
    {
        return false;
    }
    const uint32_t* found = grid->found.items;
    uint64_t count = grid->found.count;
    world->counters.near_count += grid->look_count - looks + LOOKS_PER_FOUND * count;
    for ( uint64_t i = 0; i < count; ++i )
    {
        CLV_ASSERT( found[i] < world->slot_count && base_bits_has( world->known, found[i] ) );
        base_prefetch( &world->boxes.items[found[i]] );
    }
    rest_zone before = rest_zone_of( from ), after = rest_zone_of( to );
    for ( uint64_t i = 0; i < count; i += 64 )
    {
        uint32_t some = count - i < 64 ? (uint32_t)( count - i ) : 64;
        uint64_t changed = world->kernels->find_changed( world->boxes.items, found + i, some, from, to );
        for ( ; changed != 0; changed &= changed - 1 )
        {
            uint32_t other = found[i + base_lowest_bit( changed )];
            if ( other != slot && !reclassify_pair( world, slot, other, &before, &after ) )
            {
                return false;
            }
        }
    }
    return true;
}

// The object gets this reference box.
static bool settle_object( rest_world* world, uint32_t slot, const simd_rest_box* fresh )
{
    if ( !make_grid( world ) )
    {
        return false;
    }
    CLV_ASSERT( slot < world->slot_count && base_bits_has( world->known, slot ) );
    simd_rest_box* rest = &world->boxes.items[slot];
    rest_zone before = rest_zone_of( rest );
    rest_zone after = rest_zone_of( fresh );
    const simd_rest_box none = nowhere();
    world->counters.refit_count += 1;
    world->times.items[slot] = world->now;
    if ( clv_aabb_overlap( before.fat, after.fat ) )
    {
        clv_aabb both = join_boxes( &before.fat, &after.fat );
        if ( !reclassify( world, slot, &both, rest, fresh ) )
        {
            return false;
        }
    }
    else if ( !reclassify( world, slot, &before.fat, rest, &none ) ||
        !reclassify( world, slot, &after.fat, &none, fresh ) )
    {
        return false;
    }
    *rest = *fresh;
    return clv_rest_grid_move( &world->grid, slot, &before.fat, &after.fat );
}

bool clv_rest_world_refit( rest_world* world, uint32_t slot, const clv_aabb* box )
{
    clv_aabb reference = rest_box_reference( &world->boxes.items[slot] );
    uint32_t age = world->now - world->times.items[slot];
    float speed = clv_rest_shift( &reference, box ) / (float)( age > 0 ? age : 1 );
    float margin = clv_rest_margin( box, speed, slot + 0x10001u * world->now );
    simd_rest_box fresh = rest_box_make( box, margin );
    return settle_object( world, slot, &fresh );
}

bool clv_rest_world_tighten( rest_world* world, uint32_t slot, const clv_aabb* box )
{
    const simd_rest_box* rest = &world->boxes.items[slot];
    if ( world->now - world->times.items[slot] < LONG_REST ||
        rest_marginal_degree( &world->pairs.marginal, slot ) == 0 )
    {
        return true;
    }
    clv_aabb reference = rest_box_reference( rest );
    float least = clv_rest_margin( box, 0, 0 );
    float wanted =
        4 * clv_rest_shift( &reference, box ); // jitter goes to either side, and now may not be its widest
    wanted = wanted > least ? wanted : least;
    if ( !( 2 * wanted < rest->margin ) )
    {
        return true;
    }
    simd_rest_box fresh = rest_box_make( box, wanted );
    return settle_object( world, slot, &fresh );
}

bool clv_rest_world_come( rest_world* world, uint32_t slot, const clv_aabb* box )
{
    if ( !make_grid( world ) )
    {
        return false;
    }
    CLV_ASSERT( slot < world->slot_count && !base_bits_has( world->known, slot ) );
    CLV_ASSERT(
        !world->pairs.marginal.is_linked || rest_marginal_degree( &world->pairs.marginal, slot ) == 0 );
    world->boxes.items[slot] = rest_box_make( box, clv_rest_margin( box, 0, slot ) );
    world->times.items[slot] = world->now;
    base_bits_add( world->known, slot );
    world->counters.come_count += 1;
    const simd_rest_box none = nowhere();
    rest_zone zone = rest_zone_of( &world->boxes.items[slot] );
    return reclassify( world, slot, &zone.fat, &none, &world->boxes.items[slot] ) &&
        clv_rest_grid_insert( &world->grid, slot, &zone.fat );
}

bool clv_rest_world_go( rest_world* world, uint32_t slot )
{
    if ( !make_grid( world ) )
    {
        return false;
    }
    CLV_ASSERT( base_bits_has( world->known, slot ) );
    const simd_rest_box none = nowhere();
    rest_zone zone = rest_zone_of( &world->boxes.items[slot] );
    if ( !reclassify( world, slot, &zone.fat, &world->boxes.items[slot], &none ) )
    {
        return false;
    }
    CLV_ASSERT( rest_marginal_degree( &world->pairs.marginal, slot ) == 0 ); // all its pairs are apart now
    clv_rest_grid_remove( &world->grid, slot, &zone.fat );
    base_bits_remove( world->known, slot );
    world->counters.gone_count += 1;
    return true;
}

bool clv_rest_world_test_object( rest_world* world, const clv_aabb* boxes, uint32_t slot )
{
    rest_marginal* marginal = &world->pairs.marginal;
    for ( uint32_t i = clv_rest_marginal_first( marginal, slot ); i != REST_NO_PAIR;
          i = clv_rest_marginal_next( marginal, i, slot ) )
    {
        clv_pair pair = marginal->pairs.items[i];
        CLV_ASSERT( pair.a == slot || pair.b == slot );
        bool touches = clv_aabb_overlap( boxes[pair.a], boxes[pair.b] );
        world->counters.test_count += 1;
        world->counters.turn_count += touches != rest_marginal_is_touching( marginal, i );
        if ( !clv_rest_pairs_turn( &world->pairs, i, touches ) )
        {
            return false;
        }
    }
    return true;
}
