// SPDX-License-Identifier: MIT
// Many processes, one answer. Every process keeps the whole world in a clv_space of its own and steps it as the others do; the
// lists of all processes together must be its list, pair by pair, each pair once, and so the events. Started by mpirun with any
// number of processes; scripts/check-mpi.sh does it.
// fenv's traps are the C library's own.
#define _GNU_SOURCE

#include "mpi_support.h"

#include <fenv.h>
#include <math.h>
#include <unistd.h>

// ---- worlds

enum
{
    MOST = 900
};

typedef enum shape
{
    SPREAD,
    FLAT,
    LINE,
    SPOT,
    EQUAL,
    GIANTS,
    INFINITE,
    FAR_AWAY,
    CLUSTERS,
    SHAPES
} shape;

static const char* const s_shapes[SHAPES] = { "spread", "flat", "line", "spot", "equal", "giants", "infinite",
    "far away", "clusters" };

static clv_aabb new_box( mpi_dice* d, shape kind, uint32_t i )
{
    float x = mpi_dice_between( d, 0, 20 ), y = mpi_dice_between( d, 0, 20 ),
          z = mpi_dice_between( d, 0, 20 ), r = mpi_dice_between( d, 0.2f, 0.9f );
    switch ( kind )
    {
    case FLAT: return mpi_cube( x * 3, 0, z * 3, r );
    case LINE: return mpi_cube( x * 20, 1, 1, r );
    case SPOT: return mpi_cube( x * 0.05f, y * 0.05f, z * 0.05f, 0.3f );
    case EQUAL: return mpi_cube( i < MOST / 3 ? -3 : (float)( i % 7 ) - 3, 0, 0, 0.5f ); // touching faces
    case GIANTS: return i % 40 == 0 ? mpi_cube( x, y, z, 12 ) : mpi_cube( x, y, z, r );
    case INFINITE:
    {
        clv_aabb box = mpi_cube( x, y, z, r );
        box.lower.x = i % 31 == 0 ? -INFINITY : box.lower.x;
        box.upper.y = i % 37 == 0 ? INFINITY : box.upper.y;
        return box;
    }
    case FAR_AWAY:
        return i % 50 == 0 ? mpi_cube( x * 1e30f, y * 1e30f, z, 1e28f ) : mpi_cube( x + 1e6f, y, z, r );
    case CLUSTERS: return mpi_cube( x * 0.2f + 100 * (float)( i % 3 ), y * 0.2f, z, r );
    default: return mpi_cube( x, y, z, r );
    }
}

// Everything there is, the same on all processes; which of them owns what only that one knows.
typedef struct world
{
    clv_mpi_space* space;
    clv_space* judge;
    mpi_dice chance;
    shape kind;
    uint64_t ids[MOST];
    clv_id judge_ids[MOST];
    clv_aabb boxes[MOST];
    clv_filter filters[MOST];
    bool is_there[MOST];
    uint64_t tags[MOST]; ///< what the owner's payload must say
    uint64_t own_tags[MOST];
    bool borrowed, is_quiet;
    uint64_t next_id;
    mpi_purse purse;
} world;

static uint32_t place_of( const world* w, uint64_t id )
{
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        if ( w->is_there[i] && w->ids[i] == id )
        {
            return i;
        }
    }
    return MOST;
}

static void pack( uint64_t id, void* bytes, void* user )
{
    world* w = user;
    uint32_t at = place_of( w, id );
    CHECK( at < MOST );
    memcpy( bytes, &w->own_tags[at], sizeof( uint64_t ) );
}

static void unpack( uint64_t id, const void* bytes, void* user )
{
    world* w = user;
    uint32_t at = place_of( w, id );
    CHECK( at < MOST );
    memcpy( &w->own_tags[at], bytes, sizeof( uint64_t ) );
}

