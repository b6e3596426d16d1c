// SPDX-License-Identifier: MIT
// Lists of near points on a device against those of clv_near, which brute force judges: the same entries, in
// any order, of all kinds of points and cells.
#include "gpu_fixture.h"
#include "gpu_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST = 6000
};

typedef struct near_scene
{
    clv_near_def def;
    uint32_t count;
    uint32_t stride; // in floats
    float xyz[4 * MOST];
    clv_near_cell cell;
    bool has_cell;
} near_scene;

static near_scene s_scene;

static float unit( test_random* random )
{
    return (float)( test_random_next( random ) >> 40 ) * 0x1p-24f;
}

static near_scene* new_scene( uint32_t count, double cutoff )
{
    CHECK( count <= MOST );
    memset( &s_scene, 0, sizeof( s_scene ) );
    s_scene.def = clv_default_near_def();
    s_scene.def.cutoff = cutoff;
    s_scene.count = count;
    s_scene.stride = 3;
    return &s_scene;
}

static void set_cell( near_scene* scene, double x, double y, double z )
{
    const double edges[3] = { x, y, z };
    scene->has_cell = true;
    for ( int k = 0; k < 3; ++k )
    {
        scene->cell.edges[k][k] = edges[k];
        scene->cell.periodic[k] = edges[k] != 0;
    }
}

static clv_near_points points_of( const near_scene* scene )
{
    return ( clv_near_points ){ .positions = scene->xyz,
        .stride = scene->stride * sizeof( float ),
        .count = scene->count,
        .cell = scene->has_cell ? &scene->cell : NULL };
}

static int compare_pairs( const void* a, const void* b )
{
    const clv_pair *x = a, *y = b;
    return x->a != y->a ? ( x->a < y->a ? -1 : 1 ) : x->b < y->b ? -1 : x->b > y->b;
}

// A list of either form as sorted pairs; to free.
static clv_pair* sorted( const clv_near_view* view )
{
    clv_pair* pairs = malloc( ( view->count + 1 ) * sizeof( clv_pair ) );
    for ( uint64_t i = 0; view->pairs != NULL && i < view->count; ++i )
    {
        pairs[i] = view->pairs[i];
    }
    for ( uint32_t i = 0; view->offsets != NULL && i < view->point_count; ++i )
    {
        for ( uint64_t k = view->offsets[i]; k < view->offsets[i + 1]; ++k )
        {
            pairs[k] = ( clv_pair ){ i, view->indices[k] };
        }
    }
    qsort( pairs, view->count, sizeof( clv_pair ), compare_pairs );
    return pairs;
}

// The device's list is the CPU's, in this form.
static void agree_once( clv_gpu* gpu, near_scene* scene, const char* note )
{
    clv_near* near = NULL;
    clv_near_points points = points_of( scene );
    test_where.note = note;
    CHECK_OK( clv_near_create( &scene->def, &near ) );
    CHECK_OK( clv_near_update( near, &points, NULL ) );
    clv_near_view expected = clv_near_list( near ), found;
    CHECK_OK( clv_gpu_near( gpu, &scene->def, &points ) );
    CHECK_OK( clv_gpu_near_read( gpu, &found ) );
    CHECK( found.valid && clv_gpu_near_list( gpu ).valid );
    CHECK_EQUAL( clv_gpu_near_list( gpu ).count, expected.count );
    CHECK_EQUAL( found.count, expected.count );
    CHECK_EQUAL( found.point_count, scene->count );
    if ( scene->def.by_point && scene->count > 0 )
    {
        CHECK( memcmp( found.offsets, expected.offsets, ( scene->count + 1 ) * sizeof( uint64_t ) ) == 0 );
    }
    clv_pair *a = sorted( &expected ), *b = sorted( &found );
    CHECK( memcmp( a, b, expected.count * sizeof( clv_pair ) ) == 0 );
    free( a );
    free( b );
    clv_near_destroy( near );
}

// In all four forms, half and full, as pairs and by point.
static void agree( clv_gpu* gpu, near_scene* scene, const char* note )
{
    for ( int form = 0; form < 4; ++form )
    {
        scene->def.full = ( form & 1 ) != 0;
        scene->def.by_point = ( form & 2 ) != 0;
        agree_once( gpu, scene, note );
    }
    scene->def.full = false;
    scene->def.by_point = false;
}

