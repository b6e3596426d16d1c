// SPDX-License-Identifier: MIT
#include "simd/cells.h"
#include "simd/press.h"

// clang-format off
#define PLACE( b, i ) (uint16_t)( ( PRESSED( b ) >> 4 * ( i ) & 7 ) * sizeof( cell_entry ) )
#define PLACES( b ) \
    { PLACE( b, 0 ), PLACE( b, 1 ), PLACE( b, 2 ), PLACE( b, 3 ), \
      PLACE( b, 4 ), PLACE( b, 5 ), PLACE( b, 6 ), PLACE( b, 7 ) }
#define LOW_COUNT( b ) ( LANE_BIT( b, 0 ) + LANE_BIT( b, 1 ) + LANE_BIT( b, 2 ) + LANE_BIT( b, 3 ) )
#define COUNT( b ) (uint8_t)( LOW_COUNT( b ) + LOW_COUNT( ( b ) >> 4 ) )
// clang-format on

const uint16_t clv_simd_lane_places[256][8] = { EACH_OF_256( PLACES ) };
const uint8_t clv_simd_lane_counts[256] = { EACH_OF_256( COUNT ) };
