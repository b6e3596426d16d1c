// SPDX-License-Identifier: MIT
#include "lab/frame/bake.h"

#include "lab/base/interrupt.h"
#include "lab/base/terminal.h"
#include "lab/base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The table's name, or the one a scene file gives itself.
static const char* scene_name( const bake_def* def )
{
    return def->scene.recipe != NULL ? def->scene.recipe->name : def->generator->name;
}

scene_header bake_header( const bake_def* def, clv_aabb world )
{
    scene_header header = { 0 };
    // A split scene of 8 N objects is another scene than one of 8 N bodies.
    snprintf(
        header.name, sizeof( header.name ), "%s%s", scene_name( def ), def->scene.split ? "-split" : "" );
    const recipe* scene = def->scene.recipe;
    bool is_mixed = scene != NULL && scene->group_count > 0; // --type has no say in it
    snprintf(
        header.type, sizeof( header.type ), "%s", is_mixed ? "mixed" : body_type_name( def->scene.type ) );
    header.object_count = generator_object_count( &def->scene );
    header.frame_count = def->frame_count;
    header.world = world;
    return header;
}

/// What is written along with the frames.
typedef struct side_files
{
    output_file churn;
    output_file report;
    bool has_churn, has_report;
} side_files;

static bool write_text( output_file* file, const char* text, lab_error* why )
{
    return output_file_write( file, text, strlen( text ), why );
}

static bool open_side_files( const bake_def* def, const char* path, side_files* files, lab_error* why )
{
    const recipe* scene = def->scene.recipe;
    if ( def->generator->reborn != NULL && ( scene == NULL || scene->churn_share > 0 ) )
    {
        char* name = text_format( "%s%s", path, BAKE_CHURN_ENDING );
        files->has_churn = output_file_open( &files->churn, name, why );
        free( name );
        if ( !files->has_churn || !write_text( &files->churn, BAKE_CHURN_HEAD, why ) )
        {
            return false;
        }
    }
    if ( def->report != NULL && def->generator->report == NULL )
    {
        return lab_error_write(
            why, "--report: %s is not simulated; leave the flag out", def->generator->name );
    }
    if ( def->report != NULL )
    {
        files->has_report = output_file_open( &files->report, def->report, why );
        return files->has_report &&
            write_text( &files->report,
                "frame,bodies,sleeping,pairs,contacts,wall_contacts,points,penetration_most,penetration_mean,"
                "penetration_mean_relative,kinetic_energy,potential_energy,rounds,overflow,clamped,find_ms,"
                "manifold_ms,solve_ms,other_ms\n",
                why );
    }
    return true;
}

/// Reborn bodies, as objects of the file's frame.
static bool write_churn( const bake_def* def, void* state, uint64_t frame, side_files* files, lab_error* why )
{
    const uint32_t* bodies;
    uint32_t count = def->generator->reborn( state, &bodies );
    uint32_t pieces = def->scene.split ? BODY_SPLIT : 1;
    bool good = true;
    for ( uint32_t i = 0; good && i < count * pieces; ++i )
    {
        char line[64];
        snprintf( line, sizeof( line ), "%" PRIu64 ",%" PRIu32 "\n", frame,
            bodies[i / pieces] * pieces + i % pieces );
        good = write_text( &files->churn, line, why );
    }
    return good;
}

static bool write_report(
    const bake_def* def, void* state, uint64_t frame, side_files* files, lab_error* why )
{
    clv_rigid_report r = def->generator->report( state );
    char line[512];
    snprintf( line, sizeof( line ),
        "%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",%.6g,%.6g,%.6g,%.9g,%.9g,%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%.3f,%.3f,%.3f,%.3f\n",
        frame, r.body_count, r.sleeping_count, r.pair_count, r.contact_count, r.wall_contact_count,
        r.point_count, r.penetration_most, r.penetration_mean, r.penetration_mean_relative, r.kinetic_energy,
        r.potential_energy, r.color_count, r.overflow_count, r.clamped_count, r.find_ms, r.manifold_ms,
        r.solve_ms, r.other_ms );
    return write_text( &files->report, line, why );
}

/// One frame on, and what is to be said about it.
static bool step_scene( const bake_def* def, void* state, uint64_t frame, side_files* files, lab_error* why )
{
    return def->generator->step( state, why ) &&
        ( !files->has_churn || frame <= def->from ||
            write_churn( def, state, frame - def->from, files, why ) ) &&
        ( !files->has_report || write_report( def, state, frame, files, why ) );
}

