// SPDX-License-Identifier: MIT
#include "lab/run/runner.h"

#include "base/timer.h"
#include "lab/base/interrupt.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/frame/frame_source.h"
#include "lab/measure/machine.h"
#include "lab/run/live.h"
#include "lab/run/run_child.h"
#include "lab/run/run_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Time for a worker to notice the limit between two frames by itself, and say in which.
#define GRACE_S 1.0

// For so long a measurement of other processes' load is reused.
#define OTHERS_LIFE_NS UINT64_C( 10000000000 )

typedef struct runner
{
    const run_plan* plan;
    const runner_options* options;
    journal* log;
    runner_report* report;
    run_result* sums;  ///< per job
    uint32_t* rounds;  ///< per job: rounds summed so far
    text_list ladders; ///< that have ended
    live_table live;
    estimate_scene* scenes; ///< by scene index
    uint64_t begin_ns;
    bool is_over;    ///< the time given is up
    double waited_s; ///< for others to be quiet

    // The scene of the jobs at hand; open only if one of them has to run.
    frame_source source;
    bool is_open;
    double* shares;
    uint32_t share_count;
    others_seen others; ///< before the first of them that ran
    uint64_t others_ns; ///< when that was looked at; 0: never
} runner;

static double time_left_s( const runner* all )
{
    double gone_s = (double)( clv_base_clock_ns() - all->begin_ns ) / 1e9;
    return all->options->budget_s > 0 ? all->options->budget_s - gone_s : INFINITY;
}

run_options runner_terms( const run_terms* terms, uint32_t available )
{
    run_options options = {
        .frame_count = terms->frame_count < available ? (uint32_t)terms->frame_count : available,
        .warmup = (uint32_t)terms->warmup,
        .repeat = (uint32_t)terms->repeat,
        .switches = terms->switches,
        .time_limit_s = terms->time_limit_s,
    };
    return options;
}

// ---- showing

static void label_job( const run_job* job, char* label, size_t size )
{
    char threads[16] = "";
    if ( job->spec.thread_count > 1 )
    {
        snprintf( threads, sizeof( threads ), " ×%" PRIu32, job->spec.thread_count );
    }
    snprintf( label, size, "%s %s@%s%s%s%s%s", job->scene.label, job->spec.row->name,
        run_spec_variant( &job->spec ), threads, job->spec.settings != NULL ? " " : "",
        job->spec.settings != NULL ? job->spec.settings : "", job->program != NULL ? " (against)" : "" );
}

// A guess of the work, for the time left.
static double job_weight( const runner* all, const run_job* job )
{
    const estimate_scene* scene = &all->scenes[job->scene_index];
    return run_job_estimate_s( job, scene ) + 1e-3; // above 0, so that every run counts
}

static void tick( void* user )
{
    runner* all = user;
    live_tick( &all->live );
}

// ---- the scene

// Shares of static objects, frame by frame, outside every clock.
static bool measure_static( runner* all, lab_error* why )
{
    uint32_t frame_count = all->source.header.frame_count;
    clv_aabb* before = frame_source_boxes( &all->source );
    clv_aabb* after = frame_source_boxes( &all->source );
    all->shares = lab_take( frame_count, sizeof( double ) );
    bool good = frame_source_read( &all->source, 0, before, why );
    frame_count = all->share_count < frame_count ? all->share_count : frame_count;
    for ( uint32_t frame = 1; good && frame <= frame_count; ++frame )
    {
        good = frame_source_read( &all->source, frame, after, why );
        if ( good )
        {
            all->shares[frame - 1] = frame_static_share( before, after, all->source.header.object_count );
        }
        clv_aabb* swapped = before;
        before = after;
        after = swapped;
    }
    free( before );
    free( after );
    return good;
}

// Bakes it if need be, here and not in the jobs' time.
static bool open_scene( runner* all, const run_job* job, lab_error* why )
{
    if ( all->is_open )
    {
        return true;
    }
    live_clear( &all->live );
    uint32_t frames = job->terms.frame_count != ARGS_UNSET ? (uint32_t)job->terms.frame_count : 0;
    if ( !scene_spec_open(
             &job->scene.spec, job->scene.body_count, frames, job->terms.seed, &all->source, why ) )
    {
        return false;
    }
    all->is_open = true;
    all->share_count = frames > 0 ? frames : UINT32_MAX;
    return measure_static( all, why );
}

