// SPDX-License-Identifier: MIT
// Errors as exceptions, and arrays by the buffer protocol: every length is checked before C sees a pointer.
#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <cleave/cleave.h>

#include <stddef.h>
#include <string.h>

/// Both raise the exception that the package's function makes of the error, and return NULL.
void* clv_py_raise( clv_error error );
void* clv_py_raise_result( clv_result code, uint32_t position );

/// set_error( function ): of the package, ( code, position, id, pair_count, text ) -> exception.
PyObject* clv_py_set_error( PyObject* module, PyObject* error );

/// An array of the caller's, held until it is released; zero is one that is not held.
typedef struct array
{
    Py_buffer view;
    bool is_held;
} array;

/// Boxes of any layout, as the two streams of corners that C takes.
typedef struct box_array
{
    array arrays[2];
    const char* lower;
    const char* upper;
    size_t stride; // bytes
    uint32_t count;
    char* copy; // of a layout that C does not take; PyMem_Free
} box_array;

void clv_py_array_release( array* a );
/// A C-contiguous array of items of `size` bytes; as many as there are, or exactly `count` if that is not -1.
/// False with an exception. To be released either way.
bool clv_py_array_take(
    array* a, PyObject* object, const char* what, size_t size, Py_ssize_t count, int flags );
uint32_t clv_py_array_count( const array* a, size_t size );
void clv_py_box_array_release( box_array* boxes );
/// N x 2A, N x 2 x A, or a tuple of two N x A, of the space's own type of floats. Likewise.
bool clv_py_box_array_take( box_array* boxes, PyObject* object, bool is_double, size_t axes );
