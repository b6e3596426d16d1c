// SPDX-License-Identifier: MIT
// Which devices there are, listed once, by a child process where there can be one (gpu_look.h). Its drivers
// are loaded here when a device is opened.
#pragma once

#include "cleave/gpu.h"
#include "opencl.h"

typedef struct gpu_device
{
    const gpu_opencl* cl;    ///< the functions of its driver; NULL until that is loaded here
    cl_platform_id platform; ///< likewise
    cl_device_id id;         ///< likewise
    /// 0: the library that has them all; else one more than its place in the list of drivers
    uint32_t driver;
    uint32_t platform_place;  ///< among the driver's platforms
    uint32_t place;           ///< among the platform's devices
    uint64_t allocation_most; ///< bytes of one buffer
    bool has_doubles;         ///< which everything about bodies needs
    bool has_denormals;       ///< in float, which points near each other need
    bool is_proven;           ///< a child opened it and ran a kernel there, now or another time
    clv_gpu_device facts;
} gpu_device;

/// What the facts point at.
typedef struct gpu_device_texts
{
    char name[160];
    char vendor[160];
    char driver[160];
    char platform[160];
    char unusable[480];
} gpu_device_texts;

/// clv_gpu_device_find; `keeps` as below.
clv_result clv_gpu_device_choose(
    const char* wish, bool keeps, uint32_t* index, char* text, size_t text_size );

/// The same with its driver loaded into this process; NULL, with the reason, if it is gone or has changed.
const gpu_device* clv_gpu_device_load( uint32_t index, char* why, size_t why_size );

/// The device that a caller's queue is of, listed or not; false, with the reason, if the queue is none.
bool clv_gpu_device_of_queue(
    void* queue, gpu_device* device, gpu_device_texts* texts, char* why, size_t why_size );

/// Opens the device in a child process, unless that was done before or its driver is loaded here already.
/// False: it cannot be used, and its facts say why. `keeps`: that it went well is noted in the folder of the
/// cache, for other processes.
bool clv_gpu_device_prove( uint32_t index, bool keeps );

/// Opens a device that is loaded here, compiles and runs a small kernel; how far it comes is told to
/// gpu_look.h. True if all went well.
bool clv_gpu_device_exercise( const gpu_device* device );

/// A hash of that kernel, the device and its driver.
uint64_t clv_gpu_device_exercise_key( const gpu_device* device );

/// For tests: forget the list and the library, so that the next call makes a new one.
void clv_gpu_device_forget( void );

/// Group size of every kernel.
#define GPU_GROUP 256
