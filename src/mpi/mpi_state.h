// SPDX-License-Identifier: MIT
// What a clv_mpi_space is made of. Objects are known by their slot in the clv_space inside: own ones and ghosts alike.
#pragma once

#include "cleave/space.h"
#include "mpi_ids.h"
#include "mpi_query.h"
#include "mpi_regions.h"

enum
{
    SLOT_LIVE = 1,        ///< the slot is taken
    SLOT_OWN = 2,         ///< this process owns the object
    SLOT_OLD = 4,         ///< the object was there at the last good update
    SLOT_STATIC = 8,      ///< hinted static
    SLOT_WAS_STATIC = 16, ///< at the last good update
    SLOT_MOVED = 32,      ///< the space inside has another box
    SLOT_CHANGED = 64,    ///< its filter or hint is another than other processes know
    SLOT_ARRIVED = 128,   ///< will be owned once the update is good
    SLOT_LEAVING = 256,   ///< an own object that another process will own once the update is good
    SLOT_INSIDE = 512,    ///< as its name says
};

/// What a pair is written from, in one place: its two objects lie anywhere in memory, so each costs one cache line.
typedef struct mpi_identity
{
    uint64_t id;
    int32_t owner;
    uint32_t is_inside; ///< all of its box lies in this process's region
} mpi_identity;

/// An object that left a slot, or came to one.
typedef struct mpi_id_change
{
    uint64_t id;
    uint32_t slot;
    bool is_added;
} mpi_id_change;

/// Columns by slot. Those that nobody needs stay empty.
typedef struct mpi_columns
{
    BASE_ARRAY( uint64_t ) ids;
    BASE_ARRAY( clv_id ) locals;
    BASE_ARRAY( clv_aabb ) boxes; ///< test boxes
    BASE_ARRAY( uint32_t ) flags;
    BASE_ARRAY( mpi_identity ) identities;
    BASE_ARRAY( uint32_t ) stamps; ///< the update or batch that last named it
    BASE_ARRAY( clv_aabb ) givens; ///< with `grows`: as given, of own objects
    BASE_ARRAY( clv_margin_rule ) rules;
    BASE_ARRAY( clv_vec3 ) motions;
    BASE_ARRAY( clv_aabb ) befores; ///< with `remembers`: test boxes of the last good update
    BASE_ARRAY( clv_filter ) filters;
    BASE_ARRAY( clv_filter ) filters_before;
} mpi_columns;

/// Ids that are on their way from memory while others are looked up.
enum
{
    PREFETCH_DISTANCE = 8
};

/// Slots that are looked at together, where most are own objects that nothing happens to.
enum
{
    SLOT_GROUP = 16
};

/// What the flags of a block have in common, and what any of them has.
static inline uint32_t mpi_group_flags( const uint32_t* flags, uint32_t* any )
{
    uint32_t all = UINT32_MAX, some = 0;
    for ( uint32_t i = 0; i < SLOT_GROUP; ++i )
    {
        all &= flags[i];
        some |= flags[i];
    }
    *any = some;
    return all;
}

/// An object that is to be told to a process.
typedef struct mpi_send
{
    int32_t to;
    uint32_t slot;
    uint32_t kind; ///< RECORD_…
} mpi_send;

enum
{
    RECORD_FULL = 1,   ///< with what it was before, and its filters
    RECORD_OWNED = 2,  ///< with all that its next owner needs
    RECORD_STATIC = 4, ///< hint
    RECORD_OLD = 8,    ///< was there before
    RECORD_WAS_STATIC = 16,
};

/// A pair as it is found: ids, and slots of the same two objects.
typedef struct mpi_found
{
    uint64_t a, b;
    uint32_t slot_a, slot_b;
} mpi_found;

typedef BASE_ARRAY( mpi_found ) mpi_found_list;

/// Where a pair of the last good update was: the lower corner of its overlap, or, where one of the two is gone, of the other's box, which is
/// known there.
typedef struct mpi_corner
{
    clv_vec3 at;
    bool is_gone;
} mpi_corner;

typedef BASE_ARRAY( clv_mpi_pair ) mpi_pair_list;

/// Everybody's numbers after a search, in one reduction: two of which the largest counts, then sums.
enum
{
    TALLY_ERROR,
    TALLY_MOST_WORK,
    TALLY_WORK,
    TALLY_OWN,
    TALLY_GHOSTS,
    TALLY_PAIRS,
    TALLY_BYTES,
    TALLY_OWNING,
    TALLY_COUNT
};

/// A complaint as it travels.
typedef struct mpi_wire_error
{
    int32_t code, rank;
    uint32_t position, unused;
    uint64_t id;
    char text[256];
} mpi_wire_error;

