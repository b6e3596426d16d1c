// SPDX-License-Identifier: MIT
// Kernels that look at boxes one by one, as they lie in memory: four lanes hold most of a box, so every x86 table has the
// same ones, each compiled with its own instruction set. The file that includes this has <immintrin.h> or <emmintrin.h>,
// <math.h>, base/bits.h.
// No include guard: this is a template.

// One box in three lies across two lines.
static inline void prefetch_box( const clv_aabb* box )
{
    base_prefetch( &box->lower.x );
    base_prefetch( &box->upper.z );
}

// Slot and mark, read as floats, would be denormals, with which arithmetic is slow: they are masked away.
static inline __m128i small_steps( __m128 bounds, __m128 origin, __m128 scale )
{
    bounds = _mm_and_ps( bounds, _mm_castsi128_ps( _mm_setr_epi32( -1, -1, -1, 0 ) ) );
    __m128 steps = _mm_mul_ps( _mm_sub_ps( bounds, origin ), scale );
    // Of a NaN and a number these two give the second operand.
    steps = _mm_min_ps( _mm_max_ps( steps, _mm_setzero_ps() ), _mm_set1_ps( SMALL_MOST ) );
    return _mm_cvttps_epi32( steps );
}

// The halves overlap in the lane that is not used.
static inline void store_small( simd_small_item* small, __m128i lower, __m128i upper, uint32_t slot )
{
    __m128i packed = _mm_packs_epi32( lower, upper );
    _mm_storel_epi64( (__m128i*)(void*)small->lower, packed );
    _mm_storel_epi64( (__m128i*)(void*)small->upper, _mm_unpackhi_epi64( packed, packed ) );
    small->slot = slot;
}

static void make_small(
    const simd_item* items, uint32_t count, const simd_small_grid* grid, simd_small_item* small )
{
    __m128 origin = _mm_loadu_ps( grid->origin );
    __m128 scale = _mm_loadu_ps( grid->scale );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* bounds = (const float*)(const void*)&items[i];
        __m128i lower = small_steps( _mm_loadu_ps( bounds ), origin, scale );
        __m128i upper = small_steps( _mm_loadu_ps( bounds + 4 ), origin, scale );
        store_small( &small[i], lower, upper, items[i].slot );
    }
}

static void gather_small( const clv_aabb* boxes, const uint32_t* slots, uint32_t count,
    const simd_small_grid* grid, simd_small_item* small )
{
    __m128 origin = _mm_loadu_ps( grid->origin );
    __m128 scale = _mm_loadu_ps( grid->scale );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* box = &boxes[slots[i]].lower.x;
        prefetch_box( &boxes[slots[i + 24 < count ? i + 24 : i]] );
        __m128 last = _mm_loadu_ps( box + 2 );
        __m128i lower = small_steps( _mm_loadu_ps( box ), origin, scale );
        __m128i upper = small_steps( _mm_shuffle_ps( last, last, _MM_SHUFFLE( 3, 3, 2, 1 ) ), origin, scale );
        store_small( &small[i], lower, upper, slots[i] );
    }
}

// Eight records of eight numbers turned: all lower x, all lower y, … The last two of each are the slot.
static inline void turn_small( const simd_small_item* items, __m128i columns[6], __m128i slots[2] )
{
    __m128i row[8], pair[8], four[4];
    for ( int i = 0; i < 8; ++i )
    {
        row[i] = _mm_loadu_si128( (const __m128i*)(const void*)&items[i] );
    }
    for ( int i = 0; i < 4; ++i )
    {
        pair[i] = _mm_unpacklo_epi16( row[2 * i], row[2 * i + 1] );
        pair[i + 4] = _mm_unpackhi_epi16( row[2 * i], row[2 * i + 1] );
    }
    four[0] = _mm_unpacklo_epi32( pair[0], pair[1] );
    four[1] = _mm_unpacklo_epi32( pair[2], pair[3] );
    four[2] = _mm_unpackhi_epi32( pair[0], pair[1] );
    four[3] = _mm_unpackhi_epi32( pair[2], pair[3] );
    columns[0] = _mm_unpacklo_epi64( four[0], four[1] );
    columns[1] = _mm_unpackhi_epi64( four[0], four[1] );
    columns[2] = _mm_unpacklo_epi64( four[2], four[3] );
    columns[3] = _mm_unpackhi_epi64( four[2], four[3] );
    four[0] = _mm_unpacklo_epi32( pair[4], pair[5] );
    four[1] = _mm_unpacklo_epi32( pair[6], pair[7] );
    columns[4] = _mm_unpacklo_epi64( four[0], four[1] );
    columns[5] = _mm_unpackhi_epi64( four[0], four[1] );
    for ( int i = 0; i < 2; ++i )
    {
        __m128i first = _mm_unpackhi_epi32( row[4 * i], row[4 * i + 1] );
        __m128i last = _mm_unpackhi_epi32( row[4 * i + 2], row[4 * i + 3] );
        slots[i] = _mm_unpackhi_epi64( first, last );
    }
}

