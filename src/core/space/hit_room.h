// SPDX-License-Identifier: MIT
// Room for the hits of one query at a time, where their number is not known beforehand.
#pragma once

#include "query/query_family.h"
#include "space/space_reader.h"

enum
{
    SPACE_FEW_HITS = 512,
};

/// Hits of one query: a few on the stack, many in memory of the space's.
typedef struct hit_room
{
    clv_space* space;
    const query_family* family;
    void* hits;
    uint64_t capacity;
    clv_hit64 few[SPACE_FEW_HITS]; ///< the larger of the two kinds of hits
} hit_room;

void clv_space_room_open( hit_room* room, const clv_space* space, const query_family* family );
void clv_space_room_close( hit_room* room );

/// Room for so many; what was in it is lost. False if out of memory.
bool clv_space_room_widen( hit_room* room, uint64_t needed );

/// All hits of one query, and how many they are. False if out of memory.
bool clv_space_room_find(
    hit_room* room, const query_scene* scene, const clv_queries* list, uint32_t index, uint64_t* count );
