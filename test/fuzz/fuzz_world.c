// SPDX-License-Identifier: MIT
// Bytes into worlds of doubles and flat ones: boxes that come, move, grow, are swept and go, origins that
// shift, questions, and regions of many axes. Pairs are judged by the test boxes, each against each;
// questions by spaces of one object each, which must find together what the world finds, and refuse what it
// refuses.
#include "cleave/cleave.h"
#include "fuzz_bytes.h"
#include "fuzz_target.h"
#include "query_lists.h"
#include "recorded.h"

#include <math.h>
#include <string.h>

enum
{
    MOST_OBJECTS = 30,
    MOST_STEPS = 60,
    MOST_PLANES = 3,
    MOST_REGIONS = 12,
    K = 3,
    FLAT_KINDS = 32,
    WIDE_KINDS = 64,
};

typedef struct world_game
{
    fuzz_bytes bytes;
    bool is_flat;
    double place; // where most of it is
    clv_space* world;
    clv_space* loners[MOST_OBJECTS];
    clv_id ids[MOST_OBJECTS], lone_ids[MOST_OBJECTS];
    bool is_there[MOST_OBJECTS];
    uint32_t count;
} world_game;

// ---- boxes

static double take_coordinate( world_game* game )
{
    return game->place + (double)fuzz_take_float( &game->bytes );
}

