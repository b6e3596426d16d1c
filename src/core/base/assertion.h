// SPDX-License-Identifier: MIT
// Two levels: CLV_ASSERT is cheap and everywhere, CLV_VALIDATE may walk a whole structure and is for debug
// builds.
#pragma once

#include "base/exact.h"
#include "cleave/base.h"

#ifdef NDEBUG
#define CLV_ASSERT( condition ) ( (void)0 )
#else
#define CLV_ASSERT( condition )                                                                              \
    ( ( condition ) ? (void)0 : clv_assert_failed( #condition, __FILE__, __LINE__ ) )
#endif

#if !defined( NDEBUG ) && defined( CLV_VALIDATE_ENABLED )
#define CLV_VALIDATE( condition ) CLV_ASSERT( condition )
#else
#define CLV_VALIDATE( condition ) ( (void)0 )
#endif
