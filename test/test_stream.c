// SPDX-License-Identifier: MIT
// Boxes in memory of another shape: records with gaps, corners apart, any alignment.
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    COUNT = 37,
};

// Boxes written as the layout says, with NaN in every byte that is no box: reading one too many shows.
typedef struct layout
{
    const char* name;
    size_t lower_at, upper_at, stride, size;
} layout;

static const layout s_layouts[] = {
    { "as clv_aabb", 0, 12, 24, 24 * COUNT },
    { "Broadmark: min x y z 0 max x y z 0", 0, 16, 32, 32 * COUNT },
    { "upper before lower", 12, 0, 24, 24 * COUNT },
    { "corners apart, each packed", 0, 12 * COUNT, 12, 24 * COUNT },
    { "a wide record", 20, 60, 100, 100 * COUNT },
    { "odd stride", 0, 12, 25, 25 * COUNT },
    { "odd start", 1, 13, 24, 24 * COUNT + 1 },
    { "odd start, odd stride", 3, 18, 31, 31 * COUNT + 3 },
};

static unsigned char* write_layout( const layout* shape, const clv_aabb* boxes )
{
    unsigned char* bytes = test_alloc( shape->size, 1 );
    memset( bytes, 0xFF, shape->size );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        memcpy( bytes + shape->lower_at + i * shape->stride, &boxes[i].lower, 12 );
        memcpy( bytes + shape->upper_at + i * shape->stride, &boxes[i].upper, 12 );
    }
    return bytes;
}

static clv_box_stream stream_of( const layout* shape, const unsigned char* bytes )
{
    // By way of void: the header allows any alignment.
    const void* lower = bytes + shape->lower_at;
    const void* upper = bytes + shape->upper_at;
    return ( clv_box_stream ){ lower, upper, shape->stride };
}

static void make_boxes( clv_aabb* boxes, uint64_t seed )
{
    test_random random = test_random_make( seed );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, COUNT, &random );
    }
}

static void check_boxes( const clv_space* space, const clv_id* ids, const clv_aabb* boxes )
{
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        clv_aabb box;
        CHECK_OK( clv_space_get_box( space, ids[i], &box ) );
        CHECK( memcmp( &box, &boxes[i], sizeof( box ) ) == 0 );
    }
}

static void check_same_list( const clv_space* space, const clv_space* expected )
{
    clv_pair_view view = clv_space_pairs( space );
    clv_pair_view wanted = clv_space_pairs( expected );
    CHECK( wanted.count > 0 );
    CHECK_EQUAL( test_order_hash( view.pairs, view.count ), test_order_hash( wanted.pairs, wanted.count ) );
}

static void check_layout( test_variant variant, const layout* shape )
{
    test_where.note = shape->name;
    clv_aabb first[COUNT], second[COUNT];
    make_boxes( first, 1 );
    make_boxes( second, 2 );
    clv_id ids[COUNT], plain_ids[COUNT];
    clv_space* plain = test_space_make( variant, NULL );
    clv_space* strided = test_space_make( variant, NULL );

    CHECK_OK( clv_space_add( plain, first, COUNT, plain_ids ) );
    unsigned char* bytes = write_layout( shape, first );
    CHECK_OK( clv_space_add_strided( strided, stream_of( shape, bytes ), COUNT, ids ) );
    free( bytes );
    CHECK( memcmp( ids, plain_ids, sizeof( ids ) ) == 0 );
    check_boxes( strided, ids, first );
    CHECK_OK( clv_space_update( plain ) );
    CHECK_OK( clv_space_update( strided ) );
    check_same_list( strided, plain );

    CHECK_OK( clv_space_move( plain, ids, second, COUNT ) );
    bytes = write_layout( shape, second );
    CHECK_OK( clv_space_move_strided( strided, ids, stream_of( shape, bytes ), COUNT ) );
    free( bytes );
    check_boxes( strided, ids, second );
    CHECK_OK( clv_space_update( plain ) );
    CHECK_OK( clv_space_update( strided ) );
    check_same_list( strided, plain );
    clv_space_destroy( plain );
    clv_space_destroy( strided );
    test_where.note = NULL;
}

