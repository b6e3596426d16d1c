// SPDX-License-Identifier: MIT
#include "cleave/space.h"
#include "lab/base/args.h"
#include "lab/base/interrupt.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/frame/scene_list.h"
#include "lab/measure/judge.h"
#include "lab/measure/machine.h"
#include "lab/measure/timed_run.h"
#include "lab/query/query_bench.h"
#include "record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Without --frames: all frames of small scenes, or where another method judges; of others as many as so many
// box tests of brute force allow, at least 2.
#define ALL_FRAMES_MOST 8000
#define JUDGE_TESTS 2e10

// Per object: its pairs sorted and compared.
#define COMPARE_S 1e-7

typedef struct verify_flags
{
    schedule_part part; // its scenes are the operands
    bool quiet;
    const char* judge;  // a method; NULL: brute force
    const char* record; // file for the calls that lead to the first difference; NULL: none
    ask_def ask;
} verify_flags;

// A space that is fed the frames, and what became of it.
typedef struct contestant
{
    const run_spec* spec;
    clv_space* space;
    clv_id* ids;
    char reason[256];    // not empty: out of the contest
    uint64_t pair_count; // over all frames
    uint64_t order_hash; // of the last frame's list as it came

    // As of the last frame that all methods have done, for the table.
    uint64_t shown_pairs;
    char shown_reason[256];
} contestant;

typedef struct contest contest;

// What is known so far, for the end and for the stop action.
typedef struct verify_state
{
    const verify_flags* flags;
    text_table table;
    bool all_fine;
    bool is_recorded;     // the first difference is in the file
    const contest* arena; // under way; NULL between two scenes
} verify_state;

struct contest
{
    frame_source* source;
    uint32_t frame_count;
    uint32_t frames_shown; // done by all methods, the initial one too
    const char* label;
    bool events;
    const char* record; // NULL: none is wanted, or it is written already
    contestant judge;
    contestant* items;
    uint32_t count;
    clv_aabb* boxes;
    verdict_list expected, expected_before, begun, ended, found;
};

// ---- spaces

static bool enter( contestant* entrant, const contest* arena )
{
    uint32_t object_count = arena->source->header.object_count;
    clv_space_def def = clv_default_space_def();
    run_spec_apply( entrant->spec, &def );
    def.capacity = object_count;
    def.events = arena->events;
    def.logger = run_reason_logger( entrant->reason );
    clv_result result = clv_space_create( &def, &entrant->space );
    entrant->ids = lab_take( object_count, sizeof( clv_id ) );
    if ( result != CLV_OK && entrant->reason[0] == '\0' )
    {
        snprintf(
            entrant->reason, sizeof( entrant->reason ), "creating the space: %s", clv_result_text( result ) );
    }
    return result == CLV_OK;
}

static void leave( contestant* entrant )
{
    clv_space_destroy( entrant->space );
    free( entrant->ids );
    entrant->space = NULL;
    entrant->ids = NULL;
}

// Hands over a frame and updates. False with a reason.
static bool feed( contestant* entrant, const contest* arena, uint32_t frame )
{
    clv_result result = run_feed(
        entrant->space, entrant->ids, arena->boxes, arena->source->header.object_count, frame == 0 );
    if ( result != CLV_OK )
    {
        char text[200];
        snprintf( text, sizeof( text ), "%.199s",
            entrant->reason[0] != '\0' ? entrant->reason : clv_result_text( result ) );
        snprintf( entrant->reason, sizeof( entrant->reason ), "frame %" PRIu32 ": %s", frame, text );
    }
    return result == CLV_OK;
}

// ---- one frame

static void print_box( const contest* arena, uint32_t index )
{
    if ( index < arena->source->header.object_count )
    {
        verdict_print_box( index, arena->boxes[index] );
    }
}

// ---- the calls that lead to a difference, as a recording with the judge's answers

