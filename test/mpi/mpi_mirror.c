// SPDX-License-Identifier: MIT
#include "mpi_mirror.h"

#include "../recorded.h"
#include "mpi_state.h"

#include <math.h>

static clv_aabb new_box( mpi_dice* dice, mpi_crowd kind )
{
    float x = mpi_dice_between( dice, 0, 12 ), y = mpi_dice_between( dice, 0, 12 );
    float z = mpi_dice_between( dice, 0, 12 ), r = mpi_dice_between( dice, 0.2f, 1.1f );
    uint32_t odd = mpi_dice_below( dice, 20 );
    clv_aabb box = mpi_cube( x, y, z, r );
    switch ( kind )
    {
    case WORLD_FLAT: return mpi_cube( x, 0, z, r );
    case WORLD_SLAB: return mpi_cube( x * 0.05f, y, z, r );
    case WORLD_GIANTS: return mpi_cube( x, y, z, odd == 0 ? 8 : r );
    case WORLD_INFINITE:
        box.lower.x = odd == 0 ? -INFINITY : box.lower.x;
        box.upper.y = odd == 1 ? INFINITY : box.upper.y;
        return box;
    case WORLD_LINE: return mpi_cube( x * 8, 0, 0, r );
    case WORLD_SPOT: return mpi_cube( x * 0.1f, y * 0.1f, z * 0.1f, 0.3f );
    case WORLD_EQUAL: return mpi_cube( odd < 7 ? -3 : (float)( odd % 7 ) - 3, 0, 0, 0.5f );
    case WORLD_FAR_AWAY:
        return odd == 0 ? mpi_cube( x * 1e30f, y * 1e30f, z, 1e28f ) : mpi_cube( x + 1e6f, y, z, r );
    case WORLD_CLUSTERS: return mpi_cube( x * 0.3f + 100 * (float)( odd % 3 ), y * 0.3f, z, r );
    default: return box;
    }
}

// ---- made and ended

static uint32_t place_of( const mpi_mirror* w, uint64_t id )
{
    for ( uint32_t i = 0; i < w->most; ++i )
    {
        if ( w->is_there[i] && w->ids[i] == id )
        {
            return i;
        }
    }
    return w->most;
}

static void pack( uint64_t id, void* bytes, void* user )
{
    mpi_mirror* w = user;
    uint32_t at = place_of( w, id );
    CHECK( at < w->most );
    memcpy( bytes, &w->own_tags[at], sizeof( uint64_t ) );
}

static void unpack( uint64_t id, const void* bytes, void* user )
{
    mpi_mirror* w = user;
    uint32_t at = place_of( w, id );
    CHECK( at < w->most );
    memcpy( &w->own_tags[at], bytes, sizeof( uint64_t ) );
}

static bool accept( uint64_t a, uint64_t b, void* user )
{
    (void)user;
    return ( a ^ b ) % 7 != 3;
}

static bool judge_accept( const clv_space* space, clv_pair pair, void* user )
{
    clv_user_data_view data = clv_space_user_data( space );
    return accept( data.values[pair.a], data.values[pair.b], user );
}

static clv_mpi_def def_of( mpi_mirror* w )
{
    const mpi_way* how = &w->how;
    clv_mpi_def def = clv_default_mpi_def();
    def.space.events = !how->is_quiet;
    def.space.allocator = mpi_purse_allocator( &w->purse );
    def.space.margin = how->margin;
    def.space.skip_static_pairs = how->skips_static;
    def.space.method = how->method;
    def.space.worker_count = how->workers;
    def.borrowed = how->borrowed;
    def.trust_ids = how->trusts;
    def.wide = how->wide;
    def.cutter = how->cutter;
    def.time_limit = 120;
    def.filter = how->asks ? accept : NULL;
    if ( !how->borrowed )
    {
        def.payload = ( clv_mpi_payload ){ sizeof( uint64_t ), pack, unpack, w };
    }
    return def;
}

