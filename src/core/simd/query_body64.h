// SPDX-License-Identifier: MIT
// The walks of query_lanes.h over nodes in double, as query_body.h has those in float, over the doubles that
// near_twice.h has too: near_d, NEAR_FLOATS / 2 of them, and
//   near_d_max( a, b )         a > b ? a : b, and so b where either is NaN
//   near_d_min( a, b )         a < b ? a : b, likewise
// Lanes are decided in double. Nodes that wait have their time or squared distance as a float that is not
// above it, so that they go through the stacks of query_body.h. No include guard: this is a template.

enum
{
    DOUBLES = NEAR_FLOATS / 2,
};

// Times or squared distances as floats that are not above them, but for floats near 0, for which
// query_above_float has room.
static inline void lower_floats( const double* near, float* to )
{
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        double low = near[lane] * QUERY_LOWER;
        to[lane] = (float)( low < (double)FLT_MAX ? low : (double)FLT_MAX );
    }
}

static uint32_t look_overlap64( const clv_aabb64* box, const query_node64* node )
{
    uint32_t bits = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; lane += DOUBLES )
    {
        uint32_t passed = UINT32_MAX;
        for ( int axis = 0; axis < 3; ++axis )
        {
            passed &= near_d_le_bits(
                near_d_load( node->lower[axis] + lane ), near_d_splat( ( &box->upper.x )[axis] ) );
            passed &= near_d_le_bits(
                near_d_splat( ( &box->lower.x )[axis] ), near_d_load( node->upper[axis] + lane ) );
        }
        bits |= passed << lane;
    }
    return bits;
}

// `late` are lanes at the reach or beyond. A motion that is nothing but a box has no more to take off.
static inline uint32_t cast_lanes64( const query_cast64* cast, const query_node64* node, double reach,
    bool has_more, double near[QUERY_LANES], uint32_t* late )
{
    const double* faces = node->lower[0];
    uint32_t bits = 0;
    *late = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; lane += DOUBLES )
    {
        near_d from = near_d_splat( 0 ), to = near_d_splat( reach );
        for ( int axis = 0; axis < 3; ++axis )
        {
            near_d first = near_d_sub(
                near_d_load( faces + cast->near_face[axis] + lane ), near_d_splat( cast->near_place[axis] ) );
            near_d last = near_d_sub(
                near_d_load( faces + cast->far_face[axis] + lane ), near_d_splat( cast->far_place[axis] ) );
            if ( has_more )
            {
                first = near_d_sub( first, near_d_splat( cast->near_more[axis] ) );
                last = near_d_sub( last, near_d_splat( cast->far_more[axis] ) );
            }
            first = near_d_mul( first, near_d_splat( cast->near_inverse[axis] ) );
            last = near_d_mul( last, near_d_splat( cast->far_inverse[axis] ) );
            from = near_d_max( first, from );
            to = near_d_min( last, to );
        }
        near_d_store( near + lane, from );
        bits |= near_d_le_bits( from, to ) << lane;
        *late |= near_d_le_bits( near_d_splat( reach ), from ) << lane;
    }
    return bits;
}

static uint32_t look_cast64(
    const query_cast64* cast, const query_node64* node, double reach, double near[QUERY_LANES] )
{
    uint32_t late;
    return cast_lanes64( cast, node, reach, true, near, &late );
}

// Of each lane the squared distance; `late` are lanes from `band` on.
static inline uint32_t distance_lanes64( const clv_aabb64* box, const query_node64* node, double limit,
    double band, double squares[QUERY_LANES], uint32_t* late )
{
    uint32_t bits = 0;
    *late = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; lane += DOUBLES )
    {
        near_d sum = near_d_splat( 0 ), zero = sum;
        for ( int axis = 0; axis < 3; ++axis )
        {
            near_d below = near_d_sub(
                near_d_load( node->lower[axis] + lane ), near_d_splat( ( &box->upper.x )[axis] ) );
            near_d above = near_d_sub(
                near_d_splat( ( &box->lower.x )[axis] ), near_d_load( node->upper[axis] + lane ) );
            near_d gap = near_d_max( near_d_max( above, below ), zero );
            sum = near_d_add( sum, near_d_mul( gap, gap ) );
        }
        near_d_store( squares + lane, sum );
        bits |= near_d_le_bits( sum, near_d_splat( limit ) ) << lane;
        *late |= near_d_le_bits( near_d_splat( band ), sum ) << lane;
    }
    return bits;
}

static uint32_t look_distance64(
    const clv_aabb64* box, const query_node64* node, double limit, double squares[QUERY_LANES] )
{
    uint32_t late;
    return distance_lanes64( box, node, limit, INFINITY, squares, &late );
}

static bool walk_overlap64( query_walk* walk )
{
    uint32_t top = walk->top, count = 0;
    uint32_t* stack = walk->stack.node;
    const clv_aabb64 box = walk->box64;
    while ( top > 0 && count <= QUERY_FOUND - QUERY_LANES )
    {
        const query_node64* node = &walk->nodes64[stack[--top]];
        for ( uint32_t bits = look_overlap64( &box, node ); bits != 0; bits &= bits - 1 )
        {
            uint32_t child = node->child[base_lowest_bit( bits )];
            uint32_t is_object = child >> 31; // as in walk_overlap
            walk->found[count] = child & ~QUERY_OBJECT;
            stack[top] = child;
            count += is_object;
            top += 1 - is_object;
        }
    }
    walk->top = top;
    walk->found_count = count;
    return top > 0;
}

