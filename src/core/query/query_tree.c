// SPDX-License-Identifier: MIT
// Built along a space-filling curve, as in C. Lauterbach et al., "Fast BVH construction on GPUs" (2009), with keys that halve
// the longest side first and put large objects apart, as in M. Vinkler et al., "Extended Morton codes for high performance
// bounding volume hierarchy construction" (2017); the lowest levels are put in order along their own longest side and cut where
// the surface area heuristic says, as in I. Wald, "On fast construction of SAH-based bounding volume hierarchies" (2007).
// Nodes are eight wide as in I. Wald et al., "Getting rid of packets" (2008).
#include "query/query_tree.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/radix_sort.h"

#include <float.h>
#include <string.h>

#ifdef CLV_HAVE_SSE2
#include <emmintrin.h>
#endif

enum
{
    KEY_BITS = 27,     // of a place on the curve, at most
    CLASS_COUNT = 16,  // of sizes, above them
    AXIS_BITS = 12,    // of one axis, at most
    SWEPT = 64,        // items up to which every cut is tried
    ORDERED = 32,      // items up to which they are put in order before
    ORDER_STEPS = 16,  // and in so many steps
    PART_ITEMS = 4096, // about so many belong to one part
    PLAIN_DEPTH = 30, // nodes from here on are cut in equal parts: 14 more levels are enough for 2^31 objects
    SIZE_SAMPLES = 255,
    GATHER_ITEMS = 8192,
};

static const double WORN = 1.75; // times the area at the build

// ---- keys: where an item lies on the curve

// Bits of an axis' number, spread to where they belong in the key.
typedef struct curve
{
    float low[4], scale[4];
    float most[4]; // cell
    uint32_t bits[3];
    uint32_t spread[3][AXIS_BITS];
} curve;

// The middle of a side, or the end that it has.
static float middle( float lower, float upper )
{
    float sum = lower * 0.5f + upper * 0.5f;
    if ( sum - sum == 0 )
    {
        return sum;
    }
    float end = lower - lower == 0 ? lower : upper;
    return end - end == 0 ? end : 0.0f;
}

static inline void box_middle( const clv_aabb* box, float center[4] )
{
#ifdef CLV_HAVE_SSE2
    const __m128 half = _mm_set1_ps( 0.5f );
    __m128 lower = _mm_loadu_ps( &box->lower.x ), upper = _mm_loadu_ps( &box->lower.z );
    upper = _mm_shuffle_ps( upper, upper, _MM_SHUFFLE( 3, 3, 2, 1 ) );
    __m128 sum = _mm_add_ps( _mm_mul_ps( lower, half ), _mm_mul_ps( upper, half ) );
    _mm_storeu_ps( center, sum );
    __m128 is_finite = _mm_cmpeq_ps( _mm_sub_ps( sum, sum ), _mm_setzero_ps() );
    if ( ( _mm_movemask_ps( is_finite ) & 7 ) == 7 )
    {
        return;
    }
#endif
    for ( int axis = 0; axis < 3; ++axis )
    {
        center[axis] = middle( ( &box->lower.x )[axis], ( &box->upper.x )[axis] );
    }
}

// Which axis each bit of the key tells of: always that along which cells are longest.
static void plan_curve( curve* c, const float low[3], const float high[3], uint32_t bit_count )
{
    double side[3];
    memset( c, 0, sizeof( *c ) );
    for ( int axis = 0; axis < 3; ++axis )
    {
        c->low[axis] = low[axis];
        side[axis] = (double)high[axis] - (double)low[axis];
    }
    uint32_t order[KEY_BITS], used = 0;
    for ( ; used < bit_count; ++used )
    {
        int longest = -1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            bool is_longer = longest < 0 || side[axis] > side[longest];
            longest = c->bits[axis] < AXIS_BITS && side[axis] > 0 && is_longer ? axis : longest;
        }
        if ( longest < 0 )
        {
            break;
        }
        order[used] = (uint32_t)longest;
        c->bits[longest] += 1;
        side[longest] *= 0.5;
    }
    uint32_t left[3] = { c->bits[0], c->bits[1], c->bits[2] };
    for ( uint32_t i = 0; i < used; ++i )
    {
        left[order[i]] -= 1;
        c->spread[order[i]][left[order[i]]] = 1u << ( used - 1 - i );
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        double whole = (double)high[axis] - (double)low[axis];
        c->scale[axis] = c->bits[axis] > 0 ? (float)( (double)( 1u << c->bits[axis] ) / whole ) : 0.0f;
        c->scale[axis] = c->scale[axis] <= FLT_MAX ? c->scale[axis] : FLT_MAX;
        c->most[axis] = (float)( ( 1u << c->bits[axis] ) - 1 );
    }
}

