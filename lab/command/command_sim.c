// SPDX-License-Identifier: MIT
// The experiment of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021), chapter 5: a
// tower of 512 bodies falls, and the candidates its three kinds of bounding volumes let through are counted,
// frame by frame; and what it leaves open: other volumes, other bodies, soft ones.
#include "base/timer.h"
#include "gpu_bodies.h"
#include "lab/base/args.h"
#include "lab/base/interrupt.h"
#include "lab/base/output_file.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "math/splitmix.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX
#define FACES_MOST 2000
// Of 2 pi / phi^2, the golden angle.
#define GOLDEN_COSINE ( -0.7373688780783197 )
#define GOLDEN_SINE 0.6754902942615238

typedef struct sim_flags
{
    const char *volume, *scale, *body, *integrator, *after, *csv, *speed, *damping, *carry;
    const char *support, *match, *softness, *device;
    uint64_t bodies, frames, seed, rounds, pca, faces;
    bool quiet, no_stages;
} sim_flags;

enum
{
    BODY_OCTAHEDRON,
    BODY_RHOMBI,
};

static const choice experiments[] = { { "tower", 0 }, { NULL, 0 } };
static const choice volumes[] = { { "aabb", CLV_VOLUME_AABB }, { "18-dop", CLV_VOLUME_DOP18 },
    { "sphere", CLV_VOLUME_SPHERE }, { "6-dop", CLV_VOLUME_DOP6 }, { "14-dop", CLV_VOLUME_DOP14 },
    { "26-dop", CLV_VOLUME_DOP26 }, { "obb", CLV_VOLUME_OBB }, { NULL, 0 } };
static const choice supports[] = { { "auto", CLV_SUPPORT_AUTO }, { "scan", CLV_SUPPORT_SCAN },
    { "climb", CLV_SUPPORT_CLIMB }, { NULL, 0 } };
static const choice matches[] = { { "rigid", CLV_MATCH_RIGID }, { "linear", CLV_MATCH_LINEAR },
    { "quadratic", CLV_MATCH_QUADRATIC }, { NULL, 0 } };
static const choice bodies[] = { { "octahedron", BODY_OCTAHEDRON }, { "rhombicuboctahedron", BODY_RHOMBI },
    { NULL, 0 } };
static const choice integrators[] = { { "velocity-verlet", CLV_VELOCITY_VERLET }, { "euler", CLV_EULER },
    { "runge-kutta", CLV_RUNGE_KUTTA }, { "verlet", CLV_VERLET }, { NULL, 0 } };
static const choice afters[] = { { "moved", CLV_VELOCITY_MOVED }, { "kept", CLV_VELOCITY_KEPT },
    { NULL, 0 } };

// Of a 26-DOP, whose axes the others have some of.
static const char* const axis_names[CLV_DOP_ENDS_MOST / 2] = { "x", "y", "z", "x+y", "x-y", "x+z", "x-z",
    "y+z", "y-z", "x+y+z", "x+y-z", "x-y+z", "-x+y+z" };

static const char* axis_name( const char* volume, uint32_t axis )
{
    // The fourth axis of a 14-DOP is the first through corners.
    return axis_names[strcmp( volume, "14-dop" ) == 0 && axis >= 3 ? axis + 6 : axis];
}

// ---- reading flags

static bool read_number( const char* flag, const char* text, double least, double most, float* value,
    const char** end, lab_error* why )
{
    char* stop = NULL;
    double number = strtod( text, &stop );
    if ( stop == text || !( number >= least && number <= most ) )
    {
        return lab_error_write( why, "sim: %s: '%s' is no number from %g to %g", flag, text, least, most );
    }
    *value = (float)number;
    *end = stop;
    return true;
}

static bool read_lone_number(
    const char* flag, const char* text, double least, double most, float* value, lab_error* why )
{
    const char* end = NULL;
    if ( !read_number( flag, text, least, most, value, &end, why ) )
    {
        return false;
    }
    return *end == '\0' || lab_error_write( why, "sim: %s: '%s' has '%s' after the number", flag, text, end );
}

