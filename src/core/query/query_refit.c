// SPDX-License-Identifier: MIT
// Boxes upwards: every lane follows its object or the node below it. The nodes stay, until queries visit too many of them (query_wear.c).
#include "query/query_build.h"

#include "base/assertion.h"

typedef struct refit
{
    query_tree* tree;
    const query_boxes* from; // NULL: objects' boxes are right already
    bool are_there;          // all objects of the tree, so that none of them is asked
    const simd_queries* kernels;
} refit;

static void refit_node( const refit* r, query_node* node )
{
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
        else if ( from == NULL || child == QUERY_NOBODY )
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

// Children lie behind their parents, so from the last to the first.
static void refit_part( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const refit* r = context;
    query_part part = r->tree->parts[piece];
    CLV_ASSERT( part.first < part.end && part.end <= r->tree->node_count );
    for ( uint32_t i = part.end; i > part.first; --i )
    {
        refit_node( r, &r->tree->nodes[i - 1] );
    }
}

void clv_query_refit_run(
    query_tree* tree, const query_boxes* from, const simd_queries* kernels, task_runner* tasks )
{
    CLV_ASSERT( from == NULL || from->live_count <= tree->item_count );
    refit r = { tree, from, from != NULL && from->live_count == tree->item_count, kernels };
    clv_task_run( tasks, refit_part, tree->part_count, &r );
    uint32_t end = tree->node_count;
    for ( uint32_t part = tree->part_count + 1; part > 0; --part )
    {
        uint32_t first = part > 1 ? tree->parts[part - 2].end : 0;
        CLV_ASSERT( first <= end );
        for ( uint32_t i = end; i > first; --i )
        {
            refit_node( &r, &tree->nodes[i - 1] );
        }
        end = part > 1 ? tree->parts[part - 2].first : 0;
    }
}

void clv_query_tree_refit(
    query_tree* tree, const query_boxes* from, const simd_queries* kernels, task_runner* tasks )
{
    clv_query_refit_run( tree, from, kernels, tasks );
    tree->refit_count += 1;
    CLV_VALIDATE( clv_query_tree_check( tree, from ) == NULL );
}
