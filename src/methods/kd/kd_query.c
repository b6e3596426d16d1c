// SPDX-License-Identifier: MIT
#include "kd/kd_engine.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <math.h>
#include <string.h>

enum
{
    LOOSE_LEAST = 16, // unsorted objects at rest that a node may have
    CHUNK = 32,
    LOOSE_SHARE = 16, // or this part of its objects
    SORT_TESTS = 1,
    CELL_FILL = 4,
    STEP_BITS = 15,
    SWEEP_MOST = 8192 // active objects that small boxes do for
};

typedef struct query_run
{
    kd_search* search;
    kd_tree* tree;
    const clv_aabb* boxes;
    const uint64_t* active;
    uint32_t active_count;
    clv_pair_sink* sink;
    bool is_swept; // pairs of two active objects are found already
} query_run;

void clv_kd_query_forget( kd_tree* tree )
{
    for ( uint32_t i = clv_kd_tree_list( tree ); i-- > 0; )
    {
        kd_node* node = &tree->nodes.items[tree->stack.items[i]];
        node->rest_begin = node->rest_end = node->begin;
    }
    tree->pool_end = 0;
}

static uint32_t count_resting_members( const query_run* run, uint32_t from, uint32_t to )
{
    uint32_t count = 0;
    for ( uint32_t i = from; i < to; ++i )
    {
        count += !base_bits_has( run->active, run->tree->order.items[i] );
    }
    return count;
}

// Cells of a few objects each, as many along one axis as along the other.
static void choose_cells( kd_node* node, uint32_t count )
{
    uint32_t bits = base_bit_width( count / CELL_FILL + 1 ) - 1;
    node->rest_bits[1] = bits / 2;
    node->rest_bits[0] = bits - node->rest_bits[1];
    CLV_ASSERT( node->rest_bits[0] <= STEP_BITS );
}

static uint32_t cell_count( const kd_node* node )
{
    return 1u << ( node->rest_bits[0] + node->rest_bits[1] );
}

static uint32_t cell_along( const kd_node* node, int way, int32_t step )
{
    CLV_ASSERT( step >= 0 && step < 1 << STEP_BITS );
    return (uint32_t)step >> ( STEP_BITS - node->rest_bits[way] );
}

static uint32_t cell_of( const kd_node* node, const simd_small_item* steps )
{
    return ( cell_along( node, 1, steps->lower[node->rest_axis[1]] ) << node->rest_bits[0] ) +
        cell_along( node, 0, steps->lower[node->rest_axis[0]] );
}

// The slots in tree->spare go into the block in order of cell. The first walk makes the ends of the cells,
// the second, backwards so that equal ones stay as given, takes them down to their starts.
static void fill_cells( const query_run* run, uint32_t index, uint32_t count, const simd_small_item* steps )
{
    kd_tree* tree = run->tree;
    kd_node* node = &tree->nodes.items[index];
    uint32_t* starts = tree->pool_starts.items + node->rest_pool;
    uint32_t cells = cell_count( node );
    CLV_ASSERT( (uint64_t)node->rest_pool + cells < tree->pool_starts.capacity );
    memset( starts, 0, ( (size_t)cells + 1 ) * sizeof( uint32_t ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        starts[cell_of( node, &steps[i] )] += 1;
    }
    for ( uint32_t cell = 1; cell <= cells; ++cell )
    {
        starts[cell] += starts[cell - 1];
    }
    CLV_ASSERT( starts[cells] == count ); // offsets end where the objects do
    for ( uint32_t i = count; i-- > 0; )
    {
        uint32_t slot = tree->spare.items[i];
        uint32_t place = --starts[cell_of( node, &steps[i] )];
        CLV_ASSERT( place < count && slot < tree->homes.capacity );
        tree->order.items[node->rest_begin + place] = slot;
        tree->pool.items[node->rest_pool + place] = run->boxes[slot];
        tree->homes.items[slot] = index;
    }
}

// How far they reach, in steps and along the plane's axis.
static void measure_cells( const query_run* run, kd_node* node, uint32_t count, const simd_small_item* steps )
{
    node->rest_reach[0] = node->rest_reach[1] = 0;
    node->rest_lower = INFINITY;
    node->rest_upper = -INFINITY;
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int way = 0; way < 2; ++way )
        {
            uint32_t axis = node->rest_axis[way];
            int32_t length = steps[i].upper[axis] - steps[i].lower[axis];
            node->rest_reach[way] = length > node->rest_reach[way] ? length : node->rest_reach[way];
        }
        const clv_aabb* box = &run->boxes[run->tree->spare.items[i]];
        float lower = kd_lower( box, node->axis );
        float upper = kd_upper( box, node->axis );
        node->rest_lower = lower < node->rest_lower ? lower : node->rest_lower;
        node->rest_upper = upper > node->rest_upper ? upper : node->rest_upper;
    }
}

