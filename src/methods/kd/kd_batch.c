// SPDX-License-Identifier: MIT
#include "kd/kd_batch.h"

void clv_kd_batches_add( kd_batches* batches, uint32_t length )
{
    if ( length == 0 )
    {
        return;
    }
    uint32_t bin = 0;
    while ( bin + 1 < KD_BATCH_BINS && length > 1u << bin )
    {
        bin += 1;
    }
    batches->count += 1;
    batches->test_count += length;
    batches->bins[bin] += 1;
}

void clv_kd_batches_add_small( kd_batches* batches, const simd_small_boxes* boxes, uint32_t first )
{
    for ( uint32_t row = first; row < boxes->count; ++row )
    {
        clv_kd_batches_add( batches, boxes->ends[row] - ( row + 1 ) );
    }
}

void clv_kd_batches_add_rows( kd_batches* batches, const simd_small_row* rows, uint32_t row_count )
{
    for ( uint32_t row = 0; row < row_count; ++row )
    {
        clv_kd_batches_add( batches, rows[row].end - rows[row].begin );
    }
}

// How many from `begin` on begin no later than `upper`.
static uint32_t in_reach( const simd_boxes* boxes, uint32_t begin, float upper )
{
    uint32_t end = begin;
    while ( end < boxes->count && boxes->lower[0][end] <= upper )
    {
        end += 1;
    }
    return end - begin;
}

void clv_kd_batches_add_sorted( kd_batches* batches, const simd_boxes* boxes )
{
    for ( uint32_t row = 0; row < boxes->count; ++row )
    {
        clv_kd_batches_add( batches, in_reach( boxes, row + 1, boxes->upper[0][row] ) );
    }
}

void clv_kd_batches_add_crossed( kd_batches* batches, const simd_boxes* first, const simd_boxes* second )
{
    for ( uint32_t a = 0, b = 0; a < first->count && b < second->count; )
    {
        if ( first->lower[0][a] <= second->lower[0][b] )
        {
            clv_kd_batches_add( batches, in_reach( second, b, first->upper[0][a++] ) );
        }
        else
        {
            clv_kd_batches_add( batches, in_reach( first, a, second->upper[0][b++] ) );
        }
    }
}

void clv_kd_batches_add_block(
    kd_batches* batches, uint32_t row_begin, uint32_t row_end, uint32_t column_begin, uint32_t column_end )
{
    for ( uint32_t row = row_begin; row < row_end; ++row )
    {
        uint32_t begin = row + 1 > column_begin ? row + 1 : column_begin;
        clv_kd_batches_add( batches, column_end > begin ? column_end - begin : 0 );
    }
}
