// SPDX-License-Identifier: MIT
// Holds a tree to what query_tree.h says of it, and its hulls in double likewise. Every lane is looked at,
// and the nodes are walked depth first, with none of the code that made them. The first sentence that is not
// true is returned. For tests and debug builds.
#include "query/query_shape.h"
#include "query/query_tree.h"

#include <string.h>

// A node that waits, and how many are above it, itself included.
typedef struct tree_stop
{
    uint32_t node, depth;
} tree_stop;

typedef struct tree_check
{
    const query_tree* tree;
    const query_boxes* from;
    const query_tree64* tree64; // NULL: boxes are those of the floats
    const clv_aabb64* boxes64;
    uint32_t object_count, object_sum; // of the lanes seen so far
    uint32_t made_count;               // nodes seen so far that were made since the build
    uint32_t part;                     // the part that the walk is in, or the next one
    uint32_t part_depth;               // of its first node; 0: the walk is in none
    uint32_t top;
    tree_stop waiting[QUERY_STACK];
} tree_check;

// Sums of these tell whether one object is there twice in the place of another.
static uint32_t slot_hash( uint32_t slot )
{
    uint32_t mixed = ( slot + 1 ) * 0x9E3779B9u;
    return ( mixed ^ mixed >> 15 ) * 0x85EBCA6Bu;
}

// ---- lanes, of floats or of doubles

static clv_aabb64 lane_at( const tree_check* c, uint32_t index, uint32_t lane )
{
    if ( c->tree64 != NULL )
    {
        return query_lane_box64( &c->tree64->nodes[index], lane );
    }
    clv_aabb box = query_lane_box( &c->tree->nodes[index], lane );
    return query_widen( &box );
}

static const char* check_empty_lane( const tree_check* c, uint32_t index, uint32_t lane )
{
    clv_aabb64 box = lane_at( c, index, lane );
    bool is_empty = c->tree->nodes[index].least[lane] == QUERY_EMPTY && box.lower.x > box.upper.x &&
        box.lower.y > box.upper.y && box.lower.z > box.upper.z;
    return is_empty         ? NULL
        : c->tree64 != NULL ? "an empty lane has a box in double"
                            : "an empty lane has a box or a lowest slot";
}

static const char* check_object_lane( tree_check* c, uint32_t index, uint32_t lane )
{
    const query_node* node = &c->tree->nodes[index];
    uint32_t slot = node->child[lane] & ~QUERY_OBJECT;
    if ( !query_is_there( c->from, slot ) )
    {
        return "a lane holds an object that is not there";
    }
    c->object_count += 1;
    c->object_sum += slot_hash( slot );
    if ( node->least[lane] != slot )
    {
        return "an object's lowest slot is not its own";
    }
    clv_aabb64 box = lane_at( c, index, lane );
    clv_aabb64 own = c->tree64 != NULL ? c->boxes64[slot] : query_widen( &c->from->boxes[slot] );
    return memcmp( &box, &own, sizeof( box ) ) == 0 ? NULL
        : c->tree64 != NULL                         ? "an object's box in double is not its own"
                                                    : "an object's box is not its own";
}

// A subtree whose objects have all gone is inside out, as its lanes are.
static const char* check_inner_lane( const tree_check* c, uint32_t index, uint32_t lane )
{
    const query_node* node = &c->tree->nodes[index];
    uint32_t child = node->child[lane];
    if ( child <= index || child >= c->tree->node_count )
    {
        return "a node comes before its parent, or is not there";
    }
    clv_aabb64 box = lane_at( c, index, lane ), sum = lane_at( c, child, 0 );
    bool is_hull = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double *lower = &( &sum.lower.x )[axis], *upper = &( &sum.upper.x )[axis];
        for ( uint32_t i = 1; i < QUERY_LANES; ++i )
        {
            clv_aabb64 below = lane_at( c, child, i );
            *lower = ( &below.lower.x )[axis] < *lower ? ( &below.lower.x )[axis] : *lower;
            *upper = ( &below.upper.x )[axis] > *upper ? ( &below.upper.x )[axis] : *upper;
        }
        is_hull = is_hull && ( &box.lower.x )[axis] == *lower && ( &box.upper.x )[axis] == *upper;
    }
    if ( !is_hull )
    {
        return c->tree64 != NULL ? "a box in double is not the hull of the lanes below"
                                 : "a box is not the hull of the lanes below";
    }
    return query_node_least( &c->tree->nodes[child] ) == node->least[lane]
        ? NULL
        : "a lowest slot is not that of the lanes below";
}

static const char* check_lane( tree_check* c, uint32_t index, uint32_t lane )
{
    uint32_t child = c->tree->nodes[index].child[lane];
    return child == QUERY_EMPTY         ? check_empty_lane( c, index, lane )
        : ( child & QUERY_OBJECT ) != 0 ? check_object_lane( c, index, lane )
                                        : check_inner_lane( c, index, lane );
}

// ---- nodes and parts

// The walk comes to a node, or to the end with depth 0: parts that begin or end there.
static const char* check_parts_at( tree_check* c, uint32_t index, uint32_t depth )
{
    const query_tree* tree = c->tree;
    if ( c->part_depth >= depth && c->part_depth > 0 )
    {
        if ( tree->parts[c->part].end != index )
        {
            return "a part is not one node with all below it";
        }
        c->part += 1;
        c->part_depth = 0;
    }
    if ( c->part_depth == 0 && c->part < tree->part_count && tree->parts[c->part].first == index )
    {
        c->part_depth = depth;
    }
    return NULL;
}

