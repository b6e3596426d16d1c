// SPDX-License-Identifier: MIT
#if !defined( _WIN32 )
#define _POSIX_C_SOURCE 200809L
#else
#define WIN32_LEAN_AND_MEAN
#endif

#include "lab/parallel.h"

#include <stdbool.h>
#include <stddef.h>

#if defined( _WIN32 )
#include <windows.h>
typedef HANDLE thread_handle;
#else
#include <pthread.h>
typedef pthread_t thread_handle;
#endif

// A thread costs some 20 microseconds; stretches shorter than this are not worth one.
#define STRETCH_LEAST 8192
#define THREADS_MOST 256

typedef struct stretch
{
    uint64_t begin, end;
    parallel_body* body;
    void* user;
} stretch;

#if defined( _WIN32 )

static DWORD WINAPI run_stretch( void* data )
{
    stretch* work = data;
    work->body( work->begin, work->end, work->user );
    return 0;
}

static bool start_thread( thread_handle* thread, stretch* work )
{
    *thread = CreateThread( NULL, 0, run_stretch, work, 0, NULL );
    return *thread != NULL;
}

static void join_thread( thread_handle thread )
{
    WaitForSingleObject( thread, INFINITE );
    CloseHandle( thread );
}

#else

static void* run_stretch( void* data )
{
    stretch* work = data;
    work->body( work->begin, work->end, work->user );
    return NULL;
}

static bool start_thread( thread_handle* thread, stretch* work )
{
    return pthread_create( thread, NULL, run_stretch, work ) == 0;
}

static void join_thread( thread_handle thread )
{
    pthread_join( thread, NULL );
}

#endif

void parallel_for( uint64_t count, uint32_t thread_count, parallel_body* body, void* user )
{
    uint64_t useful = count / STRETCH_LEAST;
    uint64_t parts = thread_count < useful ? thread_count : useful;
    parts = parts < 1 ? 1 : parts > THREADS_MOST ? THREADS_MOST : parts;
    stretch work[THREADS_MOST];
    thread_handle threads[THREADS_MOST];
    bool started[THREADS_MOST] = { false };
    for ( uint64_t part = 0; part < parts; ++part )
    {
        work[part] = ( stretch ){ count / parts * part, part + 1 == parts ? count : count / parts * ( part + 1 ), body, user };
        started[part] = part > 0 && start_thread( &threads[part], &work[part] );
    }
    // The caller's thread takes the first stretch, and those no thread could be had for.
    for ( uint64_t part = 0; part < parts; ++part )
    {
        if ( !started[part] )
        {
            body( work[part].begin, work[part].end, user );
        }
    }
    for ( uint64_t part = 0; part < parts; ++part )
    {
        if ( started[part] )
        {
            join_thread( threads[part] );
        }
    }
}
