// SPDX-License-Identifier: MIT
// Methods that run on a device, and which one: --device NAME|N becomes the setting gpu.device=N of those methods.
#pragma once

#include "lab/base/error.h"
#include "lab/measure/run_spec.h"

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
