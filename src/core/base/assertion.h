// SPDX-License-Identifier: MIT
// Two levels: CLV_ASSERT is cheap and everywhere, CLV_VALIDATE may walk a whole structure and is for debug builds.
#pragma once

#include "base/exact.h"

#include <stdbool.h>

/// Calls the hook of clv_set_assert_hook; does not return if the hook wants to stop.
void clv_base_assert_failed( const char* condition, const char* file, int line );

#ifdef NDEBUG
#define CLV_ASSERT( condition ) ( (void)0 )
#else
#define CLV_ASSERT( condition )                                                                              \
    ( ( condition ) ? (void)0 : clv_base_assert_failed( #condition, __FILE__, __LINE__ ) )
#endif

#if !defined( NDEBUG ) && defined( CLV_VALIDATE_ENABLED )
#define CLV_VALIDATE( condition ) CLV_ASSERT( condition )
#else
#define CLV_VALIDATE( condition ) ( (void)0 )
#endif
