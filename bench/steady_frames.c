// SPDX-License-Identifier: MIT
// How even the updates of a steady world are: many frames of one space, the processor time of each update,
// and what clv_space_stats says of those that took longer. bench/steady.md has its results.
//
//   steady_frames [--frames N] [--boxes N] [--rounds N] [--seed N] [--seconds N] [WORLD]...
//
// Default: 10000 frames of 32000 boxes, one round, all worlds. In several rounds the same frames come
// again, and of each the least counts: what another program did to this one's caches is in one of them
// only. A world that takes longer than --seconds has as many frames as fit. Exit status 1 if p99.9 is
// above three times the median.
#define _GNU_SOURCE // RUSAGE_THREAD

#include "head.h"

#include "cleave/cleave.h"
#include "math/splitmix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum
{
    WARM_FRAMES = 64, // before the first one that counts
    MOST_GROUPS = 64,
    FLAGS = 5,
};

// Unit cubes. Each moves around its own place, along a closed way of its own, so that the
// world is the same for ever.
typedef struct world_kind
{
    const char* name;
    const char* what;
    double volume; ///< of space for each box
    double share;  ///< of boxes that move
    double reach;  ///< metres from its place, at most
    double speed;  ///< radians per frame, about
    bool has_events;
} world_kind;

static const world_kind s_worlds[] = {
    { "flying", "all fly: 30 m3 each, up to 0.4 m a frame", 30, 1, 20, 0.02, false },
    { "events", "the same with a sorted list and events", 30, 1, 20, 0.02, true },
    { "crowded", "all swing by 0.5 m: 1.2 m3 each, up to 0.05 m a frame", 1.2, 1, 0.5, 0.1, false },
    { "trembling", "all tremble by 2 mm: 1.2 m3 each", 1.2, 1, 0.002, 1, false },
    { "few", "one in 200 trembles by 5 mm: 1.2 m3 each", 1.2, 0.005, 0.005, 1, false },
    { "mixed-1", "1 % swing by 2 m, up to 0.1 m a frame: 1.2 m3 each", 1.2, 0.01, 2, 0.05, false },
    { "mixed-6", "6 % do: about where following costs as much as searching", 1.2, 0.06, 2, 0.05, false },
    { "mixed-12", "12 % do", 1.2, 0.12, 2, 0.05, false },
    { "jumping", "2 % are elsewhere in every frame: 1.2 m3 each", 1.2, 0.02, 20, 1, false },
    { "shaking", "all tremble by 20 mm: too many pairs are doubtful", 1.2, 1, 0.02, 1, false },
};

static const char* const s_reasons[] = { "memory", "members", "failure", "scale", "grid", "relaid", "plan",
    "rest noted", "rest entered", "rest left", "tree", "switched out" };

enum
{
    REASON_COUNT = sizeof( s_reasons ) / sizeof( s_reasons[0] ),
    SWITCHED_OUT = 1 << ( REASON_COUNT - 1 ), // the system ran another program on this core
};

typedef struct world
{
    const world_kind* kind;
    uint32_t count;
    float ( *place )[3];
    float ( *phase )[3];
    float ( *pace )[3];
    clv_aabb* boxes;
    clv_id* ids;
} world;

typedef struct frame_cost
{
    float update_ms, frame_ms;
    uint32_t reasons;
} frame_cost;

// How often this thread had to leave its core.
static long switches( void )
{
#ifdef RUSAGE_THREAD
    struct rusage usage;
    getrusage( RUSAGE_THREAD, &usage );
    return usage.ru_nivcsw;
#else
    return 0;
#endif
}

// A sine that is quick and good enough: a parabola in each half. `turns` is not negative.
static float wave( float turns )
{
    float t = turns - (float)(int32_t)turns - 0.5f;
    return t * ( 8.0f - 16.0f * fabsf( t ) );
}

static void place_boxes( world* w, uint32_t frame )
{
    float reach = (float)w->kind->reach;
    uint32_t moving = (uint32_t)( w->kind->share * w->count );
    uint32_t end = frame == 0 ? w->count : moving;
    for ( uint32_t i = 0; i < end; ++i )
    {
        float at[3];
        for ( int axis = 0; axis < 3; ++axis )
        {
            float swing = wave( w->phase[i][axis] + w->pace[i][axis] * (float)( frame % 1000 ) );
            at[axis] = w->place[i][axis] + ( i < moving ? reach * swing : 0 );
        }
        w->boxes[i] = ( clv_aabb ){ { at[0], at[1], at[2] }, { at[0] + 1, at[1] + 1, at[2] + 1 } };
    }
}

