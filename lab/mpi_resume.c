// SPDX-License-Identifier: MIT
#include "lab/mpi_resume.h"

#include "lab/base/interrupt.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/// What a bench knows of a checkpoint. The file has two of them: the one in force, and the one that is being written, so that whichever
/// manifest a killed job leaves is known.
typedef struct bench_note
{
    uint64_t frame, hash;
} bench_note;

static bench_note s_last; // of the checkpoint in force

// Files would be called .manifest and so on, which are hidden.
static bool names_file( const char* flag, const char* path, lab_error* why )
{
    return path == NULL || path[strlen( path ) - 1] != '/' ||
        lab_error_write( why, "%s %s: is a folder; name a file in it, such as %sjob", flag, path, path );
}

bool mpi_resume_check( const job_options* o, lab_error* why )
{
    if ( !names_file( "--checkpoint", o->checkpoint, why ) || !names_file( "--resume", o->resume, why ) )
    {
        return false;
    }
    if ( o->every != 0 && o->checkpoint == NULL )
    {
        return lab_error_write( why, "--every needs --checkpoint PATH" );
    }
    if ( ( o->checkpoint != NULL || o->resume != NULL ) &&
        ( o->warmup != UINT64_MAX || o->repeat != UINT64_MAX ) )
    {
        return lab_error_write(
            why, "--checkpoint and --resume do one pass: leave --warmup and --repeat out" );
    }
    return !o->is_alone || ( o->checkpoint == NULL && o->resume == NULL ) ||
        lab_error_write( why, "--alone has no checkpoints: every process has a world of its own" );
}

// ---- what the bench knows

// FNV-1a: a wrong digit of a hash would otherwise end up in the result.
static uint64_t sum_of( const char* text, size_t size )
{
    uint64_t sum = 0xcbf29ce484222325u;
    for ( size_t i = 0; i < size; ++i )
    {
        sum = ( sum ^ (uint8_t)text[i] ) * 0x100000001b3u;
    }
    return sum;
}

#define NOTES_ROOM 4096

// NULL, or what is wrong with the text.
static const char* parse_notes( const char* text, char what[NOTES_ROOM], uint64_t* seed, bench_note notes[2] )
{
    const char* end = strstr( text, "\nsum 0x" );
    uint64_t sum = 0;
    if ( end == NULL || sscanf( end, "\nsum %" SCNx64, &sum ) != 1 ||
        sscanf( text,
            "cleave-mpi bench 2 what %4095[^\n] seed %" SCNu64 " frame %" SCNu64 " hash %" SCNx64
            " frame %" SCNu64 " hash %" SCNx64,
            what, seed, &notes[0].frame, &notes[0].hash, &notes[1].frame, &notes[1].hash ) != 6 )
    {
        return "is not what bench --checkpoint writes";
    }
    return sum == sum_of( text, (size_t)( end - text ) + 1 ) ? NULL : "checksum mismatch";
}

static bool read_notes( const char* path, const job* j, bench_note notes[2], lab_error* why )
{
    char* name = text_format( "%s.bench", path );
    FILE* file = fopen( name, "rb" );
    char text[NOTES_ROOM] = "", what[NOTES_ROOM] = "";
    uint64_t seed = 0;
    const char* wrong = file == NULL ? strerror( errno ) : NULL;
    if ( file != NULL )
    {
        text[fread( text, 1, sizeof( text ) - 1, file )] = '\0';
        wrong = parse_notes( text, what, &seed, notes );
        fclose( file );
    }
    bool ok = wrong == NULL ||
        lab_error_write( why, "%s: %s%s", name, file == NULL ? "cannot be opened: " : "", wrong );
    if ( ok && ( strcmp( what, j->o->what ) != 0 || seed != j->o->seed ) )
    {
        ok = lab_error_write( why, "%s: is of %s with seed %" PRIu64 ", not of %s with seed %" PRIu64, name,
            what, seed, j->o->what, j->o->seed );
    }
    free( name );
    return ok;
}

static bool write_notes( const char* path, const job* j, const bench_note notes[2], lab_error* why )
{
    char* name = text_format( "%s.bench", path );
    char* text = text_format( "cleave-mpi bench 2\nwhat %s\nseed %" PRIu64 "\nframe %" PRIu64
                              " hash 0x%016" PRIx64 "\nframe %" PRIu64 " hash 0x%016" PRIx64 "\n",
        j->o->what, j->o->seed, notes[0].frame, notes[0].hash, notes[1].frame, notes[1].hash );
    char* sum = text_format( "sum 0x%016" PRIx64 "\n", sum_of( text, strlen( text ) ) );
    output_file file = { 0 };
    bool ok = output_file_open( &file, name, why ) && output_file_write( &file, text, strlen( text ), why ) &&
        output_file_write( &file, sum, strlen( sum ), why ) && output_file_commit( &file, why );
    free( sum );
    free( text );
    free( name );
    return ok;
}

