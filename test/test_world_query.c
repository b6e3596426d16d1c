// SPDX-License-Identifier: MIT
// Questions to flat spaces and to spaces of doubles against brute force: every kind, every crowd, at 10^9
// metres and at the ends of the doubles, with filters, margins and objects that come and go in between; and
// the little cases one by one.
#include "far_crowd.h"
#include "heap.h"
#include "judge_answer.h"
#include "query_lists.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t s_sizes[] = { 0, 1, 9, 65, 300 };

static void check_seed( bool is_flat, clv_isa isa, int crowd, uint32_t size, uint64_t seed )
{
    test_where.seed = seed;
    judge_world* world = judge_world_make( is_flat, isa, 1, crowd, size, seed );
    CHECK_OK( clv_space_update( world->space ) );
    judge_world_see( world, true );
    judge_answer_check( world, 10 );
    judge_world_free( world );
}

static void check_crowd( bool is_flat, int crowd, uint32_t size )
{
    for ( uint32_t i = 0; i < test_scaled( 1 ); ++i )
    {
        for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
        {
            if ( is_flat ? isa == (int)clv_isa_best() : clv_isa_is_supported( (clv_isa)isa ) )
            {
                check_seed( is_flat, (clv_isa)isa, crowd, size, (uint64_t)crowd * 1000 + size + i * 100000 );
            }
        }
    }
}

// A cast that meets one at 0 and one at a time that only rounds to 0, of a lower slot: these are equal as
// floats.
static void times_that_round_to_nothing_are_equal( void )
{
    check_seed( true, CLV_ISA_AUTO, TEST_CROWD_TINY, 65, 1006065 );
}

static void every_flat_query_is_brute_force( void )
{
    for ( uint32_t i = 0; i < TEST_CROWD_COUNT * TEST_COUNT( s_sizes ); ++i )
    {
        check_crowd( true, (int)( i / TEST_COUNT( s_sizes ) ), s_sizes[i % TEST_COUNT( s_sizes )] );
    }
}

static void every_query_in_double_is_brute_force( void )
{
    for ( uint32_t i = 0; i < FAR_CROWD_KIND_COUNT * TEST_COUNT( s_sizes ); ++i )
    {
        check_crowd( false, (int)( i / TEST_COUNT( s_sizes ) ), s_sizes[i % TEST_COUNT( s_sizes )] );
    }
}

// Frames with everything: what was changed since the update is seen as it was.
static void live( bool is_flat, uint32_t workers, int crowd, uint32_t count, uint32_t queries )
{
    test_where.seed = (uint64_t)crowd;
    judge_world* world =
        judge_world_make( is_flat, CLV_ISA_AUTO, workers, crowd, count, 77 + (uint64_t)crowd );
    CHECK_OK( clv_space_update( world->space ) );
    judge_world_see( world, true );
    judge_answer_check( world, 2 );
    for ( uint32_t frame = 0; frame < 6; ++frame )
    {
        test_where.frame = frame;
        if ( frame == 2 )
        {
            judge_world_dress( world );
        }
        if ( frame % 2 == 1 )
        {
            judge_world_push( world );
        }
        judge_world_change( world );
        judge_answer_check( world, 2 );
        bool is_update = frame % 3 != 1;
        CHECK_OK( is_update ? clv_space_update( world->space ) : clv_space_refresh( world->space ) );
        judge_world_see( world, is_update );
        if ( is_update )
        {
            judge_world_check_pairs( world );
        }
        judge_answer_check( world, queries );
    }
    judge_world_free( world );
}

static void changes_are_seen_at_the_update( void )
{
    for ( int crowd = 0; crowd < TEST_CROWD_COUNT; ++crowd )
    {
        live( true, 1, crowd, 200, 6 );
    }
    for ( int crowd = 0; crowd < FAR_CROWD_KIND_COUNT; ++crowd )
    {
        live( false, 1, crowd, 200, 6 );
    }
}

static void workers_give_the_same_answers( void )
{
    live( true, 3, TEST_CROWD_MIXED, 120, 260 );
    live( false, 3, FAR_CROWD_TOWNS, 120, 260 );
}

// ---- little cases

static clv_space* make_space64( const clv_aabb64* boxes, uint32_t count, clv_id* ids )
{
    clv_space_def def = clv_default_space_def();
    def.doubles = true;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add64( space, boxes, count, ids ) );
    return space;
}

