// SPDX-License-Identifier: MIT
// The experiment of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE 2021), chapter 5: a
// tower of 512 bodies falls, and the candidates three kinds of bounding volumes let through are counted,
// frame by frame.
#include "base/timer.h"
#include "cleave/shape_sim.h"
#include "lab/base/args.h"
#include "lab/base/interrupt.h"
#include "lab/base/output_file.h"
#include "lab/base/progress.h"
#include "lab/base/text_table.h"
#include "lab/command/commands.h"
#include "math/splitmix.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

typedef struct sim_flags
{
    const char *volume, *scale, *body, *integrator, *after, *csv, *speed, *damping, *carry;
    uint64_t bodies, frames, seed, rounds, pca;
} sim_flags;

// A word of a flag and what it stands for.
typedef struct choice
{
    const char* word;
    int value;
} choice;

enum
{
    BODY_OCTAHEDRON,
    BODY_RHOMBI,
};

static const choice volumes[] = { { "aabb", CLV_VOLUME_AABB }, { "18-dop", CLV_VOLUME_DOP18 },
    { "sphere", CLV_VOLUME_SPHERE }, { NULL, 0 } };
static const choice bodies[] = { { "octahedron", BODY_OCTAHEDRON }, { "rhombicuboctahedron", BODY_RHOMBI },
    { NULL, 0 } };
static const choice integrators[] = { { "velocity-verlet", CLV_VELOCITY_VERLET }, { "euler", CLV_EULER },
    { "runge-kutta", CLV_RUNGE_KUTTA }, { "verlet", CLV_VERLET }, { NULL, 0 } };
static const choice afters[] = { { "moved", CLV_VELOCITY_MOVED }, { "kept", CLV_VELOCITY_KEPT },
    { NULL, 0 } };

static const char* const axis_names[CLV_DOP_AXIS_COUNT] = { "x", "y", "z", "x+y", "x-y", "x+z", "x-z", "y+z",
    "y-z" };

// ---- reading flags

static bool choose( const char* flag, const char* word, const choice* list, int* value, lab_error* why )
{
    char known[128] = "";
    for ( const choice* c = list; c->word != NULL; ++c )
    {
        if ( strcmp( c->word, word ) == 0 )
        {
            *value = c->value;
            return true;
        }
        size_t length = strlen( known );
        snprintf( known + length, sizeof( known ) - length, "%s%s", length > 0 ? ", " : "", c->word );
    }
    return lab_error_write( why, "sim: %s: '%s' is unknown; use one of %s", flag, word, known );
}

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

static bool read_def( const sim_flags* flags, clv_shape_sim_def* def, lab_error* why )
{
    int volume = 0, integrator = 0, after = 0;
    *def = clv_default_shape_sim_def();
    if ( !choose( "--volume", flags->volume, volumes, &volume, why ) ||
        !choose( "--integrator", flags->integrator, integrators, &integrator, why ) ||
        !choose( "--after-contact", flags->after, afters, &after, why ) ||
        !read_lone_number( "--carry", flags->carry, 0, 1, &def->carry, why ) ||
        !read_lone_number( "--speed", flags->speed, 0, 1, &def->speed, why ) ||
        !read_lone_number( "--damping", flags->damping, 0, 1, &def->damping, why ) )
    {
        return false;
    }
    def->volume = (clv_volume_kind)volume;
    def->integrator = (clv_integrator)integrator;
    def->after_contact = (clv_contact_velocity)after;
    def->round_count = (uint32_t)flags->rounds;
    def->pca_period = (uint32_t)flags->pca;
    def->stage_times = true;
    return true;
}

// ---- the tower

static clv_result build_hull( int body, clv_vec3 scale, clv_hull** hull )
{
    return body == BODY_RHOMBI ? clv_hull_create_rhombicuboctahedron( scale, hull )
                               : clv_hull_create_truncated_octahedron( scale, hull );
}

static bool build_tower( clv_shape_sim* sim, const clv_hull* hull, const sim_flags* flags, lab_error* why )
{
    // Every run of one seed has the same orientations, whatever volume and scale, as in the paper.
    math_random random = math_random_seed( flags->seed );
    for ( uint64_t i = 1; i <= flags->bodies; ++i )
    {
        clv_transform at = clv_transform_at( 0.0f, 10.0f * (float)i, 0.0f );
        at.rotation = math_quat_narrow( math_random_rotation( &random ) );
        clv_result result = clv_shape_sim_add( sim, hull, at );
        if ( result != CLV_OK )
        {
            return lab_error_write( why, "sim: body %" PRIu64 ": %s", i, clv_result_text( result ) );
        }
    }
    return true;
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
    COLUMN_COUNT
};

static const char* const column_names[COLUMN_COUNT] = { "candidate pairs", "false positives", "floor pairs",
    "pairs with the floor's", "frame, ms", "volumes, ms", "sweep, ms", "GJK + EPA, ms", "shape matching, ms",
    "deepest", "mean depth" };

