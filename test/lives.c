// SPDX-License-Identifier: MIT
// Random worlds (bench/random_worlds.h), each lived by several spaces at once: the default on two instruction
// sets and worker counts, a method drawn from all that there are, and one whose memory fails now and then. In
// every update each answer is compared with a sweep that uses no code of the library: the set of pairs, what
// began and ended, and for the default the order of the list. `lives --help` lists the flags.
#define _POSIX_C_SOURCE 200809L

#include "cleave/cleave.h"
#include "cleave/method.h"
#include "cleave/methods.h"
#include "recorded.h"
#include "world_changes.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum
{
    MEMBERS = 4,
    FRAGILE = 3,      // the member whose memory fails
    PAIRS_MOST = 200, // to a box; with more a world ends, since the list is all that counts then
    READERS_MOST = 256,
    QUESTIONS = 16 // of each reader in each update
};

/// Memory that is counted, and that fails when it is told to.
typedef struct life_memory
{
    uint64_t held, peak;
    uint64_t fail_in; ///< this allocation from now on fails; 0: none
    uint64_t failures;
} life_memory;

/// An answer, by numbers of the world: a sum over its pairs, so that begun minus ended is a difference.
typedef struct life_answer
{
    uint64_t count, sum;
    uint64_t order; ///< of the list as it stands
} life_answer;

typedef struct life_settings
{
    uint64_t count, seconds, updates, readers;
    random_world_def world;
    bool is_fragile;
} life_settings;

typedef struct life_totals
{
    uint64_t worlds, updates, box_updates, pairs, questions, failures;
    double bytes_per_box; ///< and pair: most that the default held, in worlds of 10,000 boxes and more
    uint64_t bytes_seed;  ///< of that world
} life_totals;

typedef struct life_member
{
    world_member at;
    uint32_t* index_of; ///< number in the world, by slot
    uint32_t slots;
    life_memory memory;
    clv_space_def def;
    char settings[64];
    life_answer last; ///< of the update before
    unsigned number;  ///< among the members
    bool is_used;
} life_member;

typedef struct life
{
    const life_settings* settings;
    random_world world;
    world_changes changes;
    life_member members[MEMBERS];
    bool has_filters;
    float margin;
    clv_filter* filters; ///< by number in the world
    clv_aabb64* tested;  ///< test boxes of this update, by number
    uint32_t* order;     ///< numbers by lower face, for the sweep
    life_answer truth;
    uint64_t pairs_most; ///< of any update so far
    uint32_t update;
    life_totals* totals;
} life;

static void stop( const char* what, clv_result result )
{
    fprintf( stderr, "lives: %s: %s\n", what, clv_result_text( result ) );
    exit( 2 );
}

// ---- the truth: a sweep along the longest axis

static uint64_t mix( uint64_t z )
{
    z += UINT64_C( 0x9E3779B97F4A7C15 );
    z = ( z ^ ( z >> 30 ) ) * UINT64_C( 0xBF58476D1CE4E5B9 );
    z = ( z ^ ( z >> 27 ) ) * UINT64_C( 0x94D049BB133111EB );
    return z ^ ( z >> 31 );
}

static void count_pair( life_answer* self, uint32_t a, uint32_t b )
{
    uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    self->count += 1;
    self->sum += mix( key );
    self->order = mix( self->order ^ key );
}

static bool filters_agree( const clv_filter* a, const clv_filter* b )
{
    if ( a->group == b->group && a->group != 0 )
    {
        return a->group > 0;
    }
    return ( a->category & b->mask ) != 0 && ( b->category & a->mask ) != 0;
}

// Floats are grown in floats, doubles in doubles, as the headers say.
static clv_aabb64 test_box( const life* self, uint32_t index )
{
    if ( self->changes.way.form == WORLD_DOUBLE )
    {
        return clv_aabb64_grow( self->world.boxes[index], self->margin );
    }
    clv_aabb64 box = self->world.boxes[index];
    for ( int k = 0; k < 3; ++k )
    {
        float lower = (float)( &box.lower.x )[k], upper = (float)( &box.upper.x )[k];
        lower -= self->margin;
        upper += self->margin;
        ( &box.lower.x )[k] = lower;
        ( &box.upper.x )[k] = upper;
    }
    return box;
}

