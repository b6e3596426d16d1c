// SPDX-License-Identifier: MIT
// A dam breaks: smoothed particle hydrodynamics in the plane. near.h lists all particles closer than the
// reach of the kernel, the walls are three rows of particles that never move, and being in one group they are
// not listed with each other. Pressure follows from density (Tait), walls push back with the pressure of the
// water close by (Akinci 2012), the kernel is Wendland's, viscosity Monaghan's. Metres, seconds, kilograms.
//
// Usage: particles [SECONDS [PICTURE.svg [SCENE.aabbs]]]       default: 0.3
#include "../scene_file.h"

#include <cleave/cleave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    DAM = 40,   // particles along each side of the water
    TANK = 120, // along the floor
    WALL = 80,  // up each wall
    ROWS = 3,   // of the walls
    WATER = DAM * DAM,
    MOST = WATER + ROWS * ( TANK + 2 * ROWS + 2 * WALL ),
    PANELS = 4,
    FRAME = 20 // steps from one frame of the scene to the next
};

static const double s_edge = 1, s_gravity = 9.81, s_rest = 1000, s_viscosity = 0.1;
static const double s_pi = 3.14159265358979;

typedef struct dam
{
    clv_near* near;
    uint32_t count; // water first, then walls
    double spacing, h, sound, step, mass;
    double places[MOST][2], speeds[WATER][2], forces[WATER][2], densities[WATER], pressures[WATER];
    uint32_t groups[MOST];
    double densest, most_energy, front; // seen so far
} dam;

static void put( dam* d, double x, double y, uint32_t group )
{
    d->places[d->count][0] = x * d->spacing;
    d->places[d->count][1] = y * d->spacing;
    d->groups[d->count] = group;
    d->count += 1;
}

// Wendland's, of a distance in units of h, times h * h; 0 from 2 on.
static double kernel( double q )
{
    double rest = q < 2 ? 1 - q / 2 : 0;
    return 7 / ( 4 * s_pi ) * rest * rest * rest * rest * ( 2 * q + 1 );
}

static void fill( dam* d )
{
    d->spacing = s_edge / DAM;
    d->h = 1.3 * d->spacing;
    d->sound =
        10 * sqrt( 2 * s_gravity * s_edge ); // ten times the fastest water: density changes by about 1 %
    d->step = 0.3 * d->h / d->sound;
    double sum =
        0; // of the kernel over the lattice that the water starts from, which shall have the density at rest
    for ( int i = 0; i < 49; ++i )
    {
        sum += kernel( hypot( i % 7 - 3, (double)( i / 7 ) - 3 ) * d->spacing / d->h );
    }
    d->mass = s_rest * d->h * d->h / sum;
    for ( int i = 0; i < WATER; ++i )
    {
        put( d, i % DAM + 0.5, (double)( i / DAM ) + 0.5, 0 );
    }
    for ( int row = 0; row < ROWS; ++row )
    {
        for ( int i = -ROWS; i < TANK + ROWS; ++i )
        {
            put( d, i + 0.5, -row - 0.5, 1 );
        }
        for ( int i = 0; i < WALL; ++i )
        {
            put( d, -row - 0.5, i + 0.5, 1 );
            put( d, TANK + row + 0.5, i + 0.5, 1 );
        }
    }
}

// First the densities, and from them the pressures.
static void find_pressures( dam* d, const clv_near_view* list )
{
    double scale = d->mass / ( d->h * d->h );
    for ( int i = 0; i < WATER; ++i )
    {
        d->densities[i] = scale * kernel( 0 );
    }
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        double share = scale * kernel( sqrt( list->squared64[i] ) / d->h );
        clv_pair pair = list->pairs[i]; // a < b: a is water
        d->densities[pair.a] += share;
        if ( pair.b < WATER )
        {
            d->densities[pair.b] += share;
        }
    }
    for ( int i = 0; i < WATER; ++i )
    {
        // Water at the surface has too few neighbours; it shall not pull.
        double pressure = d->sound * d->sound * s_rest / 7 * ( pow( d->densities[i] / s_rest, 7 ) - 1 );
        d->pressures[i] = pressure > 0 ? pressure : 0;
        d->densest = d->densities[i] > d->densest ? d->densities[i] : d->densest;
    }
}

