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

// Sorted in among those of the same node: the nearest ends on top, of equals the one with the lowest slot.
static inline uint32_t put_entry( query_entry* stack, uint32_t base, uint32_t top, query_entry entry )
{
    uint32_t at = top;
    while ( at > base &&
        ( stack[at - 1].near < entry.near ||
            ( stack[at - 1].near == entry.near && stack[at - 1].least < entry.least ) ) )
    {
        stack[at] = stack[at - 1];
        at -= 1;
    }
    stack[at] = entry;
    return top + 1;
}

// Nothing in there counts any more?
static inline bool is_beyond( const query_walk* walk, float near, uint32_t least )
{
    return near > walk->reach || ( near == walk->reach && least > walk->reach_least );
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

// Objects to the caller, nodes to the stack.
static inline void sort_lanes(
    query_walk* walk, const query_node* node, const float* near, uint32_t bits, bool is_distance )
{
    uint32_t base = walk->top, top = base, count = 0;
    for ( ; bits != 0; bits &= bits - 1 )
    {
        uint32_t lane = base_lowest_bit( bits );
        uint32_t child = node->child[lane];
        if ( ( child & QUERY_OBJECT ) != 0 )
        {
            walk->found[count] = child & ~QUERY_OBJECT;
            walk->found_near[count] = near[lane];
            walk->found_lane[count] = lane;
            count += 1;
            continue;
        }
        query_entry entry = { near[lane], node->least[lane], child };
        if ( is_distance && entry.near >= walk->band && entry.least > walk->reach_least )
        {
            // Too close to call in float. If it is as far as the farthest that counts it comes too late.
            clv_aabb box = query_lane_box( node, lane );
            if ( (float)sqrt( query_gap_squared( &walk->box, &box ) ) >= walk->reach_time )
            {
                continue;
            }
        }
        if ( !is_beyond( walk, entry.near, entry.least ) )
        {
            top = put_entry( walk->stack, base, top, entry );
        }
    }
    walk->top = top;
    walk->found_count = count;
    walk->found_node = node;
}

static bool walk_cast( query_walk* walk )
{
    eight reach = eight_splat( walk->reach );
    walk->found_count = 0;
    while ( walk->top > 0 )
    {
        query_entry entry = walk->stack[--walk->top];
        if ( is_beyond( walk, entry.near, entry.least ) )
        {
            continue;
        }
        const query_node* node = &walk->nodes[entry.node];
        walk->node_count += 1;
        uint32_t bits;
        EIGHT_ALIGN float near[QUERY_LANES];
        eight_store( near, cast_lanes( walk, node, reach, &bits ) );
        sort_lanes( walk, node, near, bits, false );
        if ( walk->found_count > 0 )
        {
            return true;
        }
    }
    return false;
}

static bool walk_distance( query_walk* walk )
{
    eight reach = eight_splat( walk->reach );
    walk->found_count = 0;
    while ( walk->top > 0 )
    {
        query_entry entry = walk->stack[--walk->top];
        if ( is_beyond( walk, entry.near, entry.least ) )
        {
            continue;
        }
        const query_node* node = &walk->nodes[entry.node];
        walk->node_count += 1;
        uint32_t bits;
        EIGHT_ALIGN float near[QUERY_LANES];
        eight_store( near, distance_lanes( walk, node, reach, &bits ) );
        sort_lanes( walk, node, near, bits, true );
        if ( walk->found_count > 0 )
        {
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
