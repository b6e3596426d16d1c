// SPDX-License-Identifier: MIT
#include "lab/measure/verdict.h"

#include <stdlib.h>
#include <string.h>

static uint64_t pair_key( clv_pair pair )
{
    return (uint64_t)pair.a << 32 | pair.b;
}

// Room for `count` pairs; what was there need not survive.
static bool make_room( verdict_list* list, uint64_t count )
{
    if ( count <= list->capacity )
    {
        return true;
    }
    if ( count > SIZE_MAX / sizeof( clv_pair ) )
    {
        return false;
    }
    uint64_t capacity = count > SIZE_MAX / sizeof( clv_pair ) / 2 ? count : count + count / 2;
    clv_pair* items = malloc( (size_t)capacity * sizeof( clv_pair ) );
    if ( items == NULL )
    {
        return false;
    }
    free( list->items );
    *list = ( verdict_list ){ items, 0, capacity };
    return true;
}

bool verdict_list_set( verdict_list* list, const clv_pair* pairs, uint64_t count )
{
    if ( !make_room( list, count ) )
    {
        return false;
    }
    if ( count > 0 )
    {
        memcpy( list->items, pairs, (size_t)count * sizeof( clv_pair ) );
    }
    list->count = count;
    return true;
}

bool verdict_list_set_ids( verdict_list* list, const clv_id_pair* pairs, uint64_t count )
{
    if ( !make_room( list, count ) )
    {
        return false;
    }
    for ( uint64_t index = 0; index < count; ++index )
    {
        list->items[index] = ( clv_pair ){ pairs[index].a.index, pairs[index].b.index };
    }
    list->count = count;
    return true;
}

void verdict_list_free( verdict_list* list )
{
    free( list->items );
    *list = ( verdict_list ){ 0 };
}

static int compare_pairs( const void* left, const void* right )
{
    uint64_t a = pair_key( *(const clv_pair*)left );
    uint64_t b = pair_key( *(const clv_pair*)right );
    return ( a > b ) - ( a < b );
}

void verdict_list_sort( verdict_list* list )
{
    if ( list->count > 1 )
    {
        qsort( list->items, (size_t)list->count, sizeof( clv_pair ), compare_pairs );
    }
}

bool verdict_list_subtract( verdict_list* result, const verdict_list* list, const verdict_list* other )
{
    result->count = 0;
    if ( !make_room( result, list->count ) )
    {
        return false;
    }
    uint64_t at = 0;
    for ( uint64_t index = 0; index < list->count; ++index )
    {
        uint64_t key = pair_key( list->items[index] );
        while ( at < other->count && pair_key( other->items[at] ) < key )
        {
            at += 1;
        }
        if ( at == other->count || pair_key( other->items[at] ) != key )
        {
            result->items[result->count++] = list->items[index];
        }
    }
    return true;
}

const char* verdict_fault_text( verdict_fault fault )
{
    switch ( fault )
    {
    case VERDICT_FINE: return "is right";
    case VERDICT_MISSING: return "is missing";
    case VERDICT_EXTRA: return "is extra";
    case VERDICT_DUPLICATED: return "is reported more than once";
    case VERDICT_MISORDERED: return "is not written as a < b";
    case VERDICT_NOWHERE: return "names an index that no object has";
    }
    return "";
}

static void note( verdict_difference* difference, verdict_fault fault, clv_pair pair )
{
    difference->missing_count += fault == VERDICT_MISSING ? 1 : 0;
    difference->duplicate_count += fault == VERDICT_DUPLICATED ? 1 : 0;
    difference->extra_count += fault != VERDICT_MISSING && fault != VERDICT_DUPLICATED ? 1 : 0;
    if ( difference->fault == VERDICT_FINE )
    {
        difference->fault = fault;
        difference->pair = pair;
    }
}

static verdict_fault fault_of_unexpected( const verdict_list* found, uint64_t at, uint32_t object_count )
{
    clv_pair pair = found->items[at];
    if ( pair.a >= object_count || pair.b >= object_count )
    {
        return VERDICT_NOWHERE;
    }
    if ( pair.a >= pair.b )
    {
        return VERDICT_MISORDERED;
    }
    return at > 0 && pair_key( found->items[at - 1] ) == pair_key( pair ) ? VERDICT_DUPLICATED
                                                                          : VERDICT_EXTRA;
}

verdict_difference verdict_compare(
    const verdict_list* expected, const verdict_list* found, uint32_t object_count )
{
    verdict_difference difference = { 0 };
    uint64_t i = 0;
    uint64_t j = 0;
    while ( i < expected->count || j < found->count )
    {
        uint64_t wanted = i < expected->count ? pair_key( expected->items[i] ) : UINT64_MAX;
        uint64_t given = j < found->count ? pair_key( found->items[j] ) : UINT64_MAX;
        if ( i < expected->count && j < found->count && wanted == given )
        {
            i += 1;
            j += 1;
        }
        else if ( j == found->count || ( i < expected->count && wanted < given ) )
        {
            note( &difference, VERDICT_MISSING, expected->items[i++] );
        }
        else
        {
            note( &difference, fault_of_unexpected( found, j, object_count ), found->items[j] );
            j += 1;
        }
    }
    return difference;
}
