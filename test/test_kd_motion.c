// SPDX-License-Identifier: MIT
// Every variant of the KD-tree through every kind of motion; brute force judges each frame, the checker looks
// at each tree, and the order of the pairs must be the same on all instruction sets.
#include "method_driver.h"

#include <math.h>

enum
{
    VARIANTS_MOST = 128
};

static void move_none( crowd* s )
{
    (void)s;
}

static void move_jitter( crowd* s )
{
    crowd_jitter( s, 100, 0.004f );
}

static void move_few( crowd* s )
{
    crowd_jitter( s, 3, 2 );
}

static void move_some( crowd* s )
{
    crowd_jitter( s, 30, 1 );
}

static void move_drift( crowd* s )
{
    for ( uint32_t i = 0; i < s->live_count; ++i )
    {
        s->boxes[s->live[i]] = crowd_moved( s->boxes[s->live[i]], 1.5f, 0.25f, (float)( i % 5 ) * 0.1f );
    }
}

static void move_swap( crowd* s )
{
    for ( uint32_t i = 0; i + 1 < s->live_count; i += 2 )
    {
        uint32_t other = i + 1 + test_random_below( &s->random, s->live_count - i - 1 );
        clv_aabb box = s->boxes[s->live[i]];
        s->boxes[s->live[i]] = s->boxes[s->live[other]];
        s->boxes[s->live[other]] = box;
    }
}

static void move_grow( crowd* s )
{
    for ( uint32_t i = 0; i < s->live_count; ++i )
    {
        clv_aabb* box = &s->boxes[s->live[i]];
        float by = test_random_between( &s->random, -0.2f, 0.2f );
        float half = ( box->upper.x - box->lower.x ) / 2;
        by = half + by > 0.05f && half + by < 3 ? by : 0;
        *box = clv_aabb_grow( *box, by );
    }
}

static void move_churn( crowd* s )
{
    for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
    {
        if ( test_random_chance( &s->random, s->alive[slot] ? 10 : 40 ) )
        {
            s->alive[slot] = !s->alive[slot];
            s->changed = true;
            s->boxes[slot] = crowd_box( s );
        }
        else if ( s->alive[slot] && test_random_chance( &s->random, 5 ) )
        {
            s->boxes[slot] = crowd_box( s ); // removed and added again between two updates
            s->changed = true;
        }
    }
    crowd_list( s );
}

static void move_stretch( crowd* s )
{
    // Bars, planes, everything and far away, now and then.
    move_few( s );
    for ( uint32_t i = 0; i < 6; ++i )
    {
        clv_aabb* box = &s->boxes[s->live[test_random_below( &s->random, s->live_count )]];
        static const float far[3] = { INFINITY, 1e9f, 40 };
        float reach = far[test_random_below( &s->random, 3 )];
        uint32_t kind = test_random_below( &s->random, 5 );
        *box = kind == 0 ? test_box( -reach, -1, -1, reach, 0, 0 )
            : kind == 1  ? test_box( -reach, -reach, 3, reach, reach, 3 )
            : kind == 2  ? test_box( -reach, -reach, -reach, reach, reach, reach )
            : kind == 3  ? test_cube( 1e7f * (float)i, 0, 1e7f, 1 )
                         : crowd_box( s );
    }
}

static void move_rest_and_motion( crowd* s )
{
    static uint32_t frame;
    frame += 1;
    crowd_jitter( s, frame / 4 % 3 == 0 ? 100 : frame / 4 % 3 == 1 ? 0 : 2, 1 );
}

// A crowd at rest in which now and then one dies, one comes and one moves: few enough that every other stays
// in its cell, beside those that take the places of the dead.
static void move_thin( crowd* s )
{
    for ( uint32_t slot = 0; slot < CROWD_OBJECTS; ++slot )
    {
        if ( s->alive[slot] ? test_random_below( &s->random, 200 ) == 0
                            : test_random_chance( &s->random, 10 ) )
        {
            s->alive[slot] = !s->alive[slot];
            s->changed = true;
            s->boxes[slot] = crowd_box( s );
        }
        else if ( s->alive[slot] && test_random_chance( &s->random, 1 ) )
        {
            s->boxes[slot] = crowd_box( s );
        }
    }
    crowd_list( s );
}

// ---- all of them together

typedef struct motion
{
    const char* name;
    void ( *step )( crowd* s );
} motion;

static const motion s_motions[] = {
    { "still", move_none },
    { "jitter", move_jitter },
    { "few", move_few },
    { "some", move_some },
    { "drift", move_drift },
    { "teleport", crowd_scatter },
    { "swap", move_swap },
    { "grow and shrink", move_grow },
    { "churn", move_churn },
    { "thin", move_thin },
    { "stretch", move_stretch },
    { "rest and motion", move_rest_and_motion },
};

static void lead_through( const motion* kind, uint32_t frame_count )
{
    static method_driver drivers[VARIANTS_MOST];
    static crowd s;
    uint32_t count = 0;
    for ( uint32_t way = 0; way < kd_variant_count; ++way )
    {
        for ( clv_isa isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
        {
            if ( clv_isa_is_supported( isa ) )
            {
                driver_open( &drivers[count++], kd_variants[way].method, kd_variants[way].settings, isa );
            }
        }
    }
    uint32_t isa_count = count / kd_variant_count;
    crowd_open( &s, 7 );
    for ( uint32_t frame = 0; frame < frame_count; ++frame )
    {
        test_where.frame = frame;
        uint64_t expected_count;
        uint64_t expected = crowd_hash( &s, &expected_count );
        uint64_t order = 0;
        for ( uint32_t i = 0; i < count; ++i )
        {
            uint64_t mine = driver_judge( &drivers[i], &s, expected, expected_count );
            order = i % isa_count == 0 ? mine : order;
            CHECK_EQUAL( mine, order );
        }
        s.changed = false;
        kind->step( &s );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        driver_close( &drivers[i] );
    }
}

static void every_kind_of_motion_matches_brute_force( void )
{
    // 12 motions, 12 ways, 1 to 4 instruction sets, 60 frames: 8,000 to 32,000 updates.
    for ( size_t i = 0; i < TEST_COUNT( s_motions ); ++i )
    {
        test_where.note = s_motions[i].name;
        lead_through( &s_motions[i], test_scaled( 60 ) );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( every_kind_of_motion_matches_brute_force ),
    };
    return test_run( "kd_motion", cases, TEST_COUNT( cases ), argc, argv );
}