// After the baking, which is our own work, and before the first run.
static void look_at_others( runner* all )
{
    if ( all->options->others_most <= 0 )
    {
        return;
    }
    uint64_t now_ns = clv_base_clock_ns();
    if ( all->others_ns != 0 && now_ns - all->others_ns < OTHERS_LIFE_NS )
    {
        return; // short windows follow each other so quickly that the last measurement still holds
    }
    double left_s = time_left_s( all );
    double wait_s = all->options->others_wait_s - all->waited_s;
    all->others = others_wait( all->options->others_most, wait_s < left_s ? wait_s : left_s );
    all->waited_s += all->others.waited_s;
    all->others_ns = clv_base_clock_ns();
    if ( all->others.share > all->options->others_most && !all->options->is_quiet )
    {
        live_clear( &all->live );
        lab_note( "others use %.0f %% of the processors after %.0f s of waiting; the runs say so",
            100 * all->others.share, all->others.waited_s );
    }
}

static void close_scene( runner* all )
{
    frame_source_close( &all->source );
    free( all->shares );
    all->shares = NULL;
    all->is_open = false;
}

static void put_scene( const runner* all, run_result* result )
{
    const scene_header* header = &all->source.header;
    memcpy( result->scene, header->name, SCENE_NAME_ROOM );
    memcpy( result->type, header->type, SCENE_NAME_ROOM );
    result->object_count = header->object_count;
    free( result->frame_static );
    result->frame_static = lab_take( result->frame_count, sizeof( double ) );
    memcpy( result->frame_static, all->shares, result->frame_count * sizeof( double ) );
}

// ---- one run

// What the worker wrote, or what became of it, as a result.
static void take_answer(
    const run_job* job, child_answer* answer, const run_options* options, run_result* result )
{
    lab_error why = { .status = LAB_DONE };
    if ( answer->status == CHILD_ANSWERED )
    {
        size_t bad_offset = 0;
        json_value* value =
            answer->text != NULL ? json_parse( answer->text, answer->length, &bad_offset ) : NULL;
        if ( value != NULL && results_read_run( value, "the worker's answer", result, &why ) &&
            result->frame_count == options->frame_count )
        {
            return;
        }
        run_result_free( result );
        answer->status = CHILD_FAILED;
        snprintf( answer->reason, sizeof( answer->reason ), "ended without an answer%s%.200s",
            why.status != LAB_DONE ? ": " : "", why.status != LAB_DONE ? why.text : "" );
    }
    run_result_begin( result, &job->spec, options );
    result->status = answer->status == CHILD_TIMEOUT ? RUN_TIMEOUT : RUN_FAILED;
    snprintf( result->reason, sizeof( result->reason ), "%s", answer->reason );
}

static void run_in_child( runner* all, const run_job* job, const run_options* options, run_result* result )
{
    text_list words = { 0 };
    worker_words( job, &words );
    double own_s = job->terms.time_limit_s;
    double left_s = time_left_s( all );
    bool is_short = left_s < ( own_s > 0 ? own_s + GRACE_S : INFINITY );
    child_limits limits = {
        .time_s = !is_short ? own_s
            : left_s > 1e-3 ? left_s
                            : 1e-3,
        .grace_s = is_short ? 0 : GRACE_S,
        .memory_bytes = job->terms.memory_limit_mib << 20,
        .tick = tick,
        .user = all,
    };
    child_answer answer = child_run( job->program, &words, &limits );
    all->is_over = is_short && answer.status == CHILD_TIMEOUT;
    take_answer( job, &answer, options, result );
    free( answer.text );
    text_list_free( &words );
}

static bool run_here(
    runner* all, const run_job* job, const run_options* options, run_result* result, lab_error* why )
{
    pin_wish pin;
    char reason[128];
    if ( !pin_parse( job->terms.pin, &pin ) ||
        !pin_apply( &pin, job->spec.thread_count, reason, sizeof( reason ) ) )
    {
        return lab_error_write( why, "pin %s: %s", job->terms.pin, reason );
    }
    progress_set_quiet( all->options->is_live || all->options->is_quiet ); // the live table says enough
    bool good = run_method( &all->source, &job->spec, options, result, why );
    progress_set_quiet( all->options->is_quiet );
    return good;
}

// The texts of a result must live as long as the plan, wherever it is from.
static void sign( run_result* result, const run_job* job )
{
    result->method = job->spec.row->name;
    result->variant = run_spec_variant( &job->spec );
    result->settings = job->spec.settings;
    result->scene_index = job->scene_index;
    result->parts = &job->parts;
    result->key = job->key;
    result->limits = job->limits;
    result->known = job->known;
    result->is_against = job->program != NULL;
}

