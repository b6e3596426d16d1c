// SPDX-License-Identifier: MIT
// Over the steps of query_body.h, the first hit where boxes are doubles and the nearest of either arithmetic:
// lanes are chosen in float, as seen from their node, and objects decide in double. No include guard: this is
// a template.

typedef struct far_tree
{
    const query_node* nodes;
    const clv_aabb64* boxes;
} far_tree;

// The last node that is not out of reach: its place on the stack.
static inline uint32_t next_waiting(
    const query_node* nodes, const query_turn* turn, float above, uint32_t least, bool is_alone )
{
    const query_stack* stack = &turn->stack;
    uint32_t at = is_alone ? turn->top - 1 : skip_beyond( stack, turn->top, above ) - 1;
    while ( is_too_late64( stack->near[at], &nodes[stack->node[at]], above, least ) )
    {
        at -= 1;
    }
    return at;
}

static inline __attribute__( ( always_inline ) ) bool closest_step64(
    const void* tree, query_turn* turn, bool is_alone )
{
    const far_tree* far = tree;
    query_closest64* query = turn->item;
    query_stack* stack = &turn->stack;
    uint32_t at = next_waiting( far->nodes, turn, query->above, query->least, is_alone );
    if ( stack->near[at] < 0 )
    {
        return false;
    }
    const query_node* node = &far->nodes[stack->node[at]];
    uint32_t bits, objects = eight_signs( node->child );
    query_cast_seen_from( &query->exact, node->origin, &query->cast );
    eight near = cast_lanes( &query->cast, node, eight_splat( query->above ), &bits );
    push_nodes( far->nodes, turn, at, node, near, bits & ~objects, is_alone );
    if ( ( bits & objects ) != 0 )
    {
        double best = query->best;
        uint32_t first = query->slot;
        for ( bits &= objects; bits != 0; bits &= bits - 1 )
        {
            uint32_t child = node->child[base_lowest_bit( bits )], slot = child & ~QUERY_OBJECT;
            if ( child != QUERY_EMPTY )
            {
                double time; // one after the other without a branch, which would be mispredicted
                bool is_met = query_cast_sides( &query->exact, &far->boxes[slot], best, &time );
                bool is_first = is_met & ( ( time < best ) | ( ( time == best ) & ( slot < first ) ) );
                best = is_first ? time : best;
                first = is_first ? slot : first;
            }
        }
        query->best = best;
        query->slot = first;
        query->above = query_above_float( query->best );
        query->least = query->best > 0 ? UINT32_MAX : query->slot;
    }
    return true;
}

// ---- the nearest

static inline bool is_nearer( double near, uint32_t slot, const query_nearest* query, uint32_t at )
{
    return near < query->near[at] || ( near == query->near[at] && slot < query->slots[at] );
}

// Among those found, where it belongs.
static inline void insert_nearest( query_nearest* query, double near, uint32_t slot )
{
    uint32_t at = query->found;
    if ( at == query->count && !is_nearer( near, slot, query, --at ) )
    {
        return;
    }
    query->found = at + 1;
    for ( ; at > 0 && is_nearer( near, slot, query, at - 1 ); --at )
    {
        query->near[at] = query->near[at - 1];
        query->slots[at] = query->slots[at - 1];
    }
    query->near[at] = near;
    query->slots[at] = slot;
}

// The distance of an object, and whether it counts.
static inline bool nearest_counts(
    const query_nearest* query, const query_node* node, uint32_t lane, const clv_aabb64* boxes, double* near )
{
    if ( boxes == NULL )
    {
        clv_aabb box = query_lane_box( node, lane );
        double square = query_gap_squared( &query->box, &box );
        *near = (double)(float)sqrt( square );
        return square <= query->square;
    }
    const clv_aabb64* box = &boxes[node->child[lane] & ~QUERY_OBJECT];
    const double *lower = query->lower, *upper = query->upper;
    double x = query_gap( lower[0], upper[0], box->lower.x, box->upper.x );
    double y = query_gap( lower[1], upper[1], box->lower.y, box->upper.y );
    double z = query_gap( lower[2], upper[2], box->lower.z, box->upper.z );
    *near = query_length( x * x + y * y + z * z, x, y, z );
    return *near <= query->reach;
}

// Among those before it, which are in order: the lesser and the greater, without a branch.
static inline __attribute__( ( always_inline ) ) void sort_key( uint64_t* keys, uint32_t at )
{
    uint64_t key = keys[at];
    for ( uint32_t i = 0; i < at; ++i )
    {
        uint64_t lesser = key < keys[i] ? key : keys[i];
        key = key < keys[i] ? keys[i] : key;
        keys[i] = lesser;
    }
    keys[at] = key;
}

