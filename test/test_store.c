// SPDX-License-Identifier: MIT
// What takes four billion calls to reach from outside: generations and batch stamps at their end.
#include "base/bit_set.h"
#include "heap.h"
#include "object/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void a_slot_whose_generation_wraps_is_retired( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    object_store store = clv_object_store_make( &memory, ( clv_margin_rule ){ 0, 0, 0 } );
    CHECK_OK( clv_object_store_prepare_add( &store, 2 ) );
    clv_id first = clv_object_store_add( &store, test_cube( 0, 0, 0, 1 ) );
    clv_id second = clv_object_store_add( &store, test_cube( 1, 0, 0, 1 ) );
    CHECK_EQUAL( first.index, 0 );
    object_generations( &store )[0] = UINT32_MAX; // as if the slot had been used two billion times
    first.generation = UINT32_MAX;
    CHECK( object_is_live( &store, first ) );
    clv_object_store_remove( &store, 0 );
    CHECK( !object_is_live( &store, first ) );
    CHECK( !object_is_live( &store, ( clv_id ){ 0, 0 } ) );
    CHECK( object_is_live( &store, second ) );
    CHECK_EQUAL( store.live_count, 1 );

    CHECK_OK( clv_object_store_prepare_add( &store, 1 ) );
    clv_id third = clv_object_store_add( &store, test_cube( 2, 0, 0, 1 ) );
    CHECK_EQUAL( third.index, 2 ); // not 0, now and after a clear
    clv_object_store_clear( &store );
    CHECK_EQUAL( store.live_count, 0 );
    CHECK_OK( clv_object_store_prepare_add( &store, 3 ) );
    const uint32_t expected[3] = { 1, 2, 3 };
    for ( uint32_t i = 0; i < 3; ++i )
    {
        CHECK_EQUAL( clv_object_store_add( &store, test_cube( 0, 0, 0, 1 ) ).index, expected[i] );
    }
    clv_object_store_free( &store );
    CHECK_EQUAL( hooks.bytes, 0 );
}

// Some slots that were used before, then fresh ones, in as many parts as the caller likes.
static void a_cleared_store_hands_out_its_slots_in_a_row( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    object_store store = clv_object_store_make( &memory, ( clv_margin_rule ){ 0, 0, 0 } );
    CHECK_OK( clv_object_store_prepare_add( &store, 10 ) );
    CHECK_EQUAL( clv_object_store_add_row( &store, 10 ), 0 );
    clv_object_store_clear( &store );
    CHECK_OK( clv_object_store_prepare_add( &store, 13 ) );
    CHECK_EQUAL( clv_object_store_add_row( &store, 4 ), 0 );
    CHECK_EQUAL( clv_object_store_add( &store, test_cube( 0, 0, 0, 1 ) ).index, 4 );
    CHECK_EQUAL( clv_object_store_add_row( &store, 3 ), 5 );
    CHECK_EQUAL( clv_object_store_add_row( &store, 5 ), 8 ); // two used before and three fresh ones
    CHECK_EQUAL( store.live_count, 13 );
    CHECK_EQUAL( store.slot_count, 13 );
    CHECK_EQUAL( store.free_count, 0 );
    for ( uint32_t slot = 0; slot < 13; ++slot )
    {
        CHECK_EQUAL( object_generations( &store )[slot], slot < 10 ? 3 : 1 );
        CHECK_EQUAL( ( (const uint8_t*)store.columns[OBJECT_RENEWED] )[slot], slot < 10 );
    }
    clv_object_store_free( &store );
    CHECK_EQUAL( memory.bytes, 0 );
}

static void slots_with_a_gap_are_no_row( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    object_store store = clv_object_store_make( &memory, ( clv_margin_rule ){ 0, 0, 0 } );
    CHECK_OK( clv_object_store_prepare_add( &store, 5 ) );
    clv_object_store_add_row( &store, 5 );
    object_generations( &store )[2] = UINT32_MAX; // retired by the clear
    clv_object_store_clear( &store );
    CHECK( !store.free_is_row );
    CHECK_OK( clv_object_store_prepare_add( &store, 5 ) );
    const uint32_t expected[5] = { 0, 1, 3, 4, 5 };
    for ( uint32_t i = 0; i < 5; ++i )
    {
        CHECK_EQUAL( clv_object_store_add( &store, test_cube( 0, 0, 0, 1 ) ).index, expected[i] );
    }
    clv_object_store_remove( &store, 1 );
    CHECK( !store.free_is_row );
    CHECK_OK( clv_object_store_prepare_add( &store, 1 ) );
    CHECK_EQUAL( clv_object_store_add( &store, test_cube( 0, 0, 0, 1 ) ).index, 1 );
    CHECK( store.free_is_row );
    clv_object_store_free( &store );
    CHECK_EQUAL( memory.bytes, 0 );
}

