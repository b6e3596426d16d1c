// SPDX-License-Identifier: MIT
#include "lab/measure/estimate.h"

#include "lab/base/progress.h"
#include "lab/frame/bake_cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Seconds per box and frame, measured at 32k moving cubes on one core.
#define OURS_S 1.2e-7   // with kernels
#define PLAIN_S 1e-6    // without
#define THEIRS_S 4e-6   // other people's, on the mean
#define TEST_S 1.5e-10  // box against box, by a kernel
#define SCALAR_S 3e-9   // without
#define SCALAR_FACTOR 8 // of the other methods
#define BAKE_S 1e-7     // a body that only flies
#define PHYSICS_S 1.5e-6

double estimate_frame_s( const run_spec* spec, uint32_t object_count )
{
    char unread[64];
    if ( !run_spec_is_available( spec, unread, sizeof( unread ) ) )
    {
        return 0;
    }
    const method* row = spec->row;
    double n = (double)object_count;
    bool is_scalar = strcmp( run_spec_variant( spec ), "scalar" ) == 0;
    double test_s = is_scalar ? SCALAR_S : TEST_S;
    if ( strcmp( row->name, "brute" ) == 0 )
    {
        return 0.5 * n * n * test_s;
    }
    double box_s = row->is_opaque ? THEIRS_S
        : !row->has_isa           ? PLAIN_S
        : is_scalar               ? SCALAR_FACTOR * OURS_S
                                  : OURS_S;
    // A sweep along one axis tests what lies in a slice of the world.
    double sweep_s = strcmp( row->name, "sap" ) == 0 ? pow( n, 5.0 / 3.0 ) * test_s : 0;
    return n * box_s + sweep_s;
}

static estimate_scene look_at_file( const char* path )
{
    estimate_scene scene = { 0 };
    frame_source source = { 0 };
    lab_error unread;
    if ( frame_source_open_file( &source, path, &unread ) )
    {
        scene.object_count = source.header.object_count;
        scene.frame_count = source.header.frame_count;
        frame_source_close( &source );
    }
    return scene;
}

estimate_scene estimate_scene_spec(
    const scene_spec* spec, uint32_t body_count, uint32_t frames_wanted, uint64_t seed )
{
    if ( spec->generator == NULL )
    {
        return look_at_file( spec->path );
    }
    bake_def def = scene_spec_bake_def( spec, body_count, frames_wanted, seed );
    estimate_scene scene = { .object_count = generator_object_count( &def.scene ),
        .frame_count = def.frame_count };
    if ( !bake_cache_holds( &def ) )
    {
        double body_s = spec->generator->report != NULL ? PHYSICS_S : BAKE_S;
        scene.bake_s = body_s * (double)def.scene.body_count * ( (double)def.from + (double)def.frame_count );
        scene_file_bytes( scene.object_count, scene.frame_count, &scene.bake_bytes );
    }
    return scene;
}

char* estimate_text( double seconds, char buffer[ESTIMATE_ROOM] )
{
    char time[32];
    progress_format_time( seconds, time, sizeof( time ) );
    snprintf(
        buffer, ESTIMATE_ROOM, "%s%s", seconds < 1 ? "under a second" : "about ", seconds < 1 ? "" : time );
    return buffer;
}
