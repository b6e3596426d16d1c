// SPDX-License-Identifier: MIT
#include "lab/report/report_page.h"

#include "lab/base/output_file.h"

#include <string.h>

// report/build.mjs sees to it that this stands in the page once.
#define RESULTS_MARK "/*RESULTS*/"

bool report_page_write( const char* path, const char* json, lab_error* why )
{
    const char* page = (const char*)report_page_bytes;
    const char* mark = strstr( page, RESULTS_MARK );
    if ( mark == NULL )
    {
        return lab_error_write(
            why, "report: the page in this program has no place for results; build it again" );
    }
    const char* rest = mark + strlen( RESULTS_MARK );
    output_file file;
    return output_file_open( &file, path, why ) &&
        output_file_write( &file, page, (size_t)( mark - page ), why ) &&
        output_file_write( &file, json, strlen( json ), why ) &&
        output_file_write( &file, rest, report_page_bytes_size - (size_t)( rest - page ), why ) &&
        output_file_commit( &file, why );
}
