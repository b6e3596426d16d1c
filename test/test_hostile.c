// SPDX-License-Identifier: MIT
// Hostile numbers in calls beside the space: what is no number is refused wherever it stands; what is one,
// however huge or small, is answered. test/fuzz does the same for spaces.
#include "cleave/narrow.h"
#include "cleave/sim.h"
#include "support.h"
#include "volume.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const float s_bad[] = { NAN, INFINITY, -INFINITY };

static const float s_odd[] = { 0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1e-45f, -1e-45f, FLT_MIN, 1e-20f, 1e20f,
    -1e20f, FLT_MAX, -FLT_MAX, 1e30f, 3.0f, 1e-3f };

// ---- shapes

// Everything a query may be asked about, as one array of floats.
typedef struct question
{
    clv_shape a, b;
    clv_transform at_a, at_b;
    clv_vec3 direction;
    clv_plane plane;
} question;

static question usual_question( void )
{
    return ( question ){ .a = { CLV_SHAPE_BOX, 0.25f, { 1, 2, 3 }, NULL },
        .b = { CLV_SHAPE_BOX, 0, { 1, 1, 1 }, NULL },
        .at_a = { { 0, 1, 0 }, { 0.6f, 0, 0, 0.8f } },
        .at_b = { { 2, 0, 0 }, { 0, 0, 0, 1 } },
        .direction = { 0, 1, 0 },
        .plane = { { 0, 1, 0 }, 0.5f } };
}

typedef enum query
{
    DISTANCE,
    OVERLAP,
    CONTACT,
    PLANE,
    SUPPORT,
    AABB,
    DOP18,
    SPHERE,
    QUERIES
} query;

static clv_result ask( query which, const question* q )
{
    clv_distance distance;
    clv_contact contact;
    clv_vec3 point;
    clv_aabb aabb;
    clv_dop18 dop;
    clv_sphere sphere;
    bool touching;
    switch ( which )
    {
    case DISTANCE: return clv_shape_distance( q->a, q->at_a, q->b, q->at_b, NULL, &distance );
    case OVERLAP: return clv_shape_overlap( q->a, q->at_a, q->b, q->at_b, NULL, &touching );
    case CONTACT: return clv_shape_contact( q->a, q->at_a, q->b, q->at_b, NULL, &contact );
    case PLANE: return clv_shape_plane_contact( q->a, q->at_a, q->plane, &contact );
    case SUPPORT: return clv_shape_support( q->a, q->at_a, q->direction, &point );
    case AABB: return clv_shape_aabb( q->a, q->at_a, &aabb );
    case DOP18: return clv_shape_dop18( q->a, q->at_a, &dop );
    default: return clv_shape_sphere( q->a, q->at_a, &sphere );
    }
}

enum
{
    SHAPE_FLOATS = 4,
    PLACE_FLOATS = 7
};

static float* shape_float( clv_shape* shape, uint32_t i )
{
    return i == 0 ? &shape->radius : &( &shape->half_size.x )[i - 1];
}

static float* place_float( clv_transform* at, uint32_t i )
{
    return i < 3 ? &( &at->position.x )[i] : &( &at->rotation.x )[i - 3];
}

// The floats that a query looks at, by number; NULL behind the last.
static float* float_of( query which, question* q, uint32_t i )
{
    bool two = which == DISTANCE || which == OVERLAP || which == CONTACT;
    if ( i < SHAPE_FLOATS )
    {
        return shape_float( &q->a, i );
    }
    i -= SHAPE_FLOATS;
    if ( i < PLACE_FLOATS )
    {
        return place_float( &q->at_a, i );
    }
    i -= PLACE_FLOATS;
    if ( two )
    {
        return i < SHAPE_FLOATS               ? shape_float( &q->b, i )
            : i < SHAPE_FLOATS + PLACE_FLOATS ? place_float( &q->at_b, i - SHAPE_FLOATS )
                                              : NULL;
    }
    if ( which == PLANE )
    {
        return i < 3 ? &( &q->plane.normal.x )[i] : i == 3 ? &q->plane.offset : NULL;
    }
    return which == SUPPORT && i < 3 ? &( &q->direction.x )[i] : NULL;
}

