// SPDX-License-Identifier: MIT
// Questions over processes. A question goes to the processes whose regions it reaches. There every object
// that reaches the region is known, as an own one or as a ghost; so whatever a question meets is found where
// they meet, perhaps by several, and the one who asked keeps each id once.
#pragma once

#include "base/array.h"
#include "cleave/mpi.h"
#include "cleave/space.h"
#include "mpi_regions.h"

typedef enum mpi_question
{
    ASK_ALL,
    ASK_ANY,
    ASK_CLOSEST,
    ASK_NEAREST,
} mpi_question;

/// A question for a process.
typedef struct mpi_errand
{
    int32_t to;
    uint32_t query;
} mpi_errand;

/// What came back.
typedef struct mpi_answer
{
    uint32_t query;
    clv_mpi_hit hit;
} mpi_answer;

/// A call on its way.
typedef struct mpi_asking
{
    const clv_queries* list;
    mpi_question mode;
    uint32_t k;          ///< nearest
    float max_distance;  ///< nearest
    bool is_first_round; ///< of two: only the process where the question begins is asked
} mpi_asking;

/// Arrays of calls, kept from one to the next.
typedef struct mpi_questions
{
    clv_space* nothing; ///< a space that is empty: it says what is wrong with a list, and finds nothing
    bool must_refresh;  ///< the space inside changed and changed back
    bool has_bounds;    ///< since the last update
    clv_aabb bounds;    ///< around all objects of all processes
    float wire
        [12]; ///< the same on its way: lower corners and upper ones with their signs turned, here and of all
    BASE_ARRAY( mpi_errand ) errands;
    BASE_ARRAY( mpi_errand ) sorted;
    BASE_ARRAY( float ) limits;       ///< per query: no farther than this; below 0: answered
    base_u64_array outbox, inbox;     ///< questions
    base_u64_array replies, replied;  ///< answers, of this process and to it
    BASE_ARRAY( clv_hit ) local;      ///< hits of a list inside
    base_u64_array local_offsets;     ///< of all
    BASE_ARRAY( mpi_answer ) answers; ///< in the order they came
    BASE_ARRAY( mpi_answer ) ordered; ///< by query, then by time or id
    base_u64_array offsets;           ///< of each query in `hits`
    BASE_ARRAY( clv_mpi_hit ) hits;   ///< likewise, each object once
} mpi_questions;

void clv_mpi_questions_free( mpi_questions* questions, base_memory* memory );

/// Bytes of an item; 0: a kind that does not travel.
size_t clv_mpi_query_size( clv_query_kind kind );

/// Errands there and answers back. Collective; `mine` is this process's result so far.
clv_result clv_mpi_query_round( clv_mpi_space* space, const mpi_asking* asking, clv_result mine );
