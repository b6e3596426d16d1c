// SPDX-License-Identifier: MIT
// The program `cleave-mpi`: a frame on many processes, timed and compared with one. Started by mpirun. Process 0 reads or bakes the
// frames and tells them to all; from there on every process hands over the boxes of the objects it owns, as a simulation would.
#include "cleave/methods.h"
#include "cleave/mpi.h"
#include "cleave/space.h"
#include "lab/base/text.h"
#include "lab/frame/scene_list.h"
#include "lab/measure/frame_hash.h"
#include "lab/result/run_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Up to here brute force judges; beyond, the default method on one process.
#define BRUTE_MOST 20000u

typedef struct options
{
    bool verifies, is_borrowed, by_time;
    const char *what, *method, *settings, *json;
    uint64_t frames, threads, warmup, repeat, seed;
    clv_mpi_cutter cutter;
} options;

// One life of the program.
typedef struct job
{
    const options* o;
    int rank, process_count;
    frame_source source; // on process 0
    uint32_t object_count, frame_count;
    char scene[SCENE_NAME_ROOM], type[SCENE_NAME_ROOM];
    clv_aabb* boxes; // of all objects, in this frame
    uint64_t* ids;   // of those this process hands over
    clv_aabb* own;
    clv_pair* pairs;
    uint64_t pair_capacity;
    clv_mpi_space* space;
    lab_error why;

    double* frame_ms; // frame by frame, the least over the passes
    double* pass_ms;
    uint64_t hash, pairs_last, tests, ghosts, bytes_sent, memory;
    double imbalance;
    uint32_t owning;
} job;

static const char s_help[] =
    "Usage: mpirun -n P cleave-mpi bench|verify WHAT [flags]\n"
    "\n"
    "bench    time frames on P processes; verify  compare them, frame by frame, with one process\n"
    "\n"
    "  --frames F        frames after the initial one (default: all, at most 60)\n"
    "  --json OUT        write the result as JSON; - is standard output\n"
    "  -m METHOD         of the space in each process (default cleave)\n"
    "  --set P=V,...     parameters of that method\n"
    "  --threads T       threads of each process (default 1)\n"
    "  --warmup W        untimed passes (default 1)\n"
    "  --repeat R        timed passes, each from a fresh space (default 3)\n"
    "  --cutter C        zoltan or bisection\n"
    "  --borrowed        objects stay where they were added; only ghosts travel\n"
    "  --by-time         balance by measured time, not by counters\n"
    "  --seed S          seed of the scene\n"
    "\n"
    "WHAT is a .aabbs file or a scene such as brownian-free:8m, as `cleave bench` takes it. A frame is timed on all processes, from\n"
    "handing over the boxes to the list, and the slowest counts. Exit 1 where verify finds a difference.\n"
    "\n"
    "Example:\n"
    "  mpirun -n 4 cleave-mpi verify brownian-free:8k --frames 10\n";

// ---- the command line

static bool take_count( const char* flag, const char* text, uint64_t most, uint64_t* value, lab_error* why )
{
    return ( text_parse_size( text, value ) && *value <= most ) ||
        lab_error_write( why, "%s: '%s' is no number up to %" PRIu64, flag, text, most );
}

static bool take_cutter( const char* text, clv_mpi_cutter* cutter, lab_error* why )
{
    *cutter = strcmp( text, "zoltan" ) == 0 ? CLV_MPI_CUT_ZOLTAN : CLV_MPI_CUT_BISECTION;
    return strcmp( text, "zoltan" ) == 0 || strcmp( text, "bisection" ) == 0 ||
        lab_error_write( why, "--cutter: '%s' is neither zoltan nor bisection", text );
}

static bool take_value( options* o, const char* flag, const char* text, lab_error* why )
{
    if ( strcmp( flag, "--json" ) == 0 || strcmp( flag, "-m" ) == 0 || strcmp( flag, "--set" ) == 0 )
    {
        *( flag[1] == 'm' ? &o->method : flag[2] == 'j' ? &o->json : &o->settings ) = text;
        return true;
    }
    return strcmp( flag, "--frames" ) == 0 ? take_count( flag, text, 1000000, &o->frames, why )
        : strcmp( flag, "--threads" ) == 0 ? take_count( flag, text, CLV_MAX_WORKERS, &o->threads, why )
        : strcmp( flag, "--warmup" ) == 0  ? take_count( flag, text, 1000, &o->warmup, why )
        : strcmp( flag, "--repeat" ) == 0  ? take_count( flag, text, 1000, &o->repeat, why )
        : strcmp( flag, "--seed" ) == 0    ? take_count( flag, text, UINT64_MAX, &o->seed, why )
        : strcmp( flag, "--cutter" ) == 0
        ? take_cutter( text, &o->cutter, why )
        : lab_error_write( why, "no flag is called %s; --help lists them", flag );
}

