// SPDX-License-Identifier: MIT
#include "rest_crowd.h"

#include "space/instrument.h"
#include "space/space_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

clv_aabb rest_crowd_shifted( clv_aabb box, float x, float y, float z )
{
    return test_box( box.lower.x + x, box.lower.y + y, box.lower.z + z, box.upper.x + x, box.upper.y + y,
        box.upper.z + z );
}

static clv_aabb jittered( rest_crowd* s, clv_aabb box, float by )
{
    return rest_crowd_shifted( box, test_random_between( &s->random, -by, by ),
        test_random_between( &s->random, -by, by ), test_random_between( &s->random, -by, by ) );
}

clv_aabb rest_crowd_box( rest_crowd* s )
{
    float side = 0.6f * cbrtf( (float)s->count );
    return test_cube( test_random_between( &s->random, -side, side ),
        test_random_between( &s->random, -side, side ), test_random_between( &s->random, -side, side ),
        test_random_between( &s->random, 0.3f, 0.6f ) );
}

void rest_crowd_still( rest_crowd* s )
{
    (void)s;
}

// Around the place of the first frame, never further than the least margin of a cube.
void rest_crowd_jitter_below( rest_crowd* s )
{
    static clv_aabb start[REST_CROWD_MOST];
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        start[i] = s->frame == 0 ? s->boxes[i] : start[i];
        s->boxes[i] = jittered( s, start[i], 0.0001f );
    }
}

void rest_crowd_jitter_across( rest_crowd* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        s->boxes[i] = jittered( s, s->boxes[i], test_random_chance( &s->random, 3 ) ? 0.05f : 0.0005f );
    }
}

void rest_crowd_drift( rest_crowd* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        s->boxes[i] =
            rest_crowd_shifted( s->boxes[i], 0.004f * (float)( i % 7 ), 0.002f, -0.003f * (float)( i % 3 ) );
    }
}

void rest_crowd_teleport_all( rest_crowd* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        s->boxes[i] = rest_crowd_box( s );
    }
}

void rest_crowd_teleport_few( rest_crowd* s )
{
    for ( uint32_t i = 0; i < s->count / 40 + 1; ++i )
    {
        s->boxes[test_random_below( &s->random, s->count )] = rest_crowd_box( s );
    }
}

static void swap_places( rest_crowd* s )
{
    for ( uint32_t i = 0; i < s->count / 20 + 1; ++i )
    {
        uint32_t a = test_random_below( &s->random, s->count ), b = test_random_below( &s->random, s->count );
        clv_aabb box = s->boxes[a];
        s->boxes[a] = s->boxes[b];
        s->boxes[b] = box;
    }
}

static void breathe( rest_crowd* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        bool jumps = test_random_chance( &s->random, 1 );
        float by = jumps ? test_random_between( &s->random, -0.2f, 2.0f )
                         : 0.002f * (float)( s->frame % 9 ) - 0.008f;
        clv_aabb box = clv_aabb_grow( s->boxes[i], by );
        s->boxes[i] = clv_aabb_is_valid( box ) && box.upper.x - box.lower.x < 8 ? box : rest_crowd_box( s );
    }
}

static void jump_one_in( rest_crowd* s, uint32_t share )
{
    for ( uint32_t i = s->frame % share; i < s->count; i += share )
    {
        s->boxes[i] = jittered( s, s->boxes[i], 0.4f );
    }
}

// Following these costs twice what searching does.
void rest_crowd_one_in_fifty( rest_crowd* s )
{
    jump_one_in( s, 50 );
}

// And these a third of it.
void rest_crowd_few( rest_crowd* s )
{
    jump_one_in( s, s->count / 4 + 1 );
}

// Rest, motion of all, motion of a few, teleports: long enough each for the mode to change.
void rest_crowd_alternate( rest_crowd* s )
{
    static void ( *const parts[] )( rest_crowd* ) = { rest_crowd_still, rest_crowd_drift, rest_crowd_few,
        rest_crowd_jitter_across, rest_crowd_teleport_all, rest_crowd_jitter_across, rest_crowd_still,
        rest_crowd_teleport_few };
    uint32_t length = 5 + s->frame / 64 % 13;
    parts[s->frame / length % TEST_COUNT( parts )]( s );
}

// A box around all of them, one without end, and a floor; now and then one of them moves or changes its size.
static void live_with_giants( rest_crowd* s )
{
    rest_crowd_one_in_fifty( s );
    float shift = (float)( s->frame % 5 ) * 0.1f;
    s->boxes[0] = test_box( -50, -50 + shift, -50, 50, 50, 50 );
    s->boxes[1] =
        test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, s->frame % 11 == 0 ? -1 : INFINITY, 0 );
    s->boxes[2] = test_box( -INFINITY, -2, -INFINITY, INFINITY, -1 - shift, INFINITY );
    s->boxes[3] = s->frame % 7 == 0 ? test_box( INFINITY, 0, 0, INFINITY, 1, 1 ) : test_cube( 1e9f, 0, 0, 1 );
}

static void all_equal( rest_crowd* s )
{
    for ( uint32_t i = 0; i < s->count; ++i )
    {
        s->boxes[i] = test_cube( 0, (float)( s->frame / 4 ), 0, 0.5f );
    }
    s->boxes[s->frame % s->count] = test_cube( 3, 0, 0, 0.5f );
}

