// SPDX-License-Identifier: MIT
#include "lab/base/interrupt.h"
#include "lab/base/terminal.h"
#include "lab/command/ask_flags.h"
#include "lab/command/commands.h"
#include "lab/query/query_bench.h"
#include "lab/result/output.h"
#include "lab/run/run_child.h"
#include "lab/run/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Bench is a schedule of one part, written as flags.
typedef struct bench_flags
{
    schedule_part part;
    run_output output;
    bool isolate, quiet;
    ask_flags ask;
    const args_table* table;
    const char* answers;
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

static lab_status measure( bench_flags* flags, const run_plan* plan )
{
    lab_error why;
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
    lab_status status = LAB_DONE;
    bool good = run_output_open( &flags->output, &why );
    if ( good )
    {
        good = runner_run( plan, &options, &none, &results, &report, &why );
        // A scene that fails does not take along what was measured before it.
        lab_error unwritten;
        bool is_written = results.count == 0 || run_output_write( &flags->output, &results, &unwritten );
        why = good && !is_written ? unwritten : why;
        good = good && is_written;
        bool agree = results_check_agreement( &results );
        status = agree && !results_have_failed( &results ) ? LAB_DONE : LAB_DISAGREES;
        stop_action_end();
    }
    status = good ? status : lab_error_print( &why );
    run_output_close( &flags->output );
    run_results_free( &results );
    return status;
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

// Questions in place of pairs.
static lab_status ask( const bench_flags* flags )
{
    const schedule_part* part = &flags->part;
    if ( part->terms.switches.changed )
    {
        return lab_fail( "bench: --changed is for pairs; questions are put to one frame, handed over whole" );
    }
    query_bench_def def = {
        .scenes = &part->scenes,
        .sizes = &part->sizes,
        .families = &flags->ask.queries,
        .methods = &part->wish.names,
        .threads = &part->wish.threads,
        .isas = &part->wish.isas,
        .query_count = flags->ask.query_count,
        .pass_count = part->terms.repeat,
        .seed = part->terms.seed,
        .thread_time = part->terms.switches.thread_time,
        .json = flags->output.json,
        .answers = flags->answers,
    };
    return query_bench_run( &def );
}

static lab_status run( void* data, text_list* operands )
{
    bench_flags* flags = data;
    flags->part.scenes = *operands;
    *operands = ( text_list ){ 0 };
    progress_set_quiet( flags->quiet );
    lab_error why;
    lab_status status;
    if ( ask_flags_run_near( &flags->ask, flags->table, &flags->part, &flags->part.scenes, false, &status ) )
    {
        return status;
    }
    if ( flags->ask.queries.count > 0 )
    {
        return ask( flags );
    }
    run_plan plan = { 0 };
    bool good = check_flags( flags, &why ) && run_plan_add( &plan, &flags->part, &why );
    status = good ? measure( flags, &plan ) : lab_error_print( &why );
    run_plan_free( &plan );
    return status;
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
    flags.ask.near_cutoff = -1;
    flags.ask.query_count = QUERY_BENCH_COUNT;
    const args_flag own[] = {
        { "--isolate", 0, ARGS_SWITCH, &flags.isolate, NULL,
            "each run in a process of its own, as `cleave run`", 0, 0 },
        { "--counters", 0, ARGS_SWITCH, &flags.output.counters, NULL,
            "print what the methods count too: nodes, tests pruned by each stage, …", 0, 0 },
        ASK_FLAGS( &flags.ask, "time" ),
        { "--answers", 0, ARGS_TEXT, &flags.answers, "FILE", "write every query and its answer as text", 0,
            0 },
        { "--json", 0, ARGS_TEXT, &flags.output.json, "OUT",
            "write the results as JSON; - is standard output", 0, 0 },
        { "--csv", 0, ARGS_TEXT, &flags.output.csv, "OUT", "write them as CSV; - is standard output", 0, 0 },
        { "--quiet", 'q', ARGS_SWITCH, &flags.quiet, NULL, "no progress", 0, 0 },
    };
    args_flag list[SCHEDULE_FLAGS_MOST + sizeof( own ) / sizeof( own[0] )];
    uint32_t count = schedule_flags( &flags.part, 'b', list );
    memcpy( list + count, own, sizeof( own ) );
    bool given[sizeof( list ) / sizeof( list[0] )] = { false };
    const args_words words[] = { { "--queries", query_families }, { NULL, NULL } };
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
        .words = words,
        .operand_name = "a WHAT",
        .operand_most = 10000,
    };
    flags.table = &table;
    lab_status status = args_run( &table, argc, argv, run, &flags );
    text_list_free( &flags.ask.queries );
    schedule_part_free( &flags.part );
    return status;
}
