// SPDX-License-Identifier: MIT
// Worlds that mostly rest: whatever moves, comes, goes or does neither, every list is that of brute force, in an order that
// depends on the calls alone, and the mode that follows such worlds costs nothing where nothing happens.
#include "heap.h"
#include "space/space_internal.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 1200
};

// A crowd, and what happens to it from frame to frame.
typedef struct stage
{
    clv_aabb boxes[MOST];
    clv_id ids[2][MOST]; ///< in the space under test, in the judge
    uint32_t count;
    uint32_t frame;
    test_random random;
    clv_space* space;
    clv_space* judge;
    uint64_t order_hash;
    uint64_t rest_frames;
} stage;

static clv_aabb shifted( clv_aabb box, float x, float y, float z )
{
    return test_box( box.lower.x + x, box.lower.y + y, box.lower.z + z, box.upper.x + x, box.upper.y + y,
        box.upper.z + z );
}

static clv_aabb jittered( stage* s, clv_aabb box, float by )
{
    return shifted( box, test_random_between( &s->random, -by, by ),
        test_random_between( &s->random, -by, by ), test_random_between( &s->random, -by, by ) );
}

static clv_aabb random_box( stage* s )
{
    float side = 0.6f * cbrtf( (float)s->count );
    return test_cube( test_random_between( &s->random, -side, side ),
        test_random_between( &s->random, -side, side ), test_random_between( &s->random, -side, side ),
        test_random_between( &s->random, 0.3f, 0.6f ) );
}

static void move_not( stage* s )
{
    (void)s;
}

// Around the place of the first frame, never further than the least margin of a cube.
static void jitter_below( stage* s )
{
    static clv_aabb start[MOST];
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        start[i] = s->frame == 0 ? s->boxes[i] : start[i];
        s->boxes[i] = jittered( s, start[i], 0.0001f );
    }
}

static void jitter_across( stage* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        s->boxes[i] = jittered( s, s->boxes[i], test_random_chance( &s->random, 3 ) ? 0.05f : 0.0005f );
    }
}

static void drift( stage* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        s->boxes[i] = shifted( s->boxes[i], 0.004f * (float)( i % 7 ), 0.002f, -0.003f * (float)( i % 3 ) );
    }
}

static void teleport_all( stage* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        s->boxes[i] = random_box( s );
    }
}

static void teleport_few( stage* s )
{
    for ( uint32_t i = 0; i < s->count / 40 + 1; ++i )
    {
        s->boxes[test_random_below( &s->random, s->count )] = random_box( s );
    }
}

static void swap_places( stage* s )
{
    for ( uint32_t i = 0; i < s->count / 20 + 1; ++i )
    {
        uint32_t a = test_random_below( &s->random, s->count ), b = test_random_below( &s->random, s->count );
        clv_aabb box = s->boxes[a];
        s->boxes[a] = s->boxes[b];
        s->boxes[b] = box;
    }
}

static void breathe( stage* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        bool jumps = test_random_chance( &s->random, 1 );
        float by = jumps ? test_random_between( &s->random, -0.2f, 2.0f )
                         : 0.002f * (float)( s->frame % 9 ) - 0.008f;
        clv_aabb box = clv_aabb_grow( s->boxes[i], by );
        s->boxes[i] = clv_aabb_is_valid( box ) && box.upper.x - box.lower.x < 8 ? box : random_box( s );
    }
}

static void one_in_fifty( stage* s )
{
    for ( uint32_t i = s->frame % 50; i < s->count; i += 50 )
    {
        s->boxes[i] = jittered( s, s->boxes[i], 0.4f );
    }
}

// Rest, motion of all, motion of a few, teleports: long enough each for the mode to change.
static void alternate( stage* s )
{
    static void ( *const parts[] )( stage* ) = { move_not, drift, one_in_fifty, jitter_across, teleport_all,
        jitter_across, move_not, teleport_few };
    uint32_t length = 5 + s->frame / 64 % 13;
    parts[s->frame / length % TEST_COUNT( parts )]( s );
}

