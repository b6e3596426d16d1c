// SPDX-License-Identifier: MIT
// A few objects came, went or moved, and the tree follows without a look at the others: a lane is left or
// taken, and hulls are made anew on the way from there to the root alone. An object that moved within the
// hull of its node keeps its lane; any other leaves and is put in again from the root, as a new one is, each
// time into the lane that grows least by it, as in A. Guttman, "R-trees" (1984), until there is an empty one.
// A full node hands its objects down to one or two new nodes, which are behind all others; so a node comes
// before those below it here too, and a whole refit needs no other order.
#include "query/query_build.h"

#include "base/bits.h"

#include <string.h>

enum
{
    NEW_NODES = 2, // that one object makes, at most
};

typedef struct query_patch
{
    query_tree* tree;
    const query_boxes* from;
    query_far_tree* far;  // NULL: boxes are floats
    uint64_t* capacity64; // of its nodes
    const simd_queries* kernels;
    base_memory* memory;
} query_patch;

// ---- where objects and nodes are

static bool reserve_places( query_patch* p )
{
    query_links* links = &p->tree->links;
    void* places = links->places;
    uint32_t count = p->from->slot_count;
    bool ok = clv_base_memory_reserve(
        p->memory, &places, &links->place_capacity, links->place_count, count, sizeof( uint32_t ) );
    links->places = places;
    for ( ; ok && links->place_count < count; ++links->place_count )
    {
        links->places[links->place_count] = QUERY_EMPTY;
    }
    return ok;
}

static bool reserve_nodes( query_patch* p, uint32_t more )
{
    query_tree* tree = p->tree;
    query_links* links = &tree->links;
    uint64_t count = (uint64_t)tree->node_count + more;
    void *nodes = tree->nodes, *parents = links->parents;
    bool ok = clv_base_memory_reserve(
                  p->memory, &nodes, &tree->node_capacity, tree->node_count, count, sizeof( query_node ) ) &&
        clv_base_memory_reserve( p->memory, &parents, &links->parent_capacity,
            links->are_made ? tree->node_count : 0, count, sizeof( uint32_t ) );
    tree->nodes = nodes;
    links->parents = parents;
    if ( ok && p->far != NULL )
    {
        void* far = p->far->nodes;
        ok = clv_base_memory_reserve(
            p->memory, &far, p->capacity64, tree->node_count, count, sizeof( query_node ) );
        p->far->nodes = far;
    }
    return ok && count < QUERY_OBJECT;
}

static void link_lane( query_links* links, uint32_t index, uint32_t child )
{
    if ( ( child & QUERY_OBJECT ) == 0 )
    {
        links->parents[child] = index;
    }
    else if ( child != QUERY_EMPTY )
    {
        CLV_ASSERT( ( child & ~QUERY_OBJECT ) < links->place_count );
        links->places[child & ~QUERY_OBJECT] = index;
    }
}

// Once after a build; from then on they are kept up.
static bool make_links( query_patch* p )
{
    query_tree* tree = p->tree;
    query_links* links = &tree->links;
    if ( links->are_made )
    {
        return reserve_places( p );
    }
    links->place_count = 0;
    if ( !reserve_nodes( p, 0 ) || !reserve_places( p ) )
    {
        return false;
    }
    links->parents[0] = QUERY_EMPTY;
    for ( uint32_t index = 0; index < tree->node_count; ++index )
    {
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
        {
            link_lane( links, index, tree->nodes[index].child[lane] );
        }
    }
    links->are_made = true;
    return true;
}

static uint32_t lane_of( const query_node* node, uint32_t child )
{
    uint32_t lane = 0;
    while ( lane < QUERY_LANES && node->child[lane] != child )
    {
        lane += 1;
    }
    return lane;
}

// The node and the lane of an object; false if it is in none. A refit may have cleared the lane of one that
// is gone.
static bool find_lane_of( const query_tree* tree, uint32_t slot, uint32_t* index, uint32_t* lane )
{
    *index = tree->links.places[slot];
    *lane = *index != QUERY_EMPTY ? lane_of( &tree->nodes[*index], QUERY_OBJECT | slot ) : QUERY_LANES;
    return *lane < QUERY_LANES;
}

// ---- the way to the root

static bool is_same_lane( const query_node* node, uint32_t lane, const clv_aabb* box, uint32_t least )
{
    clv_aabb own = query_lane_box( node, lane );
    return node->least[lane] == least && memcmp( &own, box, sizeof( own ) ) == 0;
}

