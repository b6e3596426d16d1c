// SPDX-License-Identifier: MIT
#include "base/exact.h" // asks the system's headers for what is needed below, so it comes first

#include "gpu_look.h"

#if !defined( _WIN32 ) && !defined( __APPLE__ ) && !defined( __EMSCRIPTEN__ )
#include <sys/mman.h>
#if defined( MAP_ANONYMOUS )
#define LOOK_HAS_CHILDREN
#endif
#endif

#if !defined( LOOK_HAS_CHILDREN )

bool clv_gpu_look_is_here( void )
{
    return false;
}

gpu_look_end clv_gpu_look( gpu_look_work* work, void* data, size_t size, char* reason, size_t reason_size )
{
    (void)work, (void)data, (void)size, (void)reason, (void)reason_size;
    return GPU_LOOK_NOT_STARTED;
}

void clv_gpu_look_step( const char* call )
{
    (void)call;
}

#else

#include "base/timer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined( __linux__ )
#include <sys/prctl.h>
#endif

enum
{
    WAIT_S = 60, // NVIDIA's takes about a second the first time, and longer with many cards
    KILLED_MS =
        5000, // one that waits for hardware in the kernel does not end before that answers: it is left behind
    WORDS_ROOM = 1024,
    HANDLES_MOST = 4096,
};

// Shared by both processes, with the data behind it.
typedef struct look_page
{
    _Alignas( 64 ) char step[48]; // so that what lies behind is aligned too
    bool is_done;
    bool called_exit;
} look_page;

// In the child alone.
static look_page* s_page;

static double wait_seconds( void )
{
    const char* text = getenv( "CLEAVE_OPENCL_WAIT" );
    char* end = NULL;
    double seconds = text != NULL ? strtod( text, &end ) : WAIT_S;
    bool is_number = text == NULL || ( end != text && *end == '\0' && seconds >= 0 && seconds < 1e6 );
    return is_number ? seconds : WAIT_S;
}

bool clv_gpu_look_is_here( void )
{
    return wait_seconds() > 0;
}

// ---- in the child

void clv_gpu_look_step( const char* call )
{
    if ( s_page != NULL )
    {
        snprintf( s_page->step, sizeof( s_page->step ), "%s", call );
    }
}

// A driver that calls exit must not run what the program has registered for its own end.
static void leave_at_exit( void )
{
    s_page->called_exit = true;
    _exit( 0 );
}

// What the program does on signals is not for its child.
static void reset_signals( void )
{
    struct sigaction plain;
    sigset_t none;
    memset( &plain, 0, sizeof( plain ) );
    plain.sa_handler = SIG_DFL;
    for ( int number = 1; number < 65; ++number )
    {
        sigaction( number, &plain, NULL ); // some cannot be changed
    }
    sigemptyset( &none );
    pthread_sigmask( SIG_SETMASK, &none, NULL );
}

// Standard streams into the pipe, and no other handle of the program's: a device's handle may keep the
// device.
static void reset_handles( int words )
{
    int high = fcntl( words, F_DUPFD, 10 );
    int nothing = open( "/dev/null", O_RDONLY );
    dup2( nothing, STDIN_FILENO );
    dup2( high, STDOUT_FILENO );
    dup2( high, STDERR_FILENO );
    for ( int handle = STDERR_FILENO + 1; handle < HANDLES_MOST; ++handle )
    {
        close( handle );
    }
}

static void run_child( look_page* page, gpu_look_work* work, int words, pid_t parent )
{
    // A core file would be of no use: 1 and not 0, since Linux asks a program that takes cores even at 0.
    const struct rlimit no_core = { 1, 1 };
    s_page = page;
    setpgid( 0,
        // so that Ctrl-C is not taken for the driver's end, and what the driver starts can be ended with it
        0 );
#if defined( __linux__ )
    prctl( PR_SET_PDEATHSIG, SIGKILL );
#endif
    if ( getppid() != parent )
    {
        _exit( 0 );
    }
    setrlimit( RLIMIT_CORE, &no_core );
    reset_handles( words );
    atexit( leave_at_exit );
    reset_signals();
    work( page + 1 );
    page->is_done = true;
    _exit( 0 );
}

