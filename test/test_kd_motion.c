// SPDX-License-Identifier: MIT
// Every variant of the KD-tree through every kind of motion, with leaves of eight so that three hundred objects make a
// deep tree; brute force judges each frame, the checker looks at each tree, and the order of the pairs must be the
// same on all instruction sets. Then the points where one way of detecting takes over from another.
#include "kd/kd_engine.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    OBJECTS = 300,
    VARIANTS_MOST = 128,
};

// ---- a method on its own

typedef struct pair_list
{
    pair_sink sink;
    uint64_t limit; ///< refuses beyond
} pair_list;

static clv_result list_make_room( pair_sink* sink )
{
    pair_list* list = (pair_list*)sink;
    if ( sink->count > list->limit )
    {
        return CLV_TOO_MANY_PAIRS;
    }
    // As little as allowed where a refusal is to come, so that it comes early.
    sink->capacity = list->limit == UINT64_MAX ? sink->capacity * 2 + 256 : sink->count + PAIR_SINK_ROOM;
    sink->pairs = realloc( sink->pairs, sink->capacity * sizeof( clv_pair ) );
    CHECK( sink->pairs != NULL );
    return CLV_OK;
}

typedef struct rider
{
    const method* row;
    clv_isa isa;
    method_context context;
    base_memory memory;
    task_runner tasks;
    void* state;
    pair_list list;
    clv_aabb last[OBJECTS]; // boxes of the last good update
    uint64_t moved[( OBJECTS + 63 ) / 64];
    uint32_t ride_count;
} rider;

static void rider_open( rider* r, const char* name, const char* settings, clv_isa isa )
{
    memset( r, 0, sizeof( *r ) );
    char text[256];
    r->row = method_find( name );
    CHECK( r->row != NULL );
    r->isa = isa;
    r->memory = base_memory_make( ( clv_allocator ){ 0 } );
    r->context.memory = &r->memory;
    r->context.tasks = &r->tasks;
    r->context.kernels = simd_kernels_for( isa );
    CHECK( method_parse_settings( r->row, settings, r->context.params, text, sizeof( text ) ) );
    r->state = r->row->create( &r->context );
    CHECK( r->state != NULL );
    r->list.sink.make_room = list_make_room;
    r->list.limit = UINT64_MAX;
}

static void rider_close( rider* r )
{
    r->row->destroy( r->state );
    CHECK_EQUAL( r->memory.bytes, 0 );
    free( r->list.sink.pairs );
}

