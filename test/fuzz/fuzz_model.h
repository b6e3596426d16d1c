// SPDX-License-Identifier: MIT
// What a space must answer, from the public rules alone and in O(n^2): no code of the library takes part.
#pragma once

#include "cleave/types.h"

#define FUZZ_SLOTS 2304

typedef struct fuzz_object
{
    bool alive;
    clv_id id; ///< of the object that lives here, or lived here last
    clv_aabb box;
    float margin;
    clv_filter filter;
    bool is_static;
    bool ask; ///< the callback must be asked about its pairs
    uint64_t user_data;
} fuzz_object;

/// Pairs with what the callback said; sorted by slot.
typedef struct fuzz_list
{
    clv_id_pair* pairs;
    bool* allowed;
    uint64_t count;
    uint64_t capacity;
} fuzz_list;

typedef struct fuzz_model
{
    clv_space_def def;
    fuzz_object objects[FUZZ_SLOTS];
    uint32_t slot_count;
    uint32_t object_count;
    bool removed_any;    ///< since it was new or cleared: slots are no longer given out in order
    uint32_t salt;       ///< what the callback's answers depend on
    fuzz_list asked;     ///< decisions of the last good update: what the filters let through
    fuzz_list last_good; ///< pairs of the last good update
    bool list_is_valid;
    uint64_t update_count;

    // Of the search just made.
    fuzz_list next_asked;
    fuzz_list now;
    uint64_t ask_count; ///< times the callback had to be asked
    uint64_t candidate_count;
    uint64_t test_count; ///< all searches together
} fuzz_model;

fuzz_model* fuzz_model_open( const clv_space_def* def );
void fuzz_model_close( fuzz_model* model );

bool fuzz_box_is_valid( const clv_aabb* box );
bool fuzz_model_is_live( const fuzz_model* model, clv_id id );

/// The callback's answer, now.
bool fuzz_accepts( uint64_t user_data_a, uint64_t user_data_b, uint32_t salt );

/// Notes an object that was given this id, which no object had before.
void fuzz_model_add( fuzz_model* model, clv_id id, clv_aabb box );
void fuzz_model_remove( fuzz_model* model, clv_id id );
void fuzz_model_clear( fuzz_model* model );

/// Fills `now`. A visit remembers no answers and asks about every pair.
void fuzz_model_search( fuzz_model* model, bool remembers );

/// What was searched becomes the last good list.
void fuzz_model_commit( fuzz_model* model );
