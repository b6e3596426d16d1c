// SPDX-License-Identifier: MIT
// The whole of a query where boxes are doubles, over the steps of query_body.h: lanes are chosen in float, as
// seen from their node, and objects decide in double. No include guard: this is a template.

typedef struct far_tree
{
    const query_node* nodes;
    const clv_aabb64* boxes;
} far_tree;

// The last node that is not out of reach: its place on the stack.
static inline uint32_t next_waiting( const query_node* nodes, const query_stack* stack, uint32_t top,
    float above, uint32_t least, bool is_alone )
{
    uint32_t at = top - 1 - ( is_alone ? 0u : count_beyond( stack, top, above ) );
    while ( is_too_late64( stack->near[at], &nodes[stack->node[at]], above, least ) )
    {
        at -= 1;
    }
    return at;
}

static inline uint32_t push_nodes( const query_node* nodes, query_stack* stack, uint32_t at,
    const query_node* node, eight near, uint32_t bits, bool is_alone )
{
    if ( is_alone )
    {
        return bits != 0 ? put_nodes( stack, at, node->child, near, bits ) : at;
    }
    uint32_t top = pick_nodes( stack, at, node->child, near, bits );
    fetch_node( &nodes[stack->node[top - 1]] );
    return top;
}

static inline __attribute__( ( always_inline ) ) bool closest_step64(
    const void* tree, void* item, query_stack* stack, uint32_t* top, bool is_alone )
{
    const far_tree* far = tree;
    query_closest64* query = item;
    uint32_t at = next_waiting( far->nodes, stack, *top, query->above, query->least, is_alone );
    if ( stack->near[at] < 0 )
    {
        return false;
    }
    const query_node* node = &far->nodes[stack->node[at]];
    uint32_t bits, objects = eight_signs( node->child );
    query_cast_seen_from( &query->exact, node->origin, &query->cast );
    eight near = cast_lanes( &query->cast, node, eight_splat( query->above ), &bits );
    *top = push_nodes( far->nodes, stack, at, node, near, bits & ~objects, is_alone );
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

#ifndef OWN_PICKS
static inline void insert_nearest64(
    query_nearest64* query, const double* distances, const uint32_t* slots, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        query_insert_nearest( query, distances[i], slots[i] );
    }
}
#endif

// These lanes among the nearest, by their objects' distances; too far or empty: no slot, infinitely far.
static inline void pick_nearest64(
    query_nearest64* query, const clv_aabb64* boxes, const query_node* node, uint32_t bits )
{
    double distances[QUERY_LANES];
    uint32_t slots[QUERY_LANES], count = 0;
    for ( ; bits != 0; bits &= bits - 1 )
    {
        uint32_t child = node->child[base_lowest_bit( bits )];
        if ( child != QUERY_EMPTY )
        {
            const clv_aabb64* box = &boxes[child & ~QUERY_OBJECT];
            double gaps[3], square = query_gaps( &query->box, box, gaps );
            double distance = query_length( square, gaps[0], gaps[1], gaps[2] );
            bool counts = distance <= query->reach;
            distances[count] = counts ? distance : INFINITY;
            slots[count++] = counts ? child & ~QUERY_OBJECT : UINT32_MAX;
        }
    }
    insert_nearest64( query, distances, slots, count );
    query_nearest_shorten64( query );
}

static inline __attribute__( ( always_inline ) ) bool nearest_step64(
    const void* tree, void* item, query_stack* stack, uint32_t* top, bool is_alone )
{
    const far_tree* far = tree;
    query_nearest64* query = item;
    uint32_t least = query->reach > 0 ? UINT32_MAX : query->least;
    uint32_t at = next_waiting( far->nodes, stack, *top, query->above, least, is_alone );
    if ( stack->near[at] < 0 )
    {
        return false;
    }
    const query_node* node = &far->nodes[stack->node[at]];
    uint32_t bits, objects = eight_signs( node->child );
    clv_aabb box = query_reach_seen_from( &query->box, node->origin );
    eight sum = distance_lanes( &box, node, eight_splat( query->above ), &bits );
    *top = push_nodes( far->nodes, stack, at, node, sum, bits & ~objects, is_alone );
    if ( ( bits & objects ) != 0 )
    {
        pick_nearest64( query, far->boxes, node, bits & objects );
    }
    return true;
}

static void walk_closest64(
    const query_node* nodes, const clv_aabb64* boxes, query_closest64* queries, uint32_t count )
{
    far_tree far = { nodes, boxes };
    walk( &far, queries, sizeof( *queries ), count, closest_step64 );
}

static void walk_nearest64(
    const query_node* nodes, const clv_aabb64* boxes, query_nearest64* queries, uint32_t count )
{
    far_tree far = { nodes, boxes };
    walk( &far, queries, sizeof( *queries ), count, nearest_step64 );
}
