// SPDX-License-Identifier: MIT
// Holds a tree to what query_tree.h says of it, and its nodes of doubles likewise. Every lane is looked at,
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

// ---- lanes

static const char* check_empty_lane( const query_node* node, uint32_t lane )
{
    bool is_empty = node->least[lane] == QUERY_EMPTY && node->lower[0][lane] > node->upper[0][lane] &&
        node->lower[1][lane] > node->upper[1][lane] && node->lower[2][lane] > node->upper[2][lane];
    return is_empty ? NULL : "an empty lane has a box or a lowest slot";
}

static const char* check_object_lane( tree_check* c, const query_node* node, uint32_t lane )
{
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
    clv_aabb box = query_lane_box( node, lane );
    return memcmp( &box, &c->from->boxes[slot], sizeof( box ) ) == 0 ? NULL
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
    const query_node* below = &c->tree->nodes[child];
    bool is_hull = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float lower = below->lower[axis][0], upper = below->upper[axis][0];
        for ( uint32_t i = 1; i < QUERY_LANES; ++i )
        {
            lower = below->lower[axis][i] < lower ? below->lower[axis][i] : lower;
            upper = below->upper[axis][i] > upper ? below->upper[axis][i] : upper;
        }
        is_hull = is_hull && node->lower[axis][lane] == lower && node->upper[axis][lane] == upper;
    }
    if ( !is_hull )
    {
        return "a box is not the hull of the lanes below";
    }
    return query_node_least( below ) == node->least[lane] ? NULL
                                                          : "a lowest slot is not that of the lanes below";
}

static const char* check_lane( tree_check* c, uint32_t index, uint32_t lane )
{
    const query_node* node = &c->tree->nodes[index];
    uint32_t child = node->child[lane];
    return child == QUERY_EMPTY         ? check_empty_lane( node, lane )
        : ( child & QUERY_OBJECT ) != 0 ? check_object_lane( c, node, lane )
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

// ---- nodes of doubles

// Is a face where it is, or farther out? Seen from the node's origin; what is beyond the floats is as far as
// they go.
static bool is_outside( double face, double origin, float lane )
{
    double from = face - origin;
    return (double)lane <= from || lane == FLT_MAX;
}

static bool covers( const query_node* node, uint32_t lane, const clv_aabb64* box )
{
    bool is_good = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double origin = node->origin[axis];
        is_good = is_good && is_outside( ( &box->lower.x )[axis], origin, node->lower[axis][lane] ) &&
            is_outside( -( &box->upper.x )[axis], -origin, -node->upper[axis][lane] );
    }
    return is_good;
}

// A lane of a node below, in double: no farther out than it says.
static clv_aabb64 far_box( const query_node* node, uint32_t lane )
{
    clv_aabb64 box = { { 0, 0, 0 }, { 0, 0, 0 } };
    for ( int axis = 0; axis < 3; ++axis )
    {
        ( &box.lower.x )[axis] = node->origin[axis] + (double)node->lower[axis][lane];
        ( &box.upper.x )[axis] = node->origin[axis] + (double)node->upper[axis][lane];
    }
    return box;
}

static const char* check_far_lane( const query_tree64* tree64, const query_node* node, uint32_t lane,
    const clv_aabb64* boxes, const query_boxes* from )
{
    uint32_t child = node->child[lane];
    if ( child == QUERY_EMPTY )
    {
        return node->lower[0][lane] > node->upper[0][lane] ? NULL : "an empty lane has a box in double";
    }
    if ( ( child & QUERY_OBJECT ) != 0 )
    {
        uint32_t slot = child & ~QUERY_OBJECT;
        return !query_is_there( from, slot )     ? "a lane in double holds an object that is not there"
            : covers( node, lane, &boxes[slot] ) ? NULL
                                                 : "an object's box in double is beyond its lane";
    }
    const query_node* below = &tree64->nodes[child];
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        clv_aabb64 box = far_box( below, i );
        if ( below->lower[0][i] <= below->upper[0][i] && !covers( node, lane, &box ) )
        {
            return "a lane in double does not hold the lanes below";
        }
    }
    return NULL;
}

const char* clv_query_tree64_check(
    const query_tree64* tree64, const query_tree* tree, const clv_aabb64* boxes, const query_boxes* from )
{
    const char* wrong = NULL;
    for ( uint32_t i = 0; i < tree->node_count && wrong == NULL; ++i )
    {
        const query_node* node = &tree64->nodes[i];
        bool is_same = memcmp( node->child, tree->nodes[i].child, sizeof( node->child ) ) == 0 &&
            node->origin[3] == (double)query_node_least( &tree->nodes[i] );
        wrong = is_same ? NULL : "a node in double has another child or lowest slot than the tree's";
        for ( uint32_t lane = 0; lane < QUERY_LANES && wrong == NULL; ++lane )
        {
            wrong = check_far_lane( tree64, node, lane, boxes, from );
        }
    }
    return wrong;
}
