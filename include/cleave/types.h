// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/base.h"
#include "cleave/geom.h"
#include "cleave/id.h"

// The types of a space: results, defs, pairs, views, filters, statistics.

/// A space holds boxes and answers one question per step: which of them overlap? See space.h.
typedef struct clv_space clv_space;

/// What a call answers. Everything but CLV_OK means that nothing changed, except where the call says
/// otherwise. The numbers are stable; new ones are added at the end.
typedef enum clv_result
{
    CLV_OK = 0,
    CLV_BAD_DEF = 1,      ///< def without its default function, unknown method or setting, value out of range
    CLV_BAD_ARGUMENT = 2, ///< a value that is neither a box nor an id: margin, stride, count
    CLV_BAD_BOX = 3,      ///< NaN, or lower > upper
    CLV_BAD_ID = 4,       ///< null, stale, or never given out by this space
    CLV_DUPLICATE_ID = 5, ///< the same object twice in one batch
    CLV_OUT_OF_MEMORY = 6,    ///< the allocator answered NULL, or no thread could be had
    CLV_TOO_MANY_PAIRS = 7,   ///< more than max_pairs
    CLV_TOO_MANY_OBJECTS = 8, ///< more than CLV_MAX_OBJECTS slots
    CLV_UNSUPPORTED = 9,      ///< not on this machine (instruction set), or not with this def
    CLV_STOPPED = 10,         ///< a visitor asked to stop
    CLV_BUSY = 11,            ///< called from a callback or hook of the same space; see space.h
    CLV_NO_ROOM = 12,         ///< the caller's array is too small; the call tells how much is needed
    CLV_STALE = 13,           ///< a first query after boxes were changed; see query.h
    CLV_DEVICE_FAILED = 14,   ///< a GPU or its driver failed; its message goes to the logger
    CLV_LOST = 15,            ///< another process did not answer, or MPI failed; see mpi.h
    CLV_FILE_FAILED = 16,     ///< a snapshot (save.h) or a file of a checkpoint (mpi.h)
} clv_result;

/// A name such as "CLV_BAD_BOX". Never NULL, also for numbers that are no result.
CLV_API const char* clv_result_name( clv_result result );

/// A sentence such as "a box has a NaN, or its lower corner above its upper". Never NULL.
CLV_API const char* clv_result_text( clv_result result );

/// Most objects a space can hold at once.
#define CLV_MAX_OBJECTS 0x7FFFFFFFu

/// What went wrong last on a space, in detail.
typedef struct clv_error
{
    clv_result code;     ///< CLV_OK if the last call that can fail did not
    uint32_t position;   ///< of the first bad entry in the batch; UINT32_MAX where no entry is to blame
    clv_id id;           ///< of that entry, null where it has none
    uint64_t pair_count; ///< pairs found before an update failed; max_pairs + 1 if there were too many
    const char* text;    ///< one line for people; lives until the next call that can fail
} clv_error;

/// Two overlapping objects as slot indices, a < b. clv_space_id_at turns an index into an id.
typedef struct clv_pair
{
    uint32_t a, b;
} clv_pair;

/// The pairs of the last update. Owns nothing; dies at the next update, visit, clear, shrink or destroy.
typedef struct clv_pair_view
{
    const clv_pair* pairs;
    uint64_t count;
    bool valid;      ///< false before the first update, after a failed one, and after a visit or a clear
    uint64_t* data;  ///< words of the caller's beside the pairs, to read and write; NULL without pair_data
    uint64_t number; ///< of the list that it shows: clv_space_pair_ids knows by it a view that died
} clv_pair_view;

/// Two objects that began or ceased to overlap. Ids, because an ended pair may name an object that is gone.
typedef struct clv_id_pair
{
    clv_id a, b;
} clv_id_pair;

/// The user data of the two objects of a clv_id_pair.
typedef struct clv_user_pair
{
    uint64_t a, b;
} clv_user_pair;