static void strided_boxes_are_the_boxes( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        for ( size_t shape = 0; shape < TEST_COUNT( s_layouts ); ++shape )
        {
            check_layout( test_variant_at( i ), &s_layouts[shape] );
        }
    }
}

static void a_bad_box_in_a_stream_is_named( void )
{
    for ( size_t shape = 0; shape < TEST_COUNT( s_layouts ); ++shape )
    {
        test_where.note = s_layouts[shape].name;
        clv_space* space = test_space_make( test_variant_at( 0 ), NULL );
        clv_aabb boxes[COUNT];
        clv_id ids[COUNT];
        make_boxes( boxes, 3 );
        CHECK_OK( clv_space_add( space, boxes, COUNT, ids ) );
        boxes[COUNT - 1].upper.z = NAN;
        unsigned char* bytes = write_layout( &s_layouts[shape], boxes );
        CHECK_RESULT(
            clv_space_move_strided( space, ids, stream_of( &s_layouts[shape], bytes ), COUNT ), CLV_BAD_BOX );
        CHECK_EQUAL( clv_space_error( space ).position, COUNT - 1 );
        CHECK( clv_id_equals( clv_space_error( space ).id, ids[COUNT - 1] ) );
        CHECK_RESULT(
            clv_space_add_strided( space, stream_of( &s_layouts[shape], bytes ), COUNT, NULL ), CLV_BAD_BOX );
        CHECK_EQUAL( clv_space_object_count( space ), COUNT );
        free( bytes );
        clv_space_destroy( space );
    }
}

static void a_stream_of_one_may_have_any_stride( void )
{
    clv_space* space = test_space_make( test_variant_at( 0 ), NULL );
    clv_aabb box = test_cube( 1, 2, 3, 4 );
    clv_id id;
    const clv_box_stream stream = { &box.lower.x, &box.upper.x, SIZE_MAX };
    CHECK_OK( clv_space_add_strided( space, stream, 1, &id ) );
    clv_aabb now;
    CHECK_OK( clv_space_get_box( space, id, &now ) );
    CHECK( memcmp( &now, &box, sizeof( box ) ) == 0 );
    clv_space_destroy( space );
}

// What is not there needs no place to lie: no array of a batch of nothing is looked at, and nothing is
// changed by it.
static void a_batch_of_nothing_is_legal_with_everything_zeroed( void )
{
    static const clv_box_stream nowhere = { 0 };
    static const clv_box_stream narrow = { NULL, NULL, 5 };
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space* space = test_space_make( test_variant_at( i ), NULL );
        for ( uint32_t round = 0; round < 2; ++round )
        {
            test_snapshot before = test_snapshot_take( space );
            CHECK_OK( clv_space_add( space, NULL, 0, NULL ) );
            CHECK_OK( clv_space_add_strided( space, nowhere, 0, NULL ) );
            CHECK_OK( clv_space_add_strided( space, narrow, 0, NULL ) );
            CHECK_OK( clv_space_move( space, NULL, NULL, 0 ) );
            CHECK_OK( clv_space_move_strided( space, NULL, nowhere, 0 ) );
            CHECK_OK( clv_space_move_strided( space, NULL, narrow, 0 ) );
            CHECK_OK( clv_space_remove( space, NULL, 0 ) );
            CHECK_OK( clv_space_set_user_data( space, NULL, NULL, 0 ) );
            CHECK_OK( clv_space_set_margin( space, NULL, NULL, 0 ) );
            CHECK_OK( clv_space_set_filter( space, NULL, NULL, 0 ) );
            CHECK_OK( clv_space_refilter( space, NULL, 0 ) );
            CHECK_OK( clv_space_set_static( space, NULL, NULL, 0 ) );
            test_snapshot_check( &before, space );
            test_snapshot_free( &before );
            const clv_aabb boxes[2] = { test_cube( 0, 0, 0, 1 ), test_cube( 1, 0, 0, 1 ) };
            CHECK_OK( clv_space_add( space, boxes, 2, NULL ) );
            CHECK_OK( clv_space_update( space ) );
        }
        clv_space_destroy( space );
    }
}

// ---- spaces of doubles, and flat ones

typedef struct other_kind
{
    bool is_flat;
    size_t corner; ///< bytes
} other_kind;

static const other_kind s_others[2] = { { false, sizeof( clv_vec64 ) }, { true, sizeof( clv_vec2 ) } };

