// SPDX-License-Identifier: MIT
// Whether to follow a world at rest or to search it anew, by counters and constants alone: what is chosen is
// a function of the boxes so far. A wrong choice costs time, and is the rarer the longer it lasts.
#pragma once

#include "rest/rest_world.h"

enum
{
    REST_SAMPLES = 512
};

typedef enum rest_choice
{
    REST_NEVER,
    REST_ALWAYS,
    REST_BY_COST,
} rest_choice;

typedef enum rest_advice
{
    REST_SEARCH,   ///< search all boxes
    REST_REMEMBER, ///< likewise, and remember them: the next advice may be to enter
    REST_ENTER,
} rest_advice;

typedef struct rest_mode
{
    rest_choice choice;
    uint32_t least; ///< objects below which searching is as quick
    uint32_t wait;  ///< updates for which the last end of rest still counts
    uint32_t waited;
    uint32_t next_wait;
    uint32_t stay; ///< updates at rest this time
    uint64_t pair_count;
    uint64_t cost;       ///< of following, averaged
    uint64_t saved;      ///< what searching would have cost more than following this time, in all
    uint32_t hold;       ///< updates since a sample promised rest; 0: none did
    uint32_t remembered; ///< updates since all boxes were remembered, for entering; 0: they are not

    uint32_t age;       ///< of the sample, in updates; 0: there is none
    uint32_t shift_age; ///< at which `shifts` were noted
    bool is_first;      ///< of the space
    uint32_t sample_count;
    uint32_t slots[REST_SAMPLES];
    clv_aabb boxes[REST_SAMPLES];
    float margins[REST_SAMPLES];
    float shifts[REST_SAMPLES]; ///< from where each was sampled
} rest_mode;

void clv_rest_mode_init( rest_mode* mode, rest_choice choice, uint32_t least );

/// While the world is not followed.
rest_advice clv_rest_mode_advise( rest_mode* mode, const clv_method_input* input );

/// A search, or entering, gave so many pairs.
void clv_rest_mode_note_pairs( rest_mode* mode, uint64_t pair_count );

/// The last update failed in the end, and how many pairs it noted depends on where it was stopped. A world of
/// which that is all that is known is searched.
void clv_rest_mode_note_failure( rest_mode* mode );

/// Most objects that may be refitted in one update before a search would have been quicker.
uint64_t clv_rest_mode_limit( const rest_mode* mode, const clv_method_input* input );

/// After an update at rest: false if searching promises to be quicker from now on.
bool clv_rest_mode_review( rest_mode* mode, const rest_world* world, uint32_t object_count );

/// Rest has ended, or could not be entered. If following saved less than entering cost, the wait is twice as
/// long as last time: a while without a thought of rest, then one in which much must be promised.
void clv_rest_mode_note_end( rest_mode* mode, uint32_t object_count );
