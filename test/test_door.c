// SPDX-License-Identifier: MIT
// Every public function called with floating-point traps, another rounding mode and flushed denormals:
// no trap fires, the answer is the plain one, and modes and flags are as before. doors.def lists the
// functions, and the headers are read to see that none is missing.
#if !defined( _GNU_SOURCE )
#define _GNU_SOURCE // feenableexcept
#endif
#include "cleave/narrow.h"
#include "cleave/sim.h"
#include "shape_sim.h"
#include "support.h"
#include "volume.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

#if defined( __unix__ )
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#define HAS_SIGNALS 1
#else
#define HAS_SIGNALS 0
#endif
#if defined( __SSE2__ ) || defined( _M_X64 )
#include <xmmintrin.h>
#define HAS_CSR 1
#else
#define HAS_CSR 0
#endif

enum
{
    BOXES = 40,
    SHAPES = 12,
    PLACES = 5,
    MEETINGS = 60,
    PLANES = 5,
    BODIES = 5,
    STEPS = 9,
};

// What the functions are called with; made in the plain modes.
typedef struct stage
{
    clv_space* space;
    clv_id ids[BOXES];
    clv_space* plane; ///< of two axes
    clv_aabb2 flat_boxes[BOXES], bad_flat[2];
    clv_space* wide; ///< of doubles
    clv_id wide_ids[BOXES];
    clv_aabb64 wide_boxes[BOXES], bad_wide[2];
    clv_aabb boxes[BOXES], moved[BOXES], bad_boxes[BOXES], out[2 * BODIES];
    float margins[3], bad_margins[2], seconds[STEPS];
    clv_margin_rule rules[3], bad_rules[2];
    clv_vec3 motions[3], bad_motions[2];
    clv_hull *hull, *flat, *spare;
    clv_vec3 points[30];
    clv_shape shapes[SHAPES];
    clv_transform places[PLACES];
    clv_plane planes[PLANES];
    clv_dop18 dops[BOXES];
    clv_sphere spheres[BOXES];
    clv_obb obbs[BOXES];
    clv_volume_sweep* sweep;
    clv_shape_sim* sim;
    clv_rigid* rigid;
    clv_rigid_body bodies[BODIES];
    clv_ray rays[BODIES];
    clv_sphere_cast casts[BODIES];
    clv_half_spaces regions[1];
    clv_ray64 wide_rays[BODIES];
    clv_sphere_cast64 wide_casts[BODIES];
    uint64_t seen;
} stage;

// ---- the stage

static void make_wide_boxes( stage* s )
{
    test_random random = test_random_make( 9 );
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        double at = i % 3 == 0 ? 1e9 : i % 3 == 1 ? 1e-310 : 1e300;
        double side = i % 2 == 0 ? 1.0 / 3 : 1e-312;
        clv_aabb64* box = &s->wide_boxes[i];
        box->lower = ( clv_vec64 ){ at, -at, (double)test_random_between( &random, -1, 1 ) };
        box->upper = ( clv_vec64 ){ at + side, -at + side, i % 7 == 0 ? INFINITY : box->lower.z + side };
    }
    s->bad_wide[0] = s->bad_wide[1] = s->wide_boxes[0];
    s->bad_wide[0].lower.y = NAN;
    s->bad_wide[1].lower.y = s->bad_wide[1].upper.y + 1;
}

