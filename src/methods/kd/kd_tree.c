// SPDX-License-Identifier: MIT
// Nodes and their bookkeeping. Indices, never pointers, between nodes: the pool moves when it grows.
#include "kd/kd_tree.h"

#include "base/assertion.h"

#include "base/bits.h"
#include <string.h>

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

// ---- Objects in and out, as section 3.2 has it: insertion at the end of the array, in the rightmost node;
// removal by swap with the last. Both leave objects in wrong places, which the next refit lifts and the next
// optimisation lowers.

// The last node of the in-order sequence.
static kd_node* rightmost( kd_tree* tree )
{
    kd_node* node = &tree->nodes.items[tree->root];
    while ( !kd_node_is_leaf( node ) )
    {
        node = &tree->nodes.items[node->right];
    }
    return node;
}

void clv_kd_move_slots( kd_tree* tree, uint32_t to, uint32_t from, uint32_t count )
{
    if ( count > 0 && to != from )
    {
        memmove( tree->order.items + to, tree->order.items + from, (size_t)count * sizeof( uint32_t ) );
    }
}

void clv_kd_tree_append( kd_tree* tree, uint32_t slot )
{
    CLV_ASSERT( tree->count < tree->order.capacity );
    kd_node* node = rightmost( tree );
    CLV_ASSERT( node->end == tree->count );
    tree->order.items[tree->count++] = slot;
    node->end += 1;
    node->touched = true;
}

static uint32_t clip( uint32_t index, uint32_t end )
{
    return index < end ? index : end;
}

// Blocks lie in order, so the nodes that lost their last objects are those that reach beyond the new end.
static void clip_blocks( kd_tree* tree )
{
    uint32_t count = clv_kd_tree_list( tree );
    for ( uint32_t i = 0; i < count; ++i )
    {
        kd_node* node = &tree->nodes.items[tree->stack.items[i]];
        node->touched = true;
        node->begin = clip( node->begin, tree->count );
        node->end = clip( node->end, tree->count );
        node->rest_begin = clip( node->rest_begin, tree->count );
        node->rest_end = clip( node->rest_end, tree->count );
        node->rest_is_hit = true; // by the object that took the place of a dead one, and belongs elsewhere
    }
}

static uint32_t remove_from_list( uint32_t* slots, uint32_t count, const uint64_t* live, uint64_t* displaced )
{
    for ( uint32_t i = 0; i < count; )
    {
        if ( base_bits_has( live, slots[i] ) )
        {
            i += 1;
            continue;
        }
        slots[i] = slots[--count];
        if ( i < count && displaced != NULL )
        {
            base_bits_add( displaced, slots[i] );
        }
    }
    return count;
}

void clv_kd_tree_remove_dead( kd_tree* tree, const uint64_t* live, uint64_t* displaced )
{
    if ( tree->root == KD_NONE )
    {
        return;
    }
    CLV_ASSERT( tree->count <= tree->order.capacity && tree->outside_count <= tree->outside.capacity );
    tree->outside_count = remove_from_list( tree->outside.items, tree->outside_count, live, NULL );
    uint32_t count = remove_from_list( tree->order.items, tree->count, live, displaced );
    if ( count != tree->count )
    {
        tree->count = count;
        clip_blocks( tree );
    }
}

void clv_kd_tree_admit( kd_tree* tree, uint64_t* displaced )
{
    CLV_ASSERT( tree->root != KD_NONE && tree->boxes != NULL );
    const kd_node* root = &tree->nodes.items[tree->root];
    uint32_t kept = 0;
    for ( uint32_t i = 0; i < tree->outside_count; ++i )
    {
        uint32_t slot = tree->outside.items[i];
        if ( kd_node_holds( root, &tree->boxes[slot] ) )
        {
            clv_kd_tree_append( tree, slot );
            if ( displaced != NULL )
            {
                base_bits_add( displaced, slot );
            }
        }
        else
        {
            CLV_ASSERT( kept <= i );
            tree->outside.items[kept++] = slot;
        }
    }
    tree->outside_count = kept;
}

// ---- Collapse (figure 6b, backwards): the blocks of a subtree are one stretch of the array, so taking them
// all is a matter of two indices, whatever is still delayed below.

void clv_kd_collapse( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    CLV_ASSERT( !kd_node_is_leaf( node ) && node->offset == 0 && !node->lifted );
    node->begin -= tree->nodes.items[node->left].population;
    node->end += tree->nodes.items[node->right].population;
    node->rest_begin = node->rest_end = node->begin;
    node->touched = true;
    node->refused = false;
    CLV_ASSERT( node->end - node->begin == node->population );
    clv_kd_subtree_free( tree, node->left );
    clv_kd_subtree_free( tree, node->right );
    node->left = node->right = KD_NONE;
    tree->counters.collapse_count += 1;
}

