// SPDX-License-Identifier: MIT
// What a clv_mpi_space is made of. Objects are known by their slot in the clv_space inside: own ones and
// ghosts alike.
#pragma once

#include "cleave/space.h"
#include "mpi_query.h"
#include "mpi_regions.h"

// ---- ids

/// No slot, or an empty place of a table.
#define SLOT_NONE UINT32_MAX

typedef struct mpi_ids
{
    BASE_ARRAY( uint64_t ) keys;
    BASE_ARRAY( uint32_t ) values; ///< SLOT_NONE: an empty place
    uint32_t place_bits;           ///< places are 1 << place_bits, once there are some
    uint64_t count;
} mpi_ids;

uint64_t clv_mpi_ids_mix( uint64_t id );

/// Room for so many keys without another allocation. False: out of memory, and as it was.
bool clv_mpi_ids_reserve( mpi_ids* ids, base_memory* memory, uint64_t count );

/// Where a key would stand is fetched: for a loop over many keys, a few ahead.
void clv_mpi_ids_fetch( const mpi_ids* ids, uint64_t key );

/// SLOT_NONE if the key is not there.
uint32_t clv_mpi_ids_find( const mpi_ids* ids, uint64_t key );

/// Sets a key that may be there; room was reserved.
void clv_mpi_ids_put( mpi_ids* ids, uint64_t key, uint32_t value );

/// Of a key that is not there: nothing.
void clv_mpi_ids_drop( mpi_ids* ids, uint64_t key );

/// Only if that is its value.
void clv_mpi_ids_drop_of( mpi_ids* ids, uint64_t key, uint32_t value );

void clv_mpi_ids_free( mpi_ids* ids, base_memory* memory );

// ---- slots

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

/// What a pair is written from, in one place: its two objects lie anywhere in memory, so each costs one cache
/// line.
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

/// Columns by slot. Those that are not needed stay empty.
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

/// An object that another process must know.
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
    RECORD_ALL = 31
};

/// Words of a record.
enum
{
    RECORD_SHORT_WORDS = 5,
    RECORD_FULL_WORDS = 9, ///< more: box before, filter, filter before
    RECORD_OWNED_WORDS = 7 ///< more: box as given, margin rule, motion; then the payload
};

/// A record that came; the parts it does not have are NULL.
typedef struct mpi_record
{
    uint64_t id;
    clv_aabb box;
    uint32_t kind;
    int32_t owner;
    const uint64_t *full, *owned, *payload;
    uint64_t end; ///< where the next one begins
} mpi_record;

/// A pair as it is found: ids, and slots of the same two objects.
typedef struct mpi_found
{
    uint64_t a, b;
    uint32_t slot_a, slot_b;
} mpi_found;

typedef BASE_ARRAY( mpi_found ) mpi_found_list;

/// Where a pair of the last good update was: the lower corner of its overlap, or, where one of the two is
/// gone, of the other's box, which is known there.
typedef struct mpi_corner
{
    clv_vec3 at;
    bool is_gone;
} mpi_corner;

typedef BASE_ARRAY( clv_mpi_pair ) mpi_pair_list;

/// Numbers of all processes after a search, in one reduction: the largest of the first two, sums of the
/// others.
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

/// An error as it is sent.
typedef struct mpi_wire_error
{
    int32_t code, rank;
    uint32_t position, unused;
    uint64_t id;
    char text[256];
} mpi_wire_error;

/// Small send and receive buffers. They live as long as the space: after a loss a message may still be
/// written to them.
typedef struct mpi_wire
{
    mpi_wire_error first_error;
    int32_t reduce_in[3], reduce_out[3]; ///< the first is for errors
    int words;
    uint64_t own[TALLY_COUNT], sums[TALLY_COUNT];
} mpi_wire;

