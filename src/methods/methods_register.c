// SPDX-License-Identifier: MIT
#include "cleave/methods.h"

#include "method/method.h"

#define METHOD( row ) extern const method method_##row;
#include "table.def"
#undef METHOD

static const method* const s_rows[] = {
#define METHOD( row ) &method_##row,
#include "table.def"
#undef METHOD
};

enum
{
    ROW_COUNT = sizeof( s_rows ) / sizeof( s_rows[0] )
};

// Nothing is added where a name is somebody else's: all of them or none.
clv_result clv_methods_register( void )
{
    for ( uint32_t i = 0; i < ROW_COUNT; ++i )
    {
        const method* known = clv_method_find( s_rows[i]->name );
        if ( known != NULL && known != s_rows[i] )
        {
            return clv_method_register( s_rows[i] ); // which says why not
        }
    }
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < ROW_COUNT && result == CLV_OK; ++i )
    {
        result = clv_method_find( s_rows[i]->name ) != NULL ? CLV_OK : clv_method_register( s_rows[i] );
    }
    return result;
}
