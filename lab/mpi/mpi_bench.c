// SPDX-License-Identifier: MIT
// `cleave-mpi bench`: frames on many processes, timed, with what each of them did. With --checkpoint PATH
// --every N and --resume PATH a run that was ended in the middle goes on, on any number of processes, to the
// same hash. The space's checkpoint is the library's; what the bench itself must know is in PATH.bench.
#include "lab/base/interrupt.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/base/text.h"
#include "lab/measure/judge.h"
#include "lab/mpi/mpi_job.h"
#include "lab/result/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- checkpoints

/// What a bench knows of a checkpoint. The file has two of them: the one in force, and the one that is being
/// written, so that whichever manifest a killed job leaves is known.
typedef struct bench_note
{
    uint64_t frame, hash;
} bench_note;

static bench_note s_last; // of the checkpoint in force

// Files would be called .manifest and so on, which are hidden.
static bool names_file( const char* flag, const char* path, lab_error* why )
{
    return path == NULL || path[strlen( path ) - 1] != '/' ||
        lab_error_write( why, "%s %s: is a folder; name a file in it, such as %sjob", flag, path, path );
}

bool job_check_resume( const job_options* o, lab_error* why )
{
    if ( !names_file( "--checkpoint", o->checkpoint, why ) || !names_file( "--resume", o->resume, why ) )
    {
        return false;
    }
    if ( o->every != 0 && o->checkpoint == NULL )
    {
        return lab_error_write( why, "--every needs --checkpoint PATH" );
    }
    if ( ( o->checkpoint != NULL || o->resume != NULL ) &&
        ( o->warmup != UINT64_MAX || o->repeat != UINT64_MAX ) )
    {
        return lab_error_write(
            why, "--checkpoint and --resume do one pass: leave --warmup and --repeat out" );
    }
    return !o->is_alone || ( o->checkpoint == NULL && o->resume == NULL ) ||
        lab_error_write( why, "--alone has no checkpoints: every process has a world of its own" );
}

// ---- PATH.bench

// FNV-1a: a wrong digit of a hash would otherwise end up in the result.
static uint64_t sum_of( const char* text, size_t size )
{
    uint64_t sum = 0xcbf29ce484222325u;
    for ( size_t i = 0; i < size; ++i )
    {
        sum = ( sum ^ (uint8_t)text[i] ) * 0x100000001b3u;
    }
    return sum;
}

#define NOTES_ROOM 4096

// NULL, or what is wrong with the text.
static const char* parse_notes( const char* text, char what[NOTES_ROOM], uint64_t* seed, bench_note notes[2] )
{
    const char* end = strstr( text, "\nsum 0x" );
    uint64_t sum = 0;
    if ( end == NULL || sscanf( end, "\nsum %" SCNx64, &sum ) != 1 ||
        sscanf( text,
            "cleave-mpi bench 2 what %4095[^\n] seed %" SCNu64 " frame %" SCNu64 " hash %" SCNx64
            " frame %" SCNu64 " hash %" SCNx64,
            what, seed, &notes[0].frame, &notes[0].hash, &notes[1].frame, &notes[1].hash ) != 6 )
    {
        return "is not what bench --checkpoint writes";
    }
    return sum == sum_of( text, (size_t)( end - text ) + 1 ) ? NULL : "checksum mismatch";
}

static bool read_notes( const char* path, const job* j, bench_note notes[2], lab_error* why )
{
    char* name = text_format( "%s.bench", path );
    FILE* file = fopen( name, "rb" );
    char text[NOTES_ROOM] = "", what[NOTES_ROOM] = "";
    uint64_t seed = 0;
    const char* wrong = file == NULL ? strerror( errno ) : NULL;
    if ( file != NULL )
    {
        text[fread( text, 1, sizeof( text ) - 1, file )] = '\0';
        wrong = parse_notes( text, what, &seed, notes );
        fclose( file );
    }
    bool ok = wrong == NULL ||
        lab_error_write( why, "%s: %s%s", name, file == NULL ? "cannot be opened: " : "", wrong );
    if ( ok && ( strcmp( what, j->o->what ) != 0 || seed != j->o->seed ) )
    {
        ok = lab_error_write( why, "%s: is of %s with seed %" PRIu64 ", not of %s with seed %" PRIu64, name,
            what, seed, j->o->what, j->o->seed );
    }
    free( name );
    return ok;
}

