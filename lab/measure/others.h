// SPDX-License-Identifier: MIT
// How much of the machine other people's work takes: what they use is missing in ours, and shows as time.
#pragma once

#include <stdbool.h>

/// Share of all processors, 0 to 1, that processes outside this one's process group used during the next `seconds`, time
/// stolen by a hypervisor included. NaN where nobody tells (systems without /proc).
double others_share( double seconds );

/// What others_wait saw.
typedef struct others_seen
{
    double share;    ///< in the last look; NaN if unknown
    double waited_s; ///< for a quiet machine; 0 where the first look was good
} others_seen;

/// Looks until the share is at most `most`, or `wait_s` seconds have gone by.
others_seen others_wait( double most, double wait_s );
