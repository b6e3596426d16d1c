// SPDX-License-Identifier: MIT
// Eight floats, as query_body.h wants them, in two registers. No include guard: part of a template.

#define EIGHT_ALIGN _Alignas( 16 )

typedef struct eight
{
    __m128 low, high;
} eight;
typedef eight eight_mask;

static inline eight eight_load( const float* p )
{
    eight r = { _mm_load_ps( p ), _mm_load_ps( p + 4 ) };
    return r;
}

static inline void eight_store( float* p, eight a )
{
    _mm_store_ps( p, a.low );
    _mm_store_ps( p + 4, a.high );
}

static inline eight eight_splat( float f )
{
    eight r = { _mm_set1_ps( f ), _mm_set1_ps( f ) };
    return r;
}

#define EIGHT_BOTH( name, operation )                                                                        \
    static inline eight name( eight a, eight b )                                                             \
    {                                                                                                        \
        eight r = { operation( a.low, b.low ), operation( a.high, b.high ) };                                \
        return r;                                                                                            \
    }

EIGHT_BOTH( eight_sub, _mm_sub_ps )
EIGHT_BOTH( eight_add, _mm_add_ps )
EIGHT_BOTH( eight_mul, _mm_mul_ps )
EIGHT_BOTH( eight_max, _mm_max_ps )
EIGHT_BOTH( eight_min, _mm_min_ps )
EIGHT_BOTH( eight_le, _mm_cmple_ps )
EIGHT_BOTH( eight_and, _mm_and_ps )

#undef EIGHT_BOTH

static inline uint32_t eight_bits( eight_mask m )
{
    return (uint32_t)( _mm_movemask_ps( m.low ) | _mm_movemask_ps( m.high ) << 4 );
}

static inline float eight_least( eight a )
{
    __m128 four = _mm_min_ps( a.low, a.high );
    __m128 two = _mm_min_ps( four, _mm_movehl_ps( four, four ) );
    return _mm_cvtss_f32( _mm_min_ss( two, _mm_shuffle_ps( two, two, 1 ) ) );
}

static inline float eight_most( eight a )
{
    __m128 four = _mm_max_ps( a.low, a.high );
    __m128 two = _mm_max_ps( four, _mm_movehl_ps( four, four ) );
    return _mm_cvtss_f32( _mm_max_ss( two, _mm_shuffle_ps( two, two, 1 ) ) );
}

static inline uint32_t eight_signs( const uint32_t* p )
{
    __m128 low = _mm_castsi128_ps( _mm_load_si128( (const __m128i*)p ) );
    __m128 high = _mm_castsi128_ps( _mm_load_si128( (const __m128i*)( p + 4 ) ) );
    return (uint32_t)( _mm_movemask_ps( low ) | _mm_movemask_ps( high ) << 4 );
}

static inline uint32_t eight_least_slot( const uint32_t* p )
{
    return query_least_slot( p );
}
