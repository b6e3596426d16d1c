// SPDX-License-Identifier: MIT
// A Lennard-Jones fluid: 864 atoms in a box that repeats on all sides, moved by velocity Verlet. near.h lists
// the pairs within the cutoff and a skin, and keeps the list until an atom has moved half the skin. Units are
// those of the potential: its depth, its diameter and an atom's mass are 1.
//
// Usage: fluid [STEPS [PICTURE.svg [SCENE.aabbs]]]       default: 500
#include "../scene_file.h"

#include <cleave/cleave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    SIDE = 6, // cubes of the crystal it starts from, along each edge
    ATOMS = 4 * SIDE * SIDE * SIDE,
    FRAME = 5, // steps from one frame of the scene to the next
    BINS = 60  // of the pair correlation, from 0 to the cutoff
};

static const double s_density = 0.8, s_cutoff = 2.5, s_skin = 0.4, s_step = 0.002, s_heat = 1.0;

typedef struct fluid
{
    clv_near* near;
    clv_near_cell cell;
    double edge, places[ATOMS][3], speeds[ATOMS][3], forces[ATOMS][3];
    double potential;
    double bins[BINS]; // pairs seen at each distance
} fluid;

// The same numbers everywhere: whole-number arithmetic, then exact division.
static double random_number( uint64_t* state )
{
    *state = *state * UINT64_C( 6364136223846793005 ) + UINT64_C( 1442695040888963407 );
    return (double)( *state >> 40 ) / (double)( UINT64_C( 1 ) << 24 ) - 0.5;
}

static void fill( fluid* f )
{
    static const double corners[4][3] = { { 0, 0, 0 }, { 0.5, 0.5, 0 }, { 0.5, 0, 0.5 }, { 0, 0.5, 0.5 } };
    f->edge = cbrt( ATOMS / s_density );
    for ( int k = 0; k < 3; ++k )
    {
        f->cell.edges[k][k] = f->edge;
        f->cell.periodic[k] = true;
    }
    uint64_t state = 1;
    double drift[3] = { 0, 0, 0 }, squares = 0;
    for ( int i = 0; i < ATOMS; ++i )
    {
        int cube = i / 4, at[3] = { cube % SIDE, cube / SIDE % SIDE, cube / SIDE / SIDE };
        for ( int k = 0; k < 3; ++k )
        {
            f->places[i][k] = ( at[k] + corners[i % 4][k] ) * f->edge / SIDE;
            f->speeds[i][k] = random_number( &state );
            drift[k] += f->speeds[i][k] / ATOMS;
        }
    }
    // The fluid as a whole is at rest, and as warm as it shall be; half of it goes into melting.
    for ( int i = 0; i < 3 * ATOMS; ++i )
    {
        f->speeds[i / 3][i % 3] -= drift[i % 3];
        squares += f->speeds[i / 3][i % 3] * f->speeds[i / 3][i % 3];
    }
    double factor = sqrt( 2 * s_heat * 3 * ATOMS / squares );
    for ( int i = 0; i < 3 * ATOMS; ++i )
    {
        f->speeds[i / 3][i % 3] *= factor;
    }
}

