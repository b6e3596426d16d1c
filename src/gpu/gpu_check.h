// SPDX-License-Identifier: MIT
// What is true of the host's view of a device at work. Each function returns the first sentence that is not
// true, or NULL. For debug builds and tests. Nothing is read from the device.
#pragma once

#include "gpu_state.h"

/// Between two calls, and while a frame is under way: buffers and their sizes, the list and the one before,
/// plans, and what resting goes on from.
const char* clv_gpu_frame_check( const clv_gpu* gpu );

/// A list that came to the host: a < b, both below `count_of_boxes`, and ascending without repeats where it
/// is to be sorted. Of more than GPU_CHECK_PAIRS pairs one in so many is looked at, with its neighbour, that
/// about as many are. For tests alone: what a device wrote is not the library's to assert.
const char* clv_gpu_pairs_check(
    const clv_pair* pairs, uint64_t count, uint32_t count_of_boxes, bool is_sorted );

#define GPU_CHECK_PAIRS ( UINT64_C( 1 ) << 16 )
