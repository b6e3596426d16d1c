// SPDX-License-Identifier: MIT
// The program `cleave-mpi`, started by mpirun: scenes on many processes. Its command line, and how its
// processes agree.
#include "lab/mpi/mpi_job.h"

#include "cleave/gpu.h"
#include "cleave/method.h"
#include "cleave/methods.h"
#include "lab/base/args.h"
#include "lab/base/interrupt.h"
#include "lab/base/output_file.h"
#include "lab/base/terminal.h"
#include "lab/frame/bake.h"
#include "lab/measure/plugin.h"
#include "lab/shell/man_page.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the command line

typedef struct flag
{
    const char* name;
    char letter;
    const char* commands; ///< letters of those that take it
    args_kind kind;
    size_t offset; ///< of the option
    uint64_t least, most;
    const char* value_name; ///< NULL: a switch
    const char* help;
} flag;

#define IN_OPTIONS( member ) offsetof( job_options, member )

static const flag s_flags[] = {
    { "--frames", 0, "bvgp", ARGS_COUNT, IN_OPTIONS( frames ), 1, BAKE_FRAMES_MOST, "F",
        "frames after the initial one (default: all, at most 60; plan: 1, and the last is counted)" },
    { "--seed", 0, "bvgp", ARGS_COUNT, IN_OPTIONS( seed ), 0, UINT64_MAX - 1, "S",
        "seed of the scene (default 1)" },
    { "--threads", 0, "bvgp", ARGS_COUNT, IN_OPTIONS( threads ), 1, CLV_MAX_WORKERS, "T",
        "threads of each process (default 1)" },
    { "--json", 0, "bnp", ARGS_TEXT, IN_OPTIONS( json ), 0, 0, "OUT",
        "write the result as JSON; - is standard output" },
    { "--quiet", 'q', "bvgnp", ARGS_SWITCH, IN_OPTIONS( is_quiet ), 0, 0, NULL, "no progress" },
    { "-m", 0, "bv", ARGS_TEXT, IN_OPTIONS( method ), 0, 0, "METHOD",
        "of the space in each process: cleave (default), sap@avx2, any of our own; --plugin FILE, before the "
        "command, loads more" },
    { "--set", 0, "bv", ARGS_TEXT, IN_OPTIONS( settings ), 0, 0, "P=V,\xE2\x80\xA6",
        "parameters of that method" },
    { "--device", 0, "bv", ARGS_TEXT, IN_OPTIONS( device ), 0, 0, "NAME|N",
        "device of a method on a GPU, such as -m gpu (default the fastest of each process's machine)" },
    { "--cutter", 0, "bv", ARGS_TEXT, IN_OPTIONS( cutter_word ), 0, 0, "C",
        "what cuts space: zoltan (default where it was built in) or bisection, our own" },
    { "--borrowed", 0, "bv", ARGS_SWITCH, IN_OPTIONS( is_borrowed ), 0, 0, NULL,
        "objects stay where they were added; only ghosts travel" },
    { "--by-time", 0, "bv", ARGS_SWITCH, IN_OPTIONS( by_time ), 0, 0, NULL,
        "balance by measured time, not by counters" },
    { "--record", 0, "v", ARGS_TEXT, IN_OPTIONS( record ), 0, 0, "FILE",
        "where pairs differ, write the calls up to there on one space as a recording for `cleave replay`" },
    { "--warmup", 0, "b", ARGS_COUNT, IN_OPTIONS( warmup ), 0, 1000, "W", "untimed passes (default 1)" },
    { "--repeat", 0, "bn", ARGS_COUNT, IN_OPTIONS( repeat ), 1, 1000, "R",
        "timed passes, each from a fresh space (default 3)" },
    { "--scattered", 0, "b", ARGS_SWITCH, IN_OPTIONS( is_scattered ), 0, 0, NULL,
        "begin with objects shared out by number; else each begins where it lies" },
    { "--alone", 0, "b", ARGS_SWITCH, IN_OPTIONS( is_alone ), 0, 0, NULL,
        "every process a world of its own at the same time: what the machine gives without any exchange" },
    { "--checkpoint", 0, "b", ARGS_TEXT, IN_OPTIONS( checkpoint ), 0, 0, "PATH",
        "one pass, saved to PATH.manifest and parts beside it, with PATH.bench, every N frames and at the end" },
    { "--every", 0, "b", ARGS_COUNT, IN_OPTIONS( every ), 1, BAKE_FRAMES_MOST, "N",
        "frames between checkpoints (default 10)" },
    { "--resume", 0, "b", ARGS_TEXT, IN_OPTIONS( resume ), 0, 0, "PATH",
        "go on from a checkpoint of the same WHAT, on any number of processes: one pass, and the hash of a run in "
        "one go" },
    { "-n", 0, "g", ARGS_COUNT, IN_OPTIONS( bodies ), 1, GENERATOR_BODIES_MOST, "N", "bodies (default 8k)" },
    { "--type", 0, "g", ARGS_TEXT, IN_OPTIONS( type ), 0, 0, "TYPE", "cubes or assorted (default cubes)" },
    { "--from", 0, "g", ARGS_COUNT, IN_OPTIONS( from ), 0, BAKE_FRAMES_MOST, "F0",
        "frame of the run to begin with (default 0)" },
    { "--split", 0, "g", ARGS_SWITCH, IN_OPTIONS( splits ), 0, 0, NULL, "cut each body in 8: objects = 8 N" },
    { "-o", 0, "g", ARGS_TEXT, IN_OPTIONS( output ), 0, 0, "FILE", "the .aabbs file to write" },
    { "-P", 0, "p", ARGS_COUNT, IN_OPTIONS( processes ), 1, 65536, "N", "processes to plan for" },
    { "--sample", 0, "p", ARGS_COUNT, IN_OPTIONS( sample ), 1, GENERATOR_BODIES_MOST, "S",
        "of a contact-free scene, only S bodies are made, and each stands for as many as it takes" },
};