static void open_space( mpi_mirror* w, int active_count )
{
    w->active_count = active_count;
    bool is_active = g_mpi_rank < active_count;
    MPI_Comm_split( MPI_COMM_WORLD, is_active ? 0 : MPI_UNDEFINED, g_mpi_rank, &w->active );
    w->purse = ( mpi_purse ){ .count = 0 };
    if ( is_active )
    {
        clv_mpi_def def = def_of( w );
        CHECK( clv_mpi_space_create( w->active, &def, &w->space ) == CLV_OK );
        recorded_begin( w->space->inside, (unsigned)g_mpi_rank );
    }
}

static void end_space( mpi_mirror* w )
{
    if ( w->space != NULL )
    {
        clv_mpi_space_destroy( w->space );
        w->space = NULL;
        CHECK( w->purse.held == 0 );
        MPI_Comm_free( &w->active );
    }
}

mpi_mirror* mpi_mirror_open( const mpi_way* how, uint64_t seed, int active_count )
{
    mpi_mirror* w = calloc( 1, sizeof( mpi_mirror ) );
    CHECK( w != NULL );
    w->how = *how;
    w->most = how->most > 0 ? how->most : MIRROR_USUAL;
    w->dice.state = seed;
    open_space( w, active_count );
    clv_space_def judge = clv_default_space_def();
    judge.events = true;
    judge.margin = how->margin;
    judge.skip_static_pairs = how->skips_static;
    judge.method = "brute";
    judge.filter = how->asks ? judge_accept : NULL;
    CHECK( clv_space_create( &judge, &w->judge ) == CLV_OK );
    return w;
}

void mpi_mirror_close( mpi_mirror* w )
{
    end_space( w );
    clv_space_destroy( w->judge );
    free( w );
}

void mpi_mirror_restart( mpi_mirror* w, int active_count )
{
    w->is_fresh = false;
    end_space( w );
    memset( w->own_tags, 0, sizeof( w->own_tags ) ); // what a restarted program knows is in the files
    open_space( w, active_count );
}

clv_result mpi_mirror_agree( clv_result mine, bool is_active )
{
    const int32_t own[2] = { is_active ? (int32_t)mine : -1, is_active ? -(int32_t)mine : INT32_MIN };
    int32_t most[2];
    MPI_Allreduce( own, most, 2, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD );
    CHECK( most[0] == -most[1] );
    return (clv_result)most[0];
}

const char* mpi_mirror_text( const mpi_mirror* w )
{
    return w->space != NULL ? clv_mpi_space_error( w->space ).text : "";
}

static void must( mpi_mirror* w, clv_result result, const char* what )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "process %d of %d: %s: %s: %s\n", g_mpi_rank, g_mpi_count, g_mpi_case, what,
            mpi_mirror_text( w ) );
        MPI_Abort( MPI_COMM_WORLD, 1 );
    }
}

// ---- steps

/// A call about own objects; what the call does not need is NULL.
typedef struct batch
{
    const char* what;
    const uint64_t* ids;
    uint32_t count;
    const clv_aabb *added, *moved;
    const clv_filter* filters;
    const bool* hints;
    const clv_margin_rule* rules;
    const clv_vec3* motions;
} batch;

static clv_result call( mpi_mirror* w, const batch* b )
{
    return w->space == NULL  ? CLV_OK
        : b->added != NULL   ? clv_mpi_space_add( w->space, b->ids, b->added, b->count )
        : b->moved != NULL   ? clv_mpi_space_move( w->space, b->ids, b->moved, b->count )
        : b->filters != NULL ? clv_mpi_space_set_filter( w->space, b->ids, b->filters, b->count )
        : b->hints != NULL   ? clv_mpi_space_set_static( w->space, b->ids, b->hints, b->count )
        : b->rules != NULL   ? clv_mpi_space_set_margin_rule( w->space, b->ids, b->rules, b->count )
        : b->motions != NULL ? clv_mpi_space_set_motion( w->space, b->ids, b->motions, b->count )
                             : clv_mpi_space_remove( w->space, b->ids, b->count );
}

