// SPDX-License-Identifier: MIT
// A sink on the way to another that counts what passes. Only this knows: a visitor's sink begins at 0 again
// with every chunk, and filters thin a list while it grows.
#pragma once

#include "base/assertion.h"
#include "pair/sink.h"

typedef struct pair_counting_sink
{
    clv_pair_sink sink; ///< hand this to the search
    clv_pair_sink* target;
    uint64_t passed;
} pair_counting_sink;

static inline clv_result pair_counting_pass_on( clv_pair_sink* sink )
{
    pair_counting_sink* counting = (pair_counting_sink*)sink;
    clv_pair_sink* target = counting->target;
    CLV_ASSERT( sink->pairs == target->pairs && sink->count >= target->count );
    counting->passed += sink->count - target->count;
    target->count = sink->count;
    target->expected = sink->expected;
    clv_result result = target->make_room( target );
    sink->pairs = target->pairs;
    sink->count = target->count;
    sink->capacity = target->capacity;
    return result;
}

static inline pair_counting_sink pair_counting_open( clv_pair_sink* target )
{
    pair_counting_sink counting = { *target, target, 0 };
    counting.sink.make_room = pair_counting_pass_on;
    counting.sink.keep = NULL;
    counting.sink.borrow = NULL;
    return counting;
}

/// After the search: everything is in the target; how many pairs passed.
static inline uint64_t pair_counting_close( pair_counting_sink* counting )
{
    counting->passed += counting->sink.count - counting->target->count;
    counting->target->count = counting->sink.count;
    return counting->passed;
}
