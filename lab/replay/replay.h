// SPDX-License-Identifier: MIT
// A recording played and judged: against its own answers, or against brute force call by call.
#pragma once

#include "lab/frame/frame_source.h"
#include "lab/measure/judge.h"
#include "lab/replay/player.h"

typedef struct replay_def
{
    clv_space_def as;   ///< method, settings, instruction set, workers
    clv_space_def twin; ///< brute force
    bool is_numbered;
    bool with_twin;  ///< judged by brute force,
    bool with_order; ///< and by the recorded answers, those about the order of pairs too
    bool with_answers;
    bool shows_progress;
} replay_def;

typedef struct replay_report
{
    bool differs;
    bool by_twin;      ///< from brute force, not from the recorded answer
    uint64_t call;     ///< the first call whose answer differs
    char what[256];    ///< in what
    uint64_t played;   ///< calls made
    uint64_t skipped;  ///< calls that had run out of memory
    uint64_t compared; ///< answers
    bool has_pair;     ///< the first pair that differs from brute force,
    verdict_difference pair;
    clv_aabb boxes[2]; ///< and its boxes, in float
} replay_report;

/// False only if the recording cannot be played so, with the sentence.
bool replay_run( const recording* source, const replay_def* def, replay_report* report, lab_error* why );

/// Brute force as a def for `twin`.
clv_space_def replay_brute( void );

/// The same recording with its objects numbered, so that calls and objects can be left out of it. Calls that
/// no longer matter (after `last`) are left out. False if it cannot be played on brute force.
bool recording_number_objects( const recording* source, uint64_t last, recording* out, lab_error* why );

/// The settings alone, without a call.
void recording_copy_head( const recording* source, recording* out );

/// Plays a numbered recording on brute force and writes it down again, with brute force's answers, to be
/// played with its own method and settings.
bool recording_write( const recording* source, const char* path, lab_error* why );

/// The fewest calls and objects of a recording that still differ from brute force, in `out`. False, with the
/// sentence, if it does not differ.
bool recording_shrink( const recording* source, const clv_space_def* as, recording* out, lab_error* why );

/// A C program that makes the calls and fails while the answers are not brute force's.
bool recording_write_c( const recording* source, const char* from, const char* path, lab_error* why );

// ---- A recording as frames of a scene, to be looked at.

/// A frame per update, a box per object that ever was; one that is not there yet, or no more, is a point
/// where it was first, or last. False with the reason.
bool recording_frames_open( frame_source* source, const char* path, lab_error* why );
