// SPDX-License-Identifier: MIT
#include "lab/mpi_frames.h"

#include "lab/frame/scene_list.h"

#include <stdlib.h>
#include <string.h>

// ---- opening

static bool open_made( mpi_frames* f, job* j, const scene_spec* spec )
{
    // Worlds of their own are not the same world.
    uint64_t seed = j->o->seed + ( j->o->is_alone ? (uint64_t)j->rank : 0 );
    bake_def def = scene_spec_bake_def( spec, SCENE_LIST_BODIES, (uint32_t)j->o->frames, seed );
    uint32_t bodies = def.scene.body_count;
    def.scene.part_first = job_part_first( bodies, j->share, j->share_count );
    def.scene.part_count = job_part_first( bodies, j->share + 1, j->share_count ) - def.scene.part_first;
    if ( j->o->sample > 0 && j->o->sample < bodies )
    {
        uint32_t sample = (uint32_t)j->o->sample;
        def.scene.part_count = job_part_first( sample, j->share + 1, j->share_count ) -
            job_part_first( sample, j->share, j->share_count );
        f->is_sampled = true;
        f->count = def.scene.part_count;
    }
    def.scene.thread_count = (uint32_t)j->o->threads;
    f->kind = FRAMES_MADE;
    if ( def.scene.part_count == 0 ) // fewer bodies than processes: nothing to make, and 0 would be all
    {
        def.scene.part_count = 1;
        def.scene.part_first = 0;
    }
    return frame_source_open_scene( &f->source, &def, &j->why );
}

static bool open_source( mpi_frames* f, job* j, const scene_spec* spec )
{
    if ( j->o->sample > 0 && ( spec->generator == NULL || !spec->generator->has_parts ) )
    {
        return lab_error_write(
            &j->why, "--sample: %s is no contact-free scene by name; leave the flag out", j->o->what );
    }
    if ( spec->generator == NULL )
    {
        f->kind = FRAMES_READ;
        bool ok = scene_reader_open( &f->reader, spec->path, &j->why );
        f->header = f->reader.header;
        return ok;
    }
    if ( spec->generator->has_parts )
    {
        bool ok = open_made( f, j, spec );
        f->header = f->source.header;
        return ok;
    }
    f->kind = FRAMES_DEALT;
    bool ok = j->share != 0 ||
        scene_spec_open( spec, SCENE_LIST_BODIES, (uint32_t)j->o->frames, j->o->seed, &f->source, &j->why );
    f->header = f->source.header;
    return ok;
}

static bool make_room( mpi_frames* f, job* j )
{
    size_t processes = (size_t)j->share_count;
    f->boxes = calloc( (size_t)f->count + 1, sizeof( clv_aabb ) );
    f->ask_counts = calloc( 4 * processes, sizeof( int ) );
    bool ok = f->boxes != NULL && f->ask_counts != NULL;
    if ( f->kind == FRAMES_DEALT && j->share == 0 )
    {
        f->all = calloc( f->header.object_count, sizeof( clv_aabb ) );
        ok = ok && f->all != NULL;
    }
    if ( !ok )
    {
        return lab_error_write(
            &j->why, "process %d: out of memory for %u boxes", j->rank, f->header.object_count );
    }
    f->ask_starts = f->ask_counts + processes;
    f->answer_counts = f->ask_counts + 2 * processes;
    f->answer_starts = f->ask_counts + 3 * processes;
    return true;
}

bool mpi_frames_open( mpi_frames* f, job* j )
{
    *f = ( mpi_frames ){ .box_type = MPI_DATATYPE_NULL };
    scene_spec spec;
    bool parsed = scene_spec_parse( j->o->what, &spec, &j->why );
    bool ok = parsed && open_source( f, j, &spec );
    if ( parsed )
    {
        scene_spec_free( &spec );
    }
    if ( !job_agree( j, ok ) )
    {
        return false;
    }
    MPI_Bcast( &f->header, (int)sizeof( f->header ), MPI_BYTE, 0, j->comm );
    uint32_t wanted = j->o->frames > 0 ? (uint32_t)j->o->frames : 60;
    f->frame_count = f->header.frame_count < wanted ? f->header.frame_count : wanted;
    f->first = job_part_first( f->header.object_count, j->share, j->share_count );
    f->count = f->is_sampled
        ? f->count
        : job_part_first( f->header.object_count, j->share + 1, j->share_count ) - f->first;
    MPI_Type_contiguous( (int)sizeof( clv_aabb ), MPI_BYTE, &f->box_type );
    MPI_Type_commit( &f->box_type );
    return job_agree( j, make_room( f, j ) );
}

void mpi_frames_close( mpi_frames* f )
{
    frame_source_close( &f->source );
    scene_reader_close( &f->reader );
    free( f->boxes );
    free( f->all );
    free( f->ask_counts );
    free( f->asked );
    free( f->wanted );
    free( f->answers );
    free( f->got );
    free( f->order );
    if ( f->box_type != MPI_DATATYPE_NULL )
    {
        MPI_Type_free( &f->box_type );
    }
    *f = ( mpi_frames ){ .box_type = MPI_DATATYPE_NULL };
}

// ---- reading

