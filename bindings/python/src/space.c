// SPDX-License-Identifier: MIT
#include "space.h"

// ---- calls back

void clv_py_call_begin( call_back* call, PyObject* function )
{
    memset( call, 0, sizeof( *call ) );
    call->function = function;
    call->thread = PyEval_SaveThread();
}

bool clv_py_call_enter( call_back* call )
{
    if ( call->type != NULL )
    {
        return false;
    }
    PyEval_RestoreThread( call->thread );
    return true;
}

void clv_py_call_leave( call_back* call, PyObject* answer )
{
    if ( answer == NULL )
    {
        PyErr_Fetch( &call->type, &call->value, &call->trace );
    }
    Py_XDECREF( answer );
    call->thread = PyEval_SaveThread();
}

bool clv_py_call_end( call_back* call )
{
    PyEval_RestoreThread( call->thread );
    if ( call->type != NULL )
    {
        PyErr_Restore( call->type, call->value, call->trace );
        call->type = NULL;
        return false;
    }
    return true;
}

// ---- the space

size_t clv_py_space_axes( const space_object* self )
{
    return self->is_flat ? 2 : 3;
}

int clv_py_space_world( const space_object* self )
{
    return self->is_flat ? 1 : self->is_double ? 2 : 0;
}

// What a failed call left; a call that was refused because the space is busy leaves nothing there.
static void* space_raise( const space_object* self, clv_result result )
{
    return result == CLV_BUSY ? clv_py_raise_result( result, UINT32_MAX )
                              : clv_py_raise( clv_space_error( self->space ) );
}

