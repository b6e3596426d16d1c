// SPDX-License-Identifier: MIT
// Every invariant of a tree after an update, in the order in which one broken one breaks the next.
#include "kd/kd_engine.h"
#include "kd/kd_rest.h"
#include "kd/kd_tree.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct check_run
{
    kd_tree* tree;
    char* text;
    size_t text_size;
} check_run;

static bool report_fault( const check_run* run, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( run->text, run->text_size, format, arguments );
    va_end( arguments );
    return false;
}

static bool check_links( const check_run* run, uint32_t index )
{
    const kd_tree* tree = run->tree;
    const kd_node* node = &tree->nodes.items[index];
    if ( ( node->left == KD_NONE ) != ( node->right == KD_NONE ) )
    {
        return report_fault( run, "node %u has one child; the tree is to be strictly binary", index );
    }
    if ( index == tree->root && node->parent != KD_NONE )
    {
        return report_fault( run, "root %u has a parent, %u", index, node->parent );
    }
    if ( kd_node_is_leaf( node ) )
    {
        return true;
    }
    if ( tree->nodes.items[node->left].parent != index || tree->nodes.items[node->right].parent != index )
    {
        return report_fault( run, "a child of node %u names another parent", index );
    }
    return true;
}

// Nodes by parent links, so that a broken tree cannot lead in circles for ever.
static bool check_shape( const check_run* run )
{
    const kd_tree* tree = run->tree;
    uint32_t seen = 0;
    uint32_t end = 0;
    tree->stack.items[end++] = tree->root;
    while ( seen < end )
    {
        uint32_t index = tree->stack.items[seen++];
        if ( !check_links( run, index ) )
        {
            return false;
        }
        const kd_node* node = &tree->nodes.items[index];
        if ( kd_node_is_leaf( node ) )
        {
            continue;
        }
        if ( end + 2 > tree->node_count )
        {
            return report_fault( run, "more than the %u nodes counted can be reached", tree->node_count );
        }
        tree->stack.items[end++] = node->left;
        tree->stack.items[end++] = node->right;
    }
    if ( end != tree->node_count )
    {
        return report_fault( run, "%u nodes can be reached, %u are counted", end, tree->node_count );
    }
    uint32_t free_count = 0;
    for ( uint32_t at = tree->node_free; at != KD_NONE && free_count <= tree->node_end;
          at = tree->nodes.items[at].left )
    {
        free_count += 1;
    }
    if ( free_count + tree->node_count != tree->node_end )
    {
        return report_fault( run, "%u free nodes and %u used ones are not the %u there are", free_count,
            tree->node_count, tree->node_end );
    }
    return true;
}

static bool check_layout( const check_run* run )
{
    const kd_tree* tree = run->tree;
    uint32_t at = 0;
    for ( uint32_t index = clv_kd_node_first( tree, tree->root ); index != KD_NONE;
          index = clv_kd_node_next( tree, index ) )
    {
        const kd_node* node = &tree->nodes.items[index];
        if ( node->offset != 0 || node->lifted )
        {
            return report_fault( run, "node %u still has a delayed offset of %d%s", index, node->offset,
                node->lifted ? " and is to be emptied" : "" );
        }
        if ( node->begin != at || node->end < node->begin )
        {
            return report_fault( run, "node %u has objects [%u, %u) where in-order layout has it begin at %u",
                index, node->begin, node->end, at );
        }
        if ( node->rest_begin > node->rest_end ||
            ( node->rest_begin < node->rest_end &&
                ( node->rest_begin < node->begin || node->rest_end > node->end ) ) )
        {
            return report_fault( run, "node %u has objects [%u, %u) at rest, outside its block [%u, %u)",
                index, node->rest_begin, node->rest_end, node->begin, node->end );
        }
        at = node->end;
    }
    if ( at != tree->count )
    {
        return report_fault( run, "the blocks end at %u, the array at %u", at, tree->count );
    }
    return true;
}

static bool check_region( const check_run* run, uint32_t index )
{
    const kd_tree* tree = run->tree;
    const kd_node* node = &tree->nodes.items[index];
    if ( node->parent == KD_NONE )
    {
        return true;
    }
    const kd_node* parent = &tree->nodes.items[node->parent];
    bool is_left = parent->left == index;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        bool cut = axis == parent->axis;
        float lower = cut && !is_left ? parent->plane : parent->lower[axis];
        float upper = cut && is_left ? parent->plane : parent->upper[axis];
        if ( node->lower[axis] != lower || node->upper[axis] != upper )
        {
            return report_fault( run,
                "node %u has [%g, %g) on axis %u where its parent's plane leaves it [%g, %g)", index,
                (double)node->lower[axis], (double)node->upper[axis], axis, (double)lower, (double)upper );
        }
    }
    return true;
}

