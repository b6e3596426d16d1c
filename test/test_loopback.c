// SPDX-License-Identifier: MIT
// The little server of `cleave view --serve`: what it answers, to which clients; that clients that are slow,
// silent or send nonsense cost others nothing; and that its page can be read and replaced by its user alone.
#define _POSIX_C_SOURCE 200809L
#include "lab/base/loopback.h"
#include "program.h"
#include "support.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GET "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define FIELDS "\r\nHost: localhost\r\n\r\n"

static int64_t now_ms( void )
{
    struct timespec now = { 0 };
    clock_gettime( CLOCK_MONOTONIC, &now );
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void sleep_ms( long ms )
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep( &time, NULL );
}

// ---- heads

static http_status judge( const char* head, bool* is_head )
{
    size_t length = http_head_length( head, strlen( head ) );
    return length > 0 ? http_head_judge( head, length, is_head ) : (http_status)0;
}

static void request_heads_are_checked( void )
{
    static const struct
    {
        const char* head;
        int status;
    } rows[] = {
        { GET, 200 },
        { "\r\n\r\n" GET, 200 }, // empty lines may come first
        { "HEAD / HTTP/1.0" FIELDS, 200 },
        { "GET /?a=b HTTP/1.1\r\nhOsT:\t127.0.0.1:8080 \r\nX: \xff\r\n\r\n", 200 },
        { "GET http://localhost:80/ HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n",
            200 }, // the first name counts
        { "GET http://127.0.0.1 HTTP/1.1" FIELDS, 200 },
        { "GET http://elsewhere.example/ HTTP/1.1" FIELDS, 403 },
        { "GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", 403 },
        { "GET / HTTP/1.1\r\nHost: localhost.elsewhere.example\r\n\r\n", 403 },
        { "GET / HTTP/1.1\r\nHost: 127.0.0.1.elsewhere.example:80\r\n\r\n", 403 },
        { "GET / HTTP/1.1\r\nHost: localhost:80x\r\n\r\n", 403 },
        { "GET / HTTP/1.1\r\nHost: me@localhost\r\n\r\n", 403 },
        { "GET / HTTP/1.1\r\nHost:\r\n\r\n", 403 },
        { "GET /../etc/passwd HTTP/1.1" FIELDS, 404 },
        { "GET // HTTP/1.1" FIELDS, 404 },
        { "GET * HTTP/1.1" FIELDS, 404 },
        { "GET http://localhost/x HTTP/1.1" FIELDS, 404 },
        { "POST / HTTP/1.1" FIELDS, 405 },
        { "get / HTTP/1.1" FIELDS, 405 }, // methods have a case
        { "OPTIONS * HTTP/1.1" FIELDS, 405 },
        { "GET / HTTP/2.0" FIELDS, 505 },
        { "GET / HTTP/1.1\r\n\r\n", 400 }, // no Host
        { "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: local\x01host\r\n\r\n", 400 },
        { "GET / HTTP/1.1\nHost: localhost\n\n", 400 },
        { "GET /  HTTP/1.1" FIELDS, 400 },
        { "GET  / HTTP/1.1" FIELDS, 400 },
        { " GET / HTTP/1.1" FIELDS, 400 },
        { "GET /\x80 HTTP/1.1" FIELDS, 400 },
        { "GET /" FIELDS, 400 },
        { "GET / HTTP/1.11" FIELDS, 400 },
        { "GET / http/1.1" FIELDS, 400 },
        { "\x16\x03\x01\r\n\r\n", 400 }, // the beginning of TLS
        { "GET / HTTP/1.1\r\nHost: localhost\r\n", 0 },
        { "\r\n\r\n\r\n", 0 },
        { "", 0 },
    };
    for ( size_t i = 0; i < TEST_COUNT( rows ); ++i )
    {
        bool is_head = true;
        test_where.note = rows[i].head;
        CHECK_EQUAL( judge( rows[i].head, &is_head ), (uint64_t)rows[i].status );
        CHECK( rows[i].status == 0 || is_head == ( strncmp( rows[i].head, "HEAD", 4 ) == 0 ) );
    }
}

