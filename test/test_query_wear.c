// SPDX-License-Identifier: MIT
// However boxes move, queries visit at most twice the nodes and boxes of a tree that was built for them as
// they are: beside infinite half-spaces, far walls and giants, in spaces of floats, of two axes and of
// doubles. And the tree is not built more often than that takes.
#include "heap.h"
#include "query/query_search.h"
#include "space/space_reader.h"
#include "support.h"

#include "cleave/world_query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    OBJECTS = 2000,
    QUERIES = 150, // of each kind
    NEAREST = 8,
};

static const double ALLOWED = 2;

// ---- worlds

/// Boxes in double, whose floats or two axes the space may have.
typedef struct wear_world
{
    clv_space* space;
    bool is_flat, is_double;
    uint32_t giants; // the first so many, which stay
    double side;     // of the crowd's room
    test_random random;
    clv_aabb64 boxes[OBJECTS];
    clv_vec64 speeds[OBJECTS];
    clv_id ids[OBJECTS];
    bool is_gone[OBJECTS];
    uint64_t builds; // before the motion
} wear_world;

static double some( wear_world* w, double least, double most )
{
    return (double)test_random_between( &w->random, (float)least, (float)most );
}

static void set_cube( wear_world* w, uint32_t i, clv_vec64 at, double half )
{
    w->boxes[i] = ( clv_aabb64 ){ { at.x - half, at.y - half, at.z - half },
        { at.x + half, at.y + half, at.z + half } };
}

static clv_vec64 middle( const clv_aabb64* box )
{
    clv_vec64 m;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double at = ( &box->lower.x )[axis] / 2 + ( &box->upper.x )[axis] / 2;
        ( &m.x )[axis] = at - at == 0 ? at : 0;
    }
    return m;
}

static clv_vec64 some_place( wear_world* w )
{
    return ( clv_vec64 ){ some( w, 0, w->side ), some( w, 0, w->side ), some( w, 0, w->side ) };
}

static clv_result put_box( wear_world* w, clv_space* space, uint32_t i, clv_id* id, bool is_new )
{
    const clv_aabb64* b = &w->boxes[i];
    const clv_aabb solid = { { (float)b->lower.x, (float)b->lower.y, (float)b->lower.z },
        { (float)b->upper.x, (float)b->upper.y, (float)b->upper.z } };
    const clv_aabb2 flat = { { solid.lower.x, solid.lower.y }, { solid.upper.x, solid.upper.y } };
    if ( w->is_double )
    {
        return is_new ? clv_space_add64( space, b, 1, id ) : clv_space_move64( space, id, b, 1 );
    }
    if ( w->is_flat )
    {
        return is_new ? clv_space_add2( space, &flat, 1, id ) : clv_space_move2( space, id, &flat, 1 );
    }
    return is_new ? clv_space_add( space, &solid, 1, id ) : clv_space_move( space, id, &solid, 1 );
}

static clv_space* fresh_space( wear_world* w, clv_isa isa, uint32_t workers )
{
    clv_space_def def = clv_default_space_def();
    def.flat = w->is_flat;
    def.doubles = w->is_double;
    def.isa = isa;
    def.worker_count = workers;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &def, &space ) );
    return space;
}

// Cubes of a metre with some room, that fly about.
static wear_world* make_world( int kind, uint64_t seed )
{
    wear_world* w = test_alloc( 1, sizeof( wear_world ) );
    memset( w, 0, sizeof( *w ) );
    w->is_flat = kind == 1;
    w->is_double = kind == 2;
    w->side = w->is_flat ? sqrt( 4.0 * OBJECTS ) : cbrt( 30.0 * OBJECTS );
    w->random = test_random_make( seed );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        set_cube( w, i, some_place( w ), 0.5 );
        w->speeds[i] = ( clv_vec64 ){ some( w, -1, 1 ), some( w, -1, 1 ), some( w, -1, 1 ) };
    }
    return w;
}

static uint64_t build_count( const wear_world* w )
{
    return w->space->query.tree.build_count;
}

static void start_world( wear_world* w, clv_isa isa, uint32_t workers )
{
    w->space = fresh_space( w, isa, workers );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        CHECK_OK( put_box( w, w->space, i, &w->ids[i], true ) );
    }
    CHECK_OK( clv_space_refresh( w->space ) );
    w->builds = build_count( w );
}

