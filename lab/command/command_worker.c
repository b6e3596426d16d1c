// SPDX-License-Identifier: MIT
// One run, for the process that started this one: `cleave run` does, and reads the answer from a pipe. Not in
// the help, yet `cleave worker --help` tells its flags.
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/measure/plugin.h"
#include "lab/run/run_child.h"
#include "lab/run/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool run( void* data, text_list* operands, lab_error* why )
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
    lab_status status = args_run( &table, argc, argv, run, &flags );
    schedule_part_free( &flags.part );
    return status;
}
