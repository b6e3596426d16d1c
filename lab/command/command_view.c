// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/base/loopback.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/view/view_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_PORT "none" // --serve was not given
#define ANY_PORT "any" // it was, without a number

typedef struct view_flags
{
    view_page_def page;
    const char* output;
    const char* serve;
    bool no_pairs, no_times, quiet;
} view_flags;

// `--serve` may stand alone: then the word "any" is put behind it. `words` has room for as many again.
static int complete_serve( int argc, char** argv, char** words )
{
    static char any[] = ANY_PORT;
    int count = 0;
    for ( int i = 0; i < argc; ++i )
    {
        words[count++] = argv[i];
        bool has_number = i + 1 < argc && argv[i + 1][0] >= '0' && argv[i + 1][0] <= '9' &&
            strspn( argv[i + 1], "0123456789" ) == strlen( argv[i + 1] );
        if ( strcmp( argv[i], "--serve" ) == 0 && !has_number )
        {
            words[count++] = any;
        }
    }
    return count;
}

static bool check_words( const view_flags* flags, uint16_t* port, lab_error* why )
{
    bool serves = strcmp( flags->serve, NO_PORT ) != 0;
    if ( flags->output == NULL && !serves )
    {
        return lab_error_write( why, "view: needs -o FILE.html, the page to write, or --serve" );
    }
    if ( flags->output != NULL && serves && platform_look( flags->output ).kind == PLATFORM_OTHER )
    {
        return lab_error_write( why,
            "view: -o %s is a pipe or a device, which --serve cannot read again; name a file, or leave -o out",
            flags->output );
    }
    *port = 0;
    if ( serves && strcmp( flags->serve, ANY_PORT ) != 0 )
    {
        uint64_t number = 0;
        if ( !text_parse_size( flags->serve, &number ) || number < 1 || number > 65535 )
        {
            return lab_error_write( why,
                "view: --serve: '%s' is no port; use 1 to 65535, or no number for any that is free",
                flags->serve );
        }
        *port = (uint16_t)number;
    }
    return true;
}

// Without -o the page lies in a file without a name while it is served.
static bool open_page( const view_flags* flags, output_file* file, lab_error* why )
{
    return flags->output != NULL ? output_file_open( file, flags->output, why )
                                 : output_file_open_private( file, why );
}

static bool write_page( const view_flags* flags, output_file* file, lab_error* why )
{
    view_page_summary summary;
    if ( !open_page( flags, file, why ) || !view_page_write( file, &flags->page, &summary, why ) )
    {
        return false;
    }
    printf( "%s%s%s %s, %s objects, %" PRIu32 " frames, %s\n", flags->output != NULL ? flags->output : "",
        flags->output != NULL ? ": " : "", summary.name, summary.type, text_size( summary.object_count ).text,
        summary.frame_count, text_bytes( summary.page_bytes ).text );
    return true;
}

// A page that was committed under its name is read from there.
static bool serve( loopback* server, const view_flags* flags, FILE* page, lab_error* why )
{
    FILE* kept = flags->output != NULL ? platform_open( flags->output ) : NULL;
    if ( flags->output != NULL && kept == NULL )
    {
        return lab_error_write( why, "%s: cannot be read again to be served", flags->output );
    }
    printf( "http://127.0.0.1:%u/ for browsers on this machine; Ctrl-C ends it\n", (unsigned)server->port );
    fflush( stdout );
    bool good = loopback_serve( server, kept != NULL ? kept : page, 0, why );
    if ( kept != NULL )
    {
        fclose( kept );
    }
    return good;
}

static bool view( void* user, text_list* operands, lab_error* why )
{
    view_flags* flags = user;
    uint16_t port = 0;
    progress_set_quiet( flags->quiet );
    if ( !check_words( flags, &port, why ) )
    {
        return false;
    }
    flags->page.input.what = operands->items[0];
    flags->page.has_pairs = !flags->no_pairs;
    flags->page.has_times = !flags->no_times;
    bool serves = strcmp( flags->serve, NO_PORT ) != 0;
    output_file page = { 0 };
    loopback server = { 0 };
    // A port that is taken is said before the work.
    bool good = ( !serves || loopback_open( &server, port, why ) ) && write_page( flags, &page, why ) &&
        ( !serves || serve( &server, flags, page.stream, why ) );
    output_file_abandon( &page );
    loopback_close( &server );
    return good;
}

lab_status command_view( int argc, char** argv )
{
    view_flags flags = { .page = { .tree_method = "kd" }, .serve = NO_PORT };
    const args_flag list[] = {
        ARGS_ROW_OUTPUT( &flags.output, "FILE", "the page to write" ),
        ARGS_ROW_TEXT(
            "--frames", &flags.page.input.frames, "A:B", "these alone (default all); 0 is the initial one" ),
        ARGS_ROW_TEXT( "--serve", &flags.serve, "[PORT]",
            "serve the page on 127.0.0.1 until Ctrl-C; without -o it is not kept" ),
        ARGS_ROW_SWITCH( "--bodies", &flags.page.input.wants_bodies,
            "run the scene to know how its bodies are turned; .posrot files tell" ),
        ARGS_ROW_TEXT( "--tree", &flags.page.tree_method, "METHOD",
            "whose tree is shown: kd, kd-paper, one of their kin, or ray-kd" ),
        ARGS_ROW_SETTINGS( &flags.page.tree_settings, "its parameters, such as kd.leaf=64" ),
        ARGS_ROW_SWITCH( "--no-pairs", &flags.no_pairs,
            "neither pairs nor a tree: for scenes in which nearly everything touches" ),
        ARGS_ROW_SWITCH(
            "--no-times", &flags.no_times, "no times of the search: the same scene makes the same bytes" ),
        ARGS_ROW_QUIET( &flags.quiet ),
    };
    const args_table table = {
        .command = "view",
        .usage =
            "FILE.aabbs|FILE.posrot|SCENE[:N][:type][@from+frames] [--frames A:B] -o FILE.html|--serve [PORT]",
        .about =
            "Make one page that plays a scene: its boxes, their pairs, the tree over them. It opens from disk and asks\n"
            "the network for nothing.",
        .notes =
            "Boxes are rounded to a sixty-fourth of their typical side for the page; the pairs are those of the\n"
            "boxes as they are. Bodies of a .posrot file are shown turned as they are. `?` in the page lists its keys.",
        .example = "  cleave view freefall:2k@100+60 -o view.html\n"
                   "  cleave view gravity:2k@100+60 --frames 0:30 --set kd.leaf=64 --serve",
        ARGS_FLAGS( list ),
        ARGS_ONE_OPERAND( "a WHAT" ),
    };
    char** words = lab_take( 2 * (uint64_t)argc + 1, sizeof( char* ) );
    lab_status status = args_run( &table, complete_serve( argc, argv, words ), words, view, &flags );
    free( words );
    return status;
}
