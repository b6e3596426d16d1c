// SPDX-License-Identifier: MIT
// Several numbers in one word, for sweeps and ladders of sizes: 64, 32..4096 (doubling), 10..1000:x10, 0.1..0.5:+0.1.
#pragma once

#include "lab/base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct number_list
{
    double* items;
    uint32_t count;
} number_list;

void number_list_free( number_list* list );

/// More values than this are a slip of the pen.
#define RANGE_MOST 1000

/// Appends the numbers a word stands for, ascending; k and m multiply by a thousand and a million. The upper end is among
/// them only if a step falls on it. False, with a `message` that says what to do but not where, if the word is no such range.
bool range_add( number_list* list, const char* word, char* message, size_t message_size );

/// As it is written in a setting, such as "256" or "0.5". Returns `buffer`.
#define RANGE_TEXT_ROOM 32
char* range_text( double value, char buffer[RANGE_TEXT_ROOM] );
