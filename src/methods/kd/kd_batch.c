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

// How many columns from `begin` on a row is tested with: movers alone, if it is at rest.
static uint32_t in_reach( const simd_list* rows, uint32_t row, const simd_list* columns, uint32_t begin )
{
    bool all_count = rows->movers == NULL || base_bits_has( rows->movers, row );
    float upper = rows->boxes->upper[0][row];
    uint32_t tests = 0;
    for ( uint32_t at = begin; at < columns->boxes->count && columns->boxes->lower[0][at] <= upper; ++at )
    {
        tests += all_count || base_bits_has( columns->movers, at );
    }
    return tests;
}

void clv_kd_batches_add_sorted( kd_batches* batches, const simd_list* list )
{
    for ( uint32_t row = 0; row < list->boxes->count; ++row )
    {
        clv_kd_batches_add( batches, in_reach( list, row, list, row + 1 ) );
    }
}

void clv_kd_batches_add_crossed( kd_batches* batches, const simd_list* first, const simd_list* second )
{
    for ( uint32_t a = 0, b = 0; a < first->boxes->count && b < second->boxes->count; )
    {
        if ( first->boxes->lower[0][a] <= second->boxes->lower[0][b] )
        {
            clv_kd_batches_add( batches, in_reach( first, a++, second, b ) );
        }
        else
        {
            clv_kd_batches_add( batches, in_reach( second, b++, first, a ) );
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