static clv_aabb64 take_wide_box( world_game* game )
{
    clv_aabb box = fuzz_take_box( &game->bytes );
    uint8_t scale = fuzz_take_byte( &game->bytes );
    double by = scale < 200 ? 1 : scale < 220 ? 0x1p-20 : scale < 240 ? 0x1p200 : 0x1p-900;
    clv_aabb64 wide = { { 0, 0, 0 }, { 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        ( &wide.lower.x )[axis] = game->place + by * (double)( &box.lower.x )[axis];
        ( &wide.upper.x )[axis] = game->place + by * (double)( &box.upper.x )[axis];
    }
    return wide;
}

static clv_aabb2 take_flat_box( world_game* game )
{
    clv_aabb box = fuzz_take_box( &game->bytes );
    return ( clv_aabb2 ){ { box.lower.x, box.lower.y }, { box.upper.x, box.upper.y } };
}

static clv_space* make_world( const world_game* game, float margin )
{
    clv_space_def def = clv_default_space_def();
    def.flat = game->is_flat;
    def.doubles = !game->is_flat;
    def.margin = margin;
    clv_space* space = NULL;
    FUZZ_CHECK( clv_space_create( &def, &space ) == CLV_OK, "a space" );
    return space;
}

static void add_one( world_game* game, float margin )
{
    uint32_t slot = game->count;
    clv_aabb64 wide = take_wide_box( game );
    clv_aabb2 flat = take_flat_box( game );
    bool is_good = game->is_flat ? clv_aabb2_is_valid( flat ) : clv_aabb64_is_valid( wide );
    clv_result result = game->is_flat ? clv_space_add2( game->world, &flat, 1, &game->ids[slot] )
                                      : clv_space_add64( game->world, &wide, 1, &game->ids[slot] );
    FUZZ_CHECK( result == ( is_good ? CLV_OK : CLV_BAD_BOX ), "add: %d", (int)result );
    if ( result != CLV_OK )
    {
        return;
    }
    game->loners[slot] = make_world( game, margin );
    result = game->is_flat ? clv_space_add_one2( game->loners[slot], flat, &game->lone_ids[slot] )
                           : clv_space_add_one64( game->loners[slot], wide, &game->lone_ids[slot] );
    FUZZ_CHECK( result == CLV_OK, "add alone: %d", (int)result );
    game->is_there[slot] = true;
    game->count += 1;
}

static void check_both( clv_result together, clv_result alone, const char* what )
{
    FUZZ_CHECK( together == alone, "%s: %d, alone %d", what, (int)together, (int)alone );
}

static void change_one( world_game* game )
{
    uint32_t slot = game->count > 0 ? fuzz_take_byte( &game->bytes ) % game->count : 0;
    uint8_t what = fuzz_take_byte( &game->bytes ) % 8;
    if ( game->count == 0 || !game->is_there[slot] )
    {
        return;
    }
    clv_space *world = game->world, *alone = game->loners[slot];
    clv_id *id = &game->ids[slot], *lone_id = &game->lone_ids[slot];
    float a = fuzz_take_float( &game->bytes ), b = fuzz_take_float( &game->bytes ),
          c = fuzz_take_float( &game->bytes );
    clv_margin_rule rule = { fabsf( a ), fabsf( b ), c };
    clv_vec3 motion = { a, b, c };
    clv_aabb64 wide = take_wide_box( game );
    clv_aabb2 flat = take_flat_box( game );
    switch ( what )
    {
    case 0:
        check_both( clv_space_remove_one( world, *id ), clv_space_remove_one( alone, *lone_id ), "remove" );
        game->is_there[slot] = false;
        break;
    case 1:
        check_both( clv_space_set_margin_rule( world, id, &rule, 1 ),
            clv_space_set_margin_rule( alone, lone_id, &rule, 1 ), "rule" );
        break;
    case 2:
    case 3:
        check_both( clv_space_set_motion( world, id, &motion, 1 ),
            clv_space_set_motion( alone, lone_id, &motion, 1 ), "motion" );
        break;
    default:
        check_both(
            game->is_flat ? clv_space_move2( world, id, &flat, 1 ) : clv_space_move64( world, id, &wide, 1 ),
            game->is_flat ? clv_space_move2( alone, lone_id, &flat, 1 )
                          : clv_space_move64( alone, lone_id, &wide, 1 ),
            "move" );
        break;
    }
}

// One that is too far for an object moves none; single objects move if all may.
static void shift_all( world_game* game )
{
    clv_vec64 by = { 16 * (double)fuzz_take_float( &game->bytes ), take_coordinate( game ), 0 };
    if ( clv_space_shift_origin( game->world, by ) != CLV_OK )
    {
        return;
    }
    for ( uint32_t i = 0; i < game->count; ++i )
    {
        FUZZ_CHECK( clv_space_shift_origin( game->loners[i], by ) == CLV_OK, "shift alone" );
    }
}

// ---- pairs

// As doubles, whichever they are; flat ones without a third axis.
static clv_aabb64 test_box( const world_game* game, uint32_t slot )
{
    clv_aabb64 wide = { { 0, 0, 0 }, { 0, 0, 0 } };
    clv_aabb2 flat;
    if ( !game->is_flat )
    {
        FUZZ_CHECK( clv_space_get_test_box64( game->world, game->ids[slot], &wide ) == CLV_OK, "test box" );
        return wide;
    }
    FUZZ_CHECK( clv_space_get_test_box2( game->world, game->ids[slot], &flat ) == CLV_OK, "test box" );
    wide.lower = ( clv_vec64 ){ (double)flat.lower.x, (double)flat.lower.y, 0 };
    wide.upper = ( clv_vec64 ){ (double)flat.upper.x, (double)flat.upper.y, 0 };
    return wide;
}

static void check_pairs( const world_game* game, const clv_aabb64* boxes )
{
    clv_pair_view view = clv_space_pairs( game->world );
    bool is_listed[MOST_OBJECTS][MOST_OBJECTS];
    memset( is_listed, 0, sizeof( is_listed ) );
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        clv_pair pair = view.pairs[i];
        FUZZ_CHECK( pair.a < pair.b && pair.b < game->count && !is_listed[pair.a][pair.b], "pair %u %u",
            pair.a, pair.b );
        is_listed[pair.a][pair.b] = true;
    }
    for ( uint32_t a = 0; a < game->count; ++a )
    {
        for ( uint32_t b = a + 1; b < game->count; ++b )
        {
            bool touch = game->is_there[a] && game->is_there[b] && clv_aabb64_overlap( boxes[a], boxes[b] );
            FUZZ_CHECK( touch == is_listed[a][b], "%u and %u %s", a, b, touch ? "lost" : "found" );
        }
    }
}