static bool read_scale( const char* text, clv_vec3* scale, lab_error* why )
{
    float* parts[3] = { &scale->x, &scale->y, &scale->z };
    const char* at = text;
    for ( int i = 0; i < 3; ++i )
    {
        lab_error ignored;
        if ( !read_number( "--scale", at, 1e-3, 1e3, parts[i], &at, &ignored ) ||
            *at != ( i < 2 ? ',' : '\0' ) )
        {
            return lab_error_write( why,
                "sim: --scale: '%s' is not three numbers from 0.001 to 1000; write --scale 1,3,1", text );
        }
        at += i < 2 ? 1 : 0;
    }
    return true;
}

// What a device does not have is said by the flag that asks for it.
static bool fits_device( const sim_flags* flags, const clv_shape_sim_def* def, lab_error* why )
{
    if ( flags->device == NULL )
    {
        return true;
    }
    if ( def->volume != CLV_VOLUME_AABB && def->volume != CLV_VOLUME_DOP18 &&
        def->volume != CLV_VOLUME_SPHERE )
    {
        return lab_error_write( why,
            "sim: --volume %s: a device has aabb, 18-dop and sphere; leave --device out", flags->volume );
    }
    if ( def->match != CLV_MATCH_RIGID )
    {
        return lab_error_write(
            why, "sim: --match %s: bodies on a device are rigid; leave --device out", flags->match );
    }
    return def->support != CLV_SUPPORT_CLIMB ||
        lab_error_write(
            why, "sim: --support climb: a device looks at every vertex; leave one of the two flags out" );
}

static bool read_def( const sim_flags* flags, clv_shape_sim_def* def, lab_error* why )
{
    *def = clv_default_shape_sim_def();
    if ( !read_lone_number( "--softness", flags->softness, 0, 0.999, &def->softness, why ) ||
        !read_lone_number( "--carry", flags->carry, 0, 1, &def->carry, why ) ||
        !read_lone_number( "--speed", flags->speed, 0, 1, &def->speed, why ) ||
        !read_lone_number( "--damping", flags->damping, 0, 1, &def->damping, why ) )
    {
        return false;
    }
    def->volume = (clv_volume_kind)choice_value( volumes, flags->volume );
    def->integrator = (clv_integrator)choice_value( integrators, flags->integrator );
    def->after_contact = (clv_contact_velocity)choice_value( afters, flags->after );
    def->support = (clv_support_search)choice_value( supports, flags->support );
    def->match = (clv_match_mode)choice_value( matches, flags->match );
    def->round_count = (uint32_t)flags->rounds;
    def->pca_period = (uint32_t)flags->pca;
    def->stage_times = !flags->no_stages;
    return fits_device( flags, def, why );
}

// ---- the tower

// On the CPU, or on a device.
typedef struct tower
{
    clv_hull* hull;
    clv_shape_sim* on_cpu;
    clv_gpu* gpu;
    clv_gpu_sim* on_device;
    char device_name[128];
    char said[1024]; // by the device's driver when it could not be opened
} tower;

// A body of `faces` triangles whose corners lie evenly on a sphere, along a spiral by the golden angle.
// Turned by products instead of sines, which may round differently elsewhere.
static clv_result build_ball( uint64_t faces, clv_vec3 scale, clv_hull** hull )
{
    clv_vec3 points[FACES_MOST / 2 + 2];
    uint32_t count = (uint32_t)( faces / 2 + 2 );
    double x = 1.0, z = 0.0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        double y = 1.0 - 2.0 * ( (double)i + 0.5 ) / (double)count;
        double around = sqrt( 1.0 - y * y );
        points[i] = ( clv_vec3 ){ scale.x * (float)( x * around ), scale.y * (float)y,
            scale.z * (float)( z * around ) };
        double turned = x * GOLDEN_COSINE - z * GOLDEN_SINE;
        z = x * GOLDEN_SINE + z * GOLDEN_COSINE;
        x = turned;
    }
    clv_hull_def def = clv_default_hull_def();
    def.points = points;
    def.point_count = count;
    return clv_hull_create( &def, hull );
}

