// SPDX-License-Identifier: MIT
#include "shapes.h"

#include "support.h"

static clv_shape make_cloud( void )
{
    math_random random = math_random_seed( 200 );
    clv_vec3 points[200];
    for ( int i = 0; i < 200; ++i )
    {
        points[i] = math_narrow( math_random_direction( &random ) );
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = 200;
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create( &def, &hull ) );
    return clv_hull_shape( hull );
}

static clv_shape make_flat( uint32_t point_count, float radius )
{
    static const clv_vec3 points[4] = { { -1, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 } };
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = point_count;
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create( &def, &hull ) );
    clv_shape shape = clv_hull_shape( hull );
    shape.radius = radius;
    return shape;
}

static clv_shape build( shapes_kind kind )
{
    clv_vec3 size = { 0.8f, 1.3f, 0.9f };
    clv_hull* hull = NULL;
    switch ( kind )
    {
    case SHAPES_BOX: return clv_box_shape( size );
    case SHAPES_BOX_HULL: CHECK_OK( clv_hull_create_box( size, &hull ) ); break;
    case SHAPES_OCTAHEDRON: CHECK_OK( clv_hull_create_truncated_octahedron( size, &hull ) ); break;
    case SHAPES_RHOMBI: CHECK_OK( clv_hull_create_rhombicuboctahedron( size, &hull ) ); break;
    case SHAPES_CLOUD: return make_cloud();
    case SHAPES_SPHERE: return clv_sphere_shape( 1.1f );
    case SHAPES_CAPSULE: return make_flat( 2, 0.4f );
    default: return make_flat( 4, 0.0f );
    }
    return clv_hull_shape( hull );
}

clv_shape shapes_make( shapes_kind kind )
{
    static clv_shape made[SHAPES_KIND_COUNT];
    static bool is_made[SHAPES_KIND_COUNT];
    if ( !is_made[kind] )
    {
        made[kind] = build( kind );
        is_made[kind] = true;
    }
    return made[kind];
}

clv_transform shapes_pose( math_random* random, double spread )
{
    clv_transform at;
    at.position.x = (float)math_random_between( random, -spread, spread );
    at.position.y = (float)math_random_between( random, -spread, spread );
    at.position.z = (float)math_random_between( random, -spread, spread );
    at.rotation = math_quat_narrow( math_random_rotation( random ) );
    return at;
}

double shapes_reach( clv_shape shape, clv_transform at, math_vec3 direction )
{
    math_pose pose = math_pose_widen( at );
    double skin = (double)shape.radius * math_length( direction ), best = -HUGE_VAL;
    uint32_t count = shape.kind == CLV_SHAPE_SPHERE ? 1
        : shape.kind == CLV_SHAPE_BOX               ? 8
                                                    : clv_hull_get_view( shape.hull ).vertex_count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        math_vec3 p = { 0, 0, 0 };
        if ( shape.kind == CLV_SHAPE_BOX )
        {
            math_vec3 signs = { i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0 };
            p = shapes_stretch( math_widen( shape.half_size ), signs );
        }
        else if ( shape.kind == CLV_SHAPE_HULL )
        {
            p = math_widen( clv_hull_get_view( shape.hull ).vertices[i] );
        }
        best = math_max( best, math_dot( direction, math_pose_apply( &pose, p ) ) );
    }
    return best + skin;
}

// How far apart the shadows of both on an axis are; negative: how much they overlap. Directions of no length
// say nothing.
static double axis_gap( clv_shape a, clv_transform at_a, clv_shape b, clv_transform at_b, math_vec3 axis )
{
    double length = math_length( axis );
    if ( length < 1e-7 )
    {
        return -HUGE_VAL;
    }
    axis = math_scale( axis, 1.0 / length );
    math_vec3 back = math_neg( axis );
    double ahead = -shapes_reach( b, at_b, back ) - shapes_reach( a, at_a, axis );
    double behind = -shapes_reach( a, at_a, back ) - shapes_reach( b, at_b, axis );
    return math_max( ahead, behind );
}

double shapes_box_separation( clv_vec3 half_a, clv_transform at_a, clv_vec3 half_b, clv_transform at_b )
{
    math_pose pose_a = math_pose_widen( at_a ), pose_b = math_pose_widen( at_b );
    clv_shape a = clv_box_shape( half_a ), b = clv_box_shape( half_b );
    double best = -HUGE_VAL;
    for ( int i = 0; i < 3; ++i )
    {
        math_vec3 axis_a = math_column( &pose_a.rotation, i ), axis_b = math_column( &pose_b.rotation, i );
        best = math_max( best, axis_gap( a, at_a, b, at_b, axis_a ) );
        best = math_max( best, axis_gap( a, at_a, b, at_b, axis_b ) );
        for ( int j = 0; j < 3; ++j )
        {
            math_vec3 edge = math_column( &pose_b.rotation, j );
            best = math_max( best, axis_gap( a, at_a, b, at_b, math_cross( axis_a, edge ) ) );
        }
    }
    return best;
}

// Edge e of a hull, counted over vertices and their higher neighbours, in world coordinates.
static uint32_t list_edges( const clv_hull* hull, clv_transform at, math_vec3* edges )
{
    clv_hull_view view = clv_hull_get_view( hull );
    math_pose pose = math_pose_widen( at );
    uint32_t count = 0;
    for ( uint32_t v = 0; v < view.vertex_count; ++v )
    {
        for ( uint32_t i = view.neighbour_starts[v]; i < view.neighbour_starts[v + 1]; ++i )
        {
            if ( view.neighbours[i] > v )
            {
                math_vec3 from = math_widen( view.vertices[v] ),
                          to = math_widen( view.vertices[view.neighbours[i]] );
                edges[count++] = math_apply( &pose.rotation, math_sub( to, from ) );
            }
        }
    }
    return count;
}

double shapes_hull_separation( const clv_hull* a, clv_transform at_a, const clv_hull* b, clv_transform at_b )
{
    math_vec3 edges_a[64], edges_b[64];
    CHECK( clv_hull_get_view( a ).edge_count <= 64 && clv_hull_get_view( b ).edge_count <= 64 );
    uint32_t count_a = list_edges( a, at_a, edges_a ), count_b = list_edges( b, at_b, edges_b );
    clv_shape shape_a = clv_hull_shape( a ), shape_b = clv_hull_shape( b );
    double best = -HUGE_VAL;
    for ( int side = 0; side < 2; ++side )
    {
        clv_hull_view view = clv_hull_get_view( side == 0 ? a : b );
        math_pose pose = math_pose_widen( side == 0 ? at_a : at_b );
        for ( uint32_t f = 0; f < view.face_count; ++f )
        {
            math_vec3 normal = math_apply( &pose.rotation, math_widen( view.face_planes[f].normal ) );
            best = math_max( best, axis_gap( shape_a, at_a, shape_b, at_b, normal ) );
        }
    }
    for ( uint32_t i = 0; i < count_a; ++i )
    {
        for ( uint32_t k = 0; k < count_b; ++k )
        {
            best = math_max(
                best, axis_gap( shape_a, at_a, shape_b, at_b, math_cross( edges_a[i], edges_b[k] ) ) );
        }
    }
    return best;
}
