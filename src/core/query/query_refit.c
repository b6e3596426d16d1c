// SPDX-License-Identifier: MIT
// Boxes upwards: every lane follows its object or the node below it. The nodes stay, until that has made them too large.
#include "query/query_build.h"
#include "query/query_cut.h"

#include "base/assertion.h"

static const double WORN = 1.75; // times the area at the build

typedef struct refit
{
    query_tree* tree;
    const query_boxes* from; // NULL: objects' boxes are right already
    const simd_queries* kernels;
} refit;

static void refit_object( const refit* r, query_node* node, uint32_t lane )
{
    uint32_t slot = node->child[lane] & ~QUERY_OBJECT;
    if ( slot >= r->from->slot_count || ( r->from->generations[slot] & 1 ) == 0 )
    {
        query_clear_lane( node, lane );
        return;
    }
    const clv_aabb* box = &r->from->boxes[slot];
    query_set_lane( node, lane, &box->lower.x, &box->upper.x );
}

static void refit_node( const refit* r, query_node* node )
{
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        uint32_t child = node->child[lane];
        if ( ( child & QUERY_OBJECT ) != 0 )
        {
            if ( r->from != NULL && child != QUERY_NOBODY )
            {
                refit_object( r, node, lane );
            }
            continue;
        }
        const query_node* below = &r->tree->nodes[child];
        float lower[3], upper[3];
        r->kernels->bound( below, lower, upper );
        query_set_lane( node, lane, lower, upper );
        node->least[lane] = query_node_least( below );
    }
}

// Children lie behind their parents, so from the last to the first.
static void refit_part( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const refit* r = context;
    query_part part = r->tree->parts[piece];
    for ( uint32_t i = part.end; i > part.first; --i )
    {
        refit_node( r, &r->tree->nodes[i - 1] );
    }
}

static double sum_areas( const query_tree* tree )
{
    double sum = 0;
    for ( uint32_t i = 0; i < tree->node_count; ++i )
    {
        const query_node* node = &tree->nodes[i];
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
        {
            float lower[3] = { node->lower[0][lane], node->lower[1][lane], node->lower[2][lane] };
            float upper[3] = { node->upper[0][lane], node->upper[1][lane], node->upper[2][lane] };
            bool counts = ( node->child[lane] & QUERY_OBJECT ) == 0;
            sum += counts ? (double)query_half_area( lower, upper ) : 0;
        }
    }
    return sum;
}

void clv_query_refit_run(
    query_tree* tree, const query_boxes* from, const simd_queries* kernels, task_runner* tasks )
{
    refit r = { tree, from, kernels };
    clv_task_run( tasks, refit_part, tree->part_count, &r );
    uint32_t end = tree->node_count;
    for ( uint32_t part = tree->part_count + 1; part > 0; --part )
    {
        uint32_t first = part > 1 ? tree->parts[part - 2].end : 0;
        for ( uint32_t i = end; i > first; --i )
        {
            refit_node( &r, &tree->nodes[i - 1] );
        }
        end = part > 1 ? tree->parts[part - 2].first : 0;
    }
    tree->area = sum_areas( tree );
}

void clv_query_tree_refit(
    query_tree* tree, const query_boxes* from, const simd_queries* kernels, task_runner* tasks )
{
    clv_query_refit_run( tree, from, kernels, tasks );
    tree->refit_count += 1;
    CLV_VALIDATE( clv_query_tree_check( tree, from ) == NULL );
}

bool clv_query_tree_is_worn( const query_tree* tree )
{
    return tree->area > tree->built_area * WORN;
}
