// SPDX-License-Identifier: MIT
// clv_space_move_all and its kin beside clv_space_move of the same objects: the same boxes, pairs, events and
// counters, with slots free in any pattern, and the same refusals.
#include "heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 40000, // above what several workers share
    STEPS = 6
};

typedef enum box_kind
{
    FLOATS,
    FLAT,
    DOUBLES,
    KINDS
} box_kind;

// Which slots are removed.
typedef enum gap_kind
{
    NO_GAP,
    FIRST_GONE,
    LAST_GONE,
    SOME_GONE, // one in 97
    HALF_GONE, // by chance
    RUNS_GONE, // 100 there, 100 not
    ONE_LEFT,
    GAPS
} gap_kind;

typedef struct twins
{
    clv_space *all, *by_id;
    box_kind kind;
    bool is_strided;
    clv_id* ids; // of the live ones, in slot order
    uint32_t count;
    void* records; // boxes in whatever kind
    unsigned char* spread;
} twins;

static size_t corner_of( box_kind kind )
{
    return kind == DOUBLES ? sizeof( clv_vec64 ) : kind == FLAT ? sizeof( clv_vec2 ) : sizeof( clv_vec3 );
}

static bool is_gone( gap_kind gap, uint32_t slot, uint32_t count )
{
    switch ( gap )
    {
    case FIRST_GONE: return slot == 0;
    case LAST_GONE: return slot + 1 == count;
    case SOME_GONE: return slot % 97 == 5;
    case HALF_GONE: return test_mix( slot ) % 2 == 0;
    case RUNS_GONE: return slot / 100 % 2 == 0;
    case ONE_LEFT: return slot != count / 2;
    default: return false;
    }
}

static void write_box( const twins* pair, uint32_t at, clv_aabb box )
{
    char* to = (char*)pair->records + 2 * corner_of( pair->kind ) * at;
    clv_aabb2 flat = { { box.lower.x, box.lower.y }, { box.upper.x, box.upper.y } };
    clv_aabb64 wide = { { (double)box.lower.x, (double)box.lower.y, (double)box.lower.z },
        { (double)box.upper.x, (double)box.upper.y, (double)box.upper.z } };
    const void* from = pair->kind == DOUBLES ? (const void*)&wide : pair->kind == FLAT ? (void*)&flat : &box;
    memcpy( to, from, 2 * corner_of( pair->kind ) );
}

// At any alignment, with garbage in between.
static size_t spread_boxes( const twins* pair )
{
    size_t corner = corner_of( pair->kind ), stride = 2 * corner + 3;
    memset( pair->spread, 0xFF, stride * MOST + 8 );
    for ( uint32_t i = 0; i < pair->count; ++i )
    {
        memcpy( pair->spread + stride * i, (char*)pair->records + 2 * corner * i, 2 * corner );
    }
    return stride;
}

static clv_result add_boxes( const twins* pair, clv_space* space, uint32_t count )
{
    return pair->kind == DOUBLES ? clv_space_add64( space, pair->records, count, NULL )
        : pair->kind == FLAT     ? clv_space_add2( space, pair->records, count, NULL )
                                 : clv_space_add( space, pair->records, count, NULL );
}

static clv_result move_by_id( const twins* pair )
{
    return pair->kind == DOUBLES ? clv_space_move64( pair->by_id, pair->ids, pair->records, pair->count )
        : pair->kind == FLAT     ? clv_space_move2( pair->by_id, pair->ids, pair->records, pair->count )
                                 : clv_space_move( pair->by_id, pair->ids, pair->records, pair->count );
}

static clv_result move_strided( const twins* pair, uint32_t count )
{
    size_t corner = corner_of( pair->kind ), stride = spread_boxes( pair );
    const void *lower = pair->spread, *upper = pair->spread + corner;
    return pair->kind == DOUBLES
        ? clv_space_move_all_strided64( pair->all, ( clv_box_stream64 ){ lower, upper, stride }, count )
        : pair->kind == FLAT
        ? clv_space_move_all_strided2( pair->all, ( clv_box_stream2 ){ lower, upper, stride }, count )
        : clv_space_move_all_strided( pair->all, ( clv_box_stream ){ lower, upper, stride }, count );
}

