// SPDX-License-Identifier: MIT
// Lists of near points against brute force in the same arithmetic: all kinds of cells, types, forms, workers
// and instruction sets.
#include "heap.h"
#include "near_world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void near_world_fail( const char* file, int line, const char* what, const near_world* world )
{
    test_where.isa = world->def.isa;
    test_where.worker_count = world->def.worker_count;
    test_fail( file, line, "does not hold: %s", what );
    abort(); // test_fail leaves the test case
}

static double unit( test_random* random )
{
    return (double)( test_random_next( random ) >> 11 ) * 0x1p-53;
}

// ---- worlds

typedef enum world_kind
{
    WORLD_LIQUID,
    WORLD_LATTICE, ///< distances equal to the cutoff all the time
    WORLD_SAME,
    WORLD_KNOTS, ///< far apart, each much smaller than the way to the next
    WORLD_LINE,
    WORLD_PLANE,
    WORLD_OUTLIER,
    WORLD_AWAY, ///< far outside the cell
    WORLD_KIND_COUNT
} world_kind;

static void fill_point( near_world* world, world_kind kind, uint32_t i, test_random* random )
{
    double x = 8 * unit( random ), y = 8 * unit( random ), z = 8 * unit( random );
    switch ( kind )
    {
    case WORLD_LIQUID: break;
    case WORLD_LATTICE: x = floor( x ), y = floor( y ), z = floor( z ); break;
    case WORLD_SAME: x = 1 + i % 3, y = 2, z = 3; break;
    case WORLD_KNOTS: x = x / 64 + 1e6 * ( i % 5 ), y = y / 64 - 3e5 * ( i % 3 ), z = z / 64; break;
    case WORLD_LINE: x = 0.3 * i, y = 0.1 * i, z = 0.2 * i; break;
    case WORLD_PLANE: x = y - z; break;
    case WORLD_OUTLIER: x = i == 7 ? 1e15 : x; break;
    default: x += 800 * floor( x - 4 ), y -= 80 * floor( y ), z += 8 * floor( z ); break;
    }
    near_world_set( world, i, x, y, z );
}

static void fill_cell( near_world* world, test_random* random )
{
    clv_near_cell* cell = &world->cell;
    memset( cell, 0, sizeof( *cell ) );
    double size = test_random_chance( random, 30 ) ? 1.5 : 8; // the smaller one is below twice the cutoff
    bool is_skewed = test_random_chance( random, 50 );
    for ( int k = 0; k < ( world->def.flat ? 2 : 3 ); ++k )
    {
        cell->periodic[k] = test_random_chance( random, 65 );
        for ( int axis = 0; axis < ( world->def.flat ? 2 : 3 ) && is_skewed; ++axis )
        {
            cell->edges[k][axis] = size * ( unit( random ) - 0.5 );
        }
        cell->edges[k][k] = size * ( 1 + unit( random ) / 4 );
    }
    world->has_cell = true;
}

