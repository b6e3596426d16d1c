// SPDX-License-Identifier: MIT
// Whatever fails on a device is a result with a reason, leaks nothing, and the next update is right; by an
// OpenCL of our own, any call of which can be made to fail. Also: no OpenCL at all, several devices, damaged
// files in the cache.
#define _POSIX_C_SOURCE 200809L
#include "cleave/gpu.h"
#include "gpu_body_calls.h"
#include "gpu_device.h"
#include "gpu_fake.h"
#include "heap.h"
#include "space/instrument.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define EACH_WAY( way )                                                                                      \
    for ( clv_gpu_way way = CLV_GPU_AUTO; way <= CLV_GPU_LBVH; way = (clv_gpu_way)( way + 1 ) )

enum
{
    COUNT = 300
};

static clv_aabb s_boxes[COUNT];
static char s_said[4096];
static uint32_t s_box_most;

static void keep_line( clv_log_level level, const char* line, void* user )
{
    (void)user;
    if ( level == CLV_LOG_ERROR )
    {
        snprintf( s_said, sizeof( s_said ), "%s", line );
    }
}

static void make_boxes( void )
{
    test_random random = test_random_make( 1 );
    for ( int i = 0; i < COUNT; ++i )
    {
        s_boxes[i] = test_crowd_box( TEST_CROWD_SPREAD, COUNT, &random );
    }
}

static clv_gpu_def make_def( clv_gpu_way way, bool caches )
{
    clv_gpu_def def = clv_default_gpu_def();
    def.way = way;
    def.few = 8;
    def.pair_capacity = 1000;
    def.events = way == CLV_GPU_GRID && s_box_most == 0;
    def.box_most = s_box_most;
    def.cache = caches;
    def.logger.write = keep_line;
    return def;
}

static bool visit( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    *(uint64_t*)user += count;
    return true;
}

// One life of a gpu. The first result that is not CLV_OK; CLV_OK if there was none.
static clv_result live( clv_gpu* gpu )
{
    uint64_t seen = 0;
    uint64_t begun = 0;
    void* memory = clv_gpu_host_take( gpu, 1000 );
    clv_result result = memory != NULL ? CLV_OK : CLV_OUT_OF_MEMORY;
    result = result == CLV_OK ? clv_gpu_update( gpu, s_boxes, COUNT ) : result;
    result = result == CLV_OK ? clv_gpu_update( gpu, s_boxes, COUNT - 1 )
                              : result; // more than box_most, for one way
    result = result == CLV_OK ? clv_gpu_read_pairs( gpu, visit, &seen ) : result;
    result =
        result == CLV_OK ? clv_gpu_read_begun( gpu, visit, &begun ) : result; // of which the fake finds none
    CHECK( result != CLV_OK || begun == 0 );
    CHECK( result != CLV_OK || seen == fake.pair_count );
    clv_gpu_host_give( gpu, memory );
    return result;
}

// A world at rest, the last update of which is searched for what changed; and one that has to be searched
// whole after all.
static clv_result live_at_rest( clv_gpu* gpu )
{
    uint64_t seen = 0;
    gpu->grid_wish.keeps = 1;
    gpu->grid_wish.rests = 1;
    fake.kept_count = COUNT;
    fake.work = 0;
    clv_result result = clv_gpu_update( gpu, s_boxes, COUNT );
    result = result == CLV_OK ? clv_gpu_update( gpu, s_boxes, COUNT ) : result;
    uint64_t rests = clv_gpu_get_stats( gpu ).rest_count;
    CHECK( result != CLV_OK || rests > 0 );
    fake.work = WORK_UNDONE;
    result = result == CLV_OK ? clv_gpu_update( gpu, s_boxes, COUNT ) : result;
    CHECK_EQUAL( clv_gpu_get_stats( gpu ).rest_count, rests );
    result = result == CLV_OK ? clv_gpu_read_pairs( gpu, visit, &seen ) : result;
    CHECK( result != CLV_OK || seen == fake.pair_count );
    return result;
}