static clv_result feed_recorded(
    clv_space* space, const contest* arena, uint32_t last, clv_aabb* boxes, lab_error* why )
{
    uint32_t count = arena->source->header.object_count;
    clv_id* ids = lab_take( count, sizeof( clv_id ) );
    clv_result result = CLV_OK;
    for ( uint32_t frame = 0; frame <= last && result == CLV_OK; ++frame )
    {
        result = frame_source_read( arena->source, frame, boxes, why )
            ? run_feed( space, ids, boxes, count, frame == 0 )
            : CLV_FILE_FAILED;
    }
    free( ids );
    return result;
}

// To be played with the method that lost.
static void write_recording( const contestant* entrant, contest* arena, uint32_t frame )
{
    lab_error why = { .text = "" };
    clv_space_def def = clv_default_space_def();
    clv_recorder_def how = clv_default_recorder_def();
    clv_space* space = NULL;
    clv_recorder* recorder = NULL;
    clv_aabb* boxes = frame_source_boxes( arena->source );
    const char* settings = entrant->spec->settings;
    run_spec_apply( arena->judge.spec, &def );
    def.events = arena->events;
    how.path = arena->record;
    clv_result result = clv_space_create( &def, &space );
    result = result == CLV_OK ? clv_record_create_as( &how, space, entrant->spec->row->name,
                                    settings != NULL ? settings : "", &recorder )
                              : result;
    result = result == CLV_OK ? feed_recorded( space, arena, frame, boxes, &why ) : result;
    clv_result closed = clv_recorder_close( recorder );
    result = result == CLV_OK ? closed : result;
    clv_space_destroy( space );
    free( boxes );
    if ( result == CLV_OK )
    {
        printf( "  %s: the calls up to here; `cleave replay %s --shrink OUT` makes them fewer\n",
            arena->record, arena->record );
    }
    else
    {
        lab_note( "verify: --record %s: %s", arena->record,
            why.text[0] != '\0' ? why.text : clv_result_text( result ) );
    }
    arena->record = NULL;
}

static void lose(
    contestant* entrant, contest* arena, uint32_t frame, const char* list, verdict_difference difference )
{
    progress_clear_line();
    printf( "%s@%s: frame %" PRIu32 ": %spair %" PRIu32 "-%" PRIu32 " %s (%" PRIu64 " missing, %" PRIu64
            " extra, %" PRIu64 " duplicated in this frame)\n",
        entrant->spec->row->name, run_spec_variant( entrant->spec ), frame, list, difference.pair.a,
        difference.pair.b, verdict_fault_text( difference.fault ), difference.missing_count,
        difference.extra_count, difference.duplicate_count );
    print_box( arena, difference.pair.a );
    print_box( arena, difference.pair.b );
    if ( arena->record != NULL )
    {
        write_recording( entrant, arena, frame );
    }
    snprintf( entrant->reason, sizeof( entrant->reason ),
        "frame %" PRIu32 ": %spair %" PRIu32 "-%" PRIu32 " %s", frame, list, difference.pair.a,
        difference.pair.b, verdict_fault_text( difference.fault ) );
}

static bool check_list(
    contestant* entrant, contest* arena, uint32_t frame, const char* name, const verdict_list* expected )
{
    verdict_list_sort( &arena->found );
    verdict_difference difference =
        verdict_compare( expected, &arena->found, arena->source->header.object_count );
    if ( difference.fault != VERDICT_FINE )
    {
        lose( entrant, arena, frame, name, difference );
        return false;
    }
    return true;
}

static bool check_events( contestant* entrant, contest* arena, uint32_t frame )
{
    clv_event_view events = clv_space_events( entrant->space );
    verdict_list_set_ids( &arena->found, events.begun, events.begun_count );
    if ( !check_list( entrant, arena, frame, "begun ", &arena->begun ) )
    {
        return false;
    }
    verdict_list_set_ids( &arena->found, events.ended, events.ended_count );
    return check_list( entrant, arena, frame, "ended ", &arena->ended );
}

