// SPDX-License-Identifier: MIT
// Memory and growing lists of the program. None of these fails: without memory the program ends.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// So many zeroed items, of 0 one; to free.
void* lab_take( uint64_t count, size_t item_size );

/// The same memory with room for so many, perhaps elsewhere; what is new is not zeroed. NULL begins one.
void* lab_grow( void* items, uint64_t count, size_t item_size );

/// The next item of a list, to be filled in: `*lab_list_next( list->items, list->count ) = value;`. A list is any pointer with any
/// count beside it, NULL and 0 at first, and ends by free. Both are evaluated more than once.
#define lab_list_next( items, count )                                                                        \
    ( ( items ) = lab_grow( items, (uint64_t)( count ) + 1, sizeof( *( items ) ) ), &( items )[( count )++] )
