// SPDX-License-Identifier: MIT
// One assert hook per process: what fails inside another shared library than the core's reaches it too. From
// the public headers.
#include "cleave/methods.h"
#include "cleave/narrow.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf s_back;
static int s_count;

static bool note( const char* condition, const char* file, int line, void* user )
{
    (void)condition;
    (void)line;
    s_count += strstr( file, (const char*)user ) != NULL;
    longjmp( s_back, 1 ); // going on would read what is not there
}

int main( void )
{
    clv_methods_register(); // all three libraries are loaded
    static char file[] = "shape.c";
    clv_set_assert_hook( note, file );
#ifdef NDEBUG
    if ( setjmp( s_back ) == 0 )
    {
        clv_assert_failed( "assertions are compiled in", file, 1 );
    }
#else
    if ( setjmp( s_back ) == 0 )
    {
        clv_shape shape;
        clv_transform at;
        memset( &shape, 0, sizeof( shape ) );
        memset( &at, 0, sizeof( at ) );
        clv_shape_aabb( shape, at, NULL ); // asserted, in libcleave-physics
    }
#endif
    printf( "the hook was called %d times\n", s_count );
    return s_count == 1 ? 0 : 1;
}