// A box around all of them, one without end, and a floor; now and then one of them moves or changes its size.
static void live_with_giants( stage* s )
{
    one_in_fifty( s );
    float shift = (float)( s->frame % 5 ) * 0.1f;
    s->boxes[0] = test_box( -50, -50 + shift, -50, 50, 50, 50 );
    s->boxes[1] =
        test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, s->frame % 11 == 0 ? -1 : INFINITY, 0 );
    s->boxes[2] = test_box( -INFINITY, -2, -INFINITY, INFINITY, -1 - shift, INFINITY );
    s->boxes[3] = s->frame % 7 == 0 ? test_box( INFINITY, 0, 0, INFINITY, 1, 1 ) : test_cube( 1e9f, 0, 0, 1 );
}

static void all_equal( stage* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        s->boxes[i] = test_cube( 0, (float)( s->frame / 4 ), 0, 0.5f );
    }
    s->boxes[s->frame % s->count] = test_cube( 3, 0, 0, 0.5f );
}

// Sizes over six decades.
static void mix_sizes( stage* s )
{
    for ( uint32_t i = s->frame == 0 ? 0 : s->frame % 30; i < s->count; i += s->frame == 0 ? 1 : 30 )
    {
        float size = powf( 10, test_random_between( &s->random, -4, 2 ) );
        s->boxes[i] = test_cube( test_random_between( &s->random, -30, 30 ),
            test_random_between( &s->random, -30, 30 ), test_random_between( &s->random, -30, 30 ), size );
    }
}

typedef struct motion
{
    const char* name;
    void ( *move )( stage* s );
    uint32_t churn; ///< percent of the objects that are replaced every frame
    uint32_t frames;
    uint32_t most; ///< objects, where all of them touch all
} motion;

static const motion s_motions[] = {
    { "still", move_not, 0, 12, MOST },
    { "jitter below the margin", jitter_below, 0, 40, MOST },
    { "jitter across the margin", jitter_across, 0, 60, MOST },
    { "drift", drift, 0, 60, MOST },
    { "teleport all", teleport_all, 0, 20, MOST },
    { "teleport few", teleport_few, 0, 60, MOST },
    { "swap places", swap_places, 0, 60, MOST },
    { "grow and shrink", breathe, 0, 60, MOST },
    { "one in fifty", one_in_fifty, 0, 60, MOST },
    { "churn", jitter_across, 10, 40, MOST },
    { "churn and stillness", move_not, 3, 40, MOST },
    { "giants", live_with_giants, 0, 60, MOST },
    { "giants and churn", live_with_giants, 2, 40, MOST },
    { "all equal", all_equal, 0, 24, 150 },
    { "all sizes", mix_sizes, 1, 60, MOST },
    { "alternation", alternate, 0, 400, MOST },
    { "alternation and churn", alternate, 1, 300, MOST },
};

// ---- running -----------------------------------------------------------------------------------------------------

static clv_space* make_space( const char* name, const char* settings, clv_isa isa, uint32_t workers )
{
    clv_space_def def = clv_default_space_def();
    def.method = name;
    def.settings = settings;
    def.isa = isa;
    def.worker_count = workers;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    return space;
}

