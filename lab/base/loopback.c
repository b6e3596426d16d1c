// SPDX-License-Identifier: MIT
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#endif
#include "lab/base/loopback.h"

#include "lab/base/interrupt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- RFC 9112, as much of it as one page needs. Connections end with their first answer, so that bodies,
// trailers and pipelines do not matter.

// Some bytes of the head.
typedef struct span
{
    const char* at;
    size_t count;
} span;

static bool is_same( span text, const char* word )
{
    size_t length = strlen( word );
    bool same = text.count == length;
    for ( size_t i = 0; same && i < length; ++i )
    {
        char byte = text.at[i];
        byte = byte >= 'A' && byte <= 'Z' ? (char)( byte - 'A' + 'a' ) : byte;
        same = byte == word[i]; // which is in small letters
    }
    return same;
}

static bool is_method( span text, const char* word )
{
    return text.count == strlen( word ) && memcmp( text.at, word, text.count ) == 0;
}

size_t http_head_length( const char* bytes, size_t count )
{
    size_t start = 0; // of a line
    bool has_text = false;
    for ( size_t i = 0; i < count; ++i )
    {
        if ( bytes[i] == '\n' )
        {
            bool is_empty = i == start || ( i == start + 1 && bytes[start] == '\r' );
            if ( is_empty && has_text )
            {
                return i + 1;
            }
            has_text = has_text || !is_empty; // empty lines may come first
            start = i + 1;
        }
    }
    return 0;
}

// The next line without its end. False for one that does not end in CR LF.
static bool take_line( span* rest, span* line )
{
    const char* end = rest->count > 0 ? memchr( rest->at, '\n', rest->count ) : NULL;
    if ( end == NULL || end == rest->at || end[-1] != '\r' )
    {
        return false;
    }
    *line = ( span ){ rest->at, (size_t)( end - rest->at ) - 1 };
    rest->count -= (size_t)( end - rest->at ) + 1;
    rest->at = end + 1;
    return true;
}

static bool is_token_byte( char byte )
{
    return ( byte >= 'a' && byte <= 'z' ) || ( byte >= 'A' && byte <= 'Z' ) ||
        ( byte >= '0' && byte <= '9' ) || ( byte != '\0' && strchr( "!#$%&'*+-.^_`|~", byte ) != NULL );
}

static bool is_target_byte( char byte )
{
    return byte > ' ' && byte < 127;
}

// As many such bytes as there are.
static span take_while( span* rest, bool ( *is_such )( char byte ) )
{
    span taken = { rest->at, 0 };
    while ( taken.count < rest->count && is_such( rest->at[taken.count] ) )
    {
        taken.count += 1;
    }
    rest->at += taken.count;
    rest->count -= taken.count;
    return taken;
}

static bool take_byte( span* rest, char byte )
{
    bool is_there = rest->count > 0 && rest->at[0] == byte;
    rest->at += is_there ? 1 : 0;
    rest->count -= is_there ? 1 : 0;
    return is_there;
}

// Its name, and its value without blanks around; false for what is no field, or has control characters.
static bool read_field( span line, span* name, span* value )
{
    *name = take_while( &line, is_token_byte );
    bool good = name->count > 0 && take_byte( &line, ':' );
    for ( size_t i = 0; good && i < line.count; ++i )
    {
        unsigned char byte = (unsigned char)line.at[i];
        good = byte == '\t' || ( byte >= ' ' && byte != 127 );
    }
    while ( take_byte( &line, ' ' ) || take_byte( &line, '\t' ) )
    {
    }
    while ( line.count > 0 && ( line.at[line.count - 1] == ' ' || line.at[line.count - 1] == '\t' ) )
    {
        line.count -= 1;
    }
    *value = line;
    return good;
}

// A name of this machine, with or without a port.
static bool is_ours( span authority )
{
    const char* colon = authority.count > 0 ? memchr( authority.at, ':', authority.count ) : NULL;
    span name = { authority.at, colon != NULL ? (size_t)( colon - authority.at ) : authority.count };
    bool good = is_same( name, "127.0.0.1" ) || is_same( name, "localhost" );
    for ( size_t i = name.count + 1; good && i < authority.count; ++i )
    {
        good = authority.at[i] >= '0' && authority.at[i] <= '9';
    }
    return good;
}