// The same with bodies.
static clv_result live_with_bodies( clv_gpu* gpu )
{
    static const clv_vec3 s_corners[3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 1 } };
    const clv_gpu_hull hull = { s_corners, 3 };
    static clv_transform at[COUNT];
    static clv_dop18 volumes[COUNT];
    static const clv_pair s_pairs[2] = { { 0, 1 }, { 1, 2 } };
    clv_contact contacts[2];
    uint64_t seen = 0;
    clv_result result = clv_gpu_set_bodies( gpu, &hull, 1, NULL, COUNT );
    for ( int kind = CLV_VOLUME_AABB; kind <= CLV_VOLUME_SPHERE && result == CLV_OK; ++kind )
    {
        result = gpu_test_update_bodies( gpu, (clv_volume_kind)kind, at );
        result = result == CLV_OK ? gpu_test_read_volumes( gpu, volumes ) : result;
        result = result == CLV_OK ? gpu_test_find_contacts( gpu, s_pairs, 2, contacts ) : result;
    }
    result = result == CLV_OK ? clv_gpu_read_pairs( gpu, visit, &seen ) : result;
    CHECK( result != CLV_OK || seen == fake.pair_count );
    CHECK( result == CLV_OK || clv_gpu_error( gpu )[0] != '\0' );
    return result;
}

// And with a simulation: after a frame that failed nothing has moved.
static clv_result live_with_a_sim( clv_gpu* gpu )
{
    static const clv_vec3 s_corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 1 }, { 1, 0, 1 } };
    const clv_gpu_hull hull = { s_corners, 4 };
    clv_transform at[3] = { clv_transform_at( 1, 2, 3 ), clv_transform_at( 4, 5, 6 ),
        clv_transform_at( 0, 0, 0 ) };
    clv_shape_sim_def def = { .size = sizeof( def ),
        .cookie = 0x4D53434C, // of clv_default_shape_sim_def, which another library has
        .round_count = 2,
        .pca_period = 1,
        .has_floor = true,
        .stage_times = true };
    clv_gpu_sim* sim = NULL;
    clv_result result = clv_gpu_set_bodies( gpu, &hull, 1, NULL, 3 );
    result = result == CLV_OK ? clv_gpu_sim_create( gpu, &def, at, &sim ) : result;
    clv_result before = result;
    result = result == CLV_OK ? clv_gpu_sim_step( sim ) : result;
    if ( before == CLV_OK && result != CLV_OK )
    {
        CHECK( clv_gpu_sim_transform( sim, 1 ).position.y == 5.0f );
        CHECK_EQUAL( clv_gpu_sim_get_stats( sim ).frame, 0 );
    }
    result = result == CLV_OK ? clv_gpu_sim_step( sim ) : result;
    CHECK( result == CLV_OK || clv_gpu_error( gpu )[0] != '\0' );
    clv_gpu_sim_destroy( sim );
    return result;
}

// And with points, as pairs and by point; boxes in the end, whose pairs live_through counts.
static clv_result live_with_points( clv_gpu* gpu )
{
    clv_near_def def = clv_default_near_def();
    def.cutoff = 1;
    clv_near_cell cell = { { { 500, 0, 0 }, { 0, 500, 0 }, { 0, 0, 500 } }, { true, false, true } };
    clv_near_points points = {
        .positions = &s_boxes[0].lower.x, .stride = sizeof( clv_aabb ), .count = COUNT
    };
    clv_near_view view;
    clv_result result = CLV_OK;
    for ( int i = 0; i < 4 && result == CLV_OK; ++i )
    {
        def.by_point = i >= 2;
        points.cell = i % 2 == 1 ? &cell : NULL;
        result = clv_gpu_near( gpu, &def, &points );
        CHECK( clv_gpu_near_list( gpu ).valid == ( result == CLV_OK ) );
        result = result == CLV_OK ? clv_gpu_near_read( gpu, &view ) : result;
        CHECK( result != CLV_OK || ( view.valid && view.count == fake.pair_count ) );
    }
    CHECK( result == CLV_OK || clv_gpu_error( gpu )[0] != '\0' );
    return result == CLV_OK ? clv_gpu_update( gpu, s_boxes, COUNT ) : result;
}