static double figure_of( const clv_space* space, const char* name )
{
    method_figure figures[64];
    uint32_t count = space->method->report( space->method_state, figures, TEST_COUNT( figures ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( strcmp( figures[i].name, name ) == 0 )
        {
            return figures[i].value;
        }
    }
    test_fail( __FILE__, __LINE__, "no figure '%s'", name );
    return 0;
}

static bool is_at_rest( const clv_space* space )
{
    return figure_of( space, "at rest" ) != 0;
}

static void check_inside( const clv_space* space )
{
    char text[200] = "";
    if ( !space->method->check( space->method_state, text, sizeof( text ) ) )
    {
        test_fail( __FILE__, __LINE__, "%s", text );
    }
}

static void replace_some( stage* s, uint32_t percent )
{
    clv_space* spaces[2] = { s->space, s->judge };
    uint32_t count = s->count * percent / 100;
    uint32_t first = count > 0 ? test_random_below( &s->random, s->count - count + 1 ) : 0;
    for ( uint32_t i = first; i < first + count; ++i )
    {
        s->boxes[i] = random_box( s );
    }
    for ( int i = 0; i < 2 && count > 0; ++i )
    {
        CHECK_OK( clv_space_remove( spaces[i], s->ids[i] + first, count ) );
        CHECK_OK( clv_space_add( spaces[i], s->boxes + first, count, s->ids[i] + first ) );
    }
}

static void check_frame( stage* s )
{
    clv_space* spaces[2] = { s->space, s->judge };
    uint64_t hashes[2];
    for ( int i = 0; i < 2; ++i )
    {
        CHECK_OK( clv_space_move( spaces[i], s->ids[i], s->boxes, s->count ) );
        CHECK_OK( clv_space_update( spaces[i] ) );
        clv_pair_view view = clv_space_pairs( spaces[i] );
        CHECK( view.valid );
        hashes[i] = test_mix( test_set_hash( view.pairs, view.count ) ^ view.count );
    }
    CHECK_EQUAL( hashes[0], hashes[1] );
    clv_pair_view view = clv_space_pairs( s->space );
    s->order_hash = test_mix( s->order_hash ^ test_order_hash( view.pairs, view.count ) );
    s->rest_frames += is_at_rest( s->space );
    if ( s->frame % 16 == 0 )
    {
        check_inside( s->space );
    }
}

typedef struct outcome
{
    uint64_t order_hash;
    uint64_t rest_frames;
} outcome;

static outcome live(
    const motion* m, uint32_t count, const char* settings, clv_isa isa, uint32_t workers, uint32_t frames )
{
    stage* s = test_alloc( 1, sizeof( stage ) );
    memset( s, 0, sizeof( *s ) );
    test_where.note = m->name;
    count = count < m->most ? count : m->most;
    test_where.isa = isa;
    test_where.worker_count = workers;
    s->count = count;
    s->random = test_random_make( count );
    s->space = make_space( "cleave", settings, isa, workers );
    s->judge = make_space( "brute", NULL, CLV_ISA_AUTO, 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        s->boxes[i] = random_box( s );
    }
    CHECK_OK( clv_space_add( s->space, s->boxes, count, s->ids[0] ) );
    CHECK_OK( clv_space_add( s->judge, s->boxes, count, s->ids[1] ) );
    for ( s->frame = 0; s->frame < frames; ++s->frame )
    {
        test_where.frame = s->frame;
        m->move( s );
        replace_some( s, m->churn );
        check_frame( s );
    }
    outcome out = { s->order_hash, s->rest_frames };
    clv_space_destroy( s->space );
    clv_space_destroy( s->judge );
    free( s );
    return out;
}

#define FOLLOWED "cleave.few=0,cleave.rest=1,cleave.block=100"
#define CHOSEN "cleave.few=0,cleave.rest=2,cleave.rest_least=0,cleave.block=100"

static void a_followed_world_is_always_right( void )
{
    static const uint32_t sizes[] = { 5, 64, 65, 700 };
    for ( uint32_t m = 0; m < TEST_COUNT( s_motions ); ++m )
    {
        for ( uint32_t i = 0; i < TEST_COUNT( sizes ); ++i )
        {
            uint32_t frames = test_scaled( s_motions[m].frames );
            outcome out = live( &s_motions[m], sizes[i], FOLLOWED, CLV_ISA_AUTO, 1, frames );
            CHECK_EQUAL( out.rest_frames, frames );
        }
    }
}

static void a_world_whose_mode_is_chosen_is_always_right( void )
{
    for ( uint32_t m = 0; m < TEST_COUNT( s_motions ); ++m )
    {
        live( &s_motions[m], 64, CHOSEN, CLV_ISA_AUTO, 1, s_motions[m].frames );
        live( &s_motions[m], MOST, CHOSEN, CLV_ISA_AUTO, 1, s_motions[m].frames );
    }
}

static void order_is_the_same_for_every_instruction_set_and_crew( void )
{
    static const char* const settings[] = { FOLLOWED, CHOSEN };
    for ( uint32_t m = 0; m < 2 * TEST_COUNT( s_motions ); ++m )
    {
        const motion* moving = &s_motions[m / 2];
        uint32_t frames = moving->frames < 60 ? moving->frames : 60;
        outcome expected = live( moving, 900, settings[m % 2], CLV_ISA_SCALAR, 1, frames );
        for ( int isa = CLV_ISA_SSE2; isa < CLV_ISA_COUNT; ++isa )
        {
            if ( clv_isa_is_supported( (clv_isa)isa ) )
            {
                outcome out = live( moving, 900, settings[m % 2], (clv_isa)isa, 1, frames );
                CHECK_EQUAL( out.order_hash, expected.order_hash );
            }
        }
        for ( uint32_t workers = 2; workers <= 8; workers += 3 )
        {
            outcome out = live( moving, 900, settings[m % 2], CLV_ISA_AUTO, workers, frames );
            CHECK_EQUAL( out.order_hash, expected.order_hash );
        }
    }
}

enum
{
    LARGE = 40000,
    LARGE_FRAMES = 8
};

// Enough boxes and marginal pairs for several pieces of work. A hash of all lists in order, and of all sets.
static outcome live_large( const char* settings, uint32_t workers, uint64_t* set_hash )
{
    test_random random = test_random_make( 17 );
    clv_aabb* boxes = test_alloc( LARGE, sizeof( clv_aabb ) );
    clv_id* ids = test_alloc( LARGE, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < LARGE; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, 0, 40 ), test_random_between( &random, 0, 40 ),
            test_random_between( &random, 0, 40 ), 0.5f );
    }
    clv_space* space = make_space( "cleave", settings, CLV_ISA_AUTO, workers );
    CHECK_OK( clv_space_add( space, boxes, LARGE, ids ) );
    outcome out = { 0, 0 };
    *set_hash = 0;
    for ( uint32_t frame = 0; frame < LARGE_FRAMES; ++frame )
    {
        test_where.frame = frame;
        for ( uint32_t i = frame; i < LARGE; i += frame == 2 ? 1 : 9 )
        {
            boxes[i] = shifted( boxes[i], test_random_between( &random, -0.02f, 0.02f ), 0, 0.01f );
        }
        CHECK_OK( clv_space_move( space, ids, boxes, LARGE ) );
        CHECK_OK( clv_space_update( space ) );
        clv_pair_view view = clv_space_pairs( space );
        out.order_hash = test_mix( out.order_hash ^ test_order_hash( view.pairs, view.count ) );
        *set_hash = test_mix( *set_hash ^ test_set_hash( view.pairs, view.count ) );
        out.rest_frames += is_at_rest( space );
    }
    clv_space_destroy( space );
    free( boxes );
    free( ids );
    return out;
}

