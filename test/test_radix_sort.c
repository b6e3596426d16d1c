// SPDX-License-Identifier: MIT
// The sorts, beside the C library's: radix sorts, the heap sort and the quick sort.
#include "base/bits.h"
#include "base/heap_sort.h"
#include "base/radix_sort.h"
#include "support.h"
#include "sweep/box_items.h"

#include <math.h>
#include <stdlib.h>

// ---- keys

static int compare_keyed( const void* a, const void* b )
{
    const base_keyed* first = a;
    const base_keyed* second = b;
    if ( first->key != second->key )
    {
        return first->key < second->key ? -1 : 1;
    }
    return first->value < second->value ? -1 : first->value > second->value;
}

// Values are positions, so (key, value) order is what a stable sort by key gives.
static void check_keyed_sort( const uint32_t* keys, uint32_t count )
{
    base_keyed* items = test_alloc( count, sizeof( base_keyed ) );
    base_keyed* scratch = test_alloc( count, sizeof( base_keyed ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        items[i] = ( base_keyed ){ keys[i], i };
    }
    base_keyed* expected = test_copy( items, count, sizeof( base_keyed ) );
    qsort( expected, count, sizeof( base_keyed ), compare_keyed );
    base_keyed* heaped = test_copy( items, count, sizeof( base_keyed ) );
    clv_base_heap_sort( heaped, count, sizeof( base_keyed ), compare_keyed );
    base_keyed* quick = test_copy( items, count, sizeof( base_keyed ) );
    clv_sweep_quick_sort( quick, count );
    base_keyed* sorted = clv_base_sort_keyed( items, scratch, count );
    CHECK( sorted == items || sorted == scratch );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CHECK_EQUAL( sorted[i].key, expected[i].key );
        CHECK_EQUAL( sorted[i].value, expected[i].value );
        CHECK_EQUAL( heaped[i].key, expected[i].key );
        CHECK_EQUAL( heaped[i].value, expected[i].value );
        CHECK_EQUAL( quick[i].key, expected[i].key );
        CHECK_EQUAL( quick[i].value, expected[i].value );
    }
    free( quick );
    free( items );
    free( heaped );
    free( scratch );
    free( expected );
}

typedef enum key_kind
{
    KEYS_RANDOM,
    KEYS_ASCENDING,
    KEYS_DESCENDING,
    KEYS_EQUAL,
    KEYS_FEW,
    KEYS_PIPE,
    KEYS_KILLER,
    KEYS_TOP_DIGIT,
    KEYS_MIDDLE_DIGIT,
    KEYS_FLOATS,
    KEY_KINDS
} key_kind;

// Made against the median of first, middle and last: it is next to the least of what is left, again and
// again. Each round of such a sort takes the least and the second least to the front, so here they lie where
// it looks: in first and middle place.
static uint32_t killer_key( uint32_t i, uint32_t count )
{
    uint32_t half = count / 2;
    return i < half ? ( i % 2 == 0 ? i : half + i ) : 2 * ( i - half ) + 1;
}

static uint32_t make_key( key_kind kind, uint32_t i, uint32_t count, test_random* random )
{
    switch ( kind )
    {
    case KEYS_ASCENDING: return i * 977u;
    case KEYS_DESCENDING: return ( count - i ) * 977u;
    case KEYS_EQUAL: return 0xDEADBEEFu;
    case KEYS_FEW: return test_random_below( random, 5 );
    case KEYS_PIPE: return i < count / 2 ? i : count - i; // up and down
    case KEYS_KILLER: return killer_key( i, count );
    case KEYS_TOP_DIGIT: return (uint32_t)test_random_next( random ) & 0xFFC00000u;
    case KEYS_MIDDLE_DIGIT: return (uint32_t)test_random_next( random ) & 0x003FF800u;
    case KEYS_FLOATS: return base_float_order( test_random_between( random, -100.0f, 100.0f ) );
    default: return (uint32_t)test_random_next( random );
    }
}

static void check_keys_of_size( uint32_t count )
{
    test_random random = test_random_make( count );
    uint32_t* keys = test_alloc( count, sizeof( uint32_t ) );
    for ( int kind = 0; kind < KEY_KINDS; ++kind )
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            keys[i] = make_key( (key_kind)kind, i, count, &random );
        }
        test_where.frame = (uint32_t)kind;
        test_where.seed = count;
        check_keyed_sort( keys, count );
    }
    free( keys );
}