static void no_shape_query_takes_what_is_no_number( void )
{
    for ( uint32_t which = 0; which < QUERIES; ++which )
    {
        question q = usual_question();
        CHECK_OK( ask( (query)which, &q ) );
        for ( uint32_t i = 0; float_of( (query)which, &q, i ) != NULL; ++i )
        {
            for ( uint32_t bad = 0; bad < TEST_COUNT( s_bad ); ++bad )
            {
                test_where.seed = which * 100 + i;
                q = usual_question();
                *float_of( (query)which, &q, i ) = s_bad[bad];
                CHECK_RESULT( ask( (query)which, &q ), CLV_BAD_ARGUMENT );
            }
        }
        q = usual_question();
        q.a.kind = (clv_shape_kind)7;
        CHECK_RESULT( ask( (query)which, &q ), CLV_BAD_ARGUMENT );
        q.a = clv_hull_shape( NULL );
        CHECK_RESULT( ask( (query)which, &q ), CLV_BAD_ARGUMENT );
        for ( uint32_t i = 0; i < SHAPE_FLOATS; ++i ) // and no size below 0
        {
            q = usual_question();
            *shape_float( &q.a, i ) = -1;
            CHECK_RESULT( ask( (query)which, &q ), CLV_BAD_ARGUMENT );
        }
    }
}

static void every_number_is_answered( void )
{
    test_random random = test_random_make( 1 );
    for ( uint32_t round = 0; round < test_scaled( 20000 ); ++round )
    {
        test_where.seed = round;
        query which = (query)( round % QUERIES );
        question q = usual_question();
        q.a.kind = test_random_chance( &random, 50 ) ? CLV_SHAPE_BOX : CLV_SHAPE_SPHERE;
        for ( uint32_t i = 0; float_of( which, &q, i ) != NULL; ++i )
        {
            float odd = s_odd[test_random_below( &random, (uint32_t)TEST_COUNT( s_odd ) )];
            float* place = float_of( which, &q, i );
            bool is_size = i < SHAPE_FLOATS || ( which <= CONTACT && i >= 11 && i < 11 + SHAPE_FLOATS );
            *place = test_random_chance( &random, 60 ) ? ( is_size ? fabsf( odd ) : odd ) : *place;
        }
        clv_result result = ask( which, &q );
        bool zero = q.direction.x == 0 && q.direction.y == 0 && q.direction.z == 0;
        CHECK_RESULT( result, which == SUPPORT && zero ? CLV_BAD_ARGUMENT : CLV_OK );
    }
}

// ---- hulls

enum
{
    POINTS = 12
};

static clv_hull* make_odd_hull( test_random* random, uint32_t count )
{
    clv_vec3 points[POINTS];
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            ( &points[i].x )[axis] = test_random_chance( random, 50 )
                ? s_odd[test_random_below( random, (uint32_t)TEST_COUNT( s_odd ) )]
                : test_random_between( random, -1, 1 );
        }
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = count;
    clv_hull* hull = NULL;
    CHECK_OK( clv_hull_create( &def, &hull ) );
    return hull;
}

static void hulls_of_any_number_are_made_and_asked( void )
{
    test_random random = test_random_make( 3 );
    for ( uint32_t round = 0; round < test_scaled( 4000 ); ++round )
    {
        test_where.seed = round;
        clv_hull* hulls[2] = { make_odd_hull( &random, 1 + round % POINTS ),
            make_odd_hull( &random, 1 + round / POINTS % POINTS ) };
        clv_hull_view view = clv_hull_get_view( hulls[0] );
        CHECK( view.vertex_count > 0 && view.vertex_count <= POINTS && view.dimension <= 3 );
        question q = usual_question();
        q.a = clv_hull_shape( hulls[0] );
        q.b = clv_hull_shape( hulls[1] );
        for ( uint32_t which = 0; which < QUERIES; ++which )
        {
            CHECK_OK( ask( (query)which, &q ) );
        }
        clv_hull_destroy( hulls[0] );
        clv_hull_destroy( hulls[1] );
    }
}

