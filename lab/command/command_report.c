// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/command/commands.h"
#include "lab/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct report_flags
{
    const char* output;
    const char* svg_folder;
    const char* device; // of runs on a GPU; NULL: every one
} report_flags;

static bool make_folder( const char* folder, lab_error* why )
{
    errno = 0;
    return platform_make_folder( folder ) ||
        lab_error_write(
            why, "%s: cannot be made a folder: %s; name another for --svg", folder, system_reason() );
}

static bool write_plots( const report_flags* flags, const char* page_path, lab_error* why )
{
    if ( flags->svg_folder == NULL )
    {
        return true;
    }
    // What the child prints must not come before what stands in our buffer.
    fflush( stdout );
    return svg_export( page_path, flags->svg_folder, why );
}

// The page does not say where files are.
static void tell_names( const text_list* paths )
{
    for ( uint32_t index = 0; index < paths->count; ++index )
    {
        char* name = report_data_file_name( paths, index );
        if ( !text_ends_with( paths->items[index], name ) )
        {
            lab_note( "%s is called %s on the page", paths->items[index], name );
        }
        free( name );
    }
}

static bool make_report( const report_flags* flags, const text_list* paths, lab_error* why )
{
    report_data data;
    if ( !report_data_read( &data, paths, flags->device, why ) )
    {
        return false;
    }
    // The script that draws the plots is in the page, so there is one even if only plots are wanted.
    char* page_path = flags->output != NULL ? text_copy( flags->output )
                                            : text_format( "%s/report.html", flags->svg_folder );
    bool good = ( flags->svg_folder == NULL || make_folder( flags->svg_folder, why ) ) &&
        report_page_write( page_path, data.json, why );
    if ( good )
    {
        printf( "%s: %" PRIu32 " run%s of %" PRIu32 " file%s\n", page_path, data.run_count,
            data.run_count == 1 ? "" : "s", paths->count, paths->count == 1 ? "" : "s" );
        tell_names( paths );
        good = write_plots( flags, page_path, why );
    }
    free( page_path );
    report_data_free( &data );
    return good;
}

static lab_status report( void* data, text_list* paths )
{
    const report_flags* flags = data;
    lab_error why;
    if ( flags->output == NULL && flags->svg_folder == NULL )
    {
        return lab_fail( "report: where to? name a page with -o report.html, or a folder with --svg plots" );
    }
    return make_report( flags, paths, &why ) ? LAB_DONE : lab_error_print( &why );
}

lab_status command_report( int argc, char** argv )
{
    report_flags flags = { 0 };
    const args_flag list[] = {
        { "--output", 'o', ARGS_TEXT, &flags.output, "FILE", "the page to write", 0, 0 },
        { "--svg", 0, ARGS_TEXT, &flags.svg_folder, "DIR",
            "write every plot as an SVG file too (needs node); without -o the page is DIR/report.html", 0,
            0 },
        { "--device", 0, ARGS_TEXT, &flags.device, "NAME",
            "of runs on a GPU only those on a device with NAME in its name (default all)", 0, 0 },
    };
    const args_table table = {
        .command = "report",
        .usage = "RESULTS.json… -o FILE.html [--svg DIR] [--device NAME]",
        .about =
            "Make one page of results: sortable tables, time against size, all scenes at once, the spread over\n"
            "frames and the course of a run, stages, memory, parameters, whether hashes agree, failures, machine.\n"
            "The page needs nothing but itself: it opens from disk, without a network. Several files are merged.",
        .notes =
            "RESULTS are files that `cleave bench --json`, `cleave run --json` and `cleave-mpi bench --json` write.",
        .example = "  cleave bench brownian-free -n 1k,4k,16k -m cleave,kd,sap --json results.json\n"
                   "  cleave report results.json -o report.html",
        ARGS_FLAGS( list ),
        .operand_name = "a RESULTS.json",
        .operand_least = 1,
        .operand_most = UINT32_MAX,
    };
    return args_run( &table, argc, argv, report, &flags );
}