static void any_number_of_workers_makes_the_same_list( void )
{
    uint64_t searched = 0, followed = 0;
    live_large( "cleave.rest=0", 1, &searched );
    outcome expected = live_large( "cleave.rest=1", 1, &followed );
    CHECK_EQUAL( followed, searched );
    CHECK_EQUAL( expected.rest_frames, LARGE_FRAMES );
    for ( uint32_t workers = 2; workers <= 8; ++workers )
    {
        test_where.worker_count = workers;
        CHECK_EQUAL( live_large( "cleave.rest=1", workers, &followed ).order_hash, expected.order_hash );
    }
}

static const motion* motion_of( void ( *move )( stage* ), uint32_t churn )
{
    for ( uint32_t m = 0; m < TEST_COUNT( s_motions ); ++m )
    {
        if ( s_motions[m].move == move && s_motions[m].churn == churn )
        {
            return &s_motions[m];
        }
    }
    test_fail( __FILE__, __LINE__, "no such motion" );
    return NULL;
}

static void the_mode_follows_rest_and_searches_motion( void )
{
    CHECK( live( motion_of( jitter_below, 0 ), MOST, CHOSEN, CLV_ISA_AUTO, 1, 60 ).rest_frames >= 48 );
    CHECK( live( motion_of( one_in_fifty, 0 ), MOST, CHOSEN, CLV_ISA_AUTO, 1, 60 ).rest_frames >= 40 );
    CHECK_EQUAL( live( motion_of( teleport_all, 0 ), MOST, CHOSEN, CLV_ISA_AUTO, 1, 60 ).rest_frames, 0 );
    CHECK( live( motion_of( drift, 0 ), MOST, CHOSEN, CLV_ISA_AUTO, 1, 60 ).rest_frames <= 12 );
    CHECK_EQUAL( live( motion_of( jitter_below, 0 ), MOST, "cleave.few=0,cleave.rest=0", CLV_ISA_AUTO, 1, 60 )
                     .rest_frames,
        0 );
}

