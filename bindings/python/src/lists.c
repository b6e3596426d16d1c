// SPDX-License-Identifier: MIT
#include "space.h"

static PyTypeObject* s_view_type;

// ---- pairs out

// After an exception of the filter: what it had not decided is asked about again, of all objects, since it
// was remembered as decided.
static void ask_again( space_object* self )
{
    uint32_t left = clv_space_object_count( self->space );
    for ( uint32_t slot = 0; left > 0; ++slot )
    {
        clv_id id = clv_space_id_at( self->space, slot );
        if ( !clv_id_is_null( id ) )
        {
            clv_space_refilter( self->space, &id, 1 ); // has its column since the space was made
            left -= 1;
        }
    }
    self->is_undecided = false;
}

static PyObject* end_search( space_object* self, clv_result result )
{
    bool is_good = clv_py_call_end( &self->callback );
    if ( self->is_undecided )
    {
        ask_again( self );
    }
    if ( !is_good )
    {
        self->is_changing = false;
        return NULL;
    }
    return clv_py_space_leave( self, result );
}

PyObject* clv_py_space_update( PyObject* object, PyObject* unused )
{
    (void)unused;
    space_object* self = (space_object*)object;
    if ( !clv_py_space_enter( self, true ) )
    {
        return NULL;
    }
    clv_py_call_begin( &self->callback, NULL );
    clv_result result = clv_space_update( self->space );
    return end_search( self, result );
}

PyObject* clv_py_space_refresh( PyObject* object, PyObject* unused )
{
    (void)unused;
    space_object* self = (space_object*)object;
    if ( !clv_py_space_enter( self, false ) )
    {
        return NULL;
    }
    clv_result result;
    Py_BEGIN_ALLOW_THREADS result = clv_space_refresh( self->space );
    Py_END_ALLOW_THREADS return clv_py_space_leave( self, result );
}

PyObject* clv_py_space_shrink( PyObject* object, PyObject* unused )
{
    (void)unused;
    space_object* self = (space_object*)object;
    return clv_py_space_enter( self, true ) ? clv_py_space_leave( self, clv_space_shrink( self->space ) )
                                            : NULL;
}

PyObject* clv_py_space_clear( PyObject* object, PyObject* unused )
{
    (void)unused;
    space_object* self = (space_object*)object;
    if ( !clv_py_space_enter( self, true ) )
    {
        return NULL;
    }
    clv_space_clear( self->space );
    return clv_py_space_leave( self, CLV_OK );
}

PyObject* clv_py_space_shift_origin( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    clv_vec64 origin;
    if ( !PyArg_ParseTuple( args, "ddd", &origin.x, &origin.y, &origin.z ) ||
        !clv_py_space_enter( self, false ) )
    {
        return NULL;
    }
    return clv_py_space_leave( self, clv_space_shift_origin( self->space, origin ) );
}

// The visitor gets each chunk as bytes of its own.
static bool visit_chunk( const clv_pair* pairs, size_t count, void* user )
{
    call_back* call = user;
    if ( !clv_py_call_enter( call ) )
    {
        return false;
    }
    PyObject* answer = PyObject_CallFunction(
        call->function, "y#", (const char*)pairs, (Py_ssize_t)( count * sizeof( clv_pair ) ) );
    bool goes_on = answer != NULL && answer != Py_False;
    clv_py_call_leave( call, answer );
    return goes_on;
}

PyObject* clv_py_space_visit( PyObject* object, PyObject* visitor )
{
    space_object* self = (space_object*)object;
    if ( !clv_py_space_enter( self, true ) )
    {
        return NULL;
    }
    clv_py_call_begin( &self->callback, visitor );
    clv_result result = clv_space_visit( self->space, visit_chunk, &self->callback );
    return end_search( self, result );
}

// ---- lists that are lent

typedef struct view_object
{
    PyObject_HEAD space_object* space;
    const void* data;
    Py_ssize_t shape[2], strides[2];
    int dimensions;
    const char* format;
    bool is_writable;
    uint64_t list_number;
} view_object;

static int view_lend( PyObject* object, Py_buffer* buffer, int flags )
{
    view_object* self = (view_object*)object;
    static char nothing; // an empty list has no address
    buffer->obj = NULL;
    if ( self->list_number != self->space->list_number )
    {
        PyErr_SetString(
            PyExc_BufferError, "this list ended: the space was updated, cleared or shrunk since" );
        return -1;
    }
    if ( ( flags & PyBUF_WRITABLE ) != 0 && !self->is_writable )
    {
        PyErr_SetString( PyExc_BufferError, "this list is the space's own, to be read only" );
        return -1;
    }
    bool is_plain = self->dimensions == 1;
    buffer->obj = Py_NewRef( object );
    buffer->itemsize = is_plain ? self->strides[0] : self->strides[1];
    buffer->len = self->shape[0] * self->strides[0];
    buffer->buf = self->data != NULL ? (void*)(uintptr_t)self->data : &nothing;
    buffer->readonly = !self->is_writable;
    buffer->ndim = self->dimensions;
    buffer->format = (char*)(uintptr_t)self->format;
    buffer->shape = self->shape;
    buffer->strides = self->strides;
    buffer->suboffsets = NULL;
    buffer->internal = NULL;
    self->space->lent += 1;
    return 0;
}