// It must succeed; where the way says so, sometimes only after one process lacked memory for it, and then
// nothing had changed.
static void make( mpi_mirror* w, const batch* b )
{
    if ( w->how.refuses && mpi_dice_below( &w->dice, 2 ) == 0 )
    {
        int rank = (int)mpi_dice_below( &w->dice, (uint32_t)w->active_count );
        uint64_t at = 1 + mpi_dice_below( &w->dice, 10 );
        w->purse.refuse_at = g_mpi_rank == rank ? w->purse.count + at : 0;
        clv_result result = mpi_mirror_agree( call( w, b ), w->space != NULL );
        w->purse.refuse_at = 0;
        CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
        if ( result == CLV_OK )
        {
            return;
        }
    }
    must( w, call( w, b ), b->what );
}

// Places of the objects that this process owns, as the space tells it.
static uint32_t list_own( const mpi_mirror* w, bool* is_own )
{
    memset( is_own, 0, MIRROR_MOST * sizeof( bool ) );
    uint32_t count = w->space != NULL ? clv_mpi_space_object_count( w->space ) : 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t id = 0;
        clv_aabb box;
        CHECK( clv_mpi_space_object_at( w->space, i, &id, &box ) == CLV_OK );
        uint32_t at = place_of( w, id );
        CHECK( at < w->most && !is_own[at] );
        CHECK( memcmp( &box, &w->boxes[at], sizeof( box ) ) == 0 );
        is_own[at] = true;
    }
    return count;
}

void mpi_mirror_add( mpi_mirror* w, uint32_t wanted )
{
    w->is_fresh = false;
    uint64_t ids[MIRROR_MOST];
    clv_aabb boxes[MIRROR_MOST];
    uint32_t own = 0, added = 0;
    for ( uint32_t i = 0; i < w->most && added < wanted; ++i )
    {
        if ( w->is_there[i] )
        {
            continue;
        }
        bool is_again = w->ids[i] != 0 && mpi_dice_below( &w->dice, 2 ) == 0; // an id that was there before
        w->ids[i] = is_again ? w->ids[i] : 1000000007u * ++w->next_id;
        w->boxes[i] = new_box( &w->dice, w->how.kind );
        w->is_there[i] = w->is_new[i] = true;
        w->tags[i] = mpi_dice_next( &w->dice );
        w->own_tags[i] = 0;
        int owner = (int)mpi_dice_below( &w->dice, (uint32_t)w->active_count );
        if ( owner == g_mpi_rank )
        {
            ids[own] = w->ids[i];
            boxes[own++] = w->boxes[i];
            w->own_tags[i] = w->tags[i];
        }
        CHECK( clv_space_add_one( w->judge, w->boxes[i], &w->judge_ids[i] ) == CLV_OK );
        CHECK( clv_space_set_user_data( w->judge, &w->judge_ids[i], &w->ids[i], 1 ) == CLV_OK );
        added += 1;
    }
    make( w, &( batch ){ .what = "add", .ids = ids, .count = own, .added = boxes } );
}

// What this process owns, in the order of object_at.
static uint32_t list_all_own( const mpi_mirror* w, uint64_t* ids, clv_aabb* boxes )
{
    uint32_t count = w->space != NULL ? clv_mpi_space_object_count( w->space ) : 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        CHECK( clv_mpi_space_object_at( w->space, i, &ids[i], &boxes[i] ) == CLV_OK );
        boxes[i] = w->boxes[place_of( w, ids[i] )];
    }
    return count;
}

