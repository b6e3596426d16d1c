// SPDX-License-Identifier: MIT
// What the playground's worker calls: a scene of the lab or one that is poured by hand, moved by the
// library's own physics, and two spaces that look for its pairs by two methods. Numbers and addresses alone
// cross the border of a WebAssembly module.
#include "cleave/methods.h"
#include "cleave/sim.h"
#include "cleave/space.h"
#include "lab/scene/generator.h"
#include "lab/view/view_overlay.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined( __EMSCRIPTEN__ )
#include <emscripten.h>
#else
#define EMSCRIPTEN_KEEPALIVE // test/test_playground.c, with the lab around it
#endif

#define SIDES 3 // two methods side by side, and a space for begun and ended pairs
#define TELLER 2
#define POUR_SECONDS 0.0167f // of a frame
#define POUR_SUBSTEPS 4

/// A method at work.
typedef struct rival
{
    clv_space* space;
    clv_id* ids;
    uint32_t id_count; ///< objects it has
} rival;

typedef struct playground
{
    const generator* scene; ///< NULL: poured by hand
    void* state;
    clv_rigid* rigid;         ///< NULL in the tower
    const clv_shape_sim* sim; ///< of the tower
    uint32_t count, capacity;
    bool lean; ///< moved with fewer contacts and passes
    clv_aabb world;
    clv_aabb* boxes;
    float* turns; ///< four a body
    float* half;  ///< three a body
    rival rivals[SIDES];
    view_cells cells;
    view_volumes volumes; ///< opened when they are asked for
    char* cells_text;
    byte_buffer tree;
    uint64_t poured; ///< bodies so far, for their sides
    uint32_t held;   ///< body in the hand; UINT32_MAX: none
    clv_vec3 hand;
} playground;

static playground s_here = { .held = UINT32_MAX };
static char s_error[1024]; // as long as a lab_error

#if defined( __EMSCRIPTEN__ )

// What the lab's files ask for, and which here has no program around it.
bool lab_error_write( lab_error* why, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( why->text, sizeof( why->text ), format, arguments );
    va_end( arguments );
    why->status = LAB_BAD_INPUT;
    return false;
}

_Noreturn void lab_out_of_memory( void )
{
    abort();
}

#endif

EMSCRIPTEN_KEEPALIVE int pg_start( void )
{
    return (int)clv_methods_register();
}

EMSCRIPTEN_KEEPALIVE const char* pg_error( void )
{
    return s_error;
}

static void release( void )
{
    playground* p = &s_here;
    for ( int side = 0; side < SIDES; ++side )
    {
        clv_space_destroy( p->rivals[side].space );
        free( p->rivals[side].ids );
    }
    if ( p->scene != NULL )
    {
        p->scene->destroy( p->state );
    }
    else
    {
        clv_rigid_destroy( p->rigid );
    }
    view_cells_close( &p->cells );
    view_volumes_close( &p->volumes );
    byte_buffer_free( &p->tree );
    free( p->cells_text );
    free( p->boxes );
    free( p->turns );
    free( p->half );
    s_here = ( playground ){ .held = UINT32_MAX };
}

static bool open_by_hand( playground* p )
{
    float half = 1.1f * cbrtf( (float)p->capacity ) + 2;
    clv_rigid_def def = clv_default_rigid_def();
    def.capacity = p->capacity;
    def.walls = ( clv_aabb ){ { -half, 0, -half }, { half, 4 * half, half } };
    def.sleep = true;
    def.lean = p->lean;
    p->world = ( clv_aabb ){ { -half, 0, -half }, { half, 2 * half, half } };
    return clv_rigid_create( &def, &p->rigid ) == CLV_OK;
}