static bool build_hull( const sim_flags* flags, clv_vec3 scale, clv_hull** hull, lab_error* why )
{
    int body = choice_value( bodies, flags->body );
    bool is_ball = flags->faces != ARGS_UNSET;
    if ( is_ball && flags->faces % 2 != 0 )
    {
        return lab_error_write( why,
            "sim: --faces %" PRIu64 ": triangles that close around a body are even in number", flags->faces );
    }
    clv_result result = is_ball ? build_ball( flags->faces, scale, hull )
        : body == BODY_RHOMBI   ? clv_hull_create_rhombicuboctahedron( scale, hull )
                                : clv_hull_create_truncated_octahedron( scale, hull );
    if ( result != CLV_OK )
    {
        return lab_error_write( why, "sim: the body cannot be made: %s", clv_result_text( result ) );
    }
    uint32_t face_count = clv_hull_get_view( *hull ).face_count;
    return !is_ball || face_count == flags->faces ||
        lab_error_write( why,
            "sim: --faces %" PRIu64 ": a body so stretched has only %" PRIu32
            "; use fewer, or a --scale nearer to 1,1,1",
            flags->faces, face_count );
}

// Every run of one seed has the same orientations, whatever volume and scale, as in the paper.
static void place_bodies( const sim_flags* flags, clv_transform* at )
{
    math_random random = math_random_seed( flags->seed );
    for ( uint64_t i = 0; i < flags->bodies; ++i )
    {
        at[i] = clv_transform_at( 0.0f, 10.0f * (float)( i + 1 ), 0.0f );
        at[i].rotation = math_quat_narrow( math_random_rotation( &random ) );
    }
}

static bool build_on_cpu(
    tower* t, const clv_shape_sim_def* def, const clv_transform* at, uint64_t count, lab_error* why )
{
    clv_result result = clv_shape_sim_create( def, &t->on_cpu );
    if ( result != CLV_OK )
    {
        return lab_error_write( why, "sim: %s", clv_result_text( result ) );
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        result = clv_shape_sim_add( t->on_cpu, t->hull, at[i] );
        if ( result != CLV_OK )
        {
            return lab_error_write( why, "sim: body %" PRIu64 ": %s", i + 1, clv_result_text( result ) );
        }
    }
    return true;
}

static void keep_line( clv_log_level level, const char* line, void* user )
{
    tower* t = user;
    if ( level == CLV_LOG_ERROR )
    {
        snprintf( t->said, sizeof( t->said ), "%s", line );
    }
}

static bool open_device( tower* t, const char* wish, bool keeps_times, lab_error* why )
{
    uint32_t index = 0;
    clv_gpu_device device;
    char reason[640] = "";
    if ( clv_gpu_device_find( wish, &index, reason, sizeof( reason ) ) != CLV_OK )
    {
        return lab_error_write(
            why, "sim: --device %s: %s; `cleave methods` tells which there are", wish, reason );
    }
    clv_gpu_def def = clv_default_gpu_def();
    char number[16];
    snprintf( number, sizeof( number ), "%" PRIu32, index );
    clv_gpu_device_at( index, &device );
    snprintf( t->device_name, sizeof( t->device_name ), "%s", device.name );
    def.device = number;
    def.times = keeps_times;
    def.logger.write = keep_line;
    def.logger.user = t;
    clv_result result = clv_gpu_create( &def, &t->gpu );
    return result == CLV_OK ||
        lab_error_write( why, "sim: --device %s: %s: %s", wish, clv_result_text( result ), t->said );
}

