// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/measure/run_spec.h"
#include "lab/replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct replay_flags
{
    const char* method;
    const char* isa;
    const char* device;
    const char* shrink;
    const char* c;
    uint64_t threads;
    text_list settings;
    bool judge, quiet;
} replay_flags;

// The method asked for, or the recorded one with its settings.
static bool make_spec(
    const replay_flags* flags, const recording* source, run_spec_list* specs, lab_error* why )
{
    run_wish wish = { .device = flags->device, .must_run = true };
    bool is_own = flags->method == NULL || strcmp( flags->method, source->method ) == 0;
    text_list_add( &wish.names, flags->method != NULL ? flags->method : source->method );
    if ( flags->isa != NULL )
    {
        text_list_add( &wish.isas, flags->isa );
    }
    if ( flags->threads != ARGS_UNSET )
    {
        size_list_add( &wish.threads, flags->threads );
    }
    if ( is_own && source->settings[0] != '\0' )
    {
        text_list_add_split( &wish.settings, source->settings );
    }
    text_list_add_all( &wish.settings, &flags->settings );
    bool good = run_spec_list_make( specs, &wish, false, why );
    run_wish_free( &wish );
    return good;
}

static void print_pair( const replay_report* report )
{
    const clv_pair pair = report->pair.pair;
    printf( "  pair %" PRIu32 "-%" PRIu32 " %s (%" PRIu64 " missing, %" PRIu64 " extra, %" PRIu64
            " duplicated)\n",
        pair.a, pair.b, verdict_fault_text( report->pair.fault ), report->pair.missing_count,
        report->pair.extra_count, report->pair.duplicate_count );
    verdict_print_box( pair.a, report->boxes[0] );
    verdict_print_box( pair.b, report->boxes[1] );
}

// An answer that is not the recorded one: does brute force tell which pair it is?
static bool find_pair( const recording* source, replay_def def, replay_report* report, lab_error* why )
{
    replay_report judged;
    def.with_twin = true;
    if ( !replay_run( source, &def, &judged, why ) )
    {
        return false;
    }
    report->has_pair = judged.has_pair;
    report->pair = judged.pair;
    memcpy( report->boxes, judged.boxes, sizeof( judged.boxes ) );
    return true;
}

static bool print_report( const recording* source, const char* path, const run_spec* spec,
    const replay_def* def, replay_report* report, lab_error* why )
{
    if ( !report->differs )
    {
        printf( "%s: %" PRIu64 " calls on %s@%s, all answers %s%s\n", path, report->played, spec->row->name,
            run_spec_variant( spec ), def->with_answers ? "as recorded" : "those of brute force",
            def->with_answers && def->with_twin ? " and those of brute force" : "" );
        return true;
    }
    const recorded_call* call = &source->calls[report->call];
    if ( !report->has_pair && call->call.kind == SPACE_CALL_UPDATE &&
        !find_pair( source, *def, report, why ) )
    {
        return false;
    }
    printf( "%s: on %s@%s call %" PRIu64 ", %s, differs from %s: %s\n", path, spec->row->name,
        run_spec_variant( spec ), report->call, clv_record_kind( call->call.kind )->name,
        report->by_twin ? "brute force" : "the recording", report->what );
    if ( report->has_pair )
    {
        print_pair( report );
    }
    return lab_error_disagrees( why );
}

static uint64_t count_objects( const recording* source )
{
    uint64_t count = 0;
    for ( uint64_t i = 0; i < source->call_count; ++i )
    {
        bool is_new = clv_record_kind( source->calls[i].call.kind )->form == SPACE_ABOUT_NEW;
        count += is_new ? source->calls[i].call.count : 0;
    }
    return count;
}

// --shrink and --c: what is left, and where it went.
static bool write_outputs( const replay_flags* flags, const char* path, const recording* source,
    const clv_space_def* as, lab_error* why )
{
    recording numbered = { 0 };
    bool good = flags->shrink != NULL ? recording_shrink( source, as, &numbered, why )
                                      : recording_number_objects( source, UINT64_MAX, &numbered, why );
    if ( good && flags->shrink != NULL )
    {
        good = recording_write( &numbered, flags->shrink, why );
        if ( good )
        {
            printf( "%s: %" PRIu64 " calls and %" PRIu64 " boxes of %" PRIu64 " and %" PRIu64 "\n",
                flags->shrink, numbered.call_count, count_objects( &numbered ), source->call_count,
                count_objects( source ) );
        }
    }
    if ( good && flags->c != NULL )
    {
        good = recording_write_c( &numbered, path, flags->c, why );
        if ( good )
        {
            printf( "%s: a C program that fails while this is wrong\n", flags->c );
        }
    }
    recording_free( &numbered );
    return good;
}

