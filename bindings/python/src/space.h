// SPDX-License-Identifier: MIT
// The space of the extension, and the methods of its type. Their arguments are told where they are written.
#pragma once

#include "arrays.h"

/// Slots of a type hold functions as void pointers, which POSIX allows and ISO C does not: by way of an
/// integer.
#define SLOT( function ) ( (void*)(uintptr_t)( function ) )

/// Around a call that may call Python back: the GIL is released but for that, and the first exception is kept
/// until the call returns; after it nothing more is called. Callbacks come on the thread that called.
typedef struct call_back
{
    PyThreadState* thread; // of the call, while the GIL is released
    PyObject* function;
    PyObject *type, *value, *trace; // of the exception; type NULL: there is none
} call_back;

void clv_py_call_begin( call_back* call, PyObject* function );
/// True, with the GIL, if Python may be called; then leave must follow, with the answer or NULL after an
/// exception.
bool clv_py_call_enter( call_back* call );
void clv_py_call_leave( call_back* call, PyObject* answer );
/// The GIL again. False, with the exception, if there was one.
bool clv_py_call_end( call_back* call );

typedef struct space_object
{
    PyObject_HEAD clv_space* space;
    bool is_double, is_flat;
    bool is_changing;     // a call that changes the space is under way, perhaps without the GIL
    Py_ssize_t asking;    // questions under way without the GIL
    Py_ssize_t lent;      // buffers of its lists that are in use
    uint64_t list_number; // of the lists that may be lent; counts the calls that end them
    PyObject* filter;     // asked about pairs; NULL: there is none
    call_back callback;   // of the update or visit under way
    bool is_undecided;    // the filter raised an exception: some pairs were left out
    char reason[256];     // why a def was refused
} space_object;

/// 3, or 2 in a flat space.
size_t clv_py_space_axes( const space_object* self );
/// 0 floats, 1 flat, 2 doubles: the order of the tables.
int clv_py_space_world( const space_object* self );

/// Around every call that changes the space: false with an exception if another thread is in it, or, for
/// calls that end its lists, if one of these is lent. Leaving turns a result into None or an exception.
bool clv_py_space_enter( space_object* self, bool ends_lists );
PyObject* clv_py_space_leave( space_object* self, clv_result result );

/// Before a call that reads: false with an exception while the space is changed.
bool clv_py_space_is_readable( const space_object* self );

PyObject* clv_py_space_new( PyTypeObject* type, PyObject* args, PyObject* kwargs );
void clv_py_space_free( PyObject* object );
int clv_py_space_traverse( PyObject* object, visitproc visit, void* arg );
int clv_py_space_forget( PyObject* object );

// Objects and columns: space.c.
PyObject* clv_py_space_add( PyObject* object, PyObject* args );
PyObject* clv_py_space_move( PyObject* object, PyObject* args );
PyObject* clv_py_space_remove( PyObject* self, PyObject* ids );
PyObject* clv_py_space_refilter( PyObject* self, PyObject* ids );
PyObject* clv_py_space_set( PyObject* object, PyObject* args );
PyObject* clv_py_space_get( PyObject* object, PyObject* args );
PyObject* clv_py_space_ids( PyObject* object, PyObject* id_object );
PyObject* clv_py_space_stats( PyObject* object, PyObject* unused );
PyObject* clv_py_space_about( PyObject* object, PyObject* unused );

// Pairs and other lists: lists.c.
PyObject* clv_py_make_view_type( void );
PyObject* clv_py_space_update( PyObject* object, PyObject* unused );
PyObject* clv_py_space_refresh( PyObject* object, PyObject* unused );
PyObject* clv_py_space_shrink( PyObject* object, PyObject* unused );
PyObject* clv_py_space_clear( PyObject* object, PyObject* unused );
PyObject* clv_py_space_shift_origin( PyObject* object, PyObject* args );
PyObject* clv_py_space_visit( PyObject* object, PyObject* visitor );
PyObject* clv_py_space_view( PyObject* object, PyObject* args );
PyObject* clv_py_space_pair_ids( PyObject* object, PyObject* id_object );

// Questions: questions.c.
PyObject* clv_py_space_query( PyObject* object, PyObject* args );
PyObject* clv_py_space_query_visit( PyObject* object, PyObject* args );
PyObject* clv_py_space_query_pairs( PyObject* object, PyObject* args );

/// Regions of many axes, without a space: match.c.
PyObject* clv_py_match( PyObject* module, PyObject* args );

/// Points within a cutoff, likewise: near.c.
PyObject* clv_py_near( PyObject* module, PyObject* args );

/// The table of kinds by name: ( number, sizes of an item ).
PyObject* clv_py_kinds( void );