// ---- sweeps

static void no_sweep_takes_what_is_no_number( void )
{
    clv_volume_sweep_def def = clv_default_volume_sweep_def();
    clv_volume_sweep* sweep;
    CHECK_OK( clv_volume_sweep_create( &def, &sweep ) );
    for ( uint32_t i = 0; i < 4; ++i )
    {
        clv_sphere spheres[2] = { { { 0, 0, 0 }, 1 }, { { 1, 0, 0 }, 1 } };
        CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_SPHERE, spheres, 2 ) );
        CHECK_EQUAL( clv_volume_sweep_pairs( sweep ).count, 1 );
        ( &spheres[1].center.x )[i] = NAN;
        CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_SPHERE, spheres, 2 ), CLV_BAD_BOX );
        CHECK( !clv_volume_sweep_pairs( sweep ).valid );
        ( &spheres[1].center.x )[i] = -INFINITY;
        CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_SPHERE, spheres, 2 ), CLV_BAD_BOX );
    }
    for ( uint32_t i = 0; i < 2 * CLV_DOP_AXIS_COUNT; ++i )
    {
        clv_dop18 dop = { { 0 }, { 1, 1, 1, 1, 1, 1, 1, 1, 1 } };
        CHECK_OK( clv_volume_sweep_run( sweep, CLV_VOLUME_DOP18, &dop, 1 ) );
        ( i < CLV_DOP_AXIS_COUNT ? dop.lower : dop.upper )[i % CLV_DOP_AXIS_COUNT] = NAN;
        CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_DOP18, &dop, 1 ), CLV_BAD_BOX );
    }
    for ( uint32_t i = 0; i < 6; ++i )
    {
        clv_aabb box = { { 0, 0, 0 }, { 1, 1, 1 } };
        ( &box.lower.x )[i] = NAN;
        CHECK_RESULT( clv_volume_sweep_run( sweep, CLV_VOLUME_AABB, &box, 1 ), CLV_BAD_BOX );
    }
    clv_volume_sweep_destroy( sweep );
}

// ---- rigid boxes

enum
{
    BODY_FLOATS = 17
};

static float* body_float( clv_rigid_body* body, uint32_t i )
{
    float* parts[] = { &body->half.x, &body->position.x, &body->rotation.x, &body->velocity.x,
        &body->angular_velocity.x, &body->mass };
    static const uint32_t sizes[] = { 3, 3, 4, 3, 3, 1 };
    uint32_t part = 0;
    while ( i >= sizes[part] )
    {
        i -= sizes[part++];
    }
    return parts[part] + i;
}

static void no_body_takes_what_is_no_number( void )
{
    clv_rigid_def def = clv_default_rigid_def();
    clv_rigid* world;
    CHECK_OK( clv_rigid_create( &def, &world ) );
    clv_rigid_body good = clv_default_rigid_body();
    CHECK_OK( clv_rigid_add( world, &good, 1 ) );
    for ( uint32_t i = 0; i < BODY_FLOATS; ++i )
    {
        for ( uint32_t bad = 0; bad < TEST_COUNT( s_bad ); ++bad )
        {
            test_where.seed = i;
            clv_rigid_body body = good;
            *body_float( &body, i ) = s_bad[bad];
            CHECK( clv_rigid_add( world, &body, 1 ) != CLV_OK );
            CHECK( clv_rigid_place( world, 0, &body ) != CLV_OK );
        }
    }
    CHECK_EQUAL( clv_rigid_body_count( world ), 1 );
    clv_rigid_body kept = clv_rigid_get( world, 0 );
    CHECK( memcmp( &kept, &good, sizeof( good ) ) == 0 );
    clv_rigid_destroy( world );
}

static bool is_whole( const clv_rigid_body* body )
{
    clv_rigid_body copy = *body;
    bool good = true;
    for ( uint32_t i = 0; i < BODY_FLOATS; ++i )
    {
        good = good && isfinite( *body_float( &copy, i ) );
    }
    return good;
}

