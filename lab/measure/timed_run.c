// SPDX-License-Identifier: MIT
#include "lab/measure/timed_run.h"

#include "lab/measure/plugin.h"

#include "base/timer.h"
#include "cleave/space.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/measure/judge.h"
#include "space/instrument.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char* run_status_name( run_status status )
{
    static const char* const names[] = { "ok", "unavailable", "failed", "timeout" };
    return names[status];
}

const run_switch run_switch_list[RUN_SWITCH_COUNT] = {
    { "sorted", "sorted", offsetof( run_switches, sorted ) },
    { "events", "events", offsetof( run_switches, events ) },
    { "thread_time", "thread time", offsetof( run_switches, thread_time ) },
    { "changed", "changed", offsetof( run_switches, changed ) },
    { "spin", "spin", offsetof( run_switches, spin ) },
};

bool run_switch_is_on( const run_switches* all, uint32_t index )
{
    return *(const bool*)( (const char*)all + run_switch_list[index].offset );
}

bool run_switches_are_same( const run_switches* a, const run_switches* b )
{
    return memcmp( a, b, sizeof( run_switches ) ) == 0; // of bools alone: there are no gaps
}

bool run_is_like( const run_result* a, const run_result* b )
{
    return a->object_count == b->object_count && a->frame_count == b->frame_count &&
        run_switches_are_same( &a->switches, &b->switches ) && strcmp( a->scene, b->scene ) == 0 &&
        strcmp( a->type, b->type ) == 0;
}

// ---- statistics

int run_compare_doubles( const void* left, const void* right )
{
    double a = *(const double*)left;
    double b = *(const double*)right;
    return ( a > b ) - ( a < b );
}

double run_median( double* values, size_t count )
{
    qsort( values, count, sizeof( double ), run_compare_doubles );
    return 0.5 * ( values[( count - 1 ) / 2] + values[count / 2] );
}

double run_percentile( double* values, size_t count, double percent )
{
    qsort( values, count, sizeof( double ), run_compare_doubles );
    double rank = percent / 100 * (double)count;
    size_t index = (size_t)rank;
    index = (double)index < rank ? index : index > 0 ? index - 1 : 0;
    return values[index < count ? index : count - 1];
}

// Of a copy, since sorting takes the order away.
static double median_of( const double* values, size_t count, double* scratch )
{
    memcpy( scratch, values, count * sizeof( double ) );
    return run_median( scratch, count );
}

double run_spread(
    const double* pass_ms, size_t frame_count, size_t pass_count, double median, double* scratch )
{
    double most = 0;
    for ( size_t pass = 0; pass < pass_count && frame_count > 0; ++pass )
    {
        double distance = fabs( median_of( pass_ms + pass * frame_count, frame_count, scratch ) - median );
        most = distance > most ? distance : most;
    }
    return pass_count > 1 && frame_count > 0 ? most : NAN;
}

bool run_result_summarise( run_result* result )
{
    size_t frames = result->frame_count;
    size_t samples = frames * result->pass_count;
    double* scratch = malloc( samples * sizeof( double ) );
    if ( scratch == NULL )
    {
        return false;
    }
    double sum = 0;
    for ( size_t index = 0; index < samples; ++index )
    {
        double ms = result->pass_ms[index];
        double* least = &result->frame_ms[index % frames];
        *least = index < frames || ms < *least ? ms : *least;
        sum += ms;
    }
    result->ms_mean = sum / (double)samples;
    result->ms_median = median_of( result->pass_ms, samples, scratch );
    result->ms_min = scratch[0]; // sorted by now
    result->ms_p99 = run_percentile( scratch, samples, 99 );
    result->ms_spread = run_spread( result->pass_ms, frames, result->pass_count, result->ms_median, scratch );
    if ( !result->is_opaque )
    {
        result->update_ms = median_of( result->frame_update_ms, frames, scratch );
        result->search_ms = median_of( result->frame_search_ms, frames, scratch );
    }
    free( scratch );
    return true;
}

// ---- reasons

static void keep_error( clv_log_level level, const char* line, void* user )
{
    // What a driver said comes first, and tells more than the space's own sentence after it.
    char* reason = user;
    bool is_told = reason[0] != '\0' && strstr( line, clv_result_text( CLV_DEVICE_FAILED ) ) != NULL;
    if ( level == CLV_LOG_ERROR && !is_told )
    {
        snprintf( reason, 256, "%s", line );
    }
}

clv_logger run_reason_logger( char reason[256] )
{
    clv_logger logger = { keep_error, reason };
    return logger;
}

