// SPDX-License-Identifier: MIT
// A search cut into numbered pieces, each of which puts its pairs into a sink of its own; the sinks are
// joined in order of number. With one worker the pieces write straight to the caller's sink, so that one
// thread pays nothing for many.
#pragma once

#include "base/array.h"
#include "pair/sink.h"
#include "task/task.h"

/// One piece: find its pairs, put them into `sink`, add to *test_count. Returns what the sink said. Pure: it
/// may be called again for the same piece, and must then put the same pairs in the same order.
typedef clv_result task_search(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context );

typedef struct task_gather_piece
{
    uint32_t first_chunk;
    uint32_t chunk_count;
    bool is_done;  ///< false: by a worker it could not be, since memory was short
    bool is_short; ///< of chunks
    uint64_t test_count;
    uint64_t pair_count;
    uint64_t first_pair; ///< where its pairs go, while they are joined
    uint32_t next;       ///< the next one that its worker has found and not joined
} task_gather_piece;

typedef struct task_chunk
{
    clv_pair pairs[511];  ///< with what follows, a page
    uint32_t count, next; ///< pairs that are there; the next chunk of the same piece
} task_chunk;

/// Memory of the pieces' sinks, kept from frame to frame: chunks that any piece may take.
typedef struct task_gather
{
    BASE_ARRAY( task_chunk ) chunks;
    BASE_ARRAY( task_gather_piece ) pieces;
    uint64_t wanted_chunks; ///< what the last good run could have used
    bool is_alone;          ///< the piece that runs is the calling thread's, and may take memory

    /// The caller's: a permutation of the pieces, the order in which workers take them where all are run at
    /// once. NULL: in order of number. Where pairs go is a matter of the number alone.
    const uint32_t* turns;

    /// The caller's: NULL, or &clv_task_gather_early: workers take pieces in order of number, join each as
    /// soon as its place is known, while its pairs are in their caches, and use its chunks again. For pieces
    /// of about as much work each.
    const struct gather_early* early;
    BASE_ARRAY( struct gather_mark ) marks; ///< of the pieces, and one behind the last
} task_gather;

extern const struct gather_early clv_task_gather_early;

/// All pairs of all pieces into `sink`, in order of piece. Pieces that run out of chunks stop. The caller
/// makes the list larger, takes more chunks, by what the other pieces needed, and all workers run them
/// again. There are never many more chunks than the sink has room for, so a sink with a limit is not buried
/// before it can say so, and for a visitor pieces are run and joined in several rounds. What is left then,
/// or where memory for chunks is short, is searched by the calling thread, straight into `sink`, when its
/// turn comes: that costs time alone. CLV_OUT_OF_MEMORY (for the list of pieces), or what the sink said; it
/// is not asked again then.
clv_result clv_task_gather_run( task_gather* gather, base_memory* memory, task_runner* tasks,
    uint32_t piece_count, task_search* search, void* context, clv_pair_sink* sink, uint64_t* test_count );

/// The same where pieces may turn out to have been in vain: what they found is joined only if is_good(
/// context ) says so after all of them have run. False if it did not, or there were not enough chunks to run
/// them all at once: then nothing was put, and the caller has other pieces run. *result is what the sink
/// said. Without is_good it is as above, and true.
bool clv_task_gather_try( task_gather* gather, base_memory* memory, task_runner* tasks, uint32_t piece_count,
    task_search* search, bool ( *is_good )( void* context ), void* context, clv_pair_sink* sink,
    uint64_t* test_count, clv_result* result );

/// Back to no memory at all.
void clv_task_gather_release( task_gather* gather, base_memory* memory );
