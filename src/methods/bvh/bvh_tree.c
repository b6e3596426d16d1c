// SPDX-License-Identifier: MIT
#include "bvh/bvh_tree.h"

#include "base/assertion.h"
#include "base/bits.h"

enum
{
    CURVE_CELLS = 1024 // along an axis: ten bits of each make a key
};

void clv_bvh_tree_init( bvh_tree* tree )
{
    *tree = ( bvh_tree ){ .root = BVH_NONE, .first_free = BVH_NONE };
}

void clv_bvh_tree_free( bvh_tree* tree, base_memory* memory )
{
    base_array_free( &tree->keys, memory );
    base_array_free( &tree->nodes, memory );
    base_array_free( &tree->leaves, memory );
    clv_bvh_tree_init( tree );
}

bool clv_bvh_tree_reserve( bvh_tree* tree, base_memory* memory, uint32_t leaf_count, uint32_t slot_count )
{
    if ( !base_array_reserve( &tree->nodes, memory, (uint64_t)leaf_count * 2 ) ||
        !base_array_reserve( &tree->leaves, memory, slot_count ) )
    {
        return false;
    }
    while ( tree->leaves.count < slot_count )
    {
        tree->leaves.items[tree->leaves.count++] = BVH_NONE;
    }
    return true;
}

void clv_bvh_tree_clear( bvh_tree* tree )
{
    for ( uint64_t slot = 0; slot < tree->leaves.count; ++slot )
    {
        tree->leaves.items[slot] = BVH_NONE;
    }
    tree->nodes.count = 0;
    tree->first_free = BVH_NONE;
    tree->root = BVH_NONE;
    tree->leaf_count = 0;
}

static uint32_t take_node( bvh_tree* tree )
{
    uint32_t index = tree->first_free;
    if ( index != BVH_NONE )
    {
        tree->first_free = tree->nodes.items[index].parent;
        return index;
    }
    CLV_ASSERT( tree->nodes.count < tree->nodes.capacity );
    return (uint32_t)tree->nodes.count++;
}

static void give_node( bvh_tree* tree, uint32_t index )
{
    tree->nodes.items[index].parent = tree->first_free;
    tree->first_free = index;
}

// ---- one by one

// Half the surface, in double: the square of a float's range fits.
static double area( clv_aabb box )
{
    double x = (double)box.upper.x - (double)box.lower.x;
    double y = (double)box.upper.y - (double)box.lower.y;
    double z = (double)box.upper.z - (double)box.lower.z;
    return x * y + y * z + z * x;
}

// What inserting the box below the node costs, beyond the growth of its ancestors.
static double descent_cost( const bvh_node* node, clv_aabb box )
{
    double grown = area( bvh_union( node->box, box ) );
    return bvh_is_leaf( node ) ? grown : grown - area( node->box );
}

// Greedy descent: stop where a new parent costs less than the cheaper child.
static uint32_t choose_sibling( const bvh_tree* tree, clv_aabb box )
{
    uint32_t index = tree->root;
    while ( !bvh_is_leaf( &tree->nodes.items[index] ) )
    {
        const bvh_node* node = &tree->nodes.items[index];
        double grown = area( bvh_union( node->box, box ) );
        double inherited = grown - area( node->box );
        double first = descent_cost( &tree->nodes.items[node->child[0]], box ) + inherited;
        double second = descent_cost( &tree->nodes.items[node->child[1]], box ) + inherited;
        if ( grown < first && grown < second )
        {
            break;
        }
        index = second < first ? node->child[1] : node->child[0];
    }
    return index;
}

static void refit_upwards( bvh_tree* tree, uint32_t index )
{
    for ( ; index != BVH_NONE; index = tree->nodes.items[index].parent )
    {
        bvh_node* node = &tree->nodes.items[index];
        node->box = bvh_union( tree->nodes.items[node->child[0]].box, tree->nodes.items[node->child[1]].box );
    }
}

// `fresh` takes the place of `old` below `parent`.
static void replace_child( bvh_tree* tree, uint32_t parent, uint32_t old, uint32_t fresh )
{
    tree->nodes.items[fresh].parent = parent;
    if ( parent == BVH_NONE )
    {
        tree->root = fresh;
        return;
    }
    bvh_node* node = &tree->nodes.items[parent];
    node->child[node->child[1] == old ? 1 : 0] = fresh;
}

void clv_bvh_tree_insert( bvh_tree* tree, uint32_t slot, clv_aabb box )
{
    CLV_ASSERT( tree->leaves.items[slot] == BVH_NONE );
    uint32_t leaf = take_node( tree );
    tree->nodes.items[leaf] = ( bvh_node ){ box, BVH_NONE, { slot, BVH_NONE } };
    tree->leaves.items[slot] = leaf;
    tree->leaf_count += 1;
    if ( tree->root == BVH_NONE )
    {
        tree->root = leaf;
        return;
    }
    uint32_t sibling = choose_sibling( tree, box );
    uint32_t parent = take_node( tree );
    uint32_t above = tree->nodes.items[sibling].parent;
    tree->nodes.items[parent] = ( bvh_node ){ box, above, { sibling, leaf } };
    replace_child( tree, above, sibling, parent );
    tree->nodes.items[sibling].parent = parent;
    tree->nodes.items[leaf].parent = parent;
    refit_upwards( tree, parent );
}

