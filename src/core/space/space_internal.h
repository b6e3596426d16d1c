// SPDX-License-Identifier: MIT
#pragma once

#include "base/fp_mode.h"
#include "cleave/space.h"
#include "far/far_fit.h"
#include "method/method.h"
#include "object/store.h"
#include "pair/decisions.h"
#include "pair/difference.h"
#include "pair/list.h"
#include "pair/words.h"
#include "query/query_state.h"
#include "simd/kernels.h"
#include "space/call.h"
#include "space/filter_classes.h"
#include "task/task.h"

#include <string.h>

struct clv_space
{
    base_memory memory; ///< holds the space itself too
    clv_space_def def;
    const clv_method* method;
    const simd_kernels* kernels;
    clv_method_context context; ///< the method's view of all this
    void* method_state;
    task_runner tasks;

    object_store objects;
    const struct space_doubles* doubles; ///< from the first box in double on; NULL: there was none
    far_fit far;                         ///< where boxes are doubles: how the method sees them
    bool doubles_changed;                ///< since the last good update
    bool is_shifted; ///< all boxes moved alike since the method saw them; what moved by itself is noted
    uint64_t in_vain_count; ///< pairs of this update that touch as the method sees them, and not in double

    pair_list list;    ///< of the last update; capacity kept from frame to frame
    pair_list scratch; ///< second buffer of the sort
    bool list_is_valid;
    uint64_t list_number;     ///< another one as soon as views die; from 1 on
    const clv_pair* borrowed; ///< the method's own list in place of `list`; NULL: it is in `list`
    uint64_t borrowed_count;
    uint64_t handed_count;   ///< pairs that the method handed over in this update,
    bool has_stray;          ///< and whether one of them has a slot that is not there:
    clv_pair stray;          ///< the first,
    uint64_t stray_position; ///< and how many came before it
    bool filters_changed;    ///< since the last good update
    filter_classes filter_classes;
    bool last_failed;    ///< the last update or visit
    bool is_busy;        ///< inside a call that changes it, where callbacks and hooks may be at work
    bool is_refusing;    ///< and asserts that it must not be called there
    bool lists_are_busy; ///< and that call makes or moves the lists

    pair_list last_sorted; ///< events: the last good list
    pair_list now_sorted;  ///< events: the one being made
    pair_id_list begun, ended;
    pair_user_list begun_user, ended_user; ///< where there is user data

    base_u64_array words; ///< pair data, beside `list`
    pair_list last_list;  ///< pair data: the last good list while another one is made, and until one is good
    base_u64_array last_words;  ///< beside it
    pair_word_table word_table; ///< of those that are not 0
    base_u64_array ended_words; ///< beside `ended`

    pair_keys decisions;      ///< of the callback, about the last good list
    pair_keys next_decisions; ///< being made

    query_state query; ///< what queries see, from the first one on

    space_tap* tap;    ///< listens to every call; NULL: nothing does
    base_fp_mode mode; ///< the caller's, inside a call that changes it

    clv_stats stats;
    clv_error error;
    char error_text[192];
};

/// Arrays of the space's own: those whose contents last, and those that are made anew in each update.
#define SPACE_LASTING( X )                                                                                   \
    X( list )                                                                                                \
    X( last_sorted )                                                                                         \
    X( begun )                                                                                               \
    X( ended )                                                                                               \
    X( begun_user )                                                                                          \
    X( ended_user )                                                                                          \
    X( words )                                                                                               \
    X( last_list )                                                                                           \
    X( last_words )                                                                                          \
    X( ended_words )
#define SPACE_PASSING( X )                                                                                   \
    X( scratch )                                                                                             \
    X( now_sorted )                                                                                          \
    X( word_table.entries )                                                                                  \
    X( filter_classes.of_slot )

static inline uint64_t space_pair_count( const clv_space* space )
{
    return space->borrowed != NULL ? space->borrowed_count : space->list.count;
}

/// The callback is asked while pairs arrive, unless the list must be sorted first.
typedef enum space_filter_stage
{
    SPACE_FILTER_ARRIVING,
    SPACE_FILTER_SORTED,
} space_filter_stage;

/// What became of pairs on their way through the filters.
typedef struct space_filtered
{
    uint64_t taken; ///< looked at, from the first on
    uint64_t apart; ///< of those, not touching: boxes in double decide that here
    uint64_t kept;  ///< of those, allowed
} space_filtered;

/// Of from[0 .. count) those the filters allow, in order, to `to`, which may be `from` or lie before it; no
/// further than to the one that makes them `most`, so that what is asked and counted does not depend on how
/// many arrived at once. Only the callback's memory can fail.
clv_result clv_space_filter( clv_space* space, space_filter_stage stage, bool remember, const clv_pair* from,
    uint64_t count, clv_pair* to, uint64_t most, space_filtered* done );

/// Pairs as the method handed them over, each once, before anything else looks at them. CLV_BAD_ARGUMENT if
/// one of this update's has a slot out of range; methods that are trusted are not asked. Debug builds assert
/// a < b and that both are live.
clv_result clv_space_check_handed( clv_space* space, const clv_pair* pairs, uint64_t count );

