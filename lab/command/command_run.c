// SPDX-License-Identifier: MIT
#include "lab/base/interrupt.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/broadmark/broadmark.h"
#include "lab/command/commands.h"
#include "lab/compare/comparison.h"
#include "lab/frame/frame_source.h"
#include "lab/result/output.h"
#include "lab/run/run_child.h"
#include "lab/run/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the command line says in place of the schedule.
typedef struct run_flags
{
    schedule_part said;
    bool* given; ///< by flag
    uint64_t bake_threads;
    double budget_s, others_percent, others_wait_s;
    text_list only, scenes;
    text_list part_names, scene_names; ///< that the schedules have
    run_output output;
    broadmark_files broadmark; ///< settings among the operands
    const char* broadmark_folder;
    const char* against; ///< another build of the program
    const char* page;
    double bound_percent;
    bool resume, restart, in_process, dry_run, bake, list, show, quiet;
} run_flags;

// ---- the plan

// Is it a scene of that name, whatever its size, type and window?
static bool is_scene_named( const char* text, const char* name )
{
    size_t length = strlen( name );
    return strncmp( text, name, length ) == 0 && strchr( ":@", text[length] ) != NULL; // or at the end
}

// Keeps those that --scenes names.
static void choose_scenes( text_list* scenes, const text_list* names )
{
    text_list kept = { 0 };
    for ( uint32_t index = 0; index < scenes->count; ++index )
    {
        bool is_wanted = false;
        for ( uint32_t name = 0; name < names->count; ++name )
        {
            is_wanted = is_wanted || is_scene_named( scenes->items[index], names->items[name] );
        }
        if ( is_wanted )
        {
            text_list_add( &kept, scenes->items[index] );
        }
    }
    text_list_free( scenes );
    *scenes = kept;
}

static bool is_part_named( const char* text, const char* name )
{
    return strcmp( text, name ) == 0;
}

// Every name of --only or --scenes must be in one of the schedules, or a slip would cost
// the runs that were meant.
static bool check_named( const char* flag, const char* noun, const text_list* wanted, const text_list* known,
    bool ( *is_named )( const char* text, const char* name ), lab_error* why )
{
    for ( uint32_t index = 0; index < wanted->count; ++index )
    {
        bool is_known = false;
        text_guess guess = text_guess_begin( wanted->items[index] );
        for ( uint32_t other = 0; other < known->count; ++other )
        {
            text_guess_try( &guess, known->items[other] );
            is_known = is_known || is_named( known->items[other], wanted->items[index] );
        }
        if ( !is_known )
        {
            return lab_error_write( why,
                "run: %s: no %s of what is to be run is called '%.100s'; %s--dry-run lists the runs", flag,
                noun, wanted->items[index], text_guess_say( &guess ) );
        }
    }
    return true;
}

// A schedule, or Broadmark's settings as one.
static bool open_schedule( const char* name, run_flags* flags, schedule* wanted, lab_error* why )
{
    *wanted = ( schedule ){ 0 };
    return broadmark_is_settings( name ) ? broadmark_files_add( &flags->broadmark, name, wanted, why )
                                         : schedule_open( name, wanted, why );
}

// The bare name of a scene, without its size, type and window; a file as it is.
static void add_scene_name( text_list* names, const char* text )
{
    char* name = text_copy( text );
    size_t length = strcspn( name, ":@" );
    name[length] = '\0';
    text_list_add( names, generator_find( name ) != NULL ? name : text );
    free( name );
}

static bool add_schedule( run_plan* plan, const char* name, run_flags* flags, lab_error* why )
{
    schedule wanted;
    bool good = open_schedule( name, flags, &wanted, why );
    for ( uint32_t index = 0; good && index < wanted.part_count; ++index )
    {
        schedule_part* part = &wanted.parts[index];
        text_list_add( &flags->part_names, part->name );
        for ( uint32_t scene = 0; scene < part->scenes.count; ++scene )
        {
            add_scene_name( &flags->scene_names, part->scenes.items[scene] );
        }
        if ( flags->scenes.count > 0 )
        {
            choose_scenes( &part->scenes, &flags->scenes );
        }
        bool is_empty = flags->scenes.count > 0 && part->scenes.count == 0;
        bool is_wanted = flags->only.count == 0 || text_list_has( &flags->only, part->name );
        if ( is_wanted && !is_empty )
        {
            lab_error part_error;
            uint64_t frames = part->terms.frame_count, seed = part->terms.seed;
            schedule_part_replace( part, &flags->said, flags->given );
            bool is_other =
                flags->said.sizes.count > 0 || part->terms.frame_count != frames || part->terms.seed != seed;
            if ( is_other )
            {
                text_list_free( &part->known ); // other boxes have another hash
            }
            part->wish.must_run = flags->said.wish.names.count > 0;
            good = run_plan_add( plan, part, &part_error ) ||
                lab_error_write( why, "%s: part %s: %.800s", name, part->name, part_error.text );
        }
    }
    schedule_free( &wanted );
    return good;
}

