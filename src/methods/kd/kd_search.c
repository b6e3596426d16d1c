// SPDX-License-Identifier: MIT
#include "kd/kd_search.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <math.h>
#include <string.h>

enum
{
    AHEAD = 24,          // boxes asked for before they are needed
    ITEMS_AT_ONCE = 256, // for which room is made
    USUAL_LIST = 2048    // entries that room is made for beforehand
};

void clv_kd_search_init(
    kd_search* search, base_memory* memory, const simd_method_kernels* kernels, const kd_search_rules* rules )
{
    *search = ( kd_search ){ .memory = memory, .kernels = kernels, .rules = *rules };
    search->sorter = ( sweep_sorter ){ .memory = memory, .is_quick = rules->is_quick };
    search->small[KD_MARK_REST] = search->small[KD_MARK_ACTIVE] =
        ( sweep_small ){ .memory = memory, .kernels = kernels };
}

void clv_kd_search_release( kd_search* search )
{
    base_memory* memory = search->memory;
    clv_sweep_sorter_release( &search->sorter );
    base_array_free( &search->arena, memory );
    base_array_free( &search->steps, memory );
    base_array_free( &search->frames, memory );
    base_array_free( &search->active_counts, memory );
    clv_sweep_small_release( &search->small[KD_MARK_REST] );
    clv_sweep_small_release( &search->small[KD_MARK_ACTIVE] );
    clv_sweep_sorted_release( &search->own, memory );
    clv_sweep_sorted_release( &search->external, memory );
    kd_search_rules rules = search->rules;
    clv_kd_search_init( search, memory, search->kernels, &rules );
}

void clv_kd_search_use_memory( kd_search* search, base_memory* memory )
{
    search->memory = memory;
    search->sorter.memory = memory;
    search->small[KD_MARK_REST].memory = search->small[KD_MARK_ACTIVE].memory = memory;
}

static bool reserve_arena( kd_search* search, uint64_t kept, uint64_t needed )
{
    search->arena.count = kept;
    return base_array_reserve( &search->arena, search->memory, needed );
}

static bool reserve_frames( kd_search* search, uint64_t kept, uint64_t needed )
{
    search->frames.count = kept;
    return base_array_reserve( &search->frames, search->memory, needed );
}

bool clv_kd_search_reserve( kd_search* search, uint32_t object_count )
{
    uint32_t count = object_count < USUAL_LIST ? object_count : USUAL_LIST;
    bool is_small = search->rules.sweep == KD_SWEEP_SMALL;
    bool ok = reserve_arena( search, 0, (uint64_t)count * 2 + 64 ) && reserve_frames( search, 0, 64 ) &&
        clv_sweep_sorter_reserve( &search->sorter, count ) &&
        clv_sweep_sorted_reserve( &search->own, search->memory, count ) &&
        ( is_small || clv_sweep_sorted_reserve( &search->external, search->memory, count ) );
    for ( int kind = 0; kind < 2 && ok && is_small; ++kind )
    {
        ok = clv_sweep_small_reserve( &search->small[kind], count );
    }
    return ok;
}

bool clv_kd_search_equip( kd_search* search, const kd_search_needs* needs, bool rests )
{
    bool is_small = search->rules.sweep == KD_SWEEP_SMALL;
    uint32_t own = (uint32_t)needs->of[KD_NEED_OWN], sorted = (uint32_t)needs->of[KD_NEED_SORTED];
    uint32_t externals = (uint32_t)needs->of[KD_NEED_EXTERNALS];
    bool is_sorted = !is_small || sorted > 0;
    sorted = own > sorted ? own : sorted;
    uint32_t small = own < KD_SMALL_MOST ? own : KD_SMALL_MOST;
    small = externals > small ? externals : small;
    bool ok = reserve_arena( search, 0, needs->of[KD_NEED_ARENA] + 1 ) &&
        reserve_frames( search, 0, needs->of[KD_NEED_DEPTH] + 1 ) &&
        ( !is_sorted ||
            ( clv_sweep_sorter_reserve( &search->sorter, sorted + 1 ) &&
                clv_sweep_sorted_reserve( &search->own, search->memory, sorted ) &&
                clv_sweep_sorted_reserve( &search->external, search->memory, sorted ) ) );
    for ( int kind = rests ? KD_MARK_REST : KD_MARK_ACTIVE; kind <= KD_MARK_ACTIVE && ok && is_small; ++kind )
    {
        ok = clv_sweep_small_reserve( &search->small[kind], small ) &&
            clv_sweep_small_reserve_rows( &search->small[kind], (uint32_t)needs->of[KD_NEED_ROWS] );
    }
    return ok;
}

static bool push_frame( kd_search* search, uint32_t depth, kd_search_frame frame )
{
    kd_need_at_least( &search->needs, KD_NEED_DEPTH, depth );
    bool ok = reserve_frames( search, depth, (uint64_t)depth + 1 );
    if ( ok )
    {
        CLV_ASSERT( depth < search->frames.capacity );
        search->frames.items[depth] = frame;
    }
    return ok;
}

