// SPDX-License-Identifier: MIT
// Spaces of doubles: the pairs are those of brute force in double, wherever the world is and whatever it
// looks like.
#include "far/far_fit.h"
#include "far_crowd.h"
#include "heap.h"
#include "solid_only.h"
#include "space/space_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static clv_space_def double_def( void )
{
    clv_space_def def = clv_default_space_def();
    def.doubles = true;
    return def;
}

static clv_aabb64 box64( double x, double y, double z, double side )
{
    return ( clv_aabb64 ){ { x, y, z }, { x + side, y + side, z + side } };
}

// ---- a world that answers by brute force

enum
{
    MOST = 700
};

typedef struct wide_world
{
    clv_aabb64 boxes[MOST]; ///< by slot, as given
    double margins[MOST];
    clv_id ids[MOST];
    clv_filter filters[MOST];
    bool alive[MOST];
    uint32_t count; ///< of slots
    clv_pair pairs[MOST * ( MOST - 1 ) / 2];
    uint64_t pair_count;
    uint64_t touching_count;
} wide_world;

static bool may_meet( clv_filter a, clv_filter b )
{
    return a.group != 0 && a.group == b.group ? a.group > 0
                                              : ( a.category & b.mask ) != 0 && ( b.category & a.mask ) != 0;
}

static void find_all( wide_world* world )
{
    world->pair_count = world->touching_count = 0;
    for ( uint32_t a = 0; a < world->count; ++a )
    {
        for ( uint32_t b = a + 1; b < world->count; ++b )
        {
            bool touch = world->alive[a] && world->alive[b];
            for ( int axis = 0; axis < 3 && touch; ++axis )
            {
                double low_a = ( &world->boxes[a].lower.x )[axis] - world->margins[a];
                double low_b = ( &world->boxes[b].lower.x )[axis] - world->margins[b];
                double high_a = ( &world->boxes[a].upper.x )[axis] + world->margins[a];
                double high_b = ( &world->boxes[b].upper.x )[axis] + world->margins[b];
                touch = low_a <= high_b && low_b <= high_a;
            }
            world->touching_count += touch;
            if ( touch && may_meet( world->filters[a], world->filters[b] ) )
            {
                world->pairs[world->pair_count++] = ( clv_pair ){ a, b };
            }
        }
    }
}

static void judge( const wide_world* world, const clv_space* space )
{
    clv_pair_view view = clv_space_pairs( space );
    CHECK( view.valid );
    CHECK_EQUAL( view.count, world->pair_count );
    CHECK_EQUAL( test_set_hash( view.pairs, view.count ), test_set_hash( world->pairs, world->pair_count ) );
    CHECK_EQUAL( clv_space_stats( space ).candidate_count, world->touching_count );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        clv_aabb64 box = box64( 0, 0, 0, 0 );
        CHECK_RESULT(
            clv_space_get_box64( space, world->ids[i], &box ), world->alive[i] ? CLV_OK : CLV_BAD_ID );
        CHECK( !world->alive[i] || memcmp( &box, &world->boxes[i], sizeof( box ) ) == 0 );
    }
}

static void fill( wide_world* world, far_crowd_kind kind, uint32_t count, uint64_t seed )
{
    test_random random = test_random_make( seed );
    memset( world, 0, sizeof( *world ) );
    world->count = count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        world->boxes[i] = far_crowd_box( kind, i, count, &random );
        world->filters[i] = clv_default_filter();
        world->alive[i] = true;
    }
}

// ---- exact little cases

static void two_are_a_pair( clv_aabb64 a, clv_aabb64 b, bool expected )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space_def def = double_def();
        def.settings = test_small;
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        const clv_aabb64 boxes[2] = { a, b };
        CHECK_OK( clv_space_add64( space, boxes, 2, NULL ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, expected );
        clv_space_destroy( space );
    }
}

