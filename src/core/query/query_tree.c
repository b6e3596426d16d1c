// SPDX-License-Identifier: MIT
// Built from the top along the curve: a node's items are cut where the keys differ, few of them where it
// costs least (query_sort.c). Nodes are eight wide as in I. Wald et al., "Getting rid of packets" (2008).
// Then boxes go upwards: every lane follows its object or the node below it. The nodes stay, until queries
// visit too many of them (query_wear.c).
#include "query/query_build.h"

#include <math.h>
#include <string.h>

enum
{
    PART_ITEMS = 4096, // about so many belong to one part
    PLAIN_DEPTH = 30, // nodes from here on are cut in equal parts: 14 more levels are enough for 2^31 objects
};

typedef struct range
{
    uint32_t first, end;
    bool is_sorted; // by keys that tell them apart as well as can be
} range;

static uint32_t range_size( range r )
{
    return r.end - r.first;
}

static uint32_t cut_range( query_build* b, range* r, uint32_t depth )
{
    query_item* items = b->tree->items;
    uint32_t half = r->first + range_size( *r ) / 2;
    CLV_ASSERT( half > r->first && half < r->end );
    if ( depth >= PLAIN_DEPTH )
    {
        return half;
    }
    if ( range_size( *r ) <= QUERY_SWEPT )
    {
        return clv_query_cut_sweep( items, r->first, r->end );
    }
    if ( items[r->first].key == items[r->end - 1].key && !r->is_sorted )
    {
        clv_query_sort_again( b, r->first, r->end );
        r->is_sorted = items[r->first].key == items[r->end - 1].key; // one place: no use to try again
    }
    CLV_ASSERT( items[r->first].key <= items[r->end - 1].key ); // in order along the curve
    return items[r->first].key == items[r->end - 1].key ? half : clv_query_cut_bit( items, r->first, r->end );
}

// Items of one node to at most QUERY_LANES children, in order.
static uint32_t cut_children( query_build* b, range whole, uint32_t depth, range children[QUERY_LANES] )
{
    uint32_t count = 1;
    children[0] = whole;
    while ( count < QUERY_LANES )
    {
        uint32_t largest = 0;
        for ( uint32_t i = 1; i < count; ++i )
        {
            largest = range_size( children[i] ) > range_size( children[largest] ) ? i : largest;
        }
        // What fits a node stays one, unless it is this node's whole content.
        if ( range_size( children[largest] ) <= QUERY_LANES )
        {
            break;
        }
        uint32_t cut = cut_range( b, &children[largest], depth );
        CLV_ASSERT( cut > children[largest].first && cut < children[largest].end );
        memmove( &children[largest + 1], &children[largest], ( count - largest ) * sizeof( range ) );
        children[largest].end = cut;
        children[largest + 1].first = cut;
        count += 1;
    }
    CLV_ASSERT( children[0].first == whole.first && children[count - 1].end == whole.end );
    return count;
}

static void put_item( query_node* node, uint32_t lane, const query_item* item )
{
    CLV_ASSERT( lane < QUERY_LANES && item->slot < ( QUERY_EMPTY & ~QUERY_OBJECT ) );
    query_set_lane( node, lane, item->lower, item->upper );
    node->child[lane] = QUERY_OBJECT | item->slot;
    node->least[lane] = item->slot;
}

// A node to be made, for a lane of one that is there.
typedef struct node_order
{
    range items;
    uint32_t parent, lane, depth;
} node_order;

static uint32_t take_node( query_build* b )
{
    query_tree* tree = b->tree;
    void* nodes = tree->nodes;
    if ( !clv_base_memory_reserve( b->memory, &nodes, &tree->node_capacity, tree->node_count,
             (uint64_t)tree->node_count + 1, sizeof( query_node ) ) )
    {
        return UINT32_MAX;
    }
    tree->nodes = nodes;
    CLV_ASSERT( tree->node_count < tree->node_capacity && tree->node_count < QUERY_OBJECT );
    tree->nodes[tree->node_count] = b->empty;
    return tree->node_count++;
}

static bool note_part( query_build* b, uint32_t first )
{
    query_tree* tree = b->tree;
    void* parts = tree->parts;
    if ( !clv_base_memory_reserve( b->memory, &parts, &tree->part_capacity, tree->part_count,
             (uint64_t)tree->part_count + 1, sizeof( query_part ) ) )
    {
        return false;
    }
    tree->parts = parts;
    CLV_ASSERT( tree->part_count == 0 || tree->parts[tree->part_count - 1].end <= first );
    tree->parts[tree->part_count++] = ( query_part ){ first, UINT32_MAX };
    return true;
}

