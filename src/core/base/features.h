// SPDX-License-Identifier: MIT
// What the system's headers are asked for beyond C17: clocks, threads, madvise and futexes. They listen once,
// at the first of them in a translation unit, so this comes before any of them: by way of exact.h, which our
// headers include first.
#pragma once

#if defined( __linux__ )
#if !defined( _GNU_SOURCE ) && !defined( _DEFAULT_SOURCE )
#define _DEFAULT_SOURCE
#endif
#elif !defined( _WIN32 ) && !defined( _POSIX_C_SOURCE )
#define _POSIX_C_SOURCE 200809L
#endif
