// SPDX-License-Identifier: MIT
// What handing over boxes costs, by how many of them are handed over, in which order and how they lie in
// memory: nanoseconds of the processor for each box of clv_space_move and its kin, the least of many rounds.
// bench/moves.md has its results.
//
//   moves [BOXES [ROW [PERCENT]]]       default: 32000, all rows, all shares
#define _POSIX_C_SOURCE 200809L

#include "head.h"

#include "cleave/cleave.h"
#include "cleave/world.h"
#include "math/splitmix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
    ROUNDS = 60,
    STRIDE = 32, // bytes, of a box padded to two vectors of four
    WORDS = STRIDE / sizeof( float ),
};

typedef enum row_kind
{
    ROW_FLOATS,
    ROW_STRIDED,
    ROW_FLAT,
    ROW_DOUBLES,
    ROW_MARGINS,
    ROW_ALL, ///< floats without ids: those that are left out are removed before
    ROW_ALL_FLAT,
    ROW_ALL_DOUBLES,
    ROW_COUNT
} row_kind;

static const char* const s_names[ROW_COUNT] = { "floats", "floats, 32 bytes apart", "flat", "doubles",
    "floats with margins", "floats, clv_space_move_all", "flat, clv_space_move_all2",
    "doubles, clv_space_move_all64" };

typedef struct crowd
{
    uint32_t count;
    clv_space* space;
    clv_id* ids;       ///< of all objects
    clv_id* chosen;    ///< of those that are handed over
    clv_aabb64* boxes; ///< of all objects
    float* padded;     ///< of those that are handed over, and so on
    clv_aabb* records;
    clv_aabb2* flat;
    clv_aabb64* doubles;
} crowd;

// Of this thread alone: others may be at work.
static double cpu_ns( void )
{
    struct timespec now;
    clock_gettime( CLOCK_THREAD_CPUTIME_ID, &now );
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static clv_aabb narrow( const clv_aabb64* box )
{
    return ( clv_aabb ){ { (float)box->lower.x, (float)box->lower.y, (float)box->lower.z },
        { (float)box->upper.x, (float)box->upper.y, (float)box->upper.z } };
}

static void open_crowd( crowd* c, uint32_t count, row_kind kind )
{
    math_random random = math_random_seed( 1 );
    clv_space_def def = clv_default_space_def();
    def.doubles = kind == ROW_DOUBLES || kind == ROW_ALL_DOUBLES;
    def.flat = kind == ROW_FLAT || kind == ROW_ALL_FLAT;
    def.margin = kind == ROW_MARGINS ? 0.1f : 0;
    c->count = count;
    check( clv_space_create( &def, &c->space ) == CLV_OK, "clv_space_create" );
    c->ids = take( count, sizeof( clv_id ) );
    c->chosen = take( count, sizeof( clv_id ) );
    c->boxes = take( count, sizeof( clv_aabb64 ) );
    c->padded = take( count, STRIDE );
    c->records = take( count, sizeof( clv_aabb ) );
    c->flat = take( count, sizeof( clv_aabb2 ) );
    c->doubles = take( count, sizeof( clv_aabb64 ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        double x = math_random_between( &random, 0, 100 ), y = math_random_between( &random, 0, 100 );
        double z = math_random_between( &random, 0, 100 );
        c->boxes[i] = ( clv_aabb64 ){ { x, y, z }, { x + 1, y + 1, z + 1 } };
        clv_aabb box = narrow( &c->boxes[i] );
        clv_aabb2 flat = { { box.lower.x, box.lower.y }, { box.upper.x, box.upper.y } };
        clv_result result = def.doubles ? clv_space_add_one64( c->space, c->boxes[i], &c->ids[i] )
            : def.flat                  ? clv_space_add_one2( c->space, flat, &c->ids[i] )
                                        : clv_space_add_one( c->space, box, &c->ids[i] );
        check( result == CLV_OK, "adding a box" );
    }
    check( clv_space_update( c->space ) == CLV_OK, "clv_space_update" );
}

static void close_crowd( crowd* c )
{
    clv_space_destroy( c->space );
    void* all[] = { c->ids, c->chosen, c->boxes, c->padded, c->records, c->flat, c->doubles };
    for ( uint32_t i = 0; i < sizeof( all ) / sizeof( all[0] ); ++i )
    {
        free( all[i] );
    }
}

// Some of the objects, in ascending order or any.
static uint32_t choose( crowd* c, double share, bool is_shuffled )
{
    math_random random = math_random_seed( 2 );
    uint32_t count = 0;
    for ( uint32_t i = 0; i < c->count; ++i )
    {
        c->chosen[count] = c->ids[i];
        count += math_random_between( &random, 0, 1 ) < share;
    }
    for ( uint32_t i = count; i > 1 && is_shuffled; --i )
    {
        uint32_t other = (uint32_t)math_random_between( &random, 0, i );
        clv_id id = c->chosen[other];
        c->chosen[other] = c->chosen[i - 1];
        c->chosen[i - 1] = id;
    }
    return count;
}

// Every box a little to the side, in every layout.
static void write_boxes( crowd* c, uint32_t count, uint32_t round )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_aabb64 box = c->boxes[c->chosen[i].index];
        box.lower.x += 1e-3 * round;
        box.upper.x += 1e-3 * round;
        clv_aabb record = narrow( &box );
        c->doubles[i] = box;
        c->records[i] = record;
        c->flat[i] = ( clv_aabb2 ){ { record.lower.x, record.lower.y }, { record.upper.x, record.upper.y } };
        memcpy( c->padded + (size_t)i * WORDS, &record.lower, sizeof( clv_vec3 ) );
        memcpy( c->padded + (size_t)i * WORDS + WORDS / 2, &record.upper, sizeof( clv_vec3 ) );
    }
}