void mpi_mirror_move( mpi_mirror* w, uint32_t percent, float far )
{
    w->is_fresh = false;
    bool hands_over_all = mpi_dice_below( &w->dice, 3 ) != 0; // also those that stay
    uint64_t ids[MIRROR_MOST];
    clv_aabb boxes[MIRROR_MOST];
    bool is_own[MIRROR_MOST];
    uint32_t count = 0;
    list_own( w, is_own );
    for ( uint32_t i = 0; i < w->most; ++i )
    {
        bool moves = mpi_dice_below( &w->dice, 100 ) < percent && w->is_there[i];
        float x = mpi_dice_between( &w->dice, -far, far ), y = mpi_dice_between( &w->dice, -far, far );
        if ( !moves )
        {
            continue;
        }
        w->boxes[i].lower.x += x;
        w->boxes[i].upper.x += x;
        w->boxes[i].lower.y += y;
        w->boxes[i].upper.y += y;
        CHECK( clv_space_move_one( w->judge, w->judge_ids[i], w->boxes[i] ) == CLV_OK );
        ids[count] = w->ids[i];
        boxes[count] = w->boxes[i];
        count += is_own[i];
    }
    if ( hands_over_all )
    {
        count = list_all_own( w, ids, boxes );
    }
    make( w, &( batch ){ .what = "move", .ids = ids, .count = count, .moved = boxes } );
}

void mpi_mirror_remove( mpi_mirror* w, uint32_t percent )
{
    w->is_fresh = false;
    uint64_t ids[MIRROR_MOST];
    bool is_own[MIRROR_MOST];
    uint32_t count = 0;
    list_own( w, is_own );
    for ( uint32_t i = 0; i < w->most; ++i )
    {
        if ( mpi_dice_below( &w->dice, 100 ) < percent && w->is_there[i] )
        {
            CHECK( clv_space_remove_one( w->judge, w->judge_ids[i] ) == CLV_OK );
            w->is_there[i] = false;
            ids[count] = w->ids[i];
            count += is_own[i];
        }
    }
    make( w, &( batch ){ .what = "remove", .ids = ids, .count = count } );
}

static clv_result dress_judge( mpi_mirror* w, uint32_t what, uint32_t i, const clv_filter* filter,
    const bool* is_static, const clv_margin_rule* rule, const clv_vec3* motion )
{
    const clv_id* id = &w->judge_ids[i];
    return what == 0 ? clv_space_set_filter( w->judge, id, filter, 1 )
        : what == 1  ? clv_space_set_static( w->judge, id, is_static, 1 )
        : what == 2  ? clv_space_set_margin_rule( w->judge, id, rule, 1 )
                     : clv_space_set_motion( w->judge, id, motion, 1 );
}

void mpi_mirror_dress( mpi_mirror* w, uint32_t what )
{
    w->is_fresh = false;
    uint64_t ids[MIRROR_MOST];
    clv_filter filters[MIRROR_MOST];
    bool is_own[MIRROR_MOST], hints[MIRROR_MOST];
    clv_margin_rule rules[MIRROR_MOST];
    clv_vec3 motions[MIRROR_MOST];
    uint32_t count = 0;
    list_own( w, is_own );
    for ( uint32_t i = 0; i < w->most; ++i )
    {
        mpi_dice* d = &w->dice;
        bool is_meant = mpi_dice_below( d, 5 ) == 0 && w->is_there[i];
        filters[count] = ( clv_filter ){ 1 + mpi_dice_below( d, 3 ),
            mpi_dice_below( d, 4 ) == 0 ? 1 : UINT64_MAX, (int32_t)mpi_dice_below( d, 5 ) - 2 };
        hints[count] = mpi_dice_below( d, 2 ) == 0;
        rules[count] =
            ( clv_margin_rule ){ mpi_dice_between( d, 0, 0.3f ), mpi_dice_between( d, 0, 0.1f ), 0 };
        motions[count] = ( clv_vec3 ){ mpi_dice_between( d, -2, 2 ), 0, mpi_dice_between( d, -2, 2 ) };
        if ( is_meant )
        {
            CHECK( dress_judge( w, what, i, &filters[count], &hints[count], &rules[count],
                       &motions[count] ) == CLV_OK );
            ids[count] = w->ids[i];
            count += is_own[i];
        }
    }
    make( w,
        &( batch ){ .what = "dress",
            .ids = ids,
            .count = count,
            .filters = what == 0 ? filters : NULL,
            .hints = what == 1 ? hints : NULL,
            .rules = what == 2 ? rules : NULL,
            .motions = what == 3 ? motions : NULL } );
}

