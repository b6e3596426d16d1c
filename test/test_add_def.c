// SPDX-License-Identifier: MIT
// Objects added with all they carry: the same world as by one call after the other, and all or nothing.
#include "heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    COUNT = 60
};

typedef struct cargo
{
    clv_aabb boxes[COUNT];
    uint64_t user_data[COUNT];
    clv_filter filters[COUNT];
    float margins[COUNT];
    clv_margin_rule rules[COUNT];
    bool statics[COUNT];
    clv_vec3 motions[COUNT];
} cargo;

static void fill( cargo* all, test_random* random )
{
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        all->boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, COUNT, random );
        all->user_data[i] = test_random_next( random );
        all->filters[i] = ( clv_filter ){ 1 + test_random_below( random, 3 ),
            1 + test_random_below( random, 3 ), (int32_t)test_random_below( random, 5 ) - 2 };
        all->margins[i] = test_random_between( random, 0, 0.5f );
        all->rules[i] = ( clv_margin_rule ){ test_random_between( random, 0, 0.25f ),
            test_random_between( random, 0, 0.25f ), test_random_between( random, 0, 0.25f ) };
        all->statics[i] = test_random_chance( random, 30 );
        all->motions[i] = ( clv_vec3 ){ test_random_between( random, -2, 2 ), 0, 0.5f };
    }
}

// What is there by bits, so that every mixture gets its turn.
static clv_add_def def_of( const cargo* all, uint32_t bits )
{
    clv_add_def def = clv_default_add_def();
    def.boxes = all->boxes;
    def.user_data = ( bits & 1 ) != 0 ? all->user_data : NULL;
    def.filters = ( bits & 2 ) != 0 ? all->filters : NULL;
    def.margins = ( bits & 12 ) == 4 ? all->margins : NULL;
    def.margin_rules = ( bits & 12 ) == 8 ? all->rules : NULL;
    def.is_static = ( bits & 16 ) != 0 ? all->statics : NULL;
    def.motions = ( bits & 32 ) != 0 ? all->motions : NULL;
    return def;
}

static void add_in_turn( clv_space* space, const clv_add_def* def, uint32_t count, clv_id* ids )
{
    CHECK_OK( clv_space_add( space, def->boxes, count, ids ) );
    def->user_data == NULL ? (void)0
                           : CHECK_OK( clv_space_set_user_data( space, ids, def->user_data, count ) );
    def->filters == NULL ? (void)0 : CHECK_OK( clv_space_set_filter( space, ids, def->filters, count ) );
    def->margins == NULL ? (void)0 : CHECK_OK( clv_space_set_margin( space, ids, def->margins, count ) );
    if ( def->margin_rules != NULL )
    {
        CHECK_OK( clv_space_set_margin_rule( space, ids, def->margin_rules, count ) );
    }
    def->is_static == NULL ? (void)0 : CHECK_OK( clv_space_set_static( space, ids, def->is_static, count ) );
    def->motions == NULL ? (void)0 : CHECK_OK( clv_space_set_motion( space, ids, def->motions, count ) );
}

// By what was given, since the setters and clv_space_add_with share the code that writes.
static void check_carried( const clv_space* space, const clv_add_def* def, uint32_t count, const clv_id* ids )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t data;
        clv_filter filter;
        clv_margin_rule rule;
        bool is_static;
        clv_vec3 motion;
        CHECK_OK( clv_space_get_user_data( space, ids[i], &data ) );
        CHECK_OK( clv_space_get_filter( space, ids[i], &filter ) );
        CHECK_OK( clv_space_get_margin_rule( space, ids[i], &rule ) );
        CHECK_OK( clv_space_get_static( space, ids[i], &is_static ) );
        CHECK_OK( clv_space_get_motion( space, ids[i], &motion ) );
        clv_filter wanted = def->filters != NULL ? def->filters[i] : clv_default_filter();
        CHECK_EQUAL( data, def->user_data != NULL ? def->user_data[i] : 0 );
        CHECK( filter.category == wanted.category && filter.mask == wanted.mask &&
            filter.group == wanted.group );
        CHECK( def->margins == NULL || rule.fixed == def->margins[i] );
        CHECK( def->margin_rules == NULL || memcmp( &rule, &def->margin_rules[i], sizeof( rule ) ) == 0 );
        CHECK_EQUAL( is_static, def->is_static != NULL && def->is_static[i] );
        CHECK( motion.x == ( def->motions != NULL ? def->motions[i].x : 0 ) );
    }
}

