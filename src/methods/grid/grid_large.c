// SPDX-License-Identifier: MIT
#include "grid/grid_large.h"

enum
{
    TILE = 2048 // columns of a piece
};

bool clv_grid_large_load(
    grid_large* large, base_memory* memory, const grid_cells* cells, const clv_method_input* input )
{
    large->count = cells->large_count;
    large->piece_count = large->count > 0 ? ( input->live_count + TILE - 1 ) / TILE : 0;
    if ( large->count == 0 )
    {
        return true;
    }
    if ( !clv_simd_box_lanes_reserve( &large->all, memory, input->live_count ) )
    {
        return false;
    }
    uint32_t next_large = 0;
    uint32_t next_small = large->count;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        uint32_t place = grid_span_is_large( &cells->spans.items[i] ) ? next_large++ : next_small++;
        simd_box_lanes_set( &large->all.boxes, place, &input->boxes[slot], slot, 0 );
    }
    clv_simd_box_lanes_finish( &large->all, input->live_count );
    return true;
}

clv_result clv_grid_large_search( const grid_large* large, const simd_method_kernels* kernels, uint32_t piece,
    pair_sink* sink, uint64_t* test_count )
{
    const simd_boxes* boxes = &large->all.boxes;
    uint32_t begin = piece * TILE;
    uint32_t end = boxes->count - begin > TILE ? begin + TILE : boxes->count;
    *test_count += (uint64_t)large->count * ( end - begin );
    simd_cursor cursor = { 0, 0 };
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE( result, sink, kernels->test_block( boxes, large->count, begin, end, &cursor, sink ) )
    return result;
}

void clv_grid_large_release( grid_large* large, base_memory* memory )
{
    clv_simd_box_lanes_release( &large->all, memory );
    *large = ( grid_large ){ 0 };
}