static bool make_plan( run_plan* plan, const text_list* names, run_flags* flags, lab_error* why )
{
    plan->against = flags->against;
    bool good = true;
    for ( uint32_t index = 0; good && index < names->count; ++index )
    {
        good = add_schedule( plan, names->items[index], flags, why );
    }
    good = good && check_named( "--only", "part", &flags->only, &flags->part_names, is_part_named, why ) &&
        check_named( "--scenes", "scene", &flags->scenes, &flags->scene_names, is_scene_named, why );
    if ( good && plan->count == 0 )
    {
        return lab_error_write( why,
            "run: nothing to do; `cleave run SCHEDULE --dry-run` lists runs, --only takes names of parts" );
    }
    return good;
}

// ---- showing

static void list_schedules( void )
{
    for ( uint32_t index = 0; schedule_carried_name( index ) != NULL; ++index )
    {
        schedule plan;
        lab_error why;
        const char* name = schedule_carried_name( index );
        bool good = schedule_open( name, &plan, &why );
        printf( "%-12s%s\n", name, good ? plan.about : why.text );
        schedule_free( &plan );
    }
}

static bool show_schedules( const text_list* names, lab_error* why )
{
    bool good = true;
    for ( uint32_t wanted = 0; good && wanted < names->count; ++wanted )
    {
        const char* text = schedule_carried_text( names->items[wanted], why );
        good = text != NULL;
        fputs( good ? text : "", stdout );
    }
    return good;
}

// What the ladder rule would leave out, as far as the guesses go.
static double estimate_job( const run_job* job, const estimate_scene* scene, text_list* ladders )
{
    if ( text_list_has( ladders, job->ladder ) )
    {
        return 0;
    }
    double frame_s = estimate_frame_s( &job->spec, scene->object_count );
    if ( job->terms.ladder_s > 0 && frame_s > job->terms.ladder_s )
    {
        text_list_add( ladders, job->ladder );
    }
    return run_job_estimate_s( job, scene );
}

// Jobs over the same scene stand together, and it is baked once.
static void print_estimate( const run_plan* plan )
{
    double seconds = 0;
    uint64_t bytes = 0;
    text_list ladders = { 0 };
    estimate_scene scene = { 0 };
    for ( uint32_t index = 0; index < plan->count; ++index )
    {
        const run_job* job = &plan->items[index];
        if ( index == 0 || job->scene_index != job[-1].scene_index )
        {
            scene = run_job_scene( job );
            seconds += scene.bake_s;
            bytes += scene.bake_bytes;
        }
        seconds += estimate_job( job, &scene, &ladders );
    }
    text_list_free( &ladders );
    printf( "%" PRIu32 " runs, %s on one core, roughly", plan->count, estimate_text( seconds ).text );
    if ( bytes > 0 )
    {
        printf( ", %s of scenes to bake first", text_bytes( bytes ).text );
    }
    printf( "\n" );
}

static void print_plan( const run_plan* plan )
{
    for ( uint32_t index = 0; index < plan->count; ++index )
    {
        const run_job* job = &plan->items[index];
        for ( uint32_t part = 0; part < job->parts.count; ++part )
        {
            printf( "%s%s", part > 0 ? "," : "", job->parts.items[part] );
        }
        printf( ": %s\n", job->key );
    }
    print_estimate( plan );
}

static void print_summary(
    const run_results* results, const runner_report* report, bool agree, const known_report* known )
{
    lab_note( "%" PRIu32 " runs%s%s%s", results->count, agree ? ", all that can be compared agree" : "",
        report->left_out > 0 ? "; larger sizes of slow methods were left out" : "",
        report->kept > 0 ? "; some were kept from before" : "" );
    if ( known->count > 0 && known->other_count == 0 )
    {
        lab_note( "all %" PRIu32 " hashes are as known", known->count );
    }
}

// ---- running

static const char* journal_target( const run_output* output )
{
    bool has_json = output->json != NULL && strcmp( output->json, "-" ) != 0;
    bool has_csv = output->csv != NULL && strcmp( output->csv, "-" ) != 0;
    return has_json ? output->json : has_csv ? output->csv : NULL;
}

