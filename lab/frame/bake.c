// SPDX-License-Identifier: MIT
#include "lab/frame/bake.h"

#include "lab/base/interrupt.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/base/text.h"
#include "lab/frame/scene_file.h"

#include <errno.h>
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

static bool open_side_files( const bake_def* def, const char* path, side_files* files, lab_error* why )
{
    const recipe* scene = def->scene.recipe;
    if ( def->generator->reborn != NULL && ( scene == NULL || scene->churn_share > 0 ) )
    {
        char* name = text_format( "%s%s", path, BAKE_CHURN_ENDING );
        files->has_churn = output_file_open( &files->churn, name, why );
        free( name );
        if ( !files->has_churn || !output_file_format( &files->churn, why, BAKE_CHURN_HEAD ) )
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
            output_file_format( &files->report, why,
                "frame,bodies,sleeping,pairs,contacts,wall_contacts,points,penetration_most,penetration_mean,"
                "penetration_mean_relative,kinetic_energy,potential_energy,rounds,overflow,clamped,find_ms,"
                "manifold_ms,solve_ms,other_ms\n" );
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
        good = output_file_format( &files->churn, why, "%" PRIu64 ",%" PRIu32 "\n", frame,
            bodies[i / pieces] * pieces + i % pieces );
    }
    return good;
}

