// SPDX-License-Identifier: MIT
// Zomorodian and Edelsbrunner, Fast Software for Box Intersections (2002): a segment tree over intervals, streamed, so that
// no tree is ever stored; small sets are scanned instead. The principle of CGAL's box_self_intersection_d.
//
// On one axis two boxes overlap if the lower end of one lies in the other's interval, and then, ties decided by slot, this
// holds for one of the two alone. Self-intersection is therefore one search of all points against all intervals on the
// outermost axis; a set of intervals that span a segment and the points in it go on to the next axis in both roles.
#include "method/method.h"

#include "base/bits.h"
#include "base/radix_sort.h"

#include <string.h>

enum
{
    SEGMENTS_PARAM_CUTOFF,
    SEGMENTS_PARAM_COUNT
};

static const method_param s_segments_params[SEGMENTS_PARAM_COUNT] = {
    { "segment-tree.cutoff", 512, 4, 1000000000, true, "sets up to this size are scanned" },
};

enum
{
    INSERTION_MOST = 24, // sorted by insertion
    MEDIAN_SAMPLES = 33, // for a median
    DEPTH_MOST = 80      // of the recursion on one axis; below, a bad sequence of medians is scanned instead
};

// A box as integers that order like its floats.
typedef struct item
{
    uint32_t lower[3], upper[3];
    uint32_t slot;
} item;

typedef BASE_ARRAY( item ) item_array;

typedef struct range
{
    item* items;
    uint32_t count;
} range;

typedef struct segment_tree
{
    const method_context* context;
    item_array intervals, points, scratch;
    base_keyed_array keys;
    uint32_t cutoff;
    pair_sink* sink;
    uint64_t test_count;
    clv_result result; // the sink's; anything but CLV_OK ends the search
} segment_tree;

static void* create_segments( const clv_method_context* host )
{
    const method_context* context = NULL;
    segment_tree* self = clv_method_state_take( host, sizeof( segment_tree ), &context );
    if ( self != NULL )
    {
        *self = ( segment_tree ){ .context = context,
            .cutoff = (uint32_t)context->params[SEGMENTS_PARAM_CUTOFF] };
    }
    return self;
}

static void shrink_segments( void* state )
{
    segment_tree* self = state;
    base_memory* memory = self->context->memory;
    base_array_free( &self->intervals, memory );
    base_array_free( &self->points, memory );
    base_array_free( &self->scratch, memory );
    base_array_free( &self->keys, memory );
}

static void destroy_segments( void* state )
{
    segment_tree* self = state;
    shrink_segments( self );
    clv_method_state_give( self->context, sizeof( segment_tree ) );
}

static bool reserve_segments( segment_tree* self, uint32_t count )
{
    base_memory* memory = self->context->memory;
    return base_array_reserve( &self->keys, memory, (uint64_t)count * 2 ) &&
        base_array_reserve( &self->intervals, memory, count ) &&
        base_array_reserve( &self->points, memory, count ) &&
        base_array_reserve( &self->scratch, memory, count );
}

static void load_items( segment_tree* self, const method_input* input )
{
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = method_live_slot( input, i );
        const clv_aabb* box = &input->boxes[slot];
        item* it = &self->intervals.items[i];
        for ( int axis = 0; axis < 3; ++axis )
        {
            it->lower[axis] = base_float_order( ( &box->lower.x )[axis] + 0.0f ); // -0 becomes +0
            it->upper[axis] = base_float_order( ( &box->upper.x )[axis] + 0.0f );
        }
        it->slot = slot;
    }
    if ( input->live_count > 0 )
    {
        memcpy( self->points.items, self->intervals.items, input->live_count * sizeof( item ) );
    }
}

// ---- order

// No two lower ends have the same rank. An upper end ranks behind all lower ends at its place.
static uint64_t lower_rank( const item* it, int axis )
{
    return ( (uint64_t)it->lower[axis] << 32 ) | it->slot;
}

static uint64_t upper_rank( const item* it, int axis )
{
    return ( (uint64_t)it->upper[axis] << 32 ) | UINT32_MAX;
}

static bool contains_point( const item* interval, const item* point, int axis )
{
    uint64_t rank = lower_rank( point, axis );
    return lower_rank( interval, axis ) < rank && rank <= upper_rank( interval, axis );
}

static bool overlap_on( const item* a, const item* b, int axis )
{
    return a->lower[axis] <= b->upper[axis] && b->lower[axis] <= a->upper[axis];
}

