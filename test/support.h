// SPDX-License-Identifier: MIT
// What all tests share: checks that say where they are, random numbers and boxes, one space per method and
// instruction set, hashes, and snapshots of everything a caller can see of a space.
#pragma once

#include "cleave/cleave.h"
#include "cleave/methods.h"
#include "cleave/physics.h"
#include "method_settings.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- running

typedef struct test_case
{
    const char* name; ///< the claim
    void ( *body )( void );
} test_case;

#define TEST_CASE( body )                                                                                    \
    {                                                                                                        \
#body, body                                                                                          \
    }

#define TEST_COUNT( array ) ( sizeof( array ) / sizeof( ( array )[0] ) )

/// Runs the cases through cmocka; the value for main to return. With an argument only cases whose name
/// contains it.
int test_run( const char* group, const test_case* cases, size_t count, int argc, char** argv );

/// `count` times the environment variable CLEAVE_TEST_SCALE (default 1), at least 1.
uint32_t test_scaled( uint32_t count );

/// Is this one of many alike to be done? All are; with CLEAVE_TEST_SCALE below 1 one in `of`, by its number.
bool test_is_share( uint32_t number, uint32_t of );

// ---- checking

/// Printed with every failure; cleared before every case.
typedef struct test_place
{
    uint64_t seed;
    const char* method;
    clv_isa isa;
    uint32_t worker_count;
    uint32_t frame;
    const char* note; ///< which row of a table
} test_place;

extern test_place test_where;

/// Prints what broke and where, and leaves the test case.
void test_fail( const char* file, int line, const char* format, ... );

void test_check_equal( uint64_t actual, uint64_t expected, const char* actual_text, const char* expected_text,
    const char* file, int line );
void test_check_result( clv_result actual, clv_result expected, const char* call, const clv_space* space,
    const char* file, int line );
void test_check_text( const char* actual, const char* expected, const char* file, int line );

#define CHECK( condition )                                                                                   \
    ( ( condition ) ? (void)0 : test_fail( __FILE__, __LINE__, "does not hold: %s", #condition ) )
#define CHECK_EQUAL( actual, expected )                                                                      \
    test_check_equal( (uint64_t)( actual ), (uint64_t)( expected ), #actual, #expected, __FILE__, __LINE__ )
#define CHECK_RESULT( call, expected ) test_check_result( call, expected, #call, NULL, __FILE__, __LINE__ )
#define CHECK_OK( call ) test_check_result( call, CLV_OK, #call, NULL, __FILE__, __LINE__ )
#define CHECK_TEXT( actual, expected ) test_check_text( actual, expected, __FILE__, __LINE__ )

// ---- random numbers

typedef struct test_random
{
    uint64_t state;
} test_random;

test_random test_random_make( uint64_t seed );
uint64_t test_random_next( test_random* random );
uint32_t test_random_below( test_random* random, uint32_t end );
float test_random_between( test_random* random, float least, float most );
bool test_random_chance( test_random* random, uint32_t percent );

/// Steele's and Vigna's splitmix64 as a function: mix( 0 ) = 0xe220a8397b1dcdaf.
uint64_t test_mix( uint64_t value );

// ---- boxes

clv_aabb test_box( float lower_x, float lower_y, float lower_z, float upper_x, float upper_y, float upper_z );
clv_aabb test_cube( float x, float y, float z, float half_side );

typedef enum test_crowd
{
    TEST_CROWD_SPREAD,  ///< cubes of about 1, a few contacts each
    TEST_CROWD_LATTICE, ///< whole numbers only: faces, edges and corners touch all the time
    TEST_CROWD_CLUSTER, ///< most of them in one corner, sizes over three decades
    TEST_CROWD_BARS,    ///< long along one axis
    TEST_CROWD_MIXED,   ///< with planes, half-spaces, everything, points and far outliers
    TEST_CROWD_FAR,     ///< around 1e7, where floats are whole numbers
    TEST_CROWD_TINY,    ///< denormals
    TEST_CROWD_SAME,    ///< few different boxes, many times
    TEST_CROWD_FLAT,    ///< on one floor
    TEST_CROWD_ENDLESS, ///< on one floor, most without an end above or below it
    TEST_CROWD_DECADES, ///< over twelve orders of magnitude, sizes with distances
    TEST_CROWD_FUNNEL,  ///< over seven, about a place far from the origin: only planes tell these apart
    TEST_CROWD_KNOTS,   ///< in knots far apart, each much smaller than the way to the next
    TEST_CROWD_SIZES,   ///< half large and sparse, half small and crowded in a corner
    TEST_CROWD_COUNT
} test_crowd;

/// A box of a crowd of `count`.
clv_aabb test_crowd_box( test_crowd crowd, uint32_t count, test_random* random );

/// Where that box goes in a frame's time: near.
clv_aabb test_crowd_step( test_crowd crowd, clv_aabb box, test_random* random );

// ---- spaces

/// A row of the method table on one instruction set.
typedef struct test_variant
{
    const clv_method* method;
    clv_isa isa;
    uint32_t worker_count;
} test_variant;

/// Every method on every instruction set this machine has, and with several workers where it has threads;
/// variants of one method are neighbours.
uint32_t test_variant_count( void );
test_variant test_variant_at( uint32_t index );

/// One per method: what users get. Enough for what no kernel and no thread has a part in.
bool test_variant_is_usual( test_variant variant );

/// A row of the papers' tree that is kd-paper with other choices: what kd-paper survives whole it may show in
/// samples.
bool test_method_is_kin( const clv_method* row );

/// Says in test_where what is being tested.
void test_variant_enter( test_variant variant );

/// Settings number `choice` of a method (method_settings.h); numbers wrap. Alive until the next call.
const char* test_settings( const clv_method* row, uint32_t choice );

/// To put into def.settings: test_space_make replaces it by the method's settings of that number.
const char* test_settings_token( uint32_t index );
#define test_small test_settings_token( 1 )

/// A space of that variant with the rest of the def as given. NULL: defaults.
clv_space* test_space_make( test_variant variant, const clv_space_def* def );

// ---- pairs

/// Depends on the pairs and on their order.
uint64_t test_order_hash( const clv_pair* pairs, uint64_t count );

/// Depends on the pairs alone.
uint64_t test_set_hash( const clv_pair* pairs, uint64_t count );

bool test_pair_less( clv_pair a, clv_pair b );
int test_pair_compare( const void* a, const void* b ); ///< for qsort

// ---- snapshots

/// All a caller can see of a space, but for the last error and memory counters.
typedef struct test_snapshot
{
    clv_stats stats;
    clv_id* ids; ///< by slot
    clv_aabb* boxes;
    clv_margin_rule* margins;
    clv_vec3* motions;
    clv_filter* filters;
    bool* statics;
    uint64_t* user_data;
    clv_pair_view pairs; ///< a copy of the list
    clv_event_view events;
} test_snapshot;

test_snapshot test_snapshot_take( const clv_space* space );
void test_snapshot_free( test_snapshot* snapshot );

/// Fails unless the space looks as it did; objects alone, or objects, lists and counters.
void test_snapshot_check_objects( const test_snapshot* before, const clv_space* space );
void test_snapshot_check( const test_snapshot* before, const clv_space* space );

/// malloc that ends the test instead of answering NULL; a size of 0 is fine.
void* test_alloc( size_t count, size_t item_size );
void* test_copy( const void* data, size_t count, size_t item_size );
