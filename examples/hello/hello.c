// SPDX-License-Identifier: MIT
// The README's program: three boxes in, the pair that touches out. docs/hello.md tells a longer one line by
// line. As short as it stands there:
// clang-format off
#include <cleave/cleave.h>
#include <stdio.h>

int main( void )
{
    clv_aabb boxes[3] = { { { 0, 0, 0 }, { 1, 1, 1 } }, { { 1, 0, 0 }, { 2, 1, 1 } }, { { 5, 5, 5 }, { 6, 6, 6 } } };
    clv_space_def def = clv_default_space_def();
    clv_space* space;
    if ( clv_space_create( &def, &space ) != CLV_OK ) return 1;
    if ( clv_space_add( space, boxes, 3, NULL ) != CLV_OK || clv_space_update( space ) != CLV_OK ) return 1;
    clv_pair_view view = clv_space_pairs( space );
    for ( uint64_t i = 0; i < view.count; ++i ) printf( "%u touches %u\n", view.pairs[i].a, view.pairs[i].b );
    clv_space_destroy( space );
}
