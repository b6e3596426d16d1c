// SPDX-License-Identifier: MIT
// The rows of the table, and what they share.
#pragma once

#include "base/timer.h"
#include "method/method.h"

extern const method method_brute;
extern const method method_sap;
extern const method method_engine;
extern const method method_kd;
extern const method method_kd_complete;
extern const method method_kd_incremental;
extern const method method_kd_rebuilt;
extern const method method_ray_kd;

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
