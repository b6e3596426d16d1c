// SPDX-License-Identifier: MIT
// The reference: plain loops, written apart from kernel_body.h so that the two can be held against each other.
#include "simd/kernels.h"

static bool overlap_axis( const simd_boxes* boxes, int axis, uint32_t a, uint32_t b )
{
    return boxes->lower[axis][a] <= boxes->upper[axis][b] && boxes->lower[axis][b] <= boxes->upper[axis][a];
}

static void put_pair( pair_sink* sink, uint32_t slot_a, uint32_t slot_b )
{
    sink->pairs[sink->count++] =
        ( clv_pair ){ slot_a < slot_b ? slot_a : slot_b, slot_a < slot_b ? slot_b : slot_a };
}

static bool test_block( const simd_boxes* boxes, uint32_t row_end, uint32_t column_begin, uint32_t column_end,
    simd_cursor* cursor, pair_sink* sink )
{
    for ( ; cursor->row < row_end; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        uint32_t column = row + 1 > column_begin ? row + 1 : column_begin;
        column = cursor->column > column ? cursor->column : column;
        for ( ; column < column_end; ++column )
        {
            if ( overlap_axis( boxes, 0, row, column ) && overlap_axis( boxes, 1, row, column ) &&
                overlap_axis( boxes, 2, row, column ) )
            {
                if ( pair_sink_is_full( sink ) )
                {
                    cursor->column = column;
                    return false;
                }
                put_pair( sink, boxes->slots[row], boxes->slots[column] );
            }
        }
        cursor->column = 0;
    }
    return true;
}

static bool sweep( const simd_boxes* boxes, simd_cursor* cursor, pair_sink* sink, uint64_t* test_count )
{
    for ( ; cursor->row < boxes->count; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        float reach = boxes->upper[0][row];
        uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
        for ( ; column < boxes->count && boxes->lower[0][column] <= reach; ++column )
        {
            if ( overlap_axis( boxes, 1, row, column ) && overlap_axis( boxes, 2, row, column ) )
            {
                if ( pair_sink_is_full( sink ) )
                {
                    cursor->column = column;
                    return false;
                }
                put_pair( sink, boxes->slots[row], boxes->slots[column] );
            }
        }
        *test_count += column - ( row + 1 );
        cursor->column = 0;
    }
    return true;
}

static bool overlap_axis_of_two( const simd_boxes* a, uint32_t i, const simd_boxes* b, uint32_t j, int axis )
{
    return a->lower[axis][i] <= b->upper[axis][j] && b->lower[axis][j] <= a->upper[axis][i];
}

// Row `row` of one list against the other from `begin` on. False, and *column where to go on, if the sink is full.
static bool cross_row( const simd_boxes* rows, uint32_t row, const simd_boxes* columns, uint32_t begin,
    uint32_t* column, pair_sink* sink, uint64_t* test_count )
{
    float reach = rows->upper[0][row];
    for ( ; *column < columns->count && columns->lower[0][*column] <= reach; *column += 1 )
    {
        if ( overlap_axis_of_two( rows, row, columns, *column, 1 ) &&
            overlap_axis_of_two( rows, row, columns, *column, 2 ) )
        {
            if ( pair_sink_is_full( sink ) )
            {
                return false;
            }
            put_pair( sink, rows->slots[row], columns->slots[*column] );
        }
    }
    *test_count += *column - begin;
    return true;
}

static bool sweep_cross( const simd_boxes* first, const simd_boxes* second, simd_cross_cursor* cursor,
    pair_sink* sink, uint64_t* test_count )
{
    while ( cursor->first < first->count && cursor->second < second->count )
    {
        bool by_first = first->lower[0][cursor->first] <= second->lower[0][cursor->second];
        uint32_t begin = by_first ? cursor->second : cursor->first;
        uint32_t column = cursor->column > begin ? cursor->column : begin;
        bool done = by_first ? cross_row( first, cursor->first, second, begin, &column, sink, test_count )
                             : cross_row( second, cursor->second, first, begin, &column, sink, test_count );
        if ( !done )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
        cursor->first += by_first;
        cursor->second += !by_first;
    }
    return true;
}

// Columns *column .. end against one box, axes turned. False, and *column where to go on, if the sink is full.
static bool test_range( const float lower[3], const float upper[3], uint32_t slot, const simd_boxes* boxes,
    uint32_t* column, uint32_t end, pair_sink* sink )
{
    for ( ; *column < end; *column += 1 )
    {
        uint32_t at = *column;
        bool overlap = true;
        for ( int axis = 0; axis < 3; ++axis )
        {
            overlap &= boxes->lower[axis][at] <= upper[axis] && lower[axis] <= boxes->upper[axis][at];
        }
        if ( overlap )
        {
            if ( pair_sink_is_full( sink ) )
            {
                return false;
            }
            put_pair( sink, slot, boxes->slots[at] );
        }
    }
    return true;
}

static bool sweep_ranges( const simd_boxes* boxes, const uint32_t* ends, simd_cursor* cursor, pair_sink* sink,
    uint64_t* test_count )
{
    for ( ; cursor->row < boxes->count; cursor->row += 1 )
    {
        uint32_t row = cursor->row;
        float lower[3], upper[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            lower[axis] = boxes->lower[axis][row];
            upper[axis] = boxes->upper[axis][row];
        }
        uint32_t column = cursor->column > 0 ? cursor->column : row + 1;
        if ( !test_range( lower, upper, boxes->slots[row], boxes, &column, ends[row], sink ) )
        {
            cursor->column = column;
            return false;
        }
        *test_count += ends[row] - ( row + 1 );
        cursor->column = 0;
    }
    return true;
}

static bool cross_ranges( const simd_item* items, uint32_t axis, const simd_range* ranges,
    uint32_t range_count, const simd_boxes* boxes, simd_cursor* cursor, pair_sink* sink,
    uint64_t* test_count )
{
    for ( ; cursor->row < range_count; cursor->row += 1 )
    {
        const simd_range* range = &ranges[cursor->row];
        const simd_item* item = &items[range->row];
        float lower[3], upper[3];
        for ( uint32_t i = 0; i < 3; ++i )
        {
            lower[i] = item->lower[( axis + i ) % 3];
            upper[i] = item->upper[( axis + i ) % 3];
        }
        uint32_t column = cursor->column > range->begin ? cursor->column : range->begin;
        if ( !test_range( lower, upper, item->slot, boxes, &column, range->end, sink ) )
        {
            cursor->column = column;
            return false;
        }
        *test_count += range->end - range->begin;
        cursor->column = 0;
    }
    return true;
}

const simd_kernels simd_kernels_scalar = {
    CLV_ISA_SCALAR,
    test_block,
    sweep,
    sweep_cross,
    sweep_ranges,
    cross_ranges,
};
