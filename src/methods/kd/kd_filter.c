// SPDX-License-Identifier: MIT
// Filter (figure 6a): objects wholly on one side of the plane go down to the child there. The child's own
// block lies beyond the subtree of its inner child, which moves aside with a delayed offset, as in the refit.
#include "kd/kd_tree.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    FILTER_CHUNK = 1024,    // objects of a piece, at least
    FILTER_CHUNKS = 256,    // at most
    FILTER_ALONE = 1 << 12, // objects up to which one thread does it
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
    uint32_t begin, end; // of the node's block
    uint32_t chunk;      // objects
    uint32_t axis;
    float plane;
    filter_pass* passes; // by chunk: how many
    filter_pass* places; // and where
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
    CLV_ASSERT( p.write <= to && p.left + p.right <= tree->spare.capacity );
    *pass = p;
}

// A chunk of a long block, each kind where the chunk stands: left-goers in spare, right-goers in the goals
// from the front and those that stay from the back. The array is as it was.
static void split_piece( uint32_t chunk, uint32_t worker, void* context )
{
    (void)worker;
    const filter_split* job = context;
    const kd_tree* tree = job->tree;
    uint32_t from = job->begin + chunk * job->chunk;
    uint32_t to = job->end - from > job->chunk ? from + job->chunk : job->end;
    CLV_ASSERT( from < to && to <= job->end );
    const uint32_t* order = tree->order.items;
    uint32_t* left = tree->spare.items + from;
    uint32_t* right = tree->sides.items + from;
    uint32_t* stay = tree->sides.items + to - 1;
    filter_pass p = { 0 };
    for ( uint32_t i = from; i < to; ++i )
    {
        uint32_t slot = order[i];
        base_prefetch( &tree->boxes[order[i + FILTER_AHEAD < to ? i + FILTER_AHEAD : i]] );
        int side = kd_side( &tree->boxes[slot], job->axis, job->plane );
        left[p.left] = slot;
        right[p.right] = slot;
        stay[-(ptrdiff_t)p.write] = slot;
        p.left += side < 0;
        p.right += side > 0;
        p.write += side == 0;
    }
    CLV_ASSERT( p.left + p.right + p.write == to - from );
    job->passes[chunk] = p;
}

// The three kinds of a chunk to their places in the array.
static void place_piece( uint32_t chunk, uint32_t worker, void* context )
{
    (void)worker;
    const filter_split* job = context;
    const kd_tree* tree = job->tree;
    uint32_t from = job->begin + chunk * job->chunk;
    uint32_t to = job->end - from > job->chunk ? from + job->chunk : job->end;
    const filter_pass* p = &job->passes[chunk];
    const filter_pass* place = &job->places[chunk];
    CLV_ASSERT( place->left + p->left <= tree->count && place->right + p->right <= tree->count );
    CLV_ASSERT( place->write + p->write <= tree->count );
    uint32_t* order = tree->order.items;
    memcpy( order + place->left, tree->spare.items + from, p->left * sizeof( uint32_t ) );
    memcpy( order + place->right, tree->sides.items + from, p->right * sizeof( uint32_t ) );
    const uint32_t* stay = tree->sides.items + to - 1;
    for ( uint32_t i = 0; i < p->write; ++i )
    {
        order[place->write + i] = stay[-(ptrdiff_t)i];
    }
}

// Room for left-goers at the end of the left child's block: what lies between moves up. Returns where.
static uint32_t make_room_left( kd_tree* tree, const kd_node* node, uint32_t count )
{
    kd_node* left = &tree->nodes.items[node->left];
    CLV_ASSERT( left->offset == 0 && left->end <= node->begin );
    uint32_t place = left->end;
    uint32_t inner_count = node->begin - left->end;
    if ( count == 0 )
    {
        return place;
    }
    shift_slots( tree, left->end + count, left->end, inner_count );
    tree->counters.shift_count += inner_count;
    left->end += count;
    left->population += count;
    left->touched = true;
    if ( !kd_node_is_leaf( left ) )
    {
        tree->nodes.items[left->right].offset += (int32_t)count;
    }
    return place;
}

// The same for right-goers, before the start of the right child's block.
static uint32_t make_room_right( kd_tree* tree, const kd_node* node, uint32_t count )
{
    kd_node* right = &tree->nodes.items[node->right];
    CLV_ASSERT( right->offset == 0 && node->end <= right->begin );
    uint32_t inner_count = right->begin - node->end;
    if ( count == 0 )
    {
        return right->begin;
    }
    shift_slots( tree, node->end - count, node->end, inner_count );
    tree->counters.shift_count += inner_count;
    right->begin -= count;
    right->population += count;
    right->touched = true;
    if ( !kd_node_is_leaf( right ) )
    {
        tree->nodes.items[right->left].offset -= (int32_t)count;
    }
    return right->begin;
}

