// SPDX-License-Identifier: MIT
#if defined( __linux__ )
#define _GNU_SOURCE
#elif !defined( _WIN32 )
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#endif
#include "lab/run/run_child.h"

#include "base/bit_set.h"
#include "base/timer.h"
#include "lab/base/interrupt.h"
#include "lab/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined( __linux__ )
#include <sched.h>
#endif

#if defined( _WIN32 )

bool child_is_here( void )
{
    return false;
}

child_answer child_run( const char* program, const text_list* words, const child_limits* limits )
{
    (void)program, (void)words, (void)limits;
    child_answer answer = { .status = CHILD_FAILED };
    snprintf( answer.reason, sizeof( answer.reason ), "no process of its own on this system" );
    return answer;
}

void child_keep_environment( void )
{
}

void child_limit_memory( uint64_t bytes, bool is_on_device )
{
    (void)bytes, (void)is_on_device;
}

bool child_write_answer( const char* text )
{
    return fputs( text, stdout ) >= 0;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined( __linux__ )
#include <sys/prctl.h>
#endif

// Bytes as they come down a pipe.
typedef struct pipe_end
{
    int handle; ///< -1 once the other side has closed
    char* text;
    size_t length, capacity;
} pipe_end;

extern char** environ; // of POSIX, which has no header for it

// As it was when this program began; NULL: as it is.
static char** s_environment;

// Handles below are closed in a child. Systems give out the lowest number that is free, and no
// program has as many open.
#define HANDLES_MOST 4096

// Bytes that a pipe holds, at most; on Linux 64 KiB unless more is requested.
#define PIPE_MOST ( (size_t)1 << 20 )

bool child_is_here( void )
{
    return access( CHILD_PROGRAM, X_OK ) == 0;
}

// ---- starting

void child_keep_environment( void )
{
    size_t count = 0;
    while ( environ != NULL && environ[count] != NULL )
    {
        count += 1;
    }
    char** copies = lab_take( count + 1, sizeof( char* ) );
    for ( size_t index = 0; index < count; ++index )
    {
        copies[index] = text_copy( environ[index] );
    }
    s_environment = copies;
}

// Both ends closed in whatever is started later.
static bool open_pipe( int ends[2] )
{
    if ( pipe( ends ) != 0 )
    {
        return false;
    }
    return fcntl( ends[0], F_SETFD, FD_CLOEXEC ) == 0 && fcntl( ends[1], F_SETFD, FD_CLOEXEC ) == 0;
}

// In the child; never returns. Handles are first moved to high numbers, clear of 0 to 3, which they then get.
static void become_program( const char* program, char** words, int answer, int errors )
{
    int high_answer = fcntl( answer, F_DUPFD, 10 );
    int high_errors = fcntl( errors, F_DUPFD, 10 );
    int nothing = open( "/dev/null", O_RDONLY );
    dup2( nothing, STDIN_FILENO );
    dup2( high_errors, STDOUT_FILENO ); // what a library prints must not get into the answer
    dup2( high_errors, STDERR_FILENO );
    dup2( high_answer, CHILD_ANSWER );
    // Scenes, journals, and what a driver has open: a device's handle may keep the device.
    for ( int handle = CHILD_ANSWER + 1; handle < HANDLES_MOST; ++handle )
    {
        close( handle );
    }
#if defined( __linux__ )
    // If the parent is killed this child is killed too.
    prctl( PR_SET_PDEATHSIG, SIGKILL );
#endif
    execve( program, words, s_environment != NULL ? s_environment : environ );
    const char* text = "the program cannot be started";
    if ( write( STDERR_FILENO, text, strlen( text ) ) < 0 )
    {
        _exit( 126 );
    }
    _exit( 127 );
}

static pid_t start( const char* program, const text_list* words, pipe_end* answer, pipe_end* errors )
{
    int answer_ends[2] = { -1, -1 };
    int error_ends[2] = { -1, -1 };
    char** argv = lab_take( words->count + 2, sizeof( char* ) ); // NULL behind the last
    char name[] = "cleave";
    argv[0] = name;
    memcpy( argv + 1, words->items, words->count * sizeof( char* ) );
    pid_t process = -1;
    if ( open_pipe( answer_ends ) && open_pipe( error_ends ) )
    {
        fflush( NULL ); // or the child would write what is still in the buffers a second time
        process = fork();
    }
    if ( process == 0 )
    {
        become_program( program, argv, answer_ends[1], error_ends[1] );
    }
    int reason = errno;
    close( answer_ends[1] );
    close( error_ends[1] );
    answer->handle = answer_ends[0];
    errors->handle = error_ends[0];
    free( argv );
    errno = reason;
    return process;
}

// ---- listening

static void take_bytes( pipe_end* end )
{
    if ( end->capacity - end->length < 4097 )
    {
        end->capacity = 2 * end->capacity + 8192;
        end->text = lab_grow( end->text, end->capacity, 1 );
    }
    ssize_t got = read( end->handle, end->text + end->length, 4096 );
    if ( got > 0 )
    {
        end->length += (size_t)got;
    }
    else if ( got == 0 || ( errno != EINTR && errno != EAGAIN ) )
    {
        close( end->handle );
        end->handle = -1;
    }
    end->text[end->length] = '\0';
}

// What a child that has ended wrote is all there. One that it left behind may keep the pipe open, and write
// on: it is not waited for.
static void take_rest( pipe_end* end )
{
    size_t most = end->length + PIPE_MOST;
    while ( end->handle >= 0 && end->length < most )
    {
        struct pollfd polled = { end->handle, POLLIN, 0 };
        int there = poll( &polled, 1, 0 );
        if ( there == 0 || ( there < 0 && errno != EINTR ) )
        {
            break;
        }
        if ( there > 0 )
        {
            take_bytes( end );
        }
    }
    if ( end->handle >= 0 )
    {
        close( end->handle );
        end->handle = -1;
    }
}

// Waits a moment for either pipe.
static void listen_once( pipe_end* answer, pipe_end* errors, int wait_ms )
{
    struct pollfd polled[2] = { { answer->handle, POLLIN, 0 }, { errors->handle, POLLIN, 0 } };
    if ( poll( polled, 2, wait_ms ) <= 0 )
    {
        return;
    }
    if ( polled[0].revents != 0 )
    {
        take_bytes( answer );
    }
    if ( polled[1].revents != 0 )
    {
        take_bytes( errors );
    }
    // Keeps the end only: the message that matters comes last.
    if ( errors->length > 1 << 16 )
    {
        memmove( errors->text, errors->text + errors->length / 2, errors->length - errors->length / 2 + 1 );
        errors->length -= errors->length / 2;
    }
}

// ---- watching

// Bytes of memory in use, where /proc tells; else 0.
static uint64_t memory_of( pid_t process )
{
    char path[64], text[128] = "";
    snprintf( path, sizeof( path ), "/proc/%ld/statm", (long)process );
    FILE* file = fopen( path, "r" );
    if ( file == NULL )
    {
        return 0;
    }
    size_t length = fread( text, 1, sizeof( text ) - 1, file );
    fclose( file );
    text[length] = '\0';
    const char* resident = strchr( text, ' ' ); // the second number, in pages
    long page = sysconf( _SC_PAGESIZE );
    return resident != NULL && page > 0 ? strtoull( resident, NULL, 10 ) * (uint64_t)page : 0;
}

static const char* signal_name( int number )
{
    switch ( number )
    {
    case SIGSEGV: return "SIGSEGV, a bad address";
    case SIGBUS: return "SIGBUS, a bad address";
    case SIGABRT: return "SIGABRT, it gave itself up";
    case SIGFPE: return "SIGFPE, a division by zero or the like";
    case SIGILL: return "SIGILL, an instruction this CPU does not know";
    case SIGTRAP: return "SIGTRAP, a trap";
    case SIGKILL: return "SIGKILL, killed from outside, perhaps for want of memory";
    case SIGTERM: return "SIGTERM, ended from outside";
    case SIGINT: return "SIGINT, interrupted";
    case SIGSYS: return "SIGSYS, a forbidden call";
    case SIGXCPU: return "SIGXCPU, out of processor time";
    default: return strsignal( number );
    }
}

// The last line of what was said that is not empty, cut to size, control characters out.
static void last_line( const pipe_end* errors, char* line, size_t size )
{
    size_t end = errors->length;
    while ( end > 0 && (unsigned char)errors->text[end - 1] <= ' ' )
    {
        --end;
    }
    size_t begin = end;
    while ( begin > 0 && errors->text[begin - 1] != '\n' )
    {
        --begin;
    }
    size_t length = end - begin < size - 1 ? end - begin : size - 1;
    if ( length > 0 )
    {
        memcpy( line, errors->text + begin, length );
    }
    line[length] = '\0';
    for ( char* c = line; *c != '\0'; ++c )
    {
        *c = (unsigned char)*c < 32 || *c == 127 ? '?' : *c;
    }
}

static void judge( int status, const pipe_end* errors, child_answer* answer )
{
    char line[160];
    last_line( errors, line, sizeof( line ) );
    answer->status = CHILD_FAILED;
    if ( WIFSIGNALED( status ) )
    {
        snprintf( answer->reason, sizeof( answer->reason ), "crashed by %s%s%s",
            signal_name( WTERMSIG( status ) ), line[0] != '\0' ? ": " : "", line );
    }
    else if ( WEXITSTATUS( status ) != 0 )
    {
        snprintf( answer->reason, sizeof( answer->reason ), "ended with status %d%s%s", WEXITSTATUS( status ),
            line[0] != '\0' ? ": " : " and said nothing", line );
    }
    else
    {
        answer->status = CHILD_ANSWERED;
    }
}

// Is it time to end the child? Says why.
static bool is_beyond( pid_t process, const child_limits* limits, double elapsed, child_answer* answer )
{
    if ( limits->time_s > 0 && elapsed > limits->time_s + limits->grace_s )
    {
        answer->status = CHILD_TIMEOUT;
        snprintf(
            answer->reason, sizeof( answer->reason ), "over %g s, ended within a frame", limits->time_s );
        return true;
    }
    uint64_t bytes = limits->memory_bytes > 0 ? memory_of( process ) : 0;
    if ( bytes > limits->memory_bytes )
    {
        answer->status = CHILD_FAILED;
        snprintf( answer->reason, sizeof( answer->reason ), "over the memory limit of %s",
            text_bytes( limits->memory_bytes ).text );
        return true;
    }
    return false;
}

// Until the child has ended, by itself or by us.
static void watch(
    pid_t process, pipe_end* answer_end, pipe_end* errors, const child_limits* limits, child_answer* answer )
{
    uint64_t begin = clv_base_clock_ns();
    bool is_ended_by_us = false;
    int status = 0;
    while ( waitpid( process, &status, WNOHANG ) == 0 )
    {
        double elapsed = (double)( clv_base_clock_ns() - begin ) / 1e9;
        if ( !is_ended_by_us && is_beyond( process, limits, elapsed, answer ) )
        {
            is_ended_by_us = true;
            kill( process, SIGKILL );
        }
        if ( limits->tick != NULL )
        {
            limits->tick( limits->user );
        }
        bool is_silent = answer_end->handle < 0 && errors->handle < 0;
        listen_once( answer_end, errors, is_silent || elapsed < 0.02 ? 1 : 20 );
    }
    take_rest( answer_end );
    take_rest( errors );
    if ( !is_ended_by_us )
    {
        judge( status, errors, answer );
    }
}

child_answer child_run( const char* program, const text_list* words, const child_limits* limits )
{
    child_answer answer = { .status = CHILD_FAILED };
    pipe_end text = { .handle = -1 }, errors = { .handle = -1 };
    pid_t process = start( program != NULL ? program : CHILD_PROGRAM, words, &text, &errors );
    if ( process < 0 )
    {
        snprintf(
            answer.reason, sizeof( answer.reason ), "no process can be started: %s", strerror( errno ) );
        close( text.handle );
        close( errors.handle );
        return answer;
    }
    interrupt_guard_process( (long)process );
    watch( process, &text, &errors, limits, &answer );
    interrupt_guard_process( 0 );
    free( errors.text );
    answer.text = text.text;
    answer.length = text.length;
    return answer;
}

// ---- in the child

// A sanitizer reserves terabytes of addresses for itself; there the watcher alone keeps the limit.
#if defined( __SANITIZE_ADDRESS__ ) || defined( __SANITIZE_THREAD__ )
#define CHILD_IS_SANITIZED 1
#elif defined( __has_feature )
#if __has_feature( address_sanitizer ) || __has_feature( memory_sanitizer ) ||                               \
    __has_feature( thread_sanitizer )
#define CHILD_IS_SANITIZED 1
#endif
#endif

void child_limit_memory( uint64_t bytes, bool is_on_device )
{
    struct rlimit none = { 0, 0 };
    setrlimit( RLIMIT_CORE, &none ); // no core files: a crash is reported by the name of its signal
#if !defined( CHILD_IS_SANITIZED )
    // Writable memory, not addresses: threads reserve much that they never touch. A device's driver maps far
    // more than it writes to, and without it there is no device: then the watcher alone keeps the limit, too.
    struct rlimit data = { (rlim_t)bytes, (rlim_t)bytes };
    if ( bytes > 0 && !is_on_device )
    {
        setrlimit( RLIMIT_DATA, &data );
    }
#else
    (void)bytes, (void)is_on_device;
#endif
}

bool child_write_answer( const char* text )
{
    size_t length = strlen( text );
    while ( length > 0 )
    {
        ssize_t written = write( CHILD_ANSWER, text, length );
        if ( written < 0 && errno != EINTR )
        {
            return false;
        }
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

#endif

// ---- cores

static bool read_core( const char** text, uint32_t* core )
{
    char* end = NULL;
    if ( **text < '0' || **text > '9' )
    {
        return false;
    }
    unsigned long value = strtoul( *text, &end, 10 );
    *text = end;
    *core = (uint32_t)value;
    return value < PIN_CORES_MOST;
}

static bool parse_cores( const char* text, pin_wish* wish )
{
    while ( true )
    {
        uint32_t first = 0, last = 0;
        if ( !read_core( &text, &first ) )
        {
            return false;
        }
        last = first;
        if ( *text == '-' )
        {
            ++text;
            if ( !read_core( &text, &last ) || last < first )
            {
                return false;
            }
        }
        for ( uint32_t core = first; core <= last; ++core )
        {
            base_bits_add( wish->cores, core );
        }
        if ( *text != ',' )
        {
            return *text == '\0';
        }
        ++text;
    }
}

bool pin_parse( const char* text, pin_wish* wish )
{
    *wish = ( pin_wish ){ 0 };
    if ( strcmp( text, "no" ) == 0 )
    {
        return true;
    }
    wish->is_on = true;
    if ( strcmp( text, "yes" ) == 0 )
    {
        return true;
    }
    wish->is_chosen = true;
    return parse_cores( text, wish );
}

#if defined( __linux__ )

// The last cores that are ours: the first ones serve most interrupts.
static void choose_cores( const cpu_set_t* allowed, uint32_t count, cpu_set_t* chosen )
{
    for ( int core = CPU_SETSIZE - 1; core >= 0 && count > 0; --core )
    {
        if ( CPU_ISSET( (size_t)core, allowed ) )
        {
            CPU_SET( (size_t)core, chosen );
            count -= 1;
        }
    }
}

bool pin_apply( const pin_wish* wish, uint32_t thread_count, char* reason, size_t reason_size )
{
    cpu_set_t allowed, chosen;
    CPU_ZERO( &allowed );
    CPU_ZERO( &chosen );
    if ( !wish->is_on )
    {
        return true;
    }
    if ( !wish->is_chosen && sched_getaffinity( 0, sizeof( allowed ), &allowed ) == 0 )
    {
        choose_cores( &allowed, thread_count, &chosen );
    }
    for ( uint32_t core = 0; core < PIN_CORES_MOST && core < CPU_SETSIZE; ++core )
    {
        if ( base_bits_has( wish->cores, core ) )
        {
            CPU_SET( core, &chosen );
        }
    }
    errno = 0;
    if ( sched_setaffinity( 0, sizeof( chosen ), &chosen ) != 0 )
    {
        snprintf( reason, reason_size, "cannot be pinned to these cores: %s", strerror( errno ) );
        return false;
    }
    return true;
}

#else

bool pin_apply( const pin_wish* wish, uint32_t thread_count, char* reason, size_t reason_size )
{
    (void)thread_count;
    if ( wish->is_on )
    {
        snprintf(
            reason, reason_size, "pinning to cores is known to this program on Linux only; leave pin out" );
        return false;
    }
    return true;
}

#endif
