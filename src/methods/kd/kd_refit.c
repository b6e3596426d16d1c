// SPDX-License-Identifier: MIT
// Refit, section 3.2 and figure 5: children before parents, objects that no longer fit go one node up. The
// array is in-order, so between a node's block and its parent's lies the subtree of the inner child; it moves
// aside as a whole and remembers the shift as a delayed offset. Subtrees are stretches of the array of their
// own, so several workers can refit one each, and look at the objects of the nodes above them; the calling
// thread then hands up what leaves. Children come before their parent either way, and what comes up from the
// left and from the right meets at the two ends of its block: the outcome is the same.
#include "base/assertion.h"
#include "kd/kd_tree.h"

#include <string.h>

enum
{
    BRANCHES_PER_WORKER = 4, // about so many
    BRANCHES_AT_ONCE = 64,   // that room is made for
    ALONE = 1 << 11          // objects up to which one thread does it
};

typedef struct leaver_pass
{
    uint32_t write;   // next place in the block for an object that stays
    uint32_t leavers; // in spare, from the front
    uint32_t loose;   // in spare, from the back: fit, but are no longer at rest
} leaver_pass;

// Objects [from, to), most of whose boxes are known not to have changed: those that fit close ranks.
static void pass_marked( kd_tree* tree, kd_node* node, uint32_t from, uint32_t to, leaver_pass* pass )
{
    uint32_t* order = tree->order.items;
    for ( uint32_t i = from; i < to; ++i )
    {
        uint32_t slot = order[i];
        if ( !base_bits_has( tree->changed, slot ) || kd_node_holds( node, &tree->boxes[slot] ) )
        {
            node->touched |= base_bits_has( tree->changed, slot );
            order[pass->write++] = slot;
        }
        else
        {
            tree->spare.items[pass->leavers++] = slot;
        }
    }
}

// Objects at rest that changed drop out of the ordered part. The rest of them keep their order.
static void pass_rest( kd_tree* tree, kd_node* node, leaver_pass* pass )
{
    uint32_t* order = tree->order.items;
    uint32_t from = node->rest_begin;
    uint32_t to = node->rest_end;
    node->rest_begin = pass->write;
    if ( !node->rest_is_hit )
    {
        clv_kd_move_slots( tree, pass->write, from, to - from );
        pass->write += to - from;
        node->rest_end = pass->write;
        return;
    }
    node->rest_is_hit = false;
    for ( uint32_t i = from; i < to; ++i )
    {
        uint32_t slot = order[i];
        if ( !base_bits_has( tree->changed, slot ) )
        {
            CLV_ASSERT( pass->write <= i && node->rest_pool + ( i - from ) < tree->pool_end );
            uint32_t place = node->rest_pool + ( pass->write - node->rest_begin );
            tree->pool.items[place] = tree->pool.items[node->rest_pool + ( i - from )];
            order[pass->write++] = slot;
        }
        else if ( kd_node_holds( node, &tree->boxes[slot] ) )
        {
            tree->spare.items[tree->spare.capacity - ++pass->loose] = slot;
        }
        else
        {
            tree->spare.items[pass->leavers++] = slot;
        }
    }
    node->rest_end = pass->write;
    node->rest_removed += ( to - from ) - ( node->rest_end - node->rest_begin );
}

// The block becomes [stay], the leavers wait in spare. Returns how many they are.
static uint32_t take_leavers( kd_tree* tree, kd_node* node )
{
    leaver_pass pass = { .write = node->begin };
    if ( tree->changed == NULL )
    {
        node->touched = true;
        pass.leavers = tree->kernels->take_leavers( tree->boxes, node->lower, node->upper,
            tree->order.items + node->begin, node->end - node->begin, tree->spare.items );
        pass.write = node->end - pass.leavers;
        node->rest_begin = node->rest_end = node->begin;
    }
    else
    {
        uint32_t rest_end = node->rest_end;
        pass_marked( tree, node, node->begin, node->rest_begin, &pass );
        pass_rest( tree, node, &pass );
        pass_marked( tree, node, rest_end, node->end, &pass );
        for ( uint32_t i = 0; i < pass.loose; ++i )
        {
            tree->order.items[pass.write++] = tree->spare.items[tree->spare.capacity - 1 - i];
        }
        node->touched |= pass.loose > 0;
    }
    CLV_ASSERT( pass.write + pass.leavers == node->end );
    node->end = pass.write;
    node->touched |= pass.leavers > 0;
    return pass.leavers;
}