static double rider_figure( rider* r, const char* name )
{
    method_figure figures[128];
    uint32_t count = r->row->report( r->state, figures, 128 );
    CHECK( count <= 128 );
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

// ---- a crowd that moves

typedef struct stage
{
    clv_aabb boxes[OBJECTS];
    bool alive[OBJECTS];
    uint32_t live[OBJECTS];
    uint32_t live_count;
    bool changed;
    test_random random;
} stage;

static clv_aabb random_box( stage* s )
{
    return test_cube( test_random_between( &s->random, -12, 12 ), test_random_between( &s->random, -12, 12 ),
        test_random_between( &s->random, -12, 12 ), test_random_between( &s->random, 0.3f, 1.2f ) );
}

static clv_aabb moved( clv_aabb box, float x, float y, float z )
{
    return test_box( box.lower.x + x, box.lower.y + y, box.lower.z + z, box.upper.x + x, box.upper.y + y,
        box.upper.z + z );
}

static void stage_list( stage* s )
{
    s->live_count = 0;
    for ( uint32_t slot = 0; slot < OBJECTS; ++slot )
    {
        if ( s->alive[slot] )
        {
            s->live[s->live_count++] = slot;
        }
        else
        {
            s->boxes[slot] = test_box( NAN, NAN, NAN, NAN, NAN, NAN );
        }
    }
}

static void stage_open( stage* s, uint64_t seed )
{
    s->random = test_random_make( seed );
    for ( uint32_t slot = 0; slot < OBJECTS; ++slot )
    {
        s->alive[slot] = true;
        s->boxes[slot] = random_box( s );
    }
    s->changed = true;
    stage_list( s );
}

static void move_none( stage* s )
{
    (void)s;
}

static void jitter_share( stage* s, uint32_t percent, float by )
{
    for ( uint32_t i = 0; i < s->live_count; ++i )
    {
        if ( test_random_chance( &s->random, percent ) )
        {
            clv_aabb* box = &s->boxes[s->live[i]];
            *box = moved( *box, test_random_between( &s->random, -by, by ),
                test_random_between( &s->random, -by, by ), test_random_between( &s->random, -by, by ) );
        }
    }
}

static void move_jitter( stage* s )
{
    jitter_share( s, 100, 0.004f );
}

static void move_few( stage* s )
{
    jitter_share( s, 3, 2 );
}

static void move_some( stage* s )
{
    jitter_share( s, 30, 1 );
}

static void move_drift( stage* s )
{
    for ( uint32_t i = 0; i < s->live_count; ++i )
    {
        s->boxes[s->live[i]] = moved( s->boxes[s->live[i]], 1.5f, 0.25f, (float)( i % 5 ) * 0.1f );
    }
}

static void move_teleport( stage* s )
{
    for ( uint32_t i = 0; i < s->live_count; ++i )
    {
        s->boxes[s->live[i]] = random_box( s );
    }
}

static void move_swap( stage* s )
{
    for ( uint32_t i = 0; i + 1 < s->live_count; i += 2 )
    {
        uint32_t other = i + 1 + test_random_below( &s->random, s->live_count - i - 1 );
        clv_aabb box = s->boxes[s->live[i]];
        s->boxes[s->live[i]] = s->boxes[s->live[other]];
        s->boxes[s->live[other]] = box;
    }
}

static void move_grow( stage* s )
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

static void move_churn( stage* s )
{
    for ( uint32_t slot = 0; slot < OBJECTS; ++slot )
    {
        if ( test_random_chance( &s->random, s->alive[slot] ? 10 : 40 ) )
        {
            s->alive[slot] = !s->alive[slot];
            s->changed = true;
            s->boxes[slot] = random_box( s );
        }
        else if ( s->alive[slot] && test_random_chance( &s->random, 5 ) )
        {
            s->boxes[slot] = random_box( s ); // removed and added again between two updates
            s->changed = true;
        }
    }
    stage_list( s );
}

static void move_stretch( stage* s )
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
                         : random_box( s );
    }
}

static void move_rest_and_motion( stage* s )
{
    static uint32_t frame;
    frame += 1;
    jitter_share( s, frame / 4 % 3 == 0 ? 100 : frame / 4 % 3 == 1 ? 0 : 2, 1 );
}

// A crowd at rest in which now and then one dies, one comes and one moves: few enough that everybody else stays in its
// cell, beside those that take the places of the dead.
static void move_thin( stage* s )
{
    for ( uint32_t slot = 0; slot < OBJECTS; ++slot )
    {
        if ( s->alive[slot] ? test_random_below( &s->random, 200 ) == 0
                            : test_random_chance( &s->random, 10 ) )
        {
            s->alive[slot] = !s->alive[slot];
            s->changed = true;
            s->boxes[slot] = random_box( s );
        }
        else if ( s->alive[slot] && test_random_chance( &s->random, 1 ) )
        {
            s->boxes[slot] = random_box( s );
        }
    }
    stage_list( s );
}

// ---- all of them together

typedef struct motion
{
    const char* name;
    void ( *step )( stage* s );
} motion;

static const motion s_motions[] = {
    { "still", move_none },
    { "jitter", move_jitter },
    { "few", move_few },
    { "some", move_some },
    { "drift", move_drift },
    { "teleport", move_teleport },
    { "swap", move_swap },
    { "grow and shrink", move_grow },
    { "churn", move_churn },
    { "thin", move_thin },
    { "stretch", move_stretch },
    { "rest and motion", move_rest_and_motion },
};

