// SPDX-License-Identifier: MIT
#pragma once

#include "lab/frame/scene_list.h"
#include "lab/measure/run_spec.h"

#include <stdint.h>

/// What results were measured on.
typedef struct machine_facts
{
    char cpu[128]; ///< as the CPU names itself; "unknown" where it does not
    uint32_t core_count;
    const char* isa;    ///< widest instruction set the library can use here
    char compiler[64];  ///< "gcc 12.2"
    const char* flags;  ///< the compiler's, as the library and program got them
    const char* system; ///< "Linux"
    double load;        ///< runnable processes, mean of the last minute when first asked; NaN where unknown
} machine_facts;

machine_facts machine_look( void );

// ---- How much of the machine other people's work takes: what they use is missing in
// ours, and shows as time.

/// What others_wait saw.
typedef struct others_seen
{
    double share;    ///< in the last look; NaN if unknown
    double waited_s; ///< for a quiet machine; 0 where the first look was good
} others_seen;

/// Looks until the share is at most `most`, or `wait_s` seconds have gone by.
others_seen others_wait( double most, double wait_s );

// ---- How long work will take, before it is begun: rough constants of a machine of today, good to a factor
// of three or so. It is to tell a minute from an hour.

/// Seconds of one frame; 0 if the method cannot run here.
double estimate_frame_s( const run_spec* spec, uint32_t object_count );

/// What opening a scene still takes.
typedef struct estimate_scene
{
    uint32_t object_count, frame_count; ///< that it will have; 0 if a file cannot be read
    uint64_t bake_bytes;                ///< to write first; 0 if it is there
    double bake_s;
} estimate_scene;

estimate_scene estimate_scene_spec(
    const scene_spec* spec, uint32_t body_count, uint32_t frames_wanted, uint64_t seed );

/// "under a second", "about 20 s", "about 3 min".
text_short estimate_text( double seconds );
