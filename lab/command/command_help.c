// SPDX-License-Identifier: MIT
#include "cleave/base.h"
#include "lab/base/args.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/command/commands.h"
#include "lab/shell/man_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct help_flags
{
    bool man;
    const char* output; ///< folder
} help_flags;

// ---- the program

static char* program_about( void )
{
    char* text = text_copy(
        "Boxes in, every overlapping pair out: scenes, measurements and checks around the Cleave library.\n\n"
        "Commands:" );
    for ( uint32_t index = 0; command_at( index ) != NULL; ++index )
    {
        char* longer =
            text_format( "%s\n  %-12s%s", text, command_at( index )->name, command_at( index )->about );
        free( text );
        text = longer;
    }
    return text;
}

static const char* const notes =
    "Exit status:\n"
    "  0  done\n"
    "  1  a check failed or results disagree\n"
    "  2  bad usage or bad input\n"
    "  3  `run --budget`: some is left\n\n"
    "Environment:\n"
    "  CLEAVE_CACHE        folder of baked scenes (else $XDG_CACHE_HOME/cleave, else ~/.cache/cleave)\n"
    "  CLEAVE_CACHE_LIMIT  MiB that they may take\n"
    "  CLEAVE_ISA          instruction set where none is asked for\n"
    "  CLEAVE_PEERS        folder of the modules with other people's methods\n"
    "  CLEAVE_OPENCL       OpenCL library to load; none keeps it away\n"
    "  NO_COLOR            set and not empty: no colours, unless --ansi says otherwise";

// Calls `use` with the table of the program, whose texts do not outlive that.
static void with_program( args_visitor* use, void* user )
{
    char* about = program_about();
    const args_table table = {
        .usage = "[--plugin FILE]… [--ansi WHEN] COMMAND [flags]",
        .about = about,
        .notes = notes,
        .example = "  cleave bench brownian-free -n 1k,8k -m brute,sap",
        .flags = args_program_flags,
        .flag_count = args_program_flag_count,
    };
    use( &table, user );
    free( about );
}

static void print_table( const args_table* table, void* user )
{
    args_print_help( table, user );
}

void command_help_print( FILE* stream )
{
    with_program( print_table, stream );
}

// ---- man pages

typedef struct page_visit
{
    const char* name;
    const char* about;
    const text_list* see;
    FILE* stream;
} page_visit;

static void write_page( const args_table* table, void* user )
{
    const page_visit* visit = user;
    const man_page page = { visit->name, visit->about, table, visit->see };
    man_page_write( &page, clv_version_text(), visit->stream );
}

// The page of a command; NULL: of the program.
static void print_page( FILE* stream, const void* user )
{
    const command_row* wanted = user;
    text_list see = { 0 };
    text_list_add( &see, "cleave" );
    for ( uint32_t index = 0; command_at( index ) != NULL; ++index )
    {
        char* other = text_format( "cleave-%s", command_at( index )->name );
        text_list_add( &see, other );
        free( other );
    }
    text_list_add( &see, "cleave-mpi" );
    char* name = wanted != NULL ? text_format( "cleave-%s", wanted->name ) : text_copy( "cleave" );
    page_visit visit = { name, "find overlapping boxes: scenes, measurements and checks", &see, stream };
    if ( wanted != NULL )
    {
        visit.about = wanted->about;
        args_visit( wanted->run, write_page, &visit );
    }
    else
    {
        with_program( write_page, &visit );
    }
    free( name );
    text_list_free( &see );
}

static bool write_one( const char* folder, const command_row* wanted, lab_error* why )
{
    char* path = text_format(
        "%s/cleave%s%s.1", folder, wanted != NULL ? "-" : "", wanted != NULL ? wanted->name : "" );
    bool good = output_file_print( path, print_page, wanted, why );
    free( path );
    return good;
}

static lab_status write_all( const char* folder )
{
    lab_error why;
    errno = 0;
    bool good = platform_make_folder( folder ) ||
        lab_error_write( &why, "help: -o %s: cannot be made a folder: %s", folder, system_reason() );
    good = good && write_one( folder, NULL, &why );
    for ( uint32_t index = 0; good && command_at( index ) != NULL; ++index )
    {
        good = write_one( folder, command_at( index ), &why );
    }
    return good ? LAB_DONE : lab_error_print( &why );
}

// ---- the command

static lab_status help( void* data, text_list* operands )
{
    const help_flags* flags = data;
    lab_error why;
    if ( flags->output != NULL && ( !flags->man || operands->count > 0 ) )
    {
        return lab_fail( "help: -o DIR is for all man pages: cleave help --man -o DIR" );
    }
    const command_row* wanted = operands->count > 0 ? command_find( operands->items[0], &why ) : NULL;
    if ( operands->count > 0 && wanted == NULL )
    {
        return lab_error_print( &why );
    }
    if ( flags->output != NULL )
    {
        return write_all( flags->output );
    }
    if ( flags->man )
    {
        print_page( stdout, wanted );
        return LAB_DONE;
    }
    if ( wanted == NULL )
    {
        command_help_print( stdout );
        return LAB_DONE;
    }
    char word[] = "--help";
    char* words[] = { word, NULL };
    return wanted->run( 1, words );
}

lab_status command_help( int argc, char** argv )
{
    help_flags flags = { 0 };
    const args_flag list[] = {
        { "--man", 0, ARGS_SWITCH, &flags.man, NULL, "print the man page, in roff", 0, 0 },
        { "--output", 'o', ARGS_TEXT, &flags.output, "DIR",
            "with --man: write the pages of all commands there", 0, 0 },
    };
    const args_table table = {
        .command = "help",
        .usage = "[COMMAND] [--man] [-o DIR]",
        .about = "Print the help of a command, or of the program; `cleave COMMAND --help` does the same.",
        .notes = "`make install` installs the man pages: `man cleave`, `man cleave-bench`.",
        .example = "  cleave help bench\n"
                   "  cleave help bench --man | man -l -\n"
                   "  cleave help --man -o man1",
        ARGS_FLAGS( list ),
        .operand_name = "a COMMAND",
        .operand_most = 1,
    };
    return args_run( &table, argc, argv, help, &flags );
}
