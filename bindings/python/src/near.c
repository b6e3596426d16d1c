// SPDX-License-Identifier: MIT
#include "space.h"

// The arguments of a call by name, and the arrays among them.
typedef struct near_call
{
    clv_near_def def;
    clv_near_points points;
    clv_near_cell cell;
    array positions, radii, groups, edges, excluded;
    char reason[256]; // why the def was refused
} near_call;

static void listen_near( clv_log_level level, const char* line, void* user )
{
    near_call* call = user;
    if ( level == CLV_LOG_ERROR )
    {
        strncpy( call->reason, line, sizeof( call->reason ) - 1 );
    }
}

static void release_arrays( near_call* call )
{
    clv_py_array_release( &call->positions );
    clv_py_array_release( &call->radii );
    clv_py_array_release( &call->groups );
    clv_py_array_release( &call->edges );
    clv_py_array_release( &call->excluded );
}

static bool take_points( near_call* call, PyObject* positions, PyObject* radii, PyObject* groups )
{
    bool is_double = call->def.doubles;
    size_t real_size = is_double ? sizeof( double ) : sizeof( float );
    size_t stride = real_size * ( call->def.flat ? 2 : 3 );
    if ( !clv_py_array_take( &call->positions, positions, "points", stride, -1, 0 ) )
    {
        return false;
    }
    uint32_t count = clv_py_array_count( &call->positions, stride );
    if ( ( radii != Py_None &&
             !clv_py_array_take( &call->radii, radii, "radii", real_size, (Py_ssize_t)count, 0 ) ) ||
        ( groups != Py_None &&
            !clv_py_array_take(
                &call->groups, groups, "groups", sizeof( uint32_t ), (Py_ssize_t)count, 0 ) ) )
    {
        return false;
    }
    const void* at = call->positions.view.buf;
    const void* sizes = call->radii.is_held ? call->radii.view.buf : NULL;
    call->points = ( clv_near_points ){ .stride = stride, .count = count };
    call->points.positions = is_double ? NULL : at;
    call->points.positions64 = is_double ? at : NULL;
    call->points.radii = is_double ? NULL : sizes;
    call->points.radii64 = is_double ? sizes : NULL;
    call->points.groups = call->groups.is_held ? call->groups.view.buf : NULL;
    return true;
}

static bool take_cell( near_call* call, PyObject* edges, unsigned int periodic )
{
    if ( edges == Py_None )
    {
        return true;
    }
    if ( !clv_py_array_take( &call->edges, edges, "cell", sizeof( call->cell.edges ), 1, 0 ) )
    {
        return false;
    }
    memcpy( call->cell.edges, call->edges.view.buf, sizeof( call->cell.edges ) );
    for ( unsigned int axis = 0; axis < 3; ++axis )
    {
        call->cell.periodic[axis] = ( periodic >> axis & 1 ) != 0;
    }
    call->points.cell = &call->cell;
    return true;
}

// The list as five bytearrays, None where it was not asked for; or NULL with an exception.
static PyObject* copy_list( const clv_near_view* list )
{
    size_t real_size =
        list->squared64 != NULL || list->vectors64 != NULL ? sizeof( double ) : sizeof( float );
    bool by_point = list->offsets != NULL;
    const void* squared = list->squared64 != NULL ? (const void*)list->squared64 : list->squared;
    const void* vectors = list->vectors64 != NULL ? (const void*)list->vectors64 : list->vectors;
    const struct
    {
        const void* start;
        size_t size;
    } columns[5] = {
        { by_point ? (const void*)list->indices : list->pairs,
            list->count * ( by_point ? sizeof( uint32_t ) : sizeof( clv_pair ) ) },
        { list->offsets, ( (size_t)list->point_count + 1 ) * sizeof( uint64_t ) },
        { squared, list->count * real_size },
        { vectors, list->count * 3 * real_size },
        { list->shifts, list->count * 3 * sizeof( int32_t ) },
    };
    PyObject* answer = PyTuple_New( 5 );
    for ( Py_ssize_t i = 0; answer != NULL && i < 5; ++i )
    {
        // Without pairs their array may be NULL, and is still asked for.
        PyObject* bytes = columns[i].start != NULL || i == 0
            ? PyByteArray_FromStringAndSize( columns[i].start, (Py_ssize_t)columns[i].size )
            : Py_NewRef( Py_None );
        if ( bytes == NULL || PyTuple_SetItem( answer, i, bytes ) != 0 )
        {
            Py_CLEAR( answer );
        }
    }
    return answer;
}

static PyObject* list_near( near_call* call )
{
    call->def.logger.write = listen_near;
    call->def.logger.user = call;
    clv_near* near = NULL;
    clv_result result = clv_near_create( &call->def, &near );
    if ( result != CLV_OK )
    {
        clv_error error = { result, UINT32_MAX, { 0, 0 }, 0,
            call->reason[0] != '\0' ? call->reason : clv_result_text( result ) };
        return clv_py_raise( error );
    }
    clv_near_view list = { 0 };
    Py_BEGIN_ALLOW_THREADS;
    if ( call->excluded.is_held )
    {
        result = clv_near_exclude(
            near, call->excluded.view.buf, (uint64_t)call->excluded.view.len / sizeof( clv_pair ) );
    }
    if ( result == CLV_OK )
    {
        result = clv_near_update( near, &call->points, NULL );
        list = clv_near_list( near );
    }
    Py_END_ALLOW_THREADS;
    PyObject* answer = result == CLV_OK ? copy_list( &list ) : clv_py_raise( clv_near_error( near ) );
    clv_near_destroy( near );
    return answer;
}

// near( points, is_double, is_flat, cutoff, radii, groups, excluded, cell, periodic, full, by_point, squared,
// vectors, shifts, max_pairs, workers, isa ): packed arrays of the points' type, uint32 and float64, or None;
// periodic has a bit for each axis.
PyObject* clv_py_near( PyObject* module, PyObject* args )
{
    (void)module;
    near_call call = { .def = clv_default_near_def() };
    PyObject *positions, *radii, *groups, *excluded, *edges;
    int flags[7];
    unsigned int periodic, workers;
    unsigned long long max_pairs;
    const char* isa = NULL;
    if ( !PyArg_ParseTuple( args, "OppdOOOOIpppppKIz", &positions, &flags[0], &flags[1], &call.def.cutoff,
             &radii, &groups, &excluded, &edges, &periodic, &flags[2], &flags[3], &flags[4], &flags[5],
             &flags[6], &max_pairs, &workers, &isa ) )
    {
        return NULL;
    }
    if ( isa != NULL && !clv_isa_from_name( isa, &call.def.isa ) )
    {
        return PyErr_Format( PyExc_ValueError, "there is no instruction set '%s'", isa );
    }
    call.def.doubles = flags[0] != 0;
    call.def.flat = flags[1] != 0;
    call.def.full = flags[2] != 0;
    call.def.by_point = flags[3] != 0;
    call.def.squared = flags[4] != 0;
    call.def.vectors = flags[5] != 0;
    call.def.shifts = flags[6] != 0;
    call.def.max_pairs = max_pairs;
    call.def.worker_count = workers;
    bool good = take_points( &call, positions, radii, groups ) && take_cell( &call, edges, periodic ) &&
        ( excluded == Py_None ||
            clv_py_array_take( &call.excluded, excluded, "exclude", sizeof( clv_pair ), -1, 0 ) );
    PyObject* answer = good ? list_near( &call ) : NULL;
    release_arrays( &call );
    return answer;
}
