// SPDX-License-Identifier: MIT
// row_of for the instruction sets that load a byte into every lane; they all count
// bytes from the low end. No include guard: part of a template, see cell_body.h.

static inline byte_box row_of( const cell_entry* entry )
{
    const uint8_t* code = (const uint8_t*)&entry->code;
    byte_box row;
    for ( int axis = 0; axis < 3; ++axis )
    {
        row.lower[axis] = bytes_splat( code[axis] );
        row.upper[axis] = bytes_splat( code[axis + 4] );
    }
    return row;
}