static world make_world( const world_kind* kind, uint32_t count, uint64_t seed )
{
    world w = { kind, count, take( count, sizeof( *w.place ) ), take( count, sizeof( *w.phase ) ),
        take( count, sizeof( *w.pace ) ), take( count, sizeof( clv_aabb ) ),
        take( count, sizeof( clv_id ) ) };
    math_random random = math_random_seed( seed );
    double side = cbrt( kind->volume * count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            w.place[i][axis] = (float)math_random_between( &random, 0, side );
            w.phase[i][axis] = (float)math_random_unit( &random );
            // Whole turns in 1000 frames: after these all is as it was.
            double turns = ceil( math_random_unit( &random ) * kind->speed / 6.2832 * 1000 );
            w.pace[i][axis] = (float)( turns / 1000 );
        }
    }
    place_boxes( &w, 0 );
    return w;
}

static void free_world( world* w )
{
    free( w->place );
    free( w->phase );
    free( w->pace );
    free( w->boxes );
    free( w->ids );
}

// How many frames there were: fewer than asked for if they took too long.
static uint32_t live( const world_kind* kind, uint32_t boxes, uint64_t seed, uint32_t frames, time_t end_time,
    bool is_first, frame_cost* costs )
{
    world w = make_world( kind, boxes, seed );
    clv_space_def def = clv_default_space_def();
    def.sorted = def.events = kind->has_events;
    clv_space* space = NULL;
    check( clv_space_create( &def, &space ) == CLV_OK, "creating a space" );
    check( clv_space_add( space, w.boxes, w.count, w.ids ) == CLV_OK, "adding" );
    uint32_t frame = 0;
    for ( ; frame < WARM_FRAMES + frames && ( frame <= WARM_FRAMES || time( NULL ) <= end_time ); ++frame )
    {
        place_boxes( &w, frame );
        long before = switches();
        double begin = cpu_ms();
        check( clv_space_move( space, w.ids, w.boxes, w.count ) == CLV_OK, "moving" );
        double moved = cpu_ms();
        check( clv_space_update( space ) == CLV_OK, "updating" );
        double end = cpu_ms();
        if ( frame >= WARM_FRAMES )
        {
            uint32_t reasons =
                clv_space_stats( space ).reasons | ( switches() != before ? SWITCHED_OUT : 0u );
            frame_cost* cost = &costs[frame - WARM_FRAMES];
            float update_ms = (float)( end - moved ), frame_ms = (float)( end - begin );
            cost->reasons = is_first || update_ms < cost->update_ms ? reasons : cost->reasons;
            cost->update_ms = is_first ? update_ms : fminf( update_ms, cost->update_ms );
            cost->frame_ms = is_first ? frame_ms : fminf( frame_ms, cost->frame_ms );
        }
    }
    clv_space_destroy( space );
    free_world( &w );
    return frame - WARM_FRAMES;
}

static int compare_floats( const void* left, const void* right )
{
    float a = *(const float*)left, b = *(const float*)right;
    return ( a > b ) - ( a < b );
}

static float part_of( const float* sorted, uint32_t count, double part )
{
    uint32_t at = (uint32_t)( part * count );
    return sorted[at < count ? at : count - 1];
}

typedef struct group
{
    uint32_t reasons, count;
    float worst;
} group;

// Updates above three times the median, by their reasons.
static void print_outliers( const frame_cost* costs, uint32_t frames, float median )
{
    group groups[MOST_GROUPS];
    uint32_t group_count = 0;
    for ( uint32_t i = 0; i < frames; ++i )
    {
        uint32_t at = 0;
        while ( at < group_count && groups[at].reasons != costs[i].reasons )
        {
            at += 1;
        }
        if ( costs[i].update_ms <= 3 * median || at == MOST_GROUPS )
        {
            continue;
        }
        if ( at == group_count )
        {
            groups[group_count++] = ( group ){ costs[i].reasons, 0, 0 };
        }
        groups[at].count += 1;
        groups[at].worst = fmaxf( groups[at].worst, costs[i].update_ms );
    }
    for ( uint32_t at = 0; at < group_count; ++at )
    {
        printf( "    %u above 3 x the median, up to %.3f ms:", groups[at].count, (double)groups[at].worst );
        for ( uint32_t bit = 0; bit < REASON_COUNT; ++bit )
        {
            if ( ( groups[at].reasons >> bit & 1 ) != 0 )
            {
                printf( " %s,", s_reasons[bit] );
            }
        }
        printf( groups[at].reasons == 0 ? " nothing but the search\n" : "\n" );
    }
}

