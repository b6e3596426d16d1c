// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L // chdir
#include "support.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#if !defined( _WIN32 )
#include <unistd.h>
#endif

#include <cmocka.h>

test_place test_where;

// ---- running

static void run_case( void** state )
{
    const test_case* test = *state;
    memset( &test_where, 0, sizeof( test_where ) );
    test->body();
}

static void print_place( void )
{
    print_error( "    seed %llu, method %s, isa %s, workers %u, frame %u%s%s\n",
        (unsigned long long)test_where.seed, test_where.method != NULL ? test_where.method : "-",
        clv_isa_name( test_where.isa ), test_where.worker_count, test_where.frame,
        test_where.note != NULL ? ", " : "", test_where.note != NULL ? test_where.note : "" );
}

static bool assert_failed( const char* condition, const char* file, int line, void* user )
{
    (void)user;
    print_error( "%s:%d: the library's own assertion failed: %s\n", file, line, condition );
    print_place();
    return true;
}

// What a test writes goes to the build folder, wherever it was started: nothing is left in the source tree.
static bool enter_build_folder( void )
{
#if defined( TEST_FOLDER ) && !defined( _WIN32 )
    if ( chdir( TEST_FOLDER ) != 0 )
    {
        perror( TEST_FOLDER );
        return false;
    }
#endif
    return true;
}

int test_run( const char* group, const test_case* cases, size_t count, int argc, char** argv )
{
    if ( !enter_build_folder() )
    {
        return 1;
    }
    struct CMUnitTest* tests = test_alloc( count, sizeof( *tests ) );
    size_t chosen = 0;
    for ( size_t i = 0; i < count; ++i )
    {
        if ( argc < 2 || strstr( cases[i].name, argv[1] ) != NULL )
        {
            tests[chosen++] = ( struct CMUnitTest ){
                .name = cases[i].name, .test_func = run_case, .initial_state = (void*)(uintptr_t)&cases[i]
            };
        }
    }
    clv_set_assert_hook( assert_failed, NULL );
    clv_methods_register(); // before a test asks which there are
    int failed = _cmocka_run_group_tests( group, tests, chosen, NULL, NULL );
    free( tests );
    return failed != 0;
}

uint32_t test_scaled( uint32_t count )
{
    const char* text = getenv( "CLEAVE_TEST_SCALE" );
    double scale = text != NULL ? strtod( text, NULL ) : 1.0;
    double scaled = (double)count * scale;
    return scaled >= 1.0 && scaled < 1e9 ? (uint32_t)scaled : 1;
}

bool test_is_share( uint32_t number, uint32_t of )
{
    return test_scaled( 1000 ) >= 1000 || number % of == 0;
}

// ---- checking

void test_fail( const char* file, int line, const char* format, ... )
{
    char text[512];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( text, sizeof( text ), format, arguments );
    va_end( arguments );
    print_error( "%s\n", text );
    print_place();
    _fail( file, line );
    abort(); // _fail jumps away; this line tells the compiler
}

void test_check_equal( uint64_t actual, uint64_t expected, const char* actual_text, const char* expected_text,
    const char* file, int line )
{
    if ( actual != expected )
    {
        test_fail( file, line, "%s is %llu, not %llu (%s)", actual_text, (unsigned long long)actual,
            (unsigned long long)expected, expected_text );
    }
}

void test_check_result( clv_result actual, clv_result expected, const char* call, const clv_space* space,
    const char* file, int line )
{
    if ( actual != expected )
    {
        test_fail( file, line, "%s answered %s, not %s%s%s", call, clv_result_name( actual ),
            clv_result_name( expected ), space != NULL ? ": " : "",
            space != NULL ? clv_space_error( space ).text : "" );
    }
}

void test_check_text( const char* actual, const char* expected, const char* file, int line )
{
    if ( actual == NULL || strcmp( actual, expected ) != 0 )
    {
        test_fail( file, line, "text is \"%s\", not \"%s\"", actual != NULL ? actual : "(null)", expected );
    }
}

// ---- random numbers

uint64_t test_mix( uint64_t value )
{
    value += 0x9E3779B97F4A7C15u;
    value = ( value ^ ( value >> 30 ) ) * 0xBF58476D1CE4E5B9u;
    value = ( value ^ ( value >> 27 ) ) * 0x94D049BB133111EBu;
    return value ^ ( value >> 31 );
}

test_random test_random_make( uint64_t seed )
{
    return ( test_random ){ test_mix( seed ) };
}

uint64_t test_random_next( test_random* random )
{
    uint64_t value = test_mix( random->state );
    random->state += 0x9E3779B97F4A7C15u;
    return value;
}

uint32_t test_random_below( test_random* random, uint32_t end )
{
    return (uint32_t)( ( ( test_random_next( random ) >> 32 ) * end ) >> 32 );
}

float test_random_between( test_random* random, float least, float most )
{
    float unit = (float)( test_random_next( random ) >> 40 ) / 16777216.0f;
    return least + ( most - least ) * unit;
}