static bool overlap( const clv_aabb64* a, const clv_aabb64* b, const int* axes, int axis_count )
{
    bool touches = true;
    for ( int k = 0; k < axis_count; ++k )
    {
        int axis = axes[k];
        touches = touches && ( &a->lower.x )[axis] <= ( &b->upper.x )[axis] &&
            ( &b->lower.x )[axis] <= ( &a->upper.x )[axis];
    }
    return touches;
}

static double* s_keys; // of the sort; the program has one thread when it sorts

static int by_key( const void* a, const void* b )
{
    double x = s_keys[*(const uint32_t*)a], y = s_keys[*(const uint32_t*)b];
    return ( x > y ) - ( x < y );
}

static uint32_t sort_living( life* self )
{
    uint32_t count = 0;
    int axis = self->world.axes[0];
    s_keys = malloc( ( self->world.count + (size_t)1 ) * sizeof( double ) );
    if ( s_keys == NULL )
    {
        stop( "sweep", CLV_OUT_OF_MEMORY );
    }
    for ( uint32_t i = 0; i < self->world.count; ++i )
    {
        if ( self->world.alive[i] )
        {
            self->tested[i] = test_box( self, i );
            s_keys[i] = ( &self->tested[i].lower.x )[axis];
            self->order[count++] = i;
        }
    }
    qsort( self->order, count, sizeof( uint32_t ), by_key );
    free( s_keys );
    return count;
}

// False where there are too many pairs to go on.
static bool find_truth( life* self )
{
    uint32_t count = sort_living( self );
    const int* axes = self->world.axes;
    int axis_count = self->changes.way.form == WORLD_FLAT ? 2 : 3;
    self->truth = ( life_answer ){ 0 };
    uint64_t tests = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t a = self->order[i];
        double end = ( &self->tested[a].upper.x )[axes[0]];
        for ( uint32_t k = i + 1; k < count; ++k )
        {
            uint32_t b = self->order[k];
            if ( ( &self->tested[b].lower.x )[axes[0]] > end )
            {
                break;
            }
            ++tests;
            if ( overlap( &self->tested[a], &self->tested[b], axes, axis_count ) &&
                ( !self->has_filters || filters_agree( &self->filters[a], &self->filters[b] ) ) )
            {
                count_pair( &self->truth, a, b );
            }
        }
        if ( self->truth.count > (uint64_t)PAIRS_MOST * count + 1000 || tests > UINT64_C( 400000000 ) )
        {
            return false;
        }
    }
    return true;
}

// ---- memory

static void* allocate( size_t size, size_t alignment, void* user )
{
    life_memory* self = user;
    if ( self->fail_in > 0 && --self->fail_in == 0 )
    {
        self->failures += 1;
        return NULL;
    }
    void* memory = NULL;
    if ( posix_memalign( &memory, alignment < sizeof( void* ) ? sizeof( void* ) : alignment, size ) != 0 )
    {
        return NULL;
    }
    self->held += size;
    self->peak = self->held > self->peak ? self->held : self->peak;
    return memory;
}

static void release( void* memory, size_t size, size_t alignment, void* user )
{
    (void)alignment;
    ( (life_memory*)user )->held -= size;
    free( memory );
}

// ---- members

static clv_isa draw_isa( uint64_t number )
{
    clv_isa found[CLV_ISA_COUNT];
    uint32_t count = 0;
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        if ( clv_isa_is_supported( (clv_isa)isa ) )
        {
            found[count++] = (clv_isa)isa;
        }
    }
    return found[number % count];
}

// Methods that keep lists per cell can take memory without bound in worlds made to hurt; those are small.
static const char* draw_method( const life* self, uint64_t number )
{
    static const char* const s_sturdy[] = { "sap", "kd", "kd-rebuilt", "kd-incremental", "bvh-f", "bvh-d" };
    static const char* const s_small[] = { "brute", "grid", "grid-sap", "isap", "tracy", "segment-tree",
        "ray-kd", "kd-paper", "kd-complete" };
    bool is_small = self->world.count <= 2000;
    uint64_t sturdy = sizeof( s_sturdy ) / sizeof( s_sturdy[0] ),
             small = sizeof( s_small ) / sizeof( s_small[0] );
    uint64_t at = number % ( sturdy + ( is_small ? small : 0 ) );
    return at < sturdy ? s_sturdy[at] : s_small[at - sturdy];
}