static clv_result move_all( const twins* pair, uint32_t count )
{
    return pair->is_strided     ? move_strided( pair, count )
        : pair->kind == DOUBLES ? clv_space_move_all64( pair->all, pair->records, count )
        : pair->kind == FLAT    ? clv_space_move_all2( pair->all, pair->records, count )
                                : clv_space_move_all( pair->all, pair->records, count );
}

static clv_aabb place( uint32_t slot, uint32_t count, uint32_t frame )
{
    test_random random = test_random_make( slot );
    clv_aabb box = test_crowd_box( TEST_CROWD_SPREAD, count, &random );
    random = test_random_make( ( (uint64_t)frame << 32 ) + slot );
    return frame == 0 ? box : test_crowd_step( TEST_CROWD_SPREAD, box, &random );
}

static twins twins_open(
    box_kind kind, bool is_strided, gap_kind gap, uint32_t count, clv_space_def def, bool has_margins )
{
    twins pair = { .kind = kind, .is_strided = is_strided };
    def.flat = kind == FLAT;
    def.doubles = kind == DOUBLES;
    def.events = true;
    CHECK( count <= MOST );
    pair.ids = test_alloc( count, sizeof( clv_id ) );
    pair.records = test_alloc( MOST, sizeof( clv_aabb64 ) );
    pair.spread = test_alloc( MOST, sizeof( clv_aabb64 ) + 4 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        write_box( &pair, i, place( i, count, 0 ) );
    }
    for ( int which = 0; which < 2; ++which )
    {
        clv_space** space = which == 0 ? &pair.all : &pair.by_id;
        CHECK_OK( clv_space_create( &def, space ) );
        CHECK_OK( add_boxes( &pair, *space, count ) );
        if ( has_margins )
        {
            float margin = 0.25f;
            clv_id id = clv_space_id_at( *space, count / 2 );
            CHECK_OK( clv_space_set_margin( *space, &id, &margin, 1 ) );
        }
        for ( uint32_t slot = 0; slot < count; ++slot )
        {
            if ( is_gone( gap, slot, count ) )
            {
                CHECK_OK( clv_space_remove_one( *space, clv_space_id_at( *space, slot ) ) );
            }
        }
    }
    for ( uint32_t slot = 0; slot < count; ++slot )
    {
        clv_id id = clv_space_id_at( pair.by_id, slot );
        if ( !clv_id_is_null( id ) )
        {
            pair.ids[pair.count++] = id;
        }
    }
    return pair;
}

static void twins_close( twins* pair )
{
    clv_space_destroy( pair->all );
    clv_space_destroy( pair->by_id );
    free( pair->ids );
    free( pair->records );
    free( pair->spread );
}

static void check_same_boxes( const twins* pair )
{
    for ( uint32_t i = 0; i < pair->count; ++i )
    {
        clv_aabb64 a, b;
        memset( &a, 0, sizeof( a ) );
        memset( &b, 0, sizeof( b ) );
        for ( int which = 0; which < 2; ++which )
        {
            const clv_space* space = which == 0 ? pair->all : pair->by_id;
            void* to = which == 0 ? &a : &b;
            CHECK_OK( pair->kind == DOUBLES ? clv_space_get_test_box64( space, pair->ids[i], to )
                    : pair->kind == FLAT    ? clv_space_get_test_box2( space, pair->ids[i], to )
                                            : clv_space_get_test_box( space, pair->ids[i], to ) );
        }
        CHECK( memcmp( &a, &b, sizeof( a ) ) == 0 );
    }
}

