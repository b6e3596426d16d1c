// SPDX-License-Identifier: MIT
// How long the batches are that the sweeps hand to the kernels: one object, and all others in reach along the
// axis. Figure 11 of the paper explains the small gain of wide instructions by them. Counting walks the lists
// once more, so it is done where a setting asks for it alone.
#pragma once

#include "simd/method_kernels.h"

/// Bin i holds batches of up to 2^i tests; the last one all longer ones.
#define KD_BATCH_BINS 11

typedef struct kd_batches
{
    uint64_t count; ///< of at least one test
    uint64_t test_count;
    uint64_t bins[KD_BATCH_BINS];
} kd_batches;

void clv_kd_batches_add( kd_batches* batches, uint32_t length );

/// Of one call of the kernel (the first from row `first` on) `sweep_small`, `cross_small`, `sweep`,
/// `sweep_cross`, `test_block` each.
void clv_kd_batches_add_small( kd_batches* batches, const simd_small_boxes* boxes, uint32_t first );
void clv_kd_batches_add_rows( kd_batches* batches, const simd_small_row* rows, uint32_t row_count );
void clv_kd_batches_add_sorted( kd_batches* batches, const simd_list* list );
void clv_kd_batches_add_crossed( kd_batches* batches, const simd_list* first, const simd_list* second );
void clv_kd_batches_add_block(
    kd_batches* batches, uint32_t row_begin, uint32_t row_end, uint32_t column_begin, uint32_t column_end );
