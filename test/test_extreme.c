// SPDX-License-Identifier: MIT
// Faces where floats end and where they change their nature: infinities, the largest, the zeros, the
// smallest. Every method, every choice of settings, against a comparison of every two boxes that is written
// out here.
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const float s_faces[] = { -INFINITY, -FLT_MAX, -1, -0.0f, 0, FLT_TRUE_MIN, 1, FLT_MAX, INFINITY };

enum
{
    FACES = sizeof( s_faces ) / sizeof( s_faces[0] ),
    MOST_INTERVALS = FACES * FACES,
};

typedef struct interval
{
    float lower, upper;
} interval;

static interval s_intervals[MOST_INTERVALS];
static uint32_t s_interval_count;

// Every two faces in order, the two zeros either way.
static void list_intervals( void )
{
    s_interval_count = 0;
    for ( uint32_t i = 0; i < MOST_INTERVALS; ++i )
    {
        interval both = { s_faces[i / FACES], s_faces[i % FACES] };
        if ( both.lower <= both.upper )
        {
            s_intervals[s_interval_count++] = both;
        }
    }
}

static clv_aabb box_of( interval x, interval y, interval z )
{
    return test_box( x.lower, y.lower, z.lower, x.upper, y.upper, z.upper );
}

static clv_aabb random_box( test_random* random )
{
    return box_of( s_intervals[test_random_below( random, s_interval_count )],
        s_intervals[test_random_below( random, s_interval_count )],
        s_intervals[test_random_below( random, s_interval_count )] );
}

static bool reach( float a_lower, float a_upper, float b_lower, float b_upper )
{
    return !( a_upper < b_lower ) && !( b_upper < a_lower );
}

typedef struct answer
{
    uint64_t count, hash;
} answer;

static answer compare_all( const clv_aabb* boxes, uint32_t count )
{
    answer all = { 0, 0 };
    for ( uint32_t a = 0; a < count; ++a )
    {
        for ( uint32_t b = a + 1; b < count; ++b )
        {
            const clv_aabb *p = &boxes[a], *q = &boxes[b];
            if ( reach( p->lower.x, p->upper.x, q->lower.x, q->upper.x ) &&
                reach( p->lower.y, p->upper.y, q->lower.y, q->upper.y ) &&
                reach( p->lower.z, p->upper.z, q->lower.z, q->upper.z ) )
            {
                clv_pair pair = { a, b };
                all.count += 1;
                all.hash += test_set_hash( &pair, 1 );
            }
        }
    }
    return all;
}

// Names a pair that should not be there, if that is what is wrong.
static void check_answer( const clv_space* space, const clv_aabb* boxes, answer expected )
{
    clv_pair_view view = clv_space_pairs( space );
    CHECK( view.valid );
    uint64_t hash = 0;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        clv_pair pair = view.pairs[i];
        const clv_aabb two[2] = { boxes[pair.a], boxes[pair.b] };
        if ( compare_all( two, 2 ).count != 1 )
        {
            test_fail( __FILE__, __LINE__,
                "boxes %u and %u do not touch: x %g..%g and %g..%g, y %g..%g and "
                "%g..%g, z %g..%g and %g..%g",
                pair.a, pair.b, (double)two[0].lower.x, (double)two[0].upper.x, (double)two[1].lower.x,
                (double)two[1].upper.x, (double)two[0].lower.y, (double)two[0].upper.y,
                (double)two[1].lower.y, (double)two[1].upper.y, (double)two[0].lower.z,
                (double)two[0].upper.z, (double)two[1].lower.z, (double)two[1].upper.z );
        }
        hash += test_set_hash( &pair, 1 );
    }
    CHECK_EQUAL( view.count, expected.count );
    CHECK_EQUAL( hash, expected.hash );
}

// Every method, kernel and setting; with a small CLEAVE_TEST_SCALE one in `share` of the settings with each,
// others with the next kernel.
static void check_everywhere( const clv_aabb* boxes, uint32_t count, uint32_t share )
{
    answer expected = compare_all( boxes, count );
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        for ( uint32_t choice = 0; choice < method_settings_count( variant.method ); ++choice )
        {
            if ( !test_is_share( i + choice, share ) )
            {
                continue;
            }
            clv_space_def def = clv_default_space_def();
            def.settings = test_settings_token( choice );
            clv_space* space = test_space_make( variant, &def );
            test_where.note = test_settings( variant.method, choice );
            CHECK_OK( clv_space_add( space, boxes, count, NULL ) );
            CHECK_OK( clv_space_update( space ) );
            check_answer( space, boxes, expected );
            clv_space_destroy( space );
        }
    }
}