static void scatter( near_scene* scene, uint32_t seed, float x, float y, float z )
{
    test_random random = test_random_make( seed );
    const float edges[3] = { x, y, z };
    for ( uint32_t i = 0; i < scene->count; ++i )
    {
        for ( uint32_t k = 0; k < scene->stride; ++k )
        {
            scene->xyz[i * scene->stride + k] = k < 3 ? unit( &random ) * edges[k] : NAN;
        }
    }
}

static void liquids_and_gases_are_the_cpus( void )
{
    static const uint32_t s_counts[] = { 1, 2, 3, 31, 33, 255, 257, 1025, 5000 };
    static const float s_edges[] = { 1, 5, 30, 1000 };
    clv_gpu* gpu = gpu_test_make( CLV_GPU_AUTO );
    for ( size_t i = 0; i < TEST_COUNT( s_counts ); ++i )
    {
        for ( size_t k = 0; k < TEST_COUNT( s_edges ); ++k )
        {
            if ( s_counts[i] > 300 && k == 0 )
            {
                continue;
            }
            near_scene* scene = new_scene( s_counts[i], 1 );
            scatter( scene, (uint32_t)( 10 * i + k ), s_edges[k], s_edges[k], s_edges[k] );
            agree( gpu, scene, "open" );
            set_cell( scene, (double)s_edges[k], (double)s_edges[k], (double)s_edges[k] );
            agree( gpu, scene, "periodic" );
        }
    }
    clv_gpu_destroy( gpu );
}

static void odd_points_are_the_cpus( void )
{
    clv_gpu* gpu = gpu_test_make( CLV_GPU_AUTO );
    near_scene* scene = new_scene( 0, 1 );
    agree( gpu, scene, "none" );
    scene = new_scene( 700, 0 );
    agree( gpu, scene, "all equal, cutoff 0" );
    scene = new_scene( 1500, 0 );
    scatter( scene, 1, 10, 10, 10 );
    for ( uint32_t i = 0; i < 600; ++i )
    {
        scene->xyz[3 * ( i + 700 )] = scene->xyz[3 * i];
        scene->xyz[3 * ( i + 700 ) + 1] = scene->xyz[3 * i + 1];
        scene->xyz[3 * ( i + 700 ) + 2] = -scene->xyz[3 * i + 2] * ( i % 2 ? 0 : -1 );
    }
    agree( gpu, scene, "some equal, cutoff 0" );
    scene = new_scene( 400, 1e-30 );
    for ( uint32_t i = 0; i < scene->count; ++i )
    {
        scene->xyz[3 * i] = (float)i * 3e-24f;
    }
    agree( gpu, scene, "squares that are 0" );
    scene = new_scene( 300, 2e-20 );
    scatter( scene, 7, 1e-19f, 1e-19f, 1e-19f );
    agree( gpu, scene, "denormal squares" );
    scene = new_scene( 2000, 1.5 );
    for ( uint32_t i = 0; i < scene->count; ++i )
    {
        scene->xyz[3 * i] =
            (float)i; // distances equal to the cutoff, or one unit in the last place beside it
        scene->xyz[3 * i + 1] = i % 2 ? sqrtf( 1.25f ) : 0;
    }
    agree( gpu, scene, "a line" );
    scene = new_scene( 3000, 1 );
    scatter( scene, 2, 10, 10, 10 );
    for ( uint32_t i = 0; i < 3 * scene->count; ++i )
    {
        scene->xyz[i] += i % 3 == 0 ? 1e6f : i % 3 == 1 ? -3e7f : 0;
    }
    agree( gpu, scene, "far from 0" );
    scene = new_scene( 2000, 1 );
    scatter( scene, 3, 8, 8, 8 );
    for ( uint32_t i = 0; i < 60; ++i )
    {
        scene->xyz[3 * i] *= powf( -10, (float)( i % 38 ) );
        scene->xyz[3 * i + 1] *= powf( 10, (float)( i % 30 ) );
    }
    agree( gpu, scene, "some far out" );
    scene = new_scene( 2000, 1 );
    scatter( scene, 4, 3e38f, 3e38f, 3e38f );
    agree( gpu, scene, "all far out" );
    scene = new_scene( 3000, 0.5 );
    scatter( scene, 5, 1, 1, 1 );
    for ( uint32_t i = 0; i < 3 * scene->count; ++i )
    {
        scene->xyz[i] += (float)( i / 300 % 5 ) * 1000 * ( i % 3 == 0 ? 1 : 32 );
    }
    agree( gpu, scene, "clusters far apart" );
    scene = new_scene( 2000, 1 );
    scene->def.flat = true;
    scene->stride = 2;
    scatter( scene, 6, 20, 20, 0 );
    agree( gpu, scene, "flat" );
    set_cell( scene, 20, 0, 0 );
    agree( gpu, scene, "flat, along x periodic" );
    scene = new_scene( 900, 1 );
    scene->stride = 4;
    scatter( scene, 8, 5, 5, 5 );
    agree( gpu, scene, "a stride" );
    clv_gpu_destroy( gpu );
}