static const struct
{
    const char* method;
    const char* settings;
} s_ways[] = {
    { "ray-kd", "ray.leaf=4" },
    { "kd-rebuilt", "kd.leaf=8" },
    { "kd-complete", "kd.leaf=8" },
    { "kd-incremental", "kd.leaf=8" },
    { "kd-incremental", "kd.leaf=8,kd.query=0" },
    { "kd-incremental", "kd.leaf=1,kd.query=1,kd.epsilon=0" },
    { "kd-incremental", "kd.leaf=30,kd.sap=0,kd.epsilon=0.3" },
    { "kd", "kd.leaf=8" },
    { "kd", "kd.leaf=40,kd.static=0.1,kd.query=0" },
    { "kd-complete", "kd.tree=0" },
    { "kd-complete", "kd.sap=0,kd.leaf=16" },
    { "kd-complete", "kd.sap=0,kd.tree=0" },
};

static uint64_t brute_hash( const stage* s, uint64_t* count )
{
    uint64_t hash = 0;
    *count = 0;
    for ( uint32_t i = 0; i < s->live_count; ++i )
    {
        for ( uint32_t j = i + 1; j < s->live_count; ++j )
        {
            clv_pair pair = { s->live[i], s->live[j] };
            if ( clv_aabb_overlap( s->boxes[pair.a], s->boxes[pair.b] ) )
            {
                hash += test_set_hash( &pair, 1 );
                *count += 1;
            }
        }
    }
    return hash;
}

// Who moved since the last good update; now and then nobody knows, and now and then the hint is too careful.
static const uint64_t* find_moved( rider* r, const stage* s )
{
    memset( r->moved, 0, sizeof( r->moved ) );
    for ( uint32_t slot = 0; slot < OBJECTS; ++slot )
    {
        bool same = memcmp( &r->last[slot], &s->boxes[slot], sizeof( clv_aabb ) ) == 0;
        bool hinted = !same || ( r->ride_count % 4 == 1 && slot % 5 == 0 );
        r->moved[slot / 64] |= (uint64_t)hinted << ( slot % 64 );
    }
    bool known = r->row->wants_moved && r->ride_count > 0 && r->ride_count % 3 != 0 && !s->changed;
    return known ? r->moved : NULL;
}

static clv_result ride( rider* r, const stage* s )
{
    method_counters counters = { 0 };
    bool whole = s->live_count == OBJECTS;
    method_input input = { s->boxes, whole ? NULL : s->live, s->live_count, OBJECTS, s->changed,
        find_moved( r, s ) };
    r->list.sink.count = 0;
    clv_result result = r->row->update( r->state, &input, &r->list.sink, &counters );
    if ( result == CLV_OK )
    {
        memcpy( r->last, s->boxes, sizeof( r->last ) );
        r->ride_count += 1;
    }
    return result;
}

// One update, its pairs and its tree. The order of the pairs as a hash.
static uint64_t ride_and_judge( rider* r, const stage* s, uint64_t expected, uint64_t expected_count )
{
    test_where.method = r->row->name;
    test_where.isa = r->isa;
    CHECK_OK( ride( r, s ) );
    CHECK_EQUAL( r->list.sink.count, expected_count );
    CHECK_EQUAL( test_set_hash( r->list.sink.pairs, r->list.sink.count ), expected );
    char text[256] = "";
    if ( !r->row->check( r->state, text, sizeof( text ) ) )
    {
        test_fail( __FILE__, __LINE__, "%s", text );
    }
    return test_order_hash( r->list.sink.pairs, r->list.sink.count );
}

