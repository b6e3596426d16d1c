// SPDX-License-Identifier: MIT
// The walks of query_lanes.h, written once over eight floats, which eight_<isa>.h defines:
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
// A motion that does not move along an axis has an infinite inverse: 0 times it, a face exactly at the origin, is NaN and so
// does not narrow the times, as it should not.
// No include guard: this is a template.

static bool walk_overlap( query_walk* walk )
{
    eight lower[3], upper[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = eight_splat( ( &walk->box.lower.x )[axis] );
        upper[axis] = eight_splat( ( &walk->box.upper.x )[axis] );
    }
    uint32_t top = walk->top, count = 0, nodes = 0;
    while ( top > 0 && count <= QUERY_FOUND - QUERY_LANES )
    {
        const query_node* node = &walk->nodes[walk->stack[--top].node];
        nodes += 1;
        eight_mask mask = eight_and( eight_le( eight_load( node->lower[0] ), upper[0] ),
            eight_le( lower[0], eight_load( node->upper[0] ) ) );
        for ( int axis = 1; axis < 3; ++axis )
        {
            mask = eight_and( mask, eight_le( eight_load( node->lower[axis] ), upper[axis] ) );
            mask = eight_and( mask, eight_le( lower[axis], eight_load( node->upper[axis] ) ) );
        }
        for ( uint32_t bits = eight_bits( mask ); bits != 0; bits &= bits - 1 )
        {
            uint32_t child = node->child[base_lowest_bit( bits )];
            // Written to both, counted for one: a branch would be mispredicted.
            uint32_t is_object = child >> 31;
            walk->found[count] = child & ~QUERY_OBJECT;
            walk->stack[top].node = child;
            count += is_object;
            top += 1 - is_object;
        }
    }
    walk->top = top;
    walk->node_count += nodes;
    walk->found_count = count;
    return top > 0;
}

static inline eight cast_lanes( const query_walk* walk, const query_node* node, eight reach, uint32_t* bits )
{
    const float* faces = node->lower[0];
    eight near = eight_splat( 0 ), far = reach;
    for ( int axis = 0; axis < 3; ++axis )
    {
        eight first = eight_mul(
            eight_sub( eight_load( faces + walk->near_face[axis] ), eight_splat( walk->near_origin[axis] ) ),
            eight_splat( walk->near_inverse[axis] ) );
        eight last = eight_mul(
            eight_sub( eight_load( faces + walk->far_face[axis] ), eight_splat( walk->far_origin[axis] ) ),
            eight_splat( walk->far_inverse[axis] ) );
        near = eight_max( first, near );
        far = eight_min( last, far );
    }
    *bits = eight_bits( eight_le( near, far ) );
    return near;
}

static inline eight distance_lanes(
    const query_walk* walk, const query_node* node, eight reach, uint32_t* bits )
{
    eight sum = eight_splat( 0 ), zero = sum;
    for ( int axis = 0; axis < 3; ++axis )
    {
        eight above =
            eight_sub( eight_load( node->lower[axis] ), eight_splat( ( &walk->box.upper.x )[axis] ) );
        eight below =
            eight_sub( eight_splat( ( &walk->box.lower.x )[axis] ), eight_load( node->upper[axis] ) );
        eight gap = eight_max( below, eight_max( above, zero ) );
        sum = eight_add( sum, eight_mul( gap, gap ) );
    }
    *bits = eight_bits( eight_le( sum, reach ) );
    return sum;
}

