// SPDX-License-Identifier: MIT
// Bytes into questions. A world of a few objects is asked on two instruction sets, and every object of it
// alone in a space of its own: the world must find what the loners do, whatever the boxes and queries are,
// and refuse what they refuse.
#include "cleave/cleave.h"
#include "fuzz_bytes.h"
#include "fuzz_target.h"
#include "query_lists.h"
#include "recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST_OBJECTS = 40,
    MOST_STEPS = 60,
    MOST_PLANES = 3,
    K = 3,
};

typedef struct query_game
{
    fuzz_bytes bytes;
    clv_space* worlds[2]; // the best instruction set, and the plain one
    clv_space* loners[MOST_OBJECTS];
    clv_id ids[2][MOST_OBJECTS];
    clv_id lone_ids[MOST_OBJECTS];
    bool is_there[MOST_OBJECTS];
    uint32_t count;
} query_game;

typedef union any_item
{
    float floats[16];
    clv_half_spaces half_spaces;
} any_item;

static clv_space* make_space( float margin, clv_isa isa )
{
    clv_space_def def = clv_default_space_def();
    def.margin = margin;
    def.isa = isa;
    clv_space* space = NULL;
    FUZZ_CHECK( clv_space_create( &def, &space ) == CLV_OK, "a space" );
    return space;
}

static void add_objects( query_game* game )
{
    float margin = fuzz_take_byte( &game->bytes ) % 4 == 0 ? 0.5f : 0;
    game->worlds[0] = make_space( margin, clv_isa_best() );
    game->worlds[1] = make_space( margin, CLV_ISA_SCALAR );
    recorded_begin( game->worlds[0], 0 );
    recorded_begin( game->worlds[1], 1 );
    uint32_t wanted = fuzz_take_byte( &game->bytes ) % ( MOST_OBJECTS + 1 );
    uint32_t seed = fuzz_take_word( &game->bytes );
    for ( uint32_t i = 0; i < wanted; ++i )
    {
        clv_aabb box = fuzz_take_byte( &game->bytes ) % 2 == 0 ? fuzz_take_box( &game->bytes )
                                                               : fuzz_crowd_box( seed, i );
        if ( !clv_aabb_is_valid( box ) )
        {
            continue;
        }
        uint32_t slot = game->count++;
        game->loners[slot] = make_space( margin, CLV_ISA_SCALAR );
        game->is_there[slot] = true;
        for ( int w = 0; w < 2; ++w )
        {
            FUZZ_CHECK( clv_space_add_one( game->worlds[w], box, &game->ids[w][slot] ) == CLV_OK, "add" );
        }
        FUZZ_CHECK( clv_space_add_one( game->loners[slot], box, &game->lone_ids[slot] ) == CLV_OK, "add" );
    }
}

static void update_all( query_game* game, bool refresh )
{
    for ( uint32_t i = 0; i < game->count + 2; ++i )
    {
        clv_space* space = i < 2 ? game->worlds[i] : game->loners[i - 2];
        clv_result result = refresh ? clv_space_refresh( space ) : clv_space_update( space );
        FUZZ_CHECK( result == CLV_OK, "update" );
    }
}

static void change_one( query_game* game )
{
    uint32_t slot = game->count > 0 ? fuzz_take_byte( &game->bytes ) % game->count : 0;
    if ( game->count == 0 || !game->is_there[slot] )
    {
        return;
    }
    bool removes = fuzz_take_byte( &game->bytes ) % 4 == 0;
    clv_aabb box = fuzz_take_box( &game->bytes );
    for ( int w = 0; w < 2 && removes; ++w )
    {
        clv_space_remove_one( game->worlds[w], game->ids[w][slot] );
    }
    for ( int w = 0; w < 2 && !removes; ++w )
    {
        clv_space_move_one( game->worlds[w], game->ids[w][slot], box );
    }
    if ( removes )
    {
        clv_space_remove_one( game->loners[slot], game->lone_ids[slot] );
        game->is_there[slot] = false;
        return;
    }
    clv_space_move_one( game->loners[slot], game->lone_ids[slot], box );
}

// Any floats at all; half-spaces have a few planes of them.
static any_item take_item( query_game* game, clv_query_kind kind, clv_plane* planes )
{
    any_item item;
    memset( &item, 0, sizeof( item ) );
    for ( int i = 0; i < 16; ++i )
    {
        item.floats[i] = fuzz_take_float( &game->bytes );
    }
    if ( kind == CLV_QUERY_BOX || kind == CLV_QUERY_NEIGHBOURHOOD || kind == CLV_QUERY_BOX_CAST )
    {
        clv_aabb box = fuzz_take_box( &game->bytes );
        memcpy( item.floats, &box, sizeof( box ) );
    }
    if ( kind == CLV_QUERY_HALF_SPACES )
    {
        memcpy( planes, item.floats, MOST_PLANES * sizeof( clv_plane ) );
        item.half_spaces =
            ( clv_half_spaces ){ planes, fuzz_take_byte( &game->bytes ) % ( MOST_PLANES + 1 ) };
    }
    return item;
}

typedef struct found
{
    clv_result result;
    uint64_t count;
    clv_hit hits[MOST_OBJECTS];
} found;

static found ask_all( const clv_space* space, const clv_queries* queries )
{
    found f;
    clv_query_lists lists = { NULL, f.hits, MOST_OBJECTS, 0, 0 };
    f.result = clv_space_query_all( space, queries, &lists );
    f.count = f.result == CLV_OK ? lists.count : 0;
    return f;
}