// Parents first, children behind them one after the other. Boxes of inner lanes are left for the refit.
static bool make_nodes( query_build* b )
{
    query_tree* tree = b->tree;
    node_order waiting[QUERY_STACK];
    uint32_t top = 0, part_floor = UINT32_MAX;
    waiting[top++] = ( node_order ){ { 0, b->count, false }, UINT32_MAX, 0, 0 };
    while ( top > 0 )
    {
        node_order next = waiting[--top];
        uint32_t index = take_node( b );
        if ( index == UINT32_MAX )
        {
            return false;
        }
        if ( part_floor != UINT32_MAX && top < part_floor )
        {
            tree->parts[tree->part_count - 1].end = index;
            part_floor = UINT32_MAX;
        }
        if ( part_floor == UINT32_MAX && range_size( next.items ) <= PART_ITEMS )
        {
            part_floor = top;
            if ( !note_part( b, index ) )
            {
                return false;
            }
        }
        if ( next.parent != UINT32_MAX )
        {
            CLV_ASSERT( next.parent < index && tree->nodes[next.parent].child[next.lane] == QUERY_EMPTY );
            tree->nodes[next.parent].child[next.lane] = index;
        }
        tree->depth = next.depth + 1 > tree->depth ? next.depth + 1 : tree->depth;
        query_node* node = &tree->nodes[index];
        if ( range_size( next.items ) <= QUERY_LANES )
        {
            for ( uint32_t lane = 0; lane < range_size( next.items ); ++lane )
            {
                put_item( node, lane, &tree->items[next.items.first + lane] );
            }
            continue;
        }
        range children[QUERY_LANES];
        uint32_t count = cut_children( b, next.items, next.depth, children );
        CLV_ASSERT( count > 1 ); // or it would go down for ever
        for ( uint32_t i = count; i > 0; --i )
        {
            range child = children[i - 1];
            if ( range_size( child ) == 1 )
            {
                put_item( node, i - 1, &tree->items[child.first] );
                continue;
            }
            CLV_ASSERT( top < QUERY_STACK );
            waiting[top++] = ( node_order ){ child, index, i - 1, next.depth + 1 };
        }
    }
    if ( part_floor != UINT32_MAX )
    {
        tree->parts[tree->part_count - 1].end = tree->node_count;
    }
    return true;
}

// ---- upwards

// Nodes one by one, each after those below it.
typedef struct upwards
{
    const query_tree* tree;
    void ( *visit )( const void* context, uint32_t index );
    const void* context;
} upwards;

// Children lie behind their parents, so from the last to the first.
static void visit_nodes( const upwards* up, uint32_t first, uint32_t end )
{
    for ( uint32_t i = end; i > first; --i )
    {
        up->visit( up->context, i - 1 );
    }
}

static void visit_part( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const upwards* up = context;
    query_part part = up->tree->parts[piece];
    CLV_ASSERT( part.first < part.end && part.end <= up->tree->node_count );
    visit_nodes( up, part.first, part.end );
}

// First the nodes that were made since the build, which have no others below them; then parts by all workers,
// then the nodes between them, which have these below them.
static void visit_upwards( upwards* up, task_runner* tasks )
{
    const query_tree* tree = up->tree;
    visit_nodes( up, tree->built_nodes, tree->node_count );
    clv_task_run( tasks, visit_part, tree->part_count, up );
    uint32_t end = tree->built_nodes;
    for ( uint32_t part = tree->part_count + 1; part > 0; --part )
    {
        uint32_t first = part > 1 ? tree->parts[part - 2].end : 0;
        CLV_ASSERT( first <= end );
        visit_nodes( up, first, end );
        end = part > 1 ? tree->parts[part - 2].first : 0;
    }
}

typedef struct refit
{
    query_tree* tree;
    const query_boxes* from; // NULL: objects' boxes are right already
    bool are_there;          // all objects of the tree, so that none of them is asked
    const simd_queries* kernels;
} refit;

static void refit_node( const void* context, uint32_t index )
{
    const refit* r = context;
    query_node* node = &r->tree->nodes[index];
    const query_boxes* from = r->from;
    const bool are_there = r->are_there;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        uint32_t child = node->child[lane], slot = child & ~QUERY_OBJECT;
        if ( ( child & QUERY_OBJECT ) == 0 )
        {
            CLV_ASSERT( child < r->tree->node_count );
            CLV_ASSERT( node < &r->tree->nodes[child] ); // which is done before it
            r->kernels->bound( &r->tree->nodes[child], node, lane );
        }
        else if ( from == NULL || child == QUERY_EMPTY )
        {
            continue;
        }
        else if ( are_there || query_is_there( from, slot ) )
        {
            query_set_lane( node, lane, &from->boxes[slot].lower.x, &from->boxes[slot].upper.x );
        }
        else
        {
            query_clear_lane( node, lane );
        }
    }
}