// Those that this process owns, as the space tells it, in the world's order.
static uint32_t list_own( const world* w, uint32_t* places )
{
    uint32_t count = clv_mpi_space_object_count( w->space );
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint64_t id = 0;
        clv_aabb box;
        CHECK( clv_mpi_space_object_at( w->space, i, &id, &box ) == CLV_OK );
        places[i] = place_of( w, id );
        CHECK( places[i] < MOST );
        CHECK( memcmp( &box, &w->boxes[places[i]], sizeof( box ) ) == 0 );
    }
    return count;
}

// ---- one answer

static int by_ids( const void* x, const void* y )
{
    const clv_mpi_pair *p = x, *q = y;
    return p->a != q->a ? ( p->a < q->a ? -1 : 1 ) : p->b != q->b ? ( p->b < q->b ? -1 : 1 ) : 0;
}

// All processes' pairs of one kind on every process, sorted.
static clv_mpi_pair* collect( const clv_mpi_pair* own, uint64_t own_count, uint64_t* total )
{
    int mine = (int)( own_count * sizeof( clv_mpi_pair ) );
    int* sizes = malloc( (size_t)g_mpi_count * sizeof( int ) );
    int* starts = malloc( (size_t)g_mpi_count * sizeof( int ) );
    MPI_Allgather( &mine, 1, MPI_INT, sizes, 1, MPI_INT, MPI_COMM_WORLD );
    int bytes = 0;
    for ( int r = 0; r < g_mpi_count; ++r )
    {
        starts[r] = bytes;
        bytes += sizes[r];
    }
    clv_mpi_pair* all = malloc( (size_t)bytes + 1 );
    MPI_Allgatherv( own, mine, MPI_BYTE, all, sizes, starts, MPI_BYTE, MPI_COMM_WORLD );
    *total = (uint64_t)bytes / sizeof( clv_mpi_pair );
    qsort( all, *total, sizeof( clv_mpi_pair ), by_ids );
    free( sizes );
    free( starts );
    return all;
}

static void compare( const world* w, const clv_mpi_pair* own, uint64_t own_count, const clv_mpi_pair* wanted,
    uint64_t wanted_count, const char* what )
{
    (void)w;
    uint64_t total = 0;
    clv_mpi_pair* all = collect( own, own_count, &total );
    for ( uint64_t i = 0; i < total || i < wanted_count; ++i )
    {
        bool is_same = i < total && i < wanted_count && all[i].a == wanted[i].a && all[i].b == wanted[i].b;
        if ( !is_same )
        {
            fprintf( stderr,
                "process %d of %d: %s: %s: entry %llu of %llu (%llu wanted): %lld %lld, wanted %lld %lld\n",
                g_mpi_rank, g_mpi_count, g_mpi_case, what, (unsigned long long)i, (unsigned long long)total,
                (unsigned long long)wanted_count, i < total ? (long long)all[i].a : -1,
                i < total ? (long long)all[i].b : -1, i < wanted_count ? (long long)wanted[i].a : -1,
                i < wanted_count ? (long long)wanted[i].b : -1 );
            MPI_Abort( MPI_COMM_WORLD, 1 );
        }
    }
    free( all );
}

static clv_mpi_pair* judge_pairs(
    const world* w, const clv_user_pair* users, const clv_pair* pairs, uint64_t count )
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