static bool write_notes( const char* path, const job* j, const bench_note notes[2], lab_error* why )
{
    char* name = text_format( "%s.bench", path );
    char* text = text_format( "cleave-mpi bench 2\nwhat %s\nseed %" PRIu64 "\nframe %" PRIu64
                              " hash 0x%016" PRIx64 "\nframe %" PRIu64 " hash 0x%016" PRIx64 "\n",
        j->o->what, j->o->seed, notes[0].frame, notes[0].hash, notes[1].frame, notes[1].hash );
    char* whole = text_format( "%ssum 0x%016" PRIx64 "\n", text, sum_of( text, strlen( text ) ) );
    bool ok = output_file_put( name, whole, strlen( whole ), why );
    free( whole );
    free( text );
    free( name );
    return ok;
}

// ---- saved and resumed

// Objects of the scene: another one's would ask for boxes that are not there.
static bool fits_scene( const mpi_world* w, job* j )
{
    uint32_t count = clv_mpi_space_object_count( w->space ), objects = w->frames.header.object_count;
    bool ok = true;
    for ( uint32_t i = 0; i < count && ok; ++i )
    {
        uint64_t id;
        clv_aabb box;
        clv_mpi_space_object_at( w->space, i, &id, &box );
        ok = id < objects;
    }
    return ok || lab_error_write( &j->why, "%s: has objects that %s has not", j->o->resume, j->o->what );
}

static bool has_all( const mpi_world* w, job* j )
{
    uint64_t all = job_sum( clv_mpi_space_object_count( w->space ) ), wanted = w->frames.header.object_count;
    return all == wanted ||
        lab_error_write(
            &j->why, "%s: has %" PRIu64 " objects, %s has %" PRIu64, j->o->resume, all, j->o->what, wanted );
}

static bool begin_resumed( mpi_world* w, job* j, uint32_t* frame, uint64_t* hash )
{
    bench_note notes[2] = { { 0, 0 }, { 0, 0 } };
    if ( !job_agree( j, j->rank != 0 || read_notes( j->o->resume, j, notes, &j->why ) ) )
    {
        return false;
    }
    MPI_Bcast( notes, 4, MPI_UINT64_T, 0, MPI_COMM_WORLD );
    if ( !mpi_world_load( w, j, j->o->resume ) || !job_agree( j, fits_scene( w, j ) ) ||
        !job_agree( j, has_all( w, j ) ) )
    {
        return false;
    }
    // The first update is that of frame 0.
    uint64_t done = clv_mpi_space_stats( w->space ).update_count - 1;
    const bench_note* note = notes[1].frame == done ? &notes[1] : &notes[0];
    bool is_known = note->frame == done;
    *frame = (uint32_t)done;
    *hash = note->hash;
    s_last = *note;
    if ( !is_known )
    {
        return lab_error_write( &j->why,
            "%s.bench: is not of this checkpoint: it knows frames %" PRIu64 " and %" PRIu64
            ", and %s.manifest was saved after frame %" PRIu64,
            j->o->resume, notes[0].frame, notes[1].frame, j->o->resume, done );
    }
    return done <= w->frames.frame_count ||
        lab_error_write( &j->why, "--frames %u: %s was saved after frame %" PRIu64 " already",
            w->frames.frame_count, j->o->resume, done );
}

// Notes of a first checkpoint that could not be saved belong to none.
static void forget_notes( const char* path )
{
    char* manifest = text_format( "%s.manifest", path );
    char* name = text_format( "%s.bench", path );
    if ( platform_look( manifest ).kind == PLATFORM_MISSING )
    {
        platform_remove( name );
    }
    free( name );
    free( manifest );
}

// What Ctrl-C leaves on stderr from now on.
static void note_resume( const char* path, uint32_t frame )
{
    static char s_note[1200];
    interrupt_set_note( NULL );
    snprintf( s_note, sizeof( s_note ),
        "cleave-mpi: interrupted; frames up to %" PRIu32 " are saved: go on with --resume %.1000s\n", frame,
        path );
    interrupt_set_note( s_note );
}

