// SPDX-License-Identifier: MIT
#include "lab/base/interrupt.h"

#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/measure/plugin.h"
#include "lab/query/query_bench.h"
#include "lab/result/output.h"
#include "lab/run/run_child.h"
#include "lab/run/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bench is a schedule of one part, written as flags.
typedef struct bench_flags
{
    schedule_part part;
    run_output output;
    bool isolate, quiet;
    ask_def ask;
} bench_flags;

static void keep_done( run_results* done, uint32_t total, void* user )
{
    bench_flags* flags = user;
    lab_error why;
    if ( done->count == 0 )
    {
        lab_fail( "interrupted before the first run was done: nothing is written" );
        return;
    }
    if ( !run_output_write( &flags->output, done, &why ) )
    {
        lab_error_print( &why );
    }
    fflush( stdout );
    lab_fail( "interrupted: %" PRIu32 " of %" PRIu32 " runs were done and are kept", done->count, total );
}

static bool measure( bench_flags* flags, const run_plan* plan, lab_error* why )
{
    journal none = { 0 };
    run_results results = { 0 };
    runner_report report;
    runner_options options = {
        .in_process = !flags->isolate,
        .is_live = flags->isolate && !flags->quiet,
        .is_quiet = flags->quiet,
        .on_stop = keep_done,
        .on_stop_user = flags,
    };
    bool good = run_output_open( &flags->output, why );
    if ( good )
    {
        good = runner_run( plan, &options, &none, &results, &report, why );
        // A scene that fails does not take along what was measured before it.
        lab_error unwritten;
        bool is_written = results.count == 0 || run_output_write( &flags->output, &results, &unwritten );
        *why = good && !is_written ? unwritten : *why;
        bool agree = results_check_agreement( &results );
        good = good && is_written &&
            ( ( agree && !results_have_failed( &results ) ) || lab_error_disagrees( why ) );
        stop_action_end();
    }
    run_output_close( &flags->output );
    run_results_free( &results );
    return good;
}

static bool check_flags( const bench_flags* flags, lab_error* why )
{
    if ( flags->part.terms.memory_limit_mib > 0 && !flags->isolate )
    {
        return lab_error_write( why, "bench: --memory-limit needs a process per run: add --isolate" );
    }
    return !flags->isolate || ( child_is_here() && results_have_json( why ) ) ||
        lab_error_write(
            why, "bench: --isolate: this system or build cannot give each run a process of its own" );
}

static bool run( void* data, text_list* operands, lab_error* why )
{
    bench_flags* flags = data;
    flags->part.scenes = *operands;
    *operands = ( text_list ){ 0 };
    progress_set_quiet( flags->quiet );
    if ( ask_is_wanted( &flags->ask ) )
    {
        flags->ask.json = flags->output.json;
        return ask_run( &flags->ask, why );
    }
    run_plan plan = { 0 };
    bool good =
        check_flags( flags, why ) && run_plan_add( &plan, &flags->part, why ) && measure( flags, &plan, why );
    run_plan_free( &plan );
    return good;
}

static const char* const notes =
    "WHAT is a .aabbs file, or scene[:N][:type][@from[+frames]] such as brownian-free:32k:assorted@150+60.\n"
    "Scenes are baked once and kept in $CLEAVE_CACHE (else $XDG_CACHE_HOME/cleave, else ~/.cache/cleave),\n"
    "CLEAVE_CACHE_LIMIT MiB at most. A METHOD is a name of `cleave methods`, or name@isa such as sap@avx2.\n"
    "Times are milliseconds per frame: handing over all boxes (--changed: those whose bits differ from\n"
    "the frame before, found outside the clock), updating, finding all pairs into one list.\n"
    "median, mean, min and p99 are over all timed frames of all passes. The median of\n"
    "every pass is within median ± spread; a single pass has no spread.\n"
    "update and search are medians of the stages, from an untimed pass; pairs and tests are those of the last\n"
    "frame; counters are means over the frames of the untimed pass. Runs over the same scene must agree on the\n"
    "hash, or exit 1. With --queries the last frame of each scene is asked Q questions drawn by seed, one by one\n"
    "and in one call, least of the passes, in ns per question; methods are cleave, brute, embree, bullet-dbvt,\n"
    "box2d (made for flat scenes), fcl and nanoflann (which knows centres only), and what differs from the first is\n"
    "counted. Ctrl-C and SIGTERM keep the runs that are done: table and files hold these, and exit 1.";

