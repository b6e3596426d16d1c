// SPDX-License-Identifier: MIT
// The method behind a default space: blocks of cells (docs/engine.md), and brute force while there are so few
// boxes that any order costs more than it saves. The choice depends on the number of objects alone.
#include "method/method.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "engine/engine_save.h"
#include "method/cleave_save.h"
#include "pair/counting_sink.h"
#include "rest/rest_save.h"
#include "simd/kernels.h"

// There is nothing to tune: these are for tests, which make blocks small so that few boxes fill many, and for
// comparing.
static const clv_method_param s_params[] = {
    { "cleave.few", 24, 0, 1e6, true, "boxes up to which brute force is quicker" },
    { "cleave.block", 8192, 8, 1e6, true, "boxes in a block, about" },
    { "cleave.alone", 8192, 0, 1e9, true, "boxes up to which one worker is quicker than several" },
    { "cleave.strip", 2048, 0, 1e4, true, "boxes up to which they are put in order, not into cells" },
    { "cleave.rest", REST_BY_COST, REST_NEVER, REST_BY_COST, true,
        "worlds at rest: 0 searched anew, 1 followed, 2 as counters advise" },
    { "cleave.rest_least", 512, 0, 1e9, true,
        "boxes below which a world at rest is searched anew all the same" },
};

enum
{
    PARAM_FEW,
    PARAM_BLOCK,
    PARAM_ALONE,
    PARAM_STRIP,
    PARAM_REST,
    PARAM_REST_LEAST,
    PARAM_COUNT
};

typedef struct cleave_state
{
    const method_context* context;
    void* brute;
    clv_engine engine;
    bool by_brute;  ///< the last update was brute force
    bool by_engine; ///< the last update went through blocks, to its end
    rest_world rest;
    rest_mode mode;
    /// updates were visits: moved, added and removed objects of those are not known to it
    bool rest_is_behind;
    bool rest_is_over;    ///< from the next update on: until then the list at rest may be in use
    uint64_t handed_over; ///< changes of the list at rest when it was last handed over
} cleave_state;

static void end( void* state )
{
    cleave_state* self = state;
    if ( self->brute != NULL )
    {
        clv_method_brute.destroy( self->brute );
    }
    clv_rest_world_release( &self->rest );
    clv_engine_release( &self->engine );
}

static bool begin( void* state, int variant )
{
    (void)variant;
    cleave_state* self = state;
    const method_context* context = self->context;
    const simd_kernels* kernels = clv_simd_kernels_for( context->isa );
    self->brute = clv_method_brute.create( context->host );
    self->by_brute = true;
    clv_engine_init( &self->engine, context->memory, kernels, context->tasks,
        (uint32_t)context->params[PARAM_BLOCK], (uint32_t)context->params[PARAM_ALONE],
        (uint32_t)context->params[PARAM_STRIP] );
    clv_rest_world_init( &self->rest, context->memory, kernels, context->tasks );
    self->rest.is_forced = (rest_choice)context->params[PARAM_REST] == REST_ALWAYS;
    clv_rest_mode_init(
        &self->mode, (rest_choice)context->params[PARAM_REST], (uint32_t)context->params[PARAM_REST_LEAST] );
    return self->brute != NULL;
}

METHOD_CREATE( create, cleave_state, begin, end, 0 )
METHOD_DESTROY( destroy, cleave_state, end )

static void note( const cleave_state* self, uint32_t reasons )
{
    *self->context->host->reasons |= reasons;
}

static void end_rest( cleave_state* self, uint32_t object_count )
{
    note( self, self->rest.is_on ? CLV_REASON_REST_LEFT : 0 );
    clv_rest_world_leave( &self->rest );
    clv_rest_mode_note_end( &self->mode, object_count );
    self->rest_is_behind = false;
    self->rest_is_over = false;
}

static clv_result search(
    cleave_state* self, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    method_stopwatch watch = method_stopwatch_start( self->context );
    self->engine.reasons = 0;
    bool is_filled = clv_engine_fill( &self->engine, input );
    note( self, self->engine.reasons );
    if ( !is_filled )
    {
        return CLV_OUT_OF_MEMORY;
    }
    counters->update_ms = method_stopwatch_lap( &watch );
    pair_counting_sink counting = pair_counting_open( sink );
    clv_result result = clv_engine_search( &self->engine, &counting.sink, &counters->test_count );
    counters->search_ms = method_stopwatch_lap( &watch );
    self->by_engine = result == CLV_OK;
    clv_rest_mode_note_pairs( &self->mode, pair_counting_close( &counting ) );
    return result;
}

