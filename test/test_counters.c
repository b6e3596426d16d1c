// SPDX-License-Identifier: MIT
// What methods count and what the lab makes of it: figures that must add up, their means in results, a tree
// as a file.
#include "kd/kd_search.h"
#include "lab/base/json.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/result/results.h"
#include "space/instrument.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    OBJECTS = 600,
    FIGURES = 128,
};

// ---- figures of a space

typedef struct figure_set
{
    clv_method_figure items[FIGURES];
    uint32_t count;
} figure_set;

static double figure( const figure_set* set, const char* name )
{
    for ( uint32_t i = 0; i < set->count; ++i )
    {
        if ( strcmp( set->items[i].name, name ) == 0 )
        {
            return set->items[i].value;
        }
    }
    test_fail( __FILE__, __LINE__, "no figure '%s'", name );
    return 0;
}

// The sum of all whose name starts so.
static double figures_like( const figure_set* set, const char* start )
{
    double sum = 0;
    for ( uint32_t i = 0; i < set->count; ++i )
    {
        sum += strncmp( set->items[i].name, start, strlen( start ) ) == 0 ? set->items[i].value : 0;
    }
    return sum;
}

// A space after one update over a cloud of boxes.
static clv_space* cloud( const char* name, const char* settings )
{
    static clv_aabb boxes[OBJECTS];
    test_random random = test_random_make( 7 );
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, 0, 20 ), test_random_between( &random, 0, 20 ),
            test_random_between( &random, 0, 20 ), 1 );
    }
    clv_space* space;
    clv_space_def def = clv_default_space_def();
    def.method = name;
    def.settings = settings;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, OBJECTS, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    return space;
}

static figure_set look( clv_space* space )
{
    figure_set set;
    set.count = clv_space_report( space, set.items, FIGURES );
    CHECK( set.count <= FIGURES );
    return set;
}

static void leaves_and_objects_of_a_tree_add_up( void )
{
    clv_space* space = cloud( "kd-complete", "kd.leaf=16" );
    figure_set set = look( space );
    CHECK( figure( &set, "leaves" ) > 20 );
    CHECK( figures_like( &set, "leaves at depth " ) + figure( &set, "leaves deeper" ) ==
        figure( &set, "leaves" ) );
    CHECK( figures_like( &set, "objects in " ) + figure( &set, "objects outside" ) == OBJECTS );
    CHECK( figure( &set, "leaves at depth 0" ) == 0 );
    CHECK( figures_like( &set, "pairs pruned " ) + figure( &set, "pairs tested" ) ==
        OBJECTS * ( OBJECTS - 1 ) / 2.0 );
    clv_space_destroy( space );
}

// Whichever way a node is searched, its batches hold exactly the tests made.
static void batches_hold_every_test( void )
{
    static const char* const ways[] = {
        "kd.leaf=16,kd.batches=1",
        "kd.tree=0,kd.batches=1",
        "kd.leaf=16,kd.sap=0,kd.batches=1",
        "kd.tree=0,kd.sap=0,kd.batches=1",
    };
    static const char* const methods[] = { "kd-complete", "kd-rebuilt", "kd-incremental", "kd-paper-complete",
        "kd-paper-rebuilt", "kd-paper-incremental" };
    for ( size_t way = 0; way < TEST_COUNT( ways ); ++way )
    {
        for ( size_t row = 0; row < TEST_COUNT( methods ); ++row )
        {
            const char* settings = ways[way];
            test_where.note = settings;
            test_where.method = methods[row];
            clv_space* space = cloud( methods[row], settings );
            figure_set set = look( space );
            double in_bins = figures_like( &set, "batches of " ) + figures_like( &set, "batches to " ) +
                figure( &set, "batches longer" );
            CHECK( figure( &set, "batches" ) > 0 );
            CHECK( in_bins == figure( &set, "batches" ) );
            CHECK( figure( &set, "batch tests" ) == figure( &set, "pairs tested" ) );
            clv_space_destroy( space );
        }
    }
}

static void the_engine_counts_what_its_blocks_did( void )
{
    clv_space* space = cloud( "cleave", "cleave.block=8" );
    figure_set set = look( space );
    CHECK( figure( &set, "by brute force" ) == 0 && figure( &set, "blocks" ) > 1 );
    CHECK( figure( &set, "boxes in blocks" ) >= OBJECTS );
    CHECK( figure( &set, "boxes in cells" ) >= figure( &set, "boxes in blocks" ) );
    CHECK( figure( &set, "tests in bytes" ) == (double)clv_space_stats( space ).test_count );
    CHECK( figure( &set, "tests in bytes" ) >= figure( &set, "candidates" ) );
    CHECK( figure( &set, "candidates" ) >= (double)clv_space_pairs( space ).count );
    clv_space_destroy( space );
    space = cloud( "cleave", "cleave.few=1000" );
    set = look( space );
    CHECK( figure( &set, "by brute force" ) == 1 && figure( &set, "cells" ) == 0 );
    clv_space_destroy( space );
}

