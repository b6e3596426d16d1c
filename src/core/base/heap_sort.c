// SPDX-License-Identifier: MIT
// Williams, "Algorithm 232: heapsort" (1964), with Floyd's way to build the heap.
#include "base/heap_sort.h"

static void swap_items( unsigned char* a, unsigned char* b, size_t size )
{
    for ( size_t i = 0; i < size; ++i )
    {
        unsigned char byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

// The item at `at` goes down until no child comes after it.
static void sift_down( unsigned char* items, size_t at, size_t count, size_t size, base_compare* compare )
{
    while ( at < count / 2 )
    {
        size_t child = 2 * at + 1;
        if ( child + 1 < count && compare( items + child * size, items + ( child + 1 ) * size ) < 0 )
        {
            child += 1;
        }
        if ( compare( items + at * size, items + child * size ) >= 0 )
        {
            return;
        }
        swap_items( items + at * size, items + child * size, size );
        at = child;
    }
}

void clv_base_heap_sort( void* items, size_t count, size_t item_size, base_compare* compare )
{
    unsigned char* bytes = items;
    for ( size_t i = count / 2; i-- > 0; )
    {
        sift_down( bytes, i, count, item_size, compare );
    }
    for ( size_t left = count; left > 1; --left )
    {
        swap_items( bytes, bytes + ( left - 1 ) * item_size, item_size );
        sift_down( bytes, 0, left - 1, item_size, compare );
    }
}
