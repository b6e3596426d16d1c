// SPDX-License-Identifier: MIT
// A text that goes to a file or to standard output. It is opened before the work: a wrong path shall not cost an hour of measuring.
#pragma once

#include "lab/base/json.h"
#include "lab/base/output_file.h"

typedef struct text_output
{
    const char* path; ///< "-" is standard output; NULL: nobody wants the text
    output_file file;
} text_output;

bool text_output_open( text_output* output, const char* path, lab_error* why );

/// The same, for JSON: refused where the program was built without.
bool text_output_open_json( text_output* output, const char* path, lab_error* why );

/// All of it; then the file is whole. `text` NULL: there was no memory for it.
bool text_output_write( text_output* output, const char* text, lab_error* why );

/// The same; the document is freed.
bool text_output_write_json( text_output* output, json_value* document, lab_error* why );

/// Does the text go to the terminal, so that nothing else should?
bool text_output_is_stdout( const text_output* output );

/// Legal at any time; what was not written whole is gone.
void text_output_close( text_output* output );
