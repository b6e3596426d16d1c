// SPDX-License-Identifier: MIT
// The walks of query_lanes.h, written once over eight floats, which lanes_<isa>.h defines. Few branches: a
// mispredicted one costs the processor as much as a whole node.
//   eight                      eight floats
//   eight_load( p )            p aligned to 32 bytes
//   eight_store( p, a )
//   eight_splat( f )
//   eight_sub, eight_mul, eight_add
//   eight_max( a, b )          a > b ? a : b, and so b where either is NaN
//   eight_min( a, b )          a < b ? a : b, likewise
//   eight_mask                 the outcome of a comparison
//   eight_le( a, b )           a <= b, false where either is NaN
//   eight_and( m, n )
//   eight_bits( m )            one bit per lane, lane 0 lowest
//   eight_signs( p )           the highest bits of eight integers, likewise
//   eight_least( a ), eight_most( a )
//   eight_least_slot( p )      of eight unsigned integers
// Where an instruction set has a quicker way to handle the lanes that a comparison chose, kernels_<isa>.c
// defines it and says so:
//   OWN_NODES  pick_nodes, eight_press      and several queries go in turn
//   OWN_PICKS  pick_best, pick_nearest, close_nearest, DECIDES_AT_ONCE
// A motion that does not move along an axis has an infinite inverse: 0 times it, a face exactly at the
// origin, is NaN and so does not narrow the times, as it should not.
// No include guard: this is a template.

enum
{
#ifdef OWN_NODES
    AT_ONCE = 4, // queries in turn: more of them gain nothing and need more of the first cache
#else
    AT_ONCE = 1, // in turn they would only spoil each other's branch predictions
#endif
};

#ifdef OWN_NODES
// Past the nodes that are out of reach, from the last one on, eight at once. What lies below never is.
static inline uint32_t skip_beyond( const query_stack* stack, uint32_t top, float reach )
{
    eight far = eight_splat( reach );
    uint32_t within = eight_bits( eight_le( eight_load_any( stack->near + top - QUERY_LANES ), far ) );
    while ( within == 0 )
    {
        top -= QUERY_LANES;
        within = eight_bits( eight_le( eight_load_any( stack->near + top - QUERY_LANES ), far ) );
    }
    return top - QUERY_LANES + base_bit_width( within );
}
#else
static inline uint32_t skip_beyond( const query_stack* stack, uint32_t top, float reach )
{
    while ( stack->near[top - 1] > reach )
    {
        top -= 1;
    }
    return top;
}

// Nodes of these lanes onto the stack, the nearest last; the new top. Only called where several queries go in
// turn.
static inline uint32_t pick_nodes(
    query_stack* stack, uint32_t top, const uint32_t child[QUERY_LANES], eight near, uint32_t bits )
{
    (void)stack, (void)child, (void)near, (void)bits;
    return top;
}
#endif

#ifndef OWN_PICKS
// The least of time and slot of these lanes and `best`. Objects go one after the other: they are few.
static inline uint64_t pick_best( const query_node* node, eight times, uint32_t bits, uint64_t best )
{
    EIGHT_ALIGN float near[QUERY_LANES];
    eight_store( near, times );
    for ( ; bits != 0; bits &= bits - 1 )
    {
        uint32_t lane = base_lowest_bit( bits );
        uint64_t key = query_key( near[lane], node->least[lane] );
        best = key < best ? key : best;
    }
    return best;
}
#endif

// Lanes whose boxes overlap this one.
static inline uint32_t overlap_lanes( const clv_aabb* box, const query_node* node )
{
    eight_mask mask = eight_and( eight_le( eight_load( node->lower[0] ), eight_splat( box->upper.x ) ),
        eight_le( eight_splat( box->lower.x ), eight_load( node->upper[0] ) ) );
    for ( int axis = 1; axis < 3; ++axis )
    {
        mask = eight_and(
            mask, eight_le( eight_load( node->lower[axis] ), eight_splat( ( &box->upper.x )[axis] ) ) );
        mask = eight_and(
            mask, eight_le( eight_splat( ( &box->lower.x )[axis] ), eight_load( node->upper[axis] ) ) );
    }
    return eight_bits( mask );
}