typedef clv_result life( clv_gpu* gpu );

static bool is_a_devices_result( clv_result result )
{
    return result == CLV_DEVICE_FAILED || result == CLV_OUT_OF_MEMORY || result == CLV_UNSUPPORTED;
}

// The call number `fail_at` fails; false when there are not so many.
static bool live_through(
    life* live_on, clv_gpu_way way, uint32_t fail_at, cl_int error, uint32_t pair_count )
{
    gpu_fake_install();
    fake.fail_at = fail_at;
    fake.error = error;
    fake.pair_count = pair_count;
    s_said[0] = '\0';
    clv_gpu_def def = make_def( way, false );
    clv_gpu* gpu = NULL;
    clv_result result = clv_gpu_create( &def, &gpu );
    CHECK( ( result == CLV_OK ) == ( gpu != NULL ) );
    bool was_open = gpu != NULL;
    result = was_open ? live_on( gpu ) : result;
    CHECK( result == CLV_OK || is_a_devices_result( result ) );
    CHECK( result == CLV_OK || s_said[0] != '\0' );
    CHECK( result != CLV_DEVICE_FAILED || fake.object_count == 0 ); // closed
    bool was_reached = fake.call_count >= fail_at;
    fake.fail_at = 0;
    if ( result == CLV_UNSUPPORTED ) // an answer was missing when devices were listed; they are listed anew
    {
        clv_gpu_device_forget();
        CHECK_EQUAL( clv_gpu_device_count(), 1 );
    }
    if ( was_open )
    {
        CHECK(
            result == CLV_OK || clv_gpu_pair_count( gpu ) == 0 || clv_gpu_get_stats( gpu ).pair_count > 0 );
        CHECK_OK( live_on( gpu ) ); // begun anew
        CHECK_EQUAL( clv_gpu_pair_count( gpu ), pair_count );
    }
    clv_gpu_destroy( gpu );
    CHECK_EQUAL( fake.object_count, 0 );
    return was_reached;
}

static void every_call_may_fail( void )
{
    static const cl_int s_errors[] = { CL_OUT_OF_RESOURCES, CL_MEM_OBJECT_ALLOCATION_FAILURE };
    static const uint32_t s_pairs[] = { 0, 2000 }; // that fit, and that do not
    EACH_WAY( way )
    {
        for ( size_t k = 0; k < 4; ++k )
        {
            uint32_t fail_at = 1;
            while ( live_through( live, way, fail_at, s_errors[k % 2], s_pairs[k / 2] ) )
            {
                test_where.frame = fail_at++;
            }
            CHECK( fail_at > 40 );
        }
    }
}

static void every_call_may_fail_at_rest( void )
{
    for ( uint32_t pair_count = 0; pair_count <= 2000; pair_count += 2000 )
    {
        uint32_t fail_at = 1;
        while ( live_through( live_at_rest, CLV_GPU_GRID, fail_at, CL_OUT_OF_RESOURCES, pair_count ) )
        {
            test_where.frame = fail_at++;
        }
        CHECK( fail_at > 60 );
    }
}

// Blocks of boxes by a second search on the same queue.
static void every_call_may_fail_in_blocks( void )
{
    s_box_most = 200;
    for ( uint32_t fail_at = 1; live_through( live, CLV_GPU_GRID, fail_at, CL_OUT_OF_RESOURCES, 0 );
          ++fail_at )
    {
        test_where.frame = fail_at;
    }
    CHECK( test_where.frame > 100 );
    s_box_most = 0;
}

