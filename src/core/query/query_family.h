// SPDX-License-Identifier: MIT
// What the doors of a space need of an arithmetic: floats (cleave/query.h, and flat spaces) or doubles (cleave/world_query.h).
#pragma once

#include "query/query_wide.h"

typedef struct query_family
{
    size_t hit_size; ///< of clv_hit or clv_hit64; `hits` below are of these
    clv_result ( *check )( const clv_queries* list, uint32_t index );
    bool ( *fits )( clv_query_kind kind, query_mode mode );

    uint64_t ( *find_all )(
        const query_scene* scene, const clv_queries* list, uint32_t index, void* hits, uint64_t room );
    void ( *find_one )( const query_scene* scene, const clv_queries* list, const uint32_t* which,
        uint32_t count, query_mode mode, void* hits );
    void ( *find_nearest )( const query_scene* scene, const clv_queries* list, const uint32_t* which,
        uint32_t count, uint32_t k, double max_distance, void* hits );
} query_family;

extern const query_family clv_query_family_floats;
extern const query_family clv_query_family_doubles;
