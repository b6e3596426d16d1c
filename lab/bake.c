// SPDX-License-Identifier: MIT
#include "lab/bake.h"

#include "lab/interrupt.h"
#include "lab/progress.h"
#include "lab/text.h"

#include <stdlib.h>

scene_header bake_header( const bake_def* def, clv_aabb world )
{
    scene_header header = { 0 };
    // A split scene of 8 N objects is another scene than one of 8 N bodies.
    snprintf(
        header.name, sizeof( header.name ), "%s%s", def->generator->name, def->scene.split ? "-split" : "" );
    snprintf( header.type, sizeof( header.type ), "%s", body_type_name( def->scene.type ) );
    header.object_count = generator_object_count( &def->scene );
    header.frame_count = def->frame_count;
    header.world = world;
    return header;
}

static bool write_frames(
    const bake_def* def, void* state, clv_aabb* boxes, scene_writer* writer, complaint* why )
{
    char label[64];
    char size[TEXT_SIZE_ROOM];
    snprintf(
        label, sizeof( label ), "%s:%s", def->generator->name, text_size( def->scene.body_count, size ) );
    uint64_t last = (uint64_t)def->from + def->frame_count;
    progress_bar bar;
    progress_begin( &bar, label, "frames", last + 1 );
    bool good = true;
    for ( uint64_t frame = 0; good && frame <= last; ++frame )
    {
        if ( frame > 0 )
        {
            def->generator->step( state );
        }
        if ( frame >= def->from )
        {
            def->generator->boxes( state, boxes );
            good = scene_writer_put( writer, boxes, why );
        }
        else if ( interrupt_raised() )
        {
            scene_writer_abandon( writer );
            good = complaint_interrupted( why );
        }
        progress_show( &bar, frame + 1 );
    }
    progress_end( &bar );
    return good;
}

bool bake_write( const bake_def* def, const char* path, complaint* why )
{
    void* state = def->generator->create( &def->scene );
    clv_aabb* boxes = calloc( generator_object_count( &def->scene ), sizeof( clv_aabb ) );
    bool good = state != NULL && boxes != NULL;
    if ( !good )
    {
        char size[TEXT_SIZE_ROOM];
        complaint_write( why, "%s: out of memory for %s bodies; use a smaller -n", path,
            text_size( def->scene.body_count, size ) );
    }
    scene_writer writer = { 0 };
    if ( good )
    {
        scene_header header = bake_header( def, def->generator->world( state ) );
        good = scene_writer_open( &writer, path, &header, why ) &&
            write_frames( def, state, boxes, &writer, why ) && scene_writer_commit( &writer, why );
    }
    free( boxes );
    if ( state != NULL )
    {
        def->generator->destroy( state );
    }
    return good;
}
