// SPDX-License-Identifier: MIT
// The kernels that src/methods/kd and src/methods/sweep brought along, each against the scalar table: same
// answers, same order, same counts, tails included, and with a sink that is full all the time.
#include "base/bit_set.h"
#include "cleave/world.h"
#include "rest/margin.h"
#include "simd/box_lanes.h"
#include "simd/method_kernels.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 200
};

typedef struct tight_sink
{
    clv_pair_sink sink;
    clv_pair room[CLV_PAIR_SINK_ROOM + 5]; // little more than a kernel may ask for
    clv_pair all[MOST * MOST];
    uint64_t all_count;
} tight_sink;

static clv_result drain( clv_pair_sink* sink )
{
    tight_sink* tight = (tight_sink*)sink;
    memcpy( tight->all + tight->all_count, sink->pairs, sink->count * sizeof( clv_pair ) );
    tight->all_count += sink->count;
    sink->count = 0;
    return CLV_OK;
}

static void tight_open( tight_sink* tight )
{
    tight->sink = ( clv_pair_sink ){
        .pairs = tight->room,
        .capacity = sizeof( tight->room ) / sizeof( tight->room[0] ),
        .make_room = drain,
    };
    tight->all_count = 0;
}

static void check_same( tight_sink* a, tight_sink* b )
{
    drain( &a->sink );
    drain( &b->sink );
    CHECK_EQUAL( a->all_count, b->all_count );
    CHECK_EQUAL( test_order_hash( a->all, a->all_count ), test_order_hash( b->all, b->all_count ) );
}

typedef struct hand
{
    clv_aabb boxes[MOST];
    uint32_t count;
} hand;

static int compare_lower( const void* a, const void* b )
{
    float x = ( (const clv_aabb*)a )->lower.x, y = ( (const clv_aabb*)b )->lower.x;
    return ( x > y ) - ( x < y );
}

static void deal( hand* h, test_random* random )
{
    // Whole numbers, so that bounds are often equal.
    h->count = test_random_below( random, MOST + 1 );
    for ( uint32_t i = 0; i < h->count; ++i )
    {
        float at[6];
        for ( int k = 0; k < 3; ++k )
        {
            at[k] = (float)test_random_below( random, 20 );
            at[3 + k] = at[k] + (float)test_random_below( random, 6 );
        }
        h->boxes[i] = test_box( at[0], at[1], at[2], at[3], at[4], at[5] );
    }
    qsort( h->boxes, h->count, sizeof( clv_aabb ), compare_lower );
}

static void fill_lanes( simd_box_lanes* lanes, base_memory* memory, const hand* h, uint32_t first_slot )
{
    CHECK( clv_simd_box_lanes_reserve( lanes, memory, h->count ) );
    for ( uint32_t i = 0; i < h->count; ++i )
    {
        simd_box_lanes_set( &lanes->boxes, i, &h->boxes[i], first_slot + i, 0 );
    }
    clv_simd_box_lanes_finish( lanes, h->count );
}

// A list, and of which entries it is known that they move.
typedef struct mover_hand
{
    simd_list list;
    uint64_t movers[MOST / 64 + 3];
} mover_hand;

static void choose_movers( mover_hand* h, const simd_boxes* boxes, uint32_t percent, test_random* random )
{
    memset( h->movers, 0, sizeof( h->movers ) );
    for ( uint32_t i = 0; i < TEST_COUNT( h->movers ) * 64; ++i )
    {
        base_bits_put( h->movers, i, i >= boxes->count || test_random_chance( random, percent ) );
    }
    h->list = ( simd_list ){ boxes, h->movers };
}

static void cross_with( const simd_method_kernels* kernels, const simd_list* a, const simd_list* b,
    tight_sink* tight, uint64_t* tests )
{
    simd_cross_cursor cursor = { { 0, 0 }, 0 };
    *tests = 0;
    tight_open( tight );
    while ( !kernels->sweep_cross( a, b, &cursor, &tight->sink, tests ) )
    {
        drain( &tight->sink );
    }
}

static void movers_with(
    const simd_method_kernels* kernels, const simd_list* list, tight_sink* tight, uint64_t* tests )
{
    simd_cursor cursor = { 0, 0 };
    *tests = 0;
    tight_open( tight );
    while ( !kernels->sweep_movers( list, &cursor, &tight->sink, tests ) )
    {
        drain( &tight->sink );
    }
}

