// SPDX-License-Identifier: MIT
#ifndef _WIN32
#define _POSIX_C_SOURCE 200809L
#endif
#include "lab/base/loopback.h"

#include "lab/base/interrupt.h"
#include "lab/base/platform.h"

#include <stdio.h>
#include <string.h>

#ifdef _WIN32

bool loopback_open( loopback* server, uint16_t port, lab_error* why )
{
    (void)port;
    *server = ( loopback ){ 0 };
    return lab_error_write( why, "--serve is not there on Windows; write the page with -o FILE and open it" );
}

bool loopback_serve( loopback* server, const char* path, uint32_t request_count, lab_error* why )
{
    (void)path;
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
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum
{
    REQUEST_MOST = 8192, // bytes of a head
    WAIT_SECONDS = 5,    // for a client that says nothing
};

bool loopback_open( loopback* server, uint16_t port, lab_error* why )
{
    *server = ( loopback ){ .socket = socket( AF_INET, SOCK_STREAM, 0 ) };
    if ( server->socket < 0 )
    {
        return lab_error_write( why, "--serve: no socket: %s", strerror( errno ) );
    }
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons( port ) };
    address.sin_addr.s_addr = htonl( INADDR_LOOPBACK );
    socklen_t length = sizeof( address );
    int yes = 1;
    setsockopt( server->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof( yes ) );
    if ( bind( server->socket, (struct sockaddr*)&address, sizeof( address ) ) != 0 ||
        listen( server->socket, 8 ) != 0 ||
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

static bool send_all( int client, const char* bytes, size_t count )
{
    while ( count > 0 )
    {
        ssize_t sent = send( client, bytes, count, MSG_NOSIGNAL );
        if ( sent <= 0 )
        {
            return false;
        }
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

// The head of a request, up to its empty line. False for one that is too long or does not come.
static bool read_head( int client, char head[REQUEST_MOST] )
{
    size_t count = 0;
    head[0] = '\0';
    while ( strstr( head, "\r\n\r\n" ) == NULL )
    {
        ssize_t got =
            count + 1 < REQUEST_MOST ? recv( client, head + count, REQUEST_MOST - 1 - count, 0 ) : 0;
        if ( got <= 0 )
        {
            return false;
        }
        count += (size_t)got;
        head[count] = '\0';
    }
    return true;
}

// A page of somebody else's may have its name lead here; its requests carry that name.
static bool is_for_us( const char* head )
{
    static const char field[] = "\r\nhost:";
    for ( const char* at = head; *at != '\0'; ++at )
    {
        if ( strncasecmp( at, field, strlen( field ) ) == 0 )
        {
            at += strlen( field );
            at += strspn( at, " \t" );
            size_t length = strcspn( at, ":\r\n" );
            return ( length == 9 && strncasecmp( at, "127.0.0.1", 9 ) == 0 ) ||
                ( length == 9 && strncasecmp( at, "localhost", 9 ) == 0 );
        }
    }
    return false;
}

static void send_short( int client, const char* status )
{
    char text[256];
    int length = snprintf( text, sizeof( text ),
        "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
        status, (int)strlen( status ) + 1, status );
    send_all( client, text, (size_t)length );
}

static void send_file( int client, const char* path, bool has_body )
{
    FILE* file = platform_open( path );
    if ( file == NULL )
    {
        send_short( client, "500 The page is gone" );
        return;
    }
    char chunk[1 << 16];
    int length = snprintf( chunk, sizeof( chunk ),
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %llu\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        (unsigned long long)platform_look( path ).size );
    bool good = send_all( client, chunk, (size_t)length );
    size_t count = 0;
    while ( good && has_body && ( count = fread( chunk, 1, sizeof( chunk ), file ) ) > 0 )
    {
        good = send_all( client, chunk, count );
    }
    fclose( file );
}

static void answer( int client, const char* path )
{
    char head[REQUEST_MOST];
    struct timeval wait = { .tv_sec = WAIT_SECONDS };
    setsockopt( client, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof( wait ) );
    setsockopt( client, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof( wait ) );
    if ( !read_head( client, head ) )
    {
        return;
    }
    bool is_head = strncmp( head, "HEAD ", 5 ) == 0;
    const char* target = is_head ? head + 5 : head + 4;
    if ( !is_for_us( head ) )
    {
        send_short( client, "403 Only for this machine" );
    }
    else if ( !is_head && strncmp( head, "GET ", 4 ) != 0 )
    {
        send_short( client, "405 Only GET and HEAD" );
    }
    else if ( target[0] != '/' || strchr( " ?", target[1] ) == NULL )
    {
        send_short( client, "404 There is one page, /" );
    }
    else
    {
        send_file( client, path, !is_head );
    }
}

bool loopback_serve( loopback* server, const char* path, uint32_t request_count, lab_error* why )
{
    for ( uint32_t done = 0; request_count == 0 || done < request_count; ++done )
    {
        int client = accept( server->socket, NULL, NULL );
        if ( interrupt_raised() )
        {
            return lab_error_interrupted( why );
        }
        if ( client < 0 && errno != EINTR && errno != ECONNABORTED )
        {
            return lab_error_write( why, "--serve: %s", strerror( errno ) );
        }
        if ( client >= 0 )
        {
            answer( client, path );
            close( client );
        }
    }
    return true;
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