static void show_world( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        if ( !w->is_gone[i] )
        {
            CHECK_OK( put_box( w, w->space, i, &w->ids[i], false ) );
        }
    }
    CHECK_OK( clv_space_refresh( w->space ) );
}

static void free_world( wear_world* w )
{
    clv_space_destroy( w->space );
    free( w );
}

// ---- asking

typedef struct wear_lists
{
    clv_ray rays[QUERIES];
    clv_ray2 rays2[QUERIES];
    clv_ray64 rays64[QUERIES];
    clv_aabb areas[QUERIES];
    clv_aabb2 areas2[QUERIES];
    clv_aabb64 areas64[QUERIES];
    clv_vec3 points[QUERIES];
    clv_vec2 points2[QUERIES];
    clv_vec64 points64[QUERIES];
    query_list of[3]; // rays, areas, points
} wear_lists;

static uint32_t some_object( wear_world* w )
{
    uint32_t i = 0;
    do
    {
        i = w->giants + test_random_below( &w->random, OBJECTS - w->giants );
    } while ( w->is_gone[i] );
    return i;
}

// Near objects that are no giants.
static void fill_lists( wear_world* w, wear_lists* lists )
{
    for ( uint32_t i = 0; i < QUERIES; ++i )
    {
        clv_vec64 p = middle( &w->boxes[some_object( w )] );
        p = ( clv_vec64 ){ p.x + some( w, -2, 2 ), p.y + some( w, -2, 2 ), p.z + some( w, -2, 2 ) };
        clv_vec64 d = { some( w, -1, 1 ), some( w, -1, 1 ), some( w, -1, 1 ) };
        lists->points64[i] = p;
        lists->points[i] = ( clv_vec3 ){ (float)p.x, (float)p.y, (float)p.z };
        lists->points2[i] = ( clv_vec2 ){ (float)p.x, (float)p.y };
        lists->rays64[i] = ( clv_ray64 ){ p, d, INFINITY };
        lists->rays[i] = ( clv_ray ){ lists->points[i], { (float)d.x, (float)d.y, (float)d.z }, INFINITY };
        lists->rays2[i] = ( clv_ray2 ){ lists->points2[i], { (float)d.x, (float)d.y }, INFINITY };
        lists->areas64[i] = ( clv_aabb64 ){ p, { p.x + 1, p.y + 1, p.z + 1 } };
        lists->areas[i] = ( clv_aabb ){ lists->points[i],
            { lists->points[i].x + 1, lists->points[i].y + 1, lists->points[i].z + 1 } };
        lists->areas2[i] =
            ( clv_aabb2 ){ lists->points2[i], { lists->points2[i].x + 1, lists->points2[i].y + 1 } };
    }
    const query_list plain[3] = { { .kind = CLV_QUERY_RAY, .items = lists->rays },
        { .kind = CLV_QUERY_BOX, .items = lists->areas },
        { .kind = CLV_QUERY_POINT, .items = lists->points } };
    const query_list flat[3] = { { .kind = CLV_QUERY_RAY2, .items = lists->rays2 },
        { .kind = CLV_QUERY_BOX2, .items = lists->areas2 },
        { .kind = CLV_QUERY_POINT2, .items = lists->points2 } };
    const query_list wide[3] = { { .kind = CLV_QUERY_RAY64, .items = lists->rays64 },
        { .kind = CLV_QUERY_BOX64, .items = lists->areas64 },
        { .kind = CLV_QUERY_POINT64, .items = lists->points64 } };
    for ( int i = 0; i < 3; ++i )
    {
        lists->of[i] = w->is_double ? wide[i] : w->is_flat ? flat[i] : plain[i];
        lists->of[i].count = QUERIES;
        lists->of[i].is_double = w->is_double;
    }
}

// Nodes and boxes that the queries of one kind visit.
static double count_visits( const clv_space* space, const wear_lists* lists, int of )
{
    query_scene scene;
    query_counts counts = { 0, 0 };
    static clv_hit64 hits[OBJECTS]; // the larger of the two kinds of hits
    CHECK_OK( clv_space_open_scene( space, space_kind_of( space ), &scene ) );
    scene.counts = &counts;
    for ( uint32_t i = 0; i < QUERIES; ++i )
    {
        switch ( of )
        {
        case 0: clv_query_find_one( &scene, &lists->of[0], &i, 1, QUERY_CLOSEST, hits ); break;
        case 1: (void)clv_query_find_all( &scene, &lists->of[1], i, hits, OBJECTS ); break;
        default:
            clv_query_find_nearest( &scene, &lists->of[2], &i, 1, NEAREST, (double)INFINITY, hits );
            break;
        }
    }
    return (double)( counts.node_count + counts.object_count );
}

