// SPDX-License-Identifier: MIT
#include "query/query_family.h"

static uint64_t find_all_floats(
    const query_scene* scene, const clv_queries* list, uint32_t index, void* hits, uint64_t room )
{
    return clv_query_find_all( scene, list, index, hits, room );
}

static void find_one_float( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, query_mode mode, void* hits )
{
    clv_query_find_one( scene, list, which, count, mode, hits );
}

static void find_nearest_floats( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, uint32_t k, double max_distance, void* hits )
{
    clv_query_find_nearest( scene, list, which, count, k, (float)max_distance, hits ); // which was a float
}

const query_family clv_query_family_floats = {
    .hit_size = sizeof( clv_hit ),
    .check = clv_query_check_item,
    .fits = clv_query_mode_fits,
    .find_all = find_all_floats,
    .find_one = find_one_float,
    .find_nearest = find_nearest_floats,
};

static uint64_t find_all_doubles(
    const query_scene* scene, const clv_queries* list, uint32_t index, void* hits, uint64_t room )
{
    return clv_query_wide_find_all( scene, list, index, hits, room );
}

static void find_one_double( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, query_mode mode, void* hits )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        ( (clv_hit64*)hits )[which[i]] = clv_query_wide_find_one( scene, list, which[i], mode );
    }
}

static void find_nearest_doubles( const query_scene* scene, const clv_queries* list, const uint32_t* which,
    uint32_t count, uint32_t k, double max_distance, void* hits )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_hit64* own = (clv_hit64*)hits + (uint64_t)which[i] * k;
        clv_query_wide_find_nearest( scene, list, which[i], k, max_distance, own );
    }
}

const query_family clv_query_family_doubles = {
    .hit_size = sizeof( clv_hit64 ),
    .check = clv_query_wide_check_item,
    .fits = clv_query_wide_mode_fits,
    .find_all = find_all_doubles,
    .find_one = find_one_double,
    .find_nearest = find_nearest_doubles,
};