static bool open_journal( journal* log, const run_flags* flags, lab_error* why )
{
    const char* target = journal_target( &flags->output );
    if ( target == NULL )
    {
        return ( !flags->resume && !flags->restart ) ||
            lab_error_write( why, "run: --resume and --restart need the file of the results: --json OUT" );
    }
    if ( flags->resume && flags->restart )
    {
        return lab_error_write( why, "run: --resume goes on and --restart begins anew; give one" );
    }
    journal_way way = flags->resume ? JOURNAL_RESUME : flags->restart ? JOURNAL_RESTART : JOURNAL_NEW;
    return results_have_json( why ) && journal_open( log, target, way, why );
}

static char* stop_note( const journal* log )
{
    return log->path == NULL
        ? NULL
        : text_format( "cleave: interrupted; what is done stands in %s, and the same command with "
                       "--resume goes on\n",
              log->path );
}

// Tried now, so that a wrong path costs no hour, and closed again, so that kill -9 leaves
// nothing but the journal.
static bool can_write( run_flags* flags, lab_error* why )
{
    bool good = run_output_open( &flags->output, why ) && broadmark_files_check( &flags->broadmark, why );
    run_output_close( &flags->output );
    output_file page = { 0 };
    good = good && ( flags->page == NULL || output_file_open( &page, flags->page, why ) );
    output_file_abandon( &page );
    return good && ( flags->broadmark_folder == NULL || results_have_json( why ) );
}

static bool write_results( run_flags* flags, const run_results* results, lab_error* why )
{
    return run_output_open( &flags->output, why ) && run_output_write( &flags->output, results, why ) &&
        ( flags->broadmark_folder == NULL || broadmark_write_all( flags->broadmark_folder, results, why ) );
}

// The other build's runs out of the results, into a list of their own.
static void split_results( run_results* results, run_results* others )
{
    uint32_t kept = 0;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        if ( results->items[index].is_against )
        {
            *run_results_add( others ) = results->items[index];
            continue;
        }
        results->items[kept++] = results->items[index];
    }
    results->count = kept;
}

// Is this build as good as the other?
static bool compare_builds( const run_flags* flags, const run_results* others, const run_results* results )
{
    comparison all;
    comparison_make( &all, others, results, flags->bound_percent );
    printf( "\nA  %s\nB  this program, %s\n", flags->against, run_plan_program() );
    comparison_print( &all, false, flags->bound_percent );
    fflush( stdout );
    bool is_good = !comparison_is_bad( &all );
    comparison_free( &all );
    return is_good;
}

typedef struct run_stop
{
    run_flags* flags;
    const journal* log;
} run_stop;

// What is done stands in the journal too; the files hold what is whole, and --resume takes both.
static void keep_done( run_results* done, uint32_t total, void* user )
{
    const run_stop* stop = user;
    run_results others = { 0 };
    lab_error why;
    split_results( done, &others );
    uint32_t count = done->count + others.count;
    if ( done->count > 0 && !write_results( stop->flags, done, &why ) )
    {
        lab_error_print( &why );
    }
    fflush( stdout );
    if ( stop->log->path != NULL )
    {
        lab_fail(
            "interrupted: %" PRIu32 " of %" PRIu32
            " runs were done and are kept; %s has what was begun, the same command with --resume goes on",
            count, total, stop->log->path );
        return;
    }
    lab_fail(
        "interrupted: %" PRIu32 " of %" PRIu32 " runs were done; --json OUT would keep them", count, total );
}

// What the runs say about themselves: true if they agree, are as known, none failed, and this build is as
// good as the other.
static bool judge( run_flags* flags, const run_plan* plan, run_results* results, const runner_report* report,
    lab_error* why )
{
    run_results others = { 0 };
    bool agree = results_check_agreement( results );
    known_report known = results_check_known( results );
    split_results( results, &others );
    bool is_written = write_results( flags, results, why );
    bool is_good = flags->against == NULL || compare_builds( flags, &others, results );
    run_results_free( &others );
    is_good = is_good && agree && known.other_count == 0 && !results_have_failed( results );
    if ( report->undone > 0 )
    {
        lab_note( "the time is up with %" PRIu32 " of %" PRIu32
                  " runs left; the same command with --resume goes on",
            report->undone, plan->count );
    }
    if ( !flags->quiet )
    {
        print_summary( results, report, agree, &known );
    }
    return is_written && ( is_good || lab_error_disagrees( why ) );
}

