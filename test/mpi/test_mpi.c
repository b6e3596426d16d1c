// SPDX-License-Identifier: MIT
// Many processes, one answer. Every process keeps the whole world in a clv_space of its own and steps it as
// the others do (mpi_mirror.c); the lists of all processes together must be its list, pair by pair, each pair
// once, and so the events. Started by mpirun with any number of processes; scripts/check.sh mpi does it.
// fenv's traps are the C library's own.
#define _GNU_SOURCE

#include "mpi_mirror.h"

#include <fenv.h>
#include <math.h>
#include <unistd.h>

// ---- lives

static const char* const s_crowds[WORLD_CROWDS] = { "spread", "flat", "slab", "giants", "infinite", "line",
    "spot", "equal", "far away", "clusters" };

// An update that must be good, and its list on one process, which is any of them.
static void check_update( mpi_mirror* w )
{
    mpi_mirror_update( w );
    uint64_t count = clv_space_pairs( w->judge ).count;
    clv_mpi_pair_view whole;
    int32_t root = (int32_t)( w->dice.state % (uint64_t)g_mpi_count );
    CHECK_OK( w->space, clv_mpi_space_gather( w->space, root, &whole ) );
    CHECK( whole.count == ( g_mpi_rank == root ? count : 0 ) );
    for ( uint64_t i = 1; i < whole.count; ++i )
    {
        clv_mpi_pair p = whole.pairs[i - 1], q = whole.pairs[i];
        CHECK( p.a < q.a || ( p.a == q.a && p.b < q.b ) );
    }
}

// Filters, hints, margins and motions of a few.
static void dress_some( mpi_mirror* w )
{
    for ( uint32_t what = 0; what < 4; ++what )
    {
        mpi_mirror_dress( w, what );
    }
}

typedef struct life
{
    mpi_way how;
    bool is_dressed, fails;
} life;

static void live( const life* way, uint64_t seed, uint32_t frames )
{
    snprintf( g_mpi_case, sizeof( g_mpi_case ), "%s%s%s%s seed %llu", s_crowds[way->how.kind],
        way->how.borrowed ? ", borrowed" : "", way->is_dressed ? ", dressed" : "",
        way->how.wide < 16 ? ", wide" : "", (unsigned long long)seed );
    mpi_mirror* w = mpi_mirror_open( &way->how, seed, g_mpi_count );
    check_update( w ); // nothing there
    mpi_mirror_add( w, 400 );
    for ( uint32_t frame = 0; frame < frames; ++frame )
    {
        if ( way->fails ) // or not: the next good one tells what changed since the last good one
        {
            mpi_mirror_try_update( w, g_mpi_count - 1, 1 + frame % 4 );
            mpi_mirror_move( w, 30, 3 );
        }
        check_update( w );
        mpi_mirror_move( w, frame % 3 == 0 ? 100 : 20, frame % 4 == 0 ? 6 : 0.4f );
        if ( frame % 3 == 1 )
        {
            mpi_mirror_remove( w, 10 );
            mpi_mirror_add( w, 60 );
        }
        if ( way->is_dressed && frame % 2 == 0 )
        {
            dress_some( w );
        }
        if ( frame == frames - 3 )
        {
            mpi_mirror_remove( w, 100 );
        }
    }
    mpi_mirror_close( w );
}

static mpi_way plain_way( mpi_crowd kind, uint32_t wide )
{
    return ( mpi_way ){
        .kind = kind, .most = MIRROR_MOST, .workers = 1, .wide = wide, .cutter = CLV_MPI_CUT_BISECTION
    };
}

static void lives( void )
{
    for ( uint32_t kind = 0; kind < WORLD_CROWDS; ++kind )
    {
        life plain = { .how = plain_way( (mpi_crowd)kind, kind % 2 == 0 ? 16 : 2 ) };
        live( &plain, 1 + kind, 12 );
        life dressed = {
            .how = plain_way( (mpi_crowd)kind, 1 + kind ), .is_dressed = true, .fails = kind % 2 == 1
        };
        dressed.how.borrowed = kind % 2 == 0;
        dressed.how.skips_static = kind % 3 == 0;
        dressed.how.asks = kind % 3 == 1;
        dressed.how.margin = kind % 2 == 1 ? 0.2f : 0;
        dressed.how.cutter = CLV_MPI_CUT_AUTO;
        live( &dressed, 100 + kind, 12 );
        life quiet = { .how = plain_way( (mpi_crowd)kind, 3 ), .fails = kind % 4 == 0 };
        quiet.how.cutter = CLV_MPI_CUT_AUTO;
        quiet.how.is_quiet = true;
        quiet.how.borrowed = kind % 3 == 0;
        quiet.how.asks = kind % 2 == 1;
        live( &quiet, 200 + kind, 9 );
    }
}