static void define_member( life* self, int which )
{
    life_member* member = &self->members[which];
    uint64_t draw = random_world_hash( self->world.seed, 10 + (uint64_t)which, UINT64_MAX );
    clv_space_def def = clv_default_space_def();
    def.method = which == 2 ? draw_method( self, draw >> 8 ) : "cleave";
    def.isa = which == 0 ? CLV_ISA_AUTO : draw_isa( draw >> 16 );
    def.worker_count = which == 1 ? 1 + (uint32_t)( draw >> 24 ) % 3 : 1;
    def.margin = self->margin;
    def.allocator = ( clv_allocator ){ allocate, release, &member->memory };
    world_way_define( &self->changes.way, &def );
    if ( which != 2 )
    {
        // All workers have something to do even in a small world.
        snprintf( member->settings, sizeof( member->settings ), "cleave.alone=0%s%s",
            def.settings != NULL ? "," : "", def.settings != NULL ? def.settings : "" );
        def.settings = member->settings;
    }
    member->def = def;
    member->number = (unsigned)which;
    member->is_used = which != FRAGILE || self->settings->is_fragile;
}

static void create_member( life_member* self )
{
    self->memory.fail_in = 0;
    clv_space_destroy( self->at.space );
    if ( self->memory.held != 0 )
    {
        fprintf( stderr, "lives: %s kept %" PRIu64 " bytes\n", self->def.method, self->memory.held );
        exit( 1 );
    }
    clv_result result = clv_space_create( &self->def, &self->at.space );
    if ( result != CLV_OK )
    {
        stop( self->def.method, result );
    }
    recorded_begin( self->at.space, self->number );
    self->last = ( life_answer ){ 0 };
}

static void grow_index( life_member* self, uint32_t slot )
{
    if ( slot >= self->slots )
    {
        uint32_t slots = slot * 2 + 16;
        self->index_of = realloc( self->index_of, slots * sizeof( uint32_t ) );
        if ( self->index_of == NULL )
        {
            stop( "slots", CLV_OUT_OF_MEMORY );
        }
        self->slots = slots;
    }
}

// Memory fails at a place drawn anew for each call.
static void arm( life* self, life_member* member, uint32_t call )
{
    if ( member == &self->members[FRAGILE] )
    {
        uint64_t draw = random_world_hash( self->world.seed, 100 + self->update, call );
        member->memory.fail_in = draw % 3 == 0 ? 1 + draw / 3 % 12 : 0;
    }
}

static clv_result set_filters( life* self, life_member* member )
{
    const world_batch* come = &self->changes.come;
    clv_filter* filters = malloc( ( come->count + (size_t)1 ) * sizeof( clv_filter ) );
    if ( filters == NULL )
    {
        stop( "filters", CLV_OUT_OF_MEMORY );
    }
    for ( uint32_t k = 0; k < come->count; ++k )
    {
        filters[k] = self->filters[come->indices[k]];
        member->at.scratch[k] = member->at.ids[come->indices[k]];
    }
    clv_result result = clv_space_set_filter( member->at.space, member->at.scratch, filters, come->count );
    free( filters );
    return result;
}

static void change( life* self, life_member* member )
{
    int from = 0;
    const char* what = "";
    clv_result result;
    arm( self, member, 1 );
    while ( ( result = world_member_change( &member->at, &self->changes, &from, &what ) ) != CLV_OK )
    {
        if ( result != CLV_OUT_OF_MEMORY || member != &self->members[FRAGILE] )
        {
            stop( what, result );
        }
        member->memory.fail_in = 0; // tried again, all or nothing
    }
    arm( self, member, 2 );
    while ( self->has_filters && ( result = set_filters( self, member ) ) != CLV_OK )
    {
        if ( result != CLV_OUT_OF_MEMORY || member != &self->members[FRAGILE] )
        {
            stop( "set_filter", result );
        }
        member->memory.fail_in = 0;
    }
    for ( uint32_t k = 0; k < self->changes.come.count; ++k )
    {
        uint32_t index = self->changes.come.indices[k], slot = member->at.ids[index].index;
        grow_index( member, slot );
        member->index_of[slot] = index;
    }
}

