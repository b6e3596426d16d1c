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
    const char* flags;  ///< the compiler's, as the library and program got them
    const char* system; ///< "Linux"
    double load;        ///< runnable processes, mean of the last minute when first asked; NaN where unknown
} machine_facts;

machine_facts machine_look( void );
