// SPDX-License-Identifier: MIT
// Refit and Filter in one, by several workers, for a tree in which every place is in doubt and little of its shape changes. Where
// an object ends does not depend on the others: up from its node to the first that holds it, its top, and down from there to
// the deepest one that does, its home. So pieces of the array tell where theirs go, and once it is known how many go where,
// they put them there.
//
// The order is that of kd_refit.c and kd_filter.c. The refit leaves those of one top as they stood in the array. Filter puts
// them behind what is in a left child, and before what is in a right one. So a node's objects stand in groups by top: itself
// before those that came from above if it is a left child, behind them if it is a right one, and the same again for its parent.
// In a node `depth` levels below the root there are depth + 1 groups, and the place of a top among them is the
// number of steps to the left on the way down from it, and its own depth more if it is a right child itself.
//
// A node that is to be collapsed, or that Evaluate does not accept, is cut anew by kd_optimize.c. What is below it is left as
// the refit alone leaves it, since Filter has not come so far when that happens.
#include "kd/kd_tree.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    ROUTE_AHEAD = 24,   // boxes asked for before they are needed
    ROUTE_LEAST = 2048, // objects; fewer are not worth two jobs
    ROUTE_CHUNK = 256,  // objects of a piece, at least
    ROUTE_PIECES = 2,   // to a worker
    ROUTE_PER_GROUP =
        16 // objects there are to be for each group: with more groups than that they are the work
};

static uint32_t own_group( const kd_route_stop* stop )
{
    return stop->group + stop->turn;
}

static bool is_left_child( const kd_tree* tree, uint32_t index )
{
    uint32_t parent = tree->nodes.items[index].parent;
    return parent != KD_NONE && tree->nodes.items[parent].left == index;
}

// The child that lies between a node's block and its parent's; KD_NONE in a leaf.
static uint32_t inner_child( const kd_tree* tree, uint32_t index )
{
    const kd_node* node = &tree->nodes.items[index];
    bool is_right = node->parent != KD_NONE && tree->nodes.items[node->parent].right == index;
    return is_right ? node->left : node->right;
}

// ---- the nodes in in-order and their groups

static uint64_t list_stops( kd_tree* tree )
{
    kd_route* route = &tree->route;
    uint64_t groups = 0;
    uint32_t count = 0;
    for ( uint32_t at = clv_kd_node_first( tree, tree->root ); at != KD_NONE;
          at = clv_kd_node_next( tree, at ) )
    {
        const kd_node* node = &tree->nodes.items[at];
        route->nodes.items[count++] = at;
        route->stops.items[at] = ( kd_route_stop ){ .before = node->end - node->begin, .gate = KD_NONE };
    }
    route->node_count = count;
    uint32_t listed = clv_kd_tree_list( tree ); // parents first
    for ( uint32_t i = 1; i < listed; ++i )
    {
        uint32_t index = tree->stack.items[i];
        kd_route_stop* stop = &route->stops.items[index];
        stop->depth = route->stops.items[tree->nodes.items[index].parent].depth + 1;
        stop->turn = is_left_child( tree, index ) ? 0 : stop->depth;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        kd_route_stop* stop = &route->stops.items[route->nodes.items[i]];
        stop->group = (uint32_t)groups;
        groups += stop->depth + 1;
    }
    return groups;
}

static bool route_reserve( kd_tree* tree, uint32_t chunk_count, uint64_t groups )
{
    kd_route* route = &tree->route;
    uint64_t row = groups + 1; // the last: outside
    return base_array_renew( &route->goals, tree->memory, tree->spare.capacity ) &&
        base_array_renew( &route->counts, tree->memory, row * chunk_count ) &&
        base_array_renew( &route->places, tree->memory, row * chunk_count ) &&
        base_array_renew( &route->sums, tree->memory, row ) &&
        base_array_renew( &route->moved_groups, tree->memory, row );
}

// ---- the pieces

static uint32_t chunk_begin( const kd_tree* tree, uint32_t chunk )
{
    return (uint32_t)( (uint64_t)tree->count * chunk / tree->route.chunk_count );
}