static bool save_if_due( mpi_world* w, job* j, uint32_t frame, uint64_t hash )
{
    const char* path = j->o->checkpoint;
    uint64_t every = j->o->every != 0 ? j->o->every : 10;
    if ( path == NULL || ( frame % every != 0 && frame != w->frames.frame_count ) )
    {
        return true;
    }
    bench_note notes[2] = { s_last, { frame, hash } };
    bool ok = job_agree( j, j->rank != 0 || write_notes( path, j, notes, &j->why ) );
    clv_result result = ok ? clv_mpi_space_save( w->space, path ) : CLV_OK;
    s_last = notes[1];
    if ( result != CLV_OK && j->rank == 0 )
    {
        forget_notes( path );
    }
    else if ( ok && j->rank == 0 )
    {
        note_resume( path, frame );
    }
    return ok &&
        job_agree( j,
            result == CLV_OK ||
                lab_error_write( &j->why, "frame %u: %s", frame, clv_mpi_space_error( w->space ).text ) );
}

// ---- passes

/// What one process did: times are means over the timed frames, counts those of the last frame.
typedef struct process_record
{
    double move_ms, update_ms, cut_ms, send_ms, wait_ms, search_ms, list_ms;
    double objects, ghosts, pairs, tests, bytes_sent, messages, neighbours, memory_bytes;
} process_record;

enum
{
    RECORD_TIMES = 7,
    RECORD_NUMBERS = (int)( sizeof( process_record ) / sizeof( double ) )
};

typedef struct bench
{
    mpi_world world;
    clv_pair* pairs;
    uint64_t pair_capacity;
    double* frame_ms; ///< frame by frame, the least over the passes
    double* pass_ms;
    uint64_t hash, cuts, timed_frames;
    progress_bar bar;    ///< of the frames of all passes
    uint32_t resumed_at; ///< the last frame of the checkpoint; 0: from the beginning
    clv_mpi_stats stats; ///< of the last frame
    process_record mine;
    process_record* records; ///< on process 0
} bench;

static bool open_bench( bench* b, job* j )
{
    if ( !mpi_world_open( &b->world, j ) )
    {
        return false;
    }
    size_t frames = (size_t)b->world.frames.frame_count + 1;
    b->frame_ms = lab_take( frames, sizeof( double ) );
    b->pass_ms = lab_take( frames * ( j->o->repeat + 1 ), sizeof( double ) );
    b->records = lab_take( (uint64_t)j->process_count, sizeof( process_record ) );
    return true;
}

static void close_bench( bench* b )
{
    mpi_world_close( &b->world );
    free( b->pairs );
    free( b->frame_ms );
    free( b->pass_ms );
    free( b->records );
}

// What this frame adds to the hash, over all processes.
static uint64_t hash_frame( bench* b, uint32_t frame )
{
    clv_mpi_pair_view view = clv_mpi_space_pairs( b->world.space );
    if ( view.count > b->pair_capacity )
    {
        b->pair_capacity = view.count + view.count / 4;
        b->pairs = lab_grow( b->pairs, b->pair_capacity, sizeof( clv_pair ) );
    }
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        b->pairs[i] = ( clv_pair ){ (uint32_t)view.pairs[i].a, (uint32_t)view.pairs[i].b };
    }
    return job_sum( frame_hash_pairs( b->pairs, view.count, frame - 1 ) );
}

static void note_times( bench* b )
{
    clv_mpi_stats s = clv_mpi_space_stats( b->world.space );
    b->mine.move_ms += b->world.move_ms;
    b->mine.update_ms += b->world.update_ms;
    b->mine.cut_ms += s.cut_ms;
    b->mine.send_ms += s.send_ms;
    b->mine.wait_ms += s.wait_ms;
    b->mine.search_ms += s.search_ms;
    b->mine.list_ms += s.list_ms;
    b->cuts += s.was_cut;
    b->timed_frames += 1;
}

static bool time_frame( bench* b, job* j, uint64_t pass, uint32_t frame, uint64_t* hash )
{
    double ms = 0;
    if ( !mpi_frames_read( &b->world.frames, j, frame ) || !mpi_world_step( &b->world, j, frame, &ms ) )
    {
        return false;
    }
    *hash += hash_frame( b, frame );
    if ( pass >= j->o->warmup )
    {
        note_times( b );
        b->pass_ms[( pass - j->o->warmup ) * b->world.frames.frame_count + frame - 1] = ms;
        double* least = &b->frame_ms[frame - 1];
        *least = *least == 0 || ms < *least ? ms : *least;
    }
    return true;
}

