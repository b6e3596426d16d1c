// SPDX-License-Identifier: MIT
// Region matching, as the data distribution of the High Level Architecture calls it: vehicles publish what
// they do within an update region, radars subscribe to a region, and a subscriber to a place receives what
// happens there. Two subscriptions are no match, nor are two updates: the categories of filters say so.
// Events tell which connections to open and to close, so that most steps send few messages.
//
// Usage: regions
#include <cleave/cleave.h>
#include <cleave/match.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    RADARS = 200,    // subscribe; they come first, so a pair's `a` is a radar
    VEHICLES = 4000, // update
    REGIONS = RADARS + VEHICLES,
    STEPS = 100,
    EDGE = 1000 // of the map, kilometres
};

enum
{
    SUBSCRIPTION = 1,
    UPDATE = 2 // categories
};

typedef struct map
{
    clv_space* space;
    clv_id ids[REGIONS];
    clv_aabb boxes[REGIONS];
    clv_filter filters[REGIONS];
    float speeds[REGIONS][2];
    uint8_t is_connected[RADARS][VEHICLES]; // as the messages say
    uint8_t is_match[RADARS][VEHICLES];     // as a search from scratch says
    uint64_t opened, closed, matches;
} map;

static uint32_t random_below( uint64_t* state, uint32_t limit )
{
    *state = *state * UINT64_C( 6364136223846793005 ) + UINT64_C( 1442695040888963407 );
    return (uint32_t)( ( *state >> 33 ) % limit );
}

// Quarters of a kilometre, which floats hold exactly. Heights do not matter: every region has all of them.
static void fill( map* m )
{
    uint64_t state = 1;
    for ( int i = 0; i < REGIONS; ++i )
    {
        bool is_radar = i < RADARS;
        float size =
            (float)( is_radar ? 80 + random_below( &state, 160 ) : 4 + random_below( &state, 8 ) ) / 4;
        float x = (float)random_below( &state, 4 * EDGE ) / 4,
              y = (float)random_below( &state, 4 * EDGE ) / 4;
        m->boxes[i] = ( clv_aabb ){ { x, y, -HUGE_VALF }, { x + size, y + size, HUGE_VALF } };
        m->filters[i] = clv_default_filter();
        m->filters[i].category = is_radar ? SUBSCRIPTION : UPDATE;
        m->filters[i].mask = is_radar ? UPDATE : SUBSCRIPTION;
        for ( int k = 0; k < 2; ++k )
        {
            m->speeds[i][k] = is_radar ? 0 : (float)( (int)random_below( &state, 17 ) - 8 ) / 4;
        }
    }
}

// Vehicles drive; one that leaves the map comes back from the other side.
static void drive( map* m )
{
    for ( int i = RADARS; i < REGIONS; ++i )
    {
        clv_aabb* box = &m->boxes[i];
        float x = m->speeds[i][0], y = m->speeds[i][1];
        x += box->lower.x + x > EDGE ? -EDGE : box->lower.x + x < 0 ? EDGE : 0;
        y += box->lower.y + y > EDGE ? -EDGE : box->lower.y + y < 0 ? EDGE : 0;
        box->lower.x += x;
        box->upper.x += x;
        box->lower.y += y;
        box->upper.y += y;
    }
}

static void connect( map* m, const clv_id_pair* pairs, uint64_t count, bool is_open )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        m->is_connected[pairs[i].a.index][pairs[i].b.index - RADARS] = is_open;
    }
}

static bool note_match( const clv_pair* pairs, size_t count, void* user )
{
    map* m = user;
    for ( size_t i = 0; i < count; ++i )
    {
        m->is_match[pairs[i].a][pairs[i].b] = 1;
    }
    return true;
}

// The stateless way, by match.h: regions of two axes in double, those of one array against those of another.
static bool agrees_with_search( map* m )
{
    static double corners[2][REGIONS][2]; // lower, upper
    for ( int i = 0; i < REGIONS; ++i )
    {
        corners[0][i][0] = m->boxes[i].lower.x;
        corners[0][i][1] = m->boxes[i].lower.y;
        corners[1][i][0] = m->boxes[i].upper.x;
        corners[1][i][1] = m->boxes[i].upper.y;
    }
    clv_regions radars = { corners[0][0], corners[1][0], sizeof( corners[0][0] ), RADARS };
    clv_regions vehicles = { corners[0][RADARS], corners[1][RADARS], sizeof( corners[0][0] ), VEHICLES };
    clv_match_def def = clv_default_match_def();
    def.axis_count = 2;
    memset( m->is_match, 0, sizeof( m->is_match ) );
    return clv_match_between( &def, radars, vehicles, note_match, m, NULL ) == CLV_OK &&
        memcmp( m->is_match, m->is_connected, sizeof( m->is_match ) ) == 0;
}

static bool run( map* m )
{
    fill( m );
    clv_add_def add = clv_default_add_def();
    add.boxes = m->boxes;
    add.filters = m->filters;
    clv_result result = clv_space_add_with( m->space, &add, REGIONS, m->ids );
    bool agrees = true;
    for ( int step = 0; step < STEPS && result == CLV_OK; ++step )
    {
        if ( step > 0 )
        {
            drive( m );
            result = clv_space_move( m->space, m->ids + RADARS, m->boxes + RADARS, VEHICLES );
        }
        result = result == CLV_OK ? clv_space_update( m->space ) : result;
        clv_event_view events = clv_space_events( m->space );
        connect( m, events.ended, events.ended_count, false );
        connect( m, events.begun, events.begun_count, true );
        m->opened += events.begun_count;
        m->closed += events.ended_count;
        m->matches += clv_space_pairs( m->space ).count;
        agrees = agrees && agrees_with_search( m );
    }
    if ( result != CLV_OK )
    {
        fprintf( stderr, "regions: %s\n", clv_space_error( m->space ).text );
        return false;
    }
    printf( "%d subscriptions, %d updates, %d steps\n", RADARS, VEHICLES, STEPS );
    printf( "%llu matches in all steps together\n", (unsigned long long)m->matches );
    printf( "%llu connections opened, %llu closed\n", (unsigned long long)m->opened,
        (unsigned long long)m->closed );
    printf( "connections are those of a search from scratch, in every step: %s\n", agrees ? "yes" : "no" );
    return true;
}

int main( void )
{
    map* m = calloc( 1, sizeof( *m ) );
    clv_space_def def = clv_default_space_def();
    def.events = true;
    bool good = m != NULL && clv_space_create( &def, &m->space ) == CLV_OK && run( m );
    if ( m != NULL )
    {
        clv_space_destroy( m->space );
    }
    free( m );
    return good ? 0 : 1;
}