// Objects of a node, to the caller.
static inline void put_found( query_walk* walk, const query_node* node, const float* near, uint32_t bits )
{
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

static inline query_entry entry_of( const query_node* node, const float* near, uint32_t lane )
{
    return ( query_entry ){ query_key( near[lane], node->least[lane] ), node->child[lane] };
}

// The nearer one to `first`, without a branch.
static inline void order_entries( query_entry* first, query_entry* second )
{
    query_entry a = *first, b = *second;
    bool is_less = b.key < a.key;
    first->key = is_less ? b.key : a.key;
    first->node = is_less ? b.node : a.node;
    second->key = is_less ? a.key : b.key;
    second->node = is_less ? a.node : b.node;
}

// Nodes below a node, at least one. The nearest ends on top, the second nearest below it; how the others lie does not matter much,
// for most are out of reach when their turn comes, and sorting them is a guess for the processor.
static inline void put_nodes( query_walk* walk, const query_node* node, const float* near, uint32_t bits )
{
    query_entry* stack = walk->stack;
    uint32_t top = walk->top;
    query_entry first = entry_of( node, near, base_lowest_bit( bits ) );
    bits &= bits - 1;
    if ( bits != 0 )
    {
        query_entry second = entry_of( node, near, base_lowest_bit( bits ) );
        bits &= bits - 1;
        order_entries( &first, &second );
        for ( ; bits != 0; bits &= bits - 1 )
        {
            query_entry next = entry_of( node, near, base_lowest_bit( bits ) );
            order_entries( &first, &next );
            order_entries( &second, &next );
            stack[top++] = next;
        }
        stack[top++] = second;
    }
    stack[top++] = first;
    walk->top = top;
}

// Too close to call in float: what is exactly as far as the farthest that counts comes too late, if its slots are higher.
static inline uint32_t drop_late(
    const query_walk* walk, const query_node* node, const float* near, uint32_t bits )
{
    uint32_t kept = bits;
    for ( ; bits != 0; bits &= bits - 1 )
    {
        uint32_t lane = base_lowest_bit( bits );
        if ( near[lane] >= walk->band && node->least[lane] > walk->reach_least )
        {
            clv_aabb box = query_lane_box( node, lane );
            bool is_late = (float)sqrt( query_gap_squared( &walk->box, &box ) ) >= walk->reach_time;
            kept &= is_late ? ~( 1u << lane ) : UINT32_MAX;
        }
    }
    return kept;
}

// Lanes that hold objects; also the empty ones. The bit that says so is where a float has its sign.
static inline uint32_t object_lanes( const query_node* node )
{
    return eight_signs( node->child );
}

static bool walk_cast( query_walk* walk )
{
    eight reach = eight_splat( walk->reach );
    uint64_t last = query_key( walk->reach, walk->reach_least );
    walk->found_count = 0;
    while ( walk->top > 0 )
    {
        query_entry entry = walk->stack[--walk->top];
        if ( entry.key > last )
        {
            continue; // nothing in there counts any more
        }
        const query_node* node = &walk->nodes[entry.node];
        walk->node_count += 1;
        uint32_t bits, objects = object_lanes( node );
        EIGHT_ALIGN float near[QUERY_LANES];
        eight_store( near, cast_lanes( walk, node, reach, &bits ) );
        if ( ( bits & ~objects ) != 0 )
        {
            put_nodes( walk, node, near, bits & ~objects );
        }
        if ( ( bits & objects ) != 0 )
        {
            put_found( walk, node, near, bits & objects );
            return true;
        }
    }
    return false;
}

static bool walk_distance( query_walk* walk )
{
    eight reach = eight_splat( walk->reach ), band = eight_splat( walk->band );
    uint64_t last =
        query_key( walk->reach, UINT32_MAX ); // equal in float is not equal: drop_late looks closer
    walk->found_count = 0;
    while ( walk->top > 0 )
    {
        query_entry entry = walk->stack[--walk->top];
        if ( entry.key > last )
        {
            continue; // nothing in there counts any more
        }
        const query_node* node = &walk->nodes[entry.node];
        walk->node_count += 1;
        uint32_t bits, objects = object_lanes( node );
        EIGHT_ALIGN float near[QUERY_LANES];
        eight sum = distance_lanes( walk, node, reach, &bits );
        eight_store( near, sum );
        uint32_t inner = bits & ~objects;
        if ( ( inner & eight_bits( eight_le( band, sum ) ) ) != 0 )
        {
            inner = drop_late( walk, node, near, inner );
        }
        if ( inner != 0 )
        {
            put_nodes( walk, node, near, inner );
        }
        if ( ( bits & objects ) != 0 )
        {
            put_found( walk, node, near, bits & objects );
            return true;
        }
    }
    return false;
}

static void bound_node( const query_node* node, float lower[3], float upper[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        lower[axis] = eight_least( eight_load( node->lower[axis] ) );
        upper[axis] = eight_most( eight_load( node->upper[axis] ) );
    }
}
