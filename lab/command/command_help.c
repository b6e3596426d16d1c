// SPDX-License-Identifier: MIT
// The table of commands, and what tells of them: help, man pages, completion.
#include "cleave/base.h"
#include "lab/base/args.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/command/commands.h"
#include "lab/measure/run_spec.h"
#include "lab/run/schedule.h"
#include "lab/scene/generator.h"
#include "lab/shell/completion.h"
#include "lab/shell/man_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- the table

#define ROW( name, about ) { #name, about, command_##name },
static const command_row commands[] = { COMMANDS( ROW ) };

const command_row* command_at( uint32_t index )
{
    bool is_there = index < sizeof( commands ) / sizeof( commands[0] ) && commands[index].about != NULL;
    return is_there ? &commands[index] : NULL;
}

const command_row* command_find( const char* name, lab_error* why )
{
    text_guess guess = text_guess_begin( name );
    for ( size_t index = 0; index < sizeof( commands ) / sizeof( commands[0] ); ++index )
    {
        if ( strcmp( name, commands[index].name ) == 0 )
        {
            return &commands[index];
        }
        text_guess_try( &guess, commands[index].about != NULL ? commands[index].name : "" );
    }
    for ( uint32_t index = 0; index < args_program_flag_count; ++index )
    {
        text_guess_try( &guess, args_program_flags[index].name );
    }
    lab_error_write( why, "unknown %s '%.100s'; %s`cleave --help` lists the commands",
        name[0] == '-' ? "flag" : "command", name, text_guess_say( &guess ) );
    return NULL;
}

// ---- help

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

static bool write_all( const char* folder, lab_error* why )
{
    errno = 0;
    bool good = platform_make_folder( folder ) ||
        lab_error_write( why, "help: -o %s: cannot be made a folder: %s", folder, system_reason() );
    good = good && write_one( folder, NULL, why );
    for ( uint32_t index = 0; good && command_at( index ) != NULL; ++index )
    {
        good = write_one( folder, command_at( index ), why );
    }
    return good;
}

// ---- the command

static bool help( void* data, text_list* operands, lab_error* why )
{
    const help_flags* flags = data;
    if ( flags->output != NULL && ( !flags->man || operands->count > 0 ) )
    {
        return lab_error_write( why, "help: -o DIR is for all man pages: cleave help --man -o DIR" );
    }
    const command_row* wanted = operands->count > 0 ? command_find( operands->items[0], why ) : NULL;
    if ( operands->count > 0 && wanted == NULL )
    {
        return false;
    }
    if ( flags->output != NULL )
    {
        return write_all( flags->output, why );
    }
    if ( flags->man )
    {
        print_page( stdout, wanted );
    }
    else if ( wanted == NULL )
    {
        command_help_print( stdout );
    }
    else
    {
        args_visit( wanted->run, print_table, stdout );
    }
    return true;
}

lab_status command_help( int argc, char** argv )
{
    help_flags flags = { 0 };
    const args_flag list[] = {
        ARGS_ROW_SWITCH( "--man", &flags.man, "print the man page, in roff" ),
        ARGS_ROW_OUTPUT( &flags.output, "DIR", "with --man: write the pages of all commands there" ),
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

// ---- completion

typedef struct completion_flags
{
    const char* output;
} completion_flags;

enum
{
    SHELL_BASH,
    SHELL_ZSH,
    SHELL_FISH,
};

static const choice shells[] = { { "bash", SHELL_BASH }, { "zsh", SHELL_ZSH }, { "fish", SHELL_FISH },
    { NULL, 0 } };

// ---- words

static void add_params( text_list* words )
{
    for ( uint32_t index = 0; index < clv_method_count(); ++index )
    {
        const clv_method* row = clv_method_at( index );
        for ( uint32_t param = 0; param < row->param_count; ++param )
        {
            char* name = text_format( "%s=", row->params[param].name );
            if ( !text_list_has( words, name ) )
            {
                text_list_add( words, name );
            }
            free( name );
        }
    }
}

static const char* method_name( uint32_t index )
{
    return index < clv_method_count() ? clv_method_at( index )->name : NULL;
}

static const char* command_name( uint32_t index )
{
    return command_at( index ) != NULL ? command_at( index )->name : NULL;
}

// What values of a name are taken from: the tables that the program itself looks them up in.
static bool find_words( const char* value, text_list* words )
{
    static const struct
    {
        const char* value;
        const char* ( *name_at )( uint32_t index ); ///< NULL beyond the last
    } tables[] = { { "METHOD", method_name }, { "I", run_isa_name }, { "WHAT", generator_name },
        { "SCENE", generator_name }, { "SCHEDULE", schedule_carried_name }, { "COMMAND", command_name } };
    if ( text_starts_with( value, "P=" ) )
    {
        add_params( words );
    }
    for ( size_t table = 0; table < sizeof( tables ) / sizeof( tables[0] ); ++table )
    {
        bool is_it = strcmp( value, tables[table].value ) == 0;
        for ( uint32_t index = 0; is_it && tables[table].name_at( index ) != NULL; ++index )
        {
            text_list_add( words, tables[table].name_at( index ) );
        }
    }
    return words->count > 0;
}

// ---- the model

typedef struct table_visit
{
    completion_model* model;
    const command_row* row;
} table_visit;

static void add_command( const args_table* table, void* user )
{
    const table_visit* visit = user;
    completion_add( visit->model, visit->row->name, visit->row->about, table, find_words );
}

static void fill_model( completion_model* model )
{
    const args_table program = { .flags = args_program_flags, .flag_count = args_program_flag_count };
    completion_add( model, "", "", &program, find_words );
    for ( uint32_t index = 0; command_at( index ) != NULL; ++index )
    {
        table_visit visit = { model, command_at( index ) };
        args_visit( visit.row->run, add_command, &visit );
    }
}

// ----

static void write_script( FILE* stream, const void* user )
{
    completion_model model = { 0 };
    fill_model( &model );
    switch ( choice_value( shells, user ) )
    {
    case SHELL_BASH: completion_bash( &model, stream ); break;
    case SHELL_ZSH: completion_zsh( &model, stream ); break;
    default: completion_fish( &model, stream ); break;
    }
    completion_free( &model );
}

static bool print( void* data, text_list* operands, lab_error* why )
{
    const completion_flags* flags = data;
    return output_file_print( flags->output, write_script, operands->items[0], why );
}

lab_status command_completion( int argc, char** argv )
{
    completion_flags flags = { 0 };
    const args_flag list[] = {
        ARGS_ROW_OUTPUT( &flags.output, "FILE", "write it to FILE (default standard output)" ),
    };
    const args_table table = {
        .command = "completion",
        .usage = "bash|zsh|fish [-o FILE]",
        .about =
            "Print the script that makes a shell complete commands, flags, and names of methods, parameters, scenes,\n"
            "schedules and instruction sets. `make install` puts all three where the shells look for them.",
        .notes = "Without an installation, in ~/.bashrc:  source <(cleave completion bash)\n"
                 "in a folder of zsh's $fpath, as _cleave; in ~/.config/fish/completions, as cleave.fish.",
        .example = "  cleave completion bash > ~/.local/share/bash-completion/completions/cleave\n"
                   "  cleave completion zsh -o _cleave",
        ARGS_FLAGS( list ),
        .operand_name = "a SHELL",
        .operand_choices = shells,
        .operand_least = 1,
        .operand_most = 1,
    };
    return args_run( &table, argc, argv, print, &flags );
}
