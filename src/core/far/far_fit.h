// SPDX-License-Identifier: MIT
// Which map serves a world of doubles: plain distances from one origin while these tell boxes apart, cells
// where they do not. Decided by counting, before the search: a sample of the boxes shows how many pairs the
// map would let through in vain.
#pragma once

#include "far/far_map.h"

typedef struct far_fit
{
    far_map map;
    bool is_made;   ///< a map was chosen; before, everything is at its distance from 0
    bool has_cells; ///< the map's
    /// pairs in vain, in a sample, that the map's cells could not help when they were new
    uint64_t allowance;
    uint64_t change_count;  ///< boxes that came, or changed, since the map was last judged
    uint32_t plain_wait;    ///< judgements until plain distances are tried again in place of cells
    uint32_t plain_penalty; ///< how long that is
    uint32_t cells_wait;    ///< searches until cells that serve badly are made anew
    uint32_t cells_penalty; ///< how long that is
    bool is_wasteful;       ///< the last search found far more in vain than it should
    void* sample;           ///< sampled boxes, and what they are mapped to
    uint64_t sample_bytes;
} far_fit;

typedef enum far_verdict
{
    FAR_SAME,      ///< the map stays
    FAR_NEW,       ///< another map: every box is to be mapped again
    FAR_NO_MEMORY, ///< the map stays, and was not judged
} far_verdict;

/// Have enough of so many boxes changed that the map is to be judged?
bool clv_far_fit_is_due( const far_fit* fit, uint32_t count );

/// Before a search, if it is due: about two tests per box, and a sort where cells are made.
far_verdict clv_far_fit_choose( far_fit* fit, const far_crowd* crowd, base_memory* memory );

/// After a search: how many pairs of the floats touch in double, and how many do not.
void clv_far_fit_learn( far_fit* fit, uint32_t object_count, uint64_t touching, uint64_t in_vain );

/// Every box moved by `-offset`; the map goes along, so that what moved exactly is mapped to what it was.
void clv_far_fit_shift( far_fit* fit, clv_vec64 offset );

/// Gives back what only judging needs.
void clv_far_fit_shrink( far_fit* fit, base_memory* memory );

void clv_far_fit_free( far_fit* fit, base_memory* memory );