// ---- what is refused

static void refuse( mpi_mirror* w, clv_result got, clv_result wanted, int rank, const char* word )
{
    clv_mpi_error error = clv_mpi_space_error( w->space );
    CHECK( got == wanted );
    CHECK( error.code == wanted && error.rank == rank );
    CHECK( strstr( error.text, word ) != NULL );
}

static bool refuse_all( uint64_t a, uint64_t b, void* user )
{
    (void)a, (void)b, (void)user;
    return false;
}

static char s_logged[256];

static void keep_line( clv_log_level level, const char* line, void* user )
{
    (void)level, (void)user;
    snprintf( s_logged, sizeof( s_logged ), "%s", line );
}

// A def that is bad on process `bad` alone is refused on all, and that process is told the field.
static void refuse_def( const clv_mpi_def* def, int bad, const char* field )
{
    clv_mpi_def own = g_mpi_rank == bad ? *def : clv_default_mpi_def();
    clv_mpi_space* space = NULL;
    own.space.logger.write = keep_line;
    s_logged[0] = '\0';
    CHECK( clv_mpi_space_create( MPI_COMM_WORLD, &own, &space ) == CLV_BAD_DEF && space == NULL );
    CHECK( strstr( s_logged, g_mpi_rank == bad ? field : "process" ) != NULL );
}

static void bad_defs_name_their_field( void )
{
    mpi_test_case( "bad defs" );
    static const float s_imbalances[] = { 0, -0.1f, NAN };
    int bad = g_mpi_count - 1;
    clv_mpi_def def = clv_default_mpi_def();
    def.wide = 0;
    refuse_def( &def, bad, "wide" );
    for ( int i = 0; i < 3; ++i )
    {
        def = clv_default_mpi_def();
        def.imbalance = s_imbalances[i];
        refuse_def( &def, bad, "imbalance" );
    }
    def = clv_default_mpi_def();
    def.time_limit = -1;
    refuse_def( &def, bad, "time_limit" );
    clv_mpi_space* space = NULL;
    def = clv_default_mpi_def();
    def.imbalance = INFINITY;
    def.wide = UINT32_MAX;
    CHECK( clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) == CLV_OK );
    CHECK( clv_mpi_space_update( space ) == CLV_OK );
    clv_mpi_space_destroy( space );
    def = clv_default_mpi_def();
    def.filter = g_mpi_rank == bad ? refuse_all : NULL; // asked on one process alone
    CHECK( g_mpi_count == 1 ||
        ( clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) == CLV_BAD_DEF && space == NULL ) );
}

static void bad_input_on_one_is_an_error_on_all( void )
{
    mpi_test_case( "bad input" );
    mpi_way how = plain_way( WORLD_SPREAD, 16 );
    mpi_mirror* w = mpi_mirror_open( &how, 5, g_mpi_count );
    mpi_mirror_add( w, 100 );
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
    // Ids that some process has, behind a new one.
    for ( uint32_t i = 0; i < 20; ++i )
    {
        const uint64_t taken[2] = { others, w->ids[i] };
        clv_result result = clv_mpi_space_add( w->space, taken, two, g_mpi_rank == 0 ? 2 : 0 );
        clv_mpi_error error = clv_mpi_space_error( w->space );
        CHECK( result == CLV_DUPLICATE_ID && error.rank == 0 && error.id == taken[1] && error.position == 1 );
    }
    if ( g_mpi_count > 1 ) // the same new id on all
    {
        const uint64_t news[2] = { others, id };
        CHECK( clv_mpi_space_add( w->space, news, two, 2 ) == CLV_DUPLICATE_ID );
        CHECK( clv_mpi_space_error( w->space ).position == 1 );
    }
    check_update( w );
    clv_mpi_pair_view view;
    refuse( w, clv_mpi_space_gather( w->space, g_mpi_count, &view ), CLV_BAD_ARGUMENT, 0, "process" );
    mpi_mirror_close( w );
}

enum
{
    TRAVELLERS = 240
};

static clv_aabb traveller_box( uint64_t id, bool is_away )
{
    float x = (float)( id * 37 % TRAVELLERS ) * 0.1f;
    return mpi_cube( is_away ? 24 - x : x, (float)( id % 7 ), (float)( id % 5 ), 0.4f );
}

// All own objects, by object_at, one in `part` of them to the other side.
static void send_travellers( clv_mpi_space* space, uint32_t part, bool is_away )
{
    static uint64_t ids[TRAVELLERS];
    static clv_aabb boxes[TRAVELLERS];
    uint32_t count = clv_mpi_space_object_count( space );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CHECK( clv_mpi_space_object_at( space, i, &ids[i], &boxes[i] ) == CLV_OK );
        boxes[i] = ids[i] % part == 0 ? traveller_box( ids[i], is_away ) : boxes[i];
    }
    CHECK_OK( space, clv_mpi_space_move( space, ids, boxes, count ) );
    CHECK_OK( space, clv_mpi_space_update( space ) );
}