void clv_kd_search_gather( const kd_search_job* job, const uint32_t* slots, uint32_t count, simd_item* items )
{
    const clv_aabb* boxes = job->boxes;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = slots[i];
        base_prefetch( &boxes[slots[i + AHEAD < count ? i + AHEAD : i]] );
        memcpy( items[i].lower, &boxes[slot].lower, sizeof( clv_vec3 ) );
        memcpy( items[i].upper, &boxes[slot].upper, sizeof( clv_vec3 ) );
        items[i].slot = slot;
        items[i].mark = KD_MARK_ACTIVE;
    }
    for ( uint32_t i = 0; i < count && job->active != NULL; ++i )
    {
        items[i].mark = base_bits_has( job->active, slots[i] );
    }
}

// ---- the walk

// Items that reach to one side of the node's plane. The node's own objects lie across it and pass by
// themselves. Where nothing below is active, externals at rest have nothing to find. `to` may be `from`.
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

bool clv_kd_search_is_idle( const kd_search_job* job, uint32_t node )
{
    return job->active != NULL && job->active_counts[node] == 0;
}

static void note_needs( kd_search_needs* needs, uint64_t arena, uint32_t externals )
{
    kd_need_at_least( needs, KD_NEED_ARENA, arena );
    kd_need_at_least( needs, KD_NEED_EXTERNALS, externals );
}

bool clv_kd_search_add_externals( kd_search* search, const kd_reach* reach, bool keep_rest,
    const simd_item* items, uint32_t count, uint32_t* kept )
{
    uint32_t found = *kept;
    for ( uint32_t from = 0; from < count; from += ITEMS_AT_ONCE )
    {
        uint32_t to = count - from < ITEMS_AT_ONCE ? count : from + ITEMS_AT_ONCE;
        uint64_t needed = (uint64_t)found + ( to - from ) + 1;
        note_needs( &search->needs, needed, found );
        if ( !reserve_arena( search, found, needed ) )
        {
            return false;
        }
        simd_item* arena = search->arena.items;
        for ( uint32_t i = from; i < to; ++i )
        {
            simd_item item = items[i];
            uint32_t reaches = ( item.lower[0] <= reach->lower_most[0] ) &
                ( item.lower[1] <= reach->lower_most[1] ) & ( item.lower[2] <= reach->lower_most[2] ) &
                ( item.upper[0] >= reach->upper_least[0] ) & ( item.upper[1] >= reach->upper_least[1] ) &
                ( item.upper[2] >= reach->upper_least[2] );
            arena[found] = item;
            found += reaches & (uint32_t)( keep_rest | ( item.mark != 0 ) );
        }
    }
    CLV_ASSERT( found < search->arena.capacity || count == 0 );
    *kept = found;
    return true;
}

