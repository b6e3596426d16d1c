// SPDX-License-Identifier: MIT
// Allocator hooks that count, check sizes and alignments, and refuse when told.
#pragma once

#include "support.h"

typedef struct heap
{
    size_t bytes; ///< handed out and not given back
    size_t peak_bytes;
    uint64_t block_count;
    uint64_t allocate_count; ///< calls, refused ones included
    uint64_t release_count;
    uint64_t refuse_from;   ///< refuse the calls number refuse_from, counted from 1; 0: none
    uint64_t refuse_count;  ///< this many of them; UINT64_MAX: all that follow
    uint64_t refused_count; ///< so far
} heap;

/// Hooks for clv_space_def.allocator. A release of the wrong size or alignment fails the test.
clv_allocator heap_hooks( heap* self );

/// Stop refusing.
void heap_heal( heap* self );