// Own objects by their ids, in any order; and no others.
static void ask_for_travellers( clv_mpi_space* space )
{
    static uint64_t ids[TRAVELLERS], others[TRAVELLERS];
    static clv_aabb boxes[TRAVELLERS];
    bool is_own[TRAVELLERS] = { false };
    uint32_t own = clv_mpi_space_object_count( space );
    for ( uint32_t i = 0; i < own; ++i )
    {
        CHECK( clv_mpi_space_object_at( space, own - 1 - i, &ids[i], &boxes[i] ) == CLV_OK );
        is_own[ids[i]] = true;
    }
    int count = 0, most = 0;
    for ( uint64_t id = 0; id < TRAVELLERS; ++id )
    {
        others[count] = id;
        count += !is_own[id];
    }
    clv_aabb fine = mpi_cube( 0, 0, 0, 1 );
    MPI_Allreduce( &count, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD );
    for ( int i = 0; i < most; ++i )
    {
        CHECK( clv_mpi_space_move( space, &others[i < count ? i : 0], &fine, i < count ) == CLV_BAD_ID );
    }
    CHECK_OK( space, clv_mpi_space_move( space, ids, boxes, own ) );
}

// Names are looked up on demand: after few changes, after many, and after some that were never asked about.
static void objects_that_left_are_forgotten( void )
{
    mpi_test_case( "names" );
    clv_mpi_def def = clv_default_mpi_def();
    def.imbalance = 1e9f; // no object is moved by a new cut
    clv_mpi_space* space = NULL;
    CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
    static uint64_t ids[TRAVELLERS];
    static clv_aabb boxes[TRAVELLERS];
    for ( uint64_t id = 0; id < TRAVELLERS; ++id )
    {
        ids[id] = id;
        boxes[id] = traveller_box( id, false );
    }
    CHECK_OK( space, clv_mpi_space_add( space, ids, boxes, g_mpi_rank == 0 ? TRAVELLERS : 0 ) );
    CHECK_OK( space, clv_mpi_space_update( space ) );
    const uint32_t parts[] = { 1, 20, 15, 12, 1, 11 };
    const bool asks[] = { true, true, false, true, false, true };
    for ( uint32_t k = 0; k < sizeof( parts ) / sizeof( parts[0] ); ++k )
    {
        send_travellers( space, parts[k], k % 2 == 0 );
        if ( asks[k] )
        {
            ask_for_travellers( space );
        }
    }
    clv_mpi_space_destroy( space );
}

// A caller may have traps on, and another rounding: neither changes an answer, nor is a trap sprung.
static void modes_of_the_caller_change_nothing( void )
{
    mpi_test_case( "modes" );
    mpi_way how = plain_way( WORLD_INFINITE, 16 );
    mpi_mirror* w = mpi_mirror_open( &how, 11, g_mpi_count );
    mpi_mirror_add( w, 200 );
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
    mpi_mirror_close( w );
}

// ---- regions without objects

// Space is cut for one object, so most groups are empty; what comes into them later is still found, once.
static void objects_entering_empty_regions_are_found_once( void )
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

// Every process has a row of its own, which goes around as a ring: in the order of object_at, backwards, in
// two halves, every other one. None touches another but where two are put together.
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

// Objects of one process in a cloud of their own, all of which move along x; handed over in the order of
// object_at.
static uint32_t drift( const clv_mpi_space* space, uint64_t* ids, clv_aabb* boxes, float by )
{
    uint32_t count = clv_mpi_space_object_count( space );
    for ( uint32_t i = 0; i < count; ++i )
    {
        CHECK( clv_mpi_space_object_at( space, i, &ids[i], &boxes[i] ) == CLV_OK );
        boxes[i].lower.x += by;
        boxes[i].upper.x += by;
    }
    return count;
}

enum
{
    CLOUD = 53
};

// A cloud on each process that was handed over whole, several times.
static clv_mpi_space* open_clouds( uint64_t* ids, clv_aabb* boxes )
{
    clv_mpi_def def = clv_default_mpi_def();
    def.borrowed = true;
    clv_mpi_space* space = NULL;
    CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
    for ( uint32_t i = 0; i < CLOUD; ++i )
    {
        ids[i] = i + 1000u * (uint64_t)g_mpi_rank;
        boxes[i] = mpi_cube( (float)( i % 9 ) * 0.75f, (float)g_mpi_rank * 50 + (float)( i / 9 ), 0, 0.5f );
    }
    CHECK_OK( space, clv_mpi_space_add( space, ids, boxes, CLOUD ) );
    for ( uint32_t step = 0; step < 4; ++step )
    {
        CHECK_OK( space, clv_mpi_space_update( space ) );
        CHECK_OK( space, clv_mpi_space_move( space, ids, boxes, drift( space, ids, boxes, 0.25f ) ) );
    }
    CHECK_OK( space, clv_mpi_space_update( space ) );
    return space;
}