static void random_world( uint64_t seed )
{
    test_random random = test_random_make( seed );
    near_world* world = near_world_new( seed % 2 == 0, seed % 5 == 0, 0.3 + 1.2 * unit( &random ) );
    test_where.seed = seed;
    world_kind kind = (world_kind)( seed % WORLD_KIND_COUNT );
    world->cell.edges[0][0] = 1;
    if ( test_random_chance( &random, 70 ) )
    {
        fill_cell( world, &random );
    }
    bool is_small = world->has_cell && fabs( world->cell.edges[0][0] ) < 4;
    world->count = is_small ? 1 + test_random_below( &random, 30 ) : 1 + test_random_below( &random, 400 );
    world->stride += test_random_below( &random, 2 );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        fill_point( world, kind == WORLD_OUTLIER && world->has_cell ? WORLD_LIQUID : kind, i, &random );
        double radius = floor( 4 * unit( &random ) ) / 8;
        world->radii[i] = (float)radius;
        world->radii64[i] = radius;
        world->groups[i] = test_random_below( &random, 5 );
    }
    world->def.cutoff = kind == WORLD_LATTICE ? 1 + (double)( seed % 2 ) : world->def.cutoff;
    world->has_radii = test_random_chance( &random, 25 );
    world->has_groups = test_random_chance( &random, 25 );
    world->excluded_count =
        world->count > 1 && test_random_chance( &random, 30 ) ? 1 + test_random_below( &random, 50 ) : 0;
    for ( uint32_t i = 0; i < world->excluded_count; ++i )
    {
        uint32_t a = test_random_below( &random, world->count );
        world->excluded[i] =
            ( clv_pair ){ a, ( a + 1 + test_random_below( &random, world->count - 1 ) ) % world->count };
    }
    world->def.full = test_random_chance( &random, 40 );
    world->def.by_point = test_random_chance( &random, 40 );
    world->def.shifts = test_random_chance( &random, 75 );
    world->def.squared = test_random_chance( &random, 50 );
    world->def.vectors = test_random_chance( &random, 50 );
    world->def.skin = test_random_chance( &random, 20 ) ? 0.2 : 0;
    CHECK_OK( near_world_check( world ) );
    free( world );
}

static void random_worlds_match_brute_force( void )
{
    uint32_t seeds = test_scaled( 300 );
    for ( uint64_t seed = 1; seed <= seeds; ++seed )
    {
        random_world( seed );
    }
}

// ---- exact little cases

static uint64_t count_pairs( const near_world* world )
{
    clv_near* near = near_world_make( world );
    clv_near_points points = near_world_points( world );
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    uint64_t count = clv_near_list( near ).count;
    clv_near_destroy( near );
    return count;
}

static void a_distance_equal_to_the_cutoff_counts( void )
{
    near_world* world = near_world_new( false, false, 5 );
    world->count = 2;
    near_world_set( world, 0, 1, 1, 1 );
    near_world_set( world, 1, 4, 5, 1 );
    CHECK_EQUAL( count_pairs( world ), 1 );
    world->def.cutoff = (double)nextafterf( 5, 0 );
    CHECK_EQUAL( count_pairs( world ), 0 );
    free( world );
}

static void cutoff_zero_lists_equal_points( void )
{
    near_world* world = near_world_new( true, false, 0 );
    world->count = 600;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        near_world_set( world, i, i % 300, 1e9 * ( i % 300 ), 0 );
    }
    CHECK_EQUAL( count_pairs( world ), 300 );
    free( world );
}

static void equal_points_are_all_pairs( void )
{
    near_world* world = near_world_new( false, false, 0.5 );
    world->count = NEAR_WORLD_MOST;
    CHECK_EQUAL( count_pairs( world ), NEAR_WORLD_MOST * ( NEAR_WORLD_MOST - 1 ) / 2 );
    world->def.full = true;
    world->def.by_point = true;
    CHECK_EQUAL( count_pairs( world ), NEAR_WORLD_MOST * ( NEAR_WORLD_MOST - 1 ) );
    free( world );
}

static void no_point_and_one_point_have_no_pairs( void )
{
    near_world* world = near_world_new( false, true, 1 );
    CHECK_EQUAL( count_pairs( world ), 0 );
    world->def.by_point = true;
    world->def.full = true;
    CHECK_EQUAL( count_pairs( world ), 0 );
    world->count = 1;
    CHECK_EQUAL( count_pairs( world ), 0 );
    // No point in a cell so small that one would have more images than there can be.
    world->count = 0;
    world->has_cell = true;
    world->cell =
        ( clv_near_cell ){ { { 1e-12, 0, 0 }, { 0, 1e-12, 0 }, { 0, 0, 1 } }, { true, true, false } };
    CHECK_EQUAL( count_pairs( world ), 0 );
    free( world );
}