void clv_bvh_tree_remove( bvh_tree* tree, uint32_t slot )
{
    uint32_t leaf = tree->leaves.items[slot];
    CLV_ASSERT( leaf != BVH_NONE );
    tree->leaves.items[slot] = BVH_NONE;
    tree->leaf_count -= 1;
    uint32_t parent = tree->nodes.items[leaf].parent;
    give_node( tree, leaf );
    if ( parent == BVH_NONE )
    {
        tree->root = BVH_NONE;
        return;
    }
    bvh_node* node = &tree->nodes.items[parent];
    uint32_t sibling = node->child[node->child[0] == leaf ? 1 : 0];
    uint32_t above = node->parent;
    replace_child( tree, above, parent, sibling );
    give_node( tree, parent );
    refit_upwards( tree, above );
}

// ---- anew

// The ten bits of a coordinate with two zeros between each.
static uint32_t spread_bits( uint32_t bits )
{
    bits = ( bits | bits << 16 ) & 0x030000FFu;
    bits = ( bits | bits << 8 ) & 0x0300F00Fu;
    bits = ( bits | bits << 4 ) & 0x030C30C3u;
    return ( bits | bits << 2 ) & 0x09249249u;
}

static uint32_t curve_key( const grid_lattice* lattice, const clv_aabb* box )
{
    uint32_t key = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float centre = 0.5f * ( &box->lower.x )[axis] + 0.5f * ( &box->upper.x )[axis];
        key |= spread_bits( grid_lattice_at( lattice, axis, centre ) ) << axis;
    }
    return key;
}

// Where the highest bit in which the keys differ changes; the middle if all are equal.
static uint32_t split_of( const base_keyed* keys, uint32_t begin, uint32_t end )
{
    uint32_t differing = keys[begin].key ^ keys[end - 1].key;
    if ( differing == 0 )
    {
        return begin + ( end - begin ) / 2;
    }
    uint32_t bit = 1u << ( base_bit_width( differing ) - 1 );
    uint32_t low = begin; // a key without the bit
    uint32_t high = end - 1;
    while ( high - low > 1 )
    {
        uint32_t middle = low + ( high - low ) / 2;
        if ( ( keys[middle].key & bit ) != 0 )
        {
            high = middle;
        }
        else
        {
            low = middle;
        }
    }
    return high;
}

// A tree over keys[begin .. end), nodes in depth-first order. At most 30 + 32 deep: every level fixes a bit
// of the key, or halves a run of equal keys.
static uint32_t build_range(
    bvh_tree* tree, const clv_aabb* boxes, const base_keyed* keys, uint32_t begin, uint32_t end )
{
    uint32_t index = (uint32_t)tree->nodes.count++;
    bvh_node* node = &tree->nodes.items[index];
    if ( end - begin == 1 )
    {
        uint32_t slot = keys[begin].value;
        *node = ( bvh_node ){ boxes[slot], BVH_NONE, { slot, BVH_NONE } };
        tree->leaves.items[slot] = index;
        return index;
    }
    uint32_t split = split_of( keys, begin, end );
    node->parent = BVH_NONE;
    for ( int i = 0; i < 2; ++i )
    {
        uint32_t child = i == 0 ? build_range( tree, boxes, keys, begin, split )
                                : build_range( tree, boxes, keys, split, end );
        node->child[i] = child;
        tree->nodes.items[child].parent = index;
    }
    node->box = bvh_union( tree->nodes.items[node->child[0]].box, tree->nodes.items[node->child[1]].box );
    return index;
}

bool clv_bvh_tree_build( bvh_tree* tree, base_memory* memory, const clv_method_input* input )
{
    uint32_t count = input->live_count;
    if ( !base_array_reserve( &tree->keys, memory, (uint64_t)count * 2 ) )
    {
        return false;
    }
    clv_bvh_tree_clear( tree );
    CLV_ASSERT( (uint64_t)count * 2 <= tree->nodes.capacity );
    grid_lattice lattice = clv_grid_lattice_even( input, CURVE_CELLS );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        tree->keys.items[i] = ( base_keyed ){ curve_key( &lattice, &input->boxes[slot] ), slot };
    }
    const base_keyed* sorted = clv_base_sort_keyed( tree->keys.items, tree->keys.items + count, count );
    tree->leaf_count = count;
    tree->root = count > 0 ? build_range( tree, input->boxes, sorted, 0, count ) : BVH_NONE;
    return true;
}

// From a leaf to the root: each node is a child of its parent and inside it.
static const char* check_path( const bvh_tree* tree, uint32_t index )
{
    for ( uint32_t steps = 0; tree->nodes.items[index].parent != BVH_NONE; ++steps )
    {
        const bvh_node* above = &tree->nodes.items[tree->nodes.items[index].parent];
        if ( steps > tree->nodes.count )
        {
            return "a path to the root goes in circles";
        }
        if ( above->child[0] != index && above->child[1] != index )
        {
            return "a parent does not know its child";
        }
        if ( !bvh_contains( above->box, tree->nodes.items[index].box ) )
        {
            return "a child sticks out of its parent";
        }
        index = tree->nodes.items[index].parent;
    }
    return index == tree->root ? NULL : "a path upwards does not end at the root";
}

const char* clv_bvh_tree_check( const bvh_tree* tree )
{
    uint32_t found = 0;
    const char* broken = NULL;
    for ( uint32_t slot = 0; slot < tree->leaves.count && broken == NULL; ++slot )
    {
        uint32_t index = tree->leaves.items[slot];
        if ( index == BVH_NONE )
        {
            continue;
        }
        found += 1;
        const bvh_node* leaf = &tree->nodes.items[index];
        broken = bvh_is_leaf( leaf ) && leaf->child[0] == slot ? check_path( tree, index )
                                                               : "a slot's leaf belongs to another";
    }
    if ( broken == NULL && found != tree->leaf_count )
    {
        broken = "the tree has more or fewer leaves than slots have";
    }
    return broken;
}