static void touching_at_a_billion_metres_is_a_pair_and_the_next_double_is_not( void )
{
    clv_aabb64 a = box64( 1e9, 1e9, -1e9, 1 ), b = box64( 1e9 + 1, 1e9, -1e9, 1 );
    two_are_a_pair( a, b, true );
    b.lower.x = nextafter( b.lower.x, INFINITY );
    two_are_a_pair( a, b, false );
    b = box64( 1e9 + 1, 1e9 + 1, -1e9 + 1, 1 ); // a corner
    two_are_a_pair( a, b, true );
    b.lower.z = nextafter( b.lower.z, INFINITY );
    two_are_a_pair( a, b, false );
}

static void the_ends_of_the_doubles_are_boxes_too( void )
{
    const clv_aabb64 all = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    clv_aabb64 most = { { DBL_MAX, DBL_MAX, DBL_MAX }, { DBL_MAX, DBL_MAX, DBL_MAX } };
    two_are_a_pair( all, all, true );
    two_are_a_pair( all, most, true );
    const clv_aabb64 beyond = { { INFINITY, 0, 0 }, { INFINITY, 1, 1 } };
    most.lower.y = most.lower.z = 0;
    two_are_a_pair( beyond, most, false );
    two_are_a_pair( beyond, beyond, true );
    clv_aabb64 least = box64( DBL_TRUE_MIN, 0, 0, 0 );
    two_are_a_pair( least, box64( 0, 0, 0, 0 ), false );
    two_are_a_pair( box64( -0.0, 0, 0, 0 ), box64( 0, 0, -0.0, 0 ), true );
}

