// SPDX-License-Identifier: MIT
// bytes_meet for the instruction sets without a quicker way: six saturating subtractions, or-ed, are zero exactly where all
// hold. No include guard: part of a template, see cell_body.h.

typedef struct byte_box
{
    bytes lower[3], upper[3];
} byte_box;

static inline uint64_t bytes_meet( const byte_box* lanes, const byte_box* row, int axes )
{
    bytes by_axis[3];
    for ( int axis = 0; axis < axes; ++axis )
    {
        by_axis[axis] = bytes_or( bytes_excess( lanes->lower[axis], row->upper[axis] ),
            bytes_excess( row->lower[axis], lanes->upper[axis] ) );
    }
    bytes both = bytes_or( by_axis[0], by_axis[1] );
    return bytes_zero_bits( axes == 3 ? bytes_or( both, by_axis[2] ) : both );
}