static void each_isa( void ( *body )( const simd_method_kernels* kernels, test_random* random ) )
{
    for ( clv_isa isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        const simd_method_kernels* kernels = clv_simd_method_kernels_for( isa );
        for ( uint64_t seed = 1; kernels != NULL && seed <= test_scaled( 200 ); ++seed )
        {
            test_where.isa = isa;
            test_where.seed = seed;
            test_random random = test_random_make( seed );
            body( kernels, &random );
        }
    }
}

static uint64_t brute_movers(
    const mover_hand* a, const hand* first, const mover_hand* b, const hand* second )
{
    uint64_t count = 0;
    for ( uint32_t i = 0; i < first->count; ++i )
    {
        for ( uint32_t j = first == second ? i + 1 : 0; j < second->count; ++j )
        {
            bool moves = base_bits_has( a->movers, i ) || base_bits_has( b->movers, j );
            count += moves && clv_aabb_overlap( first->boxes[i], second->boxes[j] );
        }
    }
    return count;
}

static void check_crossed(
    const simd_method_kernels* kernels, const simd_list* a, const simd_list* b, uint64_t expected_count )
{
    static tight_sink mine, theirs;
    uint64_t tests, expected_tests;
    cross_with( kernels, a, b, &mine, &tests );
    cross_with( clv_simd_method_kernels_for( CLV_ISA_SCALAR ), a, b, &theirs, &expected_tests );
    check_same( &mine, &theirs );
    CHECK_EQUAL( tests, expected_tests );
    CHECK_EQUAL( mine.all_count, expected_count );
}

// All move; then a few or many do, and pairs of two at rest are left out.
static void cross_body( const simd_method_kernels* kernels, test_random* random )
{
    static hand first, second;
    static mover_hand a_movers, b_movers;
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    simd_box_lanes a = { 0 }, b = { 0 };
    deal( &first, random );
    deal( &second, random );
    fill_lanes( &a, &memory, &first, 0 );
    fill_lanes( &b, &memory, &second, MOST );
    simd_list all_a = { &a.boxes, NULL }, all_b = { &b.boxes, NULL };
    choose_movers( &a_movers, &a.boxes, 100, random );
    choose_movers( &b_movers, &b.boxes, 100, random );
    check_crossed( kernels, &all_a, &all_b, brute_movers( &a_movers, &first, &b_movers, &second ) );
    choose_movers( &a_movers, &a.boxes, test_random_below( random, 101 ), random );
    choose_movers( &b_movers, &b.boxes, test_random_below( random, 20 ), random );
    check_crossed(
        kernels, &a_movers.list, &b_movers.list, brute_movers( &a_movers, &first, &b_movers, &second ) );
    clv_simd_box_lanes_release( &a, &memory );
    clv_simd_box_lanes_release( &b, &memory );
}

static void movers_body( const simd_method_kernels* kernels, test_random* random )
{
    static tight_sink mine, theirs;
    static hand h;
    static mover_hand movers;
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    simd_box_lanes lanes = { 0 };
    deal( &h, random );
    fill_lanes( &lanes, &memory, &h, 0 );
    choose_movers( &movers, &lanes.boxes, test_random_below( random, 101 ), random );
    uint64_t tests, expected_tests;
    movers_with( kernels, &movers.list, &mine, &tests );
    movers_with( clv_simd_method_kernels_for( CLV_ISA_SCALAR ), &movers.list, &theirs, &expected_tests );
    check_same( &mine, &theirs );
    CHECK_EQUAL( tests, expected_tests );
    CHECK_EQUAL( mine.all_count, brute_movers( &movers, &h, &movers, &h ) );
    clv_simd_box_lanes_release( &lanes, &memory );
}

static void pairs_at_rest_are_left_out_alike_everywhere( void )
{
    each_isa( movers_body );
}

static void two_lists_are_swept_alike_everywhere( void )
{
    each_isa( cross_body );
}