// What is left of the node's block.
static void take_block( kd_tree* tree, kd_node* node, uint32_t left_count, uint32_t stay_count )
{
    CLV_ASSERT( left_count + stay_count <= node->end - node->begin );
    node->touched = true;
    tree->counters.filter_count += node->end - node->begin - stay_count;
    node->begin += left_count;
    node->end = node->begin + stay_count;
    node->rest_begin += left_count;
    node->rest_end += left_count;
    kd_node_tidy_rest( node );
}

// Where each chunk's go. Returns the sums.
static filter_pass sum_passes( const filter_pass* passes, filter_pass* places, uint32_t chunks )
{
    filter_pass sum = { 0 };
    for ( uint32_t chunk = 0; chunk < chunks; ++chunk )
    {
        places[chunk] = sum;
        sum.left += passes[chunk].left;
        sum.right += passes[chunk].right;
        sum.write += passes[chunk].write;
    }
    return sum;
}

// A long block without objects at rest, by several workers: the chunks' objects are told apart, then put
// where they go, in order. False, and nothing done, if there are no others or there is no memory for it.
static bool filter_together( kd_tree* tree, kd_node* node )
{
    filter_pass passes[FILTER_CHUNKS], places[FILTER_CHUNKS];
    uint32_t count = node->end - node->begin;
    uint32_t chunk_size = count / FILTER_CHUNKS >= FILTER_CHUNK ? count / FILTER_CHUNKS + 1 : FILTER_CHUNK;
    uint32_t chunks = ( count + chunk_size - 1 ) / chunk_size;
    if ( tree->tasks == NULL || task_worker_count( tree->tasks ) < 2 ||
        !base_array_renew( &tree->sides, tree->memory, tree->spare.capacity ) )
    {
        return false;
    }
    CLV_ASSERT( chunks <= FILTER_CHUNKS );
    filter_split job = { tree, node->begin, node->end, chunk_size, node->axis, node->plane, passes, places };
    clv_task_run( tree->tasks, split_piece, chunks, &job );
    filter_pass sum = sum_passes( passes, places, chunks );
    CLV_ASSERT( sum.left + sum.right + sum.write == count ); // each object goes one way
    if ( sum.left + sum.right == 0 )
    {
        kd_node_tidy_rest( node );
        return true;
    }
    uint32_t left_place = make_room_left( tree, node, sum.left );
    uint32_t right_place = make_room_right( tree, node, sum.right );
    for ( uint32_t chunk = 0; chunk < chunks; ++chunk )
    {
        places[chunk].left += left_place;
        places[chunk].right += right_place;
        places[chunk].write += node->begin + sum.left;
    }
    clv_task_run( tree->tasks, place_piece, chunks, &job );
    node->rest_begin = node->rest_end = node->begin + sum.write;
    take_block( tree, node, sum.left, sum.write );
    return true;
}

// Left-goers and right-goers from spare into the children's blocks, in the order they were met.
static void hand_down( kd_tree* tree, const kd_node* node, const filter_pass* pass )
{
    uint32_t left_place = make_room_left( tree, node, pass->left );
    memcpy( tree->order.items + left_place, tree->spare.items, (size_t)pass->left * sizeof( uint32_t ) );
    uint32_t right_place = make_room_right( tree, node, pass->right );
    const uint32_t* from = tree->spare.items + tree->spare.capacity - 1;
    for ( uint32_t i = 0; i < pass->right; ++i )
    {
        tree->order.items[right_place + i] = from[-(ptrdiff_t)i];
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

    if ( node->rest_end == node->rest_begin && node->end - node->begin > FILTER_ALONE &&
        filter_together( tree, node ) )
    {
        return;
    }
    // Objects at rest have a box and a plane as before, so they are where they belong.
    CLV_ASSERT( node->rest_begin == node->rest_end ||
        ( node->begin <= node->rest_begin && node->rest_end <= node->end ) );
    filter_pass pass = { .write = node->begin };
    uint32_t rest_begin = node->rest_begin;
    uint32_t rest_count = node->rest_end - node->rest_begin;
    pass_part( tree, node, node->begin, rest_count > 0 ? rest_begin : node->end, &pass );
    node->rest_begin = pass.write;
    if ( rest_count > 0 )
    {
        shift_slots( tree, pass.write, rest_begin, rest_count );
        pass.write += rest_count;
        pass_part( tree, node, rest_begin + rest_count, node->end, &pass );
    }
    node->rest_end = node->rest_begin + rest_count;
    if ( pass.left + pass.right == 0 )
    {
        kd_node_tidy_rest( node );
        return;
    }
    CLV_ASSERT( pass.write + pass.left + pass.right == node->end );
    uint32_t stay_count = pass.write - node->begin;
    shift_slots( tree, node->begin + pass.left, node->begin, stay_count );
    hand_down( tree, node, &pass );
    take_block( tree, node, pass.left, stay_count );
}