// Of objects' lanes that floats cannot tell, those that do not overlap in double.
static inline uint32_t far_from(
    const query_walk* walk, const query_node* node, clv_aabb seen, uint32_t bits )
{
    uint32_t apart = 0;
    for ( int axis = 0; axis < 3; ++axis ) // as much smaller as lanes may be larger, and more
    {
        float *lower = &( &seen.lower.x )[axis], *upper = &( &seen.upper.x )[axis];
        *lower += 16 * (float)QUERY_OUTWARDS * fabsf( *lower ) + 16 * FLT_MIN;
        *upper -= 16 * (float)QUERY_OUTWARDS * fabsf( *upper ) + 16 * FLT_MIN;
    }
    for ( bits &= ~overlap_lanes( &seen, node ); bits != 0; bits &= bits - 1 )
    {
        uint32_t lane = base_lowest_bit( bits ), slot = node->child[lane] & ~QUERY_OBJECT;
        bool overlaps =
            node->child[lane] == QUERY_EMPTY || clv_aabb64_overlap( walk->far.boxes[slot], walk->far.box );
        apart |= (uint32_t)!overlaps << lane;
    }
    return apart;
}

// In float, or over nodes that are seen from where they are; so in the functions below. Always inline:
// compiled once for each.
static inline __attribute__( ( always_inline ) ) bool find_overlaps( query_walk* walk, bool is_far )
{
    uint32_t top = walk->top, count = 0, nodes = 0;
    uint32_t* stack = walk->stack.node;
    clv_aabb box = walk->box;
    while ( top > 0 && count <= QUERY_FOUND - QUERY_LANES )
    {
        const query_node* node = &walk->nodes[stack[--top]];
        nodes += 1;
        if ( is_far )
        {
            box = query_box_seen_from( &walk->far.box, node->origin );
        }
        uint32_t bits = overlap_lanes( &box, node );
        if ( is_far )
        {
            uint32_t objects = bits & eight_signs( node->child );
            bits &= objects != 0 ? ~far_from( walk, node, box, objects ) : UINT32_MAX;
        }
        for ( ; bits != 0; bits &= bits - 1 )
        {
            uint32_t child = node->child[base_lowest_bit( bits )];
            // Written to both, counted for one: a branch would be mispredicted.
            uint32_t is_object = child >> 31;
            walk->found[count] = child & ~QUERY_OBJECT;
            stack[top] = child;
            count += is_object;
            top += 1 - is_object;
        }
    }
    walk->top = top;
    walk->node_count += nodes;
    walk->found_count = count;
    return top > 0;
}

static inline eight cast_lanes( const query_cast* cast, const query_node* node, eight reach, uint32_t* bits )
{
    const float* faces = node->lower[0];
    eight near = eight_splat( 0 ), far = reach;
    for ( int axis = 0; axis < 3; ++axis )
    {
        eight first = eight_mul(
            eight_sub( eight_load( faces + cast->near_face[axis] ), eight_splat( cast->near_origin[axis] ) ),
            eight_splat( cast->near_inverse[axis] ) );
        eight last = eight_mul(
            eight_sub( eight_load( faces + cast->far_face[axis] ), eight_splat( cast->far_origin[axis] ) ),
            eight_splat( cast->far_inverse[axis] ) );
        near = eight_max( first, near );
        far = eight_min( last, far );
    }
    *bits = eight_bits( eight_le( near, far ) );
    return near;
}

static inline eight distance_lanes( const clv_aabb* box, const query_node* node, eight reach, uint32_t* bits )
{
    eight sum = eight_splat( 0 ), zero = sum;
    for ( int axis = 0; axis < 3; ++axis )
    {
        eight above = eight_sub( eight_load( node->lower[axis] ), eight_splat( ( &box->upper.x )[axis] ) );
        eight below = eight_sub( eight_splat( ( &box->lower.x )[axis] ), eight_load( node->upper[axis] ) );
        eight gap = eight_max( below, eight_max( above, zero ) );
        sum = eight_add( sum, eight_mul( gap, gap ) );
    }
    *bits = eight_bits( eight_le( sum, reach ) );
    return sum;
}

