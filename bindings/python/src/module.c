// SPDX-License-Identifier: MIT
// cleave._cleave: the C interface for cleave/__init__.py, which is what people import. Arrays come and go by
// the buffer protocol, so that numpy's headers are not needed; the stable ABI of Python 3.11 makes one build
// do for all later versions.
//
// Three promises are kept in these files, since only C can break them:
// - No array outlives its memory. Lists of a space are lent as buffers that hold the space; while one is in
//   use, the calls that would write over it (update, visit, clear, shrink) raise BufferError, as a bytearray
//   does that cannot be resized: lists.c.
// - No two threads meet in a space. Update and questions release the GIL, and a call that may not run beside
//   them raises CLV_BUSY: space.c.
// - Every length is checked before C sees a pointer: arrays.c.
#include "space.h"

static PyMethodDef s_space_methods[] = {
    { "add", clv_py_space_add, METH_VARARGS, NULL },
    { "move", clv_py_space_move, METH_VARARGS, NULL },
    { "remove", clv_py_space_remove, METH_O, NULL },
    { "refilter", clv_py_space_refilter, METH_O, NULL },
    { "clear", clv_py_space_clear, METH_NOARGS, NULL },
    { "shrink", clv_py_space_shrink, METH_NOARGS, NULL },
    { "shift_origin", clv_py_space_shift_origin, METH_VARARGS, NULL },
    { "set", clv_py_space_set, METH_VARARGS, NULL },
    { "get", clv_py_space_get, METH_VARARGS, NULL },
    { "ids", clv_py_space_ids, METH_O, NULL },
    { "update", clv_py_space_update, METH_NOARGS, NULL },
    { "refresh", clv_py_space_refresh, METH_NOARGS, NULL },
    { "visit", clv_py_space_visit, METH_O, NULL },
    { "view", clv_py_space_view, METH_VARARGS, NULL },
    { "pair_ids", clv_py_space_pair_ids, METH_O, NULL },
    { "query", clv_py_space_query, METH_VARARGS, NULL },
    { "query_visit", clv_py_space_query_visit, METH_VARARGS, NULL },
    { "query_pairs", clv_py_space_query_pairs, METH_VARARGS, NULL },
    { "stats", clv_py_space_stats, METH_NOARGS, NULL },
    { "about", clv_py_space_about, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyMethodDef s_methods[] = {
    { "set_error", clv_py_set_error, METH_O, NULL },
    { "match", clv_py_match, METH_VARARGS, NULL },
    { "near", clv_py_near, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static bool add( PyObject* module, const char* name, PyObject* value )
{
    int status = value != NULL ? PyModule_AddObjectRef( module, name, value ) : -1;
    Py_XDECREF( value );
    return status == 0;
}

PyMODINIT_FUNC PyInit__cleave( void );

PyMODINIT_FUNC PyInit__cleave( void )
{
    static PyModuleDef definition = { PyModuleDef_HEAD_INIT, "cleave._cleave", NULL, -1, s_methods, NULL,
        NULL, NULL, NULL };
    PyType_Slot space_slots[] = { { Py_tp_new, SLOT( clv_py_space_new ) },
        { Py_tp_dealloc, SLOT( clv_py_space_free ) }, { Py_tp_traverse, SLOT( clv_py_space_traverse ) },
        { Py_tp_clear, SLOT( clv_py_space_forget ) }, { Py_tp_methods, s_space_methods }, { 0, NULL } };
    PyType_Spec space_spec = { "cleave._cleave.Space", sizeof( space_object ), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, space_slots };

    PyObject* module = PyModule_Create( &definition );
    if ( module == NULL || !add( module, "View", clv_py_make_view_type() ) ||
        !add( module, "Space", PyType_FromSpec( &space_spec ) ) || !add( module, "KINDS", clv_py_kinds() ) ||
        !add( module, "VERSION", PyUnicode_FromString( clv_version_text() ) ) )
    {
        Py_XDECREF( module );
        return NULL;
    }
    return module;
}