// Hulls of inner lanes from those below; where `from` is not NULL objects' boxes too, and objects that are
// gone leave their lanes.
static void refit_tree(
    query_tree* tree, const query_boxes* from, const simd_queries* kernels, task_runner* tasks )
{
    CLV_ASSERT( from == NULL || from->live_count <= tree->item_count );
    refit r = { tree, from, from != NULL && from->live_count == tree->item_count, kernels };
    upwards up = { tree, refit_node, &r };
    visit_upwards( &up, tasks );
}

void clv_query_tree_refit(
    query_tree* tree, const query_boxes* from, const simd_queries* kernels, task_runner* tasks )
{
    refit_tree( tree, from, kernels, tasks );
    tree->item_count = from->live_count;
    tree->refit_count += 1;
    CLV_VALIDATE( clv_query_tree_check( tree, from ) == NULL );
}

// ---- the doors

static bool reserve_scratch( query_tree* tree, uint32_t count, base_memory* memory )
{
    void* items = tree->items;
    bool ok =
        clv_base_memory_renew( memory, &tree->keys, &tree->key_capacity, count, sizeof( base_keyed ) ) &&
        clv_base_memory_renew(
            memory, &tree->more_keys, &tree->more_key_capacity, count, sizeof( base_keyed ) ) &&
        clv_base_memory_renew( memory, &items, &tree->item_capacity, count, sizeof( query_item ) ) &&
        clv_base_memory_renew(
            memory, &tree->tables, &tree->table_capacity, 1, sizeof( query_curve_tables ) );
    tree->items = items;
    return ok;
}

bool clv_query_tree_build( query_tree* tree, const query_boxes* from, const simd_queries* kernels,
    base_memory* memory, task_runner* tasks )
{
    tree->node_count = tree->item_count = tree->part_count = tree->depth = 0;
    tree->built_nodes = tree->built_items = tree->patch_count = 0;
    tree->links.are_made = false;
    if ( !reserve_scratch( tree, from->slot_count + 1, memory ) )
    {
        return false;
    }
    query_build b = { .tree = tree, .from = from, .kernels = kernels, .memory = memory };
    b.keys = tree->keys;
    b.more_keys = tree->more_keys;
    b.tables = tree->tables;
    b.count = clv_query_list_objects( &b );
    CLV_ASSERT( b.count <= tree->item_capacity );
    if ( b.count == 0 )
    {
        return true;
    }
    clv_query_sort_items( &b, tasks );
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        query_clear_lane( &b.empty, lane );
    }
    // What a crowd needs, as a rule; more is had as it goes.
    void* nodes = tree->nodes;
    (void)clv_base_memory_renew(
        memory, &nodes, &tree->node_capacity, (uint64_t)b.count / 5 + 8, sizeof( query_node ) );
    tree->nodes = nodes;
    if ( !make_nodes( &b ) )
    {
        tree->node_count = tree->part_count = 0;
        return false;
    }
    CLV_ASSERT( tree->depth <= QUERY_DEPTH );
    tree->built_nodes = tree->node_count;
    tree->item_count = tree->built_items = b.count;
    refit_tree( tree, NULL, kernels, tasks );
    tree->build_count += 1;
    CLV_VALIDATE( clv_query_tree_check( tree, from ) == NULL );
    return true;
}