/// How this process reaches the others.
typedef struct mpi_net
{
    mpi_wire wire;
    MPI_Comm all; ///< a copy of the caller's communicator
    /// with the graph of processes that send to each other; MPI_COMM_NULL before the first
    MPI_Comm neighbours;
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
    bool boxes_are_lent; ///< the space inside alone has own boxes, but for those on the border or SLOT_MOVED
    bool ids_are_slots;  ///< every object ever taken had the number of its slot for its id
    bool has_news;       ///< flags of own objects are to be finished
    base_u32_array ghosts;          ///< slots of other processes' objects
    uint64_t ghost_count;           ///< after records came
    base_u32_array gone;            ///< of ghosts that are to be dropped; room for all
    uint64_t moved_count;           ///< own boxes that the space inside does not have yet, or more
    BASE_ARRAY( clv_id ) moved_ids; ///< what the space inside is given in one call
    BASE_ARRAY( clv_aabb ) moved_boxes;
    uint64_t own_rows;  ///< rows of consecutive slots that are own
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
    /// the same of the last large one before it: most batches name the same objects
    base_u32_array previous_batch;
} mpi_lookup;

/// What is kept of objects beyond their boxes. Switched on when first needed, for all processes at once; a
/// call that fails on another process puts back a copy.
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
    uint64_t* words; ///< to send to each process
    int32_t* ranks;  ///< scratch, one per process
    int32_t* ranks_before;
    int32_t* counts; ///< scratch, one more than processes
    int *send_words, *send_starts, *receive_words, *receive_starts;
    int *wide_words, *wide_starts;
    BASE_ARRAY( mpi_send ) sends;
    base_u32_array wide; ///< slots of own objects that go to all processes
    base_u64_array outbox, inbox, wide_outbox;
    uint64_t wide_begin;        ///< records that went to all processes begin here in the inbox
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
    mpi_pair_list list, begun, ended;
    base_u64_array gathered; ///< of all processes
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

/// Ghosts that are not looked up by id: there is no history of them, and no filter to ask. (With a filter,
/// the space inside would go on with the answers for the last ghost in the slot.)
static inline bool mpi_ghosts_are_anonymous( const clv_mpi_space* space )
{
    return !space->modes.has_history && space->def.filter == NULL;
}

/// No part of a margin rule may be negative, infinite or a NaN.
static inline bool mpi_is_margin_rule( const clv_margin_rule* rule )
{
    return isfinite( rule->fixed ) && isfinite( rule->by_size ) && isfinite( rule->by_speed ) &&
        rule->fixed >= 0 && rule->by_size >= 0 && rule->by_speed >= 0;
}

// ---- how processes agree

/// Notes an error of this process, for the next agreement; returns the code. Where an error is about one
/// entry of a batch, `position` is its number and `id` the object's id.
clv_result clv_mpi_fail_at(
    clv_mpi_space* space, clv_result code, uint32_t position, uint64_t id, const char* format, ... );

#define clv_mpi_fail( space, code, ... ) clv_mpi_fail_at( space, code, UINT32_MAX, 0, __VA_ARGS__ )

/// CLV_OK, or CLV_OUT_OF_MEMORY noted with what the memory was for.
clv_result clv_mpi_reserved( clv_mpi_space* space, bool has_memory, const char* what );

/// A result of the space inside: its error becomes this process's.
clv_result clv_mpi_inner_result( clv_mpi_space* space, clv_result result );

/// One result for all processes: the error of the first process that has one. Collective.
clv_result clv_mpi_agree( clv_mpi_space* space, clv_result mine );
clv_result clv_mpi_agree_reserved( clv_mpi_space* space, bool has_memory, const char* what );

/// The same, and in the same reduction the largest of each process's wire.reduce_in, but for the first.
clv_result clv_mpi_agree_and_reduce( clv_mpi_space* space, clv_result mine );

/// The same, and in the same reduction each process's wire.own into wire.sums.
clv_result clv_mpi_agree_on_sums( clv_mpi_space* space, clv_result mine );

/// An MPI call's answer. False: it failed, and the space is lost.
bool clv_mpi_succeeded( clv_mpi_space* space, int answer, const char* what );

/// The same of a call that began a request, and waits for it as long as the def allows. False: the space is
/// lost.
bool clv_mpi_complete( clv_mpi_space* space, int answer, MPI_Request* request, const char* what );

/// Collective calls over all processes. False: the space is lost.
bool clv_mpi_reduce(
    clv_mpi_space* space, const void* in, void* out, uint64_t count, MPI_Datatype type, MPI_Op op );