// The day, and how busy others were: what a page has to say about a time.
static void stamp( const runner* all, run_result* result )
{
    lab_error unread;
    if ( !json_is_here( &unread ) )
    {
        return;
    }
    result->json = result->json != NULL ? result->json : json_object();
    char day[16] = "";
    time_t now = (time_t)platform_now_s();
    struct tm* parts = gmtime( &now );
    if ( parts != NULL && strftime( day, sizeof( day ), "%Y-%m-%d", parts ) > 0 )
    {
        json_put_text( result->json, "date", day );
    }
    if ( all->options->others_most > 0 )
    {
        json_put_number( result->json, "others", floor( all->others.share * 1e3 + 0.5 ) / 1e3 );
        json_put_number( result->json, "waited_s", floor( all->others.waited_s + 0.5 ) );
    }
}

static bool run_round( runner* all, const run_job* job, const char* key, run_result* result, lab_error* why )
{
    bool was_open = all->is_open;
    if ( !open_scene( all, job, why ) )
    {
        return false;
    }
    if ( !was_open )
    {
        look_at_others( all );
    }
    run_options options = runner_terms( &job->terms, all->source.header.frame_count );
    bool good = true;
    run_result_begin( result, &job->spec, &options );
    if ( !run_spec_is_available( &job->spec, result->reason, sizeof( result->reason ) ) )
    {
        result->status = RUN_UNAVAILABLE;
    }
    else if ( all->options->in_process )
    {
        good = run_here( all, job, &options, result, why );
    }
    else
    {
        run_in_child( all, job, &options, result );
    }
    if ( all->is_over )
    {
        return good; // cut off in the middle: as if it had not begun
    }
    put_scene( all, result );
    stamp( all, result );
    sign( result, job );
    bool is_kept = all->log->file != NULL && result->status != RUN_UNAVAILABLE;
    return good && ( !is_kept || journal_add( all->log, key, job->limits, results_run_json( result ), why ) );
}

// ---- a job

// After a mean above the ladder's limit, or a failure, the method's larger sizes are left out.
static void judge_ladder( runner* all, const run_job* job, const run_result* sum )
{
    bool is_slow = sum->status == RUN_OK && sum->ms_mean > 1e3 * job->terms.ladder_s;
    bool is_broken = sum->status == RUN_FAILED || sum->status == RUN_TIMEOUT;
    if ( job->terms.ladder_s > 0 && ( is_slow || is_broken ) )
    {
        text_list_add( &all->ladders, job->ladder );
    }
}

// The whole job as an earlier run left it.
static bool take_kept( runner* all, const run_job* job, const char* key, run_result* result )
{
    const json_value* kept = journal_find( all->log, key, job->limits );
    lab_error unread;
    if ( kept == NULL || !results_read_run( json_copy( kept ), key, result, &unread ) )
    {
        return false;
    }
    sign( result, job );
    return true;
}

static char* round_key( const run_job* job, uint32_t round )
{
    return text_format( "%s | round %" PRIu32, job->key, round + 1 );
}

static void finish_job( runner* all, uint32_t index, bool is_kept )
{
    const run_job* job = &all->plan->items[index];
    char label[128];
    label_job( job, label, sizeof( label ) );
    all->report->kept += is_kept ? 1 : 0;
    judge_ladder( all, job, &all->sums[index] );
    live_finish( &all->live, &all->sums[index], label, job_weight( all, job ), is_kept );
}

// One round of one job. False only if everything has to stop.
static bool do_round( runner* all, uint32_t index, uint32_t round, lab_error* why )
{
    const run_job* job = &all->plan->items[index];
    run_result* sum = &all->sums[index];
    bool is_over = all->rounds[index] == UINT32_MAX || round >= job->terms.rounds ||
        ( round > 0 && sum->status != RUN_OK );
    if ( is_over )
    {
        return true;
    }
    char label[128];
    label_job( job, label, sizeof( label ) );
    if ( round == 0 && text_list_has( &all->ladders, job->ladder ) )
    {
        all->rounds[index] = UINT32_MAX;
        all->report->left_out += 1;
        live_skip( &all->live, label, "a smaller size was too slow, or failed", job_weight( all, job ) );
        return true;
    }
    run_result whole = { 0 };
    if ( round == 0 && take_kept( all, job, job->key, &whole ) )
    {
        stop_action_hold();
        *sum = whole;
        all->rounds[index] = (uint32_t)job->terms.rounds;
        stop_action_resume();
        finish_job( all, index, true );
        return true;
    }
    live_start( &all->live, label );
    run_result result = { 0 };
    char* key = round_key( job, round );
    bool is_kept = take_kept( all, job, key, &result );
    all->is_over = all->is_over || time_left_s( all ) <= 0;
    bool good = is_kept || all->is_over || run_round( all, job, key, &result, why );
    bool is_done = good && ( is_kept || !all->is_over );
    free( key );
    stop_action_hold();
    if ( !is_done )
    {
        run_result_free( &result );
    }
    else if ( round == 0 )
    {
        *sum = result;
    }
    else
    {
        run_merge( sum, &result );
    }
    all->rounds[index] = is_done ? round + 1 : all->rounds[index];
    stop_action_resume();
    if ( is_done && ( round + 1 == job->terms.rounds || sum->status != RUN_OK ) )
    {
        finish_job( all, index, is_kept );
    }
    return good;
}

