// SPDX-License-Identifier: MIT
// Boxes whose upper corner lies 16 bytes behind the lower one, each corner padded to a register of four
// floats: one load by a mask, so that nothing but corners is read. Others go the way of tables without masks.
// No include guard: part of a template.

#define OWN_APART

enum
{
    PADDED = 16
};

static inline __m256 load_padded( const char* lower )
{
    const __m256i corners = _mm256_setr_epi32( -1, -1, -1, 0, -1, -1, -1, 0 );
    return _mm256_maskload_ps( (const float*)(const void*)lower, corners );
}

static bool are_good_apart(
    const void* lower, const void* upper, size_t stride, size_t corner, uint32_t count )
{
    const char* low = lower;
    if ( (const char*)upper != low + PADDED || corner != sizeof( clv_vec3 ) || count % 2 != 0 )
    {
        return clv_simd_are_good_apart( lower, upper, stride, corner, count );
    }
    __m256 bad = _mm256_setzero_ps();
    for ( ; count > 0; count -= 2, low += 2 * stride )
    {
        __m256 one = load_padded( low ), other = load_padded( low + stride );
        __m256 from = _mm256_permute2f128_ps( one, other, 0x20 ),
               to = _mm256_permute2f128_ps( one, other, 0x31 );
        bad = _mm256_or_ps( bad, _mm256_cmp_ps( from, to, _CMP_NLE_UQ ) );
    }
    return _mm256_movemask_ps( bad ) == 0;
}

// By two stores: one by a mask takes longer.
static inline void put_padded( clv_aabb* own, const char* lower )
{
    const __m256i order = _mm256_setr_epi32( 0, 1, 2, 4, 5, 6, 7, 7 );
    __m256 box = _mm256_permutevar8x32_ps( load_padded( lower ), order );
    _mm_storeu_ps( &own->lower.x, _mm256_castps256_ps128( box ) );
    _mm_storel_pi( (__m64*)(void*)&own->upper.y, _mm256_extractf128_ps( box, 1 ) );
}

static uint64_t put_near(
    clv_aabb* own, const clv_id* ids, const char* lower, const char* upper, size_t stride )
{
    uint64_t bits = 0;
    if ( upper != lower + PADDED )
    {
        return clv_simd_put_near( own, ids, lower, upper, stride );
    }
    BASE_UNROLL( 2 )
    for ( uint32_t i = 0; i < SIMD_RUN; ++i, lower += stride )
    {
        uint32_t slot = ids[i].index; // once: a box stored might be an id
        put_padded( &own[slot], lower );
        bits |= (uint64_t)1 << ( slot & 63 );
    }
    return bits;
}

static void put_anywhere( clv_aabb* own, const clv_id* ids, const char* lower, const char* upper,
    size_t stride, uint32_t count, uint64_t* marks )
{
    if ( upper != lower + PADDED || marks == NULL )
    {
        clv_simd_put_anywhere( own, ids, lower, upper, stride, count, marks );
        return;
    }
    BASE_UNROLL( 1 )
    for ( uint32_t i = 0; i < count; ++i, lower += stride )
    {
        uint32_t slot = ids[i].index;
        put_padded( &own[slot], lower );
        base_bits_add( marks, slot );
    }
}