/// What changed between the last two good updates, each list sorted by (a.index, b.index). Dies with the pair
/// view.
typedef struct clv_event_view
{
    const clv_id_pair* begun;
    uint64_t begun_count;
    const clv_id_pair* ended;
    uint64_t ended_count;

    /// Beside each pair the user data of its objects: as it was at the update, or, of one that was removed,
    /// when it went. NULL if no user data had been set by then.
    const clv_user_pair* begun_user;
    const clv_user_pair* ended_user;

    /// Beside each ended pair its word, as the caller left it. NULL unless the def asks for pair_data.
    const uint64_t* ended_data;
} clv_event_view;

/// User data by slot; see clv_space_user_data.
typedef struct clv_user_data_view
{
    const uint64_t* values; ///< values[pair.a]; NULL if none was ever set
    uint32_t count;         ///< slots: clv_stats.slot_count, or 0
} clv_user_data_view;

/// Boxes in memory of another shape: corner i of kind lower starts `stride` bytes after corner i - 1.
/// Each corner is three floats, at any alignment. A record of six floats has upper = lower + 3.
typedef struct clv_box_stream
{
    const float* lower;
    const float* upper;
    size_t stride; ///< bytes, at least 12
} clv_box_stream;

/// The same for boxes of two axes (world.h): each corner is two floats.
typedef struct clv_box_stream2
{
    const float* lower;
    const float* upper;
    size_t stride; ///< bytes, at least 8
} clv_box_stream2;

/// And for boxes in double: each corner is three doubles, at any alignment.
typedef struct clv_box_stream64
{
    const double* lower;
    const double* upper;
    size_t stride; ///< bytes, at least 24
} clv_box_stream64;

struct clv_aabb2;
struct clv_aabb64;

/// How far around its box an object counts. In metres, on every side:
///
///   fixed + by_size * (longest side of the box as given that is finite; 0 if none) + by_speed
///   * (length of its motion)
///
/// Exactly: sides are upper - lower, the length is sqrt( x * x + y * y + z * z ), all of it in doubles, from
/// left to right; the sum is rounded up to a float, FLT_MAX where it would be more. The faces are then
/// lower - margin and upper + margin, in floats, rounded to the nearest. With both factors 0 it is `fixed`,
/// bit by bit.
typedef struct clv_margin_rule
{
    float fixed;    ///< metres; finite, >= 0
    float by_size;  ///< part of the box's size: 0.05 is 5 %; finite, >= 0
    float by_speed; ///< part of the way of clv_space_set_motion; 1: wherever it may turn; finite, >= 0
} clv_margin_rule;

/// Which objects may be pairs. Equal non-zero groups decide first: positive always pair, negative never.
/// Otherwise two objects pair if each one's category is in the other's mask.
typedef struct clv_filter
{
    uint64_t category; ///< default 1
    uint64_t mask;     ///< default all bits
    int32_t group;     ///< default 0: no group
} clv_filter;

static inline clv_filter clv_default_filter( void )
{
    clv_filter filter = { 1, UINT64_MAX, 0 };
    return filter;
}

/// What new objects come with: one entry per object in each array that is not NULL, the default where it is.
/// Start from clv_default_add_def. Later versions add members at the end, as in clv_space_def.
typedef struct clv_add_def
{
    uint32_t size;                       ///< sizeof( clv_add_def ), set by the default function
    uint32_t cookie;                     ///< proof that the default function was called
    const clv_aabb* boxes;               ///< these,
    clv_box_stream stream;               ///< or this; the other NULL
    const uint64_t* user_data;           ///< NULL: 0
    const clv_filter* filters;           ///< NULL: clv_default_filter
    const float* margins;                ///< fixed ones,
    const clv_margin_rule* margin_rules; ///< or these; both NULL: the space def's
    const bool* is_static;               ///< NULL: moving
    const clv_vec3* motions;             ///< NULL: none
    const struct clv_aabb2* boxes2;      ///< in a flat space: these in place of `boxes`,
    clv_box_stream2 stream2;             ///< or this
    const struct clv_aabb64* boxes64;    ///< in a space of doubles likewise
    clv_box_stream64 stream64;
} clv_add_def;

/// Asked, in list order and on the thread that called, whether an overlapping pair that passed the filters
/// counts. Must be pure: the answer is remembered while the pair lasts and asked for again only after
/// clv_space_refilter, clv_space_set_filter, or a change of identity. (A visit remembers nothing and asks for
/// every pair.) It may call functions that take a const space, and no others (CLV_BUSY).
typedef bool clv_pair_filter( const clv_space* space, clv_pair pair, void* user );

