// SPDX-License-Identifier: MIT
#include "space.h"

#include <stdlib.h>

// Pairs as they come; with the C library's memory, since the GIL is not held.
typedef struct pair_heap
{
    clv_pair* pairs;
    size_t count, capacity;
} pair_heap;

static bool collect( const clv_pair* pairs, size_t count, void* user )
{
    pair_heap* heap = user;
    if ( heap->count + count > heap->capacity )
    {
        size_t capacity = 2 * ( heap->count + count );
        clv_pair* larger = realloc( heap->pairs, capacity * sizeof( clv_pair ) );
        if ( larger == NULL )
        {
            return false;
        }
        heap->pairs = larger;
        heap->capacity = capacity;
    }
    memcpy( heap->pairs + heap->count, pairs, count * sizeof( clv_pair ) );
    heap->count += count;
    return true;
}

// match( axes, lower, upper, others_lower, others_upper ): packed float64; the last two are None for pairs
// within the first.
PyObject* clv_py_match( PyObject* module, PyObject* args )
{
    (void)module;
    unsigned int axes;
    PyObject* objects[4];
    if ( !PyArg_ParseTuple( args, "IOOOO", &axes, &objects[0], &objects[1], &objects[2], &objects[3] ) )
    {
        return NULL;
    }
    if ( axes < 1 || axes > CLV_MATCH_AXES )
    {
        return PyErr_Format( PyExc_ValueError, "regions have 1 to %d axes", CLV_MATCH_AXES );
    }
    bool between = objects[2] != Py_None;
    size_t size = axes * sizeof( double );
    array arrays[4] = { 0 };
    bool good = true;
    for ( int i = 0; good && i < ( between ? 4 : 2 ); ++i )
    {
        Py_ssize_t count = i % 2 == 0 ? -1 : (Py_ssize_t)clv_py_array_count( &arrays[i - 1], size );
        good = clv_py_array_take( &arrays[i], objects[i], i % 2 == 0 ? "lower" : "upper", size, count, 0 );
    }
    PyObject* answer = NULL;
    if ( good )
    {
        clv_match_def def = clv_default_match_def();
        def.axis_count = axes;
        clv_regions regions[2];
        for ( int i = 0; i < 2; ++i )
        {
            const array* lower = &arrays[2 * i];
            regions[i] = ( clv_regions ){ lower->view.buf, lower[1].view.buf, size,
                clv_py_array_count( lower, size ) };
        }
        pair_heap heap = { 0 };
        clv_error error = { CLV_OK, UINT32_MAX, { 0, 0 }, 0, "" };
        clv_result result;
        Py_BEGIN_ALLOW_THREADS result = between
            ? clv_match_between( &def, regions[0], regions[1], collect, &heap, &error )
            : clv_match_regions( &def, regions[0], collect, &heap, &error );
        Py_END_ALLOW_THREADS error.code =
            result == CLV_STOPPED ? CLV_OUT_OF_MEMORY : result; // only collect stops, for want of memory
        error.text = clv_result_text( error.code );
        answer = result == CLV_OK ? PyByteArray_FromStringAndSize( (const char*)heap.pairs,
                                        (Py_ssize_t)( heap.count * sizeof( clv_pair ) ) )
                                  : clv_py_raise( error );
        free( heap.pairs );
    }
    for ( int i = 0; i < 4; ++i )
    {
        clv_py_array_release( &arrays[i] );
    }
    return answer;
}
