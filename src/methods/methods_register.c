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

clv_result clv_methods_register( void )
{
    return method_register_rows( s_rows, sizeof( s_rows ) / sizeof( s_rows[0] ) );
}
