// SPDX-License-Identifier: MIT
#include "lab/mpi_job.h"

#include "cleave/gpu.h"
#include "cleave/method.h"
#include "lab/base/text.h"
#include "lab/frame/bake.h"
#include "lab/measure/device_choice.h"
#include "lab/mpi_resume.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// ---- the command line

typedef enum flag_kind
{
    FLAG_TEXT,
    FLAG_COUNT,
    FLAG_SWITCH,
    FLAG_CUTTER,
} flag_kind;

typedef struct flag
{
    const char* name;
    const char* commands; ///< letters of those that take it
    flag_kind kind;
    size_t offset; ///< of the option
    uint64_t least, most;
} flag;

#define IN_OPTIONS( member ) offsetof( job_options, member )

static const flag s_flags[] = {
    { "--json", "bnp", FLAG_TEXT, IN_OPTIONS( json ), 0, 0 },
    { "-m", "bv", FLAG_TEXT, IN_OPTIONS( method ), 0, 0 },
    { "--set", "bv", FLAG_TEXT, IN_OPTIONS( settings ), 0, 0 },
    { "--device", "bv", FLAG_TEXT, IN_OPTIONS( device ), 0, 0 },
    { "-o", "g", FLAG_TEXT, IN_OPTIONS( output ), 0, 0 },
    { "--type", "g", FLAG_TEXT, IN_OPTIONS( type ), 0, 0 },
    { "--frames", "bvgp", FLAG_COUNT, IN_OPTIONS( frames ), 1, BAKE_FRAMES_MOST },
    { "--from", "g", FLAG_COUNT, IN_OPTIONS( from ), 0, BAKE_FRAMES_MOST },
    { "--threads", "bvgp", FLAG_COUNT, IN_OPTIONS( threads ), 1, CLV_MAX_WORKERS },
    { "--warmup", "b", FLAG_COUNT, IN_OPTIONS( warmup ), 0, 1000 },
    { "--repeat", "bn", FLAG_COUNT, IN_OPTIONS( repeat ), 1, 1000 },
    { "--seed", "bvgp", FLAG_COUNT, IN_OPTIONS( seed ), 0, UINT64_MAX - 1 },
    { "-n", "g", FLAG_COUNT, IN_OPTIONS( bodies ), 1, GENERATOR_BODIES_MOST },
    { "-P", "p", FLAG_COUNT, IN_OPTIONS( processes ), 1, 65536 },
    { "--sample", "p", FLAG_COUNT, IN_OPTIONS( sample ), 1, GENERATOR_BODIES_MOST },
    { "--checkpoint", "b", FLAG_TEXT, IN_OPTIONS( checkpoint ), 0, 0 },
    { "--every", "b", FLAG_COUNT, IN_OPTIONS( every ), 1, BAKE_FRAMES_MOST },
    { "--resume", "b", FLAG_TEXT, IN_OPTIONS( resume ), 0, 0 },
    { "--cutter", "bv", FLAG_CUTTER, IN_OPTIONS( cutter ), 0, 0 },
    { "--borrowed", "bv", FLAG_SWITCH, IN_OPTIONS( is_borrowed ), 0, 0 },
    { "--by-time", "bv", FLAG_SWITCH, IN_OPTIONS( by_time ), 0, 0 },
    { "--alone", "b", FLAG_SWITCH, IN_OPTIONS( is_alone ), 0, 0 },
    { "--scattered", "b", FLAG_SWITCH, IN_OPTIONS( is_scattered ), 0, 0 },
    { "--split", "g", FLAG_SWITCH, IN_OPTIONS( splits ), 0, 0 },
};

static const char* const s_commands[] = { "bench", "verify", "gen", "net", "plan" };

static const flag* find_flag( const char* word )
{
    for ( size_t i = 0; i < sizeof( s_flags ) / sizeof( s_flags[0] ); ++i )
    {
        if ( strcmp( s_flags[i].name, word ) == 0 )
        {
            return &s_flags[i];
        }
    }
    return NULL;
}

static bool take_value( const flag* f, const char* text, job_options* o, lab_error* why )
{
    void* option = (char*)o + f->offset;
    if ( f->kind == FLAG_TEXT )
    {
        memcpy( option, &text, sizeof( text ) );
        return true;
    }
    if ( f->kind == FLAG_CUTTER )
    {
        o->cutter = strcmp( text, "zoltan" ) == 0 ? CLV_MPI_CUT_ZOLTAN : CLV_MPI_CUT_BISECTION;
        return strcmp( text, "zoltan" ) == 0 || strcmp( text, "bisection" ) == 0 ||
            lab_error_write( why, "--cutter: '%s' is neither zoltan nor bisection", text );
    }
    uint64_t value = 0;
    if ( !text_parse_size( text, &value ) || value < f->least || value > f->most )
    {
        return lab_error_write(
            why, "%s: '%s' is no number from %" PRIu64 " to %" PRIu64, f->name, text, f->least, f->most );
    }
    memcpy( option, &value, sizeof( value ) );
    return true;
}

