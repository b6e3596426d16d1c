// SPDX-License-Identifier: MIT
// Lives in which updates fail for their number of pairs and succeed again, and visits are stopped: what a
// caller sees is a function of the def and the calls alone, on every instruction set and for any number of
// workers, also of the failures and of what follows them.
#include "support.h"

#include <string.h>

enum
{
    MOST_BOXES = 160,
    STEPS = 48,
    MOST_WORKERS = 3
};

typedef struct life
{
    test_random random;
    clv_space* space;
    clv_id ids[MOST_BOXES];
    clv_aabb boxes[MOST_BOXES];
    uint32_t count;
    float reach;           ///< of the world: the smaller, the more pairs
    uint64_t seen;         ///< of this step
    uint64_t stop;         ///< chunks after which the visitor stops
    uint64_t steps[STEPS]; ///< what was seen in each
    uint32_t failures, successes;
} life;

static void see( life* l, uint64_t value )
{
    l->seen = test_mix( l->seen ^ value );
}

static bool allow( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    life* l = user;
    see( l, (uint64_t)pair.a << 32 | pair.b );
    return ( pair.a ^ pair.b ) % 3 != 0;
}

static bool look( const clv_pair* pairs, size_t count, void* user )
{
    life* l = user;
    see( l, test_order_hash( pairs, count ) );
    return l->stop == 0 || --l->stop > 0;
}

static clv_aabb random_box( life* l )
{
    float x = test_random_between( &l->random, 0, l->reach ),
          y = test_random_between( &l->random, 0, l->reach );
    float z = test_random_between( &l->random, 0, l->reach );
    return test_cube( x, y, z, test_random_between( &l->random, 0.2f, 1.0f ) );
}

static void add_some( life* l, uint32_t count )
{
    count = count < MOST_BOXES - l->count ? count : MOST_BOXES - l->count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        l->boxes[l->count + i] = random_box( l );
    }
    CHECK_OK( clv_space_add( l->space, l->boxes + l->count, count, l->ids + l->count ) );
    l->count += count;
}

static void remove_some( life* l )
{
    uint32_t count = test_random_below( &l->random, 4 );
    for ( uint32_t i = 0; i < count && l->count > 1; ++i )
    {
        uint32_t at = test_random_below( &l->random, l->count );
        CHECK_OK( clv_space_remove_one( l->space, l->ids[at] ) );
        l->count -= 1;
        l->ids[at] = l->ids[l->count];
        l->boxes[at] = l->boxes[l->count];
    }
}

static void tremble( clv_aabb* box, test_random* random )
{
    float by = test_random_between( random, -0.01f, 0.01f );
    box->lower.x += by;
    box->upper.x += by;
}

// A few to somewhere else, or all by a little, or the whole world to another size.
static void move_some( life* l )
{
    uint32_t kind = test_random_below( &l->random, 8 );
    if ( kind == 0 )
    {
        l->reach = test_random_between( &l->random, 2, 9 );
    }
    uint32_t percent = kind == 0 ? 100 : kind == 1 ? 30 : kind < 4 ? 4 : 0;
    for ( uint32_t i = 0; i < l->count; ++i )
    {
        if ( test_random_chance( &l->random, percent ) )
        {
            l->boxes[i] = random_box( l );
        }
        else if ( kind < 7 )
        {
            tremble( &l->boxes[i], &l->random );
        }
    }
    CHECK_OK( clv_space_move( l->space, l->ids, l->boxes, l->count ) );
}

static void change( life* l )
{
    uint32_t kind = test_random_below( &l->random, 12 );
    if ( kind == 0 )
    {
        add_some( l, 3 );
    }
    else if ( kind == 1 )
    {
        remove_some( l );
    }
    else if ( kind == 2 )
    {
        clv_filter filter = clv_default_filter();
        filter.group = -(int32_t)test_random_below( &l->random, 2 );
        uint32_t at = test_random_below( &l->random, l->count );
        CHECK_OK( clv_space_set_filter( l->space, &l->ids[at], &filter, 1 ) );
    }
    else
    {
        move_some( l );
    }
}