// A frame of two bodies in each other on the floor: every kernel is compiled before the
// first frame that is timed.
static clv_result warm_up( tower* t, const clv_gpu_hull* hull, const clv_shape_sim_def* def )
{
    const clv_transform at[2] = { clv_transform_at( 0, 0, 0 ), clv_transform_at( 0, 0.5f, 0 ) };
    clv_gpu_sim* sim = NULL;
    clv_result result = clv_gpu_set_bodies( t->gpu, hull, 1, NULL, 2 );
    result = result == CLV_OK ? clv_gpu_sim_create( t->gpu, def, at, &sim ) : result;
    result = result == CLV_OK ? clv_gpu_sim_step( sim ) : result;
    clv_gpu_sim_destroy( sim );
    return result;
}

static bool build_on_device(
    tower* t, const sim_flags* flags, const clv_shape_sim_def* def, const clv_transform* at, lab_error* why )
{
    if ( !open_device( t, flags->device, !flags->no_stages, why ) )
    {
        return false;
    }
    clv_hull_view view = clv_hull_get_view( t->hull );
    const clv_gpu_hull hull = { view.vertices, view.vertex_count };
    clv_result result = warm_up( t, &hull, def );
    result =
        result == CLV_OK ? clv_gpu_set_bodies( t->gpu, &hull, 1, NULL, (uint32_t)flags->bodies ) : result;
    result = result == CLV_OK ? clv_gpu_sim_create( t->gpu, def, at, &t->on_device ) : result;
    return result == CLV_OK ||
        lab_error_write( why, "sim: --device %s: %s", flags->device, clv_gpu_error( t->gpu ) );
}

static bool build_tower( tower* t, const sim_flags* flags, const clv_shape_sim_def* def, lab_error* why )
{
    clv_transform* at = lab_take( flags->bodies, sizeof( clv_transform ) );
    place_bodies( flags, at );
    bool good = flags->device != NULL ? build_on_device( t, flags, def, at, why )
                                      : build_on_cpu( t, def, at, flags->bodies, why );
    free( at );
    return good;
}

static void destroy_tower( tower* t )
{
    clv_gpu_sim_destroy( t->on_device );
    clv_gpu_destroy( t->gpu );
    clv_shape_sim_destroy( t->on_cpu );
    clv_hull_destroy( t->hull );
}

static clv_result step_tower( tower* t )
{
    return t->on_device != NULL ? clv_gpu_sim_step( t->on_device ) : clv_shape_sim_step( t->on_cpu );
}

static clv_shape_sim_stats tower_stats( const tower* t )
{
    return t->on_device != NULL ? clv_gpu_sim_get_stats( t->on_device )
                                : clv_shape_sim_get_stats( t->on_cpu );
}

// ---- running

typedef struct column
{
    double sum, most;
} column;

enum
{
    PAIRS,
    FALSE_PAIRS,
    FLOOR_PAIRS,
    ALL_PAIRS,
    FRAME_MS,
    VOLUME_MS,
    SWEEP_MS,
    NARROW_MS,
    MATCH_MS,
    DEEPEST,
    MEAN_DEPTH,
    DEFORMATION,
    COLUMN_COUNT
};

static const char* const column_names[COLUMN_COUNT] = { "candidate pairs", "false positives", "floor pairs",
    "pairs with the floor's", "frame, ms", "volumes, ms", "sweep, ms", "GJK + EPA, ms", "shape matching, ms",
    "deepest", "mean depth", "deformation" };

typedef struct sim_run
{
    column columns[COLUMN_COUNT];
    uint64_t landed_frame; // in which the last body first touched something
    uint32_t axis_change_count;
    uint32_t last_axis;
    uint64_t last_axis_frame;
    clv_shape_sim_stats last;
} sim_run;

static void note_frame( sim_run* run, const clv_shape_sim_stats* s, uint64_t body_count, double frame_ms )
{
    const double values[COLUMN_COUNT] = { (double)s->candidate_count,
        (double)( s->candidate_count - s->hit_count ), (double)s->floor_candidate_count,
        (double)( s->candidate_count + s->floor_candidate_count ), frame_ms, s->volume_ms, s->sweep_ms,
        s->narrow_ms, s->match_ms, s->deepest, s->mean_depth, s->deformation_mean };
    for ( int i = 0; i < COLUMN_COUNT; ++i )
    {
        column* all = &run->columns[i];
        all->sum += values[i];
        all->most = values[i] > all->most ? values[i] : all->most;
    }
    if ( s->landed_count == body_count && run->landed_frame == NEVER )
    {
        run->landed_frame = s->frame;
    }
    if ( s->frame == 1 || s->axis != run->last_axis )
    {
        run->axis_change_count += s->frame == 1 ? 0 : 1;
        run->last_axis = s->axis;
        run->last_axis_frame = s->frame;
    }
    run->last = *s;
}

