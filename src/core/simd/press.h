// SPDX-License-Identifier: MIT
// Tables that tell, of eight lanes, where those of some bits go when they are pressed together.
#pragma once

// clang-format off
#define LANE_BIT( b, lane ) ( ( b ) >> ( lane ) & 1u )
// Four bits for each lane of what is pressed together: the lane that it comes from. That is the lanes of the
// bits of b, the lowest first: from the highest bit down, each that is set moves the others up and puts its
// own number below them.
#define PRESS( above, b, lane ) ( ( above ) << 4 * LANE_BIT( b, lane ) | ( lane ) * LANE_BIT( b, lane ) )
#define PRESS_HIGH( b ) PRESS( PRESS( PRESS( PRESS( 0u, b, 7 ), b, 6 ), b, 5 ), b, 4 )
#define PRESSED( b ) PRESS( PRESS( PRESS( PRESS( PRESS_HIGH( b ), b, 3 ), b, 2 ), b, 1 ), b, 0 )

// of( b ) for each b of a table of 256.
#define FOUR_OF( of, b ) of( b ), of( b + 1u ), of( b + 2u ), of( b + 3u )
#define SIXTEEN_OF( of, b ) FOUR_OF( of, b ), FOUR_OF( of, b + 4u ), FOUR_OF( of, b + 8u ), FOUR_OF( of, b + 12u )
#define SIXTY_FOUR_OF( of, b ) \
    SIXTEEN_OF( of, b ), SIXTEEN_OF( of, b + 16u ), SIXTEEN_OF( of, b + 32u ), SIXTEEN_OF( of, b + 48u )
#define EACH_OF_256( of ) \
    SIXTY_FOUR_OF( of, 0u ), SIXTY_FOUR_OF( of, 64u ), SIXTY_FOUR_OF( of, 128u ), SIXTY_FOUR_OF( of, 192u )
// clang-format on
