// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/geom.h"
#include "cleave/query.h"
#include "cleave/types.h"

#include <mpi.h>

// The library cleave-mpi: one space over many processes, with one answer. Link cleave::mpi (or -lcleave-mpi
// before -lcleave).
//
// Every process of a communicator hands over the boxes it owns, under 64-bit ids of the caller's. Space is
// cut into as many half-open regions as there are processes. An update sends each box to the processes whose
// regions it reaches, where it is a ghost; each process searches its own boxes and its ghosts with a
// clv_space; and each pair is reported by exactly one process, the one whose region holds the lower corner of
// the two boxes' overlap. The union of all lists is what one clv_space would list.
//
// Life of a frame, on every process: clv_mpi_space_move -> clv_mpi_space_update -> clv_mpi_space_pairs.
//
// Collective. Every function here that takes a non-const clv_mpi_space is to be called by all processes of
// the communicator, in the same order, with counts of their own, 0 included. All of them return the same
// result.
//
// Failure. What one process does wrong is an error on all: nothing changed anywhere, and clv_mpi_space_error
// names the rank, the position in its batch and the id. Out of memory on one process ends the call on all,
// and the next update works once there is memory again. A process that ends or hangs: calls on the others
// return CLV_LOST after the def's time_limit, or when MPI says so; from then on the space answers CLV_LOST to
// everything but destroy. Without a time limit it is as MPI does it: mpirun ends the job.
//
// The limit does not hold for what MPI has in one piece only: making and ending a communicator, which an
// update does when it has a letter for a stranger, and what Zoltan does.
//
// Threads. MPI must allow calls from the main thread (MPI_THREAD_FUNNELED or more); one thread at a time uses
// a clv_mpi_space. The clv_space inside may have workers.
//
// Cost. A steady update costs two small reductions, messages to the neighbours alone, and the search of own
// boxes and ghosts; a call of move one more. A box well inside its region costs six comparisons. Cutting anew
// costs about as much as two updates, and happens when the processes' work differs by more than the def
// allows, and has cost as much since the last cut.

/// A space over the processes of a communicator.
typedef struct clv_mpi_space clv_mpi_space;

/// What cuts space into regions.
typedef enum clv_mpi_cutter
{
    CLV_MPI_CUT_AUTO = 0,      ///< Zoltan where the library was built with it, else bisection
    CLV_MPI_CUT_ZOLTAN = 1,    ///< Zoltan's recursive coordinate bisection
    CLV_MPI_CUT_BISECTION = 2, ///< our own, which needs nothing
} clv_mpi_cutter;

/// Bytes of the caller's that follow an object to its next owner.
typedef struct clv_mpi_payload
{
    uint32_t size; ///< bytes per object; 0: none

    /// Called while an update is being made, on the process that gives the object away: write `size` bytes,
    /// and take nothing away yet. If the update fails the object stays, and it is asked again in the next.
    /// Called for every own object by clv_mpi_space_save.
    void ( *pack )( uint64_t id, void* bytes, void* user );

    /// Called at the end of a good update, on the new owner, after every pack of the same update there; and
    /// by clv_mpi_space_load.
    void ( *unpack )( uint64_t id, const void* bytes, void* user );
    void* user;
} clv_mpi_payload;

/// Asked whether an overlapping pair that passed the filters counts. Must be pure, and the same on all
/// processes: a pair may be asked about on another one in the next update, and is not asked about again where
/// it stays. a < b.
typedef bool clv_mpi_filter( uint64_t a, uint64_t b, void* user );

