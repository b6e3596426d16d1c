// SPDX-License-Identifier: MIT
// Nodes and their bookkeeping. Indices, never pointers, between nodes: the pool moves when it grows.
#include "kd/kd_tree.h"

#include "base/assertion.h"
#include "base/bits.h"

void clv_kd_tree_init( kd_tree* tree, base_memory* memory, const simd_method_kernels* kernels,
    uint32_t leaf_limit, kd_balance balance, kd_flow flow )
{
    *tree = ( kd_tree ){
        .memory = memory, .kernels = kernels, .leaf_limit = leaf_limit, .balance = balance, .flow = flow
    };
    tree->root = KD_NONE;
    tree->node_free = KD_NONE;
}

void clv_kd_tree_release( kd_tree* tree )
{
    base_memory* memory = tree->memory;
    base_array_free( &tree->nodes, memory );
    base_array_free( &tree->stack, memory );
    base_array_free( &tree->order, memory );
    base_array_free( &tree->spare, memory );
    base_array_free( &tree->outside, memory );
    base_array_free( &tree->homes, memory );
    base_array_free( &tree->pool, memory );
    base_array_free( &tree->pool_starts, memory );
    base_array_free( &tree->branches, memory );
    base_array_free( &tree->block_sums, memory );
    base_array_free( &tree->sides, memory );
    base_array_free( &tree->top_spare, memory );
    task_runner* tasks = tree->tasks;
    clv_kd_tree_init( tree, memory, tree->kernels, tree->leaf_limit, tree->balance, tree->flow );
    tree->tasks = tasks;
}

static bool reserve_nodes( kd_tree* tree, uint64_t needed )
{
    tree->nodes.count = tree->node_end;
    bool ok = base_array_reserve( &tree->nodes, tree->memory, needed );
    tree->stack.count = tree->stack.capacity;
    return ok && base_array_reserve( &tree->stack, tree->memory, tree->nodes.capacity );
}

bool clv_kd_tree_reserve( kd_tree* tree, uint32_t count )
{
    uint64_t room = (uint64_t)count + 1; // never none, so that an empty block has an address too
    tree->order.count = tree->count;
    tree->outside.count = tree->outside_count;
    return base_array_reserve( &tree->order, tree->memory, room ) &&
        base_array_reserve( &tree->spare, tree->memory, room ) &&
        base_array_reserve( &tree->outside, tree->memory, room < 1024 ? room : 1024 ) &&
        reserve_nodes( tree, (uint64_t)count / tree->leaf_limit * 6 + 8 );
}

bool clv_kd_tree_reserve_outside( kd_tree* tree, uint32_t more )
{
    tree->outside.count = tree->outside_count;
    return base_array_reserve( &tree->outside, tree->memory, (uint64_t)tree->outside_count + more );
}

bool clv_kd_tree_reserve_rest( kd_tree* tree, uint32_t slot_count, uint32_t count )
{
    uint64_t before = tree->homes.count = tree->homes.capacity;
    if ( !base_array_reserve( &tree->homes, tree->memory, slot_count ) )
    {
        return false;
    }
    for ( uint64_t i = before; i < tree->homes.capacity; ++i )
    {
        tree->homes.items[i] = KD_NONE;
    }
    // Half as much again as can be at rest: nodes that are put in order anew leave holes, and each has an end
    // of its cells.
    uint64_t needed = (uint64_t)count + count / 2 + 64;
    tree->pool.count = tree->pool_starts.count = tree->pool_end;
    return base_array_reserve( &tree->pool, tree->memory, needed ) &&
        base_array_reserve( &tree->pool_starts, tree->memory, needed );
}

void clv_kd_tree_mark_hit( kd_tree* tree, uint32_t slot_end )
{
    CLV_ASSERT( tree->changed != NULL && slot_end <= tree->homes.capacity );
    for ( uint32_t first = 0; first < slot_end; first += 64 )
    {
        for ( uint64_t bits = tree->changed[first / 64]; bits != 0; bits &= bits - 1 )
        {
            uint32_t home = tree->homes.items[first + base_lowest_bit( bits )];
            if ( home < tree->node_end )
            {
                tree->nodes.items[home].rest_is_hit = true;
            }
        }
    }
}

// No nodes and no objects; the memory stays.
static void clear( kd_tree* tree )
{
    tree->root = KD_NONE;
    tree->node_end = 0;
    tree->node_count = 0;
    tree->node_free = KD_NONE;
    tree->count = 0;
    tree->outside_count = 0;
    tree->pool_end = 0;
}

uint32_t clv_kd_node_take( kd_tree* tree )
{
    uint32_t index = tree->node_free;
    if ( index != KD_NONE )
    {
        tree->node_free = tree->nodes.items[index].left;
        CLV_ASSERT( tree->node_free == KD_NONE || tree->node_free < tree->node_end );
    }
    else
    {
        if ( !reserve_nodes( tree, (uint64_t)tree->node_end + 1 ) )
        {
            return KD_NONE;
        }
        index = tree->node_end++;
    }
    CLV_ASSERT( index < tree->node_end && tree->node_end <= tree->nodes.capacity );
    tree->nodes.items[index] = ( kd_node ){ .parent = KD_NONE, .left = KD_NONE, .right = KD_NONE };
    tree->node_count += 1;
    return index;
}