// "/?x" and "http://localhost/?x" are both told apart into name and path; the name in
// front is the one that counts.
static span take_path( span target, span* authority )
{
    static const char scheme[] = "http://";
    size_t length = strlen( scheme );
    if ( target.count > length && is_same( ( span ){ target.at, length }, scheme ) )
    {
        *authority = ( span ){ target.at + length, 0 };
        while ( length + authority->count < target.count &&
            strchr( "/?", target.at[length + authority->count] ) == NULL )
        {
            authority->count += 1;
        }
        target.at += length + authority->count;
        target.count -= length + authority->count;
    }
    const char* question = target.count > 0 ? memchr( target.at, '?', target.count ) : NULL;
    target.count = question != NULL ? (size_t)( question - target.at ) : target.count;
    return target.count > 0 ? target : ( span ){ "/", 1 };
}

// The fields, of which Host alone matters: there must be one.
static bool read_fields( span rest, span* host )
{
    span line, name, value;
    uint32_t host_count = 0;
    bool good = take_line( &rest, &line );
    while ( good && line.count > 0 )
    {
        good = read_field( line, &name, &value );
        if ( good && is_same( name, "host" ) )
        {
            *host = value;
            host_count += 1;
        }
        good = good && take_line( &rest, &line );
    }
    return good && host_count == 1;
}

http_status http_head_judge( const char* head, size_t length, bool* is_head )
{
    span rest = { head, length }, line = { head, 0 }, host = { head, 0 };
    bool good = take_line( &rest, &line );
    while ( good && line.count == 0 ) // in front of the request
    {
        good = take_line( &rest, &line );
    }
    span method = take_while( &line, is_token_byte );
    *is_head = is_method( method, "HEAD" );
    good = good && method.count > 0 && take_byte( &line, ' ' );
    span target = take_while( &line, is_target_byte );
    good = good && target.count > 0 && take_byte( &line, ' ' );
    good = good && line.count == 8 && memcmp( line.at, "HTTP/", 5 ) == 0 && line.at[6] == '.';
    if ( !good )
    {
        return HTTP_BAD_REQUEST;
    }
    if ( line.at[5] != '1' )
    {
        return HTTP_BAD_VERSION;
    }
    if ( !read_fields( rest, &host ) )
    {
        return HTTP_BAD_REQUEST;
    }
    span path = take_path( target, &host );
    return !is_ours( host )                        ? HTTP_FORBIDDEN
        : !*is_head && !is_method( method, "GET" ) ? HTTP_BAD_METHOD
        : !is_same( path, "/" )                    ? HTTP_NOT_FOUND
                                                   : HTTP_PAGE;
}

// ---- answers

typedef struct answer_row
{
    http_status status;
    const char* name;
    const char* advice;
} answer_row;

static const answer_row s_answers[] = {
    { HTTP_BAD_REQUEST, "Bad Request", "this is no request of HTTP/1.1 with one Host" },
    { HTTP_FORBIDDEN, "Forbidden", "this page is for this machine; ask for it as 127.0.0.1 or localhost" },
    { HTTP_NOT_FOUND, "Not Found", "there is one page, /" },
    { HTTP_BAD_METHOD, "Method Not Allowed", "only GET and HEAD are answered" },
    { HTTP_TIMEOUT, "Request Timeout", "the request did not come whole in time" },
    { HTTP_HEAD_TOO_LARGE, "Request Header Fields Too Large", "a request has at most 8192 bytes" },
    { HTTP_BAD_VERSION, "HTTP Version Not Supported", "only HTTP/1.0 and HTTP/1.1 are answered" },
};

size_t http_head_answer(
    char answer[HTTP_ANSWER_ROOM], http_status status, uint64_t page_bytes, bool is_head )
{
    if ( status == HTTP_PAGE )
    {
        return (size_t)snprintf( answer, HTTP_ANSWER_ROOM,
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %" PRIu64
            "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
            "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
            page_bytes );
    }
    const answer_row* row = s_answers;
    while ( row->status != status )
    {
        ++row;
    }
    char text[160];
    int length = snprintf( text, sizeof( text ), "%d %s: %s\n", (int)status, row->name, row->advice );
    return (size_t)snprintf( answer, HTTP_ANSWER_ROOM,
        "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n%s",
        (int)status, row->name, length, status == HTTP_BAD_METHOD ? "Allow: GET, HEAD\r\n" : "",
        is_head ? "" : text );
}

