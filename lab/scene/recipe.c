// SPDX-License-Identifier: MIT
#include "lab/base/random.h"
#include "lab/base/text.h"
#include "lab/scene/generator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

recipe recipe_default( const char* name )
{
    recipe scene;
    memset( &scene, 0, sizeof( scene ) );
    snprintf( scene.name, sizeof( scene.name ), "%s", name );
    scene.density = 0.02;
    scene.frame_seconds = 1.0 / 30.0;
    scene.substeps = 4;
    scene.region = RECIPE_BALL;
    scene.reach = 0.45;
    scene.speed_law = RECIPE_SPEED_BALL;
    scene.speed = 0.75;
    scene.speed_by_world = true;
    scene.gravity_period = 6.2;
    scene.friction = 0.6;
    scene.sleep = true;
    return scene;
}

bool recipe_is_path( const char* text )
{
    return text_ends_with( text, ".scene" );
}

static uint32_t rounded_share( double share, uint32_t body_count )
{
    double wanted = share * (double)body_count + 0.5;
    return wanted < (double)body_count ? (uint32_t)wanted : body_count;
}

void recipe_group_range(
    const recipe* scene, uint32_t index, uint32_t body_count, uint32_t* begin, uint32_t* end )
{
    // Groups come in the order they are listed; the rest fills what the others leave.
    uint32_t sizes[RECIPE_GROUPS_MOST] = { 0 };
    uint32_t left = body_count;
    uint32_t rest = scene->group_count - 1; // unless a group asks for the rest, the last one takes it
    for ( uint32_t i = 0; i < scene->group_count; ++i )
    {
        const recipe_group* group = &scene->groups[i];
        uint32_t wanted = group->share < 0 ? 0
            : group->share > 0             ? rounded_share( group->share, body_count )
                                           : group->count;
        rest = group->share < 0 ? i : rest;
        sizes[i] = wanted < left ? wanted : left;
        left -= sizes[i];
    }
    sizes[rest] += left;
    *begin = 0;
    for ( uint32_t i = 0; i < index; ++i )
    {
        *begin += sizes[i];
    }
    *end = *begin + sizes[index];
}

// ---- A recipe at work: bodies placed, forces applied, contacts solved by the library's rigid bodies,
// boxes written. World, start and forces of Broadmark's scenes as in Serpa and Rodrigues, "Flexible Use of
// Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision Detection Using
// KD-Trees", CGF 38 (2019).

// What numbers are drawn for. What happens every frame counts on from its own billion.
#define PURPOSE_START 0
#define PURPOSE_SIDES 1
#define PURPOSE_KICK ( UINT64_C( 1 ) << 32 )
#define PURPOSE_TELEPORT ( UINT64_C( 2 ) << 32 )
#define PURPOSE_CHURN ( UINT64_C( 3 ) << 32 )

typedef struct running
{
    generator_def def;
    recipe scene;
    double side;
    float wall; ///< how far from the middle a centre may be
    clv_rigid* world;
    uint8_t* groups;  ///< of each body
    uint32_t* reborn; ///< in the last step, ascending
    uint32_t reborn_count;
    uint64_t frame;
    uint32_t kick_next, teleport_next, churn_next; ///< whose turn it is
    double turning_axis[3];                        ///< gravity turns about this, and this about z
    double gravity_axis[3];
} running;

// ---- small mathematics

/// Sine and cosine by their series: the library's may round differently elsewhere. For angles up to pi.
static void sine_cosine( double angle, double* sine, double* cosine )
{
    double term = 1;
    *sine = 0;
    *cosine = 0;
    for ( int k = 0; k < 30; ++k )
    {
        double sign = k % 4 < 2 ? 1 : -1;
        if ( k % 2 == 0 )
        {
            *cosine += sign * term;
        }
        else
        {
            *sine += sign * term;
        }
        term *= angle / ( k + 1 );
    }
}

/// v turned about the unit vector n (Rodrigues), and made a unit again.
static void turn_about( double v[3], const double n[3], double angle )
{
    double s, c;
    sine_cosine( angle, &s, &c );
    double along = ( v[0] * n[0] + v[1] * n[1] + v[2] * n[2] ) * ( 1 - c );
    double cross[3] = { n[1] * v[2] - n[2] * v[1], n[2] * v[0] - n[0] * v[2], n[0] * v[1] - n[1] * v[0] };
    double square = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        v[axis] = v[axis] * c + cross[axis] * s + n[axis] * along;
        square += v[axis] * v[axis];
    }
    double length = sqrt( square );
    for ( int axis = 0; axis < 3; ++axis )
    {
        v[axis] /= length;
    }
}