/// Settings, copied on create; the same on all processes but for space.worker_count, capacities, hooks and
/// users. Start from clv_default_mpi_def.
typedef struct clv_mpi_def
{
    uint32_t size;   ///< sizeof( clv_mpi_def ), set by the default function
    uint32_t cookie; ///< proof that the default function was called

    /// Of the space inside: method, settings, workers, margin, events, sorted, skip_static_pairs, allocator,
    /// logger, capacity. Its filter, max_pairs and pair_data must be left 0 (CLV_BAD_DEF), and so doubles and
    /// flat.
    clv_space_def space;

    bool borrowed;        ///< objects stay with the process that added them; only ghosts travel
    bool balance_by_time; ///< weigh processes by measured time; else by counters, so that runs repeat
    bool trust_ids;       ///< do not check over all processes that an added id is new

    /// CLV_BAD_DEF, with the field's name for the logger: imbalance of 0, below or NaN (infinity: never cut
    /// anew); wide of 0 (UINT32_MAX: none goes to all); time_limit below 0 or NaN.
    float imbalance;         ///< cut anew beyond this, once it pays: most work / mean work - 1; default 0.1
    uint32_t wide;           ///< boxes that reach more regions than this go to all at once; default 16
    clv_mpi_cutter cutter;   ///< what cuts space
    double time_limit;       ///< seconds to wait for other processes before CLV_LOST; 0: for ever
    clv_mpi_filter* filter;  ///< NULL: categories, masks and groups alone decide
    void* filter_user;       ///< handed to filter
    clv_mpi_payload payload; ///< what follows an object; not with `borrowed`
} clv_mpi_def;

CLV_API clv_mpi_def clv_default_mpi_def( void );

/// What went wrong last, the same on all processes.
typedef struct clv_mpi_error
{
    clv_result code;
    int32_t rank;      ///< of the first process with an error; -1: none in particular
    uint32_t position; ///< of the bad entry in its batch; UINT32_MAX where no entry is to blame
    uint64_t id;       ///< of that entry; 0 where there is none
    const char* text;  ///< one line for people; lives until the next call
} clv_mpi_error;

/// Two overlapping objects, a < b, and the processes that own them.
typedef struct clv_mpi_pair
{
    uint64_t a, b;
    int32_t owner_a, owner_b;
} clv_mpi_pair;

/// Pairs that this process reports. Owned by the space; dies at the next update or destroy.
typedef struct clv_mpi_pair_view
{
    const clv_mpi_pair* pairs;
    uint64_t count;
    bool valid; ///< false before the first update and after a failed one
} clv_mpi_pair_view;

/// What began and what ended between the last two good updates, as this process reports it; each event is
/// reported by one process, sorted by (a, b). An object that is gone has owner -1.
typedef struct clv_mpi_event_view
{
    const clv_mpi_pair* begun;
    uint64_t begun_count;
    const clv_mpi_pair* ended;
    uint64_t ended_count;
} clv_mpi_event_view;

/// Numbers of the last good update; `all_` are the same on every process.
typedef struct clv_mpi_stats
{
    uint64_t own_count;        ///< objects owned here
    uint64_t ghost_count;      ///< other processes' objects that reach this region, with those that arrive
    uint64_t pair_count;       ///< reported here
    uint64_t test_count;       ///< box against box
    uint64_t arrived_count;    ///< objects this process became the owner of
    uint64_t left_count;       ///< objects it gave away
    uint64_t bytes_sent;       ///< to other processes
    uint32_t message_count;    ///< to other processes
    uint32_t neighbour_count;  ///< processes messages go to
    uint64_t all_own_count;    ///< objects in all
    uint64_t all_ghost_count;  ///< ghosts in all
    uint64_t all_pair_count;   ///< pairs in all
    uint64_t all_bytes_sent;   ///< bytes in all
    uint32_t owning_processes; ///< those with at least one object before any changed its owner
    double imbalance;          ///< most work / mean work - 1
    bool was_cut;              ///< this update cut space anew
    bool will_cut;             ///< the next one will
    uint64_t update_count;     ///< good ones
    uint64_t memory_bytes;     ///< held by this process for the space
    uint64_t cut_count;        ///< cuts so far
    double cut_ms, send_ms, wait_ms, search_ms, list_ms; ///< of this process, in this update
} clv_mpi_stats;

/// A part of space. A face without an end is infinite. lower is inside, upper is not.
typedef struct clv_mpi_region
{
    clv_vec3 lower, upper;
} clv_mpi_region;

// ---- a space

/// Duplicates the communicator, so that messages never meet the caller's. CLV_BAD_DEF (on all if on one),
/// CLV_UNSUPPORTED, CLV_OUT_OF_MEMORY or CLV_LOST leave *space NULL, and the def's logger has the reason: of
/// a bad def the field's name, on the process that has it.
CLV_API clv_result clv_mpi_space_create(
    MPI_Comm communicator, const clv_mpi_def* def, clv_mpi_space** space );

/// Gives everything back. Collective, unless the space is lost. NULL is legal.
CLV_API void clv_mpi_space_destroy( clv_mpi_space* space );