// For calls that change the space, from enter to leave; ends_lists: those that write over what is lent.
bool clv_py_space_enter( space_object* self, bool ends_lists )
{
    if ( self->is_changing || self->asking > 0 )
    {
        clv_py_raise_result( CLV_BUSY, UINT32_MAX );
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

PyObject* clv_py_space_leave( space_object* self, clv_result result )
{
    self->is_changing = false;
    if ( result != CLV_OK )
    {
        return space_raise( self, result );
    }
    Py_RETURN_NONE;
}

bool clv_py_space_is_readable( const space_object* self )
{
    if ( self->is_changing )
    {
        clv_py_raise_result( CLV_BUSY, UINT32_MAX );
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
    DEF_DOUBLE,
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
    { "worker_spin_ms", DEF_DOUBLE, offsetof( clv_space_def, worker_spin_ms ) },
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
    case DEF_DOUBLE: *(double*)(void*)member = PyFloat_AsDouble( value ); break;
    case DEF_TEXT: *(const char**)(void*)member = PyUnicode_AsUTF8AndSize( value, NULL ); break;
    }
    return !PyErr_Occurred();
}

// A pair about which the filter cannot be asked any more is left out, and asked about again in the next
// update.
static bool filter_pair( const clv_space* space, clv_pair pair, void* user )
{
    (void)space;
    space_object* self = user;
    if ( self->filter == NULL || !clv_py_call_enter( &self->callback ) )
    {
        self->is_undecided = true;
        return false;
    }
    PyObject* answer = PyObject_CallFunction( self->filter, "II", (unsigned)pair.a, (unsigned)pair.b );
    int counts = answer != NULL ? PyObject_IsTrue( answer ) : -1;
    if ( counts < 0 )
    {
        Py_CLEAR( answer );
        self->is_undecided = true;
    }
    clv_py_call_leave( &self->callback, answer );
    return counts == 1;
}

PyObject* clv_py_space_new( PyTypeObject* type, PyObject* args, PyObject* kwargs )
{
    PyObject *settings, *filter;
    const char* isa = NULL;
    (void)kwargs;
    if ( !PyArg_ParseTuple( args, "O!zO", &PyDict_Type, &settings, &isa, &filter ) )
    {
        return NULL;
    }
    if ( filter != Py_None && !PyCallable_Check( filter ) )
    {
        return PyErr_Format( PyExc_TypeError, "filter: something to call, with two slots, is needed" );
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
    if ( filter != Py_None )
    {
        self->filter = Py_NewRef( filter );
        def.filter = filter_pair;
        def.filter_user = self;
    }
    clv_result result = clv_space_create( &def, &self->space );
    if ( result != CLV_OK )
    {
        clv_error error = { result, UINT32_MAX, { 0, 0 }, 0,
            self->reason[0] != '\0' ? self->reason : clv_result_text( result ) };
        clv_py_raise( error );
        Py_DECREF( self );
        return NULL;
    }
    return (PyObject*)self;
}

void clv_py_space_free( PyObject* object )
{
    space_object* self = (space_object*)object;
    PyTypeObject* type = Py_TYPE( object );
    PyObject_GC_UnTrack( object );
    clv_space_destroy( self->space );
    Py_CLEAR( self->filter );
    PyObject_GC_Del( object );
    Py_DECREF( type );
}

// The filter may hold the space: such rings are found by the collector.
int clv_py_space_traverse( PyObject* object, visitproc visit, void* arg )
{
    Py_VISIT( ( (space_object*)object )->filter );
    Py_VISIT( (PyObject*)Py_TYPE( object ) );
    return 0;
}

int clv_py_space_forget( PyObject* object )
{
    Py_CLEAR( ( (space_object*)object )->filter );
    return 0;
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
    if ( !clv_py_array_take( a, object, what, size, count, 0 ) )
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

// add( boxes, ids, user_data, filters, margins, is_static, motions ): all but the boxes may be None.
PyObject* clv_py_space_add( PyObject* object, PyObject* args )
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
    bool good = clv_py_box_array_take( &boxes, box_object, self->is_double, clv_py_space_axes( self ) ) &&
        ( id_object == Py_None ||
            clv_py_array_take( &ids, id_object, "ids", sizeof( clv_id ), boxes.count, PyBUF_WRITABLE ) );
    for ( int i = 0; good && i < ADD_COLUMNS; ++i )
    {
        good =
            add_column( &columns[i], column_objects[i], rows[i].what, rows[i].size, boxes.count, &values[i] );
    }
    if ( good && clv_py_space_enter( self, false ) )
    {
        clv_add_def def = clv_default_add_def();
        add_boxes( self, &def, &boxes );
        def.user_data = values[0];
        def.filters = values[1];
        def.margins = values[2];
        def.is_static = values[3];
        def.motions = values[4];
        answer =
            clv_py_space_leave( self, clv_space_add_with( self->space, &def, boxes.count, ids.view.buf ) );
    }
    for ( int i = 0; i < ADD_COLUMNS; ++i )
    {
        clv_py_array_release( &columns[i] );
    }
    clv_py_array_release( &ids );
    clv_py_box_array_release( &boxes );
    return answer;
}

// The boxes of those that ids name, or of all objects in the order of their slots.
static clv_result move_boxes( space_object* self, const clv_id* ids, bool is_all, const box_array* boxes )
{
    const void* lower = boxes->lower;
    const void* upper = boxes->upper;
    uint32_t count = boxes->count;
    if ( self->is_double )
    {
        clv_box_stream64 stream = { lower, upper, boxes->stride };
        return is_all ? clv_space_move_all_strided64( self->space, stream, count )
                      : clv_space_move_strided64( self->space, ids, stream, count );
    }
    if ( self->is_flat )
    {
        clv_box_stream2 stream = { lower, upper, boxes->stride };
        return is_all ? clv_space_move_all_strided2( self->space, stream, count )
                      : clv_space_move_strided2( self->space, ids, stream, count );
    }
    clv_box_stream stream = { lower, upper, boxes->stride };
    return is_all ? clv_space_move_all_strided( self->space, stream, count )
                  : clv_space_move_strided( self->space, ids, stream, count );
}

// move( ids, boxes ); None in place of ids: all objects, in the order of their slots.
PyObject* clv_py_space_move( PyObject* object, PyObject* args )
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
    if ( clv_py_box_array_take( &boxes, box_object, self->is_double, clv_py_space_axes( self ) ) &&
        ( id_object == Py_None ||
            clv_py_array_take( &ids, id_object, "ids", sizeof( clv_id ), boxes.count, 0 ) ) &&
        clv_py_space_enter( self, false ) )
    {
        answer = clv_py_space_leave( self, move_boxes( self, ids.view.buf, id_object == Py_None, &boxes ) );
    }
    clv_py_array_release( &ids );
    clv_py_box_array_release( &boxes );
    return answer;
}

static PyObject* by_ids(
    PyObject* object, PyObject* id_object, clv_result ( *call )( clv_space*, const clv_id*, uint32_t ) )
{
    space_object* self = (space_object*)object;
    array ids = { 0 };
    PyObject* answer = NULL;
    if ( clv_py_array_take( &ids, id_object, "ids", sizeof( clv_id ), -1, 0 ) &&
        clv_py_space_enter( self, false ) )
    {
        answer = clv_py_space_leave(
            self, call( self->space, ids.view.buf, clv_py_array_count( &ids, sizeof( clv_id ) ) ) );
    }
    clv_py_array_release( &ids );
    return answer;
}

PyObject* clv_py_space_remove( PyObject* self, PyObject* ids )
{
    return by_ids( self, ids, clv_space_remove );
}

PyObject* clv_py_space_refilter( PyObject* self, PyObject* ids )
{
    return by_ids( self, ids, clv_space_refilter );
}

// ---- what objects carry
//
// One row for each column, with the size of an item and a function that sets many and one that reads one, for
// void pointers.

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
PyObject* clv_py_space_set( PyObject* object, PyObject* args )
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
    if ( column != NULL && clv_py_array_take( &ids, id_object, "ids", sizeof( clv_id ), -1, 0 ) &&
        clv_py_array_take(
            &values, value_object, name, column->size, clv_py_array_count( &ids, sizeof( clv_id ) ), 0 ) &&
        clv_py_space_enter( self, false ) )
    {
        uint32_t count = clv_py_array_count( &ids, sizeof( clv_id ) );
        answer = clv_py_space_leave( self, column->set( self->space, ids.view.buf, values.view.buf, count ) );
    }
    clv_py_array_release( &values );
    clv_py_array_release( &ids );
    return answer;
}

// get( column, ids, values ): fills values. The first bad id is told with its position.
PyObject* clv_py_space_get( PyObject* object, PyObject* args )
{
    const space_object* self = (space_object*)object;
    const char* name;
    PyObject *id_object, *value_object;
    if ( !PyArg_ParseTuple( args, "sOO", &name, &id_object, &value_object ) ||
        !clv_py_space_is_readable( self ) )
    {
        return NULL;
    }
    const struct column_row* column = column_named( name, false );
    array ids = { 0 }, values = { 0 };
    PyObject* answer = NULL;
    if ( column != NULL && clv_py_array_take( &ids, id_object, "ids", sizeof( clv_id ), -1, 0 ) &&
        clv_py_array_take( &values, value_object, name, column->size,
            clv_py_array_count( &ids, sizeof( clv_id ) ), PyBUF_WRITABLE ) )
    {
        const clv_id* id = ids.view.buf;
        char* to = values.view.buf;
        clv_error error = { CLV_OK, 0, { 0, 0 }, 0, "" };
        for ( uint32_t count = clv_py_array_count( &ids, sizeof( clv_id ) );
              error.code == CLV_OK && error.position < count; )
        {
            error.id = id[error.position];
            error.code = column->get( self->space, error.id, to + column->size * error.position );
            error.position += error.code == CLV_OK;
        }
        error.text = clv_result_text( error.code );
        answer = error.code == CLV_OK ? Py_NewRef( Py_None ) : clv_py_raise( error );
    }
    clv_py_array_release( &values );
    clv_py_array_release( &ids );
    return answer;
}

// ids( out ): of all objects, in the order of their slots; out has room for as many as there are.
PyObject* clv_py_space_ids( PyObject* object, PyObject* id_object )
{
    const space_object* self = (space_object*)object;
    array ids = { 0 };
    if ( !clv_py_space_is_readable( self ) ||
        !clv_py_array_take( &ids, id_object, "ids", sizeof( clv_id ), clv_space_object_count( self->space ),
            PyBUF_WRITABLE ) )
    {
        clv_py_array_release( &ids );
        return NULL;
    }
    clv_id* to = ids.view.buf;
    uint32_t left = clv_py_array_count( &ids, sizeof( clv_id ) );
    for ( uint32_t slot = 0; left > 0; ++slot )
    {
        clv_id id = clv_space_id_at( self->space, slot );
        if ( !clv_id_is_null( id ) )
        {
            *to++ = id;
            left -= 1;
        }
    }
    clv_py_array_release( &ids );
    Py_RETURN_NONE;
}

// ---- about the space

PyObject* clv_py_space_stats( PyObject* object, PyObject* unused )
{
    (void)unused;
    const space_object* self = (space_object*)object;
    if ( !clv_py_space_is_readable( self ) )
    {
        return NULL;
    }
    clv_stats stats = clv_space_stats( self->space );
    return Py_BuildValue( "{sIsIsKsKsKsKsKsKsnsnsKsdsdsdsdsI}", "object_count", stats.object_count,
        "slot_count", stats.slot_count, "pair_count", stats.pair_count, "candidate_count",
        stats.candidate_count, "test_count", stats.test_count, "begun_count", stats.begun_count,
        "ended_count", stats.ended_count, "update_count", stats.update_count, "memory_bytes",
        (Py_ssize_t)stats.memory_bytes, "memory_peak_bytes", (Py_ssize_t)stats.memory_peak_bytes,
        "allocation_count", stats.allocation_count, "update_ms", stats.update_ms, "search_ms",
        stats.search_ms, "clean_ms", stats.clean_ms, "output_ms", stats.output_ms, "reasons", stats.reasons );
}

// about(): objects, whether the list is valid, method, instruction set, workers.
PyObject* clv_py_space_about( PyObject* object, PyObject* unused )
{
    (void)unused;
    const space_object* self = (space_object*)object;
    if ( !clv_py_space_is_readable( self ) )
    {
        return NULL;
    }
    return Py_BuildValue( "INssI", clv_space_object_count( self->space ),
        PyBool_FromLong( clv_space_pairs( self->space ).valid ), clv_space_method( self->space ),
        clv_isa_name( clv_space_isa( self->space ) ), clv_space_worker_count( self->space ) );
}
