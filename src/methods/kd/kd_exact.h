// SPDX-License-Identifier: MIT
// A sink on the way to another that lets those pairs pass whose boxes overlap: a search of grown boxes finds
// too many.
#pragma once

#include "pair/sink.h"
#include "simd/method_kernels.h"

enum
{
    KD_CANDIDATES = 2048 // 16 KiB: they are still in the first-level cache when they are looked at
};

typedef struct kd_exact_sink
{
    pair_sink sink; ///< hand this to the search
    pair_sink* out;
    const clv_aabb* boxes;
    const simd_method_kernels* kernels;
    uint64_t passed; ///< candidates so far
} kd_exact_sink;

static inline clv_result kd_exact_pass( pair_sink* sink )
{
    kd_exact_sink* self = (kd_exact_sink*)sink;
    self->passed += sink->count;
    uint32_t kept =
        self->kernels->keep_overlapping( self->boxes, sink->pairs, (uint32_t)sink->count, sink->pairs );
    sink->count = 0;
    return clv_pair_sink_put_all( self->out, sink->pairs, kept );
}

/// `candidates` is KD_CANDIDATES long.
static inline kd_exact_sink kd_exact_open(
    const simd_method_kernels* kernels, const clv_aabb* boxes, clv_pair* candidates, pair_sink* out )
{
    return ( kd_exact_sink ){
        .sink = { .pairs = candidates, .capacity = KD_CANDIDATES, .make_room = kd_exact_pass },
        .out = out,
        .boxes = boxes,
        .kernels = kernels,
    };
}

/// After the search: the last candidates.
static inline clv_result kd_exact_close( kd_exact_sink* sink )
{
    return kd_exact_pass( &sink->sink );
}
