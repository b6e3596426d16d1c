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

// Slots of which some were used before and some are free, all with a box that says which slot it is.
static object_store crowd_of( base_memory* memory, test_random* random, uint32_t used_again, uint32_t gone )
{
    object_store store = clv_object_store_make( memory, ( clv_margin_rule ){ 0, 0, 0 } );
    CHECK_OK( clv_object_store_prepare_add( &store, MANY ) );
    clv_object_store_add_row( &store, MANY );
    for ( uint32_t slot = 0; slot < MANY; ++slot )
    {
        uint32_t times =
            test_random_chance( random, used_again ) ? 2 + 2 * test_random_below( random, 3 ) : 0;
        object_generations( &store )[slot] += times;
        object_boxes( &store )[slot] = test_cube( (float)slot, 0, 0, 1 );
    }
    for ( uint32_t slot = 0; slot < MANY; ++slot )
    {
        if ( test_random_chance( random, gone ) )
        {
            clv_object_store_remove( &store, slot );
        }
    }
    return store;
}

// Some of the live ones, in the order of their slots or in any.
static uint32_t choose_ids(
    const object_store* store, test_random* random, uint32_t share, bool ascend, clv_id* ids )
{
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < MANY; ++slot )
    {
        uint32_t generation = object_generations( store )[slot];
        ids[count] = ( clv_id ){ slot, generation };
        count += ( generation & 1 ) != 0 && test_random_chance( random, share );
    }
    for ( uint32_t i = count; i > 1 && !ascend; --i )
    {
        uint32_t other = test_random_below( random, i );
        clv_id id = ids[other];
        ids[other] = ids[i - 1];
        ids[i - 1] = id;
    }
    return count;
}

// Id by id, with nothing but what the rules say.
static clv_result first_bad(
    const object_store* store, const clv_id* ids, uint32_t count, uint32_t* position )
{
    static bool is_named[MANY];
    memset( is_named, 0, sizeof( is_named ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        *position = i;
        if ( !object_is_live( store, ids[i] ) )
        {
            return CLV_BAD_ID;
        }
        if ( is_named[ids[i].index] )
        {
            return CLV_DUPLICATE_ID;
        }
        is_named[ids[i].index] = true;
    }
    return CLV_OK;
}

// One that is wrong: in another slot, of another time, or both; every other time, or oftener, the last of a
// group that is checked at once. Or its object goes.
static void spoil( object_store* store, test_random* random, clv_id* ids, uint32_t count )
{
    uint32_t at = test_random_below( random, count ), end = at | 31;
    clv_id *id = &ids[test_random_chance( random, 50 ) && end < count ? end : at],
           other = ids[test_random_below( random, count )];
    if ( object_is_live( store, *id ) && test_random_chance( random, 20 ) )
    {
        clv_object_store_remove( store, id->index );
        return;
    }
    switch ( test_random_below( random, 8 ) )
    {
    case 0: id->generation += 1; break;
    case 1: id->generation += 2; break;
    case 2: id->index = other.index; break;
    case 3: *id = other; break;
    case 4: id->index = MANY + test_random_below( random, 100 ); break;
    case 5: id->index = UINT32_MAX - test_random_below( random, 2 ); break;
    case 6: *id = ( clv_id ){ id->index - 1, id->generation + 1 }; break; // as numbers these still ascend
    default: *id = clv_null_id(); break;
    }
}

// Any share of the ids, ascending or not, among slots of one generation or many, with up to two bad ones: the
// verdict, the position and the word that they ascend are those of a look at one after the other.
static void ids_are_checked_as_one_by_one( void )
{
    static const uint32_t shares[] = { 1, 10, 30, 50, 90, 99, 100 };
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_id* ids = test_alloc( MANY, sizeof( clv_id ) );
    for ( uint32_t seed = 0; seed < test_scaled( 600 ); ++seed )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        bool ascend = test_random_chance( &random, 80 );
        object_store store = crowd_of( &memory, &random, seed % 3 == 0 ? 20 : 0, seed % 5 == 0 ? 20 : 0 );
        uint32_t share = shares[seed % TEST_COUNT( shares )];
        uint32_t count = choose_ids( &store, &random, share, ascend, ids );
        for ( uint32_t bad = test_random_below( &random, 3 ); bad > 0 && count > 0; --bad )
        {
            spoil( &store, &random, ids, count );
        }
        uint32_t expected = 0, position = 0;
        clv_result result = first_bad( &store, ids, count, &expected );
        CHECK_RESULT( clv_object_store_check_ids( &store, ids, count, &position ), result );
        bool goes_up = true;
        for ( uint32_t i = 1; i < count; ++i )
        {
            goes_up &= ids[i].index > ids[i - 1].index;
        }
        expected = result != CLV_OK ? expected : goes_up ? count : 0;
        CHECK_EQUAL( position, expected );
        clv_object_store_free( &store );
    }
    CHECK_EQUAL( memory.bytes, 0 );
    free( ids );
}

