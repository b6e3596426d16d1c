// SPDX-License-Identifier: MIT
#include "space.h"

// ---- questions

// Kinds of queries: the names of the package, and the size of an item in a solid, a flat and a space of
// doubles. Kinds of flat spaces and of doubles are numbered 32 and 64 later.
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
    ASK_NEAREST,
    ASK_VISIT
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
    call_back back;     // its function: of ASK_VISIT the visitor
    PyObject* callback; // asked about each hit; NULL: all count
    uint64_t hit_count; // out, of ASK_ALL
    uint32_t position;  // out
} query_call;

static void query_call_release( query_call* ask )
{
    clv_py_array_release( &ask->items );
    clv_py_array_release( &ask->filters );
    clv_py_array_release( &ask->offsets );
    clv_py_array_release( &ask->hits );
    clv_py_array_release( &ask->plane_offsets );
    clv_py_array_release( &ask->origins );
    PyMem_Free( ask->regions );
}

// Regions are runs of planes: from offsets[i] to offsets[i + 1], which is checked against the planes that
// there are.
static bool query_call_take_regions(
    const space_object* self, query_call* ask, PyObject* offset_object, PyObject* origin_object )
{
    size_t plane_size = s_kinds[CLV_QUERY_HALF_SPACES - 1].sizes[clv_py_space_world( self )];
    if ( !clv_py_array_take( &ask->plane_offsets, offset_object, "offsets", sizeof( uint32_t ), -1, 0 ) )
    {
        return false;
    }
    const uint32_t* offsets = ask->plane_offsets.view.buf;
    uint32_t count = clv_py_array_count( &ask->plane_offsets, sizeof( uint32_t ) );
    uint32_t planes = clv_py_array_count( &ask->items, plane_size );
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
        !clv_py_array_take( &ask->origins, origin_object, "origins", sizeof( clv_vec64 ), ask->count, 0 ) )
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

// What the callback answers: whether the hit counts, or a tuple of that and of how far the query still looks.
static bool ask_callback( query_call* ask, uint32_t query, uint32_t slot, double t, double* reach )
{
    if ( !clv_py_call_enter( &ask->back ) )
    {
        return false;
    }
    PyObject* answer = PyObject_CallFunction( ask->callback, "IIdd", query, slot, t, *reach );
    int counts = -1;
    if ( answer != NULL && PyTuple_Check( answer ) )
    {
        counts = PyArg_ParseTuple( answer, "pd;a callback returns a bool, or a tuple of it and of the reach",
                     &counts, reach )
            ? counts
            : -1;
    }
    else if ( answer == Py_None )
    {
        PyErr_SetString( PyExc_TypeError,
            "a callback returned None; True or False is needed, or a tuple of it and of the reach" );
    }
    else if ( answer != NULL )
    {
        counts = PyObject_IsTrue( answer );
    }
    if ( counts < 0 )
    {
        Py_CLEAR( answer );
    }
    clv_py_call_leave( &ask->back, answer );
    return counts == 1;
}

static bool visit_hits( query_call* ask, uint32_t query, const void* hits, uint64_t bytes )
{
    if ( !clv_py_call_enter( &ask->back ) )
    {
        return false;
    }
    PyObject* answer =
        PyObject_CallFunction( ask->back.function, "Iy#", query, (const char*)hits, (Py_ssize_t)bytes );
    bool goes_on = answer != NULL && answer != Py_False;
    clv_py_call_leave( &ask->back, answer );
    return goes_on;
}