// ---- loopback

#ifdef _WIN32

bool loopback_open( loopback* server, uint16_t port, lab_error* why )
{
    (void)port;
    *server = ( loopback ){ 0 };
    return lab_error_write( why, "--serve is not there on Windows; write the page with -o FILE and open it" );
}

bool loopback_serve( loopback* server, FILE* page, uint32_t request_count, lab_error* why )
{
    (void)page;
    (void)request_count;
    return loopback_open( server, 0, why );
}

void loopback_close( loopback* server )
{
    *server = ( loopback ){ 0 };
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum
{
    REQUEST_MS = 5000,
    ANSWER_MS = 30000,
    PIECE = 1 << 16, // bytes of the page that are sent in one go, and that a client has answer_ms to take
    ENDING_PART = 4, // of request_ms, for a client to close its end
    PAUSE_MS = 50,   // where the system has no more sockets
};

typedef enum stage
{
    FREE = 0,
    READS,  // its request comes
    WRITES, // its answer goes
    ENDS,   // what else it sends is read and dropped: closing with bytes unread would take the answer from it
} stage;

typedef struct client
{
    stage stage;
    int socket;
    uint64_t number;  // in the order they came
    int64_t deadline; // ms
    size_t head_count;
    char head[HTTP_REQUEST_MOST];
    size_t answer_count, answer_sent;
    char answer[HTTP_ANSWER_ROOM];
    uint64_t page_at, page_end; // bytes of the page to send
    uint64_t renewed_at;        // page_at when the deadline was set
} client;

typedef struct service
{
    loopback* server;
    int page;
    uint64_t page_bytes;
    uint64_t came_count;
    uint32_t answer_count;
    int64_t now; // ms
    client clients[LOOPBACK_CLIENTS];
    struct pollfd polls[LOOPBACK_CLIENTS + 1]; // the last one listens
    char piece[PIECE];
} service;

static bool set_up( int handle )
{
    return fcntl( handle, F_SETFL, O_NONBLOCK ) == 0 && fcntl( handle, F_SETFD, FD_CLOEXEC ) == 0;
}

bool loopback_open( loopback* server, uint16_t port, lab_error* why )
{
    *server = ( loopback ){
        .socket = socket( AF_INET, SOCK_STREAM, 0 ), .request_ms = REQUEST_MS, .answer_ms = ANSWER_MS
    };
    if ( server->socket < 0 )
    {
        return lab_error_write( why, "--serve: no socket: %s", strerror( errno ) );
    }
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons( port ) };
    address.sin_addr.s_addr = htonl( INADDR_LOOPBACK );
    socklen_t length = sizeof( address );
    int yes = 1, piece = PIECE;
    setsockopt( server->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof( yes ) );
    setsockopt(
        server->socket, SOL_SOCKET, SO_SNDBUF, &piece, sizeof( piece ) ); // what was sent was taken, nearly
    if ( !set_up( server->socket ) ||
        bind( server->socket, (struct sockaddr*)&address, sizeof( address ) ) != 0 ||
        listen( server->socket, LOOPBACK_CLIENTS ) != 0 ||
        getsockname( server->socket, (struct sockaddr*)&address, &length ) != 0 )
    {
        lab_error_write( why,
            "--serve: port %u of 127.0.0.1 cannot be had: %s; leave the number out for any other",
            (unsigned)port, strerror( errno ) );
        close( server->socket );
        return false;
    }
    server->port = ntohs( address.sin_port );
    server->is_open = true;
    return true;
}

