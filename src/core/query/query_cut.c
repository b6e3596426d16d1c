// SPDX-License-Identifier: MIT
// The lowest levels are put in order along their own longest side and cut where the surface area heuristic says, as in I. Wald, "On fast
// construction of SAH-based bounding volume hierarchies" (2007).
#include "query/query_cut.h"

#include "base/assertion.h"

#include "base/bits.h"
#include "simd/have.h"

#include <float.h>
#include <string.h>

#ifdef CLV_HAVE_SSE2
#include <emmintrin.h>
#endif

enum
{
    ORDERED = 32,     // items up to which they are put in order before
    ORDER_STEPS = 16, // and in so many steps
};

// The hull of items that come one by one. In four lanes where there are some, whose last is never looked at; the same bits.
#ifdef CLV_HAVE_SSE2

typedef struct hull
{
    __m128 lower, upper;
} hull;

static inline hull no_hull( void )
{
    return ( hull ){ _mm_set1_ps( FLT_MAX ), _mm_set1_ps( -FLT_MAX ) };
}

static inline void add_item( hull* h, const query_item* item )
{
    h->lower = _mm_min_ps( _mm_loadu_ps( item->lower ), h->lower );
    h->upper = _mm_max_ps( _mm_loadu_ps( item->upper ), h->upper );
}

// Half its surface. That of something endless is large, not infinite: sums must stay comparable.
static inline float hull_area( const hull* h )
{
    // What is in the last lane is no length, and products of such numbers can be slow.
    const __m128 three = _mm_castsi128_ps( _mm_setr_epi32( -1, -1, -1, 0 ) );
    __m128 side = _mm_and_ps( _mm_sub_ps( h->upper, h->lower ), three );
    __m128 face = _mm_mul_ps( side, _mm_shuffle_ps( side, side, _MM_SHUFFLE( 3, 0, 2, 1 ) ) );
    __m128 sum = _mm_add_ss( face, _mm_shuffle_ps( face, face, 1 ) );
    float area = _mm_cvtss_f32( _mm_add_ss( sum, _mm_movehl_ps( face, face ) ) );
    return area < 1e30f ? area : 1e30f;
}

#else

typedef struct hull
{
    float lower[3], upper[3];
} hull;

static inline hull no_hull( void )
{
    return ( hull ){ { FLT_MAX, FLT_MAX, FLT_MAX }, { -FLT_MAX, -FLT_MAX, -FLT_MAX } };
}

static inline void add_item( hull* h, const query_item* item )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        h->lower[axis] = item->lower[axis] < h->lower[axis] ? item->lower[axis] : h->lower[axis];
        h->upper[axis] = item->upper[axis] > h->upper[axis] ? item->upper[axis] : h->upper[axis];
    }
}

static inline float hull_area( const hull* h )
{
    float x = h->upper[0] - h->lower[0], y = h->upper[1] - h->lower[1], z = h->upper[2] - h->lower[2];
    float area = x * y + y * z + z * x;
    return area < 1e30f ? area : 1e30f;
}

#endif

// The cut of items [first, end) that costs least: surface times nodes, on both sides. Never at the ends.
static uint32_t find_cut( const query_item* items, uint32_t first, uint32_t end )
{
    float before[QUERY_SWEPT];
    uint32_t count = end - first;
    CLV_ASSERT( count >= 2 && count <= QUERY_SWEPT );
    hull h = no_hull();
    for ( uint32_t i = 0; i + 1 < count; ++i )
    {
        add_item( &h, &items[first + i] );
        before[i] = hull_area( &h ) * (float)( ( i + QUERY_LANES ) / QUERY_LANES );
    }
    float least = FLT_MAX;
    uint32_t cut = count / 2;
    h = no_hull();
    for ( uint32_t i = count - 1; i > 0; --i )
    {
        add_item( &h, &items[first + i] );
        float nodes = (float)( ( count - i + QUERY_LANES - 1 ) / QUERY_LANES );
        float cost = before[i - 1] + hull_area( &h ) * nodes;
        if ( cost < least )
        {
            least = cost;
            cut = i;
        }
    }
    CLV_ASSERT( cut > 0 && cut < count );
    return first + cut;
}