// ---- what the space does with the list ---------------------------------------------------------------------------

static bool accept_some( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    (void)user;
    return ( pair.a + pair.b ) % 5 != 0;
}

// Sorted, filtered, with events: everything that needs a list of the space's own.
static clv_space_def picky_def( const char* name, const char* settings )
{
    clv_space_def def = clv_default_space_def();
    def.method = name;
    def.settings = settings;
    def.sorted = true;
    def.events = true;
    def.skip_static_pairs = true;
    def.filter = accept_some;
    return def;
}

static void check_same( clv_space* space, clv_space* judge )
{
    clv_pair_view pairs = clv_space_pairs( space ), expected = clv_space_pairs( judge );
    clv_event_view events = clv_space_events( space ), expected_events = clv_space_events( judge );
    CHECK_EQUAL( pairs.count, expected.count );
    CHECK( memcmp( pairs.pairs, expected.pairs, (size_t)pairs.count * sizeof( clv_pair ) ) == 0 );
    CHECK_EQUAL( events.begun_count, expected_events.begun_count );
    CHECK_EQUAL( events.ended_count, expected_events.ended_count );
    size_t begun_bytes = (size_t)events.begun_count * sizeof( clv_id_pair );
    size_t ended_bytes = (size_t)events.ended_count * sizeof( clv_id_pair );
    CHECK( begun_bytes == 0 || memcmp( events.begun, expected_events.begun, begun_bytes ) == 0 );
    CHECK( ended_bytes == 0 || memcmp( events.ended, expected_events.ended, ended_bytes ) == 0 );
    CHECK_EQUAL( clv_space_stats( space ).pair_count, clv_space_stats( judge ).pair_count );
    CHECK_EQUAL( clv_space_stats( space ).begun_count, clv_space_stats( judge ).begun_count );
}

// Something in every frame that leaves the boxes alone but not the answer.
static void meddle( stage* s, clv_space* space, const clv_id* ids )
{
    clv_id some = ids[s->frame * 7 % s->count];
    clv_filter filter = { 1, s->frame % 2 == 0 ? 0 : UINT64_MAX, 0 };
    bool is_static = s->frame % 3 == 0;
    float margin = 0.01f * (float)( s->frame % 4 );
    switch ( s->frame % 8 )
    {
    case 1: CHECK_OK( clv_space_set_filter( space, &some, &filter, 1 ) ); break;
    case 2: CHECK_OK( clv_space_set_static( space, &some, &is_static, 1 ) ); break;
    case 3: CHECK_OK( clv_space_set_margin( space, &some, &margin, 1 ) ); break;
    case 4: CHECK_OK( clv_space_refilter( space, &some, 1 ) ); break;
    case 5: CHECK_OK( clv_space_shrink( space ) ); break;
    default: break;
    }
}

static void filters_events_and_order_see_every_change( void )
{
    static void ( *const moves[] )( stage* ) = { move_not, one_in_fifty, alternate };
    for ( uint32_t m = 0; m < TEST_COUNT( moves ); ++m )
    {
        stage* s = test_alloc( 1, sizeof( stage ) );
        memset( s, 0, sizeof( *s ) );
        s->count = 300;
        s->random = test_random_make( m + 1 );
        clv_space_def def = picky_def( "cleave", FOLLOWED ), judge_def = picky_def( "brute", NULL );
        CHECK_OK( clv_space_create( &def, &s->space ) );
        CHECK_OK( clv_space_create( &judge_def, &s->judge ) );
        teleport_all( s );
        CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
        CHECK_OK( clv_space_add( s->judge, s->boxes, s->count, s->ids[1] ) );
        for ( s->frame = 0; s->frame < 80; ++s->frame )
        {
            test_where.frame = s->frame;
            moves[m]( s );
            replace_some( s, s->frame % 6 == 5 ? 2 : 0 );
            meddle( s, s->space, s->ids[0] );
            meddle( s, s->judge, s->ids[1] );
            CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
            CHECK_OK( clv_space_move( s->judge, s->ids[1], s->boxes, s->count ) );
            CHECK_OK( clv_space_update( s->space ) );
            CHECK_OK( clv_space_update( s->judge ) );
            check_same( s->space, s->judge );
            CHECK( is_at_rest( s->space ) );
        }
        clv_space_destroy( s->space );
        clv_space_destroy( s->judge );
        free( s );
    }
}

