// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What every header needs: the version, exported names, hooks for memory, log and assertions.
// What is younger than 0.1.0 says since which version it is there, at its own place or at the head of its
// header; what says nothing is of 0.1.0.

#define CLV_VERSION_MAJOR 0
#define CLV_VERSION_MINOR 2
#define CLV_VERSION_PATCH 0

// The shared library exports what carries CLV_API and nothing else.
#if defined( _WIN32 ) && defined( CLV_BUILD_SHARED )
#define CLV_EXPORT __declspec( dllexport )
#elif defined( _WIN32 ) && defined( CLV_USE_SHARED )
#define CLV_EXPORT __declspec( dllimport )
#elif defined( CLV_BUILD_SHARED ) && ( defined( __GNUC__ ) || defined( __clang__ ) )
#define CLV_EXPORT __attribute__( ( visibility( "default" ) ) )
#else
#define CLV_EXPORT
#endif

#ifdef __cplusplus
#define CLV_API extern "C" CLV_EXPORT
#else
#define CLV_API CLV_EXPORT
#endif

// Functions in the headers are compiled by the caller's compiler, as C or C++, with the caller's warnings.
#ifdef __cplusplus
#define CLV_CAST( type, value ) static_cast<type>( value )
#define CLV_NULL nullptr
#else
#define CLV_CAST( type, value ) ( (type)( value ) )
#define CLV_NULL NULL
#endif

/// The version of the library that was linked, such as "0.2.0". The macros above tell the header's.
CLV_API const char* clv_version_text( void );

/// Where a space takes its memory from. All three members are copied into the space.
/// Hooks are called only from inside calls on that space, on the thread that made the call, and may not call
/// the space.
typedef struct clv_allocator
{
    /// Return `size` bytes (never 0) aligned to `alignment` (a power of two), or NULL if there are none.
    void* ( *allocate )( size_t size, size_t alignment, void* user );

    /// Take back what allocate returned, with the same size and alignment. Never called with NULL.
    void ( *release )( void* memory, size_t size, size_t alignment, void* user );

    void* user; ///< handed to both
} clv_allocator;

typedef enum clv_log_level
{
    CLV_LOG_INFO,    ///< what was chosen: method, instruction set
    CLV_LOG_WARNING, ///< legal but probably not meant
    CLV_LOG_ERROR,   ///< the sentence that belongs to a result other than CLV_OK
} clv_log_level;

/// Receives one line of plain text, without a newline, alive for the duration of the call.
typedef struct clv_logger
{
    void ( *write )( clv_log_level level, const char* line, void* user );
    void* user;
} clv_logger;

/// Called when an assertion fails: a NULL where the header forbids it, or one of our own invariants.
/// Bad boxes, ids and files are never asserted; they come back as results, in every build.
/// Return true to stop the program with abort(), false to go on at your own risk.
typedef bool clv_assert_hook( const char* condition, const char* file, int line, void* user );

/// One hook per process, set before the first space exists. NULL restores the default, which prints and
/// stops. Assertions are compiled in unless the library was built with NDEBUG.
CLV_API void clv_set_assert_hook( clv_assert_hook* hook, void* user );

/// What a failed assertion calls, in all of our libraries: the hook, then abort() if the hook returns true.
/// For a plug-in whose own assertions shall reach the same hook. The strings are passed on and not kept.
CLV_API void clv_assert_failed( const char* condition, const char* file, int line );