static void check_visits( wear_world* w )
{
    static wear_lists lists;
    clv_space* fresh = fresh_space( w, w->space->kernels->isa, 1 );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        clv_id id;
        if ( !w->is_gone[i] )
        {
            CHECK_OK( put_box( w, fresh, i, &id, true ) );
        }
    }
    CHECK_OK( clv_space_refresh( fresh ) );
    fill_lists( w, &lists );
    for ( int of = 0; of < 3; ++of )
    {
        double worn = count_visits( w->space, &lists, of ), now = count_visits( fresh, &lists, of );
        if ( worn > ALLOWED * now )
        {
            test_fail( __FILE__, __LINE__, "%s visit %.1f nodes and boxes each, %.1f in a fresh tree",
                of == 0       ? "rays"
                    : of == 1 ? "boxes"
                              : "nearest",
                worn / QUERIES, now / QUERIES );
        }
    }
    clv_space_destroy( fresh );
}

// ---- motions

static void fly( wear_world* w, double step )
{
    for ( uint32_t i = w->giants; i < OBJECTS; ++i )
    {
        clv_vec64 at = middle( &w->boxes[i] );
        double half = ( w->boxes[i].upper.x - w->boxes[i].lower.x ) / 2;
        for ( int axis = 0; axis < 3; ++axis )
        {
            double* speed = &w->speeds[i].x + axis;
            double next = ( &at.x )[axis] + *speed * step;
            *speed = next < 0 ? fabs( *speed ) : next > w->side ? -fabs( *speed ) : *speed;
            ( &at.x )[axis] += *speed * step;
        }
        set_cube( w, i, at, half );
    }
}

static void no_giants( wear_world* w )
{
    (void)w;
}

static void half_spaces( wear_world* w )
{
    w->boxes[0] = ( clv_aabb64 ){ { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, 0, INFINITY } };
    w->boxes[1] = ( clv_aabb64 ){ { -INFINITY, -INFINITY, -INFINITY }, { 0, INFINITY, INFINITY } };
    w->giants = 2;
}

static void far_walls( wear_world* w )
{
    const double far = 5400;
    for ( uint32_t i = 0; i < 6; ++i )
    {
        clv_aabb64* wall = &w->boxes[i];
        *wall = ( clv_aabb64 ){ { -far, -far, -far }, { far, far, far } };
        double* face = i < 3 ? &wall->upper.x + i : &wall->lower.x + i - 3;
        *face = i < 3 ? 10 - far : far - 10;
    }
    w->giants = 6;
}

static void ten_giants( wear_world* w )
{
    for ( uint32_t i = 0; i < 10; ++i )
    {
        set_cube( w, i, ( clv_vec64 ){ i, 2.0 * i, 3 }, 1000 );
    }
    w->giants = 10;
}

// All so large that each meets hundreds.
static void only_giants( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        set_cube( w, i, middle( &w->boxes[i] ), w->side * some( w, 0.1, 0.4 ) );
    }
}

static void large_boxes( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        set_cube( w, i, middle( &w->boxes[i] ), 5 );
    }
}

static void one_place( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        set_cube( w, i, ( clv_vec64 ){ 1 + i * 1e-6, 1, 1 }, 0.5 );
    }
}

static void many_sizes( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        set_cube( w, i, middle( &w->boxes[i] ), 0.01 * pow( 10, some( w, 0, 3 ) ) );
    }
}

static void slow_drift( wear_world* w )
{
    fly( w, 0.1 );
}

static void fast_drift( wear_world* w )
{
    fly( w, 1 );
}

static void teleport( wear_world* w )
{
    for ( uint32_t i = w->giants; i < OBJECTS; ++i )
    {
        set_cube( w, i, some_place( w ), 0.5 );
    }
}

static void teleport_and_contract( wear_world* w )
{
    w->side /= 8;
    teleport( w );
    w->side *= 8;
}

static void shrink( wear_world* w )
{
    fly( w, 1 );
    for ( uint32_t i = w->giants; i < OBJECTS; ++i )
    {
        double half = ( w->boxes[i].upper.x - w->boxes[i].lower.x ) / 2;
        set_cube( w, i, middle( &w->boxes[i] ), half * 0.86 );
    }
}

