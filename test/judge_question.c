// SPDX-License-Identifier: MIT
// Drawn from the world's own boxes, so that questions meet some; exact faces and equal numbers are among
// them.
#include "judge_question.h"

#include "far_crowd.h"

#include <math.h>
#include <string.h>

static double tame( double value )
{
    return value - value == 0 ? value : 0;
}

static clv_vec64 tame_place( clv_vec64 v )
{
    return ( clv_vec64 ){ tame( v.x ), tame( v.y ), tame( v.z ) };
}

static clv_aabb64 some_area( judge_world* world )
{
    return world->count > 0 && test_random_chance( &world->random, 60 )
        ? world->given[test_random_below( &world->random, world->count )]
        : judge_world_box( world );
}

double judge_some_length( judge_world* world )
{
    clv_aabb64 box = some_area( world );
    double side = tame( fabs( box.upper.x - box.lower.x ) );
    return judge_rounded(
        world, tame( judge_rounded( world, side * far_random_between( &world->random, 0, 3 ) ) ) );
}

static clv_vec64 some_way( judge_world* world )
{
    clv_vec64 way = { 0, 0, 0 };
    double length = test_random_chance( &world->random, 50 ) ? 1 : 4 * judge_some_length( world );
    for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
    {
        double part = far_random_between( &world->random, -1, 1 );
        part = test_random_chance( &world->random, 15 ) ? 0 : part;
        ( &way.x )[axis] = tame( judge_rounded( world, part * length ) );
    }
    return way;
}

// From one object to another, past what lies between.
static clv_vec64 way_to_some( judge_world* world, clv_vec64 from )
{
    clv_vec64 to = tame_place( some_area( world ).lower );
    clv_vec64 way = { tame( judge_rounded( world, to.x - from.x ) ),
        tame( judge_rounded( world, to.y - from.y ) ), world->is_flat ? 0 : tame( to.z - from.z ) };
    return way;
}

static void some_planes( judge_world* world, judge_question* q )
{
    q->plane_count = test_random_below( &world->random, JUDGE_PLANES + 1 );
    for ( uint32_t i = 0; i < q->plane_count; ++i )
    {
        clv_vec64 n = some_way( world );
        double offset = judge_rounded( world, judge_some_length( world ) );
        if ( world->is_flat )
        {
            offset = judge_rounded( world, tame( n.x * q->box.lower.x + n.y * q->box.lower.y ) + offset );
        }
        q->planes[i] = ( clv_plane64 ){ n, offset };
        q->half_planes[i] = ( clv_half_plane ){ { (float)n.x, (float)n.y }, (float)offset };
    }
}

static void clamp( double* values, int count )
{
    for ( int i = 0; i < count; ++i )
    {
        values[i] = fmin( fmax( values[i], -1e150 ), 1e150 );
    }
}

// Shapes with a test of their own measure 1e150 at most.
static void fit_question( const judge_world* world, judge_question* q )
{
    bool is_measured =
        q->kind >= CLV_QUERY_CAPSULE && q->kind != CLV_QUERY_RAY && q->kind != CLV_QUERY_BOX_CAST;
    if ( world->is_flat || !is_measured )
    {
        return;
    }
    clamp( &q->box.lower.x, 3 );
    clamp( &q->box.upper.x, 3 );
    clamp( &q->end.x, 3 );
    clamp( &q->half.x, 3 );
    clamp( &q->motion.x, 3 );
    clamp( &q->radius, 1 );
    for ( uint32_t i = 0; i < q->plane_count; ++i )
    {
        clamp( &q->planes[i].normal.x, 3 );
    }
}

judge_question judge_question_make( judge_world* world, clv_query_kind kind )
{
    test_random* random = &world->random;
    judge_question q;
    memset( &q, 0, sizeof( q ) );
    q.kind = kind;
    q.box = some_area( world );
    bool is_box = kind == CLV_QUERY_BOX || kind == CLV_QUERY_NEIGHBOURHOOD;
    if ( !is_box )
    {
        clv_vec64 at = test_random_chance( random, 50 ) ? q.box.lower : q.box.upper;
        q.box.lower = q.box.upper = kind == CLV_QUERY_POINT ? at : tame_place( at );
    }
    q.radius = judge_some_length( world );
    if ( kind == CLV_QUERY_BOX_CAST )
    {
        for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
        {
            double upper = judge_rounded( world, ( &q.box.lower.x )[axis] + q.radius );
            ( &q.box.upper.x )[axis] = upper - upper == 0 ? upper : ( &q.box.lower.x )[axis];
        }
    }
    q.end = test_random_chance( random, 50 ) ? tame_place( some_area( world ).upper ) : q.box.lower;
    q.half = ( clv_vec64 ){ judge_some_length( world ), judge_some_length( world ),
        world->is_flat ? 0 : judge_some_length( world ) };
    q.motion = test_random_chance( random, 50 ) ? some_way( world ) : way_to_some( world, q.box.lower );
    q.max_t = test_random_chance( random, 50 ) ? INFINITY : (double)test_random_between( random, 0, 20 );
    if ( test_random_chance( random, 75 ) )
    {
        q.rotation = ( clv_quat ){ test_random_between( random, -1, 1 ), test_random_between( random, -1, 1 ),
            test_random_between( random, -1, 1 ), test_random_between( random, -1, 1 ) };
    }
    some_planes( world, &q );
    fit_question( world, &q );
    return q;
}