static void check_update( world* w )
{
    CHECK_OK( w->space, clv_mpi_space_update( w->space ) );
    CHECK( clv_space_update( w->judge ) == CLV_OK );
    clv_pair_view view = clv_space_pairs( w->judge );
    clv_event_view events = clv_space_events( w->judge );
    clv_mpi_pair_view own = clv_mpi_space_pairs( w->space );
    clv_mpi_event_view own_events = clv_mpi_space_events( w->space );
    CHECK( own.valid );
    clv_mpi_pair* wanted = judge_pairs( w, NULL, view.pairs, view.count );
    compare( w, own.pairs, own.count, wanted, view.count, "pairs" );
    CHECK( clv_mpi_space_stats( w->space ).all_pair_count == view.count );
    free( wanted );
    if ( w->is_quiet )
    {
        CHECK( own_events.begun_count == 0 && own_events.ended_count == 0 );
        return;
    }
    wanted = judge_pairs( w, events.begun_user, NULL, events.begun_count );
    compare( w, own_events.begun, own_events.begun_count, wanted, events.begun_count, "begun" );
    free( wanted );
    wanted = judge_pairs( w, events.ended_user, NULL, events.ended_count );
    compare( w, own_events.ended, own_events.ended_count, wanted, events.ended_count, "ended" );
    free( wanted );
    // The same list on one process.
    clv_mpi_pair_view whole;
    int32_t root = (int32_t)( w->chance.state % (uint64_t)g_mpi_count );
    CHECK_OK( w->space, clv_mpi_space_gather( w->space, root, &whole ) );
    CHECK( whole.count == ( g_mpi_rank == root ? view.count : 0 ) );
    for ( uint64_t i = 1; i < whole.count; ++i )
    {
        CHECK( by_ids( &whole.pairs[i - 1], &whole.pairs[i] ) < 0 );
    }
}

// Everybody's objects: each owned once, by the process that owners of pairs name, with its payload.
static void check_owners( world* w )
{
    static uint32_t places[MOST];
    static int32_t owners[MOST], all[MOST];
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        owners[i] = 0;
    }
    uint32_t count = list_own( w, places );
    for ( uint32_t i = 0; i < count; ++i )
    {
        owners[places[i]] = 1 + g_mpi_rank;
        CHECK( w->borrowed || w->own_tags[places[i]] == w->tags[places[i]] );
    }
    static int32_t owned[MOST], owned_all[MOST];
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        owned[i] = owners[i] != 0;
    }
    MPI_Allreduce( owned, owned_all, MOST, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD );
    MPI_Allreduce( owners, all, MOST, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD );
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        CHECK( owned_all[i] == ( w->is_there[i] ? 1 : 0 ) );
    }
    clv_mpi_pair_view own = clv_mpi_space_pairs( w->space );
    for ( uint64_t i = 0; i < own.count; ++i )
    {
        CHECK( all[place_of( w, own.pairs[i].a )] == 1 + own.pairs[i].owner_a );
        CHECK( all[place_of( w, own.pairs[i].b )] == 1 + own.pairs[i].owner_b );
    }
}

// ---- what happens

static void add_some( world* w, uint32_t wanted )
{
    static uint64_t ids[MOST];
    static clv_aabb boxes[MOST];
    uint32_t own = 0, added = 0;
    for ( uint32_t i = 0; i < MOST && added < wanted; ++i )
    {
        if ( w->is_there[i] )
        {
            continue;
        }
        bool is_again = w->ids[i] != 0 && mpi_dice_next( &w->chance ) % 2 == 0; // an id that was there before
        w->ids[i] = is_again ? w->ids[i] : 1000000007u * ++w->next_id;
        w->boxes[i] = new_box( &w->chance, w->kind, i );
        w->filters[i] = clv_default_filter();
        w->is_there[i] = true;
        w->tags[i] = mpi_dice_next( &w->chance );
        w->own_tags[i] = 0;
        int owner = (int)( mpi_dice_next( &w->chance ) % 3 == 0
                ? 0
                : mpi_dice_next( &w->chance ) % (uint64_t)g_mpi_count );
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
    CHECK_OK( w->space, clv_mpi_space_add( w->space, ids, boxes, own ) );
}

static void move_some( world* w, uint32_t percent, float far )
{
    static uint64_t ids[MOST];
    static clv_aabb boxes[MOST];
    static uint32_t places[MOST];
    bool moves[MOST] = { false };
    static clv_aabb fresh[MOST];
    uint32_t own = list_own( w, places ), count = 0;
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        moves[i] = mpi_dice_next( &w->chance ) % 100 < percent && w->is_there[i];
        float x = mpi_dice_between( &w->chance, -far, far ), y = mpi_dice_between( &w->chance, -far, far );
        fresh[i] = w->boxes[i];
        fresh[i].lower.x += x;
        fresh[i].upper.x += x;
        fresh[i].lower.y += y;
        fresh[i].upper.y += y;
    }
    for ( uint32_t i = 0; i < own; ++i )
    {
        if ( moves[places[i]] )
        {
            ids[count] = w->ids[places[i]];
            boxes[count++] = fresh[places[i]];
        }
    }
    CHECK_OK( w->space, clv_mpi_space_move( w->space, ids, boxes, count ) );
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        if ( moves[i] )
        {
            w->boxes[i] = fresh[i];
            CHECK( clv_space_move_one( w->judge, w->judge_ids[i], fresh[i] ) == CLV_OK );
        }
    }
}

