// SPDX-License-Identifier: MIT
#include "lab/run/device_look.h"

#include "lab/run/run_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// NVIDIA's takes about a second the first time.
#define LOOK_S 60.0

// The answer is a line: "found INDEX cpu NAME", "found INDEX gpu NAME", or "none REASON".
static const char s_found[] = "found ";
static const char s_none[] = "none ";

static bool read_answer( const char* text, device_seen* seen )
{
    size_t length = strcspn( text, "\n" );
    if ( text_starts_with( text, s_none ) )
    {
        size_t start = sizeof( s_none ) - 1;
        snprintf( seen->reason, sizeof( seen->reason ), "%.*s", (int)( length - start ), text + start );
        return true;
    }
    if ( !text_starts_with( text, s_found ) )
    {
        return false;
    }
    char* end = NULL;
    seen->index = (uint32_t)strtoul( text + sizeof( s_found ) - 1, &end, 10 );
    seen->is_cpu = text_starts_with( end, " cpu " );
    seen->is_found = seen->is_cpu || text_starts_with( end, " gpu " );
    if ( seen->is_found )
    {
        const char* name = end + sizeof( " cpu " ) - 1;
        seen->name =
            text_format( "%.*s", (int)( text + length - name ), name ); // kept as long as the program
    }
    return seen->is_found;
}

static void look_apart( const char* wish, device_seen* seen )
{
    *seen = ( device_seen ){ 0 };
    const char* words[] = { "look", "--answer", "--", wish, NULL };
    words[2] = wish[0] != '\0' ? words[2] : NULL;
    child_limits limits = { .time_s = LOOK_S };
    child_answer answer = child_run( NULL, words, &limits );
    if ( answer.status != CHILD_ANSWERED )
    {
        snprintf( seen->reason, sizeof( seen->reason ), "looking for devices %s", answer.reason );
    }
    else if ( answer.text == NULL || !read_answer( answer.text, seen ) )
    {
        snprintf( seen->reason, sizeof( seen->reason ), "looking for devices ended without an answer" );
    }
    free( answer.text );
}

void device_look_apart( void )
{
    if ( child_is_here() )
    {
        device_look_by( look_apart );
    }
}

bool device_look_answer( const device_seen* seen, bool is_child )
{
    char* text = seen->is_found
        ? text_format( "%s%u %s %s\n", s_found, seen->index, seen->is_cpu ? "cpu" : "gpu", seen->name )
        : text_format( "%s%s\n", s_none, seen->reason );
    bool good = is_child ? child_write_answer( text ) : fputs( text, stdout ) >= 0;
    free( text );
    return good;
}
