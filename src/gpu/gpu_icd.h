// SPDX-License-Identifier: MIT
// Which drivers are installed: the files NAME.icd that loaders of OpenCL read, each with the name of a
// driver's library.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct gpu_icd
{
    char file[160];    ///< "" where only the library was named
    char library[256]; ///< as dlopen takes it
} gpu_icd;

#define GPU_ICD_MOST 16

/// Those that a loader would load: $OCL_ICD_FILENAMES, and behind these $OCL_ICD_VENDORS (a folder, a file or
/// a library) or $OPENCL_VENDOR_PATH or /etc/OpenCL/vendors; in the order of their names, each library once.
/// None on Windows.
uint32_t clv_gpu_icd_list( gpu_icd icds[GPU_ICD_MOST] );

/// Is its library in this process already?
bool clv_gpu_icd_is_loaded( const gpu_icd* icd );