static bool parse( int argc, char** argv, options* o, lab_error* why )
{
    *o = ( options ){ .method = "cleave", .threads = 1, .warmup = 1, .repeat = 3, .seed = 1 };
    bool is_known = argc > 1 && ( strcmp( argv[1], "bench" ) == 0 || strcmp( argv[1], "verify" ) == 0 );
    if ( !is_known )
    {
        return lab_error_write( why, "needs bench or verify; --help tells more" );
    }
    o->verifies = argv[1][0] == 'v';
    for ( int i = 2; i < argc; ++i )
    {
        const char* word = argv[i];
        if ( strcmp( word, "--borrowed" ) == 0 || strcmp( word, "--by-time" ) == 0 )
        {
            *( word[4] == 'o' ? &o->is_borrowed : &o->by_time ) = true;
        }
        else if ( word[0] == '-' && ( i + 1 == argc || !take_value( o, word, argv[i + 1], why ) ) )
        {
            return why->text[0] != '\0' ? false : lab_error_write( why, "%s needs a value", word );
        }
        else if ( word[0] == '-' )
        {
            i += 1;
        }
        else if ( o->what != NULL )
        {
            return lab_error_write( why, "one WHAT at a time: %s or %s", o->what, word );
        }
        else
        {
            o->what = word;
        }
    }
    return o->what != NULL || lab_error_write( why, "needs a WHAT, such as brownian-free:32k" );
}

// ---- all of one mind

// Process 0's answer is everybody's.
static bool tell_all( bool ok )
{
    int answer = ok;
    MPI_Bcast( &answer, 1, MPI_INT, 0, MPI_COMM_WORLD );
    return answer != 0;
}

static bool everybody( bool ok )
{
    int mine = ok, all = 0;
    MPI_Allreduce( &mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD );
    return all != 0;
}

static uint64_t sum( uint64_t value )
{
    uint64_t all = 0;
    MPI_Allreduce( &value, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD );
    return all;
}

// ---- frames

static bool open_scene( job* j )
{
    scene_spec spec;
    bool ok = j->rank != 0 || scene_spec_parse( j->o->what, &spec, &j->why );
    if ( j->rank == 0 && ok )
    {
        ok = scene_spec_open(
            &spec, SCENE_LIST_BODIES, (uint32_t)j->o->frames, j->o->seed, &j->source, &j->why );
        scene_spec_free( &spec );
    }
    if ( !tell_all( ok ) )
    {
        return false;
    }
    uint32_t sizes[2] = { j->source.header.object_count, j->source.header.frame_count };
    MPI_Bcast( sizes, 2, MPI_UINT32_T, 0, MPI_COMM_WORLD );
    j->object_count = sizes[0];
    uint32_t wanted = j->o->frames > 0 ? (uint32_t)j->o->frames : 60;
    j->frame_count = sizes[1] < wanted ? sizes[1] : wanted;
    uint64_t room = (uint64_t)j->object_count + 1;
    j->boxes = calloc( room, sizeof( clv_aabb ) );
    j->own = calloc( room, sizeof( clv_aabb ) );
    j->ids = calloc( room, sizeof( uint64_t ) );
    j->frame_ms = calloc( (size_t)j->frame_count + 1, sizeof( double ) );
    j->pass_ms = calloc( ( (size_t)j->frame_count + 1 ) * ( j->o->repeat + 1 ), sizeof( double ) );
    ok = j->boxes != NULL && j->own != NULL && j->ids != NULL && j->frame_ms != NULL && j->pass_ms != NULL;
    return everybody( ok ) || lab_error_write( &j->why, "out of memory for %u boxes", j->object_count );
}

static bool read_frame( job* j, uint32_t frame )
{
    bool ok = j->rank != 0 || frame_source_read( &j->source, frame, j->boxes, &j->why );
    if ( !tell_all( ok ) )
    {
        return false;
    }
    // In pieces whose size an int can tell.
    const uint64_t piece = 1 << 24;
    for ( uint64_t first = 0; first < j->object_count; first += piece )
    {
        uint64_t left = j->object_count - first;
        int floats = (int)( ( left < piece ? left : piece ) * 6 );
        MPI_Bcast( j->boxes + first, floats, MPI_FLOAT, 0, MPI_COMM_WORLD );
    }
    return true;
}

