// SPDX-License-Identifier: MIT
// Looks for cliffs: random worlds (random_worlds.h), in each of which the default engine is timed beside
// `sap` and `kd-rebuilt`, update by update. Where it takes over three times as long as the better of the two,
// the world is a cliff, and its seed is told, so that it can be looked at again. `cliffs --help` lists the
// flags.
//
// Times are of the processor, and of everything an update takes: boxes removed, moved and added, and the
// search. A world with a slow update is run three times in all, and of each update the least counts. All
// methods have to find as many pairs, in every update.
#define _POSIX_C_SOURCE 200809L

#include "cleave/cleave.h"
#include "cleave/methods.h"
#include "world_changes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIMIT 3.0     // times as long as the better of the others
#define FLOOR_MS 0.05 // less than this the others' time does not count as: too short to be told from noise
#define HOPELESS 10.0 // beyond this,
#define HOPELESS_MS 300.0 // in an update as long as this, a world is not run on
#define LAME 10.0         // a method that takes so many times as long as the other one
#define LAME_MS 20.0      // and at least this is left out from then on

enum
{
    RUNS = 3, // of a world with a slow update
    WORLD_SECONDS = 30,
    UPDATES_MOST = 1000,
    PAIRS_MOST = 64, // to a box; with more a world ends, since the list is all that counts then
    KEPT = 16,       // worst worlds told
    SAP = 0,
    KD = 1,
    CLEAVE = 2,
    METHODS = 3
};

static const char* const s_methods[METHODS] = { "sap", "kd-rebuilt", "cleave" };

typedef struct cliff_settings
{
    uint64_t count;
    random_world_def world;
    uint64_t updates, seconds, workers;
    bool is_verbose;
} cliff_settings;

// ---- a world and what was measured

/// One update, the least over all runs.
typedef struct moment
{
    uint32_t update, box_count;
    uint64_t pair_count;
    double ms[METHODS]; ///< HUGE_VAL: left out
    double tests_per_box[METHODS];
    double ratio;
} moment;

typedef struct world_trial
{
    random_world world;
    world_way way;
    moment* moments;
    uint32_t moment_count;
    moment worst;
    bool disagrees;
} world_trial;

typedef struct contender
{
    world_member member;
    bool is_out; ///< too slow to go on
} contender;

typedef struct run
{
    const cliff_settings* settings;
    world_trial* trial;
    contender contenders[METHODS];
    world_changes changes;
} run;

