// SPDX-License-Identifier: MIT
// Regions of one to eight axes against brute force, in one set and between two; hostile ones must not be
// quadratic.
#include "heap.h"
#include "match/match_search.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 400,
    AXES = CLV_MATCH_AXES
};

typedef enum match_kind
{
    MATCH_SPREAD,  ///< some overlaps
    MATCH_LATTICE, ///< whole numbers: they touch all the time
    MATCH_SAME,    ///< few different regions, many times
    MATCH_SLABS,   ///< across everything on all axes but one
    MATCH_NESTED,  ///< one inside the other
    MATCH_MIXED,   ///< points, infinite ones, half-spaces, everything
    MATCH_LINE,    ///< a chain along the diagonal
    MATCH_DECADES, ///< over the doubles
    MATCH_KIND_COUNT
} match_kind;

// Regions of AXES axes in records of lower and upper.
typedef struct region_record
{
    double lower[AXES], upper[AXES];
} region_record;

static double unit( test_random* random )
{
    return (double)( test_random_next( random ) >> 11 ) * 0x1p-53;
}

static void write_side(
    match_kind kind, uint32_t i, uint32_t axis, double* lower, double* upper, test_random* random )
{
    double at = unit( random );
    switch ( kind )
    {
    case MATCH_SPREAD: *lower = 10 * at, *upper = *lower + 5 * unit( random ); break;
    case MATCH_LATTICE: *lower = floor( 6 * at ), *upper = *lower + test_random_below( random, 3 ); break;
    case MATCH_SAME: *lower = i % 7, *upper = i % 7 + 1.0; break;
    case MATCH_SLABS: *lower = i % AXES == axis ? at : -1, *upper = i % AXES == axis ? at + 0.01 : 2; break;
    case MATCH_NESTED: *lower = -1.0 * i, *upper = i; break;
    case MATCH_MIXED:
        *lower = test_random_chance( random, 30 ) ? -INFINITY : at;
        *upper = test_random_chance( random, 30 ) ? INFINITY : at + ( i % 3 == 0 ? 0 : 0.3 );
        break;
    case MATCH_LINE: *lower = i, *upper = i + 1; break;
    default:
        *lower = ldexp( at - 0.5, (int)test_random_below( random, 2000 ) - 1000 );
        *upper = *lower + ldexp( unit( random ), (int)test_random_below( random, 2000 ) - 1000 );
        break;
    }
}

static void make_regions( match_kind kind, region_record* regions, uint32_t count, uint64_t seed )
{
    test_random random = test_random_make( seed );
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t axis = 0; axis < AXES; ++axis )
        {
            write_side( kind, i, axis, &regions[i].lower[axis], &regions[i].upper[axis], &random );
        }
    }
}

static clv_regions view_of( const region_record* regions, uint32_t count )
{
    return ( clv_regions ){ regions->lower, regions->upper, sizeof( region_record ), count };
}

static bool overlap( const region_record* a, const region_record* b, uint32_t axis_count )
{
    for ( uint32_t axis = 0; axis < axis_count; ++axis )
    {
        if ( a->lower[axis] > b->upper[axis] || b->lower[axis] > a->upper[axis] )
        {
            return false;
        }
    }
    return true;
}

// What a visitor saw.
typedef struct seen_pairs
{
    uint64_t count, set_hash, order_hash, chunk_count;
    uint64_t stop_at; ///< chunks; 0: never
    bool is_one_set;
} seen_pairs;

static bool see_pairs( const clv_pair* pairs, size_t count, void* user )
{
    seen_pairs* seen = user;
    for ( size_t i = 0; i < count; ++i )
    {
        CHECK( !seen->is_one_set || pairs[i].a < pairs[i].b );
    }
    seen->count += count;
    seen->set_hash += test_set_hash( pairs, count );
    seen->order_hash = test_mix( seen->order_hash ^ test_order_hash( pairs, count ) );
    seen->chunk_count += 1;
    CHECK( count > 0 && count <= MATCH_CHUNK );
    return seen->chunk_count != seen->stop_at;
}