static clv_vec3 to_vec3( const double v[3] )
{
    clv_vec3 r = { (float)v[0], (float)v[1], (float)v[2] };
    return r;
}

// ---- bodies

static clv_vec3 draw_velocity( const running* run, random_stream* stream )
{
    double speed = run->scene.speed * ( run->scene.speed_by_world ? run->side : 1 );
    double v[3];
    random_ball( stream, 1.0, v );
    if ( run->scene.speed_law == RECIPE_SPEED_RANGE )
    {
        double length = sqrt( v[0] * v[0] + v[1] * v[1] + v[2] * v[2] );
        speed = length > 0 ? speed * random_unit( stream ) / length : 0;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        v[axis] *= speed;
    }
    return to_vec3( v );
}

static clv_vec3 draw_position( const running* run, random_stream* stream )
{
    double reach = run->scene.reach * run->side, p[3];
    if ( run->scene.region == RECIPE_BALL )
    {
        random_ball( stream, reach, p );
    }
    else
    {
        bool slab = run->scene.region == RECIPE_SLAB;
        for ( int axis = 0; axis < 3; ++axis )
        {
            p[axis] = ( 2 * random_unit( stream ) - 1 ) * ( slab ? (double)run->wall : reach );
        }
        p[1] = slab ? reach * random_unit( stream ) - (double)run->wall : p[1];
    }
    return to_vec3( p );
}

/// `life` counts how often this body was born before.
static clv_vec3 draw_half_sides(
    const running* run, const recipe_group* group, uint32_t index, uint64_t life )
{
    uint64_t number = index + life * run->def.body_count;
    double unit = group->sides_by_world ? run->side : 1;
    double sides[3] = { group->sides[0] * unit, group->sides[1] * unit, group->sides[2] * unit };
    if ( group->shape == RECIPE_RANDOM )
    {
        random_stream stream = random_stream_make( run->def.seed, number, PURPOSE_SIDES );
        double least = sides[0], most = sides[1];
        for ( int axis = 0; axis < 3; ++axis )
        {
            sides[axis] = least + ( most - least ) * random_unit( &stream );
        }
    }
    if ( group->shape == RECIPE_TYPE || group->shape == RECIPE_ASSORTED )
    {
        float half[3];
        body_half_sides(
            group->shape == RECIPE_TYPE ? run->def.type : BODY_ASSORTED, run->def.seed, number, half );
        clv_vec3 r = { half[0], half[1], half[2] };
        return r;
    }
    clv_vec3 r = { (float)( 0.5 * sides[0] ), (float)( 0.5 * sides[1] ), (float)( 0.5 * sides[2] ) };
    return r;
}

/// House number `index` of `count` on a square lattice, standing on the floor.
static clv_vec3 street_position( const running* run, clv_vec3 half, uint32_t index, uint32_t count )
{
    uint32_t columns = 1;
    while ( (uint64_t)columns * columns < count )
    {
        columns += 1;
    }
    double pitch = run->side / columns;
    uint32_t row = index / columns, column = index % columns;
    double p[3] = { ( column + 0.5 ) * pitch - 0.5 * run->side, (double)half.y - (double)run->wall,
        ( row + 0.5 ) * pitch - 0.5 * run->side };
    return to_vec3( p );
}

static clv_rigid_body make_body( const running* run, uint32_t index, uint64_t life, random_stream* stream )
{
    const recipe_group* group = &run->scene.groups[run->groups[index]];
    uint32_t begin, end;
    recipe_group_range( &run->scene, run->groups[index], run->def.body_count, &begin, &end );
    clv_rigid_body body = clv_default_rigid_body();
    body.half = draw_half_sides( run, group, index, life );
    body.position = draw_position( run, stream );
    body.velocity = draw_velocity( run, stream );
    if ( group->place == RECIPE_CENTER )
    {
        body.position = ( clv_vec3 ){ 0, 0, 0 };
    }
    else if ( group->place == RECIPE_STREET )
    {
        body.position = street_position( run, body.half, index - begin, end - begin );
    }
    body.mass = group->is_static ? 0.0f : 1.0f;
    return body;
}

