// SPDX-License-Identifier: MIT
// `cleave-mpi gen`: a contact-free scene baked by many processes into one .aabbs file, each its bodies, at
// their offsets. The bytes are those that `cleave gen` writes.
#include "lab/base/terminal.h"
#include "lab/base/text.h"
#include "lab/frame/bake.h"
#include "lab/mpi/mpi_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODIES 8000 // unless the flag says otherwise, as in `cleave gen`

/// Of one process.
typedef struct gen
{
    bake_def def;
    scene_header header;
    void* state;
    clv_aabb* boxes;
    scene_writer writer; ///< on process 0
    scene_part part;
    bool is_empty; ///< fewer bodies than processes
} gen;

static bool make_def( gen* g, job* j )
{
    const job_options* o = j->o;
    g->def = ( bake_def ){ .generator = generator_find( o->what ),
        .from = (uint32_t)o->from,
        .frame_count = o->frames > 0 ? (uint32_t)o->frames : GENERATOR_FRAMES };
    const generator* scene = g->def.generator;
    uint64_t bodies = o->bodies > 0 ? o->bodies : BODIES;
    if ( scene == NULL )
    {
        return lab_error_write(
            &j->why, "gen: unknown scene '%.100s'; %s", o->what, generator_advice( o->what ).text );
    }
    if ( !scene->has_parts )
    {
        return lab_error_write( &j->why,
            "gen: bodies of %s touch each other, so one process must bake it; use `cleave gen`",
            scene->name );
    }
    uint64_t most = o->splits ? INT32_MAX / BODY_SPLIT : INT32_MAX;
    most = most < scene->bodies_most ? most : scene->bodies_most;
    if ( bodies > most )
    {
        return lab_error_write( &j->why,
            "gen: -n %" PRIu64 " is more than %s can have%s; use %" PRIu64 " at most", bodies, scene->name,
            o->splits ? " with --split" : "", most );
    }
    if ( !body_type_from_name( o->type, &g->def.scene.type ) )
    {
        return lab_error_write( &j->why, "gen: --type '%.100s' is no type of objects; %s", o->type,
            choice_advice( body_types, o->type ).text );
    }
    if ( o->output == NULL )
    {
        return lab_error_write( &j->why, "gen: needs -o FILE, the .aabbs file to write" );
    }
    generator_def* def = &g->def.scene;
    def->body_count = (uint32_t)bodies;
    def->seed = o->seed;
    def->split = o->splits;
    def->thread_count = (uint32_t)o->threads;
    def->part_first = job_range_first( def->body_count, j->world_rank, j->world_size );
    def->part_count = job_range_first( def->body_count, j->world_rank + 1, j->world_size ) - def->part_first;
    g->is_empty = def->part_count == 0;
    def->part_count = g->is_empty ? 1 : def->part_count; // 0 would be all
    def->part_first -= g->is_empty && def->part_first == def->body_count;
    return true;
}

static uint32_t pieces_of( const gen* g )
{
    return g->def.scene.split ? BODY_SPLIT : 1;
}

static bool start_scene( gen* g, job* j )
{
    g->state = g->def.generator->create( g->def.generator, &g->def.scene );
    g->boxes = lab_take( (uint64_t)g->def.scene.part_count * pieces_of( g ), sizeof( clv_aabb ) );
    if ( g->state == NULL )
    {
        return lab_error_write( &j->why,
            "%s: process %d: out of memory for %" PRIu32 " bodies; use more processes", j->o->output, j->rank,
            g->def.scene.part_count );
    }
    g->header = bake_header( &g->def, g->def.generator->world( g->state ) );
    return true;
}

// Process 0 makes the file; all open it.
static bool open_file( gen* g, job* j )
{
    const char* shared = NULL;
    bool ok = j->rank != 0;
    if ( j->rank == 0 )
    {
        ok = scene_writer_open( &g->writer, j->o->output, &g->header, &j->why );
        shared = ok ? scene_writer_share( &g->writer, &j->why ) : NULL;
        ok = shared != NULL;
    }
    if ( !job_agree( j, ok ) )
    {
        return false;
    }
    int size = shared != NULL ? (int)strlen( shared ) + 1 : 0;
    MPI_Bcast( &size, 1, MPI_INT, 0, MPI_COMM_WORLD );
    char* name = lab_take( (uint64_t)size, 1 );
    if ( shared != NULL )
    {
        memcpy( name, shared, (size_t)size );
    }
    MPI_Bcast( name, size, MPI_BYTE, 0, MPI_COMM_WORLD );
    uint32_t first = g->def.scene.part_first * pieces_of( g );
    uint32_t count = g->is_empty ? 0 : g->def.scene.part_count * pieces_of( g );
    ok = scene_part_open( &g->part, name, j->o->output, g->header.object_count, first, count, &j->why );
    free( name );
    return job_agree( j, ok );
}

static bool write_frames( gen* g, job* j )
{
    uint64_t last = (uint64_t)g->def.from + g->def.frame_count;
    bool ok = true;
    progress_bar bar;
    progress_begin( &bar, j->o->output, "frames", last + 1 );
    for ( uint64_t frame = 0; ok && frame <= last; ++frame )
    {
        ok = frame == 0 || g->def.generator->step( g->state, &j->why );
        if ( ok && frame >= g->def.from )
        {
            g->def.generator->boxes( g->state, g->boxes );
            ok = scene_part_put( &g->part, (uint32_t)( frame - g->def.from ), g->boxes, &j->why );
        }
        // All stop when one fails: the file would not be kept.
        ok = job_agree( j, ok );
        progress_show( &bar, frame + 1 );
    }
    progress_end( &bar );
    return ok && job_agree( j, scene_part_close( &g->part, &j->why ) );
}

static void close_gen( gen* g )
{
    scene_part_close( &g->part, NULL );
    scene_writer_abandon( &g->writer );
    free( g->boxes );
    if ( g->state != NULL )
    {
        g->def.generator->destroy( g->state );
    }
}

bool job_gen( job* j )
{
    gen g = { 0 };
    bool ok = make_def( &g, j ) && job_agree( j, start_scene( &g, j ) ) && open_file( &g, j ) &&
        write_frames( &g, j ) && job_agree( j, j->rank != 0 || scene_writer_commit( &g.writer, &j->why ) );
    if ( ok && j->rank == 0 )
    {
        uint64_t size = 0;
        scene_file_bytes( g.header.object_count, g.header.frame_count, &size );
        printf( "%s: %s %s, %s objects, 1 + %" PRIu32 " frames from frame %" PRIu32 ", %s, by %d process%s\n",
            j->o->output, g.def.generator->name, j->o->type, text_size( g.header.object_count ).text,
            g.header.frame_count, g.def.from, text_bytes( size ).text, j->process_count,
            j->process_count == 1 ? "" : "es" );
    }
    close_gen( &g );
    return ok;
}
