// SPDX-License-Identifier: MIT
// Reasons not to believe a comparison of times: the machines differ, or one of them was busy. What other people's processes
// cost is in the times and looks like a change of the program.
#pragma once

#include "lab/base/json.h"

#define DOUBT_ROOM 256

/// A sentence each, or "".
typedef struct doubt
{
    char machine[DOUBT_ROOM]; ///< another processor, or another number of cores
    char load[DOUBT_ROOM];    ///< others were at work; does not touch times of the thread's processor
} doubt;

/// Of the "machine" of two files of results; NULL, or members that are missing, give no reason.
void doubt_find( doubt* all, const json_value* a, const json_value* b );