// By table: a loop over bits would cost more than all the rest.
typedef struct curve_tables
{
    curve c;
    uint32_t spread[3][1 << AXIS_BITS];
} curve_tables;

static void fill_tables( curve_tables* t )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        t->spread[axis][0] = 0;
        for ( uint32_t value = 1; value < 1u << t->c.bits[axis]; ++value )
        {
            t->spread[axis][value] =
                t->spread[axis][value & ( value - 1 )] | t->c.spread[axis][base_lowest_bit( value )];
        }
    }
}

static inline uint32_t key_of( const curve_tables* t, const float center[4] )
{
    int32_t cells[4];
#ifdef CLV_HAVE_SSE2
    __m128 at = _mm_sub_ps( _mm_loadu_ps( center ), _mm_loadu_ps( t->c.low ) );
    at = _mm_max_ps( _mm_mul_ps( at, _mm_loadu_ps( t->c.scale ) ), _mm_setzero_ps() );
    _mm_storeu_si128( (__m128i*)cells, _mm_cvttps_epi32( _mm_min_ps( at, _mm_loadu_ps( t->c.most ) ) ) );
#else
    for ( int axis = 0; axis < 3; ++axis )
    {
        float at = ( center[axis] - t->c.low[axis] ) * t->c.scale[axis];
        at = at > 0 ? at : 0;
        at = at < t->c.most[axis] ? at : t->c.most[axis];
        cells[axis] = (int32_t)at;
    }
#endif
    return t->spread[0][cells[0]] | t->spread[1][cells[1]] | t->spread[2][cells[2]];
}

static inline float longest_side( const clv_aabb* box )
{
    float x = box->upper.x - box->lower.x, y = box->upper.y - box->lower.y, z = box->upper.z - box->lower.z;
    float side = x > y ? x : y;
    return side > z ? side : z;
}

// ---- the build

typedef struct tree_build
{
    query_tree* tree;
    const query_boxes* from;
    const simd_queries* kernels;
    base_memory* memory;
    base_keyed* keys;
    base_keyed* more_keys;
    uint32_t count;
    float typical; // side
    curve_tables* tables;
    query_node empty;
} tree_build;

// A typical side: the median of a sample, by insertion.
static float find_typical( const tree_build* b )
{
    float sides[SIZE_SAMPLES] = { 0 };
    uint32_t wanted = b->count < SIZE_SAMPLES ? b->count : SIZE_SAMPLES, have = 0;
    for ( uint32_t i = 0; i < wanted; ++i )
    {
        uint32_t slot = b->keys[base_sample( i, wanted, b->count )].value;
        float side = longest_side( &b->from->boxes[slot] );
        uint32_t at = have++;
        for ( ; at > 0 && sides[at - 1] > side; --at )
        {
            sides[at] = sides[at - 1];
        }
        sides[at] = side;
    }
    return sides[have / 2];
}

// Objects much larger than most have a subtree of their own: among small ones each would make a node as large as itself.
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

static uint32_t list_objects( tree_build* b )
{
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < b->from->slot_count; ++slot )
    {
        b->keys[count] = ( base_keyed ){ 0, slot };
        count += b->from->generations[slot] & 1;
    }
    return count;
}