static void find_forces( dam* d, const clv_near_view* list )
{
    for ( int i = 0; i < WATER; ++i )
    {
        d->forces[i][0] = 0;
        d->forces[i][1] = -s_gravity;
    }
    double slope = d->mass * 35 / ( 4 * s_pi * pow( d->h, 4 ) );
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        double squared = list->squared64[i], q = sqrt( squared ) / d->h;
        if ( q >= 2 ) // within the skin
        {
            continue;
        }
        clv_pair pair = list->pairs[i];
        const double* way = &list->vectors64[3 * i]; // from a to b
        bool is_wall = pair.b >= WATER;
        uint32_t b = is_wall ? pair.a : pair.b; // whose pressure and density b has
        double rest = 1 - q / 2, weight = slope * rest * rest * rest, along = 0;
        for ( int k = 0; k < 2; ++k )
        {
            along += ( ( is_wall ? 0 : d->speeds[b][k] ) - d->speeds[pair.a][k] ) * way[k];
        }
        double density = ( d->densities[pair.a] + d->densities[b] ) / 2;
        double push = d->pressures[pair.a] / ( d->densities[pair.a] * d->densities[pair.a] ) +
            d->pressures[b] / ( d->densities[b] * d->densities[b] );
        push -= along < 0
            ? s_viscosity * d->h * d->sound * along / ( density * ( squared + 0.01 * d->h * d->h ) )
            : 0;
        for ( int k = 0; k < 2; ++k )
        {
            d->forces[pair.a][k] -= weight * push * way[k];
            if ( !is_wall )
            {
                d->forces[pair.b][k] += weight * push * way[k];
            }
        }
    }
}

static bool step( dam* d )
{
    clv_near_points points = {
        .positions64 = d->places[0], .stride = sizeof( d->places[0] ), .count = d->count, .groups = d->groups
    };
    if ( clv_near_update( d->near, &points, NULL ) != CLV_OK )
    {
        fprintf( stderr, "particles: %s\n", clv_near_error( d->near ).text );
        return false;
    }
    clv_near_view list = clv_near_list( d->near );
    find_pressures( d, &list );
    find_forces( d, &list );
    double energy = 0;
    for ( int i = 0; i < WATER; ++i )
    {
        for ( int k = 0; k < 2; ++k )
        {
            d->speeds[i][k] += d->forces[i][k] * d->step;
            d->places[i][k] += d->speeds[i][k] * d->step;
            energy += d->mass * d->speeds[i][k] * d->speeds[i][k] / 2;
        }
        energy += d->mass * s_gravity * d->places[i][1];
        d->front = d->places[i][0] > d->front ? d->places[i][0] : d->front;
    }
    d->most_energy = energy > d->most_energy || energy != energy ? energy : d->most_energy;
    return true;
}

// ---- a picture: four moments, water coloured by its speed

static void draw( const dam* d, FILE* file, int panel, double seconds )
{
    static const char* const colours[] = { "#08306b", "#2171b5", "#4292c6", "#6baed6", "#9ecae1" };
    double width = 240, scale = width / ( TANK * d->spacing ), height = WALL * d->spacing * scale;
    double left = 10 + panel % 2 * ( width + 20 ), bottom = 10 + height + panel / 2 * ( height + 30 );
    fprintf( file, "<path d=\"M%.0f %.0fv%.0fh%.0fv%.0f\" stroke=\"#888\" fill=\"none\"/>\n", left,
        bottom - height, height, width, -height );
    fprintf(
        file, "<text x=\"%.0f\" y=\"%.0f\">%.2f s</text>\n", left + width / 2 - 16, bottom + 14, seconds );
    for ( int c = 0; c < 5; ++c )
    {
        fprintf( file, "<path stroke=\"%s\" stroke-width=\"2\" stroke-linecap=\"round\" d=\"", colours[c] );
        for ( int i = 0; i < WATER; ++i )
        {
            int speed = (int)hypot( d->speeds[i][0], d->speeds[i][1] ); // metres per second
            if ( ( speed < 4 ? speed : 4 ) == c )
            {
                fprintf(
                    file, "M%.1f %.1fh0", left + d->places[i][0] * scale, bottom - d->places[i][1] * scale );
            }
        }
        fputs( "\"/>\n", file );
    }
}

