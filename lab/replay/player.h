// SPDX-License-Identifier: MIT
// A recording made again on a space: call after call, each with the answer it gave.
#pragma once

#include "lab/replay/recording.h"

/// Ids of a recording whose objects are numbered in the order in which they came (recording_number_objects):
/// the number, and this in place of a generation. What was no object when it was named keeps its id.
#define PLAYER_OBJECT UINT32_MAX

typedef struct replay_player
{
    space_tap tap; ///< first: listens to its own space, as a recorder would
    const recording* source;
    clv_space* space;
    char reason[256]; ///< what the space's logger said last

    const recorded_call* under_way;
    space_call open;
    record_hash shown;
    record_answer answer;
    bool has_answer;
    uint64_t next_decision; ///< callbacks are asked in the recorded order, as a rule
    bool asked_unknown;     ///< a callback was asked about what the recording knows nothing of

    bool is_numbered; ///< ids of the source are numbers of objects
    clv_id* objects;  ///< by number: ids in this space; null: not there
    uint64_t object_count;
    uint32_t* numbers; ///< by slot: the object there
    uint64_t slot_room;

    clv_id* made; ///< of the call under way
    uint64_t made_room;
    void* hits;
    uint64_t* offsets;
} replay_player;

/// A space as the recording's, with the method, instruction set, workers and settings of
/// `def`. False with a reason.
bool player_begin( replay_player* player, const recording* source, const clv_space_def* def, bool is_numbered,
    lab_error* why );
void player_end( replay_player* player );

/// Makes the call. False, with the sentence, only if it cannot be made at all; otherwise `answer` is its
/// answer.
bool player_play( replay_player* player, const recorded_call* call, record_answer* answer, lab_error* why );

/// An object's box in float, whatever it was added as; `none` where there is no such object.
clv_aabb player_box( const clv_space* space, clv_id id, clv_aabb none );

/// Is it worth making? One that ran out of memory changed nothing.
bool player_can_play( const recorded_call* call );

/// Do two answers to a call differ? Then `what` says in what. Order is compared only if asked for.
bool answers_differ( const recorded_call* call, const record_answer* expected, const record_answer* found,
    bool with_order, char* what, size_t size );