// Variants of a method promise the same order too. Held against the first of its kind still in the contest.
static void check_order( contest* arena, uint32_t index, uint32_t frame )
{
    contestant* entrant = &arena->items[index];
    for ( uint32_t other = 0; other < index; ++other )
    {
        const contestant* first = &arena->items[other];
        bool is_kin = first->spec->row == entrant->spec->row && first->reason[0] == '\0';
        if ( is_kin && first->order_hash != entrant->order_hash )
        {
            snprintf( entrant->reason, sizeof( entrant->reason ),
                "frame %" PRIu32 ": the same pairs as %s@%s in another order", frame, first->spec->row->name,
                run_spec_variant( first->spec ) );
            progress_clear_line();
            printf(
                "%s@%s: %s\n", entrant->spec->row->name, run_spec_variant( entrant->spec ), entrant->reason );
        }
        if ( is_kin )
        {
            return;
        }
    }
}

static void check_contestant( contest* arena, uint32_t index, uint32_t frame )
{
    contestant* entrant = &arena->items[index];
    if ( entrant->reason[0] != '\0' || !feed( entrant, arena, frame ) )
    {
        return;
    }
    clv_pair_view view = clv_space_pairs( entrant->space );
    entrant->pair_count += view.count;
    entrant->order_hash = frame_hash_order( view.pairs, view.count );
    verdict_list_set( &arena->found, view.pairs, view.count );
    if ( check_list( entrant, arena, frame, "", &arena->expected ) &&
        ( !arena->events || check_events( entrant, arena, frame ) ) )
    {
        check_order( arena, index, frame );
    }
}

// The judge's word on this frame: pairs, and what begun and ended.
static bool ask_judge( contest* arena, uint32_t frame, lab_error* why )
{
    if ( !feed( &arena->judge, arena, frame ) )
    {
        return lab_error_write( why, "verify: the judge failed: %s", arena->judge.reason );
    }
    if ( !judge_stands( arena->judge.spec, arena->boxes, arena->source->header.object_count, frame, why ) )
    {
        return false;
    }
    verdict_list swapped = arena->expected_before;
    arena->expected_before = arena->expected;
    arena->expected = swapped;
    clv_pair_view view = clv_space_pairs( arena->judge.space );
    verdict_list_set( &arena->expected, view.pairs, view.count );
    arena->judge.pair_count += view.count;
    verdict_list_sort( &arena->expected );
    if ( arena->events )
    {
        verdict_list_subtract( &arena->begun, &arena->expected, &arena->expected_before );
        verdict_list_subtract( &arena->ended, &arena->expected_before, &arena->expected );
    }
    return true;
}

// ---- one scene

// A frame is done: what may be said about it if the rest does not come.
static void show_frame( contest* arena )
{
    stop_action_hold();
    arena->frames_shown += 1;
    for ( uint32_t index = 0; index < arena->count; ++index )
    {
        contestant* entrant = &arena->items[index];
        entrant->shown_pairs = entrant->pair_count;
        memcpy( entrant->shown_reason, entrant->reason, sizeof( entrant->reason ) );
    }
    stop_action_resume();
}

static bool hold( contest* arena, lab_error* why )
{
    progress_bar bar;
    progress_begin(
        &bar, arena->label, "checks", ( (uint64_t)arena->frame_count + 1 ) * ( arena->count + 1 ) );
    uint64_t done = 0;
    bool good = true;
    for ( uint32_t frame = 0; good && frame <= arena->frame_count; ++frame )
    {
        good = frame_source_read( arena->source, frame, arena->boxes, why ) && ask_judge( arena, frame, why );
        progress_show( &bar, ++done );
        for ( uint32_t index = 0; good && index < arena->count; ++index )
        {
            check_contestant( arena, index, frame );
            progress_show( &bar, ++done );
        }
        if ( good )
        {
            show_frame( arena );
        }
    }
    progress_end( &bar );
    return good;
}