static void lead_through( const motion* kind, uint32_t frame_count )
{
    static rider riders[VARIANTS_MOST];
    static stage s;
    uint32_t count = 0;
    for ( size_t way = 0; way < TEST_COUNT( s_ways ); ++way )
    {
        for ( clv_isa isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
        {
            if ( clv_isa_is_supported( isa ) )
            {
                rider_open( &riders[count++], s_ways[way].method, s_ways[way].settings, isa );
            }
        }
    }
    uint32_t isa_count = count / (uint32_t)TEST_COUNT( s_ways );
    stage_open( &s, 7 );
    for ( uint32_t frame = 0; frame < frame_count; ++frame )
    {
        test_where.frame = frame;
        uint64_t expected_count;
        uint64_t expected = brute_hash( &s, &expected_count );
        uint64_t order = 0;
        for ( uint32_t i = 0; i < count; ++i )
        {
            uint64_t mine = ride_and_judge( &riders[i], &s, expected, expected_count );
            order = i % isa_count == 0 ? mine : order;
            CHECK_EQUAL( mine, order );
        }
        s.changed = false;
        kind->step( &s );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        rider_close( &riders[i] );
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

// ---- where one way takes over from another

static void judge( rider* r, stage* s, uint32_t frame )
{
    test_where.frame = frame;
    uint64_t count;
    uint64_t expected = brute_hash( s, &count );
    ride_and_judge( r, s, expected, count );
    s->changed = false;
}

static void a_scene_that_starts_at_rest_is_found_in_every_frame( void )
{
    static const char* const names[] = { "kd-incremental", "kd" };
    for ( int i = 0; i < 2; ++i )
    {
        rider r;
        static stage s;
        rider_open( &r, names[i], "kd.leaf=8", clv_isa_best() );
        stage_open( &s, 3 );
        for ( uint32_t frame = 0; frame < 6; ++frame )
        {
            judge( &r, &s, frame );
        }
        CHECK( r.list.sink.count > 50 );
        CHECK( rider_figure( &r, "incremental" ) == 1 );
        CHECK( rider_figure( &r, "by query" ) == 1 );
        CHECK( rider_figure( &r, "active objects" ) == 0 );
        CHECK( rider_figure( &r, "cached pairs" ) >= (double)r.list.sink.count );
        CHECK( rider_figure( &r, "pairs tested" ) == 0 );
        rider_close( &r );
    }
}

static void kd_switches_at_its_share_and_is_right_on_both_sides( void )
{
    rider r;
    static stage s;
    rider_open( &r, "kd", "kd.leaf=8,kd.static=0.5,kd.query=0", clv_isa_best() );
    stage_open( &s, 4 );
    judge( &r, &s, 0 );
    CHECK( rider_figure( &r, "incremental" ) == 0 ); // all are new
    uint32_t frame = 1;
    for ( uint32_t moving = 0; moving <= OBJECTS; moving += 25 )
    {
        for ( uint32_t repeat = 0; repeat < 3; ++repeat )
        {
            for ( uint32_t slot = 0; slot < moving; ++slot )
            {
                s.boxes[slot] = random_box( &s );
            }
            judge( &r, &s, frame++ );
            double moved_count = rider_figure( &r, "moving objects" );
            CHECK( moved_count <= moving );
            CHECK( ( rider_figure( &r, "incremental" ) == 1 ) == ( OBJECTS - moved_count > 0.5 * OBJECTS ) );
        }
        // And to and fro.
        judge( &r, &s, frame++ );
        CHECK( rider_figure( &r, "incremental" ) == 1 );
        move_teleport( &s );
        judge( &r, &s, frame++ );
        CHECK( rider_figure( &r, "incremental" ) == 0 );
        judge( &r, &s, frame++ );
    }
    rider_close( &r );
}

static void kd_remembers_only_where_few_move( void )
{
    rider r;
    static stage s;
    rider_open( &r, "kd", "kd.leaf=8,kd.query=0.1", clv_isa_best() );
    stage_open( &s, 9 );
    judge( &r, &s, 0 );
    judge( &r, &s, 1 );
    CHECK( rider_figure( &r, "incremental" ) == 1 && rider_figure( &r, "by query" ) == 0 ); // fills the cache
    for ( uint32_t frame = 2; frame < 20; ++frame )
    {
        uint32_t moving = frame % 2 == 0 ? OBJECTS / 10 : OBJECTS / 10 + 1;
        for ( uint32_t slot = 0; slot < moving; ++slot )
        {
            s.boxes[slot] = moved( s.boxes[slot], frame % 4 < 2 ? 5.0f : -5.0f, 0, 0 );
        }
        judge( &r, &s, frame );
        CHECK( rider_figure( &r, "moving objects" ) == moving );
        CHECK( ( rider_figure( &r, "incremental" ) == 1 ) == ( frame % 2 == 0 ) );
    }
    rider_close( &r );
}

static void an_update_after_a_refused_one_is_right( void )
{
    for ( size_t way = 0; way < TEST_COUNT( s_ways ); ++way )
    {
        rider r;
        static stage s;
        rider_open( &r, s_ways[way].method, s_ways[way].settings, clv_isa_best() );
        stage_open( &s, 5 );
        for ( uint32_t frame = 0; frame < 40; ++frame )
        {
            if ( frame % 4 == 2 )
            {
                r.list.limit = frame;
                free( r.list.sink.pairs );
                r.list.sink.pairs = NULL;
                r.list.sink.capacity = 0;
                CHECK_RESULT( ride( &r, &s ), CLV_TOO_MANY_PAIRS );
                r.list.limit = UINT64_MAX;
            }
            judge( &r, &s, frame );
            if ( frame % 3 == 0 )
            {
                move_few( &s );
            }
        }
        rider_close( &r );
    }
}

static void empty_and_single_spaces_are_legal( void )
{
    for ( size_t way = 0; way < TEST_COUNT( s_ways ); ++way )
    {
        rider r;
        static stage s;
        rider_open( &r, s_ways[way].method, s_ways[way].settings, clv_isa_best() );
        stage_open( &s, 6 );
        for ( uint32_t frame = 0; frame < 30; ++frame )
        {
            static const uint32_t counts[6] = { 0, 1, 300, 0, 2, 60 };
            for ( uint32_t slot = 0; slot < OBJECTS; ++slot )
            {
                s.alive[slot] = ( slot * 7 + frame ) % OBJECTS < counts[frame % 6];
                s.boxes[slot] = random_box( &s );
            }
            s.changed = true;
            stage_list( &s );
            judge( &r, &s, frame );
        }
        rider_close( &r );
    }
}

// ---- shapes that trees dislike

static void shape_same( uint32_t i, clv_aabb* box )
{
    (void)i;
    *box = test_cube( 1, 2, 3, 0.5f );
}
static void shape_line( uint32_t i, clv_aabb* box )
{
    *box = test_cube( (float)i * 0.9f, 0, 0, 0.5f );
}
static void shape_point( uint32_t i, clv_aabb* box )
{
    float x = (float)( i % 17 ), y = (float)( i % 13 );
    *box = test_box( x, y, 0, x, y, 0 );
}
static void shape_bars( uint32_t i, clv_aabb* box )
{
    float y = (float)( i % 20 ), z = (float)( i / 20 );
    *box = test_box( -100 - (float)i, y, z, 100 + (float)i, y + 0.5f, z + 0.5f );
}
static void shape_planes( uint32_t i, clv_aabb* box )
{
    *box = test_box( -50, -50, (float)i * 0.3f, 50, 50, (float)i * 0.3f + 0.2f );
}
static void shape_huge( uint32_t i, clv_aabb* box )
{
    *box = i == 0 ? test_cube( 0, 0, 0, 1000 )
                  : test_cube( (float)( i * 7 % 50 ), (float)( i * 11 % 50 ), (float)( i % 9 ), 0.4f );
}
static void shape_powers( uint32_t i, clv_aabb* box )
{
    float x = ldexpf( 1, (int)( i % 200 ) - 100 );
    *box = test_box( x, 0, 0, x * 1.5f, 1, 1 );
}
static void shape_endless( uint32_t i, clv_aabb* box )
{
    float x = (float)( i % 30 ), y = (float)( i / 30 );
    *box = test_box( x, y, -INFINITY, x + 1.1f, y + 0.5f, INFINITY );
}

static void awkward_shapes_match_brute_force( void )
{
    static void ( *const shapes[] )( uint32_t, clv_aabb* ) = { shape_same, shape_line, shape_point,
        shape_bars, shape_planes, shape_huge, shape_powers, shape_endless };
    for ( size_t shape = 0; shape < TEST_COUNT( shapes ); ++shape )
    {
        for ( size_t way = 0; way < TEST_COUNT( s_ways ); ++way )
        {
            test_where.seed = shape;
            rider r;
            static stage s;
            rider_open( &r, s_ways[way].method, s_ways[way].settings, clv_isa_best() );
            stage_open( &s, 8 );
            for ( uint32_t frame = 0; frame < 12; ++frame )
            {
                for ( uint32_t i = 0; i < OBJECTS; ++i )
                {
                    // In order, backwards, at rest.
                    shapes[shape]( frame < 4 ? i : OBJECTS - 1 - i, &s.boxes[i] );
                }
                judge( &r, &s, frame );
            }
            CHECK( rider_figure( &r, "height" ) <= 40 );
            rider_close( &r );
        }
    }
}

// More of them than small boxes take at once, and all in one place: both are sorted.
static void many_askers_find_each_other( void )
{
    enum
    {
        MANY = 20000
    };
    static clv_aabb boxes[MANY];
    static clv_id ids[MANY];
    uint64_t order = 0;
    for ( int isa = CLV_ISA_SCALAR; isa <= CLV_ISA_NEON; ++isa )
    {
        test_random random = test_random_make( 3 );
        for ( uint32_t i = 0; i < MANY; ++i )
        {
            boxes[i] = test_cube( test_random_between( &random, 0, 60 ),
                test_random_between( &random, 0, 60 ), test_random_between( &random, 0, 60 ), 1 );
        }
        if ( simd_kernels_for( (clv_isa)isa ) == NULL )
        {
            continue;
        }
        clv_space* spaces[2];
        for ( uint32_t which = 0; which < 2; ++which )
        {
            clv_space_def def = clv_default_space_def();
            def.isa = (clv_isa)isa;
            def.method = which == 0 ? "kd-incremental" : "sap";
            def.settings = which == 0 ? "kd.query=1,kd.leaf=500" : NULL;
            CHECK_OK( clv_space_create( &def, &spaces[which] ) );
            CHECK_OK( clv_space_add( spaces[which], boxes, MANY, ids ) );
            CHECK_OK( clv_space_update( spaces[which] ) );
        }
        uint64_t sum = 0;
        for ( uint32_t frame = 0; frame < 6; ++frame )
        {
            test_where.frame = frame;
            for ( uint32_t i = 0; i < MANY / 2; ++i )
            {
                // In the last frames nearly all in one bucket.
                boxes[i] = frame < 4 ? moved( boxes[i], 0.3f, -0.2f, 0.1f )
                                     : test_cube( i == 0 ? 1e4f : (float)i * 1e-4f, (float)( i % 97 ),
                                           (float)( i % 89 ), 0.2f );
            }
            uint64_t hashes[2];
            for ( uint32_t which = 0; which < 2; ++which )
            {
                CHECK_OK( clv_space_move( spaces[which], ids, boxes, MANY ) );
                CHECK_OK( clv_space_update( spaces[which] ) );
                clv_pair_view view = clv_space_pairs( spaces[which] );
                hashes[which] = test_set_hash( view.pairs, view.count );
                sum = which == 0 ? sum * 31 + test_order_hash( view.pairs, view.count ) : sum;
            }
            CHECK( hashes[0] == hashes[1] );
        }
        CHECK( order == 0 || order == sum );
        order = sum;
        clv_space_destroy( spaces[0] );
        clv_space_destroy( spaces[1] );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( every_kind_of_motion_matches_brute_force ),
        TEST_CASE( a_scene_that_starts_at_rest_is_found_in_every_frame ),
        TEST_CASE( kd_switches_at_its_share_and_is_right_on_both_sides ),
        TEST_CASE( kd_remembers_only_where_few_move ),
        TEST_CASE( an_update_after_a_refused_one_is_right ),
        TEST_CASE( empty_and_single_spaces_are_legal ),
        TEST_CASE( awkward_shapes_match_brute_force ),
        TEST_CASE( many_askers_find_each_other ),
    };
    return test_run( "kd_motion", cases, TEST_COUNT( cases ), argc, argv );
}