static void make_boxes( stage* s )
{
    test_random random = test_random_make( 5 );
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        s->boxes[i] = test_crowd_box( TEST_CROWD_MIXED, BOXES, &random );
        s->boxes[i] = i % 5 == 0 ? test_crowd_box( TEST_CROWD_TINY, BOXES, &random ) : s->boxes[i];
        s->moved[i] = test_crowd_step( TEST_CROWD_MIXED, s->boxes[i], &random );
        s->bad_boxes[i] = s->boxes[i];
        float x = (float)i, r = i % 3 == 0 ? 1e-42f : 1.7f;
        clv_vec3 half = { r, r, r };
        clv_transform at = clv_transform_at( x, 0.1f * x, i % 2 == 0 ? 1e-40f : 3e38f );
        CHECK_OK( clv_shape_dop18( clv_box_shape( half ), at, &s->dops[i] ) );
        CHECK_OK( clv_shape_sphere( clv_box_shape( half ), at, &s->spheres[i] ) );
        CHECK_OK( clv_shape_obb( clv_box_shape( half ), at, &s->obbs[i] ) );
    }
    s->bad_boxes[0].lower.x = NAN;
    make_wide_boxes( s );
    for ( uint32_t i = 0; i < BOXES; ++i )
    {
        clv_aabb box = s->boxes[i];
        s->flat_boxes[i] = ( clv_aabb2 ){ { box.lower.x, box.lower.y }, { box.upper.x, box.upper.y } };
    }
    s->bad_flat[0] = s->bad_flat[1] = s->flat_boxes[1];
    s->bad_flat[0].upper.y = NAN;
    s->bad_flat[1].lower.x = INFINITY;
    s->bad_boxes[1] = test_box( FLT_TRUE_MIN, 0, 0, 0, 1, 1 );
    s->margins[0] = FLT_TRUE_MIN, s->margins[1] = FLT_MAX, s->margins[2] = 0.1f;
    s->bad_margins[0] = NAN, s->bad_margins[1] = -FLT_TRUE_MIN;
    for ( int i = 0; i < 3; ++i )
    {
        s->rules[i] =
            ( clv_margin_rule ){ s->margins[i], s->margins[( i + 1 ) % 3], s->margins[( i + 2 ) % 3] };
        s->motions[i] = ( clv_vec3 ){ s->margins[i], -s->margins[( i + 1 ) % 3], 1.0f / 3 };
    }
    s->bad_rules[0] = ( clv_margin_rule ){ 0, s->bad_margins[0], 0 };
    s->bad_rules[1] = ( clv_margin_rule ){ 0, 0, s->bad_margins[1] };
    s->bad_motions[0] = ( clv_vec3 ){ 0, NAN, 0 };
    s->bad_motions[1] = ( clv_vec3 ){ FLT_TRUE_MIN, 0, -INFINITY };
    const float seconds[STEPS] = { 0.01f, 1e-40f, 0.0f, -1.0f, NAN, INFINITY, 3e38f, 0.02f, 1.0f / 3 };
    memcpy( s->seconds, seconds, sizeof( seconds ) );
}

