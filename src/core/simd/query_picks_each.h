// SPDX-License-Identifier: MIT
// Objects of the lanes that a comparison chose, one after the other: they are few. No include guard: part of a template.

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

// The keys stay in order by the lesser and the greater of two, so that nothing there is a guess for the processor.
static inline void pick_nearest( query_nearest* query, const query_node* node, uint32_t bits )
{
    for ( ; bits != 0; bits &= bits - 1 )
    {
        uint32_t lane = base_lowest_bit( bits );
        clv_aabb box = query_lane_box( node, lane );
        double square = query_gap_squared( &query->box, &box );
        bool counts = square <= query->square && node->child[lane] != QUERY_NOBODY;
        uint64_t key = counts ? query_key( (float)sqrt( square ), node->least[lane] ) : QUERY_NONE_NEAR;
        for ( uint32_t i = 0; i < query->count; ++i )
        {
            uint64_t lesser = key < query->keys[i] ? key : query->keys[i];
            key = key < query->keys[i] ? query->keys[i] : key;
            query->keys[i] = lesser;
        }
    }
    query_nearest_shorten( query );
}
