// SPDX-License-Identifier: MIT
// Filter (figure 6a): objects wholly on one side of the plane go down to the child there. The child's own block lies
// beyond the subtree of its inner child, which moves aside with a delayed offset, as in the refit.
#include "kd/kd_tree.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    FILTER_CHUNK = 1024,    // objects of a piece, at least
    FILTER_CHUNKS = 256,    // at most
    FILTER_ALONE = 1 << 12, // objects up to which nobody else is asked
    FILTER_AHEAD = 24       // boxes asked for before they are needed
};

typedef struct filter_pass
{
    uint32_t write; // next place for an object that stays
    uint32_t left;  // in spare, from the front
    uint32_t right; // in spare, from the back
} filter_pass;

// One Filter by several workers, for every chunk of it.
typedef struct filter_split
{
    const kd_tree* tree;
    const kd_node* node;
    uint32_t chunk; // objects
    filter_pass* passes;
} filter_split;

static void shift_slots( kd_tree* tree, uint32_t to, uint32_t from, uint32_t count )
{
    if ( count > 0 && to != from )
    {
        memmove( tree->order.items + to, tree->order.items + from, (size_t)count * sizeof( uint32_t ) );
    }
}

static void pass_part( kd_tree* tree, const kd_node* node, uint32_t from, uint32_t to, filter_pass* pass )
{
    uint32_t* order = tree->order.items;
    uint32_t* left = tree->spare.items;
    uint32_t* right = tree->spare.items + tree->spare.capacity - 1;
    filter_pass p = *pass;
    for ( uint32_t i = from; i < to; ++i )
    {
        uint32_t slot = order[i];
        int side = kd_side( &tree->boxes[slot], node->axis, node->plane );
        // Written to all three places, kept in one.
        left[p.left] = slot;
        right[-(ptrdiff_t)p.right] = slot;
        order[p.write] = slot;
        p.left += side < 0;
        p.right += side > 0;
        p.write += side == 0;
    }
    *pass = p;
}

// A chunk of a long block, each kind where it stands itself: those that stay in the array, left-goers in spare, right-goers in
// the goals.
static void split_piece( uint32_t chunk, uint32_t worker, void* context )
{
    (void)worker;
    const filter_split* job = context;
    const kd_tree* tree = job->tree;
    const kd_node* node = job->node;
    uint32_t from = node->begin + chunk * job->chunk;
    uint32_t to = node->end - from > job->chunk ? from + job->chunk : node->end;
    uint32_t* order = tree->order.items;
    uint32_t* left = tree->spare.items + from;
    uint32_t* right = tree->route.goals.items + from;
    filter_pass p = { .write = from };
    for ( uint32_t i = from; i < to; ++i )
    {
        uint32_t slot = order[i];
        base_prefetch( &tree->boxes[order[i + FILTER_AHEAD < to ? i + FILTER_AHEAD : i]] );
        int side = kd_side( &tree->boxes[slot], node->axis, node->plane );
        left[p.left] = slot;
        right[p.right] = slot;
        order[p.write] = slot;
        p.left += side < 0;
        p.right += side > 0;
        p.write += side == 0;
    }
    p.write -= from;
    job->passes[chunk] = p;
}

// The same as pass_part, of a long block by several workers: what the chunks have is joined in order. False if there is no memory
// for it.
static bool pass_together( kd_tree* tree, const kd_node* node, filter_pass* pass )
{
    filter_pass passes[FILTER_CHUNKS];
    uint32_t count = node->end - node->begin;
    filter_split job = { tree, node, FILTER_CHUNK, passes };
    job.chunk = count / FILTER_CHUNKS >= job.chunk ? count / FILTER_CHUNKS + 1 : job.chunk;
    uint32_t chunks = ( count + job.chunk - 1 ) / job.chunk;
    if ( tree->tasks == NULL || task_worker_count( tree->tasks ) < 2 ||
        !base_array_renew( &tree->route.goals, tree->memory, tree->spare.capacity ) )
    {
        return false;
    }
    clv_task_run( tree->tasks, split_piece, chunks, &job );
    for ( uint32_t chunk = 0; chunk < chunks; ++chunk )
    {
        uint32_t from = node->begin + chunk * job.chunk;
        const filter_pass* p = &passes[chunk];
        memmove( tree->spare.items + pass->left, tree->spare.items + from, p->left * sizeof( uint32_t ) );
        shift_slots( tree, pass->write, from, p->write );
        pass->left += p->left;
        pass->write += p->write;
    }
    uint32_t* back = tree->spare.items + tree->spare.capacity - 1;
    for ( uint32_t chunk = 0; chunk < chunks; ++chunk )
    {
        const uint32_t* right = tree->route.goals.items + node->begin + chunk * job.chunk;
        for ( uint32_t i = 0; i < passes[chunk].right; ++i )
        {
            back[-(ptrdiff_t)pass->right++] = right[i];
        }
    }
    return true;
}

