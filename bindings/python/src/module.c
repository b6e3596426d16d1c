// SPDX-License-Identifier: MIT
// cleave._cleave: the C interface for cleave/__init__.py, which is what people import. Arrays come and go by the buffer
// protocol, so that numpy's headers are not needed; the stable ABI of Python 3.11 makes one build do for all later versions.
//
// Three promises are kept here, since only C can break them:
// - No array outlives its memory. Lists of a space are lent as buffers that hold the space; while one is in use, the calls that
//   would write over it (update, visit, clear, shrink) raise BufferError, as a bytearray does that cannot be resized.
// - No two threads meet in a space: update and questions release the GIL, and a call that may not run beside them raises
//   CLV_BUSY.
// - Every length is checked before C sees a pointer.
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <cleave/cleave.h>

#include <stddef.h>
#include <string.h>

// ---- errors

static PyObject* s_error; // error( code, position, id, pair_count, text ) -> exception; set by the package

// id is 0 where there is none; position UINT32_MAX.
static void* raise( clv_error error )
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

static void* raise_result( clv_result code, uint32_t position )
{
    clv_error error = { code, position, { 0, 0 }, 0, clv_result_text( code ) };
    return raise( error );
}

// ---- arrays in and out

typedef struct array
{
    Py_buffer view;
    bool is_held;
} array;

static void array_release( array* a )
{
    if ( a->is_held )
    {
        PyBuffer_Release( &a->view );
        a->is_held = false;
    }
}

// A C-contiguous array of items of `size` bytes; as many as there are, or exactly `count` if that is not -1.
static bool array_take(
    array* a, PyObject* object, const char* what, size_t size, Py_ssize_t count, int flags )
{
    if ( PyObject_GetBuffer( object, &a->view, PyBUF_C_CONTIGUOUS | flags ) != 0 )
    {
        return false;
    }
    a->is_held = true;
    Py_ssize_t length = a->view.len;
    if ( length % (Py_ssize_t)size != 0 || ( count >= 0 && length / (Py_ssize_t)size != count ) )
    {
        PyErr_Format(
            PyExc_ValueError, "%s: %zd bytes, where %zd items of %zu are needed", what, length, count, size );
        return false;
    }
    if ( length / (Py_ssize_t)size > (Py_ssize_t)CLV_MAX_OBJECTS )
    {
        raise_result( CLV_TOO_MANY_OBJECTS, UINT32_MAX );
        return false;
    }
    return true;
}

static uint32_t array_count( const array* a, size_t size )
{
    return (uint32_t)( a->view.len / (Py_ssize_t)size );
}

// Boxes of any layout, as the two streams of corners that C takes.
typedef struct box_array
{
    array arrays[2];
    const char* lower;
    const char* upper;
    size_t stride; // bytes
    uint32_t count;
    char* copy; // of a layout that C does not take; PyMem_Free
} box_array;

