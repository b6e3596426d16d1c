// SPDX-License-Identifier: MIT
// A flock (Reynolds 1987): 1,000 birds in a space that repeats on all sides. Each looks at those within a
// metre: it keeps its distance from the nearest, flies as they fly on average, and towards their middle.
// near.h lists the neighbours of each bird, with vectors to them across the faces of the cell. The flock is
// the same to the bit for any number of workers and every instruction set: the lists are, and their order
// too.
//
// Usage: boids [STEPS [SCENE.aabbs]]       default: 300
#include "../scene_file.h"

#include <cleave/cleave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    BIRDS = 1000,
    EDGE = 8 // metres
};

static const float s_step = 0.05f, s_sight = 1, s_personal = 0.4f;
static const float s_apart = 0.6f, s_alike = 0.8f, s_together = 0.3f;

typedef struct flock
{
    clv_near* near;
    clv_near_cell cell;
    float places[BIRDS][3], ways[BIRDS][3], next[BIRDS][3]; // ways have length 1: a metre per second
} flock;

static float random_number( uint64_t* state )
{
    *state = *state * UINT64_C( 6364136223846793005 ) + UINT64_C( 1442695040888963407 );
    return (float)( *state >> 40 ) / 16777216;
}

static void normalise( float* way )
{
    float length = sqrtf( way[0] * way[0] + way[1] * way[1] + way[2] * way[2] );
    for ( int k = 0; k < 3; ++k )
    {
        way[k] = length > 0 ? way[k] / length : k == 0;
    }
}

static void fill( flock* f )
{
    uint64_t state = 1;
    for ( int i = 0; i < BIRDS; ++i )
    {
        for ( int k = 0; k < 3; ++k )
        {
            f->places[i][k] = EDGE * random_number( &state );
            f->ways[i][k] = random_number( &state ) - 0.5f;
        }
        normalise( f->ways[i] );
    }
    for ( int k = 0; k < 3; ++k )
    {
        f->cell.edges[k][k] = EDGE;
        f->cell.periodic[k] = true;
    }
}

// Where bird i turns to, by what it sees.
static void turn( flock* f, uint32_t i, const clv_near_view* list )
{
    float apart[3] = { 0 }, alike[3] = { 0 }, together[3] = { 0 };
    uint64_t begin = list->offsets[i], end = list->offsets[i + 1];
    for ( uint64_t at = begin; at < end; ++at )
    {
        const float *vector = &list->vectors[3 * at], *way = f->ways[list->indices[at]];
        bool is_close = list->squared[at] < s_personal * s_personal;
        for ( int k = 0; k < 3; ++k )
        {
            apart[k] -= is_close ? vector[k] : 0;
            alike[k] += way[k];
            together[k] += vector[k];
        }
    }
    float seen = end > begin ? (float)( end - begin ) : 1;
    for ( int k = 0; k < 3; ++k )
    {
        f->next[i][k] =
            f->ways[i][k] + s_apart * apart[k] + ( s_alike * alike[k] + s_together * together[k] ) / seen;
    }
    normalise( f->next[i] );
}

static bool step( flock* f )
{
    clv_near_points points = {
        .positions = f->places[0], .stride = sizeof( f->places[0] ), .count = BIRDS, .cell = &f->cell
    };
    if ( clv_near_update( f->near, &points, NULL ) != CLV_OK )
    {
        fprintf( stderr, "boids: %s\n", clv_near_error( f->near ).text );
        return false;
    }
    clv_near_view list = clv_near_list( f->near );
    for ( uint32_t i = 0; i < BIRDS; ++i )
    {
        turn( f, i, &list );
    }
    for ( int i = 0; i < 3 * BIRDS; ++i )
    {
        f->ways[i / 3][i % 3] = f->next[i / 3][i % 3];
        f->places[i / 3][i % 3] += f->ways[i / 3][i % 3] * s_step;
    }
    return true;
}

// 1 if all fly the same way, near 0 if each flies its own.
static double order( const flock* f )
{
    double sum[3] = { 0 };
    for ( int i = 0; i < 3 * BIRDS; ++i )
    {
        sum[i % 3] += f->ways[i / 3][i % 3];
    }
    return sqrt( sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] ) / BIRDS;
}

static uint64_t hash( const flock* f )
{
    uint64_t value = UINT64_C( 14695981039346656037 );
    const unsigned char* bytes = (const unsigned char*)f->places;
    for ( size_t i = 0; i < sizeof( f->places ); ++i )
    {
        value = ( value ^ bytes[i] ) * UINT64_C( 1099511628211 );
    }
    return value;
}

// The birds as cubes, where they are in the cell.
static void put_frame( const flock* f, FILE* scene )
{
    for ( int i = 0; i < BIRDS; ++i )
    {
        float at[3];
        for ( int k = 0; k < 3; ++k )
        {
            at[k] = f->places[i][k] - EDGE * floorf( f->places[i][k] / EDGE );
        }
        scene_put( scene, (double)at[0], (double)at[1], (double)at[2], 0.15 );
    }
}

// The flock after so many steps, each a frame of the scene (NULL: none); false if that failed.
static bool fly( flock* f, int steps, uint32_t workers, clv_isa isa, FILE* scene )
{
    clv_near_def def = clv_default_near_def();
    def.cutoff = s_sight;
    def.full = true;
    def.by_point = true;
    def.squared = true;
    def.vectors = true;
    def.worker_count = workers;
    def.isa = isa;
    fill( f );
    bool good = clv_near_create( &def, &f->near ) == CLV_OK;
    for ( int i = 0; good && i < steps; ++i )
    {
        good = step( f );
        if ( scene != NULL )
        {
            put_frame( f, scene );
        }
    }
    clv_near_destroy( f->near );
    f->near = NULL;
    return good;
}

int main( int argc, char** argv )
{
    int steps = argc > 1 ? atoi( argv[1] ) : 300;
    flock* f = calloc( 1, sizeof( *f ) );
    if ( f == NULL )
    {
        return 1;
    }
    fill( f );
    double before = order( f );
    FILE* scene = argc > 2 && steps > 1 ? scene_open( argv[2], "boids", BIRDS, steps, EDGE ) : NULL;
    bool good = ( argc < 3 || scene != NULL ) && fly( f, steps, 1, CLV_ISA_AUTO, scene );
    good = scene_close( scene, argc > 2 ? argv[2] : NULL ) && good;
    double after = order( f );
    uint64_t one = hash( f );
    good = good && fly( f, steps, 4, CLV_ISA_AUTO, NULL );
    uint64_t four = hash( f );
    good = good && fly( f, steps, 1, CLV_ISA_SCALAR, NULL );
    uint64_t scalar = hash( f );
    if ( good )
    {
        printf( "%d birds, %d steps\n", BIRDS, steps );
        printf( "at first each flies its own way: %s\n", before < 0.1 ? "yes" : "no" );
        printf( "in the end they fly one way: %s\n", after > 0.9 ? "yes" : "no" );
        printf( "the same flock, to the bit, with four workers: %s; with scalar kernels: %s\n",
            four == one ? "yes" : "no", scalar == one ? "yes" : "no" );
    }
    if ( good && argc > 1 )
    {
        printf( "order %.3f before, %.3f after; hash %016llx\n", before, after, (unsigned long long)one );
    }
    free( f );
    return good ? 0 : 1;
}
