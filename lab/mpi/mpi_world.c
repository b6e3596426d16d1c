// SPDX-License-Identifier: MIT
// The frames of a scene, shared by the processes, and the space that is fed them.
#include "lab/measure/timed_run.h"
#include "lab/mpi/mpi_job.h"

#include <stdlib.h>
#include <string.h>

// ---- frames are opened

static bool open_made( mpi_frames* f, job* j, const scene_spec* spec )
{
    // Worlds of their own are not the same world.
    uint64_t seed = j->o->seed + ( j->o->is_alone ? (uint64_t)j->rank : 0 );
    bake_def def = scene_spec_bake_def( spec, SCENE_LIST_BODIES, (uint32_t)j->o->frames, seed );
    uint32_t bodies = def.scene.body_count;
    def.scene.part_first = job_range_first( bodies, j->world_rank, j->world_size );
    def.scene.part_count = job_range_first( bodies, j->world_rank + 1, j->world_size ) - def.scene.part_first;
    if ( j->o->sample > 0 && j->o->sample < bodies )
    {
        uint32_t sample = (uint32_t)j->o->sample;
        def.scene.part_count = job_range_first( sample, j->world_rank + 1, j->world_size ) -
            job_range_first( sample, j->world_rank, j->world_size );
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
    f->kind = FRAMES_SENT;
    bool ok = j->world_rank != 0 ||
        scene_spec_open( spec, SCENE_LIST_BODIES, (uint32_t)j->o->frames, j->o->seed, &f->source, &j->why );
    f->header = f->source.header;
    return ok;
}

static void reserve_frames( mpi_frames* f, const job* j )
{
    size_t processes = (size_t)j->world_size;
    bool has_all = f->kind == FRAMES_SENT && j->world_rank == 0;
    f->boxes = lab_take( f->count, sizeof( clv_aabb ) );
    f->all = has_all ? lab_take( f->header.object_count, sizeof( clv_aabb ) ) : NULL;
    f->ask_counts = lab_take( 4 * (uint64_t)processes, sizeof( int ) );
    f->ask_starts = f->ask_counts + processes;
    f->answer_counts = f->ask_counts + 2 * processes;
    f->answer_starts = f->ask_counts + 3 * processes;
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
    f->first = job_range_first( f->header.object_count, j->world_rank, j->world_size );
    f->count = f->is_sampled
        ? f->count
        : job_range_first( f->header.object_count, j->world_rank + 1, j->world_size ) - f->first;
    MPI_Type_contiguous( (int)sizeof( clv_aabb ), MPI_BYTE, &f->box_type );
    MPI_Type_commit( &f->box_type );
    reserve_frames( f, j );
    return true;
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

// ---- read

// The ranges of all processes, as counts and starts.
static void cut_ranges( const mpi_frames* f, const job* j, int* counts, int* starts )
{
    for ( int r = 0; r < j->world_size; ++r )
    {
        uint32_t first = job_range_first( f->header.object_count, r, j->world_size );
        starts[r] = (int)first;
        counts[r] = (int)( job_range_first( f->header.object_count, r + 1, j->world_size ) - first );
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
    else if ( j->world_rank == 0 )
    {
        ok = frame_source_read( &f->source, frame, f->all, &j->why );
    }
    if ( !job_agree( j, ok ) )
    {
        return false;
    }
    if ( f->kind == FRAMES_SENT )
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

// ---- and boxes fetched from the process that read them

static int reader_of( uint64_t id, uint32_t object_count, int world_size )
{
    int r = (int)( id * (uint64_t)world_size / object_count );
    while ( r + 1 < world_size && id >= job_range_first( object_count, r + 1, world_size ) )
    {
        r += 1;
    }
    return r;
}

static void grow_wanted( mpi_frames* f, uint32_t count )
{
    if ( count > f->wanted_room || f->wanted == NULL )
    {
        f->wanted_room = (uint64_t)count + count / 4 + 1;
        f->wanted = lab_grow( f->wanted, f->wanted_room, sizeof( uint32_t ) );
        f->order = lab_grow( f->order, f->wanted_room, sizeof( uint32_t ) );
        f->got = lab_grow( f->got, f->wanted_room, sizeof( clv_aabb ) );
    }
}

static void grow_asked( mpi_frames* f, uint64_t count )
{
    if ( count > f->asked_room || f->asked == NULL )
    {
        f->asked_room = count + count / 4 + 1;
        f->asked = lab_grow( f->asked, f->asked_room, sizeof( uint32_t ) );
        f->answers = lab_grow( f->answers, f->asked_room, sizeof( clv_aabb ) );
    }
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
    memset( f->ask_counts, 0, (size_t)j->world_size * sizeof( int ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        f->ask_counts[reader_of( ids[i], f->header.object_count, j->world_size )] += 1;
    }
    lay_out( f->ask_counts, f->ask_starts, j->world_size );
    for ( uint32_t i = 0; i < count; ++i )
    {
        int at = f->ask_starts[reader_of( ids[i], f->header.object_count, j->world_size )]++;
        f->wanted[at] = (uint32_t)ids[i];
        f->order[at] = i;
    }
    lay_out( f->ask_counts, f->ask_starts, j->world_size );
}

// Boxes of objects in the frame read last, wherever they were read.
static void mpi_frames_fetch(
    mpi_frames* f, const job* j, const uint64_t* ids, uint32_t count, clv_aabb* boxes )
{
    grow_wanted( f, count );
    sort_wanted( f, j, ids, count );
    MPI_Alltoall( f->ask_counts, 1, MPI_INT, f->answer_counts, 1, MPI_INT, j->comm );
    uint64_t asked = lay_out( f->answer_counts, f->answer_starts, j->world_size );
    grow_asked( f, asked );
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
}

// ---- a space

static bool fail( mpi_world* w, job* j, clv_result result, uint32_t frame )
{
    if ( w->space == NULL && w->reason[0] != '\0' )
    {
        return lab_error_write( &j->why, "%s", w->reason );
    }
    return lab_error_write( &j->why, "frame %u: %s: %s", frame, clv_result_name( result ),
        w->space != NULL ? clv_mpi_space_error( w->space ).text : clv_result_text( result ) );
}

bool mpi_world_open( mpi_world* w, job* j )
{
    *w = ( mpi_world ){ 0 };
    return mpi_frames_open( &w->frames, j );
}

void mpi_world_close( mpi_world* w )
{
    mpi_world_end( w );
    mpi_frames_close( &w->frames );
    free( w->ids );
    free( w->own );
    w->ids = NULL;
    w->own = NULL;
}

void mpi_world_end( mpi_world* w )
{
    clv_mpi_space_destroy( w->space );
    w->space = NULL;
}

static void make_room( mpi_world* w, uint32_t count )
{
    if ( count > w->room || w->ids == NULL )
    {
        w->room = (uint64_t)count + count / 4 + 1;
        w->ids = lab_grow( w->ids, w->room, sizeof( uint64_t ) );
        w->own = lab_grow( w->own, w->room, sizeof( clv_aabb ) );
    }
}

static bool make_space( mpi_world* w, job* j )
{
    clv_mpi_def def = clv_default_mpi_def();
    run_spec_apply( j->methods.items, &def.space );
    def.space.capacity = w->frames.header.object_count / (uint32_t)j->world_size;
    def.borrowed = j->o->is_borrowed;
    def.balance_by_time = j->o->by_time;
    def.cutter = j->o->cutter;
    w->reason[0] = '\0';
    def.space.logger = run_reason_logger( w->reason );
    clv_result result = clv_mpi_space_create( j->comm, &def, &w->space );
    return job_agree( j, result == CLV_OK || fail( w, j, result, 0 ) );
}

// What w->ids name, into a fresh space, and its first update.
static bool add_objects( mpi_world* w, job* j, const clv_aabb* boxes, uint32_t count )
{
    clv_result result = clv_mpi_space_add( w->space, w->ids, boxes, count );
    result = result == CLV_OK ? clv_mpi_space_update( w->space ) : result;
    return job_agree( j, result == CLV_OK || fail( w, j, result, 0 ) );
}

// Objects as they lie: each process tells a fresh space what it owns now, as a simulation would that has run
// for a while.
static bool begin_again( mpi_world* w, job* j )
{
    uint32_t count = clv_mpi_space_object_count( w->space );
    make_room( w, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_mpi_space_object_at( w->space, i, &w->ids[i], &w->own[i] );
    }
    mpi_world_end( w );
    if ( !make_space( w, j ) )
    {
        return false;
    }
    return add_objects( w, j, w->own, count );
}

bool mpi_world_settle( mpi_world* w, job* j )
{
    return j->world_size == 1 || j->o->is_scattered || begin_again( w, j );
}

bool mpi_world_begin( mpi_world* w, job* j )
{
    const mpi_frames* f = &w->frames;
    if ( !make_space( w, j ) || !mpi_frames_read( &w->frames, j, 0 ) )
    {
        return false;
    }
    make_room( w, f->count );
    for ( uint32_t i = 0; i < f->count; ++i )
    {
        w->ids[i] = (uint64_t)f->first + i;
    }
    return add_objects( w, j, f->boxes, f->count );
}

bool mpi_world_load( mpi_world* w, job* j, const char* path )
{
    if ( !make_space( w, j ) )
    {
        return false;
    }
    clv_result result = clv_mpi_space_load( w->space, path );
    return job_agree(
        j, result == CLV_OK || lab_error_write( &j->why, "%s", clv_mpi_space_error( w->space ).text ) );
}

bool mpi_world_step( mpi_world* w, job* j, uint32_t frame, double* ms )
{
    uint32_t count = clv_mpi_space_object_count( w->space );
    make_room( w, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_aabb box;
        clv_mpi_space_object_at( w->space, i, &w->ids[i], &box );
    }
    mpi_frames_fetch( &w->frames, j, w->ids, count, w->own );
    MPI_Barrier( MPI_COMM_WORLD );
    double start = MPI_Wtime();
    clv_result result = clv_mpi_space_move( w->space, w->ids, w->own, count );
    double moved = MPI_Wtime();
    result = result == CLV_OK ? clv_mpi_space_update( w->space ) : result;
    double end = MPI_Wtime(), mine = ( end - start ) * 1000;
    w->move_ms = ( moved - start ) * 1000;
    w->update_ms = ( end - moved ) * 1000;
    MPI_Allreduce( &mine, ms, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD );
    return job_agree( j, result == CLV_OK || fail( w, j, result, frame ) );
}