// Whatever bytes come, in a room of just their size: one of the answers there are. Where the head ends does
// not depend on how it came.
static void request_heads_of_any_bytes_are_checked( void )
{
    static const char whole[] =
        "HEAD http://127.0.0.1:80/?x HTTP/1.1\r\nHost: localhost:1\r\nA: b\r\n\r\nGET";
    static const char likely[] = "\r\n :/?. GETHADPO10x\t\xff";
    test_random random = test_random_make( 5 );
    for ( uint32_t i = 0; i < test_scaled( 20000 ); ++i )
    {
        size_t count = test_random_below( &random, sizeof( whole ) );
        char* bytes = malloc( count + 1 );
        memcpy( bytes, whole, count );
        for ( uint32_t k = test_random_below( &random, 4 ); k > 0 && count > 0; --k )
        {
            uint32_t draw = test_random_below( &random, sizeof( likely ) ); // and the zero behind
            bytes[test_random_below( &random, (uint32_t)count )] = likely[draw];
        }
        char* exact = count > 0 ? malloc( count ) : NULL;
        if ( exact != NULL )
        {
            memcpy( exact, bytes, count );
        }
        size_t length = http_head_length( exact, count );
        CHECK( length <= count );
        for ( size_t part = 0; part < count; ++part )
        {
            size_t early = http_head_length( bytes, part );
            CHECK( early == ( length > 0 && part >= length ? length : 0 ) );
        }
        bool is_head = false;
        http_status status = length > 0 ? http_head_judge( exact, length, &is_head ) : HTTP_BAD_REQUEST;
        char answer[HTTP_ANSWER_ROOM];
        size_t answer_length = http_head_answer( answer, status, UINT64_MAX, is_head );
        CHECK( answer_length > 40 && answer_length < HTTP_ANSWER_ROOM );
        free( exact );
        free( bytes );
    }
}

// ---- a server in a process of its own

typedef struct server_process
{
    pid_t process;
    uint16_t port;
    size_t page_bytes;
} server_process;

static char page_byte( size_t at )
{
    return (char)( 'a' + at % 23 );
}

// 0: times as they are, and no end.
static server_process start_server(
    size_t page_bytes, uint32_t request_ms, uint32_t answer_ms, uint32_t request_count )
{
    FILE* page = tmpfile();
    CHECK( page != NULL );
    for ( size_t i = 0; i < page_bytes; ++i )
    {
        CHECK( fputc( page_byte( i ), page ) != EOF );
    }
    CHECK( fflush( page ) == 0 );
    loopback server, second;
    lab_error why;
    CHECK( loopback_open( &server, 0, &why ) && server.port > 0 );
    CHECK( !loopback_open( &second, server.port, &why ) && strstr( why.text, "cannot be had" ) != NULL );
    server.request_ms = request_ms > 0 ? request_ms : server.request_ms;
    server.answer_ms = answer_ms > 0 ? answer_ms : server.answer_ms;
    fflush( NULL );
    pid_t process = fork();
    CHECK( process >= 0 );
    if ( process == 0 )
    {
        _exit( loopback_serve( &server, page, request_count, &why ) ? 0 : 1 );
    }
    server_process started = { process, server.port, page_bytes };
    loopback_close( &server );
    fclose( page );
    return started;
}

static void stop_server( const server_process* server )
{
    int status = 0;
    CHECK( waitpid( server->process, &status, WNOHANG ) == 0 ); // it was alive
    CHECK(
        kill( server->process, SIGTERM ) == 0 && waitpid( server->process, &status, 0 ) == server->process );
}

// ---- clients

static int connect_with( uint16_t port, int receive_bytes )
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons( port ) };
    address.sin_addr.s_addr = htonl( INADDR_LOOPBACK );
    int client = socket( AF_INET, SOCK_STREAM, 0 );
    struct timeval patience = { .tv_sec = 20 };
    CHECK( client >= 0 );
    setsockopt( client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof( patience ) );
    if ( receive_bytes > 0 )
    {
        setsockopt( client, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof( receive_bytes ) );
    }
    CHECK( connect( client, (struct sockaddr*)&address, sizeof( address ) ) == 0 );
    return client;
}

static int connect_to( uint16_t port )
{
    return connect_with( port, 0 );
}

