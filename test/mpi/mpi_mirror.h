// SPDX-License-Identifier: MIT
// A world on some of the processes of MPI_COMM_WORLD, and the same world by brute force in one clv_space on
// every process: each step is made in both, and each good update compared, pairs and events and owners and
// payloads. Every process throws the same dice, also those that are not among the active ones, which are the
// first ones.
#pragma once

#include "mpi_support.h"

enum
{
    MIRROR_MOST = 900,
    MIRROR_USUAL = 300,
};

/// How boxes lie.
typedef enum mpi_crowd
{
    WORLD_SPREAD,
    WORLD_FLAT,
    WORLD_SLAB, ///< thin along x
    WORLD_GIANTS,
    WORLD_INFINITE,
    WORLD_LINE,
    WORLD_SPOT,
    WORLD_EQUAL, ///< at seven places, touching faces
    WORLD_FAR_AWAY,
    WORLD_CLUSTERS,
    WORLD_CROWDS
} mpi_crowd;

/// How a world is made.
typedef struct mpi_way
{
    mpi_crowd kind;
    uint32_t most; ///< objects at a time, up to MIRROR_MOST; 0: MIRROR_USUAL
    bool borrowed, is_quiet, skips_static, asks, trusts;
    bool is_plain; ///< for the fuzzer: quiet, and nothing but boxes
    bool refuses;  ///< memory for calls, now and then
    uint32_t wide, workers;
    clv_mpi_cutter cutter;
    float margin;
    const char* method;
} mpi_way;

typedef struct mpi_mirror
{
    mpi_way how;
    uint32_t most;
    int active_count;
    MPI_Comm active;      ///< MPI_COMM_NULL on the others
    clv_mpi_space* space; ///< NULL on the others
    clv_space* judge;
    mpi_dice dice;
    mpi_purse purse;
    uint64_t next_id;
    uint64_t ids[MIRROR_MOST];
    clv_id judge_ids[MIRROR_MOST];
    clv_aabb boxes[MIRROR_MOST];
    bool is_there[MIRROR_MOST];
    bool is_new[MIRROR_MOST];       ///< since the last good update
    uint64_t tags[MIRROR_MOST];     ///< what the owner's payload must say
    uint64_t own_tags[MIRROR_MOST]; ///< what it says
    bool is_fresh;                  ///< nothing changed since the last good update
} mpi_mirror;

mpi_mirror* mpi_mirror_open( const mpi_way* how, uint64_t seed, int active_count );
void mpi_mirror_close( mpi_mirror* w );

/// Ends the space on the active processes, and makes an empty one on other ones.
void mpi_mirror_restart( mpi_mirror* w, int active_count );

/// The result of every process; all active ones must have the same.
clv_result mpi_mirror_agree( clv_result mine, bool is_active );

// Steps; the calls must succeed.

void mpi_mirror_add( mpi_mirror* w, uint32_t count );
void mpi_mirror_move( mpi_mirror* w, uint32_t percent, float far );
void mpi_mirror_remove( mpi_mirror* w, uint32_t percent );
void mpi_mirror_dress( mpi_mirror* w, uint32_t what ); ///< filters, hints, margins, motions: 0 to 3

/// An update that must be good, compared with the judge's.
void mpi_mirror_update( mpi_mirror* w );

/// One that may be refused memory on a process; true if it was good, and then the judge's was made too.
bool mpi_mirror_try_update( mpi_mirror* w, int refused_rank, uint64_t refused_at );

/// Questions that every active process asks, answered as the judge does; CLV_STALE where that is the answer.
void mpi_mirror_ask( mpi_mirror* w );

clv_result mpi_mirror_save( mpi_mirror* w, const char* path );
clv_result mpi_mirror_load( mpi_mirror* w, const char* path );

/// What the last call complained about, on active processes.
const char* mpi_mirror_text( const mpi_mirror* w );