static void keys_of_every_small_size_sort_stably( void )
{
    for ( uint32_t count = 0; count <= 200; ++count )
    {
        check_keys_of_size( count );
    }
}

static void many_keys_sort_stably( void )
{
    check_keys_of_size( 2047 );
    check_keys_of_size( 2049 );
    check_keys_of_size( 70001 );
}

static void floats_sort_from_minus_to_plus_infinity( void )
{
    uint32_t keys[300];
    test_random random = test_random_make( 7 );
    for ( uint32_t i = 0; i < 300; ++i )
    {
        float value = ldexpf( test_random_between( &random, -1.0f, 1.0f ), (int)( i % 250 ) - 140 );
        value = i % 50 == 0 ? -INFINITY : i % 50 == 1 ? INFINITY : i % 50 == 2 ? -0.0f : value;
        keys[i] = base_float_order( value );
    }
    check_keyed_sort( keys, 300 );
}

// ---- pairs

static void check_pair_sort( const clv_pair* input, uint32_t count, uint32_t index_end )
{
    clv_pair* pairs = test_copy( input, count, sizeof( clv_pair ) );
    clv_pair* expected = test_copy( input, count, sizeof( clv_pair ) );
    clv_pair* scratch = test_alloc( count, sizeof( clv_pair ) );
    qsort( expected, count, sizeof( clv_pair ), test_pair_compare );
    clv_pair* sorted = clv_base_sort_pairs( pairs, scratch, count, index_end );
    CHECK( sorted == pairs || sorted == scratch );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CHECK_EQUAL( sorted[i].a, expected[i].a );
        CHECK_EQUAL( sorted[i].b, expected[i].b );
    }
    free( pairs );
    free( expected );
    free( scratch );
}

// Indices up to and including index_end - 1, so that the highest bit matters.
static void check_pairs_of_size( uint32_t count, uint32_t index_end )
{
    test_random random = test_random_make( count * 31 + index_end );
    clv_pair* pairs = test_alloc( count, sizeof( clv_pair ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t low = test_random_chance( &random, 10 ) ? 0 : test_random_below( &random, index_end - 1 );
        uint32_t high = low + 1 + test_random_below( &random, index_end - 1 - low );
        pairs[i] = ( clv_pair ){ low, test_random_chance( &random, 10 ) ? index_end - 1 : high };
    }
    test_where.seed = count;
    test_where.frame = index_end;
    check_pair_sort( pairs, count, index_end );
    free( pairs );
}

static void pairs_of_every_small_size_sort( void )
{
    for ( uint32_t count = 0; count <= 200; ++count )
    {
        check_pairs_of_size( count, 2 );
        check_pairs_of_size( count, 100 );
        check_pairs_of_size( count, CLV_MAX_OBJECTS );
    }
}

static void pairs_sort_at_every_index_limit( void )
{
    const uint32_t ends[] = { 2, 3, 1023, 1024, 1025, 2047, 2048, 2049, 65535, 65536, 65537, 4194303, 4194304,
        4194305, CLV_MAX_OBJECTS };
    for ( size_t i = 0; i < TEST_COUNT( ends ); ++i )
    {
        check_pairs_of_size( 5000, ends[i] );
    }
}

static void sorted_reversed_and_equal_pairs_sort( void )
{
    clv_pair pairs[3][500];
    for ( uint32_t i = 0; i < 500; ++i )
    {
        pairs[0][i] = ( clv_pair ){ i, i + 1 };
        pairs[1][i] = ( clv_pair ){ 500 - i, 1001 - i };
        pairs[2][i] = ( clv_pair ){ 3, 77 };
    }
    for ( uint32_t kind = 0; kind < 3; ++kind )
    {
        test_where.frame = kind;
        check_pair_sort( pairs[kind], 500, 1002 );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( keys_of_every_small_size_sort_stably ),
        TEST_CASE( many_keys_sort_stably ),
        TEST_CASE( floats_sort_from_minus_to_plus_infinity ),
        TEST_CASE( pairs_of_every_small_size_sort ),
        TEST_CASE( pairs_sort_at_every_index_limit ),
        TEST_CASE( sorted_reversed_and_equal_pairs_sort ),
    };
    return test_run( "radix sort", cases, TEST_COUNT( cases ), argc, argv );
}
