// SPDX-License-Identifier: MIT
// Spaces of two axes: the pairs are those of brute force in the plane, and nothing is left of a third axis.
#include "heap.h"
#include "solid_only.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 600
};

typedef struct plane
{
    clv_aabb2 boxes[MOST]; ///< by slot
    float margins[MOST];
    clv_id ids[MOST];
    bool alive[MOST];
    uint32_t count;
    clv_pair pairs[MOST * ( MOST - 1 ) / 2];
    uint64_t pair_count;
} plane;

static clv_space_def flat_def( void )
{
    clv_space_def def = clv_default_space_def();
    def.flat = true;
    return def;
}

static clv_aabb2 square( float x, float y, float side )
{
    return ( clv_aabb2 ){ { x, y }, { x + side, y + side } };
}

static void find_all( plane* world )
{
    world->pair_count = 0;
    for ( uint32_t a = 0; a < world->count; ++a )
    {
        for ( uint32_t b = a + 1; b < world->count; ++b )
        {
            clv_aabb2 p = world->boxes[a], q = world->boxes[b];
            float m = world->margins[a], n = world->margins[b];
            bool touch = world->alive[a] && world->alive[b] && p.lower.x - m <= q.upper.x + n &&
                q.lower.x - n <= p.upper.x + m && p.lower.y - m <= q.upper.y + n &&
                q.lower.y - n <= p.upper.y + m;
            world->pairs[world->pair_count] = ( clv_pair ){ a, b };
            world->pair_count += touch;
        }
    }
}

static void judge( const plane* world, const clv_space* space )
{
    clv_pair_view view = clv_space_pairs( space );
    CHECK( view.valid );
    CHECK_EQUAL( view.count, world->pair_count );
    CHECK_EQUAL( test_set_hash( view.pairs, view.count ), test_set_hash( world->pairs, world->pair_count ) );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        clv_aabb2 box = square( 0, 0, 0 );
        CHECK_RESULT(
            clv_space_get_box2( space, world->ids[i], &box ), world->alive[i] ? CLV_OK : CLV_BAD_ID );
        CHECK( !world->alive[i] || memcmp( &box, &world->boxes[i], sizeof( box ) ) == 0 );
    }
}

static clv_aabb2 crowd_box2( test_crowd crowd, test_random* random )
{
    clv_aabb box = test_crowd_box( crowd, MOST / 4, random );
    return ( clv_aabb2 ){ { box.lower.x, box.lower.y }, { box.upper.x, box.upper.y } };
}

static clv_aabb2 crowd_step2( test_crowd crowd, clv_aabb2 box, test_random* random )
{
    clv_aabb up = { { box.lower.x, box.lower.y, 0 }, { box.upper.x, box.upper.y, 1 } };
    up = test_crowd_step( crowd, up, random );
    return ( clv_aabb2 ){ { up.lower.x, up.lower.y }, { up.upper.x, up.upper.y } };
}

static void fill( plane* world, test_crowd crowd, uint32_t count, uint64_t seed )
{
    test_random random = test_random_make( seed );
    memset( world, 0, sizeof( *world ) );
    world->count = count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        world->boxes[i] = crowd_box2( crowd, &random );
        world->alive[i] = true;
    }
}