// Small boxes over the hand's own numbers; the first axis in one bucket, so that every column is in range.
typedef struct small_hand
{
    int16_t lower[2][MOST + SMALL_ROUND], upper[2][MOST + SMALL_ROUND];
    uint32_t slots[MOST + SMALL_ROUND], ends[MOST];
    simd_small_row rows[MOST];
    simd_small_boxes boxes;
} small_hand;

static void make_small_hand( small_hand* s, const hand* h, test_random* random )
{
    memset( s, 0, sizeof( *s ) );
    for ( uint32_t i = 0; i < h->count; ++i )
    {
        s->lower[0][i] = (int16_t)h->boxes[i].lower.y, s->upper[0][i] = (int16_t)h->boxes[i].upper.y;
        s->lower[1][i] = (int16_t)h->boxes[i].lower.z, s->upper[1][i] = (int16_t)h->boxes[i].upper.z;
        s->slots[i] = i | ( test_random_chance( random, 20 ) ? SMALL_AGAIN : 0 );
        s->ends[i] = i + 1 + test_random_below( random, h->count - i );
        uint32_t begin = test_random_below( random, h->count + 1 );
        s->rows[i] = ( simd_small_row ){
            { s->lower[0][i], s->lower[1][i] },
            { s->upper[0][i], s->upper[1][i] },
            s->slots[i],
            begin,
            begin + test_random_below( random, h->count - begin + 1 ),
        };
    }
    s->boxes = ( simd_small_boxes ){
        { s->lower[0], s->lower[1] },
        { s->upper[0], s->upper[1] },
        s->slots,
        s->ends,
        h->count,
        h->boxes,
    };
}

static void small_with(
    const simd_method_kernels* kernels, const small_hand* s, bool cross, tight_sink* tight, uint64_t* tests )
{
    simd_cursor cursor = { 0, 0 };
    *tests = 0;
    tight_open( tight );
    while ( cross ? !kernels->cross_small( s->rows, s->boxes.count, &s->boxes, &cursor, &tight->sink, tests )
                  : !kernels->sweep_small( &s->boxes, &cursor, &tight->sink, tests ) )
    {
        drain( &tight->sink );
    }
}

static uint64_t small_brute( const small_hand* s, const hand* h, bool cross )
{
    uint64_t count = 0;
    for ( uint32_t i = 0; i < h->count; ++i )
    {
        uint32_t begin = cross ? s->rows[i].begin : i + 1;
        uint32_t end = cross ? s->rows[i].end : s->ends[i];
        for ( uint32_t j = begin; j < end; ++j )
        {
            bool again = ( s->slots[i] & s->slots[j] & SMALL_AGAIN ) != 0;
            count += !again && clv_aabb_overlap( h->boxes[i], h->boxes[j] );
        }
    }
    return count;
}

static void small_body( const simd_method_kernels* kernels, test_random* random )
{
    static tight_sink mine, theirs;
    static hand h;
    static small_hand s;
    deal( &h, random );
    make_small_hand( &s, &h, random );
    for ( int cross = 0; cross < 2; ++cross )
    {
        uint64_t tests, expected_tests;
        small_with( kernels, &s, cross != 0, &mine, &tests );
        small_with( clv_simd_method_kernels_for( CLV_ISA_SCALAR ), &s, cross != 0, &theirs, &expected_tests );
        check_same( &mine, &theirs );
        CHECK_EQUAL( tests, expected_tests );
        CHECK_EQUAL( mine.all_count, small_brute( &s, &h, cross != 0 ) );
    }
}

static void small_boxes_are_swept_alike_everywhere( void )
{
    each_isa( small_body );
}

