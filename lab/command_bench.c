// SPDX-License-Identifier: MIT
#include "lab/args.h"
#include "lab/commands.h"
#include "lab/frame_stats.h"
#include "lab/progress.h"
#include "lab/results.h"
#include "lab/scene_list.h"
#include "lab/text_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_flags
{
    run_wish wish;
    size_list sizes;
    uint64_t frame_count, warmup, repeat, seed;
    double time_limit_s;
    const char* json;
    const char* csv;
    bool sorted, events, thread_time, counters, quiet;
} bench_flags;

// ---- running

// Shares of static objects, frame by frame, outside every clock.
static bool measure_static( frame_source* source, uint32_t frame_count, double* shares, complaint* why )
{
    clv_aabb* before = frame_source_boxes( source, why );
    clv_aabb* after = before != NULL ? frame_source_boxes( source, why ) : NULL;
    bool good = after != NULL && frame_source_read( source, 0, before, why );
    for ( uint32_t frame = 1; good && frame <= frame_count; ++frame )
    {
        good = frame_source_read( source, frame, after, why );
        if ( good )
        {
            shares[frame - 1] = frame_static_share( before, after, source->header.object_count );
        }
        clv_aabb* swapped = before;
        before = after;
        after = swapped;
    }
    free( before );
    free( after );
    return good;
}

static bool bench_source( frame_source* source, uint32_t scene_index, const bench_flags* flags,
    const run_spec_list* specs, run_results* results, complaint* why )
{
    uint32_t available = source->header.frame_count;
    run_options options = {
        .frame_count = flags->frame_count != ARGS_UNSET && flags->frame_count < available
            ? (uint32_t)flags->frame_count
            : available,
        .warmup = (uint32_t)flags->warmup,
        .repeat = (uint32_t)flags->repeat,
        .sorted = flags->sorted,
        .events = flags->events,
        .thread_time = flags->thread_time,
        .time_limit_s = flags->time_limit_s,
    };
    double* shares = calloc( options.frame_count, sizeof( double ) );
    if ( shares == NULL )
    {
        return complaint_write( why, "bench: out of memory" );
    }
    bool good = measure_static( source, options.frame_count, shares, why );
    for ( uint32_t index = 0; good && index < specs->count; ++index )
    {
        run_result* result = run_results_add( results );
        good = run_method( source, &specs->items[index], &options, result, why );
        result->scene_index = scene_index;
        result->frame_static = malloc( options.frame_count * sizeof( double ) );
        if ( result->frame_static != NULL )
        {
            memcpy( result->frame_static, shares, options.frame_count * sizeof( double ) );
        }
    }
    free( shares );
    return good;
}

static bool bench_scenes( const scene_list* scenes, const bench_flags* flags, const run_spec_list* specs,
    run_results* results, complaint* why )
{
    bool good = true;
    uint32_t frames_wanted = flags->frame_count != ARGS_UNSET ? (uint32_t)flags->frame_count : 0;
    for ( uint32_t index = 0; good && index < scenes->count; ++index )
    {
        const scene_item* item = &scenes->items[index];
        frame_source source = { 0 };
        good = what_open( &item->what, item->body_count, frames_wanted, flags->seed, &source, why );
        good = good && bench_source( &source, index, flags, specs, results, why );
        frame_source_close( &source );
    }
    return good;
}

// ---- showing

static void add_ms( text_table* table, double ms )
{
    text_table_add( table, ms < 1 ? "%.4f" : ms < 100 ? "%.3f" : "%.1f", ms );
}

static double slowest_median( const run_results* results, uint32_t scene_index )
{
    double slowest = 0;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        bool counts = run->scene_index == scene_index && run->status == RUN_OK;
        slowest = counts && run->ms_median > slowest ? run->ms_median : slowest;
    }
    return slowest;
}

