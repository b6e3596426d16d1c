// SPDX-License-Identifier: MIT
// The doors of cleave/query.h and cleave/world_query.h: lists of queries (space_query.c), and pairs of two
// spaces (space_query_pairs.c). Here is what they share: lists are done in pieces, and hits of one query have
// room.
#pragma once

#include "base/assertion.h"
#include "base/radix_sort.h"
#include "space/space_reader.h"

enum
{
    SPACE_PIECE_QUERIES = QUERY_SOME, // of a list, done by one worker at a time
    SPACE_SHARED_QUERIES = 256,       // lists from here on are shared
    SPACE_ROUND_PIECES = 512,         // whose hits wait at once until all know their places
    SPACE_PIECE_HITS = 1024,          // that each has room for; one with more searches again
    SPACE_FEW_HITS = 512,             // of one query, on the stack
};

/// Is the list worth the workers, and may they have it?
static inline bool space_queries_are_shared( const clv_space* space, const query_list* list )
{
    return !query_calls( list ) && list->count >= SPACE_SHARED_QUERIES &&
        task_worker_count( &space->tasks ) > 1;
}

/// A list on its way.
typedef struct query_job
{
    query_scene scene;
    const query_list* list;
    query_mode mode;
    uint32_t k;
    double max_distance;
    void* hits;        ///< one or k for each query; or all
    uint64_t* offsets; ///< all
    uint64_t capacity; ///< likewise, of hits
    uint64_t count;    ///< likewise, of hits that there are
    clv_query_visitor* visitor;
    clv_query_visitor64* visitor64; ///< or this
    void* user;
    uint64_t seen[3]; ///< of a tap: what visitors saw, and of which query last

    const base_keyed* order; ///< in which one-hit lists are gone through; NULL: as they come

    uint32_t first_piece;             ///< of this round
    void* waiting;                    ///< SPACE_PIECE_HITS for each piece of a round, or none
    uint64_t room;                    ///< SPACE_PIECE_HITS, or none
    bool is_over[SPACE_ROUND_PIECES]; ///< its hits did not fit
} query_job;

/// Hits are clv_hit or clv_hit64, as the list has them.
static inline void* space_hit_at( const query_list* list, void* hits, uint64_t index )
{
    return (char*)hits + index * query_hit_size( list );
}

/// Where the hits of a piece of this round wait; NULL where there is no room for any.
static inline void* space_waiting_hits( const query_job* job, uint32_t index )
{
    CLV_ASSERT( index < SPACE_ROUND_PIECES );
    return job->waiting != NULL ? space_hit_at( job->list, job->waiting, (uint64_t)index * SPACE_PIECE_HITS )
                                : NULL;
}

/// The queries of one piece, and how many pieces there are.
static inline void space_piece_range( const query_job* job, uint32_t piece, uint32_t* first, uint32_t* end )
{
    uint32_t count = job->list->count;
    *first = piece * SPACE_PIECE_QUERIES;
    CLV_ASSERT( *first < count );
    *end = count - *first < SPACE_PIECE_QUERIES ? count : *first + SPACE_PIECE_QUERIES;
}

/// Piece `index` of this round, and where its hits wait.
static inline void* space_round_piece( const query_job* job, uint32_t index, uint32_t* first, uint32_t* end )
{
    space_piece_range( job, job->first_piece + index, first, end );
    return space_waiting_hits( job, index );
}

static inline uint32_t space_query_pieces( const query_job* job )
{
    return job->list->count / SPACE_PIECE_QUERIES + ( job->list->count % SPACE_PIECE_QUERIES > 0 ? 1 : 0 );
}

/// Without room for hits that wait every piece is searched twice, which is all that a lack of memory does
/// here.
void clv_space_reserve_waiting( clv_space* space, query_job* job, uint32_t pieces );

// ---- room for the hits of one query at a time, however many there are

/// Hits of one query: a few on the stack, many in memory of the space's.
typedef struct hit_room
{
    clv_space* space;
    size_t hit_size;
    void* hits;
    uint64_t capacity;
    clv_hit64 few[SPACE_FEW_HITS]; ///< the larger of the two kinds of hits
} hit_room;

void clv_space_room_open( hit_room* room, const clv_space* space, const query_list* list );
void clv_space_room_close( hit_room* room );

/// Room for so many; what was in it is lost. False if out of memory.
bool clv_space_room_widen( hit_room* room, uint64_t needed );

/// All hits of one query, and how many they are. False if out of memory.
bool clv_space_room_find(
    hit_room* room, const query_scene* scene, const query_list* list, uint32_t index, uint64_t* count );