/// Is Zoltan built in?
CLV_API bool clv_mpi_has_zoltan( void );

// ---- objects in

/// This process adds `count` objects and owns them, wherever they are; the next update gives them to the
/// process whose region they lie in, unless objects are borrowed. CLV_BAD_BOX, CLV_DUPLICATE_ID (in one
/// batch, or an id that some process owns), CLV_TOO_MANY_OBJECTS, CLV_OUT_OF_MEMORY.
CLV_API clv_result clv_mpi_space_add(
    clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count );

/// New boxes for objects that this process owns. CLV_BAD_ID for any other, CLV_DUPLICATE_ID, CLV_BAD_BOX.
/// Fastest with all own objects in the order of clv_mpi_space_object_at; then when the same ids come in the
/// same order as the last time.
CLV_API clv_result clv_mpi_space_move(
    clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes, uint32_t count );

/// Remove objects that this process owns. CLV_BAD_ID, CLV_DUPLICATE_ID.
CLV_API clv_result clv_mpi_space_remove( clv_mpi_space* space, const uint64_t* ids, uint32_t count );

// What objects carry, as in space.h, for objects that this process owns. It follows them when they migrate.
// CLV_BAD_ID, CLV_DUPLICATE_ID, CLV_OUT_OF_MEMORY; CLV_BAD_ARGUMENT for margins and motions that space.h
// refuses.

CLV_API clv_result clv_mpi_space_set_filter(
    clv_mpi_space* space, const uint64_t* ids, const clv_filter* filters, uint32_t count );
CLV_API clv_result clv_mpi_space_set_static(
    clv_mpi_space* space, const uint64_t* ids, const bool* is_static, uint32_t count );
CLV_API clv_result clv_mpi_space_set_margin_rule(
    clv_mpi_space* space, const uint64_t* ids, const clv_margin_rule* rules, uint32_t count );
CLV_API clv_result clv_mpi_space_set_motion(
    clv_mpi_space* space, const uint64_t* ids, const clv_vec3* motions, uint32_t count );

// ---- pairs out

/// Find every pair over all processes; see above. After a failure the objects are as they were, the views are
/// empty, and the next good update tells events against the last good one.
CLV_API clv_result clv_mpi_space_update( clv_mpi_space* space );

CLV_API clv_mpi_pair_view clv_mpi_space_pairs( const clv_mpi_space* space );
CLV_API clv_mpi_event_view clv_mpi_space_events( const clv_mpi_space* space );
CLV_API clv_mpi_stats clv_mpi_space_stats( const clv_mpi_space* space );
CLV_API clv_mpi_error clv_mpi_space_error( const clv_mpi_space* space );

/// The objects that this process owns now, by number: object_at( 0 .. object_count - 1 ), in no order that
/// means anything. O(1) each. A number is good until the next call that adds, removes or updates.
/// CLV_BAD_ARGUMENT for one too large.
CLV_API uint32_t clv_mpi_space_object_count( const clv_mpi_space* space );
CLV_API clv_result clv_mpi_space_object_at(
    const clv_mpi_space* space, uint32_t number, uint64_t* id, clv_aabb* box );

/// The region of a process of the communicator, as of the last update; the first cuts.
CLV_API clv_mpi_region clv_mpi_space_region( const clv_mpi_space* space, int32_t rank );

/// The whole list, sorted by (a, b), on process `root`; elsewhere the view is empty. Collective. The array is
/// the space's, and dies at the next call. CLV_STALE without a good update, CLV_BAD_ARGUMENT for a root that
/// is none, CLV_OUT_OF_MEMORY.
CLV_API clv_result clv_mpi_space_gather( clv_mpi_space* space, int32_t root, clv_mpi_pair_view* view );

// ---- checkpoints
//
// A checkpoint is PATH.manifest and a file for each process that wrote it, PATH.a-0, PATH.a-1, … or PATH.b-0,
// …; docs/mpi.md has their format. PATH must mean the same folder on all processes. The time limit holds here
// too: it must be longer than files take.