static void find_centers( const tree_build* b, float low[3], float high[3] )
{
    float least[4] = { FLT_MAX, FLT_MAX, FLT_MAX, 0 }, most[4] = { -FLT_MAX, -FLT_MAX, -FLT_MAX, 0 };
#ifdef CLV_HAVE_SSE2
    __m128 lowest = _mm_loadu_ps( least ), highest = _mm_loadu_ps( most );
#endif
    for ( uint32_t i = 0; i < b->count; ++i )
    {
        float center[4];
        box_middle( &b->from->boxes[b->keys[i].value], center );
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
    return bits < KEY_BITS ? bits : KEY_BITS;
}

static void set_keys( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    tree_build* b = context;
    uint32_t first = piece * GATHER_ITEMS;
    uint32_t end = b->count - first < GATHER_ITEMS ? b->count : first + GATHER_ITEMS;
    uint32_t class_shift = bits_for( b->count );
    for ( uint32_t i = first; i < end; ++i )
    {
        const clv_aabb* box = &b->from->boxes[b->keys[i].value];
        float center[4];
        box_middle( box, center );
        b->keys[i].key =
            size_class( longest_side( box ), b->typical ) << class_shift | key_of( b->tables, center );
    }
}

static void gather_items( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const tree_build* b = context;
    uint32_t first = piece * GATHER_ITEMS;
    uint32_t end = b->count - first < GATHER_ITEMS ? b->count : first + GATHER_ITEMS;
    for ( uint32_t i = first; i < end; ++i )
    {
        query_item* item = &b->tree->items[i];
        const clv_aabb* box = &b->from->boxes[b->keys[i].value];
        memcpy( item->lower, &box->lower, sizeof( item->lower ) );
        memcpy( item->upper, &box->upper, sizeof( item->upper ) );
        item->slot = b->keys[i].value;
        item->key = b->keys[i].key;
    }
}

// Items that one key could not tell apart: keys of their own, by their own extent. All in one place: they stay as they are, by
// slot.
static void sort_again( tree_build* b, uint32_t first, uint32_t end )
{
    query_item* items = b->tree->items;
    float low[3] = { FLT_MAX, FLT_MAX, FLT_MAX }, high[3] = { -FLT_MAX, -FLT_MAX, -FLT_MAX };
    for ( uint32_t i = first; i < end; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            float center = middle( items[i].lower[axis], items[i].upper[axis] );
            low[axis] = center < low[axis] ? center : low[axis];
            high[axis] = center > high[axis] ? center : high[axis];
        }
    }
    uint32_t count = end - first;
    plan_curve( &b->tables->c, low, high, bits_for( count ) );
    fill_tables( b->tables );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const query_item* item = &items[first + i];
        float center[4] = { 0, 0, 0, 0 };
        for ( int axis = 0; axis < 3; ++axis )
        {
            center[axis] = middle( item->lower[axis], item->upper[axis] );
        }
        b->keys[i] = ( base_keyed ){ key_of( b->tables, center ), item->slot };
    }
    const base_keyed* sorted = clv_base_sort_keyed( b->keys, b->more_keys, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        query_item* item = &items[first + i];
        const clv_aabb* box = &b->from->boxes[sorted[i].value];
        memcpy( item->lower, &box->lower, sizeof( item->lower ) );
        memcpy( item->upper, &box->upper, sizeof( item->upper ) );
        item->slot = sorted[i].value;
        item->key = sorted[i].key;
    }
}

// ---- cuts

// Half its surface. That of something endless is large, not infinite: sums must stay comparable.
static inline float half_area( const float lower[3], const float upper[3] )
{
    float x = upper[0] - lower[0], y = upper[1] - lower[1], z = upper[2] - lower[2];
    float area = x * y + y * z + z * x;
    return area < 1e30f ? area : 1e30f;
}

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
    return half_area( h->lower, h->upper );
}

#endif

// The cut of items [first, end) that costs least: surface times nodes, on both sides. Never at the ends.
static uint32_t sweep_cut( const query_item* items, uint32_t first, uint32_t end )
{
    float before[SWEPT];
    uint32_t count = end - first;
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
        places[steps[i] + 1] += 1;
    }
    for ( uint32_t i = 1; i < ORDER_STEPS; ++i )
    {
        places[i] += places[i - 1];
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        items[places[steps[i]]++] = copies[i];
    }
}

// Where the highest bit that differs changes.
static uint32_t bit_cut( const query_item* items, uint32_t first, uint32_t end )
{
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
    return high;
}

typedef struct range
{
    uint32_t first, end;
    bool is_sorted; // by keys that tell them apart as well as can be
} range;

static uint32_t range_size( range r )
{
    return r.end - r.first;
}