// Bodies of any size and speed that is a number, among usual ones.
static void bodies_of_any_number_stay_numbers( void )
{
    test_random random = test_random_make( 2 );
    for ( uint32_t round = 0; round < test_scaled( 800 ); ++round )
    {
        test_where.seed = round;
        clv_rigid_def def = clv_default_rigid_def();
        def.lean = round % 2 == 1;
        clv_rigid* world;
        CHECK_OK( clv_rigid_create( &def, &world ) );
        uint32_t count = 2 + round % 5;
        for ( uint32_t i = 0; i < count; ++i )
        {
            clv_rigid_body body = clv_default_rigid_body();
            body.position.y = 0.75f * (float)i;
            for ( uint32_t k = 0; k < BODY_FLOATS; ++k )
            {
                bool is_turn = k >= 6 && k < 10;
                float odd = s_odd[test_random_below( &random, (uint32_t)TEST_COUNT( s_odd ) )];
                odd = k < 3 ? fabsf( odd ) + FLT_MIN : k == BODY_FLOATS - 1 ? fabsf( odd ) : odd;
                odd = k < 3 && odd > 1e38f ? 1e38f : odd;
                if ( !is_turn && i > 0 && test_random_chance( &random, 25 ) )
                {
                    *body_float( &body, k ) = k == BODY_FLOATS - 1 && odd > 1e38f ? 1e38f : odd;
                }
            }
            CHECK_OK( clv_rigid_add( world, &body, 1 ) );
        }
        for ( uint32_t frame = 0; frame < 3; ++frame )
        {
            test_where.frame = frame;
            CHECK_OK( clv_rigid_step( world, 1.0f / 60, 2 ) );
            for ( uint32_t i = 0; i < count; ++i )
            {
                clv_rigid_body body = clv_rigid_get( world, i );
                CHECK( is_whole( &body ) );
            }
        }
        clv_rigid_destroy( world );
    }
}

// One that is too fast for numbers is stopped; bodies far from it fall as if alone, and it falls itself
// afterwards.
static void stop_beyond_numbers( bool lean )
{
    clv_rigid_def def = clv_default_rigid_def();
    def.sleep = false;
    def.lean = lean;
    clv_rigid* world;
    CHECK_OK( clv_rigid_create( &def, &world ) );
    clv_rigid_body bodies[2] = { clv_default_rigid_body(), clv_default_rigid_body() };
    bodies[0].velocity.x = FLT_MAX;
    bodies[0].position.x = 0.75f * FLT_MAX;
    bodies[1].position.y = 100;
    CHECK_OK( clv_rigid_add( world, bodies, 2 ) );
    CHECK_OK( clv_rigid_step( world, 1.0f, 2 ) );
    CHECK_EQUAL( clv_rigid_last_report( world ).lost_count, 1 );
    clv_rigid_body fast = clv_rigid_get( world, 0 ), other = clv_rigid_get( world, 1 );
    CHECK( fast.position.x == bodies[0].position.x && fast.velocity.x == 0 && fast.velocity.y == 0 );
    CHECK( other.velocity.y < -9 && other.position.y < 100 );
    CHECK_OK( clv_rigid_step( world, 1.0f, 2 ) );
    CHECK_EQUAL( clv_rigid_last_report( world ).lost_count, 0 );
    CHECK( clv_rigid_get( world, 0 ).velocity.y < -9 );
    clv_rigid_destroy( world );
}

static void a_body_beyond_numbers_is_stopped_where_it_stood( void )
{
    stop_beyond_numbers( false );
    stop_beyond_numbers( true );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( no_shape_query_takes_what_is_no_number ),
        TEST_CASE( every_number_is_answered ),
        TEST_CASE( hulls_of_any_number_are_made_and_asked ),
        TEST_CASE( no_sweep_takes_what_is_no_number ),
        TEST_CASE( no_body_takes_what_is_no_number ),
        TEST_CASE( bodies_of_any_number_stay_numbers ),
        TEST_CASE( a_body_beyond_numbers_is_stopped_where_it_stood ),
    };
    return test_run( "hostile", cases, TEST_COUNT( cases ), argc, argv );
}
