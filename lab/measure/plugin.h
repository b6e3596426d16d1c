// SPDX-License-Identifier: MIT
// Methods from shared objects: `cleave --plugin FILE.so COMMAND …`, and other people's libraries in peers/. The library itself
// loads nothing. include/cleave/method.h says what a plug-in is.
#pragma once

#include "lab/base/error.h"

#include <stddef.h>
#include <stdint.h>

/// Loads the shared object at `path` and has it register its methods. It stays loaded. False, with a sentence in `reason`, if
/// there is no such file, it cannot be loaded, it has no entry, it was built for another version, or a method of it was
/// refused; methods registered until then stay. Call it before threads start.
bool plugin_load( const char* path, char* reason, size_t reason_size );

/// The same for one that the user named: a process that this one starts is to load it too. At most PLUGIN_MOST.
bool plugin_load_named( const char* path, char* reason, size_t reason_size );

/// Those of a command line: takes --plugin FILE and --plugin=FILE from the front of the words behind the program's name.
bool plugin_load_words( int* argc, char*** argv, lab_error* why );

/// A function of a shared object that registers nothing, to cast to what it is. NULL with a reason.
typedef void plugin_function( void );
plugin_function* plugin_find( const char* path, const char* name, char* reason, size_t reason_size );

#define PLUGIN_MOST 16

/// Those, in the order they were named.
uint32_t plugin_named_count( void );
const char* plugin_named_path( uint32_t index );