static void say( int client, const char* text )
{
    CHECK( send( client, text, strlen( text ), MSG_NOSIGNAL ) == (ssize_t)strlen( text ) );
}

// All that comes, with a zero behind, to free. *is_cut: it ended with a reset.
static char* hear( int client, size_t* count, bool* is_cut )
{
    size_t room = 1 << 16;
    char* bytes = malloc( room );
    ssize_t got = 1;
    *count = 0;
    while ( got > 0 )
    {
        if ( *count + 1 == room )
        {
            room *= 2;
            bytes = realloc( bytes, room );
        }
        got = recv( client, bytes + *count, room - 1 - *count, 0 );
        *count += got > 0 ? (size_t)got : 0;
    }
    CHECK( got == 0 || errno == ECONNRESET ); // not our patience
    *is_cut = got < 0;
    bytes[*count] = '\0';
    return bytes;
}

// Did a whole page come?
static bool is_page( const char* answer, size_t count, size_t page_bytes )
{
    const char* end = strstr( answer, "\r\n\r\n" );
    size_t head = end != NULL ? (size_t)( end - answer ) + 4 : 0;
    bool good = strncmp( answer, "HTTP/1.1 200", 12 ) == 0 && count == head + page_bytes;
    for ( size_t i = 0; good && i < page_bytes; ++i )
    {
        good = answer[head + i] == page_byte( i );
    }
    return good;
}

static void expect_answer( int client, const char* status, const char* part )
{
    size_t count = 0;
    bool is_cut = false;
    char* answer = hear( client, &count, &is_cut );
    test_where.note = answer;
    CHECK( !is_cut && strncmp( answer, "HTTP/1.1 ", 9 ) == 0 && strncmp( answer + 9, status, 3 ) == 0 );
    CHECK( part == NULL || strstr( answer, part ) != NULL );
    close( client );
    free( answer );
    test_where.note = NULL;
}

static void expect_page( int client, size_t page_bytes )
{
    size_t count = 0;
    bool is_cut = false;
    char* answer = hear( client, &count, &is_cut );
    CHECK( !is_cut && is_page( answer, count, page_bytes ) );
    close( client );
    free( answer );
}

static void ask( const server_process* server, const char* request, const char* status, const char* part )
{
    int client = connect_to( server->port );
    say( client, request );
    expect_answer( client, status, part );
}

// A client as a browser is one. Milliseconds until it has the page.
static int64_t ask_honestly( const server_process* server )
{
    int64_t before = now_ms();
    int client = connect_to( server->port );
    say( client, GET );
    expect_page( client, server->page_bytes );
    return now_ms() - before;
}

// ---- answers