static void check_same( const found* a, const found* b, const char* what )
{
    FUZZ_CHECK( a->result == b->result && a->count == b->count, "%s: %d and %d, %d and %d hits", what,
        (int)a->result, (int)b->result, (int)a->count, (int)b->count );
    for ( uint64_t i = 0; i < a->count; ++i )
    {
        FUZZ_CHECK( a->hits[i].index == b->hits[i].index && a->hits[i].t == b->hits[i].t, "%s: hit %d", what,
            (int)i );
    }
}

static bool is_before( clv_hit a, clv_hit b )
{
    return a.t < b.t || ( a.t == b.t && a.index < b.index );
}

static void check_one_hit( const clv_space* space, const clv_queries* queries, const found* all )
{
    clv_hit hit = { 7, 7 };
    clv_result result = clv_space_query_any( space, queries, &hit, NULL );
    FUZZ_CHECK( result == all->result, "any: %d", (int)result );
    bool is_among = result != CLV_OK || ( all->count == 0 && hit.index == CLV_NO_HIT );
    for ( uint64_t i = 0; i < all->count; ++i )
    {
        is_among |= all->hits[i].index == hit.index;
    }
    FUZZ_CHECK( is_among, "any found %u", hit.index );
    if ( queries->kind < CLV_QUERY_RAY || all->result != CLV_OK )
    {
        return;
    }
    clv_hit best = { CLV_NO_HIT, INFINITY };
    for ( uint64_t i = 0; i < all->count; ++i )
    {
        best = is_before( all->hits[i], best ) ? all->hits[i] : best;
    }
    FUZZ_CHECK( clv_space_query_closest( space, queries, &hit, NULL ) == CLV_OK, "closest" );
    FUZZ_CHECK( hit.index == best.index && hit.t == best.t, "kind %d: closest is %u at %g, not %u at %g",
        (int)queries->kind, hit.index, (double)hit.t, best.index, (double)best.t );
}

// The distance of each object by itself, in order.
static void check_nearest( query_game* game, const clv_queries* queries )
{
    clv_hit expected[MOST_OBJECTS + K], hits[K];
    uint32_t count = 0;
    clv_result result = clv_space_query_nearest( game->worlds[0], queries, K, INFINITY, hits, NULL );
    for ( uint32_t i = 0; i < game->count; ++i )
    {
        clv_hit hit;
        clv_result alone = clv_space_query_nearest( game->loners[i], queries, 1, INFINITY, &hit, NULL );
        FUZZ_CHECK( alone == result, "nearest: %d, alone %d", (int)result, (int)alone );
        if ( alone != CLV_OK || hit.index == CLV_NO_HIT )
        {
            continue;
        }
        hit.index = i;
        uint32_t at = count++;
        for ( ; at > 0 && is_before( hit, expected[at - 1] ); --at )
        {
            expected[at] = expected[at - 1];
        }
        expected[at] = hit;
    }
    for ( uint32_t i = 0; i < K && result == CLV_OK; ++i )
    {
        bool is_none = i >= count;
        FUZZ_CHECK( is_none ? hits[i].index == CLV_NO_HIT
                            : hits[i].index == expected[i].index && hits[i].t == expected[i].t,
            "neighbour %u is %u at %g, not %u at %g", i, hits[i].index, (double)hits[i].t, expected[i].index,
            (double)expected[i].t );
    }
}

static void ask( query_game* game )
{
    clv_plane planes[MOST_PLANES];
    clv_query_kind kind = (clv_query_kind)( 1 + fuzz_take_byte( &game->bytes ) % CLV_QUERY_CAPSULE_CAST );
    any_item item = take_item( game, kind, planes );
    clv_queries queries = query_list_of( kind, &item, 1 );
    queries.as_given = fuzz_take_byte( &game->bytes ) % 3 == 0;
    found all = ask_all( game->worlds[0], &queries ), plain = ask_all( game->worlds[1], &queries );
    check_same( &all, &plain, "two instruction sets" );
    found sum = { .result = all.result };
    for ( uint32_t i = 0; i < game->count; ++i )
    {
        found alone = ask_all( game->loners[i], &queries );
        FUZZ_CHECK( alone.result == all.result, "alone %d", (int)alone.result );
        if ( alone.count > 0 )
        {
            sum.hits[sum.count++] = ( clv_hit ){ i, alone.hits[0].t };
        }
    }
    check_same( &all, &sum, "all together and each alone" );
    check_one_hit( game->worlds[0], &queries, &all );
    if ( kind == CLV_QUERY_POINT || kind == CLV_QUERY_BOX )
    {
        check_nearest( game, &queries );
    }
}

void fuzz_query( const uint8_t* data, size_t size )
{
    query_game game;
    memset( &game, 0, sizeof( game ) );
    game.bytes = ( fuzz_bytes ){ data, size };
    add_objects( &game );
    update_all( &game, true ); // from here on boxes that change are kept
    for ( int step = 0; step < MOST_STEPS && game.bytes.left > 0; ++step )
    {
        switch ( fuzz_take_byte( &game.bytes ) % 8 )
        {
        case 0: update_all( &game, false ); break;
        case 1: update_all( &game, true ); break;
        case 2: change_one( &game ); break;
        default: ask( &game ); break;
        }
    }
    clv_space_destroy( game.worlds[0] );
    clv_space_destroy( game.worlds[1] );
    for ( uint32_t i = 0; i < game.count; ++i )
    {
        clv_space_destroy( game.loners[i] );
    }
}
