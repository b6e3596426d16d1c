// SPDX-License-Identifier: MIT
#include "simd/cells.h"

#include <stdatomic.h>

uint16_t clv_simd_lane_places[256][8];
uint8_t clv_simd_lane_counts[256];

static void fill( void )
{
    for ( uint32_t bits = 0; bits < 256; ++bits )
    {
        uint8_t count = 0;
        for ( uint32_t lane = 0; lane < 8; ++lane )
        {
            if ( ( bits >> lane & 1 ) != 0 )
            {
                clv_simd_lane_places[bits][count++] = (uint16_t)( lane * sizeof( cell_entry ) );
            }
        }
        clv_simd_lane_counts[bits] = count;
    }
}

void clv_simd_fill_places( void )
{
    enum
    {
        EMPTY,
        AT_WORK,
        FULL
    };
    static atomic_int state;
    int expected = EMPTY;
    if ( atomic_compare_exchange_strong( &state, &expected, AT_WORK ) )
    {
        fill();
        atomic_store( &state, FULL );
    }
    while ( atomic_load( &state ) != FULL ) // another thread is at it: a few microseconds
    {
    }
}