// Objects of a node, to the caller.
static inline void put_found( query_walk* walk, const query_node* node, eight times, uint32_t bits )
{
    EIGHT_ALIGN float near[QUERY_LANES];
    eight_store( near, times );
    uint32_t count = 0;
    for ( ; bits != 0; bits &= bits - 1 )
    {
        uint32_t lane = base_lowest_bit( bits );
        walk->found[count] = node->child[lane] & ~QUERY_OBJECT;
        walk->found_near[count] = near[lane];
        walk->found_lane[count] = lane;
        count += 1;
    }
    walk->found_count = count;
    walk->found_node = node;
}

// How near a node is, and which it is, as one number to compare.
static inline uint64_t waiting_node( const uint32_t child[QUERY_LANES], const float* near, uint32_t lane )
{
    return query_key( near[lane], child[lane] );
}

// The nearer one to `first`, without a branch.
static inline void order_nodes( uint64_t* first, uint64_t* second )
{
    uint64_t a = *first, b = *second;
    *first = b < a ? b : a;
    *second = b < a ? a : b;
}

static inline void put_node( query_stack* stack, uint32_t at, uint64_t next )
{
    stack->near[at] = query_key_near( next );
    stack->node[at] = (uint32_t)next;
}

// Nodes below a node, at least one, onto the stack; the new top. The nearest ends on top, the second nearest
// below it; how the others lie does not matter much, for most are out of reach when their turn comes, and
// sorting them is a guess for the processor.
static inline uint32_t put_nodes(
    query_stack* stack, uint32_t top, const uint32_t child[QUERY_LANES], eight times, uint32_t bits )
{
    EIGHT_ALIGN float near[QUERY_LANES];
    eight_store( near, times );
    uint64_t first = waiting_node( child, near, base_lowest_bit( bits ) );
    bits &= bits - 1;
    if ( bits != 0 )
    {
        uint64_t second = waiting_node( child, near, base_lowest_bit( bits ) );
        bits &= bits - 1;
        order_nodes( &first, &second );
        for ( ; bits != 0; bits &= bits - 1 )
        {
            uint64_t next = waiting_node( child, near, base_lowest_bit( bits ) );
            order_nodes( &first, &next );
            order_nodes( &second, &next );
            put_node( stack, top++, next );
        }
        put_node( stack, top++, second );
    }
    put_node( stack, top, first );
    return top + 1;
}

// Too close to call in float: what is exactly as far as the farthest that counts comes too late, if its slots
// are higher.
static inline uint32_t drop_late(
    const query_late* late, const query_node* node, const float* near, uint32_t bits )
{
    uint32_t kept = bits;
    for ( ; bits != 0; bits &= bits - 1 )
    {
        uint32_t lane = base_lowest_bit( bits );
        if ( near[lane] >= late->band && node->least[lane] > late->least )
        {
            clv_aabb box = query_lane_box( node, lane );
            bool is_late = (float)sqrt( query_gap_squared( late->box, &box ) ) >= late->time;
            kept &= is_late ? ~( 1u << lane ) : UINT32_MAX;
        }
    }
    return kept;
}

// Nothing in there counts any more? Of what is just at the reach only lower slots do.
static inline bool is_too_late( float near, const query_node* node, float reach, uint32_t least )
{
    return near >= reach && ( near > reach || query_node_least( node ) > least );
}

// The same of doubles: times and distances are too near, so that slots tell only where the reach is 0. What
// lies below the stack is not too late.
static inline bool is_too_late64( float near, const query_node* node, float reach, uint32_t least )
{
    return near >= 0 && ( near > reach || node->origin[3] > (double)least );
}

static inline __attribute__( ( always_inline ) ) bool find_in_way( query_walk* walk, bool is_far )
{
    eight reach = eight_splat( walk->reach );
    query_stack* stack = &walk->stack;
    walk->found_count = 0;
    while ( walk->top > 0 )
    {
        uint32_t top = --walk->top;
        const query_node* node = &walk->nodes[stack->node[top]];
        if ( is_far ? is_too_late64( stack->near[top], node, walk->reach, walk->reach_least )
                    : is_too_late( stack->near[top], node, walk->reach, walk->reach_least ) )
        {
            continue;
        }
        walk->node_count += 1;
        if ( is_far )
        {
            query_cast_seen_from( &walk->far.cast, node->origin, &walk->cast );
        }
        // Also the empty lanes count as objects; their boxes are inside out.
        uint32_t bits, objects = eight_signs( node->child );
        eight near = cast_lanes( &walk->cast, node, reach, &bits );
        if ( ( bits & ~objects ) != 0 )
        {
            walk->top = put_nodes( stack, top, node->child, near, bits & ~objects );
        }
        if ( ( bits & objects ) != 0 )
        {
            put_found( walk, node, near, bits & objects );
            return true;
        }
    }
    return false;
}