static bool measure( run_flags* flags, const run_plan* plan, journal* log, lab_error* why )
{
    run_results results = { 0 };
    runner_report report = { 0 };
    run_stop stop = { flags, log };
    runner_options options = {
        .in_process = flags->in_process || !child_is_here() || !results_have_json( why ),
        .is_live = !flags->quiet,
        .is_quiet = flags->quiet,
        .page = flags->page,
        .whole_only = true,
        .budget_s = flags->budget_s,
        .others_most = flags->others_percent / 100,
        .others_wait_s = flags->others_wait_s,
        .on_stop = keep_done,
        .on_stop_user = &stop,
    };
    if ( options.in_process && !flags->in_process )
    {
        lab_note(
            "this system or build cannot give each run a process of its own: a crash or hang ends them all" );
    }
    bool good = runner_run( plan, &options, log, &results, &report, why );
    bool is_fine = good && judge( flags, plan, &results, &report, why );
    good = is_fine || ( good && why->status == LAB_DISAGREES );
    lab_error unwritten;
    if ( good && !broadmark_files_write( &flags->broadmark, &results, &unwritten ) )
    {
        *why = unwritten;
        why->status = LAB_DISAGREES;
        is_fine = false;
    }
    run_results_free( &results );
    journal_close( log, good && report.undone == 0 );
    stop_action_end();
    if ( is_fine && report.undone > 0 )
    {
        *why = ( lab_error ){ .status = LAB_UNFINISHED };
    }
    return is_fine && report.undone == 0;
}

// Every scene of the plan into the folder of baked scenes; windows of one run together.
static bool bake_scenes( const run_plan* plan, uint64_t threads, lab_error* why )
{
    bake_def* defs = lab_take( plan->count, sizeof( bake_def ) );
    uint32_t count = 0;
    for ( uint32_t index = 0; index < plan->count; ++index )
    {
        const run_job* job = &plan->items[index];
        bool is_new = index == 0 || job->scene_index != job[-1].scene_index;
        uint32_t frames = job->terms.frame_count != ARGS_UNSET ? (uint32_t)job->terms.frame_count : 0;
        if ( is_new && job->scene.spec.generator != NULL )
        {
            bake_def* def = &defs[count++];
            *def = scene_spec_bake_def( &job->scene.spec, job->scene.body_count, frames, job->terms.seed );
            def->scene.thread_count = threads != ARGS_UNSET ? (uint32_t)threads : def->scene.thread_count;
        }
    }
    bool good = bake_cache_fill( defs, count, why );
    free( defs );
    return good;
}

static bool check_against( const run_flags* flags, lab_error* why )
{
    if ( flags->against == NULL )
    {
        return true;
    }
    if ( flags->in_process || !child_is_here() )
    {
        return lab_error_write( why, "run: --against needs a process per run; leave --in-process out" );
    }
    return platform_look( flags->against ).kind == PLATFORM_FILE ||
        lab_error_write(
            why, "run: --against %s: no such file; name another build of cleave", flags->against );
}

static bool run( run_flags* flags, const text_list* names, lab_error* why )
{
    run_plan plan = { 0 };
    journal log = { 0 };
    bool good = check_against( flags, why ) && make_plan( &plan, names, flags, why );
    if ( good && flags->dry_run )
    {
        print_plan( &plan );
    }
    else if ( good && flags->bake )
    {
        good = bake_scenes( &plan, flags->bake_threads, why );
    }
    else if ( good )
    {
        good = can_write( flags, why ) && open_journal( &log, flags, why );
        char* note = good ? stop_note( &log ) : NULL;
        interrupt_set_note( note );
        good = good && measure( flags, &plan, &log, why );
        interrupt_set_note( NULL );
        free( note );
    }
    run_output_close( &flags->output );
    broadmark_files_free( &flags->broadmark );
    run_plan_free( &plan );
    return good;
}

// ---- flags

static const char* const notes =
    "SCHEDULE is a name of --list, or the path of a .schedule file (docs/lab.md tells how to write one),\n"
    "or Broadmark's settings, a .json file, whose results go where it says (same page).\n"
    "Each run has a process of its own: one that crashes, hangs or takes too much memory ends alone, with a\n"
    "reason, and the rest goes on. Flags replace what every part of the schedule says. Each run is written\n"
    "to OUT.journal once it is done; after Ctrl-C or a crash --resume goes on from there, and it keeps those of\n"
    "complete results that still hold. Runs over the same scene must agree on the hash, and none may fail, or exit 1.\n"
    "--budget does a long schedule in pieces: exit 3 tells that some is left.";

