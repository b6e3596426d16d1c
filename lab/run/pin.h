// SPDX-License-Identifier: MIT
// Which cores a run may use, so that the scheduler does not move it about.
#pragma once

#include "lab/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define PIN_CORES_MOST 1024
#define PIN_FORM "write yes, no or cores such as 2,3 or 4-7"

typedef struct pin_wish
{
    bool is_on;
    bool is_chosen; ///< the bits below tell; else as many of the last cores as there are threads
    uint64_t cores[PIN_CORES_MOST / 64]; ///< as a set
} pin_wish;

/// False if the text is neither yes, no nor a list of cores.
bool pin_parse( const char* text, pin_wish* wish );

/// Pins the calling process, all of its threads to come, to the wish's cores. False, with a reason, where that cannot be.
bool pin_apply( const pin_wish* wish, uint32_t thread_count, char* reason, size_t reason_size );