typedef struct visited
{
    const clv_pair* expected;
    uint64_t count;
} visited;

static bool compare_visit( const clv_pair* pairs, size_t count, void* user )
{
    visited* v = user;
    CHECK( memcmp( pairs, v->expected + v->count, count * sizeof( clv_pair ) ) == 0 );
    v->count += count;
    return true;
}

// A plain space shows the list where it lies: not copied, not even moved while nothing happens; and it outlives a shrink.
static void the_list_stays_where_it_is( void )
{
    stage* s = test_alloc( 1, sizeof( stage ) );
    memset( s, 0, sizeof( *s ) );
    s->count = 400;
    s->random = test_random_make( 3 );
    s->space = make_space( "cleave", FOLLOWED, CLV_ISA_AUTO, 1 );
    teleport_all( s );
    CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
    CHECK_OK( clv_space_update( s->space ) );
    clv_pair_view first = clv_space_pairs( s->space );
    CHECK( first.count > 100 );
    uint64_t hash = test_order_hash( first.pairs, first.count );
    CHECK_OK( clv_space_shrink( s->space ) );
    CHECK( clv_space_pairs( s->space ).pairs == first.pairs );
    clv_aabb trembling = shifted( s->boxes[9], 1e-5f, 0, 0 );
    CHECK_OK( clv_space_move( s->space, &s->ids[0][9], &trembling, 1 ) );
    for ( int i = 0; i < 3; ++i )
    {
        CHECK_OK( clv_space_update( s->space ) );
        clv_pair_view view = clv_space_pairs( s->space );
        CHECK( view.valid && view.pairs == first.pairs && view.count == first.count );
        CHECK_EQUAL( test_order_hash( view.pairs, view.count ), hash );
    }
    clv_pair* copy = test_copy( first.pairs, (size_t)first.count, sizeof( clv_pair ) );
    visited v = { copy, 0 };
    CHECK_OK( clv_space_visit( s->space, compare_visit, &v ) );
    CHECK_EQUAL( v.count, first.count );
    CHECK( !clv_space_pairs( s->space ).valid );
    CHECK_OK( clv_space_update( s->space ) );
    CHECK_EQUAL(
        test_order_hash( clv_space_pairs( s->space ).pairs, clv_space_pairs( s->space ).count ), hash );
    clv_space_clear( s->space );
    CHECK( !clv_space_pairs( s->space ).valid );
    CHECK_OK( clv_space_update( s->space ) );
    CHECK_EQUAL( clv_space_pairs( s->space ).count, 0 );
    free( copy );
    clv_space_destroy( s->space );
    free( s );
}

// Two spaces, one of which has no list to keep: what is chosen, and so the order, must be the same frame by frame.
static void a_visit_is_an_update_without_a_list( void )
{
    static const char* const settings[] = { FOLLOWED, CHOSEN };
    static void ( *const parts[] )( stage* ) = { one_in_fifty, move_not, jitter_across, teleport_few, drift };
    for ( uint32_t i = 0; i < TEST_COUNT( settings ); ++i )
    {
        stage* s = test_alloc( 1, sizeof( stage ) );
        memset( s, 0, sizeof( *s ) );
        s->count = MOST;
        s->random = test_random_make( 11 );
        s->space = make_space( "cleave", settings[i], CLV_ISA_AUTO, 1 );
        s->judge = make_space( "cleave", settings[i], CLV_ISA_AUTO, 1 );
        teleport_all( s );
        CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
        CHECK_OK( clv_space_add( s->judge, s->boxes, s->count, s->ids[1] ) );
        for ( s->frame = 0; s->frame < 150; ++s->frame )
        {
            test_where.frame = s->frame;
            parts[s->frame / 20 % TEST_COUNT( parts )]( s );
            CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
            CHECK_OK( clv_space_move( s->judge, s->ids[1], s->boxes, s->count ) );
            CHECK_OK( clv_space_update( s->space ) );
            clv_pair_view view = clv_space_pairs( s->space );
            visited v = { view.pairs, 0 };
            CHECK_OK( clv_space_visit( s->judge, compare_visit, &v ) );
            CHECK_EQUAL( v.count, view.count );
            CHECK_EQUAL( is_at_rest( s->space ), is_at_rest( s->judge ) );
            s->rest_frames += is_at_rest( s->space );
        }
        CHECK( s->rest_frames > 20 );
        clv_space_destroy( s->space );
        clv_space_destroy( s->judge );
        free( s );
    }
}

