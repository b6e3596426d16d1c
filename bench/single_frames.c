// SPDX-License-Identifier: MIT
// Frames of drifting boxes, and rays: to compare the core as one file with the library.
// docs/use-it.md has the table.
//   cc -O2 -Iinclude bench/single_frames.c build/libcleave.a -o library -lm -pthread
//   cc -O2 -DSINGLE -Ibuild/single bench/single_frames.c build/single/cleave.c -o single -lm -pthread
// Usage: single_frames BOXES FRAMES RAYS; prints the least ms of a frame (all boxes moved, an update) and of
// the rays, and a sum of what was found.
#ifdef SINGLE
#include "cleave.h"
#else
#include <cleave/cleave.h>
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static float unit( void )
{
    static uint64_t s_state = 1;
    s_state = s_state * 6364136223846793005u + 1442695040888963407u;
    return (float)( s_state >> 40 ) * 0x1p-24f;
}

static double ms_since( clock_t begin )
{
    return (double)( clock() - begin ) * 1e3 / (double)CLOCKS_PER_SEC;
}

static void drift( clv_aabb* box, const clv_vec3* way )
{
    box->lower = ( clv_vec3 ){ box->lower.x + way->x, box->lower.y + way->y, box->lower.z + way->z };
    box->upper = ( clv_vec3 ){ box->upper.x + way->x, box->upper.y + way->y, box->upper.z + way->z };
}

int main( int argc, char** argv )
{
    uint32_t count = argc == 4 ? (uint32_t)atoi( argv[1] ) : 0;
    int frames = argc == 4 ? atoi( argv[2] ) : 0;
    uint32_t ray_count = argc == 4 ? (uint32_t)atoi( argv[3] ) : 0;
    clv_aabb* boxes = malloc( count * sizeof( *boxes ) );
    clv_vec3* ways = malloc( count * sizeof( *ways ) );
    clv_id* ids = malloc( count * sizeof( *ids ) );
    clv_ray* rays = malloc( ray_count * sizeof( *rays ) );
    clv_hit* hits = malloc( ray_count * sizeof( *hits ) );
    clv_space_def def = clv_default_space_def();
    clv_space* space;
    if ( count == 0 || !boxes || !ways || !ids || clv_space_create( &def, &space ) != CLV_OK )
    {
        fprintf( stderr, "usage: single_frames BOXES FRAMES RAYS\n" );
        return 2;
    }
    float side = cbrtf( (float)count ) * 1.6f; // about one pair for each box
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_vec3 at = { unit() * side, unit() * side, unit() * side };
        boxes[i] = ( clv_aabb ){ at, { at.x + 1, at.y + 1, at.z + 1 } };
        ways[i] = ( clv_vec3 ){ unit() * 0.1f - 0.05f, unit() * 0.1f - 0.05f, unit() * 0.1f - 0.05f };
    }
    for ( uint32_t i = 0; i < ray_count; ++i )
    {
        rays[i] = ( clv_ray ){ { unit() * side, unit() * side, unit() * side },
            { unit() - 0.5f, unit() - 0.5f, unit() - 0.5f }, 10 };
    }
    bool is_good = clv_space_add( space, boxes, count, ids ) == CLV_OK;
    double least_update = INFINITY, least_rays = INFINITY;
    uint64_t found = 0;
    for ( int frame = 0; frame < frames && is_good; ++frame )
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            drift( &boxes[i], &ways[i] );
        }
        clock_t begin = clock();
        is_good = clv_space_move( space, ids, boxes, count ) == CLV_OK && clv_space_update( space ) == CLV_OK;
        least_update = fmin( least_update, ms_since( begin ) );
        found += clv_space_pairs( space ).count;
        if ( ray_count > 0 )
        {
            begin = clock();
            clv_queries queries = clv_query_rays( rays, ray_count );
            is_good = is_good && clv_space_query_closest( space, &queries, hits, NULL ) == CLV_OK;
            least_rays = fmin( least_rays, ms_since( begin ) );
        }
        for ( uint32_t i = 0; i < ray_count; ++i )
        {
            found += hits[i].index % 1000;
        }
    }
    printf( "%.4f %.4f %llu\n", least_update, ray_count > 0 ? least_rays : 0, (unsigned long long)found );
    clv_space_destroy( space );
    free( hits );
    free( rays );
    free( ids );
    free( ways );
    free( boxes );
    return is_good ? 0 : 1;
}
