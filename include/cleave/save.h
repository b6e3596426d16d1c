// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/types.h"

// A space as bytes, and back. Since 0.2.0.
//
// A snapshot holds the boxes (of floats, of doubles, flat), ids and generations, filters, margins, motions,
// statics, user data, the last list with its words and events, changes that no update has seen yet, and what
// the def says about answers: margins, limits, sorted, events, skip_static_pairs, pair_data, doubles, flat,
// method and its settings. It does not hold callbacks, hooks, the logger, workers and the instruction set:
// who loads it gives these again.
//
// Two forms:
//
// CLV_SAVE_MEMORY is for the same build of the library on the same machine: rollback, a copy, a second
// opinion. It is mostly a copy of columns. The loaded space goes on exactly as the saved one: the same calls
// give the same pairs in the same order, the same events, the same ids and the same answers to queries. Its
// bytes are checked against accidents and against other builds, and otherwise believed: never load this form
// from a stranger.
//
// CLV_SAVE_DISK is for files: read on any architecture and by later versions of the library. Everything in it
// is checked before it is used. The loaded space has the same objects, ids, last list and events, and every
// update finds the same set of pairs; the order of a list that is not sorted may be another.
//
// With a method that carries a structure from update to update (is_temporal in method.h), other than the
// default one, that structure is made anew in either form: the same sets, events and ids, and the same order
// where lists are sorted.

/// What a snapshot is for.
typedef enum clv_save_form
{
    CLV_SAVE_MEMORY = 0, ///< same build, same machine: exact continuation
    CLV_SAVE_DISK = 1,   ///< any machine, later versions: same objects, ids and sets
} clv_save_form;

/// Receives the bytes of a snapshot in order, in pieces of any size. Return false to stop. It may call
/// functions that take a const space, and no others.
typedef bool clv_save_sink( const void* bytes, size_t size, void* user );

/// Why bytes were not loaded.
typedef struct clv_load_error
{
    uint64_t offset; ///< of the first fault in the bytes; UINT64_MAX where they are not to blame
    char text[160];  ///< one line for people
} clv_load_error;

/// Bytes of a snapshot of the space as it is now. Takes a microsecond or two. 0 when called from a callback
/// or a hook of an update.
CLV_API size_t clv_space_save_size( const clv_space* space, clv_save_form form );

/// Writes a snapshot to memory of the caller's; *size is how much it needs. CLV_NO_ROOM if `capacity` is
/// less, and then `bytes` holds nothing of use. CLV_BUSY from a callback or a hook of an update. Changes
/// nothing in the space, takes no memory; any number of threads may save and query at once. O(n + k).
CLV_API clv_result clv_space_save(
    const clv_space* space, clv_save_form form, void* bytes, size_t capacity, size_t* size );

/// The same to a sink, without memory for all of it. CLV_STOPPED if the sink said so.
CLV_API clv_result clv_space_save_to(
    const clv_space* space, clv_save_form form, clv_save_sink* sink, void* user );

/// A new space from a snapshot of either form. Of the def are used: allocator, logger, tasks, worker_count,
/// isa, filter with its user pointer, stage_times, capacity and pair_capacity; everything else comes from the
/// snapshot, whatever the def says. A space that had a filter callback needs one again, one that had none
/// takes none. The bytes may go afterwards.
///
/// Failure leaves *space NULL, with the reason in *error unless that is NULL, and in the def's logger.
/// CLV_FILE_FAILED: the bytes are no whole snapshot, damaged, of another build (CLV_SAVE_MEMORY) or of a
/// later version, or hold a value that no space has; the error tells where. CLV_BAD_DEF: the def, or a method
/// that is not known here. CLV_UNSUPPORTED and CLV_OUT_OF_MEMORY as clv_space_create.
///
/// Views: the last list and events are valid as they were in the saved space. Statistics go on, but for
/// memory and for times; figures of clv_space_report are 0 until the next update.
CLV_API clv_result clv_space_load(
    const clv_space_def* def, const void* bytes, size_t size, clv_space** space, clv_load_error* error );