// Without a stack of its own: down to a leaf, free it, and on with its parent, whose link to it is cut.
void clv_kd_subtree_free( kd_tree* tree, uint32_t index )
{
    uint32_t stop = tree->nodes.items[index].parent;
    uint32_t at = index;
    while ( at != stop )
    {
        kd_node* node = &tree->nodes.items[at];
        CLV_ASSERT( at < tree->node_end );
        if ( node->left != KD_NONE )
        {
            uint32_t child = node->left;
            node->left = KD_NONE;
            at = child;
        }
        else if ( node->right != KD_NONE )
        {
            uint32_t child = node->right;
            node->right = KD_NONE;
            at = child;
        }
        else
        {
            uint32_t parent = node->parent;
            node->left = tree->node_free;
            tree->node_free = at;
            CLV_ASSERT( tree->node_count > 0 );
            tree->node_count -= 1;
            at = parent;
        }
    }
}

bool clv_kd_tree_plant( kd_tree* tree, const float lower[3], const float upper[3] )
{
    clear( tree );
    uint32_t root = clv_kd_node_take( tree );
    if ( root == KD_NONE )
    {
        return false;
    }
    tree->root = root;
    for ( int axis = 0; axis < 3; ++axis )
    {
        tree->nodes.items[root].lower[axis] = lower[axis];
        tree->nodes.items[root].upper[axis] = upper[axis];
        CLV_ASSERT( lower[axis] <= upper[axis] );
    }
    return true;
}

void clv_kd_node_inherit( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    CLV_ASSERT( node->parent != KD_NONE );
    const kd_node* parent = &tree->nodes.items[node->parent];
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis] = parent->lower[axis];
        node->upper[axis] = parent->upper[axis];
    }
    CLV_ASSERT( ( parent->left == index ) != ( parent->right == index ) && parent->axis < 3 );
    if ( parent->left == index )
    {
        node->upper[parent->axis] = parent->plane;
    }
    else
    {
        node->lower[parent->axis] = parent->plane;
    }
}

void clv_kd_tree_set_region( kd_tree* tree, const float lower[3], const float upper[3] )
{
    uint32_t count = clv_kd_tree_list( tree );
    for ( uint32_t i = 0; i < count; ++i )
    {
        kd_node* node = &tree->nodes.items[tree->stack.items[i]];
        if ( node->parent != KD_NONE )
        {
            clv_kd_node_inherit( tree, tree->stack.items[i] );
            continue;
        }
        for ( int axis = 0; axis < 3; ++axis )
        {
            node->lower[axis] = lower[axis];
            node->upper[axis] = upper[axis];
        }
    }
}

static void lift_out_of( kd_node* child, uint32_t place )
{
    child->begin = child->end = place;
    child->rest_begin = child->rest_end = place;
    child->population = 0;
    child->offset = 0;
    child->lifted = true;
    child->touched = true;
}

void clv_kd_node_settle( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    if ( !kd_node_is_leaf( node ) && ( node->offset != 0 || node->lifted ) )
    {
        kd_node* left = &tree->nodes.items[node->left];
        kd_node* right = &tree->nodes.items[node->right];
        if ( node->lifted )
        {
            // The children are as empty as the node was; they lie at the two ends of its block.
            lift_out_of( left, node->begin );
            lift_out_of( right, node->end );
        }
        left->offset += node->offset;
        right->offset += node->offset;
    }
    CLV_ASSERT( (int64_t)node->begin + node->offset >= 0 );
    node->begin += (uint32_t)node->offset;
    node->end += (uint32_t)node->offset;
    CLV_ASSERT( node->begin <= node->end && node->end <= tree->count );
    node->rest_begin += (uint32_t)node->offset;
    node->rest_end += (uint32_t)node->offset;
    node->offset = 0;
    node->lifted = false;
}

uint32_t clv_kd_node_first( const kd_tree* tree, uint32_t index )
{
    while ( !kd_node_is_leaf( &tree->nodes.items[index] ) )
    {
        index = tree->nodes.items[index].left;
    }
    return index;
}

uint32_t clv_kd_node_next( const kd_tree* tree, uint32_t index )
{
    const kd_node* node = &tree->nodes.items[index];
    if ( !kd_node_is_leaf( node ) )
    {
        return clv_kd_node_first( tree, node->right );
    }
    uint32_t parent = node->parent;
    while ( parent != KD_NONE && tree->nodes.items[parent].right == index )
    {
        index = parent;
        parent = tree->nodes.items[index].parent;
    }
    return parent;
}

uint32_t clv_kd_tree_list( kd_tree* tree )
{
    if ( tree->root == KD_NONE )
    {
        return 0;
    }
    uint32_t count = 1;
    tree->stack.items[0] = tree->root;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const kd_node* node = &tree->nodes.items[tree->stack.items[i]];
        if ( !kd_node_is_leaf( node ) )
        {
            CLV_ASSERT( count + 2 <= tree->node_count && tree->node_count <= tree->stack.capacity );
            tree->stack.items[count++] = node->left;
            tree->stack.items[count++] = node->right;
        }
    }
    CLV_ASSERT( count == tree->node_count );
    return count;
}

uint32_t clv_kd_tree_height( kd_tree* tree )
{
    // Breadth first, a level at a time.
    uint32_t count = clv_kd_tree_list( tree );
    uint32_t height = 0;
    uint32_t level_end = 1;
    uint32_t next_end = 1;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( i == level_end )
        {
            height += 1;
            level_end = next_end;
        }
        next_end += kd_node_is_leaf( &tree->nodes.items[tree->stack.items[i]] ) ? 0 : 2;
    }
    return height;
}