static bool add_bodies( running* run )
{
    uint32_t count = run->def.body_count;
    clv_rigid_body* bodies = lab_take( count, sizeof( clv_rigid_body ) );
    for ( uint32_t group = 0; group < run->scene.group_count; ++group )
    {
        uint32_t begin, end;
        recipe_group_range( &run->scene, group, count, &begin, &end );
        memset( run->groups + begin, (int)group, end - begin );
    }
    for ( uint32_t index = 0; index < count; ++index )
    {
        random_stream stream = random_stream_make( run->def.seed, index, PURPOSE_START );
        bodies[index] = make_body( run, index, 0, &stream );
    }
    bool good = clv_rigid_add( run->world, bodies, count ) == CLV_OK;
    free( bodies );
    return good;
}

// ---- life of a scene

static clv_vec3 gravity_now( const running* run )
{
    double amount = run->scene.gravity_amount * ( run->scene.gravity_by_world ? run->side : 1 );
    double g[3] = { 0, -amount, 0 };
    if ( run->scene.gravity == RECIPE_NO_GRAVITY )
    {
        g[1] = 0;
    }
    else if ( run->scene.gravity == RECIPE_TURNING )
    {
        for ( int axis = 0; axis < 3; ++axis )
        {
            g[axis] = amount * run->gravity_axis[axis];
        }
    }
    return to_vec3( g );
}

static bool make_world( running* run )
{
    clv_rigid_def def = clv_default_rigid_def();
    float w = run->wall;
    def.capacity = run->def.body_count;
    def.worker_count = run->def.thread_count;
    def.walls = ( clv_aabb ){ { -w, -w, -w }, { w, w, w } };
    def.gravity = gravity_now( run );
    def.friction = (float)run->scene.friction;
    def.restitution = (float)run->scene.restitution;
    def.sleep = run->scene.sleep;
    def.lean = run->scene.lean || run->def.lean;
    // A body at rest in a frame's time moves less than a third of what counts as static in a scene.
    def.sleep_speed = 0.1f;
    return clv_rigid_create( &def, &run->world ) == CLV_OK && add_bodies( run );
}

static void recipe_run_destroy( void* state )
{
    running* run = state;
    clv_rigid_destroy( run->world );
    free( run->groups );
    free( run->reborn );
    free( run );
}

static void* recipe_run_create( const recipe* scene, const generator_def* def )
{
    running* run = lab_take( 1, sizeof( running ) );
    run->def = *def;
    run->scene = *scene;
    if ( run->scene.group_count == 0 )
    {
        run->scene.groups[0] = ( recipe_group ){ .share = -1, .shape = RECIPE_TYPE };
        run->scene.group_count = 1;
    }
    run->side = scene->density > 0 ? body_cube_root( (double)def->body_count / scene->density ) : scene->side;
    // A hair inside, so that a centre computed back from rounded boxes is inside too.
    run->wall = (float)( 0.5 * run->side * ( 1 - 1e-6 ) );
    run->gravity_axis[0] = 1; // +x
    run->turning_axis[1] = 1; // +y
    run->groups = lab_take( def->body_count, sizeof( uint8_t ) );
    run->reborn = lab_take( def->body_count, sizeof( uint32_t ) );
    if ( !make_world( run ) )
    {
        recipe_run_destroy( run );
        return NULL;
    }
    return run;
}

static clv_aabb recipe_run_world( const void* state )
{
    const running* run = state;
    double half = 0.5 * run->side;
    const double* o = run->scene.origin;
    clv_aabb box = { { (float)( o[0] - half ), (float)( o[1] - half ), (float)( o[2] - half ) },
        { (float)( o[0] + half ), (float)( o[1] + half ), (float)( o[2] + half ) } };
    return box;
}

// ---- a frame

static uint32_t share_of( const running* run, double share )
{
    double wanted = share * run->def.body_count;
    uint32_t whole = (uint32_t)wanted;
    return (double)whole < wanted ? whole + 1 : whole;
}

static bool is_movable( const running* run, uint32_t index )
{
    return !run->scene.groups[run->groups[index]].is_static;
}

typedef clv_result recipe_act( running* run, uint32_t index, random_stream* stream );

// A share of the bodies takes its turn, from the one where the frame before ended.
static clv_result act_on( running* run, double share, uint32_t* next, uint64_t purpose, recipe_act* act )
{
    clv_result result = CLV_OK;
    for ( uint32_t count = share_of( run, share ); count > 0 && result == CLV_OK; --count )
    {
        uint32_t index = *next;
        *next = index + 1 < run->def.body_count ? index + 1 : 0;
        random_stream stream = random_stream_make( run->def.seed, index, purpose + run->frame );
        result = is_movable( run, index ) ? act( run, index, &stream ) : CLV_OK;
    }
    return result;
}