// A lattice of one atom: 6 neighbours at 1, 12 at sqrt 2, 8 at sqrt 3, half of each listed.
static void a_point_meets_its_own_images( void )
{
    near_world* world = near_world_new( true, false, 1 );
    world->count = 1;
    near_world_set( world, 0, 0.25, 0.5, 0.75 );
    world->has_cell = true;
    world->cell = ( clv_near_cell ){ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { true, true, true } };
    CHECK_EQUAL( count_pairs( world ), 3 );
    world->def.cutoff = 1.42;
    CHECK_EQUAL( count_pairs( world ), 9 );
    world->def.cutoff = 1.74;
    CHECK_EQUAL( count_pairs( world ), 13 );
    world->def.full = true;
    CHECK_EQUAL( count_pairs( world ), 26 );
    world->def.cutoff = 20;
    world->def.full = false;
    CHECK_EQUAL( count_pairs( world ), 33400 / 2 ); // lattice points within 20 of one, without itself
    free( world );
}

// Without shifts the kernel leaves out what a half list by point has at the other point: of a point's own
// images those that are shifted down.
static void a_half_list_by_point_has_each_own_image_once( void )
{
    const float at[] = { 0.0f, 0.0f, 0.5f, 0.1f, 0.07f, 0.5f, 0.2f, 0.28f, 0.5f };
    const clv_near_cell cell = { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { true, true, true } };
    for ( uint32_t count = 1; count <= 3; count += 2 )
    {
        uint64_t counts[2];
        for ( int shifts = 0; shifts < 2; ++shifts )
        {
            clv_near_def def = clv_default_near_def();
            def.cutoff = 1;
            def.by_point = true;
            def.shifts = shifts != 0;
            clv_near* near;
            CHECK_OK( clv_near_create( &def, &near ) );
            clv_near_points points = { .positions = at, .stride = 12, .count = count, .cell = &cell };
            CHECK_OK( clv_near_update( near, &points, NULL ) );
            counts[shifts] = clv_near_list( near ).count;
            clv_near_destroy( near );
        }
        CHECK( count != 1 || counts[0] == 3 );
        CHECK_EQUAL( counts[0], counts[1] );
    }
}

static void the_shift_tells_where_a_point_was_wrapped_from( void )
{
    near_world* world = near_world_new( true, false, 1 );
    world->def.shifts = world->def.vectors = true;
    world->has_cell = true;
    world->cell = ( clv_near_cell ){ { { 10, 0, 0 }, { 0, 10, 0 }, { 0, 0, 10 } }, { true, false, false } };
    world->count = 2;
    near_world_set( world, 0, 0.25, 5, 5 );
    near_world_set( world, 1, -30.5, 5, 5 ); // 9.5 in the cell: -0.5 for the first
    clv_near* near = near_world_make( world );
    clv_near_points points = near_world_points( world );
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    clv_near_view view = clv_near_list( near );
    CHECK_EQUAL( view.count, 1 );
    CHECK( view.shifts[0] == 3 && view.shifts[1] == 0 && view.shifts[2] == 0 );
    CHECK( view.vectors64[0] == -0.75 && view.vectors64[1] == 0 );
    clv_near_destroy( near );
    free( world );
}

// The squares of such distances are all 0 in float, and so they are equal.
static void tiny_cutoffs_follow_the_arithmetic( void )
{
    near_world* world = near_world_new( false, false, 1e-30 );
    world->count = 300;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        near_world_set( world, i, 1e-24 * ( i % 20 ), i / 20, 0 );
    }
    CHECK_EQUAL( count_pairs( world ), 15 * 190 );
    CHECK_OK( near_world_check( world ) );
    free( world );
}