// Memory of the host that the caller took is his until he gives it back, whatever became of the device; it is
// unmapped by the queue that mapped it, since some drivers (PoCL) keep the whole context otherwise.
static void taken_memory_outlives_a_device_that_failed( void )
{
    gpu_fake_install();
    clv_gpu_def def = make_def( CLV_GPU_GRID, false );
    clv_gpu* gpu = NULL;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    clv_aabb* memory = clv_gpu_host_take( gpu, sizeof( s_boxes ) );
    CHECK( memory != NULL );
    memcpy( memory, s_boxes, sizeof( s_boxes ) );
    fake.fail_at = fake.call_count + 4;
    CHECK_RESULT( clv_gpu_update( gpu, memory, COUNT ), CLV_DEVICE_FAILED );
    CHECK( fake.mapped_count == 1 && memcmp( memory, s_boxes, sizeof( s_boxes ) ) == 0 );
    CHECK_OK( clv_gpu_update( gpu, memory, COUNT ) ); // by another queue of another context
    int32_t mapped = fake.mapped_count;
    clv_gpu_host_give( gpu, memory );
    CHECK_EQUAL( fake.mapped_count, mapped - 1 );
    CHECK( clv_gpu_host_take( gpu, 64 ) != NULL ); // and what is never given back
    fake.fail_at = fake.call_count + 4;
    CHECK_RESULT( clv_gpu_update( gpu, s_boxes, COUNT ), CLV_DEVICE_FAILED );
    clv_gpu_destroy( gpu );
    CHECK_EQUAL( fake.mapped_count, 0 );
    CHECK_EQUAL( fake.object_count, 0 );
}

static void every_call_for_bodies_may_fail( void )
{
    static const cl_int s_errors[] = { CL_OUT_OF_RESOURCES, CL_MEM_OBJECT_ALLOCATION_FAILURE };
    static const uint32_t s_pairs[] = { 0, 2000 };
    for ( size_t k = 0; k < 4; ++k )
    {
        for ( int with_sim = 0; with_sim < 2; ++with_sim )
        {
            uint32_t fail_at = 1;
            life* live_on = with_sim != 0 ? live_with_a_sim : live_with_bodies;
            uint32_t pair_count =
                with_sim != 0 ? s_pairs[k / 2] / 500 : s_pairs[k / 2]; // each is a level of its own
            while ( live_through( live_on, CLV_GPU_AUTO, fail_at, s_errors[k % 2], pair_count ) )
            {
                test_where.frame = fail_at++;
            }
            CHECK( fail_at > 100 );
        }
    }
}

static void every_call_for_points_may_fail( void )
{
    static const cl_int s_errors[] = { CL_OUT_OF_RESOURCES, CL_MEM_OBJECT_ALLOCATION_FAILURE };
    for ( size_t k = 0; k < 4; ++k )
    {
        uint32_t fail_at = 1;
        uint32_t pair_count = k < 2 ? 0 : 2000; // that fit, and that do not
        while ( live_through( live_with_points, CLV_GPU_AUTO, fail_at, s_errors[k % 2], pair_count ) )
        {
            test_where.frame = fail_at++;
        }
        CHECK( fail_at > 100 );
    }
}

// A list is the device's word: numbers that no body has are its failure, and nothing is done with them.
static void a_pair_of_no_body_is_the_devices_failure( void )
{
    static const clv_vec3 s_corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 1 }, { 1, 0, 1 } };
    const clv_gpu_hull hull = { s_corners, 4 };
    clv_transform at[3] = { clv_transform_at( 1, 2, 3 ), clv_transform_at( 4, 5, 6 ),
        clv_transform_at( 0, 0, 0 ) };
    clv_shape_sim_def sim_def = { .size = sizeof( sim_def ), .cookie = 0x4D53434C, .round_count = 1 };
    clv_gpu_def def = make_def( CLV_GPU_AUTO, false );
    clv_gpu_sim* sim = NULL;
    clv_gpu* gpu = NULL;
    gpu_fake_install();
    fake.pair_count = 2;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    CHECK_OK( clv_gpu_set_bodies( gpu, &hull, 1, NULL, 3 ) );
    CHECK_OK( clv_gpu_sim_create( gpu, &sim_def, at, &sim ) );
    CHECK_OK( clv_gpu_sim_step( sim ) );
    const clv_pair wrong = { 0, 3 };
    memcpy( gpu->buffers.pairs.memory, &wrong, sizeof( wrong ) );
    CHECK_RESULT( clv_gpu_sim_step( sim ), CLV_DEVICE_FAILED );
    CHECK( strstr( clv_gpu_error( gpu ), "a pair of bodies 0 and 3, and there are 3" ) != NULL );
    CHECK_EQUAL( clv_gpu_sim_get_stats( sim ).frame, 1 );
    CHECK_OK( clv_gpu_sim_step( sim ) );
    clv_gpu_sim_destroy( sim );
    clv_gpu_destroy( gpu );
    CHECK_EQUAL( fake.object_count, 0 );
}