// ---- what a member answers

typedef struct life_visit
{
    const life_member* member;
    life_answer answer;
} life_visit;

static bool visit( const clv_pair* pairs, size_t count, void* user )
{
    life_visit* self = user;
    for ( size_t k = 0; k < count; ++k )
    {
        count_pair( &self->answer, self->member->index_of[pairs[k].a], self->member->index_of[pairs[k].b] );
    }
    return true;
}

static clv_result ask( life_member* member, int way, life_visit* seen )
{
    *seen = ( life_visit ){ .member = member };
    if ( way == WAY_VISIT )
    {
        return clv_space_visit( member->at.space, visit, seen );
    }
    clv_result result = clv_space_update( member->at.space );
    clv_pair_view view = clv_space_pairs( member->at.space );
    if ( view.valid != ( result == CLV_OK ) )
    {
        fprintf( stderr, "lives: a list is valid after a failed update, or the reverse\n" );
        exit( 1 );
    }
    visit( view.pairs, view.count, seen );
    return result;
}

static const char* s_program; // argv[0]

// The same world once more, and every call on its spaces goes to files.
static void record_again( const life* self, const life_member* member )
{
    const life_settings* settings = self->settings;
    const char* file = getenv( "CLEAVE_RECORD" );
    char name[64], seed[24], from[16], to[16], updates[24];
    if ( file != NULL )
    {
        fprintf( stderr, member->number == 0 ? "lives: %s: its calls; " : "lives: %s.%u: its calls; ", file,
            member->number );
        fprintf( stderr, "`cleave replay FILE --judge --shrink OUT --c OUT.c` makes them a test\n" );
        return;
    }
    snprintf( name, sizeof( name ), "lives-%" PRIu64 ".clvrec", self->world.seed );
    snprintf( seed, sizeof( seed ), "%" PRIu64, self->world.seed );
    snprintf( from, sizeof( from ), "%u", settings->world.count_least );
    snprintf( to, sizeof( to ), "%u", settings->world.count_most );
    snprintf( updates, sizeof( updates ), "%" PRIu64, settings->updates );
    char* again[] = { (char*)s_program, "--count", "1", "--seed", seed, "--from", from, "--to", to,
        "--updates", updates, settings->is_fragile ? "--failing" : NULL, NULL };
    setenv( "CLEAVE_RECORD", name, 1 );
    fprintf( stderr, "lives: this world again, recorded\n" );
    execv( s_program, again );
    perror( s_program );
}

static void fault( const life* self, const life_member* member, const char* what )
{
    const random_world* world = &self->world;
    fprintf( stderr,
        "lives: seed %" PRIu64 " (%s, %s, %s, %s), update %u: %s on %s with %u workers: %s\n"
        "lives: again by: lives --count 1 --seed %" PRIu64 " --from %u --to %u --updates %" PRIu64 "%s\n",
        world->seed, random_world_kind( world->kind ), random_world_motion( world->motion ),
        world_forms[self->changes.way.form].name, world_ways[self->changes.way.way], self->update,
        member->def.method, clv_isa_name( clv_space_isa( member->at.space ) ), member->def.worker_count, what,
        world->seed, self->settings->world.count_least, self->settings->world.count_most,
        self->settings->updates, self->settings->is_fragile ? " --failing" : "" );
    record_again( self, member );
    exit( 1 );
}

// begun and ended as sums: the list before, plus what began, less what ended, is the list now. Ids of ended
// pairs may be gone; their slots still tell the numbers, since a slot is given again only by an add, whose
// objects are entered before the update: so those are left to the tests of events, and only worlds without
// newcomers are looked at here.
static bool events_fit( const life* self, const life_member* member, const life_answer* now )
{
    if ( self->changes.way.way != WAY_EVENTS || self->changes.come.count > 0 )
    {
        return true;
    }
    clv_event_view events = clv_space_events( member->at.space );
    life_answer begun = { 0 }, ended = { 0 };
    for ( uint64_t k = 0; k < events.begun_count; ++k )
    {
        count_pair(
            &begun, member->index_of[events.begun[k].a.index], member->index_of[events.begun[k].b.index] );
    }
    for ( uint64_t k = 0; k < events.ended_count; ++k )
    {
        count_pair(
            &ended, member->index_of[events.ended[k].a.index], member->index_of[events.ended[k].b.index] );
    }
    return member->last.sum + begun.sum - ended.sum == now->sum &&
        member->last.count + begun.count - ended.count == now->count;
}