static void update_worlds( world_game* game, bool refresh )
{
    clv_aabb64 boxes[MOST_OBJECTS];
    for ( uint32_t i = 0; i < game->count; ++i )
    {
        boxes[i] = game->is_there[i] ? test_box( game, i ) : ( clv_aabb64 ){ { 0, 0, 0 }, { 0, 0, 0 } };
        FUZZ_CHECK( ( refresh ? clv_space_refresh( game->loners[i] )
                              : clv_space_update( game->loners[i] ) ) == CLV_OK,
            "update alone" );
    }
    FUZZ_CHECK( ( refresh ? clv_space_refresh( game->world ) : clv_space_update( game->world ) ) == CLV_OK,
        "update" );
    if ( !refresh )
    {
        check_pairs( game, boxes );
    }
}

// ---- questions

typedef union world_item
{
    double doubles[20];
    float floats[20];
    clv_half_spaces64 half_spaces;
    clv_half_planes half_planes;
} world_item;

typedef struct planes_of
{
    clv_plane64 wide[MOST_PLANES];
    clv_half_plane flat[MOST_PLANES];
} planes_of;

static world_item take_item( world_game* game, uint32_t kind, planes_of* planes )
{
    world_item item;
    memset( &item, 0, sizeof( item ) );
    bool has_box = kind == CLV_QUERY_BOX || kind == CLV_QUERY_NEIGHBOURHOOD || kind == CLV_QUERY_BOX_CAST;
    for ( int i = 0; i < 16; ++i )
    {
        // Places first, then ways and sizes.
        double value = i < 6 && kind != CLV_QUERY_RAY ? take_coordinate( game )
                                                      : (double)fuzz_take_float( &game->bytes );
        value = i < 3 && kind == CLV_QUERY_RAY ? value + game->place : value;
        if ( game->is_flat )
        {
            item.floats[i] = (float)value;
        }
        else
        {
            item.doubles[i] = value;
        }
    }
    if ( has_box )
    {
        clv_aabb64 wide = take_wide_box( game );
        clv_aabb2 flat = take_flat_box( game );
        memcpy( &item, game->is_flat ? (const void*)&flat : (const void*)&wide,
            game->is_flat ? sizeof( flat ) : sizeof( wide ) );
    }
    if ( kind == CLV_QUERY_HALF_SPACES )
    {
        uint32_t count = fuzz_take_byte( &game->bytes ) % ( MOST_PLANES + 1 );
        memcpy( planes->wide, item.doubles, sizeof( planes->wide ) );
        memcpy( planes->flat, item.floats, sizeof( planes->flat ) );
        clv_vec64 origin = { game->place, item.doubles[13], game->place };
        if ( game->is_flat )
        {
            item.half_planes = ( clv_half_planes ){ planes->flat, count };
        }
        else
        {
            item.half_spaces = ( clv_half_spaces64 ){ origin, planes->wide, count };
        }
    }
    return item;
}

typedef struct world_found
{
    clv_result result;
    uint64_t count;
    clv_hit64 hits[MOST_OBJECTS];
} world_found;

static world_found ask_all( const world_game* game, const clv_space* space, const clv_queries* queries )
{
    world_found f = { .count = 0 };
    clv_hit narrow[MOST_OBJECTS];
    if ( !game->is_flat )
    {
        clv_query_lists64 lists = { NULL, f.hits, MOST_OBJECTS, 0, 0 };
        const clv_queries64 wide = query_list_as64( queries );
        f.result = clv_space_query_all64( space, &wide, &lists );
        f.count = f.result == CLV_OK ? lists.count : 0;
        return f;
    }
    clv_query_lists lists = { NULL, narrow, MOST_OBJECTS, 0, 0 };
    f.result = clv_space_query_all( space, queries, &lists );
    f.count = f.result == CLV_OK ? lists.count : 0;
    for ( uint64_t i = 0; i < f.count; ++i )
    {
        f.hits[i] = ( clv_hit64 ){ narrow[i].index, (double)narrow[i].t };
    }
    return f;
}