static void grow( wear_world* w )
{
    fly( w, 1 );
    for ( uint32_t i = w->giants; i < OBJECTS; ++i )
    {
        double half = ( w->boxes[i].upper.x - w->boxes[i].lower.x ) / 2;
        set_cube( w, i, middle( &w->boxes[i] ), half * 1.1 );
    }
}

static void become_equal( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        set_cube( w, i, middle( &w->boxes[i] ), 0.5 );
    }
}

static void expand( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        clv_vec64 m = middle( &w->boxes[i] );
        set_cube( w, i, ( clv_vec64 ){ m.x * 1.2, m.y * 1.2, m.z * 1.2 }, 0.5 );
    }
}

static void half_move_away( wear_world* w )
{
    for ( uint32_t i = w->giants; i < OBJECTS; i += 2 )
    {
        clv_vec64 m = middle( &w->boxes[i] );
        set_cube( w, i, ( clv_vec64 ){ m.x + 5, m.y + 4, m.z + 3 }, 0.5 );
    }
}

static void flatten( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        clv_vec64 m = middle( &w->boxes[i] );
        set_cube( w, i, ( clv_vec64 ){ m.x, m.y * 0.5, m.z }, 0.5 );
    }
}

static void fall_flat( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        clv_vec64 m = middle( &w->boxes[i] );
        set_cube( w, i, ( clv_vec64 ){ m.x, 0, m.z }, 0.5 );
    }
}

static void some_become_giants( wear_world* w )
{
    for ( uint32_t i = 0; i < 10; ++i )
    {
        set_cube( w, i * 7, ( clv_vec64 ){ w->side / 2, w->side / 2, w->side / 2 }, w->side * 0.7 );
    }
}

static void turn( wear_world* w )
{
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        clv_vec64 m = middle( &w->boxes[i] );
        double x = m.x - w->side / 2, y = m.y - w->side / 2, angle = 1 / ( 1 + hypot( x, y ) );
        set_cube( w, i,
            ( clv_vec64 ){ w->side / 2 + x * cos( angle ) - y * sin( angle ),
                w->side / 2 + x * sin( angle ) + y * cos( angle ), m.z },
            0.5 );
    }
}

static void some_go( wear_world* w )
{
    fly( w, 0.1 );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        if ( !w->is_gone[i] && test_random_chance( &w->random, 7 ) )
        {
            w->is_gone[i] = true;
            CHECK_OK( clv_space_remove_one( w->space, w->ids[i] ) );
        }
    }
}

static const struct
{
    const char* name;
    void ( *setup )( wear_world* w );
    void ( *step )( wear_world* w );
    uint32_t frames;
    uint32_t builds; // at most
} s_motions[] = {
    { "rest", no_giants, no_giants, 10, 0 },
    { "a slow crowd", no_giants, slow_drift, 60, 3 },
    { "a fast crowd", no_giants, fast_drift, 20, 8 },
    { "two half-spaces", half_spaces, fast_drift, 20, 8 },
    { "six far walls", far_walls, fast_drift, 20, 8 },
    { "ten giants, all others elsewhere", ten_giants, teleport, 1, 1 },
    { "giants alone", only_giants, fast_drift, 20, 6 },
    { "all elsewhere and nearer", no_giants, teleport_and_contract, 1, 1 },
    { "from one place", one_place, teleport, 1, 1 },
    { "shrinking boxes", large_boxes, shrink, 20, 10 },
    { "growing boxes", no_giants, grow, 20, 10 },
    { "equal sizes after many", many_sizes, become_equal, 1, 1 },
    { "an expanding crowd", no_giants, expand, 20, 6 },
    { "half of them leave", no_giants, half_move_away, 30, 10 },
    { "a crowd becomes flat", no_giants, flatten, 8, 6 },
    { "all on one floor", no_giants, fall_flat, 1, 1 },
    { "some become giants", no_giants, some_become_giants, 1, 1 },
    { "a vortex", no_giants, turn, 60, 10 },
    { "fewer and fewer", no_giants, some_go, 30, 12 },
};

static void run_motion( uint32_t number, int kind, uint64_t seed )
{
    test_where.note = s_motions[number].name;
    test_where.seed = seed;
    wear_world* w = make_world( kind, seed );
    s_motions[number].setup( w );
    start_world( w, clv_isa_best(), 1 );
    for ( uint32_t frame = 0; frame < s_motions[number].frames; ++frame )
    {
        test_where.frame = frame;
        s_motions[number].step( w );
        show_world( w );
        if ( frame % 3 == 2 || frame == s_motions[number].frames - 1 )
        {
            check_visits( w );
        }
    }
    uint64_t builds = build_count( w ) - w->builds;
    CHECK( builds <= s_motions[number].builds );
    free_world( w );
}