static void insertion_sort_items( item* items, uint32_t count )
{
    for ( uint32_t i = 1; i < count; ++i )
    {
        item it = items[i];
        uint32_t hole = i;
        for ( ; hole > 0 && items[hole - 1].lower[0] > it.lower[0]; --hole )
        {
            items[hole] = items[hole - 1];
        }
        items[hole] = it;
    }
}

// By lower end on the innermost axis.
static void sort_range( segment_tree* self, range r )
{
    uint32_t i = 1;
    while ( i < r.count && r.items[i - 1].lower[0] <= r.items[i].lower[0] )
    {
        i += 1;
    }
    if ( i >= r.count ) // a range is often scanned twice in a row
    {
        return;
    }
    if ( r.count <= INSERTION_MOST )
    {
        insertion_sort_items( r.items, r.count );
        return;
    }
    for ( i = 0; i < r.count; ++i )
    {
        self->keys.items[i] = ( base_keyed ){ r.items[i].lower[0], i };
    }
    const base_keyed* sorted = clv_base_sort_keyed( self->keys.items, self->keys.items + r.count, r.count );
    memcpy( self->scratch.items, r.items, r.count * sizeof( item ) );
    for ( i = 0; i < r.count; ++i )
    {
        r.items[i] = self->scratch.items[sorted[i].value];
    }
}

// ---- scans

static void put( segment_tree* self, uint32_t slot_a, uint32_t slot_b )
{
    if ( self->result == CLV_OK )
    {
        self->result = clv_pair_sink_put( self->sink, slot_a, slot_b );
    }
}

// The innermost axis; on all others the pairs are known to overlap.
static void scan_one_way( segment_tree* self, range intervals, range points )
{
    sort_range( self, intervals );
    sort_range( self, points );
    uint32_t first = 0;
    for ( uint32_t i = 0; i < intervals.count; ++i )
    {
        const item* interval = &intervals.items[i];
        while ( first < points.count && points.items[first].lower[0] < interval->lower[0] )
        {
            first += 1;
        }
        uint32_t at = first;
        for ( ; at < points.count && points.items[at].lower[0] <= interval->upper[0]; ++at )
        {
            if ( contains_point( interval, &points.items[at], 0 ) )
            {
                put( self, interval->slot, points.items[at].slot );
            }
        }
        self->test_count += at - first;
    }
}

// Axes between the innermost, which the scan settles, and `axis`, on which the roles count.
static bool meet( const item* interval, const item* point, int axis )
{
    for ( int between = 1; between < axis; ++between )
    {
        if ( !overlap_on( interval, point, between ) )
        {
            return false;
        }
    }
    return contains_point( interval, point, axis );
}

static void scan_two_ways( segment_tree* self, range intervals, range points, int axis )
{
    sort_range( self, intervals );
    sort_range( self, points );
    const item* interval = intervals.items;
    const item* point = points.items;
    const item* interval_end = interval + intervals.count;
    const item* point_end = point + points.count;
    uint64_t tests = 0;
    while ( interval < interval_end && point < point_end )
    {
        if ( interval->lower[0] <= point->lower[0] )
        {
            const item* other = point;
            for ( ; other < point_end && other->lower[0] <= interval->upper[0]; ++other )
            {
                if ( meet( interval, other, axis ) )
                {
                    put( self, interval->slot, other->slot );
                }
            }
            tests += (uint64_t)( other - point );
            interval += 1;
        }
        else
        {
            const item* other = interval;
            for ( ; other < interval_end && other->lower[0] <= point->upper[0]; ++other )
            {
                if ( meet( other, point, axis ) )
                {
                    put( self, other->slot, point->slot );
                }
            }
            tests += (uint64_t)( other - interval );
            point += 1;
        }
    }
    self->test_count += tests;
}

// ---- the streamed tree

// Points with ranks in [low, high), on an axis.
typedef struct segment
{
    uint64_t low, high;
    int axis;
    int depth;
} segment;

typedef enum side
{
    SPANS,      // intervals that cover the whole segment from without
    INTERSECTS, // intervals with something in the segment
    BELOW,      // points below `high`
} side;

static bool is_on( const item* it, const segment* s, side wanted )
{
    switch ( wanted )
    {
    case SPANS: return lower_rank( it, s->axis ) < s->low && upper_rank( it, s->axis ) >= s->high;
    case INTERSECTS: return lower_rank( it, s->axis ) < s->high && upper_rank( it, s->axis ) >= s->low;
    default: return lower_rank( it, s->axis ) < s->high;
    }
}