bool bake_may_share( const bake_def* def )
{
    return def->generator->reborn == NULL && def->scene.recipe == NULL && def->report == NULL;
}

// The windows that frame belongs to get it; those whose last it is are whole. The scene last: where
// it is, its companions are.
static bool put_frame( const bake_def* defs, uint32_t count, scene_writer* writers, side_files* files,
    uint64_t frame, const clv_aabb* boxes, lab_error* why )
{
    bool good = true;
    for ( uint32_t index = 0; good && index < count; ++index )
    {
        uint64_t first = defs[index].from;
        uint64_t last = first + defs[index].frame_count;
        if ( frame >= first && frame <= last )
        {
            good = scene_writer_put( &writers[index], boxes, why ) &&
                ( frame < last ||
                    ( ( !files->has_churn || output_file_commit( &files->churn, why ) ) &&
                        ( !files->has_report || output_file_commit( &files->report, why ) ) &&
                        scene_writer_commit( &writers[index], why ) ) );
        }
    }
    return good;
}

static bool is_in_any( const bake_def* defs, uint32_t count, uint64_t frame, uint64_t* last )
{
    bool is_in = false;
    *last = 0;
    for ( uint32_t index = 0; index < count; ++index )
    {
        uint64_t first = defs[index].from;
        uint64_t end = first + defs[index].frame_count;
        *last = end > *last ? end : *last;
        is_in = is_in || ( frame >= first && frame <= end );
    }
    return is_in;
}

static bool write_windows( const bake_def* defs, uint32_t count, void* state, clv_aabb* boxes,
    scene_writer* writers, side_files* files, lab_error* why )
{
    char label[RECIPE_NAME_ROOM + TEXT_SIZE_ROOM], size[TEXT_SIZE_ROOM];
    snprintf(
        label, sizeof( label ), "%s:%s", scene_name( defs ), text_size( defs->scene.body_count, size ) );
    uint64_t last = 0;
    is_in_any( defs, count, 0, &last );
    progress_bar bar;
    progress_begin( &bar, label, "body frames", ( last + 1 ) * defs->scene.body_count );
    bool good = true;
    for ( uint64_t frame = 0; good && frame <= last; ++frame )
    {
        good = frame == 0 || step_scene( defs, state, frame, files, why );
        if ( good && is_in_any( defs, count, frame, &last ) )
        {
            defs->generator->boxes( state, boxes );
            good = put_frame( defs, count, writers, files, frame, boxes, why );
        }
        else if ( good && interrupt_raised() )
        {
            good = lab_error_interrupted( why );
        }
        progress_show( &bar, ( frame + 1 ) * defs->scene.body_count );
    }
    progress_end( &bar );
    return good;
}

bool bake_write_windows( const bake_def* defs, const char* const* paths, uint32_t count, lab_error* why )
{
    if ( count == 0 )
    {
        return true;
    }
    void* state = defs->generator->create( defs->generator, &defs->scene );
    if ( state == NULL )
    {
        char size[TEXT_SIZE_ROOM];
        return lab_error_write( why, "%s: out of memory for %s bodies; use a smaller -n", paths[0],
            text_size( defs->scene.body_count, size ) );
    }
    clv_aabb* boxes = lab_take( generator_object_count( &defs->scene ), sizeof( clv_aabb ) );
    scene_writer* writers = lab_take( count, sizeof( scene_writer ) );
    side_files files = { 0 };
    bool good = open_side_files( defs, paths[0], &files, why );
    for ( uint32_t index = 0; good && index < count; ++index )
    {
        scene_header header = bake_header( &defs[index], defs->generator->world( state ) );
        good = scene_writer_open( &writers[index], paths[index], &header, why );
    }
    good = good && write_windows( defs, count, state, boxes, writers, &files, why );
    for ( uint32_t index = 0; !good && index < count; ++index )
    {
        scene_writer_abandon( &writers[index] );
    }
    output_file_abandon( &files.churn );
    output_file_abandon( &files.report );
    free( writers );
    free( boxes );
    defs->generator->destroy( state );
    return good;
}

bool bake_write( const bake_def* def, const char* path, lab_error* why )
{
    return bake_write_windows( def, &path, 1, why );
}