static void one_giant_radius_is_no_cliff( void )
{
    enum
    {
        COUNT = 20000
    };
    float* xyz = malloc( 3 * COUNT * sizeof( float ) );
    float* radii = malloc( COUNT * sizeof( float ) );
    test_random random = test_random_make( 5 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            xyz[3 * i + axis] = (float)( 100 * unit( &random ) );
        }
        radii[i] = i == 77 ? 400.0f : 0.01f;
    }
    clv_near_def def = clv_default_near_def();
    clv_near* near = NULL;
    CHECK_OK( clv_near_create( &def, &near ) );
    clv_near_points points = { .positions = xyz, .stride = 12, .count = COUNT, .radii = radii };
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    CHECK( clv_near_list( near ).count >= COUNT - 1 );
    CHECK( clv_near_get_stats( near ).test_count < 2 * COUNT );
    clv_near_destroy( near );
    free( xyz );
    free( radii );
}

// Two atoms of radii of their own in a small cell: their images, thousands, meet the atoms and not each
// other.
static void images_do_not_meet_images( bool doubles )
{
    near_world* world = near_world_new( doubles, false, 0.5 );
    world->count = 2;
    near_world_set( world, 1, 0.5, 0.5, 0.5 );
    world->radii[0] = 3, world->radii[1] = 4;
    world->radii64[0] = 3, world->radii64[1] = 4;
    world->has_radii = true;
    world->has_cell = true;
    world->cell = ( clv_near_cell ){ { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { true, true, true } };
    clv_near* near = near_world_make( world );
    clv_near_points points = near_world_points( world );
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    clv_near_stats stats = clv_near_get_stats( near );
    CHECK( stats.image_count > 4000 );
    CHECK( stats.pair_count > 3000 );
    CHECK( stats.test_count < 2 * (uint64_t)stats.image_count );
    clv_near_destroy( near );
    CHECK_OK( near_world_check( world ) );
    free( world );
}

static void a_small_cell_with_radii_is_not_quadratic( void )
{
    images_do_not_meet_images( false );
    images_do_not_meet_images( true );
}

// Knots in a world 10^12 cutoffs wide: pairs that are tested stay of the order of the points.
static void knots_far_apart_are_not_quadratic( void )
{
    enum
    {
        COUNT = 20000
    };
    double* xyz = malloc( 3 * COUNT * sizeof( double ) );
    test_random random = test_random_make( 6 );
    for ( uint32_t i = 0; i < COUNT; ++i )
    {
        for ( uint32_t axis = 0; axis < 3; ++axis )
        {
            xyz[3 * i + axis] = 1e9 * ( i % 4 * ( axis == 0 ) ) + unit( &random );
        }
    }
    clv_near_def def = clv_default_near_def();
    def.cutoff = 0.01;
    def.doubles = true;
    clv_near* near = NULL;
    CHECK_OK( clv_near_create( &def, &near ) );
    clv_near_points points = { .positions64 = xyz, .stride = 24, .count = COUNT };
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    CHECK( clv_near_get_stats( near ).test_count < 20 * COUNT );
    clv_near_destroy( near );
    free( xyz );
}

// ---- a skin

static void a_skin_keeps_the_list_while_it_may( void )
{
    near_world* world = near_world_new( false, false, 1 );
    world->def.skin = 0.5;
    world->def.squared = true;
    world->count = 200;
    test_random random = test_random_make( 3 );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        fill_point( world, WORLD_LIQUID, i, &random );
    }
    clv_near* near = near_world_make( world );
    clv_near_points points = near_world_points( world );
    bool is_new = false;
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( is_new );
    world->xyz[0] += 0.24f;
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( !is_new );
    clv_near_view view = clv_near_list( near );
    uint64_t within = 0, expected = 0;
    for ( uint64_t i = 0; i < view.count; ++i )
    {
        const float *a = world->xyz + 3 * view.pairs[i].a, *b = world->xyz + 3 * view.pairs[i].b;
        float dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
        CHECK( view.squared[i] == dx * dx + dy * dy + dz * dz ); // of the points now
        within += view.squared[i] <= 1;
    }
    world->def.skin = 0;
    expected = count_pairs( world );
    CHECK_EQUAL( within, expected ); // none is missing
    world->xyz[0] += 0.02f;
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( is_new );
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( !is_new );
    CHECK_OK( clv_near_exclude( near, NULL, 0 ) );
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( is_new );
    world->xyz[5] = NAN;
    CHECK_RESULT( clv_near_update( near, &points, &is_new ), CLV_BAD_ARGUMENT );
    CHECK_EQUAL( clv_near_error( near ).position, 1 );
    CHECK( clv_near_list( near ).valid );
    clv_near_destroy( near );
    free( world );
}