static void make_shapes( stage* s )
{
    test_random random = test_random_make( 6 );
    for ( uint32_t i = 0; i < 30; ++i )
    {
        s->points[i].x = test_random_between( &random, -1, 1 );
        s->points[i].y = test_random_between( &random, -1, 1 );
        s->points[i].z = i % 7 == 0 ? 1e-41f : test_random_between( &random, -1, 1 );
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = s->points;
    def.point_count = 30;
    CHECK_OK( clv_hull_create( &def, &s->hull ) );
    CHECK_OK( clv_hull_create( &def, &s->spare ) );
    def.point_count = 3;
    CHECK_OK( clv_hull_create( &def, &s->flat ) );
    const float sizes[SHAPES] = { 0.5f, 1e-42f, 3e38f, NAN, INFINITY, -1.0f, 0.0f, 1.0f / 3, -1e-42f, 1, 2,
        3 };
    for ( int i = 0; i < SHAPES; ++i )
    {
        clv_vec3 half = { sizes[i], 1, sizes[( i + 1 ) % SHAPES] };
        s->shapes[i] = i % 4 == 0 ? clv_sphere_shape( sizes[i] )
            : i % 4 == 1          ? clv_box_shape( half )
                                  : clv_hull_shape( i % 4 == 2 ? s->hull : s->flat );
        s->shapes[i].radius = i % 4 == 2 ? sizes[i] : s->shapes[i].radius;
    }
    const float offsets[PLACES] = { 0.0f, 1e-42f, 0.3f, 3e38f, NAN };
    for ( int i = 0; i < PLACES; ++i )
    {
        s->places[i] = clv_transform_at( offsets[i], 0.7f, -offsets[i] );
        s->places[i].rotation.x = offsets[( i + 2 ) % PLACES];
        clv_plane plane = { { offsets[( i + 3 ) % PLACES], 1, 1e-42f }, offsets[i] };
        s->planes[i] = plane;
    }
}

static void make_bodies( stage* s )
{
    const float speeds[BODIES] = { 0.0f, 1e-42f, 3e38f, NAN, 1.0f / 3 };
    for ( int i = 0; i < BODIES; ++i )
    {
        s->bodies[i] = clv_default_rigid_body();
        s->bodies[i].velocity.x = speeds[i];
        s->bodies[i].position.y = 0.3f * (float)i;
    }
    clv_rigid_def def = clv_default_rigid_def();
    CHECK_OK( clv_rigid_create( &def, &s->rigid ) );
    CHECK_OK( clv_rigid_add( s->rigid, s->bodies, 2 ) );
    clv_shape_sim_def shape_def = clv_default_shape_sim_def();
    CHECK_OK( clv_shape_sim_create( &shape_def, &s->sim ) );
    for ( int i = 0; i < 3; ++i )
    {
        CHECK_OK( clv_shape_sim_add( s->sim, s->hull, clv_transform_at( 0.1f * (float)i, 0.7f, 0 ) ) );
    }
}

static void make_queries( stage* s )
{
    const float speeds[BODIES] = { 0.0f, 1e-42f, 3e38f, 1.7f, 1.0f / 3 };
    for ( int i = 0; i < BODIES; ++i )
    {
        clv_vec3 at = { 0.1f * (float)i, 0, 1e-41f }, way = { speeds[i], speeds[( i + 1 ) % BODIES], 0.1f };
        s->wide_rays[i] =
            ( clv_ray64 ){ s->wide_boxes[i].lower, { 1, i % 2 == 0 ? 1e-310 : -1, 0 }, INFINITY };
        s->wide_casts[i] =
            ( clv_sphere_cast64 ){ { { 1e9, -1e9, i % 2 == 0 ? 1e-310 : 2 }, 1.0 / 3 }, { -1, 1, 0 }, 9 };
        s->rays[i] = ( clv_ray ){ at, way, i % 2 == 0 ? INFINITY : 3.0f };
        s->casts[i] = ( clv_sphere_cast ){ { at, speeds[( i + 2 ) % BODIES] }, way, INFINITY };
    }
}

static stage make_stage( const char* name )
{
    stage s = { .space = NULL };
    make_boxes( &s );
    make_shapes( &s );
    make_queries( &s );
    make_bodies( &s );
    clv_space_def def = clv_default_space_def();
    def.events = def.stage_times = true;
    def.method = name;
    CHECK_OK( clv_space_create( &def, &s.space ) );
    CHECK_OK( clv_space_add( s.space, s.boxes, BOXES, s.ids ) );
    CHECK_OK( clv_space_update( s.space ) );
    def.flat = true;
    CHECK_OK( clv_space_create( &def, &s.plane ) );
    CHECK_OK( clv_space_add2( s.plane, s.flat_boxes, BOXES, s.ids ) ); // the same ids in all three
    CHECK_OK( clv_space_update( s.plane ) );
    def.flat = false;
    def.doubles = true;
    CHECK_OK( clv_space_create( &def, &s.wide ) );
    CHECK_OK( clv_space_add64( s.wide, s.wide_boxes, BOXES, s.wide_ids ) );
    CHECK_OK( clv_space_update( s.wide ) );
    clv_volume_sweep_def sweep_def = clv_default_volume_sweep_def();
    CHECK_OK( clv_volume_sweep_create( &sweep_def, &s.sweep ) );
    CHECK_OK( clv_volume_sweep_run( s.sweep, CLV_VOLUME_AABB, s.boxes, BOXES ) );
    return s;
}

static void free_stage( stage* s )
{
    clv_space_destroy( s->space );
    clv_space_destroy( s->plane );
    clv_space_destroy( s->wide );
    clv_volume_sweep_destroy( s->sweep );
    clv_shape_sim_destroy( s->sim );
    clv_rigid_destroy( s->rigid );
    clv_hull_destroy( s->hull );
    clv_hull_destroy( s->flat );
    clv_hull_destroy( s->spare );
}

// ---- the calls

static void note( stage* s, uint64_t value )
{
    s->seen = test_mix( s->seen ^ value );
}

static void see( stage* s, const void* data, size_t size )
{
    const unsigned char* bytes = data;
    for ( size_t i = 0; i < size; ++i )
    {
        note( s, bytes[i] );
    }
}

static bool visit( const clv_pair* pairs, size_t count, void* user )
{
    *(uint64_t*)user += test_set_hash( pairs, count );
    return true;
}

static clv_box_stream stream_of( const clv_aabb* boxes )
{
    clv_box_stream stream = { &boxes->lower.x, &boxes->upper.x, sizeof( clv_aabb ) };
    return stream;
}

static bool count_bytes( const void* bytes, size_t size, void* user )
{
    *(uint64_t*)user += size + (uint64_t)( bytes != NULL );
    return true;
}

// Through a snapshot and back, and on from there.
static void save_and_load( stage* s, const clv_space* space, clv_save_form form )
{
    static uint8_t bytes[1 << 19];
    size_t size = 0;
    clv_space* loaded = NULL;
    clv_space_def def = clv_default_space_def();
    s->seen += (uint64_t)clv_space_save( space, form, bytes, sizeof( bytes ), &size );
    s->seen += (uint64_t)clv_space_load( &def, bytes, size, &loaded, NULL );
    if ( loaded != NULL )
    {
        s->seen += (uint64_t)clv_space_update( loaded ) + clv_space_pairs( loaded ).count;
    }
    clv_space_destroy( loaded );
    s->seen += (uint64_t)clv_space_load( &def, bytes, size / 2, &loaded, NULL );
}

static bool go_on( const char* condition, const char* file, int line, void* user )
{
    return condition == NULL || file == NULL || line == 0 || user != NULL;
}

static clv_regions regions_of( const clv_aabb64* boxes, uint32_t count )
{
    clv_regions regions = { &boxes->lower.x, &boxes->upper.x, sizeof( clv_aabb64 ), count };
    return regions;
}

// The corners of boxes as points in a cell, or in none; without a list of near points as well.
static clv_near_points near_points( const clv_aabb* boxes, const clv_near_cell* cell )
{
    clv_near_points points = {
        .positions = &boxes->lower.x, .stride = sizeof( clv_aabb ), .count = 4, .cell = cell
    };
    return points;
}

static const clv_near_cell s_near_cell = { { { 3, 0, 0 }, { 1, 3, 0 }, { 0, 0, 3 } }, { true, true, false } };

static clv_near* create_near( stage* s, double cutoff )
{
    clv_near_def def = clv_default_near_def();
    def.cutoff = cutoff;
    def.skin = cutoff;
    def.squared = def.vectors = def.shifts = true;
    clv_near* near = NULL;
    note( s, clv_near_create( &def, &near ) );
    return near;
}

static bool visit_near( const clv_near_view* view, void* user )
{
    stage* s = user;
    see( s, view->vectors, (size_t)view->count * 3 * sizeof( float ) );
    return true;
}

static void update_near( stage* s, clv_near* near )
{
    const clv_near_points good[] = { near_points( s->boxes, &s_near_cell ), near_points( s->boxes, NULL ),
        near_points( s->bad_boxes, &s_near_cell ) };
    for ( int i = 0; i < 3; ++i )
    {
        note( s, clv_near_update( near, &good[i], NULL ) );
        note( s, clv_near_update( near, &good[i], NULL ) );
        clv_near_view view = clv_near_list( near );
        see( s, view.squared, (size_t)view.count * sizeof( float ) );
        note( s, clv_near_visit( near, &good[i], visit_near, s ) );
    }
}

static bool take_bytes( const void* bytes, size_t count, void* user )
{
    stage* s = user;
    see( s, bytes, count );
    return true;
}

static void record_door( stage* s )
{
    clv_recorder_def def = clv_default_recorder_def();
    clv_space_def plain = clv_default_space_def();
    clv_space* space = NULL;
    clv_recorder* recorder = NULL;
    clv_id ids[BOXES];
    plain.margin = s->margins[2];
    note( s, clv_space_create( &plain, &space ) );
    def.put = take_bytes;
    def.put_user = s;
    note( s, clv_recorder_create( &def, space, &recorder ) );
    note( s, clv_space_add( space, s->boxes, BOXES, ids ) );
    note( s, clv_space_update( space ) );
    clv_hit hits[BODIES];
    clv_queries queries = clv_query_rays( s->rays, BODIES );
    note( s, clv_space_query_closest( space, &queries, hits, NULL ) );
    note( s, clv_space_move( space, ids, s->bad_boxes, 4 ) );
    note( s, clv_recorder_status( recorder ).call_count );
    note( s, clv_recorder_close( recorder ) );
    clv_space_destroy( space );
}

static void create_spaces( stage* s )
{
    static const char* const settings[] = { NULL, "kd.leaf=256", "kd.static=0.6", "kd.static=1e400",
        "kd.static=1e-400", "kd.static=4.9e-324", "kd.leaf=1e300", "kd.static=0.1234567890123456789",
        "kd.leaf=0.5" };
    for ( size_t i = 0; i < TEST_COUNT( settings ); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.method = settings[i] != NULL ? "kd" : NULL;
        def.settings = settings[i];
        clv_space* made = NULL;
        note( s, clv_space_create( &def, &made ) );
        clv_space_destroy( made );
    }
    for ( uint32_t i = 0; i < test_variant_count(); ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.method = test_variant_at( i ).method->name;
        def.worker_count = 2;
        def.margin = s->margins[i % 2 == 0 ? 0 : 2];
        clv_space* made = NULL;
        note( s, clv_space_create( &def, &made ) );
        clv_space_destroy( made );
    }
    for ( int i = 0; i < 2; ++i )
    {
        clv_space_def def = clv_default_space_def();
        def.margin = s->bad_margins[i];
        clv_space* made = NULL;
        note( s, clv_space_create( &def, &made ) );
    }
}

static void create_hulls( stage* s )
{
    for ( uint32_t i = 1; i <= 31; ++i )
    {
        clv_hull_def def = clv_default_hull_def();
        clv_vec3 bad = { s->bad_margins[0], 0, 0 };
        def.points = i == 31 ? &bad : s->points;
        def.point_count = i == 31 ? 1 : i;
        clv_hull* made = NULL;
        note( s, clv_hull_create( &def, &made ) );
        if ( made != NULL )
        {
            clv_hull_view view = clv_hull_get_view( made );
            see( s, view.vertices, view.vertex_count * sizeof( clv_vec3 ) );
            see( s, view.face_planes, view.face_count * sizeof( clv_plane ) );
        }
        clv_hull_destroy( made );
    }
}

static void create_solids( stage* s, clv_result create( clv_vec3, clv_hull** ) )
{
    for ( int i = 0; i < SHAPES; ++i )
    {
        clv_hull* made = NULL;
        note( s, create( s->shapes[i].half_size, &made ) );
        clv_hull_destroy( made );
    }
    for ( int i = 0; i < 2; ++i )
    {
        clv_vec3 half = { s->margins[2], i == 0 ? s->margins[0] : s->margins[2], s->margins[2] };
        clv_hull* made = NULL;
        note( s, create( half, &made ) );
        if ( made != NULL )
        {
            clv_hull_view view = clv_hull_get_view( made );
            see( s, view.vertices, view.vertex_count * sizeof( clv_vec3 ) );
        }
        clv_hull_destroy( made );
    }
}

static void create_shape_sims( stage* s )
{
    for ( int i = 0; i < STEPS; ++i )
    {
        clv_shape_sim_def def = clv_default_shape_sim_def();
        def.gravity = s->seconds[i];
        def.speed = s->seconds[( i + 1 ) % STEPS];
        clv_shape_sim* made = NULL;
        note( s, clv_shape_sim_create( &def, &made ) );
        clv_shape_sim_destroy( made );
    }
}

static void create_rigids( stage* s )
{
    for ( int i = 0; i < STEPS; ++i )
    {
        clv_rigid_def def = clv_default_rigid_def();
        def.friction = s->seconds[i];
        def.gravity.x = s->seconds[( i + 1 ) % STEPS];
        def.worker_count = 2;
        clv_rigid* made = NULL;
        note( s, clv_rigid_create( &def, &made ) );
        clv_rigid_destroy( made );
    }
}

static bool visit_hits( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    see( user, hits, (size_t)count * sizeof( clv_hit ) );
    note( user, query );
    return true;
}

// Everything of one kind, good and bad.
static void ask_all( stage* s, clv_queries queries )
{
    uint64_t offsets[BOXES + 1];
    clv_hit hits[BOXES * BOXES];
    clv_query_lists lists = { offsets, hits, BOXES * BOXES, 0, 0 };
    note( s, clv_space_query_all( s->space, &queries, &lists ) );
    note( s, lists.count );
    see( s, hits, (size_t)lists.count * sizeof( clv_hit ) );
}

static void ask_every_kind( stage* s )
{
    s->regions[0] = ( clv_half_spaces ){ s->planes, 2 };
    ask_all( s, clv_query_boxes( s->boxes, BOXES ) );
    ask_all( s, clv_query_boxes( s->bad_boxes, BOXES ) );
    ask_all( s, clv_query_points( &s->boxes[0].lower, 1 ) );
    ask_all( s, clv_query_spheres( &s->casts[1].sphere, 1 ) );
    ask_all( s, clv_query_half_spaces( s->regions, 1 ) );
    ask_all( s, clv_query_rays( s->rays, BODIES ) );
    ask_all( s, clv_query_sphere_casts( s->casts, BODIES ) );
}

static void see_wide( stage* s, const clv_hit64* hits, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        note( s, hits[i].index );
        see( s, &hits[i].t, sizeof( hits[i].t ) );
    }
}