// ---- a frame on all processes

static bool fail( job* j, clv_result result, uint32_t frame )
{
    return lab_error_write( &j->why, "frame %u: %s: %s", frame, clv_result_name( result ),
        j->space != NULL ? clv_mpi_space_error( j->space ).text : clv_result_text( result ) );
}

static bool make_space( job* j )
{
    clv_mpi_def def = clv_default_mpi_def();
    def.space.method = j->o->method;
    def.space.settings = j->o->settings;
    def.space.worker_count = (uint32_t)j->o->threads;
    def.space.capacity = j->object_count / (uint32_t)j->process_count;
    def.borrowed = j->o->is_borrowed;
    def.balance_by_time = j->o->by_time;
    def.cutter = j->o->cutter;
    clv_result result = clv_mpi_space_create( MPI_COMM_WORLD, &def, &j->space );
    return result == CLV_OK || fail( j, result, 0 );
}

// At the beginning every process has its share by number, wherever that lies.
static bool add_share( job* j )
{
    uint64_t first = (uint64_t)j->object_count * (uint64_t)j->rank / (uint64_t)j->process_count;
    uint64_t end = (uint64_t)j->object_count * ( (uint64_t)j->rank + 1 ) / (uint64_t)j->process_count;
    for ( uint64_t i = first; i < end; ++i )
    {
        j->ids[i - first] = i;
        j->own[i - first] = j->boxes[i];
    }
    clv_result result = clv_mpi_space_add( j->space, j->ids, j->own, (uint32_t)( end - first ) );
    result = result == CLV_OK ? clv_mpi_space_update( j->space ) : result;
    return result == CLV_OK || fail( j, result, 0 );
}

static bool do_frame( job* j, uint32_t frame, double* ms )
{
    uint32_t count = clv_mpi_space_object_count( j->space );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_aabb box;
        clv_mpi_space_object_at( j->space, i, &j->ids[i], &box );
        j->own[i] = j->boxes[j->ids[i]];
    }
    MPI_Barrier( MPI_COMM_WORLD );
    double start = MPI_Wtime();
    clv_result result = clv_mpi_space_move( j->space, j->ids, j->own, count );
    result = result == CLV_OK ? clv_mpi_space_update( j->space ) : result;
    double mine = ( MPI_Wtime() - start ) * 1000;
    MPI_Allreduce( &mine, ms, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD );
    return result == CLV_OK || fail( j, result, frame );
}

// What this frame adds to the hash, over all processes.
static bool hash_frame( job* j, uint32_t frame, uint64_t* hash )
{
    clv_mpi_pair_view view = clv_mpi_space_pairs( j->space );
    if ( view.count > j->pair_capacity )
    {
        free( j->pairs );
        j->pair_capacity = view.count + view.count / 4;
        j->pairs = calloc( j->pair_capacity, sizeof( clv_pair ) );
    }
    if ( !everybody( view.count == 0 || j->pairs != NULL ) )
    {
        return lab_error_write( &j->why, "out of memory for pairs" );
    }
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        j->pairs[i] = ( clv_pair ){ (uint32_t)view.pairs[i].a, (uint32_t)view.pairs[i].b };
    }
    *hash = sum( frame_hash_pairs( j->pairs, view.count, frame - 1 ) );
    return true;
}

// ---- timing

static void note_stats( job* j )
{
    clv_mpi_stats stats = clv_mpi_space_stats( j->space );
    j->pairs_last = stats.all_pair_count;
    j->ghosts = stats.all_ghost_count;
    j->bytes_sent = stats.all_bytes_sent;
    j->imbalance = stats.imbalance;
    j->tests = sum( stats.test_count );
    j->memory = sum( stats.memory_bytes );
    j->owning = (uint32_t)sum( stats.own_count > 0 );
}