// Own objects into the arena, behind the externals, and the pairs of this node.
static clv_result visit( const kd_search_job* job, kd_search_frame* frame )
{
    kd_search* search = job->search;
    kd_node* node = &job->tree->nodes.items[frame->node];
    CLV_ASSERT( frame->begin <= frame->end && node->begin <= node->end );
    uint32_t own_count = node->end - node->begin;
    frame->own_end = frame->end + own_count;
    // Room for the left child's list too.
    uint32_t child_count = kd_node_is_leaf( node ) ? 0 : frame->own_end - frame->begin;
    uint64_t needed = (uint64_t)frame->own_end + child_count + 1;
    note_needs( &search->needs, needed, frame->end - frame->begin );
    if ( !reserve_arena( search, frame->end, needed ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    // In a leaf the small boxes are made from the boxes where they lie, and no child needs the items.
    const uint32_t* slots = job->tree->order.items + node->begin;
    bool is_gathered =
        search->rules.sweep != KD_SWEEP_SMALL || job->active != NULL || !kd_node_is_leaf( node );
    if ( is_gathered )
    {
        clv_kd_search_gather( job, slots, own_count, search->arena.items + frame->end );
    }
    CLV_ASSERT( (uint64_t)frame->own_end + child_count < search->arena.capacity );
    kd_node_lists lists = { node, search->arena.items + frame->begin, frame->end - frame->begin,
        search->arena.items + frame->end, own_count, is_gathered };
    return clv_kd_node_search( job, &lists );
}

// The frame of a child, its list made from the parent's; for the right child in the parent's place.
static kd_search_frame enter_child( const kd_search_job* job, const kd_search_frame* frame, bool to_left )
{
    kd_search* search = job->search;
    const kd_node* node = &job->tree->nodes.items[frame->node];
    uint32_t child = to_left ? node->left : node->right;
    uint32_t begin = to_left ? frame->own_end : frame->begin;
    CLV_ASSERT( frame->end <= frame->own_end && begin <= frame->own_end );
    uint32_t kept = filter_externals( node, to_left, !clv_kd_search_is_idle( job, child ),
        search->arena.items + frame->begin, frame->own_end - frame->begin, search->arena.items + begin );
    CLV_ASSERT( (uint64_t)begin + kept <= search->arena.capacity );
    return ( kd_search_frame ){ .node = child, .begin = begin, .end = begin + kept };
}

clv_result clv_kd_search_walk( const kd_search_job* job, kd_search_frame frame )
{
    kd_search* search = job->search;
    uint32_t depth = 0;
    for ( ;; )
    {
        bool is_needed = !clv_kd_search_is_idle( job, frame.node ) || frame.end > frame.begin;
        if ( is_needed )
        {
            clv_result result = visit( job, &frame );
            if ( result != CLV_OK )
            {
                return result;
            }
        }
        if ( is_needed && !kd_node_is_leaf( &job->tree->nodes.items[frame.node] ) )
        {
            if ( !push_frame( search, depth, frame ) )
            {
                return CLV_OUT_OF_MEMORY;
            }
            depth += 1;
            frame = enter_child( job, &frame, true );
            continue;
        }
        if ( depth == 0 )
        {
            return CLV_OK;
        }
        depth -= 1;
        frame = enter_child( job, &search->frames.items[depth], false );
    }
}

static bool count_active( const kd_search_job* job )
{
    kd_search* search = job->search;
    kd_tree* tree = job->tree;
    if ( !base_array_reserve( &search->active_counts, search->memory, tree->nodes.capacity ) )
    {
        return false;
    }
    for ( uint32_t i = clv_kd_tree_list( tree ); i-- > 0; )
    {
        uint32_t index = tree->stack.items[i];
        const kd_node* node = &tree->nodes.items[index];
        uint32_t active = 0;
        for ( uint32_t at = node->begin; at < node->end; ++at )
        {
            active += base_bits_has( job->active, tree->order.items[at] );
        }
        if ( !kd_node_is_leaf( node ) )
        {
            active += search->active_counts.items[node->left] + search->active_counts.items[node->right];
        }
        CLV_ASSERT( active <= node->population );
        search->active_counts.items[index] = active;
    }
    return true;
}

// Objects outside the tree are external to its root, and each other's only partners apart from that.
static clv_result search_outside( const kd_search_job* job )
{
    kd_search* search = job->search;
    kd_tree* tree = job->tree;
    uint32_t count = tree->outside_count;
    if ( !reserve_arena( search, 0, (uint64_t)count + 1 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_kd_search_gather( job, tree->outside.items, count, search->arena.items );
    if ( count < 2 )
    {
        return CLV_OK;
    }
    // Infinite centres say nothing about spread, so the axis is the first one.
    sweep_wanted wanted = { search->arena.items, count, 0, -INFINITY, NULL };
    if ( !clv_sweep_sort_items( &search->sorter, &wanted, &search->own ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    search->counters.tree_pair_count += kd_pairs_of( count );
    if ( job->active != NULL )
    {
        uint32_t active = clv_kd_count_active( search->arena.items, count );
        search->counters.static_pair_count += kd_pairs_of( count - active );
    }
    return clv_kd_sweep_sorted( search, job->active != NULL, job->sink );
}

clv_result clv_kd_search_begin( kd_search_job* job )
{
    kd_search* search = job->search;
    search->counters = ( kd_search_counters ){ 0 };
    if ( job->active != NULL && !count_active( job ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    job->active_counts = search->active_counts.items;
    return search_outside( job );
}

kd_search_frame clv_kd_search_root( const kd_search_job* job )
{
    simd_item* items = job->search->arena.items;
    uint32_t root = job->tree->root;
    bool keep_rest = !clv_kd_search_is_idle( job, root );
    uint32_t kept = 0;
    for ( uint32_t i = 0; i < job->tree->outside_count; ++i )
    {
        items[kept] = items[i];
        kept += keep_rest | ( items[i].mark != 0 );
    }
    return ( kd_search_frame ){ .node = root, .end = kept };
}

void clv_kd_search_end( kd_search_job* job, bool is_done )
{
    kd_tree* tree = job->tree;
    for ( uint32_t i = job->search->rules.keeps_order ? clv_kd_tree_list( tree ) : 0; i-- > 0; )
    {
        kd_node* node = &tree->nodes.items[tree->stack.items[i]];
        if ( node->has_new_order && is_done )
        {
            CLV_ASSERT( node->end <= tree->count );
            memcpy( tree->order.items + node->begin, tree->spare.items + node->begin,
                (size_t)( node->end - node->begin ) * sizeof( uint32_t ) );
        }
        node->has_new_order = false;
    }
}

clv_result clv_kd_search_sweep(
    kd_search* search, const clv_aabb* boxes, const uint32_t* slots, uint32_t count, clv_pair_sink* sink )
{
    kd_search_job job = { search, NULL, boxes, NULL, NULL, sink, 0, 1, 0 };
    if ( !reserve_arena( search, 0, (uint64_t)count + 1 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    clv_kd_search_gather( &job, slots, count, search->arena.items );
    uint32_t axis = clv_sweep_choose_item_axis( search->arena.items, count );
    sweep_wanted wanted = { search->arena.items, count, axis, -INFINITY, NULL };
    return clv_sweep_sort_items( &search->sorter, &wanted, &search->own )
        ? clv_kd_sweep_sorted( search, false, sink )
        : CLV_OUT_OF_MEMORY;
}
