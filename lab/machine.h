// SPDX-License-Identifier: MIT
#pragma once

#include <stdint.h>

/// What results were measured on.
typedef struct machine_facts
{
    char cpu[128]; ///< as the CPU names itself; "unknown" where it does not
    uint32_t core_count;
    const char* isa;    ///< widest instruction set the library can use here
    char compiler[64];  ///< "gcc 12.2"
    const char* system; ///< "Linux"
} machine_facts;

machine_facts machine_look( void );
