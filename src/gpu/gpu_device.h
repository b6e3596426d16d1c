// SPDX-License-Identifier: MIT
// Which devices there are, listed once.
#pragma once

#include "cleave/gpu.h"
#include "opencl.h"

typedef struct gpu_device
{
    cl_platform_id platform;
    cl_device_id id;
    uint64_t allocation_most; ///< bytes of one buffer
    bool has_doubles;         ///< which everything about bodies needs
    clv_gpu_device facts;
} gpu_device;

/// Device `index`; NULL from clv_gpu_device_count on.
const gpu_device* clv_gpu_device_get( uint32_t index );

/// For tests: forget the list, so that the next call makes a new one.
void clv_gpu_device_forget( void );

/// Group size of every kernel.
#define GPU_GROUP 256
