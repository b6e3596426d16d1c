// SPDX-License-Identifier: MIT
// An OpenCL that does nothing: devices without kernels, and any call of which can fail. What is made is
// counted.
#pragma once

#include "opencl.h"

typedef struct gpu_fake
{
    uint32_t fail_at;      ///< the call that fails, from 1 on; 0: none
    cl_int error;          ///< with this
    uint32_t call_count;   ///< so far
    int32_t object_count;  ///< made and not released
    int32_t mapped_count;  ///< mapped, and not unmapped by the queue that did it
    uint32_t pair_count;   ///< that every search says it found
    uint32_t kept_count;   ///< boxes that lie in cells, where their order is kept
    uint32_t work;         ///< the last of a search's counters, as kernels/rest.cl has it
    bool has_no_memory;    ///< clCreateBuffer fails
    bool cannot_compile;   ///< clBuildProgram fails, with a log
    uint32_t build_count;  ///< programs compiled
    uint32_t binary_count; ///< programs made of binaries
    uint32_t device_count; ///< 1 as a rule; the first is a CPU where there are 2
} gpu_fake;

extern gpu_fake fake;

/// Replaces OpenCL by this one, with one device and nothing that fails.
void gpu_fake_install( void );