// Left-goers to the end of the left child's block; what lies between moves up.
static void hand_down_left( kd_tree* tree, kd_node* node, uint32_t count )
{
    kd_node* left = &tree->nodes.items[node->left];
    uint32_t inner_count = node->begin - left->end;
    shift_slots( tree, left->end + count, left->end, inner_count );
    tree->counters.shift_count += inner_count;
    memcpy( tree->order.items + left->end, tree->spare.items, (size_t)count * sizeof( uint32_t ) );
    left->end += count;
    left->population += count;
    left->touched = true;
    if ( !kd_node_is_leaf( left ) )
    {
        tree->nodes.items[left->right].offset += (int32_t)count;
    }
}

// Right-goers before the start of the right child's block, in the order they were met.
static void hand_down_right( kd_tree* tree, kd_node* node, uint32_t old_end, uint32_t count )
{
    kd_node* right = &tree->nodes.items[node->right];
    uint32_t inner_count = right->begin - old_end;
    shift_slots( tree, old_end - count, old_end, inner_count );
    tree->counters.shift_count += inner_count;
    right->begin -= count;
    right->population += count;
    right->touched = true;
    const uint32_t* from = tree->spare.items + tree->spare.capacity - 1;
    for ( uint32_t i = 0; i < count; ++i )
    {
        tree->order.items[right->begin + i] = from[-(ptrdiff_t)i];
    }
    if ( !kd_node_is_leaf( right ) )
    {
        tree->nodes.items[right->left].offset -= (int32_t)count;
    }
}

// A child whose delayed work is done, with the region that the plane gives it now.
static void prepare_child( kd_tree* tree, uint32_t index )
{
    clv_kd_node_settle( tree, index );
    clv_kd_node_inherit( tree, index );
}

void clv_kd_filter( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    CLV_ASSERT( !kd_node_is_leaf( node ) && node->offset == 0 && !node->lifted );
    prepare_child( tree, node->left );
    prepare_child( tree, node->right );

    // Objects at rest have a box and a plane as before, so they are where they belong.
    filter_pass pass = { .write = node->begin };
    uint32_t rest_begin = node->rest_begin;
    uint32_t rest_count = node->rest_end - node->rest_begin;
    uint32_t old_end = node->end;
    bool is_long = rest_count == 0 && old_end - node->begin > FILTER_ALONE;
    if ( !is_long || !pass_together( tree, node, &pass ) )
    {
        pass_part( tree, node, node->begin, rest_count > 0 ? rest_begin : old_end, &pass );
    }
    node->rest_begin = pass.write;
    if ( rest_count > 0 )
    {
        shift_slots( tree, pass.write, rest_begin, rest_count );
        pass.write += rest_count;
        pass_part( tree, node, rest_begin + rest_count, old_end, &pass );
    }
    node->rest_end = node->rest_begin + rest_count;
    if ( pass.left + pass.right == 0 )
    {
        kd_node_tidy_rest( node );
        return;
    }

    node->touched = true;
    tree->counters.filter_count += pass.left + pass.right;
    uint32_t stay_count = pass.write - node->begin;
    shift_slots( tree, node->begin + pass.left, node->begin, stay_count );
    if ( pass.left > 0 )
    {
        hand_down_left( tree, node, pass.left );
    }
    if ( pass.right > 0 )
    {
        hand_down_right( tree, node, old_end, pass.right );
    }
    node->begin += pass.left;
    node->end = node->begin + stay_count;
    node->rest_begin += pass.left;
    node->rest_end += pass.left;
    kd_node_tidy_rest( node );
}