static void no_memory_on_the_device_is_a_result( void )
{
    EACH_WAY( way )
    {
        gpu_fake_install();
        clv_gpu_def def = make_def( way, false );
        clv_gpu* gpu = NULL;
        CHECK_OK( clv_gpu_create( &def, &gpu ) );
        fake.has_no_memory = true;
        CHECK_RESULT( clv_gpu_update( gpu, s_boxes, COUNT ), CLV_OUT_OF_MEMORY );
        CHECK( strstr( clv_gpu_error( gpu ), "CL_MEM_OBJECT_ALLOCATION_FAILURE" ) != NULL );
        CHECK_EQUAL( clv_gpu_pair_count( gpu ), 0 );
        fake.has_no_memory = false;
        CHECK_OK( clv_gpu_update( gpu, s_boxes, COUNT ) );
        clv_gpu_destroy( gpu );
        CHECK_EQUAL( fake.object_count, 0 );
    }
}

// Memory is taken with room to grow, and without where that is more than the device allows.
static void memory_of_the_host_fits_the_device( void )
{
    gpu_fake_install();
    clv_gpu_def def = make_def( CLV_GPU_GRID, false );
    clv_gpu* gpu = NULL;
    s_said[0] = '\0';
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    CHECK( clv_gpu_host_take( gpu, 1 << 28 ) != NULL );
    CHECK( s_said[0] == '\0' && clv_gpu_error( gpu )[0] == '\0' );
    CHECK( clv_gpu_host_take( gpu, ( 1 << 28 ) + 1 ) == NULL );
    CHECK( strstr( clv_gpu_error( gpu ), "memory of the host" ) != NULL );
    clv_gpu_destroy( gpu );
    CHECK_EQUAL( fake.object_count, 0 );
}

// A first list that no device could have is as large as the device allows.
static void a_first_list_fits_the_device( void )
{
    static const uint64_t s_mosts[] = { 0, 4000 }; // bytes
    for ( size_t k = 0; k < 2; ++k )
    {
        gpu_fake_install();
        clv_gpu_def def = make_def( CLV_GPU_GRID, false );
        clv_gpu* gpu = NULL;
        def.pair_capacity = UINT64_C( 1 ) << 40;
        def.memory_most = s_mosts[k];
        CHECK_OK( clv_gpu_create( &def, &gpu ) );
        CHECK_OK( clv_gpu_update( gpu, s_boxes, COUNT ) );
        CHECK( gpu->pair_room > 0 && gpu->pair_room * sizeof( clv_pair ) <= clv_gpu_list_most( gpu ) );
        clv_gpu_destroy( gpu );
    }
}

static void a_program_that_does_not_compile_says_what_the_driver_said( void )
{
    gpu_fake_install();
    fake.cannot_compile = true;
    clv_gpu_def def = make_def( CLV_GPU_GRID, false );
    clv_gpu* gpu = NULL;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    CHECK_RESULT( clv_gpu_update( gpu, s_boxes, COUNT ), CLV_DEVICE_FAILED );
    CHECK( strstr( clv_gpu_error( gpu ), "line 7: no such thing" ) != NULL );
    CHECK( strstr( s_said, "line 7: no such thing" ) != NULL );
    clv_gpu_destroy( gpu );
    CHECK_EQUAL( fake.object_count, 0 );
}

