// SPDX-License-Identifier: MIT
#include "pair/list.h"

#include "base/radix_sort.h"

bool clv_pair_list_sort( pair_list* list, pair_list* scratch, base_memory* memory, uint32_t index_end )
{
    scratch->count = 0;
    if ( !base_array_reserve( scratch, memory, list->count ) )
    {
        return false;
    }
    if ( clv_base_sort_pairs( list->items, scratch->items, list->count, index_end ) != list->items )
    {
        pair_list swap = *list;
        *list = *scratch;
        *scratch = swap;
        list->count = swap.count;
        scratch->count = 0;
    }
    return true;
}