/// There is no list any more, and there are no events.
void clv_space_forget_list( clv_space* space );

/// Is no pair in the list twice? For debug builds: all of a short list, and of a long one another part in
/// each update.
bool clv_space_list_is_distinct( const clv_space* space );

/// Does anything filter pairs at this stage?
bool clv_space_has_filter( const clv_space* space, space_filter_stage stage );

/// The new list is final and good: adopt what was decided, and forget what had to be asked again.
void clv_space_filter_commit( clv_space* space );

static inline bool space_has_doubles( const clv_space* space )
{
    return object_boxes64( &space->objects ) != NULL;
}

/// The boxes a space takes, in the order in which call.h has the calls and columns for them.
typedef enum space_kind
{
    SPACE_FLOATS,
    SPACE_FLAT,
    SPACE_DOUBLES,
} space_kind;

static inline space_kind space_kind_of( const clv_space* space )
{
    return space_has_doubles( space ) ? SPACE_DOUBLES : space->def.flat ? SPACE_FLAT : SPACE_FLOATS;
}

/// The box that the caller gave a live slot of a space of doubles.
clv_aabb64 clv_space_given_box64( const clv_space* space, uint32_t slot );

/// A live slot's test box anew: its margin or motion is another.
void clv_space_renew_box( clv_space* space, uint32_t slot );

/// Before the next update, and before any object gets a new motion: boxes swept along spent motions shrink
/// back. O(n) if there are any.
void clv_space_drop_motions( clv_space* space );

/// Is the last list still right without a search, though all boxes were shifted since? Motions end with an
/// update, so not then.
bool clv_space_list_holds( const clv_space* space );

/// Every id alive and named once? Otherwise records the error and returns its code.
clv_result clv_space_check_ids( clv_space* space, const clv_id* ids, uint32_t count );

/// Records what clv_object_store_check_ids found, and returns its code.
clv_result clv_space_refuse_id( clv_space* space, clv_result code, uint32_t position, clv_id id );

/// Boxes of any kind, in memory of any shape.
typedef struct space_stream
{
    space_kind kind;
    const void *lower, *upper; ///< corners, at any alignment
    size_t stride;
    const struct space_doubles* doubles; ///< NULL: boxes of floats
} space_stream;

/// Whose boxes a move brings: of the objects that `ids` names, or of live ones in the
/// order of their slots.
typedef struct space_owners
{
    const clv_id* ids;    ///< NULL: live ones,
    const uint32_t* live; ///< in these slots; NULL: in a row,
    uint32_t first;       ///< from this slot on
    bool ascend;          ///< by slot; of ids: unless the check finds otherwise
} space_owners;

static inline uint32_t space_owner_slot( const space_owners* owners, uint32_t i )
{
    return owners->ids != NULL ? owners->ids[i].index
        : owners->live != NULL ? owners->live[i]
                               : owners->first + i;
}

/// What is done with boxes in double alone. Their doors bring it along with the stream, so that a program
/// without such a door is linked without it.
typedef struct space_doubles
{
    /// Gives a live slot another box, as the caller gave it, and grows and maps it; many; a new object.
    void ( *set )( clv_space* space, uint32_t slot, clv_aabb64 given );
    void ( *move )( clv_space* space, const space_owners* owners, const space_stream* boxes, uint32_t count );
    clv_id ( *add )( clv_space* space, clv_aabb64 given );

    /// Before a search: is the map still good? If not every box is mapped anew. False if out of memory.
    bool ( *fit )( clv_space* space );
} space_doubles;

extern const space_doubles clv_space_doubles;

/// The same for any space.
static inline bool space_fit( clv_space* space )
{
    space->in_vain_count = 0;
    return space->doubles == NULL || space->doubles->fit( space );
}

/// With a constant `kind`, as at the doors, only those of doubles name the table.
static inline const space_doubles* space_doubles_of( space_kind kind )
{
    return kind == SPACE_DOUBLES ? &clv_space_doubles : NULL;
}

/// A corner, of two or three floats or of three doubles.
static inline size_t space_corner_bytes( space_kind kind )
{
    return kind == SPACE_DOUBLES ? sizeof( clv_vec64 )
        : kind == SPACE_FLAT     ? sizeof( clv_vec2 )
                                 : sizeof( clv_vec3 );
}

/// Records one behind the other.
static inline space_stream space_records( space_kind kind, const void* boxes )
{
    size_t corner = space_corner_bytes( kind );
    return ( space_stream ){ kind, boxes, boxes != NULL ? (const char*)boxes + corner : NULL, 2 * corner,
        space_doubles_of( kind ) };
}

/// A stream of the caller's, of one of the three public types.
#define SPACE_STREAM( kind, stream )                                                                         \
    ( ( space_stream ){                                                                                      \
        ( kind ), ( stream ).lower, ( stream ).upper, ( stream ).stride, space_doubles_of( kind ) } )