// All of them beside each other, along each axis in turn; in both orders, since ties go to the first.
static void every_two_intervals_on_one_axis( void )
{
    list_intervals();
    const interval unit = { 0, 1 };
    for ( uint32_t axis = 0; axis < 6; ++axis )
    {
        clv_aabb boxes[MOST_INTERVALS];
        for ( uint32_t i = 0; i < s_interval_count; ++i )
        {
            interval one = s_intervals[axis < 3 ? i : s_interval_count - 1 - i];
            boxes[i] =
                box_of( axis % 3 == 0 ? one : unit, axis % 3 == 1 ? one : unit, axis % 3 == 2 ? one : unit );
        }
        check_everywhere( boxes, s_interval_count, 1 );
    }
}

// Two at a time, among small boxes that make a world of it: what is alone in a tree is not what is beside a
// crowd.
static void every_two_intervals_beside_a_crowd( void )
{
    list_intervals();
    enum
    {
        CROWD = 30
    };
    test_random random = test_random_make( 5 );
    clv_aabb boxes[CROWD + 2];
    for ( uint32_t i = 0; i < CROWD; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, CROWD, &random );
    }
    uint32_t step = 1 + 40 / test_scaled( 10 );
    for ( uint32_t i = 0; i < s_interval_count * s_interval_count; i += step )
    {
        const interval half = { -1, 0 };
        interval first = s_intervals[i / s_interval_count], second = s_intervals[i % s_interval_count];
        boxes[CROWD] =
            box_of( i % 3 == 0 ? first : half, i % 3 == 1 ? first : half, i % 3 == 2 ? first : half );
        boxes[CROWD + 1] =
            box_of( i % 3 == 0 ? second : half, i % 3 == 1 ? second : half, i % 3 == 2 ? second : half );
        check_everywhere( boxes, CROWD + 2, 1 );
    }
}

static void every_two_intervals_on_two_axes_at_once( void )
{
    list_intervals();
    uint32_t count = s_interval_count * s_interval_count;
    clv_aabb* boxes = test_alloc( count, sizeof( clv_aabb ) );
    const interval unit = { 0, 1 };
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = box_of( s_intervals[i % s_interval_count], unit, s_intervals[i / s_interval_count] );
    }
    check_everywhere( boxes, count, 3 );
    free( boxes );
}

enum
{
    MEMBERS = 120,
    FRAMES = 10
};

// Some of them somewhere else.
static uint32_t scatter(
    clv_aabb* boxes, clv_id* moved, const clv_id* ids, clv_aabb* fresh, test_random* random )
{
    uint32_t percent = test_random_below( random, 4 ) == 0 ? 60 : 4;
    uint32_t count = 0;
    for ( uint32_t i = 0; i < MEMBERS; ++i )
    {
        if ( test_random_chance( random, percent ) )
        {
            boxes[i] = random_box( random );
            moved[count] = ids[i];
            fresh[count++] = boxes[i];
        }
    }
    return count;
}

static void play( test_variant variant, uint32_t choice, uint64_t seed )
{
    test_random random = test_random_make( seed );
    clv_space_def def = clv_default_space_def();
    def.settings = test_settings_token( choice );
    clv_space* space = test_space_make( variant, &def );
    test_where.seed = seed;
    test_where.note = test_settings( variant.method, choice );
    clv_aabb boxes[MEMBERS], fresh[MEMBERS];
    clv_id ids[MEMBERS], moved[MEMBERS];
    for ( uint32_t i = 0; i < MEMBERS; ++i )
    {
        boxes[i] = random_box( &random );
    }
    CHECK_OK( clv_space_add( space, boxes, MEMBERS, ids ) );
    for ( uint32_t frame = 0; frame < FRAMES; ++frame )
    {
        test_where.frame = frame;
        CHECK_OK( clv_space_update( space ) );
        check_answer( space, boxes, compare_all( boxes, MEMBERS ) );
        uint32_t count = scatter( boxes, moved, ids, fresh, &random );
        CHECK_OK( clv_space_move( space, moved, fresh, count ) );
    }
    clv_space_destroy( space );
}

static void moving_boxes_of_extreme_faces_agree( void )
{
    list_intervals();
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        test_variant variant = test_variant_at( i );
        for ( uint32_t seed = 1; seed <= test_scaled( 8 ); ++seed )
        {
            play( variant, seed % method_settings_count( variant.method ), seed );
        }
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( every_two_intervals_on_one_axis ),
        TEST_CASE( every_two_intervals_beside_a_crowd ),
        TEST_CASE( every_two_intervals_on_two_axes_at_once ),
        TEST_CASE( moving_boxes_of_extreme_faces_agree ),
    };
    return test_run( "extreme", cases, TEST_COUNT( cases ), argc, argv );
}