// Slots still carry stamps of the first batches, or none, when the numbers start again.
static void only_duplicates_are_duplicates_when_the_batch_stamp_wraps( void )
{
    heap hooks = { 0 };
    base_memory memory = clv_base_memory_make( heap_hooks( &hooks ) );
    object_store store = clv_object_store_make( &memory, ( clv_margin_rule ){ 0, 0, 0 } );
    CHECK_OK( clv_object_store_prepare_add( &store, 16 ) );
    clv_id ids[16];
    for ( uint32_t i = 0; i < 16; ++i )
    {
        ids[15 - i] = clv_object_store_add( &store, test_cube( 0, 0, 0, 1 ) ); // descending: no short cut
    }
    uint32_t position = 0;
    CHECK_OK( clv_object_store_check_ids( &store, ids, 8, &position ) );
    for ( uint32_t round = 0; round < 4; ++round )
    {
        test_where.frame = round;
        store.stamp = round % 2 == 0 ? UINT32_MAX : UINT32_MAX - 1;
        CHECK_OK( clv_object_store_check_ids( &store, ids, 16, &position ) );
        CHECK_OK( clv_object_store_check_ids( &store, ids, 16, &position ) );
        clv_id swap = ids[5];
        ids[5] = ids[1];
        CHECK_RESULT( clv_object_store_check_ids( &store, ids, 16, &position ), CLV_DUPLICATE_ID );
        CHECK_EQUAL( position, 5 );
        ids[5] = swap;
    }
    clv_object_store_free( &store );
    CHECK_EQUAL( hooks.bytes, 0 );
}

static bool are_good( const clv_aabb* boxes, uint32_t count )
{
    bool good = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        good &= clv_aabb_is_valid( boxes[i] );
    }
    return good;
}

enum
{
    MANY = 5000
};

// Any part of the slots, any share of them new: afterwards all are as given, those that differ are noted, and
// where few differ no others are. A bad box among them is seen, and then nothing has changed.
static void boxes_are_compared_noted_and_taken( void )
{
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    object_store store = clv_object_store_make( &memory, ( clv_margin_rule ){ 0, 0, 0 } );
    clv_aabb* given = test_alloc( MANY, sizeof( clv_aabb ) );
    CHECK_OK( clv_object_store_prepare_add( &store, MANY ) );
    for ( uint32_t i = 0; i < MANY; ++i )
    {
        given[i] = test_cube( (float)i, 0, 0, 1 );
        clv_object_store_add( &store, given[i] );
    }
    for ( uint32_t seed = 0; seed < test_scaled( 300 ); ++seed )
    {
        static const uint32_t shares[] = { 0, 1, 20, 99, 100 };
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        uint32_t first = test_random_below( &random, MANY ),
                 count = 1 + test_random_below( &random, MANY - first );
        uint32_t share = shares[seed % TEST_COUNT( shares )], changed = 0;
        bool is_bad = seed % 7 == 6;
        if ( seed % 11 != 10 )
        {
            clv_object_store_watch( &store, 1 );
        }
        for ( uint32_t i = first; i < first + count; ++i )
        {
            bool moves = test_random_chance( &random, share );
            given[i].upper.z += moves ? 1 : 0;
            changed += moves;
        }
        uint32_t bad = first + test_random_below( &random, count );
        clv_aabb kept = given[bad];
        given[bad].lower.y = is_bad ? NAN : given[bad].lower.y;
        bool good = clv_object_store_check_boxes( &store, first, &given[first], count, are_good );
        CHECK_EQUAL( good, !is_bad );
        given[bad] = kept;
        clv_object_store_check_boxes( &store, first, &given[first], count, are_good );
        uint32_t noted = 0;
        for ( uint32_t i = 0; i < MANY; ++i )
        {
            bool differs = memcmp( &object_boxes( &store )[i], &given[i], sizeof( clv_aabb ) ) != 0;
            bool is_noted = base_bits_has( store.moved.items, i );
            noted += is_noted;
            CHECK( !differs || is_noted || !store.moved_is_known );
        }
        CHECK( share > 20 || is_bad || seed % 11 == 10 || noted == changed );
        clv_object_store_take_boxes( &store, first, &given[first], count );
        CHECK( memcmp( object_boxes( &store ), given, MANY * sizeof( clv_aabb ) ) == 0 );
    }
    clv_object_store_free( &store );
    CHECK_EQUAL( memory.bytes, 0 );
    free( given );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_slot_whose_generation_wraps_is_retired ),
        TEST_CASE( a_cleared_store_hands_out_its_slots_in_a_row ),
        TEST_CASE( slots_with_a_gap_are_no_row ),
        TEST_CASE( only_duplicates_are_duplicates_when_the_batch_stamp_wraps ),
        TEST_CASE( boxes_are_compared_noted_and_taken ),
    };
    return test_run( "store", cases, TEST_COUNT( cases ), argc, argv );
}
