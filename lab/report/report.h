// SPDX-License-Identifier: MIT
// What the report's page is told: the results of several files, checked, as one text.
#pragma once

#include "lab/base/error.h"
#include "lab/base/text.h"

typedef struct report_data
{
    char* json; ///< in one line; no '<' and no line separator in it, so that a script element can hold it
    uint32_t run_count;
} report_data;

/// { "files": [ { "name", "results" } ] } in the order of the paths, and no folder of this machine in it.
/// With `device` not NULL, of runs on a GPU only those whose device has this text in its name, whatever the
/// case. False with an error that names the file, or the devices there are.
bool report_data_read( report_data* data, const text_list* paths, const char* device, lab_error* why );
void report_data_free( report_data* data );

/// What a file is called on the page: its name without folders, and where several have the same, "r.json (1)"
/// for the first of them. To free.
char* report_data_file_name( const text_list* paths, uint32_t index );

/// A copy in which paths have lost their folders: "no a.so in /home/me/peers" is "no a.so in …/peers". To
/// free.
char* report_data_without_folders( const char* text );

/// A copy of JSON text in which nothing can end a script element or a line of script, to free.
char* report_data_escape( const char* json );

// ---- The page itself: report/page.html, which the program carries, with results put into it.

/// Writes the page with `json`, as report_data_escape gives it; whole or not at all.
bool report_page_write( const char* path, const char* json, lab_error* why );

// ---- The plots of a written page as SVG files, drawn by the page's own script in node.

/// One file per plot into a folder that exists. False if there is no node, or it could not.
bool svg_export( const char* page_path, const char* folder, lab_error* why );