static void add_run( text_table* table, const run_result* run, double slowest )
{
    char text[TEXT_SIZE_ROOM];
    char hash[RESULTS_HASH_ROOM];
    bool is_cubes = strcmp( run->type, body_type_name( BODY_CUBES ) ) == 0;
    text_table_add( table, "%s%s%s", run->scene, is_cubes ? "" : " ", is_cubes ? "" : run->type );
    text_table_add( table, "%s", text_size( run->object_count, text ) );
    text_table_add( table, "%s", run->method );
    text_table_add( table, "%s", run->variant );
    text_table_add( table, "%" PRIu32, run->thread_count );
    if ( run->status != RUN_OK )
    {
        text_table_add( table, "%s", run_status_name( run->status ) );
        for ( int cell = 0; cell < 10; ++cell )
        {
            text_table_add( table, "-" );
        }
        return;
    }
    add_ms( table, run->ms_median );
    add_ms( table, run->ms_mean );
    add_ms( table, run->ms_min );
    add_ms( table, run->ms_p99 );
    add_ms( table, run->update_ms );
    add_ms( table, run->search_ms );
    text_table_add( table, "%" PRIu64, run->pairs_last );
    text_table_add( table, "%" PRIu64, run->tests );
    text_table_add( table, "%s", text_bytes( run->memory_bytes, text ) );
    text_table_add( table, "%s", results_hash( run->pairs_hash, hash ) );
    text_table_add( table, "%.1f", run->ms_median > 0 ? slowest / run->ms_median : 1.0 );
}

static void print_results( const run_results* results )
{
    text_table table;
    text_table_begin( &table,
        "scene|>objects|method|variant|>threads|>median ms|>mean|>min|>p99|>update|>search|"
        ">pairs|>tests|>memory|hash|>× slowest" );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        add_run( &table, run, slowest_median( results, run->scene_index ) );
    }
    text_table_print( &table, stdout );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( run->status != RUN_OK )
        {
            printf( "%s: %s@%s on %s objects of %s: %s\n", run_status_name( run->status ), run->method,
                run->variant, text_size( run->object_count, ( char[TEXT_SIZE_ROOM] ){ 0 } ), run->scene,
                run->reason );
        }
    }
}

// What did not happen is left out; the files have it all.
static void print_counters( const run_results* results )
{
    text_table table;
    text_table_begin( &table, "scene|>objects|method|variant|>threads|counter|>per frame" );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        for ( uint32_t counter = 0; run->status == RUN_OK && counter < run->counter_count; ++counter )
        {
            char text[TEXT_SIZE_ROOM];
            if ( run->counters[counter].value == 0 )
            {
                continue;
            }
            text_table_add( &table, "%s", run->scene );
            text_table_add( &table, "%s", text_size( run->object_count, text ) );
            text_table_add( &table, "%s", run->method );
            text_table_add( &table, "%s", run->variant );
            text_table_add( &table, "%" PRIu32, run->thread_count );
            text_table_add( &table, "%s", run->counters[counter].name );
            text_table_add( &table, "%.10g", run->counters[counter].value );
        }
    }
    printf( "\n" );
    text_table_print( &table, stdout );
}

// ---- judging

// The first good run of a scene is compared with all others of it. True if none differs.
static bool check_agreement( const run_results* results )
{
    bool agree = true;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        const run_result* first = NULL;
        for ( uint32_t other = 0; other < index && first == NULL; ++other )
        {
            const run_result* candidate = &results->items[other];
            bool is_like = candidate->scene_index == run->scene_index && !candidate->fat;
            first = is_like && candidate->status == RUN_OK ? candidate : NULL;
        }
        if ( run->status == RUN_OK && !run->fat && first != NULL && first->pairs_hash != run->pairs_hash )
        {
            complain( "bench: RESULTS DISAGREE on %s, %" PRIu32 " objects: %s@%s has hash 0x%016" PRIx64
                      ", %s@%s has 0x%016" PRIx64 "; `cleave verify` finds the pair",
                run->scene, run->object_count, first->method, first->variant, first->pairs_hash, run->method,
                run->variant, run->pairs_hash );
            agree = false;
        }
    }
    return agree;
}