static const choice s_commands[] = { { "bench", 'b' }, { "verify", 'v' }, { "gen", 'g' }, { "net", 'n' },
    { "plan", 'p' }, { NULL, 0 } };
static const choice s_cutters[] = { { "zoltan", CLV_MPI_CUT_ZOLTAN }, { "bisection", CLV_MPI_CUT_BISECTION },
    { NULL, 0 } };

#define FLAG_TOTAL ( sizeof( s_flags ) / sizeof( s_flags[0] ) )

// ---- help

// "bench, verify: " of a flag that not all commands take.
static char* told_by( const flag* f )
{
    char* text = text_copy( "" );
    bool is_for_all = true;
    for ( const choice* c = s_commands; c->word != NULL; ++c )
    {
        bool takes = strchr( f->commands, c->value ) != NULL;
        is_for_all = is_for_all && ( takes || c->value == 'n' ); // net has little to ask for
        if ( takes )
        {
            char* longer = text_format( "%s%s%s", text, text[0] != '\0' ? ", " : "", c->word );
            free( text );
            text = longer;
        }
    }
    char* told = text_format( "%s%s%s", is_for_all ? "" : text, is_for_all ? "" : ": ", f->help );
    free( text );
    return told;
}

// As args reads them into `o`; NULL: for the help alone, which tells the defaults by itself.
static void make_flags( job_options* o, args_flag list[FLAG_TOTAL] )
{
    static bool unread;
    static const char* unread_text;
    for ( size_t i = 0; i < FLAG_TOTAL; ++i )
    {
        const flag* f = &s_flags[i];
        void* nowhere = f->kind == ARGS_SWITCH ? (void*)&unread : (void*)&unread_text;
        args_kind kind = o != NULL || f->kind == ARGS_SWITCH ? f->kind : ARGS_TEXT;
        list[i] = ( args_flag ){ f->name, f->letter, kind, o != NULL ? (char*)o + f->offset : nowhere,
            f->value_name, f->help, f->least, f->most,
            f->offset == IN_OPTIONS( cutter_word ) ? s_cutters : NULL };
    }
}

#define PROGRAM "mpirun -n P cleave-mpi"

