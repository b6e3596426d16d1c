// SPDX-License-Identifier: MIT
// What a space should answer, found the slow way from the public rules alone: no code of the library takes
// part.
#pragma once

#include "support.h"

typedef struct oracle_object
{
    bool alive;
    clv_id id; ///< of the one that lives here, or lived here last; null if none ever did
    clv_aabb box;
    float margin; ///< the fixed part
    float by_size, by_speed;
    clv_vec3 motion; ///< of the next update
    clv_filter filter;
    bool is_static;
    uint64_t user_data;
} oracle_object;

/// Stands for the def's filter callback: decides by what two objects carry.
typedef bool oracle_accept( uint64_t user_data_a, uint64_t user_data_b );

/// What an object carried when it went.
typedef struct oracle_gone
{
    clv_id id;
    uint64_t user_data;
} oracle_gone;

typedef struct oracle
{
    float margin, by_size, by_speed; ///< the def's
    bool sorted;
    bool events;
    bool skip_static_pairs;
    oracle_accept* accept; ///< NULL: no callback

    oracle_object* objects; ///< by slot
    uint32_t slot_count;
    uint32_t slot_capacity;
    uint32_t object_count;

    clv_pair* pairs;       ///< sorted
    clv_id_pair* id_pairs; ///< the same pairs by identity
    uint64_t pair_count;
    uint64_t set_hash; ///< of the pairs
    uint64_t candidate_count;
    uint64_t update_count;
    clv_id_pair* begun;
    uint64_t begun_count;
    clv_id_pair* ended;
    uint64_t ended_count;
    clv_user_pair* begun_user; ///< beside them
    clv_user_pair* ended_user;
    oracle_gone* gone; ///< since the last update
    uint32_t gone_count, gone_capacity;
} oracle;

/// An empty world with the def's rules.
void oracle_open( oracle* world, const clv_space_def* def, oracle_accept* accept );
void oracle_close( oracle* world );

/// Notes an object the library gave this id. Fails the test if the slot is taken or the generation was seen
/// before.
void oracle_add( oracle* world, clv_id id, clv_aabb box );
void oracle_remove( oracle* world, clv_id id );
void oracle_clear( oracle* world );

oracle_object* oracle_find( oracle* world, clv_id id );

/// A living object picked by chance. There is one.
clv_id oracle_pick( const oracle* world, test_random* random );

/// Up to `count` different living objects in random order; how many there were.
uint32_t oracle_pick_some( const oracle* world, uint32_t count, clv_id* ids, test_random* random );

/// The box to be tested, by the definitions in the headers.
clv_aabb oracle_test_box( const oracle_object* object );

/// Find all pairs, and what changed since the last time. Motions are spent.
void oracle_update( oracle* world );

/// Fails the test, naming the first pair that differs, unless the space tells the same.
void oracle_check( const oracle* world, const clv_space* space );

/// The same for ids, boxes and what else objects carry.
void oracle_check_objects( const oracle* world, const clv_space* space );