// One way of playing it.
static bool replay_on( const replay_flags* flags, const char* path, const recording* source,
    const run_spec* spec, lab_error* why )
{
    replay_report report;
    replay_def def = { .as = clv_default_space_def(), .twin = replay_brute(), .shows_progress = true };
    run_spec_apply( spec, &def.as );
    // The order is promised for the default method, on any instruction set and number of workers.
    def.with_order = source->has_order && strcmp( spec->row->name, "cleave" ) == 0 &&
        strcmp( source->method, "cleave" ) == 0 && flags->settings.count == 0;
    def.with_answers = true;
    def.with_twin = flags->judge;
    return replay_run( source, &def, &report, why ) && print_report( source, path, spec, &def, &report, why );
}

// What is written is about the first way that differs, or the first of all.
static bool replay( const replay_flags* flags, const char* path, const recording* source, lab_error* why )
{
    run_spec_list specs = { 0 };
    bool same = true, good = make_spec( flags, source, &specs, why );
    uint32_t chosen = 0;
    for ( uint32_t i = 0; good && i < specs.count; ++i )
    {
        bool is_same = replay_on( flags, path, source, &specs.items[i], why );
        good = is_same || why->status == LAB_DISAGREES;
        chosen = same && !is_same ? i : chosen;
        same = same && is_same;
    }
    if ( good && ( flags->shrink != NULL || flags->c != NULL ) )
    {
        clv_space_def as = clv_default_space_def();
        run_spec_apply( &specs.items[chosen], &as );
        good = write_outputs( flags, path, source, &as, why );
    }
    run_spec_list_free( &specs );
    return good && ( same || lab_error_disagrees( why ) );
}

static bool run( void* data, text_list* operands, lab_error* why )
{
    const replay_flags* flags = data;
    const char* path = operands->items[0];
    recording source;
    progress_set_quiet( flags->quiet );
    if ( !recording_read( path, &source, why ) )
    {
        return false;
    }
    bool good = replay( flags, path, &source, why );
    if ( source.is_cut )
    {
        // Beside what else went wrong, whose status counts then.
        lab_error before = *why;
        lab_status status = good ? LAB_BAD_INPUT : lab_error_print( &before );
        good = lab_error_write( why,
            "%s: the file ends early, at byte %" PRIu64 "; the %" PRIu64 " calls before were played", path,
            source.cut_offset, source.call_count );
        why->status = status;
    }
    recording_free( &source );
    return good;
}

lab_status command_replay( int argc, char** argv )
{
    replay_flags flags = { .threads = ARGS_UNSET };
    const args_flag list[] = {
        ARGS_ROW_METHOD( &flags.method, "play it on this one (default the recorded one)" ),
        ARGS_ROW_TEXT( "--isa", &flags.isa, "I",
            "scalar, sse2, avx2, avx512, neon, or all of them in turn (default the best)" ),
        ARGS_ROW( "--threads", 't', ARGS_COUNT, &flags.threads, "T", "with so many workers (default 1)", 1,
            CLV_MAX_WORKERS ),
        ARGS_ROW_TEXT( "--device", &flags.device, "NAME|N", "on this device, for methods that run on one" ),
        ARGS_ROW_SETTINGS( &flags.settings, "parameters of the method, such as kd.leaf=256" ),
        ARGS_ROW_SWITCH( "--judge", &flags.judge, "compare each answer with brute force too" ),
        ARGS_ROW_TEXT( "--shrink", &flags.shrink, "OUT",
            "write the fewest calls and boxes that still differ from brute force" ),
        ARGS_ROW_TEXT(
            "--c", &flags.c, "OUT.c", "write it, shrunk if it is shrunk, as a C program that fails" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    const args_table table = {
        .command = "replay",
        .usage = "FILE [-m METHOD] [--isa I] [--threads T] [--device D] [--shrink OUT] [--c OUT.c]",
        .about =
            "Play a recording (cleave/record.h) and compare every answer with the recorded one. The first call that is\n"
            "answered otherwise is named, with the first wrong pair by brute force, and the exit status is 1. The order\n"
            "of pairs is compared for the default method, which promises it on every machine; for others their set.",
        .notes =
            "A file that is damaged is refused with the offset, exit status 2. One that ends early, as that of a program\n"
            "that crashed, is played up to there.",
        .example = "  cleave replay world.clvrec -m sap\n"
                   "  cleave replay world.clvrec --shrink small.clvrec --c small.c",
        ARGS_FLAGS( list ),
        ARGS_ONE_OPERAND( "a FILE" ),
    };
    return args_run( &table, argc, argv, run, &flags );
}
