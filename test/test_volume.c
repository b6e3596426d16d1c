// SPDX-License-Identifier: MIT
#include "dop.h"
#include "heap.h"
#include "narrow/bound.h"
#include "obb.h"
#include "principal_axis.h"
#include "shapes.h"
#include "support.h"
#include "volume.h"

#include <stdlib.h>
#include <string.h>

// ---- rounding

static void rounding_goes_outwards_by_less_than_a_step( void )
{
    math_random random = math_random_seed( 41 );
    for ( int i = 0; i < 100000; ++i )
    {
        double value = math_random_between( &random, -1, 1 ) *
            ( i % 3 == 0         ? 1e30
                    : i % 3 == 1 ? 1.0
                                 : 1e-42 );
        float up = clv_narrow_round_up( value ), down = clv_narrow_round_down( value );
        CHECK( (double)down <= value && value <= (double)up );
        CHECK( nextafterf( down, INFINITY ) >= up ); // neighbours, or the same
        CHECK( (double)nextafterf( up, -INFINITY ) < value && (double)nextafterf( down, INFINITY ) > value );
    }
    CHECK( clv_narrow_round_up( 0.5 ) == 0.5f && clv_narrow_round_down( -3.0 ) == -3.0f &&
        clv_narrow_round_up( 0.0 ) == 0.0f );
    CHECK( clv_narrow_round_up( 1e300 ) == INFINITY && clv_narrow_round_down( 1e-300 ) == 0.0f );
    CHECK( clv_narrow_round_up( 1e-300 ) > 0.0f && clv_narrow_round_up( -1e-300 ) == 0.0f );
}

// ---- volumes

typedef struct dop_ends
{
    clv_dop_kind kind;
    float* ends;
} dop_ends;

static void make_dop( const narrow_core* core, double radius, void* volume )
{
    const dop_ends* dop = volume;
    clv_volume_core_dop( core, radius, dop->kind, dop->ends );
}

// The k-DOP around a shape that stands somewhere, as `kind` floats.
static clv_result shape_dop( clv_shape shape, clv_transform at, clv_dop_kind kind, float* ends )
{
    dop_ends dop = { kind, ends };
    return clv_narrow_around( shape, at, make_dop, &dop );
}

static void volumes_of_a_box_in_place( void )
{
    clv_shape box = clv_box_shape( ( clv_vec3 ){ 1, 2, 3 } );
    clv_aabb aabb;
    clv_dop18 dop;
    clv_sphere sphere;
    CHECK_OK( clv_shape_aabb( box, clv_transform_at( 10, 20, 30 ), &aabb ) );
    CHECK( aabb.lower.x == 9.0f && aabb.lower.y == 18.0f && aabb.lower.z == 27.0f );
    CHECK( aabb.upper.x == 11.0f && aabb.upper.y == 22.0f && aabb.upper.z == 33.0f );
    CHECK_OK( clv_shape_dop18( box, clv_transform_at( 10, 20, 30 ), &dop ) );
    const float lower[9] = { 9, 18, 27, 27, -13, 36, -24, 45, -15 };
    const float upper[9] = { 11, 22, 33, 33, -7, 44, -16, 55, -5 };
    for ( int i = 0; i < 9; ++i )
    {
        CHECK( dop.lower[i] == lower[i] && dop.upper[i] == upper[i] );
    }
    CHECK_OK( clv_shape_sphere( box, clv_transform_at( 10, 20, 30 ), &sphere ) );
    CHECK( sphere.center.x == 10.0f && sphere.radius >= sqrtf( 14.0f ) && sphere.radius < 3.74166f );
}

static void an_octahedron_fills_its_dop_better_than_its_box( void )
{
    // A truncated octahedron's square faces are the planes of the box; its diagonals x + y reach 1.5, not 2.
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create_truncated_octahedron( ( clv_vec3 ){ 1, 1, 1 }, &hull ) );
    clv_dop18 dop;
    CHECK_OK( clv_shape_dop18( clv_hull_shape( hull ), clv_identity_transform(), &dop ) );
    for ( int i = 0; i < 9; ++i )
    {
        CHECK( dop.upper[i] == ( i < 3 ? 1.0f : 1.5f ) && dop.lower[i] == -dop.upper[i] );
    }
    clv_sphere sphere;
    CHECK_OK( clv_shape_sphere( clv_hull_shape( hull ), clv_identity_transform(), &sphere ) );
    CHECK( sphere.radius >= sqrtf( 1.25f ) && sphere.radius < 1.11804f );
    clv_hull_destroy( hull );
}

