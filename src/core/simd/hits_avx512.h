// SPDX-License-Identifier: MIT
// From rows and lanes that may touch to pairs, 48 at once. No include guard: part of a template, see cell_body.h.

#include "simd/hit_sides.h"

// The slots of 16 entries: every fourth 32-bit word from the third on.
static inline void gather_slots( const cell_entry* entries, uint32_t* slots )
{
    const __m512i pick = _mm512_set_epi32( 0, 0, 0, 0, 0, 0, 0, 0, 30, 26, 22, 18, 14, 10, 6, 2 );
    __m256i low = _mm512_castsi512_si256(
        _mm512_permutex2var_epi32( _mm512_loadu_si512( entries ), pick, _mm512_loadu_si512( entries + 4 ) ) );
    __m256i high = _mm512_castsi512_si256( _mm512_permutex2var_epi32(
        _mm512_loadu_si512( entries + 8 ), pick, _mm512_loadu_si512( entries + 12 ) ) );
    _mm256_storeu_si256( (__m256i*)(void*)slots, low );
    _mm256_storeu_si256( (__m256i*)(void*)( slots + 8 ), high );
}

// 64 slots in registers, to be looked up by number.
typedef struct slot_table
{
    __m512i part[4];
} slot_table;

static inline slot_table load_slots( const uint32_t* slots )
{
    slot_table t;
    for ( int i = 0; i < 4; ++i )
    {
        t.part[i] = _mm512_loadu_si512( slots + 16 * i );
    }
    return t;
}

static inline __m512i look_up( const slot_table* table, const uint8_t* numbers )
{
    __m512i at = _mm512_cvtepu8_epi32( _mm_loadu_si128( (const __m128i*)(const void*)numbers ) );
    __m512i low = _mm512_permutex2var_epi32( table->part[0], at, table->part[1] );
    __m512i high = _mm512_permutex2var_epi32( table->part[2], at, table->part[3] );
    return _mm512_mask_mov_epi32( low, _mm512_test_epi32_mask( at, _mm512_set1_epi32( 32 ) ), high );
}

// A bit for each hit in which some lower byte is equal to the upper one it is compared with.
static inline uint64_t hits_that_tie( const hit_sides* sides, const uint8_t* rows, const uint8_t* lanes )
{
    __m512i row = _mm512_loadu_si512( rows ), lane = _mm512_loadu_si512( lanes );
    uint64_t ties = 0;
    for ( size_t axis = 0; axis < 3; ++axis )
    {
        size_t lower = axis * sides->stride, upper = ( axis + 4 ) * sides->stride;
        ties |= _mm512_cmpeq_epi8_mask(
            _mm512_permutexvar_epi8( row, _mm512_loadu_si512( sides->rows.bytes + lower ) ),
            _mm512_permutexvar_epi8( lane, _mm512_loadu_si512( sides->lanes.bytes + upper ) ) );
        ties |= _mm512_cmpeq_epi8_mask(
            _mm512_permutexvar_epi8( row, _mm512_loadu_si512( sides->rows.bytes + upper ) ),
            _mm512_permutexvar_epi8( lane, _mm512_loadu_si512( sides->lanes.bytes + lower ) ) );
    }
    return ties;
}

static inline uint32_t hit_walk_begin( hit_walk* walk, const row_hits* hits )
{
    static const uint8_t numbers[64] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
        20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
        45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63 };
    const __m512i all = _mm512_loadu_si512( numbers );
    uint32_t count = 0;
    for ( uint32_t i = 0; i < hits->count; ++i )
    {
        uint32_t hit_count = base_bit_count( hits->lanes[i] );
        __m512i lanes = _mm512_maskz_compress_epi8( hits->lanes[i], all );
        __m512i row = _mm512_set1_epi8( (char)hits->rows[i] );
        _mm_storeu_si128( (__m128i*)(void*)( walk->lanes + count ), _mm512_castsi512_si128( lanes ) );
        _mm_storeu_si128( (__m128i*)(void*)( walk->rows + count ), _mm512_castsi512_si128( row ) );
        if ( hit_count > 16 ) // seldom, and a store of 64 bytes takes long where it lies in two lines
        {
            _mm512_storeu_si512( walk->lanes + count, lanes );
            _mm512_storeu_si512( walk->rows + count, row );
        }
        count += hit_count;
    }
    // Whole registers are read; what is behind the last has no say, but is something.
    _mm512_storeu_si512( walk->lanes + count, _mm512_setzero_si512() );
    _mm512_storeu_si512( walk->rows + count, _mm512_setzero_si512() );
    walk->at = 0;
    return count;
}

// The next `count` hits: pairs that are sure, how many is returned, and ties.
static inline uint32_t split_hits(
    hit_walk* walk, const hit_sides* sides, uint32_t count, clv_pair* sure, clv_pair* ties )
{
    const uint8_t* rows = walk->rows + walk->at;
    const uint8_t* lanes = walk->lanes + walk->at;
    walk->at += count;
    const __m512i first_eight = _mm512_set_epi32( 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0 );
    const __m512i last_eight =
        _mm512_set_epi32( 31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8 );
    const clv_pair* begin = sure;
    slot_table of_rows = load_slots( sides->rows.slots ), of_lanes = load_slots( sides->lanes.slots );
    uint64_t valid = ( (uint64_t)1 << count ) - 1;
    uint64_t tied = hits_that_tie( sides, rows, lanes ) & valid, plain = valid & ~tied;
    for ( uint32_t i = 0; i < count; i += 16, tied >>= 16, plain >>= 16 )
    {
        __m512i a = look_up( &of_rows, rows + i ), b = look_up( &of_lanes, lanes + i );
        __m512i low = _mm512_min_epu32( a, b ), high = _mm512_max_epu32( a, b );
        __m512i pairs[2] = { _mm512_permutex2var_epi32( low, first_eight, high ),
            _mm512_permutex2var_epi32( low, last_eight, high ) };
        for ( int half = 0; half < 2; ++half )
        {
            __mmask8 is_sure = (__mmask8)( plain >> ( 8 * half ) ),
                     is_tie = (__mmask8)( tied >> ( 8 * half ) );
            _mm512_storeu_si512( sure, _mm512_maskz_compress_epi64( is_sure, pairs[half] ) );
            _mm512_storeu_si512( ties, _mm512_maskz_compress_epi64( is_tie, pairs[half] ) );
            sure += base_bit_count( is_sure );
            ties += base_bit_count( is_tie );
        }
    }
    return (uint32_t)( sure - begin );
}