// Two points of large radii, a little more than the limit apart, each moved towards the other by `share` of
// the skin. How often the list was kept.
static uint32_t count_kept( double skin, double share )
{
    near_world* world = near_world_new( false, false, 0 );
    world->has_radii = true;
    world->radii[0] = world->radii[1] = 1024;
    world->count = 2;
    test_random random = test_random_make( 12 );
    uint32_t kept = 0;
    for ( uint32_t turn = 0; turn < test_scaled( 20000 ); ++turn )
    {
        double way[3] = { unit( &random ) - 0.5, unit( &random ) - 0.5, unit( &random ) - 0.5 };
        double length = sqrt( way[0] * way[0] + way[1] * way[1] + way[2] * way[2] );
        double far = ( 2048 + skin ) / length, step = share * skin / length, near_to = far - step;
        near_world_set( world, 0, 0, 0, 0 );
        near_world_set( world, 1, far * way[0], far * way[1], far * way[2] );
        world->def.skin = skin;
        clv_near* near = near_world_make( world );
        clv_near_points points = near_world_points( world );
        bool is_new = false;
        CHECK_OK( clv_near_update( near, &points, &is_new ) );
        near_world_set( world, 0, step * way[0], step * way[1], step * way[2] );
        near_world_set( world, 1, near_to * way[0], near_to * way[1], near_to * way[2] );
        CHECK_OK( clv_near_update( near, &points, &is_new ) );
        uint64_t count = clv_near_list( near ).count;
        clv_near_destroy( near );
        world->def.skin = 0;
        CHECK( is_new || count >= count_pairs( world ) );
        kept += !is_new;
    }
    free( world );
    return kept;
}

static void a_kept_list_allows_for_the_rounding_of_radii( void )
{
    count_kept( 0x1p-11, 0.45 ); // distances of 2048 are rounded more coarsely than this skin is thick
    CHECK( count_kept( 0x1p-7, 0.2 ) > 0 );
}

// ---- refused

static void check_refused( near_world* world, uint32_t position )
{
    clv_near* near = near_world_make( world );
    clv_near_points points = near_world_points( world );
    CHECK_RESULT( clv_near_update( near, &points, NULL ), CLV_BAD_ARGUMENT );
    CHECK_EQUAL( clv_near_error( near ).position, position );
    CHECK( clv_near_error( near ).text[0] != '\0' );
    clv_near_destroy( near );
}

static void bad_input_is_refused_with_its_position( void )
{
    near_world* world = near_world_new( true, false, 1 );
    world->count = 10;
    world->xyz64[3 * 4 + 1] = NAN;
    check_refused( world, 4 );
    world->xyz64[3 * 4 + 1] = -INFINITY;
    check_refused( world, 4 );
    world->xyz64[3 * 4 + 1] = 0;
    world->has_radii = true;
    world->radii64[6] = -1;
    check_refused( world, 6 );
    world->radii64[6] = NAN;
    check_refused( world, 6 );
    world->has_radii = false;
    world->has_cell = true;
    world->cell = ( clv_near_cell ){ { { 1, 0, 0 }, { 2, 0, 0 }, { 0, 0, 1 } }, { true, true, true } };
    check_refused( world, UINT32_MAX ); // singular
    world->cell.edges[1][1] = INFINITY;
    check_refused( world, UINT32_MAX );
    world->cell = ( clv_near_cell ){ { { 1, 0, 0 }, { 0, 0, 0 }, { 0, 0, 1 } }, { true, false, true } };
    CHECK_EQUAL( count_pairs( world ) > 0, 1 ); // an open axis needs no edge
    world->cell.periodic[1] = true;
    check_refused( world, UINT32_MAX );
    world->cell.edges[1][1] = 1;
    world->xyz64[3 * 2] = 1e12;
    check_refused( world, 2 ); // too far for a shift
    world->has_cell = false;
    world->stride = 2;
    check_refused( world, UINT32_MAX );
    free( world );
}

