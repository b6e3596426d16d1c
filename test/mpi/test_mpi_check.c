// SPDX-License-Identifier: MIT
// The checkers of a space over processes say what broke: a structure is spoilt in one place, its checker
// answers with the sentence about that, and with NULL once it is as it was.
#include "mpi_state.h"
#include "mpi_support.h"

enum
{
    OBJECTS = 400
};

static void check_sentence( const char* message, const char* expected, int line )
{
    bool is_same =
        message == expected || ( message != NULL && expected != NULL && strcmp( message, expected ) == 0 );
    if ( !is_same )
    {
        fprintf( stderr, "%s:%d: process %d of %d: %s: %s\n", __FILE__, line, g_mpi_rank, g_mpi_count,
            g_mpi_case, message != NULL ? message : "no fault seen" );
        fflush( NULL );
        MPI_Abort( MPI_COMM_WORLD, 1 );
    }
}

#define CHECK_SENTENCE( call, sentence ) check_sentence( call, sentence, __LINE__ )

/// A place gets a wrong value, the checker names it, and the place gets its value back.
#define SPOIL( place, value, call, sentence )                                                                \
    do                                                                                                       \
    {                                                                                                        \
        char spoil_before[sizeof( place )];                                                                  \
        memcpy( spoil_before, &( place ), sizeof( place ) );                                                 \
        ( place ) = ( value );                                                                               \
        CHECK_SENTENCE( call, sentence );                                                                    \
        memcpy( &( place ), spoil_before, sizeof( place ) );                                                 \
        CHECK_SENTENCE( call, NULL );                                                                        \
    } while ( 0 )

// ---- regions

static void quarter( mpi_regions* regions, base_memory* memory )
{
    CHECK( clv_mpi_regions_open( regions, memory, 4 ) );
    regions->cuts.items[0] = ( mpi_cut ){ .at = 0, .axis = 0, .left = 1, .right = 2 };
    regions->cuts.items[1] = ( mpi_cut ){ .at = -1, .axis = 1, .left = ~0, .right = ~1 };
    regions->cuts.items[2] = ( mpi_cut ){ .at = 2, .axis = 1, .left = ~2, .right = ~3 };
    clv_mpi_regions_finish( regions );
}

static void spoilt_regions_are_seen( void )
{
    mpi_test_case( "spoilt regions" );
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    mpi_regions regions;
    quarter( &regions, &memory );
    mpi_cut* cuts = regions.cuts.items;
    const char* parents = "a cut or a process has two parents, so another one has none";
    const char* side = "a region is not one side of the cut above it";
    CHECK_SENTENCE( clv_mpi_regions_check( &regions ), NULL );
    SPOIL( regions.cuts.count, 2, clv_mpi_regions_check( &regions ),
        "there are not as many cuts as processes less one, or the root is not the first" );
    SPOIL( cuts[1].axis, 3, clv_mpi_regions_check( &regions ),
        "a cut has no axis, or lies at NaN or plus infinity" );
    SPOIL( cuts[1].at, INFINITY, clv_mpi_regions_check( &regions ),
        "a cut has no axis, or lies at NaN or plus infinity" );
    SPOIL( cuts[2].right, ~4, clv_mpi_regions_check( &regions ),
        "a cut leads to a process that does not exist, or to a cut that is not below it" );
    SPOIL( cuts[0].left, 0, clv_mpi_regions_check( &regions ),
        "a cut leads to a process that does not exist, or to a cut that is not below it" );
    SPOIL( cuts[2].right, ~2, clv_mpi_regions_check( &regions ), parents );
    SPOIL( cuts[0].right, 1, clv_mpi_regions_check( &regions ), parents );
    SPOIL( regions.cut_bounds[0].lower.z, 0, clv_mpi_regions_check( &regions ),
        "the root does not have all of space" );
    SPOIL( regions.bounds[1].upper.x, 0.5f, clv_mpi_regions_check( &regions ), side );
    SPOIL( cuts[2].at, 3, clv_mpi_regions_check( &regions ), side );
    clv_mpi_regions_close( &regions, &memory );
}

// ---- ids

static void spoilt_tables_of_ids_are_seen( void )
{
    mpi_test_case( "a spoilt table of ids" );
    base_memory memory = clv_base_memory_make( ( clv_allocator ){ 0 } );
    mpi_ids ids = { 0 };
    CHECK_SENTENCE( clv_mpi_ids_check( &ids ), NULL );
    CHECK( clv_mpi_ids_reserve( &ids, &memory, 100 ) );
    for ( uint32_t i = 0; i < 100; ++i )
    {
        clv_mpi_ids_put( &ids, i, i );
    }
    uint64_t home = clv_mpi_ids_mix( 7 ) >> ( 64 - ids.place_bits ), at = home;
    while ( ids.keys.items[at] != 7 )
    {
        at += 1;
    }
    CHECK_SENTENCE( clv_mpi_ids_check( &ids ), NULL );
    SPOIL( ids.count, 99, clv_mpi_ids_check( &ids ),
        "a table of ids has another count than keys, or is more than half full" );
    SPOIL( ids.place_bits, 40, clv_mpi_ids_check( &ids ), "a table of ids has more places than memory" );
    SPOIL( ids.keys.items[at], 8, clv_mpi_ids_check( &ids ),
        "a search for an id ends before it, or the id is there twice" );
    clv_mpi_ids_free( &ids, &memory );
}