static bool open_scene( playground* p, const char* name, double seed )
{
    for ( uint32_t i = 0; i < generator_simulated.count; ++i )
    {
        const generator* scene = &generator_simulated.items[i];
        p->scene = strcmp( scene->name, name ) == 0 ? scene : p->scene;
    }
    if ( p->scene == NULL )
    {
        return strcmp( name, "pour" ) == 0 && open_by_hand( p );
    }
    generator_def def = {
        .body_count = p->capacity, .seed = (uint64_t)seed, .thread_count = 1, .lean = p->lean
    };
    p->state = p->scene->create( p->scene, &def );
    if ( p->state == NULL )
    {
        p->scene = NULL;
        return false;
    }
    bool is_tower = p->scene->create == tower_create;
    p->rigid = is_tower ? NULL : recipe_run_rigid( p->state );
    p->sim = is_tower ? tower_sim( p->state ) : NULL;
    p->world = p->scene->world( p->state );
    p->count = p->capacity;
    return true;
}

static void read_bodies( playground* p )
{
    for ( uint32_t i = 0; i < p->count; ++i )
    {
        clv_quat turn;
        clv_vec3 half = { 1, 1, 1 };
        if ( p->sim != NULL )
        {
            turn = clv_shape_sim_transform( p->sim, i ).rotation;
        }
        else
        {
            clv_rigid_body body = clv_rigid_get( p->rigid, i );
            turn = body.rotation;
            half = body.half;
        }
        memcpy( p->turns + 4 * (size_t)i, &turn, sizeof( turn ) );
        memcpy( p->half + 3 * (size_t)i, &half, sizeof( half ) );
    }
    if ( p->scene != NULL )
    {
        p->scene->boxes( p->state, p->boxes );
    }
    else
    {
        clv_rigid_boxes( p->rigid, p->boxes );
    }
}

/// Another scene of so many bodies ("pour": none yet, and at most so many). `lean` solves contacts as
/// clv_rigid_def.lean has it; else the boxes are those of `cleave gen`. The methods are to be chosen anew. 0
/// if it cannot be made.
EMSCRIPTEN_KEEPALIVE int pg_open( const char* name, uint32_t bodies, double seed, int lean )
{
    playground* p = &s_here;
    release();
    p->lean = lean != 0;
    p->capacity = bodies;
    p->boxes = calloc( bodies, sizeof( clv_aabb ) );
    p->turns = calloc( bodies, 4 * sizeof( float ) );
    p->half = calloc( bodies, 3 * sizeof( float ) );
    view_cells_open( &p->cells );
    if ( p->boxes == NULL || p->turns == NULL || p->half == NULL || !open_scene( p, name, seed ) )
    {
        snprintf( s_error, sizeof( s_error ),
            "%s with %u bodies cannot be made: out of memory, or no such scene", name, (unsigned)bodies );
        release();
        return 0;
    }
    read_bodies( p );
    return 1;
}

// A body in the hand flies there, and keeps its speed when it is let go.
static void pull( playground* p )
{
    if ( p->held < p->count && p->rigid != NULL )
    {
        const float rate = 7; // per second
        clv_vec3 at = clv_rigid_get( p->rigid, p->held ).position;
        clv_vec3 velocity = { rate * ( p->hand.x - at.x ), rate * ( p->hand.y - at.y ),
            rate * ( p->hand.z - at.z ) };
        clv_rigid_set_velocity( p->rigid, p->held, velocity );
    }
}

/// One frame on. 0 if something stands in the way: pg_error.
EMSCRIPTEN_KEEPALIVE int pg_step( void )
{
    playground* p = &s_here;
    lab_error why = { .text = "out of memory" };
    pull( p );
    bool good = p->scene != NULL ? p->scene->step( p->state, &why )
                                 : clv_rigid_step( p->rigid, POUR_SECONDS, POUR_SUBSTEPS ) == CLV_OK;
    if ( !good )
    {
        snprintf( s_error, sizeof( s_error ), "%s", why.text );
        return 0;
    }
    read_bodies( p );
    return 1;
}

EMSCRIPTEN_KEEPALIVE void pg_hold( uint32_t body, float x, float y, float z )
{
    s_here.held = body;
    s_here.hand = ( clv_vec3 ){ x, y, z };
}

EMSCRIPTEN_KEEPALIVE int pg_can_hold( void )
{
    return s_here.rigid != NULL;
}

static float unit( uint64_t* state )
{
    *state = *state * UINT64_C( 6364136223846793005 ) + UINT64_C( 1442695040888963407 );
    return (float)( *state >> 40 ) / 16777216.0f;
}

