// SPDX-License-Identifier: MIT
// Broadmark's names of algorithms, and what they are here (Serpa and Rodrigues, Broadmark, CGF 2020).
#pragma once

#include "lab/measure/run_spec.h"
#include "lab/result/results.h"
#include "lab/run/schedule.h"

typedef struct broadmark_name
{
    const char* name;    ///< "SAP_AVX_Parallel"
    const char* method;  ///< ours; NULL: not written yet
    const char* isa;     ///< NULL: the method has none
    bool has_threads;    ///< takes m_numThreads
    const char* setting; ///< besides, or NULL
} broadmark_name;

/// Broadmark's name of one of our runs, or ours where there is none.
const char* broadmark_name_of(
    const char* method_name, const char* variant, uint32_t thread_count, const char* settings );

/// Broadmark's settings that are parameters of ours.
typedef struct broadmark_param
{
    const char* key;     ///< "m_KD_ObjectsPerLeaf"
    const char* setting; ///< "kd.leaf"
    double usual;        ///< what Broadmark takes where the settings say nothing
} broadmark_param;

// ---- Broadmark's own files: a settings file says what to run and where its results go, and these are
// written in Broadmark's form, so that scripts around it go on working. docs/lab.md.

typedef struct broadmark_file
{
    char* path;           ///< of the settings
    char part[32];        ///< the name of its part
    char* output;         ///< m_outputLog
    json_value* settings; ///< as they stood
} broadmark_file;

/// Zero-initialised is empty.
typedef struct broadmark_files
{
    broadmark_file* items;
    uint32_t count;
} broadmark_files;

/// Is that a name for settings rather than for a schedule?
bool broadmark_is_settings( const char* path );

/// Reads settings (or the "Settings" of a results file) into a part of `wanted`: one scene, one method,
/// each frame once. False names the file, the key and what it may be.
bool broadmark_files_add( broadmark_files* files, const char* path, schedule* wanted, lab_error* why );

/// Can the results be written where the settings say?
bool broadmark_files_check( const broadmark_files* files, lab_error* why );

/// Writes the results of each settings file. False if a run did not end well or a file cannot be written.
bool broadmark_files_write( const broadmark_files* files, const run_results* results, lab_error* why );
void broadmark_files_free( broadmark_files* files );

/// Every run that ended well as a file of its own in `folder`, which is made if need be.
bool broadmark_write_all( const char* folder, const run_results* results, lab_error* why );
