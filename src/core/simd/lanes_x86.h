// SPDX-License-Identifier: MIT
// Four floats in one register: the same in every x86 set, each compiled with its own instructions;
// lanes_neon.h has the twin. A box is six floats, so four lanes hold a corner and one number more. The file
// that includes this has <emmintrin.h> or <immintrin.h>. No include guard: part of a template.

typedef __m128 four;
typedef __m128 four_mask;

static inline four four_load( const float* p )
{
    return _mm_loadu_ps( p );
}

// p aligned to 16 bytes: with SSE2 only such a load can be part of another instruction.
static inline four four_load_aligned( const float* p )
{
    return _mm_load_ps( p );
}

static inline void four_store( float* p, four a )
{
    _mm_storeu_ps( p, a );
}

static inline four four_splat( float f )
{
    return _mm_set1_ps( f );
}

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

static inline four four_add( four a, four b )
{
    return _mm_add_ps( a, b );
}

static inline four four_sub( four a, four b )
{
    return _mm_sub_ps( a, b );
}

static inline four four_mul( four a, four b )
{
    return _mm_mul_ps( a, b );
}

// a > b ? a : b, and so b where either is NaN.
static inline four four_max( four a, four b )
{
    return _mm_max_ps( a, b );
}

static inline four four_min( four a, four b )
{
    return _mm_min_ps( a, b );
}

static inline four_mask four_le( four a, four b )
{
    return _mm_cmple_ps( a, b );
}

static inline four_mask four_lt( four a, four b )
{
    return _mm_cmplt_ps( a, b );
}

static inline four_mask four_and( four_mask a, four_mask b )
{
    return _mm_and_ps( a, b );
}

static inline uint32_t four_bits( four_mask m )
{
    return (uint32_t)_mm_movemask_ps( m );
}