static void fill_swarm( clv_aabb* boxes, uint32_t count, float spread, float size )
{
    test_random random = test_random_make( 11 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        float at[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            at[axis] = 0; // dense in the middle and ever thinner outwards
            for ( int k = 0; k < 4; ++k )
            {
                at[axis] += test_random_between( &random, -spread, spread );
            }
        }
        boxes[i] = test_cube( at[0], at[1], at[2], size );
    }
}

static clv_space* swarm_space( const char* settings, const clv_aabb* boxes, uint32_t count, clv_id* ids )
{
    clv_space* space;
    clv_space_def def = clv_default_space_def();
    def.settings = settings;
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, count, ids ) );
    CHECK_OK( clv_space_update( space ) );
    return space;
}

// Boxes that shrink where they are need smaller cells at once, not when the grid is due.
static void a_grid_follows_the_size_of_its_boxes( void )
{
    enum
    {
        COUNT = 4000
    };
    static clv_aabb large[COUNT], small[COUNT];
    static clv_id ids[COUNT];
    fill_swarm( large, COUNT, 20, 4 );
    fill_swarm( small, COUNT, 20, 0.3f );
    clv_space* space = swarm_space( "cleave.rest=0", large, COUNT, ids );
    CHECK_OK( clv_space_move( space, ids, small, COUNT ) );
    CHECK_OK( clv_space_update( space ) );
    figure_set after = look( space );
    clv_space* fresh = swarm_space( "cleave.rest=0", small, COUNT, NULL );
    figure_set wanted = look( fresh );
    CHECK( figure( &after, "tests in bytes" ) < 1.1 * figure( &wanted, "tests in bytes" ) );
    clv_space_destroy( fresh );
    clv_space_destroy( space );
}

// All boxes jump away right after blocks were planned: the plan is no use there, and waiting until it is due
// would take long.
static void a_plan_is_dropped_when_all_boxes_jump( void )
{
    enum
    {
        COUNT = 6000
    };
    static clv_aabb boxes[COUNT];
    static clv_id ids[COUNT];
    const char* settings = "cleave.rest=0,cleave.block=120";
    fill_swarm( boxes, COUNT, 10, 1 );
    clv_space* space = swarm_space( settings, boxes, COUNT, ids );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        boxes[i].lower.x += 1000;
        boxes[i].upper.x += 1000;
    }
    CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
    CHECK_OK( clv_space_update( space ) );
    figure_set after = look( space );
    clv_space* fresh = swarm_space( settings, boxes, COUNT, NULL );
    figure_set wanted = look( fresh );
    CHECK( figure( &wanted, "blocks" ) > 1 );
    CHECK( figure( &after, "largest block" ) < 1.1 * figure( &wanted, "largest block" ) );
    clv_space_destroy( fresh );
    clv_space_destroy( space );
}

// Beyond the border of a grid all boxes have one code and their pairs are decided in float: few boxes may lie
// there, also when a swarm spreads.
static void few_boxes_lie_beyond_a_grid( void )
{
    enum
    {
        COUNT = 6000,
        FRAMES = 40
    };
    static const char* const settings[] = { "cleave.rest=0", "cleave.rest=0,cleave.block=120" };
    static clv_aabb boxes[COUNT];
    static clv_id ids[COUNT];
    for ( size_t row = 0; row < TEST_COUNT( settings ); ++row )
    {
        test_where.note = settings[row];
        fill_swarm( boxes, COUNT, 10, 1 );
        clv_space* space = swarm_space( settings[row], boxes, COUNT, ids );
        double ties = 0, candidates = 0;
        for ( uint32_t frame = 1; frame < FRAMES; ++frame )
        {
            fill_swarm( boxes, COUNT, 10 + 0.1f * (float)frame, 1 );
            CHECK_OK( clv_space_move( space, ids, boxes, COUNT ) );
            CHECK_OK( clv_space_update( space ) );
            figure_set set = look( space );
            ties += figure( &set, "tests in float" );
            candidates += figure( &set, "candidates" );
        }
        CHECK( ties < 0.15 * candidates );
        clv_space_destroy( space );
    }
}

