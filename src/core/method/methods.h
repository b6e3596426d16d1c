// SPDX-License-Identifier: MIT
// The rows of the table, and what they share. A new row is a line in table.def; docs/adding-a-method.md.
#pragma once

#include "base/timer.h"
#include "method/method.h"

#define METHOD( file, row ) extern const method method_##row;
#include "method/table.def"
#undef METHOD

/// For the lab, which loads other people's methods from modules: a row that lives as long as the program. False if the
/// name is taken or METHOD_GUESTS rows were added already. Not for use while another thread looks at the table.
bool method_register( const method* row );

#define METHOD_GUESTS 32

struct kd_engine;

/// method.report of all rows that stand on a kd_engine.
uint32_t method_report_kd( struct kd_engine* engine, method_figure* figures, uint32_t capacity );

/// Reads the clock only where the def asked for stage times; otherwise every lap is 0.
typedef struct method_stopwatch
{
    bool runs;
    uint64_t start_ns;
} method_stopwatch;

static inline method_stopwatch method_stopwatch_start( const method_context* context )
{
    method_stopwatch watch = { context->stage_times, context->stage_times ? base_clock_ns() : 0 };
    return watch;
}

/// Milliseconds since the start or the last lap.
static inline double method_stopwatch_lap( method_stopwatch* watch )
{
    if ( !watch->runs )
    {
        return 0;
    }
    uint64_t now = base_clock_ns();
    double ms = (double)( now - watch->start_ns ) * 1e-6;
    watch->start_ns = now;
    return ms;
}