static void spread_body( const simd_method_kernels* kernels, test_random* random )
{
    static simd_small_item items[MOST];
    static small_hand mine, theirs;
    static uint32_t starts[33];
    memset( &mine, 0, sizeof( mine ) );
    for ( uint32_t i = 0; i < 33; ++i )
    {
        starts[i] = (uint32_t)test_random_next( random );
    }
    uint32_t count = test_random_below( random, MOST + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            items[i].lower[axis] = (int16_t)test_random_below( random, 32768 );
            items[i].upper[axis] = (int16_t)test_random_below( random, 32768 );
        }
        items[i].slot = (uint32_t)test_random_next( random );
    }
    theirs = mine;
    uint32_t axis = test_random_below( random, 3 );
    simd_small_turn turn = { axis, ( axis + 1 ) % 3, ( axis + 2 ) % 3, starts, 10 };
    uint32_t begin = test_random_below( random, count + 1 );
    simd_small_boxes boxes = { { mine.lower[0], mine.lower[1] }, { mine.upper[0], mine.upper[1] }, mine.slots,
        mine.ends, count, NULL };
    kernels->spread_small( items, begin, count, &turn, &boxes );
    simd_small_boxes expected = { { theirs.lower[0], theirs.lower[1] }, { theirs.upper[0], theirs.upper[1] },
        theirs.slots, theirs.ends, count, NULL };
    clv_simd_method_kernels_for( CLV_ISA_SCALAR )->spread_small( items, begin, count, &turn, &expected );
    CHECK( memcmp( &mine, &theirs, sizeof( mine ) ) == 0 );
}

static void small_boxes_are_spread_alike_everywhere( void )
{
    each_isa( spread_body );
}

static float any_bound( test_random* random )
{
    static const float special[] = { -INFINITY, INFINITY, 0, -0.0f, 3e38f, -3e38f, 1e-40f };
    uint32_t pick = test_random_below( random, 30 );
    return pick < TEST_COUNT( special ) ? special[pick] : test_random_between( random, -50, 50 );
}

static void step_body( const simd_method_kernels* kernels, test_random* random )
{
    simd_item items[MOST];
    clv_aabb boxes[MOST]; // the same, last first
    uint32_t slots[MOST];
    simd_small_item mine[MOST], theirs[MOST], gathered[MOST];
    uint32_t count = test_random_below( random, MOST + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        items[i] = ( simd_item ){ { 0 }, (uint32_t)test_random_next( random ), { 0 }, i % 2 };
        for ( int axis = 0; axis < 3; ++axis )
        {
            items[i].lower[axis] = any_bound( random );
            items[i].upper[axis] = any_bound( random );
        }
        slots[i] = count - 1 - i;
        memcpy( &boxes[slots[i]].lower, items[i].lower, sizeof( clv_vec3 ) );
        memcpy( &boxes[slots[i]].upper, items[i].upper, sizeof( clv_vec3 ) );
    }
    simd_small_grid grid = { { -40, -10, 5, 0 },
        { 400, 1000, test_random_chance( random, 30 ) ? 0.0f : 7.5f, 0 } };
    kernels->make_small( items, count, &grid, mine );
    kernels->gather_small( boxes, slots, count, &grid, gathered );
    clv_simd_method_kernels_for( CLV_ISA_SCALAR )->make_small( items, count, &grid, theirs );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CHECK( memcmp( mine[i].lower, theirs[i].lower, 3 * sizeof( int16_t ) ) == 0 );
        CHECK( memcmp( mine[i].upper, theirs[i].upper, 3 * sizeof( int16_t ) ) == 0 );
        CHECK( memcmp( gathered[i].lower, theirs[i].lower, 3 * sizeof( int16_t ) ) == 0 );
        CHECK( memcmp( gathered[i].upper, theirs[i].upper, 3 * sizeof( int16_t ) ) == 0 );
        CHECK( mine[i].lower[0] >= 0 && mine[i].upper[2] >= 0 );
    }
}

static void steps_come_out_alike_everywhere( void )
{
    each_isa( step_body );
}