// A node has other lanes than before. Upwards until a hull stays as it is; in double all the way, for what is
// above has copies of the lowest slots too.
static void climb( const query_patch* p, uint32_t index )
{
    const query_links* links = &p->tree->links;
    query_node* nodes = p->tree->nodes;
    for ( uint32_t below = index; below != 0; below = links->parents[below] )
    {
        query_node* above = &nodes[links->parents[below]];
        uint32_t lane = lane_of( above, below );
        CLV_ASSERT( lane < QUERY_LANES && above < &nodes[below] );
        clv_aabb box = query_lane_box( above, lane );
        uint32_t least = above->least[lane];
        p->kernels->bound( &nodes[below], above, lane );
        if ( is_same_lane( above, lane, &box, least ) )
        {
            break;
        }
    }
    for ( ; p->far != NULL && index != QUERY_EMPTY; index = links->parents[index] )
    {
        clv_query_bring_far( p->far, index );
    }
}

// ---- out, and in

static void take_out( const query_patch* p, uint32_t index, uint32_t lane )
{
    query_clear_lane( &p->tree->nodes[index], lane );
    p->tree->item_count -= 1;
    climb( p, index );
}

static void set_object( const query_patch* p, uint32_t index, uint32_t lane, uint32_t slot )
{
    query_node* node = &p->tree->nodes[index];
    const clv_aabb* box = &p->from->boxes[slot];
    query_set_lane( node, lane, &box->lower.x, &box->upper.x );
    node->child[lane] = QUERY_OBJECT | slot;
    node->least[lane] = slot;
    p->tree->links.places[slot] = index;
}

// What a lane costs with a box in it: how much half its surface grows, then its sides, then how long these
// are.
typedef struct lane_cost
{
    double area, sides, length;
} lane_cost;

static double finite_side( float lower, float upper )
{
    double low = (double)( lower > -FLT_MAX ? lower : -FLT_MAX );
    double high = (double)( upper < FLT_MAX ? upper : FLT_MAX );
    return high > low ? high - low : 0; // an empty subtree is inside out
}

// An object's lane would become a node, which is all new.
static lane_cost lane_cost_of( const query_node* node, uint32_t lane, const clv_aabb* box )
{
    double own[3], with[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        float lower = node->lower[axis][lane], upper = node->upper[axis][lane];
        float low = ( &box->lower.x )[axis], high = ( &box->upper.x )[axis];
        own[axis] = finite_side( lower, upper );
        with[axis] = finite_side( low < lower ? low : lower, high > upper ? high : upper );
    }
    double is_node = ( node->child[lane] & QUERY_OBJECT ) == 0 ? 1 : 0;
    double length = with[0] + with[1] + with[2];
    return ( lane_cost ){
        with[0] * with[1] + with[1] * with[2] + with[2] * with[0] -
            is_node * ( own[0] * own[1] + own[1] * own[2] + own[2] * own[0] ),
        length - is_node * ( own[0] + own[1] + own[2] ),
        length,
    };
}

static bool costs_less( const lane_cost* a, const lane_cost* b )
{
    return a->area != b->area  ? a->area < b->area
        : a->sides != b->sides ? a->sides < b->sides
                               : a->length < b->length;
}

// An empty lane, or the cheapest. Of equal ones another one for each slot and depth, so that boxes in one
// place spread and make no chain.
static uint32_t choose_lane( const query_node* node, uint32_t slot, uint32_t depth, const clv_aabb* box )
{
    uint32_t best = lane_of( node, QUERY_EMPTY );
    if ( best < QUERY_LANES )
    {
        return best;
    }
    uint32_t first = slot * 0x9E3779B9u >> 3 * ( depth % 10 );
    lane_cost least = { 0 };
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        uint32_t lane = ( first + i ) % QUERY_LANES;
        lane_cost cost = lane_cost_of( node, lane, box );
        if ( i == 0 || costs_less( &cost, &least ) )
        {
            best = lane;
            least = cost;
        }
    }
    return best;
}

// Some objects to a lane: one of them as it is, more in a new node.
static void put_group(
    const query_patch* p, uint32_t index, uint32_t lane, const query_item* items, uint32_t count )
{
    query_tree* tree = p->tree;
    CLV_ASSERT( count > 0 && count <= QUERY_LANES );
    if ( count == 1 )
    {
        set_object( p, index, lane, items[0].slot );
        return;
    }
    uint32_t made = tree->node_count++;
    query_node* node = &tree->nodes[made];
    CLV_ASSERT( tree->node_count <= tree->node_capacity );
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        query_clear_lane( node, i );
        if ( i < count )
        {
            query_set_lane( node, i, items[i].lower, items[i].upper );
            node->child[i] = QUERY_OBJECT | items[i].slot;
            node->least[i] = items[i].slot;
            tree->links.places[items[i].slot] = made;
        }
    }
    tree->links.parents[made] = index;
    tree->nodes[index].child[lane] = made;
    p->kernels->bound( node, &tree->nodes[index], lane );
    if ( p->far != NULL )
    {
        clv_query_bring_far( p->far, made );
    }
}

static query_item item_of( uint32_t slot, const clv_aabb* box )
{
    return ( query_item ){ { box->lower.x, box->lower.y, box->lower.z }, slot,
        { box->upper.x, box->upper.y, box->upper.z }, 0 };
}