// ---- in the parent

// The end of what the child prints, and the process itself.
typedef struct look_child
{
    pid_t process;
    int words;
    size_t length;
    char last[WORDS_ROOM];
} look_child;

// Waits a moment for words and keeps their end.
static void listen_once( look_child* child, int wait_ms )
{
    char text[WORDS_ROOM / 2];
    struct pollfd polled = { child->words, POLLIN, 0 };
    if ( poll( &polled, 1, wait_ms ) <= 0 || child->words < 0 )
    {
        return;
    }
    ssize_t got = read( child->words, text, sizeof( text ) );
    if ( got == 0 || ( got < 0 && errno != EINTR ) )
    {
        close( child->words );
        child->words = -1;
    }
    size_t count = got > 0 ? (size_t)got : 0;
    size_t kept = child->length + count < WORDS_ROOM ? child->length : WORDS_ROOM - 1 - count;
    memmove( child->last, child->last + child->length - kept, kept );
    memcpy( child->last + kept, text, count );
    child->length = kept + count;
    child->last[child->length] = '\0';
}

// What it leaves behind may keep the pipe open: that is not waited for.
static void listen_to_the_rest( look_child* child )
{
    for ( int i = 0; child->words >= 0 && i < 256; ++i )
    {
        struct pollfd polled = { child->words, POLLIN, 0 };
        if ( poll( &polled, 1, 0 ) <= 0 )
        {
            break;
        }
        listen_once( child, 0 );
    }
    if ( child->words >= 0 )
    {
        close( child->words );
    }
}

// Has it ended? It stays a zombie until it is reaped, so that its number is not given to another process.
static bool has_ended( const look_child* child, bool* is_taken )
{
    siginfo_t info;
    memset( &info, 0, sizeof( info ) );
    int error = waitid( P_PID, (id_t)child->process, &info, WEXITED | WNOHANG | WNOWAIT );
    *is_taken = error != 0 && errno == ECHILD;
    return *is_taken || ( error == 0 && info.si_pid == child->process );
}

// -1: the program ignores SIGCHLD, or waits for all children itself, and has taken it.
static int reap( const look_child* child, bool is_taken )
{
    int status = -1;
    if ( is_taken )
    {
        return -1;
    }
    kill( -child->process, SIGKILL ); // what it started
    while ( waitpid( child->process, &status, 0 ) < 0 )
    {
        if ( errno != EINTR )
        {
            return -1;
        }
    }
    return status;
}