// Cells smaller than twice the cutoff, and than the cutoff; points outside; some axes open; edges below 0.
static void periodic_cells_of_all_sizes_are_the_cpus( void )
{
    static const double s_cells[][3] = { { 10, 10, 10 }, { 2.5, 2.5, 2.5 }, { 1.99, 7, 30 }, { 1, 1, 1 },
        { 0.7, 5, 5 }, { 0.4, 0.4, 0.4 }, { 10, 0, 0 }, { 0, 0, 3 }, { 6, 0, 1.5 }, { -5, 4, 3 },
        { 0, -5, -4 }, { 1000, 1000, 1000 }, { 0.1, 4, 4 } };
    static const uint32_t s_counts[] = { 1, 40, 1200 };
    clv_gpu* gpu = gpu_test_make( CLV_GPU_AUTO );
    for ( size_t i = 0; i < TEST_COUNT( s_cells ); ++i )
    {
        for ( size_t k = 0; k < TEST_COUNT( s_counts ); ++k )
        {
            const double* cell = s_cells[i];
            double volume = 1;
            for ( int axis = 0; axis < 3; ++axis )
            {
                volume *= cell[axis] == 0 ? 10 : fabs( cell[axis] );
            }
            if ( s_counts[k] > 100 && volume < 20 )
            {
                continue;
            }
            near_scene* scene = new_scene( s_counts[k], 1 );
            scatter( scene, (uint32_t)( 100 * i + k ), 10, 10, 10 );
            set_cell( scene, cell[0], cell[1], cell[2] );
            for ( uint32_t n = 0; n < scene->count; n += 3 )
            {
                scene->xyz[3 * n] -= 40;                                   // outside
                scene->xyz[3 * n + 1] = cell[1] != 0 ? (float)cell[1] : 3; // on a face
            }
            test_where.seed = i;
            agree( gpu, scene, "a cell" );
        }
    }
    // A point a rounding below 0 wraps onto the far face, and back.
    near_scene* scene = new_scene( 6, 0.25 );
    set_cell( scene, 3, 3, 3 );
    const float xs[] = { -1e-30f, 0, 3, -1e-8f, 2.9999998f, 6 };
    for ( uint32_t i = 0; i < 6; ++i )
    {
        scene->xyz[3 * i] = xs[i];
    }
    agree( gpu, scene, "on the faces" );
    clv_gpu_destroy( gpu );
}

// From call to call: other counts, cutoffs, cells and densities on one gpu, whose plan is kept where it
// serves.
static void one_gpu_goes_from_scene_to_scene( void )
{
    clv_gpu* gpu = gpu_test_make( CLV_GPU_AUTO );
    for ( uint32_t i = 0; i < 24; ++i )
    {
        near_scene* scene = new_scene( 500 + i * 37 % 1900, i % 3 == 0 ? 1 : 1.5 );
        float edge = i % 5 == 0 ? 4 : i % 7 == 0 ? 100 : 9;
        scatter( scene, i, edge, edge, edge );
        if ( i % 4 == 3 )
        {
            set_cell( scene, 9, 9, 9 );
        }
        scene->def.by_point = i % 2 == 1;
        scene->def.full = i % 3 == 1;
        test_where.seed = i;
        agree_once( gpu, scene, "one after the other" );
        if ( i % 6 == 5 )
        {
            static clv_aabb boxes[300];
            for ( int k = 0; k < 300; ++k )
            {
                boxes[k] = test_cube( (float)k, 0, 0, 2 );
            }
            gpu_test_agree( gpu, boxes, 300, "boxes in between" );
        }
    }
    clv_gpu_destroy( gpu );
}