// A left child: its right subtree, up to the parent's block, moves down by `count`; the leavers follow it.
static void hand_up_from_left( kd_tree* tree, kd_node* node, uint32_t* parent_begin, uint32_t count )
{
    uint32_t inner_begin = node->end + count;
    CLV_ASSERT( inner_begin <= *parent_begin );
    clv_kd_move_slots( tree, node->end, inner_begin, *parent_begin - inner_begin );
    tree->counters.shift_count += *parent_begin - inner_begin;
    *parent_begin -= count;
    memcpy( tree->order.items + *parent_begin, tree->spare.items, (size_t)count * sizeof( uint32_t ) );
    if ( !kd_node_is_leaf( node ) )
    {
        tree->nodes.items[node->right].offset -= (int32_t)count;
    }
}

// A right child: the same in the mirror.
static void hand_up_from_right( kd_tree* tree, kd_node* node, uint32_t* parent_end, uint32_t count )
{
    uint32_t stay = node->end - node->begin;
    CLV_ASSERT( *parent_end <= node->begin );
    clv_kd_move_slots( tree, node->begin + count, node->begin, stay );
    clv_kd_move_slots( tree, *parent_end + count, *parent_end, node->begin - *parent_end );
    tree->counters.shift_count += node->begin - *parent_end;
    memcpy( tree->order.items + *parent_end, tree->spare.items, (size_t)count * sizeof( uint32_t ) );
    *parent_end += count;
    node->begin += count;
    node->end += count;
    node->rest_begin += count;
    node->rest_end += count;
    if ( !kd_node_is_leaf( node ) )
    {
        tree->nodes.items[node->left].offset += (int32_t)count;
    }
}

// What the root does not hold leaves the array.
static bool hand_outside( kd_tree* tree, kd_node* root, uint32_t count )
{
    if ( !clv_kd_tree_reserve_outside( tree, count ) )
    {
        return false;
    }
    CLV_ASSERT( (uint64_t)tree->outside_count + count <= tree->outside.capacity );
    memcpy(
        tree->outside.items + tree->outside_count, tree->spare.items, (size_t)count * sizeof( uint32_t ) );
    tree->outside_count += count;
    uint32_t array_end = tree->count;
    hand_up_from_left( tree, root, &array_end, count );
    tree->count -= count;
    return true;
}

// The leavers in spare go up.
static bool hand_up( kd_tree* tree, uint32_t index, uint32_t count )
{
    kd_node* node = &tree->nodes.items[index];
    if ( count == 0 )
    {
        return true;
    }
    if ( node->parent == KD_NONE )
    {
        return hand_outside( tree, node, count );
    }
    kd_node* parent = &tree->nodes.items[node->parent];
    CLV_ASSERT( parent->left == index || parent->right == index );
    parent->touched = true;
    if ( parent->left == index )
    {
        hand_up_from_left( tree, node, &parent->begin, count );
    }
    else
    {
        hand_up_from_right( tree, node, &parent->end, count );
    }
    return true;
}

static void note_refit( kd_tree* tree, kd_node* node, uint32_t leavers )
{
    tree->counters.refit_count += leavers;
    node->population = node->end - node->begin;
    if ( !kd_node_is_leaf( node ) )
    {
        node->population +=
            tree->nodes.items[node->left].population + tree->nodes.items[node->right].population;
    }
}

// Objects that leave wait in spare. Everything below is done.
static uint32_t refit_node( kd_tree* tree, uint32_t index )
{
    kd_node* node = &tree->nodes.items[index];
    uint32_t count = take_leavers( tree, node );
    note_refit( tree, node, count );
    return count;
}

// ---- by several workers

// Children before parents, from the first leaf of a subtree to its topmost node.
static uint32_t next_upwards( const kd_tree* tree, uint32_t index )
{
    uint32_t parent = tree->nodes.items[index].parent;
    CLV_ASSERT( parent != KD_NONE ); // the walk ends at the topmost node of a branch
    return tree->nodes.items[parent].left == index
        ? clv_kd_node_first( tree, tree->nodes.items[parent].right )
        : parent;
}

static void refit_branch( uint32_t number, uint32_t worker, void* context )
{
    (void)worker;
    kd_tree* tree = context;
    kd_branch* branch = &tree->branches.items[number];
    CLV_ASSERT( branch->begin + branch->own_count <= tree->count );
    if ( !branch->is_part )
    {
        // Its own objects alone; what comes up from below is looked at when it is there.
        const kd_node* node = &tree->nodes.items[branch->node];
        branch->leavers = tree->kernels->take_leavers( tree->boxes, node->lower, node->upper,
            tree->order.items + branch->begin, branch->own_count, tree->spare.items + branch->begin );
        return;
    }
    kd_tree part = *tree; // the same arrays, but spare and counters of its own
    part.spare.items = tree->spare.items + branch->begin;
    part.counters = ( kd_counters ){ 0 };
    uint32_t index = clv_kd_node_first( &part, branch->node );
    for ( ; index != branch->node; index = next_upwards( &part, index ) )
    {
        hand_up( &part, index, refit_node( &part, index ) );
    }
    branch->leavers = refit_node( &part, index );
    branch->counters = part.counters;
}