// How often each reason was given, of all updates.
static void print_reasons( const frame_cost* costs, uint32_t frames )
{
    printf( "    of all:" );
    for ( uint32_t bit = 0; bit < REASON_COUNT; ++bit )
    {
        uint32_t count = 0;
        double sum = 0;
        for ( uint32_t i = 0; i < frames; ++i )
        {
            bool has = ( costs[i].reasons >> bit & 1 ) != 0;
            count += has;
            sum += has ? (double)costs[i].update_ms : 0;
        }
        if ( count > 0 )
        {
            printf( " %s %u (%.3f ms),", s_reasons[bit], count, sum / count );
        }
    }
    printf( "\n" );
}

static bool measure( const world_kind* kind, uint32_t boxes, uint64_t seed, uint32_t frames, uint32_t rounds,
    uint32_t seconds )
{
    time_t end_time = time( NULL ) + (time_t)seconds;
    frame_cost* costs = take( frames, sizeof( frame_cost ) );
    float *updates = take( frames, sizeof( float ) ), *whole = take( frames, sizeof( float ) );
    for ( uint32_t round = 0; round < rounds; ++round )
    {
        frames = live( kind, boxes, seed, frames, end_time, round == 0, costs );
    }
    for ( uint32_t i = 0; i < frames; ++i )
    {
        updates[i] = costs[i].update_ms;
        whole[i] = costs[i].frame_ms;
    }
    qsort( updates, frames, sizeof( float ), compare_floats );
    qsort( whole, frames, sizeof( float ), compare_floats );
    float median = part_of( updates, frames, 0.5 ), p999 = part_of( updates, frames, 0.999 );
    float most = updates[frames - 1];
    printf( "%-10s %8u %8.4f %8.4f %8.4f %8.4f %8.2f %8.2f %8.2f\n", kind->name, frames, (double)median,
        (double)part_of( updates, frames, 0.99 ), (double)p999, (double)most, (double)( p999 / median ),
        (double)( most / median ),
        (double)( part_of( whole, frames, 0.999 ) / part_of( whole, frames, 0.5 ) ) );
    print_outliers( costs, frames, median );
    print_reasons( costs, frames );
    fflush( stdout );
    free( costs );
    free( updates );
    free( whole );
    return p999 <= 3 * median;
}

static int usage( void )
{
    fputs( "usage: steady_frames [--frames N] [--boxes N] [--rounds N] [--seed N] [--seconds N] [WORLD]...\n",
        stderr );
    for ( size_t i = 0; i < sizeof( s_worlds ) / sizeof( s_worlds[0] ); ++i )
    {
        fprintf( stderr, "  %-10s %s\n", s_worlds[i].name, s_worlds[i].what );
    }
    return 2;
}

int main( int argc, char** argv )
{
    static const char* const flags[] = { "--frames", "--boxes", "--rounds", "--seed", "--seconds" };
    unsigned long numbers[FLAGS] = { 10000, 32000, 1, 1, 100000000 };
    int next = 1;
    for ( ; next + 1 < argc && strncmp( argv[next], "--", 2 ) == 0; next += 2 )
    {
        size_t flag = 0;
        while ( flag < FLAGS && strcmp( argv[next], flags[flag] ) != 0 )
        {
            flag += 1;
        }
        char* end;
        unsigned long value = strtoul( argv[next + 1], &end, 10 );
        if ( flag == FLAGS || *end != 0 || value < 1 || value > 100000000 )
        {
            return usage();
        }
        numbers[flag] = value;
    }
    bool is_named = next < argc, all_hold = true;
    for ( int i = next; i < argc; ++i )
    {
        bool is_known = false;
        for ( size_t at = 0; at < sizeof( s_worlds ) / sizeof( s_worlds[0] ); ++at )
        {
            is_known = is_known || strcmp( argv[i], s_worlds[at].name ) == 0;
        }
        if ( !is_known )
        {
            return usage();
        }
    }
    printf( "world        frames   median      p99    p99.9      max  p99.9/m    max/m  with the move\n" );
    for ( size_t at = 0; at < sizeof( s_worlds ) / sizeof( s_worlds[0] ); ++at )
    {
        bool is_wanted = !is_named;
        for ( int i = next; i < argc; ++i )
        {
            is_wanted = is_wanted || strcmp( argv[i], s_worlds[at].name ) == 0;
        }
        if ( is_wanted )
        {
            bool holds = measure( &s_worlds[at], (uint32_t)numbers[1], numbers[3], (uint32_t)numbers[0],
                (uint32_t)numbers[2], (uint32_t)numbers[4] );
            all_hold = all_hold && holds;
        }
    }
    return all_hold ? 0 : 1;
}
