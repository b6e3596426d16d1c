// SPDX-License-Identifier: MIT
// A random world (random_worlds.h) handed to a space: in floats, flat or in doubles, all boxes or those that
// changed since the update before.
#pragma once

#include "cleave/cleave.h"
#include "random_worlds.h"

/// How boxes of a world become boxes of a space.
typedef struct world_form
{
    const char* name;
    size_t box_size;
    void ( *write )( void* boxes, uint32_t at, const clv_aabb64* box, const int axes[3] );
    clv_result ( *add )( clv_space* space, const void* boxes, uint32_t count, clv_id* ids );
    clv_result ( *move )( clv_space* space, const clv_id* ids, const void* boxes, uint32_t count );
} world_form;

enum
{
    WORLD_FLOAT,
    WORLD_FLAT, ///< without the shortest axis
    WORLD_DOUBLE,
    WORLD_FORMS
};

extern const world_form world_forms[WORLD_FORMS];

/// What one update is.
enum
{
    WAY_UPDATE,
    WAY_EVENTS, ///< an update that tells what began and ended
    WAY_VISIT,
    WAY_ONE_SHOT ///< a new space for every update
};

extern const char* const world_ways[];

/// How a world is lived, drawn from its seed.
typedef struct world_way
{
    int form, way;
    bool may_rest;  ///< false: the engine searches in every update
    bool hands_all; ///< all boxes are handed over in every update; false: those that changed
} world_way;

world_way world_way_draw( uint64_t seed );

/// What the way asks of a def: form, events, rest.
void world_way_define( const world_way* self, clv_space_def* def );

/// Boxes by their numbers in the world, and as the space takes them.
typedef struct world_batch
{
    uint32_t* indices;
    void* boxes;
    uint32_t count;
} world_batch;

/// What has to be removed, moved and added to come from one update to the next.
typedef struct world_changes
{
    random_world* world;
    world_way way;
    world_batch gone, moved, come;
    uint32_t box_count; ///< afterwards
    clv_aabb64* last;   ///< boxes as they were handed over
    bool* was_alive;
} world_changes;

/// False if out of memory; to be closed in either case.
bool world_changes_open( world_changes* self, random_world* world, world_way way );
void world_changes_close( world_changes* self );
void world_changes_list( world_changes* self, uint32_t update );

/// One space that lives in the world.
typedef struct world_member
{
    clv_space* space;
    clv_id* ids;     ///< by number in the world
    clv_id* scratch; ///< of a batch
} world_member;

bool world_member_open( world_member* self, const random_world* world );
void world_member_close( world_member* self );

/// Hands the changes over. With a result other than CLV_OK *what names the call, and the calls before it are
/// done: `from` is the number of calls to leave out when it is tried again.
clv_result world_member_change(
    world_member* self, const world_changes* changes, int* from, const char** what );
