// SPDX-License-Identifier: MIT
// The KD-tree as its papers have it, for comparing with kd, which is ours on the same tree: Serpa and
// Rodrigues, "Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision
// Detection Using KD-Trees" (CGF 2019), with the options of its kin: leaves of 256 and K = 55 % of the
// Portuguese one, the speed rule of Broadmark's. Exact like every method: where the papers lose pairs, this
// row does not follow them; docs/kd.md lists those places.
#include "kd_rows.h"

enum
{
    PAPER_PARAM_SIMD = METHODS_KD_SHARED,
    PAPER_PARAM_SPEED,
    PAPER_PARAM_STEP,
    PAPER_PARAM_BATCHES,
    PAPER_PARAM_COUNT
};

static const method_param s_paper_params[PAPER_PARAM_COUNT] = {
    [METHODS_KD_LEAF] = { "kd.leaf", 512, 1, 1 << 30, true, "T: objects a leaf may hold before it is split" },
    [METHODS_KD_EPSILON] = { "kd.epsilon", 0.01, 0, 1, false, "growth of a box, as a part of the mean side" },
    [METHODS_KD_STATIC] = { "kd.static", 0.6, 0, 1, false,
        "K: kd-paper detects incrementally above this share of static objects" },
    [METHODS_KD_TREE] = { "kd.tree", 1, 0, 1, true, "0: one leaf for all, the sweep alone prunes" },
    [METHODS_KD_SAP] = { "kd.sap", 1, 0, 1, true, "0: brute force in the nodes, the tree alone prunes" },
    [PAPER_PARAM_SIMD] = { "kd.simd", 1, 0, 1, true, "0: one pair at a time, whatever the instruction set" },
    [PAPER_PARAM_SPEED] = { "kd.speed", 0, 0, 1e9, false,
        "objects from this speed on are not static, in units a second; 0: the grown box alone decides" },
    [PAPER_PARAM_STEP] = { "kd.step", 1.0 / 30, 1e-9, 1e9, false, "seconds from one update to the next" },
    [PAPER_PARAM_BATCHES] = { "kd.batches", 0, 0, 1, true,
        "1: count the lengths of the sweeps' batches, which costs time" },
};

static void* create_paper( const clv_method_context* host, kd_mode mode )
{
    void* state;
    const method_context* context = clv_methods_kd_take( host, &state );
    if ( context == NULL )
    {
        return NULL;
    }
    const double* params = context->params;
    kd_rules rules = clv_methods_kd_rules( params, mode );
    rules.flow = KD_FLOW_2019;
    rules.still = params[PAPER_PARAM_SPEED] * params[PAPER_PARAM_STEP];
    rules.is_endless = true;
    rules.holds_grown = true;
    rules.looks_at_all = true;
    rules.search = ( kd_search_rules ){
        .sweep = params[METHODS_KD_SAP] != 0 ? KD_SWEEP_SORTED : KD_SWEEP_NONE,
        .by_variance = true,
        .is_quick = true,
        .keeps_order = true,
        .count_batches = params[PAPER_PARAM_BATCHES] != 0,
    };
    clv_methods_kd_begin( state, params[PAPER_PARAM_SIMD] != 0 ? context->isa : CLV_ISA_SCALAR, &rules );
    return state;
}

METHODS_KD_CREATES( paper )

#define PAPER_ROW( row_name, about, row_create, temporal )                                                   \
    METHODS_KD_ROW( row_name, "Serpa and Rodrigues, CGF 2019, as published", about, s_paper_params,          \
        PAPER_PARAM_COUNT, row_create, temporal, false )

// None uses the set of moved boxes: the papers look at every box.
const method clv_methods_kd_paper_rebuilt =
    PAPER_ROW( "kd-paper-rebuilt", "new tree every frame", create_paper_rebuilt, false );
const method clv_methods_kd_paper_complete =
    PAPER_ROW( "kd-paper-complete", "persistent tree", create_paper_complete, true );
const method clv_methods_kd_paper_incremental = PAPER_ROW(
    "kd-paper-incremental", "persistent tree, pairs at rest are kept", create_paper_incremental, true );
const method clv_methods_kd_paper =
    PAPER_ROW( "kd-paper", "persistent tree, adaptive", create_paper_adaptive, true );