static uint32_t cut_range( tree_build* b, range* r, uint32_t depth )
{
    query_item* items = b->tree->items;
    uint32_t half = r->first + range_size( *r ) / 2;
    if ( depth >= PLAIN_DEPTH )
    {
        return half;
    }
    if ( range_size( *r ) <= SWEPT )
    {
        if ( range_size( *r ) <= ORDERED )
        {
            order_items( items + r->first, range_size( *r ) ); // their keys are of no more use
        }
        return sweep_cut( items, r->first, r->end );
    }
    if ( items[r->first].key == items[r->end - 1].key && !r->is_sorted )
    {
        sort_again( b, r->first, r->end );
        r->is_sorted = items[r->first].key == items[r->end - 1].key; // one place: no use to try again
    }
    return items[r->first].key == items[r->end - 1].key ? half : bit_cut( items, r->first, r->end );
}

// Items of one node to at most QUERY_LANES children, in order.
static uint32_t cut_children( tree_build* b, range whole, uint32_t depth, range children[QUERY_LANES] )
{
    uint32_t count = 1;
    children[0] = whole;
    while ( count < QUERY_LANES )
    {
        uint32_t largest = 0;
        for ( uint32_t i = 1; i < count; ++i )
        {
            largest = range_size( children[i] ) > range_size( children[largest] ) ? i : largest;
        }
        // What fits a node stays one, unless it is this node's whole content.
        if ( range_size( children[largest] ) <= QUERY_LANES )
        {
            break;
        }
        uint32_t cut = cut_range( b, &children[largest], depth );
        CLV_ASSERT( cut > children[largest].first && cut < children[largest].end );
        memmove( &children[largest + 1], &children[largest], ( count - largest ) * sizeof( range ) );
        children[largest].end = cut;
        children[largest + 1].first = cut;
        count += 1;
    }
    return count;
}

static void clear_lane( query_node* node, uint32_t lane )
{
    const float infinite = (float)( FLT_MAX * 2.0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis][lane] = infinite;
        node->upper[axis][lane] = -infinite;
    }
    node->child[lane] = QUERY_NOBODY;
    node->least[lane] = QUERY_NOBODY;
}

static void set_lane( query_node* node, uint32_t lane, const float* lower, const float* upper )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis][lane] = lower[axis];
        node->upper[axis][lane] = upper[axis];
    }
}

static void put_item( query_node* node, uint32_t lane, const query_item* item )
{
    set_lane( node, lane, item->lower, item->upper );
    node->child[lane] = QUERY_OBJECT | item->slot;
    node->least[lane] = item->slot;
}

// A node to be made, for a lane of one that is there.
typedef struct node_order
{
    range items;
    uint32_t parent, lane, depth;
} node_order;

static uint32_t take_node( tree_build* b )
{
    query_tree* tree = b->tree;
    void* nodes = tree->nodes;
    if ( !clv_base_memory_reserve( b->memory, &nodes, &tree->node_capacity, tree->node_count,
             (uint64_t)tree->node_count + 1, sizeof( query_node ) ) )
    {
        return UINT32_MAX;
    }
    tree->nodes = nodes;
    tree->nodes[tree->node_count] = b->empty;
    return tree->node_count++;
}

static bool note_part( tree_build* b, uint32_t first )
{
    query_tree* tree = b->tree;
    void* parts = tree->parts;
    if ( !clv_base_memory_reserve( b->memory, &parts, &tree->part_capacity, tree->part_count,
             (uint64_t)tree->part_count + 1, sizeof( query_part ) ) )
    {
        return false;
    }
    tree->parts = parts;
    tree->parts[tree->part_count++] = ( query_part ){ first, UINT32_MAX };
    return true;
}