static simd_small_item* reserve_steps( kd_search* search, uint32_t count )
{
    return base_array_reserve( &search->steps, search->memory, (uint64_t)count + 1 ) ? search->steps.items
                                                                                     : NULL;
}

// Objects at rest into tree->spare, the others to the end of the block. Returns how many are at rest.
static uint32_t take_resting( const query_run* run, const kd_node* node )
{
    kd_tree* tree = run->tree;
    uint32_t resting = 0;
    for ( uint32_t i = node->begin; i < node->end; ++i )
    {
        tree->spare.items[resting] = tree->order.items[i];
        resting += !base_bits_has( run->active, tree->order.items[i] );
    }
    uint32_t write = node->end;
    for ( uint32_t i = node->end; i-- > node->begin; )
    {
        if ( base_bits_has( run->active, tree->order.items[i] ) )
        {
            tree->order.items[--write] = tree->order.items[i];
        }
    }
    CLV_ASSERT( write - node->begin == resting ); // the two kinds fill the block
    return resting;
}

// [at rest, in order of cell][active]
static bool sort_node( const query_run* run, uint32_t index )
{
    kd_tree* tree = run->tree;
    kd_node* node = &tree->nodes.items[index];
    simd_small_item* steps = reserve_steps( run->search, node->end - node->begin );
    if ( steps == NULL )
    {
        return false;
    }
    uint32_t count = take_resting( run, node );
    sweep_list list = { run->boxes, tree->spare.items, count, NULL };
    sweep_grid grid = clv_sweep_grid_find( &list );
    node->rest_grid = grid.small;
    node->rest_axis[0] = grid.axis[0];
    node->rest_axis[1] = grid.axis[1];
    node->rest_begin = node->begin;
    node->rest_end = node->begin + count;
    node->rest_pool = tree->pool_end;
    node->rest_removed = 0;
    node->rest_loose = 0;
    node->rest_is_hit = false;
    tree->pool_end += count + 2;
    CLV_ASSERT( tree->pool_end <= tree->pool.capacity );
    choose_cells( node, count );
    tree->kernels->gather_small( run->boxes, tree->spare.items, count, &node->rest_grid, steps );
    measure_cells( run, node, count, steps );
    fill_cells( run, index, count, steps );
    return true;
}

// How many may be out of order. Every active object is tested against them, so the more of these there are,
// the sooner it pays to put the node in order again, which costs about as much as SORT_TESTS tests with each
// of its objects.
static uint32_t loose_limit( const query_run* run, uint32_t own_count )
{
    uint64_t share = own_count / LOOSE_SHARE;
    uint64_t paid = (uint64_t)own_count * SORT_TESTS / ( run->active_count + 1 );
    return LOOSE_LEAST + (uint32_t)( paid < share ? paid : share );
}

static bool sort_loose_nodes( const query_run* run, bool* full )
{
    kd_tree* tree = run->tree;
    for ( uint32_t i = clv_kd_tree_list( tree ); i-- > 0; )
    {
        kd_node* node = &tree->nodes.items[tree->stack.items[i]];
        uint32_t limit = loose_limit( run, node->end - node->begin );
        bool is_worn = node->rest_end > node->rest_begin && node->rest_removed > limit;
        node->rest_loose = count_resting_members( run, node->begin, node->rest_begin ) +
            count_resting_members( run, node->rest_end, node->end );
        if ( node->rest_loose <= limit && !is_worn )
        {
            continue;
        }
        if ( (uint64_t)tree->pool_end + ( node->end - node->begin ) + 2 > tree->pool.capacity )
        {
            *full = true;
            return true;
        }
        if ( !sort_node( run, tree->stack.items[i] ) )
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
        clv_kd_query_forget( run->tree );
        ok = sort_loose_nodes( run, &full );
    }
    return ok;
}