static life_answer live_update( life* self, life_member* member )
{
    int way = self->changes.way.way;
    if ( member->at.space == NULL || way == WAY_ONE_SHOT )
    {
        create_member( member );
    }
    change( self, member );
    life_visit seen;
    clv_result result;
    arm( self, member, 3 );
    while ( ( result = ask( member, way, &seen ) ) != CLV_OK )
    {
        if ( result != CLV_OUT_OF_MEMORY || member != &self->members[FRAGILE] )
        {
            stop( member->def.method, result );
        }
        member->memory.fail_in = 0;
    }
    if ( seen.answer.count != self->truth.count )
    {
        char text[96];
        snprintf( text, sizeof( text ), "%" PRIu64 " pairs where there are %" PRIu64, seen.answer.count,
            self->truth.count );
        fault( self, member, text );
    }
    if ( seen.answer.sum != self->truth.sum )
    {
        fault( self, member, "other pairs, as many" );
    }
    if ( !events_fit( self, member, &seen.answer ) )
    {
        fault( self, member, "what began and ended does not lead from one list to the next" );
    }
    member->last = seen.answer;
    return seen.answer;
}

// ---- readers between updates

typedef struct life_reader
{
    const life* life;
    uint64_t seed;
    bool is_wrong;
} life_reader;

// Each asks which objects touch a box about as large as the others, and compares with each against each.
static void* read_on( void* user )
{
    life_reader* self = user;
    const life* of = self->life;
    const life_member* member = &of->members[1];
    const random_world* world = &of->world;
    clv_hit* hits = malloc( ( world->count + (size_t)1 ) * sizeof( clv_hit ) );
    for ( uint64_t q = 0; hits != NULL && q < QUESTIONS; ++q )
    {
        uint32_t near = (uint32_t)( random_world_hash( self->seed, q, 7 ) % world->count );
        if ( !world->alive[near] )
        {
            continue;
        }
        clv_aabb64 box = of->tested[near];
        clv_aabb asked;
        for ( int k = 0; k < 6; ++k )
        {
            ( &asked.lower.x )[k] = (float)( &box.lower.x )[k];
        }
        uint64_t count = 0, expected = 0;
        clv_result result = clv_space_overlap_box( member->at.space, asked, hits, world->count, &count );
        static const int s_axes[3] = { 0, 1, 2 };
        for ( uint32_t i = 0; i < world->count; ++i )
        {
            expected += world->alive[i] && overlap( &box, &of->tested[i], s_axes, 3 );
        }
        self->is_wrong |= result != CLV_OK || count != expected;
        clv_ray ray = { asked.lower, { 1, 0.5f, 0.25f }, 1000 };
        clv_hit hit;
        (void)clv_space_cast_ray( member->at.space, ray, &hit );
    }
    free( hits );
    return NULL;
}

static void read_between( life* self )
{
    uint64_t count = self->settings->readers;
    if ( count == 0 || self->changes.way.form != WORLD_FLOAT )
    {
        return;
    }
    pthread_t threads[READERS_MOST];
    life_reader readers[READERS_MOST];
    for ( uint64_t k = 0; k < count; ++k )
    {
        readers[k] = ( life_reader ){ self, mix( self->world.seed ^ ( self->update * count + k ) ), false };
        if ( pthread_create( &threads[k], NULL, read_on, &readers[k] ) != 0 )
        {
            stop( "a reading thread", CLV_OUT_OF_MEMORY );
        }
    }
    bool is_wrong = false;
    for ( uint64_t k = 0; k < count; ++k )
    {
        pthread_join( threads[k], NULL );
        is_wrong |= readers[k].is_wrong;
    }
    self->totals->questions += count * QUESTIONS;
    if ( is_wrong )
    {
        fault( self, &self->members[1], "a reader's question is answered otherwise than each against each" );
    }
}