// Found by fuzzing: four points in a cell of three nearly parallel edges took minutes.
static void a_needle_of_a_cell_is_refused_and_its_lattice_is_not( void )
{
    near_world* world = near_world_new( true, false, 2 );
    world->count = 4;
    world->has_cell = true;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        near_world_set( world, i, i, 0.25 * i, 0.5 * i );
    }
    // (8, 0, 0), (0, 8, 0) and (0, 0, 8), and the same lattice by long edges.
    world->cell = ( clv_near_cell ){ { { 8, 0, 0 }, { 800, 8, 0 }, { 0, 800, 8 } }, { true, true, true } };
    check_refused( world, UINT32_MAX );
    world->cell = ( clv_near_cell ){ { { 8, 0, 0 }, { 0, 8, 0 }, { 0, 0, 8 } }, { true, true, true } };
    uint64_t count = count_pairs( world );
    world->cell = ( clv_near_cell ){ { { 8, 0, 0 }, { 80, 8, 0 }, { 0, 80, 8 } }, { true, true, true } };
    CHECK_EQUAL( count_pairs( world ), count ); // skewed, but not that far
    CHECK_EQUAL( count, 3 );
    free( world );
}

static void bad_defs_are_refused( void )
{
    clv_near* near = NULL;
    const double bad[] = { -1, NAN, INFINITY, 1e30 };
    for ( size_t i = 0; i < TEST_COUNT( bad ); ++i )
    {
        clv_near_def def = clv_default_near_def();
        def.cutoff = bad[i];
        CHECK_RESULT( clv_near_create( &def, &near ), CLV_BAD_DEF );
        def.cutoff = 1;
        def.skin = bad[i];
        CHECK_RESULT( clv_near_create( &def, &near ), CLV_BAD_DEF );
    }
    clv_near_def def = clv_default_near_def();
    def.worker_count = 0;
    CHECK_RESULT( clv_near_create( &def, &near ), CLV_BAD_DEF );
    memset( &def, 0, sizeof( def ) );
    CHECK_RESULT( clv_near_create( &def, &near ), CLV_BAD_DEF );
    CHECK( near == NULL );
    clv_near_destroy( NULL );
}

static bool stop_at_once( const clv_near_view* view, void* user )
{
    (void)view, (void)user;
    return false;
}

static void limits_and_stops_are_told( void )
{
    near_world* world = near_world_new( false, false, 1 );
    world->count = 100;
    world->def.max_pairs = 4949;
    clv_near* near = near_world_make( world );
    clv_near_points points = near_world_points( world );
    CHECK_RESULT( clv_near_update( near, &points, NULL ), CLV_TOO_MANY_PAIRS );
    CHECK( !clv_near_list( near ).valid );
    near_visit_notes notes = { 0 };
    CHECK_RESULT( clv_near_visit( near, &points, near_note_chunk, &notes ), CLV_TOO_MANY_PAIRS );
    world->def.max_pairs = 0;
    clv_near_destroy( near );
    near = near_world_make( world );
    CHECK_RESULT( clv_near_visit( near, &points, stop_at_once, NULL ), CLV_STOPPED );
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    CHECK_EQUAL( clv_near_list( near ).count, 4950 );
    const clv_pair self = { 3, 3 };
    CHECK_RESULT( clv_near_exclude( near, &self, 1 ), CLV_BAD_ARGUMENT );
    clv_near_destroy( near );
    world->def.full = true;
    near = near_world_make( world );
    CHECK_RESULT( clv_near_visit( near, &points, near_note_chunk, &notes ), CLV_UNSUPPORTED );
    clv_near_destroy( near );
    free( world );
}