/// Writes what the next update needs: objects with all they carry and their payload (by pack), and the pairs
/// of the last good update where there are events. Each file is written beside its place and renamed when it
/// is on the disk, the manifest last; a checkpoint that is there already stays whole until then, and then
/// goes. May follow an update that failed. CLV_FILE_FAILED with the file and the system's reason;
/// CLV_BAD_ARGUMENT without a path; CLV_OUT_OF_MEMORY.
CLV_API clv_result clv_mpi_space_save( clv_mpi_space* space, const char* path );

/// Into a space without objects: those of a checkpoint, on however many processes there are now. The next
/// update lists the pairs, and tells the events, that the saved space's would have; until then there is no
/// list. stats.update_count goes on from the saved one's. Every process owns what it owned, if there are as
/// many as wrote it; otherwise each gets an equal share, in the order of the files. With `borrowed` it stays
/// so; else the next update gives each object to the process whose region it lies in. unpack is called for
/// each. The def must have the same payload size, and with events the checkpoint must have them, and the same
/// skip_static_pairs; method, workers, margins for new objects, cutter and `borrowed` may be others; the
/// filter, where there is one, must be the same. CLV_FILE_FAILED, with file and offset, for one that is
/// missing, cut off, damaged, of another save or version (0.1 had another format), or does not fit the def;
/// CLV_BAD_ARGUMENT if some process has objects; CLV_OUT_OF_MEMORY. Then everything is as it was.
/// CLV_TOO_MANY_OBJECTS, CLV_TOO_MANY_PAIRS: more for one process than it can take (2^31 - 1 pairs); more
/// processes can load it. Ids that are there twice are found unless the def says trust_ids.
CLV_API clv_result clv_mpi_space_load( clv_mpi_space* space, const char* path );

// ---- questions
//
// As in query.h, over all processes: each hands in a list of its own, of a kind of its own or an empty one
// (NULL is one), and gets the answers to it, which are those that one space with all objects would give, with
// ids in place of slots. A question travels to the processes whose regions it reaches: for any, closest and
// nearest first to the one where it begins, then, no farther than what was found there, to the others.
//
// What is seen are the boxes of the last good update, with their margins, and the filters as of then:
// CLV_STALE without one, and after a call since then that added, moved or removed objects or set their
// columns. CLV_BAD_ARGUMENT and CLV_BAD_BOX as in query.h, on all processes, with the rank and the position
// in its list; CLV_UNSUPPORTED for half-spaces, for kinds of flat spaces and of doubles, for callbacks, and
// for as_given where there are margins or motions; CLV_TOO_MANY_OBJECTS for more than 2^31 words of 8 bytes
// to or from one process; CLV_OUT_OF_MEMORY. After a failure nothing was written.
//
// Collective. A call costs four exchanges of all with all (sizes and words, there and back) and four
// reductions per round, of which there are one (all) or two, and one reduction at the end.

/// An object that was found.
typedef struct clv_mpi_hit
{
    uint64_t id;
    int32_t owner; ///< the process that owns it; -1: nothing was found
    float t;       ///< as in clv_hit
} clv_mpi_hit;

/// Hits of this process's list: those of query i are hits[offsets[i]] .. hits[offsets[i + 1] - 1]. The
/// space's own; dies at the next call that is collective.
typedef struct clv_mpi_hit_view
{
    const uint64_t* offsets;
    const clv_mpi_hit* hits;
    uint64_t count;
} clv_mpi_hit_view;

/// Everything that each query finds, by id.
CLV_API clv_result clv_mpi_space_query_all(
    clv_mpi_space* space, const clv_queries* queries, clv_mpi_hit_view* view );

/// One of what each query finds, to hits[i]. Which one depends on the number of processes; whether there is
/// one does not.
CLV_API clv_result clv_mpi_space_query_any(
    clv_mpi_space* space, const clv_queries* queries, clv_mpi_hit* hits );

/// What each ray or cast meets first, of equal times the lowest id, to hits[i].
CLV_API clv_result clv_mpi_space_query_closest(
    clv_mpi_space* space, const clv_queries* queries, clv_mpi_hit* hits );

/// The k objects nearest to each point or box, none farther than max_distance, nearest first, of equal
/// distances the lower ids; those of query i at hits[i * k]. Each process may have its own k and
/// max_distance.
CLV_API clv_result clv_mpi_space_query_nearest(
    clv_mpi_space* space, const clv_queries* queries, uint32_t k, float max_distance, clv_mpi_hit* hits );