static const char csv_head[] =
    "frame,candidate_pairs,hits,false_positives,floor_pairs,floor_hits,landed,deepest,mean_depth,kinetic_energy,"
    "potential_energy,unconverged,singular,diverged,drifted,unturned,axis,integrate_ms,volume_ms,sweep_ms,narrow_ms,"
    "match_ms,frame_ms,axis_ms,project_ms,sort_ms,prune_ms,deformation_mean,deformation_most\n";

static bool write_row(
    output_file* file, const char* volume, const clv_shape_sim_stats* s, double frame_ms, lab_error* why )
{
    return output_file_format( file, why,
        "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",%.9g,%.9g,%.9g,%.9g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",%s,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.9g,%.9g\n",
        s->frame, s->candidate_count, s->hit_count, s->candidate_count - s->hit_count,
        s->floor_candidate_count, s->floor_hit_count, s->landed_count, s->deepest, s->mean_depth,
        s->kinetic_energy, s->potential_energy, s->unconverged_count, s->singular_count, s->diverged_count,
        s->drifted_count, s->unturned_count, axis_name( volume, s->axis ), s->integrate_ms, s->volume_ms,
        s->sweep_ms, s->narrow_ms, s->match_ms, frame_ms, s->axis_ms, s->project_ms, s->sort_ms, s->prune_ms,
        s->deformation_mean, s->deformation_most );
}

static bool run_frames( tower* t, const sim_flags* flags, output_file* file, sim_run* run, lab_error* why )
{
    progress_bar bar;
    bool good = file->stream == NULL || output_file_format( file, why, csv_head );
    progress_begin( &bar, "tower", "frames", flags->frames );
    for ( uint64_t frame = 0; good && frame < flags->frames; ++frame )
    {
        uint64_t begin = clv_base_clock_ns();
        clv_result result = step_tower( t );
        double frame_ms = (double)( clv_base_clock_ns() - begin ) * 1e-6;
        if ( result != CLV_OK )
        {
            good =
                lab_error_write( why, "sim: frame %" PRIu64 ": %s%s%s", frame + 1, clv_result_text( result ),
                    t->gpu != NULL ? ": " : "", t->gpu != NULL ? clv_gpu_error( t->gpu ) : "" );
            break;
        }
        clv_shape_sim_stats stats = tower_stats( t );
        note_frame( run, &stats, flags->bodies, frame_ms );
        good = ( file->stream == NULL || write_row( file, flags->volume, &stats, frame_ms, why ) ) &&
            ( !interrupt_raised() || lab_error_interrupted( why ) );
        progress_show( &bar, frame + 1 );
    }
    progress_end( &bar );
    return good;
}

// ---- telling

// Which stage ran where, and whose times these are.
static void print_device( const tower* t, const sim_flags* flags )
{
    printf( "Stages on %s:\n"
            "  free flight, vertices, volumes, axis, projection, sort, sweep, GJK + EPA, shape matching\n"
            "Stages on the host: pairs in order, responses that may come at once, %" PRIu64 " contacts\n%s",
        t->device_name, clv_gpu_sim_finished_count( t->on_device ),
        flags->no_stages ? "" : "Times of stages are the device's own, those of frames the clock's.\n" );
}