static bool write_report(
    const bake_def* def, void* state, uint64_t frame, side_files* files, lab_error* why )
{
    clv_rigid_report r = def->generator->report( state );
    return output_file_format( &files->report, why,
        "%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",%.6g,%.6g,%.6g,%.9g,%.9g,%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%.3f,%.3f,%.3f,%.3f\n",
        frame, r.body_count, r.sleeping_count, r.pair_count, r.contact_count, r.wall_contact_count,
        r.point_count, r.penetration_most, r.penetration_mean, r.penetration_mean_relative, r.kinetic_energy,
        r.potential_energy, r.color_count, r.overflow_count, r.clamped_count, r.find_ms, r.manifold_ms,
        r.solve_ms, r.other_ms );
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
    char label[RECIPE_NAME_ROOM + sizeof( text_short )];
    snprintf( label, sizeof( label ), "%s:%s", scene_name( defs ), text_size( defs->scene.body_count ).text );
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
        return lab_error_write( why, "%s: out of memory for %s bodies; use a smaller -n", paths[0],
            text_size( defs->scene.body_count ).text );
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

// ---- splitting

#define OBJECTS_MOST ( (uint32_t)INT32_MAX / BODY_SPLIT )
#define NAME_TAIL "-split"

/// Everything there is while a scene is split.
typedef struct splitting
{
    const splitter_def* def;
    scene_reader reader;
    scene_writer writer;
    output_file churn;
    bool has_churn;
    clv_aabb* boxes;    ///< of the input, unless it has bodies
    body_state* bodies; ///< of the input, if it has them
    clv_aabb* pieces;   ///< eight per body
} splitting;

// ---- a frame

// Twice as large about the origin, which is exact. False if a coordinate is beyond the floats then.
static bool double_box( clv_aabb* box )
{
    bool fits = true;
    for ( uint32_t index = 0; index < 6; ++index )
    {
        float* value = index < 3 ? &box->lower.x + index : &box->upper.x + ( index - 3 );
        float doubled = 2 * *value;
        fits = fits && ( doubled - doubled == 0 || *value - *value != 0 );
        *value = doubled;
    }
    return fits;
}

static bool double_pieces( splitting* work, uint32_t frame, lab_error* why )
{
    uint32_t count = work->writer.header.object_count;
    for ( uint32_t piece = 0; piece < count; ++piece )
    {
        if ( !double_box( &work->pieces[piece] ) )
        {
            return lab_error_write( why,
                "%s: frame %" PRIu32 ", object %" PRIu32
                ": twice as far out is beyond the largest float; split without --keep-size",
                work->def->input, frame, piece / BODY_SPLIT );
        }
    }
    return true;
}

static bool split_frame( splitting* work, uint32_t frame, lab_error* why )
{
    scene_reader* reader = &work->reader;
    bool good = reader->has_poses ? scene_reader_read_bodies( reader, frame, work->bodies, why )
                                  : scene_reader_read( reader, frame, work->boxes, why );
    for ( uint32_t index = 0; good && index < reader->header.object_count; ++index )
    {
        clv_aabb* pieces = work->pieces + (size_t)BODY_SPLIT * index;
        if ( reader->has_poses )
        {
            body_split_boxes( &work->bodies[index], pieces );
        }
        else
        {
            body_split_box( work->boxes[index], pieces );
        }
    }
    return good && ( !work->def->keep_size || double_pieces( work, frame, why ) ) &&
        scene_writer_put( &work->writer, work->pieces, why );
}

static bool split_frames( splitting* work, lab_error* why )
{
    const scene_header* header = &work->writer.header;
    uint64_t steps = (uint64_t)header->frame_count + 1;
    progress_bar bar;
    progress_begin( &bar, header->name, "object frames", steps * header->object_count );
    bool good = true;
    for ( uint64_t frame = 0; good && frame < steps; ++frame )
    {
        good = split_frame( work, (uint32_t)frame, why );
        if ( good && interrupt_raised() )
        {
            good = lab_error_interrupted( why );
        }
        progress_show( &bar, ( frame + 1 ) * header->object_count );
    }
    progress_end( &bar );
    return good;
}

// ---- objects that die and are born

static bool fail_churn( const char* path, uint64_t line, lab_error* why )
{
    return lab_error_write( why,
        "%s:%" PRIu64
        ": must be frame,object, both within the scene; bake the scene again, or remove the file",
        path, line );
}

// "12,7" into two numbers, and nothing else on the line.
static bool parse_birth( const char* line, uint32_t* frame, uint32_t* object )
{
    char* end = NULL;
    if ( line[0] < '0' || line[0] > '9' )
    {
        return false;
    }
    errno = 0;
    unsigned long long first = strtoull( line, &end, 10 );
    if ( *end != ',' || end[1] < '0' || end[1] > '9' )
    {
        return false;
    }
    unsigned long long second = strtoull( end + 1, &end, 10 );
    bool is_whole = errno == 0 && first <= UINT32_MAX && second <= UINT32_MAX;
    *frame = (uint32_t)first;
    *object = (uint32_t)second;
    return is_whole && end[strspn( end, "\r\n" )] == '\0';
}

static bool split_birth(
    splitting* work, const char* path, const char* text, uint64_t number, lab_error* why )
{
    const scene_header* from = &work->reader.header;
    uint32_t frame, object;
    if ( !parse_birth( text, &frame, &object ) || frame > from->frame_count || object >= from->object_count )
    {
        return fail_churn( path, number, why );
    }
    bool good = true;
    for ( uint32_t piece = 0; good && piece < BODY_SPLIT; ++piece )
    {
        good = output_file_format(
            &work->churn, why, "%" PRIu32 ",%" PRIu32 "\n", frame, object * BODY_SPLIT + piece );
    }
    return good;
}

static bool split_lines( splitting* work, const char* path, FILE* stream, lab_error* why )
{
    char line[64];
    bool good = true;
    for ( uint64_t number = 1; good && fgets( line, sizeof( line ), stream ) != NULL; ++number )
    {
        if ( number == 1 )
        {
            good = strncmp( line, BAKE_CHURN_HEAD, strlen( BAKE_CHURN_HEAD ) - 1 ) == 0
                ? output_file_format( &work->churn, why, BAKE_CHURN_HEAD )
                : fail_churn( path, number, why );
            continue;
        }
        good = split_birth( work, path, line, number, why );
    }
    return good;
}

// The companion of a scene whose bodies die and are born: its pieces do so together.
static bool split_churn( splitting* work, lab_error* why )
{
    char* path = text_format( "%s%s", work->def->input, BAKE_CHURN_ENDING );
    char* output = text_format( "%s%s", work->def->output, BAKE_CHURN_ENDING );
    bool good = true;
    if ( platform_look( path ).kind == PLATFORM_FILE )
    {
        FILE* stream = platform_open( path );
        work->has_churn = stream != NULL && output_file_open( &work->churn, output, why );
        good = work->has_churn && split_lines( work, path, stream, why );
        if ( stream == NULL )
        {
            lab_error_write( why, "%s: cannot be opened: %s", path, strerror( errno ) );
        }
        else
        {
            fclose( stream );
        }
    }
    free( path );
    free( output );
    return good;
}

// ---- all of it

static bool make_header( const splitting* work, scene_header* header, lab_error* why )
{
    *header = work->reader.header;
    if ( header->object_count > OBJECTS_MOST )
    {
        return lab_error_write( why,
            "%s: at byte 256: %" PRIu32 " objects cut in 8 are more than a file can name; %" PRIu32
            " can be split",
            work->def->input, header->object_count, OBJECTS_MOST );
    }
    header->object_count *= BODY_SPLIT;
    size_t length = strlen( header->name );
    size_t most = SCENE_NAME_ROOM - sizeof( NAME_TAIL );
    memcpy( header->name + ( length < most ? length : most ), NAME_TAIL, sizeof( NAME_TAIL ) );
    if ( work->def->keep_size && !double_box( &header->world ) )
    {
        return lab_error_write( why,
            "%s: at byte 272: twice the world is beyond the largest float; split without --keep-size",
            work->def->input );
    }
    return true;
}

static void take_memory( splitting* work, uint32_t body_count )
{
    bool has_poses = work->reader.has_poses;
    work->boxes = has_poses ? NULL : lab_take( body_count, sizeof( clv_aabb ) );
    work->bodies = has_poses ? lab_take( body_count, sizeof( body_state ) ) : NULL;
    work->pieces = lab_take( (uint64_t)body_count * BODY_SPLIT, sizeof( clv_aabb ) );
}

static bool split_all( splitting* work, scene_header* header, lab_error* why )
{
    if ( !scene_reader_open( &work->reader, work->def->input, why ) || !make_header( work, header, why ) )
    {
        return false;
    }
    take_memory( work, work->reader.header.object_count );
    return scene_writer_open( &work->writer, work->def->output, header, why ) && split_churn( work, why ) &&
        split_frames( work, why );
}

bool splitter_write( const splitter_def* def, scene_header* header, lab_error* why )
{
    splitting work = { .def = def };
    bool good = split_all( &work, header, why );
    scene_reader_close( &work.reader ); // before a file of the same name takes its place
    good = good && ( !work.has_churn || output_file_commit( &work.churn, why ) ) &&
        scene_writer_commit( &work.writer, why );
    output_file_abandon( &work.churn );
    scene_writer_abandon( &work.writer );
    free( work.boxes );
    free( work.bodies );
    free( work.pieces );
    return good;
}
