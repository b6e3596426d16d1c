// SPDX-License-Identifier: MIT
// A word out of a few, as flags and files take it, and what it stands for. The list is what a word is looked up in, what a mistake
// is answered with, and what a shell completes.
#pragma once

#include "lab/base/error.h"

#include <stddef.h>

/// Lists end with a word that is NULL.
typedef struct choice
{
    const char* word;
    int value;
} choice;

/// False, and *value untouched, if the word is not in the list.
bool choice_find( const choice* list, const char* word, int* value );

/// The value of a word that is known to be in the list.
int choice_value( const choice* list, const char* word );

/// What to write behind "there is no 'word'; ": "did you mean a? use a, b or c". Returns `buffer`.
#define CHOICE_ADVICE_ROOM 512
char* choice_advice( const choice* list, const char* word, char buffer[CHOICE_ADVICE_ROOM] );