/// Small send and receive buffers. They live as long as the space: after a loss a message may still be written to them.
typedef struct mpi_wire
{
    mpi_wire_error first_error;
    int32_t reduce_in[3], reduce_out[3]; ///< the first is for errors
    int words;
    uint64_t own[TALLY_COUNT], sums[TALLY_COUNT];
    uint64_t pair_count;
} mpi_wire;

/// How this process reaches the others.
typedef struct mpi_net
{
    mpi_wire wire;
    MPI_Comm all; ///< a copy of the caller's communicator
    MPI_Comm
        neighbours; ///< with the graph of processes that send to each other; MPI_COMM_NULL before the first
    MPI_Datatype tally; ///< TALLY_COUNT numbers, which are reduced as one
    MPI_Op add_up;      ///< how
    uint8_t* sends_to;  ///< by rank: 1: a neighbour already; 2: to become one
    uint8_t* receives_from;
    int32_t *out_ranks, *in_ranks; ///< of neighbours
    int32_t out_count, in_count;
} mpi_net;

/// Which slots there are, and lists of some of them.
typedef struct mpi_slots
{
    uint32_t end;          ///< slots that the columns have room for and that were used
    base_u32_array own;    ///< slots of own objects
    bool own_is_stale;     ///< the list is to be made anew
    base_u32_array border; ///< of own objects, those that do not lie inside the region, or did not; ascending
    bool border_is_known;  ///< for the boxes as they are, unless space was cut since
    base_u32_array ghosts; ///< slots of other processes' objects
    uint64_t ghost_count;  ///< after records came
    base_u32_array gone;   ///< of ghosts that are to be dropped; room for all
    uint64_t moved_count;  ///< own boxes that the space inside does not have yet, or more
    BASE_ARRAY( clv_id ) moved_ids; ///< what the space inside is given in one call
    BASE_ARRAY( clv_aabb ) moved_boxes;
    uint64_t live_rows; ///< rows of consecutive slots that are taken
    uint64_t packed_at; ///< the update that last made them one row; 0: none
    uint32_t stamp;     ///< the last number that an update or batch took
} mpi_slots;

/// From ids to slots and processes.
typedef struct mpi_lookup
{
    mpi_ids table; ///< of all live slots; with anonymous ghosts of own objects, as of clv_mpi_lookup_update
    BASE_ARRAY( mpi_id_change ) changes; ///< since then, in order
    bool is_stale;                       ///< there were too many: the table is to be made anew
    mpi_ids directory;    ///< ids that this process keeps unique, whichever process owns their objects
    base_u32_array batch; ///< slots that the last batch named, in its order
    base_u32_array
        previous_batch; ///< the same of the last large one before it: most batches name the same objects
} mpi_lookup;

/// What is kept of objects beyond their boxes. Switched on when first needed, for all processes at once; a call that fails on
/// another process puts back a copy.
typedef struct mpi_modes
{
    bool has_margins; ///< margins or motions were set, or the def has a margin
    bool has_history; ///< boxes and filters of the last good update are kept
    bool must_resend; ///< ghosts are to be made anew
} mpi_modes;

/// The regions, and when to cut space anew.
typedef struct mpi_partition
{
    mpi_regions regions, regions_before;
    bool cut_is_due;
    uint32_t updates_since_cut;
    double loss;  ///< by imbalance since the last cut, in updates
    double price; ///< of the next, likewise
    double imbalance_before_cut;
    uint64_t work;          ///< of the last update, here
    uint64_t work_to_share; ///< of it, what a cut gives to others with the objects
} mpi_partition;

/// What goes out and comes in during an update; also by process, for every other exchange.
typedef struct mpi_exchange
{
    int32_t* ranks; ///< one per process
    int32_t* ranks_before;
    uint32_t* counts; ///< sends per process
    uint64_t* words;  ///< and their words
    int *send_words, *send_starts, *receive_words, *receive_starts;
    int *wide_words, *wide_starts;
    BASE_ARRAY( mpi_send ) sends;
    BASE_ARRAY( mpi_send ) sorted_sends;
    base_u32_array wide; ///< slots of own objects that go to all processes
    base_u64_array outbox, inbox, wide_outbox, wide_inbox;
    base_u64_array new_records; ///< of objects that are new here: where they begin in the inbox
    base_u64_array new_ids;
    BASE_ARRAY( clv_aabb ) new_boxes;
    base_u64_array arrivals; ///< records with RECORD_OWNED: where they begin in the inbox
    base_u64_array scratch;
} mpi_exchange;

