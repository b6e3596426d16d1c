// SPDX-License-Identifier: MIT
// Every call that changes or asks a space, as data: what it is called, which columns it brings and how it is
// made again. Recording, playing, shrinking and writing it as C all go by the lists below.
#pragma once

#include "cleave/space.h"
#include "cleave/world_query.h"

/// What entries of a batch bring, beside ids: the members of clv_add_def that are arrays.
/// Member, type, bytes of a number, numbers of an entry. The order is that of the bits in a recording.
#define SPACE_COLUMNS( COLUMN )                                                                              \
    COLUMN( boxes, clv_aabb, 4, 6 )                                                                          \
    COLUMN( boxes2, clv_aabb2, 4, 4 )                                                                        \
    COLUMN( boxes64, clv_aabb64, 8, 6 )                                                                      \
    COLUMN( user_data, uint64_t, 8, 1 )                                                                      \
    COLUMN( filters, clv_filter, 8, 3 )                                                                      \
    COLUMN( margins, float, 4, 1 )                                                                           \
    COLUMN( margin_rules, clv_margin_rule, 4, 3 )                                                            \
    COLUMN( is_static, bool, 1, 1 )                                                                          \
    COLUMN( motions, clv_vec3, 4, 3 )

/// What a call is about.
typedef enum space_call_form
{
    SPACE_ABOUT_NEW,     ///< new objects, whose ids it answers
    SPACE_ABOUT_OBJECTS, ///< objects, by their ids
    SPACE_ABOUT_ALL,     ///< the space as a whole
    SPACE_ABOUT_PAIRS,   ///< all pairs
    SPACE_ABOUT_QUERIES, ///< a list of queries
    SPACE_ABOUT_SPACES,  ///< pairs of two spaces
} space_call_form;

/// Name, form, and the call with the members of a space_call. Their numbers are those of recordings: new ones
/// are added at the end.
#define SPACE_CALLS( CALL )                                                                                  \
    CALL( ADD, "clv_space_add", NEW, clv_space_add( space, call->with.boxes, call->count, call->made ) )     \
    CALL( ADD2, "clv_space_add2", NEW, clv_space_add2( space, call->with.boxes2, call->count, call->made ) ) \
    CALL( ADD64, "clv_space_add64", NEW,                                                                     \
        clv_space_add64( space, call->with.boxes64, call->count, call->made ) )                              \
    CALL( ADD_WITH, "clv_space_add_with", NEW,                                                               \
        clv_space_add_with( space, &call->with, call->count, call->made ) )                                  \
    CALL(                                                                                                    \
        MOVE, "clv_space_move", OBJECTS, clv_space_move( space, call->ids, call->with.boxes, call->count ) ) \
    CALL( MOVE2, "clv_space_move2", OBJECTS,                                                                 \
        clv_space_move2( space, call->ids, call->with.boxes2, call->count ) )                                \
    CALL( MOVE64, "clv_space_move64", OBJECTS,                                                               \
        clv_space_move64( space, call->ids, call->with.boxes64, call->count ) )                              \
    CALL( REMOVE, "clv_space_remove", OBJECTS, clv_space_remove( space, call->ids, call->count ) )           \
    CALL( SET_USER_DATA, "clv_space_set_user_data", OBJECTS,                                                 \
        clv_space_set_user_data( space, call->ids, call->with.user_data, call->count ) )                     \
    CALL( SET_FILTER, "clv_space_set_filter", OBJECTS,                                                       \
        clv_space_set_filter( space, call->ids, call->with.filters, call->count ) )                          \
    CALL( SET_MARGIN, "clv_space_set_margin", OBJECTS,                                                       \
        clv_space_set_margin( space, call->ids, call->with.margins, call->count ) )                          \
    CALL( SET_MARGIN_RULE, "clv_space_set_margin_rule", OBJECTS,                                             \
        clv_space_set_margin_rule( space, call->ids, call->with.margin_rules, call->count ) )                \
    CALL( SET_STATIC, "clv_space_set_static", OBJECTS,                                                       \
        clv_space_set_static( space, call->ids, call->with.is_static, call->count ) )                        \
    CALL( SET_MOTION, "clv_space_set_motion", OBJECTS,                                                       \
        clv_space_set_motion( space, call->ids, call->with.motions, call->count ) )                          \
    CALL( REFILTER, "clv_space_refilter", OBJECTS, clv_space_refilter( space, call->ids, call->count ) )     \
    CALL( CLEAR, "clv_space_clear", ALL, ( clv_space_clear( space ), CLV_OK ) )                              \
    CALL( SHIFT_ORIGIN, "clv_space_shift_origin", ALL, clv_space_shift_origin( space, call->origin ) )       \
    CALL( REFRESH, "clv_space_refresh", ALL, clv_space_refresh( space ) )                                    \
    CALL( SHRINK, "clv_space_shrink", ALL, clv_space_shrink( space ) )                                       \
    CALL( UPDATE, "clv_space_update", PAIRS, clv_space_update( space ) )                                     \
    CALL( VISIT, "clv_space_visit", PAIRS, clv_space_visit( space, call->visitor, call->user ) )             \
    CALL( QUERY_ALL, "clv_space_query_all", QUERIES,                                                         \
        clv_space_query_all( space, &call->queries, &call->lists ) )                                         \
    CALL( QUERY_ALL64, "clv_space_query_all64", QUERIES,                                                     \
        clv_space_query_all64( space, &call->queries64, &call->lists64 ) )                                   \
    CALL( QUERY_ANY, "clv_space_query_any", QUERIES,                                                         \
        clv_space_query_any( space, &call->queries, call->lists.hits, &call->lists.position ) )              \
    CALL( QUERY_ANY64, "clv_space_query_any64", QUERIES,                                                     \
        clv_space_query_any64( space, &call->queries64, call->lists64.hits, &call->lists64.position ) )      \
    CALL( QUERY_CLOSEST, "clv_space_query_closest", QUERIES,                                                 \
        clv_space_query_closest( space, &call->queries, call->lists.hits, &call->lists.position ) )          \
    CALL( QUERY_CLOSEST64, "clv_space_query_closest64", QUERIES,                                             \
        clv_space_query_closest64( space, &call->queries64, call->lists64.hits, &call->lists64.position ) )  \
    CALL( QUERY_NEAREST, "clv_space_query_nearest", QUERIES,                                                 \
        clv_space_query_nearest( space, &call->queries, call->k, (float)call->max_distance,                  \
            call->lists.hits, &call->lists.position ) )                                                      \
    CALL( QUERY_NEAREST64, "clv_space_query_nearest64", QUERIES,                                             \
        clv_space_query_nearest64( space, &call->queries64, call->k, call->max_distance, call->lists64.hits, \
            &call->lists64.position ) )                                                                      \
    CALL( QUERY_VISIT, "clv_space_query_visit", QUERIES,                                                     \
        clv_space_query_visit(                                                                               \
            space, &call->queries, call->hit_visitor, call->user, &call->lists.position ) )                  \
    CALL( QUERY_VISIT64, "clv_space_query_visit64", QUERIES,                                                 \
        clv_space_query_visit64(                                                                             \
            space, &call->queries64, call->hit_visitor64, call->user, &call->lists64.position ) )            \
    CALL( QUERY_PAIRS, "clv_space_query_pairs", SPACES,                                                      \
        clv_space_query_pairs(                                                                               \
            space, space, call->as_given, call->pairs, call->capacity, &call->pair_count ) )