static void box_array_release( box_array* boxes )
{
    array_release( &boxes->arrays[0] );
    array_release( &boxes->arrays[1] );
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

// N x 2A, N x 2 x A, or a tuple of two N x A; of the space's own type of floats.
static bool box_array_take( box_array* boxes, PyObject* object, bool is_double, size_t axes )
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
        if ( view->shape[0] > (Py_ssize_t)CLV_MAX_OBJECTS ||
            ( side == 1 && view->shape[0] != (Py_ssize_t)boxes->count ) )
        {
            raise_result( side == 1 ? CLV_BAD_ARGUMENT : CLV_TOO_MANY_OBJECTS, UINT32_MAX );
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

// ---- the space

typedef struct space_object
{
    PyObject_HEAD clv_space* space;
    bool is_double, is_flat;
    bool is_changing;     // a call that changes the space is under way, perhaps without the GIL
    Py_ssize_t asking;    // questions under way without the GIL
    Py_ssize_t lent;      // buffers of its lists that are in use
    uint64_t list_number; // of the lists that may be lent; counts the calls that end them
    char reason[256];     // why a def was refused
} space_object;

static PyTypeObject* s_view_type;

static size_t space_axes( const space_object* self )
{
    return self->is_flat ? 2 : 3;
}

static int space_world( const space_object* self )
{
    return self->is_flat ? 1 : self->is_double ? 2 : 0;
}

// What a failed call left; a call that was refused because the space is busy leaves nothing there.
static void* space_raise( const space_object* self, clv_result result )
{
    return result == CLV_BUSY ? raise_result( result, UINT32_MAX ) : raise( clv_space_error( self->space ) );
}

// For calls that change the space, from enter to leave; ends_lists: those that write over what is lent.
static bool space_enter( space_object* self, bool ends_lists )
{
    if ( self->is_changing || self->asking > 0 )
    {
        raise_result( CLV_BUSY, UINT32_MAX );
        return false;
    }
    if ( ends_lists && self->lent > 0 )
    {
        PyErr_Format( PyExc_BufferError,
            "%zd array(s) of the last update are in use and would be written over; delete them, or take copies",
            self->lent );
        return false;
    }
    self->is_changing = true;
    self->list_number += ends_lists;
    return true;
}

static PyObject* space_leave( space_object* self, clv_result result )
{
    self->is_changing = false;
    if ( result != CLV_OK )
    {
        return space_raise( self, result );
    }
    Py_RETURN_NONE;
}

static bool space_is_readable( const space_object* self )
{
    if ( self->is_changing )
    {
        raise_result( CLV_BUSY, UINT32_MAX );
        return false;
    }
    return true;
}

static void space_listen( clv_log_level level, const char* line, void* user )
{
    space_object* self = user;
    if ( level == CLV_LOG_ERROR )
    {
        strncpy( self->reason, line, sizeof( self->reason ) - 1 );
    }
}

// Members of the def that the package may set, by name.
typedef enum def_type
{
    DEF_BOOL,
    DEF_UINT32,
    DEF_UINT64,
    DEF_FLOAT,
    DEF_TEXT
} def_type;

static const struct def_row
{
    const char* name;
    def_type type;
    size_t offset;
} s_def[] = {
    { "capacity", DEF_UINT32, offsetof( clv_space_def, capacity ) },
    { "pair_capacity", DEF_UINT64, offsetof( clv_space_def, pair_capacity ) },
    { "max_pairs", DEF_UINT64, offsetof( clv_space_def, max_pairs ) },
    { "margin", DEF_FLOAT, offsetof( clv_space_def, margin ) },
    { "margin_by_size", DEF_FLOAT, offsetof( clv_space_def, margin_by_size ) },
    { "margin_by_speed", DEF_FLOAT, offsetof( clv_space_def, margin_by_speed ) },
    { "sorted", DEF_BOOL, offsetof( clv_space_def, sorted ) },
    { "events", DEF_BOOL, offsetof( clv_space_def, events ) },
    { "skip_static_pairs", DEF_BOOL, offsetof( clv_space_def, skip_static_pairs ) },
    { "stage_times", DEF_BOOL, offsetof( clv_space_def, stage_times ) },
    { "pair_data", DEF_BOOL, offsetof( clv_space_def, pair_data ) },
    { "doubles", DEF_BOOL, offsetof( clv_space_def, doubles ) },
    { "flat", DEF_BOOL, offsetof( clv_space_def, flat ) },
    { "method", DEF_TEXT, offsetof( clv_space_def, method ) },
    { "settings", DEF_TEXT, offsetof( clv_space_def, settings ) },
    { "worker_count", DEF_UINT32, offsetof( clv_space_def, worker_count ) },
};

static bool def_set( char* def, const struct def_row* row, PyObject* value )
{
    char* member = def + row->offset;
    unsigned long long number = 0;
    if ( row->type == DEF_UINT32 || row->type == DEF_UINT64 )
    {
        number = PyLong_AsUnsignedLongLong( value );
        if ( PyErr_Occurred() || ( row->type == DEF_UINT32 && number > UINT32_MAX ) )
        {
            if ( !PyErr_Occurred() )
            {
                PyErr_Format( PyExc_OverflowError, "%s is too large", row->name );
            }
            return false;
        }
    }
    switch ( row->type )
    {
    case DEF_BOOL: *(bool*)member = PyObject_IsTrue( value ) == 1; break;
    case DEF_UINT32: *(uint32_t*)(void*)member = (uint32_t)number; break;
    case DEF_UINT64: *(uint64_t*)(void*)member = number; break;
    case DEF_FLOAT: *(float*)(void*)member = (float)PyFloat_AsDouble( value ); break;
    case DEF_TEXT: *(const char**)(void*)member = PyUnicode_AsUTF8AndSize( value, NULL ); break;
    }
    return !PyErr_Occurred();
}

static PyObject* space_new( PyTypeObject* type, PyObject* args, PyObject* kwargs )
{
    PyObject* settings;
    const char* isa = NULL;
    (void)kwargs;
    if ( !PyArg_ParseTuple( args, "O!z", &PyDict_Type, &settings, &isa ) )
    {
        return NULL;
    }
    clv_space_def def = clv_default_space_def();
    for ( size_t i = 0; i < sizeof( s_def ) / sizeof( s_def[0] ); ++i )
    {
        PyObject* value = PyDict_GetItemString( settings, s_def[i].name );
        if ( value != NULL && value != Py_None && !def_set( (char*)&def, &s_def[i], value ) )
        {
            return NULL;
        }
    }
    if ( isa != NULL && !clv_isa_from_name( isa, &def.isa ) )
    {
        return PyErr_Format( PyExc_ValueError, "there is no instruction set '%s'", isa );
    }
    space_object* self = (space_object*)PyType_GenericAlloc( type, 0 );
    if ( self == NULL )
    {
        return NULL;
    }
    def.logger.write = space_listen;
    def.logger.user = self;
    self->is_double = def.doubles;
    self->is_flat = def.flat;
    clv_result result = clv_space_create( &def, &self->space );
    if ( result != CLV_OK )
    {
        clv_error error = { result, UINT32_MAX, { 0, 0 }, 0,
            self->reason[0] != '\0' ? self->reason : clv_result_text( result ) };
        raise( error );
        Py_DECREF( self );
        return NULL;
    }
    return (PyObject*)self;
}

static void space_free( PyObject* object )
{
    space_object* self = (space_object*)object;
    PyTypeObject* type = Py_TYPE( object );
    clv_space_destroy( self->space );
    PyObject_Free( object );
    Py_DECREF( type );
}

// ---- objects in

// A column of clv_add_def: None, or one item for each box.
static bool add_column(
    array* a, PyObject* object, const char* what, size_t size, uint32_t count, const void** to )
{
    if ( object == Py_None )
    {
        return true;
    }
    if ( !array_take( a, object, what, size, count, 0 ) )
    {
        return false;
    }
    *to = a->view.buf;
    return true;
}

enum
{
    ADD_COLUMNS = 5
};

// Packed boxes go the shorter way; others as streams.
static void add_boxes( const space_object* self, clv_add_def* def, const box_array* boxes )
{
    const void* lower = boxes->lower;
    const void* upper = boxes->upper;
    if ( self->is_double )
    {
        def->stream64 = ( clv_box_stream64 ){ lower, upper, boxes->stride };
    }
    else if ( self->is_flat )
    {
        def->stream2 = ( clv_box_stream2 ){ lower, upper, boxes->stride };
    }
    else
    {
        def->stream = ( clv_box_stream ){ lower, upper, boxes->stride };
    }
}

// add( boxes, ids, user_data, filters, margins, is_static, motions ): the last five may be None.
static PyObject* space_add( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    PyObject *box_object, *id_object, *column_objects[ADD_COLUMNS];
    if ( !PyArg_ParseTuple( args, "OOOOOOO", &box_object, &id_object, &column_objects[0], &column_objects[1],
             &column_objects[2], &column_objects[3], &column_objects[4] ) )
    {
        return NULL;
    }
    static const struct
    {
        const char* what;
        size_t size;
    } rows[ADD_COLUMNS] = { { "user_data", sizeof( uint64_t ) }, { "filters", sizeof( clv_filter ) },
        { "margins", sizeof( float ) }, { "is_static", sizeof( bool ) }, { "motions", sizeof( clv_vec3 ) } };
    box_array boxes = { 0 };
    array ids = { 0 };
    array columns[ADD_COLUMNS] = { 0 };
    const void* values[ADD_COLUMNS] = { 0 };
    PyObject* answer = NULL;
    bool good = box_array_take( &boxes, box_object, self->is_double, space_axes( self ) ) &&
        array_take( &ids, id_object, "ids", sizeof( clv_id ), boxes.count, PyBUF_WRITABLE );
    for ( int i = 0; good && i < ADD_COLUMNS; ++i )
    {
        good =
            add_column( &columns[i], column_objects[i], rows[i].what, rows[i].size, boxes.count, &values[i] );
    }
    if ( good && space_enter( self, false ) )
    {
        clv_add_def def = clv_default_add_def();
        add_boxes( self, &def, &boxes );
        def.user_data = values[0];
        def.filters = values[1];
        def.margins = values[2];
        def.is_static = values[3];
        def.motions = values[4];
        answer = space_leave( self, clv_space_add_with( self->space, &def, boxes.count, ids.view.buf ) );
    }
    for ( int i = 0; i < ADD_COLUMNS; ++i )
    {
        array_release( &columns[i] );
    }
    array_release( &ids );
    box_array_release( &boxes );
    return answer;
}

static clv_result move_boxes( space_object* self, const clv_id* ids, const box_array* boxes )
{
    const void* lower = boxes->lower;
    const void* upper = boxes->upper;
    uint32_t count = boxes->count;
    if ( self->is_double )
    {
        clv_box_stream64 stream = { lower, upper, boxes->stride };
        return clv_space_move_strided64( self->space, ids, stream, count );
    }
    if ( self->is_flat )
    {
        clv_box_stream2 stream = { lower, upper, boxes->stride };
        return clv_space_move_strided2( self->space, ids, stream, count );
    }
    clv_box_stream stream = { lower, upper, boxes->stride };
    return clv_space_move_strided( self->space, ids, stream, count );
}

// move( ids, boxes )
static PyObject* space_move( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    PyObject *id_object, *box_object;
    if ( !PyArg_ParseTuple( args, "OO", &id_object, &box_object ) )
    {
        return NULL;
    }
    box_array boxes = { 0 };
    array ids = { 0 };
    PyObject* answer = NULL;
    if ( box_array_take( &boxes, box_object, self->is_double, space_axes( self ) ) &&
        array_take( &ids, id_object, "ids", sizeof( clv_id ), boxes.count, 0 ) && space_enter( self, false ) )
    {
        answer = space_leave( self, move_boxes( self, ids.view.buf, &boxes ) );
    }
    array_release( &ids );
    box_array_release( &boxes );
    return answer;
}

static PyObject* by_ids(
    PyObject* object, PyObject* id_object, clv_result ( *call )( clv_space*, const clv_id*, uint32_t ) )
{
    space_object* self = (space_object*)object;
    array ids = { 0 };
    PyObject* answer = NULL;
    if ( array_take( &ids, id_object, "ids", sizeof( clv_id ), -1, 0 ) && space_enter( self, false ) )
    {
        answer =
            space_leave( self, call( self->space, ids.view.buf, array_count( &ids, sizeof( clv_id ) ) ) );
    }
    array_release( &ids );
    return answer;
}

static PyObject* space_remove( PyObject* self, PyObject* ids )
{
    return by_ids( self, ids, clv_space_remove );
}

static PyObject* space_refilter( PyObject* self, PyObject* ids )
{
    return by_ids( self, ids, clv_space_refilter );
}

// ---- what objects carry
//
// One row for each column, with the size of an item and a function that sets many and one that reads one, for void pointers.

#define COLUMN( name, type )                                                                                 \
    static clv_result set_##name( clv_space* space, const clv_id* ids, const void* values, uint32_t count )  \
    {                                                                                                        \
        return clv_space_set_##name( space, ids, values, count );                                            \
    }                                                                                                        \
    READ( name, type )
#define READ( name, type )                                                                                   \
    static clv_result get_##name( const clv_space* space, clv_id id, void* value )                           \
    {                                                                                                        \
        return clv_space_get_##name( space, id, value );                                                     \
    }
COLUMN( user_data, uint64_t )
COLUMN( margin, float )
COLUMN( margin_rule, clv_margin_rule )
COLUMN( motion, clv_vec3 )
COLUMN( filter, clv_filter )
COLUMN( static, bool )
READ( box, clv_aabb )
READ( box2, clv_aabb2 )
READ( box64, clv_aabb64 )
READ( test_box, clv_aabb )
READ( test_box2, clv_aabb2 )
READ( test_box64, clv_aabb64 )
#undef COLUMN
#undef READ

static clv_result get_contains( const clv_space* space, clv_id id, void* value )
{
    *(bool*)value = clv_space_contains( space, id );
    return CLV_OK;
}

static const struct column_row
{
    const char* name;
    size_t size;
    clv_result ( *set )( clv_space* space, const clv_id* ids, const void* values, uint32_t count );
    clv_result ( *get )( const clv_space* space, clv_id id, void* value );
} s_columns[] = {
    { "user_data", sizeof( uint64_t ), set_user_data, get_user_data },
    { "margin", sizeof( float ), set_margin, get_margin },
    { "margin_rule", sizeof( clv_margin_rule ), set_margin_rule, get_margin_rule },
    { "motion", sizeof( clv_vec3 ), set_motion, get_motion },
    { "filter", sizeof( clv_filter ), set_filter, get_filter },
    { "static", sizeof( bool ), set_static, get_static },
    { "contains", sizeof( bool ), NULL, get_contains },
    { "box", sizeof( clv_aabb ), NULL, get_box },
    { "box2", sizeof( clv_aabb2 ), NULL, get_box2 },
    { "box64", sizeof( clv_aabb64 ), NULL, get_box64 },
    { "test_box", sizeof( clv_aabb ), NULL, get_test_box },
    { "test_box2", sizeof( clv_aabb2 ), NULL, get_test_box2 },
    { "test_box64", sizeof( clv_aabb64 ), NULL, get_test_box64 },
};

static const struct column_row* column_named( const char* name, bool is_to_set )
{
    for ( size_t i = 0; i < sizeof( s_columns ) / sizeof( s_columns[0] ); ++i )
    {
        if ( strcmp( s_columns[i].name, name ) == 0 && ( !is_to_set || s_columns[i].set != NULL ) )
        {
            return &s_columns[i];
        }
    }
    PyErr_Format( PyExc_ValueError, "there is no column '%s'", name );
    return NULL;
}

// set( column, ids, values )
static PyObject* space_set( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    const char* name;
    PyObject *id_object, *value_object;
    if ( !PyArg_ParseTuple( args, "sOO", &name, &id_object, &value_object ) )
    {
        return NULL;
    }
    const struct column_row* column = column_named( name, true );
    array ids = { 0 }, values = { 0 };
    PyObject* answer = NULL;
    if ( column != NULL && array_take( &ids, id_object, "ids", sizeof( clv_id ), -1, 0 ) &&
        array_take( &values, value_object, name, column->size, array_count( &ids, sizeof( clv_id ) ), 0 ) &&
        space_enter( self, false ) )
    {
        uint32_t count = array_count( &ids, sizeof( clv_id ) );
        answer = space_leave( self, column->set( self->space, ids.view.buf, values.view.buf, count ) );
    }
    array_release( &values );
    array_release( &ids );
    return answer;
}

// get( column, ids, values ): fills values. The first bad id is told with its position.
static PyObject* space_get( PyObject* object, PyObject* args )
{
    const space_object* self = (space_object*)object;
    const char* name;
    PyObject *id_object, *value_object;
    if ( !PyArg_ParseTuple( args, "sOO", &name, &id_object, &value_object ) || !space_is_readable( self ) )
    {
        return NULL;
    }
    const struct column_row* column = column_named( name, false );
    array ids = { 0 }, values = { 0 };
    PyObject* answer = NULL;
    if ( column != NULL && array_take( &ids, id_object, "ids", sizeof( clv_id ), -1, 0 ) &&
        array_take( &values, value_object, name, column->size, array_count( &ids, sizeof( clv_id ) ),
            PyBUF_WRITABLE ) )
    {
        const clv_id* id = ids.view.buf;
        char* to = values.view.buf;
        clv_error error = { CLV_OK, 0, { 0, 0 }, 0, "" };
        for ( uint32_t count = array_count( &ids, sizeof( clv_id ) );
              error.code == CLV_OK && error.position < count; )
        {
            error.id = id[error.position];
            error.code = column->get( self->space, error.id, to + column->size * error.position );
            error.position += error.code == CLV_OK;
        }
        error.text = clv_result_text( error.code );
        answer = error.code == CLV_OK ? Py_NewRef( Py_None ) : raise( error );
    }
    array_release( &values );
    array_release( &ids );
    return answer;
}

// ids( out ): of all objects, in the order of their slots; out has room for as many as there are.
static PyObject* space_ids( PyObject* object, PyObject* id_object )
{
    const space_object* self = (space_object*)object;
    array ids = { 0 };
    if ( !space_is_readable( self ) ||
        !array_take( &ids, id_object, "ids", sizeof( clv_id ), clv_space_object_count( self->space ),
            PyBUF_WRITABLE ) )
    {
        array_release( &ids );
        return NULL;
    }
    clv_id* to = ids.view.buf;
    uint32_t left = array_count( &ids, sizeof( clv_id ) );
    for ( uint32_t slot = 0; left > 0; ++slot )
    {
        clv_id id = clv_space_id_at( self->space, slot );
        if ( !clv_id_is_null( id ) )
        {
            *to++ = id;
            left -= 1;
        }
    }
    array_release( &ids );
    Py_RETURN_NONE;
}

// ---- pairs out

static PyObject* space_update( PyObject* object, PyObject* unused )
{
    (void)unused;
    space_object* self = (space_object*)object;
    if ( !space_enter( self, true ) )
    {
        return NULL;
    }
    clv_result result;
    Py_BEGIN_ALLOW_THREADS result = clv_space_update( self->space );
    Py_END_ALLOW_THREADS return space_leave( self, result );
}

static PyObject* space_refresh( PyObject* object, PyObject* unused )
{
    (void)unused;
    space_object* self = (space_object*)object;
    if ( !space_enter( self, false ) )
    {
        return NULL;
    }
    clv_result result;
    Py_BEGIN_ALLOW_THREADS result = clv_space_refresh( self->space );
    Py_END_ALLOW_THREADS return space_leave( self, result );
}

static PyObject* space_shrink( PyObject* object, PyObject* unused )
{
    (void)unused;
    space_object* self = (space_object*)object;
    return space_enter( self, true ) ? space_leave( self, clv_space_shrink( self->space ) ) : NULL;
}

static PyObject* space_clear( PyObject* object, PyObject* unused )
{
    (void)unused;
    space_object* self = (space_object*)object;
    if ( !space_enter( self, true ) )
    {
        return NULL;
    }
    clv_space_clear( self->space );
    return space_leave( self, CLV_OK );
}

static PyObject* space_shift_origin( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    clv_vec64 origin;
    if ( !PyArg_ParseTuple( args, "ddd", &origin.x, &origin.y, &origin.z ) || !space_enter( self, false ) )
    {
        return NULL;
    }
    return space_leave( self, clv_space_shift_origin( self->space, origin ) );
}

// The visitor gets each chunk as bytes of its own, with the GIL held throughout.
static bool visit_chunk( const clv_pair* pairs, size_t count, void* user )
{
    PyObject* answer =
        PyObject_CallFunction( user, "y#", (const char*)pairs, (Py_ssize_t)( count * sizeof( clv_pair ) ) );
    bool goes_on = answer != NULL && answer != Py_False;
    Py_XDECREF( answer );
    return goes_on;
}

static PyObject* space_visit( PyObject* object, PyObject* visitor )
{
    space_object* self = (space_object*)object;
    if ( !space_enter( self, true ) )
    {
        return NULL;
    }
    clv_result result = clv_space_visit( self->space, visit_chunk, visitor );
    if ( PyErr_Occurred() ) // the visitor's own
    {
        self->is_changing = false;
        return NULL;
    }
    return space_leave( self, result );
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

// view( list ): a buffer of one of the lists below; None where the space keeps no such list.
static PyObject* space_view( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    const char* name;
    if ( !PyArg_ParseTuple( args, "s", &name ) || !space_is_readable( self ) )
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
static PyObject* space_pair_ids( PyObject* object, PyObject* id_object )
{
    const space_object* self = (space_object*)object;
    if ( !space_is_readable( self ) )
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
            answer = result == CLV_OK ? Py_NewRef( Py_None ) : raise_result( result, UINT32_MAX );
        }
        else
        {
            PyErr_SetString( PyExc_ValueError, "pair_ids: one pair of ids for each pair is needed" );
        }
    }
    array_release( &ids );
    return answer;
}

// ---- questions

// Kinds of queries: the names of the package, and the size of an item in a solid, a flat and a space of doubles. Kinds of flat
// spaces and of doubles are numbered 32 and 64 later.
static const struct kind_row
{
    const char* name;
    int kind;
    size_t sizes[3];
} s_kinds[] = {
    { "points", CLV_QUERY_POINT, { sizeof( clv_vec3 ), sizeof( clv_vec2 ), sizeof( clv_vec64 ) } },
    { "boxes", CLV_QUERY_BOX, { sizeof( clv_aabb ), sizeof( clv_aabb2 ), sizeof( clv_aabb64 ) } },
    { "spheres", CLV_QUERY_SPHERE, { sizeof( clv_sphere ), sizeof( clv_circle ), sizeof( clv_sphere64 ) } },
    { "neighbourhoods", CLV_QUERY_NEIGHBOURHOOD,
        { sizeof( clv_neighbourhood ), sizeof( clv_neighbourhood2 ), sizeof( clv_neighbourhood64 ) } },
    { "capsules", CLV_QUERY_CAPSULE,
        { sizeof( clv_capsule ), sizeof( clv_capsule2 ), sizeof( clv_capsule64 ) } },
    { "oriented_boxes", CLV_QUERY_ORIENTED_BOX,
        { sizeof( clv_oriented_box ), sizeof( clv_oriented_box2 ), sizeof( clv_oriented_box64 ) } },
    { "half_spaces", CLV_QUERY_HALF_SPACES,
        { sizeof( clv_plane ), sizeof( clv_half_plane ), sizeof( clv_plane64 ) } },
    { "rays", CLV_QUERY_RAY, { sizeof( clv_ray ), sizeof( clv_ray2 ), sizeof( clv_ray64 ) } },
    { "box_casts", CLV_QUERY_BOX_CAST,
        { sizeof( clv_box_cast ), sizeof( clv_box_cast2 ), sizeof( clv_box_cast64 ) } },
    { "sphere_casts", CLV_QUERY_SPHERE_CAST,
        { sizeof( clv_sphere_cast ), sizeof( clv_circle_cast ), sizeof( clv_sphere_cast64 ) } },
    { "capsule_casts", CLV_QUERY_CAPSULE_CAST,
        { sizeof( clv_capsule_cast ), sizeof( clv_capsule_cast2 ), sizeof( clv_capsule_cast64 ) } },
};

typedef enum question
{
    ASK_ALL,
    ASK_ANY,
    ASK_CLOSEST,
    ASK_NEAREST
} question;

// A list of queries as the package hands it over.
typedef struct query_call
{
    question question;
    int kind; // of clv_query_kind
    uint32_t count;
    array items, filters, offsets, hits;
    array plane_offsets,
        origins;   // of half-spaces: where each region's planes begin, and where they are seen from
    void* regions; // clv_half_spaces or its like; PyMem_Free
    bool as_given;
    uint32_t k;
    double max_distance;
    uint64_t hit_count; // out, of ASK_ALL
    uint32_t position;  // out
} query_call;

static void query_call_release( query_call* ask )
{
    array_release( &ask->items );
    array_release( &ask->filters );
    array_release( &ask->offsets );
    array_release( &ask->hits );
    array_release( &ask->plane_offsets );
    array_release( &ask->origins );
    PyMem_Free( ask->regions );
}

// Regions are runs of planes: from offsets[i] to offsets[i + 1], which is checked against the planes that there are.
static bool query_call_take_regions(
    const space_object* self, query_call* ask, PyObject* offset_object, PyObject* origin_object )
{
    size_t plane_size = s_kinds[CLV_QUERY_HALF_SPACES - 1].sizes[space_world( self )];
    if ( !array_take( &ask->plane_offsets, offset_object, "offsets", sizeof( uint32_t ), -1, 0 ) )
    {
        return false;
    }
    const uint32_t* offsets = ask->plane_offsets.view.buf;
    uint32_t count = array_count( &ask->plane_offsets, sizeof( uint32_t ) );
    uint32_t planes = array_count( &ask->items, plane_size );
    bool good = count > 0;
    for ( uint32_t i = 0; good && i + 1 < count; ++i )
    {
        good = offsets[i] <= offsets[i + 1] && offsets[i + 1] <= planes;
    }
    if ( !good )
    {
        PyErr_SetString( PyExc_ValueError, "half_spaces: offsets ascend, and end at the number of planes" );
        return false;
    }
    ask->count = count - 1;
    ask->regions = PyMem_Malloc( ( ask->count + 1 ) * sizeof( clv_half_spaces64 ) );
    if ( ask->regions == NULL )
    {
        PyErr_NoMemory();
        return false;
    }
    if ( self->is_double &&
        !array_take( &ask->origins, origin_object, "origins", sizeof( clv_vec64 ), ask->count, 0 ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < ask->count; ++i )
    {
        const void* first = (const char*)ask->items.view.buf + plane_size * offsets[i];
        uint32_t some = offsets[i + 1] - offsets[i];
        if ( self->is_double )
        {
            const clv_vec64* origins = ask->origins.view.buf;
            ( (clv_half_spaces64*)ask->regions )[i] = ( clv_half_spaces64 ){ origins[i], first, some };
        }
        else if ( self->is_flat )
        {
            ( (clv_half_planes*)ask->regions )[i] = ( clv_half_planes ){ first, some };
        }
        else
        {
            ( (clv_half_spaces*)ask->regions )[i] = ( clv_half_spaces ){ first, some };
        }
    }
    return true;
}

// Asks without the GIL. The two halves differ in the types of C alone.
static clv_result query_call_ask( const clv_space* space, query_call* ask )
{
    const void* items = ask->regions != NULL ? ask->regions : ask->items.view.buf;
    bool filter_each = array_count( &ask->filters, sizeof( clv_filter ) ) > 1;
    clv_queries queries = clv_query_list( (clv_query_kind)ask->kind, ask->count );
    queries.points = items;
    queries.filters = ask->filters.view.buf;
    queries.filter_each = filter_each;
    queries.as_given = ask->as_given;
    clv_hit* hits = ask->hits.view.buf;
    switch ( ask->question )
    {
    case ASK_ANY: return clv_space_query_any( space, &queries, hits, &ask->position );
    case ASK_CLOSEST: return clv_space_query_closest( space, &queries, hits, &ask->position );
    case ASK_NEAREST:
        return clv_space_query_nearest(
            space, &queries, ask->k, (float)ask->max_distance, hits, &ask->position );
    case ASK_ALL: break;
    }
    clv_query_lists lists = { ask->offsets.view.buf, hits, (uint64_t)ask->hits.view.len / sizeof( clv_hit ),
        0, UINT32_MAX };
    clv_result result = clv_space_query_all( space, &queries, &lists );
    ask->hit_count = lists.count;
    ask->position = lists.position;
    return result;
}

static clv_result query_call_ask64( const clv_space* space, query_call* ask )
{
    const void* items = ask->regions != NULL ? ask->regions : ask->items.view.buf;
    bool filter_each = array_count( &ask->filters, sizeof( clv_filter ) ) > 1;
    clv_queries64 queries = clv_query_list64( (clv_query_kind)ask->kind, ask->count );
    queries.points = items;
    queries.filters = ask->filters.view.buf;
    queries.filter_each = filter_each;
    queries.as_given = ask->as_given;
    clv_hit64* hits = ask->hits.view.buf;
    switch ( ask->question )
    {
    case ASK_ANY: return clv_space_query_any64( space, &queries, hits, &ask->position );
    case ASK_CLOSEST: return clv_space_query_closest64( space, &queries, hits, &ask->position );
    case ASK_NEAREST:
        return clv_space_query_nearest64( space, &queries, ask->k, ask->max_distance, hits, &ask->position );
    case ASK_ALL: break;
    }
    clv_query_lists64 lists = { ask->offsets.view.buf, hits,
        (uint64_t)ask->hits.view.len / sizeof( clv_hit64 ), 0, UINT32_MAX };
    clv_result result = clv_space_query_all64( space, &queries, &lists );
    ask->hit_count = lists.count;
    ask->position = lists.position;
    return result;
}

// Lengths of what the answer goes to.
static bool query_call_take_room(
    const space_object* self, query_call* ask, PyObject* offset_object, PyObject* hit_object )
{
    size_t hit_size = self->is_double ? sizeof( clv_hit64 ) : sizeof( clv_hit );
    Py_ssize_t hit_count = ask->count;
    if ( ask->question == ASK_ALL )
    {
        hit_count = -1;
        if ( !array_take( &ask->offsets, offset_object, "offsets", sizeof( uint64_t ),
                 (Py_ssize_t)ask->count + 1, PyBUF_WRITABLE ) )
        {
            return false;
        }
    }
    if ( ask->question == ASK_NEAREST )
    {
        hit_count *= ask->k;
    }
    if ( PyObject_GetBuffer( hit_object, &ask->hits.view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE ) != 0 )
    {
        return false;
    }
    ask->hits.is_held = true;
    if ( hit_count >= 0 && ask->hits.view.len != hit_count * (Py_ssize_t)hit_size )
    {
        PyErr_SetString( PyExc_ValueError, "hits: one for each answer is needed" );
        return false;
    }
    return true;
}

// query( question, kind, items, filters, as_given, k, max_distance, offsets, hits, plane_offsets, origins ): the number of hits,
// also where they are more than there is room for. None stands for what a question does not need.
static PyObject* space_query( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    int number, kind_index, as_given;
    PyObject *items, *filters, *offsets, *hits, *plane_offsets, *origins;
    query_call ask;
    memset( &ask, 0, sizeof( ask ) );
    ask.position = UINT32_MAX;
    if ( !PyArg_ParseTuple( args, "iiOOpIdOOOO", &number, &kind_index, &items, &filters, &as_given, &ask.k,
             &ask.max_distance, &offsets, &hits, &plane_offsets, &origins ) ||
        !space_is_readable( self ) )
    {
        return NULL;
    }
    if ( number < ASK_ALL || number > ASK_NEAREST || kind_index < 0 ||
        kind_index >= (int)( sizeof( s_kinds ) / sizeof( s_kinds[0] ) ) )
    {
        return PyErr_Format( PyExc_ValueError, "there is no such question" );
    }
    int world = space_world( self );
    size_t size = s_kinds[kind_index].sizes[world];
    ask.question = (question)number;
    ask.kind = s_kinds[kind_index].kind + 32 * world;
    ask.as_given = as_given != 0;
    bool is_regions = s_kinds[kind_index].kind == CLV_QUERY_HALF_SPACES;
    bool good = array_take( &ask.items, items, s_kinds[kind_index].name, size, -1, 0 );
    if ( good )
    {
        ask.count = array_count( &ask.items, size );
        good = !is_regions || query_call_take_regions( self, &ask, plane_offsets, origins );
    }
    if ( good && filters != Py_None )
    {
        good = array_take( &ask.filters, filters, "filters", sizeof( clv_filter ), -1, 0 );
        uint32_t count = array_count( &ask.filters, sizeof( clv_filter ) );
        if ( good && count != 1 && count != ask.count )
        {
            PyErr_Format( PyExc_ValueError, "filters: %u for %u queries; one for all, or one for each", count,
                ask.count );
            good = false;
        }
    }
    good = good && query_call_take_room( self, &ask, offsets, hits );
    PyObject* answer = NULL;
    if ( good )
    {
        clv_result result;
        self->asking += 1;
        Py_BEGIN_ALLOW_THREADS result =
            self->is_double ? query_call_ask64( self->space, &ask ) : query_call_ask( self->space, &ask );
        Py_END_ALLOW_THREADS self->asking -= 1;
        answer = result == CLV_OK || result == CLV_NO_ROOM ? PyLong_FromUnsignedLongLong( ask.hit_count )
                                                           : raise_result( result, ask.position );
    }
    query_call_release( &ask );
    return answer;
}

// query_pairs( other, as_given, out ): the number of pairs, also where there is no room for them.
static PyObject* space_query_pairs( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    PyObject *other_object, *pair_object;
    int as_given;
    if ( !PyArg_ParseTuple( args, "O!pO", Py_TYPE( object ), &other_object, &as_given, &pair_object ) ||
        !space_is_readable( self ) || !space_is_readable( (space_object*)other_object ) )
    {
        return NULL;
    }
    space_object* other = (space_object*)other_object;
    Py_buffer pairs;
    if ( PyObject_GetBuffer( pair_object, &pairs, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE ) != 0 )
    {
        return NULL;
    }
    uint64_t count = 0;
    clv_result result;
    self->asking += 1;
    other->asking += 1;
    Py_BEGIN_ALLOW_THREADS result = clv_space_query_pairs( self->space, other->space, as_given != 0,
        pairs.buf, (uint64_t)pairs.len / sizeof( clv_pair ), &count );
    Py_END_ALLOW_THREADS other->asking -= 1;
    self->asking -= 1;
    PyBuffer_Release( &pairs );
    return result == CLV_OK || result == CLV_NO_ROOM ? PyLong_FromUnsignedLongLong( count )
                                                     : raise_result( result, UINT32_MAX );
}

// ---- about the space

static PyObject* space_stats( PyObject* object, PyObject* unused )
{
    (void)unused;
    const space_object* self = (space_object*)object;
    if ( !space_is_readable( self ) )
    {
        return NULL;
    }
    clv_stats stats = clv_space_stats( self->space );
    return Py_BuildValue( "{sIsIsKsKsKsKsKsKsnsnsKsdsdsdsd}", "object_count", stats.object_count,
        "slot_count", stats.slot_count, "pair_count", stats.pair_count, "candidate_count",
        stats.candidate_count, "test_count", stats.test_count, "begun_count", stats.begun_count,
        "ended_count", stats.ended_count, "update_count", stats.update_count, "memory_bytes",
        (Py_ssize_t)stats.memory_bytes, "memory_peak_bytes", (Py_ssize_t)stats.memory_peak_bytes,
        "allocation_count", stats.allocation_count, "update_ms", stats.update_ms, "search_ms",
        stats.search_ms, "clean_ms", stats.clean_ms, "output_ms", stats.output_ms );
}

// about(): objects, whether the list is valid, method, instruction set, workers.
static PyObject* space_about( PyObject* object, PyObject* unused )
{
    (void)unused;
    const space_object* self = (space_object*)object;
    if ( !space_is_readable( self ) )
    {
        return NULL;
    }
    return Py_BuildValue( "INssI", clv_space_object_count( self->space ),
        PyBool_FromLong( clv_space_pairs( self->space ).valid ), clv_space_method( self->space ),
        clv_isa_name( clv_space_isa( self->space ) ), clv_space_worker_count( self->space ) );
}

// ---- the module

static PyMethodDef s_space_methods[] = {
    { "add", space_add, METH_VARARGS, NULL },
    { "move", space_move, METH_VARARGS, NULL },
    { "remove", space_remove, METH_O, NULL },
    { "refilter", space_refilter, METH_O, NULL },
    { "clear", space_clear, METH_NOARGS, NULL },
    { "shrink", space_shrink, METH_NOARGS, NULL },
    { "shift_origin", space_shift_origin, METH_VARARGS, NULL },
    { "set", space_set, METH_VARARGS, NULL },
    { "get", space_get, METH_VARARGS, NULL },
    { "ids", space_ids, METH_O, NULL },
    { "update", space_update, METH_NOARGS, NULL },
    { "refresh", space_refresh, METH_NOARGS, NULL },
    { "visit", space_visit, METH_O, NULL },
    { "view", space_view, METH_VARARGS, NULL },
    { "pair_ids", space_pair_ids, METH_O, NULL },
    { "query", space_query, METH_VARARGS, NULL },
    { "query_pairs", space_query_pairs, METH_VARARGS, NULL },
    { "stats", space_stats, METH_NOARGS, NULL },
    { "about", space_about, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

// Slots hold functions as void pointers, which POSIX allows and ISO C does not: by way of an integer.
#define SLOT( function ) ( (void*)(uintptr_t)( function ) )

static PyObject* set_error( PyObject* module, PyObject* error )
{
    (void)module;
    Py_XDECREF( s_error );
    s_error = Py_NewRef( error );
    Py_RETURN_NONE;
}

static PyMethodDef s_methods[] = {
    { "set_error", set_error, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

static PyObject* kinds( void )
{
    PyObject* table = PyDict_New();
    for ( size_t i = 0; table != NULL && i < sizeof( s_kinds ) / sizeof( s_kinds[0] ); ++i )
    {
        const struct kind_row* row = &s_kinds[i];
        PyObject* value = Py_BuildValue( "i(nnn)", (int)i, (Py_ssize_t)row->sizes[0],
            (Py_ssize_t)row->sizes[1], (Py_ssize_t)row->sizes[2] );
        if ( value == NULL || PyDict_SetItemString( table, row->name, value ) != 0 )
        {
            Py_CLEAR( table );
        }
        Py_XDECREF( value );
    }
    return table;
}

static bool add( PyObject* module, const char* name, PyObject* value )
{
    int status = value != NULL ? PyModule_AddObjectRef( module, name, value ) : -1;
    Py_XDECREF( value );
    return status == 0;
}

PyMODINIT_FUNC PyInit__cleave( void )
{
    static PyModuleDef definition = { PyModuleDef_HEAD_INIT, "cleave._cleave", NULL, -1, s_methods, NULL,
        NULL, NULL, NULL };
    PyType_Slot space_slots[] = { { Py_tp_new, SLOT( space_new ) }, { Py_tp_dealloc, SLOT( space_free ) },
        { Py_tp_methods, s_space_methods }, { 0, NULL } };
    PyType_Spec space_spec = { "cleave._cleave.Space", sizeof( space_object ), 0, Py_TPFLAGS_DEFAULT,
        space_slots };
    PyType_Slot view_slots[] = { { Py_tp_dealloc, SLOT( view_free ) }, { Py_bf_getbuffer, SLOT( view_lend ) },
        { Py_bf_releasebuffer, SLOT( view_take_back ) }, { 0, NULL } };
    PyType_Spec view_spec = { "cleave._cleave.View", sizeof( view_object ), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, view_slots };

    PyObject* module = PyModule_Create( &definition );
    s_view_type = (PyTypeObject*)PyType_FromSpec( &view_spec );
    if ( module == NULL || s_view_type == NULL || !add( module, "Space", PyType_FromSpec( &space_spec ) ) ||
        !add( module, "KINDS", kinds() ) ||
        !add( module, "VERSION", PyUnicode_FromString( clv_version_text() ) ) )
    {
        Py_XDECREF( module );
        return NULL;
    }
    return module;
}