static bool do_pass( bench* b, job* j, uint64_t pass )
{
    uint64_t hash = 0;
    bool ok = j->o->resume != NULL ? begin_resumed( &b->world, j, &b->resumed_at, &hash )
                                   : mpi_world_begin( &b->world, j ) && mpi_world_settle( &b->world, j );
    for ( uint32_t frame = b->resumed_at + 1; ok && frame <= b->world.frames.frame_count; ++frame )
    {
        ok = time_frame( b, j, pass, frame, &hash ) && save_if_due( &b->world, j, frame, hash );
        progress_show( &b->bar, pass * b->world.frames.frame_count + frame );
    }
    if ( ok && pass > 0 && hash != b->hash )
    {
        ok = lab_error_write( &j->why, "pass %" PRIu64 " found other pairs than the first", pass + 1 );
        j->why.status = LAB_DISAGREES;
    }
    b->hash = hash;
    if ( ok )
    {
        b->stats = clv_mpi_space_stats( b->world.space );
    }
    mpi_world_end( &b->world );
    return ok;
}

// ---- the result

static void gather_records( bench* b )
{
    process_record* m = &b->mine;
    const clv_mpi_stats* s = &b->stats;
    double times[RECORD_TIMES];
    memcpy( times, m, sizeof( times ) ); // they come first
    for ( size_t i = 0; i < RECORD_TIMES; ++i )
    {
        times[i] /= b->timed_frames > 0 ? (double)b->timed_frames : 1;
    }
    memcpy( m, times, sizeof( times ) );
    m->objects = (double)s->own_count;
    m->ghosts = (double)s->ghost_count;
    m->pairs = (double)s->pair_count;
    m->tests = (double)s->test_count;
    m->bytes_sent = (double)s->bytes_sent;
    m->messages = s->message_count;
    m->neighbours = s->neighbour_count;
    m->memory_bytes = (double)s->memory_bytes;
    MPI_Gather( m, RECORD_NUMBERS, MPI_DOUBLE, b->records, RECORD_NUMBERS, MPI_DOUBLE, 0, MPI_COMM_WORLD );
}

static double shown( double ms )
{
    return floor( ms * 1e6 + 0.5 ) / 1e6;
}

static json_value* record_value( const process_record* r, int rank )
{
    static const char* const s_names[RECORD_NUMBERS] = { "move_ms", "update_ms", "cut_ms", "send_ms",
        "wait_ms", "search_ms", "list_ms", "objects", "ghosts", "pairs", "tests", "bytes_sent", "messages",
        "neighbours", "memory_bytes" };
    double numbers[RECORD_NUMBERS];
    memcpy( numbers, r, sizeof( numbers ) );
    json_value* value = json_object();
    json_put_count( value, "rank", (uint64_t)rank );
    for ( int i = 0; i < RECORD_NUMBERS; ++i )
    {
        json_put_number( value, s_names[i], i < RECORD_TIMES ? shown( numbers[i] ) : numbers[i] );
    }
    return value;
}

static void fill_times( const bench* b, const job* j, run_result* run )
{
    uint64_t count = (uint64_t)b->world.frames.frame_count * j->o->repeat - b->resumed_at;
    double* sorted = lab_take( count, sizeof( double ) );
    if ( count > 0 )
    {
        memcpy( sorted, b->pass_ms + b->resumed_at, count * sizeof( double ) );
        for ( uint64_t i = 0; i < count; ++i )
        {
            run->ms_mean += sorted[i] / (double)count;
        }
        run->ms_median = run_median( sorted, (size_t)count ); // which sorts
        run->ms_p99 = run_percentile( sorted, (size_t)count, 99 );
        run->ms_min = sorted[0];
        // A run that was resumed has one pass, and not all of it.
        run->ms_spread = b->resumed_at > 0 ? NAN
                                           : run_spread( b->pass_ms, b->world.frames.frame_count,
                                                 (size_t)j->o->repeat, run->ms_median, sorted );
    }
    else
    {
        run->ms_mean = run->ms_min = run->ms_median = run->ms_p99 = run->ms_spread = NAN;
    }
    free( sorted );
}

/// Over all processes, in the last frame.
typedef struct bench_sums
{
    uint64_t owning, ghosts, bytes_sent, pairs;
} bench_sums;