static inline void store_column( int16_t* to, __m128i column )
{
    _mm_storeu_si128( (__m128i*)(void*)to, column );
}

static void spread_small( const simd_small_item* items, uint32_t begin, uint32_t end,
    const simd_small_turn* turn, const simd_small_boxes* boxes )
{
    const simd_small_turn t = *turn;
    const simd_small_boxes b = *boxes;
    const __m128i shift = _mm_cvtsi32_si128( (int32_t)t.shift );
    uint32_t at = begin;
    for ( ; end - at >= 8; at += 8 )
    {
        __m128i columns[6], slots[2]; // lower x, y, z, upper x, y, z
        turn_small( &items[at], columns, slots );
        store_column( b.lower[0] + at, columns[t.second] );
        store_column( b.upper[0] + at, columns[t.second + 3] );
        store_column( b.lower[1] + at, columns[t.third] );
        store_column( b.upper[1] + at, columns[t.third + 3] );
        _mm_storeu_si128( (__m128i*)(void*)( b.slots + at ), slots[0] );
        _mm_storeu_si128( (__m128i*)(void*)( b.slots + at + 4 ), slots[1] );
        int16_t buckets[8];
        store_column( buckets, _mm_srl_epi16( columns[t.sweep + 3], shift ) );
        for ( uint32_t i = 0; i < 8; ++i )
        {
            b.ends[at + i] = t.starts[buckets[i] + 1];
        }
    }
    for ( ; at < end; ++at )
    {
        simd_small_set( boxes, at, &items[at], turn );
    }
}

// A box is six floats; two registers of four hold them all, two of them twice.
static uint32_t take_leavers( const clv_aabb* boxes, const float lower[3], const float upper[3],
    uint32_t* slots, uint32_t count, uint32_t* leavers )
{
    const __m128 least = _mm_setr_ps( lower[0], lower[1], lower[2], -INFINITY );
    const __m128 most = _mm_setr_ps( INFINITY, upper[0], upper[1], upper[2] );
    uint32_t left = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = slots[i];
        const float* box = &boxes[slot].lower.x;
        prefetch_box( &boxes[slots[i + 24 < count ? i + 24 : i]] );
        __m128 above = _mm_cmpge_ps( _mm_loadu_ps( box ), least );
        __m128 below = _mm_cmplt_ps( _mm_loadu_ps( box + 2 ), most );
        bool stays = _mm_movemask_ps( _mm_and_ps( above, below ) ) == 15;
        // Branch-free, both written and one kept: a branch on whether a box left mispredicts.
        slots[i - left] = slot;
        leavers[left] = slot;
        left += !stays;
    }
    return left;
}

static uint32_t pick_overlapping(
    const clv_aabb* boxes, const uint32_t* slots, uint32_t count, const clv_aabb* box, uint32_t* hits )
{
    const __m128 most = _mm_setr_ps( box->upper.x, box->upper.y, box->upper.z, INFINITY );
    const __m128 least = _mm_setr_ps( -INFINITY, box->lower.x, box->lower.y, box->lower.z );
    uint32_t hit_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* other = &boxes[slots[i]].lower.x;
        __m128 below = _mm_cmple_ps( _mm_loadu_ps( other ), most );
        __m128 above = _mm_cmpge_ps( _mm_loadu_ps( other + 2 ), least );
        hits[hit_count] = slots[i];
        hit_count += _mm_movemask_ps( _mm_and_ps( below, above ) ) == 15;
    }
    return hit_count;
}