static void remove_some( world* w, uint32_t percent )
{
    static uint64_t ids[MOST];
    static uint32_t places[MOST];
    bool goes[MOST];
    uint32_t own = list_own( w, places ), count = 0;
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        goes[i] = mpi_dice_next( &w->chance ) % 100 < percent && w->is_there[i];
    }
    for ( uint32_t i = 0; i < own; ++i )
    {
        if ( goes[places[i]] )
        {
            ids[count++] = w->ids[places[i]];
        }
    }
    CHECK_OK( w->space, clv_mpi_space_remove( w->space, ids, count ) );
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        if ( goes[i] )
        {
            CHECK( clv_space_remove_one( w->judge, w->judge_ids[i] ) == CLV_OK );
            w->is_there[i] = false;
        }
    }
}

// Filters, hints, margins and motions of a few.
static void dress_some( world* w )
{
    static uint32_t places[MOST];
    uint32_t own = list_own( w, places );
    static uint64_t ids[MOST];
    static clv_filter filters[MOST];
    static bool hints[MOST];
    static clv_margin_rule rules[MOST];
    static clv_vec3 motions[MOST];
    uint64_t salt = mpi_dice_next( &w->chance );
    uint32_t count = 0;
    for ( uint32_t i = 0; i < MOST; ++i )
    {
        mpi_dice own_dice = { salt + i * 77 };
        bool is_meant = w->is_there[i] && mpi_dice_next( &own_dice ) % 5 == 0;
        clv_filter filter = { 1 + mpi_dice_next( &own_dice ) % 3,
            mpi_dice_next( &own_dice ) % 4 == 0 ? 1 : UINT64_MAX,
            (int32_t)( mpi_dice_next( &own_dice ) % 5 ) - 2 };
        bool is_static = mpi_dice_next( &own_dice ) % 2 == 0;
        clv_margin_rule rule = { mpi_dice_between( &own_dice, 0, 0.3f ),
            mpi_dice_between( &own_dice, 0, 0.1f ), 0 };
        clv_vec3 motion = { mpi_dice_between( &own_dice, -2, 2 ), 0, mpi_dice_between( &own_dice, -2, 2 ) };
        bool is_own = false;
        for ( uint32_t k = 0; k < own; ++k )
        {
            is_own |= places[k] == i;
        }
        if ( is_meant && is_own )
        {
            ids[count] = w->ids[i];
            filters[count] = filter;
            hints[count] = is_static;
            rules[count] = rule;
            motions[count++] = motion;
        }
        if ( is_meant )
        {
            w->filters[i] = filter;
            CHECK( clv_space_set_filter( w->judge, &w->judge_ids[i], &filter, 1 ) == CLV_OK );
            CHECK( clv_space_set_static( w->judge, &w->judge_ids[i], &is_static, 1 ) == CLV_OK );
            CHECK( clv_space_set_margin_rule( w->judge, &w->judge_ids[i], &rule, 1 ) == CLV_OK );
            CHECK( clv_space_set_motion( w->judge, &w->judge_ids[i], &motion, 1 ) == CLV_OK );
        }
    }
    CHECK_OK( w->space, clv_mpi_space_set_filter( w->space, ids, filters, count ) );
    CHECK_OK( w->space, clv_mpi_space_set_static( w->space, ids, hints, count ) );
    CHECK_OK( w->space, clv_mpi_space_set_margin_rule( w->space, ids, rules, count ) );
    CHECK_OK( w->space, clv_mpi_space_set_motion( w->space, ids, motions, count ) );
}