/// Pairs that this process reports.
typedef struct mpi_pairs
{
    mpi_found_list found, found_before, found_scratch;
    BASE_ARRAY( mpi_corner ) corners; ///< of found_before, while keeps_corners; clv_mpi_keep_corners
    bool keeps_corners;
    mpi_pair_list list, begun, ended, gathered;
    bool is_valid;
    bool objects_changed; ///< since the last good update
} mpi_pairs;

struct clv_mpi_space
{
    clv_mpi_def def;
    base_memory memory;
    int32_t rank, process_count;
    bool is_lost;
    clv_space* inside; ///< searches own objects and ghosts of this process

    mpi_net net;
    mpi_columns columns;
    mpi_slots slots;
    mpi_lookup lookup;
    mpi_modes modes;
    mpi_partition partition;
    mpi_exchange exchange;
    mpi_pairs pairs;
    mpi_questions questions;

    clv_mpi_stats stats, stats_before;
    clv_mpi_error error;
    char error_text[256];
};

/// Ghosts of which nothing is remembered, and about whose pairs nobody is asked: the space inside would go on with the answers that it
/// got for the last one in a slot.
static inline bool mpi_ghosts_are_anonymous( const clv_mpi_space* space )
{
    return !space->modes.has_history && space->def.filter == NULL;
}

// ---- talking

/// Remember what this process has to complain about; returns the code.
clv_result clv_mpi_fail(
    clv_mpi_space* space, clv_result code, uint32_t position, uint64_t id, const char* format, ... );

/// Everybody's results become one: the complaint of the first process that has one, on all. Collective.
clv_result clv_mpi_agree( clv_mpi_space* space, clv_result mine );

/// The same, and in the same reduction the largest of everybody's wire.reduce_in, but for the first.
clv_result clv_mpi_agree_and_reduce( clv_mpi_space* space, clv_result mine );

/// The same, and in the same reduction everybody's wire.own to wire.sums.
clv_result clv_mpi_agree_on_sums( clv_mpi_space* space, clv_result mine );

/// What the sums are made with. False: MPI refused.
bool clv_mpi_tally_open( clv_mpi_space* space );
void clv_mpi_tally_close( clv_mpi_space* space );

/// Waits for requests as long as the def allows. False: the space is lost.
bool clv_mpi_wait( clv_mpi_space* space, MPI_Request* requests, int count );

/// An MPI call's answer. False: it failed, and the space is lost.
bool clv_mpi_succeeded( clv_mpi_space* space, int answer, const char* what );

// ---- objects

/// Slots below `slot_end` fit every column in use. False: out of memory.
bool clv_mpi_columns_reserve( clv_mpi_space* space, uint32_t slot_end );

/// Takes `count` objects into the space inside, as ghosts or own ones; all or none. `slots` may be NULL.
clv_result clv_mpi_objects_take( clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes,
    uint32_t count, uint32_t flags, uint32_t* slots );

/// Box and name of an object are on their way from memory.
void clv_mpi_slot_fetch( const clv_mpi_space* space, uint32_t slot );

/// A number that no slot has in `stamps`.
uint32_t clv_mpi_next_stamp( clv_mpi_space* space );

/// Forgets one object.
void clv_mpi_objects_drop( clv_mpi_space* space, uint32_t slot );

/// Several, in the order of their slots; `moved_ids` has room for them.
void clv_mpi_objects_drop_all( clv_mpi_space* space, const uint32_t* slots, uint64_t count );

/// Are these the ids of all own objects, in their order?
bool clv_mpi_are_all_own( const clv_mpi_space* space, const uint64_t* ids, uint32_t count );

/// Their boxes, then; `outer` has room for all and one more.
void clv_mpi_move_all_own( clv_mpi_space* space, const clv_aabb* boxes );

/// The first slot that is free, from one on and up to an end.
uint32_t clv_mpi_end_of_row( const clv_mpi_space* space, uint32_t slot, uint32_t end );

/// Test boxes of own objects from what was given.
void clv_mpi_objects_apply_margins( clv_mpi_space* space );

/// The slots of own objects, made anew where they changed. False: out of memory, and the list is as it was.
bool clv_mpi_objects_list_own( clv_mpi_space* space );

/// The same after objects went, which needs no memory.
void clv_mpi_objects_compact_own( clv_mpi_space* space );

/// Columns for margins and motions, or for filters and boxes before, where they were not needed so far. A complaint: out of memory.
clv_result clv_mpi_objects_keep_margins( clv_mpi_space* space );
clv_result clv_mpi_objects_keep_history( clv_mpi_space* space );

