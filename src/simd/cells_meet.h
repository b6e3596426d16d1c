// SPDX-License-Identifier: MIT
// bytes_meet for the instruction sets without a quicker way. No include guard: part of a template, see cell_body.h.

static inline uint64_t bytes_meet( const bytes a[6], const bytes b[6] )
{
    bytes first = bytes_or( bytes_excess( a[0], b[0] ), bytes_excess( a[1], b[1] ) );
    bytes second = bytes_or( bytes_excess( a[2], b[2] ), bytes_excess( a[3], b[3] ) );
    bytes third = bytes_or( bytes_excess( a[4], b[4] ), bytes_excess( a[5], b[5] ) );
    return bytes_zero_bits( bytes_or( bytes_or( first, second ), third ) );
}
