// SPDX-License-Identifier: MIT
// The doors of cleave/query.h and cleave/world_query.h, a file for each question: space_query_each.c (any, closest, nearest),
// space_query_all.c, space_query_visit.c and space_query_pairs.c. Here is what they share: lists are checked as a whole
// (space_query_check.c) and done in pieces.
#pragma once

#include "base/radix_sort.h"
#include "query/query_family.h"
#include "space/space_reader.h"

enum
{
    SPACE_PIECE_QUERIES = QUERY_SOME, // of a list, done by one worker at a time
    SPACE_SHARED_QUERIES = 256,       // lists from here on are shared
    SPACE_ROUND_PIECES = 512,         // whose hits wait at once until all know their places
    SPACE_PIECE_HITS = 1024,          // that each has room for; one with more searches again
};

/// Is there a callback, and so one thread alone? That of the other arithmetic is left alone.
static inline bool space_queries_call( const query_family* family, const clv_queries* queries )
{
    return family == &clv_query_family_doubles ? queries->callback64 != NULL : queries->callback != NULL;
}

/// Is the list worth the workers, and may they have it?
static inline bool space_queries_are_shared(
    const clv_space* space, const query_family* family, const clv_queries* queries )
{
    return !space_queries_call( family, queries ) && queries->count >= SPACE_SHARED_QUERIES &&
        task_worker_count( &space->tasks ) > 1;
}

/// Looks at every query of a list, by workers where it is long, and opens the scene that it is about. The first bad one's place goes to
/// `position`, where that is not NULL.
clv_result clv_space_open_list( const clv_space* space, const query_family* family,
    const clv_queries* queries, query_mode mode, uint32_t* position, query_scene* scene );

/// A list on its way.
typedef struct query_job
{
    const query_family* family;
    query_scene scene;
    const clv_queries* queries;
    query_mode mode;
    uint32_t k;
    double max_distance;
    void* hits;        ///< one or k for each query; or all
    uint64_t* offsets; ///< all

    const base_keyed* order; ///< in which one-hit lists are gone through; NULL: as they come

    uint32_t first_piece; ///< of this round
    void* waiting;        ///< SPACE_PIECE_HITS for each piece of a round, or none
    uint64_t room;        ///< SPACE_PIECE_HITS, or none
    bool is_over[SPACE_ROUND_PIECES];
} query_job;

/// Hits are clv_hit or clv_hit64, as the family has them.
static inline void* space_hit_at( const query_family* family, void* hits, uint64_t index )
{
    return (char*)hits + index * family->hit_size;
}

/// Where the hits of a piece of this round wait; NULL where there is no room for any.
static inline void* space_waiting_hits( const query_job* job, uint32_t index )
{
    return job->waiting != NULL
        ? space_hit_at( job->family, job->waiting, (uint64_t)index * SPACE_PIECE_HITS )
        : NULL;
}

/// The queries of one piece, and how many pieces there are.
static inline void space_piece_range( const query_job* job, uint32_t piece, uint32_t* first, uint32_t* end )
{
    uint32_t count = job->queries->count;
    *first = piece * SPACE_PIECE_QUERIES;
    *end = count - *first < SPACE_PIECE_QUERIES ? count : *first + SPACE_PIECE_QUERIES;
}

static inline uint32_t space_query_pieces( const query_job* job )
{
    return job->queries->count / SPACE_PIECE_QUERIES +
        ( job->queries->count % SPACE_PIECE_QUERIES > 0 ? 1 : 0 );
}

/// Without room for hits that wait every piece is searched twice, which is all that a lack of memory does here.
void clv_space_reserve_waiting( clv_space* space, query_job* job, uint32_t pieces );