// Calls `use` with what --help prints; the texts do not outlive that.
static void job_help( args_visitor* use, void* user )
{
    args_flag list[FLAG_TOTAL];
    make_flags( NULL, list );
    for ( size_t i = 0; i < FLAG_TOTAL; ++i )
    {
        list[i].help = told_by( &s_flags[i] );
    }
    const args_table table = {
        .program = PROGRAM,
        .usage = "[--plugin FILE]\xE2\x80\xA6 [--ansi WHEN] COMMAND [WHAT] [flags]",
        .about =
            "Scenes on many processes, with one answer. More processes than cores: mpirun --oversubscribe -n P.\n\n"
            "Commands:\n"
            "  bench WHAT      time frames on P processes; the slowest counts\n"
            "  verify WHAT     compare them, frame by frame, with one process\n"
            "  gen SCENE -o F  bake a contact-free scene, each process its part of the file\n"
            "  net             what messages between processes cost\n"
            "  plan WHAT -P N  cut WHAT for N processes and count what they would send, without running them",
        .notes =
            "WHAT is a .aabbs file or a scene such as brownian-free:8m, as `cleave bench` takes it. Of a file every process\n"
            "reads its range, of a contact-free scene it makes its part; other scenes process 0 bakes and deals out.\n"
            "A frame is timed from handing over the boxes to the list. Exit 1 where verify finds a difference, 2 for bad\n"
            "input. --help prints this, --version the version, `help --man` the man page.",
        .example = "  mpirun -n 4 cleave-mpi verify brownian-free:8k --frames 10\n"
                   "  mpirun -n 4 cleave-mpi bench brownian-free:1m --frames 10 --json many.json\n"
                   "  mpirun -n 2 cleave-mpi gen brownian-free -n 1m --frames 10 -o free.aabbs\n"
                   "  mpirun -n 2 cleave-mpi net\n"
                   "  cleave-mpi plan brownian-free:1000m --sample 100k -P 4096",
        ARGS_FLAGS( list ),
    };
    use( &table, user );
    for ( size_t i = 0; i < FLAG_TOTAL; ++i )
    {
        free( (char*)list[i].help );
    }
}

// ---- words

static bool fail_command( const char* word, lab_error* why )
{
    return word == NULL ? lab_error_write( why, "needs bench, verify, gen, net or plan; --help tells more" )
                        : lab_error_write( why, "unknown command '%.100s'; %s", word,
                              choice_advice( s_commands, word ).text );
}

static bool find_command( const char* word, job_options* o )
{
    int letter = 0;
    bool found = word != NULL && choice_find( s_commands, word, &letter );
    o->command = (char)letter;
    return found;
}

// Flags that another command takes.
static bool check_given( const bool* given, const job_options* o, const char* command, lab_error* why )
{
    for ( size_t i = 0; i < FLAG_TOTAL; ++i )
    {
        const flag* f = &s_flags[i];
        if ( given[i] && strchr( f->commands, o->command ) == NULL )
        {
            return lab_error_write( why, "%s has no %s; %s", command, f->name,
                strcmp( f->name, "-n" ) == 0 ? "a WHAT such as brownian-free:8k says how many"
                                             : "--help lists the commands that take it" );
        }
    }
    return true;
}