// Each allocation refused in turn: an answer that says so, nothing leaked, and the next call is good.
static void failed_allocations( bool with_radii, bool full )
{
    near_world* world = near_world_new( false, false, 1.5 );
    world->has_cell = true;
    world->cell = ( clv_near_cell ){ { { 8, 1, 0 }, { 0, 8, 0 }, { 0, 2, 8 } }, { true, true, false } };
    world->has_radii = with_radii;
    world->def.full = full;
    world->def.by_point = full;
    world->def.vectors = world->def.squared = world->def.shifts = true;
    world->def.skin = 0.25;
    world->def.worker_count = 2;
    world->excluded[0] = ( clv_pair ){ 1, 2 };
    world->excluded_count = 1;
    world->count = 150;
    test_random random = test_random_make( 9 );
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        fill_point( world, WORLD_LIQUID, i, &random );
        world->radii[i] = 0.1f * (float)( i % 4 );
    }
    heap memory = { 0 };
    world->def.allocator = heap_hooks( &memory );
    clv_near_points points = near_world_points( world );
    for ( uint64_t refused = 1, is_over = 0; !is_over; ++refused )
    {
        memory.allocate_count = 0;
        memory.refuse_from = refused;
        memory.refuse_count = 1;
        memory.refused_count = 0;
        clv_near* near = NULL;
        clv_result result = clv_near_create( &world->def, &near );
        result = result == CLV_OK ? clv_near_exclude( near, world->excluded, 1 ) : result;
        result = result == CLV_OK ? clv_near_update( near, &points, NULL ) : result;
        near_visit_notes notes = { 0 };
        result =
            result == CLV_OK && !full ? clv_near_visit( near, &points, near_note_chunk, &notes ) : result;
        CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
        CHECK( result == CLV_OK || memory.refused_count == 1 );
        is_over = memory.refused_count == 0;
        heap_heal( &memory );
        if ( near != NULL )
        {
            CHECK_OK( clv_near_update( near, &points, NULL ) );
            CHECK( clv_near_list( near ).count > 0 );
            clv_near_destroy( near );
        }
        CHECK_EQUAL( memory.bytes, 0 );
    }
    free( world );
}

static void failed_allocations_change_nothing( void )
{
    failed_allocations( false, false );
    failed_allocations( false, true );
    failed_allocations( true, false );
}

static void steady_updates_take_no_memory( void )
{
    near_world* world = near_world_new( false, false, 1 );
    world->count = 500;
    test_random random = test_random_make( 4 );
    heap memory = { 0 };
    world->def.allocator = heap_hooks( &memory );
    clv_near* near = near_world_make( world );
    clv_near_points points = near_world_points( world );
    uint64_t allocations = 0;
    for ( int step = 0; step < 4; ++step )
    {
        for ( uint32_t i = 0; i < world->count && step < 3; ++i )
        {
            fill_point( world, WORLD_LIQUID, i, &random );
        }
        allocations = memory.allocate_count;
        CHECK_OK( clv_near_update( near, &points, NULL ) );
    }
    CHECK_EQUAL( memory.allocate_count, allocations );
    clv_near_destroy( near );
    free( world );
}

