// SPDX-License-Identifier: MIT
// A tree is certainly worn if places where objects are take more nodes than when it was built, or if many
// objects are gone. It is suspected to be if they take more than they have since, or those of one part of it
// do, or places between objects do; or if the world is no longer the one it was built for, so that the
// figures of then mean little. A suspicion costs a build; where that has not helped, the next ones count for
// nothing for a while.
#include "query/query_tree.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "query/query_build.h"

#include <math.h>
#include <string.h>

enum
{
    LEAST_PROBES = 8,
    FEW_PROBES = 16,   // fewer are trusted less
    PROBE_NODES = 8,   // for each probe; they take some 2,000 instructions in a refit, a probe 300
    FAR_PROBE = 4,     // every so many is one between objects
    GROUP_PROBES = 8,  // at least, for a group
    STRIDE = 409,      // a prime above QUERY_WEAR_PROBES, so that it comes to each of them
    SPARE_NODES = 64,  // may be visited beside as many as the tree has; then the survey ends
    SPARE_BETWEEN = 4, // more between objects are no wear
    PATCH_PROBES = 8,  // a change of one object costs about as much as so many probes
    PATCH_SHARE = 16,  // and as much as a build for so many
    LOCAL_WAIT = 8,    // refits after one part alone was worn; they cost about as much as a build
    MOST_WAIT = 64,    // refits after builds in vain
};

// Times the nodes visited at the build: at objects, the same by few probes, at those of one part, between
// objects.
static const double WORN = 1.65, WORN_FEW = 1.5, WORN_GROUP = 2.5, WORN_BETWEEN = 1.8;

// Boxes that overlap are built for worse: so many for each that is needed are worse than usual, where it was
// that much better.
static const double WORSE = 1.9, WORSE_THAN_BUILT = 1.3;

static const double HELPED = 1.15;       // times the nodes visited: a build was worth it
static const float CHANGED_WAY = 3;      // times the way to the other object and the own side
static const float CHANGED_SIDE = 4;     // times
static const uint32_t CHANGED_SHARE = 8; // one in so many
static const double CHANGED_HITS = 2;    // times, and as many more

typedef struct wear_place
{
    const query_tree* tree;
    const query_boxes* from;
    const simd_queries* kernels;
} wear_place;

// ---- one probe

// A way that is longer than floats go is none.
static void set_way( const float from[4], const float to[4], float way[3] )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        float d = to[axis] - from[axis];
        way[axis] = d - d == 0 ? d : 0;
    }
}

static bool has_changed( const query_wear_probe* probe, const float way[3], float side )
{
    float moved = 0, length = probe->side;
    for ( int axis = 0; axis < 3; ++axis )
    {
        moved += fabsf( way[axis] - probe->way[axis] );
        length += fabsf( probe->way[axis] );
    }
    return moved > CHANGED_WAY * length || side > CHANGED_SIDE * probe->side ||
        side * CHANGED_SIDE < probe->side;
}

static bool is_between( uint32_t number )
{
    return number % FAR_PROBE == FAR_PROBE - 1;
}

// ---- the whole sample

typedef struct wear_sum
{
    uint32_t asked;
    uint64_t visited, hits;
} wear_sum;

typedef struct wear_survey
{
    wear_sum at_objects, between, groups[QUERY_WEAR_GROUPS];
    uint32_t count, changed; // probes; those whose objects are gone are not asked
    bool is_whole;
} wear_survey;

static void add_probe( wear_sum* sum, uint32_t visited, uint32_t hits )
{
    sum->asked += 1;
    sum->visited += visited;
    sum->hits += hits;
}

// Nodes on the way down to a leaf, about.
static double path_length( const query_tree* tree )
{
    return 1 + (double)base_bit_width( tree->node_count ) / 3;
}

// Nodes visited for each that is needed: a path for each probe, and a lane for each object.
static double visited_of( const wear_sum* sum, const query_tree* tree )
{
    double needed = sum->asked * path_length( tree ) + (double)sum->hits / QUERY_LANES;
    return sum->asked > 0 ? (double)sum->visited / needed : 0;
}

static double hits_of( const wear_survey* s )
{
    return s->at_objects.asked > 0 ? (double)s->at_objects.hits / s->at_objects.asked : 0;
}

static uint32_t count_groups( const query_wear* wear )
{
    uint32_t count = wear->probe_count / GROUP_PROBES;
    return count < QUERY_WEAR_GROUPS ? count : QUERY_WEAR_GROUPS;
}

