// SPDX-License-Identifier: MIT
// Every change is made in the space and noted; margins and motions are worked out again, with the machine's
// own rounding.
#include "judge_world.h"

#include "far_crowd.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

clv_aabb64 judge_world_box( judge_world* world )
{
    if ( !world->is_flat )
    {
        return far_crowd_box( (far_crowd_kind)world->crowd, world->count, 300, &world->random );
    }
    clv_aabb box = test_crowd_box( (test_crowd)world->crowd, 300, &world->random );
    return ( clv_aabb64 ){ { (double)box.lower.x, (double)box.lower.y, 0 },
        { (double)box.upper.x, (double)box.upper.y, 0 } };
}

clv_aabb2 judge_flat_box( clv_aabb64 box )
{
    return (
        clv_aabb2 ){ { (float)box.lower.x, (float)box.lower.y }, { (float)box.upper.x, (float)box.upper.y } };
}

static void add_box( judge_world* world )
{
    clv_aabb64 box = judge_world_box( world );
    clv_aabb2 flat = judge_flat_box( box );
    clv_id id;
    CHECK_OK( world->is_flat ? clv_space_add2( world->space, &flat, 1, &id )
                             : clv_space_add64( world->space, &box, 1, &id ) );
    world->count = id.index >= world->count ? id.index + 1 : world->count;
    world->ids[id.index] = id;
    world->given[id.index] = box;
    world->rules[id.index] = ( clv_margin_rule ){ 0, 0, 0 };
    world->motions[id.index] = ( clv_vec3 ){ 0, 0, 0 };
    world->filters[id.index] = clv_default_filter();
    world->is_there[id.index] = true;
}

static void move_box( judge_world* world, uint32_t slot )
{
    clv_aabb64 box = judge_world_box( world );
    if ( !world->is_flat && test_random_chance( &world->random, 80 ) )
    {
        box = far_crowd_step( (far_crowd_kind)world->crowd, world->given[slot], &world->random );
    }
    if ( !clv_aabb64_is_valid( box ) )
    {
        return;
    }
    clv_aabb2 flat = judge_flat_box( box );
    CHECK_OK( world->is_flat ? clv_space_move2( world->space, &world->ids[slot], &flat, 1 )
                             : clv_space_move64( world->space, &world->ids[slot], &box, 1 ) );
    world->given[slot] = box;
}

judge_world* judge_world_make(
    bool is_flat, clv_isa isa, uint32_t workers, int crowd, uint32_t count, uint64_t seed )
{
    judge_world* world = test_alloc( 1, sizeof( judge_world ) );
    memset( world, 0, sizeof( *world ) );
    clv_space_def def = clv_default_space_def();
    def.flat = is_flat;
    def.doubles = !is_flat;
    def.isa = isa;
    def.worker_count = workers;
    CHECK_OK( clv_space_create( &def, &world->space ) );
    world->is_flat = is_flat;
    world->crowd = crowd;
    world->random = test_random_make( seed );
    for ( uint32_t i = 0; i < count; ++i )
    {
        add_box( world );
    }
    return world;
}

void judge_world_free( judge_world* world )
{
    clv_space_destroy( world->space );
    free( world );
}

void judge_world_change( judge_world* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        uint32_t chance = test_random_below( &world->random, 100 );
        if ( world->is_there[i] && chance < 4 )
        {
            CHECK_OK( clv_space_remove_one( world->space, world->ids[i] ) );
            world->is_there[i] = world->is_seen[i] = false;
        }
        else if ( world->is_there[i] && chance < 40 )
        {
            move_box( world, i );
        }
    }
    for ( uint32_t i = test_random_below( &world->random, 9 ); i > 0 && world->count < JUDGE_MOST; --i )
    {
        add_box( world );
    }
}

void judge_world_change_one( judge_world* world )
{
    uint32_t slot = test_random_below( &world->random, world->count );
    uint32_t chance = test_random_below( &world->random, 100 );
    if ( !world->is_there[slot] || ( chance < 20 && world->count < JUDGE_MOST ) )
    {
        add_box( world );
    }
    else if ( chance < 35 )
    {
        CHECK_OK( clv_space_remove_one( world->space, world->ids[slot] ) );
        world->is_there[slot] = world->is_seen[slot] = false;
    }
    else
    {
        move_box( world, slot );
    }
}

clv_filter judge_some_mask( test_random* random )
{
    clv_filter filter = { 1u << test_random_below( random, 3 ), 1 + test_random_below( random, 7 ), 0 };
    filter.group = test_random_chance( random, 30 ) ? (int32_t)test_random_below( random, 5 ) - 2 : 0;
    return filter;
}

void judge_world_dress( judge_world* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        if ( world->is_there[i] )
        {
            world->rules[i] = ( clv_margin_rule ){ test_random_between( &world->random, 0, 0.7f ), 0, 0 };
            world->filters[i] = judge_some_mask( &world->random );
            CHECK_OK( clv_space_set_margin( world->space, &world->ids[i], &world->rules[i].fixed, 1 ) );
            CHECK_OK( clv_space_set_filter( world->space, &world->ids[i], &world->filters[i], 1 ) );
        }
    }
}

double judge_rounded( const judge_world* world, double value )
{
    return world->is_flat ? (double)(float)value : value;
}