static bool visit_wide_hits( uint32_t query, const clv_hit64* hits, uint64_t count, void* user )
{
    see_wide( user, hits, count );
    note( user, query );
    return true;
}

static void ask_all_wide( stage* s, clv_queries64 queries )
{
    uint64_t offsets[BOXES + 1];
    clv_hit64 hits[BOXES * BOXES];
    clv_query_lists64 lists = { offsets, hits, BOXES * BOXES, 0, 0 };
    note( s, clv_space_query_all64( s->wide, &queries, &lists ) );
    note( s, lists.count );
    see_wide( s, hits, lists.count );
}

static void ask_every_wide_kind( stage* s )
{
    note( s, clv_space_refresh( s->wide ) );
    ask_all_wide( s, clv_query_boxes64( s->wide_boxes, BOXES ) );
    ask_all_wide( s, clv_query_boxes64( s->bad_wide, 1 ) );
    ask_all_wide( s, clv_query_points64( &s->wide_boxes[0].lower, 1 ) );
    ask_all_wide( s, clv_query_spheres64( &s->wide_casts[1].sphere, 1 ) );
    ask_all_wide( s, clv_query_rays64( s->wide_rays, BODIES ) );
    ask_all_wide( s, clv_query_sphere_casts64( s->wide_casts, BODIES ) );
}

