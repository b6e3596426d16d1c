// SPDX-License-Identifier: MIT
// The page that shows a scene: view/page.html, which the program carries, with the frames put into it.
#pragma once

#include "cleave/types.h"
#include "lab/base/bytes.h"
#include "lab/base/output_file.h"
#include "lab/base/text.h"
#include "lab/view/view_input.h"

// ---- Frames of whole numbers as bytes that deflate well: differences to the frame before, or to where two
// frames before it lead. view/src/codec.js reads them; view/README.md has the format.

/// Channels of a frame: lower corner and sides of a box, or position and rotation of a body.
#define VIEW_BOX_CHANNELS 6
#define VIEW_POSE_CHANNELS 7

/// Zero-initialised is empty.
typedef struct view_coder
{
    uint32_t object_count, channel_count;
    int32_t* now;     ///< the frame to be put, channel by channel; the caller fills it
    int32_t* before;  ///< the one before
    int32_t* earlier; ///< and the one before that
    uint32_t depth;   ///< frames put since the last key
} view_coder;

void view_coder_open( view_coder* coder, uint32_t object_count, uint32_t channel_count );
void view_coder_close( view_coder* coder );

/// The next frame is a key: it refers to no other.
void view_coder_begin( view_coder* coder );

/// Puts `now`, which then is `before`.
void view_coder_put( view_coder* coder, byte_buffer* out );

/// A list of pairs sorted by (a, b): its length, then per pair the step in a, and the step in b, or
/// from a to b where a is new.
void view_coder_put_pairs( byte_buffer* out, const clv_pair* pairs, uint64_t count );

/// Places in a list, ascending: how many, then the step from one to the next.
void view_coder_put_places( byte_buffer* out, const uint32_t* places, uint64_t count );

/// Pairs of the first sorted list that are not in the second, into room for `first_count`, or, where that is
/// not NULL, their places in it. Returns how many.
uint64_t view_coder_without( const clv_pair* first, uint64_t first_count, const clv_pair* second,
    uint64_t second_count, clv_pair* out, uint32_t* places );

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

/// Writes the page into a file that was opened and commits it: whole or not at all. After
/// false the file is abandoned.
bool view_page_write(
    output_file* file, const view_page_def* def, view_page_summary* summary, lab_error* why );
