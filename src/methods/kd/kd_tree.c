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
    clv_base_memory_give( memory, tree->nodes, tree->node_capacity, sizeof( kd_node ) );
    clv_base_memory_give( memory, tree->stack, tree->stack_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, tree->order, tree->order_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, tree->spare, tree->spare_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, tree->outside, tree->outside_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, tree->homes, tree->home_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, tree->pool, tree->pool_capacity, sizeof( clv_aabb ) );
    clv_base_memory_give( memory, tree->pool_starts, tree->pool_start_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, tree->branches, tree->branch_capacity, sizeof( kd_branch ) );
    base_array_free( &tree->block_sums, memory );
    base_array_free( &tree->route.nodes, memory );
    base_array_free( &tree->route.stops, memory );
    base_array_free( &tree->route.goals, memory );
    base_array_free( &tree->route.counts, memory );
    base_array_free( &tree->route.places, memory );
    base_array_free( &tree->route.sums, memory );
    base_array_free( &tree->route.moved_groups, memory );
    clv_base_memory_give( memory, tree->top_spare, tree->top_spare_capacity, sizeof( uint32_t ) );
    task_runner* tasks = tree->tasks;
    clv_kd_tree_init( tree, memory, tree->kernels, tree->leaf_limit, tree->balance, tree->flow );
    tree->tasks = tasks;
}

static bool reserve_slots(
    kd_tree* tree, uint32_t** slots, uint64_t* capacity, uint64_t kept, uint64_t needed )
{
    void* data = *slots;
    bool ok = clv_base_memory_reserve( tree->memory, &data, capacity, kept, needed, sizeof( uint32_t ) );
    *slots = data;
    return ok;
}

static bool reserve_nodes( kd_tree* tree, uint64_t needed )
{
    void* nodes = tree->nodes;
    bool ok = clv_base_memory_reserve(
        tree->memory, &nodes, &tree->node_capacity, tree->node_end, needed, sizeof( kd_node ) );
    tree->nodes = nodes;
    return ok &&
        reserve_slots( tree, &tree->stack, &tree->stack_capacity, tree->stack_capacity, tree->node_capacity );
}

bool clv_kd_tree_reserve( kd_tree* tree, uint32_t count )
{
    uint64_t room = (uint64_t)count + 1; // never none, so that an empty block has an address too
    return reserve_slots( tree, &tree->order, &tree->order_capacity, tree->count, room ) &&
        reserve_slots( tree, &tree->spare, &tree->spare_capacity, 0, room ) &&
        reserve_slots(
            tree, &tree->outside, &tree->outside_capacity, tree->outside_count, room < 1024 ? room : 1024 ) &&
        reserve_nodes( tree, (uint64_t)count / tree->leaf_limit * 6 + 8 );
}

bool clv_kd_tree_reserve_rest( kd_tree* tree, uint32_t slot_count, uint32_t count )
{
    uint64_t before = tree->home_capacity;
    if ( !reserve_slots( tree, &tree->homes, &tree->home_capacity, before, slot_count ) )
    {
        return false;
    }
    for ( uint64_t i = before; i < tree->home_capacity; ++i )
    {
        tree->homes[i] = KD_NONE;
    }
    // Half as much again as can be at rest: nodes that are put in order anew leave holes, and each has an end of its cells.
    uint64_t needed = (uint64_t)count + count / 2 + 64;
    void* pool = tree->pool;
    void* starts = tree->pool_starts;
    bool ok = clv_base_memory_reserve(
                  tree->memory, &pool, &tree->pool_capacity, tree->pool_end, needed, sizeof( clv_aabb ) ) &&
        clv_base_memory_reserve(
            tree->memory, &starts, &tree->pool_start_capacity, tree->pool_end, needed, sizeof( uint32_t ) );
    tree->pool = pool;
    tree->pool_starts = starts;
    return ok;
}

void clv_kd_tree_mark_hit( kd_tree* tree, uint32_t slot_end )
{
    for ( uint32_t first = 0; first < slot_end; first += 64 )
    {
        for ( uint64_t bits = tree->changed[first / 64]; bits != 0; bits &= bits - 1 )
        {
            uint32_t home = tree->homes[first + base_lowest_bit( bits )];
            if ( home < tree->node_end )
            {
                tree->nodes[home].rest_is_hit = true;
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
        tree->node_free = tree->nodes[index].left;
    }
    else
    {
        if ( !reserve_nodes( tree, (uint64_t)tree->node_end + 1 ) )
        {
            return KD_NONE;
        }
        index = tree->node_end++;
    }
    tree->nodes[index] = ( kd_node ){ .parent = KD_NONE, .left = KD_NONE, .right = KD_NONE };
    tree->node_count += 1;
    return index;
}

// Without a stack of its own: down to a leaf, free it, and on with its parent, whose link to it is cut.
void clv_kd_subtree_free( kd_tree* tree, uint32_t index )
{
    uint32_t stop = tree->nodes[index].parent;
    uint32_t at = index;
    while ( at != stop )
    {
        kd_node* node = &tree->nodes[at];
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
        tree->nodes[root].lower[axis] = lower[axis];
        tree->nodes[root].upper[axis] = upper[axis];
    }
    return true;
}

void clv_kd_node_inherit( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes[index];
    const kd_node* parent = &tree->nodes[node->parent];
    for ( int axis = 0; axis < 3; ++axis )
    {
        node->lower[axis] = parent->lower[axis];
        node->upper[axis] = parent->upper[axis];
    }
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
        kd_node* node = &tree->nodes[tree->stack[i]];
        if ( node->parent != KD_NONE )
        {
            clv_kd_node_inherit( tree, tree->stack[i] );
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
    kd_node* node = &tree->nodes[index];
    if ( !kd_node_is_leaf( node ) && ( node->offset != 0 || node->lifted ) )
    {
        kd_node* left = &tree->nodes[node->left];
        kd_node* right = &tree->nodes[node->right];
        if ( node->lifted )
        {
            // The children are as empty as the node was; they lie at the two ends of its block.
            lift_out_of( left, node->begin );
            lift_out_of( right, node->end );
        }
        left->offset += node->offset;
        right->offset += node->offset;
    }
    node->begin += (uint32_t)node->offset;
    node->end += (uint32_t)node->offset;
    node->rest_begin += (uint32_t)node->offset;
    node->rest_end += (uint32_t)node->offset;
    node->offset = 0;
    node->lifted = false;
}

uint32_t clv_kd_node_first( const kd_tree* tree, uint32_t index )
{
    while ( !kd_node_is_leaf( &tree->nodes[index] ) )
    {
        index = tree->nodes[index].left;
    }
    return index;
}

uint32_t clv_kd_node_next( const kd_tree* tree, uint32_t index )
{
    const kd_node* node = &tree->nodes[index];
    if ( !kd_node_is_leaf( node ) )
    {
        return clv_kd_node_first( tree, node->right );
    }
    uint32_t parent = node->parent;
    while ( parent != KD_NONE && tree->nodes[parent].right == index )
    {
        index = parent;
        parent = tree->nodes[index].parent;
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
    tree->stack[0] = tree->root;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const kd_node* node = &tree->nodes[tree->stack[i]];
        if ( !kd_node_is_leaf( node ) )
        {
            tree->stack[count++] = node->left;
            tree->stack[count++] = node->right;
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
        next_end += kd_node_is_leaf( &tree->nodes[tree->stack[i]] ) ? 0 : 2;
    }
    return height;
}