void clv_query_tree_shrink( query_tree* tree, base_memory* memory )
{
    clv_base_memory_give( memory, tree->items, tree->item_capacity, sizeof( query_item ) );
    clv_base_memory_give( memory, tree->keys, tree->key_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( memory, tree->more_keys, tree->more_key_capacity, sizeof( base_keyed ) );
    clv_base_memory_give( memory, tree->tables, tree->table_capacity, sizeof( query_curve_tables ) );
    clv_query_links_free( &tree->links, memory );
    tree->items = NULL;
    tree->keys = tree->more_keys = tree->tables = NULL;
    tree->item_capacity = tree->key_capacity = tree->more_key_capacity = tree->table_capacity = 0;
}

void clv_query_tree_free( query_tree* tree, base_memory* memory )
{
    clv_query_tree_shrink( tree, memory );
    clv_base_memory_give( memory, tree->nodes, tree->node_capacity, sizeof( query_node ) );
    clv_base_memory_give( memory, tree->parts, tree->part_capacity, sizeof( query_part ) );
    *tree = ( query_tree ){ .build_count = tree->build_count, .refit_count = tree->refit_count };
}

// ---- nodes of doubles

// The hull of a node's lanes, no smaller than it is. Inside out where they are all empty.
static clv_aabb64 far_hull( const query_node* node, const simd_queries* kernels )
{
    query_node bound;
    kernels->bound( node, &bound, 0 );
    clv_aabb64 around = { { 0, 0, 0 }, { 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = (double)bound.lower[axis][0], upper = (double)bound.upper[axis][0];
        double size = fabs( node->origin[axis] );
        bool is_empty = lower > upper;
        lower = node->origin[axis] + lower - ( size + fabs( lower ) ) * QUERY_SUM_ROOM;
        upper = node->origin[axis] + upper + ( size + fabs( upper ) ) * QUERY_SUM_ROOM;
        ( &around.lower.x )[axis] = is_empty ? INFINITY : lower;
        ( &around.upper.x )[axis] = is_empty ? -INFINITY : upper;
    }
    return around;
}

static bool far_lane( const query_far_tree* f, uint32_t child, clv_aabb64* box )
{
    if ( ( child & QUERY_OBJECT ) == 0 )
    {
        CLV_ASSERT( child < f->tree->node_count );
        *box = far_hull( &f->nodes[child], f->kernels );
        return box->lower.x <= box->upper.x;
    }
    bool is_there = child != QUERY_EMPTY && query_is_there( f->from, child & ~QUERY_OBJECT );
    if ( is_there )
    {
        *box = f->boxes[child & ~QUERY_OBJECT];
    }
    return is_there;
}

// Where the greatest lower face is: near the smaller boxes, whatever giant is beside them.
static double far_origin( const double lower[QUERY_LANES], const double upper[QUERY_LANES] )
{
    double most = -INFINITY, least = INFINITY;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        most = lower[lane] > most && lower[lane] < INFINITY ? lower[lane] : most;
        least = upper[lane] < least && upper[lane] > -INFINITY ? upper[lane] : least;
    }
    double origin = most > -INFINITY ? most : least < INFINITY ? least : 0;
    return fabs( origin ) <= QUERY_MOST_PLACE ? origin : 0;
}

void clv_query_bring_far( const query_far_tree* f, uint32_t index )
{
    const query_node* shape = &f->tree->nodes[index];
    query_node* node = &f->nodes[index];
    double lower[3][QUERY_LANES], upper[3][QUERY_LANES];
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        clv_aabb64 box = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
        clv_aabb64 own;
        box = far_lane( f, shape->child[lane], &own ) ? own : box;
        for ( int axis = 0; axis < 3; ++axis )
        {
            lower[axis][lane] = ( &box.lower.x )[axis];
            upper[axis][lane] = ( &box.upper.x )[axis];
        }
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        double origin = far_origin( lower[axis], upper[axis] );
        node->origin[axis] = origin;
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
        {
            bool is_empty = lower[axis][lane] > upper[axis][lane];
            node->lower[axis][lane] = is_empty ? INFINITY : query_face_below( lower[axis][lane], origin );
            node->upper[axis][lane] = is_empty ? -INFINITY : query_face_above( upper[axis][lane], origin );
        }
    }
    memcpy( node->child, shape->child, sizeof( node->child ) );
    node->origin[3] = (double)query_node_least( shape );
}

static void bring_node( const void* context, uint32_t index )
{
    clv_query_bring_far( context, index );
}

bool clv_query_tree64_bring( query_tree64* tree64, const query_tree* tree, const clv_aabb64* boxes,
    const query_boxes* from, const simd_queries* kernels, base_memory* memory, task_runner* tasks )
{
    void* nodes = tree64->nodes;
    bool ok = clv_base_memory_renew(
        memory, &nodes, &tree64->node_capacity, tree->node_count, sizeof( query_node ) );
    tree64->nodes = nodes;
    if ( !ok )
    {
        return false;
    }
    CLV_ASSERT( tree->node_count <= tree64->node_capacity );
    query_far_tree far = { tree64->nodes, tree, boxes, from, kernels };
    upwards up = { tree, bring_node, &far };
    visit_upwards( &up, tasks );
    CLV_VALIDATE( clv_query_tree64_check( tree64, tree, boxes, from ) == NULL );
    return true;
}

void clv_query_tree64_free( query_tree64* tree64, base_memory* memory )
{
    clv_base_memory_give( memory, tree64->nodes, tree64->node_capacity, sizeof( query_node ) );
    *tree64 = ( query_tree64 ){ 0 };
}
