// SPDX-License-Identifier: MIT
// Lists whose kind is known only at run time. Every member of their union points to the kind's items.
#pragma once

#include "cleave/world_query.h"

static inline clv_queries query_list_of( clv_query_kind kind, const void* items, uint32_t count )
{
    clv_queries list = clv_query_list( kind, count );
    list.points = (const clv_vec3*)items;
    return list;
}

/// The same list for the calls in double.
static inline clv_queries64 query_list_as64( const clv_queries* list )
{
    clv_queries64 wide = clv_query_list64( list->kind, list->count );
    wide.points = (const clv_vec64*)(const void*)list->points;
    wide.filters = list->filters;
    wide.filter_each = list->filter_each;
    wide.as_given = list->as_given;
    return wide;
}