// The potential 4 ( r^-12 - r^-6 ), moved and tilted so that it and its force are 0 at the cutoff: a force
// that jumps there would not conserve energy.
static bool find_forces( fluid* f, bool counts )
{
    clv_near_points points = {
        .positions64 = f->places[0], .stride = sizeof( f->places[0] ), .count = ATOMS, .cell = &f->cell
    };
    if ( clv_near_update( f->near, &points, NULL ) != CLV_OK )
    {
        fprintf( stderr, "fluid: %s\n", clv_near_error( f->near ).text );
        return false;
    }
    double end6 = pow( s_cutoff, -6 ), end = 4 * ( end6 * end6 - end6 );
    double slope = -24 * ( 2 * end6 * end6 - end6 ) / s_cutoff;
    for ( int i = 0; i < 3 * ATOMS; ++i )
    {
        f->forces[i / 3][i % 3] = 0;
    }
    f->potential = 0;
    clv_near_view list = clv_near_list( f->near );
    for ( uint64_t i = 0; i < list.count; ++i )
    {
        double squared = list.squared64[i];
        if ( squared > s_cutoff * s_cutoff ) // within the skin
        {
            continue;
        }
        double r = sqrt( squared ), r6 = 1 / ( squared * squared * squared );
        f->potential += 4 * ( r6 * r6 - r6 ) - end - slope * ( r - s_cutoff );
        double push = ( 24 * ( 2 * r6 * r6 - r6 ) / r + slope ) / r;
        clv_pair pair = list.pairs[i];
        for ( int k = 0; k < 3; ++k )
        {
            double force = push * list.vectors64[3 * i + (uint64_t)k];
            f->forces[pair.a][k] -= force;
            f->forces[pair.b][k] += force;
        }
        f->bins[(int)( r / s_cutoff * BINS ) % BINS] += counts ? 1 : 0;
    }
    return true;
}

static bool step( fluid* f, bool counts )
{
    for ( int i = 0; i < 3 * ATOMS; ++i )
    {
        f->speeds[i / 3][i % 3] += f->forces[i / 3][i % 3] * s_step / 2;
        f->places[i / 3][i % 3] += f->speeds[i / 3][i % 3] * s_step;
    }
    if ( !find_forces( f, counts ) )
    {
        return false;
    }
    for ( int i = 0; i < 3 * ATOMS; ++i )
    {
        f->speeds[i / 3][i % 3] += f->forces[i / 3][i % 3] * s_step / 2;
    }
    return true;
}

static double energy( const fluid* f, double* kinetic )
{
    *kinetic = 0;
    for ( int i = 0; i < 3 * ATOMS; ++i )
    {
        *kinetic += f->speeds[i / 3][i % 3] * f->speeds[i / 3][i % 3] / 2;
    }
    return *kinetic + f->potential;
}

// How many times as many pairs in bins `first` to `last` as in a gas of the same density.
static double correlation( const fluid* f, int first, int last, int steps )
{
    double inner = s_cutoff * first / BINS, outer = s_cutoff * last / BINS, count = 0;
    for ( int i = first; i < last; ++i )
    {
        count += f->bins[i];
    }
    double shell = 4.0 / 3 * 3.14159265358979 * ( pow( outer, 3 ) - pow( inner, 3 ) );
    return count / ( shell * s_density * ATOMS / 2 * steps );
}

// A star is a fifth.
static void print_correlation( const fluid* f, int steps )
{
    for ( int i = 16; i < BINS; i += 2 )
    {
        double ratio = correlation( f, i, i + 2, steps );
        printf( "%4.2f %4.2f ", s_cutoff * ( i + 1 ) / BINS, ratio );
        for ( int star = 0; star < (int)( 5 * ratio + 0.5 ); ++star )
        {
            putchar( '*' );
        }
        putchar( '\n' );
    }
}

static bool draw_correlation( const fluid* f, int steps, const char* path )
{
    FILE* file = fopen( path, "w" );
    if ( file == NULL )
    {
        perror( path );
        return false;
    }
    double left = 40, bottom = 220, across = 160, up = 65; // pixels, and pixels per unit
    fprintf( file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 460 260\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"460\" height=\"260\" fill=\"#fff\"/>\n" );
    for ( int i = 0; i <= 5; ++i ) // marks of both axes, and a line at 1, where a gas is
    {
        fprintf( file, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%.1f</text>\n",
            left + i * across / 2, bottom + 16, i * 0.5 );
        if ( i <= 3 )
        {
            fprintf( file,
                "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%d</text>\n"
                "<path d=\"M%.0f %.0fh%.0f\" stroke=\"%s\"/>\n",
                left - 6, bottom - i * up + 4, i, left, bottom - i * up, s_cutoff * across,
                i == 1 ? "#888" : "#ddd" );
        }
    }
    fprintf( file, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">distance, in diameters</text>\n",
        left + s_cutoff * across / 2, bottom + 34 );
    fprintf( file, "<path fill=\"none\" stroke=\"#2171b5\" stroke-width=\"2\" d=\"" );
    for ( int i = 0; i < BINS; ++i )
    {
        fprintf( file, "%s%.1f %.1f", i == 0 ? "M" : "L", left + s_cutoff * ( i + 0.5 ) / BINS * across,
            bottom - up * correlation( f, i, i + 1, steps ) );
    }
    fputs( "\"/>\n</svg>\n", file );
    bool good = ferror( file ) == 0;
    if ( fclose( file ) != 0 || !good )
    {
        perror( path );
        return false;
    }
    return true;
}