// The first node, in in-order, that ends behind this place.
static uint32_t first_stop( const kd_tree* tree, uint32_t place )
{
    uint32_t low = 0, high = tree->route.node_count;
    while ( low < high )
    {
        uint32_t middle = low + ( high - low ) / 2;
        bool is_before = tree->nodes.items[tree->route.nodes.items[middle]].end <= place;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

// Up from a node and down again.
static uint32_t find_group( const kd_tree* tree, const clv_aabb* box, uint32_t top )
{
    const kd_route_stop* stops = tree->route.stops.items;
    while ( top != KD_NONE && !kd_node_holds( &tree->nodes.items[top], box ) )
    {
        top = tree->nodes.items[top].parent;
    }
    if ( top == KD_NONE )
    {
        return tree->route.group_count;
    }
    uint32_t home = top, left_steps = 0;
    for ( ;; )
    {
        const kd_node* node = &tree->nodes.items[home];
        int side = kd_node_is_leaf( node ) ? 0 : kd_side( box, node->axis, node->plane );
        if ( side == 0 )
        {
            return stops[home].group + left_steps + stops[top].turn;
        }
        left_steps += side < 0;
        home = side < 0 ? node->left : node->right;
    }
}

// Those that stay close ranks, the others follow.
static void look_through_leaf( kd_tree* tree, uint32_t index, uint32_t begin, uint32_t end, uint32_t* counts )
{
    const kd_node* leaf = &tree->nodes.items[index];
    uint32_t leavers = tree->kernels->take_leavers( tree->boxes, leaf->lower, leaf->upper,
        tree->order.items + begin, end - begin, tree->spare.items + begin );
    uint32_t stay_end = end - leavers;
    memcpy( tree->order.items + stay_end, tree->spare.items + begin, leavers * sizeof( uint32_t ) );
    counts[own_group( &tree->route.stops.items[index] )] += stay_end - begin;
    for ( uint32_t i = stay_end; i < end; ++i )
    {
        uint32_t group = find_group( tree, &tree->boxes[tree->order.items[i]], leaf->parent );
        tree->route.goals.items[i] = group;
        counts[group] += 1;
    }
}

static void look_through_inner(
    kd_tree* tree, uint32_t index, uint32_t begin, uint32_t end, uint32_t* counts )
{
    for ( uint32_t i = begin; i < end; ++i )
    {
        base_prefetch( &tree->boxes[tree->order.items[i + ROUTE_AHEAD < end ? i + ROUTE_AHEAD : i]] );
        uint32_t group = find_group( tree, &tree->boxes[tree->order.items[i]], index );
        tree->route.goals.items[i] = group;
        counts[group] += 1;
    }
}

static void find_goals( uint32_t chunk, uint32_t worker, void* context )
{
    (void)worker;
    kd_tree* tree = context;
    kd_route* route = &tree->route;
    uint32_t from = chunk_begin( tree, chunk ), to = chunk_begin( tree, chunk + 1 );
    uint64_t row = (uint64_t)route->group_count + 1;
    uint32_t* counts = route->counts.items + row * chunk;
    memset( counts, 0, (size_t)row * sizeof( uint32_t ) );
    for ( uint32_t i = first_stop( tree, from ); i < route->node_count; ++i )
    {
        uint32_t index = route->nodes.items[i];
        const kd_node* node = &tree->nodes.items[index];
        uint32_t begin = node->begin > from ? node->begin : from;
        uint32_t end = node->end < to ? node->end : to;
        if ( node->begin >= to )
        {
            return;
        }
        if ( begin < end && kd_node_is_leaf( node ) )
        {
            look_through_leaf( tree, index, begin, end, counts );
        }
        else if ( begin < end )
        {
            look_through_inner( tree, index, begin, end, counts );
        }
    }
}

static void go_to_goals( uint32_t chunk, uint32_t worker, void* context )
{
    (void)worker;
    kd_tree* tree = context;
    const kd_route* route = &tree->route;
    uint32_t from = chunk_begin( tree, chunk ), to = chunk_begin( tree, chunk + 1 );
    uint64_t row = (uint64_t)route->group_count + 1;
    const uint32_t* counts = route->counts.items + row * chunk;
    uint32_t* places = route->places.items + row * chunk;
    for ( uint32_t i = first_stop( tree, from ); i < route->node_count; ++i )
    {
        uint32_t index = route->nodes.items[i];
        const kd_node* node = &tree->nodes.items[index];
        uint32_t at = node->begin > from ? node->begin : from;
        uint32_t end = node->end < to ? node->end : to;
        if ( node->begin >= to )
        {
            return;
        }
        if ( at < end && kd_node_is_leaf( node ) )
        {
            uint32_t group = own_group( &route->stops.items[index] );
            memcpy( tree->spare.items + places[group], tree->order.items + at,
                counts[group] * sizeof( uint32_t ) );
            at += counts[group];
        }
        for ( ; at < end; ++at )
        {
            tree->spare.items[places[route->moved_groups.items[route->goals.items[at]]]++] =
                tree->order.items[at];
        }
    }
}

// ---- between the two

// How many there are by top and by home, each with all below.
static void sum_groups( kd_tree* tree )
{
    kd_route* route = &tree->route;
    kd_route_stop* stops = route->stops.items;
    uint64_t row = (uint64_t)route->group_count + 1;
    memcpy( route->sums.items, route->counts.items, (size_t)row * sizeof( uint32_t ) );
    for ( uint32_t chunk = 1; chunk < route->chunk_count; ++chunk )
    {
        const uint32_t* counts = route->counts.items + row * chunk;
        for ( uint64_t group = 0; group < row; ++group )
        {
            route->sums.items[group] += counts[group];
        }
    }
    for ( uint32_t i = 0; i < route->node_count; ++i )
    {
        uint32_t home = route->nodes.items[i], left_steps = 0;
        for ( uint32_t top = home; top != KD_NONE; top = tree->nodes.items[top].parent )
        {
            uint32_t count = route->sums.items[stops[home].group + left_steps + stops[top].turn];
            stops[top].tops += count;
            stops[home].homes += count;
            left_steps += is_left_child( tree, top );
        }
    }
    for ( uint32_t i = clv_kd_tree_list( tree ); i-- > 1; )
    {
        const kd_route_stop* stop = &stops[tree->stack.items[i]];
        kd_route_stop* above = &stops[tree->nodes.items[tree->stack.items[i]].parent];
        above->before += stop->before;
        above->tops += stop->tops;
        above->homes += stop->homes;
    }
}

// Is its subtree to be made anew?
static bool is_to_change( const kd_tree* tree, uint32_t index, bool* before_filter )
{
    const kd_node* node = &tree->nodes.items[index];
    const kd_route_stop* stops = tree->route.stops.items;
    uint32_t all = stops[index].homes, left = stops[node->left].homes, right = stops[node->right].homes;
    bool collapses = clv_kd_is_to_collapse( tree, all, left, right );
    *before_filter = collapses && tree->flow == KD_FLOW_2019;
    return collapses || !clv_kd_evaluate( tree->balance, all - left - right, left, right );
}

// Marks what is below nodes that change. True if there are any.
static bool close_gates( kd_tree* tree )
{
    kd_route_stop* stops = tree->route.stops.items;
    bool are_any = false;
    uint32_t count = clv_kd_tree_list( tree ); // parents first
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t index = tree->stack.items[i];
        const kd_node* node = &tree->nodes.items[index];
        kd_route_stop* stop = &stops[index];
        bool before_filter = false;
        if ( node->parent != KD_NONE && stops[node->parent].gate != KD_NONE )
        {
            stop->gate = stops[node->parent].gate;
        }
        else if ( node->parent != KD_NONE && stops[node->parent].changes )
        {
            stop->gate = index;
        }
        else if ( !kd_node_is_leaf( node ) )
        {
            stop->changes = is_to_change( tree, index, &before_filter );
            stop->gate = before_filter ? index : KD_NONE;
        }
        are_any |= stop->gate != KD_NONE;
    }
    return are_any;
}

// Who would go further than a gate stays there, and who is below one goes nowhere from its top.
static void move_groups( kd_tree* tree, bool are_any )
{
    kd_route* route = &tree->route;
    const kd_route_stop* stops = route->stops.items;
    uint32_t* moved = route->moved_groups.items;
    for ( uint32_t group = 0; group <= route->group_count; ++group )
    {
        moved[group] = group;
    }
    for ( uint32_t i = 0; i < route->node_count && are_any; ++i )
    {
        uint32_t home = route->nodes.items[i], left_steps = 0, gate_steps = 0;
        uint32_t gate = stops[home].gate;
        for ( uint32_t top = home; top != KD_NONE && gate != KD_NONE; top = tree->nodes.items[top].parent )
        {
            gate_steps = top == gate ? left_steps : gate_steps;
            moved[stops[home].group + left_steps + stops[top].turn] = stops[top].gate != KD_NONE
                ? own_group( &stops[top] )
                : stops[gate].group + ( left_steps - gate_steps ) + stops[top].turn;
            left_steps += is_left_child( tree, top );
        }
    }
    uint64_t row = (uint64_t)route->group_count + 1;
    for ( uint32_t group = 0; group < route->group_count && are_any; ++group )
    {
        for ( uint32_t chunk = 0; chunk < route->chunk_count && moved[group] != group; ++chunk )
        {
            uint32_t* counts = route->counts.items + row * chunk;
            counts[moved[group]] += counts[group];
            counts[group] = 0;
        }
    }
}

// What refit and filter would have counted.
static void count_moves( kd_tree* tree )
{
    const kd_route_stop* stops = tree->route.stops.items;
    kd_counters* counters = &tree->counters;
    for ( uint32_t i = 0; i < tree->route.node_count; ++i )
    {
        uint32_t index = tree->route.nodes.items[i];
        uint32_t parent = tree->nodes.items[index].parent;
        uint32_t inner = inner_child( tree, index );
        uint32_t between = inner != KD_NONE ? stops[inner].tops : 0;
        uint32_t up = stops[index].before - stops[index].tops;
        bool is_filtered = parent != KD_NONE && stops[parent].gate == KD_NONE;
        uint32_t down = is_filtered ? stops[index].homes - stops[index].tops : 0;
        counters->refit_count += up;
        counters->filter_count += down;
        counters->shift_count += ( up > 0 ? between : 0 ) + ( down > 0 ? between : 0 );
    }
}

// A place for each group of each chunk. Returns where the tree ends and what is outside begins.
static uint32_t lay_out( kd_tree* tree )
{
    kd_route* route = &tree->route;
    uint64_t row = (uint64_t)route->group_count + 1;
    uint32_t place = 0, end = 0;
    for ( uint32_t group = 0; group <= route->group_count; ++group )
    {
        end = place;
        route->sums.items[group] = place;
        for ( uint32_t chunk = 0; chunk < route->chunk_count; ++chunk )
        {
            route->places.items[row * chunk + group] = place;
            place += route->counts.items[row * chunk + group];
        }
    }
    CLV_ASSERT( place == tree->count );
    return end;
}

// ---- all of it

// The nodes get their new blocks, the array its new order.
static void take_new_order( kd_tree* tree, uint32_t tree_end )
{
    kd_route* route = &tree->route;
    base_u32_array order = tree->order;
    tree->order = tree->spare;
    tree->spare = order;
    memcpy( tree->outside.items + tree->outside_count, tree->order.items + tree_end,
        ( tree->count - tree_end ) * sizeof( uint32_t ) );
    tree->outside_count += tree->count - tree_end;
    tree->count = tree_end;
    for ( uint32_t i = 0; i < route->node_count; ++i )
    {
        uint32_t index = route->nodes.items[i];
        kd_node* node = &tree->nodes.items[index];
        const kd_route_stop* stop = &route->stops.items[index];
        node->begin = route->sums.items[stop->group];
        node->end = route->sums.items[stop->group + stop->depth + 1];
        node->rest_begin = node->rest_end = node->begin;
        node->population = stop->gate == KD_NONE || stop->gate == index ? stop->homes : stop->tops;
        node->touched = true;
        node->is_filtered = stop->gate == KD_NONE && !kd_node_is_leaf( node );
    }
}

// Are there several workers, and enough for them to do? Then everything is listed and there is room for it.
static bool prepare_route( kd_tree* tree )
{
    kd_route* route = &tree->route;
    if ( tree->tasks == NULL || task_worker_count( tree->tasks ) < 2 || tree->changed != NULL ||
        tree->count < ROUTE_LEAST || tree->node_count < 2 ||
        (uint64_t)tree->node_count * ROUTE_PER_GROUP > tree->count )
    {
        return false;
    }
    if ( !base_array_renew( &route->nodes, tree->memory, tree->node_count ) ||
        !base_array_renew( &route->stops, tree->memory, tree->node_end ) )
    {
        return false;
    }
    uint32_t most = task_worker_count( tree->tasks ) * ROUTE_PIECES;
    uint32_t chunk_count = tree->count / ROUTE_CHUNK;
    route->chunk_count = chunk_count < most ? chunk_count : most;
    uint64_t groups = list_stops( tree );
    route->group_count = (uint32_t)groups;
    return groups * ROUTE_PER_GROUP <= tree->count && route_reserve( tree, route->chunk_count, groups );
}

bool clv_kd_route( kd_tree* tree, bool* is_done )
{
    *is_done = prepare_route( tree );
    if ( !*is_done )
    {
        return true;
    }
    clv_task_run( tree->tasks, find_goals, tree->route.chunk_count, tree );
    sum_groups( tree );
    move_groups( tree, close_gates( tree ) );
    count_moves( tree );
    uint32_t tree_end = lay_out( tree );
    if ( !clv_kd_tree_reserve_outside( tree, tree->count - tree_end ) )
    {
        return false;
    }
    clv_task_run( tree->tasks, go_to_goals, tree->route.chunk_count, tree );
    take_new_order( tree, tree_end );
    return true;
}
