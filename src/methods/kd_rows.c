// SPDX-License-Identifier: MIT
#include "kd_rows.h"

typedef struct kd_method
{
    const method_context* context;
    kd_engine engine;
} kd_method;

const method_context* clv_methods_kd_take( const clv_method_context* host, void** state )
{
    const method_context* context = NULL;
    kd_method* self = clv_method_state_take( host, sizeof( kd_method ), &context );
    if ( self != NULL )
    {
        self->context = context;
    }
    *state = self;
    return context;
}

void clv_methods_kd_begin( void* state, clv_isa isa, const kd_rules* rules )
{
    kd_method* self = state;
    clv_kd_engine_init( &self->engine, self->context->memory, self->context->tasks,
        clv_simd_method_kernels_for( isa ), rules );
    self->engine.has_clock = self->context->stage_times;
}

kd_rules clv_methods_kd_rules( const double* params, kd_mode mode )
{
    return ( kd_rules ){
        .mode = mode,
        .balance = KD_BALANCE_ALL,
        .leaf_limit = params[METHODS_KD_TREE] != 0 ? (uint32_t)params[METHODS_KD_LEAF] : UINT32_MAX,
        .epsilon = params[METHODS_KD_EPSILON],
        .static_share = params[METHODS_KD_STATIC],
    };
}

void clv_methods_kd_destroy( void* state )
{
    kd_method* self = state;
    clv_kd_engine_release( &self->engine );
    clv_method_state_give( self->context, sizeof( kd_method ) );
}

clv_result clv_methods_kd_update(
    void* state, const method_input* input, pair_sink* sink, method_counters* counters )
{
    kd_method* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    self->engine.keep_most = input->keep_most;
    if ( input->last_failed )
    {
        clv_kd_engine_distrust( &self->engine );
    }
    clv_result result = clv_kd_engine_update( &self->engine, input );
    counters->update_ms = method_stopwatch_lap( &watch );
    if ( result != CLV_OK )
    {
        return result;
    }
    result = clv_kd_engine_search( &self->engine, input, sink );
    counters->clean_ms = self->engine.replay_ms;
    counters->search_ms = method_stopwatch_lap( &watch ) - counters->clean_ms;
    counters->test_count = self->engine.search.counters.test_count;
    if ( self->engine.was_incremental )
    {
        counters->test_count += self->engine.rest.cache_test_count;
    }
    return result;
}

void clv_methods_kd_shrink( void* state )
{
    kd_method* self = state;
    clv_kd_search_release( &self->engine.search );
    clv_kd_crew_release( &self->engine.crew );
    clv_kd_rest_shrink( &self->engine.rest );
}

bool clv_methods_kd_check( void* state, char* text, size_t text_size )
{
    kd_method* self = state;
    return clv_kd_engine_check( &self->engine, text, text_size );
}

size_t clv_methods_kd_dump( void* state, char* text, size_t text_size )
{
    kd_method* self = state;
    return clv_kd_dump( &self->engine.tree, text, text_size );
}

static void report_tree( const kd_report* r, method_figure_list* list )
{
    method_figure_add( list, "refit objects", (double)r->tree.refit_count );
    method_figure_add( list, "filter objects", (double)r->tree.filter_count );
    method_figure_add( list, "shifted objects", (double)r->tree.shift_count );
    method_figure_add( list, "partitions", (double)r->tree.partition_count );
    method_figure_add( list, "refusals", (double)r->tree.refusal_count );
    method_figure_add( list, "collapses", (double)r->tree.collapse_count );
    method_figure_add( list, "evaluations", (double)r->tree.evaluate_count );
    method_figure_add( list, "translations", (double)r->tree.translate_count );
    method_figure_add( list, "erasures", (double)r->tree.erase_count );
    method_figure_add( list, "nodes", r->node_count );
    method_figure_add( list, "leaves", r->leaf_count );
    method_figure_add( list, "height", r->height );
    method_figure_add( list, "leaf fill least", r->leaf_fill_least );
    method_figure_add( list, "leaf fill most", r->leaf_fill_most );
    method_figure_add( list, "refused leaves", r->refused_leaf_count );
    method_figure_add( list, "objects in leaves", r->leaf_object_count );
    method_figure_add( list, "objects in inner nodes", r->inner_object_count );
    method_figure_add( list, "objects outside", r->outside_count );
    static const char* const depths[KD_REPORT_DEPTHS] = {
#define AT( depth ) "leaves at depth " #depth
        AT( 0 ), AT( 1 ), AT( 2 ), AT( 3 ), AT( 4 ), AT( 5 ), AT( 6 ), AT( 7 ), AT( 8 ), AT( 9 ), AT( 10 ),
        AT( 11 ), AT( 12 ), AT( 13 ), AT( 14 ), AT( 15 ), AT( 16 ), AT( 17 ), AT( 18 ), AT( 19 ), AT( 20 ),
        AT( 21 ), AT( 22 ), AT( 23 ), "leaves deeper"
#undef AT
    };
    for ( uint32_t depth = 0; depth < KD_REPORT_DEPTHS; ++depth )
    {
        method_figure_add( list, depths[depth], r->leaves_at[depth] );
    }
}

static void report_search( const kd_report* r, uint64_t members, method_figure_list* list )
{
    uint64_t all_pairs = members > 0 ? members * ( members - 1 ) / 2 : 0;
    uint64_t tested = r->search.tree_pair_count - r->search.static_pair_count;
    method_figure_add( list, "moving objects", r->moving_count );
    method_figure_add( list, "active objects", r->active_count );
    method_figure_add( list, "incremental", r->was_incremental );
    method_figure_add( list, "by query", r->was_by_query );
    method_figure_add( list, "nodes searched", (double)r->search.node_count );
    method_figure_add( list, "external objects", (double)r->search.external_count );
    method_figure_add( list, "pairs pruned by the tree", (double)( all_pairs - r->search.tree_pair_count ) );
    method_figure_add( list, "pairs pruned at rest", (double)r->search.static_pair_count );
    method_figure_add( list, "pairs pruned by the sweep", (double)( tested - r->search.test_count ) );
    method_figure_add( list, "pairs tested", (double)r->search.test_count );
    method_figure_add( list, "candidates", (double)r->candidate_count );
    method_figure_add( list, "cached pairs", (double)r->cache_count );
}

static void report_batches( const kd_batches* batches, method_figure_list* list )
{
    static const char* const names[KD_BATCH_BINS] = { "batches of 1", "batches to 2", "batches to 4",
        "batches to 8", "batches to 16", "batches to 32", "batches to 64", "batches to 128", "batches to 256",
        "batches to 512", "batches longer" };
    method_figure_add( list, "batches", (double)batches->count );
    method_figure_add( list, "batch tests", (double)batches->test_count );
    for ( uint32_t bin = 0; bin < KD_BATCH_BINS; ++bin )
    {
        method_figure_add( list, names[bin], (double)batches->bins[bin] );
    }
}

uint32_t clv_methods_kd_report( void* state, method_figure* figures, uint32_t capacity )
{
    kd_engine* engine = &( (kd_method*)state )->engine;
    kd_report r = clv_kd_engine_report( engine );
    method_figure_list list = { figures, capacity, 0 };
    report_tree( &r, &list );
    report_search( &r, (uint64_t)engine->tree.count + engine->tree.outside_count, &list );
    report_batches( &r.search.batches, &list );
    return list.count;
}
