// SPDX-License-Identifier: MIT
// The help of a command as a man page: the same texts, in roff.
#pragma once

#include "lab/base/args.h"

#include <stdio.h>

typedef struct man_page
{
    const char* name;       ///< "cleave-bench"
    const char* about;      ///< one sentence, without a full stop
    const args_table* help; ///< what --help prints
    const text_list* see;   ///< other pages, without "(1)"; this one may be among them
} man_page;

/// ASCII alone, so that every reader of man pages shows it. `version` is the program's.
void man_page_write( const man_page* page, const char* version, FILE* stream );