// ---- spaces

static clv_aabb box_of( uint64_t id )
{
    mpi_dice d = { id + 1 };
    mpi_dice_next( &d );
    float x = mpi_dice_between( &d, -10, 10 ), y = mpi_dice_between( &d, -10, 10 );
    return mpi_cube( x, y, mpi_dice_between( &d, -2, 2 ), 0.6f );
}

static clv_mpi_space* open_space( bool has_events )
{
    clv_mpi_def def = clv_default_mpi_def();
    def.cutter = CLV_MPI_CUT_BISECTION;
    def.space.events = has_events;
    clv_mpi_space* space = NULL;
    CHECK_OK( space, clv_mpi_space_create( MPI_COMM_WORLD, &def, &space ) );
    uint64_t ids[OBJECTS];
    clv_aabb boxes[OBJECTS];
    uint32_t count = 0;
    for ( uint64_t id = (uint64_t)g_mpi_rank; id < OBJECTS; id += (uint64_t)g_mpi_count )
    {
        ids[count] = id;
        boxes[count++] = box_of( id );
    }
    CHECK_OK( space, clv_mpi_space_add( space, ids, boxes, count ) );
    CHECK_OK( space, clv_mpi_space_update( space ) );
    CHECK_OK( space, clv_mpi_space_update( space ) );
    CHECK_SENTENCE( clv_mpi_space_check( space ), NULL );
    return space;
}

static void spoilt_objects_are_seen( void )
{
    mpi_test_case( "spoilt objects" );
    clv_mpi_space* space = open_space( false );
    mpi_columns* c = &space->columns;
    CHECK( space->slots.own.count > 2 );
    uint32_t slot = space->slots.own.items[1];
    const char* list = "the list of own objects is not that of the slots that are owned, ascending";
    SPOIL( space->slots.end, space->slots.end - 1, clv_mpi_objects_check( space ),
        "there are other slots than those of the space inside, or columns are too short for them" );
    SPOIL( c->locals.items[slot].index, slot + 1, clv_mpi_objects_check( space ),
        "a slot has an id of another slot of the space inside" );
    SPOIL( c->identities.items[slot].id, OBJECTS, clv_mpi_objects_check( space ),
        "the name of an object has another id" );
    SPOIL( c->flags.items[slot], c->flags.items[slot] ^ SLOT_INSIDE, clv_mpi_objects_check( space ),
        "name and flags of an object differ on whether it lies inside" );
    SPOIL( c->boxes.items[slot].lower.x, NAN, clv_mpi_objects_check( space ), "an object has no valid box" );
    SPOIL( c->flags.items[slot], SLOT_OWN, clv_mpi_objects_check( space ), "a free slot is owned" );
    SPOIL( c->flags.items[slot], 0, clv_mpi_objects_check( space ),
        "the space inside has more or fewer objects than slots are taken" );
    SPOIL( c->flags.items[slot], c->flags.items[slot] & ~(uint32_t)SLOT_OWN, clv_mpi_objects_check( space ),
        list );
    SPOIL( space->slots.own.items[0], space->slots.own.items[1], clv_mpi_objects_check( space ), list );
    SPOIL( space->slots.own.count, space->slots.own.count - 1, clv_mpi_objects_check( space ), list );
    CHECK( base_array_reserve( &space->slots.own, &space->memory, space->slots.own.count + 1 ) );
    space->slots.own.items[space->slots.own.count] = space->slots.end;
    SPOIL( space->slots.own.count, space->slots.own.count + 1, clv_mpi_objects_check( space ),
        "the list of own objects goes beyond the slots" );
    clv_mpi_space_destroy( space );
}

static void spoilt_names_are_seen( void )
{
    mpi_test_case( "spoilt names" );
    clv_mpi_space* space = open_space( true );
    CHECK( clv_mpi_lookup_update( space ) && space->slots.own.count > 2 );
    uint32_t slot = space->slots.own.items[1];
    SPOIL( space->columns.ids.items[slot], OBJECTS + 1, clv_mpi_lookup_check( space ),
        "the table of ids leads to another slot than the object's" );
    SPOIL( space->columns.flags.items[slot], 0, clv_mpi_lookup_check( space ),
        "the table of ids has an id of no object" );
    clv_mpi_space_destroy( space );
}

