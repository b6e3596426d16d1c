// SPDX-License-Identifier: MIT
// How long a frame takes on a device: boxes that live there and move there between frames, by a kernel;
// batches of 20 frames on a plain queue, the counters read back once per batch, the median of 5 batches.
// Beside it the same from memory of the host to pairs in memory of the host, and the CPU's default method.
// Every row's pairs are held against the CPU's.
//
//   gpu_frames [--device NAME|N] [--threads T] [--scene WORD] [--most N] [--queue PAIRS] [--rest-part N]
//              [--kernels] [--tune] [--events] [--host] [--csv FILE]
#include "cleave/cleave.h"
#include "cleave/gpu.h"
#include "gpu_state.h"

#include "base/timer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    BATCHES = 5,
    FRAMES = 20,
    WARM_BATCHES = 6, // at least: what rests is seen in frames that are waited for, one of a batch
    TRIES = 3 * BATCHES,
    HOST_FRAMES = 6,
    HOST_MOST = 10000000, // beyond, pinned memory of the host is too much to ask for
};

typedef struct bench_row
{
    const char* name;
    uint32_t count;
    double room; // volume of the world per box, in volumes of a box
    clv_gpu_way way;
    double goal_ms; // of issue and notes; 0: none
    float reach;    // sides that a box goes to and fro
    uint32_t part;  // one in so many moves
} bench_row;

#define SPARSE 23.5 // 0.17 pairs per box
#define DENSE 0.678 // 5.9