/// A face of a corner, at any alignment.
static inline float space_float_at( const char* corner, int axis )
{
    float face;
    memcpy( &face, corner + sizeof( face ) * (size_t)axis, sizeof( face ) );
    return face;
}

static inline double space_double_at( const char* corner, int axis )
{
    double face;
    memcpy( &face, corner + sizeof( face ) * (size_t)axis, sizeof( face ) );
    return face;
}

/// Are these plain records, one behind the other?
static inline bool space_are_records( const space_stream* s )
{
    size_t corner = space_corner_bytes( s->kind ),
           part = s->kind == SPACE_DOUBLES ? sizeof( double ) : sizeof( float );
    return s->lower != NULL && s->stride == 2 * corner &&
        (const char*)s->upper == (const char*)s->lower + corner &&
        ( (uintptr_t)s->lower & ( part - 1 ) ) == 0;
}

static inline void space_read_box( const space_stream* s, uint32_t index, void* lower, void* upper )
{
    size_t offset = s->stride * index, corner = space_corner_bytes( s->kind );
    memcpy( lower, (const char*)s->lower + offset, corner );
    memcpy( upper, (const char*)s->upper + offset, corner );
}

static inline clv_aabb space_box_at( const space_stream* s, uint32_t index )
{
    clv_aabb box;
    space_read_box( s, index, &box.lower, &box.upper );
    return box;
}

static inline clv_aabb2 space_box2_at( const space_stream* s, uint32_t index )
{
    clv_aabb2 box;
    space_read_box( s, index, &box.lower, &box.upper );
    return box;
}

static inline clv_aabb64 space_box64_at( const space_stream* s, uint32_t index )
{
    clv_aabb64 box;
    space_read_box( s, index, &box.lower, &box.upper );
    return box;
}

/// An add once it has entered; `with` is what else the objects bring, or NULL. Bad entries are named, nothing
/// is added then.
clv_result clv_space_add_all(
    clv_space* space, space_stream boxes, const clv_add_def* with, uint32_t count, clv_id* ids );

/// For it, once all is checked: new objects; moves; and moves of slots one behind the other, or of all, which
/// check themselves and answer false if the batch is not so or an entry is bad.
void clv_space_take_new(
    clv_space* space, const space_stream* boxes, const clv_add_def* with, uint32_t count, clv_id* ids );
void clv_space_take_boxes(
    clv_space* space, const space_owners* owners, const space_stream* boxes, uint32_t count );
bool clv_space_take_row(
    clv_space* space, const space_owners* owners, const space_stream* boxes, uint32_t count );

/// What objects carry besides a box. Are the first `count` entries good (`ids` may be NULL)? The columns they
/// need; and all that entry `i` brings, for the object in `slot`.
clv_result clv_space_check_columns(
    clv_space* space, const clv_add_def* def, const clv_id* ids, uint32_t count );
bool clv_space_use_columns( clv_space* space, const clv_add_def* def, uint32_t count );
void clv_space_set_columns( clv_space* space, const clv_add_def* def, uint32_t i, uint32_t slot );

/// At the door of every call that changes the space: false if it comes from inside another one. Then nothing
/// may be touched, and the answer is CLV_BUSY. From here to the way out floats are as the standard has them.
/// A tap is told of the call; NULL: not yet.
bool clv_space_enter( clv_space* space, const space_call* call );

/// The same, with the members of the call that it has, which are written down only for a tap.
#define SPACE_ENTER( space, ... )                                                                            \
    clv_space_enter( space, ( space )->tap == NULL ? NULL : &( space_call ){ __VA_ARGS__ } )

/// The way out; hands the result on.
clv_result clv_space_leave( clv_space* space, clv_result result );

// Pair data; where the def does not ask for it, these do nothing.

/// Before a search: the last good list steps aside with its words. Back again if it turns out to be the new
/// one.
void clv_space_words_begin( clv_space* space );
void clv_space_words_keep( clv_space* space );

/// The new list is final: each pair that was in the last good one, of the same objects, keeps its word, the
/// others get 0. False if out of memory.
bool clv_space_words_carry( clv_space* space );

/// And the words of those that ended, in the order of the events.
bool clv_space_words_end( clv_space* space );

void clv_space_words_clear( clv_space* space );

/// Record a failure and return its code. `position` is UINT32_MAX where no entry is to blame.
clv_result clv_space_fail(
    clv_space* space, clv_result code, uint32_t position, clv_id id, const char* format, ... );

/// The last call succeeded.
clv_result clv_space_succeed( clv_space* space );

/// Before a box changes or an object comes, if it does: what queries see stays as it was.
void clv_space_will_change( clv_space* space, bool does );

/// The same of some objects; `owners` is NULL for new ones, which are noted as they come.
void clv_space_will_change_some( clv_space* space, const space_owners* owners, uint32_t count );

/// A copy of what memory there is, which queries of other threads may take just now.
base_memory clv_space_memory( const clv_space* space );

/// The only way to the logger: one line, and control characters in it as question marks.
void clv_space_log( const clv_logger* logger, clv_log_level level, const char* line );
