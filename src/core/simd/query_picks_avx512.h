// SPDX-License-Identifier: MIT
// What query_body.h does with the lanes that a comparison chose, all at once and without a branch: lanes are pressed together by
// the instruction that is made for it. No include guard: part of a template.

enum
{
    AT_ONCE = 4, // queries in turn: more of them gain nothing and need more of the first cache
};

// The least of these lanes, in every lane.
static inline __m256 least_of( uint32_t bits, __m256 a )
{
    a = _mm256_mask_blend_ps( (__mmask8)bits, _mm256_set1_ps( INFINITY ), a );
    a = _mm256_min_ps( a, _mm256_permute2f128_ps( a, a, 1 ) );
    a = _mm256_min_ps( a, _mm256_permute_ps( a, 0x4E ) );
    return _mm256_min_ps( a, _mm256_permute_ps( a, 0xB1 ) );
}

static inline uint32_t pick_nodes(
    query_stack* stack, uint32_t top, const query_node* node, eight near, uint32_t bits )
{
    __m256 nearest = least_of( bits, near );
    uint32_t equal = _mm256_mask_cmp_ps_mask( (__mmask8)bits, near, nearest, _CMP_EQ_OQ );
    uint32_t first = equal & ( 0u - equal ), count = base_bit_count( bits );
    __mmask8 rest = (__mmask8)( bits & ~first );
    __m256i child = _mm256_load_si256( (const __m256i*)node->child );
    _mm256_storeu_ps( stack->near + top, _mm256_maskz_compress_ps( rest, near ) );
    _mm256_storeu_si256( (__m256i*)( stack->node + top ), _mm256_maskz_compress_epi32( rest, child ) );
    // Where there is none this writes behind the last.
    uint32_t last = top + count - ( count > 0 );
    stack->near[last] = _mm256_cvtss_f32( nearest );
    stack->node[last] = node->child[base_lowest_bit( first | 0x100u ) & ( QUERY_LANES - 1 )];
    return top + count;
}

static inline uint64_t pick_best( const query_node* node, eight near, uint32_t bits, uint64_t best )
{
    __m256 nearest = least_of( bits, near );
    uint32_t equal = _mm256_mask_cmp_ps_mask( (__mmask8)bits, near, nearest, _CMP_EQ_OQ );
    uint32_t slot = node->least[base_lowest_bit( equal | 0x100u ) & ( QUERY_LANES - 1 )];
    for ( equal &= equal - 1; equal != 0; equal &= equal - 1 ) // seldom
    {
        uint32_t other = node->least[base_lowest_bit( equal )];
        slot = other < slot ? other : slot;
    }
    uint64_t key = query_key( _mm256_cvtss_f32( nearest ), slot );
    return key < best ? key : best;
}

static inline __m512i keys_of_lanes( const query_node* node, __m256 near )
{
    __m512i times = _mm512_slli_epi64( _mm512_cvtepu32_epi64( _mm256_castps_si256( near ) ), 32 );
    return _mm512_or_si512(
        times, _mm512_cvtepu32_epi64( _mm256_load_si256( (const __m256i*)node->least ) ) );
}

// query_gap_squared of eight lanes, step by step as there.
static inline __m512d gaps_squared( const clv_aabb* box, const query_node* node )
{
    __m512d sum = _mm512_setzero_pd();
    for ( int axis = 0; axis < 3; ++axis )
    {
        __m512d lower = _mm512_cvtps_pd( _mm256_load_ps( node->lower[axis] ) );
        __m512d upper = _mm512_cvtps_pd( _mm256_load_ps( node->upper[axis] ) );
        __m512d below = _mm512_sub_pd( lower, _mm512_set1_pd( (double)( &box->upper.x )[axis] ) );
        __m512d above = _mm512_sub_pd( _mm512_set1_pd( (double)( &box->lower.x )[axis] ), upper );
        __m512d gap = _mm512_max_pd( _mm512_max_pd( above, below ), _mm512_setzero_pd() );
        sum = _mm512_add_pd( sum, _mm512_mul_pd( gap, gap ) );
    }
    return sum;
}

// Keys one up from where the new one belongs: the greater of it and the one before, if that is less than what is there. One that
// is greater than all changes nothing.
static inline __m512i insert_key( __m512i keys, __m512i before, uint64_t key )
{
    return _mm512_min_epu64( keys, _mm512_max_epu64( _mm512_set1_epi64( (long long)key ), before ) );
}

static inline __m512i keys_before( __m512i keys )
{
    return _mm512_maskz_permutexvar_epi64( 0xFE, _mm512_setr_epi64( 0, 0, 1, 2, 3, 4, 5, 6 ), keys );
}

static inline void insert_keys(
    uint64_t* keys, uint32_t count, const uint64_t* newcomers, uint32_t newcomer_count )
{
    if ( count <= 8 )
    {
        __m512i all = _mm512_loadu_si512( keys );
        for ( uint32_t i = 0; i < newcomer_count; ++i )
        {
            all = insert_key( all, keys_before( all ), newcomers[i] );
        }
        _mm512_storeu_si512( keys, all );
        return;
    }
    for ( uint32_t i = 0; i < newcomer_count; ++i )
    {
        for ( uint32_t at = ( count - 1 ) & ~7u; at > 0; at -= 8 )
        {
            __m512i here = _mm512_loadu_si512( keys + at ), before = _mm512_loadu_si512( keys + at - 1 );
            _mm512_storeu_si512( keys + at, insert_key( here, before, newcomers[i] ) );
        }
        __m512i first = _mm512_loadu_si512( keys );
        _mm512_storeu_si512( keys, insert_key( first, keys_before( first ), newcomers[i] ) );
    }
}

static inline void pick_nearest( query_nearest* query, const query_node* node, uint32_t bits )
{
    __m512d squares = gaps_squared( &query->box, node );
    __m256 times = _mm512_cvtpd_ps( _mm512_sqrt_pd( squares ) );
    __m256i slots = _mm256_load_si256( (const __m256i*)node->least );
    __mmask8 counts = _mm512_cmp_pd_mask( squares, _mm512_set1_pd( query->square ), _CMP_LE_OQ );
    counts = _mm256_mask_cmpneq_epi32_mask( counts, slots, _mm256_set1_epi32( -1 ) );
    __m512i keys = _mm512_mask_blend_epi64(
        counts, _mm512_set1_epi64( (long long)QUERY_NONE_NEAR ), keys_of_lanes( node, times ) );
    _Alignas( 64 ) uint64_t newcomers[QUERY_LANES];
    _mm512_storeu_si512( newcomers, _mm512_maskz_compress_epi64( (__mmask8)bits, keys ) );
    insert_keys( query->keys, query->count, newcomers, base_bit_count( bits ) );
    query_nearest_shorten( query );
}