// ---- one answer

static int by_ids( const void* x, const void* y )
{
    const clv_mpi_pair *p = x, *q = y;
    return p->a != q->a ? ( p->a < q->a ? -1 : 1 ) : p->b != q->b ? ( p->b < q->b ? -1 : 1 ) : 0;
}

static clv_mpi_pair* judge_pairs(
    const mpi_mirror* w, const clv_user_pair* users, const clv_pair* pairs, uint64_t count )
{
    clv_mpi_pair* list = malloc( (size_t)count * sizeof( clv_mpi_pair ) + 1 );
    clv_user_data_view data = clv_space_user_data( w->judge );
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint64_t a = users != NULL ? users[i].a : data.values[pairs[i].a],
                 b = users != NULL ? users[i].b : data.values[pairs[i].b];
        list[i] = ( clv_mpi_pair ){ a < b ? a : b, a < b ? b : a, 0, 0 };
    }
    qsort( list, count, sizeof( clv_mpi_pair ), by_ids );
    return list;
}

// All processes' pairs on process 0, which compares.
static void compare(
    const clv_mpi_pair* own, uint64_t own_count, clv_mpi_pair* wanted, uint64_t count, const char* what )
{
    int mine = (int)( own_count * sizeof( clv_mpi_pair ) ), bytes = 0;
    int sizes[64], starts[64];
    MPI_Gather( &mine, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD );
    for ( int r = 0; g_mpi_rank == 0 && r < g_mpi_count; ++r )
    {
        starts[r] = bytes;
        bytes += sizes[r];
    }
    clv_mpi_pair* all = malloc( (size_t)bytes + 1 );
    MPI_Gatherv( own, mine, MPI_BYTE, all, sizes, starts, MPI_BYTE, 0, MPI_COMM_WORLD );
    uint64_t total = (uint64_t)bytes / sizeof( clv_mpi_pair );
    qsort( all, total, sizeof( clv_mpi_pair ), by_ids );
    for ( uint64_t i = 0; g_mpi_rank == 0 && ( i < total || i < count ); ++i )
    {
        if ( i >= total || i >= count || all[i].a != wanted[i].a || all[i].b != wanted[i].b )
        {
            fprintf( stderr, "%s: %s: entry %llu of %llu (%llu wanted): %lld %lld, wanted %lld %lld\n",
                g_mpi_case, what, (unsigned long long)i, (unsigned long long)total, (unsigned long long)count,
                i < total ? (long long)all[i].a : -1, i < total ? (long long)all[i].b : -1,
                i < count ? (long long)wanted[i].a : -1, i < count ? (long long)wanted[i].b : -1 );
            MPI_Abort( MPI_COMM_WORLD, 1 );
        }
    }
    free( all );
    free( wanted );
}

// Who owned the objects of events: those that are there, and none of those that are gone. Of one that came
// back under its id either may be told.
static void check_event_owners(
    const mpi_mirror* w, const int32_t* owners, const clv_mpi_pair* pairs, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        const uint64_t ids[2] = { pairs[i].a, pairs[i].b };
        const int32_t told[2] = { pairs[i].owner_a, pairs[i].owner_b };
        for ( int end = 0; end < 2; ++end )
        {
            uint32_t at = place_of( w, ids[end] );
            bool is_there = at < w->most;
            CHECK( told[end] == ( is_there ? owners[at] : -1 ) ||
                ( is_there && w->is_new[at] && told[end] == -1 ) );
        }
    }
}

