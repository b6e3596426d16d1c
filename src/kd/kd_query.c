// SPDX-License-Identifier: MIT
#include "kd/kd_query.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <float.h>
#include <math.h>

enum
{
    LOOSE_LEAST = 16, // unsorted objects at rest that a node may have
    CHUNK = 32,
    LOOSE_SHARE = 16, // or this part of its objects
};

typedef struct query_run
{
    kd_search* search;
    kd_tree* tree;
    const clv_aabb* boxes;
    const uint64_t* active;
    pair_sink* sink;
} query_run;

void kd_query_forget( kd_tree* tree )
{
    for ( uint32_t i = kd_tree_list( tree ); i-- > 0; )
    {
        kd_node* node = &tree->nodes[tree->stack[i]];
        node->rest_begin = node->rest_end = node->begin;
    }
    tree->pool_end = 0;
}

static uint32_t count_resting( const query_run* run, uint32_t from, uint32_t to )
{
    uint32_t count = 0;
    for ( uint32_t i = from; i < to; ++i )
    {
        count += !kd_bit( run->active, run->tree->order[i] );
    }
    return count;
}

// Length along an axis, rounded up.
static float reach_of( const clv_aabb* box, uint32_t axis )
{
    double exact = (double)kd_upper( box, axis ) - (double)kd_lower( box, axis );
    float reach = exact > FLT_MAX ? INFINITY : (float)exact;
    return (double)reach < exact ? nextafterf( reach, INFINITY ) : reach;
}

// [at rest, sorted][active]
static bool sort_node( const query_run* run, uint32_t index )
{
    kd_node* node = &run->tree->nodes[index];
    kd_search* search = run->search;
    kd_tree* tree = run->tree;
    uint32_t count = node->end - node->begin;
    void* arena = search->arena;
    bool ok = base_memory_reserve(
        search->memory, &arena, &search->arena_capacity, 0, (uint64_t)count + 1, sizeof( simd_item ) );
    search->arena = arena;
    if ( !ok )
    {
        return false;
    }
    simd_item* items = search->arena;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = tree->order[node->begin + i];
        const clv_aabb* box = &run->boxes[slot];
        items[i] = ( simd_item ){ { box->lower.x, box->lower.y, box->lower.z }, slot,
            { box->upper.x, box->upper.y, box->upper.z }, kd_bit( run->active, slot ) };
    }
    uint32_t axis = sweep_choose_item_axis( items, count );
    uint32_t kept;
    const base_keyed* keys = sweep_order_items( &search->sorter, items, count, 0, axis, -FLT_MAX, &kept );
    if ( keys == NULL )
    {
        return false;
    }
    node->rest_axis = axis;
    node->rest_pool = tree->pool_end;
    tree->pool_end += kept;
    CLV_ASSERT( tree->pool_end <= tree->pool_capacity );
    node->rest_begin = node->begin;
    node->rest_end = node->begin + kept;
    node->rest_reach = 0;
    node->rest_lower = INFINITY;
    node->rest_upper = -INFINITY;
    node->rest_is_hit = false;
    for ( uint32_t i = 0; i < kept; ++i )
    {
        uint32_t slot = items[keys[i].value].slot;
        tree->order[node->begin + i] = slot;
        tree->homes[slot] = index;
        const clv_aabb* box = &run->boxes[slot];
        tree->pool[node->rest_pool + i] = *box;
        tree->pool_keys[node->rest_pool + i] = kd_lower( box, axis );
        float reach = reach_of( box, axis );
        float lower = kd_lower( box, node->axis );
        float upper = kd_upper( box, node->axis );
        node->rest_reach = reach > node->rest_reach ? reach : node->rest_reach;
        node->rest_lower = lower < node->rest_lower ? lower : node->rest_lower;
        node->rest_upper = upper > node->rest_upper ? upper : node->rest_upper;
    }
    uint32_t write = node->rest_end;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( items[i].mark != 0 )
        {
            tree->order[write++] = items[i].slot;
        }
    }
    CLV_ASSERT( write == node->end );
    return true;
}

static bool sort_loose_nodes( const query_run* run, bool* full )
{
    kd_tree* tree = run->tree;
    for ( uint32_t i = kd_tree_list( tree ); i-- > 0; )
    {
        kd_node* node = &tree->nodes[tree->stack[i]];
        uint32_t limit = LOOSE_LEAST + ( node->end - node->begin ) / LOOSE_SHARE;
        uint32_t loose = node->end - node->begin - ( node->rest_end - node->rest_begin );
        if ( loose <= limit )
        {
            continue;
        }
        uint32_t resting = count_resting( run, node->begin, node->rest_begin ) +
            count_resting( run, node->rest_end, node->end );
        if ( resting <= limit )
        {
            continue;
        }
        if ( (uint64_t)tree->pool_end + ( node->end - node->begin ) > tree->pool_capacity )
        {
            *full = true;
            return true;
        }
        if ( !sort_node( run, tree->stack[i] ) )
        {
            return false;
        }
    }
    return true;
}

// Where holes have eaten up the pool, it is filled from its start once more.
static bool sort_nodes( const query_run* run )
{
    bool full = false;
    bool ok = sort_loose_nodes( run, &full );
    if ( ok && full )
    {
        kd_query_forget( run->tree );
        ok = sort_loose_nodes( run, &full );
    }
    return ok;
}