/// Up to `count` more bodies around a point, cubes, bars and planks. Returns how many there was room for.
EMSCRIPTEN_KEEPALIVE uint32_t pg_pour( float x, float y, float z, uint32_t count )
{
    playground* p = &s_here;
    uint32_t done = 0;
    for ( ; p->scene == NULL && done < count && p->count < p->capacity; ++done )
    {
        uint64_t random = ++p->poured * UINT64_C( 0x9E3779B97F4A7C15 );
        clv_rigid_body body = clv_default_rigid_body();
        body.half = ( clv_vec3 ){ 0.3f + 0.4f * unit( &random ), 0.3f + 0.4f * unit( &random ),
            0.3f + 0.4f * unit( &random ) };
        body.position = ( clv_vec3 ){ x + 3 * unit( &random ) - 1.5f, y + 3 * unit( &random ),
            z + 3 * unit( &random ) - 1.5f };
        body.velocity = ( clv_vec3 ){ 2 * unit( &random ) - 1, -4, 2 * unit( &random ) - 1 };
        if ( clv_rigid_add( p->rigid, &body, 1 ) != CLV_OK )
        {
            break;
        }
        p->count += 1;
    }
    read_bodies( p );
    return done;
}

EMSCRIPTEN_KEEPALIVE uint32_t pg_count( void )
{
    return s_here.count;
}

EMSCRIPTEN_KEEPALIVE const clv_aabb* pg_boxes( void )
{
    return s_here.boxes;
}

EMSCRIPTEN_KEEPALIVE const float* pg_turns( void )
{
    return s_here.turns;
}

EMSCRIPTEN_KEEPALIVE const float* pg_half( void )
{
    return s_here.half;
}

EMSCRIPTEN_KEEPALIVE const clv_aabb* pg_world( void )
{
    return &s_here.world;
}

// ---- the two methods

/// Side 0 and 1: the two that are timed, which make a list and nothing else. Side 2, which is not, sorts it
/// and tells what began and ended. 0 if there is no such method.
EMSCRIPTEN_KEEPALIVE int pg_choose( int side, const char* method, const char* settings )
{
    rival* one = &s_here.rivals[side];
    clv_space_destroy( one->space );
    free( one->ids );
    *one = ( rival ){ .ids = calloc( s_here.capacity, sizeof( clv_id ) ) };
    clv_space_def def = clv_default_space_def();
    def.method = method;
    def.settings = settings;
    def.capacity = s_here.capacity;
    def.stage_times = true;
    def.events = def.sorted = side == TELLER;
    if ( one->ids == NULL || clv_space_create( &def, &one->space ) != CLV_OK )
    {
        snprintf( s_error, sizeof( s_error ), "no method '%s' with the settings '%s'", method,
            settings != NULL ? settings : "" );
        return 0;
    }
    return 1;
}

/// What is timed: all boxes handed over, every pair found. The number of pairs, or -1.
EMSCRIPTEN_KEEPALIVE double pg_update( int side )
{
    rival* one = &s_here.rivals[side];
    clv_result result = CLV_OK;
    if ( one->id_count > 0 )
    {
        result = clv_space_move( one->space, one->ids, s_here.boxes, one->id_count );
    }
    if ( result == CLV_OK && one->id_count < s_here.count )
    {
        result = clv_space_add( one->space, s_here.boxes + one->id_count, s_here.count - one->id_count,
            one->ids + one->id_count );
        one->id_count = result == CLV_OK ? s_here.count : one->id_count;
    }
    result = result == CLV_OK ? clv_space_update( one->space ) : result;
    if ( result != CLV_OK )
    {
        snprintf(
            s_error, sizeof( s_error ), "%s: %s", clv_space_method( one->space ), clv_result_text( result ) );
        return -1;
    }
    return (double)clv_space_pairs( one->space ).count;
}

EMSCRIPTEN_KEEPALIVE const clv_pair* pg_pairs( int side )
{
    return clv_space_pairs( s_here.rivals[side].space ).pairs;
}