static void ask_probe( const query_wear* wear, uint32_t number, const wear_place* at, wear_survey* s )
{
    const query_wear_probe* probe = &wear->probes[number];
    CLV_ASSERT( number < wear->probe_count );
    const clv_aabb* box = &at->from->boxes[probe->slot];
    float from[4], to[4], way[3];
    query_box_middle( box, from );
    query_box_middle( &at->from->boxes[probe->other], to );
    set_way( from, to, way );
    s->changed += has_changed( probe, way, query_longest_side( box ) );
    uint32_t visited, hits;
    if ( is_between( number ) )
    {
        const float half_way[3] = { from[0] + way[0] * 0.5f, from[1] + way[1] * 0.5f,
            from[2] + way[2] * 0.5f };
        at->kernels->count( at->tree->nodes, half_way, &visited, &hits );
        add_probe( &s->between, visited, hits );
        return;
    }
    at->kernels->count( at->tree->nodes, from, &visited, &hits );
    add_probe( &s->at_objects, visited, hits );
    CLV_ASSERT( visited > 0 ); // the root at least
    add_probe( &s->groups[number * count_groups( wear ) / wear->probe_count], visited, hits );
}

// By a stride, so that what has been asked when it ends early is spread over the tree. One without nodes has
// no objects, and nothing is asked.
static void survey( const query_wear* wear, const wear_place* at, wear_survey* s )
{
    uint32_t count = wear->probe_count, number = 0;
    const uint64_t most = (uint64_t)at->tree->node_count + SPARE_NODES;
    memset( s, 0, sizeof( *s ) );
    CLV_ASSERT( count <= QUERY_WEAR_PROBES );
    CLV_ASSERT( at->tree->node_count > 0 || at->from->live_count == 0 );
    for ( ; s->count < count && s->at_objects.visited + s->between.visited < most; ++s->count )
    {
        const query_wear_probe* probe = &wear->probes[number];
        if ( query_is_there( at->from, probe->slot ) && query_is_there( at->from, probe->other ) )
        {
            ask_probe( wear, number, at, s );
        }
        number = ( number + STRIDE ) % count;
    }
    s->is_whole = s->count == count;
}

// ---- the verdict

static bool is_group_worn( const query_wear* wear, const query_tree* tree, const wear_survey* s )
{
    bool is_worn = false;
    for ( uint32_t i = count_groups( wear ); i > 0 && s->is_whole; --i )
    {
        double built = wear->built_groups[i - 1];
        is_worn |= built > 0 && visited_of( &s->groups[i - 1], tree ) > WORN_GROUP * built;
    }
    return is_worn;
}

static bool is_worn_between( const query_wear* wear, const query_tree* tree, const wear_survey* s )
{
    double spare = s->between.asked > 0 ? SPARE_BETWEEN / ( s->between.asked * path_length( tree ) ) : 0;
    return visited_of( &s->between, tree ) > WORN_BETWEEN * wear->built_between + spare;
}

// A tree that has lost a quarter of its objects has nodes for more than there are.
static bool are_many_gone( const query_tree* tree, const query_boxes* from )
{
    return (uint64_t)from->live_count * 4 < (uint64_t)tree->built_items * 3;
}

// Is this another world than that of the build? Objects have left their neighbours, have other sizes, or meet
// others.
static bool is_other_world( const query_wear* wear, const wear_survey* s )
{
    double now = hits_of( s ), then = wear->built_hits;
    return s->changed * CHANGED_SHARE > s->count || now > CHANGED_HITS * ( then + 1 ) ||
        then > CHANGED_HITS * ( now + 1 );
}

bool clv_query_wear_is_over(
    query_wear* wear, const query_tree* tree, const query_boxes* from, const simd_queries* kernels )
{
    const wear_place at = { tree, from, kernels };
    const double worn = wear->probe_count < FEW_PROBES ? WORN_FEW : WORN;
    wear_survey s;
    survey( wear, &at, &s );
    wear->surveyed = tree->patch_count;
    wear->now = visited_of( &s.at_objects, tree );
    wear->wait -= wear->wait > 0 ? 1 : 0;
    bool is_certain = wear->now > worn * wear->built || are_many_gone( tree, from );
    bool is_worse = wear->now > WORSE && wear->now > WORSE_THAN_BUILT * wear->built;
    bool is_suspect = is_worse || wear->now > worn * wear->least || is_worn_between( wear, tree, &s ) ||
        is_other_world( wear, &s );
    bool is_local = !is_suspect && is_group_worn( wear, tree, &s );
    wear->least = wear->now < wear->least ? wear->now : wear->least;
    wear->is_suspicion = !is_certain && ( is_suspect || is_local ) && wear->wait == 0;
    wear->wait = wear->is_suspicion && is_local ? LOCAL_WAIT : wear->wait;
    return is_certain || wear->is_suspicion;
}