bool test_random_chance( test_random* random, uint32_t percent )
{
    return test_random_below( random, 100 ) < percent;
}

// ---- boxes

clv_aabb test_box( float lower_x, float lower_y, float lower_z, float upper_x, float upper_y, float upper_z )
{
    return ( clv_aabb ){ { lower_x, lower_y, lower_z }, { upper_x, upper_y, upper_z } };
}

clv_aabb test_cube( float x, float y, float z, float half_side )
{
    return test_box(
        x - half_side, y - half_side, z - half_side, x + half_side, y + half_side, z + half_side );
}

static clv_aabb random_sides( test_random* random, float reach, float least, float most )
{
    float center[3], half[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        center[axis] = test_random_between( random, -reach, reach );
        half[axis] = 0.5f * test_random_between( random, least, most );
    }
    return test_box( center[0] - half[0], center[1] - half[1], center[2] - half[2], center[0] + half[0],
        center[1] + half[1], center[2] + half[2] );
}

static clv_aabb lattice_box( test_random* random, uint32_t side )
{
    float lower[3], upper[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint32_t start = test_random_below( random, side );
        lower[axis] = (float)start - (float)( side / 2 );
        upper[axis] = lower[axis] + (float)test_random_below( random, 3 ); // also 0: points, lines, plates
        if ( lower[axis] == 0.0f && test_random_chance( random, 50 ) )
        {
            lower[axis] = -0.0f;
        }
    }
    return test_box( lower[0], lower[1], lower[2], upper[0], upper[1], upper[2] );
}

static clv_aabb bar_box( test_random* random, float reach )
{
    clv_aabb box = random_sides( random, reach, 0.1f, 0.5f );
    float length = test_random_between( random, 5.0f, 20.0f );
    switch ( test_random_below( random, 3 ) )
    {
    case 0: box.upper.x = box.lower.x + length; break;
    case 1: box.upper.y = box.lower.y + length; break;
    default: box.upper.z = box.lower.z + length; break;
    }
    return box;
}

static clv_aabb odd_box( test_random* random, float reach )
{
    clv_aabb box = random_sides( random, reach, 0.0f, 2.0f );
    switch ( test_random_below( random, 9 ) )
    {
    case 0: return test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY );
    case 1: box.lower.x = -INFINITY; break;
    case 2: box.upper.y = INFINITY; break;
    case 3: return test_box( -INFINITY, box.lower.y, -INFINITY, INFINITY, box.lower.y, INFINITY ); // a plane
    case 4:
        return test_box( -INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, box.upper.z ); // a half-space
    case 5: return test_cube( 1e9f, -1e9f, 1e9f, 64.0f );
    case 6: return test_box( -FLT_MAX, -FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX, box.lower.z );
    case 7: box.upper = box.lower; break;
    default: return test_box( INFINITY, box.lower.y, box.lower.z, INFINITY, box.upper.y, box.upper.z );
    }
    return box;
}

static clv_aabb scaled_box( clv_aabb box, float scale )
{
    return test_box( box.lower.x * scale, box.lower.y * scale, box.lower.z * scale, box.upper.x * scale,
        box.upper.y * scale, box.upper.z * scale );
}

static clv_aabb shifted_box( clv_aabb box, float x, float y, float z )
{
    return test_box( box.lower.x + x, box.lower.y + y, box.lower.z + z, box.upper.x + x, box.upper.y + y,
        box.upper.z + z );
}

static clv_aabb flat_box( test_random* random, uint32_t count )
{
    clv_aabb box = random_sides( random, 0.8f * sqrtf( (float)count ), 0.5f, 1.5f );
    box.lower.y = 0;
    box.upper.y = 1;
    return box;
}

static clv_aabb endless_box( test_random* random, uint32_t count )
{
    clv_aabb box = flat_box( random, count );
    box.lower.y = test_random_chance( random, 60 ) ? -INFINITY : 0;
    box.upper.y = test_random_chance( random, 60 ) ? INFINITY : 1;
    return box;
}

static clv_aabb decades_box( test_random* random, float size )
{
    float distance = powf( 10, test_random_between( random, -6, 6 ) );
    clv_aabb box = random_sides( random, 1, 0.5f * size, 1.5f * size );
    return scaled_box( box, distance );
}

static clv_aabb funnel_box( test_random* random, uint32_t count )
{
    float size = 0.7f / cbrtf( (float)count );
    clv_aabb box = random_sides( random, 1, 0.5f * size, 1.5f * size );
    box = scaled_box( box, powf( 10, test_random_between( random, -2, 5 ) ) );
    return shifted_box( box, 1000, -1000, 500 );
}

static clv_aabb knot_box( test_random* random )
{
    float knot = 1e4f * (float)test_random_below( random, 9 );
    clv_aabb box = random_sides( random, 4, 0.1f, 0.6f );
    return shifted_box( box, knot, -2 * knot, 0.1f * knot );
}

