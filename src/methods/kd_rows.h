// SPDX-License-Identifier: MIT
// What the rows that stand on a kd_engine share: kd.c, kd_paper.c and ray_kd.c. They differ in their
// parameters and rules.
#pragma once

#include "kd/kd_engine.h"
#include "method/method.h"

/// A state of a row and its context, opened; both NULL if out of memory. clv_methods_kd_begin makes it whole.
const method_context* clv_methods_kd_take( const clv_method_context* host, void** state );
void clv_methods_kd_begin( void* state, clv_isa isa, const kd_rules* rules );

/// Parameters that `kd` and `kd-paper` have in common come first in both.
enum
{
    METHODS_KD_LEAF,
    METHODS_KD_EPSILON,
    METHODS_KD_STATIC,
    METHODS_KD_TREE,
    METHODS_KD_SAP,
    METHODS_KD_SHARED ///< their number
};

/// Rules by these.
kd_rules clv_methods_kd_rules( const double* params, kd_mode mode );

/// Of create_<name>( host, mode ) the four that rows need, one for each way of detecting.
#define METHODS_KD_CREATES( name )                                                                           \
    static void* create_##name##_rebuilt( const clv_method_context* host )                                   \
    {                                                                                                        \
        return create_##name( host, KD_MODE_REBUILT );                                                       \
    }                                                                                                        \
    static void* create_##name##_complete( const clv_method_context* host )                                  \
    {                                                                                                        \
        return create_##name( host, KD_MODE_COMPLETE );                                                      \
    }                                                                                                        \
    static void* create_##name##_incremental( const clv_method_context* host )                               \
    {                                                                                                        \
        return create_##name( host, KD_MODE_INCREMENTAL );                                                   \
    }                                                                                                        \
    static void* create_##name##_adaptive( const clv_method_context* host )                                  \
    {                                                                                                        \
        return create_##name( host, KD_MODE_ADAPTIVE );                                                      \
    }

void clv_methods_kd_destroy( void* state );
clv_result clv_methods_kd_update(
    void* state, const method_input* input, pair_sink* sink, method_counters* counters );
void clv_methods_kd_shrink( void* state );
bool clv_methods_kd_check( void* state, char* text, size_t text_size );
size_t clv_methods_kd_dump( void* state, char* text, size_t text_size );
uint32_t clv_methods_kd_report( void* state, method_figure* figures, uint32_t capacity );

/// The row of a KD-tree. `temporal`: something is carried from update to update; `rests`: it uses the set of
/// moved boxes.
#define METHODS_KD_ROW(                                                                                      \
    row_name, row_source, row_remarks, row_params, row_param_count, row_create, temporal, rests )            \
    {                                                                                                        \
        .size = sizeof( method ), .version = CLV_METHOD_VERSION, .name = ( row_name ), .family = "kd-tree",  \
        .source = ( row_source ), .licence = "MIT", .time_cost = "O(n log(n/T) + k)", .space_cost = "O(n)",  \
        .remarks = ( row_remarks ), .has_isa = true, .has_threads = true, .is_temporal = ( temporal ),       \
        .wants_moved = ( rests ), .is_trusted = true, .params = ( row_params ),                              \
        .param_count = ( row_param_count ), .create = ( row_create ), .destroy = clv_methods_kd_destroy,     \
        .update = clv_methods_kd_update, .shrink = clv_methods_kd_shrink, .check = clv_methods_kd_check,     \
        .report = clv_methods_kd_report, .dump = clv_methods_kd_dump                                         \
    }