typedef struct sim_run
{
    column columns[COLUMN_COUNT];
    uint64_t landed_frame; // in which the last body first touched something
    uint32_t axis_change_count;
    uint32_t last_axis;
    uint64_t last_axis_frame;
    clv_shape_sim_stats last;
} sim_run;

static void note( sim_run* run, int which, double value )
{
    run->columns[which].sum += value;
    run->columns[which].most = value > run->columns[which].most ? value : run->columns[which].most;
}

static void note_frame( sim_run* run, const clv_shape_sim_stats* s, uint64_t body_count, double frame_ms )
{
    note( run, PAIRS, (double)s->candidate_count );
    note( run, FALSE_PAIRS, (double)( s->candidate_count - s->hit_count ) );
    note( run, FLOOR_PAIRS, (double)s->floor_candidate_count );
    note( run, ALL_PAIRS, (double)( s->candidate_count + s->floor_candidate_count ) );
    note( run, FRAME_MS, frame_ms );
    note( run, VOLUME_MS, s->volume_ms );
    note( run, SWEEP_MS, s->sweep_ms );
    note( run, NARROW_MS, s->narrow_ms );
    note( run, MATCH_MS, s->match_ms );
    note( run, DEEPEST, s->deepest );
    note( run, MEAN_DEPTH, s->mean_depth );
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

static bool write_text( output_file* file, const char* text, lab_error* why )
{
    return file->stream == NULL || output_file_write( file, text, strlen( text ), why );
}

static const char csv_head[] =
    "frame,candidate_pairs,hits,false_positives,floor_pairs,floor_hits,landed,deepest,mean_depth,kinetic_energy,"
    "potential_energy,unconverged,singular,diverged,drifted,unturned,axis,integrate_ms,volume_ms,sweep_ms,narrow_ms,"
    "match_ms,frame_ms,axis_ms,project_ms,sort_ms,prune_ms\n";

static bool write_row( output_file* file, const clv_shape_sim_stats* s, double frame_ms, lab_error* why )
{
    char row[640];
    snprintf( row, sizeof( row ),
        "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",%.9g,%.9g,%.9g,%.9g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",%s,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n",
        s->frame, s->candidate_count, s->hit_count, s->candidate_count - s->hit_count,
        s->floor_candidate_count, s->floor_hit_count, s->landed_count, s->deepest, s->mean_depth,
        s->kinetic_energy, s->potential_energy, s->unconverged_count, s->singular_count, s->diverged_count,
        s->drifted_count, s->unturned_count, axis_names[s->axis], s->integrate_ms, s->volume_ms, s->sweep_ms,
        s->narrow_ms, s->match_ms, frame_ms, s->axis_ms, s->project_ms, s->sort_ms, s->prune_ms );
    return write_text( file, row, why );
}

static bool run_frames(
    clv_shape_sim* sim, const sim_flags* flags, output_file* file, sim_run* run, lab_error* why )
{
    progress_bar bar;
    bool good = write_text( file, csv_head, why );
    progress_begin( &bar, "tower", "frames", flags->frames );
    for ( uint64_t frame = 0; good && frame < flags->frames; ++frame )
    {
        uint64_t begin = clv_base_clock_ns();
        clv_result result = clv_shape_sim_step( sim );
        double frame_ms = (double)( clv_base_clock_ns() - begin ) * 1e-6;
        if ( result != CLV_OK )
        {
            good = lab_error_write( why, "sim: frame %" PRIu64 ": %s", frame + 1, clv_result_text( result ) );
            break;
        }
        clv_shape_sim_stats stats = clv_shape_sim_get_stats( sim );
        note_frame( run, &stats, flags->bodies, frame_ms );
        good = write_row( file, &stats, frame_ms, why ) &&
            ( !interrupt_raised() || lab_error_interrupted( why ) );
        progress_show( &bar, frame + 1 );
    }
    progress_end( &bar );
    return good;
}

// ---- telling

static void print_run( const sim_run* run, const sim_flags* flags )
{
    text_table table;
    printf( "%" PRIu64 " bodies (%s, scale %s), %s volumes, %" PRIu64 " frames\n\n", flags->bodies,
        flags->body, flags->scale, flags->volume, flags->frames );
    text_table_begin( &table, "per frame|>mean|>most" );
    for ( int i = 0; i < COLUMN_COUNT; ++i )
    {
        int digits = i <= ALL_PAIRS ? 0 : 4;
        text_table_add( &table, "%s", column_names[i] );
        text_table_add( &table, "%.*f", digits, run->columns[i].sum / (double)flags->frames );
        text_table_add( &table, "%.*f", digits, run->columns[i].most );
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
        axis_names[run->last_axis], run->last_axis_frame, run->axis_change_count );
    printf( "At the end: kinetic energy %.3g, deepest penetration %.3g.\n", run->last.kinetic_energy,
        run->last.deepest );
}

static bool simulate( const sim_flags* flags, sim_run* run, lab_error* why )
{
    clv_shape_sim_def def;
    clv_vec3 scale;
    int body = 0;
    if ( !read_def( flags, &def, why ) || !read_scale( flags->scale, &scale, why ) ||
        !choose( "--body", flags->body, bodies, &body, why ) )
    {
        return false;
    }
    clv_hull* hull = NULL;
    clv_shape_sim* sim = NULL;
    output_file file = { 0 };
    clv_result result = build_hull( body, scale, &hull );
    if ( result == CLV_OK )
    {
        result = clv_shape_sim_create( &def, &sim );
    }
    bool good = result == CLV_OK || lab_error_write( why, "sim: %s", clv_result_text( result ) );
    good = good && build_tower( sim, hull, flags, why ) &&
        ( flags->csv == NULL || output_file_open( &file, flags->csv, why ) ) &&
        run_frames( sim, flags, &file, run, why ) &&
        ( file.stream == NULL || output_file_commit( &file, why ) );
    output_file_abandon( &file );
    clv_shape_sim_destroy( sim );
    clv_hull_destroy( hull );
    return good;
}

static lab_status run_tower( const char* scene, const sim_flags* flags )
{
    lab_error why;
    if ( strcmp( scene, "tower" ) != 0 )
    {
        return lab_fail( "sim: no experiment is called '%s'; there is one: tower", scene );
    }
    sim_run run = { .landed_frame = NEVER };
    if ( !simulate( flags, &run, &why ) )
    {
        return lab_error_print( &why );
    }
    print_run( &run, flags );
    return LAB_DONE;
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
        .bodies = 512,
        .frames = 7000,
        .seed = 1,
        .rounds = 10,
        .pca = 30 };
    const args_flag list[] = {
        { "--volume", 0, ARGS_TEXT, &flags.volume, "KIND", "bounding volume: aabb, 18-dop or sphere", 0, 0 },
        { "--scale", 0, ARGS_TEXT, &flags.scale, "X,Y,Z", "stretch of the body, whose size is 2,2,2", 0, 0 },
        { "--frames", 0, ARGS_COUNT, &flags.frames, "F", "frames to run", 1, 10000000 },
        { "--body", 0, ARGS_TEXT, &flags.body, "NAME",
            "octahedron (truncated: 14 faces) or rhombicuboctahedron (26 faces)", 0, 0 },
        { "--csv", 0, ARGS_TEXT, &flags.csv, "OUT", "write counts and times of every frame", 0, 0 },
        { "--bodies", 0, ARGS_SIZE, &flags.bodies, "N", "height of the tower", 1, 100000 },
        { "--seed", 0, ARGS_SEED, &flags.seed, "S", "of the orientations", 0, UINT64_MAX },
        { "--after-contact", 0, ARGS_TEXT, &flags.after, "RULE",
            "velocity of a body that touched: moved (what it moved) or kept (the paper to the letter)", 0,
            0 },
        { "--carry", 0, ARGS_TEXT, &flags.carry, "C", "share of that move kept as velocity, 0 to 1", 0, 0 },
        { "--speed", 0, ARGS_TEXT, &flags.speed, "S", "scale of gravity; the paper prints 0.003", 0, 0 },
        { "--damping", 0, ARGS_TEXT, &flags.damping, "D", "velocity kept per frame, 0 to 1", 0, 0 },
        { "--integrator", 0, ARGS_TEXT, &flags.integrator, "NAME",
            "velocity-verlet, euler, runge-kutta or verlet", 0, 0 },
        { "--rounds", 0, ARGS_COUNT, &flags.rounds, "R", "rounds of check, contact and match per frame", 1,
            1000 },
        { "--pca", 0, ARGS_COUNT, &flags.pca, "P",
            "frames from one choice of the sweep's axis to the next; 0: stay on y", 0, 1000000 },
    };
    const args_table table = {
        .command = "sim",
        .usage = "tower [--volume KIND] [--scale X,Y,Z] [--frames F] [--body NAME] [--csv OUT] …",
        .about =
            "Run the experiment of paper 003: 512 bodies at (0, 10 i, 0) fall on a floor and push each other aside.\n"
            "Prints per frame the pairs that sweep-and-prune lets through, how many of them do not touch, the\n"
            "pairs with the floor (counted apart), and the times of the stages. docs/shape-matching.md tells more.",
        .example = "  cleave sim tower --volume 18-dop --scale 1,3,1 --csv tower.csv",
        .flags = list,
        .flag_count = sizeof( list ) / sizeof( list[0] ),
        .operand_name = "an EXPERIMENT",
        .operand_least = 1,
        .operand_most = 1,
    };
    lab_error why;
    text_list operands = { 0 };
    args_answer answer = args_read( &table, argc, argv, &operands, &why );
    lab_status status = answer == ARGS_OK ? run_tower( operands.items[0], &flags )
        : answer == ARGS_BAD              ? lab_error_print( &why )
                                          : LAB_DONE;
    text_list_free( &operands );
    return status;
}
