// SPDX-License-Identifier: MIT
// All libraries in one program, as strangers link them; scripts/check.sh install builds it against the
// installed ones. Status 0 if the core sees the methods that were registered, and a world of bodies can be
// made.
#include <cleave/cleave.h>
#include <cleave/gpu.h>
#include <cleave/methods.h>
#include <cleave/physics.h>

#include <stdio.h>

static bool finds_the_pair( const char* method )
{
    clv_space_def def = clv_default_space_def();
    def.method = method;
    def.worker_count = 2;
    clv_space* space = NULL;
    clv_aabb boxes[2] = { { { 0, 0, 0 }, { 1, 1, 1 } }, { { 1, 0, 0 }, { 2, 1, 1 } } };
    bool found = clv_space_create( &def, &space ) == CLV_OK &&
        clv_space_add( space, boxes, 2, NULL ) == CLV_OK && clv_space_update( space ) == CLV_OK &&
        clv_space_pairs( space ).count == 1;
    clv_space_destroy( space );
    return found;
}

int main( void )
{
    bool early = finds_the_pair( "sap" ); // not registered yet
    bool good = clv_methods_register() == CLV_OK && clv_methods_register() == CLV_OK;
    good = good && !early && finds_the_pair( "sap" ) && finds_the_pair( "kd" ) && finds_the_pair( NULL );

    good = good && clv_gpu_register() == CLV_OK &&
        clv_gpu_register() == CLV_OK; // whether there is an OpenCL or not

    clv_rigid_def rigid_def = clv_default_rigid_def();
    clv_rigid* rigid = NULL;
    good = good && clv_rigid_create( &rigid_def, &rigid ) == CLV_OK;
    clv_rigid_destroy( rigid );
    if ( !good )
    {
        fprintf( stderr, "three: the libraries do not work together\n" );
    }
    return good ? 0 : 1;
}