static bool take_flag( int argc, char** argv, int* at, job_options* o, lab_error* why )
{
    const char* word = argv[*at];
    const flag* f = find_flag( word );
    if ( f == NULL )
    {
        return lab_error_write( why, "no flag is called %s; --help lists them", word );
    }
    if ( strchr( f->commands, o->command ) == NULL )
    {
        return lab_error_write( why, "%s has no %s; %s", argv[1], word,
            strcmp( word, "-n" ) == 0 ? "a WHAT such as brownian-free:8k says how many"
                                      : "--help lists who takes it" );
    }
    if ( f->kind == FLAG_SWITCH )
    {
        *(bool*)( (char*)o + f->offset ) = true;
        return true;
    }
    if ( *at + 1 == argc )
    {
        return lab_error_write( why, "%s needs a value", word );
    }
    *at += 1;
    return take_value( f, argv[*at], o, why );
}

static bool find_command( const char* word, job_options* o )
{
    for ( size_t i = 0; i < sizeof( s_commands ) / sizeof( s_commands[0] ); ++i )
    {
        if ( word != NULL && strcmp( s_commands[i], word ) == 0 )
        {
            o->command = word[0];
            return true;
        }
    }
    return false;
}

bool job_parse( int argc, char** argv, job_options* o, lab_error* why )
{
    *o = ( job_options ){
        .method = "cleave", .threads = 1, .warmup = UINT64_MAX, .repeat = UINT64_MAX, .seed = 1
    };
    o->type = "cubes";
    if ( !find_command( argc > 1 ? argv[1] : NULL, o ) )
    {
        return lab_error_write( why, "needs bench, verify, gen, net or plan; --help tells more" );
    }
    for ( int i = 2; i < argc; ++i )
    {
        if ( argv[i][0] == '-' && argv[i][1] != '\0' )
        {
            if ( !take_flag( argc, argv, &i, o, why ) )
            {
                return false;
            }
            continue;
        }
        if ( o->what != NULL )
        {
            return lab_error_write( why, "one WHAT at a time: %s or %s", o->what, argv[i] );
        }
        o->what = argv[i];
    }
    // The last frame is the one that is counted: the first will do where nobody asks for another.
    o->frames = o->command == 'p' && o->frames == 0 ? 1 : o->frames;
    if ( !mpi_resume_check( o, why ) )
    {
        return false;
    }
    bool is_one_life = o->checkpoint != NULL || o->resume != NULL;
    o->warmup = o->warmup != UINT64_MAX ? o->warmup : is_one_life ? 0 : 1;
    o->repeat = o->repeat != UINT64_MAX ? o->repeat : is_one_life ? 1 : 3;
    if ( o->command == 'n' && o->what != NULL )
    {
        return lab_error_write( why, "net takes no WHAT, such as %s", o->what );
    }
    return o->what != NULL || o->command == 'n' ||
        lab_error_write( why, "%s needs a WHAT, such as brownian-free:32k", argv[1] );
}

// ---- devices

bool job_find_device( job_options* o, char** text, lab_error* why )
{
    *text = NULL;
    if ( strcmp( o->method, "gpu" ) != 0 && !text_starts_with( o->method, "gpu-" ) )
    {
        return o->device == NULL ||
            lab_error_write( why, "--device %s: method %s runs on none; -m gpu does", o->device, o->method );
    }
    clv_gpu_register();
    if ( o->device == NULL )
    {
        return true;
    }
    char* setting = device_setting( o->device, why );
    if ( setting == NULL )
    {
        return false;
    }
    *text = o->settings != NULL ? text_format( "%s,%s", o->settings, setting ) : text_copy( setting );
    free( setting );
    o->settings = *text;
    return true;
}

// ---- all of one mind

bool job_agree( job* j, bool ok )
{
    int mine = ok ? j->process_count : j->rank, first = 0;
    MPI_Allreduce( &mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD );
    if ( first == j->process_count )
    {
        return true;
    }
    MPI_Bcast( &j->why, (int)sizeof( j->why ), MPI_BYTE, first, MPI_COMM_WORLD );
    return false;
}

uint64_t job_sum( uint64_t value )
{
    uint64_t all = 0;
    MPI_Allreduce( &value, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD );
    return all;
}
