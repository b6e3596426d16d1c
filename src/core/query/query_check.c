// SPDX-License-Identifier: MIT
// Holds a tree to what query_tree.h says of it. For tests and debug builds.
#include "query/query_tree.h"

#include <string.h>

// Depth of every node is known from its parent, which comes before it: found again from the root for each level, since a checker
// takes no memory.
static const char* check_lane( const query_tree* tree, const query_boxes* from, uint32_t index, uint32_t lane,
    uint32_t* object_count, uint32_t* child_count )
{
    const query_node* node = &tree->nodes[index];
    clv_aabb box = query_lane_box( node, lane );
    uint32_t child = node->child[lane];
    if ( child == QUERY_NOBODY )
    {
        return box.lower.x > box.upper.x ? NULL : "an empty lane has a box";
    }
    if ( ( child & QUERY_OBJECT ) != 0 )
    {
        uint32_t slot = child & ~QUERY_OBJECT;
        *object_count += 1;
        if ( !query_is_there( from, slot ) )
        {
            return "a lane holds an object that is not there";
        }
        if ( node->least[lane] != slot )
        {
            return "an object's lowest slot is not its own";
        }
        return memcmp( &box, &from->boxes[slot], sizeof( box ) ) == 0 ? NULL
                                                                      : "an object's box is not its own";
    }
    *child_count += 1;
    if ( child <= index || child >= tree->node_count )
    {
        return "a node comes before its parent, or is none";
    }
    uint32_t least = UINT32_MAX;
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        clv_aabb inner = query_lane_box( &tree->nodes[child], i );
        bool is_empty = tree->nodes[child].child[i] == QUERY_NOBODY;
        least = tree->nodes[child].least[i] < least ? tree->nodes[child].least[i] : least;
        bool is_inside = box.lower.x <= inner.lower.x && box.lower.y <= inner.lower.y &&
            box.lower.z <= inner.lower.z && inner.upper.x <= box.upper.x && inner.upper.y <= box.upper.y &&
            inner.upper.z <= box.upper.z;
        // A subtree whose objects have all gone is inside out, as its lanes are.
        if ( !is_empty && !is_inside && inner.lower.x <= inner.upper.x )
        {
            return "a box sticks out of the one above it";
        }
    }
    return least == node->least[lane] ? NULL : "a lowest slot is not that of the lanes below";
}

const char* clv_query_tree_check( const query_tree* tree, const query_boxes* from )
{
    uint32_t object_count = 0, child_count = 0, live_count = 0;
    for ( uint32_t i = 0; i < tree->node_count; ++i )
    {
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
        {
            const char* wrong = check_lane( tree, from, i, lane, &object_count, &child_count );
            if ( wrong != NULL )
            {
                return wrong;
            }
        }
    }
    for ( uint32_t slot = 0; slot < from->slot_count; ++slot )
    {
        live_count += from->generations[slot] & 1;
    }
    if ( object_count != live_count )
    {
        return "objects are missing, or there twice";
    }
    if ( tree->node_count > 0 && child_count != tree->node_count - 1 )
    {
        return "a node has no parent, or two";
    }
    uint32_t next = 0;
    for ( uint32_t part = 0; part < tree->part_count; ++part )
    {
        if ( tree->parts[part].first < next || tree->parts[part].end <= tree->parts[part].first )
        {
            return "parts overlap";
        }
        next = tree->parts[part].end;
    }
    return next <= tree->node_count && tree->depth <= QUERY_DEPTH ? NULL : "a part or a path is too long";
}