// Of a list and of the same one kept, after each point has moved a little.
static uint64_t hash_of_many( clv_near_def def, const double* start, uint32_t count )
{
    double* xyz = malloc( 3 * count * sizeof( double ) );
    memcpy( xyz, start, 3 * count * sizeof( double ) );
    clv_near_cell cell = { { { 34, 0, 0 }, { 0, 34, 0 }, { 3, 0, 34 } }, { true, true, true } };
    clv_near* near = NULL;
    CHECK_OK( clv_near_create( &def, &near ) );
    clv_near_points points = { .positions64 = xyz, .stride = 24, .count = count, .cell = &cell };
    uint64_t hash = 0;
    for ( int step = 0; step < 2; ++step )
    {
        bool is_new = false;
        CHECK_OK( clv_near_update( near, &points, &is_new ) );
        CHECK( is_new == ( step == 0 || def.skin == 0 ) );
        clv_near_view view = clv_near_list( near );
        CHECK( view.count > 4 * count );
        hash = hash * 31 + near_view_hash( &view );
        for ( uint32_t i = 0; i < 3 * count; ++i )
        {
            xyz[i] += i % 2 == 0 ? 0.01 : -0.01;
        }
    }
    // One point too many, in the last piece.
    xyz[3 * count - 1] += 1;
    bool is_new = false;
    CHECK_OK( clv_near_update( near, &points, &is_new ) );
    CHECK( is_new );
    clv_near_destroy( near );
    free( xyz );
    return hash;
}

// Enough points for every worker to place some, and for several pieces of a search, in every form.
static void many_points_are_the_same_for_all_workers( void )
{
    enum
    {
        COUNT = 40000
    };
    double* xyz = malloc( 3 * COUNT * sizeof( double ) );
    test_random random = test_random_make( 8 );
    for ( uint32_t i = 0; i < 3 * COUNT; ++i )
    {
        xyz[i] = 34 * unit( &random );
    }
    for ( uint32_t form = 0; form < 8; ++form )
    {
        uint64_t hash = 0;
        for ( uint32_t workers = 1; workers <= 4; ++workers )
        {
            clv_near_def def = clv_default_near_def();
            def.cutoff = 1.3;
            def.skin = form < 4 ? 0.1 : 0;
            def.doubles = true;
            def.full = ( form & 1 ) != 0;
            def.by_point = ( form & 2 ) != 0;
            def.worker_count = test_where.worker_count = workers;
            def.shifts = def.squared = true;
            uint64_t answer = hash_of_many( def, xyz, COUNT );
            hash = workers == 1 ? answer : hash;
            CHECK_EQUAL( answer, hash );
        }
    }
    free( xyz );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_distance_equal_to_the_cutoff_counts ),
        TEST_CASE( cutoff_zero_lists_equal_points ),
        TEST_CASE( equal_points_are_all_pairs ),
        TEST_CASE( no_point_and_one_point_have_no_pairs ),
        TEST_CASE( a_point_meets_its_own_images ),
        TEST_CASE( a_half_list_by_point_has_each_own_image_once ),
        TEST_CASE( the_shift_tells_where_a_point_was_wrapped_from ),
        TEST_CASE( tiny_cutoffs_follow_the_arithmetic ),
        TEST_CASE( one_giant_radius_is_no_cliff ),
        TEST_CASE( a_small_cell_with_radii_is_not_quadratic ),
        TEST_CASE( knots_far_apart_are_not_quadratic ),
        TEST_CASE( a_skin_keeps_the_list_while_it_may ),
        TEST_CASE( a_kept_list_allows_for_the_rounding_of_radii ),
        TEST_CASE( bad_input_is_refused_with_its_position ),
        TEST_CASE( a_needle_of_a_cell_is_refused_and_its_lattice_is_not ),
        TEST_CASE( bad_defs_are_refused ),
        TEST_CASE( limits_and_stops_are_told ),
        TEST_CASE( failed_allocations_change_nothing ),
        TEST_CASE( steady_updates_take_no_memory ),
        TEST_CASE( many_points_are_the_same_for_all_workers ),
        TEST_CASE( random_worlds_match_brute_force ),
    };
    return test_run( "near", cases, TEST_COUNT( cases ), argc, argv );
}