// Others move every frame: a box that comes to rest must not stay out of order for long, or every search
// pays.
static void a_settling_crowd_stays_in_order( void )
{
    enum
    {
        MANY = 8000,
        MOVING = 400
    };
    static clv_aabb boxes[MANY];
    static clv_id ids[MANY];
    test_random random = test_random_make( 11 );
    for ( uint32_t i = 0; i < MANY; ++i )
    {
        boxes[i] = test_cube( test_random_between( &random, 0, 60 ), test_random_between( &random, 0, 60 ),
            test_random_between( &random, 0, 60 ), 1 );
    }
    clv_space* space;
    clv_space_def def = clv_default_space_def();
    def.method = "kd-incremental";
    def.settings = "kd.query=1";
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, MANY, ids ) );
    CHECK_OK( clv_space_update( space ) );
    double tests = 0, askers = 0;
    for ( uint32_t frame = 0; frame < 30; ++frame )
    {
        for ( uint32_t i = 0; i < MOVING; ++i )
        {
            clv_aabb* box = &boxes[( frame * MOVING / 2 + i ) % MANY];
            *box = test_box( box->lower.x + 0.1f, box->lower.y, box->lower.z, box->upper.x + 0.1f,
                box->upper.y, box->upper.z );
        }
        CHECK_OK( clv_space_move( space, ids, boxes, MANY ) );
        CHECK_OK( clv_space_update( space ) );
        figure_set set = look( space );
        CHECK( frame < 2 || figure( &set, "by query" ) == 1 );
        tests += frame < 2 ? 0 : figure( &set, "pairs tested" );
        askers += frame < 2 ? 0 : figure( &set, "active objects" );
    }
    CHECK( tests < 150 * askers );
    clv_space_destroy( space );
}

static void batches_of_crowded_lists_are_counted_too( void )
{
    // All in one bucket of the small grid, a few far away: such lists are sorted.
    static clv_aabb boxes[OBJECTS];
    for ( uint32_t i = 0; i < OBJECTS; ++i )
    {
        boxes[i] = test_cube( i < 2 ? (float)i * 1e4f : (float)i * 1e-3f, 0, 0, 0.01f );
    }
    clv_space* space;
    clv_space_def def = clv_default_space_def();
    def.method = "kd-complete";
    def.settings = "kd.leaf=16,kd.batches=1";
    CHECK_OK( clv_space_create( &def, &space ) );
    CHECK_OK( clv_space_add( space, boxes, OBJECTS, NULL ) );
    CHECK_OK( clv_space_update( space ) );
    figure_set set = look( space );
    CHECK( figure( &set, "batches" ) > 0 );
    CHECK( figure( &set, "batch tests" ) == figure( &set, "pairs tested" ) );
    clv_space_destroy( space );
}

static void batches_are_counted_only_where_asked_for( void )
{
    clv_space* space = cloud( "kd-complete", "kd.leaf=16" );
    figure_set set = look( space );
    CHECK( figure( &set, "batches" ) == 0 && figure( &set, "pairs tested" ) > 0 );
    CHECK_OK( clv_space_shrink( space ) );
    clv_space_destroy( space );
    space = cloud( "kd-complete", "kd.leaf=16,kd.batches=1" );
    CHECK_OK( clv_space_shrink( space ) );
    CHECK_OK( clv_space_update( space ) );
    set = look( space );
    CHECK( figure( &set, "batches" ) > 0 ); // shrinking forgets memory, not the wish
    clv_space_destroy( space );
}

static void a_batch_is_in_the_bin_of_its_power_of_two( void )
{
    static const struct
    {
        uint32_t length, bin;
    } rows[] = { { 1, 0 }, { 2, 1 }, { 3, 2 }, { 4, 2 }, { 5, 3 }, { 8, 3 }, { 9, 4 }, { 512, 9 },
        { 513, 10 }, { UINT32_MAX, 10 } };
    for ( size_t i = 0; i < TEST_COUNT( rows ); ++i )
    {
        kd_batches batches = { 0 };
        clv_kd_batches_add( &batches, rows[i].length );
        clv_kd_batches_add( &batches, 0 ); // no batch at all
        CHECK_EQUAL( batches.count, 1 );
        CHECK_EQUAL( batches.test_count, rows[i].length );
        CHECK_EQUAL( batches.bins[rows[i].bin], 1 );
    }
}