static void add_rows( verify_state* state, const contest* arena )
{
    text_table* table = &state->table;
    for ( uint32_t index = 0; index < arena->count; ++index )
    {
        const contestant* entrant = &arena->items[index];
        bool is_fine = entrant->shown_reason[0] == '\0';
        text_table_add_cells( table, "%s\t%s\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64, arena->label,
            entrant->spec->row->name, run_spec_variant( entrant->spec ), entrant->spec->thread_count,
            arena->frames_shown, entrant->shown_pairs );
        text_table_add( table, "%s%s", is_fine ? "\xE2\x9C\x93" : "\xE2\x9C\x97 ", entrant->shown_reason );
        text_table_style( table, is_fine ? TERMINAL_GOOD : TERMINAL_BAD );
        state->all_fine = state->all_fine && is_fine;
    }
}

static uint32_t choose_frames( const verify_flags* flags, const run_spec* judge, const scene_header* header )
{
    uint32_t available = header->frame_count;
    double tests = 0.5 * (double)header->object_count * (double)header->object_count;
    double affordable = JUDGE_TESTS / tests;
    if ( flags->part.terms.frame_count != ARGS_UNSET )
    {
        return flags->part.terms.frame_count < available ? (uint32_t)flags->part.terms.frame_count
                                                         : available;
    }
    if ( header->object_count <= ALL_FRAMES_MOST || affordable >= (double)available ||
        !judge_is_brute( judge ) )
    {
        return available;
    }
    uint32_t frames = affordable < 2 ? 2 : (uint32_t)affordable;
    return frames < available ? frames : available;
}

// Seconds: the judge and all methods over all frames, and each list sorted and held against the judge's.
static double estimate( const contest* arena, const run_spec_list* specs, const run_spec* judge )
{
    uint32_t object_count = arena->source->header.object_count;
    double frame_s = estimate_frame_s( judge, object_count );
    for ( uint32_t index = 0; index < specs->count; ++index )
    {
        frame_s += estimate_frame_s( &specs->items[index], object_count ) + COMPARE_S * (double)object_count;
    }
    return frame_s * ( (double)arena->frame_count + 1 );
}

// Every spec that can run here enters; the others get a line.
static bool fill( contest* arena, const run_spec_list* specs, const run_spec* judge, lab_error* why )
{
    arena->items = lab_take( specs->count, sizeof( contestant ) );
    arena->boxes = frame_source_boxes( arena->source );
    arena->judge.spec = judge;
    if ( !enter( &arena->judge, arena ) )
    {
        return lab_error_write( why, "verify: no judge: %s", arena->judge.reason );
    }
    for ( uint32_t index = 0; index < specs->count; ++index )
    {
        const run_spec* spec = &specs->items[index];
        char reason[512];
        if ( !run_spec_is_available( spec, reason, sizeof( reason ) ) )
        {
            printf( "skipped: %s@%s: %s\n", spec->row->name, run_spec_variant( spec ), reason );
            continue;
        }
        if ( spec->row == judge->row && !judge_is_brute( judge ) )
        {
            printf( "skipped: %s@%s: it is the judge\n", spec->row->name, run_spec_variant( spec ) );
            continue;
        }
        contestant* entrant = &arena->items[arena->count++];
        entrant->spec = spec;
        enter( entrant, arena );
    }
    return true;
}

static void empty( contest* arena )
{
    leave( &arena->judge );
    for ( uint32_t index = 0; index < arena->count; ++index )
    {
        leave( &arena->items[index] );
    }
    free( arena->items );
    free( arena->boxes );
    verdict_list_free( &arena->expected );
    verdict_list_free( &arena->expected_before );
    verdict_list_free( &arena->begun );
    verdict_list_free( &arena->ended );
    verdict_list_free( &arena->found );
}