static clv_space* other_space( const other_kind* kind )
{
    clv_space_def def = clv_default_space_def();
    def.doubles = !kind->is_flat;
    def.flat = kind->is_flat;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    return space;
}

// Boxes of either kind, one behind the other; in double 10^9 metres away.
static void make_records( const other_kind* kind, uint64_t seed, unsigned char* records )
{
    clv_aabb boxes[COUNT];
    make_boxes( boxes, seed );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        clv_vec3 a = boxes[i].lower, b = boxes[i].upper;
        const clv_aabb2 flat = { { a.x, a.y }, { b.x, b.y } };
        const clv_aabb64 wide = { { 1e9 + (double)a.x, (double)a.y, (double)a.z },
            { 1e9 + (double)b.x, (double)b.y, (double)b.z } };
        memcpy( records + 2 * kind->corner * i, kind->is_flat ? (const void*)&flat : (const void*)&wide,
            2 * kind->corner );
    }
}

// With gaps of an odd size, the upper corner first, and NaN in between.
static unsigned char* spread_records( const other_kind* kind, const unsigned char* records, size_t stride )
{
    unsigned char* bytes = test_alloc( stride * COUNT, 1 );
    memset( bytes, 0xFF, stride * COUNT );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        memcpy( bytes + stride * i + kind->corner + 1, records + 2 * kind->corner * i, kind->corner );
        memcpy( bytes + stride * i, records + ( 2 * i + 1 ) * kind->corner, kind->corner );
    }
    return bytes;
}

static void check_records(
    const other_kind* kind, const clv_space* space, const clv_id* ids, const unsigned char* records )
{
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        clv_aabb2 flat;
        clv_aabb64 wide;
        CHECK_OK( kind->is_flat ? clv_space_get_box2( space, ids[i], &flat )
                                : clv_space_get_box64( space, ids[i], &wide ) );
        const void* box = kind->is_flat ? (const void*)&flat : (const void*)&wide;
        CHECK( memcmp( box, records + 2 * kind->corner * i, 2 * kind->corner ) == 0 );
    }
}

static clv_result add_stream( const other_kind* kind, clv_space* space, const void* lower, const void* upper,
    size_t stride, clv_id* ids )
{
    return kind->is_flat
        ? clv_space_add_strided2( space, ( clv_box_stream2 ){ lower, upper, stride }, COUNT, ids )
        : clv_space_add_strided64( space, ( clv_box_stream64 ){ lower, upper, stride }, COUNT, ids );
}

static clv_result move_stream( const other_kind* kind, clv_space* space, const void* lower, const void* upper,
    size_t stride, const clv_id* ids )
{
    return kind->is_flat
        ? clv_space_move_strided2( space, ids, ( clv_box_stream2 ){ lower, upper, stride }, COUNT )
        : clv_space_move_strided64( space, ids, ( clv_box_stream64 ){ lower, upper, stride }, COUNT );
}

static void streams_of_every_kind_of_box_are_the_boxes( void )
{
    for ( uint32_t i = 0; i < TEST_COUNT( s_others ); ++i )
    {
        const other_kind* kind = &s_others[i];
        size_t stride = 2 * kind->corner + 3;
        unsigned char first[COUNT * sizeof( clv_aabb64 )], second[COUNT * sizeof( clv_aabb64 )];
        make_records( kind, 1, first );
        make_records( kind, 2, second );
        unsigned char *one = spread_records( kind, first, stride ),
                      *other = spread_records( kind, second, stride );
        clv_space* space = other_space( kind );
        clv_id ids[COUNT];
        CHECK_OK( add_stream( kind, space, one + kind->corner + 1, one, stride, ids ) );
        check_records( kind, space, ids, first );
        CHECK_OK( clv_space_update( space ) );
        uint64_t pairs = clv_space_pairs( space ).count;
        CHECK_OK( move_stream( kind, space, other + kind->corner + 1, other, stride, ids ) );
        check_records( kind, space, ids, second );
        CHECK_OK( move_stream( kind, space, first, first + kind->corner, 2 * kind->corner, ids ) );
        check_records( kind, space, ids, first );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, pairs );

        // A corner that is bad, and a stride too short: named, and nothing changed.
        double bad = NAN;
        memcpy( other + stride * 5, &bad, kind->is_flat ? sizeof( float ) : sizeof( bad ) );
        memset( other + stride * 5, 0xFF, sizeof( float ) );
        CHECK_RESULT( move_stream( kind, space, other + kind->corner + 1, other, stride, ids ), CLV_BAD_BOX );
        CHECK_EQUAL( clv_space_error( space ).position, 5 );
        CHECK_RESULT( add_stream( kind, space, other + kind->corner + 1, other, stride, NULL ), CLV_BAD_BOX );
        CHECK_EQUAL( clv_space_error( space ).position, 5 );
        CHECK_RESULT( move_stream( kind, space, first, first, kind->corner - 1, ids ), CLV_BAD_ARGUMENT );
        CHECK( strstr( clv_space_error( space ).text,
                   kind->is_flat ? "below the 8 of" : "below the 24 of" ) != NULL );
        CHECK_RESULT( add_stream( kind, space, first, first, kind->corner - 1, NULL ), CLV_BAD_ARGUMENT );
        check_records( kind, space, ids, first );
        CHECK_EQUAL( clv_space_object_count( space ), COUNT );
        free( one );
        free( other );
        clv_space_destroy( space );
    }
}

