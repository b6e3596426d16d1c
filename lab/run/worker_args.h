// SPDX-License-Identifier: MIT
// The arguments that make `cleave worker` do a job and nothing else.
#pragma once

#include "lab/measure/plugin.h"
#include "lab/run/run_plan.h"

typedef struct worker_args
{
    const char* items[48 + 2 * PLUGIN_MOST]; ///< NULL behind the last
    uint32_t count;
    text_list owned; ///< what was written for them
} worker_args;

/// The job must outlive them.
void worker_args_make( worker_args* args, const run_job* job );
void worker_args_free( worker_args* args );