// The closest, or k nearest, as doubles.
static clv_result ask_few(
    const world_game* game, const clv_space* space, const clv_queries* queries, uint32_t k, clv_hit64* hits )
{
    clv_hit narrow[K];
    bool is_cast = ( (uint32_t)queries->kind & 31u ) >= CLV_QUERY_RAY;
    if ( !game->is_flat )
    {
        const clv_queries64 wide = query_list_as64( queries );
        return is_cast ? clv_space_query_closest64( space, &wide, hits, NULL )
                       : clv_space_query_nearest64( space, &wide, k, INFINITY, hits, NULL );
    }
    clv_result result = is_cast ? clv_space_query_closest( space, queries, narrow, NULL )
                                : clv_space_query_nearest( space, queries, k, INFINITY, narrow, NULL );
    for ( uint32_t i = 0; i < ( is_cast ? 1 : k ) && result == CLV_OK; ++i )
    {
        hits[i] = ( clv_hit64 ){ narrow[i].index, (double)narrow[i].t };
    }
    return result;
}

static bool is_before( clv_hit64 a, clv_hit64 b )
{
    return a.t < b.t || ( a.t == b.t && a.index < b.index );
}

// Each object by itself, in order.
static void check_few( const world_game* game, const clv_queries* queries, uint32_t k )
{
    clv_hit64 expected[MOST_OBJECTS], hits[K];
    uint32_t count = 0;
    clv_result result = ask_few( game, game->world, queries, k, hits );
    for ( uint32_t i = 0; i < game->count; ++i )
    {
        clv_hit64 hit;
        check_both( result, ask_few( game, game->loners[i], queries, 1, &hit ), "few" );
        if ( result != CLV_OK || hit.index == CLV_NO_HIT )
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
    for ( uint32_t i = 0; i < k && result == CLV_OK; ++i )
    {
        FUZZ_CHECK( i >= count ? hits[i].index == CLV_NO_HIT
                               : hits[i].index == expected[i].index && hits[i].t == expected[i].t,
            "kind %d: %u is %u at %g", (int)queries->kind, i, hits[i].index, hits[i].t );
    }
}

static void ask_world( world_game* game )
{
    planes_of planes;
    uint32_t kind = 1 + fuzz_take_byte( &game->bytes ) % CLV_QUERY_CAPSULE_CAST;
    world_item item = take_item( game, kind, &planes );
    clv_queries queries =
        query_list_of( (clv_query_kind)( kind + ( game->is_flat ? FLAT_KINDS : WIDE_KINDS ) ), &item, 1 );
    queries.as_given = fuzz_take_byte( &game->bytes ) % 3 == 0;
    world_found all = ask_all( game, game->world, &queries );
    uint64_t at = 0;
    for ( uint32_t i = 0; i < game->count; ++i )
    {
        world_found alone = ask_all( game, game->loners[i], &queries );
        check_both( all.result, alone.result, "all" );
        bool is_next = at < all.count && all.hits[at].index == i;
        FUZZ_CHECK(
            is_next == ( alone.count > 0 ), "kind %u: object %u, alone %u", kind, i, (unsigned)alone.count );
        FUZZ_CHECK( !is_next || all.hits[at].t == alone.hits[0].t, "kind %u: object %u at %g", kind, i,
            all.hits[at].t );
        at += is_next;
    }
    FUZZ_CHECK( at == all.count, "kind %u: %u of %u", kind, (unsigned)at, (unsigned)all.count );
    if ( kind >= CLV_QUERY_RAY || kind <= CLV_QUERY_BOX )
    {
        check_few( game, &queries, kind >= CLV_QUERY_RAY ? 1 : K );
    }
}

// ---- regions

typedef struct region_pairs
{
    bool is_listed[MOST_REGIONS][MOST_REGIONS];
    uint32_t count;
} region_pairs;

static bool list_regions( const clv_pair* pairs, size_t count, void* user )
{
    region_pairs* listed = user;
    for ( size_t i = 0; i < count; ++i )
    {
        FUZZ_CHECK( pairs[i].a < pairs[i].b && pairs[i].b < MOST_REGIONS &&
                !listed->is_listed[pairs[i].a][pairs[i].b],
            "regions %u %u", pairs[i].a, pairs[i].b );
        listed->is_listed[pairs[i].a][pairs[i].b] = true;
    }
    return true;
}

static void match_regions( world_game* game )
{
    double lower[MOST_REGIONS][CLV_MATCH_AXES], upper[MOST_REGIONS][CLV_MATCH_AXES];
    clv_match_def def = clv_default_match_def();
    def.axis_count = 1 + fuzz_take_byte( &game->bytes ) % CLV_MATCH_AXES;
    uint32_t count = fuzz_take_byte( &game->bytes ) % ( MOST_REGIONS + 1 );
    bool is_good = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t axis = 0; axis < def.axis_count; ++axis )
        {
            lower[i][axis] = (double)fuzz_take_float( &game->bytes );
            upper[i][axis] = lower[i][axis] + (double)( fuzz_take_byte( &game->bytes ) & 7 );
            is_good &= lower[i][axis] <= upper[i][axis];
        }
    }
    region_pairs listed;
    memset( &listed, 0, sizeof( listed ) );
    clv_regions regions = { &lower[0][0], &upper[0][0], sizeof( lower[0] ), count };
    clv_result result = clv_match_regions( &def, regions, list_regions, &listed, NULL );
    FUZZ_CHECK( result == ( is_good ? CLV_OK : CLV_BAD_BOX ), "regions: %d", (int)result );
    for ( uint32_t a = 0; a < count && result == CLV_OK; ++a )
    {
        for ( uint32_t b = a + 1; b < count; ++b )
        {
            bool touch = true;
            for ( uint32_t axis = 0; axis < def.axis_count; ++axis )
            {
                touch = touch && lower[a][axis] <= upper[b][axis] && lower[b][axis] <= upper[a][axis];
            }
            FUZZ_CHECK( touch == listed.is_listed[a][b], "regions %u and %u", a, b );
        }
    }
}