// ---- all jobs over a scene

static uint32_t end_of_scene( const run_plan* plan, uint32_t begin )
{
    uint32_t end = begin + 1;
    while ( end < plan->count && plan->items[end].scene_index == plan->items[begin].scene_index )
    {
        end += 1;
    }
    return end;
}

// Round by round, so that a noisy minute hits every method alike.
static bool do_scene( runner* all, uint32_t begin, uint32_t end, lab_error* why )
{
    uint64_t most = 1;
    bool good = true;
    for ( uint32_t index = begin; index < end; ++index )
    {
        uint64_t rounds = all->plan->items[index].terms.rounds;
        most = rounds > most ? rounds : most;
    }
    for ( uint32_t round = 0; good && round < most; ++round )
    {
        for ( uint32_t index = begin; good && index < end; ++index )
        {
            // A job whose rounds came whole from an earlier run has nothing left to do.
            good = all->rounds[index] > round ? true : do_round( all, index, round, why );
        }
    }
    close_scene( all );
    return good;
}

// All of its rounds, or as many as it takes to know that it fails.
static bool is_whole( const runner* all, uint32_t index )
{
    return all->rounds[index] >= all->plan->items[index].terms.rounds ||
        ( all->rounds[index] > 0 && all->sums[index].status != RUN_OK );
}

// Is the result among those that the caller gets?
static bool is_wanted( const runner* all, uint32_t index )
{
    return all->rounds[index] > 0 && all->rounds[index] != UINT32_MAX &&
        ( is_whole( all, index ) || !all->options->whole_only );
}

static void collect( const runner* all, run_results* results )
{
    for ( uint32_t index = 0; index < all->plan->count; ++index )
    {
        bool is_there = is_wanted( all, index );
        all->report->undone += is_whole( all, index ) ? 0 : 1;
        if ( is_there )
        {
            *run_results_add( results ) = all->sums[index];
        }
    }
}

// A signal: the plan and its texts are still there, and the work waits or goes on without being heard.
static void report_done( void* user )
{
    const runner* all = user;
    run_results done = { 0 };
    collect( all, &done );
    all->options->on_stop( &done, all->plan->count, all->options->on_stop_user );
}

static void look_at_scenes( runner* all )
{
    // Scene indices are below the number of jobs.
    all->scenes = lab_take( all->plan->count, sizeof( estimate_scene ) );
    for ( uint32_t index = 0; index < all->plan->count; ++index )
    {
        const run_job* job = &all->plan->items[index];
        estimate_scene* scene = &all->scenes[job->scene_index];
        *scene = scene->object_count > 0 ? *scene : run_job_scene( job );
    }
}

static void begin_live( runner* all )
{
    double weight = 0;
    look_at_scenes( all );
    for ( uint32_t index = 0; index < all->plan->count; ++index )
    {
        weight += job_weight( all, &all->plan->items[index] );
    }
    live_begin( &all->live, all->options->is_live, all->plan->count, weight, all->options->page );
}

bool runner_run( const run_plan* plan, const runner_options* options, journal* log, run_results* results,
    runner_report* report, lab_error* why )
{
    runner all = {
        .plan = plan, .options = options, .log = log, .report = report, .begin_ns = clv_base_clock_ns()
    };
    *report = ( runner_report ){ 0 };
    all.sums = lab_take( plan->count, sizeof( run_result ) );
    all.rounds = lab_take( plan->count, sizeof( uint32_t ) );
    bool good = true;
    begin_live( &all );
    if ( options->on_stop != NULL )
    {
        stop_action_begin( report_done, &all );
    }
    for ( uint32_t begin = 0; good && begin < plan->count; )
    {
        uint32_t end = end_of_scene( plan, begin );
        good = do_scene( &all, begin, end, why );
        begin = end;
    }
    live_end( &all.live );
    if ( options->on_stop != NULL )
    {
        stop_action_hold();
    }
    collect( &all, results );
    for ( uint32_t index = 0; index < plan->count; ++index )
    {
        if ( !is_wanted( &all, index ) )
        {
            run_result_free( &all.sums[index] ); // some of its rounds: the journal has them
        }
    }
    text_list_free( &all.ladders );
    free( all.sums );
    free( all.rounds );
    free( all.scenes );
    return good;
}