// ---- a life

static void open_life( life* self )
{
    size_t count = self->world.count + (size_t)1;
    uint64_t seed = self->world.seed;
    bool is_open = world_changes_open( &self->changes, &self->world, world_way_draw( seed ) );
    self->filters = malloc( count * sizeof( clv_filter ) );
    self->tested = malloc( count * sizeof( clv_aabb64 ) );
    self->order = malloc( count * sizeof( uint32_t ) );
    self->has_filters = random_world_hash( seed, 5, UINT64_MAX ) % 3 == 0;
    self->margin = random_world_hash( seed, 6, UINT64_MAX ) % 4 == 0 ? 0.125f : 0;
    is_open = is_open && self->filters != NULL && self->tested != NULL && self->order != NULL;
    for ( int k = 0; k < MEMBERS; ++k )
    {
        is_open = world_member_open( &self->members[k].at, &self->world ) && is_open;
    }
    if ( !is_open )
    {
        stop( "world", CLV_OUT_OF_MEMORY );
    }
    for ( uint32_t i = 0; i < self->world.count; ++i )
    {
        uint64_t draw = random_world_hash( seed, 50, i );
        self->filters[i] = ( clv_filter ){ UINT64_C( 1 ) << draw % 4, ( draw >> 8 ) % 16,
            (int32_t)( ( draw >> 16 ) % 7 ) - 3 };
    }
    for ( int k = 0; k < MEMBERS; ++k )
    {
        define_member( self, k );
    }
}

static void close_life( life* self )
{
    for ( int k = 0; k < MEMBERS; ++k )
    {
        life_member* member = &self->members[k];
        member->memory.fail_in = 0;
        self->totals->failures += member->memory.failures;
        double bytes = (double)member->memory.peak / (double)( self->world.count + self->pairs_most );
        if ( self->world.count >= 10000 && k < 2 && bytes > self->totals->bytes_per_box )
        {
            self->totals->bytes_per_box = bytes;
            self->totals->bytes_seed = self->world.seed;
        }
        world_member_close( &member->at );
        if ( member->memory.held != 0 )
        {
            fprintf( stderr, "lives: seed %" PRIu64 ": %s kept %" PRIu64 " bytes\n", self->world.seed,
                member->def.method, member->memory.held );
            exit( 1 );
        }
        free( member->index_of );
    }
    world_changes_close( &self->changes );
    free( self->filters );
    free( self->tested );
    free( self->order );
}

static void live( const life_settings* settings, uint64_t seed, life_totals* totals )
{
    life* self = calloc( 1, sizeof( life ) );
    random_world_def def = settings->world;
    def.seed = seed;
    if ( self == NULL || !random_world_make( &self->world, &def ) )
    {
        stop( "world", CLV_OUT_OF_MEMORY );
    }
    self->settings = settings;
    self->totals = totals;
    open_life( self );
    for ( self->update = 0; self->update < settings->updates; ++self->update )
    {
        world_changes_list( &self->changes, self->update );
        if ( !find_truth( self ) )
        {
            break;
        }
        self->pairs_most = self->truth.count > self->pairs_most ? self->truth.count : self->pairs_most;
        life_answer first = { 0 };
        for ( int k = 0; k < MEMBERS; ++k )
        {
            if ( !self->members[k].is_used )
            {
                continue;
            }
            life_answer answer = live_update( self, &self->members[k] );
            first = k == 0 ? answer : first;
            if ( k == 1 && answer.order != first.order )
            {
                fault( self, &self->members[k], "the same pairs in another order" );
            }
            totals->box_updates +=
                self->changes.moved.count + self->changes.come.count + self->changes.gone.count;
            totals->pairs += answer.count;
        }
        read_between( self );
        totals->updates += 1;
    }
    totals->worlds += 1;
    close_life( self );
    random_world_free( &self->world );
    free( self );
}

// ---- flags