static inline __attribute__( ( always_inline ) ) bool find_near_by( query_walk* walk, bool is_far )
{
    eight reach = eight_splat( walk->reach ), band = eight_splat( walk->band );
    query_stack* stack = &walk->stack;
    query_late late = { &walk->box, walk->band, walk->reach_time, walk->reach_least };
    walk->found_count = 0;
    while ( walk->top > 0 )
    {
        uint32_t top = --walk->top;
        const query_node* node = &walk->nodes[stack->node[top]];
        if ( is_far ? is_too_late64( stack->near[top], node, walk->reach, walk->reach_least )
                    : stack->near[top] > walk->reach ) // equal in float is not equal: drop_late looks closer
        {
            continue;
        }
        walk->node_count += 1;
        if ( is_far )
        {
            walk->box = query_reach_seen_from( &walk->far.box, node->origin );
        }
        uint32_t bits, objects = eight_signs( node->child );
        eight sum = distance_lanes( &walk->box, node, reach, &bits );
        uint32_t inner = bits & ~objects;
        if ( !is_far && ( inner & eight_bits( eight_le( band, sum ) ) ) != 0 )
        {
            EIGHT_ALIGN float near[QUERY_LANES];
            eight_store( near, sum );
            inner = drop_late( &late, node, near, inner );
        }
        if ( inner != 0 )
        {
            walk->top = put_nodes( stack, top, node->child, sum, inner );
        }
        if ( ( bits & objects ) != 0 )
        {
            put_found( walk, node, sum, bits & objects );
            return true;
        }
    }
    return false;
}

static bool walk_overlap( query_walk* walk )
{
    return find_overlaps( walk, false );
}

static bool walk_cast( query_walk* walk )
{
    return find_in_way( walk, false );
}

static bool walk_distance( query_walk* walk )
{
    return find_near_by( walk, false );
}

static bool walk_overlap64( query_walk* walk )
{
    return find_overlaps( walk, true );
}

static bool walk_cast64( query_walk* walk )
{
    return find_in_way( walk, true );
}

static bool walk_distance64( query_walk* walk )
{
    return find_near_by( walk, true );
}

// ---- the whole of a query

// The root, and below it what is never out of reach and says that there is no more.
static inline void open_turn( query_turn* turn, void* item )
{
    turn->item = item;
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        turn->stack.near[i] = -1;
    }
    turn->stack.near[QUERY_LANES] = 0;
    turn->stack.node[QUERY_LANES - 1] = turn->stack.node[QUERY_LANES] = 0;
    turn->top = QUERY_LANES + 1;
}

// It will be looked at when the others have had their turn.
static inline void fetch_node( const query_node* node )
{
    for ( uint32_t i = 0; i < sizeof( query_node ); i += 64 )
    {
        base_prefetch( (const char*)node + i );
    }
}

// Nodes below a node in the place of it, which was at `at`.
static inline void push_nodes( const query_node* nodes, query_turn* turn, uint32_t at, const query_node* node,
    eight near, uint32_t bits, bool is_alone )
{
    query_stack* stack = &turn->stack;
    if ( is_alone )
    {
        turn->top = bits != 0 ? put_nodes( stack, at, node->child, near, bits ) : at;
        return;
    }
    turn->top = pick_nodes( stack, at, node->child, near, bits );
    fetch_node( &nodes[stack->node[turn->top - 1]] );
}