// Each object is owned once, with its payload, by the process that pairs name.
static void check_owners( const mpi_mirror* w )
{
    bool is_own[MIRROR_MOST];
    int32_t owned[MIRROR_MOST], owners[MIRROR_MOST];
    list_own( w, is_own );
    for ( uint32_t i = 0; i < w->most; ++i )
    {
        owned[i] = is_own[i];
        owners[i] = is_own[i] ? g_mpi_rank : -1;
        CHECK( !is_own[i] || w->how.borrowed || w->own_tags[i] == w->tags[i] );
    }
    MPI_Allreduce( MPI_IN_PLACE, owned, (int)w->most, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD );
    MPI_Allreduce( MPI_IN_PLACE, owners, (int)w->most, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD );
    for ( uint32_t i = 0; i < w->most; ++i )
    {
        CHECK( owned[i] == ( w->is_there[i] ? 1 : 0 ) );
    }
    clv_mpi_pair_view own = { NULL, 0, true };
    own = w->space != NULL ? clv_mpi_space_pairs( w->space ) : own;
    for ( uint64_t i = 0; i < own.count; ++i )
    {
        CHECK( owners[place_of( w, own.pairs[i].a )] == own.pairs[i].owner_a );
        CHECK( owners[place_of( w, own.pairs[i].b )] == own.pairs[i].owner_b );
    }
    clv_mpi_event_view events = { NULL, 0, NULL, 0 };
    events = w->space != NULL ? clv_mpi_space_events( w->space ) : events;
    check_event_owners( w, owners, events.begun, events.begun_count );
    check_event_owners( w, owners, events.ended, events.ended_count );
}

static void compare_update( mpi_mirror* w )
{
    CHECK( clv_space_update( w->judge ) == CLV_OK );
    clv_pair_view view = clv_space_pairs( w->judge );
    clv_event_view events = clv_space_events( w->judge );
    clv_mpi_pair_view own = { NULL, 0, true };
    clv_mpi_event_view own_events = { NULL, 0, NULL, 0 };
    if ( w->space != NULL )
    {
        own = clv_mpi_space_pairs( w->space );
        own_events = clv_mpi_space_events( w->space );
        CHECK( own.valid && clv_mpi_space_stats( w->space ).all_pair_count == view.count );
    }
    compare( own.pairs, own.count, judge_pairs( w, NULL, view.pairs, view.count ), view.count, "pairs" );
    uint64_t begun = w->how.is_quiet ? 0 : events.begun_count,
             ended = w->how.is_quiet ? 0 : events.ended_count;
    compare( own_events.begun, own_events.begun_count, judge_pairs( w, events.begun_user, NULL, begun ),
        begun, "begun" );
    compare( own_events.ended, own_events.ended_count, judge_pairs( w, events.ended_user, NULL, ended ),
        ended, "ended" );
    check_owners( w );
    memset( w->is_new, 0, sizeof( w->is_new ) );
    w->is_fresh = true;
}

void mpi_mirror_update( mpi_mirror* w )
{
    if ( w->space != NULL )
    {
        must( w, clv_mpi_space_update( w->space ), "update" );
    }
    compare_update( w );
}

bool mpi_mirror_try_update( mpi_mirror* w, int refused_rank, uint64_t refused_at )
{
    clv_result result = CLV_OK;
    w->is_fresh = false;
    if ( w->space != NULL )
    {
        w->purse.refuse_at = g_mpi_rank == refused_rank ? w->purse.count + refused_at : 0;
        result = clv_mpi_space_update( w->space );
        w->purse.refuse_at = 0;
    }
    result = mpi_mirror_agree( result, w->space != NULL );
    CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
    if ( result == CLV_OK )
    {
        compare_update( w );
    }
    return result == CLV_OK;
}

// ---- questions

enum
{
    ASKED = 6,
    NEAREST = 4
};