// Ski-rental rule: a build once objects that were put in one by one have cost as much; nodes are less good
// where they are.
bool clv_query_wear_is_over_by_few(
    query_wear* wear, const query_tree* tree, const query_boxes* from, const simd_queries* kernels )
{
    if ( tree->patch_count > tree->built_items / PATCH_SHARE )
    {
        wear->is_suspicion = false;
        return true;
    }
    CLV_ASSERT( wear->surveyed <= tree->patch_count );
    return ( tree->patch_count - wear->surveyed ) * PATCH_PROBES > wear->probe_count &&
        clv_query_wear_is_over( wear, tree, from, kernels );
}

// A build on suspicion: do the same places take fewer nodes now?
static void judge_suspicion( query_wear* wear, const wear_place* at )
{
    wear_survey s;
    survey( wear, at, &s );
    bool has_helped = visited_of( &s.at_objects, at->tree ) * HELPED <= wear->now;
    uint32_t longer = wear->last_wait < MOST_WAIT / 2 ? wear->last_wait * 2 + 1 : MOST_WAIT;
    wear->last_wait = has_helped ? 0 : longer;
    wear->wait = wear->last_wait > wear->wait ? wear->last_wait : wear->wait;
    wear->is_suspicion = false;
}

// ---- a new sample

static uint32_t count_probes( const query_tree* tree )
{
    uint32_t count = tree->node_count / PROBE_NODES;
    count = count > LEAST_PROBES ? count : LEAST_PROBES;
    return count < QUERY_WEAR_PROBES ? count : QUERY_WEAR_PROBES;
}

// The lane of an object: this one, or the next that has one; QUERY_LANES if none has.
static uint32_t find_object( const query_node* node, uint32_t lane )
{
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        uint32_t at = ( lane + i ) % QUERY_LANES;
        if ( ( node->child[at] & QUERY_OBJECT ) != 0 && node->child[at] != QUERY_EMPTY )
        {
            return at;
        }
    }
    return QUERY_LANES;
}

// Two objects of a node, or of the first behind it that has some: leaves are never far.
static void choose_pair( query_wear_probe* probe, const query_tree* tree, uint32_t index, uint32_t lane )
{
    while ( find_object( &tree->nodes[index], 0 ) == QUERY_LANES )
    {
        index += 1;
        CLV_ASSERT( index < tree->node_count ); // the last node has nothing but objects
    }
    const query_node* node = &tree->nodes[index];
    uint32_t first = find_object( node, lane );
    uint32_t second = find_object( node, first + 1 );
    CLV_ASSERT( first < QUERY_LANES && second < QUERY_LANES );
    probe->slot = node->child[first] & ~QUERY_OBJECT;
    probe->other = node->child[second] & ~QUERY_OBJECT;
}

static void choose_probes( query_wear* wear, const query_tree* tree, const query_boxes* boxes )
{
    uint32_t count = wear->probe_count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        choose_pair( &wear->probes[i], tree, (uint32_t)( (uint64_t)tree->node_count * i / count ), i );
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        query_wear_probe* probe = &wear->probes[i];
        probe->other = is_between( i ) ? wear->probes[( i + count / 2 ) % count].slot : probe->other;
        float from[4], to[4];
        query_box_middle( &boxes->boxes[probe->slot], from );
        query_box_middle( &boxes->boxes[probe->other], to );
        set_way( from, to, probe->way );
        probe->side = query_longest_side( &boxes->boxes[probe->slot] );
    }
}

bool clv_query_wear_start( query_wear* wear, const query_tree* tree, const query_boxes* from,
    const simd_queries* kernels, base_memory* memory )
{
    const wear_place at = { tree, from, kernels };
    if ( wear->is_suspicion )
    {
        judge_suspicion( wear, &at );
    }
    void* probes = wear->probes;
    uint32_t count = tree->node_count > 0 ? count_probes( tree ) : 0;
    wear->probe_count = wear->surveyed = 0;
    bool ok =
        clv_base_memory_renew( memory, &probes, &wear->probe_capacity, count, sizeof( query_wear_probe ) );
    wear->probes = probes;
    if ( !ok || count == 0 )
    {
        return ok;
    }
    CLV_ASSERT( count <= wear->probe_capacity );
    wear->probe_count = count;
    choose_probes( wear, tree, from );
    wear_survey s;
    survey( wear, &at, &s );
    wear->built = wear->least = wear->now = visited_of( &s.at_objects, tree );
    wear->built_between = visited_of( &s.between, tree );
    wear->built_hits = hits_of( &s );
    for ( uint32_t i = 0; i < QUERY_WEAR_GROUPS; ++i )
    {
        wear->built_groups[i] = s.is_whole ? visited_of( &s.groups[i], tree ) : 0;
    }
    return true;
}

void clv_query_wear_free( query_wear* wear, base_memory* memory )
{
    clv_base_memory_give( memory, wear->probes, wear->probe_capacity, sizeof( query_wear_probe ) );
    *wear = ( query_wear ){ 0 };
}
