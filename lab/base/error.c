// SPDX-License-Identifier: MIT
#include "lab/base/error.h"

#include "lab/base/interrupt.h"
#include "lab/base/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool lab_error_write( lab_error* why, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( why->text, sizeof( why->text ), format, arguments );
    va_end( arguments );
    why->status = LAB_BAD_INPUT;
    return false;
}

bool lab_error_disagrees( lab_error* why )
{
    *why = ( lab_error ){ .status = LAB_DISAGREES };
    return false;
}

bool lab_error_interrupted( lab_error* why )
{
    lab_error_write( why, "interrupted" );
    why->status = LAB_INTERRUPTED;
    return false;
}

// A newline in a file name must not make two lines of one, nor an escape sequence colour the terminal.
static void print_line( terminal_style style, const char* label, const char* text )
{
    char line[sizeof( ( (lab_error*)0 )->text )];
    snprintf( line, sizeof( line ), "%s", text );
    for ( char* c = line; *c != '\0'; ++c )
    {
        if ( (unsigned char)*c < 32 || *c == 127 )
        {
            *c = '?';
        }
    }
    progress_clear_line();
    terminal_print( style, stderr, "cleave: %s", label );
    fprintf( stderr, "%s\n", line );
}

lab_status lab_error_print( const lab_error* why )
{
    if ( why->text[0] != '\0' )
    {
        print_line( TERMINAL_BAD, "", why->text );
    }
    return why->status;
}

lab_status lab_fail( const char* format, ... )
{
    lab_error why = { .status = LAB_BAD_INPUT };
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( why.text, sizeof( why.text ), format, arguments );
    va_end( arguments );
    return lab_error_print( &why );
}

void lab_note( const char* format, ... )
{
    char text[sizeof( ( (lab_error*)0 )->text )];
    va_list arguments;
    va_start( arguments, format );
    vsnprintf( text, sizeof( text ), format, arguments );
    va_end( arguments );
    print_line( TERMINAL_NOTE, "note: ", text );
}

_Noreturn void lab_out_of_memory( void )
{
    print_line( TERMINAL_BAD, "", "out of memory: close other programs, or use fewer objects" );
    interrupt_remove_files();
    exit( LAB_BAD_INPUT );
}
