// SPDX-License-Identifier: MIT
// A recording in memory: the settings of its space, and every call as it can be made again. It may be a file
// from a stranger: no length or number is believed before it was checked.
#pragma once

#include "lab/base/error.h"
#include "record/record.h"

/// A call with what it brought about. Arrays belong to the recording.
typedef struct recorded_call
{
    space_call call;
    uint64_t offset; ///< of its record in the file
    uint32_t bits;   ///< of a list of queries: RECORD_FILTERS and so on
    bool wants_ids;  ///< the caller asked for the ids of the new objects

    const clv_pair* decided; ///< what the filter callback was asked,
    const uint8_t* decided_yes;
    uint64_t decided_count;
    space_counted* counted; ///< and what that of the queries
    uint64_t counted_count;

    bool has_answer; ///< false: it never returned, or the recording ended within it
    record_answer answer;
} recorded_call;

typedef struct recording
{
    clv_space_def def; ///< without method, settings and hooks
    char method[64];
    char settings[1024];
    bool has_filter; ///< the def had a filter callback
    bool has_order;  ///< answers are the method's own, and tell the order of pairs
    recorded_call* calls;
    uint64_t call_count;

    bool is_cut; ///< the file ends early: these are the calls before
    uint64_t cut_offset;

    void** blocks; ///< memory of the arrays
    uint64_t block_count;
} recording;

/// False with what is wrong and its offset; the recording is then empty. `path` is for the sentence.
bool recording_parse( const char* path, const void* bytes, uint64_t size, recording* out, lab_error* why );
bool recording_read( const char* path, recording* out, lab_error* why );
void recording_free( recording* held );

/// Does the file begin as a recording does?
bool recording_is_one( const char* path );

/// Memory that lives as long as the recording, zeroed.
void* recording_take( recording* held, uint64_t count, size_t size );
