// SPDX-License-Identifier: MIT
// What a shell can complete of a program: its commands, their flags, and the words that these take.
// Three shells, one model.
#pragma once

#include "lab/base/args.h"

#include <stdio.h>

typedef enum completion_kind
{
    COMPLETION_NONE, ///< no value: a switch, or a command without operands
    COMPLETION_ANY,  ///< a number or a text that no list has
    COMPLETION_FILE,
    COMPLETION_WORD,  ///< one of the words
    COMPLETION_WORDS, ///< some of them, with commas between
    COMPLETION_WORD_OR_FILE,
} completion_kind;

typedef struct completion_value
{
    completion_kind kind;
    uint32_t list; ///< index of the words, where there are some
} completion_value;

typedef struct completion_flag
{
    args_flag flag; ///< but for its value, which is gone
    char* help;     ///< with the default
    completion_value value;
} completion_flag;

typedef struct completion_command
{
    const char* name; ///< "": the program's own flags
    const char* about;
    char* operand_name; ///< NULL: none
    completion_value operand;
    completion_flag* flags;
    uint32_t flag_count;
} completion_command;

typedef struct completion_list
{
    char* name; ///< a word that shells take for a name: METHOD
    text_list words;
} completion_list;

/// Zero-initialised is empty.
typedef struct completion_model
{
    completion_command* commands; ///< the program itself first
    uint32_t command_count;
    completion_list* lists;
    uint32_t list_count;
} completion_model;

/// The words that values of this name are taken from, appended; false: none are known. `value` is
/// METHOD, I, P=V, WHAT, ….
typedef bool completion_words( const char* value, text_list* words );

/// One command more; "" for the program itself, which must be the first. The table may go, its texts stay.
void completion_add( completion_model* model, const char* name, const char* about, const args_table* table,
    completion_words* words );
void completion_free( completion_model* model );

/// The scripts.
void completion_bash( const completion_model* model, FILE* stream );
void completion_zsh( const completion_model* model, FILE* stream );
void completion_fish( const completion_model* model, FILE* stream );
