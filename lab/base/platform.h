// SPDX-License-Identifier: MIT
// What POSIX and Windows do differently, in one place. Functions that fail leave errno set.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum platform_kind
{
    PLATFORM_MISSING, ///< or not to be looked at; errno tells
    PLATFORM_FILE,
    PLATFORM_FOLDER,
    PLATFORM_OTHER, ///< pipe, device, socket
} platform_kind;

typedef struct platform_entry
{
    platform_kind kind;
    uint64_t size;      ///< bytes
    int64_t modified_s; ///< seconds since 1970
} platform_entry;

/// Follows links.
platform_entry platform_look( const char* path );

// Files beyond 4 GB, in binary.
FILE* platform_open( const char* path );      ///< for reading
FILE* platform_create( const char* path );    ///< for writing; fails if the file exists
FILE* platform_overwrite( const char* path ); ///< for writing in place: devices and pipes
FILE* platform_update( const char* path );    ///< for writing into what is there

/// All of a file with a zero behind it, to free, and its size. False if it cannot be opened (*bytes is NULL
/// then) or read (these are the bytes before).
bool platform_read( const char* path, char** bytes, uint64_t* size );

/// In that folder, for writing and reading, without a name and for this process's user alone: gone when it is
/// closed, or the program ends.
FILE* platform_create_private( const char* folder );
bool platform_seek( FILE* file, uint64_t offset );

/// Rename, replacing what is there.
bool platform_replace( const char* from, const char* to );
bool platform_remove( const char* path );
bool platform_is_writable( const char* path );

/// Where a chain of links ends, as a string to free; a copy of `path` where it cannot be followed.
char* platform_resolve( const char* path );

/// With its parents; true if it exists already.
bool platform_make_folder( const char* path );

/// Sets the time of modification to now.
bool platform_touch( const char* path );
int64_t platform_now_s( void );

/// Calls `visit` for each entry but . and .. of a folder, in any order.
typedef void platform_visitor( const char* name, platform_entry entry, void* user );
bool platform_list( const char* folder, platform_visitor* visit, void* user );

/// Gives standard streams that are closed something harmless, or the next file opened would get their number
/// and what is printed would land in it. What is written to an output that was closed fails.
void platform_open_streams( void );

bool platform_is_terminal( FILE* stream );
bool platform_has_colours( FILE* stream );        ///< a terminal that knows escape sequences
bool platform_has_utf8( void );                   ///< where no variable of the environment tells
uint32_t platform_columns( void );                ///< of the terminal on stderr; 80 if unknown
uint32_t platform_stream_columns( FILE* stream ); ///< of the terminal it goes to; 0 if it goes elsewhere
uint64_t platform_process_id( void );
uint32_t platform_rows( void );       ///< likewise; 24 if unknown
uint32_t platform_core_count( void ); ///< at least 1
double platform_load( void );         ///< runnable processes, mean of the last minute; NaN if unknown

/// Processor time of the calling thread, in nanoseconds: independent of what else runs.
uint64_t platform_thread_time_ns( void );
const char* platform_name( void ); ///< "Linux", "Windows", …