static void bad_defs_are_refused( void )
{
    gpu_fake_install();
    clv_gpu* gpu = (clv_gpu*)(uintptr_t)8;
    clv_gpu_def def = { 0 };
    CHECK_RESULT( clv_gpu_create( &def, &gpu ), CLV_BAD_DEF );
    CHECK( gpu == NULL );
    def = make_def( (clv_gpu_way)9, false );
    CHECK_RESULT( clv_gpu_create( &def, &gpu ), CLV_BAD_DEF );
    def = make_def( CLV_GPU_SAP, false );
    def.axis_frames = 0;
    CHECK_RESULT( clv_gpu_create( &def, &gpu ), CLV_BAD_DEF );
    def = make_def( CLV_GPU_SAP, false );
    def.device = "no such card";
    CHECK_RESULT( clv_gpu_create( &def, &gpu ), CLV_BAD_DEF );
    CHECK( strstr( s_said, "no such card" ) != NULL );
    def.device = "1";
    CHECK_RESULT( clv_gpu_create( &def, &gpu ), CLV_BAD_DEF );
}

// ---- devices

static void a_gpu_is_chosen_before_any_cpu( void )
{
    gpu_fake_install();
    fake.device_count = 3;
    uint32_t index = 9;
    char text[200] = "";
    CHECK_EQUAL( clv_gpu_device_count(), 3 );
    CHECK_OK( clv_gpu_device_find( NULL, &index, NULL, 0 ) );
    CHECK_EQUAL( index, 1 ); // 8 units at 8 MHz before 1000 at 1000
    CHECK_OK( clv_gpu_device_find( "", &index, NULL, 0 ) );
    CHECK_EQUAL( index, 1 );
    CHECK_OK( clv_gpu_device_find( "fake c", &index, NULL, 0 ) );
    CHECK_EQUAL( index, 0 );
    CHECK_OK( clv_gpu_device_find( "2", &index, NULL, 0 ) );
    CHECK_EQUAL( index, 2 );
    CHECK_RESULT( clv_gpu_device_find( "FAKE", &index, text, sizeof( text ) ), CLV_BAD_ARGUMENT );
    CHECK( strstr( text, "3 devices" ) != NULL );
    CHECK_RESULT( clv_gpu_device_find( "3", &index, text, sizeof( text ) ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_gpu_device_find( "radeon", &index, text, sizeof( text ) ), CLV_BAD_ARGUMENT );
    CHECK_EQUAL( index, 2 );
    clv_gpu_device device;
    CHECK_OK( clv_gpu_device_at( 0, &device ) );
    CHECK( device.is_cpu && device.unusable == NULL );
    CHECK_RESULT( clv_gpu_device_at( 3, &device ), CLV_BAD_ARGUMENT );
    fake.device_count = 0;
    clv_gpu_device_forget();
    CHECK( clv_gpu_missing() != NULL && clv_gpu_device_count() == 0 );
}

// The list is made of answers that may be missing; then there are fewer devices, and no crash.
static void listing_devices_may_fail_anywhere( void )
{
    for ( uint32_t fail_at = 1; fail_at < 40; ++fail_at )
    {
        gpu_fake_install();
        fake.fail_at = fail_at;
        uint32_t index = 0;
        char text[200] = "";
        clv_result result = clv_gpu_device_find( NULL, &index, text, sizeof( text ) );
        CHECK( result == CLV_OK || ( result == CLV_UNSUPPORTED && text[0] != '\0' ) );
        CHECK( ( clv_gpu_missing() == NULL ) == ( clv_gpu_device_count() > 0 ) );
    }
}

// ---- the cache

static uint32_t builds_of( bool caches )
{
    gpu_fake_install();
    clv_gpu_def def = make_def( CLV_GPU_GRID, caches );
    clv_gpu* gpu = NULL;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    CHECK_OK( clv_gpu_update( gpu, s_boxes, COUNT ) );
    clv_gpu_destroy( gpu );
    CHECK_EQUAL( fake.object_count, 0 );
    return fake.build_count;
}

static void damage_files( const char* command )
{
    char line[1200];
    snprintf( line, sizeof( line ), "for f in \"$XDG_CACHE_HOME\"/cleave/gpu-*.bin; do %s; done", command );
    CHECK( system( line ) == 0 );
}

static void programs_are_kept_and_damaged_files_are_not_believed( void )
{
#ifndef _WIN32
    char folder[] = "/tmp/cleave-gpu-XXXXXX";
    CHECK( mkdtemp( folder ) != NULL );
    const char* kept = getenv( "XDG_CACHE_HOME" );
    char before[1000];
    snprintf( before, sizeof( before ), "%s", kept != NULL ? kept : "" );
    setenv( "XDG_CACHE_HOME", folder, 1 );
    CHECK_EQUAL( builds_of( true ), 2 ); // two programs
    CHECK_EQUAL( fake.binary_count, 0 );
    CHECK_EQUAL( builds_of( true ), 2 ); // built from binaries
    CHECK_EQUAL( fake.binary_count, 2 );
    CHECK_EQUAL( builds_of( false ), 2 );
    CHECK_EQUAL( fake.binary_count, 0 );
    static const char* const s_damages[] = { "head -c 20 \"$f\" > \"$f.x\" && mv \"$f.x\" \"$f\"",
        ": > \"$f\"", "printf XXXXXX | dd of=\"$f\" bs=1 seek=32 conv=notrunc 2>/dev/null" };
    for ( size_t k = 0; k < TEST_COUNT( s_damages ); ++k )
    {
        damage_files( s_damages[k] );
        CHECK_EQUAL( builds_of( true ), 2 );
        CHECK_EQUAL( fake.binary_count, 0 ); // none was handed over
        CHECK_EQUAL( builds_of( true ), 2 );
        CHECK_EQUAL( fake.binary_count, 2 ); // written anew
    }
    char line[100];
    snprintf( line, sizeof( line ), "rm -rf %s", folder );
    CHECK( system( line ) == 0 );
    CHECK_EQUAL( builds_of( true ), 2 ); // a folder that is gone is made again
    CHECK( system( line ) == 0 );
    setenv( "XDG_CACHE_HOME", before, 1 );
#endif
}

// ---- spaces

// A device that fails in every update: the CPU's pairs, and one line about it.
static uint32_t s_warnings;

static void count_warnings( clv_log_level level, const char* line, void* user )
{
    (void)line;
    (void)user;
    s_warnings += level == CLV_LOG_WARNING ? 1 : 0;
}

// What the space's method says about gpu.fallback; -1 where it does not know the word.
static double fallback_of( clv_space* space )
{
    clv_method_figure figures[32];
    uint32_t count = clv_space_report( space, figures, 32 );
    for ( uint32_t i = 0; i < count && i < 32; ++i )
    {
        if ( strcmp( figures[i].name, "gpu.fallback" ) == 0 )
        {
            return figures[i].value;
        }
    }
    return -1;
}

static uint64_t pairs_of( const char* name, const char* settings, clv_result expected )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    uint64_t hash = 0;
    def.method = name;
    def.settings = settings;
    def.sorted = true;
    def.logger.write = count_warnings;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, s_boxes, COUNT, NULL ) );
    for ( int frame = 0; frame < 3; ++frame )
    {
        CHECK_RESULT( clv_space_update( space ), expected );
        clv_pair_view view = clv_space_pairs( space );
        hash = test_order_hash( view.pairs, view.count );
        CHECK( fallback_of( space ) == ( strcmp( name, "gpu-grid" ) != 0 ? -1 : settings != NULL ? 1 : 0 ) );
    }
    clv_space_destroy( space );
    return hash;
}

