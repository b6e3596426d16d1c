// SPDX-License-Identifier: MIT
// Every box against every other in plain loops, for the scalar tables. Written apart from kernel_body.h so
// that the two can be held against each other. No include guard: this is a template.

static bool overlap_axis( const simd_boxes* boxes, int axis, uint32_t a, uint32_t b )
{
    return boxes->lower[axis][a] <= boxes->upper[axis][b] && boxes->lower[axis][b] <= boxes->upper[axis][a];
}

static void put_pair( clv_pair_sink* sink, uint32_t slot_a, uint32_t slot_b )
{
    sink->pairs[sink->count++] =
        ( clv_pair ){ slot_a < slot_b ? slot_a : slot_b, slot_a < slot_b ? slot_b : slot_a };
}

static bool test_block( const simd_boxes* boxes, uint32_t row_end, uint32_t column_begin, uint32_t column_end,
    simd_cursor* cursor, clv_pair_sink* sink )
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
                if ( clv_pair_sink_is_full( sink ) )
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