static void print_run( const sim_run* run, const sim_flags* flags )
{
    text_table table;
    char faces[32] = "";
    if ( flags->faces != ARGS_UNSET )
    {
        snprintf( faces, sizeof( faces ), "%" PRIu64 " faces", flags->faces );
    }
    printf( "%" PRIu64 " bodies (%s, %s, scale %s), %s volumes, %" PRIu64 " frames\n\n", flags->bodies,
        faces[0] != '\0' ? faces : flags->body, flags->match, flags->scale, flags->volume, flags->frames );
    text_table_begin( &table, "per frame|>mean|>most" );
    int column_count = strcmp( flags->match, "rigid" ) == 0 ? DEFORMATION : COLUMN_COUNT;
    for ( int i = 0; i < column_count; ++i )
    {
        int digits = i <= ALL_PAIRS ? 0 : 4;
        if ( flags->no_stages && i >= VOLUME_MS && i <= MATCH_MS )
        {
            continue; // this sweep does not take them
        }
        text_table_add_cells( &table, "%s\t%.*f\t%.*f", column_names[i], digits,
            run->columns[i].sum / (double)flags->frames, digits, run->columns[i].most );
    }
    text_table_print( &table, stdout );
    if ( run->landed_frame == NEVER )
    {
        printf( "\n%" PRIu64 " of the bodies have touched something by the last frame.\n",
            run->last.landed_count );
    }
    else
    {
        printf( "\nThe last body touched something first in frame %" PRIu64 ".\n", run->landed_frame );
    }
    printf( "The axis is %s since frame %" PRIu64 "; it changed %" PRIu32 " times.\n",
        axis_name( flags->volume, run->last_axis ), run->last_axis_frame, run->axis_change_count );
    printf( "At the end: kinetic energy %.3g, deepest penetration %.3g.\n", run->last.kinetic_energy,
        run->last.deepest );
}

static bool simulate( const sim_flags* flags, tower* t, sim_run* run, lab_error* why )
{
    clv_shape_sim_def def;
    clv_vec3 scale;
    if ( !read_def( flags, &def, why ) || !read_scale( flags->scale, &scale, why ) )
    {
        return false;
    }
    output_file file = { 0 };
    bool good = build_hull( flags, scale, &t->hull, why ) && build_tower( t, flags, &def, why ) &&
        ( flags->csv == NULL || output_file_open( &file, flags->csv, why ) ) &&
        run_frames( t, flags, &file, run, why ) &&
        ( file.stream == NULL || output_file_commit( &file, why ) );
    output_file_abandon( &file );
    return good;
}

static bool run_tower( void* data, text_list* operands, lab_error* why )
{
    const sim_flags* flags = data;
    (void)operands; // there is one experiment
    progress_set_quiet( flags->quiet );
    sim_run run = { .landed_frame = NEVER };
    tower t = { 0 };
    bool good = simulate( flags, &t, &run, why );
    if ( good )
    {
        print_run( &run, flags );
    }
    if ( good && t.on_device != NULL )
    {
        print_device( &t, flags );
    }
    destroy_tower( &t );
    return good;
}

