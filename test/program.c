// SPDX-License-Identifier: MIT
#define _XOPEN_SOURCE 700 // posix_openpt
#define _DEFAULT_SOURCE   // TIOCSWINSZ
#include "program.h"

#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

// Tests run side by side in one folder.
static char s_out_file[64], s_error_file[64];

static void name_files( void )
{
    snprintf( s_out_file, sizeof( s_out_file ), "program.%ld.out", (long)getpid() );
    snprintf( s_error_file, sizeof( s_error_file ), "program.%ld.errors", (long)getpid() );
}

const char* program_error_file( void )
{
    name_files();
    return s_error_file;
}

static void become( const char* line, const char* out, const char* errors )
{
    int flags = O_WRONLY | O_CREAT | O_TRUNC;
    dup2( open( out, flags, 0666 ), STDOUT_FILENO );
    dup2( open( errors, flags, 0666 ), STDERR_FILENO );
    char command[2048];
    snprintf( command, sizeof( command ), "exec " TEST_PROGRAM " %s", line );
    execl( "/bin/sh", "sh", "-c", command, (char*)NULL );
    _exit( 127 );
}

static int start( const char* line, const char* out, const char* errors )
{
    fflush( NULL );
    pid_t process = fork();
    if ( process == 0 )
    {
        become( line, out, errors );
    }
    CHECK( process > 0 );
    return (int)process;
}

static int wait_for( int process )
{
    int status = 0;
    CHECK( waitpid( process, &status, 0 ) == process );
    return WIFSIGNALED( status ) ? 128 + WTERMSIG( status ) : WEXITSTATUS( status );
}

static void read_file( const char* path, char* text, size_t size )
{
    FILE* file = fopen( path, "rb" );
    CHECK( file != NULL );
    size_t length = fread( text, 1, size - 1, file );
    text[length] = '\0';
    fclose( file );
    remove( path );
}

program_answer* program_run( const char* line )
{
    static program_answer answer;
    test_where.note = line;
    name_files();
    answer.status = wait_for( start( line, s_out_file, s_error_file ) );
    read_file( s_out_file, answer.out, sizeof( answer.out ) );
    read_file( s_error_file, answer.errors, sizeof( answer.errors ) );
    return &answer;
}

program_answer* program_run_on_terminal( const char* line, int columns )
{
    static program_answer answer;
    struct winsize size = { .ws_row = 24, .ws_col = (unsigned short)columns };
    int screen = posix_openpt( O_RDWR | O_NOCTTY );
    test_where.note = line;
    CHECK( screen >= 0 && grantpt( screen ) == 0 && unlockpt( screen ) == 0 );
    int keyboard = open( ptsname( screen ), O_RDWR | O_NOCTTY );
    CHECK( keyboard >= 0 && ioctl( keyboard, TIOCSWINSZ, &size ) == 0 );
    int process = start( line, ptsname( screen ), ptsname( screen ) );
    close( keyboard );
    size_t length = 0;
    ssize_t got = 0;
    while ( ( got = read( screen, answer.out + length, sizeof( answer.out ) - 1 - length ) ) > 0 )
    {
        length += (size_t)got;
    }
    answer.out[length] = '\0';
    answer.errors[0] = '\0';
    answer.status = wait_for( process );
    close( screen );
    return &answer;
}

int program_start( const char* line )
{
    name_files();
    return start( line, "/dev/null", s_error_file );
}

int program_end( int process, int signal_number )
{
    CHECK( kill( (pid_t)process, signal_number ) == 0 );
    return wait_for( process );
}

bool program_said( const program_answer* answer, const char* text )
{
    return strstr( answer->out, text ) != NULL || strstr( answer->errors, text ) != NULL;
}