clv_result run_feed( clv_space* space, clv_id* ids, const clv_aabb* boxes, uint32_t count, bool is_first )
{
    clv_result result =
        is_first ? clv_space_add( space, boxes, count, ids ) : clv_space_move( space, ids, boxes, count );
    return result == CLV_OK ? clv_space_update( space ) : result;
}

// ---- a run

// Everything a run holds while it lasts.
typedef struct run_state
{
    frame_source* source;
    const run_spec* spec;
    const run_options* options;
    run_result* result;
    progress_bar bar;
    uint64_t begin_ns;
    uint64_t frames_done;
    uint64_t passes_done;

    clv_space* space;
    clv_aabb* boxes;
    clv_id* ids;
    size_t sample_count; // timed frames so far

    // Only with switches.changed, else NULL.
    clv_aabb* boxes_before;
    clv_aabb* changed_boxes;
    clv_id* changed_ids;
    uint64_t changed_sum; // over the frames of the pass
} run_state;

static bool take_memory( run_state* run )
{
    uint32_t objects = run->source->header.object_count;
    size_t frames = run->options->frame_count;
    run->boxes = calloc( objects, sizeof( clv_aabb ) );
    run->ids = calloc( objects, sizeof( clv_id ) );
    bool changed = run->options->switches.changed;
    run->boxes_before = changed ? calloc( objects, sizeof( clv_aabb ) ) : NULL;
    run->changed_boxes = changed ? calloc( objects, sizeof( clv_aabb ) ) : NULL;
    run->changed_ids = changed ? calloc( objects, sizeof( clv_id ) ) : NULL;
    bool has_changed = run->boxes_before != NULL && run->changed_boxes != NULL && run->changed_ids != NULL;
    run_result* result = run->result;
    result->pass_ms = calloc( frames * run->options->repeat, sizeof( double ) );
    result->frame_update_ms = calloc( frames, sizeof( double ) );
    result->frame_search_ms = calloc( frames, sizeof( double ) );
    result->frame_clean_ms = calloc( frames, sizeof( double ) );
    result->frame_ms = calloc( frames, sizeof( double ) );
    return run->boxes != NULL && run->ids != NULL && has_changed == changed && result->pass_ms != NULL &&
        result->frame_update_ms != NULL && result->frame_search_ms != NULL &&
        result->frame_clean_ms != NULL && result->frame_ms != NULL;
}

static void give_memory( run_state* run )
{
    clv_space_destroy( run->space );
    free( run->boxes );
    free( run->ids );
    free( run->boxes_before );
    free( run->changed_boxes );
    free( run->changed_ids );
}

static void fail( run_state* run, run_status status, const char* action, clv_result result )
{
    run->result->status = status;
    if ( run->result->reason[0] == '\0' )
    {
        snprintf(
            run->result->reason, sizeof( run->result->reason ), "%s: %s", action, clv_result_text( result ) );
    }
}

// A new space with frame 0 in it. False, with the result's status set, if it could not be had.
static bool start_space( run_state* run, bool stage_times )
{
    clv_space_destroy( run->space );
    run->space = NULL;
    clv_space_def def = clv_default_space_def();
    run_spec_apply( run->spec, &def );
    def.capacity = run->source->header.object_count;
    def.sorted = run->options->switches.sorted;
    def.worker_spin_ms = run->options->switches.spin ? RUN_SPIN_MS : 0;
    def.events = run->options->switches.events;
    def.stage_times = stage_times;
    def.logger = run_reason_logger( run->result->reason );
    clv_result result = clv_space_create( &def, &run->space );
    if ( result != CLV_OK )
    {
        fail( run, result == CLV_UNSUPPORTED ? RUN_UNAVAILABLE : RUN_FAILED, "creating the space", result );
        return false;
    }
    result = clv_space_add( run->space, run->boxes, run->source->header.object_count, run->ids );
    if ( result != CLV_OK )
    {
        fail( run, RUN_FAILED, "adding the boxes of frame 0", result );
        return false;
    }
    return true;
}

static uint64_t clock_ns( const run_state* run )
{
    return run->options->switches.thread_time ? platform_thread_time_ns() : clv_base_clock_ns();
}

// What a frame hands over.
typedef struct moved_boxes
{
    const clv_id* ids;
    const clv_aabb* boxes;
    uint32_t count;
} moved_boxes;

