// SPDX-License-Identifier: MIT
// The schedules of lab/schedules, as cmake/schedules.cmake turns them into C.
#pragma once

#include <stdint.h>

typedef struct schedule_text
{
    const char* name;
    const char* text;
} schedule_text;

extern const schedule_text schedule_texts[];
extern const uint32_t schedule_text_count;
