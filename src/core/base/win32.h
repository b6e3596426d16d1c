// SPDX-License-Identifier: MIT
// Windows' own header, without the words that it takes away from the files behind it in the same translation
// unit.
#pragma once

#if defined( _WIN32 )

#if !defined( WIN32_LEAN_AND_MEAN )
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined( NOMINMAX )
#define NOMINMAX
#endif
#include <windows.h>

#undef near
#undef far
#undef small

#endif