static bool has_failed( const run_results* results )
{
    bool failed = false;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        failed = failed || results->items[index].status == RUN_FAILED;
    }
    return failed;
}

// ---- files

static bool is_stdout( const char* path )
{
    return path != NULL && strcmp( path, "-" ) == 0;
}

static bool open_output( output_file* file, const char* path, complaint* why )
{
    return path == NULL || is_stdout( path ) || output_file_open( file, path, why );
}

static bool write_output( output_file* file, const char* path, const char* text, complaint* why )
{
    if ( is_stdout( path ) )
    {
        fputs( text, stdout );
        return true;
    }
    return output_file_write( file, text, strlen( text ), why ) && output_file_commit( file, why );
}

static bool write_files( const bench_flags* flags, output_file* json, output_file* csv,
    const run_results* results, complaint* why )
{
    bool good = true;
    if ( flags->json != NULL )
    {
        char* text = results_json( results, why );
        good = text != NULL && write_output( json, flags->json, text, why );
        free( text );
    }
    if ( good && flags->csv != NULL )
    {
        char* text = results_csv( results );
        good = write_output( csv, flags->csv, text, why );
        free( text );
    }
    return good;
}

// ---- all together

static lab_status bench( const bench_flags* flags, const scene_list* scenes, const run_spec_list* specs )
{
    complaint why;
    output_file json = { 0 }, csv = { 0 };
    run_results results = { 0 };
    // Files are opened first: a wrong path shall not cost an hour of measuring.
    bool good = ( flags->json == NULL || results_have_json( &why ) ) &&
        open_output( &json, flags->json, &why ) && open_output( &csv, flags->csv, &why ) &&
        bench_scenes( scenes, flags, specs, &results, &why );
    lab_status status = LAB_DONE;
    if ( good )
    {
        if ( !is_stdout( flags->json ) && !is_stdout( flags->csv ) )
        {
            print_results( &results );
            if ( flags->counters )
            {
                print_counters( &results );
            }
            fflush( stdout );
        }
        bool agree = check_agreement( &results );
        status = agree && !has_failed( &results ) ? LAB_DONE : LAB_DISAGREES;
        good = write_files( flags, &json, &csv, &results, &why );
    }
    if ( !good )
    {
        status = complaint_print( &why );
    }
    output_file_abandon( &json );
    output_file_abandon( &csv );
    run_results_free( &results );
    return status;
}

static lab_status run( const bench_flags* flags, const text_list* whats )
{
    complaint why;
    scene_list scenes = { 0 };
    run_spec_list specs = { 0 };
    bool good = run_spec_list_make( &specs, &flags->wish, false, &why ) &&
        scene_list_make( &scenes, whats, &flags->sizes, &why );
    lab_status status = good ? bench( flags, &scenes, &specs ) : complaint_print( &why );
    scene_list_free( &scenes );
    run_spec_list_free( &specs );
    return status;
}

static const char* const notes =
    "WHAT is a .aabbs file, or scene[:N][:type][@from[+frames]] such as brownian-free:32k:assorted@150+60.\n"
    "Scenes are baked once and kept in $CLEAVE_CACHE (else $XDG_CACHE_HOME/cleave, else ~/.cache/cleave),\n"
    "CLEAVE_CACHE_LIMIT MiB at most. A METHOD is a name of `cleave methods`, or name@isa such as sap@avx2.\n"
    "Times are milliseconds per frame: handing over all boxes, updating, finding all pairs into one list.\n"
    "update and search are medians of the stages, from an untimed pass; pairs and tests are those of the last\n"
    "frame; counters are means over the frames of the untimed pass. Runs over the same scene must agree on the hash, or exit 1.";