static bool add_branch( kd_tree* tree, uint32_t count, kd_branch branch )
{
    tree->branches.count = count;
    bool ok = base_array_reserve(
        &tree->branches, tree->memory, ( (uint64_t)count / BRANCHES_AT_ONCE + 1 ) * BRANCHES_AT_ONCE );
    if ( ok )
    {
        tree->branches.items[count] = branch;
    }
    return ok;
}

// Parents before children. 0 if there is no memory.
static uint32_t list_branches( kd_tree* tree )
{
    // As of the last update; new ones are in the last node, and a bad guess costs time alone.
    uint32_t most = tree->count / ( task_worker_count( tree->tasks ) * BRANCHES_PER_WORKER );
    uint32_t count = 0;
    uint32_t depth = 0;
    tree->stack.items[depth++] = tree->root;
    while ( depth > 0 )
    {
        uint32_t index = tree->stack.items[--depth];
        const kd_node* node = &tree->nodes.items[index];
        bool is_part = kd_node_is_leaf( node ) || node->population <= most;
        uint32_t begin = is_part ? tree->nodes.items[clv_kd_node_first( tree, index )].begin : node->begin;
        kd_branch branch = { .node = index, .is_part = is_part, .begin = begin };
        branch.own_count = node->end - node->begin;
        if ( !add_branch( tree, count, branch ) )
        {
            return 0;
        }
        count += 1;
        if ( !is_part )
        {
            CLV_ASSERT( depth + 2 <= tree->stack.capacity );
            tree->stack.items[depth++] = node->right;
            tree->stack.items[depth++] = node->left;
        }
    }
    return count;
}

static void add_tree_counters( kd_counters* sum, const kd_counters* more )
{
    sum->refit_count += more->refit_count;
    sum->shift_count += more->shift_count;
}

// A node above the parts, whose own objects that leave wait in `spare`: those that came from below at both
// ends of its block are still to be looked at. The outcome is that of refit_node. Objects that leave are in
// tree->top_spare then; returns how many.
static uint32_t refit_top_node( kd_tree* tree, const kd_branch* branch )
{
    kd_node* node = &tree->nodes.items[branch->node];
    uint32_t own_end = branch->begin + branch->own_count;
    CLV_ASSERT(
        node->begin <= branch->begin && own_end <= node->end && branch->leavers <= branch->own_count );
    uint32_t left_count = branch->begin - node->begin, right_count = node->end - own_end;
    uint32_t* leavers = tree->top_spare.items;
    uint32_t from_left = tree->kernels->take_leavers(
        tree->boxes, node->lower, node->upper, tree->order.items + node->begin, left_count, leavers );
    memcpy( leavers + from_left, tree->spare.items + branch->begin, branch->leavers * sizeof( uint32_t ) );
    uint32_t count = from_left + branch->leavers;
    uint32_t from_right = tree->kernels->take_leavers(
        tree->boxes, node->lower, node->upper, tree->order.items + own_end, right_count, leavers + count );
    count += from_right;
    uint32_t write = node->begin + left_count - from_left;
    clv_kd_move_slots( tree, write, branch->begin, branch->own_count - branch->leavers );
    write += branch->own_count - branch->leavers;
    clv_kd_move_slots( tree, write, own_end, right_count - from_right );
    node->end = write + right_count - from_right;
    node->rest_begin = node->rest_end = node->begin;
    node->touched = true;
    CLV_ASSERT( node->begin <= node->end && count <= tree->top_spare.capacity );
    note_refit( tree, node, count );
    return count;
}

// What waits in the parts, and the nodes above them.
static bool refit_top( kd_tree* tree, uint32_t count )
{
    bool ok = true;
    uint32_t* spare = tree->spare.items;
    for ( uint32_t i = count; i-- > 0 && ok; )
    {
        kd_branch* branch = &tree->branches.items[i];
        uint32_t leavers = branch->leavers;
        if ( branch->is_part )
        {
            add_tree_counters( &tree->counters, &branch->counters );
            tree->spare.items = spare + branch->begin;
        }
        else
        {
            tree->spare.items = spare;
            leavers = refit_top_node( tree, branch );
            tree->spare.items = tree->top_spare.items;
        }
        ok = hand_up( tree, branch->node, leavers );
    }
    tree->spare.items = spare;
    return ok;
}

