// SPDX-License-Identifier: MIT
// Allocator hooks that fill fresh memory with rubbish, check what comes back, and refuse when told.
#pragma once

#include "cleave/base.h"

typedef struct fuzz_heap
{
    size_t bytes; ///< handed out and not given back
    uint64_t block_count;
    uint32_t refuse_after; ///< grants left before refusals begin
    uint32_t refuse_count; ///< refusals still to come; 0: none
    uint64_t refused;      ///< so far
    size_t most_size;      ///< larger blocks are refused; 0: none is
} fuzz_heap;

clv_allocator fuzz_heap_hooks( fuzz_heap* heap );