// All boxes, or those that differ by a bit from the frame before, with ascending ids. Outside the clock: an
// engine knows which of its bodies sleep.
static moved_boxes choose_boxes( run_state* run )
{
    uint32_t count = run->source->header.object_count;
    if ( !run->options->switches.changed )
    {
        return ( moved_boxes ){ run->ids, run->boxes, count };
    }
    uint32_t changed = 0;
    for ( uint32_t index = 0; index < count; ++index )
    {
        if ( memcmp( &run->boxes[index], &run->boxes_before[index], sizeof( clv_aabb ) ) != 0 )
        {
            run->changed_ids[changed] = run->ids[index];
            run->changed_boxes[changed++] = run->boxes[index];
        }
    }
    memcpy( run->boxes_before, run->boxes, count * sizeof( clv_aabb ) );
    run->changed_sum += changed;
    return ( moved_boxes ){ run->changed_ids, run->changed_boxes, changed };
}

// The frame as a user pays it. Returns its milliseconds, or less than 0 with the result's status set.
static double time_frame( run_state* run, clv_pair_view* view )
{
    const char* action = "moving the boxes";
    moved_boxes moved = choose_boxes( run );
    uint64_t begin = clock_ns( run );
    clv_result result = clv_space_move( run->space, moved.ids, moved.boxes, moved.count );
    if ( result == CLV_OK )
    {
        action = "updating";
        result = clv_space_update( run->space );
        *view = clv_space_pairs( run->space );
    }
    uint64_t end = clock_ns( run );
    if ( result != CLV_OK )
    {
        fail( run, RUN_FAILED, action, result );
        return -1;
    }
    return (double)( end - begin ) / 1e6;
}

static bool is_over_time( run_state* run, uint32_t frame )
{
    double limit = run->options->time_limit_s;
    double elapsed = (double)( clv_base_clock_ns() - run->begin_ns ) / 1e9;
    if ( limit <= 0 || elapsed <= limit )
    {
        return false;
    }
    run->result->status = RUN_TIMEOUT;
    snprintf( run->result->reason, sizeof( run->result->reason ),
        "over %g s in frame %" PRIu32 " of pass %" PRIu64, limit, frame, run->passes_done + 1 );
    return true;
}

typedef enum pass_kind
{
    PASS_STAGES,
    PASS_WARMUP,
    PASS_TIMED,
} pass_kind;

// Adds the method's figures to the sums; a method without any keeps none. The number of
// figures is the same every time.
static void add_counters( run_state* run )
{
    run_result* result = run->result;
    uint32_t count = clv_space_report( run->space, NULL, 0 );
    if ( count == 0 )
    {
        return;
    }
    clv_method_figure* figures = lab_take( count, sizeof( clv_method_figure ) );
    clv_space_report( run->space, figures, count );
    for ( uint32_t index = 0; index < count && result->counters != NULL; ++index )
    {
        figures[index].value += result->counters[index].value;
    }
    free( result->counters );
    result->counters = figures;
    result->counter_count = count;
}

static void average_counters( run_result* result )
{
    for ( uint32_t index = 0; index < result->counter_count; ++index )
    {
        result->counters[index].value /= result->frame_count;
    }
}

// A method whose device failed and that went on without it ran on the processor, whatever was chosen.
static void tell_fallback( run_result* result )
{
    for ( uint32_t index = 0; index < result->counter_count; ++index )
    {
        bool is_fallback = strcmp( result->counters[index].name, "gpu.fallback" ) == 0;
        if ( is_fallback && result->counters[index].value > 0 )
        {
            result->device = "CPU, by gpu.fallback";
        }
    }
}

static void keep_frame( run_state* run, pass_kind kind, uint32_t frame, double ms )
{
    uint32_t index = frame - 1;
    if ( kind == PASS_STAGES )
    {
        clv_stats stats = clv_space_stats( run->space );
        run->result->frame_update_ms[index] = stats.update_ms + stats.clean_ms;
        run->result->frame_clean_ms[index] = stats.clean_ms;
        run->result->frame_search_ms[index] = stats.search_ms;
        add_counters( run );
    }
    else if ( kind == PASS_TIMED )
    {
        run->result->pass_ms[run->sample_count++] = ms;
    }
}

// Passes must agree with each other before methods can with methods.
static void check_hash( run_state* run, uint64_t hash )
{
    if ( run->passes_done > 0 && hash != run->result->pairs_hash )
    {
        run->result->status = RUN_FAILED;
        snprintf( run->result->reason, sizeof( run->result->reason ),
            "pass %" PRIu64 " found other pairs than the first: hash 0x%016" PRIx64 " against 0x%016" PRIx64,
            run->passes_done + 1, hash, run->result->pairs_hash );
    }
    run->result->pairs_hash = hash;
}

