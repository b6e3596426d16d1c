// SPDX-License-Identifier: MIT
// The KD-tree of Serpa and Rodrigues (CGF 2019) in its four variants; figure 12 of the paper compares them.
#include "kd_rows.h"

enum
{
    KD_PARAM_QUERY = METHODS_KD_SHARED,
    KD_PARAM_SMALL,
    KD_PARAM_BATCHES,
    KD_PARAM_COUNT
};

static const method_param s_kd_params[KD_PARAM_COUNT] = {
    [METHODS_KD_LEAF] = { "kd.leaf", 8192, 1, 1 << 30, true,
        "T: objects a leaf may hold before it is split" },
    [METHODS_KD_EPSILON] = { "kd.epsilon", 0.01, 0, 1, false,
        "growth of a box at rest, as a part of the median side" },
    [METHODS_KD_STATIC] = { "kd.static", 0.6, 0, 1, false,
        "K: kd detects incrementally above this share of static objects" },
    [METHODS_KD_TREE] = { "kd.tree", 1, 0, 1, true, "0: one leaf for all, the sweep alone prunes" },
    [METHODS_KD_SAP] = { "kd.sap", 1, 0, 1, true, "0: brute force in the nodes, the tree alone prunes" },
    [KD_PARAM_QUERY] = { "kd.query", 0.0625, 0, 1, false,
        "incremental: up to this share of active objects each asks the tree; above, nodes are swept" },
    [KD_PARAM_SMALL] = { "kd.small", 1, 0, 1, true, "0: sorted lists in the nodes instead of small boxes" },
    [KD_PARAM_BATCHES] = { "kd.batches", 0, 0, 1, true,
        "1: count the lengths of the sweeps' batches, which costs time" },
};

static void* create_kd( const clv_method_context* host, kd_mode mode )
{
    void* state;
    const method_context* context = clv_methods_kd_take( host, &state );
    if ( context == NULL )
    {
        return NULL;
    }
    const double* params = context->params;
    kd_rules rules = clv_methods_kd_rules( params, mode );
    rules.query_share = params[KD_PARAM_QUERY];
    kd_sweep sweep = params[KD_PARAM_SMALL] != 0 ? KD_SWEEP_SMALL : KD_SWEEP_SORTED;
    rules.search.sweep = params[METHODS_KD_SAP] != 0 ? sweep : KD_SWEEP_NONE;
    rules.search.count_batches = params[KD_PARAM_BATCHES] != 0;
    clv_methods_kd_begin( state, context->isa, &rules );
    return state;
}

METHODS_KD_CREATES( kd )

#define KD_ROW( row_name, about, row_create, temporal, rests )                                               \
    METHODS_KD_ROW( row_name, "Serpa and Rodrigues, CGF 2019", about, s_kd_params, KD_PARAM_COUNT,           \
        row_create, temporal, rests )

const method clv_methods_kd_rebuilt =
    KD_ROW( "kd-rebuilt", "new tree every frame", create_kd_rebuilt, false, false );
const method clv_methods_kd_complete =
    KD_ROW( "kd-complete", "persistent tree", create_kd_complete, true, false );
const method clv_methods_kd_incremental =
    KD_ROW( "kd-incremental", "persistent tree, pairs at rest are kept", create_kd_incremental, true, true );
const method clv_methods_kd = KD_ROW( "kd", "persistent tree, adaptive", create_kd_adaptive, true, true );