static void single_calls_and_add_defs_take_every_kind_of_box( void )
{
    const clv_aabb2 flat[2] = { { { 0, 0 }, { 1, 1 } }, { { 2, 2 }, { 3, 3 } } };
    const clv_aabb64 wide[2] = { { { 1e9, 0, 0 }, { 1e9 + 1, 1, 1 } },
        { { 1e9 + 2, 0, 0 }, { 1e9 + 3, 1, 1 } } };
    const uint64_t data[2] = { 7, 8 };
    const clv_vec3 motions[2] = { { 2, 2, 0 }, { 0, 0, 0 } };
    for ( uint32_t i = 0; i < TEST_COUNT( s_others ); ++i )
    {
        const other_kind* kind = &s_others[i];
        clv_space* space = other_space( kind );
        clv_id id, ids[2];
        CHECK_OK( kind->is_flat ? clv_space_add_one2( space, flat[0], &id )
                                : clv_space_add_one64( space, wide[0], &id ) );
        CHECK_OK( kind->is_flat ? clv_space_move_one2( space, id, flat[1] )
                                : clv_space_move_one64( space, id, wide[1] ) );
        CHECK_OK( clv_space_remove_one( space, id ) );
        clv_add_def with = clv_default_add_def();
        with.user_data = data;
        with.motions = motions;
        CHECK_OK( clv_space_add_with( space, &with, 0, NULL ) );
        with.boxes2 = kind->is_flat ? flat : NULL;
        with.stream64 = ( clv_box_stream64 ){ kind->is_flat ? NULL : &wide[0].lower.x, &wide[0].upper.x,
            sizeof( wide[0] ) };
        CHECK_OK( clv_space_add_with( space, &with, 2, ids ) );
        uint64_t word;
        CHECK_OK( clv_space_get_user_data( space, ids[1], &word ) );
        CHECK_EQUAL( word, 8 );
        CHECK_OK( clv_space_update( space ) ); // by their motion they meet
        CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
        with.boxes64 = wide;
        CHECK_RESULT( clv_space_add_with( space, &with, 2, ids ), CLV_BAD_DEF );
        with.boxes2 = kind->is_flat ? NULL : flat;
        with.stream64.lower = NULL;
        with.boxes64 = kind->is_flat ? wide : NULL;
        CHECK_RESULT( clv_space_add_with( space, &with, 2, ids ), CLV_UNSUPPORTED );
        CHECK_EQUAL( clv_space_object_count( space ), 2 );
        clv_space_destroy( space );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( strided_boxes_are_the_boxes ),
        TEST_CASE( a_bad_box_in_a_stream_is_named ),
        TEST_CASE( a_stream_of_one_may_have_any_stride ),
        TEST_CASE( streams_of_every_kind_of_box_are_the_boxes ),
        TEST_CASE( single_calls_and_add_defs_take_every_kind_of_box ),
        TEST_CASE( a_batch_of_nothing_is_legal_with_everything_zeroed ),
    };
    return test_run( "stream", cases, TEST_COUNT( cases ), argc, argv );
}