#define NOTE( value ) note( s, (uint64_t)( value ) )
#define SEE( value ) see( s, &( value ), sizeof( value ) )
#define FIRST( i ) s->shapes[( i ) % SHAPES], s->places[( i ) % PLACES]
#define SECOND( i ) s->shapes[( i ) / PLACES], s->places[( ( i ) / 3 + 1 ) % PLACES]

enum
{
#define DOOR( name, ... ) DOOR_##name,
#include "doors.def"
#undef DOOR
    DOOR_COUNT
};

static const char* const s_names[] = {
#define DOOR( name, ... ) #name,
#include "doors.def"
#undef DOOR
};

static void call( stage* s, int door )
{
    switch ( door )
    {
#define DOOR( name, ... )                                                                                    \
    case DOOR_##name:                                                                                        \
    {                                                                                                        \
        __VA_ARGS__;                                                                                         \
        break;                                                                                               \
    }
#include "doors.def"
#undef DOOR
    default:
        s->boxes[0].lower.x = 1.0f / *(volatile float*)&s->margins[0];
        break; // not masked, and overflows
    }
}

// ---- modes

typedef struct door_mode
{
    const char* name;
    int rounding;
    bool flush, trap, flags;
} door_mode;

static const door_mode s_modes[] = {
    { "plain", FE_TONEAREST, false, false, false },
    { "traps", FE_TONEAREST, false, true, false },
    { "traps, round up, flush to zero", FE_UPWARD, true, true, false },
    { "round down, all flags up", FE_DOWNWARD, false, false, true },
    { "round to zero, flush to zero, all flags up", FE_TOWARDZERO, true, false, true },
};