/// A sum over the pairs that no order changes, the same for the same set: two 32-bit halves into `out`.
EMSCRIPTEN_KEEPALIVE void pg_hash( int side, uint32_t* out )
{
    clv_pair_view pairs = clv_space_pairs( s_here.rivals[side].space );
    uint64_t sum = 0;
    for ( uint64_t i = 0; i < pairs.count; ++i )
    {
        uint64_t z = ( (uint64_t)pairs.pairs[i].a << 32 | pairs.pairs[i].b ) + UINT64_C( 0x9E3779B97F4A7C15 );
        z = ( z ^ z >> 30 ) * UINT64_C( 0xBF58476D1CE4E5B9 );
        z = ( z ^ z >> 27 ) * UINT64_C( 0x94D049BB133111EB );
        sum += z ^ z >> 31;
    }
    out[0] = (uint32_t)sum;
    out[1] = (uint32_t)( sum >> 32 );
}

/// Update, search, and list of the last update, in milliseconds.
EMSCRIPTEN_KEEPALIVE void pg_times( int side, double* out )
{
    clv_stats stats = clv_space_stats( s_here.rivals[side].space );
    out[0] = stats.update_ms;
    out[1] = stats.search_ms;
    out[2] = stats.clean_ms + stats.output_ms;
}

/// Pairs that began (0) or ended (1), four numbers each: index and generation of both.
EMSCRIPTEN_KEEPALIVE const clv_id_pair* pg_events( int ended )
{
    clv_event_view events = clv_space_events( s_here.rivals[TELLER].space );
    return ended ? events.ended : events.begun;
}

EMSCRIPTEN_KEEPALIVE double pg_event_count( int ended )
{
    clv_event_view events = clv_space_events( s_here.rivals[TELLER].space );
    return (double)( ended ? events.ended_count : events.begun_count );
}

// ---- what can be drawn of them

/// The tree of a method that keeps one, as lab/view/view_overlay.h packs it, planes in steps of `step` from
/// 0.
EMSCRIPTEN_KEEPALIVE uint32_t pg_tree( int side, double step )
{
    view_scale scale = { { 0, 0, 0 }, step };
    byte_buffer_clear( &s_here.tree );
    view_tree_put( s_here.rivals[side].space, &scale, &s_here.tree );
    return (uint32_t)s_here.tree.count;
}

EMSCRIPTEN_KEEPALIVE const uint8_t* pg_tree_bytes( void )
{
    return s_here.tree.bytes;
}

/// The default engine's cells for the boxes as they are, as JSON.
EMSCRIPTEN_KEEPALIVE const char* pg_cells( void )
{
    free( s_here.cells_text );
    s_here.cells_text = view_cells_text( &s_here.cells, s_here.boxes, s_here.count );
    return s_here.cells_text != NULL ? s_here.cells_text : "[]";
}

/// A byte for each pair of side 2: which tighter volumes do not touch, as in lab/view/view_overlay.h. NULL if
/// out of memory.
EMSCRIPTEN_KEEPALIVE const uint8_t* pg_apart( void )
{
    playground* p = &s_here;
    bool good = true;
    if ( p->volumes.bodies == NULL )
    {
        view_volumes_open( &p->volumes, p->capacity );
    }
    for ( uint32_t i = 0; good && i < p->count; ++i )
    {
        const clv_aabb* box = &p->boxes[i];
        const float* q = p->turns + 4 * (size_t)i;
        clv_transform at = { { 0.5f * ( box->lower.x + box->upper.x ), 0.5f * ( box->lower.y + box->upper.y ),
                                 0.5f * ( box->lower.z + box->upper.z ) },
            { q[0], q[1], q[2], q[3] } };
        view_shape shape = p->sim != NULL ? VIEW_OCTAHEDRA : VIEW_BOXES;
        good = view_volumes_place( &p->volumes, shape, i, p->half + 3 * (size_t)i, at ) == CLV_OK;
    }
    clv_pair_view pairs = clv_space_pairs( p->rivals[TELLER].space );
    return good ? view_volumes_find( &p->volumes, pairs.pairs, pairs.count ) : NULL;
}