// What waits is decided, in the order of the lanes' distances, so that most come last.
static void settle_nearest( query_nearest* query, const far_tree* tree )
{
    enum
    {
        FEW = 8,
    };
    uint64_t keys[QUERY_MAYBE + QUERY_LANES];
    uint32_t count = 0;
    for ( uint32_t i = 0; i < query->maybe_count; ++i )
    {
        keys[count] = query_key( query->maybe_near[i], query->maybe[i] );
        count += query->maybe_near[i] <= query->above;
    }
    query->maybe_count = 0;
    for ( uint32_t i = count; i < FEW; ++i )
    {
        keys[i] = UINT64_MAX;
    }
    for ( uint32_t i = 1; i < FEW; ++i ) // mostly all of them, and so without a loop
    {
        sort_key( keys, i );
    }
    for ( uint32_t i = FEW; i < count; ++i )
    {
        sort_key( keys, i );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t place = (uint32_t)keys[i], lane = place % QUERY_LANES;
        const query_node* node = &tree->nodes[place / QUERY_LANES];
        double near;
        if ( node->child[lane] != QUERY_EMPTY && nearest_counts( query, node, lane, tree->boxes, &near ) )
        {
            insert_nearest( query, near, node->child[lane] & ~QUERY_OBJECT );
        }
    }
    if ( query->found == query->count )
    {
        query_nearest_shorten( query, query->near[query->count - 1], query->slots[query->count - 1] );
    }
}

// These lanes may be among the nearest, whose squared distances are at least `near` and, but for rounding, at
// most `bound`.
#ifdef OWN_NODES
static inline eight insert_bounds( eight all, const float* newcomers, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        all = eight_min( all, eight_max( eight_splat( newcomers[i] ), eight_before( all ) ) );
    }
    return all;
}

static inline __attribute__( ( always_inline ) ) void note_nearest(
    query_nearest* query, uint32_t first, eight near, eight bound, uint32_t bits, bool is_alone )
{
    EIGHT_ALIGN float newcomers[QUERY_LANES];
    float* bounds = query->bounds + QUERY_LANES;
    uint32_t count = base_bit_count( bits );
    eight_store( newcomers, eight_first( eight_press( bound, bits ), count ) );
    eight_store_any( query->maybe_near + query->maybe_count, eight_press( near, bits ) );
    eight_store_any(
        (float*)( query->maybe + query->maybe_count ), eight_press( eight_places( first ), bits ) );
    query->maybe_count += count;
    if ( query->count <= QUERY_LANES )
    {
        const uint32_t half = QUERY_LANES / 2; // few newcomers are more, and four cost less than a guess
        eight all = insert_bounds( eight_load( bounds ), newcomers, is_alone ? count : half );
        all = !is_alone && count > half ? insert_bounds( all, newcomers + half, half ) : all;
        eight_store( bounds, all );
        return;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        eight newcomer = eight_splat( newcomers[i] );
        for ( uint32_t at = ( query->count - 1 ) & ~7u; at < QUERY_NEAREST_MOST; at -= QUERY_LANES )
        {
            eight before = eight_max( newcomer, eight_load_any( bounds + at - 1 ) );
            eight_store( bounds + at, eight_min( eight_load( bounds + at ), before ) );
        }
    }
}
#else
static inline void note_nearest(
    query_nearest* query, uint32_t first, eight near, eight bound, uint32_t bits, bool is_alone )
{
    (void)is_alone;
    EIGHT_ALIGN float nears[QUERY_LANES], newcomers[QUERY_LANES];
    float* bounds = query->bounds + QUERY_LANES;
    eight_store( nears, near );
    eight_store( newcomers, bound );
    for ( ; bits != 0; bits &= bits - 1 )
    {
        uint32_t lane = base_lowest_bit( bits ), at = query->maybe_count++;
        float newcomer = newcomers[lane];
        query->maybe_near[at] = nears[lane];
        query->maybe[at] = first + lane;
        for ( uint32_t i = 0; i < query->count; ++i )
        {
            float lesser = newcomer < bounds[i] ? newcomer : bounds[i];
            newcomer = newcomer < bounds[i] ? bounds[i] : newcomer;
            bounds[i] = lesser;
        }
    }
}
#endif