static bool run_or_list( void* data, text_list* operands, lab_error* why )
{
    run_flags* flags = data;
    progress_set_quiet( flags->quiet );
    if ( flags->list )
    {
        list_schedules();
        return true;
    }
    if ( operands->count == 0 )
    {
        return lab_error_write( why, "run: needs a SCHEDULE; `cleave run --list` names those there are" );
    }
    return flags->show ? show_schedules( operands, why ) : run( flags, operands, why );
}

lab_status command_run( int argc, char** argv )
{
    run_flags flags = { .said = { .terms = run_terms_default() },
        .bake_threads = ARGS_UNSET,
        .others_wait_s = 60,
        .bound_percent = 5 };
    const args_flag own[] = {
        ARGS_ROW_SWITCH( "--list", &flags.list, "name the schedules there are" ),
        ARGS_ROW_SWITCH( "--show", &flags.show, "print the schedule's text" ),
        ARGS_ROW_SWITCH( "--dry-run", &flags.dry_run, "name the runs and guess how long they take, do none" ),
        ARGS_ROW_SWITCH( "--bake", &flags.bake, "bake the scenes that are not there yet, do no run" ),
        ARGS_ROW_RANGE( "--bake-threads", ARGS_COUNT, &flags.bake_threads, "T",
            "threads of --bake; they change no byte (default as many as cores)", 1, CLV_MAX_WORKERS ),
        ARGS_ROW_TEXTS( "--only", &flags.only, "PART,…", "these parts alone" ),
        ARGS_ROW_TEXTS( "--scenes", &flags.scenes, "SCENE,…", "of the scenes they name, these alone" ),
        ARGS_ROW_TEXT(
            "--json", &flags.output.json, "OUT", "write the results as JSON; - is standard output" ),
        ARGS_ROW_TEXT( "--csv", &flags.output.csv, "OUT", "write them as CSV; - is standard output" ),
        ARGS_ROW_TEXT(
            "--page", &flags.page, "FILE", "the table as a page that renews itself while the runs go on" ),
        ARGS_ROW_TEXT(
            "--broadmark-out", &flags.broadmark_folder, "FOLDER", "write each run as Broadmark's results" ),
        ARGS_ROW_SWITCH( "--counters", &flags.output.counters, "print what the methods count too" ),
        ARGS_ROW_SWITCH( "--resume", &flags.resume, "keep what an earlier run to OUT has done" ),
        ARGS_ROW_SWITCH( "--restart", &flags.restart, "drop what an unfinished run to OUT has done" ),
        ARGS_ROW_RANGE( "--budget", ARGS_SECONDS, &flags.budget_s, "S",
            "end after S seconds with status 3; --resume goes on; 0: never", 0, 1000000000 ),
        ARGS_ROW_RANGE( "--others", ARGS_NUMBER, &flags.others_percent, "PERCENT",
            "before each scene wait while others use more of the processors; 0: do not look", 0, 100 ),
        ARGS_ROW_RANGE( "--others-wait", ARGS_SECONDS, &flags.others_wait_s, "S",
            "at most so long in all (default 60)", 0, 1000000000 ),
        ARGS_ROW_TEXT( "--against", &flags.against, "PROGRAM",
            "measure another build of cleave too, run by run in turn, and compare" ),
        ARGS_ROW_RANGE( "--bound", ARGS_NUMBER, &flags.bound_percent, "PERCENT",
            "slower than PROGRAM by more is a regression (default 5)", 0, 1000000 ),
        ARGS_ROW_SWITCH( "--in-process", &flags.in_process, "no process per run, for debuggers" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    args_flag list[SCHEDULE_FLAGS_MOST + sizeof( own ) / sizeof( own[0] )];
    bool given[sizeof( list ) / sizeof( list[0] )] = { false };
    uint32_t count = schedule_flags( &flags.said, 'b', list );
    memcpy( list + count, own, sizeof( own ) );
    flags.given = given;
    const args_table table = {
        .command = "run",
        .usage = "SCHEDULE… [--json OUT] [--csv OUT] [--resume] [flags]",
        .about = "Measure what a schedule asks for, each run in a process of its own, and print the table.",
        .notes = notes,
        .example = "  cleave run quick --json quick.json\n"
                   "  cleave run quick --rounds 5 --against ../before/build/cleave\n"
                   "  cleave run quick -m kd --sweep kd.leaf=32..4096 --csv leaf.csv",
        .flags = list,
        .flag_count = count + sizeof( own ) / sizeof( own[0] ),
        .given = given,
        .operand_name = "a SCHEDULE",
        .operand_most = 1000,
    };
    lab_status status = args_run( &table, argc, argv, run_or_list, &flags );
    schedule_part_free( &flags.said );
    text_list_free( &flags.part_names );
    text_list_free( &flags.scene_names );
    return status;
}