// The atoms as cubes, where they are in the cell.
static void put_frame( const fluid* f, FILE* scene )
{
    for ( int i = 0; i < ATOMS; ++i )
    {
        double at[3];
        for ( int k = 0; k < 3; ++k )
        {
            at[k] = f->places[i][k] - f->edge * floor( f->places[i][k] / f->edge );
        }
        scene_put( scene, at[0], at[1], at[2], 0.9 );
    }
}

int main( int argc, char** argv )
{
    int steps = argc > 1 ? atoi( argv[1] ) : 500;
    fluid* f = calloc( 1, sizeof( *f ) );
    clv_near_def def = clv_default_near_def();
    def.doubles = true;
    def.cutoff = s_cutoff;
    def.skin = s_skin;
    def.squared = true;
    def.vectors = true;
    if ( f == NULL || clv_near_create( &def, &f->near ) != CLV_OK )
    {
        free( f );
        return 1;
    }
    fill( f );
    FILE* scene = NULL;
    if ( argc > 3 )
    {
        scene = scene_open( argv[3], "fluid", ATOMS, ( steps + FRAME - 1 ) / FRAME, (float)f->edge );
    }
    bool good = ( argc <= 3 || scene != NULL ) && find_forces( f, false );
    double kinetic, start = energy( f, &kinetic ), worst = 0;
    for ( int i = 0; good && i < steps; ++i )
    {
        if ( scene != NULL && i % FRAME == 0 )
        {
            put_frame( f, scene );
        }
        good = step( f, i >= steps / 2 );
        double off = fabs( energy( f, &kinetic ) - start ) / ATOMS;
        worst = off > worst || off != off ? off : worst;
    }
    good = scene_close( scene, argc > 3 ? argv[3] : NULL ) && good;
    double push[3] = { 0, 0, 0 };
    for ( int i = 0; i < 3 * ATOMS; ++i )
    {
        push[i % 3] += f->speeds[i / 3][i % 3];
    }
    uint64_t made = clv_near_get_stats( f->near ).made_count;
    double still = fabs( push[0] ) + fabs( push[1] ) + fabs( push[2] );
    // Bounds and not digits: the last ones differ between compilers, and a fluid forgets where it began.
    printf( "%d atoms, %d steps\n", ATOMS, steps );
    printf( "energy of an atom changes by less than 0.0005: %s\n", worst < 0.0005 ? "yes" : "no" );
    printf( "the fluid as a whole stays at rest: %s\n", still < 1e-8 ? "yes" : "no" );
    printf( "a list serves five steps and more: %s\n", 5 * made <= (uint64_t)steps ? "yes" : "no" );
    if ( argc > 1 )
    {
        printf( "worst change %.2g, %d lists, temperature %.2f; pairs by distance:\n", worst, (int)made,
            kinetic * 2 / 3 / ATOMS );
        print_correlation( f, steps - steps / 2 );
    }
    good = good && ( argc < 3 || draw_correlation( f, steps - steps / 2, argv[2] ) );
    clv_near_destroy( f->near );
    free( f );
    return good ? 0 : 1;
}
