// SPDX-License-Identifier: MIT
// The program `cleave-mpi`, started by mpirun: scenes on many processes.
#include "cleave/methods.h"
#include "lab/base/args.h"
#include "lab/base/interrupt.h"
#include "lab/base/output_file.h"
#include "lab/base/terminal.h"
#include "lab/measure/plugin.h"
#include "lab/mpi_job.h"
#include "lab/shell/man_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static lab_status write_man( const char* folder )
{
    lab_error why;
    output_file file = { 0 };
    char* path = text_format( "%s/cleave-mpi.1", folder != NULL ? folder : "" );
    bool good = folder == NULL || output_file_open( &file, path, &why );
    if ( good )
    {
        job_help( print_man, folder != NULL ? file.stream : stdout );
        good = folder != NULL
            ? output_file_commit( &file, &why )
            : fflush( stdout ) == 0 || lab_error_write( &why, "standard output: cannot be written" );
    }
    output_file_abandon( &file );
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
    j.share = o.is_alone ? 0 : rank;
    j.share_count = o.is_alone ? 1 : process_count;
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
