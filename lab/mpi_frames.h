// SPDX-License-Identifier: MIT
// Frames of a scene or file in parts: every process has the boxes of a range of objects by number, and asks the others for those
// that it owns. Contact-free scenes are made part by part, .aabbs files read range by range; other scenes process 0 bakes and deals out.
#pragma once

#include "lab/frame/scene_list.h"
#include "lab/mpi_job.h"

typedef enum frames_kind
{
    FRAMES_DEALT, ///< process 0 has the source
    FRAMES_MADE,  ///< every process makes its part
    FRAMES_READ,  ///< every process reads its range
} frames_kind;

/// Zero-initialised is closed.
typedef struct mpi_frames
{
    scene_header header;
    frames_kind kind;
    uint32_t frame_count;  ///< to be used, after the initial one
    uint32_t first, count; ///< this process's objects
    bool is_sampled;       ///< they are some of the whole: nothing can be fetched or gathered
    clv_aabb* boxes;       ///< theirs, in the frame read last
    frame_source source;
    scene_reader reader;
    clv_aabb* all; ///< FRAMES_DEALT: of all processes, on process 0
    MPI_Datatype box_type;
    int *ask_counts, *ask_starts, *answer_counts, *answer_starts; ///< by process
    uint32_t *asked, *wanted;
    clv_aabb *answers, *got;
    uint64_t asked_room, wanted_room;
    uint32_t* order; ///< where each of the wanted goes
} mpi_frames;

// Collective, all of them; false on one process is false on all.

bool mpi_frames_open( mpi_frames* frames, job* j );
bool mpi_frames_read( mpi_frames* frames, job* j, uint32_t frame );

/// Boxes of objects in the frame read last, wherever they were read.
bool mpi_frames_fetch( mpi_frames* frames, job* j, const uint64_t* ids, uint32_t count, clv_aabb* boxes );

/// All of the frame read last, on process 0; `boxes` may be NULL elsewhere.
void mpi_frames_gather( const mpi_frames* frames, const job* j, clv_aabb* boxes );
void mpi_frames_close( mpi_frames* frames );
