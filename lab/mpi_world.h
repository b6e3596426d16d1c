// SPDX-License-Identifier: MIT
// A space over processes that is fed the frames of a scene, as a simulation would feed it: every process hands over the boxes of the
// objects it owns.
#pragma once

#include "lab/mpi_frames.h"

/// Zero-initialised is closed.
typedef struct mpi_world
{
    mpi_frames frames;
    clv_mpi_space* space;
    uint64_t* ids; ///< of what this process hands over
    clv_aabb* own;
    uint64_t room;
    char reason[256];          ///< why no space could be made: its logger writes here
    double move_ms, update_ms; ///< of this process, in the last frame
} mpi_world;

// Collective, all of them; false on one process is false on all, with j->why.

bool mpi_world_open( mpi_world* w, job* j );
void mpi_world_close( mpi_world* w );

/// A new space with the objects of frame 0, each process with its share by number, wherever that lies.
bool mpi_world_begin( mpi_world* w, job* j );

/// After that, unless --scattered says otherwise: a new space with the same objects, each with the process in whose region it lies.
bool mpi_world_settle( mpi_world* w, job* j );

/// A new space from a checkpoint.
bool mpi_world_load( mpi_world* w, job* j, const char* path );

/// Frame 1 .. on, after it was read. *ms is that of the slowest process, from handing over the boxes to the list.
bool mpi_world_step( mpi_world* w, job* j, uint32_t frame, double* ms );

/// Ends the space.
void mpi_world_end( mpi_world* w );
