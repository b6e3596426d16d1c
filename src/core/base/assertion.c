// SPDX-License-Identifier: MIT
// The one part of the base that no other library has a copy of: there is one hook per process.
#include "base/assertion.h"

#include <stdio.h>
#include <stdlib.h>

static bool print_and_stop( const char* condition, const char* file, int line, void* user )
{
    (void)user;
    fprintf( stderr, "cleave: assertion failed: %s, %s:%d\n", condition, file, line );
    return true;
}

static clv_assert_hook* s_hook = print_and_stop;
static void* s_user = NULL;

void clv_set_assert_hook( clv_assert_hook* hook, void* user )
{
    s_hook = hook != NULL ? hook : print_and_stop;
    s_user = user;
}

void clv_assert_failed( const char* condition, const char* file, int line )
{
    if ( s_hook( condition, file, line, s_user ) )
    {
        abort();
    }
}
