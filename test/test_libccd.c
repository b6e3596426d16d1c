// SPDX-License-Identifier: MIT
// Our narrow phase beside libccd's (https://github.com/danfis/libccd) on random pairs: 20,000 of them, times
// CLEAVE_TEST_SCALE. Built without libccd (Debian: libccd-dev) the program says so and ends with 77: skipped.
#include "shapes.h"
#include "support.h"

#ifdef CLV_HAVE_CCD

#include <ccd/ccd.h>

typedef struct body
{
    clv_shape shape;
    clv_transform at;
    math_pose pose;
} body;

static body make_body( shapes_kind kind, math_random* random, double spread )
{
    body b = { shapes_make( kind ), shapes_pose( random, spread ), { { { { 0 } } }, { 0, 0, 0 } } };
    b.pose = math_pose_widen( b.at );
    return b;
}

static math_vec3 body_vertex( const body* b, uint32_t index )
{
    if ( b->shape.kind == CLV_SHAPE_HULL )
    {
        return math_pose_apply( &b->pose, math_widen( clv_hull_get_view( b->shape.hull ).vertices[index] ) );
    }
    math_vec3 signs = { index & 1 ? 1.0 : -1.0, index & 2 ? 1.0 : -1.0, index & 4 ? 1.0 : -1.0 };
    return math_pose_apply( &b->pose, shapes_stretch( signs, math_widen( b->shape.half_size ) ) );
}

static void support( const void* object, const ccd_vec3_t* direction, ccd_vec3_t* point )
{
    const body* b = object;
    uint32_t count = b->shape.kind == CLV_SHAPE_HULL ? clv_hull_get_view( b->shape.hull ).vertex_count : 8;
    math_vec3 d = { (double)direction->v[0], (double)direction->v[1], (double)direction->v[2] };
    math_vec3 best = body_vertex( b, 0 );
    for ( uint32_t i = 1; i < count; ++i )
    {
        math_vec3 p = body_vertex( b, i );
        best = math_dot( p, d ) > math_dot( best, d ) ? p : best;
    }
    ccdVec3Set( point, (ccd_real_t)best.x, (ccd_real_t)best.y, (ccd_real_t)best.z );
}

typedef struct their_answer
{
    bool touching;
    double depth;
    math_vec3 direction; // moving b by depth along it is said to part them
} their_answer;

static their_answer ask_them( const body* a, const body* b )
{
    ccd_t ccd;
    CCD_INIT( &ccd );
    ccd.support1 = ccd.support2 = support;
    ccd.max_iterations = 200;
    ccd.epa_tolerance = (ccd_real_t)1e-6;
    ccd_real_t depth = 0;
    ccd_vec3_t direction = { { 0, 0, 0 } }, position;
    bool touching = ccdGJKPenetration( a, b, &ccd, &depth, &direction, &position ) == 0;
    math_vec3 d = { (double)direction.v[0], (double)direction.v[1], (double)direction.v[2] };
    return ( their_answer ){ touching, (double)depth, d };
}

// How far b must move along a direction until the shapes only touch.
static double depth_along( const body* a, const body* b, math_vec3 direction )
{
    return shapes_reach( a->shape, a->at, direction ) +
        shapes_reach( b->shape, b->at, math_neg( direction ) );
}

typedef struct tally
{
    uint32_t touching, close_calls, theirs_short, theirs_long;
} tally;

// libccd's expansion at times ends at an edge of its polytope that is inside the difference, and reports a
// depth that does not part the shapes. Where the depths differ, both are held against the shapes themselves.
static void compare_depths(
    const body* a, const body* b, const clv_contact* ours, their_answer theirs, tally* t )
{
    double depth = (double)ours->depth;
    CHECK( ours->converged );
    CHECK( depth_along( a, b, math_widen( ours->normal ) ) <= depth + 1e-5 ); // ours does part them
    if ( theirs.depth < depth - 1e-4 )
    {
        CHECK(
            depth_along( a, b, theirs.direction ) > theirs.depth + 1e-5 ); // theirs is shorter and does not
        t->theirs_short += 1;
    }
    else if ( theirs.depth > depth + 1e-4 )
    {
        t->theirs_long += 1; // theirs may part them too, but ours is shorter
    }
}

static void overlap_and_depth_agree_with_libccd( void )
{
    const shapes_kind kinds[4] = { SHAPES_OCTAHEDRON, SHAPES_RHOMBI, SHAPES_BOX, SHAPES_BOX_HULL };
    math_random random = math_random_seed( 31 );
    uint32_t count = test_scaled( 20000 );
    tally t = { 0, 0, 0, 0 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        test_where.frame = i;
        body a = make_body( kinds[i % 4], &random, 1.2 ), b = make_body( kinds[i / 4 % 4], &random, 1.2 );
        clv_contact ours;
        CHECK_OK( clv_shape_contact( a.shape, a.at, b.shape, b.at, NULL, &ours ) );
        their_answer theirs = ask_them( &a, &b );
        if ( theirs.touching != ours.touching )
        {
            // Only where the shapes are within a hair of touching may the two differ.
            clv_distance apart;
            CHECK_OK( clv_shape_distance( a.shape, a.at, b.shape, b.at, NULL, &apart ) );
            CHECK( ours.touching ? ours.depth < 1e-5f : apart.distance < 1e-5f );
            t.close_calls += 1;
        }
        else if ( ours.touching )
        {
            compare_depths( &a, &b, &ours, theirs, &t );
            t.touching += 1;
        }
    }
    printf(
        "  %u pairs, %u touching; %u close calls; libccd's depth too short in %u, longer than needed in %u\n",
        count, t.touching, t.close_calls, t.theirs_short, t.theirs_long );
    CHECK( t.touching > count / 4 && t.touching < count );
    CHECK( t.close_calls <= count / 1000 && t.theirs_long <= t.touching / 100 &&
        t.theirs_short < t.touching / 2 );
}

int main( int argc, char** argv )
{
    static const test_case cases[] = { TEST_CASE( overlap_and_depth_agree_with_libccd ) };
    return test_run( "libccd", cases, TEST_COUNT( cases ), argc, argv );
}

#else

int main( void )
{
    printf( "skipped: built without libccd; install libccd-dev and configure again\n" );
    return 77;
}

#endif