// The same for floats and doubles.
#define QUERY_CALLS( suffix, real )                                                                          \
    static bool ask_hit##suffix(                                                                             \
        const clv_space* space, uint32_t query, clv_hit##suffix hit, real* reach, void* user )               \
    {                                                                                                        \
        (void)space;                                                                                         \
        double still = (double)*reach;                                                                       \
        bool counts = ask_callback( user, query, hit.index, (double)hit.t, &still );                         \
        *reach = (real)still;                                                                                \
        return counts;                                                                                       \
    }                                                                                                        \
    static bool visit_list##suffix(                                                                          \
        uint32_t query, const clv_hit##suffix* hits, uint64_t count, void* user )                            \
    {                                                                                                        \
        return visit_hits( user, query, hits, count * sizeof( clv_hit##suffix ) );                           \
    }
QUERY_CALLS(, float )
QUERY_CALLS( 64, double )
#undef QUERY_CALLS

// Asks without the GIL. The two halves differ in the types of C alone.
static clv_result query_call_ask( const clv_space* space, query_call* ask )
{
    const void* items = ask->regions != NULL ? ask->regions : ask->items.view.buf;
    bool filter_each = clv_py_array_count( &ask->filters, sizeof( clv_filter ) ) > 1;
    clv_queries queries = clv_query_list( (clv_query_kind)ask->kind, ask->count );
    queries.points = items;
    queries.filters = ask->filters.view.buf;
    queries.filter_each = filter_each;
    queries.as_given = ask->as_given;
    queries.callback = ask->callback != NULL ? ask_hit : NULL;
    queries.user = ask;
    clv_hit* hits = ask->hits.view.buf;
    switch ( ask->question )
    {
    case ASK_VISIT: return clv_space_query_visit( space, &queries, visit_list, ask, &ask->position );
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
    bool filter_each = clv_py_array_count( &ask->filters, sizeof( clv_filter ) ) > 1;
    clv_queries64 queries = clv_query_list64( (clv_query_kind)ask->kind, ask->count );
    queries.points = items;
    queries.filters = ask->filters.view.buf;
    queries.filter_each = filter_each;
    queries.as_given = ask->as_given;
    queries.callback = ask->callback != NULL ? ask_hit64 : NULL;
    queries.user = ask;
    clv_hit64* hits = ask->hits.view.buf;
    switch ( ask->question )
    {
    case ASK_VISIT: return clv_space_query_visit64( space, &queries, visit_list64, ask, &ask->position );
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
        if ( !clv_py_array_take( &ask->offsets, offset_object, "offsets", sizeof( uint64_t ),
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

// The arguments that every question has: items, filters, planes. False with an exception.
static bool query_call_take( const space_object* self, query_call* ask, int kind_index, PyObject* items,
    PyObject* filters, PyObject* callback, PyObject* plane_offsets, PyObject* origins )
{
    if ( kind_index < 0 || kind_index >= (int)( sizeof( s_kinds ) / sizeof( s_kinds[0] ) ) )
    {
        PyErr_SetString( PyExc_ValueError, "there is no such question" );
        return false;
    }
    if ( callback != Py_None && !PyCallable_Check( callback ) )
    {
        PyErr_SetString( PyExc_TypeError, "callback: something to call is needed" );
        return false;
    }
    int world = clv_py_space_world( self );
    size_t size = s_kinds[kind_index].sizes[world];
    ask->kind = s_kinds[kind_index].kind + 32 * world;
    ask->callback = callback != Py_None ? callback : NULL;
    if ( !clv_py_array_take( &ask->items, items, s_kinds[kind_index].name, size, -1, 0 ) )
    {
        return false;
    }
    ask->count = clv_py_array_count( &ask->items, size );
    if ( s_kinds[kind_index].kind == CLV_QUERY_HALF_SPACES &&
        !query_call_take_regions( self, ask, plane_offsets, origins ) )
    {
        return false;
    }
    if ( filters == Py_None )
    {
        return true;
    }
    if ( !clv_py_array_take( &ask->filters, filters, "filters", sizeof( clv_filter ), -1, 0 ) )
    {
        return false;
    }
    uint32_t count = clv_py_array_count( &ask->filters, sizeof( clv_filter ) );
    if ( count != 1 && count != ask->count )
    {
        PyErr_Format(
            PyExc_ValueError, "filters: %u for %u queries; one for all, or one for each", count, ask->count );
        return false;
    }
    return true;
}

// Asks, releases what was taken, and returns the number of hits, or NULL with an exception.
static PyObject* query_call_finish( space_object* self, query_call* ask, bool is_good )
{
    PyObject* answer = NULL;
    if ( is_good )
    {
        self->asking += 1;
        clv_py_call_begin( &ask->back, ask->back.function );
        clv_result result =
            self->is_double ? query_call_ask64( self->space, ask ) : query_call_ask( self->space, ask );
        is_good = clv_py_call_end( &ask->back );
        self->asking -= 1;
        answer = !is_good                               ? NULL
            : result == CLV_OK || result == CLV_NO_ROOM ? PyLong_FromUnsignedLongLong( ask->hit_count )
                                                        : clv_py_raise_result( result, ask->position );
    }
    query_call_release( ask );
    return answer;
}

// query( question, kind, items, filters, as_given, callback, k, max_distance, offsets, hits, plane_offsets,
// origins ): the number of hits, also where they are more than there is room for. None stands for what a
// question does not need.
PyObject* clv_py_space_query( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    int number, kind_index, as_given;
    PyObject *items, *filters, *callback, *offsets, *hits, *plane_offsets, *origins;
    query_call ask;
    memset( &ask, 0, sizeof( ask ) );
    ask.position = UINT32_MAX;
    if ( !PyArg_ParseTuple( args, "iiOOpOIdOOOO", &number, &kind_index, &items, &filters, &as_given,
             &callback, &ask.k, &ask.max_distance, &offsets, &hits, &plane_offsets, &origins ) ||
        !clv_py_space_is_readable( self ) )
    {
        return NULL;
    }
    if ( number < ASK_ALL || number > ASK_NEAREST )
    {
        return PyErr_Format( PyExc_ValueError, "there is no such question" );
    }
    ask.question = (question)number;
    ask.as_given = as_given != 0;
    bool is_good =
        query_call_take( self, &ask, kind_index, items, filters, callback, plane_offsets, origins ) &&
        query_call_take_room( self, &ask, offsets, hits );
    return query_call_finish( self, &ask, is_good );
}

// query_visit( visitor, kind, items, filters, as_given, callback, plane_offsets, origins ): 0. The visitor
// gets the number of each query and its hits, as bytes of its own.
PyObject* clv_py_space_query_visit( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    int kind_index, as_given;
    PyObject *items, *filters, *callback, *plane_offsets, *origins;
    query_call ask;
    memset( &ask, 0, sizeof( ask ) );
    ask.position = UINT32_MAX;
    ask.question = ASK_VISIT;
    if ( !PyArg_ParseTuple( args, "OiOOpOOO", &ask.back.function, &kind_index, &items, &filters, &as_given,
             &callback, &plane_offsets, &origins ) ||
        !clv_py_space_is_readable( self ) )
    {
        return NULL;
    }
    ask.as_given = as_given != 0;
    bool is_good =
        query_call_take( self, &ask, kind_index, items, filters, callback, plane_offsets, origins );
    return query_call_finish( self, &ask, is_good );
}

// query_pairs( other, as_given, out ): the number of pairs, also where there is no room for them.
PyObject* clv_py_space_query_pairs( PyObject* object, PyObject* args )
{
    space_object* self = (space_object*)object;
    PyObject *other_object, *pair_object;
    int as_given;
    if ( !PyArg_ParseTuple( args, "O!pO", Py_TYPE( object ), &other_object, &as_given, &pair_object ) ||
        !clv_py_space_is_readable( self ) || !clv_py_space_is_readable( (space_object*)other_object ) )
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
                                                     : clv_py_raise_result( result, UINT32_MAX );
}

PyObject* clv_py_kinds( void )
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