static int by_number( const void* x, const void* y )
{
    const uint64_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

static void compare_boxes( const mpi_mirror* w, const clv_queries* boxes, const clv_mpi_hit_view* view )
{
    static clv_hit hits[ASKED * MIRROR_MOST];
    uint64_t offsets[ASKED + 1], ids[MIRROR_MOST];
    clv_query_lists wanted = { offsets, hits, ASKED * MIRROR_MOST, 0, 0 };
    CHECK( clv_space_query_all( w->judge, boxes, &wanted ) == CLV_OK );
    clv_user_data_view data = clv_space_user_data( w->judge );
    for ( uint32_t i = 0; i < ASKED; ++i )
    {
        uint64_t count = offsets[i + 1] - offsets[i];
        CHECK( view->offsets[i] == offsets[i] && view->offsets[i + 1] == offsets[i + 1] );
        for ( uint64_t k = 0; k < count; ++k )
        {
            ids[k] = data.values[hits[offsets[i] + k].index];
        }
        qsort( ids, count, sizeof( uint64_t ), by_number );
        for ( uint64_t k = 0; k < count; ++k )
        {
            CHECK( view->hits[offsets[i] + k].id == ids[k] );
        }
    }
}

// Of equal times and distances the judge has the lowest slot, the space the lowest id: how far is what is
// compared.
static void compare_hits( const clv_mpi_hit* got, const clv_hit* wanted, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        bool is_hit = wanted[i].index != CLV_NO_HIT;
        CHECK( ( got[i].owner >= 0 ) == is_hit && ( !is_hit || got[i].t == wanted[i].t ) );
    }
}

void mpi_mirror_ask( mpi_mirror* w )
{
    mpi_dice dice = { mpi_dice_next( &w->dice ) + (uint64_t)g_mpi_rank };
    clv_aabb boxes[ASKED];
    clv_ray rays[ASKED];
    clv_vec3 points[ASKED];
    for ( uint32_t i = 0; i < ASKED; ++i )
    {
        boxes[i] = new_box( &dice, w->how.kind );
        float x = mpi_dice_between( &dice, -1, 1 ), y = mpi_dice_between( &dice, -1, 1 );
        points[i] = boxes[i].upper.y < INFINITY ? boxes[i].upper : ( clv_vec3 ){ 1, 2, 3 };
        rays[i] = ( clv_ray ){ points[i], { x, y, 0.5f }, i % 2 == 0 ? INFINITY : 5 };
    }
    if ( w->space == NULL )
    {
        return;
    }
    clv_queries lists[3] = { clv_query_boxes( boxes, ASKED ), clv_query_rays( rays, ASKED ),
        clv_query_points( points, ASKED ) };
    clv_mpi_hit_view view;
    clv_mpi_hit got[ASKED * NEAREST];
    clv_hit wanted[ASKED * NEAREST];
    clv_result result = clv_mpi_space_query_all( w->space, &lists[0], &view );
    if ( !w->is_fresh )
    {
        CHECK( result == CLV_STALE || result == CLV_OK ); // a batch may have been empty
        return;
    }
    CHECK( result == CLV_OK );
    compare_boxes( w, &lists[0], &view );
    CHECK( clv_mpi_space_query_closest( w->space, &lists[1], got ) == CLV_OK );
    CHECK( clv_space_query_closest( w->judge, &lists[1], wanted, NULL ) == CLV_OK );
    compare_hits( got, wanted, ASKED );
    CHECK( clv_mpi_space_query_nearest( w->space, &lists[2], NEAREST, INFINITY, got ) == CLV_OK );
    CHECK( clv_space_query_nearest( w->judge, &lists[2], NEAREST, INFINITY, wanted, NULL ) == CLV_OK );
    compare_hits( got, wanted, ASKED * NEAREST );
}

// ---- files

clv_result mpi_mirror_save( mpi_mirror* w, const char* path )
{
    clv_result result = w->space != NULL ? clv_mpi_space_save( w->space, path ) : CLV_OK;
    return mpi_mirror_agree( result, w->space != NULL );
}

clv_result mpi_mirror_load( mpi_mirror* w, const char* path )
{
    clv_result result = w->space != NULL ? clv_mpi_space_load( w->space, path ) : CLV_OK;
    return mpi_mirror_agree( result, w->space != NULL );
}