static void a_space_goes_on_without_its_device( void )
{
    gpu_fake_install();
    CHECK_OK( clv_gpu_register() );
    fake.cannot_compile = true;
    s_warnings = 0;
    pairs_of( "gpu-grid", NULL, CLV_DEVICE_FAILED );
    CHECK_EQUAL( s_warnings, 0 );
    CHECK_EQUAL( pairs_of( "gpu-grid", "gpu.fallback=1", CLV_OK ), pairs_of( "cleave", NULL, CLV_OK ) );
    CHECK_EQUAL( s_warnings, 1 );
    CHECK_EQUAL( fake.object_count, 0 );
}

// ---- the host's memory

static void run_out_of_memory( life* live_on )
{
    EACH_WAY( way )
    {
        for ( uint64_t allowed = 0;; ++allowed )
        {
            gpu_fake_install();
            heap memory = { .refuse_from = allowed + 1, .refuse_count = 1 };
            clv_gpu_def def = make_def( way, false );
            def.allocator = heap_hooks( &memory );
            clv_gpu* gpu = NULL;
            clv_result result = clv_gpu_create( &def, &gpu );
            result = result == CLV_OK ? live_on( gpu ) : result;
            CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
            clv_gpu_destroy( gpu );
            CHECK_EQUAL( fake.object_count, 0 );
            CHECK_EQUAL( memory.bytes, 0 );
            if ( memory.refused_count == 0 )
            {
                break;
            }
        }
    }
}