static clv_result hand_over( crowd* c, row_kind kind, uint32_t count )
{
    clv_box_stream stream = { c->padded, c->padded + WORDS / 2, STRIDE };
    switch ( kind )
    {
    case ROW_STRIDED: return clv_space_move_strided( c->space, c->chosen, stream, count );
    case ROW_FLAT: return clv_space_move2( c->space, c->chosen, c->flat, count );
    case ROW_DOUBLES: return clv_space_move64( c->space, c->chosen, c->doubles, count );
    case ROW_ALL: return clv_space_move_all( c->space, c->records, count );
    case ROW_ALL_FLAT: return clv_space_move_all2( c->space, c->flat, count );
    case ROW_ALL_DOUBLES: return clv_space_move_all64( c->space, c->doubles, count );
    default: return clv_space_move( c->space, c->chosen, c->records, count );
    }
}

// Objects that are not chosen go.
static void keep_chosen( crowd* c, uint32_t count )
{
    uint32_t at = 0;
    for ( uint32_t i = 0; i < c->count; ++i )
    {
        bool is_chosen = at < count && c->chosen[at].index == c->ids[i].index;
        at += is_chosen;
        check( is_chosen || clv_space_remove_one( c->space, c->ids[i] ) == CLV_OK, "removing" );
    }
    check( clv_space_update( c->space ) == CLV_OK, "clv_space_update" );
}

// What reading the clock twice takes.
static double clock_ns( void )
{
    double least = 1e300;
    for ( uint32_t round = 0; round < ROUNDS; ++round )
    {
        double start = cpu_ns(), ns = cpu_ns() - start;
        least = ns < least ? ns : least;
    }
    return least;
}

static double time_row( crowd* c, row_kind kind, double share, bool is_shuffled )
{
    double least = 1e300;
    uint32_t count = choose( c, share, is_shuffled );
    if ( kind >= ROW_ALL )
    {
        keep_chosen( c, count );
    }
    for ( uint32_t round = 0; round < ROUNDS; ++round )
    {
        write_boxes( c, count, round );
        double start = cpu_ns();
        clv_result result = hand_over( c, kind, count );
        double ns = cpu_ns() - start;
        check( result == CLV_OK, "handing over" );
        check( clv_space_update( c->space ) == CLV_OK, "clv_space_update" );
        least = ns < least ? ns : least;
    }
    return ( least - clock_ns() ) / count;
}

int main( int argc, char** argv )
{
    static const double shares[] = { 0.01, 0.1, 0.5, 0.9, 0.99, 1 };
    uint32_t count = argc > 1 ? (uint32_t)strtoul( argv[1], NULL, 10 ) : 32000;
    int only = argc > 2 ? atoi( argv[2] ) : -1, percent = argc > 3 ? atoi( argv[3] ) : -1;
    if ( count < 100 || count > 100000000 || only < -1 || only >= 2 * ROW_COUNT )
    {
        fprintf( stderr, "usage: moves [BOXES [ROW [PERCENT]]], 100 to 100,000,000 boxes\n" );
        return 2;
    }
    printf( "| %u boxes, ns for each handed over | 1 %% | 10 %% | 50 %% | 90 %% | 99 %% | all |\n", count );
    printf( "| --- | --- | --- | --- | --- | --- | --- |\n" );
    for ( int kind = 0; kind < ROW_COUNT; ++kind )
    {
        for ( int is_shuffled = 0; is_shuffled < ( kind < ROW_ALL ? 2 : 1 ); ++is_shuffled )
        {
            if ( only >= 0 && only != 2 * kind + is_shuffled )
            {
                continue;
            }
            crowd c;
            const char* order = kind >= ROW_ALL ? "" : is_shuffled ? ", any order" : ", ascending";
            printf( "| %s%s |", s_names[kind], order );
            for ( uint32_t i = 0; i < sizeof( shares ) / sizeof( shares[0] ); ++i )
            {
                if ( percent >= 0 && percent != (int)( 100 * shares[i] + 0.5 ) )
                {
                    continue;
                }
                open_crowd( &c, count, (row_kind)kind );
                printf( " %.2f |", time_row( &c, (row_kind)kind, shares[i], is_shuffled != 0 ) );
                fflush( stdout );
                close_crowd( &c );
            }
            printf( "\n" );
        }
    }
    return 0;
}
