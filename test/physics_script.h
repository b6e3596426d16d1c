// SPDX-License-Identifier: MIT
// Fixed scripts of calls, from create to destroy, for what is not a space: hulls and the narrow phase, sweeps
// over volumes, bodies by shape matching, rigid boxes. The caller brings the memory, may hook in around every
// call, and gets a hash of all results.
#pragma once

#include "heap.h"

typedef struct script_run script_run;

typedef struct physics_script
{
    const char* name;
    void ( *play )( script_run* l );
} physics_script;

/// All scripts there are.
extern const physics_script physics_scripts[];
extern const uint32_t physics_script_count;

struct script_run
{
    heap memory;            ///< of every def; refuse from it what you like before the play
    uint64_t hash;          ///< of all results, in order
    uint32_t failure_count; ///< calls that ran out of memory; each was repeated, which must work

    // Around every call into the library. NULL: nothing.
    void ( *enter )( script_run* l );
    void ( *leave )( script_run* l, const char* call );
    const void* user;
};

/// Plays the script from beginning to end; all memory must be back then.
void physics_script_play( script_run* l, const physics_script* script );
