// SPDX-License-Identifier: MIT
// `cleave-mpi bench`: frames on many processes, timed, with what each of them did.
#include "lab/base/terminal.h"
#include "lab/measure/judge.h"
#include "lab/measure/plugin.h"
#include "lab/mpi_resume.h"
#include "lab/result/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// What one process did: times are means over the timed frames, counts those of the last frame.
typedef struct process_record
{
    double move_ms, update_ms, cut_ms, send_ms, wait_ms, search_ms, list_ms;
    double objects, ghosts, pairs, tests, bytes_sent, messages, neighbours, memory_bytes;
} process_record;

#define RECORD_NUMBERS ( (int)( sizeof( process_record ) / sizeof( double ) ) )

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
    b->frame_ms = calloc( frames, sizeof( double ) );
    b->pass_ms = calloc( frames * ( j->o->repeat + 1 ), sizeof( double ) );
    b->records = calloc( (size_t)j->process_count, sizeof( process_record ) );
    bool ok = b->frame_ms != NULL && b->pass_ms != NULL && b->records != NULL;
    return job_agree( j, ok || lab_error_write( &j->why, "process %d: out of memory", j->rank ) );
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
static bool hash_frame( bench* b, job* j, uint32_t frame, uint64_t* hash )
{
    clv_mpi_pair_view view = clv_mpi_space_pairs( b->world.space );
    if ( view.count > b->pair_capacity )
    {
        free( b->pairs );
        b->pair_capacity = view.count + view.count / 4;
        b->pairs = calloc( b->pair_capacity, sizeof( clv_pair ) );
    }
    bool ok = view.count == 0 || b->pairs != NULL;
    if ( !job_agree( j, ok || lab_error_write( &j->why, "process %d: out of memory for pairs", j->rank ) ) )
    {
        return false;
    }
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        b->pairs[i] = ( clv_pair ){ (uint32_t)view.pairs[i].a, (uint32_t)view.pairs[i].b };
    }
    *hash = job_sum( frame_hash_pairs( b->pairs, view.count, frame - 1 ) );
    return true;
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
    uint64_t part = 0;
    if ( !mpi_frames_read( &b->world.frames, j, frame ) || !mpi_world_step( &b->world, j, frame, &ms ) ||
        !hash_frame( b, j, frame, &part ) )
    {
        return false;
    }
    *hash += part;
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
    bool ok = j->o->resume != NULL ? mpi_resume_begin( &b->world, j, &b->resumed_at, &hash )
                                   : mpi_world_begin( &b->world, j ) && mpi_world_settle( &b->world, j );
    for ( uint32_t frame = b->resumed_at + 1; ok && frame <= b->world.frames.frame_count; ++frame )
    {
        ok = time_frame( b, j, pass, frame, &hash ) && mpi_resume_keep( &b->world, j, frame, hash );
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
    double* times[] = { &m->move_ms, &m->update_ms, &m->cut_ms, &m->send_ms, &m->wait_ms, &m->search_ms,
        &m->list_ms };
    for ( size_t i = 0; i < sizeof( times ) / sizeof( times[0] ); ++i )
    {
        *times[i] /= b->timed_frames > 0 ? (double)b->timed_frames : 1;
    }
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
    json_value* value = json_object();
    json_put_count( value, "rank", (uint64_t)rank );
    json_put_number( value, "move_ms", shown( r->move_ms ) );
    json_put_number( value, "update_ms", shown( r->update_ms ) );
    json_put_number( value, "cut_ms", shown( r->cut_ms ) );
    json_put_number( value, "send_ms", shown( r->send_ms ) );
    json_put_number( value, "wait_ms", shown( r->wait_ms ) );
    json_put_number( value, "search_ms", shown( r->search_ms ) );
    json_put_number( value, "list_ms", shown( r->list_ms ) );
    json_put_number( value, "objects", r->objects );
    json_put_number( value, "ghosts", r->ghosts );
    json_put_number( value, "pairs", r->pairs );
    json_put_number( value, "tests", r->tests );
    json_put_number( value, "bytes_sent", r->bytes_sent );
    json_put_number( value, "messages", r->messages );
    json_put_number( value, "neighbours", r->neighbours );
    json_put_number( value, "memory_bytes", r->memory_bytes );
    return value;
}

static void fill_times( const bench* b, const job* j, run_result* run )
{
    uint64_t count = (uint64_t)b->world.frames.frame_count * j->o->repeat - b->resumed_at;
    double* sorted = calloc( count + 1, sizeof( double ) );
    if ( sorted != NULL && count > 0 )
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
    snprintf( run->scene, sizeof( run->scene ), "%s", header->name );
    snprintf( run->type, sizeof( run->type ), "%s", header->type );
    run->object_count = header->object_count;
    run->frame_count = b->world.frames.frame_count;
    const run_spec* spec = j->methods.items;
    run->method = spec->row->name;
    run->variant = run_spec_variant( spec );
    run->settings = spec->settings;
    run->device = device_is_of( spec->row ) ? device_name_of( run->settings ) : NULL;
    run->thread_count = spec->thread_count;
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
