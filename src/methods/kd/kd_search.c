// SPDX-License-Identifier: MIT
#include "kd/kd_search.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum
{
    REST = 0,
    ACTIVE = 1,
    AHEAD = 24,        // boxes asked for before they are needed
    USUAL_LIST = 2048, // entries that room is made for beforehand
    FEW_ENOUGH = 8192  // own objects of a node that a small grid does for; more are sorted
};

// What one run needs everywhere.
typedef struct search_run
{
    kd_search* search;
    kd_tree* tree;
    const clv_aabb* boxes;
    const uint64_t* active;
    pair_sink* sink;
} search_run;

void clv_kd_search_init(
    kd_search* search, base_memory* memory, const simd_method_kernels* kernels, bool use_sweep )
{
    *search = ( kd_search ){ .memory = memory, .kernels = kernels, .use_sweep = use_sweep };
    search->sorter.memory = memory;
    search->small[REST] = search->small[ACTIVE] = ( sweep_small ){ .memory = memory, .kernels = kernels };
}

void clv_kd_search_release( kd_search* search )
{
    base_memory* memory = search->memory;
    clv_sweep_sorter_release( &search->sorter );
    clv_base_memory_give( memory, search->arena, search->arena_capacity, sizeof( simd_item ) );
    clv_base_memory_give( memory, search->steps, search->step_capacity, sizeof( simd_small_item ) );
    clv_base_memory_give( memory, search->frames, search->frame_capacity, sizeof( kd_search_frame ) );
    clv_base_memory_give( memory, search->active_counts, search->active_capacity, sizeof( uint32_t ) );
    for ( int kind = 0; kind < 2; ++kind )
    {
        clv_sweep_small_release( &search->small[kind] );
        clv_simd_box_lanes_release( &search->own[kind], memory );
        clv_simd_box_lanes_release( &search->external[kind], memory );
    }
    bool counts_batches = search->counts_batches;
    bool is_published = search->is_published;
    clv_kd_search_init( search, memory, search->kernels, search->use_sweep );
    search->counts_batches = counts_batches;
    search->is_published = search->sorter.is_quick = is_published;
}

void clv_kd_search_publish( kd_search* search )
{
    search->is_published = search->sorter.is_quick = true;
}

static bool reserve_arena( kd_search* search, uint64_t kept, uint64_t needed )
{
    void* arena = search->arena;
    bool ok = clv_base_memory_reserve(
        search->memory, &arena, &search->arena_capacity, kept, needed, sizeof( simd_item ) );
    search->arena = arena;
    return ok;
}

bool clv_kd_search_reserve( kd_search* search, uint32_t object_count )
{
    uint32_t count = object_count < USUAL_LIST ? object_count : USUAL_LIST;
    void* frames = search->frames;
    bool ok = reserve_arena( search, 0, (uint64_t)count * 2 + 64 ) &&
        clv_base_memory_reserve(
            search->memory, &frames, &search->frame_capacity, 0, 64, sizeof( kd_search_frame ) );
    search->frames = frames;
    ok = ok && clv_sweep_sorter_reserve( &search->sorter, count );
    for ( int kind = 0; kind < 2 && ok; ++kind )
    {
        bool is_small = search->use_sweep && !search->is_published;
        ok = ( !is_small || clv_sweep_small_reserve( &search->small[kind], count ) ) &&
            clv_simd_box_lanes_reserve( &search->own[kind], search->memory, count ) &&
            ( !search->is_published ||
                clv_simd_box_lanes_reserve( &search->external[kind], search->memory, count ) );
    }
    return ok;
}

static bool push_frame( kd_search* search, uint32_t depth, kd_search_frame frame )
{
    void* frames = search->frames;
    bool ok = clv_base_memory_reserve( search->memory, &frames, &search->frame_capacity, depth,
        (uint64_t)depth + 1, sizeof( kd_search_frame ) );
    search->frames = frames;
    if ( ok )
    {
        search->frames[depth] = frame;
    }
    return ok;
}

static void gather( const search_run* run, const uint32_t* slots, uint32_t count, simd_item* items )
{
    const clv_aabb* boxes = run->boxes;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = slots[i];
        base_prefetch( &boxes[slots[i + AHEAD < count ? i + AHEAD : i]] );
        memcpy( items[i].lower, &boxes[slot].lower, sizeof( clv_vec3 ) );
        memcpy( items[i].upper, &boxes[slot].upper, sizeof( clv_vec3 ) );
        items[i].slot = slot;
        items[i].mark = ACTIVE;
    }
    for ( uint32_t i = 0; i < count && run->active != NULL; ++i )
    {
        items[i].mark = kd_bit( run->active, slots[i] );
    }
}