// What a change of a few goes by: the way up from a lane.
static const char* check_links( const tree_check* c, uint32_t index )
{
    const query_links* links = &c->tree->links;
    const char* wrong = NULL;
    for ( uint32_t lane = 0; lane < QUERY_LANES && wrong == NULL && links->are_made; ++lane )
    {
        uint32_t child = c->tree->nodes[index].child[lane], slot = child & ~QUERY_OBJECT;
        if ( ( child & QUERY_OBJECT ) == 0 )
        {
            wrong =
                links->parents[child] == index ? NULL : "a node is linked to another than the one above it";
        }
        else if ( child != QUERY_EMPTY )
        {
            bool is_known = slot < links->place_count && links->places[slot] == index;
            wrong = is_known ? NULL : "an object is linked to another node than that of its lane";
        }
    }
    return wrong;
}

static const char* check_node( tree_check* c, tree_stop at )
{
    bool is_built = at.node < c->tree->built_nodes;
    const char* wrong = is_built ? check_parts_at( c, at.node, at.depth ) : NULL;
    c->made_count += !is_built;
    for ( uint32_t lane = 0; lane < QUERY_LANES && wrong == NULL; ++lane )
    {
        wrong = check_lane( c, at.node, lane );
    }
    wrong = wrong == NULL ? check_links( c, at.node ) : wrong;
    for ( uint32_t lane = QUERY_LANES; lane > 0 && wrong == NULL; --lane ) // the first lane's is next
    {
        uint32_t child = c->tree->nodes[at.node].child[lane - 1];
        if ( ( child & QUERY_OBJECT ) == 0 )
        {
            c->waiting[c->top++] = ( tree_stop ){ child, at.depth + 1 };
        }
    }
    return wrong;
}

// In the order of the array but for the nodes made since the build, of which as many are met as there are: so
// no node has two parents or none, and a subtree, less these, is a part of the array. At no depth of at most
// QUERY_DEPTH more than QUERY_STACK can wait.
static const char* check_nodes( tree_check* c )
{
    const query_tree* tree = c->tree;
    const char* wrong = tree->depth <= QUERY_DEPTH ? NULL : "the tree is deeper than stacks are long";
    uint32_t next = 0;
    wrong = tree->built_nodes <= tree->node_count ? wrong : "fewer nodes than the build made";
    c->waiting[0] = ( tree_stop ){ 0, 1 };
    c->top = tree->node_count > 0 ? 1 : 0;
    while ( c->top > 0 && wrong == NULL )
    {
        tree_stop at = c->waiting[--c->top];
        bool is_built = at.node < tree->built_nodes;
        if ( is_built && at.node != next )
        {
            return "a node does not follow those below the lane before it";
        }
        if ( at.depth > tree->depth )
        {
            return "a node is deeper than the tree says";
        }
        wrong = check_node( c, at );
        wrong = wrong == NULL && c->made_count > tree->node_count - tree->built_nodes
            ? "a node has two parents"
            : wrong;
        next += is_built;
    }
    if ( wrong == NULL && ( next != tree->built_nodes || next + c->made_count != tree->node_count ) )
    {
        return "a node has no parent";
    }
    wrong = wrong == NULL ? check_parts_at( c, next, 0 ) : wrong;
    return wrong == NULL && c->part != tree->part_count ? "a part is not one node with all below it" : wrong;
}

const char* clv_query_tree_check( const query_tree* tree, const query_boxes* from )
{
    tree_check c;
    memset( &c, 0, sizeof( c ) );
    c.tree = tree;
    c.from = from;
    const char* wrong = check_nodes( &c );
    uint32_t live_count = 0, live_sum = 0;
    for ( uint32_t slot = 0; slot < from->slot_count; ++slot )
    {
        bool is_there = query_is_there( from, slot );
        live_count += is_there;
        live_sum += is_there ? slot_hash( slot ) : 0;
    }
    if ( wrong == NULL && ( c.object_count != live_count || c.object_sum != live_sum ) )
    {
        return "objects are missing, or there twice";
    }
    if ( wrong == NULL && ( live_count != from->live_count || live_count != tree->item_count ) )
    {
        return "the number of objects is not that of the slots";
    }
    return wrong;
}

// ---- hulls in double

const char* clv_query_tree64_check(
    const query_tree64* tree64, const query_tree* tree, const clv_aabb64* boxes, const query_boxes* from )
{
    tree_check c = { .tree = tree, .from = from, .tree64 = tree64, .boxes64 = boxes };
    const char* wrong = NULL;
    for ( uint32_t i = 0; i < tree->node_count && wrong == NULL; ++i )
    {
        const query_node64* node = &tree64->nodes[i];
        bool is_same = memcmp( node->child, tree->nodes[i].child, sizeof( node->child ) ) == 0 &&
            memcmp( node->least, tree->nodes[i].least, sizeof( node->least ) ) == 0;
        wrong = is_same ? NULL : "a lane in double has another child or lowest slot than the tree's";
        for ( uint32_t lane = 0; lane < QUERY_LANES && wrong == NULL; ++lane )
        {
            wrong = check_lane( &c, i, lane );
        }
    }
    return wrong;
}
