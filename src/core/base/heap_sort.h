// SPDX-License-Identifier: MIT
// The C library's qsort may ask malloc for room, past the caller's hooks, and says nothing of its order of
// equals. This one needs no room, and n log n steps whatever the order.
#pragma once

#include "base/exact.h"

#include <stddef.h>

/// Below, equal or above zero: a before b, either way, b before a. Equals come in an order of their own, so
/// leave none where it matters.
typedef int base_compare( const void* a, const void* b );

/// Sorts in place.
void clv_base_heap_sort( void* items, size_t count, size_t item_size, base_compare* compare );
