// SPDX-License-Identifier: MIT
// What a query uses of a space: the scene of its last good update, its workers if they are free, and its
// memory under a lock. Several threads may ask at once; one that changes the space may not.
#pragma once

#include "space/space_internal.h"

/// Queries read a space, and yet the first of them makes the structure: that part of it has a lock.
static inline clv_space* space_unlocked( const clv_space* space )
{
    clv_space* mutable;
    memcpy( &mutable, &space, sizeof( mutable ) );
    return mutable;
}

/// From here to `space_stop_reading` hooks and callbacks may be called, and what would change the space is
/// refused.
static inline void space_start_reading( clv_space* space )
{
    atomic_fetch_add_explicit( &space->query.reader_count, 1, memory_order_relaxed );
}

static inline void space_stop_reading( clv_space* space )
{
    atomic_fetch_sub_explicit( &space->query.reader_count, 1, memory_order_relaxed );
}

/// The space's workers, for the first caller; the others work alone. space_give_workers ends it.
task_runner* clv_space_take_workers( clv_space* space, task_runner* alone );

static inline void space_give_workers( clv_space* space, const task_runner* taken )
{
    if ( taken == &space->tasks )
    {
        atomic_flag_clear_explicit( &space->query.workers_are_out, memory_order_release );
    }
}

/// What there is to ask about, ready. An empty scene before the first update. CLV_BUSY, CLV_UNSUPPORTED where
/// the space is of another kind, CLV_OUT_OF_MEMORY or CLV_STALE.
clv_result clv_space_open_scene( const clv_space* asked, space_kind kind, query_scene* scene );