// Each id has one watcher, who watches over no other's; and all of them together over as many as there are
// objects.
static void spoilt_directories_are_seen( void )
{
    mpi_test_case( "a spoilt directory" );
    clv_mpi_space* space = open_space( false );
    uint64_t watched = space->lookup.directory.count, all = 0;
    MPI_Allreduce( &watched, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD );
    CHECK( all == OBJECTS );
    uint64_t other = 0;
    while ( clv_mpi_ids_mix( other ) % (uint64_t)g_mpi_count == (uint64_t)g_mpi_rank && other < OBJECTS )
    {
        other += 1;
    }
    if ( g_mpi_count > 1 )
    {
        CHECK( clv_mpi_ids_reserve( &space->lookup.directory, &space->memory, watched + 1 ) );
        clv_mpi_ids_put( &space->lookup.directory, other, 0 );
        CHECK_SENTENCE(
            clv_mpi_directory_check( space ), "this process keeps an id that another process is to keep" );
        clv_mpi_ids_drop( &space->lookup.directory, other );
        CHECK_SENTENCE( clv_mpi_directory_check( space ), NULL );
    }
    clv_mpi_space_destroy( space );
}

static uint32_t find_ghost( const clv_mpi_space* space )
{
    uint32_t slot = 0;
    while ( slot < space->slots.end &&
        ( space->columns.flags.items[slot] & ( SLOT_LIVE | SLOT_OWN ) ) != SLOT_LIVE )
    {
        slot += 1;
    }
    return slot;
}

// With events ghosts are remembered, without them they lie in berths.
static void spoilt_ghosts_are_seen( bool has_events )
{
    mpi_test_case( has_events ? "spoilt ghosts" : "spoilt berths" );
    clv_mpi_space* space = open_space( has_events );
    mpi_columns* c = &space->columns;
    uint32_t slot = find_ghost( space );
    // Objects that changed their owner after the exchange would be ghosts, or berths, that letters did not
    // bring.
    CHECK( space->stats.left_count == 0 && space->stats.arrived_count == 0 );
    if ( g_mpi_count > 1 )
    {
        CHECK( slot < space->slots.end );
        SPOIL( c->locals.items[slot].index, slot + 1, clv_mpi_ghosts_check( space ),
            "a ghost lies in a slot that the space inside knows by another id" );
        SPOIL( c->flags.items[slot], c->flags.items[slot] ^ SLOT_INSIDE, clv_mpi_ghosts_check( space ),
            "a ghost does not know whether it lies inside the region" );
        SPOIL( c->flags.items[slot], 0, clv_mpi_ghosts_check( space ),
            "there are more or fewer ghosts than were counted" );
        SPOIL( space->slots.ghost_count, space->slots.ghost_count + 1, clv_mpi_ghosts_check( space ),
            "there are more or fewer ghosts than were counted" );
    }
    clv_mpi_space_destroy( space );
}

// After a commit the list that was found is that of the update before: brought back, it is looked at as in
// the update.
static void spoilt_pairs_are_seen( void )
{
    mpi_test_case( "spoilt pairs" );
    clv_mpi_space* space = open_space( true );
    mpi_found_list other = space->pairs.found;
    space->pairs.found = space->pairs.found_before;
    space->pairs.found_before = other;
    mpi_found* found = space->pairs.found.items;
    clv_mpi_pair* pairs = space->pairs.list.items;
    CHECK( space->pairs.list.count > 2 );
    const char* sorted = "pairs that are to be sorted are not, or one is there twice";
    CHECK_SENTENCE( clv_mpi_pairs_check( space ), NULL );
    SPOIL( space->pairs.list.count, space->pairs.list.count - 1, clv_mpi_pairs_check( space ),
        "the list has more or fewer pairs than were found" );
    SPOIL( found[1].slot_a, space->slots.end, clv_mpi_pairs_check( space ),
        "a pair has slots of other objects than its ids" );
    SPOIL( found[1].b, OBJECTS + 1, clv_mpi_pairs_check( space ),
        "a pair has slots of other objects than its ids" );
    SPOIL( space->partition.regions.bounds[space->rank].lower.x, 100, clv_mpi_pairs_check( space ),
        "a pair is another process's to report" );
    SPOIL( pairs[1].a, pairs[1].b, clv_mpi_pairs_check( space ), "a pair does not have the lower id first" );
    SPOIL( pairs[1], pairs[0], clv_mpi_pairs_check( space ), sorted );
    SPOIL( pairs[0], pairs[2], clv_mpi_pairs_check( space ), sorted );
    clv_mpi_space_destroy( space );
}

int main( int argc, char** argv )
{
    mpi_test_begin( &argc, &argv );
    spoilt_regions_are_seen();
    spoilt_tables_of_ids_are_seen();
    spoilt_objects_are_seen();
    spoilt_names_are_seen();
    spoilt_directories_are_seen();
    spoilt_ghosts_are_seen( false );
    spoilt_ghosts_are_seen( true );
    spoilt_pairs_are_seen();
    if ( g_mpi_rank == 0 )
    {
        printf( "mpi: checkers see planted faults, on %d\n", g_mpi_count );
    }
    MPI_Finalize();
    return 0;
}