static void slots_body( const simd_method_kernels* kernels, test_random* random )
{
    const simd_method_kernels* scalar = clv_simd_method_kernels_for( CLV_ISA_SCALAR );
    static hand h;
    uint32_t mine[MOST], theirs[MOST], my_leavers[MOST], their_leavers[MOST];
    deal( &h, random );
    for ( uint32_t i = 0; i < h.count; ++i )
    {
        mine[i] = theirs[i] = test_random_below( random, h.count );
    }
    const float lower[3] = { -INFINITY, 3, 2 }, upper[3] = { 12, 20, INFINITY };
    uint32_t left = kernels->take_leavers( h.boxes, lower, upper, mine, h.count, my_leavers );
    CHECK_EQUAL( left, scalar->take_leavers( h.boxes, lower, upper, theirs, h.count, their_leavers ) );
    CHECK( memcmp( mine, theirs, ( h.count - left ) * sizeof( uint32_t ) ) == 0 );
    CHECK( memcmp( my_leavers, their_leavers, left * sizeof( uint32_t ) ) == 0 );

    clv_aabb box = test_box( 4, 4, 4, 9, INFINITY, 9 );
    uint32_t hits = kernels->pick_overlapping( h.boxes, mine, h.count - left, &box, my_leavers );
    CHECK_EQUAL( hits, scalar->pick_overlapping( h.boxes, mine, h.count - left, &box, their_leavers ) );
    CHECK( memcmp( my_leavers, their_leavers, hits * sizeof( uint32_t ) ) == 0 );
    hits = kernels->scan_overlapping( h.boxes, h.count, &box, my_leavers );
    CHECK_EQUAL( hits, scalar->scan_overlapping( h.boxes, h.count, &box, their_leavers ) );
    CHECK( memcmp( my_leavers, their_leavers, hits * sizeof( uint32_t ) ) == 0 );
}

static void pairs_body( const simd_method_kernels* kernels, test_random* random )
{
    static hand h;
    static clv_pair pairs[MOST], mine[MOST], theirs[MOST];
    deal( &h, random );
    uint32_t count = h.count > 0 ? test_random_below( random, MOST + 1 ) : 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        pairs[i] = ( clv_pair ){ test_random_below( random, h.count ), test_random_below( random, h.count ) };
    }
    uint32_t kept = kernels->keep_overlapping( h.boxes, pairs, count, mine );
    CHECK_EQUAL( kept,
        clv_simd_method_kernels_for( CLV_ISA_SCALAR )->keep_overlapping( h.boxes, pairs, count, theirs ) );
    CHECK( memcmp( mine, theirs, kept * sizeof( clv_pair ) ) == 0 );
}

// Where the pairs lie is as good a place for what is left of them.
static void in_place_body( const simd_method_kernels* kernels, test_random* random )
{
    static hand h;
    static clv_pair pairs[MOST], kept[MOST];
    deal( &h, random );
    uint32_t count = h.count > 0 ? test_random_below( random, MOST + 1 ) : 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        pairs[i] = ( clv_pair ){ test_random_below( random, h.count ), test_random_below( random, h.count ) };
    }
    uint32_t expected = kernels->keep_overlapping( h.boxes, pairs, count, kept );
    CHECK_EQUAL( kernels->keep_overlapping( h.boxes, pairs, count, pairs ), expected );
    CHECK( memcmp( pairs, kept, expected * sizeof( clv_pair ) ) == 0 );
}

static void pairs_may_be_kept_in_place( void )
{
    each_isa( in_place_body );
}

// As an array, and as corners that lie apart; with two axes where the third cannot matter.
static bool are_good_both_ways( const simd_method_kernels* kernels, const clv_aabb* boxes, uint32_t count )
{
    const simd_kernels* table = clv_simd_kernels_for( kernels->isa );
    size_t corner = sizeof( clv_vec3 );
    bool is_deep_good = true, is_good = table->are_good( boxes, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        is_deep_good &= boxes[i].lower.z <= boxes[i].upper.z;
    }
    for ( size_t gap = 0; gap < 6; ++gap ) // 4 bytes pad a corner to a register's half
    {
        size_t stride = 2 * corner + 2 * gap + 1;
        char* apart = malloc( MOST * stride ); // of which nothing between or behind is written
        CHECK( apart != NULL );
        char* upper = apart + corner + gap;
        for ( uint32_t i = 0; i < count; ++i )
        {
            memcpy( apart + i * stride, &boxes[i].lower, corner );
            memcpy( upper + i * stride, &boxes[i].upper, corner );
        }
        CHECK( table->are_good_apart( apart, upper, stride, corner, count ) == is_good );
        bool is_flat_good = table->are_good_apart( apart, upper, stride, sizeof( clv_vec2 ), count );
        CHECK( ( is_flat_good && is_deep_good ) == is_good );
        free( apart );
    }
    return is_good;
}

