// SPDX-License-Identifier: MIT
#include "sweep/quick_sort.h"

#include "base/bits.h"
#include "base/heap_sort.h"

enum
{
    QUICK_LEAST = 16,     // insertion sort up to here
    QUICK_PARTS_MOST = 64 // lists put aside: each is larger than the one sorted next, so 32 would be enough
};

typedef struct quick_part
{
    uint32_t begin, end;
    uint32_t cuts_left; // before the list counts as one that is cut badly
} quick_part;

static uint64_t rank_of( base_keyed key )
{
    return (uint64_t)key.key << 32 | key.value;
}

static int compare_ranks( const void* a, const void* b )
{
    uint64_t first = rank_of( *(const base_keyed*)a );
    uint64_t second = rank_of( *(const base_keyed*)b );
    return ( first > second ) - ( first < second );
}

static void insertion_sort_list( base_keyed* keys, uint32_t begin, uint32_t end )
{
    for ( uint32_t i = begin + 1; i < end; ++i )
    {
        base_keyed key = keys[i];
        uint64_t rank = rank_of( key );
        uint32_t hole = i;
        for ( ; hole > begin && rank_of( keys[hole - 1] ) > rank; --hole )
        {
            keys[hole] = keys[hole - 1];
        }
        keys[hole] = key;
    }
}

// Of the quarters, not of the ends: lists are often sorted ones one behind the other, or sorted up to what
// joined at their ends.
static uint64_t median_of_three( const base_keyed* keys, const quick_part* list )
{
    uint32_t quarter = ( list->end - list->begin ) / 4;
    uint64_t a = rank_of( keys[list->begin + quarter] );
    uint64_t b = rank_of( keys[list->begin + 2 * quarter] );
    uint64_t c = rank_of( keys[list->begin + 3 * quarter] );
    uint64_t low = a < b ? a : b;
    uint64_t high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

// Hoare's two hands: [begin, cut) is not above the pivot, [cut, end) not below. The pivot is one of three
// different ranks, so both hands stop inside the list and neither side is empty.
static uint32_t cut_list( base_keyed* keys, const quick_part* list )
{
    uint64_t pivot = median_of_three( keys, list );
    uint32_t left = list->begin;
    uint32_t right = list->end - 1;
    for ( ;; )
    {
        while ( rank_of( keys[left] ) < pivot )
        {
            left += 1;
        }
        while ( rank_of( keys[right] ) > pivot )
        {
            right -= 1;
        }
        if ( left >= right )
        {
            return left > list->begin ? left : left + 1;
        }
        base_keyed key = keys[left];
        keys[left++] = keys[right];
        keys[right--] = key;
    }
}

void clv_sweep_quick_sort( base_keyed* keys, uint32_t count )
{
    quick_part aside[QUICK_PARTS_MOST];
    uint32_t aside_count = 0;
    quick_part list = { 0, count, 2 * base_bit_width( count ) };
    for ( ;; )
    {
        uint32_t length = list.end - list.begin;
        if ( length > QUICK_LEAST && list.cuts_left > 0 )
        {
            uint32_t middle = cut_list( keys, &list );
            quick_part left = { list.begin, middle, list.cuts_left - 1 };
            quick_part right = { middle, list.end, list.cuts_left - 1 };
            bool goes_left = middle - list.begin < list.end - middle;
            aside[aside_count++] = goes_left ? right : left;
            list = goes_left ? left : right;
            continue;
        }
        if ( length > QUICK_LEAST )
        {
            clv_base_heap_sort( keys + list.begin, length, sizeof( base_keyed ), compare_ranks );
        }
        else if ( length > 1 )
        {
            insertion_sort_list( keys, list.begin, list.end );
        }
        if ( aside_count == 0 )
        {
            return;
        }
        list = aside[--aside_count];
    }
}