// Contains the shape along each axis, and by no more than the rounding of a float.
static void volumes_contain_and_are_tight( void )
{
    math_random random = math_random_seed( 42 );
    for ( int i = 0; i < 8000; ++i )
    {
        clv_shape shape = shapes_make( (shapes_kind)( i % SHAPES_KIND_COUNT ) );
        clv_transform at = shapes_pose( &random, i % 2 ? 10 : 1e5 );
        double step = i % 2 ? 2e-6 : 2e-2; // floats up to 20, and up to 2e5
        clv_aabb aabb;
        clv_dop18 dop;
        clv_sphere sphere;
        CHECK_OK( clv_shape_aabb( shape, at, &aabb ) );
        CHECK_OK( clv_shape_dop18( shape, at, &dop ) );
        CHECK_OK( clv_shape_sphere( shape, at, &sphere ) );
        for ( uint32_t axis = 0; axis < 9; ++axis )
        {
            math_vec3 direction = math_widen( clv_dop_axis( CLV_DOP_18, axis ) );
            double upper = shapes_reach( shape, at, direction ),
                   lower = -shapes_reach( shape, at, math_neg( direction ) );
            // The judge rounds too, by some 1e-16 of the position.
            CHECK( (double)dop.upper[axis] >= upper - 1e-10 && (double)dop.upper[axis] <= upper + step );
            CHECK( (double)dop.lower[axis] <= lower + 1e-10 && (double)dop.lower[axis] >= lower - step );
            if ( axis < 3 )
            {
                CHECK( ( &aabb.lower.x )[axis] == dop.lower[axis] &&
                    ( &aabb.upper.x )[axis] == dop.upper[axis] );
            }
            double reach = (double)sphere.radius * math_length( direction );
            CHECK( math_dot( direction, math_widen( sphere.center ) ) + reach >= upper - 1e-10 );
        }
    }
}

static const clv_dop_kind s_kinds[] = { CLV_DOP_6, CLV_DOP_14, CLV_DOP_18, CLV_DOP_26 };
static const clv_volume_kind s_volumes[] = { CLV_VOLUME_DOP6, CLV_VOLUME_DOP14, CLV_VOLUME_DOP18,
    CLV_VOLUME_DOP26 };

// The same for every kind of k-DOP; the kinds of the paper are two of them.
static void dops_of_every_kind_contain_and_are_tight( void )
{
    math_random random = math_random_seed( 45 );
    for ( int i = 0; i < 4000; ++i )
    {
        clv_shape shape = shapes_make( (shapes_kind)( i % SHAPES_KIND_COUNT ) );
        clv_transform at = shapes_pose( &random, i % 2 ? 10 : 1e5 );
        double step = i % 2 ? 4e-6 : 4e-2; // floats up to 30, and up to 3e5
        for ( size_t k = 0; k < TEST_COUNT( s_kinds ); ++k )
        {
            float ends[CLV_DOP_ENDS_MOST];
            uint32_t count = (uint32_t)s_kinds[k] / 2;
            CHECK_OK( shape_dop( shape, at, s_kinds[k], ends ) );
            for ( uint32_t axis = 0; axis < count; ++axis )
            {
                math_vec3 direction = math_widen( clv_dop_axis( s_kinds[k], axis ) );
                double upper = shapes_reach( shape, at, direction ),
                       lower = -shapes_reach( shape, at, math_neg( direction ) );
                CHECK( (double)ends[count + axis] >= upper - 1e-10 &&
                    (double)ends[count + axis] <= upper + step );
                CHECK( (double)ends[axis] <= lower + 1e-10 && (double)ends[axis] >= lower - step );
            }
            clv_aabb aabb;
            clv_dop18 dop;
            CHECK_OK( clv_shape_aabb( shape, at, &aabb ) );
            CHECK_OK( clv_shape_dop18( shape, at, &dop ) );
            CHECK( s_kinds[k] != CLV_DOP_6 || memcmp( ends, &aabb, sizeof( aabb ) ) == 0 );
            CHECK( s_kinds[k] != CLV_DOP_18 || memcmp( ends, &dop, sizeof( dop ) ) == 0 );
        }
    }
}