// ---- the whole of a query

static inline void fetch_node64( const query_node64* node )
{
    for ( uint32_t i = 0; i < sizeof( query_node64 ); i += 64 )
    {
        base_prefetch( (const char*)node + i );
    }
}

// The last node that is not out of reach: its place on the stack.
static inline uint32_t next_waiting( const query_stack* stack, uint32_t top, float above, bool is_alone )
{
    uint32_t at = top - 1 - ( is_alone ? 0u : count_beyond( stack, top, above ) );
    while ( stack->near[at] > above )
    {
        at -= 1;
    }
    return at;
}

static inline uint32_t push_nodes64( const query_node64* nodes, query_stack* stack, uint32_t at,
    const query_node64* node, const double near[QUERY_LANES], uint32_t bits, bool is_alone )
{
    EIGHT_ALIGN float floats[QUERY_LANES];
    if ( is_alone && bits == 0 )
    {
        return at;
    }
    lower_floats( near, floats );
    if ( is_alone )
    {
        return put_nodes( stack, at, node->child, eight_load( floats ), bits );
    }
    uint32_t top = pick_nodes( stack, at, node->child, eight_load( floats ), bits );
    fetch_node64( &nodes[stack->node[top - 1]] );
    return top;
}

static inline bool closest_step64(
    const void* tree, void* item, query_stack* stack, uint32_t* top, bool is_alone )
{
    const query_node64* nodes = tree;
    query_closest64* query = item;
    uint32_t at = next_waiting( stack, *top, query->above, is_alone );
    if ( stack->near[at] < 0 )
    {
        return false;
    }
    const query_node64* node = &nodes[stack->node[at]];
    double near[QUERY_LANES];
    uint32_t late, objects = eight_signs( node->child );
    uint32_t bits = cast_lanes64( &query->cast, node, query->best, false, near, &late );
    for ( late &= bits; late != 0; late &= late - 1 ) // seldom: just at the reach only lower slots count
    {
        uint32_t lane = base_lowest_bit( late );
        bits &= node->least[lane] > query->slot ? ~( 1u << lane ) : UINT32_MAX;
    }
    *top = push_nodes64( nodes, stack, at, node, near, bits & ~objects, is_alone );
    if ( ( bits & objects ) != 0 )
    {
        for ( bits &= objects; bits != 0; bits &= bits - 1 )
        {
            uint32_t lane = base_lowest_bit( bits );
            bool is_first =
                near[lane] < query->best || ( near[lane] == query->best && node->least[lane] < query->slot );
            query->best = is_first ? near[lane] : query->best;
            query->slot = is_first ? node->least[lane] : query->slot;
        }
        query->above = query_above_float( query->best );
    }
    return true;
}

// Among the nearest so far, where it belongs.
static inline void insert_nearest64( query_nearest64* query, double near, uint32_t slot )
{
    uint32_t at = query->count - 1;
    if ( !( near < query->near[at] || ( near == query->near[at] && slot < query->slots[at] ) ) )
    {
        return;
    }
    for ( ; at > 0 &&
          ( near < query->near[at - 1] || ( near == query->near[at - 1] && slot < query->slots[at - 1] ) );
          --at )
    {
        query->near[at] = query->near[at - 1];
        query->slots[at] = query->slots[at - 1];
    }
    query->near[at] = near;
    query->slots[at] = slot;
}

static inline bool nearest_step64(
    const void* tree, void* item, query_stack* stack, uint32_t* top, bool is_alone )
{
    const query_node64* nodes = tree;
    query_nearest64* query = item;
    uint32_t at = next_waiting( stack, *top, query->above, is_alone );
    if ( stack->near[at] < 0 )
    {
        return false;
    }
    const query_node64* node = &nodes[stack->node[at]];
    double squares[QUERY_LANES];
    uint32_t late, objects = eight_signs( node->child );
    uint32_t bits = distance_lanes64( &query->box, node, query->limit, query->band, squares, &late );
    for ( late &= bits; late != 0; late &= late - 1 ) // too close to call by the square
    {
        uint32_t lane = base_lowest_bit( late );
        double near = query_lane_length( &query->box, node, lane, squares[lane] );
        bool counts = near < query->reach || ( near == query->reach && node->least[lane] <= query->least );
        bits &= counts ? UINT32_MAX : ~( 1u << lane );
    }
    *top = push_nodes64( nodes, stack, at, node, squares, bits & ~objects, is_alone );
    if ( ( bits & objects ) != 0 )
    {
        for ( bits &= objects; bits != 0; bits &= bits - 1 )
        {
            uint32_t lane = base_lowest_bit( bits );
            double near = query_lane_length( &query->box, node, lane, squares[lane] );
            if ( node->child[lane] != QUERY_EMPTY ) // within the reach, or it was too late
            {
                insert_nearest64( query, near, node->least[lane] );
            }
        }
        query_nearest_shorten64( query );
    }
    return true;
}

static void walk_closest64( const query_node64* nodes, query_closest64* queries, uint32_t count )
{
    walk( nodes, queries, sizeof( *queries ), count, closest_step64 );
}

static void walk_nearest64( const query_node64* nodes, query_nearest64* queries, uint32_t count )
{
    walk( nodes, queries, sizeof( *queries ), count, nearest_step64 );
}
