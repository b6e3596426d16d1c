// SPDX-License-Identifier: MIT
#include "lab/base/lab_list.h"

#include "lab/base/error.h"

#include <stdlib.h>

void* lab_take( uint64_t count, size_t item_size )
{
    uint64_t wanted = count > 0 ? count : 1;
    void* items = wanted <= SIZE_MAX / item_size ? calloc( (size_t)wanted, item_size ) : NULL;
    if ( items == NULL )
    {
        lab_out_of_memory();
    }
    return items;
}

void* lab_grow( void* items, uint64_t count, size_t item_size )
{
    void* grown = count <= SIZE_MAX / item_size ? realloc( items, (size_t)count * item_size ) : NULL;
    if ( grown == NULL )
    {
        lab_out_of_memory();
    }
    return grown;
}