static void touching_is_overlapping_on_any_number_of_axes( void )
{
    for ( uint32_t axes = 1; axes <= AXES; ++axes )
    {
        region_record two[2];
        memset( two, 0, sizeof( two ) );
        for ( uint32_t axis = 0; axis < axes; ++axis )
        {
            two[0].upper[axis] = two[1].lower[axis] = 1;
            two[1].upper[axis] = 2;
        }
        clv_match_def def = clv_default_match_def();
        def.axis_count = axes;
        seen_pairs seen = { .is_one_set = true };
        CHECK_OK( clv_match_regions( &def, view_of( two, 2 ), see_pairs, &seen, NULL ) );
        CHECK_EQUAL( seen.count, 1 );
        two[1].lower[axes - 1] = nextafter( 1, 2 );
        CHECK_OK( clv_match_regions( &def, view_of( two, 2 ), see_pairs, &seen, NULL ) );
        CHECK_EQUAL( seen.count, 1 ); // no more
        two[0].upper[axes - 1] = 0;
        two[1].lower[axes - 1] = -0.0;
        CHECK_OK( clv_match_regions( &def, view_of( two, 2 ), see_pairs, &seen, NULL ) );
        CHECK_EQUAL( seen.count, 2 );
        two[0].upper[axes - 1] = -0.0;
        two[1].lower[axes - 1] = 0;
        CHECK_OK( clv_match_regions( &def, view_of( two, 2 ), see_pairs, &seen, NULL ) );
        CHECK_EQUAL( seen.count, 3 );
        two[0].lower[axes - 1] = -0.1; // no float, so the keys are of doubles
        CHECK_OK( clv_match_regions( &def, view_of( two, 2 ), see_pairs, &seen, NULL ) );
        CHECK_EQUAL( seen.count, 4 );
    }
}

static void judge_one_set( const region_record* regions, uint32_t count, uint32_t axes )
{
    seen_pairs expected = { .count = 0 }, seen = { .is_one_set = true };
    for ( uint32_t a = 0; a < count; ++a )
    {
        for ( uint32_t b = a + 1; b < count; ++b )
        {
            clv_pair pair = { a, b };
            bool is_pair = overlap( &regions[a], &regions[b], axes );
            expected.count += is_pair;
            expected.set_hash += is_pair ? test_set_hash( &pair, 1 ) : 0;
        }
    }
    clv_match_def def = clv_default_match_def();
    def.axis_count = axes;
    clv_error error;
    CHECK_OK( clv_match_regions( &def, view_of( regions, count ), see_pairs, &seen, &error ) );
    CHECK_EQUAL( seen.count, expected.count );
    CHECK_EQUAL( seen.set_hash, expected.set_hash );
    CHECK_EQUAL( error.code, CLV_OK );
    CHECK_EQUAL( error.pair_count, seen.count );
}

static void judge_between(
    const region_record* a, uint32_t a_count, const region_record* b, uint32_t b_count, uint32_t axes )
{
    seen_pairs expected = { .count = 0 }, seen = { .count = 0 };
    for ( uint32_t i = 0; i < a_count; ++i )
    {
        for ( uint32_t k = 0; k < b_count; ++k )
        {
            clv_pair pair = { i, k };
            bool is_pair = overlap( &a[i], &b[k], axes );
            expected.count += is_pair;
            expected.set_hash += is_pair ? test_set_hash( &pair, 1 ) : 0;
        }
    }
    clv_match_def def = clv_default_match_def();
    def.axis_count = axes;
    CHECK_OK(
        clv_match_between( &def, view_of( a, a_count ), view_of( b, b_count ), see_pairs, &seen, NULL ) );
    CHECK_EQUAL( seen.count, expected.count );
    CHECK_EQUAL( seen.set_hash, expected.set_hash );
}

static void every_world_matches_brute_force( void )
{
    static region_record regions[MOST], others[MOST];
    static const uint32_t s_counts[] = { 0, 1, 2, 13, 30, 150, MOST };
    for ( uint64_t seed = 1; seed <= test_scaled( 1 ); ++seed )
    {
        for ( int kind = 0; kind < MATCH_KIND_COUNT; ++kind )
        {
            make_regions( (match_kind)kind, regions, MOST, seed );
            make_regions(
                (match_kind)( ( (uint64_t)kind + seed ) % MATCH_KIND_COUNT ), others, MOST, seed + 7 );
            for ( uint32_t axes = 1; axes <= AXES; ++axes )
            {
                for ( uint32_t i = 0; i < TEST_COUNT( s_counts ); ++i )
                {
                    test_where.seed = (uint64_t)kind * 10 + axes;
                    test_where.frame = s_counts[i];
                    judge_one_set( regions, s_counts[i], axes );
                    judge_between( regions, s_counts[i], others,
                        s_counts[( i * 3 + 1 ) % TEST_COUNT( s_counts )], axes );
                    judge_between( regions, s_counts[i], regions, s_counts[i], axes );
                }
            }
        }
    }
}

