// SPDX-License-Identifier: MIT
#include "lab/broadmark/broadmark_names.h"

#include <stdio.h>
#include <string.h>

// Its plain variants are compiled without SIMD by hand, its KD tests eight boxes at a time.
#define SIX( prefix, method )                                                                                \
    { prefix, method, "scalar", false, NULL }, { prefix "_SSE", method, "sse2", false, NULL },               \
        { prefix "_AVX", method, "avx2", false, NULL },                                                      \
        { prefix "_Parallel", method, "scalar", true, NULL },                                                \
        { prefix "_SSE_Parallel", method, "sse2", true, NULL },                                              \
    {                                                                                                        \
        prefix "_AVX_Parallel", method, "avx2", true, NULL                                                   \
    }

#define FOUR( prefix, setting )                                                                              \
    { prefix, "grid", "scalar", false, setting }, { prefix "_SAP", "grid-sap", "scalar", false, setting },   \
        { prefix "_Parallel", "grid", "scalar", true, setting },                                             \
    {                                                                                                        \
        prefix "_SAP_Parallel", "grid-sap", "scalar", true, setting                                          \
    }

static const broadmark_name names[] = {
    SIX( "BF", "brute" ),
    SIX( "SAP", "sap" ),
    FOUR( "Grid_3D", NULL ),
    FOUR( "Grid_2D", "grid.axes=2" ),
    { "AxisSweep", "bullet-axissweep", NULL, false, NULL },
    { "DBVT F", "bullet-dbvt-f", NULL, false, NULL },
    { "DBVT D", "bullet-dbvt-d", NULL, false, NULL },
    { "CGAL", "cgal", NULL, false, NULL },
    { "Tracy", "tracy", NULL, false, NULL },
    { "Tracy_Parallel", "tracy", NULL, true, NULL },
    { "KD", "kd-paper", "avx2", false, NULL },
    { "GPU_Grid", "gpu-grid", NULL, false, NULL },
    { "GPU_LBVH", "gpu-lbvh", NULL, false, NULL },
    { "GPU_SAP", "gpu-sap", NULL, false, NULL },
};

#define NAME_COUNT ( sizeof( names ) / sizeof( names[0] ) )

static const broadmark_param params[] = {
    { "m_Grid_ObjectsPerCell", "grid.cell", 200 },
    { "m_Tracy_ObjectsPerCell", "tracy.cell", 200 },
    { "m_KD_ObjectsPerLeaf", "kd.leaf", 512 },
};

const broadmark_param* broadmark_param_at( uint32_t index )
{
    return index < sizeof( params ) / sizeof( params[0] ) ? &params[index] : NULL;
}

const broadmark_name* broadmark_find( const char* name )
{
    for ( size_t index = 0; index < NAME_COUNT; ++index )
    {
        if ( strcmp( names[index].name, name ) == 0 )
        {
            return &names[index];
        }
    }
    return NULL;
}

const char* broadmark_name_of(
    const char* method_name, const char* variant, uint32_t thread_count, const char* settings )
{
    bool is_flat = settings != NULL && strstr( settings, "grid.axes=2" ) != NULL;
    for ( size_t index = 0; index < NAME_COUNT; ++index )
    {
        const broadmark_name* known = &names[index];
        if ( strcmp( known->method, method_name ) == 0 &&
            ( known->isa == NULL || strcmp( known->isa, variant ) == 0 ) &&
            known->has_threads == ( thread_count > 1 ) && is_flat == ( known->setting != NULL ) )
        {
            return known->name;
        }
    }
    return method_name;
}

char* broadmark_advice( const char* name, char buffer[BROADMARK_ADVICE_ROOM] )
{
    text_guess guess = text_guess_begin( name );
    for ( size_t index = 0; index < NAME_COUNT; ++index )
    {
        text_guess_try( &guess, names[index].name );
    }
    int length = snprintf( buffer, BROADMARK_ADVICE_ROOM, "%sthere are ", text_guess_say( &guess ) );
    const char* separator = "";
    for ( size_t index = 0; index < NAME_COUNT && length < BROADMARK_ADVICE_ROOM; ++index )
    {
        if ( clv_method_find( names[index].method ) != NULL )
        {
            length += snprintf( buffer + length, BROADMARK_ADVICE_ROOM - (size_t)length, "%s%s", separator,
                names[index].name );
            separator = ", ";
        }
    }
    return buffer;
}