static void lists_without_room_grow_or_are_refused_with_their_size( void )
{
    clv_gpu_def def = clv_default_gpu_def();
    def.pair_capacity = 3;
    clv_gpu* gpu = NULL;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    near_scene* scene = new_scene( 2000, 1 );
    scatter( scene, 9, 9, 9, 9 );
    agree( gpu, scene, "grown" );
    clv_gpu_destroy( gpu );
    def.memory_most = 4096;
    CHECK_OK( clv_gpu_create( &def, &gpu ) );
    clv_near_points points = points_of( scene );
    clv_near_view view;
    for ( int form = 0; form < 2; ++form )
    {
        scene->def.by_point = form == 1;
        CHECK_RESULT( clv_gpu_near( gpu, &scene->def, &points ), CLV_TOO_MANY_PAIRS );
        CHECK( strstr( clv_gpu_error( gpu ), " bytes" ) != NULL );
        CHECK( !clv_gpu_near_list( gpu ).valid && clv_gpu_near_list( gpu ).count == 0 );
        CHECK_OK( clv_gpu_near_read( gpu, &view ) );
        CHECK( !view.valid && view.count == 0 );
    }
    scene->count = 100;
    agree( gpu, scene, "few fit" );
    clv_gpu_destroy( gpu );
    gpu = gpu_test_make( CLV_GPU_AUTO );
    scene->count = 2000;
    agree_once( gpu, scene, "how many" );
    uint64_t count = clv_gpu_near_list( gpu ).count;
    scene->def.max_pairs = count - 1;
    points = points_of( scene );
    CHECK_RESULT( clv_gpu_near( gpu, &scene->def, &points ), CLV_TOO_MANY_PAIRS );
    scene->def.max_pairs = count;
    agree( gpu, scene, "as many as may be" );
    clv_gpu_destroy( gpu );
}

static void points_on_the_device_are_listed_there( void )
{
    clv_gpu* gpu = gpu_test_make( CLV_GPU_AUTO );
    near_scene* scene = new_scene( 1000, 1 );
    scatter( scene, 11, 7, 7, 7 );
    gpu_buffer buffer = { 0 };
    CHECK_OK( clv_gpu_open( gpu ) );
    CHECK_OK( clv_gpu_reserve( gpu, &buffer, sizeof( scene->xyz ) ) );
    CHECK_OK( clv_gpu_write( gpu, buffer.memory, 0, scene->xyz, sizeof( scene->xyz ), true ) );
    agree_once( gpu, scene, "from the host" );
    uint64_t count = clv_gpu_near_list( gpu ).count;
    CHECK_OK( clv_gpu_near_buffer( gpu, &scene->def, buffer.memory, 12, 1000, NULL ) );
    clv_gpu_near_view list = clv_gpu_near_list( gpu );
    CHECK( list.valid && list.count == count && list.pairs != NULL && list.offsets == NULL );
    CHECK_OK( clv_gpu_near_buffer( gpu, &scene->def, buffer.memory, 24, 500, NULL ) );
    CHECK( clv_gpu_near_list( gpu ).count < count );
    scene->def.by_point = true;
    CHECK_OK( clv_gpu_near_buffer( gpu, &scene->def, buffer.memory, 12, 1000, NULL ) );
    list = clv_gpu_near_list( gpu );
    CHECK( list.count == count && list.pairs == NULL && list.offsets != NULL && list.indices != NULL );
    uint32_t last = 0;
    CHECK_OK( clv_gpu_read( gpu, list.offsets, 1000 * sizeof( uint32_t ), &last, sizeof( last ) ) );
    CHECK_EQUAL( last, count );
    CHECK_RESULT( clv_gpu_near_buffer( gpu, &scene->def, buffer.memory, 14, 100, NULL ), CLV_BAD_ARGUMENT );
    CHECK_RESULT( clv_gpu_near_buffer( gpu, &scene->def, buffer.memory, 8, 100, NULL ), CLV_BAD_ARGUMENT );
    clv_gpu_release( gpu, &buffer );
    clv_gpu_destroy( gpu );
}