static clv_result kick( running* run, uint32_t index, random_stream* stream )
{
    return clv_rigid_set_velocity( run->world, index, draw_velocity( run, stream ) );
}

static clv_result teleport( running* run, uint32_t index, random_stream* stream )
{
    clv_rigid_body body = clv_rigid_get( run->world, index );
    body.position = draw_position( run, stream );
    body.velocity = draw_velocity( run, stream );
    return clv_rigid_place( run->world, index, &body );
}

static int compare_numbers( const void* a, const void* b )
{
    uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/// The dead leave their numbers to the newborn, so that every frame has as many boxes as the file says.
static clv_result churn( running* run, uint32_t index, random_stream* stream )
{
    clv_rigid_body body = make_body( run, index, run->frame + 1, stream );
    run->reborn[run->reborn_count++] = index;
    return clv_rigid_place( run->world, index, &body );
}

static void turn_gravity( running* run )
{
    if ( run->scene.gravity == RECIPE_TURNING )
    {
        const double z[3] = { 0, 0, 1 };
        double angle = 6.283185307179586 * run->scene.frame_seconds / run->scene.gravity_period;
        turn_about( run->turning_axis, z, angle );
        turn_about( run->gravity_axis, run->turning_axis, angle );
        clv_rigid_set_gravity( run->world, gravity_now( run ) );
    }
}

bool recipe_run_step( void* state, lab_error* why )
{
    running* run = state;
    const recipe* scene = &run->scene;
    run->reborn_count = 0;
    clv_result result = act_on( run, scene->kick_share, &run->kick_next, PURPOSE_KICK, kick );
    result = result == CLV_OK
        ? act_on( run, scene->teleport_share, &run->teleport_next, PURPOSE_TELEPORT, teleport )
        : result;
    result =
        result == CLV_OK ? act_on( run, scene->churn_share, &run->churn_next, PURPOSE_CHURN, churn ) : result;
    qsort( run->reborn, run->reborn_count, sizeof( uint32_t ), compare_numbers );
    turn_gravity( run );
    clv_rigid_set_contacts( run->world, run->frame >= run->scene.contacts_from );
    if ( result == CLV_OK )
    {
        result = clv_rigid_step( run->world, (float)run->scene.frame_seconds, run->scene.substeps );
    }
    if ( result != CLV_OK )
    {
        return lab_error_write( why, "%s: frame %llu: %s (%s); use a smaller -n", run->scene.name,
            (unsigned long long)run->frame, clv_rigid_error( run->world ).text, clv_result_name( result ) );
    }
    run->frame += 1;
    return true;
}

static void recipe_run_boxes( void* state, clv_aabb* boxes )
{
    const running* run = state;
    const double* origin = run->scene.origin;
    for ( uint32_t index = 0; index < run->def.body_count; ++index )
    {
        clv_rigid_body from = clv_rigid_get( run->world, index );
        body_state body = {
            .position = { origin[0] + (double)from.position.x, origin[1] + (double)from.position.y,
                origin[2] + (double)from.position.z },
            .rotation = { (double)from.rotation.x, (double)from.rotation.y, (double)from.rotation.z,
                (double)from.rotation.w },
            .half_sides = { from.half.x, from.half.y, from.half.z },
        };
        body_write( &body, run->def.split, index, boxes );
    }
}

static clv_rigid_report recipe_run_report( const void* state )
{
    const running* run = state;
    return clv_rigid_last_report( run->world );
}

clv_rigid* recipe_run_rigid( void* state )
{
    running* run = state;
    return run->world;
}

static uint32_t recipe_run_reborn( const void* state, const uint32_t** bodies )
{
    const running* run = state;
    *bodies = run->reborn;
    return run->reborn_count;
}

static void* create_from_file( const generator* self, const generator_def* def )
{
    (void)self;
    return recipe_run_create( def->recipe, def );
}

static void* create_from_text( const generator* self, const generator_def* def )
{
    recipe scene;
    lab_error unread; // each text of the table is good: a test makes every scene
    bool good = recipe_parse( self->name, self->recipe, &scene, &unread );
    snprintf( scene.name, sizeof( scene.name ), "%s", self->name );
    return good ? recipe_run_create( &scene, def ) : NULL;
}

#define RECIPE_RUN_FUNCTIONS                                                                                 \
    .destroy = recipe_run_destroy, .world = recipe_run_world, .step = recipe_run_step,                       \
    .boxes = recipe_run_boxes, .report = recipe_run_report

const generator generator_recipe = {
    .name = "scene file",
    .about = "a scene file",
    .version = 1,
    .bodies_most = GENERATOR_SIMULATED_MOST,
    .create = create_from_file,
    RECIPE_RUN_FUNCTIONS,
    .reborn = recipe_run_reborn,
};

// ---- the table's rows

#define SIMULATED( kind, label, text, most, lines )                                                          \
    .name = ( label ), .about = ( text ), .family = ( kind ), .version = 1, .bodies_most = ( most ),         \
    .recipe = ( lines ), .create = create_from_text, RECIPE_RUN_FUNCTIONS
#define MANY GENERATOR_SIMULATED_MOST

#define FALLING "gravity down 0.0981 world\n"
#define FLYING "kick 0.01\n"
#define RAY_KD "world side 100\nframe 1/120 substeps 2\nstart cube 0.49\nspeed range 100\ngravity down 9.81\n"

static const generator rows[] = {
    // Broadmark's three scenes with contacts: nearly static, uniform, and fully dynamic. Serpa and Rodrigues,
    // "Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision
    // Detection Using KD-Trees", Computer Graphics Forum 38 (2019), section 5.
    { SIMULATED( FAMILY_BROADMARK, "freefall", "bodies fall, pile up and come to rest", MANY, FALLING ) },
    { SIMULATED( FAMILY_BROADMARK, "brownian",
        "no gravity; bodies collide, and one in a hundred is kicked each frame", MANY, FLYING ) },
    { SIMULATED( FAMILY_BROADMARK, "gravity", "gravity turns and throws the heap from wall to wall", MANY,
        "gravity turning 0.3924 world\nsleep off\n" ) },

    // The scenes of "Detecção de Colisão Broad Phase com RAY KD-Tree" (2015), section 4: a cube of 100 m,
    // 1/120 s per frame, speeds of 0 to 100 m/s, gravity 9.81. `--type cubes` is the paper's uniform set,
    // `--type assorted` its varied one; the paper does not tell the sizes, so they are Broadmark's. How many
    // particles are fed per frame it calls "a small part": one in a hundred, as Broadmark does.
    { SIMULATED( FAMILY_RAY_KD, "ray-freefall", "free fall of the RAY KD-tree paper: 100 m cube, 1/120 s",
        400000, RAY_KD ) },
    { SIMULATED( FAMILY_RAY_KD, "ray-particles", "particles of the RAY KD-tree paper, some kicked each frame",
        400000, RAY_KD FLYING ) },

    { .name = "tower",
        .about = "the falling octahedra of the k-DOP paper; assorted: stretched to (1, 3, 1)",
        .family = FAMILY_K_DOP,
        .version = 1,
        .bodies_most = 100000,
        .create = tower_create,
        .destroy = tower_destroy,
        .world = tower_world,
        .step = tower_step,
        .boxes = tower_boxes },

    // Scenes that users meet and broad phases stumble over. A plate that more bodies touch than any list of
    // neighbours expects. All at the origin: every pair overlaps; they fly apart for half a second before
    // they feel each other. Houses of half a metre to eight, about as far apart, and two in a hundred bodies
    // that fall among them and are kicked about.
    { SIMULATED( FAMILY_HARD, "giant", "one huge plate among many small bodies", MANY,
        FALLING "bodies 1 box 0.8 0.05 0.8 world static center\nbodies rest type\n" ) },
    { SIMULATED( FAMILY_HARD, "spot", "all created at one spot and released", 16000,
        FALLING "start ball 0\ncontacts from 15\n" ) },
    { SIMULATED( FAMILY_HARD, "city", "static houses, few movers", MANY,
        FLYING "world density 2e-5\nstart slab 0.05\nspeed range 20\ngravity down 9.81\n"
               "bodies 2% type\nbodies rest random 0.5 8 static street\n" ) },
    { SIMULATED(
        FAMILY_HARD, "crowd", "one in twenty is teleported each frame", MANY, FLYING "teleport 0.05\n" ) },
    { SIMULATED( FAMILY_HARD, "swarm", "brownian, a million metres from the origin", MANY,
        FLYING "origin 1e6 1e6 1e6\n" ) },
    { SIMULATED( FAMILY_HARD, "churn", "one in a hundred dies and is born anew each frame", MANY,
          FLYING "churn 0.01\n" ),
        .reborn = recipe_run_reborn },
};

const generator_rows generator_simulated = { rows, sizeof( rows ) / sizeof( rows[0] ) };