// The objects of a full node, and one more, to new nodes below it: two where they can be cut in two.
static void hand_down( const query_patch* p, uint32_t index, uint32_t slot )
{
    query_node* node = &p->tree->nodes[index];
    query_item items[QUERY_LANES + 1];
    uint32_t lanes[QUERY_LANES], count = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        if ( ( node->child[lane] & QUERY_OBJECT ) != 0 )
        {
            clv_aabb box = query_lane_box( node, lane );
            items[count] = item_of( node->child[lane] & ~QUERY_OBJECT, &box );
            lanes[count++] = lane;
            query_clear_lane( node, lane );
        }
    }
    CLV_ASSERT( count > 0 );
    items[count] = item_of( slot, &p->from->boxes[slot] );
    uint32_t cut = count > 1 ? clv_query_cut_sweep( items, 0, count + 1 ) : 0;
    put_group( p, index, lanes[0], items + cut, count + 1 - cut );
    if ( cut > 0 )
    {
        put_group( p, index, lanes[1], items, cut );
    }
}

// False: there is no memory for nodes, or the way down is too long.
static bool put_in( query_patch* p, uint32_t slot )
{
    query_tree* tree = p->tree;
    if ( !reserve_nodes( p, NEW_NODES ) )
    {
        return false;
    }
    uint32_t index = 0, depth = 1, child = 0;
    for ( ;; ++depth )
    {
        uint32_t lane = choose_lane( &tree->nodes[index], slot, depth, &p->from->boxes[slot] );
        child = tree->nodes[index].child[lane];
        if ( ( child & QUERY_OBJECT ) != 0 )
        {
            break;
        }
        CLV_ASSERT( child > index && child < tree->node_count );
        index = child;
    }
    if ( child != QUERY_EMPTY && depth == QUERY_DEPTH )
    {
        return false;
    }
    if ( child == QUERY_EMPTY )
    {
        set_object( p, index, lane_of( &tree->nodes[index], QUERY_EMPTY ), slot );
    }
    else
    {
        hand_down( p, index, slot );
        tree->depth = depth + 1 > tree->depth ? depth + 1 : tree->depth;
    }
    tree->item_count += 1;
    climb( p, index );
    return true;
}

// ---- one object

// Within the hull of its node, which then is none the larger?
static bool stays( const query_patch* p, uint32_t index, uint32_t slot )
{
    if ( index == 0 )
    {
        return true;
    }
    const query_node* above = &p->tree->nodes[p->tree->links.parents[index]];
    clv_aabb room = query_lane_box( above, lane_of( above, index ) );
    const clv_aabb* box = &p->from->boxes[slot];
    return room.lower.x <= box->lower.x && box->upper.x <= room.upper.x && room.lower.y <= box->lower.y &&
        box->upper.y <= room.upper.y && room.lower.z <= box->lower.z && box->upper.z <= room.upper.z;
}

static bool follow_object( query_patch* p, uint32_t slot )
{
    uint32_t index, lane;
    bool has_lane = find_lane_of( p->tree, slot, &index, &lane ), is_there = query_is_there( p->from, slot );
    if ( has_lane && is_there && stays( p, index, slot ) )
    {
        set_object( p, index, lane, slot );
        climb( p, index );
        return true;
    }
    p->tree->patch_count += has_lane || is_there;
    if ( has_lane )
    {
        take_out( p, index, lane );
    }
    if ( !is_there || put_in( p, slot ) )
    {
        return true;
    }
    if ( has_lane ) // where it was, though that is not the best place
    {
        set_object( p, index, lane, slot );
        p->tree->item_count += 1;
        climb( p, index );
    }
    return has_lane;
}

bool clv_query_tree_patch( query_tree* tree, query_tree64* tree64, const clv_aabb64* boxes64,
    const query_boxes* from, const query_slots* changed, const simd_queries* kernels, base_memory* memory )
{
    query_far_tree far = { tree64->nodes, tree, boxes64, from, kernels };
    query_patch p = { tree, from, boxes64 != NULL ? &far : NULL, &tree64->node_capacity, kernels, memory };
    CLV_ASSERT( tree->node_count > 0 );
    bool ok = make_links( &p );
    for ( uint32_t i = 0; i < changed->count && ok; ++i )
    {
        CLV_ASSERT( changed->slots[i] < from->slot_count );
        ok = follow_object( &p, changed->slots[i] );
    }
    tree64->nodes = far.nodes;
    CLV_VALIDATE( !ok || clv_query_tree_check( tree, from ) == NULL );
    CLV_VALIDATE( !ok || boxes64 == NULL || clv_query_tree64_check( tree64, tree, boxes64, from ) == NULL );
    return ok;
}

void clv_query_links_free( query_links* links, base_memory* memory )
{
    clv_base_memory_give( memory, links->parents, links->parent_capacity, sizeof( uint32_t ) );
    clv_base_memory_give( memory, links->places, links->place_capacity, sizeof( uint32_t ) );
    *links = ( query_links ){ 0 };
}
