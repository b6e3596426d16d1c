// SPDX-License-Identifier: MIT
// Four floats in one register: the same in every x86 set, each compiled with its own instructions;
// lanes_neon.h has the twin. A box is six floats, so four lanes hold a corner and one number more. The file
// that includes this has <emmintrin.h> or <immintrin.h>. No include guard: part of a template.

typedef __m128 four;
typedef __m128 four_mask;

SIMD_ONE( four_load, four, const float*, _mm_loadu_ps )

// p aligned to 16 bytes: with SSE2 only such a load can be part of another instruction.
SIMD_ONE( four_load_aligned, four, const float*, _mm_load_ps )

static inline void four_store( float* p, four a )
{
    _mm_storeu_ps( p, a );
}

SIMD_ONE( four_splat, four, float, _mm_set1_ps )

static inline four four_set( float a, float b, float c, float d )
{
    return _mm_setr_ps( a, b, c, d );
}

// Each lane takes the next one's number; what the last one holds is not used.
static inline four four_next( four a )
{
    return _mm_shuffle_ps( a, a, _MM_SHUFFLE( 3, 3, 2, 1 ) );
}

// The last lane in all.
static inline four four_last( four a )
{
    return _mm_shuffle_ps( a, a, _MM_SHUFFLE( 3, 3, 3, 3 ) );
}

// 0 in the last lane, whatever it held: integers read as floats would be denormals, with which arithmetic is
// slow.
static inline four four_clear_last( four a )
{
    return _mm_and_ps( a, _mm_castsi128_ps( _mm_setr_epi32( -1, -1, -1, 0 ) ) );
}

SIMD_TWO( four_add, four, four, _mm_add_ps )
SIMD_TWO( four_sub, four, four, _mm_sub_ps )
SIMD_TWO( four_mul, four, four, _mm_mul_ps )

// a > b ? a : b, and so b where either is NaN.
SIMD_TWO( four_max, four, four, _mm_max_ps )
SIMD_TWO( four_min, four, four, _mm_min_ps )
SIMD_TWO( four_le, four_mask, four, _mm_cmple_ps )
SIMD_TWO( four_lt, four_mask, four, _mm_cmplt_ps )
SIMD_TWO( four_and, four_mask, four_mask, _mm_and_ps )

static inline uint32_t four_bits( four_mask m )
{
    return (uint32_t)_mm_movemask_ps( m );
}
