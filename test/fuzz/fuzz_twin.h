// SPDX-License-Identifier: MIT
// Two spaces of one method led through the same calls: one as the input chose it, out of memory now and then
// and called with hostile floating-point modes; the other plain and scalar. The model judges both; their
// lists must have one order.
#pragma once

#include "cleave/cleave.h"
#include "fuzz_heap.h"
#include "fuzz_model.h"

#define FUZZ_BATCH 512

typedef enum fuzz_kind
{
    FUZZ_ADD,
    FUZZ_MOVE,
    FUZZ_REMOVE,
    FUZZ_USER_DATA,
    FUZZ_MARGIN,
    FUZZ_FILTER,
    FUZZ_STATIC,
    FUZZ_REFILTER,
    FUZZ_UPDATE,
    FUZZ_VISIT,
    FUZZ_SHRINK,
} fuzz_kind;

/// A call on a space, with more room for each argument than a batch needs.
typedef struct fuzz_call
{
    fuzz_kind kind;
    uint32_t count;
    uint32_t stride; ///< of the boxes; 0: as an array
    bool one_by_one; ///< through the calls for one object, where count is 1
    bool stops;      ///< the visitor answers false
    clv_id ids[FUZZ_BATCH];
    clv_aabb boxes[FUZZ_BATCH];
    uint64_t values[FUZZ_BATCH];
    float margins[FUZZ_BATCH];
    clv_filter filters[FUZZ_BATCH];
    bool statics[FUZZ_BATCH];
} fuzz_call;

/// What a call must answer.
typedef struct fuzz_answer
{
    clv_result code;
    uint32_t position; ///< of the bad entry; UINT32_MAX: none
    clv_id id;
} fuzz_answer;

typedef struct fuzz_side
{
    clv_space* space;
    fuzz_heap heap;
    uint32_t salt;
    uint64_t ask_count;
    bool stops;
    clv_id new_ids[FUZZ_BATCH];
    clv_pair* visited;
    uint64_t visited_count, visited_capacity;
} fuzz_side;

typedef struct fuzz_twin
{
    fuzz_model* model;
    fuzz_side sides[2]; ///< as chosen; scalar
    bool
        hostile_modes; ///< flush to zero, denormals are zero, another rounding, around every call of the first
    bool was_refused;  ///< memory, during the last call
    bool lost_step; ///< an update of the first failed and was made again: what a method carries on may differ
    char* packed;   ///< boxes at another stride
} fuzz_twin;

/// Two spaces of that def; the first on `isa`. The first `refuse_after` allocations of the first attempt
/// succeed.
void fuzz_twin_open( fuzz_twin* twin, const clv_space_def* def, clv_isa isa, uint32_t refuse_after );

/// Nothing may be left in either heap.
void fuzz_twin_close( fuzz_twin* twin );

/// Make the call on both; each must give the answer. Out of memory, the first must be as it was and is asked
/// again.
void fuzz_twin_call( fuzz_twin* twin, fuzz_call* call, fuzz_answer answer );

void fuzz_twin_clear( fuzz_twin* twin );
void fuzz_twin_set_salt( fuzz_twin* twin, uint32_t salt );

/// Everything a caller can see of the objects is as the model has it.
void fuzz_twin_check_objects( const fuzz_twin* twin );

/// Lists and events, against the model's search (not yet committed): same pairs, and one order.
void fuzz_twin_check_update( const fuzz_twin* twin );

/// The same for what the visitors saw.
void fuzz_twin_check_visit( const fuzz_twin* twin );