static void turned_boxes_contain_and_are_tight( void )
{
    math_random random = math_random_seed( 46 );
    for ( int i = 0; i < 4000; ++i )
    {
        clv_shape shape = shapes_make( (shapes_kind)( i % SHAPES_KIND_COUNT ) );
        double far = i % 2 ? 10 : 1e5;
        clv_transform at = shapes_pose( &random, far );
        clv_obb obb;
        CHECK_OK( clv_shape_obb( shape, at, &obb ) );
        for ( int axis = 0; axis < 3; ++axis )
        {
            math_vec3 direction = math_widen( obb.axes[axis] );
            double middle = math_dot( direction, math_widen( obb.center ) );
            double half = (double)( &obb.half_size.x )[axis];
            double upper = shapes_reach( shape, at, direction ) - middle,
                   lower = -shapes_reach( shape, at, math_neg( direction ) ) - middle;
            CHECK( upper <= half + 1e-10 && lower >= -half - 1e-10 );
            // Something of the shape is as far out as the box, but for the rounding of the center and the
            // axes.
            CHECK( math_max( upper, -lower ) >= half - 1e-6 * ( far + half ) );
        }
    }
}

static void a_turned_needle_has_a_turned_box( void )
{
    // Points along a diagonal, whose own axes know nothing of it.
    clv_vec3 points[8];
    for ( int i = 0; i < 8; ++i )
    {
        float along = (float)( i / 2 ) * 5;
        points[i] = ( clv_vec3 ){ along, along + ( i % 2 ? 0.1f : 0 ), along + ( i % 3 ? 0.1f : 0 ) };
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = 8;
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create( &def, &hull ) );
    clv_obb obb;
    CHECK_OK( clv_shape_obb( clv_hull_shape( hull ), clv_identity_transform(), &obb ) );
    CHECK( obb.half_size.x > 12.9f && obb.half_size.x < 13.2f );
    CHECK( obb.half_size.y < 0.2f && obb.half_size.z < 0.2f );
    clv_hull_destroy( hull );
}

// Two boxes: separating axes must agree with GJK, but for the hair they say they are generous by.
static void turned_boxes_overlap_as_gjk_says( void )
{
    math_random random = math_random_seed( 47 );
    uint32_t apart_count = 0, touching_count = 0;
    for ( int i = 0; i < 20000; ++i )
    {
        clv_vec3 half_a = { (float)math_random_between( &random, 0.1, 2 ), 1,
            (float)math_random_between( &random, 0.1, 2 ) };
        clv_vec3 half_b = { 1, (float)math_random_between( &random, 0.1, 2 ), i % 3 == 0 ? 0.0f : 0.5f };
        clv_shape a = clv_box_shape( half_a ), b = clv_box_shape( half_b );
        clv_transform at_a = shapes_pose( &random, 2 ), at_b = shapes_pose( &random, 2 );
        at_b.rotation = i % 4 == 0 ? at_a.rotation : at_b.rotation; // all edges parallel
        clv_obb box_a, box_b;
        CHECK_OK( clv_shape_obb( a, at_a, &box_a ) );
        CHECK_OK( clv_shape_obb( b, at_b, &box_b ) );
        clv_distance distance;
        CHECK_OK( clv_shape_distance( a, at_a, b, at_b, NULL, &distance ) );
        bool overlap = clv_volume_obb_overlap( &box_a, &box_b );
        CHECK( overlap == clv_volume_obb_overlap( &box_b, &box_a ) );
        if ( distance.distance == 0.0f )
        {
            CHECK( overlap );
            touching_count += 1;
        }
        else if ( (double)distance.distance > 1e-3 )
        {
            CHECK( !overlap );
            apart_count += 1;
        }
    }
    CHECK( apart_count > 1000 && touching_count > 1000 );
}