// ---- a game

static void start_game( world_game* game )
{
    static const double places[8] = { 0, 0, 1e9, -1e9, 1e9, 1e15, 1e300, 1e-300 };
    uint8_t kind = fuzz_take_byte( &game->bytes );
    game->is_flat = ( kind & 3 ) == 0;
    game->place = game->is_flat ? 0 : places[kind >> 2 & 7];
    float margin = ( kind & 32 ) != 0 ? 0.5f : 0.0f;
    game->world = make_world( game, margin );
    recorded_begin( game->world, 0 );
    for ( uint32_t i = fuzz_take_byte( &game->bytes ) % ( MOST_OBJECTS + 1 ); i > 0; --i )
    {
        add_one( game, margin );
    }
}

void fuzz_world( const uint8_t* data, size_t size )
{
    world_game game;
    memset( &game, 0, sizeof( game ) );
    game.bytes = ( fuzz_bytes ){ data, size };
    start_game( &game );
    update_worlds( &game, true ); // from here on boxes that change are kept
    for ( int step = 0; step < MOST_STEPS && game.bytes.left > 0; ++step )
    {
        switch ( fuzz_take_byte( &game.bytes ) % 16 )
        {
        case 0:
        case 1: update_worlds( &game, false ); break;
        case 2: update_worlds( &game, true ); break;
        case 3:
        case 4:
        case 5: change_one( &game ); break;
        case 6: shift_all( &game ); break;
        case 7: match_regions( &game ); break;
        default: ask_world( &game ); break;
        }
    }
    clv_space_destroy( game.world );
    for ( uint32_t i = 0; i < game.count; ++i )
    {
        clv_space_destroy( game.loners[i] );
    }
}