static void check_boxes_are( const clv_mpi_space* space, const uint64_t* ids, const clv_aabb* boxes )
{
    for ( uint32_t i = 0; i < CLOUD; ++i )
    {
        uint64_t id;
        clv_aabb box;
        CHECK( clv_mpi_space_object_at( space, i, &id, &box ) == CLV_OK && id == ids[i] );
        CHECK( memcmp( &box, &boxes[i], sizeof( box ) ) == 0 );
    }
}

// One bad box among all own ones, wherever it stands and whatever is wrong with it: all processes hear of it,
// and no box is another.
static void a_bad_box_among_all_changes_none( void )
{
    mpi_test_case( "bad among all" );
    uint64_t ids[CLOUD];
    clv_aabb before[CLOUD], boxes[CLOUD];
    clv_mpi_space* space = open_clouds( ids, before );
    uint64_t pairs = clv_mpi_space_stats( space ).all_pair_count;
    int bad = g_mpi_count - 1;
    for ( uint32_t at = 0; at < CLOUD * 12; ++at )
    {
        uint32_t count = drift( space, ids, boxes, 1 ), place = at / 12, face = at % 6,
                 other = ( face + 3 ) % 6;
        float* faces = &boxes[place].lower.x;
        if ( g_mpi_rank == bad )
        {
            faces[face] = at % 12 < 6 ? NAN : faces[other] + ( face < 3 ? 0.25f : -0.25f );
        }
        CHECK( clv_mpi_space_move( space, ids, boxes, count ) == CLV_BAD_BOX );
        clv_mpi_error error = clv_mpi_space_error( space );
        CHECK( error.rank == bad && error.position == place );
        CHECK( g_mpi_rank != bad || error.id == ids[place] );
        check_boxes_are( space, ids, before );
    }
    CHECK_OK( space, clv_mpi_space_update( space ) );
    CHECK( clv_mpi_space_stats( space ).all_pair_count == pairs );
    clv_mpi_space_destroy( space );
}

// After all were handed over in order: a batch of most of them, backwards; then margins, which begin with the
// boxes there are.
static void boxes_stay_where_they_were_put( void )
{
    mpi_test_case( "boxes stay" );
    uint64_t ids[CLOUD], some[CLOUD];
    clv_aabb boxes[CLOUD], theirs[CLOUD];
    clv_mpi_space* space = open_clouds( ids, boxes );
    uint64_t pairs = clv_mpi_space_stats( space ).all_pair_count;
    uint32_t count = 0;
    for ( uint32_t i = CLOUD; i-- > CLOUD / 4; ++count )
    {
        some[count] = ids[i];
        theirs[count] = boxes[i];
    }
    CHECK_OK( space, clv_mpi_space_move( space, some, theirs, count ) );
    CHECK_OK( space, clv_mpi_space_update( space ) );
    check_boxes_are( space, ids, boxes );
    CHECK( clv_mpi_space_stats( space ).all_pair_count == pairs );
    for ( uint32_t step = 0; step < 3; ++step )
    {
        CHECK_OK( space, clv_mpi_space_move( space, ids, boxes, drift( space, ids, boxes, 0.25f ) ) );
        CHECK_OK( space, clv_mpi_space_update( space ) );
    }
    clv_margin_rule none = { 0, 0, 0 };
    CHECK_OK( space, clv_mpi_space_set_margin_rule( space, ids, &none, 1 ) );
    check_boxes_are( space, ids, boxes );
    CHECK_OK( space, clv_mpi_space_update( space ) );
    check_boxes_are( space, ids, boxes );
    CHECK( clv_mpi_space_stats( space ).all_pair_count == pairs );
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

// A process that ends: the others hear of it within their time, or MPI ends the job. Only started by itself:
// test_mpi lost.
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
    bad_defs_name_their_field();
    objects_that_left_are_forgotten();
    modes_of_the_caller_change_nothing();
    objects_entering_empty_regions_are_found_once();
    batches_come_in_any_order();
    a_bad_box_among_all_changes_none();
    boxes_stay_where_they_were_put();
    work_is_shared_out();
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi: one answer on %d processes\n", g_mpi_count );
    }
    MPI_Finalize();
    return 0;
}