static uint32_t state_now( void )
{
    uint32_t state = (uint32_t)fegetround();
#if HAS_CSR
    state ^= _mm_getcsr() << 12;
#else
    state ^= (uint32_t)fetestexcept( FE_ALL_EXCEPT ) << 12;
#endif
    return state;
}

static void enter_mode( const door_mode* mode )
{
    fesetround( mode->rounding );
    feclearexcept( FE_ALL_EXCEPT );
#if HAS_CSR
    uint32_t csr = _mm_getcsr() & 0x6000u;
    csr |= ( mode->flush ? 0x8040u : 0 ) | ( mode->trap && HAS_SIGNALS ? 0 : 0x1F80u ) |
        ( mode->flags ? 0x3Fu : 0 );
    _mm_setcsr( csr );
#endif
}

static void leave_mode( void )
{
#if HAS_CSR
    _mm_setcsr( 0x1F80 );
#endif
    fesetround( FE_TONEAREST );
    feclearexcept( FE_ALL_EXCEPT );
}

#if HAS_SIGNALS
static sigjmp_buf s_way_out;

static void spring( int signal )
{
    (void)signal;
    siglongjmp( s_way_out, 1 );
}
#endif

static void catch_traps( bool yes )
{
#if HAS_SIGNALS
    static struct sigaction old;
    struct sigaction action;
    memset( &action, 0, sizeof( action ) );
    action.sa_handler = spring;
    sigaction( SIGFPE, yes ? &action : &old, yes ? &old : NULL );
#else
    (void)yes;
#endif
}