static clv_result hand_over( cleave_state* self, const clv_method_input* input, clv_pair_sink* sink )
{
    CLV_ASSERT( self->rest.is_on && !self->rest_is_behind );
    const rest_pairs* pairs = &self->rest.pairs;
    bool is_same = self->handed_over == pairs->change_count && !input->members_changed;
    self->handed_over = pairs->change_count;
    if ( is_same && clv_pair_sink_keep( sink ) )
    {
        return CLV_OK;
    }
    return clv_pair_sink_lend( sink, pairs->list.items, pairs->list.count );
}

// True if the world at rest is up to date.
static bool follow( cleave_state* self, clv_method_input input, clv_method_counters* counters )
{
    CLV_ASSERT( self->rest.is_on );
    if ( self->rest_is_behind )
    {
        input.members_changed = true;
        input.moved = NULL;
    }
    rest_outcome outcome =
        clv_rest_world_follow( &self->rest, &input, clv_rest_mode_limit( &self->mode, &input ) );
    if ( outcome != REST_FOLLOWED )
    {
        end_rest( self, input.live_count );
        return false;
    }
    self->rest_is_behind = false;
    const rest_counters* done = &self->rest.counters;
    counters->test_count = done->compared_count + done->near_count + done->test_count;
    return true;
}

// Not where more pairs are to be expected than may be kept. What could not be entered is not tried again at
// once.
static bool enter(
    cleave_state* self, const clv_method_input* input, uint64_t most, clv_method_counters* counters )
{
    uint64_t expected = self->mode.pair_count;
    CLV_ASSERT( !self->rest.is_on );
    note( self, CLV_REASON_REST_ENTERED );
    self->rest.reference_age = self->rest.reference_age > 0 ? self->mode.remembered : 0;
    if ( expected <= most &&
        clv_rest_world_enter( &self->rest, input, expected, most, &self->engine, &counters->test_count ) )
    {
        self->handed_over = UINT64_MAX; // this list never was: after a shrink its changes are counted anew
        return true;
    }
    counters->test_count = 0;
    note( self, CLV_REASON_REST_LEFT );
    end_rest( self, input->live_count );
    return false;
}

static clv_result update_by_engine(
    cleave_state* self, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    method_stopwatch watch = method_stopwatch_start( self->context );
    if ( self->rest_is_over )
    {
        end_rest( self, input->live_count );
    }
    if ( self->rest.is_on && follow( self, *input, counters ) )
    {
        clv_result result = hand_over( self, input, sink );
        counters->update_ms = method_stopwatch_lap( &watch );
        self->rest_is_over = !clv_rest_mode_review( &self->mode, &self->rest, input->live_count );
        return result;
    }
    rest_advice advice = clv_rest_mode_advise( &self->mode, input );
    if ( advice == REST_ENTER && enter( self, input, input->keep_most, counters ) )
    {
        self->by_engine = true;
        clv_rest_mode_note_pairs( &self->mode, self->rest.pairs.list.count );
        clv_result result = hand_over( self, input, sink );
        counters->search_ms = method_stopwatch_lap( &watch );
        return result;
    }
    clv_result result = search( self, input, sink, counters );
    if ( advice == REST_REMEMBER )
    {
        note( self, CLV_REASON_REST_NOTED );
        clv_rest_world_remember( &self->rest, input );
    }
    return result;
}

static clv_result update(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    cleave_state* self = state;
    self->by_engine = false;
    self->by_brute = false;
    if ( input->last_failed )
    {
        clv_rest_mode_note_failure( &self->mode );
    }
    bool still = method_input_is_still( input );
    if ( still )
    {
        self->rest.counters = ( rest_counters ){ 0 };
        if ( clv_pair_sink_keep( sink ) )
        {
            return CLV_OK;
        }
    }
    if ( input->live_count <= self->context->params[PARAM_FEW] )
    {
        self->by_brute = true;
        if ( self->rest.is_on )
        {
            end_rest( self, input->live_count );
        }
        return clv_method_brute.update( self->brute, input, sink, counters );
    }
    // Whether the sink has kept its list must not be seen later in what is chosen.
    if ( still && !self->rest_is_behind )
    {
        return self->rest.is_on ? hand_over( self, input, sink ) : search( self, input, sink, counters );
    }
    if ( input->keep_most > 0 )
    {
        return update_by_engine( self, input, sink, counters );
    }
    // A visit is there so that there is no list; of a world at rest there would be one, however many pairs
    // there are by now. The world that a list was made of stays as it is, and catches up when there is a list
    // to be made again.
    self->rest_is_behind = self->rest.is_on;
    return search( self, input, sink, counters );
}

