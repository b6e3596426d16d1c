// SPDX-License-Identifier: MIT
// Methods that run on a device, and which one: --device NAME|N becomes the setting gpu.device=N of those methods.
#pragma once

#include "lab/base/error.h"
#include "lab/measure/run_spec.h"

/// A device that was looked for.
typedef struct device_seen
{
    bool is_found, is_cpu;
    uint32_t index;
    const char* name; ///< lives as long as the program
    char reason[512]; ///< unless it was found
} device_seen;

/// Looks for the device `wish` names, by number or part of its name; "": the fastest.
typedef void device_looker( const char* wish, device_seen* seen );

/// In this process, which loads OpenCL and its drivers for as long as it lives. Thus it is done unless somebody else was named.
void device_look_here( const char* wish, device_seen* seen );

/// From now on by this one, who is asked once for each wish. NULL: device_look_here.
void device_look_by( device_looker* looker );

/// Is it one of cleave-gpu's?
bool device_is_of( const method* row );

/// Do such methods run where nobody names them? Not on a CPU's OpenCL, which is there for tests, and not without a device.
bool device_runs_unasked( void );

/// Can they run at all, on the device the settings name (NULL: none)? If not, `reason` says why.
bool device_is_usable( const char* settings, char* reason, size_t reason_size );

/// The device a run with these settings runs on, NULL where there is none. The text lives as long as the program.
const char* device_name_of( const char* settings );

/// "gpu.device=N" for what --device says, to free; NULL with an error.
char* device_setting( const char* wish, lab_error* why );