static bool accept_some( const clv_space* space, clv_pair pair, void* user )
{
    (void)user;
    uint64_t value = 0;
    clv_space_get_user_data( space, clv_space_id_at( space, pair.b ), &value );
    return ( value + pair.a ) % 5 != 0;
}

static void play( test_variant variant, uint32_t bits )
{
    cargo all;
    clv_space_def def = clv_default_space_def();
    def.skip_static_pairs = true;
    def.events = bits % 3 == 0;
    def.sorted = bits % 5 == 0;
    def.filter = bits % 7 == 0 ? accept_some : NULL;
    def.margin_by_size = bits % 4 == 1 ? 0.1f : 0;
    clv_space* one = test_space_make( variant, &def );
    clv_space* other = test_space_make( variant, &def );
    test_random random = test_random_make( bits );
    clv_id ids[COUNT], same[COUNT];
    for ( uint32_t frame = 0; frame < 5; ++frame )
    {
        test_where.frame = frame;
        fill( &all, &random );
        clv_add_def with = def_of( &all, frame % 2 == 0 ? bits : bits >> 1 );
        uint32_t count = COUNT / ( 1 + frame );
        CHECK_OK( clv_space_add_with( one, &with, count, ids ) );
        check_carried( one, &with, count, ids );
        add_in_turn( other, &with, count, same );
        CHECK( memcmp( ids, same, count * sizeof( clv_id ) ) == 0 );
        for ( uint32_t again = 0; again < 2; ++again )
        {
            test_snapshot wanted = test_snapshot_take( other );
            test_snapshot_check_objects( &wanted, one );
            test_snapshot_free( &wanted );
            CHECK_OK( clv_space_update( one ) );
            CHECK_OK( clv_space_update( other ) );
            wanted = test_snapshot_take( other );
            test_snapshot_check( &wanted, one );
            test_snapshot_free( &wanted );
        }
        CHECK_OK( clv_space_remove( one, ids, count / 2 ) );
        CHECK_OK( clv_space_remove( other, ids, count / 2 ) );
    }
    clv_space_destroy( one );
    clv_space_destroy( other );
}

static void one_call_is_as_good_as_seven( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        bool is_usual = test_variant_is_usual( test_variant_at( i ) );
        for ( uint32_t bits = is_usual ? 0 : 63; bits < 64; bits += i == 0 ? 1 : 21 )
        {
            test_where.seed = bits;
            play( test_variant_at( i ), bits );
        }
    }
}

static void a_stream_without_ids_is_enough( void )
{
    cargo all;
    test_random random = test_random_make( 2 );
    fill( &all, &random );
    clv_space* space = test_space_make( test_variant_at( 0 ), NULL );
    clv_add_def with = def_of( &all, 1 );
    with.boxes = NULL;
    CHECK_OK( clv_space_add_with( space, &with, 0, NULL ) );
    with.stream = ( clv_box_stream ){ &all.boxes[0].lower.x, &all.boxes[0].upper.x, 2 * sizeof( clv_aabb ) };
    CHECK_OK( clv_space_add_with( space, &with, COUNT / 2, NULL ) );
    for ( uint32_t i = 0; i < COUNT / 2; ++i )
    {
        clv_aabb box;
        CHECK_OK( clv_space_get_box( space, clv_space_id_at( space, i ), &box ) );
        CHECK( memcmp( &box, &all.boxes[2 * i], sizeof( box ) ) == 0 );
        CHECK_EQUAL( clv_space_user_data( space ).values[i], all.user_data[i] );
    }
    with.stream.stride = 11;
    CHECK_RESULT( clv_space_add_with( space, &with, 2, NULL ), CLV_BAD_ARGUMENT );
    clv_space_destroy( space );
}

// ---- refused

static void check_refused( clv_space* space, const clv_add_def* with, clv_result code, uint32_t position )
{
    test_snapshot before = test_snapshot_take( space );
    clv_id ids[COUNT];
    memset( ids, 0x55, sizeof( ids ) );
    CHECK_RESULT( clv_space_add_with( space, with, COUNT, ids ), code );
    CHECK_EQUAL( clv_space_error( space ).position, position );
    CHECK( clv_id_is_null( clv_space_error( space ).id ) );
    CHECK_EQUAL( ids[0].index, 0x55555555u );
    test_snapshot_check( &before, space );
    test_snapshot_free( &before );
}