static void the_order_is_a_function_of_the_arguments( void )
{
    static region_record regions[MOST];
    make_regions( MATCH_SPREAD, regions, MOST, 3 );
    clv_match_def def = clv_default_match_def();
    def.axis_count = 4;
    seen_pairs first = { .is_one_set = true }, again = { .is_one_set = true };
    CHECK_OK( clv_match_regions( &def, view_of( regions, MOST ), see_pairs, &first, NULL ) );
    CHECK_OK( clv_match_regions( &def, view_of( regions, MOST ), see_pairs, &again, NULL ) );
    CHECK_EQUAL( first.order_hash, again.order_hash );
    CHECK( first.count > MOST );
}

// Work is counted by what the stack of lists grows to, and by the time the test would take: 50,000 regions
// squared are 2.5 thousand million, too slow under a sanitizer.
static void hostile_regions_are_not_quadratic( void )
{
    enum
    {
        MANY = 50000
    };
    region_record* regions = test_alloc( MANY, sizeof( region_record ) );
    for ( uint32_t axes = 2; axes <= 3; ++axes )
    {
        // All overlap on the last axes, and on the first the slabs of one set; few pairs in all.
        for ( uint32_t i = 0; i < MANY; ++i )
        {
            for ( uint32_t axis = 0; axis < AXES; ++axis )
            {
                bool is_thin = axis == 0;
                regions[i].lower[axis] = is_thin ? 3.0 * i : -1.0 * i;
                regions[i].upper[axis] = is_thin ? 3.0 * i + 3 : i;
            }
        }
        clv_match_def def = clv_default_match_def();
        def.axis_count = axes;
        seen_pairs seen = { .is_one_set = true };
        CHECK_OK( clv_match_regions( &def, view_of( regions, MANY ), see_pairs, &seen, NULL ) );
        CHECK_EQUAL( seen.count, MANY - 1 );
        // The thin axis last.
        for ( uint32_t i = 0; i < MANY; ++i )
        {
            double low = regions[i].lower[0], high = regions[i].upper[0];
            regions[i].lower[0] = regions[i].lower[axes - 1],
            regions[i].upper[0] = regions[i].upper[axes - 1];
            regions[i].lower[axes - 1] = low, regions[i].upper[axes - 1] = high;
        }
        CHECK_OK( clv_match_regions( &def, view_of( regions, MANY ), see_pairs, &seen, NULL ) );
        CHECK_EQUAL( seen.count, 2 * ( MANY - 1 ) );
    }
    // Two sets whose own regions all overlap, and not each other.
    for ( uint32_t i = 0; i < MANY; ++i )
    {
        for ( uint32_t axis = 0; axis < AXES; ++axis )
        {
            double sign = i < MANY / 2 ? 1 : -1;
            regions[i].lower[axis] = sign > 0 ? 1 : -2 - 1e-3 * i;
            regions[i].upper[axis] = sign > 0 ? 2 + 1e-3 * i : -1;
        }
    }
    clv_match_def def = clv_default_match_def();
    seen_pairs seen = { .count = 0 };
    CHECK_OK( clv_match_between( &def, view_of( regions, MANY / 2 ), view_of( regions + MANY / 2, MANY / 2 ),
        see_pairs, &seen, NULL ) );
    CHECK_EQUAL( seen.count, 0 );
    free( regions );
}

