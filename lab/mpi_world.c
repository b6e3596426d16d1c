// SPDX-License-Identifier: MIT
#include "lab/mpi_world.h"

#include "lab/measure/timed_run.h"

#include <stdlib.h>

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

static bool make_room( mpi_world* w, job* j, uint32_t count )
{
    if ( count > w->room || w->ids == NULL )
    {
        free( w->ids );
        free( w->own );
        w->room = (uint64_t)count + count / 4 + 1;
        w->ids = calloc( w->room, sizeof( uint64_t ) );
        w->own = calloc( w->room, sizeof( clv_aabb ) );
    }
    return job_agree( j,
        ( w->ids != NULL && w->own != NULL ) ||
            lab_error_write( &j->why, "process %d: out of memory for %u boxes", j->rank, count ) );
}

static bool make_space( mpi_world* w, job* j )
{
    clv_mpi_def def = clv_default_mpi_def();
    run_spec_apply( j->methods.items, &def.space );
    def.space.capacity = w->frames.header.object_count / (uint32_t)j->share_count;
    def.borrowed = j->o->is_borrowed;
    def.balance_by_time = j->o->by_time;
    def.cutter = j->o->cutter;
    w->reason[0] = '\0';
    def.space.logger = run_reason_logger( w->reason );
    clv_result result = clv_mpi_space_create( j->comm, &def, &w->space );
    return job_agree( j, result == CLV_OK || fail( w, j, result, 0 ) );
}

// Objects as they lie: each process tells a fresh space what it owns now, as a simulation would that has run for a while.
static bool begin_again( mpi_world* w, job* j )
{
    uint32_t count = clv_mpi_space_object_count( w->space );
    if ( !make_room( w, j, count ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_mpi_space_object_at( w->space, i, &w->ids[i], &w->own[i] );
    }
    mpi_world_end( w );
    if ( !make_space( w, j ) )
    {
        return false;
    }
    clv_result result = clv_mpi_space_add( w->space, w->ids, w->own, count );
    result = result == CLV_OK ? clv_mpi_space_update( w->space ) : result;
    return job_agree( j, result == CLV_OK || fail( w, j, result, 0 ) );
}

bool mpi_world_settle( mpi_world* w, job* j )
{
    return j->share_count == 1 || j->o->is_scattered || begin_again( w, j );
}

bool mpi_world_begin( mpi_world* w, job* j )
{
    const mpi_frames* f = &w->frames;
    if ( !make_space( w, j ) || !mpi_frames_read( &w->frames, j, 0 ) || !make_room( w, j, f->count ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < f->count; ++i )
    {
        w->ids[i] = (uint64_t)f->first + i;
    }
    clv_result result = clv_mpi_space_add( w->space, w->ids, f->boxes, f->count );
    result = result == CLV_OK ? clv_mpi_space_update( w->space ) : result;
    return job_agree( j, result == CLV_OK || fail( w, j, result, 0 ) );
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
    if ( !make_room( w, j, count ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_aabb box;
        clv_mpi_space_object_at( w->space, i, &w->ids[i], &box );
    }
    if ( !mpi_frames_fetch( &w->frames, j, w->ids, count, w->own ) )
    {
        return false;
    }
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
