// SPDX-License-Identifier: MIT
// The program `cleave-mpi`: its options, how its processes agree, the frames they share, and a space over
// processes that is fed them.
#pragma once

#include "cleave/mpi.h"
#include "lab/base/args.h"
#include "lab/frame/scene_list.h"
#include "lab/measure/run_spec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct job_options
{
    char command; ///< the first letter of bench, verify, gen, net or plan
    bool is_borrowed, by_time, is_alone, is_scattered, splits, is_quiet;
    const char *what, *method, *settings, *device, *json, *output, *type, *checkpoint, *resume,
        *record; ///< of verify: a file for the calls that lead to a difference; NULL: none
    uint64_t frames, from, threads;
    uint64_t warmup, repeat; ///< of a bench with a checkpoint 0 and 1: there is one life to go on with
    uint64_t seed, bodies, processes, sample, every;
    const char* cutter_word;
    clv_mpi_cutter cutter;
    text_list operands; ///< what `what` is of
} job_options;

typedef struct job
{
    const job_options* o;
    int rank, process_count;    ///< of all processes
    MPI_Comm comm;              ///< processes that share a world: all, or with --alone each its own
    int world_rank, world_size; ///< this process's place in `comm`
    run_spec_list methods;      ///< of bench and verify: one
    lab_error why;
} job;

/// True if it is on all processes. Else all have the error of the first process that has one. Collective.
bool job_agree( job* j, bool ok );

/// Sums over all processes. Collective.
uint64_t job_sum( uint64_t value );

/// Objects of process `rank` of `size` begin here, and end where those of the next begin: cut evenly.
static inline uint32_t job_range_first( uint32_t count, int rank, int size )
{
    return (uint32_t)( (uint64_t)count * (uint64_t)rank / (uint64_t)size );
}

// ---- frames

// Every process has the boxes of a range of objects by number, and asks the others for those that it owns.
// Contact-free scenes are made range by range, .aabbs files read likewise; other scenes process 0 bakes and
// sends out.

typedef enum frames_kind
{
    FRAMES_SENT, ///< process 0 has the source
    FRAMES_MADE, ///< every process makes its range
    FRAMES_READ, ///< every process reads its range
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
    clv_aabb* all; ///< FRAMES_SENT: all of them, on process 0
    MPI_Datatype box_type;
    int *ask_counts, *ask_starts, *answer_counts, *answer_starts; ///< by process
    uint32_t *asked, *wanted;
    clv_aabb *answers, *got;
    uint64_t asked_room, wanted_room;
    uint32_t* order; ///< where each of the wanted goes
} mpi_frames;

// All collective; false on all processes, with j->why.

bool mpi_frames_open( mpi_frames* frames, job* j );
bool mpi_frames_read( mpi_frames* frames, job* j, uint32_t frame );

/// All of the frame read last, on process 0; `boxes` may be NULL elsewhere.
void mpi_frames_gather( const mpi_frames* frames, const job* j, clv_aabb* boxes );
void mpi_frames_close( mpi_frames* frames );

// ---- a space that is fed them, as a simulation would feed it

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

// All collective; false on all processes, with j->why.

bool mpi_world_open( mpi_world* w, job* j );
void mpi_world_close( mpi_world* w );

/// A new space with the objects of frame 0, each process with a range by number, wherever these lie.
bool mpi_world_begin( mpi_world* w, job* j );

/// After that, unless --scattered says otherwise: a new space with the same objects, each with the process in
/// whose region it lies.
bool mpi_world_settle( mpi_world* w, job* j );

/// A new space from a checkpoint.
bool mpi_world_load( mpi_world* w, job* j, const char* path );

/// Frame 1 .. on, after it was read. *ms is that of the slowest process, from handing over the boxes to the
/// list.
bool mpi_world_step( mpi_world* w, job* j, uint32_t frame, double* ms );

/// Ends the space.
void mpi_world_end( mpi_world* w );

// ---- the commands

/// Flags of a bench with checkpoints that do not go together.
bool job_check_resume( const job_options* o, lab_error* why );

// The commands. False with j->why.

bool job_bench( job* j );
bool job_verify( job* j );
bool job_gen( job* j );
bool job_net( job* j );
bool job_plan( job* j );
