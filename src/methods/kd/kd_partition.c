// SPDX-License-Identifier: MIT
// Partition (figure 6b): a leaf above the limit gets a plane at the mean of its objects' centres. The papers
// take the axis of largest variance and stop there; we weigh variance against extent, since bars lie across
// every plane along them, and keep a plane only if Evaluate accepts it: otherwise it would be erased and made
// again every frame. The rows that follow the papers do as they say.
#include "kd/kd_tree.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

typedef struct leaf_moments
{
    double mean[3];
    double variance[3];
    double extent[3]; // mean
} leaf_moments;

// Measured from the first box, so that a small crowd far from the origin keeps its digits.
static leaf_moments measure( kd_tree* tree, uint32_t begin, uint32_t end )
{
    CLV_ASSERT( begin < end );
    kd_block block = { .begin = begin, .end = end };
    const clv_aabb* first = &tree->boxes[tree->order.items[begin]];
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        block.origin[axis] = (double)kd_lower( first, axis ) + (double)kd_upper( first, axis );
    }
    kd_block_sums sums = clv_kd_block_moments( tree, &block );
    leaf_moments moments;
    double count = end - begin;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double mean = sums.sum[axis] / count;
        moments.mean[axis] = ( mean + block.origin[axis] ) / 2;
        moments.variance[axis] = ( sums.square[axis] / count - mean * mean ) / 4;
        moments.extent[axis] = sums.length[axis] / count;
    }
    return moments;
}

// Boxes small against their spread: the variance decides, as in the papers. Otherwise the share of straddlers
// does, which grows with extent over spread.
static void rank_axes( const leaf_moments* moments, uint32_t ranked[3] )
{
    double widest = 0;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        widest = moments->variance[axis] > widest ? moments->variance[axis] : widest;
    }
    double score[3];
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        double extent = moments->extent[axis];
        double divisor = extent * extent + widest / 256;
        score[axis] = divisor > 0 ? moments->variance[axis] / divisor : 0;
        uint32_t place = axis;
        for ( ; place > 0 && score[ranked[place - 1]] < score[axis]; --place )
        {
            ranked[place] = ranked[place - 1];
        }
        ranked[place] = axis;
    }
}

static kd_block_sums count_sides( kd_tree* tree, const kd_node* leaf, uint32_t axis, float plane )
{
    kd_block block = { .begin = leaf->begin, .end = leaf->end, .axis = axis, .plane = plane };
    return clv_kd_block_sides( tree, &block );
}

// Would Evaluate accept this plane?
static bool try_plane( kd_tree* tree, const kd_node* leaf, uint32_t axis, float plane )
{
    kd_block_sums sides = count_sides( tree, leaf, axis, plane );
    uint32_t own_count = leaf->end - leaf->begin - sides.left - sides.right;
    CLV_ASSERT( own_count <= leaf->end - leaf->begin );
    return clv_kd_evaluate( tree->balance, own_count, sides.left, sides.right );
}

// A stable sample's median: where a few far objects pull the mean out of the crowd, this still finds it.
static float sample_median( const kd_tree* tree, const kd_node* leaf, uint32_t axis )
{
    enum
    {
        SAMPLES = 63
    };
    double samples[SAMPLES] = { 0 };
    uint32_t count = 0;
    uint32_t all = leaf->end - leaf->begin;
    uint32_t stride = all / SAMPLES + 1;
    for ( uint32_t i = leaf->begin; i < leaf->end; i += stride )
    {
        const clv_aabb* box = &tree->boxes[tree->order.items[base_sample_step( i, stride, leaf->end )]];
        double centre = ( (double)kd_lower( box, axis ) + (double)kd_upper( box, axis ) ) / 2;
        CLV_ASSERT( count < SAMPLES );
        uint32_t place = count++;
        for ( ; place > 0 && samples[place - 1] > centre; --place )
        {
            samples[place] = samples[place - 1];
        }
        samples[place] = centre;
    }
    CLV_ASSERT( count > 0 && samples[0] <= samples[count - 1] );
    return (float)samples[count / 2];
}

// Serpa and Rodrigues 2015 and 2019: the mean on the axis of greatest variance, whatever it cuts. The one
// plane that is no use is that with every object on the same side: boxes of no size on one spot would go down
// for ever.
static bool take_published_plane( kd_tree* tree, const kd_node* leaf, uint32_t* axis, float* plane )
{
    leaf_moments moments = measure( tree, leaf->begin, leaf->end );
    *axis = 0;
    for ( uint32_t other = 1; other < 3; ++other )
    {
        *axis = moments.variance[other] > moments.variance[*axis] ? other : *axis;
    }
    *plane = (float)moments.mean[*axis];
    kd_block_sums sides = count_sides( tree, leaf, *axis, *plane );
    uint32_t all = leaf->end - leaf->begin;
    return sides.left < all && sides.right < all;
}

static bool choose_plane( kd_tree* tree, const kd_node* leaf, uint32_t* axis, float* plane )
{
    leaf_moments moments = measure( tree, leaf->begin, leaf->end );
    uint32_t ranked[3] = { 0, 0, 0 };
    rank_axes( &moments, ranked );
    for ( uint32_t i = 0; i < 3; ++i )
    {
        *axis = ranked[i];
        *plane = (float)moments.mean[*axis];
        if ( try_plane( tree, leaf, *axis, *plane ) )
        {
            return true;
        }
    }
    for ( uint32_t i = 0; i < 3; ++i )
    {
        *axis = ranked[i];
        *plane = sample_median( tree, leaf, *axis );
        if ( try_plane( tree, leaf, *axis, *plane ) )
        {
            return true;
        }
    }
    return false;
}

static uint32_t make_child( kd_tree* tree, uint32_t parent, uint32_t place )
{
    uint32_t index = clv_kd_node_take( tree );
    if ( index != KD_NONE )
    {
        kd_node* child = &tree->nodes.items[index];
        CLV_ASSERT( place <= tree->count );
        child->parent = parent;
        child->begin = child->end = place;
        child->rest_begin = child->rest_end = place;
        child->touched = true;
    }
    return index;
}

bool clv_kd_partition( kd_tree* tree, uint32_t index )
{
    kd_node* leaf = &tree->nodes.items[index];
    CLV_ASSERT( kd_node_is_leaf( leaf ) && leaf->offset == 0 && !leaf->lifted );
    uint32_t axis;
    float plane;
    bool is_cut = tree->flow == KD_FLOW_OURS ? choose_plane( tree, leaf, &axis, &plane )
                                             : take_published_plane( tree, leaf, &axis, &plane );
    if ( !is_cut )
    {
        tree->counters.refusal_count += 1;
        leaf->refused = true;
        return true;
    }
    uint32_t left = make_child( tree, index, leaf->begin );
    uint32_t right = left != KD_NONE ? make_child( tree, index, tree->nodes.items[index].end ) : KD_NONE;
    if ( right == KD_NONE )
    {
        if ( left != KD_NONE )
        {
            tree->nodes.items[left].parent = KD_NONE;
            clv_kd_subtree_free( tree, left );
        }
        return false;
    }
    leaf = &tree->nodes.items[index]; // the pool may have moved
    CLV_ASSERT( left != right && left != index && right != index );
    leaf->left = left;
    leaf->right = right;
    leaf->axis = axis;
    leaf->plane = plane;
    leaf->refused = false;
    leaf->rest_begin = leaf->rest_end = leaf->begin;
    tree->counters.partition_count += 1;
    clv_kd_filter( tree, index );
    return true;
}