// Whatever the kind of volume: shapes that touch have volumes that overlap.
static void volumes_of_shapes_that_touch_overlap( void )
{
    math_random random = math_random_seed( 48 );
    uint32_t touching_count = 0;
    for ( int i = 0; i < 6000; ++i )
    {
        clv_shape a = shapes_make( (shapes_kind)( i % SHAPES_KIND_COUNT ) ),
                  b = shapes_make( (shapes_kind)( i / 7 % SHAPES_KIND_COUNT ) );
        clv_transform at_a = shapes_pose( &random, 1.5 ), at_b = shapes_pose( &random, 1.5 );
        bool touching = false;
        CHECK_OK( clv_shape_overlap( a, at_a, b, at_b, NULL, &touching ) );
        if ( !touching )
        {
            continue;
        }
        touching_count += 1;
        clv_obb box_a, box_b;
        CHECK_OK( clv_shape_obb( a, at_a, &box_a ) );
        CHECK_OK( clv_shape_obb( b, at_b, &box_b ) );
        CHECK( clv_volume_obb_overlap( &box_a, &box_b ) );
        for ( size_t k = 0; k < TEST_COUNT( s_kinds ); ++k )
        {
            float ends_a[CLV_DOP_ENDS_MOST], ends_b[CLV_DOP_ENDS_MOST];
            CHECK_OK( shape_dop( a, at_a, s_kinds[k], ends_a ) );
            CHECK_OK( shape_dop( b, at_b, s_kinds[k], ends_b ) );
            CHECK( clv_dop_overlap( s_kinds[k], ends_a, ends_b ) );
        }
    }
    CHECK( touching_count > 500 );
}

static void bad_shapes_have_no_volume( void )
{
    float ends[CLV_DOP_ENDS_MOST];
    clv_obb obb;
    CHECK_RESULT( shape_dop( clv_sphere_shape( 1 ), clv_transform_at( 0, NAN, 0 ), CLV_DOP_26, ends ),
        CLV_BAD_ARGUMENT );
    CHECK( clv_volume_axes_of( (clv_volume_kind)7 ) == 0 );
    CHECK_RESULT(
        clv_shape_obb( clv_sphere_shape( 1 ), clv_transform_at( 0, 0, INFINITY ), &obb ), CLV_BAD_ARGUMENT );
    clv_transform lost = clv_transform_at( NAN, 0, 0 );
    clv_aabb aabb;
    clv_dop18 dop;
    clv_sphere sphere;
    CHECK_RESULT( clv_shape_aabb( clv_sphere_shape( 1 ), lost, &aabb ), CLV_BAD_ARGUMENT );
    lost.position.x = INFINITY;
    CHECK_RESULT( clv_shape_dop18( clv_sphere_shape( 1 ), lost, &dop ), CLV_BAD_ARGUMENT );
    CHECK_RESULT(
        clv_shape_sphere( clv_sphere_shape( -1 ), clv_identity_transform(), &sphere ), CLV_BAD_ARGUMENT );
}

static void touching_volumes_overlap( void )
{
    clv_sphere a = { { 0, 0, 0 }, 1 }, b = { { 3, 4, 0 }, 4 }, c = { { 3, 4, 0 }, 3.9999998f };
    CHECK( clv_sphere_overlap( a, b ) && !clv_sphere_overlap( a, c ) );
    clv_dop18 d, e;
    clv_shape box = clv_box_shape( ( clv_vec3 ){ 1, 1, 1 } );
    CHECK_OK( clv_shape_dop18( box, clv_identity_transform(), &d ) );
    CHECK_OK( clv_shape_dop18( box, clv_transform_at( 2, 2, 2 ), &e ) );
    CHECK( clv_dop18_overlap( &d, &e ) );
    CHECK_OK( clv_shape_dop18( box, clv_transform_at( 2.0000002f, 2, 2 ), &e ) );
    CHECK( !clv_dop18_overlap( &d, &e ) );
}

// ---- the axis