// Boxes with any gap between their corners, into slots that ascend or do not; slots between stay as they are.
static void put_body( const simd_method_kernels* kernels, test_random* random )
{
    enum
    {
        SLOTS = 200
    };
    const simd_kernels* table = clv_simd_kernels_for( kernels->isa );
    size_t corner = sizeof( clv_vec3 ), gap = test_random_below( random, 6 ), stride = 2 * corner + 2 * gap;
    char records[SIMD_RUN * ( 2 * sizeof( clv_vec3 ) + 10 )];
    clv_aabb boxes[SIMD_RUN], own[2][SLOTS], expected[SLOTS];
    clv_id ids[SIMD_RUN];
    uint64_t marks[2][( SLOTS + 63 ) / 64] = { { 0 } }, near = 0;
    uint32_t first = test_random_below( random, SLOTS - 64 ),
             count = test_random_below( random, SIMD_RUN + 1 );
    memset( records, 0xFF, sizeof( records ) ); // NaN
    memset( own, 0, sizeof( own ) );
    memset( expected, 0, sizeof( expected ) );
    for ( uint32_t i = 0; i < SIMD_RUN; ++i )
    {
        float x = test_random_between( random, -9, 9 );
        boxes[i] = test_box( x, 2, 3, x + 1, 4, 5 );
        ids[i] = ( clv_id ){ first + 4 * i + test_random_below( random, 4 ), 1 };
        memcpy( records + i * stride, &boxes[i].lower, corner );
        memcpy( records + i * stride + corner + gap, &boxes[i].upper, corner );
    }
    for ( uint32_t i = 0; i < SIMD_RUN; ++i )
    {
        expected[ids[i].index] = boxes[i];
        near |= (uint64_t)1 << ( ids[i].index & 63 );
        CHECK( i >= count || !base_bits_has( marks[0], ids[i].index ) );
        base_bits_add( marks[i < count ? 0 : 1], ids[i].index );
    }
    CHECK_EQUAL( table->put_near( own[0], ids, records, records + corner + gap, stride ), near );
    CHECK( memcmp( own[0], expected, sizeof( expected ) ) == 0 );

    uint64_t found[( SLOTS + 63 ) / 64] = { 0 };
    table->put_anywhere( own[1], ids, records, records + corner + gap, stride, count, found );
    CHECK( memcmp( found, marks[0], sizeof( found ) ) == 0 );
    size_t rest = count * stride;
    table->put_anywhere(
        own[1], ids + count, records + rest, records + rest + corner + gap, stride, SIMD_RUN - count, NULL );
    CHECK( memcmp( own[1], expected, sizeof( expected ) ) == 0 );
}

static void boxes_are_put_where_their_ids_say( void )
{
    each_isa( put_body );
}

// One bad bound among good boxes, anywhere or nowhere.
static void good_body( const simd_method_kernels* kernels, test_random* random )
{
    clv_aabb boxes[MOST];
    uint32_t count = test_random_below( random, MOST + 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        float x = test_random_between( random, -9, 9 );
        boxes[i] = test_box( x, -INFINITY, 3, x + (float)( i % 2 ), 4, INFINITY );
    }
    CHECK( are_good_both_ways( kernels, boxes, count ) );
    if ( count == 0 )
    {
        return;
    }
    clv_aabb* bad = &boxes[test_random_below( random, count )];
    float* bounds = &bad->lower.x;
    uint32_t axis = test_random_below( random, 3 );
    bool upper = test_random_chance( random, 50 );
    float beyond = upper ? nextafterf( bounds[axis], -INFINITY ) : nextafterf( bounds[axis + 3], INFINITY );
    bool can_be_inverted = upper ? bounds[axis] > -INFINITY : bounds[axis + 3] < INFINITY;
    bool is_nan = !can_be_inverted || test_random_chance( random, 50 );
    bounds[upper ? axis + 3 : axis] = is_nan ? NAN : beyond;
    CHECK( !are_good_both_ways( kernels, boxes, count ) );
}

static void a_bad_box_is_seen_everywhere( void )
{
    each_isa( good_body );
}

static void pairs_are_kept_alike_everywhere( void )
{
    each_isa( pairs_body );
}

static void leavers_and_hits_come_out_alike_everywhere( void )
{
    each_isa( slots_body );
}