lab_status command_bench( int argc, char** argv )
{
    bench_flags flags = { .part = { .name = "bench", .terms = run_terms_default() } };
    flags.part.terms.time_limit_s = 0;
    flags.part.wish.must_run = true;
    flags.ask = ask_def_make( &flags.part, 100000 );
    const args_flag own[] = {
        ARGS_ROW_SWITCH( "--isolate", &flags.isolate, "each run in a process of its own, as `cleave run`" ),
        ARGS_ROW_SWITCH( "--counters", &flags.output.counters,
            "print what the methods count too: nodes, tests pruned by each stage, …" ),
        ASK_FLAGS( flags.ask, "time" ),
        ARGS_ROW_TEXT( "--answers", &flags.ask.answers, "FILE", "write every query and its answer as text" ),
        ARGS_ROW_TEXT(
            "--json", &flags.output.json, "OUT", "write the results as JSON; - is standard output" ),
        ARGS_ROW_TEXT( "--csv", &flags.output.csv, "OUT", "write them as CSV; - is standard output" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    args_flag list[SCHEDULE_FLAGS_MOST + sizeof( own ) / sizeof( own[0] )];
    uint32_t count = schedule_flags( &flags.part, 'b', list );
    memcpy( list + count, own, sizeof( own ) );
    bool given[sizeof( list ) / sizeof( list[0] )] = { false };
    const args_table table = {
        .command = "bench",
        .usage = "[WHAT…] [-n N,…] [-m METHOD,…] [flags]",
        .about = "Time methods on scenes and print a table. Without WHAT: brownian-free; without --isa\n"
                 "the best instruction set; without --frames all.",
        .notes = notes,
        .example = "  cleave bench brownian-free -n 1k,8k,32k -m brute,sap --repeat 5 --json results.json",
        .flags = list,
        .flag_count = count + sizeof( own ) / sizeof( own[0] ),
        .given = given,
        .operand_name = "a WHAT",
        .operand_most = 10000,
    };
    flags.ask.table = &table;
    lab_status status = args_run( &table, argc, argv, run, &flags );
    schedule_part_free( &flags.part );
    return status;
}

// ---- One run, for the process that started this one: `cleave run` does, and reads the answer from a pipe.
// Not in the help, yet `cleave worker --help` tells its flags.

typedef struct worker_flags
{
    schedule_part part;
    bool answers; ///< to the process that started this one, not to standard output
} worker_flags;

static bool answer( const worker_flags* flags, const run_result* result, lab_error* why )
{
    json_value* value = json_is_here( why ) ? results_run_json( result ) : NULL;
    char* text = value != NULL ? json_line( value ) : NULL;
    bool good = text != NULL && ( flags->answers ? child_write_answer( text ) : puts( text ) >= 0 );
    free( text );
    return good || lab_error_write( why, "worker: the answer cannot be written" );
}

static void name_limit( run_result* result, uint64_t limit_mib )
{
    size_t length = strlen( result->reason );
    if ( result->status == RUN_FAILED && limit_mib > 0 && strstr( result->reason, "memory" ) != NULL )
    {
        snprintf( result->reason + length, sizeof( result->reason ) - length,
            " (the limit is %" PRIu64 " MiB)", limit_mib );
    }
}

static bool work( const worker_flags* flags, const run_spec* spec, const char* text, lab_error* why )
{
    scene_spec scene;
    frame_source source = { 0 };
    run_result result = { 0 };
    const run_terms* terms = &flags->part.terms;
    const size_list* sizes = &flags->part.sizes;
    uint32_t body_count = sizes->count > 0 ? (uint32_t)sizes->items[sizes->count - 1] : SCENE_LIST_BODIES;
    uint32_t frames = terms->frame_count != ARGS_UNSET ? (uint32_t)terms->frame_count : 0;
    if ( !scene_spec_parse( text, &scene, why ) )
    {
        return false;
    }
    bool good = scene_spec_open( &scene, body_count, frames, terms->seed, &source, why );
    if ( good )
    {
        // After the scene is there: baking one needs memory of its own.
        child_limit_memory( terms->memory_limit_mib << 20, device_is_of( spec->row ) );
        run_options options = runner_terms( terms, source.header.frame_count );
        good = run_method( &source, spec, &options, &result, why );
        name_limit( &result, terms->memory_limit_mib );
    }
    good = good && answer( flags, &result, why );
    run_result_free( &result );
    frame_source_close( &source );
    scene_spec_free( &scene );
    return good;
}

static bool run_one( void* data, text_list* operands, lab_error* why )
{
    worker_flags* flags = data;
    progress_set_quiet( true );
    run_spec_list specs = { 0 };
    pin_wish pin;
    char reason[128] = PIN_FORM;
    run_wish wish = flags->part.wish;
    wish.fat = false; // the settings say it already
    bool good = run_spec_list_make( &specs, &wish, false, why );
    if ( good && specs.count != 1 )
    {
        good =
            lab_error_write( why, "worker: takes one method, one instruction set and one number of threads" );
    }
    if ( good )
    {
        specs.items[0].fat = flags->part.wish.fat;
        good = ( pin_parse( flags->part.terms.pin, &pin ) &&
                   pin_apply( &pin, specs.items[0].thread_count, reason, sizeof( reason ) ) ) ||
            lab_error_write( why, "pin %s: %s", flags->part.terms.pin, reason );
    }
    good = good && work( flags, &specs.items[0], operands->items[0], why );
    run_spec_list_free( &specs );
    return good;
}

lab_status command_worker( int argc, char** argv )
{
    worker_flags flags = { .part = { .terms = run_terms_default() } };
    const args_flag own[] = {
        ARGS_ROW_TEXTS( "--method", &flags.part.wish.names, "METHOD", "the method" ),
        ARGS_ROW_SWITCH(
            "--answer", &flags.answers, "the result goes to the parent, not to standard output" ),
    };
    args_flag list[SCHEDULE_FLAGS_MOST + sizeof( own ) / sizeof( own[0] )];
    uint32_t count = schedule_flags( &flags.part, 'w', list );
    memcpy( list + count, own, sizeof( own ) );
    const args_table table = {
        .command = "worker",
        .usage = "WHAT --method METHOD [flags]",
        .about = "One run in a process of its own, its result as a line of JSON; what `cleave run` starts.",
        .example = "  cleave worker brownian-free:8k --method kd --repeat 3",
        .flags = list,
        .flag_count = count + sizeof( own ) / sizeof( own[0] ),
        ARGS_ONE_OPERAND( "a WHAT" ),
    };
    lab_status status = args_run( &table, argc, argv, run_one, &flags );
    schedule_part_free( &flags.part );
    return status;
}