static void the_axis_follows_the_spread( void )
{
    for ( uint32_t axis = 0; axis < 9; ++axis )
    {
        volume_spread spread = { 0 };
        math_random random = math_random_seed( axis );
        math_vec3 along = math_widen( clv_dop_axis( CLV_DOP_18, axis ) );
        for ( int i = 0; i < 200; ++i )
        {
            math_vec3 p = math_scale( math_random_direction( &random ), 1.0 );
            p = math_add_scaled( p, along, math_random_between( &random, -10, 10 ) );
            clv_volume_spread_add(
                &spread, math_add( p, math_make( 1e6, -1e6, 1e5 ) ) ); // the mean is no part of it
        }
        CHECK_EQUAL( clv_volume_nearest_axis( clv_volume_spread_direction( &spread ), CLV_DOP_18 ), axis );
    }
    volume_spread same = { 0 };
    clv_volume_spread_add( &same, math_make( 1, 2, 3 ) );
    clv_volume_spread_add( &same, math_make( 1, 2, 3 ) );
    CHECK( math_largest( clv_volume_spread_direction( &same ) ) == 0.0 );
}

// ---- sweeping

static clv_volume_sweep* make_sweep( uint32_t period, uint32_t axis )
{
    clv_volume_sweep_def def = clv_default_volume_sweep_def();
    def.pca_period = period;
    def.first_axis = axis;
    clv_volume_sweep* sweep = NULL;
    CHECK_OK( clv_volume_sweep_create( &def, &sweep ) );
    return sweep;
}

typedef struct crowd
{
    clv_aabb aabbs[400];
    clv_dop18 dops[400];
    clv_sphere spheres[400];
    clv_obb obbs[400];
    float ends[4][400 * CLV_DOP_ENDS_MOST]; // by kind
    uint32_t count;
} crowd;

// Every fourth scene sits on a lattice, so that volumes touch exactly.
static void make_crowd( crowd* c, uint32_t seed )
{
    math_random random = math_random_seed( seed );
    c->count = (uint32_t)math_random_between( &random, 0, 400 );
    for ( uint32_t i = 0; i < c->count; ++i )
    {
        clv_shape shape = shapes_make( (shapes_kind)( seed % SHAPES_KIND_COUNT ) );
        clv_transform at = shapes_pose( &random, 6 );
        if ( seed % 4 == 0 )
        {
            at =
                clv_transform_at( floorf( at.position.x ), floorf( at.position.y ), floorf( at.position.z ) );
            shape =
                seed % 8 == 0 ? clv_box_shape( ( clv_vec3 ){ 0.5f, 0.5f, 0.5f } ) : clv_sphere_shape( 0.5f );
        }
        CHECK_OK( clv_shape_aabb( shape, at, &c->aabbs[i] ) );
        CHECK_OK( clv_shape_dop18( shape, at, &c->dops[i] ) );
        CHECK_OK( clv_shape_sphere( shape, at, &c->spheres[i] ) );
        CHECK_OK( clv_shape_obb( shape, at, &c->obbs[i] ) );
        for ( size_t k = 0; k < TEST_COUNT( s_kinds ); ++k )
        {
            CHECK_OK( shape_dop( shape, at, s_kinds[k], c->ends[k] + (size_t)s_kinds[k] * i ) );
        }
    }
}

// Kinds 0, 1, 2: boxes, 18-DOPs, spheres; 3: turned boxes; from 4 on k-DOPs.
static bool crowd_overlap( const crowd* c, int kind, uint32_t i, uint32_t j )
{
    if ( kind >= 4 )
    {
        const float* ends = c->ends[kind - 4];
        size_t size = (size_t)s_kinds[kind - 4];
        return clv_dop_overlap( s_kinds[kind - 4], ends + size * i, ends + size * j );
    }
    if ( kind == 3 )
    {
        return clv_volume_obb_overlap( &c->obbs[i], &c->obbs[j] );
    }
    return kind == 0 ? clv_aabb_overlap( c->aabbs[i], c->aabbs[j] )
        : kind == 1  ? clv_dop18_overlap( &c->dops[i], &c->dops[j] )
                     : clv_sphere_overlap( c->spheres[i], c->spheres[j] );
}

