// SPDX-License-Identifier: MIT
// Drivers that abort, crash, hang or end the program (bad_opencl.c): each is named and left out, this process
// lives on, and the driver beside it works.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "cleave/gpu.h"
#include "gpu_device.h"
#include "support.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined( __SANITIZE_ADDRESS__ ) || defined( __SANITIZE_THREAD__ )
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

static char s_folder[128];
static volatile sig_atomic_t s_child_count;

static void count_children( int number )
{
    (void)number;
    s_child_count += 1;
}

// ---- scenes

// What the next listing finds: one library with everything (`library`), or the drivers of the folder.
static void begin( const char* library, const char* bad )
{
    bad != NULL ? setenv( "BAD_OPENCL", bad, 1 ) : unsetenv( "BAD_OPENCL" );
    library != NULL ? setenv( "CLEAVE_OPENCL", library, 1 ) : unsetenv( "CLEAVE_OPENCL" );
    setenv( "OCL_ICD_VENDORS", s_folder, 1 );
    setenv( "CLEAVE_OPENCL_WAIT", bad != NULL && strncmp( bad, "hang", 4 ) == 0 ? "0.3" : "30", 1 );
    clv_gpu_device_forget();
    test_where.note = bad != NULL ? bad : "good";
}

static void write_icd( const char* name, const char* library )
{
    char path[256];
    snprintf( path, sizeof( path ), "%s/%s.icd", s_folder, name );
    remove( path );
    if ( library != NULL )
    {
        FILE* file = fopen( path, "w" );
        CHECK( file != NULL && fprintf( file, "%s\n", library ) > 0 && fclose( file ) == 0 );
    }
}

