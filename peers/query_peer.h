/* SPDX-License-Identifier: MIT */
/* Other people's queries: what a module exports as clv_query_peer, for `cleave bench --queries`. */
#pragma once

#include "cleave/query.h"

typedef enum query_family
{
    QUERY_FAMILY_RAYS,    /* clv_ray: the closest hit */
    QUERY_FAMILY_BOXES,   /* clv_aabb: everything that touches */
    QUERY_FAMILY_SPHERES, /* clv_sphere: likewise */
    QUERY_FAMILY_NEAREST, /* clv_vec3: QUERY_NEIGHBOURS objects */
    QUERY_FAMILY_CASTS,   /* clv_sphere_cast: the closest hit */
    QUERY_FAMILY_COUNT
} query_family;

enum
{
    QUERY_NEIGHBOURS = 8
};

typedef struct query_peer
{
    const char* name;
    const char* about;
    uint32_t families; /* a bit each */
    void* ( *build )( const clv_aabb* boxes, uint32_t count );
    void ( *destroy )( void* state );

    /* Objects that were found, as many as there is room for; how many there are. */
    uint32_t ( *ask )( void* state, query_family family, const void* item, clv_hit* hits, uint32_t room );
} query_peer;

#define QUERY_PEER_SYMBOL "clv_query_peer"