// The same from a node's origin, and as squares of no less than the distances.
static inline eight seen_lanes(
    const query_seen* seen, const query_node* node, eight reach, uint32_t* bits, eight* bound )
{
    eight sum = eight_splat( 0 ), most = sum, zero = sum;
    for ( int axis = 0; axis < 3; ++axis )
    {
        eight above = eight_sub( eight_load( node->lower[axis] ), eight_splat( seen->upper[axis] ) );
        eight below = eight_sub( eight_splat( seen->lower[axis] ), eight_load( node->upper[axis] ) );
        eight gap = eight_max( below, eight_max( above, zero ) );
        eight more = eight_add( gap, eight_splat( seen->room[axis] ) );
        sum = eight_add( sum, eight_mul( gap, gap ) );
        most = eight_add( most, eight_mul( more, more ) );
    }
    *bits = eight_bits( eight_le( sum, reach ) );
    *bound = eight_min( most, eight_splat( INFINITY ) ); // no number, from an infinite box
    return sum;
}

#ifndef OWN_PICKS
enum
{
    DECIDES_AT_ONCE = false,
};

static inline void pick_nearest( query_nearest* query, const query_node* node, uint32_t bits )
{
    (void)query, (void)node, (void)bits;
}

static inline void close_nearest( query_nearest* query )
{
    (void)query;
}
#endif

static inline __attribute__( ( always_inline ) ) bool near_step(
    const far_tree* tree, query_turn* turn, bool is_alone, bool is_far )
{
    query_nearest* query = turn->item;
    query_stack* stack = &turn->stack;
    uint32_t at = turn->top - 1;
    if ( is_far )
    {
        uint32_t least = query->reach > 0 ? UINT32_MAX : query->least;
        at = next_waiting( tree->nodes, turn, query->above, least, is_alone );
    }
    at -= is_far || is_alone ? 0 : turn->top - skip_beyond( stack, turn->top, query->above );
    while ( !is_far && stack->near[at] > query->above )
    {
        at -= 1;
    }
    if ( stack->near[at] < 0 )
    {
        DECIDES_AT_ONCE && !is_far ? close_nearest( query ) : settle_nearest( query, tree );
        return false;
    }
    uint32_t index = stack->node[at];
    const query_node* node = &tree->nodes[index];
    uint32_t bits, objects = eight_signs( node->child );
    eight sum, bound, reach = eight_splat( query->above );
    if ( is_far )
    {
        query_seen seen;
        query_nearest_seen_from( query, node->origin, &seen );
        sum = seen_lanes( &seen, node, reach, &bits, &bound );
    }
    else
    {
        sum = bound = distance_lanes( &query->box, node, reach, &bits );
    }
    uint32_t inner = bits & ~objects;
    if ( !is_far && ( inner & eight_bits( eight_le( eight_splat( query->band ), sum ) ) ) != 0 )
    {
        EIGHT_ALIGN float near[QUERY_LANES];
        eight_store( near, sum );
        query_late late = { &query->box, query->band, query->reach_time, query->least };
        inner = drop_late( &late, node, near, inner );
    }
    push_nodes( tree->nodes, turn, at, node, sum, inner, is_alone );
    if ( ( bits & objects ) != 0 && DECIDES_AT_ONCE && !is_far )
    {
        pick_nearest( query, node, bits & objects );
    }
    else if ( ( bits & objects ) != 0 )
    {
        note_nearest( query, index * QUERY_LANES, sum, bound, bits & objects, is_alone );
        float last = query->bounds[QUERY_LANES - 1 + query->count];
        float above = last * ( 1 + 4 * (float)QUERY_SLACK ) + FLT_MIN;
        query->above = above < query->above ? above : query->above;
        if ( query->maybe_count > QUERY_MAYBE )
        {
            settle_nearest( query, tree );
        }
    }
    return true;
}

static inline bool nearest_step( const void* tree, query_turn* turn, bool is_alone )
{
    return near_step( tree, turn, is_alone, false );
}

static inline bool nearest_step64( const void* tree, query_turn* turn, bool is_alone )
{
    return near_step( tree, turn, is_alone, true );
}

static void walk_closest64(
    const query_node* nodes, const clv_aabb64* boxes, query_closest64* queries, uint32_t count )
{
    far_tree far = { nodes, boxes };
    walk( &far, queries, sizeof( *queries ), count, closest_step64 );
}

static void walk_nearest(
    const query_node* nodes, const clv_aabb64* boxes, query_nearest* queries, uint32_t count )
{
    far_tree near = { nodes, boxes };
    walk( &near, queries, sizeof( *queries ), count, nearest_step );
}

static void walk_nearest64(
    const query_node* nodes, const clv_aabb64* boxes, query_nearest* queries, uint32_t count )
{
    far_tree far = { nodes, boxes };
    walk( &far, queries, sizeof( *queries ), count, nearest_step64 );
}