static const bench_row s_rows[] = {
    { "tiles-512", 512, SPARSE, CLV_GPU_AUTO, 0.01, 0.3f, 1 },
    { "tiles-4k", 4096, SPARSE, CLV_GPU_TILES, 0, 0.3f, 1 },
    { "grid-4k", 4096, SPARSE, CLV_GPU_GRID, 0, 0.3f, 1 },
    { "tiles-8k", 8192, SPARSE, CLV_GPU_TILES, 0, 0.3f, 1 },
    { "grid-8k", 8192, SPARSE, CLV_GPU_GRID, 0, 0.3f, 1 },
    { "sparse-32k", 32000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 1 },
    { "sparse-128k", 128000, SPARSE, CLV_GPU_AUTO, 0.035, 0.3f, 1 },
    { "dense-128k", 128000, DENSE, CLV_GPU_AUTO, 0, 0.3f, 1 },
    { "sparse-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0.12, 0.3f, 1 },
    { "dense-1m", 1000000, DENSE, CLV_GPU_AUTO, 0.18, 0.3f, 1 },
    { "lbvh-1m", 1000000, SPARSE, CLV_GPU_LBVH, 1.2, 0.3f, 1 },
    { "sap-1m", 1000000, SPARSE, CLV_GPU_SAP, 3, 0.3f, 1 },
    { "lbvh-dense-1m", 1000000, DENSE, CLV_GPU_LBVH, 0, 0.3f, 1 },
    { "rest-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 100 }, // one in a hundred moves
    { "rest200-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 200 },
    { "rest83-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 83 }, // 1.2 %: just below where it begins
    { "rest50-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 50 },
    { "rest10-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 10 },
    { "rest-far-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0, 3, 100 }, // 0.15 sides per frame
    { "rest-dense-1m", 1000000, DENSE, CLV_GPU_AUTO, 0, 0.3f, 100 },
    { "rest-dense83-1m", 1000000, DENSE, CLV_GPU_AUTO, 0, 0.3f, 83 },
    { "rest-dense50-1m", 1000000, DENSE, CLV_GPU_AUTO, 0, 0.3f, 50 },
    { "rest-dense200-1m", 1000000, DENSE, CLV_GPU_AUTO, 0, 0.3f, 200 },
    { "rest-dense600-1m", 1000000, DENSE, CLV_GPU_AUTO, 0, 0.3f, 600 },
    { "still-dense-1m", 1000000, DENSE, CLV_GPU_AUTO, 0, 0.3f, 1000000 },
    { "rest512-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 600 },
    { "still-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 1000000 }, // none moves, or one
    { "far-1m", 1000000, SPARSE, CLV_GPU_AUTO, 0, 9, 1 },            // half a side per frame: no order lasts
    { "sparse-10m", 10000000, SPARSE, CLV_GPU_AUTO, 1.35, 0.3f, 1 },
    { "rest-10m", 10000000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 100 },
    { "sparse-100m", 100000000, SPARSE, CLV_GPU_AUTO, 0, 0.3f, 1 }, // only when named, or with --most
};

typedef struct bench_flags
{
    const char* device;
    const char* scene;
    uint32_t threads;
    uint32_t most;
    uint32_t queue_pairs;
    uint32_t rest_part;
    bool kernels, tune, events, host;
    FILE* csv;
} bench_flags;

typedef struct bench_result
{
    double frame_ms, move_ms, frame_min_ms;
    double whole_ms;       // where few move: with all searched all the same; 0: not asked
    uint32_t rest_batches; // of which every frame searched only what changed
    double host_ms;
    double cpu_ms[2]; // one thread, `threads`
    uint64_t pair_count, test_count;
    const char* agrees;
} bench_result;

// ---- boxes

static uint64_t mix( uint64_t value )
{
    value += UINT64_C( 0x9E3779B97F4A7C15 );
    value = ( value ^ ( value >> 30 ) ) * UINT64_C( 0xBF58476D1CE4E5B9 );
    value = ( value ^ ( value >> 27 ) ) * UINT64_C( 0x94D049BB133111EB );
    return value ^ ( value >> 31 );
}

static uint64_t hash_pairs( const clv_pair* pairs, uint64_t count )
{
    uint64_t sum = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        sum += mix( (uint64_t)pairs[i].a << 32 | pairs[i].b );
    }
    return sum;
}

static bool add_hash( const clv_pair* pairs, size_t count, void* user )
{
    *(uint64_t*)user += hash_pairs( pairs, count );
    return true;
}

// ---- times

static double now_ms( void )
{
    return (double)clv_base_clock_ns() * 1e-6;
}

static int compare_doubles( const void* a, const void* b )
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return ( x > y ) - ( x < y );
}

static double median( double* values, int count )
{
    qsort( values, (size_t)count, sizeof( double ), compare_doubles );
    return values[count / 2];
}

static void must( clv_result result, const clv_gpu* gpu, const char* what )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "gpu_frames: %s: %s: %s\n", what, clv_result_text( result ),
            gpu != NULL ? clv_gpu_error( gpu ) : "" );
        exit( 1 );
    }
}

typedef struct bench_world
{
    clv_gpu* gpu;
    gpu_buffer start, moving; // where boxes began, and where they are
    uint32_t count;
    uint32_t frame;
    float reach;
    uint32_t part;
} bench_world;

// ---- boxes that live on the device: a guest's program. Cubes of side 1 at random places of a cube of side
// `world`, by a hash of their number; and one box in `part` goes its way, to and fro about where it began.

// clang-format off
static const char s_text[] =
    "__kernel void spread_boxes( __global float2* boxes, uint count, float world )\n"
    "{\n"
    "    uint i = (uint)get_global_id( 0 );\n"
    "    if ( i < count )\n"
    "    {\n"
    "        float place[3];\n"
    "        for ( uint axis = 0; axis < 3; ++axis )\n"
    "        {\n"
    "            ulong value = ( 3 * (ulong)i + axis ) * 0x9E3779B97F4A7C15ul;\n"
    "            value = ( value ^ ( value >> 30 ) ) * 0xBF58476D1CE4E5B9ul;\n"
    "            value = ( value ^ ( value >> 27 ) ) * 0x94D049BB133111EBul;\n"
    "            place[axis] = (float)( ( value ^ ( value >> 31 ) ) >> 40 ) * ( 1.0f / 16777216.0f ) * world;\n"
    "        }\n"
    "        boxes[3 * (size_t)i] = (float2)( place[0], place[1] );\n"
    "        boxes[3 * (size_t)i + 1] = (float2)( place[2], place[0] + 1 );\n"
    "        boxes[3 * (size_t)i + 2] = (float2)( place[1] + 1, place[2] + 1 );\n"
    "    }\n"
    "}\n"
    "__kernel void move_boxes( __global const float2* start, __global float2* boxes, uint count, float reach, uint frame, uint part )\n"
    "{\n"
    "    uint i = (uint)get_global_id( 0 );\n"
    "    if ( i < count )\n"
    "    {\n"
    "        uint hash = i * 2654435761u;\n"
    "        hash ^= hash >> 15;\n"
    "        float phase = (float)( hash & 1023u ) * ( 6.2831853f / 1024.0f ) + (float)frame * 0.05f;\n"
    "        reach = hash % part == 0 ? reach : 0;\n"
    "        float x = reach * native_sin( phase );\n"
    "        float y = reach * native_cos( phase );\n"
    "        float z = ( hash & 1024u ) != 0 ? x : y;\n"
    "        float2 a = start[3 * (size_t)i];\n"
    "        float2 b = start[3 * (size_t)i + 1];\n"
    "        float2 c = start[3 * (size_t)i + 2];\n"
    "        boxes[3 * (size_t)i] = (float2)( a.x + x, a.y + y );\n"
    "        boxes[3 * (size_t)i + 1] = (float2)( b.x + z, b.y + x );\n"
    "        boxes[3 * (size_t)i + 2] = (float2)( c.x + y, c.y + z );\n"
    "    }\n"
    "}\n";
// clang-format on

enum
{
    KERNEL_SPREAD = GPU_KERNEL_COUNT,
    KERNEL_MOVE
};

static const gpu_kernel_row s_kernels[] = { { "spread_boxes", GPU_PROGRAM_COUNT },
    { "move_boxes", GPU_PROGRAM_COUNT } };
static const char* const s_programs[] = { "boxes" };

static void give_text( uint32_t program, const char* parts[GPU_TEXT_PARTS] )
{
    (void)program;
    parts[2] = s_text;
}

static void give_nothing_back( clv_gpu* gpu )
{
    (void)gpu;
}

static const char* check_nothing( const clv_gpu* gpu, uint64_t* device_bytes )
{
    (void)gpu, (void)device_bytes;
    return NULL;
}

static const gpu_guest s_guest = {
    .kernels = s_kernels,
    .programs = s_programs,
    .text = give_text,
    .release = give_nothing_back,
    .leave = give_nothing_back,
    .check = check_nothing,
};

static void move( bench_world* world )
{
    world->frame += 1;
    must( GPU_LAUNCH( world->gpu, KERNEL_MOVE, world->count, world->start, world->moving, world->count,
              world->reach, world->frame, world->part ),
        world->gpu, "moving" );
}

static double batch( bench_world* world, bool searches )
{
    clv_gpu* gpu = world->gpu;
    gpu->cl->clFinish( gpu->queue );
    double start = now_ms();
    for ( int i = 0; i < FRAMES; ++i )
    {
        move( world );
        if ( searches )
        {
            must( clv_gpu_enqueue( gpu, world->moving.memory, world->count ), gpu, "searching" );
        }
    }
    if ( searches )
    {
        must( clv_gpu_wait( gpu ), gpu, "searching" );
    }
    else
    {
        gpu->cl->clFinish( gpu->queue );
    }
    return ( now_ms() - start ) / FRAMES;
}

// Idle cards run slowly: half a second of work first, and whatever is planned and grown in it is not timed.
static void warm_up( bench_world* world )
{
    double start = now_ms();
    for ( int i = 0; i < WARM_BATCHES || now_ms() - start < 500; ++i )
    {
        batch( world, true );
    }
}

static void time_device( bench_world* world, bench_result* result )
{
    double frames[BATCHES];
    double moves[BATCHES];
    warm_up( world );
    int taken = 0;
    for ( int i = 0; i < TRIES && taken < BATCHES; ++i )
    {
        // A frame that cannot go on from the one before is left undone, and so are all behind it but the
        // last, which is waited for. Such a batch is not taken, as long as there are tries left.
        uint64_t rests = clv_gpu_get_stats( world->gpu ).rest_count;
        bool tracks = world->gpu->rest.tracks;
        frames[taken] = batch( world, true );
        bool is_whole = clv_gpu_get_stats( world->gpu ).rest_count > rests;
        bool is_good = is_whole || !tracks || TRIES - i <= BATCHES - taken;
        result->rest_batches += is_good && is_whole ? 1 : 0;
        taken += is_good ? 1 : 0;
    }
    uint32_t frame = world->frame;
    for ( int i = 0; i < BATCHES; ++i )
    {
        moves[i] = batch( world, false );
    }
    world->frame = frame; // the next search goes on from the last one, not from where these led
    result->frame_ms = median( frames, BATCHES );
    result->frame_min_ms = frames[0];
    result->move_ms = median( moves, BATCHES );
}

// From pinned memory to pinned memory: two sets of boxes in turn, so that every frame is new.
static void time_host( bench_world* world, bench_result* result, const clv_aabb* boxes )
{
    clv_gpu* gpu = world->gpu;
    size_t bytes = (size_t)world->count * sizeof( clv_aabb );
    clv_aabb* sets[2] = { clv_gpu_host_take( gpu, bytes ), clv_gpu_host_take( gpu, bytes ) };
    double times[HOST_FRAMES];
    if ( sets[0] == NULL || sets[1] == NULL )
    {
        must( CLV_OUT_OF_MEMORY, gpu, "memory of the host" );
    }
    memcpy( sets[0], boxes, bytes );
    memcpy( sets[1], boxes, bytes );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        float shift = (float)( mix( i ) & 255 ) * ( 0.1f / 255 );
        sets[1][i].lower.x += shift;
        sets[1][i].upper.x += shift;
    }
    for ( int i = -2; i < HOST_FRAMES; ++i )
    {
        const clv_pair* pairs = NULL;
        double start = now_ms();
        must( clv_gpu_update( gpu, sets[i & 1], world->count ), gpu, "from the host" );
        must( clv_gpu_download( gpu, &pairs ), gpu, "to the host" );
        if ( i >= 0 )
        {
            times[i] = now_ms() - start;
        }
    }
    result->host_ms = median( times, HOST_FRAMES );
    clv_gpu_host_give( gpu, sets[0] );
    clv_gpu_host_give( gpu, sets[1] );
}

// ---- the CPU

static double time_cpu(
    const clv_aabb* boxes, uint32_t count, uint32_t threads, uint64_t* pair_count, uint64_t* hash )
{
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    clv_id* ids = malloc( count * sizeof( clv_id ) );
    clv_aabb* moved = malloc( count * sizeof( clv_aabb ) );
    double best = 1e30;
    def.capacity = count;
    def.worker_count = threads;
    must( clv_space_create( &def, &space ), NULL, "a space" );
    must( clv_space_add( space, boxes, count, ids ), NULL, "adding" );
    for ( int i = count <= HOST_MOST ? 0 : 3; i < 4; ++i ) // the last one is the boxes as they are
    {
        float shift = i < 3 ? 0.05f * (float)( i + 1 ) : 0;
        for ( uint32_t k = 0; k < count; ++k )
        {
            float own = ( mix( k ) & 1 ) != 0 ? shift : -shift;
            moved[k] = boxes[k];
            moved[k].lower.x += own;
            moved[k].upper.x += own;
        }
        double start = now_ms();
        must( clv_space_move( space, ids, i < 3 ? moved : boxes, count ), NULL, "moving" );
        must( clv_space_update( space ), NULL, "updating" );
        double ms = now_ms() - start;
        best = ( i > 0 && ms < best ) || count > HOST_MOST ? ms : best;
    }
    clv_pair_view view = clv_space_pairs( space );
    *pair_count = view.count;
    *hash = hash_pairs( view.pairs, view.count );
    clv_space_destroy( space );
    free( ids );
    free( moved );
    return best;
}

// The pairs of one more frame, and another, from the boxes as the device has them.
static void judge( bench_world* world, bench_result* result, const bench_flags* flags, clv_aabb* boxes )
{
    clv_gpu* gpu = world->gpu;
    uint64_t hash = 0;
    uint64_t expected_hash = 0;
    uint64_t expected_count = 0;
    move( world ); // of two frames in a row at most one lays a world at rest anew
    must( clv_gpu_update_buffer( gpu, world->moving.memory, world->count ), gpu, "one more frame" );
    move( world );
    gpu->def.count_tests = true;
    must( clv_gpu_update_buffer( gpu, world->moving.memory, world->count ), gpu, "one more frame" );
    gpu->def.count_tests = false;
    must( clv_gpu_read( gpu, world->moving.memory, 0, boxes, (size_t)world->count * sizeof( clv_aabb ) ), gpu,
        "reading the boxes" );
    must( clv_gpu_read_pairs( gpu, add_hash, &hash ), gpu, "reading the pairs" );
    result->pair_count = clv_gpu_pair_count( gpu );
    result->test_count = clv_gpu_get_stats( gpu ).test_count;
    result->cpu_ms[1] = time_cpu( boxes, world->count, flags->threads, &expected_count, &expected_hash );
    result->agrees = expected_count == result->pair_count && expected_hash == hash ? "yes" : "NO";
    if ( world->count <= 1000000 )
    {
        result->cpu_ms[0] = time_cpu( boxes, world->count, 1, &expected_count, &expected_hash );
    }
}

// ---- rows

static clv_gpu* open_gpu( const bench_flags* flags, clv_gpu_way way, void* queue )
{
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    char text[256] = "";
    uint32_t index = 0;
    if ( clv_gpu_device_find( flags->device, &index, text, sizeof( text ) ) != CLV_OK )
    {
        fprintf( stderr, "gpu_frames: %s\n", text );
        exit( 2 );
    }
    def.device = flags->device;
    def.way = way;
    def.queue = queue;
    must( clv_gpu_create( &def, &gpu ), NULL, "opening the device" );
    gpu->guest = &s_guest;
    gpu->queue_pairs = flags->queue_pairs;
    gpu->grid_wish.rest_part = flags->rest_part;
    return gpu;
}

// Boxes are made on the device, and copied to the host where they are needed there.
static void open_world( bench_world* world, clv_gpu* gpu, const bench_row* row, clv_aabb* boxes )
{
    uint64_t bytes = (uint64_t)row->count * sizeof( clv_aabb );
    float side = (float)cbrt( row->room * row->count );
    *world = ( bench_world ){ .gpu = gpu, .count = row->count, .reach = row->reach, .part = row->part };
    must( clv_gpu_reserve( gpu, &world->start, bytes ), gpu, "boxes" );
    must( clv_gpu_reserve( gpu, &world->moving, bytes ), gpu, "boxes" );
    must( GPU_LAUNCH( gpu, KERNEL_SPREAD, world->count, world->start, world->count, side ), gpu,
        "making boxes" );
    if ( boxes != NULL )
    {
        must( clv_gpu_read( gpu, world->start.memory, 0, boxes, (size_t)bytes ), gpu, "boxes" );
    }
}

static void close_world( bench_world* world )
{
    world->gpu->cl->clFinish( world->gpu->queue );
    world->gpu->cl->clReleaseMemObject( world->start.memory );
    world->gpu->cl->clReleaseMemObject( world->moving.memory );
    clv_gpu_destroy( world->gpu );
}

static const char* way_name( clv_gpu_way way )
{
    static const char* const s_names[] = { "auto", "tiles", "grid", "sap", "lbvh" };
    return s_names[way];
}

static void print_row(
    const bench_row* row, const bench_world* world, const bench_result* r, const bench_flags* flags )
{
    clv_gpu_stats stats = clv_gpu_get_stats( world->gpu );
    double search_ms = r->frame_ms - r->move_ms;
    printf( "%-16s %-6s %9" PRIu32 " %9" PRIu64 " %11" PRIu64
            " %9.4f %8.4f %9.4f %8.3f %9.3f %9.3f %7s %7.3f\n",
        row->name, way_name( stats.way ), row->count, r->pair_count, r->test_count, r->frame_ms, r->move_ms,
        search_ms, r->host_ms, r->cpu_ms[0], r->cpu_ms[1], r->agrees, row->goal_ms );
    if ( row->part > 1 )
    {
        printf( "    all searched: %.4f ms; %" PRIu32 " of %d batches searched only what changed\n",
            r->whole_ms, r->rest_batches, BATCHES );
    }
    fflush( stdout );
    if ( flags->csv != NULL )
    {
        fprintf( flags->csv,
            "%s,%s,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%.5f,%.5f,%.5f,%.4f,%.4f,%.4f,%s,%.3f,%.5f,%" PRIu32
            "\n",
            row->name, way_name( stats.way ), row->count, r->pair_count, r->test_count, r->frame_ms,
            r->move_ms, search_ms, r->host_ms, r->cpu_ms[0], r->cpu_ms[1], r->agrees, row->goal_ms,
            r->whole_ms, r->rest_batches );
        fflush( flags->csv );
    }
}

// The same world with all boxes searched in every frame, in the same run.
static double time_whole( const bench_row* row, const bench_flags* flags )
{
    bench_result result = { .agrees = "-" };
    bench_world world;
    clv_gpu* gpu = open_gpu( flags, row->way, NULL );
    gpu->grid_wish.rests = -1;
    open_world( &world, gpu, row, NULL );
    time_device( &world, &result );
    close_world( &world );
    return result.frame_ms - result.move_ms;
}

static bool run_row( const bench_row* row, const bench_flags* flags )
{
    bench_result result = { .agrees = "-" };
    bench_world world;
    clv_aabb* boxes = malloc( row->count * sizeof( clv_aabb ) );
    result.whole_ms = row->part > 1 ? time_whole( row, flags ) : 0;
    open_world( &world, open_gpu( flags, row->way, NULL ), row, boxes );
    time_device( &world, &result );
    judge( &world, &result, flags, boxes ); // first: from the host all boxes move, and nothing rests any more
    if ( row->count <= HOST_MOST )
    {
        time_host( &world, &result, boxes );
    }
    print_row( row, &world, &result, flags );
    close_world( &world );
    free( boxes );
    return strcmp( result.agrees, "NO" ) != 0;
}

// ---- each kernel alone

// A queue that keeps times, of a context of its own.
static void print_kernels( const bench_row* row, const bench_flags* flags )
{
    clv_gpu* plain = open_gpu( flags, CLV_GPU_AUTO, NULL );
    cl_int error = CL_SUCCESS;
    cl_command_queue queue = plain->cl->clCreateCommandQueue(
        plain->context, plain->device->id, CL_QUEUE_PROFILING_ENABLE, &error );
    if ( error != CL_SUCCESS )
    {
        clv_gpu_destroy( plain );
        return;
    }
    gpu_spans spans = { 0 };
    uint32_t launch_counts[GPU_KERNEL_ROOM] = { 0 };
    bench_world world;
    open_world( &world, open_gpu( flags, row->way, queue ), row, NULL );
    warm_up( &world );
    world.gpu->spans = &spans;
    for ( int i = 0; i < FRAMES; ++i )
    {
        move( &world );
        must( clv_gpu_update_buffer( world.gpu, world.moving.memory, world.count ), world.gpu, "searching" );
    }
    for ( uint64_t i = 0; i < spans.count; ++i )
    {
        launch_counts[spans.items[i].kernel] += 1;
    }
    clv_gpu_spans_take( world.gpu );
    world.gpu->spans = NULL;
    printf( "%s, device time of each kernel, us per frame:\n", row->name );
    for ( int id = 0; id < GPU_KERNEL_COUNT; ++id )
    {
        if ( launch_counts[id] > 0 )
        {
            printf( "    %-18s %9.2f in %g launches\n", clv_gpu_kernel_name( (gpu_kernel_id)id ),
                spans.ms[id] * 1e3 / FRAMES, (double)launch_counts[id] / FRAMES );
        }
    }
    fflush( stdout );
    clv_gpu_spans_free( world.gpu, &spans );
    close_world( &world );
    plain->cl->clReleaseCommandQueue( queue );
    clv_gpu_destroy( plain );
}

// ---- events

// Updates that are waited for, one by one, without begun and ended pairs and with them.
static void print_events( const bench_row* row, const bench_flags* flags )
{
    double times[2] = { 0, 0 };
    clv_gpu_stats stats = { 0 };
    uint64_t begun = 0;
    uint64_t ended = 0;
    for ( int with = 0; with < 2; ++with )
    {
        bench_world world;
        clv_gpu* gpu = open_gpu( flags, row->way, NULL );
        gpu->def.events = with != 0;
        open_world( &world, gpu, row, NULL );
        double frames[2 * FRAMES];
        warm_up( &world );
        for ( int i = 0; i < 2 * FRAMES; ++i )
        {
            move( &world );
            gpu->cl->clFinish( gpu->queue );
            double start = now_ms();
            must( clv_gpu_update_buffer( gpu, world.moving.memory, world.count ), gpu, "searching" );
            frames[i] = now_ms() - start;
        }
        times[with] = median( frames, 2 * FRAMES );
        stats = clv_gpu_get_stats( gpu );
        begun = clv_gpu_begun_count( gpu );
        ended = clv_gpu_ended_count( gpu );
        close_world( &world );
    }
    printf( "%s: a waited update %.4f ms, with begun and ended pairs %.4f; %" PRIu64 " pairs, %" PRIu64
            " begun, %" PRIu64 " ended\n",
        row->name, times[0], times[1], stats.pair_count, begun, ended );
    fflush( stdout );
}

// ---- from the host and back, part by part

// The median of frames of one part alone, waited for.
typedef void host_part( bench_world* world, const clv_aabb* boxes );

static void send_boxes( bench_world* world, const clv_aabb* boxes )
{
    clv_gpu* gpu = world->gpu;
    must( clv_gpu_write(
              gpu, world->moving.memory, 0, boxes, (size_t)world->count * sizeof( clv_aabb ), false ),
        gpu, "sending boxes" );
    gpu->cl->clFinish( gpu->queue );
}

static void search_there( bench_world* world, const clv_aabb* boxes )
{
    (void)boxes;
    must( clv_gpu_update_buffer( world->gpu, world->moving.memory, world->count ), world->gpu, "searching" );
}

static void fetch_pairs( bench_world* world, const clv_aabb* boxes )
{
    const clv_pair* pairs = NULL;
    (void)boxes;
    must( clv_gpu_download( world->gpu, &pairs ), world->gpu, "to the host" );
}

// There, searched, and back: two sets of boxes in turn, one behind the other.
static void go_there_and_back( bench_world* world, const clv_aabb* boxes )
{
    const clv_pair* pairs = NULL;
    world->frame += 1;
    must( clv_gpu_update( world->gpu, boxes + ( world->frame & 1 ) * (size_t)world->count, world->count ),
        world->gpu, "from the host" );
    must( clv_gpu_download( world->gpu, &pairs ), world->gpu, "to the host" );
}

static double time_part( bench_world* world, host_part* part, const clv_aabb* boxes )
{
    double times[FRAMES];
    for ( int i = 0; i < FRAMES; ++i )
    {
        double start = now_ms();
        part( world, boxes );
        times[i] = now_ms() - start;
    }
    return median( times, FRAMES );
}

static void print_host( const bench_row* row, const bench_flags* flags )
{
    bench_world world;
    clv_gpu* gpu = open_gpu( flags, row->way, NULL );
    open_world( &world, gpu, row, NULL );
    clv_aabb* boxes = clv_gpu_host_take( gpu, 2 * (size_t)row->count * sizeof( clv_aabb ) );
    if ( boxes == NULL )
    {
        must( CLV_OUT_OF_MEMORY, gpu, "memory of the host" );
    }
    warm_up( &world );
    must( clv_gpu_read( gpu, world.moving.memory, 0, boxes, (size_t)row->count * sizeof( clv_aabb ) ), gpu,
        "boxes" );
    double send = time_part( &world, send_boxes, boxes );
    double search = time_part( &world, search_there, boxes );
    double fetch = time_part( &world, fetch_pairs, boxes );
    move( &world );
    must( clv_gpu_read(
              gpu, world.moving.memory, 0, boxes + row->count, (size_t)row->count * sizeof( clv_aabb ) ),
        gpu, "boxes" );
    gpu->ahead.is_off = true;
    double two_waits = time_part( &world, go_there_and_back, boxes );
    gpu->ahead.is_off = false;
    double one_wait = time_part( &world, go_there_and_back, boxes );
    printf( "%s, waited for each: boxes there %.4f ms (%.1f GB/s), search %.4f, pairs back %.4f (%" PRIu64
            "); all of it %.4f, and %.4f with the list sent for before its number is known\n",
        row->name, send, row->count * sizeof( clv_aabb ) / send * 1e-6, search, fetch,
        clv_gpu_pair_count( gpu ), two_waits, one_wait );
    fflush( stdout );
    clv_gpu_host_give( gpu, boxes );
    close_world( &world );
}

// ---- other cells

// Sides of a cell, cells that a box may cross along x, entries per box, slack, and whether the order is kept.
#define WISH( x, y, z, reach, entries, room, keep )                                                          \
    {                                                                                                        \
        .factors = { x, y, z }, .reach_x = reach, .entries_per_box = entries, .slack = room, .keeps = keep   \
    }

static void print_cells( const bench_row* row, const bench_flags* flags )
{
    static const gpu_grid_wish s_sparse[] = {
        WISH( 2.2, 2.2, 2.2, 1, 4, 0.3, -1 ),
        WISH( 2.2, 2.2, 2.2, 1, 4, 0.3, 1 ),
        WISH( 2.2, 2.2, 2.2, 1, 4, 0.15, 1 ),
        WISH( 2.2, 2.2, 2.2, 1, 4, 0.08, 1 ),
        WISH( 1.8, 1.8, 1.8, 1, 4, 0.3, 1 ),
        WISH( 1.8, 1.8, 1.8, 1, 4, 0.15, 1 ),
        WISH( 1.5, 1.5, 1.5, 1, 8, 0.15, 1 ),
        WISH( 1.8, 1.8, 1.8, 1, 1, 0.15, 1 ),
        WISH( 1.1, 2.2, 2.2, 2, 4, 0.15, 1 ),
        WISH( 0.9, 1.8, 1.8, 2, 8, 0.15, 1 ),
    };
    static const gpu_grid_wish s_dense[] = {
        WISH( 0.53, 1.05, 1.05, 2, 4, 0.3, -1 ),
        WISH( 0.53, 1.05, 1.05, 2, 4, 0.3, 1 ),
        WISH( 0.55, 1.1, 1.1, 2, 4, 0.3, 1 ),
        WISH( 0.4, 1.05, 1.05, 3, 4, 0.3, -1 ),
        WISH( 1.05, 1.05, 1.05, 1, 4, 0.3, -1 ),
        WISH( 0.4, 1.1, 1.1, 3, 4, 0.3, 1 ),
    };
    const gpu_grid_wish* tried = row->room < 2 ? s_dense : s_sparse;
    size_t tried_count =
        row->room < 2 ? sizeof( s_dense ) / sizeof( s_dense[0] ) : sizeof( s_sparse ) / sizeof( s_sparse[0] );
    for ( size_t k = 0; k < tried_count; ++k )
    {
        bench_world world;
        bench_result result = { .agrees = "-" };
        clv_gpu* gpu = open_gpu( flags, CLV_GPU_GRID, NULL );
        gpu->grid_wish = tried[k];
        open_world( &world, gpu, row, NULL );
        time_device( &world, &result );
        clv_gpu_stats stats = clv_gpu_get_stats( gpu );
        printf( "%s, cells of %.2f x %.2f x %.2f, slack %.2f, %s: %.4f ms, %" PRIu32 " entries, %" PRIu32
                " large, by %s\n",
            row->name, tried[k].factors[0], tried[k].factors[1], tried[k].factors[2], tried[k].slack,
            tried[k].keeps > 0 ? "kept" : "anew", result.frame_ms - result.move_ms, stats.cell_count,
            stats.large_count, way_name( stats.way ) );
        fflush( stdout );
        close_world( &world );
    }
}

// ---- all together

// A row's whole name means that row alone, though it be a part of another's.
static bool is_named( const bench_row* row, const char* word )
{
    bool is_whole = false;
    for ( size_t i = 0; i < sizeof( s_rows ) / sizeof( s_rows[0] ); ++i )
    {
        is_whole = is_whole || strcmp( s_rows[i].name, word ) == 0;
    }
    return is_whole ? strcmp( row->name, word ) == 0 : strstr( row->name, word ) != NULL;
}

/// A flag: where its value goes. A switch has no value.
typedef struct bench_flag
{
    const char* name;
    const char* help;
    const char** text;
    uint32_t* number;
    bool* is_on;
} bench_flag;

static void end_with( const char* word, const char* problem )
{
    fprintf( stderr, "gpu_frames: %s: %s; --help lists the flags\n", word, problem );
    exit( 2 );
}

static void print_help( const bench_flag* list, size_t count )
{
    printf( "Usage: gpu_frames [flags]\n\nFrames on a device, as bench/gpu.md tells it.\n\n" );
    for ( size_t i = 0; i < count; ++i )
    {
        printf( "  %-12s%-5s%s\n", list[i].name,
            list[i].text != NULL         ? "WORD"
                : list[i].number != NULL ? "N"
                                         : "",
            list[i].help );
    }
    printf( "\nScenes:" );
    for ( size_t i = 0; i < sizeof( s_rows ) / sizeof( s_rows[0] ); ++i )
    {
        printf( " %s", s_rows[i].name );
    }
    printf( "\n\nExample:\n  gpu_frames --device H200 --csv gpu.csv\n" );
    exit( 0 );
}

static void read_value( const bench_flag* flag, const char* value )
{
    char* end = NULL;
    unsigned long number = strtoul( value, &end, 10 );
    if ( flag->text != NULL )
    {
        *flag->text = value;
        return;
    }
    if ( value[0] < '0' || value[0] > '9' || *end != '\0' || number == 0 || number > UINT32_MAX )
    {
        end_with( flag->name, "needs a number above 0" );
    }
    *flag->number = (uint32_t)number;
}

static void read_words( int argc, char** argv, const bench_flag* list, size_t count )
{
    for ( int i = 1; i < argc; ++i )
    {
        size_t k = 0;
        for ( ; k < count && strcmp( list[k].name, argv[i] ) != 0; ++k )
        {
        }
        if ( strcmp( argv[i], "--help" ) == 0 )
        {
            print_help( list, count );
        }
        if ( k == count )
        {
            end_with( argv[i], "no such flag" );
        }
        if ( list[k].is_on != NULL )
        {
            *list[k].is_on = true;
            continue;
        }
        if ( i + 1 == argc || argv[i + 1][0] == '\0' )
        {
            end_with( argv[i], "needs a value" );
        }
        read_value( &list[k], argv[++i] );
    }
}

static bench_flags read_flags( int argc, char** argv )
{
    bench_flags f = { .threads = 16 };
    const char* csv = NULL;
    const bench_flag list[] = {
        { "--device", "device, by number or part of its name (default the fastest)", &f.device, NULL, NULL },
        { "--threads", "of the CPU's second row (default 16)", NULL, &f.threads, NULL },
        { "--scene", "scenes with WORD in their name, or the one called so", &f.scene, NULL, NULL },
        { "--most", "scenes of up to N boxes (default 10000000)", NULL, &f.most, NULL },
        { "--queue", "pairs that a group keeps in local memory", NULL, &f.queue_pairs, NULL },
        { "--rest-part", "at rest while at most one box in N changes", NULL, &f.rest_part, NULL },
        { "--kernels", "the device's own time for each kernel", NULL, NULL, &f.kernels },
        { "--tune", "other cells", NULL, NULL, &f.tune },
        { "--events", "begun and ended pairs too", NULL, NULL, &f.events },
        { "--host", "parts of a frame from the host", NULL, NULL, &f.host },
        { "--csv", "write the rows to this file", &csv, NULL, NULL },
    };
    read_words( argc, argv, list, sizeof( list ) / sizeof( list[0] ) );
    f.most = f.most > 0 ? f.most : f.scene != NULL ? UINT32_MAX : HOST_MOST;
    bool is_there = f.scene == NULL;
    for ( size_t i = 0; i < sizeof( s_rows ) / sizeof( s_rows[0] ); ++i )
    {
        is_there = is_there || is_named( &s_rows[i], f.scene );
    }
    if ( !is_there )
    {
        end_with( f.scene, "no scene has that in its name" );
    }
    f.csv = csv != NULL ? fopen( csv, "w" ) : NULL;
    if ( csv != NULL && f.csv == NULL )
    {
        fprintf( stderr, "gpu_frames: %s: cannot be written: %s\n", csv, strerror( errno ) );
        exit( 2 );
    }
    return f;
}

static bool is_wanted( const bench_row* row, const bench_flags* flags )
{
    return row->count <= flags->most && ( flags->scene == NULL || is_named( row, flags->scene ) );
}

int main( int argc, char** argv )
{
    bench_flags flags = read_flags( argc, argv );
    clv_gpu* gpu = open_gpu( &flags, CLV_GPU_AUTO, NULL );
    clv_gpu_device device = clv_gpu_device_of( gpu );
    printf( "device: %s, %s, driver %s, %" PRIu32 " units, %.1f GB; CPU rows with 1 and %" PRIu32
            " threads\n",
        device.name, device.platform, device.driver, device.unit_count, (double)device.memory_bytes * 1e-9,
        flags.threads );
    clv_gpu_destroy( gpu );
    const char* head =
        "scene,way,boxes,pairs,tests,frame_ms,move_ms,search_ms,host_ms,cpu_1_ms,cpu_t_ms,agrees,goal_ms,whole_ms,rest_batches\n";
    if ( flags.csv != NULL )
    {
        fputs( head, flags.csv );
    }
    printf( "%-16s %-6s %9s %9s %11s %9s %8s %9s %8s %9s %9s %7s %7s\n", "scene", "way", "boxes", "pairs",
        "tests", "frame ms", "move", "search", "host", "cpu 1", "cpu T", "agrees", "goal" );
    bool good = true;
    for ( size_t i = 0; i < sizeof( s_rows ) / sizeof( s_rows[0] ); ++i )
    {
        good = is_wanted( &s_rows[i], &flags ) ? run_row( &s_rows[i], &flags ) && good : good;
    }
    for ( size_t i = 0; i < sizeof( s_rows ) / sizeof( s_rows[0] ); ++i )
    {
        bool is_grid = s_rows[i].way == CLV_GPU_AUTO && s_rows[i].count >= 100000;
        if ( flags.kernels && is_wanted( &s_rows[i], &flags ) )
        {
            print_kernels( &s_rows[i], &flags );
        }
        if ( flags.events && is_grid && is_wanted( &s_rows[i], &flags ) )
        {
            print_events( &s_rows[i], &flags );
        }
        if ( flags.host && is_grid && is_wanted( &s_rows[i], &flags ) )
        {
            print_host( &s_rows[i], &flags );
        }
        if ( flags.tune && is_grid && is_wanted( &s_rows[i], &flags ) )
        {
            print_cells( &s_rows[i], &flags );
        }
    }
    bool is_written = flags.csv == NULL || !ferror( flags.csv );
    if ( flags.csv != NULL && ( fclose( flags.csv ) != 0 || !is_written ) )
    {
        fprintf( stderr, "gpu_frames: the CSV file could not be written: is the disk full?\n" );
        return 2;
    }
    return good ? 0 : 1;
}