// The range of each process, as counts and starts.
static void cut_ranges( const mpi_frames* f, const job* j, int* counts, int* starts )
{
    for ( int r = 0; r < j->share_count; ++r )
    {
        uint32_t first = job_part_first( f->header.object_count, r, j->share_count );
        starts[r] = (int)first;
        counts[r] = (int)( job_part_first( f->header.object_count, r + 1, j->share_count ) - first );
    }
}

bool mpi_frames_read( mpi_frames* f, job* j, uint32_t frame )
{
    bool ok = true;
    if ( f->kind == FRAMES_READ )
    {
        ok = scene_reader_read_part( &f->reader, frame, f->first, f->count, f->boxes, &j->why );
    }
    else if ( f->kind == FRAMES_MADE )
    {
        ok = frame_source_read( &f->source, frame, f->boxes, &j->why );
    }
    else if ( j->share == 0 )
    {
        ok = frame_source_read( &f->source, frame, f->all, &j->why );
    }
    if ( !job_agree( j, ok ) )
    {
        return false;
    }
    if ( f->kind == FRAMES_DEALT )
    {
        cut_ranges( f, j, f->ask_counts, f->ask_starts );
        MPI_Scatterv( f->all, f->ask_counts, f->ask_starts, f->box_type, f->boxes, (int)f->count, f->box_type,
            0, j->comm );
    }
    return true;
}

void mpi_frames_gather( const mpi_frames* f, const job* j, clv_aabb* boxes )
{
    cut_ranges( f, j, f->ask_counts, f->ask_starts );
    MPI_Gatherv(
        f->boxes, (int)f->count, f->box_type, boxes, f->ask_counts, f->ask_starts, f->box_type, 0, j->comm );
}

// ---- fetching

static int reader_of( uint64_t id, uint32_t object_count, int share_count )
{
    int r = (int)( id * (uint64_t)share_count / object_count );
    while ( r + 1 < share_count && id >= job_part_first( object_count, r + 1, share_count ) )
    {
        r += 1;
    }
    return r;
}

static bool grow_wanted( mpi_frames* f, uint32_t count )
{
    if ( count > f->wanted_room || f->wanted == NULL )
    {
        f->wanted_room = (uint64_t)count + count / 4 + 1;
        free( f->wanted );
        free( f->order );
        free( f->got );
        f->wanted = calloc( f->wanted_room, sizeof( uint32_t ) );
        f->order = calloc( f->wanted_room, sizeof( uint32_t ) );
        f->got = calloc( f->wanted_room, sizeof( clv_aabb ) );
    }
    return f->wanted != NULL && f->order != NULL && f->got != NULL;
}

static bool grow_asked( mpi_frames* f, uint64_t count )
{
    if ( count > f->asked_room || f->asked == NULL )
    {
        f->asked_room = count + count / 4 + 1;
        free( f->asked );
        free( f->answers );
        f->asked = calloc( f->asked_room, sizeof( uint32_t ) );
        f->answers = calloc( f->asked_room, sizeof( clv_aabb ) );
    }
    return f->asked != NULL && f->answers != NULL;
}

// Starts from counts; the sum.
static uint64_t lay_out( const int* counts, int* starts, int count )
{
    uint64_t total = 0;
    for ( int r = 0; r < count; ++r )
    {
        starts[r] = (int)total;
        total += (uint64_t)counts[r];
    }
    return total;
}

// What to request from which process, sorted by reader.
static void sort_wanted( mpi_frames* f, const job* j, const uint64_t* ids, uint32_t count )
{
    memset( f->ask_counts, 0, (size_t)j->share_count * sizeof( int ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        f->ask_counts[reader_of( ids[i], f->header.object_count, j->share_count )] += 1;
    }
    lay_out( f->ask_counts, f->ask_starts, j->share_count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        int at = f->ask_starts[reader_of( ids[i], f->header.object_count, j->share_count )]++;
        f->wanted[at] = (uint32_t)ids[i];
        f->order[at] = i;
    }
    lay_out( f->ask_counts, f->ask_starts, j->share_count );
}

bool mpi_frames_fetch( mpi_frames* f, job* j, const uint64_t* ids, uint32_t count, clv_aabb* boxes )
{
    bool ok = grow_wanted( f, count ) || lab_error_write( &j->why, "process %d: out of memory", j->rank );
    if ( !job_agree( j, ok ) )
    {
        return false;
    }
    sort_wanted( f, j, ids, count );
    MPI_Alltoall( f->ask_counts, 1, MPI_INT, f->answer_counts, 1, MPI_INT, j->comm );
    uint64_t asked = lay_out( f->answer_counts, f->answer_starts, j->share_count );
    ok = grow_asked( f, asked ) || lab_error_write( &j->why, "process %d: out of memory", j->rank );
    if ( !job_agree( j, ok ) )
    {
        return false;
    }
    MPI_Alltoallv( f->wanted, f->ask_counts, f->ask_starts, MPI_UINT32_T, f->asked, f->answer_counts,
        f->answer_starts, MPI_UINT32_T, j->comm );
    for ( uint64_t i = 0; i < asked; ++i )
    {
        f->answers[i] = f->boxes[f->asked[i] - f->first];
    }
    MPI_Alltoallv( f->answers, f->answer_counts, f->answer_starts, f->box_type, f->got, f->ask_counts,
        f->ask_starts, f->box_type, j->comm );
    for ( uint32_t i = 0; i < count; ++i )
    {
        boxes[f->order[i]] = f->got[i];
    }
    return true;
}