static int64_t clock_ms( void )
{
    struct timespec now = { 0 };
    clock_gettime( CLOCK_MONOTONIC, &now );
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// ---- one client

static void drop( client* self )
{
    close( self->socket );
    self->stage = FREE;
}

static bool must_wait( void )
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void end_answer( service* state, client* self )
{
    state->answer_count += 1;
    shutdown( self->socket, SHUT_WR );
    self->stage = ENDS;
    self->deadline = state->now + state->server->request_ms / ENDING_PART;
}

// As much as the client takes now, and of the page one piece at most: others have their turn.
static void write_answer( service* state, client* self )
{
    const char* bytes = self->answer + self->answer_sent;
    size_t count = self->answer_count - self->answer_sent;
    bool is_page = count == 0;
    if ( is_page )
    {
        uint64_t left = self->page_end - self->page_at;
        ssize_t got =
            pread( state->page, state->piece, left < PIECE ? (size_t)left : PIECE, (off_t)self->page_at );
        bytes = state->piece;
        count = got > 0 ? (size_t)got : 0;
    }
    ssize_t sent = count > 0 ? send( self->socket, bytes, count, MSG_NOSIGNAL ) : 0;
    if ( sent < 0 && must_wait() )
    {
        return;
    }
    if ( sent <= 0 ) // the client is gone, or the file no longer has what it had
    {
        drop( self );
        return;
    }
    self->answer_sent += is_page ? 0 : (size_t)sent;
    self->page_at += is_page ? (uint64_t)sent : 0;
    if ( self->page_at - self->renewed_at >= PIECE )
    {
        self->renewed_at = self->page_at;
        self->deadline = state->now + state->server->answer_ms;
    }
    if ( self->answer_sent == self->answer_count && self->page_at == self->page_end )
    {
        end_answer( state, self );
    }
}

static void begin_answer( service* state, client* self, http_status status, bool is_head )
{
    self->stage = WRITES;
    self->deadline = state->now + state->server->answer_ms;
    self->answer_count = http_head_answer( self->answer, status, state->page_bytes, is_head );
    self->page_end = status == HTTP_PAGE && !is_head ? state->page_bytes : 0;
    write_answer( state, self );
}

static void read_request( service* state, client* self )
{
    ssize_t got =
        recv( self->socket, self->head + self->head_count, sizeof( self->head ) - self->head_count, 0 );
    if ( got < 0 && must_wait() )
    {
        return;
    }
    if ( got < 0 || ( got == 0 && self->head_count == 0 ) )
    {
        drop( self );
        return;
    }
    self->head_count += (size_t)got;
    size_t length = http_head_length( self->head, self->head_count );
    bool is_head = false;
    if ( length > 0 )
    {
        http_status status = http_head_judge( self->head, length, &is_head );
        begin_answer( state, self, status, is_head );
    }
    else if ( got == 0 || self->head_count == sizeof( self->head ) ) // no more comes, or too much
    {
        begin_answer( state, self, got == 0 ? HTTP_BAD_REQUEST : HTTP_HEAD_TOO_LARGE, false );
    }
}

static void read_rest( service* state, client* self )
{
    ssize_t got = recv( self->socket, state->piece, PIECE, 0 );
    if ( got == 0 || ( got < 0 && !must_wait() ) )
    {
        drop( self );
    }
}

// The deadline has passed. A client that has begun a request gets an answer; browsers also open
// connections that they never use.
static void expire( service* state, client* self )
{
    if ( self->stage == READS && self->head_count > 0 )
    {
        begin_answer( state, self, HTTP_TIMEOUT, false );
    }
    else
    {
        drop( self );
    }
}

static void serve_client( service* state, client* self, bool is_ready )
{
    if ( is_ready && self->stage == READS )
    {
        read_request( state, self );
    }
    else if ( is_ready && self->stage == WRITES )
    {
        write_answer( state, self );
    }
    else if ( is_ready )
    {
        read_rest( state, self );
    }
    if ( self->stage != FREE && state->now >= self->deadline )
    {
        expire( state, self );
    }
}

// ---- all of them

// The oldest without a whole request, or already answered; where all are being answered, the one
// nearest to its deadline.
static client* choose_to_drop( service* state )
{
    client* choice = NULL;
    for ( uint32_t i = 0; i < LOOPBACK_CLIENTS; ++i )
    {
        client* self = &state->clients[i];
        bool is_idle = self->stage != WRITES;
        bool was_idle = choice != NULL && choice->stage != WRITES;
        if ( self->stage != FREE &&
            ( choice == NULL || ( is_idle && !was_idle ) ||
                ( is_idle && was_idle && self->number < choice->number ) ||
                ( !is_idle && !was_idle && self->deadline < choice->deadline ) ) )
        {
            choice = self;
        }
    }
    return choice;
}

static client* find_room( service* state )
{
    for ( uint32_t i = 0; i < LOOPBACK_CLIENTS; ++i )
    {
        if ( state->clients[i].stage == FREE )
        {
            return &state->clients[i];
        }
    }
    client* oldest = choose_to_drop( state );
    drop( oldest );
    return oldest;
}

// Most requests are there already when their connection is.
static void welcome( service* state, int handle )
{
    client* self = find_room( state );
    self->stage = READS;
    self->socket = handle;
    self->number = state->came_count++;
    self->deadline = state->now + state->server->request_ms;
    self->head_count = self->answer_count = self->answer_sent = 0;
    self->page_at = self->page_end = self->renewed_at = 0;
    read_request( state, self );
}

// False for an error that will not pass.
static bool accept_clients( service* state, lab_error* why )
{
    for ( uint32_t i = 0; i < LOOPBACK_CLIENTS; ++i ) // then the others have their turn
    {
        int handle = accept( state->server->socket, NULL, NULL );
        if ( handle >= 0 && !set_up( handle ) )
        {
            close( handle );
        }
        else if ( handle >= 0 )
        {
            welcome( state, handle );
        }
        else if ( must_wait() )
        {
            return true;
        }
        else if ( errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM )
        {
            client* oldest = choose_to_drop( state );
            if ( oldest != NULL )
            {
                drop( oldest );
            }
            poll( NULL, 0, PAUSE_MS );
            return true;
        }
        else if ( errno != ECONNABORTED )
        {
            return lab_error_write( why, "--serve: %s", strerror( errno ) );
        }
    }
    return true;
}

// Until something happens, or a deadline passes.
static bool wait_for_clients( service* state, lab_error* why )
{
    int64_t wait = -1;
    for ( uint32_t i = 0; i < LOOPBACK_CLIENTS; ++i )
    {
        const client* self = &state->clients[i];
        state->polls[i] = ( struct pollfd ){ .fd = self->stage == FREE ? -1 : self->socket,
            .events = self->stage == WRITES ? POLLOUT : POLLIN };
        int64_t left = self->deadline > state->now ? self->deadline - state->now : 0;
        wait = self->stage != FREE && ( wait < 0 || left < wait ) ? left : wait;
    }
    state->polls[LOOPBACK_CLIENTS] = ( struct pollfd ){ .fd = state->server->socket, .events = POLLIN };
    int ready = poll( state->polls, LOOPBACK_CLIENTS + 1, (int)wait );
    if ( interrupt_raised() )
    {
        return lab_error_interrupted( why );
    }
    for ( uint32_t i = 0; ready < 0 && i <= LOOPBACK_CLIENTS; ++i )
    {
        state->polls[i].revents = 0;
    }
    return ready >= 0 || must_wait() || lab_error_write( why, "--serve: %s", strerror( errno ) );
}

static bool serve_turn( service* state, lab_error* why )
{
    state->now = clock_ms();
    if ( !wait_for_clients( state, why ) )
    {
        return false;
    }
    state->now = clock_ms();
    for ( uint32_t i = 0; i < LOOPBACK_CLIENTS; ++i )
    {
        if ( state->clients[i].stage != FREE )
        {
            serve_client( state, &state->clients[i], state->polls[i].revents != 0 );
        }
    }
    return state->polls[LOOPBACK_CLIENTS].revents == 0 || accept_clients( state, why );
}

bool loopback_serve( loopback* server, FILE* page, uint32_t request_count, lab_error* why )
{
    struct stat facts = { 0 };
    service* state = calloc( 1, sizeof( *state ) );
    if ( state == NULL || fstat( fileno( page ), &facts ) != 0 )
    {
        lab_error_write( why, "--serve: the page cannot be read: %s", strerror( errno ) );
        free( state );
        return false;
    }
    state->server = server;
    state->page = fileno( page );
    state->page_bytes = (uint64_t)facts.st_size;
    bool good = true;
    while ( good && ( request_count == 0 || state->answer_count < request_count ) )
    {
        good = serve_turn( state, why );
    }
    for ( uint32_t i = 0; i < LOOPBACK_CLIENTS; ++i )
    {
        if ( state->clients[i].stage != FREE )
        {
            drop( &state->clients[i] );
        }
    }
    free( state );
    return good;
}

void loopback_close( loopback* server )
{
    if ( server->is_open )
    {
        close( server->socket );
    }
    *server = ( loopback ){ 0 };
}

#endif
