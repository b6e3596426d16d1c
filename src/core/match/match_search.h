// SPDX-License-Identifier: MIT
#pragma once

#include "match/match_ranks.h"

enum
{
    MATCH_CHUNK = 4096, // pairs a visitor sees at once, at most
    MATCH_FEW = 512,    // hosts or guests up to which both are swept, as a rule
};

typedef struct match_search
{
    const match_world* world;
    base_memory* memory;
    bool is_between;      ///< the first set and the second; else all of them
    uint32_t first_count; ///< regions of the first set
    uint32_t few;         ///< MATCH_FEW, or what the caller says
    clv_pair_visitor* visitor;
    void* user;
    uint64_t visited;    ///< pairs that the visitor saw
    uint64_t test_count; ///< regions compared with each other
    uint32_t waiting;    ///< pairs that it has not seen yet
    uint32_t* stack;     ///< lists of places, those of a call behind those of its caller
    uint64_t stack_count, stack_capacity;
    clv_pair pairs[MATCH_CHUNK];
} match_search;

/// Every overlapping pair to the visitor: CLV_OK, CLV_STOPPED or CLV_OUT_OF_MEMORY.
clv_result clv_match_run( match_search* search );