// ---- lives

typedef struct way
{
    shape kind;
    bool borrowed, is_dressed, skips_static, asks, is_quiet, fails;
    uint32_t wide;
    clv_mpi_cutter cutter;
    float margin;
    const char* method;
} way;

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

static clv_mpi_def def_of( const way* how, world* w )
{
    clv_mpi_def def = clv_default_mpi_def();
    def.space.events = !how->is_quiet;
    def.space.allocator = mpi_purse_allocator( &w->purse );
    def.space.margin = how->margin;
    def.space.skip_static_pairs = how->skips_static;
    def.space.method = how->method;
    def.borrowed = how->borrowed;
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

static world* open_world( const way* how, uint64_t seed )
{
    world* w = calloc( 1, sizeof( world ) );
    w->chance.state = seed;
    w->kind = how->kind;
    w->borrowed = how->borrowed;
    w->is_quiet = how->is_quiet;
    clv_mpi_def def = def_of( how, w );
    CHECK_OK( w->space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &w->space ) );
    clv_space_def judge = clv_default_space_def();
    judge.events = true;
    judge.margin = how->margin;
    judge.skip_static_pairs = how->skips_static;
    judge.method = "brute";
    judge.filter = how->asks ? judge_accept : NULL;
    CHECK( clv_space_create( &judge, &w->judge ) == CLV_OK );
    return w;
}

static void close_world( world* w )
{
    clv_mpi_space_destroy( w->space );
    clv_space_destroy( w->judge );
    free( w );
}

// Updates that fail, or not: the next good one tells what changed since the last good one.
static void fail_sometimes( world* w, uint32_t frame )
{
    w->purse.refuse_at = g_mpi_rank == g_mpi_count - 1 ? w->purse.count + 1 + frame % 4 : 0;
    clv_result result = clv_mpi_space_update( w->space );
    w->purse.refuse_at = 0;
    CHECK( result == CLV_OK || result == CLV_OUT_OF_MEMORY );
    if ( result == CLV_OK )
    {
        CHECK( clv_space_update( w->judge ) == CLV_OK );
    }
    move_some( w, 30, 3 );
}

static void live( way how, uint64_t seed, uint32_t frames )
{
    static char name[160];
    snprintf( name, sizeof( name ), "%s%s%s%s seed %llu", s_shapes[how.kind],
        how.borrowed ? ", borrowed" : "", how.is_dressed ? ", dressed" : "", how.wide < 16 ? ", wide" : "",
        (unsigned long long)seed );
    mpi_test_case( name );
    world* w = open_world( &how, seed );
    check_update( w ); // nothing there
    add_some( w, 400 );
    for ( uint32_t frame = 0; frame < frames; ++frame )
    {
        if ( how.fails )
        {
            fail_sometimes( w, frame );
        }
        check_update( w );
        check_owners( w );
        move_some( w, frame % 3 == 0 ? 100 : 20, frame % 4 == 0 ? 6 : 0.4f );
        if ( frame % 3 == 1 )
        {
            remove_some( w, 10 );
            add_some( w, 60 );
        }
        if ( how.is_dressed && frame % 2 == 0 )
        {
            dress_some( w );
        }
        if ( frame == frames - 3 )
        {
            remove_some( w, 100 );
        }
    }
    close_world( w );
}

static void lives( void )
{
    for ( int kind = 0; kind < SHAPES; ++kind )
    {
        way how = { .kind = (shape)kind, .wide = kind % 2 == 0 ? 16 : 2, .cutter = CLV_MPI_CUT_BISECTION };
        live( how, 1 + (uint64_t)kind, 12 );
        how.borrowed = kind % 2 == 0;
        how.is_dressed = true;
        how.skips_static = kind % 3 == 0;
        how.asks = kind % 3 == 1;
        how.margin = kind % 2 == 1 ? 0.2f : 0;
        how.wide = 1 + (uint32_t)kind;
        how.cutter = CLV_MPI_CUT_AUTO;
        how.fails = kind % 2 == 1;
        live( how, 100 + (uint64_t)kind, 12 );
        way quiet = { .kind = (shape)kind,
            .wide = 3,
            .is_quiet = true,
            .borrowed = kind % 3 == 0,
            .asks = kind % 2 == 1,
            .fails = kind % 4 == 0 };
        live( quiet, 200 + (uint64_t)kind, 9 );
    }
}