static void bad_input_is_refused_and_named( void )
{
    static region_record regions[4];
    make_regions( MATCH_LATTICE, regions, 4, 1 );
    clv_match_def def = clv_default_match_def();
    clv_error error;
    seen_pairs seen = { .count = 0 };
    def.axis_count = 9;
    CHECK_RESULT( clv_match_regions( &def, view_of( regions, 4 ), see_pairs, &seen, &error ), CLV_BAD_DEF );
    def.axis_count = 0;
    CHECK_RESULT( clv_match_regions( &def, view_of( regions, 4 ), see_pairs, &seen, &error ), CLV_BAD_DEF );
    CHECK_EQUAL( error.code, CLV_BAD_DEF );
    CHECK( error.text != NULL );
    clv_match_def forged = { 0 };
    CHECK_RESULT(
        clv_match_regions( &forged, view_of( regions, 4 ), see_pairs, &seen, &error ), CLV_BAD_DEF );
    def.axis_count = 3;
    clv_regions narrow = view_of( regions, 4 );
    narrow.stride = 16;
    CHECK_RESULT( clv_match_regions( &def, narrow, see_pairs, &seen, &error ), CLV_BAD_ARGUMENT );
    narrow.stride = 28;
    CHECK_RESULT( clv_match_regions( &def, narrow, see_pairs, &seen, NULL ), CLV_BAD_ARGUMENT );
    narrow.count = UINT32_MAX;
    narrow.stride = 24;
    CHECK_RESULT( clv_match_regions( &def, narrow, see_pairs, &seen, NULL ), CLV_BAD_ARGUMENT );
    regions[2].upper[2] = NAN;
    CHECK_RESULT( clv_match_regions( &def, view_of( regions, 4 ), see_pairs, &seen, &error ), CLV_BAD_BOX );
    CHECK_EQUAL( error.position, 2 );
    CHECK_RESULT(
        clv_match_between( &def, view_of( regions, 2 ), view_of( regions + 1, 2 ), see_pairs, &seen, &error ),
        CLV_BAD_BOX );
    CHECK_EQUAL( error.position, 3 );
    def.axis_count = 2; // which does not see it
    CHECK_OK( clv_match_regions( &def, view_of( regions, 4 ), see_pairs, &seen, &error ) );
    clv_regions none = { NULL, NULL, 0, 0 };
    CHECK_OK( clv_match_regions( &def, none, see_pairs, &seen, NULL ) );
    CHECK_OK( clv_match_between( &def, none, none, see_pairs, &seen, NULL ) );
}

static void a_visitor_may_stop( void )
{
    static region_record regions[MOST];
    make_regions( MATCH_NESTED, regions, MOST, 1 );
    clv_match_def def = clv_default_match_def();
    seen_pairs seen = { .is_one_set = true, .stop_at = 3 };
    clv_error error;
    CHECK_RESULT(
        clv_match_regions( &def, view_of( regions, MOST ), see_pairs, &seen, &error ), CLV_STOPPED );
    CHECK_EQUAL( seen.chunk_count, 3 );
    CHECK_EQUAL( error.pair_count, seen.count );
    CHECK_EQUAL( seen.count, 3 * MATCH_CHUNK );
}

static void without_memory_nothing_is_lost( void )
{
    static region_record regions[MOST];
    make_regions( MATCH_SPREAD, regions, MOST, 5 );
    for ( uint64_t refuse = 1;; ++refuse )
    {
        heap hooks = { .refuse_from = refuse, .refuse_count = UINT64_MAX };
        clv_match_def def = clv_default_match_def();
        def.allocator = heap_hooks( &hooks );
        seen_pairs seen = { .is_one_set = true };
        clv_error error;
        clv_result result = clv_match_regions( &def, view_of( regions, MOST ), see_pairs, &seen, &error );
        CHECK_EQUAL( hooks.bytes, 0 );
        if ( hooks.refused_count == 0 )
        {
            CHECK_OK( result );
            CHECK( refuse > 6 );
            return;
        }
        CHECK_RESULT( result, CLV_OUT_OF_MEMORY );
        CHECK_EQUAL( error.code, CLV_OUT_OF_MEMORY );
        CHECK_EQUAL( error.pair_count, seen.count );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( touching_is_overlapping_on_any_number_of_axes ),
        TEST_CASE( every_world_matches_brute_force ),
        TEST_CASE( the_order_is_a_function_of_the_arguments ),
        TEST_CASE( hostile_regions_are_not_quadratic ),
        TEST_CASE( bad_input_is_refused_and_named ),
        TEST_CASE( a_visitor_may_stop ),
        TEST_CASE( without_memory_nothing_is_lost ),
    };
    return test_run( "match", cases, TEST_COUNT( cases ), argc, argv );
}