// Water and walls as cubes in the plane.
static void put_frame( const dam* d, FILE* scene )
{
    for ( uint32_t i = 0; i < d->count; ++i )
    {
        scene_put( scene, d->places[i][0], d->places[i][1], 0, 0.9 * d->spacing );
    }
}

static bool run( dam* d, double seconds, FILE* picture, const char* scene_path, bool shows_numbers )
{
    int steps = (int)ceil( seconds / d->step );
    FILE* scene = NULL;
    if ( scene_path != NULL )
    {
        scene = scene_open(
            scene_path, "particles", (int)d->count, steps / FRAME + 1, (float)( TANK * d->spacing ) );
    }
    if ( picture != NULL )
    {
        fputs(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 520 390\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"520\" height=\"390\" fill=\"#fff\"/>\n",
            picture );
    }
    for ( int i = 0; i <= steps; ++i )
    {
        if ( picture != NULL && i * ( PANELS - 1 ) % steps < PANELS - 1 )
        {
            draw( d, picture, i * ( PANELS - 1 ) / steps, i * d->step );
        }
        if ( scene != NULL && i % FRAME == 0 )
        {
            put_frame( d, scene );
        }
        if ( i < steps && !step( d ) )
        {
            scene_close( scene, scene_path );
            return false;
        }
    }
    if ( picture != NULL )
    {
        fputs( "</svg>\n", picture );
    }
    if ( ( scene_path != NULL && scene == NULL ) || !scene_close( scene, scene_path ) )
    {
        return false;
    }
    double start = d->mass * WATER * s_gravity * s_edge / 2;
    double fastest =
        s_edge + 2 * sqrt( s_gravity * s_edge ) * seconds; // the front of shallow water without friction
    double far_wall = TANK * d->spacing;
    int denser =
        d->front < far_wall - d->spacing ? 5 : 15; // per cent; the blow against the far wall is a hard one
    uint64_t made = clv_near_get_stats( d->near ).made_count;
    // Bounds and not digits: the last ones differ between compilers, and water forgets where it began.
    printf( "%d particles of water, %u of walls, %.2f s\n", WATER, d->count - WATER, seconds );
    printf( "density at most %d %% above that at rest: %s\n", denser,
        d->densest < ( 1 + denser / 100.0 ) * s_rest ? "yes" : "no" );
    printf( "energy never above that at the start: %s\n", d->most_energy < 1.001 * start ? "yes" : "no" );
    printf( "the front runs, and not faster than shallow water may: %s\n",
        d->front > s_edge + 0.1 * seconds && d->front <= fastest && d->front < far_wall + d->spacing ? "yes"
                                                                                                     : "no" );
    printf( "a list serves five steps and more: %s\n", 5 * made <= (uint64_t)steps ? "yes" : "no" );
    if ( shows_numbers )
    {
        printf(
            "%d steps, %d lists; density up to %.4f of that at rest, energy up to %.4f of that at the start, front at %.2f m\n",
            steps, (int)made, d->densest / s_rest, d->most_energy / start, d->front );
    }
    return true;
}

int main( int argc, char** argv )
{
    double seconds = argc > 1 ? atof( argv[1] ) : 0.3;
    if ( !( seconds >= 0.01 && seconds <= 60 ) )
    {
        fprintf( stderr, "particles: SECONDS is from 0.01 to 60\n" );
        return 2;
    }
    FILE* picture = argc > 2 ? fopen( argv[2], "w" ) : NULL;
    if ( argc > 2 && picture == NULL )
    {
        perror( argv[2] );
        return 1;
    }
    dam* d = calloc( 1, sizeof( *d ) );
    bool good = d != NULL;
    if ( good )
    {
        fill( d );
        clv_near_def def = clv_default_near_def();
        def.flat = true;
        def.doubles = true;
        def.cutoff = 2 * d->h;
        def.skin = 0.5 * d->h;
        def.squared = true;
        def.vectors = true;
        good = clv_near_create( &def, &d->near ) == CLV_OK &&
            run( d, seconds, picture, argc > 3 ? argv[3] : NULL, argc > 1 );
        clv_near_destroy( d->near );
    }
    if ( picture != NULL && fclose( picture ) != 0 )
    {
        perror( argv[2] );
        good = false;
    }
    free( d );
    return good ? 0 : 1;
}