// Calls in that mode; false if a trap was sprung.
static bool call_in_mode( stage* s, int door, const door_mode* mode, uint32_t* before, uint32_t* after )
{
#if HAS_SIGNALS
    if ( sigsetjmp( s_way_out, 1 ) != 0 )
    {
        leave_mode();
        return false;
    }
#endif
    enter_mode( mode );
    *before = state_now();
    call( s, door );
    *after = state_now();
    leave_mode();
    return true;
}

// In all modes; says what is wrong.
static bool is_door_safe( int door, const char* name )
{
    uint64_t plain = 0;
    for ( size_t mode = 0; mode < TEST_COUNT( s_modes ); ++mode )
    {
        stage s = make_stage( name );
        uint32_t before = 0, after = 0;
        const char* wrong = NULL;
        if ( !call_in_mode( &s, door, &s_modes[mode], &before, &after ) )
        {
            printf( "%s of %s sprang a trap (%s)\n", s_names[door], name, s_modes[mode].name );
            return false; // in the middle of a call: the stage is left as it is
        }
        plain = mode == 0 ? s.seen : plain;
        wrong = after != before ? "left other modes or flags" : s.seen != plain ? "answered otherwise" : NULL;
        free_stage( &s );
        if ( wrong != NULL )
        {
            printf( "%s of %s %s (%s)\n", s_names[door], name, wrong, s_modes[mode].name );
            return false;
        }
    }
    return true;
}