lab_status command_bench( int argc, char** argv )
{
    bench_flags flags = { .frame_count = ARGS_UNSET, .warmup = 1, .repeat = 3, .seed = 1 };
    const args_flag list[] = {
        { "--objects", 'n', ARGS_SIZES, &flags.sizes, "N,…", "sizes of scenes that name none (default 8k)", 1,
            GENERATOR_BODIES_MOST },
        { "--methods", 'm', ARGS_TEXTS, &flags.wish.names, "METHOD,…", "methods to run (default every one)",
            0, 0 },
        { "--threads", 0, ARGS_SIZES, &flags.wish.threads, "T,…", "threads; methods without them run on 1", 1,
            CLV_MAX_WORKERS },
        { "--isa", 0, ARGS_TEXTS, &flags.wish.isas, "I,…",
            "scalar, sse2, avx2, avx512, neon or all (default the best)", 0, 0 },
        { "--frames", 0, ARGS_SIZE, &flags.frame_count, "F", "use the first F frames (default all)", 1,
            BAKE_FRAMES_MOST },
        { "--warmup", 0, ARGS_SIZE, &flags.warmup, "W", "untimed passes over the frames", 0, 1000 },
        { "--repeat", 0, ARGS_SIZE, &flags.repeat, "R", "timed passes, each from a fresh space", 1, 100000 },
        { "--set", 0, ARGS_TEXTS, &flags.wish.settings, "P=V,…", "parameters of methods, such as kd.leaf=256",
            0, 0 },
        { "--fat", 0, ARGS_SWITCH, &flags.wish.fat, NULL,
            "methods that keep grown boxes report what these say, unfiltered", 0, 0 },
        { "--sorted", 0, ARGS_SWITCH, &flags.sorted, NULL, "time a sorted list", 0, 0 },
        { "--events", 0, ARGS_SWITCH, &flags.events, NULL, "time begun and ended pairs too", 0, 0 },
        { "--thread-time", 0, ARGS_SWITCH, &flags.thread_time, NULL,
            "time the calling thread's processor, not the wall: for one thread on a busy machine", 0, 0 },
        { "--counters", 0, ARGS_SWITCH, &flags.counters, NULL,
            "print what the methods count too: nodes, tests pruned by each stage, …", 0, 0 },
        { "--time-limit", 0, ARGS_SECONDS, &flags.time_limit_s, "S",
            "end a run after S seconds (default 0: never)", 0, 1000000000 },
        { "--seed", 0, ARGS_SIZE, &flags.seed, "S", "seed of scenes", 0, UINT64_MAX },
        { "--json", 0, ARGS_TEXT, &flags.json, "OUT", "write the results as JSON; - is standard output", 0,
            0 },
        { "--csv", 0, ARGS_TEXT, &flags.csv, "OUT", "write them as CSV; - is standard output", 0, 0 },
        { "--quiet", 'q', ARGS_SWITCH, &flags.quiet, NULL, "no progress", 0, 0 },
    };
    const args_table table = {
        .command = "bench",
        .usage = "[WHAT…] [-n N,…] [-m METHOD,…] [flags]",
        .about = "Time methods on scenes and print a table. Without WHAT: brownian-free.",
        .notes = notes,
        .example = "  cleave bench brownian-free -n 1k,8k,32k -m brute,sap --repeat 5 --json results.json",
        .flags = list,
        .flag_count = sizeof( list ) / sizeof( list[0] ),
        .operand_name = "WHAT",
        .operand_most = 10000,
    };
    complaint why;
    text_list operands = { 0 };
    args_answer answer = args_read( &table, argc, argv, &operands, &why );
    progress_set_quiet( flags.quiet );
    lab_status status = answer == ARGS_OK ? run( &flags, &operands )
        : answer == ARGS_BAD              ? complaint_print( &why )
                                          : LAB_DONE;
    text_list_free( &operands );
    size_list_free( &flags.sizes );
    run_wish_free( &flags.wish );
    return status;
}