static bool do_pass( job* j, uint64_t pass )
{
    uint64_t hash = 0;
    bool ok = make_space( j ) && read_frame( j, 0 ) && add_share( j );
    for ( uint32_t frame = 1; ok && frame <= j->frame_count; ++frame )
    {
        double ms = 0;
        uint64_t part = 0;
        ok = read_frame( j, frame ) && do_frame( j, frame, &ms ) && hash_frame( j, frame, &part );
        hash += part;
        if ( pass >= j->o->warmup )
        {
            j->pass_ms[( pass - j->o->warmup ) * j->frame_count + frame - 1] = ms;
            double* least = &j->frame_ms[frame - 1];
            *least = *least == 0 || ms < *least ? ms : *least;
        }
    }
    if ( ok && pass > 0 && hash != j->hash )
    {
        ok = lab_error_write( &j->why, "pass %" PRIu64 " found other pairs than the first", pass + 1 );
    }
    j->hash = hash;
    if ( ok )
    {
        note_stats( j );
    }
    clv_mpi_space_destroy( j->space );
    j->space = NULL;
    return ok;
}

static int by_size( const void* a, const void* b )
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static void fill_result( const job* j, run_result* run )
{
    uint64_t count = (uint64_t)j->frame_count * j->o->repeat;
    double* sorted = calloc( count + 1, sizeof( double ) );
    snprintf( run->scene, sizeof( run->scene ), "%s", j->source.header.name );
    snprintf( run->type, sizeof( run->type ), "%s", j->source.header.type );
    run->object_count = j->object_count;
    run->frame_count = j->frame_count;
    run->method = j->o->method;
    run->variant = clv_isa_name( clv_isa_best() );
    run->settings = j->o->settings;
    run->thread_count = (uint32_t)j->o->threads;
    run->frame_ms = j->frame_ms;
    run->pairs_last = j->pairs_last;
    run->pairs_hash = j->hash;
    run->tests = j->tests;
    run->memory_bytes = (size_t)j->memory;
    run->update_ms = run->search_ms = NAN; // stages are each process's own
    if ( sorted != NULL && count > 0 )
    {
        memcpy( sorted, j->pass_ms, count * sizeof( double ) );
        qsort( sorted, count, sizeof( double ), by_size );
        for ( uint64_t i = 0; i < count; ++i )
        {
            run->ms_mean += sorted[i] / (double)count;
        }
        run->ms_min = sorted[0];
        run->ms_median = ( sorted[( count - 1 ) / 2] + sorted[count / 2] ) / 2;
        run->ms_p99 = sorted[( count - 1 ) * 99 / 100];
    }
    free( sorted );
    run->json = json_object();
    json_put_count( run->json, "processes", j->owning );
    json_put_count( run->json, "ranks", (uint64_t)j->process_count );
    json_put_number( run->json, "imbalance", j->imbalance );
    json_put_count( run->json, "ghosts", j->ghosts );
    json_put_count( run->json, "bytes_sent", j->bytes_sent );
}

static bool bench( job* j )
{
    run_output output = { .json = j->o->json };
    if ( !tell_all( j->rank != 0 || run_output_open( &output, &j->why ) ) )
    {
        return false;
    }
    bool ok = true;
    for ( uint64_t pass = 0; ok && pass < j->o->warmup + j->o->repeat; ++pass )
    {
        ok = do_pass( j, pass );
    }
    if ( ok && j->rank == 0 )
    {
        run_results results = { 0 };
        fill_result( j, run_results_add( &results ) );
        j->frame_ms = NULL; // the result's now
        ok = run_output_write( &output, &results, &j->why );
        if ( j->o->json == NULL || strcmp( j->o->json, "-" ) != 0 )
        {
            printf( "%d processes, %u with boxes; imbalance %.1f %%, %" PRIu64 " ghosts (%.1f %%), %" PRIu64
                    " bytes sent in the last frame\n",
                j->process_count, j->owning, j->imbalance * 100, j->ghosts,
                100.0 * (double)j->ghosts / (double)( j->object_count > 0 ? j->object_count : 1 ),
                j->bytes_sent );
        }
        run_results_free( &results );
    }
    run_output_close( &output );
    return tell_all( ok );
}

// ---- comparing

static clv_space* make_judge( const job* j )
{
    clv_space_def def = clv_default_space_def();
    def.sorted = true;
    def.method = j->object_count <= BRUTE_MOST ? "brute" : "cleave";
    clv_space* judge = NULL;
    return clv_space_create( &def, &judge ) == CLV_OK ? judge : NULL;
}

static bool feed_judge( job* j, clv_space* judge, clv_id* ids, uint32_t frame )
{
    clv_result result = frame == 0 ? clv_space_add( judge, j->boxes, j->object_count, ids )
                                   : clv_space_move( judge, ids, j->boxes, j->object_count );
    result = result == CLV_OK ? clv_space_update( judge ) : result;
    return result == CLV_OK ||
        lab_error_write( &j->why, "frame %u: one process: %s", frame, clv_result_text( result ) );
}