static void figures_can_be_asked_for_before_the_first_update( void )
{
    for ( uint32_t row = 0; row < clv_method_count(); ++row )
    {
        const clv_method* m = clv_method_at( row );
        clv_space* space;
        clv_space_def def = clv_default_space_def();
        def.method = m->name;
        if ( m->missing != NULL )
        {
            continue;
        }
        CHECK_OK( clv_space_create( &def, &space ) );
        uint32_t count = clv_space_report( space, NULL, 0 );
        CHECK_EQUAL( count > 0, m->report != NULL );
        figure_set set = look( space );
        CHECK_EQUAL( set.count, count );
        CHECK_EQUAL( clv_space_dump( space, NULL, 0 ) > 0, m->dump != NULL );
        clv_space_destroy( space );
    }
}

// ---- results

static bool measure_on( const char* scene, run_switches switches, const char* name, run_result* result )
{
    lab_error why;
    frame_source source = { 0 };
    bake_def def = { .generator = generator_find( scene ),
        .scene = { .body_count = 500, .seed = 1, .thread_count = 1 },
        .frame_count = 4 };
    run_wish wish = { 0 };
    run_spec_list specs = { 0 };
    text_list_add( &wish.names, name );
    run_options options = { .frame_count = 4, .warmup = 0, .repeat = 2, .switches = switches };
    bool good = frame_source_open_scene( &source, &def, &why ) &&
        run_spec_list_make( &specs, &wish, false, &why ) &&
        run_method( &source, &specs.items[0], &options, result, &why );
    frame_source_close( &source );
    run_spec_list_free( &specs );
    run_wish_free( &wish );
    return good;
}

static bool measure( const char* name, run_result* result )
{
    return measure_on( "brownian-free", ( run_switches ){ 0 }, name, result );
}

// Every method that can run here; in one scene all boxes change, in the other one in a hundred does.
static void changed_boxes_give_the_pairs_of_all( void )
{
    static const char* const scenes[] = { "brownian-free", "mostly-rest" };
    static const double shares[] = { 1, 0.01 };
    for ( uint32_t index = 0; index < 2 * clv_method_count(); ++index )
    {
        const clv_method* method = clv_method_at( index / 2 );
        run_result all, changed;
        test_where.note = method->name;
        CHECK( measure_on( scenes[index % 2], ( run_switches ){ 0 }, method->name, &all ) );
        CHECK( measure_on( scenes[index % 2], ( run_switches ){ .changed = true }, method->name, &changed ) );
        CHECK_EQUAL( all.status, changed.status );
        if ( all.status == RUN_OK )
        {
            CHECK( all.pairs_hash == changed.pairs_hash && all.pairs_last == changed.pairs_last );
            CHECK( changed.switches.changed && changed.changed_share == shares[index % 2] );
        }
        run_result_free( &all );
        run_result_free( &changed );
    }
}

static void results_tell_what_was_handed_over( void )
{
    run_results results = { 0 };
    run_result again;
    lab_error why;
    CHECK( measure_on( "mostly-rest", ( run_switches ){ .changed = true, .sorted = true }, "kd",
        run_results_add( &results ) ) );
    CHECK( results_read_run( results_run_json( &results.items[0] ), "run", &again, &why ) );
    CHECK( run_switches_are_same( &again.switches, &results.items[0].switches ) );
    CHECK( again.switches.changed && !again.switches.events && again.changed_share == 0.01 );
    run_result_free( &again );
    run_results_free( &results );
}

static void results_hold_means_over_the_frames( void )
{
    run_result result;
    CHECK( measure( "kd-complete", &result ) );
    CHECK( result.counter_count > 40 );
    figure_set set = { .count = result.counter_count };
    memcpy( set.items, result.counters, result.counter_count * sizeof( clv_method_figure ) );
    CHECK( figure( &set, "objects in leaves" ) == 500 ); // a sum over four frames would be 2000
    CHECK( figure( &set, "nodes" ) == 1 );
    run_result_free( &result );
    CHECK( result.counters == NULL && result.counter_count == 0 );
}

static void results_say_counters_as_an_object( void )
{
    static const char* const methods[] = { "kd-complete", "brute" };
    run_results results = { 0 };
    lab_error why;
    for ( size_t i = 0; i < 2; ++i )
    {
        CHECK( measure( methods[i], run_results_add( &results ) ) );
    }
    char* text = results_json( &results, &why );
    CHECK( text != NULL );
    size_t bad;
    json_value* value = json_parse( text, strlen( text ), &bad );
    CHECK( value != NULL );
    const json_value* run = json_first( json_get( value, "runs" ) );
    CHECK( json_as_number( json_get( json_get( run, "counters" ), "leaves" ) ) == 1 );
    const json_value* none = json_get( json_next( run ), "counters" );
    CHECK( json_is_object( none ) && json_first( none ) == NULL );
    json_free( value );
    free( text );
    run_results_free( &results );
}