static void check_same_update( const twins* pair )
{
    CHECK_OK( clv_space_update( pair->all ) );
    CHECK_OK( clv_space_update( pair->by_id ) );
    clv_pair_view a = clv_space_pairs( pair->all ), b = clv_space_pairs( pair->by_id );
    CHECK_EQUAL( test_order_hash( a.pairs, a.count ), test_order_hash( b.pairs, b.count ) );
    clv_event_view is = clv_space_events( pair->all ), was = clv_space_events( pair->by_id );
    CHECK_EQUAL( is.begun_count, was.begun_count );
    CHECK_EQUAL( is.ended_count, was.ended_count );
    CHECK(
        is.begun_count == 0 || memcmp( is.begun, was.begun, is.begun_count * sizeof( clv_id_pair ) ) == 0 );
    CHECK(
        is.ended_count == 0 || memcmp( is.ended, was.ended, is.ended_count * sizeof( clv_id_pair ) ) == 0 );
}

// In the last two steps nothing moves.
static void live_alike( twins* pair, uint32_t slots )
{
    uint64_t pairs = 0;
    for ( uint32_t frame = 1; frame <= STEPS; ++frame )
    {
        test_where.frame = frame;
        for ( uint32_t i = 0; i < pair->count; ++i )
        {
            write_box( pair, i, place( pair->ids[i].index, slots, frame < STEPS - 1 ? frame : STEPS - 2 ) );
        }
        CHECK_OK( move_all( pair, pair->count ) );
        CHECK_OK( move_by_id( pair ) );
        check_same_boxes( pair );
        check_same_update( pair );
        pairs += clv_space_pairs( pair->all ).count;
    }
    CHECK( pair->count < 100 || pairs > 0 );
}

static void all_boxes_without_ids_are_those_with_ids( void )
{
    static const char* const settings[] = { NULL, "cleave.rest=1,cleave.rest_least=0" };
    for ( uint32_t choice = 0; choice < (uint32_t)KINDS * GAPS * 8; ++choice )
    {
        box_kind kind = (box_kind)( choice % KINDS );
        gap_kind gap = (gap_kind)( choice / KINDS % GAPS );
        uint32_t bits = choice / KINDS / GAPS;
        clv_space_def def = clv_default_space_def();
        def.settings = settings[bits / 4];
        test_where.seed = choice;
        twins pair = twins_open( kind, ( bits & 1 ) != 0, gap, 700, def, ( bits & 2 ) != 0 );
        live_alike( &pair, 700 );
        twins_close( &pair );
    }
}

static void workers_share_them( void )
{
    for ( uint32_t choice = 0; choice < (uint32_t)KINDS * GAPS; ++choice )
    {
        gap_kind gap = (gap_kind)( choice / KINDS );
        if ( gap == ONE_LEFT || !test_is_share( choice, 4 ) )
        {
            continue;
        }
        clv_space_def def = clv_default_space_def();
        def.worker_count = 4;
        test_where.seed = choice;
        twins pair = twins_open( (box_kind)( choice % KINDS ), false, gap, MOST, def, false );
        live_alike( &pair, MOST );
        twins_close( &pair );
    }
}

// Counted, since the pairs would be right all the same: boxes that stay are not looked at.
static void a_world_with_gaps_that_does_not_move_rests( void )
{
    for ( int kind = 0; kind < KINDS; ++kind )
    {
        twins pair = twins_open( (box_kind)kind, false, SOME_GONE, 4000, clv_default_space_def(), false );
        for ( uint32_t i = 0; i < pair.count; ++i )
        {
            write_box( &pair, i, place( pair.ids[i].index, 4000, 0 ) );
        }
        for ( uint32_t frame = 0; frame < 20; ++frame )
        {
            CHECK_OK( move_all( &pair, pair.count ) );
            CHECK_OK( clv_space_update( pair.all ) );
        }
        CHECK( clv_space_pairs( pair.all ).count > 0 );
        CHECK_EQUAL( clv_space_stats( pair.all ).test_count, 0 );
        twins_close( &pair );
    }
}

static void check_refused( twins* pair, uint32_t count, clv_result code, uint32_t position, clv_id id )
{
    CHECK_RESULT( move_all( pair, count ), code );
    clv_error error = clv_space_error( pair->all );
    CHECK_RESULT( error.code, code );
    CHECK_EQUAL( error.position, position );
    CHECK( clv_id_equals( error.id, id ) );
    check_same_boxes( pair );
}