static void see_space( life* l, clv_result result )
{
    clv_pair_view view = clv_space_pairs( l->space );
    clv_event_view events = clv_space_events( l->space );
    clv_stats stats = clv_space_stats( l->space );
    see( l, (uint64_t)result );
    see( l, clv_space_error( l->space ).pair_count );
    see( l, stats.candidate_count );
    see( l, stats.test_count );
    see( l, stats.pair_count );
    see( l, stats.update_count );
    see( l, view.count );
    see( l, test_order_hash( view.pairs, view.count ) );
    see( l, events.begun_count << 32 | events.ended_count );
    l->failures += result != CLV_OK;
    l->successes += result == CLV_OK;
}

static clv_space_def random_def( life* l )
{
    clv_space_def def = clv_default_space_def();
    uint32_t kind = test_random_below( &l->random, 6 );
    def.sorted = kind == 1 || kind == 2;
    def.events = kind == 2 || kind == 3;
    def.filter = test_random_chance( &l->random, 30 ) ? allow : NULL;
    def.filter_user = l;
    def.max_pairs = test_random_chance( &l->random, 85 ) ? 20 + test_random_below( &l->random, 400 ) : 0;
    def.settings = test_settings_token( test_random_below( &l->random, 5 ) );
    return def;
}

static void play( life* l, test_variant variant, uint64_t seed )
{
    memset( l, 0, sizeof( *l ) );
    l->random = test_random_make( seed );
    l->reach = 6;
    clv_space_def def = random_def( l );
    bool may_visit = !def.sorted && !def.events;
    l->space = test_space_make( variant, &def );
    add_some( l, 20 + test_random_below( &l->random, MOST_BOXES - 20 ) );
    for ( uint32_t step = 0; step < STEPS; ++step )
    {
        bool visits = may_visit && test_random_chance( &l->random, 15 );
        l->stop = test_random_below( &l->random, 2 );
        l->seen = 0;
        see_space( l, visits ? clv_space_visit( l->space, look, l ) : clv_space_update( l->space ) );
        l->steps[step] = l->seen;
        change( l );
    }
    clv_space_destroy( l->space );
}

static void check_same( const life* l, const life* first )
{
    for ( uint32_t step = 0; step < STEPS; ++step )
    {
        test_where.frame = step;
        CHECK_EQUAL( l->steps[step], first->steps[step] );
    }
}

static void check_method( const clv_method* row, uint64_t seed, uint64_t sums[2] )
{
    static life first, other;
    bool is_first = true;
    for ( int isa = CLV_ISA_AUTO; isa < CLV_ISA_COUNT; ++isa )
    {
        bool is_there =
            row->has_isa ? isa != CLV_ISA_AUTO && clv_isa_is_supported( (clv_isa)isa ) : isa == CLV_ISA_AUTO;
        for ( uint32_t workers = 1; workers <= ( row->has_threads ? MOST_WORKERS : 1 ) && is_there;
              ++workers )
        {
            test_where.seed = seed;
            play( is_first ? &first : &other, ( test_variant ){ row, (clv_isa)isa, workers }, seed );
            check_same( is_first ? &first : &other, &first );
            is_first = false;
        }
    }
    sums[0] += first.failures;
    sums[1] += first.successes;
}

static void what_follows_a_failure_is_the_same_everywhere( void )
{
    uint64_t sums[2] = { 0, 0 };
    for ( uint64_t seed = 1; seed <= test_scaled( 125 ); ++seed )
    {
        for ( uint32_t i = 0; i < clv_method_count(); ++i )
        {
            if ( clv_method_at( i )->is_temporal ||
                seed <= test_scaled( 25 ) ) // the others have nothing to remember
            {
                check_method( clv_method_at( i ), seed, sums );
            }
        }
    }
    CHECK( sums[0] > sums[1] / 8 && sums[1] > sums[0] / 8 ); // or nothing was tested
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( what_follows_a_failure_is_the_same_everywhere ),
    };
    return test_run( "failure", cases, TEST_COUNT( cases ), argc, argv );
}
