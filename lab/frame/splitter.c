// SPDX-License-Identifier: MIT
#include "lab/frame/splitter.h"

#include "lab/base/interrupt.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/base/text.h"
#include "lab/frame/bake.h"
#include "lab/frame/scene_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
        char line[64];
        int length =
            snprintf( line, sizeof( line ), "%" PRIu32 ",%" PRIu32 "\n", frame, object * BODY_SPLIT + piece );
        good = output_file_write( &work->churn, line, (size_t)length, why );
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
                ? output_file_write( &work->churn, BAKE_CHURN_HEAD, strlen( BAKE_CHURN_HEAD ), why )
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
