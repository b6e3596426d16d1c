// SPDX-License-Identifier: MIT
#include "arrays.h"

// ---- errors

static PyObject* s_error; // error( code, position, id, pair_count, text ) -> exception; set by the package

// id is 0 where there is none; position UINT32_MAX.
void* clv_py_raise( clv_error error )
{
    uint64_t id;
    memcpy( &id, &error.id, sizeof( id ) );
    PyObject* raised = s_error == NULL
        ? NULL
        : PyObject_CallFunction( s_error, "sLKKs", clv_result_name( error.code ),
              error.position == UINT32_MAX ? -1LL : (long long)error.position, (unsigned long long)id,
              (unsigned long long)error.pair_count, error.text );
    if ( raised != NULL )
    {
        PyErr_SetObject( (PyObject*)Py_TYPE( raised ), raised );
        Py_DECREF( raised );
    }
    else if ( !PyErr_Occurred() )
    {
        PyErr_SetString( PyExc_RuntimeError, error.text );
    }
    return NULL;
}

void* clv_py_raise_result( clv_result code, uint32_t position )
{
    clv_error error = { code, position, { 0, 0 }, 0, clv_result_text( code ) };
    return clv_py_raise( error );
}

PyObject* clv_py_set_error( PyObject* module, PyObject* error )
{
    (void)module;
    Py_XDECREF( s_error );
    s_error = Py_NewRef( error );
    Py_RETURN_NONE;
}

// ---- arrays in and out

void clv_py_array_release( array* a )
{
    if ( a->is_held )
    {
        PyBuffer_Release( &a->view );
        a->is_held = false;
    }
}

bool clv_py_array_take(
    array* a, PyObject* object, const char* what, size_t size, Py_ssize_t count, int flags )
{
    if ( PyObject_GetBuffer( object, &a->view, PyBUF_C_CONTIGUOUS | flags ) != 0 )
    {
        return false;
    }
    a->is_held = true;
    Py_ssize_t length = a->view.len;
    if ( length % (Py_ssize_t)size != 0 )
    {
        PyErr_Format( PyExc_ValueError, "%s: %zd bytes, where each takes %zu", what, length, size );
        return false;
    }
    if ( count >= 0 && length / (Py_ssize_t)size != count )
    {
        PyErr_Format( PyExc_ValueError, "%s: there are %zd, and %zd are needed", what,
            length / (Py_ssize_t)size, count );
        return false;
    }
    if ( length / (Py_ssize_t)size > (Py_ssize_t)CLV_MAX_OBJECTS )
    {
        clv_py_raise_result( CLV_TOO_MANY_OBJECTS, UINT32_MAX );
        return false;
    }
    return true;
}

uint32_t clv_py_array_count( const array* a, size_t size )
{
    return (uint32_t)( a->view.len / (Py_ssize_t)size );
}

void clv_py_box_array_release( box_array* boxes )
{
    clv_py_array_release( &boxes->arrays[0] );
    clv_py_array_release( &boxes->arrays[1] );
    PyMem_Free( boxes->copy );
    boxes->copy = NULL;
}

// A corner's place: where it begins, and bytes from box to box and from axis to axis.
typedef struct corner
{
    const char* start;
    Py_ssize_t row, axis;
} corner;

static bool box_array_lay( box_array* boxes, const corner corners[2], size_t real_size, size_t axes )
{
    size_t corner_size = real_size * axes;
    const corner* low = &corners[0];
    const corner* high = &corners[1];
    bool is_stream = low->axis == (Py_ssize_t)real_size && high->axis == (Py_ssize_t)real_size &&
        ( boxes->count < 2 || ( low->row == high->row && low->row >= (Py_ssize_t)corner_size ) );
    if ( is_stream )
    {
        boxes->lower = low->start;
        boxes->upper = high->start;
        boxes->stride = boxes->count < 2 ? 2 * corner_size : (size_t)low->row;
        return true;
    }
    boxes->copy = PyMem_Malloc( 2 * corner_size * boxes->count + 1 );
    if ( boxes->copy == NULL )
    {
        PyErr_NoMemory();
        return false;
    }
    char* to = boxes->copy;
    for ( uint32_t i = 0; i < boxes->count; ++i )
    {
        for ( int side = 0; side < 2; ++side )
        {
            const char* from = corners[side].start + (Py_ssize_t)i * corners[side].row;
            for ( size_t axis = 0; axis < axes; ++axis, to += real_size )
            {
                memcpy( to, from + (Py_ssize_t)axis * corners[side].axis, real_size );
            }
        }
    }
    boxes->lower = boxes->copy;
    boxes->upper = boxes->copy + corner_size;
    boxes->stride = 2 * corner_size;
    return true;
}

bool clv_py_box_array_take( box_array* boxes, PyObject* object, bool is_double, size_t axes )
{
    size_t real_size = is_double ? sizeof( double ) : sizeof( float );
    bool is_tuple = PyTuple_Check( object ) && PyTuple_Size( object ) == 2;
    corner corners[2];
    for ( int side = 0; side < 1 + is_tuple; ++side )
    {
        PyObject* one = is_tuple ? PyTuple_GetItem( object, side ) : object;
        array* a = &boxes->arrays[side];
        if ( PyObject_GetBuffer( one, &a->view, PyBUF_STRIDED_RO | PyBUF_FORMAT ) != 0 )
        {
            return false;
        }
        a->is_held = true;
        const Py_buffer* view = &a->view;
        if ( view->itemsize != (Py_ssize_t)real_size || view->format == NULL ||
            strcmp( view->format, is_double ? "d" : "f" ) != 0 )
        {
            PyErr_Format( PyExc_TypeError,
                "boxes are of type '%s', where '%s' is needed; nothing is rounded in silence",
                view->format == NULL ? "bytes" : view->format, is_double ? "float64" : "float32" );
            return false;
        }
        Py_ssize_t width = (Py_ssize_t)axes * ( is_tuple ? 1 : 2 );
        bool is_deep =
            view->ndim == 3 && !is_tuple && view->shape[1] == 2 && view->shape[2] == (Py_ssize_t)axes;
        if ( !is_deep && !( view->ndim == 2 && view->shape[1] == width ) )
        {
            PyErr_Format( PyExc_ValueError,
                "boxes of %zu axes are N x %zu, N x 2 x %zu or a tuple of two N x %zu", axes, 2 * axes, axes,
                axes );
            return false;
        }
        if ( side == 1 && view->shape[0] != (Py_ssize_t)boxes->count )
        {
            PyErr_Format( PyExc_ValueError, "boxes: %zd lower corners and %zd upper ones",
                (Py_ssize_t)boxes->count, view->shape[0] );
            return false;
        }
        if ( view->shape[0] > (Py_ssize_t)CLV_MAX_OBJECTS )
        {
            clv_py_raise_result( CLV_TOO_MANY_OBJECTS, UINT32_MAX );
            return false;
        }
        boxes->count = (uint32_t)view->shape[0];
        const char* start = view->buf;
        Py_ssize_t axis = view->strides[is_deep ? 2 : 1];
        corners[side] = ( corner ){ start, view->strides[0], axis };
        if ( !is_tuple )
        {
            corners[1] = ( corner ){ start + ( is_deep ? view->strides[1] : (Py_ssize_t)axes * axis ),
                view->strides[0], axis };
        }
    }
    return box_array_lay( boxes, corners, real_size, axes );
}