static bool check_objects( const check_run* run, uint32_t index )
{
    const kd_tree* tree = run->tree;
    const kd_node* node = &tree->nodes.items[index];
    for ( uint32_t i = node->begin; i < node->end; ++i )
    {
        uint32_t slot = tree->order.items[i];
        const clv_aabb* box = &tree->boxes[slot];
        if ( !kd_node_holds( node, box ) )
        {
            return report_fault( run, "object %u is in node %u, whose region does not hold it", slot, index );
        }
        if ( !kd_node_is_leaf( node ) && kd_side( box, node->axis, node->plane ) != 0 )
        {
            return report_fault( run, "R3: object %u is in node %u though its %s child holds it", slot, index,
                kd_side( box, node->axis, node->plane ) < 0 ? "left" : "right" );
        }
        if ( i >= node->rest_begin && i < node->rest_end && !clv_kd_query_finds( tree, index, i ) )
        {
            return report_fault( run, "object %u at rest in node %u is not found in its cell", slot, index );
        }
    }
    return true;
}

static bool check_rules( const check_run* run, uint32_t index )
{
    const kd_tree* tree = run->tree;
    const kd_node* node = &tree->nodes.items[index];
    uint32_t own = node->end - node->begin;
    if ( kd_node_is_leaf( node ) )
    {
        if ( node->population != own )
        {
            return report_fault(
                run, "leaf %u has a population of %u and %u objects", index, node->population, own );
        }
        if ( own > tree->leaf_limit && !node->refused )
        {
            return report_fault(
                run, "R1: leaf %u has %u objects, %u are allowed", index, own, tree->leaf_limit );
        }
        return true;
    }
    uint32_t left = tree->nodes.items[node->left].population;
    uint32_t right = tree->nodes.items[node->right].population;
    if ( node->population != own + left + right )
    {
        return report_fault( run, "node %u has a population of %u, not of %u + %u + %u", index,
            node->population, left, own, right );
    }
    if ( node->population < tree->leaf_limit )
    {
        return report_fault( run, "R2: node %u has a population of %u, %u are needed", index,
            node->population, tree->leaf_limit );
    }
    // As published a fresh plane is looked at in the next update only.
    if ( tree->flow == KD_FLOW_OURS && !clv_kd_evaluate( tree->balance, own, left, right ) )
    {
        return report_fault(
            run, "node %u is badly cut: %u left, %u across, %u right", index, left, own, right );
    }
    return true;
}

static bool check_outside( const check_run* run )
{
    const kd_tree* tree = run->tree;
    for ( uint32_t i = 0; i < tree->outside_count; ++i )
    {
        if ( kd_node_holds( &tree->nodes.items[tree->root], &tree->boxes[tree->outside.items[i]] ) )
        {
            return report_fault(
                run, "object %u is outside though the root holds it", tree->outside.items[i] );
        }
    }
    return true;
}

bool clv_kd_check( kd_tree* tree, char* text, size_t text_size )
{
    check_run run = { tree, text, text_size };
    if ( tree->root == KD_NONE )
    {
        return tree->count == 0 || report_fault( &run, "%u objects and no tree", tree->count );
    }
    if ( !check_shape( &run ) || !check_layout( &run ) || ( tree->boxes != NULL && !check_outside( &run ) ) )
    {
        return false;
    }
    for ( uint32_t i = clv_kd_tree_list( tree ); i-- > 0; )
    {
        uint32_t index = tree->stack.items[i];
        if ( !check_region( &run, index ) || ( tree->boxes != NULL && !check_objects( &run, index ) ) ||
            !check_rules( &run, index ) )
        {
            return false;
        }
    }
    return true;
}

// ---- what is remembered of objects at rest

static bool is_kept_member( const kd_rest* rest, uint32_t slot )
{
    return slot < rest->slot_end && base_bits_has( rest->known.items, slot );
}