static clv_vec2 flat_place( clv_vec64 v )
{
    return ( clv_vec2 ){ (float)v.x, (float)v.y };
}

static size_t pack_flat( const judge_question* q, judge_item* to )
{
    clv_vec2 a = flat_place( q->box.lower ), end = flat_place( q->end ), way = flat_place( q->motion );
    float radius = (float)q->radius, most = (float)q->max_t;
    switch ( q->kind )
    {
    case CLV_QUERY_POINT: to->point2 = a; return sizeof( to->point2 );
    case CLV_QUERY_BOX: to->box2 = judge_flat_box( q->box ); return sizeof( to->box2 );
    case CLV_QUERY_SPHERE: to->circle = ( clv_circle ){ a, radius }; return sizeof( to->circle );
    case CLV_QUERY_NEIGHBOURHOOD:
        to->around2 = ( clv_neighbourhood2 ){ judge_flat_box( q->box ), radius };
        return sizeof( to->around2 );
    case CLV_QUERY_CAPSULE: to->capsule2 = ( clv_capsule2 ){ a, end, radius }; return sizeof( to->capsule2 );
    case CLV_QUERY_ORIENTED_BOX:
        to->turned2 = ( clv_oriented_box2 ){ a, flat_place( q->half ), { q->rotation.x, q->rotation.y } };
        return sizeof( to->turned2 );
    case CLV_QUERY_HALF_SPACES:
        to->half_planes = ( clv_half_planes ){ q->half_planes, q->plane_count };
        return sizeof( to->half_planes );
    case CLV_QUERY_RAY: to->ray2 = ( clv_ray2 ){ a, way, most }; return sizeof( to->ray2 );
    case CLV_QUERY_BOX_CAST:
        to->box_cast2 = ( clv_box_cast2 ){ judge_flat_box( q->box ), way, most };
        return sizeof( to->box_cast2 );
    case CLV_QUERY_SPHERE_CAST:
        to->circle_cast = ( clv_circle_cast ){ { a, radius }, way, most };
        return sizeof( to->circle_cast );
    default:
        to->capsule_cast2 = ( clv_capsule_cast2 ){ { a, end, radius }, way, most };
        return sizeof( to->capsule_cast2 );
    }
}

static size_t pack_wide( const judge_question* q, judge_item* to )
{
    clv_vec64 a = q->box.lower;
    switch ( q->kind )
    {
    case CLV_QUERY_POINT: to->point = a; return sizeof( to->point );
    case CLV_QUERY_BOX: to->box = q->box; return sizeof( to->box );
    case CLV_QUERY_SPHERE: to->sphere = ( clv_sphere64 ){ a, q->radius }; return sizeof( to->sphere );
    case CLV_QUERY_NEIGHBOURHOOD:
        to->around = ( clv_neighbourhood64 ){ q->box, q->radius };
        return sizeof( to->around );
    case CLV_QUERY_CAPSULE:
        to->capsule = ( clv_capsule64 ){ a, q->end, q->radius };
        return sizeof( to->capsule );
    case CLV_QUERY_ORIENTED_BOX:
        to->turned = ( clv_oriented_box64 ){ a, q->half, q->rotation };
        return sizeof( to->turned );
    case CLV_QUERY_HALF_SPACES:
        to->half_spaces = ( clv_half_spaces64 ){ a, q->planes, q->plane_count };
        return sizeof( to->half_spaces );
    case CLV_QUERY_RAY: to->ray = ( clv_ray64 ){ a, q->motion, q->max_t }; return sizeof( to->ray );
    case CLV_QUERY_BOX_CAST:
        to->box_cast = ( clv_box_cast64 ){ q->box, q->motion, q->max_t };
        return sizeof( to->box_cast );
    case CLV_QUERY_SPHERE_CAST:
        to->sphere_cast = ( clv_sphere_cast64 ){ { a, q->radius }, q->motion, q->max_t };
        return sizeof( to->sphere_cast );
    default:
        to->capsule_cast = ( clv_capsule_cast64 ){ { a, q->end, q->radius }, q->motion, q->max_t };
        return sizeof( to->capsule_cast );
    }
}

size_t judge_question_pack( const judge_world* world, const judge_question* q, judge_item* to )
{
    return world->is_flat ? pack_flat( q, to ) : pack_wide( q, to );
}
