// SPDX-License-Identifier: MIT
#if !defined( _WIN32 )
#define _POSIX_C_SOURCE 200809L
#endif

#include "lab/report/svg_export.h"

#include "lab/base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if defined( _WIN32 )
#include <process.h>
#else
#include <spawn.h>
#include <sys/wait.h>
extern char** environ;
#endif

// Takes the script out of the page and lets it draw. No spaces and no double quotes, which Windows would take apart.
static const char loader[] =
    "(0,eval)(require('fs').readFileSync(process.argv[1],'utf8').split('<script\\x20id=\\x22bundle\\x22>')[1]"
    ".split('</script>')[0]);cleaveReport.writeSvgFiles(require('fs'),process.argv[1],process.argv[2])";

// The shell's status for a program that is not there; some systems find that out only in the child.
#define NOT_FOUND 127

#if defined( _WIN32 )

static int run_node( char* const* words )
{
    errno = 0;
    intptr_t status = _spawnvp( _P_WAIT, words[0], (const char* const*)words );
    return status < 0 && errno == ENOENT ? NOT_FOUND : (int)status;
}

// Glued together with spaces by the C library, taken apart again by node's.
static char* quoted_word( const char* word )
{
    return text_format( "\"%s\"", word );
}

#else

static int run_node( char* const* words )
{
    pid_t child = 0;
    int error = posix_spawnp( &child, words[0], NULL, NULL, words, environ );
    if ( error != 0 )
    {
        return error == ENOENT ? NOT_FOUND : -1;
    }
    int status = 0;
    while ( waitpid( child, &status, 0 ) < 0 )
    {
        if ( errno != EINTR )
        {
            return -1;
        }
    }
    return WIFEXITED( status ) ? WEXITSTATUS( status ) : -1;
}

static char* quoted_word( const char* word )
{
    return text_copy( word );
}

#endif

bool svg_export( const char* page_path, const char* folder, lab_error* why )
{
    char* script = text_copy( loader );
    char* page = quoted_word( page_path );
    char* target = quoted_word( folder );
    char node[] = "node", evaluate[] = "-e", end_of_flags[] = "--";
    char* words[] = { node, evaluate, script, end_of_flags, page, target, NULL };
    int status = run_node( words );
    free( script );
    free( page );
    free( target );
    if ( status == NOT_FOUND )
    {
        return lab_error_write( why,
            "--svg: node was not found; install it (Debian: nodejs), or save plots by their SVG buttons in %s",
            page_path );
    }
    return status == 0 ||
        lab_error_write( why, "--svg: node could not write the plots of %s to %s", page_path, folder );
}