/// Receives pairs in chunks, the same ones on every instruction set and for every worker_count; the array
/// dies when the visitor returns. Return false to stop.
typedef bool clv_pair_visitor( const clv_pair* pairs, size_t count, void* user );

/// One numbered piece of work. No two pieces that run at the same time have the same worker number.
typedef void clv_task( uint32_t index, uint32_t worker, void* context );

/// The caller's own threads. Pieces never call back into the space and never wait for each other.
typedef struct clv_task_hooks
{
    /// Call task( index, worker, context ) once for every index below `count`, on any threads and in any
    /// order, with worker below the def's worker_count; return when all are done.
    void ( *run )( clv_task* task, uint32_t count, void* context, void* user );
    void* user;
} clv_task_hooks;

/// Most workers a space takes.
#define CLV_MAX_WORKERS 256

/// Largest worker_spin_ms of a space. Since 0.2.0.
#define CLV_MAX_SPIN_MS 1000

/// Instruction sets a kernel table exists for. All of them give the same pairs in the same order.
typedef enum clv_isa
{
    CLV_ISA_AUTO = 0, ///< what the environment variable CLEAVE_ISA names, or else the widest
    CLV_ISA_SCALAR = 1,
    CLV_ISA_SSE2 = 2,
    CLV_ISA_AVX2 = 3,   ///< with BMI, LZCNT and POPCNT
    CLV_ISA_AVX512 = 4, ///< F, BW, DQ, VL, VBMI and VBMI2; and AVX2
    CLV_ISA_NEON = 5,
} clv_isa;

#define CLV_ISA_COUNT 6

/// "auto", "scalar", "sse2", "avx2", "avx512", "neon"; "unknown" for anything else.
CLV_API const char* clv_isa_name( clv_isa isa );

/// The inverse. False, and *isa untouched, if no instruction set has that name.
CLV_API bool clv_isa_from_name( const char* name, clv_isa* isa );

/// Compiled in, and this CPU and operating system have it? CLV_ISA_AUTO and CLV_ISA_SCALAR always are.
CLV_API bool clv_isa_is_supported( clv_isa isa );

/// The widest supported one; never CLV_ISA_AUTO.
CLV_API clv_isa clv_isa_best( void );

// Parameters of the default method, for clv_space_def.settings: "cleave.few=0,cleave.rest=0". The defaults
// are measured, and right for nearly every program; change one to compare or to test. The pairs stay the
// same, their order in an unsorted list may not. Values are whole numbers from 0 on, cleave.block from 8 on.
// `cleave methods` lists those of every other method.
//
//   name               default   meaning
//   cleave.few              24   objects up to which brute force is used
//   cleave.block          8192   objects in a block, about, where there are too many for one grid
//   cleave.alone          8192   objects up to which the calling thread does all the work,
//                         whatever worker_count says
//   cleave.strip          2048   objects up to which they are put in order along one axis instead of
//                         into a grid, where that pays
//   cleave.rest              2   a world that mostly rests: 0 searched anew, 1 followed object by
//                            object, 2 by counted costs
//   cleave.rest_least      512   objects below which it is searched anew even so