// Pairs of two objects that are still members. Where neither moves, their grown boxes are those that were
// found to overlap.
static bool check_kept( const check_run* run, const kd_rest* rest, const clv_pair* pairs, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        clv_pair pair = pairs[i];
        if ( !is_kept_member( rest, pair.a ) || !is_kept_member( rest, pair.b ) || pair.a == pair.b )
        {
            return report_fault( run, "a kept pair of %u and %u is not one of two members", pair.a, pair.b );
        }
        bool is_still = !rest->was_cut_short && !base_bits_has_either( rest->moving.items, pair.a, pair.b );
        if ( is_still && !clv_aabb_overlap( rest->grown.items[pair.a], rest->grown.items[pair.b] ) )
        {
            return report_fault( run, "a kept pair of %u and %u rests apart", pair.a, pair.b );
        }
    }
    return true;
}

static bool check_moving( const check_run* run, const kd_rest* rest )
{
    uint32_t count = 0;
    for ( uint64_t word = 0; word < base_bits_words( rest->slot_end ); ++word )
    {
        uint64_t moving = rest->moving.items[word];
        count += base_bit_count( moving );
        if ( ( moving & ~rest->known.items[word] ) != 0 )
        {
            return report_fault(
                run, "an object from %u on moves and is no member", (uint32_t)( word * 64 ) );
        }
    }
    return count == rest->moving_count ||
        report_fault( run, "%u objects move, %u are counted", count, rest->moving_count );
}

bool clv_kd_rest_check( const kd_rest* rest, char* text, size_t text_size )
{
    check_run run = { NULL, text, text_size };
    return ( rest->was_cut_short || check_moving( &run, rest ) ) &&
        check_kept( &run, rest, rest->sure.items, rest->sure_count ) &&
        check_kept( &run, rest, rest->marginal.items, rest->marginal.count ) &&
        check_kept( &run, rest, rest->fresh.items, rest->fresh.count );
}

// ---- The tree as JSON, for drawing and for looking at.

typedef struct dump_text
{
    char* text;
    size_t size;
    size_t length;
} dump_text;

static void print( dump_text* out, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    size_t room = out->size > out->length ? out->size - out->length : 0;
    int count = vsnprintf( room > 0 ? out->text + out->length : NULL, room, format, arguments );
    va_end( arguments );
    out->length += count > 0 ? (size_t)count : 0;
}

static void print_vector( dump_text* out, const char* name, const float values[3] )
{
    print( out, "\"%s\": [%.9g, %.9g, %.9g]", name, (double)values[0], (double)values[1], (double)values[2] );
}

static void print_node( dump_text* out, const kd_tree* tree, uint32_t index )
{
    const kd_node* node = &tree->nodes.items[index];
    print( out, "    { \"node\": %u, \"depth\": %u, ", index, kd_node_depth( tree, index ) );
    print_vector( out, "lower", node->lower );
    print( out, ", " );
    print_vector( out, "upper", node->upper );
    if ( !kd_node_is_leaf( node ) )
    {
        print( out, ", \"axis\": %u, \"plane\": %.9g, \"left\": %u, \"right\": %u", node->axis,
            (double)node->plane, node->left, node->right );
    }
    print( out, ", \"population\": %u, \"objects\": [", node->population );
    for ( uint32_t i = node->begin; i < node->end; ++i )
    {
        print( out, "%s%u", i > node->begin ? ", " : "", tree->order.items[i] );
    }
    print( out, "] }" );
}

// Preorder by the links alone.
static uint32_t next_in_preorder( const kd_tree* tree, uint32_t index )
{
    const kd_node* node = &tree->nodes.items[index];
    if ( !kd_node_is_leaf( node ) )
    {
        return node->left;
    }
    while ( tree->nodes.items[index].parent != KD_NONE &&
        tree->nodes.items[tree->nodes.items[index].parent].right == index )
    {
        index = tree->nodes.items[index].parent;
    }
    uint32_t parent = tree->nodes.items[index].parent;
    return parent == KD_NONE ? KD_NONE : tree->nodes.items[parent].right;
}

size_t clv_kd_dump( const kd_tree* tree, char* text, size_t text_size )
{
    dump_text out = { text, text_size, 0 };
    print( &out, "{ \"objects\": %u, \"leaf_limit\": %u,\n  \"outside\": [", tree->count, tree->leaf_limit );
    for ( uint32_t i = 0; i < tree->outside_count; ++i )
    {
        print( &out, "%s%u", i > 0 ? ", " : "", tree->outside.items[i] );
    }
    print( &out, "],\n  \"nodes\": [\n" );
    for ( uint32_t index = tree->root; index != KD_NONE; )
    {
        print_node( &out, tree, index );
        index = next_in_preorder( tree, index );
        print( &out, "%s\n", index != KD_NONE ? "," : "" );
    }
    print( &out, "  ] }\n" );
    return out.length;
}