static bool has_loader( void )
{
    return dlopen( "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL ) != NULL;
}

static void expect_no_child_left( void )
{
    CHECK( waitpid( -1, NULL, WNOHANG ) == -1 && errno == ECHILD );
}

static const char* const s_hows[] = { "abort", "crash", "exit", "leave", "hang", "orphan" };
static const char* const s_says[] = { "died of SIGABRT", "died of SIGSEGV", "called exit",
    "ended with status 4", "was ended after 0.3 s (CLEAVE_OPENCL_WAIT)", "died of SIGABRT" };

enum
{
    HOW_COUNT = sizeof( s_hows ) / sizeof( s_hows[0] )
};

static const char* wish_of( size_t how, const char* call )
{
    static char s_wish[64];
    snprintf( s_wish, sizeof( s_wish ), "%s@%s", s_hows[how], call );
    return s_wish;
}

// How it ended, where, and its last words.
static void expect_reason( const char* text, size_t how, const char* call )
{
    char where[64];
    snprintf( where, sizeof( where ), " in %s;", call );
    CHECK( text != NULL );
    test_where.method = text;
    CHECK( strstr( text, s_says[how] ) != NULL );
    CHECK( strstr( text, where ) != NULL );
    CHECK( strstr( text, "it printed last: \"the last words of Bad\"" ) != NULL );
    test_where.method = NULL;
}

// ---- listing

static void a_library_that_dies_is_named( void )
{
    static const char* const s_calls[] = { "clGetPlatformIDs", "clGetDeviceIDs", "clGetDeviceInfo" };
    for ( size_t i = 0; i < HOW_COUNT * TEST_COUNT( s_calls ); ++i )
    {
        const char* call = s_calls[i / HOW_COUNT];
        begin( TEST_WHOLE_OPENCL, wish_of( i % HOW_COUNT, call ) );
        CHECK_EQUAL( clv_gpu_device_count(), 0 );
        CHECK(
            strstr( clv_gpu_missing(), "the OpenCL library " TEST_WHOLE_OPENCL " is left out: " ) != NULL );
        expect_reason( clv_gpu_missing(), i % HOW_COUNT, call );
        CHECK_TEXT( clv_gpu_driver_left_out( 0 ), clv_gpu_missing() );
        CHECK( clv_gpu_driver_left_out( 1 ) == NULL );
        uint32_t index = 0;
        char text[640] = "";
        CHECK_RESULT( clv_gpu_device_find( NULL, &index, text, sizeof( text ) ), CLV_UNSUPPORTED );
        CHECK_TEXT( text, clv_gpu_missing() );
        expect_no_child_left();
    }
}

static void a_good_library_is_asked_once( void )
{
    begin( TEST_WHOLE_OPENCL, NULL );
    signal( SIGCHLD, count_children );
    s_child_count = 0;
    CHECK_EQUAL( clv_gpu_device_count(), 1 );
    CHECK_EQUAL( s_child_count, 1 );
    clv_gpu_device device = { 0 };
    CHECK_OK( clv_gpu_device_at( 0, &device ) );
    CHECK_TEXT( device.name, "Bad device" );
    CHECK_TEXT( device.platform, "Bad platform" );
    CHECK_EQUAL( device.memory_bytes, 1 << 28 );
    CHECK( device.unusable == NULL && clv_gpu_missing() == NULL && clv_gpu_driver_left_out( 0 ) == NULL );
    CHECK_EQUAL( clv_gpu_device_count(), 1 );
    CHECK_EQUAL( s_child_count, 1 );
    signal( SIGCHLD, SIG_DFL );
    expect_no_child_left();
}

// A loader loads all drivers into one process, and one that dies takes the others with it.
static void one_of_two_drivers_that_dies_leaves_the_other( void )
{
    static const char* const s_calls[] = { "dlopen", "clGetPlatformIDs", "clGetDeviceIDs",
        "clGetDeviceInfo" };
    for ( size_t i = 0; i < HOW_COUNT * TEST_COUNT( s_calls ) && has_loader(); ++i )
    {
        const char* call = s_calls[i / HOW_COUNT];
        begin( NULL, wish_of( i % HOW_COUNT, call ) );
        CHECK_EQUAL( clv_gpu_device_count(), 1 );
        CHECK( clv_gpu_missing() == NULL );
        clv_gpu_device device = { 0 };
        CHECK_OK( clv_gpu_device_at( 0, &device ) );
        CHECK_TEXT( device.name, "Good device" );
        const char* sentence = clv_gpu_driver_left_out( 0 );
        CHECK(
            sentence != NULL && strstr( sentence, "/bad.icd (" TEST_BAD_OPENCL ") is left out: " ) != NULL );
        // By its own library, a driver lists platforms by this one.
        expect_reason( sentence, i % HOW_COUNT,
            strcmp( call, "clGetPlatformIDs" ) == 0 ? "clIcdGetPlatformIDsKHR" : call );
        CHECK( clv_gpu_driver_left_out( 1 ) == NULL );
        expect_no_child_left();
    }
}

// As where a variable names a library that a file names too, by another name.
static void a_driver_with_two_names_is_there_once( void )
{
    char path[256];
    if ( !has_loader() )
    {
        return;
    }
    snprintf( path, sizeof( path ), "%s/link.so", s_folder );
    CHECK( symlink( TEST_GOOD_OPENCL, path ) == 0 );
    write_icd( "good-again", path );
    begin( NULL, "abort@clGetDeviceIDs" );
    CHECK_EQUAL( clv_gpu_device_count(), 1 );
    snprintf( path, sizeof( path ), "%s/bad.so", s_folder );
    CHECK( symlink( TEST_BAD_OPENCL, path ) == 0 );
    setenv( "OCL_ICD_FILENAMES", path, 1 );
    begin( NULL, "abort@clGetDeviceIDs" );
    CHECK_EQUAL( clv_gpu_device_count(), 1 );
    CHECK( clv_gpu_driver_left_out( 0 ) != NULL && clv_gpu_driver_left_out( 1 ) == NULL );
    unsetenv( "OCL_ICD_FILENAMES" );
    write_icd( "good-again", NULL );
}

static void two_good_drivers_are_both_there( void )
{
    if ( !has_loader() )
    {
        return;
    }
    begin( NULL, NULL );
    CHECK_EQUAL( clv_gpu_device_count(), 2 );
    CHECK( clv_gpu_driver_left_out( 0 ) == NULL );
}

static void an_only_driver_that_dies_is_named_by_its_file( void )
{
    if ( !has_loader() )
    {
        return;
    }
    write_icd( "good", NULL );
    begin( NULL, "abort@clGetDeviceIDs" );
    CHECK_EQUAL( clv_gpu_device_count(), 0 );
    CHECK( strstr( clv_gpu_missing(), "the OpenCL driver " ) != NULL );
    CHECK( strstr( clv_gpu_missing(), "/bad.icd (" TEST_BAD_OPENCL ") is left out: " ) != NULL );
    write_icd( "good", TEST_GOOD_OPENCL );
}

// ---- opening

static void a_device_that_dies_when_it_is_opened_is_unusable( void )
{
    static const char* const s_calls[] = { "clCreateContext", "clCreateCommandQueue", "clBuildProgram",
        "clEnqueueNDRangeKernel", "clFinish" };
    for ( size_t i = 0; i < HOW_COUNT * TEST_COUNT( s_calls ); ++i )
    {
        const char* call = s_calls[i / HOW_COUNT];
        begin( TEST_WHOLE_OPENCL, wish_of( i % HOW_COUNT, call ) );
        uint32_t index = 7;
        char text[640] = "";
        CHECK_EQUAL( clv_gpu_device_count(), 1 );
        CHECK_RESULT( clv_gpu_device_find( "0", &index, text, sizeof( text ) ), CLV_UNSUPPORTED );
        CHECK( strstr( text, "device 0, Bad device, cannot be used: opened in a child process" ) != NULL );
        expect_reason( text, i % HOW_COUNT, call );
        CHECK_EQUAL( index, 7 );
        clv_gpu_def def = clv_default_gpu_def();
        clv_gpu* gpu = NULL;
        CHECK_RESULT( clv_gpu_create( &def, &gpu ), CLV_UNSUPPORTED );
        expect_no_child_left();
    }
}

static void the_next_fastest_takes_its_place( void )
{
    if ( !has_loader() )
    {
        return;
    }
    begin( NULL, "crash@clBuildProgram" );
    uint32_t index = 7;
    clv_gpu_device device = { 0 };
    CHECK_EQUAL( clv_gpu_device_count(), 2 );
    CHECK_OK( clv_gpu_device_find( NULL, &index, NULL, 0 ) );
    CHECK_OK( clv_gpu_device_at( index, &device ) );
    CHECK_TEXT( device.name, "Good device" );
    CHECK_OK( clv_gpu_device_at( 1 - index, &device ) );
    expect_reason( device.unusable, 1, "clBuildProgram" );
}

// That it went well once is noted, for this device and this version of its driver.
static void a_device_that_was_opened_before_is_not_tried_again( void )
{
    uint32_t index = 0;
    clv_gpu* gpu = NULL;
    clv_gpu_def def = clv_default_gpu_def();
    setenv( "FAKE_OPENCL_VERSION", "2.0", 1 );
    begin( TEST_WHOLE_OPENCL, NULL );
    CHECK_OK( clv_gpu_device_find( NULL, &index, NULL, 0 ) );
    begin( TEST_WHOLE_OPENCL, "abort@clCreateContext" );
    CHECK_OK( clv_gpu_device_find( NULL, &index, NULL, 0 ) );
    begin( TEST_WHOLE_OPENCL, "abort@clCreateContext" );
    def.cache = false;
    CHECK_RESULT( clv_gpu_create( &def, &gpu ), CLV_UNSUPPORTED );
    setenv( "FAKE_OPENCL_VERSION", "2.1", 1 );
    begin( TEST_WHOLE_OPENCL, "abort@clCreateContext" );
    CHECK_RESULT( clv_gpu_device_find( NULL, &index, NULL, 0 ), CLV_UNSUPPORTED );
    unsetenv( "FAKE_OPENCL_VERSION" );
}

// ---- in a process of its own: a driver that is loaded stays

typedef bool scene( void );

static void expect_apart( scene* body )
{
    fflush( NULL );
    pid_t child = fork();
    if ( child == 0 )
    {
        _exit( body() ? 0 : 1 );
    }
    int status = 0;
    CHECK( child > 0 && waitpid( child, &status, 0 ) == child );
    CHECK( WIFEXITED( status ) && WEXITSTATUS( status ) == 0 );
}

static bool open_the_only_one( void )
{
    clv_gpu_def def = clv_default_gpu_def();
    clv_gpu* gpu = NULL;
    clv_gpu* second = NULL;
    if ( clv_gpu_create( &def, &gpu ) != CLV_OK )
    {
        return false;
    }
    // A caller's own queue: its device is told by the driver whose it is.
    def.queue = clv_gpu_queue( gpu );
    bool is_good = strcmp( clv_gpu_device_of( gpu ).name, "Good device" ) == 0 &&
        clv_gpu_create( &def, &second ) == CLV_OK &&
        strcmp( clv_gpu_device_of( second ).name, "Good device" ) == 0;
    clv_gpu_destroy( second );
    clv_gpu_destroy( gpu );
    return is_good;
}

static void remaining_devices_can_be_opened( void )
{
    if ( !has_loader() )
    {
        return;
    }
    begin( NULL, "abort@clGetDeviceIDs" );
    expect_apart( open_the_only_one );
    begin( NULL, "abort@dlopen" );
    expect_apart( open_the_only_one );
    write_icd( "bad", NULL );
    begin( NULL, NULL );
    expect_apart( open_the_only_one );
    write_icd( "bad", TEST_BAD_OPENCL );
}

static bool list_beside_a_loaded_driver( void )
{
    signal( SIGCHLD, count_children );
    s_child_count = 0;
    return dlopen( TEST_GOOD_OPENCL, RTLD_NOW | RTLD_LOCAL ) != NULL && clv_gpu_device_count() == 2 &&
        s_child_count == 0;
}

static bool list_without_a_child( void )
{
    setenv( "CLEAVE_OPENCL_WAIT", "0", 1 );
    signal( SIGCHLD, count_children );
    s_child_count = 0;
    uint32_t index = 0;
    return clv_gpu_device_count() == 1 && clv_gpu_device_find( NULL, &index, NULL, 0 ) == CLV_OK &&
        s_child_count == 0;
}

static void no_child_is_made_where_fork_is_not_allowed( void )
{
    begin( NULL, NULL );
    if ( has_loader() )
    {
        expect_apart( list_beside_a_loaded_driver );
    }
    begin( TEST_WHOLE_OPENCL, NULL );
    expect_apart( list_without_a_child );
}

// ---- the program around it

static bool list_with_children_ignored( void )
{
    signal( SIGCHLD, SIG_IGN );
    bool is_good = clv_gpu_device_count() == 1;
    begin( TEST_WHOLE_OPENCL, "abort@clGetDeviceIDs" );
    return is_good && clv_gpu_device_count() == 0 &&
        strstr( clv_gpu_missing(), "the program took its status" ) != NULL &&
        strstr( clv_gpu_missing(), "the last words of Bad" ) != NULL;
}

static void a_program_that_ignores_its_children_is_served_too( void )
{
    begin( TEST_WHOLE_OPENCL, NULL );
    expect_apart( list_with_children_ignored );
}

static volatile int* s_marks; // shared with every child

static void mark( void )
{
    *s_marks += 1;
}

static void mark_signal( int number )
{
    (void)number;
    mark();
}

static bool list_with_handlers( void )
{
    atexit( mark );
    signal( SIGABRT, mark_signal );
    signal( SIGSEGV, mark_signal );
    begin( TEST_WHOLE_OPENCL, "exit@clGetDeviceIDs" );
    clv_gpu_device_count();
    begin( TEST_WHOLE_OPENCL, "crash@clGetDeviceIDs" );
    clv_gpu_device_count();
    begin( TEST_WHOLE_OPENCL, "abort@clGetDeviceIDs" );
    clv_gpu_device_count();
    return *s_marks == 0;
}

static void handlers_of_the_program_do_not_run_in_the_child( void )
{
    void* page = mmap( NULL, sizeof( int ), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0 );
    CHECK( page != MAP_FAILED );
    s_marks = page;
    expect_apart( list_with_handlers );
    munmap( page, sizeof( int ) );
}

static bool list_in_silence( void )
{
    char text[256] = "";
    int ends[2];
    bool is_good =
        pipe( ends ) == 0 && dup2( ends[1], STDOUT_FILENO ) >= 0 && dup2( ends[1], STDERR_FILENO ) >= 0;
    close( ends[1] );
    printf( "said before" ); // and still in the buffer
    is_good = is_good && clv_gpu_device_count() == 0;
    fflush( stdout );
    close( STDOUT_FILENO );
    close( STDERR_FILENO );
    return is_good && read( ends[0], text, sizeof( text ) - 1 ) > 0 && strcmp( text, "said before" ) == 0 &&
        read( ends[0], text, 1 ) == 0 && strstr( clv_gpu_missing(), "said before" ) == NULL;
}

static void what_the_child_prints_is_not_shown( void )
{
    begin( TEST_WHOLE_OPENCL, "abort@clGetDeviceIDs" );
    expect_apart( list_in_silence );
}

static volatile bool s_is_over;

static void* work_memory( void* user )
{
    (void)user;
    while ( !s_is_over )
    {
        free( malloc( 100 ) );
        setvbuf( stdin, NULL, _IOFBF, 4096 );
    }
    return NULL;
}

// glibc makes malloc and dlopen good in a fork of several threads; sanitizers do not.
static void a_program_with_threads_may_list_devices( void )
{
    pthread_t threads[2];
    if ( IS_SANITIZED )
    {
        return;
    }
    s_is_over = false;
    for ( int i = 0; i < 2; ++i )
    {
        CHECK( pthread_create( &threads[i], NULL, work_memory, NULL ) == 0 );
    }
    for ( int i = 0; i < 50; ++i )
    {
        begin( TEST_WHOLE_OPENCL, NULL );
        CHECK_EQUAL( clv_gpu_device_count(), 1 );
    }
    s_is_over = true;
    for ( int i = 0; i < 2; ++i )
    {
        pthread_join( threads[i], NULL );
    }
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( a_library_that_dies_is_named ),
        TEST_CASE( a_good_library_is_asked_once ),
        TEST_CASE( one_of_two_drivers_that_dies_leaves_the_other ),
        TEST_CASE( a_driver_with_two_names_is_there_once ),
        TEST_CASE( two_good_drivers_are_both_there ),
        TEST_CASE( an_only_driver_that_dies_is_named_by_its_file ),
        TEST_CASE( a_device_that_dies_when_it_is_opened_is_unusable ),
        TEST_CASE( the_next_fastest_takes_its_place ),
        TEST_CASE( a_device_that_was_opened_before_is_not_tried_again ),
        TEST_CASE( remaining_devices_can_be_opened ),
        TEST_CASE( no_child_is_made_where_fork_is_not_allowed ),
        TEST_CASE( a_program_that_ignores_its_children_is_served_too ),
        TEST_CASE( handlers_of_the_program_do_not_run_in_the_child ),
        TEST_CASE( what_the_child_prints_is_not_shown ),
        TEST_CASE( a_program_with_threads_may_list_devices ),
    };
    snprintf( s_folder, sizeof( s_folder ), "%s/gpu_driver.XXXXXX",
        getenv( "TMPDIR" ) != NULL ? getenv( "TMPDIR" ) : "/tmp" );
    if ( mkdtemp( s_folder ) == NULL )
    {
        perror( s_folder );
        return 1;
    }
    setenv( "XDG_CACHE_HOME", s_folder, 1 );
    unsetenv( "OCL_ICD_FILENAMES" );
    write_icd( "bad", TEST_BAD_OPENCL );
    write_icd( "good", TEST_GOOD_OPENCL );
    if ( !has_loader() )
    {
        printf( "no libOpenCL.so.1 here: two drivers side by side are left out\n" );
    }
    int status = test_run( "gpu_driver", cases, TEST_COUNT( cases ), argc, argv );
    char command[192];
    snprintf( command, sizeof( command ), "rm -rf '%s'", s_folder );
    return system( command ) == 0 ? status : 1;
}