// From the first frame to the rows of the table; the stop action may read it in between.
static bool hold_all( verify_state* state, contest* arena, lab_error* why )
{
    stop_action_hold();
    state->arena = arena;
    stop_action_resume();
    bool good = hold( arena, why );
    stop_action_hold();
    state->arena = NULL;
    if ( good )
    {
        add_rows( state, arena );
    }
    stop_action_resume();
    return good;
}

static void announce(
    const verify_flags* flags, const contest* arena, const run_spec_list* specs, const run_spec* judge )
{
    uint32_t available = arena->source->header.frame_count;
    bool chose_fewer = flags->part.terms.frame_count == ARGS_UNSET && arena->frame_count < available;
    printf( "%s: %" PRIu32 " runs judged by %s@%s, frames 0 to %" PRIu32 " of %" PRIu32 ", %s, roughly%s\n",
        arena->label, specs->count, judge->row->name, run_spec_variant( judge ), arena->frame_count,
        available, estimate_text( estimate( arena, specs, judge ) ).text,
        chose_fewer ? " (a brute judge is slow at this size; --frames sets more, --judge another)" : "" );
    fflush( stdout );
}

static bool verify_frames(
    verify_state* state, const char* label, frame_source* source, const run_spec_list* specs, lab_error* why )
{
    run_spec_list judge;
    if ( !judge_make( state->flags->judge, source->header.object_count, &judge, why ) )
    {
        run_spec_list_free( &judge );
        return false;
    }
    contest arena = { .source = source,
        .frame_count = choose_frames( state->flags, judge.items, &source->header ),
        .label = label,
        .events = state->flags->part.terms.switches.events,
        .record = state->is_recorded ? NULL : state->flags->record };
    announce( state->flags, &arena, specs, judge.items );
    bool good = fill( &arena, specs, judge.items, why ) && hold_all( state, &arena, why );
    state->is_recorded = state->is_recorded || arena.record == NULL;
    empty( &arena );
    run_spec_list_free( &judge );
    return good;
}

static bool verify_scene(
    verify_state* state, const scene_item* item, const run_spec_list* specs, lab_error* why )
{
    const verify_flags* flags = state->flags;
    frame_source source = { 0 };
    uint32_t frames_wanted =
        flags->part.terms.frame_count != ARGS_UNSET ? (uint32_t)flags->part.terms.frame_count : 0;
    if ( !scene_spec_open(
             &item->spec, item->body_count, frames_wanted, flags->part.terms.seed, &source, why ) )
    {
        return false;
    }
    bool good = verify_frames( state, item->label, &source, specs, why );
    frame_source_close( &source );
    return good;
}

// ---- all together

// The table and a sentence; the number of runs in it.
static uint32_t conclude( verify_state* state, const char* if_fine )
{
    uint32_t checks = state->table.cells.count / state->table.column_count - 1;
    if ( checks == 0 )
    {
        text_table_free( &state->table );
        return 0;
    }
    printf( "\n" );
    text_table_print( &state->table, stdout );
    const char* judge = state->flags->judge != NULL ? state->flags->judge : "brute";
    bool is_brute = strcmp( judge, "brute" ) == 0;
    printf( "\n" );
    terminal_print( state->all_fine ? TERMINAL_GOOD : TERMINAL_BAD, stdout, "%s",
        state->all_fine ? if_fine : "NOT ALL AGREE" );
    printf( ": %" PRIu32 " runs compared with %s, pair by pair%s%s.\n", checks,
        is_brute ? "brute force" : judge,
        state->flags->part.terms.switches.events ? ", with begun and ended pairs" : "",
        is_brute ? "" : "; in every frame it was compared with brute force on up to 8,000 boxes" );
    fflush( stdout );
    return checks;
}

static void tell_done( void* user )
{
    verify_state* state = user;
    if ( state->arena != NULL && state->arena->frames_shown > 0 )
    {
        add_rows( state, state->arena );
    }
    conclude( state, "All agree so far" );
    lab_fail( "interrupted: what stands in the table was compared, the rest was not" );
}