// Slots one by one. Two active objects meet twice, once in each one's query, unless they were swept: the
// lower slot reports.
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
            bool is_mine = !base_bits_has( run->active, slot ) || ( slot > asker && !run->is_swept );
            clv_result result = is_mine ? clv_pair_sink_put( run->sink, asker, slot ) : CLV_OK;
            if ( result != CLV_OK )
            {
                return result;
            }
        }
    }
    return CLV_OK;
}

// Cells of one row after the other, from which a box may reach the asker's.
typedef struct cell_range
{
    uint32_t first, last; // of a row
    uint32_t row, last_row;
    uint32_t done; // objects before this have been looked at
} cell_range;

static uint32_t lowest_cell( const kd_node* node, int way, const simd_small_item* steps )
{
    int32_t below = steps->lower[node->rest_axis[way]] - node->rest_reach[way];
    return cell_along( node, way, below > 0 ? below : 0 );
}

static cell_range find_cells( const kd_tree* tree, const kd_node* node, const clv_aabb* box )
{
    simd_small_item steps;
    const uint32_t only = 0;
    tree->kernels->gather_small( box, &only, 1, &node->rest_grid, &steps );
    return ( cell_range ){
        .first = lowest_cell( node, 0, &steps ),
        .last = cell_along( node, 0, steps.upper[node->rest_axis[0]] ),
        .row = lowest_cell( node, 1, &steps ),
        .last_row = cell_along( node, 1, steps.upper[node->rest_axis[1]] ),
    };
}

// The objects of the next row, counted from the first at rest. False after the last one.
static bool next_row(
    const kd_tree* tree, const kd_node* node, cell_range* cells, uint32_t* begin, uint32_t* end )
{
    if ( cells->row > cells->last_row )
    {
        return false;
    }
    const uint32_t* starts = tree->pool_starts.items + node->rest_pool + ( cells->row << node->rest_bits[0] );
    uint32_t count = node->rest_end - node->rest_begin;
    CLV_ASSERT( cells->first <= cells->last && cells->last < 1u << node->rest_bits[0] );
    *begin = starts[cells->first];
    *end = starts[cells->last + 1] < count ? starts[cells->last + 1] : count;
    // Some were taken out since, so the others may stand that much earlier; but not twice in two rows.
    *begin = *begin > node->rest_removed ? *begin - node->rest_removed : 0;
    *begin = *begin > cells->done ? *begin : cells->done;
    cells->done = *end > cells->done ? *end : cells->done;
    cells->row += 1;
    CLV_ASSERT( *end <= count );
    return true;
}

bool clv_kd_query_finds( const kd_tree* tree, uint32_t index, uint32_t at )
{
    const kd_node* node = &tree->nodes.items[index];
    const clv_aabb* box = &tree->boxes[tree->order.items[at]];
    uint32_t place = at - node->rest_begin;
    cell_range cells = find_cells( tree, node, box );
    bool found = false;
    uint32_t begin, end;
    while ( next_row( tree, node, &cells, &begin, &end ) )
    {
        found |= place >= begin && place < end;
    }
    return found && memcmp( &tree->pool.items[node->rest_pool + place], box, sizeof( clv_aabb ) ) == 0;
}

static clv_result put_hits(
    const query_run* run, uint32_t asker, const uint32_t* slots, const uint32_t* hits, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_result result = clv_pair_sink_put( run->sink, asker, slots[hits[i]] );
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
    const clv_aabb* boxes = run->tree->pool.items + node->rest_pool;
    const uint32_t* slots = run->tree->order.items + node->rest_begin;
    cell_range cells = find_cells( run->tree, node, box );
    clv_result result = CLV_OK;
    uint32_t at, end, next_at = 0, next_end = 0;
    bool has_row = next_row( run->tree, node, &cells, &at, &end );
    while ( result == CLV_OK && has_row )
    {
        has_row = next_row( run->tree, node, &cells, &next_at, &next_end );
        if ( has_row )
        {
            base_prefetch( &boxes[next_at] );
            base_prefetch( &boxes[next_at + 2] );
        }
        for ( ; result == CLV_OK && at < end; at += CHUNK )
        {
            uint32_t hits[CHUNK];
            uint32_t chunk = end - at < CHUNK ? end - at : CHUNK;
            uint32_t hit_count = run->search->kernels->scan_overlapping( boxes + at, chunk, box, hits );
            run->search->counters.test_count += chunk;
            result = put_hits( run, asker, slots + at, hits, hit_count );
        }
        at = next_at;
        end = next_end;
    }
    return result;
}