// Moves those wanted to the front. Returns how many.
static uint32_t partition( range r, const segment* s, side wanted )
{
    uint32_t low = 0;
    uint32_t high = r.count;
    for ( ;; )
    {
        while ( low < high && is_on( &r.items[low], s, wanted ) )
        {
            low += 1;
        }
        while ( low < high && !is_on( &r.items[high - 1], s, wanted ) )
        {
            high -= 1;
        }
        if ( low >= high )
        {
            return low;
        }
        item swap = r.items[low];
        r.items[low] = r.items[high - 1];
        r.items[high - 1] = swap;
    }
}

static uint64_t median_rank( range points, int axis )
{
    uint64_t ranks[MEDIAN_SAMPLES] = { 0 };
    uint32_t count = points.count < MEDIAN_SAMPLES ? points.count : MEDIAN_SAMPLES;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t rank = lower_rank( &points.items[base_sample( i, count, points.count )], axis );
        uint32_t hole = i;
        for ( ; hole > 0 && ranks[hole - 1] > rank; --hole )
        {
            ranks[hole] = ranks[hole - 1];
        }
        ranks[hole] = rank;
    }
    return ranks[count / 2];
}

static void search_segment( segment_tree* self, range intervals, range points, segment s );

static void search_all( segment_tree* self, range intervals, range points, int axis )
{
    search_segment( self, intervals, points, ( segment ){ 0, UINT64_MAX, axis, 0 } );
}

// One half of a segment, with the intervals that reach into it.
static void search_half( segment_tree* self, range intervals, range points, segment half )
{
    intervals.count = partition( intervals, &half, INTERSECTS );
    search_segment( self, intervals, points, half );
}

static void search_segment( segment_tree* self, range intervals, range points, segment s )
{
    if ( intervals.count == 0 || points.count == 0 || self->result != CLV_OK )
    {
        return;
    }
    if ( s.axis == 0 )
    {
        scan_one_way( self, intervals, points );
        return;
    }
    if ( intervals.count <= self->cutoff || points.count <= self->cutoff || s.depth >= DEPTH_MOST )
    {
        scan_two_ways( self, intervals, points, s.axis );
        return;
    }
    range spanning = { intervals.items, partition( intervals, &s, SPANS ) };
    range rest = { intervals.items + spanning.count, intervals.count - spanning.count };
    if ( spanning.count > 0 )
    {
        search_all( self, spanning, points, s.axis - 1 );
        search_all( self, points, spanning, s.axis - 1 );
    }
    uint64_t middle = median_rank( points, s.axis );
    segment lower_half = { s.low, middle, s.axis, s.depth + 1 };
    segment upper_half = { middle, s.high, s.axis, s.depth + 1 };
    range below = { points.items, partition( points, &lower_half, BELOW ) };
    range above = { points.items + below.count, points.count - below.count };
    if ( below.count == 0 )
    {
        scan_two_ways( self, rest, points, s.axis );
        return;
    }
    search_half( self, rest, below, lower_half );
    search_half( self, rest, above, upper_half );
}

static clv_result update_segments(
    void* state, const method_input* input, pair_sink* sink, method_counters* counters )
{
    segment_tree* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    if ( !reserve_segments( self, input->live_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    load_items( self, input );
    counters->update_ms = method_stopwatch_lap( &watch );

    self->sink = sink;
    self->test_count = 0;
    self->result = CLV_OK;
    range intervals = { self->intervals.items, input->live_count };
    range points = { self->points.items, input->live_count };
    search_all( self, intervals, points, 2 );
    self->sink = NULL;
    counters->search_ms = method_stopwatch_lap( &watch );
    counters->test_count = self->test_count;
    return self->result;
}

const method clv_methods_segment_tree = {
    .size = sizeof( method ),
    .version = CLV_METHOD_VERSION,
    .name = "segment-tree",
    .family = "segment tree and sweep",
    .source = "Zomorodian and Edelsbrunner 2002",
    .licence = "MIT",
    .time_cost = "O(n log^3 n + k)",
    .space_cost = "O(n)",
    .remarks = "stateless",
    .params = s_segments_params,
    .param_count = SEGMENTS_PARAM_COUNT,
    .is_trusted = true,
    .create = create_segments,
    .destroy = destroy_segments,
    .update = update_segments,
    .shrink = shrink_segments,
};
