// SPDX-License-Identifier: MIT
#include "far_crowd.h"

#include <math.h>

double far_random_between( test_random* random, double least, double most )
{
    double part = (double)( test_random_next( random ) >> 11 ) * 0x1p-53;
    return ( 1 - part ) * least + part * most; // whose difference may be no double
}

static clv_vec64 random_point( test_random* random, double reach )
{
    clv_vec64 point;
    point.x = far_random_between( random, -reach, reach );
    point.y = far_random_between( random, -reach, reach );
    point.z = far_random_between( random, -reach, reach );
    return point;
}

static clv_vec64 sum( clv_vec64 a, clv_vec64 b )
{
    return ( clv_vec64 ){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static clv_aabb64 cube_at( clv_vec64 lower, double side )
{
    return ( clv_aabb64 ){ lower, sum( lower, ( clv_vec64 ){ side, side, side } ) };
}

// A place that the same number always names.
static clv_vec64 town_at( uint64_t number, double reach )
{
    test_random random = test_random_make( test_mix( number ) );
    return random_point( &random, reach );
}

static clv_aabb64 lattice_box( test_random* random )
{
    clv_vec64 lower = { 1e9 + test_random_below( random, 9 ), -1e9 - test_random_below( random, 9 ),
        3e9 + test_random_below( random, 9 ) };
    return cube_at( lower, test_random_below( random, 3 ) );
}

static clv_aabb64 pile_box( test_random* random )
{
    clv_vec64 town = town_at( test_random_below( random, 10 ), 1e9 );
    clv_vec64 pile = sum( town, town_at( 77 + test_random_below( random, 3 ), 500 ) );
    return cube_at( sum( pile, random_point( random, 0.5 ) ), 0.02 );
}

static clv_aabb64 dust_box( test_random* random )
{
    clv_aabb64 box = cube_at( ( clv_vec64 ){ 1e9, 1e9, 1e9 }, 0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double* lower = &( &box.lower.x )[axis];
        *lower += test_random_below( random, 12 ) * 0x1p-23; // the distance of doubles there
        ( &box.upper.x )[axis] = *lower + test_random_below( random, 4 ) * 0x1p-23;
    }
    return box;
}

static clv_aabb64 decade_box( test_random* random )
{
    clv_aabb64 box;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double size = ldexp( 1.0, (int)test_random_below( random, 2000 ) - 1000 );
        double at = far_random_between( random, -size, size );
        ( &box.lower.x )[axis] = at;
        ( &box.upper.x )[axis] = at + 0.5 * size;
    }
    return box;
}

static clv_aabb64 endless_box( clv_aabb64 box, test_random* random )
{
    for ( int face = 0; face < 6 && test_random_chance( random, 50 ); ++face )
    {
        double* value = face < 3 ? &( &box.lower.x )[face] : &( &box.upper.x )[face - 3];
        *value = test_random_chance( random, 30 ) ? ( face < 3 ? -INFINITY : INFINITY ) : *value;
    }
    return box;
}

static clv_aabb64 town_box( uint32_t count, test_random* random )
{
    double width = 1.2 * cbrt( count / 100.0 );
    clv_vec64 town = town_at( test_random_below( random, 100 ), 1e9 );
    return cube_at( sum( town, random_point( random, width ) ), far_random_between( random, 0.5, 2 ) );
}

clv_aabb64 far_crowd_box( far_crowd_kind kind, uint32_t index, uint32_t count, test_random* random )
{
    double width = 1.5 * cbrt( count );
    switch ( kind )
    {
    case FAR_CROWD_SPREAD:
        return cube_at( random_point( random, 1e9 ), far_random_between( random, 0.5, 2 ) );
    case FAR_CROWD_TOWNS: return town_box( count, random );
    case FAR_CROWD_LATTICE: return lattice_box( random );
    case FAR_CROWD_PILES: return pile_box( random );
    case FAR_CROWD_SPOT:
        return cube_at( sum( ( clv_vec64 ){ 1e9, 1e9, 1e9 }, random_point( random, 0.5 ) ), 0.1 );
    case FAR_CROWD_DUST: return dust_box( random );
    case FAR_CROWD_SAME: return cube_at( town_at( test_random_below( random, 20 ), 1e9 ), 1 );
    case FAR_CROWD_LINE: return cube_at( ( clv_vec64 ){ 1e9 + index, 0, 0 }, 1 );
    case FAR_CROWD_TINY: return cube_at( random_point( random, 1e-310 ), 3e-311 );
    case FAR_CROWD_HUGE: return cube_at( random_point( random, 1e308 ), 3e307 );
    case FAR_CROWD_DECADES: return decade_box( random );
    case FAR_CROWD_ENDLESS: return endless_box( town_box( count, random ), random );
    default: return cube_at( random_point( random, width ), far_random_between( random, 0.5, 2 ) );
    }
}

clv_aabb64 far_crowd_step( far_crowd_kind kind, clv_aabb64 box, test_random* random )
{
    static const double s_steps[FAR_CROWD_KIND_COUNT] = { [FAR_CROWD_SPREAD] = 1,
        [FAR_CROWD_TOWNS] = 0.5,
        [FAR_CROWD_LATTICE] = 0,
        [FAR_CROWD_PILES] = 0.005,
        [FAR_CROWD_SPOT] = 0.02,
        [FAR_CROWD_DUST] = 0,
        [FAR_CROWD_SAME] = 0,
        [FAR_CROWD_LINE] = 0.125,
        [FAR_CROWD_TINY] = 1e-311,
        [FAR_CROWD_HUGE] = 1e307,
        [FAR_CROWD_DECADES] = 1,
        [FAR_CROWD_ENDLESS] = 0.5,
        [FAR_CROWD_NEAR] = 0.5 };
    double grid = kind == FAR_CROWD_LATTICE ? 1 : kind == FAR_CROWD_DUST ? 0x1p-23 : 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double by = far_random_between( random, -s_steps[kind], s_steps[kind] ) +
            grid * ( (double)test_random_below( random, 3 ) - 1 );
        ( &box.lower.x )[axis] += by;
        ( &box.upper.x )[axis] += by;
    }
    return box;
}
