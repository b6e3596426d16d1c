// SPDX-License-Identifier: MIT
// Brute force that answers a judge_question: every box of the world, one after the other, without a tree.
#pragma once

#include "judge_question.h"

/// All that it meets of what the space should see, by slot, with margins or as given. `filter` may be NULL.
uint32_t judge_find_all( const judge_world* world, const judge_question* q, const clv_filter* filter,
    bool as_given, clv_hit64* hits );
