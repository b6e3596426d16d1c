// SPDX-License-Identifier: MIT
// Boxes go in pieces, each by one worker, to slabs or blocks, each searched by one worker later. In between
// lies a segment of records for each piece and target, as wide as the last update and a guess at this one ask
// for: so the records are made and put in one pass, and only pieces that overflow are redone with more room.
#pragma once

#include "base/array.h"
#include "engine/cell.h"
#include "task/task.h"

enum
{
    SEGMENTS_PIECES = 64 // at most
};

typedef struct engine_segments
{
    BASE_ARRAY( cell_segment ) list;    ///< by piece, in a piece by target
    uint32_t target_count, piece_count; ///< 0: none yet
    BASE_ARRAY( cell_record ) records;
    uint64_t room;                  ///< records that all segments have room for
    uint32_t layout_number;         ///< another one when segments were made wider
    bool is_over[SEGMENTS_PIECES];  ///< by piece: more came than some segment had room for
    bool is_tight[SEGMENTS_PIECES]; ///< likewise: more may come in the next update
} engine_segments;

/// The records of a piece to its segments, one for each target: counted there, and put where there is room.
typedef void segments_put(
    uint32_t piece, uint32_t worker, cell_segment* segments, cell_record* records, void* context );

/// All pieces. False if out of memory; the next call starts afresh.
bool clv_engine_segments_fill( engine_segments* segments, base_memory* memory, task_runner* tasks,
    uint32_t target_count, uint32_t piece_count, segments_put* put, void* context );

/// Records of a target, of all pieces.
uint32_t clv_engine_segments_count( const engine_segments* segments, uint32_t target );

/// Records of a target, of all pieces one after the other, into memory of the worker that needs them. Returns
/// how many.
uint32_t clv_engine_segments_bring( const engine_segments* segments, uint32_t target, cell_record* records );

void clv_engine_segments_release( engine_segments* segments, base_memory* memory );