static void touching_edges_and_corners_are_pairs( void )
{
    const clv_aabb2 boxes[4] = { square( 0, 0, 1 ), square( 1, 0, 1 ), square( 2, 1, 1 ),
        square( 3.5f, 3.5f, 0 ) };
    static const clv_pair expected[2] = { { 0, 1 }, { 1, 2 } };
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space_def def = flat_def();
        def.sorted = true;
        def.settings = test_small;
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        CHECK_OK( clv_space_add2( space, boxes, 4, NULL ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        CHECK_EQUAL( view.count, 2 );
        CHECK( memcmp( view.pairs, expected, sizeof( expected ) ) == 0 );
        clv_space_destroy( space );
    }
}

static uint64_t run_plane( test_crowd crowd, test_variant variant, uint64_t seed )
{
    static plane world;
    fill( &world, crowd, 260, seed );
    test_random random = test_random_make( seed + 1 );
    clv_space_def def = flat_def();
    def.settings = test_settings_token( (uint32_t)seed );
    clv_space* space = test_space_make( variant, &def );
    CHECK_OK( clv_space_add2( space, world.boxes, world.count, world.ids ) );
    uint64_t order = 0;
    for ( uint32_t frame = 0; frame < 6; ++frame )
    {
        test_where.frame = frame;
        for ( uint32_t i = 0; i < world.count && frame > 0; ++i )
        {
            if ( world.alive[i] && test_random_chance( &random, 50 ) )
            {
                world.boxes[i] = crowd_step2( crowd, world.boxes[i], &random );
                CHECK_OK( clv_space_move2( space, &world.ids[i], &world.boxes[i], 1 ) );
            }
        }
        for ( uint32_t i = 0; i < 20 && frame == 2; ++i )
        {
            CHECK_OK( clv_space_remove_one( space, world.ids[i] ) );
            world.alive[i] = false;
        }
        for ( uint32_t i = 30; i < 60 && frame == 4; ++i )
        {
            world.margins[i] = 0.5f;
            CHECK_OK( clv_space_set_margin( space, &world.ids[i], &world.margins[i], 1 ) );
        }
        CHECK_OK( clv_space_update( space ) );
        find_all( &world );
        judge( &world, space );
        clv_pair_view view = clv_space_pairs( space );
        order = test_mix( order ^ test_order_hash( view.pairs, view.count ) );
    }
    clv_space_destroy( space );
    return order;
}

static void every_plane_matches_brute_force( void )
{
    for ( uint64_t seed = 1; seed <= test_scaled( 1 ); ++seed )
    {
        for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
        {
            uint64_t order = 0;
            for ( uint32_t i = 0; i < test_variant_count(); ++i )
            {
                test_variant variant = test_variant_at( i );
                bool is_first = i == 0 || variant.method != test_variant_at( i - 1 ).method;
                test_where.seed = seed * 100 + (uint64_t)crowd;
                uint64_t now = run_plane( (test_crowd)crowd, variant, seed * 100 + (uint64_t)crowd );
                CHECK_EQUAL( now, is_first ? now : order );
                order = now;
            }
        }
    }
}

static void many_boxes_move_by_workers( void )
{
    enum
    {
        MANY = 40000
    };
    clv_aabb2* boxes = test_alloc( MANY, sizeof( clv_aabb2 ) );
    clv_id* ids = test_alloc( MANY, sizeof( clv_id ) );
    uint64_t expected = 0;
    for ( uint32_t workers = 1; workers <= 4; workers += 3 )
    {
        for ( int isa = 1; isa < CLV_ISA_COUNT; ++isa )
        {
            if ( !clv_isa_is_supported( (clv_isa)isa ) )
            {
                continue;
            }
            test_random random = test_random_make( 8 );
            clv_space_def def = flat_def();
            def.worker_count = workers;
            def.isa = (clv_isa)isa;
            clv_space* space = NULL;
            uint64_t hash = 0;
            CHECK_OK( clv_space_create( &def, &space ) );
            for ( uint32_t i = 0; i < MANY; ++i )
            {
                boxes[i] = square(
                    test_random_between( &random, 0, 400 ), test_random_between( &random, 0, 400 ), 1 );
            }
            CHECK_OK( clv_space_add2( space, boxes, MANY, ids ) );
            for ( int frame = 0; frame < 3; ++frame )
            {
                for ( uint32_t i = 0; i < MANY && frame > 0; ++i )
                {
                    boxes[i] = square( boxes[i].lower.x + 0.25f, boxes[i].lower.y, 1 );
                }
                CHECK_OK( clv_space_move2( space, ids, boxes, MANY ) );
                CHECK_OK( clv_space_update( space ) );
                clv_pair_view view = clv_space_pairs( space );
                CHECK( view.count > MANY / 4 );
                hash = test_mix( hash ^ test_order_hash( view.pairs, view.count ) );
            }
            expected = expected == 0 ? hash : expected;
            CHECK_EQUAL( hash, expected );
            clv_space_destroy( space );
        }
    }
    free( ids );
    free( boxes );
}

// In a world at rest one box grows by one face, and then by another, until it touches the next.
static void one_face_alone_is_a_motion( void )
{
    enum
    {
        SIDE = 64,
        COUNT = SIDE * SIDE,
        CALM = 12,
        GROWN = SIDE * SIDE / 2 + SIDE / 2
    };
    clv_space_def def = flat_def();
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    clv_aabb2* boxes = test_alloc( COUNT, sizeof( clv_aabb2 ) );
    clv_id* ids = test_alloc( COUNT, sizeof( clv_id ) );
    for ( int i = 0; i < COUNT; ++i )
    {
        boxes[i] = square( (float)( i % SIDE ) * 2, (float)( i / SIDE ) * 2, 1 );
    }
    CHECK_OK( clv_space_add2( space, boxes, COUNT, ids ) );
    const clv_aabb2 before = boxes[GROWN];
    for ( int face = 0; face < 4; ++face )
    {
        for ( int frame = 0; frame <= CALM; ++frame )
        {
            boxes[GROWN] = before;
            boxes[GROWN].lower.x -= frame == CALM && face == 0 ? 1 : 0;
            boxes[GROWN].lower.y -= frame == CALM && face == 1 ? 1 : 0;
            boxes[GROWN].upper.x += frame == CALM && face == 2 ? 1 : 0;
            boxes[GROWN].upper.y += frame == CALM && face == 3 ? 1 : 0;
            CHECK_OK( clv_space_move2( space, ids, boxes, COUNT ) );
            CHECK_OK( clv_space_update( space ) );
            CHECK_EQUAL( clv_space_pairs( space ).count, frame == CALM ? 1 : 0 );
        }
    }
    clv_space_destroy( space );
    free( ids );
    free( boxes );
}

// Whichever face it is, of whichever box: nothing moves.
static void a_bad_face_among_moved_boxes_is_named( void )
{
    clv_space_def def = flat_def();
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    const clv_aabb2 boxes[3] = { square( 0, 0, 1 ), square( 5, 5, 1 ), square( 9, 9, 1 ) };
    clv_id ids[3];
    CHECK_OK( clv_space_add2( space, boxes, 3, ids ) );
    for ( uint32_t at = 0; at < 3 * 4 * 2; ++at )
    {
        uint32_t place = at % 3, face = at / 3 % 4, axis = face % 2;
        clv_aabb2 moved[3] = { square( 1, 1, 1 ), square( 2, 2, 1 ), square( 3, 3, 1 ) };
        float* faces[4] = { &moved[place].lower.x, &moved[place].lower.y, &moved[place].upper.x,
            &moved[place].upper.y };
        *faces[face] = at >= 12 ? NAN : *faces[( face + 2 ) % 4] + ( face < 2 ? 0.5f : -0.5f );
        CHECK_RESULT( clv_space_move2( space, ids, moved, 3 ), CLV_BAD_BOX );
        CHECK( clv_id_equals( clv_space_error( space ).id, ids[place] ) );
        CHECK( strstr( clv_space_error( space ).text, axis == 0 ? "er.x" : "er.y" ) != NULL );
        for ( int i = 0; i < 3; ++i )
        {
            clv_aabb2 seen;
            CHECK_OK( clv_space_get_box2( space, ids[i], &seen ) );
            CHECK( memcmp( &seen, &boxes[i], sizeof( seen ) ) == 0 );
        }
    }
    clv_space_destroy( space );
}

static void boxes_of_another_kind_and_bad_ones_are_refused( void )
{
    clv_space_def def = flat_def();
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    clv_aabb2 boxes[3] = { square( 0, 0, 1 ), square( 5, 5, 1 ), square( 9, 9, 1 ) };
    const clv_aabb solid = test_cube( 0, 0, 0, 1 );
    const clv_aabb64 wide = { { 0, 0, 0 }, { 1, 1, 1 } };
    clv_id ids[3];
    CHECK_RESULT( clv_space_add( space, &solid, 1, NULL ), CLV_UNSUPPORTED );
    CHECK( strstr( clv_space_error( space ).text, "clv_space_add2" ) != NULL );
    CHECK_RESULT( clv_space_add64( space, &wide, 1, NULL ), CLV_UNSUPPORTED );
    boxes[1].lower.y = NAN;
    CHECK_RESULT( clv_space_add2( space, boxes, 3, ids ), CLV_BAD_BOX );
    CHECK_EQUAL( clv_space_error( space ).position, 1 );
    CHECK( strstr( clv_space_error( space ).text, "lower.y" ) != NULL );
    boxes[1].lower.y = 5;
    CHECK_OK( clv_space_add2( space, boxes, 3, ids ) );
    clv_aabb2 moved[3] = { square( 1, 1, 1 ), square( 1, 1, 1 ), square( 1, 1, -1 ) };
    CHECK_RESULT( clv_space_move2( space, ids, moved, 3 ), CLV_BAD_BOX );
    CHECK( clv_id_equals( clv_space_error( space ).id, ids[2] ) );
    CHECK( strstr( clv_space_error( space ).text, "lower.x" ) != NULL );
    clv_aabb2 seen;
    CHECK_OK( clv_space_get_box2( space, ids[0], &seen ) );
    CHECK( memcmp( &seen, &boxes[0], sizeof( seen ) ) == 0 );
    clv_aabb solid_seen;
    CHECK_RESULT( clv_space_get_box( space, ids[0], &solid_seen ), CLV_UNSUPPORTED );
    CHECK_RESULT( clv_space_move( space, ids, &solid, 1 ), CLV_UNSUPPORTED );
    CHECK_OK( clv_space_add2( space, NULL, 0, NULL ) );
    CHECK_OK( clv_space_move2( space, NULL, NULL, 0 ) );
    clv_space_destroy( space );
    space = test_space_make( test_variant_at( 0 ), NULL );
    CHECK_RESULT( clv_space_add2( space, boxes, 1, NULL ), CLV_UNSUPPORTED );
    CHECK_OK( clv_space_add( space, &solid, 1, ids ) );
    CHECK_RESULT( clv_space_move2( space, ids, boxes, 1 ), CLV_UNSUPPORTED );
    CHECK_RESULT( clv_space_get_box2( space, ids[0], &seen ), CLV_UNSUPPORTED );
    clv_space_destroy( space );
    def.doubles = true;
    space = NULL;
    CHECK_RESULT( clv_space_create( &def, &space ), CLV_BAD_DEF );
    CHECK( space == NULL );
}

static void what_only_solid_worlds_have_is_refused( void )
{
    clv_space_def def = flat_def();
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    const clv_aabb2 boxes[2] = { square( 0, 0, 1 ), square( 1, 0, 1 ) };
    clv_id ids[2];
    CHECK_OK( clv_space_add2( space, boxes, 2, ids ) );
    test_refuses_solid_calls( space, ids[0] );
    clv_space_destroy( space );
}

static void ids_and_words_of_pairs_go_with_two_axes( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space_def def = flat_def();
        def.pair_data = def.events = true;
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        const clv_aabb2 boxes[2] = { square( 0, 0, 1 ), square( 1, 0, 1 ) };
        clv_id ids[2];
        CHECK_OK( clv_space_add2( space, boxes, 2, ids ) );
        test_carries_ids_and_word( space, ids );
        clv_space_destroy( space );
    }
}