static void queries_visit_at_most_twice_a_fresh_tree( void )
{
    for ( uint32_t i = 0; i < TEST_COUNT( s_motions ) * 3 * test_scaled( 1 ); ++i )
    {
        run_motion( i / 3 % TEST_COUNT( s_motions ), (int)( i % 3 ), 5 + i );
    }
}

// The same motions object by object, each followed by a refresh: a build for
// every sixteenth of them that left its node, and some for what the world has become.
static void objects_that_move_one_by_one_cost_no_more( void )
{
    for ( uint32_t number = 0; number < TEST_COUNT( s_motions ) * test_scaled( 1 ); ++number )
    {
        uint32_t motion = number % TEST_COUNT( s_motions );
        test_where.note = s_motions[motion].name;
        wear_world* w = make_world( (int)( number % 3 ), 7 + number );
        s_motions[motion].setup( w );
        start_world( w, clv_isa_best(), 1 );
        s_motions[motion].step( w );
        for ( uint32_t i = 0; i < OBJECTS; ++i )
        {
            uint32_t at = i * 769 % OBJECTS;
            if ( !w->is_gone[at] )
            {
                CHECK_OK( put_box( w, w->space, at, &w->ids[at], false ) );
                CHECK_OK( clv_space_refresh( w->space ) );
            }
        }
        check_visits( w );
        CHECK( build_count( w ) - w->builds <= 28 );
        free_world( w );
    }
}

// The nodes of then may do for a while, but what they cost then says nothing about now.
static void a_changed_world_is_built_anew( void )
{
    void ( *const changes[] )( wear_world * w ) = { fall_flat, some_become_giants, expand };
    for ( size_t i = 0; i < TEST_COUNT( changes ) * 3; ++i )
    {
        wear_world* w = make_world( (int)( i % 3 ), 11 );
        start_world( w, clv_isa_best(), 1 );
        for ( int frame = 0; frame < ( changes[i / 3] == expand ? 12 : 1 ); ++frame )
        {
            changes[i / 3]( w );
        }
        show_world( w );
        CHECK_EQUAL( build_count( w ) - w->builds, 1 );
        free_world( w );
    }
}

// What building does not help is not built for again and again: sizes that change with every frame, and back.
static void builds_in_vain_become_rare( void )
{
    for ( int kind = 0; kind < 3; ++kind )
    {
        wear_world* w = make_world( kind, 3 );
        start_world( w, clv_isa_best(), 1 );
        for ( uint32_t frame = 0; frame < 100; ++frame )
        {
            for ( uint32_t i = 0; i < OBJECTS; ++i )
            {
                set_cube( w, i, middle( &w->boxes[i] ), frame % 2 == 0 ? 0.1 : 0.5 );
            }
            show_world( w );
        }
        CHECK( build_count( w ) - w->builds <= 9 );
        check_visits( w );
        free_world( w );
    }
}

// A town of a twelfth of all, whose own people have changed places: the rest of the world does not hide it.
static void wear_of_one_part_of_the_world_is_seen( void )
{
    enum
    {
        TOWN = OBJECTS / 12,
    };
    wear_world* w = make_world( 0, 8 );
    for ( int round = 0; round < 2; ++round )
    {
        for ( uint32_t i = 0; i < TOWN; ++i )
        {
            set_cube(
                w, i, ( clv_vec64 ){ some( w, 900, 917 ), some( w, 900, 917 ), some( w, 900, 917 ) }, 0.5 );
        }
        if ( round == 0 )
        {
            start_world( w, clv_isa_best(), 1 );
        }
    }
    show_world( w );
    CHECK_EQUAL( build_count( w ) - w->builds, 1 );
    free_world( w );
}