// ---- going on

// Objects of the scene: another one's would ask for boxes that are not there.
static bool fits_scene( const mpi_world* w, job* j )
{
    uint32_t count = clv_mpi_space_object_count( w->space ), objects = w->frames.header.object_count;
    bool ok = true;
    for ( uint32_t i = 0; i < count && ok; ++i )
    {
        uint64_t id;
        clv_aabb box;
        clv_mpi_space_object_at( w->space, i, &id, &box );
        ok = id < objects;
    }
    return ok || lab_error_write( &j->why, "%s: has objects that %s has not", j->o->resume, j->o->what );
}

static bool has_all( const mpi_world* w, job* j )
{
    uint64_t all = job_sum( clv_mpi_space_object_count( w->space ) ), wanted = w->frames.header.object_count;
    return all == wanted ||
        lab_error_write(
            &j->why, "%s: has %" PRIu64 " objects, %s has %" PRIu64, j->o->resume, all, j->o->what, wanted );
}

bool mpi_resume_begin( mpi_world* w, job* j, uint32_t* frame, uint64_t* hash )
{
    bench_note notes[2] = { { 0, 0 }, { 0, 0 } };
    if ( !job_agree( j, j->rank != 0 || read_notes( j->o->resume, j, notes, &j->why ) ) )
    {
        return false;
    }
    MPI_Bcast( notes, 4, MPI_UINT64_T, 0, MPI_COMM_WORLD );
    if ( !mpi_world_load( w, j, j->o->resume ) || !job_agree( j, fits_scene( w, j ) ) ||
        !job_agree( j, has_all( w, j ) ) )
    {
        return false;
    }
    // The first update is that of frame 0.
    uint64_t done = clv_mpi_space_stats( w->space ).update_count - 1;
    const bench_note* note = notes[1].frame == done ? &notes[1] : &notes[0];
    bool is_known = note->frame == done;
    *frame = (uint32_t)done;
    *hash = note->hash;
    s_last = *note;
    if ( !is_known )
    {
        return lab_error_write( &j->why,
            "%s.bench: is not of this checkpoint: it knows frames %" PRIu64 " and %" PRIu64
            ", and %s.manifest was saved after frame %" PRIu64,
            j->o->resume, notes[0].frame, notes[1].frame, j->o->resume, done );
    }
    return done <= w->frames.frame_count ||
        lab_error_write( &j->why, "--frames %u: %s was saved after frame %" PRIu64 " already",
            w->frames.frame_count, j->o->resume, done );
}

// Notes of a first checkpoint that could not be saved belong to no checkpoint.
static void forget_notes( const char* path )
{
    char* manifest = text_format( "%s.manifest", path );
    char* name = text_format( "%s.bench", path );
    if ( platform_look( manifest ).kind == PLATFORM_MISSING )
    {
        platform_remove( name );
    }
    free( name );
    free( manifest );
}

// What Ctrl-C leaves on stderr from now on.
static void note_way_on( const char* path, uint32_t frame )
{
    static char s_note[1200];
    interrupt_set_note( NULL );
    snprintf( s_note, sizeof( s_note ),
        "cleave-mpi: interrupted; frames up to %" PRIu32 " are saved: go on with --resume %.1000s\n", frame,
        path );
    interrupt_set_note( s_note );
}

bool mpi_resume_keep( mpi_world* w, job* j, uint32_t frame, uint64_t hash )
{
    const char* path = j->o->checkpoint;
    uint64_t every = j->o->every != 0 ? j->o->every : 10;
    if ( path == NULL || ( frame % every != 0 && frame != w->frames.frame_count ) )
    {
        return true;
    }
    bench_note notes[2] = { s_last, { frame, hash } };
    bool ok = job_agree( j, j->rank != 0 || write_notes( path, j, notes, &j->why ) );
    clv_result result = ok ? clv_mpi_space_save( w->space, path ) : CLV_OK;
    s_last = notes[1];
    if ( result != CLV_OK && j->rank == 0 )
    {
        forget_notes( path );
    }
    else if ( ok && j->rank == 0 )
    {
        note_way_on( path, frame );
    }
    return ok &&
        job_agree( j,
            result == CLV_OK ||
                lab_error_write( &j->why, "frame %u: %s", frame, clv_mpi_space_error( w->space ).text ) );
}