#define SPACE_CALL_KIND( kind, name, form, play ) SPACE_CALL_##kind,
typedef enum space_call_kind
{
    SPACE_CALL_NONE,
    SPACE_CALLS( SPACE_CALL_KIND ) SPACE_CALL_COUNT
} space_call_kind;
#undef SPACE_CALL_KIND

#define SPACE_COLUMN_KIND( member, type, unit, units ) SPACE_COLUMN_##member,
typedef enum space_column
{
    SPACE_COLUMNS( SPACE_COLUMN_KIND ) SPACE_COLUMN_COUNT
} space_column;
#undef SPACE_COLUMN_KIND

struct space_stream;
struct query_job;

/// One call with all that it was given. A door fills in what it has; a player all that its row names.
typedef struct space_call
{
    space_call_kind kind;
    uint32_t count;                   ///< entries of a batch
    const clv_id* ids;                ///< NULL: none
    clv_id* made;                     ///< ids of new objects; NULL: not asked for
    clv_add_def with;                 ///< the columns
    const struct space_stream* boxes; ///< in place of with's boxes: those of a door, in memory of any shape
    clv_vec64 origin;

    clv_pair_visitor* visitor;
    clv_query_visitor* hit_visitor;
    clv_query_visitor64* hit_visitor64;
    void* user;

    clv_queries queries;
    clv_queries64 queries64;
    clv_query_lists lists;
    clv_query_lists64 lists64;
    uint32_t k;
    double max_distance;
    const struct query_job* job; ///< in place of the above: that of a door

    bool as_given;
    clv_pair* pairs;
    uint64_t capacity, pair_count;
} space_call;

/// What a query's callback said of a hit.
typedef struct space_counted
{
    uint32_t query, slot;
    bool counts;
    double reach; ///< as it left it
} space_counted;

/// What listens to the calls on a space, such as a recorder. A space without one pays for a test of a pointer
/// per call. `begin` and `end` come in turn, from the one thread that may change the space; a question may
/// come from any thread, and its answer while others are under way.
typedef struct space_tap
{
    void ( *begin )( struct space_tap* tap, const clv_space* space, const space_call* call );
    void ( *end )( struct space_tap* tap, const clv_space* space, clv_result result );

    /// A callback of the call under way answered; a visitor saw pairs, and wants more or not.
    void ( *decided )( struct space_tap* tap, clv_pair pair, bool allowed );
    void ( *shown )( struct space_tap* tap, const clv_pair* pairs, uint64_t count, bool wants_more );

    /// A question, and its answer; `ask` gives the ticket that the others name. In between a callback answers
    /// about a hit, or a visitor sees the hits of a query; `seen` keeps in the job what it needs for the
    /// answer.
    uint64_t ( *ask )( struct space_tap* tap, const clv_space* space, const space_call* call );
    void ( *counted )( struct space_tap* tap, uint64_t ticket, const space_counted* counted );
    void ( *seen )( struct space_tap* tap, struct query_job* job, uint32_t query, const void* hits,
        uint64_t count, bool wants_more );
    void ( *answer )( struct space_tap* tap, const space_call* call, uint64_t ticket, clv_result result );

    /// The space ends.
    void ( *leave )( struct space_tap* tap );
} space_tap;

/// At a door, once it was entered: the members of the call that it has.
#define SPACE_TELL( space, ... )                                                                             \
    do                                                                                                       \
    {                                                                                                        \
        if ( ( space )->tap != NULL )                                                                        \
        {                                                                                                    \
            ( space )->tap->begin( ( space )->tap, space, &( space_call ){ __VA_ARGS__ } );                  \
        }                                                                                                    \
    } while ( 0 )
