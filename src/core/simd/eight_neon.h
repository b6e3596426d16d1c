// SPDX-License-Identifier: MIT
// Eight floats, as query_body.h wants them, in two registers. No include guard: part of a template.

#define EIGHT_ALIGN _Alignas( 16 )

typedef struct eight
{
    float32x4_t low, high;
} eight;

typedef struct eight_mask
{
    uint32x4_t low, high;
} eight_mask;

static inline eight eight_load( const float* p )
{
    eight r = { vld1q_f32( p ), vld1q_f32( p + 4 ) };
    return r;
}

static inline void eight_store( float* p, eight a )
{
    vst1q_f32( p, a.low );
    vst1q_f32( p + 4, a.high );
}

static inline eight eight_splat( float f )
{
    eight r = { vdupq_n_f32( f ), vdupq_n_f32( f ) };
    return r;
}

// NEON's own maximum hands NaN on; this takes b.
static inline float32x4_t four_max( float32x4_t a, float32x4_t b )
{
    return vbslq_f32( vcgtq_f32( a, b ), a, b );
}

static inline float32x4_t four_min( float32x4_t a, float32x4_t b )
{
    return vbslq_f32( vcltq_f32( a, b ), a, b );
}

#define EIGHT_BOTH( type, name, of, operation )                                                              \
    static inline type name( of a, of b )                                                                    \
    {                                                                                                        \
        type r = { operation( a.low, b.low ), operation( a.high, b.high ) };                                 \
        return r;                                                                                            \
    }

EIGHT_BOTH( eight, eight_sub, eight, vsubq_f32 )
EIGHT_BOTH( eight, eight_add, eight, vaddq_f32 )
EIGHT_BOTH( eight, eight_mul, eight, vmulq_f32 )
EIGHT_BOTH( eight, eight_max, eight, four_max )
EIGHT_BOTH( eight, eight_min, eight, four_min )
EIGHT_BOTH( eight_mask, eight_le, eight, vcleq_f32 )
EIGHT_BOTH( eight_mask, eight_and, eight_mask, vandq_u32 )

#undef EIGHT_BOTH

static inline uint32_t eight_bits( eight_mask m )
{
    const uint32x4_t low = { 1, 2, 4, 8 }, high = { 16, 32, 64, 128 };
    return vaddvq_u32( vorrq_u32( vandq_u32( m.low, low ), vandq_u32( m.high, high ) ) );
}

static inline float eight_least( eight a )
{
    return vminvq_f32( vminq_f32( a.low, a.high ) );
}

static inline float eight_most( eight a )
{
    return vmaxvq_f32( vmaxq_f32( a.low, a.high ) );
}

static inline uint32_t eight_signs( const uint32_t* p )
{
    const uint32x4_t low = { 1, 2, 4, 8 }, high = { 16, 32, 64, 128 }, zero = { 0, 0, 0, 0 };
    uint32x4_t a = vandq_u32( vsubq_u32( zero, vshrq_n_u32( vld1q_u32( p ), 31 ) ), low );
    uint32x4_t b = vandq_u32( vsubq_u32( zero, vshrq_n_u32( vld1q_u32( p + 4 ), 31 ) ), high );
    return vaddvq_u32( vorrq_u32( a, b ) );
}

static inline uint32_t eight_least_slot( const uint32_t* p )
{
    return vminvq_u32( vminq_u32( vld1q_u32( p ), vld1q_u32( p + 4 ) ) );
}