// ---- what is refused

static void refuse( world* w, clv_result got, clv_result wanted, int rank, const char* word )
{
    clv_mpi_error error = clv_mpi_space_error( w->space );
    CHECK( got == wanted );
    CHECK( error.code == wanted && error.rank == rank );
    CHECK( strstr( error.text, word ) != NULL );
}

static void bad_input_on_one_is_an_error_on_all( void )
{
    mpi_test_case( "bad input" );
    way how = { .kind = SPREAD, .wide = 16, .cutter = CLV_MPI_CUT_BISECTION };
    world* w = open_world( &how, 5 );
    add_some( w, 100 );
    check_update( w );
    int bad = g_mpi_count - 1;
    uint64_t id = 3, others = 1000 + (uint64_t)g_mpi_rank;
    clv_aabb broken = { { 1, 0, 0 }, { 0, 1, 1 } }, fine = mpi_cube( 0, 0, 0, 1 );
    refuse( w,
        clv_mpi_space_add(
            w->space, g_mpi_rank == bad ? &id : &others, g_mpi_rank == bad ? &broken : &fine, 1 ),
        CLV_BAD_BOX, bad, "object 3" );
    broken.lower.x = NAN;
    refuse( w, clv_mpi_space_add( w->space, &id, &broken, g_mpi_rank == bad ), CLV_BAD_BOX, bad, "object 3" );
    refuse( w, clv_mpi_space_move( w->space, &id, &fine, g_mpi_rank == bad ), CLV_BAD_ID, bad, "object 3" );
    refuse( w, clv_mpi_space_remove( w->space, &id, g_mpi_rank == bad ), CLV_BAD_ID, bad, "object 3" );
    const uint64_t twice[2] = { 8, 8 };
    const clv_aabb two[2] = { fine, fine };
    refuse( w, clv_mpi_space_add( w->space, twice, two, g_mpi_rank == bad ? 2 : 0 ), CLV_DUPLICATE_ID, bad,
        "object 8" );
    check_update( w ); // as if nothing had been
    // An id that another process has.
    uint64_t taken = w->ids[0];
    clv_result result = clv_mpi_space_add( w->space, &taken, &fine, g_mpi_rank == 0 );
    CHECK( result == CLV_DUPLICATE_ID && clv_mpi_space_error( w->space ).rank == 0 );
    CHECK( clv_mpi_space_error( w->space ).id == taken );
    if ( g_mpi_count > 1 ) // the same new id on all
    {
        CHECK( clv_mpi_space_add( w->space, &id, &fine, 1 ) == CLV_DUPLICATE_ID );
    }
    check_update( w );
    check_owners( w );
    clv_mpi_pair_view view;
    refuse( w, clv_mpi_space_gather( w->space, g_mpi_count, &view ), CLV_BAD_ARGUMENT, 0, "process" );
    close_world( w );
    clv_mpi_def def = clv_default_mpi_def();
    clv_mpi_space* space = NULL;
    def.wide = g_mpi_rank == bad ? 0 : 16;
    CHECK( clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) == CLV_BAD_DEF && space == NULL );
}

