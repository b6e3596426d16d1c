// SPDX-License-Identifier: MIT
// For the instruction sets whose widest register has four floats, SSE2 and NEON: the wide type of
// kernel_body.h is one register, the eight floats of query_body.h are two. Over `four`, which lanes_x86.h or
// lanes_neon.h defines, and of two registers
//   eight_bits( m ), eight_signs( p ), eight_least_slot( p ), eight_least( a ), eight_most( a ),
//   which the includer adds.
// No include guard: part of a template.

#define WIDE_LANES 4
typedef four wide;
typedef four_mask wide_mask;

SIMD_ONE( wide_load, wide, const float*, four_load_aligned )
SIMD_ONE( wide_load_any, wide, const float*, four_load )
SIMD_ONE( wide_splat, wide, float, four_splat )
SIMD_TWO( wide_le, wide_mask, wide, four_le )

static inline wide_mask wide_le_and( wide_mask m, wide a, wide b )
{
    return four_and( m, four_le( a, b ) );
}

SIMD_ONE( wide_bits, uint32_t, wide_mask, four_bits )

// The first two floats of a corner and the last two, so that nothing but corners is read: one of three floats
// has the middle one twice, one of two has both.
static inline bool four_are_good_apart(
    const void* lower, const void* upper, size_t stride, size_t corner, uint32_t count )
{
    const char *low = lower, *high = upper;
    size_t last = corner - 2 * sizeof( float );
    four_mask good = four_le( four_splat( 0 ), four_splat( 0 ) );
    for ( ; count > 0; --count, low += stride, high += stride )
    {
        good = four_and( good, four_le( four_halves( low, low + last ), four_halves( high, high + last ) ) );
    }
    return four_bits( good ) == 15;
}

#define EIGHT_ALIGN _Alignas( 16 )

typedef struct eight
{
    four low, high;
} eight;

typedef struct eight_mask
{
    four_mask low, high;
} eight_mask;

static inline eight eight_load( const float* p )
{
    return ( eight ){ four_load_aligned( p ), four_load_aligned( p + 4 ) };
}

static inline void eight_store( float* p, eight a )
{
    four_store( p, a.low );
    four_store( p + 4, a.high );
}

static inline eight eight_splat( float f )
{
    return ( eight ){ four_splat( f ), four_splat( f ) };
}

#define EIGHT_BOTH( name, type, of, half )                                                                   \
    static inline type name( of a, of b )                                                                    \
    {                                                                                                        \
        return ( type ){ half( a.low, b.low ), half( a.high, b.high ) };                                     \
    }

EIGHT_BOTH( eight_sub, eight, eight, four_sub )
EIGHT_BOTH( eight_add, eight, eight, four_add )
EIGHT_BOTH( eight_mul, eight, eight, four_mul )
EIGHT_BOTH( eight_max, eight, eight, four_max )
EIGHT_BOTH( eight_min, eight, eight, four_min )
EIGHT_BOTH( eight_le, eight_mask, eight, four_le )
EIGHT_BOTH( eight_and, eight_mask, eight_mask, four_and )

#undef EIGHT_BOTH