static void running_out_of_memory_on_the_host_leaks_nothing( void )
{
    run_out_of_memory( live );
    run_out_of_memory( live_with_bodies );
    run_out_of_memory( live_with_a_sim );
}

// The very last: from here on there is no OpenCL.
static void without_opencl_there_is_a_sentence( void )
{
    clv_gpu_opencl_replace( NULL );
    clv_gpu_device_forget();
    uint32_t index = 0;
    char text[200] = "";
    clv_gpu_def def = make_def( CLV_GPU_AUTO, false );
    clv_gpu* gpu = NULL;
    CHECK_EQUAL( clv_gpu_device_count(), 0 );
    CHECK( strstr( clv_gpu_missing(), "no OpenCL" ) != NULL );
    CHECK_RESULT( clv_gpu_device_find( NULL, &index, text, sizeof( text ) ), CLV_UNSUPPORTED );
    CHECK_TEXT( text, clv_gpu_missing() );
    CHECK_RESULT( clv_gpu_create( &def, &gpu ), CLV_UNSUPPORTED );
    CHECK( gpu == NULL );
    CHECK_OK( clv_gpu_register() ); // known since before
    clv_gpu_destroy( NULL );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( every_call_may_fail ),
        TEST_CASE( every_call_may_fail_at_rest ),
        TEST_CASE( every_call_may_fail_in_blocks ),
        TEST_CASE( taken_memory_outlives_a_device_that_failed ),
        TEST_CASE( every_call_for_bodies_may_fail ),
        TEST_CASE( every_call_for_points_may_fail ),
        TEST_CASE( a_pair_of_no_body_is_the_devices_failure ),
        TEST_CASE( no_memory_on_the_device_is_a_result ),
        TEST_CASE( memory_of_the_host_fits_the_device ),
        TEST_CASE( a_first_list_fits_the_device ),
        TEST_CASE( a_program_that_does_not_compile_says_what_the_driver_said ),
        TEST_CASE( bad_defs_are_refused ),
        TEST_CASE( a_gpu_is_chosen_before_any_cpu ),
        TEST_CASE( listing_devices_may_fail_anywhere ),
        TEST_CASE( programs_are_kept_and_damaged_files_are_not_believed ),
        TEST_CASE( a_space_goes_on_without_its_device ),
        TEST_CASE( running_out_of_memory_on_the_host_leaks_nothing ),
        TEST_CASE( without_opencl_there_is_a_sentence ),
    };
    make_boxes();
    return test_run( "gpu_failure", cases, TEST_COUNT( cases ), argc, argv );
}