// The hull of twice the middles. An item without end on both sides has none and says nothing.
static inline void add_middle( hull* h, const query_item* item )
{
#ifdef CLV_HAVE_SSE2
    __m128 twice = _mm_add_ps( _mm_loadu_ps( item->lower ), _mm_loadu_ps( item->upper ) );
    h->lower = _mm_min_ps( twice, h->lower );
    h->upper = _mm_max_ps( twice, h->upper );
#else
    for ( int axis = 0; axis < 3; ++axis )
    {
        float twice = item->lower[axis] + item->upper[axis];
        h->lower[axis] = twice < h->lower[axis] ? twice : h->lower[axis];
        h->upper[axis] = twice > h->upper[axis] ? twice : h->upper[axis];
    }
#endif
}

// The axis along which the middles of some items are farthest apart; where it begins and how long it is.
static uint32_t longest_axis( const query_item* items, uint32_t count, float* low, float* length )
{
    hull h = no_hull();
    for ( uint32_t i = 0; i < count; ++i )
    {
        add_middle( &h, &items[i] );
    }
    float least[4], most[4];
    memcpy( least, &h.lower, sizeof( h.lower ) );
    memcpy( most, &h.upper, sizeof( h.upper ) );
    uint32_t longest = 0;
    for ( uint32_t axis = 1; axis < 3; ++axis )
    {
        longest = most[axis] - least[axis] > most[longest] - least[longest] ? axis : longest;
    }
    *low = least[longest];
    *length = most[longest] - least[longest];
    return longest;
}

// Few items in order along the side where they are farthest apart, roughly: in as many steps as make a difference. The curve has
// brought together what is near; which of that lies beside which it does not know.
static void order_items( query_item* items, uint32_t count )
{
    CLV_ASSERT( count <= ORDERED );
    float low, length;
    uint32_t axis = longest_axis( items, count, &low, &length );
    if ( !( length > 0 && length < FLT_MAX ) )
    {
        return;
    }
    query_item copies[ORDERED];
    uint32_t steps[ORDERED];
    uint32_t places[ORDER_STEPS + 1] = { 0 };
    float scale = ORDER_STEPS / length;
    scale = scale < FLT_MAX ? scale : FLT_MAX;
    for ( uint32_t i = 0; i < count; ++i )
    {
        copies[i] = items[i];
        float at = ( items[i].lower[axis] + items[i].upper[axis] - low ) * scale;
        at = at > 0 ? at : 0; // no number: no middle
        at = at < ORDER_STEPS - 1 ? at : ORDER_STEPS - 1;
        steps[i] = (uint32_t)(int32_t)at;
        CLV_ASSERT( steps[i] < ORDER_STEPS );
        places[steps[i] + 1] += 1;
    }
    for ( uint32_t i = 1; i < ORDER_STEPS; ++i )
    {
        places[i] += places[i - 1];
    }
    CLV_ASSERT( places[ORDER_STEPS - 1] + places[ORDER_STEPS] == count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        items[places[steps[i]]++] = copies[i];
    }
}

uint32_t clv_query_cut_bit( const query_item* items, uint32_t first, uint32_t end )
{
    CLV_ASSERT( end - first >= 2 && items[first].key < items[end - 1].key );
    uint32_t differ = items[first].key ^ items[end - 1].key;
    uint32_t bit = 1u << ( base_bit_width( differ ) - 1 );
    uint32_t low = first, high = end - 1; // the bit is clear at low, set at high
    while ( high - low > 1 )
    {
        uint32_t at = low + ( high - low ) / 2;
        if ( ( items[at].key & bit ) != 0 )
        {
            high = at;
        }
        else
        {
            low = at;
        }
    }
    CLV_ASSERT( ( items[low].key & bit ) == 0 && ( items[high].key & bit ) != 0 );
    return high;
}

uint32_t clv_query_cut_sweep( query_item* items, uint32_t first, uint32_t end )
{
    if ( end - first <= ORDERED )
    {
        order_items( items + first, end - first );
    }
    return find_cut( items, first, end );
}