// Parents first, children behind them one after the other. Boxes of inner lanes are left for the refit.
static bool make_nodes( tree_build* b )
{
    query_tree* tree = b->tree;
    node_order waiting[QUERY_STACK];
    uint32_t top = 0, part_floor = UINT32_MAX;
    waiting[top++] = ( node_order ){ { 0, b->count, false }, UINT32_MAX, 0, 0 };
    while ( top > 0 )
    {
        node_order next = waiting[--top];
        uint32_t index = take_node( b );
        if ( index == UINT32_MAX )
        {
            return false;
        }
        if ( part_floor != UINT32_MAX && top < part_floor )
        {
            tree->parts[tree->part_count - 1].end = index;
            part_floor = UINT32_MAX;
        }
        if ( part_floor == UINT32_MAX && range_size( next.items ) <= PART_ITEMS )
        {
            part_floor = top;
            if ( !note_part( b, index ) )
            {
                return false;
            }
        }
        if ( next.parent != UINT32_MAX )
        {
            tree->nodes[next.parent].child[next.lane] = index;
        }
        tree->depth = next.depth + 1 > tree->depth ? next.depth + 1 : tree->depth;
        query_node* node = &tree->nodes[index];
        if ( range_size( next.items ) <= QUERY_LANES )
        {
            for ( uint32_t lane = 0; lane < range_size( next.items ); ++lane )
            {
                put_item( node, lane, &tree->items[next.items.first + lane] );
            }
            continue;
        }
        range children[QUERY_LANES];
        uint32_t count = cut_children( b, next.items, next.depth, children );
        for ( uint32_t i = count; i > 0; --i )
        {
            range child = children[i - 1];
            if ( range_size( child ) == 1 )
            {
                put_item( node, i - 1, &tree->items[child.first] );
                continue;
            }
            CLV_ASSERT( top < QUERY_STACK );
            waiting[top++] = ( node_order ){ child, index, i - 1, next.depth + 1 };
        }
    }
    if ( part_floor != UINT32_MAX )
    {
        tree->parts[tree->part_count - 1].end = tree->node_count;
    }
    return true;
}

// ---- boxes upwards

typedef struct refit
{
    query_tree* tree;
    const query_boxes* from; // NULL: objects' boxes are right already
    const simd_queries* kernels;
} refit;

static void refit_object( const refit* r, query_node* node, uint32_t lane )
{
    uint32_t slot = node->child[lane] & ~QUERY_OBJECT;
    if ( slot >= r->from->slot_count || ( r->from->generations[slot] & 1 ) == 0 )
    {
        clear_lane( node, lane );
        return;
    }
    const clv_aabb* box = &r->from->boxes[slot];
    set_lane( node, lane, &box->lower.x, &box->upper.x );
}

static void refit_node( const refit* r, query_node* node )
{
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        uint32_t child = node->child[lane];
        if ( ( child & QUERY_OBJECT ) != 0 )
        {
            if ( r->from != NULL && child != QUERY_NOBODY )
            {
                refit_object( r, node, lane );
            }
            continue;
        }
        const query_node* below = &r->tree->nodes[child];
        float lower[3], upper[3];
        r->kernels->bound( below, lower, upper );
        set_lane( node, lane, lower, upper );
        node->least[lane] = query_node_least( below );
    }
}

// Children lie behind their parents, so from the last to the first.
static void refit_part( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const refit* r = context;
    query_part part = r->tree->parts[piece];
    for ( uint32_t i = part.end; i > part.first; --i )
    {
        refit_node( r, &r->tree->nodes[i - 1] );
    }
}

static double sum_areas( const query_tree* tree )
{
    double sum = 0;
    for ( uint32_t i = 0; i < tree->node_count; ++i )
    {
        const query_node* node = &tree->nodes[i];
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
        {
            float lower[3] = { node->lower[0][lane], node->lower[1][lane], node->lower[2][lane] };
            float upper[3] = { node->upper[0][lane], node->upper[1][lane], node->upper[2][lane] };
            bool counts = ( node->child[lane] & QUERY_OBJECT ) == 0;
            sum += counts ? (double)half_area( lower, upper ) : 0;
        }
    }
    return sum;
}

static void refit_tree( refit* r, task_runner* tasks )
{
    query_tree* tree = r->tree;
    clv_task_run( tasks, refit_part, tree->part_count, r );
    uint32_t end = tree->node_count;
    for ( uint32_t part = tree->part_count + 1; part > 0; --part )
    {
        uint32_t first = part > 1 ? tree->parts[part - 2].end : 0;
        for ( uint32_t i = end; i > first; --i )
        {
            refit_node( r, &tree->nodes[i - 1] );
        }
        end = part > 1 ? tree->parts[part - 2].first : 0;
    }
    tree->area = sum_areas( tree );
}

// ---- the doors

