// SPDX-License-Identifier: MIT
#include "cleave/methods.h"

#include "method/method.h"

#define METHOD( row ) extern const clv_method clv_methods_##row;
#include "table.def"
#undef METHOD

static const clv_method* const s_rows[] = {
#define METHOD( row ) &clv_methods_##row,
#include "table.def"
#undef METHOD
};

enum
{
    ROW_COUNT = sizeof( s_rows ) / sizeof( s_rows[0] )
};

// How many are not registered yet. A row whose name another method has counts too, and is in *taken.
static uint32_t count_unknown( const clv_method** taken )
{
    uint32_t unknown = 0;
    *taken = NULL;
    for ( uint32_t i = 0; i < ROW_COUNT; ++i )
    {
        const clv_method* known = clv_method_find( s_rows[i]->name );
        *taken = known != NULL && known != s_rows[i] ? s_rows[i] : *taken;
        unknown += known != s_rows[i];
    }
    return unknown;
}

// All of them or none: where one would be refused nothing is added.
clv_result clv_methods_register( void )
{
    const clv_method* taken;
    uint32_t unknown = count_unknown( &taken );
    if ( taken != NULL )
    {
        return clv_method_register( taken ); // fails and says why
    }
    if ( unknown > CLV_METHODS_MOST - clv_method_count() )
    {
        return CLV_BAD_ARGUMENT;
    }
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < ROW_COUNT && result == CLV_OK; ++i )
    {
        result = clv_method_find( s_rows[i]->name ) != NULL ? CLV_OK : clv_method_register( s_rows[i] );
    }
    return result;
}