// Both lists are sorted.
static bool same_lists( job* j, clv_pair_view one, clv_mpi_pair_view many, uint32_t frame )
{
    for ( uint64_t i = 0; i < one.count || i < many.count; ++i )
    {
        bool has_one = i < one.count, has_many = i < many.count;
        uint64_t a = has_many ? many.pairs[i].a : 0, b = has_many ? many.pairs[i].b : 0;
        if ( has_one && has_many && one.pairs[i].a == a && one.pairs[i].b == b )
        {
            continue;
        }
        bool is_missing =
            has_one && ( !has_many || one.pairs[i].a < a || ( one.pairs[i].a == a && one.pairs[i].b < b ) );
        return lab_error_write( &j->why, "frame %u: pair %" PRIu64 "-%" PRIu64 " is %s", frame,
            is_missing ? one.pairs[i].a : a, is_missing ? one.pairs[i].b : b,
            is_missing ? "missing" : "extra" );
    }
    return true;
}

static bool verify_frame( job* j, clv_space* judge, clv_id* ids, uint32_t frame )
{
    double ms = 0;
    bool ok = read_frame( j, frame ) && ( frame == 0 ? add_share( j ) : do_frame( j, frame, &ms ) );
    if ( !ok || !tell_all( j->rank != 0 || feed_judge( j, judge, ids, frame ) ) )
    {
        return false;
    }
    clv_mpi_pair_view many;
    clv_result result = clv_mpi_space_gather( j->space, 0, &many );
    if ( result != CLV_OK )
    {
        return fail( j, result, frame );
    }
    bool agrees = j->rank != 0 || same_lists( j, clv_space_pairs( judge ), many, frame );
    j->why.status = agrees ? j->why.status : LAB_DISAGREES;
    j->pairs_last += many.count;
    return tell_all( agrees );
}

static bool verify( job* j )
{
    clv_space* judge = j->rank == 0 ? make_judge( j ) : NULL;
    clv_id* ids = calloc( (size_t)j->object_count + 1, sizeof( clv_id ) );
    bool ok = everybody( ids != NULL && ( j->rank != 0 || judge != NULL ) ) ||
        lab_error_write( &j->why, "out of memory" );
    ok = ok && make_space( j );
    for ( uint32_t frame = 0; ok && frame <= j->frame_count; ++frame )
    {
        ok = verify_frame( j, judge, ids, frame );
    }
    if ( ok && j->rank == 0 )
    {
        printf( "%s: %d processes agree with %s on one, frames 0 to %u, %" PRIu64 " pairs\n", j->o->what,
            j->process_count, clv_space_method( judge ), j->frame_count, j->pairs_last );
    }
    clv_mpi_space_destroy( j->space );
    clv_space_destroy( judge );
    free( ids );
    return ok;
}

// ---- all of it

static lab_status run( int argc, char** argv, int rank, int process_count )
{
    options o;
    job j = { .o = &o, .rank = rank, .process_count = process_count };
    j.why.status = LAB_BAD_INPUT;
    bool ok = parse( argc, argv, &o, &j.why ) && open_scene( &j );
    ok = ok && ( o.verifies ? verify( &j ) : bench( &j ) );
    if ( !ok && rank == 0 )
    {
        fprintf( stderr, "cleave-mpi: %s\n", j.why.text );
    }
    frame_source_close( &j.source );
    free( j.boxes );
    free( j.own );
    free( j.ids );
    free( j.frame_ms );
    free( j.pass_ms );
    free( j.pairs );
    int status = ok ? LAB_DONE : (int)j.why.status;
    MPI_Bcast( &status, 1, MPI_INT, 0, MPI_COMM_WORLD );
    return (lab_status)status;
}

int main( int argc, char** argv )
{
    int given = 0, rank = 0, process_count = 0;
    MPI_Init_thread( &argc, &argv, MPI_THREAD_FUNNELED, &given );
    MPI_Comm_rank( MPI_COMM_WORLD, &rank );
    MPI_Comm_size( MPI_COMM_WORLD, &process_count );
    clv_methods_register();
    lab_status status = LAB_DONE;
    if ( argc > 1 && ( strcmp( argv[1], "--help" ) == 0 || strcmp( argv[1], "help" ) == 0 ) )
    {
        fputs( rank == 0 ? s_help : "", stdout );
    }
    else
    {
        status = run( argc, argv, rank, process_count );
    }
    MPI_Finalize();
    return (int)status;
}
