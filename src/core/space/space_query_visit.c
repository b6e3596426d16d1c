// SPDX-License-Identifier: MIT
// All hits, query after query, shown to the caller on its own thread: no arrays of the caller's are needed.
#include "space/hit_room.h"
#include "space/space_query.h"

#include "base/assertion.h"
#include "base/fp_mode.h"

// A visitor of either kind.
typedef struct hit_visitor
{
    const query_family* family;
    clv_query_visitor* visit;
    clv_query_visitor64* visit64;
    void* user;
} hit_visitor;

static bool show_hits( const hit_visitor* visitor, uint32_t query, const void* hits, uint64_t count )
{
    return visitor->visit64 != NULL ? visitor->visit64( query, hits, count, visitor->user )
                                    : visitor->visit( query, hits, count, visitor->user );
}

static clv_result visit_queries(
    const clv_space* space, const query_scene* scene, const clv_queries* queries, const hit_visitor* visitor )
{
    hit_room room;
    clv_space_room_open( &room, space, visitor->family );
    clv_result result = CLV_OK;
    // A callback is asked once: room for all there can be.
    if ( space_queries_call( visitor->family, queries ) &&
        !clv_space_room_widen( &room, scene->tree->item_count ) )
    {
        result = CLV_OUT_OF_MEMORY;
    }
    for ( uint32_t i = 0; i < queries->count && result == CLV_OK; ++i )
    {
        uint64_t count = 0;
        if ( !clv_space_room_find( &room, scene, queries, i, &count ) )
        {
            result = CLV_OUT_OF_MEMORY;
            break;
        }
        result = show_hits( visitor, i, room.hits, count ) ? CLV_OK : CLV_STOPPED;
    }
    clv_space_room_close( &room );
    return result;
}

static clv_result visit_all(
    const clv_space* space, const clv_queries* queries, const hit_visitor* visitor, uint32_t* position )
{
    CLV_ASSERT( space != NULL && queries != NULL );
    CLV_ASSERT( queries->count == 0 || queries->items != NULL );
    base_fp_mode mode = base_fp_enter();
    query_scene scene;
    clv_result result = clv_space_open_list( space, visitor->family, queries, QUERY_ALL, position, &scene );
    if ( result == CLV_OK )
    {
        space_start_reading( space_unlocked( space ) );
        result = visit_queries( space, &scene, queries, visitor );
        space_stop_reading( space_unlocked( space ) );
    }
    base_fp_leave( mode );
    return result;
}

clv_result clv_space_query_visit( const clv_space* space, const clv_queries* queries,
    clv_query_visitor* visitor, void* user, uint32_t* position )
{
    CLV_ASSERT( visitor != NULL );
    const hit_visitor any = { &clv_query_family_floats, visitor, NULL, user };
    return visit_all( space, queries, &any, position );
}

clv_result clv_space_query_visit64( const clv_space* space, const clv_queries* queries,
    clv_query_visitor64* visitor, void* user, uint32_t* position )
{
    CLV_ASSERT( visitor != NULL );
    const hit_visitor any = { &clv_query_family_doubles, NULL, visitor, user };
    return visit_all( space, queries, &any, position );
}