static clv_space* make_space2( const clv_aabb2* boxes, uint32_t count, clv_id* ids )
{
    clv_space_def def = clv_default_space_def();
    def.flat = true;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add2( space, boxes, count, ids ) );
    return space;
}

static clv_aabb64 cube64( double x, double side )
{
    return ( clv_aabb64 ){ { x, 0, 0 }, { x + side, side, side } };
}

static void neighbouring_doubles_at_a_billion_metres_are_told_apart( void )
{
    const double far = 1e9, step = nextafter( 1e9, 2e9 ) - 1e9;
    const clv_aabb64 boxes[3] = { cube64( far, 1 ), cube64( far + 1 + step, 1 ), cube64( -far, 1 ) };
    clv_space* space = make_space64( boxes, 3, NULL );
    CHECK_OK( clv_space_refresh( space ) );
    const clv_aabb64 between = { { far + 1, 0, 0 }, { far + 1, 1, 1 } };
    clv_queries64 overlap = clv_query_boxes64( &between, 1 );
    clv_hit64 hits[3];
    clv_query_lists64 lists = { NULL, hits, 3, 0, 0 };
    CHECK_OK( clv_space_query_all64( space, &overlap, &lists ) );
    CHECK_EQUAL( lists.count, 1 );
    CHECK_EQUAL( hits[0].index, 0 );
    const clv_ray64 ray = { { far + 1 + step / 2, 0.5, 0.5 }, { 1, 0, 0 }, INFINITY };
    const clv_ray64 back = { { far + 5, 0.5, 0.5 }, { -1, 0, 0 }, INFINITY };
    clv_queries64 rays = clv_query_rays64( &ray, 1 );
    CHECK_OK( clv_space_query_closest64( space, &rays, hits, NULL ) );
    CHECK( hits[0].index == 0 && hits[0].t == 0 ); // half a step is no step
    rays = clv_query_rays64( &back, 1 );
    CHECK_OK( clv_space_query_closest64( space, &rays, hits, NULL ) );
    CHECK( hits[0].index == 1 && hits[0].t == 5 - ( 2 + step ) );
    const clv_vec64 middle = { 0, 0.5, 0.5 };
    clv_queries64 points = clv_query_points64( &middle, 1 );
    CHECK_OK( clv_space_query_nearest64( space, &points, 3, INFINITY, hits, NULL ) );
    CHECK( hits[0].index == 2 && hits[0].t == far - 1 );
    CHECK( hits[1].index == 0 && hits[1].t == far );
    CHECK( hits[2].index == 1 && hits[2].t == far + 1 + step );
    clv_space_destroy( space );
}

static void lists_of_another_kind_are_refused( void )
{
    const clv_aabb64 wide = cube64( 0, 1 );
    const clv_aabb2 flat = { { 0, 0 }, { 1, 1 } };
    const clv_aabb solid = test_cube( 0, 0, 0, 1 );
    clv_queries lists[3] = { clv_query_boxes( &solid, 1 ), clv_query_boxes2( &flat, 1 ),
        query_list_of( CLV_QUERY_BOX64, &wide, 1 ) };
    clv_space_def def = clv_default_space_def();
    clv_space* spaces[3] = { NULL, make_space2( &flat, 1, NULL ), make_space64( &wide, 1, NULL ) };
    CHECK_OK( clv_space_create( &def, &spaces[0] ) );
    CHECK_OK( clv_space_add( spaces[0], &solid, 1, NULL ) );
    for ( int i = 0; i < 9; ++i )
    {
        clv_space* space = spaces[i / 3];
        clv_queries* list = &lists[i % 3];
        CHECK_OK( clv_space_update( space ) );
        clv_hit hit = { 77, 0 };
        clv_hit64 hit64 = { 77, 0 };
        clv_result narrow = i == 0 || i == 4 ? CLV_OK : CLV_UNSUPPORTED;
        clv_result broad = i == 8 ? CLV_OK : CLV_UNSUPPORTED;
        CHECK_RESULT( clv_space_query_any( space, list, &hit, NULL ), narrow );
        CHECK_EQUAL( hit.index, narrow == CLV_OK ? 0 : 77 );
        const clv_queries64 list64 = query_list_as64( list );
        CHECK_RESULT( clv_space_query_any64( space, &list64, &hit64, NULL ), broad );
        CHECK_EQUAL( hit64.index, broad == CLV_OK ? 0 : 77 );
        clv_pair pair;
        uint64_t count = 9;
        CHECK_RESULT( clv_space_query_pairs( space, spaces[i % 3], false, &pair, 1, &count ),
            i % 4 == 0 ? CLV_OK : CLV_UNSUPPORTED );
        CHECK_EQUAL( count, i % 4 == 0 ? 1 : 0 );
    }
    for ( int i = 0; i < 3; ++i )
    {
        clv_space_destroy( spaces[i] );
    }
}