static void a_limit_on_pairs_holds_at_rest_too( void )
{
    clv_space_def def = clv_default_space_def();
    def.settings = FOLLOWED;
    def.max_pairs = 20;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    clv_aabb boxes[30];
    clv_id ids[30];
    for ( uint32_t i = 0; i < 30; ++i )
    {
        boxes[i] = test_cube( 2 * (float)i, 0, 0, 0.5f );
    }
    CHECK_OK( clv_space_add( space, boxes, 30, ids ) );
    for ( uint32_t frame = 0; frame < 6; ++frame )
    {
        bool is_crowded = frame % 2 == 1;
        for ( uint32_t i = 0; i < 10; ++i )
        {
            boxes[i] = test_cube( is_crowded ? 0 : 2 * (float)i, 0, 0, 0.5f );
        }
        CHECK_OK( clv_space_move( space, ids, boxes, 30 ) );
        CHECK_RESULT( clv_space_update( space ), is_crowded ? CLV_TOO_MANY_PAIRS : CLV_OK );
        CHECK_EQUAL( clv_space_pairs( space ).valid, !is_crowded );
        CHECK_EQUAL( clv_space_pairs( space ).count, 0 );
        CHECK( !is_crowded || clv_space_error( space ).pair_count > 20 );
    }
    clv_space_destroy( space );
}

// ---- memory ------------------------------------------------------------------------------------------------------

// The k-th allocation refused, and all that follow for a frame: an answer is right or there is none, and the next is right.
static uint64_t live_with_refusals( uint64_t refuse_from )
{
    heap memory = { 0 };
    clv_space_def def = clv_default_space_def();
    def.settings = FOLLOWED;
    def.allocator = heap_hooks( &memory );
    stage* s = test_alloc( 1, sizeof( stage ) );
    memset( s, 0, sizeof( *s ) );
    s->count = 150;
    s->random = test_random_make( 9 );
    s->judge = make_space( "brute", NULL, CLV_ISA_AUTO, 1 );
    CHECK_OK( clv_space_create( &def, &s->space ) );
    teleport_all( s );
    CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
    CHECK_OK( clv_space_add( s->judge, s->boxes, s->count, s->ids[1] ) );
    uint64_t before = memory.allocate_count;
    memory.refuse_from = before + refuse_from;
    memory.refuse_count = refuse_from % 2 == 0 ? 1 : UINT64_MAX;
    for ( s->frame = 0; s->frame < 12; ++s->frame )
    {
        test_where.frame = s->frame;
        ( s->frame % 5 == 4 ? teleport_all : one_in_fifty )( s );
        CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
        CHECK_OK( clv_space_move( s->judge, s->ids[1], s->boxes, s->count ) );
        CHECK_OK( clv_space_update( s->judge ) );
        if ( clv_space_update( s->space ) != CLV_OK )
        {
            CHECK_RESULT( clv_space_error( s->space ).code, CLV_OUT_OF_MEMORY );
            CHECK( !clv_space_pairs( s->space ).valid );
            heap_heal( &memory );
            CHECK_OK( clv_space_update( s->space ) );
        }
        heap_heal( &memory );
        clv_pair_view view = clv_space_pairs( s->space ), expected = clv_space_pairs( s->judge );
        CHECK_EQUAL( view.count, expected.count );
        CHECK_EQUAL(
            test_set_hash( view.pairs, view.count ), test_set_hash( expected.pairs, expected.count ) );
        check_inside( s->space );
    }
    uint64_t taken = memory.allocate_count - before;
    clv_space_destroy( s->space );
    clv_space_destroy( s->judge );
    CHECK_EQUAL( memory.bytes, 0 );
    free( s );
    return taken;
}

