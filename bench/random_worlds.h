// SPDX-License-Identifier: MIT
// Random worlds to look for slow cases in: a maker of boxes (kind), something added to them (extra) and a
// motion, each a row of a table. A world is a function of its seed, kind and range of sizes alone, and so is
// each of its frames.
#pragma once

#include "cleave/world.h"
#include "math/splitmix.h"

#include <stdbool.h>
#include <stdint.h>

/// What is asked of a world: which kind and motion, how large. RANDOM_WORLD_ANY leaves the choice to the
/// seed.
typedef struct random_world_def
{
    uint64_t seed;
    int kind, motion;
    uint32_t count_least, count_most;
} random_world_def;

#define RANDOM_WORLD_ANY ( -1 )

typedef struct random_world
{
    uint64_t seed;
    int kind, extra, motion;
    uint32_t count;
    clv_aabb64* base;  ///< as made
    clv_aabb64* boxes; ///< as of the last random_world_show
    bool* alive;       ///< likewise; a box may be absent for some updates

    // What motions go by. Places and extents are those of the boxes without the outermost twentieth.
    double middle[3], extent[3];
    int axes[3];      ///< by extent, the longest first
    double amount;    ///< from 0 to 1, drawn once
    double way[3];    ///< a direction; half of the time along the longest axis
    double centre[3]; ///< that boxes move towards or away from
} random_world;

int random_world_kind_count( void );
const char* random_world_kind( int kind );   ///< its name; NULL beyond the last
const char* random_world_extra( int extra ); ///< likewise
const char* random_world_motion( int motion );

/// Makes the boxes; false if out of memory. To be freed in either case; all but the boxes can be read
/// afterwards.
bool random_world_make( random_world* world, const random_world_def* def );
void random_world_free( random_world* world );

/// Sets `boxes` and `alive` to frame `update`.
void random_world_show( random_world* world, uint32_t update );

/// A number of the seed and these two alone.
uint64_t random_world_hash( uint64_t seed, uint64_t a, uint64_t b );
