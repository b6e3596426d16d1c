// SPDX-License-Identifier: MIT
// The words that make `cleave worker` do a job and nothing else.
#pragma once

#include "lab/run/run_plan.h"

typedef struct worker_words
{
    const char* items[48]; ///< NULL behind the last
    uint32_t count;
    text_list owned; ///< what was written for them
} worker_words;

/// The job must outlive the words.
void worker_words_make( worker_words* words, const run_job* job );
void worker_words_free( worker_words* words );