static void the_first_bad_entry_is_named_and_nothing_is_added( void )
{
    cargo all;
    test_random random = test_random_make( 3 );
    clv_space* space = test_space_make( test_variant_at( 0 ), NULL );
    fill( &all, &random );
    CHECK_OK( clv_space_add( space, all.boxes, COUNT, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    for ( uint32_t at = 0; at < COUNT; ++at )
    {
        test_where.frame = at;
        uint32_t after = at + 3 < COUNT ? at + 3 : COUNT - 1;
        fill( &all, &random );
        clv_add_def with = def_of( &all, 63 - 4 );
        all.motions[after].y = NAN;
        all.rules[at].by_speed = -1;
        check_refused( space, &with, CLV_BAD_ARGUMENT, at );
        fill( &all, &random );
        all.rules[after].fixed = INFINITY;
        all.motions[at].z = -INFINITY;
        check_refused( space, &with, CLV_BAD_ARGUMENT, at );
        with = def_of( &all, 63 - 8 );
        fill( &all, &random );
        all.margins[after] = NAN;
        all.boxes[at].lower.x = NAN;
        check_refused( space, &with, CLV_BAD_BOX, at );
        fill( &all, &random );
        all.margins[at] = -1;
        all.boxes[after].upper.y = -INFINITY;
        check_refused( space, &with, after > at ? CLV_BAD_ARGUMENT : CLV_BAD_BOX, at );
    }
    clv_space_destroy( space );
}

static void defs_that_cannot_be_meant_are_refused( void )
{
    cargo all;
    test_random random = test_random_make( 4 );
    fill( &all, &random );
    clv_space* space = test_space_make( test_variant_at( 0 ), NULL );
    clv_add_def with = def_of( &all, 63 );
    with.cookie ^= 1;
    check_refused( space, &with, CLV_BAD_DEF, UINT32_MAX );
    with = def_of( &all, 63 );
    with.size -= 1;
    check_refused( space, &with, CLV_BAD_DEF, UINT32_MAX );
    memset( &with, 0, sizeof( with ) );
    check_refused( space, &with, CLV_BAD_DEF, UINT32_MAX );
    with = def_of( &all, 4 );
    with.margin_rules = all.rules;
    check_refused( space, &with, CLV_BAD_DEF, UINT32_MAX );
    with = def_of( &all, 4 );
    with.stream.lower = &all.boxes[0].lower.x;
    check_refused( space, &with, CLV_BAD_DEF, UINT32_MAX );
    with = def_of( &all, 4 );
    CHECK_RESULT( clv_space_add_with( space, &with, UINT32_MAX, NULL ), CLV_TOO_MANY_OBJECTS );
    clv_space_destroy( space );
}

static void without_memory_nothing_is_added( void )
{
    cargo all;
    test_random random = test_random_make( 5 );
    fill( &all, &random );
    uint64_t refusals = 0;
    for ( uint64_t refusal = 1; refusal < 64; ++refusal )
    {
        test_where.frame = (uint32_t)refusal;
        heap hooks = { 0 };
        clv_space_def def = clv_default_space_def();
        def.allocator = heap_hooks( &hooks );
        def.events = true;
        clv_space* space = test_space_make( test_variant_at( 0 ), &def );
        CHECK_OK( clv_space_add( space, all.boxes, 3, NULL ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_OK( clv_space_remove_one( space, clv_space_id_at( space, 1 ) ) );
        clv_add_def with = def_of( &all, 63 - 4 );
        test_snapshot before = test_snapshot_take( space );
        hooks.refuse_from = hooks.allocate_count + refusal;
        hooks.refuse_count = 2; // the comfortable size and the exact one
        clv_result result = clv_space_add_with( space, &with, COUNT, NULL );
        refusals += result != CLV_OK;
        if ( result != CLV_OK )
        {
            CHECK_RESULT( result, CLV_OUT_OF_MEMORY );
            test_snapshot_check( &before, space );
            heap_heal( &hooks );
            CHECK_OK( clv_space_update( space ) ); // and it goes on
            CHECK_OK( clv_space_add_with( space, &with, COUNT, NULL ) );
        }
        heap_heal( &hooks );
        CHECK_EQUAL( clv_space_object_count( space ), 2 + COUNT );
        CHECK_OK( clv_space_update( space ) );
        test_snapshot_free( &before );
        clv_space_destroy( space );
        CHECK_EQUAL( hooks.bytes, 0 );
    }
    CHECK( refusals > 8 );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( one_call_is_as_good_as_seven ),
        TEST_CASE( a_stream_without_ids_is_enough ),
        TEST_CASE( the_first_bad_entry_is_named_and_nothing_is_added ),
        TEST_CASE( defs_that_cannot_be_meant_are_refused ),
        TEST_CASE( without_memory_nothing_is_added ),
    };
    return test_run( "add_def", cases, TEST_COUNT( cases ), argc, argv );
}