// A caller may have traps on, and another rounding: neither changes an answer, nor is a trap sprung.
static void modes_of_the_caller_change_nothing( void )
{
    mpi_test_case( "modes" );
    way how = { .kind = INFINITE, .wide = 16, .cutter = CLV_MPI_CUT_BISECTION, .is_dressed = true };
    world* w = open_world( &how, 11 );
    add_some( w, 200 );
    dress_some( w );
    clv_aabb broken = { { NAN, 0, 0 }, { 0, 1, 1 } };
    uint64_t id = 3;
    fenv_t before;
    fegetenv( &before );
    fesetround( FE_UPWARD );
#ifdef __GLIBC__
    feenableexcept( FE_INVALID | FE_OVERFLOW );
#endif
    clv_result added = clv_mpi_space_add( w->space, &id, &broken, 1 );
    clv_result updated = clv_mpi_space_update( w->space );
    bool is_kept = fegetround() == FE_UPWARD;
    fesetenv( &before );
    CHECK( added == CLV_BAD_BOX && updated == CLV_OK && is_kept );
    CHECK( clv_space_update( w->judge ) == CLV_OK );
    CHECK( clv_mpi_space_stats( w->space ).all_pair_count == clv_space_pairs( w->judge ).count );
    check_owners( w );
    close_world( w );
}

// ---- regions that nobody is in

// Space is cut for one object, so most groups are empty; what comes into them later is still found, once.
static void empty_regions_are_nobody_elses( void )
{
    mpi_test_case( "empty regions" );
    for ( int x = -4; x <= 4; ++x )
    {
        clv_mpi_def def = clv_default_mpi_def();
        def.cutter = CLV_MPI_CUT_BISECTION;
        clv_mpi_space* space = NULL;
        CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
        uint64_t id = 1;
        clv_aabb box = mpi_cube( (float)x, 0, 0, 0.25f );
        CHECK_OK( space, clv_mpi_space_add( space, &id, &box, g_mpi_rank == 0 ) );
        CHECK_OK( space, clv_mpi_space_update( space ) );
        // Two at each place, from the first process and from the last.
        uint64_t ids[9];
        clv_aabb boxes[9];
        for ( int i = 0; i < 9; ++i )
        {
            ids[i] = 10 + (uint64_t)i * 2 + ( g_mpi_rank != 0 );
            boxes[i] = mpi_cube( (float)i - 4.5f, 3, 0, 0.4f );
        }
        bool has_some = g_mpi_rank == 0 || g_mpi_rank == g_mpi_count - 1;
        CHECK_OK( space, clv_mpi_space_add( space, ids, boxes, has_some ? 9 : 0 ) );
        CHECK_OK( space, clv_mpi_space_update( space ) );
        CHECK( clv_mpi_space_stats( space ).all_pair_count == ( g_mpi_count > 1 ? 9 : 0 ) );
        clv_mpi_space_destroy( space );
    }
}

// ---- batches in any order

// Every process has a row of its own, which goes around as a ring: in the order of object_at, backwards, in two halves, every other
// one. None touches another but where two are put together.
static void batches_come_in_any_order( void )
{
    mpi_test_case( "order" );
    enum
    {
        ROW = 200
    };
    clv_mpi_def def = clv_default_mpi_def();
    def.borrowed = true;
    clv_mpi_space* space = NULL;
    CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
    uint64_t ids[ROW];
    clv_aabb boxes[ROW];
    for ( uint32_t order = 0; order < 6; ++order )
    {
        for ( uint32_t i = 0; i < ROW; ++i )
        {
            uint32_t at = order == 2 ? ROW - 1 - i
                : order == 3         ? ( i + ROW / 2 ) % ROW
                : order == 4         ? i * 7 % ROW
                                     : i;
            ids[i] = at + 1000u * (uint64_t)g_mpi_rank;
            // The last two of every ten are at one place, in a world that moves on.
            uint32_t place = at % 10 == 9 ? at - 1 : at;
            boxes[i] = mpi_cube( (float)place * 3 + (float)order * 5, (float)g_mpi_rank * 3, 0, 1 );
        }
        CHECK_OK( space,
            order == 0 ? clv_mpi_space_add( space, ids, boxes, ROW )
                       : clv_mpi_space_move( space, ids, boxes, ROW ) );
        CHECK_OK( space, clv_mpi_space_update( space ) );
        CHECK( clv_mpi_space_stats( space ).all_pair_count == (uint64_t)g_mpi_count * ROW / 10 );
    }
    ids[ROW / 2] = ids[ROW / 2 - 1];
    CHECK( clv_mpi_space_move( space, ids, boxes, g_mpi_rank == g_mpi_count - 1 ? ROW : 0 ) ==
        CLV_DUPLICATE_ID );
    clv_mpi_error error = clv_mpi_space_error( space );
    CHECK( error.rank == g_mpi_count - 1 && error.position == ROW / 2 &&
        error.id == 1000u * (uint64_t)( g_mpi_count - 1 ) + ROW / 2 - 1 );
    CHECK_OK( space, clv_mpi_space_update( space ) );
    CHECK( clv_mpi_space_stats( space ).all_pair_count == (uint64_t)g_mpi_count * ROW / 10 );
    clv_mpi_space_destroy( space );
}

