// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/types.h"

/// May these two meet? types.h has the rule.
static inline bool object_filters_allow( const clv_filter* a, const clv_filter* b )
{
    if ( a->group != 0 && a->group == b->group )
    {
        return a->group > 0;
    }
    return ( a->category & b->mask ) != 0 && ( b->category & a->mask ) != 0;
}