bool clv_mpi_broadcast( clv_mpi_space* space, void* bytes, uint64_t size, int32_t root );
bool clv_mpi_gather_all( clv_mpi_space* space, const void* in, void* out, int count, MPI_Datatype type );

/// Where each process's items start, from their counts. Returns the sum; starts are right while it fits an
/// int.
uint64_t clv_mpi_starts_of( const int* counts, int* starts, int32_t count );

/// The process that an item goes to.
typedef int32_t mpi_rank_of( const void* user, const void* item );

/// Items in the order of their processes, with counts and starts in exchange.send_words and send_starts.
void clv_mpi_sort_by_rank( clv_mpi_space* space, const void* items, uint64_t count, size_t item_size,
    mpi_rank_of* rank_of, const void* user, void* sorted );

/// Items of `item_words` words each, as send_words and send_starts say, from every process to every other;
/// receive_words and receive_starts say what came. `mine` is this process's result so far. Collective.
clv_result clv_mpi_deliver( clv_mpi_space* space, clv_result mine, const uint64_t* from, base_u64_array* into,
    int item_words, const char* what );

// ---- objects

void clv_mpi_columns_free( clv_mpi_space* space );

/// Takes `count` objects into the space inside, as ghosts or own ones; all or none. `slots` may be NULL.
clv_result clv_mpi_objects_take( clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes,
    uint32_t count, uint32_t flags, uint32_t* slots );

/// Box and name of an object are on their way from memory.
void clv_mpi_slot_fetch( const clv_mpi_space* space, uint32_t slot );

/// A number that no slot has in `stamps`.
uint32_t clv_mpi_next_stamp( clv_mpi_space* space );

clv_result clv_mpi_move_flagged( clv_mpi_space* space, const base_u32_array* slots );

/// Filter and hint of a slot, for an object of a space like the one inside.
clv_result clv_mpi_objects_set_inner(
    const clv_mpi_space* space, clv_space* inside, clv_id id, uint32_t slot );

/// Forgets one object.
void clv_mpi_objects_drop( clv_mpi_space* space, uint32_t slot );

/// Several, in the order of their slots; `moved_ids` has room for them.
void clv_mpi_objects_drop_all( clv_mpi_space* space, const uint32_t* slots, uint64_t count );

/// The column of boxes has all of them again; before anything else than the border is read.
void clv_mpi_boxes_fetch( clv_mpi_space* space );

/// Test boxes of own objects from what was given.
void clv_mpi_objects_apply_margins( clv_mpi_space* space );

/// The slots of own objects, made anew where they changed. False: out of memory, and the list is as it was.
bool clv_mpi_objects_list_own( clv_mpi_space* space );

/// The same after objects went, which needs no memory.
void clv_mpi_objects_compact_own( clv_mpi_space* space );

/// Columns for margins and motions, or for filters and boxes before, where they were not needed so far. An
/// error: out of memory.
clv_result clv_mpi_objects_keep_margins( clv_mpi_space* space );
clv_result clv_mpi_objects_keep_history( clv_mpi_space* space );

/// Slots that objects left and that they came to, for the table of ids. It is right only after
/// clv_mpi_lookup_update; false: out of memory, and not yet.
void clv_mpi_lookup_log( clv_mpi_space* space, const uint32_t* left, uint64_t left_count,
    const uint32_t* came, uint64_t came_count );
bool clv_mpi_lookup_update( clv_mpi_space* space );

/// Every id is kept by one process, so that no two objects have the same. All or nothing; collective.
clv_result clv_mpi_directory_add( clv_mpi_space* space, const uint64_t* ids, uint32_t count );
clv_result clv_mpi_directory_remove( clv_mpi_space* space, const uint64_t* ids, uint32_t count );

/// A space like the one inside, empty.
clv_result clv_mpi_open_inside( clv_mpi_space* space, clv_space** inside );

/// Own objects into one row of slots, where they stand scattered; before an update looks at slots.
void clv_mpi_pack_slots( clv_mpi_space* space );

// ---- mpi_update.c