static void every_door_masks( void )
{
    catch_traps( true );
    uint32_t bad = 0;
    for ( int door = 0; door < DOOR_COUNT; ++door )
    {
        bad += is_door_safe( door, "cleave" ) ? 0 : 1;
        bool of_space = strncmp( s_names[door], "clv_space_", 10 ) == 0;
        for ( uint32_t i = 0; of_space && door != DOOR_clv_space_create && i < test_variant_count(); ++i )
        {
            test_variant variant = test_variant_at( i );
            test_variant_enter( variant );
            bad += test_variant_is_usual( variant ) && !is_door_safe( door, variant.method->name ) ? 1 : 0;
        }
    }
    catch_traps( false );
    CHECK_EQUAL( bad, 0 );
}

// That a trap would be noticed, and a flag.
static void traps_and_flags_would_be_noticed( void )
{
#if HAS_SIGNALS && HAS_CSR
    catch_traps( true );
    stage s = make_stage( NULL );
    uint32_t before = 0, after = 0;
    CHECK( !call_in_mode( &s, DOOR_COUNT, &s_modes[1], &before, &after ) );
    CHECK( call_in_mode( &s, DOOR_COUNT, &s_modes[0], &before, &after ) );
    CHECK( before != after );
    free_stage( &s );
    catch_traps( false );
#endif
}

// ---- the list

#if HAS_SIGNALS && defined( TEST_INCLUDE )

#define LAB_DOORS 20 // of kdop/shape_sim.h and kdop/volume.h, which are not public

static bool is_listed( const char* name, size_t length )
{
    for ( int door = 0; door < DOOR_COUNT; ++door )
    {
        if ( strlen( s_names[door] ) == length && memcmp( s_names[door], name, length ) == 0 )
        {
            return true;
        }
    }
    return false;
}

// Every declaration is CLV_API, a type, a name that begins with clv_, and a parenthesis.
static uint32_t check_header( const char* path )
{
    static char text[100000];
    FILE* file = fopen( path, "rb" );
    CHECK( file != NULL );
    size_t length = fread( text, 1, sizeof( text ) - 1, file );
    fclose( file );
    CHECK( length < sizeof( text ) - 1 );
    text[length] = '\0';
    uint32_t count = 0;
    for ( const char* at = strstr( text, "\nCLV_API " ); at != NULL; at = strstr( at + 1, "\nCLV_API " ) )
    {
        const char* end = strchr( at, '(' );
        const char* name = end;
        while ( name > at &&
            ( name[-1] == '_' || ( name[-1] >= 'a' && name[-1] <= 'z' ) ||
                ( name[-1] >= '0' && name[-1] <= '9' ) ) )
        {
            name -= 1;
        }
        if ( !is_listed( name, (size_t)( end - name ) ) )
        {
            test_fail(
                __FILE__, __LINE__, "%.*s of %s is not in doors.def", (int)( end - name ), name, path );
        }
        count += 1;
    }
    return count;
}

static void every_door_is_listed( void )
{
    DIR* folder = opendir( TEST_INCLUDE );
    CHECK( folder != NULL );
    uint32_t count = 0;
    for ( struct dirent* entry = readdir( folder ); entry != NULL; entry = readdir( folder ) )
    {
        char path[1000];
        snprintf( path, sizeof( path ), "%s/%s", TEST_INCLUDE, entry->d_name );
        // What stands behind gpu.h is a driver's, behind mpi.h other processes; test_gpu and test_mpi call
        // them in other modes.
        bool is_ours = entry->d_name[0] != '.' && strcmp( entry->d_name, "gpu.h" ) != 0 &&
            strcmp( entry->d_name, "mpi.h" ) != 0;
        count += is_ours ? check_header( path ) : 0;
    }
    closedir( folder );
    CHECK_EQUAL( count + LAB_DOORS, DOOR_COUNT );
}

#endif

int main( int argc, char** argv )
{
    const test_case cases[] = {
#if HAS_SIGNALS && defined( TEST_INCLUDE )
        TEST_CASE( every_door_is_listed ),
#endif
        TEST_CASE( traps_and_flags_would_be_noticed ),
        TEST_CASE( every_door_masks ),
    };
    return test_run( "door", cases, TEST_COUNT( cases ), argc, argv );
}
