// SPDX-License-Identifier: MIT
// Methods from shared objects: `cleave --plugin FILE.so COMMAND …`, and other people's libraries in peers/.
// The library itself loads nothing. include/cleave/method.h says what a plug-in is.
#pragma once

#include "lab/base/error.h"
#include "lab/measure/run_spec.h"

#include <stddef.h>
#include <stdint.h>

/// Those of a command line: takes --plugin FILE and --plugin=FILE from the front of the words
/// behind the program's name.
bool plugin_load_words( int* argc, char*** argv, lab_error* why );

/// A function of a shared object that registers nothing, to cast to what it is. NULL with a reason.
typedef void plugin_function( void );

#define PLUGIN_MOST 16

/// Those, in the order they were named.
uint32_t plugin_named_count( void );
const char* plugin_named_path( uint32_t index );

// ---- Other people's methods, from modules beside the program. The library itself loads nothing.

/// Puts every known peer into the method table: those whose module can be loaded from $CLEAVE_PEERS, or where
/// that is not set from the folder `peers` beside the program or from where `make install` puts them
/// (lib/cleave/peers), and rows that say what is missing for the others. Call once, before threads start.
void peer_modules_load( void );

/// A function of a peer's module, looked for in the same folders. NULL with a reason that names Debian's
/// package.
plugin_function* peer_modules_find(
    const char* module, const char* package, const char* function, char* reason, size_t reason_size );

// ---- Methods that run on a device, and which one: --device NAME|N becomes the setting
// gpu.device=N of those methods.

/// Is it one of cleave-gpu's?
bool device_is_of( const clv_method* row );

/// Do such methods run where they are not named? Not on a CPU's OpenCL, which is there for tests,
/// and not without a device.
bool device_runs_unasked( void );

/// Can they run at all, on the device the settings name (NULL: none)? If not, `reason` says why.
bool device_is_usable( const char* settings, char* reason, size_t reason_size );

/// The device a run with these settings runs on, NULL where there is none. The text lives as long as the
/// program.
const char* device_name_of( const char* settings );

/// "gpu.device=N" for what --device says, to free; NULL with an error.
char* device_setting( const char* wish, lab_error* why );
