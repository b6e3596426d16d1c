// SPDX-License-Identifier: MIT
#include "solid_only.h"

#include <string.h>

static void refuses_setters( clv_space* space, clv_id id )
{
    const clv_vec3 motion = { 1, 0, 0 };
    const clv_aabb box = test_cube( 0, 0, 0, 1 );
    clv_add_def with = clv_default_add_def();
    with.boxes = &box;
    with.motions = &motion;
    clv_id added = clv_null_id();
    CHECK_RESULT( clv_space_add_with( space, &with, 1, &added ), CLV_UNSUPPORTED );
    CHECK( strstr( clv_space_error( space ).text, "use clv_space_add" ) != NULL );
    CHECK( clv_id_is_null( added ) );
    clv_aabb seen = box;
    CHECK_RESULT( clv_space_get_test_box( space, id, &seen ), CLV_UNSUPPORTED );
    CHECK( memcmp( &seen, &box, sizeof( box ) ) == 0 );
}

static bool take_hits( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    (void)query;
    (void)hits;
    *(uint64_t*)user += count;
    return true;
}

static void refuses_queries( clv_space* space )
{
    const clv_aabb all = { { -1e30f, -1e30f, -1e30f }, { 1e30f, 1e30f, 1e30f } };
    const clv_ray ray = { { 0, 0, 0 }, { 1, 0, 0 }, 1 };
    clv_queries boxes = clv_query_boxes( &all, 1 );
    clv_queries rays = clv_query_rays( &ray, 1 );
    clv_hit hit = { 77, 0 };
    clv_query_lists lists = { NULL, &hit, 1, 0, 0 };
    CHECK_RESULT( clv_space_query_all( space, &boxes, &lists ), CLV_UNSUPPORTED );
    CHECK_RESULT( clv_space_query_any( space, &boxes, &hit, NULL ), CLV_UNSUPPORTED );
    CHECK_RESULT( clv_space_query_closest( space, &rays, &hit, NULL ), CLV_UNSUPPORTED );
    CHECK_RESULT( clv_space_query_nearest( space, &boxes, 1, 1, &hit, NULL ), CLV_UNSUPPORTED );
    uint64_t visited = 0;
    CHECK_RESULT( clv_space_query_visit( space, &boxes, take_hits, &visited, NULL ), CLV_UNSUPPORTED );
    CHECK_EQUAL( visited, 0 );
    CHECK_EQUAL( hit.index, 77 );
    clv_space* solid = test_space_make( test_variant_at( 0 ), NULL );
    CHECK_OK( clv_space_update( solid ) );
    clv_pair pair;
    uint64_t count = 7;
    CHECK_RESULT( clv_space_query_pairs( space, solid, false, &pair, 1, &count ), CLV_UNSUPPORTED );
    CHECK_RESULT( clv_space_query_pairs( solid, space, false, &pair, 1, &count ), CLV_UNSUPPORTED );
    clv_space_destroy( solid );
}

void test_refuses_solid_calls( clv_space* space, clv_id id )
{
    uint32_t objects = clv_space_stats( space ).object_count;
    CHECK_OK( clv_space_update( space ) );
    uint64_t pairs = clv_space_pairs( space ).count;
    refuses_setters( space, id );
    refuses_queries( space );
    CHECK_OK( clv_space_update( space ) );
    CHECK_EQUAL( clv_space_stats( space ).object_count, objects );
    CHECK_EQUAL( clv_space_pairs( space ).count, pairs );
}

void test_carries_ids_and_word( clv_space* space, const clv_id ids[2] )
{
    CHECK_OK( clv_space_update( space ) );
    clv_pair_view view = clv_space_pairs( space );
    CHECK_EQUAL( view.count, 1 );
    CHECK_EQUAL( view.data[0], 0 );
    view.data[0] = 77;
    CHECK_OK( clv_space_shift_origin( space, ( clv_vec64 ){ 8, 16, 0 } ) );
    CHECK_OK( clv_space_update( space ) );
    view = clv_space_pairs( space );
    CHECK_EQUAL( view.count, 1 );
    CHECK_EQUAL( view.data[0], 77 );
    clv_id_pair of;
    CHECK_OK( clv_space_pair_ids( space, view, 0, 1, &of ) );
    CHECK( clv_id_equals( of.a, ids[0] ) && clv_id_equals( of.b, ids[1] ) );
    CHECK_OK( clv_space_remove_one( space, ids[0] ) );
    CHECK_OK( clv_space_pair_ids( space, view, 0, 1, &of ) );
    CHECK( clv_id_is_null( of.a ) && clv_id_equals( of.b, ids[1] ) );
    CHECK_OK( clv_space_update( space ) );
    clv_event_view events = clv_space_events( space );
    CHECK_EQUAL( events.ended_count, 1 );
    CHECK_EQUAL( events.ended_data[0], 77 );
    CHECK( clv_id_equals( events.ended[0].a, ids[0] ) );
}
