// SPDX-License-Identifier: MIT
// Whole lives of what allocates or calculates beside the space: hulls and the narrow phase, sweeps over volumes, bodies by
// shape matching, rigid boxes. Each is one fixed script; whoever plays it brings the memory and may step in around every
// call, and gets a hash of all that was seen.
#pragma once

#include "heap.h"

typedef struct life life;

typedef struct life_script
{
    const char* name;
    void ( *play )( life* l );
} life_script;

/// All scripts there are.
extern const life_script life_scripts[];
extern const uint32_t life_script_count;

struct life
{
    heap memory;            ///< of every def; refuse from it what you like before the play
    uint64_t hash;          ///< of all results, in order
    uint32_t failure_count; ///< calls that ran out of memory; each was repeated, which must work

    // Around every call into the library. NULL: nothing.
    void ( *enter )( life* l );
    void ( *leave )( life* l, const char* call );
    const void* user;
};

/// Plays the script from beginning to end; all memory must be back then.
void life_play( life* l, const life_script* script );