static void a_bad_box_is_named_and_nothing_moves( void )
{
    for ( uint32_t choice = 0; choice < 2u * KINDS * GAPS; ++choice )
    {
        gap_kind gap = (gap_kind)( choice / 2 / KINDS );
        box_kind kind = (box_kind)( choice / 2 % KINDS );
        twins pair = twins_open( kind, choice % 2 == 1, gap, 300, clv_default_space_def(), false );
        CHECK_OK( clv_space_update( pair.all ) );
        CHECK_OK( clv_space_update( pair.by_id ) );
        for ( uint32_t at = 0; at < pair.count; at += 23 )
        {
            for ( uint32_t i = 0; i < pair.count; ++i )
            {
                write_box( &pair, i, test_cube( 3 * (float)i, 1, 1, 1 ) );
            }
            write_box( &pair, at, test_box( 0, 2, 0, 1, NAN, 1 ) );
            check_refused( &pair, pair.count, CLV_BAD_BOX, at, pair.ids[at] );
        }
        twins_close( &pair );
    }
}

static void another_count_is_refused_with_the_right_one( void )
{
    twins pair = twins_open( FLOATS, false, SOME_GONE, 300, clv_default_space_def(), false );
    char expected[64];
    snprintf( expected, sizeof( expected ), "%u boxes for all objects, and there are %u", 300u, pair.count );
    check_refused( &pair, 300, CLV_BAD_ARGUMENT, UINT32_MAX, clv_null_id() );
    CHECK_TEXT( clv_space_error( pair.all ).text, expected );
    check_refused( &pair, 0, CLV_BAD_ARGUMENT, UINT32_MAX, clv_null_id() );
    check_refused( &pair, pair.count - 1, CLV_BAD_ARGUMENT, UINT32_MAX, clv_null_id() );
    CHECK_OK( move_all( &pair, pair.count ) );
    clv_space_clear( pair.all );
    CHECK_OK( clv_space_move_all( pair.all, NULL, 0 ) );
    CHECK_OK( clv_space_move_all_strided( pair.all, ( clv_box_stream ){ 0 }, 0 ) );
    CHECK_RESULT( clv_space_move_all( pair.all, pair.records, 1 ), CLV_BAD_ARGUMENT );
    twins_close( &pair );
}

static void other_kinds_of_boxes_and_short_strides_are_refused( void )
{
    clv_aabb64 zeros[2];
    memset( zeros, 0, sizeof( zeros ) );
    for ( int own = 0; own < KINDS; ++own )
    {
        twins pair = twins_open( (box_kind)own, false, NO_GAP, 2, clv_default_space_def(), false );
        CHECK_RESULT(
            clv_space_move_all( pair.all, pair.records, 2 ), own == FLOATS ? CLV_OK : CLV_UNSUPPORTED );
        CHECK_RESULT(
            clv_space_move_all2( pair.all, pair.records, 2 ), own == FLAT ? CLV_OK : CLV_UNSUPPORTED );
        CHECK_RESULT( clv_space_move_all64( pair.all, zeros, 2 ), own == DOUBLES ? CLV_OK : CLV_UNSUPPORTED );
        twins_close( &pair );
    }
    float floats[12] = { 0 };
    double doubles[12] = { 0 };
    twins pair = twins_open( FLOATS, false, NO_GAP, 2, clv_default_space_def(), false );
    CHECK_RESULT( clv_space_move_all_strided( pair.all, ( clv_box_stream ){ floats, floats, 11 }, 2 ),
        CLV_BAD_ARGUMENT );
    twins_close( &pair );
    pair = twins_open( DOUBLES, false, NO_GAP, 2, clv_default_space_def(), false );
    CHECK_RESULT( clv_space_move_all_strided64( pair.all, ( clv_box_stream64 ){ doubles, doubles, 23 }, 2 ),
        CLV_BAD_ARGUMENT );
    twins_close( &pair );
    pair = twins_open( FLAT, false, NO_GAP, 2, clv_default_space_def(), false );
    CHECK_RESULT( clv_space_move_all_strided2( pair.all, ( clv_box_stream2 ){ floats, floats, 7 }, 2 ),
        CLV_BAD_ARGUMENT );
    twins_close( &pair );
}