static clv_result ask_node( const query_run* run, uint32_t asker, const kd_node* node )
{
    const uint32_t* order = run->tree->order.items;
    run->search->counters.node_count += 1;
    run->search->counters.tree_pair_count += node->end - node->begin;
    bool is_loose_known = run->is_swept && node->rest_loose == 0;
    clv_result result = test_resting( run, asker, node );
    if ( result == CLV_OK && !is_loose_known )
    {
        result = test_slots( run, asker, order + node->begin, node->rest_begin - node->begin );
    }
    if ( result == CLV_OK && !is_loose_known )
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
    tree->stack.items[depth++] = tree->root;
    while ( depth > 0 )
    {
        const kd_node* node = &tree->nodes.items[tree->stack.items[--depth]];
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
        CLV_ASSERT( depth + 2 <= tree->stack.capacity );
        if ( kd_upper( box, node->axis ) >= node->plane )
        {
            tree->stack.items[depth++] = node->right;
        }
        if ( kd_lower( box, node->axis ) < node->plane )
        {
            tree->stack.items[depth++] = node->left;
        }
    }
    return test_slots( run, asker, tree->outside.items, tree->outside_count );
}

// Active objects node by node, so that consecutive searches are in the same place; into tree->spare.
static uint32_t list_askers( const query_run* run )
{
    kd_tree* tree = run->tree;
    uint32_t* askers = tree->spare.items;
    uint32_t count = 0;
    for ( uint32_t i = clv_kd_tree_list( tree ); i-- > 0; )
    {
        const kd_node* node = &tree->nodes.items[tree->stack.items[i]];
        for ( uint32_t at = node->begin; at < node->end; ++at )
        {
            at = at == node->rest_begin ? node->rest_end : at;
            if ( at < node->end )
            {
                askers[count] = tree->order.items[at];
                count += base_bits_has( run->active, tree->order.items[at] );
            }
        }
    }
    for ( uint32_t i = 0; i < tree->outside_count; ++i )
    {
        askers[count] = tree->outside.items[i];
        count += base_bits_has( run->active, tree->outside.items[i] );
    }
    CLV_ASSERT( count <= run->active_count && count <= tree->spare.capacity );
    return count;
}

// Pairs of two active objects, all at once; by small boxes, unless they are too many or too crowded for
// these.
static clv_result sweep_askers( query_run* run, uint32_t count )
{
    kd_search* search = run->search;
    sweep_list list = { run->boxes, run->tree->spare.items, count, NULL };
    if ( search->rules.sweep == KD_SWEEP_NONE || count == 0 )
    {
        return CLV_OK; // they ask for each other
    }
    run->is_swept = true;
    if ( count <= SWEEP_MOST )
    {
        sweep_grid grid = clv_sweep_grid_find( &list );
        sweep_small* small = &search->small[1];
        sweep_outcome outcome = clv_sweep_small_fill( small, &grid, &list, 1 );
        if ( outcome != SWEEP_CROWDED )
        {
            return outcome == SWEEP_DONE ? clv_kd_sweep_small( search, &small->boxes, run->sink )
                                         : CLV_OUT_OF_MEMORY;
        }
    }
    return clv_kd_search_sweep( search, run->boxes, list.slots, count, run->sink );
}

clv_result clv_kd_query_run( kd_search* search, kd_tree* tree, const clv_aabb* boxes, const uint64_t* active,
    uint32_t active_count, clv_pair_sink* sink )
{
    query_run run = { search, tree, boxes, active, active_count, sink, false };
    search->counters = ( kd_search_counters ){ 0 };
    if ( !sort_nodes( &run ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    uint32_t count = list_askers( &run );
    clv_result result = sweep_askers( &run, count );
    for ( uint32_t i = 0; i < count && result == CLV_OK; ++i )
    {
        base_prefetch( &boxes[tree->spare.items[i + 1 < count ? i + 1 : i]] );
        result = ask_tree( &run, tree->spare.items[i] );
    }
    return result;
}