static void shrink( void* state )
{
    cleave_state* self = state;
    clv_method_brute.shrink( self->brute );
    clv_engine_release( &self->engine );
    self->by_engine = false;
    if ( !self->rest.is_on ) // its list may be the one the caller sees
    {
        clv_rest_world_release( &self->rest );
    }
}

#define CLEAVE_VALUES( X )                                                                                   \
    X( by_brute )                                                                                            \
    X( rest_is_behind )                                                                                      \
    X( rest_is_over )                                                                                        \
    X( handed_over )

void clv_method_cleave_pass( void* state, base_pass* pass )
{
    cleave_state* s = state;
    base_memory* memory = pass->memory;
    pass->memory = s->context->memory;
    BASE_PASS_MEMBERS( pass, BASE_TAG( 'C', 'L', 'E', 'A' ), CLEAVE_VALUES );
    clv_rest_mode_pass( &s->mode, pass );
    clv_engine_pass( &s->engine, pass );
    if ( base_pass_is_good( pass ) )
    {
        clv_rest_world_pass( &s->rest, pass );
    }
    pass->memory = memory;
}

pair_list clv_method_cleave_list( const void* state )
{
    const cleave_state* self = state;
    return self->rest.pairs.list;
}

static bool check( void* state, char* text, size_t text_size )
{
    cleave_state* self = state;
    return clv_rest_world_check( &self->rest, text, text_size );
}

static BASE_COLD uint32_t report( void* state, clv_method_figure* figures, uint32_t capacity )
{
    const cleave_state* self = state;
    const rest_world* rest = &self->rest;
    const rest_counters done = rest->is_on ? rest->counters : ( rest_counters ){ 0 };
    const clv_engine* cells = &self->engine;
    cell_counters sum = self->by_engine ? clv_engine_counters( cells ) : ( cell_counters ){ 0 };
    uint32_t block_count = cells->plan.block_count > 0 ? cells->plan.block_count : 1;
    method_figure_list list = { figures, capacity, 0 };
    method_figure_add( &list, "by brute force", self->by_brute );
    method_figure_add( &list, "blocks", self->by_engine ? block_count : 0 );
    method_figure_add( &list, "largest block", self->by_engine ? cells->largest_block : 0 );
    method_figure_add( &list, "boxes in blocks",
        self->by_engine ? (double)( cells->plan.block_count > 0 ? cells->in_blocks : cells->largest_block )
                        : 0 );
    method_figure_add( &list, "cells", (double)sum.cell_count );
    method_figure_add( &list, "boxes in cells", (double)sum.entry_count );
    method_figure_add( &list, "tests in bytes", (double)sum.test_count );
    method_figure_add( &list, "candidates", (double)sum.candidate_count );
    method_figure_add( &list, "tests in float", (double)sum.tie_count );
    method_figure_add( &list, "axes not to scale", self->by_engine ? clv_engine_scaled_axes( cells ) : 0 );
    method_figure_add( &list, "sharpened", self->by_engine && cells->axes.sharp_left > 0 );
    method_figure_add( &list, "at rest", rest->is_on );
    method_figure_add( &list, "compared boxes", done.compared_count );
    method_figure_add( &list, "refits", done.refit_count );
    method_figure_add( &list, "came", done.come_count );
    method_figure_add( &list, "went", done.gone_count );
    method_figure_add( &list, "objects around them", (double)done.near_count );
    method_figure_add( &list, "pairs reclassified", (double)done.change_count );
    method_figure_add( &list, "sure pairs", rest->is_on ? (double)rest->pairs.sure_count : 0 );
    method_figure_add( &list, "marginal pairs", rest->is_on ? rest->pairs.marginal.count : 0 );
    method_figure_add( &list, "marginal tests", (double)done.test_count );
    method_figure_add( &list, "marginal pairs turned", (double)done.turn_count );
    return list.count;
}

#define CLEAVE_ROW                                                                                           \
    METHOD_OWN, .name = METHOD_DEFAULT, .family = "blocks and cells", .source = "own",                       \
                .time_cost = "O(n + k), worst n^2 / 64", .space_cost = "O(n)", .has_isa = true,              \
                .has_threads = true, .is_temporal = true, .wants_moved = true, .moved_least = 256,           \
                .params = s_params, .param_count = PARAM_COUNT, .create = create, .destroy = destroy,        \
                .update = update, .shrink = shrink

const clv_method clv_method_cleave = { CLEAVE_ROW, .check = check, .report = report };
const clv_method clv_method_cleave_bare = { CLEAVE_ROW };
