// SPDX-License-Identifier: MIT
#include "lab/result/text_output.h"

#include <stdlib.h>
#include <string.h>

bool text_output_is_stdout( const text_output* output )
{
    return output->path != NULL && strcmp( output->path, "-" ) == 0;
}

bool text_output_open( text_output* output, const char* path, lab_error* why )
{
    *output = ( text_output ){ .path = path };
    return path == NULL || text_output_is_stdout( output ) || output_file_open( &output->file, path, why );
}

bool text_output_open_json( text_output* output, const char* path, lab_error* why )
{
    *output = ( text_output ){ .path = path };
    return path == NULL || ( json_is_here( why ) && text_output_open( output, path, why ) );
}

bool text_output_write( text_output* output, const char* text, lab_error* why )
{
    if ( text == NULL )
    {
        return lab_error_write( why, "'%s': out of memory for the text", output->path );
    }
    if ( text_output_is_stdout( output ) )
    {
        return fputs( text, stdout ) >= 0 || lab_error_write( why, "standard output cannot be written" );
    }
    return output_file_write( &output->file, text, strlen( text ), why ) &&
        output_file_commit( &output->file, why );
}

bool text_output_write_json( text_output* output, json_value* document, lab_error* why )
{
    char* text = json_text( document );
    bool good = text_output_write( output, text, why );
    free( text );
    return good;
}

void text_output_close( text_output* output )
{
    output_file_abandon( &output->file );
}
