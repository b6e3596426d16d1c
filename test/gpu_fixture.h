// SPDX-License-Identifier: MIT
// What the tests of the GPU library share: whether there is a device, worlds that are hard for something, and
// the judge.
#pragma once

#include "cleave/gpu.h"
#include "support.h"

#define EACH_WAY( way )                                                                                      \
    for ( clv_gpu_way way = CLV_GPU_AUTO; way <= CLV_GPU_LBVH; way = (clv_gpu_way)( way + 1 ) )

/// For main: true, with a sentence on standard output, where no OpenCL device is here; such tests end with
/// status 77.
bool gpu_test_is_skipped( void );

/// A gpu on the test's device, every other member of the def as given.
clv_gpu* gpu_test_make( clv_gpu_way way );

/// The pairs of the last update, sorted; to free. NULL if there are none.
clv_pair* gpu_test_pairs( clv_gpu* gpu, uint64_t* count );

/// The begun or the ended ones.
clv_pair* gpu_test_begun( clv_gpu* gpu, uint64_t* count );
clv_pair* gpu_test_ended( clv_gpu* gpu, uint64_t* count );

/// Every pair by two loops, sorted; to free.
clv_pair* gpu_test_brute( const clv_aabb* boxes, uint32_t count, uint64_t* pair_count );

/// Updates with these boxes, and the pairs are those expected, which are sorted.
void gpu_test_expect( clv_gpu* gpu, const clv_aabb* boxes, uint32_t count, const clv_pair* expected,
    uint64_t expected_count, const char* note );

/// The same, and the pairs are those of two loops.
void gpu_test_agree( clv_gpu* gpu, const clv_aabb* boxes, uint32_t count, const char* note );

/// The first sentence that is not true of a list that came to the host, or NULL: a < b, both below
/// `count_of_boxes`, and ascending without repeats where it is to be sorted.
const char* gpu_test_check_pairs(
    const clv_pair* pairs, uint64_t count, uint32_t count_of_boxes, bool is_sorted );

const char* gpu_test_way_name( clv_gpu_way way );
