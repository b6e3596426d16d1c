// SPDX-License-Identifier: MIT
// The scenes a command goes through: every WHAT, and those that name no size once per -n.
#pragma once

#include "lab/base/args.h"
#include "lab/frame/scene_spec.h"

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