/// What each own object weighs in a cut, in the order of `own`; slots must be those of the last search.
/// False: out of memory.
bool clv_mpi_weigh_objects( clv_mpi_space* space, uint64_t* weights );

/// No work is known: before the first cut, and after one that was made without an update.
void clv_mpi_reset_balance( clv_mpi_space* space );

// ---- mpi_cut.c

/// What space is cut for.
typedef struct mpi_points
{
    clv_vec3* at;
    uint64_t* weights;
    uint64_t count;
} mpi_points;

/// The weight of a point where nothing is known of the work.
enum
{
    CLV_MPI_POINT_WEIGHT = 256
};

/// Room for `count` points. False: out of memory; to be closed all the same.
bool clv_mpi_points_open( mpi_points* points, base_memory* memory, uint64_t count );
void clv_mpi_points_close( mpi_points* points, base_memory* memory );

/// The point of a box, with the weight of any other.
void clv_mpi_points_set( mpi_points* points, uint64_t index, const clv_aabb* box );

/// Cuts space anew for the objects there are. Collective.
clv_result clv_mpi_cut( clv_mpi_space* space );

/// Writes the cuts for the points of all processes; of more than one. Collective. The second: by our own
/// bisection alone.
clv_result clv_mpi_cut_points( clv_mpi_space* space, const mpi_points* points, mpi_regions* into );
clv_result clv_mpi_bisect( clv_mpi_space* space, const mpi_points* points, mpi_regions* into );

// ---- an update

/// The sends of this update.
clv_result clv_mpi_select_receivers( clv_mpi_space* space );

/// Records out and in; own boxes are moved inside meanwhile. `mine` is this process's result so far;
/// collective.
clv_result clv_mpi_exchange( clv_mpi_space* space, clv_result mine );

uint64_t clv_mpi_record_words( const clv_mpi_space* space, uint32_t kind );

/// The record that begins at a word of an inbox.
mpi_record clv_mpi_record_read( const clv_mpi_space* space, const base_u64_array* box, uint64_t begin );

/// Ghosts from the records that came.
clv_result clv_mpi_receive( clv_mpi_space* space );

/// The pairs that are this process's to report, and what began and ended.
clv_result clv_mpi_list( clv_mpi_space* space );

/// For checkpoints: where the last good update's pairs were, in the order of found_before. Kept from before
/// ghosts are forgotten until the next good update. False: out of memory.
bool clv_mpi_keep_corners( clv_mpi_space* space );

/// Sorts by (a, b).
clv_result clv_mpi_sort_found( clv_mpi_space* space, mpi_found_list* list );

// ---- mpi_check.c

// What is true of these structures, checked with as little as possible of the code that made them. Each
// function returns the first sentence that is not true, or NULL. For debug builds and tests; local, so that
// no process waits.

/// The tree of cuts, the bounds that follow from it, and that points belong to one region each. Points are
/// taken at the corners of at most CHECKED_REGIONS regions, evenly spread over the ranks: with more processes
/// every point costs as many comparisons.
const char* clv_mpi_regions_check( const mpi_regions* regions );

enum
{
    CHECKED_REGIONS = 64
};

/// A table of ids alone: every key is found, once.
const char* clv_mpi_ids_check( const mpi_ids* ids );

/// Ids that this process keeps in the directory are its to keep.
const char* clv_mpi_directory_check( const clv_mpi_space* space );

/// Between ids and slots, where the table of ids is up to date: each object that can be looked up has its id,
/// and each id its object.
const char* clv_mpi_lookup_check( const clv_mpi_space* space );

/// Slots, their columns, the space inside and the list of own objects.
const char* clv_mpi_objects_check( const clv_mpi_space* space );

/// After records came: ghosts are those that were counted, lie in slots that the space inside has, and know
/// whether they lie inside.
const char* clv_mpi_ghosts_check( const clv_mpi_space* space );

/// After a search: the pairs that this process reports, and what began and ended.
const char* clv_mpi_pairs_check( const clv_mpi_space* space );

/// All that holds after a good update: regions, objects, names, directory.
const char* clv_mpi_space_check( const clv_mpi_space* space );