static void check_pairs( const crowd* c, int kind, clv_pair_view view )
{
    static uint8_t found[400][400];
    memset( found, 0, sizeof( found ) );
    CHECK( view.valid );
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        CHECK( view.pairs[i].a < view.pairs[i].b && view.pairs[i].b < c->count );
        found[view.pairs[i].a][view.pairs[i].b] += 1;
    }
    for ( uint32_t i = 0; i < c->count; ++i )
    {
        for ( uint32_t j = i + 1; j < c->count; ++j )
        {
            CHECK_EQUAL( found[i][j], crowd_overlap( c, kind, i, j ) ? 1 : 0 );
        }
    }
}

static void sweeps_find_what_brute_force_finds( void )
{
    static crowd c;
    for ( uint32_t seed = 1; seed <= test_scaled( 60 ); ++seed )
    {
        test_where.seed = seed;
        make_crowd( &c, seed );
        for ( uint32_t axis = 0; axis < 9; ++axis )
        {
            clv_volume_sweep* sweep = make_sweep( seed % 2 ? 0 : 30, axis );
            CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_DOP18, c.dops, c.count ) );
            check_pairs( &c, 1, clv_volume_sweep_pairs( sweep ) );
            CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_AABB, c.aabbs, c.count ) );
            check_pairs( &c, 0, clv_volume_sweep_pairs( sweep ) );
            CHECK( clv_volume_sweep_get_stats( sweep ).axis < 3 );
            CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_SPHERE, c.spheres, c.count ) );
            check_pairs( &c, 2, clv_volume_sweep_pairs( sweep ) );
            // Each seed tries the others along one axis to begin with: enough, and nine times as quick.
            for ( int k = 0; k < 4 && axis == seed % 9; ++k )
            {
                CHECK_OK( clv_volume_sweep_run( sweep, s_volumes[k], c.ends[k], c.count ) );
                check_pairs( &c, 4 + k, clv_volume_sweep_pairs( sweep ) );
                CHECK( clv_volume_sweep_get_stats( sweep ).axis < (uint32_t)s_kinds[k] / 2 );
            }
            if ( axis == seed % 9 )
            {
                CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_OBB, c.obbs, c.count ) );
                check_pairs( &c, 3, clv_volume_sweep_pairs( sweep ) );
            }
            clv_volume_sweep_destroy( sweep );
        }
    }
}

static void the_axis_changes_once_in_a_period( void )
{
    clv_sphere along_x[3] = { { { 0, 0, 0 }, 1 }, { { 5, 0, 0 }, 1 }, { { 10, 0, 0 }, 1 } };
    clv_sphere along_z[3] = { { { 0, 0, 0 }, 1 }, { { 0, 0, 5 }, 1 }, { { 0, 0, 10 }, 1 } };
    clv_volume_sweep* sweep = make_sweep( 4, 1 );
    for ( uint32_t i = 0; i < 12; ++i )
    {
        CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_SPHERE, i < 2 ? along_x : along_z, 3 ) );
        CHECK_EQUAL( clv_volume_sweep_get_stats( sweep ).axis, i < 4 ? 0 : 2 );
    }
    clv_volume_sweep_destroy( sweep );
    sweep = make_sweep( 0, 1 );
    CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_SPHERE, along_x, 3 ) );
    CHECK_EQUAL( clv_volume_sweep_get_stats( sweep ).axis, 1 );
    clv_volume_sweep_destroy( sweep );
}