static inline __attribute__( ( always_inline ) ) bool closest_step(
    const void* tree, query_turn* turn, bool is_alone )
{
    const query_node* nodes = tree;
    query_cast* cast = turn->item;
    query_stack* stack = &turn->stack;
    uint64_t best = cast->best;
    float reach = query_key_near( best );
    uint32_t at = is_alone ? turn->top - 1 : skip_beyond( stack, turn->top, reach ) - 1;
    while ( is_too_late( stack->near[at], &nodes[stack->node[at]], reach, (uint32_t)best ) )
    {
        at -= 1;
    }
    if ( stack->near[at] < 0 )
    {
        return false;
    }
    const query_node* node = &nodes[stack->node[at]];
    uint32_t bits, objects = eight_signs( node->child );
    eight near = cast_lanes( cast, node, eight_splat( reach ), &bits );
    push_nodes( nodes, turn, at, node, near, bits & ~objects, is_alone );
    if ( ( bits & objects ) != 0 )
    {
        cast->best = pick_best( node, near, bits & objects, best );
    }
    return true;
}

// A list of queries, each `size` bytes, one after the other, or several in turn, of which one works while the
// others wait for memory. Always inline: compiled once for each kind of step.
static inline __attribute__( ( always_inline ) ) void walk_alone(
    const void* tree, void* queries, size_t size, uint32_t count, query_step* step )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        query_turn turn;
        open_turn( &turn, (char*)queries + i * size );
        while ( step( tree, &turn, true ) )
        {
        }
    }
}

static inline __attribute__( ( always_inline ) ) void walk_in_turn(
    const void* tree, void* queries, size_t size, uint32_t count, query_step* step )
{
    query_turn turns[AT_ONCE];
    char* first = queries;
    uint32_t next = 0, busy = 0;
    for ( ; busy < AT_ONCE && next < count; ++busy, ++next )
    {
        open_turn( &turns[busy], first + next * size );
    }
    while ( next < count )
    {
        for ( query_turn* turn = turns; turn < turns + AT_ONCE; ++turn )
        {
            if ( !step( tree, turn, false ) && next < count ) // else asked and answered
            {
                open_turn( turn, first + next++ * size );
            }
        }
    }
    for ( bool is_more = true; is_more; )
    {
        is_more = false;
        for ( query_turn* turn = turns; turn < turns + busy; ++turn )
        {
            is_more |= step( tree, turn, false );
        }
    }
}

// In turn where that gains.
static inline __attribute__( ( always_inline ) ) void walk(
    const void* tree, void* queries, size_t size, uint32_t count, query_step* step )
{
    if ( AT_ONCE > 1 && count > 1 )
    {
        walk_in_turn( tree, queries, size, count, step );
        return;
    }
    walk_alone( tree, queries, size, count, step );
}

static void walk_closest( const query_node* nodes, query_cast* casts, uint32_t count )
{
    walk( nodes, casts, sizeof( *casts ), count, closest_step );
}

static void walk_count(
    const query_node* nodes, const float point[3], uint32_t* node_count, uint32_t* object_count )
{
    const eight x = eight_splat( point[0] ), y = eight_splat( point[1] ), z = eight_splat( point[2] );
    uint32_t stack[QUERY_STACK], top = 1, seen = 0, met = 0;
    stack[0] = 0;
    while ( top > 0 )
    {
        const query_node* node = &nodes[stack[--top]];
        uint32_t objects = eight_signs( node->child );
        eight_mask mask = eight_and(
            eight_le( eight_load( node->lower[0] ), x ), eight_le( x, eight_load( node->upper[0] ) ) );
        mask = eight_and( mask, eight_le( eight_load( node->lower[1] ), y ) );
        mask = eight_and( mask, eight_le( y, eight_load( node->upper[1] ) ) );
        mask = eight_and( mask, eight_le( eight_load( node->lower[2] ), z ) );
        mask = eight_and( mask, eight_le( z, eight_load( node->upper[2] ) ) );
        uint32_t bits = eight_bits( mask );
        seen += 1;
        met += base_bit_count( bits & objects );
        for ( bits &= ~objects; bits != 0; bits &= bits - 1 )
        {
            stack[top++] = node->child[base_lowest_bit( bits )];
        }
    }
    *node_count = seen;
    *object_count = met;
}

static void bound_node( const query_node* node, query_node* above, uint32_t lane )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        above->lower[axis][lane] = eight_least( eight_load( node->lower[axis] ) );
        above->upper[axis][lane] = eight_most( eight_load( node->upper[axis] ) );
    }
    above->least[lane] = eight_least_slot( node->least );
}