static void refuses64( const clv_space* space, clv_queries64 list, clv_result expected )
{
    clv_query_lists64 lists = { NULL, NULL, 0, 0, 9 };
    CHECK_RESULT( clv_space_query_all64( space, &list, &lists ), expected );
    CHECK_EQUAL( lists.position, 0 );
}

static void refuses2( const clv_space* space, clv_queries list, clv_result expected )
{
    clv_query_lists lists = { NULL, NULL, 0, 0, 9 };
    CHECK_RESULT( clv_space_query_all( space, &list, &lists ), expected );
    CHECK_EQUAL( lists.position, 0 );
}

static void bad_questions_in_double_are_refused( void )
{
    const clv_aabb64 box = cube64( 0, 1 );
    clv_space* space = make_space64( &box, 1, NULL );
    CHECK_OK( clv_space_update( space ) );
    const clv_vec64 nan = { NAN, 0, 0 }, zero = { 0, 0, 0 }, endless = { 0, INFINITY, 0 },
                    vast = { 0, 0, 1e151 };
    const clv_aabb64 turned_out = { { 1, 0, 0 }, { 0, 1, 1 } }, all = { { -INFINITY, 0, 0 }, { 0, 0, 0 } };
    refuses64( space, clv_query_points64( &nan, 1 ), CLV_BAD_ARGUMENT );
    refuses64( space, clv_query_boxes64( &turned_out, 1 ), CLV_BAD_BOX );
    const clv_sphere64 spheres[] = { { nan, 1 }, { zero, -1 }, { endless, 1 }, { zero, NAN } };
    const clv_capsule64 capsules[] = { { nan, zero, 1 }, { zero, endless, 1 }, { zero, vast, 1 },
        { zero, zero, -1 } };
    const clv_ray64 rays[] = { { nan, zero, 1 }, { zero, endless, 1 }, { zero, zero, -1 },
        { zero, zero, NAN } };
    for ( int i = 0; i < 4; ++i )
    {
        refuses64( space, clv_query_spheres64( &spheres[i], 1 ), CLV_BAD_ARGUMENT );
        refuses64( space, clv_query_capsules64( &capsules[i], 1 ), CLV_BAD_ARGUMENT );
        refuses64( space, clv_query_rays64( &rays[i], 1 ), CLV_BAD_ARGUMENT );
        const clv_capsule_cast64 cast = { capsules[i], zero, 1 };
        refuses64( space, clv_query_capsule_casts64( &cast, 1 ), CLV_BAD_ARGUMENT );
    }
    const clv_neighbourhood64 around[] = { { turned_out, 1 }, { box, -1 } };
    refuses64( space, clv_query_neighbourhoods64( &around[0], 1 ), CLV_BAD_BOX );
    refuses64( space, clv_query_neighbourhoods64( &around[1], 1 ), CLV_BAD_ARGUMENT );
    const clv_box_cast64 casts[] = { { turned_out, zero, 1 }, { all, zero, 1 }, { box, nan, 1 },
        { box, zero, -1 } };
    refuses64( space, clv_query_box_casts64( &casts[0], 1 ), CLV_BAD_BOX );
    for ( int i = 1; i < 4; ++i )
    {
        refuses64( space, clv_query_box_casts64( &casts[i], 1 ), CLV_BAD_ARGUMENT );
    }
    const clv_sphere_cast64 thrown[] = { { { zero, 1 }, vast, 1 }, { { zero, -1 }, zero, 1 },
        { { zero, 1 }, zero, NAN } };
    const clv_oriented_box64 turned[] = { { nan, zero, { 0, 0, 0, 0 } },
        { zero, { 1, -1, 1 }, { 0, 0, 0, 0 } }, { zero, zero, { 0, 0, 0, NAN } } };
    for ( int i = 0; i < 3; ++i )
    {
        refuses64( space, clv_query_sphere_casts64( &thrown[i], 1 ), CLV_BAD_ARGUMENT );
        refuses64( space, clv_query_oriented_boxes64( &turned[i], 1 ), CLV_BAD_ARGUMENT );
    }
    const clv_plane64 planes[] = { { nan, 0 }, { vast, 0 }, { zero, NAN } };
    for ( int i = 0; i < 3; ++i )
    {
        const clv_half_spaces64 region = { zero, &planes[i], 1 };
        refuses64( space, clv_query_half_spaces64( &region, 1 ), CLV_BAD_ARGUMENT );
    }
    clv_queries unknown = query_list_of( (clv_query_kind)76, &zero, 1 );
    refuses64( space, query_list_as64( &unknown ), CLV_BAD_ARGUMENT );
    clv_hit64 hit;
    uint32_t position = 9;
    clv_queries64 points = clv_query_points64( &zero, 1 );
    CHECK_RESULT( clv_space_query_closest64( space, &points, &hit, &position ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_space_query_nearest64( space, &points, 1, NAN, &hit, &position ), CLV_BAD_ARGUMENT );
    CHECK_EQUAL( position, 0 );
    clv_space_destroy( space );
}

static void bad_flat_questions_are_refused( void )
{
    const clv_aabb2 box = { { 0, 0 }, { 1, 1 } };
    clv_space* space = make_space2( &box, 1, NULL );
    CHECK_OK( clv_space_update( space ) );
    const clv_vec2 nan = { 0, NAN }, zero = { 0, 0 };
    const clv_aabb2 turned_out = { { 0, 1 }, { 1, 0 } };
    refuses2( space, clv_query_points2( &nan, 1 ), CLV_BAD_ARGUMENT );
    refuses2( space, clv_query_boxes2( &turned_out, 1 ), CLV_BAD_BOX );
    const clv_circle circle = { nan, 1 };
    refuses2( space, clv_query_circles( &circle, 1 ), CLV_BAD_ARGUMENT );
    const clv_ray2 ray = { zero, { INFINITY, 0 }, 1 };
    refuses2( space, clv_query_rays2( &ray, 1 ), CLV_BAD_ARGUMENT );
    const clv_oriented_box2 turned = { zero, { 1, 1 }, { NAN, 0 } };
    refuses2( space, clv_query_oriented_boxes2( &turned, 1 ), CLV_BAD_ARGUMENT );
    const clv_half_plane planes[] = { { nan, 0 }, { zero, NAN } };
    for ( int i = 0; i < 2; ++i )
    {
        const clv_half_planes region = { &planes[i], 1 };
        refuses2( space, clv_query_half_planes( &region, 1 ), CLV_BAD_ARGUMENT );
    }
    refuses2( space, query_list_of( (clv_query_kind)44, &zero, 1 ), CLV_BAD_ARGUMENT );
    refuses2( space, query_list_of( (clv_query_kind)32, &zero, 1 ), CLV_BAD_ARGUMENT );
    clv_space_destroy( space );
}

// Every second one counts, and the ray ends at the third hit.
static bool shorten_ray( const clv_space* space, uint32_t query, clv_hit64 hit, double* reach, void* user )
{
    (void)space;
    (void)query;
    uint32_t* asked = user;
    *asked += 1;
    *reach = hit.index == 2 ? hit.t : *reach;
    return hit.index % 2 == 0;
}

static void callbacks_in_double_choose_and_shorten( void )
{
    clv_aabb64 boxes[8];
    for ( int i = 0; i < 8; ++i )
    {
        boxes[i] = cube64( 1e9 + 10 * i, 1 );
    }
    clv_space* space = make_space64( boxes, 8, NULL );
    CHECK_OK( clv_space_update( space ) );
    const clv_ray64 ray = { { 1e9 - 7, 0.5, 0.5 }, { 1, 0, 0 }, INFINITY };
    clv_queries64 rays = clv_query_rays64( &ray, 1 );
    uint32_t asked = 0;
    rays.callback = shorten_ray;
    rays.user = &asked;
    clv_hit64 hits[8];
    clv_query_lists64 lists = { NULL, hits, 8, 0, 0 };
    CHECK_OK( clv_space_query_all64( space, &rays, &lists ) );
    CHECK_EQUAL( lists.count, 2 );
    CHECK( hits[0].index == 0 && hits[0].t == 7 && hits[1].index == 2 && hits[1].t == 27 );
    CHECK( asked >= 3 );
    clv_space_destroy( space );
}

// world.h: the z of a motion is ignored there, and so whatever it is.
static void flat_motions_have_no_z( void )
{
    clv_space_def def = clv_default_space_def();
    def.flat = true;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    const clv_aabb2 boxes[2] = { { { 0, 0 }, { 1, 1 } }, { { 5, 0 }, { 6, 1 } } };
    clv_id ids[2];
    CHECK_OK( clv_space_add2( space, boxes, 2, ids ) );
    const clv_vec3 motions[2] = { { 4.5f, 0, NAN }, { 0, 0, INFINITY } };
    CHECK_OK( clv_space_set_motion( space, ids, motions, 2 ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
    const clv_vec3 bad = { NAN, 0, 0 };
    CHECK_RESULT( clv_space_set_motion( space, ids, &bad, 1 ), CLV_BAD_ARGUMENT );
    clv_space_destroy( space );
}

// The first at this distance brings the end there; others at the end count all the same.
static bool end_at_two( const clv_space* space, uint32_t query, clv_hit64 hit, double* reach, void* user )
{
    (void)space;
    (void)query;
    (void)user;
    *reach = hit.t == 2 ? 2 : *reach;
    return true;
}

static void nearest_in_double_keeps_what_is_at_the_new_end( void )
{
    test_random random = test_random_make( 4 );
    for ( int life = 0; life < 200; ++life )
    {
        clv_aabb64 boxes[12];
        uint32_t at_two[2] = { test_random_below( &random, 6 ), 6 + test_random_below( &random, 6 ) };
        for ( uint32_t i = 0; i < 12; ++i )
        {
            bool is_at_two = i == at_two[0] || i == at_two[1];
            double x = is_at_two ? 2 : 3 + (double)test_random_below( &random, 5 );
            x = test_random_chance( &random, 50 ) ? x : -x;
            boxes[i] = ( clv_aabb64 ){ { x, 0, 0 }, { x, 0, 0 } };
        }
        clv_space* space = make_space64( boxes, 12, NULL );
        CHECK_OK( clv_space_update( space ) );
        const clv_vec64 origin = { 0, 0, 0 };
        clv_queries64 points = clv_query_points64( &origin, 1 );
        points.callback = end_at_two;
        clv_hit64 hits[2];
        CHECK_OK( clv_space_query_nearest64( space, &points, 2, INFINITY, hits, NULL ) );
        CHECK( hits[0].index == at_two[0] && hits[0].t == 2 );
        CHECK( hits[1].index == at_two[1] && hits[1].t == 2 );
        clv_space_destroy( space );
    }
}

static void pairs_between_worlds_are_brute_force( void )
{
    for ( int crowd = 0; crowd < FAR_CROWD_KIND_COUNT; ++crowd )
    {
        test_where.seed = (uint64_t)crowd;
        judge_world* one = judge_world_make( false, CLV_ISA_AUTO, 1, crowd, 90, 5 );
        judge_world* other = judge_world_make( false, CLV_ISA_AUTO, 1, crowd, 110, 6 );
        judge_world_dress( other );
        CHECK_OK( clv_space_update( one->space ) );
        CHECK_OK( clv_space_update( other->space ) );
        judge_world_see( one, true );
        judge_world_see( other, true );
        for ( int as_given = 0; as_given < 2; ++as_given )
        {
            static clv_pair expected[90 * 110], pairs[90 * 110];
            uint64_t expected_count = 0, count = 0;
            for ( uint32_t i = 0; i < 90 * 110; ++i )
            {
                uint32_t a = i / 110, b = i % 110;
                const clv_filter usual = clv_default_filter(), f = other->filters[b];
                bool agree = f.group == 0 || f.group != usual.group;
                agree = agree && ( usual.category & f.mask ) != 0 && ( f.category & usual.mask ) != 0;
                expected[expected_count] = ( clv_pair ){ a, b };
                expected_count += agree &&
                    clv_aabb64_overlap(
                        one->seen_box[a], as_given != 0 ? other->seen_given[b] : other->seen_box[b] );
            }
            CHECK_OK( clv_space_query_pairs(
                one->space, other->space, as_given != 0, pairs, TEST_COUNT( pairs ), &count ) );
            CHECK_EQUAL( count, expected_count );
            CHECK( memcmp( pairs, expected, (size_t)count * sizeof( clv_pair ) ) == 0 );
        }
        judge_world_free( one );
        judge_world_free( other );
    }
}

static void a_bullet_a_billion_metres_away_meets_what_it_passes( void )
{
    const clv_aabb64 boxes[2] = { cube64( 1e9, 1 ), cube64( 1e9 + 100, 1 ) };
    clv_id ids[2];
    clv_space* space = make_space64( boxes, 2, ids );
    clv_vec3 way = { 98.9999f, 0, 0 }, seen;
    CHECK_OK( clv_space_set_motion( space, ids, &way, 1 ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
    way.x = 99;
    CHECK_OK( clv_space_set_motion( space, ids, &way, 1 ) );
    CHECK_OK( clv_space_get_motion( space, ids[0], &seen ) );
    CHECK( seen.x == 99 );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_pairs( space ).count, 1 );
    CHECK_OK( clv_space_get_motion( space, ids[0], &seen ) );
    CHECK( seen.x == 0 );
    CHECK_OK( clv_space_update( space ) ); // nothing moves any more
    CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
    const clv_vec3 bad = { NAN, 0, 0 };
    CHECK_RESULT( clv_space_set_motion( space, ids, &bad, 1 ), CLV_BAD_ARGUMENT );
    clv_space_destroy( space );
}

static void defs_have_margins_by_rule_in_every_space( void )
{
    clv_space_def def = clv_default_space_def();
    def.margin_by_size = 0.5f;
    def.margin_by_speed = 2;
    for ( int is_flat = 0; is_flat < 2; ++is_flat )
    {
        def.flat = is_flat != 0;
        def.doubles = is_flat == 0;
        clv_space* space = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        const clv_aabb64 wide = { { 1e9, 0, 0 }, { 1e9 + 4, 1, 1 } };
        const clv_aabb2 flat = { { 0, 0 }, { 0.25f, 0.5f } }; // whose third side, of 1, is none
        clv_id id;
        CHECK_OK(
            is_flat != 0 ? clv_space_add2( space, &flat, 1, &id ) : clv_space_add64( space, &wide, 1, &id ) );
        const clv_vec3 way = { 3, 0, is_flat != 0 ? 4.0f : 0.0f };
        CHECK_OK( clv_space_set_motion( space, &id, &way, 1 ) );
        clv_aabb64 box = wide;
        clv_aabb2 box2 = flat;
        CHECK_RESULT( clv_space_get_test_box64( space, id, &box ), is_flat != 0 ? CLV_UNSUPPORTED : CLV_OK );
        CHECK_RESULT( clv_space_get_test_box2( space, id, &box2 ), is_flat != 0 ? CLV_OK : CLV_UNSUPPORTED );
        CHECK_RESULT( clv_space_get_test_box64( space, clv_null_id(), &box ),
            is_flat != 0 ? CLV_UNSUPPORTED : CLV_BAD_ID );
        CHECK( is_flat != 0 ||
            ( box.lower.x == 1e9 - 8 && box.upper.x == 1e9 + 4 + 8 + 3 && box.upper.z == 9 ) );
        CHECK( is_flat == 0 || ( box2.lower.x == -6.25f && box2.upper.x == 9.5f && box2.upper.y == 6.75f ) );
        clv_space_destroy( space );
    }
}

static void queries_before_an_update_find_nothing_and_late_ones_are_stale( void )
{
    const clv_aabb64 box = cube64( 1e9, 1 );
    clv_id id;
    clv_space* space = make_space64( &box, 1, &id );
    clv_queries64 list = clv_query_boxes64( &box, 1 );
    clv_hit64 hit = { 7, 0 };
    CHECK_OK( clv_space_query_any64( space, &list, &hit, NULL ) );
    CHECK_EQUAL( hit.index, CLV_NO_HIT );
    CHECK_OK( clv_space_update( space ) );
    const clv_aabb64 moved = cube64( 2e9, 1 );
    CHECK_OK( clv_space_move64( space, &id, &moved, 1 ) );
    CHECK_RESULT( clv_space_query_any64( space, &list, &hit, NULL ), CLV_STALE );
    CHECK_OK( clv_space_update( space ) );
    list = clv_query_boxes64( &moved, 1 );
    CHECK_OK( clv_space_query_any64( space, &list, &hit, NULL ) );
    CHECK_EQUAL( hit.index, 0 );
    clv_space_destroy( space );
}

static void an_exact_shift_moves_what_queries_see( void )
{
    const clv_aabb64 box = cube64( 1e9, 1 );
    clv_space* space = make_space64( &box, 1, NULL );
    CHECK_OK( clv_space_update( space ) );
    clv_queries64 list = clv_query_boxes64( &box, 1 );
    clv_hit64 hit;
    CHECK_OK( clv_space_query_any64( space, &list, &hit, NULL ) );
    CHECK_EQUAL( hit.index, 0 );
    CHECK_OK( clv_space_shift_origin( space, ( clv_vec64 ){ 1e9, 0, 0 } ) );
    CHECK_OK( clv_space_query_any64( space, &list, &hit, NULL ) );
    CHECK_EQUAL( hit.index, 0 ); // as of the update
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_query_any64( space, &list, &hit, NULL ) );
    CHECK_EQUAL( hit.index, CLV_NO_HIT );
    const clv_aabb64 near = cube64( 0, 1 );
    list = clv_query_boxes64( &near, 1 );
    CHECK_OK( clv_space_query_any64( space, &list, &hit, NULL ) );
    CHECK_EQUAL( hit.index, 0 );
    clv_space_destroy( space );
}

// Memory runs out at every single allocation in turn: an error or an answer, and the right one in the end.
static void without_memory_questions_fail_and_recover( void )
{
    const clv_aabb64 boxes[3] = { cube64( 1e9, 1 ), cube64( 1e9 + 1, 1 ), cube64( 5, 1 ) };
    for ( uint32_t fail_at = 1; fail_at < 40; ++fail_at )
    {
        heap hooks = { 0 };
        clv_space_def def = clv_default_space_def();
        def.doubles = true;
        def.allocator = heap_hooks( &hooks );
        clv_space* space = NULL;
        CHECK_OK( clv_space_create( &def, &space ) );
        CHECK_OK( clv_space_add64( space, boxes, 3, NULL ) );
        CHECK_OK( clv_space_update( space ) );
        clv_queries64 list = clv_query_boxes64( &boxes[0], 1 );
        clv_hit64 hit;
        hooks.refuse_from = hooks.allocate_count + fail_at;
        hooks.refuse_count = UINT64_MAX;
        clv_result result = clv_space_query_any64( space, &list, &hit, NULL );
        CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
        heap_heal( &hooks );
        CHECK_OK( clv_space_query_any64( space, &list, &hit, NULL ) );
        CHECK( hit.index <= 1 );
        clv_space_destroy( space );
        CHECK_EQUAL( hooks.bytes, 0 );
        if ( result == CLV_OK )
        {
            return;
        }
    }
    CHECK( false );
}

int main( int argc, char** argv )
{
    static const test_case cases[] = {
        TEST_CASE( every_flat_query_is_brute_force ),
        TEST_CASE( times_that_round_to_nothing_are_equal ),
        TEST_CASE( every_query_in_double_is_brute_force ),
        TEST_CASE( changes_are_seen_at_the_update ),
        TEST_CASE( workers_give_the_same_answers ),
        TEST_CASE( neighbouring_doubles_at_a_billion_metres_are_told_apart ),
        TEST_CASE( lists_of_another_kind_are_refused ),
        TEST_CASE( bad_questions_in_double_are_refused ),
        TEST_CASE( bad_flat_questions_are_refused ),
        TEST_CASE( callbacks_in_double_choose_and_shorten ),
        TEST_CASE( flat_motions_have_no_z ),
        TEST_CASE( nearest_in_double_keeps_what_is_at_the_new_end ),
        TEST_CASE( pairs_between_worlds_are_brute_force ),
        TEST_CASE( a_bullet_a_billion_metres_away_meets_what_it_passes ),
        TEST_CASE( defs_have_margins_by_rule_in_every_space ),
        TEST_CASE( queries_before_an_update_find_nothing_and_late_ones_are_stale ),
        TEST_CASE( an_exact_shift_moves_what_queries_see ),
        TEST_CASE( without_memory_questions_fail_and_recover ),
    };
    return test_run( "world_query", cases, TEST_COUNT( cases ), argc, argv );
}
