// SPDX-License-Identifier: MIT
#include "pair/list.h"

#include "base/radix_sort.h"

bool clv_pair_list_reserve( pair_list* list, base_memory* memory, uint64_t capacity )
{
    void* data = list->pairs;
    bool ok =
        clv_base_memory_reserve( memory, &data, &list->capacity, list->count, capacity, sizeof( clv_pair ) );
    list->pairs = data;
    return ok;
}

bool clv_pair_list_shrink( pair_list* list, base_memory* memory, uint64_t capacity )
{
    if ( capacity >= list->capacity )
    {
        return true;
    }
    void* data = list->pairs;
    bool ok =
        clv_base_memory_resize( memory, &data, &list->capacity, list->count, capacity, sizeof( clv_pair ) );
    list->pairs = data;
    return ok;
}

void clv_pair_list_free( pair_list* list, base_memory* memory )
{
    clv_base_memory_give( memory, list->pairs, list->capacity, sizeof( clv_pair ) );
    *list = ( pair_list ){ 0 };
}

bool clv_pair_list_sort( pair_list* list, pair_list* scratch, base_memory* memory, uint32_t index_end )
{
    scratch->count = 0;
    if ( !clv_pair_list_reserve( scratch, memory, list->count ) )
    {
        return false;
    }
    if ( clv_base_sort_pairs( list->pairs, scratch->pairs, list->count, index_end ) != list->pairs )
    {
        pair_list swap = *list;
        list->pairs = scratch->pairs;
        list->capacity = scratch->capacity;
        scratch->pairs = swap.pairs;
        scratch->capacity = swap.capacity;
    }
    return true;
}
