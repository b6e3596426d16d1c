// SPDX-License-Identifier: MIT
// The RAY KD-tree of Serpa and Rodrigues (2015), the first of the family: leaves of ten, no sweep, a
// brute-force test of each node's objects against each other and against its list of border objects. It
// shares the tree in src/methods/kd; its operators under their later names: Preparation is Refit,
// Optimisation Filter, Partition Partition, Prune Collapse, Evaluation Evaluate with the balance p/P,
// Translation Translate, Swap Erase; border objects are external ones.
#include "kd_rows.h"

enum
{
    RAY_PARAM_LEAF,
    RAY_PARAM_COUNT
};

static const method_param s_ray_params[RAY_PARAM_COUNT] = {
    [RAY_PARAM_LEAF] = { "ray.leaf", 10, 1, 1 << 30, true, "T: objects a leaf may hold before it is split" },
};

static void* create_ray( const clv_method_context* host )
{
    void* state;
    const method_context* context = clv_methods_kd_take( host, &state );
    if ( context == NULL )
    {
        return NULL;
    }
    kd_rules rules = {
        .mode = KD_MODE_COMPLETE,
        .balance = KD_BALANCE_CHILDREN,
        .flow = KD_FLOW_2015,
        .leaf_limit = (uint32_t)context->params[RAY_PARAM_LEAF],
        .search = { .sweep = KD_SWEEP_NONE },
    };
    clv_methods_kd_begin( state, context->isa, &rules );
    return state;
}

const method clv_methods_ray_kd = METHODS_KD_ROW( "ray-kd", "Serpa and Rodrigues, RAY KD-Tree, 2015",
    "persistent tree", s_ray_params, RAY_PARAM_COUNT, create_ray, true, false );
