// SPDX-License-Identifier: MIT
// Broadmark's names of algorithms, and what they are here (Serpa and Rodrigues, Broadmark, CGF 2020).
#pragma once

#include "lab/measure/run_spec.h"

typedef struct broadmark_name
{
    const char* name;    ///< "SAP_AVX_Parallel"
    const char* method;  ///< ours; NULL: not written yet
    const char* isa;     ///< NULL: the method has none
    bool has_threads;    ///< takes m_numThreads
    const char* setting; ///< besides, or NULL
} broadmark_name;

/// NULL if Broadmark has no such algorithm.
const broadmark_name* broadmark_find( const char* name );

/// Broadmark's name of one of our runs, or ours where there is none.
const char* broadmark_name_of(
    const char* method_name, const char* variant, uint32_t thread_count, const char* settings );

/// What to write behind "'name' is unknown; ": "did you mean BF? there are BF, BF_SSE, …", those that can be asked for. Returns
/// `buffer`.
#define BROADMARK_ADVICE_ROOM 768
char* broadmark_advice( const char* name, char buffer[BROADMARK_ADVICE_ROOM] );

/// Broadmark's settings that are parameters of ours.
typedef struct broadmark_param
{
    const char* key;     ///< "m_KD_ObjectsPerLeaf"
    const char* setting; ///< "kd.leaf"
    double usual;        ///< what Broadmark takes where the settings say nothing
} broadmark_param;

/// By index; NULL beyond the last.
const broadmark_param* broadmark_param_at( uint32_t index );