static void the_page_is_served_to_this_machine( void )
{
    server_process server = start_server( 15, 0, 0, 9 );
    ask( &server, "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n", "200", "\r\n\r\nabcdefghijklmno" );
    ask( &server, "GET /?x HTTP/1.1\r\nhost:localhost\r\n\r\n", "200", "\r\n\r\nabcdefghijklmno" );
    ask( &server, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", "200", "Content-Length: 15\r\n" );
    ask( &server, "GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", "403", "localhost" );
    ask( &server, "GET /favicon.ico HTTP/1.1\r\nHost: localhost\r\n\r\n", "404", "there is one page" );
    ask( &server, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", "405",
        "\r\nAllow: GET, HEAD\r\n" );
    ask( &server, "nonsense\r\n\r\n", "400", "\r\n\r\n400 Bad Request" );
    ask( &server, "GET / HTTP/3.0\r\n\r\n", "505", NULL );
    ask( &server, "HEAD /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", "404", "Connection: close\r\n\r\n" );
    int status = 1;
    CHECK( waitpid( server.process, &status, 0 ) == server.process && status == 0 );
}

static void answers_to_head_have_no_body( void )
{
    static const char* const s_requests[] = { "HEAD / HTTP/1.1" FIELDS, "HEAD /x HTTP/1.1" FIELDS,
        "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" };
    server_process server = start_server( 100, 0, 0, 0 );
    for ( size_t i = 0; i < TEST_COUNT( s_requests ); ++i )
    {
        size_t count = 0;
        bool is_cut = false;
        int client = connect_to( server.port );
        say( client, s_requests[i] );
        char* answer = hear( client, &count, &is_cut );
        const char* end = strstr( answer, "\r\n\r\n" );
        CHECK( !is_cut && end != NULL && end + 4 == answer + count );
        close( client );
        free( answer );
    }
    stop_server( &server );
}

// More than a head may have, in one go and in parts; more behind a request is no matter.
static void long_requests_are_refused( void )
{
    enum
    {
        LONG = 200000
    };
    char* text = malloc( LONG + 1 );
    memset( text, 'a', LONG );
    text[LONG] = '\0';
    memcpy( text, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", 36 );
    server_process server = start_server( 100, 0, 0, 0 );
    ask( &server, text, "431", "8192" );
    memcpy( text, GET, strlen( GET ) );
    ask( &server, text, "200", NULL );
    text[HTTP_REQUEST_MOST - 4] = '\0';
    memcpy( text, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", 36 );
    int client = connect_to( server.port );
    say( client, text );
    say( client, "\r\n\r\n" ); // the most there may be
    expect_page( client, 100 );
    stop_server( &server );
    free( text );
}

// ---- the slow, the silent and the rude

static void idle_connections_cost_others_nothing( void )
{
    server_process server = start_server( 100000, 0, 0, 0 );
    int idle[4];
    for ( int i = 0; i < 4; ++i )
    {
        idle[i] = connect_to( server.port );
    }
    say( idle[0], "GET / HTTP" );
    for ( int i = 0; i < 3; ++i )
    {
        CHECK( ask_honestly( &server ) < 2500 ); // half of what one of them has
    }
    for ( int i = 0; i < 4; ++i )
    {
        close( idle[i] );
    }
    stop_server( &server );
}

// One byte every so often does not put the end off. A client that sent nothing gets no answer either.
static void a_request_is_cut_at_its_deadline( void )
{
    enum
    {
        DEADLINE = 600
    };
    server_process server = start_server( 100, DEADLINE, 0, 0 );
    int silent = connect_to( server.port );
    int slow = connect_to( server.port );
    int64_t before = now_ms();
    ssize_t sent = 1;
    char byte;
    for ( int i = 0; sent == 1 && now_ms() - before < 10000; ++i )
    {
        sent = send( slow, GET, 1, MSG_NOSIGNAL );
        sleep_ms( 40 );
        sent = recv( slow, &byte, 1, MSG_DONTWAIT | MSG_PEEK ) < 0 && errno == EAGAIN ? sent : 0;
        CHECK( i != 2 || ask_honestly( &server ) < 2500 );
    }
    int64_t took = now_ms() - before;
    CHECK( took >= DEADLINE - 50 && took < 5000 );
    expect_answer( slow, "408", "in time" );
    CHECK( recv( silent, &byte, 1, 0 ) == 0 );
    close( silent );
    stop_server( &server );
}

static void a_slow_reader_blocks_no_other_and_is_cut( void )
{
    enum
    {
        PAGE = 24 << 20
    };
    server_process server = start_server( PAGE, 0, 1000, 0 );
    int slow = connect_with( server.port, 4096 );
    say( slow, GET );
    CHECK( ask_honestly( &server ) < 10000 );
    char byte;
    for ( int i = 0; i < 30; ++i ) // it takes a little
    {
        CHECK( recv( slow, &byte, 1, 0 ) == 1 );
        sleep_ms( 50 );
    }
    ask_honestly( &server );
    size_t count = 0;
    bool is_cut = false;
    char* answer = hear( slow, &count, &is_cut );
    CHECK( count < PAGE );
    free( answer );
    close( slow );
    stop_server( &server );
}

static void fifty_clients_are_served_at_once( void )
{
    enum
    {
        CLIENTS = 50,
        PAGE = 300000
    };
    server_process server = start_server( PAGE, 0, 0, 0 );
    int clients[CLIENTS];
    for ( int i = 0; i < CLIENTS; ++i )
    {
        clients[i] = connect_to( server.port );
    }
    for ( int i = 0; i < CLIENTS; ++i )
    {
        say( clients[i], "GET / HTTP/1.1\r\nHo" ); // all are under way
    }
    for ( int i = 0; i < CLIENTS; ++i )
    {
        say( clients[i], "st: localhost\r\n\r\n" );
    }
    for ( int i = CLIENTS - 1; i >= 0; --i )
    {
        expect_page( clients[i], PAGE );
    }
    stop_server( &server );
}

// One more than there is room for takes the place of the one that was idle longest; one that is being
// answered keeps its place.
static void the_oldest_idle_connection_makes_room( void )
{
    enum
    {
        PAGE = 24 << 20
    };
    server_process server = start_server( PAGE, 0, 0, 0 );
    int busy = connect_with( server.port, 4096 );
    say( busy, GET );
    sleep_ms( 50 );
    int idle[LOOPBACK_CLIENTS + 5];
    for ( int i = 0; i < LOOPBACK_CLIENTS + 5; ++i )
    {
        idle[i] = connect_to( server.port );
    }
    CHECK( ask_honestly( &server ) < 10000 );
    char byte;
    for ( int i = 0; i < LOOPBACK_CLIENTS + 5; ++i )
    {
        // One for the busy one, one for the honest one, and five too many.
        ssize_t got = i < 7 ? recv( idle[i], &byte, 1, 0 ) : recv( idle[i], &byte, 1, MSG_DONTWAIT );
        CHECK( i < 7 ? got == 0 : got < 0 && errno == EAGAIN );
        close( idle[i] );
    }
    expect_page( busy, PAGE );
    stop_server( &server );
}

static void reset( int client )
{
    const struct linger none = { .l_onoff = 1, .l_linger = 0 };
    setsockopt( client, SOL_SOCKET, SO_LINGER, &none, sizeof( none ) );
    close( client );
}

static void half_closed_and_reset_connections_are_handled( void )
{
    enum
    {
        PAGE = 8 << 20
    };
    server_process server = start_server( PAGE, 0, 0, 0 );
    int client = connect_to( server.port );
    say( client, GET );
    shutdown( client, SHUT_WR ); // it has said all
    expect_page( client, PAGE );
    client = connect_to( server.port );
    say( client, "GET / HTTP/1.1\r\nHost: loc" );
    shutdown( client, SHUT_WR ); // and here it has not
    expect_answer( client, "400", NULL );
    client = connect_to( server.port );
    shutdown( client, SHUT_WR );
    char byte;
    CHECK( recv( client, &byte, 1, 0 ) == 0 );
    close( client );
    for ( int i = 0; i < 100; ++i )
    {
        client = connect_with( server.port, 4096 );
        say( client, i % 4 == 0 ? "GET / HT" : GET );
        if ( i % 4 == 2 )
        {
            CHECK( recv( client, &byte, 1, 0 ) == 1 ); // in the middle of the answer
        }
        reset( client );
    }
    reset( connect_to( server.port ) );
    ask_honestly( &server );
    stop_server( &server );
}

// ---- the program

#define FOLDER "test_loopback.tmp"
#define VICTIM "test_loopback.victim"
#define WHAT "view brownian-free:50@0+3 -q --serve "

static uint16_t find_port( void )
{
    loopback server;
    lab_error why;
    CHECK( loopback_open( &server, 0, &why ) );
    uint16_t port = server.port;
    loopback_close( &server );
    return port;
}

static bool is_listening( uint16_t port )
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons( port ) };
    address.sin_addr.s_addr = htonl( INADDR_LOOPBACK );
    int client = socket( AF_INET, SOCK_STREAM, 0 );
    bool is_there = connect( client, (struct sockaddr*)&address, sizeof( address ) ) == 0;
    close( client );
    return is_there;
}

static uint32_t count_entries( const char* folder, bool removes )
{
    DIR* entries = opendir( folder );
    uint32_t count = 0;
    CHECK( entries != NULL );
    for ( struct dirent* entry = readdir( entries ); entry != NULL; entry = readdir( entries ) )
    {
        char path[512];
        bool is_one = strcmp( entry->d_name, "." ) != 0 && strcmp( entry->d_name, ".." ) != 0;
        snprintf( path, sizeof( path ), "%s/%s", folder, entry->d_name );
        CHECK( !is_one || !removes || remove( path ) == 0 );
        count += is_one ? 1 : 0;
    }
    closedir( entries );
    return count;
}

// The page's file is open in the process: without a name, and for its user alone. 0 where the system does not
// tell.
static void check_private_file( int process )
{
    char path[64], name[512];
    uint32_t count = 0;
    for ( int handle = 3; handle < 32; ++handle )
    {
        struct stat facts;
        snprintf( path, sizeof( path ), "/proc/%d/fd/%d", process, handle );
        ssize_t length = readlink( path, name, sizeof( name ) - 1 );
        name[length > 0 ? length : 0] = '\0';
        if ( strstr( name, FOLDER ) != NULL && stat( path, &facts ) == 0 )
        {
            CHECK( S_ISREG( facts.st_mode ) && ( facts.st_mode & 0777 ) == 0600 && facts.st_nlink == 0 );
            CHECK( facts.st_size > 10000 );
            count += 1;
        }
    }
    CHECK( count == 1 || access( "/proc/self/fd", F_OK ) != 0 );
}

// Links lie where a name could be guessed, for hundreds of processes to come.
static uint32_t plant_links( void )
{
    enum
    {
        LINKS = 400
    };
    FILE* victim = fopen( VICTIM, "w" );
    CHECK( victim != NULL && fputs( "precious", victim ) >= 0 && fclose( victim ) == 0 );
    for ( int i = 1; i <= LINKS; ++i )
    {
        char path[256];
        snprintf( path, sizeof( path ), FOLDER "/cleave-view-%ld.html", (long)getpid() + i );
        CHECK( symlink( "../" VICTIM, path ) == 0 );
    }
    return LINKS;
}

static void a_page_without_a_name_is_private_and_leaves_nothing( void )
{
    char folder[1024], line[256], text[16] = "";
    mkdir( FOLDER, 0777 );
    count_entries( FOLDER, true );
    CHECK( getcwd( folder, sizeof( folder ) - sizeof( FOLDER ) - 1 ) != NULL );
    strcat( folder, "/" FOLDER );
    setenv( "TMPDIR", folder, 1 );
    uint32_t link_count = plant_links();
    uint16_t port = find_port();
    snprintf( line, sizeof( line ), WHAT "%u", (unsigned)port );
    int process = program_start( line );
    for ( int i = 0; i < 1000 && !is_listening( port ); ++i )
    {
        sleep_ms( 10 );
    }
    int client = connect_to( port );
    say( client, GET );
    expect_answer( client, "200", "<!DOCTYPE html>" );
    check_private_file( process );
    CHECK_EQUAL( count_entries( FOLDER, false ), link_count );
    CHECK_EQUAL( (uint64_t)program_end( process, SIGTERM ), 128 + SIGTERM );
    CHECK( !is_listening( port ) );
    CHECK_EQUAL( count_entries( FOLDER, true ), link_count );
    FILE* victim = fopen( VICTIM, "r" );
    CHECK( victim != NULL && fgets( text, sizeof( text ), victim ) != NULL && fclose( victim ) == 0 );
    CHECK_TEXT( text, "precious" );
    setenv( "TMPDIR", "/no/such/folder", 1 );
    program_answer* answer = program_run( line );
    CHECK_EQUAL( answer->status, 2 );
    CHECK( program_said( answer, "/no/such/folder: no temporary file can be made there" ) );
    unsetenv( "TMPDIR" );
    remove( program_error_file() );
    remove( VICTIM );
    rmdir( FOLDER );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( request_heads_are_checked ),
        TEST_CASE( request_heads_of_any_bytes_are_checked ),
        TEST_CASE( the_page_is_served_to_this_machine ),
        TEST_CASE( answers_to_head_have_no_body ),
        TEST_CASE( long_requests_are_refused ),
        TEST_CASE( idle_connections_cost_others_nothing ),
        TEST_CASE( a_request_is_cut_at_its_deadline ),
        TEST_CASE( a_slow_reader_blocks_no_other_and_is_cut ),
        TEST_CASE( fifty_clients_are_served_at_once ),
        TEST_CASE( the_oldest_idle_connection_makes_room ),
        TEST_CASE( half_closed_and_reset_connections_are_handled ),
        TEST_CASE( a_page_without_a_name_is_private_and_leaves_nothing ),
    };
    return test_run( "loopback", cases, TEST_COUNT( cases ), argc, argv );
}
