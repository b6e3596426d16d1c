// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/types.h"

// Regions of one to eight axes: which of them overlap? That is the matching of regions of interest in
// distributed simulations (publishers and subscribers), of intervals in time, of boxes in space and time. No
// space, no ids, nothing kept: arrays in, pairs out.
//
//   clv_match_def def = clv_default_match_def();
//   def.axis_count = 4;                                   // x, y, z and time
//   clv_regions mine = { lower, upper, 4 * sizeof( double ), count };
//   clv_match_regions( &def, mine, visitor, user, NULL ); // each overlapping pair once, a < b
//
// Regions are closed (touching counts), infinities are legal, NaN and lower > upper are not: as boxes are
// everywhere in the library. Coordinates are doubles and only compared, so whole numbers up to 2^53 are as
// good.
//
// Cost: n log^d n + k for d axes and k pairs, whatever the regions look like: no world is quadratic. Many
// axes that each tell little apart come close to brute force all the same. Memory: 8 d + 36 bytes a region,
// and lists for the search. One thread. Any number of threads may call at once, each with arrays of its own.

/// Most axes.
#define CLV_MATCH_AXES 8

/// Corner i of kind lower begins `stride` bytes after corner i - 1, and has axis_count doubles.
typedef struct clv_regions
{
    const double* lower;
    const double* upper;
    size_t stride; ///< bytes, at least 8 * axis_count, and a multiple of 8
    uint32_t count;
} clv_regions;

/// Start from clv_default_match_def and change what you need.
typedef struct clv_match_def
{
    uint32_t size;           ///< sizeof( clv_match_def ), set by the default function
    uint32_t cookie;         ///< proof that the default function was called
    uint32_t axis_count;     ///< from 1 to CLV_MATCH_AXES; default 3
    clv_allocator allocator; ///< zero: the C library's
    clv_logger logger;       ///< zero: silence
} clv_match_def;

CLV_API clv_match_def clv_default_match_def( void );

/// Every two regions that overlap, once each and a < b, in chunks. The order is a function of the arguments
/// alone. CLV_BAD_DEF; CLV_BAD_ARGUMENT for a stride or a count (above CLV_MAX_OBJECTS); CLV_BAD_BOX;
/// CLV_OUT_OF_MEMORY; CLV_STOPPED if the visitor returned false. All but the last two come before the first
/// pair. `error` may be NULL; it tells the position of the region to blame, and for CLV_OUT_OF_MEMORY and
/// CLV_STOPPED the number of pairs visited so far. The reason goes to the def's logger.
CLV_API clv_result clv_match_regions(
    const clv_match_def* def, clv_regions regions, clv_pair_visitor* visitor, void* user, clv_error* error );

/// Every overlap of a region of `a` with a region of `b`: pairs of an index in `a` and an index in `b`, in
/// this order, whichever is the smaller. Answers as above; both counts together stay at most CLV_MAX_OBJECTS,
/// and a bad region of `b` has the position a.count + its index.
CLV_API clv_result clv_match_between( const clv_match_def* def, clv_regions a, clv_regions b,
    clv_pair_visitor* visitor, void* user, clv_error* error );