static bool verify(
    const verify_flags* flags, const scene_list* scenes, const run_spec_list* specs, lab_error* why )
{
    verify_state state = { .flags = flags, .all_fine = true };
    text_table_begin( &state.table, "scene|method|variant|>threads|>frames|>pairs|" );
    text_table_leave_out( &state.table, "frames|threads" );
    stop_action_begin( tell_done, &state );
    bool good = true;
    for ( uint32_t index = 0; good && index < scenes->count; ++index )
    {
        good = verify_scene( &state, &scenes->items[index], specs, why );
    }
    stop_action_hold();
    uint32_t checks = conclude( &state, good ? "All agree" : "All agree so far" );
    stop_action_end();
    if ( good && checks == 0 )
    {
        printf( "\nNothing was checked: no method chosen can run here.\n" );
    }
    return good && ( ( checks > 0 && state.all_fine ) || lab_error_disagrees( why ) );
}

static bool run( void* data, text_list* operands, lab_error* why )
{
    verify_flags* flags = data;
    flags->part.scenes = *operands;
    *operands = ( text_list ){ 0 };
    progress_set_quiet( flags->quiet );
    if ( ask_is_wanted( &flags->ask ) )
    {
        return ( flags->judge == NULL || flags->ask.near_cutoff >= 0 ||
                   lab_error_write(
                       why, "verify: --judge is for pairs; questions are held against brute force" ) ) &&
            ask_run( &flags->ask, why );
    }
    scene_list scenes = { 0 };
    run_spec_list specs = { 0 };
    bool good = run_spec_list_make( &specs, &flags->part.wish, true, why ) &&
        scene_list_make( &scenes, &flags->part.scenes, &flags->part.sizes, why ) &&
        verify( flags, &scenes, &specs, why );
    scene_list_free( &scenes );
    run_spec_list_free( &specs );
    return good;
}

lab_status command_verify( int argc, char** argv )
{
    verify_flags flags = { .part = { .terms = run_terms_default(), .wish.must_run = true } };
    flags.ask = ask_def_make( &flags.part, 2000 );
    flags.ask.verify = true;
    const args_flag own[] = {
        ASK_FLAGS( flags.ask, "compare" ),
        ARGS_ROW_TEXT( "--judge", &flags.judge, "METHOD",
            "the method that the others are compared with (default brute); cleave or sap where brute force takes minutes" ),
        ARGS_ROW_TEXT( "--record", &flags.record, "FILE",
            "where pairs differ, write the calls up to there as a recording for `cleave replay`" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    args_flag list[SCHEDULE_FLAGS_MOST + sizeof( own ) / sizeof( own[0] )];
    uint32_t count = schedule_flags( &flags.part, 'v', list );
    memcpy( list + count, own, sizeof( own ) );
    bool given[sizeof( list ) / sizeof( list[0] )] = { false };
    const args_table table = {
        .command = "verify",
        .usage = "[WHAT…] [-n N,…] [-m METHOD,…] [flags]",
        .about =
            "Compare every method's pairs, frame by frame, with those of brute force (brute@scalar to 16k objects,\n"
            "the best instruction set above). Where they differ: the first differing pair, both boxes, and exit\n"
            "status 1. Variants of a method must also give the same order. Another judge (--judge) is itself compared\n"
            "with brute force in every frame, on the 8,000 boxes nearest to one of them, and does not judge itself.\n"
            "Unless told otherwise: every method, every instruction set supported here, and with --events the pairs that\n"
            "begin and end; all frames to 8k objects, then fewer.",
        .notes =
            "WHAT and METHOD as in `cleave bench --help`. Ctrl-C and SIGTERM print the table of what was compared, and exit 1.",
        .example = "  cleave verify brownian-free:8k:assorted -m sap --frames 20",
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