// ---- Evaluate, equations 1-3: Cost says how close the expected tests are to the worst case, Balance how
// close the smaller branch is to all the rest. With binom(n, 2) tests among n objects, t_max - t_min is p^2
// / 4.

static double pairs_of( double count )
{
    return count * ( count - 1 ) / 2;
}

bool clv_kd_evaluate( kd_balance balance, uint32_t own_count, uint32_t left_count, uint32_t right_count )
{
    double own = own_count, left = left_count, right = right_count;
    double all = own + left + right;
    double fewer = left < right ? left : right;
    double more = left < right ? right : left;
    if ( fewer == 0 )
    {
        return false; // Cost is 1 and Balance 0, or there is nothing here at all
    }
    double tests = pairs_of( own ) + pairs_of( left ) + pairs_of( right ) + own * ( left + right );
    double least = 2 * pairs_of( all / 2 );
    double most = pairs_of( all );
    CLV_ASSERT( most > least );
    double cost = ( tests - least ) / ( most - least );
    if ( balance == KD_BALANCE_CHILDREN )
    {
        return fewer / more > cost;
    }
    return !( cost > fewer / ( own + more ) );
}

// ---- Translate (figure 6c): all objects of the subtree come up, which again is a matter of indices; the
// plane moves to their mean on its axis; Filter sends them down. Below, every block is empty from here on, so
// nothing lies in between.

static void lift( kd_tree* tree, kd_node* node )
{
    kd_node* left = &tree->nodes.items[node->left];
    kd_node* right = &tree->nodes.items[node->right];
    CLV_ASSERT( left->population <= node->begin && right->population <= tree->count - node->end );
    node->begin -= left->population;
    node->end += right->population;
    node->rest_begin = node->rest_end = node->begin;
    left->begin = left->end = left->rest_begin = left->rest_end = node->begin;
    right->begin = right->end = right->rest_begin = right->rest_end = node->end;
    left->population = right->population = 0;
    left->offset = right->offset = 0;
    left->lifted = right->lifted = true;
}

static double mean_centre( kd_tree* tree, const kd_node* node )
{
    CLV_ASSERT( node->begin < node->end );
    kd_block block = { .begin = node->begin, .end = node->end, .axis = node->axis };
    return clv_kd_block_centres( tree, &block ).sum[node->axis] / 2 / ( node->end - node->begin );
}

void clv_kd_translate( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    CLV_ASSERT( !kd_node_is_leaf( node ) && node->offset == 0 && !node->lifted );
    lift( tree, node );
    CLV_ASSERT( node->end - node->begin == node->population );
    node->touched = true;
    if ( node->end > node->begin )
    {
        node->plane = (float)mean_centre( tree, node );
    }
    tree->counters.translate_count += 1;
    clv_kd_filter( tree, index );
}

// ---- Erase (figure 6d): the node and its smaller branch go, the larger branch takes their place and all
// objects. Comes after Translate, so the branch is empty below its top.

uint32_t clv_kd_erase( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    CLV_ASSERT( !kd_node_is_leaf( node ) && node->offset == 0 && !node->lifted );
    kd_node* left = &tree->nodes.items[node->left];
    kd_node* right = &tree->nodes.items[node->right];
    bool keep_left = left->population >= right->population;
    uint32_t kept_index = keep_left ? node->left : node->right;
    uint32_t gone_index = keep_left ? node->right : node->left;
    kd_node* kept = keep_left ? left : right;
    CLV_ASSERT(
        left->end - left->begin == left->population && right->end - right->begin == right->population );

    // What is below `kept` is empty and still to be told so; this tells it where the two ends are.
    kept->begin = left->begin;
    kept->end = right->end;
    kept->rest_begin = kept->rest_end = kept->begin;
    kept->population = node->population;
    CLV_ASSERT( kept->end - kept->begin == kept->population );
    kept->lifted = true;
    kept->offset = 0;
    kept->touched = true;
    kept->refused = false;

    kept->parent = node->parent;
    if ( node->parent == KD_NONE )
    {
        tree->root = kept_index;
    }
    else
    {
        kd_node* parent = &tree->nodes.items[node->parent];
        CLV_ASSERT( parent->left == index || parent->right == index );
        *( parent->left == index ? &parent->left : &parent->right ) = kept_index;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        kept->lower[axis] = node->lower[axis];
        kept->upper[axis] = node->upper[axis];
    }

    tree->nodes.items[gone_index].parent = KD_NONE;
    clv_kd_subtree_free( tree, gone_index );
    node->left = node->right = KD_NONE;
    node->parent = KD_NONE;
    clv_kd_subtree_free( tree, index );
    tree->counters.erase_count += 1;
    return kept_index;
}
