// SPDX-License-Identifier: MIT
// What a clv_mpi_space is made of. Objects are known by their slot in the clv_space inside: own ones and ghosts alike.
#pragma once

#include "cleave/space.h"
#include "mpi_ids.h"
#include "mpi_query.h"
#include "mpi_regions.h"

enum
{
    MPI_LIVE = 1,        ///< the slot is taken
    MPI_OWN = 2,         ///< this process owns the object
    MPI_OLD = 4,         ///< the object was there at the last good update
    MPI_STATIC = 8,      ///< hinted static
    MPI_WAS_STATIC = 16, ///< at the last good update
    MPI_MOVED = 32,      ///< the space inside has another box
    MPI_CHANGED = 64,    ///< its filter or hint is another than other processes know
    MPI_ARRIVED = 128,   ///< will be owned once the update is good
    MPI_GOING = 256,     ///< an own object that another process will own once the update is good
    MPI_INSIDE = 512,    ///< as its name says
};

/// What a pair is written from, in one place: its two objects lie anywhere in memory, so each costs one cache line.
typedef struct mpi_name
{
    uint64_t id;
    int32_t owner;
    uint32_t is_inside; ///< all of its box lies in this process's region
} mpi_name;

/// An object that left a slot, or came to one.
typedef struct mpi_renamed
{
    uint64_t id;
    uint32_t slot;
    bool has_come;
} mpi_renamed;

/// Columns by slot. Those that nobody needs stay empty.
typedef struct mpi_columns
{
    BASE_ARRAY( uint64_t ) ids;
    BASE_ARRAY( clv_id ) locals;
    BASE_ARRAY( clv_aabb ) boxes; ///< test boxes
    BASE_ARRAY( uint32_t ) flags;
    BASE_ARRAY( mpi_name ) names;
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
    MPI_AHEAD = 8
};

/// Slots that are looked at together, where most are own objects that nothing happens to.
enum
{
    MPI_BLOCK = 16
};

/// What the flags of a block have in common, and what any of them has.
static inline uint32_t mpi_flags_of( const uint32_t* flags, uint32_t* any )
{
    uint32_t all = UINT32_MAX, some = 0;
    for ( uint32_t i = 0; i < MPI_BLOCK; ++i )
    {
        all &= flags[i];
        some |= flags[i];
    }
    *any = some;
    return all;
}

/// An object that is to be told to a process.
typedef struct mpi_letter
{
    int32_t to;
    uint32_t slot;
    uint32_t kind; ///< MPI_LETTER_…
} mpi_letter;

enum
{
    MPI_LETTER_FULL = 1,   ///< with what it was before, and its filters
    MPI_LETTER_OWNED = 2,  ///< with all that its next owner needs
    MPI_LETTER_STATIC = 4, ///< hint
    MPI_LETTER_OLD = 8,    ///< was there before
    MPI_LETTER_WAS_STATIC = 16,
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
    MPI_TALLY_COMPLAINT,
    MPI_TALLY_MOST_WORK,
    MPI_TALLY_WORK,
    MPI_TALLY_OWN,
    MPI_TALLY_GHOSTS,
    MPI_TALLY_PAIRS,
    MPI_TALLY_BYTES,
    MPI_TALLY_OWNING,
    MPI_TALLY
};

/// A complaint as it travels.
typedef struct mpi_complaint
{
    int32_t code, rank;
    uint32_t position, unused;
    uint64_t id;
    char text[256];
} mpi_complaint;

/// Small things on their way. They live as long as the space: one that is lost may still be written to.
typedef struct mpi_wire
{
    mpi_complaint heard;
    int32_t wishes[3], wishes_of_all[3]; ///< the first is a complaint
    int words;
    uint64_t own[MPI_TALLY], sums[MPI_TALLY];
    uint64_t pair_count;
} mpi_wire;

struct clv_mpi_space
{
    mpi_wire wire;
    clv_mpi_def def;
    base_memory memory;
    MPI_Comm all;        ///< a copy of the caller's communicator
    MPI_Comm neighbours; ///< with the graph of those who write to each other; MPI_COMM_NULL before the first
    MPI_Datatype tally;  ///< MPI_TALLY numbers, which are reduced as one
    MPI_Op add_up;       ///< how
    int32_t rank, process_count;
    bool is_lost;
    clv_space* inside;

