// SPDX-License-Identifier: MIT
// How many times as fast as the fastest of the others each row must stay, in a file that people read: bench/floors.csv.
#pragma once

#include "lab/result/results.h"

typedef struct floor_row
{
    char* part; ///< of the schedule: tells apart two windows of one scene
    char* scene;
    char* type;
    uint32_t object_count;
    char* variant; ///< instruction set of ours
    char* rival;   ///< the fastest of the others when the floor was set
    double floor;
} floor_row;

/// Zero-initialised is empty.
typedef struct floor_file
{
    text_list comments; ///< lines that begin with #; they stay at the head
    floor_row* rows;
    uint32_t count;
} floor_file;

/// A file that is not there is an empty one if `may_be_missing`. False names file, line and what was expected.
bool floor_file_read( const char* path, bool may_be_missing, floor_file* file, lab_error* why );
bool floor_file_write( const char* path, const floor_file* file, lab_error* why );
void floor_file_free( floor_file* file );

/// The row of that run, or NULL.
floor_row* floor_file_find( floor_file* file, const char* part, const run_result* run );

/// A new row for that run, with a floor of 0 and no rival.
floor_row* floor_file_add( floor_file* file, const char* part, const run_result* run );