static void regrow_body( const simd_method_kernels* kernels, test_random* random )
{
    clv_aabb boxes[64], mine[64], theirs[64];
    uint32_t count = 1 + test_random_below( random, 64 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        float x = test_random_between( random, -9, 9 );
        boxes[i] = test_box( x, 2, 3, x + 1, test_random_chance( random, 10 ) ? INFINITY : 4, 5 );
        mine[i] = clv_aabb_grow( boxes[i], test_random_between( random, -0.1f, 0.2f ) );
        if ( test_random_chance( random, 10 ) )
        {
            mine[i].lower.x = NAN;
        }
        theirs[i] = mine[i];
    }
    uint64_t bits = kernels->regrow( boxes, mine, count, 0.125f );
    CHECK_EQUAL(
        bits, clv_simd_method_kernels_for( CLV_ISA_SCALAR )->regrow( boxes, theirs, count, 0.125f ) );
    CHECK( memcmp( mine, theirs, count * sizeof( clv_aabb ) ) == 0 );
    CHECK_EQUAL( kernels->regrow( boxes, mine, count, 0.125f ), 0 );
}

// Boxes inside, on and just outside their margins; endless faces; margins of 0.
static void strays_body( const simd_method_kernels* kernels, test_random* random )
{
    clv_aabb boxes[64];
    simd_rest_box rests[64];
    uint32_t count = 1 + test_random_below( random, 64 );
    uint64_t expected = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        float x = test_random_between( random, -9, 9 );
        float margin = test_random_chance( random, 20 ) ? 0 : test_random_between( random, 0, 0.5f );
        boxes[i] = test_box( x, 2, 3, x + 1, test_random_chance( random, 10 ) ? INFINITY : 4, 5 );
        rests[i] = ( simd_rest_box ){ { x, 2, 3 }, margin, { x + 1, boxes[i].upper.y, 5 }, margin };
        uint32_t face = test_random_below( random, 6 );
        float* at = &( &boxes[i].lower.x )[face];
        bool up = test_random_chance( random, 50 );
        *at = up ? *at + margin : *at - margin; // the last place inside
        if ( *at < INFINITY && test_random_chance( random, 50 ) )
        {
            *at = nextafterf( *at, up ? INFINITY : -INFINITY );
            expected |= (uint64_t)1 << i;
        }
    }
    CHECK_EQUAL( clv_simd_kernels_for( kernels->isa )->find_strays( boxes, rests, count ), expected );
}

static void touching_body( const simd_method_kernels* kernels, test_random* random )
{
    clv_aabb boxes[32];
    clv_pair pairs[64];
    uint32_t count = 1 + test_random_below( random, 64 );
    uint64_t expected = 0;
    for ( uint32_t i = 0; i < 32; ++i )
    {
        boxes[i] = test_crowd_box( TEST_CROWD_LATTICE, 32, random );
        boxes[i].upper.z = test_random_chance( random, 10 ) ? INFINITY : boxes[i].upper.z;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        pairs[i] = ( clv_pair ){ test_random_below( random, 32 ), test_random_below( random, 32 ) };
        expected |= (uint64_t)clv_aabb_overlap( boxes[pairs[i].a], boxes[pairs[i].b] ) << i;
    }
    CHECK_EQUAL( clv_simd_kernels_for( kernels->isa )->find_touching( boxes, pairs, count ), expected );
}

static uint32_t code_at( uint64_t word, int axis )
{
    return word >> 16 * axis & 0x7FFF;
}

// Few different coordinates, so that many touch; what is above them means nothing.
static simd_code_box code_box( test_random* random )
{
    simd_code_box box = { (uint64_t)test_random_below( random, 65536 ) << 48,
        (uint64_t)test_random_below( random, 65536 ) << 48 | SIMD_CODE_TOPS };
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t most = test_random_chance( random, 50 ) ? 8 : 0x8000;
        uint32_t a = test_random_below( random, most ), b = test_random_below( random, most );
        box.lower |= (uint64_t)( a < b ? a : b ) << 16 * axis;
        box.upper |= (uint64_t)( a < b ? b : a ) << 16 * axis;
    }
    return box;
}