static uint32_t scan_overlapping( const clv_aabb* boxes, uint32_t count, const clv_aabb* box, uint32_t* hits )
{
    const __m128 most = _mm_setr_ps( box->upper.x, box->upper.y, box->upper.z, INFINITY );
    const __m128 least = _mm_setr_ps( -INFINITY, box->lower.x, box->lower.y, box->lower.z );
    uint32_t hit_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* other = &boxes[i].lower.x;
        __m128 below = _mm_cmple_ps( _mm_loadu_ps( other ), most );
        __m128 above = _mm_cmpge_ps( _mm_loadu_ps( other + 2 ), least );
        hits[hit_count] = i;
        hit_count += _mm_movemask_ps( _mm_and_ps( below, above ) ) == 15;
    }
    return hit_count;
}

static uint32_t keep_overlapping(
    const clv_aabb* boxes, const clv_pair* pairs, uint32_t count, clv_pair* kept )
{
    uint32_t kept_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* a = &boxes[pairs[i].a].lower.x;
        const float* b = &boxes[pairs[i].b].lower.x;
        // Lower z and the upper corner, moved down by one; the fourth lane is not used.
        __m128 a_upper = _mm_loadu_ps( a + 2 ), b_upper = _mm_loadu_ps( b + 2 );
        a_upper = _mm_shuffle_ps( a_upper, a_upper, _MM_SHUFFLE( 3, 3, 2, 1 ) );
        b_upper = _mm_shuffle_ps( b_upper, b_upper, _MM_SHUFFLE( 3, 3, 2, 1 ) );
        __m128 overlap = _mm_and_ps(
            _mm_cmple_ps( _mm_loadu_ps( a ), b_upper ), _mm_cmple_ps( _mm_loadu_ps( b ), a_upper ) );
        kept[kept_count] = pairs[i];
        kept_count += ( _mm_movemask_ps( overlap ) & 7 ) == 7;
    }
    return kept_count;
}

// Boxes as above: lower corner and upper x, lower z and upper corner. What both registers hold comes out the same.
static uint64_t regrow( const clv_aabb* boxes, clv_aabb* grown, uint32_t count, float epsilon )
{
    const __m128 outward[2] = {
        _mm_setr_ps( -epsilon, -epsilon, -epsilon, epsilon ),
        _mm_setr_ps( -epsilon, epsilon, epsilon, epsilon ),
    };
    const __m128 depth = _mm_set1_ps( 2 * epsilon );
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const float* box = &boxes[i].lower.x;
        float* old = &grown[i].lower.x;
        __m128 box0 = _mm_loadu_ps( box );
        __m128 box1 = _mm_loadu_ps( box + 2 );
        __m128 old0 = _mm_loadu_ps( old ), old1 = _mm_loadu_ps( old + 2 );
        uint32_t above = (uint32_t)_mm_movemask_ps(
            _mm_and_ps( _mm_cmpge_ps( box0, old0 ), _mm_cmple_ps( box0, _mm_add_ps( old0, depth ) ) ) );
        uint32_t below = (uint32_t)_mm_movemask_ps(
            _mm_and_ps( _mm_cmple_ps( box1, old1 ), _mm_cmpge_ps( box1, _mm_sub_ps( old1, depth ) ) ) );
        // A branch: it predicts well, since in a frame most boxes rest or most move, and it saves writing back boxes at rest.
        if ( ( ( above & 7 ) | ( below & 14 ) << 3 ) != 0x77 )
        {
            _mm_storeu_ps( old, _mm_add_ps( box0, outward[0] ) );
            _mm_storeu_ps( old + 2, _mm_add_ps( box1, outward[1] ) );
            bits |= (uint64_t)1 << i;
        }
    }
    return bits;
}