// False names what is wrong with the words behind the program's name.
static bool job_parse( int argc, char** argv, job_options* o, lab_error* why )
{
    *o = ( job_options ){ .method = "cleave",
        .type = "cubes",
        .threads = 1,
        .warmup = UINT64_MAX,
        .repeat = UINT64_MAX,
        .seed = 1 };
    if ( !find_command( argc > 1 ? argv[1] : NULL, o ) )
    {
        return fail_command( argc > 1 ? argv[1] : NULL, why );
    }
    args_flag list[FLAG_TOTAL];
    bool given[FLAG_TOTAL] = { false };
    const args_table table = { .program = PROGRAM,
        .command = argv[1],
        .usage = "[WHAT] [flags]",
        ARGS_FLAGS( list ),
        .given = given,
        .operand_most = 1 };
    make_flags( o, list );
    if ( !args_read( &table, argc - 2, argv + 2, &o->operands, why ) ||
        !check_given( given, o, argv[1], why ) )
    {
        return false;
    }
    o->cutter =
        o->cutter_word != NULL ? (clv_mpi_cutter)choice_value( s_cutters, o->cutter_word ) : CLV_MPI_CUT_AUTO;
    o->what = o->operands.count > 0 ? o->operands.items[0] : NULL;
    // The last frame is the one that is counted: the first is enough where no other is asked for.
    o->frames = o->command == 'p' && o->frames == 0 ? 1 : o->frames;
    if ( !job_check_resume( o, why ) )
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
    text_guess guess = run_method_guess( bare );
    bool ok = clv_method_find( bare ) != NULL ||
        lab_error_write( why, "-m: no method of our own is called '%s'; %s`cleave methods` lists them", bare,
            text_guess_say( &guess ) );
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

// For bench and verify: the method, its settings, threads and device, as `cleave bench` reads them. The
// caller frees j->methods. False names what is wrong.
static bool job_find_method( job* j )
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
        clv_gpu_register(); // which loads OpenCL, so only for methods that need it
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

// ---- agreement

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

// ---- the program

static void print_help( const args_table* table, void* user )
{
    args_print_help( table, user );
}

// `help --man [-o DIR]`, before MPI is begun: a build makes the page, where no process may be started.
static bool asks_for_man( int argc, char** argv )
{
    bool has_folder = argc == 5 && strcmp( argv[3], "-o" ) == 0;
    return ( argc == 3 || has_folder ) && strcmp( argv[1], "help" ) == 0 && strcmp( argv[2], "--man" ) == 0;
}

static void print_man( const args_table* table, void* user )
{
    text_list see = { 0 };
    text_list_add( &see, "cleave" );
    text_list_add( &see, "mpirun" );
    const man_page page = { "cleave-mpi", "scenes on many processes, with one answer", table, &see };
    man_page_write( &page, clv_version_text(), user );
    text_list_free( &see );
}

static void write_page( FILE* stream, const void* user )
{
    (void)user;
    job_help( print_man, stream );
}

static lab_status write_man( const char* folder )
{
    lab_error why;
    char* path = folder != NULL ? text_format( "%s/cleave-mpi.1", folder ) : NULL;
    bool good = output_file_print( path, write_page, NULL, &why );
    free( path );
    return good ? LAB_DONE : lab_error_print( &why );
}

static lab_status run( int argc, char** argv, int rank, int process_count )
{
    job_options o = { 0 };
    job j = { .o = &o, .rank = rank, .process_count = process_count };
    j.why.status = LAB_BAD_INPUT;
    // Words are alike on all processes, but files need not be.
    bool ok = job_agree( &j, terminal_load_words( &argc, &argv, &j.why ) ) &&
        job_agree( &j, plugin_load_words( &argc, &argv, &j.why ) ) && job_parse( argc, argv, &o, &j.why ) &&
        job_agree( &j, job_find_method( &j ) );
    progress_set_quiet( o.is_quiet || rank != 0 );
    j.comm = o.is_alone ? MPI_COMM_SELF : MPI_COMM_WORLD;
    j.world_rank = o.is_alone ? 0 : rank;
    j.world_size = o.is_alone ? 1 : process_count;
    ok = ok &&
        ( o.command == 'b'         ? job_bench( &j )
                : o.command == 'v' ? job_verify( &j )
                : o.command == 'g' ? job_gen( &j )
                : o.command == 'n' ? job_net( &j )
                                   : job_plan( &j ) );
    if ( !ok && rank == 0 )
    {
        progress_clear_line();
        terminal_print( TERMINAL_BAD, stderr, "cleave-mpi: " );
        fprintf( stderr, "%s\n", j.why.text );
    }
    run_spec_list_free( &j.methods );
    text_list_free( &o.operands );
    return ok ? LAB_DONE : j.why.status;
}

static bool asks_for_help( int argc, char** argv )
{
    bool asks = argc > 1 && strcmp( argv[1], "help" ) == 0;
    for ( int i = 1; i < argc; ++i )
    {
        asks = asks || args_is_help( argv[i] );
    }
    return asks;
}

// A process that ends early, without memory, ends the others too: they would wait for it.
static void end_all( void )
{
    int is_begun = 0, is_ended = 0;
    MPI_Initialized( &is_begun );
    MPI_Finalized( &is_ended );
    if ( is_begun && !is_ended )
    {
        MPI_Abort( MPI_COMM_WORLD, LAB_BAD_INPUT );
    }
}

int main( int argc, char** argv )
{
    int given = 0, rank = 0, process_count = 0;
    if ( asks_for_man( argc, argv ) )
    {
        return (int)write_man( argc == 5 ? argv[4] : NULL );
    }
    MPI_Init_thread( &argc, &argv, MPI_THREAD_FUNNELED, &given );
    MPI_Comm_rank( MPI_COMM_WORLD, &rank );
    MPI_Comm_size( MPI_COMM_WORLD, &process_count );
    atexit( end_all );
    interrupt_install();
    clv_methods_register();
    lab_status status = LAB_DONE;
    if ( asks_for_help( argc, argv ) )
    {
        if ( rank == 0 )
        {
            job_help( print_help, stdout );
        }
    }
    else if ( argc > 1 && ( strcmp( argv[1], "--version" ) == 0 || strcmp( argv[1], "-V" ) == 0 ) )
    {
        printf( "%s%s%s", rank == 0 ? "cleave-mpi " : "", rank == 0 ? clv_version_text() : "",
            rank == 0 ? "\n" : "" );
    }
    else
    {
        status = run( argc, argv, rank, process_count );
    }
    // A full disk behind `cleave-mpi … > file` must not look like success.
    if ( fflush( stdout ) != 0 || ferror( stdout ) )
    {
        fputs( "cleave-mpi: standard output: cannot be written\n", stderr );
        status = status != LAB_DONE ? status : LAB_BAD_INPUT;
    }
    MPI_Finalize();
    return (int)status;
}
