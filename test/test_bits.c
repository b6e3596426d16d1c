// SPDX-License-Identifier: MIT
#include "base/bit_set.h"
#include "support.h"

#include <float.h>
#include <math.h>

static void float_order_is_the_order_of_floats( void )
{
    const float ascending[] = { -INFINITY, -FLT_MAX, -1e9f, -1.5f, -1.0f, -FLT_MIN, -1e-40f, -FLT_TRUE_MIN,
        -0.0f, 0.0f, FLT_TRUE_MIN, 1e-40f, FLT_MIN, FLT_EPSILON, 1.0f, 1.0000001f, 1e9f, FLT_MAX, INFINITY };
    for ( size_t i = 1; i < TEST_COUNT( ascending ); ++i )
    {
        CHECK( base_float_order( ascending[i - 1] ) < base_float_order( ascending[i] ) );
    }
    CHECK_EQUAL( base_float_order( -0.0f ) + 1, base_float_order( 0.0f ) );
}

static void float_order_agrees_on_random_pairs( void )
{
    test_random random = test_random_make( 1 );
    for ( uint32_t i = 0; i < 200000; ++i )
    {
        uint32_t bits[2] = { (uint32_t)test_random_next( &random ), (uint32_t)test_random_next( &random ) };
        float values[2];
        memcpy( values, bits, sizeof( values ) );
        if ( isnan( values[0] ) || isnan( values[1] ) || values[0] == values[1] )
        {
            continue;
        }
        test_where.seed = i;
        CHECK_EQUAL( values[0] < values[1], base_float_order( values[0] ) < base_float_order( values[1] ) );
    }
}

static void float_order_has_no_gaps( void )
{
    for ( float value = FLT_TRUE_MIN; value < 1e-42f; value = nextafterf( value, 1.0f ) )
    {
        float next = nextafterf( value, 1.0f );
        CHECK_EQUAL( base_float_order( next ), base_float_order( value ) + 1 );
        CHECK_EQUAL( base_float_order( -next ) + 1, base_float_order( -value ) );
    }
    CHECK_EQUAL( base_float_order( FLT_TRUE_MIN ), base_float_order( 0.0f ) + 1 );
    CHECK_EQUAL( base_float_order( INFINITY ), base_float_order( FLT_MAX ) + 1 );
}

static void lowest_bit_count_and_width_hold_for_every_single_bit( void )
{
    for ( uint32_t bit = 0; bit < 64; ++bit )
    {
        uint64_t value = (uint64_t)1 << bit;
        CHECK_EQUAL( base_lowest_bit( value ), bit );
        CHECK_EQUAL( base_lowest_bit( ~( value - 1 ) ), bit );
        CHECK_EQUAL( base_bit_count( value ), 1 );
        CHECK_EQUAL( base_bit_count( value - 1 ), bit );
        CHECK_EQUAL( base_bit_width( value ), bit + 1 );
        CHECK_EQUAL( base_bit_width( value - 1 ), bit );
    }
    CHECK_EQUAL( base_bit_count( UINT64_MAX ), 64 );
    CHECK_EQUAL( base_bit_width( UINT64_MAX ), 64 );
}

// One from each part, all of them where as many are wanted as there are, and no stride that a pattern could
// hide behind.
static void samples_come_from_every_part( void )
{
    static const uint32_t counts[] = { 1, 2, 7, 64, 1000, 128000, UINT32_MAX };
    for ( uint32_t c = 0; c < TEST_COUNT( counts ); ++c )
    {
        uint32_t wanted = counts[c] < 512 ? counts[c] : 512;
        uint32_t special = 0;
        for ( uint32_t i = 0; i < wanted; ++i )
        {
            uint32_t at = base_sample( i, wanted, counts[c] );
            CHECK( at >= (uint64_t)i * counts[c] / wanted && at < ( (uint64_t)i + 1 ) * counts[c] / wanted );
            special += at % 50 == 0;
        }
        CHECK( counts[c] < 1000 || special < 40 );
    }
}

static void samples_in_steps_come_from_every_step( void )
{
    const uint32_t steps[] = { 1, 2, 7, 50, 1000 };
    for ( uint32_t s = 0; s < TEST_COUNT( steps ); ++s )
    {
        const uint32_t count = 100003, step = steps[s];
        uint32_t special = 0, seen = 0;
        for ( uint32_t first = 0; first < count; first += step )
        {
            uint32_t at = base_sample_step( first, step, count );
            CHECK( at >= first && at < count && at - first < step );
            special += at % step == 0;
            seen += 1;
        }
        CHECK( step == 1 || special < seen * 3 / 4 );
    }
}

static void bit_sets_hold_what_was_put_in( void )
{
    uint64_t words[3] = { 0 };
    CHECK_EQUAL( base_bits_words( 0 ), 0 );
    CHECK_EQUAL( base_bits_words( 64 ), 1 );
    CHECK_EQUAL( base_bits_words( 65 ), 2 );
    for ( uint32_t number = 0; number < 192; number += 1 + number % 5 )
    {
        base_bits_add( words, number );
        for ( uint32_t other = 0; other < 192; ++other )
        {
            uint64_t bit = (uint64_t)( other == number ) << ( other % 64 );
            CHECK_EQUAL( base_bits_has( words, other ), bit != 0 );
            CHECK_EQUAL( words[other / 64] & (uint64_t)1 << other % 64, bit );
        }
        uint32_t behind = ( number + 64 ) % 192;
        CHECK(
            base_bits_has_either( words, number, behind ) && base_bits_has_either( words, behind, number ) );
        CHECK( !base_bits_has_both( words, number, behind ) && !base_bits_has_both( words, behind, number ) );
        base_bits_put( words, behind, true );
        CHECK( base_bits_has_both( words, number, behind ) && base_bits_has_both( words, behind, number ) );
        CHECK( !base_bits_has_either( words, ( number + 1 ) % 192, ( number + 65 ) % 192 ) );
        base_bits_remove( words, number );
        CHECK( !base_bits_has( words, number ) && base_bits_has( words, behind ) );
        base_bits_put( words, behind, false );
        CHECK_EQUAL( words[0] | words[1] | words[2], 0 );
    }
    for ( uint32_t count = 0; count <= 64; ++count )
    {
        CHECK_EQUAL( base_bit_count( base_bits_low( count ) ), count );
        CHECK( count == 0 || base_lowest_bit( base_bits_low( count ) ) == 0 );
        CHECK_EQUAL( base_bit_width( base_bits_low( count ) ), count );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( float_order_is_the_order_of_floats ),
        TEST_CASE( float_order_agrees_on_random_pairs ),
        TEST_CASE( float_order_has_no_gaps ),
        TEST_CASE( lowest_bit_count_and_width_hold_for_every_single_bit ),
        TEST_CASE( samples_come_from_every_part ),
        TEST_CASE( samples_in_steps_come_from_every_step ),
        TEST_CASE( bit_sets_hold_what_was_put_in ),
    };
    return test_run( "bits", cases, TEST_COUNT( cases ), argc, argv );
}