// Sizes over six decades.
static void mix_sizes( rest_crowd* s )
{
    for ( uint32_t i = s->frame == 0 ? 0 : s->frame % 30; i < s->count; i += s->frame == 0 ? 1 : 30 )
    {
        float size = powf( 10, test_random_between( &s->random, -4, 2 ) );
        s->boxes[i] = test_cube( test_random_between( &s->random, -30, 30 ),
            test_random_between( &s->random, -30, 30 ), test_random_between( &s->random, -30, 30 ), size );
    }
}

const rest_crowd_motion rest_crowd_motions[] = {
    { "still", rest_crowd_still, 0, 12, REST_CROWD_MOST },
    { "jitter below the margin", rest_crowd_jitter_below, 0, 40, REST_CROWD_MOST },
    { "jitter across the margin", rest_crowd_jitter_across, 0, 60, REST_CROWD_MOST },
    { "drift", rest_crowd_drift, 0, 60, REST_CROWD_MOST },
    { "teleport all", rest_crowd_teleport_all, 0, 20, REST_CROWD_MOST },
    { "teleport few", rest_crowd_teleport_few, 0, 60, REST_CROWD_MOST },
    { "swap places", swap_places, 0, 60, REST_CROWD_MOST },
    { "grow and shrink", breathe, 0, 60, REST_CROWD_MOST },
    { "one in fifty", rest_crowd_one_in_fifty, 0, 60, REST_CROWD_MOST },
    { "few", rest_crowd_few, 0, 60, REST_CROWD_MOST },
    { "churn", rest_crowd_jitter_across, 10, 40, REST_CROWD_MOST },
    { "churn and stillness", rest_crowd_still, 3, 40, REST_CROWD_MOST },
    { "giants", live_with_giants, 0, 60, REST_CROWD_MOST },
    { "giants and churn", live_with_giants, 2, 40, REST_CROWD_MOST },
    { "all equal", all_equal, 0, 24, 150 },
    { "all sizes", mix_sizes, 1, 60, REST_CROWD_MOST },
    { "alternation", rest_crowd_alternate, 0, 400, REST_CROWD_MOST },
    { "alternation and churn", rest_crowd_alternate, 1, 300, REST_CROWD_MOST },
};

const uint32_t rest_crowd_motion_count = TEST_COUNT( rest_crowd_motions );

clv_space* rest_crowd_space( const char* name, const char* settings, clv_isa isa, uint32_t workers )
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

double rest_crowd_figure( const clv_space* space, const char* name )
{
    clv_method_figure figures[64];
    uint32_t count = clv_space_report( space, figures, TEST_COUNT( figures ) );
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

bool rest_crowd_is_at_rest( const clv_space* space )
{
    return rest_crowd_figure( space, "at rest" ) != 0;
}

void rest_crowd_check_inside( const clv_space* space )
{
    char text[200] = "";
    if ( !clv_method_cleave.check( space->method_state, text, sizeof( text ) ) )
    {
        test_fail( __FILE__, __LINE__, "%s", text );
    }
}

void rest_crowd_replace( rest_crowd* s, uint32_t percent )
{
    clv_space* spaces[2] = { s->space, s->judge };
    uint32_t count = s->count * percent / 100;
    uint32_t first = count > 0 ? test_random_below( &s->random, s->count - count + 1 ) : 0;
    for ( uint32_t i = first; i < first + count; ++i )
    {
        s->boxes[i] = rest_crowd_box( s );
    }
    for ( int i = 0; i < 2 && count > 0; ++i )
    {
        CHECK_OK( clv_space_remove( spaces[i], s->ids[i] + first, count ) );
        CHECK_OK( clv_space_add( spaces[i], s->boxes + first, count, s->ids[i] + first ) );
    }
}

static void check_frame( rest_crowd* s )
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
    s->rest_frames += rest_crowd_is_at_rest( s->space );
    if ( s->frame % 16 == 0 )
    {
        rest_crowd_check_inside( s->space );
    }
}

rest_crowd_outcome rest_crowd_run( const rest_crowd_motion* m, uint32_t count, const char* settings,
    clv_isa isa, uint32_t workers, uint32_t frames )
{
    rest_crowd* s = test_alloc( 1, sizeof( rest_crowd ) );
    memset( s, 0, sizeof( *s ) );
    test_where.note = m->name;
    count = count < m->most ? count : m->most;
    test_where.isa = isa;
    test_where.worker_count = workers;
    s->count = count;
    s->random = test_random_make( count );
    s->space = rest_crowd_space( "cleave", settings, isa, workers );
    s->judge = rest_crowd_space( "brute", NULL, CLV_ISA_AUTO, 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        s->boxes[i] = rest_crowd_box( s );
    }
    CHECK_OK( clv_space_add( s->space, s->boxes, count, s->ids[0] ) );
    CHECK_OK( clv_space_add( s->judge, s->boxes, count, s->ids[1] ) );
    for ( s->frame = 0; s->frame < frames; ++s->frame )
    {
        test_where.frame = s->frame;
        m->move( s );
        rest_crowd_replace( s, m->churn );
        check_frame( s );
    }
    rest_crowd_outcome out = { s->order_hash, s->rest_frames };
    clv_space_destroy( s->space );
    clv_space_destroy( s->judge );
    free( s );
    return out;
}
