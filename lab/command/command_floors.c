// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/command/commands.h"
#include "lab/floors/floors.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct floors_flags
{
    const char* method;
    double share_percent;
    bool raise;
} floors_flags;

// How busy the machine was when the results were begun, per core. What rose on noise never sinks again.
#define LOAD_MOST 1.5

static bool was_quiet( const run_results* results, const char* path, lab_error* why )
{
    double load = json_as_number( json_get( results->machine, "load" ) );
    double cores = json_as_number( json_get( results->machine, "cores" ) );
    if ( !( load > LOAD_MOST * ( cores >= 1 ? cores : 1 ) ) )
    {
        return true;
    }
    return lab_error_write( why,
        "%s: the load was %.1f on %.0f cores; floors never sink again, so measure on a quiet machine to raise them",
        path, load, cores );
}

static lab_status raise_floors( const floors_flags* flags, const race* all, const run_results* results,
    const char* path, floor_file* floors )
{
    lab_error why;
    uint32_t raised = race_raise( all, results, flags->share_percent / 100, floors );
    if ( raised > 0 && !floor_file_write( path, floors, &why ) )
    {
        return lab_error_print( &why );
    }
    printf( "%s: %" PRIu32 " of %" PRIu32 " floors raised to %g %% of what was measured\n", path, raised,
        all->count, flags->share_percent );
    return LAB_DONE;
}

static lab_status fail_method( const char* path, const char* name, const run_results* results )
{
    text_guess guess = text_guess_begin( name );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        text_guess_try( &guess, results->items[index].method );
    }
    return lab_fail( "%s: holds no run of %s; %smeasure it beside others, or name another with --method",
        path, name, text_guess_say( &guess ) );
}

static lab_status judge(
    const floors_flags* flags, const text_list* paths, run_results* results, floor_file* floors )
{
    lab_error why;
    const char* path = paths->items[1];
    if ( !results_read_file( paths->items[0], results, &why ) ||
        !floor_file_read( path, flags->raise, floors, &why ) )
    {
        return lab_error_print( &why );
    }
    if ( flags->raise && !was_quiet( results, paths->items[0], &why ) )
    {
        return lab_error_print( &why );
    }
    race all;
    race_make( &all, results, flags->method, floors );
    if ( all.count == 0 )
    {
        race_free( &all );
        return fail_method( paths->items[0], flags->method, results );
    }
    race_print( &all, results, flags->method );
    lab_status status = flags->raise ? raise_floors( flags, &all, results, path, floors ) : LAB_DONE;
    status = status == LAB_DONE && race_is_bad( &all ) ? LAB_DISAGREES : status;
    race_free( &all );
    return status;
}

static lab_status run( void* flags, text_list* operands )
{
    run_results results = { 0 };
    floor_file floors = { 0 };
    lab_status status = judge( flags, operands, &results, &floors );
    floor_file_free( &floors );
    run_results_free( &results );
    return status;
}

lab_status command_floors( int argc, char** argv )
{
    floors_flags flags = { .method = "cleave", .share_percent = 60 };
    const args_flag list[] = {
        { "--method", 'm', ARGS_TEXT, &flags.method, "METHOD", "whose floors the file holds", 0, 0 },
        { "--raise", 0, ARGS_SWITCH, &flags.raise, NULL, "store what was measured where it is higher", 0, 0 },
        { "--share", 0, ARGS_NUMBER, &flags.share_percent, "PERCENT",
            "of the measured ratio a raised floor is (default 60)", 0, 100 },
    };
    const args_table table = {
        .command = "floors",
        .usage = "RESULTS.json FLOORS.csv [--raise] [--share PERCENT]",
        .about =
            "Compare a method with the fastest other one of each row, and that ratio with stored floors.",
        .notes =
            "A row is a part of the schedule, a scene, a type, a size and an instruction set. Exit 1 if a floor is\n"
            "undercut, the method failed, or another found other pairs. Others that are missing or gave up are\n"
            "named and are no failure. --raise writes the file, and never lowers a floor.",
        .example = "  cleave run speed --json speed.json\n"
                   "  cleave floors speed.json bench/floors.csv",
        ARGS_FLAGS( list ),
        .operand_name = "a RESULTS.json and a FLOORS.csv",
        .operand_least = 2,
        .operand_most = 2,
    };
    return args_run( &table, argc, argv, run, &flags );
}