// So many small ones that no cell as wide as the large ones divides them.
static clv_aabb sized_box( test_random* random, uint32_t count )
{
    bool is_small = test_random_chance( random, 50 );
    float wide = is_small ? 3.25f : 5.02f * cbrtf( (float)count );
    float x = test_random_between( random, 0, wide ), y = test_random_between( random, 0, wide );
    return test_cube( x, y, test_random_between( random, 0, wide ), is_small ? 0.05f : 0.5f );
}

clv_aabb test_crowd_box( test_crowd crowd, uint32_t count, test_random* random )
{
    float reach = 0.5f + 0.6f * cbrtf( (float)count ); // a few contacts per box, at any count
    switch ( crowd )
    {
    case TEST_CROWD_LATTICE: return lattice_box( random, 3 + (uint32_t)( 1.2f * reach ) );
    case TEST_CROWD_CLUSTER:
        return test_random_chance( random, 80 ) ? random_sides( random, 0.2f * reach, 0.001f, 0.3f )
                                                : random_sides( random, reach, 0.01f, 5.0f );
    case TEST_CROWD_BARS: return bar_box( random, 2.0f * reach );
    case TEST_CROWD_MIXED:
        return test_random_chance( random, 15 ) ? odd_box( random, reach )
                                                : random_sides( random, reach, 0.5f, 1.5f );
    case TEST_CROWD_FAR: return shifted_box( lattice_box( random, 4 + (uint32_t)reach ), 1e7f, -1e7f, 1e7f );
    case TEST_CROWD_TINY: return scaled_box( lattice_box( random, 4 + (uint32_t)reach ), FLT_TRUE_MIN );
    case TEST_CROWD_SAME:
        return test_cube( (float)test_random_below( random, 1 + count / 8 ) * 3.0f, 0, 0, 1 );
    case TEST_CROWD_FLAT: return flat_box( random, count );
    case TEST_CROWD_ENDLESS: return endless_box( random, count );
    case TEST_CROWD_DECADES: return decades_box( random, 2.0f / cbrtf( (float)count ) );
    case TEST_CROWD_FUNNEL: return funnel_box( random, count );
    case TEST_CROWD_KNOTS: return knot_box( random );
    case TEST_CROWD_SIZES: return sized_box( random, count );
    default: return random_sides( random, reach, 0.5f, 1.5f );
    }
}

static clv_aabb lattice_step( clv_aabb box, test_random* random, float unit )
{
    float step[3];
    for ( int axis = 0; axis < 3; ++axis )
    {
        step[axis] = ( (float)test_random_below( random, 3 ) - 1.0f ) * unit;
    }
    return shifted_box( box, step[0], step[1], step[2] );
}

clv_aabb test_crowd_step( test_crowd crowd, clv_aabb box, test_random* random )
{
    switch ( crowd )
    {
    case TEST_CROWD_LATTICE:
    case TEST_CROWD_FAR: return lattice_step( box, random, 1.0f );
    case TEST_CROWD_SAME: return lattice_step( box, random, 3.0f );
    case TEST_CROWD_TINY: return lattice_step( box, random, FLT_TRUE_MIN );
    case TEST_CROWD_DECADES: return scaled_box( box, test_random_between( random, 0.95f, 1.05f ) );
    default:
        return shifted_box( box, test_random_between( random, -0.2f, 0.2f ),
            test_random_between( random, -0.2f, 0.2f ), test_random_between( random, -0.2f, 0.2f ) );
    }
}

// ---- pairs

uint64_t test_order_hash( const clv_pair* pairs, uint64_t count )
{
    uint64_t hash = test_mix( count );
    for ( uint64_t i = 0; i < count; ++i )
    {
        hash = test_mix( hash ^ ( ( (uint64_t)pairs[i].a << 32 ) | pairs[i].b ) );
    }
    return hash;
}

uint64_t test_set_hash( const clv_pair* pairs, uint64_t count )
{
    uint64_t hash = 0;
    for ( uint64_t i = 0; i < count; ++i )
    {
        hash += test_mix( ( (uint64_t)pairs[i].a << 32 ) | pairs[i].b );
    }
    return hash;
}

bool test_pair_less( clv_pair a, clv_pair b )
{
    return a.a != b.a ? a.a < b.a : a.b < b.b;
}

int test_pair_compare( const void* a, const void* b )
{
    const clv_pair* first = a;
    const clv_pair* second = b;
    return test_pair_less( *first, *second ) ? -1 : test_pair_less( *second, *first );
}

void* test_alloc( size_t count, size_t item_size )
{
    void* data = calloc( count != 0 ? count : 1, item_size );
    CHECK( data != NULL );
    return data;
}

void* test_copy( const void* data, size_t count, size_t item_size )
{
    void* copy = test_alloc( count, item_size );
    if ( count != 0 )
    {
        memcpy( copy, data, count * item_size );
    }
    return copy;
}