// The tree of a space that lost its last object before the first question has no nodes, and what is not
// changed after that follows as a whole.
static void an_empty_tree_is_never_worn( void )
{
    const clv_aabb box = { { 0, 0, 0 }, { 1, 1, 1 } };
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    clv_id id;
    clv_hit hit;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add_one( space, box, &id ) );
    CHECK_OK( clv_space_update( space ) );
    CHECK_OK( clv_space_remove_one( space, id ) );
    for ( int round = 0; round < 2; ++round )
    {
        CHECK_OK( clv_space_nearest( space, box.lower, 1, INFINITY, &hit ) );
        CHECK_EQUAL( hit.index, CLV_NO_HIT );
        CHECK_OK( clv_space_update( space ) );
    }
    CHECK_OK( clv_space_add_one( space, box, &id ) );
    CHECK_OK( clv_space_refresh( space ) );
    CHECK_OK( clv_space_nearest( space, box.lower, 1, INFINITY, &hit ) );
    CHECK_EQUAL( hit.index, id.index );
    clv_space_destroy( space );
}

// Objects that shrank are another world, which is built on suspicion. Where that fails and all objects go,
// the next build has no nodes to judge the suspicion by.
static void a_suspicion_outlives_a_build_without_memory( void )
{
    enum
    {
        SOME = 1000
    };
    static clv_aabb boxes[SOME];
    static clv_id ids[SOME];
    heap memory = { 0 };
    clv_space_def def = clv_default_space_def();
    clv_space* space = NULL;
    def.allocator = heap_hooks( &memory );
    CHECK_OK( clv_space_create( &def, &space ) );
    for ( int round = 0; round < 2; ++round )
    {
        float side = round == 0 ? 1.0f : 0.1f;
        for ( uint32_t i = 0; i < SOME; ++i )
        {
            clv_vec3 at = { 3 * (float)( i % 10 ), 3 * (float)( i / 10 % 10 ), 3 * (float)( i / 100 ) };
            boxes[i] = ( clv_aabb ){ at, { at.x + side, at.y + side, at.z + side } };
        }
        if ( round == 0 )
        {
            CHECK_OK( clv_space_add( space, boxes, SOME, ids ) );
            CHECK_OK( clv_space_refresh( space ) );
            CHECK_OK( clv_space_shrink( space ) ); // so that a build needs memory
        }
    }
    CHECK_OK( clv_space_move( space, ids, boxes, SOME ) );
    memory.refuse_from = memory.allocate_count + 1;
    memory.refuse_count = UINT64_MAX;
    CHECK_EQUAL( clv_space_refresh( space ), CLV_OUT_OF_MEMORY );
    heap_heal( &memory );
    clv_space_clear( space );
    CHECK_OK( clv_space_refresh( space ) );
    CHECK_OK( clv_space_add( space, boxes, SOME, ids ) );
    CHECK_OK( clv_space_refresh( space ) );
    clv_hit hit;
    CHECK_OK( clv_space_nearest( space, boxes[77].lower, 1, INFINITY, &hit ) );
    CHECK_EQUAL( hit.index, ids[77].index );
    clv_space_destroy( space );
}

// Counters decide, and these are the same everywhere: as many builds, frame by frame.
static void every_machine_builds_at_the_same_time( void )
{
    for ( int kind = 0; kind < 3; ++kind )
    {
        uint64_t expected[12] = { 0 };
        for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
        {
            for ( uint32_t workers = 1; workers <= 3 && clv_isa_is_supported( (clv_isa)isa ); workers += 2 )
            {
                test_where.isa = (clv_isa)isa;
                test_where.worker_count = workers;
                wear_world* w = make_world( kind, 4 );
                half_spaces( w );
                start_world( w, (clv_isa)isa, workers );
                for ( uint32_t frame = 0; frame < TEST_COUNT( expected ); ++frame )
                {
                    test_where.frame = frame;
                    fast_drift( w );
                    show_world( w );
                    bool is_first = isa == CLV_ISA_SCALAR && workers == 1;
                    expected[frame] = is_first ? build_count( w ) : expected[frame];
                    CHECK_EQUAL( build_count( w ), expected[frame] );
                }
                free_world( w );
            }
        }
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( queries_visit_at_most_twice_a_fresh_tree ),
        TEST_CASE( objects_that_move_one_by_one_cost_no_more ),
        TEST_CASE( a_changed_world_is_built_anew ),
        TEST_CASE( builds_in_vain_become_rare ),
        TEST_CASE( wear_of_one_part_of_the_world_is_seen ),
        TEST_CASE( an_empty_tree_is_never_worn ),
        TEST_CASE( a_suspicion_outlives_a_build_without_memory ),
        TEST_CASE( every_machine_builds_at_the_same_time ),
    };
    return test_run( "query_wear", cases, TEST_COUNT( cases ), argc, argv );
}