void judge_world_push( judge_world* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        float reach = test_random_chance( &world->random, 20 ) ? 1e-3f : 3;
        if ( world->is_there[i] && test_random_chance( &world->random, 50 ) )
        {
            world->motions[i] = ( clv_vec3 ){ test_random_between( &world->random, -reach, reach ),
                test_random_chance( &world->random, 30 )
                    ? 0
                    : test_random_between( &world->random, -reach, reach ),
                test_random_between( &world->random, -reach, reach ) };
            CHECK_OK( clv_space_set_motion( world->space, &world->ids[i], &world->motions[i], 1 ) );
            world->motions[i].z = world->is_flat ? 0 : world->motions[i].z;
        }
        if ( world->is_there[i] && test_random_chance( &world->random, 30 ) )
        {
            world->rules[i] = ( clv_margin_rule ){ test_random_between( &world->random, 0, 0.1f ),
                test_random_between( &world->random, 0, 0.3f ), test_random_between( &world->random, 0, 1 ) };
            CHECK_OK( clv_space_set_margin_rule( world->space, &world->ids[i], &world->rules[i], 1 ) );
        }
    }
}

static float margin_of( const judge_world* world, uint32_t i )
{
    const clv_aabb64* box = &world->given[i];
    clv_margin_rule rule = world->rules[i];
    double size = 0, x = (double)world->motions[i].x, y = (double)world->motions[i].y,
           z = (double)world->motions[i].z;
    for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
    {
        double side = ( &box->upper.x )[axis] - ( &box->lower.x )[axis];
        size = side - side == 0 && side > size ? side : size;
    }
    if ( rule.by_size == 0 && rule.by_speed == 0 )
    {
        return rule.fixed;
    }
    double margin = (double)rule.fixed + (double)rule.by_size * size +
        (double)rule.by_speed * sqrt( x * x + y * y + z * z );
    float nearest = margin < (double)FLT_MAX ? (float)margin : FLT_MAX;
    return (double)nearest < margin && nearest < FLT_MAX ? nextafterf( nearest, INFINITY ) : nearest;
}

// face + motion, rounded outwards by the machine itself.
static double sum_outwards( const judge_world* world, double face, float motion )
{
    int before = fegetround();
    CHECK_EQUAL( fesetround( motion > 0 ? FE_UPWARD : FE_DOWNWARD ), 0 );
    volatile double wide = face, way = (double)motion, wide_sum = wide + way;
    volatile float narrow = (float)face, narrow_way = motion, narrow_sum = narrow + narrow_way;
    CHECK_EQUAL( fesetround( before ), 0 );
    return world->is_flat ? (double)narrow_sum : wide_sum;
}

static clv_aabb64 test_box_of( const judge_world* world, uint32_t i )
{
    clv_aabb64 box = world->given[i];
    double margin = (double)margin_of( world, i );
    for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
    {
        double *lower = &box.lower.x + axis, *upper = &box.upper.x + axis;
        float motion = ( &world->motions[i].x )[axis];
        *lower = margin != 0 ? judge_rounded( world, *lower - margin ) : *lower;
        *upper = margin != 0 ? judge_rounded( world, *upper + margin ) : *upper;
        *lower = motion < 0 ? sum_outwards( world, *lower, motion ) : *lower;
        *upper = motion > 0 ? sum_outwards( world, *upper, motion ) : *upper;
    }
    return box;
}

static void check_test_box( const judge_world* world, uint32_t i )
{
    clv_aabb64 expected = test_box_of( world, i ), wide = expected;
    clv_aabb2 flat = judge_flat_box( expected ), expected_flat = flat;
    CHECK_OK( world->is_flat ? clv_space_get_test_box2( world->space, world->ids[i], &flat )
                             : clv_space_get_test_box64( world->space, world->ids[i], &wide ) );
    CHECK( memcmp( &flat, &expected_flat, sizeof( flat ) ) == 0 );
    CHECK( memcmp( &wide, &expected, sizeof( wide ) ) == 0 );
}

void judge_world_see( judge_world* world, bool is_update )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        world->is_seen[i] = world->is_there[i];
        world->seen_given[i] = world->given[i];
        world->seen_box[i] = test_box_of( world, i );
        world->motions[i] = is_update ? ( clv_vec3 ){ 0, 0, 0 } : world->motions[i];
        if ( world->is_there[i] )
        {
            check_test_box( world, i ); // of the next update
        }
    }
}

bool judge_filters_agree( const clv_filter* a, const clv_filter* b )
{
    if ( a->group == b->group && a->group != 0 )
    {
        return a->group > 0;
    }
    return ( a->category & b->mask ) != 0 && ( b->category & a->mask ) != 0;
}

void judge_world_check_pairs( judge_world* world )
{
    clv_pair* pairs = test_alloc( (size_t)world->count * world->count / 2 + 1, sizeof( clv_pair ) );
    uint64_t count = 0;
    for ( uint32_t a = 0; a < world->count; ++a )
    {
        for ( uint32_t b = a + 1; b < world->count; ++b )
        {
            pairs[count] = ( clv_pair ){ a, b };
            count += world->is_seen[a] && world->is_seen[b] &&
                judge_filters_agree( &world->filters[a], &world->filters[b] ) &&
                clv_aabb64_overlap( world->seen_box[a], world->seen_box[b] );
        }
    }
    clv_pair_view view = clv_space_pairs( world->space );
    CHECK_EQUAL( view.count, count );
    CHECK_EQUAL( test_set_hash( view.pairs, view.count ), test_set_hash( pairs, count ) );
    free( pairs );
}