static void print_help( void )
{
    printf(
        "lives [FLAGS]   random worlds lived by several spaces, every answer compared with a sweep of its own\n\n"
        "  --count N      worlds (no limit where --seconds is given, else 100)\n"
        "  --seconds N    begin no world after so many\n"
        "  --seed S       of the first; the next has S + 1 (1)\n"
        "  --from N       boxes at least (2)\n"
        "  --to N         and at most (3000)\n"
        "  --updates N    of each world (30)\n"
        "  --readers N    threads that ask between updates (0, at most 256)\n"
        "  --failing      a further space whose memory fails now and then\n\n"
        "Exit status: 0, 1 if an answer is wrong, 2 if it could not be run.\n" );
}

static uint64_t read_number( const char* flag, const char* text, uint64_t least, uint64_t most )
{
    char* end = NULL;
    uint64_t number = text == NULL ? 0 : strtoull( text, &end, 10 );
    if ( text == NULL || end == text || *end != 0 || *text == '-' || number < least || number > most )
    {
        fprintf( stderr, "lives: %s wants a number from %" PRIu64 " to %" PRIu64 "; see lives --help\n", flag,
            least, most );
        exit( 2 );
    }
    return number;
}

static life_settings read_flags( int argc, char** argv )
{
    uint64_t from = 2, to = 3000;
    life_settings self = { .updates = 30,
        .world = { .seed = 1, .kind = RANDOM_WORLD_ANY, .motion = RANDOM_WORLD_ANY } };
    const struct
    {
        const char* flag;
        uint64_t* number;
        uint64_t least, most;
    } numbers[] = { { "--count", &self.count, 1, UINT64_MAX }, { "--seconds", &self.seconds, 1, 1000000 },
        { "--seed", &self.world.seed, 0, UINT64_MAX }, { "--updates", &self.updates, 1, 1000000 },
        { "--from", &from, 1, 10000000 }, { "--to", &to, 1, 10000000 },
        { "--readers", &self.readers, 0, READERS_MOST } };
    for ( int i = 1; i < argc; ++i )
    {
        size_t k = 0;
        while ( k < sizeof( numbers ) / sizeof( numbers[0] ) && strcmp( argv[i], numbers[k].flag ) != 0 )
        {
            ++k;
        }
        if ( strcmp( argv[i], "--help" ) == 0 || strcmp( argv[i], "-h" ) == 0 )
        {
            print_help();
            exit( 0 );
        }
        else if ( strcmp( argv[i], "--failing" ) == 0 )
        {
            self.is_fragile = true;
        }
        else if ( k == sizeof( numbers ) / sizeof( numbers[0] ) )
        {
            fprintf( stderr, "lives: no such flag: '%s'; see lives --help\n", argv[i] );
            exit( 2 );
        }
        else
        {
            *numbers[k].number =
                read_number( argv[i], i + 1 < argc ? argv[i + 1] : NULL, numbers[k].least, numbers[k].most );
            ++i;
        }
    }
    if ( from > to )
    {
        fprintf( stderr, "lives: --from is above --to\n" );
        exit( 2 );
    }
    self.world.count_least = (uint32_t)from;
    self.world.count_most = (uint32_t)to;
    self.count = self.count > 0 ? self.count : self.seconds > 0 ? UINT64_MAX : 100;
    return self;
}

int main( int argc, char** argv )
{
    s_program = argv[0];
    life_settings settings = read_flags( argc, argv );
    clv_methods_register();
    life_totals totals = { 0 };
    struct timespec start, now;
    clock_gettime( CLOCK_MONOTONIC, &start );
    now = start;
    while ( totals.worlds < settings.count &&
        ( settings.seconds == 0 || (uint64_t)( now.tv_sec - start.tv_sec ) < settings.seconds ) )
    {
        live( &settings, settings.world.seed + totals.worlds, &totals );
        clock_gettime( CLOCK_MONOTONIC, &now );
    }
    printf( "lives: %" PRIu64 " worlds, %" PRIu64 " updates, %" PRIu64 " box updates, %" PRIu64
            " pairs, %" PRIu64 " questions, %" PRIu64
            " failed allocations, %.0f bytes per box and pair at most (seed %" PRIu64
            "): all as they must be\n",
        totals.worlds, totals.updates, totals.box_updates, totals.pairs, totals.questions, totals.failures,
        totals.bytes_per_box, totals.bytes_seed );
    return 0;
}
