// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/types.h"

// Recordings: every call on a space with its arguments and a hash of each answer, as a file that can be sent.
// Since 0.2.0.
//
//   clv_recorder_def def = clv_default_recorder_def();
//   def.path = "world.clvrec";
//   clv_recorder* recorder = NULL;
//   clv_recorder_create( &def, space, &recorder );    // then use the space as ever
//   clv_recorder_close( recorder );                   // before or after clv_space_destroy
//
// `cleave replay world.clvrec` plays it on any method, instruction set, number of workers or device and names
// the first call whose answer differs; docs/replay.md tells the whole story.
//
// What is recorded. Calls that change a space (add, move, remove, clear, the setters, shift, refresh,
// shrink), updates and visits with the answers of the filter callback, and lists of queries with those of
// theirs. Arguments come before the call is made and its answer afterwards, so a call that never returns is
// in the file. Not recorded: functions that only read what was set (clv_space_get_box and the like), words
// written into clv_pair_view.data, clv_space_query_pairs of two spaces, calls that are refused before a box
// is read (a stride below a corner, an add def without its default function, more boxes than a space can
// have), and CLV_BUSY. User data is recorded as numbers; no pointer is followed. Hooks and callbacks are
// never stored.
//
// Failure. A sink that fails, a full disk or a lack of memory ends the recording, never the program: one line
// goes to the def's logger, clv_recorder_status and clv_recorder_close answer it, and the space goes on as if
// it had never been recorded. What was written until then can be played.
//
// Threads. As the space: the queries of several threads are recorded in the order in which they were asked.
// Create and close only while no other thread uses the space.
//
// Cost. A pass over the arguments and one over the list of pairs; about as many bytes as were handed over.
// With def.has_thread another thread computes checksums and calls the sink, and the pass is a copy; without
// one large batches go to the sink from where the caller has them. bench/recorder.md has numbers. A space
// without a recorder pays for the test of a pointer per call. The recorder's memory is its own: a buffer of
// 256 kB, or 16 of them with a thread, however large a call is.

/// Listens to one space and writes down what it is asked to do.
typedef struct clv_recorder clv_recorder;

/// Takes bytes in the order of the file; false: it could not, and is not called again. With has_thread it is
/// called on the recorder's thread.
typedef bool clv_record_put( const void* bytes, size_t count, void* user );

/// Settings, copied on create. Start from clv_default_recorder_def. Set path or put.
typedef struct clv_recorder_def
{
    uint32_t size;           ///< sizeof( clv_recorder_def ), set by the default function
    uint32_t cookie;         ///< proof that the default function was called
    const char* path;        ///< a file to make, or to replace
    clv_record_put* put;     ///< or where the bytes go
    void* put_user;          ///< handed to put
    bool has_thread;         ///< a thread of the recorder's own writes
    bool writes_each;        ///< every call is written before it is made: for a program that crashes
    uint64_t most_bytes;     ///< the recording ends before it gets longer; 0: no limit
    clv_logger logger;       ///< told, on the calling thread, when a recording ends before it is closed
    clv_allocator allocator; ///< zero: the C library's
} clv_recorder_def;

/// How far a recording has come.
typedef struct clv_recorder_state
{
    clv_result code;     ///< CLV_OK, CLV_FILE_FAILED or CLV_OUT_OF_MEMORY
    uint64_t call_count; ///< calls recorded
    uint64_t byte_count; ///< bytes of the file so far, those that wait included
    const char* text;    ///< why it ended; "" while it has not. Lives as long as the recorder
} clv_recorder_state;

/// A def to start from: zero everywhere but in size and cookie.
CLV_API clv_recorder_def clv_default_recorder_def( void );

/// Begins a recording of a space that never had an object and was never updated. CLV_BAD_DEF;
/// CLV_UNSUPPORTED for a space that has objects or a recorder already; CLV_FILE_FAILED if the file cannot be
/// made; CLV_OUT_OF_MEMORY. Then *recorder is NULL and the space as it was.
CLV_API clv_result clv_recorder_create(
    const clv_recorder_def* def, clv_space* space, clv_recorder** recorder );

/// May be asked at any time between calls on the space.
CLV_API clv_recorder_state clv_recorder_status( const clv_recorder* recorder );

/// Writes what waits, ends the file and frees the recorder. CLV_OK if the whole recording was written;
/// otherwise what ended it, which the logger was told. NULL is legal.
CLV_API clv_result clv_recorder_close( clv_recorder* recorder );
