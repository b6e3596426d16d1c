// SPDX-License-Identifier: MIT
// The page that shows a scene: view/page.html, which the program carries, with the frames put into it.
#pragma once

#include "lab/base/output_file.h"
#include "lab/base/text.h"
#include "lab/view/view_input.h"

#include <stddef.h>

/// Made by cmake/embed.cmake; a zero stands behind the last byte.
extern const unsigned char view_page_bytes[];
extern const size_t view_page_bytes_size;

typedef struct view_page_def
{
    view_input_def input;
    const char* tree_method;
    text_list tree_settings;
    bool has_pairs; ///< and a tree
    bool has_times; ///< of each frame's search; without them the same scene makes the same bytes
} view_page_def;

/// What was written.
typedef struct view_page_summary
{
    char name[128], type[128];
    uint32_t object_count, frame_count;
    uint64_t page_bytes;
} view_page_summary;

/// Writes the page into a file that was opened and commits it: whole or not at all. After false the file is abandoned.
bool view_page_write(
    output_file* file, const view_page_def* def, view_page_summary* summary, lab_error* why );