lab_status command_sim( int argc, char** argv )
{
    sim_flags flags = { .volume = "aabb",
        .scale = "1,1,1",
        .body = "octahedron",
        .integrator = "velocity-verlet",
        .after = "moved",
        .speed = "0.0049",
        .damping = "0.95",
        .carry = "0.8",
        .support = "auto",
        .match = "rigid",
        .softness = "0.5",
        .faces = ARGS_UNSET,
        .bodies = 512,
        .frames = 7000,
        .seed = 1,
        .rounds = 10,
        .pca = 30 };
    const args_flag list[] = {
        ARGS_ROW_WORDS( "--volume", ARGS_TEXT, &flags.volume, "KIND", volumes,
            "bounding volume: aabb, 18-dop or sphere as in the paper; 6-dop, 14-dop, 26-dop or obb" ),
        ARGS_ROW_TEXT( "--scale", &flags.scale, "X,Y,Z", "stretch of the body, whose size is 2,2,2" ),
        ARGS_ROW_RANGE( "--frames", ARGS_COUNT, &flags.frames, "F", "frames to run", 1, 10000000 ),
        ARGS_ROW_WORDS( "--body", ARGS_TEXT, &flags.body, "NAME", bodies,
            "octahedron (truncated: 14 faces) or rhombicuboctahedron (26 faces)" ),
        ARGS_ROW_RANGE( "--faces", ARGS_COUNT, &flags.faces, "F",
            "instead a ball of F triangles; an even number", 4, FACES_MOST ),
        ARGS_ROW_WORDS( "--match", ARGS_TEXT, &flags.match, "MODE", matches,
            "what a push makes of a body: rigid, linear (stretched and sheared) or quadratic (bent and twisted)" ),
        ARGS_ROW_TEXT( "--softness", &flags.softness, "B",
            "of linear and quadratic: share of a deformation that stays from frame to frame, 0 to 0.999" ),
        ARGS_ROW_WORDS( "--support", ARGS_TEXT, &flags.support, "HOW", supports,
            "how GJK finds the farthest vertex: scan all, climb, or auto (scan up to 32)" ),
        ARGS_ROW_TEXT( "--device", &flags.device, "NAME|N",
            "run the frames on a device by OpenCL, with aabb, 18-dop or sphere; `cleave methods` lists them" ),
        ARGS_ROW_TEXT( "--csv", &flags.csv, "OUT", "write counts and times of every frame" ),
        ARGS_ROW_RANGE( "--bodies", ARGS_SIZE, &flags.bodies, "N", "height of the tower", 1, 100000 ),
        ARGS_ROW_RANGE( "--seed", ARGS_SEED, &flags.seed, "S", "of the orientations", 0, UINT64_MAX ),
        ARGS_ROW_WORDS( "--after-contact", ARGS_TEXT, &flags.after, "RULE", afters,
            "velocity of a body that touched: moved (what it moved) or kept (the paper to the letter)" ),
        ARGS_ROW_TEXT( "--carry", &flags.carry, "C", "share of that move kept as velocity, 0 to 1" ),
        ARGS_ROW_TEXT( "--speed", &flags.speed, "S", "scale of gravity; the paper prints 0.003" ),
        ARGS_ROW_TEXT( "--damping", &flags.damping, "D", "velocity kept per frame, 0 to 1" ),
        ARGS_ROW_WORDS( "--integrator", ARGS_TEXT, &flags.integrator, "NAME", integrators,
            "velocity-verlet, euler, runge-kutta or verlet" ),
        ARGS_ROW_RANGE( "--rounds", ARGS_COUNT, &flags.rounds, "R",
            "rounds of check, contact and match per frame", 1, 1000 ),
        ARGS_ROW_RANGE( "--pca", ARGS_COUNT, &flags.pca, "P",
            "frames from one choice of the sweep's axis to the next; 0: stay on y", 0, 1000000 ),
        ARGS_ROW_SWITCH( "--no-stages", &flags.no_stages,
            "do not time the stages, which takes time itself; those of a device above all" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    const args_table table = {
        .command = "sim",
        .usage = "tower [--volume KIND] [--scale X,Y,Z] [--frames F] [--body NAME] [--csv OUT] …",
        .about =
            "Run the experiment of the k-DOP paper (Amaral, COPPE 2021): 512 bodies at (0, 10 i, 0) fall on a floor and\n"
            "push each other aside. Prints per frame the pairs that sweep-and-prune lets through, how many of them do\n"
            "not touch, the pairs with the floor (counted apart), and the times of the stages. On a device the same\n"
            "bodies fall the same way. docs/physics.md tells more.",
        .example = "  cleave sim tower --volume 18-dop --scale 1,3,1 --csv tower.csv\n"
                   "  cleave sim tower --volume 18-dop --device 0 --frames 500\n"
                   "  cleave sim tower --bodies 64 --frames 1000 --faces 80 --match quadratic --softness 0.8",
        ARGS_FLAGS( list ),
        .operand_name = "an EXPERIMENT",
        .operand_choices = experiments,
        .operand_least = 1,
        .operand_most = 1,
    };
    return args_run( &table, argc, argv, run_tower, &flags );
}
