// SPDX-License-Identifier: MIT
#include "lab/frame/frame_source.h"

#include "lab/base/text.h"

#include <inttypes.h>
#include <stdlib.h>

// ---- files

static bool read_file( void* state, uint32_t frame, clv_aabb* boxes, lab_error* why )
{
    return scene_reader_read( state, frame, boxes, why );
}

static void close_file( void* state )
{
    scene_reader_close( state );
    free( state );
}

bool frame_source_open_file( frame_source* source, const char* path, lab_error* why )
{
    *source = ( frame_source ){ 0 };
    scene_reader* reader = calloc( 1, sizeof( scene_reader ) );
    if ( reader == NULL )
    {
        return lab_error_write( why, "%s: out of memory", path );
    }
    if ( !scene_reader_open( reader, path, why ) )
    {
        free( reader );
        return false;
    }
    *source = ( frame_source ){ reader->header, reader, read_file, close_file };
    return true;
}

// ---- scenes made on the fly

typedef struct running_scene
{
    bake_def def;
    void* state;
    uint64_t frame; // of the run, not of the recording
} running_scene;

static bool start_scene( running_scene* scene, lab_error* why )
{
    if ( scene->state != NULL )
    {
        scene->def.generator->destroy( scene->state );
    }
    scene->frame = 0;
    scene->state = scene->def.generator->create( &scene->def.scene );
    if ( scene->state == NULL )
    {
        char size[TEXT_SIZE_ROOM];
        return lab_error_write( why, "%s: out of memory for %s bodies; use a smaller -n",
            scene->def.generator->name, text_size( scene->def.scene.body_count, size ) );
    }
    return true;
}

static bool read_scene( void* state, uint32_t frame, clv_aabb* boxes, lab_error* why )
{
    running_scene* scene = state;
    uint64_t wanted = (uint64_t)scene->def.from + frame;
    if ( ( scene->state == NULL || scene->frame > wanted ) && !start_scene( scene, why ) )
    {
        return false;
    }
    for ( ; scene->frame < wanted; ++scene->frame )
    {
        if ( !scene->def.generator->step( scene->state, why ) )
        {
            return false;
        }
    }
    scene->def.generator->boxes( scene->state, boxes );
    return true;
}

static void close_scene( void* state )
{
    running_scene* scene = state;
    if ( scene->state != NULL )
    {
        scene->def.generator->destroy( scene->state );
    }
    free( scene );
}

bool frame_source_open_scene( frame_source* source, const bake_def* def, lab_error* why )
{
    *source = ( frame_source ){ 0 };
    running_scene* scene = calloc( 1, sizeof( running_scene ) );
    if ( scene == NULL )
    {
        return lab_error_write( why, "%s: out of memory", def->generator->name );
    }
    scene->def = *def;
    if ( !start_scene( scene, why ) )
    {
        free( scene );
        return false;
    }
    *source = ( frame_source ){ bake_header( def, def->generator->world( scene->state ) ), scene, read_scene,
        close_scene };
    return true;
}

// ---- windows of another source

typedef struct cut_source
{
    frame_source whole;
    uint32_t from;
} cut_source;

static bool read_cut( void* state, uint32_t frame, clv_aabb* boxes, lab_error* why )
{
    cut_source* cut = state;
    return cut->whole.read( cut->whole.state, cut->from + frame, boxes, why );
}

static void close_cut( void* state )
{
    cut_source* cut = state;
    frame_source_close( &cut->whole );
    free( cut );
}

bool frame_source_cut( frame_source* source, uint32_t from, uint32_t frame_count )
{
    cut_source* cut = calloc( 1, sizeof( cut_source ) );
    if ( cut == NULL )
    {
        frame_source_close( source );
        return false;
    }
    *cut = ( cut_source ){ *source, from };
    source->header.frame_count = frame_count;
    source->state = cut;
    source->read = read_cut;
    source->close = close_cut;
    return true;
}

// ---- all of them

bool frame_source_read( frame_source* source, uint32_t frame, clv_aabb* boxes, lab_error* why )
{
    if ( frame > source->header.frame_count )
    {
        return lab_error_write( why, "%s: has no frame %" PRIu32 "; the last is %" PRIu32,
            source->header.name, frame, source->header.frame_count );
    }
    return source->read( source->state, frame, boxes, why );
}

void frame_source_close( frame_source* source )
{
    if ( source->close != NULL )
    {
        source->close( source->state );
    }
    *source = ( frame_source ){ 0 };
}

clv_aabb* frame_source_boxes( const frame_source* source, lab_error* why )
{
    clv_aabb* boxes = calloc( source->header.object_count, sizeof( clv_aabb ) );
    if ( boxes == NULL )
    {
        lab_error_write( why, "%s: out of memory for %" PRIu32 " boxes", source->header.name,
            source->header.object_count );
    }
    return boxes;
}