static void fill_result( bench* b, const job* j, const bench_sums* sums, run_result* run )
{
    const scene_header* header = &b->world.frames.header;
    const run_options options = { .frame_count = b->world.frames.frame_count };
    run_result_begin( run, j->methods.items, &options );
    run->is_opaque = false; // tests are counted, by process
    snprintf( run->scene, sizeof( run->scene ), "%s", header->name );
    snprintf( run->type, sizeof( run->type ), "%s", header->type );
    run->object_count = header->object_count;
    if ( b->resumed_at == 0 ) // else there are not as many as frames
    {
        run->frame_ms = b->frame_ms;
        b->frame_ms = NULL; // the result's now
    }
    run->pairs_last = sums->pairs;
    run->pairs_hash = b->hash;
    run->update_ms = run->search_ms = NAN; // stages are each process's own
    fill_times( b, j, run );
    json_value* list = json_array();
    double tests = 0, memory = 0;
    for ( int r = 0; r < j->process_count; ++r )
    {
        json_put( list, NULL, record_value( &b->records[r], r ) );
        tests += b->records[r].tests;
        memory += b->records[r].memory_bytes;
    }
    run->tests = (uint64_t)tests;
    run->memory_bytes = (size_t)memory;
    run->json = json_object();
    json_put_count( run->json, "processes", sums->owning );
    json_put_count( run->json, "ranks", (uint64_t)j->process_count );
    json_put_bool( run->json, "alone", j->o->is_alone );
    if ( b->resumed_at > 0 )
    {
        json_put_count( run->json, "resumed_at", b->resumed_at );
    }
    json_put_number( run->json, "imbalance", b->stats.imbalance );
    json_put_count( run->json, "ghosts", sums->ghosts );
    json_put_count( run->json, "bytes_sent", sums->bytes_sent );
    json_put_count( run->json, "cuts", b->cuts );
    json_put( run->json, "per_process", list );
}

static bool write_result( bench* b, job* j, run_output* output, const bench_sums* sums )
{
    run_results results = { 0 };
    fill_result( b, j, sums, run_results_add( &results ) );
    bool ok = run_output_write( output, &results, &j->why );
    if ( j->o->json == NULL || strcmp( j->o->json, "-" ) != 0 )
    {
        uint32_t objects = b->world.frames.header.object_count;
        printf( "%d process%s, %" PRIu64 " with boxes; imbalance %.1f %%, %" PRIu64
                " ghosts (%.1f %%), %" PRIu64 " bytes sent in the last frame\n",
            j->process_count, j->process_count == 1 ? "" : "es", sums->owning, b->stats.imbalance * 100,
            sums->ghosts, 100.0 * (double)sums->ghosts / (double)( objects > 0 ? objects : 1 ),
            sums->bytes_sent );
    }
    run_results_free( &results );
    return ok;
}

// A checkpoint of the last frame leaves nothing to time, and so nothing for a table or a file.
static void tell_all_done( const bench* b, const job* j )
{
    bool is_stdout_taken = j->o->json != NULL && strcmp( j->o->json, "-" ) == 0;
    fprintf( is_stdout_taken ? stderr : stdout,
        "%s: was saved after frame %" PRIu32 ", the last; nothing is left to time%s; hash 0x%016" PRIx64 "\n",
        j->o->resume, b->resumed_at, j->o->json != NULL ? " or to write" : "", b->hash );
}

static bool run_passes( bench* b, job* j, run_output* output )
{
    bool ok = open_bench( b, j );
    uint64_t passes = j->o->warmup + j->o->repeat;
    progress_begin( &b->bar, j->o->what, "frames", passes * b->world.frames.frame_count );
    for ( uint64_t pass = 0; ok && pass < passes; ++pass )
    {
        ok = do_pass( b, j, pass );
    }
    progress_end( &b->bar );
    if ( !ok )
    {
        return false;
    }
    if ( j->o->resume != NULL && b->resumed_at == b->world.frames.frame_count )
    {
        if ( j->rank == 0 )
        {
            tell_all_done( b, j );
        }
        return true;
    }
    gather_records( b );
    bench_sums sums = { job_sum( b->stats.own_count > 0 ), job_sum( b->stats.ghost_count ),
        job_sum( b->stats.bytes_sent ), job_sum( b->stats.pair_count ) };
    return job_agree( j, j->rank != 0 || write_result( b, j, output, &sums ) );
}

bool job_bench( job* j )
{
    run_output output = { .json = j->o->json };
    bench b = { .world = { .frames = { .box_type = MPI_DATATYPE_NULL } } };
    bool ok = job_agree( j, j->rank != 0 || run_output_open( &output, &j->why ) );
    ok = ok && run_passes( &b, j, &output );
    close_bench( &b );
    run_output_close( &output );
    return ok;
}
