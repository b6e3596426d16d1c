// SPDX-License-Identifier: MIT
// Lists of pairs held against each other: by identity, not by count.
#pragma once

#include "cleave/types.h"

/// Zero-initialised is empty.
typedef struct verdict_list
{
    clv_pair* items;
    uint64_t count;
    uint64_t capacity;
} verdict_list;

/// A copy of `pairs`; false if out of memory.
bool verdict_list_set( verdict_list* list, const clv_pair* pairs, uint64_t count );
bool verdict_list_set_ids( verdict_list* list, const clv_id_pair* pairs, uint64_t count );
void verdict_list_free( verdict_list* list );

/// By (a, b). The library's own sort is among what is checked, so this one is another.
void verdict_list_sort( verdict_list* list );

/// What is in sorted `list` and not in sorted `other`; false if out of memory.
bool verdict_list_subtract( verdict_list* result, const verdict_list* list, const verdict_list* other );

typedef enum verdict_fault
{
    VERDICT_FINE,
    VERDICT_MISSING,
    VERDICT_EXTRA,
    VERDICT_DUPLICATED,
    VERDICT_MISORDERED, ///< a >= b
    VERDICT_NOWHERE,    ///< an index that no object has
} verdict_fault;

/// "is missing", "is extra", …
const char* verdict_fault_text( verdict_fault fault );

typedef struct verdict_difference
{
    verdict_fault fault; ///< of the first pair, in sorted order, that is not as it should be
    clv_pair pair;
    uint64_t missing_count, extra_count, duplicate_count;
} verdict_difference;

/// Both lists sorted; `expected` is right by assumption.
verdict_difference verdict_compare(
    const verdict_list* expected, const verdict_list* found, uint32_t object_count );