static void refuse( clv_gpu* gpu, near_scene* scene, clv_result result, const char* word )
{
    clv_near_points points = points_of( scene );
    test_where.note = word;
    CHECK_RESULT( clv_gpu_near( gpu, &scene->def, &points ), result );
    CHECK( strstr( clv_gpu_error( gpu ), word ) != NULL );
    CHECK( !clv_gpu_near_list( gpu ).valid );
}

static void what_a_device_does_not_do_is_refused( void )
{
    clv_gpu* gpu = gpu_test_make( CLV_GPU_AUTO );
    static const float s_bad[] = { NAN, INFINITY, -INFINITY };
    for ( size_t i = 0; i < 3; ++i )
    {
        near_scene* scene = new_scene( 700, 1 );
        scatter( scene, 12, 5, 5, 5 );
        scene->xyz[3 * 444 + i] = s_bad[i];
        scene->xyz[3 * 600] = NAN;
        refuse( gpu, scene, CLV_BAD_ARGUMENT, "point 444 " );
        set_cell( scene, 5, 5, 5 );
        refuse( gpu, scene, CLV_BAD_ARGUMENT, "point 444 " );
    }
    near_scene* scene = new_scene( 50, 1 );
    scatter( scene, 12, 5, 5, 5 );
    agree( gpu, scene, "good again" );
    set_cell( scene, 5, 5, 5 );
    scene->xyz[3 * 7] = 1e30f;
    refuse( gpu, scene, CLV_BAD_ARGUMENT, "point 7 " );
    scene->xyz[3 * 7] = 0;
    scene->cell.edges[0][1] = 1;
    refuse( gpu, scene, CLV_UNSUPPORTED, "along the axes" );
    set_cell( scene, 0.01, 5, 5 );
    scene->cell.edges[0][1] = 0;
    refuse( gpu, scene, CLV_UNSUPPORTED, "more than 60 times" );
    set_cell( scene, 5, (double)NAN, 5 );
    refuse( gpu, scene, CLV_BAD_ARGUMENT, "singular" );
    scene = new_scene( 50, 1 );
    scene->def.skin = 0.5;
    refuse( gpu, scene, CLV_UNSUPPORTED, "skin" );
    scene = new_scene( 50, 1 );
    scene->def.shifts = true;
    refuse( gpu, scene, CLV_UNSUPPORTED, "shifts" );
    scene = new_scene( 50, 1 );
    scene->def.doubles = true;
    refuse( gpu, scene, CLV_UNSUPPORTED, "double" );
    refuse( gpu, new_scene( 5, -1 ), CLV_BAD_DEF, "cutoff" );
    refuse( gpu, new_scene( 5, (double)NAN ), CLV_BAD_DEF, "cutoff" );
    refuse( gpu, new_scene( 5, 1e30 ), CLV_BAD_DEF, "cutoff" );
    scene = new_scene( 5, 1 );
    scene->def.cookie = 0;
    refuse( gpu, scene, CLV_BAD_DEF, "clv_default_near_def" );
    scene = new_scene( 5, 1 );
    scene->stride = 2;
    refuse( gpu, scene, CLV_BAD_ARGUMENT, "stride" );
    scene = new_scene( 5, 1 );
    const float radii[5] = { 0 };
    clv_near_points points = points_of( scene );
    points.radii = radii;
    CHECK_RESULT( clv_gpu_near( gpu, &scene->def, &points ), CLV_UNSUPPORTED );
    CHECK( strstr( clv_gpu_error( gpu ), "radii" ) != NULL );
    agree( gpu, scene, "good in the end" );
    clv_gpu_destroy( gpu );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( liquids_and_gases_are_the_cpus ),
        TEST_CASE( odd_points_are_the_cpus ),
        TEST_CASE( periodic_cells_of_all_sizes_are_the_cpus ),
        TEST_CASE( one_gpu_goes_from_scene_to_scene ),
        TEST_CASE( lists_without_room_grow_or_are_refused_with_their_size ),
        TEST_CASE( points_on_the_device_are_listed_there ),
        TEST_CASE( what_a_device_does_not_do_is_refused ),
    };
    return gpu_test_is_skipped() ? 77 : test_run( "gpu_near", cases, TEST_COUNT( cases ), argc, argv );
}
