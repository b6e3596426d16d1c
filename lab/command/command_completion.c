// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/base/output_file.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/measure/run_spec.h"
#include "lab/run/schedule.h"
#include "lab/scene/generator.h"
#include "lab/shell/completion.h"

#include <stdlib.h>
#include <string.h>

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

// What values of a name are taken from: the tables that the program itself looks them up in.
static bool find_words( const char* value, text_list* words )
{
    if ( strcmp( value, "METHOD" ) == 0 )
    {
        for ( uint32_t index = 0; index < clv_method_count(); ++index )
        {
            text_list_add( words, clv_method_at( index )->name );
        }
    }
    else if ( strcmp( value, "I" ) == 0 )
    {
        for ( uint32_t index = 0; run_isa_name( index ) != NULL; ++index )
        {
            text_list_add( words, run_isa_name( index ) );
        }
    }
    else if ( text_starts_with( value, "P=" ) )
    {
        add_params( words );
    }
    else if ( strcmp( value, "WHAT" ) == 0 || strcmp( value, "SCENE" ) == 0 )
    {
        for ( uint32_t index = 0; index < generator_count(); ++index )
        {
            text_list_add( words, generator_at( index )->name );
        }
    }
    else if ( strcmp( value, "SCHEDULE" ) == 0 )
    {
        for ( uint32_t index = 0; schedule_carried_name( index ) != NULL; ++index )
        {
            text_list_add( words, schedule_carried_name( index ) );
        }
    }
    else if ( strcmp( value, "COMMAND" ) == 0 )
    {
        for ( uint32_t index = 0; command_at( index ) != NULL; ++index )
        {
            text_list_add( words, command_at( index )->name );
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
    const args_words words[] = { { "--ansi", terminal_wishes }, { NULL, NULL } };
    const args_table program = {
        .flags = args_program_flags, .flag_count = args_program_flag_count, .words = words
    };
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

static lab_status print( void* data, text_list* operands )
{
    const completion_flags* flags = data;
    lab_error why;
    return output_file_print( flags->output, write_script, operands->items[0], &why )
        ? LAB_DONE
        : lab_error_print( &why );
}

lab_status command_completion( int argc, char** argv )
{
    completion_flags flags = { 0 };
    const args_flag list[] = {
        { "--output", 'o', ARGS_TEXT, &flags.output, "FILE", "write it to FILE (default standard output)", 0,
            0 },
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
