// SPDX-License-Identifier: MIT
// The tree as JSON, for drawing and for looking at.
#include "kd/kd_tree.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>

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

static void print_node( dump_text* out, const kd_tree* tree, uint32_t index, uint32_t depth )
{
    const kd_node* node = &tree->nodes.items[index];
    print( out, "    { \"node\": %u, \"depth\": %u, ", index, depth );
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

// Preorder by the links alone. The next node after `index`, and how much deeper it lies.
static uint32_t next_in_preorder( const kd_tree* tree, uint32_t index, uint32_t* depth )
{
    const kd_node* node = &tree->nodes.items[index];
    if ( !kd_node_is_leaf( node ) )
    {
        *depth += 1;
        return node->left;
    }
    while ( tree->nodes.items[index].parent != KD_NONE &&
        tree->nodes.items[tree->nodes.items[index].parent].right == index )
    {
        index = tree->nodes.items[index].parent;
        *depth -= 1;
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
    uint32_t depth = 0;
    for ( uint32_t index = tree->root; index != KD_NONE; )
    {
        print_node( &out, tree, index, depth );
        index = next_in_preorder( tree, index, &depth );
        print( &out, "%s\n", index != KD_NONE ? "," : "" );
    }
    print( &out, "  ] }\n" );
    return out.length;
}