// How many branches there are for several workers; 0: it is one's own work.
static uint32_t share( kd_tree* tree )
{
    // Where few changed there is little to look at.
    bool are_several = tree->tasks != NULL && task_worker_count( tree->tasks ) > 1 && tree->changed == NULL &&
        tree->count > ALONE && tree->node_count > 1;
    return are_several && base_array_reserve( &tree->top_spare, tree->memory, tree->spare.capacity )
        ? list_branches( tree )
        : 0;
}

bool clv_kd_refit( kd_tree* tree )
{
    uint32_t branch_count = share( tree );
    if ( branch_count > 0 )
    {
        clv_task_run( tree->tasks, refit_branch, branch_count, tree );
        return refit_top( tree, branch_count );
    }
    bool ok = true;
    for ( uint32_t i = clv_kd_tree_list( tree ); i-- > 0 && ok; )
    {
        ok = hand_up( tree, tree->stack.items[i], refit_node( tree, tree->stack.items[i] ) );
    }
    return ok;
}

// ---- Optimisation, figure 7, in the order of the original program: Filter, Collapse, Evaluate, Translate,
// Evaluate, Erase for an inner node; Partition for a leaf. The paper's text has Collapse before Filter, and
// so has KD_FLOW_2019. Top-down, so every object reaches the deepest node that holds it in one pass.

static bool is_well_cut( kd_tree* tree, const kd_node* node )
{
    tree->counters.evaluate_count += 1;
    CLV_ASSERT( node->population ==
        node->end - node->begin + tree->nodes.items[node->left].population +
            tree->nodes.items[node->right].population );
    return clv_kd_evaluate( tree->balance, node->end - node->begin, tree->nodes.items[node->left].population,
        tree->nodes.items[node->right].population );
}

static bool is_to_collapse( const kd_tree* tree, const kd_node* node )
{
    uint32_t left = tree->nodes.items[node->left].population;
    uint32_t right = tree->nodes.items[node->right].population;
    bool is_bare = tree->flow == KD_FLOW_OURS ? left == 0 || right == 0
                                              : tree->flow == KD_FLOW_2015 && left == 0 && right == 0;
    return node->population < tree->leaf_limit || is_bare;
}

// Returns the node to go on with below: itself, or the one that took its place; then *again is set.
static uint32_t improve_inner( kd_tree* tree, uint32_t index, bool* again )
{
    *again = false;
    bool collapses_first = tree->flow == KD_FLOW_2019;
    if ( !collapses_first )
    {
        clv_kd_filter( tree, index );
    }
    if ( is_to_collapse( tree, &tree->nodes.items[index] ) )
    {
        clv_kd_collapse( tree, index );
        *again = true; // as a leaf it may need a better plane
        return index;
    }
    if ( collapses_first )
    {
        clv_kd_filter( tree, index );
    }
    if ( is_well_cut( tree, &tree->nodes.items[index] ) )
    {
        return index;
    }
    clv_kd_translate( tree, index );
    if ( is_well_cut( tree, &tree->nodes.items[index] ) )
    {
        return index;
    }
    *again = true;
    return clv_kd_erase( tree, index );
}

static bool improve_leaf( kd_tree* tree, uint32_t index )
{
    kd_node* leaf = &tree->nodes.items[index];
    CLV_ASSERT( leaf->offset == 0 && leaf->begin <= leaf->end );
    leaf->population = leaf->end - leaf->begin;
    kd_node_tidy_rest( leaf );
    if ( leaf->population <= tree->leaf_limit )
    {
        leaf->refused = false;
        leaf->touched = false;
        return true;
    }
    if ( leaf->refused && !leaf->touched )
    {
        return true; // nothing changed, so the answer would be the same
    }
    leaf->touched = false;
    return clv_kd_partition( tree, index );
}

bool clv_kd_optimize( kd_tree* tree )
{
    uint32_t depth = 0;
    tree->stack.items[depth++] = tree->root;
    while ( depth > 0 )
    {
        uint32_t index = tree->stack.items[--depth];
        clv_kd_node_settle( tree, index );
        bool again = false;
        if ( kd_node_is_leaf( &tree->nodes.items[index] ) )
        {
            if ( !improve_leaf( tree, index ) )
            {
                return false;
            }
            // Fresh from Partition, which has filtered and evaluated already.
        }
        else
        {
            index = improve_inner( tree, index, &again );
        }
        const kd_node* node = &tree->nodes.items[index];
        CLV_ASSERT( depth + 2 <= tree->stack.capacity );
        if ( again )
        {
            tree->stack.items[depth++] = index;
        }
        else if ( !kd_node_is_leaf( node ) )
        {
            tree->stack.items[depth++] = node->right;
            tree->stack.items[depth++] = node->left;
        }
    }
    return true;
}
