// SPDX-License-Identifier: MIT
// The scenes a command goes through: every WHAT, and those that name no size once per -n.
#pragma once

#include "lab/base/args.h"
#include "lab/frame/frame_source.h"

// ---- What a command works on, as users write it: a .aabbs file, or scene[:N][:type][@from[+frames]] such as
// brownian-free:32k:assorted or brownian-free:32k@150+60.

typedef struct scene_spec
{
    char* path;                 ///< of a file, to free; NULL for a scene
    const generator* generator; ///< NULL for a file
    uint32_t body_count;        ///< 0 if not said
    body_type type;
    uint32_t from;
    uint32_t frame_count; ///< 0 if not said
} scene_spec;

/// A known scene's name at the front makes it a scene; anything with a slash, ending in .aabbs, or that
/// exists is a file. False for unknown scenes and types, for sizes out of range, and for what is left over at
/// the end.
bool scene_spec_parse( const char* text, scene_spec* spec, lab_error* why );
void scene_spec_free( scene_spec* spec );

/// Opens it. For a scene: `body_count` in place of a size not said, and, where no frames are said, at least
/// `frames_wanted` of them (0: GENERATOR_FRAMES).
bool scene_spec_open( const scene_spec* spec, uint32_t body_count, uint32_t frames_wanted, uint64_t seed,
    frame_source* source, lab_error* why );

/// Both in one step, for a WHAT of its own: SCENE_LIST_BODIES where it names no size.
bool scene_spec_open_text( const char* text, frame_source* source, lab_error* why );

/// What that bakes, for a scene by name.
bake_def scene_spec_bake_def(
    const scene_spec* spec, uint32_t body_count, uint32_t frames_wanted, uint64_t seed );

typedef struct scene_item
{
    scene_spec spec;
    uint32_t body_count;
    char label[64]; ///< for people: "brownian-free:8k:cubes", or the file's name
} scene_item;

typedef struct scene_list
{
    scene_item* items;
    uint32_t count;
} scene_list;

#define SCENE_LIST_BODIES 8000 ///< without any -n

/// No WHAT: brownian-free. All are parsed, and files looked at, before the long work begins.
bool scene_list_make( scene_list* list, const text_list* texts, const size_list* sizes, lab_error* why );
void scene_list_free( scene_list* list );