static void a_flat_origin_shifts_on_two_axes( void )
{
    static plane world;
    fill( &world, TEST_CROWD_LATTICE, 500, 4 );
    clv_space_def def = flat_def();
    def.margin = 0.5f;
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    CHECK_OK( clv_space_add2( space, world.boxes, world.count, world.ids ) );
    const clv_vec64 origin = { 100, -200, 1e30 };
    for ( uint32_t i = 0; i < world.count; ++i )
    {
        world.margins[i] = 0.5f;
        world.boxes[i].lower.x -= 100, world.boxes[i].upper.x -= 100;
        world.boxes[i].lower.y += 200, world.boxes[i].upper.y += 200;
    }
    CHECK_OK( clv_space_shift_origin( space, origin ) );
    CHECK_OK( clv_space_update( space ) );
    find_all( &world );
    judge( &world, space );
    clv_space_destroy( space );
}

static void without_memory_all_stays_as_it_was( void )
{
    static plane world;
    for ( uint64_t refuse = 1;; ++refuse )
    {
        heap hooks = { 0 };
        clv_space_def def = flat_def();
        def.allocator = heap_hooks( &hooks );
        clv_space* space = NULL;
        fill( &world, TEST_CROWD_SPREAD, 400, 2 );
        CHECK_OK( clv_space_create( &def, &space ) );
        hooks.refuse_from = hooks.allocate_count + refuse;
        hooks.refuse_count = 1;
        clv_result added = clv_space_add2( space, world.boxes, world.count, world.ids );
        CHECK( added == CLV_OK || clv_space_object_count( space ) == 0 );
        added = added == CLV_OK ? added : clv_space_add2( space, world.boxes, world.count, world.ids );
        CHECK_OK( added );
        clv_result updated = clv_space_update( space );
        CHECK( updated == CLV_OK || ( updated == CLV_OUT_OF_MEMORY && !clv_space_pairs( space ).valid ) );
        updated = updated == CLV_OK ? updated : clv_space_update( space );
        CHECK_OK( updated );
        find_all( &world );
        judge( &world, space );
        clv_space_destroy( space );
        CHECK_EQUAL( hooks.bytes, 0 );
        if ( hooks.refused_count == 0 )
        {
            CHECK( refuse > 4 );
            return;
        }
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( touching_edges_and_corners_are_pairs ),
        TEST_CASE( every_plane_matches_brute_force ),
        TEST_CASE( many_boxes_move_by_workers ),
        TEST_CASE( one_face_alone_is_a_motion ),
        TEST_CASE( a_bad_face_among_moved_boxes_is_named ),
        TEST_CASE( boxes_of_another_kind_and_bad_ones_are_refused ),
        TEST_CASE( what_only_solid_worlds_have_is_refused ),
        TEST_CASE( ids_and_words_of_pairs_go_with_two_axes ),
        TEST_CASE( a_flat_origin_shifts_on_two_axes ),
        TEST_CASE( without_memory_all_stays_as_it_was ),
    };
    return test_run( "flat", cases, TEST_COUNT( cases ), argc, argv );
}