static const char* signal_name( int number, char text[24] )
{
    static const struct
    {
        int number;
        const char* name;
    } s_names[] = { { SIGABRT, "SIGABRT" }, { SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" },
        { SIGFPE, "SIGFPE" }, { SIGILL, "SIGILL" }, { SIGTRAP, "SIGTRAP" }, { SIGSYS, "SIGSYS" },
        { SIGKILL, "SIGKILL" }, { SIGTERM, "SIGTERM" }, { SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" } };
    for ( size_t i = 0; i < sizeof( s_names ) / sizeof( s_names[0] ); ++i )
    {
        if ( s_names[i].number == number )
        {
            return s_names[i].name;
        }
    }
    snprintf( text, 24, "signal %d", number );
    return text;
}

// The last line that is not empty, without control characters.
static const char* last_line( look_child* child )
{
    size_t end = child->length;
    while ( end > 0 && (unsigned char)child->last[end - 1] <= ' ' )
    {
        end -= 1;
    }
    child->last[end] = '\0';
    size_t begin = end;
    while ( begin > 0 && child->last[begin - 1] != '\n' )
    {
        begin -= 1;
    }
    for ( char* c = child->last + begin; *c != '\0'; ++c )
    {
        *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
    }
    return child->last + begin;
}

static void tell(
    const look_page* page, look_child* child, int status, bool was_killed, char* reason, size_t size )
{
    char number[24];
    char how[96] = "ended, and the program took its status before this library could";
    if ( was_killed )
    {
        snprintf( how, sizeof( how ), "was ended after %g s (CLEAVE_OPENCL_WAIT)", wait_seconds() );
    }
    else if ( page->called_exit )
    {
        snprintf( how, sizeof( how ), "called exit" );
    }
    else if ( status >= 0 && WIFSIGNALED( status ) )
    {
        snprintf( how, sizeof( how ), "died of %s", signal_name( WTERMSIG( status ), number ) );
    }
    else if ( status >= 0 )
    {
        snprintf( how, sizeof( how ), "ended with status %d", WEXITSTATUS( status ) );
    }
    const char* words = last_line( child );
    bool has_words = words[0] != '\0';
    snprintf( reason, size, "%s%s%s%s%.200s%s", how, page->step[0] != '\0' ? " in " : "", page->step,
        has_words ? "; it printed last: \"" : "; it printed nothing", words, has_words ? "\"" : "" );
}

static gpu_look_end watch( const look_page* page, look_child* child, char* reason, size_t size )
{
    uint64_t begin = clv_base_clock_ns();
    double most_ms = wait_seconds() * 1e3;
    bool was_killed = false;
    bool is_taken = false;
    while ( !has_ended( child, &is_taken ) )
    {
        double now_ms = base_clock_ms( begin, clv_base_clock_ns() );
        if ( was_killed && now_ms > most_ms + KILLED_MS )
        {
            is_taken = true;
            break;
        }
        if ( !was_killed && now_ms > most_ms )
        {
            was_killed = true;
            kill( -child->process, SIGKILL );
            kill( child->process, SIGKILL );
        }
        listen_once( child, child->words < 0 || was_killed ? 1 : 20 );
    }
    int status = reap( child, is_taken );
    listen_to_the_rest( child );
    if ( page->is_done )
    {
        return GPU_LOOK_DONE;
    }
    tell( page, child, status, was_killed, reason, size );
    return GPU_LOOK_DIED;
}

static pid_t start( look_page* page, gpu_look_work* work, const int ends[2] )
{
    pid_t parent = getpid();
    sigset_t all, before;
    fflush( stdout ); // or a driver that flushes would send what is in these buffers into the pipe
    fflush( stderr );
    sigfillset( &all );
    pthread_sigmask( SIG_SETMASK, &all, &before ); // none of the program's handlers runs in the child
    pid_t process = fork();
    if ( process == 0 )
    {
        run_child( page, work, ends[1], parent );
    }
    pthread_sigmask( SIG_SETMASK, &before, NULL );
    return process;
}

gpu_look_end clv_gpu_look( gpu_look_work* work, void* data, size_t size, char* reason, size_t reason_size )
{
    int ends[2] = { -1, -1 };
    int before = errno;
    size_t room = sizeof( look_page ) + size;
    if ( !clv_gpu_look_is_here() || pipe( ends ) != 0 )
    {
        return GPU_LOOK_NOT_STARTED;
    }
    fcntl( ends[0], F_SETFD, FD_CLOEXEC );
    fcntl( ends[1], F_SETFD, FD_CLOEXEC );
    look_page* page = mmap( NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0 );
    look_child child = { .process = -1, .words = ends[0] };
    if ( page != MAP_FAILED )
    {
        memcpy( page + 1, data, size );
        child.process = start( page, work, ends );
    }
    close( ends[1] );
    gpu_look_end end = GPU_LOOK_NOT_STARTED;
    if ( child.process > 0 )
    {
        end = watch( page, &child, reason, reason_size );
        memcpy( data, page + 1, size );
    }
    else
    {
        close( ends[0] );
    }
    if ( page != MAP_FAILED )
    {
        munmap( page, room );
    }
    errno = before;
    return end;
}

#endif