    mpi_columns columns;
    uint32_t slot_end; ///< slots that the columns have room for and that were used
    mpi_ids ids;       ///< of all live slots; with berths of own objects, as of clv_mpi_names_know
    BASE_ARRAY( mpi_renamed ) renamed; ///< since then, in order
    bool names_are_lost;               ///< that was too much
    mpi_ids directory;                 ///< ids that this process watches over, whoever owns them
    base_u32_array own;                ///< slots of own objects
    base_u32_array batch;              ///< slots that the last batch named, in its order
    base_u32_array guess;  ///< the same of the last large one before it: most batches name the same objects
    base_u32_array outer;  ///< of own objects, those that do not lie deep inside, or did not; in order
    bool outer_is_known;   ///< for the boxes as they are, unless space is cut anew
    base_u32_array ghosts; ///< slots of other processes' objects, or of berths
    uint64_t ghost_count;  ///< after letters came
    base_u32_array gone;   ///< of those that are to be dropped; room for all
    uint64_t moved_count;  ///< own boxes that the space inside does not have yet, or more
    bool own_is_stale;
    uint64_t live_rows; ///< rows of slots that are taken
    uint64_t packed_at; ///< the update that last brought them into one; 0: none
    uint32_t stamp;
    bool grows;         ///< margins or motions were set, or the def has a margin
    bool remembers;     ///< befores and filters are kept
    bool must_tell_all; ///< ghosts are to be made anew

    mpi_regions regions, regions_before;
    bool cut_is_due;
    uint32_t updates_since_cut;
    double loss;  ///< by imbalance since the last cut, in updates
    double price; ///< of the next, likewise
    double imbalance_before_cut;
    uint64_t work;          ///< of the last update, here
    uint64_t work_to_share; ///< of it, what a cut gives to others with the objects

    int32_t* ranks; ///< scratch, one per process
    int32_t* ranks_before;
    uint32_t* counts;   ///< letters per process
    uint64_t* words;    ///< and their words
    uint8_t* writes_to; ///< 1: a neighbour already; 2: wanted
    uint8_t* reads_from;
    int32_t *out_ranks, *in_ranks;
    int32_t out_count, in_count;
    int *send_words, *send_starts, *receive_words, *receive_starts;
    int *wide_words, *wide_starts;
    BASE_ARRAY( mpi_letter ) letters;
    BASE_ARRAY( mpi_letter ) sorted_letters;
    base_u32_array wide; ///< slots of own objects for everybody
    base_u64_array outbox, inbox, wide_outbox, wide_inbox;
    BASE_ARRAY( clv_id ) moved_ids;
    BASE_ARRAY( clv_aabb ) moved_boxes;
    base_u64_array fresh_letters; ///< words of letters about objects that are new here: where they begin
    base_u64_array fresh_ids;
    BASE_ARRAY( clv_aabb ) fresh_boxes;
    base_u64_array arrivals; ///< words of letters with MPI_LETTER_OWNED: where they begin in the inbox
    base_u64_array scratch;

    mpi_found_list found, found_before, found_scratch;
    BASE_ARRAY( mpi_corner ) corners; ///< of found_before, while keeps_corners; clv_mpi_keep_corners
    bool keeps_corners;
    mpi_pair_list pairs, begun, ended, gathered;
    bool list_is_valid;
    bool has_changed; ///< objects did, since the last good update
    mpi_questions questions;

    clv_mpi_stats stats, stats_before;
    clv_mpi_error error;
    char text[256];
};

/// Ghosts of which nothing is remembered, and about whose pairs nobody is asked: the space inside would go on with the answers that it
/// got for the last one in a slot.
static inline bool mpi_has_berths( const clv_mpi_space* space )
{
    return !space->remembers && space->def.filter == NULL;
}

// ---- talking

/// Remember what this process has to complain about; returns the code.
clv_result clv_mpi_complain(
    clv_mpi_space* space, clv_result code, uint32_t position, uint64_t id, const char* format, ... );

/// Everybody's results become one: the complaint of the first process that has one, on all. Collective.
clv_result clv_mpi_agree( clv_mpi_space* space, clv_result mine );

/// The same, and in the same reduction the largest of everybody's wire.wishes, but for the first.
clv_result clv_mpi_agree_on_wishes( clv_mpi_space* space, clv_result mine );

/// The same, and in the same reduction everybody's wire.own to wire.sums.
clv_result clv_mpi_agree_on_sums( clv_mpi_space* space, clv_result mine );

/// What the sums are made with. False: MPI refused.
bool clv_mpi_tally_open( clv_mpi_space* space );
void clv_mpi_tally_close( clv_mpi_space* space );

/// Waits for requests as long as the def allows. False: the space is lost.
bool clv_mpi_wait( clv_mpi_space* space, MPI_Request* requests, int count );

/// An MPI call's answer. False: it failed, and the space is lost.
bool clv_mpi_went_well( clv_mpi_space* space, int answer, const char* what );

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
void clv_mpi_take_all_own( clv_mpi_space* space, const clv_aabb* boxes );

/// The first slot that is free, from one on and up to an end.
uint32_t clv_mpi_end_of_row( const clv_mpi_space* space, uint32_t slot, uint32_t end );

/// Test boxes of own objects from what was given.
void clv_mpi_objects_grow( clv_mpi_space* space );