static void bad_volumes_are_refused( void )
{
    clv_volume_sweep* sweep = make_sweep( 30, 1 );
    clv_aabb aabbs[2] = { { { 0, 0, 0 }, { 1, 1, 1 } }, { { 0, 0, 2 }, { 1, 1, 1 } } };
    clv_sphere spheres[2] = { { { 0, 0, 0 }, 1 }, { { 0, NAN, 0 }, 1 } };
    CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_AABB, aabbs, 1 ) );
    CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_AABB, aabbs, 2 ), CLV_BAD_BOX );
    CHECK( !clv_volume_sweep_pairs( sweep ).valid );
    CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_SPHERE, spheres, 2 ), CLV_BAD_BOX );
    CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_AABB, NULL, 0 ) );
    CHECK( clv_volume_sweep_pairs( sweep ).valid && clv_volume_sweep_pairs( sweep ).count == 0 );
    // Half-spaces are boxes too.
    clv_aabb half[2] = { { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, 0, INFINITY } },
        { { 0, -1, 0 }, { 1, 1, 1 } } };
    CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_AABB, half, 2 ) );
    CHECK_EQUAL( clv_volume_sweep_pairs( sweep ).count, 1 );
    clv_dop18 dop = { { 0 }, { 0 } };
    dop.lower[8] = 1; // above its upper end, on the last axis
    CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_DOP18, &dop, 1 ), CLV_BAD_BOX );
    CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_DOP18, &dop, 1 ), CLV_BAD_BOX );
    float none[CLV_DOP_ENDS_MOST] = { 0 };
    CHECK_RESULT( clv_volume_sweep_run( sweep, (clv_volume_kind)7, none, 1 ), CLV_BAD_BOX );
    CHECK( !clv_volume_sweep_pairs( sweep ).valid && clv_volume_sweep_pairs( sweep ).count == 0 );
    clv_obb obb;
    CHECK_OK( clv_shape_obb( clv_sphere_shape( 1 ), clv_identity_transform(), &obb ) );
    CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_OBB, &obb, 1 ) );
    clv_obb bent = obb, negative = obb, lost = obb;
    bent.axes[1].x = 0.001f;
    negative.half_size.z = -1;
    lost.center.y = NAN;
    CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_OBB, &bent, 1 ), CLV_BAD_BOX );
    CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_OBB, &negative, 1 ), CLV_BAD_BOX );
    CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_OBB, &lost, 1 ), CLV_BAD_BOX );
    spheres[1] = ( clv_sphere ){ { 0, 0, 0 }, -1 };
    CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_SPHERE, spheres, 2 ), CLV_BAD_BOX );
    clv_volume_sweep_destroy( sweep );
}

static void note_line( clv_log_level level, const char* line, void* user )
{
    (void)level;
    snprintf( user, 128, "%s", line );
}

static void check_refusal( clv_volume_sweep_def wrong, clv_result expected, const char* word )
{
    char line[128] = "";
    clv_volume_sweep* sweep = (clv_volume_sweep*)(uintptr_t)8;
    wrong.logger = ( clv_logger ){ note_line, line };
    test_where.note = word;
    CHECK_RESULT( clv_volume_sweep_create( &wrong, &sweep ), expected );
    CHECK( sweep == NULL );
    CHECK( strstr( line, word ) != NULL );
}

static void bad_defs_are_refused_with_the_reason( void )
{
    clv_volume_sweep_def def = clv_default_volume_sweep_def();
    def.first_axis = 9;
    check_refusal( def, CLV_BAD_DEF, "first_axis" );
    def = clv_default_volume_sweep_def();
    def.cookie += 1;
    check_refusal( def, CLV_BAD_DEF, "clv_default_volume_sweep_def" );
    heap hooks = { .refuse_from = 1, .refuse_count = 1 };
    def = clv_default_volume_sweep_def();
    def.allocator = heap_hooks( &hooks );
    check_refusal( def, CLV_OUT_OF_MEMORY, "memory" );
    def.allocator.allocate = NULL;
    check_refusal( def, CLV_BAD_DEF, "allocator" );
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( rounding_goes_outwards_by_less_than_a_step ),
        TEST_CASE( volumes_of_a_box_in_place ),
        TEST_CASE( an_octahedron_fills_its_dop_better_than_its_box ),
        TEST_CASE( volumes_contain_and_are_tight ),
        TEST_CASE( dops_of_every_kind_contain_and_are_tight ),
        TEST_CASE( turned_boxes_contain_and_are_tight ),
        TEST_CASE( a_turned_needle_has_a_turned_box ),
        TEST_CASE( turned_boxes_overlap_as_gjk_says ),
        TEST_CASE( volumes_of_shapes_that_touch_overlap ),
        TEST_CASE( bad_shapes_have_no_volume ),
        TEST_CASE( touching_volumes_overlap ),
        TEST_CASE( the_axis_follows_the_spread ),
        TEST_CASE( sweeps_find_what_brute_force_finds ),
        TEST_CASE( the_axis_changes_once_in_a_period ),
        TEST_CASE( bad_volumes_are_refused ),
        TEST_CASE( bad_defs_are_refused_with_the_reason ),
    };
    return test_run( "volume", cases, TEST_COUNT( cases ), argc, argv );
}