// ---- balance

static void work_is_shared_out( void )
{
    mpi_test_case( "balance" );
    clv_mpi_def def = clv_default_mpi_def();
    clv_mpi_space* space = NULL;
    CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
    enum
    {
        N = 6000
    };
    uint64_t* ids = malloc( N * sizeof( uint64_t ) );
    clv_aabb* boxes = malloc( N * sizeof( clv_aabb ) );
    mpi_dice d = { 9 };
    for ( uint32_t i = 0; i < N; ++i )
    {
        ids[i] = i;
        boxes[i] = mpi_cube( mpi_dice_between( &d, 0, 30 ), mpi_dice_between( &d, 0, 30 ),
            mpi_dice_between( &d, 0, 30 ), 0.3f );
    }
    CHECK_OK( space, clv_mpi_space_add( space, ids, boxes, g_mpi_rank == 0 ? N : 0 ) ); // all on one
    for ( int i = 0; i < 4; ++i )
    {
        CHECK_OK( space, clv_mpi_space_update( space ) );
    }
    clv_mpi_stats stats = clv_mpi_space_stats( space );
    CHECK( stats.all_own_count == N && stats.owning_processes == (uint32_t)g_mpi_count );
    CHECK( stats.imbalance < 0.25 );
    CHECK( stats.cut_count <= 3 );
    free( ids );
    free( boxes );
    clv_mpi_space_destroy( space );
}

// A process that ends: the others hear of it within their time, or MPI ends the job. Only started by itself: test_mpi lost.
static void a_lost_process_is_noticed( void )
{
    mpi_test_case( "lost" );
    clv_mpi_def def = clv_default_mpi_def();
    def.time_limit = 2;
    clv_mpi_space* space = NULL;
    CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
    CHECK_OK( space, clv_mpi_space_update( space ) );
    if ( g_mpi_rank == g_mpi_count - 1 )
    {
        sleep( 5 ); // as one that hangs
        printf( "lost: done\n" );
        fflush( stdout );
        _exit( 0 );
    }
    clv_result result = clv_mpi_space_update( space );
    CHECK( result == CLV_LOST && clv_mpi_space_error( space ).code == CLV_LOST );
    CHECK( clv_mpi_space_update( space ) == CLV_LOST );
    CHECK( clv_mpi_space_add( space, NULL, NULL, 0 ) == CLV_LOST );
    clv_mpi_space_destroy( space );
    printf( "lost: noticed on process %d\n", g_mpi_rank );
    fflush( stdout );
    sleep( 4 );
    _exit( 0 );
}

int main( int argc, char** argv )
{
    mpi_test_begin( &argc, &argv );
    if ( argc > 1 && strcmp( argv[1], "lost" ) == 0 )
    {
        a_lost_process_is_noticed();
    }
    lives();
    bad_input_on_one_is_an_error_on_all();
    modes_of_the_caller_change_nothing();
    empty_regions_are_nobody_elses();
    batches_come_in_any_order();
    work_is_shared_out();
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi: one answer on %d processes\n", g_mpi_count );
    }
    MPI_Finalize();
    return 0;
}