/// The slots of own objects, made anew where they changed. False: out of memory, and the list is as it was.
bool clv_mpi_objects_list( clv_mpi_space* space );

/// The same after objects went, which needs no memory.
void clv_mpi_objects_compact( clv_mpi_space* space );

/// Columns for margins and motions, or for filters and boxes before, where they were not needed so far. A complaint: out of memory.
clv_result clv_mpi_objects_begin_growing( clv_mpi_space* space );
clv_result clv_mpi_objects_remember( clv_mpi_space* space );

/// Who left and who came, for the table of ids. It is right only after clv_mpi_names_know; false: out of memory, and not yet.
void clv_mpi_names_note( clv_mpi_space* space, const uint32_t* left, uint64_t left_count,
    const uint32_t* came, uint64_t came_count );
bool clv_mpi_names_know( clv_mpi_space* space );

/// All have other slots.
void clv_mpi_names_forget( clv_mpi_space* space );

/// What those two switch on, so that a call that fails on another process can leave all as it was. The columns' memory stays.
typedef struct mpi_habits
{
    bool grows, remembers, must_tell_all;
} mpi_habits;

static inline mpi_habits mpi_habits_of( const clv_mpi_space* space )
{
    return ( mpi_habits ){ space->grows, space->remembers, space->must_tell_all };
}

static inline void mpi_habits_restore( clv_mpi_space* space, mpi_habits before )
{
    space->grows = before.grows;
    space->remembers = before.remembers;
    space->must_tell_all = before.must_tell_all;
}

/// Every id has one process that watches over it, so that no two objects have the same. All or nothing; collective.
clv_result clv_mpi_directory_add( clv_mpi_space* space, const uint64_t* ids, uint32_t count );
clv_result clv_mpi_directory_remove( clv_mpi_space* space, const uint64_t* ids, uint32_t count );

clv_filter clv_mpi_filter_of( const clv_mpi_space* space, uint32_t slot );

/// A space like the one inside, empty.
clv_result clv_mpi_open_inside( clv_mpi_space* space, clv_space** inside );

/// Own objects into one row of slots, where they stand scattered; before anybody looks at slots in an update.
void clv_mpi_pack( clv_mpi_space* space );

// ---- balance

/// After the search of an update that began at `start` (ns): what this process did.
void clv_mpi_note_work( clv_mpi_space* space, uint64_t start );

/// What each own object weighs in a cut, in the order of `own`; slots must be those of the last search. False: out of memory.
bool clv_mpi_weigh( clv_mpi_space* space, uint64_t* weights );

/// Nothing is known: before the first cut, and after one that was made without an update.
void clv_mpi_forget_balance( clv_mpi_space* space );

/// After everybody's numbers are known: does the next update cut? The same on all processes.
void clv_mpi_judge_balance( clv_mpi_space* space );

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
clv_result clv_mpi_address( clv_mpi_space* space );

/// What a letter says; the parts it does not have are NULL.
typedef struct mpi_letter_text
{
    uint64_t id;
    clv_aabb box;
    uint32_t kind;
    int32_t owner;
    const uint64_t *full, *owned, *payload;
    const uint64_t* end;
} mpi_letter_text;

uint64_t clv_mpi_letter_words( const clv_mpi_space* space, uint32_t kind );
uint64_t* clv_mpi_letter_write( clv_mpi_space* space, uint32_t slot, uint32_t kind, uint64_t* at );
mpi_letter_text clv_mpi_letter_read( const clv_mpi_space* space, const uint64_t* at );
void clv_mpi_letter_take( clv_mpi_space* space, uint32_t slot, const mpi_letter_text* text );

/// Letters out and in; own boxes are moved inside meanwhile. `mine` is this process's result so far; collective.
clv_result clv_mpi_exchange( clv_mpi_space* space, clv_result mine );

/// Ghosts from the letters that came.
clv_result clv_mpi_receive( clv_mpi_space* space );

/// The same where nothing is remembered of them.
clv_result clv_mpi_berth( clv_mpi_space* space );

/// Of both: a letter about an object that has no slot yet; and one whose payload waits for the end of the update. False: out of memory.
bool clv_mpi_put_aside( clv_mpi_space* space, uint64_t at, const mpi_letter_text* text );
bool clv_mpi_note_arrival( clv_mpi_space* space, uint64_t at, const mpi_letter_text* text );

/// The pairs that are this process's to report, and what began and ended.
clv_result clv_mpi_list( clv_mpi_space* space );

/// After a good update: new owners, what is now is before.
void clv_mpi_commit( clv_mpi_space* space );

/// For checkpoints: where the last good update's pairs were, in the order of found_before. Kept from before ghosts are forgotten until
/// the next good update. False: out of memory.
bool clv_mpi_keep_corners( clv_mpi_space* space );

/// Sorts by (a, b).
clv_result clv_mpi_sort_found( clv_mpi_space* space, mpi_found_list* list );