// Slots are listed after removals alone, and not again before the next.
static void out_of_memory_moves_nothing_and_the_next_call_works( void )
{
    heap memory = { 0 };
    clv_space_def def = clv_default_space_def();
    def.allocator = heap_hooks( &memory );
    clv_space* space;
    clv_aabb boxes[100], box;
    for ( uint32_t i = 0; i < 100; ++i )
    {
        boxes[i] = test_cube( 3 * (float)i, 0, 0, 1 );
    }
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, 100, NULL ) );
    uint64_t before = memory.allocate_count;
    CHECK_OK( clv_space_move_all( space, boxes, 100 ) );
    CHECK_EQUAL( memory.allocate_count, before );
    CHECK_OK( clv_space_remove_one( space, clv_space_id_at( space, 10 ) ) );
    memory.refuse_from = memory.allocate_count + 1;
    memory.refuse_count = UINT64_MAX;
    CHECK_RESULT( clv_space_move_all( space, boxes, 99 ), CLV_OUT_OF_MEMORY );
    CHECK( strlen( clv_space_error( space ).text ) > 8 );
    CHECK_OK( clv_space_get_box( space, clv_space_id_at( space, 11 ), &box ) );
    CHECK( memcmp( &box, &boxes[11], sizeof( box ) ) == 0 );
    heap_heal( &memory );
    CHECK_OK( clv_space_move_all( space, boxes, 99 ) );
    CHECK_OK( clv_space_get_box( space, clv_space_id_at( space, 11 ), &box ) );
    CHECK( memcmp( &box, &boxes[10], sizeof( box ) ) == 0 );
    before = memory.allocate_count;
    CHECK_OK( clv_space_move_all( space, boxes, 99 ) );
    CHECK_EQUAL( memory.allocate_count, before );
    clv_space_destroy( space );
    CHECK_EQUAL( memory.bytes, 0 );
}

// Queries see the boxes of the last update until the next.
static void queries_see_them_after_the_next_update( void )
{
    twins pair = twins_open( FLOATS, false, HALF_GONE, 300, clv_default_space_def(), false );
    clv_aabb far_away = test_cube( 1e6f, 0, 0, 1 );
    for ( uint32_t i = 0; i < pair.count; ++i )
    {
        write_box( &pair, i, far_away );
    }
    clv_queries queries = clv_query_boxes( &far_away, 1 );
    for ( int frame = 0; frame < 2; ++frame )
    {
        clv_hit hits[300];
        clv_query_lists lists = { .hits = hits, .capacity = 300 };
        CHECK_OK( clv_space_update( pair.all ) );
        CHECK_OK( clv_space_query_all( pair.all, &queries, &lists ) );
        CHECK_EQUAL( lists.count, frame == 0 ? 0 : pair.count );
        CHECK_OK( move_all( &pair, pair.count ) );
        CHECK_OK( clv_space_query_all( pair.all, &queries, &lists ) );
        CHECK_EQUAL( lists.count, frame == 0 ? 0 : pair.count );
    }
    twins_close( &pair );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( all_boxes_without_ids_are_those_with_ids ),
        TEST_CASE( workers_share_them ),
        TEST_CASE( a_world_with_gaps_that_does_not_move_rests ),
        TEST_CASE( a_bad_box_is_named_and_nothing_moves ),
        TEST_CASE( another_count_is_refused_with_the_right_one ),
        TEST_CASE( other_kinds_of_boxes_and_short_strides_are_refused ),
        TEST_CASE( out_of_memory_moves_nothing_and_the_next_call_works ),
        TEST_CASE( queries_see_them_after_the_next_update ),
    };
    return test_run( "move_all", cases, TEST_COUNT( cases ), argc, argv );
}
