// SPDX-License-Identifier: MIT
// A driver may abort, crash, hang or end the program it is loaded into. So what asks one for the first time
// is done in a child process, and only what came back whole is done here.
//
// The child is a fork without exec: a library has no program of its own to start. It does nothing but the
// work, prints into a pipe, and ends by _exit: no buffer of the program's is written twice, and none of its
// handlers run. There is none on Windows and macOS.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum gpu_look_end
{
    GPU_LOOK_DONE,        ///< the work came to its end
    GPU_LOOK_DIED,        ///< it did not: the reason says how, where, and what was printed last
    GPU_LOOK_NOT_STARTED, ///< there is no child here; nothing was done
} gpu_look_end;

/// What the child does, on its own copy of `data`.
typedef void gpu_look_work( void* data );

/// May a child be started at all? Not on Windows and macOS, nor with CLEAVE_OPENCL_WAIT=0.
bool clv_gpu_look_is_here( void );

/// Does `work` in a child process and waits for its end, for $CLEAVE_OPENCL_WAIT seconds at most (60 unless
/// it is set): then it is killed. `data` is afterwards what the child left there, as far as it came.
gpu_look_end clv_gpu_look( gpu_look_work* work, void* data, size_t size, char* reason, size_t reason_size );

/// In the child: which call comes next, for the reason. Outside of one it does nothing.
void clv_gpu_look_step( const char* call );