/// Settings of a space, copied on create. Start from clv_default_space_def and change what you need.
/// Later versions add members at the end; `size` tells the library which ones the caller was compiled with.
/// max_pairs bounds memory too: no more pairs are kept in any form, but for those that must be sorted before
/// the filter callback is asked about them. worker_spin_ms, from 0 to CLV_MAX_SPIN_MS: waking a thread that
/// sleeps takes 40 to 90 microseconds, so a program whose frames follow each other and that has the cores to
/// spare sets it to a frame's length; with 0 threads sleep after some 0.1 ms without work. No effect on
/// tasks.
typedef struct clv_space_def
{
    uint32_t size;           ///< sizeof( clv_space_def ), set by the default function
    uint32_t cookie;         ///< proof that the default function was called
    uint32_t capacity;       ///< boxes to reserve for; the space still grows past it
    uint64_t pair_capacity;  ///< pairs to reserve for; likewise
    uint64_t max_pairs;      ///< an update that finds more fails with CLV_TOO_MANY_PAIRS; 0: no limit
    float margin;            ///< added around every box that has no margin of its own; finite, >= 0
    bool sorted;             ///< list sorted by (a, b); otherwise in an order that depends on the calls alone
    bool events;             ///< keep begun and ended pairs
    bool skip_static_pairs;  ///< leave out pairs of two objects that are both hinted static
    bool stage_times;        ///< fill the times in clv_stats; a clock read costs as much as ten boxes
    const char* method;      ///< algorithm by name, as `cleave methods` lists them; NULL: "cleave"
    const char* settings;    ///< parameters of the method, as above; NULL: its defaults
    clv_isa isa;             ///< instruction set; CLV_ISA_AUTO unless you compare
    uint32_t worker_count;   ///< threads that may share a large call, the caller's included; 1: no other
    clv_task_hooks tasks;    ///< zero: worker_count - 1 threads of our own, where worker_count asks for them
    clv_pair_filter* filter; ///< NULL: categories, masks and groups alone decide
    void* filter_user;       ///< handed to filter
    clv_allocator allocator; ///< zero: the C library's
    clv_logger logger;       ///< zero: silence
    float margin_by_size;    ///< with `margin` the clv_margin_rule of objects without their own; finite, >= 0
    float margin_by_speed;   ///< likewise
    bool pair_data;          ///< keep a word of the caller's for each pair; see clv_space_pairs
    bool doubles;            ///< boxes in double, exact at 10^9 metres; see world.h
    bool flat;               ///< boxes of two axes; see world.h
    double
        worker_spin_ms; ///< our own threads look for the next call this long before they sleep. Since 0.2.0.
} clv_space_def;

/// What an update did beside its search, as bits of clv_stats.reasons: why it took longer than those around
/// it. All but CLV_REASON_MEMORY depend on the def and the calls alone. Since 0.2.0.
typedef enum clv_update_reason
{
    CLV_REASON_MEMORY = 1 << 0,  ///< memory was taken: a list or a structure grew, or is needed for a moment
    CLV_REASON_MEMBERS = 1 << 1, ///< objects were added or removed since the last good update
    CLV_REASON_FAILURE = 1 << 2, ///< the update or visit before it failed
    CLV_REASON_SCALE = 1 << 3,   ///< an axis is seen on another scale than before: all below is made anew
    CLV_REASON_GRID = 1 << 4,    ///< a grid was chosen by a sample; the first in eight updates is routine
    CLV_REASON_RELAID = 1 << 5,  ///< that grid had too many entries, or a crowded cell, and another was tried
    CLV_REASON_PLAN = 1 << 6,    ///< blocks were planned anew (many boxes)
    CLV_REASON_REST_NOTED = 1 << 7,   ///< where all boxes are was noted, since the world may be at rest
    CLV_REASON_REST_ENTERED = 1 << 8, ///< the world rests: its pairs were found with margins, to be followed
    CLV_REASON_REST_LEFT = 1 << 9,    ///< it rests no longer; with CLV_REASON_REST_ENTERED: that was in vain
    CLV_REASON_TREE = 1 << 10,        ///< a tree was built anew
} clv_update_reason;

/// Counters of the last update, and the space's sizes now. Times are 0 unless the def asked for them.
typedef struct clv_stats
{
    uint32_t object_count;    ///< alive now
    uint32_t slot_count;      ///< alive or free for reuse
    uint64_t pair_count;      ///< reported by the last update
    uint64_t candidate_count; ///< overlapping pairs before filters
    uint64_t test_count;      ///< box against box; 0 after an update that failed
    uint64_t begun_count;
    uint64_t ended_count;
    uint64_t update_count;     ///< good updates and visits so far
    size_t memory_bytes;       ///< held now
    size_t memory_peak_bytes;  ///< most ever held
    uint64_t allocation_count; ///< calls of the allocate hook so far
    double update_ms;          ///< structure brought up to date: sorting, refitting, building
    double search_ms;          ///< overlaps found
    double clean_ms;           ///< pairs kept from earlier updates tested, and dropped where they ended
    double output_ms;          ///< filtered, sorted, compared with the last list
    uint32_t reasons;          ///< bits of clv_update_reason; 0 of an update that only searched. Since 0.2.0.
} clv_stats;