// ---- pairs of one node

static clv_result sweep_self( const search_run* run, const simd_boxes* boxes )
{
    kd_search* search = run->search;
    if ( search->counts_batches )
    {
        clv_kd_batches_add_sorted( &search->counters.batches, boxes );
    }
    simd_cursor cursor = { 0, 0 };
    while ( !search->kernels->sweep( boxes, &cursor, run->sink, &search->counters.test_count ) )
    {
        clv_result result = run->sink->make_room( run->sink );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    return CLV_OK;
}

static clv_result sweep_cross( const search_run* run, const simd_boxes* first, const simd_boxes* second )
{
    kd_search* search = run->search;
    if ( search->counts_batches )
    {
        clv_kd_batches_add_crossed( &search->counters.batches, first, second );
    }
    simd_cross_cursor cursor = { 0, 0, 0 };
    while ( !search->kernels->sweep_cross( first, second, &cursor, run->sink, &search->counters.test_count ) )
    {
        clv_result result = run->sink->make_room( run->sink );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    return CLV_OK;
}

// Active against active and against rest, inside and outside; rest against active externals. Rest against rest is known.
static clv_result sweep_lists( const search_run* run )
{
    const kd_search* search = run->search;
    const simd_boxes* own_rest = &search->own[REST].boxes;
    const simd_boxes* own_active = &search->own[ACTIVE].boxes;
    const simd_boxes* ext_rest = &search->external[REST].boxes;
    const simd_boxes* ext_active = &search->external[ACTIVE].boxes;
    const simd_boxes* crossed[4][2] = {
        { own_active, ext_active },
        { own_active, own_rest },
        { own_active, ext_rest },
        { own_rest, ext_active },
    };
    clv_result result = sweep_self( run, own_active );
    for ( int i = 0; i < 4 && result == CLV_OK; ++i )
    {
        if ( crossed[i][0]->count > 0 && crossed[i][1]->count > 0 )
        {
            result = sweep_cross( run, crossed[i][0], crossed[i][1] );
        }
    }
    return result;
}

// Items against the own objects of one kind.
static clv_result cross_items( const search_run* run, const sweep_grid* grid, const simd_item* items,
    uint32_t count, uint32_t least_mark, uint32_t kind )
{
    kd_search* search = run->search;
    sweep_small* small = &search->small[kind];
    if ( count == 0 || small->boxes.count == 0 )
    {
        return CLV_OK;
    }
    uint32_t row_count;
    if ( !clv_sweep_small_find( small, grid, items, count, least_mark, &row_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( search->counts_batches )
    {
        clv_kd_batches_add_rows( &search->counters.batches, small->rows, row_count );
    }
    simd_cursor cursor = { 0, 0 };
    while ( !search->kernels->cross_small(
        small->rows, row_count, &small->boxes, &cursor, run->sink, &search->counters.test_count ) )
    {
        clv_result result = run->sink->make_room( run->sink );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    return CLV_OK;
}

static clv_result sweep_small_self( const search_run* run )
{
    kd_search* search = run->search;
    if ( search->counts_batches )
    {
        clv_kd_batches_add_small( &search->counters.batches, &search->small[ACTIVE].boxes );
    }
    simd_cursor cursor = { 0, 0 };
    while ( !search->kernels->sweep_small(
        &search->small[ACTIVE].boxes, &cursor, run->sink, &search->counters.test_count ) )
    {
        clv_result result = run->sink->make_room( run->sink );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    return CLV_OK;
}

static sweep_outcome fill_small( const search_run* run, const sweep_grid* grid, const sweep_list* own )
{
    kd_search* search = run->search;
    search->small[REST].boxes.count = 0;
    sweep_outcome outcome = own->count <= FEW_ENOUGH ? SWEEP_DONE : SWEEP_CROWDED;
    for ( uint32_t kind = run->active != NULL ? REST : ACTIVE; kind <= ACTIVE && outcome == SWEEP_DONE;
          ++kind )
    {
        outcome = clv_sweep_small_fill( &search->small[kind], grid, own, kind );
    }
    return outcome;
}

// The pairs of sweep_lists, from small boxes. *crowded, and nothing reported yet, if they are no good here.
static clv_result sweep_by_small( const search_run* run, const kd_search_frame* frame, bool* crowded )
{
    kd_search* search = run->search;
    const simd_item* externals = search->arena + frame->begin;
    uint32_t external_count = frame->end - frame->begin;
    uint32_t own_count = frame->own_end - frame->end;
    const uint32_t* slots = run->tree->order + run->tree->nodes[frame->node].begin;
    sweep_list own = { run->boxes, slots, own_count, run->active };
    sweep_grid grid = clv_sweep_grid_find( &own );
    sweep_outcome outcome = fill_small( run, &grid, &own );
    *crowded = outcome == SWEEP_CROWDED;
    if ( outcome != SWEEP_DONE )
    {
        return *crowded ? CLV_OK : CLV_OUT_OF_MEMORY;
    }
    clv_result result = sweep_small_self( run );
    if ( result == CLV_OK )
    {
        // Only if anything is at rest, and then the items are there.
        result = cross_items( run, &grid, search->arena + frame->end, own_count, ACTIVE, REST );
    }
    if ( result == CLV_OK )
    {
        result = cross_items( run, &grid, externals, external_count, REST, ACTIVE );
    }
    if ( result == CLV_OK )
    {
        result = cross_items( run, &grid, externals, external_count, ACTIVE, REST );
    }
    return result;
}

static clv_result sort_and_sweep( const search_run* run, const kd_search_frame* frame )
{
    kd_search* search = run->search;
    const simd_item* externals = search->arena + frame->begin;
    const simd_item* own = search->arena + frame->end;
    uint32_t external_count = frame->end - frame->begin;
    uint32_t own_count = frame->own_end - frame->end;
    uint32_t axis = search->is_published ? clv_sweep_widest_item_axis( own, own_count )
                                         : clv_sweep_choose_item_axis( own, own_count );
    float floor = search->is_published ? -INFINITY : run->tree->nodes[frame->node].lower[axis];
    for ( uint32_t kind = REST; kind <= ACTIVE; ++kind )
    {
        search->own[kind].boxes.count = search->external[kind].boxes.count = 0;
        if ( kind == REST && run->active == NULL )
        {
            continue;
        }
        if ( !clv_sweep_sort_items(
                 &search->sorter, own, own_count, kind, axis, -FLT_MAX, &search->own[kind] ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
        if ( external_count > 0 &&
            !clv_sweep_sort_items(
                &search->sorter, externals, external_count, kind, axis, floor, &search->external[kind] ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
    }
    return sweep_lists( run );
}

static clv_result test_rows( const search_run* run, const simd_boxes* boxes, uint32_t row_begin,
    uint32_t row_end, uint32_t column_begin, uint32_t column_end )
{
    kd_search* search = run->search;
    if ( search->counts_batches )
    {
        clv_kd_batches_add_block( &search->counters.batches, row_begin, row_end, column_begin, column_end );
    }
    simd_cursor cursor = { row_begin, 0 };
    while ( !search->kernels->test_block( boxes, row_end, column_begin, column_end, &cursor, run->sink ) )
    {
        clv_result result = run->sink->make_room( run->sink );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    return CLV_OK;
}

static uint64_t pairs_of( uint64_t count )
{
    return count > 0 ? count * ( count - 1 ) / 2 : 0;
}

// Without a sweep: one list of own active, own rest, external active, external rest.
static clv_result brute_force( const search_run* run, const kd_search_frame* frame )
{
    kd_search* search = run->search;
    const simd_item* externals = search->arena + frame->begin;
    const simd_item* own = search->arena + frame->end;
    uint32_t external_count = frame->end - frame->begin;
    uint32_t own_count = frame->own_end - frame->end;
    simd_box_lanes* lanes = &search->own[ACTIVE];
    if ( !clv_simd_box_lanes_reserve( lanes, search->memory, own_count + external_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    lanes->boxes.count = 0;
    clv_sweep_append_items( own, own_count, ACTIVE, lanes );
    uint32_t active_end = lanes->boxes.count;
    clv_sweep_append_items( own, own_count, REST, lanes );
    clv_sweep_append_items( externals, external_count, ACTIVE, lanes );
    uint32_t external_end = lanes->boxes.count;
    clv_sweep_append_items( externals, external_count, REST, lanes );
    clv_simd_box_lanes_finish( lanes, lanes->boxes.count );
    uint32_t end = lanes->boxes.count;
    search->counters.test_count += pairs_of( active_end ) + (uint64_t)active_end * ( end - active_end ) +
        (uint64_t)( own_count - active_end ) * ( external_end - own_count );
    clv_result result = test_rows( run, &lanes->boxes, 0, active_end, 0, end );
    if ( result == CLV_OK && own_count > active_end )
    {
        result = test_rows( run, &lanes->boxes, active_end, own_count, own_count, external_end );
    }
    return result;
}

// How much the tree left, and how much of it is known because both are at rest.
static void count_pairs( const search_run* run, const kd_search_frame* frame )
{
    kd_search* search = run->search;
    uint64_t own_count = frame->own_end - frame->end;
    uint64_t external_count = frame->end - frame->begin;
    search->counters.node_count += 1;
    search->counters.external_count += external_count;
    search->counters.tree_pair_count += pairs_of( own_count ) + own_count * external_count;
    if ( run->active == NULL )
    {
        return;
    }
    uint64_t own_rest = 0, external_rest = 0;
    for ( uint32_t i = frame->begin; i < frame->end; ++i )
    {
        external_rest += !search->arena[i].mark;
    }
    for ( uint32_t i = frame->end; i < frame->own_end; ++i )
    {
        own_rest += !search->arena[i].mark;
    }
    search->counters.static_pair_count += pairs_of( own_rest ) + own_rest * external_rest;
}

// ---- the walk

// Items that reach to one side of the node's plane. The node's own objects lie across it and pass by themselves. Where
// nothing below is active, externals at rest have nothing to find. `to` may be `from`.
static uint32_t filter_externals(
    const kd_node* node, bool to_left, bool keep_rest, const simd_item* from, uint32_t count, simd_item* to )
{
    uint32_t kept = 0;
    uint32_t axis = node->axis;
    for ( uint32_t i = 0; i < count; ++i )
    {
        simd_item item = from[i];
        bool reaches = to_left ? item.lower[axis] < node->plane : item.upper[axis] >= node->plane;
        to[kept] = item;
        kept += reaches & ( keep_rest | ( item.mark != 0 ) );
    }
    return kept;
}

static bool is_idle( const search_run* run, uint32_t node )
{
    return run->active != NULL && !run->search->is_published && run->search->active_counts[node] == 0;
}

// Own objects into the arena, behind the externals, and the pairs of this node.
static clv_result visit( const search_run* run, kd_search_frame* frame )
{
    kd_search* search = run->search;
    const kd_node* node = &run->tree->nodes[frame->node];
    uint32_t own_count = node->end - node->begin;
    frame->own_end = frame->end + own_count;
    // Room for the left child's list too.
    uint64_t needed = (uint64_t)frame->own_end + ( frame->own_end - frame->begin ) + 1;
    if ( !reserve_arena( search, frame->end, needed ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    // In a leaf the small boxes are made from the boxes where they lie, and nobody below asks for the items.
    const uint32_t* slots = run->tree->order + node->begin;
    bool is_gathered =
        !search->use_sweep || search->is_published || run->active != NULL || !kd_node_is_leaf( node );
    if ( is_gathered )
    {
        gather( run, slots, own_count, search->arena + frame->end );
    }
    count_pairs( run, frame );
    if ( own_count == 0 )
    {
        return CLV_OK;
    }
    if ( !search->use_sweep )
    {
        return brute_force( run, frame );
    }
    if ( search->is_published )
    {
        return sort_and_sweep( run, frame );
    }
    bool crowded;
    clv_result result = sweep_by_small( run, frame, &crowded );
    if ( !crowded )
    {
        return result;
    }
    if ( !is_gathered )
    {
        gather( run, slots, own_count, search->arena + frame->end );
    }
    return sort_and_sweep( run, frame );
}

// The frame of a child, its list made from the parent's; for the right child in the parent's place.
static kd_search_frame enter_child( const search_run* run, const kd_search_frame* frame, bool to_left )
{
    kd_search* search = run->search;
    const kd_node* node = &run->tree->nodes[frame->node];
    uint32_t child = to_left ? node->left : node->right;
    uint32_t begin = to_left ? frame->own_end : frame->begin;
    uint32_t kept = filter_externals( node, to_left, !is_idle( run, child ), search->arena + frame->begin,
        frame->own_end - frame->begin, search->arena + begin );
    return ( kd_search_frame ){ .node = child, .begin = begin, .end = begin + kept };
}

static clv_result walk( const search_run* run, uint32_t external_count )
{
    kd_search* search = run->search;
    uint32_t depth = 0;
    kd_search_frame frame = { .node = run->tree->root, .end = external_count };
    for ( ;; )
    {
        bool is_needed = !is_idle( run, frame.node ) || frame.end > frame.begin;
        if ( is_needed )
        {
            clv_result result = visit( run, &frame );
            if ( result != CLV_OK )
            {
                return result;
            }
        }
        if ( is_needed && !kd_node_is_leaf( &run->tree->nodes[frame.node] ) )
        {
            if ( !push_frame( search, depth, frame ) )
            {
                return CLV_OUT_OF_MEMORY;
            }
            depth += 1;
            frame = enter_child( run, &frame, true );
            continue;
        }
        if ( depth == 0 )
        {
            return CLV_OK;
        }
        depth -= 1;
        frame = enter_child( run, &search->frames[depth], false );
    }
}

static bool count_active( const search_run* run )
{
    kd_search* search = run->search;
    kd_tree* tree = run->tree;
    void* counts = search->active_counts;
    bool ok = clv_base_memory_reserve(
        search->memory, &counts, &search->active_capacity, 0, tree->node_capacity, sizeof( uint32_t ) );
    search->active_counts = counts;
    if ( !ok )
    {
        return false;
    }
    for ( uint32_t i = clv_kd_tree_list( tree ); i-- > 0; )
    {
        uint32_t index = tree->stack[i];
        const kd_node* node = &tree->nodes[index];
        uint32_t active = 0;
        for ( uint32_t at = node->begin; at < node->end; ++at )
        {
            active += kd_bit( run->active, tree->order[at] );
        }
        if ( !kd_node_is_leaf( node ) )
        {
            active += search->active_counts[node->left] + search->active_counts[node->right];
        }
        search->active_counts[index] = active;
    }
    return true;
}

// Objects outside the tree are external to its root, and each other's only partners apart from that.
static clv_result search_outside( const search_run* run )
{
    kd_search* search = run->search;
    kd_tree* tree = run->tree;
    uint32_t count = tree->outside_count;
    if ( !reserve_arena( search, 0, (uint64_t)count + 1 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    gather( run, tree->outside, count, search->arena );
    if ( count < 2 )
    {
        return CLV_OK;
    }
    // Infinite centres say nothing about spread, so the axis is the first one; and active or not is no matter here.
    for ( uint32_t i = 0; i < count; ++i )
    {
        search->arena[i].mark = ACTIVE;
    }
    if ( !clv_sweep_sort_items(
             &search->sorter, search->arena, count, ACTIVE, 0, -INFINITY, &search->own[ACTIVE] ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    search->counters.tree_pair_count += pairs_of( count );
    clv_result result = sweep_self( run, &search->own[ACTIVE].boxes );
    gather( run, tree->outside, count, search->arena );
    return result;
}

clv_result clv_kd_search_run(
    kd_search* search, kd_tree* tree, const clv_aabb* boxes, const uint64_t* active, pair_sink* sink )
{
    search_run run = { search, tree, boxes, active, sink };
    search->counters = ( kd_search_counters ){ 0 };
    if ( active != NULL && !search->is_published && !count_active( &run ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_result result = search_outside( &run );
    if ( result == CLV_OK )
    {
        result = walk( &run, tree->outside_count );
    }
    return result;
}

clv_result clv_kd_search_sweep(
    kd_search* search, const clv_aabb* boxes, const uint32_t* slots, uint32_t count, pair_sink* sink )
{
    search_run run = { search, NULL, boxes, NULL, sink };
    if ( !reserve_arena( search, 0, (uint64_t)count + 1 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    gather( &run, slots, count, search->arena );
    uint32_t axis = clv_sweep_choose_item_axis( search->arena, count );
    if ( !clv_sweep_sort_items(
             &search->sorter, search->arena, count, ACTIVE, axis, -INFINITY, &search->own[ACTIVE] ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    return sweep_self( &run, &search->own[ACTIVE].boxes );
}