static bool reserve_scratch( query_tree* tree, uint32_t count, base_memory* memory )
{
    void* items = tree->items;
    bool ok =
        clv_base_memory_renew( memory, &tree->keys, &tree->key_capacity, count, sizeof( base_keyed ) ) &&
        clv_base_memory_renew(
            memory, &tree->more_keys, &tree->more_key_capacity, count, sizeof( base_keyed ) ) &&
        clv_base_memory_renew( memory, &items, &tree->item_capacity, count, sizeof( query_item ) ) &&
        clv_base_memory_renew( memory, &tree->tables, &tree->table_capacity, 1, sizeof( curve_tables ) );
    tree->items = items;
    return ok;
}

static void sort_items( tree_build* b, task_runner* tasks )
{
    float low[3], high[3];
    find_centers( b, low, high );
    b->typical = find_typical( b );
    plan_curve( &b->tables->c, low, high, bits_for( b->count ) );
    fill_tables( b->tables );
    uint32_t pieces = ( b->count + GATHER_ITEMS - 1 ) / GATHER_ITEMS;
    clv_task_run( tasks, set_keys, pieces, b );
    base_keyed* sorted = clv_base_sort_keyed( b->keys, b->more_keys, b->count );
    b->more_keys = sorted == b->keys ? b->more_keys : b->keys;
    b->keys = sorted;
    clv_task_run( tasks, gather_items, pieces, b );
}

bool clv_query_tree_build( query_tree* tree, const query_boxes* from, const simd_queries* kernels,
    base_memory* memory, task_runner* tasks )
{
    tree->node_count = tree->item_count = tree->part_count = tree->depth = 0;
    tree->area = tree->built_area = 0;
    if ( !reserve_scratch( tree, from->slot_count + 1, memory ) )
    {
        return false;
    }
    tree_build b = { .tree = tree, .from = from, .kernels = kernels, .memory = memory };
    b.keys = tree->keys;
    b.more_keys = tree->more_keys;
    b.tables = tree->tables;
    b.count = list_objects( &b );
    if ( b.count == 0 )
    {
        return true;
    }
    sort_items( &b, tasks );
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        clear_lane( &b.empty, lane );
    }
    // What a crowd needs, as a rule; more is had as it goes.
    void* nodes = tree->nodes;
    (void)clv_base_memory_renew(
        memory, &nodes, &tree->node_capacity, (uint64_t)b.count / 5 + 8, sizeof( query_node ) );
    tree->nodes = nodes;
    if ( !make_nodes( &b ) )
    {
        tree->node_count = tree->part_count = 0;
        return false;
    }
    CLV_ASSERT( tree->depth <= QUERY_DEPTH );
    tree->item_count = b.count;
    refit r = { tree, NULL, kernels };
    refit_tree( &r, tasks );
    tree->built_area = tree->area;
    tree->build_count += 1;
    CLV_VALIDATE( clv_query_tree_check( tree, from ) == NULL );
    return true;
}

void clv_query_tree_refit(
    query_tree* tree, const query_boxes* from, const simd_queries* kernels, task_runner* tasks )
{
    refit r = { tree, from, kernels };
    refit_tree( &r, tasks );
    tree->refit_count += 1;
    CLV_VALIDATE( clv_query_tree_check( tree, from ) == NULL );
}

bool clv_query_tree_is_worn( const query_tree* tree )
{
    return tree->area > tree->built_area * WORN;
}

void clv_query_tree_shrink( query_tree* tree, base_memory* memory )
{
    clv_base_memory_give( memory, tree->items, tree->item_capacity, sizeof( query_item ) );
    clv_base_memory_give( memory, tree->keys, tree->key_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( memory, tree->more_keys, tree->more_key_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( memory, tree->tables, tree->table_capacity, sizeof( curve_tables ) );
    tree->items = NULL;
    tree->keys = tree->more_keys = tree->tables = NULL;
    tree->item_capacity = tree->key_capacity = tree->more_key_capacity = tree->table_capacity = 0;
}

void clv_query_tree_free( query_tree* tree, base_memory* memory )
{
    clv_query_tree_shrink( tree, memory );
    clv_base_memory_give( memory, tree->nodes, tree->node_capacity, sizeof( query_node ) );
    clv_base_memory_give( memory, tree->parts, tree->part_capacity, sizeof( query_part ) );
    *tree = ( query_tree ){ .build_count = tree->build_count, .refit_count = tree->refit_count };
}
