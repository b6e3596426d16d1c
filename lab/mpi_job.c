// SPDX-License-Identifier: MIT
#include "lab/mpi_job.h"

#include "cleave/gpu.h"
#include "cleave/method.h"
#include "lab/base/args.h"
#include "lab/frame/bake.h"
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
    { "--quiet", "bvgnp", FLAG_SWITCH, IN_OPTIONS( is_quiet ), 0, 0 },
    { "-q", "bvgnp", FLAG_SWITCH, IN_OPTIONS( is_quiet ), 0, 0 },
};

static const char* const s_commands[] = { "bench", "verify", "gen", "net", "plan" };

#define FLAG_TOTAL ( sizeof( s_flags ) / sizeof( s_flags[0] ) )
#define COMMAND_TOTAL ( sizeof( s_commands ) / sizeof( s_commands[0] ) )

// As `cleave` takes them: "--frames", "--frames=60", "-P", "-P64". *value is what is glued on, or NULL.
static const flag* find_flag( const char* word, const char** value )
{
    for ( size_t i = 0; i < FLAG_TOTAL; ++i )
    {
        const flag* f = &s_flags[i];
        size_t length = strlen( f->name );
        bool is_letter = f->name[1] != '-';
        if ( strncmp( word, f->name, length ) == 0 &&
            ( word[length] == '\0' || word[length] == '=' || is_letter ) )
        {
            *value = word[length] == '\0' ? NULL : word + length + !is_letter;
            return f;
        }
    }
    return NULL;
}

static bool fail_flag( const char* word, lab_error* why )
{
    if ( strcmp( word, "--plugin" ) == 0 || strcmp( word, "--version" ) == 0 )
    {
        return lab_error_write( why, "%s comes before the command", word );
    }
    const char* names[FLAG_TOTAL + 1] = { "--help" };
    for ( size_t i = 0; i < FLAG_TOTAL; ++i )
    {
        names[i + 1] = s_flags[i].name;
    }
    char* bare = text_copy( word );
    bare[strcspn( bare, "=" )] = '\0';
    const char* closest = text_closest( bare, names, FLAG_TOTAL + 1 );
    lab_error_write( why, "unknown flag %s; %s%s%s", bare,
        closest != NULL ? "did you mean " : "--help lists them", closest != NULL ? closest : "",
        closest != NULL ? "?" : "" );
    free( bare );
    return false;
}

static bool fail_command( const char* word, lab_error* why )
{
    const char* closest = word != NULL ? text_closest( word, s_commands, COMMAND_TOTAL ) : NULL;
    return word == NULL ? lab_error_write( why, "needs bench, verify, gen, net or plan; --help tells more" )
                        : lab_error_write( why, "unknown command '%s'; %s%s", word,
                              closest != NULL ? "did you mean " : "use bench, verify, gen, net or plan",
                              closest != NULL ? closest : "" );
}

static bool take_value( const flag* f, const char* text, job_options* o, lab_error* why )
{
    void* option = (char*)o + f->offset;
    if ( text[0] == '\0' )
    {
        return lab_error_write( why, "%s needs a value that is not empty", f->name );
    }
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

static bool take_switch( const flag* f, const char* text, job_options* o, lab_error* why )
{
    *(bool*)( (char*)o + f->offset ) = true;
    return text == NULL || lab_error_write( why, "%s takes no value, yet has '%s'", f->name, text );
}

static bool take_flag( int argc, char** argv, int* at, job_options* o, lab_error* why )
{
    const char* text = NULL;
    const flag* f = find_flag( argv[*at], &text );
    if ( f == NULL )
    {
        return fail_flag( argv[*at], why );
    }
    if ( strchr( f->commands, o->command ) == NULL )
    {
        return lab_error_write( why, "%s has no %s; %s", argv[1], f->name,
            strcmp( f->name, "-n" ) == 0 ? "a WHAT such as brownian-free:8k says how many"
                                         : "--help lists who takes it" );
    }
    if ( f->kind == FLAG_SWITCH )
    {
        return take_switch( f, text, o, why );
    }
    if ( text == NULL )
    {
        if ( *at + 1 == argc || !args_is_value( argv[*at + 1] ) )
        {
            return lab_error_write( why, "%s needs a value", f->name );
        }
        text = argv[++*at];
    }
    return take_value( f, text, o, why );
}

static bool find_command( const char* word, job_options* o )
{
    for ( size_t i = 0; i < COMMAND_TOTAL; ++i )
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
        return fail_command( argc > 1 ? argv[1] : NULL, why );
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
        lab_error_write( why, "%s needs a %s", argv[1],
            o->command == 'g' ? "SCENE, such as brownian-free" : "WHAT, such as brownian-free:32k" );
}

// ---- the method

static bool is_on_device( const char* name )
{
    return strcmp( name, "gpu" ) == 0 || text_starts_with( name, "gpu-" ) || text_starts_with( name, "gpu@" );
}

// Other people's are not here, though `cleave methods` has them too.
static bool is_ours( const char* name, lab_error* why )
{
    char* bare = text_copy( name );
    bare[strcspn( bare, "@" )] = '\0';
    bool ok = clv_method_find( bare ) != NULL ||
        lab_error_write( why, "-m: no method of our own is called '%s'; `cleave methods` lists them", bare );
    free( bare );
    return ok;
}

static bool read_wish( const job_options* o, run_wish* wish, lab_error* why )
{
    text_list_add( &wish->names, o->method );
    size_list_add( &wish->threads, o->threads );
    wish->device = o->device;
    wish->must_run = true;
    return o->settings == NULL || text_list_add_split( &wish->settings, o->settings ) ||
        lab_error_write( why, "--set '%s' has an empty item", o->settings );
}

bool job_find_method( job* j )
{
    const job_options* o = j->o;
    if ( strchr( "bv", o->command ) == NULL )
    {
        return true;
    }
    if ( strchr( o->method, ',' ) != NULL )
    {
        return lab_error_write( &j->why, "-m: '%s' is several methods; name one", o->method );
    }
    if ( is_on_device( o->method ) )
    {
        clv_gpu_register(); // which loads OpenCL, so nobody else pays for it
    }
    else if ( o->device != NULL )
    {
        return lab_error_write(
            &j->why, "--device %s: method %s runs on none; -m gpu does", o->device, o->method );
    }
    run_wish wish = { 0 };
    bool ok = is_ours( o->method, &j->why ) && read_wish( o, &wish, &j->why ) &&
        run_spec_list_make( &j->methods, &wish, false, &j->why );
    run_wish_free( &wish );
    return ok;
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