static void margins_grow_in_double( void )
{
    clv_space_def def = double_def();
    def.margin = 0.25f;
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    clv_aabb64 boxes[2] = { box64( 1e9, 0, 0, 1 ), box64( 1e9 + 1.5, 0, 0, 1 ) };
    clv_id ids[2];
    CHECK_OK( clv_space_add64( space, boxes, 2, ids ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
    boxes[1].lower.x += 0x1p-20;
    CHECK_OK( clv_space_move64( space, ids, boxes, 2 ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
    const float margin = 0.25f + 0x1p-20f;
    CHECK_OK( clv_space_set_margin( space, ids, &margin, 1 ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
    clv_aabb64 given;
    CHECK_OK( clv_space_get_box64( space, ids[1], &given ) );
    CHECK( memcmp( &given, &boxes[1], sizeof( given ) ) == 0 );
    clv_space_destroy( space );
}

// ---- bad input

static void boxes_of_the_other_kind_are_refused( void )
{
    clv_space_def def = double_def();
    const clv_aabb narrow = test_cube( 0, 0, 0, 1 );
    const clv_aabb64 wide = box64( 0, 0, 0, 1 );
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    clv_id id = clv_null_id();
    CHECK_RESULT( clv_space_add( space, &narrow, 1, &id ), CLV_UNSUPPORTED );
    CHECK( clv_id_is_null( id ) );
    CHECK( strstr( clv_space_error( space ).text, "clv_space_add64" ) != NULL );
    CHECK_OK( clv_space_add64( space, &wide, 1, &id ) );
    CHECK_RESULT( clv_space_move( space, &id, &narrow, 1 ), CLV_UNSUPPORTED );
    clv_aabb box = narrow;
    CHECK_RESULT( clv_space_get_box( space, id, &box ), CLV_UNSUPPORTED );
    clv_space_destroy( space );
    space = test_space_make( test_variant_at( 0 ), NULL );
    CHECK_RESULT( clv_space_add64( space, &wide, 1, &id ), CLV_UNSUPPORTED );
    CHECK( strstr( clv_space_error( space ).text, "doubles" ) != NULL );
    CHECK_OK( clv_space_add( space, &narrow, 1, &id ) );
    CHECK_RESULT( clv_space_move64( space, &id, &wide, 1 ), CLV_UNSUPPORTED );
    clv_aabb64 seen = wide;
    CHECK_RESULT( clv_space_get_box64( space, id, &seen ), CLV_UNSUPPORTED );
    clv_space_destroy( space );
}

static void what_only_floats_have_is_refused( void )
{
    clv_space_def def = double_def();
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    const clv_aabb64 boxes[2] = { box64( 1e9, 0, 0, 1 ), box64( 1e9 + 1, 0, 0, 1 ) };
    clv_id ids[2];
    CHECK_OK( clv_space_add64( space, boxes, 2, ids ) );
    test_refuses_solid_calls( space, ids[0] );
    clv_space_destroy( space );
}

static void ids_and_words_of_pairs_go_with_doubles( void )
{
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space_def def = double_def();
        def.pair_data = def.events = true;
        clv_space* space = test_space_make( test_variant_at( i ), &def );
        const clv_aabb64 boxes[2] = { box64( 1e9, 0, 0, 1 ), box64( 1e9 + 1, 0, 0, 1 ) };
        clv_id ids[2];
        CHECK_OK( clv_space_add64( space, boxes, 2, ids ) );
        test_carries_ids_and_word( space, ids );
        clv_space_destroy( space );
    }
}

static void a_bad_box_or_id_is_named_and_nothing_changes( void )
{
    clv_space_def def = double_def();
    clv_space* space = test_space_make( test_variant_at( 0 ), &def );
    clv_aabb64 boxes[4] = { box64( 1e9, 0, 0, 1 ), box64( 0, 0, 0, 1 ), box64( 0, 0, 0, 1 ),
        box64( 5, 5, 5, 1 ) };
    clv_id ids[4];
    boxes[2].upper.y = NAN;
    CHECK_RESULT( clv_space_add64( space, boxes, 4, ids ), CLV_BAD_BOX );
    CHECK_EQUAL( clv_space_error( space ).position, 2 );
    CHECK( strstr( clv_space_error( space ).text, "lower.y" ) != NULL );
    CHECK_EQUAL( clv_space_object_count( space ), 0 );
    boxes[2].upper.y = 1;
    CHECK_OK( clv_space_add64( space, boxes, 4, ids ) );
    clv_aabb64 moved[4] = { box64( 7, 7, 7, 1 ), box64( 7, 7, 7, 1 ), box64( 7, 7, 7, -1 ),
        box64( 7, 7, 7, 1 ) };
    CHECK_RESULT( clv_space_move64( space, ids, moved, 4 ), CLV_BAD_BOX );
    CHECK_EQUAL( clv_space_error( space ).position, 2 );
    CHECK( clv_id_equals( clv_space_error( space ).id, ids[2] ) );
    moved[2] = moved[0];
    clv_id twice[4] = { ids[3], ids[1], ids[3], ids[0] };
    CHECK_RESULT( clv_space_move64( space, twice, moved, 4 ), CLV_DUPLICATE_ID );
    CHECK_EQUAL( clv_space_error( space ).position, 2 );
    for ( int i = 0; i < 4; ++i )
    {
        clv_aabb64 box;
        CHECK_OK( clv_space_get_box64( space, ids[i], &box ) );
        CHECK( memcmp( &box, &boxes[i], sizeof( box ) ) == 0 );
    }
    CHECK_OK( clv_space_move64( space, NULL, NULL, 0 ) );
    CHECK_OK( clv_space_add64( space, NULL, 0, NULL ) );
    clv_space_destroy( space );
}

// ---- worlds

// Some move, some stay, and once in a while all go somewhere else.
static void move_world(
    wide_world* world, far_crowd_kind kind, clv_space* space, uint32_t frame, test_random* random )
{
    clv_id ids[MOST];
    clv_aabb64 boxes[MOST];
    uint32_t count = 0;
    far_crowd_kind to = frame == 4 ? FAR_CROWD_SPOT : frame == 6 ? FAR_CROWD_TOWNS : kind;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        if ( world->alive[i] && ( frame == 4 || frame == 6 || test_random_chance( random, 40 ) ) )
        {
            world->boxes[i] = to == kind ? far_crowd_step( kind, world->boxes[i], random )
                                         : far_crowd_box( to, i, world->count, random );
            ids[count] = world->ids[i];
            boxes[count++] = world->boxes[i];
        }
    }
    CHECK_OK( clv_space_move64( space, ids, boxes, count ) );
}

static void change_members( wide_world* world, far_crowd_kind kind, clv_space* space, test_random* random )
{
    for ( int i = 0; i < 20; ++i )
    {
        uint32_t slot = test_random_below( random, world->count );
        if ( world->alive[slot] )
        {
            CHECK_OK( clv_space_remove_one( space, world->ids[slot] ) );
            world->alive[slot] = false;
        }
    }
    for ( int i = 0; i < 10; ++i )
    {
        clv_aabb64 box = far_crowd_box( kind, 7, world->count, random );
        clv_id id;
        CHECK_OK( clv_space_add64( space, &box, 1, &id ) );
        CHECK( id.index < world->count && !world->alive[id.index] );
        world->alive[id.index] = true;
        world->ids[id.index] = id;
        world->boxes[id.index] = box;
        world->margins[id.index] = (double)space->def.margin;
        world->filters[id.index] = clv_default_filter();
    }
}

static uint64_t run_world( far_crowd_kind kind, test_variant variant, bool carries, uint64_t seed )
{
    static wide_world world;
    fill( &world, kind, carries ? 200 : 260, seed );
    test_random random = test_random_make( seed + 1 );
    clv_space_def def = double_def();
    def.settings = test_settings_token( (uint32_t)seed );
    def.events = carries;
    clv_space* space = test_space_make( variant, &def );
    CHECK_OK( clv_space_add64( space, world.boxes, world.count, world.ids ) );
    for ( uint32_t i = 0; i < 20 && carries; ++i )
    {
        float margin = 0.25f * (float)i;
        clv_filter filter = { 1, UINT64_MAX, i % 3 == 0 ? -1 : i % 3 == 1 ? 2 : 0 };
        CHECK_OK( clv_space_set_margin( space, &world.ids[i], &margin, 1 ) );
        CHECK_OK( clv_space_set_filter( space, &world.ids[i], &filter, 1 ) );
        world.margins[i] = (double)margin;
        world.filters[i] = filter;
    }
    uint64_t order = 0;
    for ( uint32_t frame = 0; frame < 9; ++frame )
    {
        test_where.frame = frame;
        if ( frame == 3 )
        {
            change_members( &world, kind, space, &random );
        }
        else if ( frame > 0 && frame != 8 ) // in the last one nothing moves
        {
            move_world( &world, kind, space, frame, &random );
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

static void every_world_matches_brute_force_in_double( void )
{
    for ( uint64_t seed = 1; seed <= test_scaled( 1 ); ++seed )
    {
        for ( int kind = 0; kind < FAR_CROWD_KIND_COUNT; ++kind )
        {
            uint64_t order = 0;
            for ( uint32_t i = 0; i < test_variant_count(); ++i )
            {
                test_variant variant = test_variant_at( i );
                bool is_first = i == 0 || variant.method != test_variant_at( i - 1 ).method;
                test_where.seed = seed * 100 + (uint64_t)kind;
                uint64_t now = run_world( (far_crowd_kind)kind, variant, false, seed * 100 + (uint64_t)kind );
                CHECK_EQUAL( now, is_first ? now : order ); // on every instruction set, with all workers
                order = now;
            }
        }
    }
}

static void margins_filters_and_events_go_with_doubles( void )
{
    for ( int kind = 0; kind < FAR_CROWD_KIND_COUNT; ++kind )
    {
        for ( uint32_t i = 0; i < test_variant_count(); ++i )
        {
            if ( test_variant_is_usual( test_variant_at( i ) ) )
            {
                test_where.seed = (uint64_t)kind;
                run_world( (far_crowd_kind)kind, test_variant_at( i ), true, (uint64_t)kind );
            }
        }
    }
}

// A world that rests, as the floats see it: what moves by less than they tell apart is still seen.
static void steps_too_small_for_floats_begin_and_end_pairs( void )
{
    enum
    {
        ROW = 1000
    };
    static clv_aabb64 boxes[ROW];
    static clv_id ids[ROW];
    clv_space_def def = double_def();
    def.events = true;
    def.settings = "cleave.rest=1";
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    for ( int i = 0; i < ROW; ++i )
    {
        boxes[i] = box64( 1e9 + 1e5 * i, 0, 0, 1e5 );
        boxes[i].upper.x = nextafter( boxes[i].upper.x, 0 );
    }
    CHECK_OK( clv_space_add64( space, boxes, ROW, ids ) );
    for ( int frame = 0; frame < 12; ++frame )
    {
        bool touches = frame % 3 == 2;
        boxes[500].upper.x = touches ? boxes[501].lower.x : nextafter( boxes[501].lower.x, 0 );
        CHECK_OK( clv_space_move64( space, ids, boxes, ROW ) );
        CHECK_OK( clv_space_update( space ) );
        CHECK_EQUAL( clv_space_pairs( space ).count, touches );
        CHECK_EQUAL( clv_space_events( space ).begun_count, touches );
        CHECK_EQUAL( clv_space_events( space ).ended_count, frame > 0 && frame % 3 == 0 );
    }
    clv_space_destroy( space );
}

// ---- no cliffs: what is found in vain is a matter of the boxes' number, in every world and from the first
// update on

static void check_waste( const clv_space* space, uint32_t count, int kind, int frame )
{
    test_where.seed = (uint64_t)kind;
    test_where.frame = (uint32_t)frame;
    CHECK( space->in_vain_count <= 64 * ( count + clv_space_stats( space ).candidate_count ) );
}

static void few_false_pairs_in_any_world( void )
{
    enum
    {
        MANY = 20000
    };
    clv_aabb64* boxes = test_alloc( MANY, sizeof( clv_aabb64 ) );
    clv_id* ids = test_alloc( MANY, sizeof( clv_id ) );
    for ( int kind = 0; kind < FAR_CROWD_KIND_COUNT; ++kind )
    {
        if ( kind == FAR_CROWD_LATTICE || kind == FAR_CROWD_DUST || kind == FAR_CROWD_SAME ||
            kind == FAR_CROWD_ENDLESS || kind == FAR_CROWD_SPOT || kind == FAR_CROWD_TINY ||
            kind == FAR_CROWD_HUGE || kind == FAR_CROWD_DECADES )
        {
            continue; // all touch all
        }
        test_random random = test_random_make( (uint64_t)kind );
        clv_space_def def = double_def();
        clv_space* space = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        for ( uint32_t i = 0; i < MANY; ++i )
        {
            boxes[i] = far_crowd_box( FAR_CROWD_SPREAD, i, MANY, &random );
        }
        CHECK_OK( clv_space_add64( space, boxes, MANY, ids ) );
        CHECK_OK( clv_space_update( space ) );
        check_waste( space, MANY, kind, 0 );
        for ( int frame = 1; frame < 4; ++frame )
        {
            for ( uint32_t i = 0; i < MANY; ++i )
            {
                boxes[i] = frame == 1 ? far_crowd_box( (far_crowd_kind)kind, i, MANY, &random )
                                      : far_crowd_step( (far_crowd_kind)kind, boxes[i], &random );
            }
            CHECK_OK( clv_space_move64( space, ids, boxes, MANY ) );
            CHECK_OK( clv_space_update( space ) );
            check_waste( space, MANY, kind, frame );
        }
        clv_space_destroy( space );
    }
    free( ids );
    free( boxes );
}

// ---- the map alone

static int compare_doubles( const void* a, const void* b )
{
    double left = *(const double*)a, right = *(const double*)b;
    return ( left > right ) - ( left < right );
}

static void check_ascent( const far_map* map, const clv_aabb64* boxes, uint32_t count, test_random* random )
{
    static double values[4 * MOST];
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t n = 0;
        for ( uint32_t i = 0; i < count; ++i )
        {
            double lower = ( &boxes[i].lower.x )[axis], upper = ( &boxes[i].upper.x )[axis];
            values[n++] = lower;
            values[n++] = upper;
            values[n++] = nextafter( lower, INFINITY );
            values[n++] = far_random_between( random, -2, 2 ) * upper;
        }
        qsort( values, n, sizeof( double ), compare_doubles );
        float last = -INFINITY;
        for ( uint32_t i = 0; i < n; ++i )
        {
            float hint = i % 3 == 0 ? last : (float)test_random_below( random, 2000 ) - 1000;
            float now = clv_far_axis_at( &map->axes[axis], values[i], i % 7 == 0 ? NAN : hint );
            CHECK( now >= last );
            CHECK( isinf( now ) == isinf( values[i] ) );
            last = now;
        }
    }
}

// Many boxes at once are mapped as each face is alone.
static void check_boxes( const far_map* map, const wide_world* world )
{
    static clv_aabb mapped[MOST];
    memset( mapped, 0, sizeof( mapped ) );
    clv_far_map_boxes( map, world->boxes, mapped, world->count );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        for ( int k = 0; k < 6; ++k )
        {
            float alone = clv_far_axis_at( &map->axes[k % 3], ( &world->boxes[i].lower.x )[k], 0 );
            CHECK( ( &mapped[i].lower.x )[k] == alone );
        }
    }
}

static void many_boxes_are_mapped_as_each_face_alone( void )
{
    static wide_world world;
    for ( int kind = 0; kind < FAR_CROWD_KIND_COUNT; ++kind )
    {
        test_where.seed = (uint64_t)kind;
        fill( &world, (far_crowd_kind)kind, 500, 3 );
        base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
        far_map map = { 0 };
        far_crowd crowd = { world.boxes, NULL, world.count };
        check_boxes( &map, &world );
        CHECK( clv_far_map_set_cells( &map, &crowd, &memory ) );
        check_boxes( &map, &world );
        clv_far_map_free( &map, &memory );
    }
}

static void the_map_is_monotonic( void )
{
    static wide_world world;
    for ( int kind = 0; kind < FAR_CROWD_KIND_COUNT; ++kind )
    {
        test_where.seed = (uint64_t)kind;
        fill( &world, (far_crowd_kind)kind, 500, 3 );
        test_random random = test_random_make( 4 );
        base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
        far_map map = { 0 };
        far_crowd crowd = { world.boxes, NULL, world.count };
        check_ascent( &map, world.boxes, world.count, &random );
        CHECK( clv_far_map_set_cells( &map, &crowd, &memory ) );
        check_ascent( &map, world.boxes, world.count, &random );
        clv_far_map_set_origin(
            &map, world.boxes[0].lower.x > -INFINITY ? world.boxes[0].lower : ( clv_vec64 ){ 0 } );
        check_ascent( &map, world.boxes, world.count, &random );
        clv_far_map_free( &map, &memory );
        CHECK_EQUAL( memory.bytes, 0 );
    }
}

static void cells_hold_as_many_faces_as_they_should( void )
{
    static wide_world world;
    fill( &world, FAR_CROWD_PILES, 700, 5 );
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    far_map map = { 0 };
    far_crowd crowd = { world.boxes, NULL, world.count };
    CHECK( clv_far_map_set_cells( &map, &crowd, &memory ) );
    for ( int axis = 0; axis < 3; ++axis )
    {
        const far_axis* line = &map.axes[axis];
        CHECK_EQUAL( line->cell_count, ( 2 * 700 + FAR_FACES - 1 ) / FAR_FACES );
        for ( uint32_t cell = 0; cell < line->cell_count; ++cell )
        {
            uint32_t inside = 0;
            for ( uint32_t i = 0; i < world.count; ++i )
            {
                double lower = ( &world.boxes[i].lower.x )[axis], upper = ( &world.boxes[i].upper.x )[axis];
                inside += lower >= line->ends[cell] && lower < line->ends[cell + 1];
                inside += upper >= line->ends[cell] && upper < line->ends[cell + 1];
            }
            CHECK( inside <= FAR_FACES );
        }
    }
    clv_far_map_free( &map, &memory );
}

// ---- workers and memory

static void many_workers_take_and_map_the_same( void )
{
    enum
    {
        MANY = 40000
    };
    clv_aabb64* boxes = test_alloc( MANY, sizeof( clv_aabb64 ) );
    clv_id* ids = test_alloc( MANY, sizeof( clv_id ) );
    uint64_t expected = 0;
    for ( uint32_t workers = 1; workers <= 4; workers += 3 )
    {
        test_random random = test_random_make( 8 );
        clv_space_def def = double_def();
        def.worker_count = workers;
        def.events = true;
        clv_space* space = NULL;
        uint64_t hash = 0;
        CHECK_OK( clv_space_create( &def, &space ) );
        for ( uint32_t i = 0; i < MANY; ++i )
        {
            boxes[i] = far_crowd_box( FAR_CROWD_TOWNS, i, MANY, &random );
        }
        CHECK_OK( clv_space_add64( space, boxes, MANY, ids ) );
        for ( int frame = 0; frame < 4; ++frame )
        {
            for ( uint32_t i = 0; i < MANY && frame > 0; ++i )
            {
                boxes[i] = far_crowd_step( FAR_CROWD_TOWNS, boxes[i], &random );
            }
            CHECK_OK( clv_space_move64( space, ids, boxes, MANY ) );
            CHECK_OK( clv_space_update( space ) );
            clv_pair_view view = clv_space_pairs( space );
            CHECK( view.count > MANY / 8 );
            hash = test_mix( hash ^ test_order_hash( view.pairs, view.count ) );
        }
        CHECK( space->far.has_cells );
        expected = workers == 1 ? hash : expected;
        CHECK_EQUAL( hash, expected );
        clv_space_destroy( space );
    }
    free( ids );
    free( boxes );
}

static void a_steady_frame_allocates_nothing( void )
{
    static wide_world world;
    fill( &world, FAR_CROWD_TOWNS, 700, 9 );
    test_random random = test_random_make( 9 );
    clv_space_def def = double_def();
    def.settings = "cleave.rest=0"; // entering rest takes memory once
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add64( space, world.boxes, world.count, world.ids ) );
    uint64_t allocations = 0;
    for ( int frame = 0; frame < 12; ++frame )
    {
        for ( uint32_t i = 0; i < world.count; ++i )
        {
            world.boxes[i].lower.x += 0.001 * far_random_between( &random, 0, 1 );
        }
        CHECK_OK( clv_space_move64( space, world.ids, world.boxes, world.count ) );
        CHECK_OK( clv_space_update( space ) );
        allocations = frame == 5 ? clv_space_stats( space ).allocation_count : allocations;
    }
    CHECK_EQUAL( clv_space_stats( space ).allocation_count, allocations );
    clv_space_destroy( space );
}

static void without_memory_all_stays_as_it_was( void )
{
    static wide_world world;
    for ( uint64_t refuse = 1;; ++refuse )
    {
        heap hooks = { 0 };
        clv_space_def def = double_def();
        def.allocator = heap_hooks( &hooks );
        def.events = true;
        clv_space* space = NULL;
        fill( &world, FAR_CROWD_TOWNS, 500, 2 );
        CHECK_OK( clv_space_create( &def, &space ) );
        hooks.refuse_from = hooks.allocate_count + refuse;
        hooks.refuse_count = 1;
        const float margin = 0.5f;
        test_where.frame = (uint32_t)refuse;
        clv_result added = clv_space_add64( space, world.boxes, world.count, world.ids );
        CHECK( added == CLV_OK || clv_space_object_count( space ) == 0 );
        added = added == CLV_OK ? added : clv_space_add64( space, world.boxes, world.count, world.ids );
        CHECK_OK( added );
        clv_result set = clv_space_set_margin( space, world.ids, &margin, 1 );
        set = set == CLV_OK ? set : clv_space_set_margin( space, world.ids, &margin, 1 );
        CHECK_OK( set );
        world.margins[0] = 0.5;
        clv_result updated = clv_space_update( space );
        CHECK( updated == CLV_OK || ( updated == CLV_OUT_OF_MEMORY && !clv_space_pairs( space ).valid ) );
        updated = updated == CLV_OK ? updated : clv_space_update( space );
        CHECK_OK( updated );
        find_all( &world );
        judge( &world, space );
        CHECK_EQUAL( clv_space_stats( space ).memory_bytes, hooks.bytes );
        heap_heal( &hooks );
        CHECK_OK( clv_space_shrink( space ) );
        CHECK_OK( clv_space_update( space ) );
        judge( &world, space );
        clv_space_destroy( space );
        CHECK_EQUAL( hooks.bytes, 0 );
        if ( hooks.refused_count == 0 )
        {
            CHECK( refuse > 8 );
            return;
        }
    }
}

static bool count_visited( const clv_pair* pairs, size_t count, void* user )
{
    *(uint64_t*)user += test_set_hash( pairs, count );
    return true;
}

static void visits_and_limits_count_pairs_in_double( void )
{
    static wide_world world;
    fill( &world, FAR_CROWD_TOWNS, 600, 12 );
    find_all( &world );
    for ( uint64_t limit = world.pair_count - 1; limit <= world.pair_count; ++limit )
    {
        clv_space_def def = double_def();
        def.max_pairs = limit;
        clv_space* space = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        CHECK_OK( clv_space_add64( space, world.boxes, world.count, world.ids ) );
        clv_result expected = limit < world.pair_count ? CLV_TOO_MANY_PAIRS : CLV_OK;
        CHECK_RESULT( clv_space_update( space ), expected );
        uint64_t hash = 0;
        CHECK_RESULT( clv_space_visit( space, count_visited, &hash ), expected );
        CHECK( expected != CLV_OK || hash == test_set_hash( world.pairs, world.pair_count ) );
        clv_space_destroy( space );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( touching_at_a_billion_metres_is_a_pair_and_the_next_double_is_not ),
        TEST_CASE( the_ends_of_the_doubles_are_boxes_too ),
        TEST_CASE( margins_grow_in_double ),
        TEST_CASE( boxes_of_the_other_kind_are_refused ),
        TEST_CASE( what_only_floats_have_is_refused ),
        TEST_CASE( ids_and_words_of_pairs_go_with_doubles ),
        TEST_CASE( a_bad_box_or_id_is_named_and_nothing_changes ),
        TEST_CASE( many_boxes_are_mapped_as_each_face_alone ),
        TEST_CASE( the_map_is_monotonic ),
        TEST_CASE( cells_hold_as_many_faces_as_they_should ),
        TEST_CASE( every_world_matches_brute_force_in_double ),
        TEST_CASE( margins_filters_and_events_go_with_doubles ),
        TEST_CASE( steps_too_small_for_floats_begin_and_end_pairs ),
        TEST_CASE( few_false_pairs_in_any_world ),
        TEST_CASE( many_workers_take_and_map_the_same ),
        TEST_CASE( a_steady_frame_allocates_nothing ),
        TEST_CASE( without_memory_all_stays_as_it_was ),
        TEST_CASE( visits_and_limits_count_pairs_in_double ),
    };
    return test_run( "double", cases, TEST_COUNT( cases ), argc, argv );
}
