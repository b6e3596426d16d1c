// SPDX-License-Identifier: MIT
// Objects in the order of the curve, large ones apart as in M. Vinkler et al., "Extended Morton codes for
// high performance bounding volume hierarchy construction" (2017); and where that order is cut into nodes.
// The lowest levels are put in order along their own longest side and cut where the surface area heuristic
// says, as in I. Wald, "On fast construction of SAH-based bounding volume hierarchies" (2007).
#include "query/query_build.h"

#include "base/bits.h"

#include <string.h>

// ---- the curve

// Which axis each bit of the key tells of: always that along which cells are longest.
static void plan_curve( query_curve* c, const float low[3], const float high[3], uint32_t bit_count )
{
    double side[3];
    memset( c, 0, sizeof( *c ) );
    CLV_ASSERT( bit_count <= QUERY_KEY_BITS );
    for ( int axis = 0; axis < 3; ++axis )
    {
        c->low[axis] = low[axis];
        CLV_ASSERT( low[axis] <= high[axis] );
        side[axis] = (double)high[axis] - (double)low[axis];
    }
    uint32_t order[QUERY_KEY_BITS], used = 0;
    for ( ; used < bit_count; ++used )
    {
        int longest = -1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            bool is_longer = longest < 0 || side[axis] > side[longest];
            longest = c->bits[axis] < QUERY_AXIS_BITS && side[axis] > 0 && is_longer ? axis : longest;
        }
        if ( longest < 0 )
        {
            break;
        }
        order[used] = (uint32_t)longest;
        c->bits[longest] += 1;
        side[longest] *= 0.5;
    }
    CLV_ASSERT( used == c->bits[0] + c->bits[1] + c->bits[2] );
    uint32_t left[3] = { c->bits[0], c->bits[1], c->bits[2] };
    for ( uint32_t i = 0; i < used; ++i )
    {
        left[order[i]] -= 1;
        c->spread[order[i]][left[order[i]]] = 1u << ( used - 1 - i );
    }
    CLV_ASSERT( ( left[0] | left[1] | left[2] ) == 0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double whole = (double)high[axis] - (double)low[axis];
        c->scale[axis] = c->bits[axis] > 0 ? (float)( (double)( 1u << c->bits[axis] ) / whole ) : 0.0f;
        c->scale[axis] = c->scale[axis] <= FLT_MAX ? c->scale[axis] : FLT_MAX;
        c->most[axis] = (float)( ( 1u << c->bits[axis] ) - 1 );
    }
}

static void fill_tables( query_curve_tables* t )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        t->spread[axis][0] = 0;
        CLV_ASSERT( t->c.bits[axis] <= QUERY_AXIS_BITS );
        for ( uint32_t value = 1; value < 1u << t->c.bits[axis]; ++value )
        {
            t->spread[axis][value] =
                t->spread[axis][value & ( value - 1 )] | t->c.spread[axis][base_lowest_bit( value )];
        }
    }
}

void clv_query_curve_plan(
    query_curve_tables* t, const float low[3], const float high[3], uint32_t bit_count )
{
    plan_curve( &t->c, low, high, bit_count );
    fill_tables( t );
}

// ---- objects in order

enum
{
    CLASS_COUNT = 16, // of sizes, above the bits of the place
    SIZE_SAMPLES = 255,
    GATHER_ITEMS = 8192,
};

// A typical side: the median of a sample, by insertion.
static float find_typical( const query_build* b )
{
    float sides[SIZE_SAMPLES] = { 0 };
    uint32_t wanted = b->count < SIZE_SAMPLES ? b->count : SIZE_SAMPLES, have = 0;
    for ( uint32_t i = 0; i < wanted; ++i )
    {
        uint32_t slot = b->keys[base_sample( i, wanted, b->count )].value;
        float side = query_longest_side( &b->from->boxes[slot] );
        uint32_t at = have++;
        for ( ; at > 0 && sides[at - 1] > side; --at )
        {
            sides[at] = sides[at - 1];
        }
        sides[at] = side;
    }
    CLV_ASSERT( have > 0 && have <= SIZE_SAMPLES );
    return sides[have / 2];
}

// Objects much larger than most have a subtree of their own: among small ones each would make a node as large
// as itself.
static uint32_t size_class( float side, float typical )
{
    uint32_t class = 0;
    if ( side - side != 0 ) // without end
    {
        return CLASS_COUNT - 1;
    }
    for ( float most = typical * 4; side > most && class < CLASS_COUNT - 2; most *= 8 )
    {
        class += 1;
    }
    return class;
}

uint32_t clv_query_list_objects( query_build* b )
{
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < b->from->slot_count; ++slot )
    {
        b->keys[count] = ( base_keyed ){ 0, slot };
        count += b->from->generations[slot] & 1;
    }
    CLV_ASSERT( count == b->from->live_count );
    return count;
}

