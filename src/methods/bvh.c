// SPDX-License-Identifier: MIT
// A tree of grown boxes, kept from update to update. bvh-d tests the tree against itself once per update;
// bvh-f keeps the pairs of grown boxes and searches the tree for objects that left theirs. The principle of
// Bullet's btDbvtBroadphase, which Broadmark's Table I calls DBVT.
#include "method/method.h"

#include "bvh/bvh_engine.h"

#include <stdio.h>

enum
{
    BVH_PARAM_MARGIN,
    BVH_PARAM_FAT,
    BVH_PARAM_COUNT
};

static const clv_method_param s_bvh_params[BVH_PARAM_COUNT] = {
    { "bvh.margin", 0.1, 0, 10, false, "how much boxes are grown, as a part of their longest side" },
    { "bvh.fat", 0, 0, 1, true, "1: report every pair of grown boxes" },
};

typedef struct bvh_state
{
    const method_context* context;
    bvh_engine engine;
} bvh_state;

static bool begin_bvh( void* state, int forward )
{
    bvh_state* self = state;
    bvh_rules rules = {
        .forward = forward != 0,
        .margin = self->context->params[BVH_PARAM_MARGIN],
        .fat = self->context->params[BVH_PARAM_FAT] != 0,
    };
    clv_bvh_engine_init( &self->engine, self->context->memory, rules );
    return true;
}

static void shrink_bvh( void* state )
{
    bvh_state* self = state;
    clv_bvh_engine_shrink( &self->engine );
}

METHOD_CREATE( create_deferred, bvh_state, begin_bvh, shrink_bvh, false )
METHOD_CREATE( create_forward, bvh_state, begin_bvh, shrink_bvh, true )
METHOD_DESTROY( destroy_bvh, bvh_state, shrink_bvh )

static clv_result update_bvh(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    bvh_state* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    self->engine.is_sound &= !input->last_failed;
    clv_result result = clv_bvh_engine_update( &self->engine, input );
    bool is_anew = self->engine.touched.count > 0 && self->engine.churn == 0;
    *self->context->host->reasons |= is_anew ? CLV_REASON_TREE : 0;
    counters->update_ms = method_stopwatch_lap( &watch );
    if ( result == CLV_OK )
    {
        result = clv_bvh_engine_search( &self->engine, input, sink, &counters->test_count );
        counters->search_ms = method_stopwatch_lap( &watch );
    }
    return result;
}

static bool check_bvh( void* state, char* text, size_t text_size )
{
    const bvh_state* self = state;
    const char* broken = self->engine.is_sound ? clv_bvh_tree_check( &self->engine.tree ) : NULL;
    snprintf( text, text_size, "%s", broken != NULL ? broken : "" );
    return broken == NULL;
}

#define BVH_ROW( row_name, cost, about, make )                                                               \
    {                                                                                                        \
        METHOD_OWN, .name = ( row_name ), .family = "bounding volume hierarchy",                             \
                    .source = "after Bullet's DBVT and Catto 2019", .time_cost = "O(n log n)",               \
                    .space_cost = ( cost ), .remarks = ( about ), .is_temporal = true,                       \
                    .params = s_bvh_params, .param_count = BVH_PARAM_COUNT, .create = ( make ),              \
                    .destroy = destroy_bvh, .update = update_bvh, .shrink = shrink_bvh, .check = check_bvh,  \
    }

const clv_method clv_methods_bvh_f =
    BVH_ROW( "bvh-f", "O(n + k)", "persistent tree, those that left their grown box ask", create_forward );
const clv_method clv_methods_bvh_d =
    BVH_ROW( "bvh-d", "O(n)", "persistent tree, tested against itself", create_deferred );
