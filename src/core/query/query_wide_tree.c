// SPDX-License-Identifier: MIT
#include "query/query_wide.h"

#include "base/assertion.h"

#include <math.h>
#include <string.h>

typedef struct wide_hulls
{
    query_wide_node* nodes;
    const query_tree* tree;
    const clv_aabb64* boxes;
    const query_boxes* from;
} wide_hulls;

static void clear_wide_lane( query_wide_node* node, uint32_t lane )
{
    node->child[lane] = QUERY_NOBODY;
    node->least[lane] = UINT32_MAX;
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis][lane] = INFINITY;
        node->upper[axis][lane] = -INFINITY;
    }
}

static void take_object( const wide_hulls* h, query_wide_node* node, uint32_t lane, uint32_t slot )
{
    if ( !query_is_there( h->from, slot ) )
    {
        clear_wide_lane( node, lane );
        return;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis][lane] = ( &h->boxes[slot].lower.x )[axis];
        node->upper[axis][lane] = ( &h->boxes[slot].upper.x )[axis];
    }
}

static void take_hull( const wide_hulls* h, query_wide_node* node, uint32_t lane )
{
    const query_wide_node* below = &h->nodes[node->child[lane]];
    CLV_ASSERT( node->child[lane] < h->tree->node_count && below > node ); // brought before
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = INFINITY, upper = -INFINITY;
        for ( uint32_t i = 0; i < QUERY_LANES; ++i )
        {
            lower = below->lower[axis][i] < lower ? below->lower[axis][i] : lower;
            upper = below->upper[axis][i] > upper ? below->upper[axis][i] : upper;
        }
        node->lower[axis][lane] = lower;
        node->upper[axis][lane] = upper;
    }
}

static void bring_node( const wide_hulls* h, uint32_t index )
{
    const query_node* shape = &h->tree->nodes[index];
    query_wide_node* node = &h->nodes[index];
    memcpy( node->child, shape->child, sizeof( node->child ) );
    memcpy( node->least, shape->least, sizeof( node->least ) );
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        uint32_t child = node->child[lane];
        if ( child == QUERY_NOBODY )
        {
            clear_wide_lane( node, lane );
        }
        else if ( ( child & QUERY_OBJECT ) != 0 )
        {
            take_object( h, node, lane, child & ~QUERY_OBJECT );
        }
        else
        {
            take_hull( h, node, lane );
        }
    }
}

// Children lie behind their parents, so from the last to the first.
static void bring_part( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const wide_hulls* h = context;
    query_part part = h->tree->parts[piece];
    CLV_ASSERT( part.first < part.end && part.end <= h->tree->node_count );
    for ( uint32_t i = part.end; i > part.first; --i )
    {
        bring_node( h, i - 1 );
    }
}

bool clv_query_wide_tree_bring( query_wide_tree* wide, const query_tree* tree, const clv_aabb64* boxes,
    const query_boxes* from, base_memory* memory, task_runner* tasks )
{
    void* nodes = wide->nodes;
    bool ok = clv_base_memory_renew(
        memory, &nodes, &wide->node_capacity, tree->node_count, sizeof( query_wide_node ) );
    wide->nodes = nodes;
    if ( !ok )
    {
        return false;
    }
    CLV_ASSERT( tree->node_count <= wide->node_capacity );
    wide_hulls hulls = { wide->nodes, tree, boxes, from };
    clv_task_run( tasks, bring_part, tree->part_count, &hulls );
    uint32_t end = tree->node_count; // nodes between the parts have these below them
    for ( uint32_t part = tree->part_count + 1; part > 0; --part )
    {
        uint32_t first = part > 1 ? tree->parts[part - 2].end : 0;
        CLV_ASSERT( first <= end );
        for ( uint32_t i = end; i > first; --i )
        {
            bring_node( &hulls, i - 1 );
        }
        end = part > 1 ? tree->parts[part - 2].first : 0;
    }
    CLV_VALIDATE( clv_query_wide_tree_check( wide, tree, boxes, from ) == NULL );
    return true;
}

void clv_query_wide_tree_free( query_wide_tree* wide, base_memory* memory )
{
    clv_base_memory_give( memory, wide->nodes, wide->node_capacity, sizeof( query_wide_node ) );
    *wide = ( query_wide_tree ){ 0 };
}