// Of this process alone: others may be at work.
static double cpu_ms( void )
{
    struct timespec now;
    clock_gettime( CLOCK_PROCESS_CPUTIME_ID, &now );
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static double wall_seconds( void )
{
    struct timespec now;
    clock_gettime( CLOCK_MONOTONIC, &now );
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void check( clv_result result, const char* what )
{
    if ( result != CLV_OK )
    {
        fprintf( stderr, "cliffs: %s: %s\n", what, clv_result_text( result ) );
        exit( 2 );
    }
}

static void* take( size_t count, size_t size )
{
    void* memory = calloc( count + 1, size );
    check( memory == NULL ? CLV_OUT_OF_MEMORY : CLV_OK, "boxes" );
    return memory;
}

// ---- one update of one method

static clv_space* create_space( const run* self, int method )
{
    const world_trial* trial = self->trial;
    clv_space_def def = clv_default_space_def();
    def.method = s_methods[method];
    def.worker_count = (uint32_t)self->settings->workers;
    world_way_define( &trial->way, &def );
    def.max_pairs = (uint64_t)PAIRS_MOST * trial->world.count + 10000;
    clv_space* space;
    check( clv_space_create( &def, &space ), s_methods[method] );
    return space;
}

static bool count_pairs( const clv_pair* pairs, size_t count, void* user )
{
    (void)pairs;
    *(uint64_t*)user += count;
    return true;
}

// False where there are too many pairs.
static bool search( clv_space* space, int way, uint64_t* pair_count )
{
    uint64_t visited = 0;
    clv_result result =
        way == WAY_VISIT ? clv_space_visit( space, count_pairs, &visited ) : clv_space_update( space );
    if ( result != CLV_TOO_MANY_PAIRS )
    {
        check( result, clv_space_method( space ) );
    }
    *pair_count = way == WAY_VISIT ? visited : clv_space_pairs( space ).count;
    return result == CLV_OK;
}

// Everything that the update takes, timed. False where there are too many pairs.
static bool step( run* self, int method, moment* now, uint64_t* pair_count )
{
    world_member* one = &self->contenders[method].member;
    int way = self->trial->way.way, from = 0;
    const char* what;
    double start = cpu_ms();
    if ( one->space == NULL || way == WAY_ONE_SHOT )
    {
        clv_space_destroy( one->space );
        one->space = create_space( self, method );
    }
    check( world_member_change( one, &self->changes, &from, &what ), what );
    bool is_done = search( one->space, way, pair_count );
    now->ms[method] = cpu_ms() - start;
    now->tests_per_box[method] =
        (double)clv_space_stats( one->space ).test_count / ( now->box_count > 0 ? now->box_count : 1 );
    return is_done;
}

// ---- one update of all

// Where one of the two others is far too slow here it is left out; the better one is what counts.
static void leave_out_lame( run* self, const moment* now )
{
    for ( int method = 0; method < CLEAVE; ++method )
    {
        double ms = now->ms[method], other = now->ms[1 - method];
        self->contenders[method].is_out |= ms > LAME_MS && ms > LAME * other;
    }
}

static double ratio_of( const moment* now )
{
    return now->ms[CLEAVE] / fmax( fmin( now->ms[SAP], now->ms[KD] ), FLOOR_MS );
}

// False where the world ends: too many pairs, or methods that disagree about their number.
static bool run_update( run* self, uint32_t update, moment* now )
{
    world_changes_list( &self->changes, update );
    *now = ( moment ){ .update = update, .box_count = self->changes.box_count };
    uint64_t counts[METHODS] = { 0 }, found = UINT64_MAX;
    for ( int method = 0; method < METHODS; ++method )
    {
        now->ms[method] = HUGE_VAL;
        if ( self->contenders[method].is_out )
        {
            continue;
        }
        if ( !step( self, method, now, &counts[method] ) )
        {
            return false;
        }
        if ( found != UINT64_MAX && found != counts[method] )
        {
            fprintf( stderr,
                "cliffs: seed %" PRIu64 " (%s), update %u: %s finds %" PRIu64
                " pairs, another method %" PRIu64 "\n",
                self->trial->world.seed, random_world_kind( self->trial->world.kind ), update,
                s_methods[method], counts[method], found );
            self->trial->disagrees = true;
            return false;
        }
        found = counts[method];
    }
    now->pair_count = found;
    now->ratio = ratio_of( now );
    leave_out_lame( self, now );
    return true;
}

// ---- a world

static void begin_run( run* self, const cliff_settings* settings, world_trial* trial )
{
    *self = ( run ){ .settings = settings, .trial = trial };
    bool is_open = world_changes_open( &self->changes, &trial->world, trial->way );
    for ( int method = 0; method < METHODS; ++method )
    {
        is_open = world_member_open( &self->contenders[method].member, &trial->world ) && is_open;
    }
    check( is_open ? CLV_OK : CLV_OUT_OF_MEMORY, "boxes" );
}

static void end_run( run* self )
{
    for ( int method = 0; method < METHODS; ++method )
    {
        world_member_close( &self->contenders[method].member );
    }
    world_changes_close( &self->changes );
}

// An update that was measured before keeps the least of each time.
static void keep_least( moment* kept, const moment* now )
{
    for ( int method = 0; method < METHODS; ++method )
    {
        kept->ms[method] = fmin( kept->ms[method], now->ms[method] );
    }
    kept->ratio = ratio_of( kept );
}

static bool is_hopeless( const moment* now )
{
    return now->ratio > HOPELESS && now->ms[CLEAVE] > HOPELESS_MS;
}

static void run_once(
    const cliff_settings* settings, world_trial* trial, uint32_t update_count, bool is_first )
{
    run self;
    begin_run( &self, settings, trial );
    double start = wall_seconds();
    for ( uint32_t update = 0; update < update_count; ++update )
    {
        moment now;
        if ( !run_update( &self, update, &now ) )
        {
            break;
        }
        if ( is_first )
        {
            trial->moments[trial->moment_count++] = now;
        }
        else
        {
            keep_least( &trial->moments[update], &now );
        }
        if ( is_hopeless( &now ) || wall_seconds() - start > WORLD_SECONDS )
        {
            break;
        }
    }
    end_run( &self );
}

// How many updates have to be measured again: up to the last slow one.
static uint32_t doubtful_updates( const world_trial* trial )
{
    uint32_t end = 0;
    for ( uint32_t k = 0; k < trial->moment_count; ++k )
    {
        end = trial->moments[k].ratio > LIMIT ? k + 1 : end;
    }
    return end > 0 && is_hopeless( &trial->moments[end - 1] ) ? 0 : end;
}

// `moments` has room for all updates and is the caller's.
static world_trial try_world( const cliff_settings* settings, uint64_t seed, moment* moments )
{
    world_trial trial = { .moments = moments };
    random_world_def def = settings->world;
    def.seed = seed;
    check( random_world_make( &trial.world, &def ) ? CLV_OK : CLV_OUT_OF_MEMORY, "world" );
    trial.way = world_way_draw( seed );
    run_once( settings, &trial, (uint32_t)settings->updates, true );
    for ( int again = 1; again < RUNS && doubtful_updates( &trial ) > 0; ++again )
    {
        run_once( settings, &trial, doubtful_updates( &trial ), false );
    }
    for ( uint32_t k = 0; k < trial.moment_count; ++k )
    {
        trial.worst = moments[k].ratio > trial.worst.ratio ? moments[k] : trial.worst;
    }
    random_world_free( &trial.world );
    return trial;
}

// ---- telling

static void print_moments( const world_trial* trial )
{
    printf( "%6s %8s %9s %10s %10s %10s %12s %12s %12s %7s\n", "update", "boxes", "pairs/box", "sap ms",
        "kd ms", "cleave ms", "sap tests", "kd tests", "cleave tests", "ratio" );
    for ( uint32_t k = 0; k < trial->moment_count; ++k )
    {
        const moment* m = &trial->moments[k];
        printf( "%6u %8u %9.3g %10.3f %10.3f %10.3f %12.1f %12.1f %12.1f %7.2f\n", m->update, m->box_count,
            (double)m->pair_count / ( m->box_count > 0 ? m->box_count : 1 ), m->ms[SAP], m->ms[KD],
            m->ms[CLEAVE], m->tests_per_box[SAP], m->tests_per_box[KD], m->tests_per_box[CLEAVE], m->ratio );
    }
}

static void print_head( FILE* file )
{
    fprintf( file, "%-12s %7s %-8s %-8s %-6s %-8s %-4s %8s %6s %9s %9s %9s %9s %9s %7s\n", "kind", "seed",
        "motion", "extra", "space", "way", "rest", "boxes", "update", "pairs/box", "tests/box", "sap ms",
        "kd ms", "cleave ms", "ratio" );
}

static void print_trial( FILE* file, const world_trial* trial )
{
    const random_world* world = &trial->world;
    const moment* m = &trial->worst;
    double boxes = m->box_count > 0 ? m->box_count : 1;
    fprintf( file,
        "%-12s %7" PRIu64 " %-8s %-8s %-6s %-8s %-4s %8u %6u %9.3g %9.4g %9.3f %9.3f %9.3f %7.2f\n",
        random_world_kind( world->kind ), world->seed, random_world_motion( world->motion ),
        random_world_extra( world->extra ), world_forms[trial->way.form].name, world_ways[trial->way.way],
        trial->way.may_rest ? "yes" : "no", world->count, m->update, (double)m->pair_count / boxes,
        m->tests_per_box[CLEAVE], m->ms[SAP], m->ms[KD], m->ms[CLEAVE], m->ratio );
}

/// What the table says of one kind.
typedef struct tally
{
    uint32_t worlds, slower, cliffs;
    double worst;
} tally;

static void print_tallies( const tally* tallies )
{
    printf( "%-12s %6s %7s %7s %8s\n", "kind", "worlds", "slower", "over 3x", "worst" );
    for ( int kind = 0; kind < random_world_kind_count(); ++kind )
    {
        const tally* t = &tallies[kind];
        if ( t->worlds > 0 )
        {
            printf( "%-12s %6u %7u %7u %8.2f\n", random_world_kind( kind ), t->worlds, t->slower, t->cliffs,
                t->worst );
        }
    }
}

static int by_ratio( const void* a, const void* b )
{
    double x = ( (const world_trial*)a )->worst.ratio, y = ( (const world_trial*)b )->worst.ratio;
    return ( x < y ) - ( x > y );
}

static void print_worst( const cliff_settings* settings, world_trial* trials, uint64_t count )
{
    qsort( trials, count, sizeof( world_trial ), by_ratio );
    printf( "\n" );
    print_head( stdout );
    for ( uint64_t i = 0; i < KEPT && i < count; ++i )
    {
        print_trial( stdout, &trials[i] );
    }
    printf( "\nOne world again: cliffs --from %u --to %u --updates %" PRIu64
            " --count 1 --seed SEED --kind KIND -v\n",
        settings->world.count_least, settings->world.count_most, settings->updates );
}

// ---- flags

static void print_help( void )
{
    printf( "cliffs [FLAGS]   random worlds in which the default engine is slow\n\n"
            "  --count N      worlds (500)\n"
            "  --seed S       of the first; the next has S + 1 (1)\n"
            "  --kind K       only this kind\n"
            "  --motion M     only this motion\n"
            "  --from N       boxes at least (300)\n"
            "  --to N         and at most (60000)\n"
            "  --updates N    of each world (12)\n"
            "  --seconds N    begin no world after so many (no limit)\n"
            "  --workers N    threads of each space (1)\n"
            "  -v             every update of every world\n\nkinds:  " );
    for ( int k = 0; random_world_kind( k ) != NULL; ++k )
    {
        printf( " %s", random_world_kind( k ) );
    }
    printf( "\nmotions:" );
    for ( int k = 0; random_world_motion( k ) != NULL; ++k )
    {
        printf( " %s", random_world_motion( k ) );
    }
    printf(
        "\n\nA time of inf: left out, since that method took over ten times as long as the other.\nExit status: 0, 1 if there is a cliff or methods disagree, 2 if it could not be run.\n" );
}

static void refuse( const char* what, const char* text )
{
    fprintf( stderr, "cliffs: %s '%s'; see cliffs --help\n", what, text );
    exit( 2 );
}

static uint64_t read_number( const char* text, uint64_t least, uint64_t most )
{
    char* end;
    uint64_t number = strtoull( text, &end, 10 );
    if ( end == text || *end != 0 || *text == '-' || number < least || number > most )
    {
        refuse( "not a number, or out of range:", text );
    }
    return number;
}

static int read_name( const char* text, const char* ( *name )(int))
{
    int found = 0;
    while ( name( found ) != NULL && strcmp( name( found ), text ) != 0 )
    {
        ++found;
    }
    if ( name( found ) == NULL )
    {
        refuse( "no such kind or motion:", text );
    }
    return found;
}

static void read_flag( cliff_settings* self, const char* flag, const char* value )
{
    random_world_def* world = &self->world;
    const struct
    {
        const char* flag;
        uint64_t* number;
        uint64_t least, most;
    } numbers[] = { { "--count", &self->count, 1, 100000000 }, { "--seed", &world->seed, 0, UINT64_MAX },
        { "--updates", &self->updates, 1, UPDATES_MOST }, { "--seconds", &self->seconds, 0, 100000000 },
        { "--workers", &self->workers, 1, 256 } };
    for ( size_t k = 0; k < sizeof( numbers ) / sizeof( numbers[0] ); ++k )
    {
        if ( strcmp( flag, numbers[k].flag ) == 0 )
        {
            *numbers[k].number = read_number( value, numbers[k].least, numbers[k].most );
            return;
        }
    }
    if ( strcmp( flag, "--from" ) == 0 || strcmp( flag, "--to" ) == 0 )
    {
        bool is_least = strcmp( flag, "--from" ) == 0;
        *( is_least ? &world->count_least : &world->count_most ) =
            (uint32_t)read_number( value, 1, 100000000 );
    }
    else if ( strcmp( flag, "--kind" ) == 0 )
    {
        world->kind = read_name( value, random_world_kind );
    }
    else if ( strcmp( flag, "--motion" ) == 0 )
    {
        world->motion = read_name( value, random_world_motion );
    }
    else
    {
        refuse( "no such flag:", flag );
    }
}

static cliff_settings read_flags( int argc, char** argv )
{
    cliff_settings self = { .count = 500,
        .world = { .seed = 1,
            .kind = RANDOM_WORLD_ANY,
            .motion = RANDOM_WORLD_ANY,
            .count_least = 300,
            .count_most = 60000 },
        .updates = 12,
        .workers = 1 };
    for ( int i = 1; i < argc; ++i )
    {
        if ( strcmp( argv[i], "--help" ) == 0 || strcmp( argv[i], "-h" ) == 0 )
        {
            print_help();
            exit( 0 );
        }
        if ( strcmp( argv[i], "-v" ) == 0 )
        {
            self.is_verbose = true;
            continue;
        }
        if ( i + 1 == argc )
        {
            refuse( "no such flag, or no value after", argv[i] );
        }
        read_flag( &self, argv[i], argv[i + 1] );
        ++i;
    }
    if ( self.world.count_least > self.world.count_most )
    {
        refuse( "--from is above", "--to" );
    }
    return self;
}

// ---- all worlds

static void add_to_tally( tally* self, const world_trial* trial )
{
    double others = 0, engine = 0;
    for ( uint32_t k = 0; k < trial->moment_count; ++k )
    {
        others += fmin( trial->moments[k].ms[SAP], trial->moments[k].ms[KD] );
        engine += trial->moments[k].ms[CLEAVE];
    }
    self->worlds += 1;
    self->slower += engine > others;
    self->cliffs += trial->worst.ratio > LIMIT;
    self->worst = fmax( self->worst, trial->worst.ratio );
}

// A line that is written over, and each cliff as soon as it is found.
static void show_progress(
    const cliff_settings* settings, uint64_t done, double seconds, const world_trial* last )
{
    bool is_terminal = isatty( STDERR_FILENO );
    if ( is_terminal )
    {
        fprintf( stderr, "\r%" PRIu64 " of %" PRIu64 " worlds, %.0f s \r", done, settings->count, seconds );
    }
    if ( last->worst.ratio > LIMIT )
    {
        print_trial( stderr, last );
    }
}

int main( int argc, char** argv )
{
    cliff_settings settings = read_flags( argc, argv );
    clv_methods_register();
    world_trial* trials = take( settings.count, sizeof( world_trial ) );
    moment* moments = take( settings.updates, sizeof( moment ) );
    tally* tallies = take( (size_t)random_world_kind_count(), sizeof( tally ) );
    bool is_good = true;
    uint64_t done = 0;
    double start = wall_seconds();
    while ( done < settings.count &&
        ( settings.seconds == 0 || wall_seconds() - start < (double)settings.seconds ) )
    {
        world_trial* trial = &trials[done];
        *trial = try_world( &settings, settings.world.seed + done, moments );
        ++done;
        if ( settings.is_verbose )
        {
            print_head( stdout );
            print_trial( stdout, trial );
            print_moments( trial );
        }
        add_to_tally( &tallies[trial->world.kind], trial );
        is_good = is_good && trial->worst.ratio <= LIMIT && !trial->disagrees;
        show_progress( &settings, done, wall_seconds() - start, trial );
    }
    print_tallies( tallies );
    print_worst( &settings, trials, done );
    free( trials );
    free( moments );
    free( tallies );
    return is_good ? 0 : 1;
}