// As records or as corners that lie apart, any share in any order: each box is in the slot of its id, no
// other slot has changed, and those that were named are marked, and no others, where marks are kept.
static void boxes_go_to_the_slots_of_their_ids( void )
{
    static const uint32_t shares[] = { 1, 10, 30, 50, 90, 99, 100 };
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_id* ids = test_alloc( MANY, sizeof( clv_id ) );
    uint8_t* named = test_alloc( MANY, 1 );
    for ( uint32_t seed = 0; seed < test_scaled( 200 ); ++seed )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        bool ascend = test_random_chance( &random, 60 ), is_watched = seed % 6 != 5;
        object_store store = crowd_of( &memory, &random, 0, 0 );
        clv_object_store_watch( &store, is_watched ? 1 : MANY + 1 );
        uint32_t count = choose_ids( &store, &random, shares[seed % TEST_COUNT( shares )], ascend, ids );
        size_t corner = sizeof( clv_vec3 ),
               stride = sizeof( clv_aabb ) + ( seed % 2 == 0 ? 0 : 1 + test_random_below( &random, 20 ) ),
               apart = stride > sizeof( clv_aabb ) ? corner + test_random_below( &random, 2 ) : corner;
        size_t length = count > 0 ? ( count - 1 ) * stride + apart + corner : 1;
        char* boxes = malloc( length ); // nothing lies behind the last box
        memset( named, 0, MANY );
        for ( uint32_t i = 0; i < count; ++i )
        {
            clv_aabb box = test_cube( (float)ids[i].index, 1, 0, 1 );
            memcpy( boxes + i * stride, &box.lower, corner );
            memcpy( boxes + i * stride + apart, &box.upper, corner );
            named[ids[i].index] = 1;
        }
        clv_object_store_scatter_boxes( &store, ids, boxes, boxes + apart, stride, count, ascend );
        for ( uint32_t slot = 0; slot < MANY; ++slot )
        {
            clv_aabb box = test_cube( (float)slot, (float)named[slot], 0, 1 );
            CHECK( memcmp( &object_boxes( &store )[slot], &box, sizeof( box ) ) == 0 );
            CHECK( !is_watched || base_bits_has( store.moved.items, slot ) == ( named[slot] != 0 ) );
        }
        free( boxes );
        clv_object_store_free( &store );
    }
    CHECK_EQUAL( memory.bytes, 0 );
    free( ids );
    free( named );
}

// Runs of which some moved: these are marked, and others of the run only where it is wide or does not ascend.
static void what_moved_of_a_run_is_marked( void )
{
    static const uint32_t shares[] = { 1, 10, 30, 90, 100 };
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    clv_id* ids = test_alloc( MANY, sizeof( clv_id ) );
    uint8_t* marks = test_alloc( MANY, 1 ); // 1: must be marked, 2: may be
    for ( uint32_t seed = 0; seed < test_scaled( 200 ); ++seed )
    {
        test_where.seed = seed;
        test_random random = test_random_make( seed );
        bool ascend = test_random_chance( &random, 70 );
        object_store store = crowd_of( &memory, &random, 0, 0 );
        clv_object_store_watch( &store, 1 );
        uint32_t count = choose_ids( &store, &random, shares[seed % TEST_COUNT( shares )], ascend, ids );
        memset( marks, 0, MANY );
        for ( uint32_t first = 0, some; first < count; first += some )
        {
            some = 1 + test_random_below( &random, count - first < OBJECT_RUN ? count - first : OBJECT_RUN );
            bool is_near = ascend && ids[first + some - 1].index - ids[first].index < 64;
            uint64_t bits = 0;
            for ( uint32_t i = first; i < first + some; ++i )
            {
                bool moved = test_random_chance( &random, 50 );
                bits |= (uint64_t)moved << ( ids[i].index & 63 );
                marks[ids[i].index] = moved ? 1 : is_near ? 0 : 2;
            }
            clv_object_store_mark( &store, ids + first, some, ascend, bits );
        }
        for ( uint32_t slot = 0; slot < MANY; ++slot )
        {
            CHECK( marks[slot] == 2 || base_bits_has( store.moved.items, slot ) == ( marks[slot] == 1 ) );
        }
        clv_object_store_free( &store );
    }
    CHECK_EQUAL( memory.bytes, 0 );
    free( ids );
    free( marks );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_slot_whose_generation_wraps_is_retired ),
        TEST_CASE( a_cleared_store_hands_out_its_slots_in_a_row ),
        TEST_CASE( slots_with_a_gap_are_no_row ),
        TEST_CASE( only_duplicates_are_duplicates_when_the_batch_stamp_wraps ),
        TEST_CASE( boxes_are_compared_noted_and_taken ),
        TEST_CASE( ids_are_checked_as_one_by_one ),
        TEST_CASE( boxes_go_to_the_slots_of_their_ids ),
        TEST_CASE( what_moved_of_a_run_is_marked ),
    };
    return test_run( "store", cases, TEST_COUNT( cases ), argc, argv );
}
