// SPDX-License-Identifier: MIT
// `cleave-mpi bench --checkpoint PATH --every N` and `--resume PATH`: a run that was ended in the middle goes on, on any number of
// processes, to the same hash. The space's checkpoint is the library's; what the bench itself must know is in PATH.bench.
#pragma once

#include "lab/mpi_world.h"

// Collective; false on one process is false on all, with j->why.

/// A space as it was saved, the frame that it is at, and the hash of the frames up to there.
bool mpi_resume_begin( mpi_world* w, job* j, uint32_t* frame, uint64_t* hash );

/// After a frame: saves, if one is due.
bool mpi_resume_keep( mpi_world* w, job* j, uint32_t frame, uint64_t hash );

/// Flags that do not go together.
bool mpi_resume_check( const job_options* o, lab_error* why );
