// SPDX-License-Identifier: MIT
#pragma once

#include <stdint.h>

/// Part of a loop: indices begin .. end.
typedef void parallel_body( uint64_t begin, uint64_t end, void* user );

/// Runs `body` over 0 .. count, cut into one stretch per thread; `thread_count` threads at most, fewer where the work is
/// small or threads cannot be had. Returns when all is done. Bodies of different stretches must not touch the same data.
void parallel_for( uint64_t count, uint32_t thread_count, parallel_body* body, void* user );
