// SPDX-License-Identifier: MIT
// Neighbour lists: ns per point of a list that is made anew each time, half, as pairs, on one core. bench/near.md has its results.
// Usage: near_points [COUNT...]   (10000 100000 1000000 unless given)
#include "base/timer.h"
#include "cleave/cleave.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 10
#define LEAST_NS 1500000000u // of all columns together
#define PI 3.14159265358979323846

// Points with about so many neighbours within 1 of each, in random order.
typedef enum near_kind
{
    UNIFORM,
    CLUSTERED, // balls of 100 points, half a unit thick, in a space that would otherwise be thin
    SURFACE,   // of a ball
} near_kind;

static const struct
{
    const char* name;
    near_kind kind;
    double neighbours;
} s_scenes[] = {
    { "liquid, 40 neighbours", UNIFORM, 40 },
    { "liquid, 80 neighbours", UNIFORM, 80 },
    { "gas, 2 neighbours", UNIFORM, 2 },
    { "clusters of 100", CLUSTERED, 2 },
    { "surface, 40 neighbours", SURFACE, 40 },
};

static uint64_t s_state;

// From 0 up to 1.
static double next_random( void )
{
    s_state = s_state * UINT64_C( 6364136223846793005 ) + UINT64_C( 1442695040888963407 );
    return (double)( s_state >> 11 ) * 0x1p-53;
}

static double next_normal( void )
{
    double radius = sqrt( -2 * log( 1 - next_random() ) );
    return radius * cos( 2 * PI * next_random() );
}

// Fills xyz, and returns the edge of the cell they are in.
static double make_points( near_kind kind, double neighbours, uint32_t count, double* xyz )
{
    double edge = cbrt( count * 4 / 3.0 * PI / neighbours ), middle[3] = { 0, 0, 0 };
    double radius = sqrt( count / ( 4 * neighbours ) );
    s_state = 1;
    for ( uint32_t i = 0; i < count; ++i )
    {
        double* p = xyz + 3 * (size_t)i;
        double length = 0;
        for ( int k = 0; k < 3; ++k )
        {
            middle[k] = i % 100 == 0 ? next_random() * edge : middle[k];
            p[k] = kind == UNIFORM ? next_random() * edge : next_normal();
            length += p[k] * p[k];
        }
        for ( int k = 0; k < 3 && kind != UNIFORM; ++k )
        {
            p[k] = kind == CLUSTERED ? middle[k] + 0.5 * p[k] : radius * ( 1 + p[k] / sqrt( length ) );
        }
    }
    // Clusters are made one after the other: shuffled, as the others are.
    for ( uint32_t i = count - 1; i > 0 && i < count; --i )
    {
        uint32_t other = (uint32_t)( next_random() * ( i + 1 ) );
        double kept[3];
        memcpy( kept, xyz + 3 * (size_t)i, sizeof( kept ) );
        memmove( xyz + 3 * (size_t)i, xyz + 3 * (size_t)other, sizeof( kept ) );
        memcpy( xyz + 3 * (size_t)other, kept, sizeof( kept ) );
    }
    return kind == SURFACE ? 2 * radius + 2 : edge;
}

// One of the four columns: a type of numbers, in open space or in a cell.
typedef struct near_column
{
    clv_near* near;
    clv_near_cell cell;
    clv_near_points points;
    uint64_t best_ns;
} near_column;

static void give_up( clv_result result )
{
    fprintf( stderr, "near_points: %s\n", clv_result_text( result ) );
    exit( 1 );
}

static void open_column(
    near_column* column, bool doubles, double edge, const double* xyz, const float* rounded, uint32_t count )
{
    clv_near_def def = clv_default_near_def();
    def.cutoff = 1;
    def.doubles = doubles;
    *column = ( near_column ){ .best_ns = UINT64_MAX };
    for ( int k = 0; k < 3; ++k )
    {
        column->cell.edges[k][k] = edge;
        column->cell.periodic[k] = true;
    }
    column->points.count = count;
    column->points.stride = 3 * ( doubles ? sizeof( double ) : sizeof( float ) );
    column->points.positions = doubles ? NULL : rounded;
    column->points.positions64 = doubles ? xyz : NULL;
    column->points.cell = edge > 0 ? &column->cell : NULL;
    clv_result result = clv_near_create( &def, &column->near );
    if ( result != CLV_OK )
    {
        give_up( result );
    }
}

// The columns in turn, so that what disturbs one disturbs all; the first round takes their memory.
static void time_columns( near_column columns[4] )
{
    uint64_t total = 0;
    for ( int round = 0; round < ROUNDS || total < LEAST_NS; ++round )
    {
        for ( int i = 0; i < 4; ++i )
        {
            uint64_t before = clv_base_clock_ns();
            clv_result result = clv_near_update( columns[i].near, &columns[i].points, NULL );
            uint64_t ns = clv_base_clock_ns() - before;
            if ( result != CLV_OK )
            {
                give_up( result );
            }
            total += ns;
            columns[i].best_ns = round > 0 && ns < columns[i].best_ns ? ns : columns[i].best_ns;
        }
    }
}

static void time_scene( size_t scene, uint32_t count )
{
    double* xyz = malloc( 3 * sizeof( double ) * count );
    float* rounded = malloc( 3 * sizeof( float ) * count );
    if ( xyz == NULL || rounded == NULL )
    {
        give_up( CLV_OUT_OF_MEMORY );
    }
    double edge = make_points( s_scenes[scene].kind, s_scenes[scene].neighbours, count, xyz );
    for ( size_t i = 0; i < 3 * (size_t)count; ++i )
    {
        rounded[i] = (float)xyz[i];
    }
    near_column columns[4];
    for ( int i = 0; i < 4; ++i )
    {
        open_column( &columns[i], i >= 2, i % 2 == 1 ? edge : 0, xyz, rounded, count );
    }
    time_columns( columns );
    printf( "| %s | %u |", s_scenes[scene].name, count );
    for ( int i = 0; i < 2; ++i )
    {
        printf( " %.1f |", 2 * (double)clv_near_list( columns[i].near ).count / count );
    }
    for ( int i = 0; i < 4; ++i )
    {
        printf( " %.0f |", (double)columns[i].best_ns / count );
        clv_near_destroy( columns[i].near );
    }
    printf( " %.2f | %.2f |\n", (double)columns[1].best_ns / (double)columns[0].best_ns,
        (double)columns[2].best_ns / (double)columns[0].best_ns );
    fflush( stdout );
    free( xyz );
    free( rounded );
}

int main( int argc, char** argv )
{
    static const char* const usual[] = { "near_points", "10000", "100000", "1000000" };
    const char* const* sizes = argc > 1 ? (const char* const*)argv : usual;
    printf(
        "| points | count | neighbours, open | periodic | float, open | periodic | double, open | periodic "
        "| periodic : open | double : float |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n" );
    for ( size_t scene = 0; scene < sizeof( s_scenes ) / sizeof( s_scenes[0] ); ++scene )
    {
        for ( int i = 1; i < ( argc > 1 ? argc : 4 ); ++i )
        {
            long count = atol( sizes[i] );
            if ( count < 100 || count > 100000000 )
            {
                fprintf( stderr, "near_points: '%s' is no count from 100 to 100000000\n", sizes[i] );
                return 2;
            }
            time_scene( scene, (uint32_t)count );
        }
    }
    return 0;
}
