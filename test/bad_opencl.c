// SPDX-License-Identifier: MIT
// An OpenCL whose driver crashes as soon as somebody asks for platforms. The program loads it where CLEAVE_OPENCL names it; test_runner.c does.
#include "gpu/opencl.h"

#include <signal.h>
#include <stdlib.h>

#define CRASH( result, call, arguments )                                                                     \
    void call( void );                                                                                       \
    void call( void )                                                                                        \
    {                                                                                                        \
        signal( SIGABRT, SIG_DFL );                                                                          \
        abort();                                                                                             \
    }

OPENCL_CALLS( CRASH )