static void find_centers( const query_build* b, float low[3], float high[3] )
{
    CLV_ASSERT( b->count > 0 ); // or low is above high
    float least[4] = { FLT_MAX, FLT_MAX, FLT_MAX, 0 }, most[4] = { -FLT_MAX, -FLT_MAX, -FLT_MAX, 0 };
#ifdef CLV_HAVE_SSE2
    __m128 lowest = _mm_loadu_ps( least ), highest = _mm_loadu_ps( most );
#endif
    for ( uint32_t i = 0; i < b->count; ++i )
    {
        float center[4];
        query_box_middle( &b->from->boxes[b->keys[i].value], center );
#ifdef CLV_HAVE_SSE2
        lowest = _mm_min_ps( _mm_loadu_ps( center ), lowest );
        highest = _mm_max_ps( _mm_loadu_ps( center ), highest );
#else
        for ( int axis = 0; axis < 3; ++axis )
        {
            least[axis] = center[axis] < least[axis] ? center[axis] : least[axis];
            most[axis] = center[axis] > most[axis] ? center[axis] : most[axis];
        }
#endif
    }
#ifdef CLV_HAVE_SSE2
    _mm_storeu_ps( least, lowest );
    _mm_storeu_ps( most, highest );
#endif
    memcpy( low, least, sizeof( float ) * 3 );
    memcpy( high, most, sizeof( float ) * 3 );
}

static uint32_t bits_for( uint32_t count )
{
    uint32_t bits = base_bit_width( count ) + 6;
    return bits < QUERY_KEY_BITS ? bits : QUERY_KEY_BITS;
}

static void set_keys( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    query_build* b = context;
    uint32_t first = piece * GATHER_ITEMS;
    uint32_t end = b->count - first < GATHER_ITEMS ? b->count : first + GATHER_ITEMS;
    uint32_t class_shift = bits_for( b->count );
    CLV_ASSERT( first < end && end <= b->count );
    for ( uint32_t i = first; i < end; ++i )
    {
        const clv_aabb* box = &b->from->boxes[b->keys[i].value];
        float center[4];
        query_box_middle( box, center );
        b->keys[i].key = size_class( query_longest_side( box ), b->typical ) << class_shift |
            query_curve_key( b->tables, center );
        CLV_ASSERT( b->keys[i].key >> class_shift < CLASS_COUNT );
    }
}

static void put_object( const query_build* b, uint32_t at, base_keyed from )
{
    query_item* item = &b->tree->items[at];
    CLV_ASSERT( from.value < b->from->slot_count );
    const clv_aabb* box = &b->from->boxes[from.value];
    memcpy( item->lower, &box->lower, sizeof( item->lower ) );
    memcpy( item->upper, &box->upper, sizeof( item->upper ) );
    item->slot = from.value;
    item->key = from.key;
}

static void gather_items( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const query_build* b = context;
    uint32_t first = piece * GATHER_ITEMS;
    uint32_t end = b->count - first < GATHER_ITEMS ? b->count : first + GATHER_ITEMS;
    for ( uint32_t i = first; i < end; ++i )
    {
        put_object( b, i, b->keys[i] );
    }
}

void clv_query_sort_again( query_build* b, uint32_t first, uint32_t end )
{
    query_item* items = b->tree->items;
    CLV_ASSERT( first < end && end <= b->count );
    float low[3] = { FLT_MAX, FLT_MAX, FLT_MAX }, high[3] = { -FLT_MAX, -FLT_MAX, -FLT_MAX };
    for ( uint32_t i = first; i < end; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            float center = query_middle( items[i].lower[axis], items[i].upper[axis] );
            low[axis] = center < low[axis] ? center : low[axis];
            high[axis] = center > high[axis] ? center : high[axis];
        }
    }
    uint32_t count = end - first;
    clv_query_curve_plan( b->tables, low, high, bits_for( count ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const query_item* item = &items[first + i];
        float center[4] = { 0, 0, 0, 0 };
        for ( int axis = 0; axis < 3; ++axis )
        {
            center[axis] = query_middle( item->lower[axis], item->upper[axis] );
        }
        b->keys[i] = ( base_keyed ){ query_curve_key( b->tables, center ), item->slot };
    }
    const base_keyed* sorted = clv_base_sort_keyed( b->keys, b->more_keys, count );
    CLV_ASSERT( sorted[0].key <= sorted[count - 1].key );
    for ( uint32_t i = 0; i < count; ++i )
    {
        put_object( b, first + i, sorted[i] );
    }
}

void clv_query_sort_items( query_build* b, task_runner* tasks )
{
    float low[3], high[3];
    find_centers( b, low, high );
    b->typical = find_typical( b );
    clv_query_curve_plan( b->tables, low, high, bits_for( b->count ) );
    uint32_t pieces = ( b->count + GATHER_ITEMS - 1 ) / GATHER_ITEMS;
    clv_task_run( tasks, set_keys, pieces, b );
    base_keyed* sorted = clv_base_sort_keyed( b->keys, b->more_keys, b->count );
    b->more_keys = sorted == b->keys ? b->more_keys : b->keys;
    b->keys = sorted;
    CLV_ASSERT( b->keys != b->more_keys && b->keys[0].key <= b->keys[b->count - 1].key );
    clv_task_run( tasks, gather_items, pieces, b );
}

// ---- cuts

enum
{
    ORDERED = 32,     // items up to which they are put in order before
    ORDER_STEPS = 16, // and in so many steps
};

// The hull of items that come one by one. In four lanes where there are some, whose last is never looked at;
// the same bits.
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

// Few items in order along the side where they are farthest apart, roughly: in as many steps as make a
// difference. The curve has brought together what is near; which of that lies beside which it does not know.
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