static void codes_body( const simd_method_kernels* kernels, test_random* random )
{
    uint32_t count = test_random_below( random, 80 ), expected_count = 0;
    simd_code_box* boxes = test_alloc( count + 1, sizeof( *boxes ) ); // as many as there are, for a sanitizer
    uint32_t expected[80], found[80];
    simd_code_box asked = code_box( random );
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[i] = code_box( random );
        bool overlap = true;
        for ( int axis = 0; axis < 3; ++axis )
        {
            overlap &= code_at( boxes[i].lower, axis ) <= code_at( asked.upper, axis ) &&
                code_at( asked.lower, axis ) <= code_at( boxes[i].upper, axis );
        }
        expected[expected_count] = i;
        expected_count += overlap;
    }
    CHECK_EQUAL(
        clv_simd_kernels_for( kernels->isa )->find_codes( boxes, count, asked, found ), expected_count );
    CHECK( memcmp( found, expected, expected_count * sizeof( uint32_t ) ) == 0 );
    free( boxes );
}

static simd_rest_box rest_of_lattice( test_random* random )
{
    clv_aabb box = test_crowd_box( TEST_CROWD_LATTICE, 32, random );
    float margin = 0.25f * (float)test_random_below( random, 4 );
    float end = test_random_chance( random, 10 ) ? INFINITY : box.upper.z;
    return ( simd_rest_box ){ { box.lower.x, box.lower.y, box.lower.z }, margin,
        { box.upper.x, box.upper.y, end }, margin };
}

// One in ten is nowhere, with NaN for its corners: it touches nothing.
static void changed_body( const simd_method_kernels* kernels, test_random* random )
{
    simd_rest_box rests[32], ends[2];
    uint32_t slots[64], count = 1 + test_random_below( random, 64 );
    for ( uint32_t i = 0; i < 32; ++i )
    {
        rests[i] = rest_of_lattice( random );
    }
    for ( uint32_t i = 0; i < 2; ++i )
    {
        ends[i] = rest_of_lattice( random );
        ends[i].lower[0] = test_random_chance( random, 10 ) ? NAN : ends[i].lower[0];
    }
    uint64_t expected = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        slots[i] = test_random_below( random, 32 );
        rest_zone own = rest_zone_of( &rests[slots[i]] );
        rest_zone from = rest_zone_of( &ends[0] ), to = rest_zone_of( &ends[1] );
        expected |= (uint64_t)( rest_classify( &own, &from ) != rest_classify( &own, &to ) ) << i;
    }
    const simd_kernels* core = clv_simd_kernels_for( kernels->isa );
    CHECK_EQUAL( core->find_changed( rests, slots, count, &ends[0], &ends[1] ), expected );
}

static void strays_are_told_alike_everywhere( void )
{
    each_isa( strays_body );
}

static void touching_pairs_are_told_alike_everywhere( void )
{
    each_isa( touching_body );
}

static void coded_boxes_are_found_alike_everywhere( void )
{
    each_isa( codes_body );
}

static void changes_at_rest_are_told_alike_everywhere( void )
{
    each_isa( changed_body );
}

static void moving_boxes_are_told_and_grown_alike_everywhere( void )
{
    each_isa( regrow_body );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( two_lists_are_swept_alike_everywhere ),
        TEST_CASE( pairs_at_rest_are_left_out_alike_everywhere ),
        TEST_CASE( small_boxes_are_swept_alike_everywhere ),
        TEST_CASE( small_boxes_are_spread_alike_everywhere ),
        TEST_CASE( pairs_may_be_kept_in_place ),
        TEST_CASE( a_bad_box_is_seen_everywhere ),
        TEST_CASE( boxes_are_put_where_their_ids_say ),
        TEST_CASE( steps_come_out_alike_everywhere ),
        TEST_CASE( pairs_are_kept_alike_everywhere ),
        TEST_CASE( leavers_and_hits_come_out_alike_everywhere ),
        TEST_CASE( moving_boxes_are_told_and_grown_alike_everywhere ),
        TEST_CASE( strays_are_told_alike_everywhere ),
        TEST_CASE( touching_pairs_are_told_alike_everywhere ),
        TEST_CASE( coded_boxes_are_found_alike_everywhere ),
        TEST_CASE( changes_at_rest_are_told_alike_everywhere ),
    };
    return test_run( "kd_kernels", cases, TEST_COUNT( cases ), argc, argv );
}