// One pass over the frames. False only if the scene could not be read; otherwise the result's status tells.
static bool run_pass( run_state* run, pass_kind kind, lab_error* why )
{
    if ( !frame_source_read( run->source, 0, run->boxes, why ) )
    {
        return false;
    }
    if ( !start_space( run, kind == PASS_STAGES ) )
    {
        return true;
    }
    run->changed_sum = 0;
    if ( run->boxes_before != NULL )
    {
        memcpy( run->boxes_before, run->boxes, run->source->header.object_count * sizeof( clv_aabb ) );
    }
    uint64_t hash = 0;
    for ( uint32_t frame = 1; frame <= run->options->frame_count; ++frame )
    {
        if ( !frame_source_read( run->source, frame, run->boxes, why ) )
        {
            return false;
        }
        clv_pair_view view = { 0 };
        double ms = time_frame( run, &view );
        if ( ms < 0 || is_over_time( run, frame ) )
        {
            return true;
        }
        keep_frame( run, kind, frame, ms );
        hash += frame_hash_pairs( view.pairs, view.count, frame - 1 );
        run->result->pairs_last = view.count;
        progress_show( &run->bar, ++run->frames_done );
    }
    check_hash( run, hash );
    run->passes_done += 1;
    return true;
}

static void summarise( run_state* run )
{
    run_result* result = run->result;
    clv_stats stats = clv_space_stats( run->space );
    result->tests = stats.test_count;
    result->memory_bytes = stats.memory_peak_bytes;
    result->pass_count = run->options->repeat;
    result->changed_share =
        (double)run->changed_sum / ( (double)result->frame_count * (double)result->object_count );
    average_counters( result );
    tell_fallback( result );
    if ( !run_result_summarise( result ) )
    {
        fail( run, RUN_FAILED, "summing up the times", CLV_OUT_OF_MEMORY );
    }
}

static bool run_passes( run_state* run, lab_error* why )
{
    uint32_t untimed = run->options->warmup > 0 ? run->options->warmup : 1;
    uint64_t passes = (uint64_t)untimed + run->options->repeat;
    char label[64];
    snprintf( label, sizeof( label ), "%.24s, %s@%s", run->result->scene, run->result->method,
        run->result->variant );
    progress_begin( &run->bar, label, "frames", passes * run->options->frame_count );
    bool good = true;
    for ( uint64_t pass = 0; good && run->result->status == RUN_OK && pass < passes; ++pass )
    {
        good = run_pass( run, pass == 0 ? PASS_STAGES : pass < untimed ? PASS_WARMUP : PASS_TIMED, why );
    }
    progress_end( &run->bar );
    return good;
}

void run_result_begin( run_result* result, const run_spec* spec, const run_options* options )
{
    *result = ( run_result ){ 0 };
    result->frame_count = options->frame_count;
    result->method = spec->row->name;
    result->variant = run_spec_variant( spec );
    result->settings = spec->settings;
    result->device = device_is_of( spec->row ) ? device_name_of( spec->settings ) : NULL;
    result->is_opaque = spec->row->is_opaque;
    result->fat = spec->fat;
    result->switches = options->switches;
    result->thread_count = spec->thread_count;
}

bool run_method( frame_source* source, const run_spec* spec, const run_options* options, run_result* result,
    lab_error* why )
{
    run_result_begin( result, spec, options );
    memcpy( result->scene, source->header.name, SCENE_NAME_ROOM );
    memcpy( result->type, source->header.type, SCENE_NAME_ROOM );
    result->object_count = source->header.object_count;
    if ( !run_spec_is_available( spec, result->reason, sizeof( result->reason ) ) )
    {
        result->status = RUN_UNAVAILABLE;
        return true;
    }
    run_state run = {
        .source = source, .spec = spec, .options = options, .result = result, .begin_ns = clv_base_clock_ns()
    };
    bool good = true;
    if ( take_memory( &run ) )
    {
        good = run_passes( &run, why );
    }
    else
    {
        fail( &run, RUN_FAILED, "making room for the boxes", CLV_OUT_OF_MEMORY );
    }
    if ( good && result->status == RUN_OK )
    {
        summarise( &run );
    }
    give_memory( &run );
    return good;
}

void run_result_free( run_result* result )
{
    double** const lists[] = { &result->frame_ms, &result->frame_static, &result->frame_update_ms,
        &result->frame_search_ms, &result->frame_clean_ms, &result->pass_ms };
    for ( size_t index = 0; index < sizeof( lists ) / sizeof( lists[0] ); ++index )
    {
        free( *lists[index] );
        *lists[index] = NULL;
    }
    free( result->counters );
    result->counters = NULL;
    result->counter_count = 0;
    json_free( result->json );
    result->json = NULL;
}
