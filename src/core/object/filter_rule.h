// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/types.h"

/// May these two meet? types.h has the rule. Without a branch: which pairs of a crowd may is hard to predict.
static inline bool object_filters_allow( const clv_filter* a, const clv_filter* b )
{
    bool is_group = ( a->group != 0 ) & ( a->group == b->group );
    bool by_mask = ( ( a->category & b->mask ) != 0 ) & ( ( b->category & a->mask ) != 0 );
    return ( is_group & ( a->group > 0 ) ) | ( !is_group & by_mask );
}