static void refused_memory_ends_rest_and_nothing_else( void )
{
    uint64_t count = live_with_refusals( UINT32_MAX );
    CHECK( count > 20 );
    for ( uint64_t k = 1; k <= count; ++k )
    {
        test_where.seed = k;
        live_with_refusals( k );
    }
}

static void a_frame_at_rest_takes_no_memory( void )
{
    stage* s = test_alloc( 1, sizeof( stage ) );
    memset( s, 0, sizeof( *s ) );
    s->count = MOST;
    s->random = test_random_make( 5 );
    s->space = make_space( "cleave", CHOSEN, CLV_ISA_AUTO, 1 );
    teleport_all( s );
    CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
    uint64_t taken = 0;
    for ( s->frame = 0; s->frame < 120; ++s->frame )
    {
        jitter_below( s );
        CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
        CHECK_OK( clv_space_update( s->space ) );
        taken = s->frame == 60 ? clv_space_stats( s->space ).allocation_count : taken;
    }
    CHECK( is_at_rest( s->space ) );
    CHECK_EQUAL( clv_space_stats( s->space ).allocation_count, taken );
    clv_space_destroy( s->space );
    free( s );
}

// What jitters below its margin costs comparisons and a few tests; what moved alone is looked at where that is known.
static void a_world_at_rest_is_hardly_looked_at( void )
{
    stage* s = test_alloc( 1, sizeof( stage ) );
    memset( s, 0, sizeof( *s ) );
    s->count = MOST;
    s->random = test_random_make( 6 );
    s->space = make_space( "cleave", FOLLOWED, CLV_ISA_AUTO, 1 );
    teleport_all( s );
    CHECK_OK( clv_space_add( s->space, s->boxes, s->count, s->ids[0] ) );
    CHECK_OK( clv_space_update( s->space ) );
    for ( s->frame = 0; s->frame < 5; ++s->frame )
    {
        jitter_below( s );
        CHECK_OK( clv_space_move( s->space, s->ids[0], s->boxes, s->count ) );
        CHECK_OK( clv_space_update( s->space ) );
        CHECK_EQUAL( figure_of( s->space, "refits" ), 0 );
        CHECK( figure_of( s->space, "marginal tests" ) <= MOST / 10 );
        CHECK( figure_of( s->space, "sure pairs" ) > 0 );
    }
    s->boxes[7] = random_box( s );
    CHECK_OK( clv_space_move( s->space, &s->ids[0][7], &s->boxes[7], 1 ) );
    CHECK_OK( clv_space_update( s->space ) );
    CHECK_EQUAL( figure_of( s->space, "refits" ), 1 );
    CHECK( figure_of( s->space, "objects around them" ) < MOST / 4 );
    CHECK( figure_of( s->space, "marginal tests" ) < 40 );
    clv_space_destroy( s->space );
    free( s );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_followed_world_is_always_right ),
        TEST_CASE( a_world_whose_mode_is_chosen_is_always_right ),
        TEST_CASE( order_is_the_same_for_every_instruction_set_and_crew ),
        TEST_CASE( any_number_of_workers_makes_the_same_list ),
        TEST_CASE( the_mode_follows_rest_and_searches_motion ),
        TEST_CASE( filters_events_and_order_see_every_change ),
        TEST_CASE( the_list_stays_where_it_is ),
        TEST_CASE( a_visit_is_an_update_without_a_list ),
        TEST_CASE( a_limit_on_pairs_holds_at_rest_too ),
        TEST_CASE( refused_memory_ends_rest_and_nothing_else ),
        TEST_CASE( a_frame_at_rest_takes_no_memory ),
        TEST_CASE( a_world_at_rest_is_hardly_looked_at ),
    };
    return test_run( "rest", cases, TEST_COUNT( cases ), argc, argv );
}