// ---- a tree as a file

static lab_status write_tree( const char* words )
{
    char line[256];
    char* argv[16];
    int argc = 0;
    snprintf( line, sizeof( line ), "%s", words );
    for ( char* word = strtok( line, " " ); word != NULL; word = strtok( NULL, " " ) )
    {
        argv[argc++] = word;
    }
    return command_tree( argc, argv );
}

static void a_tree_file_holds_nodes_and_boxes( void )
{
    lab_error why;
    CHECK( write_tree( "brownian-free:300@0+3 --set kd.leaf=32 -o test_counters_tree.json" ) == LAB_DONE );
    json_value* value = json_file_read( "test_counters_tree.json", &why );
    CHECK( value != NULL );
    CHECK( json_as_number( json_get( value, "frame" ) ) == 3 );
    uint32_t box_count = 0;
    for ( const json_value* box = json_first( json_get( value, "boxes" ) ); box != NULL;
          box = json_next( box ) )
    {
        box_count += 1;
    }
    CHECK_EQUAL( box_count, 300 );
    // Every object once, in the tree or outside.
    uint32_t object_count = 0;
    const json_value* tree = json_get( value, "tree" );
    for ( const json_value* node = json_first( json_get( tree, "nodes" ) ); node != NULL;
          node = json_next( node ) )
    {
        for ( const json_value* o = json_first( json_get( node, "objects" ) ); o != NULL; o = json_next( o ) )
        {
            object_count += 1;
        }
    }
    for ( const json_value* o = json_first( json_get( tree, "outside" ) ); o != NULL; o = json_next( o ) )
    {
        object_count += 1;
    }
    CHECK_EQUAL( object_count, 300 );
    json_free( value );
    remove( "test_counters_tree.json" );
}

static void a_refused_tree_leaves_no_file( void )
{
    static const char* const wishes[] = {
        "brownian-free:300@0+3 -m sap -o test_counters_none.json",
        "brownian-free:300@0+3 -m kdd -o test_counters_none.json",
        "brownian-free:300@0+3 --frame 4 -o test_counters_none.json",
        "brownian-free:300@0+3 --set kd.leaf=x -o test_counters_none.json",
        "nowhere:300 -o test_counters_none.json",
        "brownian-free:300@0+3",
        "-o test_counters_none.json",
    };
    for ( size_t i = 0; i < TEST_COUNT( wishes ); ++i )
    {
        test_where.note = wishes[i];
        CHECK( write_tree( wishes[i] ) == LAB_BAD_INPUT );
        FILE* file = fopen( "test_counters_none.json", "rb" );
        CHECK( file == NULL );
    }
}

int main( int argc, char** argv )
{
    lab_error why;
    progress_set_quiet( true );
    const test_case cases[] = {
        TEST_CASE( leaves_and_objects_of_a_tree_add_up ),
        TEST_CASE( batches_hold_every_test ),
        TEST_CASE( the_engine_counts_what_its_blocks_did ),
        TEST_CASE( a_grid_follows_the_size_of_its_boxes ),
        TEST_CASE( a_plan_is_dropped_when_all_boxes_jump ),
        TEST_CASE( few_boxes_lie_beyond_a_grid ),
        TEST_CASE( a_settling_crowd_stays_in_order ),
        TEST_CASE( batches_of_crowded_lists_are_counted_too ),
        TEST_CASE( batches_are_counted_only_where_asked_for ),
        TEST_CASE( a_batch_is_in_the_bin_of_its_power_of_two ),
        TEST_CASE( figures_can_be_asked_for_before_the_first_update ),
        TEST_CASE( changed_boxes_give_the_pairs_of_all ),
        TEST_CASE( results_tell_what_was_handed_over ),
        TEST_CASE( results_hold_means_over_the_frames ),
        TEST_CASE( a_refused_tree_leaves_no_file ),
        // These read JSON back.
        TEST_CASE( results_say_counters_as_an_object ),
        TEST_CASE( a_tree_file_holds_nodes_and_boxes ),
    };
    size_t count = json_is_here( &why ) ? TEST_COUNT( cases ) : TEST_COUNT( cases ) - 2;
    return test_run( "counters", cases, count, argc, argv );
}