static void view_take_back( PyObject* object, Py_buffer* buffer )
{
    (void)buffer;
    ( (view_object*)object )->space->lent -= 1;
}

static void view_free( PyObject* object )
{
    PyTypeObject* type = Py_TYPE( object );
    Py_XDECREF( (PyObject*)( (view_object*)object )->space );
    PyObject_Free( object );
    Py_DECREF( type );
}

PyObject* clv_py_make_view_type( void )
{
    PyType_Slot slots[] = { { Py_tp_dealloc, SLOT( view_free ) }, { Py_bf_getbuffer, SLOT( view_lend ) },
        { Py_bf_releasebuffer, SLOT( view_take_back ) }, { 0, NULL } };
    PyType_Spec spec = { "cleave._cleave.View", sizeof( view_object ), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots };
    s_view_type = (PyTypeObject*)PyType_FromSpec( &spec );
    return Py_XNewRef( (PyObject*)s_view_type );
}

// view( list ): a buffer of one of the lists below; None where the space keeps no such list.
PyObject* clv_py_space_view( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    const char* name;
    if ( !PyArg_ParseTuple( args, "s", &name ) || !clv_py_space_is_readable( self ) )
    {
        return NULL;
    }
    clv_pair_view pairs = clv_space_pairs( self->space );
    clv_event_view events = clv_space_events( self->space );
    const struct
    {
        const char* name;
        const void* data;
        uint64_t count;
        int members; // of an item: 2, or 1 for words
        size_t size; // of a member
        bool is_optional;
    } rows[] = {
        { "pairs", pairs.pairs, pairs.count, 2, sizeof( uint32_t ), false },
        { "pair_data", pairs.data, pairs.count, 1, sizeof( uint64_t ), true },
        { "begun", events.begun, events.begun_count, 2, sizeof( clv_id ), false },
        { "ended", events.ended, events.ended_count, 2, sizeof( clv_id ), false },
        { "begun_user", events.begun_user, events.begun_count, 2, sizeof( uint64_t ), true },
        { "ended_user", events.ended_user, events.ended_count, 2, sizeof( uint64_t ), true },
        { "ended_data", events.ended_data, events.ended_count, 1, sizeof( uint64_t ), true },
    };
    for ( size_t i = 0; i < sizeof( rows ) / sizeof( rows[0] ); ++i )
    {
        if ( strcmp( rows[i].name, name ) != 0 )
        {
            continue;
        }
        if ( rows[i].is_optional && rows[i].data == NULL )
        {
            Py_RETURN_NONE;
        }
        view_object* view = (view_object*)PyType_GenericAlloc( s_view_type, 0 );
        if ( view == NULL )
        {
            return NULL;
        }
        view->space = (space_object*)Py_NewRef( object );
        view->data = rows[i].data;
        view->dimensions = rows[i].members;
        view->shape[0] = (Py_ssize_t)rows[i].count;
        view->shape[1] = rows[i].members;
        view->strides[0] = (Py_ssize_t)rows[i].size * rows[i].members;
        view->strides[1] = (Py_ssize_t)rows[i].size;
        view->format = rows[i].size == sizeof( uint32_t ) ? "I" : "Q";
        view->is_writable = strcmp( name, "pair_data" ) == 0;
        view->list_number = self->list_number;
        return (PyObject*)view;
    }
    return PyErr_Format( PyExc_ValueError, "there is no list '%s'", name );
}

// pair_ids( out ): of the whole list.
PyObject* clv_py_space_pair_ids( PyObject* object, PyObject* id_object )
{
    const space_object* self = (space_object*)object;
    if ( !clv_py_space_is_readable( self ) )
    {
        return NULL;
    }
    clv_pair_view view = clv_space_pairs( self->space );
    array ids = { 0 };
    PyObject* answer = NULL;
    if ( PyObject_GetBuffer( id_object, &ids.view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE ) == 0 )
    {
        ids.is_held = true;
        if ( (uint64_t)ids.view.len == view.count * sizeof( clv_id_pair ) )
        {
            clv_result result = clv_space_pair_ids( self->space, view, 0, view.count, ids.view.buf );
            answer = result == CLV_OK ? Py_NewRef( Py_None ) : clv_py_raise_result( result, UINT32_MAX );
        }
        else
        {
            PyErr_SetString( PyExc_ValueError, "pair_ids: one pair of ids for each pair is needed" );
        }
    }
    clv_py_array_release( &ids );
    return answer;
}