/// Who left and who came, for the table of ids. It is right only after clv_mpi_lookup_update; false: out of memory, and not yet.
void clv_mpi_lookup_log( clv_mpi_space* space, const uint32_t* left, uint64_t left_count,
    const uint32_t* came, uint64_t came_count );
bool clv_mpi_lookup_update( clv_mpi_space* space );

/// All have other slots.
void clv_mpi_lookup_invalidate( clv_mpi_space* space );

/// Every id has one process that watches over it, so that no two objects have the same. All or nothing; collective.
clv_result clv_mpi_directory_add( clv_mpi_space* space, const uint64_t* ids, uint32_t count );
clv_result clv_mpi_directory_remove( clv_mpi_space* space, const uint64_t* ids, uint32_t count );

clv_filter clv_mpi_filter_of( const clv_mpi_space* space, uint32_t slot );

/// A space like the one inside, empty.
clv_result clv_mpi_open_inside( clv_mpi_space* space, clv_space** inside );

/// Own objects into one row of slots, where they stand scattered; before anybody looks at slots in an update.
void clv_mpi_pack_slots( clv_mpi_space* space );

// ---- balance

/// After the search of an update that began at `start` (ns): what this process did.
void clv_mpi_measure_work( clv_mpi_space* space, uint64_t start );

/// What each own object weighs in a cut, in the order of `own`; slots must be those of the last search. False: out of memory.
bool clv_mpi_weigh_objects( clv_mpi_space* space, uint64_t* weights );

/// Nothing is known: before the first cut, and after one that was made without an update.
void clv_mpi_reset_balance( clv_mpi_space* space );

/// After everybody's numbers are known: does the next update cut? The same on all processes.
void clv_mpi_decide_cut( clv_mpi_space* space );

// ---- an update's parts

/// Cuts space anew for the objects there are. Collective.
clv_result clv_mpi_cut( clv_mpi_space* space );

/// Of clv_mpi_cut: for so many points of this process, with more than one process. Collective.
clv_result clv_mpi_cut_points( clv_mpi_space* space, const clv_vec3* points, const uint64_t* weights,
    uint64_t count, mpi_regions* into );

/// Of that: writes cuts by our own bisection, or Zoltan's.
clv_result clv_mpi_bisect( clv_mpi_space* space, const clv_vec3* points, const uint64_t* weights,
    uint64_t count, mpi_regions* into );
clv_result clv_mpi_zoltan( clv_mpi_space* space, const clv_vec3* points, const uint64_t* weights,
    uint64_t count, mpi_regions* into );

/// Who must hear of what: the letters of this update.
clv_result clv_mpi_select_receivers( clv_mpi_space* space );

/// What a letter says; the parts it does not have are NULL.
typedef struct mpi_record
{
    uint64_t id;
    clv_aabb box;
    uint32_t kind;
    int32_t owner;
    const uint64_t *full, *owned, *payload;
    const uint64_t* end;
} mpi_record;

uint64_t clv_mpi_record_words( const clv_mpi_space* space, uint32_t kind );
uint64_t* clv_mpi_record_write( clv_mpi_space* space, uint32_t slot, uint32_t kind, uint64_t* at );
mpi_record clv_mpi_record_read( const clv_mpi_space* space, const uint64_t* at );
void clv_mpi_record_apply( clv_mpi_space* space, uint32_t slot, const mpi_record* text );

/// Letters out and in; own boxes are moved inside meanwhile. `mine` is this process's result so far; collective.
clv_result clv_mpi_exchange( clv_mpi_space* space, clv_result mine );

/// Ghosts from the letters that came.
clv_result clv_mpi_receive( clv_mpi_space* space );

/// The same where nothing is remembered of them.
clv_result clv_mpi_receive_anonymous( clv_mpi_space* space );

/// Of both: a letter about an object that has no slot yet; and one whose payload waits for the end of the update. False: out of memory.
bool clv_mpi_defer_record( clv_mpi_space* space, uint64_t at, const mpi_record* text );
bool clv_mpi_log_arrival( clv_mpi_space* space, uint64_t at, const mpi_record* text );

/// The pairs that are this process's to report, and what began and ended.
clv_result clv_mpi_list( clv_mpi_space* space );

/// After a good update: new owners, what is now is before.
void clv_mpi_finish_update( clv_mpi_space* space );

/// For checkpoints: where the last good update's pairs were, in the order of found_before. Kept from before ghosts are forgotten until
/// the next good update. False: out of memory.
bool clv_mpi_keep_corners( clv_mpi_space* space );

/// Sorts by (a, b).
clv_result clv_mpi_sort_found( clv_mpi_space* space, mpi_found_list* list );