// Slots one by one. Two active objects meet twice, once in each one's query: the lower slot reports.
static clv_result test_slots( const query_run* run, uint32_t asker, const uint32_t* slots, uint32_t count )
{
    uint32_t hits[CHUNK];
    run->search->counters.test_count += count;
    for ( uint32_t done = 0; done < count; done += CHUNK )
    {
        uint32_t chunk = count - done < CHUNK ? count - done : CHUNK;
        uint32_t hit_count = run->search->kernels->pick_overlapping(
            run->boxes, slots + done, chunk, &run->boxes[asker], hits );
        for ( uint32_t i = 0; i < hit_count; ++i )
        {
            uint32_t slot = hits[i];
            bool is_mine = slot > asker || ( slot < asker && !kd_bit( run->active, slot ) );
            clv_result result = is_mine ? pair_sink_put( run->sink, asker, slot ) : CLV_OK;
            if ( result != CLV_OK )
            {
                return result;
            }
        }
    }
    return CLV_OK;
}

// First of the sorted objects that may reach up to `bound`, counted from the first: none that begins more than the longest
// one below it can. One float further down, for the rounding.
static uint32_t find_first( const kd_node* node, const float* keys, float bound )
{
    float least = nextafterf( (float)( (double)bound - (double)node->rest_reach ), -INFINITY );
    const float* first = keys;
    uint32_t count = node->rest_end - node->rest_begin;
    // Halving without a branch: which half it is, nothing could guess.
    while ( count > 1 )
    {
        uint32_t half = count / 2;
        first += ( first[half - 1] < least ) * half;
        count -= half;
    }
    return (uint32_t)( first - keys ) + ( *first < least );
}

static clv_result put_hits(
    const query_run* run, uint32_t asker, const uint32_t* slots, const uint32_t* hits, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_result result = pair_sink_put( run->sink, asker, slots[hits[i]] );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    return CLV_OK;
}

static clv_result test_resting( const query_run* run, uint32_t asker, const kd_node* node )
{
    const clv_aabb* box = &run->boxes[asker];
    if ( node->rest_begin == node->rest_end || kd_lower( box, node->axis ) > node->rest_upper ||
        kd_upper( box, node->axis ) < node->rest_lower )
    {
        return CLV_OK; // in inner nodes the usual case: far from the plane
    }
    const float* keys = run->tree->pool_keys + node->rest_pool;
    const clv_aabb* boxes = run->tree->pool + node->rest_pool;
    const uint32_t* slots = run->tree->order + node->rest_begin;
    float reach = kd_upper( box, node->rest_axis );
    uint32_t end = node->rest_end - node->rest_begin;
    uint32_t at = find_first( node, keys, kd_lower( box, node->rest_axis ) );
    clv_result result = CLV_OK;
    while ( result == CLV_OK && at < end && keys[at] <= reach )
    {
        uint32_t hits[CHUNK];
        uint32_t chunk = end - at < CHUNK ? end - at : CHUNK;
        uint32_t hit_count = run->search->kernels->scan_overlapping( boxes + at, chunk, box, hits );
        run->search->counters.test_count += chunk;
        result = put_hits( run, asker, slots + at, hits, hit_count );
        at += chunk;
    }
    return result;
}

static clv_result ask_node( const query_run* run, uint32_t asker, const kd_node* node )
{
    const uint32_t* order = run->tree->order;
    run->search->counters.node_count += 1;
    run->search->counters.tree_pair_count += node->end - node->begin;
    clv_result result = test_slots( run, asker, order + node->begin, node->rest_begin - node->begin );
    if ( result == CLV_OK )
    {
        result = test_resting( run, asker, node );
    }
    if ( result == CLV_OK )
    {
        result = test_slots( run, asker, order + node->rest_end, node->end - node->rest_end );
    }
    return result;
}

// Down every branch that the box reaches into.
static clv_result ask_tree( const query_run* run, uint32_t asker )
{
    kd_tree* tree = run->tree;
    const clv_aabb* box = &run->boxes[asker];
    uint32_t depth = 0;
    tree->stack[depth++] = tree->root;
    while ( depth > 0 )
    {
        const kd_node* node = &tree->nodes[tree->stack[--depth]];
        if ( node->population == 0 )
        {
            continue;
        }
        clv_result result = ask_node( run, asker, node );
        if ( result != CLV_OK )
        {
            return result;
        }
        if ( kd_node_is_leaf( node ) )
        {
            continue;
        }
        if ( kd_upper( box, node->axis ) >= node->plane )
        {
            tree->stack[depth++] = node->right;
        }
        if ( kd_lower( box, node->axis ) < node->plane )
        {
            tree->stack[depth++] = node->left;
        }
    }
    return test_slots( run, asker, tree->outside, tree->outside_count );
}

clv_result kd_query_run( kd_search* search, kd_tree* tree, const clv_aabb* boxes, const uint64_t* active,
    uint32_t slot_end, pair_sink* sink )
{
    query_run run = { search, tree, boxes, active, sink };
    search->counters = ( kd_search_counters ){ 0 };
    if ( !sort_nodes( &run ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    for ( uint32_t first = 0; first < slot_end; first += 64 )
    {
        for ( uint64_t bits = active[first / 64]; bits != 0; bits &= bits - 1 )
        {
            clv_result result = ask_tree( &run, first + base_lowest_bit( bits ) );
            if ( result != CLV_OK )
            {
                return result;
            }
        }
    }
    return CLV_OK;
}
