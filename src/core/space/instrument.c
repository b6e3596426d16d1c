// SPDX-License-Identifier: MIT
#include "space/instrument.h"

#include "space/space_internal.h"

uint32_t clv_space_report( clv_space* space, method_figure* figures, uint32_t capacity )
{
    const method* row = space->method;
    return row->report != NULL ? row->report( space->method_state, figures, capacity ) : 0;
}

size_t clv_space_dump( clv_space* space, char* text, size_t text_size )
{
    const method* row = space->method;
    return row->dump != NULL ? row->dump( space->method_state, text, text_size ) : 0;
}
